//! Multi-armed bandits: which of several choices to take next, by what each has cost and brought so far.
//!
//! An agent keeps nothing: it looks at counts and draws from a stream. So what many workers have learned adds up, and
//! the same counts and the same stream give the same choice.
//!
//! - [`Arm`]: the counts of one choice
//! - [`ThompsonBeta`], [`ThompsonGamma`], [`Ucb1`], [`EpsilonGreedy`]: the agents
//! - [`Exploring`]: any agent, but now and then at random
//! - [`normal`], [`gamma`], [`beta`]: the variates they draw; [`beta_quantile`]: what a posterior says

mod credible;
mod variates;

use serde::{Deserialize, Serialize};

pub use credible::beta_quantile;
pub use variates::{beta, gamma, normal};

use crate::Rng;

/// What one choice has cost and brought.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Arm {
    /// How often it was chosen.
    pub tries: u64,
    /// The sum of rewards.
    pub reward: f64,
    /// The sum of costs, for instance CPU seconds.
    pub cost: f64,
}

impl Arm {
    /// Adds what was counted elsewhere.
    pub fn add(&mut self, other: &Arm) {
        self.tries += other.tries;
        self.reward += other.reward;
        self.cost += other.cost;
    }

    /// Reward per try; `None` before the first.
    pub fn mean(&self) -> Option<f64> {
        (self.tries > 0).then(|| self.reward / self.tries as f64)
    }
}

/// A rule of choice.
pub trait Agent: Send + Sync {
    /// The number of an arm; `None` only if there is none.
    fn choose(&self, arms: &[Arm], rng: &mut Rng) -> Option<usize>;
}

/// Thompson sampling on probabilities of success: a try brings a reward between 0 and 1. A probability is drawn for
/// each arm from its beta posterior, and the largest is taken (Thompson 1933).
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct ThompsonBeta {
    /// Successes and failures assumed of an arm that was never tried; positive.
    pub successes: f64,
    pub failures: f64,
}

impl Default for ThompsonBeta {
    fn default() -> ThompsonBeta {
        ThompsonBeta { successes: 1.0, failures: 1.0 }
    }
}

impl ThompsonBeta {
    /// A probability of success, drawn from what is known of the arm.
    pub fn draw(&self, arm: &Arm, rng: &mut Rng) -> f64 {
        let reward = known(arm.reward).min(arm.tries as f64);
        beta(rng, self.successes + reward, self.failures + arm.tries as f64 - reward)
    }
}

impl Agent for ThompsonBeta {
    fn choose(&self, arms: &[Arm], rng: &mut Rng) -> Option<usize> {
        let draws: Vec<f64> = arms.iter().map(|arm| self.draw(arm, rng)).collect();
        highest(&draws, rng)
    }
}

/// Thompson sampling on rewards per cost: rewards come as a Poisson process with an unknown rate, whose conjugate prior
/// is the gamma distribution. A rate is drawn for each arm, and the largest is taken.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct ThompsonGamma {
    /// Reward and cost assumed of an arm that was never tried; positive.
    pub reward: f64,
    pub cost: f64,
}

impl Default for ThompsonGamma {
    fn default() -> ThompsonGamma {
        ThompsonGamma { reward: 1.0, cost: 1.0 }
    }
}

impl ThompsonGamma {
    /// A rate of rewards, drawn from what is known of the arm.
    pub fn draw(&self, arm: &Arm, rng: &mut Rng) -> f64 {
        gamma(rng, self.reward + known(arm.reward)) / (self.cost + known(arm.cost))
    }
}

impl Agent for ThompsonGamma {
    fn choose(&self, arms: &[Arm], rng: &mut Rng) -> Option<usize> {
        let draws: Vec<f64> = arms.iter().map(|arm| self.draw(arm, rng)).collect();
        highest(&draws, rng)
    }
}

/// The highest upper confidence bound of the mean reward, which lies between 0 and 1 (Auer, Cesa-Bianchi, Fischer:
/// Finite-time Analysis of the Multiarmed Bandit Problem, 2002). Arms that were never tried come first.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Ucb1 {
    /// Times the width of the confidence interval; √2 is the paper's.
    pub width: f64,
}

impl Default for Ucb1 {
    fn default() -> Ucb1 {
        Ucb1 { width: std::f64::consts::SQRT_2 }
    }
}

