//! `osprey mutate`: the mutants that an engine makes of seeds, with the models that satisfy them.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::{Context, Result, bail};
use campaign::driver::{AnswerCache, Driver, FairOptions, Plan, PlannedSeed, Questions, runnable};
use campaign::input::LARGEST_FILE;
use campaign::{SeedText, Target};
use clap::Args;
use engines::quality::{Figures, Quality};
use engines::{Ask, Attempt, Engine, Provenance, SolverSettings, TestCase};
use eval::model_text::{Unwritable, read_model, write_model};
use eval::{Expectation, Model};
use serde::Serialize;
use smtlib::{Mode, Release, Script, Status, Store, print};
use solver::run::{RunRules, Runner as _, SolverRunner};

use crate::exit::Exit;
use crate::tuning::EngineSettings;
use crate::{duration, inputs, output, solver_choice};

/// Write the mutants that an engine makes of a seed
#[derive(Args)]
#[command(after_help = "\
Examples:
  osprey mutate --engine diver seed.smt2 --count 100 --out mutants -s z3@5.4.0
  osprey mutate --engine storm seed.smt2 --count 100 --out mutants             with random models
  osprey mutate --engine diver seed.smt2 --model model.txt --out mutants
  osprey mutate --engine polarity unsat.smt2 --count 50 --out mutants
  osprey mutate --engine values seed.smt2 --out mutants -s z3@5.4.0 --explain
  osprey mutate --engine fusion one.smt2 other.smt2 --out mutants
  osprey mutate --engine diver seed.smt2 --count 500 --out mutants -s z3@5.4.0 --stats

Each mutant is a .smt2 file; what is known about its answer is in a .json file of the same name, and a model that
satisfies it in a .model file, which `osprey eval` reads.")]
pub struct Mutate {
    /// The seeds, as many as the engine needs
    #[arg(value_name = "SEED", required = true)]
    seeds: Vec<PathBuf>,

    /// The engine: storm, diver, values, polarity, opfuzz, typefuzz, fusion, ..., with transforms behind it (diver+incremental)
    #[arg(long, value_name = "NAME")]
    engine: String,

    /// How many mutants at most
    #[arg(long, value_name = "N", default_value_t = 10)]
    count: usize,

    /// The folder for the files; it is made if it does not exist
    #[arg(long, value_name = "DIR")]
    out: PathBuf,

    /// A model of the first seed, as solvers print it
    #[arg(long, value_name = "FILE")]
    model: Option<PathBuf>,

    /// A solver to ask for models and answers; its operators may be used, and the first one's notation is written
    #[arg(short, long = "solver", value_name = "SPEC")]
    solvers: Vec<String>,

    /// Time for each question to a solver; the many small ones of values have a second at most
    #[arg(long, value_name = "TIME", default_value = "10", value_parser = duration::parse)]
    timeout: Duration,

    /// The seed of all random choices
    #[arg(long, value_name = "N", default_value_t = 0)]
    rng_seed: u64,

    #[command(flatten)]
    settings: EngineSettings,

    /// Print what the mutants are like: operators of new terms, changes per mutant, depth, literal conditions
    #[arg(long)]
    stats: bool,

    /// Print what the engine knows about the seed and has done with it, where it tells: for values the skeleton, the
    /// monitors, and which mutant covered them
    #[arg(long)]
    explain: bool,

    /// Print the summary as JSON
    #[arg(long)]
    json: bool,
}

/// Memory of one question, in bytes.
const MEMORY: u64 = 4 << 30;

/// What is known about a mutant.
#[derive(Serialize)]
struct About<'a> {
    /// `sat`, `unsat`, or `agree` where solvers must only agree.
    expected: &'static str,
    /// How that is known.
    expectation: &'a Expectation,
    /// Options of solvers that belong to the test case.
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    options: &'a [SolverSettings],
    provenance: &'a Provenance,
}

