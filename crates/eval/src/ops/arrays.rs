//! Arrays, and Z3's sets as arrays to Bool.

use std::sync::Arc;

use smtlib::{Fun, Index, Op, SortKind, Term};

use super::Node;
use super::args::{array, bool, bv, int};
use crate::bv::BitVector;
use crate::evaluate::{Computation, Fault};
use crate::integer::Integer;
use crate::model::Interpretation;
use crate::unknown::{Budget, Reason};
use crate::value::{Closure, Domain, Function, Table, Value};

/// Ranges of `eqrange` up to this length are walked.
const MAX_RANGE: u64 = 4096;

pub fn select(run: &mut Computation, args: &[Value]) -> Result<Value, Fault> {
    run.select(array(&args[0])?, &args[1])
}

pub fn store(args: &[Value]) -> Result<Value, Reason> {
    let table = array(&args[0])?;
    if !args[1].is_definite() {
        return Err(Reason::UndecidedEquality);
    }
    Ok(Value::Array(Arc::new(table.with(args[1].clone(), args[2].clone()))))
}

pub fn constant(run: &mut Computation, node: Node, args: &[Value]) -> Result<Value, Reason> {
    let SortKind::Array(index, _) = run.store.sort_kind(run.store.sort_of(node.term)) else {
        return Err(Reason::Opaque);
    };
    let domain = run.domain(*index);
    Ok(Value::Array(Arc::new(Table::constant(args[0].clone(), domain))))
}

/// `eqrange`: the arrays agree on the indices from one to another, inclusive.
pub fn eqrange(run: &mut Computation, node: Node, args: &[Value]) -> Result<Value, Fault> {
    let (a, b) = (array(&args[0])?, array(&args[1])?);
    let SortKind::Array(_, element) = run.store.sort_kind(run.store.sort_of(run.store.args(node.term)[0]))
    else {
        return Err(Reason::Opaque.into());
    };
    let (element, indices) = (*element, range(&args[2], &args[3])?);
    for index in indices {
        let (left, right) = (run.select(a, &index)?, run.select(b, &index)?);
        if !run.equal(node.term, element, &left, &right)? {
            return Ok(Value::FALSE);
        }
    }
    Ok(Value::TRUE)
}

fn range(low: &Value, high: &Value) -> Result<Vec<Value>, Reason> {
    let (first, last) = match (low, high) {
        (Value::BitVector(low), Value::BitVector(high)) => (low.to_unsigned(), high.to_unsigned()),
        _ => (int(low)?.clone(), int(high)?.clone()),
    };
    if first > last {
        return Ok(Vec::new());
    }
    let length = (&last - &first).to_u64().filter(|length| *length < MAX_RANGE);
    let length = length.ok_or(Reason::Budget(Budget::Length))?;
    (0..=length)
        .map(|offset| {
            let index = &first + &Integer::from(offset);
            Ok(match low {
                Value::BitVector(_) => Value::BitVector(BitVector::from_integer(bv(low)?.width(), &index)),
                _ => Value::Int(index),
            })
        })
        .collect()
}

/// Z3's `default`. Over a finite index sort the default is no matter of the map alone.
pub fn default(args: &[Value]) -> Result<Value, Reason> {
    let table = array(&args[0])?;
    match table.domain() {
        Domain::Unbounded => table.default_value().cloned().ok_or(Reason::UndecidedEquality),
        _ => Err(Reason::Disputed),
    }
}

/// Applies a function to the values of maps at every index.
pub fn pointwise(
    run: &mut Computation,
    args: &[Value],
    mut apply: impl FnMut(&mut Computation, &[Value]) -> Result<Value, Fault>,
) -> Result<Value, Fault> {
    let tables = args.iter().map(array).collect::<Result<Vec<&Table>, Reason>>()?;
    let defaults = tables.iter().map(|table| table.default_value().cloned()).collect::<Option<Vec<_>>>();
    let defaults = defaults.ok_or(Reason::UndecidedEquality)?;
    let default = apply(run, &defaults)?;
    let mut keys: Vec<&Value> = tables.iter().flat_map(|table| table.entries()).map(|(key, _)| key).collect();
    keys.sort_unstable();
    keys.dedup();
    let mut entries = Vec::with_capacity(keys.len());
    for key in keys {
        let values = tables.iter().filter_map(|table| table.get(key).cloned()).collect::<Vec<_>>();
        entries.push((key.clone(), apply(run, &values)?));
    }
    let domain = tables.first().ok_or(Reason::Opaque)?.domain().clone();
    let table = Table::new(entries, default, domain).ok_or(Reason::UndecidedEquality)?;
    Ok(Value::Array(Arc::new(table)))
}

/// Z3's `(_ map f)`.
pub fn map(run: &mut Computation, node: Node, args: &[Value]) -> Result<Value, Fault> {
    let index = run.store.index_list(node.indices).first().cloned().ok_or(Reason::Opaque)?;
    pointwise(run, args, |run, values| apply_index(run, node.term, &index, values))
}

