//! One process's part of a campaign: its threads, from what it takes over to its summary.

use std::collections::BTreeMap;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use solver::Solver;

use super::worker::{Tools, Worker};
use super::{Campaign, Summary};
use crate::config::Settings;
use crate::driver::EnginePanic;
use crate::error::CampaignError;
use crate::findings::{self, Finding, environment};
use crate::schedule::{Policies, Reached, Scheduler, signals};
use crate::seeds::Rejected;
use crate::shared::{Log, LogLine, Observer, Shared, Snapshot, State, Stop, exchange, lock};
use crate::store::{CampaignStore, ENGINE, MEMBER_GONE, MemberId, Role, Totals};
use crate::triage::{CodeTracer, Ending, Triage, TriageRules};

/// How often progress is shown.
const PROGRESS: Duration = Duration::from_millis(500);

/// How often the clock and the user are asked whether it is over.
const TICK: Duration = Duration::from_millis(200);

/// How long the end waits for other processes to hand over what they have, or to be gone for sure.
const HANDOVER: Duration = Duration::from_secs(MEMBER_GONE + 5);

/// How often findings of processes that are gone are looked for.
const TAKE_OVER: Duration = Duration::from_secs(10);

/// One process's part of a campaign.
pub(super) struct Session<'r> {
    pub campaign: &'r Campaign<'r>,
    pub settings: &'r Settings,
    pub observer: &'r dyn Observer,
    pub interrupted: &'r (dyn Fn() -> bool + Sync),
    pub member: MemberId,
    /// This process began the campaign, or resumed it; others only help.
    pub owner: bool,
}