#[derive(Serialize)]
struct Summary<'a> {
    engine: &'a str,
    rng_seed: u64,
    count: usize,
    witnesses: usize,
    out: &'a Path,
    #[serde(skip_serializing_if = "Option::is_none")]
    stats: Option<&'a Figures>,
    /// One text for each round.
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    explained: &'a [String],
}

impl Mutate {
    pub fn run(self) -> Result<Exit> {
        let engine = self.chosen_engine()?;
        if self.seeds.len() < engine.seeds_wanted() {
            bail!("{} needs {} seeds", self.engine, engine.seeds_wanted());
        }
        let targets = match self.solvers.as_slice() {
            [] => Vec::new(),
            specs => solver_choice::targets(specs, &[], self.settings.tuning().diver.options > 0)?,
        };
        let mut asked = self.asked(&targets)?;
        let seeds = self.seeds.iter().map(|file| seed(file)).collect::<Result<Vec<_>>>()?;
        asked.given = match (&self.model, seeds.first()) {
            (Some(file), Some(first)) => Some(GivenModel::read(file, first)?),
            _ => None,
        };
        output::folder(&self.out)?;
        let mut driver = Driver::new(&targets, self.rng_seed).with_options(FairOptions { targets: &targets });
        let (mut count, mut witnesses, mut round) = (0, 0, 0);
        let mut quality = Quality::default();
        let mut explained = Vec::new();
        let mut declined = None;
        let mut exhausted = None;
        let mut memory = None;
        // A round may be shorter than what is wanted; further ones have streams of their own.
        while count < self.count {
            let plan = Plan {
                round,
                engine: self.engine.clone(),
                seeds: seeds.iter().cloned().map(PlannedSeed::Text).collect(),
                logic: "ALL".to_owned(),
                group: (0..targets.len()).collect(),
                tactic: None,
                without: Vec::new(),
                memory: memory.take(),
                steps: self.count - count,
            };
            let Some(mut chain) = driver.open(&*engine, &plan, &mut asked)? else {
                declined = driver.take_declined();
                break;
            };
            let before = count;
            // Numbers of the files of this round's test cases, by step.
            let mut files: BTreeMap<usize, usize> = BTreeMap::new();
            let seed = chain.seeds().first().map(|seed| seed.script.clone()).unwrap_or_default();
            quality.begin(&driver.store, chain.grammar(), &seed);
            while count < self.count {
                let Some(case) = driver.next(&mut chain, &mut asked)? else { break };
                let Some(witnessed) = self.write(&mut driver.store, &case, count, &targets)? else {
                    continue;
                };
                quality.count(&driver.store, &seed, &case);
                files.insert(case.provenance.step, count);
                witnesses += usize::from(witnessed);
                count += 1;
            }
            if let Some(effort) = chain.effort() {
                quality.effort(effort);
            }
            if self.explain {
                let file = |step: usize| match files.get(&step) {
                    Some(number) => format!("{number:05}"),
                    None => "one that was not written".to_owned(),
                };
                explained.extend(chain.explain(&driver.store, &file));
            }
            memory = chain.memory().map(|(_, memory)| memory.text);
            round += 1;
            exhausted = chain.exhausted();
            if count == before || exhausted.is_some() {
                break;
            }
        }
        asked.cache.take_failure()?;
        for note in asked.runner.iter_mut().flat_map(|runner| runner.take_notes()) {
            output::say(&format!("note: {note}"));
        }
        if count == 0 {
            let why =
                declined.map_or_else(|| advice(&self.engine).to_owned(), |reason| format!(": {reason}"));
            bail!("{} makes nothing of this seed{why}", self.engine);
        }
        if count < self.count {
            let why = declined.or(exhausted).unwrap_or("nothing new comes of this seed");
            let unasked = targets.is_empty() && engine_of(&self.engine) == "values";
            let hint =
                if unasked { "; there is no solver to ask for constants, name one with -s" } else { "" };
            output::say(&format!("note: {count} of {} test cases: {why}{hint}", self.count));
        }
        let figures = self.stats.then(|| quality.figures());
        let summary = Summary {
            engine: &self.engine,
            rng_seed: self.rng_seed,
            count,
            witnesses,
            out: &self.out,
            stats: figures.as_ref(),
            explained: &explained,
        };
        if self.json {
            output::print_json(&summary)?;
        } else {
            let out = self.out.display();
            let seed = self.rng_seed;
            output::print(&format!(
                "{count} mutants, {witnesses} with witnesses, in {out} (--rng-seed {seed})\n"
            ))?;
            for text in &explained {
                output::print(text)?;
            }
            if let Some(figures) = &figures {
                output::print(&shown(figures))?;
            }
        }
        Ok(Exit::Clean)
    }

