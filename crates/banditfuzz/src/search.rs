//! One run of performance fuzzing: from one input to the worst that is found (the paper's algorithm 1 and its baselines).

use std::str::FromStr;
use std::time::Duration;

use generate::Rng;
use generate::bandit::{Agent, Arm, ThompsonBeta};
use serde::{Deserialize, Serialize};
use solver::run::RunError;

use crate::generator::{ELITE, Generator};
use crate::learned::{AgentName, Learned, Uniform};
use crate::meter::{Meter, Outcome, Scored};
use crate::par2::{ENOUGH, perfect};
use crate::state::Memory;

/// How inputs are found.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Method {
    /// An agent learns which construct to put in, and whether to begin anew.
    #[default]
    Bandit,
    /// New inputs only.
    Random,
    /// The loop of the bandit, with every construct as likely as any other.
    Mutational,
    /// A population: the best survive, are mutated, and compete with new ones.
    Evolutionary,
}

impl Method {
    /// All, as in the paper's tables.
    pub const ALL: [Method; 4] = [Method::Bandit, Method::Random, Method::Mutational, Method::Evolutionary];

    /// As on the command line.
    pub fn word(self) -> &'static str {
        match self {
            Method::Bandit => "bandit",
            Method::Random => "random",
            Method::Mutational => "mutational",
            Method::Evolutionary => "evolutionary",
        }
    }
}

impl FromStr for Method {
    type Err = String;

    fn from_str(text: &str) -> Result<Method, String> {
        Method::ALL.into_iter().find(|method| method.word() == text).ok_or_else(|| {
            format!("'{text}' is no method; expected bandit, random, mutational or evolutionary")
        })
    }
}

/// The bandit's memory of whether new inputs or mutations pay: older steps count less and less.
const FADING: f64 = 0.98;
/// What the second bandit chooses between.
const WAYS: [&str; 2] = ["mutation", "new input"];
/// The evolutionary method's figures are the paper's.
const POPULATION: usize = 10;
const SURVIVORS: usize = 4;

/// How a run goes.
#[derive(Clone, Copy, Debug)]
pub struct SearchRules {
    pub method: Method,
    pub agent: AgentName,
    /// CPU time of solvers and of our own.
    pub budget: Duration,
}

/// What a run came to.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Found {
    /// The input with the highest score, in the standard dialect.
    pub best: Option<Best>,
    /// The same among those that the target has worked on: an `unknown` at once has a high score, but is not slow.
    #[serde(default)]
    pub slow: Option<Best>,
    /// Inputs that were measured, as far as was needed.
    pub inputs: u64,
    /// Inputs on which somebody gave no answer.
    pub unusable: u64,
    /// Inputs that are no worse for the target than the one in hand, or hard for all.
    pub below: u64,
    /// Inputs that the target is known to have solved, and those that all references are.
    #[serde(default)]
    pub target_solved: u64,
    #[serde(default)]
    pub references_solved: u64,
    /// Arms that were pulled, those included that could not be put in.
    pub mutations: u64,
    /// Arms that could not be put in: others were drawn in their place.
    pub failed_mutations: u64,
    /// CPU seconds, and the score that was reached then.
    pub curve: Vec<(f64, f64)>,
    /// Counts by construct of this run alone.
    pub learned: Learned,
    /// The same of mutations and new inputs, and of features of inputs.
    #[serde(default)]
    pub ways: Learned,
    #[serde(default)]
    pub features: Learned,
    /// How often it was begun and gone on with.
    #[serde(default)]
    pub parts: u64,
    /// CPU seconds.
    pub cpu: f64,
    /// It ended because the score can hardly get higher.
    pub perfect: bool,
    /// Inputs on which target and references contradict each other.
    pub contradictions: Vec<String>,
}

impl Found {
    /// All that was counted.
    pub fn counts(&self) -> Memory {
        Memory { constructs: self.learned.clone(), ways: self.ways.clone(), features: self.features.clone() }
    }
}

/// An input and its score.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Best {
    pub text: String,
    pub scored: Scored,
}

/// What came of an input beside the one in hand.
enum Trial {
    Better(Best),
    NoBetter,
    /// Nothing can be said, so nothing is counted and nobody is blamed.
    Unmeasured,
}

/// Contradictions kept of one run.
const CONTRADICTIONS: usize = 20;

/// A run under way.
pub struct Search<'a> {
    rules: SearchRules,
    generator: &'a mut Generator,
    meter: &'a mut Meter,
    rng: Rng,
    /// Whether the user wants to end; told the CPU time and the best score so far.
    stopped: &'a dyn Fn(f64, f64) -> bool,
    found: Found,
    /// What was known before.
    known: &'a Memory,
    /// That, and what this run has learned.
    learned: Learned,
    promise: Promise,
    /// Our own CPU time up to the last account.
    own: Option<Duration>,
}

/// Which features the slowest inputs so far have had: of new inputs every one tells something, not only those that are
/// better than the best.
#[derive(Default)]
struct Promise {
    counts: Learned,
    /// Gaps of all inputs so far, in order.
    gaps: Vec<f64>,
}

