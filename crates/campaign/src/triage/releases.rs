//! Which installed releases have a bug: the script that shows it, run on all of them.

use std::sync::Arc;

use reduce::ReduceError;
use reduce::driver::Best;
use reduce::predicate::{Bug, Candidate, Predicate as _};
use smtlib::{Mode, Store, print};
use solver::run::{Accounts, Configuration};
use solver::{Adapters, Home, Solver, Solvers};

use crate::findings::Releases;

/// Puts every installed release in the place of the accused and looks for the same bug. Nothing when no other release
/// is installed. With what the runs have cost.
pub fn compare(bug: &Bug, best: &Best) -> Result<(Option<Releases>, Accounts), ReduceError> {
    let own = best.configuration.as_ref().unwrap_or_else(|| bug.accused());
    let mut store = Store::new();
    let parsed = smtlib::parse(&mut store, best.text.as_bytes(), Mode::Tolerant).ok();
    let usage = parsed.as_ref().map(|parsed| smtlib::logic::usage(&store, &parsed.script));
    let mut examiner = bug.examiner()?;
    let mut order: Vec<(String, bool)> = Vec::new();
    for solver in installed(&own.solver) {
        let configuration = Arc::new(Configuration { id: own.id, solver, request: own.request.clone() });
        let release = configuration.release();
        let fits =
            |usage: &smtlib::logic::Usage| usage.operators.iter().all(|op| op.row().accepted_by(release));
        if !usage.as_ref().is_none_or(fits) {
            continue;
        }
        let text = match &parsed {
            Some(parsed) if release != own.release() => print::print(&store, &parsed.script, release),
            _ => best.text.clone(),
        };
        let candidate = Candidate {
            text: &text,
            configuration: Some(&configuration),
            satisfied: best.witness.is_some(),
            subset: false,
            plain: true,
        };
        let judgement = examiner.examine(&candidate)?;
        // Giving up or refusing says nothing about the bug.
        if judgement.answered {
            order.push((configuration.solver.name(), judgement.interesting));
        }
    }
    let accounts = examiner.take_accounts();
    if order.is_empty() {
        return Ok((None, accounts));
    }
    let mut found = Releases::default();
    let first = order.iter().position(|(_, affected)| *affected);
    let last = order.iter().rposition(|(_, affected)| *affected);
    found.last_good = first.and_then(|first| order[..first].last()).map(|(name, _)| name.clone());
    found.first_fixed = last.and_then(|last| order.get(last + 1)).map(|(name, _)| name.clone());
    for (name, affected) in order {
        if affected { found.affected.push(name) } else { found.clean.push(name) }
    }
    Ok((Some(found), accounts))
}

/// The installed releases of the same solver with the same options, oldest first.
fn installed(own: &Solver) -> Vec<Solver> {
    let Ok(home) = Home::of_user() else { return Vec::new() };
    let solvers = Solvers::new(Adapters::built_in(), home);
    let mut releases: Vec<Solver> = solvers
        .list(false)
        .into_iter()
        .filter(|listed| listed.name == own.installed.name)
        .flat_map(|listed| listed.installed)
        .filter(|installed| installed.version.is_some())
        .map(|installed| Solver { installed, ..own.clone() })
        .collect();
    releases.sort_by(|a, b| a.version().cmp(&b.version()));
    releases.dedup_by(|a, b| a.version() == b.version());
    releases
}
