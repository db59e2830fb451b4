//! Why a campaign cannot start or go on, by what the user has to do about it.

use std::io;
use std::path::{Path, PathBuf};

use thiserror::Error;

/// The end of a campaign before its time.
#[derive(Debug, Error)]
pub enum CampaignError {
    /// The command line asks for what cannot be.
    #[error("{0}")]
    Usage(String),
    /// Seeds were given and none can be used.
    #[error("none of the {files} seed files can be used: {first}")]
    NoSeeds { files: usize, first: String },
    /// The output folder holds a campaign that was not asked for.
    #[error(
        "'{}' holds a campaign already: add --resume to go on with it, or choose another folder with --out", .0.display()
    )]
    Occupied(PathBuf),
    /// `--resume` without anything to resume.
    #[error("'{}' holds no campaign to resume", .0.display())]
    NothingToResume(PathBuf),
    /// `--resume` with another configuration.
    #[error("cannot resume '{}': {} then, {} now; use the same settings or another folder", .out.display(), .then, .now)]
    Differs { out: PathBuf, then: String, now: String },
    /// Another process writes to the same folder.
    #[error("'{}' is in use by another campaign", .0.display())]
    InUse(PathBuf),
    /// A solver cannot be run.
    #[error("{solver} cannot be run: {reason}")]
    Solver { solver: String, reason: String },
    /// The disk is full or not writable.
    #[error("cannot write '{}': {source}; what was found before is safe", .path.display())]
    Disk { path: PathBuf, source: io::Error },
    /// The database of the campaign.
    #[error("the campaign's database: {0}; what was found before is safe")]
    Database(#[from] rusqlite::Error),
    /// The campaign's memory.
    #[error(transparent)]
    Store(#[from] crate::store::StoreError),
    /// A folder that is no finding.
    #[error("'{}' is not a finding: {reason}", .path.display())]
    NotAFinding { path: PathBuf, reason: String },
    /// A finding cannot be reduced.
    #[error(transparent)]
    Reduce(#[from] reduce::ReduceError),
    /// A defect of ours.
    #[error("{0}")]
    Internal(String),
}

impl CampaignError {
    pub fn disk(path: &Path, source: io::Error) -> CampaignError {
        CampaignError::Disk { path: path.to_owned(), source }
    }

    /// Is it the disk's fault? SQLite reports a full disk in its own words.
    pub fn is_disk(&self) -> bool {
        use rusqlite::ErrorCode::{CannotOpen, DiskFull, ReadOnly, SystemIoFailure};
        match self {
            CampaignError::Disk { .. } | CampaignError::Reduce(reduce::ReduceError::Disk(_)) => true,
            CampaignError::Database(error) => {
                matches!(error.sqlite_error_code(), Some(DiskFull | SystemIoFailure | CannotOpen | ReadOnly))
            }
            CampaignError::Store(error) => error.is_disk(),
            _ => false,
        }
    }
}
