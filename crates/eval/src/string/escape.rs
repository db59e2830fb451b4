//! String literals: the escapes of SMT-LIB 2.6 and of older solvers.

use std::fmt::Write;

use thiserror::Error;

use super::{MAX_CHAR, Str};

/// Which escape sequences a string literal uses. All dialects double the
/// quote; that is undone before the content gets here.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Escapes {
    /// SMT-LIB 2.6: `\u{X}` with one to five hexadecimal digits, and `\uXXXX`.
    /// Anything else, a lone backslash included, stands for itself.
    Standard,
    /// Z3 before 4.8.11, 8-bit characters: `\xHH`, one to three octal digits,
    /// `\a \b \f \n \r \t \v`; before any other character the backslash is
    /// dropped.
    LegacyZ3,
    /// CVC4 before 1.8, like [`Escapes::LegacyZ3`] but with an incomplete `\x`
    /// being an error and a third octal digit read only below `\400`.
    LegacyCvc4,
}

/// What is wrong with a literal, or with writing a string as one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum LiteralError {
    #[error("character {code:#x} is beyond the largest one of the theory, {MAX_CHAR:#x}")]
    OutsideAlphabet { code: u32 },
    #[error("\\x in a CVC4 string literal must be followed by two hexadecimal digits")]
    IncompleteHexEscape,
    #[error("character {code:#x} cannot be written in a dialect of 8-bit characters")]
    NotEightBit { code: u32 },
}

impl Str {
    /// The string a literal with this content (between the quotes, doubled
    /// quotes made single) denotes.
    pub fn from_literal(content: &str, escapes: Escapes) -> Result<Str, LiteralError> {
        let source = Str::try_from(content)?;
        let mut rest = source.chars();
        let backslash = u32::from(b'\\');
        if !rest.contains(&backslash) {
            return Ok(source);
        }
        let mut chars = Vec::with_capacity(rest.len());
        while let [first, after @ ..] = rest {
            let escape = match escapes {
                _ if *first != backslash => None,
                Escapes::Standard => standard_escape(after),
                Escapes::LegacyZ3 | Escapes::LegacyCvc4 => legacy_escape(after, escapes)?,
            };
            let (char, used) = escape.unwrap_or((*first, 0));
            chars.push(char);
            rest = &after[used..];
        }
        Ok(Str::from_chars(&chars))
    }

    /// The literal in SMT-LIB 2.6, quotes included. The backslash is always
    /// escaped, so that no sequence is read as an escape by mistake.
    pub fn to_literal(&self) -> String {
        let mut text = String::with_capacity(self.len() + 2);
        text.push('"');
        for &char in self.chars() {
            match printable(char) {
                Some('"') => text.push_str("\"\""),
                Some(char) => text.push(char),
                None => write!(text, "\\u{{{char:x}}}").expect("writing to a String"),
            }
        }
        text.push('"');
        text
    }

    /// The literal in a given dialect, quotes included.
    pub fn to_literal_in(&self, escapes: Escapes) -> Result<String, LiteralError> {
        if escapes == Escapes::Standard {
            return Ok(self.to_literal());
        }
        let mut text = String::with_capacity(self.len() + 2);
        text.push('"');
        for &char in self.chars() {
            match printable(char) {
                Some('"') => text.push_str("\"\""),
                Some(char) => text.push(char),
                None if char > 0xFF => return Err(LiteralError::NotEightBit { code: char }),
                None => write!(text, "\\x{char:02x}").expect("writing to a String"),
            }
        }
        text.push('"');
        Ok(text)
    }
}

/// The character if it may appear as itself in every dialect.
fn printable(char: u32) -> Option<char> {
    char::from_u32(char).filter(|&c| c != '\\' && (c == ' ' || c.is_ascii_graphic()))
}

fn digit(char: u32, radix: u32) -> Option<u32> {
    char::from_u32(char)?.to_digit(radix)
}

fn is(char: Option<&u32>, expected: char) -> bool {
    char == Some(&u32::from(expected))
}

/// Reads `digits` as one number if all of them are hexadecimal.
fn hexadecimal(digits: &[u32]) -> Option<u32> {
    digits.iter().try_fold(0, |value, &char| Some(value << 4 | digit(char, 16)?))
}

/// The character an escape denotes and how much follows the backslash.
fn standard_escape(after: &[u32]) -> Option<(u32, usize)> {
    if !is(after.first(), 'u') {
        return None;
    }
    if is(after.get(1), '{') {
        let count = after[2..].iter().take(6).position(|&char| char == u32::from('}'))?;
        if count == 0 || count > 5 {
            return None;
        }
        let char = hexadecimal(&after[2..2 + count])?;
        (char <= MAX_CHAR).then_some((char, count + 3))
    } else {
        Some((hexadecimal(after.get(1..5)?)?, 5))
    }
}

