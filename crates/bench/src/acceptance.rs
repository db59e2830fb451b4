//! Do solvers read scripts that claim to be well-formed? Many scripts in one run, told apart by line.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use campaign::{Target, refusal, refused};
use smtlib::{Command, Script, Store, print};
use solver::run::{Configuration, PartyId, Purpose, Run, Runner};

use crate::error::BenchError;

/// Scripts read in one run.
const BATCH: usize = 40;

/// Printed at the end of a batch: whoever says it has read everything.
const END: &str = "osprey read everything";

/// What a solver refused.
#[derive(Clone, Debug, Default)]
pub struct Refusals {
    /// Scripts it was given.
    pub given: u64,
    pub refused: u64,
    /// Its words and how often, without what depends on the script.
    pub reasons: BTreeMap<String, u64>,
}

impl Refusals {
    fn refuse(&mut self, reason: String) {
        self.refused += 1;
        *self.reasons.entry(reason).or_default() += 1;
    }
}

/// Scripts waiting to be read by one solver.
pub struct Reader<'a> {
    target: &'a Target,
    waiting: Vec<String>,
    pub refusals: Refusals,
}

impl<'a> Reader<'a> {
    pub fn new(target: &'a Target) -> Reader<'a> {
        Reader { target, waiting: Vec::new(), refusals: Refusals::default() }
    }

    /// Gives it a script to read, without solving.
    pub fn read(&mut self, text: String, runner: &mut dyn Runner) -> Result<(), BenchError> {
        self.waiting.push(text);
        if self.waiting.len() >= BATCH { self.finish(runner) } else { Ok(()) }
    }

    /// Gives it a script to solve: some refusals come only then.
    pub fn solve(&mut self, text: &str, runner: &mut dyn Runner) -> Result<(), BenchError> {
        self.refusals.given += 1;
        let run = self.run(text, runner)?;
        if refused(&run) {
            self.refusals.refuse(refusal(&run));
        }
        Ok(())
    }

    /// Has everything read that waits.
    pub fn finish(&mut self, runner: &mut dyn Runner) -> Result<(), BenchError> {
        let waiting = std::mem::take(&mut self.waiting);
        self.refusals.given += waiting.len() as u64;
        let mut rest: &[String] = &waiting;
        while !rest.is_empty() {
            let (text, lines) = batch(rest);
            let run = self.run(&text, runner)?;
            let complete = String::from_utf8_lossy(&run.outcome.stdout).contains(END);
            let mut bad = BTreeSet::new();
            for error in &run.answers.errors {
                let Some(line) = error.line else { continue };
                bad.insert(lines.partition_point(|start| *start <= line as usize).saturating_sub(1));
            }
            // Some solvers end at the first error: what comes after it is read in another run.
            let done = match bad.last() {
                _ if complete => rest.len(),
                Some(last) => last + 1,
                None => {
                    self.one_by_one(rest, runner)?;
                    return Ok(());
                }
            };
            // A script may be refused for what one before it has left behind: it counts if it is refused alone.
            for place in bad {
                self.one_by_one(std::slice::from_ref(&rest[place.min(rest.len() - 1)]), runner)?;
            }
            rest = &rest[done.min(rest.len())..];
        }
        Ok(())
    }

    /// Each in a run of its own: for suspects, and for a batch that ended without a word about the place.
    fn one_by_one(&mut self, texts: &[String], runner: &mut dyn Runner) -> Result<(), BenchError> {
        for text in texts {
            let (text, _) = batch(std::slice::from_ref(text));
            let run = self.run(&text, runner)?;
            if refused(&run) || !String::from_utf8_lossy(&run.outcome.stdout).contains(END) {
                self.refusals.refuse(refusal(&run));
            }
        }
        Ok(())
    }

    fn run(&self, text: &str, runner: &mut dyn Runner) -> Result<Run, BenchError> {
        let party = Configuration::new(PartyId(self.target.number as u32), self.target.solver.clone());
        runner
            .run(&Arc::new(party.broadened()), text.as_bytes(), Purpose::Test)
            .map_err(|source| BenchError::Run { solver: self.target.name.clone(), source })
    }
}

/// All texts one after another with the line, from 1, that each starts in.
fn batch(texts: &[String]) -> (String, Vec<usize>) {
    let mut all = String::new();
    let mut lines = Vec::new();
    let mut line = 1;
    for text in texts {
        lines.push(line);
        let before = all.len();
        all.push_str("(reset)\n");
        all.push_str(text);
        line += all[before..].matches('\n').count();
    }
    all.push_str(&format!("(echo \"{END}\")\n"));
    (all, lines)
}

/// The script without everything that makes a solver work or answer.
pub fn to_read(store: &Store, script: &Script, target: &Target) -> String {
    let mut script = script.clone();
    script.commands.retain(|command| {
        !command.is_check()
            && !matches!(
                command,
                Command::GetModel
                    | Command::GetValue(_)
                    | Command::GetUnsatCore
                    | Command::GetUnsatAssumptions
                    | Command::GetAssignment
                    | Command::GetInfo(_)
                    | Command::GetOption(_)
                    | Command::Echo(_)
                    | Command::Simplify(..)
                    | Command::Eval(..)
                    | Command::Exit
            )
    });
    let mut text = print::print(store, &script, target.release);
    if !text.ends_with('\n') {
        text.push('\n');
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_of_a_batch_belongs_to_the_script_it_stands_in() {
        let texts = ["(assert true)\n".to_owned(), "(assert\n false)\n".to_owned(), "(push 1)\n".to_owned()];
        let (all, lines) = batch(&texts);
        assert_eq!(lines, [1, 3, 6]);
        assert_eq!(all.lines().nth(5), Some("(reset)"));
        assert_eq!(all.lines().nth(6), Some("(push 1)"));
    }
}
