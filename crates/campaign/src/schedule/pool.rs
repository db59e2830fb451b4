//! The seeds of a campaign with what each has cost and brought: small and fast ones first, hopeless ones dropped,
//! interesting mutants added up to a bound.

use std::collections::{BTreeMap, VecDeque};

use generate::Rng;

use super::choice::Worth;
use super::rarity::Rarity;
use crate::seeds::SeedText;
use crate::store::{Counts, SeedMemory};

/// Mutants kept beside the given seeds.
const MUTANTS: usize = 1000;

/// Heirs kept for each seed, and for all of them.
const HEIRS: usize = 8;
const ALL_HEIRS: usize = 4096;

/// Probability that a round starts from an heir of its seed, where there is one.
const FROM_HEIR: f64 = 0.5;

/// Share of the choices that go through the given seeds evenly: the largest of many drawn rates always belongs to a small
/// seed, and half of a corpus would never be tried. Small seeds do show more bugs per CPU second, so it is a small share.
const EVENLY: f64 = 0.1;

/// Given seeds of which the one with the fewest rounds is taken then.
const COMPARED: usize = 8;

/// Seeds looked at for a choice by what they have brought: enough to find a good one, few enough to cost nothing.
const LOOKED_AT: usize = 512;

/// A seed and what is known about it.
#[derive(Clone, Debug)]
pub struct Entry {
    pub seed: SeedText,
    pub counts: Counts,
    /// Made by an engine, not given by the user.
    pub mutant: bool,
    /// How often each engine could make nothing of it, as far as this process knows.
    barren: BTreeMap<String, u32>,
    /// Rounds in which all solvers ran out of time on everything made of it, or refused it.
    fruitless: u32,
    /// What engines are to know about it.
    memories: BTreeMap<String, SeedMemory>,
    /// What rounds have made of it, newest last, for later rounds to start from.
    heirs: VecDeque<SeedText>,
}

impl Entry {
    /// The engine has made of it all it can.
    fn is_exhausted(&self, engine: &str) -> bool {
        self.memories.get(engine).is_some_and(|memory| memory.exhausted)
    }

    /// Is an engine to try it? Each time that it could make nothing of the seed halves the chance: a question of its may
    /// be answered yet, but hardly.
    fn suits(&self, engine: &str, rng: &mut Rng) -> bool {
        match self.barren.get(engine) {
            _ if self.is_exhausted(engine) => false,
            Some(times) => rng.below(1 << (*times).min(10)) == 0,
            None => true,
        }
    }
}

/// The seeds to choose from.
#[derive(Clone, Debug, Default)]
pub struct SeedPool {
    entries: Vec<Entry>,
    /// Place of each by hash.
    places: BTreeMap<String, usize>,
    /// The seed that each heir belongs to, both by hash.
    owners: BTreeMap<String, String>,
    /// Which of them reach what few reach.
    pub rarity: Rarity,
    mutants: usize,
    dropped: u64,
}

impl SeedPool {
    pub fn len(&self) -> usize {
        self.entries.len()
    }

    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// Seeds that no solver could do anything with.
    pub fn dropped(&self) -> u64 {
        self.dropped
    }

    pub fn entries(&self) -> &[Entry] {
        &self.entries
    }

    pub fn contains(&self, hash: &str) -> bool {
        self.places.contains_key(hash)
    }

    /// The text of a seed in use.
    pub fn get(&self, hash: &str) -> Option<&SeedText> {
        Some(&self.entries.get(*self.places.get(hash)?)?.seed)
    }

    /// Adds a seed unless it is there.
    pub fn add(&mut self, seed: SeedText, counts: Counts, mutant: bool) {
        if self.places.contains_key(&seed.hash) {
            return;
        }
        self.places.insert(seed.hash.clone(), self.entries.len());
        let (barren, memories) = (BTreeMap::new(), BTreeMap::new());
        let (fruitless, heirs) = (0, VecDeque::new());
        self.entries.push(Entry { seed, counts, mutant, barren, fruitless, memories, heirs });
        self.mutants += usize::from(mutant);
    }

    /// Adds a mutant; the one that has brought least makes room. Tells which one left.
    pub fn join(&mut self, seed: SeedText) -> Option<SeedText> {
        let mut left = None;
        if self.mutants >= MUTANTS && !self.places.contains_key(&seed.hash) {
            let worst = self
                .entries
                .iter()
                .filter(|entry| entry.mutant)
                .min_by_key(|entry| (entry.counts.rounds == 0, entry.counts.findings, entry.counts.novel))
                .map(|entry| entry.seed.hash.clone());
            left = worst.and_then(|hash| self.take(&hash));
        }
        self.add(seed, Counts::default(), true);
        left
    }

