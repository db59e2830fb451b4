//! `osprey replay`: does a stored finding still fail?

use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::{Context, Result};
use campaign::{Finding, Target, hash, replay, store};
use clap::Args;
use solver::limits::Limits;
use solver::run::{Configuration, RunRules, Runner as _, SolverRunner};

use crate::exit::Exit;
use crate::{duration, limits, output, solver_choice};

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
    #[arg(long, value_name = "MB", default_value_t = 4096, value_parser = limits::memory())]
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
        let solvers = solver_choice::of_finding(&finding, self.solver.as_deref())?;
        let limits = Limits { memory: Some(self.memory << 20), ..Limits::wall(self.timeout) };
        let configurations = Configuration::numbered(solvers.iter().cloned());
        let mut runner = SolverRunner::new(configurations, RunRules::with_limits(limits))?;
        let replayed = replay::replay(&finding, &folder, &solvers, &mut runner)?;
        for note in runner.take_notes() {
            output::say(&format!("note: {note}"));
        }
        if self.json {
            output::print_json_line(&replayed)?;
        } else {
            output::print_line(&format!("{}: {}", finding.kind, finding.summary))?;
            for run in &replayed.runs {
                output::print_line(&format!("  {}: {}", run.solver, run.said()))?;
            }
            for verdict in &replayed.verdicts {
                output::print_line(&format!("  {}: {}", verdict.kind, verdict.reason))?;
            }
            let fails = if replayed.fails { "it still fails" } else { "it does not fail any more" };
            output::print_line(fails)?;
        }
        Ok(if replayed.fails { Exit::Findings } else { Exit::Clean })
    }
}

/// Prints the test case that an engine made, from the campaign's seeds and streams.
fn original(finding: &Finding, folder: &Path) -> Result<Exit> {
    let out = folder.parent().and_then(Path::parent).context("the finding is not in a campaign's folder")?;
    let mut store = store::read(out)
        .with_context(|| format!("the campaign's store in '{}' is needed for this", out.display()))?;
    let identity = store.identity()?;
    // An earlier version kept names only.
    let specs = match identity.specs.solvers.is_empty() {
        true => [identity.solvers.as_slice(), &identity.references].concat(),
        false => [identity.specs.solvers.as_slice(), &identity.specs.references].concat(),
    };
    let solvers = solver_choice::all(&[])?;
    let found = solver_choice::resolve(&solvers, &specs)?;
    let with_options = identity.tuning.diver.options > 0;
    let target = |target: Target| {
        let table = with_options.then(|| target.solver.option_table(solvers.home()).ok()).flatten();
        target.with_table(table)
    };
    let targets: Vec<Target> = Target::numbered(found).into_iter().map(target).collect();
    let engine = engines::parse(&finding.provenance.engine, &identity.tuning)?;
    let mut runner = campaign::runners(&identity, &targets, Vec::new(), false).runner()?;
    let seed = |hash: &str| Ok(store.seed(hash)?);
    let text = replay::regenerate(&finding.provenance, &identity, &targets, &*engine, &mut *runner, seed)?;
    if hash::name(text.as_bytes()) != finding.provenance.script {
        output::say(
            "osprey: this is not the same text as then: the engine or the solvers it asked have changed",
        );
        output::print_script(&text)?;
        return Ok(Exit::Internal);
    }
    output::print_script(&text)?;
    Ok(Exit::Clean)
}
