//! Saturation coverage (definition III.2): which monitors have been seen true and false, and what to enforce next.

use generate::Rng;

use super::digest::{Digests, digest};
use super::meta::Enforced;

/// Enforcements with one goal among several monitors before the goal is given up: it may be impossible.
const TRIES: u32 = 3;

/// Probability that a truth value known to be possible with others is enforced instead of a random one.
const KNOWN: f64 = 0.75;

/// A covered pair in a memory.
const COVERED: char = 'c';

/// Combinations drawn before a goal counts as tried.
const DRAWS: usize = 20;

/// Combinations drawn without a goal before there is none left.
const UNDIRECTED_DRAWS: usize = 200;

/// What is known of one monitor's truth value.
#[derive(Clone, Copy, Debug, Default)]
struct Pair {
    /// Who covered it first.
    covered: Option<Cover>,
    /// No model of a mutant can give it.
    impossible: bool,
    tries: u32,
}

/// How many pairs there are of each kind.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PairCounts {
    pub all: usize,
    pub covered: usize,
    /// Not covered, and no model of a mutant can give them.
    pub impossible: usize,
    /// Not covered, and tried as often as is worth while.
    pub given_up: usize,
}

/// Who covered a truth value first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cover {
    /// A mutant of an earlier round.
    Earlier,
    /// The mutant of this number.
    Mutant(usize),
}

/// The coverage of one seed.
#[derive(Clone, Debug)]
pub struct Coverage {
    /// For each monitor: false, true.
    pairs: Vec<[Pair; 2]>,
    /// Combinations that have been enforced.
    enforced: Digests,
    /// Impossible pairs are goals nevertheless, as in the paper.
    tries_impossible: bool,
    /// There are no goals: every combination is as good as another, whatever is covered.
    undirected: bool,
    /// No combination is left.
    drained: bool,
}

impl Coverage {
    pub fn new(monitors: usize) -> Coverage {
        Coverage {
            pairs: vec![[Pair::default(); 2]; monitors],
            enforced: Digests::default(),
            tries_impossible: true,
            undirected: false,
            drained: false,
        }
    }

    /// Enforcements are drawn as the author's program draws them: combinations that have not been there, whatever is covered.
    #[must_use]
    pub fn drawn_without_goals(mut self, undirected: bool) -> Coverage {
        self.undirected = undirected;
        self
    }

    /// These pairs no model of a mutant can give. Unless they are tried as in the paper, they are no goals.
    #[must_use]
    pub fn with_impossible(mut self, pairs: &[Enforced], tried: bool) -> Coverage {
        for (monitor, truth) in pairs {
            if let Some(pairs) = self.pairs.get_mut(*monitor) {
                pairs[usize::from(*truth)].impossible = true;
            }
        }
        self.tries_impossible = tried;
        self
    }

    /// What [`Coverage::memory`] wrote of as many monitors; `None` for any other text.
    pub fn recall(text: &str, monitors: usize) -> Option<Coverage> {
        let (letters, enforced) = text.split_once(';').unwrap_or((text, ""));
        let enforced = Digests::recall(enforced)?;
        let mut coverage = Coverage { enforced, ..Coverage::new(monitors) };
        let mut letters = letters.chars();
        for pair in coverage.pairs.iter_mut().flatten() {
            *pair = match letters.next()? {
                COVERED => Pair { covered: Some(Cover::Earlier), ..Pair::default() },
                letter => Pair { tries: letter.to_digit(10)?, ..Pair::default() },
            };
        }
        letters.next().is_none().then_some(coverage)
    }

    /// What a later round must know: for each pair that it is covered, or how often it was tried; and the combinations
    /// enforced last.
    pub fn memory(&self) -> String {
        let letter = |pair: &Pair| match pair.covered {
            Some(_) => COVERED,
            None => char::from_digit(pair.tries.min(9), 10).unwrap_or('9'),
        };
        let letters: String = self.pairs.iter().flatten().map(letter).collect();
        format!("{letters};{}", self.enforced.memory())
    }

    /// A model of a mutant gives a monitor this truth value.
    pub fn cover(&mut self, (monitor, truth): Enforced, mutant: usize) {
        if let Some(pairs) = self.pairs.get_mut(monitor) {
            pairs[usize::from(truth)].covered.get_or_insert(Cover::Mutant(mutant));
        }
    }

    /// Who covered a pair first.
    pub fn by(&self, (monitor, truth): Enforced) -> Option<Cover> {
        self.pairs.get(monitor)?[usize::from(truth)].covered
    }

    /// No model of a mutant can give this pair.
    pub fn is_impossible(&self, (monitor, truth): Enforced) -> bool {
        self.pairs.get(monitor).is_some_and(|pairs| pairs[usize::from(truth)].impossible)
    }

