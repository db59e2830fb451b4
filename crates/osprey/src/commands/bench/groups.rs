//! `osprey bench groups`: is one bug one finding?

use std::path::PathBuf;
use std::time::Duration;

use anyhow::Result;
use bench::museum::groups::{self, Making};
use bench::museum::judged::Settings;
use clap::Args;

use super::{Common, Terminal, command_line};
use crate::duration;
use crate::exit::Exit;

/// Tell findings of known different bugs apart: how many entries does a developer get per bug?
#[derive(Args)]
#[command(after_help = "\
Examples:
  osprey bench groups museum --time 60 --out groups
  osprey bench groups museum --filter solver=z3 --out groups --json groups.json

Each item's trigger is the seed of a campaign on the item's release; campaigns that are in --out are not run again. All
findings together are told apart by signatures alone and by groups. 1.0 entries per bug and 1.0 bugs per entry are
perfect.")]
pub struct Groups {
    /// The museum: a folder of items, or one that has a folder `items`
    #[arg(value_name = "DIR", default_value = "museum")]
    folder: PathBuf,

    /// Only items that match: solver=, version=, kind=, theory=, tag=, or a part of the name; commas mean or
    #[arg(long = "filter", value_name = "FILTER")]
    filters: Vec<String>,

    /// Time of the campaign of one item
    #[arg(long, value_name = "TIME", default_value = "60", value_parser = duration::parse)]
    time: Duration,

    /// Releases that are asked for their opinion
    #[arg(long = "reference", value_name = "SPEC", default_values_t = ["z3@5.4.0".to_owned(), "cvc5@1.4.2".to_owned()])]
    references: Vec<String>,

    /// Where the campaigns are kept
    #[arg(short, long, value_name = "DIR", default_value = "osprey-groups")]
    out: PathBuf,

    #[command(flatten)]
    common: Common,
}

impl Groups {
    pub fn run(self) -> Result<Exit> {
        let settings = Settings {
            folder: self.folder,
            filters: self.filters,
            timeout: self.time,
            jobs: self.common.jobs,
            command: command_line(),
        };
        let making = Making {
            osprey: std::env::current_exe()?,
            time: self.time,
            references: self.references,
            out: self.out,
        };
        let report = groups::run(&settings, &making, &Terminal::new())?;
        self.common.publish(&report)
    }
}
