//! Models as real solvers printed them, read and judged. The outputs under `models/` are recorded.

use std::path::{Path, PathBuf};

use eval::model::checked_terms;
use eval::model_text::{ModelError, read_model, read_values, write_model};
use eval::{Evaluator, Value};
use smtlib::{Family, Mode, Release, Script, Store, parse};

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/models")
}

fn script(store: &mut Store, name: &str) -> Script {
    let path = folder().join("scripts").join(format!("{name}.smt2"));
    let text = std::fs::read(&path).expect("a recorded script");
    parse(store, &text, Mode::Tolerant).expect("a well-formed script").script
}

fn release(folder: &str) -> Release {
    let mut parts = folder.split('-');
    let family: Family = parts.next().and_then(|name| name.parse().ok()).expect("a family");
    Release::new(family, parts.next().and_then(|text| text.parse().ok()).expect("a version"))
}

/// Splits the recorded output after the model: the values of `get-value` follow it.
fn model_part(text: &str) -> &str {
    text.split("\n((").next().unwrap_or(text)
}

/// The assertions that are false under a model, and why others are unknown.
fn judge(store: &Store, script: &Script, model: &eval::Model) -> (Vec<String>, Vec<String>) {
    let mut evaluator = Evaluator::default();
    let (mut fails, mut unknown) = (Vec::new(), Vec::new());
    for term in checked_terms(script) {
        match evaluator.holds(store, model, term) {
            Ok(true) => {}
            Ok(false) => fails.push(store.term_text(term)),
            Err(reason) => unknown.push(reason.describe(store)),
        }
    }
    (fails, unknown)
}

/// Assertions that stay unknown under a recorded model, because the model says nothing about an open case of
/// the theories, does not say it exactly, or because of a quantifier over the integers.
fn undecided(solver: &str, name: &str) -> usize {
    let cvc = solver.starts_with("cvc");
    match name {
        // Only Z3 prints division by zero and reading outside a sequence, since 4.8.8.
        "div" if cvc || solver == "z3-4.8.5" => 6,
        "seq" if cvc || solver == "z3-4.8.5" => 1,
        // Nobody prints selectors of other constructors and unspecified conversions of floats.
        "dt" => 3,
        "fp" => {
            if cvc {
                4
            } else {
                2
            }
        }
        "fp_open" => 3,
        // Yices rounds irrational numbers.
        "nra" if solver.starts_with("yices") => 2,
        // Refers to a function that the model does not define.
        "arr" if solver == "z3-4.8.5" => 1,
        "lam" => 3,
        _ => 0,
    }
}

fn recorded() -> Vec<(String, String)> {
    let mut found = Vec::new();
    let entries = std::fs::read_dir(folder()).expect("the recorded models");
    for entry in entries.filter_map(Result::ok) {
        let solver = entry.file_name().to_string_lossy().into_owned();
        if solver == "scripts" {
            continue;
        }
        for file in std::fs::read_dir(entry.path()).expect("a folder").filter_map(Result::ok) {
            let name = file.file_name().to_string_lossy().trim_end_matches(".out").to_owned();
            found.push((solver.clone(), name));
        }
    }
    found.sort();
    found
}

#[test]
fn recorded_models_satisfy_their_scripts_and_survive_writing() {
    for (solver, name) in recorded() {
        if name == "str_legacy" {
            continue;
        }
        let text = std::fs::read_to_string(folder().join(&solver).join(format!("{name}.out"))).expect("text");
        let mut store = Store::new();
        let script = script(&mut store, &name);
        let read = read_model(&mut store, &script, model_part(&text).as_bytes(), release(&solver))
            .unwrap_or_else(|error| panic!("{solver}/{name}: {error}"));
        let (fails, unknown) = judge(&store, &script, &read.model);
        assert!(fails.is_empty(), "{solver}/{name}: false: {fails:?}");
        assert_eq!(unknown.len(), undecided(&solver, &name), "{solver}/{name}: {unknown:?}");
        assert!(read.notes.is_empty(), "{solver}/{name}: {:?}", read.notes);
        let written = write_model(&mut store, &script, &read.model).expect("every value has a written form");
        let again = read_model(&mut store, &script, written.as_bytes(), Release::STANDARD)
            .unwrap_or_else(|error| panic!("{solver}/{name} written again: {error}\n{written}"));
        let (fails, still_unknown) = judge(&store, &script, &again.model);
        assert_eq!((fails.len(), still_unknown.len()), (0, unknown.len()), "{solver}/{name}\n{written}");
        assert!(again.notes.is_empty() && again.defaulted.is_empty(), "{solver}/{name}: {:?}", again.notes);
    }
}

