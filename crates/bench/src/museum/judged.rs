//! Texts through parties and oracles, as `osprey check` puts them through: what the benchmarks of verdicts have in common.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use oracle::opinions::first_runs;
use oracle::subject::ModelValue;
use oracle::{Asking, Judge, Subject, Verdict};
use smtlib::{Mode, Status, Store};
use solver::Solver;
use solver::limits::Limits;
use solver::run::{Configuration, PartyId, Purpose, Run, RunError, RunRules, Runner as _, SolverRunners};

use super::item::{self, Item};
use crate::error::BenchError;
use crate::watch::Watch;

/// Memory of one run, in bytes.
const MEMORY: u64 = 4 << 30;

/// Which items are judged, and how.
pub struct Settings {
    pub folder: PathBuf,
    /// Only items that pass all of these.
    pub filters: Vec<String>,
    /// Time of one run at most.
    pub timeout: Duration,
    pub jobs: usize,
    pub command: String,
}

/// Verdicts on a text; parties have the numbers of their places.
pub struct Judged {
    pub runs: Vec<Run>,
    pub verdicts: Vec<Verdict>,
}

impl Judged {
    /// Parties that are accused of something that counts.
    pub fn accused(&self) -> impl Iterator<Item = PartyId> {
        self.verdicts.iter().filter(|verdict| verdict.is_finding()).filter_map(|verdict| verdict.accused)
    }
}

/// Judges a text. `third_opinions` are asked where the solvers contradict each other. Without confirmation: what is looked
/// at is whom the judge blames.
pub fn judge(
    text: &str,
    solvers: Vec<Solver>,
    third_opinions: &[Solver],
    timeout: Duration,
) -> Result<Judged, RunError> {
    let limits = Limits { memory: Some(MEMORY), ..Limits::wall(timeout) };
    let everybody = Configuration::numbered(solvers).into_iter().map(Arc::new).collect();
    let runners = SolverRunners::new(everybody, RunRules::with_limits(limits))
        .with_third_opinions(third_opinions.iter().cloned());
    let mut runner = runners.start()?;
    let mut runs = first_runs(&mut runner, text.as_bytes())?;
    let mut store = Store::new();
    let parsed = smtlib::parse(&mut store, text.as_bytes(), Mode::Tolerant).ok();
    let script = parsed.as_ref().map(|parsed| &parsed.script);
    let notes = parsed.as_ref().map(|parsed| parsed.notes.as_slice()).unwrap_or_default();
    let mut subject = Subject::new(&mut store, script, notes);
    subject.ask_for_models = true;
    let mut asking = Asking::new(&mut runner, Purpose::FollowUp);
    let judge = Judge::thorough();
    judge.follow_up(&mut subject, &mut runs, &mut asking)?;
    let verdicts = judge.judge(&mut subject, &runs, &mut asking)?;
    Ok(Judged { runs, verdicts })
}

/// What a release does with an item's trigger.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Conduct {
    /// It answers what is expected, and nothing is wrong with its models.
    Right,
    /// An answer or a model is wrong.
    Wrong,
    /// No answer that could be compared, or it does not know the options.
    Neither,
}

/// Runs a release on an item's trigger and compares with what the item expects.
pub fn conduct(item: &Item, text: &str, solver: Solver, timeout: Duration) -> Result<Conduct, RunError> {
    let limits = Limits { memory: Some(MEMORY), ..Limits::wall(timeout) };
    let runners = SolverRunners::new(
        vec![Arc::new(Configuration::new(PartyId(0), solver))],
        RunRules::with_limits(limits),
    );
    let mut runner = runners.start()?;
    let run = runner.run_all(text.as_bytes(), Purpose::Test)?.remove(0);
    if !run.answers.failed_checks.is_empty() || run.answers.crash().is_some() {
        return Ok(Conduct::Wrong);
    }
    let mut store = Store::new();
    let parsed = smtlib::parse(&mut store, text.as_bytes(), Mode::Tolerant).ok();
    let script = parsed.as_ref().map(|parsed| &parsed.script);
    let mut subject = Subject::new(&mut store, script, &[]);
    let mut asking = Asking::new(&mut runner, Purpose::FollowUp);
    let mut conduct = Conduct::Neither;
    for answer in &run.answers.checks {
        let (Some(said), Some(right)) = (run.status(answer.check), item.expected_at(answer.check)) else {
            continue;
        };
        if said != right {
            return Ok(Conduct::Wrong);
        }
        conduct = Conduct::Right;
        if said == Status::Sat {
            let found = subject.model_check(&run, answer.check, true, &mut asking)?;
            if found.is_some_and(|found| matches!(found.value, ModelValue::False(..))) {
                return Ok(Conduct::Wrong);
            }
        }
    }
    Ok(conduct)
}

/// What a question to all items of a museum came to.
pub struct ItemResults<T> {
    /// In the items' order.
    pub results: Vec<(Item, T)>,
    /// What could not be read.
    pub refused: Vec<BenchError>,
    /// How many items there are.
    pub all: usize,
}

/// Puts a question to all items that pass the filters, several at a time.
pub fn for_all<T: Send>(
    settings: &Settings,
    watch: &dyn Watch,
    wanted: impl Fn(&Item) -> bool,
    ask: impl Fn(&Item) -> T + Sync,
) -> Result<ItemResults<T>, BenchError> {
    let (items, refused) = item::collect(&settings.folder)?;
    let passes = |item: &Item| settings.filters.iter().all(|filter| item.passes(filter)) && wanted(item);
    let items: Vec<Item> = items.into_iter().filter(passes).collect();
    if items.is_empty() {
        return Err(BenchError::Usage("no item of the museum passes the filters".to_owned()));
    }
    let next = AtomicUsize::new(0);
    let done = Mutex::new(BTreeMap::new());
    std::thread::scope(|scope| {
        for _ in 0..settings.jobs.clamp(1, items.len()) {
            scope.spawn(|| {
                loop {
                    let number = next.fetch_add(1, Ordering::Relaxed);
                    let Some(item) = items.get(number).filter(|_| !watch.stopped()) else { return };
                    watch.progress(number, items.len(), &item.id);
                    let result = ask(item);
                    if !watch.stopped() {
                        done.lock().unwrap_or_else(PoisonError::into_inner).insert(number, result);
                    }
                }
            });
        }
    });
    let all = items.len();
    let mut done = done.into_inner().unwrap_or_else(PoisonError::into_inner);
    let results = items.into_iter().enumerate();
    let results = results.filter_map(|(number, item)| Some((item, done.remove(&number)?))).collect();
    Ok(ItemResults { results, refused, all })
}
