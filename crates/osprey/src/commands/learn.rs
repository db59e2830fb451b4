//! `osprey learn`: which options of a solver matter for which operations.

use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use anyhow::{Result, bail};
use clap::Args;
use falcon::laboratory::SolverLaboratory;
use falcon::learn::{Learner, Progress, Settings, Timing, Watch};
use falcon::{Class, Correlations, Operation, Thresholds};
use indicatif::{ProgressBar, ProgressStyle};
use solver::coverage::Code;
use solver::limits::Limits;

use crate::exit::Exit;
use crate::{duration, inputs, interrupt, limits, live, output, solver_choice};

/// Learn which options of a solver matter for which operations
#[derive(Args)]
#[command(after_help = "\
Examples:
  osprey learn -s z3@5.4.0 --time 3h --out z3.json       until the time is up, or Ctrl-C; again: goes on
  osprey learn -s cvc5@1.4.2 --time 1h --rng-seed 7 --out second.json
  osprey learn --merge first.json second.json --out both.json
  osprey learn --show z3.json                            options that matter for everything; each operation in one line
  osprey learn --show z3.json --of get-unsat-core        the options of an operation, with counts
  osprey learn --show z3.json --of smt.core.minimize     the operations of an option
  osprey fuzz -s z3@5.4.0 --options learned --correlations z3.json

Formulas of a few operations are run with default options, twice, and with other values of options: many options at
once, and fewer where the answer, the output or the functions reached have changed (docs/engines/falcon.md). The file
holds counts, is written every 15 s, and files of several runs add up. Correlations of z3@5.4.0, z3@4.8.7 and cvc5@1.4.2
come with osprey.

Exit code 4 if the solver cannot be run or watched, 2 if a file cannot be used.")]
pub struct Learn {
    /// The solver: name@release, a name on PATH or a path
    #[arg(short, long = "solver", value_name = "SPEC", required_unless_present_any = ["show", "merge"])]
    solver: Option<String>,

    /// Stop after this time; without it, at Ctrl-C
    #[arg(long, value_name = "TIME", value_parser = duration::parse)]
    time: Option<Duration>,

    /// The file of counts; if it is there, learning goes on
    #[arg(long, value_name = "FILE", required_unless_present = "show")]
    out: Option<PathBuf>,

    /// Operations of a batch of formulas
    #[arg(long, value_name = "N", default_value_t = 4, value_parser = clap::value_parser!(u16).range(1..=50))]
    operations: u16,

    /// Formulas of a batch
    #[arg(long, value_name = "N", default_value_t = 3, value_parser = clap::value_parser!(u16).range(1..=1000))]
    formulas: u16,

    /// Compare times as well, where nothing else differs and a run takes this long at least
    #[arg(long, value_name = "TIME", value_parser = duration::parse)]
    timing: Option<Duration>,

    /// Runs of each of two configurations whose times are compared
    #[arg(long, value_name = "N", default_value_t = 20, requires = "timing", value_parser = clap::value_parser!(u16).range(5..=1000))]
    timing_runs: u16,

    /// Times differ if chance makes such a difference less often than this (Mann-Whitney U)
    #[arg(long, value_name = "P", default_value_t = 0.01, requires = "timing", value_parser = significance)]
    timing_p: f64,

    /// CPU time of one run, in whole seconds
    #[arg(long, value_name = "TIME", default_value = "2", value_parser = duration::parse)]
    timeout: Duration,

    /// Memory of one run, in megabytes
    #[arg(long, value_name = "MB", default_value_t = 4096, value_parser = limits::memory())]
    memory: u64,

    /// The seed of all random choices: files that are to be added up need different ones
    #[arg(long, value_name = "N", default_value_t = 0)]
    rng_seed: u64,

    /// Add up files of the same release
    #[arg(long, value_name = "FILE", num_args = 1.., conflicts_with_all = ["solver", "show"])]
    merge: Vec<PathBuf>,

