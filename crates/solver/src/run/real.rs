//! Runs by processes.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::hash::{DefaultHasher, Hasher};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use super::{
    Accounts, Configuration, Pace, Purpose, Run, RunError, RunRules, Runner, Runners, Start, health,
};
use crate::coverage::{Code, ProbeRequest, Trace};
use crate::fast::ExecMode;
use crate::launch::{Invocation, LaunchError, Launcher, LauncherConfig, Outcome, WallChoice};
use crate::limits::Limits;
use crate::solver::Solver;

/// Makes runners with the same configurations and rules. What the user should hear is told by one of them, once.
#[derive(Clone)]
pub struct SolverRunners {
    configurations: Vec<Arc<Configuration>>,
    third_opinions: Arc<[Arc<Configuration>]>,
    rules: Arc<RunRules>,
    notes: Arc<Mutex<Notes>>,
    launcher: LauncherConfig,
    watched: Arc<BTreeMap<String, Watched>>,
}

/// A solver whose coverage is wanted.
#[derive(Clone)]
struct Watched {
    new: ProbeRequest,
    functions: ProbeRequest,
}

impl SolverRunners {
    pub fn new(configurations: Vec<Arc<Configuration>>, rules: RunRules) -> SolverRunners {
        let launcher = LauncherConfig::default();
        let third_opinions = Arc::default();
        SolverRunners {
            configurations,
            third_opinions,
            rules: Arc::new(rules),
            notes: Arc::default(),
            launcher,
            watched: Arc::default(),
        }
    }

    /// Runs of test cases tell what they reach of the code of these solvers, by name.
    #[must_use]
    pub fn watching<'c>(self, codes: impl IntoIterator<Item = (String, &'c Code)>) -> SolverRunners {
        let watched =
            |code: &Code| Watched { new: code.probe(Trace::New), functions: code.probe(Trace::Approximate) };
        let watched = codes.into_iter().map(|(name, code)| (name, watched(code))).collect();
        SolverRunners { watched: Arc::new(watched), ..self }
    }

    /// With another wall around the solvers than the user's environment says.
    #[must_use]
    pub fn behind(mut self, wall: WallChoice) -> SolverRunners {
        self.launcher.wall = wall;
        self
    }

    /// With these solvers for third opinions, the best first.
    #[must_use]
    pub fn with_third_opinions(self, solvers: impl IntoIterator<Item = Solver>) -> SolverRunners {
        let numbered = Configuration::numbered(solvers);
        SolverRunners { third_opinions: numbered.into_iter().map(Arc::new).collect(), ..self }
    }

    /// A runner with its own launcher.
    pub fn start(&self) -> Result<SolverRunner, RunError> {
        Ok(SolverRunner {
            launcher: Launcher::new(self.launcher.clone())?,
            configurations: self.configurations.clone(),
            third_opinions: Arc::clone(&self.third_opinions),
            rules: Arc::clone(&self.rules),
            paces: HashMap::new(),
            accounts: Accounts::default(),
            launcher_cpu: Duration::ZERO,
            noticed: BTreeSet::new(),
            working: HashSet::new(),
            notes: Arc::clone(&self.notes),
            watched: Arc::clone(&self.watched),
            unwatchable: BTreeSet::new(),
            reached: BTreeMap::new(),
        })
    }
}

impl Runners for SolverRunners {
    fn runner(&self) -> Result<Box<dyn Runner>, RunError> {
        Ok(Box::new(self.start()?))
    }

    fn unwatched(&self) -> Result<Box<dyn Runner>, RunError> {
        Ok(Box::new(SolverRunner { watched: Arc::default(), ..self.start()? }))
    }
}

/// Runs solvers as processes, under the rule of each run's purpose.
pub struct SolverRunner {
    launcher: Launcher,
    configurations: Vec<Arc<Configuration>>,
    third_opinions: Arc<[Arc<Configuration>]>,
    rules: Arc<RunRules>,
    /// Of each solver with the user's options: where runs that take unusually long are cut. Options of test cases
    /// change too often to learn from.
    paces: HashMap<String, Pace>,
    accounts: Accounts,
    /// CPU time of the launcher that was handed out already.
    launcher_cpu: Duration,
    /// Fallbacks this runner has passed on.
    noticed: BTreeSet<Fallback>,
    /// Solvers with the user's options that are known to work.
    working: HashSet<String>,
    notes: Arc<Mutex<Notes>>,
    watched: Arc<BTreeMap<String, Watched>>,
    /// Those of them that cannot be watched after all.
    unwatchable: BTreeSet<String>,
    /// What runs other than those of test cases have reached, until a test case's run tells it: it is told once.
    reached: BTreeMap<String, Vec<u32>>,
}

/// A solver, the fast start it should have had, and why it had none.
type Fallback = (String, ExecMode, String);

/// What the user should hear, of all runners of a kind.
#[derive(Default)]
struct Notes {
    known: BTreeSet<Fallback>,
    removed: BTreeSet<String>,
    no_stacks: bool,
    unwatchable: BTreeSet<String>,
    waiting: Vec<String>,
}

