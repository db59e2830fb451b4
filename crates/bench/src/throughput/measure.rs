//! Measuring executions per second: plain against fast starts of one solver on the same scripts.
//!
//! The clock of a shared machine says little, so the figure to read is CPU time: of everything, that is the solver's
//! processes, fork servers, the launcher and this process.

use std::time::{Duration, Instant};

use serde::{Deserialize, Serialize};
use solver::coverage::ProbeRequest;
use solver::fast::ExecMode;
use solver::launch::{Launcher, LauncherConfig, Outcome, WallChoice};
use solver::limits::Limits;
use solver::{RunRequest, Solver};

use super::workload::Workload;
use crate::BenchError;

/// Turns of each wall.
pub const TURNS: usize = 3;

/// Turns before and after tuning.
pub const TUNING_TURNS: usize = 2;

/// One solver started in one way on one workload.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Measured {
    pub mode: ExecMode,
    pub runs: usize,
    /// How many of the runs were really started in this way.
    pub runs_in_mode: usize,
    pub wall_seconds: f64,
    /// CPU time of everything.
    pub cpu_seconds: f64,
    /// CPU time of the solver and its fork servers, and the kernel's part of it.
    pub solver_seconds: f64,
    pub kernel_seconds: f64,
    /// CPU time of ours alone (this process and the launcher), in milliseconds for one run.
    pub own_cpu_ms_per_run: f64,
    pub executions_per_second: f64,
    pub executions_per_cpu_second: f64,
}

impl Measured {
    /// The kernel's share of the solver's CPU time, between 0 and 1.
    pub fn kernel_share(&self) -> f64 {
        (self.kernel_seconds / self.solver_seconds.max(1e-9)).min(1.0)
    }

    /// With another turn of the same.
    fn and(&self, other: &Measured) -> Measured {
        let runs = self.runs + other.runs;
        let wall_seconds = self.wall_seconds + other.wall_seconds;
        let cpu_seconds = self.cpu_seconds + other.cpu_seconds;
        let own = |one: &Measured| one.own_cpu_ms_per_run * one.runs as f64;
        Measured {
            mode: self.mode,
            runs,
            runs_in_mode: self.runs_in_mode + other.runs_in_mode,
            wall_seconds,
            cpu_seconds,
            solver_seconds: self.solver_seconds + other.solver_seconds,
            kernel_seconds: self.kernel_seconds + other.kernel_seconds,
            own_cpu_ms_per_run: (own(self) + own(other)) / runs as f64,
            executions_per_second: runs as f64 / wall_seconds,
            executions_per_cpu_second: runs as f64 / cpu_seconds,
        }
    }
}

/// Runs in one way, before and after they were made to cost the kernel less.
#[derive(Clone, Debug)]
pub struct Tuned {
    pub before: Measured,
    pub after: Measured,
    /// Scripts on which exit status or output differ, in any turn; runs that ended at a limit do not count.
    pub differing: usize,
}

/// Runs the workload in one way untuned and tuned, in turns; with the solver's code watched if there is a request for it.
pub fn before_and_after(
    solver: &Solver,
    mode: ExecMode,
    workload: &Workload,
    limits: &Limits,
    config: &LauncherConfig,
    probe: Option<&ProbeRequest>,
) -> Result<Tuned, BenchError> {
    let turn = || -> Result<Tuned, BenchError> {
        let with = |tuned| LauncherConfig { tuned, ..config.clone() };
        let (before, untuned) = run_watched(solver, mode, workload, limits, &with(false), probe)?;
        let (after, tuned) = run_watched(solver, mode, workload, limits, &with(true), probe)?;
        Ok(Tuned { before, after, differing: differing(&untuned, &tuned) })
    };
    let mut all = turn()?;
    for _ in 1..TUNING_TURNS {
        let next = turn()?;
        all = Tuned {
            before: all.before.and(&next.before),
            after: all.after.and(&next.after),
            differing: all.differing + next.differing,
        };
    }
    Ok(all)
}

/// Plain against fast.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Comparison {
    pub solver: String,
    pub workload: String,
    pub plain: Measured,
    pub fast: Measured,
    /// CPU time plain over CPU time fast.
    pub speedup: f64,
    /// Scripts on which exit status or output differ; runs that ended at a limit do not count.
    pub differing: usize,
}

/// Runs the workload plainly, then in the given mode, each in a launcher of its own.
pub fn compare(
    solver: &Solver,
    mode: ExecMode,
    workload: &Workload,
    limits: &Limits,
    config: &LauncherConfig,
) -> Result<Comparison, BenchError> {
    let (plain, plain_outcomes) = run_all(solver, ExecMode::Plain, workload, limits, config)?;
    let (fast, fast_outcomes) = run_all(solver, mode, workload, limits, config)?;
    let differing = differing(&plain_outcomes, &fast_outcomes);
    Ok(Comparison {
        solver: solver.name(),
        workload: workload.name.clone(),
        speedup: plain.cpu_seconds / fast.cpu_seconds,
        plain,
        fast,
        differing,
    })
}

fn differing(one: &[Outcome], other: &[Outcome]) -> usize {
    one.iter()
        .zip(other)
        .filter(|(one, other)| !at_limit(one) && !at_limit(other))
        .filter(|(one, other)| (one.exit, &one.stdout) != (other.exit, &other.stdout))
        .count()
}

fn at_limit(outcome: &Outcome) -> bool {
    outcome.timed_out || outcome.cpu_exceeded || outcome.out_of_memory
}

