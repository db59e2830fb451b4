//! Exact fractions.
//!
//! Small numerators and denominators stay in machine words: their products fit
//! 128 bits, so one native reduction replaces several big-number operations.
//! The form is canonical (reduced, positive denominator, words whenever both
//! parts fit), so derived equality and hashing are correct.

use std::cmp::Ordering;
use std::fmt;
use std::ops::{Add, Mul, Neg, Sub};
use std::str::FromStr;

use dashu_int::ops::{DivEuclid, Gcd, UnsignedAbs};
use dashu_int::{IBig, UBig};

use crate::integer::{Integer, ParseNumberError, gcd_u64};

/// A rational number.
#[derive(Clone, PartialEq, Eq, Hash)]
pub struct Rational(Repr);

#[derive(Clone, PartialEq, Eq, Hash)]
enum Repr {
    Small {
        numerator: i64,
        /// At least 1.
        denominator: u64,
    },
    /// Only when one part does not fit.
    Big(Box<(IBig, UBig)>),
}

impl Rational {
    pub const ZERO: Rational = Rational::small(0, 1);
    pub const ONE: Rational = Rational::small(1, 1);

    const fn small(numerator: i64, denominator: u64) -> Rational {
        Rational(Repr::Small { numerator, denominator })
    }

    /// `numerator / denominator`, or `None` when the denominator is zero.
    pub fn new(numerator: Integer, denominator: Integer) -> Option<Rational> {
        if denominator.is_zero() {
            return None;
        }
        if let (Some(n), Some(d)) = (numerator.to_i64(), denominator.to_i64()) {
            let sign = if d < 0 { -1 } else { 1 };
            return Some(Rational::from_i128(i128::from(n) * sign, u128::from(d.unsigned_abs())));
        }
        let flipped = if denominator.is_negative() { -numerator } else { numerator };
        Some(Rational::from_big(flipped.to_ibig(), denominator.magnitude()))
    }

    /// Reduces; the denominator must not be zero.
    #[inline]
    fn from_i128(numerator: i128, denominator: u128) -> Rational {
        let magnitude = numerator.unsigned_abs();
        let divisor = match (u64::try_from(magnitude), u64::try_from(denominator)) {
            (Ok(a), Ok(b)) => u128::from(gcd_u64(a, b)),
            _ => gcd_u128(magnitude, denominator),
        };
        let (magnitude, denominator) = if divisor == 1 {
            (magnitude, denominator)
        } else {
            (magnitude / divisor, denominator / divisor)
        };
        if let (Ok(top), Ok(bottom)) = (i128::try_from(magnitude), u64::try_from(denominator))
            && let Ok(top) = i64::try_from(if numerator < 0 { -top } else { top })
        {
            return Rational::small(top, bottom);
        }
        let top = IBig::from(magnitude);
        Rational(Repr::Big(Box::new((if numerator < 0 { -top } else { top }, UBig::from(denominator)))))
    }

    /// Reduces; the denominator must not be zero.
    fn from_big(numerator: IBig, denominator: UBig) -> Rational {
        if numerator == IBig::ZERO {
            return Rational::ZERO;
        }
        let divisor = (&numerator).unsigned_abs().gcd(&denominator);
        let (numerator, denominator) = if divisor == UBig::ONE {
            (numerator, denominator)
        } else {
            (numerator / IBig::from(divisor.clone()), denominator / divisor)
        };
        match (i64::try_from(&numerator), u64::try_from(&denominator)) {
            (Ok(n), Ok(d)) => Rational::small(n, d),
            _ => Rational(Repr::Big(Box::new((numerator, denominator)))),
        }
    }

    fn big_parts(&self) -> (IBig, UBig) {
        match &self.0 {
            Repr::Small { numerator, denominator } => (IBig::from(*numerator), UBig::from(*denominator)),
            Repr::Big(parts) => (**parts).clone(),
        }
    }

    pub fn numerator(&self) -> Integer {
        match &self.0 {
            Repr::Small { numerator, .. } => Integer::from(*numerator),
            Repr::Big(parts) => Integer::from(parts.0.clone()),
        }
    }

