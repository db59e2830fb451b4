//! Wrong models: every `sat` answer's model is evaluated by us, then put into the script for the others to refute.

use std::sync::Arc;

use smtlib::Status;
use solver::run::{Configuration, Run, RunError};

use crate::asking::Asking;
use crate::ground::ground;
use crate::judge::Oracle;
use crate::subject::{ModelCheck, ModelValue, Subject};
use crate::verdict::{Kind, Standing, Verdict};

/// Models that do not satisfy the script.
pub struct InvalidModels {
    /// Where our evaluation leaves a model open, ask the solver's own check whether it is worth putting it to others. Its
    /// word is a hint and no evidence.
    pub own_checks: bool,
}

impl Oracle for InvalidModels {
    fn name(&self) -> &'static str {
        "models"
    }

    fn judge(
        &self,
        subject: &mut Subject,
        runs: &[Run],
        asking: &mut Asking,
    ) -> Result<Vec<Verdict>, RunError> {
        let mut verdicts = Vec::new();
        for run in runs {
            // A solver that found its own model wrong is worth another run, though its word alone proves nothing.
            let suspected = !run.answers.failed_checks.is_empty();
            let ask = subject.ask_for_models || suspected;
            for check in 0..subject.frames().len() {
                let answered = run.answers.checks.iter().any(|answer| answer.check == check);
                let candidate = run.status(check) == Some(Status::Sat) || (suspected && !answered);
                if !candidate {
                    continue;
                }
                let Some(found) = subject.model_check(run, check, ask, asking)? else {
                    if suspected && !answered {
                        verdicts.push(judge_unseen(runs, run, check));
                        // Its own check ended the run: there is nothing after it.
                        break;
                    }
                    continue;
                };
                verdicts.extend(self.judge_model(subject, run, check, &found, suspected, asking)?);
            }
        }
        Ok(verdicts)
    }
}

/// A solver that checks a model has found one, so it meant `sat`, whatever became of the answer and of the model.
fn judge_unseen(runs: &[Run], run: &Run, check: usize) -> Verdict {
    let said = run.answers.failed_checks.first().map(|failed| failed.message.as_str()).unwrap_or_default();
    let with =
        |status| -> Vec<&Run> { runs.iter().filter(|other| other.status(check) == Some(status)).collect() };
    let (unsat, sat) = (with(Status::Unsat), with(Status::Sat));
    let mut verdict = Verdict::new(Kind::InvalidModel, format!("its own check of its model failed: {said}"));
    verdict.accused = Some(run.party());
    verdict.check = Some(check);
    if unsat.is_empty() || !sat.is_empty() {
        verdict.standing = Standing::Unproven("only the solver's own check says so".into());
        return verdict;
    }
    let names: Vec<String> = unsat.iter().map(|other| other.configuration.name()).collect();
    verdict.reason = format!("it found a model of a script that has none: unsat by {}", names.join(", "));
    verdict.evidence.push(format!("its own check of the model failed: {said}"));
    verdict.own_family_objects =
        unsat.iter().any(|other| other.configuration.lineage() == run.configuration.lineage());
    verdict.opponents = unsat.iter().map(|other| other.party()).collect();
    verdict
}

