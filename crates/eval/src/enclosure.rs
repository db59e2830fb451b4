//! Rigorous bounds for the transcendental functions.
//!
//! A transcendental value has no finite exact form, but two different numbers
//! can always be told apart by computing enough digits of both. Everything
//! here returns an interval that certainly holds the true value; a comparison
//! is answered only when the intervals separate.
//!
//! - `fixed`: intervals of fixed-point numbers with outward rounding
//! - `series`: the power series, with bounds for what is left out

mod fixed;
mod series;
#[cfg(test)]
mod tests;

use std::cmp::Ordering;

use crate::algebraic::Real;
use crate::algebraic::polynomial::interval_product;
use crate::integer::Integer;
use crate::rational::Rational;
use fixed::Fixed;

/// Precision at which a comparison gives up, in bits after the point.
pub const MAX_BITS: usize = 2048;
/// Arguments of the exponential beyond this have results of no use.
const MAX_EXPONENT: usize = 1 << 12;
/// Arguments of the circular functions with more bits are refused.
const MAX_ANGLE_BITS: usize = 256;

/// A closed interval that holds the true value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Enclosure {
    low: Rational,
    high: Rational,
}

/// The functions of one argument that cvc5 and Z3 know.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Function {
    Exp,
    Log,
    Sqrt,
    Sin,
    Cos,
    Tan,
    Csc,
    Sec,
    Cot,
    Asin,
    Acos,
    Atan,
    Acsc,
    Asec,
    /// In the range 0 to pi.
    Acot,
    Sinh,
    Cosh,
    Tanh,
    Asinh,
    Acosh,
    Atanh,
}

impl Enclosure {
    pub fn point(value: Rational) -> Enclosure {
        Enclosure { low: value.clone(), high: value }
    }

    /// A real number, at most `2^-bits` wide.
    pub fn of_real(value: &Real, bits: usize) -> Enclosure {
        let (low, high) = value.bounds(bits);
        Enclosure { low, high }
    }

    /// An enclosure of pi at most a few units of `2^-bits` wide.
    pub fn pi(bits: usize) -> Enclosure {
        from_fixed(&series::pi(bits + 8))
    }

    fn new(low: Rational, high: Rational) -> Enclosure {
        debug_assert!(low <= high);
        Enclosure { low, high }
    }

    pub fn low(&self) -> &Rational {
        &self.low
    }

    pub fn high(&self) -> &Rational {
        &self.high
    }

    pub fn width(&self) -> Rational {
        &self.high - &self.low
    }

    pub fn contains(&self, value: &Rational) -> bool {
        self.low <= *value && *value <= self.high
    }

    fn is_point(&self) -> bool {
        self.low == self.high
    }

    pub fn plus(&self, other: &Enclosure) -> Enclosure {
        Enclosure::new(&self.low + &other.low, &self.high + &other.high)
    }

    pub fn minus(&self, other: &Enclosure) -> Enclosure {
        Enclosure::new(&self.low - &other.high, &self.high - &other.low)
    }

    pub fn negated(&self) -> Enclosure {
        Enclosure::new(-&self.high, -&self.low)
    }

    pub fn abs(&self) -> Enclosure {
        if self.low.signum() >= 0 {
            self.clone()
        } else if self.high.signum() <= 0 {
            self.negated()
        } else {
            let high = (-&self.low).max(self.high.clone());
            Enclosure::new(Rational::ZERO, high)
        }
    }

    pub fn times(&self, other: &Enclosure) -> Enclosure {
        let (low, high) = interval_product(
            &(self.low.clone(), self.high.clone()),
            &(other.low.clone(), other.high.clone()),
        );
        Enclosure::new(low, high)
    }

    /// `None` when the divisor may be zero.
    pub fn divided_by(&self, divisor: &Enclosure) -> Option<Enclosure> {
        if divisor.low.signum() * divisor.high.signum() <= 0 {
            return None;
        }
        let inverse = Enclosure::new(divisor.high.recip()?, divisor.low.recip()?);
        Some(self.times(&inverse))
    }

    /// The common order of all pairs of values, if there is one.
    pub fn compare(&self, other: &Enclosure) -> Option<Ordering> {
        if self.high < other.low {
            Some(Ordering::Less)
        } else if self.low > other.high {
            Some(Ordering::Greater)
        } else if self.is_point() && self == other {
            Some(Ordering::Equal)
        } else {
            None
        }
    }

    /// Rounds outward to multiples of `2^-bits`, which keeps long chains of
    /// operations affordable; exact values stay as they are.
    pub fn rounded(&self, bits: usize) -> Enclosure {
        if self.is_point() {
            return self.clone();
        }
        from_fixed(&Fixed::enclosing(&self.low, &self.high, bits))
    }

