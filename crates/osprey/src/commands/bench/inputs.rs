//! `osprey bench inputs`: how fast the inputs of `perf` and `localize` are made and changed.

use anyhow::Result;
use bench::constructs::rates::{self, Settings};
use clap::Args;

use super::{Common, Terminal, command_line};
use crate::exit::Exit;

/// Measure how fast inputs are made and changed by constructs
#[derive(Args)]
#[command(after_help = "\
Examples:
  osprey bench inputs --json inputs.json
  osprey bench inputs --logic QF_BV,QF_NIA --count 5000")]
pub struct Inputs {
    /// The logics
    #[arg(
        long,
        value_name = "LIST",
        value_delimiter = ',',
        default_value = "QF_FP,QF_SLIA,QF_BV,QF_LIA,QF_NRA,QF_ABV"
    )]
    logic: Vec<String>,

    /// Inputs per logic
    #[arg(long, value_name = "N", default_value_t = 2000)]
    count: u64,

    /// The seed of all random choices
    #[arg(long, value_name = "N", default_value_t = 0)]
    rng_seed: u64,

    #[command(flatten)]
    common: Common,
}

impl Inputs {
    pub fn run(self) -> Result<Exit> {
        let settings = Settings {
            logics: self.logic.clone(),
            count: self.count,
            rng_seed: self.rng_seed,
            command: command_line(),
        };
        let report = rates::run(&settings, &Terminal::new())?;
        self.common.publish(&report)
    }
}
