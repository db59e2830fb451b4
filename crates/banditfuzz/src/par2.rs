//! PAR-2 scores and margins (the paper's section 4.1): an input that is not solved counts twice the limit.

use serde::{Deserialize, Serialize};

/// What a solver needed for an input, in seconds of CPU time or in units of its own.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Reading {
    /// What was used up to the end, or up to the limit.
    pub used: f64,
    /// It answered within the limit.
    pub solved: bool,
}

impl Reading {
    pub fn solved(used: f64) -> Reading {
        Reading { used, solved: true }
    }

    pub fn timed_out(limit: f64) -> Reading {
        Reading::unsolved(limit)
    }

    /// It gave up after so much. The score counts that as a time-out; a ratio of times does not.
    pub fn unsolved(used: f64) -> Reading {
        Reading { used, solved: false }
    }

    /// What it counts for.
    pub fn par2(self, limit: f64) -> f64 {
        if self.solved { self.used } else { 2.0 * limit }
    }
}

/// The score of a solver on a set of inputs.
pub fn score(readings: impl IntoIterator<Item = Reading>, limit: f64) -> f64 {
    readings.into_iter().map(|reading| reading.par2(limit)).sum()
}

/// How far the target is behind the slowest of the references on one input.
pub fn margin(target: Reading, references: &[Reading], limit: f64) -> f64 {
    let slowest = references.iter().map(|reading| reading.par2(limit)).fold(0.0, f64::max);
    target.par2(limit) - slowest
}

/// The share of the largest margin at which an input is as bad as it gets: references take some time, too.
pub const ENOUGH: f64 = 0.98;

/// The largest margin that so many inputs can have.
pub fn perfect(inputs: usize, limit: f64) -> f64 {
    inputs as f64 * 2.0 * limit
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_papers_example_has_its_figures() {
        let limit = 2500.0;
        let target = [Reading::solved(1000.0), Reading::timed_out(limit), Reading::solved(100.0)];
        let first = [50.0, 30.0, 10.0].map(Reading::solved);
        let second = [100.0, 1000.0, 1.0].map(Reading::solved);
        assert_eq!(score(target, limit), 6100.0);
        assert_eq!(score(first, limit), 90.0);
        assert_eq!(score(second, limit), 1101.0);
        let margins: f64 = (0..3).map(|i| margin(target[i], &[first[i], second[i]], limit)).sum();
        assert_eq!(margins, 4990.0);
        assert_eq!(perfect(3, limit), 15_000.0);
    }

    #[test]
    fn a_reference_that_times_out_leaves_no_margin() {
        assert_eq!(margin(Reading::timed_out(2.0), &[Reading::timed_out(2.0)], 2.0), 0.0);
        assert_eq!(margin(Reading::solved(0.5), &[Reading::timed_out(2.0)], 2.0), -3.5);
    }
}
