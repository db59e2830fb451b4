//! A session of performance fuzzing: several runs, each on a core of its own, kept as they end.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use campaign::Target;
use generate::rng;
use serde::{Deserialize, Serialize};
use smtlib::{Mode, Release, Store};
use solver::Solver;
use solver::run::{Configuration, Runners, SolverRunners};

use crate::cores;
use crate::error::PerfError;
use crate::files;
use crate::generator::{Generator, Parameters};
use crate::learned::AgentName;
use crate::meter::{self, Meter, Score};
use crate::search::{Found, Method, Search, SearchRules};
use crate::seeds;
use crate::state::{About, Aim, Memory, State};

/// What a session is and how it is run.
#[derive(Clone)]
pub struct Settings {
    pub target: Solver,
    pub references: Vec<Solver>,
    pub parameters: Parameters,
    pub methods: Vec<Method>,
    pub agent: AgentName,
    pub score: Score,
    /// CPU time of one run of a solver.
    pub timeout: Duration,
    /// Bytes.
    pub memory: u64,
    /// CPU time of each run.
    pub time: Duration,
    /// Runs per method.
    pub runs: usize,
    pub jobs: usize,
    pub rng_seed: u64,
    pub seeds: Arc<[Arc<str>]>,
    /// What the first run knows already; each later one knows besides what those that have ended before it have learned.
    pub known: Memory,
    pub out: PathBuf,
    pub resume: bool,
}

/// Who looks at a session.
pub trait Watch: Sync {
    /// Whether the user wants to end.
    fn stopped(&self) -> bool;

    fn progress(&self, progress: &Progress);

    /// Something the user should know.
    fn note(&self, text: &str);

    /// What is being done with an input after the runs: confirmed, made small, put to other releases.
    fn stage(&self, _text: &str) {}
}

/// How far a session is.
#[derive(Clone, Copy, Debug, Default)]
pub struct Progress {
    /// Runs that have ended, of how many.
    pub done: usize,
    pub all: usize,
    /// The best score so far, and the largest there can be.
    pub best: f64,
    pub perfect: f64,
    /// CPU time that is left at most, for each of the cores.
    pub left: Duration,
}

/// A run that has ended, as it is kept.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Record {
    pub method: Method,
    pub run: usize,
    pub found: Found,
}

/// What `perf.json` says: what a session is, which a resumed one must share.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Identity {
    pub target: String,
    pub references: Vec<String>,
    pub parameters: Parameters,
    pub agent: AgentName,
    pub score: Score,
    /// Seconds.
    pub timeout: f64,
    pub time: f64,
    pub rng_seed: u64,
    /// Hash of the seeds.
    pub seeds: String,
}

impl Settings {
    /// Target and references, numbered.
    pub fn parties(&self) -> Vec<Arc<Configuration>> {
        let solvers = std::iter::once(&self.target).chain(&self.references).cloned();
        Configuration::numbered(solvers).into_iter().map(Arc::new).collect()
    }

    pub fn releases(&self) -> Vec<Release> {
        self.parties().iter().map(|party| party.release()).collect()
    }

    /// Makers of runners that measure.
    pub fn runners(&self) -> SolverRunners {
        SolverRunners::new(self.parties(), meter::rules(self.timeout, self.memory, self.score))
    }

    /// The limit in the unit of the score.
    pub fn limit(&self) -> f64 {
        meter::limit(&self.parties()[0], self.timeout.as_secs_f64(), self.score)
    }

    fn identity(&self) -> Identity {
        let text: String = self.seeds.iter().map(|seed| campaign::hash::name(seed.as_bytes())).collect();
        Identity {
            target: self.parties()[0].name(),
            references: self.parties()[1..].iter().map(|party| party.name()).collect(),
            parameters: self.parameters.clone(),
            agent: self.agent,
            score: self.score,
            timeout: self.timeout.as_secs_f64(),
            time: self.time.as_secs_f64(),
            rng_seed: self.rng_seed,
            seeds: campaign::hash::name(text.as_bytes()),
        }
    }

    /// What its counts are about.
    pub fn about(&self) -> About {
        About {
            aim: Aim::Performance,
            solvers: self.parties().iter().map(|party| party.name()).collect(),
            logic: self.parameters.logic.clone(),
            arms: self.parameters.arms,
            score: Some(self.score),
        }
    }

