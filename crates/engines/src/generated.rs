//! Scripts from nothing: a round is one batch of a swarm (Groce et al.: Swarm Testing, ISSTA 2012).

use generate::Grammar;

use crate::case::Draft;
use crate::engine::{Bench, Engine, Round};

pub struct Generate {
    /// Scripts of one batch, which share a random choice of operators and sizes.
    pub batch: usize,
}

impl Default for Generate {
    fn default() -> Generate {
        Generate { batch: 20 }
    }
}

impl Engine for Generate {
    fn name(&self) -> &str {
        "generate"
    }

    fn seeds_wanted(&self) -> usize {
        0
    }

    fn open(&self, bench: &mut Bench<'_>) -> Option<Box<dyn Round>> {
        let grammar = bench.grammar.asking().swarm(bench.rng);
        Some(Box::new(Batch { grammar, length: self.batch, made: 0 }))
    }
}

/// Scripts from nothing, each with options of solvers that are searched (Yao et al.: Fuzzing SMT Solvers via
/// Two-Dimensional Input Space Exploration, ISSTA 2021). The scripts are those of [`Generate`]; what makes the difference is
/// the option policy, in the campaign.
pub struct Falcon {
    pub name: &'static str,
    /// The name of the policy.
    pub options: &'static str,
}

impl Engine for Falcon {
    fn name(&self) -> &str {
        self.name
    }

    fn seeds_wanted(&self) -> usize {
        0
    }

    fn options(&self) -> Option<&'static str> {
        Some(self.options)
    }

    fn open(&self, bench: &mut Bench<'_>) -> Option<Box<dyn Round>> {
        Generate::default().open(bench)
    }
}

struct Batch {
    grammar: Grammar,
    length: usize,
    made: usize,
}

impl Round for Batch {
    fn next(&mut self, bench: &mut Bench<'_>) -> Option<Draft> {
        if self.made == self.length {
            return None;
        }
        self.made += 1;
        let script = self.grammar.script(bench.store, bench.rng);
        Some(Draft::agree(script).with_changes(vec![self.grammar.logic().name.clone()]))
    }

    fn length(&self) -> usize {
        self.length
    }
}
