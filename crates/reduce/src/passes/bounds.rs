//! STORM's own way to smaller formulas (its section on minimisation): the same formula under smaller bounds, here on the
//! depth of its Boolean structure.

use rustc_hash::FxHashMap;
use smtlib::{Command, Script, Sort, Term};

use super::Pass;
use crate::driver::{Growth, Reduction};
use crate::error::ReduceError;
use crate::workbench::{Draft, Workbench};

/// Cuts deep Boolean structure: below a bound every formula is replaced by its value under the model, or by a constant.
pub struct Bounds;

/// Shallower structure is left to the other passes.
const SHALLOW: usize = 4;

impl Pass for Bounds {
    fn name(&self) -> &'static str {
        "bounds"
    }

    fn run(&mut self, reduction: &mut Reduction) -> Result<(), ReduceError> {
        let mut deepest = depth(&reduction.bench);
        while deepest > SHALLOW && !reduction.over() {
            // A search for the least bound that keeps the bug: the smallest first, as one success takes the most away.
            let mut bounds = vec![2, deepest / 2, deepest * 3 / 4, deepest - 1];
            bounds.dedup();
            let found = reduction
                .first(bounds.len(), Growth::Smaller, &mut |bench, number| cut(bench, bounds[number]))?;
            if found.is_none() {
                return Ok(());
            }
            let now = depth(&reduction.bench);
            if now >= deepest {
                return Ok(());
            }
            deepest = now;
        }
        Ok(())
    }
}

/// Boolean terms with Boolean arguments, one inside the other.
fn depth(bench: &Workbench) -> usize {
    let store = &bench.store;
    let roots: Vec<Term> = bench.draft.script.assertions().collect();
    let mut depths: FxHashMap<Term, usize> = FxHashMap::default();
    for term in store.subterms(&roots) {
        let inner = store.args(term).iter().filter(|arg| store.sort_of(**arg) == Sort::BOOL);
        let deepest = inner.map(|arg| depths[arg] + 1).max().unwrap_or(0);
        depths.insert(term, if store.sort_of(term) == Sort::BOOL { deepest } else { 0 });
    }
    roots.iter().map(|root| depths[root]).max().unwrap_or(0)
}

/// The script with Boolean structure of at most this depth.
fn cut(bench: &mut Workbench, bound: usize) -> Option<Draft> {
    let mut map: FxHashMap<Term, Term> = FxHashMap::default();
    let mut level: Vec<Term> = bench.draft.script.assertions().collect();
    for _ in 0..bound {
        let store = &bench.store;
        let mut next: Vec<Term> = Vec::new();
        for term in level {
            next.extend(store.args(term).iter().filter(|arg| store.sort_of(**arg) == Sort::BOOL));
        }
        next.sort_unstable();
        next.dedup();
        level = next;
    }
    for term in level {
        let nested = bench.store.args(term).iter().any(|arg| bench.store.sort_of(*arg) == Sort::BOOL);
        if nested {
            let value = bench.value(term).unwrap_or_else(|| bench.store.bool(true));
            map.insert(term, value);
        }
    }
    let mut script = Script::default();
    for command in bench.draft.script.commands.clone() {
        script.commands.push(match command {
            Command::Assert(root) => Command::Assert(bench.store.substitute(root, &map).ok()?),
            other => other,
        });
    }
    bench.changed(script)
}