    /// Always positive.
    pub fn denominator(&self) -> Integer {
        match &self.0 {
            Repr::Small { denominator, .. } => Integer::from(*denominator),
            Repr::Big(parts) => Integer::from(parts.1.clone()),
        }
    }

    #[inline]
    pub fn is_zero(&self) -> bool {
        matches!(self.0, Repr::Small { numerator: 0, .. })
    }

    #[inline]
    pub fn is_integer(&self) -> bool {
        match &self.0 {
            Repr::Small { denominator, .. } => *denominator == 1,
            Repr::Big(parts) => parts.1 == UBig::ONE,
        }
    }

    pub fn to_integer(&self) -> Option<Integer> {
        self.is_integer().then(|| self.numerator())
    }

    /// -1, 0 or 1.
    #[inline]
    pub fn signum(&self) -> i32 {
        match &self.0 {
            Repr::Small { numerator, .. } => numerator.signum() as i32,
            Repr::Big(parts) if parts.0 < IBig::ZERO => -1,
            Repr::Big(_) => 1,
        }
    }

    #[inline]
    pub fn is_negative(&self) -> bool {
        self.signum() < 0
    }

    pub fn abs(&self) -> Rational {
        if self.is_negative() { -self } else { self.clone() }
    }

    /// SMT-LIB `to_int`: the greatest integer not above the value.
    pub fn floor(&self) -> Integer {
        match &self.0 {
            Repr::Small { numerator, denominator: 1 } => Integer::from(*numerator),
            Repr::Small { numerator, denominator } => {
                Integer::from(i128::from(*numerator).div_euclid(i128::from(*denominator)))
            }
            Repr::Big(parts) => Integer::from((&parts.0).div_euclid(IBig::from(parts.1.clone()))),
        }
    }

    /// The least integer not below the value.
    pub fn ceil(&self) -> Integer {
        -(-self).floor()
    }

    /// `None` for zero.
    pub fn recip(&self) -> Option<Rational> {
        Rational::new(self.denominator(), self.numerator())
    }

    /// `None` for a zero divisor, which the standard leaves open.
    pub fn checked_div(&self, divisor: &Rational) -> Option<Rational> {
        if let (Repr::Small { numerator: a, denominator: b }, Repr::Small { numerator: c, denominator: d }) =
            (&self.0, &divisor.0)
        {
            if *c == 0 {
                return None;
            }
            // |a| < 2^63+1 and d < 2^64, so neither product overflows.
            let top = i128::from(*a) * i128::from(*d);
            let bottom = u128::from(*b) * u128::from(c.unsigned_abs());
            return Some(Rational::from_i128(if *c < 0 { -top } else { top }, bottom));
        }
        Some(self * &divisor.recip()?)
    }

    /// An integer power; `None` for a negative power of zero or a result
    /// beyond the budget of [`Integer::pow`].
    pub fn pow(&self, exponent: &Integer) -> Option<Rational> {
        if exponent.is_negative() {
            return self.recip()?.pow(&-exponent);
        }
        // Powers of coprime numbers are coprime, but reducing again is cheap
        // and keeps one way of building values.
        Rational::new(self.numerator().pow(exponent)?, self.denominator().pow(exponent)?)
    }

    /// The number of bits of the larger part: the cost of working with it.
    pub fn bit_size(&self) -> usize {
        self.numerator().bit_length().max(self.denominator().bit_length())
    }

    pub fn midpoint(&self, other: &Rational) -> Rational {
        &(self + other) * &Rational::small(1, 2)
    }

    /// Two doubles around the value, equal when it is a double itself. They
    /// let a filter decide most comparisons without big numbers.
    pub fn f64_bounds(&self) -> (f64, f64) {
        let (numerator, denominator) = self.big_parts();
        let negative = numerator < IBig::ZERO;
        let (low, high) = magnitude_bounds(&numerator.unsigned_abs(), &denominator);
        if negative { (-high, -low) } else { (low, high) }
    }
}