    /// Refuses what cannot be measured, before anything is.
    pub fn check(&self) -> Result<(), PerfError> {
        let usage = |text: String| Err(PerfError::Usage(text));
        let parties = self.parties();
        if self.references.is_empty() {
            return usage("a target is measured against others: name one with --reference".to_owned());
        }
        let target = parties[0].name();
        if parties[1..].iter().any(|reference| reference.name() == target) {
            return usage(format!(
                "{target} is both the target and a reference: name another release, solver or option"
            ));
        }
        for (place, party) in parties.iter().enumerate() {
            if parties[..place].iter().any(|other| other.name() == party.name()) {
                return usage(format!("{} is named twice", party.name()));
            }
        }
        for (place, method) in self.methods.iter().enumerate() {
            if self.methods[..place].contains(method) {
                return usage(format!(
                    "the method {} is named twice: use --runs for more runs of it",
                    method.word()
                ));
            }
        }
        if self.score == Score::Resource {
            let family = parties[0].release().family;
            if let Some(other) = parties.iter().find(|party| party.release().family != family) {
                return usage(format!(
                    "--score resource compares releases of one solver: {target} and {} count different things; use \
                     --score cpu",
                    other.name()
                ));
            }
            if !meter::counts_resources(family) {
                return usage(format!("{target} does not count its steps: use --score cpu"));
            }
        }
        let solvers: Vec<Solver> = std::iter::once(&self.target).chain(&self.references).cloned().collect();
        seeds::for_all(&self.seeds, &solvers)?;
        check_logic(&self.parameters, &self.releases(), solvers.iter())
    }
}

/// Inputs that are looked at to find out whether solvers have a logic.
const SAMPLES: u64 = 12;

/// Does every solver claim what inputs of the logic are made of?
pub fn check_logic<'a>(
    parameters: &Parameters,
    releases: &[Release],
    solvers: impl Iterator<Item = &'a Solver>,
) -> Result<(), PerfError> {
    let mut generator = Generator::new(parameters, releases, Arc::from([]))?;
    if let Some(name) = parameters.operators.iter().find(|name| !generator.has(name)) {
        return Err(PerfError::Usage(format!(
            "'{name}' (--ops) is not in the logic {}, or not in all of these solvers: leave it out, or choose another logic \
             with --logic",
            parameters.logic
        )));
    }
    let mut usages = Vec::new();
    for index in 0..SAMPLES {
        let text = generator.fresh(&mut rng::stream(1, index), None);
        let mut store = Store::new();
        if let Ok(parsed) = smtlib::parse(&mut store, text.as_bytes(), Mode::Tolerant) {
            usages.push(smtlib::logic::usage(&store, &parsed.script));
        }
    }
    for target in Target::numbered(solvers.cloned()) {
        if !usages.iter().any(|usage| target.accepts(usage)) {
            return Err(PerfError::Usage(format!(
                "{} does not have the logic {}: choose another one with --logic, or leave the solver out",
                target.name, parameters.logic
            )));
        }
    }
    Ok(())
}

/// Makes all runs that have not been made yet. What an earlier session in the same folder has measured counts.
pub fn run(settings: &Settings, watch: &dyn Watch) -> Result<Vec<Record>, PerfError> {
    settings.check()?;
    files::claim(&settings.out, "perf.json", &settings.identity(), settings.resume)?;
    let mut waiting: Vec<Waiting> = Vec::new();
    let mut records = Vec::new();
    // The repetitions outside: what an interruption leaves is as much of each method.
    for run in 0..settings.runs {
        for method in &settings.methods {
            match files::read_json::<Record>(&path(&settings.out, *method, run))? {
                Some(record) => records.push(record),
                None => {
                    let begun = files::read_json::<Record>(&partial(&settings.out, *method, run))?;
                    waiting.push(Waiting { method: *method, run, begun: begun.map(|record| record.found) });
                }
            }
        }
    }
    let lanes = cores::allowed();
    if settings.jobs > lanes.len() {
        watch.note(&format!(
            "{} runs at a time, not {}: each has a core to itself",
            lanes.len(),
            settings.jobs
        ));
    }
    let all = waiting.len() + records.len();
    let shared = Lanes {
        next: AtomicUsize::new(0),
        ended: AtomicUsize::new(records.len()),
        best: Mutex::new(records.iter().filter_map(score).fold(f64::NEG_INFINITY, f64::max)),
        known: Mutex::new(known(&settings.known, &records)),
        made: Mutex::new(Vec::new()),
        failed: Mutex::new(None),
    };
    let runners = settings.runners();
    let told: Mutex<BTreeSet<String>> = Mutex::default();
    std::thread::scope(|scope| {
        let count = settings.jobs.clamp(1, lanes.len().max(1)).min(waiting.len());
        for core in lanes.iter().take(count) {
            let (shared, waiting, runners, told) = (&shared, &waiting, &runners, &told);
            scope.spawn(move || {
                let lane = Lane { settings, watch, shared, waiting, all, lanes: count, told };
                if let Err(error) = lane.work(*core, runners) {
                    lock(&shared.failed).get_or_insert(error);
                }
            });
        }
    });
    if let Some(error) = shared.failed.into_inner().unwrap_or_else(PoisonError::into_inner) {
        return Err(error);
    }
    records.extend(shared.made.into_inner().unwrap_or_else(PoisonError::into_inner));
    records.sort_by_key(|record| (record.method, record.run));
    Ok(records)
}

