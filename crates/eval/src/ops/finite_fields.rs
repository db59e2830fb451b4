//! Finite fields.

use super::args::field;
use crate::finite_field::FieldElement;
use crate::unknown::Reason;
use crate::value::Value;

pub fn fold(
    args: &[Value],
    combine: impl Fn(&FieldElement, &FieldElement) -> FieldElement,
) -> Result<Value, Reason> {
    let (first, rest) = args.split_first().ok_or(Reason::Opaque)?;
    let mut result = field(first)?.clone();
    for arg in rest {
        result = combine(&result, field(arg)?);
    }
    Ok(Value::Field(result))
}

pub fn negate(args: &[Value]) -> Result<Value, Reason> {
    Ok(Value::Field(field(&args[0])?.negated()))
}

pub fn bitsum(args: &[Value]) -> Result<Value, Reason> {
    let elements = args.iter().map(|arg| field(arg).cloned()).collect::<Result<Vec<_>, Reason>>()?;
    FieldElement::bitsum(&elements).map(Value::Field).ok_or(Reason::Opaque)
}
