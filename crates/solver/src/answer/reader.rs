//! Cutting a solver's output into pieces. Output may be anything: cut off, binary, half a model; nothing here panics, and
//! a piece that never ends does not swallow what follows it.

use std::ops::Range;

/// Solvers quote source text in their errors, but not without end.
const LONGEST_ERROR: usize = 64 << 10;

/// A piece at the top level of an output or a script.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Piece {
    /// What it is.
    pub kind: Kind,
    /// Where it is.
    pub range: Range<usize>,
}

/// What a piece is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// A parenthesised group, with both parentheses.
    Group,
    /// `(error "...")`, to its real end: messages may contain quotes nobody escaped.
    Error,
    /// A string literal, with its quotes.
    String,
    /// From `;` to the end of the line.
    Comment,
    /// Anything else, to the end of the line, trimmed.
    Text,
    /// The line in which a group or string opens that is never closed. The next lines are read on their own.
    Broken,
}

/// The piece at or after `from`; `None` at the end.
pub fn next_piece(bytes: &[u8], from: usize) -> Option<Piece> {
    let start = from + bytes.get(from..)?.iter().position(|byte| !byte.is_ascii_whitespace())?;
    let (kind, end) = match bytes[start] {
        b'(' => match error_end(bytes, start).map(|end| (Kind::Error, end)) {
            Some(found) => found,
            None => match group_end(bytes, start) {
                Some(end) => (Kind::Group, end),
                None => (Kind::Broken, line_end(bytes, start)),
            },
        },
        b'"' => match string_end(bytes, start) {
            Some(end) => (Kind::String, end),
            None => (Kind::Broken, line_end(bytes, start)),
        },
        b';' => (Kind::Comment, line_end(bytes, start)),
        // A quoted symbol may have lines that look like answers.
        b'|' => {
            let close = bytes[start + 1..].iter().position(|byte| *byte == b'|');
            (Kind::Text, line_end(bytes, close.map_or(start, |length| start + 1 + length)))
        }
        _ => (Kind::Text, line_end(bytes, start)),
    };
    let trailing = bytes[start..end].iter().rev().take_while(|byte| byte.is_ascii_whitespace()).count();
    Some(Piece { kind, range: start..end - trailing })
}

/// All pieces.
pub fn pieces(bytes: &[u8]) -> impl Iterator<Item = Piece> {
    let mut position = 0;
    std::iter::from_fn(move || {
        let piece = next_piece(bytes, position)?;
        position = piece.range.end;
        Some(piece)
    })
}

/// The members of a group: atoms as [`Kind::Text`], strings, groups. For a group found by [`next_piece`].
pub fn members(bytes: &[u8], group: &Range<usize>) -> Vec<Piece> {
    let mut found = Vec::new();
    let mut position = group.start + 1;
    let end = group.end.saturating_sub(1);
    while position < end {
        let (kind, next) = match bytes[position] {
            byte if byte.is_ascii_whitespace() => {
                position += 1;
                continue;
            }
            b';' => {
                position = line_end(bytes, position);
                continue;
            }
            b'(' => (Kind::Group, group_end(bytes, position)),
            b'"' => (Kind::String, string_end(bytes, position)),
            _ => (Kind::Text, Some(atom_end(bytes, position))),
        };
        let next = next.unwrap_or(end).clamp(position + 1, end);
        found.push(Piece { kind, range: position..next });
        position = next;
    }
    found
}

/// The first atom of a group, such as `error`, `model`, `:reason-unknown`.
pub fn head<'a>(bytes: &'a [u8], group: &Range<usize>) -> &'a [u8] {
    let mut start = group.start + 1;
    while start < group.end && bytes[start].is_ascii_whitespace() {
        start += 1;
    }
    match bytes.get(start) {
        Some(b'(' | b')' | b'"' | b';') | None => &[],
        Some(_) => &bytes[start..atom_end(bytes, start).min(group.end)],
    }
}

fn line_end(bytes: &[u8], from: usize) -> usize {
    bytes[from..].iter().position(|byte| *byte == b'\n').map_or(bytes.len(), |length| from + length)
}

fn string_end(bytes: &[u8], start: usize) -> Option<usize> {
    let mut position = start + 1;
    loop {
        position += bytes.get(position..)?.iter().position(|byte| *byte == b'"')? + 1;
        if bytes.get(position) != Some(&b'"') {
            return Some(position);
        }
        position += 1;
    }
}

