//! Laws of the engines: mutants are well-sorted, streams repeat, stores do not grow, expectations hold.

use engines::{
    Bench, Engine, Expectation, Feedback, Fusion, Generate, Groups, NoOptions, Nobody, OpFuzz, Provenance,
    Seed, TestCase, TypeFuzz,
};
use generate::{Config, Grammar, rng};
use smtlib::{Command, Family, Mode, Release, Status, Store, Version, parse, print};

const SEEDS: &[&str] = &[
    "(set-logic QF_LIA)(set-info :status sat)(declare-fun x () Int)(declare-fun y () Int)
     (assert (and (< (+ x (* 2 y)) 10) (>= (- x) (ite (= x y) 3 (abs y)))))(assert (distinct x y 7))(check-sat)",
    "(set-logic QF_NRA)(set-info :status sat)(declare-fun x () Real)(declare-fun y () Real)
     (assert (> (* x y) (/ x 2.0)))(assert (or (< x 1.5) (= y 0.0)))(check-sat)",
    "(set-logic QF_BV)(set-info :status sat)(declare-fun a () (_ BitVec 8))(declare-fun b () (_ BitVec 8))
     (assert (bvult (bvadd a b) (bvmul a #x03)))
     (assert (= ((_ extract 3 0) a) ((_ rotate_left 1) ((_ extract 7 4) b))))(check-sat)",
    "(set-logic QF_SLIA)(set-info :status sat)(declare-fun s () String)(declare-fun t () String)
     (assert (str.prefixof (str.++ s \"a\") (str.replace t \"b\" s)))
     (assert (str.in_re t (re.+ (re.union (str.to_re \"ab\") (re.range \"a\" \"c\")))))(assert (> (str.len s) 1))(check-sat)",
    "(set-logic AUFLIA)(set-info :status unsat)(declare-fun f (Int) Int)(declare-fun a () (Array Int Int))
     (declare-fun k () Int)
     (assert (forall ((i Int)) (=> (< 0 i k) (exists ((j Int)) (! (> (select a (+ i j)) (f i)) :pattern ((f i)))))))
     (assert (! (and (= (select (store a k 1) k) (f k)) (< k k)) :named top))(check-sat)",
    "(set-logic QF_FP)(declare-fun x () Float32)(declare-fun m () RoundingMode)
     (assert (fp.lt (fp.add m x (fp.neg x)) (fp.sqrt RNE x)))(assert (not (fp.isNaN x)))(check-sat)",
    "(set-logic UFDTLIA)(declare-datatypes ((L 0)) (((nil) (cons (hd Int) (tl L)))))(declare-fun l () L)
     (assert (match l ((nil false) ((cons h t) (> h (hd t))))))(assert ((_ is cons) l))(check-sat)",
    "(set-logic QF_LIA)(set-info :status unsat)(declare-fun x () Int)(declare-fun p () Bool)
     (assert (and p (> x 3)))(assert (or (not p) (< x 3)))(check-sat)",
    "(declare-fun p () Bool)(declare-fun q () Bool)(push 1)(assert (xor p q true))(check-sat)(pop 1)
     (assert (=> p q p))(check-sat-assuming (p (not q)))",
];

fn releases() -> Vec<Release> {
    vec![Release::new(Family::Z3, Version::new(5, 4, 0)), Release::new(Family::Cvc5, Version::new(1, 4, 2))]
}

fn grammar() -> Grammar {
    Grammar::new("ALL", &releases(), Config::default()).expect("a logic")
}

fn seed(store: &mut Store, i: usize) -> Seed {
    let parsed = parse(store, SEEDS[i].as_bytes(), Mode::Strict).expect(SEEDS[i]);
    Seed { name: format!("seed{i}"), script: parsed.script, status: None, memory: None }
}

/// All mutants of a round.
fn round(engine: &dyn Engine, store: &mut Store, seeds: &[Seed], stream: u64) -> Vec<TestCase> {
    let grammar = grammar();
    let mut rng = rng::stream(3, stream);
    let mut bench =
        Bench { store, rng: &mut rng, ask: &mut Nobody, grammar: &grammar, seeds, options: &NoOptions };
    let mut cases = Vec::new();
    if let Some(mut round) = engine.open(&mut bench) {
        while let Some(draft) = round.next(&mut bench) {
            cases.push(TestCase::new(draft, Provenance::new(engine.name(), seeds, cases.len())));
        }
        assert!(cases.len() <= round.length(), "{}: {} cases", engine.name(), cases.len());
    }
    cases
}

fn text(store: &Store, case: &TestCase, release: Release) -> String {
    print::print(store, &case.script, release)
}

fn assert_well_sorted(store: &Store, case: &TestCase) {
    for release in releases() {
        let text = text(store, case, release);
        let mut fresh = Store::new();
        match parse(&mut fresh, text.as_bytes(), Mode::Tolerant) {
            Ok(parsed) => {
                assert!(parsed.opaque.is_empty() && parsed.notes.is_empty(), "{:?}\n{text}", parsed.notes)
            }
            Err(error) => panic!("{}\n{text}", error.excerpt(text.as_bytes())),
        }
    }
}

#[test]
fn mutants_of_all_engines_are_well_sorted() {
    let mut store = Store::new();
    let engines: [&dyn Engine; 4] = [
        &OpFuzz::default(),
        &OpFuzz { groups: Groups::Paper, ..OpFuzz::default() },
        &TypeFuzz::default(),
        &TypeFuzz { depth: 3, ..TypeFuzz::default() },
    ];
    for engine in engines {
        for i in 0..SEEDS.len() {
            let mark = store.mark();
            let seeds = [seed(&mut store, i)];
            let cases = round(engine, &mut store, &seeds, 0);
            assert_eq!(cases.len(), 300, "{} on seed {i}", engine.name());
            for case in cases.iter().step_by(7) {
                assert_well_sorted(&store, case);
            }
            store.reset(&mark);
        }
    }
}

#[test]
fn mutants_differ_from_their_seed_and_from_each_other() {
    let mut store = Store::new();
    for engine in [&OpFuzz::default() as &dyn Engine, &TypeFuzz::default()] {
        let seeds = [seed(&mut store, 0)];
        let cases = round(engine, &mut store, &seeds, 1);
        let texts: std::collections::BTreeSet<String> =
            cases.iter().map(|case| text(&store, case, Release::STANDARD)).collect();
        assert!(texts.len() > 150, "{}: {} texts", engine.name(), texts.len());
        assert!(texts.iter().all(|text| !text.contains(":status")), "a mutant's answer is its own");
    }
}

#[test]
fn linear_seeds_stay_linear() {
    let mut store = Store::new();
    for engine in [&OpFuzz::default() as &dyn Engine, &TypeFuzz { depth: 2, ..TypeFuzz::default() }] {
        for i in [0, 7] {
            let seeds = [seed(&mut store, i)];
            for case in round(engine, &mut store, &seeds, 2) {
                let usage = smtlib::logic::usage(&store, &case.script);
                assert!(!usage.nonlinear, "{}", text(&store, &case, Release::STANDARD));
            }
        }
    }
}

#[test]
fn the_same_stream_makes_the_same_mutants() {
    let engines: [&dyn Engine; 4] =
        [&OpFuzz::default(), &TypeFuzz::default(), &Fusion::default(), &Generate::default()];
    for engine in engines {
        let make = || {
            let mut store = Store::new();
            let seeds = [seed(&mut store, 3), seed(&mut store, 3)];
            let cases = round(engine, &mut store, &seeds, 9);
            cases.iter().map(|case| text(&store, case, Release::STANDARD)).collect::<Vec<_>>()
        };
        let first = make();
        assert!(first.len() >= 20, "{}", engine.name());
        assert_eq!(first, make(), "{}", engine.name());
    }
}

#[test]
fn a_store_that_is_reset_does_not_grow() {
    let mut store = Store::new();
    let seeds = [seed(&mut store, 2), seed(&mut store, 2)];
    let before = (store.term_count(), store.fun_count(), store.sort_count());
    let mark = store.mark();
    for stream in 0..5 {
        for engine in [&OpFuzz::default() as &dyn Engine, &TypeFuzz::default(), &Fusion::default()] {
            round(engine, &mut store, &seeds, stream);
            store.reset(&mark);
            assert_eq!(before, (store.term_count(), store.fun_count(), store.sort_count()));
        }
    }
}

#[test]
fn a_rejected_mutant_is_not_built_upon() {
    let mut store = Store::new();
    let seeds = [seed(&mut store, 0)];
    let grammar = grammar();
    for engine in [&OpFuzz::default() as &dyn Engine, &TypeFuzz::default()] {
        let mut rng = rng::stream(4, 0);
        let mut bench = Bench {
            store: &mut store,
            rng: &mut rng,
            ask: &mut Nobody,
            grammar: &grammar,
            seeds: &seeds,
            options: &NoOptions,
        };
        let mut round = engine.open(&mut bench).expect("a seed with operators");
        let original: Vec<_> = seeds[0].script.assertions().collect();
        for _ in 0..100 {
            let draft = round.next(&mut bench).expect("a mutant");
            let changed = draft.script().assertions().zip(&original).filter(|(new, old)| new != *old).count();
            assert_eq!(changed, 1, "{}: every mutant is one step from the seed", engine.name());
            round.learn(&Feedback::from_letters("r"));
        }
    }
}

#[test]
fn fusion_keeps_the_answer_of_its_seeds_and_refuses_others() {
    let mut store = Store::new();
    for (i, j, status) in [
        (0, 0, Status::Sat),
        (1, 1, Status::Sat),
        (2, 2, Status::Sat),
        (3, 3, Status::Sat),
        (7, 7, Status::Unsat),
        (7, 4, Status::Unsat),
    ] {
        let seeds = [seed(&mut store, i), seed(&mut store, j)];
        let cases = round(&Fusion::default(), &mut store, &seeds, 5);
        assert_eq!(cases.len(), 30, "{i} {j}");
        for case in &cases {
            assert_well_sorted(&store, case);
            assert_eq!(case.expectation().answer(), Some(status));
            assert!(matches!(case.expectation(), Expectation::Derived(why) if why.from.contains("seed")));
            let checks = case.script.commands.iter().filter(|command| **command == Command::CheckSat).count();
            assert_eq!(checks, 1);
        }
    }
    for (i, j) in [(0, 7), (5, 5), (8, 8), (0, 1)] {
        let seeds = [seed(&mut store, i), seed(&mut store, j)];
        assert!(round(&Fusion::default(), &mut store, &seeds, 5).is_empty(), "{i} {j}");
    }
}

/// Knows one model for every script that declares x and y.
struct Knows(i64, i64);

impl engines::Ask for Knows {
    fn model(&mut self, store: &mut Store, script: &smtlib::Script, _: u32) -> Option<eval::Model> {
        let mut model = eval::Model::new();
        for fun in script.declared_funs() {
            let value = if store.name(store.fun(fun).name).starts_with('x') { self.0 } else { self.1 };
            model.assign(fun, eval::Value::Int(value.into()));
        }
        Some(model)
    }

    fn agreed_status(&mut self, _: &Store, _: &smtlib::Script) -> Option<(Status, String)> {
        None
    }

    fn confirmed_core(&mut self, _: &Store, _: &smtlib::Script) -> Option<Vec<usize>> {
        None
    }
}

#[test]
fn fusion_of_seeds_with_models_has_a_checked_witness() {
    let mut store = Store::new();
    let seeds = [seed(&mut store, 0), seed(&mut store, 0)];
    let grammar = grammar();
    for (mut ask, holds) in [(Knows(-5, 0), true), (Knows(5, 0), false)] {
        let mut rng = rng::stream(6, 0);
        let mut bench = Bench {
            store: &mut store,
            rng: &mut rng,
            ask: &mut ask,
            grammar: &grammar,
            seeds: &seeds,
            options: &NoOptions,
        };
        let mut round = Fusion::default().open(&mut bench).expect("two satisfiable seeds");
        while let Some(draft) = round.next(&mut bench) {
            // A model that does not check out is never passed on as a witness.
            assert_eq!(draft.witness().is_some(), holds);
            assert_eq!(*draft.expectation() == Expectation::Witness, holds);
        }
    }
}

#[test]
fn operands_are_declared_before_they_are_used() {
    let late = "(set-logic QF_LIA)(declare-fun x () Int)(assert (> (+ x 1) 0))(declare-fun y () Int)
        (assert (< (+ x y) (- y 7)))(check-sat)";
    let levels =
        "(set-logic QF_LIA)(declare-fun x () Int)(assert (> (+ x 1) 0))(push 1)(declare-fun y () Int)
        (assert (< (+ x y) (- y 7)))(check-sat)(pop 1)(assert (distinct x 3))(check-sat)";
    for text in [late, levels] {
        let mut store = Store::new();
        let script = parse(&mut store, text.as_bytes(), Mode::Strict).expect(text).script;
        let seeds = [Seed { name: "late".to_owned(), script, status: None, memory: None }];
        for case in round(&TypeFuzz::default(), &mut store, &seeds, 8).iter().step_by(5) {
            assert_well_sorted(&store, case);
        }
    }
}
