//! `osprey solvers coverage`: which of a solver's code do these files reach?

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::mpsc;
use std::time::Duration;

use anyhow::{Context as _, Result, bail};
use clap::{Args, ValueEnum};
use indicatif::{ProgressBar, ProgressStyle};
use serde::Serialize;
use solver::Solver;
use solver::coverage::{Code, Difference, Explorer, NamedFunctions, SetError, SiteSet, Summary, Trace};
use solver::limits::Limits;

use crate::exit::Exit;
use crate::{duration, inputs, interrupt, limits, output, solver_choice};

/// Which code of a solver do files reach? Any release, as it is: no special build
#[derive(Args)]
#[command(after_help = "\
Examples:
  osprey solvers coverage -s z3@5.4.0 seeds/                      functions and blocks, by module
  osprey solvers coverage -s z3@5.4.0 a.smt2 --trace functions    the functions that one run reaches
  osprey solvers coverage -s z3@5.4.0 --compare mine/ theirs/     what only one of two folders reaches
  osprey solvers coverage -s z3@5.4.0 more/ --add day1.cov --save day2.cov

The files are run in their order, each with what the earlier ones have reached behind it: `new` is what
nobody has reached before. A set (--save, --add, --compare) holds the blocks that were reached, by the hash of
the solver's files; sets of the same binaries can be united. Ctrl-C ends it early: what was reached until then
is saved and shown.

Exit code 4 if the solver cannot be run, or its code cannot be watched.")]
pub struct Coverage {
    /// The solver: name@release, a name on PATH or a path
    #[arg(short, long = "solver", value_name = "SPEC")]
    solver: String,

    /// Files, or folders that are walked for .smt2 files
    #[arg(value_name = "FILES|DIRS", required_unless_present_any = ["compare", "add"])]
    paths: Vec<PathBuf>,

    /// What only one of two reaches: each a script, a folder, or a set that was saved
    #[arg(long, num_args = 2, value_names = ["A", "B"], conflicts_with_all = ["paths", "save", "add", "trace"])]
    compare: Vec<PathBuf>,

    /// Write the blocks reached to a file
    #[arg(long, value_name = "FILE")]
    save: Option<PathBuf>,

    /// Begin with the blocks of a file that was saved
    #[arg(long, value_name = "FILE")]
    add: Vec<PathBuf>,

    /// List everything that each run reaches, by name
    #[arg(long, value_name = "WHAT")]
    trace: Option<TraceOf>,

    /// Modules that are listed
    #[arg(long, value_name = "N", default_value_t = 30)]
    modules: usize,

    /// Runs at the same time. Each process begins with nothing reached: what a file has new depends on its neighbours
    /// then, the whole does not
    #[arg(short, long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u16).range(1..=1024))]
    jobs: u16,

    /// Time for each run
    #[arg(long, value_name = "TIME", default_value = "10", value_parser = duration::parse)]
    timeout: Duration,

    /// Megabytes of memory for each run
    #[arg(long, value_name = "MB", default_value_t = 4096, value_parser = limits::memory())]
    memory: u64,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum TraceOf {
    Functions,
    Blocks,
}

/// What a file reached.
#[derive(Serialize)]
struct FileReport {
    file: PathBuf,
    /// Functions that nobody had reached before.
    functions: usize,
    /// Blocks that nobody had reached before; with `--trace blocks` all that it reached.
    blocks: usize,
    #[serde(skip_serializing_if = "Option::is_none")]
    trace: Option<Vec<String>>,
}

#[derive(Serialize)]
struct Report {
    solver: String,
    files: Vec<FileReport>,
    #[serde(flatten)]
    summary: Summary,
}

#[derive(Serialize)]
struct Comparison {
    solver: String,
    /// Blocks of each.
    blocks: [usize; 2],
    /// Functions of each.
    functions: [usize; 2],
    /// What only the first reaches, and what only the second does.
    only: [Difference; 2],
}

/// A solver and its code.
struct Subject {
    solver: Solver,
    code: Code,
    names: NamedFunctions,
    limits: Limits,
    /// Runs at the same time.
    jobs: usize,
}

impl Coverage {
    pub fn run(&self, solvers: &solver::Solvers, json: bool) -> Result<Exit> {
        let mut found = solver_choice::resolve(solvers, std::slice::from_ref(&self.solver))?;
        let (Some(solver), true) = (found.pop(), found.is_empty()) else {
            bail!("'{}' names several solvers: give one", self.solver);
        };
        let code = Code::of(&solver, solvers.home())?;
        let names = NamedFunctions::of(&code)?;
        let limits = Limits { memory: Some(self.memory << 20), ..Limits::wall(self.timeout) };
        let subject = Subject { solver, code, names, limits, jobs: self.jobs.into() };
        if subject.names.are_missing() {
            output::say(&format!(
                "osprey: {} has no symbols: functions go by their addresses, and no module can be told",
                subject.solver.name()
            ));
        }
        match self.compare.as_slice() {
            [first, second] => subject.compare([first, second], self.modules, json),
            _ => self.explore(&subject, json),
        }
    }

