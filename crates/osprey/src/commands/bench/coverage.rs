//! `osprey bench coverage`: what watching a solver costs, and that nothing of it shows.

use std::path::PathBuf;
use std::time::Duration;

use anyhow::Result;
use bench::coverage::CoverageCost;
use clap::Args;

use super::{Common, Terminal, command_line};
use crate::exit::Exit;
use crate::{duration, solver_choice};

/// Measure what watching the code of solvers costs, and compare their outputs with unwatched runs
#[derive(Args)]
#[command(after_help = "\
Examples:
  osprey bench coverage --files seeds/
  osprey bench coverage -s yices@2.6.5 --files seeds/ --count 50

Whether the signal helps is a comparison of variants:
  osprey bench variants --target z3@4.8.7 --reference z3@5.4.0 --seeds seeds/ --budget 20m --repeat 3 --out signal \\
    --variant 'with=' --variant 'without=--unused-coverage'")]
pub struct CoverageCommand {
    /// A solver to run; may be repeated
    #[arg(short, long = "solver", value_name = "SPEC",
        default_values = ["z3@5.4.0", "z3@4.8.7", "cvc5@1.4.2", "cvc5@1.0.3", "yices@2.6.5", "bitwuzla@0.9.1"])]
    solvers: Vec<String>,

    /// Take small scripts from this folder
    #[arg(long, value_name = "DIR")]
    files: PathBuf,

    /// How many scripts
    #[arg(long, value_name = "N", default_value_t = 300)]
    count: usize,

    /// Rounds in which nothing is new, for the cost
    #[arg(long, value_name = "N", default_value_t = 2)]
    rounds: usize,

    /// Time for each run
    #[arg(long, value_name = "TIME", default_value = "2", value_parser = duration::parse)]
    timeout: Duration,

    #[command(flatten)]
    common: Common,
}

impl CoverageCommand {
    pub fn run(self) -> Result<Exit> {
        let solvers = solver_choice::all(&[])?;
        let settings = CoverageCost {
            solvers: solver_choice::resolve(&solvers, &self.solvers)?,
            home: solvers.home().clone(),
            files: self.files,
            count: self.count,
            rounds: self.rounds,
            timeout: self.timeout,
            command: command_line(),
        };
        let report = settings.run(&Terminal::new())?;
        self.common.publish(&report)
    }
}
