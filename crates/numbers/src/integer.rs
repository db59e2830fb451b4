//! Unbounded integers.
//!
//! Nearly every integer in a benchmark fits a machine word, and a big-number
//! addition costs several times a checked native one, so the value is a word
//! until it no longer fits. The form is canonical: equal numbers are equal
//! bit for bit, which makes derived equality and hashing correct.

use std::cmp::Ordering;
use std::fmt;
use std::ops::{Add, Mul, Neg, Sub};
use std::str::FromStr;

use dashu_int::ops::{BitTest, DivEuclid, Gcd, PowerOfTwo, RemEuclid, UnsignedAbs};
use dashu_int::{IBig, UBig};

/// Results of exponentiation and shifting beyond this many bits are refused.
pub const MAX_BITS: usize = 1 << 20;

/// An integer of any size.
#[derive(Clone, PartialEq, Eq, Hash)]
pub struct Integer(Repr);

#[derive(Clone, PartialEq, Eq, Hash)]
enum Repr {
    Small(i64),
    /// Only for values outside the range of `i64`.
    Big(Box<IBig>),
}

/// The text is not a number of the expected form.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{text}` is not {expected}")]
pub struct ParseNumberError {
    text: String,
    expected: &'static str,
}

impl ParseNumberError {
    pub fn new(text: &str, expected: &'static str) -> Self {
        ParseNumberError { text: text.chars().take(80).collect(), expected }
    }
}

impl Integer {
    pub const ZERO: Integer = Integer(Repr::Small(0));
    pub const ONE: Integer = Integer(Repr::Small(1));

    #[inline]
    pub const fn new(value: i64) -> Integer {
        Integer(Repr::Small(value))
    }

    /// The value as a big number, for arithmetic that has no native path.
    pub fn to_ibig(&self) -> IBig {
        match &self.0 {
            Repr::Small(n) => IBig::from(*n),
            Repr::Big(n) => (**n).clone(),
        }
    }

    /// The absolute value as a big number.
    pub fn magnitude(&self) -> UBig {
        match &self.0 {
            Repr::Small(n) => UBig::from(n.unsigned_abs()),
            Repr::Big(n) => (&**n).unsigned_abs(),
        }
    }

    #[inline]
    pub fn to_i64(&self) -> Option<i64> {
        match self.0 {
            Repr::Small(n) => Some(n),
            Repr::Big(_) => None,
        }
    }

    #[inline]
    pub fn to_u64(&self) -> Option<u64> {
        match &self.0 {
            Repr::Small(n) => u64::try_from(*n).ok(),
            Repr::Big(n) => u64::try_from(&**n).ok(),
        }
    }

    #[inline]
    pub fn to_usize(&self) -> Option<usize> {
        self.to_u64().and_then(|n| usize::try_from(n).ok())
    }

    #[inline]
    pub fn is_zero(&self) -> bool {
        matches!(self.0, Repr::Small(0))
    }

    #[inline]
    pub fn is_one(&self) -> bool {
        matches!(self.0, Repr::Small(1))
    }

    /// -1, 0 or 1.
    #[inline]
    pub fn signum(&self) -> i32 {
        match &self.0 {
            Repr::Small(n) => n.signum() as i32,
            Repr::Big(n) if **n < IBig::ZERO => -1,
            Repr::Big(_) => 1,
        }
    }

    #[inline]
    pub fn is_negative(&self) -> bool {
        self.signum() < 0
    }

    pub fn is_even(&self) -> bool {
        match &self.0 {
            Repr::Small(n) => n & 1 == 0,
            Repr::Big(n) => !n.bit(0),
        }
    }

    #[inline]
    pub fn abs(&self) -> Integer {
        if self.is_negative() { -self } else { self.clone() }
    }

    /// SMT-LIB `div`: the quotient whose remainder lies in `0 .. |divisor|`.
    /// `None` for a zero divisor, which the standard leaves open.
    #[inline]
    pub fn div_euclid(&self, divisor: &Integer) -> Option<Integer> {
        if divisor.is_zero() {
            return None;
        }
        if let (Repr::Small(a), Repr::Small(b)) = (&self.0, &divisor.0)
            && let Some(quotient) = a.checked_div_euclid(*b)
        {
            return Some(Integer::new(quotient));
        }
        Some(Integer::from(self.to_ibig().div_euclid(divisor.to_ibig())))
    }

