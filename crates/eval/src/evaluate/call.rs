//! Function calls, environments, case distinctions, and the open cases of operators.

use std::sync::Arc;

use smtlib::theory::Theory;
use smtlib::{Fun, Head, Op, Pattern, Patterns, Sort, SortKind, Term, Var};

use super::machine::Applied;
use super::{Computation, Evaluated, Fault, MAX_NESTING, Mode};
use crate::model::{Interpretation, Open, OpenFunction};
use crate::regex::Arena;
use crate::sorts::Sorts;
use crate::unknown::{Budget, Reason};
use crate::value::{Closure, Domain, Function, Otherwise, Table, Value};

/// Remembered calls are dropped beyond this number.
const MAX_CALLS: usize = 1 << 20;

/// An environment that has been entered, with what is needed to leave it.
pub(super) struct Scope {
    pub(super) body: Term,
    stamp: u32,
    saved: Vec<(Var, Option<Value>)>,
    /// The call whose value the body gives.
    call: Option<(Fun, Box<[Value]>)>,
}

impl<'a> Computation<'a> {
    pub(crate) fn sorts(&self) -> Sorts<'a> {
        Sorts::new(self.store, self.model)
    }

    /// Where languages live.
    pub(crate) fn arena(&mut self) -> &mut Arena {
        &mut self.evaluator.arena
    }

    /// The index domain of maps over a sort.
    pub(crate) fn domain(&mut self, sort: Sort) -> Domain {
        if let Some(known) = self.evaluator.domains.get(&sort) {
            return known.clone();
        }
        let domain = self.sorts().domain(sort);
        self.evaluator.domains.insert(sort, domain.clone());
        domain
    }

    /// Calls a declared or defined function.
    pub(super) fn call(&mut self, term: Term, fun: Fun, args: &[Value]) -> Applied {
        let decl = self.store.fun(fun);
        if args.len() < decl.params.len() {
            let named = Function::Named(fun);
            let function =
                if args.is_empty() { named } else { Function::Partial(Arc::new(named), args.into()) };
            return Applied::Value(Ok(Value::Function(Arc::new(function))));
        }
        let (params, body) = match (&decl.definition, self.model.get(fun)) {
            (Some(definition), _) => (&definition.vars, definition.body),
            (None, Some(Interpretation::Body(closure))) => (&closure.params, closure.body),
            (None, Some(Interpretation::Value(value))) if args.is_empty() => {
                return Applied::Value(Ok(value.clone()));
            }
            (None, Some(Interpretation::Value(value))) => return self.call_value(term, value, args),
            (None, None) => return Applied::Value(Err(Reason::Uninterpreted(fun).at(term))),
        };
        if params.len() != args.len() {
            // A body that is itself a function value.
            return match self.constant_body(term, params, body) {
                Ok(function) => self.call_value(term, &function, args),
                Err(unknown) => Applied::Value(Err(unknown)),
            };
        }
        if params.is_empty() {
            let stamp = self.evaluator.memory.current();
            return Applied::Enter(Box::new(Scope { body, stamp, saved: Vec::new(), call: None }));
        }
        let key = (fun, Box::from(args));
        if let Some(known) = self.evaluator.calls.get(&key) {
            return Applied::Value(known.clone());
        }
        if self.evaluator.open_calls >= self.evaluator.limits.calls {
            return Applied::Value(Err(Reason::Budget(Budget::Depth).at(term)));
        }
        self.evaluator.open_calls += 1;
        let mut scope = self.enter(body, params.iter().copied().zip(args.iter().cloned()));
        scope.call = Some(key);
        Applied::Enter(Box::new(scope))
    }

    fn constant_body(&mut self, term: Term, params: &[Var], body: Term) -> Evaluated {
        if params.is_empty() { self.nested(body) } else { Err(Reason::Opaque.at(term)) }
    }

    /// Applies a function value, or an array as a function.
    pub(super) fn call_value(&mut self, term: Term, function: &Value, args: &[Value]) -> Applied {
        match function {
            Value::Function(function) => self.call_function(term, function, args),
            Value::Array(table) => {
                let Some((index, rest)) = args.split_first() else {
                    return Applied::Value(Ok(function.clone()));
                };
                match self.select(table, index).map_err(|fault| fault.at(term)) {
                    Ok(value) if !rest.is_empty() => self.call_value(term, &value, rest),
                    result => Applied::Value(result),
                }
            }
            _ => Applied::Value(Err(Reason::Opaque.at(term))),
        }
    }

    fn call_function(&mut self, term: Term, function: &Arc<Function>, args: &[Value]) -> Applied {
        let arity = match &**function {
            Function::Table { arity, .. } => *arity as usize,
            Function::Closure(closure) => closure.params.len(),
            Function::Named(fun) => self.store.fun(*fun).params.len(),
            Function::Partial(inner, first) => {
                let all: Vec<Value> = first.iter().chain(args).cloned().collect();
                return self.call_function(term, inner, &all);
            }
        };
        if args.len() < arity {
            let partial = Function::Partial(function.clone(), args.into());
            return Applied::Value(Ok(Value::Function(Arc::new(partial))));
        }
        if args.len() > arity {
            let (first, rest) = args.split_at(arity);
            return match self.finish(term, |run| run.call_function(term, function, first)) {
                Ok(value) => self.call_value(term, &value, rest),
                Err(unknown) => Applied::Value(Err(unknown)),
            };
        }
        match &**function {
            Function::Table { table, .. } => {
                let value = self.select(table, &Function::key(args));
                Applied::Value(value.map_err(|fault| fault.at(term)))
            }
            Function::Closure(closure) => Applied::Enter(Box::new(self.enter_closure(closure, args))),
            Function::Named(fun) => self.call(term, *fun, args),
            Function::Partial(..) => Applied::Value(Err(Reason::Opaque.at(term))),
        }
    }

    /// Applies a function value to the end, inside an operator.
    pub(crate) fn apply_function(&mut self, term: Term, function: &Value, args: &[Value]) -> Evaluated {
        self.finish(term, |run| run.call_value(term, function, args))
    }

    pub(crate) fn apply_fun(&mut self, term: Term, fun: Fun, args: &[Value]) -> Evaluated {
        self.finish(term, |run| run.call(term, fun, args))
    }

    pub(super) fn finish(&mut self, term: Term, call: impl FnOnce(&mut Self) -> Applied) -> Evaluated {
        match call(self) {
            Applied::Value(value) => value,
            Applied::Enter(scope) => {
                let result = if self.evaluator.nesting >= MAX_NESTING {
                    Err(Reason::Budget(Budget::Depth).at(term))
                } else {
                    self.nested(scope.body)
                };
                self.leave(*scope, &result);
                result
            }
        }
    }

    /// Evaluates inside an operator, on the machine's own stack.
    pub(super) fn nested(&mut self, term: Term) -> Evaluated {
        if self.evaluator.nesting >= MAX_NESTING {
            return Err(Reason::Budget(Budget::Depth).at(term));
        }
        self.evaluator.nesting += 1;
        let value = self.value_of(term);
        self.evaluator.nesting -= 1;
        value
    }

    pub(crate) fn apply_closure(&mut self, closure: &Closure, args: &[Value]) -> Evaluated {
        let scope = self.enter_closure(closure, args);
        let result = self.nested(scope.body);
        self.leave(scope, &result);
        result
    }

    fn enter_closure(&mut self, closure: &Closure, args: &[Value]) -> Scope {
        let captured = closure.captured.iter().cloned();
        let params = closure.params.iter().copied().zip(args.iter().cloned());
        self.enter(closure.body, captured.chain(params))
    }

    pub(super) fn enter(&mut self, body: Term, bound: impl Iterator<Item = (Var, Value)>) -> Scope {
        let stamp = self.evaluator.memory.enter();
        let mut saved = Vec::new();
        for (var, value) in bound {
            let bindings = &mut self.evaluator.bindings;
            if bindings.len() <= var.index() {
                bindings.resize(var.index() + 1, None);
            }
            saved.push((var, bindings[var.index()].replace(value)));
        }
        Scope { body, stamp, saved, call: None }
    }

    /// Leaves an environment, remembering the call it was for.
    pub(super) fn leave(&mut self, mut scope: Scope, result: &Evaluated) {
        if let Some(call) = scope.call.take() {
            self.evaluator.open_calls -= 1;
            if self.evaluator.calls.len() >= MAX_CALLS {
                self.evaluator.calls.clear();
            }
            let final_result = !matches!(result, Err(unknown) if unknown.is_transient());
            if final_result {
                self.evaluator.calls.insert(call, result.clone());
            }
        }
        self.restore(scope);
    }

    pub(super) fn restore(&mut self, scope: Scope) {
        if scope.call.is_some() {
            self.evaluator.open_calls -= 1;
        }
        for (var, value) in scope.saved.into_iter().rev() {
            self.evaluator.bindings[var.index()] = value;
        }
        self.evaluator.memory.leave(scope.stamp);
    }

    /// The case of a `match` that fits.
    pub(super) fn select_case(&mut self, term: Term, patterns: Patterns, value: &Value) -> Applied {
        let patterns = self.store.pattern_list(patterns);
        let bodies = &self.store.args(term)[1..];
        for (pattern, body) in patterns.iter().zip(bodies) {
            let scope = match (pattern, value) {
                (Pattern::Var(var), _) => self.enter(*body, std::iter::once((*var, value.clone()))),
                (Pattern::Constructor(wanted, vars), Value::Datatype(constructor, fields))
                    if wanted == constructor =>
                {
                    self.enter(*body, vars.iter().copied().zip(fields.iter().cloned()))
                }
                _ => continue,
            };
            return Applied::Enter(Box::new(scope));
        }
        Applied::Value(Err(Reason::Opaque.at(term)))
    }

    /// The value of an open case: fixed by the model, or chosen, or unknown. `of` is the number of the argument
    /// whose sort tells instances of the operator apart.
    pub(crate) fn open_case(
        &mut self,
        head: Head,
        term: Term,
        of: usize,
        args: &[Value],
    ) -> Result<Value, Fault> {
        let result = self.store.sort_of(term);
        self.open_case_or(head, term, of, args, |run| run.sorts().default_value(result))
    }

    /// The same, with a rule of its own for the choice.
    pub(crate) fn open_case_or(
        &mut self,
        head: Head,
        term: Term,
        of: usize,
        args: &[Value],
        choose: impl FnOnce(&mut Self) -> Option<Value>,
    ) -> Result<Value, Fault> {
        let of =
            self.store.args(term).get(of).map_or(self.store.sort_of(term), |arg| self.store.sort_of(*arg));
        let open = Open { head, of };
        let model = self.model;
        let definite = args.iter().all(Value::is_definite);
        if definite && let Some(value) = model.open().point(open, args) {
            return Ok(value.clone());
        }
        match model.open().function(open) {
            Some(OpenFunction::Function(function)) => {
                let function = Value::Function(function.clone());
                return Ok(self.apply_function(term, &function, args)?);
            }
            Some(OpenFunction::Body(closure)) => return Ok(self.apply_closure(closure, args)?),
            None => {}
        }
        if !definite || self.evaluator.mode == Mode::Given {
            self.evaluator.missing = definite.then(|| (open, Box::from(args)));
            return Err(Reason::Unspecified.into());
        }
        if let Some(value) = self.evaluator.chosen.point(open, args) {
            return Ok(value.clone());
        }
        let value = choose(self).ok_or(Reason::Unspecified)?;
        self.evaluator.chosen.fix(open, args, value.clone());
        Ok(value)
    }

    /// Where solvers disagree, and outside the domain of a real function, a model may still say what is meant.
    #[cold]
    pub(super) fn fixed_by_model(&mut self, op: Op, term: Term, args: &[Value], fault: Fault) -> Evaluated {
        let may = match fault {
            Fault::Here(Reason::Disputed) => true,
            Fault::Here(Reason::Unspecified) => op.row().theory == Theory::Transcendentals,
            _ => false,
        };
        if may && args.iter().all(Value::is_definite) {
            let first = self.store.args(term).first().copied().unwrap_or(term);
            let open = Open { head: self.store.head(term), of: self.store.sort_of(first) };
            if let Some(value) = self.model.open().point(open, args) {
                return Ok(value.clone());
            }
            if self.evaluator.mode == Mode::Given {
                self.evaluator.missing = Some((open, Box::from(args)));
            }
        }
        Err(fault.at(term))
    }

    /// The value of a map at an index.
    pub(crate) fn select(&mut self, table: &Table, index: &Value) -> Result<Value, Fault> {
        if !table.entries().is_empty() {
            if !index.is_definite() {
                return Err(Reason::UndecidedEquality.into());
            }
            if let Some(value) = table.entry(index) {
                return Ok(value.clone());
            }
        }
        match table.otherwise() {
            Otherwise::Value(value) => Ok(value.clone()),
            Otherwise::Closure(closure) if closure.params.len() > 1 => {
                // A curried map: the value is the map of the remaining parameters.
                let mut captured = closure.captured.to_vec();
                captured.push((closure.params[0], index.clone()));
                let inner = Closure {
                    params: closure.params[1..].into(),
                    body: closure.body,
                    captured: captured.into(),
                };
                self.array_of(inner)
            }
            Otherwise::Closure(closure) => Ok(self.apply_closure(closure, std::slice::from_ref(index))?),
        }
    }

    /// A closure as an array: a table where its body is a list of cases or the index sort is small.
    pub(crate) fn array_of(&mut self, closure: Closure) -> Result<Value, Fault> {
        let index = self.store.var_sort(closure.params[0]);
        let domain = self.domain(index);
        let table = if closure.params.len() > 1 {
            Table::computed(Arc::new(closure), domain)
        } else if let Domain::Listed(all) = &domain {
            let mut entries = Vec::with_capacity(all.len());
            for index in all.iter() {
                let value = self.apply_closure(&closure, std::slice::from_ref(index))?;
                entries.push((index.clone(), value));
            }
            let default = entries.first().map(|(_, value)| value.clone()).ok_or(Reason::Opaque)?;
            Table::new(entries, default, domain).ok_or(Reason::UndecidedEquality)?
        } else {
            match self.cases(&closure)? {
                Some((entries, default)) => {
                    let entries = entries.into_iter().rev().map(|(mut args, value)| (args.remove(0), value));
                    Table::new(entries.collect(), default, domain).ok_or(Reason::UndecidedEquality)?
                }
                None => Table::computed(Arc::new(closure), domain),
            }
        };
        Ok(Value::Array(Arc::new(table)))
    }

    /// Is this the sort of arrays?
    pub(super) fn is_array_sort(&self, sort: Sort) -> bool {
        matches!(self.store.sort_kind(sort), SortKind::Array(..))
    }
}
