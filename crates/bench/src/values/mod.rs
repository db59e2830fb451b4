//! `osprey bench values`: ValFuzz's experiment on known bugs (Wolff 2020, section VI-B).
//!
//! For items of a museum whose bug depends on the constants of the trigger: which configurations of the engine `values` find
//! the bug again with other constants, and with how many runs of solvers.
//!
//! - [`trial`]: one round of one configuration on one item; `meter`: what it may take; [`record`]: results on disk, so that a
//!   benchmark can go on
//! - [`statistics`]: means, deviations, Welch's t-test; [`tables`]: the results beside the paper's Table V
//! - [`corpus`]: quantifiers, and what enforcement comes to, on files of a corpus (Table II and section VI-D)

pub mod corpus;
mod meter;
pub mod record;
pub mod statistics;
pub mod tables;
pub mod trial;

use std::path::PathBuf;
use std::str::FromStr;
use std::sync::Mutex;
use std::sync::PoisonError;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use engines::Values;
use engines::values::Preset;
use solver::{Solver, Solvers};

use crate::error::BenchError;
use crate::machine;
use crate::museum::item::{self, Item};
use crate::museum::release;
use crate::museum::reproduce::reproduce;
use crate::records::Conditions;
use crate::report::{Draft, Report};
use crate::watch::Watch;
use record::{Record, Records};
use trial::Bench;

/// Rounds of one random iteration by which items are selected (section VI-B1).
pub const SELECTION: u64 = 50;

/// The name of these rounds in records.
pub const SELECTED_BY: &str = "selection";

/// Settings of the engine under a name.
#[derive(Clone, Debug, PartialEq)]
pub struct Configuration {
    pub name: String,
    pub values: Values,
}

impl FromStr for Configuration {
    type Err = String;

    /// A configuration of Table V, `default`, or `multiefN` and `relcN` with any number for the sweeps of Figure 5. With
    /// `-directed` behind it, coverage directs it as ours is directed.
    fn from_str(text: &str) -> Result<Configuration, String> {
        let name = text.to_ascii_lowercase();
        let plain = name.strip_suffix("-directed").unwrap_or(&name);
        let number = |prefix: &str| plain.strip_prefix(prefix).and_then(|rest| rest.parse::<usize>().ok());
        let values = match (plain.parse::<Preset>(), number("multief"), number("relc")) {
            _ if plain == "default" => Values::default(),
            (Ok(preset), ..) => preset.settings(),
            (_, Some(multief), _) => Values { multief, ..Preset::Skolu.settings() },
            (_, _, Some(relc)) => Values { relc, ..Preset::Skolu.settings() },
            (Err(error), ..) => return Err(error.to_string()),
        };
        let paper = values.paper && plain == name;
        Ok(Configuration { values: Values { paper, ..values }, name })
    }
}

/// What to measure.
pub struct Settings {
    pub folder: PathBuf,
    /// Only items that pass all of these.
    pub filters: Vec<String>,
    /// At most this many items whose bug depends on constants.
    pub items: usize,
    pub configurations: Vec<Configuration>,
    /// Enforcements per round.
    pub iterations: usize,
    pub repetitions: u64,
    /// CPU time of one round.
    pub time: Duration,
    /// Files for the experiments on quantifiers and on what enforcement comes to; these are left out without.
    pub corpus: Option<PathBuf>,
    /// Files of each kind there.
    pub files: usize,
    /// Enforcements per file there.
    pub corpus_iterations: usize,
    /// CPU time of one file there.
    pub corpus_time: Duration,
    pub corpus_repetitions: u64,
    /// Where results are kept, and read from before anything is measured.
    pub records: Option<PathBuf>,
    pub rng_seed: u64,
    pub jobs: usize,
    pub command: String,
}

impl Settings {
    /// What results depend on: those of other settings are not taken for ours.
    fn conditions(&self, references: &[Solver]) -> Conditions {
        let names: Vec<String> = references.iter().map(Solver::name).collect();
        let mut settings = vec![
            ("iterations", self.iterations.to_string()),
            ("rng seed", self.rng_seed.to_string()),
            ("references", names.join(" ")),
            ("osprey", machine::own_release()),
        ];
        let mut limits = vec![("round time", self.time.as_secs_f64())];
        if self.corpus.is_some() {
            settings.push(("corpus iterations", self.corpus_iterations.to_string()));
            limits.push(("corpus time", self.corpus_time.as_secs_f64()));
        }
        Conditions {
            settings: settings.into_iter().map(|(name, value)| (name.to_owned(), value)).collect(),
            limits: limits.into_iter().map(|(name, value)| (name.to_owned(), value)).collect(),
        }
    }
}

