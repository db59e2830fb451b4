//! What a stream means does not change: findings name the stream and the step that made their test case, and are made
//! again from these years later.

use engines::{Ask, Bench, Engine, Feedback, NoOptions, Seed, Tuning};
use eval::Model;
use generate::{Config, Grammar, rng};
use smtlib::{Family, Mode, Release, Script, Status, Store, Version, parse, print};

const SEEDS: &[(Status, &str)] = &[
    (
        Status::Sat,
        "(set-logic QF_LIA)(declare-fun x () Int)(declare-fun y () Int)
         (assert (and (< (+ x (* 2 y)) 10) (<= (- x) (ite (= x y) 3 (abs y)))))(assert (<= x 7))(check-sat)",
    ),
    (
        Status::Sat,
        "(set-logic QF_BV)(declare-fun a () (_ BitVec 8))(declare-fun b () (_ BitVec 8))
         (assert (bvule (bvadd a b) (bvor a #x03)))
         (assert (= ((_ extract 3 0) a) ((_ rotate_left 1) ((_ extract 7 4) b))))(check-sat)",
    ),
    (
        Status::Sat,
        "(set-logic QF_SLIA)(declare-fun s () String)(declare-fun t () String)
         (assert (str.prefixof (str.++ s \"a\") (str.++ \"a\" (str.replace t \"b\" s))))
         (assert (str.in_re t (re.* (re.union (str.to_re \"ab\") (re.range \"a\" \"c\")))))(check-sat)",
    ),
    (
        Status::Unsat,
        "(set-logic UFLIA)(declare-fun f (Int) Int)(declare-fun k () Int)
         (assert (forall ((i Int)) (=> (< 0 i k) (exists ((j Int)) (> (f (+ i j)) (f i))))))
         (assert (< k k))(check-sat)",
    ),
    (
        Status::Unsat,
        "(declare-fun p () Bool)(declare-fun q () Bool)(assert (xor p q))(push 1)(assert (=> p q))(check-sat)
         (pop 1)(assert (= p q))(check-sat-assuming (p (not q)))",
    ),
];

/// Feedback by step: what a campaign would tell, in the letters that findings store.
const LETTERS: &[&str] = &["", "n", "h", "", "r", "f", "nr", "", "n", "fn", ""];

/// Cases of one round that count.
const CASES: usize = 20;

/// Number of test cases and hash of all that an engine makes here.
const EXPECTED: &[(&str, usize, u64)] = &[
    ("seed", 10, 0xc6ea_7ba0_4add_b54a),
    ("generate", 200, 0xdb99_cb64_3111_e144),
    ("opfuzz", 200, 0x760c_7e24_19e2_baa4),
    ("typefuzz", 200, 0x40c2_9fa3_2058_ea92),
    ("fusion", 160, 0xa43c_431e_e40a_83ab),
    ("storm", 200, 0x65ad_3a21_eb9d_fad0),
    ("diver", 200, 0x1103_6797_ac00_8bd7),
    ("polarity", 200, 0x56bb_12f4_feb5_28e7),
    ("values", 63, 0x5ce5_798e_5092_649f),
    ("diver-uniform", 200, 0x4a62_6bb8_ba20_bcb2),
    ("diver-no-complicate", 200, 0x953f_6737_9292_5b87),
    ("falcon", 200, 0xdb99_cb64_3111_e144),
    ("falcon-search", 200, 0xdb99_cb64_3111_e144),
    ("falcon-learn", 200, 0xdb99_cb64_3111_e144),
    ("falcon-noopt", 200, 0xdb99_cb64_3111_e144),
    ("opfuzz+incremental", 200, 0xcee1_ddb3_b1f4_3acc),
    ("polarity+incremental", 200, 0x3c4c_3bd3_0d50_5695),
    ("storm+values", 200, 0x6e37_1428_424c_fe0d),
    ("opfuzz+values", 200, 0xfb1a_fdf1_c5fe_1175),
];

/// Knows models full of default values, and a core.
struct Defaults;

impl Ask for Defaults {
    fn model(&mut self, store: &mut Store, script: &Script, variant: u32) -> Option<Model> {
        let mut model = Model::new();
        model.complete(store, script);
        (variant == 0).then_some(model)
    }

    fn agreed_status(&mut self, _: &Store, _: &Script) -> Option<(Status, String)> {
        Some((Status::Unsat, "two solvers agree".to_owned()))
    }

    fn confirmed_core(&mut self, _: &Store, _: &Script) -> Option<Vec<usize>> {
        Some(vec![1])
    }
}

/// 64-bit FNV-1a.
fn hash(mut state: u64, text: &str) -> u64 {
    for byte in text.bytes().chain([0]) {
        state = (state ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
    }
    state
}

/// The engine's first test cases on every seed and two streams: how many, and their hash.
fn made(engine: &dyn Engine) -> (usize, u64) {
    let releases =
        [Release::new(Family::Z3, Version::new(5, 4, 0)), Release::new(Family::Cvc5, Version::new(1, 4, 2))];
    let grammar = Grammar::new("ALL", &releases, Config::default()).expect("a logic");
    let (mut count, mut state) = (0, 0xcbf2_9ce4_8422_2325);
    for (number, (status, text)) in SEEDS.iter().enumerate() {
        for stream in 0..2 {
            let mut store = Store::new();
            let script = parse(&mut store, text.as_bytes(), Mode::Strict).expect(text).script;
            let status = (*status, "construction".to_owned());
            let seed = Seed { name: format!("seed{number}"), script, status: Some(status), memory: None };
            let seeds = [seed.clone(), seed];
            let mut rng = rng::stream(11, stream);
            let mut ask = Defaults;
            let mut bench = Bench {
                store: &mut store,
                rng: &mut rng,
                ask: &mut ask,
                grammar: &grammar,
                seeds: &seeds,
                options: &NoOptions,
            };
            let Some(mut round) = engine.open(&mut bench) else { continue };
            for step in 0..CASES {
                let Some(draft) = round.next(&mut bench) else { break };
                let (answer, changes) = (draft.expectation().answer(), draft.changes());
                state = hash(state, &print::print(bench.store, draft.script(), Release::STANDARD));
                state = hash(state, &format!("{answer:?} {changes:?}"));
                count += 1;
                round.learn(&Feedback::from_letters(LETTERS[step % LETTERS.len()]));
            }
            state = hash(state, &rng.bits().to_string());
        }
    }
    (count, state)
}

#[test]
fn every_engine_makes_of_a_stream_what_it_always_has() {
    let mut seen = Vec::new();
    let names = "opfuzz+incremental,polarity+incremental,storm+values,opfuzz+values";
    let composed = engines::parse_list(names, &Tuning::default());
    let composed = composed.expect("names of engines");
    for engine in engines::all().iter().chain(&engines::variants()).chain(&composed) {
        let (count, hash) = made(engine.as_ref());
        seen.push((engine.name().to_owned(), count, hash));
    }
    let expected: Vec<_> =
        EXPECTED.iter().map(|(name, count, hash)| ((*name).to_owned(), *count, *hash)).collect();
    assert_eq!(seen, expected, "old findings can no longer be made again from their provenance");
}
