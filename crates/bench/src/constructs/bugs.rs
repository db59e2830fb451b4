//! `osprey bench bugs`: bugs over inputs by method, as the paper's Figure 4.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use banditfuzz::cores;
use banditfuzz::generator::Parameters;
use banditfuzz::learned::{AgentName, Learned};
use banditfuzz::localize::{self, Localized};
use banditfuzz::plot::{Plot, mean_curve};
use banditfuzz::report::rewarded;
use banditfuzz::search::Method;
use solver::Solver;
use solver::run::Runners as _;

use super::{Audience, mean, slug};
use crate::error::BenchError;
use crate::report::{Cell, Draft, Report, Table};
use crate::watch::Watch;

/// The methods that there are for it.
const METHODS: [Method; 3] = [Method::Bandit, Method::Random, Method::Mutational];

/// What is compared.
pub struct Settings {
    pub solvers: Vec<Solver>,
    pub parameters: Parameters,
    pub agent: AgentName,
    /// Inputs per run.
    pub inputs: u64,
    pub timeout: Duration,
    pub memory: u64,
    /// Runs per method, each with another random seed.
    pub repeat: u64,
    pub rng_seed: u64,
    pub jobs: usize,
    pub out: PathBuf,
    pub command: String,
}

/// Makes all runs that are not in the folder yet.
pub fn run(settings: &Settings, watch: &dyn Watch) -> Result<Report, BenchError> {
    let logic = &settings.parameters.logic;
    let mut draft = Draft::new(
        &format!("bugs-{}", slug(logic)),
        &format!("Bug localisation, {logic}: bugs over inputs"),
        &settings.command,
    );
    draft.rng_seed = Some(settings.rng_seed);
    draft.versions = settings.solvers.iter().map(Solver::title).collect();
    std::fs::create_dir_all(&settings.out)
        .map_err(|source| BenchError::Write { path: settings.out.clone(), source })?;
    let jobs: Vec<(u64, Method)> =
        (0..settings.repeat).flat_map(|repetition| METHODS.map(|method| (repetition, method))).collect();
    let done: Mutex<BTreeMap<usize, Localized>> = Mutex::default();
    let failed: Mutex<Option<BenchError>> = Mutex::default();
    let next = AtomicUsize::new(0);
    let lanes = cores::allowed();
    std::thread::scope(|scope| {
        for core in lanes.iter().take(settings.jobs.clamp(1, lanes.len().max(1))) {
            let (jobs, done, failed, next) = (&jobs, &done, &failed, &next);
            scope.spawn(move || {
                // Not pinned is slower and no less right: inputs are counted here, not times.
                let _ = cores::pin(*core);
                loop {
                    let number = next.fetch_add(1, Ordering::Relaxed);
                    let Some((repetition, method)) = jobs.get(number).copied() else { return };
                    if watch.stopped() {
                        return;
                    }
                    let audience =
                        Audience { watch, what: method.word().to_owned(), done: number, all: jobs.len() };
                    match one(settings, repetition, method, &audience) {
                        Ok(Some(found)) => {
                            done.lock().unwrap_or_else(PoisonError::into_inner).insert(number, found);
                        }
                        Ok(None) => {}
                        Err(error) => {
                            failed.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert(error);
                            return;
                        }
                    }
                }
            });
        }
    });
    if let Some(error) = failed.into_inner().unwrap_or_else(PoisonError::into_inner) {
        return Err(error);
    }
    let found: Vec<Localized> =
        done.into_inner().unwrap_or_else(PoisonError::into_inner).into_values().collect();
    if found.len() < jobs.len() {
        draft.partial = Some("interrupted".to_owned());
    }
    fill(&mut draft, settings, &found);
    plot(settings, &found)?;
    Ok(draft.finish())
}

/// A run, from the folder or made now; nothing if it was cut short. What was cut short is kept, and gone on with next time.
fn one(
    settings: &Settings,
    repetition: u64,
    method: Method,
    audience: &Audience<'_>,
) -> Result<Option<Localized>, BenchError> {
    let mut inner = localize::Settings {
        solvers: settings.solvers.clone(),
        parameters: settings.parameters.clone(),
        method,
        agent: settings.agent,
        inputs: settings.inputs,
        timeout: settings.timeout,
        memory: settings.memory,
        rng_seed: settings.rng_seed + repetition,
        seeds: Arc::from([]),
        known: Learned::default(),
        out: None,
        resume: false,
    };
    let folder = folder(settings, &inner, repetition)?;
    inner.resume = folder.join("localize.json").exists();
    inner.out = Some(folder);
    inner.check()?;
    let runner = inner.runners().runner().map_err(banditfuzz::PerfError::from)?;
    let found = localize::localize(&inner, runner, audience)?;
    Ok((found.inputs >= settings.inputs).then_some(found))
}

