//! ValFuzz (Wolff: Value Mutation Testing for SMT Solvers, ETH Zürich 2020): the constants of a seed, chosen by solvers so
//! that Boolean sub-expressions take truth values not seen yet.
//!
//! - [`Values`]: the engine and its settings; [`Preset`]: the configurations of the paper
//! - `holes`: the skeleton; `expressions`, `domains`, `meta`: the meta-formula and its monitors
//! - `coverage`: what has been seen, and what to enforce next
//! - `coercion`: a round

mod coercion;
mod config;
mod coverage;
mod domains;
mod explain;
mod expressions;
mod holes;
mod meta;

pub(crate) use coercion::Coercion;
pub use config::{Preset, Quantifiers, UnknownPreset, Values};
pub(crate) use holes::{Hole, Holes};
pub(crate) use meta::random_constant;

use crate::engine::{Bench, Engine, Round};

impl Engine for Values {
    fn name(&self) -> &str {
        "values"
    }

    fn open(&self, bench: &mut Bench<'_>) -> Option<Box<dyn Round>> {
        let seed = bench.seeds.first()?;
        let round = Coercion::open(self, bench, &seed.script)?;
        Some(Box::new(round))
    }
}
