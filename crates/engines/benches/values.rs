//! ValFuzz on small seeds: test cases per second without solvers, skeletons and enforcements among them. Models are random
//! values, so that nobody's time but ours is measured. `cargo bench -p engines --bench values`.

use divan::Bencher;
use divan::counter::ItemsCount;
use engines::values::Preset;
use engines::{Ask, Bench, Engine, NoOptions, Seed, Tuning, Values};
use eval::Model;
use eval::sorts::Sorts;
use generate::{Config, Grammar, Rng, rng};
use smtlib::{Mode, Script, Status, Store};

const SEEDS: &[(&str, &str)] = &[
    (
        "lia",
        "(declare-fun x () Int)(declare-fun y () Int)
         (assert (and (< (+ x (* 2 y)) 100) (=> (> y 4) (>= x (ite (= x y) 3 (- y))))))(assert (or (distinct x y 7) (< x 31)))
         (check-sat)",
    ),
    (
        "fp",
        "(declare-fun x () Float32)(declare-fun y () Float32)
         (assert (fp.lt (fp.add RNE x (fp #b0 #x7f #b00000000000000000000001)) y))
         (assert (or (fp.isNormal (fp.mul RTZ x y)) (fp.leq y (fp #b1 #x80 #b00000000000000000000000))))(check-sat)",
    ),
    (
        "bv",
        "(declare-fun a () (_ BitVec 8))(declare-fun b () (_ BitVec 8))
         (assert (bvule (bvand a b) (bvor a #x03)))(assert (or (= (bvadd a #x10) (bvmul b #x55)) (bvslt a (bvadd b #x01))))
         (check-sat)",
    ),
    (
        "strings",
        "(declare-fun s () String)(declare-fun t () String)
         (assert (str.prefixof (str.++ s \"a\") (str.replace t \"b\" s)))(assert (or (= t \"cab\") (< (str.len s) 9)))
         (check-sat)",
    ),
];

fn names() -> impl Iterator<Item = &'static str> {
    SEEDS.iter().map(|(name, _)| *name)
}

/// Answers with random values.
struct Chance(Rng);

impl Ask for Chance {
    fn model(&mut self, store: &mut Store, script: &Script, _: u32) -> Option<Model> {
        let mut model = Model::new();
        for fun in script.declared_funs() {
            let sort = store.fun(fun).result;
            if let Some(value) = Sorts::new(store, &model).random_value(sort, &mut self.0) {
                model.assign(fun, value);
            }
        }
        Some(model)
    }

    fn agreed_status(&mut self, _: &Store, _: &Script) -> Option<(Status, String)> {
        None
    }

    fn confirmed_core(&mut self, _: &Store, _: &Script) -> Option<Vec<usize>> {
        None
    }
}

/// A round of 300 test cases at most, the same one each time.
fn round(bencher: Bencher<'_, '_>, engine: &dyn Engine, name: &str) {
    let mut store = Store::new();
    let text = SEEDS.iter().find(|(known, _)| *known == name).map_or("", |(_, text)| text);
    let script =
        smtlib::parse(&mut store, text.as_bytes(), Mode::Strict).expect("a seed of this file").script;
    let seeds = [Seed { name: name.to_owned(), script, status: None, memory: None }];
    let grammar = Grammar::new("ALL", &[], Config::default()).expect("a logic");
    let mark = store.mark();
    let mut make = || {
        store.reset(&mark);
        let mut bench = Bench {
            store: &mut store,
            rng: &mut rng::stream(1, 1),
            ask: &mut Chance(rng::stream(2, 2)),
            grammar: &grammar,
            seeds: &seeds,
            options: &NoOptions,
        };
        let mut round = engine.open(&mut bench).expect("constants");
        (0..300).filter(|_| round.next(&mut bench).is_some()).count()
    };
    let count = make();
    assert!(count > 30, "{count}");
    bencher.counter(ItemsCount::new(count)).bench_local(make);
}

#[divan::bench(args = names(), sample_count = 20)]
fn default(bencher: Bencher<'_, '_>, name: &str) {
    round(bencher, &Values::default(), name);
}

#[divan::bench(args = names(), sample_count = 20)]
fn blendb(bencher: Bencher<'_, '_>, name: &str) {
    round(bencher, &Preset::BlendB.settings(), name);
}

#[divan::bench(args = names(), sample_count = 20)]
fn rbase(bencher: Bencher<'_, '_>, name: &str) {
    round(bencher, &Values { iterations: 300, ..Preset::Rbase.settings() }, name);
}

#[divan::bench(args = names(), sample_count = 20)]
fn opfuzz_values(bencher: Bencher<'_, '_>, name: &str) {
    let engine = engines::parse("opfuzz+values", &Tuning::default()).expect("an engine");
    round(bencher, &*engine, name);
}

fn main() {
    divan::main();
}
