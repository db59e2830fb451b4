//! `osprey bench store`: what the store of a campaign costs.

use std::path::PathBuf;
use std::time::Duration;

use anyhow::Result;
use bench::store::StoreCost;
use clap::Args;

use super::{Common, Terminal, command_line};
use crate::duration;
use crate::exit::Exit;

/// Measure what the store costs with many workers, whose solver runs are recorded times
#[derive(Args)]
#[command(after_help = "\
Examples:
  osprey bench store --workers 1,8,64                                      SQLite only
  osprey bench store --server postgres://osprey@localhost/scratch --workers 1,64

On the server, each measurement makes a schema bench_PROCESS_WORKERS and leaves it there: use a database for nothing else.")]
pub struct Store {
    /// A server to measure beside SQLite; the password is taken from PGPASSWORD or ~/.pgpass
    #[arg(long, value_name = "URL")]
    server: Option<String>,

    /// Numbers of workers, separated by commas
    #[arg(long, value_name = "LIST", value_delimiter = ',', default_values_t = [1, 4, 16, 64])]
    workers: Vec<usize>,

    /// Time of each measurement
    #[arg(long, value_name = "TIME", default_value = "60", value_parser = duration::parse)]
    time: Duration,

    /// A folder for campaigns and journals
    #[arg(short, long, value_name = "DIR", default_value = "osprey-bench-store")]
    out: PathBuf,

    /// Where random choices start
    #[arg(long, value_name = "N", default_value_t = 1)]
    rng_seed: u64,

    #[command(flatten)]
    common: Common,
}

impl Store {
    pub fn run(self) -> Result<Exit> {
        let settings = StoreCost {
            server: self.server,
            workers: self.workers,
            time: self.time,
            out: self.out,
            rng_seed: self.rng_seed,
            command: command_line(),
        };
        let report = settings.run(&Terminal::new())?;
        self.common.publish(&report)
    }
}