    fn explore(&self, subject: &Subject, json: bool) -> Result<Exit> {
        for path in &self.paths {
            if subject.is_set(path) {
                bail!("{} is a set that was saved, not a script: give it with --add", path.display());
            }
        }
        let mut set = SiteSet::default();
        for file in &self.add {
            set.unite(&SiteSet::load(&subject.code, &subject.solver.name(), file)?);
        }
        let trace = match self.trace {
            None => Trace::New,
            Some(TraceOf::Functions) => Trace::Functions,
            Some(TraceOf::Blocks) => Trace::Blocks,
        };
        let mut files = Vec::new();
        subject.reach(&self.paths, trace, |file, sites| {
            let own: SiteSet = sites.iter().copied().collect();
            let new: SiteSet = sites.iter().copied().filter(|site| set.insert(*site)).collect();
            let report = FileReport {
                file: file.to_owned(),
                functions: new.functions(&subject.code),
                blocks: if trace == Trace::Blocks { own.len() } else { new.len() },
                trace: self.trace.map(|what| subject.traced(what, &own)),
            };
            if !json {
                output::print(&shown(&report))?;
            }
            files.push(report);
            Ok(())
        })?;
        if let Some(path) = &self.save {
            set.save(&subject.code, &subject.solver.name(), path)?;
        }
        let summary = subject.names.summary(&subject.code, &set);
        if json {
            output::print_json(&Report { solver: subject.solver.name(), files, summary })?;
        } else if trace != Trace::Functions {
            output::print(&overview(&subject.solver, &summary, self.modules))?;
        }
        Ok(Exit::Clean)
    }
}

impl Subject {
    /// Runs all scripts under the paths and tells what each has reached.
    fn reach(
        &self,
        paths: &[PathBuf],
        trace: Trace,
        mut tell: impl FnMut(&Path, &[u32]) -> Result<()>,
    ) -> Result<()> {
        if paths.is_empty() {
            return Ok(());
        }
        let scripts = inputs::scripts(paths)?;
        for skipped in &scripts.skipped {
            output::say(&format!("osprey: {skipped}"));
        }
        interrupt::catch();
        let bar = bar(scripts.files.len());
        let next = AtomicUsize::new(0);
        let failed = AtomicBool::new(false);
        let work = |out: &mpsc::Sender<(usize, Result<Vec<u32>>)>| {
            let mut explorer = match Explorer::new(&self.solver, &self.code, trace, self.limits.clone()) {
                Ok(explorer) => explorer,
                Err(error) => {
                    failed.store(true, Ordering::Relaxed);
                    // Whoever listens has an error already if nobody does.
                    let _ = out.send((0, Err(error.into())));
                    return;
                }
            };
            while !interrupt::asked() && !failed.load(Ordering::Relaxed) {
                let place = next.fetch_add(1, Ordering::Relaxed);
                let Some(file) = scripts.files.get(place) else { break };
                let reached = inputs::read(file).map_err(anyhow::Error::from).and_then(|script| {
                    let run = explorer.run(&script);
                    Ok(run.with_context(|| format!("running '{}'", file.display()))?.1)
                });
                if out.send((place, reached)).is_err() {
                    break;
                }
            }
        };
        std::thread::scope(|scope| {
            let (sender, results) = mpsc::channel();
            for _ in 0..self.jobs.min(scripts.files.len()) {
                let sender = sender.clone();
                scope.spawn(move || work(&sender));
            }
            drop(sender);
            // In the order of the files, whoever is quicker.
            let mut waiting = BTreeMap::new();
            let mut told = 0;
            for (place, reached) in results {
                let reached = reached.inspect_err(|_| failed.store(true, Ordering::Relaxed))?;
                waiting.insert(place, reached);
                while let Some(sites) = waiting.remove(&told) {
                    bar.suspend(|| tell(&scripts.files[told], &sites))?;
                    told += 1;
                    bar.inc(1);
                }
            }
            bar.finish_and_clear();
            if interrupt::asked() && told < scripts.files.len() {
                let all = scripts.files.len();
                output::say(&format!("osprey: ended after {told} of {all} files: what they reached is kept"));
            }
            Ok(())
        })
    }

