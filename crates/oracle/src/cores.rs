//! Unsatisfiable cores: they must be unsatisfiable alone, and name what exists.

use smtlib::{Command, Head, Script, Store, Term};
use solver::run::{Run, RunError};

use crate::asking::Asking;
use crate::frame::Frame;
use crate::judge::Oracle;
use crate::models::ask_about;
use crate::subject::Subject;
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

/// What the others say about the core by itself.
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
    let opinions = ask_about(subject, &core, &run.configuration, asking)?;
    Ok(match (&opinions.proof, opinions.sat.as_slice(), opinions.unsat.as_slice()) {
        (Some(prover), _, _) => Some(Verdict::new(
            Kind::UnsoundCore,
            format!("its core is satisfiable: the model of {prover} satisfies it by our evaluation"),
        )),
        (None, [_, ..], []) => {
            let reason = format!("its core is satisfiable by {}", opinions.sat.join(", "));
            let mut verdict = Verdict::new(Kind::UnsoundCore, reason);
            if !opinions.independent {
                let why = "only releases of its own line say so, and no model of the core could be confirmed";
                verdict.standing = Standing::Unproven(why.into());
            }
            Some(verdict)
        }
        _ => None,
    })
}