/// Inputs before one is called slow.
const ENOUGH_GAPS: usize = 10;

impl Promise {
    /// Tells whether it is among the slowest; nothing where that cannot be said, as of inputs that not everybody was given
    /// for long enough.
    fn observe(&mut self, features: &[String], outcome: &Outcome) -> Option<bool> {
        let gap = match outcome {
            Outcome::Scored(scored) => scored.gap(),
            Outcome::Below(below) => below.gap,
            Outcome::Unusable | Outcome::Contradiction | Outcome::Unmeasured => return None,
        };
        let place = |gap: f64| self.gaps.partition_point(|other| *other < gap);
        let (low, high) = (place(gap.least), place(gap.most));
        let elite = (1.0 - ELITE) * self.gaps.len() as f64;
        let (slow, place, gap) = match self.gaps.len() >= ENOUGH_GAPS {
            true if low as f64 >= elite => (true, low, gap.least),
            true if high as f64 >= elite => return None,
            _ => (false, high, gap.most),
        };
        self.gaps.insert(place, gap);
        for feature in features {
            self.counts.record(feature, slow);
        }
        Some(slow)
    }
}

impl<'a> Search<'a> {
    /// A run that begins with what is known already.
    pub fn new(
        rules: SearchRules,
        generator: &'a mut Generator,
        meter: &'a mut Meter,
        rng: Rng,
        known: &'a Memory,
        stopped: &'a dyn Fn(f64, f64) -> bool,
    ) -> Search<'a> {
        let promise = Promise { counts: known.features.clone(), gaps: Vec::new() };
        let (found, learned) = (Found::default(), known.constructs.clone());
        Search { rules, generator, meter, rng, stopped, found, known, learned, promise, own: None }
    }

    /// The same, from where a run was cut short.
    pub fn run_from(mut self, begun: Found) -> Result<Found, RunError> {
        self.learned.merge(&begun.learned);
        self.promise.counts.merge(&begun.features);
        self.found = begun;
        self.run()
    }

    /// Until the CPU time is used up, the score is as high as it gets, or the user ends it.
    pub fn run(mut self) -> Result<Found, RunError> {
        self.found.parts += 1;
        match self.rules.method {
            Method::Random => self.random()?,
            Method::Evolutionary => self.evolve()?,
            Method::Bandit => {
                let agent = self.rules.agent.agent();
                self.climb(&*agent, true)?;
            }
            Method::Mutational => self.climb(&Uniform, false)?,
        }
        self.account();
        Ok(self.found)
    }

    fn account(&mut self) {
        let own = campaign::thread_cpu();
        let spent = self.own.map_or(Duration::ZERO, |before| own.saturating_sub(before));
        self.own = Some(own);
        self.found.cpu += (self.meter.take_cpu() + spent).as_secs_f64();
    }

    fn score(&self) -> f64 {
        self.found.best.as_ref().map_or(f64::NEG_INFINITY, |best| best.scored.score)
    }

    /// The score that others have to exceed: a target that gave up at once is none to be compared with.
    fn floor(&self) -> f64 {
        self.found.slow.as_ref().map_or(f64::NEG_INFINITY, |slow| slow.scored.score)
    }

    fn over(&mut self) -> bool {
        self.account();
        self.found.perfect = self.floor() >= ENOUGH * perfect(1, self.meter.limit());
        self.found.perfect
            || self.found.cpu >= self.rules.budget.as_secs_f64()
            || (self.stopped)(self.found.cpu, self.score())
    }

    /// Whether the input is above the floor; the best is kept.
    fn try_input(&mut self, text: &str, floor: f64) -> Result<Trial, RunError> {
        let left = self.rules.budget.as_secs_f64() - self.found.cpu;
        let outcome = self.meter.measure_within(text, floor, left)?;
        if matches!(outcome, Outcome::Unmeasured) {
            return Ok(Trial::Unmeasured);
        }
        self.found.inputs += 1;
        if self.rules.method == Method::Bandit {
            let features = self.generator.features(text);
            if let Some(slow) = self.promise.observe(&features, &outcome) {
                features.iter().for_each(|feature| self.found.features.record(feature, slow));
            }
        }
        match outcome {
            Outcome::Scored(scored) => {
                self.account();
                self.found.target_solved += u64::from(scored.target.solved);
                self.found.references_solved += u64::from(scored.references.iter().all(|one| one.solved));
                let own = Best { text: text.to_owned(), scored };
                let score = own.scored.score;
                if score > self.score() {
                    self.found.curve.push((self.found.cpu, score));
                    self.found.best = Some(own.clone());
                }
                if !own.scored.is_worked(self.meter.limit()) {
                    return Ok(Trial::NoBetter);
                }
                if score > self.floor() {
                    self.found.slow = Some(own.clone());
                }
                return Ok(Trial::Better(own));
            }
            Outcome::Below(below) => {
                self.found.below += 1;
                self.found.target_solved += u64::from(below.target_solved);
                self.found.references_solved += u64::from(below.references_solved);
            }
            Outcome::Unusable => self.found.unusable += 1,
            Outcome::Contradiction => {
                self.found.unusable += 1;
                if self.found.contradictions.len() < CONTRADICTIONS {
                    self.found.contradictions.push(text.to_owned());
                }
            }
            Outcome::Unmeasured => return Ok(Trial::Unmeasured),
        }
        Ok(Trial::NoBetter)
    }

    fn random(&mut self) -> Result<(), RunError> {
        while !self.over() {
            let text = self.generator.fresh(&mut self.rng, None);
            self.try_input(&text, self.floor())?;
        }
        Ok(())
    }

    /// A first input that can be measured: the slowest so far, where a run is gone on with.
    fn first(&mut self) -> Result<Option<Best>, RunError> {
        if let Some(slow) = &self.found.slow {
            return Ok(Some(slow.clone()));
        }
        while !self.over() {
            let text = self.generator.fresh(&mut self.rng, None);
            if let Trial::Better(first) = self.try_input(&text, f64::NEG_INFINITY)? {
                return Ok(Some(first));
            }
        }
        Ok(None)
    }

    /// The paper's algorithm 1. With `restarts` a second bandit decides between a mutation and a new input, in which
    /// what made inputs slow is more likely.
    fn climb(&mut self, agent: &dyn Agent, restarts: bool) -> Result<(), RunError> {
        let Some(mut current) = self.first()? else { return Ok(()) };
        let mut ways = self.ways();
        while !self.over() {
            let way = match restarts {
                true => ThompsonBeta::default().choose(&ways, &mut self.rng).unwrap_or(0),
                false => 0,
            };
            let tried = match way {
                0 => self.mutated(agent, &current.text),
                _ => Some((self.generator.fresh(&mut self.rng, Some(&self.promise.counts)), None)),
            };
            let Some((text, arm)) = tried else { continue };
            let better = match self.try_input(&text, current.scored.score)? {
                Trial::Better(better) => Some(better),
                Trial::NoBetter => None,
                Trial::Unmeasured => continue,
            };
            if let Some(arm) = arm {
                self.found.learned.record(&arm, better.is_some());
                self.learned.record(&arm, better.is_some());
            }
            if restarts {
                self.found.ways.record(WAYS[way], better.is_some());
            }
            for arm in &mut ways {
                arm.reward *= FADING;
                arm.cost *= FADING;
            }
            ways[way].reward += f64::from(u8::from(better.is_some()));
            ways[way].cost += 1.0;
            for arm in &mut ways {
                arm.tries = arm.cost.round() as u64;
            }
            if let Some(better) = better {
                current = better;
            }
        }
        Ok(())
    }

    /// Whether mutations and new inputs have paid so far. It fades, so what is known from before counts for no more than
    /// the last steps of a long run would.
    fn ways(&self) -> [Arm; 2] {
        let mut known = self.known.ways.clone();
        known.merge(&self.found.ways);
        let arms = WAYS.map(|way| known.arms.get(way).copied().unwrap_or_default());
        let tries: u64 = arms.iter().map(|arm| arm.tries).sum();
        let share = (1.0 / (1.0 - FADING) / tries.max(1) as f64).min(1.0);
        arms.map(|arm| {
            let (reward, cost) = (arm.reward * share, arm.tries as f64 * share);
            Arm { tries: cost.round() as u64, reward, cost }
        })
    }

    /// A mutant, and the arm that was pulled.
    fn mutated(&mut self, agent: &dyn Agent, text: &str) -> Option<(String, Option<String>)> {
        let pulled = self.generator.open(text)?.pull(agent, &self.learned, &mut self.rng);
        self.found.mutations += pulled.failed + u64::from(pulled.mutant.is_some());
        self.found.failed_mutations += pulled.failed;
        pulled.mutant.map(|mutant| (mutant.text, Some(mutant.arm)))
    }

    fn evolve(&mut self) -> Result<(), RunError> {
        let mut population: Vec<Best> = self.found.slow.clone().into_iter().collect();
        while population.len() < POPULATION && !self.over() {
            let text = self.generator.fresh(&mut self.rng, None);
            if let Trial::Better(first) = self.try_input(&text, f64::NEG_INFINITY)? {
                population.push(first);
            }
        }
        while !self.over() {
            population.sort_by(|x, y| y.scored.score.total_cmp(&x.scored.score));
            population.truncate(SURVIVORS);
            for parent in &mut population {
                if self.over() {
                    return Ok(());
                }
                let Some((text, _)) = self.mutated(&Uniform, &parent.text) else { continue };
                if let Trial::Better(child) = self.try_input(&text, parent.scored.score)? {
                    *parent = child;
                }
            }
            // What does not come above the last survivor would not survive.
            let floor = population.iter().map(|best| best.scored.score).fold(f64::INFINITY, f64::min);
            for _ in population.len()..POPULATION {
                if self.over() {
                    return Ok(());
                }
                let text = self.generator.fresh(&mut self.rng, None);
                if let Trial::Better(other) = self.try_input(&text, floor)? {
                    population.push(other);
                }
            }
        }
        Ok(())
    }
}
