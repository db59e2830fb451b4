//! Starting solvers and containing them.
//!
//! The fuzzer is large and many-threaded, and a fork of it expensive; so each worker has a small *launcher* process
//! that starts its solvers. A [`Launcher`] is the worker's end of that: it sends an [`Invocation`] and gets an
//! [`Outcome`] back. The launcher is this same executable, started again with a hidden first argument
//! ([`serve_if_asked`]), or the program `osprey-launcher` beside it.
//!
//! Three processes stand between a worker and a solver's mischief:
//!
//! * the *worker* notices a launcher that is gone and starts another one;
//! * the *guard* is the launcher's parent and does nothing but wait for it; if the launcher dies, it kills what is left
//!   of the solver (as a subreaper it inherits even daemons) and removes the scratch directory;
//! * the *launcher* is a subreaper too: after each run it kills and reaps every descendant.
//!
//! If the worker dies, the launcher sees the end of its socket, kills everything, cleans up and ends.
//!
//! | file | what is in it |
//! | --- | --- |
//! | `client.rs` | the worker's end |
//! | `locate.rs` | which executable is the launcher |
//! | `invocation.rs`, `outcome.rs`, `error.rs` | what goes in, what comes out, what can go wrong on our side |
//! | `wire.rs` | the bytes between worker and launcher |
//! | `serve.rs` | guard and launcher |
//! | `child.rs` | starting one process |
//! | `trace.rs` | holding it at a fatal signal, for its stack |
//! | `poll.rs` | waiting for it: output, clock, end |
//! | `reap.rs` | killing what it leaves |
//! | `scratch.rs` | its working directory |
//! | `wall/` | what keeps it there |

mod child;
mod client;
mod error;
mod invocation;
mod locate;
mod outcome;
mod poll;
mod reap;
mod scratch;
mod serve;
mod trace;
mod wall;
mod wire;

pub use client::{ATTEMPTS, Launcher, LauncherConfig, OwnUsage};
pub use error::LaunchError;
pub use invocation::{INPUT, Invocation};
pub use locate::launcher_program;
pub use outcome::{CpuTime, Exit, Outcome};
pub use serve::serve_if_asked;
pub use wall::{FileWall, NetworkWall, WALL_VARIABLE, WRITABLE_VARIABLE, Wall, WallChoice};

pub(crate) use child::{Child, Program, Stdio, pipe, socket_pair};
pub(crate) use poll::{Capture, Interrupted, QUIET};
pub(crate) use reap::children_of;
pub(crate) use serve::Site;
pub(crate) use wire::{RunReply, StartRequest};
