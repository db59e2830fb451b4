//! What came of the hunts, in tables.

use std::collections::{BTreeMap, BTreeSet};

use super::hunt::Hunt;
use super::{ItemResult, Settings};
use crate::report::{Cell, Report, Table};

/// Adds everything about the outcomes to a report. `names` are the engines and peers in order.
pub fn fill(report: &mut Report, settings: &Settings, names: &[String], outcomes: &[ItemResult]) {
    let hunted: Vec<&ItemResult> = outcomes.iter().filter(|outcome| outcome.unusable.is_none()).collect();
    for outcome in outcomes {
        if let Some(why) = &outcome.unusable {
            report.skip(&outcome.item.id, why);
        }
    }
    let releases: BTreeSet<String> = hunted.iter().map(|outcome| outcome.item.release()).collect();
    report.versions.extend(releases);
    if settings.clean {
        false_alarms(report, names, &hunted);
        return;
    }
    let ours: Vec<&str> = names
        .iter()
        .map(String::as_str)
        .filter(|name| settings.peers.iter().all(|peer| peer.name != *name))
        .collect();
    report.summary.push(summary(settings, outcomes, &hunted, &ours));
    report.tables.push(grouped("by kind", "kind", names, &ours, &hunted, |outcome| {
        outcome.item.kind.word().to_owned()
    }));
    report
        .tables
        .push(grouped("by theory", "theory", names, &ours, &hunted, |outcome| outcome.item.theory.clone()));
    report
        .tables
        .push(grouped("by release", "release", names, &ours, &hunted, |outcome| outcome.item.release()));
    report.tables.push(effort(names, &hunted));
    report.tables.push(alone(&ours, &hunted));
    if hunted.iter().any(|outcome| !outcome.from_seed.is_empty()) {
        report.tables.push(from_seeds(&ours, &hunted));
    }
    report.tables.push(missed(&ours, &hunted));
    report.tables.push(everything(names, &hunted));
    if settings.any {
        report.notes.push(
            "An item was left when one engine had found its bug: later engines were tried on what is left."
                .to_owned(),
        );
    }
    let accused: u64 = hunted.iter().map(|outcome| outcome.references_accused).sum();
    report.notes.push(format!("Accusations of a newest release on the way: {accused}."));
}

fn summary(settings: &Settings, outcomes: &[ItemResult], hunted: &[&ItemResult], ours: &[&str]) -> String {
    let reproducing = outcomes.iter().filter(|outcome| outcome.reproduces).count();
    let found = hunted.iter().filter(|outcome| by_any(outcome, ours)).count();
    format!(
        "{} items, of which {reproducing} show their bug here; {found} of {} are found again by some engine within {} \
         mutants each ({} run{}): a different formula, the same kind of misbehaviour on the same release with the \
         same options, confirmed by a fresh start, the newest release clean.",
        outcomes.len(),
        hunted.len(),
        settings.mutants,
        settings.runs.max(1),
        if settings.runs > 1 { "s" } else { "" },
    )
}

fn by_any(outcome: &ItemResult, ours: &[&str]) -> bool {
    ours.iter().any(|name| outcome.found_by(name))
}

/// Found of all, in groups, with a row for everything.
fn grouped(
    title: &str,
    what: &str,
    names: &[String],
    ours: &[&str],
    hunted: &[&ItemResult],
    key: impl Fn(&ItemResult) -> String,
) -> Table {
    let mut groups: BTreeMap<String, Vec<&ItemResult>> = BTreeMap::new();
    for outcome in hunted {
        groups.entry(key(outcome)).or_default().push(outcome);
    }
    let mut columns = vec![what, "some engine"];
    columns.extend(names.iter().map(String::as_str));
    let mut table = Table::new(&format!("Found again, {title}"), &columns);
    let mut row = |name: &str, members: &[&ItemResult]| {
        let count = |tried: &dyn Fn(&ItemResult) -> bool, found: &dyn Fn(&ItemResult) -> bool| {
            let tried: Vec<&&ItemResult> = members.iter().filter(|outcome| tried(outcome)).collect();
            let found = tried.iter().filter(|outcome| found(outcome)).count();
            Cell::of(found as u64, tried.len() as u64)
        };
        let mut cells = vec![name.into(), count(&|_| true, &|outcome| by_any(outcome, ours))];
        cells.extend(names.iter().map(|engine| {
            count(&|outcome| outcome.hunts.contains_key(engine), &|outcome| outcome.found_by(engine))
        }));
        table.rows.push(cells);
    };
    for (name, members) in &groups {
        row(name, members);
    }
    row("all", hunted);
    table
}

/// What hits cost.
fn effort(names: &[String], hunted: &[&ItemResult]) -> Table {
    let mut table = Table::new(
        "Runs of the old release to the first hit",
        &["engine", "found", "median", "at most", "mutants in all", "runs in all"],
    );
    for name in names {
        let hunts: Vec<&Hunt> = hunted.iter().filter_map(|outcome| outcome.hunts.get(name)).collect();
        let mut calls: Vec<u64> = hunts.iter().filter_map(|hunt| hunt.hit).collect();
        calls.sort_unstable();
        table.row([
            name.as_str().into(),
            calls.len().into(),
            calls.get(calls.len() / 2).copied().into(),
            calls.last().copied().into(),
            hunts.iter().map(|hunt| hunt.mutants).sum::<u64>().into(),
            hunts.iter().map(|hunt| hunt.calls).sum::<u64>().into(),
        ]);
    }
    table
}

