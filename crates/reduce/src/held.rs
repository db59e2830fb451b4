//! Constants in the place of terms, with a value that is asserted: what a contradiction needs of a term is its value more
//! often than what computes it.

use eval::{Evaluator, Mode, Model, Value, to_term};
use smtlib::{Command, Fun, Op, SortKind, Store, Term};

use crate::edit::{Edit, applied};
use crate::workbench::{Draft, Workbench, limits};

/// The witness, or assignments of simple values to all constants: all the first ones, all the second ones, and both in
/// turn.
pub(crate) fn simple_models(bench: &mut Workbench) -> Vec<Model> {
    if let Some(model) = &bench.draft.model {
        return vec![Model::clone(model)];
    }
    let constants: Vec<Fun> = bench.draft.script.declared_funs().collect();
    let mut models = vec![Model::new(), Model::new(), Model::new()];
    for (number, fun) in constants.into_iter().enumerate() {
        if !bench.store.fun(fun).params.is_empty() {
            continue;
        }
        let sort = bench.store.fun(fun).result;
        let values = bench.simple_values(sort);
        for (model, choice) in models.iter_mut().zip([0, 1, number % 2]) {
            let Some(term) = values.get(choice).or(values.first()) else { continue };
            let mut evaluator = Evaluator::new(Mode::Choose, limits());
            if let Ok(value) = evaluator.evaluate(&bench.store, &Model::new(), *term) {
                model.assign(fun, value);
            }
        }
    }
    models
}

/// The values of a term under these models, each once; none if no constant can stand for it.
pub(crate) fn values_of(bench: &mut Workbench, term: Term, models: &[Model], mode: Mode) -> Vec<Term> {
    if bench.store.args(term).is_empty() || !is_replaceable(&bench.store, term) {
        return Vec::new();
    }
    let sort = bench.store.sort_of(term);
    let mut found: Vec<Term> = Vec::new();
    for model in models {
        let mut evaluator = Evaluator::new(mode, limits());
        let value = evaluator.evaluate(&bench.store, model, term).ok().filter(Value::is_definite);
        let value = value.and_then(|value| to_term(&mut bench.store, sort, &value));
        if let Some(value) = value.filter(|value| *value != term && !found.contains(value)) {
            found.push(value);
        }
    }
    found
}

/// Whether a constant can stand for a term: it has no variables, and solvers have constants of its sort.
pub(crate) fn is_replaceable(store: &Store, term: Term) -> bool {
    !store.is_opaque(term)
        && store.free_vars(term).is_empty()
        && !matches!(store.sort_kind(store.sort_of(term)), SortKind::RegLan | SortKind::Fun(..))
}

/// Where a term is first used, if only assertions use it.
pub(crate) fn first_use(bench: &Workbench, term: Term) -> Option<usize> {
    let mut first = None;
    for (place, _, root) in bench.roots() {
        if bench.store.subterms(&[root]).contains(&term) {
            matches!(bench.draft.script.commands[place], Command::Assert(_)).then_some(())?;
            first = first.or(Some(place));
        }
    }
    first
}

/// The script with a fresh constant in the place of a term, and the assertion that it has this value.
pub(crate) fn held(bench: &mut Workbench, term: Term, value: Term) -> Option<Draft> {
    let place = first_use(bench, term)?;
    let sort = bench.store.sort_of(term);
    let fun = bench.fresh_constant(sort);
    let constant = bench.store.call(fun, &[]).ok()?;
    let fact = bench.store.op(Op::Equal, &[constant, value]).ok()?;
    let old = bench.draft.script.commands.len();
    let mut script = applied(&mut bench.store, &bench.draft.script.clone(), &[Edit::Fresh(term, fun)])?;
    let place = place + (script.commands.len() - old);
    script.commands.insert(place, Command::Assert(fact));
    Some(Draft { script, model: None })
}
