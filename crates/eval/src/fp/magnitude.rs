//! The unsigned integers that exact intermediate results are computed in:
//! `u128` where the format is narrow enough, unbounded ones otherwise.

use std::ops::{Add, Mul, Sub};

use dashu_int::UBig;
use dashu_int::ops::{BitTest, DivRem, SquareRootRem};

use super::value::Significand;

pub(super) trait Magnitude:
    Clone + Ord + Add<Output = Self> + Sub<Output = Self> + Mul<Output = Self>
{
    fn of(significand: &Significand) -> Self;
    fn into_significand(self) -> Significand;
    fn one() -> Self;
    fn is_zero(&self) -> bool;
    fn is_odd(&self) -> bool;
    /// Number of bits up to the leading one; zero for zero.
    fn length(&self) -> i64;
    fn shift_left(self, count: i64) -> Self;
    /// The kept part, the first dropped bit, and whether a later one is set.
    fn split(self, count: i64) -> (Self, bool, bool);
    fn div_rem(self, divisor: &Self) -> (Self, Self);
    /// Integer square root and whether it left a remainder.
    fn square_root(self) -> (Self, bool);

    /// Drops `count` bits; the flag tells whether any of them was set.
    fn shift_right_sticky(self, count: i64) -> (Self, bool) {
        let (kept, half, rest) = self.split(count);
        (kept, half || rest)
    }
}

impl Magnitude for u128 {
    fn of(significand: &Significand) -> u128 {
        match significand {
            Significand::Small(bits) => u128::from(*bits),
            Significand::Big(_) => unreachable!("wide significands take the unbounded path"),
        }
    }

    fn into_significand(self) -> Significand {
        Significand::Small(self as u64)
    }

    fn one() -> u128 {
        1
    }

    fn is_zero(&self) -> bool {
        *self == 0
    }

    fn is_odd(&self) -> bool {
        self & 1 == 1
    }

    fn length(&self) -> i64 {
        i64::from(128 - self.leading_zeros())
    }

    fn shift_left(self, count: i64) -> u128 {
        debug_assert!(self == 0 || self.length() + count <= 128);
        if self == 0 { 0 } else { self << count }
    }

    fn split(self, count: i64) -> (u128, bool, bool) {
        match count {
            ..=0 => (self, false, false),
            1..=127 => {
                let half = self >> (count - 1) & 1 == 1;
                let rest = self & ((1 << (count - 1)) - 1) != 0;
                (self >> count, half, rest)
            }
            128 => (0, self >> 127 == 1, self << 1 != 0),
            _ => (0, false, self != 0),
        }
    }

    fn div_rem(self, divisor: &u128) -> (u128, u128) {
        (self / divisor, self % divisor)
    }

    fn square_root(self) -> (u128, bool) {
        let root = self.isqrt();
        (root, root * root != self)
    }
}

impl Magnitude for UBig {
    fn of(significand: &Significand) -> UBig {
        match significand {
            Significand::Small(bits) => UBig::from(*bits),
            Significand::Big(bits) => (**bits).clone(),
        }
    }

    fn into_significand(self) -> Significand {
        Significand::from_ubig(self)
    }

    fn one() -> UBig {
        UBig::ONE
    }

    fn is_zero(&self) -> bool {
        UBig::is_zero(self)
    }

    fn is_odd(&self) -> bool {
        self.bit(0)
    }

    fn length(&self) -> i64 {
        self.bit_len() as i64
    }

    fn shift_left(self, count: i64) -> UBig {
        self << count as usize
    }

    fn split(self, count: i64) -> (UBig, bool, bool) {
        if count <= 0 {
            return (self, false, false);
        }
        if count > self.length() {
            let rest = !self.is_zero();
            return (UBig::ZERO, false, rest);
        }
        let half = self.bit(count as usize - 1);
        let rest = self.trailing_zeros().is_some_and(|zeros| (zeros as i64) < count - 1);
        (self >> count as usize, half, rest)
    }

    fn div_rem(self, divisor: &UBig) -> (UBig, UBig) {
        DivRem::div_rem(self, divisor)
    }

    fn square_root(self) -> (UBig, bool) {
        let (root, remainder) = self.sqrt_rem();
        (root, !remainder.is_zero())
    }
}
