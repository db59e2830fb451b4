//! Smaller sorts: widths, formats, integers for reals, simple sorts for others, flat arrays for nested ones.

use rustc_hash::FxHashMap;
use smtlib::{Sort, SortKind, Store};

use super::Pass;
use crate::driver::{Growth, Reduction};
use crate::error::ReduceError;
use crate::retype::retyped;

/// Replaces sorts everywhere at once.
pub struct Sorts;

impl Pass for Sorts {
    fn name(&self) -> &'static str {
        "sorts"
    }

    fn run(&mut self, reduction: &mut Reduction) -> Result<(), ReduceError> {
        loop {
            let choices = choices(reduction);
            let found = reduction.first(choices.len(), Growth::Smaller, &mut |bench, number| {
                retyped(bench, &choices[number])
            })?;
            if found.is_none() || reduction.over() {
                return Ok(());
            }
        }
    }
}

type Replacement = FxHashMap<Sort, Sort>;

/// Sorts of declared symbols and terms with their parts, in order.
fn sorts_of(reduction: &Reduction) -> Vec<Sort> {
    let bench = &reduction.bench;
    let store = &bench.store;
    let mut sorts: Vec<Sort> = bench
        .draft
        .script
        .declared_funs()
        .flat_map(|fun| {
            let decl = store.fun(fun);
            decl.params.iter().copied().chain([decl.result]).collect::<Vec<_>>()
        })
        .collect();
    sorts
        .extend(store.subterms(&bench.draft.script.terms(store)).into_iter().map(|term| store.sort_of(term)));
    let mut next = 0;
    while next < sorts.len() {
        match store.sort_kind(sorts[next]) {
            SortKind::Seq(inner) | SortKind::Set(inner) | SortKind::Bag(inner) => sorts.push(*inner),
            SortKind::Array(index, element) => sorts.extend([*index, *element]),
            _ => {}
        }
        next += 1;
        sorts.dedup();
        if next > 10_000 {
            break;
        }
    }
    sorts.sort_unstable();
    sorts.dedup();
    sorts
}

fn choices(reduction: &mut Reduction) -> Vec<Replacement> {
    let sorts = sorts_of(reduction);
    let store = &mut reduction.bench.store;
    let mut found: Vec<Replacement> = Vec::new();
    let widths: Vec<(Sort, u32)> = sorts
        .iter()
        .filter_map(|sort| match store.sort_kind(*sort) {
            SortKind::BitVec(width) if *width > 1 => Some((*sort, *width)),
            _ => None,
        })
        .collect();
    // All widths in proportion, so that sums of widths still fit.
    for divisor in [8, 4, 2] {
        if widths.iter().any(|(_, width)| *width >= divisor) {
            let all = widths.iter().map(|(sort, width)| (*sort, store.bitvec((*width / divisor).max(1))));
            found.push(all.collect());
        }
    }
    for (sort, width) in &widths {
        let mut smaller = vec![1, 2, *width / 2, *width - 1];
        smaller.dedup();
        for new in smaller.into_iter().filter(|new| new < width && *new > 0) {
            found.push([(*sort, store.bitvec(new))].into_iter().collect());
        }
    }
    for sort in &sorts {
        found.extend(simpler(store, *sort).into_iter().map(|new| [(*sort, new)].into_iter().collect()));
    }
    found
}

/// Simpler sorts for one that is no bit-vector.
fn simpler(store: &mut Store, sort: Sort) -> Vec<Sort> {
    match store.sort_kind(sort).clone() {
        SortKind::Real => vec![Sort::INT],
        SortKind::Float(exponent, significand) => {
            // Those with a name of their own first: they may be larger, but not as text.
            let formats = [(5, 11), (8, 24), (2, 2), (2, 3), (3, 5)];
            let others = formats.into_iter().filter(|format| *format != (exponent, significand));
            others.map(|(e, s)| store.float(e, s)).collect()
        }
        SortKind::Declared(..) | SortKind::Datatype(..) | SortKind::FiniteField(_) => {
            vec![Sort::BOOL, Sort::INT]
        }
        SortKind::Array(index, element) => {
            let mut found = Vec::new();
            if let SortKind::Array(_, inner) = store.sort_kind(element).clone() {
                found.push(store.array(index, inner));
            }
            if index != Sort::INT {
                found.push(store.array(Sort::INT, element));
            }
            if !matches!(store.sort_kind(element), SortKind::Bool | SortKind::Int) {
                found.push(store.array(index, Sort::INT));
            }
            found
        }
        SortKind::Seq(element) if element != Sort::INT => vec![store.sort(SortKind::Seq(Sort::INT))],
        SortKind::Set(element) if element != Sort::INT => vec![store.sort(SortKind::Set(Sort::INT))],
        _ => Vec::new(),
    }
}
