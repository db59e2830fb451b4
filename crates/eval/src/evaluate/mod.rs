//! The value of a term under a model.
//!
//! Terms are evaluated by a stack machine over the shared graph, never by recursion on their depth. Values of
//! ground terms are remembered by term number until the model changes; values under a binder carry the stamp of
//! the environment they belong to.
//!
//! Evaluation is lazy where that decides more: `and`, `or`, `=>` and `ite` look only as far as they must, so a
//! recursive function ends, and an undecided argument that does not matter does not spoil the result.

mod bind;
mod call;
mod confine;
mod decisive;
mod equal;
mod incremental;
mod machine;
mod memory;

use std::sync::Arc;

use rustc_hash::FxHashMap;
use smtlib::{Fun, Sort, Store, Term, Var};

use crate::model::{Model, Open, OpenCases};
use crate::regex::{Arena, Mark};
use crate::unknown::{Reason, Unknown};
use crate::value::{Domain, Value};
pub(crate) use equal::computable;
pub use incremental::Evaluation;
use machine::Frame;
use memory::Memory;

/// The result of an evaluation.
pub type Evaluated = Result<Value, Unknown>;

/// What to do where the standard leaves a result open and the model does not fix it.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Mode {
    /// Answer unknown: the model is somebody else's.
    #[default]
    Given,
    /// Choose by a fixed rule and remember the choice: the model is our own. See [`Evaluator::chosen`].
    Choose,
}

/// What one evaluation may cost.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Budget {
    /// Nodes visited in one call of [`Evaluator::evaluate`].
    pub steps: u64,
    /// Values of bound variables tried for one quantifier over a finite sort.
    pub instances: usize,
    /// Values of bound variables tried for one quantifier over an infinite sort.
    pub candidates: usize,
    /// Function calls inside one another.
    pub calls: usize,
    pub regex: crate::regex::Budget,
}

impl Default for Budget {
    fn default() -> Budget {
        Budget {
            steps: 10_000_000,
            instances: 1 << 16,
            candidates: 512,
            calls: 100_000,
            regex: crate::regex::Budget::default(),
        }
    }
}

/// Binders, closures and higher-order operators inside one another, which take the machine's own stack.
const MAX_NESTING: u32 = 64;

/// Why an operator gives no value: for a reason of its own, or because a function it called gave none.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Fault {
    Here(Reason),
    Inner(Unknown),
}

impl From<Reason> for Fault {
    fn from(reason: Reason) -> Fault {
        Fault::Here(reason)
    }
}

impl From<Unknown> for Fault {
    fn from(unknown: Unknown) -> Fault {
        Fault::Inner(unknown)
    }
}

impl Fault {
    fn at(self, term: Term) -> Unknown {
        match self {
            Fault::Here(reason) => reason.at(term),
            Fault::Inner(unknown) => unknown,
        }
    }
}

/// Evaluates terms of one store under one model at a time, remembering what it has computed.
///
/// The memory is valid as long as the model and the terms stay what they are: call [`Evaluator::forget`] after
/// changing the model, and [`Evaluator::forget_after`] after resetting the store to a mark.
pub struct Evaluator {
    mode: Mode,
    limits: Budget,
    memory: Memory,
    /// Values of bound variables, by variable number.
    bindings: Vec<Option<Value>>,
    frames: Vec<Frame>,
    operands: Vec<Value>,
    arena: Arena,
    empty_arena: Mark,
    calls: FxHashMap<(Fun, Box<[Value]>), Evaluated>,
    /// Function calls that are being evaluated.
    open_calls: usize,
    chosen: OpenCases,
    missing: Option<(Open, Box<[Value]>)>,
    domains: FxHashMap<Sort, Domain>,
    /// All values of sorts that were asked for, in order.
    elements: FxHashMap<Sort, Arc<[Value]>>,
    free_vars: FxHashMap<Term, Box<[Var]>>,
    steps_left: u64,
    nesting: u32,
}

impl Default for Evaluator {
    fn default() -> Evaluator {
        Evaluator::new(Mode::Given, Budget::default())
    }
}

impl Evaluator {
    pub fn new(mode: Mode, limits: Budget) -> Evaluator {
        let arena = Arena::new(limits.regex);
        Evaluator {
            mode,
            limits,
            memory: Memory::default(),
            bindings: Vec::new(),
            frames: Vec::new(),
            operands: Vec::new(),
            empty_arena: arena.mark(),
            arena,
            calls: FxHashMap::default(),
            open_calls: 0,
            chosen: OpenCases::default(),
            missing: None,
            domains: FxHashMap::default(),
            elements: FxHashMap::default(),
            free_vars: FxHashMap::default(),
            steps_left: 0,
            nesting: 0,
        }
    }

    /// The value of a term under a model.
    pub fn evaluate(&mut self, store: &Store, model: &Model, term: Term) -> Evaluated {
        if self.arena.term_count() > self.limits.regex.terms / 2 {
            self.forget();
        }
        self.steps_left = self.limits.steps;
        Computation { evaluator: self, store, model }.value_of(term)
    }

    /// Is the Boolean term true under the model?
    pub fn holds(&mut self, store: &Store, model: &Model, term: Term) -> Result<bool, Unknown> {
        match self.evaluate(store, model, term)? {
            Value::Bool(value) => Ok(value),
            _ => Err(Reason::Opaque.at(term)),
        }
    }

    /// What the last evaluation has cost.
    pub fn steps_taken(&self) -> u64 {
        self.limits.steps.saturating_sub(self.steps_left)
    }

    /// A remembered value, without computing anything.
    pub fn known(&self, term: Term) -> Option<&Evaluated> {
        self.memory.ground(term)
    }

    /// Forgets everything about terms. To be called when the model has changed, or when the store has been reset, after
    /// which the same numbers stand for other terms.
    pub fn forget(&mut self) {
        self.memory.forget();
        self.calls.clear();
        self.domains.clear();
        self.elements.clear();
        self.free_vars.clear();
        self.arena.reset(self.empty_arena);
    }

    /// Forgets the values of terms with at least this number. To be called when a store has been reset to a
    /// mark, with its number of terms.
    pub fn forget_after(&mut self, term_count: usize) {
        self.memory.truncate(term_count);
        self.calls.clear();
        self.domains.clear();
        self.elements.clear();
        self.free_vars.retain(|term, _| term.index() < term_count);
    }

    /// The open cases decided in [`Mode::Choose`], to be adopted by the model.
    pub fn chosen(&self) -> &OpenCases {
        &self.chosen
    }

    /// The open case that was last looked for and not found in [`Mode::Given`], with its arguments: what somebody who
    /// knows the rest of the model can be asked about.
    pub fn missing(&self) -> Option<(Open, &[Value])> {
        self.missing.as_ref().map(|(open, args)| (*open, &**args))
    }

    /// Hands over the choices made so far.
    pub fn take_chosen(&mut self) -> OpenCases {
        std::mem::take(&mut self.chosen)
    }
}

/// One evaluation in its context.
pub(crate) struct Computation<'a> {
    pub(crate) evaluator: &'a mut Evaluator,
    pub(crate) store: &'a Store,
    pub(crate) model: &'a Model,
}
