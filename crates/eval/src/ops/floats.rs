//! Floating point.

use smtlib::{Op, SortKind};

use super::Node;
use super::args::{bv, float, int, mode, real};
use crate::algebraic::Real;
use crate::bv::MAX_WIDTH;
use crate::evaluate::{Computation, Fault, computable};
use crate::fp::{Extremum, Float, Format, NoRational, RoundingMode};
use crate::unknown::{Budget, Reason};
use crate::value::Value;

pub fn unary(args: &[Value], apply: impl Fn(&Float) -> Float) -> Result<Value, Reason> {
    Ok(Value::Float(apply(float(&args[0])?)))
}

pub fn rounded1(args: &[Value], apply: impl Fn(&Float, RoundingMode) -> Float) -> Result<Value, Reason> {
    Ok(Value::Float(apply(float(&args[1])?, *mode(&args[0])?)))
}

pub fn rounded2(
    args: &[Value],
    apply: impl Fn(&Float, RoundingMode, &Float) -> Float,
) -> Result<Value, Reason> {
    Ok(Value::Float(apply(float(&args[1])?, *mode(&args[0])?, float(&args[2])?)))
}

pub fn fma(args: &[Value]) -> Result<Value, Reason> {
    let rounding = *mode(&args[0])?;
    Ok(Value::Float(float(&args[1])?.fma(rounding, float(&args[2])?, float(&args[3])?)))
}

pub fn rem(args: &[Value]) -> Result<Value, Reason> {
    Ok(Value::Float(float(&args[0])?.rem(float(&args[1])?)))
}

pub fn test(args: &[Value], holds: impl Fn(&Float) -> bool) -> Result<Value, Reason> {
    Ok(Value::Bool(holds(float(&args[0])?)))
}

/// `fp.min` and `fp.max`: either of two zeros of different sign may come out.
pub fn extremum(
    run: &mut Computation,
    node: Node,
    args: &[Value],
    apply: impl Fn(&Float, &Float) -> Extremum,
) -> Result<Value, Fault> {
    match apply(float(&args[0])?, float(&args[1])?) {
        Extremum::Value(value) => Ok(Value::Float(value)),
        Extremum::EitherZero => {
            let choice = args[1].clone();
            run.open_case_or(run.store.head(node.term), node.term, 0, args, |_| Some(choice))
        }
    }
}

/// The format of the node's own sort.
fn format(run: &Computation, node: Node) -> Result<Format, Reason> {
    match run.store.sort_kind(run.store.sort_of(node.term)) {
        SortKind::Float(eb, sb) => Format::new(*eb, *sb).map_err(|_| Reason::Budget(Budget::Width)),
        _ => Err(Reason::Opaque),
    }
}

pub fn special(run: &Computation, node: Node, make: impl Fn(Format) -> Float) -> Result<Value, Reason> {
    Ok(Value::Float(make(format(run, node)?)))
}

pub fn from_fields(args: &[Value]) -> Result<Value, Reason> {
    let value = Float::from_triple(bv(&args[0])?, bv(&args[1])?, bv(&args[2])?);
    value.map(Value::Float).map_err(|_| Reason::Budget(Budget::Width))
}

pub fn from_bits(run: &Computation, node: Node, args: &[Value]) -> Result<Value, Reason> {
    Ok(Value::Float(Float::from_bv(format(run, node)?, bv(&args[0])?)))
}

pub fn from_float(run: &Computation, node: Node, args: &[Value]) -> Result<Value, Reason> {
    Ok(Value::Float(float(&args[1])?.to_format(*mode(&args[0])?, format(run, node)?)))
}

pub fn from_signed(run: &Computation, node: Node, args: &[Value]) -> Result<Value, Reason> {
    Ok(Value::Float(Float::from_signed_bv(format(run, node)?, *mode(&args[0])?, bv(&args[1])?)))
}

pub fn from_unsigned(run: &Computation, node: Node, args: &[Value]) -> Result<Value, Reason> {
    Ok(Value::Float(Float::from_unsigned_bv(format(run, node)?, *mode(&args[0])?, bv(&args[1])?)))
}

pub fn from_int(run: &Computation, node: Node, args: &[Value]) -> Result<Value, Reason> {
    Ok(Value::Float(Float::from_integer(format(run, node)?, *mode(&args[0])?, int(&args[1])?)))
}

