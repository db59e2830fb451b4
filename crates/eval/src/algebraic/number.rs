//! One irrational algebraic number: a polynomial and an isolating interval.

use std::cmp::Ordering;
use std::sync::Arc;

use super::polynomial::{Polynomial, interval_product};
use super::roots::{self, SturmSequence};
use super::{Real, TooHard, factor};
use crate::integer::Integer;
use crate::rational::Rational;

/// An irrational root of a square-free primitive polynomial. The interval is
/// open, its ends are no roots, and it holds exactly one root.
#[derive(Clone)]
pub struct AlgebraicNumber {
    polynomial: Arc<Polynomial>,
    low: Rational,
    high: Rational,
    /// The sign of the polynomial at the lower end; the upper has the other.
    sign_at_low: i32,
}

impl AlgebraicNumber {
    pub fn polynomial(&self) -> &Polynomial {
        &self.polynomial
    }

    /// The isolating interval.
    pub fn interval(&self) -> (&Rational, &Rational) {
        (&self.low, &self.high)
    }

    /// Which real root of its polynomial this is, counted from 1.
    pub fn root_index(&self) -> usize {
        SturmSequence::new(&self.polynomial).roots_up_to(&self.high)
    }

    fn with_interval(polynomial: Polynomial, low: Rational, high: Rational) -> AlgebraicNumber {
        let sign_at_low = polynomial.sign_at(&low);
        AlgebraicNumber { polynomial: Arc::new(polynomial), low, high, sign_at_low }
    }

    /// Halves the interval.
    fn refine(&mut self) {
        let middle = self.low.midpoint(&self.high);
        if self.cmp_rational(&middle).is_gt() {
            self.low = middle;
        } else {
            self.high = middle;
        }
    }

    /// Halves until the interval is at most `width` wide.
    fn refined_to(&self, width: &Rational) -> AlgebraicNumber {
        let mut number = self.clone();
        while &number.high - &number.low > *width {
            number.refine();
        }
        number
    }

    /// Halves until zero is outside the interval, ends included.
    fn away_from_zero(&self) -> AlgebraicNumber {
        let mut number = self.clone();
        while number.low.signum() * number.high.signum() <= 0 {
            number.refine();
        }
        number
    }

    pub(super) fn bounds(&self, bits: usize) -> (Rational, Rational) {
        let number = self.refined_to(&two_to_minus(bits));
        (number.low, number.high)
    }

    /// One evaluation decides: the polynomial changes sign at the only root in
    /// the interval, and an irrational root is no rational number.
    pub(super) fn cmp_rational(&self, value: &Rational) -> Ordering {
        if value <= &self.low {
            Ordering::Greater
        } else if value >= &self.high {
            Ordering::Less
        } else if self.polynomial.sign_at(value) == self.sign_at_low {
            Ordering::Greater
        } else {
            Ordering::Less
        }
    }

    pub(super) fn cmp_algebraic(&self, other: &AlgebraicNumber) -> Ordering {
        if self.high <= other.low {
            return Ordering::Less;
        }
        if other.high <= self.low {
            return Ordering::Greater;
        }
        if self.equals(other) {
            return Ordering::Equal;
        }
        let (mut a, mut b) = (self.clone(), other.clone());
        loop {
            if a.high <= b.low {
                return Ordering::Less;
            }
            if b.high <= a.low {
                return Ordering::Greater;
            }
            a.refine();
            b.refine();
        }
    }

    /// Equal exactly when the common divisor has a root where both intervals
    /// overlap: such a root is the only one of either polynomial there. The
    /// overlap's ends are no roots of the divisor, which is square-free, so a
    /// change of sign finds that root.
    fn equals(&self, other: &AlgebraicNumber) -> bool {
        let low = (&self.low).max(&other.low);
        let high = (&self.high).min(&other.high);
        if low >= high {
            return false;
        }
        let sign_change = |p: &Polynomial| p.sign_at(low) * p.sign_at(high) < 0;
        if self.polynomial == other.polynomial {
            return sign_change(&self.polynomial);
        }
        let common = self.polynomial.gcd(&other.polynomial);
        common.degree() > 0 && sign_change(&common)
    }

