//! Binders: quantifiers by enumeration or candidate values, lambda, choice, comprehension.

use std::sync::Arc;

use rustc_hash::FxHashSet;
use smtlib::{Binder, Head, Op, Sort, SortKind, Term, Var, Vars};

use super::{Computation, Evaluated, Fault};
use crate::algebraic::Real;
use crate::bv::BitVector;
use crate::integer::Integer;
use crate::model::Interpretation;
use crate::rational::Rational;
use crate::sorts::Rows;
use crate::unknown::{Budget, Reason, Unknown};
use crate::value::{Closure, Function, Value};

/// Entries of a function with their arguments, first match first, and the default.
pub(super) type Cases = (Vec<(Vec<Value>, Value)>, Value);

/// What looking for candidate values costs, in visits of nodes: it walks the body and the model. Inner quantifiers do
/// so for every instance of the outer ones, so the budget has to know.
const CANDIDATES_COST: u64 = 1000;

/// What one list of values costs beside the visits of the body's nodes.
pub(super) const INSTANCE_COST: u64 = 8;

impl Computation<'_> {
    pub(super) fn bind(&mut self, term: Term, binder: Binder, vars: Vars) -> Evaluated {
        let vars = self.store.var_list(vars);
        let args = self.store.args(term);
        match binder {
            Binder::Forall => self.quantifier(term, vars, args[0], false),
            Binder::Exists => self.quantifier(term, vars, args[0], true),
            Binder::Lambda => self.lambda(term, vars, args[0]),
            Binder::Choice => self.choice(term, vars, args[0]),
            Binder::Comprehension => self.comprehension(term, vars, args[0], args[1]),
        }
    }

    /// `wanted` is the value of the body that decides: false for `forall`, true for `exists`.
    fn quantifier(&mut self, term: Term, vars: &[Var], body: Term, wanted: bool) -> Evaluated {
        let vars = &*self.used(vars, body);
        if vars.is_empty() {
            return self.nested(body);
        }
        let limits = self.evaluator.limits;
        let sorts: Vec<Sort> = vars.iter().map(|var| self.store.var_sort(*var)).collect();
        let all = self.rows(term, &sorts)?;
        let complete = all.is_some();
        // A few values that decide are tried at once, unless inner quantifiers are evaluated for each: then, and where
        // there are many, a lucky candidate may save that.
        if !complete
            && !self.store.has_binder(body)
            && let Some(value) = self.confined(term, vars, body, wanted, limits.candidates)?
        {
            return Ok(Value::Bool(value));
        }
        let some = if complete {
            None
        } else {
            self.charge(term, CANDIDATES_COST)?;
            Some(self.candidate_rows(&sorts, body))
        };
        let mut unknown: Option<Unknown> = None;
        for row in all.into_iter().flatten().chain(some.into_iter().flatten()) {
            self.charge(term, INSTANCE_COST)?;
            match self.instance(vars, body, row) {
                Ok(Value::Bool(value)) if value == wanted => return Ok(Value::Bool(wanted)),
                Ok(_) => {}
                Err(reason) if reason.is_transient() => return Err(reason),
                Err(reason) => {
                    unknown.get_or_insert(reason);
                }
            }
        }
        match unknown {
            Some(unknown) if complete => Err(unknown),
            _ if complete => Ok(Value::Bool(!wanted)),
            _ => match self.confined(term, vars, body, wanted, limits.instances)? {
                Some(value) => Ok(Value::Bool(value)),
                None => Err(Reason::InfiniteQuantifier.at(term)),
            },
        }
    }

    /// Those of the variables that the body speaks of. No sort is empty, so the others bind nothing.
    fn used(&mut self, vars: &[Var], body: Term) -> Vec<Var> {
        if !self.store.mentions_vars(body) {
            return Vec::new();
        }
        let free = self.free_vars(body);
        vars.iter().filter(|var| free.contains(var)).copied().collect()
    }

    /// All lists of values of these sorts, if there are not too many. What there is before the first of them is charged
    /// before it is made: inner quantifiers want it for every instance of the outer ones.
    fn rows(&mut self, term: Term, sorts: &[Sort]) -> Result<Option<Rows>, Unknown> {
        let limit = self.evaluator.limits.instances;
        let Some(listed) = self.sorts().listed(sorts, limit) else { return Ok(None) };
        self.charge(term, listed)?;
        let lists: Option<Vec<Arc<[Value]>>> = sorts.iter().map(|sort| self.elements(*sort)).collect();
        Ok(lists.and_then(|lists| Rows::new(lists, limit)))
    }

    /// All values of a sort, listed once.
    fn elements(&mut self, sort: Sort) -> Option<Arc<[Value]>> {
        if let Some(known) = self.evaluator.elements.get(&sort) {
            return Some(Arc::clone(known));
        }
        let elements: Arc<[Value]> = self.sorts().enumerate(sort, self.evaluator.limits.instances)?.into();
        self.evaluator.elements.insert(sort, Arc::clone(&elements));
        Some(elements)
    }

    /// Takes work that is no visit of a node out of the budget.
    pub(super) fn charge(&mut self, term: Term, steps: u64) -> Result<(), Unknown> {
        let left = &mut self.evaluator.steps_left;
        *left = left.saturating_sub(steps);
        if *left == 0 { Err(Reason::Budget(Budget::Steps).at(term)) } else { Ok(()) }
    }

    /// The body's value for one list of values of the bound variables.
    fn instance(&mut self, vars: &[Var], body: Term, row: Vec<Value>) -> Evaluated {
        let scope = self.enter(body, vars.iter().copied().zip(row));
        let value = self.nested(body);
        self.restore(scope);
        value
    }

    fn lambda(&mut self, term: Term, vars: &[Var], body: Term) -> Evaluated {
        let captured = self.captured(term);
        let closure = Closure { params: vars.into(), body, captured };
        if self.is_array_sort(self.store.sort_of(term)) {
            return self.array_of(closure).map_err(|fault| fault.at(term));
        }
        Ok(Value::Function(Arc::new(Function::Closure(closure))))
    }

    /// The present values of a term's free variables.
    fn captured(&mut self, term: Term) -> Box<[(Var, Value)]> {
        self.free_vars(term);
        let bindings = &self.evaluator.bindings;
        self.evaluator.free_vars[&term]
            .iter()
            .filter_map(|var| Some((*var, bindings.get(var.index())?.clone()?)))
            .collect()
    }

    /// A term's free variables, looked for once.
    pub(super) fn free_vars(&mut self, term: Term) -> &[Var] {
        let store = self.store;
        self.evaluator.free_vars.entry(term).or_insert_with(|| store.free_vars(term).into())
    }

    /// Only a choice between no alternatives is known: what a solver picks among several is its own business.
    fn choice(&mut self, term: Term, vars: &[Var], body: Term) -> Evaluated {
        let sorts: Vec<Sort> = vars.iter().map(|var| self.store.var_sort(*var)).collect();
        let Some(rows) = self.rows(term, &sorts)? else {
            return Err(Reason::InfiniteDomain.at(term));
        };
        let mut found = None;
        for row in rows {
            self.charge(term, INSTANCE_COST)?;
            let value = row.first().cloned();
            if self.instance(vars, body, row)? == Value::TRUE {
                if found.is_some() {
                    return Err(Reason::Unspecified.at(term));
                }
                found = value;
            }
        }
        found.ok_or(Reason::Unspecified.at(term))
    }

    fn comprehension(&mut self, term: Term, vars: &[Var], condition: Term, element: Term) -> Evaluated {
        let sorts: Vec<Sort> = vars.iter().map(|var| self.store.var_sort(*var)).collect();
        let Some(rows) = self.rows(term, &sorts)? else {
            return Err(Reason::InfiniteDomain.at(term));
        };
        let mut elements = Vec::new();
        for row in rows {
            self.charge(term, INSTANCE_COST)?;
            let scope = self.enter(condition, vars.iter().copied().zip(row));
            let member = match self.nested(condition) {
                Ok(Value::TRUE) => Some(self.nested(element)),
                Ok(_) => None,
                Err(unknown) => Some(Err(unknown)),
            };
            self.restore(scope);
            elements.extend(member.transpose()?);
        }
        Value::set(elements).ok_or(Reason::UndecidedEquality.at(term))
    }

    /// Rows of values worth trying for bound variables of these sorts. The rows come in order of the sum of their places:
    /// likely values come first in all columns. Each is made when it is asked for, since one of the first mostly decides.
    fn candidate_rows(&mut self, sorts: &[Sort], body: Term) -> impl Iterator<Item = Vec<Value>> + use<> {
        let limit = self.evaluator.limits.candidates;
        let mut each = 1;
        while (each + 1usize).checked_pow(sorts.len() as u32).is_some_and(|rows| rows <= limit) {
            each += 1;
        }
        let mut lists: Vec<Arc<[Value]>> = Vec::new();
        for (number, sort) in sorts.iter().enumerate() {
            let same = sorts[..number].iter().position(|other| other == sort);
            lists.push(match same {
                Some(same) => Arc::clone(&lists[same]),
                None => {
                    let mut values = self.candidates(*sort, body);
                    values.truncate(each);
                    values.into()
                }
            });
        }
        // A row as one number: its places are the digits, the last list's the lowest.
        let count = lists.iter().map(|list| list.len()).product::<usize>();
        let mut rows: Vec<(usize, usize)> = (0..count)
            .map(|row| {
                let mut left = row;
                let mut sum = 0;
                for list in lists.iter().rev() {
                    sum += left % list.len();
                    left /= list.len();
                }
                (sum, row)
            })
            .collect();
        rows.sort_unstable();
        rows.into_iter().map(move |(_, row)| {
            let mut left = row;
            let mut values: Vec<Value> = Vec::with_capacity(lists.len());
            for list in lists.iter().rev() {
                values.push(list[left % list.len()].clone());
                left /= list.len();
            }
            values.reverse();
            values
        })
    }

    /// Values of a sort worth trying: ground sub-terms of the body, constants of the model, their neighbours,
    /// and the ends of the sort.
    fn candidates(&mut self, sort: Sort, body: Term) -> Vec<Value> {
        let mut seen = FxHashSet::default();
        let mut values = Vec::new();
        let mut add = |value: Value| {
            if seen.insert(value.clone()) {
                values.push(value);
            }
        };
        if let Some(all) = self.sorts().enumerate(sort, 256) {
            return all;
        }
        let mut sources: Vec<Value> = Vec::new();
        for term in self.store.subterms(&[body]) {
            if self.store.sort_of(term) == sort
                && !self.store.mentions_vars(term)
                && let Ok(value) = self.nested(term)
            {
                sources.push(value);
            }
        }
        for (fun, interpretation) in self.model.interpretations(self.store) {
            if let Interpretation::Value(value) = interpretation
                && self.store.fun(fun).params.is_empty()
                && self.store.fun(fun).result == sort
            {
                sources.push(value.clone());
            }
        }
        sources.extend(self.sorts().default_value(sort));
        sources.iter().cloned().for_each(&mut add);
        sources.extend(ends(self.store.sort_kind(sort)));
        for source in &sources {
            add(source.clone());
            neighbours(source).into_iter().for_each(&mut add);
        }
        values
    }

    /// A function body that is a list of cases `(ite (= x c) v ...)`: the way solvers print tables.
    pub(super) fn cases(&mut self, closure: &Closure) -> Result<Option<Cases>, Fault> {
        if !closure.captured.is_empty() && self.store.mentions_vars(closure.body) {
            // A captured variable may occur in a case; evaluating cases needs the environment.
            let scope = self.enter(closure.body, closure.captured.iter().cloned());
            let cases = self.cases_in(closure);
            self.restore(scope);
            return cases;
        }
        self.cases_in(closure)
    }

    fn cases_in(&mut self, closure: &Closure) -> Result<Option<Cases>, Fault> {
        let mut entries = Vec::new();
        let mut body = closure.body;
        loop {
            let args = self.store.args(body);
            if self.store.op_of(body) != Some(Op::Ite) {
                break;
            }
            let Some(point) = self.case_point(closure, args[0])? else { return Ok(None) };
            if self.depends(closure, args[1]) {
                return Ok(None);
            }
            entries.push((point, self.nested(args[1])?));
            body = args[2];
        }
        if self.depends(closure, body) {
            return Ok(None);
        }
        Ok(Some((entries, self.nested(body)?)))
    }

    /// The arguments that satisfy a condition `(= x c)`, or a conjunction of them for all parameters.
    fn case_point(&mut self, closure: &Closure, condition: Term) -> Result<Option<Vec<Value>>, Fault> {
        let store = self.store;
        let equations: Vec<Term> = match store.op_of(condition) {
            Some(Op::And) => store.args(condition).to_vec(),
            _ => vec![condition],
        };
        let mut point: Vec<Option<Value>> = vec![None; closure.params.len()];
        for equation in equations {
            let (Some(Op::Equal), [left, right]) = (store.op_of(equation), store.args(equation)) else {
                return Ok(None);
            };
            let place = |term: Term| match store.head(term) {
                Head::Var(var) => closure.params.iter().position(|param| *param == var),
                _ => None,
            };
            let (place, constant) = match (place(*left), place(*right)) {
                (Some(place), None) => (place, *right),
                (None, Some(place)) => (place, *left),
                _ => return Ok(None),
            };
            if self.depends(closure, constant) || point[place].is_some() {
                return Ok(None);
            }
            let value = self.nested(constant)?;
            if !value.is_definite() {
                return Ok(None);
            }
            point[place] = Some(value);
        }
        Ok(point.into_iter().collect())
    }

    /// Does a parameter of the closure occur free in the term?
    fn depends(&self, closure: &Closure, term: Term) -> bool {
        self.store.mentions_vars(term)
            && self.store.free_vars(term).iter().any(|var| closure.params.contains(var))
    }
}

/// The values at the ends of a sort.
fn ends(kind: &SortKind) -> Vec<Value> {
    match kind {
        SortKind::Int => [1, -1, 2].into_iter().map(Value::int).collect(),
        SortKind::Real => [1, -1, 2].into_iter().map(Value::real).collect(),
        SortKind::BitVec(width) => vec![
            Value::BitVector(BitVector::one(*width)),
            Value::BitVector(BitVector::all_ones(*width)),
            Value::BitVector(BitVector::min_signed(*width)),
            Value::BitVector(BitVector::min_signed(*width).not()),
        ],
        _ => Vec::new(),
    }
}

fn neighbours(value: &Value) -> Vec<Value> {
    match value {
        Value::Int(n) => vec![Value::Int(n + &Integer::ONE), Value::Int(n - &Integer::ONE)],
        Value::Real(Real::Rational(n)) => {
            let one = Rational::ONE;
            vec![(n + &one).into(), (n - &one).into(), n.midpoint(&(n + &one)).into()]
        }
        Value::BitVector(bits) => {
            let one = BitVector::one(bits.width());
            vec![Value::BitVector(bits.add(&one)), Value::BitVector(bits.sub(&one))]
        }
        _ => Vec::new(),
    }
}