impl Session<'_> {
    /// From what the store has to the summary of this run.
    pub fn go(
        &self,
        mut store: Box<dyn CampaignStore>,
        log: Log,
        rejected_seeds: &[Rejected],
    ) -> Result<Summary, CampaignError> {
        let Session { campaign, settings, .. } = self;
        let mut reached = Reached::of(campaign.targets).unused(settings.unused_coverage);
        reached.restore(&store.sites()?);
        let mut state = State::new(
            store.started()?,
            store.learned()?,
            store.pool()?,
            store.features()?,
            store.totals()?,
            store.findings()?,
            store.unwanted()?,
        )
        .reaching(reached);
        state.recall(store.memories()?);
        state.count(&self.began(rejected_seeds));
        log.write(&LogLine::Start {
            rng_seed: campaign.identity.rng_seed,
            solvers: &campaign.targets.iter().map(|target| target.name.clone()).collect::<Vec<_>>(),
            engines: &campaign.identity.engines,
            seeds: state.pool.len(),
        })?;
        let shared = Shared::new(state, log, Stop::new(settings), self.observer, &settings.out);
        let store = Mutex::new(store);
        let rules = TriageRules { bisect: campaign.identity.bisect, reduce_all: settings.reduce_all };
        let codes = campaign
            .targets
            .iter()
            .filter_map(|target| Some((target.solver.name(), Arc::clone(&target.code.as_ref()?.1))));
        let tracer = CodeTracer::new(Arc::clone(&campaign.runners), codes);
        let triage = Triage::new(&shared, &store, Arc::clone(&campaign.runners), rules).tracing(tracer);
        self.observer.begun();
        let failed =
            self.prepare(&shared, &store, &triage).and_then(|()| self.work(&shared, &store, &triage));
        let failed = failed.and_then(|()| self.finish_for_others(&shared, &store, &triage));
        let interrupted = (self.interrupted)();
        // Whatever happened, what was counted is handed over, and the others hear that this process has gone.
        let told = triage.tell_duplicates().and_then(|()| exchange(&shared, &store, self.member));
        let left = self.leave(&store);
        for note in lock(&store).take_notes() {
            self.observer.note(&note);
        }
        failed.and(told).and(left)?;
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
        if self.owner && !state.reached.is_empty() {
            let saved = state.reached.save(&settings.out);
            saved.map_err(|error| CampaignError::disk(&settings.out, std::io::Error::other(error)))?;
        }
        Ok(Summary {
            rng_seed: campaign.identity.rng_seed,
            tests: shared.stop.tests(),
            seconds: shared.stop.elapsed().as_secs_f64(),
            findings,
            pending,
            engine_shares: shares(&state),
            seeds: state.pool.len(),
            coverage: state.reached.coverage(),
            run: state.run_totals().clone(),
            totals,
            built_without: self.built_without(),
            rejected_seeds: rejected_seeds.len(),
            interrupted,
        })
    }

    /// What this process is and was given, so that a report can tell it.
    fn began(&self, rejected_seeds: &[Rejected]) -> Totals {
        let mut totals = Totals::default();
        totals.commands.count(self.settings.command.clone());
        totals.versions.count(concat!("osprey ", env!("CARGO_PKG_VERSION")).to_owned());
        totals.versions.count(environment::platform());
        for solver in self.solvers() {
            let without = match solver.built_without.join(", ") {
                none if none.is_empty() => none,
                some => format!(", built without {some}"),
            };
            let program = environment::of_program(&solver);
            totals.versions.count(format!("{}: {program}{without}", solver.name()));
        }
        // A campaign that goes on has counted them before.
        if self.owner && !self.settings.resume {
            rejected_seeds.iter().for_each(|one| totals.unread_seeds.count(one.why.clone()));
        }
        totals
    }

    /// What an earlier run left is taken in, and the first rounds are claimed.
    fn prepare(
        &self,
        shared: &Shared,
        store: &Mutex<Box<dyn CampaignStore>>,
        triage: &Triage,
    ) -> Result<(), CampaignError> {
        let Campaign { identity, targets, engines, .. } = self.campaign;
        if (Scheduler { identity, targets, engines }).only_tries() {
            shared.state().claimed.take_only_seeds();
        }
        let travels = lock(store).archive().is_some();
        if self.owner || travels {
            triage.adopt(&self.solvers())?;
        }
        if !self.owner && !travels {
            // Seeds are tried as they are by the owner: a helper that leaves would take them along.
            shared.state().claimed.add_untried(Vec::new(), false);
        }
        if self.owner && self.settings.resume && !travels {
            // A process that was killed had claimed seeds and not tried them.
            let claimed = lock(store).claim_untried(usize::MAX)?;
            let mut state = shared.state();
            state.claimed.add_untried(claimed, false);
            let lost = state.claimed.never_tried(&state.pool);
            state.claimed.add_untried(lost, false);
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
        let told = AtomicBool::new(false);
        let gone = || running.load(Ordering::Acquire) == 0;
        let policies = Policies::new(identity, engines);
        let signals = signals();
        let scheduler = Scheduler { identity, targets, engines };
        let tools = Tools { shared, triage, scheduler: &scheduler, policies: &policies, signals: &signals };
        let watcher = std::thread::current();
        std::thread::scope(|scope| {
            for _ in 0..jobs {
                scope.spawn(|| {
                    let work = || Worker::new(tools, &**runners).and_then(|mut worker| worker.work());
                    if let Err(error) = guarded("a worker", work) {
                        fail(error);
                    }
                    if self.has_tried_all(shared) && !told.swap(true, Ordering::Relaxed) {
                        self.tell_all_tried(shared);
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
                let solvers = self.solvers();
                let mut taken = Instant::now();
                while !gone() || triaging.load(Ordering::Acquire) > 0 {
                    let pace = lock(store).pace();
                    shared.until_exchange(pace);
                    let exchanged = guarded("the exchange with the store", || {
                        triage.tell_duplicates()?;
                        exchange(shared, store, self.member)?;
                        if taken.elapsed() >= TAKE_OVER && !shared.stop.now() {
                            taken = Instant::now();
                            triage.share_unsent(false)?;
                            triage.take_over(&solvers)?;
                        }
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

    /// What the builds lack that their releases have.
    fn built_without(&self) -> BTreeMap<String, Vec<String>> {
        let lacking = self.solvers().into_iter().filter(|solver| !solver.built_without.is_empty());
        lacking.map(|solver| (solver.name(), solver.built_without)).collect()
    }

    /// Do the workers end because every seed has been tried, and not because the campaign is over?
    fn has_tried_all(&self, shared: &Shared) -> bool {
        !shared.stop.now() && shared.state().claimed.is_done()
    }

    fn tell_all_tried(&self, shared: &Shared) {
        let text = match self.owner {
            true => "no seed is left to try, and no other engine was chosen: the campaign ends",
            false => "no seed is left for this process to try, and no other engine was chosen: it leaves",
        };
        shared.observer.note(text);
        // A log that cannot be written is told by whoever writes the next line.
        let _ = shared.log.note(text);
    }

    fn solvers(&self) -> Vec<Solver> {
        self.campaign.targets.iter().map(|target| target.solver.clone()).collect()
    }

    /// The owner goes on with what others have left. Where folders of findings travel in the store, it fetches all.
    fn finish_for_others(
        &self,
        shared: &Shared,
        store: &Mutex<Box<dyn CampaignStore>>,
        triage: &Triage,
    ) -> Result<(), CampaignError> {
        triage.share_unsent(false)?;
        if !self.owner {
            return Ok(());
        }
        // Duplicates that the others find meanwhile are counted by them.
        exchange(shared, store, self.member)?;
        self.close(shared, store)?;
        let ending = Ending { workers_gone: &|| true, interrupted: &self.interrupted };
        if lock(store).archive().is_none() {
            triage.adopt_left(&self.solvers())?;
            return triage.work(&ending);
        }
        // What cannot be made small here would come again and again.
        let open = lock(store).archive().map_or(Ok(0), |archive| {
            archive.list().map(|all| all.iter().filter(|folder| folder.open).count())
        });
        for _ in 0..open.unwrap_or(0) {
            triage.take_over(&self.solvers())?;
            if triage.pending() == 0 {
                break;
            }
            triage.work(&ending)?;
            if !self.settings.reduce_all {
                break;
            }
        }
        let mut store = lock(store);
        let fetched = store.archive().map_or(Ok(()), |archive| findings::fetch(archive, shared.bugs()));
        match fetched {
            Err(error) if error.is_away() => Ok(()),
            fetched => fetched,
        }
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
    fn leave(&self, store: &Mutex<Box<dyn CampaignStore>>) -> Result<(), CampaignError> {
        let mut store = lock(store);
        if self.owner {
            store.set_closing(true)?;
            let begun = Instant::now();
            while others(&mut **store, self.member)? && begun.elapsed() < HANDOVER && !store.is_away() {
                std::thread::sleep(TICK);
            }
        }
        Ok(store.leave(self.member)?)
    }

    /// Tells the others to end and waits until they have, with signs of life meanwhile.
    fn close(&self, shared: &Shared, store: &Mutex<Box<dyn CampaignStore>>) -> Result<(), CampaignError> {
        lock(store).set_closing(true)?;
        let begun = Instant::now();
        // What another process still makes small is made small before the end, if the user wants that.
        let patient = || self.settings.reduce_all && !(self.interrupted)();
        while others(&mut **lock(store), self.member)? && (patient() || begun.elapsed() < HANDOVER) {
            if lock(store).is_away() {
                break;
            }
            std::thread::sleep(lock(store).pace());
            exchange(shared, store, self.member)?;
        }
        Ok(())
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
    let pending = triage.untold();
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
        coverage: state.reached.coverage(),
        pending,
        members: shared.members(),
    }
}

fn shares(state: &State) -> Vec<(String, f64)> {
    let all: u64 = state.learned.of_kind(ENGINE).map(|(_, counts)| counts.cpu).sum();
    let share = |cpu: u64| cpu as f64 / all.max(1) as f64;
    state.learned.of_kind(ENGINE).map(|(name, counts)| (name.to_owned(), share(counts.cpu))).collect()
}

/// Are there others?
fn others(store: &mut dyn CampaignStore, own: MemberId) -> Result<bool, CampaignError> {
    Ok(store.members()?.iter().any(|member| member.id != own))
}

/// Does somebody run the campaign?
pub(super) fn owner_is_there(store: &mut dyn CampaignStore) -> Result<bool, CampaignError> {
    let there = store.members()?.iter().any(|member| member.role == Role::Owner);
    Ok(there && !store.closing()?)
}
