//! A few lines that stay in place at the bottom of a terminal.
//!
//! Lines are cut at the terminal's width, so that one line is one row when it is drawn. A terminal that becomes narrower
//! breaks them anew: before the next drawing the rows are counted at the width of that moment, so that nothing of the old
//! lines stays behind.

use std::io::{self, Write};

/// What was drawn last.
#[derive(Default)]
pub struct StatusLines {
    /// Characters of each line; the cursor stands behind the last one.
    drawn: Vec<usize>,
}

impl StatusLines {
    /// Draws these lines in the place of the last ones.
    pub fn draw(&mut self, text: &str, width: usize, out: &mut impl Write) -> io::Result<()> {
        let width = width.max(2);
        let mut bytes = self.clearing(width);
        self.drawn.clear();
        for (number, line) in text.lines().enumerate() {
            // The last column stays free: some terminals go to the next row with it.
            let shown: String = line.chars().take(width - 1).collect();
            if number > 0 {
                bytes.push('\n');
            }
            bytes += &shown;
            self.drawn.push(shown.chars().count());
        }
        out.write_all(bytes.as_bytes())?;
        out.flush()
    }

    /// Takes the lines away; what is written next begins in their place.
    pub fn clear(&mut self, width: usize, out: &mut impl Write) -> io::Result<()> {
        let bytes = self.clearing(width.max(2));
        self.drawn.clear();
        out.write_all(bytes.as_bytes())?;
        out.flush()
    }

    /// To the first column of the first row, and everything from there on is wiped.
    fn clearing(&self, width: usize) -> String {
        let rows: usize = self.drawn.iter().map(|length| length.div_ceil(width).max(1)).sum();
        match rows {
            0 => String::new(),
            1 => "\r\u{1b}[J".to_owned(),
            rows => format!("\r\u{1b}[{}A\u{1b}[J", rows - 1),
        }
    }
}

/// The columns of the terminal behind standard error; 80 if it does not tell.
pub fn width() -> usize {
    // SAFETY: the structure is plain numbers, and it lives through the call that fills it.
    let columns = unsafe {
        let mut size: libc::winsize = std::mem::zeroed();
        match libc::ioctl(libc::STDERR_FILENO, libc::TIOCGWINSZ, &mut size) {
            0 => size.ws_col,
            _ => 0,
        }
    };
    if columns == 0 { 80 } else { usize::from(columns) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn drawn(lines: &mut StatusLines, text: &str, width: usize) -> String {
        let mut out = Vec::new();
        lines.draw(text, width, &mut out).expect("drawn");
        String::from_utf8(out).expect("UTF-8")
    }

    #[test]
    fn lines_are_cut_at_the_width_and_replaced_in_place() {
        let mut lines = StatusLines::default();
        assert_eq!(drawn(&mut lines, "abcdefgh\nxy", 5), "abcd\nxy");
        assert_eq!(drawn(&mut lines, "1\n2\n3", 5), "\r\u{1b}[1A\u{1b}[J1\n2\n3");
        let mut out = Vec::new();
        lines.clear(5, &mut out).expect("cleared");
        assert_eq!(out, b"\r\x1b[2A\x1b[J");
    }

    #[test]
    fn a_terminal_that_became_narrower_has_more_rows_to_wipe() {
        let mut lines = StatusLines::default();
        drawn(&mut lines, "0123456789\nabc\n", 20);
        // Ten characters take three rows of four columns, and three take one.
        assert_eq!(drawn(&mut lines, "n", 4), "\r\u{1b}[3A\u{1b}[Jn");
        assert_eq!(drawn(&mut lines, "wide", 80), "\r\u{1b}[Jwide");
    }
}
