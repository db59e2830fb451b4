//! `osprey fuzz`: find bugs.

use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::{Context, Result};
use campaign::{
    Campaign, CampaignError, Identity, KnownBugs, LearnedSettings, PolicyName, Program, SeedFiles, Settings,
    Specs, Target,
    store::{self, Place, Presence},
};
use clap::{Args, ValueEnum};

use crate::exit::{Exit, naming};
use crate::live::Live;
use crate::tuning::{EngineSettings, LearnedArguments};
use crate::{duration, inputs, interrupt, limits, output, secrets, solver_choice, summary};

/// The pair that a campaign without `-s` compares.
const DEFAULT_SOLVERS: [&str; 2] = ["z3@5.4.0", "cvc5@1.4.2"];

/// How long a campaign runs of which nothing is said; with solvers or seeds it runs until it is ended.
const FIRST_TRY: Duration = Duration::from_secs(60);

/// The most time of one solver run of which nothing is said.
const TIMEOUT: Duration = Duration::from_secs(2);

/// Megabytes of one solver run of which nothing is said.
const MEMORY: u64 = 2048;

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
  osprey fuzz --resume --out night --time 8h  go on with it, with the same solvers, seeds and settings
  osprey fuzz seeds/ -s z3 -s cvc5 --engine diver+incremental          a transform behind an engine
  osprey fuzz -s z3@5.4.0 -s cvc5 --engine falcon --time 1h            formulas and options together
  osprey fuzz seeds/ -s z3@5.4.0 -s cvc5 --engine storm --options fair-learned
  osprey worker --store night                 more processes on the same campaign
  osprey fuzz seeds/ -s z3@4.8.7 -s z3@5.4.0 --store postgres://osprey@db.example/fuzzing?schema=night --out night
                                              on a server, for workers on many machines: docs/shared-campaigns.md

Seeds are .smt2 files of at most 200 kB; larger ones, and those that are no well-sorted scripts, are skipped and
counted.

The same --rng-seed, seeds, solvers and settings make the same rounds. A campaign repeats exactly with one worker
(--jobs 1), --iterations, --timeout and --no-coverage: without --timeout the limit of a run adapts to the machine, with
several workers or --time the clock has a part in what is learned, which code is reached may depend on addresses, and a
solver that is near its limit answers or not by chance. Once a bug is known, most rounds do without what it is blamed
on, and when that is depends on the clock. A single finding is always repeatable: `osprey replay`.

Which code of the solvers is reached is watched on their binaries as they are (docs/coverage.md): new code is new
behaviour, and the summary tells functions and blocks. OUT/SOLVER.cov is for `osprey solvers coverage --add`.

