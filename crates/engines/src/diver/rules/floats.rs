//! Floating point: comparisons, classes, sign changes.

use std::ops::Bound;

use eval::Value;
use eval::fp::Float;
use smtlib::Op;

use super::{Exact, Image, Node};
use crate::diver::constraint::Constraint;

pub(super) fn preimage(node: &Node<'_>, op: Op, i: usize, set: &Constraint) -> Option<Image> {
    use Op::*;
    match (op, set) {
        (FpLe | FpLt | FpGe | FpGt | FpEq, Constraint::Bool(truth)) => {
            let Value::Float(bound) = node.other(i)? else { return None };
            compare(op, bound.clone(), i, *truth)
        }
        (
            FpIsNormal | FpIsSubnormal | FpIsZero | FpIsInfinite | FpIsNan | FpIsNegative | FpIsPositive,
            Constraint::Bool(truth),
        ) => {
            let class = Constraint::Class(op);
            Some(Exact(if *truth { class } else { class.complement() }))
        }
        (FpNeg, Constraint::Float { low, high, nan }) => {
            Some(Exact(Constraint::Float { low: negated(high), high: negated(low), nan: *nan }))
        }
        (FpNeg, Constraint::Only(Value::Float(value))) => {
            Some(Exact(Constraint::Only(Value::Float(value.neg()))))
        }
        _ => None,
    }
}

fn negated(bound: &Bound<Float>) -> Bound<Float> {
    match bound {
        Bound::Unbounded => Bound::Unbounded,
        Bound::Included(end) => Bound::Included(end.neg()),
        Bound::Excluded(end) => Bound::Excluded(end.neg()),
    }
}

fn compare(op: Op, bound: Float, i: usize, truth: bool) -> Option<Image> {
    if bound.is_nan() {
        // No comparison with NaN holds.
        return (!truth).then_some(Exact(Constraint::Any));
    }
    if op == Op::FpEq {
        let same = Constraint::Float {
            low: Bound::Included(bound.clone()),
            high: Bound::Included(bound),
            nan: false,
        };
        return Some(Exact(if truth { same } else { same.complement() }));
    }
    let mut less = matches!(op, Op::FpLe | Op::FpLt);
    let mut strict = matches!(op, Op::FpLt | Op::FpGt);
    if i == 1 {
        less = !less;
    }
    if !truth {
        (less, strict) = (!less, !strict);
    }
    let end = if strict { Bound::Excluded(bound) } else { Bound::Included(bound) };
    let (low, high) = if less { (Bound::Unbounded, end) } else { (end, Bound::Unbounded) };
    Some(Exact(Constraint::Float { low, high, nan: !truth }))
}
