//! What to do next and for how long, from counts alone: engine, seeds, logic, options, length.

mod avoid;
mod choice;
mod learned;
mod length;
mod logics;
mod novelty;
mod plan;
mod policy;
mod pool;
mod rarity;
mod reached;
mod statistics;

pub use avoid::Culprits;
pub use choice::Worth;
pub use length::{Length, Usual};
pub use logics::logics;
pub use novelty::{Novelty, Signal, signals};
pub use plan::Scheduler;
pub use policy::{ChainOptions, Observation, OptionPolicy, Policies};
pub use pool::SeedPool;
pub use rarity::Rarity as SeedRarity;
pub use reached::{NewCode, Reached, Sites, SolverCoverage};
pub use statistics::{GET_STATISTICS, SHARE};
