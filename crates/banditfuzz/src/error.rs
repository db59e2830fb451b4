//! Why nothing can be measured, by what the user has to do about it.

use std::io;
use std::path::{Path, PathBuf};

use campaign::CampaignError;
use generate::GrammarError;
use reduce::ReduceError;
use solver::run::RunError;
use thiserror::Error;

/// The end of a session before its time.
#[derive(Debug, Error)]
pub enum PerfError {
    /// The command line asks for what cannot be.
    #[error("{0}")]
    Usage(String),
    #[error(transparent)]
    Grammar(#[from] GrammarError),
    #[error(transparent)]
    Run(#[from] RunError),
    #[error(transparent)]
    Reduce(#[from] ReduceError),
    #[error(transparent)]
    Campaign(#[from] CampaignError),
    /// A file of ours that cannot be read.
    #[error("'{}' cannot be read: {reason}", .path.display())]
    Damaged { path: PathBuf, reason: String },
}

impl PerfError {
    pub(crate) fn disk(path: &Path, source: io::Error) -> PerfError {
        PerfError::Campaign(CampaignError::disk(path, source))
    }
}
