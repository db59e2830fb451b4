//! Reals: rational and algebraic numbers exactly, transcendental ones by enclosures.

use std::cmp::Ordering;
use std::sync::Arc;

use smtlib::{Head, Indices, Op};

use super::Node;
use super::args::{int, real};
use crate::algebraic::Real;
use crate::computable::Computable;
use crate::evaluate::{Computation, Fault, computable};
use crate::integer::Integer;
use crate::rational::Rational;
use crate::unknown::{Budget, Reason};
use crate::value::Value;

const TOO_HARD: Reason = Reason::Budget(Budget::NumberSize);

fn fold(
    args: &[Value],
    exact: impl Fn(&Real, &Real) -> Option<Real>,
    enclosed: fn(Arc<Computable>, Arc<Computable>) -> Computable,
) -> Result<Value, Reason> {
    let (first, rest) = args.split_first().ok_or(Reason::Opaque)?;
    let mut result = first.clone();
    for arg in rest {
        result = match (&result, arg) {
            (Value::Real(a), Value::Real(b)) => Value::Real(exact(a, b).ok_or(TOO_HARD)?),
            (a, b) => enclosed_value(enclosed(enclosable(a)?, enclosable(b)?))?,
        };
    }
    Ok(result)
}

fn enclosable(value: &Value) -> Result<Arc<Computable>, Reason> {
    computable(value).ok_or(Reason::Opaque)
}

/// A transcendental number, if it is small enough an expression and defined.
pub fn enclosed_value(value: Computable) -> Result<Value, Reason> {
    if !value.is_small() {
        return Err(TOO_HARD);
    }
    Ok(Value::Computable(Arc::new(value)))
}

pub fn add(args: &[Value]) -> Result<Value, Reason> {
    fold(args, |a, b| a.add(b).ok(), Computable::Sum)
}

/// A difference; one argument is the negation.
pub fn sub(args: &[Value]) -> Result<Value, Reason> {
    if let [only] = args {
        return match only {
            Value::Real(value) => Ok(Value::Real(value.neg())),
            _ => enclosed_value(Computable::Negation(enclosable(only)?)),
        };
    }
    fold(args, |a, b| a.sub(b).ok(), |a, b| Computable::Sum(a, Arc::new(Computable::Negation(b))))
}

pub fn mul(args: &[Value]) -> Result<Value, Reason> {
    fold(
        args,
        |a, b| match (a, b) {
            (Real::Rational(x), Real::Rational(y)) => {
                let fits = x.bit_size() + y.bit_size() <= crate::integer::MAX_BITS;
                fits.then(|| Real::Rational(x * y))
            }
            _ => a.mul(b).ok(),
        },
        Computable::Product,
    )
}

/// `/`: left-associative; division by zero is a function of the dividend and the zero.
pub fn div(run: &mut Computation, node: Node, args: &[Value]) -> Result<Value, Fault> {
    let mut quotient = args[0].clone();
    for divisor in &args[1..] {
        quotient = match divided(&quotient, divisor)? {
            Some(value) => value,
            None => {
                let zero = Value::real(0);
                let head = Head::Op(Op::RealDivByZero, Indices::NONE);
                run.open_case(head, node.term, 0, &[quotient, zero])?
            }
        };
    }
    Ok(quotient)
}

/// cvc5's division with `x / 0 = 0`.
pub fn div_total(args: &[Value]) -> Result<Value, Reason> {
    Ok(divided(&args[0], &args[1])?.unwrap_or_else(|| Value::real(0)))
}

fn divided(dividend: &Value, divisor: &Value) -> Result<Option<Value>, Reason> {
    match (dividend, divisor) {
        (Value::Real(a), Value::Real(b)) => Ok(a.checked_div(b).map_err(|_| TOO_HARD)?.map(Value::Real)),
        (a, b) => {
            if compare(b, &Value::real(0))? == Ordering::Equal {
                return Ok(None);
            }
            enclosed_value(Computable::Quotient(enclosable(a)?, enclosable(b)?)).map(Some)
        }
    }
}

