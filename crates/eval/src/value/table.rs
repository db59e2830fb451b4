//! Total maps with finitely many exceptions: arrays, and functions given by tables.

use std::cmp::Ordering;
use std::fmt;
use std::hash::{Hash, Hasher};
use std::sync::Arc;

use super::{Closure, Value};

/// The indices a map is defined on.
#[derive(Clone, Debug)]
pub enum Domain {
    /// Infinitely many, or too many for any table to matter.
    Unbounded,
    /// Finitely many, more than are worth listing.
    Large(u64),
    /// All of them, ascending.
    Listed(Arc<[Value]>),
}

/// A total map. Keys are definite values, ascending; no entry repeats the default value.
///
/// Over a finite index sort one map could be written with several defaults. The canonical one is the value taken
/// most often, and the least of those.
#[derive(Clone)]
pub struct Table {
    entries: Vec<(Value, Value)>,
    otherwise: Otherwise,
    domain: Domain,
}

/// The value at indices without an entry.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Otherwise {
    Value(Value),
    Closure(Arc<Closure>),
}

impl Table {
    /// The same value everywhere.
    pub fn constant(value: Value, domain: Domain) -> Table {
        Table { entries: Vec::new(), otherwise: Otherwise::Value(value), domain }
    }

    /// A map computed by a function of one parameter.
    pub fn computed(closure: Arc<Closure>, domain: Domain) -> Table {
        Table { entries: Vec::new(), otherwise: Otherwise::Closure(closure), domain }
    }

    /// Exceptions over a default; a later entry for the same index wins. `None` if an index is not definite.
    pub fn new(entries: Vec<(Value, Value)>, default: Value, domain: Domain) -> Option<Table> {
        if !entries.iter().all(|(index, _)| index.is_definite()) {
            return None;
        }
        let mut entries = entries;
        // Stable, so that the last of equal indices stays last.
        entries.sort_by(|(a, _), (b, _)| a.cmp(b));
        let mut unique: Vec<(Value, Value)> = Vec::with_capacity(entries.len());
        for entry in entries {
            match unique.last_mut() {
                Some(last) if last.0 == entry.0 => *last = entry,
                _ => unique.push(entry),
            }
        }
        unique.retain(|(_, value)| *value != default);
        let mut table = Table { entries: unique, otherwise: Otherwise::Value(default), domain };
        table.choose_default();
        Some(table)
    }

    pub fn entries(&self) -> &[(Value, Value)] {
        &self.entries
    }

    pub fn otherwise(&self) -> &Otherwise {
        &self.otherwise
    }

    /// The default, unless it is computed by a closure.
    pub fn default_value(&self) -> Option<&Value> {
        match &self.otherwise {
            Otherwise::Value(value) => Some(value),
            Otherwise::Closure(_) => None,
        }
    }

    pub fn domain(&self) -> &Domain {
        &self.domain
    }

    pub fn is_definite(&self) -> bool {
        // Over a large finite domain the same map may be written with another default once half of it is listed.
        let one_default = match self.domain {
            Domain::Large(size) => (self.entries.len() as u64) < size / 2,
            Domain::Unbounded | Domain::Listed(_) => true,
        };
        one_default
            && self.default_value().is_some_and(Value::is_definite)
            && self.entries.iter().all(|(_, value)| value.is_definite())
    }

    /// The entry for a definite index.
    pub fn entry(&self, index: &Value) -> Option<&Value> {
        let place = self.entries.binary_search_by(|(key, _)| key.cmp(index)).ok()?;
        Some(&self.entries[place].1)
    }

    /// The value at a definite index, unless a closure computes it.
    pub fn get(&self, index: &Value) -> Option<&Value> {
        self.entry(index).or_else(|| self.default_value())
    }

    /// The map with one value changed; the index must be definite.
    pub fn with(&self, index: Value, value: Value) -> Table {
        let mut table = self.clone();
        let place = table.entries.binary_search_by(|(key, _)| key.cmp(&index));
        let is_default = table.default_value() == Some(&value);
        match place {
            Ok(place) if is_default => {
                table.entries.remove(place);
            }
            Ok(place) => table.entries[place].1 = value,
            Err(_) if is_default => {}
            Err(place) => table.entries.insert(place, (index, value)),
        }
        table.choose_default();
        table
    }

    /// Each value replaced by a function of it.
    pub fn map<E>(&self, mut change: impl FnMut(&Value) -> Result<Value, E>) -> Option<Result<Table, E>> {
        let default = self.default_value()?;
        let mut build = || {
            let default = change(default)?;
            let mut entries = Vec::with_capacity(self.entries.len());
            for (index, value) in &self.entries {
                let value = change(value)?;
                if value != default {
                    entries.push((index.clone(), value));
                }
            }
            let mut table =
                Table { entries, otherwise: Otherwise::Value(default), domain: self.domain.clone() };
            table.choose_default();
            Ok(table)
        };
        Some(build())
    }

    /// Makes the most frequent value the default, the least of them if there are several.
    fn choose_default(&mut self) {
        let (Domain::Listed(all), Otherwise::Value(default)) = (&self.domain, &self.otherwise) else {
            return;
        };
        if self.entries.len() * 2 < all.len() {
            return;
        }
        let mut values: Vec<&Value> = self.entries.iter().map(|(_, value)| value).collect();
        values.sort_unstable();
        let mut best = (default, all.len() - self.entries.len());
        for run in values.chunk_by(|a, b| a == b) {
            if run.len() > best.1 || (run.len() == best.1 && run[0] < best.0) {
                best = (run[0], run.len());
            }
        }
        if best.0 == default {
            return;
        }
        let best = best.0.clone();
        let entries = all
            .iter()
            .map(|index| (index, self.get(index).unwrap_or(&best)))
            .filter(|(_, value)| **value != best)
            .map(|(index, value)| (index.clone(), value.clone()))
            .collect();
        self.entries = entries;
        self.otherwise = Otherwise::Value(best);
    }
}

// The domain follows from the sort, which the maps compared have in common.
impl PartialEq for Table {
    fn eq(&self, other: &Table) -> bool {
        self.entries == other.entries && self.otherwise == other.otherwise
    }
}

impl Eq for Table {}

impl Hash for Table {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.entries.hash(state);
        self.otherwise.hash(state);
    }
}

impl Ord for Table {
    fn cmp(&self, other: &Table) -> Ordering {
        self.entries.cmp(&other.entries).then_with(|| self.otherwise.cmp(&other.otherwise))
    }
}

impl PartialOrd for Table {
    fn partial_cmp(&self, other: &Table) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl fmt::Debug for Table {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_map().entries(self.entries.iter().map(|(k, v)| (k, v))).finish()?;
        write!(f, " else {:?}", self.otherwise)
    }
}
