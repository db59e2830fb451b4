//! Where a script's prefix ends: the part that many scripts have in common.
//!
//! The best prefix is the *head*: options, infos and the logic, which thousands of scripts share. What a solver does
//! for its first declaration is most of its start, so a head is followed by a declaration of ours that changes
//! nothing: the script's own next command is one that would have made the solver get ready just so, and none of those
//! that follow can tell. Any other script has its own declarations as its prefix; only its mutants share them.

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

/// The commands of a head.
const SETTING: [&[u8]; 3] = [b"set-logic", b"set-info", b"set-option"];

/// The commands for which a solver gets ready for terms, as it does for ours.
const BUILDING: [&[u8]; 12] = [
    b"assert",
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

/// Makes the solver get ready for terms: a name for a sort that exists anyway.
const WARM_UP: &[u8] = b" (define-sort |osprey warm-up| () Bool)";

/// What a script must not mention if ours is not to be in its way: a name with a space can only be written like this.
const WARM_UP_NAME: &[u8] = b"osprey warm-up";

/// How much the solver reads at once; the prefix is padded to a multiple of it, so that every command in it has been
/// executed when the solver asks for more.
const BLOCK: usize = 1024;

/// A script's prefix.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(super) struct Prefix {
    pub length: usize,
    /// It is a head.
    warm: bool,
}

impl Prefix {
    /// Where the solver starts at the beginning.
    pub const NOTHING: Prefix = Prefix { length: 0, warm: false };

    /// The prefix of a script that is run with these arguments. `None` if there is none that ends with a line: then there
    /// is no place to pad without moving what follows to other columns, which error messages would show.
    pub fn of(script: &[u8], args: &[Vec<u8>]) -> Option<Prefix> {
        if !answers_everything(script, args)
            && let Some(length) = head(script)
        {
            return Some(Prefix { length, warm: true });
        }
        declarations(script).map(|length| Prefix { length, warm: false })
    }

    /// The prefix of this script, made longer at the end of its last line until it fills its last block.
    pub fn padded(self, script: &[u8]) -> Vec<u8> {
        let mut padded = script[..self.length].to_vec();
        padded.pop();
        if self.warm {
            padded.extend_from_slice(WARM_UP);
        }
        padded.resize((padded.len() + 1).div_ceil(BLOCK) * BLOCK - 1, b' ');
        padded.push(b'\n');
        padded
    }
}

/// The length of the part of a script before its first assertion: options, infos, logic, declarations. `None` if it
/// does not end with a line.
pub fn declarations(script: &[u8]) -> Option<usize> {
    longest(script, &DECLARING)
}

fn last_line(text: &[u8]) -> &[u8] {
    text.rsplit(|byte| *byte == b'\n').next().unwrap_or_default()
}

/// Whether Z3 may have been told to answer every command with `success`, ours too: `smtlib2_compliant`, in any of the
/// spellings that it takes for the same.
fn answers_everything(script: &[u8], args: &[Vec<u8>]) -> bool {
    let asks = |text: &[u8]| text.windows(9).any(|word| word.eq_ignore_ascii_case(b"compliant"));
    asks(script) || args.iter().any(|arg| asks(arg))
}

/// The length of the script's head, if a command of ours behind it changes nothing.
fn head(script: &[u8]) -> Option<usize> {
    let length = longest(script, &SETTING)?;
    let (head, rest) = script.split_at(length);
    // Every command would be answered, ours too.
    let answered = contains(head, b"print-success");
    // Options and the logic cannot be set once the solver is ready for terms, and it answers some questions differently.
    let next = skip_blank(script, length);
    let ready = next == script.len() || name(script, next).is_some_and(|name| BUILDING.contains(&name));
    // A command that is refused may not have made it ready.
    let set_later = contains(rest, b"set-option") || contains(rest, b"set-logic");
    let commented = last_line(&head[..length - 1]).contains(&b';');
    (!answered && ready && !set_later && !commented && !contains(script, WARM_UP_NAME)).then_some(length)
}

fn contains(text: &[u8], word: &[u8]) -> bool {
    text.windows(word.len()).any(|part| part == word)
}

