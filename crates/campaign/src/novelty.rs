//! New behaviour: features of runs that have not been seen before.
//!
//! A *signal* turns the runs of a test case into features, plain hashes; a test case is novel if it has a feature
//! nobody has seen. Code coverage is one more signal: its features are the newly reached sites.

use rustc_hash::{FxHashSet, FxHasher};
use std::hash::{Hash, Hasher};

use smtlib::logic::Usage;

use oracle::Run;

use crate::statistics::Statistics;

/// Features kept at most; beyond that everything counts as seen.
const FEATURES: usize = 1 << 20;

/// Turns runs into features.
pub trait Signal: Send + Sync {
    /// `who` are the numbers of the solvers, by run.
    fn features(&self, usage: &Usage, who: &[usize], runs: &[Run], out: &mut Vec<u64>);
}

/// The signals in force.
pub fn signals() -> Vec<Box<dyn Signal>> {
    vec![Box::new(AnswerPattern), Box::new(ErrorClass), Box::new(Effort), Box::new(Statistics)]
}

/// Features seen so far. Sets of several workers unite.
#[derive(Clone, Debug, Default)]
pub struct Novelty {
    seen: FxHashSet<u64>,
    /// Seen since the last time they were taken, for the store.
    fresh: Vec<u64>,
}

impl Novelty {
    /// Remembers the features; true if one of them is new.
    pub fn observe(&mut self, features: &[u64]) -> bool {
        let mut novel = false;
        for feature in features {
            if self.seen.len() < FEATURES && self.seen.insert(*feature) {
                self.fresh.push(*feature);
                novel = true;
            }
        }
        novel
    }

    pub fn restore(&mut self, feature: u64) {
        self.seen.insert(feature);
    }

    pub fn take_fresh(&mut self) -> Vec<u64> {
        std::mem::take(&mut self.fresh)
    }

    pub fn len(&self) -> usize {
        self.seen.len()
    }

    pub fn is_empty(&self) -> bool {
        self.seen.is_empty()
    }
}

pub fn feature(parts: impl Hash) -> u64 {
    // A fixed hasher: features are stored and must mean the same tomorrow.
    let mut hasher = FxHasher::default();
    parts.hash(&mut hasher);
    hasher.finish()
}

/// Which operators occur where a solver gives which answer.
struct AnswerPattern;

impl Signal for AnswerPattern {
    fn features(&self, usage: &Usage, who: &[usize], runs: &[Run], out: &mut Vec<u64>) {
        for (i, run) in who.iter().zip(runs) {
            let answer =
                run.answers.checks.first().map_or(run.answers.class.word(), |check| check.answer.word());
            for op in &usage.operators {
                out.push(feature(("operator", i, answer, *op as u16)));
            }
        }
        let pattern: Vec<&str> = runs
            .iter()
            .flat_map(|run| {
                let answers = run.answers.checks.iter().take(4).map(|check| check.answer.word());
                std::iter::once(run.answers.class.word()).chain(answers)
            })
            .collect();
        out.push(feature(("pattern", pattern)));
    }
}

/// Which errors a solver prints.
struct ErrorClass;

impl Signal for ErrorClass {
    fn features(&self, _: &Usage, who: &[usize], runs: &[Run], out: &mut Vec<u64>) {
        for (i, run) in who.iter().zip(runs) {
            for error in run.answers.errors.iter().take(8) {
                out.push(feature(("error", i, solver::crash::normalised(&error.message))));
            }
            for check in &run.answers.checks {
                if let solver::Answer::Unknown(Some(reason)) = &check.answer {
                    out.push(feature(("reason", i, solver::crash::normalised(reason))));
                }
            }
        }
    }
}

/// How hard a solver works, by powers of two of its CPU time above the usual.
struct Effort;

impl Signal for Effort {
    fn features(&self, usage: &Usage, who: &[usize], runs: &[Run], out: &mut Vec<u64>) {
        for (i, run) in who.iter().zip(runs) {
            let work = (run.outcome.cpu_time.as_millis() / 100) as u64;
            if work > 0 {
                let theories: Vec<u8> = usage.theories.iter().map(|theory| *theory as u8).collect();
                out.push(feature(("effort", i, work.ilog2(), theories)));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_feature_is_new_once() {
        let mut novelty = Novelty::default();
        assert!(novelty.observe(&[1, 2]));
        assert!(!novelty.observe(&[2, 1]));
        assert!(novelty.observe(&[2, 3]));
        assert_eq!(novelty.take_fresh(), [1, 2, 3]);
        assert!(novelty.take_fresh().is_empty());
    }
}
