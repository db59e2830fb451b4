//! Learned state: counts by kind and name, nothing else, so that what many workers learn adds up.

use std::collections::BTreeMap;
use std::ops::Bound;
use std::time::Duration;

use serde::{Deserialize, Serialize};

/// The kind of choices between engines.
pub const ENGINE: &str = "engine";

/// The kind of choices between logics.
pub const LOGIC: &str = "logic";

/// The kind of constructs that test cases are made of; nothing is chosen by them.
pub const CONSTRUCT: &str = "construct";

/// The kind of options that runs of test cases were given; nothing is chosen by them either.
pub const OPTION: &str = "option";

/// The name of no option at all.
pub const DEFAULT_OPTIONS: &str = "default options";

/// What one choice (an engine, a seed, a logic, an option) has cost and brought.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Counts {
    pub rounds: u64,
    pub tests: u64,
    /// CPU time of solvers and our own, in microseconds.
    pub cpu: u64,
    /// Unique findings.
    pub findings: u64,
    /// Test cases that made some solver behave in a new way.
    pub novel: u64,
}

impl Counts {
    pub fn add(&mut self, other: &Counts) {
        self.rounds += other.rounds;
        self.tests += other.tests;
        self.cpu += other.cpu;
        self.findings += other.findings;
        self.novel += other.novel;
    }

    pub fn is_empty(&self) -> bool {
        *self == Counts::default()
    }

    pub fn cpu_time(&self) -> Duration {
        Duration::from_micros(self.cpu)
    }
}

/// Counts by kind of choice and name. Kinds are an open set: a new thing to learn needs no new table.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(from = "Vec<(String, String, Counts)>", into = "Vec<(String, String, Counts)>")]
pub struct Learned {
    counts: BTreeMap<(String, String), Counts>,
}

impl From<Vec<(String, String, Counts)>> for Learned {
    fn from(rows: Vec<(String, String, Counts)>) -> Learned {
        Learned { counts: rows.into_iter().map(|(kind, name, counts)| ((kind, name), counts)).collect() }
    }
}

impl From<Learned> for Vec<(String, String, Counts)> {
    fn from(learned: Learned) -> Vec<(String, String, Counts)> {
        learned.counts.into_iter().map(|((kind, name), counts)| (kind, name, counts)).collect()
    }
}

impl Learned {
    /// What is known of a choice; zero for one that was never made.
    pub fn get(&self, kind: &str, name: &str) -> Counts {
        self.counts.get(&(kind.to_owned(), name.to_owned())).copied().unwrap_or_default()
    }

    pub fn add(&mut self, kind: &str, name: &str, counts: &Counts) {
        self.counts.entry((kind.to_owned(), name.to_owned())).or_default().add(counts);
    }

    /// Adds what another worker, or an earlier run, has counted.
    pub fn merge(&mut self, other: &Learned) {
        for (kind, name, counts) in other.iter() {
            self.add(kind, name, counts);
        }
    }

    /// All choices of one kind, by name.
    pub fn of_kind<'a>(&'a self, kind: &'a str) -> impl Iterator<Item = (&'a str, &'a Counts)> {
        let first = Bound::Included((kind.to_owned(), String::new()));
        self.counts
            .range((first, Bound::Unbounded))
            .take_while(move |((its, _), _)| its == kind)
            .map(|((_, name), counts)| (name.as_str(), counts))
    }

    /// All choices: kind, name, counts.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &str, &Counts)> {
        self.counts.iter().map(|((kind, name), counts)| (kind.as_str(), name.as_str(), counts))
    }

    pub fn is_empty(&self) -> bool {
        self.counts.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tests(tests: u64) -> Counts {
        Counts { tests, ..Counts::default() }
    }

    #[test]
    fn states_of_two_workers_add_up_in_any_order() {
        let of = |name: &str, count| {
            let mut learned = Learned::default();
            learned.add(ENGINE, name, &tests(count));
            learned
        };
        let (mut one, mut other) = (of("a", 1), of("b", 2));
        one.merge(&of("b", 2));
        other.merge(&of("a", 1));
        assert_eq!(one, other);
    }

    #[test]
    fn equal_names_of_different_kinds_are_different_choices() {
        let mut learned = Learned::default();
        learned.add(ENGINE, "x", &tests(1));
        learned.add(LOGIC, "x", &tests(2));
        learned.add("option", "x", &tests(3));
        learned.add(LOGIC, "y", &tests(4));
        assert_eq!(learned.get(ENGINE, "x"), tests(1));
        assert_eq!(learned.get(ENGINE, "y"), Counts::default());
        let logics: Vec<_> = learned.of_kind(LOGIC).collect();
        assert_eq!(logics, [("x", &tests(2)), ("y", &tests(4))]);
        assert_eq!(learned.of_kind("operator").count(), 0);
    }
}
