//! What parts of rounds and their runs have cost, on the way to the totals.

use solver::run::{Accounts, Purpose};

use crate::schedule::NewCode;
use crate::store::{Counts, RunCounts, Totals};

/// What a part of a round has cost and brought.
#[derive(Clone, Debug, Default)]
pub struct Spent<'a> {
    pub engine: &'a str,
    /// The logic that was chosen, if it was.
    pub logic: Option<&'a str>,
    pub seeds: Vec<&'a str>,
    pub counts: Counts,
    /// Test cases by operator that occurs in them.
    pub constructs: Vec<(&'static str, u64)>,
    /// Runs of test cases by the option that was set.
    pub options: Vec<(String, u64)>,
    /// Solver runs of any purpose.
    pub runs: u64,
    /// Code that nobody had reached before.
    pub reached: NewCode,
    /// Everything else that was counted.
    pub totals: Totals,
}

/// Runs by purpose, to be added to the totals.
pub fn run_totals(accounts: &Accounts) -> Totals {
    let mut totals = Totals::default();
    for purpose in Purpose::ALL {
        let account = accounts.of(purpose);
        if account.runs > 0 {
            let counts = RunCounts {
                runs: account.runs,
                cpu: account.cpu.as_micros() as u64,
                kernel: account.kernel.as_micros() as u64,
                cut: account.cut,
                cut_cpu: account.cut_cpu.as_micros() as u64,
                fallbacks: account.fallbacks,
            };
            totals.ran(purpose.word(), &counts);
        }
    }
    totals
}
