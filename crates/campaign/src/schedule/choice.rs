//! Choices from counts: which engine, seed or logic comes next.
//!
//! Rewards come as a Poisson process with an unknown rate per CPU second, whose conjugate prior is the gamma
//! distribution. Drawing one rate for each choice from its posterior and taking the largest explores what is little
//! known and prefers what pays (Thompson sampling).

use generate::Rng;
use generate::bandit::{Agent as _, Arm, Exploring, ThompsonGamma};

use crate::store::{Counts, Learned};

/// A unique finding is worth as much as this many new behaviours, which early test cases show by the dozen.
const FINDING_WORTH: u64 = 100;

/// Share of the choices that are made at random, so that nothing is given up for good.
const AT_RANDOM: f64 = 0.2;

/// What counts are worth.
fn reward(findings: u64, novel: u64) -> f64 {
    (findings * FINDING_WORTH + novel) as f64
}

fn arm(counts: &Counts) -> Arm {
    let cost = counts.cpu as f64 / 1e6;
    Arm { tries: counts.rounds, reward: reward(counts.findings, counts.novel), cost }
}

/// A rate of rewards per CPU second, drawn from what is known; `prior` is the CPU seconds after which one reward is
/// expected of a choice not tried yet.
pub fn draw(counts: &Counts, rng: &mut Rng, prior: f64) -> f64 {
    ThompsonGamma { reward: 1.0, cost: prior }.draw(&arm(counts), rng)
}

/// One of the names, by Thompson sampling; now and then at random.
pub fn choose<'a>(rng: &mut Rng, names: &'a [String], kind: &str, learned: &Learned) -> Option<&'a String> {
    let arms: Vec<Arm> = names.iter().map(|name| arm(&learned.get(kind, name))).collect();
    let agent = Exploring { share: AT_RANDOM, agent: ThompsonGamma::default() };
    names.get(agent.choose(&arms, rng)?)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;
    use crate::store::ENGINE;

    #[test]
    fn what_pays_is_chosen_more_often_and_nothing_is_given_up() {
        let names = ["rich".to_owned(), "poor".to_owned(), "new".to_owned()];
        let tried = |findings| Counts { rounds: 50, tests: 5000, cpu: 100_000_000, findings, novel: 10 };
        let mut learned = Learned::default();
        learned.add(ENGINE, "rich", &tried(20));
        learned.add(ENGINE, "poor", &tried(0));
        let mut rng = generate::rng::stream(3, 2);
        let mut chosen: BTreeMap<&str, u32> = BTreeMap::new();
        for _ in 0..2000 {
            *chosen.entry(choose(&mut rng, &names, ENGINE, &learned).expect("a name")).or_default() += 1;
        }
        assert!(chosen["rich"] > 2 * chosen["poor"], "{chosen:?}");
        assert!(chosen["poor"] > 20 && chosen["new"] > 20, "{chosen:?}");
    }
}
