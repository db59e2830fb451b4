//! Real algebraic numbers: the values solvers print for nonlinear arithmetic.
//!
//! An irrational algebraic number is a square-free integer polynomial together
//! with an open rational interval that holds exactly one of its roots. Signs,
//! comparisons and floors are always decided exactly. Sums, products and powers
//! are refused with [`TooHard`] when the polynomial of the result would exceed
//! a degree or size limit.
//!
//! - [`polynomial`]: integer polynomials, remainder sequences
//! - [`roots`]: Sturm sequences, polynomials for sums and products of roots
//! - [`factor`]: splitting a polynomial so that results stay small
//! - [`number`]: one irrational number, its interval and refinement
//! - [`notation`]: the forms in which Z3 and cvc5 print these values

pub mod factor;
mod modular;
pub mod notation;
pub mod number;
pub mod polynomial;
pub mod roots;
#[cfg(test)]
mod tests;

use std::cmp::Ordering;
use std::fmt;
use std::hash::{Hash, Hasher};

pub use number::AlgebraicNumber;
pub use polynomial::Polynomial;

use crate::integer::Integer;
use crate::rational::Rational;
use roots::SturmSequence;

/// Polynomials of higher degree are refused.
pub const MAX_DEGREE: usize = 64;
/// Polynomials whose degree times the bits of their largest coefficient is
/// more are refused: isolating a root costs about the square of that product.
pub const MAX_SIZE: usize = 1 << 13;

/// A result whose exact form would cost too much.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum TooHard {
    #[error("the polynomial of the result has degree {0}, over the limit of {MAX_DEGREE}")]
    Degree(usize),
    #[error("the polynomial of the result has degree {degree} and coefficients of {bits} bits")]
    Size { degree: usize, bits: usize },
    #[error("the exponent is over the limit")]
    Exponent,
}

/// A description that names no single real root.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum RootError {
    #[error("the zero polynomial has no isolated roots")]
    ZeroPolynomial,
    #[error("there is no root number {index}: the polynomial has {count} real roots")]
    NoSuchRoot { index: usize, count: usize },
    #[error("the interval holds {0} roots where it should hold exactly one")]
    NotIsolating(usize),
    #[error(transparent)]
    TooHard(#[from] TooHard),
}

/// A real number known exactly. Rational values are always in the first form,
/// so the two never overlap.
#[derive(Clone)]
pub enum Real {
    Rational(Rational),
    Algebraic(Box<AlgebraicNumber>),
}

impl Real {
    /// The `index`-th smallest real root, counted from 1: Z3's `root-obj`.
    pub fn from_root_index(polynomial: Polynomial, index: usize) -> Result<Real, RootError> {
        let square_free = checked(polynomial)?;
        let sturm = SturmSequence::new(&square_free);
        let count = sturm.root_count();
        if index == 0 || index > count {
            return Err(RootError::NoSuchRoot { index, count });
        }
        let mut high = square_free.root_bound();
        let mut low = -&high;
        while sturm.roots_within(&low, &high) > 1 {
            let middle = low.midpoint(&high);
            if sturm.roots_up_to(&middle) >= index {
                high = middle;
            } else {
                low = middle;
            }
        }
        Ok(number::normalised(square_free, low, high))
    }

    /// The only root in the open interval (or the point, when both ends are
    /// equal): cvc5's `real_algebraic_number`.
    pub fn from_interval(polynomial: Polynomial, low: Rational, high: Rational) -> Result<Real, RootError> {
        let square_free = checked(polynomial)?;
        if low == high {
            return match square_free.sign_at(&low) {
                0 => Ok(Real::Rational(low)),
                _ => Err(RootError::NotIsolating(0)),
            };
        }
        // The sequence counts a root at the upper end, which is outside.
        let closed_end = usize::from(square_free.sign_at(&high) == 0);
        let within = SturmSequence::new(&square_free).roots_within(&low, &high);
        let count = within.saturating_sub(closed_end);
        if low > high || count != 1 {
            return Err(RootError::NotIsolating(count));
        }
        let inside = number::without_root(square_free, &high);
        Ok(number::normalised(inside, low, high))
    }

    /// The value if it is rational.
    pub fn to_rational(&self) -> Option<&Rational> {
        match self {
            Real::Rational(value) => Some(value),
            Real::Algebraic(_) => None,
        }
    }

    pub fn is_zero(&self) -> bool {
        matches!(self, Real::Rational(value) if value.is_zero())
    }

    /// SMT-LIB `is_int`.
    pub fn is_integer(&self) -> bool {
        matches!(self, Real::Rational(value) if value.is_integer())
    }

    /// -1, 0 or 1.
    pub fn signum(&self) -> i32 {
        match self {
            Real::Rational(value) => value.signum(),
            Real::Algebraic(value) => value.cmp_rational(&Rational::ZERO) as i32,
        }
    }

    /// SMT-LIB `to_int`.
    pub fn floor(&self) -> Integer {
        match self {
            Real::Rational(value) => value.floor(),
            Real::Algebraic(value) => value.floor(),
        }
    }

    pub fn abs(&self) -> Real {
        if self.signum() < 0 { self.neg() } else { self.clone() }
    }

