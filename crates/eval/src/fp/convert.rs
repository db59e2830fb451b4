//! Conversions between floating point and the other numeric sorts.

use dashu_int::{IBig, Sign, UBig};
use thiserror::Error;

use crate::integer::Integer;
use crate::rational::Rational;

use super::format::{Format, RoundingMode};
use super::magnitude::Magnitude;
use super::round::Exact;
use super::value::{Float, Repr};

/// Why a floating-point value has no rational to stand for it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum NoRational {
    /// `fp.to_real` is unspecified here: any real may be its value.
    #[error("fp.to_real of NaN or an infinity is unspecified")]
    NotFinite,
    /// The value is a definite rational, too long to write out.
    #[error("fp.to_real of a value with a binary exponent of {exponent} is too large")]
    TooLarge { exponent: i64 },
}

impl Float {
    /// Values with more binary places than this are not expanded into
    /// rationals; an exponent of 60 bits could fill any memory.
    pub const MAX_EXPANDED_BITS: i64 = 1 << 22;

    /// `((_ to_fp eb sb) mode r)` for a real.
    pub fn from_rational(format: Format, mode: RoundingMode, value: &Rational) -> Float {
        Float::from_scaled_rational(format, mode, value, 0)
    }

    /// The rounding of `value * 2^exponent` (Z3's ternary `to_fp` from a
    /// significand and an exponent). Exponents beyond the range of any format
    /// may be clamped to it by the caller.
    pub fn from_scaled_rational(
        format: Format,
        mode: RoundingMode,
        value: &Rational,
        exponent: i64,
    ) -> Float {
        let numerator = value.numerator();
        let negative = numerator.is_negative();
        let (numerator, denominator) = (numerator.magnitude(), value.denominator().magnitude());
        if numerator.is_zero() {
            return Float::zero(format, false);
        }
        let exponent = exponent.clamp(-(1 << 61), 1 << 61);
        let wanted = i64::from(format.sb()) + 3 + denominator.length() - numerator.length();
        let shift = wanted.max(0);
        let (magnitude, rest) = numerator.shift_left(shift).div_rem(&denominator);
        let sticky = !Magnitude::is_zero(&rest);
        let exponent = exponent - shift;
        Exact { negative, magnitude, exponent, sticky }.round(format, mode)
    }

    /// `((_ to_fp eb sb) mode i)` for an integer; also of bit-vectors, which
    /// convert through their signed or unsigned value.
    pub fn from_integer(format: Format, mode: RoundingMode, value: &Integer) -> Float {
        Exact { negative: value.is_negative(), magnitude: value.magnitude(), exponent: 0, sticky: false }
            .round(format, mode)
    }

    /// `((_ to_fp eb sb) mode x)` for a floating-point `x`.
    pub fn to_format(&self, mode: RoundingMode, format: Format) -> Float {
        match &self.repr {
            Repr::Nan => Float::nan(format),
            Repr::Infinite { negative } => Float::infinity(format, *negative),
            Repr::Zero { negative } => Float::zero(format, *negative),
            Repr::Finite { negative, quantum, significand } => {
                let (negative, exponent) = (*negative, *quantum);
                if self.format().is_fast() && format.is_fast() {
                    let magnitude = u128::of(significand);
                    Exact { negative, magnitude, exponent, sticky: false }.round(format, mode)
                } else {
                    let magnitude = UBig::of(significand);
                    Exact { negative, magnitude, exponent, sticky: false }.round(format, mode)
                }
            }
        }
    }

    /// `fp.to_real`, exactly.
    pub fn to_rational(&self) -> Result<Rational, NoRational> {
        match &self.repr {
            Repr::Nan | Repr::Infinite { .. } => Err(NoRational::NotFinite),
            Repr::Zero { .. } => Ok(Rational::default()),
            Repr::Finite { negative, quantum, significand } => {
                if quantum.abs() > Self::MAX_EXPANDED_BITS {
                    return Err(NoRational::TooLarge { exponent: *quantum });
                }
                let magnitude = significand.to_ubig();
                let places = quantum.unsigned_abs() as usize;
                let (numerator, denominator) = if *quantum >= 0 {
                    (magnitude << places, UBig::ONE)
                } else {
                    (magnitude, UBig::ONE << places)
                };
                let numerator = IBig::from_parts(sign(*negative), numerator);
                Rational::new(Integer::from(numerator), Integer::from(denominator))
                    .ok_or(NoRational::TooLarge { exponent: *quantum })
            }
        }
    }

    /// The integer this value rounds to, if it is finite and that integer has
    /// at most `max_bits` bits.
    pub fn to_integer(&self, mode: RoundingMode, max_bits: u32) -> Option<Integer> {
        match &self.repr {
            Repr::Nan | Repr::Infinite { .. } => None,
            Repr::Zero { .. } => Some(Integer::default()),
            Repr::Finite { negative, quantum, significand } => {
                if quantum + significand.length() > i64::from(max_bits) {
                    return None;
                }
                let magnitude = if *quantum >= 0 {
                    significand.to_ubig() << *quantum as usize
                } else {
                    significand.rounded_integer(*negative, *quantum, mode)
                };
                Some(Integer::from(IBig::from_parts(sign(*negative), magnitude)))
            }
        }
    }

    /// The value of `((_ fp.to_ubv width) mode x)`; `None` where the standard
    /// leaves it unspecified: NaN, infinities, and integers out of range.
    pub fn to_unsigned(&self, mode: RoundingMode, width: u32) -> Option<Integer> {
        let value = self.to_integer(mode, width)?;
        let in_range = !value.is_negative() && value.magnitude().length() <= i64::from(width);
        in_range.then_some(value)
    }

    /// The value of `((_ fp.to_sbv width) mode x)` as a signed integer; `None`
    /// where the standard leaves it unspecified.
    pub fn to_signed(&self, mode: RoundingMode, width: u32) -> Option<Integer> {
        let value = self.to_integer(mode, width)?;
        let limit = UBig::ONE << (width.max(1) - 1) as usize;
        let magnitude = value.magnitude();
        let in_range = if value.is_negative() { magnitude <= limit } else { magnitude < limit };
        (width > 0 && in_range).then_some(value)
    }
}

fn sign(negative: bool) -> Sign {
    if negative { Sign::Negative } else { Sign::Positive }
}