/// Bugs that only one of our engines finds.
fn alone(ours: &[&str], hunted: &[&ItemResult]) -> Table {
    let mut table = Table::new("Found by one engine only", &["engine", "bugs", "which"]);
    for name in ours {
        let only: Vec<&str> = hunted
            .iter()
            .filter(|outcome| {
                outcome.found_by(name) && ours.iter().filter(|other| outcome.found_by(other)).count() == 1
            })
            .map(|outcome| outcome.item.id.as_str())
            .collect();
        table.row([(*name).into(), only.len().into(), only.join(", ").into()]);
    }
    table
}

fn from_seeds(ours: &[&str], hunted: &[&ItemResult]) -> Table {
    let with_seed: Vec<&&ItemResult> =
        hunted.iter().filter(|outcome| !outcome.from_seed.is_empty()).collect();
    let mut columns = vec!["item"];
    columns.extend(ours);
    let mut table =
        Table::new("Found from the formula that a fuzzer started from: runs to the first hit", &columns);
    for outcome in &with_seed {
        let mut cells: Vec<Cell> = vec![outcome.item.id.as_str().into()];
        cells.extend(ours.iter().map(|name| came_of(outcome.from_seed.get(*name))));
        table.rows.push(cells);
    }
    let mut found: Vec<Cell> = vec!["found".into()];
    found.extend(ours.iter().map(|name| {
        let hit =
            |outcome: &&&&ItemResult| outcome.from_seed.get(*name).is_some_and(|hunt| hunt.hit.is_some());
        Cell::of(with_seed.iter().filter(hit).count() as u64, with_seed.len() as u64)
    }));
    table.rows.push(found);
    table
}

/// What no engine of ours finds, and why.
fn missed(ours: &[&str], hunted: &[&ItemResult]) -> Table {
    let mut table = Table::new("Missed", &["item", "kind", "theory", "why"]);
    for outcome in hunted.iter().filter(|outcome| !by_any(outcome, ours)) {
        let mut reasons: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
        for name in ours {
            if let Some(hunt) = outcome.hunts.get(*name) {
                reasons.entry(&hunt.why).or_default().push(name);
            }
        }
        let why: Vec<String> =
            reasons.iter().map(|(why, engines)| format!("{why} ({})", engines.join(", "))).collect();
        table.row([
            outcome.item.id.as_str().into(),
            outcome.item.kind.word().into(),
            outcome.item.theory.as_str().into(),
            why.join("; ").into(),
        ]);
    }
    table
}

/// Every item with every engine: the runs to the first hit.
fn everything(names: &[String], hunted: &[&ItemResult]) -> Table {
    let mut columns = vec!["item", "kind", "theory"];
    columns.extend(names.iter().map(String::as_str));
    let mut table = Table::detail("Runs to the first hit, by item", &columns);
    for outcome in hunted {
        let mut cells: Vec<Cell> = vec![
            outcome.item.id.as_str().into(),
            outcome.item.kind.word().into(),
            outcome.item.theory.as_str().into(),
        ];
        cells.extend(names.iter().map(|name| came_of(outcome.hunts.get(name))));
        table.rows.push(cells);
    }
    table
}

/// The runs to the first hit, or why there is none.
fn came_of(hunt: Option<&Hunt>) -> Cell {
    match hunt {
        Some(Hunt { hit: Some(calls), .. }) => (*calls).into(),
        Some(hunt) => hunt.why.as_str().into(),
        None => Cell::None,
    }
}

/// With the newest release in the place of the old one, every hit is a false alarm, or a bug nobody knows.
fn false_alarms(report: &mut Report, names: &[String], hunted: &[&ItemResult]) {
    let mut table = Table::new("", &["engine", "mutants", "runs", "alarms"]);
    let (mut mutants, mut alarms) = (0, 0);
    for name in names {
        let hunts: Vec<&Hunt> = hunted.iter().filter_map(|outcome| outcome.hunts.get(name)).collect();
        let made: u64 = hunts.iter().map(|hunt| hunt.mutants).sum();
        let wrong = hunts.iter().filter(|hunt| hunt.hit.is_some()).count() as u64;
        (mutants, alarms) = (mutants + made, alarms + wrong);
        let runs: u64 = hunts.iter().map(|hunt| hunt.calls).sum();
        table.row([name.as_str().into(), made.into(), runs.into(), wrong.into()]);
    }
    table.row(["all".into(), mutants.into(), Cell::None, alarms.into()]);
    report.summary.push(format!(
        "The same hunts on {} items with the newest release in the place of the old one: {alarms} alarms in {mutants} \
         mutants.",
        hunted.len(),
    ));
    report.tables.push(table);
    let mut which = Table::detail("Alarms", &["item", "engine", "formula"]);
    for outcome in hunted {
        for (name, hunt) in outcome.hunts.iter().filter(|(_, hunt)| hunt.hit.is_some()) {
            which.row([outcome.item.id.as_str().into(), name.as_str().into(), hunt.text.clone().into()]);
        }
    }
    report.tables.push(which);
}
