//! Integers and reals: intervals through sums, products, quotients, comparisons and conversions.

use std::ops::Bound;

use eval::abstraction::Interval;
use eval::integer::Integer;
use eval::rational::Rational;
use smtlib::Op;

use super::{Exact, Image, Node, Part};
use crate::diver::constraint::Constraint;

pub(super) fn preimage(node: &Node<'_>, op: Op, i: usize, set: &Constraint) -> Option<Image> {
    use Op::*;
    match (op, set) {
        (IntLe | IntLt | IntGe | IntGt, Constraint::Bool(truth)) => {
            let values = (0..node.len()).map(|j| node.int(j).cloned()).collect::<Option<Vec<_>>>()?;
            wrap(chain(relation(op)?, &values, i, *truth, step_int), Constraint::Int)
        }
        (RealLe | RealLt | RealGe | RealGt, Constraint::Bool(truth)) => {
            let values = (0..node.len()).map(|j| node.rational(j).cloned()).collect::<Option<Vec<_>>>()?;
            wrap(chain(relation(op)?, &values, i, *truth, |bound| bound), Constraint::Real)
        }
        (IntNeg | IntAdd | IntSub | IntMul | IntDiv | IntMod | IntAbs | ToInt, Constraint::Int(set)) => {
            int(node, op, i, set)
        }
        (RealNeg | RealAdd | RealSub | RealMul | RealDiv | RealAbs | ToReal, Constraint::Real(set)) => {
            real(node, op, i, set)
        }
        _ => None,
    }
}

fn wrap<T: Ord>(image: Option<(Interval<T>, bool)>, set: fn(Interval<T>) -> Constraint) -> Option<Image> {
    let (interval, exact) = image?;
    if interval == Interval::ALL {
        return Some(Exact(Constraint::Any));
    }
    Some(if exact { Exact(set(interval)) } else { Part(set(interval)) })
}

#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) struct Relation {
    /// Smaller on the left.
    pub less: bool,
    pub strict: bool,
}

impl Relation {
    fn holds<T: Ord>(self, a: &T, b: &T) -> bool {
        let (a, b) = if self.less { (a, b) } else { (b, a) };
        if self.strict { a < b } else { a <= b }
    }

    pub(super) fn flipped(self) -> Relation {
        Relation { less: !self.less, ..self }
    }

    pub(super) fn negated(self) -> Relation {
        Relation { less: !self.less, strict: !self.strict }
    }

    /// `{x : x R bound}`.
    fn side<T: Clone>(self, bound: &T) -> Interval<T> {
        let end = if self.strict { Bound::Excluded(bound.clone()) } else { Bound::Included(bound.clone()) };
        if self.less {
            Interval { low: Bound::Unbounded, high: end }
        } else {
            Interval { low: end, high: Bound::Unbounded }
        }
    }
}

fn relation(op: Op) -> Option<Relation> {
    let (less, strict) = match op {
        Op::IntLe | Op::RealLe => (true, false),
        Op::IntLt | Op::RealLt => (true, true),
        Op::IntGe | Op::RealGe => (false, false),
        Op::IntGt | Op::RealGt => (false, true),
        _ => return None,
    };
    Some(Relation { less, strict })
}

/// Integer intervals have closed ends, as in the paper's table I.
fn step_int(interval: Interval<Integer>) -> Interval<Integer> {
    let (low, high) = interval.ends();
    let end = |end: Option<Integer>| end.map_or(Bound::Unbounded, Bound::Included);
    Interval { low: end(low), high: end(high) }
}

