//! One run of one solver on one script, for a purpose: who runs, under which rules, what came of it, what it cost.
//!
//! Whoever needs a solver asks a [`Runner`]. [`SolverRunner`] is the real one: it starts processes through a
//! [`Launcher`](crate::launch::Launcher). Logic above this crate knows the trait only, so that its tests can answer for
//! solvers without starting any.
//!
//! | file | what is in it |
//! | --- | --- |
//! | `configuration.rs` | a solver with the options of a test case, and its number as a party |
//! | `record.rs` | one run: what was run, its outcome, its answers |
//! | `purpose.rs` | what a run is for |
//! | `rules.rs` | limits, start and attempts of each purpose |
//! | `account.rs` | what runs of each purpose have cost |
//! | `health.rs` | whether a solver works at all |
//! | `pace.rs` | how long it is worth waiting for a solver |
//! | `runner.rs` | the traits |
//! | `real.rs` | runs by processes |

mod account;
mod configuration;
mod health;
mod pace;
mod purpose;
mod real;
mod record;
mod rules;
mod runner;

pub use account::{Account, Accounts};
pub use configuration::{Configuration, PartyId};
pub use pace::Pace;
pub use purpose::Purpose;
pub use real::{SolverRunner, SolverRunners};
pub use record::Run;
pub use rules::{Rule, RunRules, Start};
pub use runner::{RunError, Runner, Runners};
