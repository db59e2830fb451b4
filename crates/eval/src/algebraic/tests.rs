//! Laws of the field of real algebraic numbers, and known values.

use std::hash::{DefaultHasher, Hash, Hasher};

use proptest::prelude::*;

use super::*;

fn polynomial(coefficients: &[i64]) -> Polynomial {
    Polynomial::new(coefficients.iter().copied().map(Integer::from).collect())
}

fn root(coefficients: &[i64], index: usize) -> Real {
    Real::from_root_index(polynomial(coefficients), index).expect("the root exists")
}

fn rational(text: &str) -> Real {
    Real::Rational(text.parse().expect("a well-formed literal"))
}

fn sqrt(value: i64) -> Real {
    root(&[-value, 0, 1], 2)
}

fn hash(value: &Real) -> u64 {
    let mut hasher = DefaultHasher::new();
    value.hash(&mut hasher);
    hasher.finish()
}

/// All real roots of small random polynomials, and some rationals.
fn real() -> impl Strategy<Value = Real> {
    prop_oneof![
        1 => (-20i64..20, 1i64..9).prop_map(|(n, d)| {
            Real::Rational(Rational::new(Integer::from(n), Integer::from(d)).expect("nonzero"))
        }),
        4 => (prop::collection::vec(-9i64..=9, 2..=4), 1usize..4).prop_filter_map(
            "no such root",
            |(coefficients, index)| Real::from_root_index(polynomial(&coefficients), index).ok(),
        ),
    ]
}

#[test]
fn rational_roots_are_rational_numbers() {
    assert_eq!(root(&[-2, 1], 1).to_rational(), Some(&Rational::from(2)));
    // (2x - 1)(x^2 - 2)
    let half = root(&[2, -4, -1, 2], 2);
    assert_eq!(half.to_string(), "1/2");
    assert_eq!(root(&[2, -4, -1, 2], 3), sqrt(2));
    // A repeated root counts once: (x - 3)^2 (x + 1)
    assert_eq!(root(&[9, 3, -5, 1], 2).to_string(), "3");
    assert_eq!(sqrt(4).to_string(), "2");
}

#[test]
fn descriptions_that_name_no_root_are_refused() {
    let missing = Real::from_root_index(polynomial(&[1, 0, 1]), 1);
    assert_eq!(missing, Err(RootError::NoSuchRoot { index: 1, count: 0 }));
    assert!(Real::from_root_index(polynomial(&[-2, 0, 1]), 0).is_err());
    assert!(Real::from_root_index(polynomial(&[]), 1).is_err());
    assert!(Real::from_root_index(polynomial(&[5]), 1).is_err());
    let both = Real::from_interval(polynomial(&[-2, 0, 1]), (-2).into(), 2.into());
    assert_eq!(both, Err(RootError::NotIsolating(2)));
    let backwards = Real::from_interval(polynomial(&[-2, 0, 1]), 2.into(), 1.into());
    assert!(backwards.is_err());
}

#[test]
fn an_interval_is_open_at_both_ends() {
    // (x - 1)(x - 2)(x^2 - 2) has a root at each end and one inside.
    let value = Real::from_interval(polynomial(&[-4, 6, 0, -3, 1]), 1.into(), 2.into());
    assert_eq!(value.expect("isolated"), sqrt(2));
    // x^2 - 3x + 2: only the ends
    let ends = Real::from_interval(polynomial(&[2, -3, 1]), 1.into(), 2.into());
    assert_eq!(ends, Err(RootError::NotIsolating(0)));
    let point = Real::from_interval(polynomial(&[2, -3, 1]), 1.into(), 1.into());
    assert_eq!(point.expect("a root").to_string(), "1");
}

#[test]
fn square_roots_add_and_multiply_exactly() {
    let (two, three, six) = (sqrt(2), sqrt(3), sqrt(6));
    assert_eq!(two.mul(&three).expect("small"), six);
    assert_eq!(two.mul(&two).expect("small").to_string(), "2");
    let sum = two.add(&three).expect("small");
    assert_eq!(sum, root(&[1, 0, -10, 0, 1], 4));
    assert_eq!(sum.sub(&three).expect("small"), two);
    assert_eq!(sum.sub(&sum).expect("small").to_string(), "0");
    let square = sum.pow(&Integer::from(2)).expect("small").expect("defined");
    let expected = six.add(&six).and_then(|x| x.add(&rational("5")));
    assert_eq!(square, expected.expect("small"));
    assert_eq!(square.floor(), Integer::from(9));
}

