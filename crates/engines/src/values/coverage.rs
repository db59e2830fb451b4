//! Saturation coverage (definition III.2): which monitors have been seen true and false, and what to enforce next.

use generate::Rng;
use rustc_hash::FxHashSet;

use super::meta::Enforced;

/// Enforcements with one goal among several monitors before the goal is given up: it may be impossible.
const TRIES: u32 = 3;

/// Probability that a truth value known to be possible with others is enforced instead of a random one.
const KNOWN: f64 = 0.75;

/// A covered pair in a memory.
const COVERED: char = 'c';

/// Combinations drawn before a goal counts as tried.
const DRAWS: usize = 20;

/// What is known of one monitor's truth value.
#[derive(Clone, Copy, Debug, Default)]
struct Pair {
    /// Who covered it first.
    covered: Option<Cover>,
    tries: u32,
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
    enforced: FxHashSet<Vec<Enforced>>,
}

impl Coverage {
    pub fn new(monitors: usize) -> Coverage {
        Coverage { pairs: vec![[Pair::default(); 2]; monitors], enforced: FxHashSet::default() }
    }

    /// What [`Coverage::memory`] wrote of as many monitors; `None` for any other text.
    pub fn recall(text: &str, monitors: usize) -> Option<Coverage> {
        let mut coverage = Coverage::new(monitors);
        let mut letters = text.chars();
        for pair in coverage.pairs.iter_mut().flatten() {
            *pair = match letters.next()? {
                COVERED => Pair { covered: Some(Cover::Earlier), tries: 0 },
                letter => Pair { covered: None, tries: letter.to_digit(10)? },
            };
        }
        letters.next().is_none().then_some(coverage)
    }

    /// What a later round must know: for each pair that it is covered, or how often it was tried.
    pub fn memory(&self) -> String {
        let letter = |pair: &Pair| match pair.covered {
            Some(_) => COVERED,
            None => char::from_digit(pair.tries.min(9), 10).unwrap_or('9'),
        };
        self.pairs.iter().flatten().map(letter).collect()
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

    /// Pairs covered, and pairs there are.
    pub fn count(&self) -> (usize, usize) {
        let covered = self.pairs.iter().flatten().filter(|pair| pair.covered.is_some()).count();
        (covered, 2 * self.pairs.len())
    }

    /// Every pair is covered or given up.
    pub fn is_saturated(&self, at_once: usize) -> bool {
        self.goals(at_once).is_empty()
    }

    /// Pairs that are not covered and may be tried, least tried first.
    fn goals(&self, at_once: usize) -> Vec<Enforced> {
        // Alone, a goal that has been tried would be the same enforcement again.
        let most = if at_once.min(self.pairs.len()) > 1 { TRIES } else { 1 };
        let mut goals: Vec<(u32, Enforced)> = Vec::new();
        for (monitor, pairs) in self.pairs.iter().enumerate() {
            for (truth, pair) in [false, true].into_iter().zip(pairs) {
                if pair.covered.is_none() && pair.tries < most {
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
                let mut key = chosen.clone();
                key.sort_unstable();
                if self.enforced.insert(key) {
                    return Some(chosen);
                }
            }
        }
    }

    /// Notes an enforcement that was made of another one. False if there has been the same.
    pub fn note(&mut self, enforced: &[Enforced]) -> bool {
        let mut key = enforced.to_vec();
        key.sort_unstable();
        self.enforced.insert(key)
    }
}

#[cfg(test)]
mod tests {
    use generate::rng;

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
        assert_eq!(coverage.count(), (1, 6));
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
        assert_eq!(again.memory().matches('c').count(), 2);
        for wrong in ["", "c", "ccccc", "cxcc"] {
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
