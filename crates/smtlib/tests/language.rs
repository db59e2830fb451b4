//! What the reader accepts, refuses and says; what changing a term does.

use smtlib::theory::Theory;
use smtlib::{Command, Head, Mode, Op, ParseError, Polarity, Release, Script, Sort, Store, Term, parse};

fn tolerant(source: &str) -> (Store, Script) {
    let mut store = Store::new();
    let parsed = parse(&mut store, source.as_bytes(), Mode::Tolerant).expect("well-formed");
    (store, parsed.script)
}

fn error(source: &str, mode: Mode) -> ParseError {
    let mut store = Store::new();
    parse(&mut store, source.as_bytes(), mode).expect_err("ill-formed")
}

fn asserted(script: &Script) -> Term {
    script.assertions().next().expect("an assertion")
}

#[test]
fn an_ill_sorted_application_is_refused_where_it_stands() {
    let source = "(declare-const x Int)\n(assert (> x \"a\"))";
    let error = error(source, Mode::Tolerant);
    let place = smtlib::place(source.as_bytes(), error.offset);
    assert_eq!((place.line, place.column), (2, 9));
    assert!(error.message.contains("Int String"), "{}", error.message);
    assert!(error.excerpt(source.as_bytes()).lines().last().is_some_and(|line| line.ends_with('^')));
}

#[test]
fn mistakes_are_named() {
    for (source, expected) in [
        ("(assert (bvadd #b01 #b1))", "bvadd"),
        ("(assert ((_ extract 8 0) #x01))", "extract"),
        ("(declare-const x Int)(assert x)", "sort Bool"),
        ("(assert (let ((x true)) x)", "the end of the file"),
        ("(assert true) (check-sat", "the end of the file"),
        ("(declare-fun f (Int) Int)(assert (= (f 1 2) 0))", "takes 1 argument(s), found 2"),
        ("(assert |abc)", "not closed"),
        ("(declare-const x (Array Int))", "unknown sort"),
        ("(assert (forall ((x Int)) x))", "sort Bool"),
    ] {
        let message = error(source, Mode::Strict).message;
        assert!(message.contains(expected), "{source}: {message}");
    }
}

#[test]
fn strict_mode_follows_the_standard() {
    for source in [
        "(declare-const x Int)(assert (= x 1.5))",
        "(declare-const x Int)(assert (> (+ x 1.5) 0.0))",
        "(declare-const s String)(assert (= (str.to.int s) 1))",
        "(assert (frobnicate true))",
        "(frobnicate)",
        "(declare-const x Int)(assert (= (^ x 2) 4))",
        "(declare-const x Foo)",
    ] {
        error(source, Mode::Strict);
    }
    let mut store = Store::new();
    let standard = "(set-logic QF_LRA)(declare-const x Real)(assert (< (* 2 x) 7))(check-sat)";
    parse(&mut store, standard.as_bytes(), Mode::Strict).expect("numerals are reals in QF_LRA");
}

/// Z3 alone takes these operators with one argument.
#[test]
fn an_operator_with_one_argument_means_what_z3_makes_of_it() {
    for (given, read) in [("bvxnor", "(bvnot a)"), ("bvxor", "a")] {
        let (store, script) =
            tolerant(&format!("(declare-const a (_ BitVec 4))(assert (= #x3 ({given} a)))"));
        assert_eq!(store.term_text(asserted(&script)), format!("(= #x3 {read})"));
    }
}

#[test]
fn tolerant_mode_converts_and_says_so() {
    let mut store = Store::new();
    let source = b"(declare-const x Int)(declare-const y Real)(assert (< (+ x y 1) (to_real y)))";
    let parsed = parse(&mut store, source, Mode::Tolerant).expect("Z3 accepts it");
    assert!(parsed.notes.len() >= 2, "{:?}", parsed.notes);
    let text = store.term_text(asserted(&parsed.script));
    assert_eq!(text, "(< (+ (to_real x) y 1.0) y)");
}

#[test]
fn unknown_parts_stay_visible_and_unchanged() {
    let (store, script) =
        tolerant("(frob :x (1 2))(declare-const x Int)(assert (and (> x 1) (glork x (_ zap 3))))");
    assert!(matches!(&script.commands[0], Command::Opaque { text, .. } if &**text == "(frob :x (1 2))"));
    let term = asserted(&script);
    assert!(store.is_opaque(term));
    assert_eq!(store.term_text(term), "(and (> x 1) (glork x (_ zap 3)))");
}

