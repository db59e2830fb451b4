//! Re-evaluation after replacing one sub-term: only the way to the root is computed again, and only as far as
//! values change.

use smtlib::{Head, Op, SortError, Store, Term};

use super::machine::Applied;
use super::{Computation, Evaluated, Evaluator};
use crate::model::Model;
use crate::unknown::{Reason, Unknown};
use crate::value::Value;

/// A term with the values of its sub-terms, ready for replacements.
///
/// A replacement is tried with [`Evaluation::replace`], which tells the value the whole term would have, and then
/// kept or dropped. Trying builds no terms, except under binders.
pub struct Evaluation {
    evaluator: Evaluator,
    root: Term,
    value: Evaluated,
    /// The replacement on trial and the root's value with it.
    trial: Option<(Vec<u32>, Term, Evaluated)>,
    path: Vec<u32>,
    spine: Vec<Term>,
    scratch: Vec<Value>,
}

impl Evaluation {
    pub fn new(mut evaluator: Evaluator, store: &Store, model: &Model, root: Term) -> Evaluation {
        let value = evaluator.evaluate(store, model, root);
        Evaluation {
            evaluator,
            root,
            value,
            trial: None,
            path: Vec::new(),
            spine: Vec::new(),
            scratch: Vec::new(),
        }
    }

    pub fn root(&self) -> Term {
        self.root
    }

    /// The value of the term, without the replacement on trial.
    pub fn value(&self) -> &Evaluated {
        &self.value
    }

    pub fn evaluator(&mut self) -> &mut Evaluator {
        &mut self.evaluator
    }

    pub fn into_evaluator(self) -> Evaluator {
        self.evaluator
    }

    /// The value that the term would have with another term at a path. The replacement stays on trial until
    /// [`Evaluation::commit`], [`Evaluation::discard`] or the next one. An error is a path that leads nowhere.
    pub fn replace(
        &mut self,
        store: &mut Store,
        model: &Model,
        path: &[u32],
        new: Term,
    ) -> Result<&Evaluated, SortError> {
        self.path.clear();
        self.path.extend_from_slice(path);
        self.spine.clear();
        let (mut new, mut here) = (new, self.root);
        let given = new;
        for (depth, child) in path.iter().enumerate() {
            // Below a binder a sub-term has many values, and in the polynomial of a root it has none; both are evaluated
            // anew as a whole.
            if matches!(store.head(here), Head::Bind(..) | Head::Match(_) | Head::Op(Op::RootObject, _)) {
                new = store.replace_at(here, &path[depth..], new)?;
                break;
            }
            self.spine.push(here);
            here = *store.args(here).get(*child as usize).ok_or_else(|| SortError::Count {
                name: "path".to_owned(),
                expected: store.args(here).len().to_string(),
                found: *child as usize,
            })?;
        }
        store.expect_sort(new, store.sort_of(here))?;
        self.evaluator.steps_left = self.evaluator.limits.steps;
        let mut run = Computation { evaluator: &mut self.evaluator, store, model };
        let mut value = run.value_of(new);
        let mut changed = true;
        for (node, child) in self.spine.iter().zip(path).rev() {
            let new_value = run.with_child(*node, *child as usize, &value, &mut self.scratch);
            // An unknown value is no reason to stop, even if it is unknown for the same reason: `(= t t)` is true because
            // both sides are one term, and now they may be two.
            if new_value.is_ok() && run.evaluator.memory.ground(*node) == Some(&new_value) {
                changed = false;
                break;
            }
            value = new_value;
        }
        let result = if changed { value } else { self.value.clone() };
        let path = std::mem::take(&mut self.path);
        if let Some((old, _, _)) = self.trial.replace((path, given, result)) {
            // Its space serves the next trial.
            self.path = old;
        }
        Ok(match &self.trial {
            Some((_, _, value)) => value,
            None => &self.value,
        })
    }

    /// Keeps the replacement on trial: the root becomes the new term, which is returned. Without one nothing
    /// happens.
    pub fn commit(&mut self, store: &mut Store, model: &Model) -> Result<Term, SortError> {
        if let Some((path, new, value)) = self.trial.take() {
            self.root = store.replace_at(self.root, &path, new)?;
            // Remembers the values on the new way to the root; everything else is known. A term that has become
            // equal to its neighbour may decide more than it did on trial.
            self.value = self.evaluator.evaluate(store, model, self.root).or(value);
            self.path = path;
        }
        Ok(self.root)
    }

    /// Drops the replacement on trial.
    pub fn discard(&mut self) {
        if let Some((path, _, _)) = self.trial.take() {
            self.path = path;
        }
    }
}

impl Computation<'_> {
    /// The value of a node if one of its children had another value.
    fn with_child(
        &mut self,
        node: Term,
        changed: usize,
        value: &Evaluated,
        scratch: &mut Vec<Value>,
    ) -> Evaluated {
        let store = self.store;
        let args = store.args(node);
        match store.head(node) {
            Head::Annotated(_) if changed == 0 => value.clone(),
            Head::Annotated(_) => self.value_of(node),
            Head::Op(Op::And, _) => self.junction(args, changed, value, false),
            Head::Op(Op::Or, _) => self.junction(args, changed, value, true),
            Head::Op(Op::Implies, _) => self.implication(args, changed, value),
            Head::Op(Op::Ite, _) => {
                let at = |run: &mut Self, i: usize| {
                    if i == changed { value.clone() } else { run.value_of(args[i]) }
                };
                match at(self, 0) {
                    Ok(Value::Bool(condition)) => at(self, if condition { 1 } else { 2 }),
                    Ok(_) => Err(Reason::Opaque.at(node)),
                    Err(unknown) => match (at(self, 1), at(self, 2)) {
                        (Ok(a), Ok(b)) if a.equal(&b) == Some(true) => Ok(a),
                        _ => Err(unknown),
                    },
                }
            }
            _ => {
                let value = value.as_ref().map_err(|unknown: &Unknown| *unknown)?;
                scratch.clear();
                for (i, arg) in args.iter().enumerate() {
                    scratch.push(if i == changed { value.clone() } else { self.value_of(*arg)? });
                }
                match self.apply(node, scratch) {
                    Applied::Value(value) => value,
                    entered => self.finish(node, |_| entered),
                }
            }
        }
    }

    fn junction(&mut self, args: &[Term], changed: usize, value: &Evaluated, stop: bool) -> Evaluated {
        if *value == Ok(Value::Bool(stop)) {
            return Ok(Value::Bool(stop));
        }
        let mut unknown = None;
        for (i, arg) in args.iter().enumerate() {
            let value = if i == changed { value.clone() } else { self.value_of(*arg) };
            match value {
                Ok(Value::Bool(value)) if value == stop => return Ok(Value::Bool(stop)),
                Ok(_) => {}
                Err(reason) => {
                    unknown.get_or_insert(reason);
                }
            }
        }
        unknown.map_or(Ok(Value::Bool(!stop)), Err)
    }

    fn implication(&mut self, args: &[Term], changed: usize, value: &Evaluated) -> Evaluated {
        let mut unknown = None;
        for (i, arg) in args.iter().enumerate() {
            let value = if i == changed { value.clone() } else { self.value_of(*arg) };
            match value {
                Ok(Value::Bool(value)) if value == (i + 1 == args.len()) => return Ok(Value::TRUE),
                Ok(_) => {}
                Err(reason) => {
                    unknown.get_or_insert(reason);
                }
            }
        }
        unknown.map_or(Ok(Value::FALSE), Err)
    }
}