/// The order of two reals.
#[inline]
pub fn compare(a: &Value, b: &Value) -> Result<Ordering, Reason> {
    match (a, b) {
        (Value::Real(a), Value::Real(b)) => Ok(a.cmp(b)),
        (a, b) => enclosable(a)?.compare(&*enclosable(b)?).ok_or(Reason::InseparableReals),
    }
}

pub fn chain(args: &[Value], relation: fn(Ordering) -> bool) -> Result<Value, Reason> {
    let mut fault = None;
    for pair in args.windows(2) {
        match compare(&pair[0], &pair[1]) {
            Ok(order) if relation(order) => {}
            Ok(_) => return Ok(Value::FALSE),
            Err(reason) => fault = Some(reason),
        }
    }
    fault.map_or(Ok(Value::TRUE), Err)
}

pub fn to_real(args: &[Value]) -> Result<Value, Reason> {
    Ok(Value::Real(Real::Rational(Rational::from(int(&args[0])?.clone()))))
}

pub fn to_int(args: &[Value]) -> Result<Value, Reason> {
    match &args[0] {
        Value::Computable(value) => floor(value).map(Value::Int),
        exact => Ok(Value::Int(real(exact)?.floor())),
    }
}

/// The floor of a transcendental number, once an enclosure lies between two integers.
fn floor(value: &Computable) -> Result<Integer, Reason> {
    for bits in [64, 256, 1024] {
        if let Some(bounds) = value.enclose(bits)
            && bounds.low().floor() == bounds.high().floor()
        {
            return Ok(bounds.low().floor());
        }
    }
    Err(Reason::InseparableReals)
}

pub fn is_int(args: &[Value]) -> Result<Value, Reason> {
    match &args[0] {
        Value::Computable(value) => {
            let below = floor(value)?;
            let point = Computable::Exact(Real::from(below));
            match value.compare(&point) {
                Some(order) => Ok(Value::Bool(order == Ordering::Equal)),
                None => Err(Reason::InseparableReals),
            }
        }
        exact => Ok(Value::Bool(real(exact)?.is_integer())),
    }
}

pub fn abs(args: &[Value]) -> Result<Value, Reason> {
    match &args[0] {
        Value::Computable(value) => enclosed_value(Computable::Absolute(value.clone())),
        exact => Ok(Value::Real(real(exact)?.abs())),
    }
}

/// `min` and `max` of dReal.
pub fn extremum(args: &[Value], take_first: Ordering) -> Result<Value, Reason> {
    let first = compare(&args[0], &args[1])? == take_first;
    Ok(args[usize::from(!first)].clone())
}

/// Powers where all solvers mean the same number: integer exponents (not 0^0 or 1/0), and roots of numbers that
/// are not negative.
pub fn pow(args: &[Value]) -> Result<Value, Reason> {
    let (base, exponent) = (real(&args[0])?, real(&args[1])?);
    let Real::Rational(exponent) = exponent else { return Err(Reason::Disputed) };
    if base.is_zero() {
        return if exponent.signum() > 0 { Ok(Value::real(0)) } else { Err(Reason::Disputed) };
    }
    if let Some(whole) = exponent.to_integer() {
        return match base.pow(&whole) {
            Ok(Some(value)) => Ok(Value::Real(value)),
            Ok(None) => Err(Reason::Disputed),
            Err(_) => Err(TOO_HARD),
        };
    }
    if base.signum() < 0 {
        return Err(Reason::Disputed);
    }
    let degree = exponent.denominator().to_usize().ok_or(TOO_HARD)?;
    let root = base.nth_root(degree).map_err(|_| TOO_HARD)?.ok_or(Reason::Disputed)?;
    match root.pow(&exponent.numerator()) {
        Ok(Some(value)) => Ok(Value::Real(value)),
        Ok(None) => Err(Reason::Disputed),
        Err(_) => Err(TOO_HARD),
    }
}
