//! One engine along one chain of test cases: term store, grammar, seeds, streams, panic guard. Everybody who needs test
//! cases uses it: campaigns, `mutate`, `replay`, benchmarks.
//!
//! The driver starts no solver. Engines ask their questions through [`engines::Ask`], which the caller hands in:
//! [`Questions`] answers with real solvers. What becomes of a test case is the caller's business too; it tells the chain
//! with [`Chain::learn`].

mod grammars;
mod menu;
mod plan;
mod questions;
mod runnable;
mod streams;

use std::panic::{AssertUnwindSafe, catch_unwind};

use engines::{Ask, Bench, Draft, Engine, Feedback, OptionMenu, Provenance, Round, Seed, TestCase};
use eval::Model;
use generate::{Grammar, Rng};
use smtlib::logic::Usage;
use smtlib::{Command, Mark, Mode, Release, Script, Status, Store, print};
use thiserror::Error;

pub use grammars::Grammars;
pub use menu::FairOptions;
pub use plan::{Plan, PlannedSeed};
pub use questions::{AnswerCache, Questions};
pub use runnable::{asking_for_model, runnable};
pub use streams::{StreamPurpose, stream};

use crate::findings::{Ancestor, Origin, StepFeedback};
use crate::seeds::SeedText;
use crate::store::SeedMemory;
use crate::target::Target;

/// Longer scripts are not kept for later chains.
const LARGEST_HEIR: usize = 16 << 10;

/// Drives engines, one chain at a time. One per worker.
pub struct Driver<'a> {
    /// Whose common operators may be used.
    targets: &'a [Target],
    rng_seed: u64,
    menu: Box<dyn OptionMenu + 'a>,
    pub store: Store,
    clean: Mark,
    grammars: Grammars,
    /// Why the engine declined the seeds of the chain opened last.
    declined: Option<&'static str>,
}

/// A chain of test cases from the same seeds.
pub struct Chain {
    round: Box<dyn Round>,
    plan: Plan,
    seeds: Vec<Seed>,
    /// The texts of the seeds, and whether they were generated here.
    ancestors: Vec<(SeedText, bool)>,
    grammar: Grammar,
    rng: Rng,
    step: usize,
    /// The engine looks at more of its feedback than the letters, so all of it is kept for a finding.
    steers_by_numbers: bool,
    told: Vec<StepFeedback>,
}

/// An engine panicked: a defect of ours.
#[derive(Debug, Error)]
#[error("panic: {0}")]
pub struct EnginePanic(pub String);

