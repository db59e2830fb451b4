//! Bitwise and modular arithmetic, the total divisions, and comparison.

use std::cmp::Ordering;

use dashu_int::UBig;

use super::{BitVector, NATIVE_WIDTH, Repr, join, mask};

impl BitVector {
    /// Applies `native` or, for wide vectors, `big`; both modulo `2^width`.
    #[inline]
    fn map2(
        &self,
        other: &BitVector,
        native: impl FnOnce(u128, u128) -> u128,
        big: impl FnOnce(&UBig, &UBig) -> UBig,
    ) -> BitVector {
        debug_assert_eq!(self.width(), other.width());
        match (&self.0, &other.0) {
            (Repr::Small { width, words: a }, Repr::Small { words: b, .. }) => {
                BitVector::native(*width, native(join(*a), join(*b)))
            }
            (Repr::Big { width, bits: a }, Repr::Big { bits: b, .. }) => {
                BitVector::from_ubig(*width, big(a, b))
            }
            _ => BitVector::from_ubig(self.width(), big(&self.to_ubig(), &other.to_ubig())),
        }
    }

    #[inline]
    pub fn not(&self) -> BitVector {
        match &self.0 {
            Repr::Small { width, words } => BitVector::native(*width, !join(*words)),
            Repr::Big { width, bits } => BitVector::from_ubig(*width, UBig::ones(*width as usize) ^ &**bits),
        }
    }

    #[inline]
    pub fn and(&self, other: &BitVector) -> BitVector {
        self.map2(other, |a, b| a & b, |a, b| a & b)
    }

    #[inline]
    pub fn or(&self, other: &BitVector) -> BitVector {
        self.map2(other, |a, b| a | b, |a, b| a | b)
    }

    #[inline]
    pub fn xor(&self, other: &BitVector) -> BitVector {
        self.map2(other, |a, b| a ^ b, |a, b| a ^ b)
    }

    #[inline]
    pub fn nand(&self, other: &BitVector) -> BitVector {
        self.and(other).not()
    }

    #[inline]
    pub fn nor(&self, other: &BitVector) -> BitVector {
        self.or(other).not()
    }

    #[inline]
    pub fn xnor(&self, other: &BitVector) -> BitVector {
        self.xor(other).not()
    }

    #[inline]
    pub fn neg(&self) -> BitVector {
        match &self.0 {
            Repr::Small { width, words } => BitVector::native(*width, join(*words).wrapping_neg()),
            Repr::Big { width, bits } => {
                BitVector::from_ubig(*width, (UBig::ONE << *width as usize) - &**bits)
            }
        }
    }

    #[inline]
    pub fn add(&self, other: &BitVector) -> BitVector {
        self.map2(other, u128::wrapping_add, |a, b| a + b)
    }

    #[inline]
    pub fn sub(&self, other: &BitVector) -> BitVector {
        if self.small().is_some() {
            self.map2(other, u128::wrapping_sub, |a, _| a.clone())
        } else {
            self.add(&other.neg())
        }
    }

    #[inline]
    pub fn mul(&self, other: &BitVector) -> BitVector {
        self.map2(other, u128::wrapping_mul, |a, b| a * b)
    }

    /// `bvudiv`: all ones when dividing by zero.
    #[inline]
    pub fn udiv(&self, other: &BitVector) -> BitVector {
        if other.is_zero() {
            return BitVector::all_ones(self.width());
        }
        if let (Some(a), Some(b)) = (self.to_u64(), other.to_u64()) {
            return BitVector::new(self.width(), u128::from(a / b));
        }
        self.map2(other, |a, b| a / b, |a, b| a / b)
    }

    /// `bvurem`: the dividend when dividing by zero.
    #[inline]
    pub fn urem(&self, other: &BitVector) -> BitVector {
        if other.is_zero() {
            return self.clone();
        }
        if let (Some(a), Some(b)) = (self.to_u64(), other.to_u64()) {
            return BitVector::new(self.width(), u128::from(a % b));
        }
        self.map2(other, |a, b| a % b, |a, b| a % b)
    }

    fn signed_magnitude(&self) -> BitVector {
        if self.sign_bit() { self.neg() } else { self.clone() }
    }

    /// `bvsdiv`, rounding towards zero; division by zero is 1 for negative
    /// dividends and -1 for the others, as the definition by `bvudiv` says.
    pub fn sdiv(&self, other: &BitVector) -> BitVector {
        let quotient = self.signed_magnitude().udiv(&other.signed_magnitude());
        if self.sign_bit() == other.sign_bit() { quotient } else { quotient.neg() }
    }

    /// `bvsrem`: the remainder with the sign of the dividend.
    pub fn srem(&self, other: &BitVector) -> BitVector {
        let remainder = self.signed_magnitude().urem(&other.signed_magnitude());
        if self.sign_bit() { remainder.neg() } else { remainder }
    }

    /// `bvsmod`: the remainder with the sign of the divisor.
    pub fn smod(&self, other: &BitVector) -> BitVector {
        let remainder = self.signed_magnitude().urem(&other.signed_magnitude());
        if remainder.is_zero() {
            return remainder;
        }
        match (self.sign_bit(), other.sign_bit()) {
            (false, false) => remainder,
            (true, false) => other.sub(&remainder),
            (false, true) => remainder.add(other),
            (true, true) => remainder.neg(),
        }
    }

    #[inline]
    pub fn unsigned_cmp(&self, other: &BitVector) -> Ordering {
        debug_assert_eq!(self.width(), other.width());
        match (&self.0, &other.0) {
            (Repr::Small { words: a, .. }, Repr::Small { words: b, .. }) => join(*a).cmp(&join(*b)),
            (Repr::Big { bits: a, .. }, Repr::Big { bits: b, .. }) => a.cmp(b),
            _ => self.to_ubig().cmp(&other.to_ubig()),
        }
    }

    #[inline]
    pub fn signed_cmp(&self, other: &BitVector) -> Ordering {
        // A set sign bit is the smaller value; equal signs compare as unsigned.
        other.sign_bit().cmp(&self.sign_bit()).then_with(|| self.unsigned_cmp(other))
    }

    /// `bvcomp`: one bit, set when equal.
    #[inline]
    pub fn comp(&self, other: &BitVector) -> BitVector {
        BitVector::from_bool(self == other)
    }

    /// `bvredor`: one bit, set when any bit is.
    #[inline]
    pub fn redor(&self) -> BitVector {
        BitVector::from_bool(!self.is_zero())
    }

    /// `bvredand`: one bit, set when all bits are.
    #[inline]
    pub fn redand(&self) -> BitVector {
        BitVector::from_bool(self.is_all_ones())
    }

    /// `bvredxor`: one bit, the parity.
    pub fn redxor(&self) -> BitVector {
        BitVector::from_bool(self.count_ones() % 2 == 1)
    }

    pub fn count_ones(&self) -> u32 {
        match &self.0 {
            Repr::Small { words, .. } => words[0].count_ones() + words[1].count_ones(),
            Repr::Big { bits, .. } => bits.count_ones() as u32,
        }
    }

    /// The product as an unsigned number exceeds the width.
    pub(super) fn unsigned_product_overflows(&self, other: &BitVector) -> bool {
        let width = self.width();
        if width <= NATIVE_WIDTH
            && let (Some(a), Some(b)) = (self.small(), other.small())
        {
            return a.checked_mul(b).is_none_or(|product| product > mask(width));
        }
        use dashu_int::ops::BitTest;
        (self.to_ubig() * other.to_ubig()).bit_len() > width as usize
    }
}