    /// SMT-LIB `mod`, in `0 .. |divisor|`; `None` for a zero divisor.
    #[inline]
    pub fn rem_euclid(&self, divisor: &Integer) -> Option<Integer> {
        if divisor.is_zero() {
            return None;
        }
        if let (Repr::Small(a), Repr::Small(b)) = (&self.0, &divisor.0) {
            // MIN mod -1 overflows natively although its value is 0.
            return Some(Integer::new(a.wrapping_rem_euclid(*b)));
        }
        Some(Integer::from(self.to_ibig().rem_euclid(divisor.to_ibig())))
    }

    /// SMT-LIB `(_ divisible n)`; nothing but zero is divisible by zero.
    pub fn is_divisible_by(&self, divisor: &Integer) -> bool {
        match self.rem_euclid(divisor) {
            Some(remainder) => remainder.is_zero(),
            None => self.is_zero(),
        }
    }

    /// `self` to a natural power, or `None` when the exponent is negative or
    /// the result may exceed [`MAX_BITS`].
    pub fn pow(&self, exponent: &Integer) -> Option<Integer> {
        if exponent.is_negative() {
            return None;
        }
        if exponent.is_zero() {
            return Some(Integer::ONE);
        }
        match self.0 {
            Repr::Small(0) | Repr::Small(1) => return Some(self.clone()),
            Repr::Small(-1) => {
                return Some(Integer::new(if exponent.is_even() { 1 } else { -1 }));
            }
            _ => {}
        }
        let exponent = exponent.to_usize()?;
        if let Repr::Small(base) = self.0
            && let Ok(short) = u32::try_from(exponent)
            && let Some(power) = base.checked_pow(short)
        {
            return Some(Integer::new(power));
        }
        if self.bit_length().checked_mul(exponent)? > MAX_BITS {
            return None;
        }
        Some(Integer::from(self.to_ibig().pow(exponent)))
    }

    /// `self * 2^count`, or `None` beyond [`MAX_BITS`].
    pub fn shift_left(&self, count: usize) -> Option<Integer> {
        if self.is_zero() {
            return Some(Integer::ZERO);
        }
        if self.bit_length().checked_add(count)? > MAX_BITS {
            return None;
        }
        if let Repr::Small(n) = self.0
            && count < 64
            && let Ok(product) = i64::try_from((n as i128) << count)
        {
            return Some(Integer::new(product));
        }
        Some(Integer::from(self.to_ibig() << count))
    }

    /// The floor of `self / 2^count`.
    pub fn shift_right(&self, count: usize) -> Integer {
        match &self.0 {
            Repr::Small(n) => Integer::new(n >> count.min(63)),
            Repr::Big(n) => Integer::from(&**n >> count),
        }
    }

    /// The greatest common divisor, never negative; `gcd(0, 0) = 0`.
    #[inline]
    pub fn gcd(&self, other: &Integer) -> Integer {
        if let (Repr::Small(a), Repr::Small(b)) = (&self.0, &other.0) {
            return Integer::from(gcd_u64(a.unsigned_abs(), b.unsigned_abs()));
        }
        if self.is_zero() {
            return other.abs();
        }
        if other.is_zero() {
            return self.abs();
        }
        Integer::from(self.magnitude().gcd(other.magnitude()))
    }

    /// cvc5's `(_ iand width)`: bitwise and of both residues modulo `2^width`.
    pub fn iand(&self, other: &Integer, width: usize) -> Option<Integer> {
        if width > MAX_BITS {
            return None;
        }
        if let (Repr::Small(a), Repr::Small(b)) = (&self.0, &other.0)
            && width < 63
        {
            return Some(Integer::new(a & b & ((1i64 << width) - 1)));
        }
        let both = self.to_ibig() & other.to_ibig();
        Some(Integer::from(both & IBig::from(UBig::ones(width))))
    }

