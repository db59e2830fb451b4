//! A worker: takes rounds, runs their test cases, reports what it saw.

mod running;

use std::collections::{BTreeMap, BTreeSet};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use engines::{Bench, Engine, Expectation, Feedback, TestCase};
use eval::Evaluator;
use oracle::Run;
use smtlib::{Mark, Release, Store, print};
use solver::RunClass;

use crate::ask::{Memory, Questions};
use crate::config::{Identity, Settings};
use crate::docket::Docket;
use crate::error::CampaignError;
use crate::exchange;
use crate::executor::Executor;
use crate::hash;
use crate::inquiry::{Inquiry, Outcome, Parts, Suspect};
use crate::journal::Line;
use crate::learned::Counts;
use crate::novelty::Signal;
use crate::observer::Observer;
use crate::plan::{self, Ancestor, Origin, Plan};
use crate::policy::OptionPolicy;
use crate::round::{self, Grammars, Opened};
use crate::seeds::SeedText;
use crate::state::State;
use crate::stop::Stop;
use crate::streams::{Purpose, stream};
use crate::target::Target;
use crate::usage::thread_cpu;
pub use running::Prepared;

/// Test cases of one round at most: short enough to learn from, long enough to pay for opening it.
const STEPS: usize = 30;

/// A round ends after this many test cases in a row that some solver ran out of time on, or none could do anything with.
const PATIENCE: usize = 3;

/// Counts are handed over at least this often, so that a kill loses little and the view moves.
const SETTLE_EVERY: Duration = Duration::from_millis(500);

/// Share of test cases that costly oracles look at, beside those with new behaviour.
const THOROUGH: f64 = 0.05;

/// Mutants up to this size may become seeds.
const LARGEST_SEED: usize = 16 << 10;

/// A step that takes this much CPU time of ours is worth a look: scripts are small, and evaluation has budgets.
const SLOW: Duration = Duration::from_secs(2);

/// What all workers see.
pub struct Shared<'a> {
    pub identity: &'a Identity,
    pub settings: &'a Settings,
    pub targets: &'a [Target],
    pub engines: &'a [Box<dyn Engine>],
    pub policy: Box<dyn OptionPolicy>,
    pub signals: Vec<Box<dyn Signal>>,
    pub state: Mutex<State>,
    pub stop: Stop,
    pub observer: &'a dyn Observer,
    /// Findings that wait to be made small and told apart.
    pub docket: Docket,
}

impl Shared<'_> {
    /// The state; a worker that panicked while holding it left counts behind, nothing worse.
    pub fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// One worker.
pub struct Worker<'a> {
    shared: &'a Shared<'a>,
    executor: Executor,
    store: Store,
    clean: Mark,
    evaluator: Evaluator,
    grammars: Grammars,
    memory: Memory,
    inquiry: Inquiry,
    /// Logics that solvers have refused by name: asking again is of no use.
    refused_logics: BTreeSet<(usize, String)>,
    /// CPU time of this thread when its counts were last handed over.
    settled: Duration,
    /// When that was.
    settled_at: Instant,
}

/// What a round has cost and brought.
#[derive(Default)]
struct Tally {
    counts: Counts,
    answers: BTreeMap<(usize, &'static str), u64>,
    rejected: u64,
    refusals: Vec<String>,
    unconfirmed: u64,
    excused: u64,
    internal: u64,
}

/// How a round goes, to judge its seeds at its end.
#[derive(Default)]
struct Course {
    tests: u64,
    /// Test cases on which every solver ran out of time, or that every solver refused.
    fruitless: u64,
    /// Test cases on which some solver did.
    waited: u64,
}

impl<'a> Worker<'a> {
    pub fn new(shared: &'a Shared<'a>) -> Result<Worker<'a>, CampaignError> {
        let store = Store::new();
        Ok(Worker {
            shared,
            executor: Executor::new(shared.identity, shared.targets)?,
            clean: store.mark(),
            store,
            evaluator: Evaluator::default(),
            grammars: Grammars::default(),
            memory: Memory::default(),
            inquiry: Inquiry::default(),
            refused_logics: BTreeSet::new(),
            settled: thread_cpu(),
            settled_at: Instant::now(),
        })
    }

