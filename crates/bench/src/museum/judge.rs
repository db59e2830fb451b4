//! Is a script a known bug again? The item's release is run first; others are asked only when it looks suspicious.

use std::sync::Arc;
use std::time::Duration;

use campaign::executor::Executor;
use campaign::inquiry::expected;
use campaign::{Identity, Target, round};
use engines::Expectation;
use oracle::subject::ModelValue;
use oracle::{Configuration, Court, Kind, Rerun as _, Run, RunError, Subject};
use smtlib::{Release, Script, Status, Store, print};
use solver::{RunClass, RunRequest, Solver};

use super::item::Item;
use crate::error::BenchError;

/// Memory of one run, in megabytes.
const MEMORY: u64 = 2048;

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

/// Judges scripts for one item.
pub struct Judge {
    /// What counts as the bug.
    kinds: Vec<Kind>,
    /// The item's release with its options.
    target: Target,
    /// The releases that are asked: the first one is the newest of the same line.
    references: Vec<Target>,
    pub executor: Executor,
    court: Court,
    /// Canonical texts that do not count: the trigger, the seed.
    excluded: Vec<String>,
    /// Runs of the item's release.
    pub calls: u64,
    /// Accusations of a reference: none is expected.
    pub references_accused: u64,
}

/// Settings that matter for running a solver; the rest belongs to campaigns.
pub fn identity(timeout: Duration, rng_seed: u64) -> Identity {
    Identity::of_runs(timeout, MEMORY, rng_seed)
}

/// The item's release with its options, then the references, those of the same line first.
pub fn parties(item: &Item, own: &Solver, references: &[Solver]) -> (Target, Vec<Target>) {
    let own = Solver { options: item.options.clone(), ..own.clone() };
    let target = Target::new(0, own, None, false);
    let lineage = |solver: &Solver| Configuration::new(solver.clone()).lineage();
    let of_line = lineage(&target.solver);
    let mut sorted: Vec<Solver> = references.to_vec();
    sorted.sort_by_key(|solver| lineage(solver) != of_line);
    let references =
        sorted.into_iter().enumerate().map(|(i, solver)| Target::new(i + 1, solver, None, false)).collect();
    (target, references)
}

impl Judge {
    pub fn new(
        item: &Item,
        own: &Solver,
        references: &[Solver],
        timeout: Duration,
    ) -> Result<Judge, BenchError> {
        let (target, references) = parties(item, own, references);
        let mut panel = vec![Target::new(0, target.solver.clone(), None, false)];
        panel.extend(
            references.iter().map(|other| Target::new(other.number, other.solver.clone(), None, false)),
        );
        let executor = Executor::new(&identity(timeout, 0), &panel)?;
        let mut court = Court::standard();
        court.confirmations = 1;
        Ok(Judge {
            kinds: vec![item.kind],
            target,
            references,
            executor,
            court,
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
        let (script, _) = round::runnable(store, script);
        self.excluded.push(print::print(store, &script, Release::STANDARD));
    }

    /// A script, with the text that the release gets if it is not ours to print.
    pub fn judge(
        &mut self,
        store: &mut Store,
        script: &Script,
        own_text: Option<&str>,
        expectation: &Expectation,
    ) -> Result<Trial, BenchError> {
        let (script, usage) = round::runnable(store, script);
        if own_text.is_none() && !self.target.accepts(&usage)
            || self.excluded.contains(&print::print(store, &script, Release::STANDARD))
        {
            return Ok(Trial::Unusable);
        }
        let models = self.kinds.contains(&Kind::InvalidModel) && !script.is_incremental();
        let text = match own_text {
            Some(text) => text.to_owned(),
            None if models => {
                print::print(store, &campaign::ask::asking_for_model(&script), self.target.release)
            }
            None => print::print(store, &script, self.target.release),
        };
        let request = RunRequest { models: models && own_text.is_none(), ..RunRequest::default() };
        let configuration = Arc::new(Configuration { solver: self.target.solver.clone(), request });
        let run = self.executor.run_fast(&self.target, &configuration, text.as_bytes())?;
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
                return Ok(answers(Status::Unsat) && expectation.status() != Some(Status::Unsat));
            }
            Kind::SolutionSoundness => {
                return Ok(answers(Status::Sat) && expectation.status() != Some(Status::Sat));
            }
            _ if !run.answers.failed_checks.is_empty() => return Ok(true),
            _ if !answers(Status::Sat) => return Ok(false),
            _ => {}
        }
        let runs = std::slice::from_ref(run);
        let mut subject = Subject::new(store, Some(script), &[]);
        for check in 0..subject.frames().len() {
            // Scripts with several checks print no model of their own accord.
            let ask = run.status(check) == Some(Status::Sat);
            let found = subject.model_check(runs, 0, check, ask, &mut self.executor).map_err(failed)?;
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
        for reference in &self.references {
            if !reference.accepts(&usage) {
                continue;
            }
            let request = RunRequest { broad: true, ..RunRequest::default() };
            let configuration = Arc::new(Configuration { solver: reference.solver.clone(), request });
            let text = print::print(store, script, reference.release);
            let run = self.executor.run_fast(reference, &configuration, text.as_bytes())?;
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
        subject.expected = expected(expectation);
        let verdicts = self.court.judge(&mut subject, &runs, &mut self.executor).map_err(failed)?;
        if verdicts.iter().any(|verdict| verdict.accused.is_some_and(|who| who > 0) && verdict.is_finding()) {
            self.references_accused += 1;
            return Ok(false);
        }
        let kinds = &self.kinds;
        let same = |kind: Kind| {
            // A model of a formula that has none is a wrong model as well.
            kinds.contains(&kind) || (kinds.contains(&Kind::InvalidModel) && kind == Kind::SolutionSoundness)
        };
        for mut verdict in verdicts {
            if verdict.accused == Some(0) && same(verdict.kind) && verdict.is_finding() {
                self.court.confirm(&mut subject, &runs, &mut verdict, &mut self.executor).map_err(failed)?;
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

    /// Without anybody who contradicts the release there is no wrong answer: spares the court's questions.
    fn may_be(&self, runs: &[Run], expectation: &Expectation) -> bool {
        let (own, right) = match self.kinds.as_slice() {
            [Kind::RefutationSoundness] => (Status::Unsat, Status::Sat),
            [Kind::SolutionSoundness] => (Status::Sat, Status::Unsat),
            _ => return true,
        };
        expectation.status() == Some(right)
            || runs[0].answers.trusted().any(|check| {
                let at = |run: &Run| run.status(check.check);
                at(&runs[0]) == Some(own) && runs[1..].iter().any(|run| at(run) == Some(right))
            })
    }

    /// A plain run of the release on a text.
    pub fn run_plain(&mut self, text: &str) -> Result<Run, BenchError> {
        let configuration = Arc::new(Configuration::new(self.target.solver.clone()));
        self.executor.run(&configuration, text.as_bytes()).map_err(failed)
    }
}

/// Every answer of one is that of the other.
fn agrees(one: &Run, other: &Run) -> bool {
    one.answers.trusted().all(|check| one.status(check.check) == other.status(check.check))
}

fn failed(error: RunError) -> BenchError {
    campaign::executor::why("a solver", error).into()
}
