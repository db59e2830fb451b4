//! The text as tokens whose parentheses are matched, and the comments that carry meaning.

use smtlib::lexer::{Kind, Lexer, Token};

use super::ModelError;

/// The place of an expression: the number of its first token.
pub(super) type Expr = usize;

pub(super) struct Tokens<'a> {
    source: &'a [u8],
    tokens: Vec<Token>,
    /// The number of the last token of the expression that starts here.
    lasts: Vec<usize>,
}

impl<'a> Tokens<'a> {
    /// Splits the text. All of it must be well-formed as far as strings, bars and parentheses go.
    pub fn new(source: &'a [u8]) -> Result<Tokens<'a>, ModelError> {
        let mut lexer = Lexer::new(source);
        let mut tokens = Vec::new();
        let mut lasts = Vec::new();
        let mut open = Vec::new();
        loop {
            let token = lexer.token().map_err(|error| ModelError::text(error.offset, error.message))?;
            let number = tokens.len();
            match token.kind {
                Kind::End => break,
                Kind::Open => open.push(number),
                Kind::Close => match open.pop() {
                    Some(start) => lasts[start] = number,
                    None => return Err(ModelError::text(token.start, "this ')' closes nothing")),
                },
                _ => {}
            }
            tokens.push(token);
            lasts.push(number);
        }
        match open.pop() {
            Some(start) => Err(ModelError::text(tokens[start].start, "this '(' is never closed")),
            None => Ok(Tokens { source, tokens, lasts }),
        }
    }

    pub fn kind(&self, expr: Expr) -> Kind {
        self.tokens.get(expr).map_or(Kind::End, |token| token.kind)
    }

    pub fn is_list(&self, expr: Expr) -> bool {
        self.kind(expr) == Kind::Open
    }

    /// The last token of the expression.
    pub fn last(&self, expr: Expr) -> usize {
        self.lasts.get(expr).copied().unwrap_or(expr)
    }

    pub fn offset(&self, expr: Expr) -> usize {
        self.tokens.get(expr).map_or(self.source.len(), |token| token.start)
    }

    pub fn end(&self, token: usize) -> usize {
        self.tokens.get(token).map_or(self.source.len(), |token| token.end)
    }

    /// The bytes of one token.
    pub fn bytes(&self, token: usize) -> &'a [u8] {
        self.tokens.get(token).map_or(&[], |token| &self.source[token.start..token.end])
    }

    /// The text of one token. Bytes that are not UTF-8 count as characters of their own, as in the solvers
    /// whose characters had eight bits.
    pub fn text(&self, token: usize) -> String {
        let bytes = self.bytes(token);
        match std::str::from_utf8(bytes) {
            Ok(text) => text.to_owned(),
            Err(_) => bytes.iter().copied().map(char::from).collect(),
        }
    }

    /// The source between two offsets.
    pub fn slice(&self, start: usize, end: usize) -> String {
        String::from_utf8_lossy(self.source.get(start..end).unwrap_or(&[])).into_owned()
    }

    /// A symbol's name without its bars.
    pub fn name(&self, token: usize) -> Option<String> {
        if self.kind(token) != Kind::Symbol {
            return None;
        }
        let text = self.text(token);
        match text.strip_prefix('|').and_then(|rest| rest.strip_suffix('|')) {
            Some(inner) => Some(inner.to_owned()),
            None => Some(text),
        }
    }

    /// Is the token this very word, without bars?
    pub fn is(&self, token: usize, word: &str) -> bool {
        self.kind(token) == Kind::Symbol && self.bytes(token) == word.as_bytes()
    }

    /// The parts of a list; nothing for an atom.
    pub fn parts(&self, expr: Expr) -> Vec<Expr> {
        let mut parts = Vec::new();
        if self.is_list(expr) {
            let end = self.last(expr);
            let mut next = expr + 1;
            while next < end {
                parts.push(next);
                next = self.last(next) + 1;
            }
        }
        parts
    }

    /// The expressions outside all parentheses.
    pub fn top(&self) -> Vec<Expr> {
        let mut parts = Vec::new();
        let mut next = 0;
        while next < self.tokens.len() {
            parts.push(next);
            next = self.last(next) + 1;
        }
        parts
    }
}

/// What the comments of the cvc solvers say about one declared sort.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Represented {
    /// As written.
    pub sort: String,
    /// The number of elements, if it is one.
    pub cardinality: Option<usize>,
    /// The elements as written.
    pub elements: Vec<String>,
    pub offset: usize,
}

/// Reads `; cardinality of S is 2` and the `; rep: ...` lines after it.
pub(super) fn represented(source: &[u8]) -> Vec<Represented> {
    let mut found: Vec<Represented> = Vec::new();
    let mut offset = 0;
    for line in source.split(|byte| *byte == b'\n') {
        let start = offset;
        offset += line.len() + 1;
        // Models without a line break before the comment exist: "(; cardinality of ...".
        let Some(at) = line.iter().position(|byte| *byte == b';') else { continue };
        let comment = String::from_utf8_lossy(&line[at..]);
        let comment = comment.trim_start_matches(';').trim();
        if let Some(rest) = comment.strip_prefix("cardinality of ") {
            if let Some((sort, count)) = rest.rsplit_once(" is ") {
                let cardinality = count.trim().parse().ok();
                let (sort, elements) = (sort.to_owned(), Vec::new());
                found.push(Represented { sort, cardinality, elements, offset: start + at });
            }
        } else if let (Some(element), Some(last)) = (comment.strip_prefix("rep: "), found.last_mut()) {
            last.elements.push(element.trim().to_owned());
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parentheses_that_do_not_match_are_errors_at_their_place() {
        assert_eq!(Tokens::new(b"(a (b)").err().map(|error| error.offset()), Some(0));
        assert_eq!(Tokens::new(b"(a) )").err().map(|error| error.offset()), Some(4));
        assert_eq!(Tokens::new(b"(a \"b").err().map(|error| error.offset()), Some(3));
    }

    #[test]
    fn representatives_belong_to_the_sort_before_them() {
        let text = b"(\n; cardinality of |a b| is 2\n; rep: (as @x_0 |a b|)\n; rep: (as @x_1 |a b|)\n)";
        let found = represented(text);
        assert_eq!(found.len(), 1);
        assert_eq!(found[0].sort, "|a b|");
        assert_eq!(found[0].elements, ["(as @x_0 |a b|)", "(as @x_1 |a b|)"]);
    }
}
