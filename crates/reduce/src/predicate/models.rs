//! Models of the accused: whether they are right, and whether that is luck.

use std::sync::Arc;

use eval::Model;
use oracle::subject::ModelValue;
use oracle::{Asking, ModelCheck, Subject};
use smtlib::{Command, Op, Script, Sort, Status, Store};
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

/// The script with a model shut out: no constant has its value again, and not all of them have. A solver that does not know
/// what an operator means is right whenever it is lucky with the values it chooses.
pub(super) fn other_models(store: &mut Store, script: &Script, model: &Model) -> Vec<Script> {
    let checks = script.commands.iter().filter(|command| command.is_check()).count();
    let Some(place) = script.commands.iter().position(Command::is_check).filter(|_| checks == 1) else {
        return Vec::new();
    };
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
    let mut conditions = Vec::new();
    match differences.len() {
        0 => {}
        1 => conditions.push(differences[0]),
        _ => conditions.extend([Op::And, Op::Or].map(|op| store.op(op, &differences)).into_iter().flatten()),
    }
    let with = |condition| {
        let mut script = script.clone();
        script.commands.insert(place, Command::Assert(condition));
        script
    };
    conditions.into_iter().map(with).collect()
}
