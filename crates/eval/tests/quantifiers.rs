//! Quantifiers over large and infinite sorts against all values that can matter, counted out here.

mod common;

use common::Case;
use eval::Reason;
use eval::evaluate::{Budget, Evaluator, Mode};
use proptest::prelude::*;

#[test]
fn bounds_equations_and_linear_atoms_decide_infinite_quantifiers() {
    let case = Case::new("(declare-const n Int)(declare-const a (Array Int Int))(declare-const r Real)")
        .with(&[("n", "3"), ("a", "(store ((as const (Array Int Int)) 0) 2 7)"), ("r", "2.5")]);
    for (text, value) in [
        ("(forall ((x Int)) (=> (and (<= 0 x) (< x n)) (>= (select a x) 0)))", "true"),
        ("(forall ((x Int)) (=> (< 0 (* 2 x) 7) (= (select a x) 0)))", "false"),
        (
            "(forall ((x Int)) (or (< x 0) (not (< x n)) (forall ((y Int)) (=> (<= 0 y x) (<= (* y y) 4)))))",
            "true",
        ),
        // Bounds that depend on one another.
        ("(forall ((x Int) (y Int)) (=> (and (<= x y) (<= 0 x) (<= y 4)) (<= (* x y) 16)))", "true"),
        ("(exists ((x Int) (y Int)) (and (< x y) (< y n) (> x 0) (= (select a x) 7)))", "false"),
        ("(forall ((x Int)) (=> (or (= x 2) (= x (+ n 2))) (>= (select a x) 0)))", "true"),
        ("(forall ((x Int)) (=> (= (select a n) 5) (= (select a x) 1)))", "true"),
        ("(exists ((x Real)) (and (= (* 2.0 x) r) (> (* x x) 2.0)))", "false"),
        (
            "(forall ((u (_ BitVec 64))) (=> (bvult u #x0000000000000010) (= (bvand u (bvnot #x000000000000000f)) #x0000000000000000)))",
            "true",
        ),
        ("(forall ((x Int)) (= (= 0 x) (= x 0)))", "true"),
        ("(forall ((x Int)) (or (> (* 2 x) 1) (< (* 2 x) 1)))", "true"),
        ("(forall ((x Real)) (or (> (* 2.0 x) 1.0) (< (* 2.0 x) 1.0)))", "false"),
        ("(forall ((x Real)) (exists ((y Real)) (and (< x y) (< y (+ x (/ 1.0 1000.0))))))", "true"),
        ("(forall ((x Real) (y Real)) (=> (< x y) (exists ((z Real)) (and (< x z) (< z y)))))", "true"),
        ("(exists ((x Real)) (forall ((y Real)) (or (<= x y) (and (< y x) (< y r)))))", "true"),
        ("(forall ((x Real)) (exists ((p Bool)) (= p (> x r))))", "true"),
    ] {
        assert_eq!(case.text(text), value, "{text}");
    }
}

#[test]
fn what_few_values_cannot_decide_stays_unknown() {
    let case = Case::new("(declare-fun f (Int) Int)(declare-const r Real)").with(&[("r", "1.5")]);
    for text in [
        "(forall ((x Int)) (>= (* x x) 0))",
        "(forall ((x Int)) (=> (>= x 0) (>= (* x x) 0)))",
        // Between two integers there need be none: what holds of reals is not carried over.
        "(forall ((x Int)) (exists ((y Int)) (or (= x (* 2 y)) (= x (+ 1 (* 2 y))))))",
        // The same name inside and outside.
        "(forall ((x Real)) (exists ((y Real)) (and (> y x) (exists ((x Real)) (= (* x x) (* y y))))))",
        "(forall ((x Real)) (=> (> x r) (> (* x x) 2.0)))",
    ] {
        assert_eq!(case.reason(text), Reason::InfiniteQuantifier, "{text}");
    }
}

/// A formula over three variables.
#[derive(Clone, Debug)]
enum Formula {
    /// Coefficients, constant, relation.
    Atom([i64; 3], i64, usize),
    And(Box<Formula>, Box<Formula>),
    Or(Box<Formula>, Box<Formula>),
    Not(Box<Formula>),
}

const RELATIONS: [&str; 5] = ["<=", "<", ">=", ">", "="];

