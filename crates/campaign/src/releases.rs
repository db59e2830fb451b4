//! Which installed releases have a bug: the script that shows it, run on all of them.

use std::sync::Arc;

use engines::Expectation;
use oracle::{Configuration, Court, Rerun as _, RunError, Subject};
use solver::{Adapters, Home, Solver, Solvers};

use crate::essence::{Essence, text};
use crate::finding::Releases;
use crate::inquiry::{Parts, expected};

/// Puts every installed release in the place of the accused and judges again. Nothing without an accused or when no
/// other release is installed.
pub fn compare(
    court: &Court,
    parts: &mut Parts,
    essence: &Essence,
    expectation: &Expectation,
) -> Result<Option<Releases>, RunError> {
    let Some(accused) = essence.verdict.accused else { return Ok(None) };
    let own = &essence.runs[accused].configuration;
    let mut found = Releases::default();
    let mut order: Vec<(String, bool)> = Vec::new();
    for solver in installed(&own.solver) {
        let configuration = Arc::new(Configuration { solver, request: own.request.clone() });
        let usage = smtlib::logic::usage(parts.store, &essence.script);
        if !usage.operators.iter().all(|op| op.row().accepted_by(configuration.release())) {
            continue;
        }
        let script = text(parts.store, &essence.script, &configuration, own.request.models);
        let mut runs = essence.runs.clone();
        runs[accused] = parts.executor.run(&configuration, script.as_bytes())?;
        // Giving up or refusing says nothing about the bug.
        if runs[accused].answers.class != solver::RunClass::Answered
            && runs[accused].answers.crash().is_none()
        {
            continue;
        }
        let mut subject = Subject::new(parts.store, Some(&essence.script), &[]);
        subject.expected = expected(expectation);
        let verdicts = court.judge(&mut subject, &runs, parts.executor)?;
        let same = verdicts.iter().any(|verdict| {
            verdict.kind == essence.verdict.kind && verdict.accused == Some(accused) && verdict.is_finding()
        });
        order.push((configuration.solver.name(), same));
    }
    let first = order.iter().position(|(_, affected)| *affected);
    let last = order.iter().rposition(|(_, affected)| *affected);
    found.last_good = first.and_then(|first| order[..first].last()).map(|(name, _)| name.clone());
    found.first_fixed = last.and_then(|last| order.get(last + 1)).map(|(name, _)| name.clone());
    for (name, affected) in order {
        if affected { found.affected.push(name) } else { found.clean.push(name) }
    }
    Ok(Some(found))
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