impl<'a> Driver<'a> {
    pub fn new(targets: &'a [Target], rng_seed: u64) -> Driver<'a> {
        let store = Store::new();
        Driver {
            targets,
            rng_seed,
            menu: Box::new(engines::NoOptions),
            clean: store.mark(),
            store,
            grammars: Grammars::default(),
            declined: None,
        }
    }

    /// Engines that set options of solvers choose them from here.
    #[must_use]
    pub fn with_options(mut self, menu: impl OptionMenu + 'a) -> Driver<'a> {
        self.menu = Box::new(menu);
        self
    }

    /// Opens a chain in an empty term store; terms of the chain before are gone. `None` if the engine can make nothing of
    /// these seeds.
    pub fn open(
        &mut self,
        engine: &dyn Engine,
        plan: &Plan,
        ask: &mut dyn Ask,
    ) -> Result<Option<Chain>, EnginePanic> {
        self.open_with(engine, plan, ask, &|_| None)
    }

    /// The same, with what the caller knows about a seed's answer and who says so.
    pub fn open_with(
        &mut self,
        engine: &dyn Engine,
        plan: &Plan,
        ask: &mut dyn Ask,
        status: &dyn Fn(&str) -> Option<(Status, String)>,
    ) -> Result<Option<Chain>, EnginePanic> {
        self.store.reset(&self.clean);
        self.declined = None;
        let guarded = AssertUnwindSafe(|| self.open_unguarded(engine, plan, ask, status));
        catch_unwind(guarded).map_err(|panic| self.panicked(&*panic))
    }

    /// Why the engine could make nothing of the seeds of the chain opened last, where it told.
    pub fn take_declined(&mut self) -> Option<&'static str> {
        self.declined.take()
    }

    fn open_unguarded(
        &mut self,
        engine: &dyn Engine,
        plan: &Plan,
        ask: &mut dyn Ask,
        status: &dyn Fn(&str) -> Option<(Status, String)>,
    ) -> Option<Chain> {
        let mut source = stream(self.rng_seed, plan.round, StreamPurpose::Seed);
        let mut seeds = Vec::new();
        let mut ancestors = Vec::new();
        for planned in &plan.seeds {
            let (script, text, generated) = match planned {
                PlannedSeed::Text(text) => {
                    let parsed = smtlib::parse(&mut self.store, text.text.as_bytes(), Mode::Tolerant).ok()?;
                    (parsed.script, text.clone(), false)
                }
                PlannedSeed::Generated => {
                    let grammar = self.grammars.get(&plan.logic, self.targets, &plan.group, &plan.without)?;
                    let script = grammar.swarm(&mut source).script(&mut self.store, &mut source);
                    let text = print::print(&self.store, &script, Release::STANDARD);
                    (script, SeedText::new("generated", text), true)
                }
            };
            let own = script
                .status(&self.store)
                .map(|status| (status, format!("{}{}", eval::STATUS_OF, text.name)));
            let status = status(&text.name).or(own);
            let memory = plan.memory.clone().filter(|_| plan.seeds.len() == 1);
            seeds.push(Seed { name: text.name.clone(), script, status, memory });
            ancestors.push((text, generated));
        }
        let group = self.narrowed(&plan.group, &seeds);
        let logic = match seeds.as_slice() {
            [] => plan.logic.clone(),
            [seed] => logic_of(&self.store, &seed.script),
            _ => "ALL".to_owned(),
        };
        let grammar = match self.grammars.get(&logic, self.targets, &group, &plan.without) {
            Some(grammar) => grammar.clone(),
            None => self.grammars.get("ALL", self.targets, &group, &plan.without)?.clone(),
        };
        let mut rng = stream(self.rng_seed, plan.round, StreamPurpose::Engine);
        let round = engine.open(&mut Bench {
            store: &mut self.store,
            rng: &mut rng,
            ask,
            grammar: &grammar,
            seeds: &seeds,
            options: &*self.menu,
        });
        let Some(round) = round else {
            self.declined = engine.declines(&mut self.store, &seeds);
            return None;
        };
        Some(Chain {
            round,
            plan: Plan { engine: engine.name().to_owned(), group, ..plan.clone() },
            seeds,
            ancestors,
            grammar,
            rng,
            step: 0,
            steers_by_numbers: engine.steers_by_numbers(),
            told: Vec::new(),
        })
    }

    /// The solvers of a group that can read the seeds: who cannot would refuse whatever is made of them, and must not keep
    /// the others from their own operators. Where none of them can, the first solver that can; where nobody can, the group.
    fn narrowed(&mut self, group: &[usize], seeds: &[Seed]) -> Vec<usize> {
        let releases = Target::releases(self.targets);
        let usages: Vec<Usage> = seeds
            .iter()
            .map(|seed| smtlib::logic::widen_for(&mut self.store, &mut seed.script.clone(), &releases))
            .collect();
        let able = |target: &&Target| usages.iter().all(|usage| target.accepts(usage));
        let members = self.targets.iter().filter(|target| group.contains(&target.number));
        let mut narrowed: Vec<usize> = members.filter(able).map(|target| target.number).collect();
        if narrowed.is_empty() {
            narrowed.extend(self.targets.iter().find(able).map(|target| target.number));
        }
        if narrowed.is_empty() { group.to_vec() } else { narrowed }
    }

    /// The chain's next test case; `None` at its end. After a panic the chain's terms are gone.
    pub fn next(&mut self, chain: &mut Chain, ask: &mut dyn Ask) -> Result<Option<TestCase>, EnginePanic> {
        let guarded = AssertUnwindSafe(|| self.draft(chain, ask));
        let draft = catch_unwind(guarded).map_err(|panic| self.panicked(&*panic))?;
        Ok(draft.map(|draft| {
            let provenance = Provenance::new(chain.plan.engine.as_str(), &chain.seeds, chain.step);
            chain.step += 1;
            let mut case = TestCase::new(draft, provenance);
            if let Some(tactic) = &chain.plan.tactic {
                let checks = case.script.commands.iter_mut().filter(|check| **check == Command::CheckSat);
                checks.for_each(|check| *check = Command::CheckSatUsing(tactic.as_str().into()));
            }
            case
        }))
    }

    fn draft(&mut self, chain: &mut Chain, ask: &mut dyn Ask) -> Option<Draft> {
        chain.round.next(&mut Bench {
            store: &mut self.store,
            rng: &mut chain.rng,
            ask,
            grammar: &chain.grammar,
            seeds: &chain.seeds,
            options: &*self.menu,
        })
    }

    fn panicked(&mut self, panic: &(dyn std::any::Any + Send)) -> EnginePanic {
        self.store = Store::new();
        self.clean = self.store.mark();
        EnginePanic::of(panic)
    }
}

impl EnginePanic {
    /// What a caught panic said.
    pub fn of(panic: &(dyn std::any::Any + Send)) -> EnginePanic {
        let text = panic.downcast_ref::<&str>().map(ToString::to_string);
        let text = text.or_else(|| panic.downcast_ref::<String>().cloned());
        EnginePanic(text.unwrap_or_else(|| "without a message".to_owned()))
    }
}

impl Chain {
    pub fn plan(&self) -> &Plan {
        &self.plan
    }