/// The part of a workload that the solver gets through within the limits. The others would measure the limits.
pub fn within(
    solver: &Solver,
    workload: &Workload,
    limits: &Limits,
    config: &LauncherConfig,
) -> Result<Workload, BenchError> {
    let (_, outcomes) = run_all(solver, ExecMode::Plain, workload, limits, config)?;
    let scripts = workload.scripts.iter().zip(&outcomes).filter(|(_, outcome)| !at_limit(outcome));
    let scripts = scripts.map(|(script, _)| script.clone()).collect();
    Ok(Workload { name: workload.name.clone(), scripts })
}

/// Runs the workload in one way, in a launcher of its own.
pub fn measure(
    solver: &Solver,
    mode: ExecMode,
    workload: &Workload,
    limits: &Limits,
    config: &LauncherConfig,
) -> Result<Measured, BenchError> {
    run_all(solver, mode, workload, limits, config).map(|(measured, _)| measured)
}

/// CPU time of one run in milliseconds, behind the best wall of this kernel and behind none. They take turns, since the
/// machine may have become slower meanwhile.
pub fn behind_and_without_wall(
    solver: &Solver,
    mode: ExecMode,
    workload: &Workload,
    limits: &Limits,
) -> Result<[f64; 2], BenchError> {
    let mut seconds = [0.0; 2];
    for _ in 0..TURNS {
        for (total, wall) in seconds.iter_mut().zip([WallChoice::Best, WallChoice::Off]) {
            let config = LauncherConfig { wall, ..LauncherConfig::default() };
            *total += measure(solver, mode, workload, limits, &config)?.cpu_seconds;
        }
    }
    let runs = (TURNS * workload.scripts.len()) as f64;
    Ok(seconds.map(|total| total * 1e3 / runs))
}

fn run_all(
    solver: &Solver,
    mode: ExecMode,
    workload: &Workload,
    limits: &Limits,
    config: &LauncherConfig,
) -> Result<(Measured, Vec<Outcome>), BenchError> {
    run_watched(solver, mode, workload, limits, config, None)
}

/// Runs the workload in one way, in a launcher of its own. If the solver's code is watched, each script runs twice and
/// the second time counts: at the first everything is new, and what that costs is not spent again.
fn run_watched(
    solver: &Solver,
    mode: ExecMode,
    workload: &Workload,
    limits: &Limits,
    config: &LauncherConfig,
    probe: Option<&ProbeRequest>,
) -> Result<(Measured, Vec<Outcome>), BenchError> {
    let request = RunRequest::default();
    let mut runner = Launcher::new(config.clone())?;
    let mut all = || -> Result<Run, BenchError> {
        let start = Instant::now();
        let own_before = runner.own_usage()?;
        let mut outcomes = Vec::with_capacity(workload.scripts.len());
        for script in &workload.scripts {
            let mut invocation = solver.invocation(script, &request)?;
            invocation.limits = limits.clone();
            invocation.mode = mode;
            invocation.brief = config.tuned;
            invocation.probe = probe.cloned();
            outcomes.push(runner.run(&invocation)?);
        }
        let own_after = runner.own_usage()?;
        let own = own_after.worker + own_after.launcher - own_before.worker - own_before.launcher;
        Ok(Run { outcomes, wall: start.elapsed(), own })
    };
    if probe.is_some() {
        all()?;
    }
    let cpu_before = cpu_of_everything();
    let Run { outcomes, wall, own } = all()?;
    // Only when the launcher has gone does its time, and that of all it has started, show up as ours.
    drop(runner);
    let runs = outcomes.len();
    let sum = |part: fn(&Outcome) -> Duration| outcomes.iter().map(part).sum::<Duration>().as_secs_f64();
    let solver_seconds = sum(|one| one.cpu_time + one.server_time.total());
    let cpu_seconds = match probe {
        None => (cpu_of_everything() - cpu_before).as_secs_f64(),
        // That would be the time of both rounds.
        Some(_) => solver_seconds + own.as_secs_f64(),
    };
    let measured = Measured {
        mode,
        runs,
        runs_in_mode: outcomes.iter().filter(|outcome| outcome.mode == mode).count(),
        wall_seconds: wall.as_secs_f64(),
        cpu_seconds,
        solver_seconds,
        kernel_seconds: sum(|one| one.kernel_time + one.server_time.kernel),
        own_cpu_ms_per_run: own.as_secs_f64() * 1e3 / runs as f64,
        executions_per_second: runs as f64 / wall.as_secs_f64(),
        executions_per_cpu_second: runs as f64 / cpu_seconds,
    };
    Ok((measured, outcomes))
}

/// A workload that has been run.
struct Run {
    outcomes: Vec<Outcome>,
    wall: Duration,
    /// CPU time of this process and the launcher.
    own: Duration,
}

/// CPU time of this process and of all its descendants that have been waited for.
fn cpu_of_everything() -> Duration {
    [libc::RUSAGE_SELF, libc::RUSAGE_CHILDREN]
        .into_iter()
        .map(|who| {
            // SAFETY: `rusage` is made of integers, for which all zeros is a valid value.
            let mut usage: libc::rusage = unsafe { std::mem::zeroed() };
            // SAFETY: getrusage writes to the struct it is given, which lives through the call.
            unsafe { libc::getrusage(who, &mut usage) };
            let time = |value: libc::timeval| {
                Duration::from_secs(value.tv_sec as u64) + Duration::from_micros(value.tv_usec as u64)
            };
            time(usage.ru_utime) + time(usage.ru_stime)
        })
        .sum()
}
