//! The forms in which solvers print algebraic numbers.

use std::fmt;

use super::{AlgebraicNumber, Polynomial, Real, RootError};
use crate::integer::{Integer, ParseNumberError};
use crate::rational::Rational;

/// A printed algebraic number that cannot be read.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum NotationError {
    #[error(transparent)]
    Number(#[from] ParseNumberError),
    #[error(transparent)]
    Root(#[from] RootError),
}

/// Polynomials of higher degree are not worth the memory of their zeros.
const MAX_POWER: usize = 1 << 12;

impl Real {
    /// Reads the part between and including the angle brackets of cvc5's
    /// `(_ real_algebraic_number <1*x^2 + (-2), (1, 2)>)`, which is not an
    /// S-expression.
    pub fn parse_cvc5(text: &str) -> Result<Real, NotationError> {
        let malformed = || ParseNumberError::new(text, "an algebraic number as cvc5 prints it");
        let inner =
            text.trim().strip_prefix('<').and_then(|rest| rest.strip_suffix('>')).ok_or_else(malformed)?;
        let (sum, interval) = inner.split_once(',').ok_or_else(malformed)?;
        let (low, high) = interval
            .trim()
            .trim_start_matches(['(', '['])
            .trim_end_matches([')', ']'])
            .split_once(',')
            .ok_or_else(malformed)?;
        let (low, high): (Rational, Rational) = (low.trim().parse()?, high.trim().parse()?);
        let mut coefficients = Vec::new();
        for monomial in sum.split(" + ") {
            let (coefficient, power) = parse_monomial(monomial).ok_or_else(malformed)?;
            if power >= coefficients.len() {
                coefficients.resize(power + 1, Integer::ZERO);
            }
            coefficients[power] = &coefficients[power] + &coefficient;
        }
        Ok(Real::from_interval(Polynomial::new(coefficients), low, high)?)
    }
}

/// `3`, `1*x`, `(-12*x^4)`.
fn parse_monomial(text: &str) -> Option<(Integer, usize)> {
    let text = text.trim();
    let text = match text.strip_prefix('(') {
        Some(rest) => rest.strip_suffix(')')?,
        None => text,
    };
    let Some((coefficient, variable)) = text.split_once('*') else {
        return Some((text.parse().ok()?, 0));
    };
    let power = match variable.strip_prefix('x')? {
        "" => 1,
        power => power.strip_prefix('^')?.parse().ok()?,
    };
    (power <= MAX_POWER).then_some((coefficient.parse().ok()?, power))
}

impl AlgebraicNumber {
    /// The form of cvc5, angle brackets included.
    pub fn to_cvc5(&self) -> String {
        let mut monomials = Vec::new();
        for (power, coefficient) in self.polynomial().coefficients().iter().enumerate().rev() {
            if coefficient.is_zero() {
                continue;
            }
            let monomial = match power {
                0 => coefficient.to_string(),
                1 => format!("{coefficient}*x"),
                _ => format!("{coefficient}*x^{power}"),
            };
            monomials.push(if coefficient.is_negative() { format!("({monomial})") } else { monomial });
        }
        let (low, high) = self.interval();
        format!("<{}, ({low}, {high})>", monomials.join(" + "))
    }
}

impl fmt::Display for AlgebraicNumber {
    /// The form of Z3, which is an SMT-LIB term.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "(root-obj {} {})", self.polynomial(), self.root_index())
    }
}

impl fmt::Display for Real {
    /// A rational as a fraction, anything else as a `root-obj`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Real::Rational(value) => fmt::Display::fmt(value, f),
            Real::Algebraic(value) => fmt::Display::fmt(value, f),
        }
    }
}
