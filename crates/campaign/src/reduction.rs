//! A finding made small: its script and options reduced while the bug stays, and everything the finding says about them
//! said anew.

use std::path::Path;
use std::sync::Arc;

use eval::model_text::read_model;
use eval::{Budget, Model, Witness, to_term};
use oracle::frame::frames;
use oracle::{Configuration, Court, Expected, Kind, Panel, Rerun as _, Run, Subject, Verdict};
use reduce::predicate::{Bug, Limits, proof};
use reduce::{Input, Observer, ReduceError, Reduced, Settings};
use smtlib::{Command, Mode, Release, Script, Status, Store, print};
use solver::{RunRequest, Solver, limits};

use crate::error::CampaignError;
use crate::executor::why;
use crate::finding::{Finding, Shrunk, Small};
use crate::inquiry::{describe, record};
use crate::releases;
use crate::signature::sign;

/// How a finding is reduced.
#[derive(Clone, Debug)]
pub struct Orders {
    pub settings: Settings,
    /// Of one solver run.
    pub limits: Limits,
    /// Ask the installed releases which of them have the bug.
    pub bisect: bool,
}

/// A finding with what is needed to run it again. The accused is the first of its configurations.
#[derive(Clone, Debug)]
pub struct Case {
    pub finding: Finding,
    /// The script the accused read.
    pub input: String,
    /// A model that satisfies it.
    pub witness: Option<String>,
    pub configurations: Vec<Arc<Configuration>>,
}

/// A reduced finding.
#[derive(Clone, Debug)]
pub struct Done {
    pub finding: Finding,
    pub reduced: Reduced,
    pub small: Small,
}

impl Case {
    /// A finding from its folder. `solvers` stand in the order of its runs.
    pub fn read(folder: &Path, finding: Finding, solvers: &[Solver]) -> Result<Case, CampaignError> {
        let refused = |name: &str, error: std::io::Error| CampaignError::NotAFinding {
            path: folder.to_owned(),
            reason: format!("{name}: {error}"),
        };
        let read =
            |name: &str| std::fs::read_to_string(folder.join(name)).map_err(|error| refused(name, error));
        // What was reduced before can be reduced further; its options are those of the runs on record.
        let (script, model) = match finding.reduced.is_some() {
            true => ("reduced.smt2", "reduced-witness.smt2"),
            false => ("input.smt2", "witness.smt2"),
        };
        let input = read(script)?;
        let witness = read(model).ok();
        let configurations = solvers
            .iter()
            .zip(&finding.runs)
            .map(|(solver, past)| {
                let (models, broad) = (past.models, past.broad);
                let request =
                    RunRequest { models, broad, options: past.options.clone(), ..RunRequest::default() };
                Arc::new(Configuration { solver: solver.clone(), request })
            })
            .collect();
        Ok(Case { finding, input, witness, configurations })
    }

    /// Reduces it.
    pub fn reduce(&self, orders: &Orders, observer: &dyn Observer) -> Result<Done, CampaignError> {
        let mut store = Store::new();
        let parsed = smtlib::parse(&mut store, self.input.as_bytes(), Mode::Tolerant).ok();
        let script = parsed.as_ref().map(|parsed| &parsed.script);
        let mut judged =
            self.judge(&mut store, script, &self.input, self.witness.as_deref(), None, orders)?;
        let Some(verdict) = judged.verdict.take() else {
            let why = format!("the {} does not show on the input any more", self.finding.kind);
            return Err(ReduceError::NotInteresting(why).into());
        };
        let bug = self.bug(&verdict, &judged, orders);
        let witness = judged.has_witness.then_some(self.witness.as_deref()).flatten();
        let input = Input { text: self.input.as_bytes(), witness: witness.map(str::as_bytes) };
        let reduced = reduce::reduce(input, &bug, &orders.settings, observer)?;
        self.described(&bug, reduced, orders)
    }

    fn bug(&self, verdict: &Verdict, judged: &Judged, orders: &Orders) -> Bug {
        let mut bug = Bug::new(verdict, &judged.runs, orders.limits.clone())
            .with_references(self.configurations.iter().cloned());
        if judged.has_witness {
            bug = bug.with_witness();
        } else if let Some(expected) = &judged.expected {
            bug = bug.with_derivation(expected.clone());
        }
        bug
    }

    /// Runs everybody on a script and looks for the finding's misbehaviour.
    fn judge(
        &self,
        store: &mut Store,
        script: Option<&Script>,
        text: &str,
        witness: Option<&str>,
        accused: Option<&Arc<Configuration>>,
        orders: &Orders,
    ) -> Result<Judged, CampaignError> {
        let failed = |error| why(&self.finding.solver, error);
        let run_limits =
            limits::Limits { memory: Some(orders.limits.memory), ..limits::Limits::wall(orders.limits.wall) };
        let mut all: Vec<Arc<Configuration>> = self.configurations.clone();
        if let (Some(accused), Some(first)) = (accused, all.first_mut()) {
            *first = Arc::clone(accused);
        }
        let own = all.first().map(|first| first.release());
        let panel_of = all.iter().map(|one| Configuration::clone(one)).collect();
        let mut panel = Panel::new(panel_of, run_limits).map_err(failed)?;
        let mut runs = Vec::with_capacity(all.len());
        for configuration in &all {
            let release = configuration.release();
            let run = match script {
                Some(script) if Some(release) != own => {
                    let printed = print::print(store, script, release);
                    panel.run(configuration, printed.as_bytes())
                }
                _ => panel.run(configuration, text.as_bytes()),
            };
            runs.push(run.map_err(failed)?);
        }
        let mut has_witness = false;
        let mut expected = None;
        if let Some(script) = script {
            has_witness = witness.is_some_and(|text| checked(store, script, text).is_some());
            expected = if has_witness {
                let because = "a model satisfies every assertion by our evaluation".to_owned();
                Some(Expected { status: Status::Sat, because })
            } else {
                self.derived()
            };
        }
        let mut subject = Subject::new(store, script, &[]);
        subject.expected = expected.clone();
        subject.ask_for_models = self.finding.kind == Kind::InvalidModel.word();
        let verdicts = Court::thorough().judge(&mut subject, &runs, &mut panel).map_err(failed)?;
        let verdict = verdicts.into_iter().find(|verdict| {
            verdict.kind.word() == self.finding.kind
                && verdict.accused.is_none_or(|accused| accused == 0)
                && verdict.is_finding()
        });
        drop(subject);
        let proof = match (script, &verdict) {
            (Some(script), Some(verdict)) if !has_witness => {
                proof(store, script, &runs, verdict, &mut panel).map_err(failed)?
            }
            _ => None,
        };
        Ok(Judged { runs, verdict, has_witness, proof, expected })
    }

