//! Does an item still show its bug on its release? One run, read as a user would read it; a wrong model is evaluated.

use std::sync::Arc;

use oracle::subject::ModelValue;
use oracle::{Configuration, Court, Kind, Panel, Rerun as _, Run, Subject};
use smtlib::{Mode, Status, Store};
use solver::limits::Limits;
use solver::{RunRequest, Solver};

use super::item::Item;
use crate::error::BenchError;

/// Memory of one run, in bytes.
const MEMORY: u64 = 4 << 30;

/// What running an item gave.
#[derive(Clone, Debug, serde::Serialize)]
pub struct Reproduction {
    pub id: String,
    pub solver: String,
    pub kind: Kind,
    pub reproduces: bool,
    /// What was seen.
    pub seen: String,
}

/// Runs an item's trigger on its release. The references are asked only about what cannot be seen from one run.
pub fn reproduce(item: &Item, own: &Solver, references: &[Solver]) -> Result<Reproduction, BenchError> {
    let text = item.trigger()?;
    let solver = Solver { options: item.options.clone(), ..own.clone() };
    let limits = Limits { memory: Some(MEMORY), ..Limits::wall(item.timeout()) };
    let failed = |error| campaign::executor::why(&item.release(), error);
    let everybody = std::iter::once(&solver).chain(references).cloned().map(Configuration::new);
    let mut panel = Panel::new(everybody.collect(), limits).map_err(failed)?;
    let configuration = Arc::new(Configuration { solver, request: RunRequest::default() });
    let run = panel.run(&configuration, text.as_bytes()).map_err(failed)?;
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
        Kind::InvalidModel => match model_is_false(&text, &run, &mut panel).map_err(failed)? {
            true => (true, "its model does not satisfy the script".to_owned()),
            false => (false, words(&run)),
        },
        _ => match judged(item.kind, &text, &run, &mut panel).map_err(failed)? {
            Some(reason) => (true, reason),
            None => (false, words(&run)),
        },
    };
    Ok(Reproduction { id: item.id.clone(), solver: item.release(), kind: item.kind, reproduces, seen })
}

/// One answer where the other is right.
fn answers_wrongly(item: &Item, run: &Run, wrong: Status, right: Status) -> bool {
    run.answers
        .checks
        .iter()
        .any(|check| run.status(check.check) == Some(wrong) && item.expected_at(check.check) == Some(right))
}

fn model_is_false(text: &str, run: &Run, panel: &mut Panel) -> Result<bool, oracle::RunError> {
    let mut store = Store::new();
    let Ok(parsed) = smtlib::parse(&mut store, text.as_bytes(), Mode::Tolerant) else { return Ok(false) };
    let runs = std::slice::from_ref(run);
    let mut subject = Subject::new(&mut store, Some(&parsed.script), &parsed.notes);
    for check in 0..subject.frames().len() {
        if run.status(check) != Some(Status::Sat) {
            continue;
        }
        let found = subject.model_check(runs, 0, check, true, panel)?;
        if found.is_some_and(|found| matches!(found.value, ModelValue::False(..))) {
            return Ok(true);
        }
    }
    Ok(false)
}

/// What the oracles say, for kinds that a single run does not show.
fn judged(kind: Kind, text: &str, run: &Run, panel: &mut Panel) -> Result<Option<String>, oracle::RunError> {
    let mut store = Store::new();
    let Ok(parsed) = smtlib::parse(&mut store, text.as_bytes(), Mode::Tolerant) else { return Ok(None) };
    let mut subject = Subject::new(&mut store, Some(&parsed.script), &parsed.notes);
    let verdicts = Court::thorough().judge(&mut subject, std::slice::from_ref(run), panel)?;
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
