//! `osprey bench blame`: two releases of one line that contradict each other, and whom the judge blames.
//!
//! Each item's trigger is run by every installed release of its line. Two pairs are taken per item where there are such:
//! one in which the newer release is wrong and the older right, and one the other way round, both as near to each other as
//! there are. Each pair is judged in both orders, as `-s NEW --reference OLD` and `-s OLD --reference NEW`, with third
//! opinions from other lines and without. The right one must never be accused.

use oracle::{Evidence, Kind};
use solver::run::PartyId;
use solver::{Solver, Solvers};

use super::item::Item;
use super::judged::{self, Conduct, ItemResults, Judged, Settings};
use crate::error::BenchError;
use crate::report::{Cell, Draft, Report, Table};
use crate::watch::Watch;

/// Which of a pair is wrong.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Side {
    Newer,
    Older,
}

impl Side {
    pub const ALL: [Side; 2] = [Side::Newer, Side::Older];

    fn words(self) -> &'static str {
        match self {
            Side::Newer => "the newer is wrong",
            Side::Older => "the older is wrong",
        }
    }
}

/// Whom the judge blames.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Blame {
    /// Only the wrong one is accused.
    Wrong,
    /// Nobody is accused; both are named.
    Disagreement,
    Nobody,
    /// The right one is accused, or a solver that was asked for a third opinion.
    Innocent,
}

/// One judgement of a pair.
#[derive(Clone, Debug)]
pub struct Judgement {
    pub blame: Blame,
    pub rests_on: Option<Evidence>,
    pub reason: String,
}

/// Two releases of which one is wrong, and the judgements on them: both orders with third opinions, both without.
#[derive(Clone, Debug)]
pub struct Pair {
    pub side: Side,
    pub newer: String,
    pub older: String,
    pub judgements: Vec<Judgement>,
}

/// The ways in which a pair is judged: the newer first, and with third opinions.
const WAYS: [(bool, bool); 4] = [(true, true), (false, true), (true, false), (false, false)];

/// Judges pairs of all items.
pub fn run(settings: &Settings, solvers: &Solvers, watch: &dyn Watch) -> Result<Report, BenchError> {
    let mut draft = Draft::new("blame", "Whom we blame when two releases disagree", &settings.command);
    let third = solvers.newest_of_each_line();
    draft.versions = third.iter().map(Solver::name).collect();
    let wanted = |item: &Item| !matches!(item.kind, Kind::Crash | Kind::UnsoundCore);
    let ask = |item: &Item| pairs(item, settings, solvers, &third);
    let ItemResults { results: outcomes, refused, all } = judged::for_all(settings, watch, wanted, ask)?;
    for error in refused {
        draft.skip("item", error.to_string());
    }
    if outcomes.len() < all {
        draft.partial = Some(format!("interrupted after {} of {all} items", outcomes.len()));
    }
    let mut found: Vec<(&Item, &Pair)> = Vec::new();
    for (item, outcome) in &outcomes {
        match outcome {
            Ok(pairs) => found.extend(pairs.iter().map(|pair| (item, pair))),
            Err(error) => draft.skip(&item.id, error.to_string()),
        }
    }
    fill(&mut draft, outcomes.len(), &found);
    Ok(draft.finish())
}

/// An item's pairs, judged.
pub fn pairs(
    item: &Item,
    settings: &Settings,
    solvers: &Solvers,
    third: &[Solver],
) -> Result<Vec<Pair>, BenchError> {
    let failed = |source| BenchError::Run { solver: item.release(), source };
    let text = item.trigger()?;
    let timeout = item.timeout().min(settings.timeout);
    let mut conducts: Vec<(Solver, Conduct)> = Vec::new();
    for solver in line(item, solvers)? {
        let conduct = judged::conduct(item, &text, solver.clone(), timeout).map_err(failed)?;
        conducts.push((solver, conduct));
    }
    let mut pairs = Vec::new();
    for side in Side::ALL {
        let Some((older, newer)) = nearest(&conducts, side) else { continue };
        let mut pair = Pair {
            side,
            newer: newer.name(),
            older: older.name(),
            judgements: Vec::with_capacity(WAYS.len()),
        };
        for (newer_first, asks_third) in WAYS {
            let parties = if newer_first { [newer, older] } else { [older, newer] };
            let wrong = PartyId(u32::from(newer_first != (side == Side::Newer)));
            let third = if asks_third { third } else { &[] };
            let judged =
                judged::judge(&text, parties.map(Clone::clone).to_vec(), third, timeout).map_err(failed)?;
            pair.judgements.push(judgement(&judged, wrong));
        }
        pairs.push(pair);
    }
    Ok(pairs)
}

