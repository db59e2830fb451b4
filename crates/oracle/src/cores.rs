//! Unsatisfiable cores: they must be unsatisfiable alone, and name what exists.

use std::sync::Arc;

use eval::model_text::read_model;
use smtlib::{Command, Family, Head, Script, Status, Store, Term, print};
use solver::run::{Configuration, Run, RunError};

use crate::asking::Asking;
use crate::decide::decide;
use crate::frame::Frame;
use crate::judge::Oracle;
use crate::models::others;
use crate::subject::{ModelValue, Subject, evaluate_frame, limits};
use crate::verdict::{Kind, Standing, Verdict};

/// Cores that are satisfiable, or name what is not there.
pub struct UnsoundCores;

impl Oracle for UnsoundCores {
    fn name(&self) -> &'static str {
        "cores"
    }

    fn judge(
        &self,
        subject: &mut Subject,
        runs: &[Run],
        asking: &mut Asking,
    ) -> Result<Vec<Verdict>, RunError> {
        // The output of get-unsat-assumptions looks the same.
        let asks =
            |command: &Command| matches!(command, Command::GetUnsatAssumptions | Command::Opaque { .. });
        if subject.script.is_none_or(|script| script.commands.iter().any(asks)) {
            return Ok(Vec::new());
        }
        let mut verdicts = Vec::new();
        for run in runs {
            for core in &run.answers.cores {
                let Some(check) = run.check_at(core.after) else { continue };
                let Some(frame) = subject.frames().get(check).cloned() else { continue };
                let named = frame.named(subject.store);
                let name = |fun| subject.store.name(subject.store.fun(fun).name);
                let assumed: Vec<Option<&str>> =
                    frame.assumptions.iter().map(|term| symbol(subject.store, *term)).collect();
                // Z3 lists assumptions among the names. A solver that lists none of them takes all for granted.
                let listed =
                    assumed.iter().flatten().any(|own| core.names.iter().any(|wanted| wanted == own));
                let listed = listed && assumed.iter().all(Option::is_some);
                let known = |wanted: &String| {
                    named.iter().any(|(fun, _)| name(*fun) == wanted)
                        || listed && assumed.contains(&Some(wanted.as_str()))
                };
                let verdict = if let Some(stranger) = core.names.iter().find(|wanted| !known(wanted)) {
                    // A name given to a part of an assertion is odd, but somebody's own doing.
                    let elsewhere = String::from_utf8_lossy(&run.script).contains(stranger.as_str());
                    (!elsewhere).then(|| {
                        let reason = format!("its core names '{stranger}', which names no assertion");
                        Verdict::new(Kind::UnsoundCore, reason)
                    })
                } else {
                    let dropped: Vec<usize> = named
                        .iter()
                        .filter(|(fun, _)| !core.names.iter().any(|wanted| name(*fun) == wanted))
                        .map(|(_, place)| *place)
                        .collect();
                    let kept = |own: &Option<&str>| {
                        !listed || core.names.iter().any(|wanted| Some(wanted.as_str()) == *own)
                    };
                    let assumptions: Vec<Term> = frame
                        .assumptions
                        .iter()
                        .zip(&assumed)
                        .filter(|(_, own)| kept(own))
                        .map(|(term, _)| *term)
                        .collect();
                    let all = dropped.is_empty() && assumptions.len() == frame.assumptions.len();
                    let frame = Frame { assumptions, ..frame };
                    if all { None } else { alone(subject, run, &frame, &dropped, asking)? }
                };
                verdicts.extend(verdict.map(|mut verdict| {
                    verdict.accused = Some(run.party());
                    verdict.check = Some(check);
                    verdict.evidence.push(format!("the core: ({})", core.names.join(" ")));
                    verdict
                }));
            }
        }
        Ok(verdicts)
    }
}

/// The name of a term that is a declared constant.
fn symbol(store: &Store, term: Term) -> Option<&str> {
    match store.head(term) {
        Head::Fun(fun) if store.args(term).is_empty() => Some(store.name(store.fun(fun).name)),
        _ => None,
    }
}

