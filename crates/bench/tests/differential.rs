//! The cases of the differential check, without a solver.

use bench::differential::{Amount, Passed, cases, compare, operators};
use generate::{Rng, rng::stream};
use smtlib::{Family, Op, Release, Version};

fn rng(seed: u64) -> Rng {
    stream(seed, 0)
}

fn cvc5() -> Release {
    Release::new(Family::Cvc5, Version::new(1, 4, 2))
}

fn z3() -> Release {
    Release::new(Family::Z3, Version::new(5, 4, 0))
}

/// Operators without cases of their own: their value is a choice of the model, they bind, or only an opaque sort
/// has arguments for them.
const WITHOUT_CASES: &[Op] = &[
    Op::AsArray,
    Op::ArrayExt,
    Op::BvSdivByZero,
    Op::BvUdivByZero,
    Op::BvSremByZero,
    Op::BvUremByZero,
    Op::BvSmodByZero,
    Op::IntDivByZero,
    Op::IntModByZero,
    Op::IntRemByZero,
    Op::RealDivByZero,
    Op::RootObject,
    Op::SeqNthOutside,
    Op::TransitiveClosure,
    Op::FmfCard,
    Op::FmfCardOf,
    Op::CharLe,
    Op::CharToInt,
    Op::CharToBv,
    Op::CharFromBv,
    Op::CharIsDigit,
    Op::ReOfPred,
    Op::SetUniverse,
    Op::SetComplement,
    Op::SetComprehension,
];

#[test]
fn every_operator_with_an_evaluation_has_cases() {
    let without: Vec<&str> = operators()
        .filter(|op| cases(*op, Release::STANDARD, 4, &mut rng(1)) == Err(Passed::NoGroundTerm))
        .map(|op| op.row().variant)
        .collect();
    let expected: Vec<&str> =
        operators().filter(|op| WITHOUT_CASES.contains(op)).map(|op| op.row().variant).collect();
    assert_eq!(without, expected);
}

#[test]
fn the_same_seed_gives_the_same_cases() {
    for op in [Op::IntDiv, Op::StrReplaceReAll, Op::FpFma, Op::SetUnion] {
        let once = cases(op, cvc5(), 30, &mut rng(7));
        assert_eq!(once, cases(op, cvc5(), 30, &mut rng(7)));
        assert_ne!(once, cases(op, cvc5(), 30, &mut rng(8)));
    }
}

#[test]
fn the_edges_of_a_sort_come_up() {
    let (found, _) = cases(Op::FpAdd, z3(), 200, &mut rng(1)).expect("cases");
    for edge in ["NaN", "-zero", "+oo"] {
        assert!(found.iter().any(|case| case.term.contains(edge)), "{edge}");
    }
    let (found, open) = cases(Op::StrAt, z3(), 200, &mut rng(1)).expect("cases");
    assert_eq!((found.len(), open), (200, 0));
    for edge in ["\\u{d800}", "(- 1)", "196608"] {
        assert!(found.iter().any(|case| case.term.contains(edge)), "{edge}");
    }
}

#[test]
fn answers_decide_which_cases_agree() {
    let amount = Amount { cases: 10, batch: 4, milliseconds: 1000 };
    let mut scripts = 0;
    let mut ask = |script: &str| -> Result<String, ()> {
        scripts += 1;
        let mut out = String::new();
        for (number, line) in script.lines().filter(|line| line.starts_with("(echo")).enumerate() {
            out.push_str(line.trim_start_matches("(echo ").trim_end_matches(')'));
            // The second case of every script is denied, the third refused.
            out.push_str(match (script.contains("(push"), number) {
                (true, 1) => "\nsat\n",
                (true, 2) => "\n(error \"no\")\nsat\n",
                _ => "\nunsat\n",
            });
        }
        Ok(out)
    };
    let found = compare(Op::IntAdd, cvc5(), amount, &mut rng(3), &mut ask).expect("asked").expect("compared");
    assert_eq!((found.confirmed, found.contradictory.len(), found.refused), (4, 3, 3));
    assert!(found.mismatches.is_empty());
    assert_eq!(compare(Op::SepEmp, cvc5(), amount, &mut rng(3), &mut ask), Ok(Err(Passed::Unsupported)));
    assert_eq!(compare(Op::SepEmp, z3(), amount, &mut rng(3), &mut ask), Ok(Err(Passed::NotAccepted)));
}
