//! The campaign over time and over CPU time, as lines: one per engine, and one for all of them.

use std::collections::{BTreeMap, BTreeSet};

use campaign::store::{Sample, Sampler};

/// A line with its name.
#[derive(Clone, Debug, PartialEq)]
pub struct Line {
    pub name: String,
    pub points: Vec<(f64, f64)>,
}

/// What the horizontal axis is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Axis {
    /// Seconds that the campaign had run.
    Time,
    /// CPU seconds, each engine's own.
    Cpu,
}

/// Points of a line at most: more are not seen.
const POINTS: usize = 160;

/// The name of the line that has all engines together.
pub const ALL: &str = "all engines";

/// Seconds without any sample after which the campaign was not running.
const PAUSE: u64 = 300;

/// How long the campaign had run at the end of each interval: a campaign that goes on after a day has not run for a day.
#[derive(Clone, Debug)]
pub struct Clock {
    /// By the beginning of the interval.
    run: BTreeMap<u64, u64>,
    /// Seconds in which it did not run, between the first sample and the last.
    pub paused: u64,
}

impl Clock {
    /// Of a campaign that began at one moment, and was looked at at another.
    pub fn new(samples: &[Sample], started: u64, now: u64) -> Clock {
        let starts: BTreeSet<u64> = samples.iter().map(|sample| sample.at).collect();
        let sampler = Sampler::new(started);
        let mut clock = Clock { run: BTreeMap::new(), paused: 0 };
        let (mut run, mut before) = (0, started);
        for start in starts {
            // The first interval began before the campaign did, and the last may not be over.
            let end = (start + sampler.length(start)).min(now.max(start)).max(before);
            let begin = start.max(before);
            match begin - before {
                pause if pause > PAUSE => clock.paused += pause,
                gap => run += gap,
            }
            run += end - begin;
            before = end;
            clock.run.insert(start, run);
        }
        clock
    }

    fn at(&self, sample: &Sample) -> f64 {
        self.run.get(&sample.at).copied().unwrap_or_default() as f64
    }

    fn end(&self) -> f64 {
        self.run.values().next_back().copied().unwrap_or_default() as f64
    }
}

/// The sum of a count so far. The line of all engines comes first, and alone if there is only one.
pub fn cumulative(samples: &[Sample], clock: &Clock, axis: Axis, count: fn(&Sample) -> u64) -> Vec<Line> {
    let mut by_engine: BTreeMap<&str, Vec<&Sample>> = BTreeMap::new();
    for sample in samples {
        by_engine.entry(&sample.engine).or_default().push(sample);
    }
    let all: Vec<&Sample> = samples.iter().collect();
    let mut lines = vec![line(ALL, &all, clock, axis, count)];
    if by_engine.len() > 1 {
        lines.extend(by_engine.iter().map(|(name, samples)| line(name, samples, clock, axis, count)));
    }
    lines
}

fn line(name: &str, samples: &[&Sample], clock: &Clock, axis: Axis, count: fn(&Sample) -> u64) -> Line {
    let (mut cpu, mut sum) = (0, 0);
    let mut points: Vec<(f64, f64)> = vec![(0.0, 0.0)];
    let mut push = |x: f64, y: u64| match points.last_mut() {
        Some(last) if last.0 == x => last.1 = y as f64,
        _ => points.push((x, y as f64)),
    };
    for sample in samples {
        cpu += sample.cpu;
        sum += count(sample);
        push(if axis == Axis::Time { clock.at(sample) } else { cpu as f64 / 1e6 }, sum);
    }
    if axis == Axis::Time {
        // An engine that has not run lately still has what it had.
        push(clock.end(), sum);
    }
    Line { name: name.to_owned(), points: thinned(points) }
}

/// Every so manieth point, and always the last.
fn thinned(points: Vec<(f64, f64)>) -> Vec<(f64, f64)> {
    let step = points.len().div_ceil(POINTS).max(1);
    let last = points.len().saturating_sub(1);
    let kept = |(place, point): (usize, (f64, f64))| (place % step == 0 || place == last).then_some(point);
    points.into_iter().enumerate().filter_map(kept).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sample(at: u64, engine: &str, tests: u64) -> Sample {
        Sample { at, engine: engine.into(), tests, cpu: 2_000_000, ..Sample::default() }
    }

    #[test]
    fn counts_add_up_over_time_and_over_each_engines_cpu() {
        let samples = [sample(110, "diver", 3), sample(110, "storm", 1), sample(120, "diver", 4)];
        let clock = Clock::new(&samples, 103, 1000);
        let lines = cumulative(&samples, &clock, Axis::Time, |sample| sample.tests);
        let names: Vec<&str> = lines.iter().map(|line| line.name.as_str()).collect();
        assert_eq!(names, [ALL, "diver", "storm"]);
        assert_eq!(lines[0].points, [(0.0, 0.0), (17.0, 4.0), (27.0, 8.0)], "at the ends of intervals");
        assert_eq!(lines[2].points, [(0.0, 0.0), (17.0, 1.0), (27.0, 1.0)], "up to the end");
        let lines = cumulative(&samples, &clock, Axis::Cpu, |sample| sample.tests);
        assert_eq!(lines[1].points, [(0.0, 0.0), (2.0, 3.0), (4.0, 7.0)]);
        assert_eq!(cumulative(&samples[..1], &clock, Axis::Time, |sample| sample.tests).len(), 1);
    }

    #[test]
    fn a_pause_of_the_campaign_is_no_time_and_an_interval_ends_now_at_the_latest() {
        let samples = [sample(100, "diver", 3), sample(8000, "diver", 1)];
        let clock = Clock::new(&samples, 100, 8005);
        let lines = cumulative(&samples, &clock, Axis::Time, |sample| sample.tests);
        assert_eq!(lines[0].points, [(0.0, 0.0), (10.0, 3.0), (15.0, 4.0)]);
        assert_eq!(clock.paused, 7890);
        let short = [sample(100, "diver", 3), sample(160, "diver", 1)];
        assert_eq!(Clock::new(&short, 100, 1000).paused, 0, "a slow run is no pause");
    }

    #[test]
    fn a_long_campaign_keeps_its_last_point() {
        let samples: Vec<Sample> = (0..5000).map(|i| sample(600 + 60 * i, "diver", 1)).collect();
        let clock = Clock::new(&samples, 600, 10_000_000);
        let lines = cumulative(&samples, &clock, Axis::Time, |sample| sample.tests);
        assert!(lines[0].points.len() <= POINTS + 1);
        assert_eq!(lines[0].points.last(), Some(&(300_000.0, 5000.0)));
    }
}
