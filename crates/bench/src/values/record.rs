//! What came of one trial.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::records::Recorded;

/// What came of one trial.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
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
    /// What else the engine counted, by name.
    pub figures: BTreeMap<String, u64>,
}

impl Record {
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
}
