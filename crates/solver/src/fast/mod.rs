//! Fast execution: not paying again and again for what every start of a solver has in common.
//!
//! A *fork server* is a solver process stopped at a place that all runs pass; each run is a fork of it. Where it stops
//! is the [`ExecMode`]. A run behind a fork server is contained and measured like a plain one and has the same
//! [`Outcome`](crate::launch::Outcome), but it is still not the start a user would make: a finding is confirmed by a
//! plain run.
//!
//! | file | what is in it |
//! | --- | --- |
//! | `job.rs` | the server's loop; compiled into this crate and into the preloaded library |
//! | `probe.rs` | traps where code has not been reached yet; compiled twice as well |
//! | `preload.rs` | the preloaded library: stops at `main` or at the end of the prefix |
//! | `library.rs` | handing that library to a solver |
//! | `prefix.rs` | where a script's prefix ends |
//! | `server.rs` | the launcher's side of one server |
//! | `pool.rs` | the servers a launcher keeps |
//! | `tuning.rs` | what makes runs cost the kernel less |
//! | `pages.rs` | code in huge pages; compiled twice, like `job.rs` |

pub(crate) mod job;
mod library;
pub(crate) mod pages;
mod pool;
mod prefix;
pub(crate) mod probe;
mod server;
mod tuning;

use std::fmt;

use serde::{Deserialize, Serialize};

pub(crate) use library::is_dynamic;
pub(crate) use pool::{FastAttempt, ServerPool, ServerPoolConfig};
pub use prefix::declarations;
pub(crate) use server::{preload, probe_variable};
pub(crate) use tuning::Tuning;
pub use tuning::{TUNING_VARIABLE, wanted as tuning_wanted};

/// How a solver is started.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ExecMode {
    /// A new process for each run.
    #[default]
    Plain,
    /// A dynamic executable is forked just before `main`: saves loading and linking.
    ForkServer,
    /// The executable reads the commands before the first assertion and is forked there: saves its initialisation too.
    /// For solvers that read their input in blocks of 1024 bytes with `read` (Z3).
    PrefixSnapshot,
    /// Our host loads the solver's library, makes a solver and is forked there (cvc5).
    LibraryHost,
}

impl ExecMode {
    pub(crate) const ALL: [ExecMode; 4] =
        [ExecMode::Plain, ExecMode::ForkServer, ExecMode::PrefixSnapshot, ExecMode::LibraryHost];

    pub(crate) fn code(self) -> u8 {
        self as u8
    }

    pub(crate) fn from_code(code: u8) -> Option<Self> {
        ExecMode::ALL.get(usize::from(code)).copied()
    }
}

impl fmt::Display for ExecMode {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.write_str(match self {
            ExecMode::Plain => "plain start",
            ExecMode::ForkServer => "fork server",
            ExecMode::PrefixSnapshot => "prefix snapshot",
            ExecMode::LibraryHost => "library host",
        })
    }
}
