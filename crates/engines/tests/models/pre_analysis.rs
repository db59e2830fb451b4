//! DIVER's pre-analysis: the paper's examples, and its Proposition 1 as a property of every rule.

use std::collections::BTreeMap;
use std::ops::Bound;

use crate::common::{LOGICS, grammar, read, satisfied};
use engines::diver::{Closed, Constraint, Ground, Places, Words, constraint_at, convert, score};
use eval::abstraction::Interval;
use eval::integer::Integer;
use eval::rational::Rational;
use eval::sorts::Sorts;
use eval::string::Str;
use eval::{Budget, EvaluatedModel, Mode, Model, Value, to_term};
use generate::rng::{self, Rng};
use smtlib::{Head, Store, Term};

fn evaluated(model: Model) -> EvaluatedModel {
    EvaluatedModel::new(model, Mode::Given, Budget::default())
}

/// The first assertion of a script under values for its constants, in order of declaration.
fn formula(text: &str, values: Vec<Value>) -> (Store, Term, EvaluatedModel) {
    let mut store = Store::new();
    let script = read(&mut store, text);
    let mut model = Model::new();
    for (fun, value) in script.declared_funs().zip(values) {
        model.assign(fun, value);
    }
    let term = script.assertions().next().expect("an assertion");
    let mut evaluated = evaluated(model);
    assert_eq!(evaluated.holds(&store, term), Ok(true));
    (store, term, evaluated)
}

fn real(n: i64) -> Rational {
    Rational::from(Integer::new(n))
}

fn reals(low: Option<i64>, high: Option<i64>) -> Constraint {
    let end = |end: Option<i64>| end.map_or(Bound::Unbounded, |end| Bound::Included(real(end)));
    Constraint::Real(Interval { low: end(low), high: end(high) })
}

fn ints(low: Option<i64>, high: Option<i64>) -> Constraint {
    let end = |end: Option<i64>| end.map_or(Bound::Unbounded, |end| Bound::Included(Integer::new(end)));
    Constraint::Int(Interval { low: end(low), high: end(high) })
}

fn text(word: &str) -> Value {
    Value::Str(Str::try_from(word).expect("a string"))
}

/// What may stand at a path of the formula.
fn at((store, term, evaluated): &mut (Store, Term, EvaluatedModel), path: &[u32]) -> Constraint {
    constraint_at(store, evaluated, *term, path).set
}

#[test]
fn the_running_example_has_the_papers_constraints_and_probabilities() {
    let script = "(declare-fun x () Real)(declare-fun y () Real)(assert (and (<= 0.0 y) (= x (+ 2.0 y))))";
    let (store, term, mut evaluated) = formula(script, vec![Value::real(real(3)), Value::real(real(1))]);
    let places = Places::analyse(&store, &mut evaluated, &[term], false);
    let truth = Constraint::Bool(true);
    // l0 to l8 of section II-B, breadth first.
    let expected = [
        truth.clone(),
        truth.clone(),
        truth,
        reals(None, Some(1)),
        reals(Some(0), None),
        reals(Some(3), Some(3)),
        reals(Some(3), Some(3)),
        reals(Some(2), Some(2)),
        reals(Some(1), Some(1)),
    ];
    let found: Vec<Constraint> = places.iter().map(|place| place.allowed.set.clone()).collect();
    assert_eq!(found, expected);
    let rounded = |place| (places.probability(place) * 10_000.0).round() / 10_000.0;
    assert_eq!([rounded(3), rounded(4)], [0.2854, 0.2854]);
    assert_eq!([5, 6, 7, 8].map(rounded), [0.0003; 4]);
}

#[test]
fn table_one_conjunction() {
    let bools = |x: bool, y: bool| vec![Value::Bool(x), Value::Bool(y)];
    let declare = "(declare-fun x () Bool)(declare-fun y () Bool)";
    // C(l3) = true
    let mut both = formula(&format!("{declare}(assert (and x y))"), bools(true, true));
    assert_eq!([at(&mut both, &[0]), at(&mut both, &[1])], [Constraint::Bool(true), Constraint::Bool(true)]);
    // C(l3) = top: the other disjunct is true already
    let mut free = formula(&format!("{declare}(assert (or x (and x y)))"), bools(true, true));
    assert_eq!([at(&mut free, &[1, 0]), at(&mut free, &[1, 1])], [Constraint::Any, Constraint::Any]);
    // C(l3) = false, in the three ways
    for (x, y, expected) in [
        (true, false, [Constraint::Any, Constraint::Bool(false)]),
        (false, true, [Constraint::Bool(false), Constraint::Any]),
        (false, false, [Constraint::Any, Constraint::Any]),
    ] {
        let mut not = formula(&format!("{declare}(assert (not (and x y)))"), bools(x, y));
        assert_eq!([at(&mut not, &[0, 0]), at(&mut not, &[0, 1])], expected, "{x} {y}");
    }
}

