//! What a model of a mutant covers: the truth values of all monitors in it.

use eval::{Budget, EvaluatedModel, Evaluator, Interpretation, Mode, Model};
use smtlib::{Fun, Store, Term};

use super::coverage::Coverage;
use super::meta::{Enforced, Meta};
use crate::models::BUDGET;

/// What the evaluation of one monitor may cost: there are hundreds of them, and one that stays undecided is of no harm.
pub const OF_A_MONITOR: Budget = Budget { steps: 10_000, instances: 1 << 8, candidates: 16, ..BUDGET };

/// Monitors with quantifiers whose truth is looked at under one model.
const QUANTIFIED: usize = 8;

/// A mutant that models may be found of.
#[derive(Clone, Debug)]
pub struct Watched {
    pub constants: Vec<Term>,
    pub enforced: Vec<Enforced>,
    /// Variables of quantifiers have no value in a model of the mutant: they keep that of the model that gave the constants.
    pub skolems: Vec<(Fun, Interpretation)>,
    /// The mutant does not declare them: they are what they were in the enforcement, whatever its model is.
    pub pinned: bool,
    /// Its number among the test cases.
    pub number: usize,
    /// A model has been looked at.
    pub modelled: bool,
}

impl Watched {
    /// What the variables of quantifiers are in a model.
    pub fn skolems(meta: &Meta, from: &Model) -> Vec<(Fun, Interpretation)> {
        let of = |fun: &Fun| Some((*fun, from.get(*fun)?.clone()));
        meta.skolems().iter().filter_map(of).collect()
    }

    /// The truth values of the monitors that are `wanted` in a model of the mutant, as far as they are decided soon.
    pub fn truths(
        &self,
        meta: &Meta,
        store: &Store,
        model: &Model,
        wanted: &dyn Fn(usize) -> bool,
    ) -> Vec<Option<bool>> {
        let mut model = model.clone();
        let mut evaluator = Evaluator::default();
        for (hole, constant) in meta.holes.list().iter().zip(&self.constants) {
            if let Ok(value) = evaluator.evaluate(store, &Model::new(), *constant) {
                model.assign(hole.fun, value);
            }
        }
        // A mutant with monitors in it has values of its own for them.
        for (fun, value) in &self.skolems {
            if model.get(*fun).is_none() {
                model.interpret(*fun, value.clone());
            }
        }
        let mut evaluated = EvaluatedModel::new(model, Mode::Given, OF_A_MONITOR);
        let mut quantified = 0;
        let mut truth = |(number, says): (usize, Term)| {
            if !wanted(number) {
                return None;
            }
            quantified += usize::from(store.has_binder(says));
            let cheap = !store.has_binder(says) || quantified <= QUANTIFIED;
            cheap.then(|| evaluated.holds(store, says).ok()).flatten()
        };
        meta.monitors.iter().enumerate().map(|(number, monitor)| truth((number, monitor.says))).collect()
    }

    /// Does a model of the mutant have a say in the truth value of a monitor? With a variable that keeps the value of the
    /// enforcement it may be true by construction, and tells nothing about what enforcement comes to.
    pub fn is_own(&self, meta: &Meta, number: usize) -> bool {
        !self.pinned || meta.monitors.get(number).is_some_and(|monitor| !monitor.is_opened)
    }

    /// All truth values in a model, if one of them is new: most models of a seed show what others have shown.
    pub fn news(
        &self,
        meta: &Meta,
        coverage: &Coverage,
        store: &Store,
        model: &Model,
    ) -> Option<Vec<Option<bool>>> {
        let lacks = |number, truth| coverage.by((number, truth)).is_none();
        let open = |number| lacks(number, true) || lacks(number, false);
        let found = self.truths(meta, store, model, &open);
        let is_new =
            |(number, truth): (usize, &Option<bool>)| truth.is_some_and(|truth| lacks(number, truth));
        found.iter().enumerate().any(is_new).then(|| self.truths(meta, store, model, &|_| true))
    }
}

/// Truth values as text: a letter each.
pub fn write(truths: &[Option<bool>]) -> String {
    let letter = |truth: &Option<bool>| match truth {
        Some(true) => 't',
        Some(false) => 'f',
        None => '-',
    };
    truths.iter().map(letter).collect()
}

/// What [`write`] wrote of so many monitors; `None` for any other text.
pub fn read(text: &str, monitors: usize) -> Option<Vec<Option<bool>>> {
    let truth = |letter| match letter {
        't' => Some(Some(true)),
        'f' => Some(Some(false)),
        '-' => Some(None),
        _ => None,
    };
    let truths = text.chars().map(truth).collect::<Option<Vec<_>>>()?;
    (truths.len() == monitors).then_some(truths)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn truth_values_are_read_as_they_were_written() {
        let truths = [Some(true), None, Some(false)];
        assert_eq!(write(&truths), "t-f");
        assert_eq!(read("t-f", 3).as_deref(), Some(truths.as_slice()));
        for wrong in ["t-", "t-ff", "txf", ""] {
            assert_eq!(read(wrong, 3), None, "{wrong}");
        }
    }
}
