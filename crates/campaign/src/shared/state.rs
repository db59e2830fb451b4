//! The campaign as this process knows it: what was learned, seeds, features, findings, totals; and what the store has not
//! heard of yet.
//!
//! Workers take this lock for moments only: nothing is written or synced under it. [`exchange`](fn@super::exchange) carries
//! differences to the store and back.

use std::collections::BTreeSet;
use std::ops::Range;
use std::time::Duration;

use reduce::blame::TACTIC;
use solver::run::Purpose;

use super::accounts::Spent;
use super::claimed::ClaimedWork;
use super::clock::Clock;
use super::known::KnownFindings;
use crate::findings::{Finding, Rarity};
use crate::schedule::{Culprits, Novelty, Reached, SeedPool, Usual};
use crate::seeds::SeedText;
use crate::store::{
    CONSTRUCT, Counts, Delta, ENGINE, KnownFinding, LOGIC, Learned, Memories, News, OPTION, Sample, Sampler,
    SeedDelta, SeedMemory, StoredSeed, Totals, Unwanted, now,
};

/// An operator is left out only if fewer than one in so many test cases have it: a campaign whose seeds were chosen for it is
/// about it.
const COMMON: u64 = 10;

/// Fewer test cases than this do not tell what is common.
const FEW: u64 = 200;

/// Traces of seeds may have one part in so many of the solvers' CPU time. Each tells how rare its seed is; without a bound,
/// a thousand seeds cost a quarter of the first minutes.
const TRACED_SHARE: u64 = 25;

/// The same for what bugs need and which releases have them: findings come many at a time, and the first ones of a campaign are
/// mostly the same few bugs.
const TOLD_APART_SHARE: u64 = 25;

/// What that may use in any case, in microseconds of CPU time: short campaigns find bugs, too.
const TOLD_APART_FREELY: u64 = 10_000_000;

/// What one process knows.
pub struct State {
    pub learned: Learned,
    pub pool: SeedPool,
    pub findings: KnownFindings,
    pub claimed: ClaimedWork,
    novelty: Novelty,
    /// Which code of the solvers has been reached.
    pub reached: Reached,
    /// Of the whole campaign.
    totals: Totals,
    /// Of this process.
    run: Totals,
    /// What the store has not heard of.
    delta: Delta,
    sampler: Sampler,
    clock: Clock,
    /// Seeds that findings come from: their texts stay.
    needed: BTreeSet<String>,
}

impl State {
    /// From what the store has.
    pub fn new(
        started: u64,
        learned: Learned,
        pool: Vec<(StoredSeed, Counts)>,
        features: Vec<u64>,
        totals: Totals,
        findings: Vec<KnownFinding>,
        unwanted: Unwanted,
    ) -> State {
        let mut state = State {
            learned,
            pool: SeedPool::default(),
            findings: KnownFindings::new(findings, unwanted),
            claimed: ClaimedWork::default(),
            novelty: Novelty::default(),
            reached: Reached::default(),
            totals,
            run: Totals::default(),
            delta: Delta::default(),
            sampler: Sampler::new(started),
            clock: Clock::start(),
            needed: BTreeSet::new(),
        };
        for (stored, counts) in pool {
            state.pool.add(stored.seed, counts, stored.mutant);
        }
        for feature in features {
            state.novelty.restore(feature);
        }
        state
    }

    /// With the code that has been reached so far.
    #[must_use]
    pub fn reaching(self, reached: Reached) -> State {
        State { reached, ..self }
    }

    /// Adds what a part of a round has cost and brought.
    pub fn add(&mut self, spent: &Spent) {
        let counts = &spent.counts;
        self.credit(ENGINE, spent.engine, counts);
        if let Some(logic) = spent.logic {
            self.credit(LOGIC, logic, counts);
        }
        for seed in &spent.seeds {
            self.credit_seed(seed, counts);
        }
        for (name, tests) in &spent.constructs {
            self.credit(CONSTRUCT, name, &Counts { tests: *tests, ..Counts::default() });
        }
        for (name, tests) in &spent.options {
            self.credit(OPTION, name, &Counts { tests: *tests, ..Counts::default() });
        }
        self.count(&spent.totals);
        self.sampler.record(&Sample {
            at: now(),
            engine: spent.engine.to_owned(),
            tests: counts.tests,
            runs: spent.runs,
            cpu: counts.cpu,
            findings: counts.findings,
            novel: counts.novel,
            functions: spent.reached.functions,
            blocks: spent.reached.blocks,
        });
    }

