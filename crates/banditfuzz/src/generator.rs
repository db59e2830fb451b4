//! Inputs from nothing, or from seeds: texts in the standard dialect.

use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::ops::RangeInclusive;
use std::sync::Arc;

use generate::bandit::{Agent, ThompsonBeta};
use generate::{Config, Grammar, GrammarError, Rng};
use serde::{Deserialize, Serialize};
use smtlib::theory::{Row, SortPattern, table};
use smtlib::{Mark, Mode, Release, Script, Sort, Store, Term, print};

use crate::construct::{Class, Construct};
use crate::fill::filled;
use crate::learned::Learned;
use crate::mutate::{Arms, Choices, Mutator};

/// Weight of connectives and equality beside the operators of theories: an assertion is mostly one predicate, as in the
/// paper.
const CORE: f64 = 0.15;

/// The generator's parameters (the paper's section 3.2).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Parameters {
    pub logic: String,
    /// Free constants.
    pub variables: RangeInclusive<usize>,
    pub assertions: RangeInclusive<usize>,
    /// Levels of operators of an assertion.
    pub depth: RangeInclusive<usize>,
    /// Only these operators, where there are any.
    pub operators: Vec<String>,
    /// Weights of operators and theories instead of uniform choice.
    pub weights: BTreeMap<String, f64>,
    pub arms: Arms,
}

impl Default for Parameters {
    fn default() -> Parameters {
        Parameters {
            logic: "QF_FP".to_owned(),
            variables: 2..=4,
            assertions: 1..=3,
            depth: 2..=3,
            operators: Vec::new(),
            weights: BTreeMap::new(),
            arms: Arms::Constructs,
        }
    }
}

/// The share of inputs that count as slow when it is learned what makes inputs slow.
pub const ELITE: f64 = 0.15;
/// How much is assumed of what was never seen, in inputs.
const PRIOR: f64 = 4.0;
/// Bounds of the factors by which weights are changed.
const FACTORS: (f64, f64) = (0.05, 8.0);
/// Names of sizes among the features of inputs.
const ASSERTIONS: &str = "assertions";
const DEPTH: &str = "depth";

/// A share of slow inputs, drawn from what is known of a feature.
fn draw(rng: &mut Rng, promise: &Learned, feature: &str) -> f64 {
    let arm = promise.arms.get(feature).copied().unwrap_or_default();
    ThompsonBeta { successes: PRIOR * ELITE, failures: PRIOR * (1.0 - ELITE) }.draw(&arm, rng)
}

/// The size with the highest share drawn.
fn promising(rng: &mut Rng, promise: &Learned, name: &str, sizes: RangeInclusive<usize>) -> usize {
    let least = *sizes.start();
    let drawn = sizes.map(|size| (size, draw(rng, promise, &format!("{name} {size}"))));
    drawn.max_by(|x, y| x.1.total_cmp(&y.1)).map_or(least, |(size, _)| size)
}

/// Makes and changes inputs. One per worker: it has a store of its own.
pub struct Generator {
    parameters: Parameters,
    grammar: Grammar,
    mutator: Mutator,
    seeds: Arc<[Arc<str>]>,
    store: Store,
    clean: Mark,
}

impl Generator {
    /// For inputs that all these releases read. With seeds, inputs begin with one of them.
    pub fn new(
        parameters: &Parameters,
        releases: &[Release],
        seeds: Arc<[Arc<str>]>,
    ) -> Result<Generator, GrammarError> {
        let grammar = Grammar::new(&parameters.logic, releases, config(parameters)?)?;
        let mutator = Mutator::new(grammar.clone(), parameters.arms, *parameters.depth.end());
        let store = Store::new();
        let clean = store.mark();
        Ok(Generator { parameters: parameters.clone(), grammar, mutator, seeds, store, clean })
    }

    /// The names of all constructs that can be put into inputs.
    pub fn constructs(&self) -> Vec<String> {
        self.mutator.constructs()
    }

