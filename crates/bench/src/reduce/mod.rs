//! `osprey bench reduce`: Osprey and ddSMT on the same inputs with the same predicate, one core each.
//!
//! Inputs are triggers of known bugs among irrelevant assertions, and inputs of findings. The predicate is one shell
//! script for both tools: the old release answers wrongly (or dies), the reference does not. Sizes are counted alike,
//! whatever the layout.
//!
//! - [`input`]: what is reduced, and the predicate scripts
//! - [`contest`]: one tool on one input

pub mod contest;
pub mod input;

use std::path::PathBuf;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use solver::{Solver, Solvers};

use crate::error::BenchError;
use crate::report::{Cell, Draft, Report, Table};
use crate::watch::Watch;
use contest::{Attempt, Native};
use input::Trial;

/// What is compared on what.
pub struct Settings {
    /// Osprey's own program.
    pub osprey: PathBuf,
    /// ddSMT's program; without it only Osprey is measured.
    pub ddsmt: Option<PathBuf>,
    /// A museum of known bugs.
    pub museum: Option<PathBuf>,
    /// Satisfiable scripts whose assertions are put around the triggers.
    pub padding: Option<PathBuf>,
    /// Bytes of padding for each trigger.
    pub padding_size: usize,
    /// Folders of findings.
    pub findings: Vec<PathBuf>,
    /// Who says what is right.
    pub reference: Solver,
    /// Who checks the script with the witness put in.
    pub second: Solver,
    /// CPU time of one tool on one input.
    pub budget: Duration,
    /// Inputs at most.
    pub count: usize,
    /// The core to run on.
    pub core: Option<usize>,
    /// Inputs at the same time.
    pub jobs: usize,
    /// Where everything is kept.
    pub out: PathBuf,
    pub rng_seed: u64,
    pub command: String,
}

/// One input with what the tools made of it.
struct Row {
    name: String,
    kind: String,
    before: reduce::Size,
    osprey: Attempt,
    ddsmt: Option<Attempt>,
    native: Option<Native>,
}

pub fn run(settings: &Settings, solvers: &Solvers, watch: &dyn Watch) -> Result<Report, BenchError> {
    let mut draft = Draft::new("reduce", "Reduction, next to ddSMT", &settings.command);
    draft.rng_seed = Some(settings.rng_seed);
    draft.versions.push(format!("reference {}", settings.reference.name()));
    if let Some(ddsmt) = &settings.ddsmt {
        draft.versions.push(contest::version(ddsmt));
    }
    let trials = input::trials(settings, solvers, &mut draft, watch)?;
    let next = AtomicUsize::new(0);
    let rows: Mutex<Vec<(usize, Row)>> = Mutex::new(Vec::new());
    let failure: Mutex<Option<BenchError>> = Mutex::new(None);
    let shared = Mutex::new(&mut draft);
    std::thread::scope(|scope| {
        for _ in 0..settings.jobs.max(1) {
            scope.spawn(|| {
                while !watch.stopped() {
                    let number = next.fetch_add(1, Ordering::Relaxed);
                    let Some(trial) = trials.get(number) else { return };
                    watch.progress(number, trials.len(), &trial.name);
                    let done = row(settings, trial).and_then(|row| {
                        let mut rows = rows.lock().unwrap_or_else(PoisonError::into_inner);
                        rows.push((number, row));
                        // What is measured is kept, whatever comes.
                        let mut draft = shared.lock().unwrap_or_else(PoisonError::into_inner);
                        tables(&mut draft, &in_order(&mut rows));
                        draft.write(&settings.out.join("reduce.json"))
                    });
                    if let Err(error) = done {
                        failure.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert(error);
                        return;
                    }
                }
            });
        }
    });
    if let Some(error) = failure.into_inner().unwrap_or_else(PoisonError::into_inner) {
        return Err(error);
    }
    let mut rows = rows.into_inner().unwrap_or_else(PoisonError::into_inner);
    if rows.len() < trials.len() {
        draft.partial = Some(format!("ended after {} of {} inputs", rows.len(), trials.len()));
    }
    let rows = in_order(&mut rows);
    tables(&mut draft, &rows);
    Ok(draft.finish())
}

fn in_order(rows: &mut [(usize, Row)]) -> Vec<&Row> {
    rows.sort_by_key(|(number, _)| *number);
    rows.iter().map(|(_, row)| row).collect()
}

fn row(settings: &Settings, trial: &Trial) -> Result<Row, BenchError> {
    let osprey = contest::osprey(settings, trial)?;
    let ddsmt = match &settings.ddsmt {
        Some(program) => Some(contest::ddsmt(settings, program, trial)?),
        None => None,
    };
    let native = contest::native(settings, trial)?;
    Ok(Row { name: trial.name.clone(), kind: trial.kind.clone(), before: trial.size, osprey, ddsmt, native })
}

