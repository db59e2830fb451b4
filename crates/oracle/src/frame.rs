//! What is in force at each check of a script.

use eval::side_conditions::{SideCondition, changes_meaning, of_tactic, side_conditions};
use smtlib::{Command, Fun, Script, Store, Term};

/// A check of satisfiability with everything it depends on, as a script without push and pop.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Frame {
    /// Options, logic, declarations and assertions in force, in order; no check.
    pub script: Script,
    /// Assumptions of `check-sat-assuming`.
    pub assumptions: Vec<Term>,
    /// The tactic of `check-sat-using`. Without one the check is plain, and may be asked anew by itself.
    pub tactic: Option<Box<str>>,
}

impl Frame {
    /// The formulas that a model must make true.
    pub fn formulas(&self) -> Vec<Term> {
        self.script.assertions().chain(self.assumptions.iter().copied()).collect()
    }

    /// What constrains models besides the formulas, or changes what they mean.
    pub fn side_conditions(&self, store: &Store) -> Vec<SideCondition> {
        let tactic = self.tactic.as_deref().and_then(of_tactic);
        side_conditions(store, &self.script).into_iter().chain(tactic).collect()
    }

    /// The frame by itself: assumptions as assertions, one check at the end.
    pub fn alone(&self) -> Script {
        let mut script = self.script.clone();
        script.commands.extend(self.assumptions.iter().map(|term| Command::Assert(*term)));
        script.commands.push(Command::CheckSat);
        script
    }

    /// Assertions by name: the name of `(! t :named n)` and the assertion's place among the commands.
    pub fn named(&self, store: &Store) -> Vec<(Fun, usize)> {
        let mut found = Vec::new();
        for (place, command) in self.script.commands.iter().enumerate() {
            if let Command::Assert(term) = command
                && let Some(name) = name_of(store, *term)
            {
                found.push((name, place));
            }
        }
        found
    }
}

/// The name an assertion has as a whole.
pub fn name_of(store: &Store, term: Term) -> Option<Fun> {
    use smtlib::{AttributeValue, Head};
    let Head::Annotated(attributes) = store.head(term) else { return None };
    store.attribute_list(attributes).iter().find_map(|attribute| match attribute.value {
        AttributeValue::Named(fun) => Some(fun),
        _ => None,
    })
}

/// The frames of all checks, in order.
pub fn frames(store: &Store, script: &Script) -> Vec<Frame> {
    let mut levels: Vec<Vec<Command>> = vec![Vec::new()];
    let mut global_declarations = false;
    let mut frames = Vec::new();
    for command in &script.commands {
        match command {
            Command::Push(count) => levels.extend((0..*count).map(|_| Vec::new())),
            Command::Pop(count) => {
                let keep = levels.len().saturating_sub(*count as usize).max(1);
                let dropped: Vec<Command> = levels.drain(keep..).flatten().collect();
                if global_declarations {
                    let stays = dropped.into_iter().filter(|command| !matches!(command, Command::Assert(_)));
                    levels[keep - 1].extend(stays);
                }
            }
            Command::ResetAssertions => {
                let all: Vec<Command> = std::mem::take(&mut levels).into_iter().flatten().collect();
                let stays = |command: &Command| match command {
                    Command::SetLogic(_) | Command::SetOption(..) | Command::SetInfo(..) => true,
                    Command::Assert(_) => false,
                    _ => global_declarations,
                };
                levels.push(all.into_iter().filter(stays).collect());
            }
            Command::Reset => {
                // Z3 keeps its parameters.
                let stays = |command: &Command| match command {
                    Command::SetOption(keyword, value) => {
                        changes_meaning(store.name(*keyword), value).is_some()
                    }
                    _ => false,
                };
                levels = vec![levels.into_iter().flatten().filter(stays).collect()];
                global_declarations = false;
            }
            Command::CheckSat | Command::CheckSatUsing(_) | Command::CheckSatAssuming(_) => {
                let commands = levels.iter().flatten().cloned().collect();
                let assumptions = match command {
                    Command::CheckSatAssuming(terms) => terms.clone(),
                    _ => Vec::new(),
                };
                let tactic = match command {
                    Command::CheckSatUsing(tactic) => Some(tactic.clone()),
                    _ => None,
                };
                frames.push(Frame { script: Script { commands }, assumptions, tactic });
            }
            Command::Exit => break,
            Command::SetOption(keyword, value) => {
                if store.name(*keyword) == ":global-declarations" {
                    global_declarations = &**value == "true";
                }
                // Options are not undone by pop, and must stand before the logic.
                levels[0].push(command.clone());
            }
            Command::GetModel
            | Command::GetUnsatCore
            | Command::GetUnsatAssumptions
            | Command::GetAssertions
            | Command::GetAssignment
            | Command::GetProof
            | Command::GetValue(_)
            | Command::GetInfo(_)
            | Command::GetOption(_)
            | Command::Echo(_)
            | Command::Simplify(..)
            | Command::Eval(..) => {}
            _ => {
                if let Some(level) = levels.last_mut() {
                    level.push(command.clone());
                }
            }
        }
    }
    frames
}

#[cfg(test)]
mod tests {
    use super::*;
    use smtlib::{Mode, Release, parse, print};

    fn frames_of(text: &str) -> Vec<String> {
        let mut store = Store::new();
        let script = parse(&mut store, text.as_bytes(), Mode::Tolerant).expect("a script").script;
        let all = frames(&store, &script);
        all.iter().map(|frame| print::print(&store, &frame.alone(), Release::STANDARD)).collect()
    }

    #[test]
    fn a_frame_holds_what_was_in_force_and_nothing_else() {
        let all = frames_of(
            "(set-logic QF_LIA)(declare-const x Int)(assert (> x 0))(push 1)(declare-const y Int)\
             (assert (> y x))(check-sat)(get-model)(pop 1)(assert (< x 9))(check-sat-assuming ((> x 3)))",
        );
        assert_eq!(all.len(), 2);
        assert!(all[0].contains("(> y x)") && !all[0].contains("(< x 9)") && !all[0].contains("push"));
        assert!(!all[1].contains("y") && all[1].contains("(assert (> x 3))"));
        assert!(all[1].ends_with("(check-sat)\n"));
    }

    #[test]
    fn what_changes_the_meaning_outlives_a_reset() {
        let all = frames_of(
            "(set-option :produce-models true)(set-option :rewriter.hi_div0 false)(declare-const x Int)\
             (assert (> x 0))(reset)(declare-const y Int)(assert (> y 0))(check-sat)",
        );
        assert!(all[0].contains(":rewriter.hi_div0") && all[0].contains("(> y 0)"), "{}", all[0]);
        assert!(!all[0].contains(":produce-models") && !all[0].contains("(> x 0)"), "{}", all[0]);
    }

    #[test]
    fn global_declarations_outlive_their_level() {
        let all = frames_of(
            "(set-option :global-declarations true)(push 1)(declare-const y Int)(assert (> y 1))(pop 1)\
             (assert (> y 0))(check-sat)",
        );
        assert!(all[0].contains("declare-const y") && !all[0].contains("(> y 1)"));
    }
}