    fn chosen_engine(&self) -> Result<Box<dyn Engine>> {
        let mut tuning = self.settings.tuning();
        // There may be no solver to ask here, and time to find a model by luck.
        tuning.diver.random_models = 10_000;
        // Nobody runs the mutants, so what they cover has to be asked for.
        tuning.values.own_models = 1.0;
        Ok(engines::parse(&self.engine, &tuning)?)
    }

    fn asked<'t>(&self, targets: &'t [Target]) -> Result<UserAnswers<'t>> {
        let timeout = self.timeout;
        let configurations: Vec<_> = targets.iter().map(Target::configuration).collect();
        let rules = RunRules::for_campaign(timeout, MEMORY).questions_within(timeout);
        let runner =
            if configurations.is_empty() { None } else { Some(SolverRunner::new(configurations, rules)?) };
        Ok(UserAnswers { targets, runner, cache: AnswerCache::default(), given: None })
    }

    /// Writes the files of a mutant and tells whether it has a witness. `None`: nothing is written, because the witness
    /// has a value without notation (a transcendental number from a solver's model).
    fn write(
        &self,
        store: &mut Store,
        case: &TestCase,
        number: usize,
        targets: &[Target],
    ) -> Result<Option<bool>> {
        let base = self.out.join(format!("{}-{}-{number:05}", self.engine, self.rng_seed));
        let model = match case.witness() {
            Some(witness) => match write_model(store, &case.script, witness.model()) {
                Ok(text) => Some(text),
                Err(Unwritable { .. }) => return Ok(None),
            },
            None => None,
        };
        let (script, _) = runnable(store, &case.script, &Target::releases(targets));
        let dialect = targets.first().map_or(Release::STANDARD, |target| target.release);
        output::file(&base.with_extension("smt2"), &print::print(store, &script, dialect))?;
        let expected = match case.expectation().answer() {
            Some(Status::Sat) => "sat",
            Some(Status::Unsat) => "unsat",
            Some(Status::Unknown) | None => "agree",
        };
        let about = About {
            expected,
            expectation: case.expectation(),
            options: &case.options,
            provenance: &case.provenance,
        };
        output::file(&base.with_extension("json"), &(serde_json::to_string_pretty(&about)? + "\n"))?;
        if let Some(text) = &model {
            output::file(&base.with_extension("model"), text)?;
        }
        Ok(Some(model.is_some()))
    }
}

/// The statistics as lines of text.
fn shown(figures: &Figures) -> String {
    let percent = |part: u64, whole: u64| if whole == 0 { 0.0 } else { 100.0 * part as f64 / whole as f64 };
    let mut text = format!(
        "{} distinct after unit propagation and renaming; {:.1} changes per mutant; {} without a symbol of the seed\n",
        figures.distinct, figures.changes_per_mutant, figures.without_symbols
    );
    if figures.new_terms > 0 {
        let all: u64 = figures.operators.values().sum();
        text += &format!(
            "{} new terms: {:.1} levels of operators; {:.1} % bare leaves; {:.1} % of {} Boolean arguments are true or \
             false\n",
            figures.new_terms,
            figures.levels,
            percent(figures.bare_leaves, figures.new_terms),
            percent(figures.literal_conditions, figures.conditions),
            figures.conditions
        );
        if let Some(rate) = figures.accepted_per_try {
            text += &format!("{:.1} % of the random terms accepted\n", 100.0 * rate);
        }
        text += &format!(
            "{} of {} operators in play used:\n",
            figures.operators_used, figures.operators_available
        );
        let mut operators: Vec<_> = figures.operators.iter().collect();
        operators.sort_by_key(|(name, count)| (std::cmp::Reverse(**count), **name));
        for (name, count) in operators {
            text += &format!("  {count:>6}  {:>5.1} %  {name}\n", percent(*count, all));
        }
    }
    text
}

