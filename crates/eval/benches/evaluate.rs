//! How fast terms are evaluated, and how fast a replacement is.

use divan::Bencher;
use divan::counter::ItemsCount;
use eval::evaluate::{Evaluation, Evaluator};
use eval::model::Model;
use eval::{Value, sorts::Sorts};
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::{Rng, SeedableRng};
use smtlib::{Op, Sort, Store, Term};

fn main() {
    divan::main();
}

/// A store with constants of some sorts, a model for them, and random terms.
struct Bench {
    store: Store,
    model: Model,
    constants: Vec<Term>,
    rng: ChaCha8Rng,
}

impl Bench {
    fn new() -> Bench {
        let mut bench = Bench {
            store: Store::new(),
            model: Model::new(),
            constants: Vec::new(),
            rng: ChaCha8Rng::seed_from_u64(1),
        };
        let bits = bench.store.bitvec(64);
        for sort in [Sort::BOOL, Sort::INT, bits] {
            for number in 0..20 {
                let name = bench.store.symbol(&format!("c{}!{number}", sort.index()));
                let fun = bench.store.declare_fun(name, &[], sort);
                let value = Sorts::new(&bench.store, &bench.model).random_value(sort, &mut bench.rng);
                let small = match value {
                    Some(Value::Int(n)) => Some(Value::int(n.to_i64().unwrap_or(7) % 1000)),
                    other => other,
                };
                bench.model.assign(fun, small.expect("a value"));
                let constant = bench.store.call(fun, &[]).expect("a constant");
                bench.constants.push(constant);
            }
        }
        bench
    }

    fn term(&mut self, sort: Sort, depth: u32) -> Term {
        let pick = self.rng.next_u32() as usize;
        if depth == 0 {
            let fitting: Vec<Term> =
                self.constants.iter().copied().filter(|term| self.store.sort_of(*term) == sort).collect();
            return fitting[pick % fitting.len()];
        }
        let bits = self.store.bitvec(64);
        let (op, sorts) = if sort == Sort::BOOL {
            [
                (Op::And, [Sort::BOOL, Sort::BOOL]),
                (Op::Or, [Sort::BOOL, Sort::BOOL]),
                (Op::Xor, [Sort::BOOL, Sort::BOOL]),
                (Op::IntLe, [Sort::INT, Sort::INT]),
                (Op::Equal, [Sort::INT, Sort::INT]),
                (Op::BvUlt, [bits, bits]),
                (Op::BvSle, [bits, bits]),
            ][pick % 7]
        } else if sort == Sort::INT {
            [(Op::IntAdd, [sort; 2]), (Op::IntSub, [sort; 2]), (Op::IntAdd, [sort; 2])][pick % 3]
        } else {
            [
                (Op::BvAdd, [sort; 2]),
                (Op::BvMul, [sort; 2]),
                (Op::BvAnd, [sort; 2]),
                (Op::BvXor, [sort; 2]),
                (Op::BvShl, [sort; 2]),
            ][pick % 5]
        };
        let args = [self.term(sorts[0], depth - 1), self.term(sorts[1], depth - 1)];
        self.store.op(op, &args).expect("well-sorted")
    }
}

/// All nodes of a formula over Bool, Int and 64-bit vectors, without what is remembered from before: a usual
/// test case, and a large one.
#[divan::bench(args = [10, 200])]
fn nodes(bencher: Bencher, parts: usize) {
    let mut bench = Bench::new();
    // `xor` keeps the evaluation from stopping early.
    let parts: Vec<Term> = (0..parts).map(|_| bench.term(Sort::BOOL, 8)).collect();
    let root = bench.store.op(Op::Xor, &parts).expect("well-sorted");
    let mut evaluator = Evaluator::default();
    evaluator.evaluate(&bench.store, &bench.model, root).expect("a value");
    let visited =
        bench.store.subterms(&[root]).iter().filter(|term| evaluator.known(**term).is_some()).count();
    bencher.counter(ItemsCount::new(visited)).bench_local(|| {
        evaluator.forget();
        evaluator.evaluate(&bench.store, &bench.model, divan::black_box(root))
    });
}

/// Trying a replacement five levels below the root.
#[divan::bench]
fn replacements_at_depth_5(bencher: Bencher) {
    let mut bench = Bench::new();
    let root = bench.term(Sort::BOOL, 7);
    let mut trials = Vec::new();
    for _ in 0..256 {
        let mut path = Vec::new();
        let mut here = root;
        while path.len() < 5 {
            let child = bench.rng.next_u32() % bench.store.args(here).len() as u32;
            path.push(child);
            here = bench.store.args(here)[child as usize];
        }
        let sort = bench.store.sort_of(here);
        trials.push((path, bench.term(sort, 1)));
    }
    let Bench { mut store, model, .. } = bench;
    let mut evaluation = Evaluation::new(Evaluator::default(), &store, &model, root);
    bencher.counter(ItemsCount::new(trials.len())).bench_local(|| {
        for (path, new) in &trials {
            divan::black_box(evaluation.replace(&mut store, &model, path, *new).expect("a path"));
        }
    });
}

/// The same with a spine that always changes up to the root.
#[divan::bench]
fn replacements_through_sums(bencher: Bencher) {
    let mut bench = Bench::new();
    let root = bench.term(Sort::INT, 7);
    let values: Vec<Term> = (0..256).map(|n| bench.store.int(n)).collect();
    let Bench { mut store, model, .. } = bench;
    let mut evaluation = Evaluation::new(Evaluator::default(), &store, &model, root);
    bencher.counter(ItemsCount::new(values.len())).bench_local(|| {
        for new in &values {
            divan::black_box(evaluation.replace(&mut store, &model, &[0, 1, 0, 1, 0], *new).expect("a path"));
        }
    });
}

/// Short string operations, every one computed.
#[divan::bench]
fn string_operations(bencher: Bencher) {
    let mut store = Store::new();
    let model = Model::new();
    let mut terms = Vec::new();
    for number in 0..64u32 {
        let a = store.string(&[97 + number % 3, 98, 97]);
        let b = store.string(&[98, 97 + number % 5]);
        let joined = store.op(Op::StrConcat, &[a, b]).expect("well-sorted");
        let from = store.int(i64::from(number % 4));
        let place = store.op(Op::StrIndexof, &[joined, b, from]).expect("well-sorted");
        let language = store.op(Op::StrToRe, &[b]).expect("well-sorted");
        let star = store.op(Op::ReStar, &[language]).expect("well-sorted");
        terms.push(store.op(Op::StrReplace, &[joined, b, a]).expect("well-sorted"));
        terms.push(store.op(Op::StrAt, &[joined, place]).expect("well-sorted"));
        terms.push(store.op(Op::StrInRe, &[joined, star]).expect("well-sorted"));
    }
    let count = store.subterms(&terms).iter().filter(|term| !store.args(**term).is_empty()).count();
    let mut evaluator = Evaluator::default();
    bencher.counter(ItemsCount::new(count)).bench_local(|| {
        evaluator.forget();
        for term in &terms {
            divan::black_box(evaluator.evaluate(&store, &model, *term)).ok();
        }
    });
}
