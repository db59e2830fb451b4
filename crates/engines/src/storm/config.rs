//! STORM's bounds. `dmax`, `amax` and the greatest `nm` are those of the authors' replication settings; the other
//! numbers are ours.

use serde::{Deserialize, Serialize};

/// The engine and its settings.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Storm {
    /// `dmax`: Boolean levels of a formula.
    pub max_depth: u32,
    /// `amax`: assertions of an instance.
    pub max_assertions: usize,
    /// Seeds with fewer fragments get random formulas over their symbols beside them; not in the paper.
    pub fragments: usize,
    /// At most half as many assertions as the initial pool has formulas; not in the paper.
    pub bounded: bool,
    /// `nc`: formulas in the construction pool.
    pub constructed: Scale,
    /// `nm`: instances per round.
    pub instances: Scale,
    /// Probability of `and` among constructed formulas; the others are `not`.
    pub conjunctions: f64,
    /// Probability that a formula is drawn from the initial pool.
    pub from_initial: f64,
    /// Probability that a round constructs with `or`, `xor`, `=>` and `ite` too; not in the paper.
    pub extended: f64,
    /// Probability that the instances of a round have push, pop and several checks.
    pub incremental: f64,
    /// Models asked of solvers.
    pub models: u32,
    /// Random assignments beside them.
    pub random_models: u32,
    /// Allow models that fix what the standard leaves open (division by zero and its like).
    pub open_cases: bool,
}

impl Default for Storm {
    fn default() -> Storm {
        Storm {
            max_depth: 64,
            max_assertions: 64,
            fragments: 12,
            bounded: true,
            constructed: Scale { least: 200, most: 1500, factor: 10 },
            instances: Scale { least: 300, most: 1000, factor: 10 },
            conjunctions: 0.5,
            from_initial: 0.3,
            extended: 0.5,
            incremental: 0.5,
            models: 2,
            random_models: 1,
            open_cases: false,
        }
    }
}

impl Storm {
    /// The paper's pools and bounds: no random formulas beside the fragments, `amax` assertions whatever the pool, `and` and
    /// `not` alone.
    pub fn as_in_the_paper(self) -> Storm {
        Storm { fragments: 0, bounded: false, extended: 0.0, ..self }
    }
}

/// A number that grows with the initial pool, between bounds.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Scale {
    pub least: usize,
    pub most: usize,
    /// Times the number of formulas in the initial pool.
    pub factor: usize,
}

impl Scale {
    pub fn scaled(self, pool: usize) -> usize {
        pool.saturating_mul(self.factor).clamp(self.least.min(self.most), self.most)
    }
}
