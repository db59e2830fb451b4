//! Floating point of any format `(_ FloatingPoint eb sb)`, as in SMT-LIB's
//! FloatingPoint theory: IEEE 754-2008 with one NaN per format.
//!
//! Every operation computes its exact result as an integer times a power of
//! two (plus one bit for "a little more"), and the single function in
//! [`round`](self) turns that into a member of the format. Formats of up to
//! [`Format::FAST_PRECISION`] significand bits run on native 128-bit integers,
//! all others on unbounded ones; both go through the same generic code.
//!
//! What the standard leaves open is visible in the types: `fp.min`/`fp.max` of
//! zeros of different sign, and conversions of values that have no image.

mod arith;
mod bitvector;
mod compare;
mod convert;
mod encoding;
mod format;
mod magnitude;
mod round;
mod value;

pub use compare::Extremum;
pub use convert::NoRational;
pub use format::{Format, FormatError, RoundingMode};
pub use value::{Class, Float};
