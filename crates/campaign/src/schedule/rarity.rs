//! How rare the functions are that a seed reaches.
//!
//! Each seed is traced once, when a round starts from it: which functions does it reach? A function that many seeds reach
//! says little for any of them; one that few reach is tested by those few or not at all. A seed's share of a function is
//! one over the number of seeds that reach it, and its weight is the sum of its shares against the mean of all seeds.

use std::collections::BTreeMap;

/// A function: the code it is of, and its site.
type Function = (u64, u32);

/// Weights are between these: nothing is given up, and nothing takes all.
const LEAST: f64 = 0.05;
const MOST: f64 = 4.0;

/// What is known of the functions that seeds reach.
#[derive(Clone, Debug, Default)]
pub struct Rarity {
    traces: BTreeMap<String, Vec<Function>>,
    /// How many seeds reach each function: of each code, by site.
    counts: BTreeMap<u64, Vec<u32>>,
    weights: BTreeMap<String, f64>,
    /// Traces that the weights do not know of.
    news: usize,
}

impl Rarity {
    /// Has the seed been traced?
    pub fn knows(&self, seed: &str) -> bool {
        self.traces.contains_key(seed)
    }

    /// Adds the trace of a seed.
    pub fn add(&mut self, seed: &str, code: u64, sites: &[u32]) {
        let trace: Vec<Function> = sites.iter().map(|site| (code, *site)).collect();
        let counts = self.counts.entry(code).or_default();
        for site in sites {
            let site = *site as usize;
            if counts.len() <= site {
                counts.resize(site + 1, 0);
            }
            counts[site] += 1;
        }
        self.traces.insert(seed.to_owned(), trace);
        self.news += 1;
        // Sums over all traces: now and then is enough.
        if self.news * 8 >= self.traces.len() {
            self.weigh();
        }
    }

    /// Forgets a seed that is not used any more.
    pub fn remove(&mut self, seed: &str) {
        for (code, site) in self.traces.remove(seed).unwrap_or_default() {
            if let Some(count) = self.counts.get_mut(&code).and_then(|counts| counts.get_mut(site as usize)) {
                *count -= 1;
            }
        }
        self.weights.remove(seed);
    }

    /// How much a seed is to be preferred: 1 for the mean, and for one of which nothing is known.
    pub fn weight(&self, seed: &str) -> f64 {
        self.weights.get(seed).copied().unwrap_or(1.0)
    }

    fn weigh(&mut self) {
        self.news = 0;
        let count = |(code, site): &Function| self.counts.get(code)?.get(*site as usize).copied();
        let share = |function: &Function| 1.0 / f64::from(count(function).unwrap_or(1).max(1));
        let sums: Vec<(&String, f64)> =
            self.traces.iter().map(|(seed, trace)| (seed, trace.iter().map(share).sum())).collect();
        let mean = sums.iter().map(|(_, sum)| sum).sum::<f64>() / sums.len().max(1) as f64;
        let weight = |sum: f64| if mean > 0.0 { (sum / mean).clamp(LEAST, MOST) } else { 1.0 };
        self.weights = sums.into_iter().map(|(seed, sum)| (seed.clone(), weight(sum))).collect();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_seed_that_only_repeats_what_others_reach_weighs_little() {
        let mut rarity = Rarity::default();
        for seed in ["a", "b", "c", "d"] {
            rarity.add(seed, 1, &[1, 2, 3, 4]);
        }
        rarity.add("rare", 1, &[1, 2, 50, 60]);
        rarity.weigh();
        assert!(rarity.weight("rare") > 1.5, "{}", rarity.weight("rare"));
        assert!(rarity.weight("a") < 1.0 && rarity.weight("a") >= LEAST);
        assert_eq!(rarity.weight("unknown"), 1.0);
        assert!(rarity.knows("a") && !rarity.knows("unknown"));
    }

    #[test]
    fn what_a_seed_reached_that_is_gone_counts_no_more() {
        let mut rarity = Rarity::default();
        rarity.add("a", 1, &[1]);
        rarity.add("b", 1, &[1]);
        rarity.add("c", 1, &[2]);
        rarity.weigh();
        assert!(rarity.weight("c") > rarity.weight("a"));
        rarity.remove("b");
        rarity.weigh();
        assert_eq!(rarity.weight("c"), rarity.weight("a"));
    }
}
