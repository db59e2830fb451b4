//! What must stay while a script gets smaller.

mod bug;
mod command;
pub(crate) mod models;

use std::sync::Arc;
use std::time::Duration;

use smtlib::Release;
use solver::run::{Accounts, Configuration};

pub use bug::{Bug, proof};
pub use command::{Command, Output};

use crate::error::ReduceError;

/// Says what must stay, and makes examiners that find out whether it does.
pub trait Predicate: Sync {
    /// An examiner for one worker.
    fn examiner(&self) -> Result<Box<dyn Examiner>, ReduceError>;

    /// The dialects candidates may be printed in, the best first: the first in which the input is interesting is taken.
    fn releases(&self) -> Vec<Release>;

    /// Whether a candidate must be satisfiable: by the model that travels along, or by one that the examiner finds.
    fn about_models(&self) -> ModelDuty;

    /// Whether it is a wrong model that must stay: a candidate that gets a right one may have been lucky.
    fn is_about_own_models(&self) -> bool {
        false
    }

    /// The solver and options to reduce with the script, where there are any.
    fn configuration(&self) -> Option<Arc<Configuration>>;

    /// The time of the run in which the input was seen to be interesting already, if there was one.
    fn seen(&self) -> Option<Duration> {
        None
    }

    /// What was not seen when the input turns out not to be interesting.
    fn missing(&self) -> String;
}

/// What a predicate has to do with models.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ModelDuty {
    /// Nothing.
    None,
    /// Candidates must be satisfied by the model that travels along.
    Keep,
    /// The same, but where it does not satisfy a candidate the examiner may find another one.
    KeepOrFind,
}

/// A script under examination.
#[derive(Clone, Copy, Debug)]
pub struct Candidate<'a> {
    pub text: &'a str,
    /// In place of the predicate's own, while options are reduced.
    pub configuration: Option<&'a Arc<Configuration>>,
    /// The model that travels along satisfies it.
    pub satisfied: bool,
    /// Its assertions are all assertions of the input.
    pub subset: bool,
    /// Plain starts only: the result must not depend on how fast we want to be.
    pub plain: bool,
    /// A model that is right may be chance: others are asked for.
    pub other_models: bool,
}

/// What came of an examination.
#[derive(Clone, Debug, Default)]
pub struct Examination {
    pub interesting: bool,
    /// A model of the candidate that a solver printed and our evaluator confirmed, in this release's words.
    pub model: Option<(String, Release)>,
    /// Of a wrong model: which assertion is false under it.
    pub false_assertion: Option<usize>,
    /// It was given up for time.
    pub timed_out: bool,
    /// There was something to judge: an answer or a crash, no refusal.
    pub answered: bool,
    /// How long it took.
    pub wall: Duration,
}

/// Examines candidates, one at a time.
pub trait Examiner: Send {
    fn examine(&mut self, candidate: &Candidate) -> Result<Examination, ReduceError>;

    /// How long candidates may take, beside the predicate's own limit.
    fn calibrate(&mut self, patience: Duration);

    /// What its runs have cost since the last call.
    fn take_accounts(&mut self) -> Accounts;

    /// CPU time of the process that starts solvers, since the last call, where it is told.
    fn take_launcher_cpu(&mut self) -> Duration {
        Duration::ZERO
    }
}
