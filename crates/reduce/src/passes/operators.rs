//! Operators with fewer arguments, and equal wrappers on both sides.

use smtlib::theory::Arity;
use smtlib::{Head, Op, Sort, Store, Term};

use super::Pass;
use crate::driver::Reduction;
use crate::edit::Edit;
use crate::error::ReduceError;

/// Leaves out arguments of operators that take any number, and pulls nested ones of the same kind together.
pub struct Arguments;

impl Pass for Arguments {
    fn name(&self) -> &'static str {
        "arguments"
    }

    fn run(&mut self, reduction: &mut Reduction) -> Result<(), ReduceError> {
        let terms = all_terms(reduction);
        let store = &reduction.bench.store;
        let mut edits = Vec::new();
        for term in &terms {
            if store.args(*term).len() > least(reduction, *term) {
                edits.extend((0..store.args(*term).len()).rev().map(|arg| Edit::DropArg(*term, arg)));
            }
        }
        reduction.edits(edits)?;
        let mut edits = Vec::new();
        for term in all_terms(reduction) {
            if let Some(flat) = flattened(reduction, term) {
                edits.push(Edit::Term(term, flat));
            }
        }
        reduction.edits(edits)?;
        let mut edits = Vec::new();
        for term in all_terms(reduction) {
            edits.extend(plainer(reduction, term).into_iter().map(|plain| Edit::Term(term, plain)));
        }
        reduction.edits_from(edits, 1).map(|_| ())
    }
}

/// `f` on both sides of a relation: without it; and equality for other relations.
pub struct Wrappers;

impl Pass for Wrappers {
    fn name(&self) -> &'static str {
        "wrappers"
    }

    fn is_last_resort(&self) -> bool {
        true
    }

    fn run(&mut self, reduction: &mut Reduction) -> Result<(), ReduceError> {
        let mut edits = Vec::new();
        for term in all_terms(reduction) {
            edits.extend(unwrapped(reduction, term).into_iter().map(|new| Edit::Term(term, new)));
        }
        reduction.edits_from(edits, 1)?;
        let mut edits = Vec::new();
        for term in all_terms(reduction) {
            edits.extend(equated(&mut reduction.bench.store, term).map(|new| Edit::Term(term, new)));
        }
        reduction.edits(edits).map(|_| ())
    }
}

/// All distinct terms of the script, the largest first.
pub fn all_terms(reduction: &Reduction) -> Vec<Term> {
    let bench = &reduction.bench;
    let roots: Vec<Term> = bench.roots().into_iter().map(|(_, _, root)| root).collect();
    let mut terms = bench.store.subterms(&roots);
    terms.sort_by_cached_key(|term| (std::cmp::Reverse(bench.store.tree_size(*term)), *term));
    terms
}

/// The least number of arguments at the head of a term; more can be left out.
fn least(reduction: &Reduction, term: Term) -> usize {
    match reduction.bench.store.head(term) {
        Head::Op(op, _) => match op.row().arity {
            Arity::Fixed => usize::MAX,
            // One argument stands for itself if it has the sort of the whole.
            Arity::LeftAssoc | Arity::RightAssoc => 1,
            Arity::Chainable | Arity::Pairwise => 2,
        },
        _ => usize::MAX,
    }
}

/// `(and (and a b) c)` as `(and a b c)`, and a double negation as nothing.
fn flattened(reduction: &mut Reduction, term: Term) -> Option<Term> {
    let store = &mut reduction.bench.store;
    let op = store.op_of(term)?;
    if op == Op::Not && store.op_of(store.args(term)[0]) == Some(Op::Not) {
        return Some(store.args(store.args(term)[0])[0]);
    }
    if !matches!(op.row().arity, Arity::LeftAssoc)
        || !matches!(
            op,
            Op::And
                | Op::Or
                | Op::IntAdd
                | Op::RealAdd
                | Op::IntMul
                | Op::RealMul
                | Op::StrConcat
                | Op::SeqConcat
                | Op::ReConcat
                | Op::ReUnion
                | Op::ReInter
        )
    {
        return None;
    }
    let mut args = Vec::new();
    for arg in store.args(term).to_vec() {
        if store.op_of(arg) == Some(op) {
            args.extend_from_slice(store.args(arg));
        } else {
            args.push(arg);
        }
    }
    if args.len() == store.args(term).len() {
        return None;
    }
    store.op(op, &args).ok()
}

