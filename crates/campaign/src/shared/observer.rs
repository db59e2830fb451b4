//! Who looks at a campaign while it runs: the terminal, the log.

use std::time::Duration;

use crate::findings::Finding;
use crate::schedule::SolverCoverage;
use crate::store::Totals;

/// Told what happens. Called from the campaign's threads, one call at a time.
pub trait Observer: Send + Sync {
    /// Nothing stands in the way any more: the first round is about to begin.
    fn begun(&self) {}
    /// Now and then.
    fn progress(&self, _snapshot: &Snapshot) {}
    /// A new unique finding, already on disk in this folder.
    fn found(&self, _finding: &Finding, _folder: &std::path::Path) {}
    /// Something the user should know: a seed dropped, a check of ourselves that failed.
    fn note(&self, _text: &str) {}
}

/// Nobody looks.
pub struct Silent;

impl Observer for Silent {}

/// The state of a campaign at a moment.
#[derive(Clone, Debug)]
pub struct Snapshot {
    /// Of the whole campaign.
    pub totals: Totals,
    /// Of this process's run.
    pub run: Totals,
    /// Test cases of this run.
    pub tests: u64,
    /// Of this run.
    pub elapsed: Duration,
    pub left: Option<Duration>,
    /// Share of the CPU time by engine, since the beginning.
    pub shares: Vec<(String, f64)>,
    pub seeds: usize,
    /// How much of the solvers' code has been reached, where it is watched.
    pub coverage: Vec<SolverCoverage>,
    /// Findings that are not told apart yet.
    pub pending: usize,
    /// Processes that work on the campaign.
    pub members: usize,
}
