//! Engines: makers of test cases, one file or folder each.
//!
//! - [`TestCase`]: script, expectation, provenance
//! - [`Engine`], [`Round`], [`Ask`]: the traits between the campaign and the engines

mod case;
mod engine;

pub use case::{Derivation, Expectation, Provenance, TestCase};
pub use engine::{Ask, Bench, Engine, Feedback, Nobody, Round, Seed};
