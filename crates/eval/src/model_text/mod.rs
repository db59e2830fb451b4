//! Models as text: what solvers print, and our own witnesses.
//!
//! [`read_model`] takes the output of any solver: a list of definitions with or without the word `model` (Z3,
//! cvc5, CVC4, Bitwuzla, Yices with `--smt2-model-format`), equations and function tables (Yices), or terms with
//! their values (MathSAT, and `get-value` everywhere). Answers such as `sat` around it are passed over.
//!
//! [`write_model`] writes what `read_model` reads. The elements of declared sorts are declared as constants,
//! followed by `(forall ((x S)) ...)` if there are no others. Open cases of the theories are definitions of the
//! operator's own name: Z3's `/0`, `div0`, `mod0`, `rem0` and `seq.nth_u` for its extra functions, a selector for
//! its value on other constructors, and `|(_ fp.to_ubv 8)|` where the operator has indices.

mod items;
mod open;
mod plan;
mod read;
mod rewrite;
mod tokens;
mod write;

use smtlib::{Fun, Term};
use thiserror::Error;

use crate::model::Model;

pub use read::{read_model, read_values};
pub use write::{Unwritable, write_model};

/// A model read from text.
#[derive(Clone, Debug)]
pub struct ReadModel {
    pub model: Model,
    /// Symbols of the script that the text does not define. They have default values.
    pub defaulted: Vec<Fun>,
    pub notes: Vec<Note>,
}

/// Something in the text that was passed over.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Note {
    pub offset: usize,
    pub message: String,
}

/// Terms with the values a solver gave them.
#[derive(Clone, Debug)]
pub struct ReadValues {
    pub pairs: Vec<(Term, Term)>,
    /// What the elements and numbers inside the values mean.
    pub model: Model,
}

/// Why there is no model in a text.
#[derive(Clone, PartialEq, Eq, Debug, Error)]
pub enum ModelError {
    #[error("{message}")]
    Text { offset: usize, message: String },
    #[error("the solver printed an error: {message}")]
    Solver { offset: usize, message: String },
    #[error("there is no model in this text")]
    Empty,
}

impl ModelError {
    pub(crate) fn text(offset: usize, message: impl Into<String>) -> ModelError {
        ModelError::Text { offset, message: message.into() }
    }

    /// The byte at which the problem starts.
    pub fn offset(&self) -> usize {
        match self {
            ModelError::Text { offset, .. } | ModelError::Solver { offset, .. } => *offset,
            ModelError::Empty => 0,
        }
    }
}
