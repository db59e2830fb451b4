//! Measuring executions a second: plain against fast starts of one solver on the same scripts.
//!
//! The clock of a shared machine says little, so the figure to read is CPU time: of everything, that is the solver's
//! processes, fork servers, the launcher and this process.

use std::io;
use std::path::Path;
use std::time::{Duration, Instant};

use serde::{Deserialize, Serialize};
use thiserror::Error;

use crate::adapter::RunRequest;
use crate::install::InstallError;
use crate::launch::{LaunchError, Launcher, LauncherConfig, Outcome};
use crate::limits::Limits;
use crate::solver::Solver;

use super::ExecMode;
use super::prefix::Prefix;

/// Scripts to run.
#[derive(Clone, Debug)]
pub struct Workload {
    pub name: String,
    pub scripts: Vec<Vec<u8>>,
}

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
    /// CPU time of ours alone (this process and the launcher), in milliseconds for one run.
    pub own_cpu_ms_per_run: f64,
    pub executions_per_second: f64,
    pub executions_per_cpu_second: f64,
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

/// Why there is no measurement.
#[derive(Debug, Error)]
pub enum ThroughputError {
    #[error(transparent)]
    Launch(#[from] LaunchError),
    #[error(transparent)]
    Install(#[from] InstallError),
    #[error("{path}: {source}")]
    Read { path: String, source: io::Error },
    #[error("{path}: no file of at most {largest} bytes named *.smt2")]
    NoScripts { path: String, largest: u64 },
}

/// The largest file that still counts as small.
const SMALL: u64 = 4096;

impl Workload {
    /// The same trivial script again and again.
    #[must_use]
    pub fn trivial(runs: usize) -> Self {
        let script = b"(set-logic QF_LIA)\n(declare-fun x () Int)\n(assert (> x 1))\n(check-sat)\n".to_vec();
        Workload { name: "trivial".to_owned(), scripts: vec![script; runs] }
    }

    /// Up to `count` small files below `directory`, evenly spread over all of them.
    pub fn files(directory: &Path, count: usize) -> Result<Self, ThroughputError> {
        let mut paths = Vec::new();
        let mut pending = vec![directory.to_owned()];
        let read = |path: &Path| {
            let path = path.display().to_string();
            move |source| ThroughputError::Read { path, source }
        };
        while let Some(next) = pending.pop() {
            for entry in std::fs::read_dir(&next).map_err(read(&next))? {
                let entry = entry.map_err(read(&next))?;
                let path = entry.path();
                let metadata = std::fs::metadata(&path).map_err(read(&path))?;
                if metadata.is_dir() {
                    pending.push(path);
                } else if path.extension().is_some_and(|end| end == "smt2") && metadata.len() <= SMALL {
                    paths.push(path);
                }
            }
        }
        if paths.is_empty() {
            let path = directory.display().to_string();
            return Err(ThroughputError::NoScripts { path, largest: SMALL });
        }
        paths.sort();
        let step = paths.len().div_ceil(count.max(1));
        let mut scripts = Vec::new();
        for path in paths.iter().step_by(step) {
            scripts.push(std::fs::read(path).map_err(read(path))?);
        }
        Ok(Workload { name: format!("{} files", scripts.len()), scripts })
    }

    /// Scripts of our own over several theories, for machines without a collection of files.
    #[must_use]
    pub fn built_in() -> Self {
        let sorts = [
            ("QF_LIA", "Int", ["(< (+ a b) (* 3 c))", "(= (mod a 7) (div b 2))", "(distinct a b c)"]),
            ("QF_LRA", "Real", ["(< (+ a b) (* 3.0 c))", "(= (/ a 7.0) b)", "(> (- a c) 1.5)"]),
            (
                "QF_BV",
                "(_ BitVec 16)",
                ["(bvult (bvadd a b) c)", "(= (bvmul a b) #x1234)", "(= (bvurem a c) b)"],
            ),
            ("QF_S", "String", ["(= (str.++ a b) c)", "(str.contains c \"ab\")", "(> (str.len a) 2)"]),
            ("QF_AUFLIA", "(Array Int Int)", ["(= (select a 1) 2)", "(= (store b 1 2) c)", "(distinct a c)"]),
            ("QF_FP", "Float16", ["(fp.lt a b)", "(fp.eq (fp.add RNE a b) c)", "(not (fp.isNaN c))"]),
        ];
        let mut scripts = Vec::new();
        for (logic, sort, facts) in sorts {
            for kept in 1u8..8 {
                let mut script = format!("(set-logic {logic})\n");
                for name in ["a", "b", "c"] {
                    script.push_str(&format!("(declare-fun {name} () {sort})\n"));
                }
                for (_, fact) in facts.iter().enumerate().filter(|(at, _)| kept & (1 << at) != 0) {
                    script.push_str(&format!("(assert {fact})\n"));
                }
                script.push_str("(check-sat)\n");
                scripts.push(script.into_bytes());
            }
        }
        Workload { name: format!("{} built-in scripts", scripts.len()), scripts }
    }

    /// `each` variants of every script, which differ behind its declarations, as a fuzzer's mutants do.
    #[must_use]
    pub fn mutants(&self, each: usize) -> Self {
        let scripts: Vec<Vec<u8>> =
            self.scripts.iter().flat_map(|seed| (0..each).map(|number| mutant(seed, number))).collect();
        Workload { name: format!("{} x {each} mutants", self.scripts.len()), scripts }
    }
}

/// Operators that can stand for each other in the same place.
const EXCHANGES: [(&str, &str); 8] = [
    ("(< ", "(<= "),
    ("(> ", "(>= "),
    ("(<= ", "(> "),
    ("(>= ", "(< "),
    ("(and ", "(or "),
    ("(or ", "(and "),
    ("(bvadd ", "(bvsub "),
    ("(distinct ", "(= "),
];

/// The script with the `number`th of its exchangeable operators exchanged; with none of them when there are fewer.
fn mutant(seed: &[u8], number: usize) -> Vec<u8> {
    let start = Prefix::declarations(seed).unwrap_or(0);
    let mut seen = 0;
    for at in start..seed.len() {
        let exchange = EXCHANGES.iter().find(|(from, _)| seed[at..].starts_with(from.as_bytes()));
        if let Some((from, to)) = exchange {
            seen += 1;
            if seen == number {
                return [&seed[..at], to.as_bytes(), &seed[at + from.len()..]].concat();
            }
        }
    }
    seed.to_vec()
}

/// Runs the workload plainly, then in the given mode, each in a launcher of its own.
pub fn compare(
    solver: &Solver,
    mode: ExecMode,
    workload: &Workload,
    limits: &Limits,
    config: &LauncherConfig,
) -> Result<Comparison, ThroughputError> {
    let (plain, plain_outcomes) = run_all(solver, ExecMode::Plain, workload, limits, config)?;
    let (fast, fast_outcomes) = run_all(solver, mode, workload, limits, config)?;
    let differing = plain_outcomes
        .iter()
        .zip(&fast_outcomes)
        .filter(|(plain, fast)| !at_limit(plain) && !at_limit(fast))
        .filter(|(plain, fast)| (plain.exit, &plain.stdout) != (fast.exit, &fast.stdout))
        .count();
    Ok(Comparison {
        solver: solver.name(),
        workload: workload.name.clone(),
        speedup: plain.cpu_seconds / fast.cpu_seconds,
        plain,
        fast,
        differing,
    })
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
) -> Result<Workload, ThroughputError> {
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
) -> Result<Measured, ThroughputError> {
    run_all(solver, mode, workload, limits, config).map(|(measured, _)| measured)
}

fn run_all(
    solver: &Solver,
    mode: ExecMode,
    workload: &Workload,
    limits: &Limits,
    config: &LauncherConfig,
) -> Result<(Measured, Vec<Outcome>), ThroughputError> {
    let request = RunRequest::default();
    let cpu_before = cpu_of_everything();
    let start = Instant::now();
    let mut runner = Launcher::new(config.clone())?;
    let own_before = runner.own_usage()?;
    let mut outcomes = Vec::with_capacity(workload.scripts.len());
    for script in &workload.scripts {
        let mut invocation = solver.invocation(script, &request)?;
        invocation.limits = limits.clone();
        invocation.mode = mode;
        outcomes.push(runner.run(&invocation)?);
    }
    let own_after = runner.own_usage()?;
    let wall = start.elapsed();
    // Only when the launcher has gone does its time, and that of all it has started, show up as ours.
    drop(runner);
    let cpu = cpu_of_everything() - cpu_before;
    let runs = outcomes.len();
    let own = own_after.worker + own_after.launcher - own_before.worker - own_before.launcher;
    let measured = Measured {
        mode,
        runs,
        runs_in_mode: outcomes.iter().filter(|outcome| outcome.mode == mode).count(),
        wall_seconds: wall.as_secs_f64(),
        cpu_seconds: cpu.as_secs_f64(),
        own_cpu_ms_per_run: own.as_secs_f64() * 1e3 / runs as f64,
        executions_per_second: runs as f64 / wall.as_secs_f64(),
        executions_per_cpu_second: runs as f64 / cpu.as_secs_f64(),
    };
    Ok((measured, outcomes))
}

/// CPU time of this process and of all its descendants that have been waited for.
fn cpu_of_everything() -> Duration {
    [libc::RUSAGE_SELF, libc::RUSAGE_CHILDREN]
        .into_iter()
        .map(|who| {
            let mut usage: libc::rusage = unsafe { std::mem::zeroed() };
            unsafe { libc::getrusage(who, &mut usage) };
            let time = |value: libc::timeval| {
                Duration::from_secs(value.tv_sec as u64) + Duration::from_micros(value.tv_usec as u64)
            };
            time(usage.ru_utime) + time(usage.ru_stime)
        })
        .sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn mutants_differ_only_behind_the_declarations() {
        let seed = b"(define-fun f ((x Int)) Bool (< x 1))\n(assert (and (< 1 2) (> 3 2)))\n";
        let mutants: Vec<Vec<u8>> = (0..5).map(|number| mutant(seed, number)).collect();
        assert_eq!(mutants[0], seed);
        assert_eq!(mutants[1], b"(define-fun f ((x Int)) Bool (< x 1))\n(assert (or (< 1 2) (> 3 2)))\n");
        assert_eq!(mutants[3], b"(define-fun f ((x Int)) Bool (< x 1))\n(assert (and (< 1 2) (>= 3 2)))\n");
        assert_eq!(mutants[4], seed);
    }

    #[test]
    fn a_directory_without_scripts_is_an_error() {
        let directory = tempfile::tempdir().expect("a directory");
        let error = Workload::files(directory.path(), 5).expect_err("nothing there");
        assert!(matches!(error, ThroughputError::NoScripts { .. }), "{error}");
        assert!(matches!(Workload::files(&directory.path().join("x"), 5), Err(ThroughputError::Read { .. })));
    }
}
