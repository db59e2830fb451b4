//! Who makes runs.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use super::{Accounts, Configuration, Purpose, Run};
use crate::install::InstallError;
use crate::launch::LaunchError;

/// Makes runs, one at a time, and counts what they cost. Each worker has its own.
pub trait Runner: Send {
    /// All configurations there are, those under test included.
    fn configurations(&self) -> &[Arc<Configuration>];

    /// Solvers beside them, each of another line, that are asked only where those contradict each other and nothing tells
    /// who is right. The best first.
    fn third_opinions(&self) -> &[Arc<Configuration>] {
        &[]
    }

    /// Runs one of them, or a variant of one, on a script, with no more than this time on the clock where it is less
    /// than the purpose's own limit.
    fn run_within(
        &mut self,
        configuration: &Arc<Configuration>,
        script: &[u8],
        purpose: Purpose,
        wall: Option<Duration>,
    ) -> Result<Run, RunError>;

    /// The same with the purpose's own limit.
    fn run(
        &mut self,
        configuration: &Arc<Configuration>,
        script: &[u8],
        purpose: Purpose,
    ) -> Result<Run, RunError> {
        self.run_within(configuration, script, purpose, None)
    }

    /// Everybody on the same text, in order.
    fn run_all(&mut self, script: &[u8], purpose: Purpose) -> Result<Vec<Run>, RunError> {
        let everybody = self.configurations().to_vec();
        everybody.iter().map(|configuration| self.run(configuration, script, purpose)).collect()
    }

    /// All functions that a run reaches within this time, by their sites; none where that cannot be told.
    fn trace(
        &mut self,
        _configuration: &Arc<Configuration>,
        _script: &[u8],
        _wall: Duration,
    ) -> Result<Option<Vec<u32>>, RunError> {
        Ok(None)
    }

    /// What runs have cost since the last call.
    fn take_accounts(&mut self) -> Accounts;

    /// What the user should hear about how solvers run, each once.
    fn take_notes(&mut self) -> Vec<String>;

    /// CPU time of the process that starts solvers, since the last call.
    fn take_launcher_cpu(&mut self) -> Duration;
}

/// Makes runners: one for each worker.
pub trait Runners: Send + Sync {
    fn runner(&self) -> Result<Box<dyn Runner>, RunError>;

    /// One that does not watch the code of solvers, for work that ends soon: to begin to watch costs more than many runs,
    /// and nobody asks what they reach.
    fn unwatched(&self) -> Result<Box<dyn Runner>, RunError> {
        self.runner()
    }
}

/// A run that could not be made.
#[derive(Debug, thiserror::Error)]
pub enum RunError {
    #[error(transparent)]
    Install(#[from] InstallError),
    #[error(transparent)]
    Launch(#[from] LaunchError),
    /// Its files are not those it was taken up with.
    #[error(
        "{} was replaced or changed while {solver} was in use: what one build has answered says nothing about another; \
         start again", file.display()
    )]
    Changed { solver: String, file: PathBuf },
    /// It fails on every script.
    #[error("{solver} does not work, not even on a trivial script: {reason}")]
    Broken { solver: String, reason: String },
    /// Whatever runs it comes to an end.
    #[error(
        "{solver} ended or stopped the process that runs it, {attempts} times in a row; `osprey solvers list` says \
         whether a wall keeps solvers from that"
    )]
    KillsLauncher { solver: String, attempts: u32 },
}

impl RunError {
    /// Whether this is about the solver that was asked for, and not about us.
    pub fn concerns_solver(&self) -> bool {
        match self {
            RunError::Install(error) => !matches!(error, InstallError::Launcher(_)),
            RunError::Launch(error) => error.concerns_solver(),
            RunError::Changed { .. } | RunError::Broken { .. } | RunError::KillsLauncher { .. } => true,
        }
    }
}
