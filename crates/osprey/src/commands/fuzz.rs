//! `osprey fuzz`: find bugs.

use std::path::PathBuf;
use std::time::Duration;

use anyhow::{Context, Result};
use campaign::{CampaignError, Harvest, Identity, PolicyName, Settings, Summary, Target};
use clap::{Args, ValueEnum};

use crate::exit::Exit;
use crate::live::{self, Live};
use crate::tuning::EngineSettings;
use crate::{duration, fleet, inputs, interrupt};

/// The pair that a campaign without `-s` compares.
const DEFAULT_SOLVERS: [&str; 2] = ["z3@5.4.0", "cvc5@1.4.2"];

/// How long a campaign runs of which nothing is said; with solvers or seeds it runs until it is ended.
const FIRST_TRY: Duration = Duration::from_secs(60);

/// The most time of one solver run of which nothing is said.
const TIMEOUT: Duration = Duration::from_secs(2);

/// Seed files that cannot be used are named up to this number; the rest is counted.
const NAMED: usize = 5;

/// Find bugs in SMT solvers
#[derive(Args)]
#[command(after_help = "\
Examples:
  osprey fuzz                                 install z3 and cvc5, compare them for a minute on generated scripts
  osprey fuzz -s z3@4.8.7 -s z3@5.4.0 --time 120
  osprey fuzz seeds/ -s ./build/z3 --reference z3@5.4.0 --time 1h
  osprey fuzz seeds/ -s ./build/z3 -s cvc5 --engine opfuzz,typefuzz --jobs 8 --time 8h --out night
  osprey fuzz seeds/ -s ./build/z3 -s cvc5 --engine opfuzz,typefuzz --time 8h --out night --resume

Findings are folders in OUT/bugs. Exit code 0 if there is none, 10 if there are some.")]
pub struct Fuzz {
    /// Seed files, or folders that are walked for .smt2 files; without any, scripts are generated
    #[arg(value_name = "SEEDS")]
    seeds: Vec<PathBuf>,

    /// A solver under test: a path, a name on PATH, or name@version; options may follow
    #[arg(short, long = "solver", value_name = "SPEC")]
    solvers: Vec<String>,

    /// A solver that is not under test: asked only where an answer needs another opinion
    #[arg(long = "reference", value_name = "SPEC")]
    references: Vec<String>,

    /// Engines, separated by commas; auto lets them share the time by what they find
    #[arg(long, value_name = "LIST", default_value = "auto", value_delimiter = ',')]
    engine: Vec<String>,

    /// Options for the solvers: default, fair, random or none
    #[arg(long, value_name = "POLICY", default_value = "default")]
    options: PolicyName,

    /// Logics of generated scripts, separated by commas
    #[arg(long, value_name = "LIST", value_delimiter = ',')]
    logic: Vec<String>,

    /// Stop after this time: 60, 60s, 5m, 1h
    #[arg(long, value_name = "TIME", value_parser = duration::parse)]
    time: Option<Duration>,

    /// Stop after this number of test cases
    #[arg(long, value_name = "N")]
    iterations: Option<u64>,

    /// Stop at the Nth unique finding
    #[arg(long, value_name = "N")]
    stop_after: Option<u64>,

    /// Time of one solver run; unless given, at most 2 s, and less for solvers that are usually quick
    #[arg(long, value_name = "TIME", value_parser = duration::parse)]
    timeout: Option<Duration>,

    /// Memory of one solver run, in megabytes
    #[arg(long, value_name = "MB", default_value_t = 2048)]
    memory: u64,

    /// Workers; one a core unless told otherwise
    #[arg(short, long, value_name = "N")]
    jobs: Option<usize>,

    /// Repeat a campaign's random choices; printed by every campaign
    #[arg(long, value_name = "N")]
    rng_seed: Option<u64>,

    /// The output folder
    #[arg(short, long, value_name = "DIR", default_value = "osprey-out")]
    out: PathBuf,

    /// Go on with the campaign in the output folder
    #[arg(long)]
    resume: bool,

    /// How solvers are started: fast uses fork servers where they are proven, plain a new process for each run
    #[arg(long, value_name = "MODE", value_enum, default_value_t = Exec::Fast)]
    exec: Exec,

    /// Ask the installed releases of a solver which of them have a finding's bug
    #[arg(long)]
    bisect: bool,

    /// Do not end before every finding has been made small
    #[arg(long)]
    reduce_all: bool,

    /// A file with signatures, one a line, that are not reported any more
    #[arg(long, value_name = "FILE")]
    known: Option<PathBuf>,

    /// Write one JSON object a line for everything that happens; at 256 MB the file is put aside as FILE.1
    #[arg(long, value_name = "FILE")]
    log: Option<PathBuf>,

