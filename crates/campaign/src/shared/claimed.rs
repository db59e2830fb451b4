//! Work that this process has claimed: numbers of rounds, and seeds to be tried as they are.

use std::collections::{BTreeSet, VecDeque};
use std::ops::Range;
use std::time::{Duration, Instant};

use crate::schedule::SeedPool;
use crate::seeds::SeedText;

/// Rounds in hand below which more are claimed.
pub const LOW: usize = 128;

/// How long after others are gone the store has been asked for what they left. It is not asked more often than every 10 s.
const COME_BACK: Duration = Duration::from_secs(15);

/// What was claimed in the store and is not yet begun.
pub struct ClaimedWork {
    /// Claimed numbers of rounds.
    rounds: VecDeque<Range<u64>>,
    /// Claimed seeds to be tried as they are, the small ones first.
    untried: VecDeque<SeedText>,
    /// The store may have more of them.
    more_untried: bool,
    /// There were some when it was asked last.
    some_came: bool,
    /// Nothing but trying seeds is to be done: without one in hand there are no rounds.
    only_seeds: bool,
    /// When other processes were seen at work: what they have claimed and not tried comes back when they are gone.
    others_seen: Option<Instant>,
}

impl Default for ClaimedWork {
    fn default() -> ClaimedWork {
        ClaimedWork {
            rounds: VecDeque::new(),
            untried: VecDeque::new(),
            more_untried: true,
            some_came: false,
            only_seeds: false,
            others_seen: None,
        }
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
        self.some_came = !seeds.is_empty();
        self.untried.extend(seeds);
        self.more_untried = more;
    }

    /// From now on rounds do nothing but try seeds.
    pub fn take_only_seeds(&mut self) {
        self.only_seeds = true;
    }

    /// Can a round be begun? Not while a seed that it needs is still to come from the store.
    pub fn is_ready(&self) -> bool {
        !self.only_seeds || !self.untried.is_empty()
    }

    /// Is the store to be asked now? Where the last answer was that there are none, others have them, and it can wait.
    pub fn is_urgent(&self) -> bool {
        self.is_ready() || self.some_came
    }

    /// Is all done that rounds are for?
    pub fn is_done(&self) -> bool {
        !self.is_ready() && !self.more_untried
    }

    /// Other processes are at work.
    pub fn see_others(&mut self) {
        self.others_seen = Some(Instant::now());
    }

    /// May seeds come back that others had claimed? Nobody needs to know who has other things to do.
    pub fn may_come_back(&self, only_helps: bool) -> bool {
        let gone = |seen: Instant| seen.elapsed() >= COME_BACK;
        !self.only_seeds || !only_helps && !self.others_seen.is_none_or(gone)
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

    #[test]
    fn who_only_tries_seeds_waits_for_them_and_is_done_without() {
        let mut claimed = ClaimedWork::default();
        assert!(claimed.is_ready() && !claimed.is_done(), "other engines need no seed");
        claimed.take_only_seeds();
        assert!(!claimed.is_ready() && !claimed.is_done(), "the store was not asked yet");
        claimed.add_untried(vec![SeedText::new("a", "(assert true)")], false);
        assert!(claimed.is_ready() && !claimed.is_done());
        assert!(claimed.next_untried().is_some());
        assert!(!claimed.is_ready() && claimed.is_done());
    }

    #[test]
    fn only_who_runs_the_campaign_waits_for_the_seeds_of_others() {
        let mut claimed = ClaimedWork::default();
        assert!(claimed.may_come_back(false), "other engines go on, and so does asking");
        claimed.take_only_seeds();
        assert!(!claimed.may_come_back(false), "nobody else was there");
        claimed.see_others();
        assert!(claimed.may_come_back(false) && !claimed.may_come_back(true));
        claimed.add_untried(Vec::new(), true);
        assert!(!claimed.is_urgent() && !claimed.is_done(), "the store is asked at its pace");
        claimed.add_untried(vec![SeedText::new("a", "(assert true)")], true);
        assert!(claimed.next_untried().is_some() && claimed.is_urgent());
    }
}
