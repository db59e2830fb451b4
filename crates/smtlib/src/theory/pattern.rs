//! Sort patterns of the theory table: what a signature says about sorts and widths.

use crate::sort::{Sort, SortKind};
use crate::store::Store;

/// A sort with variables.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum SortPattern {
    /// A sort without parameters.
    Fixed(Sort),
    /// A sort variable (slot in [`Bindings`]).
    Var(u8),
    BitVec(Expr),
    Float(Expr, Expr),
    /// Any finite field; the slot holds the whole field sort.
    FiniteField(u8),
    Seq(Box<SortPattern>),
    Set(Box<SortPattern>),
    Bag(Box<SortPattern>),
    Nullable(Box<SortPattern>),
    Array(Box<SortPattern>, Box<SortPattern>),
    /// Parameters and result of a function sort.
    Fun(Vec<SortPattern>, Box<SortPattern>),
}

/// A width or index: a polynomial over number slots.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Expr {
    Num(u32),
    Var(u8),
    Add(Box<Expr>, Box<Expr>),
    Sub(Box<Expr>, Box<Expr>),
    Mul(Box<Expr>, Box<Expr>),
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Comparison {
    Less,
    LessEq,
    Equal,
}

/// A side condition on widths and indices, as in `where j<=i`.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Constraint {
    pub left: Expr,
    pub comparison: Comparison,
    pub right: Expr,
}

/// How many different variables of one kind a row may use.
const SLOTS: usize = 6;

/// Values of the sort and number variables of one row.
#[derive(Clone, Copy, Debug, Default)]
pub struct Bindings {
    pub sorts: [Option<Sort>; SLOTS],
    pub numbers: [Option<u32>; SLOTS],
}

impl Expr {
    /// The value, if all variables are bound and it is a natural number in range.
    pub fn value(&self, bindings: &Bindings) -> Option<u32> {
        u32::try_from(self.wide(bindings)?).ok()
    }

    fn wide(&self, bindings: &Bindings) -> Option<i64> {
        match self {
            Expr::Num(n) => Some(i64::from(*n)),
            Expr::Var(slot) => bindings.numbers[usize::from(*slot)].map(i64::from),
            Expr::Add(a, b) => a.wide(bindings)?.checked_add(b.wide(bindings)?),
            Expr::Sub(a, b) => a.wide(bindings)?.checked_sub(b.wide(bindings)?),
            Expr::Mul(a, b) => a.wide(bindings)?.checked_mul(b.wide(bindings)?),
        }
    }

    /// Makes the expression equal `n`: binds a lone variable, compares otherwise. A complex expression over
    /// unbound variables accepts anything: the result sort decides.
    fn unify(&self, n: u32, bindings: &mut Bindings) -> bool {
        match self {
            Expr::Var(slot) => {
                let slot = &mut bindings.numbers[usize::from(*slot)];
                *slot.get_or_insert(n) == n
            }
            other => other.value(bindings).is_none_or(|value| value == n),
        }
    }
}

impl Constraint {
    /// Holds, or cannot be decided because something is unbound.
    pub fn holds(&self, bindings: &Bindings) -> bool {
        match (self.left.wide(bindings), self.right.wide(bindings)) {
            (Some(left), Some(right)) => match self.comparison {
                Comparison::Less => left < right,
                Comparison::LessEq => left <= right,
                Comparison::Equal => left == right,
            },
            _ => true,
        }
    }
}

impl SortPattern {
    /// The constants of rounding modes have a short and a long name in the standard.
    pub(crate) fn is_rounding_mode(&self) -> bool {
        *self == SortPattern::Fixed(Sort::ROUNDING_MODE)
    }

    /// Does `sort` fit the pattern under the bindings made so far? Opaque sorts fit everywhere.
    pub fn matches(&self, store: &Store, sort: Sort, bindings: &mut Bindings) -> bool {
        if let SortPattern::Fixed(expected) = self {
            return *expected == sort || store.is_opaque_sort(sort);
        }
        if let SortPattern::Var(slot) = self {
            let slot = &mut bindings.sorts[usize::from(*slot)];
            return match *slot {
                None => {
                    *slot = Some(sort);
                    true
                }
                Some(bound) if bound == sort => true,
                Some(bound) if store.is_opaque_sort(bound) => {
                    *slot = Some(sort);
                    true
                }
                Some(bound) => store.compatible(bound, sort),
            };
        }
        match (self, store.sort_kind(sort)) {
            (_, SortKind::Opaque(_)) => true,
            (SortPattern::BitVec(width), SortKind::BitVec(n)) => width.unify(*n, bindings),
            (SortPattern::Float(e, s), SortKind::Float(eb, sb)) => {
                e.unify(*eb, bindings) && s.unify(*sb, bindings)
            }
            (SortPattern::FiniteField(slot), SortKind::FiniteField(_)) => {
                *bindings.sorts[usize::from(*slot)].get_or_insert(sort) == sort
            }
            (SortPattern::Seq(p), SortKind::Seq(s))
            | (SortPattern::Set(p), SortKind::Set(s))
            | (SortPattern::Bag(p), SortKind::Bag(s))
            | (SortPattern::Nullable(p), SortKind::Nullable(s)) => p.matches(store, *s, bindings),
            (SortPattern::Array(i, e), SortKind::Array(index, element)) => {
                i.matches(store, *index, bindings) && e.matches(store, *element, bindings)
            }
            (SortPattern::Fun(params, result), SortKind::Fun(sorts, ret)) => {
                params.len() == sorts.len()
                    && params.iter().zip(sorts.iter()).all(|(p, s)| p.matches(store, *s, bindings))
                    && result.matches(store, *ret, bindings)
            }
            _ => false,
        }
    }

    /// The sort the pattern stands for. Unbound sort variables give the opaque sort; `None` when a width is
    /// unbound, zero or out of range.
    pub fn instantiate(&self, store: &mut Store, bindings: &Bindings) -> Option<Sort> {
        Some(match self {
            SortPattern::Fixed(sort) => *sort,
            SortPattern::Var(slot) | SortPattern::FiniteField(slot) => {
                bindings.sorts[usize::from(*slot)].unwrap_or_else(|| store.unknown_sort())
            }
            SortPattern::BitVec(width) => match width.value(bindings)? {
                0 => return None,
                width => store.bitvec(width),
            },
            SortPattern::Float(e, s) => {
                let (e, s) = (e.value(bindings)?, s.value(bindings)?);
                if e < 2 || s < 2 {
                    return None;
                }
                store.float(e, s)
            }
            SortPattern::Seq(p) => {
                let element = p.instantiate(store, bindings)?;
                store.sort(SortKind::Seq(element))
            }
            SortPattern::Set(p) => {
                let element = p.instantiate(store, bindings)?;
                store.sort(SortKind::Set(element))
            }
            SortPattern::Bag(p) => {
                let element = p.instantiate(store, bindings)?;
                store.sort(SortKind::Bag(element))
            }
            SortPattern::Nullable(p) => {
                let element = p.instantiate(store, bindings)?;
                store.sort(SortKind::Nullable(element))
            }
            SortPattern::Array(i, e) => {
                let index = i.instantiate(store, bindings)?;
                let element = e.instantiate(store, bindings)?;
                store.array(index, element)
            }
            SortPattern::Fun(params, result) => {
                let params = params
                    .iter()
                    .map(|param| param.instantiate(store, bindings))
                    .collect::<Option<Vec<_>>>()?;
                let result = result.instantiate(store, bindings)?;
                store.function_sort(&params, result)
            }
        })
    }
}