    /// Adds to the totals.
    pub fn count(&mut self, totals: &Totals) {
        self.totals.add(totals);
        self.run.add(totals);
        self.delta.totals.add(totals);
    }

    fn credit(&mut self, kind: &str, name: &str, counts: &Counts) {
        self.learned.add(kind, name, counts);
        self.delta.learned.add(kind, name, counts);
    }

    fn credit_seed(&mut self, hash: &str, counts: &Counts) {
        let hash = self.pool.owner(hash).to_owned();
        if self.pool.credit(&hash, counts).is_some() {
            self.delta.seeds.push(SeedDelta { hash, counts: *counts });
        }
    }

    /// A finding turned out to be a new bug: whoever made it gets the credit.
    pub fn credit_finding(&mut self, finding: &Finding) {
        let origin = &finding.provenance;
        let seeds = origin.seeds.iter().map(|seed| seed.hash.as_str()).collect();
        let counts = Counts { findings: 1, ..Counts::default() };
        let logic = origin.seeds.is_empty().then_some(origin.logic.as_str());
        self.add(&Spent { engine: &origin.engine, logic, seeds, counts, ..Spent::default() });
    }

    /// Triage has spent this on a finding: whoever made it pays, so that a seed or an engine that shows one bug over and
    /// over loses its turn.
    pub fn charge(&mut self, finding: &Finding, cpu: Duration) {
        let origin = &finding.provenance;
        let counts = Counts { cpu: cpu.as_micros() as u64, ..Counts::default() };
        self.credit(ENGINE, &origin.engine, &counts);
        for seed in &origin.seeds {
            self.credit_seed(&seed.hash, &counts);
        }
    }

    /// Remembers features of runs and tells how many are new.
    pub fn unseen(&self, features: &[u64]) -> u32 {
        self.novelty.unseen(features)
    }

    /// Remembers the features of a test case and tells how many of them are new.
    pub fn observe(&mut self, features: &[u64]) -> u32 {
        self.novelty.observe(features)
    }

    /// What a usual test case of this campaign is like. Of the very first ones all are taken to show something new.
    pub fn usual(&self) -> Usual {
        let cpu = self.totals.solver_cpu() + self.totals.own_cpu;
        let cost = Duration::from_micros(cpu / self.totals.tests.max(1));
        Usual { cost, novelty: (self.totals.novel + 1) as f64 / (self.totals.tests + 1) as f64 }
    }

    /// Have traces of seeds cost so little in this process that another one may be made?
    pub fn may_trace(&self) -> bool {
        self.has_had(Purpose::Trace, TRACED_SHARE, 0)
    }

    /// Has it cost so little in this process to tell bugs apart that it may be done with all care?
    pub fn may_tell_apart(&self) -> bool {
        self.has_had(Purpose::Blame, TOLD_APART_SHARE, TOLD_APART_FREELY)
    }

    /// Have runs for this purpose used at most so many microseconds, or one part in so many of the solvers' CPU time?
    fn has_had(&self, purpose: Purpose, share: u64, freely: u64) -> bool {
        let used = self.run.runs.get(purpose.word()).map_or(0, |counts| counts.cpu);
        used <= freely || used * share <= self.run.solver_cpu()
    }

    /// A mutant that did something new becomes a seed.
    pub fn join(&mut self, seed: SeedText) {
        if self.pool.contains(&seed.hash) {
            return;
        }
        self.delta.merge(Delta {
            new_seeds: vec![StoredSeed { seed: seed.clone(), mutant: true }],
            ..Delta::default()
        });
        if let Some(left) = self.pool.join(seed) {
            let needed = self.needed.contains(&left.hash);
            self.delta.retired.push((left.hash, needed));
        }
    }

    /// All solvers time out on this one, or refuse it.
    pub fn drop_seed(&mut self, hash: &str) -> Option<SeedText> {
        let dropped = self.pool.drop_hopeless(hash)?;
        self.delta.retired.push((dropped.hash.clone(), true));
        Some(dropped)
    }

    /// Keeps what an engine is to know about a seed.
    pub fn remember(&mut self, hash: &str, engine: &str, memory: SeedMemory) {
        if self.pool.remember(hash, engine, memory.clone()) {
            let key = (hash.to_owned(), engine.to_owned());
            self.delta.memories.entry(key).or_default().update(memory);
        }
    }

    /// Takes in what engines of other processes, or of an earlier one, have left to know about seeds.
    pub fn recall(&mut self, memories: Memories) {
        for ((hash, engine), memory) in memories {
            self.pool.remember(&hash, &engine, memory);
        }
    }

