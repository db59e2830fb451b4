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
            let ratio = slow.as_secs_f64() / compared.as_secs_f64();
            if ratio >= self.ratio {
                let mut verdict = Verdict::new(
                    Kind::Performance,
                    format!(
                        "{:.1} s of CPU time, {ratio:.0} times as much as {} ({:.2} s)",
                        slow.as_secs_f64(),
                        next.configuration.name(),
                        compared.as_secs_f64()
                    ),
                );
                verdict.accused = Some(run.party());
                verdict.opponents = vec![next.party()];
                verdicts.push(verdict);
            }
        }
        Ok(verdicts)
    }
}
