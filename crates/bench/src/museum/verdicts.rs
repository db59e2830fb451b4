//! `osprey bench verdicts`: does the judge say of known bugs what is on record?
//!
//! Each item's trigger is run by its release with its options, beside the newest releases, and judged as `osprey check`
//! judges. The recorded verdict is reached if the item's release is accused of the recorded kind.

use std::collections::BTreeMap;

use oracle::{Evidence, Kind};
use solver::run::PartyId;
use solver::{Solver, Solvers};

use super::item::Item;
use super::judged::{self, ItemResults, Judged, Settings};
use crate::error::BenchError;
use crate::report::{Cell, Draft, Report, Table};
use crate::watch::Watch;

/// What came of one item.
struct Reached {
    reached: bool,
    /// Somebody else than the item's release is accused.
    others: Vec<String>,
    rests_on: Option<Evidence>,
    /// What was said instead, or why nothing was.
    words: String,
}

/// Judges all items.
pub fn run(
    settings: &Settings,
    solvers: &Solvers,
    references: &[Solver],
    watch: &dyn Watch,
) -> Result<Report, BenchError> {
    let mut draft = Draft::new("verdicts", "Verdicts on known bugs", &settings.command);
    draft.versions = references.iter().map(Solver::name).collect();
    let third = solvers.newest_of_each_line();
    let ask = |item: &Item| one(item, settings, solvers, references, &third);
    let ItemResults { results: outcomes, refused, all } = judged::for_all(settings, watch, |_| true, ask)?;
    for error in refused {
        draft.skip("item", error.to_string());
    }
    if outcomes.len() < all {
        draft.partial = Some(format!("interrupted after {} of {all} items", outcomes.len()));
    }
    let mut kinds: BTreeMap<Kind, (u64, u64)> = BTreeMap::new();
    let mut evidence: BTreeMap<Evidence, u64> = BTreeMap::new();
    let mut missed = Table::detail("items judged otherwise", &["item", "recorded", "verdicts"]);
    let mut accused = Table::new("others accused", &["item", "who"]);
    for (item, outcome) in &outcomes {
        let outcome = match outcome {
            Ok(outcome) => outcome,
            Err(error) => {
                draft.skip(&item.id, error.to_string());
                continue;
            }
        };
        let count = kinds.entry(item.kind).or_default();
        count.0 += u64::from(outcome.reached);
        count.1 += 1;
        if let Some(rests_on) = outcome.rests_on {
            *evidence.entry(rests_on).or_default() += 1;
        }
        if !outcome.reached {
            missed.row([item.id.as_str().into(), item.kind.word().into(), outcome.words.as_str().into()]);
        }
        for who in &outcome.others {
            accused.row([item.id.as_str().into(), who.as_str().into()]);
        }
    }
    let sum = kinds.values().fold((0, 0), |sum, count| (sum.0 + count.0, sum.1 + count.1));
    let beside = draft.versions.join(" and ");
    draft.summary.push(format!(
        "Known bugs of old releases, {} items, each run with its solver, version and options beside {beside}, and judged as \
         `osprey check` judges. {} of them are judged as recorded.",
        sum.1,
        sum.0
    ));
    let mut by_kind = Table::new("", &["kind", "recorded verdict reached"]);
    for (kind, (reached, of)) in kinds {
        by_kind.row([kind.word().into(), Cell::of(reached, of)]);
    }
    let mut by_evidence = Table::new("what verdicts on wrong answers rest on", &["evidence", "items"]);
    for (rests_on, count) in evidence {
        by_evidence.row([rests_on.word().into(), count.into()]);
    }
    draft.tables.extend([by_kind, by_evidence]);
    draft.tables.extend([accused, missed].into_iter().filter(|table| !table.rows.is_empty()));
    Ok(draft.finish())
}

fn one(
    item: &Item,
    settings: &Settings,
    solvers: &Solvers,
    references: &[Solver],
    third: &[Solver],
) -> Result<Reached, BenchError> {
    let own = super::release(item, solvers)?;
    let own = Solver { options: item.options.clone(), ..own };
    let everybody: Vec<Solver> = std::iter::once(own).chain(references.iter().cloned()).collect();
    let timeout = item.timeout().min(settings.timeout);
    let judged = judged::judge(&item.trigger()?, everybody, third, timeout)
        .map_err(|source| BenchError::Run { solver: item.release(), source })?;
    Ok(outcome(item, &judged))
}

fn outcome(item: &Item, judged: &Judged) -> Reached {
    let own = PartyId(0);
    let found = || judged.verdicts.iter().filter(|verdict| verdict.is_finding());
    let same = found().find(|verdict| verdict.kind == item.kind && verdict.accused == Some(own));
    let others = found().filter(|verdict| verdict.accused.is_some_and(|accused| accused != own));
    let words: Vec<String> = judged
        .verdicts
        .iter()
        .map(|verdict| {
            let standing = if verdict.is_finding() { "" } else { " (does not count)" };
            format!("{}{standing}: {}", verdict.kind, verdict.reason)
        })
        .collect();
    Reached {
        reached: same.is_some(),
        others: others.map(|verdict| format!("{}: {}", verdict.solver, verdict.kind)).collect(),
        rests_on: same.and_then(|verdict| verdict.rests_on),
        words: if words.is_empty() { "nothing wrong".to_owned() } else { words.join("; ") },
    }
}
