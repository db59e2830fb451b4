//! `osprey findings recheck`: are the bugs of a campaign still there in another release?

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::{Result, bail};
use campaign::findings::{self, Recheck, RecheckOutcome};
use campaign::store::{self, CampaignStore, Place};
use campaign::{Finding, replay};
use clap::Args;
use report::Entry;
use serde::Serialize;
use solver::limits::Limits;
use solver::run::{Configuration, RunRules, SolverRunner};
use solver::{Solver, quoted};

use crate::commands::report::reader;
use crate::exit::Exit;
use crate::{duration, interrupt, limits, output, solver_choice};

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
        let mut keeper = Keeper::of(reader.out());
        let mut counts: BTreeMap<&'static str, usize> = BTreeMap::new();
        let mut tried = BTreeSet::new();
        for entry in all {
            for solver in solvers.iter().filter(|solver| fits(entry, solver)) {
                if interrupt::asked() {
                    break;
                }
                let recheck = self.recheck(entry, solver)?;
                keeper.keep(&entry.folder, &recheck)?;
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

    /// Runs a finding on a solver.
    fn recheck(&self, entry: &Entry, solver: &Solver) -> Result<Recheck> {
        let (finding, folder) = Finding::read(&entry.folder)?;
        let solvers = solver_choice::of_finding(&finding, Some(&quoted(&solver.name())))?;
        let limits = Limits { memory: Some(self.memory << 20), ..Limits::wall(self.timeout) };
        let configurations = Configuration::numbered(solvers.iter().cloned());
        let mut runner = SolverRunner::new(configurations, RunRules::with_limits(limits))?;
        let replayed = replay::replay(&finding, &folder, &solvers, &mut runner)?;
        Ok(Recheck {
            solver: solver.name(),
            outcome: replayed.outcome(&finding),
            said: replayed.runs.first().map(|run| run.said()).unwrap_or_default(),
            at: store::now(),
        })
    }
}

/// Keeps what came of findings with them, also on a server.
struct Keeper {
    /// Of a campaign on a server that this user may write to.
    store: Option<Box<dyn CampaignStore>>,
    bugs: PathBuf,
}

impl Keeper {
    fn of(out: &Path) -> Keeper {
        let shared = Place::of(out).is_ok_and(|place| place.is_shared());
        let store = shared.then(|| store::open(out)).and_then(|store| {
            let refused =
                |error| output::say(&format!("osprey: note: nothing is kept on the server: {error}"));
            store.map_err(refused).ok()
        });
        Keeper { store, bugs: out.join("bugs") }
    }

    fn keep(&mut self, folder: &Path, recheck: &Recheck) -> Result<()> {
        // Others may have said something about it while it was run.
        let mut archive = self.store.as_mut().and_then(|store| store.archive());
        if let Some(archive) = &mut archive {
            findings::fetch(&mut **archive, &self.bugs)?;
        }
        let (mut finding, folder) = Finding::read(folder)?;
        finding.handling.recheck(recheck.clone());
        finding.write_handling(&folder)?;
        if let Some(archive) = archive {
            findings::give_back(archive, &self.bugs, &[finding.folder_name()])?;
        }
        Ok(())
    }
}
