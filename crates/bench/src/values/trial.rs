//! One round of one configuration on one item.

use std::time::Duration;

use campaign::driver::{AnswerCache, Chain, Driver, Plan, PlannedSeed, Questions, runnable};
use campaign::{CampaignError, SeedText, Target};
use engines::Feedback;
use smtlib::{Mode, Store};
use solver::Solver;

use super::Configuration;
use super::meter::Meter;
use super::record::Record;
use crate::error::BenchError;
use crate::museum::item::Item;
use crate::museum::judge::{BugTest, Trial};

/// Time of one run of the item's release.
const RUN: Duration = Duration::from_secs(2);

/// An item with its solvers.
pub struct Bench {
    id: String,
    trigger: String,
    test: BugTest,
    targets: Vec<Target>,
    /// Who gives models: releases without the bug.
    advisers: Vec<Target>,
}

impl Bench {
    pub fn new(item: &Item, own: &Solver, references: &[Solver]) -> Result<Bench, BenchError> {
        let trigger = item.trigger()?;
        let mut test = BugTest::new(item, own, references, RUN)?;
        let mut store = Store::new();
        let parsed = smtlib::parse(&mut store, trigger.as_bytes(), Mode::Tolerant)
            .map_err(|error| BenchError::Usage(format!("{} cannot be read: {}", item.id, error.message)))?;
        test.exclude(&mut store, &parsed.script);
        let targets = vec![Target::new(0, test.target().solver.clone())];
        let advisers = Target::numbered(references.iter().cloned());
        Ok(Bench { id: item.id.clone(), trigger, test, targets, advisers })
    }

    /// The whole round, hit or not, so that calls compare. `None` if the engine can make nothing of the trigger.
    pub fn trial(
        &mut self,
        configuration: &Configuration,
        run: u64,
        rng_seed: u64,
        limit: Duration,
    ) -> Result<Option<Record>, BenchError> {
        let mut meter = Meter::start(&mut self.test.runner, limit);
        let engine = &configuration.values;
        let mut driver = Driver::new(&self.targets, rng_seed);
        // The author's program takes constants from `sat` only.
        let mut answers = AnswerCache::default().only_sat(engine.paper);
        let plan = plan(&self.id, &self.trigger, run, vec![0]);
        self.test.calls = 0;
        let panicked = |error: campaign::driver::EnginePanic| CampaignError::Internal(error.to_string());
        let opened = {
            let mut questions =
                Questions { targets: &self.advisers, runner: &mut self.test.runner, cache: &mut answers };
            driver.open(engine, &plan, &mut questions).map_err(panicked)?
        };
        let Some(mut chain) = opened else { return Ok(None) };
        let mut hit = false;
        let cut = loop {
            if meter.is_over(&mut self.test.runner) {
                break true;
            }
            let case = {
                let mut questions =
                    Questions { targets: &self.advisers, runner: &mut self.test.runner, cache: &mut answers };
                driver.next(&mut chain, &mut questions).map_err(panicked)?
            };
            answers.take_failure()?;
            let Some(case) = case else { break false };
            if hit {
                // The bug is found: what the release makes of the rest changes nothing, so the call is only counted.
                let release = self.test.target().release;
                let (_, usage) = runnable(&mut driver.store, &case.script, &[release]);
                self.test.calls += u64::from(self.test.target().accepts(&usage));
            } else {
                let trial =
                    self.test.try_script(&mut driver.store, &case.script, None, case.expectation())?;
                hit = trial == Trial::Hit;
            }
            chain.learn(&Feedback::default());
        };
        let cpu = meter.spent(&mut self.test.runner).as_secs_f64();
        let found = record(&self.id, &configuration.name, run, &chain);
        let (tests, limit) = (self.test.calls, limit.as_secs_f64());
        Ok(Some(Record { hit, tests, cut, limit, cpu, ..found }))
    }
}

/// A whole round of one seed.
pub(super) fn plan(name: &str, text: &str, round: u64, group: Vec<usize>) -> Plan {
    Plan {
        round,
        engine: "values".to_owned(),
        seeds: vec![PlannedSeed::Text(SeedText::new(name, text))],
        logic: "ALL".to_owned(),
        group,
        tactic: None,
        without: Vec::new(),
        memory: None,
        steps: usize::MAX,
    }
}

/// What came of a round that has ended, by the engine's own account.
pub(super) fn record(item: &str, configuration: &str, run: u64, chain: &Chain) -> Record {
    let figures = chain.figures().into_iter().map(|(name, count)| (name.to_owned(), count));
    let mut record = Record {
        saturated: chain.exhausted() == Some("saturated"),
        figures: figures.collect(),
        ..Record::new(item, configuration, run)
    };
    // What a mutant covers comes with the paper's substitution calls for nothing: these questions are not counted.
    record.questions = record.figure("asked");
    record
}
