//! Values of terms under models, read from scripts.

mod common;

use common::{Case, value_text};
use eval::evaluate::Evaluator;
use eval::model::Model;
use eval::{Reason, Value};
use smtlib::{Store, parse};

#[test]
fn connectives_decide_around_undecided_arguments() {
    let case = Case::new("(declare-const u Bool)(declare-const x Int)");
    assert_eq!(case.text("(and u false)"), "false");
    assert_eq!(case.text("(or (> (div x 0) 1) true)"), "true");
    assert_eq!(case.text("(=> u true)"), "true");
    assert_eq!(case.text("(=> u false true)"), "true");
    assert_eq!(case.text("(=> false u)"), "true");
    assert_eq!(case.text("(ite u 3 3)"), "3");
    assert_eq!(case.text("(= x x)"), "true");
    assert!(matches!(case.reason("(xor u true)"), Reason::Uninterpreted(_)));
    assert!(matches!(case.reason("(and u true)"), Reason::Uninterpreted(_)));
    assert!(matches!(case.reason("(ite u 3 4)"), Reason::Uninterpreted(_)));
}

#[test]
fn integer_division_rounds_so_that_remainders_are_not_negative() {
    let case = Case::new("");
    for (text, value) in [
        ("(div 7 2)", "3"),
        ("(div (- 7) 2)", "(- 4)"),
        ("(div 7 (- 2))", "(- 3)"),
        ("(div (- 7) (- 2))", "4"),
        ("(mod (- 7) 2)", "1"),
        ("(mod (- 7) (- 2))", "1"),
        ("(rem 7 (- 2))", "(- 1)"),
        ("(div 100 7 2)", "7"),
        ("(- 5)", "(- 5)"),
        ("(- 1 2 3)", "(- 4)"),
        ("(abs (- 5))", "5"),
        ("((_ divisible 3) (- 9))", "true"),
        ("(to_int (- 1.5))", "(- 2)"),
        ("(< 1 2 2)", "false"),
        ("(<= 1 2 2)", "true"),
    ] {
        assert_eq!(case.text(text), value, "{text}");
    }
}

#[test]
fn division_by_zero_is_open_until_the_model_fixes_it() {
    let case = Case::new("");
    for text in ["(div 1 0)", "(mod 1 0)", "(/ 1.0 0.0)", "(div 7 2 0)"] {
        assert_eq!(case.reason(text), Reason::Unspecified, "{text}");
    }
    assert_eq!(case.text("(bvudiv #x05 #x00)"), "#xff");
    assert_eq!(case.text("(bvurem #x05 #x00)"), "#x05");
    assert_eq!(case.text("(bvsdiv #x85 #x00)"), "#x01");
    let chosen = case.choosing("(= (div 1 0) (div (+ 0 1) (- 3 3)))");
    assert_eq!(chosen, Ok(Value::TRUE));
}

#[test]
fn very_deep_terms_need_no_stack() {
    let mut text = String::new();
    let depth = 100_000;
    for _ in 0..depth {
        text.push_str("(+ 1 ");
    }
    text.push('0');
    text.push_str(&")".repeat(depth));
    assert_eq!(Case::new("").text(&text), "100000");
}

#[test]
fn quantifiers_over_finite_sorts_are_decided() {
    let case = Case::new("");
    for (text, value) in [
        ("(forall ((p Bool) (q Bool)) (= (not (and p q)) (or (not p) (not q))))", "true"),
        ("(exists ((x (_ BitVec 8))) (= (bvmul x #x03) #x01))", "true"),
        ("(exists ((x (_ BitVec 8))) (= (bvmul x #x02) #x01))", "false"),
        ("(forall ((x (_ BitVec 4))) (exists ((y (_ BitVec 4))) (= (bvadd x y) #x0)))", "true"),
        ("(forall ((x Int)) (> x 5))", "false"),
        ("(exists ((x Int)) (= (* x x) 4))", "true"),
        ("(forall ((x Int)) true)", "true"),
        // A variable that the body does not speak of binds nothing, however large its sort is.
        ("(forall ((p Bool) (x Int) (u (_ BitVec 64))) (exists ((y Real) (q Bool)) (= p q)))", "true"),
        ("(forall ((x Int)) (exists ((p Bool) (x Real)) (and p (not p))))", "false"),
        // The first of 256 values of the inner variables will do, for each of 65,536 of the outer ones.
        (
            "(forall ((a (_ BitVec 8)) (b (_ BitVec 8))) \
             (exists ((c (_ BitVec 4)) (d (_ BitVec 4))) (bvule (concat c d) (bvor a b))))",
            "true",
        ),
    ] {
        assert_eq!(case.text(text), value, "{text}");
    }
    assert_eq!(case.reason("(forall ((x Int)) (>= (* x x) 0))"), Reason::InfiniteQuantifier);
}

