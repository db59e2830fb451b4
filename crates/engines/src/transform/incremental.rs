//! The transform `incremental`: the assertions of a script spread over levels of push and pop with several checks.
//!
//! Solvers have other code for incremental scripts: fewer simplifications, other data structures, state that a pop has to
//! undo. A script of one check never gets there.

use super::Transform;
use crate::case::Draft;
use crate::engine::Bench;
use crate::frames::{self, Switches};
use crate::skeleton::Skeleton;

/// The transform.
#[derive(Clone, Copy, Debug, Default)]
pub struct Incremental;

impl Transform for Incremental {
    fn name(&self) -> &str {
        "incremental"
    }

    fn apply(&self, draft: Draft, bench: &mut Bench<'_>) -> Option<Draft> {
        // A script with levels already tests them; several checks may have several answers.
        if draft.script().is_incremental() {
            return None;
        }
        let skeleton = Skeleton::of(bench.store, draft.script())?;
        if skeleton.in_force.is_empty() {
            return None;
        }
        let (script, count) = frames::spread(&skeleton, &Switches::default(), &skeleton.in_force, bench.rng);
        draft.with_part(bench.store, script, &format!("assertions spread over {count} frames"))
    }
}

#[cfg(test)]
mod tests {
    use eval::{Budget, Derivation, Model, Witness};
    use generate::{Config, Grammar, rng};
    use smtlib::{Mode, Script, Status, Store, parse};

    use super::*;
    use crate::{Expectation, NoOptions, Nobody};

    const TEXT: &str = "(declare-const x Int)(assert (! (>= x 0) :named low))(assert (< x 5))(assert low)
        (check-sat)";

    fn read(store: &mut Store, text: &str) -> Script {
        parse(store, text.as_bytes(), Mode::Strict).expect(text).script
    }

    fn apply(store: &mut Store, draft: Draft) -> Option<Draft> {
        let grammar = Grammar::new("QF_LIA", &[], Config::default()).expect("a logic");
        let mut rng = rng::stream(1, 1);
        let mut bench = Bench {
            store,
            rng: &mut rng,
            ask: &mut Nobody,
            grammar: &grammar,
            seeds: &[],
            options: &NoOptions,
        };
        Incremental.apply(draft, &mut bench)
    }

    fn derived(script: Script, answer: Status) -> Draft {
        Draft::derived(script, Derivation { answer, from: "seed".to_owned(), steps: Vec::new() })
    }

    #[test]
    fn a_witness_is_kept_and_checked_on_what_it_now_belongs_to() {
        let mut store = Store::new();
        let script = read(&mut store, TEXT);
        let witness = Witness::check(&store, &script, Model::new(), Budget::default()).expect("x = 0");
        let draft = apply(&mut store, Draft::satisfied(script, witness)).expect("three assertions");
        assert!(draft.script().is_incremental());
        assert_eq!(draft.expectation(), &Expectation::Witness);
        let model = draft.witness().expect("kept").model().clone();
        assert!(Witness::check(&store, draft.script(), model, Budget::default()).is_ok());
        assert_eq!(draft.changes().len(), 1);
    }

    #[test]
    fn an_unsatisfiable_script_is_left_alone_because_its_parts_may_be_satisfiable() {
        let mut store = Store::new();
        let script = read(&mut store, "(declare-const p Bool)(assert p)(assert (not p))(check-sat)");
        assert!(apply(&mut store, derived(script.clone(), Status::Unsat)).is_none());
        let draft = apply(&mut store, Draft::agree(script)).expect("nothing is known of it");
        assert_eq!(draft.expectation(), &Expectation::Agree);
    }

    #[test]
    fn a_satisfiable_script_stays_so_and_the_derivation_tells_the_step() {
        let mut store = Store::new();
        let script = read(&mut store, TEXT);
        let draft = apply(&mut store, derived(script, Status::Sat)).expect("three assertions");
        let Expectation::Derived(derivation) = draft.expectation() else { panic!("not derived") };
        assert_eq!((derivation.answer, derivation.steps.as_slice()), (Status::Sat, draft.changes()));
    }

    #[test]
    fn scripts_with_levels_or_without_assertions_are_left_alone() {
        let mut store = Store::new();
        for text in ["(push 1)(assert true)(check-sat)(pop 1)", "(check-sat)"] {
            let script = read(&mut store, text);
            assert!(apply(&mut store, Draft::agree(script)).is_none(), "{text}");
        }
    }
}
