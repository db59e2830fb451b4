//! Functions as values, bounds on sorts, nullable values, and closures of relations.

use std::sync::Arc;

use smtlib::{Index, Sort, SortKind};

use super::Node;
use super::args::int;
use super::arrays::apply_index;
use crate::evaluate::{Computation, Fault};
use crate::integer::Integer;
use crate::unknown::Reason;
use crate::value::Value;

pub fn apply(run: &mut Computation, node: Node, args: &[Value]) -> Result<Value, Fault> {
    let (function, rest) = args.split_first().ok_or(Reason::Opaque)?;
    Ok(run.apply_function(node.term, function, rest)?)
}

/// `(_ fmf.card S n)`: the sort has at most n elements. Only a model that lists them tells.
pub fn cardinality_index(run: &Computation, node: Node) -> Result<Value, Reason> {
    let [Index::Symbol(name), bound] = run.store.index_list(node.indices) else {
        return Err(Reason::Opaque);
    };
    let bound = super::core::number(bound)?;
    let named = |sort: Sort| match run.store.sort_kind(sort) {
        SortKind::Declared(decl, _) => run.store.sort_decl(*decl).0 == *name,
        _ => false,
    };
    let universe = run.model.universes().find(|sort| named(*sort)).and_then(|sort| run.model.universe(sort));
    let universe = universe.filter(|universe| universe.is_closed()).ok_or(Reason::Unspecified)?;
    Ok(Value::Bool(Integer::new(universe.len() as i64) <= bound))
}

/// CVC4's form: the sort is that of the first argument.
pub fn cardinality_argument(run: &Computation, node: Node, args: &[Value]) -> Result<Value, Reason> {
    let sort = run.store.sort_of(*run.store.args(node.term).first().ok_or(Reason::Opaque)?);
    let size = run.sorts().cardinality(sort).ok_or(Reason::Unspecified)?;
    Ok(Value::Bool(Integer::from(size) <= *int(args.get(1).ok_or(Reason::Opaque)?)?))
}

/// Z3's `(_ transitive-closure f)`: a path of at least one step.
pub fn transitive_closure(run: &mut Computation, node: Node, args: &[Value]) -> Result<Value, Fault> {
    let Some(Index::Fun(fun)) = run.store.index_list(node.indices).first().cloned() else {
        return Err(Reason::Opaque.into());
    };
    let sort = run.store.sort_of(run.store.args(node.term)[0]);
    if run.apply_fun(node.term, fun, args)? == Value::TRUE {
        return Ok(Value::TRUE);
    }
    let all = run.sorts().enumerate(sort, 256).ok_or(Reason::InfiniteDomain)?;
    let mut reached = vec![args[0].clone()];
    let mut next = 0;
    while next < reached.len() {
        let from = reached[next].clone();
        next += 1;
        for to in &all {
            let step = run.apply_fun(node.term, fun, &[from.clone(), to.clone()])? == Value::TRUE;
            if step && *to == args[1] {
                return Ok(Value::TRUE);
            }
            if step && !reached.contains(to) {
                reached.push(to.clone());
            }
        }
    }
    Ok(Value::FALSE)
}

pub fn nullable(args: &[Value]) -> Result<&Option<Arc<Value>>, Reason> {
    match args.first() {
        Some(Value::Nullable(inner)) => Ok(inner),
        _ => Err(Reason::Opaque),
    }
}

/// `nullable.val`: open for null.
pub fn nullable_value(run: &mut Computation, node: Node, args: &[Value]) -> Result<Value, Fault> {
    match nullable(args)? {
        Some(inner) => Ok((**inner).clone()),
        None => run.open_case(run.store.head(node.term), node.term, 0, args),
    }
}

fn unwrapped(args: &[Value]) -> Result<Option<Vec<Value>>, Reason> {
    let mut values = Vec::with_capacity(args.len());
    for arg in args {
        match arg {
            Value::Nullable(Some(inner)) => values.push((**inner).clone()),
            Value::Nullable(None) => return Ok(None),
            _ => return Err(Reason::Opaque),
        }
    }
    Ok(Some(values))
}

/// `(nullable.lift f x ...)`: null if an argument is.
pub fn lift(run: &mut Computation, node: Node, args: &[Value]) -> Result<Value, Fault> {
    let (function, rest) = args.split_first().ok_or(Reason::Opaque)?;
    Ok(match unwrapped(rest)? {
        Some(values) => Value::Nullable(Some(Arc::new(run.apply_function(node.term, function, &values)?))),
        None => Value::Nullable(None),
    })
}

/// The same, with the operator as an index.
pub fn lift_index(run: &mut Computation, node: Node, args: &[Value]) -> Result<Value, Fault> {
    let index = run.store.index_list(node.indices).first().cloned().ok_or(Reason::Opaque)?;
    Ok(match unwrapped(args)? {
        Some(values) => Value::Nullable(Some(Arc::new(apply_index(run, node.term, &index, &values)?))),
        None => Value::Nullable(None),
    })
}
