//! Option policies: which options a solver gets for a test case.

use std::fmt;
use std::str::FromStr;

use generate::Rng;
use serde::{Deserialize, Serialize};
use smtlib::logic::Usage;
use solver::options::{OptionKind, OptionTable, SolverOption};

use crate::target::Target;

/// Decides the options of a test case.
pub trait OptionPolicy: Send + Sync {
    /// Words for the command line of this solver, after the user's own.
    fn options(&self, target: &Target, usage: &Usage, rng: &mut Rng) -> Vec<String>;

    /// May runs ask for models and other results beside the answer? They set options too.
    fn may_ask(&self) -> bool {
        true
    }
}

/// The policies by name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum PolicyName {
    /// What solvers do by default, and models where a model can be checked.
    Default,
    /// Half of the test cases with options the developers stand behind.
    Fair,
    /// Half of the test cases with any options that do not change what a run means.
    Random,
    /// Only what the user wrote.
    None,
}

const NAMES: [(PolicyName, &str); 4] = [
    (PolicyName::Default, "default"),
    (PolicyName::Fair, "fair"),
    (PolicyName::Random, "random"),
    (PolicyName::None, "none"),
];

impl fmt::Display for PolicyName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(NAMES.iter().find(|(name, _)| name == self).map_or("default", |(_, text)| text))
    }
}

impl FromStr for PolicyName {
    type Err = String;

    fn from_str(text: &str) -> Result<PolicyName, String> {
        NAMES
            .iter()
            .find(|(_, name)| *name == text)
            .map(|(policy, _)| *policy)
            .ok_or_else(|| format!("'{text}' is no option policy; expected default, fair, random or none"))
    }
}

impl PolicyName {
    /// Does it need the solvers' option tables?
    pub fn needs_tables(self) -> bool {
        matches!(self, PolicyName::Fair | PolicyName::Random)
    }

    pub fn policy(self) -> Box<dyn OptionPolicy> {
        match self {
            PolicyName::Default => Box::new(Defaults),
            PolicyName::Fair => Box::new(Fair),
            PolicyName::Random => Box::new(Random),
            PolicyName::None => Box::new(Nothing),
        }
    }
}

struct Defaults;

impl OptionPolicy for Defaults {
    fn options(&self, _: &Target, _: &Usage, _: &mut Rng) -> Vec<String> {
        Vec::new()
    }
}

struct Nothing;

impl OptionPolicy for Nothing {
    fn options(&self, _: &Target, _: &Usage, _: &mut Rng) -> Vec<String> {
        Vec::new()
    }

    fn may_ask(&self) -> bool {
        false
    }
}

struct Fair;

impl OptionPolicy for Fair {
    fn options(&self, target: &Target, _: &Usage, rng: &mut Rng) -> Vec<String> {
        match &target.table {
            Some(table) if rng.chance(0.5) => target.solver.fair_options(table, rng),
            _ => Vec::new(),
        }
    }
}

struct Random;

impl OptionPolicy for Random {
    fn options(&self, target: &Target, _: &Usage, rng: &mut Rng) -> Vec<String> {
        match &target.table {
            Some(table) if rng.chance(0.5) => target.solver.fair_options(&opened(target, table), rng),
            _ => Vec::new(),
        }
    }
}

/// The table without the limits by category: what is excluded by name stays so.
fn opened(target: &Target, table: &OptionTable) -> OptionTable {
    let rules = &target.solver.adapter.options;
    let by_name =
        |option: &SolverOption| rules.exclude.iter().any(|rule| rule.pattern.is_match(&option.name));
    let mut options = table.options.clone();
    options.retain(|option| option.kind != OptionKind::Text && !by_name(option));
    for option in &mut options {
        option.excluded = None;
        // A category nobody limits.
        option.category = format!("any {}", option.category);
    }
    OptionTable { solver: table.solver.clone(), options }
}
