//! A campaign from its start to its summary: workers, triage, and the exchange with the store.

mod answers;
mod prepare;
mod rehearse;
mod session;
mod start;
mod tally;
mod witness;
mod worker;

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use engines::Engine;
use serde::Serialize;
use solver::Solver;
use solver::run::{Purpose, RunRules, Runners, SolverRunners};

use self::session::{Session, owner_is_there};
use self::start::{LOCK, agree_on, lock_folder, preflight, release_lost_claims};
use crate::config::{Identity, Settings};
use crate::error::CampaignError;
use crate::findings;
use crate::schedule::{Scheduler, SolverCoverage, logics};
use crate::seeds::SeedFiles;
use crate::shared::{Log, Observer};
use crate::store::{KnownFinding, Place, Presence, Role, Totals};
use crate::target::Target;
use crate::triage;
pub use answers::{refusal, refused};
pub use rehearse::{Rehearsed, rehearse};

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
    /// How much of the solvers' code has been reached, where it is watched.
    pub coverage: Vec<SolverCoverage>,
    /// Theories that solvers were built without, by solver: no script that has them is sent there.
    pub built_without: BTreeMap<String, Vec<String>>,
    /// Seed files that could not be used.
    pub rejected_seeds: usize,
    /// The user ended it.
    pub interrupted: bool,
}

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
    let codes = targets.iter().filter_map(|target| Some((target.solver.name(), &*target.code.as_ref()?.1)));
    Arc::new(SolverRunners::new(configurations, rules).watching(codes).with_third_opinions(third_opinions))
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
    if !settings.resume && seeds.seeds.is_empty() && (Scheduler { identity, targets, engines }).only_tries() {
        let text = "there are no seeds, and no other engine was chosen than such as only try them: name seeds or engines";
        return Err(CampaignError::Usage(text.into()));
    }
    if logics(identity, targets, &(0..targets.len()).collect::<Vec<_>>()).is_empty() {
        return Err(CampaignError::Usage("these solvers have no logic in common".into()));
    }
    let known = settings.known.as_ref().map(triage::unwanted).transpose()?;
    let out = &settings.out;
    // Before anything is made or run: what is not ours is left as it is.
    if out.join(LOCK).is_file() {
        lock_folder(settings)?;
    }
    let place = Place::of(out)?;
    agree_on(place.presence()?, settings, &place)?;
    preflight(campaign)?;
    std::fs::create_dir_all(out).map_err(|error| CampaignError::disk(out, error))?;
    let _lock = lock_folder(settings)?;
    // Before anything is made that could not be made again.
    let log = Log::open(settings.log.as_deref())?;
    let present = place.presence()?;
    agree_on(present, settings, &place)?;
    match present {
        Presence::Campaign => place.upgrade()?,
        Presence::Nothing => place.create(identity, &seeds.seeds)?,
    }
    let mut store = place.work()?;
    if let Some((then, now)) = store.identity()?.difference(identity) {
        return Err(CampaignError::Differs { out: place.shown(), then, now });
    }
    if place.is_shared() && owner_is_there(&mut *store)? {
        return Err(CampaignError::OwnerIsThere(place.shown()));
    }
    let bugs = out.join("bugs");
    std::fs::create_dir_all(&bugs).map_err(|error| CampaignError::disk(&bugs, error))?;
    findings::sweep(&bugs).map_err(|error| CampaignError::disk(&bugs, error))?;
    // Before anybody can join.
    if let Some(known) = &known {
        store.set_unwanted(known, true)?;
    }
    store.set_closing(false)?;
    let member = store.join(Role::Owner)?;
    if let Some(archive) = store.archive() {
        findings::fetch(archive, &bugs)?;
    }
    release_lost_claims(&mut *store, member, &bugs)?;
    let session = Session { campaign, settings, observer, interrupted, member, owner: true };
    session.go(store, log, &seeds.rejected)
}

/// Joins the campaign that another process runs in the output folder, until that ends.
pub fn join(
    campaign: &Campaign,
    settings: &Settings,
    observer: &dyn Observer,
    interrupted: &(dyn Fn() -> bool + Sync),
) -> Result<Summary, CampaignError> {
    let known = settings.known.as_ref().map(triage::unwanted).transpose()?;
    let place = Place::of(&settings.out)?;
    let bugs = settings.out.join("bugs");
    let _lock = place.is_shared().then(|| lock_folder(settings)).transpose()?;
    preflight(campaign)?;
    let log = Log::open(settings.log.as_deref())?;
    let mut store = place.work()?;
    if !owner_is_there(&mut *store)? {
        return Err(CampaignError::NobodyToJoin(place.shown()));
    }
    if place.is_shared() {
        std::fs::create_dir_all(&bugs).map_err(|error| CampaignError::disk(&bugs, error))?;
        findings::sweep(&bugs).map_err(|error| CampaignError::disk(&bugs, error))?;
    }
    if let Some(known) = &known {
        store.set_unwanted(known, false)?;
    }
    let member = store.join(Role::Helper)?;
    let session = Session { campaign, settings, observer, interrupted, member, owner: false };
    session.go(store, log, &[])
}
