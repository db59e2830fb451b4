//! Text that others wrote (solvers, seeds, names of files), made harmless for a terminal, for Markdown and for a shell.
//!
//! A solver may print anything: sequences that move the cursor, zero bytes, the end of a code block. Nothing of that
//! may act where we show it, and all of it must stay visible.

use std::borrow::Cow;
use std::fmt::Write as _;

/// The text with every character that acts instead of being seen written out: control characters as `^[` or `^@`, those
/// beyond ASCII, and marks that reverse the direction of a line, as `\u{9b}`. Line ends and tabs stay.
pub fn visible(text: &str) -> Cow<'_, str> {
    if text.chars().all(is_seen) {
        return Cow::Borrowed(text);
    }
    let mut shown = String::with_capacity(text.len() + 16);
    for c in text.chars() {
        match c {
            c if is_seen(c) => shown.push(c),
            '\u{7f}' => shown.push_str("^?"),
            c if c < ' ' => {
                shown.push('^');
                shown.push(char::from(c as u8 + b'@'));
            }
            c => {
                // Writing to a string cannot fail.
                let _ = write!(shown, "\\u{{{:x}}}", u32::from(c));
            }
        }
    }
    Cow::Owned(shown)
}

fn is_seen(c: char) -> bool {
    match c {
        '\n' | '\t' => true,
        c if c.is_control() => false,
        // Marks of direction, separators of lines, joiners: they change how other characters are shown.
        '\u{61c}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}' => false,
        '\u{feff}' | '\u{fff9}'..='\u{fffb}' => false,
        _ => true,
    }
}

/// JSON text in which nothing acts on a terminal either. It means the same: such characters occur in strings only.
pub fn json(text: &str) -> Cow<'_, str> {
    if text.chars().all(is_seen) {
        return Cow::Borrowed(text);
    }
    let mut shown = String::with_capacity(text.len() + 16);
    for c in text.chars() {
        match is_seen(c) {
            true => shown.push(c),
            // All of them are in the plane that needs four digits.
            false => shown.push_str(&format!("\\u{:04x}", u32::from(c))),
        }
    }
    Cow::Owned(shown)
}

/// Visible text on one line, for a message, a heading or a comment of a script.
pub fn one_line(text: &str) -> String {
    visible(text).split_whitespace().collect::<Vec<_>>().join(" ")
}

/// One line of Markdown prose in which nothing is markup: no code, link, tag, mention or reference to an issue.
pub fn prose(text: &str) -> String {
    let line = one_line(text);
    let mut shown = String::with_capacity(line.len() + 8);
    // Nothing stands before the first one: a star there would be a list.
    let mut before = '\n';
    let mut rest = line.chars().peekable();
    while let Some(c) = rest.next() {
        let inside_word = before.is_alphanumeric() && rest.peek().is_some_and(|next| next.is_alphanumeric());
        let markup = match c {
            '\\' | '`' | '[' | ']' | '~' => true,
            // Only what follows a word or a sign can end an emphasis, and without an end there is none.
            '*' => before != ' ',
            // Tags and addresses begin with these.
            '<' => rest.peek().is_some_and(|next| next.is_ascii_alphabetic() || "/!?".contains(*next)),
            '_' | '@' | '#' | '&' => !inside_word,
            _ => false,
        };
        if markup {
            shown.push('\\');
        }
        shown.push(c);
        before = c;
    }
    shown
}

/// A code block that the text cannot close: its fence is longer than any row of backticks in it.
pub fn code_block(language: &str, text: &str) -> String {
    let text = visible(text.trim_end());
    let longest = text.split(|c| c != '`').map(str::len).max().unwrap_or(0);
    let fence = "`".repeat(longest.max(2) + 1);
    format!("{fence}{language}\n{text}\n{fence}\n")
}

/// A word that a shell reads as it is, with nothing in it that a terminal acts on.
pub fn shell_word(text: &str) -> String {
    solver::quoted(&visible(text))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_acts_on_a_terminal_is_written_out_and_the_rest_stays() {
        assert_eq!(visible("\u{1b}]0;owned\u{7}\u{1b}[2Jsat\0\r\n"), "^[]0;owned^G^[[2Jsat^@^M\n");
        assert_eq!(visible("\u{9b}31m \u{7f} \u{202e}tas\u{feff}"), "\\u{9b}31m ^? \\u{202e}tas\\u{feff}");
        assert!(matches!(visible("sat\n\t(model ä → ∀)"), Cow::Borrowed(_)));
        assert_eq!(one_line(" a\n\n  b\u{1b} "), "a b^[");
    }

    #[test]
    fn json_stays_the_same_value() {
        let value = serde_json::json!({ "said": "\u{9b}31m \u{7f} \u{1b} \u{202e} ä" });
        let text = serde_json::to_string(&value).expect("JSON");
        let shown = json(&text);
        assert!(shown.chars().all(is_seen), "{shown}");
        assert_eq!(serde_json::from_str::<serde_json::Value>(&shown).expect("JSON"), value);
    }

    #[test]
    fn nothing_in_prose_is_markup() {
        assert_eq!(prose("`x` <b> [a](b) @all #12"), "\\`x\\` \\<b> \\[a\\](b) \\@all \\#12");
        assert_eq!(
            prose("Z3 is wrong: <, *, + of a **bold** </a>"),
            "Z3 is wrong: <, *, + of a *\\*bold\\*\\* \\</a>"
        );
        assert_eq!(prose("* x"), "\\* x");
        assert_eq!(prose("sat by z3@5.4.0: bv_a (* x _)"), "sat by z3@5.4.0: bv_a (\\* x \\_)");
    }

    #[test]
    fn a_code_block_is_closed_by_its_own_fence_only() {
        assert_eq!(code_block("smt2", "(check-sat)\n"), "```smt2\n(check-sat)\n```\n");
        assert_eq!(code_block("", "sat\n```\n# x"), "````\nsat\n```\n# x\n````\n");
        assert_eq!(code_block("", ""), "```\n\n```\n");
    }

    #[test]
    fn a_word_for_the_shell_is_one_word() {
        assert_eq!(shell_word("it's $(rm)\u{1b}"), r"'it'\''s $(rm)^['");
    }
}
