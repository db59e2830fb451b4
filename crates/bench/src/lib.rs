//! Benchmarks: every claim of the project is one command away from being checked.
//!
//! A benchmark is one module with a function that takes its settings and a [`Watch`] and gives a [`Report`]. The
//! command line shows the report as Markdown and writes it as JSON; the page of all benchmarks is made of such files.
//!
//! - [`report`]: results with everything a reader needs to judge them; [`markdown`]: how they look; [`page`]: all of them
//! - [`mutants`], [`acceptance`]: rates of engines, and whether solvers read what they make
//! - [`eval_diff`]: the evaluator against solvers, with the cases of [`differential`]; [`eval_speed`]: its speed
//! - [`throughput`]: executions per second; [`coverage`]: what watching the code of solvers costs; [`store`]: what the
//!   store of a campaign costs
//! - [`reporting`]: what reports and the dashboard cost
//! - [`constructs`]: the experiments of BanditFuzz
//! - [`machine`]: where and when; [`watch`]: progress and ending early
//! - [`precision`]: whether options that are said to matter do
//! - [`values`]: ValFuzz's configurations on known bugs
//! - [`museum`]: known bugs found again; [`race`]: other fuzzers side by side; [`variants`]: Osprey against itself;
//!   [`mod@reduce`]: reduction next to ddSMT

pub mod acceptance;
pub mod constructs;
pub mod coverage;
pub mod differential;
pub mod error;
pub mod eval_diff;
pub mod eval_speed;
pub mod machine;
pub mod markdown;
pub mod museum;
pub mod mutant_quality;
pub mod mutants;
pub mod page;
pub mod precision;
pub mod race;
pub mod records;
pub mod reduce;
pub mod report;
pub mod reporting;
pub mod store;
pub mod throughput;
pub mod values;
pub mod variants;
pub mod watch;

pub use self::report::{Cell, Draft, Report, Skipped, Table};
pub use error::BenchError;
pub use watch::{Unwatched, Watch};
