//! What is taken out of a script before a solver sees it: commands and options that touch files or start programs.
//!
//! Seeds come from anywhere. `(set-option :regular-output-channel "FILE")` makes most solvers append text of the seed's
//! choice to any file; others truncate files, read them, or start programs. Which options do that is in the adapter
//! files (`files` under `[options]`); all tables together hold for every solver, so that all of them get the same
//! text. Commands that nobody knows are taken out too. What is taken out becomes blanks: every other
//! character keeps its place.
//!
//! What a script says of its own answer is kept from solvers, too, and without a word: cvc5 compares it with its own answer
//! and gives an error instead of that.
//!
//! Solvers disagree about backslashes in strings and about the ends of comments. Where a script uses that, and something
//! that touches files is anywhere in it, nothing of it is handed over.

use std::borrow::Cow;
use std::sync::{Arc, LazyLock};

use regex::RegexSet;
use smtlib::Setting;

use crate::adapter::Adapters;

/// Finds what touches files.
#[derive(Debug)]
pub struct Screen {
    /// On names of options in lower case, with dashes for underscores.
    options: RegexSet,
}

/// A script as solvers get it.
#[derive(Debug, PartialEq, Eq)]
pub struct Screened<'a> {
    pub text: Cow<'a, [u8]>,
    /// What was taken out, each with its line.
    pub removed: Vec<String>,
}

/// Commands that touch no file in any solver, in the order of bytes.
const HARMLESS: &[&str] = &[
    "apply",
    "assert",
    "assert-not",
    "assert-soft",
    "assume",
    "block-model",
    "block-model-values",
    "check-sat",
    "check-sat-assuming",
    "check-sat-assuming-model",
    "check-sat-using",
    "check-synth",
    "check-synth-next",
    "constraint",
    "declare-codatatype",
    "declare-codatatypes",
    "declare-const",
    "declare-datatype",
    "declare-datatypes",
    "declare-fun",
    "declare-funs",
    "declare-heap",
    "declare-map",
    "declare-pool",
    "declare-preds",
    "declare-primed-var",
    "declare-rel",
    "declare-sort",
    "declare-sort-parameter",
    "declare-sorts",
    "declare-tactic",
    "declare-var",
    "declare-weight",
    "define",
    "define-const",
    "define-fun",
    "define-fun-rec",
    "define-funs",
    "define-funs-rec",
    "define-sort",
    "define-sorts",
    "echo",
    "eval",
    "exit",
    "find-synth",
    "find-synth-next",
    "get-abduct",
    "get-abduct-next",
    "get-assertions",
    "get-assignment",
    "get-consequences",
    "get-difficulty",
    "get-implied-equalities",
    "get-info",
    "get-interpolant",
    "get-interpolant-next",
    "get-interpolants",
    "get-learned-literals",
    "get-model",
    "get-objectives",
    "get-option",
    "get-proof",
    "get-qe",
    "get-qe-disjunct",
    "get-timeout-core",
    "get-timeout-core-assuming",
    "get-unsat-assumptions",
    "get-unsat-core",
    "get-unsat-core-lemmas",
    "get-user-tactics",
    "get-value",
    "help",
    "help-tactic",
    "inv-constraint",
    "labels",
    "maximize",
    "mbi",
    "meta-info",
    "minimize",
    "model-add",
    "model-del",
    "pop",
    "push",
    "query",
    "reset",
    "reset-assertions",
    "rule",
    "set-feature",
    "set-info",
    "set-logic",
    "set-option",
    "set-user-tactic",
    "simplify",
    "synth-fun",
    "synth-inv",
];

/// Harmless commands whose keywords are attributes or information, and set nothing.
const SETS_NOTHING: [&str; 9] = [
    "assert",
    "assert-soft",
    "define-fun",
    "define-fun-rec",
    "define-funs-rec",
    "get-info",
    "get-option",
    "meta-info",
    "set-info",
];

/// Words of commands that are known to touch files or to start programs, wherever they stand.
static KNOWN: LazyLock<Option<regex::bytes::Regex>> = LazyLock::new(|| {
    regex::bytes::Regex::new(
        r"\(\s*\|?(?:include|get-proof-graph|(?:read|write)-(?:state|funs?)|export-[a-z-]*|declare-oracle[a-z-]*|oracle-[a-z-]*|dump[a-z-]*|save[a-z-]*|load[a-z-]*)\b",
    )
    .ok()
});

