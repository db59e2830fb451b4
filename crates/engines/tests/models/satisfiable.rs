//! STORM and DIVER: every mutant comes with a model that satisfies it, over all theories.

use std::collections::BTreeSet;

use crate::common::{Knows, LOGICS, cases, check, grammar, read, satisfied, seed};
use engines::quality::Quality;
use engines::{Ask, Bench, Diver, Engine, NoOptions, Nobody, Storm};
use generate::{Config, Grammar, rng};
use smtlib::{Command, Family, Release, Store, print};

/// Mutants over all logics together; many more in release builds.
const MUTANTS: usize = if cfg!(debug_assertions) { 6_000 } else { 100_000 };
const OF_A_SEED: usize = if cfg!(debug_assertions) { 60 } else { 250 };

fn check_all(engine: &dyn Engine) {
    let mut by_logic = vec![0usize; LOGICS.len()];
    for index in 0.. {
        if by_logic.iter().sum::<usize>() >= MUTANTS {
            break;
        }
        assert!(index < 2_000, "too few mutants: {by_logic:?}");
        let which = index % LOGICS.len();
        let grammar = grammar(LOGICS[which]);
        let mut store = Store::new();
        let Some((script, model)) = satisfied(&mut store, &grammar, index as u64) else { continue };
        let mut rng = rng::stream(1, index as u64);
        let mut ask = Knows(model);
        let made = cases(engine, &mut store, &mut rng, &mut ask, &grammar, seed(script, None), OF_A_SEED);
        made.iter().for_each(|case| check(&store, case));
        by_logic[which] += made.len();
    }
    let missing: Vec<_> = LOGICS.iter().zip(&by_logic).filter(|(_, count)| **count == 0).collect();
    assert!(missing.is_empty(), "no mutants of {missing:?}");
}

#[test]
fn every_mutant_of_diver_is_true_under_its_model() {
    check_all(&Diver::default());
}

#[test]
fn every_instance_of_storm_is_true_under_its_model() {
    check_all(&Storm { max_assertions: 8, extended: 1.0, incremental: 0.3, ..Storm::default() });
}

#[test]
fn the_same_stream_makes_the_same_mutants() {
    let texts = || {
        let mut texts = Vec::new();
        for index in 0..12 {
            let grammar = grammar(LOGICS[index as usize]);
            let mut store = Store::new();
            let Some((script, model)) = satisfied(&mut store, &grammar, index) else { continue };
            let mut rng = rng::stream(9, index);
            let diver = Diver::default();
            let made =
                cases(&diver, &mut store, &mut rng, &mut Knows(model), &grammar, seed(script, None), 30);
            texts.extend(made.iter().map(|case| print::print(&store, &case.script, Release::STANDARD)));
        }
        texts
    };
    let first = texts();
    assert!(first.len() > 100, "{}", first.len());
    assert_eq!(first, texts());
}