    /// The texts of the seeds, and whether they were generated for the chain.
    pub fn ancestors(&self) -> &[(SeedText, bool)] {
        &self.ancestors
    }

    /// Test cases that the engine would make in all.
    pub fn length(&self) -> usize {
        self.round.length()
    }

    /// The grammar of the chain's new terms.
    pub fn grammar(&self) -> &Grammar {
        &self.grammar
    }

    /// The seeds in the driver's store.
    pub fn seeds(&self) -> &[Seed] {
        &self.seeds
    }

    /// Random terms accepted and tried, if the engine tries any.
    pub fn effort(&self) -> Option<(u64, u64)> {
        self.round.effort()
    }

    /// Why another chain of the same seeds would make nothing more, once this one has come to an end of its own.
    pub fn exhausted(&self) -> Option<&'static str> {
        self.round.exhausted()
    }

    /// The seed of a chain that has one, and what a later chain of the engine is to know about it.
    pub fn memory(&self) -> Option<(&SeedText, SeedMemory)> {
        let [(seed, false)] = self.ancestors.as_slice() else { return None };
        let (text, exhausted) = (self.round.memory(), self.round.exhausted().is_some());
        let told = text.is_some() || exhausted;
        told.then(|| (seed, SeedMemory { text: text.unwrap_or_default(), exhausted }))
    }

    /// Counts of what the engine did, by name.
    pub fn figures(&self) -> Vec<(&'static str, u64)> {
        self.round.figures()
    }

    /// What the engine knows about the seeds and has done with them, for people.
    pub fn explain(&self, store: &Store, name: &dyn Fn(usize) -> String) -> Option<String> {
        self.round.explain(store, name)
    }

    /// Test cases made so far.
    pub fn steps(&self) -> usize {
        self.step
    }

    /// The seed of a chain that has one, and texts of what the engine made of it for later chains to start from. They are
    /// ordinary seeds: a finding of such a chain stores the text, so that it can be made again without this chain.
    pub fn heirs(&self, store: &Store) -> Option<(&SeedText, Vec<SeedText>)> {
        let [(seed, false)] = self.ancestors.as_slice() else { return None };
        let name = format!("round {} of {}", self.plan.round, self.plan.engine);
        let texts =
            self.round.heirs().into_iter().map(|script| print::print(store, &script, Release::STANDARD));
        let texts = texts.filter(|text| text.len() <= LARGEST_HEIR);
        Some((seed, texts.map(|text| SeedText::new(name.as_str(), text)).collect()))
    }

    /// What the engine wants to be told of a model that satisfies the test case made last.
    pub fn note(&self, store: &Store, model: &Model) -> Option<String> {
        self.round.note(store, model)
    }

    /// Tells the engine what came of the test case made last.
    pub fn learn(&mut self, feedback: &Feedback) {
        let letters = feedback.letters();
        let numbers = self.steers_by_numbers.then(|| feedback.clone());
        let seen = feedback.seen.clone().filter(|_| numbers.is_none());
        if !letters.is_empty() || numbers.is_some() || seen.is_some() {
            self.told.push(StepFeedback { step: self.step.saturating_sub(1), letters, numbers, seen });
        }
        self.round.learn(feedback);
    }

    /// Where a test case of this chain comes from. `script` is the hash of its text in the standard dialect.
    pub fn origin(&self, rng_seed: u64, case: &TestCase, script: String) -> Origin {
        let seeds = self.ancestors.iter().map(|(seed, generated)| Ancestor {
            name: seed.name.clone(),
            hash: seed.hash.clone(),
            generated: *generated,
        });
        Origin {
            rng_seed,
            round: self.plan.round,
            step: case.provenance.step,
            engine: case.provenance.engine.clone(),
            logic: self.plan.logic.clone(),
            group: self.plan.group.clone(),
            tactic: self.plan.tactic.clone(),
            without: self.plan.without.clone(),
            memory: self.plan.memory.clone(),
            seeds: seeds.collect(),
            script,
            changes: case.provenance.changes.clone(),
            feedback: self.told.clone(),
        }
    }
}

/// The logic that new terms of a seed's mutants must stay in: its own, else the smallest that fits.
fn logic_of(store: &Store, script: &Script) -> String {
    match script.logic(store) {
        Some(logic) => logic.to_owned(),
        None => smtlib::logic::usage(store, script).logic(),
    }
}