    /// The seeds of a finding stay, in use or not.
    pub fn need(&mut self, seeds: &[SeedText]) {
        for seed in seeds {
            if self.needed.insert(seed.hash.clone()) {
                self.delta.ancestors.push(seed.clone());
            }
        }
    }

    /// The same for a finding of which only the hashes of its seeds are known.
    pub fn need_by_hash(&mut self, finding: &Finding) {
        let given = finding.provenance.seeds.iter().filter(|seed| !seed.generated);
        let texts: Vec<SeedText> = given.filter_map(|seed| self.pool.get(&seed.hash)).cloned().collect();
        self.need(&texts);
    }

    /// How rare constructs are in the test cases of the campaign.
    pub fn rarity(&self) -> Rarity {
        let with = self.learned.of_kind(CONSTRUCT).map(|(name, counts)| (name, counts.tests));
        Rarity::new(self.totals.tests, with)
    }

    /// What known bugs are blamed on and most rounds do without: tactics, and operators that are rare enough to be
    /// missed by nobody.
    pub fn culprits(&self) -> Culprits {
        let blamed = self.findings.culprits();
        let mut culprits = Culprits::default();
        if blamed.is_empty() {
            return culprits;
        }
        let tests = self.totals.tests;
        for (construct, solver) in blamed {
            if let Some(tactic) = construct.strip_prefix(TACTIC) {
                culprits.blame_tactic(tactic, &solver);
                continue;
            }
            // Constructs of one operator differ in their sorts.
            let operator = construct.split(' ').next().unwrap_or(&construct);
            let with = self.learned.get(CONSTRUCT, operator).tests;
            if tests >= FEW && with * COMMON < tests {
                culprits.blame_operator(operator, &solver);
            }
        }
        culprits
    }

    /// CPU time of a launcher, which is ours but not this process's.
    pub fn add_own_cpu(&mut self, cpu: Duration) {
        self.clock.add(cpu);
    }

    /// Of the whole campaign, up to this moment.
    pub fn totals_now(&mut self) -> &Totals {
        let spent = self.clock.take();
        self.count(&spent);
        let known = self.findings.all();
        self.totals.count_findings(&known);
        &self.totals
    }

    /// Of this process alone, as far as it has been counted.
    pub fn run_totals(&self) -> &Totals {
        &self.run
    }

    /// What the store has not heard of; from now on it counts as told.
    pub fn take_delta(&mut self) -> Delta {
        let spent = self.clock.take();
        self.count(&spent);
        let mut delta = std::mem::take(&mut self.delta);
        delta.features.extend(self.novelty.take_fresh());
        for (code, sites) in self.reached.take_fresh() {
            delta.sites.entry(code).or_default().extend(sites);
        }
        delta.samples.extend(self.sampler.take());
        delta
    }

    /// The store could not take it.
    pub fn give_back(&mut self, mut delta: Delta) {
        delta.merge(std::mem::take(&mut self.delta));
        self.delta = delta;
    }

    /// Takes in what others have added, and rounds to go on with. `totals` are those of the store.
    pub fn absorb(&mut self, news: News, totals: Totals, rounds: Option<Range<u64>>) {
        self.totals = totals;
        self.totals.add(&self.delta.totals);
        self.learned = news.learned;
        self.learned.merge(&self.delta.learned);
        for (stored, counts) in news.new_seeds {
            self.pool.add(stored.seed, counts, stored.mutant);
        }
        for (hash, counts) in news.seeds {
            let waiting = self.delta.seeds.iter().filter(|seed| seed.hash == hash);
            let counts = waiting.fold(counts, |mut sum, seed| {
                sum.add(&seed.counts);
                sum
            });
            self.pool.set_counts(&hash, counts);
        }
        self.recall(news.memories);
        for hash in news.retired {
            self.pool.remove(&hash);
        }
        for feature in news.features {
            self.novelty.restore(feature);
        }
        self.reached.restore(&news.sites);
        for finding in news.findings {
            self.findings.know(finding, None);
        }
        if let Some(unwanted) = news.unwanted {
            self.findings.replace_unwanted(unwanted);
        }
        self.claimed.add_rounds(rounds);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::schedule::Worth;

    fn state() -> State {
        let none = (Learned::default(), Vec::new(), Vec::new(), Totals::default(), Vec::new());
        State::new(now(), none.0, none.1, none.2, none.3, none.4, Unwanted::default())
    }

    fn spent(tests: u64) -> Spent<'static> {
        let totals = Totals { tests, ..Totals::default() };
        Spent { engine: "storm", counts: Counts { tests, ..Counts::default() }, totals, ..Spent::default() }
    }

