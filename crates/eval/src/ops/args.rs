//! Arguments of operators by kind. A value of another kind can only come from an opaque part of a script.

use crate::algebraic::Real;
use crate::bv::BitVector;
use crate::finite_field::FieldElement;
use crate::fp::{Float, RoundingMode};
use crate::integer::Integer;
use crate::regex::Re;
use crate::string::Str;
use crate::unknown::Reason;
use crate::value::{Table, Value};

macro_rules! kinds {
    ($($name:ident: $kind:ident => $inner:ty),* $(,)?) => {
        $(#[inline]
        pub fn $name(value: &Value) -> Result<&$inner, Reason> {
            match value {
                Value::$kind(inner) => Ok(inner),
                _ => Err(Reason::Opaque),
            }
        })*
    };
}

kinds! {
    bool: Bool => bool,
    int: Int => Integer,
    bv: BitVector => BitVector,
    float: Float => Float,
    mode: RoundingMode => RoundingMode,
    str: Str => Str,
    regex: Regex => Re,
    seq: Seq => [Value],
    array: Array => Table,
    tuple: Tuple => [Value],
    set: Set => [Value],
    bag: Bag => [(Value, Integer)],
    field: Field => FieldElement,
}

/// A real with an exact form.
#[inline]
pub fn real(value: &Value) -> Result<&Real, Reason> {
    match value {
        Value::Real(inner) => Ok(inner),
        Value::Computable(_) => Err(Reason::InseparableReals),
        _ => Err(Reason::Opaque),
    }
}

/// Every argument stands in a relation to the next.
pub fn chain<T: ?Sized>(
    args: &[Value],
    kind: impl Fn(&Value) -> Result<&T, Reason>,
    relation: impl Fn(&T, &T) -> bool,
) -> Result<Value, Reason> {
    for pair in args.windows(2) {
        if !relation(kind(&pair[0])?, kind(&pair[1])?) {
            return Ok(Value::FALSE);
        }
    }
    Ok(Value::TRUE)
}
