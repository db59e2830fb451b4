//! Complicate (the paper's section III-B, "adding complexity"): a fresh variable in place of a leaf of the new term, with
//! the constraint that the pre-analysis gives for it.

use eval::{EvaluatedModel, Value};
use generate::Grammar;
use generate::logic::Arithmetic;
use smtlib::theory::Theory;
use smtlib::{Head, Sort, SortKind, Store, Term};

use super::constraint::Constraint;
use super::convert::convert;
use super::places::constraint_at;
use super::score::score;
use super::{Formula, is_readable};
use crate::engine::Bench;

/// Leaves looked at for one fresh variable.
const LEAVES: usize = 3;

/// Changes the formula, whose assertion has `new` at `path`; says what was done, or `None` if nothing can be.
pub(super) fn complicate(
    grammar: &Grammar,
    bench: &mut Bench<'_>,
    evaluated: &mut EvaluatedModel,
    formula: &mut Formula,
    assertion: usize,
    path: &[u32],
    new: Term,
) -> Option<String> {
    let mut leaves = leaves(grammar, bench.store, new);
    bench.rng.shuffle(&mut leaves);
    let root = formula.assertions[assertion];
    // Of a few leaves the one that is bound least: a variable with one value is a constant by another name.
    let mut best: Option<Candidate> = None;
    for (leaf, below) in leaves.into_iter().take(LEAVES) {
        if let Some(candidate) = candidate(grammar, bench, evaluated, root, path, leaf, below)
            && best.as_ref().is_none_or(|best| candidate.score > best.score)
        {
            best = Some(candidate);
        }
    }
    let Candidate { leaf, value, whole, allowed, .. } = best?;
    let sort = bench.store.sort_of(leaf);
    let name = bench.store.fresh_name("fresh");
    let fun = bench.store.declare_fun(name, &[], sort);
    evaluated.add(fun, value);
    let fresh = bench.store.call(fun, &[]).ok()?;
    let constraint = convert(bench.store, &allowed, fresh)?;
    let readable = is_readable(bench.store, constraint, grammar.largest_character());
    if !readable || !in_logic(grammar, bench.store, constraint) {
        return None;
    }
    formula.assertions[assertion] = bench.store.replace_at(root, &whole, fresh).ok()?;
    let bound =
        (allowed != Constraint::Any).then(|| (bench.rng.between(0, formula.assertions.len()), constraint));
    formula.add_fresh(fun, bound);
    Some(format!("a fresh variable of sort {}", bench.store.sort_text(sort)))
}

/// A leaf that a fresh variable may replace.
struct Candidate {
    leaf: Term,
    value: Value,
    /// The way to it from the assertion.
    whole: Vec<u32>,
    allowed: Constraint,
    score: f64,
}

fn candidate(
    grammar: &Grammar,
    bench: &mut Bench<'_>,
    evaluated: &mut EvaluatedModel,
    root: Term,
    path: &[u32],
    leaf: Term,
    below: Vec<u32>,
) -> Option<Candidate> {
    // Values such as pi have no exact notation, and a witness has to be written down.
    let value = evaluated.evaluate(bench.store, leaf).ok().filter(Value::is_definite)?;
    let mut whole: Vec<u32> = path.to_vec();
    whole.extend_from_slice(&below);
    if let Some((last, above)) = whole.split_last() {
        let parent = bench.store.at(root, above)?;
        if !grammar.may_replace(bench.store, parent, *last as usize) {
            return None;
        }
    }
    let allowed = constraint_at(bench.store, evaluated, root, &whole).set;
    // `(assert fresh)` says nothing.
    if matches!(allowed, Constraint::Bool(_)) {
        return None;
    }
    let score = score(&allowed);
    Some(Candidate { leaf, value, whole, allowed, score })
}

/// Variables and constants of the term, outside binders, with the ways to them.
fn leaves(grammar: &Grammar, store: &Store, term: Term) -> Vec<(Term, Vec<u32>)> {
    let mut found = Vec::new();
    let mut stack = vec![(term, Vec::new())];
    while let Some((term, path)) = stack.pop() {
        let args = store.args(term);
        let is_leaf = match store.head(term) {
            Head::Fun(_) | Head::Literal(_) | Head::Constructor(..) | Head::Op(..) => args.is_empty(),
            Head::Bind(..) | Head::Match(_) | Head::Annotated(_) => continue,
            _ => false,
        };
        if is_leaf {
            if is_declarable(grammar, store, store.sort_of(term)) {
                found.push((term, path));
            }
            continue;
        }
        for (child, arg) in args.iter().enumerate() {
            let mut path = path.clone();
            path.push(child as u32);
            stack.push((*arg, path));
        }
    }
    found
}

fn is_declarable(grammar: &Grammar, store: &Store, sort: Sort) -> bool {
    match store.sort_kind(sort) {
        // Bounds alone are no differences.
        SortKind::Int | SortKind::Real => grammar.logic().arithmetic != Arithmetic::Difference,
        SortKind::RegLan | SortKind::Fun(..) | SortKind::Param(_) | SortKind::Opaque(_) => false,
        _ => true,
    }
}

/// Does the formula use only what the logic and the solvers have?
fn in_logic(grammar: &Grammar, store: &Store, formula: Term) -> bool {
    store.subterms(&[formula]).iter().all(|term| match store.head(*term) {
        Head::Op(op, _) if !store.args(*term).is_empty() => {
            let row = op.row();
            matches!(row.theory, Theory::Core | Theory::Floats) || grammar.allows(op)
        }
        _ => true,
    })
}
