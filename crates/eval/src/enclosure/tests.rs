//! Known digits, agreement with hardware, and identities between functions.

use proptest::prelude::*;

use super::*;

fn point(text: &str) -> Enclosure {
    Enclosure::point(text.parse().expect("a well-formed literal"))
}

fn apply(function: Function, argument: &str, bits: usize) -> Enclosure {
    point(argument).apply(function, bits).expect("in the domain")
}

/// The enclosure lies within one unit of the last digit given.
fn assert_digits(value: &Enclosure, digits: &str) {
    let expected: Rational = digits.parse().expect("a decimal");
    let places = digits.split_once('.').map_or(0, |(_, fraction)| fraction.len());
    let unit = Rational::from(10).pow(&Integer::from(-(places as i64))).expect("small");
    assert!(
        *value.low() >= &expected - &unit && *value.high() <= &expected + &unit,
        "{value:?} is not {digits}"
    );
}

#[test]
fn constants_have_their_known_digits() {
    assert_digits(&Enclosure::pi(200), "3.14159265358979323846264338327950288419716939937510");
    assert_digits(&apply(Function::Exp, "1", 200), "2.71828182845904523536028747135266249775724709369995");
    assert_digits(&apply(Function::Log, "2", 200), "0.69314718055994530941723212145817656807550013436025");
    assert_digits(&apply(Function::Sqrt, "2", 200), "1.41421356237309504880168872420969807856967187537694");
    assert_digits(&apply(Function::Sin, "1", 200), "0.84147098480789650665250232163029899962256306079837");
    assert_digits(&apply(Function::Cos, "1000000", 150), "0.936752127533144");
}

#[test]
fn arguments_outside_the_domain_have_no_value() {
    for (function, argument) in [
        (Function::Log, "0"),
        (Function::Log, "-1"),
        (Function::Sqrt, "-1/4"),
        (Function::Asin, "3/2"),
        (Function::Acos, "-3/2"),
        (Function::Acosh, "1/2"),
        (Function::Acosh, "-2"),
        (Function::Atanh, "1"),
        (Function::Acsc, "1/2"),
        (Function::Csc, "0"),
        (Function::Exp, "100000"),
    ] {
        assert_eq!(point(argument).apply(function, 64), None, "{function:?}({argument})");
    }
}

#[test]
fn comparisons_are_decided_when_digits_differ_and_only_then() {
    let pi = |bits| Some(Enclosure::pi(bits));
    let fraction = |_| Some(point("3.14159265358979323846264338327950288419716939937510"));
    assert_eq!(compare(pi, fraction), Some(Ordering::Greater));
    let tiny = |bits| point("-1000").apply(Function::Exp, bits);
    assert_eq!(compare(tiny, |_| Some(point("0"))), Some(Ordering::Greater));
    let one = |bits| point("0").apply(Function::Exp, bits);
    assert_eq!(compare(one, |_| Some(point("1"))), Some(Ordering::Equal));
    // sin(pi) is zero, which no number of digits can show.
    let sin_pi = |bits| Enclosure::pi(bits).apply(Function::Sin, bits);
    assert_eq!(compare(sin_pi, |_| Some(point("0"))), None);
}

#[test]
fn half_pi_is_where_the_inverse_functions_end() {
    let half_pi = Enclosure::pi(100).halved();
    for (function, argument) in
        [(Function::Asin, "1"), (Function::Acos, "0"), (Function::Acsc, "1"), (Function::Acot, "0")]
    {
        let value = apply(function, argument, 100);
        assert_eq!(value.compare(&half_pi), None, "{function:?}");
        assert!(value.width() < "1/1000000000000".parse().expect("a fraction"));
    }
}

type Native = fn(f64) -> f64;

