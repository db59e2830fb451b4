//! From the pieces of standard output to answers, models, cores, values and errors.

use std::ops::Range;

use super::classify::meaning_of_error;
use super::outline::{Command, Outline, Prints};
use super::reader::{self, Kind, Piece};
use super::{Answer, CheckAnswer, Core, ErrorMessage, Part};
use crate::adapter::Meaning;
use crate::solver::Solver;

/// What standard output holds, before exit, signal and standard error are looked at.
#[derive(Debug, Default)]
pub(super) struct Interpreted {
    pub checks: Vec<CheckAnswer>,
    pub models: Vec<Part>,
    pub cores: Vec<Core>,
    pub values: Vec<Part>,
    pub errors: Vec<ErrorMessage>,
    pub unsupported: usize,
    /// Everything that is none of the above: where wordings are looked for.
    pub loose: String,
}

/// After so many pieces that never end the rest is rubbish, and looking for their ends would take forever.
const MOST_BROKEN: usize = 30;

pub(super) fn interpret(solver: &Solver, outline: &Outline, output: &[u8]) -> Interpreted {
    let mut reading = Reading {
        solver,
        outline,
        output,
        next: 0,
        checks_seen: 0,
        unplaced_error: false,
        tainted: false,
        surplus: false,
        found: Interpreted::default(),
    };
    let mut position = 0;
    let mut broken = 0;
    while let Some(start) = first_visible(output, position) {
        if let Some(end) = reading.echo_at(start) {
            position = end;
            continue;
        }
        let Some(piece) = reader::next_piece(output, start) else {
            break;
        };
        position = piece.range.end;
        broken += usize::from(piece.kind == Kind::Broken);
        if broken > MOST_BROKEN {
            reading.keep(&output[piece.range.start..]);
            break;
        }
        reading.take(&piece);
    }
    // More answers than questions: nobody knows which belong to which.
    if reading.surplus {
        reading.found.checks.iter_mut().for_each(|answer| answer.tainted = true);
    }
    reading.found
}

fn first_visible(output: &[u8], from: usize) -> Option<usize> {
    Some(from + output.get(from..)?.iter().position(|byte| !byte.is_ascii_whitespace())?)
}

/// The walk over the output, beside the walk over the script's commands.
struct Reading<'a> {
    solver: &'a Solver,
    outline: &'a Outline,
    output: &'a [u8],
    /// The next command that may have printed something.
    next: usize,
    /// Checks of the script before `next`.
    checks_seen: usize,
    /// An error came that could belong to any command from `next` on.
    unplaced_error: bool,
    /// A command that matters was refused, or it is not clear to which question an answer belongs.
    tainted: bool,
    /// There was an answer after that to the last check.
    surplus: bool,
    found: Interpreted,
}

