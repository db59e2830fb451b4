//! Compositions and options: what is added to an engine leaves what the engine makes alone.

use std::collections::BTreeSet;

use crate::common::{Knows, LOGICS, cases, check, grammar, read, satisfied, seed};
use engines::{
    Bench, Diver, Engine, Expectation, NoOptions, Nobody, OptionMenu, Seed, SolverSettings, Tuning, parse,
};
use generate::{Rng, rng};
use smtlib::{Release, Setting, Status, Store, print};

fn engine(text: &str) -> Box<dyn Engine> {
    parse(text, &Tuning::default()).expect(text)
}

#[test]
fn a_transform_changes_how_an_engines_test_cases_look_and_not_what_they_assert() {
    for name in ["diver", "storm", "polarity", "opfuzz"] {
        let mut spread = 0;
        for index in 0..LOGICS.len() as u64 {
            let grammar = grammar(LOGICS[index as usize]);
            let made = |text: &str| {
                let mut store = Store::new();
                let (script, model) = satisfied(&mut store, &grammar, index)?;
                let mut rng = rng::stream(7, index);
                let start = seed(script, Some(Status::Sat));
                let made =
                    cases(&*engine(text), &mut store, &mut rng, &mut Knows(model), &grammar, start, 10);
                Some((store, made, rng.bits()))
            };
            let Some((store, alone, next)) = made(name) else { continue };
            let text = format!("{name}+incremental");
            let (other_store, composed, other_next) = made(&text).expect("the same seed");
            assert_eq!((alone.len(), next), (composed.len(), other_next), "the engine's stream has moved");
            for (one, other) in alone.iter().zip(&composed) {
                let assertions = |store: &Store, case: &engines::TestCase| -> BTreeSet<String> {
                    case.script.assertions().map(|term| store.term_text(term)).collect()
                };
                assert_eq!(assertions(&store, one), assertions(&other_store, other));
                assert_eq!(one.expectation().answer(), other.expectation().answer());
                assert_eq!(other.provenance.engine, text);
                if other.witness().is_some() {
                    check(&other_store, other);
                }
                let changed = other.provenance.changes.last().is_some_and(|last| last.contains("frames"));
                assert!(!changed || other.script.is_incremental());
                spread += usize::from(!one.script.is_incremental() && other.script.is_incremental());
            }
        }
        assert!(spread > 20, "{name}: {spread}");
    }
}

#[test]
fn a_transform_that_does_not_apply_passes_the_test_case_on() {
    let mut store = Store::new();
    let script = read(&mut store, "(declare-const p Bool)(assert p)(assert (not p))(check-sat)");
    let composed = engine("polarity+incremental");
    let mut rng = rng::stream(7, 0);
    let start = seed(script, Some(Status::Unsat));
    let made = cases(&*composed, &mut store, &mut rng, &mut Nobody, &grammar("QF_UF"), start, 20);
    assert_eq!(made.len(), 20);
    for case in &made {
        assert!(!case.script.is_incremental());
        assert!(matches!(case.expectation(), Expectation::Derived(why) if why.answer == Status::Unsat));
    }
}

#[test]
fn a_composition_repeats_itself() {
    let texts = || {
        let mut store = Store::new();
        let grammar = grammar("QF_LIA");
        let (script, model) = satisfied(&mut store, &grammar, 0).expect("a seed");
        let mut rng = rng::stream(8, 0);
        let composed = engine("diver+incremental");
        let made =
            cases(&*composed, &mut store, &mut rng, &mut Knows(model), &grammar, seed(script, None), 30);
        made.iter().map(|case| print::print(&store, &case.script, Release::STANDARD)).collect::<Vec<_>>()
    };
    let first = texts();
    assert_eq!(first.len(), 30);
    assert_eq!(first, texts());
}

/// Two solvers with an option each.
struct TwoSolvers;

impl OptionMenu for TwoSolvers {
    fn draw(&self, rng: &mut Rng, most: usize) -> Vec<SolverSettings> {
        let settings = |solver, count| SolverSettings {
            solver,
            settings: (0..count).map(|i| Setting::new(format!("o{i}"), "true")).collect(),
        };
        (0..2).map(|solver| settings(solver, rng.between(0, most))).collect()
    }
}

#[test]
fn diver_draws_options_for_each_mutant_without_changing_the_mutants() {
    let made = |options: usize, menu: &dyn OptionMenu| {
        let mut store = Store::new();
        let grammar = grammar("QF_LIA");
        let (script, model) = satisfied(&mut store, &grammar, 0).expect("a seed");
        let seeds = [Seed { name: "seed".to_owned(), script, status: None, memory: None }];
        let mut rng = rng::stream(9, 0);
        let mut ask = Knows(model);
        let mut bench = Bench {
            store: &mut store,
            rng: &mut rng,
            ask: &mut ask,
            grammar: &grammar,
            seeds: &seeds,
            options: menu,
        };
        let mut round = Diver { options, ..Diver::default() }.open(&mut bench).expect("a round");
        let drafts: Vec<_> = (0..40).map_while(|_| round.next(&mut bench)).collect();
        let text = |draft: &engines::Draft| print::print(&store, draft.script(), Release::STANDARD);
        drafts.iter().map(|draft| (text(draft), draft.options().to_vec())).unzip()
    };
    let (plain, none): (Vec<String>, Vec<_>) = made(0, &TwoSolvers);
    let (same, drawn): (Vec<String>, Vec<_>) = made(2, &TwoSolvers);
    assert_eq!((plain.len(), &plain), (40, &same));
    assert!(none.iter().all(Vec::is_empty));
    let counts: BTreeSet<usize> = drawn.iter().flatten().map(|one| one.settings.len()).collect();
    assert_eq!(counts, BTreeSet::from([0, 1, 2]));
    let (same, none): (Vec<String>, Vec<_>) = made(2, &NoOptions);
    assert_eq!(plain, same);
    assert!(none.iter().all(Vec::is_empty));
}
