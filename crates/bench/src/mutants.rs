//! Mutants of every engine: how many per second without any solver, and how many each solver refuses to read.

use std::time::{Duration, Instant};

use campaign::driver::{AnswerCache, Driver, Questions, runnable};
use campaign::schedule::{Culprits, Scheduler, SeedPool};
use campaign::store::{Counts, Learned};
use campaign::{CampaignError, Identity, SeedText, Target, thread_cpu};
use engines::{Engine, TestCase};
use smtlib::{Release, Store, print};
use solver::run::Runner;

use crate::acceptance::{Reader, to_read};
use crate::{BenchError, Cell, Draft, Report, Table, Watch};

/// What is measured.
pub struct Settings {
    pub engines: Vec<String>,
    /// Mutants per engine.
    pub count: usize,
    /// Without any, seeds are generated in all logics.
    pub seeds: Vec<SeedText>,
    /// Solvers that read the mutants; the last one is asked first for models.
    pub targets: Vec<Target>,
    /// Share of the mutants that are solved too.
    pub solved: f64,
    pub rng_seed: u64,
    pub command: String,
}

/// CPU time after which a rate is known well enough.
const ENOUGH: Duration = Duration::from_secs(2);

/// Wall-clock time for a rate: engines that ask solvers wait for them.
const LONGEST: Duration = Duration::from_secs(20);

/// Test cases of one round that solvers read: many seeds tell more than long chains.
const STEPS: usize = 30;

/// Rounds in a row that make nothing before an engine is given up.
const PATIENCE: u64 = 500;

/// Measures every engine.
pub fn run(settings: &Settings, watch: &dyn Watch) -> Result<Report, BenchError> {
    let mut draft = Draft::new("mutants", "Mutants", &settings.command);
    draft.rng_seed = Some(settings.rng_seed);
    draft.versions = settings.targets.iter().map(|target| target.name.clone()).collect();
    let all = engines::all();
    let mut rates = Table::new(
        "Mutants per second, one core, without solvers",
        &["engine", "mutants", "per second", "printed, per second"],
    );
    let mut readers =
        Table::new("Scripts read by the solvers", &["engine", "solver", "given", "refused", "share"]);
    let mut reasons = Table::new("Reasons of refusals", &["engine", "solver", "times", "reason"]);
    for (done, name) in settings.engines.iter().enumerate() {
        watch.progress(done, settings.engines.len(), name);
        if watch.stopped() {
            draft.partial = Some("ended by the user".to_owned());
            break;
        }
        let Some(engine) = all.iter().find(|engine| engine.name() == name) else {
            return Err(BenchError::Usage(format!("there is no engine '{name}'")));
        };
        let mut made = Maker::new(settings, engine.as_ref(), &all)?;
        let (mutants, cpu) = made.rate(settings.count, false)?;
        let (printed, printed_cpu) = made.rate(settings.count, true)?;
        if mutants == 0 {
            draft.skip(name.clone(), "it makes nothing of these seeds");
            continue;
        }
        rates.row([
            name.as_str().into(),
            mutants.into(),
            (mutants as f64 / cpu.as_secs_f64().max(1e-9)).round().into(),
            (printed as f64 / printed_cpu.as_secs_f64().max(1e-9)).round().into(),
        ]);
        if settings.targets.is_empty() {
            continue;
        }
        for reader in made.read(watch)? {
            let refusals = &reader.1;
            readers.row([
                name.as_str().into(),
                reader.0.into(),
                refusals.given.into(),
                refusals.refused.into(),
                Cell::percent(refusals.refused as f64, refusals.given as f64),
            ]);
            for (reason, times) in &refusals.reasons {
                reasons.row([name.as_str().into(), reader.0.into(), (*times).into(), reason.as_str().into()]);
            }
        }
    }
    draft.tables = vec![rates];
    draft.notes.push(
        "Rates are whole rounds by the CPU time of the thread: opening (reading seeds and models, building pools) \
         counts, the time of solvers that are asked for models does not."
            .to_owned(),
    );
    if !settings.targets.is_empty() {
        draft.tables.push(readers);
        draft.tables.push(reasons);
        draft.notes.push(format!(
            "A script counts as refused if the solver, which claims its theories, prints an error on reading it; {:.0} % of \
             them are solved too, with a short limit, since some refusals come only then.",
            settings.solved * 100.0
        ));
    }
    Ok(draft.finish())
}

/// Makes mutants with one engine, as a campaign does.
struct Maker<'a> {
    settings: &'a Settings,
    engine: &'a dyn Engine,
    engines: &'a [Box<dyn Engine>],
    identity: Identity,
    pool: SeedPool,
    runner: Box<dyn Runner>,
    answers: AnswerCache,
}