/// Is the core satisfiable by itself? Evidence as everywhere: our own evaluation first, then what the accused itself says,
/// then independent lines of solvers. One other line alone may be the one that is wrong.
fn alone(
    subject: &mut Subject,
    run: &Run,
    frame: &Frame,
    dropped: &[usize],
    asking: &mut Asking,
) -> Result<Option<Verdict>, RunError> {
    let kept = frame.script.commands.iter().enumerate().filter(|(place, _)| !dropped.contains(place));
    let script = Script { commands: kept.map(|(_, command)| command.clone()).collect() };
    let core = Frame { script, ..frame.clone() };
    let unsound = |why: String| Verdict::new(Kind::UnsoundCore, format!("its core is satisfiable: {why}"));
    if core.side_conditions(subject.store).is_empty()
        && let Some(decided) = decide(subject.store, &core)
    {
        return Ok((decided.answer == Status::Sat).then(|| unsound(decided.because)));
    }
    let mut opinions = Opinions::default();
    let accused = Arc::new(run.configuration.for_models());
    let mut asked = others(asking, &accused);
    asked.insert(0, accused);
    for configuration in asked {
        if opinions.proof.is_none() {
            opinions.ask(subject, &core, &configuration, asking)?;
        }
    }
    let lineage = run.configuration.lineage();
    let usage = smtlib::logic::usage(subject.store, &core.script);
    for third in asking.third_opinions().to_vec() {
        let wanted = opinions.proof.is_none()
            && opinions.unsat.is_empty()
            && opinions.lines_without(lineage).len() == 1;
        let known = opinions.lines().contains(&third.lineage());
        if wanted && !known && third.solver.accepts(&usage) {
            // Nobody has named this solver: if it cannot be started, there is one opinion less.
            match opinions.ask(subject, &core, &Arc::new(third.for_models()), asking) {
                Err(error) if !error.concerns_solver() => return Err(error),
                _ => {}
            }
        }
    }
    if let Some(prover) = &opinions.proof {
        return Ok(Some(unsound(format!("the model of {prover} satisfies it by our evaluation"))));
    }
    if !opinions.unsat.is_empty() || opinions.sat.is_empty() {
        return Ok(None);
    }
    let own = opinions.sat.iter().any(|(name, _)| *name == run.configuration.solver.name());
    let names: Vec<&str> = opinions.sat.iter().map(|(name, _)| name.as_str()).collect();
    let mut verdict = unsound(format!("sat by {}", names.join(", ")));
    if own {
        verdict = unsound(format!("{} itself says so of the core alone", run.configuration.name()));
    } else if opinions.lines_without(lineage).len() < 2 {
        let why = format!(
            "no two independent solvers say so, and no model of the core could be confirmed: {}",
            names.join(", ")
        );
        verdict.standing = Standing::Unproven(why);
    }
    Ok(Some(verdict))
}

/// What solvers say about a frame by itself, each by name and line. A `sat` whose model is false counts for nothing.
#[derive(Debug, Default)]
struct Opinions {
    sat: Vec<(String, Family)>,
    unsat: Vec<(String, Family)>,
    /// Who gave a model of it that our evaluator confirms.
    proof: Option<String>,
}

impl Opinions {
    fn ask(
        &mut self,
        subject: &mut Subject,
        frame: &Frame,
        configuration: &Arc<Configuration>,
        asking: &mut Asking,
    ) -> Result<(), RunError> {
        let mut script = frame.alone();
        script.commands.push(Command::GetModel);
        let text = print::print(subject.store, &script, configuration.release());
        let run = asking.run(configuration, text.as_bytes())?;
        let who = (configuration.solver.name(), configuration.lineage());
        match run.status(0) {
            Some(Status::Unsat) => self.unsat.push(who),
            Some(Status::Sat) => {
                let release = configuration.release();
                let read = run
                    .model_text(0)
                    .and_then(|model| read_model(subject.store, &frame.script, model, release).ok());
                match read.map(|read| evaluate_frame(subject.store, frame, &read, limits()).0) {
                    Some(ModelValue::True) => self.proof = Some(who.0),
                    Some(ModelValue::False(..)) => {}
                    Some(ModelValue::Unknown(_)) | None => self.sat.push(who),
                }
            }
            _ => {}
        }
        Ok(())
    }

    /// The lines that have answered.
    fn lines(&self) -> Vec<Family> {
        self.sat.iter().chain(&self.unsat).map(|(_, line)| *line).collect()
    }

    /// Those that say `sat`, each once, without one.
    fn lines_without(&self, own: Family) -> Vec<Family> {
        let mut lines: Vec<Family> =
            self.sat.iter().map(|(_, line)| *line).filter(|line| *line != own).collect();
        lines.sort_unstable();
        lines.dedup();
        lines
    }
}
