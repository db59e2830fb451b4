//! How weakly a place is constrained (the paper's section III-B, "weighted term selection"), carried over to the sorts
//! that the paper does not have.

use std::ops::Bound;

use eval::Value;
use eval::abstraction::Interval;
use eval::bv::BitVector;
use eval::integer::Integer;
use eval::rational::Rational;

use super::constraint::Constraint;

const MOST: f64 = 1.0;
const LEAST: f64 = 0.001;
/// One truth value out of two.
const HALF: f64 = 0.5;
/// Intervals this wide count as infinite.
const WIDE: i64 = 1000;

/// Between 0.001 and 1, higher for weaker constraints.
pub fn score(constraint: &Constraint) -> f64 {
    match constraint {
        Constraint::Any => MOST,
        Constraint::Bool(_) | Constraint::Only(Value::Bool(_)) => HALF,
        Constraint::Unstated | Constraint::Only(_) => LEAST,
        Constraint::OneOf(values) => (values.len() as f64 / WIDE as f64).clamp(LEAST, MOST),
        Constraint::Int(interval) => width_score(&rational(interval)),
        Constraint::Real(interval) => width_score(interval),
        Constraint::Unsigned(low, high) => count_score(low.width(), &low.to_unsigned(), &high.to_unsigned()),
        Constraint::Signed(low, high) => count_score(low.width(), &low.to_signed(), &high.to_signed()),
        Constraint::Bits { mask, .. } => bits_score(mask),
        Constraint::Float { low, high, .. } => match (low, high) {
            (Bound::Included(low), Bound::Included(high)) if high.leq(low) => LEAST,
            _ => MOST,
        },
        Constraint::Class(_) | Constraint::Made(_) => HALF,
        Constraint::Words(words) => {
            if words.is_infinite() {
                MOST
            } else {
                LEAST
            }
        }
        Constraint::Language(_, infinite) => {
            if *infinite {
                MOST
            } else {
                LEAST
            }
        }
        Constraint::At(_, inner) | Constraint::Field(_, _, inner) => score(inner),
        Constraint::Not(inner) => match &**inner {
            Constraint::Class(_)
            | Constraint::Made(_)
            | Constraint::Unsigned(..)
            | Constraint::Signed(..) => HALF,
            _ => MOST,
        },
    }
}

fn width_score(interval: &Interval<Rational>) -> f64 {
    let end = |bound: &Bound<Rational>| match bound {
        Bound::Unbounded => None,
        Bound::Included(end) | Bound::Excluded(end) => Some(end.clone()),
    };
    let (Some(low), Some(high)) = (end(&interval.low), end(&interval.high)) else { return MOST };
    let width = &high - &low;
    if width >= Rational::from(Integer::new(WIDE)) {
        return MOST;
    }
    ((width.f64_bounds().0 + 1.0) / WIDE as f64).clamp(LEAST, MOST)
}

fn rational(interval: &Interval<Integer>) -> Interval<Rational> {
    let (low, high) = interval.ends();
    let end = |end: Option<Integer>| end.map_or(Bound::Unbounded, |end| Bound::Included(Rational::from(end)));
    Interval { low: end(low), high: end(high) }
}

/// The paper's width, or the share of a narrow sort if that is more.
fn count_score(width: u32, low: &Integer, high: &Integer) -> f64 {
    let size = &(high - low) + &Integer::ONE;
    if size > Integer::new(WIDE) {
        return MOST;
    }
    let size = size.to_i64().unwrap_or(0) as f64;
    (size / WIDE as f64).max(size / 2f64.powi(width.min(64) as i32)).clamp(LEAST, MOST)
}

fn bits_score(mask: &BitVector) -> f64 {
    let free = mask.width() - mask.count_ones();
    let share = 0.5f64.powi(mask.count_ones().min(64) as i32);
    (2f64.powi(free.min(64) as i32) / WIDE as f64).max(share).clamp(LEAST, MOST)
}