    /// The number of bits of the absolute value; 0 for 0.
    #[inline]
    pub fn bit_length(&self) -> usize {
        match &self.0 {
            Repr::Small(n) => 64 - n.unsigned_abs().leading_zeros() as usize,
            Repr::Big(n) => n.bit_len(),
        }
    }

    /// The floor of the binary logarithm, `None` unless positive.
    pub fn log2(&self) -> Option<usize> {
        (self.signum() > 0).then(|| self.bit_length() - 1)
    }

    pub fn is_power_of_two(&self) -> bool {
        match &self.0 {
            Repr::Small(n) => *n > 0 && n.count_ones() == 1,
            Repr::Big(n) => **n > IBig::ZERO && (&**n).unsigned_abs().is_power_of_two(),
        }
    }

    /// The bit at `index` of the infinite two's complement form.
    pub fn bit(&self, index: usize) -> bool {
        match &self.0 {
            Repr::Small(n) => (n >> index.min(63)) & 1 == 1,
            Repr::Big(n) => n.bit(index),
        }
    }
}

/// Binary gcd on words: no division, which is what makes small rationals fast.
#[inline]
pub(crate) fn gcd_u64(mut a: u64, mut b: u64) -> u64 {
    if a == 0 {
        return b;
    }
    if b == 0 {
        return a;
    }
    let shared_twos = (a | b).trailing_zeros();
    a >>= a.trailing_zeros();
    loop {
        b >>= b.trailing_zeros();
        if a > b {
            std::mem::swap(&mut a, &mut b);
        }
        b -= a;
        if b == 0 {
            return a << shared_twos;
        }
    }
}

macro_rules! binary_operator {
    ($trait:ident, $method:ident, $checked:ident, $symbol:tt) => {
        impl $trait<&Integer> for &Integer {
            type Output = Integer;
            #[inline]
            fn $method(self, other: &Integer) -> Integer {
                if let (Repr::Small(a), Repr::Small(b)) = (&self.0, &other.0)
                    && let Some(result) = a.$checked(*b)
                {
                    return Integer::new(result);
                }
                big_path::$method(self, other)
            }
        }
        impl $trait for Integer {
            type Output = Integer;
            #[inline]
            fn $method(self, other: Integer) -> Integer {
                &self $symbol &other
            }
        }
    };
}

binary_operator!(Add, add, checked_add, +);
binary_operator!(Sub, sub, checked_sub, -);
binary_operator!(Mul, mul, checked_mul, *);

/// Kept out of line so that the native path stays small enough to inline.
mod big_path {
    use super::{IBig, Integer, Repr};

    macro_rules! operation {
        ($name:ident, $symbol:tt) => {
            #[cold]
            #[inline(never)]
            pub(super) fn $name(a: &Integer, b: &Integer) -> Integer {
                Integer::from(match (&a.0, &b.0) {
                    (Repr::Small(a), Repr::Small(b)) => IBig::from(*a) $symbol IBig::from(*b),
                    (Repr::Small(a), Repr::Big(b)) => IBig::from(*a) $symbol &**b,
                    (Repr::Big(a), Repr::Small(b)) => &**a $symbol IBig::from(*b),
                    (Repr::Big(a), Repr::Big(b)) => &**a $symbol &**b,
                })
            }
        };
    }

    operation!(add, +);
    operation!(sub, -);
    operation!(mul, *);
}

impl Neg for &Integer {
    type Output = Integer;
    #[inline]
    fn neg(self) -> Integer {
        match &self.0 {
            Repr::Small(n) => match n.checked_neg() {
                Some(negated) => Integer::new(negated),
                None => Integer::from(-IBig::from(*n)),
            },
            Repr::Big(n) => Integer::from(-&**n),
        }
    }
}

impl Neg for Integer {
    type Output = Integer;
    #[inline]
    fn neg(self) -> Integer {
        -&self
    }
}