Findings are folders in OUT/bugs: report.md is for the solver's tracker, repro.sh shows the bug with nothing but the
solver and serves `git bisect run`. Exit code 0 if there is no finding, 10 if there are some.")]
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

    /// Engines, separated by commas, each with transforms behind it if need be (diver+incremental); auto lets all share the time by what they find [default: auto]
    #[arg(long, value_name = "LIST", value_delimiter = ',')]
    engine: Vec<String>,

    /// Options for the solvers: default (fair ones in a quarter of the rounds), fair (in half of them), random, none; learned
    /// (those that matter for the test case, their values by search; Falcon), fair-learned (the same with fair ones), searched
    /// (any, by search), related (those that matter, at random), plain (none, but models are asked for) [default: default]
    #[arg(long, value_name = "POLICY")]
    options: Option<PolicyName>,

    #[command(flatten)]
    learned: LearnedArguments,

    /// Logics of generated scripts, separated by commas
    #[arg(long, value_name = "LIST", value_delimiter = ',')]
    logic: Vec<String>,

    /// Stop after this time: 60, 60s, 5m, 1h
    #[arg(long, value_name = "TIME", value_parser = duration::parse)]
    time: Option<Duration>,

    /// Stop after this number of test cases
    #[arg(long, value_name = "N")]
    iterations: Option<u64>,

    /// Stop at the Nth bug
    #[arg(long, value_name = "N")]
    stop_after: Option<u64>,

    /// Time of one solver run; unless given, at most 2 s, and less for solvers that are usually quick
    #[arg(long, value_name = "TIME", value_parser = duration::parse)]
    timeout: Option<Duration>,

    /// Memory of one solver run, in megabytes [default: 2048]
    #[arg(long, value_name = "MB", value_parser = limits::memory())]
    memory: Option<u64>,

    /// Workers; one per core unless told otherwise
    #[arg(short, long, value_name = "N", value_parser = limits::jobs())]
    jobs: Option<usize>,

    /// Repeat a campaign's random choices; printed by every campaign
    #[arg(long, value_name = "N")]
    rng_seed: Option<u64>,

    /// The output folder
    #[arg(short, long, value_name = "DIR", default_value = "osprey-out")]
    out: PathBuf,

    /// Keep the campaign on a PostgreSQL server, for processes on many machines; the output folder is a copy. The password is
    /// taken from PGPASSWORD or ~/.pgpass
    #[arg(long, value_name = "URL")]
    store: Option<String>,

    /// Go on with the campaign in the output folder: solvers, seeds and settings need not be named again, and must not differ
    #[arg(long)]
    resume: bool,

    /// How solvers are started: fast uses fork servers where they are proven, plain a new process for each run
    #[arg(long, value_name = "MODE", value_enum, default_value_t = Exec::Fast)]
    exec: Exec,

    /// Ask all installed releases of a solver which of them have a finding's bug, not only a dozen around its first and last
    #[arg(long)]
    bisect: bool,

    /// Do not end before every finding has been made small
    #[arg(long)]
    reduce_all: bool,

    /// Bugs that are not reported any more: a file with signatures, one per line; the output folder of an earlier campaign; or
    /// the folder of a finding, for all that is taken for its bug. Repeatable. No process of the campaign reports them, also when
    /// it is resumed; a resumed one with --known forgets those that were named before
    #[arg(long, value_name = "FILE|DIR")]
    known: Vec<PathBuf>,

    /// Write one JSON object per line for everything that happens; at 256 MB the file is put aside as FILE.1
    #[arg(long, value_name = "FILE")]
    log: Option<PathBuf>,

    /// Do not watch which code of the solvers is reached
    #[arg(long)]
    no_coverage: bool,

    /// Count which code is reached, but decide nothing by it: for comparisons
    #[arg(long, hide = true)]
    unused_coverage: bool,

    /// Print the summary as JSON on standard output
    #[arg(long)]
    json: bool,

    #[command(flatten)]
    engine_settings: EngineSettings,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Exec {
    Fast,
    Plain,
}

impl Fuzz {
    pub fn run(mut self) -> Result<Exit> {
        let place = self.place()?;
        let settings = self.settings()?;
        let mut tuning = self.engine_settings.tuning();
        let mut learned = self.learned.settings(whole_path)?;
        if self.resume {
            let stored = stored_identity(&settings)?;
            if self.engine_settings.is_empty() {
                tuning = stored.tuning.clone();
            }
            if self.learned.is_empty() {
                learned = stored.learned.clone();
            }
            self.restore(stored);
        }
        let names = if self.engine.is_empty() { "auto".to_owned() } else { self.engine.join(",") };
        let engines =
            engines::parse_list(&names, &tuning).map_err(|error| CampaignError::Usage(error.to_string()))?;
        let seeds = self.seed_files()?;
        let targets = self.targets(&tuning)?;
        let mut identity = Identity { learned, ..self.identity(&targets, &engines, tuning)? };
        let needed = engines.iter().any(|engine| identity.policy_of(&**engine).needs_correlations());
        let targets = if needed { solver_choice::correlated(targets, &identity.learned)? } else { targets };
        if place.is_shared() {
            identity.releases = Program::releases(&targets);
        }
        let runners = campaign::runners(
            &identity,
            &targets,
            solver_choice::third_opinions()?,
            self.exec == Exec::Plain,
        );
        let campaign = Campaign { identity: &identity, targets: &targets, engines: &engines, runners };
        interrupt::catch();
        let mut greeting = self.greeting(&identity, &targets, &seeds);
        if place.is_shared() {
            greeting +=
                &format!("\nosprey: shared on {place}; more workers: osprey worker --store '{place}'");
        }
        let live = Live::new(greeting, self.json);
        let result = campaign::run(&campaign, &settings, &seeds, &live, &interrupt::asked);
        live.clear();
        summary::show(&result.map_err(|error| naming(error, &settings.out))?, &settings.out, self.json)
    }

    /// Where the campaign is kept. The output folder of one on a server is made a copy of it.
    fn place(&self) -> Result<Place, CampaignError> {
        let place = match &self.store {
            Some(text) if store::is_meant_as_address(text) => Place::named(text, &self.out)?,
            Some(text) => {
                let text = format!(
                    "--store {text}: expected postgres://USER@HOST/DATABASE; a folder is named with --out"
                );
                return Err(CampaignError::Usage(text));
            }
            None => Place::of(&self.out)?,
        };
        match (place.is_shared(), place.presence(), self.resume) {
            (false, ..) => return Ok(place),
            (true, Ok(Presence::Campaign), false) => return Err(CampaignError::Occupied(place.shown())),
            (true, Ok(Presence::Campaign), true) => place.upgrade()?,
            (true, presence, _) => _ = presence?,
        }
        place.settle()?;
        Ok(place)
    }