impl Formula {
    fn any(most: i64) -> impl Strategy<Value = Formula> {
        let coefficient = -most..=most;
        let coefficients = [coefficient.clone(), coefficient.clone(), coefficient];
        let atom = (coefficients, -3i64..=3, 0..RELATIONS.len());
        let atom = atom
            .prop_map(|(coefficients, constant, relation)| Formula::Atom(coefficients, constant, relation));
        atom.prop_recursive(3, 6, 2, |inner| {
            let pair = (inner.clone(), inner.clone());
            prop_oneof![
                pair.clone().prop_map(|(a, b)| Formula::And(Box::new(a), Box::new(b))),
                pair.prop_map(|(a, b)| Formula::Or(Box::new(a), Box::new(b))),
                inner.prop_map(|a| Formula::Not(Box::new(a))),
            ]
        })
    }

    /// The truth for values that are counted in parts of a whole.
    fn holds(&self, values: [i64; 3], parts: i64) -> bool {
        match self {
            Formula::Atom(coefficients, constant, relation) => {
                let sum: i64 = coefficients.iter().zip(values).map(|(a, x)| a * x).sum();
                let constant = constant * parts;
                [sum <= constant, sum < constant, sum >= constant, sum > constant, sum == constant][*relation]
            }
            Formula::And(a, b) => a.holds(values, parts) && b.holds(values, parts),
            Formula::Or(a, b) => a.holds(values, parts) || b.holds(values, parts),
            Formula::Not(a) => !a.holds(values, parts),
        }
    }

    fn text(&self, point: &str) -> String {
        let number = |n: i64| if n < 0 { format!("(- {}{point})", -n) } else { format!("{n}{point}") };
        match self {
            Formula::Atom([a, b, c], constant, relation) => format!(
                "({} (+ (* {} x) (* {} y) (* z {})) {})",
                RELATIONS[*relation],
                number(*a),
                number(*b),
                number(*c),
                number(*constant)
            ),
            Formula::And(a, b) => format!("(and {} {})", a.text(point), b.text(point)),
            Formula::Or(a, b) => format!("(or {} {})", a.text(point), b.text(point)),
            Formula::Not(a) => format!("(not {})", a.text(point)),
        }
    }
}

/// Do two values lie within two ends, in the way of a guard?
type Within = fn(i64, i64, i64, i64) -> bool;

fn quantifier(all: bool) -> &'static str {
    if all { "forall" } else { "exists" }
}

