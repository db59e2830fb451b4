//! From the runs of a test case to confirmed findings.

use std::sync::Arc;
use std::time::{Instant, SystemTime, UNIX_EPOCH};

use engines::TestCase;
use eval::Model;
use eval::model_text::write_model;
use oracle::subject::{CheckedModels, ModelCheck, ModelValue};
use oracle::{Asking, Judge, Kind, Standing, Subject, Verdict};
use smtlib::{Release, Store, print};
use solver::answer::reader;
use solver::run::{Configuration, Purpose, Run, Runner};

use crate::driver::Chain;
use crate::error::CampaignError;
use crate::findings::{self, Finding, Signature, Stage};
use crate::hash;
use crate::schedule::GET_STATISTICS;
use crate::seeds::SeedText;

/// A test case that was run, for judgement.
pub struct TestedCase<'a> {
    pub case: &'a TestCase,
    pub runs: &'a [Run],
    pub chain: &'a Chain,
    pub rng_seed: u64,
    /// Costly oracles look at it too.
    pub thorough: bool,
}

/// What the runs of a test case amount to.
pub struct Judgement {
    pub outcomes: Vec<VerdictOutcome>,
    /// A model of a run, if any was looked at: one that satisfies the script by our evaluation, or else cannot be decided.
    pub model: Option<Arc<ModelCheck>>,
}

/// What became of a verdict.
pub enum VerdictOutcome {
    /// It repeats: a finding, not yet told apart from others.
    Confirmed(Box<Reproduction>),
    /// A crash at a known place, and the text that the accused read.
    Known(Signature, String),
    /// It did not repeat.
    Unconfirmed,
    /// The parties mean different things on purpose; why.
    Excused(String),
    /// Not enough speaks for it, or something against it; what.
    Unproven(String),
}

/// A finding with what is needed to run it again. The accused is the first of its configurations.
#[derive(Clone, Debug)]
pub struct Reproduction {
    pub finding: Finding,
    /// The script the accused read.
    pub input: String,
    /// A model that satisfies it.
    pub witness: Option<String>,
    pub configurations: Vec<Arc<Configuration>>,
    /// Given or kept seeds that the test case comes from.
    pub ancestors: Vec<SeedText>,
}

/// Judges test cases. One per worker.
pub struct Verdicts {
    standard: Judge,
    /// With the oracles that cost many runs.
    thorough: Judge,
}

impl Default for Verdicts {
    fn default() -> Verdicts {
        Verdicts { standard: Judge::standard(), thorough: Judge::thorough() }
    }
}

impl Verdicts {
    /// Judges the runs of a test case and confirms every misbehaviour. `checked` are models of
    /// these runs that a first look has been at. `known` tells which crashes need not be looked at
    /// again: their place says all. Nobody waits longer than `until`; what was not confirmed by then is not.
    pub fn judge(
        &self,
        store: &mut Store,
        runner: &mut dyn Runner,
        tested: &TestedCase,
        checked: CheckedModels,
        known: &dyn Fn(&Signature) -> bool,
        until: Option<Instant>,
    ) -> Result<Judgement, CampaignError> {
        let failed = |error| CampaignError::of_run("a solver", error);
        let judge = if tested.thorough { &self.thorough } else { &self.standard };
        let script = &tested.case.script;
        let mut subject = Subject::new(store, Some(script), &[]);
        subject.expectation = tested.case.expectation().clone();
        if tested.thorough {
            subject.look_patiently();
        } else {
            subject.look_briefly();
        }
        subject.take_over(checked);
        let asking = &mut Asking::new(runner, Purpose::FollowUp).until(until);
        // With third opinions, where they were needed.
        let mut runs = tested.runs.to_vec();
        judge.follow_up(&mut subject, &mut runs, asking).map_err(failed)?;
        let mut verdicts = judge.judge(&mut subject, &runs, asking).map_err(failed)?;
        let model = subject.likely_model();
        if !verdicts.is_empty() && subject.look_closely() {
            verdicts = judge.judge(&mut subject, &runs, asking).map_err(failed)?;
        }
        drop(subject);
        let tested = &TestedCase { runs: &runs, ..*tested };
        let mut outcomes = Vec::new();
        for mut verdict in verdicts {
            match verdict.standing {
                Standing::Stands => {}
                Standing::ByDesign(reason) => {
                    outcomes.push(VerdictOutcome::Excused(reason));
                    continue;
                }
                Standing::Unproven(reason) => {
                    outcomes.push(VerdictOutcome::Unproven(format!("{}: {reason}", verdict.kind)));
                    continue;
                }
            }
            let crash = Signature::of_crash(&verdict, tested.runs);
            if let Some(crash) = crash.filter(|crash| known(crash)) {
                outcomes.push(VerdictOutcome::Known(crash, input_text(&involved(tested.runs, &verdict))));
                continue;
            }
            let mut subject = Subject::new(store, Some(script), &[]);
            subject.expectation = tested.case.expectation().clone();
            let asking = &mut Asking::new(runner, Purpose::Confirmation).until(until);
            judge.confirm(&mut subject, tested.runs, &mut verdict, asking).map_err(failed)?;
            drop(subject);
            outcomes.push(match verdict.is_finding() {
                true => VerdictOutcome::Confirmed(Box::new(reproduction(store, runner, tested, &verdict)?)),
                false => VerdictOutcome::Unconfirmed,
            });
        }
        Ok(Judgement { outcomes, model })
    }
}

