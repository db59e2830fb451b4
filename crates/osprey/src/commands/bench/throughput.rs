//! `osprey bench throughput`: executions per second.

use std::path::PathBuf;

use anyhow::Result;
use bench::throughput::Throughput;
use clap::Args;

use super::{Common, Terminal, command_line};
use crate::exit::Exit;
use crate::solver_choice;

/// Measure executions per second, plain starts against fast ones
#[derive(Args)]
#[command(after_help = "\
Examples:
  osprey bench throughput
  osprey bench throughput -s z3@5.4.0 --files seeds/")]
pub struct ThroughputCommand {
    /// A solver to run; may be repeated
    #[arg(short, long = "solver", value_name = "SPEC",
        default_values = ["z3@5.4.0", "z3@4.8.7", "cvc5@1.4.2", "yices@2.6.5"])]
    solvers: Vec<String>,

    /// Take 50 small scripts from this folder instead of the built-in ones
    #[arg(long, value_name = "DIR")]
    files: Option<PathBuf>,

    /// Runs of the trivial script
    #[arg(long, value_name = "N", default_value_t = 200)]
    trivial: usize,

    #[command(flatten)]
    common: Common,
}

impl ThroughputCommand {
    pub fn run(self) -> Result<Exit> {
        let solvers = solver_choice::all(&[])?;
        let settings = Throughput {
            solvers: solver_choice::resolve(&solvers, &self.solvers)?,
            files: self.files,
            trivial: self.trivial,
            command: command_line(),
        };
        let report = settings.run(&Terminal::new())?;
        self.common.publish(&report)
    }
}
