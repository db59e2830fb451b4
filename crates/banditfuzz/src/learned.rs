//! What the bandit has learned: counts by construct, which add up across runs, workers and machines.

use std::collections::BTreeMap;
use std::str::FromStr;

use generate::Rng;
use generate::bandit::{Agent, Arm, EpsilonGreedy, ThompsonBeta, Ucb1, beta_quantile};
use serde::{Deserialize, Serialize};

/// Counts by construct. Rewards are 0 or 1.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Learned {
    pub arms: BTreeMap<String, Arm>,
}

impl Learned {
    /// Counts that an arm was pulled.
    pub fn record(&mut self, arm: &str, rewarded: bool) {
        let reward = f64::from(u8::from(rewarded));
        self.arms.entry(arm.to_owned()).or_default().add(&Arm { tries: 1, reward, cost: 1.0 });
    }

    /// Adds what was learned elsewhere.
    pub fn merge(&mut self, other: &Learned) {
        for (name, arm) in &other.arms {
            self.arms.entry(name.clone()).or_default().add(arm);
        }
    }

    /// The counts of these arms, in order.
    pub fn of<'a>(&self, names: impl Iterator<Item = &'a str>) -> Vec<Arm> {
        names.map(|name| self.arms.get(name).copied().unwrap_or_default()).collect()
    }

    /// The mean of an arm's posterior, from a uniform prior.
    pub fn expected(arm: &Arm) -> f64 {
        let (a, b) = posterior(arm);
        a / (a + b)
    }

    /// The constructs, the most rewarding first, those without any reward last.
    pub fn ranking(&self) -> Vec<Ranked> {
        let mut ranked: Vec<Ranked> = self
            .arms
            .iter()
            .filter(|(_, arm)| arm.tries > 0)
            .map(|(name, arm)| {
                let (a, b) = posterior(arm);
                Ranked {
                    construct: name.clone(),
                    expected: a / (a + b),
                    low: beta_quantile(a, b, 0.025),
                    high: beta_quantile(a, b, 0.975),
                    pulls: arm.tries,
                    rewards: arm.reward as u64,
                }
            })
            .collect();
        // By what is known at least: an arm that was pulled once has a high mean and says little.
        ranked.sort_by(|x, y| {
            let rewarded = |one: &Ranked| one.rewards > 0;
            rewarded(y)
                .cmp(&rewarded(x))
                .then_with(|| y.low.total_cmp(&x.low))
                .then_with(|| x.construct.cmp(&y.construct))
        });
        ranked
    }
}

/// Parameters of the beta posterior: one success and one failure before anything is known.
pub fn posterior(arm: &Arm) -> (f64, f64) {
    let tries = arm.tries as f64;
    let reward = if arm.reward.is_finite() { arm.reward.clamp(0.0, tries) } else { 0.0 };
    (1.0 + reward, 1.0 + tries - reward)
}

/// A construct in its place.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Ranked {
    pub construct: String,
    /// Expected reward.
    pub expected: f64,
    /// The interval that holds it with a probability of 95 %.
    pub low: f64,
    pub high: f64,
    pub pulls: u64,
    pub rewards: u64,
}

/// Who chooses the construct.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum AgentName {
    /// Thompson sampling that takes constructs for unrewarding until they are rewarded.
    #[default]
    Thompson,
    /// Thompson sampling from a uniform prior, as in the paper.
    ThompsonUniform,
    Ucb1,
    Egreedy,
}

/// Rewards are rare and pulls are few: a run has some hundreds for some sixty arms. From a uniform prior each arm would have
/// to fail ten times before it counts for less than one that pays every tenth time. This is for choices only; what is shown
/// is the posterior of a uniform prior.
const PESSIMISTIC: ThompsonBeta = ThompsonBeta { successes: 0.1, failures: 4.0 };

/// The share of random choices in the authors' program.
const EPSILON: f64 = 0.33;

impl AgentName {
    pub fn agent(self) -> Box<dyn Agent> {
        match self {
            AgentName::Thompson => Box::new(PESSIMISTIC),
            AgentName::ThompsonUniform => Box::new(ThompsonBeta::default()),
            AgentName::Ucb1 => Box::new(Ucb1::default()),
            AgentName::Egreedy => Box::new(EpsilonGreedy { epsilon: EPSILON }),
        }
    }
}

impl FromStr for AgentName {
    type Err = String;

