//! `osprey bench race`: Osprey and other fuzzers, the same seeds, the same CPU time.

use std::path::PathBuf;
use std::time::Duration;

use anyhow::{Context as _, Result, bail};
use bench::race::contestant::Contestant;
use bench::race::{self, Settings};
use clap::Args;

use super::{Common, Terminal, command_line};
use crate::exit::Exit;
use crate::{duration, inputs, solver_choice};

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
    /// The solver under test
    #[arg(long, value_name = "SPEC")]
    target: String,

    /// The solver it is compared with
    #[arg(long, value_name = "SPEC")]
    reference: String,

    /// The seeds: files, or folders that are walked for .smt2 files
    #[arg(long, value_name = "DIR", required = true)]
    seeds: Vec<PathBuf>,

    /// This many of the seeds, spread over all that are small enough
    #[arg(long, value_name = "N")]
    count: Option<usize>,

    /// Seeds up to this size in bytes
    #[arg(long, value_name = "BYTES", default_value_t = 4096)]
    largest: u64,

    /// CPU time of each contestant
    #[arg(long, value_name = "TIME", default_value = "20m", value_parser = duration::parse)]
    budget: Duration,

    /// Another fuzzer: NAME=COMMAND with {target} {reference} {seeds} {out} {scratch}
    #[arg(long = "peer", value_name = "PEER")]
    peers: Vec<Contestant>,

    /// More words for osprey's own command line
    #[arg(long, value_name = "WORDS", default_value = "", allow_hyphen_values = true)]
    osprey_options: String,

    /// Where random choices start
    #[arg(long, value_name = "N", default_value_t = 1)]
    rng_seed: u64,

    /// Everything the contestants leave
    #[arg(short, long, value_name = "DIR", default_value = "osprey-race")]
    out: PathBuf,

    /// Go on in --out: contestants that have raced do not race again, everything is judged anew
    #[arg(long)]
    resume: bool,

    #[command(flatten)]
    common: Common,
}

impl Race {
    pub fn run(self) -> Result<Exit> {
        let solvers = solver_choice::all(&[])?;
        let one = |spec: &String| -> Result<solver::Solver> {
            let mut found = solver_choice::resolve(&solvers, std::slice::from_ref(spec))?;
            match (found.pop(), found.is_empty()) {
                (Some(solver), true) => Ok(solver),
                _ => bail!("'{spec}' is not one solver"),
            }
        };
        let settings = Settings {
            osprey: std::env::current_exe().context("where osprey itself is")?,
            osprey_options: self.osprey_options.clone(),
            target: one(&self.target)?,
            reference: one(&self.reference)?,
            seeds: self.seeds()?,
            budget: self.budget,
            peers: self.peers.clone(),
            out: self.out.clone(),
            resume: self.resume,
            rng_seed: self.rng_seed,
            jobs: self.common.jobs,
            command: command_line(),
        };
        let report = race::run(&settings, &Terminal::new())?;
        self.common.publish(&report)
    }

    /// The seeds in order of their names, thinned out evenly.
    fn seeds(&self) -> Result<Vec<PathBuf>> {
        let mut files = inputs::scripts(&self.seeds)?.files;
        files.retain(|file| std::fs::metadata(file).is_ok_and(|about| about.len() <= self.largest));
        if files.is_empty() {
            bail!("no seed is small enough ({} bytes)", self.largest);
        }
        let Some(count) = self.count.filter(|count| *count > 0 && *count < files.len()) else {
            return Ok(files);
        };
        let all = files.len();
        Ok((0..count).map(|place| files[place * all / count].clone()).collect())
    }
}