    /// The function's values over the interval, or `None` outside its domain,
    /// too near a pole, or beyond the size limits. More bits give a narrower
    /// result as far as the argument's own width allows.
    pub fn apply(&self, function: Function, bits: usize) -> Option<Enclosure> {
        if let Some(exact) = self.exact_value(function) {
            return Some(exact);
        }
        let one = Enclosure::point(Rational::ONE);
        let inverse = |value: Enclosure| one.divided_by(&value);
        let half_pi = || from_fixed(&series::pi(bits + 8).halved());
        match function {
            Function::Exp => self.increasing(|x| exp(x, bits)),
            Function::Log => self.increasing(|x| log(x, bits)),
            Function::Sqrt => self.increasing(|x| sqrt(x, bits)),
            Function::Sin => self.circular(bits).map(|(sin, _)| sin),
            Function::Cos => self.circular(bits).map(|(_, cos)| cos),
            Function::Tan => {
                let (sin, cos) = self.circular(bits)?;
                sin.divided_by(&cos)
            }
            Function::Cot => {
                let (sin, cos) = self.circular(bits)?;
                cos.divided_by(&sin)
            }
            Function::Csc => inverse(self.apply(Function::Sin, bits)?),
            Function::Sec => inverse(self.apply(Function::Cos, bits)?),
            Function::Atan => self.increasing(|x| Some(atan(x, bits))),
            Function::Asin => self.increasing(|x| asin(x, bits)),
            Function::Acos => Some(half_pi().minus(&self.apply(Function::Asin, bits)?)),
            Function::Acot => Some(half_pi().minus(&self.apply(Function::Atan, bits)?)),
            Function::Acsc => inverse(self.clone())?.apply(Function::Asin, bits),
            Function::Asec => inverse(self.clone())?.apply(Function::Acos, bits),
            Function::Sinh => self.increasing(|x| {
                let (up, down) = exponentials(x, bits)?;
                Some(up.minus(&down).halved())
            }),
            Function::Cosh => {
                let up = self.apply(Function::Exp, bits)?;
                let down = self.negated().apply(Function::Exp, bits)?;
                Some(up.plus(&down).halved())
            }
            Function::Tanh => self.increasing(|x| {
                let (up, down) = exponentials(x, bits)?;
                up.minus(&down).divided_by(&up.plus(&down))
            }),
            Function::Asinh => self.increasing(|x| {
                // log(x + sqrt(x^2 + 1)) loses all digits for negative x.
                let size = Enclosure::point(x.abs());
                let square = size.times(&size).plus(&one);
                let sum = size.plus(&square.apply(Function::Sqrt, bits)?);
                let result = sum.apply(Function::Log, bits)?;
                Some(if x.is_negative() { result.negated() } else { result })
            }),
            Function::Acosh => self.increasing(|x| {
                let point = Enclosure::point(x.clone());
                let square = point.times(&point).minus(&one);
                let sum = point.plus(&square.apply(Function::Sqrt, bits)?);
                (x.signum() > 0).then_some(())?;
                sum.apply(Function::Log, bits)
            }),
            Function::Atanh => self.increasing(|x| {
                let point = Enclosure::point(x.clone());
                (x.abs() < Rational::ONE).then_some(())?;
                let quotient = one.plus(&point).divided_by(&one.minus(&point))?;
                Some(quotient.apply(Function::Log, bits)?.halved())
            }),
        }
    }

    /// The few arguments with rational results, where no number of digits
    /// would ever decide an equality.
    fn exact_value(&self, function: Function) -> Option<Enclosure> {
        if !self.is_point() {
            return None;
        }
        let value = if self.low.is_zero() {
            match function {
                Function::Exp | Function::Cos | Function::Sec | Function::Cosh => 1,
                Function::Sqrt
                | Function::Sin
                | Function::Tan
                | Function::Asin
                | Function::Atan
                | Function::Sinh
                | Function::Tanh
                | Function::Asinh
                | Function::Atanh => 0,
                _ => return None,
            }
        } else if self.low == Rational::ONE {
            match function {
                Function::Log | Function::Acos | Function::Asec | Function::Acosh => 0,
                Function::Sqrt => 1,
                _ => return None,
            }
        } else if function == Function::Sqrt {
            let root = Real::Rational(self.low.clone()).nth_root(2).ok()??;
            return root.to_rational().cloned().map(Enclosure::point);
        } else {
            return None;
        };
        Some(Enclosure::point(Rational::from(value)))
    }

    /// An increasing function's enclosure from those at both ends.
    fn increasing(&self, at: impl Fn(&Rational) -> Option<Enclosure>) -> Option<Enclosure> {
        let low = at(&self.low)?;
        if self.is_point() {
            return Some(low);
        }
        Some(Enclosure::new(low.low, at(&self.high)?.high))
    }

