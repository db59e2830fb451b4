//! One term by itself: where a solver takes a function for something else, what stands around it does not matter.

use smtlib::{Command, Op, Script, Sort, Term};

use super::Pass;
use crate::driver::{Growth, Reduction};
use crate::error::ReduceError;
use crate::workbench::{Draft, Workbench};

/// Asserts of one term that it has its value under the model, and nothing else. What stays wrong then is wrong about
/// that term, so that findings in which it stands at different places come down to the same script.
pub struct Isolate;

/// Terms that are tried, the smallest first.
const TERMS: usize = 24;

impl Pass for Isolate {
    fn name(&self) -> &'static str {
        "isolation"
    }

    fn is_last_resort(&self) -> bool {
        true
    }

    fn run(&mut self, reduction: &mut Reduction) -> Result<(), ReduceError> {
        let terms = candidates(&reduction.bench);
        let build = &mut |bench: &mut Workbench, number: usize| isolated(bench, terms[number]);
        reduction.first(terms.len(), Growth::Smaller, build).map(|_| ())
    }
}

/// Closed terms below the assertions that are neither constants nor values.
fn candidates(bench: &Workbench) -> Vec<Term> {
    if bench.draft.model.is_none() {
        return Vec::new();
    }
    let store = &bench.store;
    let roots: Vec<Term> = bench.draft.script.assertions().collect();
    let mut found = store.subterms(&roots);
    found.retain(|term| {
        !store.args(*term).is_empty() && !roots.contains(term) && store.free_vars(*term).is_empty()
    });
    found.sort_by_cached_key(|term| (store.tree_size(*term), *term));
    found.truncate(TERMS);
    found
}

/// The script with what the model says of one term as its only assertion, where the last one stood.
fn isolated(bench: &mut Workbench, term: Term) -> Option<Draft> {
    let value = bench.value(term)?;
    let store = &mut bench.store;
    let fact = if store.sort_of(term) != Sort::BOOL {
        store.op(Op::Equal, &[term, value]).ok()?
    } else if value == store.bool(true) {
        term
    } else {
        store.not(term).ok()?
    };
    let last = bench.draft.script.commands.iter().rposition(is_assertion)?;
    let mut script = Script::default();
    for (place, command) in bench.draft.script.commands.iter().enumerate() {
        if place == last {
            script.commands.push(Command::Assert(fact));
        } else if !is_assertion(command) {
            script.commands.push(command.clone());
        }
    }
    bench.changed(script)
}

fn is_assertion(command: &Command) -> bool {
    matches!(command, Command::Assert(_))
}
