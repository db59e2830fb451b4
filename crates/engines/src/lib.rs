//! Engines: makers of test cases, one file or folder each.
//!
//! - [`TestCase`]: script, expectation, provenance
//! - [`Engine`], [`Round`], [`Ask`]: the traits between the campaign and the engines
//! - [`all`]: every engine by name
//! - [`Generate`]: scripts from nothing
//! - [`OpFuzz`]: another operator at one place
//! - [`TypeFuzz`]: a new term at one place
//! - [`Fusion`]: two seeds of one answer in one script

mod case;
mod engine;
mod fusion;
mod generated;
mod opfuzz;
mod registry;
mod sites;
mod typefuzz;

pub use case::{Derivation, Expectation, Provenance, TestCase};
pub use engine::{Ask, Bench, Engine, Feedback, Nobody, Round, Seed};
pub use fusion::Fusion;
pub use generated::Generate;
pub use opfuzz::{Groups, OpFuzz};
pub use registry::all;
pub use typefuzz::TypeFuzz;
