//! `osprey localize`: the constructs that make solvers contradict each other, or that findings share.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::{Context as _, Result, bail};
use banditfuzz::learned::{AgentName, Learned, Ranked};
use banditfuzz::localize::{self, Localized, Settings, SharedConstruct};
use banditfuzz::plot::{Line, Plot};
use banditfuzz::report;
use banditfuzz::search::Method;
use banditfuzz::state;
use campaign::{Finding, findings};
use clap::Args;
use serde::Serialize;
use smtlib::Release;
use solver::run::Runners as _;

use super::constructs::{self, GeneratorArguments};
use super::perf::PerfView;
use crate::exit::Exit;
use crate::{duration, inputs, interrupt, limits, output, solver_choice};

/// Find out which constructs make solvers contradict each other, or which constructs findings share
#[derive(Args)]
#[command(after_help = "\
Examples:
  osprey localize -s z3@4.8.7 -s z3@5.4.0 --logic QF_FP --inputs 4000
  osprey localize -s z3@4.8.7 -s cvc5 --logic QF_SLIA --method random       for comparison
  osprey localize -s z3@4.8.7 -s cvc5 --state osprey-localize/state.json    with what was learned before
  osprey localize -s z3@4.8.7 -s cvc5 --logic QF_SLIA --resume               go on after Ctrl-C
  osprey localize --finding night/bugs                            what these findings share and other inputs do not have
  osprey localize --finding night/bugs/crash-z3-4.8.7-0123456789ab

Each round makes a new input; where solvers agree on it, a construct is put in. It is rewarded if solvers contradict each
other then. DIR holds the inputs with bugs as they come, state.json (this session's counts), ranking.csv, curve.csv,
results.json, report.html; with --finding results.json and shared.csv.

Exit code 0 if there was no bug, 10 if there were some, 2 if nothing can be compared.")]
pub struct Localize {
    /// A solver; at least two
    #[arg(short, long = "solver", value_name = "SPEC")]
    solvers: Vec<String>,

    /// A finding, or a folder of findings: which constructs do they share?
    #[arg(long, value_name = "DIR", conflicts_with = "solvers")]
    finding: Option<PathBuf>,

    /// Seeds to begin each round with; without any, inputs are generated
    #[arg(value_name = "SEEDS")]
    seeds: Vec<PathBuf>,

    #[command(flatten)]
    generator: GeneratorArguments,

    /// How constructs are chosen: bandit, mutational (all alike), random (none is put in)
    #[arg(long, value_name = "METHOD", default_value = "bandit")]
    method: Method,

    /// Who chooses constructs: thompson, thompson-uniform (the paper's prior), ucb1 or egreedy
    #[arg(long, value_name = "AGENT", default_value = "thompson")]
    agent: AgentName,

    /// Inputs that solvers are given; with --finding, other inputs to compare with
    #[arg(long, value_name = "N", default_value_t = 1000)]
    inputs: u64,

    /// Time of one run of a solver
    #[arg(long, value_name = "TIME", default_value = "1", value_parser = duration::parse)]
    timeout: Duration,

    /// Memory of one run of a solver, in megabytes
    #[arg(long, value_name = "MB", default_value_t = 4096, value_parser = limits::memory())]
    memory: u64,

    /// The seed of all random choices
    #[arg(long, value_name = "N", default_value_t = 0)]
    rng_seed: u64,

    /// What was learned before: a state.json; repeatable, counts add up
    #[arg(long, value_name = "FILE")]
    state: Vec<PathBuf>,

    /// The folder for results: osprey-localize unless given; with --finding nothing is written unless given
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,

    /// Go on with the session in DIR, with more inputs if --inputs says so
    #[arg(long, conflicts_with = "finding")]
    resume: bool,

    /// Print the results as JSON
    #[arg(long)]
    json: bool,
}

#[derive(Serialize)]
struct Results<'a> {
    solvers: Vec<String>,
    logic: &'a str,
    rng_seed: u64,
    #[serde(flatten)]
    found: &'a Localized,
    ranking: &'a [Ranked],
}

#[derive(Serialize)]
struct SharedResults {
    findings: usize,
    rest: usize,
    constructs: Vec<SharedConstruct>,
}

impl Localize {
    pub fn run(self) -> Result<Exit> {
        interrupt::catch();
        match &self.finding {
            Some(path) => self.shared(path),
            None => self.learn(),
        }
    }

    fn learn(&self) -> Result<Exit> {
        let out = self.out.clone().unwrap_or_else(|| PathBuf::from("osprey-localize"));
        let solvers = solver_choice::all(&[])?;
        let chosen = solver_choice::resolve(&solvers, &self.solvers)?;
        let seeds = constructs::seeds(&self.seeds, &chosen)?;
        let mut settings = Settings {
            solvers: chosen,
            parameters: self.generator.parameters(&seeds)?,
            method: self.method,
            agent: self.agent,
            inputs: self.inputs,
            timeout: self.timeout,
            memory: self.memory << 20,
            rng_seed: self.rng_seed,
            seeds,
            known: Learned::default(),
            out: Some(out.clone()),
            resume: self.resume,
        };
        settings.known = state::read(&self.state, &settings.about())?.constructs;
        settings.check()?;
        output::folder(&out)?;
        let view = PerfView::new(self.json);
        let runner = settings.runners().runner()?;
        let found = localize::localize(&settings, runner, &view)?;
        view.clear();
        let ranking = localize::ranking(&settings, &found);
        let results = Results {
            solvers: settings.solvers.iter().map(solver::Solver::name).collect(),
            logic: &settings.parameters.logic,
            rng_seed: self.rng_seed,
            found: &found,
            ranking: &ranking,
        };
        self.write(&out, &results)?;
        if self.json {
            output::print_json(&results)?;
        } else {
            let kinds: Vec<String> =
                found.kinds.iter().map(|(kind, count)| format!("{count} {kind}")).collect();
            output::print_line(&format!(
                "{} of {} inputs show a bug{}{}",
                found.bugs,
                found.inputs,
                if kinds.is_empty() { "" } else { ": " },
                kinds.join(", ")
            ))?;
            output::print(&report::ranking_text(&ranking))?;
            output::print_line(&format!("\n{}", out.join("report.html").display()))?;
        }
        Ok(if found.bugs == 0 { Exit::Clean } else { Exit::Findings })
    }

