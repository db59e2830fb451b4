//! Polarity: weakened formulas stay true where the seed was, strengthened ones false.

use crate::common::{Knows, LOGICS, cases, grammar, read, satisfied, seed};
use engines::polarity::{Want, rewrites};
use engines::{Ask, Expectation, Nobody, Polarity};
use eval::{Budget, EvaluatedModel, Mode, Model};
use generate::{Config, Grammar, rng};
use smtlib::{Command, Script, Sort, Status, Store};

const SEEDS: u64 = if cfg!(debug_assertions) { 300 } else { 4_000 };

#[test]
fn weakened_formulas_stay_true_and_strengthened_ones_stay_false_under_every_model() {
    let (mut weaker, mut stronger) = (0, 0);
    for index in 0..SEEDS {
        let grammar = grammar(LOGICS[index as usize % LOGICS.len()]);
        let mut store = Store::new();
        let Some((script, model)) = satisfied(&mut store, &grammar, 20_000 + index) else { continue };
        let mut evaluated = EvaluatedModel::new(model, Mode::Given, Budget::default());
        let mut rng = rng::stream(2, index);
        let engine = Polarity::default();
        let sat = seed(script.clone(), Some(Status::Sat));
        for case in cases(&engine, &mut store, &mut rng, &mut Nobody, &grammar, sat, 20) {
            assert_eq!(case.expectation().answer(), Some(Status::Sat));
            for term in case.script.assertions() {
                assert_ne!(
                    evaluated.holds(&store, term),
                    Ok(false),
                    "{:?} {}",
                    case.provenance,
                    store.term_text(term)
                );
                weaker += usize::from(evaluated.holds(&store, term) == Ok(true));
            }
        }
        // The negation of what is true is false; being stronger it has to stay so.
        let all: Vec<_> = script.assertions().collect();
        let all = store.and(&all).expect("formulas");
        let negation = store.not(all).expect("a formula");
        let mut commands = script.commands.clone();
        commands.retain(|command| !matches!(command, Command::Assert(_) | Command::CheckSat));
        commands.extend([Command::Assert(negation), Command::CheckSat]);
        let unsat = seed(Script { commands }, Some(Status::Unsat));
        for case in cases(&engine, &mut store, &mut rng, &mut Nobody, &grammar, unsat, 20) {
            assert_eq!(case.expectation().answer(), Some(Status::Unsat));
            let values: Vec<_> = case.script.assertions().map(|term| evaluated.holds(&store, term)).collect();
            assert!(values.iter().any(|value| *value != Ok(true)), "{:?}", case.provenance);
            stronger += usize::from(values.contains(&Ok(false)));
        }
    }
    assert!(weaker > 1_000 && stronger > 1_000, "{weaker} {stronger}");
}

#[test]
fn every_rule_is_an_implication() {
    for index in 0..SEEDS * 4 {
        let grammar = grammar(LOGICS[index as usize % LOGICS.len()]);
        let mut store = Store::new();
        let Some((script, model)) = satisfied(&mut store, &grammar, 30_000 + index) else { continue };
        let mut evaluated = EvaluatedModel::new(model, Mode::Given, Budget::default());
        let mut rng = rng::stream(3, index);
        let roots: Vec<_> = script.assertions().collect();
        for term in store.subterms(&roots) {
            if store.sort_of(term) != Sort::BOOL || !store.free_vars(term).is_empty() {
                continue;
            }
            for want in [Want::Stronger, Want::Weaker] {
                for (new, rule) in rewrites(&mut store, &grammar, &mut rng, term, want) {
                    let (premise, conclusion) =
                        if want == Want::Stronger { (new, term) } else { (term, new) };
                    if evaluated.holds(&store, premise) == Ok(true) {
                        let value = evaluated.holds(&store, conclusion);
                        let said = format!("{rule}: {} -> {}", store.term_text(term), store.term_text(new));
                        assert_ne!(value, Ok(false), "{want:?} {said}");
                    }
                }
            }
        }
    }
}

/// Two solvers that agree, and confirm a core.
struct Agreeing;

impl Ask for Agreeing {
    fn model(&mut self, _: &mut Store, _: &Script, _: u32) -> Option<Model> {
        None
    }

    fn agreed_status(&mut self, _: &Store, _: &Script) -> Option<(Status, String)> {
        Some((Status::Unsat, "two solvers agree".to_owned()))
    }

    fn confirmed_core(&mut self, _: &Store, _: &Script) -> Option<Vec<usize>> {
        Some(vec![1, 2])
    }
}

#[test]
fn the_derivation_names_grounds_and_steps_and_the_core_stays_false() {
    let mut store = Store::new();
    let script = read(
        &mut store,
        "(set-logic QF_LIA)(declare-fun x () Int)(declare-fun y () Int)(assert (= y 1))(assert (< x 3))(assert (> x 4))
         (check-sat)",
    );
    let mut rng = rng::stream(4, 4);
    let made = cases(
        &Polarity::default(),
        &mut store,
        &mut rng,
        &mut Agreeing,
        &grammar("QF_LIA"),
        seed(script, None),
        200,
    );
    assert_eq!(made.len(), 200);
    let mut replaced = 0;
    for case in &made {
        let Expectation::Derived(derivation) = case.expectation() else { panic!("not derived") };
        assert_eq!(derivation.answer, Status::Unsat);
        let from = &derivation.from;
        assert!(from.contains("two solvers agree; a confirmed core of 2"), "{from}");
        assert!(!derivation.steps.is_empty());
        replaced += derivation.steps.iter().filter(|step| step.contains("outside the core")).count();
        // No assignment satisfies it.
        for x in -6..12 {
            for y in -2..3 {
                let mut model = Model::new();
                for (fun, value) in case.script.declared_funs().zip([x, y]) {
                    model.assign(fun, eval::Value::int(value));
                }
                let mut evaluated = EvaluatedModel::new(model, Mode::Given, Budget::default());
                assert!(case.script.assertions().any(|term| evaluated.holds(&store, term) != Ok(true)));
            }
        }
    }
    assert!(replaced > 0);
}

#[test]
fn quantifiers_are_exchanged_where_that_is_sound() {
    let text = "(set-logic LIA)(declare-fun k () Int)
        (assert (forall ((x Int)) (=> (exists ((y Int)) (< y x)) (>= x k))))(check-sat)";
    // New formulas have no quantifiers: what is told of them is told of the seed's.
    let config = Config { quantifiers: 0.0, ..grammar("LIA").config().clone() };
    let grammar = Grammar::new("LIA", &[], config).expect("a logic");
    for (status, wanted) in [(Status::Sat, "forall -> exists"), (Status::Unsat, "a side moved by a constant")]
    {
        let mut store = Store::new();
        let script = read(&mut store, text);
        let mut rng = rng::stream(5, 5);
        let mut ask = Knows(Model::new());
        let made = cases(
            &Polarity::default(),
            &mut store,
            &mut rng,
            &mut ask,
            &grammar,
            seed(script, Some(status)),
            200,
        );
        let steps: Vec<&String> = made.iter().flat_map(|case| &case.provenance.changes).collect();
        assert!(steps.iter().any(|step| step.contains(wanted)), "{wanted}");
        // The inner quantifier stands at a negative place: strengthening the whole weakens it, and it is an exists.
        let never = if status == Status::Sat { "[0, 0]: forall -> exists" } else { "[]: exists -> forall" };
        assert!(!steps.iter().any(|step| step.contains(never)));
    }
}
