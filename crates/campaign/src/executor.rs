//! Running scripts on solvers: one executor a worker.

use std::sync::Arc;
use std::time::Duration;

use oracle::{Configuration, Rerun, Run, RunError};
use solver::Outline;
use solver::fast::ExecMode;
use solver::launch::{LaunchError, Launcher, LauncherConfig};
use solver::limits::Limits;

use crate::config::Identity;
use crate::error::CampaignError;
use crate::pace::Pace;
use crate::target::Target;

/// Runs solvers for one worker and counts what that costs.
pub struct Executor {
    runner: Launcher,
    limits: Limits,
    panel: Vec<Arc<Configuration>>,
    /// How each of them is started fast.
    modes: Vec<ExecMode>,
    /// Further questions may be answered by fast starts.
    quick: bool,
    /// Of each target, where runs that take unusually long are cut.
    paces: Option<Vec<Pace>>,
    /// Since the last [`Executor::take_cost`].
    cost: Cost,
    launcher_cpu: Duration,
}

/// What runs have cost.
#[derive(Clone, Copy, Debug, Default)]
pub struct Cost {
    pub runs: u64,
    /// Plain runs among them: confirmations and further questions of oracles.
    pub extra: u64,
    pub cpu: Duration,
    /// Of the plain runs.
    pub extra_cpu: Duration,
    /// Of the others that were cut at their time limit.
    pub cut_cpu: Duration,
}

/// Attempts before a launcher that dies is given up.
const ATTEMPTS: usize = 3;

/// Plain runs, on which findings rest, get this many times the usual time: a busy machine must not hide a bug.
const PATIENCE: u32 = 2;

impl Executor {
    pub fn new(identity: &Identity, targets: &[Target]) -> Result<Executor, CampaignError> {
        let limits = Limits {
            wall: identity.timeout(),
            memory: Some(identity.memory << 20),
            stdout: 4 << 20,
            stderr: 256 << 10,
            ..Limits::default()
        };
        let mut executor = Executor::with_limits(limits, targets)?;
        executor.paces = identity.adaptive.then(|| vec![Pace::default(); targets.len()]);
        Ok(executor)
    }

    /// Runs with these limits outside of a campaign.
    pub fn with_limits(limits: Limits, targets: &[Target]) -> Result<Executor, CampaignError> {
        let runner = Launcher::new(LauncherConfig::default())
            .map_err(|error| CampaignError::Internal(error.to_string()))?;
        let panel =
            targets.iter().map(|target| Arc::new(Configuration::new(target.solver.clone()))).collect();
        Ok(Executor {
            runner,
            limits,
            panel,
            modes: targets.iter().map(|target| target.mode).collect(),
            quick: false,
            paces: None,
            cost: Cost::default(),
            launcher_cpu: Duration::ZERO,
        })
    }

    /// Runs a text as during the campaign, in the fast mode of the target.
    pub fn run_fast(
        &mut self,
        target: &Target,
        configuration: &Arc<Configuration>,
        script: &[u8],
    ) -> Result<Run, CampaignError> {
        let most = self.limits.wall;
        let pace = self.paces.as_mut().and_then(|paces| paces.get_mut(target.number));
        let wall = pace.map_or(most, |pace| pace.next(most));
        let run =
            self.start(configuration, script, target.mode, wall).map_err(|error| why(&target.name, error))?;
        let cut = run.outcome.timed_out;
        if cut {
            self.cost.cut_cpu += run.outcome.cpu_time;
        }
        if let Some(pace) = self.paces.as_mut().and_then(|paces| paces.get_mut(target.number)) {
            pace.record(run.outcome.wall_time, cut);
        }
        Ok(run)
    }

    fn start(
        &mut self,
        configuration: &Arc<Configuration>,
        script: &[u8],
        mode: ExecMode,
        wall: Duration,
    ) -> Result<Run, RunError> {
        let mut invocation = configuration.solver.invocation(script, &configuration.request)?;
        invocation.limits = Limits { wall, ..self.limits.clone() };
        invocation.mode = mode;
        let mut attempts = 0;
        let outcome = loop {
            attempts += 1;
            match self.runner.run(&invocation) {
                Ok(outcome) => break outcome,
                Err(LaunchError::LauncherDied) if attempts < ATTEMPTS => {}
                Err(error) => return Err(error.into()),
            }
        };
        self.cost.runs += 1;
        self.cost.cpu += outcome.cpu_time;
        let answers = configuration.solver.read(&Outline::of(script), &outcome);
        Ok(Run { configuration: Arc::clone(configuration), script: script.into(), outcome, answers })
    }

    /// Whether further questions may be answered by fast starts: while suspicions are looked for, not when one is
    /// confirmed.
    pub fn be_quick(&mut self, quick: bool) {
        self.quick = quick;
    }

    pub fn take_cost(&mut self) -> Cost {
        std::mem::take(&mut self.cost)
    }

    /// CPU time of the launcher since the last call.
    pub fn take_launcher_cpu(&mut self) -> Duration {
        let Ok(usage) = self.runner.own_usage() else { return Duration::ZERO };
        let since = usage.launcher.saturating_sub(self.launcher_cpu);
        self.launcher_cpu = usage.launcher;
        since
    }
}

impl Rerun for Executor {
    fn panel(&self) -> &[Arc<Configuration>] {
        &self.panel
    }

    fn run(&mut self, configuration: &Arc<Configuration>, script: &[u8]) -> Result<Run, RunError> {
        let known = |own: &Arc<Configuration>| own.solver.name() == configuration.solver.name();
        let mode = match self.panel.iter().position(known) {
            Some(place) if self.quick => self.modes[place],
            _ => ExecMode::Plain,
        };
        let wall = if self.quick { self.limits.wall } else { self.limits.wall * PATIENCE };
        let run = self.start(configuration, script, mode, wall)?;
        self.cost.extra += 1;
        self.cost.extra_cpu += run.outcome.cpu_time;
        Ok(run)
    }
}

/// Whose fault it is that a run could not be made.
pub fn why(solver: &str, error: RunError) -> CampaignError {
    match error {
        RunError::Launch(error) if !error.concerns_solver() => CampaignError::Internal(error.to_string()),
        error => CampaignError::Solver { solver: solver.to_owned(), reason: error.to_string() },
    }
}
