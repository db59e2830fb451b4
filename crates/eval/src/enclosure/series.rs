//! Power series on fixed-point intervals. Every sum stops at a term below the
//! last place and is widened by a proven bound for the terms left out.

use dashu_int::IBig;

use super::fixed::Fixed;
use crate::integer::Integer;
use crate::rational::Rational;

/// `x / 2^count`, exactly.
fn scaled_down(x: &Rational, count: usize) -> Rational {
    let power = Integer::from(dashu_int::UBig::ONE << count);
    let unit = Rational::from(power).recip().unwrap_or_default();
    x * &unit
}

/// `e^x` for `0 <= x <= size`, absolutely precise to about `bits`.
pub(super) fn exp(x: &Rational, bits: usize, size: usize) -> Fixed {
    // Reduce to at most 1/2 by halving, undo it by squaring. A squaring
    // doubles the relative error, and the result has 3/2 * size bits at most.
    let halvings = size.max(1).ilog2() as usize + 2;
    let work = bits + 2 * halvings + 2 * size + 32;
    let reduced = Fixed::point(&scaled_down(x, halvings), work);
    let mut sum = Fixed::integer(1, work);
    let mut term = sum.clone();
    for index in 1.. {
        term = term.times(&reduced).divided_by_integer(index);
        sum = sum.plus(&term);
        let last = term.magnitude();
        if last <= IBig::ONE {
            // Each further term is at most half of the one before, so all of
            // them together are at most the last one added.
            sum = sum.widened(&last);
            break;
        }
    }
    for _ in 0..halvings {
        sum = sum.squared();
    }
    sum
}

/// Sine and cosine of a number whose integer part has `size` bits.
pub(super) fn sin_cos(x: &Rational, bits: usize, size: usize) -> (Fixed, Fixed) {
    // Reduce to at most 1/2 by halving, undo it by the double-angle formulas,
    // each of which may multiply the error by four.
    let halvings = size + 2;
    let work = bits + 3 * halvings + 16;
    let reduced = Fixed::point(&scaled_down(x, halvings), work);
    let square = reduced.squared();
    let (mut sin, mut cos) =
        (alternating(&reduced, &square, 2), alternating(&Fixed::integer(1, work), &square, 1));
    for _ in 0..halvings {
        let product = sin.times(&cos);
        let two_squares = sin.squared().scaled_by(2);
        cos = Fixed::integer(1, work).minus(&two_squares);
        sin = product.scaled_by(2);
    }
    (sin, cos)
}

/// `first - first*square/(n(n+1)) + ...`, the series of sine (`n = 2`) and
/// cosine (`n = 1`), for a square of at most 1/4.
fn alternating(first: &Fixed, square: &Fixed, start: u64) -> Fixed {
    let mut sum = first.clone();
    let mut term = first.clone();
    let mut index = start;
    loop {
        term = term.times(square).divided_by_integer(index * (index + 1)).negated();
        sum = sum.plus(&term);
        let last = term.magnitude();
        if last <= IBig::ONE {
            // Terms shrink by more than half, as for the exponential.
            return sum.widened(&last);
        }
        index += 2;
    }
}

/// `z + sign z^3/3 + z^5/5 + ...`: the inverse hyperbolic tangent, or with
/// alternating signs the inverse tangent, for `|z|` of at most 1/2.
fn odd_reciprocal_series(z: &Fixed, alternating: bool) -> Fixed {
    let square = z.squared();
    let mut power = z.clone();
    let mut sum = z.clone();
    for index in 1u64.. {
        power = power.times(&square);
        if alternating {
            power = power.negated();
        }
        sum = sum.plus(&power.divided_by_integer(2 * index + 1));
        let last = power.magnitude();
        if last <= IBig::ONE {
            // What follows is at most last/4 + last/16 + ...
            sum = sum.widened(&last);
            break;
        }
    }
    sum
}

/// The natural logarithm of a number between 1/2 and 2.
pub(super) fn log_near_one(x: &Rational, bits: usize) -> Fixed {
    // log x = 2 artanh((x - 1)/(x + 1)), whose argument is at most 1/3.
    let one = Rational::ONE;
    let z = (x - &one).checked_div(&(x + &one)).unwrap_or_default();
    odd_reciprocal_series(&Fixed::point(&z, bits + 8), false).scaled_by(2).with_bits(bits)
}

pub(super) fn log_two(bits: usize) -> Fixed {
    log_near_one(&Rational::from(2), bits)
}

/// The inverse tangent for `0 <= x <= 1`.
pub(super) fn atan(x: &Rational, bits: usize) -> Fixed {
    // atan x = 2 atan(x / (1 + sqrt(1 + x^2))), three times, which brings the
    // argument below 1/10.
    const HALVINGS: u32 = 3;
    let work = bits + 16;
    let one = Fixed::integer(1, work);
    let mut z = Fixed::point(x, work);
    for _ in 0..HALVINGS {
        let root = one.plus(&z.squared()).sqrt();
        z = z.divided_by_positive(&one.plus(&root));
    }
    odd_reciprocal_series(&z, true).scaled_by(1 << HALVINGS).with_bits(bits)
}

/// Machin: `pi/4 = 4 atan(1/5) - atan(1/239)`.
pub(super) fn pi(bits: usize) -> Fixed {
    let work = bits + 16;
    let inverse_tangent = |divisor: u64| {
        let z = Fixed::integer(1, work).divided_by_integer(divisor);
        odd_reciprocal_series(&z, true)
    };
    inverse_tangent(5).scaled_by(16).minus(&inverse_tangent(239).scaled_by(4)).with_bits(bits)
}
