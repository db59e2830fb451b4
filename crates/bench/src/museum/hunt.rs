//! From a formula of an item to its bug again: an engine's mutants, one after the other, until one shows it.

use std::time::{Duration, Instant};

use campaign::driver::{AnswerCache, Driver, EnginePanic, Plan, PlannedSeed, Questions, runnable};
use campaign::{CampaignError, SeedText, Target};
use engines::{Engine, Feedback};
use eval::Expectation;
use smtlib::{Mode, Status, Store};

use super::item::Item;
use super::judge::{BugTest, Trial};
use crate::error::BenchError;
use crate::watch::Watch;

/// How far from a formula its bug is looked for.
#[derive(Clone, Copy, Debug)]
pub struct Reach {
    /// Mutants of one round.
    steps: u64,
    /// A round ends after this many mutants in a row that cannot be used or run out of time.
    patience: u32,
}

impl Reach {
    /// From a formula that shows the bug: short chains stay near it.
    pub const NEAR: Reach = Reach { steps: 30, patience: 4 };
    /// From a formula that does not: a fuzzer came to the bug by many changes, one upon the other.
    pub const FAR: Reach = Reach { steps: 1000, patience: 30 };
}

/// Rounds in a row without a usable mutant, after which nothing more is expected.
const BARREN: u32 = 12;

/// How a hunt went.
#[derive(Clone, Debug, PartialEq)]
pub struct Hunt {
    /// Runs of the item's release up to the first hit.
    pub hit: Option<u64>,
    /// The formula that shows the bug again.
    pub text: Option<String>,
    pub mutants: u64,
    pub calls: u64,
    /// Why nothing was found.
    pub why: String,
}

impl Hunt {
    pub fn missed(why: impl Into<String>) -> Hunt {
        Hunt { hit: None, text: None, mutants: 0, calls: 0, why: why.into() }
    }
}

/// What bounds a hunt.
#[derive(Clone, Copy, Debug)]
pub struct Bounds {
    pub mutants: u64,
    pub time: Duration,
    pub reach: Reach,
}

/// One engine after one item, from one formula.
struct Chase<'c> {
    engine: &'c dyn Engine,
    start: &'c str,
    bounds: Bounds,
    began: Instant,
    watch: &'c dyn Watch,
}

impl Chase<'_> {
    /// Why it is over, if it is.
    fn over(&self, mutants: u64) -> Option<String> {
        if mutants >= self.bounds.mutants {
            return Some("no mutant shows it".to_owned());
        }
        if self.began.elapsed() >= self.bounds.time {
            return Some(format!("no mutant shows it within {} s", self.bounds.time.as_secs()));
        }
        self.watch.stopped().then(|| "interrupted".to_owned())
    }
}

/// Hunts one item's bug, with the parts that all engines share.
pub struct Hunter<'a> {
    item: &'a Item,
    test: &'a mut BugTest,
    /// Whose operators engines may use: the item's release.
    targets: &'a [Target],
    /// Who answers the engines' questions: releases without the bug.
    advisers: &'a [Target],
    rng_seed: u64,
    answers: AnswerCache,
}