    fn settings(&self) -> Result<Settings> {
        let known = known_bugs(&self.known)?;
        let cores = std::thread::available_parallelism().map_or(1, usize::from);
        Ok(Settings {
            out: self.out.clone(),
            resume: self.resume,
            jobs: self.jobs.unwrap_or(cores).max(1),
            time: self.time.or(self.is_first_try().then_some(FIRST_TRY)),
            iterations: self.iterations,
            stop_after: self.stop_after,
            unused_coverage: self.unused_coverage,
            reduce_all: self.reduce_all,
            known,
            log: self.log.clone(),
            command: secrets::command_line(),
        })
    }

    /// What the user has not said is as it was when the campaign began.
    fn restore(&mut self, stored: Identity) {
        let fill = |given: &mut Vec<String>, stored: Vec<String>| {
            if given.is_empty() {
                *given = stored;
            }
        };
        fill(&mut self.solvers, stored.specs.solvers);
        fill(&mut self.references, stored.specs.references);
        fill(&mut self.engine, if stored.auto { vec!["auto".to_owned()] } else { stored.engines });
        fill(&mut self.logic, stored.logics);
        if self.seeds.is_empty() {
            self.seeds = stored.seeds;
        }
        self.options.get_or_insert(stored.options);
        self.rng_seed.get_or_insert(stored.rng_seed);
        self.memory.get_or_insert(stored.memory);
        if self.timeout.is_none() && !stored.adaptive {
            self.timeout = Some(Duration::from_millis(stored.timeout));
        }
        self.bisect |= stored.bisect;
        self.no_coverage |= stored.unwatched;
    }

