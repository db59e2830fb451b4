//! `osprey bench perf`: performance fuzzing by method and target.

use std::path::PathBuf;
use std::time::Duration;

use anyhow::{Result, bail};
use banditfuzz::learned::AgentName;
use banditfuzz::search::Method;
use bench::constructs::margins::{self, Settings};
use clap::Args;

use super::{Common, Terminal, command_line};
use crate::commands::constructs::GeneratorArguments;
use crate::exit::Exit;
use crate::{duration, limits, output, solver_choice};

/// Compare ways of finding inputs on which a solver is slow
#[derive(Args)]
#[command(after_help = "\
Examples:
  osprey bench perf -s z3@5.4.0 -s cvc5@1.4.2 -s bitwuzla -s z3@4.8.7 --logic QF_FP --out perf --json perf-fp.json
  osprey bench perf ... --resume               go on after Ctrl-C: finished runs are not made again

Each solver is the target once, with all others as references (or only those named by --target). Runs have the same CPU
time and a core each. DIR holds a session per target: inputs, cactus.svg, curves.svg.")]
pub struct Perf {
    /// A solver; at least two
    #[arg(short, long = "solver", value_name = "SPEC", required = true)]
    solvers: Vec<String>,

    /// Only these of the solvers are targets: their places in the list, from 1
    #[arg(long = "target", value_name = "N", value_delimiter = ',')]
    targets: Vec<usize>,

    #[command(flatten)]
    generator: GeneratorArguments,

    /// The methods
    #[arg(
        long,
        value_name = "METHOD",
        value_delimiter = ',',
        default_value = "bandit,random,mutational,evolutionary"
    )]
    method: Vec<Method>,

    /// Who chooses constructs: thompson, thompson-uniform (the paper's prior), ucb1 or egreedy
    #[arg(long, value_name = "AGENT", default_value = "thompson")]
    agent: AgentName,

    /// CPU time of one run of a solver
    #[arg(long, value_name = "TIME", default_value = "2", value_parser = duration::parse)]
    timeout: Duration,

    /// CPU time of each run
    #[arg(long, value_name = "TIME", default_value = "2m", value_parser = duration::parse)]
    time: Duration,

    /// Runs per method and target
    #[arg(long, value_name = "N", default_value_t = 5, value_parser = clap::value_parser!(u16).range(1..=1000))]
    runs: u16,

    /// Memory of one run of a solver, in megabytes
    #[arg(long, value_name = "MB", default_value_t = 4096, value_parser = limits::memory())]
    memory: u64,

    /// The seed of all random choices
    #[arg(long, value_name = "N", default_value_t = 0)]
    rng_seed: u64,

    /// The folder for inputs and plots
    #[arg(long, value_name = "DIR")]
    out: PathBuf,

    /// Go on with what is in DIR
    #[arg(long)]
    resume: bool,

    #[command(flatten)]
    common: Common,
}

impl Perf {
    pub fn run(self) -> Result<Exit> {
        let solvers = solver_choice::resolve(&solver_choice::all(&[])?, &self.solvers)?;
        if let Some(bad) = self.targets.iter().find(|place| !(1..=solvers.len()).contains(place)) {
            bail!("--target {bad}: there are {} solvers", solvers.len());
        }
        output::folder(&self.out)?;
        let settings = Settings {
            solvers,
            targets: self.targets.iter().map(|place| place - 1).collect(),
            parameters: self.generator.parameters(&[])?,
            methods: self.method.clone(),
            agent: self.agent,
            timeout: self.timeout,
            time: self.time,
            runs: self.runs.into(),
            jobs: self.common.jobs,
            memory: self.memory << 20,
            rng_seed: self.rng_seed,
            out: self.out.clone(),
            resume: self.resume,
            command: command_line(),
        };
        let report = margins::run(&settings, &Terminal::new())?;
        self.common.publish(&report)
    }
}