impl Screen {
    /// With the tables of all these adapters.
    pub fn new(adapters: &Adapters) -> Screen {
        let patterns: Vec<&str> = adapters.file_options().collect();
        // The built-in patterns are tried by a test, a user's file when it is read; should one still be wrong, no
        // option passes.
        let options = RegexSet::new(&patterns).or_else(|_| RegexSet::new([""]));
        Screen { options: options.unwrap_or_default() }
    }

    /// With the tables that are built in.
    pub fn built_in() -> Arc<Screen> {
        static BUILT_IN: LazyLock<Arc<Screen>> =
            LazyLock::new(|| Arc::new(Screen::new(&Adapters::built_in())));
        Arc::clone(&BUILT_IN)
    }

    /// Whether an option of this name makes some solver touch files. As solvers do, it looks at neither case nor the
    /// difference between dash and underscore.
    pub fn touches_files(&self, option: &str) -> bool {
        let plain = |c: char| if c == '_' { '-' } else { c.to_ascii_lowercase() };
        self.options.is_match(&option.chars().map(plain).collect::<String>())
    }

    /// Whether a setting is to be left out of a command line.
    pub fn refuses(&self, setting: &Setting) -> bool {
        self.touches_files(&setting.option)
    }

    /// The same for a word of a command line that was read from a file: an option that touches files, or the name of
    /// another input.
    pub fn refuses_word(&self, word: &str) -> bool {
        let name = word.trim_start_matches('-');
        let option = name.split(['=', ':']).next().unwrap_or(name);
        let option = option.strip_prefix("no-").unwrap_or(option);
        let another_input = name == word && !word.contains('=') && word.contains('/');
        another_input || self.touches_files(option)
    }

    /// The script without what touches files.
    pub fn apply<'a>(&self, script: &'a [u8]) -> Screened<'a> {
        self.screened(script, false)
    }

    /// The same without what it says of its own answer: the text that a solver is given.
    pub fn for_solver<'a>(&self, script: &'a [u8]) -> Cow<'a, [u8]> {
        self.screened(script, true).text
    }

    fn screened<'a>(&self, script: &'a [u8], unstated: bool) -> Screened<'a> {
        let mut reader = Reader { script, at: 0, ambiguous: false };
        let mut found: Vec<(std::ops::Range<usize>, Option<String>)> = Vec::new();
        while let Some(start) = reader.next_command() {
            let command = reader.command(start);
            let refused = self.refusal(&command);
            if refused.is_some() || (unstated && command.states_an_answer()) {
                found.push((start..reader.at, refused));
            }
        }
        if reader.ambiguous && self.mentions_files(script) {
            let what = "everything: it cannot be told for certain where its strings and comments end, and it \
                mentions files";
            found = vec![(0..script.len(), Some(what.to_owned()))];
        }
        if found.is_empty() {
            return Screened { text: Cow::Borrowed(script), removed: Vec::new() };
        }
        let mut text = script.to_vec();
        let mut removed = Vec::new();
        for (range, what) in found {
            if let Some(what) = what {
                let line = 1 + script[..range.start].iter().filter(|byte| **byte == b'\n').count();
                removed.push(format!("line {line}: {what}"));
            }
            text[range].iter_mut().filter(|byte| **byte != b'\n').for_each(|byte| *byte = b' ');
        }
        Screened { text: Cow::Owned(text), removed }
    }

    /// Why a command is not handed over.
    fn refusal(&self, command: &Command) -> Option<String> {
        let name = command.name.as_ref();
        if HARMLESS.binary_search(&name).is_err() {
            return Some(format!("the command '{}', which may touch files", shown(name)));
        }
        if SETS_NOTHING.contains(&name) {
            return None;
        }
        let option = command.keywords.iter().find(|keyword| self.touches_files(keyword))?;
        Some(format!("the option ':{}', which touches files", shown(option)))
    }

    /// Whether anything that touches files is in a text, wherever its strings and comments end.
    fn mentions_files(&self, script: &[u8]) -> bool {
        let keywords = script.iter().enumerate().filter(|(_, byte)| **byte == b':');
        let mut named = keywords.map(|(at, _)| {
            let name = &script[at + 1..];
            let end = name.iter().position(|byte| !is_word(*byte)).unwrap_or(name.len());
            String::from_utf8_lossy(&name[..end])
        });
        named.any(|name| self.touches_files(&name))
            || KNOWN.as_ref().is_none_or(|known| known.is_match(script))
    }
}