/// Bounds of a nonnegative fraction: its leading 53 bits, and those plus one
/// when anything was cut off.
fn magnitude_bounds(numerator: &UBig, denominator: &UBig) -> (f64, f64) {
    use dashu_int::ops::{BitTest, DivRem};
    if *numerator == UBig::ZERO {
        return (0.0, 0.0);
    }
    // Scale so that the quotient has 53 or 54 bits; below the normal range the
    // scale is that of the least subnormal.
    let shift = (53 + denominator.bit_len() as i64 - numerator.bit_len() as i64).min(1074);
    let (top, bottom) = if shift >= 0 {
        (numerator << shift as usize, denominator.clone())
    } else {
        (numerator.clone(), denominator << (-shift) as usize)
    };
    let (quotient, remainder) = top.div_rem(bottom);
    let mut exact = remainder == UBig::ZERO;
    let mut mantissa = u64::try_from(quotient).unwrap_or(u64::MAX);
    let mut exponent = -shift;
    if mantissa >= 1 << 53 {
        exact &= mantissa & 1 == 0;
        mantissa >>= 1;
        exponent += 1;
    }
    let low = scale(mantissa, exponent);
    let high = if exact && low.is_finite() { low } else { scale(mantissa + 1, exponent) };
    (low.min(f64::MAX), high)
}

/// `mantissa * 2^exponent`, exact for a mantissa up to 2^53 and an exponent of
/// at least -1074, infinite above the range.
fn scale(mantissa: u64, exponent: i64) -> f64 {
    let mut value = mantissa as f64;
    let mut left = exponent;
    while left > 0 && value.is_finite() {
        let step = left.min(1000);
        value *= 2f64.powi(step as i32);
        left -= step;
    }
    while left < 0 {
        let step = (-left).min(500);
        value *= 2f64.powi(-step as i32);
        left += step;
    }
    value
}

fn gcd_u128(mut a: u128, mut b: u128) -> u128 {
    // Euclid until both fit a word: a 128-bit division is rare here, and one
    // or two of them bring the numbers down.
    while b != 0 {
        if let (Ok(x), Ok(y)) = (u64::try_from(a), u64::try_from(b)) {
            return u128::from(gcd_u64(x, y));
        }
        (a, b) = (b, a % b);
    }
    a
}

/// `a/b + c/d` or the difference in 128 bits, `None` on overflow.
fn small_sum(a: i64, b: u64, c: i64, d: u64, subtract: bool) -> Option<Rational> {
    let left = i128::from(a).checked_mul(i128::from(d))?;
    let right = i128::from(c).checked_mul(i128::from(b))?;
    let top = if subtract { left.checked_sub(right)? } else { left.checked_add(right)? };
    Some(Rational::from_i128(top, u128::from(b) * u128::from(d)))
}

/// Whatever is not a sum of small integers, kept out of line so that one is
/// inlined.
#[inline(never)]
fn general_sum(left: &Rational, right: &Rational, subtract: bool) -> Rational {
    if let (Repr::Small { numerator: a, denominator: b }, Repr::Small { numerator: c, denominator: d }) =
        (&left.0, &right.0)
        && let Some(sum) = small_sum(*a, *b, *c, *d, subtract)
    {
        return sum;
    }
    let ((a, b), (c, d)) = (left.big_parts(), right.big_parts());
    let (x, y) = (a * IBig::from(d.clone()), c * IBig::from(b.clone()));
    Rational::from_big(if subtract { x - y } else { x + y }, b * d)
}

macro_rules! sum_operator {
    ($trait:ident, $method:ident, $checked:ident, $subtract:literal) => {
        impl $trait<&Rational> for &Rational {
            type Output = Rational;
            #[inline]
            fn $method(self, other: &Rational) -> Rational {
                if let (
                    Repr::Small { numerator: a, denominator: b },
                    Repr::Small { numerator: c, denominator: d },
                ) = (&self.0, &other.0)
                {
                    if *b == 1
                        && *d == 1
                        && let Some(sum) = a.$checked(*c)
                    {
                        return Rational::small(sum, 1);
                    }
                }
                general_sum(self, other, $subtract)
            }
        }
    };
}

sum_operator!(Add, add, checked_add, false);
sum_operator!(Sub, sub, checked_sub, true);

impl Mul<&Rational> for &Rational {
    type Output = Rational;
    #[inline]
    fn mul(self, other: &Rational) -> Rational {
        if let (Repr::Small { numerator: a, denominator: b }, Repr::Small { numerator: c, denominator: d }) =
            (&self.0, &other.0)
        {
            return Rational::from_i128(i128::from(*a) * i128::from(*c), u128::from(*b) * u128::from(*d));
        }
        let ((a, b), (c, d)) = (self.big_parts(), other.big_parts());
        Rational::from_big(a * c, b * d)
    }
}

