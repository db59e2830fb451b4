//! Reduction: a script and a solver's options made as small as they get while the same bug stays.
//!
//! A [`Predicate`](predicate::Predicate) says what must stay: the same bug of the same solver ([`predicate::Bug`]), or
//! what a command of the user's says ([`predicate::Command`], ddSMT's convention). [`reduce`](reduce()) looks for
//! smaller scripts that keep it. Candidates are made on typed terms, so none is wasted on an ill-sorted script; for
//! scripts that are known to be satisfiable the model travels along and is checked by our evaluator before a solver is
//! asked. What cannot be read as typed terms is reduced as S-expressions.
//!
//! - [`predicate`]: what must stay, and the examiners that find out, one per worker
//! - [`driver`]: the loop over passes, the cache, the clock, the best so far; `interface`: what it is told and tells
//! - `workbench`: the script in hand with its store, its model and the edits on it
//! - [`edit`]: single steps, and scripts with steps applied; `retype`: scripts with other sorts
//! - `passes`: one file per family of steps
//! - [`outline`]: S-expressions, for what cannot be read; [`layout`]: long commands over several lines
//! - [`blame`]: which constructs of a reduced script the bug needs
//! - `held`: constants with a value in the place of terms
//! - `meaning`: candidates that say the same as one that failed
//! - [`size`]: how large a script is, whatever its layout

pub mod blame;
pub mod driver;
pub mod edit;
mod error;
mod held;
mod interface;
pub mod layout;
mod meaning;
pub mod outline;
mod passes;
pub mod predicate;
mod retype;
pub mod size;
mod tactics;
mod textual;
mod workbench;

pub use driver::{Effort, Input, Progress, Reduced, Watcher, reduce};
pub use error::ReduceError;
pub use size::Size;