#[test]
fn numbers_with_different_polynomials_are_recognised_as_equal() {
    // x^2 - 2 and (x^2 - 2)(x^2 + x + 1)
    let plain = sqrt(2);
    let hidden = root(&[-2, -2, -1, 1, 1], 2);
    assert_eq!(plain, hidden);
    assert_eq!(hash(&plain), hash(&hidden));
    assert!(plain < rational("1414213563/1000000000"));
    assert!(plain > rational("1414213562/1000000000"));
}

#[test]
fn polynomial_signs_at_a_root_are_exact() {
    let alpha = root(&[-3, -1, 0, 1], 1);
    assert_eq!(alpha.sign_of(&polynomial(&[-3, -1, 0, 1])), 0);
    // x (x^3 - x - 3) + 1 is 1 there
    assert_eq!(alpha.sign_of(&polynomial(&[1, -3, -1, 0, 1])), 1);
    assert_eq!(alpha.sign_of(&polynomial(&[-2, 1])), -1);
    assert_eq!(sqrt(2).sign_of(&polynomial(&[2, -2, -1, 1])), 0);
}

#[test]
fn nth_roots_exist_where_they_are_real() {
    let two = rational("2");
    assert_eq!(two.nth_root(2), Ok(Some(sqrt(2))));
    assert_eq!(rational("-8/27").nth_root(3), Ok(Some(rational("-2/3"))));
    assert_eq!(rational("-1").nth_root(2), Ok(None));
    let fourth = sqrt(2).nth_root(2).expect("small").expect("positive");
    assert_eq!(fourth, root(&[-2, 0, 0, 0, 1], 2));
}

#[test]
fn results_of_too_high_degree_are_refused() {
    let mut coefficients = vec![0; 10];
    (coefficients[0], coefficients[9]) = (-2, 1);
    let ninth = root(&coefficients, 1);
    coefficients[0] = -3;
    let other = root(&coefficients, 1);
    assert_eq!(ninth.add(&other), Err(TooHard::Degree(81)));
    let huge = Integer::ONE.shift_left(MAX_SIZE).expect("allowed");
    let wide = Polynomial::new(vec![huge, Integer::ZERO, Integer::from(-3)]);
    let refused = Real::from_root_index(wide, 1);
    assert!(matches!(refused, Err(RootError::TooHard(TooHard::Size { degree: 2, .. }))));
}

#[test]
fn values_are_read_and_printed_as_the_solvers_do() {
    assert_eq!(sqrt(2).to_string(), "(root-obj (+ (^ x 2) (- 2)) 2)");
    let text = "<9*x^6 + (-12*x^4) + 4*x^2 + (-24), (-3/2, -5/4)>";
    let product = Real::parse_cvc5(text).expect("as cvc5 prints it");
    let cubic = Real::parse_cvc5("<1*x^3 + (-1*x) + (-3), (3/2, 7/4)>").expect("as printed");
    let square = Real::parse_cvc5("<3*x^2 + (-2), (-1, -3/4)>").expect("as printed");
    assert_eq!(cubic.mul(&square).expect("small"), product);
    assert_eq!(product.to_string(), "(root-obj (+ (* 9 (^ x 6)) (* (- 12) (^ x 4)) (* 4 (^ x 2)) (- 24)) 1)");
    for text in ["", "<>", "<1*x^2, 1>", "<1*y^2 + (-2), (1, 2)>", "<1*x^99999999, (1, 2)>"] {
        assert!(Real::parse_cvc5(text).is_err(), "{text}");
    }
}

#[test]
fn polynomials_split_into_their_irreducible_factors() {
    let count = |coefficients: &[i64]| factor::factors(&polynomial(coefficients)).len();
    // x^4 + 1 and x^4 - 10x^2 + 1 split modulo every prime, but not over Z.
    assert_eq!(count(&[1, 0, 0, 0, 1]), 1);
    assert_eq!(count(&[1, 0, -10, 0, 1]), 1);
    assert_eq!(count(&[4, 0, 0, 0, 1]), 2);
    assert_eq!(count(&[-1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1]), 6);
    // (2x + 1)(3x^2 - 5)(x^3 - x - 7)
    let product = polynomial(&[1, 2]).product(&polynomial(&[-5, 0, 3])).product(&polynomial(&[-7, -1, 0, 1]));
    assert_eq!(factor::factors(&product).len(), 3);
}

