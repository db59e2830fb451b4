//! The test case: the one type that travels along the pipeline.

use eval::Witness;
use serde::{Deserialize, Serialize};
use smtlib::{Script, Status};

/// A script with what is known about its answer, and where it comes from.
#[derive(Clone, Debug)]
pub struct TestCase {
    /// In the worker's store.
    pub script: Script,
    pub expectation: Expectation,
    pub provenance: Provenance,
}

/// What makes an engine strong: what the answer must be.
#[derive(Clone, Debug)]
pub enum Expectation {
    /// Every check-sat is satisfiable: this model satisfies it, by our own evaluator.
    Sat(Box<Witness>),
    /// Every check-sat has this answer by construction; the derivation says why. `Sat` here has no witness (for
    /// instance a weakened quantified formula).
    Derived(Status, Derivation),
    /// Nothing is known: solvers must only agree.
    Agree,
}

impl Expectation {
    /// The answer every check-sat must have, if one is known.
    pub fn status(&self) -> Option<Status> {
        match self {
            Expectation::Sat(_) => Some(Status::Sat),
            Expectation::Derived(status, _) => Some(*status),
            Expectation::Agree => None,
        }
    }
}

/// Why an answer follows: the seed's answer and the steps that keep it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Derivation {
    /// Where the seed's own answer comes from (`:status`, agreement of named solvers, a confirmed core).
    pub grounds: String,
    /// The steps in order.
    pub steps: Vec<String>,
}

/// Enough to make the test case again: the engine's name, its seeds, and which stream and step made it. The
/// campaign adds its own seed number.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Provenance {
    pub engine: String,
    /// Names of the seeds used (file names, or `generated`).
    pub seeds: Vec<String>,
    /// Number of the test case within its round, from 0.
    pub step: usize,
    /// What the engine did, in its own words.
    pub changes: Vec<String>,
}
