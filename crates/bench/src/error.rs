//! Why a benchmark cannot run.

use std::io;
use std::path::PathBuf;

use thiserror::Error;

#[derive(Debug, Error)]
pub enum BenchError {
    /// The command line asks for what cannot be.
    #[error("{0}")]
    Usage(String),
    #[error("cannot read '{}': {source}", .path.display())]
    Read { path: PathBuf, source: io::Error },
    #[error("cannot write '{}': {source}", .path.display())]
    Write { path: PathBuf, source: io::Error },
    /// A file that does not hold what it should.
    #[error("'{}': {reason}", .path.display())]
    Malformed { path: PathBuf, reason: String },
    /// A solver cannot be run.
    #[error("{solver} cannot be run: {source}")]
    Run { solver: String, source: solver::run::RunError },
    #[error(transparent)]
    Campaign(#[from] campaign::CampaignError),
    #[error(transparent)]
    Perf(#[from] banditfuzz::PerfError),
    #[error(transparent)]
    Launch(#[from] solver::launch::LaunchError),
    #[error(transparent)]
    Coverage(#[from] solver::coverage::CoverageError),
    #[error(transparent)]
    Install(#[from] solver::InstallError),
}
