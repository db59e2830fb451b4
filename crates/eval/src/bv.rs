//! Bit-vectors of any width.
//!
//! Up to 128 bits the value lives in two machine words and every operation is
//! native; wider ones use a big number. Which form is used depends on the
//! width alone, so derived equality and hashing are correct.
//!
//! - `arithmetic`: bitwise and modular operations, division, comparison
//! - `shape`: shifts, rotations, and whatever changes the width
//! - `overflow`: the overflow predicates
//!
//! Operations of two arguments expect equal widths: terms are well-sorted
//! before they are evaluated.

mod arithmetic;
mod overflow;
mod shape;
#[cfg(test)]
mod tests;

use std::fmt;
use std::str::FromStr;

use dashu_int::ops::BitTest;
use dashu_int::{IBig, UBig};

use crate::integer::{Integer, ParseNumberError};

/// Operations that would build a wider bit-vector are refused.
pub const MAX_WIDTH: u32 = 1 << 20;

/// A bit-vector: a positive width and that many bits.
#[derive(Clone, PartialEq, Eq, Hash)]
pub struct BitVector(Repr);

#[derive(Clone, PartialEq, Eq, Hash)]
enum Repr {
    /// Width 1 to 128. Two words rather than a `u128`, whose alignment would
    /// make every value a third larger.
    Small { width: u32, words: [u64; 2] },
    /// Width above 128; the bits above the width are zero.
    Big { width: u32, bits: Box<UBig> },
}

const NATIVE_WIDTH: u32 = 128;

#[inline]
const fn mask(width: u32) -> u128 {
    u128::MAX >> (NATIVE_WIDTH - width)
}

#[inline]
const fn join(words: [u64; 2]) -> u128 {
    words[0] as u128 | (words[1] as u128) << 64
}

impl BitVector {
    /// The low `width` bits of `value`.
    ///
    /// # Panics
    /// On width zero, which no sort has.
    #[inline]
    pub fn new(width: u32, value: u128) -> BitVector {
        assert!(width > 0, "a bit-vector has at least one bit");
        if width <= NATIVE_WIDTH {
            BitVector::native(width, value)
        } else {
            BitVector::from_ubig(width, UBig::from(value))
        }
    }

    /// Width 1 to 128.
    #[inline]
    fn native(width: u32, value: u128) -> BitVector {
        // A 128-bit mask by a variable width costs more than this branch.
        let words = if width <= 64 {
            [value as u64 & (u64::MAX >> (64 - width)), 0]
        } else {
            let value = value & mask(width);
            [value as u64, (value >> 64) as u64]
        };
        BitVector(Repr::Small { width, words })
    }

    /// The value modulo `2^width`.
    pub fn from_ubig(width: u32, mut value: UBig) -> BitVector {
        assert!(width > 0, "a bit-vector has at least one bit");
        value.clear_high_bits(width as usize);
        if width <= NATIVE_WIDTH {
            BitVector::native(width, u128::try_from(&value).unwrap_or(0))
        } else {
            BitVector(Repr::Big { width, bits: Box::new(value) })
        }
    }

    /// `int_to_bv`: the residue modulo `2^width`, of negative integers too.
    pub fn from_integer(width: u32, value: &Integer) -> BitVector {
        if let Some(small) = value.to_i64()
            && width <= NATIVE_WIDTH
        {
            assert!(width > 0, "a bit-vector has at least one bit");
            return BitVector::native(width, i128::from(small) as u128);
        }
        let magnitude = BitVector::from_ubig(width, value.magnitude());
        if value.is_negative() { magnitude.neg() } else { magnitude }
    }

    /// One bit, as `bvcomp` returns it.
    #[inline]
    pub fn from_bool(value: bool) -> BitVector {
        BitVector::native(1, u128::from(value))
    }

    #[inline]
    pub fn zero(width: u32) -> BitVector {
        BitVector::new(width, 0)
    }

    #[inline]
    pub fn one(width: u32) -> BitVector {
        BitVector::new(width, 1)
    }

    #[inline]
    pub fn all_ones(width: u32) -> BitVector {
        if width <= NATIVE_WIDTH {
            BitVector::new(width, u128::MAX)
        } else {
            BitVector::from_ubig(width, UBig::ones(width as usize))
        }
    }

    /// The least value when read as signed: only the highest bit is set.
    pub fn min_signed(width: u32) -> BitVector {
        if width <= NATIVE_WIDTH {
            BitVector::new(width, 1 << (width - 1))
        } else {
            BitVector::from_ubig(width, UBig::ONE << (width as usize - 1))
        }
    }

    #[inline]
    pub fn width(&self) -> u32 {
        match self.0 {
            Repr::Small { width, .. } | Repr::Big { width, .. } => width,
        }
    }

