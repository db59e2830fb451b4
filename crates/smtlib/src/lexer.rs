//! Tokens of SMT-LIB 2.6/2.7, read one at a time from bytes.

use crate::position::ParseError;

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Kind {
    Open,
    Close,
    /// A plain or `|quoted|` symbol, including reserved words.
    Symbol,
    Keyword,
    Numeral,
    Decimal,
    Hexadecimal,
    Binary,
    String,
    /// cvc5's `#f3m5`.
    FieldElement,
    /// A byte that starts no token; kept so that opaque parts can contain anything.
    Stray,
    End,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Token {
    pub kind: Kind,
    pub start: usize,
    pub end: usize,
}

pub struct Lexer<'a> {
    source: &'a [u8],
    at: usize,
}

const SPACE: u8 = 1;
const SYMBOL: u8 = 2;
const DIGIT: u8 = 4;

/// What each byte may be part of. Bytes of UTF-8 sequences count as symbol characters, as in cvc5 and Z3.
static CLASS: [u8; 256] = {
    let mut table = [0; 256];
    let mut byte = 0;
    while byte < 256 {
        table[byte] = match byte as u8 {
            b' ' | b'\t' | b'\n' | b'\r' | 0x0C => SPACE,
            b'0'..=b'9' => DIGIT | SYMBOL,
            b'a'..=b'z' | b'A'..=b'Z' | 0x80.. => SYMBOL,
            b'~' | b'!' | b'@' | b'$' | b'%' | b'^' | b'&' | b'*' | b'_' | b'-' | b'+' | b'=' | b'<'
            | b'>' | b'.' | b'?' | b'/' => SYMBOL,
            // Z3 also takes these in names.
            b'\\' | b'\'' | b'`' | b'{' | b'}' | b'[' | b']' => SYMBOL,
            _ => 0,
        };
        byte += 1;
    }
    table
};

#[inline]
fn is(byte: u8, class: u8) -> bool {
    CLASS[byte as usize] & class != 0
}

/// May the text stand as a plain symbol, without bars?
pub(crate) fn is_simple_symbol(name: &str) -> bool {
    let bytes = name.as_bytes();
    !bytes.is_empty()
        && !is(bytes[0], DIGIT)
        && bytes.iter().all(|byte| {
            is(*byte, SYMBOL) && !matches!(byte, b'\\' | b'\'' | b'`' | b'{' | b'}' | b'[' | b']' | 0x80..)
        })
}

