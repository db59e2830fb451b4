//! What a chain is made of. Once decided, the plan and the rng seed determine the test cases.

use crate::seeds::SeedText;

/// What a round does.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Plan {
    /// The number of the round's random streams.
    pub round: u64,
    /// As the command line names it.
    pub engine: String,
    pub seeds: Vec<PlannedSeed>,
    /// The logic of what is generated where no seed decides it.
    pub logic: String,
    /// Numbers of the solvers whose common operators are used. With many solvers, now one group and now another; now and
    /// then one alone, where a witness is oracle enough.
    pub group: Vec<usize>,
    /// The tactic of all plain checks, where the solvers of the group have tactics.
    pub tactic: Option<String>,
    /// Operators that no new term has, by their names in SMT-LIB.
    pub without: Vec<String>,
    /// What an earlier round of the engine has left to know about the seed, where there is one seed.
    pub memory: Option<String>,
    /// Test cases to make before anything has to pay.
    pub steps: usize,
}

/// A seed of a plan.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PlannedSeed {
    Text(SeedText),
    /// Generated in the round, from its stream of that purpose.
    Generated,
}

impl PlannedSeed {
    /// The seed's hash, or that it is generated.
    pub fn name(&self) -> &str {
        match self {
            PlannedSeed::Text(seed) => &seed.hash,
            PlannedSeed::Generated => "generated",
        }
    }
}
