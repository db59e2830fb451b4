//! Witnesses, checked once more on exactly the script that solvers get.

use engines::TestCase;
use eval::{Budget, Evaluator, Mode, Reason};
use smtlib::Store;

/// What the second look at one formula may cost: as much as some runs.
const PATIENCE: u64 = 500_000;

/// What a witness is worth.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum WitnessCheck {
    Holds,
    /// A formula cannot be decided with bearable effort. Nothing is wrong: an engine sees change by change what takes long to
    /// see from the script alone.
    Open,
    /// A defect of the engine: a formula is false, or no effort would decide it.
    Fails(String),
}

/// Evaluators for witnesses.
pub struct WitnessChecks {
    /// With the engines' own budget.
    quick: Evaluator,
    /// With more values for bound variables, and more time.
    patient: Evaluator,
}

impl Default for WitnessChecks {
    fn default() -> WitnessChecks {
        WitnessChecks {
            quick: Evaluator::new(Mode::Given, engines::BUDGET),
            patient: Evaluator::new(Mode::Given, Budget { steps: PATIENCE, ..Budget::default() }),
        }
    }
}

impl WitnessChecks {
    pub fn check(&mut self, store: &Store, case: &TestCase) -> WitnessCheck {
        let Some(witness) = case.witness() else { return WitnessCheck::Holds };
        self.quick.forget();
        self.patient.forget();
        for term in eval::model::checked_terms(&case.script) {
            let value = self.quick.holds(store, witness.model(), term);
            match value.or_else(|_| self.patient.holds(store, witness.model(), term)) {
                Ok(true) => {}
                Ok(false) => {
                    return WitnessCheck::Fails("the witness does not satisfy an assertion".to_owned());
                }
                // Which values for bound variables are tried decides which one is met first: one that is open, or one that
                // settles it.
                Err(unknown) if takes_effort(&unknown.reason) || store.has_binder(term) => {
                    return WitnessCheck::Open;
                }
                Err(unknown) => {
                    let text = format!("the witness leaves an assertion open: {}", unknown.reason);
                    return WitnessCheck::Fails(text);
                }
            }
        }
        WitnessCheck::Holds
    }
}

/// Could more time, or more values for bound variables, decide it?
fn takes_effort(reason: &Reason) -> bool {
    use Reason::{Budget, InfiniteDomain, InfiniteQuantifier, InseparableReals, UndecidedEquality};
    matches!(reason, Budget(_) | InfiniteQuantifier | InfiniteDomain | UndecidedEquality | InseparableReals)
}

#[cfg(test)]
mod tests {
    use engines::{Draft, Provenance};
    use eval::{EvaluatedModel, Model, Value};
    use smtlib::{Command, Mode as Reading, Script, parse};

    use super::*;

    /// A script of all of these assertions about `x`.
    fn script(store: &mut Store, assertions: &[&str]) -> Script {
        let asserted: String = assertions.iter().map(|formula| format!("(assert {formula})")).collect();
        let text = format!("(set-logic ALL)(declare-const x Bool){asserted}(check-sat)");
        parse(store, text.as_bytes(), Reading::Strict).expect("a script").script
    }

    /// The script with only this assertion.
    fn only(script: &Script, number: usize) -> Script {
        let chosen = script.assertions().nth(number);
        let keep = |command: &&Command| match command {
            Command::Assert(term) => Some(*term) == chosen,
            _ => true,
        };
        Script { commands: script.commands.iter().filter(keep).cloned().collect() }
    }

    #[test]
    fn a_witness_holds_fails_or_takes_too_long_to_check() {
        let mut store = Store::new();
        let dear = "(forall ((a (_ BitVec 8)) (b (_ BitVec 8)) (c (_ BitVec 8))) \
                    (=> x (= (bvadd a (bvadd b c)) (bvadd (bvadd a b) c))))";
        let open = "(= (div 1 0) 0)";
        let bound = "(forall ((a Int)) (or (= a a) (= (div a 0) 0)))";
        let bound_open = "(exists ((a Int)) (= (div a 0) 0))";
        let all = script(&mut store, &["x", "(not x)", dear, open, bound, bound_open]);
        let mut model = Model::new();
        for fun in all.declared_funs() {
            model.assign(fun, Value::TRUE);
        }
        let first = only(&all, 0);
        let witness = EvaluatedModel::new(model, Mode::Given, Budget::default()).witness(&store, &first);
        let draft = Draft::satisfied(first, witness.expect("x is true"));
        let mut case = TestCase::new(draft, Provenance::new("diver", &[], 0));
        let mut checks = WitnessChecks::default();
        assert_eq!(checks.check(&store, &case), WitnessCheck::Holds);
        case.script = only(&all, 1);
        let failed = |check: WitnessCheck| matches!(check, WitnessCheck::Fails(_));
        assert!(failed(checks.check(&store, &case)));
        case.script = only(&all, 2);
        assert_eq!(checks.check(&store, &case), WitnessCheck::Open);
        case.script = only(&all, 3);
        assert!(failed(checks.check(&store, &case)), "no effort decides what the standard leaves open");
        case.script = only(&all, 4);
        assert!(!failed(checks.check(&store, &case)));
        case.script = only(&all, 5);
        assert_eq!(checks.check(&store, &case), WitnessCheck::Open, "another value might have settled it");
        case.forget_answer();
        assert_eq!(checks.check(&store, &case), WitnessCheck::Holds, "nothing is claimed any more");
    }
}