impl Reading<'_> {
    /// Whether the next command that must print is an echo and its text stands here. Some solvers print it without
    /// quotes, so that `(echo "sat")` looks like an answer.
    fn echo_at(&mut self, start: usize) -> Option<usize> {
        for index in self.next..self.outline.commands.len() {
            match &self.outline.commands[index].prints {
                Prints::Echo(text) => {
                    let visible = text.trim();
                    let rest = &self.output[start..];
                    if !visible.is_empty() && rest.starts_with(visible.as_bytes()) {
                        let end = start + visible.len();
                        let ends_line = self.output[end..]
                            .iter()
                            .take_while(|byte| **byte != b'\n')
                            .all(u8::is_ascii_whitespace);
                        if ends_line {
                            self.pass(index);
                            return Some(end);
                        }
                    }
                    if !self.unplaced_error {
                        return None;
                    }
                }
                Prints::Nothing | Prints::NothingHarmless => {}
                // After an error that belongs to an unknown command a printing command may have printed nothing more.
                _ if self.unplaced_error => {}
                _ => return None,
            }
        }
        None
    }

    fn take(&mut self, piece: &Piece) {
        let text = &self.output[piece.range.clone()];
        match piece.kind {
            Kind::Text => self.text(text),
            Kind::Error => self.error(text),
            Kind::Group => self.group(text, &piece.range),
            Kind::String => {
                let echo = reader::unquoted(text);
                if let Some(index) = self.find(|prints| matches!(prints, Prints::Echo(text) if *text == echo))
                {
                    self.pass(index);
                }
            }
            Kind::Comment | Kind::Broken => self.keep(text),
        }
    }

    fn text(&mut self, text: &[u8]) {
        let line = String::from_utf8_lossy(text);
        let (word, reason) = match line.split_once(char::is_whitespace) {
            Some((word, rest)) => {
                (word, rest.trim().strip_prefix('(').and_then(|rest| rest.strip_suffix(')')))
            }
            None => (line.as_ref(), None),
        };
        let alone = word.len() == line.len();
        let answer = match word {
            "sat" if alone => Answer::Sat,
            "unsat" if alone => Answer::Unsat,
            "unknown" if alone || reason.is_some() => Answer::Unknown(reason.map(str::to_string)),
            "delta-sat" => Answer::Unknown(Some(line.to_string())),
            "success" if alone => return,
            "unsupported" if alone => {
                self.found.unsupported += 1;
                // Which command said so is not told; commands nobody knows may have changed the script.
                self.pass_open_question();
                return self.keep(text);
            }
            _ => {
                self.pass_open_question();
                return self.keep(text);
            }
        };
        // A term that is printed may look like an answer: `(eval x)` where a constructor is called `unsat`.
        if self.pass_open_question() {
            self.tainted = true;
            return self.keep(text);
        }
        let check = match self.find(|prints| *prints == Prints::Check) {
            Some(index) => {
                let check = self.checks_before(index);
                self.pass(index);
                check
            }
            // A script that nobody has read.
            None if self.outline.commands.is_empty() => {
                self.found.checks.last().map_or(0, |last| last.check + 1)
            }
            None => {
                self.surplus = true;
                return self.keep(text);
            }
        };
        self.found.checks.push(CheckAnswer { answer, check, tainted: self.tainted });
    }

    /// Whether the next command that prints something may print anything. It has done so then.
    fn pass_open_question(&mut self) -> bool {
        let asked = self.find(|prints| !matches!(prints, Prints::Nothing | Prints::NothingHarmless));
        let open = asked.filter(|index| self.outline.commands[*index].prints == Prints::Other);
        // After an error that belongs to an unknown command it may have been that one's.
        match open.filter(|_| !self.unplaced_error) {
            Some(index) => {
                self.pass(index);
                true
            }
            None => false,
        }
    }

    fn error(&mut self, text: &[u8]) {
        let raw = String::from_utf8_lossy(text);
        let mut error = meaning_of_error(self.solver, self.outline, &raw);
        error.message.truncate(floor_char_boundary(&error.message, 4000));
        let line = error.line.map_or(0..0, |line| self.outline.at_line(line as usize));
        let open = line.start.max(self.next)..line.end;
        match open.len() {
            1 => {
                self.taint_by(&self.outline.commands[open.start].prints.clone(), error.means);
                self.pass(open.start);
            }
            // One command may complain more than once (an invalid model after its answer).
            0 if !line.is_empty() => {
                self.taint_by(&self.outline.commands[line.end - 1].prints.clone(), error.means);
            }
            _ => self.unplaced(open, error.means),
        }
        self.keep(text);
        self.found.errors.push(error);
    }

    /// An error of one of these commands, or of any where there are none.
    fn unplaced(&mut self, open: Range<usize>, means: Meaning) {
        let asked = self.find(|prints| !matches!(prints, Prints::Nothing | Prints::NothingHarmless));
        match asked.map(|index| (index, self.outline.commands[index].prints.clone())) {
            Some((index, prints @ (Prints::Model | Prints::Core | Prints::Values | Prints::Other)))
                if means == Meaning::Refused || self.nothing_between(index) =>
            {
                self.taint_by(&prints, means);
                self.pass(index);
            }
            _ => {
                let harmless = |command: &Command| command.prints != Prints::Nothing;
                if open.is_empty() || !self.outline.commands[open].iter().all(harmless) {
                    self.taint_by(&Prints::Nothing, means);
                }
                self.unplaced_error = true;
            }
        }
    }

    /// Whether no command that could be refused stands before this one.
    fn nothing_between(&self, index: usize) -> bool {
        self.outline.commands[self.next..index]
            .iter()
            .all(|command| command.prints == Prints::NothingHarmless)
    }

    /// An error of a command that declares, defines or asserts makes every later answer one about another script.
    fn taint_by(&mut self, command: &Prints, means: Meaning) {
        let refused = matches!(
            means,
            Meaning::Rejected
                | Meaning::Unsupported
                | Meaning::NotBuilt
                | Meaning::InternalError
                | Meaning::Refused
        );
        if *command == Prints::Nothing && refused {
            self.tainted = true;
        }
    }

    fn group(&mut self, text: &[u8], range: &Range<usize>) {
        let after = self.found.checks.len().checked_sub(1);
        let part = Part { range: range.clone(), after };
        let expected = self.find(|prints| !matches!(prints, Prints::Nothing | Prints::NothingHarmless));
        let expected = expected.map(|index| (index, self.outline.commands[index].prints.clone()));
        let shape = shape_of(text);
        let fits = |prints: &Prints| match shape {
            Shape::Model => matches!(prints, Prints::Model),
            Shape::Empty => matches!(prints, Prints::Model | Prints::Core | Prints::Values),
            Shape::Names => matches!(prints, Prints::Core),
            Shape::Pairs => matches!(prints, Prints::Values),
            Shape::Reason | Shape::Other => matches!(prints, Prints::Other),
        };
        let printed = match expected {
            // Any group may be what an open question (a term simplified, a proof) printed.
            Some((index, Prints::Other)) => {
                self.pass(index);
                (shape != Shape::Reason).then_some(Prints::Other)
            }
            Some((index, prints)) if fits(&prints) => {
                self.pass(index);
                Some(prints)
            }
            _ => {
                let index = self.find(fits);
                index
                    .inspect(|index| self.pass(*index))
                    .map(|index| self.outline.commands[index].prints.clone())
            }
        };
        match (printed, shape) {
            (_, Shape::Reason) => self.reason(text),
            (Some(Prints::Other), _) => {}
            (Some(Prints::Values), _) | (None, Shape::Pairs) => self.found.values.push(part),
            (Some(Prints::Core), _) | (None, Shape::Names) => {
                self.found.cores.push(Core { names: names(text), after });
            }
            (Some(Prints::Model), _) | (None, Shape::Model) => self.found.models.push(part),
            _ => self.keep(text),
        }
    }

    /// `(:reason-unknown ...)` belongs to the answer before it.
    fn reason(&mut self, text: &[u8]) {
        self.keep(text);
        let members = reader::members(text, &(0..text.len()));
        let reason = members.get(1).map(|member| reader::unquoted(&text[member.range.clone()]));
        if let Some(CheckAnswer { answer: Answer::Unknown(why @ None), .. }) = self.found.checks.last_mut() {
            *why = reason;
        }
    }

    /// The next command with such an output.
    fn find(&self, wanted: impl Fn(&Prints) -> bool) -> Option<usize> {
        let commands = self.outline.commands.get(self.next..)?;
        commands.iter().position(|command| wanted(&command.prints)).map(|offset| self.next + offset)
    }

    fn checks_before(&self, index: usize) -> usize {
        let between = &self.outline.commands[self.next..index];
        self.checks_seen + between.iter().filter(|command| command.prints == Prints::Check).count()
    }

    /// All commands up to and including this one have had their say.
    fn pass(&mut self, index: usize) {
        let own = usize::from(self.outline.commands[index].prints == Prints::Check);
        self.checks_seen = self.checks_before(index) + own;
        self.next = index + 1;
        self.unplaced_error = false;
    }

    fn keep(&mut self, text: &[u8]) {
        self.found.loose.push_str(&String::from_utf8_lossy(text));
        self.found.loose.push('\n');
    }
}

