//! Does an item still show its bug on its release? One run, read as a user would read it; a wrong model is evaluated.

use std::sync::Arc;

use oracle::subject::ModelValue;
use oracle::{Asking, Judge, Kind, Subject};
use smtlib::{Mode, Status, Store};
use solver::Solver;
use solver::limits::Limits;
use solver::run::{Configuration, Purpose, Run, RunError, RunRules, Runner as _, SolverRunner};

use super::item::Item;
use crate::error::BenchError;

/// Memory of one run, in bytes.
const MEMORY: u64 = 4 << 30;

/// What running an item gave.
#[derive(Clone, Debug, serde::Serialize)]
pub struct ReproductionResult {
    pub id: String,
    pub solver: String,
    pub kind: Kind,
    pub reproduces: bool,
    /// What was seen.
    pub seen: String,
}

/// Runs an item's trigger on its release. The references are asked only about what cannot be seen from one run.
pub fn reproduce(item: &Item, own: &Solver, references: &[Solver]) -> Result<ReproductionResult, BenchError> {
    let text = item.trigger()?;
    let mut solver = Solver { options: item.options.clone(), ..own.clone() };
    solver.leave_out_file_options();
    let limits = Limits { memory: Some(MEMORY), ..Limits::wall(item.timeout()) };
    let failed = |source| BenchError::Run { solver: item.release(), source };
    let everybody = Configuration::numbered(std::iter::once(&solver).chain(references).cloned());
    let mut runner = SolverRunner::new(everybody, RunRules::with_limits(limits)).map_err(failed)?;
    let accused = Arc::clone(&runner.configurations()[0]);
    let run = runner.run(&accused, text.as_bytes(), Purpose::Test).map_err(failed)?;
    let mut asking = Asking::new(&mut runner, Purpose::FollowUp);
    let (reproduces, seen) = match item.kind {
        Kind::Crash => match run.answers.crash() {
            Some(crash) => (true, crash.signature().text),
            None => (false, words(&run)),
        },
        Kind::RefutationSoundness => (answers_wrongly(item, &run, Status::Unsat, Status::Sat), words(&run)),
        Kind::SolutionSoundness => (answers_wrongly(item, &run, Status::Sat, Status::Unsat), words(&run)),
        Kind::InvalidModel if !run.answers.failed_checks.is_empty() => {
            (true, "its own check of its model fails".to_owned())
        }
        Kind::InvalidModel => match model_is_false(&text, &run, &mut asking).map_err(failed)? {
            true => (true, "its model does not satisfy the script".to_owned()),
            false => (false, words(&run)),
        },
        _ => match judged(item.kind, &text, &run, &mut asking).map_err(failed)? {
            Some(reason) => (true, reason),
            None => (false, words(&run)),
        },
    };
    Ok(ReproductionResult { id: item.id.clone(), solver: item.release(), kind: item.kind, reproduces, seen })
}

/// One answer where the other is right.
fn answers_wrongly(item: &Item, run: &Run, wrong: Status, right: Status) -> bool {
    run.answers
        .checks
        .iter()
        .any(|check| run.status(check.check) == Some(wrong) && item.expected_at(check.check) == Some(right))
}

fn model_is_false(text: &str, run: &Run, asking: &mut Asking) -> Result<bool, RunError> {
    let mut store = Store::new();
    let Ok(parsed) = smtlib::parse(&mut store, text.as_bytes(), Mode::Tolerant) else { return Ok(false) };
    let mut subject = Subject::new(&mut store, Some(&parsed.script), &parsed.notes);
    for check in 0..subject.frames().len() {
        if run.status(check) != Some(Status::Sat) {
            continue;
        }
        let found = subject.model_check(run, check, true, asking)?;
        if found.is_some_and(|found| matches!(found.value, ModelValue::False(..))) {
            return Ok(true);
        }
    }
    Ok(false)
}

/// What the oracles say, for kinds that a single run does not show.
fn judged(kind: Kind, text: &str, run: &Run, asking: &mut Asking) -> Result<Option<String>, RunError> {
    let mut store = Store::new();
    let Ok(parsed) = smtlib::parse(&mut store, text.as_bytes(), Mode::Tolerant) else { return Ok(None) };
    let mut subject = Subject::new(&mut store, Some(&parsed.script), &parsed.notes);
    let verdicts = Judge::thorough().judge(&mut subject, std::slice::from_ref(run), asking)?;
    let same = verdicts.into_iter().find(|verdict| verdict.kind == kind && verdict.is_finding());
    Ok(same.map(|verdict| verdict.reason))
}

/// What a run said.
fn words(run: &Run) -> String {
    let mut words: Vec<&str> = run.answers.checks.iter().map(|check| check.answer.word()).collect();
    if words.is_empty() {
        words.push(run.answers.class.word());
    }
    words.join(" ")
}
