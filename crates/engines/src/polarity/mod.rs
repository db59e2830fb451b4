//! Answers kept by monotonicity: unsatisfiable seeds strengthened, satisfiable ones weakened.
//!
//! A formula at a positive place may become stronger without making an unsatisfiable script satisfiable, one at a negative
//! place weaker; for satisfiable scripts the other way round. That holds below quantifiers too, where no evaluation is
//! possible. `sat` for a strengthened unsatisfiable seed is a solution-soundness bug, which neither STORM nor DIVER finds.

mod rewrites;
mod steps;

use eval::side_conditions::side_conditions;
use eval::{Derivation, STATUS_OF};
use generate::Scope;
use serde::{Deserialize, Serialize};
use smtlib::{Status, Term};

pub use rewrites::{Want, rewrites};

use crate::case::Draft;
use crate::engine::{Bench, Engine, Round, Seed};
use crate::feedback::Feedback;
use crate::opfuzz::for_script;
use crate::skeleton::Skeleton;
use steps::Chain;

/// The engine and its settings.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Polarity {
    /// Mutants per seed.
    pub mutants: usize,
    /// Steps of one mutant beyond the one before it.
    pub steps: usize,
    /// Levels of random terms.
    pub depth: usize,
    /// Mutants before the chain starts again from the seed.
    pub chain: usize,
    /// A chain that has grown by this many nodes starts again.
    pub growth: u64,
    /// Ask for unsatisfiable cores: what is outside may become anything.
    pub cores: bool,
}

impl Default for Polarity {
    fn default() -> Polarity {
        Polarity { mutants: 300, steps: 3, depth: 3, chain: 12, growth: 400, cores: true }
    }
}

impl Engine for Polarity {
    fn name(&self) -> &str {
        "polarity"
    }

    fn open(&self, bench: &mut Bench<'_>) -> Option<Box<dyn Round>> {
        let seed: &Seed = bench.seeds.first()?;
        let skeleton = Skeleton::of(bench.store, &seed.script)?;
        if skeleton.in_force.is_empty() {
            return None;
        }
        let flat = skeleton.script(&[], &skeleton.in_force);
        // A script with several checks has several answers; only what is asked of the last frame alone counts.
        // Nor is the seed's own answer that of its formulas if something else constrains its models.
        let alone = !seed.script.is_incremental() && side_conditions(bench.store, &seed.script).is_empty();
        let stated = if alone { seed.status.clone() } else { None };
        let known = stated.filter(|(status, _)| *status != Status::Unknown);
        let (status, mut from) = match known {
            Some(known) => known,
            None => bench.ask.agreed_status(bench.store, &flat)?,
        };
        let want = match status {
            Status::Unsat => Want::Stronger,
            Status::Sat => Want::Weaker,
            Status::Unknown => return None,
        };
        let mut needed = vec![true; skeleton.in_force.len()];
        if want == Want::Stronger
            && self.cores
            && needed.len() > 1
            && let Some(core) = bench.ask.confirmed_core(bench.store, &flat)
        {
            // Two solvers have confirmed it, so what the file says of itself is no longer needed.
            let before = if from.contains(STATUS_OF) { String::new() } else { format!("{from}; ") };
            from = format!("{before}a confirmed core of {} assertions", core.len());
            needed.iter_mut().enumerate().for_each(|(i, needed)| *needed = core.contains(&i));
        }
        let grammar = for_script(bench.grammar, bench.store, &flat);
        let scope = Scope::of_script(bench.store, &flat);
        let start: Vec<(Term, bool)> = skeleton.in_force.iter().copied().zip(needed).collect();
        let size = start.iter().map(|(term, _)| bench.store.tree_size(*term)).sum::<u64>();
        Some(Box::new(Consequences {
            config: self.clone(),
            status,
            from,
            limit: size + self.growth,
            chain: Chain { want, assertions: start.clone(), steps: Vec::new() },
            before: None,
            start,
            skeleton,
            grammar,
            scope,
            of_chain: 0,
            made: 0,
        }))
    }
}

struct Consequences {
    config: Polarity,
    status: Status,
    from: String,
    skeleton: Skeleton,
    grammar: generate::Grammar,
    scope: Scope,
    start: Vec<(Term, bool)>,
    chain: Chain,
    /// The chain before the last mutant.
    before: Option<Chain>,
    limit: u64,
    of_chain: usize,
    made: usize,
}

impl Round for Consequences {
    fn next(&mut self, bench: &mut Bench<'_>) -> Option<Draft> {
        if self.made == self.config.mutants {
            return None;
        }
        self.made += 1;
        let size = self.chain.assertions.iter().map(|(term, _)| bench.store.tree_size(*term)).sum::<u64>();
        if self.of_chain >= self.config.chain || size > self.limit {
            self.of_chain = 0;
            self.chain.assertions = self.start.clone();
            self.chain.steps.clear();
        }
        self.of_chain += 1;
        self.before = Some(self.chain.clone());
        let wanted = bench.rng.between(1, self.config.steps.max(1));
        let known = self.chain.steps.len();
        for _ in 0..wanted * 8 {
            if self.chain.steps.len() >= known + wanted {
                break;
            }
            self.chain.step(bench, &self.grammar, &mut self.scope, self.config.depth);
        }
        if self.chain.steps.len() == known {
            return None;
        }
        let assertions: Vec<Term> = self.chain.assertions.iter().map(|(term, _)| *term).collect();
        let steps = self.chain.steps.clone();
        let derivation = Derivation { answer: self.status, from: self.from.clone(), steps: steps.clone() };
        let script = self.skeleton.script(&[], &assertions);
        Some(Draft::derived(script, derivation).with_changes(steps))
    }

    fn length(&self) -> usize {
        self.config.mutants
    }

    fn learn(&mut self, feedback: &Feedback) {
        if (feedback.is_rejected() || feedback.is_hopeless())
            && let Some(before) = self.before.take()
        {
            self.chain = before;
        }
    }
}