    pub(super) fn floor(&self) -> Integer {
        let number = self.refined_to(&Rational::ONE);
        let candidate = number.high.floor();
        if number.cmp_rational(&Rational::from(candidate.clone())).is_gt() {
            candidate
        } else {
            // The interval is at most one wide, and the number is irrational.
            &candidate - &Integer::ONE
        }
    }

    /// The floor of `2^32` times the number.
    pub(super) fn leading_digits(&self) -> Integer {
        let scale = Rational::from(1i64 << 32);
        let scaled = AlgebraicNumber::with_interval(
            self.polynomial.scaled_roots(&scale),
            &self.low * &scale,
            &self.high * &scale,
        );
        scaled.floor()
    }

    pub(super) fn sign_of(&self, polynomial: &Polynomial) -> i32 {
        if polynomial.degree() == 0 {
            return polynomial.leading().signum();
        }
        let common = self.polynomial.gcd(polynomial);
        if common.degree() > 0 && common.sign_at(&self.low) * common.sign_at(&self.high) < 0 {
            return 0;
        }
        let mut number = self.clone();
        loop {
            let (low, high) = polynomial.range_over(&number.low, &number.high);
            if low.signum() > 0 {
                return 1;
            }
            if high.signum() < 0 {
                return -1;
            }
            number.refine();
        }
    }

    pub(super) fn negated(&self) -> AlgebraicNumber {
        AlgebraicNumber::with_interval(self.polynomial.reflected(), -&self.high, -&self.low)
    }

    pub(super) fn inverse(&self) -> AlgebraicNumber {
        let number = self.away_from_zero();
        let invert = |end: &Rational| end.recip().unwrap_or_default();
        AlgebraicNumber::with_interval(
            number.polynomial.reversed(),
            invert(&number.high),
            invert(&number.low),
        )
    }

    pub(super) fn plus_rational(&self, offset: &Rational) -> Result<Real, TooHard> {
        let polynomial = roots::within_budget(self.polynomial.shifted_roots(offset))?;
        Ok(Real::Algebraic(Box::new(AlgebraicNumber::with_interval(
            polynomial,
            &self.low + offset,
            &self.high + offset,
        ))))
    }

    pub(super) fn times_rational(&self, factor: &Rational) -> Result<Real, TooHard> {
        if factor.is_zero() {
            return Ok(Real::Rational(Rational::ZERO));
        }
        let polynomial = roots::within_budget(self.polynomial.scaled_roots(factor))?;
        let (mut low, mut high) = (&self.low * factor, &self.high * factor);
        if low > high {
            std::mem::swap(&mut low, &mut high);
        }
        Ok(Real::Algebraic(Box::new(AlgebraicNumber::with_interval(polynomial, low, high))))
    }

    pub(super) fn plus(&self, other: &AlgebraicNumber) -> Result<Real, TooHard> {
        if self.equals(other) {
            return self.times_rational(&Rational::from(2));
        }
        if self.equals(&other.negated()) {
            return Ok(Real::Rational(Rational::ZERO));
        }
        let candidates = roots::composed_sum(&self.polynomial, &other.polynomial)?;
        Ok(isolate(candidates, self.clone(), other.clone(), |a, b| (&a.low + &b.low, &a.high + &b.high)))
    }

    pub(super) fn times(&self, other: &AlgebraicNumber) -> Result<Real, TooHard> {
        if self.equals(other) {
            return self.power(2);
        }
        let candidates = roots::composed_product(&self.polynomial, &other.polynomial)?;
        Ok(isolate(candidates, self.clone(), other.clone(), |a, b| {
            interval_product(&(a.low.clone(), a.high.clone()), &(b.low.clone(), b.high.clone()))
        }))
    }

    pub(super) fn power(&self, exponent: usize) -> Result<Real, TooHard> {
        match exponent {
            0 => return Ok(Real::Rational(Rational::ONE)),
            1 => return Ok(Real::Algebraic(Box::new(self.clone()))),
            _ => {}
        }
        let candidates = roots::powers_of_roots(&self.polynomial, exponent)?;
        let start = self.away_from_zero();
        let exponent = Integer::from(exponent);
        let power = |end: &Rational| end.pow(&exponent);
        if power(&start.low).is_none() || power(&start.high).is_none() {
            return Err(TooHard::Exponent);
        }
        Ok(isolate(candidates, start.clone(), start, |a, _| {
            let low = power(&a.low).unwrap_or_default();
            let high = power(&a.high).unwrap_or_default();
            if low <= high { (low, high) } else { (high, low) }
        }))
    }
}

