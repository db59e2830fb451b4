//! From a test case to its runs: who can run it, in which text, and whether the references are needed.

use std::sync::Arc;

use engines::{Expectation, TestCase};
use oracle::{Configuration, Run, Subject};
use smtlib::logic::Usage;
use smtlib::{Release, Status, print};
use solver::RunRequest;

use super::Worker;
use crate::error::CampaignError;
use crate::statistics;
use crate::target::Target;

/// Larger scripts are not run: nobody could read a finding from them.
const LARGEST: usize = 1 << 20;

/// A test case with what is needed to run it.
pub struct Prepared<'c> {
    pub case: &'c TestCase,
    pub usage: Usage,
    /// Numbers of the solvers that run it.
    pub who: Vec<usize>,
    pub configurations: Vec<Arc<Configuration>>,
    /// Solvers are asked for their statistics too.
    pub statistics: bool,
}

impl Worker<'_> {
    /// Who runs it, with which options, and what is asked beside the answer.
    pub(super) fn prepare<'c>(
        &self,
        case: &'c TestCase,
        usage: Usage,
        options: &mut generate::Rng,
    ) -> Prepared<'c> {
        let shared = self.shared;
        let logic = case.script.logic(&self.store).unwrap_or_default().to_owned();
        let able = |target: &&Target| {
            target.accepts(&usage) && !self.refused_logics.contains(&(target.number, logic.clone()))
        };
        let who: Vec<usize> = shared.targets.iter().filter(able).map(|target| target.number).collect();
        // A model after the only check can be validated; between several checks it would change what is tested.
        let models = shared.policy.may_ask() && !case.script.is_incremental();
        // Several checks, and theories that a solver calls experimental, are refused unless they are asked for.
        let broad = shared.policy.may_ask()
            && (case.script.is_incremental()
                || usage.strings
                || usage.sequences
                || usage.floats
                || usage.arrays);
        let configurations = who
            .iter()
            .map(|number| {
                let target = &shared.targets[*number];
                let options = shared.policy.options(target, &usage, options);
                let request = RunRequest { broad, models, options, ..RunRequest::default() };
                Arc::new(Configuration { solver: target.solver.clone(), request })
            })
            .collect();
        let statistics = shared.policy.may_ask() && options.chance(statistics::SHARE);
        Prepared { case, usage, who, configurations, statistics }
    }

    /// The runs of those under test, then of the references if something is left to decide.
    pub(super) fn run_all(&mut self, prepared: &Prepared) -> Result<Vec<Run>, CampaignError> {
        let script = &prepared.case.script;
        let mut runs: Vec<Run> = Vec::with_capacity(prepared.who.len());
        let mut open = None;
        // What the solver before got: the next one often gets the same.
        let mut printed: Option<(Release, bool, String)> = None;
        for (number, configuration) in prepared.who.iter().zip(&prepared.configurations) {
            let target = &self.shared.targets[*number];
            if target.reference && !*open.get_or_insert_with(|| self.is_open(prepared, &runs)) {
                break;
            }
            let models = configuration.request.models;
            let same = |(release, asks, _): &(Release, bool, String)| {
                *asks == models && print::same_text(&prepared.usage, *release, target.release)
            };
            if !printed.as_ref().is_some_and(same) {
                let mut text = if models {
                    print::print(&self.store, &crate::ask::asking_for_model(script), target.release)
                } else {
                    print::print(&self.store, script, target.release)
                };
                if prepared.statistics {
                    text.push_str(statistics::QUESTION);
                }
                printed = Some((target.release, models, text));
            }
            let Some((_, _, text)) = printed.as_ref().filter(|(_, _, text)| text.len() <= LARGEST) else {
                break;
            };
            runs.push(self.executor.run_fast(target, configuration, text.as_bytes())?);
        }
        Ok(runs)
    }

    /// Is there an answer that neither the expectation nor a model we evaluate settles?
    fn is_open(&mut self, prepared: &Prepared, runs: &[Run]) -> bool {
        match &prepared.case.expectation {
            Expectation::Sat(_) => return false,
            // A derivation is only as good as its grounds: before anybody is accused, others are heard.
            Expectation::Derived(status, _) => {
                let differs = |run: &Run| {
                    let answers = run.answers.checks.iter().filter_map(|check| run.status(check.check));
                    answers.into_iter().any(|answer| answer != *status)
                };
                return runs.iter().any(differs);
            }
            Expectation::Agree => {}
        }
        let mut subject = Subject::new(&mut self.store, Some(&prepared.case.script), &[]);
        (0..runs.len()).any(|position| {
            (0..subject.frames().len()).any(|check| match runs[position].status(check) {
                None => false,
                Some(Status::Sat) => !subject.settles(runs, position, check),
                Some(_) => true,
            })
        })
    }
}
