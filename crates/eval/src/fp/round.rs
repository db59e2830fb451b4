//! The one rounding function.

use super::format::{Format, RoundingMode};
use super::magnitude::Magnitude;
use super::value::Float;

/// An exact result: `(magnitude + tail) * 2^exponent`, where the tail is zero
/// or, if `sticky`, somewhere strictly between 0 and 1.
///
/// A sticky result must carry at least `sb + 2` bits, so that the tail always
/// lies below the first dropped bit.
pub(super) struct Exact<M> {
    pub negative: bool,
    pub magnitude: M,
    pub exponent: i64,
    pub sticky: bool,
}

impl<M: Magnitude> Exact<M> {
    /// The member of `format` that IEEE 754-2008 section 4.3 assigns to this
    /// result. An exact zero keeps the sign it was given.
    pub fn round(self, format: Format, mode: RoundingMode) -> Float {
        let Exact { negative, magnitude, exponent, sticky } = self;
        let length = magnitude.length();
        debug_assert!(!sticky || length >= i64::from(format.sb()) + 2);
        if length == 0 {
            return Float::zero(format, negative);
        }
        let precision = i64::from(format.sb());
        let quantum = (exponent + length - precision).max(format.quantum_min());
        let shift = quantum - exponent;
        let (mut kept, mut quantum) = if shift <= 0 {
            (magnitude.shift_left(-shift), quantum)
        } else {
            let (kept, half, rest) = magnitude.split(shift);
            let away = mode.rounds_away(negative, kept.is_odd(), half, rest || sticky);
            (if away { kept + M::one() } else { kept }, quantum)
        };
        if kept.length() > precision {
            // The carry ran through all bits: the significand is a power of two.
            kept = kept.split(1).0;
            quantum += 1;
        }
        if quantum > format.quantum_max() {
            return Float::overflow(format, mode, negative);
        }
        if kept.is_zero() {
            return Float::zero(format, negative);
        }
        Float::finite(format, negative, quantum, kept.into_significand())
    }
}
