//! From a formula of an item to its bug again: an engine's mutants, one after the other, until one shows it.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::{Duration, Instant};

use campaign::ask::{Memory, Questions};
use campaign::plan::{Plan, Planned};
use campaign::round::{self, Grammars, Opened};
use campaign::{CampaignError, Identity, SeedText, Target};
use engines::{Bench, Engine, Expectation, Feedback};
use smtlib::{Mark, Mode, Status, Store};

use super::item::Item;
use super::judge::{Judge, Trial};
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
    judge: &'a mut Judge,
    /// Who answers the engines' questions: releases without the bug.
    advisers: &'a [Target],
    identity: Identity,
    store: Store,
    clean: Mark,
    grammars: Grammars,
    memory: Memory,
}

impl<'a> Hunter<'a> {
    pub fn new(
        item: &'a Item,
        judge: &'a mut Judge,
        advisers: &'a [Target],
        identity: Identity,
    ) -> Hunter<'a> {
        let store = Store::new();
        Hunter {
            item,
            judge,
            advisers,
            identity,
            clean: store.mark(),
            store,
            grammars: Grammars::default(),
            memory: Memory::default(),
        }
    }

    /// Accusations of references so far.
    pub fn references_accused(&self) -> u64 {
        self.judge.references_accused
    }

    /// The formulas that do not count as found again, and whether the start can be read at all.
    pub fn exclude(&mut self, texts: &[&str]) -> Result<(), String> {
        for text in texts {
            self.store.reset(&self.clean);
            let parsed = smtlib::parse(&mut self.store, text.as_bytes(), Mode::Tolerant)
                .map_err(|error| format!("it cannot be read: {}", error.message))?;
            self.judge.exclude(&mut self.store, &parsed.script);
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
        self.judge.calls = 0;
        let chase = Chase { engine, start, bounds, began: Instant::now(), watch };
        let mut barren = 0;
        for number in 0.. {
            if hunt.hit.is_some() || barren >= BARREN {
                break;
            }
            if let Some(why) = chase.over(hunt.mutants) {
                hunt.why = why;
                break;
            }
            let before = self.judge.calls;
            let round = run * 1_000_000 + number;
            match catch_unwind(AssertUnwindSafe(|| self.round(&chase, round, &mut hunt))) {
                Ok(opened) => {
                    if !opened? && hunt.mutants == 0 {
                        hunt.why = "the engine can make nothing of it".to_owned();
                    }
                }
                Err(panic) => {
                    self.store = Store::new();
                    self.clean = self.store.mark();
                    let said = panic.downcast_ref::<&str>().copied().unwrap_or("no message");
                    hunt.why = format!("the engine panicked: {said}");
                }
            }
            barren = if self.judge.calls > before { 0 } else { barren + 1 };
        }
        hunt.calls = self.judge.calls;
        Ok(hunt)
    }

    /// One round; says whether the engine opened it.
    fn round(&mut self, chase: &Chase, number: u64, hunt: &mut Hunt) -> Result<bool, BenchError> {
        let engine = chase.engine;
        self.store.reset(&self.clean);
        let seed = SeedText::new(self.item.id.clone(), chase.start);
        let plan = Plan {
            round: number,
            engine: engine.name().to_owned(),
            seeds: vec![Planned::Text(seed); engine.seeds_wanted()],
            logic: "ALL".to_owned(),
            company: vec![0],
        };
        let target = std::slice::from_ref(self.judge.target());
        let opened = round::open(&mut self.store, &mut self.grammars, &plan, &self.identity, target);
        let Some(mut opened) = opened else { return Ok(false) };
        self.tell_status(&mut opened);
        let mut failure = None;
        let Some(mut round) = self.with_bench(&mut opened, &mut failure, |bench| engine.open(bench)) else {
            return failure.map_or(Ok(false), |error| Err(error.into()));
        };
        let mut useless = 0;
        for _ in 0..chase.bounds.reach.steps {
            if chase.over(hunt.mutants).is_some() {
                break;
            }
            let case = self.with_bench(&mut opened, &mut failure, |bench| round.next(bench));
            if let Some(error) = failure.take() {
                return Err(error.into());
            }
            let Some(case) = case else { break };
            hunt.mutants += 1;
            let trial = self.judge.judge(&mut self.store, &case.script, None, &case.expectation)?;
            useless = match trial {
                Trial::Hit => {
                    hunt.hit = Some(self.judge.calls);
                    hunt.why.clear();
                    let (script, _) = round::runnable(&mut self.store, &case.script);
                    hunt.text = Some(smtlib::print::print(&self.store, &script, self.judge.target().release));
                    return Ok(true);
                }
                Trial::Nothing => 0,
                Trial::Unusable | Trial::TimedOut => useless + 1,
            };
            if useless >= chase.bounds.reach.patience {
                break;
            }
            round.learn(Feedback { hopeless: trial == Trial::TimedOut, ..Feedback::default() });
        }
        Ok(true)
    }

    /// What the museum knows about the trigger's answer, an engine may know too.
    fn tell_status(&self, opened: &mut Opened) {
        let Some(status @ (Status::Sat | Status::Unsat)) = self.item.expected_throughout() else { return };
        let who = self.item.expected_by.join(" and ");
        for seed in &mut opened.seeds {
            seed.status = Some((status, format!("the museum says so, by {who}")));
        }
    }

    fn with_bench<T>(
        &mut self,
        opened: &mut Opened,
        failure: &mut Option<CampaignError>,
        call: impl FnOnce(&mut Bench) -> T,
    ) -> T {
        let mut questions = Questions {
            targets: self.advisers,
            executor: &mut self.judge.executor,
            memory: &mut self.memory,
            failure,
        };
        let mut bench = opened.bench(&mut self.store, &mut questions);
        call(&mut bench)
    }

    /// Judges the mutants that another program made.
    pub fn judge_texts(
        &mut self,
        texts: &[String],
        bounds: Bounds,
        watch: &dyn Watch,
    ) -> Result<Hunt, BenchError> {
        let mut hunt = Hunt::missed("no mutant shows it");
        self.judge.calls = 0;
        let began = Instant::now();
        for text in texts.iter().take(bounds.mutants as usize) {
            if began.elapsed() >= bounds.time || watch.stopped() {
                hunt.why = "ended early".to_owned();
                break;
            }
            hunt.mutants += 1;
            self.store.reset(&self.clean);
            let Ok(parsed) = smtlib::parse(&mut self.store, text.as_bytes(), Mode::Tolerant) else {
                continue;
            };
            let trial = self.judge.judge(&mut self.store, &parsed.script, Some(text), &Expectation::Agree)?;
            if trial == Trial::Hit {
                hunt.hit = Some(self.judge.calls);
                hunt.text = Some(text.clone());
                hunt.why.clear();
                break;
            }
        }
        if hunt.mutants == 0 {
            hunt.why = "the program made no mutant".to_owned();
        }
        hunt.calls = self.judge.calls;
        Ok(hunt)
    }
}
