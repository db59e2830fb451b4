//! S-expressions: the tree of a text that need not be a script we understand.

use std::ops::Range;

use smtlib::lexer::{Kind, Lexer};

/// A text as a forest of S-expressions, kept flat so that deep nesting costs no stack.
#[derive(Clone, Debug, Default)]
pub struct Outline {
    text: Vec<u8>,
    nodes: Vec<Node>,
    /// The top level.
    pub roots: Vec<usize>,
}

#[derive(Clone, Debug)]
struct Node {
    /// From its first to its last token.
    range: Range<usize>,
    children: Vec<usize>,
    list: bool,
}

impl Outline {
    /// The forest of a text; nothing if parentheses do not match.
    pub fn of(text: &[u8]) -> Option<Outline> {
        let mut outline = Outline { text: text.to_vec(), ..Outline::default() };
        let mut open: Vec<usize> = Vec::new();
        let mut lexer = Lexer::new(text);
        loop {
            let token = lexer.token().ok()?;
            let place = outline.nodes.len();
            let list = token.kind == Kind::Open;
            match token.kind {
                Kind::End => return open.is_empty().then_some(outline),
                Kind::Close => {
                    let closed = open.pop()?;
                    outline.nodes[closed].range.end = token.end;
                    continue;
                }
                _ => {}
            }
            outline.nodes.push(Node { range: token.start..token.end, children: Vec::new(), list });
            match open.last() {
                Some(parent) => outline.nodes[*parent].children.push(place),
                None => outline.roots.push(place),
            }
            if list {
                open.push(place);
            }
        }
    }

    pub fn children(&self, node: usize) -> &[usize] {
        &self.nodes[node].children
    }

    pub fn is_list(&self, node: usize) -> bool {
        self.nodes[node].list
    }

    /// Nodes by level, the top first.
    pub fn levels(&self) -> Vec<Vec<usize>> {
        let mut levels = Vec::new();
        let mut level = self.roots.clone();
        while !level.is_empty() {
            let next = level.iter().flat_map(|node| self.children(*node).iter().copied()).collect();
            levels.push(std::mem::replace(&mut level, next));
        }
        levels
    }

    /// A node on one line.
    pub fn flat(&self, node: usize) -> String {
        self.written(&[node], &|_| Change::Keep).trim_end().to_owned()
    }

    /// The text with some nodes left out and others replaced by other nodes; one command per line.
    pub fn text(&self, change: &dyn Fn(usize) -> Change) -> String {
        self.written(&self.roots, change)
    }

    fn written(&self, roots: &[usize], change: &dyn Fn(usize) -> Change) -> String {
        enum Step {
            Node(usize),
            Close,
            Line,
        }
        let mut out: Vec<u8> = Vec::new();
        let mut steps: Vec<Step> = Vec::new();
        for root in roots.iter().rev() {
            steps.push(Step::Line);
            steps.push(Step::Node(*root));
        }
        while let Some(step) = steps.pop() {
            match step {
                Step::Close => out.push(b')'),
                Step::Line => {
                    if out.last().is_some_and(|last| *last != b'\n') {
                        out.push(b'\n');
                    }
                }
                Step::Node(node) => {
                    let node = match change(node) {
                        Change::Keep => node,
                        Change::Drop => continue,
                        Change::By(other) => other,
                    };
                    if out.last().is_some_and(|last| !matches!(last, b'(' | b'\n')) {
                        out.push(b' ');
                    }
                    if self.is_list(node) {
                        out.push(b'(');
                        steps.push(Step::Close);
                        steps.extend(self.children(node).iter().rev().map(|child| Step::Node(*child)));
                    } else {
                        out.extend_from_slice(&self.text[self.nodes[node].range.clone()]);
                    }
                }
            }
        }
        String::from_utf8_lossy(&out).into_owned()
    }
}

/// What becomes of a node.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Change {
    Keep,
    Drop,
    By(usize),
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_comes_back_without_comments_and_with_plain_spaces() {
        let outline = Outline::of(b"(a  (b |c d|) \"x y\") ; no\n(e)").expect("balanced");
        assert_eq!(outline.text(&|_| Change::Keep), "(a (b |c d|) \"x y\")\n(e)\n");
        assert_eq!(outline.levels().len(), 3);
    }

    #[test]
    fn nodes_go_or_give_way_to_their_parts() {
        let outline = Outline::of(b"(assert (f (g x) y))").expect("balanced");
        let inner = outline.children(outline.roots[0])[1];
        let part = outline.children(inner)[1];
        let by = |node| if node == inner { Change::By(part) } else { Change::Keep };
        assert_eq!(outline.text(&by), "(assert (g x))\n");
        let without = |node| if node == part { Change::Drop } else { Change::Keep };
        assert_eq!(outline.text(&without), "(assert (f y))\n");
    }

    #[test]
    fn unbalanced_texts_have_no_outline() {
        assert!(Outline::of(b"(a (b)").is_none());
        assert!(Outline::of(b"a)").is_none());
    }
}
