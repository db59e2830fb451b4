//! Crashes: fatal signals, failed assertions, sanitizer reports, uncaught exceptions.

use solver::crash::CrashReport;
use solver::run::{Run, RunError};

use crate::asking::Asking;
use crate::judge::Oracle;
use crate::subject::Subject;
use crate::verdict::{Kind, Verdict};

/// A solver must not crash, whatever it is given.
pub struct Crashes;

impl Oracle for Crashes {
    fn name(&self) -> &'static str {
        "crash"
    }

    fn judge(&self, _: &mut Subject, runs: &[Run], _: &mut Asking) -> Result<Vec<Verdict>, RunError> {
        Ok(runs.iter().filter_map(|run| Some(verdict(run, run.answers.crash()?))).collect())
    }
}

fn verdict(run: &Run, crash: &CrashReport) -> Verdict {
    let signature = crash.signature();
    let mut verdict = Verdict::new(Kind::Crash, format!("it crashed: {signature}"));
    verdict.accused = Some(run.party());
    verdict.check = Some(run.answers.checks.len());
    if !crash.message.is_empty() {
        verdict.evidence.push(crash.message.clone());
    }
    verdict.signature = Some(signature);
    verdict
}