    /// How many pairs there are of each kind.
    pub fn count(&self, at_once: usize) -> PairCounts {
        let mut counts = PairCounts { all: 2 * self.pairs.len(), ..PairCounts::default() };
        for pair in self.pairs.iter().flatten() {
            match pair {
                Pair { covered: Some(_), .. } => counts.covered += 1,
                Pair { impossible: true, .. } => counts.impossible += 1,
                Pair { tries, .. } => counts.given_up += usize::from(*tries >= self.most_tries(at_once)),
            }
        }
        counts
    }

    /// Alone, a goal that has been tried would be the same enforcement again. Without goals nothing is tried again on purpose.
    fn most_tries(&self, at_once: usize) -> u32 {
        if at_once.min(self.pairs.len()) > 1 && !self.undirected { TRIES } else { 1 }
    }

    /// Every pair that is possible is covered or given up; without goals, every combination has been enforced.
    pub fn is_saturated(&self, at_once: usize) -> bool {
        match self.undirected {
            true if at_once > 1 => self.drained || self.pairs.is_empty(),
            true => self.left_alone().is_empty(),
            false => self.goals(at_once).is_empty(),
        }
    }

    /// Pairs that are not covered and may be tried, least tried first.
    fn goals(&self, at_once: usize) -> Vec<Enforced> {
        let most = self.most_tries(at_once);
        let mut goals: Vec<(u32, Enforced)> = Vec::new();
        for (monitor, pairs) in self.pairs.iter().enumerate() {
            for (truth, pair) in [false, true].into_iter().zip(pairs) {
                let left_out = pair.impossible && !self.tries_impossible;
                if pair.covered.is_none() && !left_out && pair.tries < most {
                    goals.push((pair.tries, (monitor, truth)));
                }
            }
        }
        let least = goals.iter().map(|(tries, _)| *tries).min();
        goals.into_iter().filter(|(tries, _)| Some(*tries) == least).map(|(_, goal)| goal).collect()
    }

    /// The next enforcement: a pair that is not covered, and other monitors with random truth values up to `at_once`
    /// (section V-E). No combination comes twice. The goal comes first; `None` if there is none left. Where truth values
    /// are `known` to be possible together, most of them are taken from there.
    pub fn next(
        &mut self,
        rng: &mut Rng,
        at_once: usize,
        known: Option<&[Option<bool>]>,
    ) -> Option<Vec<Enforced>> {
        if self.undirected {
            return self.draw(rng, at_once);
        }
        loop {
            let goal = *rng.pick(&self.goals(at_once))?;
            self.pairs[goal.0][usize::from(goal.1)].tries += 1;
            for _ in 0..DRAWS {
                let mut others: Vec<usize> = (0..self.pairs.len()).filter(|other| *other != goal.0).collect();
                rng.shuffle(&mut others);
                let mut chosen = vec![goal];
                let others = others.into_iter().take(at_once.saturating_sub(1));
                chosen.extend(others.map(|other| {
                    let likely = known.and_then(|known| *known.get(other)?);
                    let drawn = rng.chance(0.5);
                    (other, likely.filter(|_| rng.chance(KNOWN)).unwrap_or(drawn))
                }));
                if self.note(&chosen) {
                    return Some(chosen);
                }
            }
        }
    }

    /// Random monitors with random truth values, no combination twice.
    fn draw(&mut self, rng: &mut Rng, at_once: usize) -> Option<Vec<Enforced>> {
        let alone = if at_once > 1 { Vec::new() } else { self.left_alone() };
        for _ in 0..UNDIRECTED_DRAWS {
            let chosen: Vec<Enforced> = if at_once > 1 {
                let mut monitors: Vec<usize> = (0..self.pairs.len()).collect();
                rng.shuffle(&mut monitors);
                monitors.into_iter().take(at_once).map(|monitor| (monitor, rng.chance(0.5))).collect()
            } else {
                rng.pick(&alone).copied().into_iter().collect()
            };
            if chosen.is_empty() {
                break;
            }
            if self.note(&chosen) {
                for (monitor, truth) in &chosen {
                    self.pairs[*monitor][usize::from(*truth)].tries += 1;
                }
                return Some(chosen);
            }
        }
        self.drained = true;
        None
    }

    /// Pairs that have not been enforced alone. What an earlier round covered may have been: its combinations tell.
    fn left_alone(&self) -> Vec<Enforced> {
        let all = (0..self.pairs.len()).flat_map(|monitor| [(monitor, false), (monitor, true)]);
        let tried = |(monitor, truth): &Enforced| self.pairs[*monitor][usize::from(*truth)].tries > 0;
        all.filter(|pair| !tried(pair) && !self.enforced.contains(key(&[*pair]))).collect()
    }

    /// Notes an enforcement. False if there has been the same.
    pub fn note(&mut self, enforced: &[Enforced]) -> bool {
        self.enforced.insert(key(enforced))
    }
}

/// A combination in short, in whatever order.
fn key(enforced: &[Enforced]) -> u32 {
    let mut sorted = enforced.to_vec();
    sorted.sort_unstable();
    digest(sorted.iter().map(|(monitor, truth)| format!("{monitor}{truth}")))
}

#[cfg(test)]
mod tests {
    use generate::rng;
    use rustc_hash::FxHashSet;

