//! Replacing sub-terms, and models and witnesses of whole scripts.

mod common;

use common::Case;
use eval::evaluate::{Budget, Evaluation, Evaluator};
use eval::model::{Model, NotAWitness, Witness};
use eval::sorts::Sorts;
use eval::{Value, to_term};
use proptest::prelude::*;
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::{Rng, SeedableRng};
use smtlib::{Op, Sort, Store, Term};

/// A random term of sort Int or Bool over a few constants.
fn random_term(store: &mut Store, constants: &[Term], rng: &mut impl Rng, sort: Sort, depth: u32) -> Term {
    let pick = rng.next_u32();
    if depth == 0 || pick.is_multiple_of(7) {
        return if sort == Sort::INT {
            match pick % 3 {
                0 => store.int(i64::from(pick % 5) - 2),
                _ => constants[pick as usize % constants.len()],
            }
        } else {
            store.bool(pick.is_multiple_of(2))
        };
    }
    let part = |store: &mut Store, rng: &mut _, sort| random_term(store, constants, rng, sort, depth - 1);
    let (op, sorts) = if sort == Sort::INT {
        [
            (Op::IntAdd, vec![Sort::INT, Sort::INT]),
            (Op::IntMul, vec![Sort::INT, Sort::INT]),
            (Op::IntDiv, vec![Sort::INT, Sort::INT]),
            (Op::Ite, vec![Sort::BOOL, Sort::INT, Sort::INT]),
        ][pick as usize % 4]
            .clone()
    } else {
        [
            (Op::And, vec![Sort::BOOL, Sort::BOOL, Sort::BOOL]),
            (Op::Or, vec![Sort::BOOL, Sort::BOOL]),
            (Op::Implies, vec![Sort::BOOL, Sort::BOOL]),
            (Op::Xor, vec![Sort::BOOL, Sort::BOOL]),
            (Op::IntLt, vec![Sort::INT, Sort::INT]),
            (Op::Equal, vec![Sort::INT, Sort::INT]),
            (Op::Not, vec![Sort::BOOL]),
        ][pick as usize % 7]
            .clone()
    };
    let args: Vec<Term> = sorts.into_iter().map(|sort| part(store, rng, sort)).collect();
    store.op(op, &args).expect("well-sorted")
}

proptest! {
    #[test]
    fn a_replacement_has_the_value_of_the_rebuilt_term(seed: u64) {
        let mut rng = ChaCha8Rng::seed_from_u64(seed);
        let mut store = Store::new();
        let mut model = Model::new();
        let mut constants = Vec::new();
        for name in ["x", "y", "z"] {
            let name = store.symbol(name);
            let fun = store.declare_fun(name, &[], Sort::INT);
            model.assign(fun, Value::int(i64::from(rng.next_u32() % 5) - 2));
            constants.push(store.call(fun, &[]).unwrap());
        }
        let root = random_term(&mut store, &constants, &mut rng, Sort::BOOL, 5);
        let mut evaluation = Evaluation::new(Evaluator::default(), &store, &model, root);
        for _ in 0..20 {
            let mut path = Vec::new();
            let mut here = evaluation.root();
            while !store.args(here).is_empty() && !rng.next_u32().is_multiple_of(4) {
                let child = rng.next_u32() as usize % store.args(here).len();
                path.push(child as u32);
                here = store.args(here)[child];
            }
            let sort = store.sort_of(here);
            let new = random_term(&mut store, &constants, &mut rng, sort, 2);
            let tried = evaluation.replace(&mut store, &model, &path, new).unwrap().clone();
            let rebuilt = store.replace_at(evaluation.root(), &path, new).unwrap();
            let fresh = Evaluator::default().evaluate(&store, &model, rebuilt);
            // Only equality of identical undecided terms may be decided by rebuilding alone.
            if tried.is_ok() {
                prop_assert_eq!(&tried, &fresh);
            }
            if rng.next_u32().is_multiple_of(2) {
                prop_assert_eq!(evaluation.commit(&mut store, &model).unwrap(), rebuilt);
                prop_assert_eq!(evaluation.value().is_ok(), fresh.is_ok());
            } else {
                evaluation.discard();
            }
        }
    }

    #[test]
    fn random_values_print_as_terms_of_their_value(seed: u64) {
        let case = Case::new(
            "(declare-datatypes ((L 1)) ((par (T) ((nil) (cons (head T) (tail (L T)))))))
             (declare-const a0 Int) (declare-const a1 Real) (declare-const a2 (_ BitVec 9))
             (declare-const a3 (_ FloatingPoint 3 5)) (declare-const a4 String) (declare-const a5 (Seq Int))
             (declare-const a6 (Array Int Bool)) (declare-const a7 (Array Bool (Array (_ BitVec 2) Int)))
             (declare-const a8 (L (Array Bool Int))) (declare-const a9 (Set (Tuple Int Bool)))
             (declare-const b0 (Bag Int)) (declare-const b1 (Nullable Bool)) (declare-const b2 RoundingMode)
             (declare-const b3 (_ FiniteField 17)) (declare-const b4 (_ BitVec 200))",
        );
        let mut rng = ChaCha8Rng::seed_from_u64(seed);
        let mut store = case.store.into_inner();
        let model = Model::new();
        for fun in case.script.declared_funs() {
            let sort = store.fun(fun).result;
            let value = Sorts::new(&store, &model).random_value(sort, &mut rng).expect("a value");
            let term = to_term(&mut store, sort, &value).expect("a term");
            prop_assert_eq!(store.sort_of(term), sort);
            let again = Evaluator::default().evaluate(&store, &model, term);
            prop_assert_eq!(again, Ok(value));
        }
    }
}