fn each(all: bool, mut values: impl Iterator<Item = i64>, mut holds: impl FnMut(i64) -> bool) -> bool {
    if all { values.all(&mut holds) } else { values.any(&mut holds) }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1024))]

    /// With coefficients up to one in size, everything about `z` changes at integer distances from `x` and `y`: what is
    /// left without it changes at halves of `y`, so quarters of `y` and eighths of `z` have a value of every piece.
    #[test]
    fn nested_real_quantifiers_agree_with_a_fine_grid(
        formula in Formula::any(1),
        x in 0i64..=3,
        outer: bool,
        inner: bool,
    ) {
        let case = Case::new("(declare-const x Real)").with(&[("x", &format!("{x}.0"))]);
        let (outer_name, inner_name) = (quantifier(outer), quantifier(inner));
        let text = format!("({outer_name} ((y Real)) ({inner_name} ((z Real)) {}))", formula.text(".0"));
        let expected = each(outer, (-20 * 4..=20 * 4).map(|y| 2 * y), |y| {
            each(inner, -40 * 8..=40 * 8, |z| formula.holds([x * 8, y, z], 8))
        });
        prop_assert_eq!(case.text(&text), expected.to_string(), "{}", text);
    }

    /// Atoms change at thirds and halves, all between -16 and 16.
    #[test]
    fn one_number_agrees_with_all_that_can_matter(formula in Formula::any(3), x in 0i64..=2, y in 0i64..=2, all: bool) {
        let values = [("x", x.to_string()), ("y", y.to_string())];
        let values: Vec<(&str, &str)> = values.iter().map(|(name, text)| (*name, text.as_str())).collect();
        let case = Case::new("(declare-const x Int)(declare-const y Int)").with(&values);
        let text = format!("({} ((z Int)) {})", quantifier(all), formula.text(""));
        let expected = each(all, -20..=20, |z| formula.holds([x, y, z], 1));
        prop_assert_eq!(case.text(&text), expected.to_string(), "{}", text);

        let values = [("x", format!("{x}.0")), ("y", format!("{y}.0"))];
        let values: Vec<(&str, &str)> = values.iter().map(|(name, text)| (*name, text.as_str())).collect();
        let case = Case::new("(declare-const x Real)(declare-const y Real)").with(&values);
        let text = format!("({} ((z Real)) {})", quantifier(all), formula.text(".0"));
        let expected = each(all, -20 * 12..=20 * 12, |z| formula.holds([x * 12, y * 12, z], 12));
        prop_assert_eq!(case.text(&text), expected.to_string(), "{}", text);
    }

    /// Guards leave a triangle, a chain or an equation; the body is not linear, so it takes the bounds to decide.
    #[test]
    fn bounded_integers_agree_with_all_values_within(
        formula in Formula::any(2),
        guard in 0usize..5,
        low in -3i64..=3,
        high in -3i64..=3,
        all: bool,
    ) {
        let number = |n: i64| if n < 0 { format!("(- {})", -n) } else { n.to_string() };
        let (l, h) = (number(low), number(high));
        let (condition, within): (String, Within) = match guard {
            0 => (format!("(and (<= {l} y) (<= y z) (not (> z {h})))"), |y, z, l, h| l <= y && y <= z && z <= h),
            1 => (format!("(< {l} z y {h})"), |y, z, l, h| l < z && z < y && y < h),
            2 => (format!("(and (= y (+ z 1)) (or (= z {l}) (= {h} z)))"), |y, z, l, h| y == z + 1 && (z == l || z == h)),
            3 => (format!("(and (= (* 2 z) y) (>= z {l}) (< (+ y 1) {h}))"), |y, z, l, h| 2 * z == y && z >= l && y + 1 < h),
            _ => (format!("(not (=> (<= {l} (* 2 y) {h}) (distinct z y)))"), |y, z, l, h| l <= 2 * y && 2 * y <= h && z == y),
        };
        let case = Case::new("(declare-const x Int)").with(&[("x", "1")]);
        // Never false, and nothing that a linear form could tell.
        let body = format!("(and (>= (* y y z z) 0) {})", formula.text(""));
        let text = if all {
            format!("(forall ((y Int) (z Int)) (=> {condition} {body}))")
        } else {
            format!("(exists ((y Int) (z Int)) (and {condition} {body}))")
        };
        let expected = each(all, -10..=10, |y| {
            each(all, -10..=10, |z| {
                if within(y, z, low, high) { formula.holds([1, y, z], 1) } else { all }
            })
        });
        prop_assert_eq!(case.text(&text), expected.to_string(), "{}", text);
    }

    /// The same quantifier with every value listed, and with so small a budget that only its bounds can decide it.
    #[test]
    fn bounds_of_bit_vectors_agree_with_the_whole_sort(
        relations in [0usize..8, 0usize..8],
        ends in [any::<u8>(), any::<u8>()],
        factor: u8,
        right: u8,
        all: bool,
    ) {
        let relation = |number: usize, end: u8| {
            let op = ["bvult", "bvule", "bvugt", "bvuge"][number % 4];
            if number < 4 { format!("({op} u #x{end:02x})") } else { format!("(not ({op} #x{end:02x} u))") }
        };
        let condition = format!("(and {} {})", relation(relations[0], ends[0]), relation(relations[1], ends[1]));
        let body = format!("(bvule (bvmul u #x{factor:02x}) #x{right:02x})");
        let text = if all {
            format!("(forall ((u (_ BitVec 8))) (=> {condition} {body}))")
        } else {
            format!("(exists ((u (_ BitVec 8))) (and {condition} {body}))")
        };
        let case = Case::new("");
        let whole = case.holds(&text);
        let term = case.term(&text);
        let small = Budget { instances: 64, candidates: 8, ..Budget::default() };
        let mut evaluator = Evaluator::new(Mode::Given, small);
        match evaluator.holds(&case.store.borrow(), &case.model.borrow(), term) {
            Ok(value) => prop_assert_eq!(value, whole, "{}", text),
            Err(unknown) => prop_assert_eq!(unknown.reason, Reason::InfiniteQuantifier, "{}", text),
        }
    }
}
