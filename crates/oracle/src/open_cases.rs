//! A solver's model with its open cases: what `(/ x 0.0)` and their like are in it.
//!
//! The standard leaves them to the model, and most solvers do not print them. But they can be asked: `get-value` of the
//! very term is about the same model. So the script is run again with a question for every open case that the
//! evaluation meets, until none is left or the solver has nothing to say.

use std::sync::Arc;

use eval::model_text::{ModelError, ReadModel, read_model, read_values};
use eval::unknown::Reason;
use eval::{Evaluator, Mode, Value};
use smtlib::print::print_term;
use smtlib::{Op, Status, Store, Term};
use solver::run::{Configuration, Run, RunError};

use crate::asking::Asking;
use crate::frame::Frame;
use crate::subject::limits;
use crate::text;

/// Runs that may be spent on questions. One asks about all open cases in sight; more are needed only where one lies
/// behind another.
const ROUNDS: usize = 8;

/// A solver's model, and the terms that it was asked about.
#[derive(Debug)]
pub struct Found {
    pub read: ReadModel,
    pub asked: Vec<Term>,
}

/// The model that a configuration gives for a check of a script, open cases included as far as it tells them. Nothing
/// if it prints none.
pub fn model_of(
    store: &mut Store,
    frame: &Frame,
    script: &[u8],
    check: usize,
    configuration: &Arc<Configuration>,
    asking: &mut Asking,
) -> Result<Option<Result<Found, ModelError>>, RunError> {
    let release = configuration.release();
    let mut asked: Vec<Term> = Vec::new();
    let mut last: Option<Found> = None;
    for _ in 0..ROUNDS {
        let questions: String = asked
            .iter()
            .map(|term| format!("\n(get-value ({}))", print_term(store, *term, release)))
            .collect();
        let text = text::with_questions(script, |number| number == check, &questions);
        let run = asking.run(configuration, &text)?;
        let (Some(Status::Sat), Some(printed)) = (run.status(check), run.model_text(check)) else { break };
        let mut read = match read_model(store, &frame.script, printed, release) {
            Ok(read) => read,
            Err(error) => return Ok(Some(Err(error))),
        };
        fix(store, frame, &run, check, &asked, &mut read);
        let further = open_terms(store, frame, &read);
        let new: Vec<Term> = further.into_iter().filter(|term| !asked.contains(term)).collect();
        last = Some(Found { read, asked: asked.clone() });
        if new.is_empty() {
            break;
        }
        asked.extend(new);
    }
    Ok(last.map(Ok))
}

/// The terms whose open cases keep formulas undecided.
fn open_terms(store: &mut Store, frame: &Frame, read: &ReadModel) -> Vec<Term> {
    let mut evaluator = Evaluator::new(Mode::Given, limits());
    let mut open = Vec::new();
    for formula in frame.formulas() {
        let Err(why) = evaluator.holds(store, &read.model, formula) else { continue };
        // Under a binder there is nothing to ask about.
        let askable = matches!(why.reason, Reason::Unspecified | Reason::Disputed);
        if !askable || !store.free_vars(why.term).is_empty() {
            continue;
        }
        for part in steps(store, why.term) {
            if !open.contains(&part) {
                open.push(part);
            }
        }
    }
    open
}

/// A term that computes in several steps, each of which may be open, as one term a step: `(/ a b c)` is `(/ (/ a b) c)`.
fn steps(store: &mut Store, term: Term) -> Vec<Term> {
    let args = store.args(term).to_vec();
    match store.op_of(term) {
        Some(op @ (Op::RealDiv | Op::IntDiv)) if args.len() > 2 => {
            (2..=args.len()).filter_map(|length| store.op(op, &args[..length]).ok()).collect()
        }
        _ => vec![term],
    }
}

/// Takes the answers into the model.
fn fix(store: &mut Store, frame: &Frame, run: &Run, check: usize, asked: &[Term], read: &mut ReadModel) {
    let release = run.configuration.release();
    // The script may ask for values of its own, and a question of ours may have failed: an answer tells by its term
    // whose it is.
    let texts: Vec<Vec<u8>> = run.all_values_text(check).into_iter().map(<[u8]>::to_vec).collect();
    for text in texts {
        let Ok(values) = read_values(store, &frame.script, &text, release) else { continue };
        let [(term, value)] = values.pairs.as_slice() else { continue };
        if !asked.contains(term) {
            continue;
        }
        let Ok(value) = Evaluator::default().evaluate(store, &values.model, *value) else { continue };
        if !means_the_same_everywhere(&value) {
            continue;
        }
        let mut evaluator = Evaluator::default();
        if evaluator.evaluate(store, &read.model, *term).is_err_and(|why| why.term == *term)
            && let Some((open, args)) = evaluator.missing()
        {
            let args = args.to_vec();
            read.model.open_mut().fix(open, &args, value);
        }
    }
}

/// Elements of declared sorts are numbered by each text on its own; other values are what they are.
fn means_the_same_everywhere(value: &Value) -> bool {
    match value {
        Value::Datatype(_, fields) | Value::Tuple(fields) => fields.iter().all(means_the_same_everywhere),
        Value::Seq(elements) => elements.iter().all(means_the_same_everywhere),
        Value::Set(elements) => elements.iter().all(means_the_same_everywhere),
        Value::Bag(elements) => elements.iter().all(|(element, _)| means_the_same_everywhere(element)),
        value => value.is_plain(),
    }
}
