//! Runs by processes.

use std::collections::{BTreeSet, HashMap};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use super::{Accounts, Configuration, Pace, Purpose, Run, RunError, RunRules, Runner, Runners, Start};
use crate::fast::ExecMode;
use crate::launch::{Launcher, LauncherConfig};
use crate::limits::Limits;
use crate::solver::Solver;

/// Makes runners with the same configurations and rules. What the user should hear is told by one of them, once.
#[derive(Clone)]
pub struct SolverRunners {
    panel: Vec<Arc<Configuration>>,
    third_opinions: Arc<[Arc<Configuration>]>,
    rules: Arc<RunRules>,
    notes: Arc<Mutex<Notes>>,
}

impl SolverRunners {
    pub fn new(panel: Vec<Arc<Configuration>>, rules: RunRules) -> SolverRunners {
        SolverRunners { panel, third_opinions: Arc::default(), rules: Arc::new(rules), notes: Arc::default() }
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
            launcher: Launcher::new(LauncherConfig::default())?,
            panel: self.panel.clone(),
            third_opinions: Arc::clone(&self.third_opinions),
            rules: Arc::clone(&self.rules),
            paces: HashMap::new(),
            accounts: Accounts::default(),
            launcher_cpu: Duration::ZERO,
            noticed: BTreeSet::new(),
            notes: Arc::clone(&self.notes),
        })
    }
}

impl Runners for SolverRunners {
    fn runner(&self) -> Result<Box<dyn Runner>, RunError> {
        Ok(Box::new(self.start()?))
    }
}

/// Runs solvers as processes, under the rule of each run's purpose.
pub struct SolverRunner {
    launcher: Launcher,
    panel: Vec<Arc<Configuration>>,
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
    notes: Arc<Mutex<Notes>>,
}

/// A solver, the fast start it should have had, and why it had none.
type Fallback = (String, ExecMode, String);

/// What the user should hear, of all runners of a kind.
#[derive(Default)]
struct Notes {
    known: BTreeSet<Fallback>,
    waiting: Vec<String>,
}

/// Reasons may hold numbers or paths that change; their count is bounded.
const MOST_NOTES: usize = 1000;

impl SolverRunner {
    /// A runner for configurations of its own.
    pub fn new(panel: Vec<Configuration>, rules: RunRules) -> Result<SolverRunner, RunError> {
        SolverRunners::new(panel.into_iter().map(Arc::new).collect(), rules).start()
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
    fn panel(&self) -> &[Arc<Configuration>] {
        &self.panel
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
        let mode = match rule.start {
            Start::Fast => solver.fast_modes().next().unwrap_or(ExecMode::Plain),
            Start::Plain => ExecMode::Plain,
        };
        let most = wall.map_or(rule.limits.wall, |wall| wall.min(rule.limits.wall));
        let who = rule.adaptive.then(|| pace_name(solver));
        let wall = match &who {
            Some(who) => self.paces.entry(who.clone()).or_default().next(most),
            None => most,
        };
        let mut invocation = solver.invocation(script, &configuration.request)?;
        invocation.limits = Limits { wall, ..rule.limits.clone() };
        invocation.mode = mode;
        let outcome = self.launcher.run_retrying(&invocation, rule.attempts)?;
        self.accounts.of_mut(purpose).record(&outcome);
        if let Some(pace) = who.and_then(|who| self.paces.get_mut(&who)) {
            pace.record(outcome.wall_time, outcome.timed_out);
        }
        if let Some(reason) = &outcome.fallback {
            self.notice(solver, mode, reason);
        }
        Ok(Run::new(configuration, script, outcome))
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

/// What runs must have in common to be of one pace.
fn pace_name(solver: &Solver) -> String {
    let mut name = solver.name();
    for option in &solver.options {
        name.push(' ');
        name.push_str(option);
    }
    name
}
