//! Engines: makers of test cases, one file or folder each.
//!
//! - [`TestCase`]: script, expectation, provenance
//! - [`Engine`], [`Round`], [`Ask`]: the traits between the campaign and the engines
//! - [`all`], [`tuned`]: every engine by name; [`variants`]: parts of engines, for comparisons
//! - [`Unchanged`]: the seeds themselves
//! - [`Generate`]: scripts from nothing
//! - [`OpFuzz`]: another operator at one place
//! - [`TypeFuzz`]: a new term at one place
//! - [`Fusion`]: two seeds of one answer in one script
//! - [`Storm`]: satisfiable instances from fragments of any seed
//! - [`Diver`]: random changes that a model accepts; [`diver`] has its pre-analysis
//! - [`Polarity`]: weaker satisfiable and stronger unsatisfiable formulas

mod case;
pub mod diver;
mod engine;
mod fusion;
mod generated;
mod opfuzz;
pub mod polarity;
mod registry;
mod sites;
mod skeleton;
mod storm;
mod typefuzz;
mod unchanged;
mod worlds;

pub use case::{Derivation, Expectation, Provenance, TestCase};
pub use diver::Diver;
pub use engine::{Ask, Bench, Engine, Feedback, Nobody, Round, Seed};
pub use fusion::Fusion;
pub use generated::Generate;
pub use opfuzz::{Groups, OpFuzz};
pub use polarity::Polarity;
pub use registry::{Tuning, all, tuned, variants};
pub use storm::Storm;
pub use typefuzz::TypeFuzz;
pub use unchanged::Unchanged;
