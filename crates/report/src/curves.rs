//! The campaign over time and over CPU time, as lines: one per engine, and one for all of them.

use std::collections::BTreeMap;

use campaign::store::Sample;

/// A line with its name.
#[derive(Clone, Debug, PartialEq)]
pub struct Line {
    pub name: String,
    pub points: Vec<(f64, f64)>,
}

/// What the horizontal axis is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Axis {
    /// Seconds since the campaign began.
    Time,
    /// CPU seconds, each engine's own.
    Cpu,
}

/// Points of a line at most: more are not seen.
const POINTS: usize = 160;

/// The name of the line that has all engines together.
pub const ALL: &str = "all engines";

/// The sum of a count so far. The line of all engines comes first, and alone if there is only one.
pub fn cumulative(samples: &[Sample], started: u64, axis: Axis, count: fn(&Sample) -> u64) -> Vec<Line> {
    let mut by_engine: BTreeMap<&str, Vec<&Sample>> = BTreeMap::new();
    for sample in samples {
        by_engine.entry(&sample.engine).or_default().push(sample);
    }
    let all: Vec<&Sample> = samples.iter().collect();
    let mut lines = vec![line(ALL, &all, started, axis, count)];
    if by_engine.len() > 1 {
        lines.extend(by_engine.iter().map(|(name, samples)| line(name, samples, started, axis, count)));
    }
    lines
}

fn line(name: &str, samples: &[&Sample], started: u64, axis: Axis, count: fn(&Sample) -> u64) -> Line {
    let (mut cpu, mut sum) = (0, 0);
    let mut points: Vec<(f64, f64)> = vec![(0.0, 0.0)];
    for sample in samples {
        cpu += sample.cpu;
        sum += count(sample);
        let x = match axis {
            Axis::Time => sample.at.saturating_sub(started) as f64,
            Axis::Cpu => cpu as f64 / 1e6,
        };
        match points.last_mut() {
            Some(last) if last.0 == x => last.1 = sum as f64,
            _ => points.push((x, sum as f64)),
        }
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
        let lines = cumulative(&samples, 100, Axis::Time, |sample| sample.tests);
        let names: Vec<&str> = lines.iter().map(|line| line.name.as_str()).collect();
        assert_eq!(names, [ALL, "diver", "storm"]);
        assert_eq!(lines[0].points, [(0.0, 0.0), (10.0, 4.0), (20.0, 8.0)]);
        let lines = cumulative(&samples, 100, Axis::Cpu, |sample| sample.tests);
        assert_eq!(lines[1].points, [(0.0, 0.0), (2.0, 3.0), (4.0, 7.0)]);
        assert_eq!(cumulative(&samples[..1], 100, Axis::Time, |sample| sample.tests).len(), 1);
    }

    #[test]
    fn a_long_campaign_keeps_its_last_point() {
        let samples: Vec<Sample> = (0..5000).map(|i| sample(100 + 10 * i, "diver", 1)).collect();
        let lines = cumulative(&samples, 100, Axis::Time, |sample| sample.tests);
        assert!(lines[0].points.len() <= POINTS + 1);
        assert_eq!(lines[0].points.last(), Some(&(49_990.0, 5000.0)));
    }
}