/// How long a solver may take to show that it works.
const LEAST_TRIAL: Duration = Duration::from_secs(10);

/// Reasons may hold numbers or paths that change; their count is bounded.
const MOST_NOTES: usize = 1000;

impl SolverRunner {
    /// A runner for configurations of its own.
    pub fn new(configurations: Vec<Configuration>, rules: RunRules) -> Result<SolverRunner, RunError> {
        SolverRunners::new(configurations.into_iter().map(Arc::new).collect(), rules).start()
    }

    /// One run. A launcher may die of many things, several in a row only of the solver.
    fn launch(&mut self, solver: &Solver, run: &Invocation, attempts: u32) -> Result<Outcome, RunError> {
        self.launcher.run_retrying(run, attempts).map_err(|error| match error {
            LaunchError::LauncherDied if attempts > 1 => {
                RunError::KillsLauncher { solver: solver.name(), attempts }
            }
            error => error.into(),
        })
    }

    /// Whether a solver that failed on a script works at all: asked once, with a trivial script and the user's options.
    fn see_that_it_works(&mut self, run: &Run, who: String, purpose: Purpose) -> Result<(), RunError> {
        let solver = &run.configuration.solver;
        if self.working.contains(&who) {
            return Ok(());
        }
        if health::is_suspicious(run) {
            let plain = Arc::new(Configuration::new(run.party(), solver.clone()));
            let mut complaint = None;
            for script in health::TRIVIAL {
                let mut invocation = solver.invocation(script, &plain.request)?;
                let limits = &self.rules.of(purpose).limits;
                invocation.limits = Limits { wall: limits.wall.max(LEAST_TRIAL), ..limits.clone() };
                let outcome = self.launch(solver, &invocation, self.rules.of(purpose).attempts)?;
                self.accounts.of_mut(purpose).record(&outcome);
                complaint = health::complaint(&Run::new(&plain, script, outcome));
                if complaint.is_none() {
                    break;
                }
            }
            if let Some(reason) = complaint {
                return Err(RunError::Broken { solver: solver.name(), reason });
            }
        } else if run.answers.trusted().next().is_none() {
            return Ok(());
        }
        self.working.insert(who);
        Ok(())
    }

    /// Tells what was taken out of scripts, each kind once.
    fn notice_removed(&mut self, removed: &[String]) {
        let mut notes = self.notes.lock().unwrap_or_else(PoisonError::into_inner);
        for what in removed {
            // Lines differ from script to script.
            let kind = what.split_once(": ").map_or(what.as_str(), |(_, kind)| kind).to_owned();
            if notes.removed.len() < MOST_NOTES && notes.removed.insert(kind) {
                notes.waiting.push(format!("taken out of what solvers are given, {what}"));
            }
        }
    }

    /// Tells once that stacks of crashes cannot be read.
    fn notice_no_stack(&mut self, reason: &str) {
        let mut notes = self.notes.lock().unwrap_or_else(PoisonError::into_inner);
        if !std::mem::replace(&mut notes.no_stacks, true) {
            notes.waiting.push(format!(
                "the stacks of crashes cannot be read, so crashes that do not name their place are told apart by \
                 operators: no ptrace ({reason})"
            ));
        }
    }

    /// What is watched in a run of this solver.
    fn watched(&self, name: &str) -> Option<&Watched> {
        self.watched.get(name).filter(|_| !self.unwatchable.contains(name))
    }

    /// Sees to what a run has told of its coverage: only runs of test cases pass it on.
    fn take_sites(&mut self, name: String, purpose: Purpose, outcome: &mut Outcome) {
        match outcome.sites.take() {
            None => {}
            Some(Ok(sites)) if purpose == Purpose::Test => {
                let mut all = self.reached.remove(&name).unwrap_or_default();
                all.extend(sites);
                outcome.sites = Some(Ok(all));
            }
            Some(Ok(sites)) => self.reached.entry(name).or_default().extend(sites),
            Some(Err(reason)) => self.notice_unwatchable(name, &reason),
        }
    }

    /// Tells once that the coverage of a solver is not known.
    fn notice_unwatchable(&mut self, name: String, reason: &str) {
        let mut notes = self.notes.lock().unwrap_or_else(PoisonError::into_inner);
        if notes.unwatchable.insert(name.clone()) {
            notes.waiting.push(format!("what is reached of {name} is not told any more: {reason}"));
        }
        drop(notes);
        self.unwatchable.insert(name);
    }

    fn notice(&mut self, solver: &Solver, mode: ExecMode, reason: &str) {
        let fallback = (solver.name(), mode, reason.to_owned());
        if self.noticed.len() >= MOST_NOTES || self.noticed.contains(&fallback) {
            return;
        }
        let mut notes = self.notes.lock().unwrap_or_else(PoisonError::into_inner);
        if notes.known.len() < MOST_NOTES && notes.known.insert(fallback.clone()) {
            let name = &fallback.0;
            notes.waiting.push(format!("{name} is started plainly, which is slower: no {mode} ({reason})"));
        }
        drop(notes);
        self.noticed.insert(fallback);
    }
}

