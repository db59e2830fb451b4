//! A total order of values, in agreement with `==`. It means nothing: it makes sets, bags and tables canonical
//! and every run alike.

use std::cmp::Ordering;

use super::Value;

impl Ord for Value {
    fn cmp(&self, other: &Value) -> Ordering {
        match (self, other) {
            (Value::Bool(a), Value::Bool(b)) => a.cmp(b),
            (Value::Int(a), Value::Int(b)) => a.cmp(b),
            (Value::Real(a), Value::Real(b)) => a.cmp(b),
            (Value::Computable(a), Value::Computable(b)) => a.cmp(b),
            (Value::BitVector(a), Value::BitVector(b)) => {
                a.width().cmp(&b.width()).then_with(|| a.unsigned_cmp(b))
            }
            (Value::Float(a), Value::Float(b)) => {
                let key = |x: &crate::fp::Float| (x.format().eb(), x.format().sb(), x.to_fields());
                key(a).cmp(&key(b))
            }
            (Value::RoundingMode(a), Value::RoundingMode(b)) => a.cmp(b),
            (Value::Str(a), Value::Str(b)) => a.cmp(b),
            (Value::Regex(a), Value::Regex(b)) => a.cmp(b),
            (Value::Seq(a), Value::Seq(b))
            | (Value::Tuple(a), Value::Tuple(b))
            | (Value::Set(a), Value::Set(b)) => a.cmp(b),
            (Value::Array(a), Value::Array(b)) => a.cmp(b),
            (Value::Datatype(c, a), Value::Datatype(d, b)) => c.cmp(d).then_with(|| a.cmp(b)),
            (Value::Bag(a), Value::Bag(b)) => a.cmp(b),
            (Value::Field(a), Value::Field(b)) => {
                a.order().cmp(b.order()).then_with(|| a.residue().cmp(b.residue()))
            }
            (Value::Function(a), Value::Function(b)) => a.cmp(b),
            (Value::Element(a), Value::Element(b)) => a.cmp(b),
            (Value::Nullable(a), Value::Nullable(b)) => a.cmp(b),
            _ => self.rank().cmp(&other.rank()),
        }
    }
}

impl PartialOrd for Value {
    fn partial_cmp(&self, other: &Value) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Value {
    /// The place of the kind; values of one sort only differ in kind where a real is not exact.
    fn rank(&self) -> u8 {
        match self {
            Value::Bool(_) => 0,
            Value::Int(_) => 1,
            Value::Real(_) => 2,
            Value::Computable(_) => 3,
            Value::BitVector(_) => 4,
            Value::Float(_) => 5,
            Value::RoundingMode(_) => 6,
            Value::Str(_) => 7,
            Value::Regex(_) => 8,
            Value::Seq(_) => 9,
            Value::Array(_) => 10,
            Value::Datatype(..) => 11,
            Value::Tuple(_) => 12,
            Value::Set(_) => 13,
            Value::Bag(_) => 14,
            Value::Field(_) => 15,
            Value::Function(_) => 16,
            Value::Element(_) => 17,
            Value::Nullable(_) => 18,
        }
    }
}
