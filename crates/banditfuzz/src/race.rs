//! How far solvers must be run on an input before it is known whether its score is above one in hand.
//!
//! Most inputs are decided in a small part of the limit, so everybody has that first. Afterwards a solver is continued
//! only as far as the score can still come above the bar: the decision is that of the paper's algorithm 1, for less.
//!
//! One decision is another: in a search an input is given up when a reference is beyond a quarter of the limit before the
//! target has ended. Such inputs are mostly hard for everybody, each costs several limits, and what the few others can win
//! is a ratio below four.

use crate::par2::Reading;

/// Parts of the limit that target and references get in turn while neither is done.
const PARTS: [f64; 3] = [0.05, 0.25, 1.0];
/// A reference that needs more than this part, beside a target that has not ended, makes an input hard for all.
const HARD: f64 = 0.25;

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
    /// The score is not above the bar, or the input is hard for all.
    Below,
    /// All have ended.
    Done,
}

/// Bounds of what the target needs more than the slowest reference, each up to the limit.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Gap {
    pub least: f64,
    pub most: f64,
}

/// Target and references on one input.
#[derive(Debug)]
pub struct Race {
    limit: f64,
    /// The score that has to be exceeded.
    bar: f64,
    /// Whether what is hard for all is given up.
    choosy: bool,
    /// The target first.
    stands: Vec<Stand>,
}

impl Race {
    pub fn new(parties: usize, limit: f64, bar: f64) -> Race {
        Race { limit, bar, choosy: true, stands: vec![Stand::Beyond(0.0); parties] }
    }

    /// Everybody to the end, whatever the score.
    pub fn to_the_end(parties: usize, limit: f64) -> Race {
        Race { choosy: false, ..Race::new(parties, limit, f64::NEG_INFINITY) }
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
            return Next::Below;
        }
        let hard = |stand: &Stand| matches!(stand, Stand::Beyond(used) if *used >= HARD * self.limit);
        if self.choosy && matches!(self.stands[0], Stand::Beyond(_)) && self.stands[1..].iter().any(hard) {
            return Next::Below;
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
        if part <= tried { Next::Below } else { Next::Run(party, part) }
    }

    fn tried(&self, party: usize) -> f64 {
        match self.stands[party] {
            Stand::Beyond(used) => used,
            Stand::Ended(_) => 0.0,
        }
    }

    /// What is known of the gap. Times that were used, not doubled: a solver that was stopped is only known to need more.
    pub fn gap(&self) -> Gap {
        let least = |stand: &Stand| match stand {
            Stand::Beyond(used) => *used,
            Stand::Ended(reading) => reading.used,
        };
        let most = |stand: &Stand| match stand {
            Stand::Beyond(_) => self.limit,
            Stand::Ended(reading) => reading.used,
        };
        let slowest = |of: &dyn Fn(&Stand) -> f64| self.stands[1..].iter().map(of).fold(0.0, f64::max);
        let target = &self.stands[0];
        Gap { least: least(target) - slowest(&most), most: most(target) - slowest(&least) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::par2::margin;

    /// Runs a race between solvers that need so much, and tells what came out and what it has cost.
    fn race(needs: &[f64], limit: f64, bar: f64) -> (Next, f64, Option<f64>) {
        run(Race::new(needs.len(), limit, bar), needs)
    }

    fn run(mut race: Race, needs: &[f64]) -> (Next, f64, Option<f64>) {
        let limit = race.limit;
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
    fn the_decision_is_that_of_runs_to_the_end_but_for_inputs_that_are_hard_for_all() {
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
                    // The target has not ended in the first part, and a reference not in the second.
                    let hard = target > 0.05 * limit && first.max(second) > HARD * limit;
                    for bar in [f64::NEG_INFINITY, -1.0, 0.0, 0.2, 1.0, 2.5, 3.6, 3.95] {
                        let (end, _, scored) = race(&[target, first, second], limit, bar);
                        let told = format!("{target} {first} {second} above {bar}: {end:?}");
                        assert_eq!(scored, (score > bar && !hard).then_some(score), "{told}");
                    }
                    let (_, _, scored) = run(Race::to_the_end(3, limit), &[target, first, second]);
                    assert_eq!(scored, Some(score), "{target} {first} {second}");
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
        assert!(end == Next::Below && cost < 0.21, "{end:?} {cost}");
        // The target is too fast to matter: references are not asked.
        let (end, cost, _) = race(&[0.05, 9.0], 2.0, 0.1);
        assert!(end == Next::Below && cost < 0.06, "{end:?} {cost}");
    }

    #[test]
    fn an_input_that_is_hard_for_all_costs_less_than_half_a_limit() {
        let (end, cost, _) = race(&[9.0; 4], 2.0, 0.0);
        assert!(end == Next::Below && cost < 1.0, "{end:?} {cost}");
        // The first input of a run as well, which has nothing to be better than.
        let (end, cost, _) = race(&[9.0; 4], 2.0, f64::NEG_INFINITY);
        assert!(end == Next::Below && cost < 1.0, "{end:?} {cost}");
    }

    #[test]
    fn of_a_gap_no_more_is_told_than_is_known() {
        let mut race = Race::new(3, 2.0, 0.5);
        race.tell(0, Stand::Ended(Reading::solved(0.3)));
        assert_eq!(race.gap(), Gap { least: -1.7, most: 0.3 }, "no reference was run");
        race.tell(1, Stand::Ended(Reading::solved(0.1)));
        race.tell(2, Stand::Ended(Reading::solved(0.2)));
        let Gap { least, most } = race.gap();
        assert!((least - 0.1).abs() < 1e-9 && (most - 0.1).abs() < 1e-9, "{least} {most}");
        // A target that was stopped at its limit counts as that, not twice.
        race.tell(0, Stand::Ended(Reading::timed_out(2.0)));
        assert_eq!(race.gap().most, 1.8);
    }
}
