//! Configurations, their runs, and running again.

use std::sync::Arc;
use std::time::Duration;

use smtlib::{Family, Release, Status};
use solver::answer::Part;
use solver::fast::ExecMode;
use solver::launch::{LaunchError, Launcher, LauncherConfig, Outcome};
use solver::limits::Limits;
use solver::{Answer, Answers, InstallError, Outline, RunRequest, Solver};

/// A solver with the options of a test case: one party to a comparison.
#[derive(Debug, Clone)]
pub struct Configuration {
    pub solver: Solver,
    pub request: RunRequest,
}

impl Configuration {
    /// The solver as the user named it.
    pub fn new(solver: Solver) -> Self {
        Configuration { solver, request: RunRequest::default() }
    }

    /// `z3@4.8.7 model_validate=true`.
    pub fn name(&self) -> String {
        let mut words = vec![self.solver.name()];
        words.extend(self.options().map(str::to_string));
        words.join(" ")
    }

    /// The release, as the theory table and the printer know it.
    pub fn release(&self) -> Release {
        self.solver.release()
    }

    /// The line of releases it belongs to: CVC4 is cvc5's past.
    pub fn lineage(&self) -> Family {
        match self.release().family {
            Family::Cvc4 => Family::Cvc5,
            family => family,
        }
    }

    /// All option words: the user's, then the test case's.
    pub fn options(&self) -> impl Iterator<Item = &str> {
        self.solver.options.iter().chain(&self.request.options).map(String::as_str)
    }

    /// The command line for a file of this name, as the solver's developers would type it.
    pub fn command_line(&self, file: &str) -> String {
        self.solver.shown(&self.request, file)
    }

    /// The same without the solver's own checks of its results, and with models available. A failed check of its own
    /// often takes the answer with it.
    #[must_use]
    pub fn for_models(&self) -> Configuration {
        let mut other = self.clone();
        let call = self.solver.adapter.call_for(self.solver.version(), self.solver.installed.how.way());
        if let Some(call) = call {
            let checks: Vec<&String> =
                [&call.check_models, &call.check_cores, &call.check_proofs].into_iter().flatten().collect();
            let keep = |word: &String| !checks.contains(&word);
            other.solver.options.retain(keep);
            other.request.options.retain(keep);
        }
        other.request.check_models = false;
        other.request.check_cores = false;
        other.request.check_proofs = false;
        other.request.models = true;
        other
    }
}

/// One run of one configuration on one script.
#[derive(Debug, Clone)]
pub struct Run {
    pub configuration: Arc<Configuration>,
    /// The text it was given; texts differ between solvers with different dialects.
    pub script: Arc<[u8]>,
    pub outcome: Outcome,
    pub answers: Answers,
}

impl Run {
    /// The answer to a check of the script, if it is `sat` or `unsat` and a verdict may rest on it.
    pub fn status(&self, check: usize) -> Option<Status> {
        let answer = self.answers.trusted().find(|answer| answer.check == check)?;
        match answer.answer {
            Answer::Sat => Some(Status::Sat),
            Answer::Unsat => Some(Status::Unsat),
            Answer::Unknown(_) => None,
        }
    }

    /// The model printed after a check.
    pub fn model_text(&self, check: usize) -> Option<&[u8]> {
        self.part(&self.answers.models, check)
    }

    /// The values printed after a check.
    pub fn values_text(&self, check: usize) -> Option<&[u8]> {
        self.part(&self.answers.values, check)
    }

    /// All lists of values printed after a check, in order.
    pub fn all_values_text(&self, check: usize) -> Vec<&[u8]> {
        let of_check = |part: &&Part| self.check_at(part.after) == Some(check);
        let parts = self.answers.values.iter().filter(of_check);
        parts.filter_map(|part| self.outcome.stdout.get(part.range.clone())).collect()
    }

    /// The check of the script that a position in the list of answers stands for.
    pub fn check_at(&self, position: Option<usize>) -> Option<usize> {
        self.answers.checks.get(position?).map(|answer| answer.check)
    }

    fn part(&self, parts: &[Part], check: usize) -> Option<&[u8]> {
        let part = parts.iter().find(|part| self.check_at(part.after) == Some(check))?;
        self.outcome.stdout.get(part.range.clone())
    }
}

/// A run that could not be made.
#[derive(Debug, thiserror::Error)]
pub enum RunError {
    #[error(transparent)]
    Install(#[from] InstallError),
    #[error(transparent)]
    Launch(#[from] LaunchError),
}

/// Who can be asked further questions. Runs that confirm something are fresh plain starts.
pub trait Rerun {
    /// All configurations there are, those under test included.
    fn panel(&self) -> &[Arc<Configuration>];

    /// Runs one of them, or a variant of one, on another script.
    fn run(&mut self, configuration: &Arc<Configuration>, script: &[u8]) -> Result<Run, RunError>;
}

/// Configurations with a launcher of their own.
pub struct Panel {
    configurations: Vec<Arc<Configuration>>,
    runner: Launcher,
    limits: Limits,
}

impl Panel {
    pub fn new(configurations: Vec<Configuration>, limits: Limits) -> Result<Self, RunError> {
        let runner = Launcher::new(LauncherConfig::default())?;
        Ok(Panel { configurations: configurations.into_iter().map(Arc::new).collect(), runner, limits })
    }

    /// Everybody on the same text, in order.
    pub fn run_all(&mut self, script: &[u8]) -> Result<Vec<Run>, RunError> {
        let everybody = self.configurations.clone();
        everybody.iter().map(|configuration| self.run(configuration, script)).collect()
    }

    /// Time on the clock for each run.
    pub fn wall_limit(&self) -> Duration {
        self.limits.wall
    }
}

impl Rerun for Panel {
    fn panel(&self) -> &[Arc<Configuration>] {
        &self.configurations
    }

    fn run(&mut self, configuration: &Arc<Configuration>, script: &[u8]) -> Result<Run, RunError> {
        let mut invocation = configuration.solver.invocation(script, &configuration.request)?;
        invocation.limits = self.limits.clone();
        invocation.mode = ExecMode::Plain;
        let outcome = self.runner.run(&invocation)?;
        let answers = configuration.solver.read(&Outline::of(script), &outcome);
        Ok(Run { configuration: Arc::clone(configuration), script: script.into(), outcome, answers })
    }
}
