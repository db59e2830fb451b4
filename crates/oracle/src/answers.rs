//! Wrong answers: against what is expected, against each other.

use smtlib::{Family, Status, Version};
use solver::run::{PartyId, Run, RunError};

use crate::asking::Asking;
use crate::judge::Oracle;
use crate::subject::{ModelValue, Subject};
use crate::verdict::{Kind, Verdict};

/// Answers that contradict the expectation, a model that our evaluator confirms, or the other solvers.
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
        let checks = runs
            .iter()
            .flat_map(|run| run.answers.checks.iter().map(|answer| answer.check + 1))
            .max()
            .unwrap_or(0);
        let mut verdicts = Vec::new();
        for check in 0..checks {
            // A missing answer is no difference, whatever the reason.
            let said: Vec<(&Run, Status)> =
                runs.iter().filter_map(|run| Some((run, run.status(check)?))).collect();
            verdicts.extend(judge_check(subject, check, &said, asking)?);
        }
        Ok(verdicts)
    }
}

fn judge_check(
    subject: &mut Subject,
    check: usize,
    said: &[(&Run, Status)],
    asking: &mut Asking,
) -> Result<Vec<Verdict>, RunError> {
    let contradiction = said.iter().any(|(_, status)| Some(*status) != said.first().map(|first| first.1));
    let expected = subject.expectation.answer();
    let unexpected = expected.is_some_and(|expected| said.iter().any(|(_, status)| *status != expected));
    if !contradiction && !unexpected {
        return Ok(Vec::new());
    }
    let sayers = |wanted: Status| -> Vec<&Run> {
        said.iter().filter(|(_, status)| *status == wanted).map(|(run, _)| *run).collect()
    };

    // A model that satisfies every formula in force settles it.
    let mut proof = None;
    let mut refuted_models = Vec::new();
    for run in sayers(Status::Sat) {
        let Some(found) = subject.model_check(run, check, true, asking)? else { continue };
        match found.value {
            ModelValue::True => {
                proof = Some(format!(
                    "the model of {} satisfies every assertion by our evaluation",
                    run.configuration.name()
                ));
                break;
            }
            ModelValue::False(..) => refuted_models.push(run.party()),
            ModelValue::Unknown(_) => {}
        }
    }
    // What a file says of itself is a voice like others.
    let claim = expected.filter(|_| subject.expectation.is_hearsay());
    let (truth, because) = if let Some(proof) = proof {
        (Some(Status::Sat), proof)
    } else if expected.is_some() && claim.is_none() {
        (expected, subject.expectation.because())
    } else {
        vote(said, &refuted_models, claim)
    };
    if truth.is_none() && !contradiction {
        return Ok(Vec::new());
    }

    let Some(truth) = truth else {
        let mut verdict = Verdict::new(
            Kind::Disagreement,
            format!(
                "{} answered sat and {} answered unsat",
                names(&sayers(Status::Sat)),
                names(&sayers(Status::Unsat))
            ),
        );
        verdict.check = Some(check);
        verdict.opponents = said.iter().map(|(run, _)| run.party()).collect();
        verdict.evidence.push(because);
        return Ok(vec![verdict]);
    };
    let opponents = sayers(truth);
    let wrong = said.iter().filter(|(_, status)| *status != truth);
    Ok(wrong
        .map(|(accused, status)| {
            let kind = match status {
                Status::Sat => Kind::SolutionSoundness,
                _ => Kind::RefutationSoundness,
            };
            let mut verdict = Verdict::new(
                kind,
                format!("it answered {} but the answer is {}: {because}", word(*status), word(truth)),
            );
            verdict.accused = Some(accused.party());
            verdict.check = Some(check);
            verdict.opponents = opponents.iter().map(|opponent| opponent.party()).collect();
            let own = accused.configuration.lineage();
            verdict.own_family_objects =
                opponents.iter().any(|opponent| opponent.configuration.lineage() == own);
            if !opponents.is_empty() {
                let others = names(&opponents);
                verdict.evidence.push(format!("{} by {others}", word(truth)));
            }
            if refuted_models.contains(&accused.party()) {
                verdict.evidence.push("its model is wrong by our evaluation".into());
            }
            verdict
        })
        .collect())
}

/// Who is right when nothing proves it. Each family has one voice, that of its newest release with the fewest options:
/// several releases, or several configurations of one, are likely to share a bug. A `sat` with a wrong model has none.
/// What a file claims is one more voice.
fn vote(
    said: &[(&Run, Status)],
    refuted_models: &[PartyId],
    claim: Option<Status>,
) -> (Option<Status>, String) {
    let rank = |run: &Run| -> (bool, Version, std::cmp::Reverse<usize>) {
        let release = run.configuration.release();
        let superseded = release.family == Family::Cvc4;
        (!superseded, release.version, std::cmp::Reverse(run.configuration.option_count()))
    };
    let said: Vec<(&Run, Status)> =
        said.iter().filter(|(run, _)| !refuted_models.contains(&run.party())).copied().collect();
    let mut families: Vec<Family> = said.iter().map(|(run, _)| run.configuration.lineage()).collect();
    families.sort_unstable();
    families.dedup();
    let mut sat = Vec::new();
    let mut unsat = Vec::new();
    for family in families {
        let members: Vec<(&Run, Status)> =
            said.iter().filter(|(run, _)| run.configuration.lineage() == family).copied().collect();
        let Some(best) = members.iter().map(|(run, _)| rank(run)).max() else { continue };
        let voices: Vec<&(&Run, Status)> = members.iter().filter(|(run, _)| rank(run) == best).collect();
        // Equal claims to speak for the family that contradict each other: it has no voice.
        if voices.iter().any(|(_, status)| *status != voices[0].1) {
            continue;
        }
        match voices[0].1 {
            Status::Sat => sat.push(voices[0].0),
            _ => unsat.push(voices[0].0),
        }
    }
    let votes = |voices: &[&Run], answer| voices.len() + usize::from(claim == Some(answer));
    let (for_sat, for_unsat) = (votes(&sat, Status::Sat), votes(&unsat, Status::Unsat));
    let because = |winners: &[&Run], answer, losers: usize| {
        let claimed = if claim == Some(answer) { ", and one for the file's :status" } else { "" };
        format!(
            "{} to {losers} votes, one for each family's newest release ({}){claimed}",
            votes(winners, answer),
            names(winners)
        )
    };
    match for_sat.cmp(&for_unsat) {
        std::cmp::Ordering::Greater => (Some(Status::Sat), because(&sat, Status::Sat, for_unsat)),
        std::cmp::Ordering::Less => (Some(Status::Unsat), because(&unsat, Status::Unsat, for_sat)),
        std::cmp::Ordering::Equal => (None, "no model could be confirmed, and the vote is a tie".into()),
    }
}

fn word(status: Status) -> &'static str {
    match status {
        Status::Sat => "sat",
        Status::Unsat => "unsat",
        Status::Unknown => "unknown",
    }
}

fn names(runs: &[&Run]) -> String {
    let names: Vec<String> = runs.iter().map(|run| run.configuration.name()).collect();
    names.join(", ")
}