/// The beginning of a name that may be anything.
fn shown(name: &str) -> String {
    name.chars().take(40).collect()
}

/// A top-level command.
struct Command<'a> {
    name: Cow<'a, str>,
    /// Without their colons.
    keywords: Vec<Cow<'a, str>>,
}

impl Command<'_> {
    /// Does it say what the next check should answer?
    fn states_an_answer(&self) -> bool {
        self.name == "set-info" && self.keywords.first().is_some_and(|keyword| keyword == "status")
    }
}

/// Reads commands as a solver would, and notices where solvers differ.
struct Reader<'a> {
    script: &'a [u8],
    at: usize,
    ambiguous: bool,
}

/// Characters of words in any solver; everything else ends one.
fn is_word(byte: u8) -> bool {
    WORD[usize::from(byte)]
}

/// Every byte of every script is looked up here.
static WORD: [bool; 256] = {
    let mut word = [false; 256];
    let mut byte = 0;
    while byte < 256 {
        word[byte] = (byte as u8).is_ascii_alphanumeric();
        byte += 1;
    }
    let others = b"~!@$%^&*_-+=<>.?/";
    let mut at = 0;
    while at < others.len() {
        word[others[at] as usize] = true;
        at += 1;
    }
    word
};

impl<'a> Reader<'a> {
    /// The place of the next opening parenthesis between commands.
    fn next_command(&mut self) -> Option<usize> {
        while let Some(byte) = self.script.get(self.at) {
            match byte {
                b'(' => return Some(self.at),
                b'"' | b'|' | b';' => self.skip_delimited(),
                b')' => {
                    self.ambiguous = true;
                    self.at += 1;
                }
                _ => self.at += 1,
            }
        }
        None
    }

