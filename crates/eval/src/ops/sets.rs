//! Finite sets.

use super::Node;
use super::args::{int, set};
use super::fold::fold_any_order;
use crate::evaluate::{Computation, Fault};
use crate::integer::Integer;
use crate::unknown::{Budget, Reason};
use crate::value::Value;

/// Sets with more elements are refused.
const MAX_SIZE: u64 = 1 << 16;

pub fn made(elements: Vec<Value>) -> Result<Value, Reason> {
    Value::set(elements).ok_or(Reason::UndecidedEquality)
}

pub fn singleton(args: &[Value]) -> Result<Value, Reason> {
    made(args.to_vec())
}

pub fn union(args: &[Value]) -> Result<Value, Reason> {
    let mut elements = Vec::new();
    for arg in args {
        elements.extend_from_slice(set(arg)?);
    }
    made(elements)
}

/// Keeps the elements of the first set that the others all have (or all lack).
pub fn filter(args: &[Value], present: bool) -> Result<Value, Reason> {
    let others = args[1..].iter().map(set).collect::<Result<Vec<&[Value]>, Reason>>()?;
    let kept = set(&args[0])?
        .iter()
        .filter(|element| others.iter().all(|other| other.binary_search(element).is_ok() == present));
    Ok(Value::Set(kept.cloned().collect()))
}

/// `set.universe`, and so `set.complement`: for cvc5 the universe is some set around all sets of the script, not all
/// elements of the sort; over a finite sort it may even answer that it is empty.
pub fn universe() -> Result<Value, Reason> {
    Err(Reason::Disputed)
}

pub fn subset(args: &[Value]) -> Result<Value, Reason> {
    let (inner, outer) = (set(&args[0])?, set(&args[1])?);
    Ok(Value::Bool(inner.iter().all(|element| outer.binary_search(element).is_ok())))
}

pub fn member(args: &[Value]) -> Result<Value, Reason> {
    let elements = set(&args[1])?;
    if !elements.is_empty() && !args[0].is_definite() {
        return Err(Reason::UndecidedEquality);
    }
    Ok(Value::Bool(elements.binary_search(&args[0]).is_ok()))
}

/// `set.insert`: elements, then the set.
pub fn insert(args: &[Value]) -> Result<Value, Reason> {
    let (last, first) = args.split_last().ok_or(Reason::Opaque)?;
    let mut elements = set(last)?.to_vec();
    elements.extend_from_slice(first);
    made(elements)
}

pub fn size(args: &[Value]) -> Result<usize, Reason> {
    Ok(set(&args[0])?.len())
}

/// `set.choose`: the element of a singleton; otherwise a choice of the solver's.
pub fn choose(run: &mut Computation, node: Node, args: &[Value]) -> Result<Value, Fault> {
    match set(&args[0])? {
        [only] => Ok(only.clone()),
        elements => {
            let sort = run.store.sort_of(node.term);
            let first = elements.first().cloned();
            run.open_case_or(run.store.head(node.term), node.term, 0, args, |run| {
                first.or_else(|| run.sorts().default_value(sort))
            })
        }
    }
}

/// The elements that satisfy a predicate.
pub fn filtered(run: &mut Computation, node: Node, args: &[Value]) -> Result<Value, Fault> {
    let mut kept = Vec::new();
    for element in set(&args[1])? {
        if run.apply_function(node.term, &args[0], std::slice::from_ref(element))? == Value::TRUE {
            kept.push(element.clone());
        }
    }
    Ok(Value::Set(kept.into()))
}

pub fn mapped(run: &mut Computation, node: Node, args: &[Value]) -> Result<Value, Fault> {
    let mut images = Vec::new();
    for element in set(&args[1])? {
        images.push(run.apply_function(node.term, &args[0], std::slice::from_ref(element))?);
    }
    Ok(made(images)?)
}

/// `set.all` and `set.some`: `wanted` is the value of the predicate that decides.
pub fn quantified(run: &mut Computation, node: Node, args: &[Value], wanted: bool) -> Result<Value, Fault> {
    let elements = set(&args[1])?.iter();
    decided(run, node, &args[0], elements, wanted)
}

/// Does some element give the predicate the wanted value?
pub fn decided<'a>(
    run: &mut Computation,
    node: Node,
    predicate: &Value,
    elements: impl Iterator<Item = &'a Value>,
    wanted: bool,
) -> Result<Value, Fault> {
    let mut unknown = None;
    for element in elements {
        match run.apply_function(node.term, predicate, std::slice::from_ref(element)) {
            Ok(Value::Bool(value)) if value == wanted => return Ok(Value::Bool(wanted)),
            Ok(_) => {}
            Err(reason) => unknown = Some(reason),
        }
    }
    match unknown {
        Some(unknown) => Err(unknown.into()),
        None => Ok(Value::Bool(!wanted)),
    }
}

pub fn fold(run: &mut Computation, node: Node, args: &[Value]) -> Result<Value, Fault> {
    fold_any_order(run, node, &args[0], &args[1], set(&args[2])?)
}

/// Z3's set of the integers from one to another, inclusive.
pub fn range(args: &[Value]) -> Result<Value, Reason> {
    let (low, high) = (int(&args[0])?, int(&args[1])?);
    if low > high {
        return made(Vec::new());
    }
    let length = (high - low).to_u64().filter(|length| *length < MAX_SIZE);
    let length = length.ok_or(Reason::Budget(Budget::Length))?;
    made((0..=length).map(|offset| Value::Int(low + &Integer::from(offset))).collect())
}
