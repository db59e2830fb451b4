//! Real functions without exact values. Where solvers differ about ranges or poles the answer is unknown.

use std::cmp::Ordering;
use std::sync::Arc;

use super::args::real;
use super::reals::{compare, enclosed_value};
use crate::algebraic::Real;
use crate::computable::Computable;
use crate::enclosure::Function;
use crate::evaluate::computable;
use crate::rational::Rational;
use crate::unknown::{Budget, Reason};
use crate::value::Value;

pub fn apply(args: &[Value], function: Function) -> Result<Value, Reason> {
    let argument = computable(&args[0]).ok_or(Reason::Opaque)?;
    made(Computable::Apply(function, argument))
}

/// A number that an enclosure shows to exist; exact if the enclosure is a point.
fn made(number: Computable) -> Result<Value, Reason> {
    if !number.is_small() {
        return Err(Reason::Budget(Budget::NumberSize));
    }
    for bits in [64, 256, 1024] {
        if let Some(bounds) = number.enclose(bits) {
            if bounds.low() == bounds.high() {
                return Ok(Value::Real(Real::Rational(bounds.low().clone())));
            }
            return enclosed_value(number);
        }
    }
    // Outside its domain, or too near its edge to tell.
    Err(Reason::Unspecified)
}

pub fn pi() -> Value {
    Value::Computable(Arc::new(Computable::Pi))
}

pub fn euler() -> Result<Value, Reason> {
    made(Computable::Apply(Function::Exp, Arc::new(Computable::Exact(Real::Rational(Rational::ONE)))))
}

/// The root, exactly where the number is algebraic; open for negative numbers.
pub fn sqrt(args: &[Value]) -> Result<Value, Reason> {
    if let Value::Computable(_) = &args[0] {
        return apply(args, Function::Sqrt);
    }
    let argument = real(&args[0])?;
    if argument.signum() < 0 {
        return Err(Reason::Unspecified);
    }
    match argument.nth_root(2) {
        Ok(Some(root)) => Ok(Value::Real(root)),
        Ok(None) => Err(Reason::Unspecified),
        Err(_) => apply(args, Function::Sqrt),
    }
}

/// The arc cotangent of negative numbers has two customary ranges.
pub fn arccot(args: &[Value]) -> Result<Value, Reason> {
    if compare(&args[0], &Value::real(0))? == Ordering::Less {
        return Err(Reason::Disputed);
    }
    apply(args, Function::Acot)
}

/// `atan2 y x`: the angle of a point.
pub fn arctan2(args: &[Value]) -> Result<Value, Reason> {
    let zero = Value::real(0);
    let (vertical, horizontal) = (compare(&args[0], &zero)?, compare(&args[1], &zero)?);
    let (y, x) = (computable(&args[0]).ok_or(Reason::Opaque)?, computable(&args[1]).ok_or(Reason::Opaque)?);
    let angle = || Computable::Apply(Function::Atan, Arc::new(Computable::Quotient(y.clone(), x.clone())));
    let pi = || Arc::new(Computable::Pi);
    let half = || Arc::new(Computable::Exact(Real::Rational(Rational::from(2))));
    let number = match (horizontal, vertical) {
        (Ordering::Greater, _) => angle(),
        (Ordering::Less, Ordering::Less) => {
            Computable::Sum(Arc::new(angle()), Arc::new(Computable::Negation(pi())))
        }
        (Ordering::Less, _) => Computable::Sum(Arc::new(angle()), pi()),
        (Ordering::Equal, Ordering::Greater) => Computable::Quotient(pi(), half()),
        (Ordering::Equal, Ordering::Less) => {
            Computable::Negation(Arc::new(Computable::Quotient(pi(), half())))
        }
        (Ordering::Equal, Ordering::Equal) => return Err(Reason::Disputed),
    };
    made(number)
}
