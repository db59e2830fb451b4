//! Wrong answers: against what is expected, against each other.

use smtlib::Status;
use solver::run::{PartyId, Run, RunError};

use crate::asking::Asking;
use crate::judge::Oracle;
use crate::opinions::{checks, contradicts, said};
use crate::settle::{OwnView, Said, Settled, names, saying, settle, undecided, word};
use crate::subject::Subject;
use crate::verdict::{Kind, Verdict};

/// Answers that contradict our evaluation, what is known about the script, or the other solvers.
pub struct WrongAnswers;

impl Oracle for WrongAnswers {
    fn name(&self) -> &'static str {
        "answers"
    }

    fn judge(
        &self,
        subject: &mut Subject,
        runs: &[Run],
        asking: &mut Asking,
    ) -> Result<Vec<Verdict>, RunError> {
        let mut verdicts = Vec::new();
        for check in 0..checks(runs) {
            let said = said(runs, check);
            let expected = subject.expectation.answer();
            let unexpected =
                expected.is_some_and(|expected| said.iter().any(|(_, status)| *status != expected));
            if contradicts(&said) || unexpected {
                verdicts.extend(judge_check(subject, check, &said, runs, asking)?);
            }
        }
        Ok(verdicts)
    }
}

fn judge_check(
    subject: &mut Subject,
    check: usize,
    said: &[Said],
    runs: &[Run],
    asking: &mut Asking,
) -> Result<Vec<Verdict>, RunError> {
    let view = settle(subject, check, said, runs, asking)?;
    let mut verdicts = match &view.settled {
        Some(settled) => accusations(said, runs, settled, &view),
        None if contradicts(said) => vec![disagreement(said, runs)],
        // Nothing but a file's own word is against the answer.
        None => Vec::new(),
    };
    for verdict in &mut verdicts {
        verdict.check = Some(check);
    }
    Ok(verdicts)
}

/// Nothing tells who is right.
fn disagreement(said: &[Said], runs: &[Run]) -> Verdict {
    let (sat, unsat) = (saying(said, Status::Sat), saying(said, Status::Unsat));
    let reason = format!("{} answered sat and {} answered unsat", names(&sat), names(&unsat));
    let mut verdict = Verdict::new(Kind::Disagreement, reason);
    verdict.opponents = said.iter().map(|(run, _)| run.party()).collect();
    verdict.own_family_objects = sat
        .iter()
        .any(|one| unsat.iter().any(|other| one.configuration.lineage() == other.configuration.lineage()));
    verdict.evidence = undecided(said, runs);
    verdict
}

/// Everybody whose answer is not the right one.
fn accusations(said: &[Said], runs: &[Run], settled: &Settled, view: &OwnView) -> Vec<Verdict> {
    let right = saying(said, settled.truth);
    let accusation = |(accused, status): &Said| {
        let kind = match status {
            Status::Sat => Kind::SolutionSoundness,
            _ => Kind::RefutationSoundness,
        };
        let (said, truth) = (word(*status), word(settled.truth));
        let reason = format!("it answered {said} but the answer is {truth}: {}", settled.because);
        let mut verdict = Verdict::new(kind, reason);
        verdict.rests_on = Some(settled.rests_on);
        verdict.accused = Some(accused.party());
        let mut opponents: Vec<PartyId> = right.iter().map(|run| run.party()).collect();
        for witness in &settled.witnesses {
            if *witness != accused.party() && !opponents.contains(witness) {
                opponents.push(*witness);
            }
        }
        let own = accused.configuration.lineage();
        let of_own =
            |party: &PartyId| Run::of(runs, *party).is_some_and(|run| run.configuration.lineage() == own);
        verdict.own_family_objects = opponents.iter().any(of_own);
        verdict.opponents = opponents;
        if !right.is_empty() {
            verdict.evidence.push(format!("{truth} by {}", names(&right)));
        }
        if view.refuted.contains(&accused.party()) {
            verdict.evidence.push("its model is wrong".into());
        }
        verdict
    };
    said.iter().filter(|(_, status)| *status != settled.truth).map(accusation).collect()
}
