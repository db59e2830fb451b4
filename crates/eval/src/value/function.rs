//! Functions as values.

use std::sync::Arc;

use smtlib::{Fun, Term, Var};

use super::{Table, Value};

/// A function value. Functions that are written alike are equal; others may be.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Function {
    /// Finitely many exceptions over a default. With one parameter the keys are its values, otherwise tuples.
    Table {
        arity: u32,
        table: Table,
    },
    Closure(Closure),
    /// A declared or defined function by name.
    Named(Fun),
    /// A function with its first arguments given.
    Partial(Arc<Function>, Box<[Value]>),
}

/// A body over its parameters, with the values of the other free variables.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Closure {
    pub params: Box<[Var]>,
    pub body: Term,
    pub captured: Box<[(Var, Value)]>,
}

impl Function {
    /// The key under which a table keeps the value for these arguments.
    pub fn key(args: &[Value]) -> Value {
        match args {
            [arg] => arg.clone(),
            _ => Value::Tuple(args.into()),
        }
    }
}

impl Closure {
    /// A function body without captured variables.
    pub fn closed(params: &[Var], body: Term) -> Closure {
        Closure { params: params.into(), body, captured: Box::default() }
    }
}
