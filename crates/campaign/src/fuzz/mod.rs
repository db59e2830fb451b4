//! A campaign from its start to its summary: workers, triage, and the exchange with the store.

mod answers;
mod prepare;
mod tally;
mod worker;

use std::collections::BTreeSet;
use std::fs::File;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use engines::Engine;
use serde::Serialize;
use solver::run::{Purpose, RunRules, Runners, SolverRunners};
use solver::{RunClass, Solver};

use crate::config::{Identity, Settings};
use crate::driver::EnginePanic;
use crate::error::CampaignError;
use crate::findings::{self, Finding};
use crate::schedule::{Scheduler, logics, policy, signals};
use crate::seeds::SeedFiles;
use crate::shared::{Log, LogLine, Observer, Shared, Snapshot, State, Stop, exchange, lock};
use crate::store::{self, CampaignStore, ENGINE, KnownFinding, MemberId, Presence, Role, Totals};
use crate::target::Target;
use crate::triage::{self, Ending, Triage, TriageRules};
pub use answers::{refusal, refused};
use worker::{Tools, Worker};

/// What a campaign is made of.
pub struct Campaign<'a> {
    pub identity: &'a Identity,
    pub targets: &'a [Target],
    pub engines: &'a [Box<dyn Engine>],
    /// Who runs solvers: [`runners`], or scripted ones in tests.
    pub runners: Arc<dyn Runners>,
}

