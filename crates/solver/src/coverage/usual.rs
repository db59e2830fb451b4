//! What nearly every run reaches, in traces that need not be exact.
//!
//! A trace costs a trap for each function it reaches, and three of four are functions that most runs reach. Traces that
//! tell rare functions from usual ones can do without them: if all runs are taken to reach a function, each has the share
//! of it that it had in the mean.

use std::collections::{BTreeMap, BTreeSet};

/// Functions that are taken for granted: to see each of them again in every run costs more than it tells.
#[derive(Default)]
pub(super) struct Usual {
    runs: u32,
    /// How many of the runs have reached a site.
    counts: BTreeMap<u32, u32>,
    /// Those that trap no more.
    pub sites: BTreeSet<u32>,
}

impl Usual {
    /// Runs after which it shows what is usual.
    const RUNS: u32 = 16;

    /// Takes what a run has reached; returns what of it is taken for granted from now on, since half of the runs have
    /// reached it.
    pub fn observe(&mut self, reached: &[u32]) -> Vec<u32> {
        self.runs += 1;
        let mut usual = Vec::new();
        for site in reached.iter().filter(|site| !self.sites.contains(site)) {
            let count = self.counts.entry(*site).or_default();
            *count += 1;
            if self.runs > Usual::RUNS && *count * 2 >= self.runs {
                usual.push(*site);
            }
        }
        self.sites.extend(&usual);
        usual
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_half_of_the_runs_reach_is_usual_after_sixteen_runs() {
        let mut usual = Usual::default();
        for run in 0..Usual::RUNS {
            let often = if run % 4 == 0 { vec![1, 2, 3] } else { vec![1, 3] };
            assert!(usual.observe(&often).is_empty());
        }
        assert_eq!(usual.observe(&[1, 2, 4]), [1]);
        // One that is taken for granted already may be told again: a server's start has reached it before.
        assert_eq!(usual.observe(&[1, 2, 3]), [3]);
        assert_eq!(usual.sites, BTreeSet::from([1, 3]));
    }
}
