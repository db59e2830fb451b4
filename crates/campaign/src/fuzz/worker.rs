//! A worker: takes rounds, runs their test cases, hands over what they reveal.

use std::sync::Arc;
use std::time::{Duration, Instant};

use engines::{Feedback, RunFeedback, TestCase};
use falcon::{CommandName, Operation};
use generate::Rng;
use smtlib::{Release, print};
use solver::run::{Run, Runner, Runners};

use super::answers;
use super::prepare::{Prepared, RefusedLogics};
use super::tally::{RoundProgress, Tally};
use super::witness::{WitnessCheck, WitnessChecks};
use crate::config::Identity;
use crate::driver::{
    AnswerCache, Chain, Driver, EnginePanic, FairOptions, Plan, PlannedSeed, Questions, StreamPurpose,
    runnable, stream,
};
use crate::error::CampaignError;
use crate::hash;
use crate::schedule::{
    ChainOptions, Length, Observation, OptionPolicy, Policies, Scheduler, Signal, Sites, Usual,
};
use crate::seeds::SeedText;
use crate::shared::{LogLine, Shared, thread_cpu};
use crate::store::SeedMemory;
use crate::target::Target;
use crate::triage::{TestedCase, Triage, VerdictOutcome, Verdicts};

/// Counts are handed over at least this often, so that a kill loses little and the view moves.
const SETTLE_EVERY: Duration = Duration::from_millis(500);

/// Share of test cases that costly oracles look at, beside those with new behaviour.
const THOROUGH: f64 = 0.05;

/// Mutants up to this size may become seeds.
const LARGEST_SEED: usize = 16 << 10;

/// After so many rounds in a row without a test case there will be none.
const IDLE: u32 = 2000;

/// What judging and confirming one test case may take on the clock: many solvers may have a say, each several times.
const CONFIRMATION: Duration = Duration::from_secs(30);

/// What of it may be left when the campaign's time is up: what is confirmed soon is not lost.
const GRACE: Duration = Duration::from_secs(6);

/// A step that takes this much CPU time of ours is worth a look: scripts are small, and evaluation has budgets.
const SLOW: Duration = Duration::from_secs(2);

/// The longest that a trace of a test case may take.
const TRACE: Duration = Duration::from_millis(500);

/// The longest that a trace of a seed may take. What a seed reaches, it mostly reaches soon.
const SEED_TRACE: Duration = Duration::from_millis(100);

/// What a worker works with; the same for all workers.
#[derive(Clone, Copy)]
pub struct Tools<'a> {
    pub shared: &'a Shared<'a>,
    pub triage: &'a Triage<'a>,
    pub scheduler: &'a Scheduler<'a>,
    pub policies: &'a Policies,
    pub signals: &'a [Box<dyn Signal>],
}

/// One worker.
pub struct Worker<'a> {
    tools: Tools<'a>,
    identity: &'a Identity,
    targets: &'a [Target],
    runner: Box<dyn Runner>,
    driver: Driver<'a>,
    answers: AnswerCache,
    witnesses: WitnessChecks,
    verdicts: Verdicts,
    refused_logics: RefusedLogics,
    /// CPU time of this thread when its counts were last handed over.
    settled: Duration,
    /// When that was.
    settled_at: Instant,
}