fn atom_end(bytes: &[u8], start: usize) -> usize {
    if bytes[start] == b'|' {
        let quoted = bytes[start + 1..].iter().position(|byte| *byte == b'|');
        return quoted.map_or(bytes.len(), |length| start + length + 2);
    }
    let stops = |byte: &u8| byte.is_ascii_whitespace() || b"()\";|".contains(byte);
    let length = bytes[start..].iter().position(stops).unwrap_or(bytes.len() - start);
    // A stop where an atom should be is an atom of its own, so that every caller gets on.
    start + length.max(1)
}

/// Just behind the parenthesis that closes the one at `start`.
fn group_end(bytes: &[u8], start: usize) -> Option<usize> {
    let mut depth = 0usize;
    let mut position = start;
    while position < bytes.len() {
        match bytes[position] {
            b'(' => depth += 1,
            b')' => {
                depth -= 1;
                if depth == 0 {
                    return Some(position + 1);
                }
            }
            b'"' => {
                position = string_end(bytes, position)?;
                continue;
            }
            b'|' => {
                let quoted = bytes[position + 1..].iter().position(|byte| *byte == b'|')?;
                position += quoted + 2;
                continue;
            }
            b';' => {
                position = line_end(bytes, position);
                continue;
            }
            _ => {}
        }
        position += 1;
    }
    None
}

/// The end of an error: the first `")` at the end of a line. Inside, solvers quote source text as it comes.
fn error_end(bytes: &[u8], start: usize) -> Option<usize> {
    let rest = &bytes[start..];
    let opening =
        [&b"(error \""[..], b"(error  \"", b"( error \""].into_iter().find(|open| rest.starts_with(open))?;
    let bytes = &bytes[..bytes.len().min(start + LONGEST_ERROR)];
    let mut position = start + opening.len();
    while let Some(length) = bytes[position..].windows(2).position(|pair| pair == b"\")") {
        let end = position + length + 2;
        let line_ends = bytes[end..].iter().take_while(|byte| **byte != b'\n').all(u8::is_ascii_whitespace);
        if line_ends {
            return Some(end);
        }
        position = end;
    }
    None
}

/// The text between the quotes of a string literal.
pub fn unquoted(literal: &[u8]) -> String {
    let inner = literal.strip_prefix(b"\"").unwrap_or(literal);
    let inner = inner.strip_suffix(b"\"").unwrap_or(inner);
    String::from_utf8_lossy(inner).replace("\"\"", "\"")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cut(text: &str) -> Vec<(Kind, &str)> {
        pieces(text.as_bytes()).map(|piece| (piece.kind, &text[piece.range])).collect()
    }

    #[test]
    fn an_output_is_cut_into_its_pieces() {
        let text = "sat\n(model\n (define-fun |a)| () String \")\"\"(\") ; )\n)\n\"sat\"\n; done\n";
        let kinds: Vec<Kind> = cut(text).into_iter().map(|(kind, _)| kind).collect();
        assert_eq!(kinds, [Kind::Text, Kind::Group, Kind::String, Kind::Comment]);
    }

    #[test]
    fn an_error_ends_at_its_own_end_whatever_it_quotes() {
        let text = "(error \"line 1: unknown \"x\" (see \"y\nhere\")\nunsat\n";
        assert_eq!(cut(text)[1], (Kind::Text, "unsat"));
    }

    #[test]
    fn a_group_that_never_ends_does_not_hide_what_follows() {
        let text = "sat\n(model (define-fun x () Int\nunsat\n";
        assert_eq!(cut(text).last(), Some(&(Kind::Text, "unsat")));
        assert_eq!(cut("\"never closed\nsat").last(), Some(&(Kind::Text, "sat")));
    }

    #[test]
    fn a_hundred_thousand_parentheses_are_no_problem() {
        let text = format!("{}{}\nsat", "(".repeat(100_000), ")".repeat(100_000));
        assert_eq!(cut(&text).len(), 2);
    }

    #[test]
    fn binary_rubbish_is_cut_without_panic() {
        let mut seed = 1u32;
        for length in 0..400 {
            let bytes: Vec<u8> = (0..length)
                .map(|_| {
                    seed = seed.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
                    b"()\"|; \nerrosat\xff\x00"[(seed >> 16) as usize % 16]
                })
                .collect();
            for piece in pieces(&bytes) {
                if piece.kind == Kind::Group {
                    members(&bytes, &piece.range);
                    head(&bytes, &piece.range);
                }
            }
        }
    }

    #[test]
    fn members_of_a_group_are_atoms_strings_and_groups() {
        let text = b"(a1 |b c| \"d\" (e f))";
        let found = members(text, &(0..text.len()));
        let texts: Vec<&[u8]> = found.iter().map(|piece| &text[piece.range.clone()]).collect();
        assert_eq!(texts, [&b"a1"[..], b"|b c|", b"\"d\"", b"(e f)"]);
    }
}
