//! The open cases of the theories: where the standard says that an operator has *some* value for certain
//! arguments, the same one wherever those arguments occur. A model fixes them.

use std::sync::Arc;

use rustc_hash::FxHashMap;
use smtlib::{Head, Indices, Op, Sort};

use crate::value::{Closure, Function, Value};

/// An operator with an open case, at the sorts where it is used.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Open {
    /// The operator or selector. Division by zero is under Z3's names for it: `div0`, `mod0`, `rem0`, `/0`;
    /// `seq.nth` outside the sequence under `seq.nth_u`.
    pub head: Head,
    /// The sort of the argument that tells instances of the operator apart.
    pub of: Sort,
}

impl Open {
    pub fn op(op: Op, of: Sort) -> Open {
        Open { head: Head::Op(op, Indices::NONE), of }
    }
}

/// Interpretations of open cases.
#[derive(Clone, Debug, Default)]
pub struct OpenCases {
    /// Values for single arguments, in the order in which they were fixed.
    points: FxHashMap<(Open, Box<[Value]>), Value>,
    order: Vec<(Open, Box<[Value]>)>,
    /// Functions for all arguments without a point.
    functions: FxHashMap<Open, OpenFunction>,
}

/// How a model gives an open case for all arguments.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum OpenFunction {
    Function(Arc<Function>),
    Body(Arc<Closure>),
}

impl OpenCases {
    /// Fixes the value for one list of arguments.
    pub fn fix(&mut self, open: Open, args: &[Value], value: Value) {
        let key = (open, Box::from(args));
        if self.points.insert(key.clone(), value).is_none() {
            self.order.push(key);
        }
    }

    /// Fixes the value for all arguments.
    pub fn fix_all(&mut self, open: Open, function: OpenFunction) {
        self.functions.insert(open, function);
    }

    pub fn point(&self, open: Open, args: &[Value]) -> Option<&Value> {
        if self.points.is_empty() {
            return None;
        }
        self.points.get(&(open, Box::from(args)))
    }

    pub fn function(&self, open: Open) -> Option<&OpenFunction> {
        self.functions.get(&open)
    }

    /// The functions, in no particular order.
    pub fn functions(&self) -> impl Iterator<Item = (&Open, &OpenFunction)> {
        self.functions.iter()
    }

    /// The single values in the order in which they were fixed.
    pub fn points(&self) -> impl Iterator<Item = (Open, &[Value], &Value)> {
        self.order.iter().map(|key| (key.0, &*key.1, &self.points[key]))
    }

    pub fn is_empty(&self) -> bool {
        self.points.is_empty() && self.functions.is_empty()
    }

    /// Adds the other's values where this one has none.
    pub fn adopt(&mut self, other: &OpenCases) {
        for (open, args, value) in other.points() {
            if self.point(open, args).is_none() {
                self.fix(open, args, value.clone());
            }
        }
        for (open, function) in &other.functions {
            self.functions.entry(*open).or_insert_with(|| function.clone());
        }
    }
}
