//! What contestants have in common, on the command line.

use std::path::PathBuf;
use std::time::Duration;

use anyhow::{Context as _, Result, bail};
use bench::race::field::Field;
use clap::Args;
use solver::Solver;

use super::Common;
use crate::{duration, inputs, solver_choice};

/// Solvers, seeds and CPU time, the same for everybody
#[derive(Args)]
pub struct FieldArguments {
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

    /// Where random choices start
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub rng_seed: u64,

    /// Everything the contestants leave
    #[arg(short, long, value_name = "DIR", default_value = "osprey-race")]
    out: PathBuf,

    /// Go on in --out: contestants that have raced do not race again, everything is judged anew
    #[arg(long)]
    resume: bool,
}

impl FieldArguments {
    pub fn field(&self, common: &Common) -> Result<Field> {
        let solvers = solver_choice::all(&[])?;
        let one = |spec: &String| -> Result<Solver> {
            let mut found = solver_choice::resolve(&solvers, std::slice::from_ref(spec))?;
            match (found.pop(), found.is_empty()) {
                (Some(solver), true) => Ok(solver),
                _ => bail!("'{spec}' is not one solver"),
            }
        };
        Ok(Field {
            osprey: std::env::current_exe().context("where osprey itself is")?,
            target: one(&self.target)?,
            reference: one(&self.reference)?,
            seeds: self.seeds()?,
            budget: self.budget,
            out: self.out.clone(),
            resume: self.resume,
            jobs: common.jobs,
        })
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
