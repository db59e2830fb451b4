//! What runs have cost, as it is stored.

use solver::run::{Accounts, Purpose};

use crate::store::{RunCounts, Totals};

/// Runs by purpose, to be added to the totals.
pub fn run_totals(accounts: &Accounts) -> Totals {
    let mut totals = Totals::default();
    for purpose in Purpose::ALL {
        let account = accounts.of(purpose);
        if account.runs > 0 {
            let counts = RunCounts {
                runs: account.runs,
                cpu: account.cpu.as_micros() as u64,
                cut: account.cut,
                cut_cpu: account.cut_cpu.as_micros() as u64,
                fallbacks: account.fallbacks,
            };
            totals.ran(purpose.word(), &counts);
        }
    }
    totals
}
