//! From the inputs of a session to findings: confirmed by repetition, made small, told apart.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use campaign::findings::{self, Origin, Releases, Shrunk, Signature, Small, Stage};
use campaign::triage::{self, Extent};
use campaign::{Finding, hash};
use eval::Expectation;
use oracle::Kind;
use reduce::driver::Best;
use reduce::{Effort, Input, Progress as Reducing, Watcher};
use serde::Serialize;
use smtlib::{Mode, Store, print};
use solver::run::{Run, Runners, SolverRunners};

use crate::cores;
use crate::error::PerfError;
use crate::learned::Ranked;
use crate::meter::{self, Meter, Outcome, Score, Scored};
use crate::session::{Record, Settings, Watch};
use crate::slow::{SHORTEST, Slow};

/// What is to be done with the inputs found.
#[derive(Clone, Debug)]
pub struct CollectRules {
    /// The target must need so many times as long as every reference.
    pub ratio: f64,
    /// Time on the clock for making each input small; none leaves them as they are.
    pub reduce: Option<Duration>,
    /// Ask the installed releases of the target which of them are slow.
    pub bisect: bool,
}

/// A finding, in short.
#[derive(Clone, Debug, Serialize)]
pub struct Collected {
    pub folder: PathBuf,
    pub method: crate::search::Method,
    pub run: usize,
    pub ratio: f64,
    /// CPU seconds net of the start: the target, and the slowest reference.
    pub target: f64,
    /// The target came to no end.
    pub timed_out: bool,
    pub reference: f64,
    /// What the input is made of, in the order of the ranking.
    pub constructs: Vec<String>,
    /// What it is told apart by.
    pub signature: String,
    /// More inputs were taken for the same gap.
    pub duplicates: usize,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub releases: Option<Releases>,
    pub script: String,
}

/// A gap that is confirmed is seen so many times more.
const CONFIRMATIONS: usize = 2;
/// A reduced input need not keep a larger ratio than this.
const KEPT: f64 = 100.0;
/// Bounds of the CPU seconds that a reduced input takes at least.
const LEAST: (f64, f64) = (0.2, 1.0);

/// Confirms, reduces and writes down what is slow enough.
pub fn collect(
    settings: &Settings,
    records: &[Record],
    ranking: &[Ranked],
    rules: &CollectRules,
    watch: &dyn Watch,
) -> Result<Vec<Collected>, PerfError> {
    let mut slow: Vec<&Record> = records.iter().filter(|record| record.found.best.is_some()).collect();
    slow.retain(|record| {
        record.found.best.as_ref().is_some_and(|best| is_slow(settings, &best.scored, rules.ratio))
    });
    if slow.is_empty() {
        return Ok(Vec::new());
    }
    // In a thread of its own: its core is not that of the caller afterwards.
    std::thread::scope(|scope| {
        let work = scope.spawn(|| {
            if let Some(core) = cores::allowed().first() {
                // Where it cannot be had alone, times are repeated all the same.
                let _ = cores::pin(*core);
            }
            Collector::new(settings, ranking, rules, watch)?.all(&slow)
        });
        work.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
    })
}

fn is_slow(settings: &Settings, scored: &Scored, ratio: f64) -> bool {
    let shortest = SHORTEST * settings.limit() / settings.timeout.as_secs_f64();
    scored.references.iter().all(|reading| reading.solved) && scored.ratio(shortest) >= ratio
}

struct Collector<'a> {
    settings: &'a Settings,
    ranking: &'a [Ranked],
    rules: &'a CollectRules,
    watch: &'a dyn Watch,
    runners: SolverRunners,
    meter: Meter,
    found: Vec<Collected>,
}

