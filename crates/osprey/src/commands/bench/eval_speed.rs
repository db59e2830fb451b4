//! `osprey bench eval`: the speed of the evaluator.

use std::path::PathBuf;

use anyhow::{Result, bail};
use bench::eval_speed::EvalSpeed;
use clap::Args;

use super::{Common, Terminal, command_line};
use crate::exit::Exit;

/// Measure the evaluator: nodes, replacements and string operations per second, and memory
#[derive(Args)]
#[command(name = "eval")]
pub struct EvalSpeedCommand {
    /// Seconds for each figure
    #[arg(long, value_name = "SECONDS", default_value_t = 3.0)]
    seconds: f64,

    /// Evaluations over which memory is watched
    #[arg(long, value_name = "N", default_value_t = 10_000_000)]
    evaluations: u64,

    /// A folder with Z3's Python module; fetched with pip otherwise
    #[arg(long, value_name = "DIR")]
    z3_module: Option<PathBuf>,

    /// Where random choices start
    #[arg(long, value_name = "SEED", default_value_t = 1)]
    rng_seed: u64,

    #[command(flatten)]
    common: Common,
}

impl EvalSpeedCommand {
    pub fn run(self) -> Result<Exit> {
        if !(self.seconds > 0.0 && self.seconds.is_finite()) {
            bail!("--seconds must be a positive number, not {}", self.seconds);
        }
        let settings = EvalSpeed {
            seconds: self.seconds,
            evaluations: self.evaluations,
            z3_module: self.z3_module,
            rng_seed: self.rng_seed,
            command: command_line(),
        };
        let report = settings.run(&Terminal::new())?;
        self.common.publish(&report)
    }
}
