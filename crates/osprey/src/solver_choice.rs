//! The solvers a user names, found or installed, with what that does drawn on the terminal.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::Duration;

use anyhow::{Context, Result};
use campaign::{LearnedSettings, NamedCorrelations, Target};
use falcon::{Correlations, CorrelationsError};
use indicatif::{MultiProgress, ProgressBar, ProgressStyle};
use solver::coverage::Code;
use solver::install::Step;
use solver::options::OptionsError;
use solver::{Adapters, Home, InstallError, Solver, Solvers};

use crate::{inputs, output};

/// All solvers this machine has or could have: built-in adapters, the user's own, and files named on the command line.
pub fn all(adapter_files: &[PathBuf]) -> Result<Solvers> {
    for file in adapter_files {
        // Looked at before it is opened: a pipe would be waited for.
        inputs::read(file)?;
    }
    let adapters = Adapters::load(adapter_files)?;
    let home = Home::of_user().context("no place for solvers: set OSPREY_HOME")?;
    Ok(Solvers::new(adapters, home))
}

/// The solvers of several `-s` values, installed where need be.
pub fn resolve(solvers: &Solvers, specs: &[String]) -> Result<Vec<Solver>> {
    let progress = InstallProgress::new();
    let mut found = Vec::new();
    for spec in specs {
        let resolved = solvers.resolve(spec, &|name, step| progress.show(name, step));
        found.extend(resolved.with_context(|| format!("-s '{spec}'"))?);
    }
    Ok(found)
}

/// The same solvers with their code to be watched, where that can be done; the others are named, with the reason.
pub fn watched(targets: Vec<Target>) -> Result<Vec<Target>> {
    let solvers = all(&[])?;
    let watch = |target: Target| {
        if target.reference {
            return target;
        }
        match Code::of(&target.solver, solvers.home()) {
            Ok(code) => target.watched(code),
            Err(error) => {
                output::say(&format!("osprey: what is reached of {} cannot be told: {error}", target.name));
                target
            }
        }
    };
    Ok(targets.into_iter().map(watch).collect())
}

/// The name and the version by which correlations are kept.
pub fn release_of(solver: &Solver) -> (String, String) {
    let version = solver.version().map_or_else(|| "unknown".to_owned(), ToString::to_string);
    (solver.installed.name.clone(), version)
}

/// The same targets with what is known about their options: from the files that the user names, else from those that come
/// with the program. What nothing is known about is said.
pub fn correlated(targets: Vec<Target>, learned: &LearnedSettings) -> Result<Vec<Target>> {
    let mut given = Vec::new();
    for NamedCorrelations { path, text } in &learned.correlations {
        given.push((path, Correlations::parse(text.as_bytes(), path)?));
    }
    let names: Vec<(String, String)> = targets.iter().map(|target| release_of(&target.solver)).collect();
    let fits = |known: &Correlations, (name, version): &(String, String)| {
        known.is_of(name, version) || learned.forced && known.solver == *name
    };
    for (path, known) in &given {
        if !names.iter().any(|release| fits(known, release)) {
            let wanted: Vec<String> =
                names.iter().map(|(name, version)| format!("{name}@{version}")).collect();
            let error = CorrelationsError::OtherRelease {
                path: path.to_path_buf(),
                found: known.release(),
                wanted: wanted.join(" or "),
            };
            return Err(error).context("--force-correlations uses a file for other releases of its solver");
        }
    }
    let with = |(target, release): (Target, &(String, String))| {
        if target.reference {
            return target;
        }
        let own = given.iter().find(|(_, known)| fits(known, release)).map(|(_, known)| known.clone());
        let known = own.or_else(|| falcon::shipped(&release.0, &release.1));
        match (&target.table, &known) {
            (None, _) => output::say(&format!(
                "osprey: {} does not list its options: it is run without any",
                target.name
            )),
            (Some(_), None) => output::say(&format!(
                "osprey: nothing has been learned about {}: all of its options are searched (osprey learn -s {} --out FILE, \
                 then --correlations FILE)",
                target.name, target.name
            )),
            (Some(_), Some(_)) => {}
        }
        target.correlated(known)
    };
    Ok(targets.into_iter().zip(&names).map(with).collect())
}

/// Solvers under test and references, in this order and numbered; with their options if those are needed.
pub fn targets(tested: &[String], references: &[String], tables: bool) -> Result<Vec<Target>> {
    let solvers = all(&[])?;
    let tested = resolve(&solvers, tested)?;
    let under_test = tested.len();
    let references = if references.is_empty() { Vec::new() } else { resolve(&solvers, references)? };
    let mut targets = Vec::new();
    for target in Target::numbered(tested.into_iter().chain(references)) {
        let table = match tables.then(|| target.solver.option_table(solvers.home())) {
            Some(Ok(table)) => Some(table),
            // Most solvers have no list of their options, and nobody asked for any.
            Some(Err(OptionsError::NoListing(_))) => None,
            Some(Err(error)) => {
                output::say(&format!("osprey: {} is run without options: {error}", target.name));
                None
            }
            None => None,
        };
        let target = target.with_table(table);
        targets.push(if target.number < under_test { target } else { target.as_reference() });
    }
    Ok(targets)
}

