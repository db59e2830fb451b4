//! What came of one trial.

use std::collections::BTreeMap;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::records::Recorded;

/// What came of one trial.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Record {
    pub item: String,
    pub configuration: String,
    pub run: u64,
    /// Some test case showed the item's bug.
    pub hit: bool,
    /// Questions to solvers about skeleton and enforcements.
    pub questions: u64,
    /// Runs of the item's release.
    pub tests: u64,
    /// Every truth value was covered or given up.
    pub saturated: bool,
    /// The round's time was over before it came to its end.
    #[serde(default)]
    pub cut: bool,
    /// That time, and what the round took of it: CPU seconds of solvers and ours.
    #[serde(default)]
    pub limit: f64,
    #[serde(default)]
    pub cpu: f64,
    /// What else the engine counted, by name.
    pub figures: BTreeMap<String, u64>,
}

impl Record {
    /// Nothing has come of it yet.
    pub fn new(item: &str, configuration: &str, run: u64) -> Record {
        Record {
            item: item.to_owned(),
            configuration: configuration.to_owned(),
            run,
            hit: false,
            questions: 0,
            tests: 0,
            saturated: false,
            cut: false,
            limit: 0.0,
            cpu: 0.0,
            figures: BTreeMap::new(),
        }
    }

    /// Enforcements and mutants, each once: the calls of the paper's efficiency (section VI-B1).
    pub fn calls(&self) -> u64 {
        self.figure("enforcements") + self.figure("mutants")
    }

    /// All questions about skeleton and enforcements, and all runs of the release.
    pub fn solver_calls(&self) -> u64 {
        self.questions + self.tests
    }

    /// A count of the engine's; zero for one that it does not have.
    pub fn figure(&self, name: &str) -> u64 {
        self.figures.get(name).copied().unwrap_or_default()
    }
}

impl Recorded for Record {
    /// Item, configuration and repetition.
    type Key = (String, String, u64);

    fn key(&self) -> Self::Key {
        (self.item.clone(), self.configuration.clone(), self.run)
    }
}

/// Those of this benchmark.
pub type Records = crate::records::Records<Record>;

impl Records {
    /// The record of an item with a configuration.
    pub fn of(&self, item: &str, configuration: &str, run: u64) -> Option<Record> {
        self.get(&(item.to_owned(), configuration.to_owned(), run))
    }

    /// Nothing is left to measure: it is there, and was not cut by less time than there is now.
    pub fn has(&self, item: &str, configuration: &str, run: u64, limit: Duration) -> bool {
        let settled = |record: Record| !record.cut || record.limit >= limit.as_secs_f64();
        self.of(item, configuration, run).is_some_and(settled)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn efficiency_counts_enforcements_and_mutants_once_each() {
        let figures = [("enforcements", 50), ("mutants", 70), ("asked", 90)];
        let figures = figures.map(|(name, count)| (name.to_owned(), count)).into();
        let record = Record { questions: 90, tests: 120, figures, ..Record::new("a", "skolu", 0) };
        assert_eq!((record.calls(), record.solver_calls()), (120, 210));
    }

    #[test]
    fn what_the_clock_cut_is_measured_again_with_more_time() {
        let records = Records::open(None).expect("in memory");
        let limit = Duration::from_secs;
        assert!(!records.has("a", "skolu", 0, limit(10)));
        let cut = Record { cut: true, limit: 10.0, ..Record::new("a", "skolu", 0) };
        records.add(cut.clone()).expect("in memory");
        assert!(records.has("a", "skolu", 0, limit(10)) && !records.has("a", "skolu", 0, limit(60)));
        records.add(Record { cut: false, ..cut }).expect("in memory");
        assert!(records.has("a", "skolu", 0, limit(60)));
    }
}