impl Ord for Integer {
    #[inline]
    fn cmp(&self, other: &Integer) -> Ordering {
        match (&self.0, &other.0) {
            (Repr::Small(a), Repr::Small(b)) => a.cmp(b),
            // A big value lies outside the small range, so its sign decides.
            (Repr::Small(_), Repr::Big(_)) => 0.cmp(&other.signum()),
            (Repr::Big(_), Repr::Small(_)) => self.signum().cmp(&0),
            (Repr::Big(a), Repr::Big(b)) => a.cmp(b),
        }
    }
}

impl PartialOrd for Integer {
    #[inline]
    fn partial_cmp(&self, other: &Integer) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Default for Integer {
    fn default() -> Integer {
        Integer::ZERO
    }
}

impl From<i64> for Integer {
    #[inline]
    fn from(value: i64) -> Integer {
        Integer::new(value)
    }
}

impl From<IBig> for Integer {
    fn from(value: IBig) -> Integer {
        match i64::try_from(&value) {
            Ok(small) => Integer::new(small),
            Err(_) => Integer(Repr::Big(Box::new(value))),
        }
    }
}

impl From<UBig> for Integer {
    fn from(value: UBig) -> Integer {
        Integer::from(IBig::from(value))
    }
}

macro_rules! from_native {
    ($($native:ty),*) => {$(
        impl From<$native> for Integer {
            #[inline]
            fn from(value: $native) -> Integer {
                match i64::try_from(value) {
                    Ok(small) => Integer::new(small),
                    Err(_) => Integer(Repr::Big(Box::new(IBig::from(value)))),
                }
            }
        }
    )*};
}

from_native!(u8, u16, i32, u32, u64, u128, i128, usize);

impl FromStr for Integer {
    type Err = ParseNumberError;

    /// Decimal digits, after an optional minus sign.
    fn from_str(text: &str) -> Result<Integer, ParseNumberError> {
        let error = || ParseNumberError::new(text, "a decimal integer");
        let digits = text.strip_prefix('-').unwrap_or(text);
        if digits.is_empty() || !digits.bytes().all(|byte| byte.is_ascii_digit()) {
            return Err(error());
        }
        if let Ok(small) = text.parse::<i64>() {
            return Ok(Integer::new(small));
        }
        let magnitude = UBig::from_str_radix(digits, 10).map_err(|_| error())?;
        let value = IBig::from(magnitude);
        Ok(Integer::from(if digits.len() < text.len() { -value } else { value }))
    }
}

impl fmt::Display for Integer {
    /// Plain decimal; the printer of terms decides how a minus sign looks.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.0 {
            Repr::Small(n) => fmt::Display::fmt(n, f),
            Repr::Big(n) => fmt::Display::fmt(n, f),
        }
    }
}