    /// Show a file as a table
    #[arg(long, value_name = "FILE", conflicts_with = "solver")]
    show: Option<PathBuf>,

    /// Show this option or this operation only
    #[arg(long, value_name = "NAME", requires = "show")]
    of: Option<String>,
}

impl Learn {
    pub fn run(self) -> Result<Exit> {
        if let Some(file) = &self.show {
            return show(&Correlations::load(file)?, self.of.as_deref());
        }
        let Some(out) = &self.out else { bail!("--out FILE is missing") };
        if let Some((first, others)) = self.merge.split_first() {
            return merge(first, others, out);
        }
        self.learn(out)
    }

    fn learn(&self, out: &Path) -> Result<Exit> {
        interrupt::catch();
        let solvers = solver_choice::all(&[])?;
        let named: Vec<String> = self.solver.clone().into_iter().collect();
        let mut found = solver_choice::resolve(&solvers, &named)?;
        let (Some(solver), true) = (found.pop(), found.is_empty()) else {
            bail!("'{}' names several solvers: give one", named.join(" "));
        };
        let (name, version) = solver_choice::release_of(&solver);
        let table = solver.option_table(solvers.home())?;
        let mut known = match out.exists() {
            true => Correlations::load(out)?,
            false => Correlations::of(&name, &version, []),
        };
        if !known.is_of(&name, &version) {
            bail!(
                "{} is about {}, not about {name}@{version}: give another --out",
                out.display(),
                known.release()
            );
        }
        let command = self.command(&name, &version);
        if !known.commands.contains(&command) {
            known.commands.push(command);
        }
        let limits = Limits {
            cpu: Some(self.timeout),
            memory: Some(self.memory << 20),
            ..Limits::wall(self.timeout.saturating_mul(5))
        };
        let settings = Settings {
            operations: self.operations.into(),
            formulas: self.formulas.into(),
            rng_seed: self.rng_seed,
            timing: self.timing.map(|least| Timing {
                least,
                runs: self.timing_runs.into(),
                p: self.timing_p,
            }),
            out: out.to_owned(),
            time: self.time,
        };
        let code = Code::of(&solver, solvers.home())?;
        let mut laboratory = SolverLaboratory::new(&solver, &code, limits.clone())?;
        let mut clock = SolverLaboratory::blind(&solver, limits)?;
        let learner =
            Learner::new(&solver, &table.options, known, &mut laboratory, &settings)?.timing(&mut clock);
        let view = LearnView::new();
        let learned = learner.learn(&view);
        view.clear();
        output::print(&summary(&learned?))?;
        Ok(Exit::Clean)
    }
}

impl Learn {
    /// The command that makes these counts again, but for the time it has.
    fn command(&self, name: &str, version: &str) -> String {
        let mut command = format!(
            "osprey learn -s {name}@{version} --rng-seed {} --operations {} --formulas {} --timeout {} --memory {}",
            self.rng_seed,
            self.operations,
            self.formulas,
            self.timeout.as_secs_f64(),
            self.memory
        );
        if let Some(least) = self.timing {
            let (runs, p) = (self.timing_runs, self.timing_p);
            command += &format!(" --timing {} --timing-runs {runs} --timing-p {p}", least.as_secs_f64());
        }
        command
    }
}

fn significance(text: &str) -> Result<f64> {
    match text.parse() {
        Ok(p) if p > 0.0 && p < 1.0 => Ok(p),
        _ => bail!("expected a probability between 0 and 1"),
    }
}

/// A run goes on in its file: two files that name the same command share the formulas of the one that is older.
fn refuse_shared(files: &[(&Path, Correlations)]) -> Result<()> {
    for (place, (file, all)) in files.iter().enumerate() {
        for (other, earlier) in &files[..place] {
            if let Some(command) = all.commands.iter().find(|command| earlier.commands.contains(command)) {
                bail!(
                    "{} and {} both have what `{command}` made: a run is counted once; learn with another --rng-seed",
                    other.display(),
                    file.display()
                );
            }
        }
    }
    Ok(())
}

