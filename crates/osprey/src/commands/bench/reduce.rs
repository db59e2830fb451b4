//! `osprey bench reduce`: reduction next to ddSMT.

use std::path::PathBuf;
use std::time::Duration;

use anyhow::{Context, Result, bail};
use bench::reduce::{self, Settings};
use clap::Args;

use super::{Common, Terminal, command_line};
use crate::exit::Exit;
use crate::{duration, output, solver_choice};

/// Reduce triggers of known bugs and findings, next to ddSMT with the same predicate
#[derive(Args)]
#[command(after_help = "\
Examples:
  osprey bench reduce --museum museum --padding corpus --ddsmt venv/bin/ddsmt --out bench-reduce
  osprey bench reduce --finding osprey-out/bugs/refutation-soundness-z3-4.8.7-0123456789ab

Each trigger is put among irrelevant satisfiable assertions of the padding's scripts. Both tools get one predicate
script, one core and the same CPU time; everything stays in --out for a look.")]
pub struct Reduce {
    /// A museum of known bugs
    #[arg(long, value_name = "DIR")]
    museum: Option<PathBuf>,

    /// Scripts with (set-info :status sat) whose assertions go around the triggers
    #[arg(long, value_name = "DIR")]
    padding: Option<PathBuf>,

    /// Bytes of padding for each trigger
    #[arg(long, value_name = "BYTES", default_value_t = 2500)]
    padding_size: usize,

    /// A folder of a finding; may be repeated
    #[arg(long = "finding", value_name = "DIR")]
    findings: Vec<PathBuf>,

    /// ddSMT's program
    #[arg(long, value_name = "PATH")]
    ddsmt: Option<PathBuf>,

    /// Who says what is right: a solver with a program of its own
    #[arg(long, value_name = "SPEC", default_value = "z3@5.4.0")]
    reference: String,

    /// Who is asked about the script with the witness put in
    #[arg(long, value_name = "SPEC", default_value = "cvc5@1.4.2")]
    second: String,

    /// CPU time of one tool on one input
    #[arg(long, value_name = "TIME", default_value = "60", value_parser = duration::parse)]
    budget: Duration,

    /// Inputs at most
    #[arg(long, value_name = "N", default_value_t = 60)]
    count: usize,

    /// The core that the tools run on
    #[arg(long, value_name = "CORE")]
    core: Option<usize>,

    /// Where everything is kept
    #[arg(long, value_name = "DIR", default_value = "bench-reduce")]
    out: PathBuf,

    /// Where random choices start
    #[arg(long, value_name = "N", default_value_t = 1)]
    rng_seed: u64,

    #[command(flatten)]
    common: Common,
}

impl Reduce {
    pub fn run(self) -> Result<Exit> {
        if self.museum.is_none() && self.findings.is_empty() {
            bail!("what is to be reduced? give --museum or --finding");
        }
        output::folder(&self.out)?;
        let out = self.out.canonicalize().with_context(|| format!("cannot find '{}'", self.out.display()))?;
        let solvers = solver_choice::all(&[])?;
        let one = |spec: &str| -> Result<solver::Solver> {
            solver_choice::resolve(&solvers, &[spec.to_owned()])?
                .pop()
                .with_context(|| format!("no solver '{spec}'"))
        };
        let settings = Settings {
            osprey: std::env::current_exe().context("osprey's own program cannot be found")?,
            ddsmt: self.ddsmt,
            museum: self.museum,
            padding: self.padding,
            padding_size: self.padding_size,
            findings: self.findings,
            reference: one(&self.reference)?,
            second: one(&self.second)?,
            budget: self.budget,
            count: self.count,
            core: self.core,
            jobs: self.common.jobs,
            out,
            rng_seed: self.rng_seed,
            command: command_line(),
        };
        let report = reduce::run(&settings, &solvers, &Terminal::new())?;
        self.common.publish(&report)
    }
}