#[test]
fn a_replacement_under_a_binder_evaluates_the_binder() {
    let case = Case::new("");
    let root = case.term("(and true (forall ((p Bool)) (or p (not p))))");
    let new = case.term("false");
    let mut store = case.store.into_inner();
    let model = Model::new();
    let mut evaluation = Evaluation::new(Evaluator::default(), &store, &model, root);
    assert_eq!(evaluation.value(), &Ok(Value::TRUE));
    let value = evaluation.replace(&mut store, &model, &[1, 0, 1], new).unwrap();
    assert_eq!(value, &Ok(Value::FALSE));
    evaluation.discard();
    assert_eq!(evaluation.value(), &Ok(Value::TRUE));
    assert!(evaluation.replace(&mut store, &model, &[7], new).is_err());
}

#[test]
fn a_replacement_in_a_term_without_value_keeps_nothing_that_rests_on_its_identity() {
    for (text, path, new) in [
        ("(= (+ (div x 0) 1) (+ (div x 0) 1))", &[0, 1][..], "2"),
        // That the sum has no value is known already.
        ("(let ((t (+ (div x 0) 1))) (and (or (> t 0) true) (= t t)))", &[1, 0, 1], "2"),
    ] {
        let case = Case::new("(declare-const x Int)").with(&[("x", "1")]);
        let (root, new) = (case.term(text), case.term(new));
        let model = case.model.borrow().clone();
        let mut store = case.store.into_inner();
        let mut evaluation = Evaluation::new(Evaluator::default(), &store, &model, root);
        assert!(evaluation.value().is_ok(), "{text}: both sides are one term");
        let tried = evaluation.replace(&mut store, &model, path, new).unwrap().clone();
        assert!(tried.is_err(), "{text}: {tried:?}");
        evaluation.commit(&mut store, &model).unwrap();
        assert!(evaluation.value().is_err(), "{text}");
    }
}

#[test]
fn a_replacement_in_the_polynomial_of_a_root_evaluates_the_root() {
    let case = Case::new("(declare-const x Real)");
    let root = case.term("(< (root-obj (+ (^ x 2) (- 2)) 2) 2.0)");
    let new = case.term("(- 9.0)");
    let mut store = case.store.into_inner();
    let model = Model::new();
    let mut evaluation = Evaluation::new(Evaluator::default(), &store, &model, root);
    assert_eq!(evaluation.value(), &Ok(Value::TRUE));
    let value = evaluation.replace(&mut store, &model, &[0, 0, 1], new).unwrap();
    assert_eq!(value, &Ok(Value::FALSE));
}

#[test]
fn a_witness_satisfies_every_check() {
    let script = "(declare-const x Int)(assert (> x 1))(push 1)(assert (< x 5))(check-sat)(pop 1)
                  (assert (= (div x 0) 7))(check-sat)";
    let case = Case::new(script).with(&[("x", "3")]);
    let store = case.store.into_inner();
    let limits = Budget::default();
    let refused = Witness::check(&store, &case.script, case.model.borrow().clone(), limits);
    assert!(matches!(refused, Err(NotAWitness::False(_))), "0 is chosen for x div 0");
    let case = Case::new("(declare-const x Int)(declare-const y Int)(assert (= (div x 0) y))(check-sat)");
    let store = case.store.into_inner();
    let witness = Witness::check(&store, &case.script, Model::new(), limits).expect("a witness");
    assert_eq!(witness.model().defaulted().len(), 2);
    assert_eq!(witness.model().open().points().count(), 1);
    // The choice is part of the model now.
    let term = case.script.assertions().next().expect("an assertion");
    assert_eq!(Evaluator::default().evaluate(&store, witness.model(), term), Ok(Value::TRUE));
}

#[test]
fn popped_assertions_do_not_bind_a_witness() {
    let script = "(declare-const p Bool)(push 1)(assert p)(pop 1)(assert (not p))(check-sat)";
    let case = Case::new(script);
    let store = case.store.into_inner();
    assert!(Witness::check(&store, &case.script, Model::new(), Budget::default()).is_ok());
}