/// The finding that a confirmed verdict is.
fn reproduction(
    store: &mut Store,
    runner: &mut dyn Runner,
    tested: &TestedCase,
    verdict: &Verdict,
) -> Result<Reproduction, CampaignError> {
    let case = tested.case;
    let mut runs = involved(tested.runs, verdict);
    runs.iter_mut().for_each(leave_out_statistics);
    let witness = witness(store, runner, case, &runs, verdict)?;
    let input = input_text(&runs);
    let standard = print::print(store, &case.script, Release::STANDARD);
    let solver = match verdict.accused.and_then(|party| Run::of(&runs, party)) {
        Some(run) => run.configuration.solver.name(),
        None => runs.iter().map(|run| run.configuration.solver.name()).collect::<Vec<_>>().join("-"),
    };
    let operators = findings::operators(store, &case.script);
    let origin = tested.chain.origin(tested.rng_seed, case, hash::name(standard.as_bytes()));
    let mut finding = Finding {
        osprey: env!("CARGO_PKG_VERSION").to_owned(),
        found: SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_secs(),
        kind: verdict.kind,
        title: runs.first().map(|run| run.configuration.solver.adapter.title.clone()).unwrap_or_default(),
        signature: Signature::of_script(verdict, &solver, &runs, &operators, None)
            .steered(findings::steering(&input, verdict.kind)),
        solver,
        summary: String::new(),
        flaky: verdict.is_flaky(),
        stage: Stage::Pending { input: hash::name(input.as_bytes()), process: std::process::id() },
        expectation: case.expectation().clone(),
        answer: None,
        evidence: Vec::new(),
        accused: verdict.accused,
        check: None,
        platform: String::new(),
        runs: Vec::new(),
        operators,
        blame: reduce::blame::Blame::default(),
        releases: None,
        group: None,
        handling: findings::Handling::default(),
        provenance: origin,
    };
    finding.describe(verdict, &runs, witness.is_some().then_some("witness.smt2"));
    let ancestors = tested.chain.ancestors().iter();
    Ok(Reproduction {
        finding,
        input,
        witness,
        configurations: runs.iter().map(|run| Arc::clone(&run.configuration)).collect(),
        ancestors: ancestors.filter(|(_, generated)| !generated).map(|(seed, _)| seed.clone()).collect(),
    })
}

/// The runs a verdict is about, that of the accused first.
fn involved(runs: &[Run], verdict: &Verdict) -> Vec<Run> {
    let mut parties: Vec<_> = verdict.accused.into_iter().collect();
    parties.extend(verdict.opponents.iter().copied().filter(|party| Some(*party) != verdict.accused));
    parties.into_iter().filter_map(|party| Run::of(runs, party)).cloned().collect()
}

/// A run without the question for statistics and its answer: they were for us, and no two runs print the same.
fn leave_out_statistics(run: &mut Run) {
    let Some(script) = run.script.strip_suffix(GET_STATISTICS.as_bytes()) else { return };
    run.script = script.into();
    let output = &run.outcome.stdout;
    let last = reader::pieces(output).last().filter(|piece| output[piece.range.clone()].starts_with(b"(:"));
    if let Some(statistics) = last {
        run.outcome.stdout.truncate(statistics.range.start);
    }
}

/// The text that the accused read; of the first party where nobody is accused.
pub fn input_text(runs: &[Run]) -> String {
    runs.first().map(|run| String::from_utf8_lossy(&run.script).into_owned()).unwrap_or_default()
}

/// A model that proves a refuted script satisfiable, as text: the engine's own, or one of a solver that we checked.
fn witness(
    store: &mut Store,
    runner: &mut dyn Runner,
    case: &TestCase,
    runs: &[Run],
    verdict: &Verdict,
) -> Result<Option<String>, CampaignError> {
    if verdict.kind != Kind::RefutationSoundness {
        return Ok(None);
    }
    if let Some(witness) = case.witness() {
        let model = witness.model().restricted_to(&case.script);
        return Ok(write_model(store, &case.script, &model).ok());
    }
    let check = verdict.check.unwrap_or(0);
    let mut proven = None;
    let mut subject = Subject::new(store, Some(&case.script), &[]);
    for run in verdict.opponents.iter().filter_map(|party| Run::of(runs, *party)) {
        let asking = &mut Asking::new(runner, Purpose::Confirmation);
        let found = subject
            .model_check(run, check, true, asking)
            .map_err(|error| CampaignError::of_run("a solver", error))?;
        if let Some(found) = found.filter(|found| found.value == ModelValue::True) {
            proven = Some(found);
            break;
        }
    }
    drop(subject);
    // Numbers without a notation of their own have names in what a solver prints.
    let mut written = |model: &Model| write_model(store, &case.script, &model.restricted_to(&case.script));
    Ok(proven.map(|found| written(&found.model).unwrap_or_else(|_| found.text.clone())))
}

#[cfg(test)]
mod tests {
    use testkit::Scripted;

    use super::*;

    #[test]
    fn a_finding_is_without_what_was_asked_for_the_schedule() {
        let script = format!("(check-sat)\n(get-model)\n{GET_STATISTICS}");
        let said = "sat\n(\n  (define-fun x () Int 5)\n)\n(:added-eqs 3\n :time 0.01)\n";
        let mut scripted = Scripted::new(&["z3@4.8.7"], move |_, _| said.into());
        let mut run = scripted.run_all(script.as_bytes(), Purpose::Test).expect("a run").remove(0);
        leave_out_statistics(&mut run);
        assert_eq!(input_text(std::slice::from_ref(&run)), "(check-sat)\n(get-model)\n");
        let model = "(\n  (define-fun x () Int 5)\n)";
        assert_eq!(String::from_utf8_lossy(&run.outcome.stdout), format!("sat\n{model}\n"));
        assert_eq!(run.model_text(0), Some(model.as_bytes()));
    }
}
