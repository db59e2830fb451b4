//! `osprey bench race`: Osprey and other fuzzers, the same seeds, the same CPU time.

use anyhow::Result;
use bench::race::contestant::Contestant;
use bench::race::{self, Settings};
use clap::Args;

use super::field::FieldArguments;
use super::{Common, Terminal, command_line};
use crate::exit::Exit;

/// Race with other fuzzers on the same seeds and CPU time
#[derive(Args)]
#[command(after_help = "\
Examples:
  osprey bench race --target z3@4.8.7 --reference z3@5.4.0 --seeds seeds/ --count 300 --budget 20m \\
    --peer 'opfuzz=opfuzz -i 300 -b {out} -s {scratch} -l {scratch} \"{target} model_validate=true;{reference}\" {seeds}' \\
    --peer 'typefuzz=typefuzz -i 300 -b {out} -s {scratch} -l {scratch} \"{target} model_validate=true;{reference}\" {seeds}'

Peers come from your own installation. In a peer's command {target} and {reference} are the solvers' command lines,
{seeds} the folder of seeds, {out} where it leaves bug triggers as .smt2 files, {scratch} where it may leave the rest.
A peer that ends before its time is started again.")]
pub struct Race {
    #[command(flatten)]
    field: FieldArguments,

    /// Another fuzzer: NAME=COMMAND with {target} {reference} {seeds} {out} {scratch}
    #[arg(long = "peer", value_name = "PEER")]
    peers: Vec<Contestant>,

    /// More words for osprey's own command line
    #[arg(long, value_name = "WORDS", default_value = "", allow_hyphen_values = true)]
    osprey_options: String,

    #[command(flatten)]
    common: Common,
}

impl Race {
    pub fn run(self) -> Result<Exit> {
        let settings = Settings {
            field: self.field.field(&self.common)?,
            osprey_options: self.osprey_options.clone(),
            peers: self.peers.clone(),
            rng_seed: self.field.rng_seed,
            command: command_line(),
        };
        let report = race::run(&settings, &Terminal::new())?;
        self.common.publish(&report)
    }
}
