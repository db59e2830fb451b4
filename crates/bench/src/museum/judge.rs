//! Is a script a known bug again? The item's release is run first; others are asked only when it looks suspicious.

use std::sync::Arc;
use std::time::Duration;

use campaign::driver::{asking_for_model, runnable};
use campaign::{CampaignError, Target};
use eval::Expectation;
use oracle::subject::ModelValue;
use oracle::{Asking, Judge, Kind, Subject};
use smtlib::{Release, Script, Status, Store, print};
use solver::run::{Configuration, Purpose, Run, RunError, RunRules, Runner, SolverRunner};
use solver::{RunClass, RunRequest, Solver};

use super::item::Item;
use crate::error::BenchError;

/// Memory of one run, in bytes.
const MEMORY: u64 = 2048 << 20;

/// What came of a script.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Trial {
    /// The bug, in another formula.
    Hit,
    /// Nothing of the kind.
    Nothing,
    /// The release does not take the script, or it is the trigger itself.
    Unusable,
    /// The release ran out of time.
    TimedOut,
}

/// Tells for one item whether a script shows its bug.
pub struct BugTest {
    /// What counts as the bug.
    kinds: Vec<Kind>,
    /// The item's release with its options.
    target: Target,
    /// The releases that are asked: the first one is the newest of the same line.
    references: Vec<Target>,
    pub runner: SolverRunner,
    judge: Judge,
    /// Canonical texts that do not count: the trigger, the seed.
    excluded: Vec<String>,
    /// Runs of the item's release.
    pub calls: u64,
    /// Accusations of a reference: none is expected.
    pub references_accused: u64,
}

/// The item's release with its options, then the references, those of the same line first.
pub fn parties(item: &Item, own: &Solver, references: &[Solver]) -> (Target, Vec<Target>) {
    let mut own = Solver { options: item.options.clone(), ..own.clone() };
    own.leave_out_file_options();
    let target = Target::new(0, own);
    let lineage = |solver: &Solver| Target::new(0, solver.clone()).configuration().lineage();
    let of_line = lineage(&target.solver);
    let mut sorted: Vec<Solver> = references.to_vec();
    sorted.sort_by_key(|solver| lineage(solver) != of_line);
    let references = (1..).zip(sorted).map(|(number, solver)| Target::new(number, solver)).collect();
    (target, references)
}

impl BugTest {
    pub fn new(
        item: &Item,
        own: &Solver,
        references: &[Solver],
        timeout: Duration,
    ) -> Result<BugTest, BenchError> {
        let (target, references) = parties(item, own, references);
        let configurations = std::iter::once(&target).chain(&references).map(Target::configuration).collect();
        let rules = RunRules::for_campaign(timeout, MEMORY);
        let runner = SolverRunner::new(configurations, rules).map_err(failed)?;
        let mut judge = Judge::standard();
        judge.confirmations = 1;
        Ok(BugTest {
            kinds: vec![item.kind],
            target,
            references,
            runner,
            judge,
            excluded: Vec::new(),
            calls: 0,
            references_accused: 0,
        })
    }

    /// Counts any misbehaviour, whatever the item's kind.
    pub fn any_kind(&mut self) {
        self.kinds =
            vec![Kind::RefutationSoundness, Kind::SolutionSoundness, Kind::InvalidModel, Kind::Crash];
    }

    pub fn target(&self) -> &Target {
        &self.target
    }

    /// This script is not another formula.
    pub fn exclude(&mut self, store: &mut Store, script: &Script) {
        let (script, _) = runnable(store, script, &[self.target.release]);
        self.excluded.push(print::print(store, &script, Release::STANDARD));
    }

    /// A script, with the text that the release gets if it is not ours to print.
    pub fn try_script(
        &mut self,
        store: &mut Store,
        script: &Script,
        own_text: Option<&str>,
        expectation: &Expectation,
    ) -> Result<Trial, BenchError> {
        let (script, usage) = runnable(store, script, &[self.target.release]);
        if own_text.is_none() && !self.target.accepts(&usage)
            || self.excluded.contains(&print::print(store, &script, Release::STANDARD))
        {
            return Ok(Trial::Unusable);
        }
        let models = self.kinds.contains(&Kind::InvalidModel) && !script.is_incremental();
        let text = match own_text {
            Some(text) => text.to_owned(),
            None if models => print::print(store, &asking_for_model(&script), self.target.release),
            None => print::print(store, &script, self.target.release),
        };
        let request = RunRequest { models: models && own_text.is_none(), ..RunRequest::default() };
        let run = self.run(&self.target.configuration(), request, &text)?;
        self.calls += 1;
        if run.answers.class == RunClass::Timeout {
            return Ok(Trial::TimedOut);
        }
        if !self.is_suspicious(store, &script, &run, expectation)? {
            return Ok(Trial::Nothing);
        }
        let hit = self.try_case(store, &script, run, expectation)?;
        Ok(if hit { Trial::Hit } else { Trial::Nothing })
    }

    fn run(&mut self, party: &Configuration, request: RunRequest, text: &str) -> Result<Run, BenchError> {
        let configuration = Arc::new(Configuration { request, ..party.clone() });
        self.runner.run(&configuration, text.as_bytes(), Purpose::Test).map_err(failed)
    }

    /// Could this run be the bug? Costs no run, except of a reference where nothing else is known.
    fn is_suspicious(
        &mut self,
        store: &mut Store,
        script: &Script,
        run: &Run,
        expectation: &Expectation,
    ) -> Result<bool, BenchError> {
        for kind in self.kinds.clone() {
            if self.may_show(kind, store, script, run, expectation)? {
                return Ok(true);
            }
        }
        Ok(false)
    }