#[test]
fn mutants_are_new_formulas_and_use_operators_that_the_seed_has_not() {
    let mut store = Store::new();
    let text = "(set-logic QF_SLIA)(declare-fun t () String)
        (assert (str.prefixof \"-\" (str.substr t 0 1)))(assert (>= 2 (str.len t)))(check-sat)";
    let script = read(&mut store, text);
    let diver = Diver { random_models: 20_000, ..Diver::default() };
    let mut rng = rng::stream(3, 3);
    let made =
        cases(&diver, &mut store, &mut rng, &mut Nobody, &grammar("QF_SLIA"), seed(script, None), 1_000);
    let texts: BTreeSet<String> =
        made.iter().map(|case| print::print(&store, &case.script, Release::STANDARD)).collect();
    assert!(texts.len() > 900, "{} different mutants", texts.len());
    for operator in ["str.replace", "str.in_re", "str.indexof", "ite", "str.<", "(declare-const fresh"] {
        assert!(texts.iter().any(|text| text.contains(operator)), "{operator}");
    }
}

#[test]
fn storm_fragments_a_formula_as_in_figure_2() {
    // (f1 and (f2 or f3)): all five sub-formulas enter the initial pool, as they are or negated.
    let mut store = Store::new();
    let text = "(set-logic QF_UF)(declare-fun f1 () Bool)(declare-fun f2 () Bool)(declare-fun f3 () Bool)
        (assert (and f1 (or f2 f3)))(check-sat)";
    let script = read(&mut store, text);
    let paper = Storm { max_assertions: 1, incremental: 0.0, ..Storm::default().as_in_the_paper() };
    let only_initial = Storm { from_initial: 1.0, ..paper.clone() };
    let mut rng = rng::stream(5, 5);
    let made = cases(
        &only_initial,
        &mut store,
        &mut rng,
        &mut Nobody,
        &grammar("QF_UF"),
        seed(script.clone(), None),
        300,
    );
    let mut fragments = BTreeSet::new();
    for case in &made {
        check(&store, case);
        for term in case.script.assertions() {
            let text = store.term_text(term);
            let positive =
                text.strip_prefix("(not ").and_then(|rest| rest.strip_suffix(')')).unwrap_or(&text);
            fragments.insert(positive.to_owned());
        }
    }
    let expected = ["(and f1 (or f2 f3))", "(or f2 f3)", "f1", "f2", "f3"].map(str::to_owned);
    assert_eq!(fragments, BTreeSet::from(expected));

    // Constructed formulas are conjunctions and negations of what is in the pools.
    let constructed = Storm { max_depth: 4, ..paper };
    let made =
        cases(&constructed, &mut store, &mut rng, &mut Nobody, &grammar("QF_UF"), seed(script, None), 300);
    let texts: Vec<String> =
        made.iter().flat_map(|case| case.script.assertions()).map(|term| store.term_text(term)).collect();
    assert!(texts.iter().any(|text| text.contains("(and f2") || text.contains("(and f3")));
    for case in &made {
        check(&store, case);
        let ops: BTreeSet<&str> = store
            .subterms(&case.script.assertions().collect::<Vec<_>>())
            .iter()
            .filter_map(|term| Some(store.op_of(*term)?.name()))
            .collect();
        assert!(ops.is_subset(&BTreeSet::from(["and", "or", "not"])), "{ops:?}");
    }
}

#[test]
fn storm_keeps_the_tactic_of_check_sat_using() {
    let mut store = Store::new();
    let text = "(declare-fun a () Bool)(declare-fun b () Bool)(assert (not b))
        (assert (not (and (not a) b)))(assert a)(check-sat-using dom-simplify)";
    let script = read(&mut store, text);
    let storm = Storm { incremental: 1.0, ..Storm::default() };
    let mut rng = rng::stream(6, 6);
    let made = cases(&storm, &mut store, &mut rng, &mut Nobody, &grammar("QF_UF"), seed(script, None), 100);
    assert_eq!(made.len(), 100);
    assert!(made.iter().any(|case| case.script.is_incremental()));
    for case in &made {
        check(&store, case);
        let checks: Vec<&Command> =
            case.script.commands.iter().filter(|command| command.is_check()).collect();
        assert!(checks.iter().all(|check| matches!(check, Command::CheckSatUsing(_))));
    }
}

#[test]
fn seeds_that_hang_on_division_by_zero_are_left_alone_unless_allowed() {
    let text = "(set-logic QF_NIA)(declare-fun x () Int)(assert (= (div x 0) 5))(check-sat)";
    for open_cases in [false, true] {
        let mut store = Store::new();
        let script = read(&mut store, text);
        let diver = Diver { open_cases, random_models: 3, ..Diver::default() };
        let mut rng = rng::stream(6, 6);
        let made =
            cases(&diver, &mut store, &mut rng, &mut Nobody, &grammar("QF_NIA"), seed(script, None), 5);
        // The choice of our evaluator may not be 5; what matters is that without the switch nothing is made.
        assert!(open_cases || made.is_empty());
        made.iter().for_each(|case| check(&store, case));
    }
}

const SMALL: &str = "(set-logic QF_BV)(declare-const a (_ BitVec 8))
    (assert (and true (= ((_ zero_extend 24) a) #x0000002d)))(check-sat)";

/// A model of [`SMALL`].
fn small_model(store: &Store, script: &smtlib::Script) -> Knows {
    let mut model = eval::Model::new();
    let fun = script.declared_funs().next().expect("a constant");
    assert!(store.fun(fun).params.is_empty());
    model.assign(fun, eval::Value::bv(8, 0x2d));
    Knows(model)
}

#[test]
fn mutants_of_a_small_seed_go_far_and_keep_its_symbols() {
    let mut store = Store::new();
    let script = read(&mut store, SMALL);
    let mut ask = small_model(&store, &script);
    let mut rng = rng::stream(8, 8);
    let diver = Diver::default();
    let grammar = grammar("QF_BV");
    let made = cases(&diver, &mut store, &mut rng, &mut ask, &grammar, seed(script.clone(), None), 60);
    let mut quality = Quality::default();
    quality.begin(&store, &grammar, &script);
    made.iter().for_each(|case| quality.count(&store, &script, case));
    let figures = quality.figures();
    assert_eq!((figures.mutants, figures.without_symbols), (60, 0), "{figures:?}");
    assert!(figures.changes_per_mutant > 2.5 && figures.distinct > 50, "{figures:?}");
    assert!(figures.bare_leaves * 5 < figures.new_terms, "{figures:?}");
    assert!(figures.literal_conditions * 5 < figures.conditions, "{figures:?}");
    assert!(figures.most_frequent < 0.2, "{figures:?}");
    for case in &made {
        let fresh = case.script.assertions().find(|term| store.term_text(*term).starts_with("fresh!"));
        assert!(fresh.is_none(), "a formula that is nothing but a fresh constant");
    }
}

#[test]
fn a_later_round_may_start_from_what_an_earlier_one_has_made() {
    let mut store = Store::new();
    let script = read(&mut store, SMALL);
    let mut ask = small_model(&store, &script);
    let grammar = grammar("QF_BV");
    let seeds = vec![seed(script, None)];
    let mut rng = rng::stream(8, 9);
    let mut bench = Bench {
        store: &mut store,
        rng: &mut rng,
        ask: &mut ask,
        grammar: &grammar,
        seeds: &seeds,
        options: &NoOptions,
    };
    // What has left the seed's logic would never be in it again.
    let mut wide = Diver { widen: 1.0, ..Diver::default() }.open(&mut bench).expect("a round");
    assert_eq!((0..40).filter_map(|_| wide.next(&mut bench)).count(), 40);
    assert!(wide.heirs().is_empty());
    let mut round = Diver { widen: 0.0, ..Diver::default() }.open(&mut bench).expect("a round");
    assert!(round.heirs().is_empty());
    let drafts: Vec<_> = (0..40).filter_map(|_| round.next(&mut bench)).collect();
    let deepest = drafts.iter().map(|draft| draft.changes().len()).max().expect("mutants");
    let text = |script: &smtlib::Script| print::print(bench.store, script, Release::STANDARD);
    let heirs: Vec<String> = round.heirs().iter().map(text).collect();
    assert!(!heirs.is_empty());
    for heir in &heirs {
        let of = drafts.iter().find(|draft| text(draft.script()) == *heir).expect("a mutant of the round");
        assert!(of.changes().len() + 3 > deepest, "{} of {deepest}", of.changes().len());
    }
}

#[test]
fn rounds_leave_the_logic_of_their_seed_where_they_may() {
    let text =
        "(set-logic QF_IDL)(declare-const x Int)(declare-const y Int)(assert (< (- x y) 3))(check-sat)";
    for (widen, expected) in [(0.0, "QF_IDL"), (1.0, "ALL")] {
        let mut store = Store::new();
        let script = read(&mut store, text);
        let diver = Diver { widen, random_models: 1_000, ..Diver::default() };
        let mut rng = rng::stream(4, 4);
        let made =
            cases(&diver, &mut store, &mut rng, &mut Nobody, &grammar("QF_IDL"), seed(script, None), 60);
        assert!(!made.is_empty());
        let linear = made.iter().any(|case| {
            let terms = store.subterms(&case.script.assertions().collect::<Vec<_>>());
            terms.iter().any(|term| store.op_of(*term) == Some(smtlib::Op::IntAdd))
        });
        assert_eq!(linear, expected == "ALL");
        for case in &made {
            assert_eq!(case.script.logic(&store), Some(expected));
            check(&store, case);
        }
    }
}

#[test]
fn seeds_that_are_small_as_graphs_have_mutants() {
    // 2^40 nodes as a tree.
    let mut text = "(set-logic QF_LIA)(declare-const x0 Int)".to_owned();
    for i in 0..40 {
        text += &format!("(define-fun x{} () Int (+ x{i} x{i}))", i + 1);
    }
    text += "(assert (<= x40 0))(check-sat)";
    let mut store = Store::new();
    let script = read(&mut store, &text);
    let mut rng = rng::stream(4, 5);
    let diver = Diver { random_models: 1_000, ..Diver::default() };
    let made = cases(&diver, &mut store, &mut rng, &mut Nobody, &grammar("QF_LIA"), seed(script, None), 20);
    assert_eq!(made.len(), 20);
    made.iter().for_each(|case| check(&store, case));
}

#[test]
fn chains_grow_early_in_seeds_with_much_sharing() {
    // A few dozen nodes, thousands of places.
    let mut text = "(set-logic QF_AX)(declare-sort Index 0)(declare-sort Element 0)
        (declare-const a0 (Array Index Element))"
        .to_owned();
    for i in 0..10 {
        text += &format!(
            "(declare-const i{i} Index)(declare-const j{i} Index)(define-fun a{} () (Array Index Element)
             (store (store a{i} i{i} (select a{i} j{i})) j{i} (select a{i} i{i})))",
            i + 1
        );
    }
    text += "(assert (= (select a10 i0) (select a10 i0)))(assert (distinct i0 j0))(check-sat)";
    let mut store = Store::new();
    let script = read(&mut store, &text);
    let mut rng = rng::stream(4, 6);
    let diver = Diver { random_models: 1_000, ..Diver::default() };
    let made = cases(&diver, &mut store, &mut rng, &mut Nobody, &grammar("QF_AX"), seed(script, None), 30);
    let once = made.iter().filter(|case| case.provenance.changes.len() == 1).count();
    let deepest = made.iter().map(|case| case.provenance.changes.len()).max();
    assert!(made.len() == 30 && once <= 12 && deepest >= Some(4), "{once} of {}, {deepest:?}", made.len());
}

#[test]
fn mutants_have_no_characters_that_the_release_cannot_read() {
    let z3 = Release::new(Family::Z3, "4.8.7".parse().expect("a version"));
    let grammar = Grammar::new("QF_S", &[z3], Config::default()).expect("a logic");
    let text = "(set-logic QF_S)(declare-fun s () String)(declare-fun t () String)
        (assert (not (= s (str.++ t \"a\"))))(assert (str.< s t))(check-sat)";
    let mut largest = 0;
    for stream in 0..12 {
        let mut store = Store::new();
        let script = read(&mut store, text);
        let mut model = eval::Model::new();
        for (fun, value) in script.declared_funs().zip(["b", "\u{2fff0}"]) {
            model.assign(fun, eval::Value::Str(value.try_into().expect("a string")));
        }
        let mut rng = rng::stream(21, stream);
        let mut knows = (stream % 2 == 0).then_some(Knows(model));
        let ask: &mut dyn Ask = match &mut knows {
            Some(knows) => knows,
            None => &mut Nobody,
        };
        let made = cases(&Diver::default(), &mut store, &mut rng, ask, &grammar, seed(script, None), 60);
        assert!(!made.is_empty());
        for case in &made {
            largest = largest.max(smtlib::logic::usage(&store, &case.script).largest_character);
        }
    }
    assert!((1..=0xff).contains(&largest), "{largest:x}");
}

#[test]
fn fresh_constants_of_mutants_stand_in_more_than_their_own_bounds() {
    let text = "(set-logic QF_LIA)(declare-const x Int)(declare-const y Int)
        (assert (and (< x 5) (> y x)))(assert (or (= x 1) (< y 3)))(check-sat)";
    let mut declared_only = 0;
    for stream in 0..8 {
        let mut store = Store::new();
        let script = read(&mut store, text);
        let mut rng = rng::stream(22, stream);
        let diver = Diver { random_models: 1_000, ..Diver::default() };
        let made = cases(
            &diver,
            &mut store,
            &mut rng,
            &mut Nobody,
            &grammar("QF_LIA"),
            seed(script.clone(), None),
            100,
        );
        for case in &made {
            let used = store.subterms(&case.script.assertions().collect::<Vec<_>>());
            let used = |fun| used.iter().any(|term| store.head(*term) == smtlib::Head::Fun(fun));
            let own: BTreeSet<_> = script.declared_funs().collect();
            let fresh = case.script.declared_funs().filter(|fun| !own.contains(fun));
            declared_only += fresh.filter(|fun| !used(*fun)).count();
        }
    }
    assert_eq!(declared_only, 0);
}

#[test]
fn the_paper_bounds_do_not_look_at_the_size_of_the_pool() {
    let text = "(set-logic QF_LIA)(declare-const x Int)(declare-const y Int)(assert (and (< x 5) (> y x)))(check-sat)";
    let most = |storm: Storm| {
        let mut store = Store::new();
        let script = read(&mut store, text);
        let storm = Storm { incremental: 0.0, ..storm };
        let mut rng = rng::stream(12, 99);
        let made =
            cases(&storm, &mut store, &mut rng, &mut Nobody, &grammar("QF_LIA"), seed(script, None), 80);
        made.iter().map(|case| case.script.assertions().count()).max().expect("instances")
    };
    assert!(most(Storm::default()) <= 6);
    assert!(most(Storm::default().as_in_the_paper()) > 20);
}

#[test]
fn instances_of_a_small_seed_differ() {
    let text = "(set-logic QF_LIA)(declare-const x Int)(declare-const y Int)
        (assert (and (< x 5) (> y x)))(assert (or (= x 1) (< y 3)))(check-sat)";
    let mut incremental = 0;
    for stream in 0..40 {
        let mut store = Store::new();
        let script = read(&mut store, text);
        let mut rng = rng::stream(12, stream);
        let storm = Storm::default();
        let made = cases(
            &storm,
            &mut store,
            &mut rng,
            &mut Nobody,
            &grammar("QF_LIA"),
            seed(script.clone(), None),
            50,
        );
        let mut quality = Quality::default();
        made.iter().for_each(|case| quality.count(&store, &script, case));
        made.iter().for_each(|case| check(&store, case));
        let distinct = quality.figures().distinct;
        assert!(distinct > 30, "stream {stream}: {distinct} of 50");
        let commands = || made.iter().flat_map(|case| &case.script.commands);
        let pushes = commands().any(|command| matches!(command, Command::Push(2..)));
        let pops = commands().any(|command| matches!(command, Command::Pop(2..)));
        let assuming = commands().any(|command| matches!(command, Command::CheckSatAssuming(_)));
        assert!(pushes == pops && pops == assuming, "all of them or none");
        incremental += usize::from(pushes);
    }
    assert!((10..31).contains(&incremental), "about half of the rounds: {incremental} of 40");
}

/// What DIVER and STORM make of a seed without asking anybody; every mutant is checked.
fn of_text(logic: &str, text: &str) -> Vec<(String, Vec<String>)> {
    let engines: [&dyn Engine; 2] = [&Diver::default(), &Storm::default()];
    let mut all = Vec::new();
    for engine in engines {
        let mut store = Store::new();
        let script = read(&mut store, text);
        let mut rng = rng::stream(5, 5);
        let made = cases(engine, &mut store, &mut rng, &mut Nobody, &grammar(logic), seed(script, None), 40);
        made.iter().for_each(|case| check(&store, case));
        let texts = made.iter().map(|case| print::print(&store, &case.script, Release::STANDARD));
        all.push((engine.name().to_owned(), texts.collect()));
    }
    all
}

#[test]
fn an_unsatisfiable_seed_gives_satisfiable_mutants_of_its_parts() {
    let text = "(set-logic QF_LIA)(declare-const a Int)(declare-const b Int)
        (assert (and (> a b) (> b (* 2 a))))(assert (not (=> (> a 3) (< b a))))(check-sat)";
    for (engine, texts) in of_text("QF_LIA", text) {
        assert!(texts.len() >= 30, "{engine}: {}", texts.len());
    }
}

#[test]
fn quantifiers_that_nobody_can_decide_are_opened_or_left_out() {
    // True under every model, which no finite number of values shows.
    let text = "(set-logic NRA)(declare-const a Real)
        (assert (forall ((x Real)) (exists ((y Real)) (>= (+ (* x x) (* y y)) (- (* a a))))))
        (assert (forall ((x Real)) (>= (* x x) (- (* a a)))))(check-sat)";
    for (engine, texts) in of_text("NRA", text) {
        assert!(texts.len() >= 30, "{engine}: {}", texts.len());
        assert!(texts[0].contains("(declare-const x!1 Real)"), "{engine}: {}", texts[0]);
    }
}