    use super::*;

    #[test]
    fn alone_every_pair_is_enforced_once_unless_it_is_covered_before() {
        let mut coverage = Coverage::new(3);
        let mut rng = rng::stream(4, 4);
        let mut seen = Vec::new();
        coverage.cover((2, true), 0);
        while let Some(enforced) = coverage.next(&mut rng, 1, None) {
            seen.extend(enforced);
        }
        seen.sort_unstable();
        assert_eq!(seen, [(0, false), (0, true), (1, false), (1, true), (2, false)]);
        assert!(coverage.is_saturated(1));
        let counts = PairCounts { all: 6, covered: 1, impossible: 0, given_up: 5 };
        assert_eq!(coverage.count(1), counts);
    }

    #[test]
    fn impossible_pairs_are_no_goals_unless_they_are_wanted_and_are_counted_apart() {
        for (tried, goals) in [(false, 3), (true, 4)] {
            let mut coverage = Coverage::new(2).with_impossible(&[(1, false), (7, true)], tried);
            let mut rng = rng::stream(4, 8);
            let made: Vec<_> = std::iter::from_fn(|| coverage.next(&mut rng, 1, None)).collect();
            assert_eq!(made.len(), goals);
            assert_eq!(made.contains(&vec![(1, false)]), tried);
            assert!(coverage.is_saturated(1));
            let counts = PairCounts { all: 4, covered: 0, impossible: 1, given_up: 3 };
            assert_eq!(coverage.count(1), counts);
        }
    }

    #[test]
    fn without_goals_what_is_covered_is_enforced_too_and_no_combination_comes_twice() {
        for (monitors, at_once, all) in [(3, 1, 6), (3, 7, 8), (4, 2, 24)] {
            let mut coverage = Coverage::new(monitors).drawn_without_goals(true);
            let mut rng = rng::stream(4, 9);
            let mut seen = FxHashSet::default();
            for monitor in 0..monitors {
                coverage.cover((monitor, true), 0);
            }
            while let Some(mut enforced) = coverage.next(&mut rng, at_once, None) {
                assert_eq!(enforced.len(), at_once.min(monitors));
                enforced.sort_unstable();
                assert!(seen.insert(enforced));
            }
            assert_eq!(seen.len(), all, "{at_once} of {monitors}");
            assert!(coverage.is_saturated(at_once));
        }
    }

    #[test]
    fn no_combination_comes_twice_and_each_has_a_goal() {
        let mut coverage = Coverage::new(9);
        let mut rng = rng::stream(4, 5);
        let mut seen = FxHashSet::default();
        let mut number = 0;
        while let Some(enforced) = coverage.next(&mut rng, 7, None) {
            assert_eq!(enforced.len(), 7);
            assert_eq!(coverage.by(enforced[0]), None, "a goal is a pair that is not covered");
            let monitors: FxHashSet<usize> = enforced.iter().map(|(monitor, _)| *monitor).collect();
            assert_eq!(monitors.len(), 7);
            let mut key = enforced.clone();
            key.sort_unstable();
            assert!(seen.insert(key));
            if number % 2 == 0 {
                enforced.iter().for_each(|pair| coverage.cover(*pair, number));
            }
            number += 1;
        }
        assert!(coverage.is_saturated(7));
    }

    #[test]
    fn the_first_mutant_that_covers_a_pair_is_named() {
        let mut coverage = Coverage::new(1);
        coverage.cover((0, true), 3);
        coverage.cover((0, true), 5);
        assert_eq!((coverage.by((0, true)), coverage.by((0, false))), (Some(Cover::Mutant(3)), None));
    }

    #[test]
    fn a_later_round_goes_on_from_what_is_covered_and_tried() {
        let mut coverage = Coverage::new(2);
        let mut rng = rng::stream(4, 7);
        coverage.cover((0, true), 3);
        coverage.cover((1, false), 4);
        let first = coverage.next(&mut rng, 1, None).expect("a goal");
        let text = coverage.memory();
        let mut again = Coverage::recall(&text, 2).expect("its own text");
        assert_eq!(again.by((0, true)), Some(Cover::Earlier));
        let second = again.next(&mut rng, 1, None).expect("another goal");
        assert_ne!(first, second);
        assert!(again.is_saturated(1));
        let memory = again.memory();
        let letters = memory.split(';').next().expect("letters");
        assert_eq!(letters.matches('c').count(), 2);
        assert!(!again.note(&first), "what an earlier round has enforced is not enforced again");
        for wrong in ["", "c", "ccccc", "cxcc", "cccc;0"] {
            assert!(Coverage::recall(wrong, 2).is_none(), "{wrong}");
        }
    }

    #[test]
    fn one_monitor_among_seven_wanted_is_tried_once_for_each_truth_value() {
        let mut coverage = Coverage::new(1);
        let mut rng = rng::stream(4, 6);
        let count = std::iter::from_fn(|| coverage.next(&mut rng, 7, None)).count();
        assert_eq!(count, 2);
    }
}
