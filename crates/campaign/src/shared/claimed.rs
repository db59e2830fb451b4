//! Work that this process has claimed: numbers of rounds, and seeds to be tried as they are.

use std::collections::{BTreeSet, VecDeque};
use std::ops::Range;

use crate::schedule::SeedPool;
use crate::seeds::SeedText;

/// Rounds in hand below which more are claimed.
pub const LOW: usize = 128;

/// What was claimed in the store and is not yet begun.
pub struct ClaimedWork {
    /// Claimed numbers of rounds.
    rounds: VecDeque<Range<u64>>,
    /// Claimed seeds to be tried as they are, the small ones first.
    untried: VecDeque<SeedText>,
    /// The store may have more of them.
    more_untried: bool,
}

impl Default for ClaimedWork {
    fn default() -> ClaimedWork {
        ClaimedWork { rounds: VecDeque::new(), untried: VecDeque::new(), more_untried: true }
    }
}

impl ClaimedWork {
    /// Further numbers of rounds, where some were claimed.
    pub fn add_rounds(&mut self, rounds: Option<Range<u64>>) {
        self.rounds.extend(rounds);
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
    pub fn never_tried(&self, pool: &SeedPool) -> Vec<SeedText> {
        let waiting: BTreeSet<&str> = self.untried.iter().map(|seed| seed.hash.as_str()).collect();
        let new = pool.entries().iter().filter(|entry| {
            !entry.mutant && entry.counts.rounds == 0 && !waiting.contains(entry.seed.hash.as_str())
        });
        let mut seeds: Vec<SeedText> = new.map(|entry| entry.seed.clone()).collect();
        seeds.sort_by(|a, b| (a.text.len(), &a.hash).cmp(&(b.text.len(), &b.hash)));
        seeds
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rounds_are_given_out_in_order_and_once() {
        let mut claimed = ClaimedWork::default();
        assert_eq!(claimed.next_round(), None);
        claimed.add_rounds(Some(4..6));
        claimed.add_rounds(Some(9..10));
        assert_eq!(claimed.rounds_left(), 3);
        let rounds: Vec<u64> = std::iter::from_fn(|| claimed.next_round()).collect();
        assert_eq!(rounds, [4, 5, 9]);
    }
}
