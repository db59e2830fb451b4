//! The commands of a script, as far as they tell which piece of output belongs to which command.

use std::borrow::Cow;
use std::ops::Range;

use super::reader::{self, Kind};

/// The commands of a script, in order.
#[derive(Debug, Clone, Default)]
pub struct Outline {
    /// The commands.
    pub commands: Vec<Command>,
    /// What the script quotes, in strings and between bars, if it has several words. Error messages repeat it.
    quoted: Vec<String>,
}

/// A command.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Command {
    /// What it may print.
    pub prints: Prints,
    /// The line it starts in, from 1.
    pub first_line: usize,
    /// The line it ends in.
    pub last_line: usize,
}

/// What a command prints.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Prints {
    /// An answer.
    Check,
    /// A model.
    Model,
    /// Names: a core, or assumptions of one.
    Core,
    /// Pairs of terms and values.
    Values,
    /// This text, with or without quotes.
    Echo(String),
    /// Information, a proof, a simplified term: something that is neither of the above.
    Other,
    /// Nothing, and it changes neither declarations nor assertions.
    NothingHarmless,
    /// Nothing, but if it is refused the script means something else.
    Nothing,
}

impl Outline {
    /// Reads a script. What is not a command is skipped.
    pub fn of(script: &[u8]) -> Self {
        let mut commands = Vec::new();
        let mut line = 1;
        let mut counted = 0;
        let mut line_at = |position: usize| {
            line += script[counted..position].iter().filter(|byte| **byte == b'\n').count();
            counted = position;
            line
        };
        for piece in reader::pieces(script) {
            if piece.kind != Kind::Group {
                continue;
            }
            let prints = prints(script, &piece.range);
            let first_line = line_at(piece.range.start);
            let last_line = line_at(piece.range.end);
            commands.push(Command { prints, first_line, last_line });
        }
        Outline { commands, quoted: quoted(script) }
    }

    /// Whether there is anything that a message could repeat.
    pub(super) fn quotes(&self) -> bool {
        !self.quoted.is_empty()
    }

    /// Whether the script itself says this, so that it is no news from the solver.
    pub fn says(&self, text: &str) -> bool {
        let line = text.trim().lines().next().unwrap_or_default().trim();
        !line.is_empty() && self.quoted.iter().any(|quoted| quoted.contains(line))
    }

    /// What a solver says by itself where it repeats strings and symbols of the script.
    pub fn without_quotes<'t>(&self, text: &'t str) -> Cow<'t, str> {
        let mut left = Cow::Borrowed(text);
        for quoted in self.quoted.iter().filter(|quoted| !quoted.trim().is_empty()) {
            if left.contains(quoted.as_str()) {
                left = Cow::Owned(left.replace(quoted.as_str(), " "));
            }
        }
        left
    }

    /// How many commands ask for an answer.
    pub fn checks(&self) -> usize {
        self.commands.iter().filter(|command| command.prints == Prints::Check).count()
    }

    /// The commands a line of the script may belong to: all that have a part in it, or else the last one before it.
    pub fn at_line(&self, line: usize) -> Range<usize> {
        let after = self.commands.partition_point(|command| command.first_line <= line);
        let before = self.commands.partition_point(|command| command.last_line < line);
        before.min(after.saturating_sub(1))..after
    }
}

/// Strings and quoted symbols with white space in them.
fn quoted(script: &[u8]) -> Vec<String> {
    let mut found = Vec::new();
    let mut at = 0;
    while let Some(offset) = script[at..].iter().position(|byte| b"\"|;".contains(byte)) {
        let open = at + offset;
        let close = if script[open] == b';' { b'\n' } else { script[open] };
        let length = script[open + 1..].iter().position(|byte| *byte == close);
        let end = length.map_or(script.len(), |length| open + 1 + length);
        let text = &script[open + 1..end];
        if close != b'\n' && text.iter().any(u8::is_ascii_whitespace) {
            found.push(String::from_utf8_lossy(text).into_owned());
        }
        at = (end + 1).min(script.len());
    }
    found
}

fn prints(script: &[u8], command: &std::ops::Range<usize>) -> Prints {
    match reader::head(script, command) {
        b"check-sat"
        | b"check-sat-assuming"
        | b"check-sat-using"
        | b"check-synth"
        | b"check-synth-next"
        | b"query" => Prints::Check,
        b"get-model" | b"get-interpolant" | b"get-abduct" => Prints::Model,
        b"get-unsat-core" | b"get-unsat-assumptions" | b"get-timeout-core" => Prints::Core,
        b"get-value" | b"get-assignment" => Prints::Values,
        b"echo" => {
            let text =
                reader::members(script, command).into_iter().find(|member| member.kind == Kind::String);
            Prints::Echo(text.map(|text| reader::unquoted(&script[text.range])).unwrap_or_default())
        }
        b"set-info" | b"set-option" | b"set-logic" | b"exit" => Prints::NothingHarmless,
        // It takes models away: nothing after it is judged, refused or not.
        b"block-model" | b"block-model-values" => Prints::NothingHarmless,
        b"get-info"
        | b"get-option"
        | b"get-proof"
        | b"get-assertions"
        | b"get-objectives"
        | b"eval"
        | b"simplify"
        | b"display"
        | b"apply"
        | b"get-qe"
        | b"get-difficulty"
        | b"get-learned-literals"
        | b"labels"
        | b"help"
        | b"get-consequences"
        | b"dbg-expand-definitions" => Prints::Other,
        _ => Prints::Nothing,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commands_keep_their_lines_and_what_they_print() {
        let outline =
            Outline::of(b"; c\n(set-logic ALL)\n(assert\n true)\n(check-sat)(echo \"a \"\"b\"\"\")");
        let prints: Vec<Prints> = outline.commands.iter().map(|command| command.prints.clone()).collect();
        let echo = Prints::Echo("a \"b\"".into());
        assert_eq!(prints, [Prints::NothingHarmless, Prints::Nothing, Prints::Check, echo]);
        assert_eq!(outline.commands[1].first_line..=outline.commands[1].last_line, 3..=4);
        assert_eq!(outline.at_line(4), 1..2);
        assert_eq!(outline.at_line(1), 0..0);
    }

    #[test]
    fn what_a_script_quotes_is_told_from_what_it_says_elsewhere() {
        let outline = Outline::of(b"(assert |a b\nc|) ; |not this\n(echo \"d e\") (assert not)");
        assert!(outline.says("a b\nmore") && outline.says(" d e"));
        assert!(!outline.says("not this") && !outline.says("assert not") && !outline.says(""));
    }
}
