//! A campaign from its start to its summary.

use std::fs::File;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use engines::Engine;
use oracle::Configuration;
use serde::Serialize;
use solver::RunClass;

use crate::config::{Identity, Settings};
use crate::database::Known;
use crate::docket::{self, Docket};
use crate::error::CampaignError;
use crate::executor::Executor;
use crate::journal::Line;
use crate::novelty::signals;
use crate::observer::{Observer, Snapshot};
use crate::plan;
use crate::seeds::Harvest;
use crate::state::State;
use crate::stop::Stop;
use crate::target::Target;
use crate::totals::Totals;
use crate::worker::{Shared, Worker};

/// What a campaign came to.
#[derive(Clone, Debug, Serialize)]
pub struct Summary {
    pub rng_seed: u64,
    /// Of the whole campaign, earlier runs included.
    pub totals: Totals,
    /// Test cases of this run.
    pub tests: u64,
    /// Seconds of this run.
    pub seconds: f64,
    /// Unique findings, in the order they were found.
    pub findings: Vec<Known>,
    /// Share of the CPU time by engine.
    pub engine_shares: Vec<(String, f64)>,
    /// Seeds in the pool at the end, mutants included.
    pub seeds: usize,
    /// Seed files that could not be used.
    pub rejected_seeds: usize,
    /// The user ended it.
    pub interrupted: bool,
}

/// How often progress is shown.
const PROGRESS: Duration = Duration::from_millis(500);

/// How often the clock and the user are asked whether it is over.
const TICK: Duration = Duration::from_millis(200);

/// Runs a campaign.
pub fn run(
    identity: &Identity,
    settings: &Settings,
    targets: &[Target],
    engines: &[Box<dyn Engine>],
    harvest: &Harvest,
    observer: &dyn Observer,
    interrupted: &(dyn Fn() -> bool + Sync),
) -> Result<Summary, CampaignError> {
    if let Some(missing) =
        identity.engines.iter().find(|name| !engines.iter().any(|engine| engine.name() == **name))
    {
        return Err(CampaignError::Usage(format!("there is no engine '{missing}'")));
    }
    if plan::logics(identity, targets, &(0..targets.len()).collect::<Vec<_>>()).is_empty() {
        return Err(CampaignError::Usage("these solvers have no logic in common".into()));
    }
    preflight(identity, targets)?;
    std::fs::create_dir_all(&settings.out).map_err(|error| CampaignError::disk(&settings.out, error))?;
    let _lock = lock(settings)?;
    let mut state = State::open(identity, settings, harvest)?;
    let solvers: Vec<String> = targets.iter().map(|target| target.name.clone()).collect();
    state.log(&Line::Start {
        rng_seed: identity.rng_seed,
        solvers: &solvers,
        engines: &identity.engines,
        seeds: state.pool.len(),
    })?;
    let shared = Shared {
        identity,
        settings,
        targets,
        engines,
        policy: identity.options.policy(),
        signals: signals(),
        state: Mutex::new(state),
        stop: Stop::new(settings),
        observer,
        docket: Docket::default(),
    };
    let bugs = shared.state().bugs().to_owned();
    docket::left_over(&shared, &bugs)?;
    let failed = work(&shared, interrupted);
    let was_interrupted = interrupted();
    let mut state = shared.state();
    let totals = state.totals_now().clone();
    let ended = state.log(&Line::End { totals: &totals }).and_then(|()| state.write());
    if let Some(error) = failed {
        return Err(error);
    }
    ended?;
    let mut findings: Vec<Known> = state.findings().cloned().collect();
    findings.sort_by_key(|known| (known.round, known.step));
    Ok(Summary {
        rng_seed: identity.rng_seed,
        totals,
        tests: shared.stop.tests(),
        seconds: shared.stop.elapsed().as_secs_f64(),
        findings,
        engine_shares: shares(&state),
        seeds: state.pool.len(),
        rejected_seeds: harvest.rejected.len(),
        interrupted: was_interrupted,
    })
}