    fn write(&self, out: &Path, results: &Results<'_>) -> Result<()> {
        let Results { found, ranking, .. } = results;
        let lines = vec![Line { name: self.method.word().to_owned(), points: found.curve.clone() }];
        let svg =
            Plot { title: "Bugs over inputs", x: "inputs", y: "inputs with bugs", lines, top: None }.svg();
        output::file(&out.join("curve.svg"), &svg)?;
        let mut csv = String::from("inputs,bugs\n");
        for (inputs, bugs) in &found.curve {
            csv += &format!("{inputs},{bugs}\n");
        }
        output::file(&out.join("curve.csv"), &csv)?;
        let json = serde_json::to_string_pretty(results)?;
        output::file(&out.join("results.json"), &(json + "\n"))?;
        output::file(&out.join("ranking.csv"), &report::ranking_csv(ranking))?;
        let body = format!("{svg}\n{}", report::ranking_html(ranking));
        output::file(&out.join("report.html"), &report::html("Which constructs make solvers wrong", &body))?;
        Ok(())
    }

    fn shared(&self, path: &Path) -> Result<Exit> {
        let folders = match path.join("finding.json").is_file() || path.is_file() {
            true => vec![path.to_owned()],
            false => {
                // A campaign's folder stands for the findings in it.
                let bugs = path.join("bugs");
                let place = if bugs.is_dir() { bugs } else { path.to_owned() };
                findings::finished(&place).with_context(|| format!("'{}' cannot be read", place.display()))?
            }
        };
        let mut texts = Vec::new();
        let mut logics = BTreeSet::new();
        let mut releases: Vec<Release> = Vec::new();
        for folder in &folders {
            let (finding, folder) = match Finding::read(folder) {
                Ok(found) => found,
                Err(error) if folders.len() > 1 => {
                    output::say(&format!("osprey: left out: {error}"));
                    continue;
                }
                Err(error) => return Err(error.into()),
            };
            texts.push(inputs::read_text(&folder.join(finding.script_name()))?);
            logics.insert(finding.provenance.logic.clone());
            for run in &finding.runs {
                let release = release_of(run);
                if !releases.contains(&release) {
                    releases.push(release);
                }
            }
        }
        if texts.is_empty() {
            bail!("'{}' holds no finding", path.display());
        }
        let mut rest = Vec::new();
        for logic in &logics {
            let mut parameters = self.generator.parameters(&[])?;
            parameters.logic.clone_from(logic);
            let share = self.inputs.div_ceil(logics.len() as u64);
            match localize::background(&parameters, &releases, share, self.rng_seed) {
                Ok(inputs) => rest.extend(inputs),
                Err(error) => output::say(&format!("osprey: no other inputs of {logic}: {error}")),
            }
        }
        let constructs = localize::shared(&texts, &rest, self.generator.parameters(&[])?.arms);
        let results = SharedResults { findings: texts.len(), rest: rest.len(), constructs };
        if let Some(out) = &self.out {
            output::folder(out)?;
            let json = serde_json::to_string_pretty(&results)?;
            output::file(&out.join("results.json"), &(json + "\n"))?;
            output::file(&out.join("shared.csv"), &shared_csv(&results.constructs))?;
        }
        if self.json {
            output::print_json(&results)?;
        } else {
            output::print(&shared_text(&results))?;
        }
        Ok(Exit::Findings)
    }
}

/// Constructs that are shown.
const SHOWN: usize = 15;

fn shared_text(results: &SharedResults) -> String {
    let mut out = format!(
        "{} findings beside {} other inputs\n\n{:<34}{:>12}{:>18}{:>12}{:>10}\n",
        results.findings, results.rest, "construct", "findings", "95 % interval", "others", "times"
    );
    for one in results.constructs.iter().take(SHOWN) {
        let interval = format!("{:.2} .. {:.2}", one.low, one.high);
        let findings = format!("{} of {}", one.findings, one.of);
        let share = format!("{:.1} %", 100.0 * one.rest as f64 / (one.of_rest.max(1)) as f64);
        out += &format!("{:<34}{findings:>12}{interval:>18}{share:>12}{:>10.1}\n", one.construct, one.lift);
    }
    out
}

fn shared_csv(constructs: &[SharedConstruct]) -> String {
    let mut out = String::from("construct,findings,of,rest,of rest,lift,low,high\n");
    for one in constructs {
        let name = one.construct.replace('"', "\"\"");
        let SharedConstruct { findings, of, rest, of_rest, lift, low, high, .. } = one;
        out += &format!("\"{name}\",{findings},{of},{rest},{of_rest},{lift:.3},{low:.4},{high:.4}\n");
    }
    out
}

/// The release of a finding's run, as far as its name tells.
fn release_of(run: &findings::RunRecord) -> Release {
    let family = run.solver.split_once('@').map_or(run.solver.as_str(), |(name, _)| name);
    let version = run.version.parse().unwrap_or(smtlib::Version::LATEST);
    family.parse().map_or(Release::STANDARD, |family| Release::new(family, version))
}