/// One argument of a chain of comparisons.
fn chain<T: Ord + Clone>(
    relation: Relation,
    values: &[T],
    i: usize,
    truth: bool,
    tidy: impl Fn(Interval<T>) -> Interval<T>,
) -> Option<(Interval<T>, bool)> {
    let left = i.checked_sub(1).map(|j| &values[j]);
    let right = values.get(i + 1);
    if truth {
        let mut interval = Interval::ALL;
        for side in
            [left.map(|v| relation.flipped().side(v)), right.map(|v| relation.side(v))].into_iter().flatten()
        {
            if side.low != Bound::Unbounded {
                interval.low = side.low;
            }
            if side.high != Bound::Unbounded {
                interval.high = side.high;
            }
        }
        return Some((tidy(interval), true));
    }
    let elsewhere =
        (1..values.len()).any(|j| j != i && j != i + 1 && !relation.holds(&values[j - 1], &values[j]));
    if elsewhere {
        return Some((Interval::ALL, true));
    }
    // It is this argument that breaks the chain, with one of its neighbours.
    let broken = relation.negated();
    match (left, right) {
        (None, Some(right)) => Some((tidy(broken.side(right)), true)),
        (Some(left), None) => Some((tidy(broken.flipped().side(left)), true)),
        (Some(left), Some(_)) if !relation.holds(left, &values[i]) => {
            Some((tidy(broken.flipped().side(left)), false))
        }
        (Some(_), Some(right)) if !relation.holds(&values[i], right) => {
            Some((tidy(broken.side(right)), false))
        }
        _ => None,
    }
}

fn map<T>(interval: &Interval<T>, flip: bool, change: impl Fn(&T) -> T) -> Interval<T> {
    let end = |bound: &Bound<T>| match bound {
        Bound::Unbounded => Bound::Unbounded,
        Bound::Included(end) => Bound::Included(change(end)),
        Bound::Excluded(end) => Bound::Excluded(change(end)),
    };
    let (low, high) = (end(&interval.low), end(&interval.high));
    if flip { Interval { low: high, high: low } } else { Interval { low, high } }
}

fn int(node: &Node<'_>, op: Op, i: usize, set: &Interval<Integer>) -> Option<Image> {
    let exact = |interval| wrap(Some((interval, true)), Constraint::Int);
    match op {
        Op::IntNeg => exact(map(set, true, |end| -end.clone())),
        Op::IntAdd => {
            let others = node.sum.as_ref()?.as_int()? - node.int(i)?;
            exact(map(set, false, |end| end - &others))
        }
        Op::IntSub => {
            let rest = (1..node.len())
                .filter(|j| *j != i)
                .try_fold(Integer::ZERO, |sum, j| Some(&sum + node.int(j)?))?;
            if i == 0 {
                return exact(map(set, false, |end| end + &rest));
            }
            let from = node.int(0)? - &rest;
            exact(map(set, true, |end| &from - end))
        }
        Op::IntMul => {
            let factor = (0..node.len())
                .filter(|j| *j != i)
                .try_fold(Integer::ONE, |sum, j| Some(&sum * node.int(j)?))?;
            let (low, high) = set.ends();
            match factor.signum() {
                0 => Some(Exact(Constraint::Any)),
                sign => {
                    let (low, high) = if sign > 0 { (low, high) } else { (high, low) };
                    exact(Interval {
                        low: rounded_end(low, &factor, Rational::ceil)?,
                        high: rounded_end(high, &factor, Rational::floor)?,
                    })
                }
            }
        }
        Op::IntDiv if i == 0 && node.len() == 2 => {
            let divisor = node.int(1)?;
            if divisor.is_zero() {
                return None;
            }
            let (low, high) = set.ends();
            let (low, high) = if divisor.signum() > 0 { (low, high) } else { (high, low) };
            let last = &divisor.abs() - &Integer::ONE;
            exact(Interval {
                low: low.map_or(Bound::Unbounded, |low| Bound::Included(&low * divisor)),
                high: high.map_or(Bound::Unbounded, |high| Bound::Included(&(&high * divisor) + &last)),
            })
        }
        Op::IntDiv if i == 1 && node.len() == 2 => int_divisor(node, set),
        Op::IntMod if node.len() == 2 => remainder(node, i, set),
        Op::IntAbs => {
            let (low, high) = set.ends();
            match (low.filter(|low| low.signum() > 0), high) {
                (None, None) => Some(Exact(Constraint::Any)),
                (None, Some(high)) => exact(Interval::closed(-high.clone(), high)),
                (Some(_), _) if !node.int(i)?.is_negative() => Some(Part(Constraint::Int(set.clone()))),
                (Some(_), _) => Some(Part(Constraint::Int(map(set, true, |end| -end.clone())))),
            }
        }
        // The floor of a real.
        Op::ToInt => {
            let (low, high) = set.ends();
            let interval = Interval {
                low: low.map_or(Bound::Unbounded, |low| Bound::Included(Rational::from(low))),
                high: high
                    .map_or(Bound::Unbounded, |high| Bound::Excluded(Rational::from(&high + &Integer::ONE))),
            };
            wrap(Some((interval, true)), Constraint::Real)
        }
        _ => None,
    }
}

