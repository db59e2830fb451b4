//! Falcon (Yao et al.: Fuzzing SMT Solvers via Two-Dimensional Input Space Exploration, ISSTA 2021): formulas and solver options explored together.
//!
//! Learning finds out, once per release, which options matter for which operations; a search then looks for values of the
//! options that matter for a formula. What it learns is plain counts, so that files of several runs add up. See
//! `docs/engines/falcon.md`.
//!
//! | file | what is in it |
//! | --- | --- |
//! | `operation.rs` | operations of scripts: operators, constructs, commands |
//! | `correlations.rs` | counts by option and operation, and the classes they make |
//! | `file.rs` | correlations in files, and those that come with the program |
//! | `batch.rs` | formulas of a few operations |
//! | `groups.rs` | many options tried at once, split where something changed |
//! | `laboratory.rs` | what a run of a solver with settings shows |
//! | `learn.rs` | learning: algorithm 1 |
//! | `rank_test.rs` | the test of Mann and Whitney |
//! | `space.rs` | vectors of option values, and how they mutate |
//! | `search.rs` | the genetic search: algorithm 3 |
//! | `economy.rs` | how long a search is worth its time |

pub mod batch;
mod correlations;
pub mod economy;
mod file;
pub mod groups;
pub mod laboratory;
pub mod learn;
pub mod operation;
pub mod rank_test;
pub mod search;
pub mod space;

pub use correlations::{Class, Correlations, Pair, Thresholds, WorthTrying};
pub use file::{CorrelationsError, shipped};
pub use operation::{CommandName, Operation, Operations};
