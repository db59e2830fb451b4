//! ValFuzz (Wolff: Value Mutation Testing for SMT Solvers, ETH Zürich 2020): the constants of a seed, chosen by solvers so
//! that Boolean sub-expressions take truth values not seen yet.
//!
//! - [`Values`]: the engine and its settings; [`Preset`]: the configurations of the paper
//! - `holes`: the skeleton; `constants`: what may stand in it; `skolems`, `expressions`, `domains`, `meta`: the meta-formula and its monitors
//! - `coverage`: what has been seen, and what to enforce next; `digest`: what is remembered of it in short
//! - `coercion`: a round; `found`: what solvers say; `memory`: what a later round is to know; `watch`: what a model of a mutant covers

mod coercion;
mod config;
mod constants;
mod coverage;
mod digest;
mod domains;
mod explain;
mod expressions;
mod found;
mod holes;
mod memory;
mod meta;
mod skolems;
mod watch;

pub(crate) use coercion::Coercion;
pub use config::{Preset, Quantifiers, UnknownPreset, Values};
pub(crate) use constants::{is_readable, random_constant};
pub(crate) use holes::{Hole, Holes};

use smtlib::{Command, Script, Store};

use crate::engine::{Bench, Engine, Round, Seed};
use crate::skeleton::Skeleton;

impl Engine for Values {
    fn name(&self) -> &str {
        "values"
    }

    fn declines(&self, store: &mut Store, seeds: &[Seed]) -> Option<&'static str> {
        let script = &seeds.first()?.script;
        Some(match Holes::of(store, script) {
            None if script.commands.iter().any(is_reset) => "resets",
            None if has_constants(store, script) => "constants of sorts or at places that stay as they are",
            None => "no constants",
            Some(holes) => match Skeleton::of(store, &holes.skeleton()) {
                None => "names declared twice",
                Some(skeleton) if skeleton.everything.is_empty() => "nothing usable is asserted",
                Some(_) => "too large",
            },
        })
    }

    fn open(&self, bench: &mut Bench<'_>) -> Option<Box<dyn Round>> {
        let seed = bench.seeds.first()?;
        let round = Coercion::open(self, bench, &seed.script, seed.memory.as_deref())?;
        Some(Box::new(round))
    }
}

fn is_reset(command: &Command) -> bool {
    matches!(command, Command::Reset | Command::ResetAssertions)
}

fn has_constants(store: &Store, script: &Script) -> bool {
    store.subterms(&script.terms(store)).iter().any(|term| holes::is_constant(store, *term))
}