#[test]
fn deep_nesting_costs_no_stack() {
    let depth = 200_000;
    let source = format!("(declare-const x Int)(assert (= 0 {}x{}))", "(- ".repeat(depth), ")".repeat(depth));
    let (store, script) = tolerant(&source);
    let term = asserted(&script);
    assert_eq!(store.depth(term), depth as u64 + 2);
    assert_eq!(store.term_text(term).len(), source.len() - "(declare-const x Int)(assert )".len());
}

#[test]
fn a_dag_is_printed_without_explosion_in_every_command() {
    let mut body = "x".to_owned();
    for i in 0..200 {
        body = format!("(let ((y{i} {body})) (bvmul (bvadd y{i} y{i} #x01 #x02 #x03 #x04) (bvnot y{i})))");
    }
    let source = format!(
        "(declare-const x (_ BitVec 8))(define-fun f ((x (_ BitVec 8))) (_ BitVec 8) {body})(assert (= x {body}))\
         (check-sat-assuming ((= x {body})))(get-value ({body}))"
    );
    let (store, script) = tolerant(&source);
    let text = smtlib::print::print(&store, &script, Release::STANDARD);
    assert!(text.len() < 4 * 200 * 200, "{} bytes", text.len());
}

#[test]
fn let_bound_terms_are_not_captured() {
    let (store, script) = tolerant("(declare-const x Int)(assert (let ((y x)) (forall ((x Int)) (<= x y))))");
    let text = store.term_text(asserted(&script));
    assert_eq!(text, "(forall ((x!1 Int)) (<= x!1 x))");
}

#[test]
fn replacement_rebuilds_the_way_up_and_keeps_sorts() {
    let (mut store, script) = tolerant("(declare-const x Int)(assert (and (> (+ x 1) 0) (< x 5)))");
    let term = asserted(&script);
    let seven = store.int(7);
    let new = store.replace_at(term, &[0, 0, 1], seven).expect("same sort");
    assert_eq!(store.term_text(new), "(and (> (+ x 7) 0) (< x 5))");
    let wrong = store.bool(true);
    assert!(store.replace_at(term, &[0, 0, 1], wrong).is_err(), "a Bool is no summand");
    assert!(store.replace_at(term, &[0, 9], seven).is_err(), "no such place");
    assert_eq!(store.replace_at(term, &[], wrong), Ok(wrong));
}

#[test]
fn nothing_ill_sorted_can_be_built() {
    let mut store = Store::new();
    let (one, yes) = (store.int(1), store.bool(true));
    assert!(store.op(Op::IntAdd, &[one, yes]).is_err());
    assert!(store.op(Op::Not, &[one]).is_err());
    assert!(store.op(Op::Ite, &[yes, one, yes]).is_err());
    assert!(store.op(Op::BvAdd, &[one, one]).is_err());
    let sum = store.op(Op::IntAdd, &[one, one]).expect("well-sorted");
    assert_eq!(store.sort_of(sum), Sort::INT);
}

#[test]
fn a_store_goes_back_to_its_mark() {
    let (mut store, script) = tolerant("(declare-const x Int)(assert (> x 1))");
    let before = store.term_text(asserted(&script));
    let mark = store.mark();
    let count = store.term_count();
    for i in 0..1000 {
        let n = store.int(i + 100);
        let name = store.symbol(&format!("fresh{i}"));
        let fun = store.declare_fun(name, &[], Sort::INT);
        let call = store.call(fun, &[]).expect("a constant");
        store.op(Op::IntAdd, &[n, call]).expect("well-sorted");
        store.reset(&mark);
    }
    assert_eq!(store.term_count(), count);
    assert_eq!(store.known_symbol("fresh7"), None);
    assert_eq!(store.term_text(asserted(&script)), before);
    let again =
        parse(&mut store, b"(declare-const x Int)(assert (> x 1))", Mode::Tolerant).expect("parses again");
    assert_eq!(store.term_text(asserted(&again.script)), before);
}

#[test]
fn substitution_renames_bound_variables() {
    let (mut store, script) = tolerant(
        "(declare-const a Int)(declare-const y Int)(assert (exists ((y Int)) (> y a)))\
         (declare-datatype D ((c (f Int))))(declare-const d D)(assert (match d (((c y) (> y a)))))(assert (= y y))",
    );
    let terms: Vec<Term> = script.assertions().collect();
    let y = store.args(terms[2])[0];
    let a = store
        .subterms(&terms[..1])
        .into_iter()
        .find(|term| matches!(store.head(*term), Head::Fun(fun) if store.name(store.fun(fun).name) == "a"));
    let map = [(a.expect("a occurs"), y)].into_iter().collect();
    let exists = store.substitute(terms[0], &map).expect("same sort");
    assert_eq!(store.term_text(exists), "(exists ((y!1 Int)) (> y!1 y))");
    let matched = store.substitute(terms[1], &map).expect("same sort");
    assert_eq!(store.term_text(matched), "(match d (((c y!2) (> y!2 y))))");
}