/// What an item turned out to be.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Use {
    /// Its bug comes and goes with the constants.
    Selected,
    /// Every random choice of constants shows the bug.
    Trivial,
    Skipped(String),
}

/// Runs the benchmark.
pub fn run(
    settings: &Settings,
    solvers: &Solvers,
    references: &[Solver],
    watch: &dyn Watch,
) -> Result<Report, BenchError> {
    let mut draft = Draft::new("values", "ValFuzz's configurations on known bugs", &settings.command);
    draft.rng_seed = Some(settings.rng_seed);
    draft.versions = references.iter().map(Solver::name).collect();
    let (items, refused) = item::collect(&settings.folder)?;
    for error in refused {
        draft.skip("item", error.to_string());
    }
    let items = items.into_iter().filter(|item| settings.filters.iter().all(|filter| item.passes(filter)));
    let items = mixed(items.collect());
    if items.is_empty() {
        return Err(BenchError::Usage("no item of the museum passes the filters".to_owned()));
    }
    let conditions = settings.conditions(references);
    let records = Records::open_under(settings.records.as_deref(), &conditions)?;
    let (next, selected) = (AtomicUsize::new(0), AtomicUsize::new(0));
    let uses = Mutex::new(Vec::new());
    std::thread::scope(|scope| {
        for _ in 0..settings.jobs.clamp(1, items.len()) {
            scope.spawn(|| {
                loop {
                    let number = next.fetch_add(1, Ordering::Relaxed);
                    let full = selected.load(Ordering::Relaxed) >= settings.items;
                    let Some(item) = items.get(number).filter(|_| !full && !watch.stopped()) else { return };
                    watch.progress(number, items.len(), &item.id);
                    let used = measure(item, settings, solvers, references, &records, watch)
                        .unwrap_or_else(|error| Use::Skipped(error.to_string()));
                    if used == Use::Selected {
                        selected.fetch_add(1, Ordering::Relaxed);
                    }
                    uses.lock().unwrap_or_else(PoisonError::into_inner).push((number, used));
                }
            });
        }
    });
    let mut uses = uses.into_inner().unwrap_or_else(PoisonError::into_inner);
    uses.sort_by_key(|(number, _)| *number);
    let uses: Vec<(&Item, Use)> = uses.into_iter().map(|(number, used)| (&items[number], used)).collect();
    tables::fill(&mut draft, settings, &uses, &records.all());
    if let Some(folder) = &settings.corpus {
        draft.tables.extend(corpus::run(folder, settings, references, &records, watch)?);
    }
    if watch.stopped() {
        draft.partial = Some(format!("interrupted after {} of {} items", uses.len(), items.len()));
    }
    Ok(draft.finish())
}

/// Wrong answers and other bugs by turns: half of the paper's known bugs are wrong answers, and the first of a folder are
/// those of one solver.
fn mixed(items: Vec<Item>) -> Vec<Item> {
    let (wrong, others): (Vec<Item>, Vec<Item>) = items.into_iter().partition(tables::is_wrong_answer);
    let (mut wrong, mut others) = (spread(wrong).into_iter(), spread(others).into_iter());
    let mut mixed = Vec::new();
    loop {
        let before = mixed.len();
        mixed.extend(wrong.next());
        mixed.extend(others.next());
        if mixed.len() == before {
            return mixed;
        }
    }
}

/// Neighbours in the order of names far apart.
fn spread(items: Vec<Item>) -> Vec<Item> {
    const PARTS: usize = 8;
    let mut parts: Vec<Vec<Item>> = (0..PARTS).map(|_| Vec::new()).collect();
    let size = items.len().div_ceil(PARTS).max(1);
    for (place, item) in items.into_iter().enumerate() {
        // By place within a part, so that all parts take turns.
        parts[place % size % PARTS].push(item);
    }
    parts.into_iter().flatten().collect()
}