    /// The answer that follows from how the input was made. It holds for the input only.
    fn derived(&self) -> Option<Expected> {
        if self.finding.reduced.is_some() {
            return None;
        }
        let because = self.finding.expectation.derived.clone()?;
        let status = match self.finding.expectation.answer.as_deref()? {
            "sat" => Status::Sat,
            "unsat" => Status::Unsat,
            _ => return None,
        };
        Some(Expected { status, because })
    }

    /// The finding with everything said about the smaller script.
    fn described(&self, bug: &Bug, reduced: Reduced, orders: &Orders) -> Result<Done, CampaignError> {
        let mut store = Store::new();
        let best = &reduced.best;
        let parsed = smtlib::parse(&mut store, best.text.as_bytes(), Mode::Tolerant).ok();
        let script = parsed.as_ref().map(|parsed| &parsed.script);
        let judged = self.judge(
            &mut store,
            script,
            &best.text,
            best.witness.as_deref(),
            best.configuration.as_ref(),
            orders,
        )?;
        // What stood in the way of a proof may be gone.
        let witness = best.witness.clone().or(judged.proof);
        let mut finding = self.finding.clone();
        finding.pending = false;
        finding.reduced = Some(Shrunk {
            before: reduced.before,
            after: best.size,
            candidates: reduced.candidates,
            seconds: reduced.elapsed.as_secs_f64(),
            finished: reduced.finished,
        });
        finding.runs = judged.runs.iter().map(|run| record(run, "reduced.smt2")).collect();
        if let Some(verdict) = &judged.verdict {
            describe(
                &mut finding,
                verdict,
                &judged.runs,
                witness.is_some().then_some("reduced-witness.smt2"),
            );
        }
        if orders.bisect {
            finding.releases = releases::compare(bug, best)?;
        }
        if let Some(script) = script {
            let known_as = finding.signature.clone();
            sign(&mut finding, &store, script, &judged.runs);
            // A finding that has been told apart already keeps its name.
            if !self.finding.pending {
                finding.signature = known_as;
            }
        }
        let ground = match (script, witness.as_deref()) {
            (Some(script), Some(witness)) => ground(&mut store, script, witness),
            _ => None,
        };
        let small = Small { script: best.text.clone(), witness, ground };
        Ok(Done { finding, reduced, small })
    }
}

/// Runs of everybody on a script, and the misbehaviour if it shows.
struct Judged {
    runs: Vec<Run>,
    verdict: Option<Verdict>,
    has_witness: bool,
    /// A model that proves a refuted script satisfiable, where the finding came without one.
    proof: Option<String>,
    expected: Option<Expected>,
}

/// A model in a text, if it satisfies the script.
fn checked(store: &mut Store, script: &Script, text: &str) -> Option<Model> {
    let read = read_model(store, script, text.as_bytes(), Release::STANDARD).ok()?;
    let witness = Witness::check(store, script, read.model, Budget::default()).ok()?;
    Some(witness.into_model())
}

/// The script with the witness put in, so that any solver can be asked whether it holds: values of constants as
/// assertions, functions as definitions.
fn ground(store: &mut Store, script: &Script, witness: &str) -> Option<String> {
    let model = checked(store, script, witness)?;
    let constants: Vec<_> = script.declared_funs().collect();
    let mut values = Vec::new();
    for fun in &constants {
        let sort = store.fun(*fun).result;
        let value = model.value(*fun).cloned();
        let term = value
            .filter(|_| store.fun(*fun).params.is_empty())
            .and_then(|value| to_term(store, sort, &value));
        let Some(term) = term else {
            // Functions, and values without a notation of their own.
            let frame = frames(store, script).into_iter().next()?;
            return Some(oracle::ground::ground(store, &frame, &model, &[], Release::STANDARD).text);
        };
        let constant = store.call(*fun, &[]).ok()?;
        values.push(Command::Assert(store.op(smtlib::Op::Equal, &[constant, term]).ok()?));
    }
    let mut ground = script.clone();
    let place = ground.commands.iter().position(Command::is_check)?;
    ground.commands.splice(place..place, values);
    Some(print::print(store, &ground, Release::STANDARD))
}

/// Reduces a stored finding and rewrites its folder: the new files, then `finding.json`.
pub fn reduce_folder(
    folder: &Path,
    finding: Finding,
    solvers: &[Solver],
    orders: &Orders,
    observer: &dyn Observer,
) -> Result<Done, CampaignError> {
    let case = Case::read(folder, finding, solvers)?;
    let done = case.reduce(orders, observer)?;
    done.finding.write_reduced(folder, &done.small)?;
    Ok(done)
}
