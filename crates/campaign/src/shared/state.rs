//! The campaign as this process knows it: what was learned, seeds, features, findings, totals; and what the store has not
//! heard of yet.
//!
//! Workers take this lock for moments only: nothing is written or synced under it. [`exchange`](fn@super::exchange) carries
//! differences to the store and back.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::ops::Range;
use std::time::Duration;

use super::clock::Clock;
use crate::findings::{Finding, Rarity, Signature};
use crate::schedule::{Novelty, SeedPool};
use crate::seeds::SeedText;
use crate::store::{
    CONSTRUCT, Counts, Delta, ENGINE, KnownFinding, LOGIC, Learned, News, Sample, Sampler, SeedDelta,
    StoredSeed, Totals, now,
};

/// Rounds in hand below which more are claimed.
pub const LOW: usize = 128;

/// What one process knows.
pub struct State {
    pub learned: Learned,
    pub pool: SeedPool,
    novelty: Novelty,
    /// Of the whole campaign.
    totals: Totals,
    /// Of this process.
    run: Totals,
    /// What the store has not heard of.
    delta: Delta,
    sampler: Sampler,
    clock: Clock,
    /// Claimed numbers of rounds.
    rounds: VecDeque<Range<u64>>,
    /// Claimed seeds to be tried as they are, the small ones first.
    untried: VecDeque<SeedText>,
    /// The store may have more of them.
    more_untried: bool,
    known: BTreeMap<String, FindingEntry>,
    found_since: u64,
    unwanted: Unwanted,
    /// Hashes of signatures that triage is about to claim.
    expected: BTreeSet<String>,
    /// Seeds that findings come from: their texts stay.
    needed: BTreeSet<String>,
}

/// A finding that is known, as the store has it and with its signature where this process has seen it.
struct FindingEntry {
    finding: KnownFinding,
    signature: Option<Signature>,
}

/// What the user does not want to hear of.
#[derive(Clone, Debug, Default)]
pub struct Unwanted {
    /// Signatures, or hashes of signatures.
    pub signatures: BTreeSet<String>,
    /// Findings of earlier campaigns: whatever is taken for their bugs.
    pub findings: Vec<KnownFinding>,
}

