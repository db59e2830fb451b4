//! Scripts with several checks: push and pop, assumptions, resets.

use smtlib::{Command, Script};

use super::Pass;
use crate::driver::{Growth, Reduction};
use crate::error::ReduceError;
use crate::tactics::{self, PLAIN};
use crate::workbench::Draft;

/// Takes out pairs of push and pop, keeps what is in force at one check only, and asserts assumptions.
pub struct Structure;

impl Pass for Structure {
    fn name(&self) -> &'static str {
        "push and pop"
    }

    fn run(&mut self, reduction: &mut Reduction) -> Result<(), ReduceError> {
        let script = reduction.bench.draft.script.clone();
        let draft = |script: Script| Draft { script, model: reduction.bench.draft.model.clone() };
        let mut drafts: Vec<Draft> = Vec::new();
        if script.is_incremental() {
            // One check from scratch, the last first; what stands behind it (get-model, get-value) stays.
            let frames = oracle::frame::frames(&reduction.bench.store, &script);
            drafts.extend(frames.iter().rev().take(8).map(|frame| draft(frame.alone())));
        }
        drafts.extend(without_pairs(&script).into_iter().map(draft));
        drafts.extend(asserted(&script).into_iter().map(draft));
        for flat in drafts {
            reduction.drafts(vec![flat], Growth::Smaller)?;
        }
        let script = reduction.bench.draft.script.clone();
        if let Some(script) = with_plain_tactic(&script) {
            let draft = Draft { script, model: reduction.bench.draft.model.clone() };
            reduction.drafts(vec![draft], Growth::Times(1))?;
        }
        Ok(())
    }
}

/// The script with the plain tactic in every check that has another one.
fn with_plain_tactic(script: &Script) -> Option<Script> {
    let mut plain = script.clone();
    for command in &mut plain.commands {
        if let Command::CheckSatUsing(tactic) = command {
            *tactic = PLAIN.into();
        }
    }
    (plain != *script).then_some(plain)
}

/// Scripts with one pair of push and pop less; the first with none at all.
fn without_pairs(script: &Script) -> Vec<Script> {
    let structural = |command: &Command| {
        matches!(command, Command::Push(_) | Command::Pop(_) | Command::Reset | Command::ResetAssertions)
    };
    if !script.commands.iter().any(structural) {
        return Vec::new();
    }
    let mut flat = script.clone();
    flat.commands.retain(|command| !structural(command));
    let mut found = vec![flat];
    let mut open: Vec<usize> = Vec::new();
    for (place, command) in script.commands.iter().enumerate() {
        match command {
            Command::Push(1) => open.push(place),
            Command::Pop(1) => {
                if let Some(start) = open.pop() {
                    let mut pair = script.clone();
                    pair.commands.remove(place);
                    pair.commands.remove(start);
                    found.push(pair);
                    let mut whole = script.clone();
                    whole.commands.drain(start..=place);
                    found.push(whole);
                }
            }
            Command::Reset | Command::ResetAssertions => {
                let mut less = script.clone();
                less.commands.remove(place);
                found.push(less);
                open.clear();
            }
            // Several levels at once: not worth the bookkeeping.
            Command::Push(_) | Command::Pop(_) => open.clear(),
            _ => {}
        }
    }
    found.extend(open.into_iter().map(|place| {
        let mut less = script.clone();
        less.commands.remove(place);
        less
    }));
    found
}

/// Scripts in which one check with assumptions is a plain one: without them, or with them asserted before it.
fn asserted(script: &Script) -> Vec<Script> {
    let mut found = Vec::new();
    for (place, command) in script.commands.iter().enumerate() {
        match command {
            Command::CheckSatAssuming(terms) => {
                let mut plain = script.clone();
                plain.commands[place] = Command::CheckSat;
                found.push(plain.clone());
                plain.commands.splice(place..place, terms.iter().map(|term| Command::Assert(*term)));
                found.push(plain);
                for left in 0..terms.len() {
                    let mut fewer = terms.clone();
                    fewer.remove(left);
                    let mut less = script.clone();
                    less.commands[place] = Command::CheckSatAssuming(fewer);
                    found.push(less);
                }
            }
            Command::CheckSatUsing(tactic) => {
                let parts =
                    tactics::smaller(tactic).into_iter().map(|part| Command::CheckSatUsing(part.into()));
                for other in std::iter::once(Command::CheckSat).chain(parts) {
                    let mut plain = script.clone();
                    plain.commands[place] = other;
                    found.push(plain);
                }
            }
            Command::GetValue(terms) if terms.len() > 1 => {
                for left in 0..terms.len() {
                    let mut fewer = terms.clone();
                    fewer.remove(left);
                    let mut less = script.clone();
                    less.commands[place] = Command::GetValue(fewer);
                    found.push(less);
                }
            }
            _ => {}
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;
    use smtlib::{Mode, Release, Store, parse, print};

    #[test]
    fn pairs_go_with_and_without_what_is_between_them() {
        let mut store = Store::new();
        let text = "(declare-const a Bool)(push 1)(assert a)(pop 1)(check-sat)";
        let script = parse(&mut store, text.as_bytes(), Mode::Tolerant).expect("a script").script;
        let found: Vec<String> = without_pairs(&script)
            .iter()
            .map(|script| print::print(&store, script, Release::STANDARD))
            .collect();
        assert!(found.contains(&"(declare-const a Bool)\n(assert a)\n(check-sat)\n".to_owned()));
        assert!(found.contains(&"(declare-const a Bool)\n(check-sat)\n".to_owned()));
    }

    #[test]
    fn a_tactic_gives_way_to_the_plain_one() {
        let mut store = Store::new();
        let mut plain = |text: &str| {
            let script = parse(&mut store, text.as_bytes(), Mode::Tolerant).expect("a script").script;
            with_plain_tactic(&script).map(|script| print::print(&store, &script, Release::STANDARD))
        };
        let text = "(check-sat)(check-sat-using (then simplify bv))";
        assert_eq!(plain(text).as_deref(), Some("(check-sat)\n(check-sat-using smt)\n"));
        assert_eq!(plain("(check-sat-using smt)"), None);
    }

    #[test]
    fn assumptions_are_dropped_or_asserted() {
        let mut store = Store::new();
        let text = "(declare-const a Bool)(check-sat-assuming (a))";
        let script = parse(&mut store, text.as_bytes(), Mode::Tolerant).expect("a script").script;
        let found: Vec<String> =
            asserted(&script).iter().map(|script| print::print(&store, script, Release::STANDARD)).collect();
        assert_eq!(found[0], "(declare-const a Bool)\n(check-sat)\n");
        assert_eq!(found[1], "(declare-const a Bool)\n(assert a)\n(check-sat)\n");
    }
}