    fn may_show(
        &mut self,
        kind: Kind,
        store: &mut Store,
        script: &Script,
        run: &Run,
        expectation: &Expectation,
    ) -> Result<bool, BenchError> {
        let answers = |status| run.answers.trusted().any(|check| run.status(check.check) == Some(status));
        match kind {
            Kind::Crash => return Ok(run.answers.crash().is_some()),
            Kind::UnsoundCore => return Ok(!run.answers.cores.is_empty()),
            Kind::RefutationSoundness => {
                return Ok(answers(Status::Unsat) && expectation.answer() != Some(Status::Unsat));
            }
            Kind::SolutionSoundness => {
                return Ok(answers(Status::Sat) && expectation.answer() != Some(Status::Sat));
            }
            _ if !run.answers.failed_checks.is_empty() => return Ok(true),
            _ if !answers(Status::Sat) => return Ok(false),
            _ => {}
        }
        let mut subject = Subject::new(store, Some(script), &[]);
        for check in 0..subject.frames().len() {
            // Scripts with several checks print no model of their own accord.
            let ask = run.status(check) == Some(Status::Sat);
            let asking = &mut Asking::new(&mut self.runner, Purpose::FollowUp);
            let found = subject.model_check(run, check, ask, asking).map_err(failed)?;
            if found.is_some_and(|found| matches!(found.value, ModelValue::False(..))) {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Asks the references, has everything judged, and makes sure that the newest release is clean.
    fn try_case(
        &mut self,
        store: &mut Store,
        script: &Script,
        run: Run,
        expectation: &Expectation,
    ) -> Result<bool, BenchError> {
        let usage = smtlib::logic::usage(store, script);
        let mut runs = vec![run];
        let able: Vec<(Configuration, Release)> = self
            .references
            .iter()
            .filter(|reference| reference.accepts(&usage))
            .map(|reference| (reference.configuration(), reference.release))
            .collect();
        for (reference, release) in able {
            let request = RunRequest { broad: true, ..RunRequest::default() };
            let text = print::print(store, script, release);
            let run = self.run(&reference, request, &text)?;
            // The newest release of the line goes first. Where it agrees, nobody else needs to be asked.
            if run.answers.crash().is_some() || (self.rests_on_answers() && agrees(&runs[0], &run)) {
                return Ok(false);
            }
            runs.push(run);
        }
        if !self.may_be(&runs, expectation) {
            return Ok(false);
        }
        let mut subject = Subject::new(store, Some(script), &[]);
        subject.expectation = expectation.clone();
        let own = runs[0].party();
        let asking = &mut Asking::new(&mut self.runner, Purpose::FollowUp);
        let verdicts = self.judge.judge(&mut subject, &runs, asking).map_err(failed)?;
        let others = |accused| accused != own;
        if verdicts.iter().any(|verdict| verdict.accused.is_some_and(others) && verdict.is_finding()) {
            self.references_accused += 1;
            return Ok(false);
        }
        let kinds = self.kinds.clone();
        let same = |kind: Kind| {
            // A model of a formula that has none is a wrong model as well.
            kinds.contains(&kind) || (kinds.contains(&Kind::InvalidModel) && kind == Kind::SolutionSoundness)
        };
        for mut verdict in verdicts {
            // A museum knows that the newest release of the line is without the bug, so a disagreement is enough.
            let disagrees = verdict.kind == Kind::Disagreement
                && runs[0].status(verdict.check.unwrap_or(0)).is_some_and(|status| same(wrong(status)));
            if (verdict.accused == Some(own) && same(verdict.kind) || disagrees) && verdict.is_finding() {
                let asking = &mut Asking::new(&mut self.runner, Purpose::Confirmation);
                self.judge.confirm(&mut subject, &runs, &mut verdict, asking).map_err(failed)?;
                if verdict.is_finding() {
                    return Ok(true);
                }
            }
        }
        Ok(false)
    }

    /// Only wrong answers are looked for.
    fn rests_on_answers(&self) -> bool {
        self.kinds.iter().all(|kind| matches!(kind, Kind::RefutationSoundness | Kind::SolutionSoundness))
    }

    /// Without anybody who contradicts the release there is no wrong answer: spares the judge's questions.
    fn may_be(&self, runs: &[Run], expectation: &Expectation) -> bool {
        let (own, right) = match self.kinds.as_slice() {
            [Kind::RefutationSoundness] => (Status::Unsat, Status::Sat),
            [Kind::SolutionSoundness] => (Status::Sat, Status::Unsat),
            _ => return true,
        };
        expectation.answer() == Some(right)
            || runs[0].answers.trusted().any(|check| {
                let at = |run: &Run| run.status(check.check);
                at(&runs[0]) == Some(own) && runs[1..].iter().any(|run| at(run) == Some(right))
            })
    }

    /// A plain run of the release on a text.
    pub fn run_plain(&mut self, text: &str) -> Result<Run, BenchError> {
        let configuration = Arc::new(self.target.configuration());
        self.runner.run(&configuration, text.as_bytes(), Purpose::Confirmation).map_err(failed)
    }
}

/// The kind of misbehaviour that an answer is if it is wrong.
fn wrong(answer: Status) -> Kind {
    if answer == Status::Sat { Kind::SolutionSoundness } else { Kind::RefutationSoundness }
}

/// Every answer of one is that of the other.
fn agrees(one: &Run, other: &Run) -> bool {
    one.answers.trusted().all(|check| one.status(check.check) == other.status(check.check))
}

fn failed(error: RunError) -> BenchError {
    CampaignError::of_run("a solver", error).into()
}
