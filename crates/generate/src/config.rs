//! What a user may set: sizes, probabilities, weights. All of it has defaults, and a file may set any part.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::rng::Rng;

/// Settings of a grammar. Counts are upper bounds, and each script draws its own numbers below them; unless `exact` is set.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Config {
    /// Numbers of constants and assertions, and depths, are those given.
    pub exact: bool,
    /// Free constants.
    pub variables: usize,
    pub assertions: usize,
    /// Levels of operators in a term.
    pub depth: usize,
    /// Operator nodes in one assertion.
    pub nodes: usize,
    /// Arguments of operators that take any number.
    pub arity: usize,
    /// Declared functions with parameters.
    pub functions: usize,
    /// Defined functions.
    pub definitions: usize,
    /// Sorts that one script chooses beside Bool.
    pub sorts: usize,
    /// Bits of a bit-vector sort that is chosen or computed.
    pub max_width: u32,
    /// Share of constants among leaves.
    pub constants: f64,
    /// Probability that a term ends above the greatest depth.
    pub leaves: f64,
    /// Probability that an earlier term is used again, which the printer writes with `let`.
    pub sharing: f64,
    /// Probability of a quantifier at a Boolean node, where the logic has them.
    pub quantifiers: f64,
    /// Probability that a script has array sorts, where the logic has them and others to choose from.
    pub arrays: f64,
    /// Probability that a script declares datatypes, where the logic has others to choose from.
    pub datatypes: f64,
    /// Probability that a script declares sorts and functions, where the logic has others to choose from.
    pub uninterpreted: f64,
    /// Probability of a script with push, pop and several checks.
    pub incremental: f64,
    /// Probability that a check has assumptions.
    pub assumptions: f64,
    /// Probability that a script with several checks takes assertions back by `reset-assertions`.
    pub resets: f64,
    /// Probability, at each assertion of such a script, that something is declared after a check.
    pub late: f64,
    /// Ask for models after each check.
    pub get_model: bool,
    /// Ask for the values of some terms after each check.
    pub get_value: bool,
    /// Name the assertions and ask for unsatisfiable cores.
    pub get_unsat_core: bool,
    /// Probability that a script asks for values after its checks.
    pub values: f64,
    /// Probability that a script names its assertions and asks for unsatisfiable cores.
    pub cores: f64,
    /// Probability that a script has assumptions and asks which of them are to blame.
    pub unsat_assumptions: f64,
    /// Probability that a script asks for a proof after its last check, where all releases have proofs.
    pub proofs: f64,
    /// Use operators that one release accepts even if another does not.
    pub any_release: bool,
    /// Operators whose result the standard leaves open for some arguments (division by zero and its like).
    pub partial: bool,
    /// Weights by theory (`Strings`); 1 where nothing is said.
    pub theories: BTreeMap<String, f64>,
    /// Weights by operator, by its name in the table (`StrReplace`) or in SMT-LIB (`str.replace`).
    pub operators: BTreeMap<String, f64>,
}

impl Default for Config {
    fn default() -> Config {
        Config {
            exact: false,
            variables: 6,
            assertions: 5,
            depth: 4,
            nodes: 60,
            arity: 4,
            functions: 2,
            definitions: 1,
            sorts: 4,
            max_width: 64,
            constants: 0.25,
            leaves: 0.1,
            sharing: 0.1,
            quantifiers: 0.08,
            arrays: 0.5,
            datatypes: 0.5,
            uninterpreted: 0.6,
            incremental: 0.1,
            assumptions: 0.05,
            resets: 0.1,
            late: 0.1,
            get_model: false,
            get_value: false,
            get_unsat_core: false,
            values: 0.0,
            cores: 0.0,
            unsat_assumptions: 0.0,
            proofs: 0.0,
            any_release: false,
            partial: true,
            theories: BTreeMap::new(),
            operators: BTreeMap::new(),
        }
    }
}

impl Config {
    /// Another set of sizes around these, for one batch of a swarm.
    pub(crate) fn vary(&self, rng: &mut Rng) -> Config {
        let mut count = |n: usize| rng.between(1, n.max(1) * 2);
        let (variables, assertions, depth, sorts) =
            (count(self.variables), count(self.assertions), count(self.depth).max(2), count(self.sorts));
        let mut share = |p: f64| (p * [0.0, 0.5, 1.0, 2.0][rng.below(4)]).min(0.9);
        Config {
            variables,
            assertions,
            depth: depth.min(self.depth + 2),
            sorts,
            constants: share(self.constants),
            sharing: share(self.sharing),
            quantifiers: share(self.quantifiers),
            arrays: share(self.arrays),
            datatypes: share(self.datatypes),
            uninterpreted: share(self.uninterpreted),
            incremental: share(self.incremental),
            values: asking(self.values, &mut share),
            cores: asking(self.cores, &mut share),
            unsat_assumptions: asking(self.unsat_assumptions, &mut share),
            proofs: asking(self.proofs, &mut share),
            ..self.clone()
        }
    }

    /// The same with questions about what was answered in some scripts: solvers have code that nothing else reaches.
    #[must_use]
    pub(crate) fn asking(&self) -> Config {
        Config { values: 0.1, cores: 0.1, unsat_assumptions: 0.05, proofs: 0.03, ..self.clone() }
    }
}

/// What is never asked takes nothing from the stream.
fn asking(p: f64, share: &mut impl FnMut(f64) -> f64) -> f64 {
    if p > 0.0 { share(p) } else { 0.0 }
}