/// What a campaign came to.
#[derive(Clone, Debug, Serialize)]
pub struct Summary {
    pub rng_seed: u64,
    /// Of the whole campaign: earlier runs and other processes included.
    pub totals: Totals,
    /// Of this process's run alone.
    pub run: Totals,
    /// Test cases of this process's run.
    pub tests: u64,
    /// Seconds of this run.
    pub seconds: f64,
    /// Unique findings, in the order they were found.
    pub findings: Vec<KnownFinding>,
    /// Findings that were confirmed but neither reduced nor told apart; `--resume` goes on with them.
    pub pending: usize,
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

/// Time between two exchanges with the store, unless rounds run low.
const EXCHANGE: Duration = Duration::from_millis(500);

/// How long the end waits for other processes to hand over what they have.
const FAREWELL: Duration = Duration::from_secs(30);

/// Runners with the limits of a campaign. `third_opinions` are solvers that are asked where the targets contradict each
/// other and nothing tells who is right. `plain`: every run in a new process.
pub fn runners(
    identity: &Identity,
    targets: &[Target],
    third_opinions: Vec<Solver>,
    plain: bool,
) -> Arc<dyn Runners> {
    let configurations = targets.iter().map(|target| Arc::new(target.configuration())).collect();
    let rules = RunRules::for_campaign(identity.timeout(), identity.memory << 20)
        .adaptive(identity.adaptive)
        .change(Purpose::Measurement, |rule| rule.limits.wall = rule.limits.wall.max(PREFLIGHT));
    let rules = if plain { rules.plain() } else { rules };
    Arc::new(SolverRunners::new(configurations, rules).with_third_opinions(third_opinions))
}

/// How long a solver may take to answer the empty script: runtimes and instrumented builds need long to start, and
/// longer on a busy machine.
const PREFLIGHT: Duration = Duration::from_secs(30);

/// Runs a campaign of this process's own.
pub fn run(
    campaign: &Campaign,
    settings: &Settings,
    seeds: &SeedFiles,
    observer: &dyn Observer,
    interrupted: &(dyn Fn() -> bool + Sync),
) -> Result<Summary, CampaignError> {
    let Campaign { identity, targets, engines, .. } = campaign;
    if let Some(missing) =
        identity.engines.iter().find(|name| !engines.iter().any(|engine| engine.name() == **name))
    {
        return Err(CampaignError::Usage(format!("there is no engine '{missing}'")));
    }
    if logics(identity, targets, &(0..targets.len()).collect::<Vec<_>>()).is_empty() {
        return Err(CampaignError::Usage("these solvers have no logic in common".into()));
    }
    let out = &settings.out;
    // Before anything is made or run: what is not ours is left as it is.
    if out.join(LOCK).is_file() {
        lock_folder(settings)?;
    }
    agree_on(store::presence(out)?, settings)?;
    preflight(campaign)?;
    std::fs::create_dir_all(out).map_err(|error| CampaignError::disk(out, error))?;
    let _lock = lock_folder(settings)?;
    // Before anything is made that could not be made again.
    let log = Log::open(settings.log.as_deref())?;
    let present = store::presence(out)?;
    agree_on(present, settings)?;
    let mut store = match present {
        Presence::Campaign => store::open(out)?,
        Presence::Nothing => store::create(out, identity, &seeds.seeds)?,
    };
    if let Some((then, now)) = store.identity()?.difference(identity) {
        return Err(CampaignError::Differs { out: out.clone(), then, now });
    }
    let bugs = out.join("bugs");
    std::fs::create_dir_all(&bugs).map_err(|error| CampaignError::disk(&bugs, error))?;
    findings::sweep(&bugs).map_err(|error| CampaignError::disk(&bugs, error))?;
    store.set_closing(false)?;
    let member = store.join(Role::Owner)?;
    release_lost_claims(&mut *store, member, &bugs)?;
    let session = Session { campaign, settings, observer, interrupted, member, owner: true };
    session.go(store, log, seeds.rejected.len())
}

/// Whoever claimed a signature and was killed before the folder was there has left a finding that nobody can look at. Its
/// test case waits in a folder of its own and claims again, perhaps another signature.
fn release_lost_claims(
    store: &mut dyn CampaignStore,
    member: MemberId,
    bugs: &Path,
) -> Result<(), CampaignError> {
    // Another process may be about to write the folder.
    if store.members()?.iter().any(|other| other.id != member) {
        return Ok(());
    }
    let folders = findings::finished(bugs).map_err(|error| CampaignError::disk(bugs, error))?;
    let read = folders.iter().filter_map(|folder| Finding::read(folder).ok());
    let waiting: BTreeSet<(u64, u64)> = read
        .filter(|(finding, _)| finding.is_pending())
        .map(|(finding, _)| (finding.provenance.round, finding.provenance.step as u64))
        .collect();
    for known in store.findings()? {
        let lost = !bugs.join(&known.folder).join("finding.json").is_file();
        if lost && waiting.contains(&(known.round, known.step)) {
            store.release(&known.hash)?;
        }
    }
    Ok(())
}

/// A new campaign wants an empty place, a resumed one a campaign.
fn agree_on(present: Presence, settings: &Settings) -> Result<(), CampaignError> {
    match (present, settings.resume) {
        (Presence::Campaign, false) => Err(CampaignError::Occupied(settings.out.clone())),
        (Presence::Nothing, true) => Err(CampaignError::NothingToResume(settings.out.clone())),
        _ => Ok(()),
    }
}

/// Joins the campaign that another process runs in the output folder, until that ends.
pub fn join(
    campaign: &Campaign,
    settings: &Settings,
    observer: &dyn Observer,
    interrupted: &(dyn Fn() -> bool + Sync),
) -> Result<Summary, CampaignError> {
    preflight(campaign)?;
    let log = Log::open(settings.log.as_deref())?;
    let mut store = store::open(&settings.out)?;
    if !owner_is_there(&mut *store)? {
        return Err(CampaignError::NobodyToJoin(settings.out.clone()));
    }
    let member = store.join(Role::Helper)?;
    let session = Session { campaign, settings, observer, interrupted, member, owner: false };
    session.go(store, log, 0)
}

/// Does somebody run the campaign?
fn owner_is_there(store: &mut dyn CampaignStore) -> Result<bool, CampaignError> {
    let there = store.members()?.iter().any(|member| member.role == Role::Owner);
    Ok(there && !store.closing()?)
}

/// One process's part of a campaign.
struct Session<'r> {
    campaign: &'r Campaign<'r>,
    settings: &'r Settings,
    observer: &'r dyn Observer,
    interrupted: &'r (dyn Fn() -> bool + Sync),
    member: MemberId,
    /// This process began the campaign, or resumed it; others only help.
    owner: bool,
}

