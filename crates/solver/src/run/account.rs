//! What runs have cost, purpose by purpose.

use std::ops::{Add, AddAssign};
use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::Purpose;
use crate::launch::Outcome;

/// What the runs of one purpose have cost.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Account {
    pub runs: u64,
    /// CPU time of the solvers, with that of their fork servers.
    pub cpu: Duration,
    /// Of it, in the kernel: see [`CpuTime`](crate::launch::CpuTime).
    #[serde(default)]
    pub kernel: Duration,
    /// Runs that were cut at their time limit.
    pub cut: u64,
    /// CPU time of those.
    pub cut_cpu: Duration,
    /// Runs that should have been started fast and were started plainly.
    pub fallbacks: u64,
}

impl Account {
    /// Counts a run.
    pub fn record(&mut self, outcome: &Outcome) {
        self.runs += 1;
        self.cpu += outcome.cpu_time + outcome.server_time.total();
        self.kernel += outcome.kernel_time + outcome.server_time.kernel;
        if outcome.timed_out {
            self.cut += 1;
            self.cut_cpu += outcome.cpu_time;
        }
        self.fallbacks += u64::from(outcome.fallback.is_some());
    }
}

impl AddAssign for Account {
    fn add_assign(&mut self, other: Account) {
        self.runs += other.runs;
        self.cpu += other.cpu;
        self.kernel += other.kernel;
        self.cut += other.cut;
        self.cut_cpu += other.cut_cpu;
        self.fallbacks += other.fallbacks;
    }
}

impl Add for Account {
    type Output = Account;

    fn add(mut self, other: Account) -> Account {
        self += other;
        self
    }
}

/// An account for each purpose.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, rename_all = "kebab-case")]
pub struct Accounts {
    pub test: Account,
    pub question: Account,
    pub follow_up: Account,
    pub confirmation: Account,
    pub place: Account,
    pub reduction: Account,
    pub blame: Account,
    pub measurement: Account,
    pub trace: Account,
}

impl Accounts {
    pub fn of(&self, purpose: Purpose) -> &Account {
        match purpose {
            Purpose::Test => &self.test,
            Purpose::Question => &self.question,
            Purpose::FollowUp => &self.follow_up,
            Purpose::Confirmation => &self.confirmation,
            Purpose::Place => &self.place,
            Purpose::Reduction => &self.reduction,
            Purpose::Blame => &self.blame,
            Purpose::Measurement => &self.measurement,
            Purpose::Trace => &self.trace,
        }
    }

    pub fn of_mut(&mut self, purpose: Purpose) -> &mut Account {
        match purpose {
            Purpose::Test => &mut self.test,
            Purpose::Question => &mut self.question,
            Purpose::FollowUp => &mut self.follow_up,
            Purpose::Confirmation => &mut self.confirmation,
            Purpose::Place => &mut self.place,
            Purpose::Reduction => &mut self.reduction,
            Purpose::Blame => &mut self.blame,
            Purpose::Measurement => &mut self.measurement,
            Purpose::Trace => &mut self.trace,
        }
    }

    /// The same, all of it for one purpose.
    #[must_use]
    pub fn all_for(&self, purpose: Purpose) -> Accounts {
        let mut all = Accounts::default();
        *all.of_mut(purpose) = self.total();
        all
    }

    /// All purposes together.
    pub fn total(&self) -> Account {
        Purpose::ALL.iter().fold(Account::default(), |sum, purpose| sum + *self.of(*purpose))
    }
}

impl AddAssign for Accounts {
    fn add_assign(&mut self, other: Accounts) {
        for purpose in Purpose::ALL {
            *self.of_mut(purpose) += *other.of(purpose);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn accounts_add_up_purpose_by_purpose_and_survive_a_file() {
        let mut all = Accounts::default();
        for (number, purpose) in Purpose::ALL.into_iter().enumerate() {
            let runs = number as u64 + 1;
            let mut one = Accounts::default();
            *one.of_mut(purpose) = Account { runs, cpu: Duration::from_millis(runs), ..Account::default() };
            all += one;
            all += one;
        }
        assert_eq!(all.question.runs, 4);
        assert_eq!(all.total().runs, 90);
        assert_eq!(all.total().cpu, Duration::from_millis(90));
        let apart = all.all_for(Purpose::Blame);
        assert_eq!((apart.total(), apart.blame), (all.total(), all.total()));
        let text = serde_json::to_string(&all).expect("JSON");
        assert!(text.contains("\"follow-up\""), "{text}");
        assert_eq!(serde_json::from_str::<Accounts>(&text).expect("accounts"), all);
    }
}
