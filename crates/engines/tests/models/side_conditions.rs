//! Seeds in which more than the assertions constrains models: no engine that knows the answer is misled by them.

use crate::common::{cases, grammar, read, seed};
use engines::{Diver, Engine, Nobody, Polarity, Storm, TestCase};
use eval::Expectation;
use generate::rng;
use smtlib::{Release, Status, Store, print};

const BAD: &str = "(define-fun-rec f ((x Int)) Int (+ 1 (f x)))";
const GOOD: &str = "(define-fun-rec g ((n Int)) Int (ite (<= n 0) 0 (+ n (g (- n 1)))))";

fn made(engine: &dyn Engine, text: &str, status: Option<Status>) -> (Store, Vec<TestCase>) {
    let mut store = Store::new();
    let script = read(&mut store, text);
    let mut rng = rng::stream(3, 1);
    let grammar = grammar("QF_LIA");
    let made = cases(engine, &mut store, &mut rng, &mut Nobody, &grammar, seed(script, status), 30);
    (store, made)
}

#[test]
fn a_definition_without_a_solution_that_nothing_uses_is_not_in_the_mutants() {
    let text =
        format!("{BAD}{GOOD}(declare-const x Int)(assert (< x 100000))(assert (= (g 2) 3))(check-sat)");
    for engine in [&Storm::default() as &dyn Engine, &Diver::default()] {
        let (store, made) = made(engine, &text, None);
        assert!(!made.is_empty(), "{}", engine.name());
        for case in made {
            assert_eq!(case.expectation(), &Expectation::Witness);
            let text = print::print(&store, &case.script, Release::STANDARD);
            assert!(!text.contains("define-fun-rec f") && text.contains("define-fun-rec g"), "{text}");
        }
    }
}

#[test]
fn a_seed_that_uses_such_a_definition_has_no_mutants_with_it() {
    let text = format!("{BAD}(declare-const x Int)(assert (or (< x 100000) (= (f x) 0)))(check-sat)");
    for engine in [&Storm::default() as &dyn Engine, &Diver::default(), &Polarity::default()] {
        let (_, made) = made(engine, &text, Some(Status::Sat));
        assert!(made.is_empty(), "{}", engine.name());
    }
}

#[test]
fn the_answer_of_a_constrained_seed_is_not_that_of_its_formulas() {
    // Unsatisfiable, but not because of what it asserts.
    let text = format!("{BAD}(declare-const x Int)(assert (< x 100000))(assert (> x 2))(check-sat)");
    let (_, made_of_it) = made(&Polarity::default(), &text, Some(Status::Unsat));
    assert!(made_of_it.is_empty());
    let text = text.replace(BAD, GOOD);
    let (_, made_of_it) = made(&Polarity::default(), &text, Some(Status::Sat));
    assert!(!made_of_it.is_empty());
}
