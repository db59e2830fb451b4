//! Why a solver cannot be had, in words that say what to do.

use std::io;
use std::path::{Path, PathBuf};

use crate::spec::SpecError;
use crate::version::Version;

/// A solver that cannot be found, installed or started.
#[derive(Debug, thiserror::Error)]
pub enum InstallError {
    /// The spec itself is wrong.
    #[error(transparent)]
    Spec(#[from] SpecError),
    /// No adapter and no program of this name.
    #[error("unknown solver `{name}`: no adapter and no program on PATH is called like this{}", suggestion(.nearest))]
    UnknownSolver {
        /// What was asked for.
        name: String,
        /// Names close to it.
        nearest: Vec<String>,
    },
    /// The solver has no such release.
    #[error("{name} has no release {wanted} that can be installed here{}", nearest_releases(.nearest))]
    UnknownVersion {
        /// The solver.
        name: String,
        /// What was asked for.
        wanted: String,
        /// Releases close to it.
        nearest: Vec<Version>,
    },
    /// The solver is on no registry.
    #[error(
        "{title} is on no registry Osprey can install from: install it yourself and give its path, or put {executable} on PATH"
    )]
    NotInstallable {
        /// Its title.
        title: String,
        /// What its program is called.
        executable: String,
    },
    /// A path that is not there.
    #[error("{path} does not exist")]
    NoSuchFile {
        /// The path.
        path: PathBuf,
    },
    /// A path that cannot be run.
    #[error("{path} is not an executable file")]
    NotExecutable {
        /// The path.
        path: PathBuf,
    },
    /// No Python.
    #[error(
        "python3 cannot be started ({source}): solvers are installed with `python3 -m pip`; install Python or set OSPREY_PYTHON"
    )]
    NoPython {
        /// Why.
        source: io::Error,
    },
    /// No pip.
    #[error(
        "python3 has no pip: install it (on Debian `apt-get install python3-pip`) or set OSPREY_PYTHON to a Python that has it"
    )]
    NoPip,
    /// The registry does not answer.
    #[error(
        "cannot reach the package registry for {what}, and it is not in the cache: check the network or the pip configuration"
    )]
    NoNetwork {
        /// What was asked for.
        what: String,
    },
    /// pip failed otherwise.
    #[error("pip could not get {what}:\n{said}")]
    Pip {
        /// What was asked for.
        what: String,
        /// Its last words.
        said: String,
    },
    /// No apt here.
    #[error(
        "{package} comes as a Debian package and apt-get or dpkg-deb cannot be started here ({source}): install it yourself and give its path"
    )]
    NoApt {
        /// The package.
        package: String,
        /// Why.
        source: io::Error,
    },
    /// apt or dpkg failed.
    #[error(
        "apt-get or dpkg-deb could not get {package}: {said}\n(if the package lists are empty, run `apt-get update`; or `apt-get install {package}`)"
    )]
    Debian {
        /// The package.
        package: String,
        /// Its last words.
        said: String,
    },
    /// The archive is not what it should be.
    #[error("the archive {path} cannot be unpacked: {reason}")]
    Archive {
        /// The archive.
        path: PathBuf,
        /// Why.
        reason: String,
    },
    /// The program is not in the archive.
    #[error("the package of {name} {version} does not hold what it should (`{pattern}`)")]
    Incomplete {
        /// The solver.
        name: String,
        /// The release.
        version: Version,
        /// What was looked for.
        pattern: String,
    },
    /// It was installed but does not work here.
    #[error("{name} {version} was unpacked but does not run here: {said}")]
    DoesNotRun {
        /// The solver.
        name: String,
        /// The release.
        version: Version,
        /// What the trial run said.
        said: String,
    },
    /// It was changed since it was installed, and cannot be installed again.
    #[error("{name} {version} is damaged ({what}), and installing it again failed: {source}")]
    Damaged {
        /// The solver.
        name: String,
        /// The release.
        version: Version,
        /// What is wrong with it.
        what: String,
        /// Why it could not be repaired.
        source: Box<InstallError>,
    },
    /// It is another release than asked for.
    #[error("asked for {name} {wanted}, but what the registry gave says it is {found}")]
    WrongRelease {
        /// The solver.
        name: String,
        /// The release asked for.
        wanted: Version,
        /// The release it is.
        found: Version,
    },
    /// The disk.
    #[error("{path}: {source}")]
    Disk {
        /// Where.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// Our own processes cannot run.
    #[error("cannot start the process that runs solvers: {0}")]
    Launcher(String),
}

impl InstallError {
    pub(super) fn disk(path: &Path, source: io::Error) -> Self {
        InstallError::Disk { path: path.to_path_buf(), source }
    }
}

fn suggestion(nearest: &[String]) -> String {
    match nearest {
        [] => String::new(),
        names => format!("; did you mean {}?", names.join(" or ")),
    }
}

fn nearest_releases(nearest: &[Version]) -> String {
    match nearest {
        [] => String::new(),
        releases => {
            let names: Vec<String> = releases.iter().map(ToString::to_string).collect();
            format!("; the nearest are {}", names.join(", "))
        }
    }
}
