//! Equality of values whose forms do not show it: languages, maps given by closures, functions.

use std::sync::Arc;

use smtlib::{Sort, SortKind, Term};

use super::{Computation, Fault};
use crate::computable::Computable;
use crate::unknown::{Budget, Reason};
use crate::value::{Domain, Function, Otherwise, Table, Value};

impl Computation<'_> {
    /// Are these values of a sort the same? The term is blamed where functions have to be applied.
    #[inline]
    pub(crate) fn equal(&mut self, term: Term, sort: Sort, a: &Value, b: &Value) -> Result<bool, Fault> {
        match a.equal(b) {
            Some(answer) => Ok(answer),
            None => self.equal_hidden(term, sort, a, b),
        }
    }

    fn equal_hidden(&mut self, term: Term, sort: Sort, a: &Value, b: &Value) -> Result<bool, Fault> {
        let store = self.store;
        match (a, b) {
            (Value::Regex(a), Value::Regex(b)) => {
                let answer = self.evaluator.arena.is_equal(*a, *b);
                Ok(answer.map_err(|_| Reason::Budget(Budget::Regex))?)
            }
            (Value::Real(_) | Value::Computable(_), _) => {
                let order = match (computable(a), computable(b)) {
                    (Some(a), Some(b)) => a.compare(&b),
                    _ => None,
                };
                Ok(order.ok_or(Reason::InseparableReals)?.is_eq())
            }
            (Value::Array(a), Value::Array(b)) => {
                let SortKind::Array(_, element) = store.sort_kind(sort) else {
                    return Err(Reason::UndecidedEquality.into());
                };
                self.equal_tables(term, *element, a, b)
            }
            (Value::Function(a), Value::Function(b)) => self.equal_functions(term, sort, a, b),
            (Value::Seq(a), Value::Seq(b)) => {
                let SortKind::Seq(element) = store.sort_kind(sort) else {
                    return Err(Reason::UndecidedEquality.into());
                };
                let pairs = a.iter().zip(b.iter()).map(|(a, b)| (*element, a, b)).collect();
                self.equal_all(term, pairs)
            }
            (Value::Tuple(a), Value::Tuple(b)) => {
                let SortKind::Tuple(sorts) = store.sort_kind(sort) else {
                    return Err(Reason::UndecidedEquality.into());
                };
                let pairs = sorts.iter().zip(a.iter().zip(b.iter())).map(|(sort, (a, b))| (*sort, a, b));
                self.equal_all(term, pairs.collect())
            }
            (Value::Nullable(Some(a)), Value::Nullable(Some(b))) => match store.sort_kind(sort) {
                SortKind::Nullable(element) => self.equal(term, *element, a, b),
                _ => Err(Reason::UndecidedEquality.into()),
            },
            (Value::Datatype(c, a), Value::Datatype(_, b)) => match store.sort_kind(sort) {
                SortKind::Datatype(datatype, args) if args.is_empty() => {
                    let fields = &store.datatype(*datatype).constructors[usize::from(*c)].fields;
                    let pairs = fields.iter().zip(a.iter().zip(b.iter())).map(|(f, (a, b))| (f.1, a, b));
                    self.equal_all(term, pairs.collect())
                }
                _ => Err(Reason::UndecidedEquality.into()),
            },
            _ => Err(Reason::UndecidedEquality.into()),
        }
    }

    /// Equality of all pairs: one decided difference is enough.
    fn equal_all(&mut self, term: Term, pairs: Vec<(Sort, &Value, &Value)>) -> Result<bool, Fault> {
        let mut fault = None;
        for (sort, a, b) in pairs {
            match self.equal(term, sort, a, b) {
                Ok(true) => {}
                Ok(false) => return Ok(false),
                Err(other) => fault = Some(other),
            }
        }
        fault.map_or(Ok(true), Err)
    }

    /// Maps are compared at every index that either lists, and then in the rest of their domain.
    fn equal_tables(&mut self, term: Term, element: Sort, a: &Table, b: &Table) -> Result<bool, Fault> {
        let mut keys: Vec<&Value> = a.entries().iter().chain(b.entries()).map(|(key, _)| key).collect();
        keys.sort_unstable();
        keys.dedup();
        let mut fault = None;
        for key in &keys {
            let (left, right) = (self.select(a, key)?, self.select(b, key)?);
            match self.equal(term, element, &left, &right) {
                Ok(true) => {}
                Ok(false) => return Ok(false),
                Err(other) => fault = Some(other),
            }
        }
        let covered = match a.domain() {
            Domain::Listed(all) => keys.len() >= all.len(),
            Domain::Large(size) => keys.len() as u64 >= *size,
            Domain::Unbounded => false,
        };
        if !covered {
            let rest = match (a.otherwise(), b.otherwise()) {
                (Otherwise::Value(a), Otherwise::Value(b)) => self.equal(term, element, a, b),
                (Otherwise::Closure(a), Otherwise::Closure(b)) if a == b => Ok(true),
                _ => Err(Reason::UndecidedEquality.into()),
            };
            match rest {
                Ok(true) => {}
                Ok(false) => return Ok(false),
                Err(other) => fault = Some(other),
            }
        }
        fault.map_or(Ok(true), Err)
    }

    fn equal_functions(
        &mut self,
        term: Term,
        sort: Sort,
        a: &Arc<Function>,
        b: &Arc<Function>,
    ) -> Result<bool, Fault> {
        let SortKind::Fun(params, result) = self.store.sort_kind(sort) else {
            return Err(Reason::UndecidedEquality.into());
        };
        let limit = self.evaluator.limits.candidates;
        if let Some(rows) = self.sorts().combinations(params, limit) {
            let (a, b) = (Value::Function(a.clone()), Value::Function(b.clone()));
            let mut fault = None;
            for row in rows {
                let (left, right) =
                    (self.apply_function(term, &a, &row)?, self.apply_function(term, &b, &row)?);
                match self.equal(term, *result, &left, &right) {
                    Ok(true) => {}
                    Ok(false) => return Ok(false),
                    Err(other) => fault = Some(other),
                }
            }
            return fault.map_or(Ok(true), Err);
        }
        match (&**a, &**b) {
            (Function::Table { table: a, .. }, Function::Table { table: b, .. })
                if matches!(self.sorts().domain_of(params), Domain::Unbounded) =>
            {
                self.equal_tables(term, *result, a, b)
            }
            _ => Err(Reason::UndecidedEquality.into()),
        }
    }
}

/// A real in the form that can be enclosed.
pub(crate) fn computable(value: &Value) -> Option<Arc<Computable>> {
    match value {
        Value::Real(value) => Some(Arc::new(Computable::Exact(value.clone()))),
        Value::Computable(value) => Some(value.clone()),
        _ => None,
    }
}
