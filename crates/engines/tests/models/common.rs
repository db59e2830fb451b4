//! Seeds for tests: generated, or written out.

use engines::{Ask, Bench, Engine, NoOptions, Nobody, Provenance, Seed, Storm, TestCase};
use eval::{Budget, Evaluator, Model};
use generate::{Config, Grammar, Rng, rng};
use smtlib::{Mode, Script, Status, Store, parse};

/// Logics that together have all theories.
pub const LOGICS: &[&str] = &[
    "QF_LIA", "QF_NIA", "QF_LRA", "QF_NRA", "QF_LIRA", "QF_IDL", "QF_BV", "QF_ABV", "QF_FP", "QF_AX",
    "QF_ALIA", "QF_UF", "QF_UFLIA", "QF_UFDT", "QF_DT", "QF_S", "QF_SLIA", "QF_FF", "LIA", "UF", "BV", "ALL",
];

pub fn grammar(logic: &str) -> Grammar {
    let config =
        Config { depth: 3, nodes: 12, assertions: 3, variables: 4, incremental: 0.0, ..Config::default() };
    Grammar::new(logic, &[], config).expect("a logic")
}

pub fn read(store: &mut Store, text: &str) -> Script {
    parse(store, text.as_bytes(), Mode::Strict).expect("a script").script
}

/// Knows one model.
pub struct Knows(pub Model);

impl Ask for Knows {
    fn model(&mut self, _: &mut Store, _: &Script, variant: u32) -> Option<Model> {
        (variant == 0).then(|| self.0.clone())
    }

    fn agreed_status(&mut self, _: &Store, _: &Script) -> Option<(Status, String)> {
        None
    }

    fn confirmed_core(&mut self, _: &Store, _: &Script) -> Option<Vec<usize>> {
        None
    }
}

/// A satisfiable script of a logic with a model of it: true fragments of a generated one.
pub fn satisfied(store: &mut Store, grammar: &Grammar, index: u64) -> Option<(Script, Model)> {
    let mut rng = rng::stream(42, index);
    let script = grammar.script(store, &mut rng);
    let seeds = vec![Seed { name: "generated".to_owned(), script, status: None, memory: None }];
    let storm = Storm { max_assertions: 3, incremental: 0.0, from_initial: 0.7, ..Storm::default() };
    let mut bench =
        Bench { store, rng: &mut rng, ask: &mut Nobody, grammar, seeds: &seeds, options: &NoOptions };
    let draft = storm.open(&mut bench)?.next(&mut bench)?;
    let model = draft.witness()?.model().clone();
    Some((draft.script().clone(), model))
}

/// The test cases of one round.
pub fn cases(
    engine: &dyn Engine,
    store: &mut Store,
    rng: &mut Rng,
    ask: &mut dyn Ask,
    grammar: &Grammar,
    seed: Seed,
    most: usize,
) -> Vec<TestCase> {
    let seeds = vec![seed];
    let mut bench = Bench { store, rng, ask, grammar, seeds: &seeds, options: &NoOptions };
    let Some(mut round) = engine.open(&mut bench) else { return Vec::new() };
    let drafts = std::iter::from_fn(|| round.next(&mut bench)).take(most).enumerate();
    drafts.map(|(step, draft)| TestCase::new(draft, Provenance::new(engine.name(), &seeds, step))).collect()
}

pub fn seed(script: Script, status: Option<Status>) -> Seed {
    let status = status.map(|status| (status, "construction".to_owned()));
    Seed { name: "seed".to_owned(), script, status, memory: None }
}

/// Checks the case's witness with an evaluator that has seen nothing else.
pub fn check(store: &Store, case: &TestCase) {
    let witness = case.witness().expect("a witness");
    let mut evaluator = Evaluator::new(eval::Mode::Given, Budget::default());
    for term in eval::model::checked_terms(&case.script) {
        let value = evaluator.holds(store, witness.model(), term);
        assert_eq!(value, Ok(true), "{}", store.term_text(term));
    }
}
