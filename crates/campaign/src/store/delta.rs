//! What a process has to tell the store: only what came to be since it told the last time.

use std::collections::btree_map::Entry;
use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};

use super::counts::{Counts, Learned};
use super::sample::Sample;
use super::totals::Totals;
use crate::seeds::SeedText;

/// A seed as the store keeps it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct StoredSeed {
    pub seed: SeedText,
    /// Made by an engine, not given by the user.
    pub mutant: bool,
}

/// What a seed has cost and brought since the last time.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SeedDelta {
    pub hash: String,
    pub counts: Counts,
}

/// What an engine is to know about a seed that it has worked on.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct SeedMemory {
    /// In the engine's own words.
    pub text: String,
    /// Another round would make nothing more of the seed.
    pub exhausted: bool,
}

impl SeedMemory {
    /// Takes in a later one. What has come to its end stays so, whoever writes last.
    pub fn update(&mut self, later: SeedMemory) {
        *self = SeedMemory { exhausted: self.exhausted || later.exhausted, ..later };
    }
}

/// Memories by the seed's hash and the engine's name.
pub type Memories = BTreeMap<(String, String), SeedMemory>;

/// Increments and new things. Deltas of any number of processes, merged in any order, give the same campaign.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Delta {
    pub totals: Totals,
    pub learned: Learned,
    pub seeds: Vec<SeedDelta>,
    pub new_seeds: Vec<StoredSeed>,
    /// Seeds that findings come from. Their texts stay, in use or not: a finding's test case is made from them again.
    pub ancestors: Vec<SeedText>,
    /// Hashes of seeds that are not used any more, and whether their texts are still needed. The text of another
    /// process's [ancestor](Delta::ancestors) stays in any case.
    pub retired: Vec<(String, bool)>,
    /// Features of runs that were new to this process.
    pub features: Vec<u64>,
    /// Sites that nobody had reached as far as this process knew, by the code they are of.
    pub sites: BTreeMap<u64, Vec<u32>>,
    pub samples: Vec<Sample>,
    /// What engines are to know about seeds; the last one told counts.
    #[serde(with = "memories_as_list")]
    pub memories: Memories,
}

impl Delta {
    pub fn is_empty(&self) -> bool {
        *self == Delta::default()
    }

    /// Adds a later delta of the same process.
    pub fn merge(&mut self, later: Delta) {
        let Delta {
            totals,
            learned,
            seeds,
            new_seeds,
            ancestors,
            retired,
            features,
            sites,
            samples,
            memories,
        } = later;
        self.totals.add(&totals);
        self.learned.merge(&learned);
        self.seeds.extend(seeds);
        // A seed that left and came back is in use.
        self.retired.retain(|(hash, _)| !new_seeds.iter().any(|new| new.seed.hash == *hash));
        self.new_seeds.extend(new_seeds);
        self.ancestors.extend(ancestors);
        self.retired.extend(retired);
        self.features.extend(features);
        for (code, sites) in sites {
            self.sites.entry(code).or_default().extend(sites);
        }
        self.samples.extend(samples);
        for (key, memory) in memories {
            self.memories.entry(key).or_default().update(memory);
        }
    }

    /// Says the same with one entry for each seed, feature and interval: what many deltas became grows with what they are
    /// about, not with how many they were.
    pub fn compact(&mut self) {
        let mut counts: BTreeMap<String, Counts> = BTreeMap::new();
        for SeedDelta { hash, counts: more } in self.seeds.drain(..) {
            counts.entry(hash).or_default().add(&more);
        }
        self.seeds = counts.into_iter().map(|(hash, counts)| SeedDelta { hash, counts }).collect();
        let mut samples: BTreeMap<(u64, String), Sample> = BTreeMap::new();
        for sample in self.samples.drain(..) {
            match samples.entry((sample.at, sample.engine.clone())) {
                Entry::Occupied(mut known) => known.get_mut().add(&sample),
                Entry::Vacant(new) => _ = new.insert(sample),
            }
        }
        self.samples = samples.into_values().collect();
        let mut known = BTreeSet::new();
        self.features.retain(|feature| known.insert(*feature));
        let mut known = BTreeSet::new();
        self.new_seeds.retain(|new| known.insert(new.seed.hash.clone()));
        let mut known = BTreeSet::new();
        self.ancestors.retain(|seed| known.insert(seed.hash.clone()));
        let mut kept: BTreeMap<String, bool> = BTreeMap::new();
        for (hash, keep) in self.retired.drain(..) {
            *kept.entry(hash).or_default() |= keep;
        }
        self.retired = kept.into_iter().collect();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_delta_is_empty_until_something_is_merged_into_it() {
        let mut delta = Delta::default();
        delta.merge(Delta::default());
        assert!(delta.is_empty());
        delta.merge(Delta { features: vec![1], ..Delta::default() });
        assert!(!delta.is_empty());
    }

    #[test]
    fn a_compact_delta_says_the_same() {
        let counts = |tests| Counts { tests, ..Counts::default() };
        let seeds = |all: &[(&str, u64)]| -> Vec<SeedDelta> {
            all.iter().map(|(hash, n)| SeedDelta { hash: (*hash).into(), counts: counts(*n) }).collect()
        };
        let sample = |at, tests| Sample { at, engine: "storm".into(), tests, ..Sample::default() };
        let seed = SeedText::new("mutant", "(assert true)");
        let mut delta = Delta {
            seeds: seeds(&[("b", 1), ("a", 2), ("b", 4)]),
            samples: vec![sample(20, 1), sample(10, 2), sample(20, 4)],
            features: vec![3, 1, 3],
            ancestors: vec![seed.clone(), seed.clone()],
            retired: vec![("x".into(), false), ("x".into(), true)],
            ..Delta::default()
        };
        delta.compact();
        let expected = Delta {
            seeds: seeds(&[("a", 2), ("b", 5)]),
            samples: vec![sample(10, 2), sample(20, 5)],
            features: vec![3, 1],
            ancestors: vec![seed],
            retired: vec![("x".into(), true)],
            ..Delta::default()
        };
        assert_eq!(delta, expected);
    }

    #[test]
    fn a_seed_that_left_and_came_back_is_in_use() {
        let seed = SeedText::new("mutant", "(assert true)");
        let mut delta = Delta { retired: vec![(seed.hash.clone(), false)], ..Delta::default() };
        delta.merge(Delta {
            new_seeds: vec![StoredSeed { seed: seed.clone(), mutant: true }],
            ..Delta::default()
        });
        assert!(delta.retired.is_empty());
        delta.merge(Delta { retired: vec![(seed.hash, true)], ..Delta::default() });
        assert_eq!(delta.retired.len(), 1);
    }
}

/// JSON has no keys of two parts.
mod memories_as_list {
    use serde::{Deserialize, Deserializer, Serializer};

    use super::Memories;

    pub fn serialize<S: Serializer>(memories: &Memories, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(memories)
    }

    pub fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Memories, D::Error> {
        Ok(Vec::deserialize(deserializer)?.into_iter().collect())
    }
}
