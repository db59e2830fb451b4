//! `osprey findings`: what a campaign has found, and what a person knows about it.

mod list;
mod mark;
mod recheck;
mod regroup;

use anyhow::Result;
use clap::{Args, Subcommand};

use crate::exit::Exit;
use list::{List, Show};
use mark::MarkCommand;
use recheck::RecheckCommand;
use regroup::{Merge, Split};

/// List the findings of a campaign, say what became of them, or correct which of them are one bug
#[derive(Args)]
#[command(
    args_conflicts_with_subcommands = true,
    after_help = "\
Examples:
  osprey findings night                  every finding, the most important bug first
  osprey findings night --group          one entry per bug: its clearest example and its other faces
  osprey findings postgres://osprey@db.example/fuzzing?schema=night    of a campaign on a server
  osprey findings show night/bugs/A                   its report, and what became of it
  osprey findings mark night/bugs/A --as reported --link https://github.com/Z3Prover/z3/issues/1234
  osprey findings recheck night -s z3@latest          still there, fixed, or changed
  osprey findings merge night/bugs/A night/bugs/B     A and B are one bug
  osprey findings split night/bugs/B                  B is a bug of its own

A pending finding is confirmed, but neither reduced nor told apart from the others yet: `osprey fuzz --resume` goes on
with it.

Exit code 0 if there is none, 10 if there are some."
)]
pub struct Findings {
    #[command(subcommand)]
    action: Option<Action>,

    #[command(flatten)]
    list: List,
}

#[derive(Subcommand)]
enum Action {
    List(List),
    Mark(MarkCommand),
    Merge(Merge),
    Recheck(RecheckCommand),
    Show(Show),
    Split(Split),
}

impl Findings {
    pub fn run(self) -> Result<Exit> {
        match self.action {
            None => self.list.run(),
            Some(Action::List(list)) => list.run(),
            Some(Action::Mark(mark)) => mark.run(),
            Some(Action::Merge(merge)) => merge.run(),
            Some(Action::Recheck(recheck)) => recheck.run(),
            Some(Action::Show(show)) => show.run(),
            Some(Action::Split(split)) => split.run(),
        }
    }
}
