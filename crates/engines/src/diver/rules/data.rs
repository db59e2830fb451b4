//! Arrays and datatypes.

use eval::Value;
use smtlib::{Head, Op};

use super::{Exact, Image, Node, Part};
use crate::diver::constraint::Constraint;

pub(super) fn array(node: &Node<'_>, op: Op, i: usize, set: &Constraint) -> Option<Image> {
    match (op, i) {
        (Op::Select, 0) => {
            let index = node.value(1)?;
            // An index whose identity is uncertain cannot be looked up.
            index.is_definite().then(|| Exact(Constraint::At(index.clone(), Box::new(set.clone()))))
        }
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