    /// Rounds until the campaign is over.
    pub fn work(&mut self) -> Result<(), CampaignError> {
        while !self.shared.stop.now() {
            let plan = self.next_plan()?;
            self.round(&plan)?;
        }
        Ok(())
    }

    fn next_plan(&self) -> Result<Plan, CampaignError> {
        let shared = self.shared;
        let mut state = shared.state();
        let round = state.next_round;
        state.next_round += 1;
        let trial =
            plan::trial(round, shared.identity, shared.targets, shared.engines, || state.next_untried());
        let plan = trial.unwrap_or_else(|| {
            plan::plan(round, shared.identity, shared.targets, shared.engines, &state.learned, &state.pool)
        });
        let seeds = plan.seeds.iter().map(plan::Planned::name).collect();
        state.log(&Line::Round { round, engine: &plan.engine, logic: &plan.logic, seeds })?;
        Ok(plan)
    }

    fn round(&mut self, plan: &Plan) -> Result<(), CampaignError> {
        self.store.reset(&self.clean);
        self.evaluator.forget();
        let mut tally = Tally::default();
        let mut course = Course::default();
        // A defect in an engine must not end a campaign of hours; it is counted and shown.
        let finished = catch_unwind(AssertUnwindSafe(|| self.test_cases(plan, &mut tally, &mut course)));
        match finished {
            Ok(done) => done?,
            Err(panic) => {
                let text = panic_text(&*panic);
                self.store = Store::new();
                self.clean = self.store.mark();
                self.internal_error(plan, &mut tally, &format!("panic: {text}"), "")?;
            }
        }
        tally.counts.rounds = 1;
        let tried = course.tests >= 3 || self.is_trial(plan) && course.tests > 0;
        if tried && course.fruitless == course.tests {
            self.drop_seeds(plan)?;
        }
        self.settle(plan, &mut tally)
    }

    fn is_trial(&self, plan: &Plan) -> bool {
        self.shared.engines.iter().any(|engine| engine.name() == plan.engine && engine.once())
    }

    /// All solvers time out on everything made of these seeds, or refuse it, or none has their theories.
    fn drop_seeds(&self, plan: &Plan) -> Result<(), CampaignError> {
        let mut state = self.shared.state();
        for planned in &plan.seeds {
            let plan::Planned::Text(seed) = planned else { continue };
            if let Some(dropped) = state.drop_seed(&seed.hash)? {
                let text = format!("seed {} dropped: all solvers time out on it or refuse it", dropped.name);
                state.log(&Line::Note { text: &text })?;
            }
        }
        Ok(())
    }

    fn test_cases(
        &mut self,
        plan: &Plan,
        tally: &mut Tally,
        course: &mut Course,
    ) -> Result<(), CampaignError> {
        let shared = self.shared;
        let Some(engine) = shared.engines.iter().find(|engine| engine.name() == plan.engine) else {
            return Err(CampaignError::Internal(format!("there is no engine '{}'", plan.engine)));
        };
        let opened = round::open(&mut self.store, &mut self.grammars, plan, shared.identity, shared.targets);
        let Some(mut opened) = opened else { return Ok(()) };
        let mut options = stream(shared.identity.rng_seed, plan.round, Purpose::Options);
        let mut failure = None;
        let mut told: Vec<String> = Vec::new();
        let mut begun = thread_cpu();
        let Some(mut round) = self.with_bench(&mut opened, &mut failure, |bench| engine.open(bench)) else {
            return failure.map_or(Ok(()), Err);
        };
        let mut slow = 0;
        for step in 0..STEPS {
            if shared.stop.now() || slow >= PATIENCE {
                break;
            }
            let case = self.with_bench(&mut opened, &mut failure, |bench| round.next(bench));
            if let Some(error) = failure.take() {
                return Err(error);
            }
            let Some(case) = case else { break };
            if !shared.stop.take_test() {
                break;
            }
            let origin = self.origin(plan, &opened, &case, step, &told);
            let before = course.waited;
            let feedback = self.test(&case, &origin, &opened, &mut options, tally, course)?;
            begun = self.look_at_time(begun, &origin, &case)?;
            slow = if feedback.hopeless || course.waited > before { slow + 1 } else { 0 };
            told.push(letters(feedback));
            round.learn(feedback);
            if self.settled_at.elapsed() >= SETTLE_EVERY {
                self.settle(plan, tally)?;
            }
        }
        Ok(())
    }

