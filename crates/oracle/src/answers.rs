//! Wrong answers: against what is expected, against each other.

use smtlib::{Family, Status, Version};

use crate::court::Oracle;
use crate::run::{Rerun, Run, RunError};
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
        rerun: &mut dyn Rerun,
    ) -> Result<Vec<Verdict>, RunError> {
        let checks = runs
            .iter()
            .flat_map(|run| run.answers.checks.iter().map(|answer| answer.check + 1))
            .max()
            .unwrap_or(0);
        let mut verdicts = Vec::new();
        for check in 0..checks {
            // A missing answer is no difference, whatever the reason.
            let said: Vec<(usize, Status)> = runs
                .iter()
                .enumerate()
                .filter_map(|(position, run)| Some((position, run.status(check)?)))
                .collect();
            verdicts.extend(judge_check(subject, runs, check, &said, rerun)?);
        }
        Ok(verdicts)
    }
}

fn judge_check(
    subject: &mut Subject,
    runs: &[Run],
    check: usize,
    said: &[(usize, Status)],
    rerun: &mut dyn Rerun,
) -> Result<Vec<Verdict>, RunError> {
    let contradiction = said.iter().any(|(_, status)| Some(*status) != said.first().map(|first| first.1));
    let expected = subject.expected.clone();
    let unexpected =
        expected.as_ref().is_some_and(|expected| said.iter().any(|(_, status)| *status != expected.status));
    if !contradiction && !unexpected {
        return Ok(Vec::new());
    }
    let sayers = |wanted: Status| -> Vec<usize> {
        said.iter().filter(|(_, status)| *status == wanted).map(|(position, _)| *position).collect()
    };

    // A model that satisfies every formula in force settles it.
    let mut proof = None;
    let mut refuted_models = Vec::new();
    for position in sayers(Status::Sat) {
        let Some(found) = subject.model_check(runs, position, check, true, rerun)? else { continue };
        match found.value {
            ModelValue::True => {
                proof = Some(format!(
                    "the model of {} satisfies every assertion by our evaluation",
                    runs[position].configuration.name()
                ));
                break;
            }
            ModelValue::False(..) => refuted_models.push(position),
            ModelValue::Unknown(_) => {}
        }
    }
    let (truth, because) = if let Some(proof) = proof {
        (Some(Status::Sat), proof)
    } else if let Some(expected) = &expected {
        (Some(expected.status), expected.because.clone())
    } else {
        vote(runs, said, &refuted_models)
    };

    let Some(truth) = truth else {
        let mut verdict = Verdict::new(
            Kind::Disagreement,
            format!(
                "{} answered sat and {} answered unsat",
                names(runs, &sayers(Status::Sat)),
                names(runs, &sayers(Status::Unsat))
            ),
        );
        verdict.check = Some(check);
        verdict.opponents = said.iter().map(|(position, _)| *position).collect();
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
            verdict.accused = Some(*accused);
            verdict.check = Some(check);
            verdict.opponents = opponents.clone();
            let own = runs[*accused].configuration.lineage();
            verdict.own_family_objects =
                opponents.iter().any(|opponent| runs[*opponent].configuration.lineage() == own);
            if !opponents.is_empty() {
                let others = names(runs, &opponents);
                verdict.evidence.push(format!("{} by {others}", word(truth)));
            }
            if refuted_models.contains(accused) {
                verdict.evidence.push("its model is wrong by our evaluation".into());
            }
            verdict
        })
        .collect())
}

/// Who is right when nothing proves it. Each family has one voice, that of its newest release with the fewest options:
/// several releases, or several configurations of one, are likely to share a bug. A `sat` with a wrong model has none.
fn vote(runs: &[Run], said: &[(usize, Status)], refuted_models: &[usize]) -> (Option<Status>, String) {
    let rank = |position: usize| -> (bool, Version, std::cmp::Reverse<usize>) {
        let configuration = &runs[position].configuration;
        let release = configuration.release();
        let superseded = release.family == Family::Cvc4;
        (!superseded, release.version, std::cmp::Reverse(configuration.options().count()))
    };
    let said: Vec<(usize, Status)> =
        said.iter().filter(|(position, _)| !refuted_models.contains(position)).copied().collect();
    let mut families: Vec<Family> =
        said.iter().map(|(position, _)| runs[*position].configuration.lineage()).collect();
    families.sort_unstable();
    families.dedup();
    let mut sat = Vec::new();
    let mut unsat = Vec::new();
    for family in families {
        let members: Vec<(usize, Status)> = said
            .iter()
            .filter(|(position, _)| runs[*position].configuration.lineage() == family)
            .copied()
            .collect();
        let Some(best) = members.iter().map(|(position, _)| rank(*position)).max() else { continue };
        let voices: Vec<&(usize, Status)> =
            members.iter().filter(|(position, _)| rank(*position) == best).collect();
        // Equal claims to speak for the family that contradict each other: it has no voice.
        if voices.iter().any(|(_, status)| *status != voices[0].1) {
            continue;
        }
        match voices[0].1 {
            Status::Sat => sat.push(voices[0].0),
            _ => unsat.push(voices[0].0),
        }
    }
    let because = |winners: &[usize], losers: usize| {
        format!(
            "{} to {losers} votes, one for each family's newest release ({})",
            winners.len(),
            names(runs, winners)
        )
    };
    match sat.len().cmp(&unsat.len()) {
        std::cmp::Ordering::Greater => (Some(Status::Sat), because(&sat, unsat.len())),
        std::cmp::Ordering::Less => (Some(Status::Unsat), because(&unsat, sat.len())),
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

fn names(runs: &[Run], positions: &[usize]) -> String {
    let names: Vec<String> = positions.iter().map(|position| runs[*position].configuration.name()).collect();
    names.join(", ")
}