    /// Plain starts are for those who want solvers as a user starts them.
    fn is_unwatched(&self) -> bool {
        self.no_coverage || self.exec == Exec::Plain
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

    /// The seeds that can be used. Bad ones are named and counted; none at all is an error. A campaign that goes on has
    /// its seeds in its store.
    fn seed_files(&self) -> Result<SeedFiles> {
        if self.seeds.is_empty() || self.resume {
            return Ok(SeedFiles::default());
        }
        let inputs::Scripts { files, skipped } = inputs::scripts(&self.seeds)?;
        for folder in &skipped {
            output::say(&format!("osprey: {folder}"));
        }
        let found = campaign::read_seeds(&files);
        for removed in found.removed.iter().take(NAMED) {
            output::say(&format!("osprey: taken out of a seed: {removed}"));
        }
        if found.removed.len() > NAMED {
            output::say(&format!("osprey: and {} more taken out of seeds", found.removed.len() - NAMED));
        }
        for rejected in found.rejected.iter().take(NAMED) {
            output::say(&format!("osprey: seed skipped: {}", rejected.why));
        }
        if found.rejected.len() > NAMED {
            output::say(&format!("osprey: and {} more seeds skipped", found.rejected.len() - NAMED));
        }
        if found.seeds.is_empty() {
            let first = found.rejected.first().map(|rejected| rejected.why.clone()).unwrap_or_default();
            return Err(CampaignError::NoSeeds { files: files.len(), first }.into());
        }
        Ok(found)
    }

    fn targets(&self, tuning: &engines::Tuning) -> Result<Vec<Target>> {
        let tables = self.policy().needs_tables() || tuning.diver.options > 0;
        let targets = solver_choice::targets(&self.tested(), &self.references, tables)?;
        if self.is_unwatched() { Ok(targets) } else { solver_choice::watched(targets) }
    }

    /// The solvers under test as the user named them.
    fn tested(&self) -> Vec<String> {
        match self.solvers.as_slice() {
            [] => DEFAULT_SOLVERS.iter().map(ToString::to_string).collect(),
            named => named.to_vec(),
        }
    }

    fn policy(&self) -> PolicyName {
        self.options.unwrap_or(PolicyName::Default)
    }

    fn identity(
        &self,
        targets: &[Target],
        engines: &[Box<dyn engines::Engine>],
        tuning: engines::Tuning,
    ) -> Result<Identity> {
        let auto = self.engine.is_empty() || self.engine.iter().any(|name| name == "auto");
        for logic in &self.logic {
            logic.parse::<generate::Logic>().map_err(|error| CampaignError::Usage(error.to_string()))?;
        }
        let named = |reference: bool| {
            let chosen = targets.iter().filter(|target| target.reference == reference);
            chosen.map(|target| target.name.clone()).collect()
        };
        Ok(Identity {
            solvers: named(false),
            references: named(true),
            specs: Specs { solvers: whole_paths(&self.tested()), references: whole_paths(&self.references) },
            engines: engines.iter().map(|engine| engine.name().to_owned()).collect(),
            auto,
            programs: Program::of(targets),
            releases: Vec::new(),
            options: self.policy(),
            logics: self.logic.clone(),
            seeds: self.seeds.iter().map(|path| whole_path(path)).collect(),
            rng_seed: self.rng_seed.unwrap_or_else(fresh_seed),
            timeout: self.timeout.unwrap_or(TIMEOUT).as_millis() as u64,
            adaptive: self.timeout.is_none(),
            memory: self.memory.unwrap_or(MEMORY),
            bisect: self.bisect,
            unwatched: self.is_unwatched(),
            tuning,
            learned: LearnedSettings::default(),
        })
    }

    /// What is said when the campaign begins.
    fn greeting(&self, identity: &Identity, targets: &[Target], found: &SeedFiles) -> String {
        let name = |target: &Target| match target.reference {
            true => format!("{} (reference)", target.name),
            false => target.name.clone(),
        };
        let names: Vec<String> = targets.iter().map(name).collect();
        let seeds = match found.seeds.len() {
            _ if self.resume => "the seeds it has".to_owned(),
            0 => "generated seeds".to_owned(),
            1 => "1 seed".to_owned(),
            many => format!("{many} seeds"),
        };
        let mut text = format!(
            "osprey: fuzzing {} with {seeds}, rng seed {}, output in {}",
            names.join(", "),
            identity.rng_seed,
            self.out.display()
        );
        if self.is_first_try() {
            text += "\nosprey: for a minute; --time sets another time, -s other solvers";
        }
        text
    }
}

/// The specs with their paths from the root: another process has another folder to start from.
fn whole_paths(specs: &[String]) -> Vec<String> {
    let whole = |spec: solver::spec::Spec| {
        let solver::spec::Which::Path(path) = &spec.which else { return None };
        let mut words = vec![solver::quoted(&whole_path(path).to_string_lossy())];
        words.extend(spec.options.iter().map(|option| solver::quoted(option)));
        Some(words.join(" "))
    };
    let all = |text: &String| match solver::spec::Spec::parse(text) {
        // Several solvers in one text are separated by the parser only.
        Ok(mut parsed) if parsed.len() == 1 => parsed.pop().and_then(whole).unwrap_or_else(|| text.clone()),
        _ => text.clone(),
    };
    specs.iter().map(all).collect()
}

/// A path from the root, written in one way.
fn whole_path(path: &Path) -> PathBuf {
    std::path::absolute(path).unwrap_or_else(|_| path.to_owned()).components().collect()
}

/// How the campaign in the output folder began, so that `--resume` need not be told.
fn stored_identity(settings: &Settings) -> Result<Identity, CampaignError> {
    match store::presence(&settings.out)? {
        store::Presence::Nothing => Err(CampaignError::NothingToResume(settings.out.clone())),
        store::Presence::Campaign => Ok(store::read(&settings.out)?.identity()?),
    }
}

/// What the user names as known: lists of signatures, campaigns, findings.
pub fn known_bugs(paths: &[PathBuf]) -> Result<Option<KnownBugs>> {
    if paths.is_empty() {
        return Ok(None);
    }
    let mut known = KnownBugs::default();
    for path in paths {
        if path.is_dir() || path.ends_with("finding.json") {
            known.folders.push(path.clone());
            continue;
        }
        let text = inputs::read_text(path).context("the list of known signatures")?;
        let before = known.signatures.len();
        for (number, line) in (1..).zip(text.lines().map(str::trim)) {
            if line.is_empty() || line.starts_with('#') {
                continue;
            }
            if !campaign::is_listed(line) {
                let place = format!("'{}', line {number}", path.display());
                let expected = "expected a signature as `osprey findings` shows it, or its hash";
                return Err(CampaignError::Usage(format!("{place}: {expected}")).into());
            }
            known.signatures.push(line.to_owned());
        }
        if known.signatures.len() == before {
            output::say(&format!("osprey: '{}' lists no signature: nothing is known by it", path.display()));
        }
    }
    Ok(Some(known))
}

/// A seed nobody chose: from the clock.
fn fresh_seed() -> u64 {
    let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap_or_default();
    now.as_nanos() as u64 % 1_000_000_000
}
