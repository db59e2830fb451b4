//! What solvers make of the formulas of a round.

use eval::{EvaluatedModel, Mode, Model};
use smtlib::{Script, Store};

use super::meta::question;
use super::watch::OF_A_MONITOR;
use crate::case::Draft;
use crate::engine::{Attempt, Bench};

/// What a solver makes of a formula.
pub enum Found {
    Model(Box<EvaluatedModel>),
    /// It says that there is no model.
    Nothing,
    Undecided,
    /// It crashed.
    Crashed,
}

impl Found {
    /// It says whether there is a model.
    pub fn is_decided(&self) -> bool {
        matches!(self, Found::Model(_) | Found::Nothing)
    }

    pub fn model(&mut self) -> Option<&mut EvaluatedModel> {
        match self {
            Found::Model(model) => Some(&mut **model),
            Found::Nothing | Found::Undecided | Found::Crashed => None,
        }
    }
}

/// A model of a script from a solver, with a value for everything that the script declares.
pub fn attempt(bench: &mut Bench<'_>, script: &Script, variant: u32) -> Found {
    let question = question(bench.store, script);
    let evaluated = |store: &Store, mut model: Model| {
        model.complete(store, script);
        Box::new(EvaluatedModel::new(model, Mode::Given, OF_A_MONITOR))
    };
    match bench.ask.attempt(bench.store, &question, variant) {
        Attempt::Model(model) => Found::Model(evaluated(bench.store, model)),
        Attempt::Candidate(model) => {
            let mut evaluated = evaluated(bench.store, model);
            let refuted = contradicts(bench.store, &mut evaluated, script);
            if refuted { Found::Undecided } else { Found::Model(evaluated) }
        }
        Attempt::Refuted => Found::Nothing,
        Attempt::Undecided => Found::Undecided,
        Attempt::Crashed => Found::Crashed,
    }
}

/// Is an assertion false under what a solver printed without knowing? What is enforced is a constant, which is never left
/// open. Of scripts with levels nobody says which assertions the model is for.
fn contradicts(store: &Store, evaluated: &mut EvaluatedModel, script: &Script) -> bool {
    !script.is_incremental() && script.assertions().any(|term| evaluated.holds(store, term) == Ok(false))
}

/// A test case with the model as witness where our evaluator finds that it is one.
pub fn known(store: &Store, evaluated: &mut EvaluatedModel, script: Script) -> Draft {
    match evaluated.witness(store, &script) {
        Ok(witness) => Draft::satisfied(script, witness),
        Err(_) => Draft::agree(script),
    }
}
