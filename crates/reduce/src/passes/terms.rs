//! Terms replaced by simpler ones of their sort: constants, parts of themselves, declared constants.

use smtlib::{Head, Sort, Store, Term};

use super::Pass;
use crate::driver::Reduction;
use crate::edit::Edit;
use crate::error::ReduceError;
use crate::workbench::Workbench;

/// Goes down the script level by level, so that what a large term takes with it need not be looked at (hierarchical
/// delta debugging); all terms of a level are tried together before they are tried apart.
pub struct Terms;

/// The same with parts from further down and more constants: many candidates, few of them interesting.
pub struct Depths;

/// What is tried in a term's place.
#[derive(Clone, Copy)]
struct Reach {
    /// Parts of its sort are looked for this far down; otherwise only the nearest are taken.
    depth: usize,
    parts: usize,
    /// Simple values of sorts other than Bool.
    values: usize,
    /// Declared constants.
    constants: usize,
}

const NEAR: Reach = Reach { depth: 3, parts: 3, values: 1, constants: 1 };
const FAR: Reach = Reach { depth: 5, parts: 8, values: 2, constants: 2 };

impl Pass for Terms {
    fn name(&self) -> &'static str {
        "terms"
    }

    fn run(&mut self, reduction: &mut Reduction) -> Result<(), ReduceError> {
        descend(reduction, NEAR)
    }
}

impl Pass for Depths {
    fn name(&self) -> &'static str {
        "deep terms"
    }

    fn is_last_resort(&self) -> bool {
        true
    }

    fn run(&mut self, reduction: &mut Reduction) -> Result<(), ReduceError> {
        descend(reduction, FAR)
    }
}

fn descend(reduction: &mut Reduction, reach: Reach) -> Result<(), ReduceError> {
    let mut depth = 0;
    loop {
        let levels = reduction.bench.levels();
        let Some(level) = levels.get(depth) else { return Ok(()) };
        let choices: Vec<(Term, Vec<Term>)> = level
            .iter()
            .map(|term| (*term, simpler(&mut reduction.bench, *term, depth == 0, reach)))
            .collect();
        let most = choices.iter().map(|(_, simpler)| simpler.len()).max().unwrap_or(0);
        for rank in 0..most {
            if reduction.over() {
                return Ok(());
            }
            let edits = choices
                .iter()
                .filter_map(|(term, simpler)| Some(Edit::Term(*term, *simpler.get(rank)?)))
                .collect();
            reduction.edits(edits)?;
        }
        depth += 1;
    }
}

/// Simpler terms for one, the simplest first.
fn simpler(bench: &mut Workbench, term: Term, root: bool, reach: Reach) -> Vec<Term> {
    let sort = bench.store.sort_of(term);
    if bench.store.args(term).is_empty() {
        return Vec::new();
    }
    let mut found: Vec<Term> = Vec::new();
    // Instead of an asserted constant the assertion goes, unless it is the only one.
    if root && sort == Sort::BOOL {
        if bench.draft.script.assertions().nth(1).is_none() {
            found.extend([bench.store.bool(true), bench.store.bool(false)]);
        }
    } else {
        match bench.value(term) {
            Some(value) => found.push(value),
            None => {
                let values = bench.simple_values(sort);
                let count = if sort == Sort::BOOL { 2 } else { reach.values };
                found.extend(values.into_iter().take(count));
            }
        }
    }
    found.extend(parts(&bench.store, term, reach));
    let constants: Vec<_> = bench.constants_of(sort).into_iter().take(reach.constants).collect();
    for fun in constants {
        found.extend(bench.store.call(fun, &[]));
    }
    let size = bench.store.tree_size(term);
    let mut seen = rustc_hash::FxHashSet::default();
    found.retain(|other| *other != term && seen.insert(*other) && bench.store.tree_size(*other) <= size);
    found
}

/// Parts of a term of its own sort, without variables bound on the way; near ones first.
fn parts(store: &Store, term: Term, reach: Reach) -> Vec<Term> {
    let sort = store.sort_of(term);
    let free = store.free_vars(term);
    let mut found: Vec<Term> = Vec::new();
    let mut level: Vec<Term> = vec![term];
    for _ in 0..reach.depth {
        let mut next = Vec::new();
        for parent in level {
            // Terms inside attributes are no parts of the formula.
            let whole = matches!(store.head(parent), Head::Annotated(_));
            let args = store.args(parent);
            for arg in if whole { &args[..1] } else { args } {
                if next.contains(arg) {
                    continue;
                }
                let open = store.free_vars(*arg).iter().any(|var| !free.contains(var));
                if store.sort_of(*arg) == sort && !open && !found.contains(arg) {
                    found.push(*arg);
                }
                next.push(*arg);
            }
        }
        if found.len() >= reach.parts || (!found.is_empty() && reach.depth == NEAR.depth) {
            break;
        }
        level = next;
        level.truncate(64);
    }
    found.truncate(reach.parts);
    found
}
