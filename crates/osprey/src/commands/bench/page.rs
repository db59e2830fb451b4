//! `osprey bench page`: the page of all results.

use std::path::PathBuf;

use anyhow::Result;
use clap::Args;

use crate::exit::Exit;
use crate::output;

/// Write the page of benchmarks from a folder of results
#[derive(Args)]
pub struct Page {
    /// The folder; the page is written beside it, with .md at the end of its name. A file summary.md in it comes first
    #[arg(value_name = "DIR", default_value = "docs/benchmarks")]
    folder: PathBuf,
}

impl Page {
    pub fn run(self) -> Result<Exit> {
        let path = bench::page::write(&self.folder)?;
        output::print_line(&path.display().to_string())?;
        Ok(Exit::Clean)
    }
}
