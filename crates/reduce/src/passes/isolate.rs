//! One term by itself: where a solver takes a function for something else, what stands around it does not matter.

use std::sync::Arc;

use eval::{Evaluator, Mode, Model, to_term};
use smtlib::{Command, Fun, Head, Op, Script, Sort, SortKind, Term};

use super::Pass;
use crate::driver::{Growth, Reduction};
use crate::error::ReduceError;
use crate::workbench::{Draft, Workbench, limits};

/// Asserts of one term that it has its value under the model, and nothing else. What stays wrong then is wrong about
/// that term, so that findings in which it stands at different places come down to the same script. A solver may be
/// right about this value and wrong about another, so models that differ in one constant are tried, too. Where the
/// solver's own model is what is wrong, there is no value to trust: the term equals a simple value or a constant then.
pub struct Isolate;

/// Terms that are tried, the smallest first.
const TERMS: usize = 24;

/// Of these, terms that are tried under other models.
const UNDER_OTHERS: usize = 6;

/// Terms that are tried where no model is known.
const NAMED: usize = 8;

/// Constants that have other values in turn.
const CONSTANTS: usize = 3;

impl Pass for Isolate {
    fn name(&self) -> &'static str {
        "isolation"
    }

    fn is_last_resort(&self) -> bool {
        true
    }

    fn run(&mut self, reduction: &mut Reduction) -> Result<(), ReduceError> {
        let Some(model) = reduction.bench.draft.model.clone() else { return named(reduction) };
        let mut tries: Vec<(Term, Arc<Model>)> = Vec::new();
        for (rank, term) in candidates(&reduction.bench).into_iter().enumerate() {
            tries.push((term, Arc::clone(&model)));
            if rank < UNDER_OTHERS {
                let others = others(&mut reduction.bench, &model, term);
                tries.extend(others.into_iter().map(|other| (term, Arc::new(other))));
            }
        }
        let build = &mut |bench: &mut Workbench, number: usize| {
            let (term, model) = &tries[number];
            isolated(bench, *term, model)
        };
        reduction.first(tries.len(), Growth::Smaller, build).map(|_| ())
    }
}

/// Of one term at a time that it equals a simple value or a constant, and nothing else.
fn named(reduction: &mut Reduction) -> Result<(), ReduceError> {
    let terms: Vec<Term> = candidates(&reduction.bench).into_iter().take(NAMED).collect();
    let mut tries: Vec<(Term, Option<Term>)> = Vec::new();
    for term in terms {
        let sort = reduction.bench.store.sort_of(term);
        if *reduction.bench.store.sort_kind(sort) != SortKind::RegLan {
            let values = reduction.bench.simple_values(sort);
            tries.extend(values.into_iter().map(|value| (term, Some(value))));
            tries.push((term, None));
        }
    }
    let build = &mut |bench: &mut Workbench, number: usize| {
        let (term, value) = tries[number];
        let (side, new) = match value {
            Some(value) => (value, None),
            None => constant_beside(bench, term)?,
        };
        let fact = bench.store.op(Op::Equal, &[term, side]).ok()?;
        let script = alone(&bench.draft.script, fact, new)?;
        bench.changed(script)
    };
    reduction.first(tries.len(), Growth::Smaller, build).map(|_| ())
}

/// A constant of a term's sort that is no part of it, and its declaration if it is new.
fn constant_beside(bench: &mut Workbench, term: Term) -> Option<(Term, Option<Fun>)> {
    let sort = bench.store.sort_of(term);
    let parts = bench.store.subterms(&[term]);
    for fun in bench.constants_of(sort) {
        let constant = bench.store.call(fun, &[]).ok()?;
        if !parts.contains(&constant) {
            return Some((constant, None));
        }
    }
    let fun = bench.fresh_constant(sort);
    Some((bench.store.call(fun, &[]).ok()?, Some(fun)))
}

/// Closed terms below the assertions that are neither constants nor values.
fn candidates(bench: &Workbench) -> Vec<Term> {
    let store = &bench.store;
    let roots: Vec<Term> = bench.draft.script.assertions().collect();
    let mut found = store.subterms(&roots);
    found.retain(|term| {
        !store.args(*term).is_empty() && !roots.contains(term) && store.free_vars(*term).is_empty()
    });
    found.sort_by_cached_key(|term| (store.tree_size(*term), *term));
    found.truncate(TERMS);
    found
}

/// The model with simple values for one of the term's constants.
fn others(bench: &mut Workbench, model: &Model, term: Term) -> Vec<Model> {
    let mut constants: Vec<Fun> = Vec::new();
    for part in bench.store.subterms(&[term]) {
        if let Head::Fun(fun) = bench.store.head(part)
            && bench.store.args(part).is_empty()
            && !constants.contains(&fun)
        {
            constants.push(fun);
        }
    }
    let mut found = Vec::new();
    for fun in constants.into_iter().take(CONSTANTS) {
        let sort = bench.store.fun(fun).result;
        for value in bench.simple_values(sort) {
            let mut evaluator = Evaluator::new(Mode::Choose, limits());
            let Ok(value) = evaluator.evaluate(&bench.store, model, value) else { continue };
            if model.value(fun).is_some_and(|own| *own != value) {
                let mut other = model.clone();
                other.assign(fun, value);
                found.push(other);
            }
        }
    }
    found
}

/// The script with what the model says of one term as its only assertion, where the last one stood.
fn isolated(bench: &mut Workbench, term: Term, model: &Arc<Model>) -> Option<Draft> {
    let value = Evaluator::new(Mode::Choose, limits()).evaluate(&bench.store, model, term).ok()?;
    let store = &mut bench.store;
    let sort = store.sort_of(term);
    let value = to_term(store, sort, &value).filter(|value| *value != term)?;
    let fact = if sort != Sort::BOOL {
        store.op(Op::Equal, &[term, value]).ok()?
    } else if value == store.bool(true) {
        term
    } else {
        store.not(term).ok()?
    };
    let script = alone(&bench.draft.script, fact, None)?;
    bench.changed(script).map(|draft| Draft { model: Some(Arc::clone(model)), ..draft })
}

/// The script with one assertion, where the last one stood, and a declaration for it.
fn alone(script: &Script, fact: Term, declared: Option<Fun>) -> Option<Script> {
    let last = script.commands.iter().rposition(is_assertion)?;
    let mut alone = Script::default();
    for (place, command) in script.commands.iter().enumerate() {
        if place == last {
            alone.commands.extend(declared.map(Command::DeclareConst));
            alone.commands.push(Command::Assert(fact));
        } else if !is_assertion(command) {
            alone.commands.push(command.clone());
        }
    }
    Some(alone)
}

fn is_assertion(command: &Command) -> bool {
    matches!(command, Command::Assert(_))
}
