//! Engines: makers of test cases, one file or folder each.
//!
//! - [`Draft`]: what an engine makes; [`TestCase`]: the draft with its [`Provenance`]
//! - [`Engine`], [`Round`], [`Ask`], [`OptionMenu`]: the traits between the campaign and the engines
//! - [`Feedback`]: what the campaign tells of a test case
//! - [`Transform`]: changes that any engine's test cases may go through
//! - [`parse`], [`parse_list`]: engines by name; [`all`], [`transforms`]: what there is; [`variants`]: parts of engines,
//!   for comparisons
//! - [`quality`]: what mutants look like, in numbers
//! - [`Unchanged`]: the seeds themselves
//! - [`Generate`]: scripts from nothing; [`Falcon`]: the same with options that are searched
//! - [`OpFuzz`]: another operator at one place
//! - [`TypeFuzz`]: a new term at one place
//! - [`Fusion`]: two seeds of one answer in one script
//! - [`Storm`]: satisfiable instances from fragments of any seed
//! - [`Diver`]: random changes that a model accepts; [`diver`] has its pre-analysis
//! - [`Values`]: constants that solvers choose; [`values`] has the paper's configurations
//! - [`Polarity`]: weaker satisfiable and stronger unsatisfiable formulas

mod case;
pub mod diver;
mod engine;
mod feedback;
mod frames;
mod fusion;
mod generated;
mod models;
mod opened;
mod opfuzz;
pub mod polarity;
pub mod quality;
mod registry;
mod sites;
mod skeleton;
mod storm;
mod transform;
mod typefuzz;
mod unchanged;
pub mod values;
mod vocabulary;

pub use case::{Draft, Provenance, SolverSettings, TestCase};
pub use diver::Diver;
pub use engine::{Ask, Attempt, Bench, Engine, NoOptions, Nobody, OptionMenu, Round, Seed};
pub use eval::{Derivation, Expectation};
pub use feedback::{Answered, Feedback, RunFeedback};
pub use fusion::Fusion;
pub use generated::{Falcon, Generate};
pub use models::BUDGET;
pub use opfuzz::{Groups, OpFuzz};
pub use polarity::Polarity;
pub use registry::{Tuning, UnknownEngine, all, parse, parse_list, transforms, tuned, variants};
pub use storm::Storm;
pub use transform::{Incremental, NewValues, Transform};
pub use typefuzz::TypeFuzz;
pub use unchanged::Unchanged;
pub use values::Values;