impl<'a> Lexer<'a> {
    pub fn new(source: &'a [u8]) -> Lexer<'a> {
        // A byte order mark is no token.
        let at = if source.starts_with(b"\xEF\xBB\xBF") { 3 } else { 0 };
        Lexer { source, at }
    }

    /// Goes to a byte offset.
    pub(crate) fn seek(&mut self, offset: usize) {
        self.at = offset;
    }

    /// The next token; an error for an unfinished string or quoted symbol.
    #[inline]
    pub fn token(&mut self) -> Result<Token, ParseError> {
        let source = self.source;
        let mut at = self.at;
        loop {
            match source.get(at) {
                None => {
                    self.at = at;
                    return Ok(Token { kind: Kind::End, start: at, end: at });
                }
                Some(byte) if is(*byte, SPACE) => at += 1,
                Some(b';') => {
                    at = source[at..]
                        .iter()
                        .position(|byte| *byte == b'\n')
                        .map_or(source.len(), |n| at + n + 1);
                }
                Some(_) => break,
            }
        }
        let start = at;
        let byte = source[at];
        let (kind, end) = match byte {
            b'(' => (Kind::Open, at + 1),
            b')' => (Kind::Close, at + 1),
            b'|' => match source[at + 1..].iter().position(|byte| *byte == b'|') {
                Some(length) => (Kind::Symbol, at + length + 2),
                None => {
                    self.at = source.len();
                    return Err(ParseError::new(start, "this quoted symbol is not closed: expected '|'"));
                }
            },
            b'"' => (Kind::String, self.string_end(start)?),
            b':' => (Kind::Keyword, symbol_end(source, at + 1)),
            b'#' => hash_token(source, at),
            b'0'..=b'9' => number(source, at),
            _ if is(byte, SYMBOL) => (Kind::Symbol, symbol_end(source, at + 1)),
            _ => (Kind::Stray, at + 1),
        };
        self.at = end;
        Ok(Token { kind, start, end })
    }

    fn string_end(&mut self, start: usize) -> Result<usize, ParseError> {
        let source = self.source;
        let mut at = start + 1;
        loop {
            match source[at..].iter().position(|byte| *byte == b'"') {
                None => {
                    self.at = source.len();
                    return Err(ParseError::new(start, "this string is not closed: expected '\"'"));
                }
                Some(length) if source.get(at + length + 1) == Some(&b'"') => at += length + 2,
                Some(length) => return Ok(at + length + 1),
            }
        }
    }
}

#[inline]
fn symbol_end(source: &[u8], mut at: usize) -> usize {
    while at < source.len() && is(source[at], SYMBOL) {
        at += 1;
    }
    at
}

fn number(source: &[u8], start: usize) -> (Kind, usize) {
    let digits = |mut at: usize| {
        while at < source.len() && source[at].is_ascii_digit() {
            at += 1;
        }
        at
    };
    let end = digits(start);
    if source.get(end) == Some(&b'.') && source.get(end + 1).is_some_and(u8::is_ascii_digit) {
        return (Kind::Decimal, digits(end + 1));
    }
    // Z3 reads `1.` as a decimal.
    if source.get(end) == Some(&b'.') && !source.get(end + 1).is_some_and(|byte| is(*byte, SYMBOL)) {
        return (Kind::Decimal, end + 1);
    }
    (Kind::Numeral, end)
}

fn hash_token(source: &[u8], start: usize) -> (Kind, usize) {
    let run = |from: usize, fits: fn(&u8) -> bool| {
        from + source[from.min(source.len())..].iter().take_while(|byte| fits(byte)).count()
    };
    let from = start + 2;
    let (kind, end) = match source.get(start + 1) {
        Some(b'x') => (Kind::Hexadecimal, run(from, u8::is_ascii_hexdigit)),
        Some(b'b') => (Kind::Binary, run(from, |byte| matches!(byte, b'0' | b'1'))),
        Some(b'f') => {
            (Kind::FieldElement, run(from, |byte| byte.is_ascii_digit() || matches!(byte, b'm' | b'-')))
        }
        _ => (Kind::Stray, start + 1),
    };
    if end <= from { (Kind::Stray, start + 1) } else { (kind, end) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kinds(text: &str) -> Vec<(Kind, &str)> {
        let mut lexer = Lexer::new(text.as_bytes());
        let mut found = Vec::new();
        loop {
            let token = lexer.token().expect("well-formed");
            if token.kind == Kind::End {
                return found;
            }
            found.push((token.kind, &text[token.start..token.end]));
        }
    }

    #[test]
    fn tokens_of_every_kind_are_told_apart() {
        assert_eq!(
            kinds("(a |b c| :k 12 1.50 #xAf #b01 \"s\"\"t\" #f3m5 <= ; comment\n)"),
            vec![
                (Kind::Open, "("),
                (Kind::Symbol, "a"),
                (Kind::Symbol, "|b c|"),
                (Kind::Keyword, ":k"),
                (Kind::Numeral, "12"),
                (Kind::Decimal, "1.50"),
                (Kind::Hexadecimal, "#xAf"),
                (Kind::Binary, "#b01"),
                (Kind::String, "\"s\"\"t\""),
                (Kind::FieldElement, "#f3m5"),
                (Kind::Symbol, "<="),
                (Kind::Close, ")"),
            ]
        );
    }

    #[test]
    fn unfinished_tokens_are_errors_at_their_start() {
        assert_eq!(Lexer::new(b"  \"abc").token().expect_err("unfinished").offset, 2);
        assert_eq!(Lexer::new(b" |abc").token().expect_err("unfinished").offset, 1);
    }
}