fn rounded_end(
    end: Option<Integer>,
    factor: &Integer,
    round: fn(&Rational) -> Integer,
) -> Option<Bound<Integer>> {
    match end {
        None => Some(Bound::Unbounded),
        Some(end) => Some(Bound::Included(round(&Rational::new(end, factor.clone())?))),
    }
}

/// Divisors of the present sign: the quotient is monotone in them.
fn int_divisor(node: &Node<'_>, set: &Interval<Integer>) -> Option<Image> {
    let (number, divisor) = (node.int(0)?, node.int(1)?);
    if divisor.is_zero() {
        return None;
    }
    // A divisor of the other sign has the opposite quotient.
    let turned = divisor.is_negative();
    let set = if turned { map(set, true, |end| -end.clone()) } else { set.clone() };
    let (low, high) = set.ends();
    let (least, most) = if number.is_negative() {
        // Quotients are -c for c = ceil(-number / divisor).
        let number = -number.clone();
        let up = |by: &Integer| Some(Rational::new(number.clone(), by.clone())?.ceil());
        let least = match low {
            Some(low) => Some(up(&-low)?),
            None => None,
        };
        let most = match high.map(|high| &-high - &Integer::ONE).filter(|before| before.signum() > 0) {
            Some(before) => Some(&up(&before)? - &Integer::ONE),
            None => None,
        };
        (least, most)
    } else {
        let least = match high {
            Some(high) => Some(&number.div_euclid(&(&high + &Integer::ONE))? + &Integer::ONE),
            None => None,
        };
        let most = match low.filter(|low| low.signum() > 0) {
            Some(low) => Some(number.div_euclid(&low)?),
            None => None,
        };
        (least, most)
    };
    let least = least.filter(|least| least.signum() > 0).unwrap_or(Integer::ONE);
    let interval =
        Interval { low: Bound::Included(least), high: most.map_or(Bound::Unbounded, Bound::Included) };
    let interval = if turned { map(&interval, true, |end| -end.clone()) } else { interval };
    interval.contains(divisor).then_some(Part(Constraint::Int(interval)))
}

fn remainder(node: &Node<'_>, i: usize, set: &Interval<Integer>) -> Option<Image> {
    let (number, divisor) = (node.int(0)?, node.int(1)?);
    let remainder = number.rem_euclid(divisor)?;
    let size = divisor.abs();
    if i == 0 {
        // The numbers of the present period.
        let (low, high) = set.ends();
        let last = &size - &Integer::ONE;
        let low = low.unwrap_or(Integer::ZERO).max(Integer::ZERO);
        let high = high.unwrap_or_else(|| last.clone()).min(last.clone());
        if low.is_zero() && high == last {
            return Some(Exact(Constraint::Any));
        }
        let base = number - &remainder;
        return Some(Part(Constraint::Int(Interval::closed(&base + &low, &base + &high))));
    }
    // A number that is not negative is its own remainder by all greater divisors.
    if remainder != *number {
        return None;
    }
    let next = number + &Integer::ONE;
    Some(Part(Constraint::Int(if divisor.is_negative() {
        Interval { low: Bound::Unbounded, high: Bound::Included(-next) }
    } else {
        Interval { low: Bound::Included(next), high: Bound::Unbounded }
    })))
}

