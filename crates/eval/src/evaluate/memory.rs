//! Remembered values, by term number. A stamp beside every value says which environment it belongs to, so that
//! leaving an environment, or forgetting everything, costs nothing.

use std::cell::RefCell;

use smtlib::{Store, Term};

use super::Evaluated;
use crate::value::Value;

/// Slots of an evaluator that is gone serve the next one of the thread: to make and to drop as many as a store has terms
/// costs more than to evaluate a small script. Larger ones than this are given back.
const LARGEST_SPARE: usize = 1 << 16;

/// Spares of a thread: an evaluator for reading a model, one for evaluating under it, and whatever else is alive.
const SPARES: usize = 4;

thread_local! {
    static SPARE: RefCell<Vec<Memory>> = const { RefCell::new(Vec::new()) };
}

pub(super) struct Memory {
    /// Apart from the values: most questions are about terms not seen yet, and need the stamp only.
    stamps: Vec<u32>,
    values: Vec<Evaluated>,
    /// The stamp of ground values.
    ground: u32,
    /// The stamp of the present environment; the ground one outside all binders.
    current: u32,
    last: u32,
}

impl Default for Memory {
    fn default() -> Memory {
        let spare = SPARE.try_with(|spare| spare.borrow_mut().pop());
        let mut memory = spare.ok().flatten().unwrap_or_else(Memory::empty);
        memory.forget();
        memory
    }
}

impl Drop for Memory {
    fn drop(&mut self) {
        // One that has used up many stamps would wear out in the midst of somebody else's evaluation.
        let fresh = self.last < u32::MAX / 4;
        let wanted = fresh && !self.stamps.is_empty() && self.stamps.len() <= LARGEST_SPARE;
        // A thread that ends has no use for it.
        let _ = SPARE.try_with(|spare| {
            let mut spare = spare.borrow_mut();
            if wanted && spare.len() < SPARES {
                spare.push(std::mem::replace(self, Memory::empty()));
            }
        });
    }
}

impl Memory {
    fn empty() -> Memory {
        Memory { stamps: Vec::new(), values: Vec::new(), ground: 1, current: 1, last: 1 }
    }

    #[inline]
    fn stamp_for(&self, store: &Store, term: Term) -> u32 {
        if self.current == self.ground || !store.mentions_vars(term) { self.ground } else { self.current }
    }

    #[inline]
    pub fn get(&self, store: &Store, term: Term) -> Option<&Evaluated> {
        let stamp = *self.stamps.get(term.index())?;
        // The present stamp is compared first: it needs no look at the term.
        let known = stamp == self.current || (stamp == self.ground && !store.mentions_vars(term));
        if known { self.values.get(term.index()) } else { None }
    }

    pub fn ground(&self, term: Term) -> Option<&Evaluated> {
        let stamp = self.stamps.get(term.index())?;
        if *stamp == self.ground { self.values.get(term.index()) } else { None }
    }

    #[inline]
    pub fn put(&mut self, store: &Store, term: Term, value: Evaluated) {
        let stamp = self.stamp_for(store, term);
        if self.stamps.len() <= term.index() {
            let length = store.term_count().max(term.index() + 1);
            self.stamps.resize(length, 0);
            self.values.resize_with(length, || Ok(Value::FALSE));
        }
        self.stamps[term.index()] = stamp;
        self.values[term.index()] = value;
    }

    pub fn current(&self) -> u32 {
        self.current
    }

    /// Begins a new environment and returns the stamp of the present one.
    pub fn enter(&mut self) -> u32 {
        let present = self.current;
        self.last += 1;
        self.current = self.last;
        present
    }

    /// Goes back to an environment.
    pub fn leave(&mut self, stamp: u32) {
        self.current = stamp;
    }

    pub fn forget(&mut self) {
        // Stamps must not run out; long before, all slots are really emptied.
        if self.last > u32::MAX / 2 {
            self.stamps.clear();
            self.values.clear();
            self.last = 0;
        }
        self.last += 1;
        self.ground = self.last;
        self.current = self.last;
    }

    /// Are there enough stamps left for an evaluation?
    pub fn is_worn(&self) -> bool {
        self.last > u32::MAX / 2
    }

    pub fn truncate(&mut self, length: usize) {
        self.stamps.truncate(length);
        self.values.truncate(length);
    }
}
