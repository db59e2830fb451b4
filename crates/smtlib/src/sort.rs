//! Sorts: hash-consed in the [`Store`](crate::Store), handled as small ids.

use dashu_int::UBig;

use crate::symbol::Symbol;

/// A sort of the store that made it.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Sort(pub(crate) u32);

impl Sort {
    pub const BOOL: Sort = Sort(0);
    pub const INT: Sort = Sort(1);
    pub const REAL: Sort = Sort(2);
    pub const STRING: Sort = Sort(3);
    pub const REGLAN: Sort = Sort(4);
    pub const ROUNDING_MODE: Sort = Sort(5);
    /// The empty tuple's sort (cvc5's UnitTuple).
    pub const UNIT: Sort = Sort(6);
    /// The sort of terms whose operator is unknown.
    pub(crate) const UNKNOWN: Sort = Sort(7);

    /// A dense number, for side tables.
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

/// A sort declared with `declare-sort`.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct SortDecl(pub(crate) u32);

/// A datatype of the store.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Datatype(pub(crate) u32);

/// What a sort is.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub enum SortKind {
    Bool,
    Int,
    Real,
    String,
    RegLan,
    RoundingMode,
    BitVec(u32),
    /// Exponent and significand widths; the latter counts the hidden bit.
    Float(u32, u32),
    FiniteField(Box<UBig>),
    Seq(Sort),
    Set(Sort),
    Bag(Sort),
    Nullable(Sort),
    Array(Sort, Sort),
    Tuple(Box<[Sort]>),
    /// Parameters and result.
    Fun(Box<[Sort]>, Sort),
    /// A declared sort with its arguments.
    Declared(SortDecl, Box<[Sort]>),
    Datatype(Datatype, Box<[Sort]>),
    /// A sort parameter inside a parametric declaration.
    Param(Symbol),
    /// A sort nobody declared (tolerant mode), or the sort of an opaque term.
    Opaque(Symbol),
}
