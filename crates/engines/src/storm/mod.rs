//! STORM (Mansur, Christakis, Wüstholz, Zhang: Detecting Critical Bugs in SMT Solvers Using Blackbox Mutational Fuzzing,
//! ESEC/FSE 2020): satisfiable instances out of the Boolean fragments of any seed.
//!
//! A model assigns values to the seed's symbols; our evaluator tells which fragments are true under it; instances assert
//! true fragments and negations of false ones. The model is the witness.

mod config;
mod pools;

use eval::EvaluatedModel;

pub use config::Storm;
use pools::Pools;

use crate::case::Draft;
use crate::engine::{Bench, Engine, Round};
use crate::frames;
use crate::models::{self, Wanted};
use crate::skeleton::Skeleton;

impl Engine for Storm {
    fn name(&self) -> &str {
        "storm"
    }

    fn has_witness(&self) -> bool {
        true
    }

    fn open(&self, bench: &mut Bench<'_>) -> Option<Box<dyn Round>> {
        let seed = bench.seeds.first()?;
        let skeleton = Skeleton::of(bench.store, &seed.script)?;
        let wanted = Wanted { asked: self.models, random: self.random_models, open_cases: self.open_cases };
        let found = models::any(bench, &skeleton, wanted);
        let mut models: Vec<(EvaluatedModel, Pools)> = Vec::with_capacity(found.len());
        for mut world in found {
            let pools = Pools::fill(self, bench, &skeleton, &mut world);
            if !pools.is_empty() {
                models.push((world, pools));
            }
        }
        let largest = models.iter().map(|(_, pools)| pools.initial()).max()?;
        let length = self.instances.scaled(largest);
        Some(Box::new(Instances { config: self.clone(), skeleton, models, length, tried: 0, made: 0 }))
    }
}

struct Instances {
    config: Storm,
    skeleton: Skeleton,
    models: Vec<(EvaluatedModel, Pools)>,
    length: usize,
    tried: usize,
    made: usize,
}

impl Round for Instances {
    fn next(&mut self, bench: &mut Bench<'_>) -> Option<Draft> {
        while self.tried < self.length {
            self.tried += 1;
            let turn = self.made % self.models.len();
            let (world, pools) = &mut self.models[turn];
            let count = bench.rng.between(1, self.config.max_assertions.max(1));
            let assertions: Vec<_> =
                (0..count).filter_map(|_| pools.draw(&self.config, bench.rng)).map(|f| f.asserted).collect();
            let incremental = bench.rng.chance(self.config.incremental);
            let (script, frames) = if incremental {
                frames::spread(&self.skeleton, &assertions, bench.rng)
            } else {
                (self.skeleton.script(&[], &assertions), 1)
            };
            // The construction made every assertion true; a failure here could only be a budget.
            let Ok(witness) = world.witness(bench.store, &script) else { continue };
            self.made += 1;
            let change = format!("{count} assertions in {frames} frames under model {turn}");
            return Some(Draft::satisfied(script, witness).with_changes(vec![change]));
        }
        None
    }

    fn length(&self) -> usize {
        self.length
    }
}
