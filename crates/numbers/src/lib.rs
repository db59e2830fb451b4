//! Exact numbers, the same in terms and in their values: a literal's number is what its evaluation gives.
//!
//! - [`integer`]: unbounded integers, Euclidean division
//! - [`rational`]: exact fractions

pub mod integer;
pub mod rational;

pub use integer::Integer;
pub use rational::Rational;