    /// Calls the engine with a bench made of the worker's parts.
    fn with_bench<T>(
        &mut self,
        opened: &mut Opened,
        failure: &mut Option<CampaignError>,
        call: impl FnOnce(&mut Bench) -> T,
    ) -> T {
        let mut questions = Questions {
            targets: self.shared.targets,
            executor: &mut self.executor,
            memory: &mut self.memory,
            failure,
        };
        let mut bench = opened.bench(&mut self.store, &mut questions);
        call(&mut bench)
    }

    fn origin(&self, plan: &Plan, opened: &Opened, case: &TestCase, step: usize, told: &[String]) -> Origin {
        let seeds = opened.ancestors.iter().map(|(seed, generated)| Ancestor {
            name: seed.name.clone(),
            hash: seed.hash.clone(),
            generated: *generated,
        });
        Origin {
            rng_seed: self.shared.identity.rng_seed,
            round: plan.round,
            step,
            engine: plan.engine.clone(),
            logic: plan.logic.clone(),
            company: plan.company.clone(),
            seeds: seeds.collect(),
            script: String::new(),
            changes: case.provenance.changes.clone(),
            feedback: told.to_vec(),
        }
    }

    /// Runs one test case and sees to whatever it reveals.
    fn test(
        &mut self,
        case: &TestCase,
        origin: &Origin,
        opened: &Opened,
        options: &mut generate::Rng,
        tally: &mut Tally,
        course: &mut Course,
    ) -> Result<Feedback, CampaignError> {
        tally.counts.tests += 1;
        course.tests += 1;
        let shared = self.shared;
        let mut case = case.clone();
        let usage;
        (case.script, usage) = round::runnable(&mut self.store, &case.script);
        if let Err(text) = self.check_witness(&case) {
            let standard = print::print(&self.store, &case.script, Release::STANDARD);
            self.internal_error_at(origin, tally, &text, &standard)?;
            return Ok(Feedback::default());
        }
        let prepared = self.prepare(&case, usage, options);
        let runs = self.run_all(&prepared)?;
        for (number, run) in prepared.who.iter().zip(&runs) {
            *tally.answers.entry((*number, exchange::word(run))).or_default() += 1;
            if exchange::refuses_logic(run) {
                let logic = case.script.logic(&self.store).unwrap_or_default();
                self.refused_logics.insert((*number, logic.to_owned()));
            }
            if exchange::refused(run) {
                tally.refusals.push(format!("{}: {}", shared.targets[*number].name, exchange::refusal(run)));
            }
        }
        let fruitless = |run: &Run| run.answers.class == RunClass::Timeout || exchange::refused(run);
        course.fruitless += u64::from(runs.iter().all(fruitless));
        course.waited += u64::from(runs.iter().any(|run| run.answers.class == RunClass::Timeout));
        let mut feedback = Feedback {
            hopeless: !runs.is_empty() && runs.iter().all(exchange::gave_up),
            rejected: runs.iter().any(exchange::refused),
            ..Feedback::default()
        };
        tally.rejected += u64::from(feedback.rejected);
        feedback.novel = self.observe(&prepared, &runs, origin)?;
        tally.counts.novel += u64::from(feedback.novel);
        let mut parts =
            Parts { store: &mut self.store, evaluator: &mut self.evaluator, executor: &mut self.executor };
        let thorough = feedback.novel || options.chance(THOROUGH);
        let ancestors = &opened.ancestors;
        let suspect = Suspect { prepared: &prepared, runs: &runs, origin, ancestors, thorough };
        let outcomes = self.inquiry.judge(&mut parts, shared, &suspect)?;
        for outcome in outcomes {
            feedback.finding |= matches!(outcome, Outcome::Unique | Outcome::Known);
            match outcome {
                Outcome::Unique => tally.counts.findings += 1,
                Outcome::Unconfirmed => tally.unconfirmed += 1,
                Outcome::Excused => tally.excused += 1,
                Outcome::Known => {}
            }
        }
        Ok(feedback)
    }

