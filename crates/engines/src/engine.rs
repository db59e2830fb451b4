//! The traits between the campaign and the engines.
//!
//! The campaign opens a *round*: an engine, the seeds it asked for, and a random stream. The engine makes test
//! cases until the round ends; the campaign runs them and tells what came of each. Nothing here knows how a solver
//! is started or where a finding is stored.

use eval::Model;
use generate::{Grammar, Rng};
use smtlib::{Script, Status, Store};

use crate::case::TestCase;

/// A script to start from, parsed into the worker's store.
#[derive(Clone, Debug)]
pub struct Seed {
    /// File name, or where else it comes from.
    pub name: String,
    pub script: Script,
    /// What is known about its answer, and who says so.
    pub status: Option<(Status, String)>,
}

/// What an engine may ask of solvers. The campaign implements it with real ones; answers are cached there.
pub trait Ask {
    /// A model of the script from a solver that is not under test where there is one, already read but not yet
    /// checked. Different `variant`s ask for different models.
    fn model(&mut self, store: &mut Store, script: &Script, variant: u32) -> Option<Model>;

    /// The answer on which at least two solvers agree, and their names.
    fn agreed_status(&mut self, store: &Store, script: &Script) -> Option<(Status, String)>;

    /// Numbers of the assertions in an unsatisfiable core that two solvers confirm.
    fn confirmed_core(&mut self, store: &Store, script: &Script) -> Option<Vec<usize>>;
}

/// An [`Ask`] without solvers: knows nothing.
pub struct Nobody;

impl Ask for Nobody {
    fn model(&mut self, _: &mut Store, _: &Script, _: u32) -> Option<Model> {
        None
    }

    fn agreed_status(&mut self, _: &Store, _: &Script) -> Option<(Status, String)> {
        None
    }

    fn confirmed_core(&mut self, _: &Store, _: &Script) -> Option<Vec<usize>> {
        None
    }
}

/// What an engine works with during a round.
pub struct Bench<'a> {
    pub store: &'a mut Store,
    pub rng: &'a mut Rng,
    pub ask: &'a mut dyn Ask,
    /// Operators that all solvers under test accept, with weights.
    pub grammar: &'a Grammar,
    /// As many as the engine asked for.
    pub seeds: &'a [Seed],
}

/// An engine: opens rounds. One value serves all workers.
pub trait Engine: Send + Sync {
    /// The name used on the command line and in findings.
    fn name(&self) -> &'static str;

    /// How many seeds a round needs; 0 for engines that start from nothing.
    fn seeds_wanted(&self) -> usize {
        1
    }

    /// Do its test cases depend on the seed alone? Then one round a seed is enough, before all others.
    fn once(&self) -> bool {
        false
    }

    /// Starts a round, or `None` if nothing can be made of these seeds.
    fn open(&self, bench: &mut Bench<'_>) -> Option<Box<dyn Round>>;
}

/// A chain of test cases from the same seeds.
pub trait Round {
    /// The next test case, or `None` at the end of the round.
    fn next(&mut self, bench: &mut Bench<'_>) -> Option<TestCase>;

    /// What came of the test case made last.
    fn learn(&mut self, _feedback: Feedback) {}
}

/// What the campaign saw of a test case.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Feedback {
    /// It revealed a bug.
    pub finding: bool,
    /// Some solver behaved in a way not seen before.
    pub novel: bool,
    /// All solvers timed out or gave up.
    pub hopeless: bool,
    /// A solver rejected the script.
    pub rejected: bool,
}