impl<'a> Worker<'a> {
    pub fn new(tools: Tools<'a>, runners: &dyn Runners) -> Result<Worker<'a>, CampaignError> {
        let Scheduler { identity, targets, .. } = *tools.scheduler;
        let runner = runners.runner().map_err(|error| CampaignError::of_run("a solver", error))?;
        let answers = AnswerCache::until(tools.shared.stop.end());
        Ok(Worker {
            tools,
            identity,
            targets,
            runner,
            driver: Driver::new(targets, identity.rng_seed).with_options(FairOptions { targets }),
            answers,
            witnesses: WitnessChecks::default(),
            verdicts: Verdicts::default(),
            refused_logics: RefusedLogics::new(),
            settled: thread_cpu(),
            settled_at: Instant::now(),
        })
    }

    /// Rounds until the campaign is over.
    pub fn work(&mut self) -> Result<(), CampaignError> {
        let scheduler = self.tools.scheduler;
        let mut idle = 0;
        while let Some((round, mut state)) = self.tools.shared.next_round() {
            let trial = scheduler.trial(round, || state.claimed.next_untried());
            let plan = trial.unwrap_or_else(|| {
                let culprits = state.culprits();
                scheduler.plan(round, &state.learned, &state.pool, &culprits)
            });
            let usual = state.usual();
            drop(state);
            self.tools.shared.log.write(&LogLine::Round {
                round,
                engine: &plan.engine,
                logic: &plan.logic,
                seeds: plan.seeds.iter().map(PlannedSeed::name).collect(),
                without: &plan.without,
            })?;
            idle = if self.round(&plan, usual)? == 0 { idle + 1 } else { 0 };
            if idle == IDLE {
                let text = "nothing more can be made of these seeds with these engines: the campaign ends";
                self.tools.shared.observer.note(text);
                self.tools.shared.stop.ask();
            }
        }
        Ok(())
    }

    /// A round, and how many test cases there were.
    fn round(&mut self, plan: &Plan, usual: Usual) -> Result<u64, CampaignError> {
        let mut tally = Tally::default();
        let mut options = stream(self.identity.rng_seed, plan.round, StreamPurpose::Options);
        let policy = self.tools.policies.of(&plan.engine);
        let chosen = policy.open(self.targets, &mut options);
        let mut options = RoundOptions { policy, chosen, rng: options };
        let mut progress = RoundProgress::default();
        let finished = self.test_cases(plan, usual, &mut options, &mut tally, &mut progress);
        match finished {
            Ok(()) => {}
            Err(RoundFailure::Campaign(error)) => return Err(error),
            Err(RoundFailure::Engine(panic)) => {
                let place = format!("round {} of {}: {panic}", plan.round, plan.engine);
                let texts = plan.seeds.iter().filter_map(|seed| match seed {
                    PlannedSeed::Text(seed) => Some(&*seed.text),
                    PlannedSeed::Generated => None,
                });
                self.internal_error(&mut tally, &place, &texts.collect::<Vec<_>>().join("\n"))?;
            }
        }
        tally.counts.rounds = 1;
        if !self.tools.shared.stop.now() {
            self.judge_seeds(plan, &progress)?;
        }
        self.settle(plan, &mut tally)?;
        Ok(progress.tests)
    }

    /// Seeds of which nothing comes are left alone: by an engine that makes nothing of them, and by all if every solver
    /// refuses them, or if in two rounds all test cases were refused or ran out of time. One time-out says little: the limit
    /// of a run adapts to what is usual, and may be a few hundredths of a second.
    fn judge_seeds(&self, plan: &Plan, progress: &RoundProgress) -> Result<(), CampaignError> {
        let once = self.tools.scheduler.engine(&plan.engine).is_some_and(|engine| engine.once());
        let fruitless = progress.tests >= 3 && progress.fruitless == progress.tests;
        let mut times = 0;
        if let [PlannedSeed::Text(seed)] = plan.seeds.as_slice()
            && (progress.tests == 0 || fruitless)
        {
            let mut state = self.tools.shared.state();
            times = if fruitless { state.pool.was_fruitless(&seed.hash) } else { 0 };
            state.pool.is_barren(&seed.hash, &plan.engine);
        }
        let refused = progress.tests >= if once { 1 } else { 3 } && progress.refused_by_all == progress.tests;
        if refused || fruitless && times >= 2 {
            self.drop_seeds(plan)?;
        }
        Ok(())
    }

    /// All solvers time out on everything made of these seeds, or refuse it, or none has their theories.
    fn drop_seeds(&self, plan: &Plan) -> Result<(), CampaignError> {
        for planned in &plan.seeds {
            let PlannedSeed::Text(seed) = planned else { continue };
            let dropped = self.tools.shared.state().drop_seed(&seed.hash);
            if let Some(dropped) = dropped {
                let text = format!("seed {} dropped: all solvers time out on it or refuse it", dropped.name);
                self.tools.shared.log.note(&text)?;
            }
        }
        Ok(())
    }

    fn test_cases(
        &mut self,
        plan: &Plan,
        usual: Usual,
        options: &mut RoundOptions<'_>,
        tally: &mut Tally,
        progress: &mut RoundProgress,
    ) -> Result<(), RoundFailure> {
        let Some(engine) = self.tools.scheduler.engine(&plan.engine) else {
            let text = format!("there is no engine '{}'", plan.engine);
            return Err(CampaignError::Internal(text).into());
        };
        self.trace(plan)?;
        let mut begun = thread_cpu();
        let opened = {
            let Worker { driver, runner, answers, targets, .. } = self;
            driver.open(engine, plan, &mut Questions { targets, runner: &mut **runner, cache: answers })?
        };
        self.answers.take_failure()?;
        let Some(mut chain) = opened else {
            if let Some(reason) = self.driver.take_declined() {
                tally.totals.left_alone.count(format!("{}: {reason}", plan.engine));
                // It would say so each time.
                if let [PlannedSeed::Text(seed)] = plan.seeds.as_slice() {
                    let memory = SeedMemory { text: String::new(), exhausted: true };
                    self.tools.shared.state().remember(&seed.hash, &plan.engine, memory);
                }
            }
            return Ok(());
        };
        let mut length = Length::new(plan.steps, chain.length(), usual);
        while length.goes_on() && progress.is_of_use() && !self.tools.shared.stop.now() {
            let case = {
                let Worker { driver, runner, answers, targets, .. } = self;
                driver.next(&mut chain, &mut Questions { targets, runner: &mut **runner, cache: answers })?
            };
            self.answers.take_failure()?;
            let Some(case) = case else { break };
            if !self.tools.shared.stop.take_test() {
                break;
            }
            let (feedback, solvers) = self.test(case, &chain, options, tally, progress)?;
            let own = self.look_at_time(&mut begun, &chain, tally)?;
            length.record(&feedback, own + solvers);
            chain.learn(&feedback);
            if self.settled_at.elapsed() >= SETTLE_EVERY {
                self.settle(plan, tally)?;
            }
        }
        if let Some((seed, memory)) = chain.memory() {
            self.tools.shared.state().remember(&seed.hash, &plan.engine, memory);
        }
        if let Some(reason) = chain.exhausted() {
            tally.totals.left_alone.count(format!("{}: {reason}", plan.engine));
        }
        if let Some((seed, heirs)) = chain.heirs(&self.driver.store) {
            self.tools.shared.state().pool.inherit(&seed.hash, heirs);
        }
        Ok(())
    }

    /// Runs one test case, with all configurations that the policy wants one after the other, and sees to whatever it reveals.
    /// Tells what came of it and the CPU time of its runs. What further configurations show is added to what the first ones
    /// show, but whether solvers refuse the test case or give up on it is told by the first.
    fn test(
        &mut self,
        mut case: TestCase,
        chain: &Chain,
        options: &mut RoundOptions<'_>,
        tally: &mut Tally,
        progress: &mut RoundProgress,
    ) -> Result<(Feedback, Duration), CampaignError> {
        tally.counts.tests += 1;
        progress.tests += 1;
        let usage;
        (case.script, usage) =
            runnable(&mut self.driver.store, &case.script, &Target::releases(self.targets));
        match self.witnesses.check(&self.driver.store, &case) {
            WitnessCheck::Holds => {}
            WitnessCheck::Open => case.forget_answer(),
            WitnessCheck::Fails(text) => {
                let standard = print::print(&self.driver.store, &case.script, Release::STANDARD);
                self.internal_error(tally, &format!("{}: {text}", place(chain, &case)), &standard)?;
                self.log_test(&case, chain, &standard, &[], false)?;
                return Ok((Feedback::default(), Duration::ZERO));
            }
        }
        let logic = case.script.logic(&self.driver.store).unwrap_or_default().to_owned();
        let refused = &self.refused_logics;
        let able = |target: &Target| {
            progress.takes(target.number) && !refused.contains(&(target.number, logic.clone()))
        };
        let mut operations = Operation::of(&usage, &case.script);
        let RoundOptions { policy, chosen, rng } = options;
        let mut propose = |target: &Target| chosen.propose(target);
        let mut first = Prepared::new(&case, usage, self.targets, &able, *policy, &mut propose, rng);
        if first.asks_for_models() {
            // It is not in the script, but options that matter for models matter here.
            operations.insert(Operation::Command(CommandName::GetModel));
        }
        let (mut feedback, runs) = self.observed(&first, &[], chain, options, tally, progress)?;
        let mut cpu: Duration = feedback.runs.iter().map(|run| run.cpu).sum();
        first.retain_run(&runs);
        while !self.tools.shared.stop.is_cut_short() {
            let RoundOptions { policy, chosen, rng } = options;
            let mut propose = |target: &Target| chosen.further(target, &operations, rng);
            let Some(further) = first.further(self.targets, *policy, &mut propose) else { break };
            let (more, _) = self.observed(&further, &runs, chain, options, tally, progress)?;
            feedback.findings += more.findings;
            feedback.novel = feedback.novel.saturating_add(more.novel);
            cpu += more.runs.iter().map(|run| run.cpu).sum::<Duration>();
        }
        tally.counts.novel += u64::from(feedback.is_novel());
        Ok((feedback, cpu))
    }

    /// Runs what has not run yet, judges it beside what has, and tells the policy. Gives back what came of the new runs, and all
    /// runs.
    fn observed(
        &mut self,
        prepared: &Prepared,
        earlier: &[Run],
        chain: &Chain,
        options: &mut RoundOptions<'_>,
        tally: &mut Tally,
        progress: &mut RoundProgress,
    ) -> Result<(Feedback, Vec<Run>), CampaignError> {
        let case = prepared.case;
        let triage = self.tools.triage;
        let (runs, checked) =
            prepared.run(&mut self.driver.store, self.targets, &mut *self.runner, earlier)?;
        let new_runs = &runs[earlier.len()..];
        tally.count(prepared, new_runs, self.targets, &self.driver.store, &mut self.refused_logics);
        if earlier.is_empty() {
            progress.count(prepared, new_runs);
            tally.count_constructs(prepared);
            tally.count_rejected(new_runs);
        }
        let features = self.features(prepared, new_runs);
        let sites = self.sites(prepared, new_runs);
        let new_blocks: Vec<Option<u64>> =
            new_runs.iter().map(|run| self.new_blocks(prepared, run)).collect();
        let new = {
            let state = self.tools.shared.state();
            // A new block is too common for costly oracles, a new function is not.
            let reached = &state.reached;
            state.unseen(&features) > 0 || reached.has_say() && reached.unseen(&sites).functions > 0
        };
        let thorough = new || options.rng.chance(THOROUGH);
        let rng_seed = self.identity.rng_seed;
        let tested = TestedCase { case, runs: &runs, chain, rng_seed, thorough };
        let known = |signature: &_| triage.recognise(signature);
        let until = Instant::now() + CONFIRMATION;
        let until =
            self.tools.shared.stop.end().map_or(until, |end| until.min(end.max(Instant::now()) + GRACE));
        let judgement = self.verdicts.judge(
            &mut self.driver.store,
            &mut *self.runner,
            &tested,
            checked,
            &known,
            Some(until),
        )?;
        // Further configurations run the same script: the first model tells enough.
        let satisfying = judgement.model.filter(|_| earlier.is_empty());
        let noted = satisfying.and_then(|found| chain.note(&self.driver.store, &found.model));
        let mut findings = 0;
        let mut excused = false;
        for outcome in judgement.outcomes {
            match outcome {
                VerdictOutcome::Confirmed(reproduction) => {
                    findings += 1;
                    triage.enter(*reproduction)?;
                }
                VerdictOutcome::Known(signature, input) => {
                    // What nobody wants to hear of is no reason to go on.
                    findings += u32::from(!triage.is_unwanted(&signature));
                    let (round, step) = (chain.plan().round, case.provenance.step);
                    triage.count_known(&signature, round, step, Some(&input));
                }
                VerdictOutcome::Unconfirmed => tally.totals.unconfirmed += 1,
                VerdictOutcome::Excused(reason) => {
                    excused = true;
                    tally.totals.excuses.count(reason);
                }
                VerdictOutcome::Unproven(reason) => tally.totals.unproven.count(reason),
            }
        }
        // Answers that differ by design tell nothing new, and more of the kind is of no use.
        let (reached, seen, has_say) = {
            let mut state = self.tools.shared.state();
            let seen = if excused { 0 } else { state.observe(&features) };
            (state.reached.observe(&sites), seen, state.reached.has_say())
        };
        tally.reached.blocks += reached.blocks;
        tally.reached.functions += reached.functions;
        let blocks = if excused || !has_say { 0 } else { reached.blocks as u32 };
        let novel = seen.saturating_add(blocks);
        self.keep(prepared, new_runs, chain, novel, progress)?;
        let feedback = Feedback {
            findings,
            novel,
            runs: new_runs
                .iter()
                .map(|run| RunFeedback {
                    solver: prepared.target_of(run),
                    answer: answers::answered(run),
                    cpu: run.outcome.cpu_time,
                })
                .collect(),
            seen: noted,
        };
        for ((run, told), new_blocks) in new_runs.iter().zip(&feedback.runs).zip(new_blocks) {
            let proposed = prepared.proposed(run);
            let own_functions = match options.policy.wants_own_coverage() && !proposed.is_empty() {
                true => self.traced(run)?.map(|functions| functions.len() as u64),
                false => None,
            };
            options.chosen.observe(&Observation {
                target: &self.targets[told.solver],
                proposed,
                answer: told.answer,
                new_blocks,
                own_functions,
                novel,
                findings,
            });
        }
        Ok((feedback, runs))
    }

    /// Blocks that a run reached and nobody before, where the solver is watched.
    fn new_blocks(&self, prepared: &Prepared, run: &Run) -> Option<u64> {
        let (key, _) = self.targets[prepared.target_of(run)].code.as_ref()?;
        let sites = run.outcome.sites.as_ref()?.as_ref().ok()?;
        let sites = Sites::from([(*key, sites.clone())]);
        Some(self.tools.shared.state().reached.unseen(&sites).blocks)
    }

    /// All functions that a run reaches, by another run.
    fn traced(&mut self, run: &Run) -> Result<Option<Vec<u32>>, CampaignError> {
        let traced = self.runner.trace(&run.configuration, &run.script, TRACE);
        traced.map_err(|error| CampaignError::of_run(&run.configuration.solver.name(), error))
    }

    /// A step that took long is counted and kept: no solver waits for us without a reason that can be looked into. Tells
    /// the CPU time of the step; the next one begins now.
    fn look_at_time(
        &self,
        begun: &mut Duration,
        chain: &Chain,
        tally: &mut Tally,
    ) -> Result<Duration, CampaignError> {
        let now = thread_cpu();
        let took = now.saturating_sub(*begun);
        *begun = now;
        if took >= SLOW {
            let plan = chain.plan();
            let text = format!(
                "round {} step {} of {} in {}: {:.1} s of our own",
                plan.round,
                chain.steps().saturating_sub(1),
                plan.engine,
                plan.logic,
                took.as_secs_f64()
            );
            tally.totals.slow += 1;
            tally.totals.slowest = tally.totals.slowest.max(took.as_micros() as u64);
            let seeds: Vec<&str> = chain.ancestors().iter().map(|(seed, _)| &*seed.text).collect();
            self.tools.shared.keep_internal(&text, &seeds.join("\n"))?;
            self.tools.shared.log.note(&text)?;
        }
        Ok(took)
    }

    /// What the runs of a test case show, as features.
    fn features(&self, prepared: &Prepared, runs: &[Run]) -> Vec<u64> {
        let numbered: Vec<(usize, &Run)> = runs.iter().map(|run| (prepared.target_of(run), run)).collect();
        let mut features = Vec::new();
        for signal in self.tools.signals {
            signal.features(&prepared.usage, &numbered, &mut features);
        }
        features
    }

    /// What the runs of a test case have reached, by the code it is of.
    fn sites(&self, prepared: &Prepared, runs: &[Run]) -> Sites {
        let mut all = Sites::new();
        for run in runs {
            let code = self.targets[prepared.target_of(run)].code.as_ref();
            if let (Some((key, _)), Some(Ok(sites))) = (code, &run.outcome.sites) {
                all.entry(*key).or_default().extend(sites);
            }
        }
        all
    }

    /// Traces the seed of a round, once, while traces have cost little: which functions does it reach?
    fn trace(&mut self, plan: &Plan) -> Result<(), CampaignError> {
        let watched = plan.group.iter().find_map(|number| {
            let target = self.targets.get(*number)?;
            Some((target, target.code.as_ref()?.0))
        });
        let Some((target, key)) = watched else { return Ok(()) };
        for planned in &plan.seeds {
            let PlannedSeed::Text(seed) = planned else { continue };
            let known = {
                let state = self.tools.shared.state();
                let pool = &state.pool;
                !state.reached.has_say()
                    || !state.may_trace()
                    || !pool.contains(&seed.hash)
                    || pool.rarity.knows(&seed.hash)
            };
            if known {
                continue;
            }
            let configuration = Arc::new(target.configuration());
            let traced = self.runner.trace(&configuration, seed.text.as_bytes(), SEED_TRACE);
            let traced = traced.map_err(|error| CampaignError::of_run(&target.name, error))?;
            if let Some(functions) = traced {
                self.tools.shared.state().pool.rarity.add(&seed.hash, key, &functions);
            }
        }
        Ok(())
    }

    /// Logs a test case; a small script that shows new behaviour becomes a seed.
    fn keep(
        &self,
        prepared: &Prepared,
        runs: &[Run],
        chain: &Chain,
        novel: u32,
        progress: &mut RoundProgress,
    ) -> Result<(), CampaignError> {
        let shared = self.tools.shared;
        let quick = runs.iter().any(|run| !answers::gave_up(run) && !answers::refused(run));
        let joins = novel > 0 && quick && progress.joins();
        if !joins && !shared.log.is_on() {
            return Ok(());
        }
        let standard = print::print(&self.driver.store, &prepared.case.script, Release::STANDARD);
        if joins && standard.len() <= LARGEST_SEED {
            let seed = SeedText::new(place(chain, prepared.case), standard.as_str());
            shared.state().join(seed);
        }
        self.log_test(prepared.case, chain, &standard, runs, novel > 0)
    }

    fn log_test(
        &self,
        case: &TestCase,
        chain: &Chain,
        standard: &str,
        runs: &[Run],
        novel: bool,
    ) -> Result<(), CampaignError> {
        self.tools.shared.log.write(&LogLine::Test {
            round: chain.plan().round,
            step: case.provenance.step,
            engine: &case.provenance.engine,
            script: &hash::name(standard.as_bytes()),
            answers: runs.iter().map(answers::word).collect(),
            novel,
        })
    }

    /// A defect of ours: shown, counted, and kept with its script.
    fn internal_error(&self, tally: &mut Tally, text: &str, script: &str) -> Result<(), CampaignError> {
        tally.totals.internal_errors += 1;
        self.tools.shared.observer.note(&format!("internal error in {text}"));
        self.tools.shared.keep_internal(text, script)?;
        self.tools.shared.log.note(text)
    }

    /// Hands the counts over to the shared state.
    fn settle(&mut self, plan: &Plan, tally: &mut Tally) -> Result<(), CampaignError> {
        let cpu = thread_cpu();
        let own = cpu.saturating_sub(self.settled);
        (self.settled, self.settled_at) = (cpu, Instant::now());
        let (accounts, questions) = (self.runner.take_accounts(), self.answers.take_counts());
        let spent = std::mem::take(tally).spent(plan, self.targets, &accounts, &questions, own);
        let launcher = self.runner.take_launcher_cpu();
        let mut state = self.tools.shared.state();
        state.add_own_cpu(launcher);
        state.add(&spent);
        drop(state);
        for note in self.runner.take_notes() {
            self.tools.shared.observer.note(&note);
            self.tools.shared.log.note(&note)?;
        }
        Ok(())
    }
}

/// What decides the options of a round.
struct RoundOptions<'p> {
    policy: &'p dyn OptionPolicy,
    chosen: Box<dyn ChainOptions + 'p>,
    rng: Rng,
}

/// `round 3 step 4 of diver`.
fn place(chain: &Chain, case: &TestCase) -> String {
    let provenance = &case.provenance;
    format!("round {} step {} of {}", chain.plan().round, provenance.step, provenance.engine)
}

/// Why a round ended before its time.
enum RoundFailure {
    Engine(EnginePanic),
    Campaign(CampaignError),
}

impl From<EnginePanic> for RoundFailure {
    fn from(panic: EnginePanic) -> RoundFailure {
        RoundFailure::Engine(panic)
    }
}

impl From<CampaignError> for RoundFailure {
    fn from(error: CampaignError) -> RoundFailure {
        RoundFailure::Campaign(error)
    }
}
