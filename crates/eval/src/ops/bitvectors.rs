//! Bit-vectors. Division by zero is total in the standard; Z3's inner operators leave it open.

use smtlib::{Head, Indices, Op};

use super::Node;
use super::args::{bool, bv, int};
use crate::bv::{BitVector, MAX_WIDTH};
use crate::evaluate::{Computation, Fault};
use crate::unknown::{Budget, Reason};
use crate::value::Value;

pub fn unary(args: &[Value], apply: impl Fn(&BitVector) -> BitVector) -> Result<Value, Reason> {
    Ok(Value::BitVector(apply(bv(&args[0])?)))
}

/// Left-associative.
#[inline]
pub fn fold(args: &[Value], combine: impl Fn(&BitVector, &BitVector) -> BitVector) -> Result<Value, Reason> {
    if let [a, b] = args {
        return Ok(Value::BitVector(combine(bv(a)?, bv(b)?)));
    }
    let (first, rest) = args.split_first().ok_or(Reason::Opaque)?;
    let mut result = bv(first)?.clone();
    for arg in rest {
        result = combine(&result, bv(arg)?);
    }
    Ok(Value::BitVector(result))
}

pub fn test(args: &[Value], holds: impl Fn(&BitVector) -> bool) -> Result<Value, Reason> {
    Ok(Value::Bool(holds(bv(&args[0])?)))
}

#[inline]
pub fn relate(args: &[Value], holds: impl Fn(&BitVector, &BitVector) -> bool) -> Result<Value, Reason> {
    Ok(Value::Bool(holds(bv(&args[0])?, bv(&args[1])?)))
}

pub fn concat(args: &[Value]) -> Result<Value, Reason> {
    let (first, rest) = args.split_first().ok_or(Reason::Opaque)?;
    let mut result = bv(first)?.clone();
    for arg in rest {
        result = result.concat(bv(arg)?).ok_or(Reason::Budget(Budget::Width))?;
    }
    Ok(Value::BitVector(result))
}

/// Operators with one number as index, some of which make wide vectors.
pub fn indexed(
    run: &Computation,
    node: Node,
    args: &[Value],
    apply: impl Fn(&BitVector, u32) -> Option<BitVector>,
) -> Result<Value, Reason> {
    let number = run.store.index_number(node.indices, 0).ok_or(Reason::Opaque)?;
    apply(bv(&args[0])?, number).map(Value::BitVector).ok_or(Reason::Budget(Budget::Width))
}

pub fn extract(run: &Computation, node: Node, args: &[Value]) -> Result<Value, Reason> {
    let high = run.store.index_number(node.indices, 0).ok_or(Reason::Opaque)?;
    let low = run.store.index_number(node.indices, 1).ok_or(Reason::Opaque)?;
    Ok(Value::BitVector(bv(&args[0])?.extract(high, low)))
}

pub fn from_int(run: &Computation, node: Node, args: &[Value]) -> Result<Value, Reason> {
    let width = run.store.index_number(node.indices, 0).ok_or(Reason::Opaque)?;
    if !(1..=MAX_WIDTH).contains(&width) {
        return Err(Reason::Budget(Budget::Width));
    }
    Ok(Value::BitVector(BitVector::from_integer(width, int(&args[0])?)))
}

pub fn bit(run: &Computation, node: Node, args: &[Value]) -> Result<Value, Reason> {
    let place = run.store.index_number(node.indices, 0).ok_or(Reason::Opaque)?;
    Ok(Value::Bool(bv(&args[0])?.bit(place)))
}

/// Z3's `mkbv`: the first argument is the lowest bit.
pub fn from_bools(args: &[Value]) -> Result<Value, Reason> {
    let mut bits = String::with_capacity(args.len() + 2);
    bits.push_str("#b");
    for arg in args.iter().rev() {
        bits.push(if *bool(arg)? { '1' } else { '0' });
    }
    bits.parse().map(Value::BitVector).map_err(|_| Reason::Budget(Budget::Width))
}

pub fn ite(args: &[Value]) -> Result<Value, Reason> {
    Ok(args[if bv(&args[0])?.is_zero() { 2 } else { 1 }].clone())
}

/// Z3's division operators whose value at zero is a function of the dividend of its own.
pub fn inner_division(
    run: &mut Computation,
    node: Node,
    args: &[Value],
    at_zero: Op,
    apply: impl Fn(&BitVector, &BitVector) -> BitVector,
) -> Result<Value, Fault> {
    let (dividend, divisor) = (bv(&args[0])?, bv(&args[1])?);
    if divisor.is_zero() {
        return run.open_case(Head::Op(at_zero, Indices::NONE), node.term, 0, &args[..1]);
    }
    Ok(Value::BitVector(apply(dividend, divisor)))
}