impl<'a> Hunter<'a> {
    pub fn new(
        item: &'a Item,
        test: &'a mut BugTest,
        targets: &'a [Target],
        advisers: &'a [Target],
        rng_seed: u64,
    ) -> Hunter<'a> {
        Hunter { item, test, targets, advisers, rng_seed, answers: AnswerCache::default() }
    }

    /// Accusations of references so far.
    pub fn references_accused(&self) -> u64 {
        self.test.references_accused
    }

    /// The formulas that do not count as found again, and whether the start can be read at all.
    pub fn exclude(&mut self, texts: &[&str]) -> Result<(), String> {
        for text in texts {
            let mut store = Store::new();
            let parsed = smtlib::parse(&mut store, text.as_bytes(), Mode::Tolerant)
                .map_err(|error| format!("it cannot be read: {}", error.message))?;
            self.test.exclude(&mut store, &parsed.script);
        }
        Ok(())
    }

    /// Lets an engine make mutants of `start`. `run` numbers repetitions with other random choices.
    pub fn hunt(
        &mut self,
        engine: &dyn Engine,
        start: &str,
        run: u64,
        bounds: Bounds,
        watch: &dyn Watch,
    ) -> Result<Hunt, BenchError> {
        let mut hunt = Hunt::missed("no mutant shows it");
        self.test.calls = 0;
        let chase = Chase { engine, start, bounds, began: Instant::now(), watch };
        let mut driver = Driver::new(self.targets, self.rng_seed);
        let mut barren = 0;
        for number in 0.. {
            if hunt.hit.is_some() || barren >= BARREN {
                break;
            }
            if let Some(why) = chase.over(hunt.mutants) {
                hunt.why = why;
                break;
            }
            let before = self.test.calls;
            let round = run * 1_000_000 + number;
            match self.round(&chase, &mut driver, round, &mut hunt) {
                Ok(opened) => {
                    if !opened && hunt.mutants == 0 {
                        hunt.why = "the engine can make nothing of it".to_owned();
                    }
                }
                Err(HuntFailure::Engine(panic)) => hunt.why = format!("the engine panicked: {}", panic.0),
                Err(HuntFailure::Bench(error)) => return Err(error),
            }
            barren = if self.test.calls > before { 0 } else { barren + 1 };
        }
        hunt.calls = self.test.calls;
        Ok(hunt)
    }

    /// One round; says whether the engine opened it.
    fn round(
        &mut self,
        chase: &Chase,
        driver: &mut Driver,
        number: u64,
        hunt: &mut Hunt,
    ) -> Result<bool, HuntFailure> {
        let engine = chase.engine;
        let seed = SeedText::new(self.item.id.clone(), chase.start);
        let plan = Plan {
            round: number,
            engine: engine.name().to_owned(),
            seeds: vec![PlannedSeed::Text(seed); engine.seeds_wanted()],
            logic: "ALL".to_owned(),
            group: vec![0],
            tactic: None,
            without: Vec::new(),
            memory: None,
            steps: chase.bounds.reach.steps as usize,
        };
        // What the museum knows about the trigger's answer, an engine may know too.
        let item = self.item;
        let known = |_: &str| match item.expected_throughout() {
            Some(status @ (Status::Sat | Status::Unsat)) => {
                Some((status, format!("the museum says so, by {}", item.expected_by.join(" and "))))
            }
            _ => None,
        };
        let opened = driver.open_with(engine, &plan, &mut self.questions(), &known)?;
        self.answers.take_failure()?;
        let Some(mut chain) = opened else { return Ok(false) };
        let mut useless = 0;
        for _ in 0..plan.steps {
            if chase.over(hunt.mutants).is_some() {
                break;
            }
            let case = driver.next(&mut chain, &mut self.questions())?;
            self.answers.take_failure()?;
            let Some(case) = case else { break };
            hunt.mutants += 1;
            let trial = self.test.try_script(&mut driver.store, &case.script, None, case.expectation())?;
            useless = match trial {
                Trial::Hit => {
                    hunt.hit = Some(self.test.calls);
                    hunt.why.clear();
                    let (script, _) =
                        runnable(&mut driver.store, &case.script, &[self.test.target().release]);
                    let release = self.test.target().release;
                    hunt.text = Some(smtlib::print::print(&driver.store, &script, release));
                    return Ok(true);
                }
                Trial::Nothing => 0,
                Trial::Unusable | Trial::TimedOut => useless + 1,
            };
            if useless >= chase.bounds.reach.patience {
                break;
            }
            let letters = if trial == Trial::TimedOut { "h" } else { "" };
            chain.learn(&Feedback::from_letters(letters));
        }
        Ok(true)
    }

    fn questions(&mut self) -> Questions<'_> {
        Questions { targets: self.advisers, runner: &mut self.test.runner, cache: &mut self.answers }
    }

    /// Judges the mutants that another program made.
    pub fn judge_texts(
        &mut self,
        texts: &[String],
        bounds: Bounds,
        watch: &dyn Watch,
    ) -> Result<Hunt, BenchError> {
        let mut hunt = Hunt::missed("no mutant shows it");
        self.test.calls = 0;
        let began = Instant::now();
        for text in texts.iter().take(bounds.mutants as usize) {
            if began.elapsed() >= bounds.time || watch.stopped() {
                hunt.why = "ended early".to_owned();
                break;
            }
            hunt.mutants += 1;
            let mut store = Store::new();
            let Ok(parsed) = smtlib::parse(&mut store, text.as_bytes(), Mode::Tolerant) else { continue };
            let trial = self.test.try_script(&mut store, &parsed.script, Some(text), &Expectation::Agree)?;
            if trial == Trial::Hit {
                hunt.hit = Some(self.test.calls);
                hunt.text = Some(text.clone());
                hunt.why.clear();
                break;
            }
        }
        if hunt.mutants == 0 {
            hunt.why = "the program made no mutant".to_owned();
        }
        hunt.calls = self.test.calls;
        Ok(hunt)
    }
}

/// Why a round ended before its time.
enum HuntFailure {
    Engine(EnginePanic),
    Bench(BenchError),
}

impl From<EnginePanic> for HuntFailure {
    fn from(panic: EnginePanic) -> HuntFailure {
        HuntFailure::Engine(panic)
    }
}

impl From<BenchError> for HuntFailure {
    fn from(error: BenchError) -> HuntFailure {
        HuntFailure::Bench(error)
    }
}

impl From<CampaignError> for HuntFailure {
    fn from(error: CampaignError) -> HuntFailure {
        HuntFailure::Bench(error.into())
    }
}
