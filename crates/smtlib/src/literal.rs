//! Literals: the constants that the language writes down directly.

use dashu_int::UBig;
use numbers::{Integer, Rational};

use crate::sort::Sort;

/// A constant with its exact value. Integers and reals are of the evaluator's own types; bit-vectors and field elements
/// are natural numbers, whose width or order is part of the sort.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub enum Literal {
    /// A numeral of sort Int; negative ones come only from `-` folded by tools, never from the reader.
    Int(Integer),
    /// A decimal, or a numeral where the logic makes numerals Real.
    Real(Rational),
    /// Width and value, with value < 2^width.
    BitVec(u32, UBig),
    /// Code points 0..=0x2FFFF.
    String(Box<[u32]>),
    /// A finite field element of the given field sort, reduced.
    Field(Sort, UBig),
}

/// The largest code point of the standard.
pub const LARGEST_CHARACTER: u32 = 0x2FFFF;

/// Reads the escapes of SMT-LIB 2.6: `\u{X}` to `\u{XXXXX}` and `\uXXXX`; in a text that was [written](write_string) with
/// them also `\xHH`. Anything else stands for itself.
pub fn unescape(text: &str, escapes: Escapes) -> Box<[u32]> {
    let chars: Vec<u32> = text.chars().map(u32::from).collect();
    if !chars.contains(&u32::from('\\')) {
        return chars.into();
    }
    let mut out = Vec::with_capacity(chars.len());
    let mut i = 0;
    while i < chars.len() {
        match escape_at(&chars, i, escapes) {
            Some((code, length)) => {
                out.push(code);
                i += length;
            }
            None => {
                out.push(chars[i]);
                i += 1;
            }
        }
    }
    out.into()
}

fn escape_at(chars: &[u32], i: usize, escapes: Escapes) -> Option<(u32, usize)> {
    if chars[i] != u32::from('\\') {
        return None;
    }
    let digit = |place: usize| char::from_u32(*chars.get(place)?)?.to_digit(16);
    match char::from_u32(*chars.get(i + 1)?)? {
        'x' if escapes == Escapes::Hex => return Some((16 * digit(i + 2)? + digit(i + 3)?, 4)),
        'u' => {}
        _ => return None,
    }
    if *chars.get(i + 2)? == u32::from('{') {
        let mut code = 0;
        let mut place = i + 3;
        while let Some(value) = digit(place) {
            code = code * 16 + value;
            place += 1;
            if place - (i + 3) > 5 {
                return None;
            }
        }
        let closed = *chars.get(place)? == u32::from('}');
        return (closed && place > i + 3 && code <= LARGEST_CHARACTER).then_some((code, place + 1 - i));
    }
    let mut code = 0;
    for place in i + 2..i + 6 {
        code = code * 16 + digit(place)?;
    }
    Some((code, 6))
}

/// How a dialect writes characters that are not plain printable ASCII, and backslashes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Escapes {
    /// `\u{..}` (SMT-LIB 2.6).
    Unicode,
    /// `\xHH`, as Z3 before 4.8.8 and CVC4 before 1.8 read it; characters above 0xFF cannot be written.
    Hex,
    /// Characters beyond ASCII stand for themselves, in UTF-8: what solvers make of that differs from what the standard
    /// says, so a bug may need it. The rest as in SMT-LIB 2.6.
    Raw,
}

/// The comment at the end of a text whose strings have characters written as `\xHH`: to the standard these are four
/// characters, and the text is to be read back as it was meant.
pub const HEX_NOTE: &str =
    "; \\xHH in a string is one character here, as the release that this was written for reads it";

impl Escapes {
    /// The escapes that a text says its strings have.
    pub fn of(text: &[u8]) -> Escapes {
        let note = HEX_NOTE.as_bytes();
        if text.windows(note.len()).any(|part| part == note) { Escapes::Hex } else { Escapes::Unicode }
    }
}

/// Writes a string literal with its quotes.
pub fn write_string(out: &mut String, code_points: &[u32], escapes: Escapes) {
    use std::fmt::Write as _;
    out.push('"');
    for (i, &code) in code_points.iter().enumerate() {
        match char::from_u32(code).filter(|c| (' '..='~').contains(c)) {
            Some('"') => out.push_str("\"\""),
            // A backslash that would start an escape is itself escaped.
            Some('\\') => match escapes {
                Escapes::Unicode | Escapes::Raw if code_points.get(i + 1) == Some(&u32::from('u')) => {
                    out.push_str("\\u{5c}")
                }
                Escapes::Unicode | Escapes::Raw => out.push('\\'),
                Escapes::Hex => out.push_str("\\x5c"),
            },
            Some(c) => out.push(c),
            None if escapes == Escapes::Raw && code > 0x7F && char::from_u32(code).is_some() => {
                out.extend(char::from_u32(code));
            }
            None => {
                let written = match escapes {
                    Escapes::Hex if code <= 0xFF => write!(out, "\\x{code:02x}"),
                    _ => write!(out, "\\u{{{code:x}}}"),
                };
                written.expect("writing to a string");
            }
        }
    }
    out.push('"');
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn escapes_are_read_and_written_back() {
        for text in
            ["abc", "\\u{41}", "\\u0041x", "\\u{2FFFF}", "\\u{}", "\\u{300000}", "\\x41", "a\\", "\\u004"]
        {
            let points = unescape(text, Escapes::Unicode);
            for escapes in [Escapes::Unicode, Escapes::Hex, Escapes::Raw] {
                let mut written = String::new();
                write_string(&mut written, &points, escapes);
                assert_eq!(unescape(&written[1..written.len() - 1], escapes), points, "{text}");
            }
        }
        let unescape = |text| unescape(text, Escapes::Unicode);
        let mut written = String::new();
        write_string(&mut written, &unescape("\u{e9}\\u{1}\\u{5c}u0041"), Escapes::Raw);
        assert_eq!(written, "\"\u{e9}\\u{1}\\u{5c}u0041\"");
        assert_eq!(&*unescape("\\u{41}\\u0042"), &[0x41, 0x42]);
        assert_eq!(unescape("\\u{30000}").len(), 9, "out of range is not an escape");
    }
}