    /// Does the grammar have an operator of this name?
    pub fn has(&self, name: &str) -> bool {
        table().rows().iter().any(|row| is_called(row, name) && self.grammar.allows(row.op))
    }

    /// A new input: a seed, where there are some. Where something has been learned, what made inputs slow is more likely,
    /// and half of the inputs are generated though there are seeds.
    pub fn fresh(&mut self, rng: &mut Rng, promise: Option<&Learned>) -> String {
        let seeded = !self.seeds.is_empty() && (promise.is_none() || rng.chance(0.5));
        if let Some(seed) = seeded.then(|| rng.pick(&self.seeds)).flatten() {
            return seed.to_string();
        }
        self.store.reset(&self.clean);
        let Parameters { variables, assertions, depth, .. } = &self.parameters;
        let variables = rng.between(*variables.start(), *variables.end());
        let grammar = match promise {
            None => {
                let assertions = rng.between(*assertions.start(), *assertions.end());
                let depth = rng.between(*depth.start(), *depth.end());
                self.grammar.sized(variables, assertions, depth)
            }
            Some(promise) => {
                let assertions = promising(rng, promise, ASSERTIONS, assertions.clone());
                let depth = promising(rng, promise, DEPTH, depth.clone());
                self.favouring(rng, promise).sized(variables, assertions, depth)
            }
        };
        let mut script = filled(&grammar, &mut self.store, rng);
        smtlib::logic::widen(&mut self.store, &mut script);
        print::print(&self.store, &script, Release::STANDARD)
    }

    /// The grammar with weights drawn from what is known of each operator.
    fn favouring(&self, rng: &mut Rng, promise: &Learned) -> Grammar {
        let mut config = self.grammar.config().clone();
        for row in table().rows().iter().filter(|row| self.grammar.allows(row.op) && !row.args.is_empty()) {
            let own = config.operators.get(row.variant).or_else(|| config.operators.get(row.name));
            let own = own.copied().unwrap_or_else(|| self.grammar.weight(row.op));
            let factor = draw(rng, promise, &Construct::Operator(row.op).to_string()) / ELITE;
            config.operators.insert(row.variant.to_owned(), own * factor.clamp(FACTORS.0, FACTORS.1));
        }
        self.grammar.with_config(config).unwrap_or_else(|_| self.grammar.clone())
    }

    /// What an input is made of, for the counts that [`Generator::fresh`] goes by.
    pub fn features(&mut self, text: &str) -> Vec<String> {
        self.store.reset(&self.clean);
        let Ok(parsed) = smtlib::parse(&mut self.store, text.as_bytes(), Mode::Tolerant) else {
            return Vec::new();
        };
        let roots: Vec<Term> = parsed.script.assertions().collect();
        let assertions = roots.len();
        let mut operators = BTreeSet::new();
        // Level by level. A constant is a leaf, however it is written: `(fp #b0 ...)` is no operator over others.
        let (mut level, mut depth) = (roots, 0);
        while !level.is_empty() {
            let inner: Vec<Term> = level
                .into_iter()
                .filter(|term| Class::of(&self.store, *term).is_none())
                .filter(|term| !self.store.args(*term).is_empty())
                .collect();
            depth += usize::from(!inner.is_empty());
            operators.extend(inner.iter().filter_map(|term| self.store.op_of(*term)));
            let mut seen = HashSet::new();
            let below = inner.iter().flat_map(|term| self.store.args(*term).iter().copied());
            level = below.filter(|term| seen.insert(*term)).collect();
        }
        let mut features: Vec<String> =
            operators.into_iter().map(|op| Construct::Operator(op).to_string()).collect();
        features.push(format!("{ASSERTIONS} {assertions}"));
        features.push(format!("{DEPTH} {depth}"));
        features
    }

