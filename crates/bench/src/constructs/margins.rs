//! `osprey bench perf`: PAR-2 margins by method and target. Each solver is the target once, all others are its references.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use banditfuzz::generator::Parameters;
use banditfuzz::learned::{AgentName, Learned};
use banditfuzz::meter::Score;
use banditfuzz::report::{cactus_plot, curves, method_rows, rewarded};
use banditfuzz::search::Method;
use banditfuzz::session::{self, Record};
use banditfuzz::state::Memory;
use solver::Solver;

use super::{Audience, slug};
use crate::error::BenchError;
use crate::report::{Cell, Draft, Report, Table};
use crate::watch::Watch;

/// What is compared.
pub struct Settings {
    pub solvers: Vec<Solver>,
    /// The solvers that are targets, by their places; all where there are none.
    pub targets: Vec<usize>,
    pub parameters: Parameters,
    pub methods: Vec<Method>,
    pub agent: AgentName,
    pub timeout: Duration,
    /// CPU time of each run.
    pub time: Duration,
    /// Runs per method and target.
    pub runs: usize,
    pub jobs: usize,
    pub memory: u64,
    pub rng_seed: u64,
    pub out: PathBuf,
    pub resume: bool,
    pub command: String,
}

/// One target's runs.
struct TargetRecords {
    name: String,
    references: Vec<String>,
    records: Vec<Record>,
}

/// Makes all runs that are not there yet.
pub fn run(settings: &Settings, watch: &dyn Watch) -> Result<Report, BenchError> {
    let logic = &settings.parameters.logic;
    let mut draft = Draft::new(
        &format!("perf-{}", slug(logic)),
        &format!("Performance fuzzing, {logic}: PAR-2 margins"),
        &settings.command,
    );
    draft.rng_seed = Some(settings.rng_seed);
    draft.versions = settings.solvers.iter().map(Solver::title).collect();
    let targets: Vec<usize> = match settings.targets.as_slice() {
        [] => (0..settings.solvers.len()).collect(),
        some => some.to_vec(),
    };
    let per_target = settings.runs * settings.methods.len();
    let mut all = Vec::new();
    for (number, place) in targets.iter().enumerate() {
        let session = session(settings, *place);
        let name = session.parties()[0].name();
        let audience = Audience {
            watch,
            what: name.clone(),
            done: number * per_target,
            all: targets.len() * per_target,
        };
        let records = session::run(&session, &audience)?;
        let references = session.parties()[1..].iter().map(|party| party.name()).collect();
        let limit = session.limit();
        let found = TargetRecords { name, references, records };
        plot(&session.out, &found, limit, settings.time)?;
        all.push(found);
        if watch.stopped() {
            draft.partial = Some("interrupted".to_owned());
            break;
        }
    }
    fill(&mut draft, settings, &all);
    Ok(draft.finish())
}

fn session(settings: &Settings, target: usize) -> session::Settings {
    let mut references = settings.solvers.clone();
    let target = references.remove(target);
    let mut name = target.name();
    for option in &target.options {
        name += "-";
        name += option;
    }
    let out = settings.out.join(format!("{}-{}", slug(&settings.parameters.logic), slug(&name)));
    session::Settings {
        target,
        references,
        parameters: settings.parameters.clone(),
        methods: settings.methods.clone(),
        agent: settings.agent,
        score: Score::Cpu,
        timeout: settings.timeout,
        memory: settings.memory,
        time: settings.time,
        runs: settings.runs,
        jobs: settings.jobs,
        rng_seed: settings.rng_seed,
        seeds: Arc::from([]),
        known: Memory::default(),
        // A target that had not begun has nothing to go on with.
        resume: settings.resume && out.join("perf.json").exists(),
        out,
    }
}

fn plot(out: &std::path::Path, found: &TargetRecords, limit: f64, time: Duration) -> Result<(), BenchError> {
    let title = format!("Inputs solved, target {}", found.name);
    let cactus = cactus_plot(&title, &found.name, &found.references, &found.records, limit, "CPU seconds");
    let curves = curves(&found.records, time.as_secs_f64(), limit);
    for (name, svg) in [("cactus.svg", cactus), ("curves.svg", curves)] {
        let path = out.join(name);
        std::fs::write(&path, svg).map_err(|source| BenchError::Write { path, source })?;
    }
    Ok(())
}

