//! One run of one configuration on one script.

use std::sync::Arc;

use smtlib::Status;

use super::{Configuration, PartyId};
use crate::answer::{Answer, Answers, Outline, Part, RunClass};
use crate::launch::Outcome;

/// One run of one configuration on one script.
#[derive(Debug, Clone)]
pub struct Run {
    pub configuration: Arc<Configuration>,
    /// The text it was given; texts differ between solvers with different dialects.
    pub script: Arc<[u8]>,
    pub outcome: Outcome,
    pub answers: Answers,
}

impl Run {
    /// Reads the answers from what came of a run.
    pub fn new(configuration: &Arc<Configuration>, script: &[u8], outcome: Outcome) -> Run {
        let answers = configuration.solver.read(&Outline::of(script), &outcome);
        Run { configuration: Arc::clone(configuration), script: script.into(), outcome, answers }
    }

    /// Takes over the place of the crash that another run of the same configuration on the same script has shown.
    pub fn take_place(&mut self, other: &Run) {
        if let (RunClass::Crash(own), Some(same)) = (&mut self.answers.class, other.answers.crash())
            && own.signature().agrees_with(&same.signature())
        {
            own.frames.clone_from(&same.frames);
            own.overflow = same.overflow;
        }
    }

    /// Whose run it is.
    pub fn party(&self) -> PartyId {
        self.configuration.id
    }

    /// The run of a party among several.
    pub fn of(runs: &[Run], party: PartyId) -> Option<&Run> {
        runs.iter().find(|run| run.party() == party)
    }

    /// The answer to a check of the script, if it is `sat` or `unsat` and a verdict may rest on it.
    pub fn status(&self, check: usize) -> Option<Status> {
        let answer = self.answers.trusted().find(|answer| answer.check == check)?;
        match answer.answer {
            Answer::Sat => Some(Status::Sat),
            Answer::Unsat => Some(Status::Unsat),
            Answer::Unknown(_) => None,
        }
    }

    /// The model printed after a check.
    pub fn model_text(&self, check: usize) -> Option<&[u8]> {
        self.part(&self.answers.models, check)
    }

    /// The values printed after a check.
    pub fn values_text(&self, check: usize) -> Option<&[u8]> {
        self.part(&self.answers.values, check)
    }

    /// All lists of values printed after a check, in order.
    pub fn all_values_text(&self, check: usize) -> Vec<&[u8]> {
        let of_check = |part: &&Part| self.check_at(part.after) == Some(check);
        let parts = self.answers.values.iter().filter(of_check);
        parts.filter_map(|part| self.outcome.stdout.get(part.range.clone())).collect()
    }

    /// The check of the script that a position in the list of answers stands for.
    pub fn check_at(&self, position: Option<usize>) -> Option<usize> {
        self.answers.checks.get(position?).map(|answer| answer.check)
    }

    fn part(&self, parts: &[Part], check: usize) -> Option<&[u8]> {
        let part = parts.iter().find(|part| self.check_at(part.after) == Some(check))?;
        self.outcome.stdout.get(part.range.clone())
    }
}
