//! Exact values of SMT-LIB terms.
//!
//! Every module holds one kind of value together with the functions the
//! standard (or a solver's documented extension) defines on it. Nothing here
//! rounds silently: a result that would cost too much is a typed refusal.
//!
//! - [`integer`]: unbounded integers, Euclidean division
//! - [`rational`]: exact fractions
//! - [`bv`]: bit-vectors of any width
//! - [`algebraic`]: real algebraic numbers, the values solvers print for
//!   nonlinear real arithmetic
//! - [`fp`]: floating point of any format, five rounding modes
//! - [`string`]: strings over the theory's alphabet, and literals in every dialect
//! - [`regex`]: regular languages by symbolic derivatives
//! - [`sequence`]: what strings and sequences have in common
//! - [`finite_field`]: residues modulo a prime
//! - [`enclosure`]: rigorous bounds for the transcendental functions

pub mod algebraic;
pub mod bv;
pub mod enclosure;
pub mod finite_field;
pub mod fp;
pub mod integer;
pub mod rational;
pub mod regex;
pub mod sequence;
pub mod string;
