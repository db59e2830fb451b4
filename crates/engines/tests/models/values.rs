//! Values: constants from models, over all theories. The models here are random assignments, so that most of them satisfy
//! nothing that was enforced, as models of wrong solvers would not.

use std::collections::BTreeSet;

use crate::common::{LOGICS, cases, check, grammar, read, satisfied, seed};
use engines::values::{Preset, Quantifiers};
use engines::{
    Ask, Attempt, Bench, Engine, Expectation, Feedback, NoOptions, Nobody, Seed, TestCase, Tuning, Values,
    parse,
};
use eval::sorts::Sorts;
use eval::{Model, Value};
use generate::{Rng, rng};
use smtlib::{Command, Release, Script, Status, Store, print};

/// Answers every question with random values.
struct Guesses(Rng);

impl Ask for Guesses {
    fn model(&mut self, store: &mut Store, script: &Script, _: u32) -> Option<Model> {
        let mut model = Model::new();
        for fun in script.declared_funs() {
            let decl = store.fun(fun);
            if decl.params.is_empty()
                && let Some(value) = Sorts::new(store, &model).random_value(decl.result, &mut self.0)
            {
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

fn made(engine: &dyn Engine, store: &mut Store, script: Script, logic: &str, stream: u64) -> Vec<TestCase> {
    let mut ask = Guesses(rng::stream(8, stream));
    let mut rng = rng::stream(7, stream);
    cases(engine, store, &mut rng, &mut ask, &grammar(logic), seed(script, None), 60)
}

/// The configurations of the paper, the default, and what the paper has not.
fn configurations() -> Vec<Values> {
    let more = Values { blocked: 2, quantifiers: Quantifiers::Mixed, iterations: 12, ..Values::default() };
    let paper = Preset::all().map(|preset| Values { iterations: 12, ..preset.settings() });
    paper.chain([Values { iterations: 12, ..Values::default() }, more]).collect()
}

#[test]
fn a_witness_is_only_claimed_where_it_satisfies_the_script() {
    let (mut witnesses, mut others) = (0, 0);
    for (number, config) in configurations().iter().enumerate() {
        for (place, logic) in LOGICS.iter().enumerate() {
            let mut store = Store::new();
            let index = (number * LOGICS.len() + place) as u64;
            let Some((script, _)) = satisfied(&mut store, &grammar(logic), index) else { continue };
            for case in made(config, &mut store, script.clone(), logic, index) {
                assert_ne!(case.script, script, "a mutant differs from its seed");
                match case.expectation() {
                    Expectation::Witness => {
                        check(&store, &case);
                        witnesses += 1;
                    }
                    expectation => {
                        assert_eq!(expectation, &Expectation::Agree);
                        others += 1;
                    }
                }
            }
        }
    }
    assert!(witnesses > 500 && others > 500, "{witnesses} with witnesses, {others} without");
}

#[test]
fn every_test_case_can_be_read_again() {
    for (place, logic) in LOGICS.iter().enumerate() {
        let mut store = Store::new();
        let Some((script, _)) = satisfied(&mut store, &grammar(logic), place as u64) else { continue };
        for case in made(&Values::default(), &mut store, script, logic, 1) {
            let text = print::print(&store, &case.script, Release::STANDARD);
            read(&mut Store::new(), &text);
        }
    }
}

#[test]
fn the_skeleton_comes_first_then_enforcements_and_mutants_of_the_seeds_own_shape() {
    let mut store = Store::new();
    let text = "(declare-fun x () Int)(push 1)(assert (or (< x 7) (> x (- 1))))(check-sat)(pop 1)
        (assert (> x 3))(check-sat-assuming ((< x 99)))";
    let script = read(&mut store, text);
    let shape = |script: &Script| -> Vec<std::mem::Discriminant<Command>> {
        script.commands.iter().map(std::mem::discriminant).collect()
    };
    let all = made(&Preset::Skolu.settings(), &mut store, script.clone(), "QF_LIA", 1);
    assert!(all[0].provenance.changes[0].starts_with("skeleton"));
    let changed =
        |case: &&TestCase| case.provenance.changes.iter().any(|change| change.starts_with("constants"));
    let mutants: Vec<&TestCase> = all.iter().filter(changed).collect();
    assert!(mutants.len() > 5, "{}", mutants.len());
    let mut different = BTreeSet::new();
    for mutant in mutants {
        assert_eq!(shape(&mutant.script), shape(&script));
        assert!(different.insert(print::print(&store, &mutant.script, Release::STANDARD)), "made twice");
    }
    let enforced = all.iter().filter(|case| {
        case.provenance.changes.len() == 1 && case.provenance.changes[0].starts_with("enforced")
    });
    assert!(enforced.count() > 3);
}

#[test]
fn a_round_ends_when_nothing_is_left_to_enforce_and_says_what_covered_what() {
    let mut store = Store::new();
    let script = read(&mut store, "(declare-fun x () Int)(assert (or (< x 7) (> x 9)))(check-sat)");
    let seeds = [seed(script, None)];
    let (mut rng, mut ask) = (rng::stream(1, 1), Guesses(rng::stream(2, 2)));
    let (grammar, store) = (grammar("QF_LIA"), &mut store);
    let mut bench =
        Bench { store, rng: &mut rng, ask: &mut ask, grammar: &grammar, seeds: &seeds, options: &NoOptions };
    let mut round = Preset::Skolu.settings().open(&mut bench).expect("two constants");
    let mut count = 0;
    while round.next(&mut bench).is_some() {
        count += 1;
        assert!(count <= round.length());
    }
    assert_eq!(round.exhausted(), Some("saturated"));
    let text = round.explain(bench.store, &|number| format!("{number:05}")).expect("it explains itself");
    for part in
        ["(assert (or (< x h!1) (> x h!2)))", "m!3 = (or (< x h!1) (> x h!2)): true by 000", "h!1 = 7"]
    {
        assert!(text.contains(part), "{part} in {text}");
    }
    assert!(text.contains("nothing is left to enforce"), "{text}");
}

/// Says that nothing has a model, or that it does not know.
struct Denies(bool);

impl Ask for Denies {
    fn model(&mut self, _: &mut Store, _: &Script, _: u32) -> Option<Model> {
        None
    }

    fn attempt(&mut self, _: &mut Store, _: &Script, _: u32) -> Attempt {
        if self.0 { Attempt::Refuted } else { Attempt::Undecided }
    }

    fn agreed_status(&mut self, _: &Store, _: &Script) -> Option<(Status, String)> {
        None
    }

    fn confirmed_core(&mut self, _: &Store, _: &Script) -> Option<Vec<usize>> {
        None
    }
}

/// Enforcements that a round makes of a seed with ten pairs, and why there is no further round.
fn enforcements(config: &Values, ask: &mut dyn Ask) -> (u64, Option<&'static str>) {
    let mut store = Store::new();
    let text =
        "(declare-fun x () Int)(assert (and (< x 7) (> x 2) (distinct x 3 4) (> (* x x) 5)))(check-sat)";
    let seeds = [seed(read(&mut store, text), None)];
    let (mut rng, grammar) = (rng::stream(1, 1), grammar("QF_NIA"));
    let (store, options) = (&mut store, &NoOptions);
    let mut bench = Bench { store, rng: &mut rng, ask, grammar: &grammar, seeds: &seeds, options };
    let mut round = config.open(&mut bench).expect("constants");
    while round.next(&mut bench).is_some() {}
    let made = round.figures().into_iter().find(|(name, _)| *name == "enforcements");
    (made.map_or(0, |(_, count)| count), round.exhausted())
}

#[test]
fn a_seed_is_given_up_after_four_enforcements_that_nobody_decides() {
    let config = Values { undecided: 4, ..Preset::Skolu.settings() };
    let (count, reason) = enforcements(&config, &mut Denies(false));
    assert_eq!((count, reason), (4, Some("no solver decides its meta-formula")));
}

#[test]
fn contradictions_do_not_end_a_round_and_the_papers_configurations_never_give_up() {
    let careful = Values { undecided: 4, ..Preset::Skolu.settings() };
    assert_eq!(enforcements(&careful, &mut Denies(true)), (10, Some("saturated")));
    let undecided = Some("no solver decides its meta-formula");
    assert_eq!(enforcements(&Preset::Skolu.settings(), &mut Denies(false)), (10, undecided));
    assert!(enforcements(&Preset::BlendB.settings(), &mut Denies(true)).0 > 10);
    assert!(Preset::all().all(|preset| preset.settings().undecided == 0));
}

/// Prints a model full of default values, in which no monitor is true: beside `sat`, or without knowing.
struct Prints {
    known: bool,
    asked: usize,
}

impl Ask for Prints {
    fn model(&mut self, _: &mut Store, _: &Script, _: u32) -> Option<Model> {
        None
    }

    fn attempt(&mut self, store: &mut Store, script: &Script, _: u32) -> Attempt {
        let mut texts = script.assertions().map(|formula| store.term_text(formula));
        self.asked += usize::from(texts.any(|text| text.starts_with("m!")));
        if self.known { Attempt::Model(Model::new()) } else { Attempt::Candidate(Model::new()) }
    }

    fn agreed_status(&mut self, _: &Store, _: &Script) -> Option<(Status, String)> {
        None
    }

    fn confirmed_core(&mut self, _: &Store, _: &Script) -> Option<Vec<usize>> {
        None
    }
}

#[test]
fn a_candidate_that_contradicts_what_is_enforced_is_no_model_and_the_next_solver_is_asked() {
    let lean = Values { lean: true, models: 1, ..Preset::Skolu.settings() };
    let satisfied = |known: bool| {
        let mut store = Store::new();
        // Under zeros everything is false. The skeleton and the first truth are asked of a second solver, in vain.
        let text = "(declare-fun x () Int)(assert (and (< x 7) (> x 2)))(check-sat)";
        let seeds = [seed(read(&mut store, text), None)];
        let (mut rng, mut ask, grammar) = (rng::stream(1, 1), Prints { known, asked: 0 }, grammar("QF_LIA"));
        let (store, options) = (&mut store, &NoOptions);
        let mut bench =
            Bench { store, rng: &mut rng, ask: &mut ask, grammar: &grammar, seeds: &seeds, options };
        let mut round = lean.open(&mut bench).expect("constants");
        while round.next(&mut bench).is_some() {}
        let of = |wanted| round.figures().into_iter().find(|(name, _)| *name == wanted);
        (of("satisfied").map(|found| found.1), of("enforcements").map(|found| found.1), ask.asked)
    };
    assert_eq!(satisfied(true), (Some(6), Some(6), 3), "a solver that says sat is taken at its word");
    assert_eq!(satisfied(false), (Some(3), Some(6), 4), "what is enforced false is false there");
}

/// Decides enforcements at once, and mutants only for the second that is asked.
#[derive(Default)]
struct Slow(Vec<u32>);

impl Ask for Slow {
    fn model(&mut self, _: &mut Store, _: &Script, _: u32) -> Option<Model> {
        None
    }

    fn attempt(&mut self, store: &mut Store, script: &Script, variant: u32) -> Attempt {
        let is_mutant = !script.assertions().any(|formula| store.term_text(formula).contains("h!"));
        if is_mutant {
            self.0.push(variant);
        }
        if is_mutant && variant == 0 { Attempt::Undecided } else { Attempt::Model(Model::new()) }
    }

    fn agreed_status(&mut self, _: &Store, _: &Script) -> Option<(Status, String)> {
        None
    }

    fn confirmed_core(&mut self, _: &Store, _: &Script) -> Option<Vec<usize>> {
        None
    }
}

#[test]
fn a_mutant_that_one_solver_does_not_decide_is_shown_to_the_next_one() {
    let config = Values { iterations: 1, models: 1, own_only: true, ..Preset::Skolu.settings() };
    let mut ask = Slow::default();
    enforcements(&config, &mut ask);
    assert_eq!(ask.0, [0, 1]);
}

#[test]
fn a_round_of_which_nobody_decides_anything_does_not_say_that_nothing_is_left() {
    for config in [Values { near: 0, ..Values::default() }, Preset::Skolu.settings()] {
        let mut store = Store::new();
        let seeds = [seed(read(&mut store, "(declare-fun x () Int)(assert (< x 7))(check-sat)"), None)];
        let (mut rng, mut ask, grammar) = (rng::stream(1, 1), Denies(false), grammar("QF_LIA"));
        let (store, options) = (&mut store, &NoOptions);
        let mut bench =
            Bench { store, rng: &mut rng, ask: &mut ask, grammar: &grammar, seeds: &seeds, options };
        let mut round = config.open(&mut bench).expect("constants");
        while round.next(&mut bench).is_some() {}
        assert_eq!(round.exhausted(), Some("no solver decides its meta-formula"));
        let text = round.explain(bench.store, &|number| number.to_string()).expect("it explains itself");
        assert!(
            text.contains("nobody decides what is enforced") && !text.contains("nothing is left"),
            "{text}"
        );
    }
}

#[test]
fn of_what_nobody_decides_the_skeleton_and_two_enforcements_are_tested() {
    let mut store = Store::new();
    let text =
        "(declare-fun x () Int)(assert (and (< x 7) (> x 2) (distinct x 3 4) (> (* x x) 5)))(check-sat)";
    let script = read(&mut store, text);
    let mut rng = rng::stream(1, 1);
    let skolu = Preset::Skolu.settings();
    let all = cases(&skolu, &mut store, &mut rng, &mut Nobody, &grammar("QF_NIA"), seed(script, None), 100);
    assert_eq!(all.len(), 3, "more would cost time-outs");
    assert!(all.iter().all(|case| case.expectation() == &Expectation::Agree));
}

/// What a round of a seed makes with random answers, why no other one is needed, and what it leaves to know.
fn round(config: &Values, text: &str, memory: Option<String>) -> (usize, Option<&'static str>, String) {
    let mut store = Store::new();
    let seeds = [Seed { memory, ..seed(read(&mut store, text), None) }];
    let (mut rng, mut ask) = (rng::stream(1, 1), Guesses(rng::stream(2, 2)));
    let grammar = grammar("QF_LIA");
    let mut bench = Bench {
        store: &mut store,
        rng: &mut rng,
        ask: &mut ask,
        grammar: &grammar,
        seeds: &seeds,
        options: &NoOptions,
    };
    let mut round = config.open(&mut bench).expect("constants");
    let mut count = 0;
    while round.next(&mut bench).is_some() {
        count += 1;
    }
    (count, round.exhausted(), round.memory().expect("it covers something"))
}

#[test]
fn a_later_round_goes_on_from_what_is_covered_until_nothing_is_left() {
    let text = "(declare-fun x () Int)(declare-fun y () Int)
        (assert (or (< x 7) (> y 9) (= (+ x y) 12)))(assert (distinct x y 3))(check-sat)";
    let directed = Values { paper: false, ..Preset::BlendB.settings() };
    for config in [Values::default(), directed, Preset::Skolu.settings()] {
        let config = Values { iterations: 1, ..config };
        let (mut memory, mut rounds) = (None, 0);
        loop {
            let (count, exhausted, left) = round(&config, text, memory.clone());
            assert!(count > 0 || memory.is_some());
            assert_ne!(memory, Some(left.clone()), "every round does something");
            (memory, rounds) = (Some(left), rounds + 1);
            if exhausted == Some("saturated") {
                break;
            }
            assert!(rounds < 200, "{memory:?}");
        }
        assert!(rounds > 1, "one enforcement is not enough");
        let (count, exhausted, _) = round(&config, text, memory.clone());
        assert_eq!((count, exhausted), (0, Some("saturated")), "a saturated seed costs nothing");
        let (count, ..) = round(&config, text, Some("of another seed".to_owned()));
        assert!(count > 0, "what cannot be read is passed over");
    }
}

/// Refutes what enforces more than four monitors; the last three assertions are to blame. Keeps how many monitors were
/// enforced in each question, and which came first.
#[derive(Default)]
struct Contradicts(Vec<(usize, String)>);

impl Ask for Contradicts {
    fn model(&mut self, _: &mut Store, _: &Script, _: u32) -> Option<Model> {
        None
    }

    fn attempt(&mut self, store: &mut Store, script: &Script, _: u32) -> Attempt {
        let texts: Vec<String> = script.assertions().map(|formula| store.term_text(formula)).collect();
        let is_enforced = |text: &&String| text.starts_with("m!") || text.starts_with("(not m!");
        let enforced: Vec<&String> = texts.iter().filter(is_enforced).collect();
        let Some(first) = enforced.first() else { return Attempt::Undecided };
        self.0.push((enforced.len(), first.to_string()));
        if enforced.len() > 4 { Attempt::Refuted } else { Attempt::Model(Model::new()) }
    }

    fn core(&mut self, _: &mut Store, script: &Script, _: u32) -> Option<Vec<usize>> {
        let count = script.assertions().count();
        Some((count - 3..count).collect())
    }

    fn agreed_status(&mut self, _: &Store, _: &Script) -> Option<(Status, String)> {
        None
    }

    fn confirmed_core(&mut self, _: &Store, _: &Script) -> Option<Vec<usize>> {
        None
    }
}

#[test]
fn of_a_contradictory_enforcement_the_monitors_of_the_core_are_dropped_and_the_goal_stays() {
    let config = Values { iterations: 1, models: 1, ..Values::default() };
    let mut ask = Contradicts::default();
    let (_, reason) = enforcements(&config, &mut ask);
    assert_eq!(reason, None);
    let [(7, goal), (4, again)] = ask.0.as_slice() else { panic!("{:?}", ask.0) };
    assert_eq!(goal, again);
}

/// Crashes on what enforces at least so many monitors; everything else has a model.
struct Crashes(usize);

impl Ask for Crashes {
    fn model(&mut self, _: &mut Store, _: &Script, _: u32) -> Option<Model> {
        None
    }

    fn attempt(&mut self, store: &mut Store, script: &Script, _: u32) -> Attempt {
        let texts = script.assertions().map(|formula| store.term_text(formula));
        let enforced = texts.filter(|text| text.starts_with("m!") || text.starts_with("(not m!"));
        if enforced.count() < self.0 { Attempt::Model(Model::new()) } else { Attempt::Crashed }
    }

    fn agreed_status(&mut self, _: &Store, _: &Script) -> Option<(Status, String)> {
        None
    }

    fn confirmed_core(&mut self, _: &Store, _: &Script) -> Option<Vec<usize>> {
        None
    }
}

#[test]
fn an_enforcement_that_is_softened_is_a_test_case_of_its_own_and_always_where_a_solver_crashed() {
    let text = "(declare-fun x () Int)(declare-fun y () Int)
        (assert (and (< x 7) (> x 2) (distinct y 3 4) (> (* x y) 5)))(check-sat)";
    let enforced = |ask: &mut dyn Ask| -> Vec<usize> {
        let mut store = Store::new();
        let script = read(&mut store, text);
        let mut rng = rng::stream(1, 1);
        let config = Values { iterations: 3, models: 1, ..Values::default() };
        let all = cases(&config, &mut store, &mut rng, ask, &grammar("QF_NIA"), seed(script, None), 100);
        let monitors = |case: &TestCase| {
            case.script
                .declared_funs()
                .filter(|fun| store.name(store.fun(*fun).name).starts_with("m!"))
                .count()
        };
        all.iter().map(monitors).filter(|count| *count > 0).collect()
    };
    assert_eq!(enforced(&mut Contradicts::default()), [7, 4, 7, 4, 7, 4]);
    let crashed = enforced(&mut Crashes(7));
    assert_eq!(crashed.iter().filter(|count| **count == 7).count(), 3, "{crashed:?}");
    assert_eq!(crashed.iter().filter(|count| **count == 3).count(), 3, "half of them, which had a model");
}

#[test]
fn mutants_that_cannot_keep_an_enforcement_are_made_once() {
    let text = "(declare-fun x () Int)(push 1)(assert (or (< x 7) (> x 2)))(check-sat)(pop 1)(check-sat)";
    let mut store = Store::new();
    let script = read(&mut store, text);
    let all = made(&Preset::Effinal.settings(), &mut store, script, "QF_LIA", 3);
    let mut texts = BTreeSet::new();
    for case in &all {
        let text = print::print(&store, &case.script, Release::STANDARD);
        assert!(texts.insert(text.clone()), "made twice: {text}");
    }
    assert!(all.len() > 5);
}

/// Test cases of a round, what it noted of a model of each, and how many pairs it covers. It is told what `told` says, or
/// what it noted.
fn round_told(
    engine: &dyn Engine,
    told: Option<&[Option<String>]>,
) -> (Vec<String>, Vec<Option<String>>, u64) {
    let mut store = Store::new();
    let text = "(declare-fun x () Int)(declare-fun y () Int)
        (assert (and (> x 7) (< y 9) (= (+ x y) 12) (distinct x 31)))(check-sat)";
    let script = read(&mut store, text);
    let funs: Vec<_> = script.declared_funs().collect();
    let seeds = [seed(script, None)];
    let (mut rng, mut ask, grammar) = (rng::stream(1, 1), Guesses(rng::stream(2, 2)), grammar("QF_LIA"));
    let (store, options) = (&mut store, &NoOptions);
    let mut bench = Bench { store, rng: &mut rng, ask: &mut ask, grammar: &grammar, seeds: &seeds, options };
    let mut round = engine.open(&mut bench).expect("constants");
    let (mut texts, mut notes) = (Vec::new(), Vec::new());
    while let Some(draft) = round.next(&mut bench) {
        let mut model = Model::new();
        funs.iter().zip([40, -3]).for_each(|(fun, value)| model.assign(*fun, Value::int(value)));
        let noted = round.note(bench.store, &model);
        assert_eq!(noted, round.note(bench.store, &model), "to note something changes nothing");
        let seen = told.map_or(noted.clone(), |told| told.get(texts.len()).cloned().flatten());
        texts.push(print::print(bench.store, draft.script(), Release::STANDARD));
        notes.push(noted);
        round.learn(&Feedback { seen, ..Feedback::default() });
    }
    let figures = round.figures();
    let covered = figures.iter().find(|(name, _)| *name == "covered").map_or(0, |(_, count)| *count);
    (texts, notes, covered)
}

#[test]
fn what_the_model_of_a_test_run_covers_is_told_and_makes_the_same_round_again() {
    let config = Values { iterations: 12, own_models: 0.0, paper: false, ..Preset::Skolu.settings() };
    let (made, notes, covered) = round_told(&config, None);
    assert!(notes.iter().flatten().count() > 0);
    let (again, ..) = round_told(&config, Some(&notes));
    assert_eq!(made, again, "the same feedback, the same test cases");
    let (alone, _, less) = round_told(&config, Some(&[]));
    assert_ne!(made, alone, "covered goals are not enforced again");
    assert!(covered > less, "{covered} of {less} without");
    let (odd, ..) = round_told(&config, Some(&vec![Some("no such text".to_owned()); 500]));
    assert_eq!(odd, alone, "what cannot be read is passed over");
}

#[test]
fn a_composition_keeps_what_its_engine_can_do() {
    let config = Values { iterations: 12, own_models: 0.0, paper: false, ..Preset::Skolu.settings() };
    let tuning = Tuning { values: config.clone(), ..Tuning::default() };
    let composed = parse("values+incremental", &tuning).expect("a composition");
    // The transform leaves alone what is too small to be split: then the model of a test run tells of the engine's own.
    let mut store = Store::new();
    let text = "(declare-fun x () Int)(assert (or (< x 7) (> x 9)))(check-sat)";
    let seeds = [seed(read(&mut store, text), None)];
    let (mut rng, mut ask, grammar) = (rng::stream(1, 1), Guesses(rng::stream(2, 2)), grammar("QF_LIA"));
    let (store, options) = (&mut store, &NoOptions);
    let mut bench = Bench { store, rng: &mut rng, ask: &mut ask, grammar: &grammar, seeds: &seeds, options };
    let mut round = composed.open(&mut bench).expect("constants");
    while round.next(&mut bench).is_some() {}
    assert_eq!(round.exhausted(), Some("saturated"));
    let memory = round.memory().expect("it covers something");
    assert!(memory.split(';').nth(2).is_some_and(|letters| letters.contains('c')), "{memory}");
    assert!(round.figures().contains(&("pairs", 6)), "{:?}", round.figures());
    let name = |number: usize| number.to_string();
    assert!(round.explain(bench.store, &name).is_some_and(|text| text.starts_with("skeleton")));
    let diver = parse("diver+values", &tuning).expect("a composition");
    let script = read(bench.store, "(declare-fun x () Int)(assert (< x 7))(check-sat)");
    let seeds = [seed(script, None)];
    let mut rng = rng::stream(1, 3);
    let mut bench = Bench { seeds: &seeds, ..bench.with_rng(&mut rng) };
    let mut round = diver.open(&mut bench).expect("a model");
    while round.heirs().is_empty() {
        assert!(round.next(&mut bench).is_some(), "the farthest it has come is an heir");
        round.learn(&Feedback::default());
    }
    assert!(round.effort().is_some());
}

#[test]
fn the_baseline_asks_nobody() {
    let mut store = Store::new();
    let script = read(&mut store, "(declare-fun x () Int)(assert (or (< x 7) (> x 9)))(check-sat)");
    let mut rng = rng::stream(1, 1);
    let rbase = Preset::Rbase.settings();
    let all = cases(&rbase, &mut store, &mut rng, &mut Nobody, &grammar("QF_LIA"), seed(script, None), 100);
    assert_eq!(all.len(), 50, "every iteration draws constants that have not been there");
}

/// A figure of a round with random answers.
fn figure(config: &Values, text: &str, name: &str) -> u64 {
    let mut store = Store::new();
    let seeds = [seed(read(&mut store, text), None)];
    let (mut rng, mut ask, grammar) = (rng::stream(1, 1), Guesses(rng::stream(2, 2)), grammar("QF_LIA"));
    let (store, options) = (&mut store, &NoOptions);
    let mut bench = Bench { store, rng: &mut rng, ask: &mut ask, grammar: &grammar, seeds: &seeds, options };
    let mut round = config.open(&mut bench).expect("constants");
    while round.next(&mut bench).is_some() {}
    round.figures().into_iter().find(|(known, _)| *known == name).map_or(0, |(_, count)| count)
}

#[test]
fn an_opened_variable_that_keeps_the_enforcements_value_says_nothing_of_what_enforcement_comes_to() {
    let text = "(declare-fun x () Int)(assert (exists ((y Int)) (> y 3)))(check-sat)";
    let plain = Preset::Leafopt.settings();
    assert!(figure(&plain, text, "looked at") > 0 && figure(&plain, text, "satisfiable") > 0);
    assert_eq!(figure(&plain, text, "modelled"), 0, "nothing in the mutant's own model decides it");
    let declared = Values { monitored: true, own_only: true, ..plain.clone() };
    assert!(figure(&declared, text, "modelled") > 0, "the mutant has a value of its own for it");
    let free = "(declare-fun x () Int)(assert (exists ((y Int)) (and (> y 3) (> x 5))))(check-sat)";
    assert!(figure(&plain, free, "modelled") > 0, "x is the mutant's own");
}

#[test]
fn a_draw_of_the_seeds_own_constants_is_drawn_again() {
    let text = "(declare-fun p () Bool)(assert (or p true))(check-sat)";
    let single = Values { iterations: 1, ..Preset::Rbase.settings() };
    let mut store = Store::new();
    let script = read(&mut store, text);
    for stream in 0..20 {
        let mut rng = rng::stream(1, stream);
        let seed = seed(script.clone(), None);
        let all = cases(&single, &mut store, &mut rng, &mut Nobody, &grammar("QF_UF"), seed, 9);
        assert_eq!(all.len(), 1);
    }
}

#[test]
fn the_authors_way_enforces_what_is_covered_too_and_takes_no_constants_from_the_skeleton() {
    let text = "(declare-fun x () Int)(assert (or (< x 7) (> x 9)))(check-sat)";
    let paper = Preset::Skolu.settings();
    assert_eq!(figure(&paper, text, "enforcements"), 6, "both truth values of three monitors");
    assert!(figure(&paper, text, "covered") > 0);
    let directed = Values { paper: false, ..paper.clone() };
    assert!(figure(&directed, text, "enforcements") < 6);
    let seven = Values { multief: 2, iterations: 50, ..paper.clone() };
    assert_eq!(figure(&seven, text, "enforcements"), 12, "all combinations of two of three, tried once");
    // One mutant for each model and no more: those of the skeleton's model would not be measured.
    let measured = Values { own_only: true, models: 1, paper: false, ..paper };
    assert_eq!(figure(&measured, text, "enforcements"), 6);
    assert_eq!(figure(&measured, text, "looked at"), figure(&measured, text, "mutants"));
    assert!(figure(&measured, text, "modelled") > figure(&measured, text, "modelled possible"));
}

#[test]
fn with_effinal_equal_constants_under_another_enforcement_are_another_mutant() {
    let text = "(declare-fun p () Bool)(declare-fun q () Bool)(assert (or (= p true) (= q true)))(check-sat)";
    let paper = Preset::Effinal.settings();
    let ours = Values { paper: false, own_models: 0.0, ..paper.clone() };
    let theirs = figure(&paper, text, "mutants");
    assert!(theirs > 4, "{theirs}, of two Boolean constants");
    assert!(figure(&ours, text, "mutants") <= 3);
}

#[test]
fn other_engines_test_cases_get_other_constants_and_stay_true() {
    let mut changed = 0;
    for (place, logic) in LOGICS.iter().enumerate() {
        let mut store = Store::new();
        let Some((script, _)) = satisfied(&mut store, &grammar(logic), place as u64) else { continue };
        let engine = parse("storm+values", &Default::default()).expect("a composition");
        for case in made(&*engine, &mut store, script, logic, place as u64) {
            check(&store, &case);
            let new = |change: &String| change.ends_with("true under the same model");
            changed += usize::from(case.provenance.changes.iter().any(new));
        }
    }
    assert!(changed > 200, "{changed}");
}

#[test]
fn it_says_why_it_declines_a_seed() {
    let reasons = [
        ("(declare-fun x () Int)(assert (> x x))", "no constants"),
        ("(assert (> 1 2))(reset)(assert (> 1 2))", "resets"),
        ("(declare-fun x () Int)(assert (> x 1))", "too large"),
        (
            "(push 1)(declare-fun x () Int)(pop 1)(declare-fun x () Real)(assert (> x 1.0))",
            "names declared twice",
        ),
        (
            "(define-fun-rec f ((n Int)) Int (ite (<= n 0) 3 (f (- n 1))))(declare-fun x () Int)(assert (= (f x) x))",
            "constants of sorts or at places that stay as they are",
        ),
    ];
    for (text, reason) in reasons {
        let mut store = Store::new();
        let seeds = [seed(read(&mut store, text), None)];
        let (mut rng, grammar) = (rng::stream(1, 1), grammar("QF_LIA"));
        let engine = Values { largest: if reason == "too large" { 1 } else { 5_000 }, ..Values::default() };
        let mut bench = Bench {
            store: &mut store,
            rng: &mut rng,
            ask: &mut Nobody,
            grammar: &grammar,
            seeds: &seeds,
            options: &NoOptions,
        };
        assert!(engine.open(&mut bench).is_none(), "{text}");
        assert_eq!(engine.declines(&mut store, &seeds), Some(reason), "{text}");
    }
}
