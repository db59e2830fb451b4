//! `osprey bench falcon`: the variants and comparisons of Falcon's paper.

use std::path::PathBuf;

use anyhow::Result;
use bench::variants::{self, Settings, Variant};
use clap::Args;

use super::field::FieldArguments;
use super::{Common, Terminal, command_line};
use crate::exit::Exit;

/// Compare Falcon with its variants, and other engines with and without learned options: coverage and bugs
#[derive(Args)]
#[command(after_help = "\
Examples:
  osprey bench falcon --target z3@5.4.0 --reference cvc5@1.4.2 --seeds seeds/ --budget 10m --repeat 3 --out falcon-z3
  osprey bench falcon --target z3@4.8.7 --reference z3@5.4.0 --seeds seeds/ --budget 20m --out falcon-bugs \\
    --only falcon,falcon-search,falcon-learn,falcon-noopt

Functions and blocks are those of the paper's tables 5 and 7, bugs by kind those of tables 4, 6 and 8, the signatures that
variants share (in the JSON) figure 6. Each variant is a campaign as of `osprey bench variants`; names are its words:
  falcon falcon-search falcon-learn falcon-noopt              formulas from nothing
  storm opfuzz storm-random opfuzz-random storm-opt opfuzz-opt    from the seeds; -opt with --options learned")]
pub struct Falcon {
    #[command(flatten)]
    field: FieldArguments,

    /// Campaigns per variant
    #[arg(long, value_name = "N", default_value_t = 3, value_parser = clap::value_parser!(u64).range(1..=100))]
    repeat: u64,

    /// Only these of the variants
    #[arg(long, value_name = "LIST", value_delimiter = ',')]
    only: Vec<String>,

    /// A file for the result of each campaign; those that are in it already are not run again
    #[arg(long, value_name = "FILE")]
    records: Option<PathBuf>,

    #[command(flatten)]
    common: Common,
}

/// Names, and the words of `osprey fuzz`. Storm sets no options of its own; the paper's OpFuzz draws them at random.
const VARIANTS: [(&str, &str); 10] = [
    ("falcon", "--engine falcon"),
    ("falcon-search", "--engine falcon-search"),
    ("falcon-learn", "--engine falcon-learn"),
    ("falcon-noopt", "--engine falcon-noopt"),
    ("storm", "--engine storm --options plain"),
    ("opfuzz", "--engine opfuzz --options plain"),
    ("storm-random", "--engine storm --options random"),
    ("opfuzz-random", "--engine opfuzz --options random"),
    ("storm-opt", "--engine storm --options learned"),
    ("opfuzz-opt", "--engine opfuzz --options learned"),
];

impl Falcon {
    pub fn run(self) -> Result<Exit> {
        if let Some(unknown) = self.only.iter().find(|name| VARIANTS.iter().all(|(known, _)| known != name)) {
            let names: Vec<&str> = VARIANTS.iter().map(|(name, _)| *name).collect();
            anyhow::bail!("'{unknown}' is no variant; expected some of {}", names.join(", "));
        }
        let wanted = |name: &str| self.only.is_empty() || self.only.iter().any(|one| one == name);
        let chosen = VARIANTS.iter().filter(|(name, _)| wanted(name));
        let settings = Settings {
            field: self.field.field(&self.common)?,
            variants: chosen
                .map(|(name, words)| Variant { name: (*name).to_owned(), words: (*words).to_owned() })
                .collect(),
            repeat: self.repeat,
            rng_seed: self.field.rng_seed,
            records: self.records.clone(),
            command: command_line(),
        };
        let report = variants::run(&settings, &Terminal::new())?;
        self.common.publish(&report)
    }
}
