//! Mutants per second on small seeds, without and with printing: `cargo bench -p engines`.

use divan::Bencher;
use divan::counter::ItemsCount;
use engines::{Bench, Engine, Fusion, Generate, NoOptions, Nobody, OpFuzz, Seed, TypeFuzz};
use generate::{Config, Grammar, rng};
use smtlib::{Mode, Release, Store, parse, print};

fn main() {
    divan::main();
}

const SEEDS: &[(&str, &str)] = &[
    (
        "lia",
        "(set-logic QF_LIA)(set-info :status sat)(declare-fun x () Int)(declare-fun y () Int)
         (assert (and (< (+ x (* 2 y)) 10) (>= (- x) (ite (= x y) 3 (abs y)))))(assert (distinct x y 7))(check-sat)",
    ),
    (
        "strings",
        "(set-logic QF_SLIA)(set-info :status sat)(declare-fun s () String)(declare-fun t () String)
         (assert (str.prefixof (str.++ s \"a\") (str.replace t \"b\" s)))
         (assert (str.in_re t (re.+ (re.union (str.to_re \"ab\") (re.range \"a\" \"c\")))))(check-sat)",
    ),
    (
        "bv",
        "(set-logic QF_BV)(set-info :status sat)(declare-fun a () (_ BitVec 8))(declare-fun b () (_ BitVec 8))
         (assert (bvult (bvadd a b) (bvmul a #x03)))
         (assert (= ((_ extract 3 0) a) ((_ rotate_left 1) ((_ extract 7 4) b))))(check-sat)",
    ),
    (
        "quantifiers",
        "(set-logic AUFLIA)(set-info :status sat)(declare-fun f (Int) Int)(declare-fun a () (Array Int Int))
         (declare-fun k () Int)
         (assert (forall ((i Int)) (=> (< 0 i k) (exists ((j Int)) (> (select a (+ i j)) (f i))))))(check-sat)",
    ),
];

fn names() -> impl Iterator<Item = &'static str> {
    SEEDS.iter().map(|(name, _)| *name)
}

/// Whole rounds from seeds that are parsed already, as a campaign runs them.
fn rounds(bencher: Bencher<'_, '_>, engine: &dyn Engine, name: &str, mutants: usize, printed: bool) {
    let mut store = Store::new();
    let text = SEEDS.iter().find(|(known, _)| *known == name).map_or("", |(_, text)| text);
    let seeds: Vec<Seed> = (0..2)
        .map(|_| {
            let parsed = parse(&mut store, text.as_bytes(), Mode::Strict).expect("a seed of this file");
            Seed { name: name.to_owned(), script: parsed.script, status: None, memory: None }
        })
        .collect();
    let grammar = Grammar::new("ALL", &[], Config::default()).expect("a logic");
    let mark = store.mark();
    let mut index = 0;
    bencher.counter(ItemsCount::new(mutants)).bench_local(|| {
        index += 1;
        let mut rng = rng::stream(1, index);
        let mut bench = Bench {
            store: &mut store,
            rng: &mut rng,
            ask: &mut Nobody,
            grammar: &grammar,
            seeds: &seeds,
            options: &NoOptions,
        };
        let mut round = engine.open(&mut bench).expect("a usable seed");
        while let Some(draft) = round.next(&mut bench) {
            if printed {
                divan::black_box(print::print(bench.store, draft.script(), Release::STANDARD));
            }
            divan::black_box(draft);
        }
        store.reset(&mark);
    });
}

#[divan::bench(args = names())]
fn opfuzz(bencher: Bencher<'_, '_>, name: &str) {
    rounds(bencher, &OpFuzz::default(), name, 300, false);
}

#[divan::bench(args = names())]
fn opfuzz_printed(bencher: Bencher<'_, '_>, name: &str) {
    rounds(bencher, &OpFuzz::default(), name, 300, true);
}

#[divan::bench(args = names())]
fn typefuzz(bencher: Bencher<'_, '_>, name: &str) {
    rounds(bencher, &TypeFuzz::default(), name, 300, false);
}

#[divan::bench(args = names())]
fn typefuzz_printed(bencher: Bencher<'_, '_>, name: &str) {
    rounds(bencher, &TypeFuzz::default(), name, 300, true);
}

#[divan::bench(args = names())]
fn fusion(bencher: Bencher<'_, '_>, name: &str) {
    rounds(bencher, &Fusion::default(), name, 30, false);
}

#[divan::bench]
fn generate_printed(bencher: Bencher<'_, '_>) {
    rounds(bencher, &Generate::default(), "lia", 20, true);
}