macro_rules! by_value {
    ($($trait:ident $method:ident),*) => {$(
        impl $trait for Rational {
            type Output = Rational;
            #[inline]
            fn $method(self, other: Rational) -> Rational {
                (&self).$method(&other)
            }
        }
    )*};
}

by_value!(Add add, Sub sub, Mul mul);

impl Neg for &Rational {
    type Output = Rational;
    #[inline]
    fn neg(self) -> Rational {
        if let Repr::Small { numerator, denominator } = &self.0
            && let Some(negated) = numerator.checked_neg()
        {
            return Rational::small(negated, *denominator);
        }
        let (numerator, denominator) = self.big_parts();
        Rational::from_big(-numerator, denominator)
    }
}

impl Neg for Rational {
    type Output = Rational;
    #[inline]
    fn neg(self) -> Rational {
        -&self
    }
}

impl Ord for Rational {
    #[inline]
    fn cmp(&self, other: &Rational) -> Ordering {
        if let (Repr::Small { numerator: a, denominator: b }, Repr::Small { numerator: c, denominator: d }) =
            (&self.0, &other.0)
        {
            if b == d {
                return a.cmp(c);
            }
            // A signed 64-bit times an unsigned 64-bit number fits 128 bits.
            return (i128::from(*a) * i128::from(*d)).cmp(&(i128::from(*c) * i128::from(*b)));
        }
        let signs = self.signum().cmp(&other.signum());
        if signs.is_ne() {
            return signs;
        }
        let ((a, b), (c, d)) = (self.big_parts(), other.big_parts());
        (a * IBig::from(d)).cmp(&(c * IBig::from(b)))
    }
}

impl PartialOrd for Rational {
    #[inline]
    fn partial_cmp(&self, other: &Rational) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Default for Rational {
    fn default() -> Rational {
        Rational::ZERO
    }
}

impl From<Integer> for Rational {
    #[inline]
    fn from(value: Integer) -> Rational {
        match value.to_i64() {
            Some(small) => Rational::small(small, 1),
            None => Rational(Repr::Big(Box::new((value.to_ibig(), UBig::ONE)))),
        }
    }
}

impl From<i64> for Rational {
    #[inline]
    fn from(value: i64) -> Rational {
        Rational::small(value, 1)
    }
}

macro_rules! from_native {
    ($($native:ty),*) => {$(
        impl From<$native> for Rational {
            #[inline]
            fn from(value: $native) -> Rational {
                Rational::from(Integer::from(value))
            }
        }
    )*};
}

from_native!(u8, u16, i32, u32, u64, usize);

impl FromStr for Rational {
    type Err = ParseNumberError;

    /// A decimal (`1.50`), an integer, or a fraction of integers (`-3/4`).
    fn from_str(text: &str) -> Result<Rational, ParseNumberError> {
        let error = || ParseNumberError::new(text, "a decimal or a fraction");
        let integer = |part: &str| part.parse::<Integer>().map_err(|_| error());
        if let Some((top, bottom)) = text.split_once('/') {
            return Rational::new(integer(top)?, integer(bottom)?).ok_or_else(error);
        }
        let Some((whole, fraction)) = text.split_once('.') else {
            return Ok(Rational::from(integer(text)?));
        };
        let digits = whole.strip_prefix('-').unwrap_or(whole);
        let plain = |part: &str| !part.is_empty() && part.bytes().all(|b| b.is_ascii_digit());
        if !plain(digits) || !plain(fraction) {
            return Err(error());
        }
        let scaled = integer(&[whole, fraction].concat())?;
        let unit = Integer::from(10).pow(&Integer::from(fraction.len())).ok_or_else(error)?;
        Rational::new(scaled, unit).ok_or_else(error)
    }
}

impl fmt::Display for Rational {
    /// `n` or `n/d`; the printer of terms decides on the SMT-LIB spelling.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.is_integer() {
            write!(f, "{}", self.numerator())
        } else {
            write!(f, "{}/{}", self.numerator(), self.denominator())
        }
    }
}