/// A run that is to be made, or gone on with.
struct Waiting {
    method: Method,
    run: usize,
    /// What it came to before it was cut short.
    begun: Option<Found>,
}

/// What the lanes share.
struct Lanes {
    next: AtomicUsize,
    ended: AtomicUsize,
    best: Mutex<f64>,
    /// What runs that have ended have learned, and what was known before.
    known: Mutex<Memory>,
    made: Mutex<Vec<Record>>,
    failed: Mutex<Option<PerfError>>,
}

/// One core and the runs made there.
struct Lane<'a> {
    settings: &'a Settings,
    watch: &'a dyn Watch,
    shared: &'a Lanes,
    waiting: &'a [Waiting],
    all: usize,
    lanes: usize,
    told: &'a Mutex<BTreeSet<String>>,
}

impl Lane<'_> {
    fn work(&self, core: usize, runners: &SolverRunners) -> Result<(), PerfError> {
        let settings = self.settings;
        if let Err(error) = cores::pin(core) {
            self.watch.note(&format!("core {core} cannot be had alone: {error}"));
        }
        let mut meter = Meter::new(
            runners.runner()?,
            settings.parties(),
            settings.timeout,
            settings.score,
            &settings.parameters.logic,
        )?;
        let mut generator =
            Generator::new(&settings.parameters, &settings.releases(), Arc::clone(&settings.seeds))?;
        loop {
            let number = self.shared.next.fetch_add(1, Ordering::Relaxed);
            let Some(Waiting { method, run, begun }) = self.waiting.get(number) else { return Ok(()) };
            let (method, run) = (*method, *run);
            if self.watch.stopped() || lock(&self.shared.failed).is_some() {
                return Ok(());
            }
            meter.take_cpu();
            let stopped = |cpu: f64, score: f64| {
                self.tell(cpu, score);
                self.watch.stopped()
            };
            let rules = SearchRules { method, agent: settings.agent, budget: settings.time };
            let begun = begun.clone().unwrap_or_default();
            // Each time that a run is gone on with, it has a stream of its own.
            let stream = (begun.parts << 48) | ((method as u64) << 32) | run as u64;
            let rng = rng::stream(settings.rng_seed, stream);
            let known = lock(&self.shared.known).clone();
            let search = Search::new(rules, &mut generator, &mut meter, rng, &known, &stopped);
            let found = search.run_from(begun)?;
            for note in meter.take_notes() {
                if lock(self.told).insert(note.clone()) {
                    self.watch.note(&note);
                }
            }
            if method == Method::Bandit {
                lock(&self.shared.known).merge(&found.counts());
            }
            let record = Record { method, run, found };
            let whole = record.found.perfect || record.found.cpu >= settings.time.as_secs_f64();
            let unfinished = partial(&settings.out, method, run);
            if whole {
                files::write_json(&path(&settings.out, method, run), &record)?;
                // What it was before says nothing any more.
                let _ = std::fs::remove_file(&unfinished);
            } else {
                // Cut short by the user: told in the report, and gone on with by a resumed session.
                files::write_json(&unfinished, &record)?;
            }
            self.shared.ended.fetch_add(1, Ordering::Relaxed);
            lock(&self.shared.made).push(record);
        }
    }

    fn tell(&self, cpu: f64, score: f64) {
        let best = {
            let mut best = lock(&self.shared.best);
            *best = best.max(score);
            *best
        };
        let ended = self.shared.ended.load(Ordering::Relaxed);
        let rounds = self.all.saturating_sub(ended).div_ceil(self.lanes.max(1));
        let left = (rounds as f64 * self.settings.time.as_secs_f64() - cpu).max(0.0);
        self.watch.progress(&Progress {
            done: ended,
            all: self.all,
            best,
            perfect: 2.0 * self.settings.limit(),
            left: Duration::from_secs_f64(left),
        });
    }
}

