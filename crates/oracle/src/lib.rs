//! Oracles: from what is expected and what solvers said to verdicts.
//!
//! A [`Subject`] is the script in question with what is known about it; a [`Run`](solver::run::Run) is one solver's run
//! on it. Each [`Oracle`] looks for one kind of misbehaviour and may ask for further runs through [`Asking`]. [`Judge`]
//! puts them together: it judges, sorts out differences by design, and confirms what is left by fresh plain starts.
//!
//! What an oracle never does: report a time-out, an `unknown`, a rejection or an answer that follows a refused command;
//! or accuse a release because another one of its own line contradicts it; or believe a solver's own model check. Where our evaluator cannot decide, a model is not called wrong unless other
//! solvers refute the script with the model put in.
//!
//! - [`asking`]: further questions to solvers; [`subject`]: the script and the models found for it
//! - [`frame`]: what is in force at each check; [`text`]: small changes to a script's own text
//! - [`verdict`]: kinds of misbehaviour and verdicts; [`evidence`]: what a verdict on an answer rests on
//! - [`settle`]: who is right about a check; [`decide`]: what our evaluator decides alone; [`opinions`]: third opinions
//! - [`answers`], [`models`], [`crashes`], [`incremental`], [`cores`], [`values`], [`performance`]: one oracle each
//! - [`ground`]: a script with a model put in; [`open_cases`]: a solver's model with what it says when asked about them
//! - [`by_design`]: differences that are no bugs; [`judge`]: all of it in order

pub mod answers;
pub mod asking;
pub mod by_design;
pub mod cores;
pub mod crashes;
pub mod decide;
pub mod evidence;
pub mod frame;
pub mod ground;
pub mod incremental;
pub mod judge;
pub mod models;
pub mod open_cases;
pub mod opinions;
pub mod performance;
pub mod settle;
pub mod subject;
pub mod text;
pub mod values;
pub mod verdict;

pub use asking::Asking;
pub use evidence::Evidence;
pub use frame::Frame;
pub use judge::{Judge, Oracle};
pub use subject::{ModelCheck, Subject};
pub use verdict::{Kind, Repeat, Standing, Verdict};