impl Agent for Ucb1 {
    fn choose(&self, arms: &[Arm], rng: &mut Rng) -> Option<usize> {
        let total: u64 = arms.iter().map(|arm| arm.tries).sum();
        let bound = |arm: &Arm| match arm.mean() {
            Some(mean) => known(mean) + self.width * ((total as f64).ln() / arm.tries as f64).sqrt(),
            None => f64::INFINITY,
        };
        let bounds: Vec<f64> = arms.iter().map(bound).collect();
        highest(&bounds, rng)
    }
}

/// The highest mean reward, but at random with probability `epsilon`. Arms that were never tried come first.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct EpsilonGreedy {
    pub epsilon: f64,
}

impl Default for EpsilonGreedy {
    fn default() -> EpsilonGreedy {
        EpsilonGreedy { epsilon: 0.1 }
    }
}

impl Agent for EpsilonGreedy {
    fn choose(&self, arms: &[Arm], rng: &mut Rng) -> Option<usize> {
        if rng.chance(self.epsilon) {
            return at_random(arms, rng);
        }
        let means: Vec<f64> = arms.iter().map(|arm| arm.mean().map_or(f64::INFINITY, known)).collect();
        highest(&means, rng)
    }
}

/// Another agent, but a share of the choices is made at random, so that nothing is given up for good.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Exploring<A> {
    /// Probability of a random choice.
    pub share: f64,
    pub agent: A,
}

impl<A: Agent> Agent for Exploring<A> {
    fn choose(&self, arms: &[Arm], rng: &mut Rng) -> Option<usize> {
        if rng.chance(self.share) {
            return at_random(arms, rng);
        }
        self.agent.choose(arms, rng)
    }
}

fn at_random(arms: &[Arm], rng: &mut Rng) -> Option<usize> {
    (!arms.is_empty()).then(|| rng.below(arms.len()))
}

/// Counts come from files too: what is no count is none.
fn known(count: f64) -> f64 {
    if count.is_finite() { count.max(0.0) } else { 0.0 }
}