impl Session<'_> {
    fn go(
        &self,
        mut store: Box<dyn CampaignStore>,
        log: Log,
        rejected_seeds: usize,
    ) -> Result<Summary, CampaignError> {
        let Session { campaign, settings, .. } = self;
        let unwanted = triage::unwanted(&settings.known)?;
        let state = State::new(
            store.started()?,
            store.learned()?,
            store.pool()?,
            store.features()?,
            store.totals()?,
            store.findings()?,
            unwanted,
        );
        log.write(&LogLine::Start {
            rng_seed: campaign.identity.rng_seed,
            solvers: &campaign.targets.iter().map(|target| target.name.clone()).collect::<Vec<_>>(),
            engines: &campaign.identity.engines,
            seeds: state.pool.len(),
        })?;
        let shared = Shared::new(state, log, Stop::new(settings), self.observer, &settings.out);
        let store = Mutex::new(store);
        let rules = TriageRules { bisect: campaign.identity.bisect, reduce_all: settings.reduce_all };
        let triage = Triage::new(&shared, &store, Arc::clone(&campaign.runners), rules);
        self.observer.begun();
        let failed =
            self.prepare(&shared, &store, &triage).and_then(|()| self.work(&shared, &store, &triage));
        let interrupted = (self.interrupted)();
        // Whatever happened, what was counted is handed over, and the others hear that this process has gone.
        let told = triage.tell_duplicates().and_then(|()| exchange(&shared, &store, self.member));
        let parted = self.part(&store);
        failed.and(told).and(parted)?;
        let (mut totals, findings) = {
            let mut store = lock(&store);
            (store.totals()?, store.findings()?)
        };
        totals.count_findings(&findings);
        let bugs = findings::finished(shared.bugs()).unwrap_or_default();
        let pending =
            bugs.iter().filter(|folder| Finding::read(folder).is_ok_and(|(one, _)| one.is_pending()));
        let pending = pending.count();
        shared.log.write(&LogLine::End { totals: &totals })?;
        shared.log.flush()?;
        let state = shared.state();
        Ok(Summary {
            rng_seed: campaign.identity.rng_seed,
            tests: shared.stop.tests(),
            seconds: shared.stop.elapsed().as_secs_f64(),
            findings,
            pending,
            engine_shares: shares(&state),
            seeds: state.pool.len(),
            run: state.run_totals().clone(),
            totals,
            rejected_seeds,
            interrupted,
        })
    }

    /// What an earlier run left is taken in, and the first rounds are claimed.
    fn prepare(
        &self,
        shared: &Shared,
        store: &Mutex<Box<dyn CampaignStore>>,
        triage: &Triage,
    ) -> Result<(), CampaignError> {
        if self.owner {
            let solvers: Vec<_> = self.campaign.targets.iter().map(|target| target.solver.clone()).collect();
            triage.adopt(&solvers)?;
        }
        if !self.owner {
            // Seeds are tried as they are by the owner: a helper that leaves would take them along.
            shared.state().add_untried(Vec::new(), false);
        }
        if self.owner && self.settings.resume {
            // A process that was killed had claimed seeds and not tried them.
            let claimed = lock(store).claim_untried(usize::MAX)?;
            let mut state = shared.state();
            state.add_untried(claimed, false);
            let lost = state.never_tried();
            state.add_untried(lost, false);
        }
        exchange(shared, store, self.member)
    }

    /// All threads, until the campaign is over or one of them cannot go on. The first error is given back.
    fn work(
        &self,
        shared: &Shared,
        store: &Mutex<Box<dyn CampaignStore>>,
        triage: &Triage,
    ) -> Result<(), CampaignError> {
        let Campaign { identity, targets, engines, runners } = self.campaign;
        let failed: Mutex<Option<CampaignError>> = Mutex::new(None);
        let fail = |error: CampaignError| {
            shared.stop.ask();
            lock(&failed).get_or_insert(error);
        };
        let jobs = self.settings.jobs.max(1);
        let (running, triaging) = (AtomicUsize::new(jobs), AtomicUsize::new(1));
        let gone = || running.load(Ordering::Acquire) == 0;
        let policy = policy(identity.options);
        let signals = signals();
        let scheduler = Scheduler { identity, targets, engines };
        let tools = Tools { shared, triage, scheduler: &scheduler, policy: &*policy, signals: &signals };
        let watcher = std::thread::current();
        std::thread::scope(|scope| {
            for _ in 0..jobs {
                scope.spawn(|| {
                    let work = || Worker::new(tools, &**runners).and_then(|mut worker| worker.work());
                    if let Err(error) = guarded("a worker", work) {
                        fail(error);
                    }
                    running.fetch_sub(1, Ordering::Release);
                    triage.wake();
                    watcher.unpark();
                });
            }
            scope.spawn(|| {
                let ending = Ending { workers_gone: &gone, interrupted: &self.interrupted };
                if let Err(error) = guarded("triage", || triage.work(&ending)) {
                    fail(error);
                }
                triaging.store(0, Ordering::Release);
                shared.nudge_exchange();
                watcher.unpark();
            });
            scope.spawn(|| {
                while !gone() || triaging.load(Ordering::Acquire) > 0 {
                    shared.until_exchange(EXCHANGE);
                    let exchanged = guarded("the exchange with the store", || {
                        triage.tell_duplicates()?;
                        exchange(shared, store, self.member)?;
                        self.look_for_owner(shared, store)
                    });
                    if let Err(error) = exchanged {
                        fail(error);
                        break;
                    }
                }
            });
            // A view that cannot be drawn any more must not leave the others working for ever.
            let watched = guarded("the view", || {
                let mut shown = Instant::now();
                while !gone() || triaging.load(Ordering::Acquire) > 0 {
                    std::thread::park_timeout(TICK);
                    if (self.interrupted)() {
                        shared.stop.ask();
                    }
                    if shown.elapsed() >= PROGRESS {
                        shown = Instant::now();
                        self.observer.progress(&snapshot(shared, triage));
                    }
                }
                Ok(())
            });
            if let Err(error) = watched {
                fail(error);
            }
        });
        failed.into_inner().unwrap_or_else(std::sync::PoisonError::into_inner).map_or(Ok(()), Err)
    }

    /// A helper ends with the campaign it helps.
    fn look_for_owner(
        &self,
        shared: &Shared,
        store: &Mutex<Box<dyn CampaignStore>>,
    ) -> Result<(), CampaignError> {
        if !self.owner && !shared.stop.now() && !owner_is_there(&mut **lock(store))? {
            shared.observer.note("the campaign has ended");
            shared.stop.ask();
        }
        Ok(())
    }

    /// Leaves the campaign. Its owner tells the others to end and waits until they have handed over what they counted.
    fn part(&self, store: &Mutex<Box<dyn CampaignStore>>) -> Result<(), CampaignError> {
        let mut store = lock(store);
        if self.owner {
            store.set_closing(true)?;
            let begun = Instant::now();
            while store.members()?.iter().any(|member| member.id != self.member) && begun.elapsed() < FAREWELL
            {
                std::thread::sleep(TICK);
            }
        }
        Ok(store.leave(self.member)?)
    }
}

