//! Any script under any model: evaluation ends, and every way to the value of a term gives the same value.
//!
//! The first byte chooses the model, the rest is the script.
#![no_main]

use eval::model::checked_terms;
use eval::sorts::Sorts;
use eval::{Budget, Evaluated, Evaluation, Evaluator, Mode, Model, Value, regex, to_term};
use libfuzzer_sys::fuzz_target;
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::{Rng, SeedableRng};
use smtlib::{Script, Store, Term, parse};

/// Small, so that the fuzzer makes many runs; what costs more is unknown.
const BUDGET: Budget = Budget {
    steps: 20_000,
    instances: 64,
    candidates: 16,
    calls: 200,
    regex: regex::Budget { steps: 20_000, terms: 2_000, states: 500 },
};

const REPLACEMENTS: usize = 4;

fuzz_target!(|input: &[u8]| {
    let Some((choice, source)) = input.split_first() else { return };
    let mut store = Store::new();
    let Ok(parsed) = parse(&mut store, source, smtlib::Mode::Tolerant) else { return };
    let script = parsed.script;
    let mut rng = ChaCha8Rng::seed_from_u64(u64::from(*choice));
    let model = random_model(&store, &script, &mut rng);
    let terms = checked_terms(&script);

    let given = values(&store, &model, &terms, Mode::Given);
    assert_eq!(values(&store, &model, &terms, Mode::Given), given, "evaluation is deterministic");

    bottom_up(&store, &model, &terms, &given);
    chosen_cases(&store, &model, &terms);
    for (term, value) in terms.iter().zip(&given) {
        written(&mut store, &model, *term, value);
        replacements(&mut store, &model, *term, &mut rng);
    }
});

/// A value for most constants, a table for most functions; the others stay without interpretation.
fn random_model(store: &Store, script: &Script, rng: &mut ChaCha8Rng) -> Model {
    let mut model = Model::new();
    for fun in script.declared_funs() {
        if rng.next_u32().is_multiple_of(16) {
            continue;
        }
        let decl = store.fun(fun);
        let (sorts, none) = (decl.params.clone(), Model::new());
        let mut value = |sort| Sorts::new(store, &none).random_value(sort, rng);
        let Some(result) = value(decl.result) else {
            model.give_default(store, fun);
            continue;
        };
        if sorts.is_empty() {
            model.assign(fun, result);
            continue;
        }
        let mut row = || {
            let args = sorts.iter().map(|sort| value(*sort)).collect::<Option<Vec<Value>>>()?;
            Some((args, value(decl.result)?))
        };
        let rows: Vec<_> = (0..3).filter_map(|_| row()).collect();
        model.tabulate(fun, sorts.len(), rows, result);
    }
    model
}

fn values(store: &Store, model: &Model, terms: &[Term], mode: Mode) -> Vec<Evaluated> {
    let mut evaluator = Evaluator::new(mode, BUDGET);
    terms.iter().map(|term| evaluator.evaluate(store, model, *term)).collect()
}

/// Two decided values of one term are the same element of its sort, as far as that can be told.
fn agree(store: &Store, term: Term, one: &Evaluated, other: &Evaluated) {
    if let (Ok(one), Ok(other)) = (one, other) {
        // A language is a handle into the evaluator that made it.
        if !matches!(one, Value::Regex(_)) {
            assert_ne!(one.equal(other), Some(false), "{one:?} and {other:?}: {}", store.term_text(term));
        }
    }
}

/// Sub-terms first, with one memory: what is remembered does not change what follows.
fn bottom_up(store: &Store, model: &Model, terms: &[Term], values: &[Evaluated]) {
    let mut evaluator = Evaluator::new(Mode::Given, BUDGET);
    for part in store.subterms(terms) {
        if !store.mentions_vars(part) {
            let _ = evaluator.evaluate(store, model, part);
        }
    }
    for (term, value) in terms.iter().zip(values) {
        agree(store, *term, &evaluator.evaluate(store, model, *term), value);
    }
}

/// A model that has adopted the open cases chosen for it gives the values they were chosen for.
fn chosen_cases(store: &Store, model: &Model, terms: &[Term]) {
    let mut evaluator = Evaluator::new(Mode::Choose, BUDGET);
    let chosen: Vec<Evaluated> = terms.iter().map(|term| evaluator.evaluate(store, model, *term)).collect();
    let mut model = model.clone();
    model.open_mut().adopt(evaluator.chosen());
    for ((term, chosen), fixed) in terms.iter().zip(&chosen).zip(values(store, &model, terms, Mode::Given)) {
        agree(store, *term, chosen, &fixed);
    }
}

/// The term that stands for a value has that value.
fn written(store: &mut Store, model: &Model, term: Term, value: &Evaluated) {
    let Ok(found) = value else { return };
    let sort = store.sort_of(term);
    if let Some(literal) = to_term(store, sort, found) {
        let again = Evaluator::new(Mode::Given, BUDGET).evaluate(store, model, literal);
        agree(store, literal, &again, value);
    }
}

/// A replaced sub-term gives the value that the rebuilt term has.
fn replacements(store: &mut Store, model: &Model, root: Term, rng: &mut ChaCha8Rng) {
    let evaluator = Evaluator::new(Mode::Given, BUDGET);
    let mut evaluation = Evaluation::new(evaluator, store, model, root);
    for _ in 0..REPLACEMENTS {
        let (mut path, mut here) = (Vec::new(), evaluation.root());
        while !store.args(here).is_empty() && !rng.next_u32().is_multiple_of(4) {
            let child = rng.next_u32() as usize % store.args(here).len();
            path.push(child as u32);
            here = store.args(here)[child];
        }
        let sort = store.sort_of(here);
        let Some(value) = Sorts::new(store, model).random_value(sort, rng) else { continue };
        let Some(new) = to_term(store, sort, &value) else { continue };
        // Some places take literals alone.
        let Ok(rebuilt) = store.replace_at(evaluation.root(), &path, new) else { continue };
        let Ok(tried) = evaluation.replace(store, model, &path, new).cloned() else { continue };
        let fresh = Evaluator::new(Mode::Given, BUDGET).evaluate(store, model, rebuilt);
        agree(store, rebuilt, &tried, &fresh);
        if rng.next_u32().is_multiple_of(2) {
            let committed = evaluation.commit(store, model).expect("the same replacement");
            assert_eq!(committed, rebuilt, "both ways build the same term");
            agree(store, rebuilt, evaluation.value(), &fresh);
        } else {
            evaluation.discard();
        }
    }
}