/// The place of the highest score; among equal ones at random.
fn highest(scores: &[f64], rng: &mut Rng) -> Option<usize> {
    let best = scores.iter().copied().reduce(f64::max)?;
    let places: Vec<usize> = (0..scores.len()).filter(|place| scores[*place] == best).collect();
    match places.as_slice() {
        [only] => Some(*only),
        several => rng.pick(several).copied(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rng;

    /// Probabilities of success; the last is the best.
    const SUCCESS: [f64; 3] = [0.1, 0.3, 0.6];

    fn agents() -> Vec<(&'static str, Box<dyn Agent>)> {
        vec![
            ("thompson beta", Box::new(ThompsonBeta::default())),
            ("thompson gamma", Box::new(ThompsonGamma::default())),
            ("ucb1", Box::new(Ucb1::default())),
            ("epsilon greedy", Box::new(EpsilonGreedy::default())),
            ("exploring", Box::new(Exploring { share: 0.2, agent: ThompsonBeta::default() })),
        ]
    }

    /// Lets an agent learn; a try costs one.
    fn play(agent: &dyn Agent, tries: usize, stream: u64) -> [Arm; 3] {
        let mut rng = rng::stream(4, stream);
        let mut arms = [Arm::default(); 3];
        for _ in 0..tries {
            let chosen = agent.choose(&arms, &mut rng).expect("an arm");
            let reward = f64::from(u8::from(rng.chance(SUCCESS[chosen])));
            arms[chosen].add(&Arm { tries: 1, reward, cost: 1.0 });
        }
        arms
    }

    #[test]
    fn every_agent_comes_to_prefer_the_best_arm() {
        for (name, agent) in agents() {
            let arms = play(agent.as_ref(), 3_000, 0);
            assert!(arms[2].tries > 2_000, "{name}: {arms:?}");
            assert!(arms.iter().all(|arm| arm.tries > 0), "{name} gives up too early: {arms:?}");
        }
    }

    /// Reward that is missed beside always pulling the best arm, in expectation, mean over some plays.
    fn regret(agent: &dyn Agent, tries: usize) -> f64 {
        let plays = 20;
        let missed = |arms: [Arm; 3]| -> f64 {
            arms.iter().zip(SUCCESS).map(|(arm, p)| arm.tries as f64 * (SUCCESS[2] - p)).sum()
        };
        (0..plays).map(|stream| missed(play(agent, tries, 100 + stream))).sum::<f64>() / plays as f64
    }

    #[test]
    fn regret_grows_with_the_logarithm_where_that_of_uniform_choice_grows_with_the_tries() {
        let uniform = |tries: usize| tries as f64 * SUCCESS.iter().map(|p| SUCCESS[2] - p).sum::<f64>() / 3.0;
        let pessimist = ThompsonBeta { successes: 0.1, failures: 4.0 };
        let agents: [(&str, Box<dyn Agent>); 3] = [
            ("thompson", Box::new(ThompsonBeta::default())),
            ("thompson, pessimistic", Box::new(pessimist)),
            ("ucb1", Box::new(Ucb1::default())),
        ];
        for (name, agent) in agents {
            let (short, long) = (regret(agent.as_ref(), 500), regret(agent.as_ref(), 4_000));
            assert!(short < uniform(500) / 2.0, "{name}: {short} of {}", uniform(500));
            assert!(long < uniform(4_000) / 8.0, "{name}: {long} of {}", uniform(4_000));
            // Eight times the tries, less than three times the regret.
            assert!(long < 3.0 * short, "{name}: {short}, then {long}");
        }
        // With a fixed share of random choices regret grows with the tries, at that share of the uniform one's rate.
        let greedy = EpsilonGreedy { epsilon: 0.33 };
        let long = regret(&greedy, 4_000);
        assert!(long < 0.45 * uniform(4_000), "{long} of {}", uniform(4_000));
        assert!(long > 0.25 * uniform(4_000), "{long} of {}", uniform(4_000));
    }

    #[test]
    fn the_same_counts_and_stream_give_the_same_choices() {
        for (name, agent) in agents() {
            assert_eq!(play(agent.as_ref(), 200, 1), play(agent.as_ref(), 200, 1), "{name}");
        }
    }

    #[test]
    fn without_arms_there_is_no_choice() {
        let mut rng = rng::stream(4, 2);
        for (name, agent) in agents() {
            for _ in 0..50 {
                assert_eq!(agent.choose(&[], &mut rng), None, "{name}");
            }
        }
    }

    #[test]
    fn equal_arms_are_chosen_equally_often() {
        let mut rng = rng::stream(4, 3);
        for (name, agent) in agents() {
            for arm in [Arm::default(), Arm { tries: 10, reward: 3.0, cost: 10.0 }] {
                let mut chosen = [0; 4];
                for _ in 0..4_000 {
                    chosen[agent.choose(&[arm; 4], &mut rng).expect("an arm")] += 1;
                }
                assert!(chosen.iter().all(|count| (850..1_150).contains(count)), "{name}: {chosen:?}");
            }
        }
    }

    #[test]
    fn thompson_sampling_on_rates_counts_costs_and_not_tries() {
        let cheap = Arm { tries: 10, reward: 20.0, cost: 10.0 };
        let dear = Arm { tries: 10, reward: 20.0, cost: 100.0 };
        let mut rng = rng::stream(4, 4);
        let agent = ThompsonGamma::default();
        let chosen = (0..1_000).filter(|_| agent.choose(&[dear, cheap], &mut rng) == Some(1)).count();
        assert!(chosen > 950, "{chosen}");
    }

    #[test]
    fn draws_follow_the_posterior_mean() {
        let mut rng = rng::stream(4, 5);
        let arm = Arm { tries: 40, reward: 9.0, cost: 4.0 };
        let mean = |draws: Vec<f64>| draws.iter().sum::<f64>() / draws.len() as f64;
        let agent = ThompsonBeta::default();
        let probability = mean((0..10_000).map(|_| agent.draw(&arm, &mut rng)).collect());
        assert!((probability - 10.0 / 42.0).abs() < 0.01, "{probability}");
        let agent = ThompsonGamma::default();
        let rate = mean((0..10_000).map(|_| agent.draw(&arm, &mut rng)).collect());
        assert!((rate - 2.0).abs() < 0.05, "{rate}");
    }

    #[test]
    fn counts_that_are_no_numbers_do_no_harm() {
        let mut rng = rng::stream(4, 6);
        let odd = [
            Arm { tries: 3, reward: f64::NAN, cost: f64::INFINITY },
            Arm { tries: 1, reward: -5.0, cost: -1.0 },
            Arm { tries: 2, reward: 1e300, cost: 0.0 },
        ];
        for (name, agent) in agents() {
            for _ in 0..50 {
                assert!(agent.choose(&odd, &mut rng).is_some_and(|chosen| chosen < 3), "{name}");
            }
        }
    }
}
