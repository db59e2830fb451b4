//! What can go wrong on our side of a run. Whatever the solver does is an [`Outcome`](super::Outcome), not an error.

use std::io;
use std::path::PathBuf;

use thiserror::Error;

/// A run that did not take place, or whose outcome is lost.
#[derive(Debug, Error)]
pub enum LaunchError {
    #[error("solver {} not found", program.display())]
    NotFound { program: PathBuf },
    #[error("solver {} cannot be started: its interpreter or loader is missing", program.display())]
    MissingInterpreter { program: PathBuf },
    #[error("solver {} cannot be started: permission denied (is it executable?)", program.display())]
    PermissionDenied { program: PathBuf },
    #[error("solver {} is not an executable for this machine", program.display())]
    ExecFormat { program: PathBuf },
    #[error("solver {} cannot be started: {source}", program.display())]
    Exec { program: PathBuf, source: io::Error },
    #[error("an argument or variable for solver {} contains a zero byte", program.display())]
    ZeroByte { program: PathBuf },
    #[error(
        "no launcher: {} does not exist; set OSPREY_LAUNCHER to the path of osprey or osprey-launcher",
        tried.display()
    )]
    LauncherMissing { tried: PathBuf },
    #[error("the launcher cannot be started: {0}")]
    LauncherStart(#[source] io::Error),
    #[error("the launcher cannot work: {0}")]
    Launcher(String),
    #[error("no place for a solver's files: {0}; free some space there, or set TMPDIR to another folder")]
    Disk(String),
    #[error("the launcher died during the run; the next run gets a new one")]
    LauncherDied,
}

impl LaunchError {
    /// Whether this is about the solver that was asked for (and will be the same the next time).
    #[must_use]
    pub fn concerns_solver(&self) -> bool {
        !matches!(
            self,
            LaunchError::LauncherMissing { .. }
                | LaunchError::LauncherStart(_)
                | LaunchError::Launcher(_)
                | LaunchError::Disk(_)
                | LaunchError::LauncherDied
        )
    }

    pub(super) fn from_exec(program: PathBuf, errno: i32) -> Self {
        match errno {
            libc::ENOENT if program.exists() => LaunchError::MissingInterpreter { program },
            libc::ENOENT | libc::ENOTDIR => LaunchError::NotFound { program },
            libc::EACCES | libc::EPERM => LaunchError::PermissionDenied { program },
            libc::ENOEXEC => LaunchError::ExecFormat { program },
            _ => LaunchError::Exec { program, source: io::Error::from_raw_os_error(errno) },
        }
    }
}
