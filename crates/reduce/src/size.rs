//! How large a script is, whatever its layout.

use serde::{Deserialize, Serialize};
use smtlib::lexer::{Kind, Lexer};

/// The size of a script: smaller means fewer S-expressions, then fewer characters in them. White space and comments do
/// not count, so scripts printed by different tools can be compared.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Size {
    /// Lists and atoms.
    pub nodes: usize,
    /// Bytes of all tokens, and one for each space that has to stand between two atoms.
    pub bytes: usize,
}

impl Size {
    /// The size of a text. What is no token counts as one.
    pub fn of(text: &[u8]) -> Size {
        let mut size = Size::default();
        let mut lexer = Lexer::new(text);
        let mut after_atom = false;
        while let Ok(token) = lexer.token() {
            match token.kind {
                Kind::End => return size,
                Kind::Open => size.nodes += 1,
                Kind::Close => {}
                _ => {
                    size.nodes += 1;
                    size.bytes += usize::from(after_atom);
                }
            }
            after_atom = !matches!(token.kind, Kind::Open | Kind::Close);
            size.bytes += token.end - token.start;
        }
        // Not readable to its end: the rest counts as it stands.
        Size { nodes: size.nodes + 1, bytes: text.len() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn layout_and_comments_do_not_count() {
        let one = Size::of(b"(assert (> x 1)) ; a remark\n");
        let other = Size::of(b"(assert\n   (>   x\n 1) )");
        assert_eq!(one, other);
        assert_eq!(one, Size { nodes: 6, bytes: 15 });
    }

    #[test]
    fn fewer_expressions_are_smaller_than_shorter_names() {
        assert!(Size::of(b"(assert very-long-name)") < Size::of(b"(assert (f x))"));
        assert!(Size::of(b"(assert x)") < Size::of(b"(assert xy)"));
    }
}
