//! `osprey perf`: inputs on which a solver is far slower than its peers, and the constructs to blame.

use std::path::PathBuf;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use anyhow::{Result, bail};
use banditfuzz::collect::{self, CollectRules};
use banditfuzz::learned::AgentName;
use banditfuzz::meter::Score;
use banditfuzz::report::{self, Summary};
use banditfuzz::search::Method;
use banditfuzz::session::{self, Progress, Settings, Watch};
use banditfuzz::state::{self, Memory};
use clap::{Args, ValueEnum};
use indicatif::{ProgressBar, ProgressStyle};
use solver::Solver;

use super::constructs::GeneratorArguments;
use crate::exit::Exit;
use crate::{duration, interrupt, limits, live, output, solver_choice};

/// Find inputs on which a solver is far slower than others, and the constructs to blame
#[derive(Args)]
#[command(after_help = "\
Examples:
  osprey perf --target z3@5.4.0 --reference cvc5@1.4.2 --logic QF_FP --timeout 10 --time 10m
  osprey perf --target z3@5.4.0 --reference z3@4.13.4 --logic QF_SLIA --bisect     a regression, and its release
  osprey perf --target z3@5.4.0 --reference z3@4.8.7 --score resource              without the noise of clocks
  osprey perf --target cvc5 --reference z3 --logic QF_BV --vars 3 --assertions 2-4 --depth 3 --weights bvmul=5
  osprey perf --target cvc5 --reference z3 --method bandit,random,mutational,evolutionary --runs 5 --time 2m
  osprey perf --target z3 --reference cvc5 seeds/                                  from seeds, in their logic
  osprey perf ... --resume                             go on after Ctrl-C, also with the run that was cut short
  osprey perf ... --state earlier/state.json           with what an earlier session about the same has learned

Each run has a core to itself, begins with what those before it have learned, and keeps the input with the highest score: what the target needs
more than its slowest reference, in CPU time net of the start; a time-out counts twice the limit (PAR-2), and so do
unknown and running out of memory.
DIR holds suite/ (the best input of each run), bugs/ (confirmed by repetition and made small), report.html with tables
and plots, results.json, ranking.csv, margins.csv, state.json (this session's counts: those of several sessions add up).

Exit code 0 if no input is slow enough (--ratio), 10 if some are, 2 if nothing can be compared, 4 if a solver cannot be
run, 5 if DIR cannot be written.")]
pub struct Perf {
    /// Seeds to begin with; without any, inputs are generated
    #[arg(value_name = "SEEDS")]
    seeds: Vec<PathBuf>,

    /// The solver that may be slow
    #[arg(long, value_name = "SPEC")]
    target: String,

    /// A solver it is compared with; repeatable: the slowest of them counts
    #[arg(long = "reference", value_name = "SPEC", required = true)]
    references: Vec<String>,

    #[command(flatten)]
    generator: GeneratorArguments,

    /// How inputs are found: bandit, random, mutational, evolutionary; several to compare them
    #[arg(long, value_name = "METHOD", value_delimiter = ',', default_value = "bandit")]
    method: Vec<Method>,

    /// Who chooses constructs: thompson, thompson-uniform (the paper's prior), ucb1 or egreedy
    #[arg(long, value_name = "AGENT", default_value = "thompson")]
    agent: AgentName,

    /// What is measured
    #[arg(long, value_enum, default_value = "cpu")]
    score: ScoreName,

    /// CPU time of one run of a solver
    #[arg(long, value_name = "TIME", default_value = "10", value_parser = duration::parse)]
    timeout: Duration,

    /// Memory of one run of a solver, in megabytes
    #[arg(long, value_name = "MB", default_value_t = 4096, value_parser = limits::memory())]
    memory: u64,

    /// CPU time of each run; without --runs, of all runs of a method
    #[arg(long, value_name = "TIME", default_value = "5m", value_parser = duration::parse)]
    time: Duration,

    /// Runs per method, each with --time; without it four that share --time
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=1000))]
    runs: Option<u16>,

    /// Runs at the same time, each on a core of its own
    #[arg(short, long, value_name = "N", default_value_t = 1, value_parser = limits::jobs())]
    jobs: usize,

    /// The seed of all random choices
    #[arg(long, value_name = "N", default_value_t = 0)]
    rng_seed: u64,

    /// What is slow: so many times the CPU time of the slowest reference
    #[arg(long, value_name = "TIMES", default_value_t = 10.0, value_parser = ratio)]
    ratio: f64,

    /// Time on the clock for making each input small; 0 leaves them as they are
    #[arg(long, value_name = "TIME", default_value = "2m", value_parser = reduce_time)]
    reduce_time: ReduceTime,

    /// Ask the installed releases of the target in which of them it became slow
    #[arg(long)]
    bisect: bool,

    /// What an earlier session has learned: its state.json; repeatable, counts add up
    #[arg(long, value_name = "FILE")]
    state: Vec<PathBuf>,

    /// The folder for results
    #[arg(long, value_name = "DIR", default_value = "osprey-perf")]
    out: PathBuf,

    /// Go on with the session in DIR
    #[arg(long)]
    resume: bool,

    /// Print the results as JSON
    #[arg(long)]
    json: bool,
}

#[derive(Clone, Copy, ValueEnum)]
enum ScoreName {
    /// CPU time net of the start
    Cpu,
    /// The solver's own count of steps, the same in every run: for releases of Z3, or of cvc5, among themselves
    Resource,
}

/// Runs that share the time where their number is not given: a run that has begun badly seldom recovers, and what it has
/// learned helps the next.
const RUNS: u32 = 4;

/// None: inputs stay as they are.
#[derive(Clone, Copy)]
struct ReduceTime(Option<Duration>);

