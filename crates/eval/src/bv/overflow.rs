//! The overflow predicates of SMT-LIB 2.7 and Z3's older negated ones.

use std::cmp::Ordering;

use super::{BitVector, sign_extended};
use crate::integer::Integer;

impl BitVector {
    /// `bvnego`
    pub fn negation_overflows(&self) -> bool {
        *self == BitVector::min_signed(self.width())
    }

    /// `bvuaddo`
    pub fn unsigned_add_overflows(&self, other: &BitVector) -> bool {
        self.add(other).unsigned_cmp(self).is_lt()
    }

    /// `bvsaddo`
    pub fn signed_add_overflows(&self, other: &BitVector) -> bool {
        self.sign_bit() == other.sign_bit() && self.add(other).sign_bit() != self.sign_bit()
    }

    /// `bvusubo`
    pub fn unsigned_sub_overflows(&self, other: &BitVector) -> bool {
        self.unsigned_cmp(other).is_lt()
    }

    /// `bvssubo`
    pub fn signed_sub_overflows(&self, other: &BitVector) -> bool {
        self.sign_bit() != other.sign_bit() && self.sub(other).sign_bit() != self.sign_bit()
    }

    /// `bvumulo`, the negation of Z3's `bvumul_noovfl`
    pub fn unsigned_mul_overflows(&self, other: &BitVector) -> bool {
        self.unsigned_product_overflows(other)
    }

    /// `bvsmulo`
    pub fn signed_mul_overflows(&self, other: &BitVector) -> bool {
        self.signed_product_range(other).is_ne()
    }

    /// The negation of Z3's `bvsmul_noovfl`: the product is above the range.
    pub fn signed_mul_exceeds_max(&self, other: &BitVector) -> bool {
        self.signed_product_range(other).is_gt()
    }

    /// The negation of Z3's `bvsmul_noudfl`: the product is below the range.
    pub fn signed_mul_exceeds_min(&self, other: &BitVector) -> bool {
        self.signed_product_range(other).is_lt()
    }

    /// `bvsdivo`
    pub fn signed_div_overflows(&self, other: &BitVector) -> bool {
        self.negation_overflows() && other.is_all_ones()
    }

    /// Whether the signed product is below, in, or above the signed range.
    fn signed_product_range(&self, other: &BitVector) -> Ordering {
        if let (Some(a), Some(b)) = (self.signed_word(), other.signed_word()) {
            let high = (i128::from(a) * i128::from(b)) >> (self.width() - 1);
            return if high == -1 { Ordering::Equal } else { high.cmp(&0) };
        }
        let product = &self.to_signed() * &other.to_signed();
        let spare_bits = self.width() as usize - 1;
        // In range exactly when all bits from the sign bit up are equal.
        let high = product.shift_right(spare_bits);
        if high == Integer::ZERO || high == Integer::from(-1) {
            Ordering::Equal
        } else {
            high.cmp(&Integer::ZERO)
        }
    }

    /// The signed value of a vector of at most 64 bits.
    fn signed_word(&self) -> Option<i64> {
        if self.width() > 64 {
            return None;
        }
        i64::try_from(sign_extended(self.width(), self.small()?)).ok()
    }
}
