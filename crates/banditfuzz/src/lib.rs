//! BanditFuzz (Scott, Mora, Ganesh: BanditFuzz, VSTTE 2020): which construct is to blame.
//!
//! The arms of a multi-armed bandit are the grammatical constructs of a logic. In performance fuzzing a construct is
//! rewarded when putting it into an input makes the target slower beside its references; in bug localisation when it
//! makes solvers contradict each other. The results are inputs, and the constructs ranked.
//!
//! - [`construct`]: what arms are, and which are of the same kind; [`mutate`]: a construct put into an input
//! - [`generator`]: inputs from nothing or from seeds; `fill`: their variables; [`seeds`]: which of them solvers have
//! - [`learned`]: counts by construct, ranked; [`state`]: the counts of a session on disk
//! - [`par2`]: scores and margins; [`meter`]: what solvers need for an input; [`race`]: how far they must be run
//! - [`search`]: one run of performance fuzzing; [`session`]: several, each on a core of its own
//! - [`collect`]: findings of the inputs found; [`slow`]: what must stay while they get smaller; [`since`]: since when
//! - [`localize`]: which constructs make solvers contradict each other, or are shared by findings
//! - [`report`]: tables, suite and page; [`plot`]: lines as SVG
//! - [`cores`]: each measurement on one of its own; `files`: results on disk; [`error`]: what can go wrong

pub mod collect;
pub mod construct;
pub mod cores;
pub mod error;
mod files;
mod fill;
pub mod generator;
pub mod learned;
pub mod localize;
pub mod meter;
pub mod mutate;
pub mod par2;
pub mod plot;
pub mod race;
pub mod report;
pub mod search;
pub mod seeds;
pub mod session;
pub mod since;
pub mod slow;
pub mod state;

pub use error::PerfError;