/// Functions with the same in hardware, and the arguments they accept.
const NATIVE: [(Function, Native, f64, f64); 17] = [
    (Function::Exp, f64::exp, -300.0, 300.0),
    (Function::Log, f64::ln, 1e-9, 1e9),
    (Function::Sqrt, f64::sqrt, 0.0, 1e9),
    (Function::Sin, f64::sin, -100.0, 100.0),
    (Function::Cos, f64::cos, -100.0, 100.0),
    (Function::Tan, f64::tan, -1.5, 1.5),
    (Function::Asin, f64::asin, -1.0, 1.0),
    (Function::Acos, f64::acos, -1.0, 1.0),
    (Function::Atan, f64::atan, -1e6, 1e6),
    (Function::Sinh, f64::sinh, -50.0, 50.0),
    (Function::Cosh, f64::cosh, -50.0, 50.0),
    (Function::Tanh, f64::tanh, -50.0, 50.0),
    (Function::Asinh, f64::asinh, -1e6, 1e6),
    (Function::Acosh, f64::acosh, 1.0, 1e6),
    (Function::Atanh, f64::atanh, -0.999, 0.999),
    (Function::Sec, |x| 1.0 / x.cos(), -1.5, 1.5),
    (Function::Acot, |x| std::f64::consts::FRAC_PI_2 - x.atan(), -1e3, 1e3),
];

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn hardware_results_are_near_the_enclosures(position in 0.0f64..=1.0) {
        for (function, native, low, high) in NATIVE {
            // A multiple of 2^-16, so that both sides see the same argument.
            let scaled = ((low + position * (high - low)) * 65536.0).round();
            let numerator = Integer::from(scaled as i64);
            let x = Rational::new(numerator, Integer::from(65536)).expect("nonzero");
            let argument = scaled / 65536.0;
            if argument < low || argument > high {
                continue;
            }
            let value = Enclosure::point(x).apply(function, 100).expect("in the domain");
            let expected = native(argument);
            let error = 1e-9 * expected.abs() + 1e-12;
            let (_, above) = value.low().f64_bounds();
            let (below, _) = value.high().f64_bounds();
            prop_assert!(
                above >= expected - error && below <= expected + error,
                "{:?}({}) is {:?}, hardware says {}", function, argument, value, expected
            );
            let relative = value.width().f64_bounds().1;
            prop_assert!(relative <= 1e-20 * expected.abs().max(1.0));
        }
    }

    #[test]
    fn more_bits_stay_inside_the_wider_enclosure(
        numerator in -400i64..400, denominator in 1i64..50
    ) {
        let x = Rational::new(Integer::from(numerator), Integer::from(denominator))
            .expect("nonzero");
        for (function, ..) in NATIVE {
            let argument = Enclosure::point(x.clone());
            let (Some(coarse), Some(fine)) =
                (argument.apply(function, 40), argument.apply(function, 300))
            else {
                continue;
            };
            prop_assert_eq!(coarse.compare(&fine).unwrap_or(Ordering::Equal), Ordering::Equal);
            prop_assert!(fine.width() <= coarse.width());
        }
    }

    #[test]
    fn an_interval_holds_the_values_at_its_points(
        numerator in -200i64..200, step in 0i64..9
    ) {
        let at = |n: i64| Rational::new(Integer::from(n), Integer::from(20)).expect("nonzero");
        let interval = Enclosure::new(at(numerator), at(numerator + step));
        for (function, ..) in NATIVE {
            let Some(range) = interval.apply(function, 60) else { continue };
            for inside in numerator..=numerator + step {
                if let Some(value) = Enclosure::point(at(inside)).apply(function, 90) {
                    let low = value.low() >= range.low() || value.contains(range.low());
                    let high = value.high() <= range.high() || value.contains(range.high());
                    prop_assert!(low && high, "{:?} at {}", function, at(inside));
                }
            }
        }
    }

    #[test]
    fn logarithm_undoes_the_exponential(numerator in -3000i64..3000) {
        let x = Rational::new(Integer::from(numerator), Integer::from(37)).expect("nonzero");
        let exp = Enclosure::point(x.clone()).apply(Function::Exp, 120).expect("small");
        let log = exp.apply(Function::Log, 120).expect("positive");
        prop_assert!(log.contains(&x));
    }
}
