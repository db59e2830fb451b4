//! `get-value` against `get-model`: both are about the same model.

use eval::Evaluator;
use eval::model_text::read_values;
use smtlib::Status;
use solver::run::{Run, RunError};

use crate::asking::Asking;
use crate::judge::Oracle;
use crate::models::shorten;
use crate::subject::Subject;
use crate::verdict::{Kind, Verdict};

/// Values that contradict the model printed beside them.
pub struct WrongValues;

impl Oracle for WrongValues {
    fn name(&self) -> &'static str {
        "values"
    }

    fn judge(
        &self,
        subject: &mut Subject,
        runs: &[Run],
        asking: &mut Asking,
    ) -> Result<Vec<Verdict>, RunError> {
        let mut verdicts = Vec::new();
        for run in runs {
            for check in 0..subject.frames().len() {
                let Some(text) = run.values_text(check) else { continue };
                if run.status(check) != Some(Status::Sat) || run.model_text(check).is_none() {
                    continue;
                }
                let Some(found) = subject.model_check(run, check, false, asking)? else { continue };
                let frame = subject.frames()[check].script.clone();
                let release = run.configuration.release();
                let Ok(values) = read_values(subject.store, &frame, text, release) else { continue };
                // What a model leaves out is open, and get-value is free to choose; so it is not compared.
                if !found.left_out.is_empty() {
                    continue;
                }
                let mut under_model = Evaluator::default();
                let mut of_values = Evaluator::default();
                for (term, value) in &values.pairs {
                    let modelled = under_model.evaluate(subject.store, &found.model, *term);
                    let given = of_values.evaluate(subject.store, &values.model, *value);
                    let (Ok(modelled), Ok(given)) = (modelled, given) else { continue };
                    // Elements of declared sorts are numbered by each text on its own.
                    if !modelled.is_plain() || !given.is_plain() {
                        continue;
                    }
                    if modelled.equal(&given) == Some(false) {
                        let shown = shorten(&subject.store.term_text(*term));
                        let value = shorten(&subject.store.term_text(*value));
                        let mut verdict = Verdict::new(
                            Kind::WrongValue,
                            format!(
                                "get-value says {shown} is {value}, but under its model it is {modelled:?}"
                            ),
                        );
                        verdict.accused = Some(run.party());
                        verdict.check = Some(check);
                        verdicts.push(verdict);
                        break;
                    }
                }
            }
        }
        Ok(verdicts)
    }
}
