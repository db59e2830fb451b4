//! Learned state: counts by name, nothing else, so that what many workers learn adds up.
//!
//! The scheduler is Thompson sampling on rewards per CPU second: rewards come as a Poisson process with an unknown
//! rate, whose conjugate prior is the gamma distribution. Drawing one rate for each choice from its posterior and
//! taking the largest explores what is little known and prefers what pays.

use std::collections::BTreeMap;
use std::time::Duration;

use generate::Rng;
use serde::{Deserialize, Serialize};

/// What one choice (an engine, a seed, a logic) has cost and brought.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Counts {
    pub rounds: u64,
    pub tests: u64,
    /// CPU time of solvers and our own, in microseconds.
    pub cpu: u64,
    /// Unique findings.
    pub findings: u64,
    /// Test cases that made some solver behave in a new way.
    pub novel: u64,
}

/// A unique finding is worth as much as this many new behaviours, which early test cases show by the dozen.
const FINDING_WORTH: u64 = 100;

/// Share of the choices that are made at random, so that nothing is given up for good.
const AT_RANDOM: f64 = 0.2;

impl Counts {
    pub fn add(&mut self, other: &Counts) {
        self.rounds += other.rounds;
        self.tests += other.tests;
        self.cpu += other.cpu;
        self.findings += other.findings;
        self.novel += other.novel;
    }

    pub fn cpu_time(&self) -> Duration {
        Duration::from_micros(self.cpu)
    }

    fn reward(&self) -> f64 {
        (self.findings * FINDING_WORTH + self.novel) as f64
    }

    /// A rate of rewards per CPU second, drawn from what is known; `prior` is the CPU seconds after which one reward
    /// is expected of a choice not tried yet.
    pub fn draw(&self, rng: &mut Rng, prior: f64) -> f64 {
        gamma(rng, 1.0 + self.reward()) / (prior + self.cpu as f64 / 1e6)
    }
}

/// All counts, by kind of choice and name.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Learned {
    pub engines: BTreeMap<String, Counts>,
    pub logics: BTreeMap<String, Counts>,
}

impl Learned {
    /// Adds what another worker, or an earlier run, has counted.
    pub fn add(&mut self, other: &Learned) {
        for (name, counts) in &other.engines {
            self.engines.entry(name.clone()).or_default().add(counts);
        }
        for (name, counts) in &other.logics {
            self.logics.entry(name.clone()).or_default().add(counts);
        }
    }
}

/// One of the names, by Thompson sampling; now and then at random.
pub fn choose<'a>(
    rng: &mut Rng,
    names: &'a [String],
    counts: &BTreeMap<String, Counts>,
) -> Option<&'a String> {
    if rng.chance(AT_RANDOM) {
        return rng.pick(names);
    }
    let mut best: Option<(f64, &String)> = None;
    for name in names {
        let rate = counts.get(name).copied().unwrap_or_default().draw(rng, 1.0);
        if best.is_none_or(|(highest, _)| rate > highest) {
            best = Some((rate, name));
        }
    }
    best.map(|(_, name)| name)
}

/// A gamma variate with this shape (at least 1) and scale 1, by Marsaglia and Tsang's method (2000).
fn gamma(rng: &mut Rng, shape: f64) -> f64 {
    let d = shape - 1.0 / 3.0;
    let c = 1.0 / (9.0 * d).sqrt();
    loop {
        let x = normal(rng);
        let v = (1.0 + c * x).powi(3);
        let u = 1.0 - rng.unit();
        if v > 0.0 && u.ln() < 0.5 * x * x + d - d * v + d * v.ln() {
            return d * v;
        }
    }
}

/// A standard normal variate, by Box and Muller's method.
fn normal(rng: &mut Rng) -> f64 {
    let radius = (-2.0 * (1.0 - rng.unit()).ln()).sqrt();
    radius * (std::f64::consts::TAU * rng.unit()).cos()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn gamma_variates_have_the_mean_and_variance_of_their_shape() {
        let mut rng = generate::rng::stream(3, 1);
        for shape in [1.0, 4.0, 50.0] {
            let draws: Vec<f64> = (0..20_000).map(|_| gamma(&mut rng, shape)).collect();
            let mean = draws.iter().sum::<f64>() / draws.len() as f64;
            let variance = draws.iter().map(|x| (x - mean).powi(2)).sum::<f64>() / draws.len() as f64;
            assert!((mean / shape - 1.0).abs() < 0.05, "{shape}: mean {mean}");
            assert!((variance / shape - 1.0).abs() < 0.1, "{shape}: variance {variance}");
        }
    }

    #[test]
    fn what_pays_is_chosen_more_often_and_nothing_is_given_up() {
        let names = ["rich".to_owned(), "poor".to_owned(), "new".to_owned()];
        let tried = |findings| Counts { rounds: 50, tests: 5000, cpu: 100_000_000, findings, novel: 10 };
        let counts = BTreeMap::from([("rich".to_owned(), tried(20)), ("poor".to_owned(), tried(0))]);
        let mut rng = generate::rng::stream(3, 2);
        let mut chosen: BTreeMap<&str, u32> = BTreeMap::new();
        for _ in 0..2000 {
            *chosen.entry(choose(&mut rng, &names, &counts).expect("a name")).or_default() += 1;
        }
        assert!(chosen["rich"] > 2 * chosen["poor"], "{chosen:?}");
        assert!(chosen["poor"] > 20 && chosen["new"] > 20, "{chosen:?}");
    }

    #[test]
    fn states_of_two_workers_add_up_in_any_order() {
        let of = |name: &str, tests| Learned {
            engines: BTreeMap::from([(name.to_owned(), Counts { tests, ..Counts::default() })]),
            ..Learned::default()
        };
        let (mut one, mut other) = (of("a", 1), of("b", 2));
        one.add(&of("b", 2));
        other.add(&of("a", 1));
        assert_eq!(one, other);
    }
}