fn score(record: &Record) -> Option<f64> {
    record.found.best.as_ref().map(|best| best.scored.score)
}

/// Where a run is kept that was cut short.
fn partial(out: &Path, method: Method, run: usize) -> PathBuf {
    out.join("runs").join(format!("{}-{run}.partial", method.word()))
}

/// Where a run is kept.
fn path(out: &Path, method: Method, run: usize) -> PathBuf {
    out.join("runs").join(format!("{}-{run}.json", method.word()))
}

pub(crate) fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// What the runs of this session have counted.
pub fn state(settings: &Settings, records: &[Record]) -> State {
    State { about: settings.about(), counts: counted(records) }
}

fn counted(records: &[Record]) -> Memory {
    let mut counts = Memory::default();
    for record in records.iter().filter(|record| record.method == Method::Bandit) {
        counts.merge(&record.found.counts());
    }
    counts
}

/// What a run knows that begins when these have ended.
fn known(before: &Memory, ended: &[Record]) -> Memory {
    let mut known = before.clone();
    known.merge(&counted(ended));
    known
}

/// Why a session has nothing to show, if it has nothing.
pub fn complaint(records: &[Record], timeout: Duration) -> Option<String> {
    let sum = |figure: fn(&Found) -> u64| -> u64 { records.iter().map(|record| figure(&record.found)).sum() };
    let inputs = sum(|found| found.inputs);
    if records.is_empty() || inputs == 0 {
        return Some("no input was measured before the end: give it more time (--time)".to_owned());
    }
    let limit = timeout.as_secs_f64();
    let solved = sum(|found| found.target_solved) + sum(|found| found.references_solved);
    let unsolved = format!(
        "on every one of {inputs} inputs target and references came to no end within the limit of {limit} s, or a \
         reference not within a quarter of it, so nothing can be compared: raise --timeout, or make the inputs smaller \
         (--depth, --assertions, --ops)"
    );
    let unusable = sum(|found| found.unusable);
    let contradictions: usize = records.iter().map(|record| record.found.contradictions.len()).sum();
    if records.iter().all(|record| record.found.best.is_none()) {
        return Some(match (unusable * 2 > inputs, contradictions > 0) {
            (true, true) => format!(
                "none of {inputs} inputs could be compared: on {unusable} of them a solver crashed, refused the input or \
                 contradicted another one; the folder contradictions has {contradictions} of these, and `osprey check` \
                 tells who is wrong"
            ),
            (true, false) => format!(
                "none of {inputs} inputs could be compared: on {unusable} of them a solver crashed or refused the input; \
                 try another logic, or smaller inputs (--depth, --assertions)"
            ),
            (false, _) if solved == 0 => unsolved,
            (false, _) => format!(
                "none of {inputs} inputs was measured to its end: give each run more time (--time), or lower --timeout"
            ),
        });
    }
    (solved == 0).then_some(unsolved)
}

/// What is to be said about a session that has inputs but no gap.
pub fn remark(records: &[Record]) -> Option<&'static str> {
    let best = records.iter().filter_map(score).fold(f64::NEG_INFINITY, f64::max);
    (best.is_finite() && best <= 0.0)
        .then_some("the target was on no input slower than its slowest reference")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_run_knows_what_those_of_the_bandit_before_it_have_learned() {
        let record = |method: Method, rewarded: bool| {
            let mut found = Found::default();
            found.learned.record("fp.rem", rewarded);
            found.ways.record("mutation", rewarded);
            Record { method, run: 0, found }
        };
        let mut before = Memory::default();
        before.constructs.record("fp.rem", false);
        let ended = [record(Method::Bandit, true), record(Method::Mutational, false)];
        let known = known(&before, &ended);
        let arm = known.constructs.arms["fp.rem"];
        assert_eq!((arm.tries, arm.reward, known.ways.arms["mutation"].tries), (2, 1.0, 1));
    }
}