    /// A step that took long is counted and kept: no solver waits for us without a reason that can be looked into.
    /// The next step begins with what is returned.
    fn look_at_time(
        &self,
        begun: Duration,
        origin: &Origin,
        case: &TestCase,
    ) -> Result<Duration, CampaignError> {
        let now = thread_cpu();
        let took = now.saturating_sub(begun);
        if took < SLOW {
            return Ok(now);
        }
        let place = format!("round {} step {} of {}", origin.round, origin.step, origin.engine);
        let text = format!("{place} in {}: {:.1} s of our own", origin.logic, took.as_secs_f64());
        let standard = print::print(&self.store, &case.script, Release::STANDARD);
        let mut state = self.shared.state();
        state.totals.slow += 1;
        state.totals.slowest = state.totals.slowest.max(took.as_micros() as u64);
        state.keep_internal(&text, &standard)?;
        state.log(&Line::Note { text: &text })?;
        Ok(now)
    }

    /// A model that an engine hands over is checked again on the script that solvers get.
    fn check_witness(&mut self, case: &TestCase) -> Result<(), String> {
        let Expectation::Sat(witness) = &case.expectation else { return Ok(()) };
        self.evaluator.forget();
        for term in eval::model::checked_terms(&case.script) {
            match self.evaluator.holds(&self.store, witness.model(), term) {
                Ok(true) => {}
                Ok(false) => return Err("the witness does not satisfy an assertion".to_owned()),
                Err(unknown) => {
                    return Err(format!("the witness leaves an assertion open: {}", unknown.reason));
                }
            }
        }
        Ok(())
    }

    /// Looks for new behaviour; a small script that shows some becomes a seed.
    fn observe(&mut self, prepared: &Prepared, runs: &[Run], origin: &Origin) -> Result<bool, CampaignError> {
        let mut features = Vec::new();
        for signal in &self.shared.signals {
            signal.features(&prepared.usage, &prepared.who, runs, &mut features);
        }
        let shared = self.shared;
        let novel = shared.state().novelty.observe(&features);
        let quick = runs.iter().any(|run| !exchange::gave_up(run) && !exchange::refused(run));
        let joins = novel && quick;
        if !joins && shared.settings.log.is_none() {
            return Ok(novel);
        }
        let standard = print::print(&self.store, &prepared.case.script, Release::STANDARD);
        let mut state = shared.state();
        if joins && standard.len() <= LARGEST_SEED {
            let name = format!("round {} step {} of {}", origin.round, origin.step, origin.engine);
            state.join(SeedText::new(name, standard.as_str()))?;
        }
        state.log(&Line::Test {
            round: origin.round,
            step: origin.step,
            engine: &origin.engine,
            script: &hash::name(standard.as_bytes()),
            answers: runs.iter().map(exchange::word).collect(),
            novel,
        })?;
        Ok(novel)
    }

