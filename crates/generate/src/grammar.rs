//! The grammar: for each kind of sort, the operators that give it, with their probabilities.

use thiserror::Error;

use smtlib::literal::LARGEST_CHARACTER;
use smtlib::print::Dialect;
use smtlib::theory::{Row, SortPattern, Theory, table};
use smtlib::{Family, Op, Release, Script, Sort, SortKind, Store, Term, Version};

use crate::config::Config;
use crate::logic::{Logic, UnknownLogic};
use crate::operands;
use crate::rng::Rng;
use crate::scope::Scope;
use crate::special::is_special;
use crate::term::Maker;

/// A probabilistic grammar of one logic for a set of solver releases.
#[derive(Clone, Debug)]
pub struct Grammar {
    pub(crate) logic: Logic,
    pub(crate) releases: Vec<Release>,
    pub(crate) config: Config,
    /// By operator: zero where it must not occur.
    weights: Vec<f64>,
    productions: Vec<Productions>,
    /// Those that may occur; all where none may, since operators need one.
    pub(crate) rounding_modes: Vec<Op>,
}

const ROUNDING_MODES: [Op; 5] = [
    Op::RoundNearestTiesToEven,
    Op::RoundNearestTiesToAway,
    Op::RoundTowardPositive,
    Op::RoundTowardNegative,
    Op::RoundTowardZero,
];

/// The operators that may give a sort of one kind, with their weights and the running totals of these.
#[derive(Clone, Debug, Default)]
pub(crate) struct Productions {
    pub rows: Vec<&'static Row>,
    pub weights: Vec<f64>,
    pub totals: Vec<f64>,
}

#[derive(Clone, PartialEq, Debug, Error)]
pub enum GrammarError {
    #[error(transparent)]
    Logic(#[from] UnknownLogic),
    #[error("'{0}' is no operator of the theory table")]
    Operator(String),
    #[error("'{0}' is no theory; expected one of {1}")]
    Theory(String, String),
    #[error("the weight {1} of '{0}' is not a number from 0 up")]
    Weight(String, f64),
}

/// What a sort is, as far as the choice of an operator goes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(u8)]
enum Class {
    Bool,
    Int,
    Real,
    String,
    RegLan,
    RoundingMode,
    BitVec,
    Float,
    FiniteField,
    Seq,
    Set,
    Bag,
    Nullable,
    Array,
    Tuple,
    /// Declared sorts and datatypes: only operators over any sort give them.
    Free,
    None,
}

const CLASSES: usize = Class::None as usize + 1;

fn class_of(kind: &SortKind) -> Class {
    match kind {
        SortKind::Bool => Class::Bool,
        SortKind::Int => Class::Int,
        SortKind::Real => Class::Real,
        SortKind::String => Class::String,
        SortKind::RegLan => Class::RegLan,
        SortKind::RoundingMode => Class::RoundingMode,
        SortKind::BitVec(_) => Class::BitVec,
        SortKind::Float(..) => Class::Float,
        SortKind::FiniteField(_) => Class::FiniteField,
        SortKind::Seq(_) => Class::Seq,
        SortKind::Set(_) => Class::Set,
        SortKind::Bag(_) => Class::Bag,
        SortKind::Nullable(_) => Class::Nullable,
        SortKind::Array(..) => Class::Array,
        SortKind::Tuple(_) => Class::Tuple,
        SortKind::Declared(..) | SortKind::Datatype(..) => Class::Free,
        SortKind::Fun(..) | SortKind::Param(_) | SortKind::Opaque(_) => Class::None,
    }
}

/// Can the operator give a sort of this class?
fn gives(row: &Row, class: Class) -> bool {
    match class_of_pattern(&row.result) {
        // Solvers do not choose between regular languages or functions by `ite` and `select`.
        None => !matches!(class, Class::RegLan | Class::None),
        Some(result) => result == class,
    }
}

/// The class of the sorts that a pattern fits; nothing if it fits every sort.
fn class_of_pattern(pattern: &SortPattern) -> Option<Class> {
    Some(match pattern {
        SortPattern::Var(_) => return None,
        SortPattern::Fixed(Sort::BOOL) => Class::Bool,
        SortPattern::Fixed(Sort::INT) => Class::Int,
        SortPattern::Fixed(Sort::REAL) => Class::Real,
        SortPattern::Fixed(Sort::STRING) => Class::String,
        SortPattern::Fixed(Sort::REGLAN) => Class::RegLan,
        SortPattern::Fixed(Sort::ROUNDING_MODE) => Class::RoundingMode,
        SortPattern::BitVec(_) => Class::BitVec,
        SortPattern::Float(..) => Class::Float,
        SortPattern::FiniteField(_) => Class::FiniteField,
        SortPattern::Seq(_) => Class::Seq,
        SortPattern::Set(_) => Class::Set,
        SortPattern::Bag(_) => Class::Bag,
        SortPattern::Nullable(_) => Class::Nullable,
        SortPattern::Array(..) => Class::Array,
        SortPattern::Fun(..) | SortPattern::Fixed(_) => Class::None,
    })
}

impl Grammar {
    /// The grammar of a logic with the operators that all the releases accept; no release stands for the
    /// standard.
    pub fn new(logic: &str, releases: &[Release], config: Config) -> Result<Grammar, GrammarError> {
        let logic: Logic = logic.parse()?;
        let releases = if releases.is_empty() { vec![Release::STANDARD] } else { releases.to_vec() };
        check_names(&config)?;
        let weights = table().rows().iter().map(|row| weight(&logic, &releases, &config, row)).collect();
        Ok(Grammar::assemble(logic, releases, config, weights))
    }

