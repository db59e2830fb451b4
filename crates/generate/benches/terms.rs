//! How many terms and scripts per second: `cargo bench -p generate`.

use divan::Bencher;
use divan::counter::ItemsCount;
use generate::{Config, Grammar, Scope, rng};
use smtlib::{Sort, Store};

fn main() {
    divan::main();
}

const LOGICS: &[&str] = &["QF_LIA", "QF_BV", "QF_SLIA", "QF_ABVFP", "AUFLIA", "ALL"];
const BATCH: usize = 1000;

/// Terms of depth two over a few leaves, as the mutating engines ask for them.
#[divan::bench(args = LOGICS)]
fn small_terms(bencher: Bencher<'_, '_>, logic: &str) {
    let grammar = Grammar::new(logic, &[], Config::default()).expect("a logic");
    let mut store = Store::new();
    let script = grammar.script(&mut store, &mut rng::stream(1, 0));
    let mut scope = Scope::of_script(&mut store, &script);
    let mark = store.mark();
    let mut index = 0;
    bencher.counter(ItemsCount::new(BATCH)).bench_local(|| {
        index += 1;
        let mut rng = rng::stream(1, index);
        for _ in 0..BATCH {
            divan::black_box(grammar.term(&mut store, &mut rng, Sort::BOOL, &mut scope, 2));
        }
        scope.forget_shared();
        store.reset(&mark);
    });
}

#[divan::bench(args = LOGICS)]
fn scripts(bencher: Bencher<'_, '_>, logic: &str) {
    let grammar = Grammar::new(logic, &[], Config::default()).expect("a logic");
    let mut store = Store::new();
    let mark = store.mark();
    let mut index = 0;
    bencher.counter(ItemsCount::new(1usize)).bench_local(|| {
        index += 1;
        divan::black_box(grammar.script(&mut store, &mut rng::stream(1, index)));
        store.reset(&mark);
    });
}