/// The name of the engine alone: transforms and variants want what it wants.
fn engine_of(name: &str) -> &str {
    name.split(['+', '-']).next().unwrap_or_default()
}

fn advice(engine: &str) -> &'static str {
    match engine_of(engine) {
        "diver" => ": no model was found; give --model, or -s with a solver that solves it",
        "polarity" => {
            ": its answer is not known; give a file with :status, or two solvers that agree with -s"
        }
        _ => "",
    }
}

/// A seed's text, once it is known to be a script. What touches files would stand in every mutant.
fn seed(file: &Path) -> Result<SeedText> {
    let (seed, removed) =
        campaign::read_seed(&mut Store::new(), file, LARGEST_FILE).map_err(anyhow::Error::msg)?;
    for what in removed {
        output::say(&format!("note: taken out of a seed: {what}"));
    }
    Ok(seed)
}

/// The user's model of the first seed.
struct GivenModel {
    text: Vec<u8>,
}

impl GivenModel {
    /// Reads it once, to say where it is wrong.
    fn read(file: &Path, seed: &SeedText) -> Result<GivenModel> {
        let text = inputs::read(file).context("the model")?;
        let mut store = Store::new();
        let script = smtlib::parse(&mut store, seed.text.as_bytes(), Mode::Tolerant)
            .map_err(|error| anyhow::anyhow!("{}: {}", seed.name, error.message))?
            .script;
        read_model(&mut store, &script, &text, Release::STANDARD).map_err(|error| {
            let place = smtlib::place(&text, error.offset());
            anyhow::anyhow!("{}:{}:{}: {error}", file.display(), place.line, place.column)
        })?;
        Ok(GivenModel { text })
    }

    /// The model in a chain's own terms.
    fn of(&self, store: &mut Store, script: &Script) -> Option<Model> {
        Some(read_model(store, script, &self.text, Release::STANDARD).ok()?.model)
    }
}

/// Answers questions of engines with the user's model and solvers.
struct UserAnswers<'a> {
    targets: &'a [Target],
    /// Nothing without solvers.
    runner: Option<SolverRunner>,
    cache: AnswerCache,
    given: Option<GivenModel>,
}

impl UserAnswers<'_> {
    fn questions(&mut self) -> Option<Questions<'_>> {
        Some(Questions { targets: self.targets, runner: self.runner.as_mut()?, cache: &mut self.cache })
    }
}

impl Ask for UserAnswers<'_> {
    fn model(&mut self, store: &mut Store, script: &Script, variant: u32) -> Option<Model> {
        match &self.given {
            Some(given) if variant == 0 => given.of(store, script),
            Some(_) => None,
            None => self.questions()?.model(store, script, variant),
        }
    }

    fn attempt(&mut self, store: &mut Store, script: &Script, variant: u32) -> Attempt {
        if self.given.is_some() {
            return self.model(store, script, variant).map_or(Attempt::Undecided, Attempt::Model);
        }
        self.questions().map_or(Attempt::Undecided, |mut solvers| solvers.attempt(store, script, variant))
    }

    fn core(&mut self, store: &mut Store, script: &Script, variant: u32) -> Option<Vec<usize>> {
        self.questions()?.core(store, script, variant)
    }

    fn agreed_status(&mut self, store: &Store, script: &Script) -> Option<(Status, String)> {
        self.questions()?.agreed_status(store, script)
    }

    fn confirmed_core(&mut self, store: &Store, script: &Script) -> Option<Vec<usize>> {
        self.questions()?.confirmed_core(store, script)
    }
}