/// What a group looks like from outside.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Shape {
    Model,
    Empty,
    Names,
    Pairs,
    Reason,
    Other,
}

fn shape_of(text: &[u8]) -> Shape {
    let whole = 0..text.len();
    match reader::head(text, &whole) {
        b"model" => return Shape::Model,
        b":reason-unknown" => return Shape::Reason,
        b"define-fun" | b"define-fun-rec" | b"define-const" => return Shape::Model,
        b"=" | b"function" | b"objectives" | b"proof" | b"let" | b"error" => return Shape::Other,
        head if head.starts_with(b":") => return Shape::Other,
        _ => {}
    }
    let members = reader::members(text, &whole);
    let Some(first) = members.first() else {
        return Shape::Empty;
    };
    let is_definition = |piece: &Piece| {
        piece.kind == Kind::Group
            && matches!(
                reader::head(text, &piece.range),
                b"define-fun"
                    | b"define-fun-rec"
                    | b"define-funs-rec"
                    | b"define-const"
                    | b"declare-fun"
                    | b"declare-const"
                    | b"declare-sort"
                    | b"declare-datatype"
                    | b"declare-datatypes"
                    | b"define-sort"
                    | b"forall"
            )
    };
    // A pair `(x 4)` and a definition look alike from far; a value is never preceded by three more members.
    if is_definition(first) && reader::members(text, &first.range).len() >= 3 {
        return Shape::Model;
    }
    if members.iter().all(|piece| piece.kind == Kind::Text) {
        return Shape::Names;
    }
    let is_pair = |piece: &Piece| piece.kind == Kind::Group && reader::members(text, &piece.range).len() == 2;
    if members.iter().all(is_pair) {
        return Shape::Pairs;
    }
    Shape::Other
}

fn names(text: &[u8]) -> Vec<String> {
    let members = reader::members(text, &(0..text.len()));
    let plain = |piece: Piece| {
        let name = String::from_utf8_lossy(&text[piece.range]).into_owned();
        match name.strip_prefix('|').and_then(|name| name.strip_suffix('|')) {
            Some(quoted) => quoted.to_string(),
            None => name,
        }
    };
    members.into_iter().map(plain).collect()
}

fn floor_char_boundary(text: &str, at: usize) -> usize {
    let mut at = at.min(text.len());
    while !text.is_char_boundary(at) {
        at -= 1;
    }
    at
}
