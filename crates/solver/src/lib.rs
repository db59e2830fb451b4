//! Running SMT solvers: which ones there are, where to get any release of them, how to call them, what they said.
//!
//! * [`adapter`]: what is known about each solver, as data.
//! * [`spec`]: what a user writes to name a solver.
//! * [`install`]: from a spec to a release that is on this machine.
//! * [`Solver`]: a release with its adapter and options: command lines.
//! * `accepts`: which scripts it claims to take; `built`: what its build was made without.
//! * [`answer`]: what it said; [`crash`]: signatures of crashes; [`stack`]: where they happened.
//! * [`options`]: its options as data, and which are fair to set.
//! * [`tactics`]: tactics for checks, from what its adapter lists.
//! * [`screen`]: what is taken out of a script before a solver sees it.
//! * [`version`]: release numbers and their order.
//! * [`launch`], [`limits`], [`fast`], [`host`]: running it, contained and quickly.
//! * [`coverage`]: which of its code runs reach.
//! * [`run`]: runs with a purpose: under which rules, what came of them, what they cost.

mod accepts;
pub mod adapter;
pub mod answer;
mod built;
pub mod coverage;
pub mod crash;
pub mod fast;
pub mod host;
pub mod install;
pub mod launch;
pub mod limits;
pub mod options;
pub mod run;
pub mod screen;
mod solver;
pub mod spec;
pub mod stack;
pub mod tactics;

pub use accepts::theory_name;
pub use adapter::{Adapters, RunRequest};
pub use answer::{Answer, Answers, Outline, RunClass};
pub use install::{Home, InstallError, Solvers};
pub use smtlib::version;
pub use solver::{CommandLine, Solver, quoted};
