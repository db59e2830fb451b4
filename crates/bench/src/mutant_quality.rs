//! What the mutants of every engine are like, by logic of their seeds.

use std::collections::BTreeMap;
use std::time::Duration;

use campaign::driver::{AnswerCache, Driver, Plan, PlannedSeed, Questions};
use campaign::{CampaignError, Identity, SeedText, Target, thread_cpu};
use engines::quality::{Figures, Quality};
use engines::{Engine, Tuning};
use smtlib::{Mode, Store};

use crate::{BenchError, Cell, Draft, Report, Table, Watch};

/// What is measured.
pub struct Settings {
    pub engines: Vec<String>,
    /// Mutants of each seed, all of one round.
    pub mutants: usize,
    /// Seeds of each logic.
    pub per_logic: usize,
    pub seeds: Vec<SeedText>,
    /// Solvers whose operators are used and who are asked for models.
    pub targets: Vec<Target>,
    pub rng_seed: u64,
    pub command: String,
}

/// The mutants of the seeds of one logic.
#[derive(Default)]
struct Sum {
    quality: Quality,
    /// Mutants that differ from all others of their seed.
    distinct: u64,
    seeds: u64,
    fruitful: u64,
    cpu: Duration,
}

impl Sum {
    fn add(&mut self, other: &Sum) {
        self.quality.add(&other.quality);
        self.distinct += other.distinct;
        self.seeds += other.seeds;
        self.fruitful += other.fruitful;
        self.cpu += other.cpu;
    }
}

/// Looks at the mutants of every engine.
pub fn run(settings: &Settings, watch: &dyn Watch) -> Result<Report, BenchError> {
    let mut draft = Draft::new("mutant-quality", "Quality of mutants", &settings.command);
    draft.rng_seed = Some(settings.rng_seed);
    draft.versions = settings.targets.iter().map(|target| target.name.clone()).collect();
    let seeds = by_logic(settings);
    let mut table = Table::new(
        &format!("The first {} mutants of each seed", settings.mutants),
        &[
            "engine",
            "logic",
            "seeds with mutants",
            "mutants",
            "distinct",
            "changes",
            "bare leaves",
            "literal conditions",
            "levels",
            "operators",
            "most frequent",
            "accepted",
            "no symbol left",
            "ms a mutant",
        ],
    );
    let mut operators = Table::detail("Operators of new terms", &["engine", "logic", "operator", "times"]);
    for (done, name) in settings.engines.iter().enumerate() {
        let unknown = |error: engines::UnknownEngine| BenchError::Usage(error.to_string());
        let engine = engines::parse(name, &Tuning::default()).map_err(unknown)?;
        let mut all = Sum::default();
        for (logic, seeds) in &seeds {
            watch.progress(done, settings.engines.len(), &format!("{name} {logic}"));
            if watch.stopped() {
                draft.partial = Some("ended by the user".to_owned());
                break;
            }
            let sum = look(settings, &*engine, seeds)?;
            row(&mut table, name, logic, &sum);
            for (operator, times) in &sum.quality.figures().operators {
                operators.row([
                    name.as_str().into(),
                    logic.as_str().into(),
                    (*operator).into(),
                    (*times).into(),
                ]);
            }
            all.add(&sum);
        }
        row(&mut table, name, "all", &all);
    }
    draft.tables = vec![table, operators];
    draft.notes.push(
        "distinct: mutants of a seed that differ after unit propagation, where names of fresh constants do not count; \
         changes: from the seed to the mutant, on average; bare leaves, literal conditions (true and false among \
         Boolean arguments), levels and operators are those of the random terms that the last change put in; operators: \
         used of those in play; accepted: random terms that the model accepted; ms: our own CPU time, opening included."
            .to_owned(),
    );
    Ok(draft.finish())
}

