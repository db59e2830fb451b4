//! `osprey bench coverage`: what watching a solver costs, and that nothing of it shows.
//!
//! Every file is run with the probe and without it, in turn, in launchers of their own. The first round tells whether the
//! outputs are the same while all sites trap; in the later ones nothing is new, and CPU time is compared.

use std::path::PathBuf;
use std::time::Duration;

use solver::coverage::{Code, Explorer, SiteSet, Trace};
use solver::fast::ExecMode;
use solver::launch::Outcome;
use solver::limits::Limits;
use solver::{Home, Solver};

use crate::throughput::workload::Workload;
use crate::{BenchError, Cell, Draft, Report, Table, Watch};

/// What to measure.
pub struct CoverageCost {
    pub solvers: Vec<Solver>,
    /// Where site lists are remembered.
    pub home: Home,
    /// A folder with scripts.
    pub files: PathBuf,
    /// How many of them.
    pub count: usize,
    /// Rounds in which nothing is new.
    pub rounds: usize,
    /// The most time of one run.
    pub timeout: Duration,
    pub command: String,
}

/// Longer runs tell nothing about the cost of a probe that has nothing to tell.
const QUICK: Duration = Duration::from_millis(300);

/// One solver in one way of starting.
#[derive(Default)]
struct Figures {
    same: u64,
    compared: u64,
    blocks: usize,
    /// Runs in which nothing was new, and their CPU time with the probe and without it.
    quiet: u64,
    watched: Duration,
    alone: Duration,
}

impl CoverageCost {
    pub fn run(&self, watch: &dyn Watch) -> Result<Report, BenchError> {
        let workload = Workload::files(&self.files, self.count)?;
        let mut draft = Draft::new("coverage", "Watching which code is reached", &self.command);
        draft.versions = self.solvers.iter().map(Solver::name).collect();
        let mut sites = Table::new("Sites", &["solver", "functions", "blocks", "share of the text"]);
        let mut costs = Table::new(
            "With the probe and without it",
            &[
                "solver",
                "way",
                "same output",
                "blocks reached",
                "runs without anything new",
                "CPU ms with it",
                "CPU ms without",
                "ratio",
            ],
        );
        'solvers: for solver in &self.solvers {
            let code = match Code::of(solver, &self.home) {
                Ok(code) => code,
                Err(error) => {
                    draft.skip(solver.name(), error.to_string());
                    continue;
                }
            };
            sites.row([
                solver.name().into(),
                code.functions().into(),
                code.blocks().into(),
                Cell::Text(format!("{:.1} %", 100.0 * code.covered_text())),
            ]);
            for mode in solver.fast_modes().chain([ExecMode::Plain]) {
                let figures = self.measure(solver, &code, mode, &workload, watch)?;
                let per_run = |time: Duration| time.as_secs_f64() * 1e3 / figures.quiet.max(1) as f64;
                costs.row([
                    solver.name().into(),
                    mode.to_string().into(),
                    Cell::of(figures.same, figures.compared),
                    figures.blocks.into(),
                    figures.quiet.into(),
                    per_run(figures.watched).into(),
                    per_run(figures.alone).into(),
                    Cell::ratio(figures.watched.as_secs_f64(), figures.alone.as_secs_f64()),
                ]);
                if watch.stopped() {
                    draft.partial = Some("ended by the user".to_owned());
                    break 'solvers;
                }
            }
        }
        draft.tables.extend([sites, costs]);
        draft.notes.push(
            "CPU time is that of the solver's process and of the launcher. Outputs are compared where neither run was cut \
             at its limit."
                .to_owned(),
        );
        Ok(draft.finish())
    }

    fn measure(
        &self,
        solver: &Solver,
        code: &Code,
        mode: ExecMode,
        workload: &Workload,
        watch: &dyn Watch,
    ) -> Result<Figures, BenchError> {
        let limits = Limits::wall(self.timeout);
        let mut watched = Explorer::new(solver, code, Trace::New, limits.clone())?.starting(mode);
        let mut alone = Explorer::blind(solver, limits)?.starting(mode);
        let mut figures = Figures::default();
        let mut set = SiteSet::default();
        let mut quick: Vec<&[u8]> = Vec::new();
        for (place, script) in workload.scripts.iter().enumerate() {
            if watch.stopped() {
                break;
            }
            watch.progress(place, workload.scripts.len(), &format!("{} by {mode}", solver.name()));
            let (seen, sites) = watched.run(script)?;
            let (plain, _) = alone.run(script)?;
            set.extend(sites);
            let cut = |outcome: &Outcome| outcome.timed_out || outcome.cpu_exceeded || outcome.out_of_memory;
            if !cut(&seen) && !cut(&plain) {
                let same =
                    (seen.exit, &seen.stdout, &seen.stderr) == (plain.exit, &plain.stdout, &plain.stderr);
                figures.compared += 1;
                figures.same += u64::from(same);
                if plain.wall_time < QUICK {
                    quick.push(script);
                }
            }
        }
        figures.blocks = set.len();
        for _ in 0..self.rounds {
            for script in &quick {
                if watch.stopped() {
                    break;
                }
                let (seen, new) = timed(&mut watched, script)?;
                let (plain, _) = timed(&mut alone, script)?;
                if new == 0 {
                    figures.quiet += 1;
                    figures.watched += seen;
                    figures.alone += plain;
                }
            }
        }
        Ok(figures)
    }
}

/// The CPU time of a run, the launcher's included, and how many sites were new.
fn timed(explorer: &mut Explorer, script: &[u8]) -> Result<(Duration, usize), BenchError> {
    let before = explorer.launcher_cpu()?;
    let (outcome, sites) = explorer.run(script)?;
    let launcher = explorer.launcher_cpu()?.saturating_sub(before);
    Ok((outcome.cpu_time + launcher, sites.len()))
}