    /// Print the summary as JSON on standard output
    #[arg(long)]
    json: bool,

    #[command(flatten)]
    engine_settings: EngineSettings,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Exec {
    Fast,
    Plain,
}

impl Fuzz {
    pub fn run(self) -> Result<Exit> {
        let settings = self.settings()?;
        let harvest = self.harvest()?;
        let targets = self.targets()?;
        let engines = engines::tuned(&self.engine_settings.tuning());
        let identity = self.identity(&targets, &engines, &settings)?;
        if !self.json {
            self.greet(&identity, &targets, &harvest);
        }
        interrupt::catch();
        let live = Live::new(self.json);
        let result =
            campaign::run(&identity, &settings, &targets, &engines, &harvest, &live, &interrupt::asked);
        live.clear();
        let summary = result?;
        if self.json {
            println!("{}", serde_json::to_string(&summary)?);
        } else {
            self.show(&summary);
        }
        Ok(match (summary.findings.is_empty(), summary.totals.internal_errors) {
            (false, _) => Exit::Findings,
            (true, 0) => Exit::Clean,
            (true, _) => Exit::Internal,
        })
    }

    fn settings(&self) -> Result<Settings> {
        let known = match &self.known {
            None => Vec::new(),
            Some(file) => std::fs::read_to_string(file)
                .with_context(|| format!("cannot read the list of known signatures '{}'", file.display()))?
                .lines()
                .map(str::trim)
                .filter(|line| !line.is_empty() && !line.starts_with('#'))
                .map(str::to_owned)
                .collect(),
        };
        let cores = std::thread::available_parallelism().map_or(1, usize::from);
        Ok(Settings {
            out: self.out.clone(),
            resume: self.resume,
            jobs: self.jobs.unwrap_or(cores).max(1),
            time: self.time.or(self.is_first_try().then_some(FIRST_TRY)),
            iterations: self.iterations,
            stop_after: self.stop_after,
            plain: self.exec == Exec::Plain,
            bisect: self.bisect,
            reduce_all: self.reduce_all,
            known,
            log: self.log.clone(),
        })
    }

    /// Nothing was asked for: somebody wants to see what it does.
    fn is_first_try(&self) -> bool {
        self.seeds.is_empty()
            && self.solvers.is_empty()
            && !self.resume
            && self.time.is_none()
            && self.iterations.is_none()
            && self.stop_after.is_none()
    }

    /// The seeds that can be used. Bad ones are named and counted; none at all is an error.
    fn harvest(&self) -> Result<Harvest> {
        if self.seeds.is_empty() {
            return Ok(Harvest::default());
        }
        let files = inputs::scripts(&self.seeds)?;
        let harvest = campaign::harvest(&files);
        for rejected in harvest.rejected.iter().take(NAMED) {
            eprintln!("osprey: seed skipped: {}", rejected.why);
        }
        if harvest.rejected.len() > NAMED {
            eprintln!("osprey: and {} more seeds skipped", harvest.rejected.len() - NAMED);
        }
        if harvest.seeds.is_empty() {
            let first = harvest.rejected.first().map(|rejected| rejected.why.clone()).unwrap_or_default();
            return Err(CampaignError::NoSeeds { files: files.len(), first }.into());
        }
        Ok(harvest)
    }

    fn targets(&self) -> Result<Vec<Target>> {
        let solvers = fleet::all(&[])?;
        let default: Vec<String> = DEFAULT_SOLVERS.iter().map(ToString::to_string).collect();
        let tested = if self.solvers.is_empty() { &default } else { &self.solvers };
        let tested = fleet::resolve(&solvers, tested)?;
        let under_test = tested.len();
        let references = match self.references.as_slice() {
            [] => Vec::new(),
            specs => fleet::resolve(&solvers, specs)?,
        };
        let all = tested.into_iter().chain(references);
        let mut targets = Vec::new();
        for (number, solver) in all.enumerate() {
            let table = match self.options.needs_tables() {
                true => match solver.option_table(solvers.home()) {
                    Ok(table) => Some(table),
                    Err(error) => {
                        eprintln!("osprey: {} is run without options: {error}", solver.name());
                        None
                    }
                },
                false => None,
            };
            let target = Target::new(number, solver, table, self.exec == Exec::Plain);
            targets.push(if number < under_test { target } else { target.as_reference() });
        }
        Ok(targets)
    }

