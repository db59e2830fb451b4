//! Executions per second: plain starts against the fast ones, solver by solver, and what Osprey itself costs.

mod kernel;
mod measure;
pub(crate) mod workload;

use std::path::{Path, PathBuf};
use std::time::Duration;

use smtlib::{Mode, Release, Store, print};
use solver::Solver;
use solver::fast::ExecMode;
use solver::launch::LauncherConfig;
use solver::limits::Limits;

pub use kernel::KernelShare;
use measure::{Comparison, Measured, TURNS, behind_and_without_wall, compare, measure, within};
use workload::Workload;

use crate::{BenchError, Cell, Draft, Report, Table, Watch};

/// What to measure.
#[derive(Clone, Debug)]
pub struct Throughput {
    pub solvers: Vec<Solver>,
    /// A folder with scripts; scripts of our own without one.
    pub files: Option<PathBuf>,
    /// Runs of the trivial script.
    pub trivial: usize,
    pub command: String,
}

/// Files taken from the folder.
const FILES: usize = 50;
/// Of these, seeds with so many mutants each.
const SEEDS: usize = 20;
const MUTANTS: usize = 25;
const PATIENCE: Duration = Duration::from_secs(2);

impl Throughput {
    pub fn run(&self, watch: &dyn Watch) -> Result<Report, BenchError> {
        let workloads = workloads(self.files.as_deref(), self.trivial)?;
        let mut draft = Draft::new("throughput", "Running solvers", &self.command);
        draft.versions = self.solvers.iter().map(Solver::name).collect();
        let mut speeds = Table::new(
            "Plain starts against fast ones",
            &[
                "solver",
                "way",
                "workload",
                "runs",
                "plain, per second",
                "fast, per second",
                "ratio of CPU time",
                "differing outputs",
            ],
        );
        let mut costs = Table::new(
            "CPU time of Osprey and its launcher for one run, milliseconds",
            &["solver", "way", "workload", "plain", "fast"],
        );
        let mut walls = Table::new(
            "CPU time of one trivial run behind the kernel's wall and without it, milliseconds",
            &["solver", "way", "runs", "behind it", "without", "ratio"],
        );
        let mut kernel = kernel::table();
        let (config, limits) = (LauncherConfig::default(), Limits::wall(PATIENCE));
        let steps = self.solvers.len() * workloads.len();
        for (place, solver) in self.solvers.iter().enumerate() {
            let modes: Vec<ExecMode> = solver.fast_modes().collect();
            let mut totals = vec![(0.0, 0.0); modes.len()];
            for (number, workload) in workloads.iter().enumerate() {
                if watch.stopped() {
                    draft.partial = Some("ended by the user".to_owned());
                    break;
                }
                watch.progress(
                    place * workloads.len() + number,
                    steps,
                    &format!("{} {}", solver.name(), workload.name),
                );
                let all = workload.scripts.len();
                let workload = &within(solver, workload, &limits, &config)?;
                let slow = all - workload.scripts.len();
                if slow > 0 {
                    let what = format!("{slow} of {all} runs of {} on {}", solver.name(), workload.name);
                    draft.skip(what, format!("they take more than {} s", PATIENCE.as_secs()));
                }
                for (mode, total) in modes.iter().zip(&mut totals) {
                    let one = compare(solver, *mode, workload, &limits, &config)?;
                    *total = (total.0 + one.plain.cpu_seconds, total.1 + one.fast.cpu_seconds);
                    compared(&one, &mut speeds, &mut costs);
                }
                kernel::rows(solver, workload, &limits, None, &mut kernel)?;
                if modes.is_empty() {
                    let plain = measure(solver, ExecMode::Plain, workload, &limits, &config)?;
                    only_plain(&solver.name(), &workload.name, &plain, &mut speeds, &mut costs);
                }
            }
            for mode in [ExecMode::Plain].iter().chain(modes.first()) {
                if watch.stopped() {
                    break;
                }
                let [behind, without] = behind_and_without_wall(solver, *mode, &workloads[0], &limits)?;
                walls.row([
                    solver.name().into(),
                    way(*mode).into(),
                    (TURNS * workloads[0].scripts.len()).into(),
                    hundredths(behind),
                    hundredths(without),
                    Cell::ratio(behind, without),
                ]);
            }
            for (mode, (plain, fast)) in modes.iter().zip(totals) {
                speeds.row([
                    solver.name().into(),
                    way(*mode).into(),
                    "all together".into(),
                    Cell::None,
                    Cell::None,
                    Cell::None,
                    Cell::ratio(plain, fast),
                    Cell::None,
                ]);
            }
        }
        draft.tables.extend([speeds, kernel, costs, walls]);
        draft.notes.push(
            "Ratios compare the CPU time of everything: solver, fork servers, launcher, Osprey. One run at a time, each \
             way in a launcher of its own. Mutants are printed as in a campaign and differ behind their seed's declarations."
                .to_owned(),
        );
        draft.notes.push(kernel::NOTE.to_owned());
        Ok(draft.finish())
    }
}