/// Counts of the same formulas must not be added to themselves.
fn refuse_twice(files: &[&Path]) -> Result<()> {
    for (place, file) in files.iter().enumerate() {
        for other in &files[..place] {
            let same_place =
                file.canonicalize().ok().is_some_and(|path| other.canonicalize().ok() == Some(path));
            if same_place || inputs::read(file)? == inputs::read(other)? {
                bail!(
                    "{} and {} have the same counts: a run is counted once; learn with another --rng-seed",
                    other.display(),
                    file.display()
                );
            }
        }
    }
    Ok(())
}

fn merge(first: &Path, others: &[PathBuf], out: &Path) -> Result<Exit> {
    let all: Vec<&Path> = std::iter::once(first).chain(others.iter().map(PathBuf::as_path)).collect();
    refuse_twice(&all)?;
    let mut files: Vec<(&Path, Correlations)> = Vec::new();
    for path in all {
        let other = Correlations::load(path)?;
        if let Some((first, sum)) = files.first()
            && !other.is_of(&sum.solver, &sum.version)
        {
            bail!(
                "{} is about {}, {} about {}",
                path.display(),
                other.release(),
                first.display(),
                sum.release()
            );
        }
        files.push((path, other));
    }
    refuse_shared(&files)?;
    let mut files = files.into_iter().map(|(_, counts)| counts);
    let mut sum = files.next().unwrap_or_default();
    files.for_each(|other| sum.merge(&other));
    sum.save(out)?;
    output::print(&summary(&sum))?;
    Ok(Exit::Clean)
}

fn summary(all: &Correlations) -> String {
    let thresholds = Thresholds::default();
    format!(
        "{}: {} formulas, {} runs, {} options, {} operations; {} pairs are relevant, {} options matter for nearly everything\n",
        all.release(),
        all.formulas,
        all.runs,
        all.options().len(),
        all.operations().count(),
        all.relevant_pairs(&thresholds),
        all.general(&thresholds).len()
    )
}

fn show(all: &Correlations, of: Option<&str>) -> Result<Exit> {
    let thresholds = Thresholds::default();
    let general = all.general(&thresholds);
    let mut text = String::new();
    match of {
        None => {
            text += &summary(all);
            text += &format!(
                "made by: {}\n\noptions that matter for nearly everything:\n",
                all.commands.join("; ")
            );
            text += &format!("  {}\n\nothers, by operation:\n", general.join(" "));
            for (operation, formulas) in all.operations() {
                let mut relevant = all.relevant(&[operation].into(), &thresholds);
                relevant.retain(|option| !general.contains(option));
                text += &format!("  {operation}, {formulas} formulas: {}\n", relevant.join(" "));
            }
        }
        Some(name) if all.options().iter().any(|option| option == name) => {
            text += &format!("{name}:\n");
            for (operation, _) in all.operations() {
                text += &line(all, name, operation, &operation.to_string(), &thresholds);
            }
        }
        Some(name) => {
            let operations = Operation::meant(name);
            if operations.is_empty() {
                bail!("'{name}' is neither an option that was learned nor an operation");
            }
            for operation in operations {
                text += &format!("{operation}, {} formulas:\n", all.formulas_with(operation));
                for option in all.options() {
                    text += &line(all, option, operation, option, &thresholds);
                }
            }
        }
    }
    output::print(&text)?;
    Ok(Exit::Clean)
}

/// One pair with its counts, if it ever did something.
fn line(
    all: &Correlations,
    option: &str,
    operation: Operation,
    shown: &str,
    thresholds: &Thresholds,
) -> String {
    let (trials, pair) = all.pair(option, operation);
    if pair.hits == 0 && pair.conflicts == 0 {
        return String::new();
    }
    let class = match all.class(option, operation, thresholds) {
        Class::Unknown => "unknown",
        Class::Conflict => "conflict",
        Class::Irrelevant => "irrelevant",
        Class::Relevant => "relevant",
    };
    let conflicts =
        if pair.conflicts > 0 { format!(", refused in {}", pair.conflicts) } else { String::new() };
    format!("  {class:<10} {shown:<44} {} of {trials}{conflicts}\n", pair.hits)
}

