//! One occurrence of a term that stands in several places.

use rustc_hash::FxHashMap;
use smtlib::{Path, Term};

use super::Pass;
use crate::driver::{Growth, Reduction};
use crate::edit::Edit;
use crate::error::ReduceError;

/// Replaces a single occurrence where the term occurs more than once: the other passes replace all at once.
pub struct Occurrences;

/// Places looked at in one turn: this is for scripts that are small already.
const PLACES: usize = 24;

impl Pass for Occurrences {
    fn name(&self) -> &'static str {
        "occurrences"
    }

    fn is_last_resort(&self) -> bool {
        true
    }

    fn run(&mut self, reduction: &mut Reduction) -> Result<(), ReduceError> {
        let mut edits: Vec<Edit> = Vec::new();
        for (place, number, path, term) in repeated(reduction) {
            let bench = &mut reduction.bench;
            let sort = bench.store.sort_of(term);
            let mut choices = match bench.value(term) {
                Some(value) => vec![value],
                None => bench.simple_values(sort).into_iter().take(2).collect(),
            };
            choices.retain(|choice| {
                *choice != term && bench.store.tree_size(*choice) <= bench.store.tree_size(term)
            });
            edits.extend(choices.into_iter().map(|choice| Edit::At(place, number, path.clone(), choice)));
        }
        // After a success the places are others.
        reduction
            .first(edits.len(), Growth::Smaller, &mut |bench, number| bench.with(&edits[number..=number]))
            .map(|_| ())
    }
}

/// Occurrences of terms that occur more than once, with their command, root and path.
fn repeated(reduction: &Reduction) -> Vec<(usize, usize, Path, Term)> {
    let bench = &reduction.bench;
    let mut all: Vec<(usize, usize, Path, Term)> = Vec::new();
    for (place, number, root) in bench.roots() {
        let mut stack: Vec<(Path, Term)> = vec![(Path::new(), root)];
        while let Some((path, term)) = stack.pop() {
            if all.len() > PLACES * 4 {
                return Vec::new();
            }
            for (child, arg) in bench.store.args(term).iter().enumerate() {
                let mut deeper = path.clone();
                deeper.push(child as u32);
                stack.push((deeper, *arg));
            }
            all.push((place, number, path, term));
        }
    }
    let mut counts: FxHashMap<Term, usize> = FxHashMap::default();
    for (_, _, _, term) in &all {
        *counts.entry(*term).or_default() += 1;
    }
    all.retain(|(_, _, path, term)| counts[term] > 1 && !path.is_empty());
    all.sort_by_key(|(place, number, path, _)| (path.len(), *place, *number, path.clone()));
    all.truncate(PLACES);
    all
}
