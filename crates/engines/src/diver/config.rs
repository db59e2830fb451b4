//! DIVER's settings, with the paper's defaults (sections III and IV).

use serde::{Deserialize, Serialize};

/// The engine and its settings.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Diver {
    /// `n`: mutants per seed.
    pub mutants: usize,
    /// Mutants made of one formula before another is drawn from the pool; more of a large one, whose analysis costs more.
    pub batch: usize,
    /// Random terms tried at one place.
    pub tries: usize,
    /// Operators of a random term.
    pub growth: usize,
    /// Probability that a mutant is complicated.
    pub complicate: f64,
    /// Choose places uniformly instead of by their scores: the paper's first variant.
    pub uniform: bool,
    /// Mutants kept as seeds of further ones.
    pub pool: usize,
    /// Larger seeds are skipped, in nodes; what is shared counts once.
    pub largest: usize,
    /// Probability that the mutants of a round may leave the seed's logic.
    pub widen: f64,
    /// Share of the rounds in which new terms may have operators that a solver under test hides in the seed's logic. The
    /// script then says ALL, and what solvers set up by the name of a logic is not tested.
    pub hidden: f64,
    /// Models asked of solvers.
    pub models: u32,
    /// Random assignments tried when solvers give no model.
    pub random_models: u32,
    /// Allow models that fix what the standard leaves open (division by zero and its like).
    pub open_cases: bool,
    /// No functions but those of the standard, though the solvers have more: a variant, to see what their own are worth.
    pub standard_only: bool,
    /// At most this many extra options for each solver, drawn anew for each mutant; the paper's 2 (section IV).
    pub options: usize,
}

impl Default for Diver {
    fn default() -> Diver {
        Diver {
            mutants: 1000,
            batch: 4,
            tries: 50,
            growth: 5,
            complicate: 0.5,
            uniform: false,
            pool: 64,
            largest: 20_000,
            widen: 0.1,
            hidden: 0.25,
            models: 2,
            random_models: 200,
            open_cases: false,
            standard_only: false,
            options: 0,
        }
    }
}

impl Diver {
    /// The paper's variant without Complicate.
    pub fn without_complicate(self) -> Diver {
        Diver { complicate: 0.0, ..self }
    }

    /// The paper's variant with uniform choice.
    pub fn with_uniform_choice(self) -> Diver {
        Diver { uniform: true, ..self }
    }
}