/// Lines without a terminal come at least this far apart.
const EVERY: Duration = Duration::from_secs(20);

/// The terminal as the audience: a bar, or a line now and then.
struct LearnView {
    bar: Option<ProgressBar>,
    last: Mutex<Option<Instant>>,
}

impl LearnView {
    fn new() -> LearnView {
        let bar = output::is_live().then(|| {
            let style = ProgressStyle::with_template("{spinner} {elapsed} {wide_bar} {msg}")
                .unwrap_or_else(|_| ProgressStyle::default_bar());
            ProgressBar::new(1000).with_style(style)
        });
        LearnView { bar, last: Mutex::new(None) }
    }

    fn clear(&self) {
        if let Some(bar) = &self.bar {
            bar.finish_and_clear();
        }
    }
}

impl Watch for LearnView {
    fn stopped(&self) -> bool {
        interrupt::asked()
    }

    fn progress(&self, progress: &Progress) {
        let Progress { elapsed, time, formulas, unused, runs, pairs } = progress;
        let text = || {
            let left = time.map(|time| format!(", {} left", live::clock(time.saturating_sub(*elapsed))));
            let left = left.unwrap_or_default();
            format!("{formulas} formulas ({unused} of no use), {runs} runs, {pairs} relevant pairs{left}")
        };
        if let Some(bar) = &self.bar {
            let share = time.map_or(0.0, |time| elapsed.as_secs_f64() / time.as_secs_f64().max(1e-3));
            bar.set_position((1000.0 * share) as u64);
            bar.set_message(text());
            return;
        }
        let mut last = self.last.lock().unwrap_or_else(PoisonError::into_inner);
        if last.is_none_or(|last| last.elapsed() >= EVERY) {
            *last = Some(Instant::now());
            output::say(&format!("osprey: {}", text()));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_not_added_to_itself_and_a_copy_neither() {
        let place = tempfile::tempdir().expect("a folder");
        let path = |name: &str| place.path().join(name);
        for (name, text) in [("a", "1"), ("copy", "1"), ("b", "2")] {
            std::fs::write(path(name), text).expect("written");
        }
        let (a, b, copy) = (path("a"), path("b"), path("copy"));
        assert!(refuse_twice(&[&a, &b]).is_ok());
        for files in [[a.as_path(), a.as_path()], [a.as_path(), copy.as_path()]] {
            let error = refuse_twice(&files).expect_err("the same counts").to_string();
            assert!(error.contains("same counts"), "{error}");
        }
    }

    #[test]
    fn two_states_of_the_same_run_are_not_added_up() {
        let place = tempfile::tempdir().expect("a folder");
        let out = place.path().join("sum");
        let file = |name: &str, command: &str, formulas: u32| {
            let mut counts = Correlations::of("z3", "5.4.0", ["a"]);
            counts.commands.push(command.to_owned());
            for _ in 0..formulas {
                counts.count(&[Operation::Quantifier].into(), &["a"], &[], &[]);
            }
            let path = place.path().join(name);
            counts.save(&path).expect("written");
            path
        };
        let early = file("early", "osprey learn --rng-seed 1", 3);
        let late = file("late", "osprey learn --rng-seed 1", 7);
        let other = file("other", "osprey learn --rng-seed 2", 2);
        let error = merge(&early, std::slice::from_ref(&late), &out).expect_err("the same run").to_string();
        assert!(error.contains("--rng-seed 1") && error.contains("late"), "{error}");
        assert!(merge(&late, &[other], &out).is_ok());
        assert_eq!(Correlations::load(&out).expect("read").formulas, 9);
    }
}
