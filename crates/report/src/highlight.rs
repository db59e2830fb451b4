//! SMT-LIB as HTML: comments, strings, commands, keywords and numbers told apart. Everything is escaped; what is not SMT-LIB
//! is shown as it is.

use std::borrow::Cow;

use campaign::foreign::visible;
use maud::{Escaper, Markup, PreEscaped};
use std::fmt::Write as _;

/// Commands of the language and of Z3's extensions.
const COMMANDS: [&str; 5] = ["declare-", "define-", "check-sat", "get-", "set-"];

/// Commands that are whole words.
const WORDS: [&str; 9] = ["assert", "push", "pop", "exit", "reset", "echo", "forall", "exists", "let"];

/// A script as HTML.
pub fn script(text: &str) -> Markup {
    let text: Cow<str> = visible(text);
    let mut out = String::with_capacity(text.len() * 3 / 2);
    let mut rest = &*text;
    let mut opened = false;
    while let Some(first) = rest.chars().next() {
        let (length, class) = match first {
            ';' => (rest.find('\n').unwrap_or(rest.len()), "c"),
            '"' => (quoted(rest, '"'), "s"),
            '|' => (quoted(rest, '|'), ""),
            '(' => (1, ""),
            ')' => (1, ""),
            c if c.is_whitespace() => (space(rest), ""),
            _ => {
                let length = atom(rest);
                (length, class_of(&rest[..length], opened))
            }
        };
        opened = first == '(' || (opened && first.is_whitespace());
        let (token, more) = rest.split_at(length.max(first.len_utf8()));
        push(&mut out, token, class);
        rest = more;
    }
    PreEscaped(out)
}

fn push(out: &mut String, token: &str, class: &str) {
    // Writing to a string cannot fail.
    if !class.is_empty() {
        let _ = write!(out, "<span class={class}>");
    }
    let _ = Escaper::new(out).write_str(token);
    if !class.is_empty() {
        out.push_str("</span>");
    }
}

fn class_of(atom: &str, opened: bool) -> &'static str {
    let is_command =
        |atom: &str| WORDS.contains(&atom) || COMMANDS.iter().any(|start| atom.starts_with(start));
    match atom.chars().next() {
        Some('0'..='9' | '#') => "n",
        Some(':') => "k",
        _ if opened && is_command(atom) => "w",
        _ if matches!(atom, "true" | "false") => "n",
        _ => "",
    }
}

/// Up to the closing quote; a doubled one does not close.
fn quoted(text: &str, quote: char) -> usize {
    let mut rest = text.char_indices().skip(1).peekable();
    while let Some((place, c)) = rest.next() {
        if c == quote {
            match rest.peek() {
                Some((_, next)) if *next == quote && quote == '"' => _ = rest.next(),
                _ => return place + 1,
            }
        }
    }
    text.len()
}

fn space(text: &str) -> usize {
    text.find(|c: char| !c.is_whitespace()).unwrap_or(text.len())
}

fn atom(text: &str) -> usize {
    text.find(|c: char| c.is_whitespace() || "();\"|".contains(c)).unwrap_or(text.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_script_says_is_text_whatever_it_says() {
        let hostile =
            "(assert (= |<script>alert(1)</script>| \"</pre><img src=x onerror=alert(1)>\")) ; </span>";
        let shown = script(hostile).into_string();
        for tag in ["<script", "<img", "</pre"] {
            assert!(!shown.contains(tag), "{shown}");
        }
        let plain =
            shown.replace("<span class=w>", "").replace("<span class=s>", "").replace("<span class=c>", "");
        let plain =
            plain.replace("</span>", "").replace("&lt;", "<").replace("&gt;", ">").replace("&quot;", "\"");
        assert_eq!(plain, hostile, "nothing is lost");
    }

    #[test]
    fn tokens_are_told_apart_and_what_is_broken_ends_somewhere() {
        let shown = script("(declare-fun push () Int)\n(assert (= push #x1f))").into_string();
        assert!(shown.contains("<span class=w>declare-fun</span> push"), "{shown}");
        assert!(shown.contains("<span class=n>#x1f</span>"), "{shown}");
        assert_eq!(script("\"open").into_string(), "<span class=s>&quot;open</span>");
        assert_eq!(script("|ä").into_string(), "|ä");
        assert_eq!(script("\u{202e}a").into_string(), "\\u{202e}a");
        assert_eq!(script("").into_string(), "");
    }
}