/// Divisors of the present sign.
fn real_divisor(node: &Node<'_>, set: &Interval<Rational>) -> Option<Image> {
    let (number, divisor) = (node.rational(0)?, node.rational(1)?);
    if divisor.is_zero() {
        return None;
    }
    // With everything positive the quotient falls while the divisor grows.
    let turned = number.is_negative() != divisor.is_negative();
    let set = if turned && !number.is_zero() { map(set, true, |end| -end) } else { set.clone() };
    let size = if number.is_negative() { -number } else { number.clone() };
    let through =
        |end: &Rational| end.recip().filter(|inverse| !inverse.is_negative()).map(|inverse| &size * &inverse);
    let end = |bound: &Bound<Rational>| match bound {
        Bound::Unbounded => None,
        Bound::Included(end) => through(end).map(Bound::Included),
        Bound::Excluded(end) => through(end).map(Bound::Excluded),
    };
    let nothing = Bound::Excluded(Rational::ZERO);
    let interval = if size.is_zero() {
        Interval { low: nothing, high: Bound::Unbounded }
    } else {
        Interval { low: end(&set.high).unwrap_or(nothing), high: end(&set.low).unwrap_or(Bound::Unbounded) }
    };
    let interval = if divisor.is_negative() { map(&interval, true, |end| -end) } else { interval };
    interval.contains(divisor).then_some(Part(Constraint::Real(interval)))
}

fn real(node: &Node<'_>, op: Op, i: usize, set: &Interval<Rational>) -> Option<Image> {
    let exact = |interval| wrap(Some((interval, true)), Constraint::Real);
    match op {
        Op::RealNeg => exact(map(set, true, |end| -end)),
        Op::RealAdd => {
            let others = node.sum.as_ref()?.as_rational()? - node.rational(i)?;
            exact(map(set, false, |end| end - &others))
        }
        Op::RealSub => {
            let rest = (1..node.len())
                .filter(|j| *j != i)
                .try_fold(Rational::ZERO, |sum, j| Some(&sum + node.rational(j)?))?;
            if i == 0 {
                return exact(map(set, false, |end| end + &rest));
            }
            let from = node.rational(0)? - &rest;
            exact(map(set, true, |end| &from - end))
        }
        Op::RealMul => {
            let factor = (0..node.len())
                .filter(|j| *j != i)
                .try_fold(Rational::ONE, |product, j| Some(&product * node.rational(j)?))?;
            let Some(inverse) = factor.recip() else { return Some(Exact(Constraint::Any)) };
            exact(map(set, inverse.is_negative(), |end| end * &inverse))
        }
        Op::RealDiv if i == 0 => {
            let divisor =
                (1..node.len()).try_fold(Rational::ONE, |product, j| Some(&product * node.rational(j)?))?;
            if divisor.is_zero() {
                return None;
            }
            exact(map(set, divisor.is_negative(), |end| end * &divisor))
        }
        Op::RealDiv if i == 1 && node.len() == 2 => real_divisor(node, set),
        Op::RealAbs => {
            let positive = match &set.low {
                Bound::Unbounded => false,
                Bound::Included(low) => low.signum() > 0,
                Bound::Excluded(low) => low.signum() >= 0,
            };
            if positive {
                let negative = node.rational(i)?.is_negative();
                let part = if negative { map(set, true, |end| -end) } else { set.clone() };
                return Some(Part(Constraint::Real(part)));
            }
            let mirrored = map(set, true, |end| -end);
            exact(Interval { low: mirrored.low, high: set.high.clone() })
        }
        Op::ToReal => {
            let low = match &set.low {
                Bound::Unbounded => Bound::Unbounded,
                Bound::Included(low) => Bound::Included(low.ceil()),
                Bound::Excluded(low) => Bound::Included(&low.floor() + &Integer::ONE),
            };
            let high = match &set.high {
                Bound::Unbounded => Bound::Unbounded,
                Bound::Included(high) => Bound::Included(high.floor()),
                Bound::Excluded(high) => Bound::Included(&high.ceil() - &Integer::ONE),
            };
            wrap(Some((Interval { low, high }, true)), Constraint::Int)
        }
        _ => None,
    }
}
