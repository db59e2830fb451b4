//! The evaluator against real solvers: at least 200 cases of every operator, or all there are, and no mismatch that is
//! not explained. Without network and with an empty cache the test says so and checks nothing.

use bench::Unwatched;
use bench::eval_diff::{EvalDiff, without_confirmation};
use solver::Solver;
use testkit::get;

const CASES: usize = 200;

fn settings(solvers: Vec<Solver>, operator: Option<&str>) -> EvalDiff {
    EvalDiff {
        solvers,
        cases: CASES,
        operator: operator.map(str::to_owned),
        rng_seed: 1,
        jobs: 2,
        command: "a test".to_owned(),
    }
}

/// Fewer terms than cases: constants, and operators whose arguments have few values.
const FEW: &[&str] = &[
    "And",
    "AtLeast",
    "AtMost",
    "BagEmpty",
    "BvBitOne",
    "BvBitZero",
    "BvFromBools",
    "False",
    "FpMinusInfinity",
    "FpMinusZero",
    "FpNan",
    "FpPlusInfinity",
    "FpPlusZero",
    "Implies",
    "Not",
    "NullableNull",
    "Or",
    "RoundNearestTiesToAway",
    "RoundNearestTiesToEven",
    "RoundTowardNegative",
    "RoundTowardPositive",
    "RoundTowardZero",
    "SeqEmpty",
    "SetEmpty",
    "SetRange",
    "True",
    "TupleUnit",
    "Xor",
];

#[test]
fn solvers_confirm_the_values_of_every_operator() {
    let (Some(z3), Some(cvc5)) = (get("z3@5.4.0"), get("cvc5@1.4.2")) else { return };
    let outcome = settings(vec![z3, cvc5], None).run(&Unwatched).expect("compared");
    let mismatches: Vec<String> = outcome
        .compared
        .iter()
        .filter_map(|compared| compared.result.as_ref().ok())
        .flat_map(|comparison| &comparison.mismatches)
        .map(|case| format!("{}: {} is not {}", case.op.name(), case.term, case.value))
        .collect();
    assert!(mismatches.is_empty(), "{mismatches:#?}");

    // Every operator has its cases, up to the few that have not so many.
    let mut few: Vec<&str> = outcome
        .compared
        .iter()
        .filter(|one| one.result.as_ref().is_ok_and(|comparison| comparison.total() < CASES))
        .map(|one| one.op.row().variant)
        .collect();
    few.dedup();
    few.sort_unstable();
    few.dedup();
    assert_eq!(few, FEW);

    // What nobody confirmed has no value of its own, no evaluation, or no solver that has it.
    for (why, ops) in without_confirmation(&outcome) {
        let asked =
            |op: &&smtlib::Op| outcome.compared.iter().any(|one| one.op == **op && one.result.is_ok());
        let unseen: Vec<&str> = ops.iter().filter(asked).map(|op| op.row().variant).collect();
        assert!(unseen.is_empty(), "{why}: {unseen:?}");
    }
}

#[test]
fn an_operator_that_does_not_exist_is_refused() {
    let error = settings(Vec::new(), Some("str.no_such")).run(&Unwatched).expect_err("refused");
    assert!(error.to_string().contains("str.no_such"), "{error}");
}
