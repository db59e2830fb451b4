//! STORM (Mansur, Christakis, Wüstholz, Zhang: Detecting Critical Bugs in SMT Solvers Using Blackbox Mutational Fuzzing,
//! ESEC/FSE 2020): satisfiable instances out of the Boolean fragments of any seed.
//!
//! A model assigns values to the seed's symbols; our evaluator tells which fragments are true under it; instances assert
//! true fragments and negations of false ones. The model is the witness.

mod config;
mod pools;

use eval::World;
use smtlib::{Command, Script};

pub use config::Storm;
use pools::Pools;

use crate::case::{Expectation, Provenance, TestCase};
use crate::engine::{Bench, Engine, Round};
use crate::skeleton::Skeleton;
use crate::worlds::{self, Wanted};

/// Frames of an incremental instance.
const FRAMES: usize = 5;

impl Engine for Storm {
    fn name(&self) -> &'static str {
        "storm"
    }

    fn open(&self, bench: &mut Bench<'_>) -> Option<Box<dyn Round>> {
        let seed = bench.seeds.first()?;
        let name = seed.name.clone();
        let skeleton = Skeleton::of(bench.store, &seed.script)?;
        let wanted = Wanted { asked: self.models, random: self.random_models, open_cases: self.open_cases };
        let sources = worlds::any(bench, &skeleton, wanted);
        let mut worlds: Vec<(World, Pools)> = Vec::with_capacity(sources.len());
        for mut world in sources {
            let pools = Pools::fill(self, bench, &skeleton, &mut world);
            if !pools.is_empty() {
                worlds.push((world, pools));
            }
        }
        let largest = worlds.iter().map(|(_, pools)| pools.initial()).max()?;
        let left = self.instances.scaled(largest);
        Some(Box::new(Instances { config: self.clone(), seed: name, skeleton, worlds, left, step: 0 }))
    }
}

struct Instances {
    config: Storm,
    seed: String,
    skeleton: Skeleton,
    worlds: Vec<(World, Pools)>,
    left: usize,
    step: usize,
}

impl Round for Instances {
    fn next(&mut self, bench: &mut Bench<'_>) -> Option<TestCase> {
        while self.left > 0 {
            self.left -= 1;
            let turn = self.step % self.worlds.len();
            let (world, pools) = &mut self.worlds[turn];
            let count = bench.rng.between(1, self.config.max_assertions.max(1));
            let assertions: Vec<_> =
                (0..count).filter_map(|_| pools.draw(&self.config, bench.rng)).map(|f| f.asserted).collect();
            let incremental = bench.rng.chance(self.config.incremental);
            let (script, frames) = if incremental {
                incremental_script(&self.skeleton, &assertions, bench)
            } else {
                (self.skeleton.script(&[], &assertions), 1)
            };
            // The construction made every assertion true; a failure here could only be a budget.
            let Ok(witness) = world.witness(bench.store, &script) else { continue };
            let provenance = Provenance {
                engine: "storm".to_owned(),
                seeds: vec![self.seed.clone()],
                step: self.step,
                changes: vec![format!("{count} assertions in {frames} frames under model {turn}")],
            };
            self.step += 1;
            return Some(TestCase { script, expectation: Expectation::Sat(Box::new(witness)), provenance });
        }
        None
    }
}

/// The assertions spread over frames, each with a check; every frame is true under the same model (section 4,
/// incremental mode).
fn incremental_script(
    skeleton: &Skeleton,
    assertions: &[smtlib::Term],
    bench: &mut Bench<'_>,
) -> (Script, usize) {
    let frames = bench.rng.between(2, FRAMES);
    let mut commands = skeleton.preamble().to_vec();
    let mut open = 0;
    for frame in 0..frames {
        if frame > 0 {
            if open > 0 && bench.rng.chance(0.4) {
                let count = bench.rng.between(1, open);
                commands.push(Command::Pop(count as u32));
                open -= count;
            }
            if bench.rng.chance(0.8) {
                commands.push(Command::Push(1));
                open += 1;
            }
        }
        let part = assertions.iter().skip(frame).step_by(frames);
        commands.extend(part.map(|term| Command::Assert(*term)));
        commands.push(skeleton.check().clone());
    }
    (Script { commands }, frames)
}
