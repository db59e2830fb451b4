//! Default values for what a model leaves out.

use std::sync::Arc;

use smtlib::{Fun, Script, Sort, Store};

use super::Model;
use crate::sorts::Sorts;
use crate::value::{Domain, Function, Table, Value};

impl Model {
    /// Gives every symbol that the script declares and the model leaves out a default value. The symbols are
    /// remembered; see [`Model::defaulted`].
    pub fn complete(&mut self, store: &Store, script: &Script) {
        for fun in script.declared_funs() {
            if self.get(fun).is_none() {
                self.give_default(store, fun);
            }
        }
    }

    /// Adds one symbol with its default value. False if its sort has no default value.
    pub fn give_default(&mut self, store: &Store, fun: Fun) -> bool {
        let decl = store.fun(fun);
        let Some(result) = self.default_of(store, decl.result) else { return false };
        let value = if decl.params.is_empty() {
            result
        } else {
            let table = Table::constant(result, Domain::Unbounded);
            Value::Function(Arc::new(Function::Table { arity: decl.params.len() as u32, table }))
        };
        self.assign(fun, value);
        self.defaulted.push(fun);
        true
    }

    fn default_of(&self, store: &Store, sort: Sort) -> Option<Value> {
        Sorts::new(store, self).default_value(sort)
    }
}
