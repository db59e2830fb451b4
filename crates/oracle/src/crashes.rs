//! Crashes: fatal signals, failed assertions, sanitizer reports, uncaught exceptions.

use solver::crash::CrashReport;

use crate::court::Oracle;
use crate::run::{Rerun, Run, RunError};
use crate::subject::Subject;
use crate::verdict::{Kind, Verdict};

/// A solver must not crash, whatever it is given.
pub struct Crashes;

impl Oracle for Crashes {
    fn name(&self) -> &'static str {
        "crash"
    }

    fn judge(&self, _: &mut Subject, runs: &[Run], _: &mut dyn Rerun) -> Result<Vec<Verdict>, RunError> {
        let crashed = runs.iter().enumerate().filter_map(|(i, run)| Some((i, run, run.answers.crash()?)));
        Ok(crashed.map(|(i, run, crash)| verdict(i, run, crash)).collect())
    }
}

fn verdict(accused: usize, run: &Run, crash: &CrashReport) -> Verdict {
    let signature = crash.signature();
    let mut verdict = Verdict::new(Kind::Crash, format!("it crashed: {signature}"));
    verdict.accused = Some(accused);
    verdict.check = Some(run.answers.checks.len());
    if !crash.message.is_empty() {
        verdict.evidence.push(crash.message.clone());
    }
    verdict.signature = Some(signature);
    verdict
}