    fn identity(
        &self,
        targets: &[Target],
        engines: &[Box<dyn engines::Engine>],
        settings: &Settings,
    ) -> Result<Identity> {
        let all: Vec<String> = engines.iter().map(|engine| engine.name().to_owned()).collect();
        let auto = self.engine.iter().any(|name| name == "auto");
        if let Some(name) = self.engine.iter().find(|name| *name != "auto" && !all.contains(name)) {
            let known = all.join(", ");
            return Err(
                CampaignError::Usage(format!("'{name}' is no engine; there are {known} and auto")).into()
            );
        }
        for logic in &self.logic {
            logic.parse::<generate::Logic>().map_err(|error| CampaignError::Usage(error.to_string()))?;
        }
        let rng_seed = match self.rng_seed {
            Some(seed) => seed,
            None if settings.resume => campaign::stored_rng_seed(&settings.out)?,
            None => fresh_seed(),
        };
        let named = |reference: bool| {
            let chosen = targets.iter().filter(|target| target.reference == reference);
            chosen.map(|target| target.name.clone()).collect()
        };
        Ok(Identity {
            solvers: named(false),
            references: named(true),
            engines: if auto { all } else { self.engine.clone() },
            auto,
            options: self.options,
            logics: self.logic.clone(),
            seeds: self.seeds.clone(),
            rng_seed,
            timeout: self.timeout.unwrap_or(TIMEOUT).as_millis() as u64,
            adaptive: self.timeout.is_none(),
            memory: self.memory,
            tuning: self.engine_settings.tuning(),
        })
    }

    fn greet(&self, identity: &Identity, targets: &[Target], harvest: &Harvest) {
        let name = |target: &Target| match target.reference {
            true => format!("{} (reference)", target.name),
            false => target.name.clone(),
        };
        let names: Vec<String> = targets.iter().map(name).collect();
        let seeds = match harvest.seeds.len() {
            0 => "generated seeds".to_owned(),
            1 => "1 seed".to_owned(),
            many => format!("{many} seeds"),
        };
        eprintln!(
            "osprey: fuzzing {} with {seeds}, rng seed {}, output in {}",
            names.join(", "),
            identity.rng_seed,
            self.out.display()
        );
        if self.is_first_try() {
            eprintln!("osprey: for a minute; --time sets another time, -s other solvers");
        }
    }

    fn show(&self, summary: &Summary) {
        let totals = &summary.totals;
        if summary.interrupted {
            println!("interrupted; --resume goes on");
        }
        println!(
            "{} tests in {} ({:.1}/s), {} solver runs, {} more to confirm and ask, {} to reduce",
            summary.tests,
            live::clock(Duration::from_secs_f64(summary.seconds)),
            summary.tests as f64 / summary.seconds.max(0.001),
            totals.runs,
            totals.extra_runs,
            totals.reduction_runs
        );
        for (solver, answers) in &totals.answers {
            println!("  {solver}: {}", live::counted(answers.iter().map(|(word, n)| (word.as_str(), *n))));
        }
        let shares: Vec<String> = summary
            .engine_shares
            .iter()
            .map(|(name, share)| format!("{name} {:.0} %", share * 100.0))
            .collect();
        println!("  engines: {}", shares.join(", "));
        let seconds = |micros: u64| micros as f64 / 1e6;
        println!(
            "  CPU: {:.1} s solvers ({:.1} s in time-outs, {:.1} s to confirm and ask, {:.1} s to reduce), {:.1} s ours \
             ({:.1} %)",
            seconds(totals.solver_cpu),
            seconds(totals.cut_cpu),
            seconds(totals.extra_cpu),
            seconds(totals.reduction_cpu),
            seconds(totals.own_cpu),
            totals.own_share() * 100.0
        );
        let rejected = totals.rejected as f64 * 100.0 / totals.tests.max(1) as f64;
        println!("  scripts refused by a solver: {} ({rejected:.1} %)", totals.rejected);
        let mut refusals: Vec<_> = totals.refusals.iter().collect();
        refusals.sort_by_key(|(_, count)| std::cmp::Reverse(**count));
        for (message, count) in refusals.iter().take(3) {
            println!("    {count} x {message}");
        }
        if summary.rejected_seeds > 0 {
            println!("  seed files skipped: {}", summary.rejected_seeds);
        }
        if totals.internal_errors > 0 {
            println!(
                "  internal errors: {} (see {})",
                totals.internal_errors,
                self.out.join("internal").display()
            );
        }
        if totals.slow > 0 {
            println!(
                "  slow computations of ours: {}, the slowest {:.1} s (see {})",
                totals.slow,
                seconds(totals.slowest),
                self.out.join("internal").display()
            );
        }
        println!("  findings: {}", live::found(totals));
        for known in &summary.findings {
            let flaky = if known.flaky { " (flaky)" } else { "" };
            println!("    {}{flaky}", self.out.join("bugs").join(&known.folder).display());
        }
        println!("  rng seed: {}", summary.rng_seed);
    }
}

/// A seed nobody chose: from the clock.
fn fresh_seed() -> u64 {
    let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap_or_default();
    now.as_nanos() as u64 % 1_000_000_000
}
