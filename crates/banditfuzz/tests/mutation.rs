//! The paper's example of a mutation, and what mutants of every logic have in common.

use std::collections::BTreeSet;
use std::sync::Arc;

use banditfuzz::generator::{Generator, Parameters};
use banditfuzz::mutate::Arms;
use generate::{Config, Grammar, rng};
use smtlib::{Mode, Release, Store, print};

/// Rounding modes as the paper writes them.
fn short(word: &str) -> &str {
    match word {
        "roundNearestTiesToEven" => "RNE",
        "roundNearestTiesToAway" => "RNA",
        "roundTowardPositive" => "RTP",
        "roundTowardNegative" => "RTN",
        "roundTowardZero" => "RTZ",
        word => word,
    }
}

/// All results of putting a construct into an input, drawn often enough.
fn results(modes: &[&str], construct: &str, assertion: &str) -> BTreeSet<String> {
    let all = ["fp.abs", "fp.add", "fp.sub", "fp.eq"];
    let mut config = Config { exact: true, constants: 0.0, leaves: 0.0, ..Config::default() };
    for row in smtlib::theory::table().rows() {
        let kept = all.contains(&row.name) || modes.contains(&short(row.name));
        config.operators.insert(row.variant.to_owned(), if kept { 1.0 } else { 0.0 });
    }
    let grammar = Grammar::new("QF_FP", &[], config).expect("a grammar");
    let mutator = banditfuzz::mutate::Mutator::new(grammar, Arms::Constructs, 2);
    let text = format!(
        "(set-logic QF_FP)(declare-const x0 Float64)(declare-const x1 Float64)(assert {assertion})(check-sat)"
    );
    let mut results = BTreeSet::new();
    for index in 0..600 {
        let mut store = Store::new();
        let script = smtlib::parse(&mut store, text.as_bytes(), Mode::Tolerant).expect("read").script;
        let choices = mutator.choices(&store, &script);
        let arm = choices.arms.iter().position(|choice| choice.name == construct).expect("an arm");
        let mut rng = rng::stream(7, index);
        let mutant = mutator.mutate(&mut store, &mut rng, &script, &choices, arm).expect("a mutant");
        let printed = print::print(&store, &mutant, Release::STANDARD);
        let line = printed.lines().find(|line| line.starts_with("(assert")).expect("an assertion");
        results.insert(line.split(' ').map(short).collect::<Vec<_>>().join(" "));
    }
    results
}

fn set(lines: &[&str]) -> BTreeSet<String> {
    lines.iter().map(|line| format!("(assert {line})")).collect()
}

#[test]
fn a_smaller_arity_drops_the_rightmost_operand_as_in_the_paper() {
    let found = results(&["RNE"], "fp.abs", "(fp.eq (fp.add RNE x0 x1) (fp.sub RNE x0 x1))");
    let expected = set(&["(fp.eq (fp.abs x0) (fp.sub RNE x0 x1))", "(fp.eq (fp.add RNE x0 x1) (fp.abs x0))"]);
    assert_eq!(found, expected);
}

#[test]
fn a_larger_arity_gets_new_operands_as_in_the_paper() {
    let found = results(&["RNE"], "fp.add", "(fp.eq (fp.abs x0) (fp.abs x1))");
    let expected = set(&[
        "(fp.eq (fp.add RNE x0 x0) (fp.abs x1))",
        "(fp.eq (fp.add RNE x0 x1) (fp.abs x1))",
        "(fp.eq (fp.abs x0) (fp.add RNE x1 x0))",
        "(fp.eq (fp.abs x0) (fp.add RNE x1 x1))",
    ]);
    assert_eq!(found, expected);
}

#[test]
fn with_all_rounding_modes_there_are_twenty_results_as_in_the_paper() {
    let modes = ["RNE", "RNA", "RTP", "RTN", "RTZ"];
    let found = results(&modes, "fp.add", "(fp.eq (fp.abs x0) (fp.abs x1))");
    assert_eq!(found.len(), 20, "{found:#?}");
    for mode in modes {
        assert_eq!(found.iter().filter(|line| line.contains(mode)).count(), 4, "{mode}");
    }
}

#[test]
fn an_arm_of_a_kind_that_does_not_occur_is_no_choice() {
    let parameters = Parameters::default();
    let mut generator = Generator::new(&parameters, &[], Arc::from([])).expect("a generator");
    let text = "(set-logic QF_FP)(declare-const x Float32)(assert (fp.isNaN x))(check-sat)";
    let opened = generator.open(text).expect("read");
    let arms: Vec<&str> = opened.arms().collect();
    assert!(arms.contains(&"fp.isZero") && arms.contains(&"fp.eq"), "{arms:?}");
    for missing in ["fp.isNaN", "fp.add", "NaN", "push"] {
        assert!(!arms.contains(&missing), "{missing} in {arms:?}");
    }
}

#[test]
fn mutants_of_every_logic_are_well_sorted_standard_text() {
    for logic in
        ["QF_FP", "QF_SLIA", "QF_BV", "QF_NIA", "QF_LRA", "QF_ABV", "QF_UFLIA", "LIA", "QF_DT", "QF_IDL"]
    {
        let parameters = Parameters { logic: logic.to_owned(), ..Parameters::default() };
        let mut generator = Generator::new(&parameters, &[], Arc::from([])).expect("a generator");
        let (mut made, mut arms_seen) = (0, BTreeSet::new());
        for index in 0..60 {
            let mut rng = rng::stream(3, index);
            let mut text = generator.fresh(&mut rng, None);
            for _ in 0..6 {
                let mut opened = generator.open(&text).expect("what was printed can be read");
                let names: Vec<String> = opened.arms().map(str::to_owned).collect();
                if names.is_empty() {
                    break;
                }
                let arm = rng.below(names.len());
                let Some(mutant) = opened.mutate(&mut rng, arm) else { continue };
                let mut store = Store::new();
                if let Err(error) = smtlib::parse(&mut store, mutant.as_bytes(), Mode::Strict) {
                    panic!("{logic}, {}: {}\n{text}\n{mutant}", names[arm], error.excerpt(mutant.as_bytes()));
                }
                assert_ne!(mutant, text, "{logic}: {}", names[arm]);
                arms_seen.insert(names[arm].clone());
                text = mutant;
                made += 1;
            }
        }
        assert!(made > 150, "{logic}: {made} mutants");
        assert!(arms_seen.len() > 5, "{logic}: {arms_seen:?}");
    }
}

#[test]
fn pairs_tell_a_construct_below_one_from_the_same_below_another() {
    let parameters = Parameters { arms: Arms::Pairs, ..Parameters::default() };
    let mut generator = Generator::new(&parameters, &[], Arc::from([])).expect("a generator");
    let text = "(set-logic QF_FP)(declare-const x Float32)\
                (assert (fp.lt (fp.neg x) (fp.sqrt RNE (fp.neg x))))(check-sat)";
    let opened = generator.open(text).expect("read");
    let arms: Vec<&str> = opened.arms().filter(|name| name.starts_with("fp.abs ")).collect();
    assert_eq!(arms, ["fp.abs below fp.lt", "fp.abs below fp.sqrt"]);
}
