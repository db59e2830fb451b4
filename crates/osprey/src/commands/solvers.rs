//! `osprey solvers`: which there are, getting them, their options, what of their code is reached.

mod coverage;

use std::path::PathBuf;

use anyhow::Result;
use clap::{Args, Subcommand};
use serde::Serialize;
use solver::InstallError;
use solver::install::{Available, How, Installed, Listed, Source};
use solver::launch::{Launcher, LauncherConfig, Wall};
use solver::options::{OptionKind, OptionTable, SolverOption};

use crate::exit::Exit;
use crate::output;
use crate::solver_choice::{self, InstallProgress};

/// List solvers, install any release of them, show their options and what of their code is reached
#[derive(Args)]
pub struct Solvers {
    #[command(subcommand)]
    command: Command,

    /// A further adapter file, describing a solver osprey does not know (or replacing what it knows)
    #[arg(long = "adapter", value_name = "FILE", global = true)]
    adapters: Vec<PathBuf>,

    /// Print JSON
    #[arg(long, global = true)]
    json: bool,
}

#[derive(Subcommand)]
enum Command {
    List(List),
    Install(Install),
    Options(Options),
    Coverage(coverage::Coverage),
}

/// What is on this machine and what could be
#[derive(Args)]
#[command(after_help = "\
Examples:
  osprey solvers list                what is installed
  osprey solvers list --available    ask the registries for every release there is
  osprey solvers list --json")]
struct List {
    /// Ask the registries; otherwise what they said last time is shown
    #[arg(long)]
    available: bool,
}

/// Install releases into the data directory
#[derive(Args)]
#[command(after_help = "\
Examples:
  osprey solvers install z3@5.4.0 cvc5@1.4.2
  osprey solvers install z3 bitwuzla             the newest releases
  osprey solvers install z3@4.8.7..4.8.12        all releases of a range
  osprey solvers install cvc4@1.8                from a Debian package, unpacked without root

Solvers come from the registry your own pip is set up for, or from Debian packages, and are kept in
$OSPREY_HOME, else $XDG_DATA_HOME/osprey, else ~/.local/share/osprey. What is there already costs no
network. Exit code 4 if a solver cannot be had.")]
struct Install {
    /// What to install: name, name@release, name@latest or name@first..last
    #[arg(required = true, value_name = "SPEC")]
    specs: Vec<String>,
}

/// The options of a release, read from the solver itself
#[derive(Args)]
#[command(after_help = "\
Examples:
  osprey solvers options z3@5.4.0
  osprey solvers options cvc5@1.4.2 --fair       only those its developers accept reports about
  osprey solvers options z3@4.8.7 --json")]
struct Options {
    /// The solver: name@release, a name on PATH or a path
    #[arg(value_name = "SPEC")]
    spec: String,

    /// Leave out what is not fair to set
    #[arg(long)]
    fair: bool,
}

impl Solvers {
    pub fn run(self) -> Result<Exit> {
        let solvers = solver_choice::all(&self.adapters)?;
        match self.command {
            Command::List(list) => list.run(&solvers, self.json),
            Command::Install(install) => install.run(&solvers, self.json),
            Command::Options(options) => options.run(&solvers, self.json),
            Command::Coverage(coverage) => coverage.run(&solvers, self.json),
        }
    }
}

impl List {
    fn run(&self, solvers: &solver::Solvers, json: bool) -> Result<Exit> {
        let listed = solvers.list(self.available);
        let wall = Launcher::new(LauncherConfig::default())?.wall();
        if json {
            output::print_json(&Listing { solvers: &listed, wall })?;
            return Ok(Exit::Clean);
        }
        let mut text = String::new();
        for solver in &listed {
            text += &format!("{:<12} {}\n", solver.name, summary(solver));
            for installed in &solver.installed {
                text += &format!("  {}\n", line(installed));
            }
        }
        text += &format!("\nWall around solvers: {wall}.\n");
        output::print(&(text + "Install with `osprey solvers install NAME@RELEASE`.\n"))?;
        Ok(Exit::Clean)
    }
}

/// What `--json` prints.
#[derive(Serialize)]
struct Listing<'a> {
    solvers: &'a [Listed],
    /// What keeps solvers from writing and from the network here.
    wall: Wall,
}