/// What a part of a round has cost and brought.
#[derive(Clone, Debug, Default)]
pub struct Spent<'a> {
    pub engine: &'a str,
    /// The logic that was chosen, if it was.
    pub logic: Option<&'a str>,
    pub seeds: Vec<&'a str>,
    pub counts: Counts,
    /// Test cases by operator that occurs in them.
    pub constructs: Vec<(&'static str, u64)>,
    /// Solver runs of any purpose.
    pub runs: u64,
    /// Everything else that was counted.
    pub totals: Totals,
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
            novelty: Novelty::default(),
            totals,
            run: Totals::default(),
            delta: Delta::default(),
            sampler: Sampler::new(started),
            clock: Clock::start(),
            rounds: VecDeque::new(),
            untried: VecDeque::new(),
            more_untried: true,
            known: BTreeMap::new(),
            found_since: 0,
            unwanted,
            expected: BTreeSet::new(),
            needed: BTreeSet::new(),
        };
        for (stored, counts) in pool {
            state.pool.add(stored.seed, counts, stored.mutant);
        }
        for feature in features {
            state.novelty.restore(feature);
        }
        for finding in findings {
            state.know(finding, None);
        }
        state.found_since = 0;
        state
    }

    /// The next round's number, if one is in hand.
    pub fn next_round(&mut self) -> Option<u64> {
        loop {
            let first = self.rounds.front_mut()?;
            if let Some(round) = first.next() {
                return Some(round);
            }
            self.rounds.pop_front();
        }
    }

    /// How many rounds are in hand.
    pub fn rounds_left(&self) -> usize {
        self.rounds.iter().map(|range| (range.end - range.start) as usize).sum()
    }

    /// A given seed that no round has tried yet.
    pub fn next_untried(&mut self) -> Option<SeedText> {
        self.untried.pop_front()
    }

    /// Seeds to try as they are; `more` tells whether the store may have others.
    pub fn add_untried(&mut self, seeds: Vec<SeedText>, more: bool) {
        self.untried.extend(seeds);
        self.more_untried = more;
    }

    /// Should more of them be claimed?
    pub fn wants_untried(&self) -> bool {
        self.more_untried && self.untried.len() < LOW
    }

    /// Given seeds of which no round has come to an end: what a killed process had claimed.
    pub fn never_tried(&self) -> Vec<SeedText> {
        let waiting: BTreeSet<&str> = self.untried.iter().map(|seed| seed.hash.as_str()).collect();
        let new = self.pool.entries().iter().filter(|entry| {
            !entry.mutant && entry.counts.rounds == 0 && !waiting.contains(entry.seed.hash.as_str())
        });
        let mut seeds: Vec<SeedText> = new.map(|entry| entry.seed.clone()).collect();
        seeds.sort_by(|a, b| (a.text.len(), &a.hash).cmp(&(b.text.len(), &b.hash)));
        seeds
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
        self.count(&spent.totals);
        self.sampler.record(&Sample {
            at: now(),
            engine: spent.engine.to_owned(),
            tests: counts.tests,
            runs: spent.runs,
            cpu: counts.cpu,
            findings: counts.findings,
            novel: counts.novel,
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
        self.add(&Spent { engine: &origin.engine, seeds, counts, ..Spent::default() });
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

    /// CPU time of a usual test case of this campaign, solvers and ours.
    pub fn usual_cost(&self) -> Duration {
        let cpu = self.totals.solver_cpu() + self.totals.own_cpu;
        Duration::from_micros(cpu / self.totals.tests.max(1))
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

    /// Does the user not want to hear of it?
    pub fn is_suppressed(&self, signature: &Signature) -> bool {
        let unwanted = &self.unwanted.signatures;
        unwanted.contains(&signature.to_string()) || unwanted.contains(&signature.hash())
    }

    /// From now on nobody wants to hear of it.
    pub fn suppress(&mut self, signature: &Signature) {
        self.unwanted.signatures.insert(signature.hash());
    }

    /// Findings of earlier campaigns whose bugs the user does not want to hear of.
    pub fn unwanted(&self) -> &[KnownFinding] {
        &self.unwanted.findings
    }

    /// How rare constructs are in the test cases of the campaign.
    pub fn rarity(&self) -> Rarity {
        let with = self.learned.of_kind(CONSTRUCT).map(|(name, counts)| (name, counts.tests));
        Rarity::new(self.totals.tests, with)
    }

    /// A finding with this signature is known.
    pub fn knows(&self, signature: &Signature) -> bool {
        self.known.contains_key(&signature.hash())
    }

    /// A finding with this signature is about to be claimed: further ones are duplicates.
    pub fn expect(&mut self, signature: &Signature) {
        self.expected.insert(signature.hash());
    }

    pub fn expects(&self, signature: &Signature) -> bool {
        self.expected.contains(&signature.hash())
    }

    /// Its claim has been decided.
    pub fn expect_no_more(&mut self, signature: &Signature) {
        self.expected.remove(&signature.hash());
    }

    /// Bugs that have become known since the last call, whoever found them.
    pub fn take_found(&mut self) -> u64 {
        std::mem::take(&mut self.found_since)
    }

    /// How often a known finding was found again.
    pub fn duplicates(&self, signature: &Signature) -> u64 {
        self.known.get(&signature.hash()).map_or(0, |known| known.finding.duplicates)
    }

    pub fn know(&mut self, finding: KnownFinding, signature: Option<&Signature>) {
        let before = self.known.remove(&finding.hash);
        // Another face of a known bug is no news.
        self.found_since += u64::from(before.is_none() && finding.leads());
        let signature = signature.cloned().or(before.and_then(|known| known.signature));
        self.known.insert(finding.hash.clone(), FindingEntry { finding, signature });
    }

    /// These are all findings there are.
    pub fn know_all(&mut self, findings: Vec<KnownFinding>) {
        let there: BTreeSet<&str> = findings.iter().map(|finding| finding.hash.as_str()).collect();
        self.known.retain(|hash, _| there.contains(hash.as_str()));
        for finding in findings {
            self.know(finding, None);
        }
    }

    /// The signature of a known finding that this one may be, seen through more constructs.
    pub fn resembling(&self, signature: &Signature) -> Option<Signature> {
        let known = self.known.values().filter_map(|known| known.signature.as_ref());
        known.into_iter().find(|known| known.is_part_of(signature)).cloned()
    }

    pub fn findings(&self) -> Vec<KnownFinding> {
        self.known.values().map(|known| known.finding.clone()).collect()
    }

    pub fn found(&self) -> usize {
        self.known.len()
    }

    /// CPU time of a launcher, which is ours but not this process's.
    pub fn add_own_cpu(&mut self, cpu: Duration) {
        self.clock.add(cpu);
    }

    /// Of the whole campaign, up to this moment.
    pub fn totals_now(&mut self) -> &Totals {
        let spent = self.clock.take();
        self.count(&spent);
        let known: Vec<KnownFinding> = self.findings();
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
        for hash in news.retired {
            self.pool.remove(&hash);
        }
        for feature in news.features {
            self.novelty.restore(feature);
        }
        for finding in news.findings {
            self.know(finding, None);
        }
        self.rounds.extend(rounds);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn state() -> State {
        let none = (Learned::default(), Vec::new(), Vec::new(), Totals::default(), Vec::new());
        State::new(now(), none.0, none.1, none.2, none.3, none.4, Unwanted::default())
    }

    fn spent(tests: u64) -> Spent<'static> {
        let totals = Totals { tests, ..Totals::default() };
        Spent { engine: "storm", counts: Counts { tests, ..Counts::default() }, totals, ..Spent::default() }
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
        state.absorb(News { learned, ..News::default() }, all, None);
        assert_eq!(state.totals_now().tests, 15);
        assert_eq!(state.learned.get(ENGINE, "storm").tests, 15);
        assert_eq!(state.take_delta().totals.tests, 2);
        let told = Delta { features: vec![1, 2], ..told };
        state.give_back(told);
        state.observe(&[3]);
        let again = state.take_delta();
        assert_eq!((again.totals.tests, again.features.len()), (3, 3));
    }

    #[test]
    fn rounds_are_given_out_in_order_and_once() {
        let mut state = state();
        assert_eq!(state.next_round(), None);
        state.absorb(News::default(), Totals::default(), Some(4..6));
        state.absorb(News::default(), Totals::default(), Some(9..10));
        assert_eq!(state.rounds_left(), 3);
        let rounds: Vec<u64> = std::iter::from_fn(|| state.next_round()).collect();
        assert_eq!(rounds, [4, 5, 9]);
    }
}
