//! Integers: the standard theory and what Z3 and cvc5 add.

use smtlib::{Head, Indices, Op};

use super::args::int;
use super::{Node, core};
use crate::evaluate::{Computation, Fault};
use crate::integer::{Integer, MAX_BITS};
use crate::unknown::{Budget, Reason};
use crate::value::Value;

pub fn add(args: &[Value]) -> Result<Value, Reason> {
    fold(args, |a, b| Ok(a + b))
}

/// A difference; one argument is the negation.
pub fn sub(args: &[Value]) -> Result<Value, Reason> {
    match args {
        [only] => int(only).map(|value| Value::Int(-value)),
        _ => fold(args, |a, b| Ok(a - b)),
    }
}

pub fn mul(args: &[Value]) -> Result<Value, Reason> {
    fold(args, |a, b| {
        if a.to_i64().is_none() && a.bit_length() + b.bit_length() > MAX_BITS {
            return Err(Reason::Budget(Budget::NumberSize));
        }
        Ok(a * b)
    })
}

fn fold(
    args: &[Value],
    combine: impl Fn(&Integer, &Integer) -> Result<Integer, Reason>,
) -> Result<Value, Reason> {
    if let [a, b] = args {
        return Ok(Value::Int(combine(int(a)?, int(b)?)?));
    }
    let (first, rest) = args.split_first().ok_or(Reason::Opaque)?;
    let mut sum = int(first)?.clone();
    for arg in rest {
        sum = combine(&sum, int(arg)?)?;
    }
    Ok(Value::Int(sum))
}

/// `div`: rounding so that the remainder is not negative (Boute). Left-associative.
pub fn div(run: &mut Computation, node: Node, args: &[Value]) -> Result<Value, Fault> {
    let mut quotient = args[0].clone();
    for divisor in &args[1..] {
        quotient = match int(&quotient)?.div_euclid(int(divisor)?) {
            Some(value) => Value::Int(value),
            None => by_zero(run, node, Op::IntDivByZero, &quotient)?,
        };
    }
    Ok(quotient)
}

pub fn modulo(run: &mut Computation, node: Node, args: &[Value]) -> Result<Value, Fault> {
    match int(&args[0])?.rem_euclid(int(&args[1])?) {
        Some(value) => Ok(Value::Int(value)),
        None => by_zero(run, node, Op::IntModByZero, &args[0]),
    }
}

/// Z3's `rem`: `mod`, negated when the divisor is negative.
pub fn rem(run: &mut Computation, node: Node, args: &[Value]) -> Result<Value, Fault> {
    let divisor = int(&args[1])?;
    match int(&args[0])?.rem_euclid(divisor) {
        Some(value) if divisor.is_negative() => Ok(Value::Int(-value)),
        Some(value) => Ok(Value::Int(value)),
        None => by_zero(run, node, Op::IntRemByZero, &args[0]),
    }
}

/// Division by zero is a function of the dividend and the zero, under Z3's name for it.
fn by_zero(run: &mut Computation, node: Node, op: Op, dividend: &Value) -> Result<Value, Fault> {
    let zero = Value::Int(Integer::ZERO);
    run.open_case(Head::Op(op, Indices::NONE), node.term, 0, &[dividend.clone(), zero])
}

pub fn div_total(args: &[Value]) -> Result<Value, Reason> {
    Ok(Value::Int(int(&args[0])?.div_euclid(int(&args[1])?).unwrap_or(Integer::ZERO)))
}

pub fn mod_total(args: &[Value]) -> Result<Value, Reason> {
    let dividend = int(&args[0])?;
    Ok(Value::Int(dividend.rem_euclid(int(&args[1])?).unwrap_or_else(|| dividend.clone())))
}

pub fn divisible(run: &Computation, node: Node, args: &[Value]) -> Result<Value, Reason> {
    let index = run.store.index_list(node.indices).first().ok_or(Reason::Opaque)?;
    Ok(Value::Bool(int(&args[0])?.is_divisible_by(&core::number(index)?)))
}

/// Powers with an exponent of at least one, or a base that is not zero and the exponent zero. Z3 leaves 0^0 and
/// negative exponents open, cvc5 does not.
pub fn pow(args: &[Value]) -> Result<Value, Reason> {
    let (base, exponent) = (int(&args[0])?, int(&args[1])?);
    if exponent.is_negative() || (exponent.is_zero() && base.is_zero()) {
        return Err(Reason::Disputed);
    }
    base.pow(exponent).map(Value::Int).ok_or(Reason::Budget(Budget::NumberSize))
}

pub fn pow2(args: &[Value]) -> Result<Value, Reason> {
    let exponent = int(&args[0])?;
    if exponent.is_negative() {
        return Ok(Value::Int(Integer::ZERO));
    }
    Integer::new(2).pow(exponent).map(Value::Int).ok_or(Reason::Budget(Budget::NumberSize))
}

/// The integer logarithm of a positive number; open for others.
pub fn log2(args: &[Value]) -> Result<Value, Reason> {
    let argument = int(&args[0])?;
    if argument.signum() <= 0 {
        return Err(Reason::Disputed);
    }
    let log = argument.log2().ok_or(Reason::Disputed)?;
    Ok(Value::int(log as i64))
}

/// Bitwise conjunction of the low `width` bits.
pub fn iand(width: u32, a: &Value, b: &Value) -> Result<Value, Reason> {
    let bits = int(a)?.iand(int(b)?, width as usize);
    bits.map(Value::Int).ok_or(Reason::Budget(Budget::NumberSize))
}

/// cvc5's `piand`, with the width as a term; it is zero for widths that are not positive.
pub fn piand(args: &[Value]) -> Result<Value, Reason> {
    let width = int(&args[0])?;
    if width.signum() <= 0 {
        return Err(Reason::Disputed);
    }
    let width = width.to_i64().and_then(|width| u32::try_from(width).ok());
    iand(width.ok_or(Reason::Budget(Budget::NumberSize))?, &args[1], &args[2])
}
