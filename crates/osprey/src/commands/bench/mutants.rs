//! `osprey bench mutants`: how fast engines are, whether solvers read what they make, and what it looks like.

use std::path::PathBuf;

use anyhow::Result;
use bench::mutant_quality;
use bench::mutants::{self, Settings};
use campaign::Target;
use clap::Args;

use super::{Common, Terminal, command_line};
use crate::exit::Exit;
use crate::{inputs, solver_choice};

/// Mutants per second of every engine, and how many of them solvers refuse
#[derive(Args)]
#[command(after_help = "\
Examples:
  osprey bench mutants                                     rates alone
  osprey bench mutants -s z3@5.4.0 -s cvc5@1.4.2           10,000 mutants per engine, read by both
  osprey bench mutants seeds/ -s yices@2.6.5 --engine opfuzz,typefuzz --count 1000
  osprey bench mutants seeds/ -s z3@5.4.0 --engine storm,diver --quality 50 --per-logic 8")]
pub struct Mutants {
    /// Seed files or folders; without any, seeds are generated in all logics
    #[arg(value_name = "SEEDS")]
    seeds: Vec<PathBuf>,

    /// A solver that reads the mutants
    #[arg(short, long = "solver", value_name = "SPEC")]
    solvers: Vec<String>,

    /// Engines, separated by commas; all of them unless told otherwise
    #[arg(long, value_name = "LIST", value_delimiter = ',')]
    engine: Vec<String>,

    /// Mutants an engine
    #[arg(long, value_name = "N", default_value_t = 10_000)]
    count: usize,

    /// Tell what so many mutants of each seed are like, by engine and logic, instead of rates and refusals
    #[arg(long, value_name = "N", requires = "seeds")]
    quality: Option<usize>,

    /// Seeds of each logic that are looked at for that
    #[arg(long, value_name = "N", default_value_t = 8, requires = "quality")]
    per_logic: usize,

    /// Share of the mutants that are solved too
    #[arg(long, value_name = "P", default_value_t = 0.05)]
    solved: f64,

    /// Repeat the random choices
    #[arg(long, value_name = "N", default_value_t = 1)]
    rng_seed: u64,

    #[command(flatten)]
    common: Common,
}

impl Mutants {
    pub fn run(self) -> Result<Exit> {
        let seeds = match self.seeds.as_slice() {
            [] => Vec::new(),
            paths => campaign::read_seeds(&inputs::scripts(paths)?.files).seeds,
        };
        let solvers = match self.solvers.as_slice() {
            [] => Vec::new(),
            specs => solver_choice::resolve(&solver_choice::all(&[])?, specs)?,
        };
        let makers = || {
            engines::all()
                .iter()
                .filter(|engine| !engine.once())
                .map(|engine| engine.name().to_owned())
                .collect()
        };
        let targets = Target::numbered(solvers);
        if let Some(mutants) = self.quality {
            let settings = mutant_quality::Settings {
                engines: if self.engine.is_empty() { makers() } else { self.engine },
                mutants,
                per_logic: self.per_logic,
                seeds,
                targets,
                rng_seed: self.rng_seed,
                command: command_line(),
            };
            let report = mutant_quality::run(&settings, &Terminal::new())?;
            return self.common.publish(&report);
        }
        let settings = Settings {
            engines: if self.engine.is_empty() { makers() } else { self.engine },
            count: self.count,
            seeds,
            targets,
            solved: self.solved,
            rng_seed: self.rng_seed,
            command: command_line(),
        };
        let report = mutants::run(&settings, &Terminal::new())?;
        self.common.publish(&report)
    }
}
