//! A model of our own together with everything computed under it.

use rustc_hash::FxHashMap;
use smtlib::{Fun, Script, Store, Term};

use super::witness::{NotAWitness, Witness, checked_terms, unconstrained};
use super::{Model, OpenCases};
use crate::evaluate::{Budget, Evaluated, Evaluator, Mode};
use crate::unknown::Unknown;
use crate::value::Value;

/// A model that only grows, and an evaluator whose memory therefore stays true. It makes witnesses of many scripts
/// over the same symbols: what two scripts have in common is evaluated once.
///
/// A world belongs to one store; after a reset of the store [`EvaluatedModel::forget_after`] must be called.
pub struct EvaluatedModel {
    /// As it was in the beginning.
    base: Model,
    /// With everything added since.
    model: Model,
    added: FxHashMap<Fun, Value>,
    evaluator: Evaluator,
}

impl EvaluatedModel {
    pub fn new(model: Model, mode: Mode, limits: Budget) -> EvaluatedModel {
        EvaluatedModel {
            base: model.clone(),
            model,
            added: FxHashMap::default(),
            evaluator: Evaluator::new(mode, limits),
        }
    }

    pub fn model(&self) -> &Model {
        &self.model
    }

    /// Gives a value to a symbol that has none; a symbol that has one keeps it, and the answer is false.
    pub fn add(&mut self, fun: Fun, value: Value) -> bool {
        // No remembered value can depend on the symbol, except as the reason of an unknown one: terms that mention it
        // have to be made after this call.
        let fresh = self.model.get(fun).is_none();
        if fresh {
            self.model.assign(fun, value.clone());
            self.added.insert(fun, value);
        }
        fresh
    }

    pub fn evaluate(&mut self, store: &Store, term: Term) -> Evaluated {
        self.evaluator.evaluate(store, &self.model, term)
    }

    pub fn holds(&mut self, store: &Store, term: Term) -> Result<bool, Unknown> {
        self.evaluator.holds(store, &self.model, term)
    }

    /// What the last evaluation has cost.
    pub fn steps_taken(&self) -> u64 {
        self.evaluator.steps_taken()
    }

    /// The open cases decided so far, in [`Mode::Choose`].
    pub fn chosen(&self) -> &OpenCases {
        self.evaluator.chosen()
    }

    /// A witness of a script all of whose symbols have values here. Symbols that were added for other scripts are left
    /// out of it.
    pub fn witness(&mut self, store: &Store, script: &Script) -> Result<Witness, NotAWitness> {
        unconstrained(store, script)?;
        for term in checked_terms(script) {
            match self.holds(store, term) {
                Ok(true) => {}
                Ok(false) => return Err(NotAWitness::False(term)),
                Err(unknown) => return Err(NotAWitness::Unknown(term, unknown)),
            }
        }
        let mut model = self.base.clone();
        for fun in script.declared_funs() {
            if let Some(value) = self.added.get(&fun) {
                model.assign(fun, value.clone());
            }
        }
        model.open_mut().adopt(self.evaluator.chosen());
        Ok(Witness::of_checked(model))
    }

    /// Forgets the values of terms with at least this number.
    pub fn forget_after(&mut self, term_count: usize) {
        self.evaluator.forget_after(term_count);
    }
}