#[test]
fn values_of_terms_are_read_with_the_terms() {
    for solver in ["z3-4.8.5", "z3-4.8.12", "z3-5.4.0", "cvc5-1.0.3", "cvc5-1.4.2", "cvc4-1.8"] {
        let text = std::fs::read_to_string(folder().join(solver).join("mixed.out")).expect("text");
        let mut store = Store::new();
        let script = script(&mut store, "mixed");
        let (model, values) = text.split_at(model_part(&text).len());
        let read = read_model(&mut store, &script, model.as_bytes(), release(solver)).expect("a model");
        let values = read_values(&mut store, &script, values.as_bytes(), release(solver)).expect("values");
        let mut evaluator = Evaluator::default();
        let mut compared = 0;
        for (term, value) in &values.pairs {
            let (Ok(ours), Ok(theirs)) = (
                evaluator.evaluate(&store, &read.model, *term),
                Evaluator::default().evaluate(&store, &values.model, *value),
            ) else {
                continue;
            };
            if !ours.is_definite() {
                continue;
            }
            // Elements are numbered by each model for itself.
            if let (Value::Element(a), Value::Element(b)) = (&ours, &theirs) {
                let sort = store.sort_of(*term);
                let name = |model: &eval::Model, n: u32| {
                    model.universe(sort).and_then(|u| u.name(n)).map(str::to_owned)
                };
                assert_eq!(name(&read.model, *a), name(&values.model, *b), "{solver}");
            } else {
                assert_eq!(ours, theirs, "{solver}: {}", store.term_text(*term));
            }
            compared += 1;
        }
        assert!(compared >= 8, "{solver}: {compared}");
    }
}

#[test]
fn old_string_escapes_are_those_of_the_release() {
    for solver in ["z3-4.8.5", "z3-4.8.8"] {
        let text = std::fs::read(folder().join(solver).join("str_legacy.out")).expect("text");
        let mut store = Store::new();
        let script = script(&mut store, "str_legacy");
        let read = read_model(&mut store, &script, &text, release(solver)).expect("a model");
        let value = |name: &str| {
            let fun = script
                .declared_funs()
                .find(|fun| store.name(store.fun(*fun).name) == name)
                .expect("declared");
            match read.model.value(fun) {
                Some(Value::Str(value)) => value.chars().to_vec(),
                other => panic!("{solver}: {name} is {other:?}"),
            }
        };
        let chars = |text: &str| text.chars().map(u32::from).collect::<Vec<_>>();
        assert_eq!(value("s"), chars("a\"b\\\n\u{c8}c"), "{solver}");
        assert_eq!(value("t"), chars(""), "{solver}");
        assert_eq!(value("u"), chars("\0\u{7f}\\x41"), "{solver}");
    }
}

#[test]
fn missing_symbols_get_default_values_and_are_reported() {
    let mut store = Store::new();
    let script = script(&mut store, "mixed");
    let read =
        read_model(&mut store, &script, b"((define-fun x () Int 3))", Release::STANDARD).expect("a model");
    assert_eq!(read.defaulted.len(), script.declared_funs().count() - 1);
    let named = |name: &str| script.declared_funs().find(|fun| store.name(store.fun(*fun).name) == name);
    assert_eq!(named("x").and_then(|fun| read.model.value(fun)), Some(&Value::int(3)));
    assert_eq!(named("y").and_then(|fun| read.model.value(fun)), Some(&Value::real(0)));
}

#[test]
fn definitions_that_make_no_sense_leave_their_symbol_unknown() {
    let mut store = Store::new();
    let script = script(&mut store, "mixed");
    let text =
        b"((define-fun x () Int (mu 3)) (define-fun y () Real \"no\") (define-fun z () Real (+ z 1.0)))";
    let read = read_model(&mut store, &script, text, Release::STANDARD).expect("a model");
    for name in ["x", "y", "z"] {
        let fun =
            script.declared_funs().find(|fun| store.name(store.fun(*fun).name) == name).expect("declared");
        assert!(read.model.value(fun).is_none(), "{name}");
        assert!(!read.defaulted.contains(&fun), "{name}");
    }
    let offsets: Vec<usize> = read.notes.iter().map(|note| note.offset).collect();
    assert_eq!(offsets, [30, 58], "the definitions of y and z");
}

