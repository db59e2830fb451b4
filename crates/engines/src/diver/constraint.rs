//! Abstract values: which values may stand at a place so that the formula stays true under the model (the paper's
//! section III-A, there for Bool, Int, Real and String).

use std::ops::Bound;
use std::sync::Arc;

use eval::Value;
use eval::abstraction::Interval;
use eval::algebraic::Real;
use eval::bv::BitVector;
use eval::fp::Float;
use eval::integer::Integer;
use eval::rational::Rational;
use smtlib::{Op, Term};

use super::words::Words;

/// A set of values of one sort.
#[derive(Clone, PartialEq, Debug)]
pub enum Constraint {
    /// Every value.
    Any,
    /// Nothing can be said: a replacement has to be evaluated.
    Unstated,
    Bool(bool),
    Only(Value),
    OneOf(Arc<[Value]>),
    Int(Interval<Integer>),
    Real(Interval<Rational>),
    /// Both ends included.
    Unsigned(BitVector, BitVector),
    Signed(BitVector, BitVector),
    /// The bits of the mask have these values.
    Bits {
        mask: BitVector,
        value: BitVector,
    },
    /// Comparable with the ends by `fp.leq` and `fp.lt`, so a zero stands for both zeros; NaN by the flag.
    Float {
        low: Bound<Float>,
        high: Bound<Float>,
        nan: bool,
    },
    /// What a unary predicate (`fp.isNaN` and its like) holds for.
    Class(Op),
    Words(Words),
    /// Words of a language written as a closed term; the flag says whether it has infinitely many for sure.
    Language(Term, bool),
    /// Arrays with a certain element at an index.
    At(Value, Box<Constraint>),
    /// Datatype values of one constructor.
    Made(u16),
    /// Values of a constructor with a certain field.
    Field(u16, u16, Box<Constraint>),
    Not(Box<Constraint>),
}

/// A constraint, and whether every value outside it makes the formula false.
#[derive(Clone, PartialEq, Debug)]
pub struct Stated {
    pub set: Constraint,
    pub complete: bool,
}

impl Stated {
    pub const ANY: Stated = Stated { set: Constraint::Any, complete: true };
    pub const UNSTATED: Stated = Stated { set: Constraint::Unstated, complete: false };

    pub fn complete(set: Constraint) -> Stated {
        Stated { set, complete: true }
    }

    pub fn partial(set: Constraint) -> Stated {
        Stated { set, complete: false }
    }
}

impl Constraint {
    /// All values but those of the set.
    pub fn complement(self) -> Constraint {
        match self {
            Constraint::Bool(truth) => Constraint::Bool(!truth),
            Constraint::Only(Value::Bool(truth)) => Constraint::Bool(!truth),
            Constraint::Not(inner) => *inner,
            set => Constraint::Not(Box::new(set)),
        }
    }

    /// Exactly one value, in the form the rules compute with.
    pub fn exactly(value: Value) -> Constraint {
        match value {
            Value::Bool(truth) => Constraint::Bool(truth),
            Value::Int(number) => Constraint::Int(Interval::closed(number.clone(), number)),
            Value::Real(Real::Rational(number)) => Constraint::Real(Interval::closed(number.clone(), number)),
            other => Constraint::Only(other),
        }
    }

    /// Is the value in the set? `None` if only evaluating the formula can tell.
    pub fn contains(&self, value: &Value) -> Option<bool> {
        match (self, value) {
            (Constraint::Any, _) => Some(true),
            (Constraint::Bool(truth), Value::Bool(value)) => Some(truth == value),
            (Constraint::Only(only), _) => only.equal(value),
            (Constraint::OneOf(values), _) => value.is_among(values.iter()),
            (Constraint::Int(interval), Value::Int(number)) => Some(interval.contains(number)),
            (Constraint::Real(interval), Value::Real(number)) => Some(contains_real(interval, number)),
            (Constraint::Unsigned(low, high), Value::BitVector(bits)) => {
                Some(bits.unsigned_cmp(low).is_ge() && bits.unsigned_cmp(high).is_le())
            }
            (Constraint::Signed(low, high), Value::BitVector(bits)) => {
                Some(bits.signed_cmp(low).is_ge() && bits.signed_cmp(high).is_le())
            }
            (Constraint::Bits { mask, value }, Value::BitVector(bits)) => Some(bits.and(mask) == *value),
            (Constraint::Float { nan, .. }, Value::Float(float)) if float.is_nan() => Some(*nan),
            (Constraint::Float { low, high, .. }, Value::Float(float)) => {
                let above = match low {
                    Bound::Unbounded => true,
                    Bound::Included(low) => low.leq(float),
                    Bound::Excluded(low) => low.lt(float),
                };
                let below = match high {
                    Bound::Unbounded => true,
                    Bound::Included(high) => float.leq(high),
                    Bound::Excluded(high) => float.lt(high),
                };
                Some(above && below)
            }
            (Constraint::Class(op), Value::Float(float)) => float_class(*op, float),
            (Constraint::Words(words), _) => words.contains(value),
            (Constraint::At(index, element), Value::Array(table)) => element.contains(table.get(index)?),
            (Constraint::Made(constructor), Value::Datatype(number, _)) => Some(constructor == number),
            (Constraint::Field(constructor, field, inner), Value::Datatype(number, fields)) => {
                if constructor == number {
                    inner.contains(fields.get(usize::from(*field))?)
                } else {
                    Some(false)
                }
            }
            (Constraint::Not(inner), _) => inner.contains(value).map(|inside| !inside),
            _ => None,
        }
    }
}

/// The value of a classification predicate.
fn float_class(op: Op, float: &Float) -> Option<bool> {
    Some(match op {
        Op::FpIsNan => float.is_nan(),
        Op::FpIsInfinite => float.is_infinite(),
        Op::FpIsZero => float.is_zero(),
        Op::FpIsNormal => float.is_normal(),
        Op::FpIsSubnormal => float.is_subnormal(),
        Op::FpIsNegative => float.is_negative(),
        Op::FpIsPositive => float.is_positive(),
        _ => return None,
    })
}

fn contains_real(interval: &Interval<Rational>, number: &Real) -> bool {
    if let Real::Rational(number) = number {
        return interval.contains(number);
    }
    let end = |end: &Bound<Rational>| match end {
        Bound::Unbounded => Bound::Unbounded,
        Bound::Included(end) => Bound::Included(Real::Rational(end.clone())),
        Bound::Excluded(end) => Bound::Excluded(Real::Rational(end.clone())),
    };
    Interval { low: end(&interval.low), high: end(&interval.high) }.contains(number)
}