impl<'a> Maker<'a> {
    fn new(
        settings: &'a Settings,
        engine: &'a dyn Engine,
        engines: &'a [Box<dyn Engine>],
    ) -> Result<Maker<'a>, BenchError> {
        let identity = Identity {
            solvers: settings.targets.iter().map(|target| target.name.clone()).collect(),
            engines: vec![engine.name().to_owned()],
            seeds: settings.seeds.iter().map(|seed| seed.name.clone().into()).collect(),
            ..Identity::of_runs(Duration::from_secs(1), 2048, settings.rng_seed)
        };
        let mut pool = SeedPool::default();
        for seed in &settings.seeds {
            pool.add(seed.clone(), Counts::default(), false);
        }
        let runner = campaign::runners(&identity, &settings.targets, Vec::new(), false).runner();
        let runner = runner.map_err(|error| CampaignError::of_run("a solver", error))?;
        Ok(Maker { settings, engine, engines, identity, pool, runner, answers: AnswerCache::default() })
    }

    /// Makes up to `count` test cases, at most `steps` per round, and gives each to `see`, which tells whether its own
    /// time counts. Tells how many, and the CPU time of our side: opening rounds, making test cases, not solvers.
    fn make(
        &mut self,
        count: usize,
        enough: Option<Duration>,
        steps: usize,
        mut see: impl FnMut(&mut Store, &TestCase, &mut dyn Runner) -> Result<bool, BenchError>,
    ) -> Result<(u64, Duration), BenchError> {
        let targets = &self.settings.targets;
        let scheduler = Scheduler { identity: &self.identity, targets, engines: self.engines };
        let mut driver = Driver::new(targets, self.settings.rng_seed);
        let panicked = |panic: campaign::driver::EnginePanic| CampaignError::Internal(panic.to_string());
        let (mut made, mut cpu, mut idle) = (0, Duration::ZERO, 0);
        let began = Instant::now();
        let mut number = 0;
        while made < count as u64
            && idle < PATIENCE
            && enough.is_none_or(|enough| cpu < enough && began.elapsed() < LONGEST)
        {
            let plan = scheduler.plan(number, &Learned::default(), &self.pool, &Culprits::default());
            number += 1;
            let mut questions = Questions { targets, runner: &mut *self.runner, cache: &mut self.answers };
            let mut cases = Vec::new();
            let start = thread_cpu();
            if let Some(mut chain) = driver.open(self.engine, &plan, &mut questions).map_err(panicked)? {
                while cases.len() < steps && made + (cases.len() as u64) < count as u64 {
                    let case = driver.next(&mut chain, &mut questions).map_err(panicked)?;
                    let Some(case) = case else { break };
                    cases.push(case);
                }
            }
            cpu += thread_cpu().saturating_sub(start);
            self.answers.take_failure()?;
            idle = if cases.is_empty() { idle + 1 } else { 0 };
            for case in &cases {
                let start = thread_cpu();
                let ours = see(&mut driver.store, case, &mut *self.runner)?;
                if ours {
                    cpu += thread_cpu().saturating_sub(start);
                }
                made += 1;
            }
        }
        Ok((made, cpu))
    }

    fn rate(&mut self, count: usize, printed: bool) -> Result<(u64, Duration), BenchError> {
        self.make(count, Some(ENOUGH), usize::MAX, |store, case, _| {
            if printed {
                std::hint::black_box(print::print(store, &case.script, Release::STANDARD));
            }
            Ok(printed)
        })
    }

    /// Has the solvers read as many mutants as wanted.
    fn read(&mut self, watch: &dyn Watch) -> Result<Vec<(&'a str, crate::acceptance::Refusals)>, BenchError> {
        let settings = self.settings;
        let mut readers: Vec<Reader> = settings.targets.iter().map(Reader::new).collect();
        let every = (1.0 / settings.solved.max(1e-6)).round() as u64;
        let releases = Target::releases(&settings.targets);
        let mut number = 0;
        self.make(settings.count, None, STEPS, |store, case, runner| {
            number += 1;
            if watch.stopped() {
                return Ok(false);
            }
            let (script, usage) = runnable(store, &case.script, &releases);
            for (target, reader) in settings.targets.iter().zip(&mut readers) {
                if !target.accepts(&usage) {
                    continue;
                }
                if number % every == 0 {
                    reader.solve(&print::print(store, &script, target.release), runner)?;
                } else {
                    reader.read(to_read(store, &script, target), runner)?;
                }
            }
            Ok(false)
        })?;
        for reader in &mut readers {
            reader.finish(&mut *self.runner)?;
        }
        let names = settings.targets.iter().map(|target| target.name.as_str());
        Ok(names.zip(readers.into_iter().map(|reader| reader.refusals)).collect())
    }
}