#[test]
fn a_constant_whose_value_takes_long_stays_a_term_that_can_be_evaluated() {
    let mut store = Store::new();
    let declared = b"(declare-const p Bool)\n(declare-const q Bool)\n(check-sat)\n";
    let script = parse(&mut store, declared, Mode::Strict).expect("a script").script;
    let text = b"((define-fun p () Bool (forall ((x (_ BitVec 12))) (= (bvmul x (bvmul x x)) (bvmul (bvmul x x) x))))\n\
        (define-fun q () Bool (and true true)))";
    let read = read_model(&mut store, &script, text, Release::STANDARD).expect("a model");
    let funs: Vec<_> = script.declared_funs().collect();
    assert_eq!(read.model.value(funs[0]), None);
    assert_eq!(read.model.value(funs[1]), Some(&Value::Bool(true)));
    let term = store.call(funs[0], &[]).expect("well-sorted");
    assert_eq!(Evaluator::default().holds(&store, &read.model, term), Ok(true));
}

/// Literals are read without the reader of scripts, everything else with it: the same values either way.
#[test]
fn a_value_is_the_same_whether_it_is_a_literal_or_has_to_be_computed() {
    let sorts = [
        ("Bool", "true", "(not false)"),
        ("Bool", "false", "(not true)"),
        ("Int", "17", "(+ 16 1)"),
        ("Int", "(- 123456789012345678901234567890)", "(- 0 123456789012345678901234567890)"),
        ("Real", "1.50", "(/ 3.0 2.0)"),
        ("Real", "(- 0.25)", "(/ 1.0 (- 4.0))"),
        ("(_ BitVec 8)", "#xaF", "(bvnot #x50)"),
        ("(_ BitVec 3)", "#b101", "(bvnot #b010)"),
    ];
    for (sort, literal, computed) in sorts {
        let mut store = Store::new();
        let text = format!("(declare-fun x () {sort})(declare-fun y () {sort})(assert (= x y))(check-sat)");
        let script = parse(&mut store, text.as_bytes(), Mode::Strict).expect("a script").script;
        let read = |store: &mut Store, x: &str, y: &str| {
            let model = format!("((define-fun x () {sort} {x})\n(define-fun y () {sort} {y}))");
            read_model(store, &script, model.as_bytes(), Release::STANDARD).expect("a model")
        };
        let mixed = read(&mut store, literal, computed);
        let funs: Vec<_> = script.declared_funs().collect();
        let values: Vec<_> =
            funs.iter().map(|fun| mixed.model.value(*fun).cloned().expect("a value")).collect();
        assert_eq!(values[0], values[1], "{literal} and {computed}");
        assert!(mixed.notes.is_empty() && mixed.defaulted.is_empty(), "{literal}: {:?}", mixed.notes);
        // A constant may stand for another one.
        let named = read(&mut store, literal, "x");
        assert_eq!(named.model.value(funs[1]), Some(&values[0]), "{literal} by name");
    }
}

#[test]
fn the_last_of_two_definitions_counts_literal_or_not() {
    let mut store = Store::new();
    let text = b"(declare-fun x () Int)(assert (> x 0))(check-sat)";
    let script = parse(&mut store, text, Mode::Strict).expect("a script").script;
    let x = script.declared_funs().next().expect("a constant");
    for (first, second, value) in [("1", "(+ 1 1)", 2), ("(+ 1 1)", "1", 1), ("1", "3", 3)] {
        let model = format!("((define-fun x () Int {first})(define-fun x () Int {second}))");
        let read = read_model(&mut store, &script, model.as_bytes(), Release::STANDARD);
        let read = read.expect("a model");
        assert_eq!(read.model.value(x), Some(&Value::int(value)), "{first} then {second}");
    }
}

/// A quantifier over a sort with a wrong number of elements is a wrong verdict.
#[test]
fn a_sort_has_no_other_elements_only_if_the_model_lists_all_it_names() {
    let closed = |statements: &str| {
        let mut store = Store::new();
        let script = script(&mut store, "mixed");
        let text = format!("((declare-fun S!val!0 () S) (define-fun a () S S!val!0) {statements})");
        let read = read_model(&mut store, &script, text.as_bytes(), Release::STANDARD).expect("a model");
        let sort = store.fun(script.declared_funs().next().expect("a")).result;
        read.model.universe(sort).expect("an element").is_closed()
    };
    let second = "(declare-fun S!val!1 () S)";
    for all in [
        "(forall ((x S)) (= x S!val!0))".to_owned(),
        "(forall ((x S)) (or (= x S!val!0)))".to_owned(),
        format!("{second} (forall ((x S)) (or (= x S!val!0) (= S!val!1 x)))"),
        "\n; cardinality of S is 1\n; rep: S!val!0\n".to_owned(),
    ] {
        assert!(closed(&all), "{all}");
    }
    for not_all in [
        // Elements that are not listed, and what is listed and no element.
        format!("{second} (forall ((x S)) (= x S!val!0))"),
        "(declare-fun S!val!1 () T) (forall ((x S)) (or (= x S!val!0) (= x S!val!1)))".to_owned(),
        "(forall ((x S)) (or (= x S!val!0) (= x S!val!1)))".to_owned(),
        // Other formulas.
        "(forall ((x S)) true)".to_owned(),
        "(forall ((x S)) (or (= x S!val!0) (= a b)))".to_owned(),
        "(forall ((x S)) (not (= x S!val!0)))".to_owned(),
        // A list that was cut off.
        "\n; cardinality of S is 2\n; rep: S!val!0\n".to_owned(),
    ] {
        assert!(!closed(&not_all), "{not_all}");
    }
}

