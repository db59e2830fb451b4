//! Whatever the input, the reader ends with a script or an error: no panic, no overflow, no blow-up.

use proptest::prelude::*;
use smtlib::{Mode, Release, Store, parse, print::print};

const SCRIPTS: [&str; 3] = [
    include_str!("scripts/core.smt2"),
    include_str!("scripts/datatypes.smt2"),
    include_str!("scripts/theories.smt2"),
];

/// Parses in both modes; what parses must print.
fn read(source: &[u8]) {
    for mode in [Mode::Tolerant, Mode::Strict] {
        let mut store = Store::new();
        match parse(&mut store, source, mode) {
            Ok(parsed) => _ = print(&store, &parsed.script, Release::STANDARD),
            Err(error) => _ = error.excerpt(source),
        }
    }
}

proptest! {
    #[test]
    fn any_bytes_are_read_without_panic(bytes in proptest::collection::vec(any::<u8>(), 0..400)) {
        read(&bytes);
    }

    #[test]
    fn any_tokens_are_read_without_panic(
        tokens in proptest::collection::vec(
            prop_oneof![
                Just("("), Just(")"), Just("assert"), Just("let"), Just("forall"), Just("match"), Just("!"), Just("_"),
                Just("as"), Just("x"), Just("Int"), Just("1"), Just("2.5"), Just("#b01"), Just("#f3m5"), Just("\"s\""),
                Just(":named"), Just(":pattern"), Just("declare-datatypes"), Just("declare-const"), Just("define-fun"),
                Just("par"), Just("extract"), Just("BitVec"), Just("Array"), Just("const"), Just("is"), Just("and"),
                Just("declare-datatype"), Just("+"), Just("select"), Just("lambda"), Just("(assert"), Just("((_"),
                Just("define-funs-rec"), Just("push"), Just("pop"), Just("define-sort"), Just("check-sat-assuming"),
            ],
            0..60,
        )
    ) {
        read(tokens.join(" ").as_bytes());
    }

    #[test]
    fn damaged_scripts_are_read_without_panic(
        script in 0..SCRIPTS.len(), from in any::<prop::sample::Index>(), length in 0usize..30,
        insert in "[()|\"a-z0-9 #_!:;]{0,8}",
    ) {
        let source = SCRIPTS[script].as_bytes();
        let from = from.index(source.len());
        let to = (from + length).min(source.len());
        let damaged = [&source[..from], insert.as_bytes(), &source[to..]].concat();
        read(&damaged);
        read(&source[..from]);
    }
}

#[test]
fn long_lines_and_large_literals_are_read() {
    let mut source = String::from("(declare-const x Int)(declare-const s String)(assert (= x ");
    source.push_str(&"9".repeat(1_000_000));
    source.push_str("))(assert (= s \"");
    source.push_str(&"a".repeat(1_000_000));
    source.push_str("\"))");
    let mut store = Store::new();
    let parsed = parse(&mut store, source.as_bytes(), Mode::Strict).expect("well-formed");
    assert_eq!(parsed.script.assertions().count(), 2);
}

#[test]
fn unfinished_nesting_of_every_kind_ends_in_an_error() {
    for open in [
        "(",
        "(assert (",
        "(let ((x ",
        "(! ",
        "(forall ((x Int)) ",
        "(match x (((c y) ",
        "((_ ",
        "(as (",
        "(Array ",
    ] {
        for start in ["", "(assert ", "(declare-const x "] {
            let source = format!("{start}{}", open.repeat(50_000));
            let mut store = Store::new();
            assert!(parse(&mut store, source.as_bytes(), Mode::Tolerant).is_err(), "{start}{open}");
        }
    }
}

#[test]
fn a_map_over_no_arrays_is_refused() {
    let source = "(declare-fun f (Int Bool) Int)(assert (= (_ map f) (_ map f)))";
    read(source.as_bytes());
    read(b"(assert (_ map +))");
}
