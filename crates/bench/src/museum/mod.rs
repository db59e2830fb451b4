//! `osprey bench museum`: which engines find known bugs again.
//!
//! For every item of a museum: does it still show its bug on its release, and which engines find the bug again from the
//! trigger, that is, make a different formula on which the same release misbehaves in the same way while the newest
//! release of the line is clean.
//!
//! - [`item`]: items on disk; [`reproduce`]: do they still show their bugs
//! - [`judge`]: is a formula the bug again; [`hunt`]: an engine's mutants until it is; [`peer`]: mutants of others
//! - [`judged`], [`verdicts`], [`blame`]: what the judge says of known bugs, and whom it blames
//! - [`tables`]: the results by kind, theory and engine

pub mod blame;
pub mod groups;
pub mod hunt;
pub mod item;
pub mod judge;
pub mod judged;
pub mod peer;
pub mod reproduce;
pub mod tables;
pub mod verdicts;

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Mutex;
use std::sync::PoisonError;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use campaign::Target;
use engines::Engine;
use solver::{Solver, Solvers};

use crate::error::BenchError;
use crate::report::{Draft, Report};
use crate::watch::Watch;
use hunt::{Bounds, Hunt, Hunter, Reach};
use item::Item;
use judge::BugTest;
use peer::Mutator;

/// A run of the release gets this much more than the trigger took, and at least [`SHORTEST`].
const SLACK: u32 = 4;
const SHORTEST: Duration = Duration::from_millis(500);
const LONGEST: Duration = Duration::from_secs(10);

/// What to hunt, with what.
pub struct Settings {
    pub folder: PathBuf,
    /// Only items that pass all of these.
    pub filters: Vec<String>,
    /// Only wrong answers and wrong models that references confirm.
    pub proven: bool,
    pub peers: Vec<Mutator>,
    pub mutants: u64,
    pub runs: u64,
    /// Leave an item when one engine has found its bug.
    pub any: bool,
    /// Put the newest release of the line in the place of the old one: every hit is a false alarm.
    pub clean: bool,
    /// Time for one engine on one item.
    pub item_time: Duration,
    pub rng_seed: u64,
    pub jobs: usize,
    pub command: String,
}

/// What came of one item.
#[derive(Clone, Debug)]
pub struct ItemResult {
    pub item: Item,
    /// Why it was not hunted, if it was not.
    pub unusable: Option<String>,
    pub reproduces: bool,
    /// By engine or peer: the best of all runs.
    pub hunts: BTreeMap<String, Hunt>,
    /// The same from `seed.smt2`, where there is one.
    pub from_seed: BTreeMap<String, Hunt>,
    /// Accusations of newest releases.
    pub references_accused: u64,
}

impl ItemResult {
    fn unusable(item: &Item, why: impl Into<String>) -> ItemResult {
        ItemResult {
            item: item.clone(),
            unusable: Some(why.into()),
            reproduces: false,
            hunts: BTreeMap::new(),
            from_seed: BTreeMap::new(),
            references_accused: 0,
        }
    }

    pub fn found(&self) -> bool {
        self.hunts.values().any(|hunt| hunt.hit.is_some())
    }

    pub fn found_by(&self, name: &str) -> bool {
        self.hunts.get(name).is_some_and(|hunt| hunt.hit.is_some())
    }
}

/// Runs the benchmark.
pub fn run(
    settings: &Settings,
    solvers: &Solvers,
    references: &[Solver],
    engines: &[Box<dyn Engine>],
    watch: &dyn Watch,
) -> Result<Report, BenchError> {
    let title = if settings.clean { "False alarms on newest releases" } else { "Known bugs found again" };
    let mut draft = Draft::new("museum", title, &settings.command);
    draft.rng_seed = Some(settings.rng_seed);
    draft.versions = references.iter().map(Solver::name).collect();
    let (outcomes, refused, all) = outcomes(settings, solvers, references, engines, watch)?;
    for error in refused {
        draft.skip("item", error.to_string());
    }
    if outcomes.len() < all {
        draft.partial = Some(format!("interrupted after {} of {all} items", outcomes.len()));
    }
    let mut names: Vec<String> = engines.iter().map(|engine| engine.name().to_owned()).collect();
    names.extend(settings.peers.iter().map(|peer| peer.name.clone()));
    tables::fill(&mut draft, settings, &names, &outcomes);
    Ok(draft.finish())
}

