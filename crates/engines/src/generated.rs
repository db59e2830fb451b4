//! Scripts from nothing: a round is one batch of a swarm (Groce et al.: Swarm Testing, ISSTA 2012).

use generate::Grammar;

use crate::case::{Expectation, Provenance, TestCase};
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
    fn name(&self) -> &'static str {
        "generate"
    }

    fn seeds_wanted(&self) -> usize {
        0
    }

    fn open(&self, bench: &mut Bench<'_>) -> Option<Box<dyn Round>> {
        let grammar = bench.grammar.swarm(bench.rng);
        Some(Box::new(Batch { grammar, left: self.batch, step: 0 }))
    }
}

struct Batch {
    grammar: Grammar,
    left: usize,
    step: usize,
}

impl Round for Batch {
    fn next(&mut self, bench: &mut Bench<'_>) -> Option<TestCase> {
        self.left = self.left.checked_sub(1)?;
        let provenance = Provenance {
            engine: "generate".to_owned(),
            seeds: Vec::new(),
            step: self.step,
            changes: vec![self.grammar.logic().name.clone()],
        };
        self.step += 1;
        let script = self.grammar.script(bench.store, bench.rng);
        Some(TestCase { script, expectation: Expectation::Agree, provenance })
    }
}