    fn assemble(logic: Logic, releases: Vec<Release>, config: Config, weights: Vec<f64>) -> Grammar {
        let productions = (0..CLASSES).map(|class| productions(class, &weights)).collect();
        let mut rounding_modes = ROUNDING_MODES.to_vec();
        rounding_modes.retain(|mode| weights[*mode as usize] > 0.0);
        if rounding_modes.is_empty() {
            rounding_modes = ROUNDING_MODES.to_vec();
        }
        Grammar { logic, releases, config, weights, productions, rounding_modes }
    }

    /// The same logic and releases with other settings.
    pub fn with_config(&self, config: Config) -> Result<Grammar, GrammarError> {
        Grammar::new(&self.logic.name, &self.releases, config)
    }

    /// The same with these numbers of constants and assertions and this depth.
    #[must_use]
    pub fn sized(&self, variables: usize, assertions: usize, depth: usize) -> Grammar {
        let mut other = self.clone();
        other.config = Config { exact: true, variables, assertions, depth, ..other.config };
        other
    }

    /// A grammar for one batch of a swarm (Groce et al., ISSTA 2012): about half of the operators left out at
    /// random, some of the others favoured, sizes varied.
    pub fn swarm(&self, rng: &mut Rng) -> Grammar {
        let config = self.config.vary(rng);
        let weights = table()
            .rows()
            .iter()
            .zip(&self.weights)
            .map(|(row, weight)| {
                let factor: f64 = [0.0, 0.0, 1.0, 4.0][rng.below(4)];
                // Formulas need something to be made of.
                if is_backbone(row.op) { weight * factor.max(0.5) } else { weight * factor }
            })
            .collect();
        Grammar::assemble(self.logic.clone(), self.releases.clone(), config, weights)
    }

    /// The same, with scripts of which some ask for values, cores, assumptions to blame and proofs.
    #[must_use]
    pub fn asking(&self) -> Grammar {
        let config = self.config.asking();
        Grammar::assemble(self.logic.clone(), self.releases.clone(), config, self.weights.clone())
    }

    /// Theories that the logic's name asks for and of which these releases have no operator: its scripts would have nothing of
    /// them.
    pub fn lacking(&self) -> Vec<Theory> {
        let wanted = self.logic.named_theories();
        let has =
            |theory: Theory| table().rows().iter().any(|row| row.theory == theory && self.allows(row.op));
        wanted.into_iter().filter(|theory| !has(*theory)).collect()
    }

    /// The newest release of the first solver that has every theory which the logic asks for by its name; nothing if the
    /// standard has them all, or if no solver has them together.
    pub fn release_for(logic: &str) -> Result<Option<Release>, GrammarError> {
        let lacks = |release: Release| -> Result<bool, GrammarError> {
            Ok(!Grammar::new(logic, &[release], Config::default())?.lacking().is_empty())
        };
        if !lacks(Release::STANDARD)? {
            return Ok(None);
        }
        for family in Family::all() {
            let release = Release::new(family, Version::LATEST);
            // Of a command of the user's own nothing is known.
            if !matches!(family, Family::Standard | Family::Other) && !lacks(release)? {
                return Ok(Some(release));
            }
        }
        Ok(None)
    }

    /// A term of the sort over the leaves and functions of the scope, at most `depth` operators deep. `None` if
    /// nothing of that sort can be made: a declared sort without a leaf.
    pub fn term(
        &self,
        store: &mut Store,
        rng: &mut Rng,
        sort: Sort,
        scope: &mut Scope,
        depth: usize,
    ) -> Option<Term> {
        Maker::new(self, store, rng, scope).term(sort, depth)
    }

    /// A whole script with declarations, assertions and checks.
    pub fn script(&self, store: &mut Store, rng: &mut Rng) -> Script {
        crate::script::script(self, store, rng)
    }

    /// May the operator occur in this logic for these releases?
    pub fn allows(&self, op: Op) -> bool {
        self.weights[op as usize] > 0.0
    }

    /// The weight of an operator before anything is said about its theory; zero where it must not occur.
    pub fn weight(&self, op: Op) -> f64 {
        if self.allows(op) { operands::default_weight(op, &self.releases) } else { 0.0 }
    }

