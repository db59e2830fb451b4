//! Wrong models and luck: what only makes a solver choose wrong values is not needed where these can be asked for.

use std::cmp::Reverse;

use smtlib::theory::Theory;
use smtlib::{Command, Script, Sort, Store, Term};

use super::Pass;
use crate::driver::{Growth, Reduction};
use crate::edit::Edit;
use crate::error::ReduceError;
use crate::predicate::models::other_models;
use crate::size::Size;
use crate::workbench::{Draft, Workbench};

/// Scripts with less, of which the solver has got a right model: with that model shut out, the next one may be wrong. A
/// solver that does not know what an operator means is right whenever it is lucky, so that whatever changes its choice
/// seems to be needed.
pub struct Steering;

/// Scripts with less that are tried, the smallest first.
const TRIED: usize = 8;

/// Terms that give way to an argument.
const TERMS: usize = 4;

/// Assertions that are looked at.
const ASSERTIONS: usize = 6;

impl Pass for Steering {
    fn name(&self) -> &'static str {
        "steering"
    }

    fn is_last_resort(&self) -> bool {
        true
    }

    fn run(&mut self, reduction: &mut Reduction) -> Result<(), ReduceError> {
        if !reduction.own_models {
            return Ok(());
        }
        for less in with_less(&mut reduction.bench) {
            let Some(model) = reduction.right_model(&less)? else { continue };
            let scripts = other_models(&mut reduction.bench.store, &less.script, &model);
            let drafts = scripts.into_iter().map(|script| Draft { script, model: None }).collect();
            // What needs fewer operators is simpler, though the condition may make it longer.
            let store = &reduction.bench.store;
            let simpler = operators(store, &less.script) < operators(store, &reduction.bench.draft.script);
            let growth = if simpler { Growth::Times(2) } else { Growth::Smaller };
            if reduction.drafts(drafts, growth)? {
                break;
            }
        }
        Ok(())
    }
}

/// How many operators a script has, beside those that connect and compare.
fn operators(store: &Store, script: &Script) -> usize {
    let usage = smtlib::logic::usage(store, script);
    usage.operators.iter().filter(|op| op.row().theory != Theory::Core).count()
}

/// The script with one assertion, without one, with a part of one in its place, and with an argument in the place of a term.
fn with_less(bench: &mut Workbench) -> Vec<Draft> {
    let asserted: Vec<(usize, Term)> = bench
        .roots()
        .into_iter()
        .filter(|(place, ..)| matches!(bench.draft.script.commands[*place], Command::Assert(_)))
        .map(|(place, _, root)| (place, root))
        .take(ASSERTIONS)
        .collect();
    let mut edits: Vec<Vec<Edit>> = Vec::new();
    for (place, root) in &asserted {
        if asserted.len() > 1 {
            edits.push(vec![Edit::Drop(*place)]);
        }
        if asserted.len() > 2 {
            let others = asserted.iter().filter(|(other, _)| other != place);
            edits.push(others.map(|(other, _)| Edit::Drop(*other)).collect());
        }
        let parts = bench.store.args(*root).iter().filter(|part| bench.store.sort_of(**part) == Sort::BOOL);
        edits.extend(parts.map(|part| vec![Edit::Command(*place, Command::Assert(*part))]));
    }
    let roots: Vec<Term> = asserted.iter().map(|(_, root)| *root).collect();
    let mut terms = bench.store.subterms(&roots);
    terms.retain(|term| bench.store.sort_of(*term) != Sort::BOOL && bench.store.free_vars(*term).is_empty());
    terms.sort_by_cached_key(|term| (Reverse(bench.store.tree_size(*term)), *term));
    let arguments = terms.iter().filter_map(|term| {
        let same = |arg: &&Term| bench.store.sort_of(**arg) == bench.store.sort_of(*term);
        bench.store.args(*term).iter().find(same).map(|arg| vec![Edit::Term(*term, *arg)])
    });
    edits.extend(arguments.take(TERMS));
    let mut drafts: Vec<Draft> = edits.iter().filter_map(|edits| bench.with(edits)).collect();
    drafts.sort_by_cached_key(|draft| {
        let text = smtlib::print::print(&bench.store, &draft.script, smtlib::Release::STANDARD);
        Size::of(text.as_bytes())
    });
    drafts.truncate(TRIED);
    drafts
}
