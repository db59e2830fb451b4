//! Incremental solving against solving from scratch: a frame's answer must not depend on what was asked before.

use smtlib::{Status, print};

use crate::court::Oracle;
use crate::run::{Rerun, Run, RunError};
use crate::subject::Subject;
use crate::verdict::{Kind, Verdict};

/// Runs each frame alone and compares.
#[derive(Debug, Clone, Copy)]
pub struct Incremental {
    /// At most so many frames a run, from the last one backwards: trouble builds up.
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
        rerun: &mut dyn Rerun,
    ) -> Result<Vec<Verdict>, RunError> {
        if !subject.script.is_some_and(smtlib::Script::is_incremental) {
            return Ok(Vec::new());
        }
        let mut verdicts = Vec::new();
        for (position, run) in runs.iter().enumerate() {
            let answered =
                (0..subject.frames().len()).rev().filter_map(|check| Some((check, run.status(check)?)));
            for (check, status) in answered.take(self.frames) {
                let frame = &subject.frames()[check];
                if !frame.plain {
                    continue;
                }
                let text = print::print(subject.store, &frame.alone(), run.configuration.release());
                let alone = rerun.run(&run.configuration, text.as_bytes())?;
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
                verdict.accused = Some(position);
                verdict.check = Some(check);
                let agree = |wanted| {
                    let others = runs.iter().enumerate().filter(|(i, _)| *i != position);
                    others
                        .filter(move |(_, run)| run.status(check) == Some(wanted))
                        .map(|(_, run)| run.configuration.name())
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