    /// The operators of the table that take and give nothing but sorts of these kinds.
    pub fn in_play(&self, store: &Store, sorts: &[Sort]) -> Vec<Op> {
        let classes: Vec<Class> = sorts.iter().map(|sort| class_of(store.sort_kind(*sort))).collect();
        let there = |pattern: &SortPattern| class_of_pattern(pattern).is_none_or(|c| classes.contains(&c));
        let rows =
            table().rows().iter().filter(|row| self.allows(row.op) && !row.special && !row.args.is_empty());
        rows.filter(|row| row.args.iter().chain([&row.result]).all(there)).map(|row| row.op).collect()
    }

    pub fn logic(&self) -> &Logic {
        &self.logic
    }

    pub fn releases(&self) -> &[Release] {
        &self.releases
    }

    /// The largest code point that all releases can read in a string.
    pub fn largest_character(&self) -> u32 {
        let of = |release: &Release| Dialect::of(*release).largest_character;
        self.releases.iter().map(of).min().unwrap_or(LARGEST_CHARACTER)
    }

    pub fn config(&self) -> &Config {
        &self.config
    }

    /// Tuples are special rows without weights in the tables of sorts.
    pub(crate) fn has_tuples(&self) -> bool {
        self.allows(Op::TupleMake)
    }

    pub(crate) fn productions(&self, kind: &SortKind) -> &Productions {
        &self.productions[class_of(kind) as usize]
    }
}

/// Conjunction, negation, equality, `ite`: kept in every batch of a swarm.
fn is_backbone(op: Op) -> bool {
    matches!(op, Op::And | Op::Or | Op::Not | Op::Equal | Op::Ite | Op::Select | Op::Store)
}

fn weight(logic: &Logic, releases: &[Release], config: &Config, row: &Row) -> f64 {
    let accepted = if config.any_release {
        releases.iter().any(|release| row.accepted_by(*release))
    } else {
        releases.iter().all(|release| row.accepted_by(*release))
    };
    if !accepted || !logic.admits(row) || (row.partial && !config.partial) {
        return 0.0;
    }
    let by_name = |names: &std::collections::BTreeMap<String, f64>, keys: &[&str]| {
        keys.iter().find_map(|key| names.get(*key).copied())
    };
    let own = by_name(&config.operators, &[row.variant, row.name]);
    let theory = by_name(&config.theories, &[&format!("{:?}", row.theory)]);
    own.unwrap_or_else(|| operands::default_weight(row.op, releases)) * theory.unwrap_or(1.0)
}

fn check_names(config: &Config) -> Result<(), GrammarError> {
    for name in config.operators.keys() {
        if !table().rows().iter().any(|row| row.variant == name || row.name == name) {
            return Err(GrammarError::Operator(name.clone()));
        }
    }
    let mut theories: Vec<String> = table().rows().iter().map(|row| format!("{:?}", row.theory)).collect();
    theories.dedup();
    for name in config.theories.keys() {
        if !theories.contains(name) {
            return Err(GrammarError::Theory(name.clone(), theories.join(", ")));
        }
    }
    for (name, weight) in config.operators.iter().chain(&config.theories) {
        if !weight.is_finite() || *weight < 0.0 {
            return Err(GrammarError::Weight(name.clone(), *weight));
        }
    }
    Ok(())
}

fn productions(class: usize, weights: &[f64]) -> Productions {
    let rows: Vec<&'static Row> = table()
        .rows()
        .iter()
        .filter(|row| !row.special && !is_special(row.op) && weights[row.op as usize] > 0.0)
        .filter(|row| CLASS_LIST.get(class).is_some_and(|class| gives(row, *class)))
        .collect();
    // A theory of sixty predicates must not drown one of five, nor the other way round. The operators of the largest theory
    // count as much as `ite` and its like.
    let siblings = |theory: Theory| rows.iter().filter(|row| row.theory == theory).count();
    let largest = rows.iter().filter(|row| row.theory != Theory::Core).map(|row| siblings(row.theory)).max();
    let mut own = Vec::with_capacity(rows.len());
    let mut totals = Vec::with_capacity(rows.len());
    let mut total = 0.0;
    for row in &rows {
        let share = match (row.theory, largest) {
            (Theory::Core, _) | (_, None) => 1.0,
            (theory, Some(largest)) => (largest as f64 / siblings(theory) as f64).sqrt(),
        };
        own.push(weights[row.op as usize] * share);
        total += weights[row.op as usize] * share;
        totals.push(total);
    }
    Productions { rows, weights: own, totals }
}

const CLASS_LIST: [Class; CLASSES] = [
    Class::Bool,
    Class::Int,
    Class::Real,
    Class::String,
    Class::RegLan,
    Class::RoundingMode,
    Class::BitVec,
    Class::Float,
    Class::FiniteField,
    Class::Seq,
    Class::Set,
    Class::Bag,
    Class::Nullable,
    Class::Array,
    Class::Tuple,
    Class::Free,
    Class::None,
];
