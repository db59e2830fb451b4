//! Regular languages over the alphabet of strings, by symbolic derivatives.
//!
//! Terms are hash-consed in an [`Arena`] and normalised as they are built, so
//! that a term has finitely many derivatives. Characters only ever appear as
//! intervals: the 196,608 characters of the theory are never enumerated.
//!
//! Regular expressions with complement and intersection can be hopelessly
//! large; every question has a budget and answers [`TooHard`] beyond it.

mod arena;
mod automaton;
mod charset;
mod derivative;
mod language;
mod replace;

use thiserror::Error;

pub use arena::{Arena, LengthBounds, Mark, Re};
pub use automaton::Automaton;
pub use charset::CharSet;

/// What one question may cost.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Budget {
    /// Elementary steps of one question.
    pub steps: u64,
    /// Terms alive in the arena, counted over all questions since it was last
    /// reset.
    pub terms: usize,
    /// States of an explicit automaton.
    pub states: usize,
}

impl Default for Budget {
    fn default() -> Budget {
        Budget { steps: 1_000_000, terms: 1_000_000, states: 20_000 }
    }
}

/// The budget a question exceeded; its answer is unknown.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum TooHard {
    #[error("the regular expression needs more steps than allowed")]
    Steps,
    #[error("the regular expression has more derivatives than allowed")]
    Terms,
    #[error("the regular expression has more automaton states than allowed")]
    States,
    #[error("the regular expression is nested too deeply")]
    Depth,
    #[error("the resulting string is too long")]
    Length,
}