fn tables(draft: &mut Draft, rows: &[&Row]) {
    let mut table = Table::new("Reduction with one predicate script", &["", "Osprey", "ddSMT"]);
    let peers: Vec<&Attempt> = rows.iter().filter_map(|row| row.ddsmt.as_ref()).collect();
    let own: Vec<&Attempt> = rows.iter().map(|row| &row.osprey).collect();
    let success =
        |all: &[&Attempt]| Cell::of(all.iter().filter(|one| one.success).count() as u64, all.len() as u64);
    table.row(["inputs reduced, bug still there".into(), success(&own), success(&peers)]);
    let middle = |all: &[&Attempt], of: fn(&Attempt) -> f64| median(all.iter().map(|one| of(one)).collect());
    let line = |table: &mut Table, name: &str, of: fn(&Attempt) -> f64| {
        table.row([name.into(), middle(&own, of).into(), middle(&peers, of).into()]);
    };
    line(&mut table, "median size, expressions", |one| one.size.nodes as f64);
    line(&mut table, "median size, bytes", |one| one.size.bytes as f64);
    line(&mut table, "median CPU seconds", |one| one.cpu.as_secs_f64());
    let total =
        |all: &[&Attempt]| (all.iter().map(|one| one.cpu.as_secs_f64()).sum::<f64>() * 10.0).round() / 10.0;
    table.row(["all CPU seconds".into(), total(&own).into(), total(&peers).into()]);
    table.row(["stopped at the limit".into(), ended(&own), ended(&peers)]);
    let (ours, theirs) = (total(&own), total(&peers));
    table.row(["CPU time, ddSMT to Osprey".into(), Cell::None, Cell::ratio(theirs, ours)]);
    let mut large: Vec<&Row> = rows.iter().copied().filter(|row| row.ddsmt.is_some()).collect();
    large.sort_by_key(|row| std::cmp::Reverse(row.before));
    large.truncate(20);
    let near = large.iter().filter(|row| {
        let theirs = row.ddsmt.as_ref().filter(|one| one.success).map_or(usize::MAX, |one| one.size.nodes);
        let ours = row.osprey.size.nodes;
        row.osprey.success && ours as f64 <= ours.min(theirs) as f64 * 1.1
    });
    let near = near.count() as u64;
    table.row([
        "of the largest inputs, within 10 % of the smallest".into(),
        Cell::of(near, large.len() as u64),
        Cell::None,
    ]);
    let mut tables = vec![table];

    let natives: Vec<&Native> = rows.iter().filter_map(|row| row.native.as_ref()).collect();
    if !natives.is_empty() {
        let mut table = Table::new("Wrong refutations reduced with their witness", &["", "Osprey"]);
        let of = |part: usize| Cell::of(part as u64, natives.len() as u64);
        let count = |test: fn(&Native) -> bool| natives.iter().filter(|one| test(one)).count();
        table.row(["the wrong answer is still there".into(), of(count(|one| one.attempt.success))]);
        let proven = natives.iter().filter(|one| one.witness).count() as u64;
        let confirmed = count(|one| one.confirmed == Some(true)) as u64;
        let refuted = count(|one| one.confirmed == Some(false)) as u64;
        table.row(["with a witness that satisfies the result by our evaluator".into(), of(proven as usize)]);
        table.row([
            "the second solver says sat to the script with it put in".into(),
            Cell::of(confirmed, proven),
        ]);
        table.row(["the second solver says unsat".into(), Cell::of(refuted, proven)]);
        let all: Vec<&Attempt> = natives.iter().map(|one| &one.attempt).collect();
        table.row(["median size, expressions".into(), middle(&all, |one| one.size.nodes as f64).into()]);
        table.row(["median CPU seconds".into(), middle(&all, |one| one.cpu.as_secs_f64()).into()]);
        tables.push(table);
    }

    let mut detail = Table::detail(
        "Inputs",
        &[
            "input",
            "kind",
            "expressions",
            "Osprey",
            "ddSMT",
            "Osprey bytes",
            "ddSMT bytes",
            "Osprey CPU s",
            "ddSMT CPU s",
            "Osprey done",
            "ddSMT done",
            "with witness",
            "with witness CPU s",
            "second solver",
        ],
    );
    for row in rows {
        let peer = row.ddsmt.as_ref();
        let native = row.native.as_ref();
        let done = |one: &Attempt| match (one.success, one.finished) {
            (true, true) => "yes",
            (true, false) => "at the limit",
            (false, _) => "no",
        };
        detail.row([
            row.name.as_str().into(),
            row.kind.as_str().into(),
            row.before.nodes.into(),
            row.osprey.size.nodes.into(),
            peer.map(|one| one.size.nodes).into(),
            row.osprey.size.bytes.into(),
            peer.map(|one| one.size.bytes).into(),
            seconds(&row.osprey).into(),
            peer.map(seconds).into(),
            done(&row.osprey).into(),
            peer.map(done).into(),
            native.map(|one| one.attempt.size.nodes).into(),
            native.map(|one| seconds(&one.attempt)).into(),
            native
                .map(|one| match one.confirmed {
                    Some(true) => "sat",
                    Some(false) => "unsat",
                    None => "no answer",
                })
                .into(),
        ]);
    }
    tables.push(detail);
    draft.tables = tables;
}

fn seconds(attempt: &Attempt) -> f64 {
    (attempt.cpu.as_secs_f64() * 10.0).round() / 10.0
}

fn ended(all: &[&Attempt]) -> Cell {
    (all.iter().filter(|one| !one.finished).count() as u64).into()
}

fn median(mut values: Vec<f64>) -> Option<f64> {
    values.sort_by(f64::total_cmp);
    let middle = values.len() / 2;
    match values.len() {
        0 => None,
        odd if odd % 2 == 1 => Some(values[middle]),
        _ => Some((values[middle - 1] + values[middle]) / 2.0),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_median_is_the_middle_or_between_the_two_in_the_middle() {
        assert_eq!(median(vec![3.0, 1.0, 2.0]), Some(2.0));
        assert_eq!(median(vec![4.0, 1.0, 2.0, 3.0]), Some(2.5));
        assert_eq!(median(Vec::new()), None);
    }
}