    fn halved(&self) -> Enclosure {
        let zero = Rational::ZERO;
        Enclosure::new(self.low.midpoint(&zero), self.high.midpoint(&zero))
    }

    /// Sine and cosine: the values at the middle, widened by the radius, since
    /// neither function changes faster than its argument.
    fn circular(&self, bits: usize) -> Option<(Enclosure, Enclosure)> {
        let middle = self.low.midpoint(&self.high);
        let radius = self.width();
        let size = middle.floor().bit_length();
        if size > MAX_ANGLE_BITS {
            return None;
        }
        let (sin, cos) = series::sin_cos(&middle, bits, size);
        let one = Rational::ONE;
        let widen = |value: &Fixed| {
            let value = from_fixed(value);
            let low = (&value.low - &radius).max(-&one);
            let high = (&value.high + &radius).min(one.clone());
            Enclosure::new(low, high)
        };
        Some((widen(&sin), widen(&cos)))
    }
}

/// Compares two values given by their enclosures at any precision, doubling it
/// until they separate. `None` when they do not up to [`MAX_BITS`], or when
/// one of them cannot be enclosed at all.
pub fn compare(
    left: impl Fn(usize) -> Option<Enclosure>,
    right: impl Fn(usize) -> Option<Enclosure>,
) -> Option<Ordering> {
    let mut bits = 64;
    while bits <= MAX_BITS {
        // A missing enclosure may be a matter of precision (near a pole).
        if let (Some(left), Some(right)) = (left(bits), right(bits))
            && let Some(order) = left.compare(&right)
        {
            return Some(order);
        }
        bits *= 2;
    }
    None
}

fn from_fixed(value: &Fixed) -> Enclosure {
    let (low, high) = value.to_rationals();
    Enclosure::new(low, high)
}

/// `e^x` and `e^-x`.
fn exponentials(x: &Rational, bits: usize) -> Option<(Enclosure, Enclosure)> {
    Some((exp(x, bits)?, exp(&-x, bits)?))
}

fn exp(x: &Rational, bits: usize) -> Option<Enclosure> {
    if x.is_zero() {
        return Some(Enclosure::point(Rational::ONE));
    }
    let size = x.abs().ceil().to_usize().filter(|size| *size <= MAX_EXPONENT)?;
    let positive = from_fixed(&series::exp(&x.abs(), bits, size));
    if x.is_negative() {
        // The bounds are at least 1 here, and the inverse is never zero.
        let inverse = Enclosure::new(positive.high.recip()?, positive.low.recip()?);
        // 3/2 > log2(e): enough digits for a value as small as e^-size.
        return Some(inverse.rounded(bits + 2 * size + 8));
    }
    Some(positive)
}

fn log(x: &Rational, bits: usize) -> Option<Enclosure> {
    if x.signum() <= 0 {
        return None;
    }
    let exponent = x.numerator().bit_length() as i64 - x.denominator().bit_length() as i64;
    let scale = Rational::from(2).pow(&Integer::from(-exponent))?;
    let guard = bits + 8 + exponent.unsigned_abs().max(1).ilog2() as usize;
    let mantissa = series::log_near_one(&(x * &scale), guard);
    let shift = series::log_two(guard).scaled_by(exponent);
    Some(from_fixed(&mantissa.plus(&shift)))
}

fn sqrt(x: &Rational, bits: usize) -> Option<Enclosure> {
    if x.is_negative() {
        return None;
    }
    Some(from_fixed(&Fixed::enclosing(x, x, bits + 4).sqrt()))
}

fn atan(x: &Rational, bits: usize) -> Enclosure {
    if x.is_negative() {
        return atan(&-x, bits).negated();
    }
    let guard = bits + 16;
    if *x <= Rational::ONE {
        return from_fixed(&series::atan(x, guard));
    }
    let inverse = x.recip().unwrap_or_default();
    let rest = series::atan(&inverse, guard);
    from_fixed(&series::pi(guard).halved().minus(&rest))
}

fn asin(x: &Rational, bits: usize) -> Option<Enclosure> {
    if x.is_negative() {
        return Some(asin(&-x, bits)?.negated());
    }
    match x.cmp(&Rational::ONE) {
        Ordering::Greater => None,
        Ordering::Equal => Some(from_fixed(&series::pi(bits + 8).halved())),
        Ordering::Less => {
            let one = Rational::ONE;
            let cosine = sqrt(&(&one - &(x * x)), 2 * bits)?;
            let tangent = Enclosure::point(x.clone()).divided_by(&cosine)?;
            let tangent = tangent.rounded(2 * bits);
            tangent.increasing(|end| Some(atan(end, bits)))
        }
    }
}
