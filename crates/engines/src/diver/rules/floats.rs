//! Floating point: comparisons, classes, sign changes, and what rounding keeps in order.

use std::ops::Bound;

use eval::Value;
use eval::fp::{Extremum, Float, RoundingMode};
use smtlib::Op;

use super::{Exact, Image, Node, Part};
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
        (FpAbs, Constraint::Float { high: high @ (Bound::Included(_) | Bound::Excluded(_)), low, nan }) => {
            // All values that are small enough; a lower bound holds for the present sign alone.
            if matches!(low, Bound::Unbounded) {
                return Some(Exact(Constraint::Float { low: negated(high), high: high.clone(), nan: *nan }));
            }
            None
        }
        (FpAdd | FpSub | FpMul | FpDiv | FpMin | FpMax | FpSqrt | FpRoundToIntegral, _) => {
            monotone(node, op, i, set)
        }
        _ => None,
    }
}

/// Correctly rounded operations keep the order of finite arguments, or turn it round: what lies between the present value
/// and another one that leads into the set leads there too.
fn monotone(node: &Node<'_>, op: Op, i: usize, set: &Constraint) -> Option<Image> {
    match set {
        Constraint::Float { .. } => {}
        // Zeros of both signs are in one place of the order.
        Constraint::Only(Value::Float(value)) if !value.is_zero() && !value.is_nan() => {}
        _ => return None,
    }
    let present = float(node.value(i)?).filter(|present| is_finite(present))?;
    let inside = |value: &Float| {
        let result = apply(node, op, i, value)?;
        (set.contains(&Value::Float(result)) == Some(true)).then(|| value.clone())
    };
    inside(present)?;
    let format = present.format();
    // The divisor keeps its sign: there is a gap at zero.
    let (least, greatest) = match (op == Op::FpDiv && i == 2, present.is_negative()) {
        (false, _) => (Float::max_finite(format, true), Float::max_finite(format, false)),
        (true, true) => (Float::max_finite(format, true), Float::min_subnormal(format, true)),
        (true, false) => (Float::min_subnormal(format, false), Float::max_finite(format, false)),
    };
    let one = Float::from_integer(format, RoundingMode::Rne, &1.into());
    let steps = [one.clone(), one.neg(), Float::zero(format, false)];
    let farther = |end: Float, above: bool| {
        let steps = steps.iter().filter(|step| {
            if above { present.lt(step) && step.lt(&end) } else { step.lt(present) && end.lt(step) }
        });
        inside(&end).or_else(|| steps.filter_map(&inside).next())
    };
    let end = |found: Option<Float>| Bound::Included(found.unwrap_or_else(|| present.clone()));
    let (low, high) = (end(farther(least, false)), end(farther(greatest, true)));
    Some(Part(Constraint::Float { low, high, nan: false }))
}

fn float(value: &Value) -> Option<&Float> {
    match value {
        Value::Float(float) => Some(float),
        _ => None,
    }
}

fn is_finite(float: &Float) -> bool {
    !float.is_nan() && !float.is_infinite()
}

/// The operation with another value for one argument; nothing where an argument is infinite or no number, or the result
/// hangs on the sign of a zero.
fn apply(node: &Node<'_>, op: Op, i: usize, new: &Float) -> Option<Float> {
    let mode = || match node.value(0)? {
        Value::RoundingMode(mode) => Some(*mode),
        _ => None,
    };
    let arg = |j: usize| {
        let value = if j == i { new } else { float(node.value(j)?)? };
        is_finite(value).then_some(value)
    };
    let extremum = |found: Extremum| match found {
        Extremum::Value(value) => Some(value),
        Extremum::EitherZero => None,
    };
    match op {
        Op::FpAdd => Some(arg(1)?.add(mode()?, arg(2)?)),
        Op::FpSub => Some(arg(1)?.sub(mode()?, arg(2)?)),
        Op::FpMul => Some(arg(1)?.mul(mode()?, arg(2)?)),
        Op::FpDiv => {
            let divisor = arg(2)?;
            if divisor.is_zero() { None } else { Some(arg(1)?.div(mode()?, divisor)) }
        }
        Op::FpMin => extremum(arg(0)?.min(arg(1)?)),
        Op::FpMax => extremum(arg(0)?.max(arg(1)?)),
        Op::FpSqrt => Some(arg(1)?).filter(|arg| !arg.is_negative()).map(|arg| Some(arg.sqrt(mode()?)))?,
        Op::FpRoundToIntegral => Some(arg(1)?.round_to_integral(mode()?)),
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