fn row(table: &mut Table, engine: &str, logic: &str, sum: &Sum) {
    let figures: Figures = sum.quality.figures();
    let of_terms = |cell: Cell| if figures.new_terms > 0 { cell } else { Cell::None };
    let rounded = |number: f64| Cell::from((number * 100.0).round() / 100.0);
    let milliseconds = sum.cpu.as_secs_f64() * 1000.0 / figures.mutants.max(1) as f64;
    table.row([
        engine.into(),
        logic.into(),
        Cell::of(sum.fruitful, sum.seeds),
        figures.mutants.into(),
        Cell::percent(sum.distinct as f64, figures.mutants as f64),
        rounded(figures.changes_per_mutant),
        Cell::percent(figures.bare_leaves as f64, figures.new_terms as f64),
        Cell::percent(figures.literal_conditions as f64, figures.conditions as f64),
        of_terms(rounded(figures.levels)),
        of_terms(Cell::of(figures.operators_used, figures.operators_available)),
        of_terms(Cell::percent(figures.most_frequent, 1.0)),
        figures.accepted_per_try.map(|rate| (rate * 100.0).round() / 100.0).into(),
        Cell::percent(figures.without_symbols as f64, figures.mutants as f64),
        rounded(milliseconds),
    ]);
}

/// The first seeds of each logic, by the order given.
fn by_logic(settings: &Settings) -> BTreeMap<String, Vec<&SeedText>> {
    let mut found: BTreeMap<String, Vec<&SeedText>> = BTreeMap::new();
    for seed in &settings.seeds {
        let mut store = Store::new();
        let Ok(parsed) = smtlib::parse(&mut store, seed.text.as_bytes(), Mode::Tolerant) else { continue };
        let logic = parsed.script.logic(&store).unwrap_or("none").to_owned();
        let seeds = found.entry(logic).or_default();
        if seeds.len() < settings.per_logic {
            seeds.push(seed);
        }
    }
    found
}

/// Makes the mutants of some seeds, each in a round of its own.
fn look(settings: &Settings, engine: &dyn Engine, seeds: &[&SeedText]) -> Result<Sum, BenchError> {
    let targets = &settings.targets;
    let identity = Identity {
        solvers: targets.iter().map(|target| target.name.clone()).collect(),
        engines: vec![engine.name().to_owned()],
        ..Identity::of_runs(Duration::from_secs(1), 2048, settings.rng_seed)
    };
    let runner = campaign::runners(&identity, targets, Vec::new(), false).runner();
    let mut runner = runner.map_err(|error| CampaignError::of_run("a solver", error))?;
    let mut answers = AnswerCache::default();
    let mut driver = Driver::new(targets, settings.rng_seed);
    let panicked = |panic: campaign::driver::EnginePanic| CampaignError::Internal(panic.to_string());
    let mut sum = Sum::default();
    for (number, seed) in seeds.iter().enumerate() {
        sum.seeds += 1;
        let plan = Plan {
            round: number as u64,
            engine: engine.name().to_owned(),
            seeds: vec![PlannedSeed::Text((*seed).clone()); engine.seeds_wanted().max(1)],
            logic: "ALL".to_owned(),
            group: (0..targets.len()).collect(),
            tactic: None,
            without: Vec::new(),
            memory: None,
            steps: settings.mutants,
        };
        let mut questions = Questions { targets, runner: &mut *runner, cache: &mut answers };
        let start = thread_cpu();
        let chain = driver.open(engine, &plan, &mut questions).map_err(panicked)?;
        sum.cpu += thread_cpu().saturating_sub(start);
        let Some(mut chain) = chain else { continue };
        let script = chain.seeds().first().map(|seed| seed.script.clone()).unwrap_or_default();
        let mut quality = Quality::default();
        quality.begin(&driver.store, chain.grammar(), &script);
        for _ in 0..settings.mutants {
            let start = thread_cpu();
            let case = driver.next(&mut chain, &mut questions).map_err(panicked)?;
            sum.cpu += thread_cpu().saturating_sub(start);
            let Some(case) = case else { break };
            quality.count(&driver.store, &script, &case);
        }
        if let Some(effort) = chain.effort() {
            quality.effort(effort);
        }
        answers.take_failure()?;
        let figures = quality.figures();
        sum.distinct += figures.distinct;
        sum.fruitful += u64::from(figures.mutants > 0);
        sum.quality.add(&quality);
    }
    Ok(sum)
}
