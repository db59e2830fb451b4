//! Kinds of misbehaviour, and verdicts.

use std::fmt;

use serde::{Deserialize, Serialize};
use solver::crash::CrashSignature;
use solver::run::PartyId;

use crate::evidence::Evidence;

/// What a solver did wrong.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Kind {
    /// `unsat` for a satisfiable script.
    RefutationSoundness,
    /// `sat` for an unsatisfiable script.
    SolutionSoundness,
    /// A model that does not satisfy the script.
    InvalidModel,
    /// Solvers or configurations contradict each other, and nothing tells who is wrong.
    Disagreement,
    Crash,
    /// The answer depends on what was asked before.
    Incremental,
    /// A core that is satisfiable, or names what does not exist.
    UnsoundCore,
    /// `get-value` contradicts `get-model`.
    WrongValue,
    /// Far slower than the others.
    Performance,
}

impl Kind {
    /// All, the gravest first.
    pub const ALL: [Kind; 9] = [
        Kind::RefutationSoundness,
        Kind::SolutionSoundness,
        Kind::InvalidModel,
        Kind::Disagreement,
        Kind::Crash,
        Kind::Incremental,
        Kind::UnsoundCore,
        Kind::WrongValue,
        Kind::Performance,
    ];

    /// As in the names of finding folders.
    pub fn word(self) -> &'static str {
        match self {
            Kind::RefutationSoundness => "refutation-soundness",
            Kind::SolutionSoundness => "solution-soundness",
            Kind::InvalidModel => "invalid-model",
            Kind::Disagreement => "disagreement",
            Kind::Crash => "crash",
            Kind::Incremental => "incremental",
            Kind::UnsoundCore => "unsound-core",
            Kind::WrongValue => "wrong-value",
            Kind::Performance => "performance",
        }
    }

    /// Whether it rests on what the script means, so that a difference in meaning would excuse it.
    pub fn is_about_meaning(self) -> bool {
        !matches!(self, Kind::Crash | Kind::Performance)
    }
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.word())
    }
}

/// One misbehaviour, with the reasons for calling it one.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Verdict {
    pub kind: Kind,
    /// Whose run it is; nobody's when parties contradict each other on equal terms.
    pub accused: Option<PartyId>,
    /// The accused configuration's name; empty without one.
    pub solver: String,
    /// The check of the script it is about, from 0.
    pub check: Option<usize>,
    /// One sentence.
    pub reason: String,
    /// What supports it, one sentence each.
    pub evidence: Vec<String>,
    /// Those who speak against the accused, or against each other: their runs are made again to confirm.
    pub opponents: Vec<PartyId>,
    /// A release of the accused's own family contradicts it, so that both read the script alike.
    pub own_family_objects: bool,
    /// For wrong answers: what tells which answer is right.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rests_on: Option<Evidence>,
    /// For crashes.
    pub signature: Option<CrashSignature>,
    pub standing: Standing,
    pub repeat: Repeat,
}

/// Whether a verdict counts.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Standing {
    /// It counts.
    Stands,
    /// The parties mean different things, on purpose.
    ByDesign(String),
    /// Not enough speaks for it, or something against it.
    Unproven(String),
}

/// What fresh plain starts said.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Repeat {
    /// Nobody has tried.
    Untried,
    /// Every time.
    Confirmed { runs: u32 },
    /// Not every time.
    Flaky { seen: u32, runs: u32 },
}

impl Verdict {
    pub(crate) fn new(kind: Kind, reason: impl Into<String>) -> Self {
        Verdict {
            kind,
            accused: None,
            solver: String::new(),
            check: None,
            reason: reason.into(),
            evidence: Vec::new(),
            opponents: Vec::new(),
            own_family_objects: false,
            rests_on: None,
            signature: None,
            standing: Standing::Stands,
            repeat: Repeat::Untried,
        }
    }

    /// The accused and the opponents.
    pub fn involved(&self) -> impl Iterator<Item = PartyId> {
        self.accused.iter().chain(&self.opponents).copied()
    }

    /// Whether it is worth reporting: it counts, and it repeats as far as anybody has tried.
    pub fn is_finding(&self) -> bool {
        self.standing == Standing::Stands && !matches!(self.repeat, Repeat::Flaky { seen: 0, .. })
    }

    /// Whether it showed only sometimes.
    pub fn is_flaky(&self) -> bool {
        matches!(self.repeat, Repeat::Flaky { .. })
    }

    /// Whether another verdict is about the same misbehaviour of the same party.
    pub fn same_as(&self, other: &Verdict) -> bool {
        self.kind == other.kind
            && self.accused == other.accused
            && self.check == other.check
            && match (&self.signature, &other.signature) {
                (Some(own), Some(other)) => own.agrees_with(other),
                (own, other) => own == other,
            }
    }
}