    fn from_str(text: &str) -> Result<AgentName, String> {
        match text {
            "thompson" => Ok(AgentName::Thompson),
            "thompson-uniform" => Ok(AgentName::ThompsonUniform),
            "ucb1" => Ok(AgentName::Ucb1),
            "egreedy" => Ok(AgentName::Egreedy),
            _ => Err(format!("'{text}' is no agent; expected thompson, thompson-uniform, ucb1 or egreedy")),
        }
    }
}

/// Every construct with the same probability: what mutational fuzzing does.
pub struct Uniform;

impl Agent for Uniform {
    fn choose(&self, arms: &[Arm], rng: &mut Rng) -> Option<usize> {
        (!arms.is_empty()).then(|| rng.below(arms.len()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn learned(counts: &[(&str, u64, u64)]) -> Learned {
        let mut learned = Learned::default();
        for (name, pulls, rewards) in counts {
            for pull in 0..*pulls {
                learned.record(name, pull < *rewards);
            }
        }
        learned
    }

    #[test]
    fn the_posterior_is_that_of_the_counts() {
        let learned = learned(&[("fp.rem", 10, 7)]);
        assert_eq!(posterior(&learned.arms["fp.rem"]), (8.0, 4.0));
        assert_eq!(Learned::expected(&learned.arms["fp.rem"]), 8.0 / 12.0);
        assert_eq!(posterior(&Arm::default()), (1.0, 1.0));
        let ranked = &learned.ranking()[0];
        assert_eq!((ranked.pulls, ranked.rewards), (10, 7));
        assert!(ranked.low < ranked.expected && ranked.expected < ranked.high);
    }

    #[test]
    fn states_add_up_whatever_their_order_and_survive_a_file() {
        let (one, other) = (learned(&[("a", 3, 1), ("b", 2, 2)]), learned(&[("b", 4, 1), ("c", 1, 0)]));
        let (mut left, mut right) = (one.clone(), other.clone());
        left.merge(&other);
        right.merge(&one);
        assert_eq!(left, right);
        assert_eq!((left.arms["b"].tries, left.arms["b"].reward), (6, 3.0));
        let text = serde_json::to_string(&left).expect("JSON");
        assert_eq!(serde_json::from_str::<Learned>(&text).expect("read"), left);
    }

    #[test]
    fn what_is_known_decides_more_than_one_lucky_pull() {
        let learned = learned(&[("lucky", 1, 1), ("steady", 100, 80), ("poor", 100, 5)]);
        let names: Vec<String> = learned.ranking().into_iter().map(|ranked| ranked.construct).collect();
        assert_eq!(names, ["steady", "lucky", "poor"]);
    }

    #[test]
    fn what_was_never_rewarded_comes_after_all_that_was() {
        let learned = learned(&[("untold", 1, 0), ("rare", 200, 2), ("never", 40, 0)]);
        let names: Vec<String> = learned.ranking().into_iter().map(|ranked| ranked.construct).collect();
        assert_eq!(names, ["rare", "untold", "never"]);
    }

    /// Pulls of sixty arms, of which six pay three times in ten, and what is missed beside pulling one of these.
    fn regret(agent: &dyn Agent, pulls: usize) -> f64 {
        const PAYS: f64 = 0.3;
        let pays = |arm: usize| if arm < 6 { PAYS } else { 0.01 };
        let plays = 12;
        let mut missed = 0.0;
        for stream in 0..plays {
            let mut rng = generate::rng::stream(9, stream);
            let mut arms = vec![Arm::default(); 60];
            for _ in 0..pulls {
                let chosen = agent.choose(&arms, &mut rng).expect("an arm");
                let reward = f64::from(u8::from(rng.chance(pays(chosen))));
                arms[chosen].add(&Arm { tries: 1, reward, cost: 1.0 });
                missed += PAYS - pays(chosen);
            }
        }
        missed / plays as f64
    }

    #[test]
    fn with_many_arms_and_rare_rewards_the_pessimist_misses_less() {
        let of = |name: AgentName| regret(&*name.agent(), 600);
        let (pessimist, paper, uniform) =
            (of(AgentName::Thompson), of(AgentName::ThompsonUniform), regret(&Uniform, 600));
        assert!(pessimist < 0.8 * paper && paper < uniform, "{pessimist}, {paper}, {uniform}");
        // Longer plays are no worse for it: it finds the arms that pay.
        let long = regret(&*AgentName::Thompson.agent(), 4_800);
        assert!(long < 3.0 * pessimist, "{pessimist}, then {long}");
    }
}
