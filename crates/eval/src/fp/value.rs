//! The floating-point value itself and its classification.

use std::fmt;

use dashu_int::UBig;

use super::format::{Format, RoundingMode};

/// One element of a FloatingPoint sort. Equality (`==`) is SMT-LIB's `=`:
/// identity of elements, so NaN equals NaN and the two zeros differ.
#[derive(Clone, PartialEq, Eq, Hash)]
pub struct Float {
    format: Format,
    pub(super) repr: Repr,
}

/// Canonical: every element has exactly one representation.
#[derive(Clone, PartialEq, Eq, Hash)]
pub(super) enum Repr {
    Nan,
    Infinite {
        negative: bool,
    },
    Zero {
        negative: bool,
    },
    /// `significand * 2^quantum`; the quantum is the smallest possible one
    /// for subnormals, and normal significands have exactly `sb` bits.
    Finite {
        negative: bool,
        quantum: i64,
        significand: Significand,
    },
}

/// Significand bits; `Small` whenever they fit, so that equality is structural.
#[derive(Clone, PartialEq, Eq, Hash)]
pub(super) enum Significand {
    Small(u64),
    Big(Box<UBig>),
}

impl Significand {
    pub fn from_ubig(bits: UBig) -> Significand {
        match u64::try_from(&bits) {
            Ok(small) => Significand::Small(small),
            Err(_) => Significand::Big(Box::new(bits)),
        }
    }

    pub fn length(&self) -> i64 {
        use super::magnitude::Magnitude;
        match self {
            Significand::Small(bits) => i64::from(64 - bits.leading_zeros()),
            Significand::Big(bits) => bits.length(),
        }
    }

    pub fn to_ubig(&self) -> UBig {
        match self {
            Significand::Small(bits) => UBig::from(*bits),
            Significand::Big(bits) => (**bits).clone(),
        }
    }
}

/// The five classes of the standard's predicates `fp.isNormal` and so on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Class {
    Nan,
    Infinite,
    Zero,
    Subnormal,
    Normal,
}

impl Float {
    pub fn nan(format: Format) -> Float {
        Float { format, repr: Repr::Nan }
    }

    pub fn infinity(format: Format, negative: bool) -> Float {
        Float { format, repr: Repr::Infinite { negative } }
    }

    pub fn zero(format: Format, negative: bool) -> Float {
        Float { format, repr: Repr::Zero { negative } }
    }

    /// The finite value farthest from zero.
    pub fn max_finite(format: Format, negative: bool) -> Float {
        let ones = (UBig::ONE << format.sb() as usize) - UBig::ONE;
        Float::finite(format, negative, format.quantum_max(), Significand::from_ubig(ones))
    }

    pub fn min_normal(format: Format, negative: bool) -> Float {
        let leading = UBig::ONE << (format.sb() - 1) as usize;
        Float::finite(format, negative, format.quantum_min(), Significand::from_ubig(leading))
    }

    pub fn min_subnormal(format: Format, negative: bool) -> Float {
        Float::finite(format, negative, format.quantum_min(), Significand::Small(1))
    }

    pub(super) fn finite(format: Format, negative: bool, quantum: i64, significand: Significand) -> Float {
        debug_assert!(significand.length() > 0 && significand.length() <= i64::from(format.sb()));
        debug_assert!(quantum == format.quantum_min() || significand.length() == i64::from(format.sb()));
        debug_assert!((format.quantum_min()..=format.quantum_max()).contains(&quantum));
        Float { format, repr: Repr::Finite { negative, quantum, significand } }
    }

    pub(super) fn overflow(format: Format, mode: RoundingMode, negative: bool) -> Float {
        if mode.overflows_to_infinity(negative) {
            Float::infinity(format, negative)
        } else {
            Float::max_finite(format, negative)
        }
    }

    pub fn format(&self) -> Format {
        self.format
    }

    pub fn class(&self) -> Class {
        match &self.repr {
            Repr::Nan => Class::Nan,
            Repr::Infinite { .. } => Class::Infinite,
            Repr::Zero { .. } => Class::Zero,
            Repr::Finite { significand, .. } => {
                if significand.length() < i64::from(self.format.sb()) {
                    Class::Subnormal
                } else {
                    Class::Normal
                }
            }
        }
    }

    pub fn is_normal(&self) -> bool {
        self.class() == Class::Normal
    }

    pub fn is_subnormal(&self) -> bool {
        self.class() == Class::Subnormal
    }

    pub fn is_zero(&self) -> bool {
        matches!(self.repr, Repr::Zero { .. })
    }

    pub fn is_infinite(&self) -> bool {
        matches!(self.repr, Repr::Infinite { .. })
    }

    pub fn is_nan(&self) -> bool {
        matches!(self.repr, Repr::Nan)
    }

    /// `fp.isNegative`: false for NaN, true for -0.
    pub fn is_negative(&self) -> bool {
        self.sign() == Some(true)
    }

    /// `fp.isPositive`: false for NaN, true for +0.
    pub fn is_positive(&self) -> bool {
        self.sign() == Some(false)
    }

    /// The sign bit, which NaN does not have.
    pub fn sign(&self) -> Option<bool> {
        match self.repr {
            Repr::Nan => None,
            Repr::Infinite { negative } | Repr::Zero { negative } | Repr::Finite { negative, .. } => {
                Some(negative)
            }
        }
    }

    /// `fp.abs`; NaN stays NaN.
    pub fn abs(&self) -> Float {
        self.with_sign(false)
    }

    /// `fp.neg`; NaN stays NaN.
    pub fn neg(&self) -> Float {
        match self.sign() {
            Some(negative) => self.with_sign(!negative),
            None => self.clone(),
        }
    }

    pub(super) fn with_sign(&self, sign: bool) -> Float {
        let mut result = self.clone();
        match &mut result.repr {
            Repr::Nan => {}
            Repr::Infinite { negative } | Repr::Zero { negative } | Repr::Finite { negative, .. } => {
                *negative = sign
            }
        }
        result
    }
}

impl fmt::Debug for Float {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let sign = if self.is_negative() { '-' } else { '+' };
        match &self.repr {
            Repr::Nan => write!(f, "NaN"),
            Repr::Infinite { .. } => write!(f, "{sign}oo"),
            Repr::Zero { .. } => write!(f, "{sign}0"),
            Repr::Finite { quantum, significand, .. } => {
                write!(f, "{sign}{}*2^{quantum}", significand.to_ubig())
            }
        }?;
        write!(f, ":({},{})", self.format.eb(), self.format.sb())
    }
}
