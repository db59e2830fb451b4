//! What a run is for.

use std::fmt;

use serde::{Deserialize, Serialize};

/// What a run is for. Each purpose has its own limits, its own kind of start and its own account.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Purpose {
    /// A test case.
    Test,
    /// An engine's question while it makes a test case: for a model, for an answer.
    Question,
    /// An oracle's further question while the runs of a test case are judged.
    FollowUp,
    /// A finding rests on it: a fresh process with ample time.
    Confirmation,
    /// Where in the solver a crash happens: a fresh process whose stack is read at the fatal signal.
    Place,
    /// A candidate of a reduction.
    Reduction,
    /// What tells a bug from others: which constructs it needs, which releases have it.
    Blame,
    /// Its time is what is looked at.
    Measurement,
    /// Which functions of the solver it reaches is what is looked at.
    Trace,
}

impl Purpose {
    /// All, in the order of a finding's life.
    pub const ALL: [Purpose; 9] = [
        Purpose::Test,
        Purpose::Question,
        Purpose::FollowUp,
        Purpose::Confirmation,
        Purpose::Place,
        Purpose::Reduction,
        Purpose::Blame,
        Purpose::Measurement,
        Purpose::Trace,
    ];

    /// As in files and tables.
    pub fn word(self) -> &'static str {
        match self {
            Purpose::Test => "test",
            Purpose::Question => "question",
            Purpose::FollowUp => "follow-up",
            Purpose::Confirmation => "confirmation",
            Purpose::Place => "place",
            Purpose::Reduction => "reduction",
            Purpose::Blame => "blame",
            Purpose::Measurement => "measurement",
            Purpose::Trace => "trace",
        }
    }
}

impl fmt::Display for Purpose {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.word())
    }
}