/// The installed releases of the item's line with its options, the oldest first.
fn line(item: &Item, solvers: &Solvers) -> Result<Vec<Solver>, BenchError> {
    let own = super::release(item, solvers)?;
    let lineage = own.lineage();
    let mut specs: Vec<String> = vec![item.release()];
    for listed in solvers.list(false) {
        let versions = listed.installed.iter().filter_map(|installed| installed.version.as_ref());
        specs.extend(versions.map(|version| format!("{}@{version}", listed.name)));
    }
    specs.sort();
    specs.dedup();
    let mut line = Vec::new();
    for spec in specs {
        let found = solvers.resolve(&spec, &|_, _| {})?;
        line.extend(found.into_iter().filter(|solver| solver.lineage() == lineage));
    }
    // A solver that another one has taken over from is older than all of its releases.
    line.sort_by(|a, b| {
        let age = |solver: &Solver| (solver.release().family == lineage, solver.version().copied());
        age(a).cmp(&age(b))
    });
    line.dedup_by_key(|solver| solver.name());
    Ok(line.into_iter().map(|solver| Solver { options: item.options.clone(), ..solver }).collect())
}

/// The older and the newer of two releases that are near each other, of which one is wrong and the other right.
fn nearest(conducts: &[(Solver, Conduct)], side: Side) -> Option<(&Solver, &Solver)> {
    let (old, new) = match side {
        Side::Newer => (Conduct::Right, Conduct::Wrong),
        Side::Older => (Conduct::Wrong, Conduct::Right),
    };
    let newest = |(place, (newer, conduct)): (usize, &'_ (Solver, Conduct))| {
        let older = conducts[..place].iter().rev().find(|(_, conduct)| *conduct == old);
        older.filter(|_| *conduct == new).map(|(older, _)| (place, older.name(), newer.name()))
    };
    let (place, older, _) = conducts.iter().enumerate().rev().find_map(newest)?;
    let older = conducts.iter().find(|(solver, _)| solver.name() == older)?;
    Some((&older.0, &conducts[place].0))
}

fn judgement(judged: &Judged, wrong: PartyId) -> Judgement {
    let accused: Vec<PartyId> = judged.accused().collect();
    let found = || judged.verdicts.iter().filter(|verdict| verdict.is_finding());
    let blame = if accused.iter().any(|party| *party != wrong) {
        Blame::Innocent
    } else if !accused.is_empty() {
        Blame::Wrong
    } else if found().any(|verdict| verdict.kind == Kind::Disagreement) {
        Blame::Disagreement
    } else {
        Blame::Nobody
    };
    let first = found().find(|verdict| blame != Blame::Innocent || verdict.accused != Some(wrong));
    Judgement {
        blame,
        rests_on: first.and_then(|verdict| verdict.rests_on),
        reason: first.map(|verdict| format!("{}: {}", verdict.kind, verdict.reason)).unwrap_or_default(),
    }
}

fn fill(draft: &mut Draft, items: usize, pairs: &[(&Item, &Pair)]) {
    let count = |side: Side| pairs.iter().filter(|(_, pair)| pair.side == side).count();
    let all = || pairs.iter().flat_map(|(_, pair)| &pair.judgements);
    let innocent = all().filter(|judgement| judgement.blame == Blame::Innocent).count();
    draft.summary.push(format!(
        "Known bugs, {items} items. Of each, two installed releases of its line are taken of which the newer one is wrong \
         and the older right ({} pairs), and two the other way round ({} pairs). The judge is not told who is right. Of {} \
         judgements {innocent} accuse the one that is right.",
        count(Side::Newer),
        count(Side::Older),
        all().count(),
    ));
    let mut table = Table::new(
        "whom the judge blames",
        &["pairs", "order", "third opinions", "the wrong one", "disagreement", "nobody", "the right one"],
    );
    for side in Side::ALL {
        for (way, (newer_first, asks_third)) in WAYS.into_iter().enumerate() {
            let judgements = || {
                let of_side = pairs.iter().filter(|(_, pair)| pair.side == side);
                of_side.filter_map(|(_, pair)| pair.judgements.get(way))
            };
            let all = judgements().count() as u64;
            let with = |blame| Cell::of(judgements().filter(|one| one.blame == blame).count() as u64, all);
            table.row([
                side.words().into(),
                if newer_first { "-s NEW --reference OLD" } else { "-s OLD --reference NEW" }.into(),
                if asks_third { "yes" } else { "no" }.into(),
                with(Blame::Wrong),
                with(Blame::Disagreement),
                with(Blame::Nobody),
                with(Blame::Innocent),
            ]);
        }
    }
    let mut evidence = Table::new("what accusations of wrong answers rest on", &["evidence", "judgements"]);
    for rests_on in Evidence::ALL {
        let judgements =
            all().filter(|one| one.blame == Blame::Wrong && one.rests_on == Some(rests_on)).count();
        evidence.row([rests_on.word().into(), judgements.into()]);
    }
    let mut detail = Table::detail("pairs", &["item", "newer", "older", "wrong", "blamed", "first reason"]);
    for (item, pair) in pairs {
        let blamed: Vec<String> =
            pair.judgements.iter().map(|one| format!("{:?}", one.blame).to_lowercase()).collect();
        let reason = pair.judgements.first().map(|one| one.reason.clone()).unwrap_or_default();
        detail.row([
            item.id.as_str().into(),
            pair.newer.as_str().into(),
            pair.older.as_str().into(),
            pair.side.words().into(),
            blamed.join(" ").into(),
            reason.into(),
        ]);
    }
    draft.tables.extend([table, evidence, detail]);
}
