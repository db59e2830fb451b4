//! Arithmetic: the operations of IEEE 754-2008 section 5 that SMT-LIB has.
//!
//! All binary operations require equal formats, as the theory's sorts do, and
//! panic otherwise.

use dashu_int::UBig;

use super::format::{Format, RoundingMode};
use super::magnitude::Magnitude;
use super::round::Exact;
use super::value::{Float, Repr, Significand};

impl Float {
    pub fn add(&self, mode: RoundingMode, other: &Float) -> Float {
        let format = common_format(self, other);
        match (&self.repr, &other.repr) {
            (Repr::Nan, _) | (_, Repr::Nan) => Float::nan(format),
            (Repr::Infinite { negative: a }, Repr::Infinite { negative: b }) => {
                if a == b {
                    self.clone()
                } else {
                    Float::nan(format)
                }
            }
            (Repr::Infinite { .. }, _) => self.clone(),
            (_, Repr::Infinite { .. }) => other.clone(),
            (Repr::Zero { negative: a }, Repr::Zero { negative: b }) => {
                Float::zero(format, if a == b { *a } else { mode == RoundingMode::Rtn })
            }
            (Repr::Zero { .. }, _) => other.clone(),
            (_, Repr::Zero { .. }) => self.clone(),
            (Repr::Finite { .. }, Repr::Finite { .. }) => {
                if format.is_fast() {
                    sum(mode, format, Part::<u128>::of(self), Part::of(other))
                } else {
                    sum(mode, format, Part::<UBig>::of(self), Part::of(other))
                }
            }
        }
    }

    pub fn sub(&self, mode: RoundingMode, other: &Float) -> Float {
        self.add(mode, &other.neg())
    }

    pub fn mul(&self, mode: RoundingMode, other: &Float) -> Float {
        let format = common_format(self, other);
        let (Some(a), Some(b)) = (self.sign(), other.sign()) else {
            return Float::nan(format);
        };
        let negative = a != b;
        match (&self.repr, &other.repr) {
            (Repr::Infinite { .. }, Repr::Zero { .. }) | (Repr::Zero { .. }, Repr::Infinite { .. }) => {
                Float::nan(format)
            }
            (Repr::Infinite { .. }, _) | (_, Repr::Infinite { .. }) => Float::infinity(format, negative),
            (Repr::Zero { .. }, _) | (_, Repr::Zero { .. }) => Float::zero(format, negative),
            _ => {
                if format.is_fast() {
                    Part::<u128>::of(self).times(Part::of(other)).exact().round(format, mode)
                } else {
                    Part::<UBig>::of(self).times(Part::of(other)).exact().round(format, mode)
                }
            }
        }
    }

    pub fn div(&self, mode: RoundingMode, other: &Float) -> Float {
        let format = common_format(self, other);
        let (Some(a), Some(b)) = (self.sign(), other.sign()) else {
            return Float::nan(format);
        };
        let negative = a != b;
        match (&self.repr, &other.repr) {
            (Repr::Infinite { .. }, Repr::Infinite { .. }) | (Repr::Zero { .. }, Repr::Zero { .. }) => {
                Float::nan(format)
            }
            (Repr::Infinite { .. }, _) | (_, Repr::Zero { .. }) => Float::infinity(format, negative),
            (Repr::Zero { .. }, _) | (_, Repr::Infinite { .. }) => Float::zero(format, negative),
            _ => {
                if format.is_fast() {
                    quotient(mode, format, Part::<u128>::of(self), Part::of(other))
                } else {
                    quotient(mode, format, Part::<UBig>::of(self), Part::of(other))
                }
            }
        }
    }

    /// `(fp.fma mode self factor addend)`: one rounding of the exact
    /// `self * factor + addend`.
    pub fn fma(&self, mode: RoundingMode, factor: &Float, addend: &Float) -> Float {
        let format = common_format(self, factor);
        common_format(self, addend);
        let (Some(a), Some(b)) = (self.sign(), factor.sign()) else {
            return Float::nan(format);
        };
        if addend.is_nan() {
            return Float::nan(format);
        }
        let finite = |value: &Float| matches!(value.repr, Repr::Finite { .. });
        if finite(self) && finite(factor) {
            if !finite(addend) {
                return if addend.is_zero() {
                    // Adding a zero to a nonzero product changes nothing.
                    self.mul(mode, factor)
                } else {
                    addend.clone()
                };
            }
            return if 3 * format.sb() + 6 <= 128 {
                let product = Part::<u128>::of(self).times(Part::of(factor));
                sum(mode, format, product, Part::of(addend))
            } else {
                let product = Part::<UBig>::of(self).times(Part::of(factor));
                sum(mode, format, product, Part::of(addend))
            };
        }
        if (self.is_infinite() && factor.is_zero()) || (self.is_zero() && factor.is_infinite()) {
            return Float::nan(format);
        }
        // The product is exactly an infinity or a zero.
        let product = if self.is_infinite() || factor.is_infinite() {
            Float::infinity(format, a != b)
        } else {
            Float::zero(format, a != b)
        };
        product.add(mode, addend)
    }

