//! The campaign over time: what each engine did in each interval.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

/// Seconds of an interval while the campaign is young, and how long that is.
const FINE: u64 = 10;
const YOUNG: u64 = 3600;

/// Seconds of an interval after that.
const COARSE: u64 = 60;

/// What one engine did in one interval, all processes together.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Sample {
    /// Start of the interval in seconds since 1970.
    pub at: u64,
    pub engine: String,
    pub tests: u64,
    /// Solver runs of any purpose.
    pub runs: u64,
    /// CPU time in microseconds.
    pub cpu: u64,
    pub findings: u64,
    pub novel: u64,
    /// Functions and blocks that nobody had reached before, of all solvers together.
    pub functions: u64,
    pub blocks: u64,
}

impl Sample {
    /// Adds the counts; time and engine stay.
    pub fn add(&mut self, other: &Sample) {
        self.tests += other.tests;
        self.runs += other.runs;
        self.cpu += other.cpu;
        self.findings += other.findings;
        self.novel += other.novel;
        self.functions += other.functions;
        self.blocks += other.blocks;
    }
}

/// Gathers what happens into one row for each engine and interval.
///
/// Intervals begin at round numbers of the clock, so that the rows of several processes fall into the same ones and
/// add up in the store. The row of the interval that is going on can be taken and delivered in parts for the same
/// reason: the sum of all samples lags behind the totals by one delivery at most.
#[derive(Clone, Debug)]
pub struct Sampler {
    fine_until: u64,
    rows: BTreeMap<(u64, String), Sample>,
}

impl Sampler {
    /// For a campaign that began at this time, in seconds since 1970.
    pub fn new(started: u64) -> Sampler {
        // The first coarse interval begins where the last fine one ends.
        Sampler { fine_until: (started + YOUNG).next_multiple_of(COARSE), rows: BTreeMap::new() }
    }

    /// Adds what has just happened; its `at` is the moment.
    pub fn record(&mut self, event: &Sample) {
        let at = event.at - event.at % self.length(event.at);
        let engine = event.engine.clone();
        self.rows
            .entry((at, engine.clone()))
            .or_insert_with(|| Sample { at, engine, ..Sample::default() })
            .add(event);
    }

    /// Seconds of the interval in which this moment is.
    pub fn length(&self, at: u64) -> u64 {
        if at < self.fine_until { FINE } else { COARSE }
    }

    /// The rows since the last time, for the store.
    pub fn take(&mut self) -> Vec<Sample> {
        std::mem::take(&mut self.rows).into_values().collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn event(at: u64, engine: &str) -> Sample {
        Sample { at, engine: engine.into(), tests: 1, runs: 2, ..Sample::default() }
    }

    #[test]
    fn there_is_one_row_for_each_engine_and_interval() {
        let mut sampler = Sampler::new(1_000_005);
        for at in 1_000_005..1_000_025 {
            sampler.record(&event(at, "storm"));
        }
        sampler.record(&event(1_000_012, "diver"));
        let rows: Vec<_> = sampler.take().into_iter().map(|row| (row.at, row.engine, row.tests)).collect();
        let expected = [(1_000_000, "storm", 5), (1_000_010, "diver", 1), (1_000_010, "storm", 10)];
        let last = (1_000_020, "storm".to_owned(), 5);
        assert_eq!(rows[..3], expected.map(|(at, engine, tests)| (at, engine.to_owned(), tests)));
        assert_eq!(rows[3], last);
        assert!(sampler.take().is_empty());
    }

    #[test]
    fn after_an_hour_intervals_are_longer_and_do_not_overlap_the_short_ones() {
        let started = 1_000_005;
        let mut sampler = Sampler::new(started);
        for at in started..started + 2 * YOUNG {
            sampler.record(&event(at, "storm"));
        }
        let rows = sampler.take();
        assert_eq!(rows.iter().map(|row| row.tests).sum::<u64>(), 2 * YOUNG);
        let steps: Vec<u64> = rows.windows(2).map(|pair| pair[1].at - pair[0].at).collect();
        let fine = steps.iter().take_while(|step| **step == FINE).count();
        assert!(fine as u64 * FINE >= YOUNG - FINE, "{fine}");
        assert!(steps[fine..].iter().all(|step| *step == COARSE), "{steps:?}");
        assert_eq!(rows[fine].at % COARSE, 0);
    }
}
