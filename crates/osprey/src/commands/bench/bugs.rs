//! `osprey bench bugs`: bug localisation by method.

use std::path::PathBuf;
use std::time::Duration;

use anyhow::Result;
use banditfuzz::learned::AgentName;
use bench::constructs::bugs::{self, Settings};
use clap::Args;

use super::{Common, Terminal, command_line};
use crate::commands::constructs::GeneratorArguments;
use crate::exit::Exit;
use crate::{duration, limits, output, solver_choice};

/// Compare ways of finding the constructs that make solvers contradict each other
#[derive(Args)]
#[command(after_help = "\
Examples:
  osprey bench bugs -s z3@4.8.7 -s z3@5.4.0 --logic QF_FP --assertions 3-5 --out bugs --json bugs-fp.json

Runs that are in DIR already are not made again. DIR also gets the curves as SVG.")]
pub struct Bugs {
    /// A solver; at least two
    #[arg(short, long = "solver", value_name = "SPEC", required = true)]
    solvers: Vec<String>,

    #[command(flatten)]
    generator: GeneratorArguments,

    /// Who chooses constructs: thompson, thompson-uniform (the paper's prior), ucb1 or egreedy
    #[arg(long, value_name = "AGENT", default_value = "thompson")]
    agent: AgentName,

    /// Inputs per run
    #[arg(long, value_name = "N", default_value_t = 4000)]
    inputs: u64,

    /// Time of one run of a solver
    #[arg(long, value_name = "TIME", default_value = "1", value_parser = duration::parse)]
    timeout: Duration,

    /// Memory of one run of a solver, in megabytes
    #[arg(long, value_name = "MB", default_value_t = 4096, value_parser = limits::memory())]
    memory: u64,

    /// Runs per method
    #[arg(long, value_name = "N", default_value_t = 3, value_parser = clap::value_parser!(u64).range(1..=100))]
    repeat: u64,

    /// The seed of all random choices
    #[arg(long, value_name = "N", default_value_t = 0)]
    rng_seed: u64,

    /// The folder for runs and plots
    #[arg(long, value_name = "DIR")]
    out: PathBuf,

    #[command(flatten)]
    common: Common,
}

impl Bugs {
    pub fn run(self) -> Result<Exit> {
        output::folder(&self.out)?;
        let settings = Settings {
            solvers: solver_choice::resolve(&solver_choice::all(&[])?, &self.solvers)?,
            parameters: self.generator.parameters(&[])?,
            agent: self.agent,
            inputs: self.inputs,
            timeout: self.timeout,
            memory: self.memory << 20,
            repeat: self.repeat,
            rng_seed: self.rng_seed,
            jobs: self.common.jobs,
            out: self.out.clone(),
            command: command_line(),
        };
        let report = bugs::run(&settings, &Terminal::new())?;
        self.common.publish(&report)
    }
}
