//! Why a campaign cannot start or go on, by what the user has to do about it.

use std::io;
use std::path::{Path, PathBuf};

use solver::launch::LaunchError;
use solver::run::RunError;
use thiserror::Error;

use crate::input::InputError;
use crate::store::StoreError;

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
        "'{}' holds a campaign already: add --resume to go on with it, or choose another place: --out for a folder, \
         ?schema=NAME for a server", .0.display()
    )]
    Occupied(PathBuf),
    /// `--resume` without anything to resume.
    #[error("'{}' holds no campaign to resume", .0.display())]
    NothingToResume(PathBuf),
    /// `--resume` with another configuration.
    #[error(
        "cannot resume '{}': {} then, {} now; use the same settings or another folder",
        .out.display(), short(.then), short(.now)
    )]
    Differs { out: PathBuf, then: String, now: String },
    /// Another process writes to the same folder.
    #[error("'{}' is in use by another campaign", .0.display())]
    InUse(PathBuf),
    /// Another process runs the campaign on a server.
    #[error(
        "'{}' is run by another process: join it with `osprey worker --store`; if that process was killed, try again \
         half a minute after its end", .0.display()
    )]
    OwnerIsThere(PathBuf),
    /// A solver cannot be run.
    #[error("{solver} cannot be run: {reason}")]
    Solver { solver: String, reason: String },
    /// The disk is full or not writable.
    #[error("cannot write '{}': {source}; what was found before is safe", .path.display())]
    Disk { path: PathBuf, source: io::Error },
    /// Solvers have no place for their files.
    #[error("{0}; what was found before is safe")]
    NoRoom(String),
    /// Nothing runs that could be helped.
    #[error("no campaign is running in '{}': start one with `osprey fuzz`, or go on with it with --resume", .0.display())]
    NobodyToJoin(PathBuf),
    /// What the campaign is kept in.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// A file that cannot be read.
    #[error(transparent)]
    Input(#[from] InputError),
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
    /// Whose fault it is that a run could not be made.
    pub fn of_run(solver: &str, error: RunError) -> CampaignError {
        match error {
            RunError::Launch(error @ LaunchError::Disk(_)) => CampaignError::NoRoom(error.to_string()),
            RunError::Launch(error) if !error.concerns_solver() => CampaignError::Internal(error.to_string()),
            error => CampaignError::Solver { solver: solver.to_owned(), reason: error.to_string() },
        }
    }

    pub fn disk(path: &Path, source: io::Error) -> CampaignError {
        CampaignError::Disk { path: path.to_owned(), source }
    }

    /// Is the campaign's store away, and may come back?
    pub fn is_away(&self) -> bool {
        matches!(self, CampaignError::Store(error) if error.is_away())
    }

    /// Is it the disk's fault?
    pub fn is_disk(&self) -> bool {
        match self {
            CampaignError::Disk { .. }
            | CampaignError::NoRoom(_)
            | CampaignError::Reduce(reduce::ReduceError::Disk(_)) => true,
            CampaignError::Store(error) => error.is_disk(),
            _ => false,
        }
    }
}

/// A setting's value as a message shows it: hundreds of seed files would hide what it says.
fn short(value: &str) -> String {
    const LONGEST: usize = 300;
    match value.char_indices().nth(LONGEST) {
        Some((end, _)) => format!("{} [... {} bytes more]", &value[..end], value.len() - end),
        None => value.to_owned(),
    }
}
