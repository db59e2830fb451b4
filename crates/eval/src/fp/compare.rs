//! The orderings: `fp.eq`, `fp.lt`, `fp.leq` and what follows from them.

use std::cmp::Ordering;

use super::value::{Float, Repr, Significand};

/// The result of `fp.min` or `fp.max`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Extremum {
    Value(Float),
    /// The arguments were zeros of different sign: the standard allows either
    /// of them, so the result is one of the two zeros but unspecified which.
    EitherZero,
}

impl Float {
    /// The order of the denoted extended reals; `None` if either is NaN. The
    /// two zeros are equal.
    ///
    /// # Panics
    /// If the formats differ; well-sorted terms never mix them.
    pub fn compare(&self, other: &Float) -> Option<Ordering> {
        assert_eq!(self.format(), other.format(), "comparison across formats");
        if self.is_nan() || other.is_nan() {
            return None;
        }
        let rank = |value: &Float| match value.repr {
            Repr::Nan | Repr::Zero { .. } => 0,
            Repr::Infinite { negative } => {
                if negative {
                    -2
                } else {
                    2
                }
            }
            Repr::Finite { negative, .. } => {
                if negative {
                    -1
                } else {
                    1
                }
            }
        };
        let (left, right) = (rank(self), rank(other));
        if left != right {
            return Some(left.cmp(&right));
        }
        match (&self.repr, &other.repr) {
            (
                Repr::Finite { negative, quantum, significand },
                Repr::Finite { quantum: quantum2, significand: significand2, .. },
            ) => {
                // Significands are canonical, so the quantum decides first:
                // only normal values have more than the smallest one.
                let magnitude =
                    quantum.cmp(quantum2).then_with(|| compare_significands(significand, significand2));
                Some(if *negative { magnitude.reverse() } else { magnitude })
            }
            _ => Some(Ordering::Equal),
        }
    }

    pub fn ieee_eq(&self, other: &Float) -> bool {
        self.compare(other) == Some(Ordering::Equal)
    }

    pub fn lt(&self, other: &Float) -> bool {
        self.compare(other) == Some(Ordering::Less)
    }

    pub fn leq(&self, other: &Float) -> bool {
        matches!(self.compare(other), Some(Ordering::Less | Ordering::Equal))
    }

    pub fn gt(&self, other: &Float) -> bool {
        other.lt(self)
    }

    pub fn geq(&self, other: &Float) -> bool {
        other.leq(self)
    }

    pub fn min(&self, other: &Float) -> Extremum {
        self.extremum(other, Ordering::Less)
    }

    pub fn max(&self, other: &Float) -> Extremum {
        self.extremum(other, Ordering::Greater)
    }

    fn extremum(&self, other: &Float, preferred: Ordering) -> Extremum {
        if self.is_zero() && other.is_zero() && self != other {
            return Extremum::EitherZero;
        }
        let take_self = match self.compare(other) {
            None => !self.is_nan(),
            Some(order) => order == preferred,
        };
        Extremum::Value(if take_self { self.clone() } else { other.clone() })
    }
}

fn compare_significands(left: &Significand, right: &Significand) -> Ordering {
    match (left, right) {
        (Significand::Small(a), Significand::Small(b)) => a.cmp(b),
        (Significand::Small(_), Significand::Big(_)) => Ordering::Less,
        (Significand::Big(_), Significand::Small(_)) => Ordering::Greater,
        (Significand::Big(a), Significand::Big(b)) => a.cmp(b),
    }
}