/// What could be installed, in half a line: a registry may hold fifty releases.
fn summary(solver: &Listed) -> String {
    const SHOWN: usize = 6;
    match &solver.available {
        Available::Bring => format!("{}: give its path, or put it on PATH", solver.title),
        Available::Unknown { why } => {
            format!("{}: {why} (`osprey solvers list --available` asks)", solver.title)
        }
        Available::Releases(releases) => {
            let shown: Vec<String> = releases.iter().take(SHOWN).map(ToString::to_string).collect();
            let more = match (releases.len().saturating_sub(SHOWN), releases.last()) {
                (0, _) | (_, None) => String::new(),
                (1, Some(oldest)) => format!(", {oldest}"),
                (more, Some(oldest)) => format!(", and {more} more down to {oldest}"),
            };
            format!("{}: {}{more}", solver.title, shown.join(", "))
        }
    }
}

fn line(installed: &Installed) -> String {
    let version = installed.version.as_ref().map_or_else(|| "unknown release".into(), ToString::to_string);
    let origin = match installed.origin {
        Source::Installed => "installed",
        Source::OnPath => "on PATH",
        Source::Given => "given",
    };
    let how = match &installed.how {
        How::Executable { path } => path.display().to_string(),
        How::Cvc5Host { libraries, .. } => format!("libraries in {}", libraries.display()),
        How::Python { module, .. } => format!("Python module in {}", module.display()),
    };
    format!("{:<18} {origin:<10} {how}", format!("{}@{version}", installed.name))
}

#[derive(Serialize)]
struct InstallFailure {
    spec: String,
    error: String,
}

impl Install {
    /// Installs what can be installed; one solver that cannot be had does not keep the others away.
    fn run(&self, solvers: &solver::Solvers, json: bool) -> Result<Exit> {
        let mut installed: Vec<Installed> = Vec::new();
        let mut failed: Vec<(String, InstallError)> = Vec::new();
        {
            let progress = InstallProgress::new();
            for spec in &self.specs {
                match solvers.install(spec, &|name, step| progress.show(name, step)) {
                    Ok(releases) => {
                        if !json {
                            for release in &releases {
                                progress.say(&line(release))?;
                            }
                        }
                        installed.extend(releases);
                    }
                    Err(error) => failed.push((spec.clone(), error)),
                }
            }
        }
        for (spec, error) in &failed {
            output::say(&format!("osprey: error: {spec}: {error}"));
            if let Some(advice) = solver_choice::advice(error) {
                output::say(&format!("  {advice}"));
            }
        }
        if json {
            let failures: Vec<InstallFailure> = failed
                .iter()
                .map(|(spec, error)| InstallFailure { spec: spec.clone(), error: error.to_string() })
                .collect();
            let report = serde_json::json!({ "installed": installed, "failed": failures });
            output::print_json(&report)?;
        }
        Ok(match failed.into_iter().next() {
            None => Exit::Clean,
            Some((_, error)) => crate::exit::of_error(&error.into()),
        })
    }
}

impl Options {
    fn run(&self, solvers: &solver::Solvers, json: bool) -> Result<Exit> {
        for solver in solver_choice::resolve(solvers, std::slice::from_ref(&self.spec))? {
            let mut table = solver.option_table(solvers.home())?;
            if self.fair {
                table.options.retain(SolverOption::is_fair);
            }
            if json {
                output::print_json(&table)?;
            } else {
                output::print(&shown(&table))?;
            }
        }
        Ok(Exit::Clean)
    }
}

fn shown(table: &OptionTable) -> String {
    let fair = table.options.iter().filter(|option| option.is_fair()).count();
    let mut text = format!("{}: {} options, {fair} fair to set\n", table.solver, table.options.len());
    for option in &table.options {
        text += &option_line(option);
        text.push('\n');
    }
    text
}

fn option_line(option: &SolverOption) -> String {
    let kind = match &option.kind {
        OptionKind::Bool => "bool".to_string(),
        OptionKind::Integer { minimum: None, maximum: None } => "integer".to_string(),
        OptionKind::Integer { minimum, maximum } => {
            let end = |bound: &Option<i64>| bound.map(|bound| bound.to_string()).unwrap_or_default();
            format!("{}..{}", end(minimum), end(maximum))
        }
        OptionKind::Real => "real".to_string(),
        OptionKind::Choice { values } => values.join("|"),
        OptionKind::Text => "text".to_string(),
    };
    let default = option.default.as_ref().map(|default| format!(" = {default}")).unwrap_or_default();
    let excluded = match (&option.excluded, &option.unfair) {
        (Some(why), _) => format!("  [not set: {why}]"),
        (None, Some(why)) => format!("  [not fair: {why}]"),
        (None, None) => String::new(),
    };
    format!("  {:<44} {:<10} {kind}{default}{excluded}", option.name, option.category)
}
