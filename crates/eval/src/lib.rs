//! Exact values of SMT-LIB terms.
//!
//! Every module holds one kind of value together with the functions the
//! standard (or a solver's documented extension) defines on it. Nothing here
//! rounds silently: a result that would cost too much is a typed refusal.
//!
//! - [`integer`], [`rational`]: exact numbers, which literals hold too
//! - [`bv`]: bit-vectors of any width
//! - [`algebraic`]: real algebraic numbers, the values solvers print for
//!   nonlinear real arithmetic
//! - [`fp`]: floating point of any format, five rounding modes
//! - [`string`]: strings over the theory's alphabet, and literals in every dialect
//! - [`regex`]: regular languages by symbolic derivatives
//! - [`sequence`]: what strings and sequences have in common
//! - [`finite_field`]: residues modulo a prime
//! - [`enclosure`]: rigorous bounds for the transcendental functions
//! - [`computable`]: reals known through enclosures
//!
//! On top of them stand terms and models:
//!
//! - [`value`]: one value of any sort
//! - [`sorts`]: sorts as sets of values
//! - [`model`]: interpretations of a script's symbols, and witnesses
//! - [`model_text`]: models as solvers print them, and as we write them
//! - [`evaluate`]: the value of a term under a model
//! - [`ops`]: what every operator computes
//! - [`Expectation`]: what a script's answer must be, and how that is known
//! - [`side_conditions`]: what constrains models besides assertions
//! - [`well_founded`]: definitions by recursion that surely define a function
//! - [`abstraction`]: sets of values, for pre-analysis
//! - [`unknown`]: why a term has no decided value

pub mod abstraction;
pub mod algebraic;
pub mod bv;
pub mod computable;
pub mod enclosure;
pub mod evaluate;
mod expectation;
pub mod finite_field;
pub mod fp;
pub mod model;
pub mod model_text;
pub mod ops;
mod random;
pub mod regex;
pub mod sequence;
pub mod side_conditions;
pub mod sorts;
pub mod string;
mod to_term;
pub mod unknown;
pub mod value;
pub mod well_founded;

pub use evaluate::{Budget, Evaluated, Evaluation, Evaluator, Mode};
pub use expectation::{Derivation, Expectation, STATUS_OF};
pub use model::{EvaluatedModel, Interpretation, Model, Universe, Witness};
pub use numbers::{integer, rational};
pub use to_term::to_term;
pub use unknown::{Reason, Unknown};
pub use value::Value;
