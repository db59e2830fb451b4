//! Places in a source text, and errors that point at them.

use std::fmt;

use thiserror::Error;

/// Line and column, both from 1; the column counts characters.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Place {
    pub line: usize,
    pub column: usize,
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.line, self.column)
    }
}

/// Finds the place of a byte offset.
pub fn place(source: &[u8], offset: usize) -> Place {
    let before = &source[..offset.min(source.len())];
    let line_start = before.iter().rposition(|byte| *byte == b'\n').map_or(0, |at| at + 1);
    let line = before.iter().filter(|byte| **byte == b'\n').count() + 1;
    // Continuation bytes of UTF-8 are not characters of their own.
    let column = before[line_start..].iter().filter(|byte| **byte & 0xC0 != 0x80).count() + 1;
    Place { line, column }
}

/// What is wrong with a script, and where.
#[derive(Clone, PartialEq, Eq, Debug, Error)]
#[error("{message}")]
pub struct ParseError {
    pub message: String,
    /// Byte offset in the source.
    pub offset: usize,
}

impl ParseError {
    pub(crate) fn new(offset: usize, message: impl Into<String>) -> ParseError {
        ParseError { message: message.into(), offset }
    }

    /// The line with a caret below the place, cut to a window when it is long.
    pub fn excerpt(&self, source: &[u8]) -> String {
        const WINDOW: usize = 80;
        let offset = self.offset.min(source.len());
        let start = source[..offset].iter().rposition(|byte| *byte == b'\n').map_or(0, |at| at + 1);
        let start = start.max(offset.saturating_sub(WINDOW / 2));
        let end =
            source[offset..].iter().position(|byte| *byte == b'\n').map_or(source.len(), |at| offset + at);
        let end = end.min(start + WINDOW);
        let text: String = String::from_utf8_lossy(&source[start..end])
            .chars()
            .map(|c| if c.is_control() { ' ' } else { c })
            .collect();
        let indent = String::from_utf8_lossy(&source[start..offset.min(end)]).chars().count();
        let number = place(source, offset).line.to_string();
        let gutter = " ".repeat(number.len());
        format!("{gutter} |\n{number} | {text}\n{gutter} | {}^", " ".repeat(indent))
    }
}
