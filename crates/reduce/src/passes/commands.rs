//! Commands that need not be there.

use smtlib::Command;

use super::Pass;
use crate::driver::Reduction;
use crate::edit::Edit;
use crate::error::ReduceError;

/// Leaves out assertions.
pub struct Assertions;

impl Pass for Assertions {
    fn name(&self) -> &'static str {
        "assertions"
    }

    fn run(&mut self, reduction: &mut Reduction) -> Result<(), ReduceError> {
        let wanted = |command: &Command| matches!(command, Command::Assert(_) | Command::AssertSoft(..));
        reduction.edits(drops(reduction, wanted)).map(|_| ())
    }
}

/// Leaves out everything else that declares nothing.
pub struct Others;

impl Pass for Others {
    fn name(&self) -> &'static str {
        "commands"
    }

    fn is_cosmetic(&self) -> bool {
        true
    }

    fn run(&mut self, reduction: &mut Reduction) -> Result<(), ReduceError> {
        let idle = |command: &Command| {
            matches!(
                command,
                Command::SetOption(..)
                    | Command::SetInfo(..)
                    | Command::GetInfo(_)
                    | Command::GetOption(_)
                    | Command::GetModel
                    | Command::GetUnsatCore
                    | Command::GetUnsatAssumptions
                    | Command::GetAssertions
                    | Command::GetAssignment
                    | Command::GetProof
                    | Command::GetValue(_)
                    | Command::Echo(_)
                    | Command::Simplify(..)
                    | Command::Eval(..)
                    | Command::Minimize(..)
                    | Command::Maximize(..)
                    | Command::Exit
                    | Command::Opaque { .. }
            )
        };
        reduction.edits(drops(reduction, idle))?;
        // What dies while it reads needs no check.
        reduction.edits(drops(reduction, Command::is_check)).map(|_| ())
    }
}

fn drops(reduction: &Reduction, wanted: impl Fn(&Command) -> bool) -> Vec<Edit> {
    let commands = &reduction.bench.draft.script.commands;
    let places = commands.iter().enumerate().filter(|(_, command)| wanted(command));
    places.map(|(place, _)| Edit::Drop(place)).collect()
}