pub fn from_real(run: &Computation, node: Node, args: &[Value]) -> Result<Value, Reason> {
    rounded_real(format(run, node)?, *mode(&args[0])?, &args[1]).map(Value::Float)
}

/// A number that is not rational is rounded once both ends of an enclosure round alike.
fn rounded_real(format: Format, mode: RoundingMode, value: &Value) -> Result<Float, Reason> {
    if let Value::Real(Real::Rational(value)) = value {
        return Ok(Float::from_rational(format, mode, value));
    }
    let number = computable(value).ok_or(Reason::Opaque)?;
    for bits in [128, 512, 2048] {
        if let Some(bounds) = number.enclose(bits) {
            let low = Float::from_rational(format, mode, bounds.low());
            if low == Float::from_rational(format, mode, bounds.high()) {
                return Ok(low);
            }
        }
    }
    Err(Reason::InseparableReals)
}

/// CVC4's conversion without a rounding mode, where none is needed.
pub fn from_bare_real(run: &Computation, node: Node, args: &[Value]) -> Result<Value, Reason> {
    let format = format(run, node)?;
    let up = rounded_real(format, RoundingMode::Rtp, &args[0])?;
    let down = rounded_real(format, RoundingMode::Rtn, &args[0])?;
    if up == down { Ok(Value::Float(up)) } else { Err(Reason::Disputed) }
}

/// Z3's conversion of a significand and a binary exponent.
pub fn from_scaled(
    run: &Computation,
    node: Node,
    args: &[Value],
    significand: usize,
    exponent: usize,
) -> Result<Value, Reason> {
    let Real::Rational(value) = real(&args[significand])? else {
        return Err(Reason::InseparableReals);
    };
    let exponent = int(&args[exponent])?;
    let limit = 1i64 << 61;
    let clamped = exponent.to_i64().unwrap_or(if exponent.is_negative() { -limit } else { limit });
    let float = Float::from_scaled_rational(format(run, node)?, *mode(&args[0])?, value, clamped);
    Ok(Value::Float(float))
}

/// `fp.to_ubv` and `fp.to_sbv`; open for NaN, infinities and values out of range.
pub fn to_bits(run: &mut Computation, node: Node, args: &[Value], signed: bool) -> Result<Value, Fault> {
    let width = run.store.index_number(node.indices, 0).ok_or(Reason::Opaque)?;
    if width > MAX_WIDTH {
        return Err(Reason::Budget(Budget::Width).into());
    }
    let (rounding, value) = (*mode(&args[0])?, float(&args[1])?);
    let bits = if signed { value.to_sbv(rounding, width) } else { value.to_ubv(rounding, width) };
    match bits {
        Some(bits) => Ok(Value::BitVector(bits)),
        None => run.open_case(run.store.head(node.term), node.term, 1, args),
    }
}

pub fn to_real(run: &mut Computation, node: Node, args: &[Value]) -> Result<Value, Fault> {
    match float(&args[0])?.to_rational() {
        Ok(value) => Ok(value.into()),
        Err(NoRational::NotFinite) => run.open_case(run.store.head(node.term), node.term, 0, args),
        Err(NoRational::TooLarge { .. }) => Err(Reason::Budget(Budget::NumberSize).into()),
    }
}

/// Z3's `fp.to_ieee_bv`; open for NaN, whose encoding is one of many.
pub fn to_ieee(run: &mut Computation, node: Node, args: &[Value]) -> Result<Value, Fault> {
    let value = float(&args[0])?;
    match value.to_ieee_bv() {
        Some(bits) => Ok(Value::BitVector(bits)),
        None => {
            let format = value.format();
            let bits = crate::bv::BitVector::from_ubig(format.width(), Float::customary_nan_bits(format));
            run.open_case_or(run.store.head(node.term), node.term, 0, args, |_| Some(Value::BitVector(bits)))
        }
    }
}

/// The rounding mode constants.
pub fn rounding_mode(op: Op) -> Value {
    Value::RoundingMode(match op {
        Op::RoundNearestTiesToAway => RoundingMode::Rna,
        Op::RoundTowardPositive => RoundingMode::Rtp,
        Op::RoundTowardNegative => RoundingMode::Rtn,
        Op::RoundTowardZero => RoundingMode::Rtz,
        _ => RoundingMode::Rne,
    })
}
