//! `osprey museum`: known bugs of old releases, kept as items.

use std::path::PathBuf;

use anyhow::{Context as _, Result, bail};
use bench::museum::item::{self, Item};
use bench::museum::reproduce::{self, ReproductionResult};
use campaign::Finding;
use clap::{Args, Subcommand};

use crate::exit::Exit;
use crate::{inputs, interrupt, output, solver_choice};

/// Keep known bugs of old releases, and see that they still show
#[derive(Args)]
pub struct Museum {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    Add(Add),
    Verify(Verify),
}

impl Museum {
    pub fn run(self) -> Result<Exit> {
        match self.command {
            Command::Add(add) => add.run(),
            Command::Verify(verify) => verify.run(),
        }
    }
}

/// Turn a finding into an item
#[derive(Args)]
struct Add {
    /// A finding's folder, or its finding.json
    finding: PathBuf,

    /// The museum
    #[arg(long, value_name = "DIR", default_value = "museum")]
    to: PathBuf,

    /// The item's name; made of solver, release and the finding's hash unless told otherwise
    #[arg(long, value_name = "NAME")]
    id: Option<String>,

    /// The theory the bug is in; the finding's operators unless told otherwise
    #[arg(long, value_name = "WORD")]
    theory: Option<String>,

    /// Where the facts are from, for example an issue's address
    #[arg(long, value_name = "TEXT", default_value = "found by osprey")]
    source: String,
}

impl Add {
    fn run(self) -> Result<Exit> {
        let (finding, folder) = Finding::read(&self.finding)?;
        let (solver, version) = finding
            .solver
            .split_once('@')
            .with_context(|| format!("the release of '{}' is not known", finding.solver))?;
        let reduced = folder.join("reduced.smt2");
        let trigger = if reduced.is_file() { reduced } else { folder.join("input.smt2") };
        let trigger = inputs::read_text(&trigger)?;
        let run = finding.runs.first().context("the finding has no run")?;
        let id = self.id.unwrap_or_else(|| format!("{solver}-{version}--{}", finding.hash()));
        if id.is_empty() || !id.chars().all(|c| c.is_ascii_alphanumeric() || "-_.".contains(c)) {
            bail!("'{id}' is no name for an item: letters, digits, '-', '_' and '.' only");
        }
        let mut options = run.user_options.clone();
        if !run.settings.is_empty() {
            let solver = solver_choice::of_finding(&finding, None)?
                .into_iter()
                .next()
                .context("its solver is not here")?;
            options.extend(run.settings.iter().map(|setting| solver.option_word(setting)));
        }
        let releases = finding.releases.clone().unwrap_or_default();
        let item = Item {
            id,
            solver: solver.to_owned(),
            version: version.to_owned(),
            options,
            kind: finding.kind,
            observed: finding.summary.clone(),
            expected: finding.answer.map_or(String::new(), |answer| format!("{answer:?}").to_lowercase()),
            expected_by: finding.evidence.clone(),
            theory: self.theory.unwrap_or_else(|| finding.operators.join(" ")),
            tags: Vec::new(),
            source: self.source,
            affected: releases.affected,
            fixed_in: releases.first_fixed.unwrap_or_default(),
            timeout_s: None,
            model_check: None,
            more: std::collections::BTreeMap::new(),
            folder: PathBuf::new(),
        };
        let folder = item.write(&self.to, &trigger)?;
        let written = Item::read(&folder)?;
        let solvers = solver_choice::all(&[])?;
        let own = bench::museum::release(&written, &solvers)?;
        let seen = reproduce::reproduce(&written, &own, &solver_choice::default_pair(&solvers)?)?;
        output::print_line(&folder.display().to_string())?;
        if !seen.reproduces {
            output::say(&format!("osprey: the item does not show its bug as it stands: {}", seen.seen));
            return Ok(Exit::Clean);
        }
        Ok(Exit::Findings)
    }
}

/// Run every item on its release, installed where need be
#[derive(Args)]
#[command(
    after_help = "Exit code 10 if every item shows its bug, 0 if one does not, 4 if a release cannot be had."
)]
struct Verify {
    /// The museum
    #[arg(value_name = "DIR", default_value = "museum")]
    folder: PathBuf,

    /// Only items that match: solver=, version=, kind=, theory=, tag=, or a part of the name; commas mean or
    #[arg(long = "filter", value_name = "FILTER")]
    filters: Vec<String>,

    /// Print JSON, one object per item
    #[arg(long)]
    json: bool,
}

impl Verify {
    fn run(self) -> Result<Exit> {
        interrupt::catch();
        let (items, refused) = item::collect(&self.folder)?;
        for error in &refused {
            output::say(&format!("osprey: skipped: {error}"));
        }
        let solvers = solver_choice::all(&[])?;
        let references = solver_choice::default_pair(&solvers)?;
        let (mut shown, mut silent, mut lacking) = (0, 0, 0);
        for item in items.iter().filter(|item| self.filters.iter().all(|filter| item.passes(filter))) {
            if interrupt::asked() {
                output::say("osprey: interrupted");
                break;
            }
            let seen = bench::museum::release(item, &solvers)
                .and_then(|own| reproduce::reproduce(item, &own, &references));
            match seen {
                Ok(seen) => {
                    if seen.reproduces {
                        shown += 1
                    } else {
                        silent += 1
                    }
                    self.show(&seen)?;
                }
                Err(error) => {
                    lacking += 1;
                    output::say(&format!("osprey: {}: {error}", item.id));
                }
            }
        }
        if !self.json {
            output::print_line(&format!(
                "{shown} show their bug, {silent} do not, {lacking} could not be run"
            ))?;
        }
        Ok(match (shown, silent + refused.len(), lacking) {
            (_, 1.., _) => Exit::Clean,
            (_, _, 1..) => Exit::Solver,
            (1.., _, _) => Exit::Findings,
            _ => bail!("no item passes the filters"),
        })
    }

    fn show(&self, seen: &ReproductionResult) -> Result<()> {
        if self.json {
            return output::print(&(serde_json::to_string(seen)? + "\n"));
        }
        let word = if seen.reproduces { "shows" } else { "DOES NOT SHOW" };
        output::print(&format!("{}: {word} {} ({})\n", seen.id, seen.kind, seen.seen))
    }
}