#[test]
fn long_computations_in_one_field_keep_their_degree() {
    let alpha = root(&[-3, -1, 0, 1], 1);
    let mut value = alpha.clone();
    for _ in 0..10 {
        value = value.mul(&alpha).and_then(|x| x.sub(&alpha)).expect("degree 3 at most");
    }
    let Real::Algebraic(number) = value else {
        panic!("the field has odd degree, and this element is irrational");
    };
    assert_eq!(number.polynomial().degree(), 3);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(128))]

    #[test]
    fn sums_and_products_obey_the_field_laws(a in real(), b in real()) {
        let sum = a.add(&b).expect("small");
        prop_assert_eq!(&sum, &b.add(&a).expect("small"));
        prop_assert_eq!(&sum.sub(&b).expect("small"), &a);
        let product = a.mul(&b).expect("small");
        prop_assert_eq!(product.signum(), a.signum() * b.signum());
        if !b.is_zero() {
            let quotient = product.checked_div(&b).expect("small").expect("nonzero");
            prop_assert_eq!(&quotient, &a);
        }
        prop_assert_eq!(a.cmp(&b), a.sub(&b).expect("small").signum().cmp(&0));
        prop_assert_eq!(hash(&sum.sub(&b).expect("small")), hash(&a));
    }

    #[test]
    fn approximations_of_the_operands_bound_the_result(a in real(), b in real()) {
        let ((a_low, a_high), (b_low, b_high)) = (a.bounds(40), b.bounds(40));
        let (low, high) = a.add(&b).expect("small").bounds(40);
        prop_assert!(low <= &a_high + &b_high && high >= &a_low + &b_low);
        let wide = polynomial::interval_product(&(a_low, a_high), &(b_low, b_high));
        let (low, high) = a.mul(&b).expect("small").bounds(40);
        prop_assert!(low <= wide.1 && high >= wide.0);
    }

    #[test]
    fn powers_are_repeated_products(a in real(), exponent in 0i64..5) {
        let mut expected = rational("1");
        for _ in 0..exponent {
            expected = expected.mul(&a).expect("small");
        }
        let power = a.pow(&Integer::from(exponent)).expect("small").expect("defined");
        prop_assert_eq!(&power, &expected);
        if exponent > 0 && a.signum() > 0 {
            let root = power.nth_root(exponent as usize).expect("small");
            prop_assert_eq!(root.expect("positive"), a);
        }
    }

    #[test]
    fn the_floor_is_within_one_below(a in real()) {
        let floor = Real::from(a.floor());
        prop_assert!(floor <= a && a.sub(&floor).expect("small") < rational("1"));
    }

    #[test]
    fn every_root_is_a_root_and_they_ascend(coefficients in prop::collection::vec(-50i64..=50, 2..9)) {
        let polynomial = polynomial(&coefficients);
        let mut previous: Option<Real> = None;
        for index in 1.. {
            let Ok(value) = Real::from_root_index(polynomial.clone(), index) else { break };
            prop_assert_eq!(value.sign_of(&polynomial), 0);
            if let Some(previous) = &previous {
                prop_assert!(*previous < value);
            }
            if let Real::Algebraic(number) = &value {
                let again = Real::parse_cvc5(&number.to_cvc5()).expect("own output");
                prop_assert_eq!(&again, &value);
                let by_index =
                    Real::from_root_index(number.polynomial().clone(), number.root_index());
                prop_assert_eq!(by_index.as_ref(), Ok(&value));
            }
            previous = Some(value);
        }
    }

    #[test]
    fn factors_multiply_to_the_polynomial(
        a in prop::collection::vec(-9i64..=9, 2..6),
        b in prop::collection::vec(-9i64..=9, 2..6),
        c in prop::collection::vec(-9i64..=9, 2..6),
    ) {
        let product = polynomial(&a).product(&polynomial(&b)).product(&polynomial(&c));
        prop_assume!(product.degree() > 0);
        let square_free = product.square_free();
        let factors = factor::factors(&square_free);
        let one = polynomial(&[1]);
        let again = factors.iter().fold(one, |done, factor| done.product(factor));
        prop_assert_eq!(again.primitive(), square_free);
        // The three parts have degree 4 at most, so no factor has more.
        prop_assert!(factors.iter().all(|factor| factor.degree() <= 4));
    }
}
