//! Models of the accused: whether they are right, and whether that is luck.

use std::sync::Arc;

use eval::Model;
use oracle::subject::ModelValue;
use oracle::{Asking, ModelCheck, Subject};
use smtlib::{Command, Op, Script, Sort, Status, Store, Term};
use solver::run::{Run, RunError};

/// The last model of a run, if each of them satisfies what it is a model of.
pub(super) fn right_model(
    subject: &mut Subject,
    run: &Run,
    asking: &mut Asking,
) -> Result<Option<Arc<ModelCheck>>, RunError> {
    let mut right = None;
    for answer in run.answers.trusted().filter(|answer| run.status(answer.check) == Some(Status::Sat)) {
        let found = subject.model_check(run, answer.check, true, asking)?;
        right = found.filter(|found| found.value == ModelValue::True);
        if right.is_none() {
            break;
        }
    }
    Ok(right)
}

/// Which assertion of a script with one check is false under the model of a run.
pub(super) fn false_assertion(
    subject: &mut Subject,
    script: &Script,
    run: &Run,
    asking: &mut Asking,
) -> Result<Option<usize>, RunError> {
    let Some(found) = subject.model_check(run, 0, true, asking)? else { return Ok(None) };
    let ModelValue::False(formula, _) = found.value else { return Ok(None) };
    Ok(script.assertions().position(|assertion| assertion == formula))
}

/// The script with a model shut out: no constant has its value again, not all of them have, and one has another. A solver that
/// does not know what an operator means is right whenever it is lucky with the values it chooses.
pub(crate) fn other_models(store: &mut Store, script: &Script, model: &Model) -> Vec<Script> {
    let differences = differences(store, script, model);
    let mut conditions: Vec<Term> = Vec::new();
    if differences.len() > 1 {
        conditions.extend([Op::And, Op::Or].into_iter().filter_map(|op| store.op(op, &differences).ok()));
    }
    conditions.extend(differences.into_iter().take(SINGLE));
    conditions.into_iter().filter_map(|condition| with(script, condition)).collect()
}

/// Constants that are given another value by themselves.
const SINGLE: usize = 2;

/// The script with a condition before its check, if it has only one.
fn with(script: &Script, condition: Term) -> Option<Script> {
    let mut checks = script.commands.iter().enumerate().filter(|(_, command)| command.is_check());
    let (Some((place, _)), None) = (checks.next(), checks.next()) else { return None };
    let mut script = script.clone();
    script.commands.insert(place, Command::Assert(condition));
    Some(script)
}

/// Of each constant that it does not have its value under the model.
fn differences(store: &mut Store, script: &Script, model: &Model) -> Vec<Term> {
    let mut differences = Vec::new();
    for fun in script.declared_funs() {
        let sort = store.fun(fun).result;
        if !store.fun(fun).params.is_empty() || sort == Sort::BOOL {
            continue;
        }
        let Some(value) = model.value(fun).and_then(|value| eval::to_term(store, sort, value)) else {
            continue;
        };
        let constant = store.call(fun, &[]);
        let difference = constant.and_then(|constant| store.op(Op::Distinct, &[constant, value]));
        differences.extend(difference.ok());
    }
    differences
}