#[test]
fn rounded_decimals_are_not_taken_for_exact() {
    let mut store = Store::new();
    let script = script(&mut store, "nra");
    let text = b"((define-fun x () Real (- 1.4142135623?)) (define-fun y () Real 0.5))";
    let read = read_model(&mut store, &script, text, Release::STANDARD).expect("a model");
    let value = |name: &str| {
        let fun =
            script.declared_funs().find(|fun| store.name(store.fun(*fun).name) == name).expect("declared");
        read.model.value(fun).cloned()
    };
    assert_eq!(value("x"), None);
    assert!(value("y").is_some());
}

#[test]
fn chosen_open_cases_are_part_of_the_written_witness() {
    let mut store = Store::new();
    for name in ["div", "dt", "fp", "seq"] {
        let script = script(&mut store, name);
        let mut evaluator = Evaluator::new(eval::Mode::Choose, eval::Budget::default());
        let text =
            std::fs::read_to_string(folder().join("cvc5-1.4.2").join(format!("{name}.out"))).expect("text");
        let read = read_model(&mut store, &script, text.as_bytes(), release("cvc5-1.4.2")).expect("a model");
        let mut model = read.model;
        let verdicts: Vec<_> =
            checked_terms(&script).iter().map(|term| evaluator.holds(&store, &model, *term)).collect();
        assert!(verdicts.iter().all(Result::is_ok), "{name}: everything is decided by choosing");
        let chosen = evaluator.take_chosen();
        assert!(!chosen.is_empty(), "{name}");
        model.open_mut().adopt(&chosen);
        let written = write_model(&mut store, &script, &model).expect("written");
        let again =
            read_model(&mut store, &script, written.as_bytes(), Release::STANDARD).expect("a witness");
        assert!(again.notes.is_empty(), "{name}: {:?}\n{written}", again.notes);
        let mut evaluator = Evaluator::default();
        let read: Vec<_> =
            checked_terms(&script).iter().map(|term| evaluator.holds(&store, &again.model, *term)).collect();
        assert_eq!(read, verdicts, "{name}\n{written}");
    }
}

#[test]
fn garbage_is_an_error_with_its_place() {
    let mut store = Store::new();
    let script = script(&mut store, "mixed");
    for text in [
        "",
        "sat",
        "(",
        ")",
        "(model",
        "x",
        "(define-fun)",
        "(define-fun x)",
        "((((",
        "\"",
        "|",
        "(= 1)",
        "(function)",
    ] {
        let error = read_model(&mut store, &script, text.as_bytes(), Release::STANDARD);
        assert!(error.is_err(), "{text}");
    }
    let error = read_model(&mut store, &script, b"sat (error \"no model\")", Release::STANDARD);
    assert!(matches!(error, Err(ModelError::Solver { offset: 4, .. })));
}

#[test]
fn damaged_models_are_refused_or_read_but_never_fatal() {
    for (solver, name) in recorded() {
        let text = std::fs::read(folder().join(&solver).join(format!("{name}.out"))).expect("text");
        let mut store = Store::new();
        let script = script(&mut store, &name);
        let mark = store.mark();
        for cut in (0..text.len()).step_by(97) {
            let _ = read_model(&mut store, &script, &text[..cut], release(&solver));
            store.reset(&mark);
            let mut damaged = text.clone();
            damaged[cut] = [b'(', b')', b'"', b'|', b'x', b'0', 0xFF, b'-'][cut % 8];
            let _ = read_model(&mut store, &script, &damaged, release(&solver));
            let _ = read_values(&mut store, &script, &damaged, release(&solver));
            store.reset(&mark);
        }
    }
}