impl fmt::Debug for Rational {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::integer::tests::any_integer;
    use proptest::prelude::*;

    fn any_rational() -> impl Strategy<Value = Rational> {
        (any_integer(), any_integer()).prop_filter_map("zero denominator", |(n, d)| Rational::new(n, d))
    }

    fn rational(text: &str) -> Rational {
        text.parse().expect("a well-formed literal")
    }

    fn of_double(value: f64) -> Rational {
        let bits = value.abs().to_bits();
        let exponent = (bits >> 52) as i64;
        let fraction = bits & ((1 << 52) - 1);
        let (mantissa, power) =
            if exponent == 0 { (fraction, -1074) } else { (fraction | 1 << 52, exponent - 1075) };
        let two = Rational::from(2).pow(&Integer::from(power)).expect("small");
        let magnitude = &Rational::from(Integer::from(mantissa)) * &two;
        if value < 0.0 { -magnitude } else { magnitude }
    }

    #[test]
    fn decimals_and_fractions_are_read_exactly() {
        assert_eq!(rational("1.50"), rational("3/2"));
        assert_eq!(rational("-0.5"), rational("1/-2"));
        assert_eq!(rational("0.1").to_string(), "1/10");
        assert_eq!(rational("7.0").to_string(), "7");
        for text in ["", ".5", "1.", "1/0", "1.-5", "1e3", "--1.0", "1.5/2"] {
            assert!(text.parse::<Rational>().is_err(), "{text}");
        }
    }

    #[test]
    fn floor_and_ceiling_surround_negative_fractions() {
        let value = rational("-7/2");
        assert_eq!(value.floor(), Integer::from(-4));
        assert_eq!(value.ceil(), Integer::from(-3));
    }

    #[test]
    fn doubles_have_themselves_as_bounds() {
        for value in [0.0, 1.0, -0.1, 5e-324, f64::MAX, f64::MIN_POSITIVE, 1e300] {
            assert_eq!(of_double(value).f64_bounds(), (value, value));
        }
        let (low, high) = (&of_double(f64::MAX) + &Rational::ONE).f64_bounds();
        assert_eq!((low, high), (f64::MAX, f64::INFINITY));
        let tiny = &of_double(5e-324) * &rational("1/3");
        assert_eq!(tiny.f64_bounds(), (0.0, 5e-324));
    }

    proptest! {
        #[test]
        fn rationals_form_an_ordered_field(
            a in any_rational(), b in any_rational(), c in any_rational()
        ) {
            prop_assert_eq!(&a + &b, &b + &a);
            prop_assert_eq!(&(&a + &b) + &c, &a + &(&b + &c));
            prop_assert_eq!(&(&a * &b) * &c, &a * &(&b * &c));
            prop_assert_eq!(&a * &(&b + &c), &(&a * &b) + &(&a * &c));
            prop_assert_eq!(&(&a - &b) + &b, a.clone());
            prop_assert_eq!(a.cmp(&b), (&a - &b).signum().cmp(&0));
            if !b.is_zero() {
                prop_assert_eq!(&a.checked_div(&b).expect("nonzero") * &b, a);
            }
        }

        #[test]
        fn results_are_reduced_and_canonical(a in any_rational(), b in any_rational()) {
            for value in [&a + &b, &a * &b, -&a, a.midpoint(&b)] {
                prop_assert!(value.numerator().gcd(&value.denominator()).is_one());
                prop_assert!(value.denominator() >= Integer::ONE);
                let (n, d) = value.big_parts();
                prop_assert_eq!(Rational::from_big(n, d), value);
            }
        }

        #[test]
        fn the_floor_is_within_one_below(a in any_rational()) {
            let floor = Rational::from(a.floor());
            prop_assert!(floor <= a && a < &floor + &Rational::ONE);
        }

        #[test]
        fn double_bounds_enclose_tightly(a in any_rational()) {
            let (low, high) = a.f64_bounds();
            prop_assert!(of_double(low) <= a && a <= of_double(high));
            prop_assert!(low == high || low.next_up() == high);
        }

        #[test]
        fn printing_then_parsing_is_the_identity(a in any_rational()) {
            prop_assert_eq!(rational(&a.to_string()), a);
        }
    }
}