    fn internal_error(
        &self,
        plan: &Plan,
        tally: &mut Tally,
        text: &str,
        script: &str,
    ) -> Result<(), CampaignError> {
        let origin = Origin { round: plan.round, engine: plan.engine.clone(), ..Origin::default() };
        self.internal_error_at(&origin, tally, text, script)
    }

    /// A defect of ours: shown, counted, and kept with its script.
    fn internal_error_at(
        &self,
        origin: &Origin,
        tally: &mut Tally,
        text: &str,
        script: &str,
    ) -> Result<(), CampaignError> {
        tally.internal += 1;
        let place = format!("round {} step {} of {}: {text}", origin.round, origin.step, origin.engine);
        self.shared.observer.note(&format!("internal error in {place}"));
        let mut state = self.shared.state();
        state.keep_internal(&place, script)?;
        state.log(&Line::Note { text: &place })
    }

    /// Hands the counts over to the shared state.
    fn settle(&mut self, plan: &Plan, tally: &mut Tally) -> Result<(), CampaignError> {
        let mut tally = std::mem::take(tally);
        let cost = self.executor.take_cost();
        let cpu = thread_cpu();
        tally.counts.cpu = (cost.cpu + cpu.saturating_sub(self.settled)).as_micros() as u64;
        (self.settled, self.settled_at) = (cpu, Instant::now());
        let launcher = self.executor.take_launcher_cpu();
        let shared = self.shared;
        let mut state = shared.state();
        state.add_own_cpu(launcher);
        state.learned.engines.entry(plan.engine.clone()).or_default().add(&tally.counts);
        if plan.seeds.iter().all(|seed| matches!(seed, plan::Planned::Generated)) {
            state.learned.logics.entry(plan.logic.clone()).or_default().add(&tally.counts);
        }
        for planned in &plan.seeds {
            if let plan::Planned::Text(seed) = planned {
                state.credit_seed(&seed.hash, &tally.counts);
            }
        }
        let totals = &mut state.totals;
        totals.rounds += tally.counts.rounds;
        totals.tests += tally.counts.tests;
        totals.runs += cost.runs - cost.extra;
        totals.extra_runs += cost.extra;
        totals.solver_cpu += cost.cpu.as_micros() as u64;
        totals.cut_cpu += cost.cut_cpu.as_micros() as u64;
        totals.extra_cpu += cost.extra_cpu.as_micros() as u64;
        totals.rejected += tally.rejected;
        totals.novel += tally.counts.novel;
        totals.unconfirmed += tally.unconfirmed;
        totals.excused += tally.excused;
        totals.internal_errors += tally.internal;
        *totals.engines.entry(plan.engine.clone()).or_default() += tally.counts.tests;
        for ((number, word), count) in tally.answers {
            let answers = totals.answers.entry(shared.targets[number].name.clone()).or_default();
            *answers.entry(word.to_owned()).or_default() += count;
        }
        for refusal in tally.refusals {
            totals.refuse(refusal);
        }
        state.write_now_and_then()
    }
}

/// The flags of a feedback, for provenance.
fn letters(feedback: Feedback) -> String {
    let flags =
        [(feedback.finding, 'f'), (feedback.novel, 'n'), (feedback.hopeless, 'h'), (feedback.rejected, 'r')];
    flags.iter().filter(|(set, _)| *set).map(|(_, letter)| *letter).collect()
}

/// The feedback that letters of a provenance stand for.
pub fn feedback_of(letters: &str) -> Feedback {
    Feedback {
        finding: letters.contains('f'),
        novel: letters.contains('n'),
        hopeless: letters.contains('h'),
        rejected: letters.contains('r'),
    }
}

fn panic_text(panic: &(dyn std::any::Any + Send)) -> String {
    let text = panic.downcast_ref::<&str>().map(ToString::to_string);
    text.or_else(|| panic.downcast_ref::<String>().cloned()).unwrap_or_else(|| "without a message".to_owned())
}