impl<'a> Collector<'a> {
    fn new(
        settings: &'a Settings,
        ranking: &'a [Ranked],
        rules: &'a CollectRules,
        watch: &'a dyn Watch,
    ) -> Result<Collector<'a>, PerfError> {
        // Whatever the session went by, a finding is about time.
        let limits = meter::rules(settings.timeout, settings.memory, Score::Cpu);
        let runners = SolverRunners::new(settings.parties(), limits);
        let meter = Meter::new(
            runners.runner()?,
            settings.parties(),
            settings.timeout,
            Score::Cpu,
            &settings.parameters.logic,
        )?;
        Ok(Collector { settings, ranking, rules, watch, runners, meter, found: Vec::new() })
    }

    fn all(mut self, slow: &[&Record]) -> Result<Vec<Collected>, PerfError> {
        for (number, record) in slow.iter().enumerate() {
            if self.watch.stopped() {
                break;
            }
            self.watch.note(&format!(
                "input {} of {}: {} run {}",
                number + 1,
                slow.len(),
                record.method.word(),
                record.run
            ));
            self.one(record)?;
        }
        Ok(self.found)
    }

    fn one(&mut self, record: &Record) -> Result<(), PerfError> {
        let Some(best) = &record.found.best else { return Ok(()) };
        let Some(scored) = self.confirmed(&best.text)? else {
            self.watch.note("it does not repeat");
            return Ok(());
        };
        let parties = self.settings.parties();
        let input = in_dialect(&best.text, parties[0].release());
        let predicate = Slow {
            parties,
            runners: Arc::new(self.runners.clone()),
            bound: self.rules.ratio.max((scored.ratio(SHORTEST) / 2.0).min(KEPT)),
            least: (scored.target.used / 4.0).clamp(LEAST.0, LEAST.1),
            logic: self.settings.parameters.logic.clone(),
        };
        let reduced = match self.rules.reduce {
            None => None,
            Some(time) => {
                let effort = Effort { jobs: 1, time: Some(time) };
                let quiet = Quiet(self.watch);
                match reduce::reduce(
                    Input { text: input.as_bytes(), witness: None },
                    &predicate,
                    &effort,
                    &quiet,
                ) {
                    Ok(reduced) => Some(reduced),
                    Err(reduce::ReduceError::NotInteresting(_) | reduce::ReduceError::Flaky { .. }) => {
                        self.watch.note("it does not repeat when it is to be made small, and stays as it is");
                        None
                    }
                    Err(error) => return Err(error.into()),
                }
            }
        };
        let text = reduced.as_ref().map_or(&input, |reduced| &reduced.best.text).clone();
        let Some(scored) = self.confirmed(&text)? else {
            self.watch.note("what is left of it does not repeat");
            return Ok(());
        };
        let runs = self.meter.runs(&text)?;
        let releases = match self.rules.bisect {
            true => {
                let best = Best::of_input(&text, predicate.parties.first().cloned());
                triage::compare(&predicate, &best, Extent::Borders, &Quiet(self.watch))?.0
            }
            false => None,
        };
        let shrunk = reduced.map(|reduced| Shrunk {
            before: reduced.before,
            after: reduced.best.size,
            candidates: reduced.candidates,
            seconds: reduced.elapsed.as_secs_f64(),
            finished: reduced.finished,
        });
        self.write(record, &input, &text, &scored, runs, shrunk, releases)
    }

    /// The least of several measurements, if all of them are slow enough.
    fn confirmed(&mut self, text: &str) -> Result<Option<Scored>, PerfError> {
        let mut least: Option<Scored> = None;
        for _ in 0..=CONFIRMATIONS {
            let Outcome::Scored(scored) = self.meter.measure(text, f64::NEG_INFINITY)? else {
                return Ok(None);
            };
            if scored.ratio(SHORTEST) < self.rules.ratio || !scored.references.iter().all(|one| one.solved) {
                return Ok(None);
            }
            if least.as_ref().is_none_or(|least| scored.ratio(SHORTEST) < least.ratio(SHORTEST)) {
                least = Some(scored);
            }
        }
        Ok(least)
    }

    #[allow(clippy::too_many_arguments)]
    fn write(
        &mut self,
        record: &Record,
        input: &str,
        text: &str,
        scored: &Scored,
        runs: Vec<Run>,
        shrunk: Option<Shrunk>,
        releases: Option<Releases>,
    ) -> Result<(), PerfError> {
        let Some(target) = runs.first().cloned() else { return Ok(()) };
        let slowest = (1..runs.len()).max_by_key(|place| runs[*place].outcome.cpu_time).unwrap_or(0);
        let slow = Duration::from_secs_f64(scored.target.used);
        let reference = scored.references.iter().map(|one| one.used).fold(SHORTEST, f64::max);
        let mut verdict =
            oracle::performance::verdict(&target, slow, &runs[slowest], Duration::from_secs_f64(reference));
        let starts: Vec<String> = self
            .settings
            .parties()
            .iter()
            .zip(self.meter.starts())
            .map(|(party, start)| format!("{} {:.0} ms", party.name(), start * 1000.0))
            .collect();
        let ended = if scored.target.solved { "" } else { ", its limit," };
        verdict.evidence = vec![
            format!(
                "CPU time net of the start: {:.2} s{ended} against {reference:.2} s of the slowest reference, {:.0} times \
                 as much, the least of {} measurements",
                scored.target.used,
                scored.ratio(SHORTEST),
                CONFIRMATIONS + 1
            ),
            format!("the starts alone: {}", starts.join(", ")),
        ];
        let mut store = Store::new();
        let parsed = smtlib::parse(&mut store, text.as_bytes(), Mode::Tolerant).ok();
        let operators = match &parsed {
            Some(parsed) => findings::operators(&store, &parsed.script),
            None => findings::operators_in(text),
        };
        let constructs = ranked(&operators, self.ranking);
        if !constructs.is_empty() {
            verdict
                .evidence
                .push(format!("its constructs, the most rewarding first: {}", constructs.join(", ")));
        }
        let solver = target.configuration.solver.name();
        let origin = Origin {
            rng_seed: self.settings.rng_seed,
            round: record.run as u64,
            engine: format!("perf ({})", record.method.word()),
            logic: self.settings.parameters.logic.clone(),
            script: hash::name(input.as_bytes()),
            ..Origin::default()
        };
        let small = shrunk.as_ref().map(|_| Small { script: text.to_owned(), witness: None, ground: None });
        let mut finding = Finding {
            osprey: env!("CARGO_PKG_VERSION").to_owned(),
            found: SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_secs(),
            kind: Kind::Performance,
            title: target.configuration.solver.adapter.title.clone(),
            signature: Signature::of_script(&verdict, &solver, &runs, &operators, None),
            solver,
            summary: String::new(),
            flaky: false,
            stage: shrunk.map_or(Stage::Unreduced, Stage::Reduced),
            expectation: Expectation::Agree,
            answer: None,
            evidence: Vec::new(),
            accused: verdict.accused,
            check: None,
            platform: String::new(),
            runs: Vec::new(),
            operators,
            blame: reduce::blame::Blame::default(),
            releases: releases.clone(),
            group: None,
            handling: campaign::findings::Handling::default(),
            provenance: origin,
        };
        finding.describe(&verdict, &runs, None);
        let bugs = self.settings.out.join("bugs");
        std::fs::create_dir_all(&bugs).map_err(|error| PerfError::disk(&bugs, error))?;
        let known = self.found.iter_mut().find(|known| known.signature == finding.signature.to_string());
        if let Some(known) = known {
            known.duplicates += 1;
            findings::keep_duplicate(&known.folder, known.duplicates as u64, text)?;
            return Ok(());
        }
        let folder = finding.write(&bugs, input, None, small.as_ref())?;
        self.found.push(Collected {
            folder,
            method: record.method,
            run: record.run,
            ratio: scored.ratio(SHORTEST),
            target: scored.target.used,
            timed_out: !scored.target.solved,
            reference,
            constructs,
            signature: finding.signature.to_string(),
            duplicates: 0,
            releases,
            script: text.to_owned(),
        });
        Ok(())
    }
}

/// The operators in the order of a ranking; those that it does not name come last.
pub fn ranked(operators: &[String], ranking: &[Ranked]) -> Vec<String> {
    let place = |name: &String| {
        let own = |one: &Ranked| one.construct == *name || one.construct.starts_with(&format!("{name} "));
        ranking.iter().position(own).unwrap_or(ranking.len())
    };
    let mut ordered = operators.to_vec();
    ordered.sort_by_key(place);
    ordered
}

/// A text of the standard dialect in that of a release.
pub fn in_dialect(text: &str, release: smtlib::Release) -> String {
    let mut store = Store::new();
    match smtlib::parse(&mut store, text.as_bytes(), Mode::Tolerant) {
        Ok(parsed) => print::print(&store, &parsed.script, release),
        Err(_) => text.to_owned(),
    }
}

/// A reduction tells nothing but that it should end.
struct Quiet<'a>(&'a dyn Watch);

impl Watcher for Quiet<'_> {
    fn progress(&self, _: &Reducing) {}

    fn stop(&self) -> bool {
        self.0.stopped()
    }
}

/// The folder of a session's findings.
pub fn bugs(out: &Path) -> PathBuf {
    out.join("bugs")
}
