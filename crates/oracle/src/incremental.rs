//! Incremental solving against solving from scratch: a frame's answer must not depend on what was asked before.

use smtlib::{Status, print};
use solver::run::{Run, RunError};

use crate::asking::Asking;
use crate::judge::Oracle;
use crate::subject::Subject;
use crate::verdict::{Kind, Verdict};

/// Runs each frame alone and compares.
#[derive(Debug, Clone, Copy)]
pub struct Incremental {
    /// At most so many frames per run, from the last one backwards: trouble builds up.
    pub frames: usize,
}

impl Default for Incremental {
    fn default() -> Self {
        Incremental { frames: 8 }
    }
}

impl Oracle for Incremental {
    fn name(&self) -> &'static str {
        "incremental"
    }

    fn judge(
        &self,
        subject: &mut Subject,
        runs: &[Run],
        asking: &mut Asking,
    ) -> Result<Vec<Verdict>, RunError> {
        if !subject.script.is_some_and(smtlib::Script::is_incremental) {
            return Ok(Vec::new());
        }
        let mut verdicts = Vec::new();
        for run in runs {
            let answered =
                (0..subject.frames().len()).rev().filter_map(|check| Some((check, run.status(check)?)));
            for (check, status) in answered.take(self.frames) {
                let frame = &subject.frames()[check];
                if frame.tactic.is_some() {
                    continue;
                }
                let text = print::print(subject.store, &frame.alone(), run.configuration.release());
                let alone = asking.run(&run.configuration, text.as_bytes())?;
                let Some(other) = alone.status(0).filter(|other| *other != status) else { continue };
                let words = |status| if status == Status::Sat { "sat" } else { "unsat" };
                let mut verdict = Verdict::new(
                    Kind::Incremental,
                    format!(
                        "it answered {} in the script but {} for the same assertions alone",
                        words(status),
                        words(other)
                    ),
                );
                verdict.accused = Some(run.party());
                verdict.check = Some(check);
                let agree = |wanted| {
                    let others = runs.iter().filter(|other| other.party() != run.party());
                    others
                        .filter(move |other| other.status(check) == Some(wanted))
                        .map(|other| other.configuration.name())
                };
                let (with, against) = (agree(status).collect::<Vec<_>>(), agree(other).collect::<Vec<_>>());
                if !with.is_empty() {
                    verdict.evidence.push(format!("{} by {}", words(status), with.join(", ")));
                }
                if !against.is_empty() {
                    verdict.evidence.push(format!("{} by {}", words(other), against.join(", ")));
                }
                verdicts.push(verdict);
            }
        }
        Ok(verdicts)
    }
}
