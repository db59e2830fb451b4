//! Integer polynomials in one variable.
//!
//! Remainder sequences take the primitive part at every step, which keeps the
//! coefficients near their least size at the price of some gcds; the degrees
//! here are small enough for that to be the simple and fast choice.

use std::fmt;

use crate::integer::Integer;
use crate::rational::Rational;

/// A polynomial with integer coefficients, constant term first, without
/// leading zeros; the zero polynomial has no coefficients.
#[derive(Clone, PartialEq, Eq, Hash)]
pub struct Polynomial {
    coefficients: Vec<Integer>,
}

impl Polynomial {
    /// From coefficients in ascending order of their powers.
    pub fn new(mut coefficients: Vec<Integer>) -> Polynomial {
        while coefficients.last().is_some_and(Integer::is_zero) {
            coefficients.pop();
        }
        Polynomial { coefficients }
    }

    /// The primitive integer multiple of a polynomial with rational
    /// coefficients, ascending.
    pub fn from_rationals(coefficients: &[Rational]) -> Polynomial {
        let mut common = Integer::ONE;
        for coefficient in coefficients {
            let denominator = coefficient.denominator();
            let shared = common.gcd(&denominator);
            common = &common * &exact(&denominator, &shared);
        }
        let scaled =
            coefficients.iter().map(|c| &c.numerator() * &exact(&common, &c.denominator())).collect();
        Polynomial::new(scaled).primitive()
    }

    /// Constant term first.
    pub fn coefficients(&self) -> &[Integer] {
        &self.coefficients
    }

    pub fn is_zero(&self) -> bool {
        self.coefficients.is_empty()
    }

    /// 0 for constants, the zero polynomial included.
    pub fn degree(&self) -> usize {
        self.coefficients.len().saturating_sub(1)
    }

    /// Zero for the zero polynomial.
    pub fn leading(&self) -> Integer {
        self.coefficients.last().cloned().unwrap_or_default()
    }

    /// The bits of the largest coefficient.
    pub fn height_bits(&self) -> usize {
        self.coefficients.iter().map(Integer::bit_length).max().unwrap_or(0)
    }

    /// The factor without common divisor and with positive leading coefficient.
    pub fn primitive(&self) -> Polynomial {
        let content = self.content();
        if content.is_zero() {
            return self.clone();
        }
        let divisor = if self.leading().is_negative() { -content } else { content };
        self.divided_by(&divisor)
    }

    /// The gcd of the coefficients, never negative.
    fn content(&self) -> Integer {
        let mut content = Integer::ZERO;
        for coefficient in &self.coefficients {
            content = content.gcd(coefficient);
            if content.is_one() {
                break;
            }
        }
        content
    }

    fn divided_by(&self, divisor: &Integer) -> Polynomial {
        if divisor.is_one() {
            return self.clone();
        }
        Polynomial { coefficients: self.coefficients.iter().map(|c| exact(c, divisor)).collect() }
    }

    pub fn negated(&self) -> Polynomial {
        Polynomial { coefficients: self.coefficients.iter().map(|c| -c).collect() }
    }

    pub fn product(&self, other: &Polynomial) -> Polynomial {
        if self.is_zero() || other.is_zero() {
            return Polynomial::new(Vec::new());
        }
        let mut result = vec![Integer::ZERO; self.degree() + other.degree() + 1];
        for (i, a) in self.coefficients.iter().enumerate() {
            for (j, b) in other.coefficients.iter().enumerate() {
                result[i + j] = &result[i + j] + &(a * b);
            }
        }
        Polynomial::new(result)
    }

    pub fn derivative(&self) -> Polynomial {
        let coefficients = self.coefficients.iter().enumerate().skip(1);
        Polynomial::new(coefficients.map(|(power, c)| c * &Integer::from(power)).collect())
    }

    /// The sign of the value at a rational point.
    pub fn sign_at(&self, point: &Rational) -> i32 {
        self.scaled_value(&point.numerator(), &point.denominator()).signum()
    }

    /// `denominator^degree * p(numerator / denominator)`: an integer with the
    /// sign of the value, without any fraction.
    fn scaled_value(&self, numerator: &Integer, denominator: &Integer) -> Integer {
        let mut value = Integer::ZERO;
        let mut scale = Integer::ONE;
        for (index, coefficient) in self.coefficients.iter().rev().enumerate() {
            if index > 0 {
                value = &value * numerator;
                scale = &scale * denominator;
            }
            value = &value + &(coefficient * &scale);
        }
        value
    }