/// The length of the longest prefix of such commands that ends with a line.
fn longest(script: &[u8], commands: &[&[u8]]) -> Option<usize> {
    let mut at = 0;
    let mut best = None;
    loop {
        at = skip_blank(script, at);
        let Some(end) = command(script, at, commands) else { return best };
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

/// The name of the command at `at`.
fn name(script: &[u8], at: usize) -> Option<&[u8]> {
    if script.get(at) != Some(&b'(') {
        return None;
    }
    let name = &script[skip_blank(script, at + 1)..];
    Some(&name[..name.iter().position(|byte| b" \t\r\n()\";|".contains(byte))?])
}

/// The end of the command at `at`, if it is complete, one of these, and harmless.
fn command(script: &[u8], at: usize, commands: &[&[u8]]) -> Option<usize> {
    let head = name(script, at)?;
    if !commands.contains(&head) {
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

    /// The prefix as text, and whether it is a head.
    fn prefix(script: &str) -> Option<(&str, bool)> {
        Prefix::of(script.as_bytes(), &[]).map(|prefix| (&script[..prefix.length], prefix.warm))
    }

    #[test]
    fn the_prefix_is_the_head() {
        let script =
            "(set-logic ALL)\n; why (not)\n(set-info :x |a)b|)\n\n(declare-fun a () Int)\n(assert true)\n";
        assert_eq!(prefix(script), Some(("(set-logic ALL)\n; why (not)\n(set-info :x |a)b|)\n", true)));
        assert_eq!(
            prefix("(set-logic ALL)\n(declare-const x Int)(assert (> x 0))\n"),
            Some(("(set-logic ALL)\n", true))
        );
    }

    #[test]
    fn without_a_head_it_ends_with_the_last_line_of_declarations() {
        assert_eq!(
            prefix("(define-fun s () String \")\"\"(\")\n(check-sat)"),
            Some(("(define-fun s () String \")\"\"(\")\n", false))
        );
        let script = "(declare-fun |a)b| () String) ; x\n\n(assert true)\n";
        assert_eq!(prefix(script), Some(("(declare-fun |a)b| () String) ; x\n", false)));
        assert_eq!(prefix("(declare-const x Int) (assert (> x 0))\n"), None);
    }

    #[test]
    fn a_head_that_our_own_command_would_disturb_is_none() {
        for head in [
            "(set-logic ALL)\n(set-option :produce-models true)(declare-const x Int)\n",
            "(set-option :print-success true)\n(declare-const x Int)\n",
            "(set-logic ALL) ; all of it\n(declare-const x Int)\n",
            "(set-logic ALL)\n(echo \"a\")\n(set-option :produce-proofs true)\n(declare-const x Int)\n",
            "(set-logic ALL)\n(get-info :name)\n(declare-const x Int)\n",
            "(set-option :model true)\n(get-option :model)\n(set-logic QF_LIA)\n",
            "(set-option :model true)\n( set-logic QF_LIA) (declare-const x Int)\n",
            "(set-option :model true)\n( ; here\nset-logic QF_LIA) (declare-const x Int)\n",
            "(set-logic ALL)\n(declare-const 3 Int)\n(set-option :produce-proofs true)\n",
            "(set-option :SMTLIB2-Compliant true)\n(declare-const x Int)\n",
            "(set-logic ALL)\n(define-sort |osprey warm-up| () Int)\n",
        ] {
            assert!(prefix(head).is_none_or(|(_, warm)| !warm), "{head}");
        }
        let script = b"(set-logic ALL)\n(declare-const x Int)\n";
        let warm =
            |arg: &str| Prefix::of(script, &[arg.as_bytes().to_vec()]).is_some_and(|prefix| prefix.warm);
        assert!(warm("-T:3") && !warm("smtlib2_compliant=true"));
    }

    #[test]
    fn a_head_may_be_all_or_be_followed_by_what_makes_the_solver_ready() {
        for rest in ["", " \n; no more", "(assert true)\n", "( ; why\n declare-sort S 0)\n(get-info :name)\n"]
        {
            let script = format!("(set-logic ALL)\n{rest}");
            assert_eq!(prefix(&script), Some(("(set-logic ALL)\n", true)), "{script}");
        }
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
        for length in [2, 900, 1022, 1023, 1024, 1025, 4096] {
            let mut text = vec![b'x'; length - 1];
            text.push(b'\n');
            for warm in [false, true] {
                let padded = Prefix { length, warm }.padded(&text);
                assert_eq!(padded.len() % BLOCK, 0, "{length}");
                assert!(padded.len() - length < BLOCK + WARM_UP.len());
                assert!(padded.starts_with(&text[..length - 1]) && padded.ends_with(b"\n"));
                assert_eq!(padded.iter().filter(|byte| **byte == b'\n').count(), 1);
            }
        }
    }
}