/// The outcomes of all items in order, what could not be read, and how many items there are.
pub fn outcomes(
    settings: &Settings,
    solvers: &Solvers,
    references: &[Solver],
    engines: &[Box<dyn Engine>],
    watch: &dyn Watch,
) -> Result<(Vec<ItemResult>, Vec<BenchError>, usize), BenchError> {
    let (items, refused) = item::collect(&settings.folder)?;
    let items: Vec<Item> = items
        .into_iter()
        .filter(|item| settings.filters.iter().all(|filter| item.passes(filter)))
        .filter(|item| !settings.proven || item.is_proven())
        .collect();
    if items.is_empty() {
        return Err(BenchError::Usage("no item of the museum passes the filters".to_owned()));
    }
    let next = AtomicUsize::new(0);
    let done = Mutex::new(BTreeMap::new());
    // Installing happens once for each release, before the workers start.
    let releases = releases(&items, settings, solvers, references, watch);
    std::thread::scope(|scope| {
        for _ in 0..settings.jobs.clamp(1, items.len()) {
            scope.spawn(|| {
                loop {
                    let number = next.fetch_add(1, Ordering::Relaxed);
                    let Some(item) = items.get(number).filter(|_| !watch.stopped()) else { return };
                    watch.progress(number, items.len(), &item.id);
                    let outcome = match releases.get(&item.release()) {
                        Some(Ok(own)) => one(item, own, settings, references, engines, watch)
                            .unwrap_or_else(|error| ItemResult::unusable(item, error.to_string())),
                        Some(Err(why)) => ItemResult::unusable(item, why.clone()),
                        None => return,
                    };
                    if !watch.stopped() {
                        done.lock().unwrap_or_else(PoisonError::into_inner).insert(number, outcome);
                    }
                }
            });
        }
    });
    let done = done.into_inner().unwrap_or_else(PoisonError::into_inner);
    Ok((done.into_values().collect(), refused, items.len()))
}

/// The releases of the items, installed where need be.
fn releases(
    items: &[Item],
    settings: &Settings,
    solvers: &Solvers,
    references: &[Solver],
    watch: &dyn Watch,
) -> BTreeMap<String, Result<Solver, String>> {
    let mut releases = BTreeMap::new();
    for item in items {
        if watch.stopped() || releases.contains_key(&item.release()) {
            continue;
        }
        let found = if settings.clean {
            let own = if item.solver == "cvc4" { "cvc5" } else { &item.solver };
            let newest = references.iter().find(|solver| solver.installed.name == own);
            newest.cloned().ok_or_else(|| format!("no reference is a release of {own}"))
        } else {
            release(item, solvers).map_err(|error| error.to_string())
        };
        releases.insert(item.release(), found);
    }
    releases
}

/// The release of an item, installed if need be.
pub fn release(item: &Item, solvers: &Solvers) -> Result<Solver, BenchError> {
    let found = solvers.resolve(&item.release(), &|_, _| {})?;
    found.into_iter().next().ok_or_else(|| BenchError::Usage(format!("there is no {}", item.release())))
}

/// Hunts one item.
fn one(
    item: &Item,
    own: &Solver,
    settings: &Settings,
    references: &[Solver],
    engines: &[Box<dyn Engine>],
    watch: &dyn Watch,
) -> Result<ItemResult, BenchError> {
    // In the place of an old release a new one may not know the item's options.
    let mut item = item.clone();
    if settings.clean {
        item.options.clear();
    }
    let item = &item;
    let trigger = item.trigger()?;
    let began = std::time::Instant::now();
    let reproduces = settings.clean || reproduce::reproduce(item, own, references)?.reproduces;
    let timeout = (began.elapsed() * SLACK).clamp(SHORTEST, LONGEST);
    let mut outcome = ItemResult { unusable: None, reproduces, ..ItemResult::unusable(item, "") };
    if !reproduces {
        outcome.unusable = Some("it does not show its bug here".to_owned());
        return Ok(outcome);
    }
    let mut test = BugTest::new(item, own, references, timeout)?;
    if settings.clean {
        test.any_kind();
    }
    // Engines' questions go to releases without the bug.
    let advisers = Target::numbered(references.iter().cloned());
    let targets = [Target::new(0, test.target().solver.clone())];
    let seed = item.seed();
    let mut hunter = Hunter::new(item, &mut test, &targets, &advisers, settings.rng_seed);
    if let Err(why) = hunter.exclude(&[trigger.as_str()]) {
        outcome.unusable = Some(why);
        return Ok(outcome);
    }
    let near = Bounds { mutants: settings.mutants, time: settings.item_time, reach: Reach::NEAR };
    let starts = [Some((&trigger, false)), seed.as_ref().map(|seed| (seed, true))];
    for (start, is_seed) in starts.into_iter().flatten() {
        let bounds = if is_seed { Bounds { reach: Reach::FAR, ..near } } else { near };
        for run in 0..settings.runs.max(1) {
            for engine in engines {
                let hunts = if is_seed { &mut outcome.from_seed } else { &mut outcome.hunts };
                let all_found = settings.any && hunts.values().any(|hunt| hunt.hit.is_some());
                if all_found || watch.stopped() {
                    break;
                }
                let hunt = hunter.hunt(engine.as_ref(), start, run, bounds, watch)?;
                keep_best(hunts, engine.name(), hunt);
            }
        }
    }
    for peer in &settings.peers {
        if watch.stopped() {
            break;
        }
        let texts = peer.mutants(&trigger, settings.mutants, settings.item_time, &|| watch.stopped())?;
        let hunt = hunter.judge_texts(&texts, near, watch)?;
        keep_best(&mut outcome.hunts, &peer.name, hunt);
    }
    outcome.references_accused = hunter.references_accused();
    Ok(outcome)
}

/// Keeps the run that needed the fewest calls.
fn keep_best(hunts: &mut BTreeMap<String, Hunt>, name: &str, hunt: Hunt) {
    let better = match hunts.get(name) {
        None => true,
        Some(old) => match (old.hit, hunt.hit) {
            (Some(old), Some(new)) => new < old,
            (None, Some(_)) => true,
            _ => false,
        },
    };
    if better {
        hunts.insert(name.to_owned(), hunt);
    }
}
