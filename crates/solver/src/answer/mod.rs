//! What a solver said: a typed reading of output, exit and signal.
//!
//! Nothing hides anything else: an error of `get-model` leaves the `unsat` before it standing, an answer printed before
//! a crash is kept beside the crash. Text inside strings, groups and echoes is never taken for an answer.
//!
//! | file | what is in it |
//! | --- | --- |
//! | `reader.rs` | cutting output into pieces |
//! | `outline.rs` | the script's commands, to tell which piece answers which |
//! | `interpret.rs` | from pieces to answers, models, cores, errors |
//! | `wordings.rs` | the solver's wordings, looked for together |
//! | `classify.rs` | wordings, exit codes and signals; what the run amounts to |

mod classify;
mod interpret;
mod outline;
pub mod reader;
#[cfg(test)]
mod tests;
mod wordings;

pub use outline::{Command, Outline, Prints};
pub use wordings::Wordings;

use std::ops::Range;

use serde::{Deserialize, Serialize};

use crate::adapter::Meaning;
use crate::crash::CrashReport;
use crate::launch::Outcome;
use crate::solver::Solver;

/// Everything a run said.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Answers {
    /// What the run amounts to.
    pub class: RunClass,
    /// The answers, in order.
    pub checks: Vec<CheckAnswer>,
    /// Models, in order.
    pub models: Vec<Part>,
    /// Cores, in order.
    pub cores: Vec<Core>,
    /// Outputs of `get-value` and `get-assignment`, in order.
    pub values: Vec<Part>,
    /// Errors, in order.
    pub errors: Vec<ErrorMessage>,
    /// How often it said `unsupported`.
    pub unsupported: usize,
    /// Checks of its own results that failed.
    pub failed_checks: Vec<FailedCheck>,
}

/// An answer to one check.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct CheckAnswer {
    /// The answer.
    pub answer: Answer,
    /// Which check of the script it answers, from 0. Differs from the position in the list when a check got an error.
    pub check: usize,
    /// A command before it was refused, so that it may be about another script than the one given: no verdict may rest
    /// on it.
    pub tainted: bool,
}

/// An answer.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Answer {
    /// Satisfiable.
    Sat,
    /// Unsatisfiable.
    Unsat,
    /// Neither, with the reason where it was told.
    Unknown(Option<String>),
}

/// A part of standard output.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Part {
    /// Where.
    pub range: Range<usize>,
    /// The answer it follows, as a position in [`Answers::checks`].
    pub after: Option<usize>,
}

/// A core.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Core {
    /// Its names, quoted symbols without their bars.
    pub names: Vec<String>,
    /// The answer it follows, as a position in [`Answers::checks`].
    pub after: Option<usize>,
}

/// An error the solver printed in the standard's form.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ErrorMessage {
    /// The text, without the location where that could be told apart.
    pub message: String,
    /// The line in the script.
    pub line: Option<u32>,
    /// The column.
    pub column: Option<u32>,
    /// What it means.
    pub means: Meaning,
}

/// A check of the solver's own that failed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct FailedCheck {
    /// What was checked: model, core or proof.
    pub what: Checked,
    /// Its words.
    pub message: String,
}

/// What solvers check about their own results.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Checked {
    /// The model satisfies the assertions.
    Model,
    /// The core is unsatisfiable.
    Core,
    /// The proof holds.
    Proof,
}

/// What a run amounts to. The most telling one counts; the rest is in the other fields of [`Answers`].
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum RunClass {
    /// It ran to its end and answered.
    Answered,
    /// It checked its own result and the check failed.
    SelfCheckFailed,
    /// It crashed.
    Crash(CrashReport),
    /// Stopped at the time limit, ours or its own.
    Timeout,
    /// Out of memory.
    MemoryOut,
    /// Stopped at another limit of its own.
    ResourceOut,
    /// The script needs what this release does not have.
    Unsupported,
    /// The script needs what this build was made without.
    NotBuilt,
    /// The script was refused.
    Rejected,
    /// The command line was refused.
    BadOption,
    /// It printed more than it may.
    Flood,
    /// Ended from outside by a signal.
    Killed(i32),
    /// It ended without an answer and without a word that says why.
    Silent,
}

impl RunClass {
    /// One word for tables.
    pub fn word(&self) -> &'static str {
        match self {
            RunClass::Answered => "answered",
            RunClass::SelfCheckFailed => "self-check failed",
            RunClass::Crash(_) => "crash",
            RunClass::Timeout => "timeout",
            RunClass::MemoryOut => "memory-out",
            RunClass::ResourceOut => "resource-out",
            RunClass::Unsupported => "unsupported",
            RunClass::NotBuilt => "not built",
            RunClass::Rejected => "rejected",
            RunClass::BadOption => "bad option",
            RunClass::Flood => "flood",
            RunClass::Killed(_) => "killed",
            RunClass::Silent => "silent",
        }
    }
}

impl Answer {
    /// The word of the standard.
    pub fn word(&self) -> &'static str {
        match self {
            Answer::Sat => "sat",
            Answer::Unsat => "unsat",
            Answer::Unknown(_) => "unknown",
        }
    }
}

impl Answers {
    /// The answers a verdict may rest on: those before any refused command.
    pub fn trusted(&self) -> impl Iterator<Item = &CheckAnswer> {
        self.checks.iter().filter(|check| !check.tainted)
    }

    /// The crash, if the run was one.
    pub fn crash(&self) -> Option<&CrashReport> {
        match &self.class {
            RunClass::Crash(report) => Some(report),
            _ => None,
        }
    }
}

impl Solver {
    /// Reads what a run of this solver said about a script.
    pub fn read(&self, outline: &Outline, outcome: &Outcome) -> Answers {
        let read = interpret::interpret(self, outline, &outcome.stdout);
        classify::classify(self, outline, outcome, read)
    }
}
