//! What a round does in words: for the provenance of its mutants, and for people who ask.

use std::fmt::Write as _;

use smtlib::{Release, Store, Term, print};

use super::coercion::Coercion;
use super::coverage::Cover;
use super::meta::{Enforced, Meta};

/// Constants and monitors that are named; the rest is counted.
const NAMED: usize = 8;

/// Longer terms are cut in a line of text.
const LONGEST: usize = 80;

/// What was enforced.
pub fn enforcement(store: &Store, meta: &Meta, enforced: &[Enforced]) -> String {
    let named = enforced.iter().filter_map(|(number, truth)| {
        Some(format!("{} = {truth}", short(store, meta.monitors.get(*number)?.says)))
    });
    some(named.collect())
}

/// What was done to the seed: the enforcement, and the constants that changed.
pub fn changes(store: &Store, meta: &Meta, constants: &[Term], enforced: &[Enforced]) -> Vec<String> {
    let changed =
        meta.holes.list().iter().zip(constants).filter(|(hole, constant)| hole.original != **constant);
    let named = changed
        .map(|(hole, constant)| format!("{} for {}", short(store, *constant), short(store, hole.original)));
    let mut changes = vec![format!("constants {}", some(named.collect()))];
    if !enforced.is_empty() {
        changes.insert(0, format!("enforced {}", enforcement(store, meta, enforced)));
    }
    changes
}

/// Skeleton, monitors, and what covered them.
pub fn round(store: &Store, round: &Coercion, name: &dyn Fn(usize) -> String) -> String {
    let mut text = String::from("skeleton:\n");
    let skeleton = print::print(store, &round.meta.holes.skeleton(), Release::STANDARD);
    for line in skeleton.lines() {
        let _ = writeln!(text, "  {line}");
    }
    text.push_str("constants of the seed:\n");
    for hole in round.meta.holes.list() {
        let _ = writeln!(text, "  {} = {}", short(store, hole.term), short(store, hole.original));
    }
    text.push_str("monitors, and the mutants that covered them first:\n");
    for (number, monitor) in round.meta.monitors.iter().enumerate() {
        let by = |truth| match round.coverage.by((number, truth)) {
            Some(Cover::Mutant(mutant)) => format!("{truth} by {}", name(mutant)),
            Some(Cover::Earlier) => format!("{truth} by an earlier round"),
            None if round.coverage.is_impossible((number, truth)) => format!("{truth} impossible"),
            None => format!("{truth} by none"),
        };
        let (term, says) = (short(store, monitor.term), short(store, monitor.says));
        let _ = writeln!(text, "  {term} = {says}: {}, {}", by(true), by(false));
    }
    let pairs = round.coverage.count(round.config.multief);
    let counts = round.counts;
    let _ = writeln!(
        text,
        "{} of {} truth values covered, {} impossible, {} given up{}; {} of {} enforcements had a model; {} mutants, {} substitutions \
         repeated; {} of {} enforced truth values hold in the mutant's own model",
        pairs.covered,
        pairs.all,
        pairs.impossible,
        pairs.given_up,
        end(round),
        counts.satisfied,
        counts.enforcements,
        counts.mutants,
        counts.repeated,
        counts.held,
        counts.modelled
    );
    text
}

/// Why the round enforces nothing more.
fn end(round: &Coercion) -> &'static str {
    match (round.is_done(), round.nobody_decides()) {
        (false, _) => "",
        (true, false) => ", nothing is left to enforce",
        (true, true) => ", nobody decides what is enforced",
    }
}

fn some(mut named: Vec<String>) -> String {
    let more = named.len().saturating_sub(NAMED);
    named.truncate(NAMED);
    let rest = if more > 0 { format!(" and {more} more") } else { String::new() };
    format!("{}{rest}", named.join(", "))
}

fn short(store: &Store, term: Term) -> String {
    let text = store.term_text(term);
    if text.chars().count() <= LONGEST {
        return text;
    }
    text.chars().take(LONGEST).chain("...".chars()).collect()
}
