//! Counting real roots, and polynomials for sums, products and powers of roots.

use super::polynomial::Polynomial;
use super::{MAX_DEGREE, MAX_SIZE, TooHard};
use crate::integer::Integer;
use crate::rational::Rational;

/// The Sturm sequence of a square-free polynomial.
pub struct SturmSequence {
    sequence: Vec<Polynomial>,
}

impl SturmSequence {
    pub fn new(polynomial: &Polynomial) -> SturmSequence {
        let mut sequence = vec![polynomial.clone(), polynomial.derivative()];
        while let [.., a, b] = sequence.as_slice() {
            if b.degree() == 0 {
                break;
            }
            let remainder = a.positive_remainder(b);
            if remainder.is_zero() {
                break;
            }
            sequence.push(remainder.without_content().negated());
        }
        sequence.retain(|member| !member.is_zero());
        SturmSequence { sequence }
    }

    fn variations(&self, sign: impl Fn(&Polynomial) -> i32) -> usize {
        let mut previous = 0;
        let mut count = 0;
        for member in &self.sequence {
            let current = sign(member);
            if current != 0 {
                if previous != 0 && previous != current {
                    count += 1;
                }
                previous = current;
            }
        }
        count
    }

    /// The number of distinct real roots.
    pub fn root_count(&self) -> usize {
        let below = self.variations(Polynomial::sign_at_minus_infinity);
        below.saturating_sub(self.variations(|member| member.leading().signum()))
    }

    /// The number of distinct roots not above `point`.
    pub fn roots_up_to(&self, point: &Rational) -> usize {
        let below = self.variations(Polynomial::sign_at_minus_infinity);
        below.saturating_sub(self.variations(|member| member.sign_at(point)))
    }

    /// The number of distinct roots in the half-open interval `(low, high]`.
    pub fn roots_within(&self, low: &Rational, high: &Rational) -> usize {
        let left = self.variations(|member| member.sign_at(low));
        left.saturating_sub(self.variations(|member| member.sign_at(high)))
    }
}

/// The sums of the `k`-th powers of all complex roots, for `k` in `0..=count`,
/// by Newton's identities.
fn power_sums(polynomial: &Polynomial, count: usize) -> Vec<Rational> {
    let degree = polynomial.degree();
    let leading = Rational::from(polynomial.leading());
    // The coefficient of x^(degree - k) of the monic polynomial.
    let monic = |k: usize| -> Rational {
        let coefficient = Rational::from(polynomial.coefficients()[degree - k].clone());
        coefficient.checked_div(&leading).unwrap_or_default()
    };
    let elementary: Vec<Rational> = (0..=degree).map(monic).collect();
    let mut sums = vec![Rational::from(Integer::from(degree))];
    for k in 1..=count {
        let mut sum = match elementary.get(k) {
            Some(c) => c * &Rational::from(Integer::from(k)),
            None => Rational::ZERO,
        };
        for i in 1..k.min(degree + 1) {
            sum = &sum + &(&elementary[i] * &sums[k - i]);
        }
        sums.push(-sum);
    }
    sums
}

/// The polynomial of the given degree with these power sums of its roots.
fn from_power_sums(sums: &[Rational], degree: usize) -> Result<Polynomial, TooHard> {
    let mut elementary = vec![Rational::ONE];
    for k in 1..=degree {
        let mut sum = sums[k].clone();
        for i in 1..k {
            sum = &sum + &(&elementary[i] * &sums[k - i]);
        }
        let divisor = Rational::from(Integer::from(k));
        elementary.push(-sum.checked_div(&divisor).unwrap_or_default());
    }
    elementary.reverse();
    within_budget(Polynomial::from_rationals(&elementary))
}

pub(super) fn within_budget(polynomial: Polynomial) -> Result<Polynomial, TooHard> {
    if polynomial.degree() > MAX_DEGREE {
        return Err(TooHard::Degree(polynomial.degree()));
    }
    let (degree, bits) = (polynomial.degree(), polynomial.height_bits());
    if degree.saturating_mul(bits) > MAX_SIZE {
        return Err(TooHard::Size { degree, bits });
    }
    Ok(polynomial)
}

fn composed_degree(a: &Polynomial, b: &Polynomial) -> Result<usize, TooHard> {
    let degree = a.degree() * b.degree();
    if degree > MAX_DEGREE {
        return Err(TooHard::Degree(degree));
    }
    Ok(degree)
}

/// A polynomial with every sum of a root of `a` and a root of `b` as a root:
/// the binomial theorem gives its power sums from those of the arguments.
pub fn composed_sum(a: &Polynomial, b: &Polynomial) -> Result<Polynomial, TooHard> {
    let degree = composed_degree(a, b)?;
    let (left, right) = (power_sums(a, degree), power_sums(b, degree));
    let mut binomials = vec![Integer::ONE];
    let mut sums = Vec::with_capacity(degree + 1);
    for k in 0..=degree {
        let mut sum = Rational::ZERO;
        for (i, binomial) in binomials.iter().enumerate() {
            let product = &left[i] * &right[k - i];
            sum = &sum + &(&product * &Rational::from(binomial.clone()));
        }
        sums.push(sum);
        let mut next = vec![Integer::ONE];
        next.extend(binomials.windows(2).map(|pair| &pair[0] + &pair[1]));
        next.push(Integer::ONE);
        binomials = next;
    }
    from_power_sums(&sums, degree)
}

/// A polynomial with every product of a root of `a` and a root of `b`.
pub fn composed_product(a: &Polynomial, b: &Polynomial) -> Result<Polynomial, TooHard> {
    let degree = composed_degree(a, b)?;
    let (left, right) = (power_sums(a, degree), power_sums(b, degree));
    let sums: Vec<Rational> = left.iter().zip(&right).map(|(x, y)| x * y).collect();
    from_power_sums(&sums, degree)
}

/// A polynomial with the `exponent`-th powers of the roots as its roots.
pub fn powers_of_roots(a: &Polynomial, exponent: usize) -> Result<Polynomial, TooHard> {
    let degree = a.degree();
    let needed =
        degree.checked_mul(exponent).filter(|needed| *needed <= 64 * MAX_DEGREE).ok_or(TooHard::Exponent)?;
    let sums = power_sums(a, needed);
    let every: Vec<Rational> = sums.into_iter().step_by(exponent).collect();
    from_power_sums(&every, degree)
}
