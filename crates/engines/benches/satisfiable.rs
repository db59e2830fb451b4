//! STORM and DIVER on small seeds: test cases per second, and how many random terms the model accepts by weighted and by
//! uniform choice. `cargo bench -p engines --bench satisfiable`.

use divan::Bencher;
use divan::counter::ItemsCount;
use engines::diver::Mutants;
use engines::{Bench, Diver, Engine, NoOptions, Nobody, Round, Seed, Storm};
use generate::{Config, Grammar, rng};
use smtlib::{Mode, Store, parse};

const MUTANTS: usize = 1000;

const SEEDS: &[(&str, &str)] = &[
    (
        "lia",
        "(set-logic QF_LIA)(declare-fun x () Int)(declare-fun y () Int)(declare-fun b () Bool)
         (assert (and (< (+ x (* 2 y)) 100) (=> b (>= x (ite (= x y) 3 (- y))))))(assert (or (distinct x y 7) b))
         (check-sat)",
    ),
    (
        "lra",
        "(set-logic QF_LRA)(declare-fun x () Real)(declare-fun y () Real)
         (assert (or (<= 0.0 y) (< (+ x (* 2.0 y)) 5.0)))(assert (not (= x (+ 2.0 y))))(check-sat)",
    ),
    (
        "bv",
        "(set-logic QF_BV)(declare-fun a () (_ BitVec 8))(declare-fun b () (_ BitVec 8))
         (assert (bvule (bvand a b) (bvor a #x03)))
         (assert (or (= ((_ extract 3 0) a) ((_ rotate_left 1) ((_ extract 7 4) b))) (bvslt a (bvadd b #x01))))
         (check-sat)",
    ),
    (
        "strings",
        "(set-logic QF_SLIA)(declare-fun s () String)(declare-fun t () String)
         (assert (or (str.prefixof (str.++ s \"a\") (str.replace t \"b\" s)) (str.< s (str.++ t \"z\"))))
         (assert (>= (+ (str.len s) (str.len t)) 1))
         (assert (or (str.in_re t (re.* (re.union (str.to_re \"ab\") (re.range \"a\" \"c\")))) (str.contains s \"\")))
         (check-sat)",
    ),
];

fn names() -> impl Iterator<Item = &'static str> {
    SEEDS.iter().map(|(name, _)| *name)
}

fn seed(store: &mut Store, name: &str) -> Vec<Seed> {
    let text = SEEDS.iter().find(|(known, _)| *known == name).map_or("", |(_, text)| text);
    let parsed = parse(store, text.as_bytes(), Mode::Strict).expect("a seed of this file");
    vec![Seed { name: name.to_owned(), script: parsed.script, status: None, memory: None }]
}

fn diver() -> Diver {
    Diver { random_models: 10_000, mutants: MUTANTS, ..Diver::default() }
}

fn rounds(bencher: Bencher<'_, '_>, engine: &dyn Engine, name: &str, count: usize) {
    let mut store = Store::new();
    let seeds = seed(&mut store, name);
    let grammar = Grammar::new("ALL", &[], Config::default()).expect("a logic");
    let mark = store.mark();
    let mut index = 0;
    bencher.counter(ItemsCount::new(count)).bench_local(|| {
        index += 1;
        store.reset(&mark);
        let mut rng = rng::stream(1, index);
        let mut bench = Bench {
            store: &mut store,
            rng: &mut rng,
            ask: &mut Nobody,
            grammar: &grammar,
            seeds: &seeds,
            options: &NoOptions,
        };
        let mut round = engine.open(&mut bench).expect("a satisfiable seed");
        let made = (0..count).filter(|_| round.next(&mut bench).is_some()).count();
        assert!(made * 10 >= count * 9, "{made} of {count}");
        made
    });
}

#[divan::bench(args = names(), sample_count = 20)]
fn diver_mutants(bencher: Bencher<'_, '_>, name: &str) {
    rounds(bencher, &diver(), name, MUTANTS);
}

#[divan::bench(args = names(), sample_count = 20)]
fn diver_mutants_without_complicate(bencher: Bencher<'_, '_>, name: &str) {
    rounds(bencher, &diver().without_complicate(), name, MUTANTS);
}

#[divan::bench(args = names(), sample_count = 20)]
fn storm_instances(bencher: Bencher<'_, '_>, name: &str) {
    rounds(bencher, &Storm::default(), name, 300);
}

#[divan::bench(args = names(), sample_count = 20)]
fn storm_instances_of_up_to_eight_assertions(bencher: Bencher<'_, '_>, name: &str) {
    rounds(bencher, &Storm { max_assertions: 8, ..Storm::default() }, name, 300);
}

/// Shares of random terms that the model accepts.
fn acceptance() {
    println!("{:10} {:>10} {:>10} {:>8}", "seed", "weighted", "uniform", "ratio");
    for name in names() {
        let share = |config: Diver| {
            let mut store = Store::new();
            let seeds = seed(&mut store, name);
            let grammar = Grammar::new("ALL", &[], Config::default()).expect("a logic");
            let (mut tried, mut accepted) = (0, 0);
            for index in 0..5 {
                let mut rng = rng::stream(3, index);
                let mut bench = Bench {
                    store: &mut store,
                    rng: &mut rng,
                    ask: &mut Nobody,
                    grammar: &grammar,
                    seeds: &seeds,
                    options: &NoOptions,
                };
                let mut round = Mutants::open(&config, &mut bench).expect("a satisfiable seed");
                while round.next(&mut bench).is_some() {}
                tried += round.counts().tried;
                accepted += round.counts().accepted;
            }
            accepted as f64 / tried.max(1) as f64
        };
        let (weighted, uniform) = (share(diver()), share(diver().with_uniform_choice()));
        println!("{name:10} {weighted:>10.3} {uniform:>10.3} {:>8.2}", weighted / uniform);
    }
}

fn main() {
    acceptance();
    divan::main();
}