/// A panic of ours ends the campaign with what it has, and is told like any other defect.
fn guarded(who: &str, work: impl FnOnce() -> Result<(), CampaignError>) -> Result<(), CampaignError> {
    catch_unwind(AssertUnwindSafe(work)).unwrap_or_else(|panic| {
        let text = EnginePanic::of(&*panic);
        Err(CampaignError::Internal(format!("{who} ended with a {text}")))
    })
}

fn snapshot(shared: &Shared, triage: &Triage) -> Snapshot {
    let pending = triage.pending();
    let mut state = shared.state();
    let totals = state.totals_now().clone();
    Snapshot {
        totals,
        run: state.run_totals().clone(),
        tests: shared.stop.tests(),
        elapsed: shared.stop.elapsed(),
        left: shared.stop.left(),
        shares: shares(&state),
        seeds: state.pool.len(),
        pending,
        members: shared.members(),
    }
}

fn shares(state: &State) -> Vec<(String, f64)> {
    let all: u64 = state.learned.of_kind(ENGINE).map(|(_, counts)| counts.cpu).sum();
    let share = |cpu: u64| cpu as f64 / all.max(1) as f64;
    state.learned.of_kind(ENGINE).map(|(name, counts)| (name.to_owned(), share(counts.cpu))).collect()
}

/// Locked by the campaign that works in a folder.
const LOCK: &str = ".lock";

/// Two campaigns must not write to one folder.
fn lock_folder(settings: &Settings) -> Result<File, CampaignError> {
    let path = settings.out.join(LOCK);
    let file = File::create(&path).map_err(|error| CampaignError::disk(&path, error))?;
    match file.try_lock() {
        Ok(()) => Ok(file),
        Err(std::fs::TryLockError::WouldBlock) => Err(CampaignError::InUse(settings.out.clone())),
        Err(std::fs::TryLockError::Error(error)) => Err(CampaignError::disk(&path, error)),
    }
}

/// Every solver must be able to say that nothing is satisfiable.
fn preflight(campaign: &Campaign) -> Result<(), CampaignError> {
    let failed = |error| CampaignError::of_run("a solver", error);
    let mut runner = campaign.runners.runner().map_err(failed)?;
    for target in campaign.targets {
        let configuration = Arc::new(target.configuration());
        let script = b"(set-logic QF_UF)\n(check-sat)\n";
        let run = runner.run(&configuration, script, Purpose::Measurement);
        let run = run.map_err(|error| CampaignError::of_run(&target.name, error))?;
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
