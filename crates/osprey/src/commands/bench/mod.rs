//! `osprey bench`: one file per benchmark. A new one is a file here, a line in [`Benchmark`] and a module of the crate
//! `bench` that makes its report.

mod blame;
mod bugs;
mod coverage;
mod eval_diff;
mod eval_speed;
mod falcon;
mod field;
mod groups;
mod inputs;
mod kernel;
mod museum;
mod mutants;
mod page;
mod perf;
mod precision;
mod race;
mod reduce;
mod report;
mod store;
mod throughput;
mod values;
mod variants;
mod verdicts;

use std::path::PathBuf;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use anyhow::Result;
use bench::{Report, Watch, markdown};
use clap::{Args, Subcommand};
use indicatif::{ProgressBar, ProgressStyle};

use crate::exit::Exit;
use crate::{interrupt, limits, output};

/// Measure what is claimed: known bugs found again, peers side by side, speed
#[derive(Args)]
#[command(after_help = "\
Every benchmark prints Markdown and, with --json FILE, writes its complete results. Ctrl-C ends it with what it has.
The files in docs/benchmarks are such results; `osprey bench page` makes docs/benchmarks.md of them.")]
pub struct Bench {
    #[command(subcommand)]
    benchmark: Benchmark,
}

#[derive(Subcommand)]
enum Benchmark {
    Blame(blame::Blame),
    Coverage(coverage::CoverageCommand),
    Bugs(bugs::Bugs),
    Inputs(inputs::Inputs),
    Kernel(kernel::KernelCommand),
    Mutants(mutants::Mutants),
    Eval(eval_speed::EvalSpeedCommand),
    EvalDiff(eval_diff::EvalDiffCommand),
    Falcon(falcon::Falcon),
    Groups(groups::Groups),
    Museum(museum::Museum),
    Page(page::Page),
    Perf(perf::Perf),
    Precision(precision::PrecisionCommand),
    Race(race::Race),
    Reduce(reduce::Reduce),
    Report(report::ReportCommand),
    Store(store::Store),
    Throughput(throughput::ThroughputCommand),
    Values(values::Values),
    Variants(variants::Variants),
    Verdicts(verdicts::Verdicts),
}

impl Bench {
    pub fn run(self) -> Result<Exit> {
        interrupt::catch();
        match self.benchmark {
            Benchmark::Blame(blame) => blame.run(),
            Benchmark::Coverage(coverage) => coverage.run(),
            Benchmark::Bugs(bugs) => bugs.run(),
            Benchmark::Inputs(inputs) => inputs.run(),
            Benchmark::Kernel(kernel) => kernel.run(),
            Benchmark::Mutants(mutants) => mutants.run(),
            Benchmark::Eval(eval) => eval.run(),
            Benchmark::EvalDiff(eval) => eval.run(),
            Benchmark::Falcon(falcon) => falcon.run(),
            Benchmark::Groups(groups) => groups.run(),
            Benchmark::Museum(museum) => museum.run(),
            Benchmark::Page(page) => page.run(),
            Benchmark::Perf(perf) => perf.run(),
            Benchmark::Precision(precision) => precision.run(),
            Benchmark::Race(race) => race.run(),
            Benchmark::Reduce(reduce) => reduce.run(),
            Benchmark::Report(report) => report.run(),
            Benchmark::Store(store) => store.run(),
            Benchmark::Throughput(throughput) => throughput.run(),
            Benchmark::Values(values) => values.run(),
            Benchmark::Variants(variants) => variants.run(),
            Benchmark::Verdicts(verdicts) => verdicts.run(),
        }
    }
}

/// What all benchmarks have in common.
#[derive(Args)]
pub struct Common {
    /// Write the complete results as JSON
    #[arg(long, value_name = "FILE")]
    pub json: Option<PathBuf>,

    /// How many things are measured at the same time
    #[arg(short, long, value_name = "J", default_value_t = 1, value_parser = limits::jobs())]
    pub jobs: usize,
}

impl Common {
    /// Shows a report and writes it.
    pub fn publish(&self, report: &Report) -> Result<Exit> {
        // First to disk: a reader of the output may have gone away.
        if let Some(path) = &self.json {
            report.write(path)?;
        }
        output::print(&markdown::section(report, self.json.is_none()))?;
        Ok(Exit::Clean)
    }
}

/// The command line as the user wrote it, for the report.
pub fn command_line() -> String {
    let words = std::env::args().skip(1).map(|word| match word.contains(' ') {
        true => format!("'{word}'"),
        false => word,
    });
    std::iter::once("osprey".to_owned()).chain(words).collect::<Vec<_>>().join(" ")
}

/// Lines without a terminal come at least this far apart.
const EVERY: Duration = Duration::from_secs(20);

/// The terminal as a benchmark's audience: a bar, or a line now and then.
pub struct Terminal {
    bar: Option<ProgressBar>,
    last: Mutex<Option<Instant>>,
}

impl Terminal {
    pub fn new() -> Terminal {
        let bar = output::is_live().then(|| {
            let style = ProgressStyle::with_template("{bar:24} {pos}/{len} {elapsed} {wide_msg}")
                .unwrap_or_else(|_| ProgressStyle::default_bar());
            ProgressBar::new(0).with_style(style)
        });
        Terminal { bar, last: Mutex::new(None) }
    }
}

impl Watch for Terminal {
    fn stopped(&self) -> bool {
        interrupt::asked()
    }

    fn progress(&self, done: usize, all: usize, now: &str) {
        if let Some(bar) = &self.bar {
            bar.set_length(all as u64);
            bar.set_position(done as u64);
            bar.set_message(now.to_owned());
            return;
        }
        let mut last = self.last.lock().unwrap_or_else(PoisonError::into_inner);
        if last.is_none_or(|last| last.elapsed() >= EVERY) {
            *last = Some(Instant::now());
            output::say(&format!("osprey: {done} of {all}: {now}"));
        }
    }
}

impl Drop for Terminal {
    fn drop(&mut self) {
        if let Some(bar) = &self.bar {
            bar.finish_and_clear();
        }
    }
}
