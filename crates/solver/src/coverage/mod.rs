//! Coverage of solver binaries as they are released: no special build, no source.
//!
//! The *sites* of a file are the first instructions of its functions and basic blocks. The *probe* runs a solver on a copy
//! of its code in which every site traps once: a run tells which sites nobody has reached before, beside its ordinary
//! result. See `docs/coverage.md`.
//!
//! | file | what is in it |
//! | --- | --- |
//! | `sites.rs` | finding the sites of a file |
//! | `list.rs` | a list of sites, and how it is remembered |
//! | `symbols.rs` | names of functions, and the modules they are of |
//! | `code.rs` | which files of a solver are its code |
//! | `set.rs` | sets of reached sites, and their files |
//! | `summary.rs` | a set by module, and two sets side by side |
//! | `explorer.rs` | scripts run one after the other to see what they reach |
//! | `patched.rs` | the launcher's side: patched copies and the log |
//! | `huge.rs` | patched copies in huge pages |
//! | `usual.rs` | functions that traces take for granted |
//! | `../fast/probe.rs` | what runs inside the solver's process |

mod code;
mod explorer;
mod huge;
mod list;
mod mapped;
mod patched;
mod set;
mod sites;
mod summary;
mod symbols;
mod usual;

use serde::{Deserialize, Serialize};

pub use code::{Code, CodeFile, CoverageError};
pub use explorer::Explorer;
pub use list::{Segment, SiteList};
pub use set::{SetError, SiteSet};
pub use summary::{Difference, FunctionCoverage, ModuleCoverage, NamedFunctions, Summary};
pub use symbols::Function;

pub(crate) use patched::{Probe, Probes};

/// What a run tells of its coverage.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Trace {
    /// The blocks that no earlier run of the same launcher has reached.
    #[default]
    New,
    /// All functions that it reaches.
    Functions,
    /// All blocks that it reaches.
    Blocks,
    /// All functions that it reaches, as far as it matters how rare they are: functions that half of the runs of the same
    /// launcher have reached are taken for granted.
    Approximate,
}

impl Trace {
    /// Whether all that a run reaches is told, and nothing else.
    pub(crate) fn is_exact(self) -> bool {
        matches!(self, Trace::Functions | Trace::Blocks)
    }
}

/// What is to be watched in a run, and how.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct ProbeRequest {
    pub(crate) files: Vec<ProbeFile>,
    pub(crate) trace: Trace,
    pub(crate) way: ProbeWay,
}

/// How a process is watched.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub(crate) enum ProbeWay {
    /// By the preloaded library, from `main` on.
    #[default]
    Main,
    /// By the preloaded library, when the input is read for the first time: libraries are loaded late.
    Input,
    /// By our host of the solver's library.
    Host,
    /// From outside, by `ptrace`: nothing can be loaded into the program, so a copy of it is executed.
    Executed,
}

/// A file of the solver's code, and its remembered list of sites.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub(crate) struct ProbeFile {
    pub path: Vec<u8>,
    pub list: Vec<u8>,
}
