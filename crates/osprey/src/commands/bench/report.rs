//! `osprey bench report`: what looking at a campaign costs.

use std::path::PathBuf;
use std::time::Duration;

use anyhow::{Context, Result};
use bench::reporting::ReportCost;
use clap::Args;

use super::{Common, Terminal, command_line};
use crate::duration;
use crate::exit::Exit;

/// Measure the time a report takes, and the CPU share of a dashboard while a campaign runs
#[derive(Args)]
#[command(after_help = "\
Examples:
  osprey bench report --findings 20,1000 --time 60")]
pub struct ReportCommand {
    /// Numbers of findings, separated by commas
    #[arg(long, value_name = "LIST", value_delimiter = ',', default_values_t = [20, 1000])]
    findings: Vec<usize>,

    /// How long a dashboard is watched
    #[arg(long, value_name = "TIME", default_value = "60", value_parser = duration::parse)]
    time: Duration,

    /// A folder for campaigns and reports
    #[arg(short, long, value_name = "DIR", default_value = "osprey-bench-report")]
    out: PathBuf,

    /// Where random choices start
    #[arg(long, value_name = "N", default_value_t = 1)]
    rng_seed: u64,

    #[command(flatten)]
    common: Common,
}

impl ReportCommand {
    pub fn run(self) -> Result<Exit> {
        let cost = ReportCost {
            findings: self.findings,
            time: self.time,
            out: self.out,
            program: std::env::current_exe().context("this program")?,
            rng_seed: self.rng_seed,
            command: command_line(),
        };
        let report = cost.run(&Terminal::new())?;
        self.common.publish(&report)
    }
}
