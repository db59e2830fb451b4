//! Arrays and datatypes.

use eval::value::{Function, Table};
use eval::{Interpretation, Value};
use smtlib::{Fun, Head, Op};

use super::{Exact, Image, Node, Part};
use crate::diver::constraint::Constraint;

/// Functions and arrays with more entries keep their arguments.
const ENTRIES: usize = 64;

/// An argument of a function that the model gives as a table, or an index.
fn lookup<'v>(
    table: &'v Table,
    set: &Constraint,
    own: impl Fn(&'v Value) -> Option<Option<&'v Value>>,
) -> Option<Image> {
    if table.entries().len() > ENTRIES {
        return None;
    }
    let elsewhere = set.contains(table.default_value()?)?;
    // The arguments whose result is not what it is everywhere else.
    let mut exceptions: Vec<Value> = Vec::new();
    for (key, result) in table.entries() {
        let Some(key) = own(key)? else { continue };
        if !key.is_definite() {
            return None;
        }
        if set.contains(result)? != elsewhere {
            exceptions.push(key.clone());
        }
    }
    let exceptions = match exceptions.as_slice() {
        [] if elsewhere => return Some(Exact(Constraint::Any)),
        [] => return None,
        [only] => Constraint::exactly(only.clone()),
        _ => Constraint::OneOf(exceptions.into()),
    };
    Some(Exact(if elsewhere { exceptions.complement() } else { exceptions }))
}

/// An argument of a declared function.
pub(super) fn call(node: &Node<'_>, fun: Fun, i: usize, set: &Constraint) -> Option<Image> {
    let Interpretation::Value(Value::Function(function)) = node.model.get(fun)? else { return None };
    let Function::Table { arity, table } = &**function else { return None };
    if *arity as usize != node.len() {
        return None;
    }
    lookup(table, set, |key| match key {
        Value::Tuple(parts) if *arity > 1 => {
            for (j, part) in parts.iter().enumerate() {
                if j != i && !part.equal(node.value(j)?)? {
                    return Some(None);
                }
            }
            Some(Some(parts.get(i)?))
        }
        key => Some((*arity == 1).then_some(key)),
    })
}

pub(super) fn array(node: &Node<'_>, op: Op, i: usize, set: &Constraint) -> Option<Image> {
    match (op, i) {
        (Op::Select, 0) => {
            let index = node.value(1)?;
            // An index whose identity is uncertain cannot be looked up.
            index.is_definite().then(|| Exact(Constraint::At(index.clone(), Box::new(set.clone()))))
        }
        (Op::Select, 1) => match node.value(0)? {
            Value::Array(table) => lookup(table, set, |key| Some(Some(key))),
            _ => None,
        },
        (Op::Store, _) => {
            let Constraint::At(seen, element) = set else { return None };
            let here = node.value(1)?.equal(seen)?;
            match (i, here) {
                (0, true) | (2, false) => Some(Exact(Constraint::Any)),
                (0, false) => Some(Exact(set.clone())),
                (2, true) => Some(Exact((**element).clone())),
                _ => None,
            }
        }
        (Op::ConstArray, 0) => match set {
            Constraint::At(_, element) => Some(Exact((**element).clone())),
            _ => None,
        },
        _ => None,
    }
}

pub(super) fn datatype(node: &Node<'_>, i: usize, set: &Constraint) -> Option<Image> {
    match (node.head, set) {
        (Head::Tester(_, constructor), Constraint::Bool(truth)) => {
            let made = Constraint::Made(constructor);
            Some(Exact(if *truth { made } else { made.complement() }))
        }
        (Head::Selector(_, constructor, field), _) => match node.value(i)? {
            // On other constructors the selector is open: any other value could do, nobody knows.
            Value::Datatype(number, _) if *number == constructor => {
                Some(Part(Constraint::Field(constructor, field, Box::new(set.clone()))))
            }
            _ => None,
        },
        (Head::Constructor(_, constructor), Constraint::Made(made)) if constructor == *made => {
            Some(Exact(Constraint::Any))
        }
        (Head::Constructor(_, constructor), Constraint::Field(made, field, inner))
            if constructor == *made =>
        {
            Some(Exact(if i == usize::from(*field) { (**inner).clone() } else { Constraint::Any }))
        }
        (Head::Constructor(..), Constraint::Only(Value::Datatype(_, fields))) => {
            Some(Exact(Constraint::exactly(fields.get(i)?.clone())))
        }
        _ => None,
    }
}