#[test]
fn table_one_comparison_and_sum() {
    let declare = "(declare-fun x () Int)(declare-fun y () Int)";
    let values = |x: i64, y: i64| vec![Value::int(x), Value::int(y)];
    let mut holds = formula(&format!("{declare}(assert (>= x y))"), values(5, 3));
    assert_eq!([at(&mut holds, &[0]), at(&mut holds, &[1])], [ints(Some(3), None), ints(None, Some(5))]);
    let mut fails = formula(&format!("{declare}(assert (not (>= x y)))"), values(3, 5));
    assert_eq!(
        [at(&mut fails, &[0, 0]), at(&mut fails, &[0, 1])],
        [ints(None, Some(4)), ints(Some(4), None)]
    );
    let mut free = formula(&format!("{declare}(assert (or true (>= x y)))"), values(3, 5));
    assert_eq!([at(&mut free, &[1, 0]), at(&mut free, &[1, 1])], [Constraint::Any, Constraint::Any]);
    let mut sum = formula(&format!("{declare}(assert (>= (+ x y) 7))"), values(5, 3));
    assert_eq!([at(&mut sum, &[0, 0]), at(&mut sum, &[0, 1])], [ints(Some(4), None), ints(Some(2), None)]);
    // For reals the open bound takes the place of the paper's 10^-6.
    let script = "(declare-fun x () Real)(declare-fun y () Real)(assert (not (>= x y)))";
    let mut strict = formula(script, vec![Value::real(real(3)), Value::real(real(5))]);
    let open = Interval { low: Bound::Unbounded, high: Bound::Excluded(real(5)) };
    assert_eq!(at(&mut strict, &[0, 0]), Constraint::Real(open));
}

#[test]
fn table_one_strings_and_table_two() {
    let script = "(declare-fun x () String)(declare-fun y () String)(assert (str.< x y))";
    let mut less = formula(script, vec![text("ab"), text("b")]);
    let (below, above) = (Words::Below(text("b"), Closed::No), Words::Above(text("ab"), Closed::No));
    assert_eq!(
        [at(&mut less, &[0]), at(&mut less, &[1])].map(|set| set),
        [Constraint::Words(below.clone()), Constraint::Words(above)]
    );
    // All of the paper's X.Sigma* (a smaller first character), and what it leaves out.
    for word in ["a", "azz", "", "AB"] {
        assert_eq!(below.contains(&text(word)), Some(true), "{word}");
    }
    assert_eq!(below.contains(&text("b")), Some(false));
    // Table II: concatenation keeps its values. In mod the numbers of the same period may stand, where the paper keeps one.
    let script = "(declare-fun x () Int)(declare-fun y () Int)(assert (< (mod x y) 3))";
    let mut modulo = formula(script, vec![Value::int(12), Value::int(5)]);
    assert_eq!(
        [at(&mut modulo, &[0, 0]), at(&mut modulo, &[0, 1])],
        [ints(Some(10), Some(12)), ints(Some(5), Some(5))]
    );
    let script = "(declare-fun x () String)(declare-fun y () String)(assert (str.< \"a\" (str.++ x y)))";
    let mut concat = formula(script, vec![text("b"), text("c")]);
    assert_eq!(
        [at(&mut concat, &[1, 0]), at(&mut concat, &[1, 1])],
        [text("b"), text("c")].map(Constraint::Only)
    );
}

#[test]
fn scores_are_those_of_section_three() {
    assert_eq!(score(&Constraint::Any), 1.0);
    assert_eq!(score(&Constraint::Bool(true)), 0.5);
    assert_eq!(score(&ints(Some(3), None)), 1.0);
    assert_eq!(score(&ints(Some(0), Some(1000))), 1.0);
    assert_eq!(score(&ints(Some(1), Some(500))), 0.5);
    assert_eq!(score(&ints(Some(7), Some(7))), 0.001);
    assert_eq!(score(&Constraint::Words(Words::StartingWith(text("a")))), 1.0);
    assert_eq!(score(&Constraint::Words(Words::PrefixOf(text("a")))), 0.001);
}

