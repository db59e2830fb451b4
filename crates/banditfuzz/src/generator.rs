//! Inputs from nothing, or from seeds: texts in the standard dialect.

use std::collections::BTreeMap;
use std::ops::RangeInclusive;
use std::sync::Arc;

use generate::{Config, Grammar, GrammarError, Rng};
use serde::{Deserialize, Serialize};
use smtlib::theory::{Row, SortPattern, table};
use smtlib::{Mark, Mode, Release, Script, Sort, Store, print};

use crate::construct::Construct;
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
            variables: 2..=5,
            assertions: 1..=5,
            depth: 2..=4,
            operators: Vec::new(),
            weights: BTreeMap::new(),
            arms: Arms::Constructs,
        }
    }
}

/// What a construct that was never rewarded weighs, beside 1 for the best.
const LEAST: f64 = 0.05;

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

    /// A new input; constructs that were rewarded are favoured where something has been learned.
    pub fn fresh(&mut self, rng: &mut Rng, learned: Option<&Learned>) -> String {
        if let Some(seed) = rng.pick(&self.seeds) {
            return seed.to_string();
        }
        self.store.reset(&self.clean);
        let mut between = |range: &RangeInclusive<usize>| rng.between(*range.start(), *range.end());
        let (variables, assertions, depth) = (
            between(&self.parameters.variables),
            between(&self.parameters.assertions),
            between(&self.parameters.depth),
        );
        let favouring = learned.and_then(|learned| self.favouring(learned));
        let grammar = favouring.as_ref().unwrap_or(&self.grammar).sized(variables, assertions, depth);
        let mut script = grammar.script(&mut self.store, rng);
        smtlib::logic::widen(&mut self.store, &mut script);
        print::print(&self.store, &script, Release::STANDARD)
    }

    /// The grammar with weights by expected reward.
    fn favouring(&self, learned: &Learned) -> Option<Grammar> {
        let best = learned.arms.values().map(Learned::expected).fold(0.0, f64::max);
        let mut config = self.grammar.config().clone();
        for row in table().rows().iter().filter(|row| self.grammar.allows(row.op)) {
            let name = Construct::Operator(row.op).to_string();
            if let Some(arm) = learned.arms.get(&name).filter(|arm| arm.tries > 0) {
                let own = config.operators.get(row.variant).or_else(|| config.operators.get(row.name));
                let own = own.copied().unwrap_or(1.0);
                let weight = own * (Learned::expected(arm) / best).max(LEAST);
                config.operators.insert(row.variant.to_owned(), weight);
            }
        }
        self.grammar.with_config(config).ok()
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

impl Opened<'_> {
    /// The names of the arms that can be pulled.
    pub fn arms(&self) -> impl Iterator<Item = &str> {
        self.choices.arms.iter().map(|choice| choice.name.as_str())
    }

    /// The input with the construct of an arm in it.
    pub fn mutate(&mut self, rng: &mut Rng, arm: usize) -> Option<String> {
        let mutant = self.mutator.mutate(self.store, rng, &self.script, &self.choices, arm)?;
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