    /// Keeps what a round has made of a seed or of one of its heirs. The oldest ones make room.
    pub fn inherit(&mut self, hash: &str, heirs: Vec<SeedText>) {
        let owner = self.owner(hash).to_owned();
        let Some(entry) = self.places.get(&owner).and_then(|place| self.entries.get_mut(*place)) else {
            return;
        };
        for heir in heirs {
            if self.places.contains_key(&heir.hash) || self.owners.contains_key(&heir.hash) {
                continue;
            }
            if entry.heirs.len() == HEIRS
                && let Some(oldest) = entry.heirs.pop_front()
            {
                self.owners.remove(&oldest.hash);
            }
            if self.owners.len() < ALL_HEIRS {
                self.owners.insert(heir.hash.clone(), owner.clone());
                entry.heirs.push_back(heir);
            }
        }
    }

    /// The seed that an heir belongs to, by hash; a seed belongs to itself.
    pub fn owner<'a>(&'a self, hash: &'a str) -> &'a str {
        self.owners.get(hash).map_or(hash, String::as_str)
    }

    /// Takes out a seed on which all solvers time out.
    pub fn drop_hopeless(&mut self, hash: &str) -> Option<SeedText> {
        // An heir goes alone: its seed has shown nothing of the kind.
        if let Some(owner) = self.owners.remove(hash) {
            let entry = self.places.get(&owner).and_then(|place| self.entries.get_mut(*place));
            entry?.heirs.retain(|heir| heir.hash != hash);
            return None;
        }
        let seed = self.take(hash)?;
        self.dropped += 1;
        Some(seed)
    }

    fn take(&mut self, hash: &str) -> Option<SeedText> {
        let place = self.places.remove(hash)?;
        let entry = self.entries.swap_remove(place);
        if let Some(moved) = self.entries.get(place) {
            self.places.insert(moved.seed.hash.clone(), place);
        }
        self.mutants -= usize::from(entry.mutant);
        self.rarity.remove(&entry.seed.hash);
        for heir in &entry.heirs {
            self.owners.remove(&heir.hash);
        }
        Some(entry.seed)
    }

    pub fn credit(&mut self, hash: &str, counts: &Counts) -> Option<&Entry> {
        let entry = self.entries.get_mut(*self.places.get(hash)?)?;
        entry.counts.add(counts);
        Some(entry)
    }

    /// What a seed has cost and brought, all processes together.
    pub fn set_counts(&mut self, hash: &str, counts: Counts) {
        if let Some(entry) = self.places.get(hash).and_then(|place| self.entries.get_mut(*place)) {
            entry.counts = counts;
        }
    }

    /// Another process does not use it any more.
    pub fn remove(&mut self, hash: &str) {
        self.take(hash);
    }

    /// An engine could make nothing of a seed, or of an heir, which is not used again.
    pub fn is_barren(&mut self, hash: &str, engine: &str) {
        if self.owners.contains_key(hash) {
            self.drop_hopeless(hash);
        } else if let Some(entry) = self.places.get(hash).and_then(|place| self.entries.get_mut(*place)) {
            *entry.barren.entry(engine.to_owned()).or_default() += 1;
        }
    }

    /// A round brought nothing but time-outs and refusals. Tells in how many that was so.
    pub fn was_fruitless(&mut self, hash: &str) -> u32 {
        let Some(entry) = self.places.get(hash).and_then(|place| self.entries.get_mut(*place)) else {
            return 0;
        };
        entry.fruitless += 1;
        entry.fruitless
    }

    /// Keeps what an engine is to know about a seed. False for one that is not in use.
    pub fn remember(&mut self, hash: &str, engine: &str, memory: SeedMemory) -> bool {
        let Some(entry) = self.places.get(hash).and_then(|place| self.entries.get_mut(*place)) else {
            return false;
        };
        entry.memories.entry(engine.to_owned()).or_default().update(memory);
        true
    }

    /// What an engine is to know about a seed.
    pub fn memory(&self, hash: &str, engine: &str) -> Option<&str> {
        let entry = self.entries.get(*self.places.get(hash)?)?;
        Some(&entry.memories.get(engine)?.text)
    }