/// The root of `candidates` that the shrinking `range` of both numbers singles
/// out.
fn isolate(
    candidates: Polynomial,
    mut a: AlgebraicNumber,
    mut b: AlgebraicNumber,
    range: impl Fn(&AlgebraicNumber, &AlgebraicNumber) -> (Rational, Rational),
) -> Real {
    let square_free = candidates.square_free();
    let sturm = SturmSequence::new(&square_free);
    loop {
        let (low, high) = range(&a, &b);
        if sturm.roots_within(&low, &high) == 1 {
            return normalised(square_free, low, high);
        }
        a.refine();
        b.refine();
    }
}

/// The positive root of a positive number.
pub(super) fn positive_root(value: &Real, degree: usize) -> Result<Real, TooHard> {
    let polynomial = match value {
        Real::Rational(value) => Polynomial::new(vec![-value.numerator(), value.denominator()]),
        Real::Algebraic(number) => number.polynomial.as_ref().clone(),
    };
    let result_degree = polynomial.degree().checked_mul(degree).ok_or(TooHard::Exponent)?;
    if result_degree > super::MAX_DEGREE {
        return Err(TooHard::Degree(result_degree));
    }
    let candidates = polynomial.inflated(degree).square_free();
    let sturm = SturmSequence::new(&candidates);
    let exponent = Integer::from(degree);
    let mut low = Rational::ZERO;
    let mut high = candidates.root_bound();
    while sturm.roots_within(&low, &high) > 1 {
        let middle = low.midpoint(&high);
        let power = middle.pow(&exponent).ok_or(TooHard::Exponent)?;
        if *value > Real::Rational(power) {
            low = middle;
        } else {
            high = middle;
        }
    }
    Ok(normalised(candidates, low, high))
}

/// Divides a square-free polynomial by the linear factor of `root`, if it is
/// one of its roots.
pub(super) fn without_root(polynomial: Polynomial, root: &Rational) -> Polynomial {
    if polynomial.sign_at(root) != 0 {
        return polynomial;
    }
    let linear = Polynomial::new(vec![-root.numerator(), root.denominator()]);
    polynomial.exact_quotient(&linear).unwrap_or(polynomial)
}

/// The only root of a square-free polynomial in `(low, high]`, in the form of
/// a rational number if it is one, with the smallest polynomial we can find.
pub(super) fn normalised(polynomial: Polynomial, low: Rational, high: Rational) -> Real {
    if polynomial.sign_at(&high) == 0 {
        return Real::Rational(high);
    }
    let polynomial = without_root(polynomial, &low);
    let mut number = AlgebraicNumber::with_interval(polynomial, low, high);
    let sign_change =
        |p: &Polynomial, number: &AlgebraicNumber| p.sign_at(&number.low) * p.sign_at(&number.high) < 0;
    if let Some(smaller) = factor::factors(&number.polynomial).into_iter().find(|p| sign_change(p, &number)) {
        number = AlgebraicNumber::with_interval(smaller, number.low, number.high);
    }
    match rational_root(&mut number) {
        Some(value) => Real::Rational(value),
        None => Real::Algebraic(Box::new(number)),
    }
}

/// The denominator of a rational root divides the leading coefficient, so an
/// interval narrower than its inverse leaves a single candidate.
fn rational_root(number: &mut AlgebraicNumber) -> Option<Rational> {
    let leading = Rational::from(number.polynomial.leading());
    let width = leading.recip()?;
    while &number.high - &number.low >= width {
        let middle = number.low.midpoint(&number.high);
        if number.polynomial.sign_at(&middle) == 0 {
            return Some(middle);
        }
        number.refine();
    }
    let candidate = Rational::from((&number.high * &leading).floor());
    let value = candidate.checked_div(&leading)?;
    (value > number.low && number.polynomial.sign_at(&value) == 0).then_some(value)
}

fn two_to_minus(bits: usize) -> Rational {
    let power = Integer::from(dashu_int::UBig::ONE << bits);
    Rational::from(power).recip().unwrap_or_default()
}
