//! The campaign: from seeds and engines to a folder of unique findings.
//!
//! A campaign is made of numbered *rounds*. A worker takes the next number, plans the round from what has been learned
//! (engine, seeds, logic, length), lets the engine make a chain of test cases, runs each on all solvers that have its
//! theories, has the runs judged, and hands confirmed misbehaviour to triage, which makes it small, tells it apart from
//! known findings and writes it down. What is learned are counts, added to those of all others.
//!
//! - [`Identity`], [`Settings`]: what a campaign is; [`Target`]: solvers under test; [`SeedText`]: seeds from files
//! - [`input`]: files that users name; [`foreign`]: text of others made harmless
//! - [`driver`]: one engine along one chain of test cases
//! - [`findings`]: what a finding is, its folder, its texts
//! - [`store`]: the campaign's memory, shared by processes
//! - [`schedule`]: what to do next and for how long
//! - `shared`: what the threads of a process share
//! - [`triage`]: from suspicious runs to findings
//! - `fuzz`: workers, and a campaign from start to summary; [`replay`]: a finding once more

mod config;
pub mod driver;
mod error;
pub mod findings;
pub mod foreign;
mod fuzz;
pub mod hash;
pub mod input;
pub mod replay;
pub mod schedule;
mod seeds;
mod shared;
pub mod store;
mod target;
pub mod triage;

pub use config::{
    Identity, KnownBugs, LearnedSettings, NamedCorrelations, PolicyName, Program, Settings, Specs,
};
pub use error::CampaignError;
pub use findings::{Finding, is_listed};
pub use fuzz::{Campaign, Rehearsed, Summary, join, refusal, refused, rehearse, run, runners};
pub use seeds::{LARGEST, SeedFiles, SeedText, read_seed, read_seeds};
pub use shared::{Observer, Silent, Snapshot, thread_cpu};
pub use store::{KnownFinding, Messages, Totals};
pub use target::Target;