    /// Reads to the end of the command that starts here.
    fn command(&mut self, start: usize) -> Command<'a> {
        self.at = start + 1;
        let mut command = Command { name: Cow::Borrowed(""), keywords: Vec::new() };
        let mut named = false;
        let mut depth = 1;
        while let Some(byte) = self.script.get(self.at).copied() {
            match byte {
                b'(' => {
                    depth += 1;
                    named = true;
                    self.at += 1;
                }
                b')' => {
                    depth -= 1;
                    self.at += 1;
                    if depth == 0 {
                        return command;
                    }
                }
                b'"' | b';' => self.skip_delimited(),
                b'|' => {
                    let from = self.at + 1;
                    self.skip_delimited();
                    if !named {
                        let until = self.at.saturating_sub(1).max(from);
                        command.name = String::from_utf8_lossy(&self.script[from..until]);
                        named = true;
                    }
                }
                b':' => {
                    self.at += 1;
                    command.keywords.push(String::from_utf8_lossy(self.word()));
                }
                _ if is_word(byte) => {
                    let word = self.word();
                    if !named {
                        command.name = String::from_utf8_lossy(word);
                        named = true;
                    }
                }
                _ => self.at += 1,
            }
        }
        // It is not closed.
        self.ambiguous = true;
        command
    }

    fn word(&mut self) -> &'a [u8] {
        let rest = &self.script[self.at..];
        let length = rest.iter().position(|byte| !is_word(*byte)).unwrap_or(rest.len());
        self.at += length;
        &rest[..length]
    }

    /// Skips a string, a quoted symbol or a comment.
    fn skip_delimited(&mut self) {
        let delimiter = self.script[self.at];
        let end = if delimiter == b';' { b'\n' } else { delimiter };
        self.at += 1;
        while let Some(byte) = self.script.get(self.at).copied() {
            self.at += 1;
            if byte == end {
                return;
            }
            let next = self.script.get(self.at).copied();
            // An escape in some solvers; a line's end in some.
            let escape = byte == b'\\' && end != b'\n' && matches!(next, Some(b'"' | b'|' | b'\\'));
            self.ambiguous |= escape || (byte == b'\r' && end == b'\n' && next != Some(b'\n'));
        }
        self.ambiguous |= end != b'\n';
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn screened(script: &str) -> (String, Vec<String>) {
        let screened = Screen::built_in().apply(script.as_bytes()).text.into_owned();
        let removed = Screen::built_in().apply(script.as_bytes()).removed;
        (String::from_utf8(screened).expect("text"), removed)
    }

    #[test]
    fn the_list_of_commands_is_in_order() {
        assert!(HARMLESS.is_sorted());
        assert!(SETS_NOTHING.iter().all(|name| HARMLESS.binary_search(name).is_ok()));
    }

    #[test]
    fn an_option_that_writes_is_blanked_and_everything_else_keeps_its_place() {
        let script = "(set-logic QF_UF)\n(set-option :regular-output-channel\n \"/tmp/x\") (check-sat)\n";
        let (text, removed) = screened(script);
        assert_eq!(text.len(), script.len());
        assert_eq!(text.split_whitespace().collect::<Vec<_>>().join(" "), "(set-logic QF_UF) (check-sat)");
        assert_eq!(text.matches('\n').count(), 3);
        assert_eq!(removed, ["line 2: the option ':regular-output-channel', which touches files"]);
    }

    #[test]
    fn what_a_script_says_of_its_own_answer_is_kept_from_solvers_alone() {
        let script = "(set-info :status\n sat)(set-info :source |:status|)(check-sat)";
        let text = Screen::built_in().for_solver(script.as_bytes()).into_owned();
        let text = String::from_utf8(text).expect("text");
        assert_eq!(text.trim(), "(set-info :source |:status|)(check-sat)");
        assert_eq!(text.len(), script.len());
        assert_eq!(screened(script), (script.to_owned(), Vec::new()));
    }

    #[test]
    fn spellings_that_solvers_accept_are_recognised() {
        for script in [
            "(set-option :SAT.DRAT.FILE x)",
            "(set-option :sat.drat_file x)",
            "(set-option:out \"x\")",
            "( ; (\n set-option :trace_file_name |a b|)",
            "(|set-option| :out \"x\")",
            "(set-option\u{b}:out \"x\")",
            "(check-sat-using (using-params sat :drat.file \"x\"))",
            "(apply (! simplify :out \"x\"))",
            "(include \"x\")",
            "(|include| \"x\")",
            "(declare-oracle-fun f (Int) Int evil)",
            "(get-proof-graph)",
            "(some-new-command \"x\")",
            "(((include \"x\")))",
        ] {
            let (text, removed) = screened(&format!("{script}\n(check-sat)"));
            assert_eq!(text.trim(), "(check-sat)", "{script}");
            assert_eq!(removed.len(), 1, "{script}");
        }
    }

    #[test]
    fn where_solvers_read_differently_nothing_with_files_is_handed_over() {
        for script in [
            "(echo \"\\\")(set-option :out \\\"x\\\") (echo \\\"\")",
            "(declare-const |a\\| Int) (echo |(set-option :out \"x\")|)",
            "; comment \r(set-option :out \"x\")\n(check-sat)",
            "(assert (and (set-option :out \"x\")",
            "(assert true)) (echo \"(include \")",
        ] {
            let (text, removed) = screened(script);
            assert_eq!(text.trim(), "", "{script}");
            assert!(!removed.is_empty(), "{script}");
        }
    }

    #[test]
    fn harmless_scripts_are_handed_over_as_they_are() {
        for script in [
            "(set-info :source |include \"x\" :out (set-option :out)|)\n(assert (! p :named out))\n(check-sat)",
            "(set-option :produce-models true)(set-option :smt.qi.cost \"(+ weight generation)\")",
            "(assert (= s \"\\u{41}(include x)\"))",
            "(declare-fun include (Int) Bool)(assert (include 1)) ; :out\n",
            "(echo \"(set-option :out)\")",
            "(set-option :sat.dimacs.core true)(get-info :all-statistics)(set-option :verbosity 1)",
            "; c\r\n(check-sat)\r\n",
        ] {
            assert_eq!(screened(script), (script.to_owned(), Vec::new()));
        }
    }

    #[test]
    fn words_of_a_command_line_are_judged_by_their_option() {
        let screen = Screen::built_in();
        for word in ["--out=x", "sat.drat.file=x", "-log:x", "/etc/passwd", "trace=true", "--dump-to=x"] {
            assert!(screen.refuses_word(word), "{word}");
        }
        for word in ["--check-models", "-q", "smt.arith.solver=2", "--no-incremental", "-T:5", "model=true"] {
            assert!(!screen.refuses_word(word), "{word}");
        }
    }
}