impl fmt::Debug for Integer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Integers around every border of the representation.
    pub(crate) fn any_integer() -> impl Strategy<Value = Integer> {
        prop_oneof![
            (-20i64..20).prop_map(Integer::from),
            any::<i64>().prop_map(Integer::from),
            any::<i128>().prop_map(Integer::from),
            (0usize..200, -2i64..=2, any::<bool>()).prop_map(|(shift, offset, negative)| {
                let power = Integer::ONE.shift_left(shift).expect("small shift");
                let value = &power + &Integer::from(offset);
                if negative { -value } else { value }
            }),
        ]
    }

    #[test]
    fn division_follows_the_standard_for_every_sign_combination() {
        for (a, b, quotient, remainder) in
            [(7, 2, 3, 1), (-7, 2, -4, 1), (7, -2, -3, 1), (-7, -2, 4, 1), (6, -3, -2, 0)]
        {
            let (a, b) = (Integer::from(a), Integer::from(b));
            assert_eq!(a.div_euclid(&b), Some(Integer::from(quotient)));
            assert_eq!(a.rem_euclid(&b), Some(Integer::from(remainder)));
        }
        assert_eq!(Integer::ONE.div_euclid(&Integer::ZERO), None);
        let min = Integer::from(i64::MIN);
        let minus_one = Integer::from(-1);
        let two_to_63 = Integer::from(1u64 << 63);
        assert_eq!(min.div_euclid(&minus_one), Some(two_to_63));
        assert_eq!(min.rem_euclid(&minus_one), Some(Integer::ZERO));
    }

    #[test]
    fn powers_beyond_the_budget_are_refused_but_trivial_bases_never_are() {
        let huge = Integer::from(u128::MAX);
        assert_eq!(Integer::from(2).pow(&huge), None);
        assert_eq!(Integer::from(3).pow(&Integer::from(MAX_BITS)), None);
        assert_eq!(Integer::from(-1).pow(&huge), Some(Integer::from(-1)));
        assert_eq!(Integer::ZERO.pow(&Integer::ZERO), Some(Integer::ONE));
        assert_eq!(Integer::from(-2).pow(&Integer::from(-1)), None);
        assert_eq!(
            Integer::from(10).pow(&Integer::from(20)).map(|n| n.to_string()),
            Some("100000000000000000000".to_owned())
        );
    }

    #[test]
    fn malformed_numerals_are_refused() {
        for text in ["", "-", "+1", "1_000", "0x10", " 1", "--1"] {
            assert!(text.parse::<Integer>().is_err(), "{text}");
        }
    }

    #[test]
    fn bitwise_and_works_on_residues_of_negative_numbers() {
        let minus_one = Integer::from(-1);
        assert_eq!(minus_one.iand(&minus_one, 4), Some(Integer::from(15)));
        assert_eq!(minus_one.iand(&minus_one, 64), Some(Integer::from(u64::MAX)));
    }

    proptest! {
        #[test]
        fn arithmetic_agrees_with_big_integers(a in any_integer(), b in any_integer()) {
            let (x, y) = (a.to_ibig(), b.to_ibig());
            prop_assert_eq!(&a + &b, Integer::from(&x + &y));
            prop_assert_eq!(&a - &b, Integer::from(&x - &y));
            prop_assert_eq!(&a * &b, Integer::from(&x * &y));
            prop_assert_eq!(-&a, Integer::from(-&x));
            prop_assert_eq!(a.cmp(&b), x.cmp(&y));
            prop_assert_eq!(a == b, x == y);
        }

        #[test]
        fn quotient_and_remainder_recompose(a in any_integer(), b in any_integer()) {
            prop_assume!(!b.is_zero());
            let quotient = a.div_euclid(&b).expect("nonzero divisor");
            let remainder = a.rem_euclid(&b).expect("nonzero divisor");
            prop_assert!(!remainder.is_negative() && remainder < b.abs());
            prop_assert_eq!(&(&quotient * &b) + &remainder, a);
        }

        #[test]
        fn printing_then_parsing_is_the_identity(a in any_integer()) {
            prop_assert_eq!(a.to_string().parse::<Integer>().expect("own output"), a);
        }

        #[test]
        fn the_gcd_divides_and_leaves_coprime_parts(a in any_integer(), b in any_integer()) {
            let gcd = a.gcd(&b);
            if gcd.is_zero() {
                prop_assert!(a.is_zero() && b.is_zero());
            } else {
                prop_assert!(a.is_divisible_by(&gcd) && b.is_divisible_by(&gcd));
                let left = a.div_euclid(&gcd).expect("nonzero");
                let right = b.div_euclid(&gcd).expect("nonzero");
                prop_assert!(left.gcd(&right).is_one());
            }
        }

        #[test]
        fn bits_shifts_and_logarithms_agree(a in any_integer(), count in 0usize..150) {
            let power = Integer::from(2).pow(&Integer::from(count)).expect("small");
            prop_assert!(power.is_power_of_two());
            prop_assert_eq!(power.log2(), Some(count));
            prop_assert_eq!(a.shift_left(count).expect("small"), &a * &power);
            prop_assert_eq!(a.shift_right(count), a.div_euclid(&power).expect("nonzero"));
            prop_assert_eq!(a.bit(count), !a.shift_right(count).is_even());
            let masked = a.iand(&Integer::from(-1), count).expect("small");
            prop_assert_eq!(masked, a.rem_euclid(&power).expect("nonzero"));
        }
    }
}