    /// The value when the width is at most 128.
    #[inline]
    fn small(&self) -> Option<u128> {
        match self.0 {
            Repr::Small { words, .. } => Some(join(words)),
            Repr::Big { .. } => None,
        }
    }

    /// The unsigned value if it fits.
    #[inline]
    pub fn to_u64(&self) -> Option<u64> {
        match &self.0 {
            Repr::Small { words: [low, 0], .. } => Some(*low),
            Repr::Small { .. } => None,
            Repr::Big { bits, .. } => u64::try_from(&**bits).ok(),
        }
    }

    /// The unsigned value if it fits.
    #[inline]
    pub fn to_u128(&self) -> Option<u128> {
        match &self.0 {
            Repr::Small { words, .. } => Some(join(*words)),
            Repr::Big { bits, .. } => u128::try_from(&**bits).ok(),
        }
    }

    /// The unsigned value.
    pub fn to_ubig(&self) -> UBig {
        match &self.0 {
            Repr::Small { words, .. } => UBig::from(join(*words)),
            Repr::Big { bits, .. } => (**bits).clone(),
        }
    }

    /// `ubv_to_int`, also known as `bv2nat`.
    pub fn to_unsigned(&self) -> Integer {
        match &self.0 {
            Repr::Small { words, .. } => Integer::from(join(*words)),
            Repr::Big { bits, .. } => Integer::from((**bits).clone()),
        }
    }

    /// `sbv_to_int`: the two's complement value.
    pub fn to_signed(&self) -> Integer {
        match &self.0 {
            Repr::Small { width, words } => Integer::from(sign_extended(*width, join(*words))),
            Repr::Big { width, bits } => {
                let value = IBig::from((**bits).clone());
                Integer::from(if self.sign_bit() { value - (IBig::ONE << *width as usize) } else { value })
            }
        }
    }

    #[inline]
    pub fn is_zero(&self) -> bool {
        match &self.0 {
            Repr::Small { words, .. } => *words == [0, 0],
            Repr::Big { bits, .. } => bits.is_zero(),
        }
    }

    pub fn is_all_ones(&self) -> bool {
        *self == BitVector::all_ones(self.width())
    }

    /// The bit at `index`; false at and above the width.
    #[inline]
    pub fn bit(&self, index: u32) -> bool {
        match &self.0 {
            Repr::Small { words, .. } => index < NATIVE_WIDTH && join(*words) >> index & 1 == 1,
            Repr::Big { bits, .. } => bits.bit(index as usize),
        }
    }

    /// The highest bit: the sign when read as signed.
    #[inline]
    pub fn sign_bit(&self) -> bool {
        self.bit(self.width() - 1)
    }

    /// The bits as `0` and `1`, highest first.
    pub fn binary_digits(&self) -> String {
        (0..self.width()).rev().map(|index| if self.bit(index) { '1' } else { '0' }).collect()
    }
}

/// The value of the low `width` bits read as two's complement.
#[inline]
fn sign_extended(width: u32, value: u128) -> i128 {
    let unused = NATIVE_WIDTH - width;
    ((value << unused) as i128) >> unused
}

impl FromStr for BitVector {
    type Err = ParseNumberError;

    /// An SMT-LIB literal: `#b0101` or `#x0aF`.
    fn from_str(text: &str) -> Result<BitVector, ParseNumberError> {
        let error = || ParseNumberError::new(text, "a bit-vector literal");
        let (digits, radix, bits_per_digit) = match text.get(..2) {
            Some("#b") => (&text[2..], 2, 1),
            Some("#x") => (&text[2..], 16, 4),
            _ => return Err(error()),
        };
        if digits.is_empty() || !digits.chars().all(|digit| digit.is_digit(radix)) {
            return Err(error());
        }
        let width = u32::try_from(digits.len())
            .ok()
            .and_then(|count| count.checked_mul(bits_per_digit))
            .filter(|width| *width <= MAX_WIDTH)
            .ok_or_else(error)?;
        if width <= NATIVE_WIDTH {
            let value = u128::from_str_radix(digits, radix).map_err(|_| error())?;
            return Ok(BitVector::native(width, value));
        }
        let value = UBig::from_str_radix(digits, radix).map_err(|_| error())?;
        Ok(BitVector::from_ubig(width, value))
    }
}

impl fmt::Display for BitVector {
    /// Hexadecimal when the width allows it, binary otherwise.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if !self.width().is_multiple_of(4) {
            return write!(f, "#b{}", self.binary_digits());
        }
        let digits = self.width() as usize / 4;
        match &self.0 {
            Repr::Small { words, .. } => write!(f, "#x{:0digits$x}", join(*words)),
            Repr::Big { bits, .. } => write!(f, "#x{:0>digits$}", bits.in_radix(16).to_string()),
        }
    }
}

impl fmt::Debug for BitVector {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}