fn fill(report: &mut Report, settings: &Settings, all: &[TargetRecords]) {
    let limit = settings.timeout.as_secs_f64();
    report.summary.push(format!(
        "Each solver is the target once, with all others as references. Runs per method and target: {}, each with {:.0} s of \
         CPU time, limit {limit} s per solver run; margins are sums over the best inputs of the runs, at most {:.0}. A run of \
         the bandit begins with what the runs before it have learned.",
        settings.runs,
        settings.time.as_secs_f64(),
        settings.runs as f64 * 2.0 * limit
    ));
    let mut columns = vec!["target"];
    columns.extend(settings.methods.iter().map(|method| method.word()));
    columns.push("bandit on the best baseline");
    let mut table = Table::new("PAR-2 margins", &columns);
    let mut sums = vec![0.0; settings.methods.len()];
    for target in all {
        let rows = method_rows(&target.records, limit);
        let margins: Vec<Option<f64>> = settings
            .methods
            .iter()
            .map(|method| rows.iter().find(|row| row.method == *method).map(|row| row.margin))
            .collect();
        for (sum, margin) in sums.iter_mut().zip(&margins) {
            *sum += margin.unwrap_or(0.0);
        }
        let mut row: Vec<Cell> = vec![target.name.as_str().into()];
        row.extend(margins.iter().map(|margin| margin.map_or(Cell::None, rounded)));
        row.push(gain(&settings.methods, &margins));
        table.rows.push(row);
    }
    let mut row: Vec<Cell> = vec!["all targets".into()];
    row.extend(sums.iter().map(|sum| rounded(*sum)));
    row.push(gain(&settings.methods, &sums.iter().copied().map(Some).collect::<Vec<_>>()));
    table.rows.push(row);
    report.tables.push(table);
    let mut ranks = Table::new("Constructs, the most rewarding first", &["target", "constructs"]);
    for target in all {
        let mut learned = Learned::default();
        for record in target.records.iter().filter(|record| record.method == Method::Bandit) {
            learned.merge(&record.found.learned);
        }
        let best: Vec<String> =
            rewarded(&learned.ranking()).take(5).map(|one| one.construct.clone()).collect();
        ranks.row([target.name.as_str().into(), best.join(", ").into()]);
    }
    report.tables.push(ranks);
    let mut each = Table::detail(
        "Every method",
        &[
            "target",
            "method",
            "runs",
            "at the top",
            "margin",
            "inputs",
            "without answer",
            "mutations",
            "failed",
            "CPU s",
        ],
    );
    for target in all {
        for row in method_rows(&target.records, limit) {
            each.row([
                target.name.as_str().into(),
                row.method.word().into(),
                row.runs.into(),
                row.perfect_runs.into(),
                rounded(row.margin),
                row.inputs.into(),
                row.unusable.into(),
                row.mutations.into(),
                Cell::percent(row.failed_mutations as f64, row.mutations as f64),
                rounded(row.cpu),
            ]);
        }
    }
    report.tables.push(each);
    let mut runs = Table::detail("Every run", &["target", "method", "run", "score", "inputs", "CPU s"]);
    for target in all {
        for record in &target.records {
            runs.row([
                target.name.as_str().into(),
                record.method.word().into(),
                record.run.into(),
                record.found.best.as_ref().map_or(Cell::None, |best| rounded(best.scored.score)),
                record.found.inputs.into(),
                rounded(record.found.cpu),
            ]);
        }
    }
    report.tables.push(runs);
}

fn rounded(figure: f64) -> Cell {
    ((figure * 1000.0).round() / 1000.0).into()
}

/// How far the bandit is before the best of the others.
fn gain(methods: &[Method], margins: &[Option<f64>]) -> Cell {
    let of = |wanted: fn(&Method) -> bool| {
        let chosen = methods.iter().zip(margins).filter(move |(method, _)| wanted(method));
        chosen.filter_map(|(_, margin)| *margin).reduce(f64::max)
    };
    match (of(|method| *method == Method::Bandit), of(|method| *method != Method::Bandit)) {
        (Some(bandit), Some(best)) if best > 0.0 => format!("{:+.1} %", (bandit / best - 1.0) * 100.0).into(),
        _ => Cell::None,
    }
}