#[test]
fn replacement_in_place_keeps_bound_variables() {
    let (mut store, script) =
        tolerant("(declare-const a Int)(assert (forall ((y Int)) (and (> (+ y a) 1) (not (< (+ y a) 2)))))");
    let root = asserted(&script);
    let sum = store.subterms(&[root]).into_iter().find(|term| store.op_of(*term) == Some(Op::IntAdd));
    let sum = sum.expect("a sum");
    let map = [(sum, store.args(sum)[0])].into_iter().collect();
    let new = store.replace_in_place(root, &map).expect("same sort");
    assert_eq!(store.term_text(new), "(forall ((y Int)) (and (> y 1) (not (< y 2))))");
}

#[test]
fn polarity_follows_the_connectives() {
    let (store, script) =
        tolerant("(declare-const p Bool)(assert (=> (not p) (or (xor p p) (exists ((x Int)) p))))");
    let term = asserted(&script);
    assert_eq!(store.polarity_at(term, &[0]), Polarity::Negative);
    assert_eq!(store.polarity_at(term, &[0, 0]), Polarity::Positive);
    assert_eq!(store.polarity_at(term, &[1, 0, 1]), Polarity::Both);
    assert_eq!(store.polarity_at(term, &[1, 1, 0]), Polarity::Positive);
}

#[test]
fn the_smallest_logic_is_found() {
    for (source, logic) in [
        ("(declare-const p Bool)(assert p)", "QF_UF"),
        ("(declare-const x Int)(assert (> (* 2 x) 1))", "QF_LIA"),
        ("(declare-const x Real)(assert (> (* x x) 1.0))", "QF_NRA"),
        ("(declare-fun f (Int) Int)(assert (forall ((x Int)) (= (f x) x)))", "UFLIA"),
        ("(declare-const s String)(assert (= (str.len s) 1))", "QF_SLIA"),
        ("(declare-const a (Array Int (_ BitVec 8)))(assert (= (select a 0) #x00))", "QF_ABVLIA"),
        ("(declare-const x Float32)(assert (fp.isNaN x))", "QF_FP"),
        ("(declare-const x (Seq Int))(assert (= x x))", "ALL"),
        ("(declare-datatype D ((c)))(declare-const d D)(assert (= d c))", "QF_DT"),
    ] {
        let (store, script) = tolerant(source);
        assert_eq!(smtlib::logic::usage(&store, &script).logic(), logic, "{source}");
    }
    let (store, script) = tolerant("(declare-const s String)(assert (= (str.len s) 1))");
    assert!(smtlib::logic::usage(&store, &script).theories.contains(&Theory::Strings));
}

#[test]
fn a_logic_of_functions_is_named_to_those_who_know_the_name() {
    let (store, script) = tolerant("(set-logic HO_LIA)(declare-const x Int)(assert (> x 0))(check-sat)");
    let release = |family| Release::new(family, "5.4.0".parse().expect("version"));
    let (z3, cvc5) = (release(smtlib::Family::Z3), release(smtlib::Family::Cvc5));
    let printed = |release| smtlib::print::print(&store, &script, release);
    assert!(
        printed(z3).starts_with("(set-logic ALL)\n") && printed(cvc5).starts_with("(set-logic HO_LIA)\n")
    );
    assert!(!smtlib::print::same_text(&smtlib::logic::usage(&store, &script), z3, cvc5));
}

#[test]
fn old_releases_get_their_own_dialect() {
    let source = "(declare-const s String)(declare-const i Int)(assert (= (str.to_int s) i))\
                  (assert (str.in_re \"\\u{e9}\" (re.* (str.to_re s))))(assert ((_ divisible 3) i))";
    let (store, script) = tolerant(source);
    let old = Release::new(smtlib::Family::Z3, "4.8.5".parse().expect("version"));
    let text = smtlib::print::print(&store, &script, old);
    for expected in ["str.to.int", "str.in.re", "\"\\xe9\"", "str.to.re", "(= (mod i 3) 0)"] {
        assert!(text.contains(expected), "{expected} in {text}");
    }
}