impl Runner for SolverRunner {
    fn configurations(&self) -> &[Arc<Configuration>] {
        &self.configurations
    }

    fn third_opinions(&self) -> &[Arc<Configuration>] {
        &self.third_opinions
    }

    fn run_within(
        &mut self,
        configuration: &Arc<Configuration>,
        script: &[u8],
        purpose: Purpose,
        wall: Option<Duration>,
    ) -> Result<Run, RunError> {
        let rules = Arc::clone(&self.rules);
        let rule = rules.of(purpose);
        let solver = &configuration.solver;
        let name = solver.name();
        if let Some(file) = solver.stamps.changed() {
            return Err(RunError::Changed { solver: name, file: file.to_path_buf() });
        }
        let mode = match rule.start {
            Start::Fast if configuration.request.once => ExecMode::Plain,
            Start::Fast => solver.fast_modes().next().unwrap_or(ExecMode::Plain),
            Start::Plain => ExecMode::Plain,
        };
        let most = wall.map_or(rule.limits.wall, |wall| wall.min(rule.limits.wall));
        let who = pace_name(&name, solver);
        let wall = match (rule.adaptive, self.paces.get_mut(&who)) {
            (false, _) => most,
            (true, Some(pace)) => pace.next(most),
            (true, None) => self.paces.entry(who.clone()).or_default().next(most),
        };
        let mut invocation = solver.invocation(script, &configuration.request)?;
        invocation.limits = Limits { wall, ..rule.limits.clone() };
        invocation.mode = mode;
        invocation.brief = purpose == Purpose::Test && !ends_in_full(script);
        invocation.stack = purpose == Purpose::Place;
        if rule.start == Start::Fast {
            invocation.probe = self.watched(&name).map(|watched| watched.new.clone());
        }
        if matches!(invocation.input, Cow::Owned(_)) {
            self.notice_removed(&solver.screen.apply(script).removed);
        }
        let mut outcome = self.launch(solver, &invocation, rule.attempts)?;
        self.accounts.of_mut(purpose).record(&outcome);
        self.take_sites(name, purpose, &mut outcome);
        if let Some(pace) = self.paces.get_mut(&who).filter(|_| rule.adaptive) {
            pace.record(outcome.wall_time, outcome.timed_out);
        }
        if let Some(reason) = &outcome.fallback {
            self.notice(solver, mode, reason);
        }
        if let Some(Err(reason)) = &outcome.stack {
            self.notice_no_stack(reason);
        }
        let run = Run::new(configuration, &invocation.input, outcome);
        self.see_that_it_works(&run, who, purpose)?;
        Ok(run)
    }

    fn trace(
        &mut self,
        configuration: &Arc<Configuration>,
        script: &[u8],
        wall: Duration,
    ) -> Result<Option<Vec<u32>>, RunError> {
        let solver = &configuration.solver;
        let Some(watched) = self.watched(&solver.name()) else { return Ok(None) };
        let rules = Arc::clone(&self.rules);
        let rule = rules.of(Purpose::Trace);
        let mut invocation = solver.invocation(script, &configuration.request)?;
        invocation.probe = Some(watched.functions.clone());
        invocation.limits = Limits { wall: wall.min(rule.limits.wall), ..rule.limits.clone() };
        invocation.mode = solver.fast_modes().next().unwrap_or(ExecMode::Plain);
        // Nobody judges what it says.
        invocation.brief = true;
        let mut outcome = self.launch(solver, &invocation, rule.attempts)?;
        self.accounts.of_mut(Purpose::Trace).record(&outcome);
        match outcome.sites.take() {
            Some(Ok(sites)) => Ok(Some(sites)),
            Some(Err(reason)) => {
                self.notice_unwatchable(solver.name(), &reason);
                Ok(None)
            }
            None => Ok(None),
        }
    }

    fn take_accounts(&mut self) -> Accounts {
        std::mem::take(&mut self.accounts)
    }

    fn take_notes(&mut self) -> Vec<String> {
        let mut notes = self.notes.lock().unwrap_or_else(PoisonError::into_inner);
        std::mem::take(&mut notes.waiting)
    }

    fn take_launcher_cpu(&mut self) -> Duration {
        let Ok(usage) = self.launcher.own_usage() else { return Duration::ZERO };
        // A new launcher counts from zero.
        let before = if usage.launcher < self.launcher_cpu { Duration::ZERO } else { self.launcher_cpu };
        self.launcher_cpu = usage.launcher;
        usage.launcher - before
    }
}

/// Whether a test case is run to the very end. One in eight is, by its text: solvers crash while they clear up, too.
fn ends_in_full(script: &[u8]) -> bool {
    let mut hasher = DefaultHasher::new();
    hasher.write(script);
    hasher.finish().is_multiple_of(8)
}

/// What runs must have in common to be of one pace.
fn pace_name(name: &str, solver: &Solver) -> String {
    let mut name = name.to_owned();
    for option in &solver.options {
        name.push(' ');
        name.push_str(option);
    }
    name
}