/// Applies an operator or function that stands as an index.
pub fn apply_index(
    run: &mut Computation,
    term: Term,
    index: &Index,
    values: &[Value],
) -> Result<Value, Fault> {
    match index {
        Index::Fun(fun) => Ok(run.apply_fun(term, *fun, values)?),
        Index::Op(op) => scalar(run, *op, term, values),
        _ => Err(Reason::Opaque.into()),
    }
}

/// An operator on values that do not stand as arguments in the term.
fn scalar(run: &mut Computation, op: Op, term: Term, values: &[Value]) -> Result<Value, Fault> {
    let all = |values: &[Value], wanted: bool| -> Result<bool, Reason> {
        values.iter().try_fold(true, |all, value| Ok(all & (*bool(value)? == wanted)))
    };
    Ok(match op {
        Op::And => Value::Bool(all(values, true)?),
        Op::Or => Value::Bool(!all(values, false)?),
        Op::Implies => {
            let (last, first) = values.split_last().ok_or(Reason::Opaque)?;
            Value::Bool(!all(first, true)? || *bool(last)?)
        }
        Op::Ite => values[if *bool(&values[0])? { 1 } else { 2 }].clone(),
        Op::Equal => {
            let mut equal = true;
            for pair in values.windows(2) {
                equal &= pair[0].equal(&pair[1]).ok_or(Reason::UndecidedEquality)?;
            }
            Value::Bool(equal)
        }
        // Their arguments' sorts are not those of the term.
        Op::Distinct => return Err(Reason::Unsupported(op).into()),
        _ if op.row().partial || op.row().special || op.row().qualified.is_some() => {
            return Err(Reason::Unsupported(op).into());
        }
        _ => super::apply(run, Node { op, indices: smtlib::Indices::NONE, term }, values)?,
    })
}

/// Z3's `(_ as-array f)`.
pub fn of_function(run: &mut Computation, node: Node) -> Result<Value, Fault> {
    let Some(Index::Fun(fun)) = run.store.index_list(node.indices).first() else {
        return Err(Reason::Opaque.into());
    };
    array_of_fun(run, *fun)
}

fn array_of_fun(run: &mut Computation, fun: Fun) -> Result<Value, Fault> {
    let model = run.model;
    if let Some(definition) = &run.store.fun(fun).definition {
        return run.array_of(Closure::closed(&definition.vars, definition.body));
    }
    match model.get(fun) {
        Some(Interpretation::Body(closure)) => run.array_of((**closure).clone()),
        Some(Interpretation::Value(Value::Function(function))) => match &**function {
            Function::Closure(closure) => run.array_of(closure.clone()),
            Function::Named(other) => array_of_fun(run, *other),
            Function::Table { arity: 1, table } => {
                let domain = run.domain(run.store.fun(fun).params[0]);
                let default = table.default_value().cloned().ok_or(Reason::UndecidedEquality)?;
                let table = Table::new(table.entries().to_vec(), default, domain);
                Ok(Value::Array(Arc::new(table.ok_or(Reason::UndecidedEquality)?)))
            }
            _ => Err(Reason::UndecidedEquality.into()),
        },
        _ => Err(Reason::Uninterpreted(fun).into()),
    }
}

/// Z3's index at which two arrays differ. Always open: asked about the term itself, Z3 does not even insist on an
/// index that is the only difference.
pub fn difference(run: &mut Computation, node: Node, args: &[Value]) -> Result<Value, Fault> {
    let (a, b) = (array(&args[0])?, array(&args[1])?);
    let mut keys: Vec<&Value> = a.entries().iter().chain(b.entries()).map(|(key, _)| key).collect();
    keys.sort_unstable();
    keys.dedup();
    keys.retain(|key| a.get(key) != b.get(key));
    let choice = keys.first().map(|key| (*key).clone());
    run.open_case_or(run.store.head(node.term), node.term, 0, args, |_| choice)
}

pub fn set_combine(
    run: &mut Computation,
    args: &[Value],
    combine: impl Fn(bool, bool) -> bool,
) -> Result<Value, Fault> {
    pointwise(run, args, |_, values| {
        let mut result = *bool(&values[0])?;
        for value in &values[1..] {
            result = combine(result, *bool(value)?);
        }
        Ok(Value::Bool(result))
    })
}

/// Is one set of an array part of another?
pub fn set_subset(run: &mut Computation, args: &[Value]) -> Result<Value, Fault> {
    let outside = set_combine(run, args, |a, b| a && !b)?;
    let table = array(&outside)?;
    Ok(Value::Bool(table.entries().is_empty() && table.default_value() == Some(&Value::FALSE)))
}

/// The number of elements of a finite set of an array.
pub fn set_size(args: &[Value]) -> Result<Integer, Reason> {
    let table = array(&args[0])?;
    let listed = table.entries().iter().filter(|(_, value)| *value == Value::TRUE).count() as i64;
    match (table.default_value(), table.domain()) {
        (Some(Value::Bool(false)), _) => Ok(Integer::new(listed)),
        (Some(Value::Bool(true)), Domain::Listed(all)) => {
            Ok(Integer::new((all.len() - table.entries().len()) as i64))
        }
        _ => Err(Reason::Disputed),
    }
}