    pub fn value_at(&self, point: &Rational) -> Rational {
        let mut value = Rational::ZERO;
        for coefficient in self.coefficients.iter().rev() {
            value = &(&value * point) + &Rational::from(coefficient.clone());
        }
        value
    }

    /// Bounds of the values over an interval, by Horner's scheme.
    pub fn range_over(&self, low: &Rational, high: &Rational) -> (Rational, Rational) {
        let mut range = (Rational::ZERO, Rational::ZERO);
        for coefficient in self.coefficients.iter().rev() {
            let product = interval_product(&range, &(low.clone(), high.clone()));
            let shift = Rational::from(coefficient.clone());
            range = (&product.0 + &shift, &product.1 + &shift);
        }
        range
    }

    /// The sign for arguments towards minus infinity.
    pub fn sign_at_minus_infinity(&self) -> i32 {
        let sign = self.leading().signum();
        if self.degree().is_multiple_of(2) { sign } else { -sign }
    }

    /// `|leading(d)|^k * self mod d` for some k: a remainder multiplied by a
    /// positive number, so its sign at any point is that of the remainder.
    pub fn positive_remainder(&self, divisor: &Polynomial) -> Polynomial {
        let leading = divisor.leading();
        let scale = leading.abs();
        let sign_flips = leading.is_negative();
        let mut rest = self.coefficients.clone();
        while rest.len() >= divisor.coefficients.len() && !rest.is_empty() {
            let Some(top) = rest.pop() else { break };
            if top.is_zero() {
                continue;
            }
            let factor = if sign_flips { -top } else { top };
            for c in &mut rest {
                *c = &*c * &scale;
            }
            let offset = rest.len() + 1 - divisor.coefficients.len();
            for (i, d) in divisor.coefficients[..divisor.degree()].iter().enumerate() {
                rest[offset + i] = &rest[offset + i] - &(&factor * d);
            }
        }
        Polynomial::new(rest)
    }

    /// Removes a positive common divisor, keeping the sign.
    pub fn without_content(&self) -> Polynomial {
        let content = self.content();
        if content.is_zero() { self.clone() } else { self.divided_by(&content) }
    }

    /// The primitive greatest common divisor.
    pub fn gcd(&self, other: &Polynomial) -> Polynomial {
        let (mut a, mut b) = (self.primitive(), other.primitive());
        if a.degree() < b.degree() || a.is_zero() {
            std::mem::swap(&mut a, &mut b);
        }
        while !b.is_zero() {
            if b.degree() == 0 {
                return Polynomial::new(vec![Integer::ONE]);
            }
            let remainder = a.positive_remainder(&b).primitive();
            (a, b) = (b, remainder);
        }
        a
    }

    /// The quotient by a primitive divisor of a primitive polynomial; `None`
    /// when it does not divide.
    pub fn exact_quotient(&self, divisor: &Polynomial) -> Option<Polynomial> {
        if divisor.is_zero() {
            return None;
        }
        if self.degree() < divisor.degree() {
            return self.is_zero().then(|| self.clone());
        }
        let leading = divisor.leading();
        let mut rest = self.coefficients.clone();
        let mut quotient = vec![Integer::ZERO; self.degree() - divisor.degree() + 1];
        for index in (0..quotient.len()).rev() {
            let top = rest[index + divisor.degree()].clone();
            if !top.is_divisible_by(&leading) {
                return None;
            }
            let factor = exact(&top, &leading);
            for (i, d) in divisor.coefficients.iter().enumerate() {
                rest[index + i] = &rest[index + i] - &(&factor * d);
            }
            quotient[index] = factor;
        }
        rest.iter().all(Integer::is_zero).then(|| Polynomial::new(quotient))
    }

    /// The primitive polynomial with the same roots, each once.
    pub fn square_free(&self) -> Polynomial {
        let primitive = self.primitive();
        if primitive.degree() < 2 {
            return primitive;
        }
        let repeated = primitive.gcd(&primitive.derivative());
        if repeated.degree() == 0 {
            return primitive;
        }
        primitive.exact_quotient(&repeated).map_or(primitive, |quotient| quotient.primitive())
    }

