//! Witnesses: models that have been seen to satisfy a script.

use smtlib::{Command, Fun, Script, Store, Term};
use thiserror::Error;

use super::Model;
use crate::evaluate::{Budget, Evaluator, Mode};
use crate::side_conditions::{SideCondition, side_conditions};
use crate::unknown::Unknown;
use crate::value::Value;

/// A model under which every assertion in force at every check of a script is true, where nothing else in the script
/// constrains models. It can only be made by checking.
#[derive(Clone, Debug)]
pub struct Witness {
    model: Model,
}

/// Why a model is no witness.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Error)]
pub enum NotAWitness {
    #[error("an assertion is false")]
    False(Term),
    #[error("the value of an assertion is unknown: {}", .1.reason)]
    Unknown(Term, Unknown),
    #[error("true assertions are not enough: {0}")]
    Constrained(SideCondition),
}

impl Witness {
    /// Checks a model of our own making. Symbols that it leaves out get default values, and open cases of the
    /// theories are chosen; both become part of the witness.
    pub fn check(
        store: &Store,
        script: &Script,
        mut model: Model,
        limits: Budget,
    ) -> Result<Witness, NotAWitness> {
        unconstrained(store, script)?;
        model.complete(store, script);
        let mut evaluator = Evaluator::new(Mode::Choose, limits);
        for term in checked_terms(script) {
            match evaluator.holds(store, &model, term) {
                Ok(true) => {}
                Ok(false) => return Err(NotAWitness::False(term)),
                Err(unknown) => return Err(NotAWitness::Unknown(term, unknown)),
            }
        }
        model.open_mut().adopt(evaluator.chosen());
        Ok(Witness { model })
    }

    /// A model that has been checked by a [`EvaluatedModel`](super::EvaluatedModel).
    pub(super) fn of_checked(model: Model) -> Witness {
        Witness { model }
    }

    pub fn model(&self) -> &Model {
        &self.model
    }

    pub fn into_model(self) -> Model {
        self.model
    }

    /// Adds a value for a symbol that the script did not have. A symbol that already has one keeps it, and the
    /// answer is false.
    pub fn add(&mut self, fun: Fun, value: Value) -> bool {
        // Every assertion was true without the new symbol, so it stays true.
        let fresh = self.model.get(fun).is_none();
        if fresh {
            self.model.assign(fun, value);
        }
        fresh
    }
}

/// Is a model that makes the assertions true a model of the script?
pub(super) fn unconstrained(store: &Store, script: &Script) -> Result<(), NotAWitness> {
    match side_conditions(store, script).first() {
        Some(condition) => Err(NotAWitness::Constrained(*condition)),
        None => Ok(()),
    }
}

/// The formulas that a model must make true: those in force at some check of satisfiability, or all assertions
/// if the script never checks.
pub fn checked_terms(script: &Script) -> Vec<Term> {
    let mut terms = Vec::new();
    let mut levels: Vec<Vec<Term>> = vec![Vec::new()];
    let mut checked = false;
    for command in &script.commands {
        match command {
            Command::Assert(term) => {
                if let Some(level) = levels.last_mut() {
                    level.push(*term);
                }
            }
            Command::Push(count) => levels.extend((0..*count).map(|_| Vec::new())),
            Command::Pop(count) => {
                let keep = levels.len().saturating_sub(*count as usize).max(1);
                levels.truncate(keep);
            }
            Command::Reset | Command::ResetAssertions => levels = vec![Vec::new()],
            Command::CheckSat | Command::CheckSatUsing(_) => {
                checked = true;
                terms.extend(levels.iter().flatten());
            }
            Command::CheckSatAssuming(assumptions) => {
                checked = true;
                terms.extend(levels.iter().flatten());
                terms.extend(assumptions);
            }
            _ => {}
        }
    }
    if !checked {
        return script.assertions().collect();
    }
    let mut seen = rustc_hash::FxHashSet::default();
    terms.retain(|term| seen.insert(*term));
    terms
}
