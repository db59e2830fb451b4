//! From a spec to a solver that runs: on PATH, at a path, or installed into the user's data directory with one word.
//!
//! | file | what is in it |
//! | --- | --- |
//! | `solvers.rs` | the entry point: resolve, install, list |
//! | `release.rs` | installing one release: fetch, unpack, try, rename into place |
//! | `identify.rs` | which solver and release an executable is |
//! | `contained.rs` | asking a solver something, behind the wall |
//! | `contents.rs` | whether a release is still what was installed |
//! | `stamp.rs` | whether its files have been replaced since |
//! | `pip.rs`, `debian.rs`, `wheel.rs` | the two registries and the archive form of one of them |
//! | `hash.rs` | hashes of programs; `fingerprint.rs`: those of releases |
//! | `home.rs` | the data directory, its locks and its memory |
//! | `process.rs` | running pip and the like, bounded |
//! | `error.rs` | why it did not work and what to do |

pub(crate) mod contained;
mod contents;
mod debian;
mod error;
mod fingerprint;
mod hash;
mod home;
mod identify;
mod pip;
pub(crate) mod process;
mod release;
mod solvers;
mod stamp;
mod wheel;

pub(crate) use contents::known_hash;
pub use error::InstallError;
pub(crate) use hash::sha256;
pub use home::Home;
pub use release::Step;
pub use solvers::{Available, Listed, Solvers};
pub use stamp::Stamps;

use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use crate::adapter::Way;
use crate::host::python::Module;
use crate::version::Version;

/// A release that is on this machine, and how it runs.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Installed {
    /// The adapter's name.
    pub name: String,
    /// The release; unknown for commands that do not tell.
    pub version: Option<Version>,
    /// How it runs.
    pub how: How,
    /// Variables it needs.
    pub env: Vec<(String, String)>,
    /// Where it comes from.
    pub origin: Source,
    /// Of the program, where it is not one of ours: two builds of one version are different solvers.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sha256: Option<String>,
}

/// How an installed release runs.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum How {
    /// As a program.
    Executable {
        /// The program.
        path: PathBuf,
    },
    /// As a library our host loads.
    Cvc5Host {
        /// The directory with libcvc5 and libcvc5parser.
        libraries: PathBuf,
        /// The Python module of the same wheel, which tells the options.
        module: PathBuf,
        /// The Python it was built for.
        interpreter: PathBuf,
    },
    /// As a Python module.
    Python {
        /// The Python it was built for.
        interpreter: PathBuf,
        /// The directory to import from.
        module: PathBuf,
        /// Which of our scripts drives it.
        driver: Module,
        /// Where that script is.
        #[serde(skip)]
        script: PathBuf,
    },
}

/// Where a release comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Source {
    /// Osprey installed it.
    Installed,
    /// It is on PATH.
    OnPath,
    /// The user gave its path.
    Given,
}

impl How {
    /// The adapter's word for it.
    pub fn way(&self) -> Way {
        match self {
            How::Executable { .. } => Way::Executable,
            How::Cvc5Host { .. } => Way::Cvc5Host,
            How::Python { .. } => Way::Python,
        }
    }
}
