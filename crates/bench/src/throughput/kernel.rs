//! What runs cost the kernel: before and after they were made to cost it less, per solver and way of starting.

use std::path::PathBuf;

use solver::coverage::{Code, ProbeRequest, Trace};
use solver::fast::ExecMode;
use solver::launch::LauncherConfig;
use solver::limits::Limits;
use solver::{Home, Solver};

use super::measure::{Measured, Tuned, before_and_after, within};
use super::workload::Workload;
use super::{PATIENCE, rounded, way, workloads};
use crate::{BenchError, Cell, Draft, Report, Table, Watch};

/// How before and after are to be read.
pub(super) const NOTE: &str = "Before and after: without and with what is described in docs/fast-starts.md (OSPREY_TUNING=off turns it off). \
     The kernel's share counts fork servers, with their starts; where code is watched each script runs twice and the second \
     run counts, so that most servers have been started before. Kernels tell user and kernel time apart by ticks of \
     their clock; a run shorter than a tick counts by its chance to meet one.";

/// What to measure: with the solvers' code watched and not.
#[derive(Clone, Debug)]
pub struct KernelShare {
    pub solvers: Vec<Solver>,
    /// Where site lists are remembered.
    pub home: Home,
    /// A folder with scripts; scripts of our own without one.
    pub files: Option<PathBuf>,
    /// Runs of the trivial script.
    pub trivial: usize,
    pub command: String,
}

impl KernelShare {
    pub fn run(&self, watch: &dyn Watch) -> Result<Report, BenchError> {
        let workloads = workloads(self.files.as_deref(), self.trivial)?;
        let mut draft = Draft::new("kernel", "What runs cost the kernel", &self.command);
        draft.versions = self.solvers.iter().map(Solver::name).collect();
        let limits = Limits::wall(PATIENCE);
        let mut table = table();
        let steps = self.solvers.len() * workloads.len();
        for (place, solver) in self.solvers.iter().enumerate() {
            let probe = match Code::of(solver, &self.home) {
                Ok(code) => Some(code.probe(Trace::New)),
                Err(error) => {
                    draft.skip(format!("{} with its code watched", solver.name()), error.to_string());
                    None
                }
            };
            for (number, workload) in workloads.iter().enumerate() {
                if watch.stopped() {
                    draft.partial = Some("ended by the user".to_owned());
                    break;
                }
                let step = format!("{} {}", solver.name(), workload.name);
                watch.progress(place * workloads.len() + number, steps, &step);
                let workload = within(solver, workload, &limits, &LauncherConfig::default())?;
                rows(solver, &workload, &limits, None, &mut table)?;
                if probe.is_some() {
                    rows(solver, &workload, &limits, probe.as_ref(), &mut table)?;
                }
            }
        }
        draft.tables.push(table);
        draft.notes.push(NOTE.to_owned());
        draft.notes.push(
            "Watched: the solver's code is watched as in a campaign. Each script has run before in the same launcher, so \
             nothing is new, and servers may be running. Left out are scripts that take longer than the limit."
                .to_owned(),
        );
        Ok(draft.finish())
    }
}

pub(super) fn table() -> Table {
    Table::new(
        "Runs that cost the kernel less: before and after, in turns",
        &[
            "solver",
            "way",
            "workload",
            "runs",
            "per CPU second, before",
            "after",
            "ratio",
            "kernel, % of the solver's CPU, before",
            "after",
            "differing outputs",
        ],
    )
}

/// A row for each fast way of starting, or for plain starts where there is none.
pub(super) fn rows(
    solver: &Solver,
    workload: &Workload,
    limits: &Limits,
    probe: Option<&ProbeRequest>,
    table: &mut Table,
) -> Result<(), BenchError> {
    let config = LauncherConfig::default();
    let mut modes: Vec<ExecMode> = solver.fast_modes().collect();
    if modes.is_empty() {
        modes.push(ExecMode::Plain);
    }
    let mut row = |mode, name: &str, config: &LauncherConfig| -> Result<(), BenchError> {
        let tuned = before_and_after(solver, mode, workload, limits, config, probe)?;
        let name = if probe.is_some() { format!("{name}, watched") } else { name.to_owned() };
        table.row(tuned_row(&solver.name(), &name, &workload.name, &tuned));
        Ok(())
    };
    for mode in &modes {
        row(*mode, way(*mode), &config)?;
    }
    if modes.contains(&ExecMode::PrefixSnapshot) {
        // A prefix that is never seen often enough.
        let plain = LauncherConfig { snapshot_after: u32::MAX, ..config };
        row(ExecMode::PrefixSnapshot, "plain, prefix not seen before", &plain)?;
    }
    Ok(())
}

fn tuned_row(solver: &str, way: &str, workload: &str, tuned: &Tuned) -> [Cell; 10] {
    let percent = |one: &Measured| Cell::from((one.kernel_share() * 100.0).round());
    let Tuned { before, after, differing } = tuned;
    [
        solver.into(),
        way.into(),
        workload.into(),
        before.runs.into(),
        rounded(before.executions_per_cpu_second),
        rounded(after.executions_per_cpu_second),
        Cell::ratio(before.cpu_seconds, after.cpu_seconds),
        percent(before),
        percent(after),
        (*differing).into(),
    ]
}