impl InvalidModels {
    fn judge_model(
        &self,
        subject: &mut Subject,
        run: &Run,
        check: usize,
        found: &Arc<ModelCheck>,
        suspected: bool,
        asking: &mut Asking,
    ) -> Result<Option<Verdict>, RunError> {
        let ours = match &found.value {
            ModelValue::True => return Ok(None),
            ModelValue::False(_, part) => {
                Some(format!("by our evaluation this is false: {}", shorten(&subject.store.term_text(*part))))
            }
            // Not decided by us: worth asking only when the solver itself has doubts.
            ModelValue::Unknown(_) if suspected || self.doubts(subject, run, check, found, asking)? => None,
            ModelValue::Unknown(_) => return Ok(None),
        };
        let suspected = suspected || ours.is_none();
        let second = second_opinion(subject, check, found, &run.configuration, ours.is_none(), asking)?;
        let reason = match (&ours, second.refuters.is_empty()) {
            (Some(reason), _) => format!("its model does not satisfy the script: {reason}"),
            (None, false) => {
                "its model does not satisfy the script, whatever is done with what it leaves open".into()
            }
            (None, true) => "its own check of its model failed".to_string(),
        };
        let proven = ours.is_some() || !second.refuters.is_empty();
        let mut verdict = Verdict::new(Kind::InvalidModel, reason);
        verdict.accused = Some(run.party());
        verdict.check = Some(check);
        if suspected {
            verdict.evidence.push("the solver's own check of the model failed".into());
        }
        if !proven {
            verdict.standing = Standing::Unproven(
                "only the solver's own check says so, and our evaluation is undecided".into(),
            );
        }
        verdict.own_family_objects = second.own_family;
        if !second.refuters.is_empty() {
            let who = second.refuters.iter().map(|other| other.name()).collect::<Vec<_>>().join(", ");
            verdict.evidence.push(format!("with the model put in, the script is unsat by {who}"));
            // Without our own evaluation the verdict rests on them.
            if ours.is_none() {
                verdict.opponents = second.refuters.iter().map(|other| other.id).collect();
            }
        }
        if !second.supporters.is_empty() {
            let who = second.supporters.join(", ");
            verdict.standing =
                Standing::Unproven(format!("with the model put in, the script is sat by {who}"));
        }
        verdict.evidence.push(format!("the model: {}", shorten(&found.text)));
        Ok(Some(verdict))
    }

    /// Does the solver's own check of its model fail? Asked once, of a solver that has one, and not where the standard
    /// leaves a result open: others may refute its choice and not the model.
    fn doubts(
        &self,
        subject: &mut Subject,
        run: &Run,
        check: usize,
        found: &ModelCheck,
        asking: &mut Asking,
    ) -> Result<bool, RunError> {
        let Some(checking) = run.configuration.checking_models().filter(|_| self.own_checks) else {
            return Ok(false);
        };
        if found.leaves_open == Some(true) {
            return Ok(false);
        }
        let again = asking.run(&Arc::new(checking), &found.run.script)?;
        // Where evaluation took too long, looking closer takes longer than that run, and mostly nothing fails in it.
        Ok(!again.answers.failed_checks.is_empty() && !subject.leaves_open(found, check))
    }
}

/// What the others say about the script with the model put in: everybody who takes part, and with `thirds` a solver of
/// another line where all of them are of the accused's own.
#[derive(Debug, Default)]
struct SecondOpinion {
    refuters: Vec<Arc<Configuration>>,
    /// A refuter is of the accused's own family.
    own_family: bool,
    supporters: Vec<String>,
}

fn second_opinion(
    subject: &mut Subject,
    check: usize,
    found: &ModelCheck,
    accused: &Configuration,
    thirds: bool,
    asking: &mut Asking,
) -> Result<SecondOpinion, RunError> {
    let mut opinion = SecondOpinion::default();
    let frame = subject.frames()[check].clone();
    let mut asked = others(asking, accused);
    if thirds && asked.iter().all(|other| other.lineage() == accused.lineage()) {
        let usage = smtlib::logic::usage(subject.store, &frame.script);
        let able = asking.third_opinions().iter().filter(|other| other.solver.accepts(&usage));
        asked.extend(able.map(|other| Arc::new(other.for_models())));
    }
    for other in asked {
        let release = other.release();
        let ground = ground(subject.store, &frame, &found.model, &found.left_out, release);
        let answer = asking.run(&other, ground.text.as_bytes())?;
        match answer.status(0) {
            Some(Status::Unsat) => {
                opinion.own_family |= other.lineage() == accused.lineage();
                opinion.refuters.push(other);
            }
            // With something left open, sat may be thanks to another choice than the solver's.
            Some(Status::Sat) if ground.complete => opinion.supporters.push(other.name()),
            _ => {}
        }
    }
    Ok(opinion)
}

/// Everybody but the accused release, without their checks of their own results.
pub(crate) fn others(asking: &Asking, accused: &Configuration) -> Vec<Arc<Configuration>> {
    let all = asking.configurations().iter();
    all.filter(|other| other.solver.name() != accused.solver.name())
        .map(|other| Arc::new(other.for_models()))
        .collect()
}

/// Enough of a text to recognise it, on one line.
pub(crate) fn shorten(text: &str) -> String {
    const SHOWN: usize = 400;
    let flat = text.split_whitespace().collect::<Vec<_>>().join(" ");
    if flat.chars().count() <= SHOWN {
        return flat;
    }
    flat.chars().take(SHOWN).chain(" ...".chars()).collect()
}
