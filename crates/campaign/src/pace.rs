//! How long a solver usually takes, and so how long it is worth waiting for it.
//!
//! A run that takes many times as long as nearly all others mostly ends in a time-out, and a time-out is never a
//! finding. Runs of a campaign are cut at a multiple of the usual time, between a floor and the user's limit; runs that
//! confirm a finding have the whole limit and more.

use std::time::Duration;

/// Upper bounds of run times grow by the square root of two, from one millisecond.
const BUCKETS: usize = 40;

/// Runs after which older ones count half.
const MEMORY: u32 = 512;

/// Runs before anything is concluded from them.
const ENOUGH: u32 = 20;

/// The share of runs that is usual. If more than the rest is cut, the limit grows by itself.
const USUAL: f64 = 0.9;

/// Times the usual time.
const FACTOR: u32 = 4;

/// Never cut below this: a busy machine must not turn into time-outs.
const FLOOR: Duration = Duration::from_millis(120);

/// The limit of the first runs.
const FIRST: Duration = Duration::from_millis(500);

/// The run times of one solver.
#[derive(Clone, Debug)]
pub struct Pace {
    counts: [u32; BUCKETS],
    runs: u32,
}

impl Default for Pace {
    fn default() -> Pace {
        Pace { counts: [0; BUCKETS], runs: 0 }
    }
}

impl Pace {
    /// Counts a run, of which a time-out is one that took its limit.
    pub fn record(&mut self, time: Duration) {
        let place = (0..BUCKETS - 1).find(|place| time <= bound(*place)).unwrap_or(BUCKETS - 1);
        self.counts[place] += 1;
        self.runs += 1;
        if self.runs >= MEMORY {
            for count in &mut self.counts {
                *count /= 2;
            }
            self.runs = self.counts.iter().sum();
        }
    }

    /// How long the next run may take.
    pub fn limit(&self, most: Duration) -> Duration {
        if self.runs < ENOUGH {
            return FIRST.min(most);
        }
        let usual = (f64::from(self.runs) * USUAL).ceil() as u32;
        let mut seen = 0;
        let place = self.counts.iter().position(|count| {
            seen += count;
            seen >= usual
        });
        (bound(place.unwrap_or(BUCKETS - 1)) * FACTOR).max(FLOOR).min(most)
    }
}

fn bound(place: usize) -> Duration {
    Duration::from_secs_f64(0.001 * std::f64::consts::SQRT_2.powi(place as i32))
}

#[cfg(test)]
mod tests {
    use super::*;

    const MOST: Duration = Duration::from_secs(10);

    #[test]
    fn quick_solvers_are_cut_at_the_floor_and_slow_ones_have_more() {
        let mut quick = Pace::default();
        let mut slow = Pace::default();
        for _ in 0..100 {
            quick.record(Duration::from_millis(10));
            slow.record(Duration::from_millis(400));
        }
        assert_eq!(quick.limit(MOST), FLOOR);
        assert!(slow.limit(MOST) >= Duration::from_millis(1600));
        assert_eq!(slow.limit(Duration::from_secs(1)), Duration::from_secs(1));
    }

    #[test]
    fn the_limit_grows_when_much_is_cut() {
        let mut pace = Pace::default();
        for _ in 0..1000 {
            let limit = pace.limit(MOST);
            pace.record(limit);
        }
        assert_eq!(pace.limit(MOST), MOST);
    }

    #[test]
    fn what_was_long_ago_is_forgotten() {
        let mut pace = Pace::default();
        for _ in 0..500 {
            pace.record(Duration::from_secs(2));
        }
        for _ in 0..3000 {
            pace.record(Duration::from_millis(5));
        }
        assert_eq!(pace.limit(MOST), FLOOR);
    }
}