#[test]
fn defined_and_recursive_functions_are_called() {
    let case = Case::new(
        "(define-fun twice ((x Int)) Int (* 2 x))
         (define-fun-rec sum ((n Int)) Int (ite (<= n 0) 0 (+ n (sum (- n 1)))))
         (define-fun-rec fib ((n Int)) Int (ite (< n 2) n (+ (fib (- n 1)) (fib (- n 2)))))
         (define-fun-rec lost ((n Int)) Int (lost (+ n 1)))",
    );
    assert_eq!(case.text("(twice (twice 3))"), "12");
    assert_eq!(case.text("(sum 10000)"), "50005000");
    assert_eq!(case.text("(fib 80)"), "23416728348467685");
    assert!(matches!(case.reason("(lost 0)"), Reason::Budget(_)));
}

#[test]
fn values_print_as_standard_terms() {
    assert_eq!(value_text("(/ (- 2.0) 6.0)"), "(- (/ 1.0 3.0))");
    assert_eq!(value_text("(bvnot #b0011)"), "#xc");
}

#[test]
fn binders_nest_as_deep_as_allowed_without_exhausting_the_stack() {
    let nested = |depth: usize| {
        let mut text = "true".to_owned();
        for number in 0..depth {
            text = format!("(exists ((p{number} Bool)) (and (not p{number}) {text}))");
        }
        text
    };
    assert_eq!(Case::new("").text(&nested(50)), "true");
    assert!(matches!(Case::new("").reason(&nested(100)), Reason::Budget(_)));
    let mut applied = "0".to_owned();
    for _ in 0..2000 {
        applied = format!("(f {applied})");
    }
    let case = Case::new("(define-fun f ((x Int)) Int (let ((g (lambda ((y Int)) (+ x y)))) (select g 1)))");
    assert_eq!(case.text(&applied), "2000");
}

#[test]
fn an_evaluator_serves_a_store_that_was_reset() {
    let mut store = Store::new();
    let clean = store.mark();
    let mut evaluator = Evaluator::default();
    // The same numbers stand for other terms each time, with other variables in them.
    for (text, holds) in [
        ("(assert (forall ((p Bool) (q Bool)) (or p (not p))))", true),
        ("(assert (forall ((p Bool) (q Bool)) (or q (not p))))", false),
        ("(assert (exists ((p Bool) (q Bool)) (and q (not p))))", true),
        ("(assert (= (select (lambda ((x Int)) (select (lambda ((y Int)) (+ x y)) 1)) 2) 3))", true),
        ("(assert (= (select (lambda ((x Int)) (select (lambda ((y Int)) (+ y y)) 1)) 2) 3))", false),
    ] {
        store.reset(&clean);
        evaluator.forget();
        let text = format!("{text}(check-sat)");
        let script = parse(&mut store, text.as_bytes(), smtlib::Mode::Tolerant).expect("a script").script;
        let [term] = eval::model::checked_terms(&script)[..] else { panic!("{text}") };
        assert_eq!(evaluator.holds(&store, &Model::new(), term), Ok(holds), "{text}");
    }
}

#[test]
fn memory_does_not_outlive_the_model() {
    let case = Case::new("(declare-const x Int)").with(&[("x", "3")]);
    let term = case.term("(* x x)");
    let fun = case.script.declared_funs().next().expect("a constant");
    let store = case.store.borrow();
    let mut evaluator = eval::Evaluator::default();
    assert_eq!(evaluator.evaluate(&store, &case.model.borrow(), term), Ok(Value::int(9)));
    case.model.borrow_mut().assign(fun, Value::int(4));
    assert_eq!(evaluator.known(term), Some(&Ok(Value::int(9))));
    evaluator.forget();
    assert_eq!(evaluator.known(term), None);
    assert_eq!(evaluator.evaluate(&store, &case.model.borrow(), term), Ok(Value::int(16)));
}
