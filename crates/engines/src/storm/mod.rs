//! STORM (Mansur, Christakis, Wüstholz, Zhang: Detecting Critical Bugs in SMT Solvers Using Blackbox Mutational Fuzzing,
//! ESEC/FSE 2020): satisfiable instances out of the Boolean fragments of any seed.
//!
//! A model assigns values to the seed's symbols; our evaluator tells which fragments are true under it; instances assert
//! true fragments and negations of false ones. The model is the witness.

mod config;
mod pools;

use eval::{EvaluatedModel, Value};
use generate::Rng;
use smtlib::{Fun, Op, Sort, Store, Term};

pub use config::Storm;
use pools::Pools;

use crate::case::Draft;
use crate::engine::{Bench, Engine, Round};
use crate::frames::{self, Switches};
use crate::models::{self, Wanted};
use crate::skeleton::Skeleton;

impl Engine for Storm {
    fn name(&self) -> &str {
        "storm"
    }

    fn has_witness(&self) -> bool {
        true
    }

    /// The authors' program adds one to half of its instances for Z3.
    fn tactics(&self) -> f64 {
        0.5
    }

    fn open(&self, bench: &mut Bench<'_>) -> Option<Box<dyn Round>> {
        let seed = bench.seeds.first()?;
        let mut skeleton = Skeleton::of(bench.store, &seed.script)?;
        let wanted = Wanted { asked: self.models, random: self.random_models, open_cases: self.open_cases };
        let extended = bench.rng.chance(self.extended);
        let mut models = self.filled(bench, &skeleton, wanted, extended);
        if models.is_empty() {
            // Nothing but quantifiers that nobody can decide.
            skeleton.open_quantifiers(bench.store);
            models = self.filled(bench, &skeleton, wanted, extended);
        }
        let largest = models.iter().map(|(_, pools)| pools.initial()).max()?;
        let length = self.instances.scaled(largest);
        let switches =
            if bench.rng.chance(self.incremental) { switches(bench.store, &mut models) } else { None };
        Some(Box::new(Instances {
            config: self.clone(),
            skeleton,
            models,
            switches,
            length,
            tried: 0,
            made: 0,
        }))
    }
}

impl Storm {
    /// The models under which the truth of some fragments is known, with these.
    fn filled(
        &self,
        bench: &mut Bench<'_>,
        skeleton: &Skeleton,
        wanted: Wanted,
        extended: bool,
    ) -> Vec<(EvaluatedModel, Pools)> {
        let mut models = Vec::new();
        for mut evaluated in models::any(bench, skeleton, wanted) {
            let pools = Pools::fill(self, bench, skeleton, &mut evaluated, extended);
            if !pools.is_empty() {
                models.push((evaluated, pools));
            }
        }
        models
    }
}

/// Formulas that a check may switch on by assuming a constant.
const SWITCHES: usize = 2;

/// Probability that an assertion is one of these.
const SWITCHED: f64 = 0.15;

/// Fresh constants that are true under every model.
fn switches(store: &mut Store, models: &mut [(EvaluatedModel, Pools)]) -> Option<Switches> {
    let mut switches = Switches::default();
    for _ in 0..SWITCHES {
        let name = store.fresh_name("assumed");
        let fun = store.declare_fun(name, &[], Sort::BOOL);
        for (evaluated, _) in &mut *models {
            evaluated.add(fun, Value::Bool(true));
        }
        switches.funs.push(fun);
        switches.terms.push(store.call(fun, &[]).ok()?);
    }
    Some(switches)
}

struct Instances {
    config: Storm,
    skeleton: Skeleton,
    models: Vec<(EvaluatedModel, Pools)>,
    /// There for rounds of incremental instances.
    switches: Option<Switches>,
    length: usize,
    tried: usize,
    made: usize,
}

impl Round for Instances {
    fn next(&mut self, bench: &mut Bench<'_>) -> Option<Draft> {
        while self.tried < self.length {
            self.tried += 1;
            let turn = self.made % self.models.len();
            let (evaluated, pools) = &mut self.models[turn];
            // With every atom of a small pool asserted as it is, nothing else in an instance would matter.
            let half = pools.initial().div_ceil(2);
            let most = if self.config.bounded { half } else { usize::MAX }.min(self.config.max_assertions);
            let count = bench.rng.between(1, most.max(1));
            let mut assertions: Vec<Term> = Vec::with_capacity(count);
            for _ in 0..count {
                if let Some(formula) = pools.draw(&self.config, bench.rng)
                    && !assertions.contains(&formula.asserted)
                {
                    assertions.push(formula.asserted);
                }
            }
            let (script, frames) = match &self.switches {
                Some(switches) => {
                    let used = switch(bench.store, bench.rng, switches, &mut assertions);
                    frames::spread(&self.skeleton, &used, &assertions, bench.rng)
                }
                None => (self.skeleton.script(&[], &assertions), 1),
            };
            // The construction made every assertion true; a failure here could only be a budget.
            let Ok(witness) = evaluated.witness(bench.store, &script) else { continue };
            self.made += 1;
            let count = assertions.len();
            let change = format!("{count} assertions in {frames} frames under model {turn}");
            return Some(Draft::satisfied(script, witness).with_changes(vec![change]));
        }
        None
    }

    fn length(&self) -> usize {
        self.length
    }
}

/// Puts some assertions under a constant that checks may assume. The constants that guard something.
fn switch(store: &mut Store, rng: &mut Rng, switches: &Switches, assertions: &mut [Term]) -> Switches {
    let pairs: Vec<(Fun, Term)> = switches.funs.iter().copied().zip(switches.terms.iter().copied()).collect();
    let mut used = Switches::default();
    for assertion in assertions {
        if rng.chance(SWITCHED)
            && let Some((fun, term)) = rng.pick(&pairs)
            && let Ok(guarded) = store.op(Op::Implies, &[*term, *assertion])
        {
            *assertion = guarded;
            if !used.terms.contains(term) {
                used.terms.push(*term);
                used.funs.push(*fun);
            }
        }
    }
    used
}
