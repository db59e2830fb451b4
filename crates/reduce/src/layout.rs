//! Long commands over several lines.

use smtlib::literal::{Escapes, HEX_NOTE};

use crate::outline::Outline;

/// Commands that fit into this many columns stay on one line.
const WIDTH: usize = 100;

/// The text with long commands broken: the parts of a list that does not fit stand below each other. Only white space
/// and comments change; the one that says how strings are written stays.
pub fn laid_out(text: &str) -> String {
    if text.lines().all(|line| line.len() <= WIDTH) {
        return text.to_owned();
    }
    let Some(outline) = Outline::of(text.as_bytes()) else { return text.to_owned() };
    let mut out = String::with_capacity(text.len() * 2);
    for root in &outline.roots {
        write(&mut out, &outline, *root);
        out.push('\n');
    }
    if Escapes::of(text.as_bytes()) == Escapes::Hex {
        out.push_str(HEX_NOTE);
        out.push('\n');
    }
    out
}

fn write(out: &mut String, outline: &Outline, root: usize) {
    enum Step {
        Node(usize, usize),
        Close,
    }
    let mut steps = vec![Step::Node(root, 0)];
    while let Some(step) = steps.pop() {
        match step {
            Step::Close => out.push(')'),
            Step::Node(node, indent) => {
                if indent > 0 {
                    out.push('\n');
                    out.extend(std::iter::repeat_n(' ', indent));
                }
                let flat = outline.flat(node);
                // Beyond half a line of indentation breaking helps nobody.
                if indent + flat.len() <= WIDTH || !outline.is_list(node) || indent > WIDTH / 2 {
                    out.push_str(&flat);
                    continue;
                }
                out.push('(');
                steps.push(Step::Close);
                let children = outline.children(node);
                // The head and what is short beside it stay on the first line.
                let mut first = 0;
                while let Some(child) = children.get(first) {
                    let flat = outline.flat(*child);
                    if first > 0 && (outline.is_list(*child) || first > 1) {
                        break;
                    }
                    if first > 0 {
                        out.push(' ');
                    }
                    out.push_str(&flat);
                    first += 1;
                }
                steps.extend(children[first..].iter().rev().map(|child| Step::Node(*child, indent + 2)));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::size::Size;

    #[test]
    fn short_commands_stay_and_long_ones_are_broken() {
        let long = format!("(assert (and {}))\n(check-sat)\n", "(= some-name another-name) ".repeat(8));
        let laid = laid_out(&long);
        assert!(laid.lines().all(|line| line.len() <= WIDTH), "{laid}");
        assert!(laid.ends_with("(check-sat)\n"));
        assert_eq!(Size::of(laid.as_bytes()), Size::of(long.as_bytes()));
        assert_eq!(laid_out("(check-sat)\n"), "(check-sat)\n");
    }
}
