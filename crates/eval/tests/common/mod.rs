//! A script, a model, and terms read in their context.

#![allow(dead_code)] // not every test file uses every part

use std::cell::RefCell;

use eval::evaluate::{Budget, Evaluated, Evaluator, Mode};
use eval::model::Model;
use eval::{Reason, Value};
use smtlib::{Script, Session, Store, Term, parse};

pub struct Case {
    pub store: RefCell<Store>,
    pub script: Script,
    pub model: RefCell<Model>,
}

impl Case {
    pub fn new(declarations: &str) -> Case {
        let mut store = Store::new();
        let parsed =
            parse(&mut store, declarations.as_bytes(), smtlib::Mode::Tolerant).expect("declarations");
        Case { store: RefCell::new(store), script: parsed.script, model: RefCell::default() }
    }

    /// Gives constants the values of terms.
    pub fn with(self, values: &[(&str, &str)]) -> Case {
        for (name, text) in values {
            let value = self.value(text).unwrap_or_else(|unknown| panic!("{text}: {unknown:?}"));
            let store = self.store.borrow();
            let fun = store.all_funs().find(|fun| store.name(store.fun(*fun).name) == *name).expect("a name");
            self.model.borrow_mut().assign(fun, value);
        }
        self
    }

    pub fn term(&self, text: &str) -> Term {
        let mut store = self.store.borrow_mut();
        let mut session = Session::new(&mut store, &self.script, text.as_bytes());
        session.term().unwrap_or_else(|error| panic!("{text}: {error}")).expect("a term")
    }

    pub fn value(&self, text: &str) -> Evaluated {
        let term = self.term(text);
        Evaluator::default().evaluate(&self.store.borrow(), &self.model.borrow(), term)
    }

    pub fn choosing(&self, text: &str) -> Evaluated {
        let term = self.term(text);
        let mut evaluator = Evaluator::new(Mode::Choose, Budget::default());
        evaluator.evaluate(&self.store.borrow(), &self.model.borrow(), term)
    }

    /// The value as text, as a term of the same sort.
    pub fn text(&self, text: &str) -> String {
        let term = self.term(text);
        let value = match Evaluator::default().evaluate(&self.store.borrow(), &self.model.borrow(), term) {
            Ok(value) => value,
            Err(unknown) => return format!("unknown: {}", unknown.describe(&self.store.borrow())),
        };
        let mut store = self.store.borrow_mut();
        let sort = store.sort_of(term);
        let printed = eval::to_term(&mut store, sort, &value);
        printed.map_or_else(|| format!("{value:?}"), |term| store.term_text(term))
    }

    pub fn reason(&self, text: &str) -> Reason {
        match self.value(text) {
            Ok(value) => panic!("{text} has the value {value:?}"),
            Err(unknown) => unknown.reason,
        }
    }

    pub fn holds(&self, text: &str) -> bool {
        match self.value(text) {
            Ok(Value::Bool(value)) => value,
            other => panic!("{text}: {other:?}"),
        }
    }
}

pub fn value_text(text: &str) -> String {
    Case::new("").text(text)
}
