//! `osprey bench kernel`: the kernel's part of solver runs.

use std::path::PathBuf;

use anyhow::Result;
use bench::throughput::KernelShare;
use clap::Args;

use super::{Common, Terminal, command_line};
use crate::exit::Exit;
use crate::solver_choice;

/// Measure what solver runs cost the kernel, before and after they were made to cost it less
#[derive(Args)]
#[command(after_help = "\
Examples:
  osprey bench kernel
  osprey bench kernel -s z3@5.4.0 --files seeds/")]
pub struct KernelCommand {
    /// A solver to run; may be repeated
    #[arg(short, long = "solver", value_name = "SPEC",
        default_values = ["z3@5.4.0", "z3@4.8.7", "cvc5@1.4.2", "yices@2.6.5", "bitwuzla@0.9.1"])]
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

impl KernelCommand {
    pub fn run(self) -> Result<Exit> {
        let solvers = solver_choice::all(&[])?;
        let settings = KernelShare {
            solvers: solver_choice::resolve(&solvers, &self.solvers)?,
            home: solvers.home().clone(),
            files: self.files,
            trivial: self.trivial,
            command: command_line(),
        };
        let report = settings.run(&Terminal::new())?;
        self.common.publish(&report)
    }
}