/// Where a run is kept. The name has a hash of everything that was told, the number of inputs included, so that runs with
/// other settings are not taken for this one.
fn folder(settings: &Settings, run: &localize::Settings, repetition: u64) -> Result<PathBuf, BenchError> {
    let malformed = |error: serde_json::Error| BenchError::Malformed {
        path: settings.out.clone(),
        reason: error.to_string(),
    };
    let told = serde_json::to_string(&(run.identity(), settings.inputs)).map_err(malformed)?;
    let hash = campaign::hash::name(told.as_bytes());
    let (logic, method) = (slug(&settings.parameters.logic), run.method.word());
    Ok(settings.out.join(format!("{logic}-{method}-{repetition}-{}", &hash[..8])))
}

/// The number of bugs after so many inputs.
fn bugs_at(found: &Localized, inputs: f64) -> f64 {
    found.curve.iter().take_while(|(when, _)| *when <= inputs).last().map_or(0.0, |(_, bugs)| *bugs)
}

/// Columns of the curves.
const STEPS: u64 = 8;

fn fill(report: &mut Report, settings: &Settings, all: &[Localized]) {
    report.summary.push(format!(
        "{} inputs per run, runs per method: {}; limit {} s. Different inputs on which solvers are wrong, mean over the \
         runs, after so many inputs.",
        settings.inputs,
        settings.repeat,
        settings.timeout.as_secs_f64()
    ));
    let steps: Vec<u64> = (1..=STEPS).map(|step| settings.inputs * step / STEPS).collect();
    let mut columns = vec!["method".to_owned()];
    columns.extend(steps.iter().map(ToString::to_string));
    columns.extend(["CPU s".to_owned(), "constructs".to_owned()]);
    let names: Vec<&str> = columns.iter().map(String::as_str).collect();
    let mut table = Table::new("Bugs over inputs", &names);
    for method in METHODS {
        let of: Vec<&Localized> = all.iter().filter(|found| found.method == method).collect();
        let mut row: Vec<Cell> = vec![method.word().into()];
        row.extend(
            steps.iter().map(|step| Cell::from(mean(of.iter().map(|found| bugs_at(found, *step as f64))))),
        );
        row.push(mean(of.iter().map(|found| found.cpu)).into());
        let mut learned = Learned::default();
        of.iter().for_each(|found| learned.merge(&found.learned));
        let best: Vec<String> =
            rewarded(&learned.ranking()).take(3).map(|one| one.construct.clone()).collect();
        row.push(best.join(", ").into());
        table.rows.push(row);
    }
    report.tables.push(table);
    let mut each = Table::detail("Every run", &["method", "inputs", "bugs", "kinds", "mutations", "failed"]);
    for found in all {
        let kinds: Vec<String> = found.kinds.iter().map(|(kind, count)| format!("{count} {kind}")).collect();
        each.row([
            found.method.word().into(),
            found.inputs.into(),
            found.bugs.into(),
            kinds.join(", ").into(),
            found.mutations.into(),
            Cell::percent(found.failed_mutations as f64, found.mutations as f64),
        ]);
    }
    report.tables.push(each);
}

fn plot(settings: &Settings, all: &[Localized]) -> Result<(), BenchError> {
    const POINTS: usize = 200;
    let lines = METHODS
        .into_iter()
        .map(|method| {
            let of = all.iter().filter(|found| found.method == method);
            let runs: Vec<Vec<(f64, f64)>> = of.map(|found| found.curve.clone()).collect();
            mean_curve(method.word(), &runs, settings.inputs as f64, POINTS)
        })
        .collect();
    let title = format!("Bugs over inputs, {}", settings.parameters.logic);
    let svg = Plot { title: &title, x: "inputs", y: "inputs with bugs", lines, top: None }.svg();
    let path = settings.out.join(format!("{}-bugs.svg", slug(&settings.parameters.logic)));
    std::fs::write(&path, svg).map_err(|source| BenchError::Write { path, source })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn runs_with_other_settings_are_kept_apart() {
        let settings = |timeout: u64, inputs: u64| Settings {
            solvers: ["z3@4.8.7", "z3@5.4.0"].map(testkit::made_up).to_vec(),
            parameters: Parameters::default(),
            agent: AgentName::Thompson,
            inputs,
            timeout: Duration::from_secs(timeout),
            memory: 1 << 30,
            repeat: 1,
            rng_seed: 0,
            jobs: 1,
            out: PathBuf::from("out"),
            command: String::new(),
        };
        let place = |timeout: u64, inputs: u64, agent: AgentName| {
            let settings = settings(timeout, inputs);
            let run = localize::Settings {
                solvers: settings.solvers.clone(),
                parameters: settings.parameters.clone(),
                method: Method::Bandit,
                agent,
                inputs,
                timeout: settings.timeout,
                memory: settings.memory,
                rng_seed: 0,
                seeds: Arc::from([]),
                known: Learned::default(),
                out: None,
                resume: false,
            };
            folder(&settings, &run, 0).expect("a name")
        };
        let own = place(1, 4000, AgentName::Thompson);
        assert_eq!(own, place(1, 4000, AgentName::Thompson));
        assert_ne!(own, place(2, 4000, AgentName::Thompson));
        assert_ne!(own, place(1, 2000, AgentName::Thompson));
        assert_ne!(own, place(1, 4000, AgentName::Ucb1));
    }
}
