//! Wrong models and luck: what only makes a solver choose wrong values is not needed where these can be asked for.

use smtlib::{Command, Sort, Term};

use super::Pass;
use crate::driver::{Growth, Reduction};
use crate::edit::Edit;
use crate::error::ReduceError;
use crate::predicate::models::steered;
use crate::size::Size;
use crate::workbench::{Draft, Workbench};

/// Scripts with less, of which the solver has got a right model: with that model shut out, the next one may be wrong. A
/// solver that does not know what an operator means is right whenever it is lucky, so that whatever changes its choice
/// seems to be needed.
pub struct Steering;

/// Scripts with less that are tried, the smallest first.
const TRIED: usize = 8;

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
            let scripts = steered(&mut reduction.bench.store, &less.script, &model);
            let drafts = scripts.into_iter().map(|script| Draft { script, model: None }).collect();
            if reduction.drafts(drafts, Growth::Smaller)? {
                break;
            }
        }
        Ok(())
    }
}

/// The script with one assertion, without one, and with a part of one in its place.
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
    let mut drafts: Vec<Draft> = edits.iter().filter_map(|edits| bench.with(edits)).collect();
    drafts.sort_by_cached_key(|draft| {
        let text = smtlib::print::print(&bench.store, &draft.script, smtlib::Release::STANDARD);
        Size::of(text.as_bytes())
    });
    drafts.truncate(TRIED);
    drafts
}
