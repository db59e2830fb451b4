//! `osprey mutate`: the mutants that an engine makes of seeds, with the models that satisfy them.

use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::{Context, Result, bail};
use campaign::ask::{Memory, Questions};
use campaign::executor::Executor;
use campaign::{CampaignError, Target, round};
use clap::Args;
use engines::{Ask, Bench, Derivation, Expectation, Provenance, Seed, TestCase};
use eval::Model;
use eval::model_text::{Unwritable, read_model, write_model};
use generate::{Config, Grammar, rng};
use serde::Serialize;
use smtlib::{Mode, Release, Script, Status, Store, print};
use solver::limits::Limits;

use crate::exit::{DiskError, Exit};
use crate::tuning::EngineSettings;
use crate::{fleet, output};

/// Write the mutants that an engine makes of a seed
#[derive(Args)]
#[command(after_help = "\
Examples:
  osprey mutate --engine diver seed.smt2 --count 100 --out mutants -s z3@5.4.0
  osprey mutate --engine storm seed.smt2 --count 100 --out mutants             with random models
  osprey mutate --engine diver seed.smt2 --model model.txt --out mutants
  osprey mutate --engine polarity unsat.smt2 --count 50 --out mutants
  osprey mutate --engine fusion one.smt2 other.smt2 --out mutants

Each mutant is a .smt2 file; what is known about its answer is in a .json file of the same name, and a model that
satisfies it in a .model file, which `osprey eval` reads.")]
pub struct Mutate {
    /// The seeds, as many as the engine needs
    #[arg(value_name = "SEED", required = true)]
    seeds: Vec<PathBuf>,

    /// The engine: storm, diver, polarity, opfuzz, typefuzz, fusion, ...
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

    /// Seconds for each question to a solver
    #[arg(long, value_name = "SECONDS", default_value_t = 10.0)]
    timeout: f64,

    /// The seed of all random choices
    #[arg(long, value_name = "N", default_value_t = 0)]
    rng_seed: u64,

    #[command(flatten)]
    settings: EngineSettings,

    /// Print the summary as JSON
    #[arg(long)]
    json: bool,
}

/// What is known about a mutant.
#[derive(Serialize)]
struct About<'a> {
    expected: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    derivation: Option<&'a Derivation>,
    provenance: &'a Provenance,
}

#[derive(Serialize)]
struct Summary<'a> {
    engine: &'a str,
    rng_seed: u64,
    count: usize,
    witnesses: usize,
    out: &'a Path,
}

impl Mutate {
    pub fn run(self) -> Result<Exit> {
        let engine = self.chosen_engine()?;
        if self.seeds.len() < engine.seeds_wanted() {
            bail!("{} needs {} seeds", self.engine, engine.seeds_wanted());
        }
        let mut asked = self.asked()?;
        let releases: Vec<Release> = asked.targets.iter().map(|target| target.release).collect();
        let dialect = releases.first().copied().unwrap_or(Release::STANDARD);
        let grammar = Grammar::new("ALL", &releases, Config::default())?;
        let mut store = Store::new();
        let seeds = self.seeds.iter().map(|file| seed(&mut store, file)).collect::<Result<Vec<_>>>()?;
        if let (Some(file), Some(first)) = (&self.model, seeds.first()) {
            asked.given = Some(given_model(&mut store, &first.script, file)?);
        }
        std::fs::create_dir_all(&self.out)
            .with_context(|| format!("cannot make the folder '{}'", self.out.display()))?;
        let (mut count, mut witnesses, mut round_number) = (0, 0, 0);
        // A round may be shorter than what is wanted; further ones have streams of their own.
        while count < self.count {
            let mut rng = rng::stream(self.rng_seed, round_number);
            let mut bench =
                Bench { store: &mut store, rng: &mut rng, ask: &mut asked, grammar: &grammar, seeds: &seeds };
            let Some(mut round) = engine.open(&mut bench) else { break };
            let before = count;
            while count < self.count {
                let Some(case) = round.next(&mut bench) else { break };
                let Some(witnessed) = self.write(bench.store, &case, count, dialect)? else { continue };
                witnesses += usize::from(witnessed);
                count += 1;
            }
            round_number += 1;
            if count == before {
                break;
            }
        }
        if let Some(failure) = asked.failure {
            return Err(failure.into());
        }
        if count == 0 {
            bail!("{} makes nothing of this seed{}", self.engine, advice(&self.engine));
        }
        let summary =
            Summary { engine: &self.engine, rng_seed: self.rng_seed, count, witnesses, out: &self.out };
        if self.json {
            output::print_json(&summary)?;
        } else {
            let out = self.out.display();
            let seed = self.rng_seed;
            output::print(&format!(
                "{count} mutants, {witnesses} with witnesses, in {out} (--rng-seed {seed})\n"
            ))?;
        }
        Ok(Exit::Clean)
    }

    fn chosen_engine(&self) -> Result<Box<dyn engines::Engine>> {
        let mut tuning = self.settings.tuning();
        // There may be no solver to ask here, and time to find a model by luck.
        tuning.diver.random_models = 10_000;
        let all = engines::tuned(&tuning);
        let known = all.iter().map(|engine| engine.name()).collect::<Vec<_>>().join(", ");
        match all.into_iter().find(|engine| engine.name() == self.engine) {
            Some(engine) => Ok(engine),
            None => bail!("unknown engine '{}'; expected one of {known}", self.engine),
        }
    }