fn reduce_time(text: &str) -> Result<ReduceTime, String> {
    if text == "0" { Ok(ReduceTime(None)) } else { duration::parse(text).map(|time| ReduceTime(Some(time))) }
}

fn ratio(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(ratio) if ratio > 1.0 && ratio.is_finite() => Ok(ratio),
        _ => Err(format!("'{text}' is no ratio; expected a number above 1")),
    }
}

impl Perf {
    pub fn run(self) -> Result<Exit> {
        interrupt::catch();
        let settings = self.settings()?;
        settings.check()?;
        let view = PerfView::new(self.json);
        let records = session::run(&settings, &view)?;
        view.clear();
        let rules = CollectRules { ratio: self.ratio, reduce: self.reduce_time.0, bisect: self.bisect };
        // First what is there: a second Ctrl-C ends at once.
        let first = Summary::new(&settings, &records, Vec::new());
        report::write(&settings, &records, &first)?;
        let findings = collect::collect(&settings, &records, &first.ranking, &rules, &view)?;
        view.clear();
        let summary = Summary::new(&settings, &records, findings);
        report::write(&settings, &records, &summary)?;
        if let Some(complaint) = session::complaint(&records, settings.timeout) {
            bail!("{complaint}");
        }
        if self.json {
            output::print_json(&summary)?;
        } else {
            output::print(&summary.text())?;
            if let Some(remark) = session::remark(&records) {
                output::print_line(&format!("\n{remark}"))?;
            }
            output::print_line(&format!("\n{}", settings.out.join("report.html").display()))?;
        }
        Ok(if summary.findings.is_empty() { Exit::Clean } else { Exit::Findings })
    }

    fn settings(&self) -> Result<Settings> {
        let solvers = solver_choice::all(&[])?;
        let mut target = solver_choice::resolve(&solvers, std::slice::from_ref(&self.target))?;
        if target.len() != 1 {
            bail!("--target '{}' is more than one solver", self.target);
        }
        let target = target.remove(0);
        let references = solver_choice::resolve(&solvers, &self.references)?;
        let all: Vec<Solver> = std::iter::once(&target).chain(&references).cloned().collect();
        let seeds = super::constructs::seeds(&self.seeds, &all)?;
        let mut settings = Settings {
            target,
            references,
            parameters: self.generator.parameters(&seeds)?,
            methods: self.method.clone(),
            agent: self.agent,
            score: match self.score {
                ScoreName::Cpu => Score::Cpu,
                ScoreName::Resource => Score::Resource,
            },
            timeout: self.timeout,
            memory: self.memory << 20,
            time: self.runs.map_or(self.time / RUNS, |_| self.time),
            runs: self.runs.map_or(RUNS as usize, usize::from),
            jobs: self.jobs,
            rng_seed: self.rng_seed,
            seeds,
            known: Memory::default(),
            out: self.out.clone(),
            resume: self.resume,
        };
        settings.known = state::read(&self.state, &settings.about())?;
        Ok(settings)
    }
}

/// Lines without a terminal come at least this far apart.
const EVERY: Duration = Duration::from_secs(20);

/// The terminal as a session's audience: a line that stays in place, or a line now and then.
pub struct PerfView {
    bar: Option<ProgressBar>,
    last: Mutex<Option<Instant>>,
    quiet: bool,
}

impl PerfView {
    pub fn new(quiet: bool) -> PerfView {
        let bar = (!quiet && output::is_live()).then(|| {
            let style = ProgressStyle::with_template("{spinner} {elapsed} {wide_msg}")
                .unwrap_or_else(|_| ProgressStyle::default_spinner());
            ProgressBar::new_spinner().with_style(style)
        });
        PerfView { bar, last: Mutex::new(None), quiet }
    }

    /// Takes the line away until there is something to tell again.
    pub fn clear(&self) {
        if let Some(bar) = &self.bar {
            bar.set_message("");
            bar.finish_and_clear();
            bar.reset();
        }
    }
}

impl Watch for PerfView {
    fn stopped(&self) -> bool {
        interrupt::asked()
    }

    fn progress(&self, progress: &Progress) {
        let text = || {
            let Progress { done, all, best, perfect, left } = progress;
            match *perfect > 0.0 {
                true => format!(
                    "{done} of {all} runs, best score {:.3} of at most {perfect}, {} left",
                    best.max(0.0),
                    live::clock(*left)
                ),
                false => format!("{done} of {all} inputs, {best} with bugs"),
            }
        };
        if let Some(bar) = &self.bar {
            bar.set_message(text());
            bar.tick();
            return;
        }
        let mut last = self.last.lock().unwrap_or_else(PoisonError::into_inner);
        if !self.quiet && last.is_none_or(|last| last.elapsed() >= EVERY) {
            *last = Some(Instant::now());
            output::say(&format!("osprey: {}", text()));
        }
    }

    fn note(&self, text: &str) {
        match &self.bar {
            // Above the line that stays in place.
            Some(bar) => bar.suspend(|| output::say(&format!("osprey: {text}"))),
            None if !self.quiet => output::say(&format!("osprey: {text}")),
            None => {}
        }
    }

    fn stage(&self, text: &str) {
        if let Some(bar) = &self.bar {
            bar.set_message(text.to_owned());
            bar.tick();
            return;
        }
        // Candidates of a reduction come by the hundred.
        let mut last = self.last.lock().unwrap_or_else(PoisonError::into_inner);
        if !self.quiet && last.is_none_or(|last| last.elapsed() >= EVERY) {
            *last = Some(Instant::now());
            output::say(&format!("osprey: {text}"));
        }
    }
}
