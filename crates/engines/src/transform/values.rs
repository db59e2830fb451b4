//! The transform `values`: other constants in a test case of any engine (ValFuzz, section VII-3).
//!
//! Where the test case has a witness the new constants keep it true under the witness, so that the answer stays known; now and
//! then they and a new witness are what a solver chose for some monitors of the script.
//! Where it has none the constants are what a solver chose for some monitors of the script, or random ones, and solvers
//! must only agree.

use eval::{EvaluatedModel, Mode, Witness, to_term};
use smtlib::{Script, Store, Term};

use super::Transform;
use crate::case::Draft;
use crate::engine::Bench;
use crate::models::BUDGET;
use crate::values::{Coercion, Hole, Holes, Preset, Values, is_readable, random_constant};

/// At most this many constants of a test case with a witness are replaced.
const REPLACED: usize = 4;

/// Constants tried at one place.
const TRIES: usize = 6;

/// Probability that a solver is asked for the constants of a test case without a witness: asking costs as much as running
/// the test case.
const ASKED: f64 = 0.5;

/// The same for one with a witness: its constants then come with a new one. Such test cases are cheap otherwise: questions about
/// more of them took most of a campaign's time.
const NEW_WITNESS: f64 = 0.02;

/// The transform.
#[derive(Clone, Copy, Debug, Default)]
pub struct NewValues;

impl Transform for NewValues {
    fn name(&self) -> &str {
        "values"
    }

    fn apply(&self, draft: Draft, bench: &mut Bench<'_>) -> Option<Draft> {
        match draft.witness() {
            Some(witness) => {
                if bench.rng.chance(NEW_WITNESS)
                    && let Some(mutant) = satisfied(bench, draft.script())
                {
                    let (script, changes) = (mutant.script().clone(), mutant.changes().to_vec());
                    return Some(draft.with_constants(script, mutant.into_witness(), changes));
                }
                let (script, witness, change) = keeping(bench, draft.script(), witness)?;
                Some(draft.with_constants(script, Some(witness), vec![change]))
            }
            None => {
                let rbase = !bench.rng.chance(ASKED);
                let mutant = coerced(bench, draft.script(), rbase);
                let mutant = mutant.or_else(|| coerced(bench, draft.script(), true))?;
                let (script, changes) = (mutant.script().clone(), mutant.changes().to_vec());
                Some(draft.with_constants(script, mutant.into_witness(), changes))
            }
        }
    }
}

/// One mutant of the engine `values`, from one enforcement or from random constants.
fn coerced(bench: &mut Bench<'_>, script: &Script, rbase: bool) -> Option<Draft> {
    let preset = if rbase { Preset::Rbase } else { Preset::BlendB };
    let config = Values { iterations: 1, models: 1, lean: true, own_models: 0.0, ..preset.settings() };
    Coercion::open(&config, bench, script, None)?.next_mutant(bench)
}

/// A mutant of the engine `values` whose witness is the model that gave its constants.
fn satisfied(bench: &mut Bench<'_>, script: &Script) -> Option<Draft> {
    let config = Values { models: 1, soft: true, lean: true, own_models: 0.0, ..Preset::BlendB.settings() };
    Coercion::open(&config, bench, script, None)?.next_satisfied(bench)
}

/// The script with other constants at some places, all of its formulas true under the model of the witness.
fn keeping(bench: &mut Bench<'_>, script: &Script, witness: &Witness) -> Option<(Script, Witness, String)> {
    let holes = Holes::of(bench.store, script)?;
    let mut evaluated = EvaluatedModel::new(witness.model().clone(), Mode::Given, BUDGET);
    let mut constants = holes.originals();
    let mut places: Vec<usize> = (0..constants.len()).collect();
    bench.rng.shuffle(&mut places);
    places.truncate(1 + bench.rng.below(REPLACED));
    let mut changed = Vec::new();
    let mut best = None;
    for place in places {
        let hole = holes.list()[place];
        for _ in 0..TRIES {
            let Some(candidate) = candidate(bench, script, &holes, hole, witness) else { continue };
            if candidate == constants[place] {
                continue;
            }
            let old = std::mem::replace(&mut constants[place], candidate);
            let mutant = holes.substitute(bench.store, &constants)?;
            if let Ok(found) = evaluated.witness(bench.store, &mutant) {
                changed.push(replaced(bench.store, candidate, hole.original));
                best = Some((mutant, found));
                break;
            }
            constants[place] = old;
        }
    }
    let (mutant, witness) = best?;
    Some((mutant, witness, format!("constants {}, true under the same model", changed.join(", "))))
}

/// A constant for a hole: another hole's, a value of the model, or a random one.
fn candidate(
    bench: &mut Bench<'_>,
    script: &Script,
    holes: &Holes,
    hole: Hole,
    witness: &Witness,
) -> Option<Term> {
    let largest = bench.grammar.largest_character();
    match bench.rng.below(4) {
        0 => {
            let others = holes.list().iter().filter(|other| other.sort == hole.sort);
            let others: Vec<Term> = others.map(|other| other.original).collect();
            bench.rng.pick(&others).copied()
        }
        1 => {
            let funs = script.declared_funs();
            let values = funs.filter(|fun| bench.store.fun(*fun).result == hole.sort);
            let values: Vec<_> = values.filter_map(|fun| witness.model().value(fun).cloned()).collect();
            to_term(bench.store, hole.sort, bench.rng.pick(&values)?)
                .filter(|constant| is_readable(bench.store, *constant, largest))
        }
        _ => random_constant(bench.store, bench.rng, hole.sort, largest),
    }
}

