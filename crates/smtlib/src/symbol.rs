//! Interned names. The names of the theory table and the reserved words are shared by all stores; a store adds
//! the names of its own scripts.

use std::hash::Hasher;
use std::sync::OnceLock;

use hashbrown::HashTable;
use rustc_hash::FxHasher;

use crate::theory::{Op, table};

/// An interned name.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Symbol(pub(crate) u32);

impl Symbol {
    /// A dense number, for side tables.
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

macro_rules! reserved {
    ($($constant:ident = $text:literal),* $(,)?) => {
        /// Words the reader treats specially, with fixed numbers.
        const RESERVED: &[&str] = &[$($text),*];
        #[allow(non_camel_case_types, clippy::upper_case_acronyms)]
        enum Place { $($constant),* }
        impl Symbol {
            $(pub(crate) const $constant: Symbol = Symbol(Place::$constant as u32);)*
        }
    };
}

reserved! {
    LET = "let", FORALL = "forall", EXISTS = "exists", LAMBDA = "lambda", CHOICE = "choice", MATCH = "match",
    BANG = "!", UNDERSCORE = "_", AS = "as", COMPREHENSION = "set.comprehension", IS = "is",
    UPDATE = "update", CHAR = "char", WITNESS = "witness",
}

struct Builtins {
    names: Vec<&'static str>,
    ops: Vec<&'static [Op]>,
    lookup: HashTable<u32>,
}

pub(crate) fn hash(bytes: &[u8]) -> u64 {
    let mut hasher = FxHasher::default();
    hasher.write(bytes);
    hasher.finish()
}

fn builtins() -> &'static Builtins {
    static BUILTINS: OnceLock<Builtins> = OnceLock::new();
    BUILTINS.get_or_init(|| {
        let mut names: Vec<&'static str> = RESERVED.to_vec();
        names.extend(table().names().into_iter().filter(|name| !RESERVED.contains(name)));
        let mut lookup = HashTable::with_capacity(names.len());
        for (i, name) in names.iter().enumerate() {
            lookup.insert_unique(hash(name.as_bytes()), i as u32, |&i| hash(names[i as usize].as_bytes()));
        }
        let ops = names.iter().map(|name| table().named(name)).collect();
        Builtins { names, ops, lookup }
    })
}

/// The names of one store.
pub(crate) struct Symbols {
    /// Byte range of each name in `text`, after the built-in ones.
    ends: Vec<u32>,
    text: String,
    lookup: HashTable<u32>,
    builtins: &'static Builtins,
    base: u32,
}

impl Symbols {
    pub(crate) fn new() -> Symbols {
        let builtins = builtins();
        Symbols {
            ends: Vec::new(),
            text: String::new(),
            lookup: HashTable::new(),
            builtins,
            base: builtins.names.len() as u32,
        }
    }

    pub(crate) fn name(&self, symbol: Symbol) -> &str {
        match symbol.0.checked_sub(self.base) {
            None => self.builtins.names[symbol.index()],
            Some(own) => own_name(&self.text, &self.ends, own),
        }
    }

    /// The operators the name may mean.
    #[inline]
    pub(crate) fn ops(&self, symbol: Symbol) -> &'static [Op] {
        self.builtins.ops.get(symbol.index()).copied().unwrap_or(&[])
    }

    pub(crate) fn intern(&mut self, name: &str) -> Symbol {
        let hash = hash(name.as_bytes());
        if let Some(found) = self.find(name, hash) {
            return found;
        }
        let own = self.ends.len() as u32;
        self.text.push_str(name);
        self.ends.push(self.text.len() as u32);
        let (text, ends) = (&self.text, &self.ends);
        self.lookup.insert_unique(hash, own, |&i| self::hash(own_name(text, ends, i).as_bytes()));
        Symbol(self.base + own)
    }

    pub(crate) fn get(&self, name: &str) -> Option<Symbol> {
        self.find(name, hash(name.as_bytes()))
    }

    fn find(&self, name: &str, hash: u64) -> Option<Symbol> {
        if let Some(&builtin) = self.builtins.lookup.find(hash, |&i| self.builtins.names[i as usize] == name)
        {
            return Some(Symbol(builtin));
        }
        self.lookup
            .find(hash, |&i| own_name(&self.text, &self.ends, i) == name)
            .map(|&own| Symbol(self.base + own))
    }

    /// How many names of its own the store has.
    pub(crate) fn len(&self) -> usize {
        self.ends.len()
    }

    /// Forgets all names after the first `len`.
    pub(crate) fn truncate(&mut self, len: usize) {
        for own in (len..self.ends.len()).rev() {
            let hash = hash(own_name(&self.text, &self.ends, own as u32).as_bytes());
            if let Ok(entry) = self.lookup.find_entry(hash, |&i| i as usize == own) {
                entry.remove();
            }
        }
        self.ends.truncate(len);
        self.text.truncate(self.ends.last().map_or(0, |&end| end as usize));
    }
}

fn own_name<'a>(text: &'a str, ends: &[u32], own: u32) -> &'a str {
    let own = own as usize;
    let start = if own == 0 { 0 } else { ends[own - 1] as usize };
    &text[start..ends[own] as usize]
}
