//! `osprey bench blame`: whom the judge blames.

use std::path::PathBuf;
use std::time::Duration;

use anyhow::Result;
use bench::museum::blame;
use bench::museum::judged::Settings;
use clap::Args;

use super::{Common, Terminal, command_line};
use crate::exit::Exit;
use crate::{duration, solver_choice};

/// Judge releases of one family that contradict each other: who is blamed?
#[derive(Args)]
#[command(after_help = "\
Examples:
  osprey bench blame museum
  osprey bench blame museum --filter solver=z3 --json blame.json

Each trigger is run by every installed release of its family. Of releases that contradict each other, and of which the
museum knows who is right, pairs are judged in both orders, with third opinions and without. The right one must never
be accused.")]
pub struct Blame {
    /// The museum: a folder of items, or one that has a folder `items`
    #[arg(value_name = "DIR", default_value = "museum")]
    folder: PathBuf,

    /// Only items that match: solver=, version=, kind=, theory=, tag=, or a part of the name; commas mean or
    #[arg(long = "filter", value_name = "FILTER")]
    filters: Vec<String>,

    /// Time of one run at most
    #[arg(long, value_name = "TIME", default_value = "10", value_parser = duration::parse)]
    timeout: Duration,

    #[command(flatten)]
    common: Common,
}

impl Blame {
    pub fn run(self) -> Result<Exit> {
        let solvers = solver_choice::all(&[])?;
        let settings = Settings {
            folder: self.folder,
            filters: self.filters,
            timeout: self.timeout,
            jobs: self.common.jobs,
            command: command_line(),
        };
        let report = blame::run(&settings, &solvers, &Terminal::new())?;
        self.common.publish(&report)
    }
}
