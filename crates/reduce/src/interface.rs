//! What a reduction is told, and what it tells: settings, progress, results.

use std::io;
use std::sync::Arc;
use std::time::Duration;

use serde::Serialize;
use solver::run::{Accounts, Configuration};

use crate::size::Size;

/// How a reduction is run.
#[derive(Clone, Debug)]
pub struct Effort {
    /// Candidates examined at the same time. The result does not depend on it.
    pub jobs: usize,
    /// Time for all of it.
    pub time: Option<Duration>,
}

/// What is reduced.
#[derive(Clone, Copy, Debug)]
pub struct Input<'a> {
    pub text: &'a [u8],
    /// A model that satisfies it, as [`eval::model_text::write_model`] writes it.
    pub witness: Option<&'a [u8]>,
}

/// How far it is.
#[derive(Clone, Copy, Debug)]
pub struct Progress {
    pub pass: &'static str,
    pub before: Size,
    pub now: Size,
    /// Candidates that a solver or command was run on.
    pub candidates: u64,
    pub elapsed: Duration,
}

/// Who looks at a reduction while it runs.
pub trait Watcher {
    fn progress(&self, _: &Progress) {}

    /// Something the user should know.
    fn note(&self, _: &str) {}

    /// A smaller script: to be kept before the next candidate is tried.
    fn best(&self, _: &Best) -> io::Result<()> {
        Ok(())
    }

    /// Whether the user wants to end.
    fn stop(&self) -> bool {
        false
    }

    /// Whether even short work that would make what was done worth more has to end.
    fn stop_now(&self) -> bool {
        self.stop()
    }
}

/// The best so far.
#[derive(Clone, Debug)]
pub struct Best {
    pub text: String,
    pub size: Size,
    /// A model that satisfies it, where the input came with one.
    pub witness: Option<String>,
    /// The solver with what is left of its options.
    pub configuration: Option<Arc<Configuration>>,
    /// Its assertions are all assertions of the input.
    pub(crate) subset: bool,
}

impl Best {
    /// An input that was not reduced.
    pub fn of_input(text: &str, configuration: Option<Arc<Configuration>>) -> Best {
        Best {
            text: text.to_owned(),
            size: Size::of(text.as_bytes()),
            witness: None,
            configuration,
            subset: true,
        }
    }
}

/// What a reduction came to.
#[derive(Clone, Debug)]
pub struct Reduced {
    pub best: Best,
    pub before: Size,
    pub candidates: u64,
    /// What all runs have cost, those of the first questions included.
    pub accounts: Accounts,
    /// CPU time of the processes that start solvers.
    pub launcher_cpu: Duration,
    pub elapsed: Duration,
    /// Nothing smaller was left to try; otherwise time was up or the user ended it.
    pub finished: bool,
    /// What worked, with how many expressions it saved.
    pub passes: Vec<PassRecord>,
}

/// What a pass has done.
#[derive(Clone, Debug, Serialize)]
pub struct PassRecord {
    pub name: &'static str,
    pub candidates: u64,
    pub accepted: u64,
    pub saved: usize,
}
