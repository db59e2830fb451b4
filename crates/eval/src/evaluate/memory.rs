//! Remembered values, by term number. Every slot says which environment its value belongs to, so that leaving
//! an environment, or forgetting everything, costs nothing.

use smtlib::{Store, Term};

use super::Evaluated;
use crate::value::Value;

pub(super) struct Memory {
    slots: Vec<Slot>,
    /// The stamp of ground values.
    ground: u32,
    /// The stamp of the present environment; the ground one outside all binders.
    current: u32,
    last: u32,
}

struct Slot {
    stamp: u32,
    value: Evaluated,
}

impl Default for Memory {
    fn default() -> Memory {
        Memory { slots: Vec::new(), ground: 1, current: 1, last: 1 }
    }
}

impl Memory {
    #[inline]
    fn stamp_for(&self, store: &Store, term: Term) -> u32 {
        if self.current == self.ground || !store.mentions_vars(term) { self.ground } else { self.current }
    }

    #[inline]
    pub fn get(&self, store: &Store, term: Term) -> Option<&Evaluated> {
        let slot = self.slots.get(term.index())?;
        // The last stamp is compared first: it needs no look at the term.
        let known = slot.stamp == self.current
            || (slot.stamp == self.ground && slot.stamp == self.stamp_for(store, term));
        known.then_some(&slot.value)
    }

    pub fn ground(&self, term: Term) -> Option<&Evaluated> {
        self.slots.get(term.index()).filter(|slot| slot.stamp == self.ground).map(|slot| &slot.value)
    }

    #[inline]
    pub fn put(&mut self, store: &Store, term: Term, value: Evaluated) {
        let stamp = self.stamp_for(store, term);
        if self.slots.len() <= term.index() {
            let length = store.term_count().max(term.index() + 1);
            self.slots.resize_with(length, || Slot { stamp: 0, value: Ok(Value::FALSE) });
        }
        self.slots[term.index()] = Slot { stamp, value };
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
            self.slots.clear();
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
        self.slots.truncate(length);
    }
}