    /// A seed for an engine, or what an earlier round has made of it: now and then a given one with few rounds, else what
    /// promises most.
    pub fn choose(&self, engine: &str, worth: Worth, rng: &mut Rng) -> Option<&SeedText> {
        let evenly = if rng.chance(EVENLY) { self.least_used(engine, rng) } else { None };
        let entry = evenly.or_else(|| self.most_promising(engine, worth, rng)).or_else(|| {
            let left = self.entries.iter().filter(|entry| !entry.is_exhausted(engine));
            rng.pick(&left.collect::<Vec<_>>()).copied()
        })?;
        // What an engine remembers is about the seed itself: of an heir it would learn the same again each time.
        let remembers = entry.memories.contains_key(engine);
        if !entry.heirs.is_empty() && !remembers && rng.chance(FROM_HEIR) {
            return entry.heirs.get(rng.below(entry.heirs.len()));
        }
        Some(&entry.seed)
    }

    /// Of some given seeds the one with the fewest rounds.
    fn least_used(&self, engine: &str, rng: &mut Rng) -> Option<&Entry> {
        let mut least: Option<&Entry> = None;
        for _ in 0..COMPARED {
            let entry = rng.pick(&self.entries)?;
            let fewer = least.is_none_or(|least| entry.counts.rounds < least.counts.rounds);
            if !entry.mutant && fewer && entry.suits(engine, rng) {
                least = Some(entry);
            }
        }
        least
    }

