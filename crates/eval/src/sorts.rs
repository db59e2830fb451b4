//! Sorts as sets of values: how many there are, all of them, one of them.

use std::sync::Arc;

use smtlib::{Datatype, Sort, SortKind, Store, Symbol};

use crate::bv::{BitVector, MAX_WIDTH};
use crate::finite_field::FieldElement;
use crate::fp::{Float, Format, RoundingMode};
use crate::integer::Integer;
use crate::model::Model;
use crate::string::Str;
use crate::value::{Domain, Function, Table, Value};

/// Sorts with at most this many elements are listed when maps over them are made canonical.
const LISTED: u64 = 4096;

/// Sorts seen through a model, which knows the universes of declared sorts.
#[derive(Clone, Copy)]
pub struct Sorts<'a> {
    pub store: &'a Store,
    pub model: &'a Model,
}

/// The arguments of the parametric datatypes around a sort.
#[derive(Clone, Copy)]
pub(crate) struct Scope<'a> {
    params: &'a [Symbol],
    args: &'a [Sort],
    outer: Option<&'a Scope<'a>>,
}

/// A sort together with the scope its parameters are looked up in.
pub(crate) type Scoped<'a> = (Sort, Option<&'a Scope<'a>>);

impl<'a> Sorts<'a> {
    pub fn new(store: &'a Store, model: &'a Model) -> Sorts<'a> {
        Sorts { store, model }
    }

    /// The number of elements, unless it is infinite or does not fit.
    pub fn cardinality(self, sort: Sort) -> Option<u64> {
        self.count((sort, None), &mut Vec::new())
    }

    /// The indices of maps over this sort.
    pub fn domain(self, sort: Sort) -> Domain {
        self.domain_of(&[sort])
    }

    /// The indices of maps over tuples of these sorts.
    pub(crate) fn domain_of(self, sorts: &[Sort]) -> Domain {
        let size = sorts.iter().try_fold(1u64, |size, sort| size.checked_mul(self.cardinality(*sort)?));
        match size {
            None => Domain::Unbounded,
            Some(size) if size > LISTED => Domain::Large(size),
            Some(size) => match self.combinations(sorts, LISTED as usize) {
                None => Domain::Large(size),
                Some(rows) => {
                    let mut keys: Vec<Value> = rows.map(|row| Function::key(&row)).collect();
                    keys.sort_unstable();
                    Domain::Listed(keys.into())
                }
            },
        }
    }

    pub(crate) fn domain_in(self, scoped: Scoped<'_>) -> Domain {
        match self.resolve(scoped) {
            (index, None) => self.domain(index),
            // Inside a parametric datatype the index sort need not be one of the store's.
            inner => self.count(inner, &mut Vec::new()).map_or(Domain::Unbounded, Domain::Large),
        }
    }

    /// All elements, ascending, if there are at most `limit`.
    pub fn enumerate(self, sort: Sort, limit: usize) -> Option<Vec<Value>> {
        self.list((sort, None), limit)
    }

    /// All lists of elements of these sorts, if there are at most `limit`.
    pub fn combinations(self, sorts: &[Sort], limit: usize) -> Option<Rows> {
        // No list is made if there are too many of them.
        self.listed(sorts, limit)?;
        let lists = sorts.iter().map(|sort| self.list((*sort, None), limit)).collect::<Option<Vec<_>>>()?;
        Rows::new(lists, limit)
    }

    /// How many values have to be listed for [`combinations`](Self::combinations), if there are at most `limit` of these.
    pub(crate) fn listed(self, sorts: &[Sort], limit: usize) -> Option<u64> {
        let mut rows = 1u64;
        let mut listed = 0u64;
        for sort in sorts {
            let size = self.cardinality(*sort)?;
            rows = rows.checked_mul(size)?;
            listed = listed.checked_add(size)?;
        }
        (rows <= limit as u64).then_some(listed)
    }

    /// A value of the sort, the same one every time: zero, the empty string, the first constructor that ends.
    /// `None` for sorts without values here: languages, functions and opaque sorts.
    pub fn default_value(self, sort: Sort) -> Option<Value> {
        self.default_in((sort, None), &mut Vec::new())
    }

    /// A sort parameter replaced by what it stands for.
    pub(crate) fn resolve<'s>(self, scoped: Scoped<'s>) -> Scoped<'s> {
        let (mut sort, mut scope) = scoped;
        while let (SortKind::Param(name), Some(inner)) = (self.store.sort_kind(sort), scope) {
            match inner.params.iter().position(|param| param == name) {
                Some(place) => (sort, scope) = (inner.args[place], inner.outer),
                None => break,
            }
        }
        (sort, scope)
    }

    /// Calls `each` for every constructor with the scoped sorts of its fields, until it answers.
    pub(crate) fn constructors<T>(
        self,
        datatype: Datatype,
        args: &[Sort],
        outer: Option<&Scope<'_>>,
        mut each: impl FnMut(u16, &[Scoped<'_>]) -> Option<T>,
    ) -> Option<T> {
        let decl = self.store.datatype(datatype);
        let scope = Scope { params: &decl.params, args, outer };
        for (number, constructor) in decl.constructors.iter().enumerate() {
            let fields: Vec<Scoped<'_>> =
                constructor.fields.iter().map(|(_, sort)| (*sort, Some(&scope))).collect();
            if let Some(answer) = each(number as u16, &fields) {
                return Some(answer);
            }
        }
        None
    }

    fn count(self, scoped: Scoped<'_>, open: &mut Vec<Datatype>) -> Option<u64> {
        let (sort, scope) = self.resolve(scoped);
        let mut inner = |sort: &Sort| self.count((*sort, scope), open);
        match self.store.sort_kind(sort) {
            SortKind::Bool => Some(2),
            SortKind::RoundingMode => Some(5),
            SortKind::BitVec(width) => 1u64.checked_shl(*width),
            SortKind::Float(eb, sb) => {
                let patterns = 1u64.checked_shl(eb.checked_add(*sb)?)?;
                let nans = 2 * ((1u64 << (sb - 1)) - 1);
                Some(patterns - nans + 1)
            }
            SortKind::FiniteField(order) => u64::try_from(&**order).ok(),
            SortKind::Set(element) => 1u64.checked_shl(u32::try_from(inner(element)?).ok()?),
            SortKind::Nullable(element) => inner(element)?.checked_add(1),
            SortKind::Tuple(parts) => {
                parts.iter().try_fold(1u64, |product, part| product.checked_mul(inner(part)?))
            }
            SortKind::Array(index, element) => {
                let values = inner(element)?;
                if values == 1 { Some(1) } else { power(values, inner(index)?) }
            }
            SortKind::Fun(params, result) => {
                let values = inner(result)?;
                if values == 1 {
                    return Some(1);
                }
                let arguments =
                    params.iter().try_fold(1u64, |product, part| product.checked_mul(inner(part)?))?;
                power(values, arguments)
            }
            SortKind::Declared(..) => {
                let universe = self.model.universe(sort).filter(|universe| universe.is_closed())?;
                Some(universe.len() as u64)
            }
            SortKind::Datatype(datatype, args) => {
                // A datatype that contains itself has infinitely many values.
                if open.contains(datatype) {
                    return None;
                }
                open.push(*datatype);
                let mut sum = Some(0u64);
                self.constructors(*datatype, args, scope, |_, fields| {
                    let rows = fields
                        .iter()
                        .try_fold(1u64, |product, field| product.checked_mul(self.count(*field, open)?));
                    sum = sum.and_then(|sum| sum.checked_add(rows?));
                    None::<()>
                });
                open.pop();
                sum
            }
            SortKind::Int
            | SortKind::Real
            | SortKind::String
            | SortKind::RegLan
            | SortKind::Seq(_)
            | SortKind::Bag(_)
            | SortKind::Param(_)
            | SortKind::Opaque(_) => None,
        }
    }

    fn list(self, scoped: Scoped<'_>, limit: usize) -> Option<Vec<Value>> {
        if self.count(scoped, &mut Vec::new())? > limit as u64 {
            return None;
        }
        let (sort, scope) = self.resolve(scoped);
        let inner = |sort: &Sort| self.list((*sort, scope), limit);
        let mut values: Vec<Value> = match self.store.sort_kind(sort) {
            SortKind::Bool => vec![Value::FALSE, Value::TRUE],
            SortKind::RoundingMode => RoundingMode::ALL.into_iter().map(Value::RoundingMode).collect(),
            SortKind::BitVec(width) => {
                (0..1u128 << width).map(|bits| Value::BitVector(BitVector::new(*width, bits))).collect()
            }
            SortKind::Float(eb, sb) => {
                let format = Format::new(*eb, *sb).ok()?;
                (0..1u64 << (eb + sb))
                    .map(|bits| Value::Float(Float::from_ieee_bits(format, &bits.into())))
                    .collect()
            }
            SortKind::FiniteField(order) => {
                let modulus = Arc::new(Integer::from((**order).clone()));
                let size = u64::try_from(&**order).ok()?;
                (0..size)
                    .map(|n| FieldElement::new(&Integer::from(n), modulus.clone()).map(Value::Field))
                    .collect::<Option<Vec<_>>>()?
            }
            SortKind::Set(element) => {
                let elements = inner(element)?;
                (0..1u64 << elements.len())
                    .map(|bits| {
                        let chosen = elements.iter().enumerate().filter(|(i, _)| bits >> i & 1 == 1);
                        Value::set(chosen.map(|(_, element)| element.clone()).collect())
                    })
                    .collect::<Option<Vec<_>>>()?
            }
            SortKind::Nullable(element) => {
                let some = inner(element)?.into_iter().map(|value| Value::Nullable(Some(Arc::new(value))));
                std::iter::once(Value::Nullable(None)).chain(some).collect()
            }
            SortKind::Tuple(parts) => {
                let lists = parts.iter().map(inner).collect::<Option<Vec<_>>>()?;
                Rows::new(lists, limit)?.map(Value::tuple).collect()
            }
            SortKind::Array(index, element) => {
                let elements = inner(element)?;
                if elements.len() == 1 {
                    let table = Table::constant(elements[0].clone(), Domain::Unbounded);
                    vec![Value::Array(Arc::new(table))]
                } else {
                    let indices = inner(index)?;
                    let domain = Domain::Listed(indices.clone().into());
                    let lists = vec![elements.clone(); indices.len()];
                    Rows::new(lists, limit)?
                        .map(|row| {
                            let entries = indices.iter().cloned().zip(row).collect();
                            let table = Table::new(entries, elements[0].clone(), domain.clone())?;
                            Some(Value::Array(Arc::new(table)))
                        })
                        .collect::<Option<Vec<_>>>()?
                }
            }
            SortKind::Fun(params, result) => {
                let results = inner(result)?;
                let lists = params.iter().map(inner).collect::<Option<Vec<_>>>()?;
                let keys: Vec<Value> = Rows::new(lists, limit)?.map(|row| Function::key(&row)).collect();
                Rows::new(vec![results.clone(); keys.len()], limit)?
                    .map(|row| {
                        let entries = keys.iter().cloned().zip(row).collect();
                        let table = Table::new(entries, results[0].clone(), Domain::Unbounded)?;
                        let arity = params.len() as u32;
                        Some(Value::Function(Arc::new(Function::Table { arity, table })))
                    })
                    .collect::<Option<Vec<_>>>()?
            }
            SortKind::Declared(..) => {
                let size = self.model.universe(sort)?.len() as u32;
                (0..size).map(Value::Element).collect()
            }
            SortKind::Datatype(datatype, args) => {
                let mut values = Vec::new();
                let failed = self.constructors(*datatype, args, scope, |number, fields| {
                    let lists =
                        fields.iter().map(|field| self.list(*field, limit)).collect::<Option<Vec<_>>>();
                    match lists.and_then(|lists| Rows::new(lists, limit)) {
                        Some(rows) => {
                            values.extend(rows.map(|row| Value::Datatype(number, row.into())));
                            None
                        }
                        None => Some(()),
                    }
                });
                if failed.is_some() {
                    return None;
                }
                values
            }
            _ => return None,
        };
        values.sort_unstable();
        values.dedup();
        Some(values)
    }

    pub(crate) fn default_in(self, scoped: Scoped<'_>, open: &mut Vec<Datatype>) -> Option<Value> {
        let (sort, scope) = self.resolve(scoped);
        Some(match self.store.sort_kind(sort) {
            SortKind::Bool => Value::FALSE,
            SortKind::Int => Value::Int(Integer::ZERO),
            SortKind::Real => Value::real(0),
            SortKind::String => Value::Str(Str::EMPTY),
            SortKind::RoundingMode => Value::RoundingMode(RoundingMode::Rne),
            SortKind::BitVec(width) if (1..=MAX_WIDTH).contains(width) => {
                Value::BitVector(BitVector::zero(*width))
            }
            SortKind::Float(eb, sb) => Value::Float(Float::zero(Format::new(*eb, *sb).ok()?, false)),
            SortKind::FiniteField(order) => {
                let modulus = Arc::new(Integer::from((**order).clone()));
                Value::Field(FieldElement::new(&Integer::ZERO, modulus)?)
            }
            SortKind::Seq(_) => Value::Seq(Arc::default()),
            SortKind::Set(_) => Value::Set(Arc::default()),
            SortKind::Bag(_) => Value::Bag(Arc::default()),
            SortKind::Nullable(_) => Value::Nullable(None),
            SortKind::Tuple(parts) => {
                let parts = parts.iter().map(|part| self.default_in((*part, scope), open));
                Value::Tuple(parts.collect::<Option<Vec<_>>>()?.into())
            }
            SortKind::Array(index, element) => {
                let element = self.default_in((*element, scope), open)?;
                let domain = self.domain_in((*index, scope));
                Value::Array(Arc::new(Table::constant(element, domain)))
            }
            SortKind::Declared(..) => Value::Element(0),
            SortKind::Datatype(datatype, args) => {
                if open.contains(datatype) {
                    return None;
                }
                open.push(*datatype);
                let value = self.constructors(*datatype, args, scope, |number, fields| {
                    let fields = fields.iter().map(|field| self.default_in(*field, open));
                    Some(Value::Datatype(number, fields.collect::<Option<Vec<_>>>()?.into()))
                });
                open.pop();
                value?
            }
            _ => return None,
        })
    }
}

/// All ways to take one value of each list, made one after the other: whoever looks for one rarely needs them all.
pub struct Rows {
    lists: Vec<Arc<[Value]>>,
    /// Where the next row takes its values. The last place moves first.
    places: Vec<usize>,
    left: usize,
}

impl Rows {
    /// Nothing if there are more than `limit`.
    pub(crate) fn new<L: Into<Arc<[Value]>>>(
        lists: impl IntoIterator<Item = L>,
        limit: usize,
    ) -> Option<Rows> {
        let lists: Vec<Arc<[Value]>> = lists.into_iter().map(Into::into).collect();
        let left = lists.iter().try_fold(1usize, |size, list| size.checked_mul(list.len()))?;
        (left <= limit).then(|| Rows { places: vec![0; lists.len()], lists, left })
    }
}

impl Iterator for Rows {
    type Item = Vec<Value>;

    fn next(&mut self) -> Option<Vec<Value>> {
        self.left = self.left.checked_sub(1)?;
        let row = self.lists.iter().zip(&self.places).map(|(list, place)| list[*place].clone()).collect();
        for (list, place) in self.lists.iter().zip(&mut self.places).rev() {
            *place += 1;
            if *place < list.len() {
                break;
            }
            *place = 0;
        }
        Some(row)
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        (self.left, Some(self.left))
    }
}

fn power(base: u64, exponent: u64) -> Option<u64> {
    base.checked_pow(u32::try_from(exponent).ok()?)
}