    /// Reads an input, and what can be put into it; nothing if it cannot be read.
    pub fn open(&mut self, text: &str) -> Option<Opened<'_>> {
        self.store.reset(&self.clean);
        let script = smtlib::parse(&mut self.store, text.as_bytes(), Mode::Tolerant).ok()?.script;
        let choices = self.mutator.choices(&self.store, &script);
        Some(Opened { mutator: &self.mutator, store: &mut self.store, script, choices })
    }
}

/// An input that is to be changed.
pub struct Opened<'a> {
    mutator: &'a Mutator,
    store: &'a mut Store,
    script: Script,
    choices: Choices,
}

/// What came of pulling arms until one of them could be put in.
pub struct Pulled {
    /// Nothing if that was none.
    pub mutant: Option<Mutant>,
    /// Arms that could not be put in.
    pub failed: u64,
}

/// An input with the construct of an arm in it.
pub struct Mutant {
    pub text: String,
    pub arm: String,
}

impl Opened<'_> {
    /// Lets an agent pull an arm. One that cannot be put in is not counted, which would make it the most promising of all
    /// that are known: the agent draws among the others.
    pub fn pull(&mut self, agent: &dyn Agent, learned: &Learned, rng: &mut Rng) -> Pulled {
        let mut names: Vec<(usize, String)> = self.arms().map(str::to_owned).enumerate().collect();
        let mut failed = 0;
        while let Some(chosen) = agent.choose(&learned.of(names.iter().map(|(_, name)| name.as_str())), rng) {
            let (number, arm) = names.swap_remove(chosen);
            if let Some(text) = self.mutate(rng, number) {
                return Pulled { mutant: Some(Mutant { text, arm }), failed };
            }
            failed += 1;
        }
        Pulled { mutant: None, failed }
    }

    /// The names of the arms that can be pulled.
    pub fn arms(&self) -> impl Iterator<Item = &str> {
        self.choices.arms.iter().map(|choice| choice.name.as_str())
    }

    /// The input with the construct of an arm in it.
    pub fn mutate(&mut self, rng: &mut Rng, arm: usize) -> Option<String> {
        let mut mutant = self.mutator.mutate(self.store, rng, &self.script, &self.choices, arm)?;
        // A seed's own logic may be narrower than the one that covers all seeds.
        smtlib::logic::widen(self.store, &mut mutant);
        Some(print::print(self.store, &mutant, Release::STANDARD))
    }
}

fn config(parameters: &Parameters) -> Result<Config, GrammarError> {
    let mut config = Config {
        exact: true,
        // As in the paper: trees to the depth limit, nothing shared, one check.
        leaves: 0.0,
        sharing: 0.0,
        incremental: 0.0,
        assumptions: 0.0,
        definitions: 0,
        ..Config::default()
    };
    config.theories.insert("Core".to_owned(), CORE);
    let theories: Vec<String> = table().rows().iter().map(|row| format!("{:?}", row.theory)).collect();
    for (name, weight) in &parameters.weights {
        let table = if theories.contains(name) { &mut config.theories } else { &mut config.operators };
        table.insert(name.clone(), *weight);
    }
    if !parameters.operators.is_empty() {
        for name in &parameters.operators {
            if !table().rows().iter().any(|row| is_called(row, name)) {
                return Err(GrammarError::Operator(name.clone()));
            }
        }
        let chosen = |row: &Row| parameters.operators.iter().any(|name| is_called(row, name));
        // Rounding modes are chosen among themselves: without any of them in the list all are there.
        let modes = table().rows().iter().any(|row| chosen(row) && is_rounding_mode(row));
        for row in table().rows() {
            if !(chosen(row) || is_rounding_mode(row) && !modes) {
                config.operators.insert(row.variant.to_owned(), 0.0);
            }
        }
    }
    Ok(config)
}

fn is_called(row: &Row, name: &str) -> bool {
    row.name == name || row.variant == name || row.aliases.iter().any(|alias| alias.name == name)
}

fn is_rounding_mode(row: &Row) -> bool {
    row.args.is_empty() && row.result == SortPattern::Fixed(Sort::ROUNDING_MODE)
}
