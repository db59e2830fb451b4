//! How long it is worth waiting for a solver.
//!
//! A run that takes many times as long as nearly all others mostly ends in a time-out, and a time-out is never a
//! finding. Runs of a campaign are cut where most answers come per second of waiting: of all limits the one with the
//! largest ratio of the share of runs that end within it to the mean time of a run that is cut there. Runs that were
//! cut say nothing about what would have come later, so the shares are estimated from the runs that went on that long
//! (the estimate of Kaplan and Meier), and now and then a run has the user's whole limit. Runs that confirm a finding
//! always have it, and more.

use std::time::Duration;

/// Upper bounds of run times grow by the square root of two, from one millisecond.
const BUCKETS: usize = 40;

/// Runs after which older ones count half.
const MEMORY: f64 = 512.0;

/// Runs before anything is concluded from them.
const ENOUGH: u32 = 20;

/// One run in so many has the user's whole limit.
const WHOLE: u32 = 100;

/// Never cut below this: a busy machine must not turn into time-outs.
const FLOOR: Duration = Duration::from_millis(60);

/// The limit of the first runs, unless they need more.
const FIRST: Duration = Duration::from_millis(500);

/// The run times of one solver.
#[derive(Clone, Debug)]
pub struct Pace {
    /// By time: runs that ended within the bucket.
    ended: [f64; BUCKETS],
    /// By time: runs that were cut within the bucket.
    cut: [f64; BUCKETS],
    weight: f64,
    runs: u32,
}

impl Default for Pace {
    fn default() -> Pace {
        Pace { ended: [0.0; BUCKETS], cut: [0.0; BUCKETS], weight: 0.0, runs: 0 }
    }
}

impl Pace {
    /// Counts a run.
    pub fn record(&mut self, time: Duration, cut: bool) {
        let place = (0..BUCKETS - 1).find(|place| time <= bound(*place)).unwrap_or(BUCKETS - 1);
        let counts = if cut { &mut self.cut } else { &mut self.ended };
        counts[place] += 1.0;
        self.weight += 1.0;
        if self.weight >= MEMORY {
            self.weight /= 2.0;
            for count in self.ended.iter_mut().chain(&mut self.cut) {
                *count /= 2.0;
            }
        }
    }

    /// How long the next run may take.
    pub fn next(&mut self, most: Duration) -> Duration {
        self.runs += 1;
        if self.runs.is_multiple_of(WHOLE) { most } else { self.limit(most) }
    }

    fn limit(&self, most: Duration) -> Duration {
        if self.runs < ENOUGH {
            // Until one has ended, nobody knows how long it takes to start; then twice the longest is enough.
            let longest = self.ended.iter().rposition(|ended| *ended > 0.0);
            return longest.map_or(most, |place| FIRST.max(bound(place + 2)).min(most));
        }
        let mut best = (0.0, most);
        // Of all runs, the share that goes on, and the mean time up to here.
        let (mut going, mut mean) = (1.0, 0.0);
        let mut reached: f64 = self.ended.iter().chain(&self.cut).sum();
        let mut before = Duration::ZERO;
        for place in 0..BUCKETS {
            let here = bound(place);
            let at_risk = reached - self.cut[place];
            let ends = if at_risk > 0.0 { going * self.ended[place] / at_risk } else { 0.0 };
            // Those that end in this bucket do so in its middle.
            mean += (here - before).as_secs_f64() * (going - ends / 2.0);
            going -= ends;
            reached -= self.ended[place] + self.cut[place];
            before = here;
            let rate = (1.0 - going) / mean;
            // One bucket more: the next run may be a little slower.
            if rate > best.0 * 1.001 {
                best = (rate, bound(place + 1));
            }
            if here >= most {
                break;
            }
        }
        best.1.max(FLOOR).min(most)
    }
}

fn bound(place: usize) -> Duration {
    Duration::from_secs_f64(0.001 * std::f64::consts::SQRT_2.powi(place as i32))
}

#[cfg(test)]
mod tests {
    use super::*;

    const MOST: Duration = Duration::from_secs(10);

    /// A pace after many runs that would take these times, over and over.
    fn after(times: &[u64], runs: usize) -> Pace {
        let mut pace = Pace::default();
        for number in 0..runs {
            let limit = pace.next(MOST);
            let time = Duration::from_millis(times[number % times.len()]);
            pace.record(time.min(limit), time > limit);
        }
        pace
    }

    #[test]
    fn hopeless_runs_are_cut_soon_however_many_they_are() {
        for hopeless in 0..8 {
            let mut times = [8; 10];
            times[..hopeless].fill(60_000);
            let limit = after(&times, 3000).limit(MOST);
            assert!(limit < FLOOR * 2, "{hopeless} of 10: {limit:?}");
        }
    }

    #[test]
    fn slow_solvers_have_the_time_they_need() {
        let limit = after(&[700], 1000).limit(MOST);
        assert!(limit >= Duration::from_millis(700), "{limit:?}");
        let limit = after(&[10, 1500, 1500, 1500], 3000).limit(MOST);
        assert!(limit >= Duration::from_millis(1500) || limit < FLOOR * 2, "{limit:?}");
    }

    #[test]
    fn a_solver_that_is_slow_to_start_is_waited_for_from_the_first_run() {
        let mut pace = Pace::default();
        for run in 0..ENOUGH {
            let limit = pace.next(MOST);
            assert!(limit >= Duration::from_millis(1200), "run {run}: {limit:?}");
            pace.record(Duration::from_millis(1200), false);
        }
    }

    #[test]
    fn rare_slow_answers_are_not_waited_for_by_all() {
        let mut times = [8; 40];
        times[7] = 9_000;
        assert!(after(&times, 3000).limit(MOST) < Duration::from_millis(200));
    }

    #[test]
    fn the_users_limit_is_never_exceeded() {
        let most = Duration::from_millis(40);
        let mut pace = after(&[5], 300);
        for _ in 0..300 {
            assert!(pace.next(most) <= most);
        }
    }

    #[test]
    fn what_was_long_ago_is_forgotten() {
        let mut pace = after(&[2000], 500);
        for _ in 0..6000 {
            let limit = pace.next(MOST);
            pace.record(Duration::from_millis(5).min(limit), false);
        }
        assert!(pace.limit(MOST) < FLOOR * 2, "{:?}", pace.limit(MOST));
    }
}
