//! `osprey bench variants`: Osprey against itself, several times over.

use std::path::PathBuf;

use anyhow::{Result, bail};
use bench::variants::{self, Settings, Variant};
use clap::Args;

use super::field::FieldArguments;
use super::{Common, Terminal, command_line};
use crate::exit::Exit;

/// Compare ways of running osprey: engines, settings, options
#[derive(Args)]
#[command(after_help = "\
Examples:
  osprey bench variants --target z3@4.8.7 --reference z3@5.4.0 --seeds seeds/ --budget 10m --repeat 3 --out diver \\
    --variant 'default=--engine diver' --variant 'uniform=--engine diver --diver-uniform' \\
    --variant 'no-complicate=--engine diver --diver-no-complicate'
  osprey bench variants ... --resume            go on after Ctrl-C: finished campaigns are not run again
  osprey bench variants ... --records night.jsonl    the same on any machine: results are kept in this file

Each variant is a campaign of its own with the same seeds and CPU time on one core; each repetition has another random
seed. What is left to reduce when the time is up is reduced afterwards.")]
pub struct Variants {
    #[command(flatten)]
    field: FieldArguments,

    /// A variant: NAME=WORDS, where the words are options of `osprey fuzz`
    #[arg(long = "variant", value_name = "VARIANT", required = true)]
    variants: Vec<Variant>,

    /// Campaigns per variant
    #[arg(long, value_name = "N", default_value_t = 3, value_parser = clap::value_parser!(u64).range(1..=100))]
    repeat: u64,

    /// A file for the result of each campaign; those that are in it already are not run again
    #[arg(long, value_name = "FILE")]
    records: Option<PathBuf>,

    #[command(flatten)]
    common: Common,
}

impl Variants {
    pub fn run(self) -> Result<Exit> {
        for (place, variant) in self.variants.iter().enumerate() {
            if self.variants[..place].iter().any(|other| other.name == variant.name) {
                bail!("two variants are called '{}'", variant.name);
            }
        }
        let settings = Settings {
            field: self.field.field(&self.common)?,
            variants: self.variants.clone(),
            repeat: self.repeat,
            rng_seed: self.field.rng_seed,
            records: self.records.clone(),
            command: command_line(),
        };
        let report = variants::run(&settings, &Terminal::new())?;
        self.common.publish(&report)
    }
}
