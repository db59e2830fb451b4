//! New behaviour: features of runs that have not been seen before.
//!
//! A *signal* turns the runs of a test case into features, plain hashes; a test case is novel if it has a feature
//! nobody has seen. Code that nobody has reached is new behaviour as well; it is kept apart, in [`Reached`](super::Reached).

use rustc_hash::FxHashSet;
use smtlib::logic::Usage;
use solver::run::Run;

use super::statistics::Statistics;
use crate::hash;
use crate::store::FEATURES;

/// Turns runs into features.
pub trait Signal: Send + Sync {
    /// Runs come with the numbers of their solvers.
    fn features(&self, usage: &Usage, runs: &[(usize, &Run)], out: &mut Vec<u64>);
}

/// The signals in force.
pub fn signals() -> Vec<Box<dyn Signal>> {
    vec![Box::new(AnswerPattern), Box::new(ErrorClass), Box::new(CpuTime), Box::new(Statistics)]
}

/// Features seen so far. Sets of several workers unite.
#[derive(Clone, Debug, Default)]
pub struct Novelty {
    seen: FxHashSet<u64>,
    /// Seen since the last time they were taken, for the store.
    fresh: Vec<u64>,
}

impl Novelty {
    /// Remembers the features and tells how many of them are new.
    pub fn observe(&mut self, features: &[u64]) -> u32 {
        let mut new = 0;
        for feature in features {
            if self.seen.len() < FEATURES && self.seen.insert(*feature) {
                self.fresh.push(*feature);
                new += 1;
            }
        }
        new
    }

    /// How many of the features are new, without remembering them.
    pub fn unseen(&self, features: &[u64]) -> u32 {
        if self.seen.len() >= FEATURES {
            return 0;
        }
        features.iter().filter(|feature| !self.seen.contains(feature)).count() as u32
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

/// A feature: a hash of words and numbers that mean the same tomorrow, on another machine and with more operators in the
/// table.
pub struct Feature(u64);

impl Feature {
    pub fn of(signal: &str) -> Feature {
        Feature(hash::start()).text(signal)
    }

    pub fn text(self, text: &str) -> Feature {
        // The byte that no UTF-8 text has keeps neighbours apart.
        Feature(hash::add(hash::add(self.0, text.as_bytes()), &[0xff]))
    }

    pub fn number(self, number: u64) -> Feature {
        Feature(hash::add(self.0, &number.to_le_bytes()))
    }

    pub fn get(self) -> u64 {
        self.0
    }
}

/// Which operators occur where a solver gives which answer.
struct AnswerPattern;

impl Signal for AnswerPattern {
    fn features(&self, usage: &Usage, runs: &[(usize, &Run)], out: &mut Vec<u64>) {
        for (solver, run) in runs {
            let answer =
                run.answers.checks.first().map_or(run.answers.class.word(), |check| check.answer.word());
            for op in &usage.operators {
                let feature = Feature::of("operator").number(*solver as u64).text(answer).text(op.name());
                out.push(feature.get());
            }
        }
        let mut pattern = Feature::of("pattern");
        for (_, run) in runs {
            pattern = pattern.text(run.answers.class.word());
            for check in run.answers.checks.iter().take(4) {
                pattern = pattern.text(check.answer.word());
            }
        }
        out.push(pattern.get());
    }
}

/// Which errors a solver prints.
struct ErrorClass;

impl Signal for ErrorClass {
    fn features(&self, _: &Usage, runs: &[(usize, &Run)], out: &mut Vec<u64>) {
        for (solver, run) in runs {
            let feature = |signal: &str, text: &str| {
                let words = solver::crash::normalised(text);
                Feature::of(signal).number(*solver as u64).text(&words).get()
            };
            for error in run.answers.errors.iter().take(8) {
                out.push(feature("error", &error.message));
            }
            for check in &run.answers.checks {
                if let solver::Answer::Unknown(Some(reason)) = &check.answer {
                    out.push(feature("reason", reason));
                }
            }
        }
    }
}

/// How hard a solver works, by powers of two of its CPU time above the usual.
struct CpuTime;

impl Signal for CpuTime {
    fn features(&self, usage: &Usage, runs: &[(usize, &Run)], out: &mut Vec<u64>) {
        for (solver, run) in runs {
            let work = (run.outcome.cpu_time.as_millis() / 100) as u64;
            if work > 0 {
                let mut feature = Feature::of("effort").number(*solver as u64).number(work.ilog2().into());
                for theory in &usage.theories {
                    feature = feature.text(solver::theory_name(*theory));
                }
                out.push(feature.get());
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
        assert_eq!((novelty.unseen(&[1, 2]), novelty.observe(&[1, 2])), (2, 2));
        assert_eq!(novelty.observe(&[2, 1]), 0);
        assert_eq!(novelty.observe(&[2, 3]), 1);
        assert_eq!(novelty.take_fresh(), [1, 2, 3]);
        assert!(novelty.take_fresh().is_empty());
    }

    #[test]
    fn features_mean_the_same_in_every_build() {
        let feature = Feature::of("operator").number(1).text("sat").text("bvadd").get();
        assert_eq!(feature, FIXED);
        assert_ne!(Feature::of("ab").text("c").get(), Feature::of("a").text("bc").get());
    }

    /// Stored campaigns have it.
    const FIXED: u64 = 16_924_845_920_891_368_434;
}
