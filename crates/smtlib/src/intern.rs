//! A table of distinct values with small numbers, which can be cut back to an earlier length.

use std::hash::{BuildHasher, Hash};

use hashbrown::HashTable;
use rustc_hash::FxBuildHasher;

pub(crate) struct Interner<T> {
    values: Vec<T>,
    lookup: HashTable<u32>,
}

impl<T: Hash + Eq> Interner<T> {
    pub(crate) fn new() -> Interner<T> {
        Interner { values: Vec::new(), lookup: HashTable::new() }
    }

    pub(crate) fn intern(&mut self, value: T) -> u32 {
        let hash = FxBuildHasher.hash_one(&value);
        if let Some(&found) = self.lookup.find(hash, |&i| self.values[i as usize] == value) {
            return found;
        }
        let id = self.values.len() as u32;
        self.values.push(value);
        let values = &self.values;
        self.lookup.insert_unique(hash, id, |&i| FxBuildHasher.hash_one(&values[i as usize]));
        id
    }

    #[inline]
    pub(crate) fn get(&self, id: u32) -> &T {
        &self.values[id as usize]
    }

    pub(crate) fn len(&self) -> usize {
        self.values.len()
    }

    pub(crate) fn truncate(&mut self, len: usize) {
        while self.values.len() > len {
            let id = self.values.len() - 1;
            let hash = FxBuildHasher.hash_one(&self.values[id]);
            if let Ok(entry) = self.lookup.find_entry(hash, |&i| i as usize == id) {
                entry.remove();
            }
            self.values.pop();
        }
    }
}
