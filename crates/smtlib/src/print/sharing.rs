//! Which sub-terms get a `let`: those that occur more than once and are worth it, bound where all their
//! variables are known. Bounds the text by a constant times the number of distinct nodes.

use rustc_hash::FxHashMap;

use crate::store::Store;
use crate::term::{Head, Term, Var};
use crate::walk::FreeVars;

/// A shared sub-term is bound if its text has at least this many nodes. Smaller ones are not even looked at: most are.
const WORTH: u64 = 8;

/// How many nodes the search below nested binders may visit in one term. Beyond that a nested binder is looked
/// at on its own only: linear, at the price of some repeated text.
pub(super) const LOOK_AHEAD: usize = 4_000_000;

/// Variables in scope.
#[derive(Default)]
pub(super) struct Scope {
    stack: Vec<Var>,
    counts: FxHashMap<Var, u32>,
}

impl Scope {
    pub(super) fn len(&self) -> usize {
        self.stack.len()
    }

    pub(super) fn extend(&mut self, vars: impl IntoIterator<Item = Var>) {
        for var in vars {
            self.stack.push(var);
            *self.counts.entry(var).or_default() += 1;
        }
    }

    pub(super) fn truncate(&mut self, len: usize) {
        while self.stack.len() > len {
            if let Some(count) = self.stack.pop().and_then(|var| self.counts.get_mut(&var)) {
                *count -= 1;
            }
        }
    }

    fn contains(&self, var: &Var) -> bool {
        self.counts.get(var).is_some_and(|count| *count > 0)
    }
}

/// Terms to bind, in groups: a group may refer to earlier groups only.
pub(super) type Groups = Vec<Vec<Term>>;

/// The sub-terms of `root` to bind in front of it, given variables in scope and terms that have a name already.
pub(super) fn groups(
    store: &Store,
    root: Term,
    scope: &Scope,
    named: &FxHashMap<Term, String>,
    free: &mut FreeVars,
    look_ahead: &mut usize,
) -> Groups {
    // Not room for two.
    if u64::from(store.written_size(root)) <= 2 * WORTH {
        return Groups::new();
    }
    let is_small = |term: Term| u64::from(store.written_size(term)) < WORTH;
    let outermost = scope.len() == 0;
    let mut uses: FxHashMap<Term, u32> = FxHashMap::default();
    let mut found: Vec<Term> = Vec::new();
    let mut stack = vec![root];
    uses.insert(root, 1);
    while let Some(term) = stack.pop() {
        found.push(term);
        // A binder that binds a variable of the scope again is an island: what looks the same inside it means
        // something else.
        if let Head::Bind(_, vars) = store.head(term)
            && !outermost
            && (*look_ahead == 0 || store.var_list(vars).iter().any(|var| scope.contains(var)))
        {
            continue;
        }
        for arg in store.args(term) {
            // Inside a scope, only terms that mention variables are new; the others were decided outside.
            if is_small(*arg) || named.contains_key(arg) || (!outermost && !store.mentions_vars(*arg)) {
                continue;
            }
            let count = uses.entry(*arg).or_insert(0);
            *count += 1;
            if *count == 1 {
                stack.push(*arg);
            }
        }
    }
    *look_ahead = look_ahead.saturating_sub(found.len());
    if uses.values().all(|count| *count < 2) {
        return Groups::new();
    }
    // Within a group, the order of discovery: it depends on the term only, not on the numbers of its parts.
    let order: FxHashMap<Term, usize> = found.iter().enumerate().map(|(i, term)| (*term, i)).collect();
    found.sort_unstable();
    let mut sizes: FxHashMap<Term, u64> = FxHashMap::default();
    let mut levels: FxHashMap<Term, usize> = FxHashMap::default();
    let mut groups = Groups::new();
    for term in found {
        let mut size = 1u64;
        let mut level = 0;
        for arg in store.args(term) {
            if is_small(*arg) {
                // Decided outside, it would have a name; it has none, but counts like one.
                let inside = outermost || store.mentions_vars(*arg);
                size = size.saturating_add(if inside { u64::from(store.written_size(*arg)) } else { 1 });
                continue;
            }
            size = size.saturating_add(sizes.get(arg).copied().unwrap_or(1));
            level = level.max(levels.get(arg).copied().unwrap_or(0));
        }
        let bound = uses[&term] > 1
            && size >= WORTH
            && term != root
            && free.of(store, term).iter().all(|var| scope.contains(var));
        if bound {
            if groups.len() <= level {
                groups.resize(level + 1, Vec::new());
            }
            groups[level].push(term);
            level += 1;
            size = 1;
        }
        sizes.insert(term, size);
        levels.insert(term, level);
    }
    for group in &mut groups {
        group.sort_unstable_by_key(|term| order[term]);
    }
    groups
}
