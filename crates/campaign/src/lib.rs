//! The campaign: from seeds and engines to a folder of unique findings.
//!
//! A campaign is made of numbered *rounds*. A worker takes the next number, plans the round from what has been learned
//! (engine, seeds, logic), lets the engine make test cases, runs them on all solvers that have their theories, has
//! the runs judged, and follows up every suspicion until it is confirmed, made smaller, told apart from known ones and on
//! disk. What it learned are counts, added to those of all others.
//!
//! - [`config`]: what a campaign is; [`stop`]: when it ends; [`campaign`]: from start to summary
//! - [`seeds`], [`pool`]: seeds from files, and those in use; [`plan`], [`round`], [`streams`]: what a round does
//! - [`learned`], [`novelty`], [`statistics`]: counts and new behaviour, for the scheduler
//! - [`worker`], [`executor`], [`pace`], [`ask`], [`policy`], [`target`]: making and running test cases
//! - [`inquiry`], [`docket`], [`reduction`], [`releases`]: from a suspicion to a finding
//! - [`finding`], [`folder`], [`report`]: findings on disk
//! - [`state`], [`database`], [`totals`], [`usage`]: what all workers share, and its copy on disk
//! - [`store`]: the memory of a campaign that several processes share
//! - [`observer`], [`journal`]: who looks on
//! - [`replay`]: a finding once more

pub mod ask;
pub mod campaign;
pub mod config;
pub mod database;
pub mod docket;
pub mod error;
pub mod exchange;
pub mod executor;
pub mod finding;
pub mod folder;
pub mod hash;
pub mod inquiry;
pub mod journal;
pub mod learned;
pub mod novelty;
pub mod observer;
pub mod pace;
pub mod plan;
pub mod policy;
pub mod pool;
pub mod reduction;
pub mod releases;
pub mod replay;
pub mod report;
pub mod round;
pub mod seeds;
pub mod signature;
pub mod state;
pub mod statistics;
pub mod stop;
pub mod store;
pub mod streams;
pub mod target;
pub mod totals;
pub mod usage;
pub mod worker;

pub use campaign::{Summary, run};
pub use config::{Identity, Settings};
pub use database::Known;
pub use error::CampaignError;
pub use finding::Finding;
pub use observer::{Observer, Silent, Snapshot};
pub use policy::PolicyName;
pub use seeds::{Harvest, SeedText, harvest};
pub use state::stored_rng_seed;
pub use target::Target;
pub use totals::Totals;
