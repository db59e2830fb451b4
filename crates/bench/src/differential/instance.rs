//! Ground terms with a given operator on top.

use smtlib::theory::{Arity, Bindings, Expr, Row, SortPattern, Theory};
use smtlib::{Index, Op, Sort, SortKind, Store, Term};

use super::arguments::Arguments;
use super::templates;

/// Float formats from tiny to the usual ones.
const FORMATS: [(u32, u32); 6] = [(2, 3), (3, 5), (5, 11), (8, 24), (11, 53), (4, 4)];
const WIDTHS: [u32; 9] = [1, 2, 3, 4, 8, 16, 33, 64, 65];
const ORDERS: [u32; 4] = [2, 3, 5, 65_537];

/// A term for the attempt of this number, of a sort that can be compared.
pub(super) fn term(store: &mut Store, op: Op, attempt: usize, arguments: &mut Arguments<'_>) -> Option<Term> {
    let term = match templates::of(op) {
        Some(templates) => templates::fill(store, templates, arguments)?,
        None => plain(store, op, attempt, arguments)?,
    };
    if store.sort_of(term) == Sort::REGLAN {
        // Languages are compared through their words.
        let word = arguments.word(store, term)?;
        return store.op(Op::StrInRe, &[word, term]).ok();
    }
    if op.row().theory == Theory::Transcendentals && store.sort_of(term) == Sort::REAL {
        // Irrational values are compared with rational ones.
        let bound = arguments.term(store, Theory::Transcendentals, Sort::REAL)?;
        return store.op(Op::RealLt, &[term, bound]).ok();
    }
    Some(term)
}

fn plain(store: &mut Store, op: Op, attempt: usize, arguments: &mut Arguments<'_>) -> Option<Term> {
    let row = op.row();
    if row.special {
        return None;
    }
    let bindings = (0..50).find_map(|_| bindings(store, row, arguments))?;
    let mut patterns: Vec<&SortPattern> = row.args.iter().collect();
    // Solvers do not agree about three arguments where the standard has two.
    let longer = row.arity != Arity::Fixed && !row.nary_extension && !matches!(op, Op::StrLt | Op::StrLe);
    if longer && arguments.below(4) == 0 {
        patterns.push(row.arg(2)?);
    }
    let sorts =
        patterns.iter().map(|pattern| pattern.instantiate(store, &bindings)).collect::<Option<Vec<_>>>()?;
    let args = arguments.list(store, row.theory, &sorts, attempt)?;
    if let Some(pattern) = &row.qualified {
        let sort = pattern.instantiate(store, &bindings)?;
        return store.qualified(op, sort, &args).ok();
    }
    let indices: Vec<Index> = row
        .indices
        .iter()
        .map(|slot| bindings.numbers[usize::from(*slot)].map(Index::Number))
        .collect::<Option<_>>()?;
    store.indexed(op, &indices, &args).ok()
}

/// Sorts and numbers for the variables of a row, if they satisfy its side conditions.
fn bindings(store: &mut Store, row: &Row, arguments: &mut Arguments<'_>) -> Option<Bindings> {
    let mut bindings = Bindings::default();
    for pattern in row.args.iter().chain([&row.result]).chain(&row.qualified) {
        bind_sorts(store, pattern, &mut bindings, arguments);
    }
    for slot in &row.indices {
        bindings.numbers[usize::from(*slot)].get_or_insert_with(|| arguments.below(9) as u32);
    }
    row.constraints.iter().all(|constraint| constraint.holds(&bindings)).then_some(bindings)
}

fn bind_sorts(
    store: &mut Store,
    pattern: &SortPattern,
    bindings: &mut Bindings,
    arguments: &mut Arguments<'_>,
) {
    match pattern {
        SortPattern::Fixed(_) => {}
        SortPattern::Var(slot) => {
            let small = store.bitvec(4);
            let sorts = [Sort::INT, Sort::INT, Sort::BOOL, small, Sort::STRING, Sort::REAL];
            bindings.sorts[usize::from(*slot)].get_or_insert(*arguments.pick(&sorts));
        }
        SortPattern::BitVec(Expr::Var(slot)) => {
            bindings.numbers[usize::from(*slot)].get_or_insert(*arguments.pick(&WIDTHS));
        }
        SortPattern::BitVec(_) => {}
        SortPattern::Float(exponent, significand) => {
            let (eb, sb) = *arguments.pick(&FORMATS);
            if let Expr::Var(slot) = exponent {
                bindings.numbers[usize::from(*slot)] = Some(eb);
            }
            match significand {
                Expr::Var(slot) => bindings.numbers[usize::from(*slot)] = Some(sb),
                // The trailing significand of `fp`.
                Expr::Add(left, _) => {
                    if let Expr::Var(slot) = **left {
                        bindings.numbers[usize::from(slot)] = Some(sb - 1);
                    }
                }
                _ => {}
            }
        }
        SortPattern::FiniteField(slot) => {
            let order = *arguments.pick(&ORDERS);
            let sort = store.sort(SortKind::FiniteField(Box::new(order.into())));
            bindings.sorts[usize::from(*slot)].get_or_insert(sort);
        }
        SortPattern::Seq(inner)
        | SortPattern::Set(inner)
        | SortPattern::Bag(inner)
        | SortPattern::Nullable(inner) => bind_sorts(store, inner, bindings, arguments),
        SortPattern::Array(index, element) => {
            bind_sorts(store, index, bindings, arguments);
            bind_sorts(store, element, bindings, arguments);
        }
        SortPattern::Fun(params, result) => {
            for param in params {
                bind_sorts(store, param, bindings, arguments);
            }
            bind_sorts(store, result, bindings, arguments);
        }
    }
}