    pub fn sqrt(&self, mode: RoundingMode) -> Float {
        let format = self.format();
        match &self.repr {
            Repr::Nan | Repr::Zero { .. } => self.clone(),
            Repr::Infinite { negative: true } | Repr::Finite { negative: true, .. } => Float::nan(format),
            Repr::Infinite { .. } => self.clone(),
            Repr::Finite { .. } => {
                if format.is_fast() {
                    square_root(mode, format, Part::<u128>::of(self))
                } else {
                    square_root(mode, format, Part::<UBig>::of(self))
                }
            }
        }
    }

    /// `fp.rem`: `self - other * n` with `n` the integer nearest to
    /// `self / other`, ties to even. Always exact.
    pub fn rem(&self, other: &Float) -> Float {
        let format = common_format(self, other);
        match (&self.repr, &other.repr) {
            (Repr::Nan | Repr::Infinite { .. }, _) | (_, Repr::Nan | Repr::Zero { .. }) => Float::nan(format),
            (Repr::Zero { .. }, _) | (_, Repr::Infinite { .. }) => self.clone(),
            _ => {
                if format.is_fast() {
                    remainder(self, Part::<u128>::of(self), Part::of(other))
                } else {
                    remainder(self, Part::<UBig>::of(self), Part::of(other))
                }
            }
        }
    }

    /// `fp.roundToIntegral`. In formats with `eb = 2` the integer above the
    /// largest finite value may be the nearest one; it is then rounded again
    /// in the same mode, that is to infinity.
    pub fn round_to_integral(&self, mode: RoundingMode) -> Float {
        match &self.repr {
            Repr::Finite { negative, quantum, significand } if *quantum < 0 => {
                let format = self.format();
                let (negative, quantum) = (*negative, *quantum);
                if format.is_fast() {
                    integral(u128::of(significand), negative, quantum, mode).round(format, mode)
                } else {
                    integral(UBig::of(significand), negative, quantum, mode).round(format, mode)
                }
            }
            _ => self.clone(),
        }
    }
}

fn common_format(left: &Float, right: &Float) -> Format {
    assert_eq!(left.format(), right.format(), "arithmetic across formats");
    left.format()
}

/// A nonzero finite number in the working representation.
struct Part<M> {
    negative: bool,
    magnitude: M,
    exponent: i64,
}

impl<M: Magnitude> Part<M> {
    /// `value` is finite and not zero.
    fn of(value: &Float) -> Part<M> {
        match &value.repr {
            Repr::Finite { negative, quantum, significand } => {
                Part { negative: *negative, magnitude: M::of(significand), exponent: *quantum }
            }
            _ => unreachable!("only finite nonzero values have a magnitude"),
        }
    }

    fn times(self, other: Part<M>) -> Part<M> {
        Part {
            negative: self.negative != other.negative,
            magnitude: self.magnitude * other.magnitude,
            exponent: self.exponent + other.exponent,
        }
    }

    fn exact(self) -> Exact<M> {
        Exact { negative: self.negative, magnitude: self.magnitude, exponent: self.exponent, sticky: false }
    }

    /// Exponent of the leading bit.
    fn top(&self) -> i64 {
        self.exponent + self.magnitude.length() - 1
    }
}

/// Adds two nonzero numbers. Where one lies entirely below the rounding
/// position of the other it only contributes a sticky bit, so the cost does
/// not depend on the distance of the exponents.
fn sum<M: Magnitude>(mode: RoundingMode, format: Format, left: Part<M>, right: Part<M>) -> Float {
    let (high, low) = if left.top() >= right.top() { (left, right) } else { (right, left) };
    // If `low` has bits below the floor, it lies wholly more than `sb + 3`
    // places under the top of `high`: nothing cancels, and what is cut off can
    // only be a tail. The widest sums, those of a fused multiply-add, take
    // `3 sb + 6` bits.
    let reach = i64::from(format.sb()) + 4 + low.magnitude.length();
    let floor = (high.top() - reach).min(high.exponent);
    let exponent = if low.exponent >= floor { high.exponent.min(low.exponent) } else { floor };
    let aligned_high = high.magnitude.shift_left(high.exponent - exponent);
    let (aligned_low, sticky) = if low.exponent >= exponent {
        (low.magnitude.shift_left(low.exponent - exponent), false)
    } else {
        low.magnitude.shift_right_sticky(exponent - low.exponent)
    };
    if high.negative == low.negative {
        let magnitude = aligned_high + aligned_low;
        return Exact { negative: high.negative, magnitude, exponent, sticky }.round(format, mode);
    }
    if !sticky && aligned_high == aligned_low {
        // IEEE 754-2008, 6.3: an exact zero sum is -0 only when rounding down.
        return Float::zero(format, mode == RoundingMode::Rtn);
    }
    let (negative, magnitude) = if aligned_high >= aligned_low {
        (high.negative, aligned_high - aligned_low)
    } else {
        (low.negative, aligned_low - aligned_high)
    };
    // With a tail on the subtracted side the difference is one less, and what
    // remains of that one is again a tail.
    let magnitude = if sticky { magnitude - M::one() } else { magnitude };
    Exact { negative, magnitude, exponent, sticky }.round(format, mode)
}

