//! Performance outliers. Off unless asked for: developers want them as collections, not one by one.

use std::time::Duration;

use smtlib::Status;
use solver::RunClass;
use solver::run::{Run, RunError};

use crate::asking::Asking;
use crate::judge::Oracle;
use crate::subject::Subject;
use crate::verdict::{Kind, Verdict};

/// A solver that needs far longer than every other that answers.
#[derive(Debug, Clone, Copy)]
pub struct Performance {
    /// How many times slower than the slowest other that answered.
    pub ratio: f64,
    /// Runs shorter than this do not count.
    pub at_least: Duration,
}

impl Default for Performance {
    fn default() -> Self {
        Performance { ratio: 20.0, at_least: Duration::from_secs(5) }
    }
}

impl Performance {
    /// What is left of a gap when it is looked at again: machines differ, and so do limits.
    pub fn again() -> Performance {
        Performance { ratio: 3.0, at_least: Duration::from_millis(200) }
    }
}

/// A run needs so much CPU time where another one needs only so much.
pub fn verdict(run: &Run, slow: Duration, next: &Run, fast: Duration) -> Verdict {
    let (slow, fast) = (slow.as_secs_f64(), fast.as_secs_f64());
    let mut verdict = Verdict::new(
        Kind::Performance,
        format!(
            "{slow:.1} s of CPU time, {:.0} times as much as {} ({fast:.2} s)",
            slow / fast,
            next.configuration.name(),
        ),
    );
    verdict.accused = Some(run.party());
    verdict.opponents = vec![next.party()];
    verdict
}

impl Oracle for Performance {
    fn name(&self) -> &'static str {
        "performance"
    }

    fn judge(&self, _: &mut Subject, runs: &[Run], _: &mut Asking) -> Result<Vec<Verdict>, RunError> {
        let answered = |run: &Run| {
            run.answers.class == RunClass::Answered
                && run
                    .answers
                    .checks
                    .iter()
                    .all(|check| matches!(run.status(check.check), Some(Status::Sat | Status::Unsat)))
        };
        let mut verdicts = Vec::new();
        for run in runs {
            let slow = run.outcome.cpu_time;
            if slow < self.at_least || !(answered(run) || run.answers.class == RunClass::Timeout) {
                continue;
            }
            let others = runs.iter().filter(|other| other.party() != run.party() && answered(other));
            let Some(next) = others.max_by_key(|other| other.outcome.cpu_time) else { continue };
            let compared = next.outcome.cpu_time.max(Duration::from_millis(1));
            if slow.as_secs_f64() >= self.ratio * compared.as_secs_f64() {
                verdicts.push(verdict(run, slow, next, compared));
            }
        }
        Ok(verdicts)
    }
}
