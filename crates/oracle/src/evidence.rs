//! What a verdict on an answer rests on, in the order of strength.

use std::fmt;

use serde::{Deserialize, Serialize};

/// What tells which of two answers is right, the strongest first. The age of a release is not among them: a newer release
/// may be the wrong one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Evidence {
    /// Our evaluator: a model satisfies every assertion, or no values of the symbols do.
    Evaluation,
    /// It was known before anybody was asked: by a derivation, or because somebody vouches for it.
    Expectation,
    /// Every model that came with `sat` is false by our evaluation, and others answer `unsat`.
    RefutedModel,
    /// A model put into the script, and what solvers say to that who did not make it.
    Substitution,
    /// More independent lines of solvers answer one than the other.
    Families,
}

impl Evidence {
    /// All, the strongest first.
    pub const ALL: [Evidence; 5] = [
        Evidence::Evaluation,
        Evidence::Expectation,
        Evidence::RefutedModel,
        Evidence::Substitution,
        Evidence::Families,
    ];

    /// As in JSON and tables.
    pub fn word(self) -> &'static str {
        match self {
            Evidence::Evaluation => "evaluation",
            Evidence::Expectation => "expectation",
            Evidence::RefutedModel => "refuted-model",
            Evidence::Substitution => "substitution",
            Evidence::Families => "families",
        }
    }
}

impl fmt::Display for Evidence {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.word())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_list_is_in_the_order_of_strength() {
        assert!(Evidence::ALL.is_sorted());
        assert!(Evidence::Evaluation < Evidence::Families);
    }
}
