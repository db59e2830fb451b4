//! The values of terms: one element of a sort, exactly.
//!
//! Every kind of value is kept in one canonical form, so that `==` on values is identity of elements wherever
//! identity can be seen from the form. Where it cannot (closures, languages, transcendental numbers) the
//! question is [`Value::equal`], which may answer `None`.

mod function;
mod order;
mod table;

use std::fmt;
use std::sync::Arc;

pub use function::{Closure, Function};
pub use table::{Domain, Otherwise, Table};

use crate::algebraic::Real;
use crate::bv::BitVector;
use crate::computable::Computable;
use crate::finite_field::FieldElement;
use crate::fp::{Float, RoundingMode};
use crate::integer::Integer;
use crate::rational::Rational;
use crate::regex::Re;
use crate::string::Str;

/// One element of a sort. Cloning never copies more than a few words.
#[derive(Clone, PartialEq, Eq, Hash)]
pub enum Value {
    Bool(bool),
    Int(Integer),
    Real(Real),
    /// A real known only through enclosures of any precision.
    Computable(Arc<Computable>),
    BitVector(BitVector),
    Float(Float),
    RoundingMode(RoundingMode),
    Str(Str),
    /// A language, as a handle into the evaluator's arena: never part of a model.
    Regex(Re),
    Seq(Arc<[Value]>),
    Array(Arc<Table>),
    /// A constructor by number, with its fields.
    Datatype(u16, Arc<[Value]>),
    /// The empty one is cvc5's unit.
    Tuple(Arc<[Value]>),
    /// Ascending, without repetition.
    Set(Arc<[Value]>),
    /// Ascending elements with positive multiplicities.
    Bag(Arc<[(Value, Integer)]>),
    Field(FieldElement),
    Function(Arc<Function>),
    /// An element of a declared sort, by its number in the model's universe.
    Element(u32),
    Nullable(Option<Arc<Value>>),
}

impl Value {
    pub const TRUE: Value = Value::Bool(true);
    pub const FALSE: Value = Value::Bool(false);

    pub fn int(value: impl Into<Integer>) -> Value {
        Value::Int(value.into())
    }

    pub fn real(value: impl Into<Rational>) -> Value {
        Value::Real(Real::Rational(value.into()))
    }

    pub fn bv(width: u32, value: u128) -> Value {
        Value::BitVector(BitVector::new(width, value))
    }

    pub fn tuple(parts: Vec<Value>) -> Value {
        Value::Tuple(parts.into())
    }

    /// The empty tuple.
    pub fn unit() -> Value {
        Value::Tuple(Arc::default())
    }

    /// The set of the given elements in any order, or `None` if it cannot be told which of them are the same.
    pub fn set(mut elements: Vec<Value>) -> Option<Value> {
        if !elements.iter().all(Value::is_definite) {
            return None;
        }
        elements.sort_unstable();
        elements.dedup();
        Some(Value::Set(elements.into()))
    }

    /// The bag of the given elements; multiplicities add up, and those that are not positive count as zero.
    pub fn bag(mut elements: Vec<(Value, Integer)>) -> Option<Value> {
        if !elements.iter().all(|(element, _)| element.is_definite()) {
            return None;
        }
        elements.retain(|(_, count)| count.signum() > 0);
        elements.sort_unstable_by(|(a, _), (b, _)| a.cmp(b));
        let mut merged: Vec<(Value, Integer)> = Vec::with_capacity(elements.len());
        for (element, count) in elements {
            match merged.last_mut() {
                Some((last, sum)) if *last == element => *sum = &*sum + &count,
                _ => merged.push((element, count)),
            }
        }
        Some(Value::Bag(merged.into()))
    }

    pub fn as_bool(&self) -> Option<bool> {
        match self {
            Value::Bool(value) => Some(*value),
            _ => None,
        }
    }

    pub fn as_int(&self) -> Option<&Integer> {
        match self {
            Value::Int(value) => Some(value),
            _ => None,
        }
    }

    /// A rational value of sort Real.
    pub fn as_rational(&self) -> Option<&Rational> {
        match self {
            Value::Real(value) => value.to_rational(),
            _ => None,
        }
    }

    pub fn as_bv(&self) -> Option<&BitVector> {
        match self {
            Value::BitVector(value) => Some(value),
            _ => None,
        }
    }

