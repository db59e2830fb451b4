//! `osprey bench verdicts`: verdicts on known bugs.

use std::path::PathBuf;
use std::time::Duration;

use anyhow::Result;
use bench::museum::judged::Settings;
use bench::museum::verdicts;
use clap::Args;

use super::{Common, Terminal, command_line};
use crate::exit::Exit;
use crate::{duration, solver_choice};

/// Judge known bugs: is the recorded verdict reached?
#[derive(Args)]
#[command(after_help = "\
Examples:
  osprey bench verdicts museum
  osprey bench verdicts museum --filter kind=invalid-model --reference z3@5.4.0

Each trigger is run by its release with its options beside the references, and judged as `osprey check` judges.")]
pub struct Verdicts {
    /// The museum: a folder of items, or one that has a folder `items`
    #[arg(value_name = "DIR", default_value = "museum")]
    folder: PathBuf,

    /// Only items that match: solver=, version=, kind=, theory=, tag=, or a part of the name; commas mean or
    #[arg(long = "filter", value_name = "FILTER")]
    filters: Vec<String>,

    /// Releases that are run beside the old one; the newest z3 and cvc5 here unless told otherwise
    #[arg(long = "reference", value_name = "SPEC")]
    references: Vec<String>,

    /// Time of one run at most
    #[arg(long, value_name = "TIME", default_value = "10", value_parser = duration::parse)]
    timeout: Duration,

    #[command(flatten)]
    common: Common,
}

impl Verdicts {
    pub fn run(self) -> Result<Exit> {
        let solvers = solver_choice::all(&[])?;
        let references = match self.references.as_slice() {
            [] => solver_choice::default_pair(&solvers)?,
            specs => solver_choice::resolve(&solvers, specs)?,
        };
        let settings = Settings {
            folder: self.folder,
            filters: self.filters,
            timeout: self.timeout,
            jobs: self.common.jobs,
            command: command_line(),
        };
        let report = verdicts::run(&settings, &solvers, &references, &Terminal::new())?;
        self.common.publish(&report)
    }
}