    fn asked(&self) -> Result<Asked> {
        if !(self.timeout > 0.0 && self.timeout.is_finite()) {
            bail!("--timeout must be a positive number of seconds, not {}", self.timeout);
        }
        let mut targets = Vec::new();
        let mut executor = None;
        if !self.solvers.is_empty() {
            let solvers = fleet::resolve(&fleet::all(&[])?, &self.solvers)?;
            let target = |(number, solver)| Target::new(number, solver, None, false);
            targets = solvers.into_iter().enumerate().map(target).collect();
            let limits = Limits::wall(Duration::from_secs_f64(self.timeout));
            executor = Some(Executor::with_limits(limits, &targets)?);
        }
        Ok(Asked { targets, executor, memory: Memory::default(), given: None, failure: None })
    }

    /// Writes the files of a mutant and tells whether it has a witness. `None`: nothing is written, because the witness
    /// has a value without notation (a transcendental number from a solver's model).
    fn write(
        &self,
        store: &mut Store,
        case: &TestCase,
        number: usize,
        dialect: Release,
    ) -> Result<Option<bool>> {
        let base = self.out.join(format!("{}-{}-{number:05}", self.engine, self.rng_seed));
        let model = match &case.expectation {
            Expectation::Sat(witness) => match write_model(store, &case.script, witness.model()) {
                Ok(text) => Some(text),
                Err(Unwritable { .. }) => return Ok(None),
            },
            _ => None,
        };
        let (script, _) = round::runnable(store, &case.script);
        put(&base.with_extension("smt2"), &print::print(store, &script, dialect))?;
        let (expected, derivation) = match &case.expectation {
            Expectation::Sat(_) => ("sat", None),
            Expectation::Derived(Status::Sat, derivation) => ("sat", Some(derivation)),
            Expectation::Derived(Status::Unsat, derivation) => ("unsat", Some(derivation)),
            Expectation::Derived(Status::Unknown, _) | Expectation::Agree => ("agree", None),
        };
        let about = About { expected, derivation, provenance: &case.provenance };
        put(&base.with_extension("json"), &(serde_json::to_string_pretty(&about)? + "\n"))?;
        if let Some(text) = &model {
            put(&base.with_extension("model"), text)?;
        }
        Ok(Some(model.is_some()))
    }
}

fn advice(engine: &str) -> &'static str {
    match engine {
        "diver" => ": no model was found; give --model, or -s with a solver that solves it",
        "polarity" => {
            ": its answer is not known; give a file with :status, or two solvers that agree with -s"
        }
        _ => "",
    }
}

fn put(path: &Path, text: &str) -> Result<()> {
    std::fs::write(path, text)
        .map_err(|source| DiskError { what: format!("'{}'", path.display()), source }.into())
}

fn seed(store: &mut Store, file: &Path) -> Result<Seed> {
    let text = std::fs::read(file).with_context(|| format!("cannot read '{}'", file.display()))?;
    let parsed = smtlib::parse(store, &text, Mode::Tolerant).map_err(|error| {
        let place = smtlib::place(&text, error.offset);
        anyhow::anyhow!("{}:{}:{}: {}", file.display(), place.line, place.column, error.message)
    })?;
    let status = parsed.script.status(store).map(|status| (status, ":status".to_owned()));
    Ok(Seed { name: file.display().to_string(), script: parsed.script, status })
}

fn given_model(store: &mut Store, script: &Script, file: &Path) -> Result<Model> {
    let text = std::fs::read(file).with_context(|| format!("cannot read the model '{}'", file.display()))?;
    let read = read_model(store, script, &text, Release::STANDARD).map_err(|error| {
        let place = smtlib::place(&text, error.offset());
        anyhow::anyhow!("{}:{}:{}: {error}", file.display(), place.line, place.column)
    })?;
    Ok(read.model)
}

/// Answers questions of engines with the user's model and solvers.
struct Asked {
    targets: Vec<Target>,
    /// Nothing without solvers.
    executor: Option<Executor>,
    memory: Memory,
    given: Option<Model>,
    failure: Option<CampaignError>,
}

impl Asked {
    fn questions(&mut self) -> Option<Questions<'_>> {
        Some(Questions {
            targets: &self.targets,
            executor: self.executor.as_mut()?,
            memory: &mut self.memory,
            failure: &mut self.failure,
        })
    }
}

impl Ask for Asked {
    fn model(&mut self, store: &mut Store, script: &Script, variant: u32) -> Option<Model> {
        match &self.given {
            Some(given) => (variant == 0).then(|| given.clone()),
            None => self.questions()?.model(store, script, variant),
        }
    }

    fn agreed_status(&mut self, store: &Store, script: &Script) -> Option<(Status, String)> {
        self.questions()?.agreed_status(store, script)
    }

    fn confirmed_core(&mut self, store: &Store, script: &Script) -> Option<Vec<usize>> {
        self.questions()?.confirmed_core(store, script)
    }
}