    pub fn neg(&self) -> Real {
        match self {
            Real::Rational(value) => Real::Rational(-value),
            Real::Algebraic(value) => Real::Algebraic(Box::new(value.negated())),
        }
    }

    pub fn add(&self, other: &Real) -> Result<Real, TooHard> {
        match (self, other) {
            (Real::Rational(a), Real::Rational(b)) => Ok(Real::Rational(a + b)),
            (Real::Rational(a), Real::Algebraic(b)) | (Real::Algebraic(b), Real::Rational(a)) => {
                b.plus_rational(a)
            }
            (Real::Algebraic(a), Real::Algebraic(b)) => a.plus(b),
        }
    }

    pub fn sub(&self, other: &Real) -> Result<Real, TooHard> {
        self.add(&other.neg())
    }

    pub fn mul(&self, other: &Real) -> Result<Real, TooHard> {
        match (self, other) {
            (Real::Rational(a), Real::Rational(b)) => Ok(Real::Rational(a * b)),
            (Real::Rational(a), Real::Algebraic(b)) | (Real::Algebraic(b), Real::Rational(a)) => {
                b.times_rational(a)
            }
            (Real::Algebraic(a), Real::Algebraic(b)) => a.times(b),
        }
    }

    /// `None` for zero, whose inverse the standard leaves open.
    pub fn recip(&self) -> Option<Real> {
        match self {
            Real::Rational(value) => value.recip().map(Real::Rational),
            Real::Algebraic(value) => Some(Real::Algebraic(Box::new(value.inverse()))),
        }
    }

    /// `None` inside for a zero divisor, which the standard leaves open.
    pub fn checked_div(&self, divisor: &Real) -> Result<Option<Real>, TooHard> {
        match divisor.recip() {
            Some(inverse) => self.mul(&inverse).map(Some),
            None => Ok(None),
        }
    }

    /// An integer power; `None` inside for a negative power of zero.
    pub fn pow(&self, exponent: &Integer) -> Result<Option<Real>, TooHard> {
        if exponent.is_negative() {
            return match self.recip() {
                Some(inverse) => inverse.pow(&-exponent),
                None => Ok(None),
            };
        }
        match self {
            Real::Rational(value) => match value.pow(exponent) {
                Some(power) => Ok(Some(Real::Rational(power))),
                None => Err(TooHard::Exponent),
            },
            Real::Algebraic(value) => {
                let exponent = exponent.to_usize().ok_or(TooHard::Exponent)?;
                value.power(exponent).map(Some)
            }
        }
    }

    /// The real `degree`-th root; `None` inside for an even root of a negative
    /// number or degree zero.
    pub fn nth_root(&self, degree: usize) -> Result<Option<Real>, TooHard> {
        let sign = self.signum();
        if degree == 0 || (sign < 0 && degree.is_multiple_of(2)) {
            return Ok(None);
        }
        if sign < 0 {
            return Ok(self.neg().nth_root(degree)?.map(|root| root.neg()));
        }
        if sign == 0 || degree == 1 {
            return Ok(Some(self.clone()));
        }
        number::positive_root(self, degree).map(Some)
    }

    /// The sign of an integer polynomial at this number.
    pub fn sign_of(&self, polynomial: &Polynomial) -> i32 {
        match self {
            Real::Rational(value) => polynomial.sign_at(value),
            Real::Algebraic(value) => value.sign_of(polynomial),
        }
    }

    /// Rational bounds at most `2^-bits` apart, equal for rational values.
    pub fn bounds(&self, bits: usize) -> (Rational, Rational) {
        match self {
            Real::Rational(value) => (value.clone(), value.clone()),
            Real::Algebraic(value) => value.bounds(bits),
        }
    }
}

fn checked(polynomial: Polynomial) -> Result<Polynomial, RootError> {
    if polynomial.is_zero() {
        return Err(RootError::ZeroPolynomial);
    }
    Ok(roots::within_budget(polynomial)?.square_free())
}

impl Ord for Real {
    fn cmp(&self, other: &Real) -> Ordering {
        match (self, other) {
            (Real::Rational(a), Real::Rational(b)) => a.cmp(b),
            (Real::Algebraic(a), Real::Rational(b)) => a.cmp_rational(b),
            (Real::Rational(a), Real::Algebraic(b)) => b.cmp_rational(a).reverse(),
            (Real::Algebraic(a), Real::Algebraic(b)) => a.cmp_algebraic(b),
        }
    }
}

impl PartialOrd for Real {
    fn partial_cmp(&self, other: &Real) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Real {
    fn eq(&self, other: &Real) -> bool {
        self.cmp(other).is_eq()
    }
}

impl Eq for Real {}

impl Hash for Real {
    /// One number may have several polynomials and intervals, so an irrational
    /// one hashes by leading digits, which are the same for all of them.
    fn hash<H: Hasher>(&self, state: &mut H) {
        match self {
            Real::Rational(value) => value.hash(state),
            Real::Algebraic(value) => value.leading_digits().hash(state),
        }
    }
}

impl From<Rational> for Real {
    fn from(value: Rational) -> Real {
        Real::Rational(value)
    }
}

impl From<Integer> for Real {
    fn from(value: Integer) -> Real {
        Real::Rational(Rational::from(value))
    }
}

impl fmt::Debug for Real {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}
