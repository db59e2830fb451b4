//! Scripts and terms from nothing: a probabilistic grammar over the theory table.
//!
//! Everything it makes is well-sorted by construction: an operator is chosen by the sort that is wanted, and the sort
//! and width variables of its row are solved before its arguments are made.
//!
//! - [`Grammar`]: a logic, the releases under test and a [`Config`] as weights of operators by sort.
//! - [`Scope`]: the leaves, functions, datatypes and sorts that terms at one place are made of.
//! - [`rng`]: the project's one random source, numbered streams under a seed.
//! - [`bandit`]: which of several choices to take next, by what each has brought.
//! - [`logic`]: what the letters of a logic's name allow.
//! - [`COMBINATIONS`]: logics that together have every theory.

pub mod bandit;
mod combinations;
mod config;
mod constants;
mod grammar;
mod insert;
pub mod logic;
mod operands;
mod replace;
pub mod rng;
mod scope;
mod script;
mod solve;
mod special;
mod term;
mod universe;

pub use combinations::COMBINATIONS;
pub use config::Config;
pub use grammar::{Grammar, GrammarError};
pub use insert::Insertion;
pub use logic::{Logic, UnknownLogic};
pub use rng::Rng;
pub use scope::Scope;
pub use special::is_made;
