//! Any bytes as a model: reading ends, and what was read can be written and read again with the same values.
//!
//! The first byte chooses the release that is said to have printed the rest.
#![no_main]

use eval::model::checked_terms;
use eval::model_text::{read_model, read_values, write_model};
use eval::{Budget, Evaluator, Mode, Model, Value, regex};
use libfuzzer_sys::fuzz_target;
use smtlib::{Family, Release, Script, Store, Term, parse};

const SCRIPT: &[u8] = include_bytes!("read_model.smt2");

const RELEASES: [(Family, &str); 8] = [
    (Family::Z3, "5.4.0"),
    (Family::Z3, "4.8.5"),
    (Family::Cvc5, "1.4.2"),
    (Family::Cvc5, "1.0.3"),
    (Family::Cvc4, "1.8"),
    (Family::Yices, "2.6.5"),
    (Family::Bitwuzla, "0.9.1"),
    (Family::MathSat, "5.6.11"),
];

/// Small, so that the fuzzer makes many runs.
const BUDGET: Budget = Budget {
    steps: 20_000,
    instances: 64,
    candidates: 16,
    calls: 200,
    regex: regex::Budget { steps: 20_000, terms: 2_000, states: 500 },
};

fuzz_target!(|input: &[u8]| {
    let Some((choice, text)) = input.split_first() else { return };
    let (family, version) = RELEASES[usize::from(*choice) % RELEASES.len()];
    let release = Release::new(family, version.parse().expect("a version"));
    let mut store = Store::new();
    let script = parse(&mut store, SCRIPT, smtlib::Mode::Tolerant).expect("the script").script;
    let mark = store.mark();
    let _ = read_values(&mut store, &script, text, release);
    store.reset(&mark);

    let Ok(read) = read_model(&mut store, &script, text, release) else { return };
    // Languages and numbers known only through enclosures have no written form.
    let Ok(written) = write_model(&mut store, &script, &read.model) else { return };
    let again = read_model(&mut store, &script, written.as_bytes(), Release::STANDARD)
        .unwrap_or_else(|error| panic!("{error}\n{written}"));
    let terms = compared(&mut store, &script);
    let (mut first, mut second) = (evaluator(), evaluator());
    for term in terms {
        let (one, other) =
            (first.evaluate(&store, &read.model, term), second.evaluate(&store, &again.model, term));
        let Ok(one) = one else { continue };
        let shown = store.term_text(term);
        let other = other.unwrap_or_else(|unknown| panic!("{shown}: {one:?}, then {unknown:?}\n{written}"));
        if let (Some(one), Some(other)) =
            (named(&store, &read.model, term, &one), named(&store, &again.model, term, &other))
        {
            assert_ne!(one.equal(&other), Some(false), "{shown}: {one:?}, then {other:?}\n{written}");
        }
    }
});

fn evaluator() -> Evaluator {
    Evaluator::new(Mode::Given, BUDGET)
}

/// Every constant, and what is asserted.
fn compared(store: &mut Store, script: &Script) -> Vec<Term> {
    let constants: Vec<_> = script.declared_funs().filter(|fun| store.fun(*fun).params.is_empty()).collect();
    let mut terms: Vec<Term> =
        constants.into_iter().map(|fun| store.call(fun, &[]).expect("a constant")).collect();
    terms.extend(checked_terms(script));
    terms
}

/// Elements of declared sorts are numbered by each model for itself: their names count. Nothing for values that hold
/// elements inside.
fn named(store: &Store, model: &Model, term: Term, value: &Value) -> Option<Value> {
    match value {
        Value::Element(number) => {
            let name = model.universe(store.sort_of(term))?.name(*number)?;
            Some(Value::Str(eval::string::Str::try_from(name).ok()?))
        }
        Value::Array(_) if store.sort_text(store.sort_of(term)).contains('S') => None,
        value => Some(value.clone()),
    }
}
