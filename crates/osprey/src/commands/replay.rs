//! `osprey replay`: does a stored finding still fail?

use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::{Context, Result};
use campaign::database::Database;
use campaign::{Finding, Identity, Target, hash, replay};
use clap::Args;

use crate::exit::Exit;
use crate::{duration, fleet};

/// Run a stored finding again
#[derive(Args)]
#[command(after_help = "\
Examples:
  osprey replay osprey-out/bugs/crash-z3-4.8.7-0123456789ab
  osprey replay FINDING -s ./build/z3        is it fixed in this build?

Exit code 10 if it still fails, 0 if not.")]
pub struct Replay {
    /// A finding's folder, or its finding.json
    finding: PathBuf,

    /// Put this solver in the place of the one to blame
    #[arg(short, long = "solver", value_name = "SPEC")]
    solver: Option<String>,

    /// Time of one solver run
    #[arg(long, value_name = "TIME", default_value = "10", value_parser = duration::parse)]
    timeout: Duration,

    /// Memory of one solver run, in megabytes
    #[arg(long, value_name = "MB", default_value_t = 4096)]
    memory: u64,

    /// Make the test case again from its provenance, as it was before it was made smaller, and print it
    #[arg(long)]
    original: bool,

    /// Print the result as JSON
    #[arg(long)]
    json: bool,
}

impl Replay {
    pub fn run(self) -> Result<Exit> {
        let (finding, folder) = Finding::read(&self.finding)?;
        if self.original {
            return original(&finding, &folder);
        }
        let solvers = fleet::all(&[])?;
        let mut fleet = Vec::new();
        for (place, run) in finding.runs.iter().enumerate() {
            let spec = match &self.solver {
                Some(spec) if place == 0 => spec.clone(),
                _ => run.solver.clone(),
            };
            let mut found = fleet::resolve(&solvers, &[spec])?;
            found.truncate(1);
            for solver in &mut found {
                solver.options.extend(run.user_options.iter().cloned());
            }
            fleet.extend(found);
        }
        let identity = Identity::of_runs(self.timeout, self.memory, finding.provenance.rng_seed);
        let replayed = replay::replay(&finding, &folder, &fleet, &identity)?;
        if self.json {
            println!("{}", serde_json::to_string(&replayed)?);
        } else {
            println!("{}: {}", finding.kind, finding.summary);
            for run in &replayed.runs {
                let said = if run.answers.is_empty() { run.class.clone() } else { run.answers.join(" ") };
                println!("  {}: {said}", run.solver);
            }
            for verdict in &replayed.verdicts {
                println!("  {}: {}", verdict.kind, verdict.reason);
            }
            println!("{}", if replayed.fails { "it still fails" } else { "it does not fail any more" });
        }
        Ok(if replayed.fails { Exit::Findings } else { Exit::Clean })
    }
}

/// Prints the test case that an engine made, from the campaign's seeds and streams.
fn original(finding: &Finding, folder: &Path) -> Result<Exit> {
    let out = folder.parent().and_then(Path::parent).context("the finding is not in a campaign's folder")?;
    let database = Database::read(&out.join("campaign.db"))
        .with_context(|| format!("the campaign's database in '{}' is needed for this", out.display()))?;
    let identity = database.identity()?;
    let specs = [identity.solvers.as_slice(), &identity.references].concat();
    let solvers = fleet::resolve(&fleet::all(&[])?, &specs)?;
    let targets: Vec<Target> = solvers
        .into_iter()
        .enumerate()
        .map(|(number, solver)| Target::new(number, solver, None, false))
        .collect();
    let engines = engines::tuned(&identity.tuning);
    let text =
        replay::regenerate(&finding.provenance, &identity, &targets, &engines, |hash| database.seed(hash))?;
    if hash::name(text.as_bytes()) != finding.provenance.script {
        eprintln!(
            "osprey: this is not the same text as then: the engine or the solvers it asked have changed"
        );
        print!("{text}");
        return Ok(Exit::Internal);
    }
    print!("{text}");
    Ok(Exit::Clean)
}