/// Boolean operators as simpler ones.
fn plainer(reduction: &mut Reduction, term: Term) -> Vec<Term> {
    let store = &mut reduction.bench.store;
    let Some(op) = store.op_of(term) else { return Vec::new() };
    let args = store.args(term).to_vec();
    let mut found = Vec::new();
    let mut add = |term: Result<Term, smtlib::SortError>| found.extend(term.ok());
    match (op, args.as_slice()) {
        (Op::Implies, [a, b]) => {
            let not = store.not(*a);
            if let Ok(not) = not {
                add(store.or(&[not, *b]));
            }
            add(store.and(&[*a, *b]));
            add(store.not(*a));
        }
        (Op::Ite, [c, a, b]) if store.sort_of(*a) == Sort::BOOL => {
            add(store.and(&[*c, *a]));
            add(store.or(&[*c, *b]));
            add(store.and(&[*c, *b]));
        }
        (Op::Xor, [a, b]) | (Op::Equal, [a, b]) if store.sort_of(*a) == Sort::BOOL => {
            add(store.not(*a));
            add(store.not(*b));
        }
        (Op::Distinct, [a, b]) => {
            if let Ok(equal) = store.op(Op::Equal, &[*a, *b]) {
                add(Ok(equal));
                add(store.not(equal));
            }
        }
        (Op::Not, [inner]) => match (store.op_of(*inner), store.args(*inner).to_vec().as_slice()) {
            (Some(Op::Equal), [a, b]) => add(store.op(Op::Distinct, &[*a, *b])),
            (Some(Op::Distinct), [a, b]) => add(store.op(Op::Equal, &[*a, *b])),
            (Some(Op::IntLt), [a, b]) => add(store.op(Op::IntGe, &[*a, *b])),
            (Some(Op::IntLe), [a, b]) => add(store.op(Op::IntGt, &[*a, *b])),
            (Some(Op::IntGt), [a, b]) => add(store.op(Op::IntLe, &[*a, *b])),
            (Some(Op::IntGe), [a, b]) => add(store.op(Op::IntLt, &[*a, *b])),
            (Some(Op::RealLt), [a, b]) => add(store.op(Op::RealGe, &[*a, *b])),
            (Some(Op::RealLe), [a, b]) => add(store.op(Op::RealGt, &[*a, *b])),
            (Some(Op::RealGt), [a, b]) => add(store.op(Op::RealLe, &[*a, *b])),
            (Some(Op::RealGe), [a, b]) => add(store.op(Op::RealLt, &[*a, *b])),
            (Some(op @ (Op::And | Op::Or)), args) => {
                let dual = if op == Op::And { Op::Or } else { Op::And };
                let negated: Result<Vec<Term>, _> = args.iter().map(|arg| store.not(*arg)).collect();
                if let Ok(negated) = negated {
                    add(store.op(dual, &negated));
                }
            }
            _ => {}
        },
        _ => {}
    }
    found.retain(|new| *new != term);
    found
}

/// Equality for another relation.
fn equated(store: &mut Store, term: Term) -> Option<Term> {
    let op = store.op_of(term)?;
    if matches!(op, Op::Equal | Op::Distinct) || !matches!(op.row().arity, Arity::Chainable) {
        return None;
    }
    let args = store.args(term).to_vec();
    store.op(Op::Equal, &args).ok()
}

/// A relation whose sides all have the same head: between the parts of the sides instead.
fn unwrapped(reduction: &mut Reduction, term: Term) -> Vec<Term> {
    let store = &mut reduction.bench.store;
    let Some(op) = store.op_of(term) else { return Vec::new() };
    if !matches!(op.row().arity, Arity::Chainable | Arity::Pairwise) {
        return Vec::new();
    }
    let args = store.args(term).to_vec();
    let mut found = Vec::new();
    // One side's wrapper stands for both if the other side is no application.
    let width = args.iter().map(|arg| store.args(*arg).len()).max().unwrap_or(0);
    for place in 0..width {
        let inner: Vec<Term> =
            args.iter().map(|arg| store.args(*arg).get(place).copied().unwrap_or(*arg)).collect();
        if inner.iter().any(|part| store.sort_of(*part) != store.sort_of(inner[0])) {
            continue;
        }
        // Another sort may need another operator of the same name: equality takes all of them.
        found.extend(store.op(op, &inner));
        if !matches!(op, Op::Equal | Op::Distinct) {
            found.extend(store.op(Op::Equal, &inner));
        }
    }
    found
}
