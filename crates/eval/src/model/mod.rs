//! Models: what the declared symbols of a script stand for, and what the open cases of the theories give.

mod complete;
mod evaluated;
mod open;
mod witness;

use std::sync::Arc;

use rustc_hash::{FxHashMap, FxHashSet};
use smtlib::{Fun, Script, Sort, Store, Term, Var};

pub use evaluated::EvaluatedModel;
pub use open::{Open, OpenCases, OpenFunction};
pub use witness::{NotAWitness, Witness, checked_terms};

use crate::value::{Closure, Domain, Function, Table, Value};

/// What a declared function or constant stands for.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Interpretation {
    /// A constant's value; for a function a [`Value::Function`].
    Value(Value),
    /// A body over parameters, as models define functions. Bodies without parameters are constants whose value
    /// is computed on use.
    Body(Arc<Closure>),
}

/// The elements of a declared sort.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Universe {
    /// Names of the elements, by number.
    names: Vec<Box<str>>,
    /// There are no other elements. Otherwise there are infinitely many more.
    closed: bool,
}

impl Universe {
    pub fn len(&self) -> usize {
        self.names.len()
    }

    pub fn is_empty(&self) -> bool {
        self.names.is_empty()
    }

    pub fn is_closed(&self) -> bool {
        self.closed
    }

    pub fn name(&self, element: u32) -> Option<&str> {
        self.names.get(element as usize).map(|name| &**name)
    }

    /// The element of this name.
    pub fn find(&self, name: &str) -> Option<Value> {
        let index = self.names.iter().position(|known| **known == *name)?;
        Some(Value::Element(index as u32))
    }
}

/// An interpretation of the symbols of a script. It belongs to the store of the script.
#[derive(Clone, Debug, Default)]
pub struct Model {
    /// By number of the function.
    interpretations: Vec<Option<Interpretation>>,
    universes: FxHashMap<Sort, Universe>,
    open: OpenCases,
    defaulted: Vec<Fun>,
}

impl Model {
    pub fn new() -> Model {
        Model::default()
    }

    /// Gives a constant its value, or a function its function value.
    pub fn assign(&mut self, fun: Fun, value: Value) {
        self.interpret(fun, Interpretation::Value(value));
    }

    /// Gives a function its body.
    pub fn define(&mut self, fun: Fun, params: &[Var], body: Term) {
        self.interpret(fun, Interpretation::Body(Arc::new(Closure::closed(params, body))));
    }

    /// Gives a function its values: exceptions over a default. `None` if an argument is not a definite value.
    pub fn tabulate(
        &mut self,
        fun: Fun,
        arity: usize,
        entries: Vec<(Vec<Value>, Value)>,
        default: Value,
    ) -> Option<()> {
        let entries = entries.into_iter().map(|(args, value)| (Function::key(&args), value)).collect();
        let table = Table::new(entries, default, Domain::Unbounded)?;
        self.assign(fun, Value::Function(Arc::new(Function::Table { arity: arity as u32, table })));
        Some(())
    }

    pub fn interpret(&mut self, fun: Fun, interpretation: Interpretation) {
        if self.interpretations.len() <= fun.index() {
            self.interpretations.resize(fun.index() + 1, None);
        }
        self.interpretations[fun.index()] = Some(interpretation);
        self.defaulted.retain(|other| *other != fun);
    }

    #[inline]
    pub fn get(&self, fun: Fun) -> Option<&Interpretation> {
        self.interpretations.get(fun.index())?.as_ref()
    }

    /// The value of a constant, if the model has it at hand.
    pub fn value(&self, fun: Fun) -> Option<&Value> {
        match self.get(fun)? {
            Interpretation::Value(value) => Some(value),
            Interpretation::Body(_) => None,
        }
    }

    /// All interpreted symbols with their interpretations, in order of declaration.
    pub fn interpretations<'a>(&'a self, store: &Store) -> impl Iterator<Item = (Fun, &'a Interpretation)> {
        store.all_funs().zip(&self.interpretations).filter_map(|(fun, found)| Some((fun, found.as_ref()?)))
    }

    pub fn forget(&mut self, fun: Fun) {
        if let Some(slot) = self.interpretations.get_mut(fun.index()) {
            *slot = None;
        }
        self.defaulted.retain(|other| *other != fun);
    }

    /// Symbols that got a default value because nobody gave them one.
    pub fn defaulted(&self) -> &[Fun] {
        &self.defaulted
    }

    // Declared sorts.

    pub fn universe(&self, sort: Sort) -> Option<&Universe> {
        self.universes.get(&sort)
    }

    /// The declared sorts with a universe, in order of number.
    pub fn universes(&self) -> impl Iterator<Item = Sort> + use<> {
        let mut sorts: Vec<Sort> = self.universes.keys().copied().collect();
        sorts.sort_unstable();
        sorts.into_iter()
    }

    /// The element of this name of a declared sort, added if it is new.
    pub fn element(&mut self, sort: Sort, name: &str) -> Value {
        let universe = self.universes.entry(sort).or_default();
        universe.find(name).unwrap_or_else(|| {
            universe.names.push(name.into());
            Value::Element(universe.names.len() as u32 - 1)
        })
    }

    /// Says that the elements named so far are all there are. A sort has at least one element.
    pub fn close_universe(&mut self, sort: Sort) {
        let universe = self.universes.entry(sort).or_default();
        if universe.names.is_empty() {
            universe.names.push("@0".into());
        }
        universe.closed = true;
    }

    // Open cases.

    /// What the open cases of the theories give in this model.
    pub fn open(&self) -> &OpenCases {
        &self.open
    }

    pub fn open_mut(&mut self) -> &mut OpenCases {
        &mut self.open
    }

    /// The model without symbols that the script does not declare.
    pub fn restricted_to(&self, script: &Script) -> Model {
        let keep: FxHashSet<Fun> = script.declared_funs().collect();
        let mut model = self.clone();
        for fun in script.declared_funs() {
            if model.interpretations.len() <= fun.index() {
                model.interpretations.resize(fun.index() + 1, None);
            }
        }
        let kept: FxHashSet<usize> = keep.iter().map(|fun| fun.index()).collect();
        for (index, slot) in model.interpretations.iter_mut().enumerate() {
            if !kept.contains(&index) {
                *slot = None;
            }
        }
        model.defaulted.retain(|fun| keep.contains(fun));
        model
    }
}
