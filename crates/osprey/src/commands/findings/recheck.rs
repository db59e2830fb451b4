//! `osprey findings recheck`: are the bugs of a campaign still there in another release?

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use std::time::Duration;

use anyhow::{Result, bail};
use campaign::findings::{self, Recheck, RecheckOutcome};
use campaign::{Finding, replay, store};
use clap::Args;
use report::Entry;
use serde::Serialize;
use solver::limits::Limits;
use solver::run::{Configuration, RunRules, SolverRunner};
use solver::{Solver, quoted};

use crate::commands::report::reader;
use crate::exit::Exit;
use crate::{copies, duration, interrupt, limits, output, solver_choice};

/// Run all findings of a campaign on another release: still there, fixed, or changed
#[derive(Args)]
#[command(after_help = "\
Examples:
  osprey findings recheck night -s z3@latest
  osprey findings recheck night -s z3@latest -s cvc5@latest
  osprey findings recheck night -s ./build/z3 --json

Each finding is run on the release of its own solver, in that release's dialect, and judged as when it was found. A release
that gives up or refuses the script tells nothing. What came of it is kept with the finding.

Exit code 10 if a bug is still there or has changed, 0 if none is.")]
pub struct RecheckCommand {
    /// The output folder of a campaign, or the address of one on a server, of which a copy is fetched
    #[arg(value_name = "DIR|URL", default_value = "osprey-out")]
    out: PathBuf,

    /// The release or program to try; repeatable, one for each solver
    #[arg(short, long = "solver", value_name = "SPEC", required = true)]
    solvers: Vec<String>,

    /// Time of one solver run
    #[arg(long, value_name = "TIME", default_value = "10", value_parser = duration::parse)]
    timeout: Duration,

    /// Memory of one solver run, in megabytes
    #[arg(long, value_name = "MB", default_value_t = 4096, value_parser = limits::memory())]
    memory: u64,

    /// One JSON object per line
    #[arg(long)]
    json: bool,
}

#[derive(Serialize)]
struct Line<'a> {
    folder: &'a PathBuf,
    #[serde(flatten)]
    recheck: &'a Recheck,
}

impl RecheckCommand {
    pub fn run(self) -> Result<Exit> {
        let (reader, _) = reader(&self.out)?;
        let mut reader = reader.brief();
        let overview = reader.read()?;
        let solvers = solver_choice::resolve(&solver_choice::all(&[])?, &self.solvers)?;
        let all: Vec<&Entry> = overview.entries().map(|(_, entry)| entry).collect();
        let fits = |entry: &Entry, solver: &Solver| solver.adapter.title == entry.finding.title;
        for solver in solvers.iter().filter(|solver| !all.iter().any(|entry| fits(entry, solver))) {
            output::say(&format!("osprey: note: no finding is about {}", solver.adapter.title));
        }
        interrupt::catch();
        let mut counts: BTreeMap<&'static str, usize> = BTreeMap::new();
        let mut tried = BTreeSet::new();
        for entry in all {
            for solver in solvers.iter().filter(|solver| fits(entry, solver)) {
                if interrupt::asked() {
                    break;
                }
                let recheck = self.recheck(entry, solver)?;
                tried.insert(&entry.folder);
                *counts.entry(recheck.outcome.words()).or_default() += 1;
                match self.json {
                    true => output::print_json_line(&Line { folder: &entry.folder, recheck: &recheck })?,
                    false => output::print_line(&format!(
                        "{} on {} ({}): {}",
                        recheck.outcome.words(),
                        recheck.solver,
                        recheck.said,
                        entry.headline
                    ))?,
                }
            }
        }
        if tried.is_empty() {
            bail!("there is no finding in '{}' that these solvers could be tried on", self.out.display());
        }
        let mut archived = copies::archived(reader.out())?;
        if let Some(archive) = archived.as_mut().and_then(|store| store.archive()) {
            findings::give_back(archive, &reader.out().join("bugs"))?;
        }
        if !self.json {
            let words: Vec<String> = counts.iter().map(|(words, count)| format!("{count} {words}")).collect();
            let tried = match tried.len() {
                1 => "1 finding".to_owned(),
                more => format!("{more} findings"),
            };
            output::print_line(&format!("{tried} tried: {}", words.join(", ")))?;
        }
        let shows = [RecheckOutcome::StillThere, RecheckOutcome::Changed].map(RecheckOutcome::words);
        Ok(if shows.iter().any(|words| counts.contains_key(words)) { Exit::Findings } else { Exit::Clean })
    }

    /// Runs a finding on a solver and keeps what came of it.
    fn recheck(&self, entry: &Entry, solver: &Solver) -> Result<Recheck> {
        let (mut finding, folder) = Finding::read(&entry.folder)?;
        let solvers = solver_choice::of_finding(&finding, Some(&quoted(&solver.name())))?;
        let limits = Limits { memory: Some(self.memory << 20), ..Limits::wall(self.timeout) };
        let configurations = Configuration::numbered(solvers.iter().cloned());
        let mut runner = SolverRunner::new(configurations, RunRules::with_limits(limits))?;
        let replayed = replay::replay(&finding, &folder, &solvers, &mut runner)?;
        let recheck = Recheck {
            solver: solver.name(),
            outcome: replayed.outcome(&finding),
            said: replayed.runs.first().map(|run| run.said()).unwrap_or_default(),
            at: store::now(),
        };
        finding.handling.recheck(recheck.clone());
        finding.write_handling(&folder)?;
        Ok(recheck)
    }
}
