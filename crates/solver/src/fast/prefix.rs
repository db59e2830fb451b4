//! Where a script's prefix ends: the commands that all mutants of one seed have in common.

/// The commands that may be executed before the fork: they ask nothing and only build state in memory.
const DECLARING: [&[u8]; 14] = [
    b"set-logic",
    b"set-info",
    b"set-option",
    b"declare-const",
    b"declare-fun",
    b"declare-sort",
    b"declare-datatype",
    b"declare-datatypes",
    b"define-const",
    b"define-fun",
    b"define-fun-rec",
    b"define-funs-rec",
    b"define-sort",
    b"define-sorts",
];

/// How much the solver reads at once; the prefix is padded to a multiple of it, so that every command in it has been
/// executed when the solver asks for more.
const BLOCK: usize = 1024;

/// The length of the longest prefix of declaring commands that ends with a line. `None` if there is none: then there is
/// no place to pad without moving what follows to other columns, which error messages would show.
pub(super) fn length(script: &[u8]) -> Option<usize> {
    let mut at = 0;
    let mut best = None;
    loop {
        at = skip_blank(script, at);
        let Some(end) = declaring_command(script, at) else { return best };
        at = end;
        let line_end = script[at..].iter().position(|byte| *byte == b'\n').map(|length| at + length);
        let Some(line_end) = line_end else { return best };
        let tail = &script[at..line_end];
        let only_comment =
            tail.iter().find(|byte| !byte.is_ascii_whitespace()).is_none_or(|byte| *byte == b';');
        if only_comment {
            at = line_end + 1;
            best = Some(at);
        }
    }
}

/// The prefix, made longer by blanks at the end of its last line until it fills its last block.
pub(super) fn padded(prefix: &[u8]) -> Vec<u8> {
    let mut padded = prefix.to_vec();
    padded.pop();
    padded.resize((prefix.len().div_ceil(BLOCK) * BLOCK).max(1) - 1, b' ');
    padded.push(b'\n');
    padded
}

/// Over white space and comments.
fn skip_blank(script: &[u8], mut at: usize) -> usize {
    while let Some(byte) = script.get(at) {
        match byte {
            b';' => at = skip_past(script, at, b'\n'),
            _ if byte.is_ascii_whitespace() => at += 1,
            _ => break,
        }
    }
    at
}

/// To the place after the next `end`, or to the end of the script.
fn skip_past(script: &[u8], at: usize, end: u8) -> usize {
    script[at..].iter().position(|byte| *byte == end).map_or(script.len(), |length| at + length + 1)
}

/// The end of the command at `at`, if it is a complete and harmless one.
fn declaring_command(script: &[u8], at: usize) -> Option<usize> {
    if script.get(at) != Some(&b'(') {
        return None;
    }
    let head = &script[skip_blank(script, at + 1)..];
    let head = &head[..head.iter().position(|byte| b" \t\r\n()\";|".contains(byte))?];
    if !DECLARING.contains(&head) {
        return None;
    }
    let mut depth = 0usize;
    let mut end = at;
    while let Some(byte) = script.get(end) {
        end = match byte {
            b'"' => skip_past(script, end + 1, b'"'),
            b'|' => skip_past(script, end + 1, b'|'),
            b';' => skip_past(script, end, b'\n'),
            _ => end + 1,
        };
        match byte {
            b'(' => depth += 1,
            b')' if depth == 1 => {
                // Output to a file must begin in each run anew.
                let redirects =
                    head == b"set-option" && script[at..end].windows(8).any(|word| word == b"-channel");
                return (!redirects).then_some(end);
            }
            b')' => depth -= 1,
            _ => {}
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    fn prefix(script: &str) -> Option<&str> {
        length(script.as_bytes()).map(|length| &script[..length])
    }

    #[test]
    fn the_prefix_ends_with_the_last_line_of_declarations() {
        let script = "(set-logic ALL)\n; why (not)\n(declare-fun |a)b| () String) ; x\n\n(assert true)\n";
        assert_eq!(prefix(script), Some("(set-logic ALL)\n; why (not)\n(declare-fun |a)b| () String) ; x\n"));
        assert_eq!(
            prefix("(define-fun s () String \")\"\"(\")\n(check-sat)"),
            Some("(define-fun s () String \")\"\"(\")\n")
        );
    }

    #[test]
    fn a_line_shared_with_an_assertion_belongs_to_the_rest() {
        assert_eq!(
            prefix("(set-logic ALL)\n(declare-const x Int)(assert (> x 0))\n"),
            Some("(set-logic ALL)\n")
        );
        assert_eq!(prefix("(declare-const x Int) (assert (> x 0))\n"), None);
    }

    #[test]
    fn there_is_no_prefix_in_a_script_that_starts_with_something_else() {
        for script in
            ["", "(push)\n", "(assert true)\n", "garbage\n(set-logic ALL)\n", "(set-logic ALL", ")\n"]
        {
            assert_eq!(prefix(script), None, "{script:?}");
        }
        assert_eq!(prefix("(set-option :regular-output-channel \"f\")\n(set-logic ALL)\n"), None);
    }

    #[test]
    fn padding_fills_blocks_and_keeps_lines() {
        for length in [2, 1022, 1023, 1024, 1025, 4096] {
            let mut text = vec![b'x'; length - 1];
            text.push(b'\n');
            let padded = padded(&text);
            assert_eq!(padded.len() % BLOCK, 0, "{length}");
            assert!(padded.len() - length < BLOCK);
            assert!(padded.starts_with(&text[..length - 1]) && padded.ends_with(b"\n"));
        }
    }
}
