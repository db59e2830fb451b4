//! Operators that no pattern of the theory table describes are made too.

use std::collections::BTreeSet;

use generate::{Config, Grammar, rng};
use smtlib::{Family, Mode, Op, Release, Store, Version, parse, print};

/// Operators of scripts of a logic for a solver, all of which read back.
fn reached(logic: &str, family: Family) -> BTreeSet<Op> {
    let release = Release::new(family, Version::LATEST);
    let grammar = Grammar::new(logic, &[release], Config::default()).expect("a logic");
    let mut store = Store::new();
    let clean = store.mark();
    let mut reached = BTreeSet::new();
    for index in 0..300 {
        let script = grammar.script(&mut store, &mut rng::stream(41, index));
        let text = print::print(&store, &script, release);
        let mut fresh = Store::new();
        if let Err(error) = parse(&mut fresh, text.as_bytes(), Mode::Tolerant) {
            panic!("{}\n{text}", error.excerpt(text.as_bytes()));
        }
        reached.extend(smtlib::logic::usage(&store, &script).operators);
        store.reset(&clean);
    }
    reached
}

#[test]
fn counts_of_booleans_and_arrays_of_functions_are_made_for_z3() {
    let reached = reached("ALL+arrays+ints+functions", Family::Z3);
    for op in [Op::AtMost, Op::AtLeast, Op::PbLe, Op::PbGe, Op::PbEq, Op::ArrayMap, Op::AsArray] {
        assert!(reached.contains(&op), "{op:?}");
    }
}

#[test]
fn sums_of_bits_and_lifted_functions_are_made_for_cvc5() {
    assert!(self::reached("QF_FF", Family::Cvc5).contains(&Op::FfBitsum));
    let lifted = self::reached("QF_ALL+nullables+ints+functions", Family::Cvc5);
    assert!(lifted.contains(&Op::NullableLiftOperator));
}

#[test]
fn solvers_without_them_get_none() {
    let reached = reached("ALL+arrays+ints+functions", Family::Cvc5);
    for op in [Op::AtMost, Op::PbLe, Op::ArrayMap, Op::AsArray] {
        assert!(!reached.contains(&op), "{op:?}");
    }
}