    /// Is it a file that `--save` has written?
    fn is_set(&self, path: &Path) -> bool {
        let other = |error: &SetError| matches!(error, SetError::OtherCode { .. });
        path.is_file()
            && path.extension().is_none_or(|extension| extension != "smt2")
            && SiteSet::load(&self.code, &self.solver.name(), path)
                .map_or_else(|error| other(&error), |_| true)
    }

    /// All that a script, a folder or a saved set reaches.
    fn set_of(&self, path: &Path) -> Result<SiteSet> {
        if path.is_file() && path.extension().is_none_or(|extension| extension != "smt2") {
            return Ok(SiteSet::load(&self.code, &self.solver.name(), path)?);
        }
        let mut set = SiteSet::default();
        self.reach(&[path.to_owned()], Trace::New, |_, sites| {
            set.extend(sites.iter().copied());
            Ok(())
        })?;
        Ok(set)
    }

    fn compare(&self, paths: [&PathBuf; 2], modules: usize, json: bool) -> Result<Exit> {
        let [first, second] = [self.set_of(paths[0])?, self.set_of(paths[1])?];
        let comparison = Comparison {
            solver: self.solver.name(),
            blocks: [first.len(), second.len()],
            functions: [first.functions(&self.code), second.functions(&self.code)],
            only: [self.names.only(&first, &second), self.names.only(&second, &first)],
        };
        if json {
            output::print_json(&comparison)?;
            return Ok(Exit::Clean);
        }
        let mut text = format!("{}\n", comparison.solver);
        for (place, path) in paths.into_iter().enumerate() {
            let only = &comparison.only[place];
            text += &format!(
                "{}: {} functions, {} blocks; only here {} functions, {} blocks\n",
                path.display(),
                comparison.functions[place],
                comparison.blocks[place],
                only.functions.len(),
                only.blocks,
            );
            for (module, blocks) in only.modules.iter().take(modules) {
                text += &format!("  {blocks:>7}  {module}\n");
            }
        }
        output::print(&text)?;
        Ok(Exit::Clean)
    }

    /// A trace by name.
    fn traced(&self, what: TraceOf, set: &SiteSet) -> Vec<String> {
        match what {
            TraceOf::Blocks => self.names.blocks(&self.code, set),
            TraceOf::Functions => {
                let reached = self.names.each(set).filter(|function| function.reached);
                reached.map(|function| function.function.name.clone()).collect()
            }
        }
    }
}

/// How far it is; nothing without a terminal.
fn bar(files: usize) -> ProgressBar {
    if !output::is_live() || files < 2 {
        return ProgressBar::hidden();
    }
    let style =
        ProgressStyle::with_template("{spinner} {elapsed} {wide_bar} {pos} of {len} files, {eta} left")
            .unwrap_or_else(|_| ProgressStyle::default_bar());
    ProgressBar::new(files as u64).with_style(style)
}

fn shown(report: &FileReport) -> String {
    let mut text = format!(
        "{:>7} new functions {:>8} {}blocks  {}\n",
        report.functions,
        report.blocks,
        if report.trace.is_none() { "new " } else { "" },
        report.file.display()
    );
    for function in report.trace.iter().flatten() {
        text += &format!("  {function}\n");
    }
    text
}

fn percent(part: usize, whole: usize) -> f64 {
    100.0 * part as f64 / whole.max(1) as f64
}

fn overview(solver: &Solver, summary: &Summary, modules: usize) -> String {
    let mut text = format!(
        "{}: {} of {} functions ({:.1} %), {} of {} blocks ({:.1} %); {:.1} % of the text can be watched\n",
        solver.name(),
        summary.functions_reached,
        summary.functions,
        percent(summary.functions_reached, summary.functions),
        summary.blocks_reached,
        summary.blocks,
        percent(summary.blocks_reached, summary.blocks),
        100.0 * summary.covered_text,
    );
    text += "\n functions        blocks               module\n";
    for module in summary.modules.iter().take(modules) {
        text += &format!(
            "{:>6}/{:<6} {:>8}/{:<8} {:>5.1} %  {}\n",
            module.functions_reached,
            module.functions,
            module.blocks_reached,
            module.blocks,
            percent(module.blocks_reached, module.blocks),
            module.module
        );
    }
    let unreached = summary.modules.iter().filter(|module| module.blocks_reached == 0).take(modules);
    let unreached: Vec<String> =
        unreached.map(|module| format!("  {:>7} blocks  {}", module.blocks, module.module)).collect();
    if !unreached.is_empty() {
        text += &format!("\nthe largest modules that were never reached:\n{}\n", unreached.join("\n"));
    }
    text
}