    #[test]
    fn a_seed_that_an_engine_has_come_to_the_end_of_stays_so_after_a_resumption() {
        let seeds = ["(check-sat)", "(assert true)"].map(|text| SeedText::new("test", text));
        let stored = || {
            let of = |seed: &SeedText| (StoredSeed { seed: seed.clone(), mutant: false }, Counts::default());
            seeds.iter().map(of).collect::<Vec<_>>()
        };
        let opened = |memories| {
            let (learned, totals, unwanted) = (Learned::default(), Totals::default(), Unwanted::default());
            let mut state = State::new(now(), learned, stored(), Vec::new(), totals, Vec::new(), unwanted);
            state.recall(memories);
            state
        };
        let chosen = |state: &State, engine: &str| {
            let mut rng = generate::rng::stream(1, 1);
            let draws = (0..50).filter_map(|_| state.pool.choose(engine, Worth::default(), &mut rng));
            draws.filter(|seed| seed.hash == seeds[0].hash).count()
        };
        let mut first = opened(Memories::default());
        first.remember(&seeds[0].hash, "values", SeedMemory { text: "c0".to_owned(), exhausted: false });
        assert!(chosen(&first, "values") > 0);
        first.remember(&seeds[0].hash, "values", SeedMemory { text: "cc".to_owned(), exhausted: true });
        assert_eq!(chosen(&first, "values"), 0);
        let told = first.take_delta().memories;
        let resumed = opened(told.clone());
        assert_eq!(chosen(&resumed, "values"), 0);
        assert_eq!(resumed.pool.memory(&seeds[0].hash, "values"), Some("cc"));
        assert!(chosen(&resumed, "storm") > 0);
        let mut other = opened(Memories::default());
        other.absorb(News { memories: told, ..News::default() }, Totals::default(), None);
        assert_eq!(chosen(&other, "values"), 0, "another process has come to its end");
    }

    #[test]
    fn what_a_bug_is_blamed_on_is_done_without_if_it_is_rare() {
        let mut state = state();
        let blamed_on = |construct: &str, weight: f64| {
            let face = format!(
                r#"{{"kind":null,"solver":"z3@4.8.7","reduced":true,"proven":true,"constructs":[{{"construct":"{construct}","weight":{weight}}}]}}"#
            );
            let hash = construct.to_owned();
            KnownFinding { group: hash.clone(), hash, face, ..KnownFinding::default() }
        };
        for (construct, weight) in [
            ("str.<", 0.9),
            ("+ Int", 0.9),
            ("str.at", 0.2),
            ("tactic nla2bv", 1.5),
            ("uninterpreted function", 0.9),
        ] {
            state.findings.know(blamed_on(construct, weight), None);
        }
        let constructs = vec![("str.<", 10), ("+", 9_000)];
        let totals = Totals { tests: 10_000, ..Totals::default() };
        state.add(&Spent { constructs, totals, ..Spent::default() });
        let mut wanted = Culprits::default();
        wanted.blame_operator("str.<", "z3@4.8.7");
        wanted.blame_tactic("nla2bv", "z3@4.8.7");
        assert_eq!(state.culprits(), wanted);
    }

    #[test]
    fn what_is_counted_while_the_store_is_told_is_neither_lost_nor_counted_twice() {
        let mut state = state();
        state.add(&spent(3));
        let told = state.take_delta();
        assert_eq!(told.totals.tests, 3);
        state.add(&spent(2));
        let mut all = told.totals.clone();
        // Somebody else has made ten.
        all.tests += 10;
        let mut learned = told.learned.clone();
        learned.add(ENGINE, "storm", &Counts { tests: 10, ..Counts::default() });
        state.absorb(News { learned, ..News::default() }, all, Some(4..6));
        assert_eq!(state.claimed.rounds_left(), 2);
        assert_eq!(state.totals_now().tests, 15);
        assert_eq!(state.learned.get(ENGINE, "storm").tests, 15);
        assert_eq!(state.take_delta().totals.tests, 2);
        let told = Delta { features: vec![1, 2], ..told };
        state.give_back(told);
        state.observe(&[3]);
        let again = state.take_delta();
        assert_eq!((again.totals.tests, again.features.len()), (3, 3));
    }
}