/// Values to try at a place: random ones of the sort, and those that occur around.
fn candidates(
    store: &Store,
    evaluated: &mut EvaluatedModel,
    term: Term,
    near: &[Value],
    rng: &mut Rng,
) -> Vec<Value> {
    let sort = store.sort_of(term);
    let sorts = Sorts::new(store, evaluated.model());
    let mut values: Vec<Value> = (0..6).filter_map(|_| sorts.random_value(sort, rng)).collect();
    values.extend(near.iter().cloned());
    values.extend(evaluated.evaluate(store, term).ok());
    values
}

/// What happened to the rule of an operator.
#[derive(Default, Debug)]
struct Seen {
    inside: usize,
    outside: usize,
}

#[test]
fn values_inside_a_complete_or_partial_constraint_keep_the_formula_true_and_others_do_not() {
    let seeds = if cfg!(debug_assertions) { 900 } else { 12_000 };
    let mut rng = rng::stream(11, 0);
    let mut seen: BTreeMap<String, Seen> = BTreeMap::new();
    for index in 0..seeds {
        let grammar = grammar(LOGICS[index % LOGICS.len()]);
        let mut store = Store::new();
        let Some((script, model)) = satisfied(&mut store, &grammar, 10_000 + index as u64) else { continue };
        let mut evaluated = evaluated(model);
        let assertions: Vec<Term> = script.assertions().collect();
        let places = Places::analyse(&store, &mut evaluated, &assertions, false);
        let mut path = Vec::new();
        let mut near: BTreeMap<smtlib::Sort, Vec<Value>> = BTreeMap::new();
        for place in places.iter() {
            if let Ok(value) = evaluated.evaluate(&store, place.term) {
                near.entry(store.sort_of(place.term)).or_default().push(value);
            }
        }
        for number in 0..places.len().min(60) {
            let place = places.get(number);
            let sort = store.sort_of(place.term);
            if sort == smtlib::Sort::REGLAN || place.allowed.set == Constraint::Unstated {
                continue;
            }
            let name = places.parent(number).map_or("assert".to_owned(), |(parent, child)| {
                match store.head(parent) {
                    Head::Op(op, _) => format!("{} {child}", op.row().variant),
                    other => format!("{other:?}").split('(').next().unwrap_or_default().to_owned(),
                }
            });
            let root = assertions[places.path(number, &mut path)];
            let near: Vec<Value> =
                near.get(&sort).map_or(Vec::new(), |near| near.iter().take(6).cloned().collect());
            for value in candidates(&store, &mut evaluated, place.term, &near, &mut rng) {
                let Some(inside) = place.allowed.set.contains(&value) else { continue };
                let Some(new) = to_term(&mut store, sort, &value) else { continue };
                if let Some(said) = convert(&mut store, &place.allowed.set, new)
                    && place.ground == Ground::Outside
                    && let Ok(truth) = evaluated.holds(&store, said)
                {
                    assert_eq!(truth, inside, "{} says {value:?}", store.term_text(said));
                }
                if !inside && !place.allowed.complete {
                    continue;
                }
                let mutant = store.replace_at(root, &path, new).expect("the same sort");
                if let Ok(truth) = evaluated.holds(&store, mutant) {
                    assert_eq!(
                        truth,
                        inside,
                        "{name}: {value:?} against {:?}\n{}\n{}",
                        place.allowed,
                        store.term_text(root),
                        store.term_text(mutant)
                    );
                    let seen = seen.entry(name.clone()).or_default();
                    if inside { seen.inside += 1 } else { seen.outside += 1 }
                }
            }
        }
    }
    // The rules with a full range have been put to the test in both directions.
    for rule in [
        "And 0",
        "Or 1",
        "Not 0",
        "Implies 0",
        "Xor 0",
        "Equal 0",
        "Distinct 1",
        "Ite 0",
        "Ite 1",
        "IntLe 0",
        "IntLt 1",
        "IntAdd 0",
        "IntSub 1",
        "IntMul 0",
        "RealGe 0",
        "RealAdd 1",
        "RealMul 0",
        "BvUlt 0",
        "BvSle 1",
        "BvAdd 0",
        "BvAnd 0",
        "BvOr 1",
        "BvNot 0",
        "FpLt 0",
        "FpEq 1",
        "FpIsNan 0",
        "StrLe 0",
        "StrPrefixof 1",
        "StrLen 0",
        "Select 0",
    ] {
        let seen = seen.get(rule).unwrap_or_else(|| panic!("{rule} never came up"));
        assert!(seen.inside > 0, "{rule}: {seen:?}");
    }
    assert!(seen.values().map(|seen| seen.outside).sum::<usize>() > 1_000);
}
