//! Terms of which only the value matters.

use smtlib::Term;

use super::Pass;
use crate::driver::{Growth, Reduction};
use crate::error::ReduceError;
use crate::held::{held, simple_models, values_of};
use crate::workbench::Workbench;

/// A constant that is said to have a value, in the place of a term that computes it. Solvers simplify a value in the place
/// of a term, so that a script may seem to need whatever hides it from them; which form of that a release simplifies says
/// nothing about the bug.
pub struct Values;

/// Terms that are tried, the largest first.
const TERMS: usize = 6;

impl Pass for Values {
    fn name(&self) -> &'static str {
        "values of terms"
    }

    fn is_last_resort(&self) -> bool {
        true
    }

    fn run(&mut self, reduction: &mut Reduction) -> Result<(), ReduceError> {
        // With a witness, a constant alone says less.
        if reduction.bench.draft.model.is_some() {
            return Ok(());
        }
        let models = simple_models(&mut reduction.bench);
        let mut tries: Vec<(Term, Term)> = Vec::new();
        for term in candidates(&reduction.bench) {
            let values = values_of(&mut reduction.bench, term, &models, eval::Mode::Choose);
            tries.extend(values.into_iter().map(|value| (term, value)));
        }
        let build = &mut |bench: &mut Workbench, number: usize| {
            let (term, value) = tries[number];
            held(bench, term, value)
        };
        reduction.first(tries.len(), Growth::Smaller, build).map(|_| ())
    }
}

/// Closed terms below the assertions that compute something.
fn candidates(bench: &Workbench) -> Vec<Term> {
    let store = &bench.store;
    let roots: Vec<Term> = bench.draft.script.assertions().collect();
    let mut found = store.subterms(&roots);
    found.retain(|term| {
        !store.args(*term).is_empty() && !roots.contains(term) && store.free_vars(*term).is_empty()
    });
    found.sort_by_cached_key(|term| (std::cmp::Reverse(store.tree_size(*term)), *term));
    found.truncate(TERMS);
    found
}
