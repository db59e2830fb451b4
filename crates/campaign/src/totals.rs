//! What a campaign has done so far: counts for the live view, the summary and the database.

use std::collections::BTreeMap;
use std::time::Duration;

use serde::{Deserialize, Serialize};

/// Counts over a whole campaign; those of several runs add up.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Totals {
    pub rounds: u64,
    pub tests: u64,
    /// Solver runs of test cases; confirmations, questions of engines and the like are in `extra_runs`.
    pub runs: u64,
    pub extra_runs: u64,
    /// Runs of candidates while findings are made smaller.
    pub reduction_runs: u64,
    /// Wall-clock time of the campaign in milliseconds.
    pub elapsed: u64,
    /// CPU time of solvers in microseconds: of all runs, then of parts of them.
    pub solver_cpu: u64,
    /// Of runs of test cases that were cut at their time limit.
    pub cut_cpu: u64,
    pub extra_cpu: u64,
    pub reduction_cpu: u64,
    /// CPU time of everything else: this process and the launchers.
    pub own_cpu: u64,
    /// Runs by solver and what they amounted to: `sat`, `unsat`, `unknown`, or the run's class.
    pub answers: BTreeMap<String, BTreeMap<String, u64>>,
    /// Test cases by engine.
    pub engines: BTreeMap<String, u64>,
    /// Unique findings by kind.
    pub findings: BTreeMap<String, u64>,
    pub duplicates: u64,
    /// Findings whose signature is in the user's list.
    pub suppressed: u64,
    /// Findings that did not repeat at all in plain runs.
    pub unconfirmed: u64,
    /// Suspicions that are differences by design, or disputed by better evidence.
    pub excused: u64,
    /// Test cases some solver refused.
    pub rejected: u64,
    /// Test cases that made some solver behave in a new way.
    pub novel: u64,
    /// Checks of ourselves that failed: a witness that does not satisfy its script, an engine that panicked.
    pub internal_errors: u64,
    /// Steps that took long of our own CPU time, without solvers.
    pub slow: u64,
    /// The longest of them, in microseconds.
    pub slowest: u64,
    /// Messages of refusals, the most frequent first when shown.
    pub refusals: BTreeMap<String, u64>,
}

/// Different refusals that are remembered.
const REFUSALS: usize = 200;

impl Totals {
    pub fn unique(&self) -> u64 {
        self.findings.values().sum()
    }

    /// The share of our own CPU time, between 0 and 1.
    pub fn own_share(&self) -> f64 {
        let all = self.solver_cpu + self.own_cpu;
        if all == 0 { 0.0 } else { self.own_cpu as f64 / all as f64 }
    }

    pub fn elapsed(&self) -> Duration {
        Duration::from_millis(self.elapsed)
    }

    pub fn refuse(&mut self, message: String) {
        if self.refusals.len() < REFUSALS || self.refusals.contains_key(&message) {
            *self.refusals.entry(message).or_default() += 1;
        }
    }
}
