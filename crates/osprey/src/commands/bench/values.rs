//! `osprey bench values`: ValFuzz's configurations on known bugs.

use std::path::PathBuf;
use std::time::Duration;

use anyhow::Result;
use bench::values::{self, Configuration, Settings};
use clap::Args;
use engines::values::Preset;

use super::{Common, Terminal, command_line};
use crate::exit::Exit;
use crate::{duration, solver_choice};

/// Find known bugs again with other constants: the paper's configurations side by side
#[derive(Args)]
#[command(after_help = "\
Examples:
  osprey bench values museum --corpus corpus --records values.jsonl --json values.json
  osprey bench values museum --configurations rbase,blendb,default --repetitions 2 --items 10
  osprey bench values museum --configurations multief1,multief3,multief5,multief7,multief9   the sweep of Figure 5a
  osprey bench values museum --items 0 --corpus corpus --records values.jsonl   quantifiers and enforcement only

Items whose bug shows with each of 50 random choices of constants do not depend on them and are counted out. With
--records a benchmark that was ended goes on where it was, with the same settings; rounds that --round-time cut are measured
again when it is longer.")]
pub struct Values {
    /// The museum: a folder of items, or one that has a folder `items`
    #[arg(value_name = "DIR", default_value = "museum")]
    folder: PathBuf,

    /// Only items that match: solver=, version=, kind=, theory=, tag=, or a part of the name; commas mean or
    #[arg(long = "filter", value_name = "FILTER")]
    filters: Vec<String>,

    /// At most so many items whose bug depends on constants
    #[arg(long, value_name = "N", default_value_t = 40)]
    items: usize,

    /// Configurations, separated by commas: those of the paper, rbase-edges, default, multiefN, relcN, each also with -directed (by coverage); all of the paper unless told otherwise
    #[arg(long, value_name = "LIST", value_delimiter = ',')]
    configurations: Vec<Configuration>,

    /// Enforcements per round
    #[arg(long, value_name = "N", default_value_t = 50)]
    iterations: usize,

    /// Repetitions with other random choices
    #[arg(long, value_name = "R", default_value_t = 5)]
    repetitions: u64,

    /// CPU time of one round, of solvers and ours; rounds that it cuts are counted
    #[arg(long, value_name = "TIME", default_value = "60", value_parser = duration::parse)]
    round_time: Duration,

    /// Files for the experiments on quantifiers and on what enforcement comes to; these are left out without
    #[arg(long, value_name = "DIR")]
    corpus: Option<PathBuf>,

    /// Files of each kind from there
    #[arg(long, value_name = "N", default_value_t = 200)]
    files: usize,

    /// Enforcements per file there
    #[arg(long, value_name = "N", default_value_t = 4)]
    corpus_iterations: usize,

    /// CPU time of one round there; rounds that it cuts are counted
    #[arg(long, value_name = "TIME", default_value = "20", value_parser = duration::parse)]
    corpus_time: Duration,

    /// Repetitions there
    #[arg(long, value_name = "R", default_value_t = 3)]
    corpus_repetitions: u64,

    /// A file for the result of each round; what is there already is not measured again
    #[arg(long, value_name = "FILE")]
    records: Option<PathBuf>,

    /// Releases without the bugs, which give models; the newest z3 and cvc5 here unless told otherwise
    #[arg(long = "reference", value_name = "SPEC")]
    references: Vec<String>,

    /// Where random choices start
    #[arg(long, value_name = "N", default_value_t = 1)]
    rng_seed: u64,

    #[command(flatten)]
    common: Common,
}

impl Values {
    pub fn run(self) -> Result<Exit> {
        let solvers = solver_choice::all(&[])?;
        let references = match self.references.as_slice() {
            [] => solver_choice::default_pair(&solvers)?,
            specs => solver_choice::resolve(&solvers, specs)?,
        };
        let of_paper = |preset: Preset| Configuration { name: preset.to_string(), values: preset.settings() };
        let configurations = match self.configurations.is_empty() {
            true => Preset::of_table_v().map(of_paper).collect(),
            false => self.configurations,
        };
        let settings = Settings {
            folder: self.folder,
            filters: self.filters,
            items: self.items,
            configurations,
            iterations: self.iterations,
            repetitions: self.repetitions,
            time: self.round_time,
            corpus: self.corpus,
            files: self.files,
            corpus_iterations: self.corpus_iterations,
            corpus_time: self.corpus_time,
            corpus_repetitions: self.corpus_repetitions,
            records: self.records,
            rng_seed: self.rng_seed,
            jobs: self.common.jobs,
            command: command_line(),
        };
        let report = values::run(&settings, &solvers, &references, &Terminal::new())?;
        self.common.publish(&report)
    }
}
