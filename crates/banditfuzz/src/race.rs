//! How far solvers must be run on an input before it is known whether its score is above one in hand.
//!
//! Most inputs are decided in a small part of the limit, so everybody has that first. Afterwards a solver is continued
//! only as far as the score can still come above the bar: the decision is that of the paper's algorithm 1, for less.

use crate::par2::Reading;

/// Parts of the limit that target and references get in turn while neither is done.
const PARTS: [f64; 3] = [0.05, 0.25, 1.0];

/// How far a solver has come.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Stand {
    /// It needs more than this.
    Beyond(f64),
    Ended(Reading),
}

/// What is to be done next.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Next {
    /// Run a party so far: its place, 0 is the target, and how much it may use.
    Run(usize, f64),
    /// The score is not above the bar. What the target is known to need more than the references.
    Below(f64),
    /// All have ended.
    Done,
}

/// Target and references on one input.
#[derive(Debug)]
pub struct Race {
    limit: f64,
    /// The score that has to be exceeded.
    bar: f64,
    /// The target first.
    stands: Vec<Stand>,
}

impl Race {
    pub fn new(parties: usize, limit: f64, bar: f64) -> Race {
        Race { limit, bar, stands: vec![Stand::Beyond(0.0); parties] }
    }

    pub fn tell(&mut self, party: usize, stand: Stand) {
        self.stands[party] = stand;
    }

    /// Has the target solved the input; have all references?
    pub fn solved(&self) -> (bool, bool) {
        let solved = |stand: &Stand| matches!(stand, Stand::Ended(reading) if reading.solved);
        (solved(&self.stands[0]), self.stands[1..].iter().all(solved))
    }

    /// The readings of target and references, once all have ended.
    pub fn readings(&self) -> Option<(Reading, Vec<Reading>)> {
        let ended = |stand: &Stand| match stand {
            Stand::Ended(reading) => Some(*reading),
            Stand::Beyond(_) => None,
        };
        let mut readings = self.stands.iter().map(ended).collect::<Option<Vec<_>>>()?;
        let target = readings.remove(0);
        Some((target, readings))
    }

    pub fn next(&self) -> Next {
        let most = match self.stands[0] {
            Stand::Ended(reading) => reading.par2(self.limit),
            Stand::Beyond(_) => 2.0 * self.limit,
        };
        let least = self.stands[1..].iter().map(|stand| match stand {
            Stand::Ended(reading) => reading.par2(self.limit),
            Stand::Beyond(used) => *used,
        });
        if most - least.fold(0.0, f64::max) <= self.bar {
            return Next::Below(self.gap());
        }
        let open = |party: &usize| matches!(self.stands[*party], Stand::Beyond(_));
        // Whoever has had least: the target before any reference had something, the references first later.
        let parties =
            std::iter::once(0).filter(|_| self.tried(0) == 0.0).chain(1..self.stands.len()).chain([0]);
        let Some(party) = parties.filter(open).min_by(|a, b| self.tried(*a).total_cmp(&self.tried(*b)))
        else {
            return Next::Done;
        };
        let tried = self.tried(party);
        let alone = match party {
            0 => !(1..self.stands.len()).any(|other| open(&other)),
            _ => !open(&0),
        };
        let part = PARTS.iter().map(|part| part * self.limit).find(|part| *part > tried);
        let part = match part {
            // Nothing that the other side does can end it before.
            Some(_) if alone && tried > 0.0 => self.limit,
            Some(part) => part,
            None => self.limit,
        };
        // A reference that needs more than this leaves no score above the bar.
        let reach = if party == 0 { self.limit } else { (most - self.bar).min(self.limit) };
        let part = part.min(reach);
        if part <= tried { Next::Below(self.gap()) } else { Next::Run(party, part) }
    }

    fn tried(&self, party: usize) -> f64 {
        match self.stands[party] {
            Stand::Beyond(used) => used,
            Stand::Ended(_) => 0.0,
        }
    }

    fn gap(&self) -> f64 {
        let used = |stand: &Stand| match stand {
            Stand::Beyond(used) => *used,
            Stand::Ended(reading) => reading.used,
        };
        let slowest = self.stands[1..].iter().map(used).fold(0.0, f64::max);
        (used(&self.stands[0]) - slowest).max(0.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::par2::margin;

    /// Runs a race between solvers that need so much, and tells what came out and what it has cost.
    fn race(needs: &[f64], limit: f64, bar: f64) -> (Next, f64, Option<f64>) {
        let mut race = Race::new(needs.len(), limit, bar);
        let mut cost = 0.0;
        loop {
            match race.next() {
                Next::Run(party, part) => {
                    cost += needs[party].min(part);
                    let stand = match needs[party] {
                        need if need <= part && need < limit => Stand::Ended(Reading::solved(need)),
                        _ if part >= limit => Stand::Ended(Reading::timed_out(limit)),
                        _ => Stand::Beyond(part),
                    };
                    race.tell(party, stand);
                }
                end => {
                    let score = race.readings().map(|(target, others)| margin(target, &others, limit));
                    return (end, cost, score.filter(|_| end == Next::Done));
                }
            }
        }
    }

    #[test]
    fn the_decision_is_that_of_runs_to_the_end() {
        let needs = [0.0, 0.01, 0.04, 0.06, 0.3, 0.5, 1.2, 1.9, 2.5];
        let limit = 2.0;
        let reading = |need: f64| match need < limit {
            true => Reading::solved(need),
            false => Reading::timed_out(limit),
        };
        for target in needs {
            for first in needs {
                for second in needs {
                    let score = margin(reading(target), &[reading(first), reading(second)], limit);
                    for bar in [f64::NEG_INFINITY, -1.0, 0.0, 0.2, 1.0, 2.5, 3.6, 3.95] {
                        let (end, _, scored) = race(&[target, first, second], limit, bar);
                        let told = format!("{target} {first} {second} above {bar}: {end:?}");
                        assert_eq!(scored, (score > bar).then_some(score), "{told}");
                    }
                }
            }
        }
    }

    #[test]
    fn a_reference_that_takes_a_while_leaves_a_score() {
        let (_, _, score) = race(&[9.0, 0.3], 2.0, 3.0);
        assert_eq!(score, Some(3.7));
    }

    #[test]
    fn nobody_runs_on_when_nothing_can_come_of_it() {
        // A reference must be done within 0.1 s.
        let (end, cost, _) = race(&[9.0, 9.0], 2.0, 3.9);
        assert!(matches!(end, Next::Below(_)) && cost < 0.21, "{end:?} {cost}");
        // The target is too fast to matter: references are not asked.
        let (end, cost, _) = race(&[0.05, 9.0], 2.0, 0.1);
        assert!(matches!(end, Next::Below(_)) && cost < 0.06, "{end:?} {cost}");
    }
}