    /// Is it one of these? Nothing where an equality cannot be decided and no other decides it.
    pub fn is_among<'v>(&self, values: impl IntoIterator<Item = &'v Value>) -> Option<bool> {
        let mut answer = Some(false);
        for other in values {
            match other.equal(self) {
                Some(true) => return Some(true),
                Some(false) => {}
                None => answer = None,
            }
        }
        answer
    }

    /// A value without parts that means the same in every model; elements of declared sorts do not.
    pub fn is_plain(&self) -> bool {
        use Value::{BitVector, Bool, Field, Float, Int, Real, RoundingMode, Str};
        matches!(
            self,
            Bool(_) | Int(_) | Real(_) | BitVector(_) | Float(_) | RoundingMode(_) | Str(_) | Field(_)
        )
    }

    /// Is identity with any other definite value visible from the form alone?
    pub fn is_definite(&self) -> bool {
        match self {
            Value::Bool(_)
            | Value::Int(_)
            | Value::Real(_)
            | Value::BitVector(_)
            | Value::Float(_)
            | Value::RoundingMode(_)
            | Value::Str(_)
            | Value::Field(_)
            | Value::Element(_)
            | Value::Nullable(None)
            // Their elements are definite by construction.
            | Value::Set(_)
            | Value::Bag(_) => true,
            // Tables of functions do not know their domain, so the same function may have two tables.
            Value::Computable(_) | Value::Regex(_) | Value::Function(_) => false,
            Value::Seq(parts) | Value::Datatype(_, parts) | Value::Tuple(parts) => {
                parts.iter().all(Value::is_definite)
            }
            Value::Array(table) => table.is_definite(),
            Value::Nullable(Some(inner)) => inner.is_definite(),
        }
    }

    /// Are these two values of one sort the same element? `None` when that is undecided from their forms.
    pub fn equal(&self, other: &Value) -> Option<bool> {
        if self == other {
            return Some(true);
        }
        match (self, other) {
            (Value::Seq(a), Value::Seq(b)) | (Value::Tuple(a), Value::Tuple(b)) => equal_parts(a, b),
            (Value::Datatype(c, a), Value::Datatype(d, b)) => {
                if c == d {
                    equal_parts(a, b)
                } else {
                    Some(false)
                }
            }
            (Value::Nullable(Some(a)), Value::Nullable(Some(b))) => a.equal(b),
            (Value::Nullable(_), Value::Nullable(_)) => Some(false),
            _ => (self.is_definite() && other.is_definite()).then_some(false),
        }
    }
}

fn equal_parts(a: &[Value], b: &[Value]) -> Option<bool> {
    if a.len() != b.len() {
        return Some(false);
    }
    let mut all = Some(true);
    for (a, b) in a.iter().zip(b) {
        match a.equal(b) {
            Some(true) => {}
            Some(false) => return Some(false),
            None => all = None,
        }
    }
    all
}

impl From<bool> for Value {
    #[inline]
    fn from(value: bool) -> Value {
        Value::Bool(value)
    }
}

macro_rules! from_kind {
    ($($kind:ident: $inner:ty),* $(,)?) => {
        $(impl From<$inner> for Value {
            #[inline]
            fn from(value: $inner) -> Value {
                Value::$kind(value)
            }
        })*
    };
}

from_kind!(Int: Integer, Real: Real, BitVector: BitVector, Float: Float, RoundingMode: RoundingMode, Str: Str);
from_kind!(Regex: Re, Field: FieldElement);

impl From<Rational> for Value {
    fn from(value: Rational) -> Value {
        Value::Real(Real::Rational(value))
    }
}

impl fmt::Debug for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Value::Bool(value) => write!(f, "{value}"),
            Value::Int(value) => write!(f, "{value}"),
            Value::Real(value) => write!(f, "{value:?}"),
            Value::Computable(value) => write!(f, "{value:?}"),
            Value::BitVector(value) => write!(f, "{value}"),
            Value::Float(value) => write!(f, "{value:?}"),
            Value::RoundingMode(value) => f.write_str(value.symbol()),
            Value::Str(value) => write!(f, "{value:?}"),
            Value::Regex(value) => write!(f, "{value:?}"),
            Value::Seq(parts) => write!(f, "seq{parts:?}"),
            Value::Array(table) => write!(f, "array{table:?}"),
            Value::Datatype(constructor, fields) => write!(f, "#{constructor}{fields:?}"),
            Value::Tuple(parts) => write!(f, "tuple{parts:?}"),
            Value::Set(elements) => write!(f, "set{elements:?}"),
            Value::Bag(elements) => write!(f, "bag{elements:?}"),
            Value::Field(value) => write!(f, "{value}"),
            Value::Function(function) => write!(f, "{function:?}"),
            Value::Element(index) => write!(f, "@{index}"),
            Value::Nullable(None) => f.write_str("null"),
            Value::Nullable(Some(inner)) => write!(f, "some({inner:?})"),
        }
    }
}