fn legacy_escape(after: &[u32], escapes: Escapes) -> Result<Option<(u32, usize)>, LiteralError> {
    let cvc4 = escapes == Escapes::LegacyCvc4;
    let Some(&first) = after.first() else { return Ok(None) };
    if first == u32::from('x') {
        match after.get(1..3).and_then(hexadecimal) {
            Some(char) => return Ok(Some((char, 3))),
            None if cvc4 => return Err(LiteralError::IncompleteHexEscape),
            None => {}
        }
    }
    if let Some(leading) = digit(first, 8) {
        let limit = if cvc4 && leading > 3 { 2 } else { 3 };
        let octal = after.iter().take(limit).map_while(|&char| digit(char, 8));
        let (value, count) = octal.fold((0, 0), |(value, count), digit| (value << 3 | digit, count + 1));
        return Ok(Some((value & 0xFF, count)));
    }
    if cvc4 && let Some(value) = digit(first, 10) {
        return Ok(Some((value, 1)));
    }
    let char = match char::from_u32(first) {
        Some('a') => 7,
        Some('b') => 8,
        Some('t') => 9,
        Some('n') => 10,
        Some('v') => 11,
        Some('f') => 12,
        Some('r') => 13,
        _ => first,
    };
    Ok(Some((char, 1)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn standard(content: &str) -> Vec<u32> {
        Str::from_literal(content, Escapes::Standard).unwrap().chars().to_vec()
    }

    #[test]
    fn standard_escapes_denote_one_character() {
        assert_eq!(standard(r"\u{0}\u{41}\u{2FFFF}"), [0, 0x41, 0x2FFFF]);
        assert_eq!(standard(r"\u0041B"), [0x41, 0x42]);
        assert_eq!(standard(r"\uD800"), [0xD800]);
        assert_eq!(standard(r"\u{0004a}"), [0x4a]);
    }

    #[test]
    fn sequences_that_only_look_like_escapes_stand_for_themselves() {
        for content in [
            r"\u{}",
            r"\u{30000}",
            r"\u{000041}",
            r"\u{4G}",
            r"\u{41",
            r"\u004",
            r"\U0041",
            r"\x41",
            r"\n",
            r"\",
            r"\\",
            r"a\",
            r"\u",
        ] {
            let verbatim: Vec<u32> = content.chars().map(u32::from).collect();
            assert_eq!(standard(content), verbatim, "{content}");
        }
    }

    #[test]
    fn legacy_escapes_follow_the_old_solvers() {
        let read = |content, escapes| Str::from_literal(content, escapes).map(|s| s.chars().to_vec());
        for escapes in [Escapes::LegacyZ3, Escapes::LegacyCvc4] {
            assert_eq!(read(r"\x41\n\t\\\q", escapes), Ok(vec![0x41, 10, 9, 0x5c, u32::from('q')]));
            assert_eq!(read(r"\0\12\101", escapes), Ok(vec![0, 10, 0x41]));
            assert_eq!(read(r"\", escapes), Ok(vec![0x5c]));
        }
        assert_eq!(read(r"\xg", Escapes::LegacyZ3), Ok(vec![u32::from('x'), u32::from('g')]));
        assert_eq!(read(r"\xg", Escapes::LegacyCvc4), Err(LiteralError::IncompleteHexEscape));
        assert_eq!(read(r"\477", Escapes::LegacyCvc4), Ok(vec![0o47, u32::from('7')]));
        assert_eq!(read(r"\477", Escapes::LegacyZ3), Ok(vec![0o477 & 0xFF]));
    }

    #[test]
    fn every_character_survives_printing_and_reading() {
        let unquote = |literal: String| literal[1..literal.len() - 1].replace("\"\"", "\"");
        for char in (0..0x180).chain([0xD800, 0xDFFF, 0xFFFF, 0x10000, MAX_CHAR]) {
            let string = Str::new(&[u32::from('\\'), char, u32::from('u'), char, 0x41]).unwrap();
            let literal = unquote(string.to_literal());
            assert_eq!(Str::from_literal(&literal, Escapes::Standard), Ok(string.clone()));
            for escapes in [Escapes::LegacyZ3, Escapes::LegacyCvc4] {
                match string.to_literal_in(escapes) {
                    Ok(literal) => {
                        let read = Str::from_literal(&unquote(literal), escapes);
                        assert_eq!(read, Ok(string.clone()));
                    }
                    Err(error) => {
                        assert!(char > 0xFF);
                        assert_eq!(error, LiteralError::NotEightBit { code: char });
                    }
                }
            }
        }
    }
}