/// The trivial script, files, and mutants of them.
fn workloads(folder: Option<&Path>, trivial: usize) -> Result<[Workload; 3], BenchError> {
    let files = match folder {
        Some(folder) => Workload::files(folder, FILES)?,
        None => Workload::built_in(),
    };
    let seeds = Workload {
        name: String::new(),
        scripts: files.scripts.iter().filter_map(|text| printed(text)).take(SEEDS).collect(),
    };
    Ok([Workload::trivial(trivial), files, seeds.mutants(MUTANTS)])
}

/// A seed as a campaign prints it.
fn printed(text: &[u8]) -> Option<Vec<u8>> {
    let mut store = Store::new();
    let parsed = smtlib::parse(&mut store, text, Mode::Tolerant).ok()?;
    let (script, _) = campaign::driver::runnable(&mut store, &parsed.script, &[]);
    Some(print::print(&store, &script, Release::STANDARD).into_bytes())
}

fn compared(one: &Comparison, speeds: &mut Table, costs: &mut Table) {
    let way = way(one.fast.mode);
    speeds.row([
        one.solver.as_str().into(),
        way.into(),
        one.workload.as_str().into(),
        one.plain.runs.into(),
        rounded(one.plain.executions_per_second),
        rounded(one.fast.executions_per_second),
        Cell::ratio(one.plain.cpu_seconds, one.fast.cpu_seconds),
        one.differing.into(),
    ]);
    costs.row([
        one.solver.as_str().into(),
        way.into(),
        one.workload.as_str().into(),
        hundredths(one.plain.own_cpu_ms_per_run),
        hundredths(one.fast.own_cpu_ms_per_run),
    ]);
}

fn only_plain(solver: &str, workload: &str, plain: &Measured, speeds: &mut Table, costs: &mut Table) {
    speeds.row([
        solver.into(),
        "plain only".into(),
        workload.into(),
        plain.runs.into(),
        rounded(plain.executions_per_second),
        Cell::None,
        Cell::None,
        Cell::None,
    ]);
    costs.row([
        solver.into(),
        "plain only".into(),
        workload.into(),
        hundredths(plain.own_cpu_ms_per_run),
        Cell::None,
    ]);
}

fn way(mode: ExecMode) -> &'static str {
    match mode {
        ExecMode::Plain => "plain start",
        ExecMode::ForkServer => "fork server",
        ExecMode::PrefixSnapshot => "prefix snapshot",
        ExecMode::LibraryHost => "library host",
    }
}

fn rounded(number: f64) -> Cell {
    ((number * 10.0).round() / 10.0).into()
}

fn hundredths(number: f64) -> Cell {
    ((number * 100.0).round() / 100.0).into()
}