fn replaced(store: &Store, new: Term, old: Term) -> String {
    format!("{} for {}", store.term_text(new), store.term_text(old))
}

#[cfg(test)]
mod tests {
    use eval::{Budget, Model};
    use generate::{Config, Grammar, rng};
    use rustc_hash::FxHashSet;
    use smtlib::{Mode as Reading, Status, parse};

    use super::*;
    use crate::{Ask, Derivation, Expectation, NoOptions, Nobody};

    const TEXT: &str = "(declare-const x Int)(assert (and (> x 3) (< (+ x 2) 90)))
        (assert (or (= x 5) (distinct x 7)))(check-sat)";

    fn read(store: &mut Store) -> Script {
        parse(store, TEXT.as_bytes(), Reading::Strict).expect(TEXT).script
    }

    fn apply(store: &mut Store, draft: Draft, stream: u64, ask: &mut dyn Ask) -> Option<Draft> {
        let grammar = Grammar::new("QF_LIA", &[], Config::default()).expect("a logic");
        let mut rng = rng::stream(3, stream);
        let (seeds, options) = (&[], &NoOptions);
        let mut bench = Bench { store, rng: &mut rng, ask, grammar: &grammar, seeds, options };
        NewValues.apply(draft, &mut bench)
    }

    #[test]
    fn other_constants_keep_the_script_true_under_its_witness() {
        let mut store = Store::new();
        let script = read(&mut store);
        let mut model = Model::new();
        model.assign(script.declared_funs().next().expect("x"), eval::Value::int(5));
        let witness = Witness::check(&store, &script, model, Budget::default()).expect("x = 5");
        let mut different = FxHashSet::default();
        for stream in 0..40 {
            let draft = Draft::satisfied(script.clone(), witness.clone());
            let Some(draft) = apply(&mut store, draft, stream, &mut Nobody) else { continue };
            assert_eq!(draft.expectation(), &Expectation::Witness);
            assert_ne!(draft.script(), &script);
            let model = draft.witness().expect("kept").model().clone();
            assert!(Witness::check(&store, draft.script(), model, Budget::default()).is_ok());
            assert!(draft.changes()[0].ends_with("true under the same model"), "{:?}", draft.changes());
            different.insert(draft.script().assertions().collect::<Vec<_>>());
        }
        assert!(different.len() > 20, "{}", different.len());
    }

    /// Looks for a model by luck; Boolean constants are monitors, and say what they are equal to.
    struct Lucky(generate::Rng);

    impl Ask for Lucky {
        fn model(&mut self, store: &mut Store, script: &Script, _: u32) -> Option<Model> {
            (0..200).find_map(|_| {
                let mut model = Model::new();
                for fun in script.declared_funs().filter(|fun| store.fun(*fun).result == smtlib::Sort::INT) {
                    model.assign(fun, eval::Value::int(self.0.below(60) as i64 - 20));
                }
                let assertions: Vec<Term> = script.assertions().collect();
                for formula in assertions {
                    let [monitor, says] = store.args(formula) else { continue };
                    if let smtlib::Head::Fun(fun) = store.head(*monitor)
                        && store.fun(fun).result == smtlib::Sort::BOOL
                        && let Ok(holds) = eval::Evaluator::default().holds(store, &model, *says)
                    {
                        model.assign(fun, eval::Value::Bool(holds));
                    }
                }
                Witness::check(store, script, model.clone(), Budget::default()).is_ok().then_some(model)
            })
        }

        fn agreed_status(&mut self, _: &Store, _: &Script) -> Option<(Status, String)> {
            None
        }

        fn confirmed_core(&mut self, _: &Store, _: &Script) -> Option<Vec<usize>> {
            None
        }
    }

    #[test]
    fn some_test_cases_get_a_new_witness_with_their_constants() {
        let mut store = Store::new();
        let script = read(&mut store);
        let mut model = Model::new();
        let x = script.declared_funs().next().expect("x");
        model.assign(x, eval::Value::int(5));
        let witness = Witness::check(&store, &script, model, Budget::default()).expect("x = 5");
        let mut new = 0;
        for stream in 0..600 {
            let draft = Draft::satisfied(script.clone(), witness.clone());
            let mut lucky = Lucky(rng::stream(9, stream));
            let Some(draft) = apply(&mut store, draft, stream, &mut lucky) else { continue };
            let model = draft.witness().expect("one or the other").model().clone();
            new += usize::from(model.value(x) != Some(&eval::Value::int(5)));
            assert!(Witness::check(&store, draft.script(), model, Budget::default()).is_ok());
        }
        assert!((3..30).contains(&new), "{new}");
    }

    #[test]
    fn where_nothing_is_known_of_the_new_script_solvers_must_only_agree() {
        let mut store = Store::new();
        let script = read(&mut store);
        let derivation = Derivation { answer: Status::Unsat, from: "seed".to_owned(), steps: Vec::new() };
        for draft in [Draft::agree(script.clone()), Draft::derived(script.clone(), derivation)] {
            let draft = apply(&mut store, draft, 1, &mut Nobody).expect("it has constants");
            assert_eq!(draft.expectation(), &Expectation::Agree);
            assert_ne!(draft.script(), &script);
        }
    }

    #[test]
    fn a_test_case_without_constants_is_left_alone() {
        let mut store = Store::new();
        let text = b"(declare-const x Int)(assert (= x x))(check-sat)";
        let script = parse(&mut store, text, Reading::Strict).expect("a script").script;
        assert!(apply(&mut store, Draft::agree(script), 1, &mut Nobody).is_none());
    }
}