/// The solvers of a finding's runs, in their order and with the user's options; `instead` takes the place of the first. A
/// program that has changed since then is told.
pub fn of_finding(finding: &campaign::Finding, instead: Option<&str>) -> Result<Vec<Solver>> {
    let solvers = all(&[])?;
    let mut solvers_of_runs = Vec::new();
    for (place, run) in finding.runs.iter().enumerate() {
        let other = instead.filter(|_| place == 0);
        let spec = other.map_or_else(|| solver::quoted(&run.solver), str::to_owned);
        let mut found = resolve(&solvers, &[spec])?;
        found.truncate(1);
        for solver in &mut found {
            take_recorded(solver, &run.user_options);
            let (then, now) = (&run.sha256, &solver.installed.sha256);
            if let (Some(then), None) = (then, other)
                && now.as_ref() != Some(then)
            {
                output::say(&format!(
                    "osprey: note: {} has changed since then (sha256 {}, now {})",
                    run.solver,
                    short(then),
                    now.as_deref().map_or("unreadable", short)
                ));
            }
        }
        solvers_of_runs.extend(found);
    }
    Ok(solvers_of_runs)
}

fn short(hash: &str) -> &str {
    &hash[..hash.len().min(16)]
}

/// Adds options that a finding has recorded. Whoever wrote the finding must not make a solver write files: options that
/// touch them are left out, with a note.
pub fn take_recorded(solver: &mut Solver, options: &[String]) {
    solver.options.extend(options.iter().cloned());
    for word in solver.leave_out_file_options() {
        output::say(&format!("note: the recorded option '{word}' touches files and is left out"));
    }
}

/// The solvers on this machine that are asked for a third opinion before anybody is accused. Nothing is installed.
pub fn third_opinions() -> Result<Vec<Solver>> {
    Ok(all(&[])?.newest_of_each_line())
}

/// The newest Z3 and cvc5 on this machine, installed if there is none: what is asked when the user names no solver.
pub fn default_pair(solvers: &Solvers) -> Result<Vec<Solver>> {
    let listed = solvers.list(false);
    let progress = InstallProgress::new();
    let mut pair = Vec::new();
    for name in ["z3", "cvc5"] {
        let here = listed.iter().filter(|listed| listed.name == name).flat_map(|listed| &listed.installed);
        let newest = here.filter_map(|release| release.version.as_ref()).max();
        let spec = newest.map_or_else(|| format!("{name}@latest"), |version| format!("{name}@{version}"));
        pair.extend(solvers.resolve(&spec, &|name, step| progress.show(name, step))?);
    }
    Ok(pair)
}

/// One line for each release that is being installed: a spinner while it lasts, then how it ended.
pub struct InstallProgress {
    lines: MultiProgress,
    open: RefCell<BTreeMap<String, ProgressBar>>,
}

/// Steps in the order in which they happen, for the bar's length.
const STEPS: u64 = 4;

impl InstallProgress {
    pub fn new() -> Self {
        InstallProgress { lines: MultiProgress::new(), open: RefCell::new(BTreeMap::new()) }
    }

    /// Draws a step. Nothing appears for releases that are there already, as they have no steps.
    pub fn show(&self, name: &str, step: Step) {
        let (position, text) = match step {
            Step::Asking => (0, "asking the registry"),
            Step::Waiting => (0, "waiting for another process that installs it"),
            Step::Downloading => (1, "downloading"),
            Step::Unpacking => (2, "unpacking"),
            Step::Trying => (3, "trying it"),
            Step::Done => (STEPS, "done"),
        };
        let mut open = self.open.borrow_mut();
        // The question "which releases are there" is asked under the solver's name alone; the answer ends it.
        if let Some((solver, _)) = name.split_once('@')
            && let Some(asking) = open.remove(solver)
        {
            asking.finish_and_clear();
        }
        let bar = open.entry(name.to_string()).or_insert_with(|| self.lines.add(step_bar(name)));
        bar.set_position(position);
        bar.set_message(text);
        if step == Step::Done {
            bar.finish_and_clear();
            open.remove(name);
        }
    }

    /// A finished line above the moving ones.
    pub fn say(&self, line: &str) -> Result<()> {
        // Not a terminal: the line is still wanted.
        if self.lines.is_hidden() {
            return output::print_line(line);
        }
        if self.lines.println(campaign::foreign::visible(line)).is_err() {
            output::say(line);
        }
        Ok(())
    }
}

impl Drop for InstallProgress {
    fn drop(&mut self) {
        for bar in self.open.borrow().values() {
            bar.finish_and_clear();
        }
    }
}

fn step_bar(name: &str) -> ProgressBar {
    let style = ProgressStyle::with_template("{spinner} {prefix:20} {bar:16} {msg} ({elapsed})")
        .unwrap_or_else(|_| ProgressStyle::default_spinner());
    let bar = ProgressBar::new(STEPS).with_style(style).with_prefix(name.to_string());
    bar.enable_steady_tick(Duration::from_millis(120));
    bar
}

/// What to tell a user beside the error itself.
pub fn advice(error: &InstallError) -> Option<&'static str> {
    match error {
        InstallError::UnknownSolver { .. } => Some("`osprey solvers list` shows the solvers there are"),
        InstallError::UnknownVersion { .. } => {
            Some("`osprey solvers list --available` asks the registries for all releases")
        }
        _ => None,
    }
}
