//! Names of open cases: which operator a definition in a model speaks of, and how a witness names it.

use smtlib::theory::{Bindings, SortPattern, table};
use smtlib::{Head, Index, Indices, Op, Sort, Store};

/// May a model define this name to fix an open case?
pub(super) fn is_operator(name: &str) -> bool {
    bare(name).is_some_and(|(name, _)| table().named(name).iter().any(|op| op.row().partial))
}

/// The operator with its indices that a definition of this name and signature speaks of.
pub(super) fn operator(store: &mut Store, name: &str, params: &[Sort], result: Sort) -> Option<Head> {
    let (bare, numbers) = bare(name)?;
    let op = table().named(bare).iter().copied().find(|op| fits(store, *op, &numbers, params, result))?;
    let indices: Vec<Index> = numbers.into_iter().map(Index::Number).collect();
    Some(Head::Op(op, store.indices(&indices)))
}

/// The name of an open case in a witness.
pub(super) fn name(store: &Store, op: Op, indices: Indices) -> String {
    let mut text = op.name().to_owned();
    let list = store.index_list(indices);
    if !list.is_empty() {
        for index in list {
            if let Index::Number(number) = index {
                text.push_str(&format!(" {number}"));
            }
        }
        text = format!("(_ {text})");
    }
    text
}

/// `fp.to_ubv` and 8 of `(_ fp.to_ubv 8)`.
fn bare(name: &str) -> Option<(&str, Vec<u32>)> {
    match name.strip_prefix("(_ ").and_then(|rest| rest.strip_suffix(')')) {
        None => Some((name, Vec::new())),
        Some(inner) => {
            let (name, numbers) = inner.split_once(' ')?;
            let numbers = numbers.split(' ').map(str::parse).collect::<Result<_, _>>().ok()?;
            Some((name, numbers))
        }
    }
}

fn fits(store: &Store, op: Op, numbers: &[u32], params: &[Sort], result: Sort) -> bool {
    let row = op.row();
    let mut bindings = Bindings::default();
    if !row.partial || row.indices.len() != numbers.len() || (!row.special && row.args.len() != params.len())
    {
        return false;
    }
    for (slot, number) in row.indices.iter().zip(numbers) {
        bindings.numbers[usize::from(*slot)] = Some(*number);
    }
    row.args.iter().zip(params).all(|(pattern, sort)| pattern.matches(store, *sort, &mut bindings))
        && row.result.matches(store, result, &mut bindings)
}

/// The sorts of arguments and result of an operator, from the sort that tells its instances apart.
pub(super) fn signature(store: &mut Store, op: Op, indices: Indices, of: Sort) -> Option<(Vec<Sort>, Sort)> {
    let row = op.row();
    let numbers: Vec<Option<u32>> = (0..row.indices.len()).map(|i| store.index_number(indices, i)).collect();
    let place = distinguishing(op);
    let mut bindings = Bindings::default();
    for (slot, number) in row.indices.iter().zip(numbers) {
        bindings.numbers[usize::from(*slot)] = Some(number?);
    }
    if !row.args.get(place)?.matches(store, of, &mut bindings) {
        return None;
    }
    let params =
        row.args.iter().map(|pattern| pattern.instantiate(store, &bindings)).collect::<Option<Vec<_>>>()?;
    Some((params, row.result.instantiate(store, &bindings)?))
}

/// The argument whose sort tells instances of an operator apart: the first whose sort varies.
pub(super) fn distinguishing(op: Op) -> usize {
    let varies = |pattern: &SortPattern| !matches!(pattern, SortPattern::Fixed(_));
    op.row().args.iter().position(varies).unwrap_or(0)
}