    /// A power of two above the absolute value of every root (Cauchy).
    pub fn root_bound(&self) -> Rational {
        let leading_bits = self.leading().bit_length();
        let rest = &self.coefficients[..self.degree()];
        let largest = rest.iter().map(Integer::bit_length).max().unwrap_or(0);
        // |a_i / a_n| < 2^(largest - leading_bits + 1)
        let exponent = (largest + 1).saturating_sub(leading_bits) + 1;
        let power = Integer::from(dashu_int::UBig::ONE << exponent);
        Rational::from(power)
    }

    /// `p(-x)`.
    pub fn reflected(&self) -> Polynomial {
        let coefficients = self.coefficients.iter().enumerate();
        Polynomial::new(coefficients.map(|(power, c)| if power % 2 == 1 { -c } else { c.clone() }).collect())
            .primitive()
    }

    /// `x^degree * p(1/x)`: the roots inverted.
    pub fn reversed(&self) -> Polynomial {
        Polynomial::new(self.coefficients.iter().rev().cloned().collect()).primitive()
    }

    /// A polynomial whose roots are those of `self` plus `offset`.
    pub fn shifted_roots(&self, offset: &Rational) -> Polynomial {
        // Repeated synthetic division by x + offset gives the coefficients of
        // p(x - offset).
        let mut values: Vec<Rational> = self.coefficients.iter().map(|c| Rational::from(c.clone())).collect();
        let length = values.len();
        for start in 0..length {
            for index in (start..length.saturating_sub(1)).rev() {
                values[index] = &values[index] - &(&values[index + 1] * offset);
            }
        }
        Polynomial::from_rationals(&values)
    }

    /// A polynomial whose roots are those of `self` times a nonzero `factor`.
    pub fn scaled_roots(&self, factor: &Rational) -> Polynomial {
        let degree = self.degree();
        let (top, bottom) = (factor.numerator(), factor.denominator());
        let power =
            |base: &Integer, exponent: usize| (0..exponent).fold(Integer::ONE, |product, _| &product * base);
        let coefficients = self.coefficients.iter().enumerate();
        Polynomial::new(
            coefficients.map(|(i, c)| &(c * &power(&bottom, i)) * &power(&top, degree - i)).collect(),
        )
        .primitive()
    }

    /// `p(x^power)`: its roots are the `power`-th roots of those of `self`.
    pub fn inflated(&self, power: usize) -> Polynomial {
        let mut result = vec![Integer::ZERO; self.degree() * power + 1];
        for (index, coefficient) in self.coefficients.iter().enumerate() {
            result[index * power] = coefficient.clone();
        }
        Polynomial::new(result)
    }
}

/// The product of two closed intervals.
pub(crate) fn interval_product(a: &(Rational, Rational), b: &(Rational, Rational)) -> (Rational, Rational) {
    let products = [&a.0 * &b.0, &a.0 * &b.1, &a.1 * &b.0, &a.1 * &b.1];
    let [first, rest @ ..] = &products;
    let (mut low, mut high) = (first, first);
    for product in rest {
        if product < low {
            low = product;
        }
        if product > high {
            high = product;
        }
    }
    (low.clone(), high.clone())
}

/// The quotient of a division known to leave no remainder.
fn exact(dividend: &Integer, divisor: &Integer) -> Integer {
    dividend.div_euclid(divisor).unwrap_or_default()
}

impl fmt::Display for Polynomial {
    /// The SMT-LIB sum Z3 prints, highest power first.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut monomials = Vec::new();
        for (power, coefficient) in self.coefficients.iter().enumerate().rev() {
            if coefficient.is_zero() {
                continue;
            }
            let factor = if coefficient.is_negative() {
                format!("(- {})", coefficient.abs())
            } else {
                coefficient.to_string()
            };
            let variable = match power {
                0 => {
                    monomials.push(factor);
                    continue;
                }
                1 => "x".to_owned(),
                _ => format!("(^ x {power})"),
            };
            monomials.push(if coefficient.is_one() { variable } else { format!("(* {factor} {variable})") });
        }
        match monomials.as_slice() {
            [] => f.write_str("0"),
            [only] => f.write_str(only),
            several => write!(f, "(+ {})", several.join(" ")),
        }
    }
}

impl fmt::Debug for Polynomial {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}