fn quotient<M: Magnitude>(mode: RoundingMode, format: Format, left: Part<M>, right: Part<M>) -> Float {
    let shift = i64::from(format.sb()) + 3 + right.magnitude.length() - left.magnitude.length();
    let negative = left.negative != right.negative;
    let exponent = left.exponent - shift - right.exponent;
    let (magnitude, rest) = left.magnitude.shift_left(shift).div_rem(&right.magnitude);
    Exact { negative, magnitude, exponent, sticky: !rest.is_zero() }.round(format, mode)
}

fn square_root<M: Magnitude>(mode: RoundingMode, format: Format, radicand: Part<M>) -> Float {
    let wanted = 2 * (i64::from(format.sb()) + 2);
    let mut shift = wanted - radicand.magnitude.length();
    if (radicand.exponent - shift).rem_euclid(2) == 1 {
        shift += 1;
    }
    let exponent = (radicand.exponent - shift) / 2;
    let (magnitude, sticky) = radicand.magnitude.shift_left(shift).square_root();
    Exact { negative: false, magnitude, exponent, sticky }.round(format, mode)
}

fn remainder<M: Magnitude>(dividend: &Float, x: Part<M>, y: Part<M>) -> Float {
    if x.top() < y.top() - 1 {
        // Less than half of the divisor: the nearest multiple is zero.
        return dividend.clone();
    }
    let format = dividend.format();
    let exponent = x.exponent.min(y.exponent);
    let divisor = y.magnitude.shift_left(y.exponent - exponent);
    // Modulo twice the divisor, so that the parity of the quotient survives.
    let modulus = divisor.clone().shift_left(1);
    let residue = x.magnitude.div_rem(&modulus).1;
    let scale = power_of_two_modulo((x.exponent - exponent) as u64, &modulus);
    let residue = (residue * scale).div_rem(&modulus).1;
    let (odd, rest) = if residue >= divisor { (true, residue - divisor.clone()) } else { (false, residue) };
    let doubled = rest.clone().shift_left(1);
    let beyond_half = doubled > divisor || (doubled == divisor && odd);
    let (negative, magnitude) = if beyond_half { (!x.negative, divisor - rest) } else { (x.negative, rest) };
    if magnitude.is_zero() {
        // IEEE 754-2008, 5.3.1: a zero remainder has the sign of the dividend.
        return Float::zero(format, x.negative);
    }
    // Exact by construction, so the mode does not matter.
    Exact { negative, magnitude, exponent, sticky: false }.round(format, RoundingMode::Rtz)
}

/// `2^power mod modulus` by repeated squaring: exponent differences grow with
/// `2^eb`, so the power itself must never be written out.
fn power_of_two_modulo<M: Magnitude>(power: u64, modulus: &M) -> M {
    let mut result = M::one().div_rem(modulus).1;
    for index in (0..64 - power.leading_zeros()).rev() {
        result = (result.clone() * result).div_rem(modulus).1;
        if power >> index & 1 == 1 {
            result = result.shift_left(1).div_rem(modulus).1;
        }
    }
    result
}

/// The integer a non-integral magnitude rounds to.
pub(super) fn integral<M: Magnitude>(
    magnitude: M,
    negative: bool,
    quantum: i64,
    mode: RoundingMode,
) -> Exact<M> {
    let (kept, half, rest) = magnitude.split(-quantum);
    let away = mode.rounds_away(negative, kept.is_odd(), half, rest);
    let magnitude = if away { kept + M::one() } else { kept };
    Exact { negative, magnitude, exponent: 0, sticky: false }
}

impl Significand {
    /// The integer nearest to `self * 2^quantum` in the given mode, for
    /// negative quantum.
    pub(super) fn rounded_integer(&self, negative: bool, quantum: i64, mode: RoundingMode) -> UBig {
        integral(UBig::of(self), negative, quantum, mode).magnitude
    }
}