    /// By Thompson sampling over rewards per CPU second; what was not tried yet is expected to cost by its size.
    fn most_promising(&self, engine: &str, worth: Worth, rng: &mut Rng) -> Option<&Entry> {
        let all = self.entries.len();
        let mut best: Option<(f64, &Entry)> = None;
        for i in 0..all.min(LOOKED_AT) {
            let place = if all <= LOOKED_AT { i } else { rng.below(all) };
            let entry = &self.entries[place];
            if !entry.suits(engine, rng) {
                continue;
            }
            let prior = 0.25 + entry.seed.text.len() as f64 / 4096.0;
            let rate = worth.draw(&entry.counts, rng, prior) * self.rarity.weight(&entry.seed.hash);
            if best.is_none_or(|(highest, _)| rate > highest) {
                best = Some((rate, entry));
            }
        }
        best.map(|(_, entry)| entry)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn seed(text: &str) -> SeedText {
        SeedText::new("test", text)
    }

    #[test]
    fn small_seeds_are_preferred_and_a_dropped_one_never_comes_again() {
        let mut pool = SeedPool::default();
        let (small, large) = (seed("s"), seed(&"l".repeat(40_000)));
        pool.add(small.clone(), Counts::default(), false);
        pool.add(large.clone(), Counts::default(), false);
        let mut rng = generate::rng::stream(1, 1);
        let chosen =
            (0..200).filter(|_| pool.choose("diver", Worth::default(), &mut rng) == Some(&small)).count();
        assert!(chosen > 150, "{chosen}");
        pool.drop_hopeless(&small.hash);
        assert!((0..50).all(|_| pool.choose("diver", Worth::default(), &mut rng) == Some(&large)));
        assert_eq!((pool.len(), pool.dropped()), (1, 1));
    }

    #[test]
    fn large_seeds_have_their_turn_among_many_small_ones() {
        let mut pool = SeedPool::default();
        for i in 0..200 {
            pool.add(seed(&i.to_string()), Counts::default(), false);
            pool.add(seed(&format!("{i} {}", "l".repeat(20_000))), Counts::default(), false);
        }
        let mut rng = generate::rng::stream(1, 1);
        let mut large = 0;
        for _ in 0..400 {
            let chosen = pool.choose("diver", Worth::default(), &mut rng).expect("a seed").clone();
            large += usize::from(chosen.text.len() > 20_000);
            pool.credit(&chosen.hash, &Counts { rounds: 1, cpu: 100_000, ..Counts::default() });
        }
        assert!((15..120).contains(&large), "{large}");
    }

    #[test]
    fn a_seed_that_an_engine_can_make_nothing_of_is_left_to_the_others() {
        let mut pool = SeedPool::default();
        let (barren, other) = (seed("barren"), seed("other"));
        pool.add(barren.clone(), Counts::default(), false);
        pool.add(other.clone(), Counts::default(), false);
        for _ in 0..8 {
            pool.is_barren(&barren.hash, "diver");
        }
        assert_eq!(pool.was_fruitless(&barren.hash), 1, "that an engine declines it says nothing of solvers");
        let mut rng = generate::rng::stream(1, 2);
        let mut chosen = |engine| {
            (0..400).filter(|_| pool.choose(engine, Worth::default(), &mut rng) == Some(&barren)).count()
        };
        assert!(chosen("diver") < 10);
        assert!(chosen("storm") > 100);
        for _ in 0..8 {
            pool.is_barren(&other.hash, "diver");
        }
        assert!(pool.choose("diver", Worth::default(), &mut rng).is_some(), "where there is no better one");
    }

    fn memory(text: &str, exhausted: bool) -> SeedMemory {
        SeedMemory { text: text.to_owned(), exhausted }
    }

    #[test]
    fn a_seed_that_an_engine_has_come_to_the_end_of_is_not_given_to_it_again() {
        let mut pool = SeedPool::default();
        let (done, other) = (seed("done"), seed("other"));
        pool.add(done.clone(), Counts::default(), false);
        pool.add(other.clone(), Counts::default(), false);
        let (part, whole) = (memory("c0", false), memory("cc", true));
        assert!(pool.remember(&done.hash, "values", part));
        let mut rng = generate::rng::stream(1, 1);
        assert!((0..100).any(|_| pool.choose("values", Worth::default(), &mut rng) == Some(&done)));
        assert_eq!(pool.memory(&done.hash, "values"), Some("c0"));
        assert_eq!(pool.memory(&done.hash, "storm"), None);
        assert!(pool.remember(&done.hash, "values", whole.clone()));
        assert!(!pool.remember("nobody's", "values", whole.clone()));
        let mut rng = generate::rng::stream(1, 2);
        assert!((0..100).all(|_| pool.choose("values", Worth::default(), &mut rng) == Some(&other)));
        assert!((0..100).any(|_| pool.choose("storm", Worth::default(), &mut rng) == Some(&done)));
        pool.remember(&other.hash, "values", whole);
        assert_eq!(pool.choose("values", Worth::default(), &mut rng), None);
    }

    #[test]
    fn rounds_go_on_from_what_earlier_ones_made_of_a_seed() {
        let mut pool = SeedPool::default();
        let given = seed("given");
        pool.add(given.clone(), Counts::default(), false);
        let heirs = |first: usize| (first..first + 6).map(|i| seed(&format!("heir {i}"))).collect::<Vec<_>>();
        pool.inherit(&given.hash, heirs(0));
        // What comes of an heir belongs to the seed again; there are never more than a few.
        pool.inherit(&heirs(0)[5].hash, heirs(6));
        let mut rng = generate::rng::stream(1, 2);
        let mut chosen = BTreeMap::new();
        for _ in 0..400 {
            let text = pool.choose("diver", Worth::default(), &mut rng).expect("a seed").text.to_string();
            *chosen.entry(text).or_insert(0) += 1;
        }
        assert_eq!(chosen.len(), HEIRS + 1, "{chosen:?}");
        assert!((150..250).contains(&chosen["given"]), "{chosen:?}");
        assert!(chosen.contains_key("heir 11") && !chosen.contains_key("heir 3"), "{chosen:?}");
        let memory = SeedMemory { text: "c0".to_owned(), exhausted: false };
        assert!(pool.remember(&given.hash, "values", memory));
        let itself = |_| pool.choose("values", Worth::default(), &mut rng) == Some(&given);
        assert!((0..100).all(itself), "what is remembered is about the seed itself");
        let heir = seed("heir 11");
        assert_eq!(pool.owner(&heir.hash), given.hash);
        assert!(pool.drop_hopeless(&heir.hash).is_none());
        assert_eq!(pool.owner(&heir.hash), heir.hash, "dropped, and the seed stays");
        assert_eq!(pool.len(), 1);
        pool.drop_hopeless(&given.hash);
        assert!(pool.choose("diver", Worth::default(), &mut rng).is_none());
        assert!(pool.owners.is_empty());
    }

    #[test]
    fn mutants_are_bounded_and_given_seeds_stay() {
        let mut pool = SeedPool::default();
        pool.add(seed("given"), Counts::default(), false);
        for i in 0..MUTANTS + 50 {
            pool.join(seed(&i.to_string()));
        }
        assert_eq!(pool.len(), MUTANTS + 1);
        assert!(pool.entries().iter().any(|entry| entry.seed.text.as_ref() == "given"));
        let newest = seed(&(MUTANTS + 49).to_string());
        assert!(pool.entries().iter().any(|entry| entry.seed == newest));
    }
}
