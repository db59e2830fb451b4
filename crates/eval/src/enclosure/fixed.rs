//! Intervals of fixed-point numbers: integers over a power of two, rounded
//! outward by every operation, so the true value never escapes.

use dashu_int::ops::{Abs, DivEuclid, SquareRoot, UnsignedAbs};
use dashu_int::{IBig, UBig};

use crate::integer::Integer;
use crate::rational::Rational;

/// The interval from `low / 2^bits` to `high / 2^bits`. Operands of one
/// operation have the same `bits`.
#[derive(Clone, Debug)]
pub(super) struct Fixed {
    low: IBig,
    high: IBig,
    bits: usize,
}

fn shift_down(value: IBig, bits: usize) -> IBig {
    value >> bits
}

fn shift_up(value: IBig, bits: usize) -> IBig {
    -((-value) >> bits)
}

/// Rounds down; the divisor is positive.
fn quotient_down(value: IBig, divisor: &IBig) -> IBig {
    value.div_euclid(divisor)
}

/// Rounds up; the divisor is positive.
fn quotient_up(value: IBig, divisor: &IBig) -> IBig {
    -((-value).div_euclid(divisor))
}

impl Fixed {
    /// The smallest interval of this precision around both numbers.
    pub(super) fn enclosing(low: &Rational, high: &Rational, bits: usize) -> Fixed {
        let scaled = |value: &Rational| value.numerator().to_ibig() << bits;
        Fixed {
            low: quotient_down(scaled(low), &low.denominator().to_ibig()),
            high: quotient_up(scaled(high), &high.denominator().to_ibig()),
            bits,
        }
    }

    pub(super) fn point(value: &Rational, bits: usize) -> Fixed {
        Fixed::enclosing(value, value, bits)
    }

    pub(super) fn integer(value: i64, bits: usize) -> Fixed {
        let scaled = IBig::from(value) << bits;
        Fixed { low: scaled.clone(), high: scaled, bits }
    }

    pub(super) fn to_rationals(&self) -> (Rational, Rational) {
        let unit = Integer::from(UBig::ONE << self.bits);
        let of = |value: &IBig| Rational::new(Integer::from(value.clone()), unit.clone()).unwrap_or_default();
        (of(&self.low), of(&self.high))
    }

    pub(super) fn plus(&self, other: &Fixed) -> Fixed {
        debug_assert_eq!(self.bits, other.bits);
        Fixed { low: &self.low + &other.low, high: &self.high + &other.high, bits: self.bits }
    }

    pub(super) fn minus(&self, other: &Fixed) -> Fixed {
        debug_assert_eq!(self.bits, other.bits);
        Fixed { low: &self.low - &other.high, high: &self.high - &other.low, bits: self.bits }
    }

    pub(super) fn negated(&self) -> Fixed {
        Fixed { low: -&self.high, high: -&self.low, bits: self.bits }
    }

    pub(super) fn times(&self, other: &Fixed) -> Fixed {
        debug_assert_eq!(self.bits, other.bits);
        let products = [
            &self.low * &other.low,
            &self.low * &other.high,
            &self.high * &other.low,
            &self.high * &other.high,
        ];
        let low = products.iter().min().cloned().unwrap_or_default();
        let high = products.into_iter().max().unwrap_or_default();
        Fixed { low: shift_down(low, self.bits), high: shift_up(high, self.bits), bits: self.bits }
    }

    /// Sharper than a product: a square is never negative.
    pub(super) fn squared(&self) -> Fixed {
        let mut square = self.times(self);
        square.low = square.low.max(IBig::ZERO);
        square
    }

    /// Multiplies by an exact integer.
    pub(super) fn scaled_by(&self, factor: i64) -> Fixed {
        let (a, b) = (&self.low * factor, &self.high * factor);
        let (low, high) = if a <= b { (a, b) } else { (b, a) };
        Fixed { low, high, bits: self.bits }
    }

    /// Divides by an exact positive integer.
    pub(super) fn divided_by_integer(&self, divisor: u64) -> Fixed {
        let divisor = IBig::from(divisor);
        Fixed {
            low: quotient_down(self.low.clone(), &divisor),
            high: quotient_up(self.high.clone(), &divisor),
            bits: self.bits,
        }
    }

    pub(super) fn halved(&self) -> Fixed {
        self.divided_by_integer(2)
    }

    /// Divides a nonnegative interval by a positive one.
    pub(super) fn divided_by_positive(&self, divisor: &Fixed) -> Fixed {
        debug_assert!(self.low >= IBig::ZERO && divisor.low > IBig::ZERO);
        Fixed {
            low: quotient_down(&self.low << self.bits, &divisor.high),
            high: quotient_up(&self.high << self.bits, &divisor.low),
            bits: self.bits,
        }
    }

    /// The square root of the part that is not negative.
    pub(super) fn sqrt(&self) -> Fixed {
        let root = |value: &IBig| -> UBig {
            let value = value.max(&IBig::ZERO).unsigned_abs();
            (value << self.bits).sqrt()
        };
        Fixed {
            low: IBig::from(root(&self.low)),
            high: IBig::from(root(&self.high)) + IBig::ONE,
            bits: self.bits,
        }
    }

    /// The largest absolute value, in units of the last place.
    pub(super) fn magnitude(&self) -> IBig {
        self.low.clone().abs().max(self.high.clone().abs())
    }

    /// Adds that many units of the last place on both sides.
    pub(super) fn widened(&self, units: &IBig) -> Fixed {
        Fixed { low: &self.low - units, high: &self.high + units, bits: self.bits }
    }

    /// Rounds outward to fewer bits.
    pub(super) fn with_bits(&self, bits: usize) -> Fixed {
        let dropped = self.bits.saturating_sub(bits);
        Fixed {
            low: shift_down(self.low.clone(), dropped),
            high: shift_up(self.high.clone(), dropped),
            bits: self.bits - dropped,
        }
    }
}