/// All workers, until the campaign is over or one of them cannot go on. The first error is given back.
fn work(shared: &Shared, interrupted: &(dyn Fn() -> bool + Sync)) -> Option<CampaignError> {
    let failed: Mutex<Option<CampaignError>> = Mutex::new(None);
    let running = std::sync::atomic::AtomicUsize::new(shared.settings.jobs.max(1));
    let watcher = std::thread::current();
    std::thread::scope(|scope| {
        for _ in 0..shared.settings.jobs.max(1) {
            scope.spawn(|| {
                if let Err(error) = Worker::new(shared).and_then(|mut worker| worker.work()) {
                    shared.stop.ask();
                    let mut failed = failed.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
                    failed.get_or_insert(error);
                }
                running.fetch_sub(1, std::sync::atomic::Ordering::Release);
                shared.docket.wake();
                watcher.unpark();
            });
        }
        scope.spawn(|| {
            let gone = || running.load(std::sync::atomic::Ordering::Acquire) == 0;
            if let Err(error) = shared.docket.work(shared, &gone, interrupted) {
                shared.stop.ask();
                let mut failed = failed.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
                failed.get_or_insert(error);
            }
        });
        let mut shown = std::time::Instant::now();
        while running.load(std::sync::atomic::Ordering::Acquire) > 0 {
            std::thread::park_timeout(TICK);
            if interrupted() {
                shared.stop.ask();
            }
            if shown.elapsed() >= PROGRESS {
                shown = std::time::Instant::now();
                let snapshot = snapshot(shared);
                shared.observer.progress(&snapshot);
            }
        }
    });
    failed.into_inner().unwrap_or_else(std::sync::PoisonError::into_inner)
}

fn snapshot(shared: &Shared) -> Snapshot {
    let mut state = shared.state();
    let totals = state.totals_now().clone();
    Snapshot {
        totals,
        tests: shared.stop.tests(),
        elapsed: shared.stop.elapsed(),
        left: shared.stop.left(),
        shares: shares(&state),
        seeds: state.pool.len(),
    }
}

fn shares(state: &State) -> Vec<(String, f64)> {
    let engines = &state.learned.engines;
    let all: u64 = engines.values().map(|counts| counts.cpu).sum();
    engines.iter().map(|(name, counts)| (name.clone(), counts.cpu as f64 / all.max(1) as f64)).collect()
}

/// Two campaigns must not write to one folder.
fn lock(settings: &Settings) -> Result<File, CampaignError> {
    let path = settings.out.join(".lock");
    let file = File::create(&path).map_err(|error| CampaignError::disk(&path, error))?;
    match file.try_lock() {
        Ok(()) => Ok(file),
        Err(std::fs::TryLockError::WouldBlock) => Err(CampaignError::InUse(settings.out.clone())),
        Err(std::fs::TryLockError::Error(error)) => Err(CampaignError::disk(&path, error)),
    }
}

/// Every solver must be able to say that nothing is satisfiable.
fn preflight(identity: &Identity, targets: &[Target]) -> Result<(), CampaignError> {
    let patient = Identity { timeout: identity.timeout.max(10_000), ..identity.clone() };
    let mut executor = Executor::new(&patient, targets)?;
    for target in targets {
        let configuration = Arc::new(Configuration::new(target.solver.clone()));
        let run = executor.run_fast(target, &configuration, b"(set-logic QF_UF)\n(check-sat)\n")?;
        if matches!(run.answers.class, RunClass::Answered) && run.answers.trusted().count() == 1 {
            continue;
        }
        let mut said = String::from_utf8_lossy(&run.outcome.stdout).into_owned();
        said.push_str(&String::from_utf8_lossy(&run.outcome.stderr));
        let said: String = said.trim().chars().take(300).collect();
        return Err(CampaignError::Solver {
            solver: target.name.clone(),
            reason: format!("it does not answer the empty script ({}): {said}", run.answers.class.word()),
        });
    }
    Ok(())
}
