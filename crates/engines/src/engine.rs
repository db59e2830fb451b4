//! The traits between the campaign and the engines.
//!
//! The campaign opens a *round*: an engine, the seeds it asked for, and a random stream. The engine makes drafts of test
//! cases until the round ends; the campaign says where they come from, runs them, and tells what came of each. Nothing
//! here knows how a solver is started or where a finding is stored.

use eval::Model;
use generate::{Grammar, Rng};
use smtlib::{Script, Status, Store};

use crate::case::{Draft, SolverSettings};
use crate::feedback::Feedback;

/// A script to start from, parsed into the worker's store.
#[derive(Clone, Debug)]
pub struct Seed {
    /// File name, or where else it comes from.
    pub name: String,
    pub script: Script,
    /// What is known about its answer, and who says so.
    pub status: Option<(Status, String)>,
    /// What the last round of the same engine has left to know about it; see [`Round::memory`].
    pub memory: Option<String>,
}

/// What came of asking one solver for a model without much patience.
#[derive(Clone, Debug)]
pub enum Attempt {
    /// Already read but not yet checked.
    Model(Model),
    /// What it printed although it does not know whether there is a model: it may contradict the script.
    Candidate(Model),
    /// It says that there is none.
    Refuted,
    /// It does not know, did not answer in time, or failed.
    Undecided,
    /// It crashed: whoever asked may want to make a test case of the question.
    Crashed,
}

/// What an engine may ask of solvers. The campaign implements it with real ones; answers are cached there.
pub trait Ask {
    /// A model of the script from a solver that is not under test where there is one, already read but not yet
    /// checked. Different `variant`s ask for different models.
    fn model(&mut self, store: &mut Store, script: &Script, variant: u32) -> Option<Model>;

    /// The same as one question of very many: one solver is heard for a moment, and whatever it says will do.
    fn attempt(&mut self, store: &mut Store, script: &Script, variant: u32) -> Attempt {
        self.model(store, script, variant).map_or(Attempt::Undecided, Attempt::Model)
    }

    /// The answer on which at least two solvers agree, and their names.
    fn agreed_status(&mut self, store: &Store, script: &Script) -> Option<(Status, String)>;

    /// Numbers of assertions that contradict each other, by the word of one solver that is heard for a moment: good enough to
    /// choose what is asked next.
    fn core(&mut self, _store: &mut Store, _script: &Script, _variant: u32) -> Option<Vec<usize>> {
        None
    }

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

/// Options of the solvers under test that an engine may try.
pub trait OptionMenu {
    /// For each solver that has options: none, or up to `most` of them with values. Solvers that get none are left out.
    fn draw(&self, rng: &mut Rng, most: usize) -> Vec<SolverSettings>;
}

/// An [`OptionMenu`] without options.
pub struct NoOptions;

impl OptionMenu for NoOptions {
    fn draw(&self, _: &mut Rng, _: usize) -> Vec<SolverSettings> {
        Vec::new()
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
    pub options: &'a dyn OptionMenu,
}

impl Bench<'_> {
    /// The same bench with another random stream.
    pub fn with_rng<'b>(&'b mut self, rng: &'b mut Rng) -> Bench<'b> {
        Bench {
            store: self.store,
            rng,
            ask: self.ask,
            grammar: self.grammar,
            seeds: self.seeds,
            options: self.options,
        }
    }
}

/// An engine: opens rounds. One value serves all workers.
pub trait Engine: Send + Sync {
    /// The name used on the command line and in findings; [`parse`](crate::parse) reads it.
    fn name(&self) -> &str;

    /// The name of the option policy that is a part of it. Campaigns follow it unless the user chooses another one.
    fn options(&self) -> Option<&'static str> {
        None
    }

    /// How many seeds a round needs; 0 for engines that start from nothing.
    fn seeds_wanted(&self) -> usize {
        1
    }

    /// Do its test cases depend on the seed alone? Then one round per seed is enough, before all others.
    fn once(&self) -> bool {
        false
    }

    /// Do its test cases come with a witness? Then one solver alone can be judged by them, with operators that no other
    /// has.
    fn has_witness(&self) -> bool {
        false
    }

    /// Share of its rounds whose checks have a tactic, where all solvers of the round have tactics.
    fn tactics(&self) -> f64 {
        0.25
    }

    /// Do its rounds look at more of a [`Feedback`] than its letters? Then a finding must store all of it to be made
    /// again.
    fn steers_by_numbers(&self) -> bool {
        false
    }

    /// Why nothing can be made of seeds that [`open`](Engine::open) has declined, where the engine can tell.
    fn declines(&self, _store: &mut Store, _seeds: &[Seed]) -> Option<&'static str> {
        None
    }

    /// Starts a round, or `None` if nothing can be made of these seeds.
    fn open(&self, bench: &mut Bench<'_>) -> Option<Box<dyn Round>>;
}

/// A chain of test cases from the same seeds.
pub trait Round {
    /// The next test case, or `None` at the end of the round.
    fn next(&mut self, bench: &mut Bench<'_>) -> Option<Draft>;

    /// How many test cases the round makes in all if nothing ends it early: the engine's own wish. Whoever drives it may
    /// stop sooner.
    fn length(&self) -> usize;

    /// Random terms accepted so far and random terms tried, if the engine tries any.
    fn effort(&self) -> Option<(u64, u64)> {
        None
    }

    /// Why another round of the same seeds would make nothing more, once this one has come to an end of its own.
    fn exhausted(&self) -> Option<&'static str> {
        None
    }

    /// What a later round of the same seed is to know, in the engine's own words: it comes with the seed
    /// ([`Seed::memory`]), in any process and after a resumption.
    fn memory(&self) -> Option<String> {
        None
    }

    /// Counts of what the round did, by name, for comparisons of an engine's settings.
    fn figures(&self) -> Vec<(&'static str, u64)> {
        Vec::new()
    }

    /// What the round knows about its seeds and has done with them, for people, with test cases called as whoever keeps them
    /// says: `name` gets the number of one in this round.
    fn explain(&self, _store: &Store, _name: &dyn Fn(usize) -> String) -> Option<String> {
        None
    }

    /// Scripts that a later round may start from instead of the seed: the farthest the round has come.
    fn heirs(&self) -> Vec<Script> {
        Vec::new()
    }

    /// What the round wants to know of a model that satisfies the test case made last, in the engine's own words. It is told
    /// with the feedback ([`Feedback::seen`]), which findings store, so that it decides the same when it is made again; here
    /// nothing changes.
    fn note(&self, _store: &Store, _model: &Model) -> Option<String> {
        None
    }

    /// What came of the test case made last.
    fn learn(&mut self, _feedback: &Feedback) {}
}