/// Everything about one item that is not on record yet.
fn measure(
    item: &Item,
    settings: &Settings,
    solvers: &Solvers,
    references: &[Solver],
    records: &Records,
    watch: &dyn Watch,
) -> Result<Use, BenchError> {
    let selection = Configuration {
        name: SELECTED_BY.to_owned(),
        values: Values { iterations: 1, ..Preset::Rbase.settings() },
    };
    let measured = |configuration: &Configuration| Configuration {
        // Nothing ends a round early, so that calls compare. The model that a test run prints is not looked at here, so where
        // coverage directs a round, what a mutant covers is asked for, and not counted.
        values: Values {
            iterations: settings.iterations,
            undecided: 0,
            own_models: if configuration.values.paper { 0.0 } else { 1.0 },
            ..configuration.values.clone()
        },
        ..configuration.clone()
    };
    let mut bench = Lazy { item, settings, solvers, references, bench: None };
    for run in 0..SELECTION {
        if watch.stopped() {
            return Ok(Use::Skipped("interrupted".to_owned()));
        }
        if !records.has(&item.id, &selection.name, run, settings.time) {
            let Some(found) = bench.trial(&selection, run)? else {
                return Ok(Use::Skipped("no constants, or the bug does not show here".to_owned()));
            };
            records.add(found)?;
        }
        // One choice of constants without the bug is enough: it depends on them.
        if records.of(&item.id, &selection.name, run).is_some_and(|record| shows(&record) == Some(false)) {
            break;
        }
    }
    let selecting = (0..SELECTION).filter_map(|run| records.of(&item.id, SELECTED_BY, run));
    let shown: Vec<bool> = selecting.filter_map(|record| shows(&record)).collect();
    if shown.is_empty() {
        return Ok(Use::Skipped("no random constants make a test case for its release".to_owned()));
    }
    if shown.iter().all(|hit| *hit) {
        return Ok(Use::Trivial);
    }
    for run in 0..settings.repetitions {
        for configuration in &settings.configurations {
            if records.has(&item.id, &configuration.name, run, settings.time) {
                continue;
            }
            // An item without all of its rounds would leave no repetition complete.
            if watch.stopped() {
                return Ok(Use::Skipped("interrupted".to_owned()));
            }
            if let Some(found) = bench.trial(&measured(configuration), run)? {
                records.add(found)?;
            }
        }
    }
    Ok(Use::Selected)
}

/// Did a random choice of constants show the bug? `None` if it came to no run of the release.
fn shows(record: &Record) -> Option<bool> {
    (record.tests > 0).then_some(record.hit)
}

/// The solvers of an item, started when the first trial needs them.
struct Lazy<'a> {
    item: &'a Item,
    settings: &'a Settings,
    solvers: &'a Solvers,
    references: &'a [Solver],
    bench: Option<Bench>,
}

impl Lazy<'_> {
    /// `None` if nothing can be made of the item.
    fn trial(&mut self, configuration: &Configuration, run: u64) -> Result<Option<Record>, BenchError> {
        if self.bench.is_none() {
            let own = release(self.item, self.solvers)?;
            if !reproduce(self.item, &own, self.references)?.reproduces {
                return Ok(None);
            }
            self.bench = Some(Bench::new(self.item, &own, self.references)?);
        }
        let Some(bench) = &mut self.bench else { return Ok(None) };
        bench.trial(configuration, run, self.settings.rng_seed, self.settings.time)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_choice_of_constants_that_is_not_run_says_nothing_about_the_bug() {
        let record = Record::new("a", SELECTED_BY, 0);
        assert_eq!(shows(&record), None);
        let run = Record { tests: 1, ..record };
        assert_eq!(shows(&run), Some(false));
        assert_eq!(shows(&Record { hit: true, ..run }), Some(true));
    }

    #[test]
    fn sweeps_and_directed_configurations_are_read_by_their_names() {
        let read = |text: &str| text.parse::<Configuration>().expect(text);
        let sweep = read("MULTIEF9");
        assert_eq!((sweep.name.as_str(), sweep.values.multief, sweep.values.paper), ("multief9", 9, true));
        let directed = read("relc4-directed");
        assert_eq!(
            (directed.name.as_str(), directed.values.relc, directed.values.paper),
            ("relc4-directed", 4, false)
        );
        assert_eq!(read("default").values, Values::default());
        assert!("blendc".parse::<Configuration>().is_err());
    }
}
