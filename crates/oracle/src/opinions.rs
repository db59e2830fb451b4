//! The answers to compare: everybody's run on a text, and third opinions.
//!
//! Where parties contradict each other and nothing tells who is right, solvers of other lines are asked before anybody
//! is accused. Their runs join those of the parties. From there on they are like any other: the judge looks at them,
//! confirmations make them again, and a reduction asks them about its candidates.

use std::sync::Arc;

use smtlib::literal::Escapes;
use smtlib::print::{self, Dialect};
use smtlib::{Mode, Store};
use solver::run::{Configuration, PartyId, Purpose, Run, RunError, Runner};
use solver::{Outline, RunClass};

use crate::asking::Asking;
use crate::settle::{Said, families, own_view};
use crate::subject::Subject;

/// Solvers that are asked, at most.
const MOST: usize = 2;

/// Everybody's run on a text. Who refuses it and was given no options is asked again with all it has. A text in the
/// [notation](Escapes) of an old release is written anew for those that do not read it.
pub fn first_runs(runner: &mut dyn Runner, text: &[u8]) -> Result<Vec<Run>, RunError> {
    let checks = Outline::of(text).checks();
    let mut runs = runner.run_all(text, Purpose::Test)?;
    if Escapes::of(text) == Escapes::Hex {
        let mut store = Store::new();
        let parsed = smtlib::parse(&mut store, text, Mode::Tolerant).ok();
        for run in &mut runs {
            let release = run.configuration.release();
            if let Some(parsed) = parsed.as_ref().filter(|_| Dialect::of(release).escapes != Escapes::Hex) {
                let own = print::print(&store, &parsed.script, release);
                *run = runner.run(&Arc::clone(&run.configuration), own.as_bytes(), Purpose::Test)?;
            }
        }
    }
    for run in &mut runs {
        let refused = matches!(run.answers.class, RunClass::Unsupported | RunClass::Rejected)
            || (run.answers.class == RunClass::Answered
                && run.answers.checks.len() < checks
                && !run.answers.errors.is_empty());
        if !refused || run.configuration.option_count() > 0 {
            continue;
        }
        let broad = Arc::new(run.configuration.broadened());
        let again = runner.run(&broad, &run.script.clone(), Purpose::Test)?;
        if again.answers.trusted().count() > run.answers.trusted().count() {
            *run = again;
        }
    }
    Ok(runs)
}

/// Adds the runs of third opinions to those of the parties, where they are needed and can be had.
pub fn ask_third_opinions(
    subject: &mut Subject,
    runs: &mut Vec<Run>,
    asking: &mut Asking,
) -> Result<(), RunError> {
    if asking.third_opinions().is_empty() {
        return Ok(());
    }
    let mut open = Vec::new();
    for check in 0..checks(runs) {
        let said = said(runs, check);
        if contradicts(&said) {
            let view = own_view(subject, check, &said, asking)?;
            if view.settled.is_none() && families(&said, &view.refuted).is_none() {
                open.push((check, view.refuted));
            }
        }
    }
    let mut asked = 0;
    for candidate in asking.third_opinions().to_vec() {
        if open.is_empty() || asked == MOST {
            break;
        }
        let known = runs.iter().any(|run| run.configuration.lineage() == candidate.lineage());
        if known || !is_able(subject, &candidate) {
            continue;
        }
        let text = text(subject, &candidate, runs);
        let candidate = numbered(&candidate, runs, asking);
        // Nobody has named this solver: if it cannot be started, there is one opinion less.
        match asking.run(&candidate, &text) {
            Ok(run) => runs.push(run),
            Err(error) if error.concerns_solver() => continue,
            Err(error) => return Err(error),
        }
        asked += 1;
        open.retain(|(check, refuted)| families(&said(runs, *check), refuted).is_none());
    }
    Ok(())
}

/// The number of checks that anybody answered.
pub fn checks(runs: &[Run]) -> usize {
    let answered = runs.iter().flat_map(|run| run.answers.checks.iter().map(|answer| answer.check + 1));
    answered.max().unwrap_or(0)
}

/// The answers to a check. A missing answer is no difference, whatever the reason.
pub fn said(runs: &[Run], check: usize) -> Vec<Said<'_>> {
    runs.iter().filter_map(|run| Some((run, run.status(check)?))).collect()
}

/// Is there more than one answer?
pub fn contradicts(said: &[Said]) -> bool {
    said.iter().any(|(_, status)| Some(*status) != said.first().map(|first| first.1))
}

/// Does the solver claim what the script uses? A script that we cannot read is left to those who were named.
fn is_able(subject: &Subject, candidate: &Configuration) -> bool {
    let usage = subject.script.map(|script| smtlib::logic::usage(subject.store, script));
    usage.is_some_and(|usage| candidate.solver.accepts(&usage))
}

/// The script in the solver's own dialect.
fn text(subject: &Subject, candidate: &Configuration, runs: &[Run]) -> Vec<u8> {
    match subject.script {
        Some(script) => print::print(subject.store, script, candidate.release()).into_bytes(),
        None => runs.first().map(|run| run.script.to_vec()).unwrap_or_default(),
    }
}

/// The solver with a number that no party has, and with all it has switched on.
fn numbered(candidate: &Configuration, runs: &[Run], asking: &Asking) -> Arc<Configuration> {
    let taken =
        runs.iter().map(|run| run.party().0).chain(asking.configurations().iter().map(|party| party.id.0));
    let mut party = candidate.broadened();
    party.id = PartyId(taken.max().map_or(0, |highest| highest + 1));
    Arc::new(party)
}
