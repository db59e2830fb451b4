//! The names of a script's constructs, as a campaign counts them for every test case: `cargo bench -p reduce`.

use divan::Bencher;
use reduce::blame::constructs;
use smtlib::{Mode, Store, parse};

fn main() {
    divan::main();
}

const SCRIPTS: &[(&str, &str)] = &[
    (
        "lia",
        "(set-logic QF_LIA)(declare-fun x () Int)(declare-fun y () Int)
         (assert (and (< (+ x (* 2 y)) 10) (>= (- x) (ite (= x y) 3 (abs y)))))(assert (distinct x y 7))(check-sat)",
    ),
    (
        "strings",
        "(set-logic QF_SLIA)(declare-fun s () String)(declare-fun t () String)
         (assert (str.prefixof (str.++ s \"a\") (str.replace t \"b\" s)))
         (assert (str.in_re t (re.+ (re.union (str.to_re \"ab\") (re.range \"a\" \"c\")))))(check-sat)",
    ),
    (
        "quantifiers",
        "(set-logic AUFLIA)(declare-fun f (Int) Int)(declare-fun a () (Array Int Int))(declare-fun k () Int)
         (assert (forall ((i Int)) (=> (< 0 i k) (exists ((j Int)) (> (select a (+ i j)) (f i))))))(check-sat)",
    ),
];

fn names() -> impl Iterator<Item = &'static str> {
    SCRIPTS.iter().map(|(name, _)| *name).chain(["large"])
}

/// A script of this file, or one of 2,000 assertions.
fn text(name: &str) -> String {
    if let Some((_, text)) = SCRIPTS.iter().find(|(known, _)| *known == name) {
        return (*text).to_owned();
    }
    let mut text = "(declare-fun x () Int)(declare-fun a () (Array Int Int))".to_owned();
    for number in 0..2000 {
        text +=
            &format!("(assert (or (< (+ x {number}) (select a {number})) (= (* x x {number}) (mod x 7))))");
    }
    text + "(check-sat)"
}

#[divan::bench(args = names())]
fn of_a_script(bencher: Bencher<'_, '_>, name: &str) {
    let mut store = Store::new();
    let parsed = parse(&mut store, text(name).as_bytes(), Mode::Strict).expect("a script of this file");
    bencher.bench_local(|| constructs(&store, divan::black_box(&parsed.script)));
}
