//! `osprey check`: one file through all given solvers and all oracles.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use anyhow::{Result, bail};
use clap::{Args, ValueEnum};
use eval::Expectation;
use oracle::opinions::first_runs;
use oracle::subject::ModelValue;
use oracle::{Asking, Judge, Kind, Repeat, Standing, Subject, Verdict};
use serde::Serialize;
use smtlib::{Mode, Parsed, Status, Store};
use solver::Answer;
use solver::crash::CrashReport;
use solver::limits::Limits;
use solver::run::{Configuration, PartyId, Purpose, Run, RunRules, Runner as _, SolverRunners};

use crate::exit::Exit;
use crate::{duration, inputs, limits, output, solver_choice};

/// Run one file through solvers, compare their answers and check their models
#[derive(Args)]
#[command(after_help = "\
Examples:
  osprey check bug.smt2                                  the newest z3 and cvc5 on this machine
  osprey check bug.smt2 -s z3@4.8.7 -s cvc5@1.4.2
  osprey check bug.smt2 -s \"z3@4.8.7 smt.arith.solver=2\" -s z3@5.4.0
  osprey check bug.smt2 -s ./build/z3 --reference z3@5.4.0
  osprey check bug.smt2 -s ./build/z3 --expect unsat
  osprey check bug.smt2 -s z3 -s cvc5 --json

The file's own text is run. Where a solver says sat, it is asked for its model too, and osprey evaluates
every assertion under it. A solver given without options that refuses the file is tried again with its
experimental theories and incremental solving switched on. Where solvers contradict each other and osprey's
evaluator cannot tell who is right, up to two installed solvers of other families are asked for a third
opinion. A release is never accused because another one of its own family contradicts it.

Exit code 0 if nothing is wrong, 10 if a solver misbehaves, 4 if a solver cannot be run.")]
pub struct Check {
    /// The file
    #[arg(value_name = "FILE")]
    file: PathBuf,

    /// A solver: a path, a name on PATH, or name@release; options may follow after a space
    #[arg(short, long = "solver", value_name = "SPEC")]
    solvers: Vec<String>,

    /// A solver to compare with, which is not under test
    #[arg(long = "reference", value_name = "SPEC")]
    references: Vec<String>,

    /// The right answer to every check, if it is known; `status` takes it from the file's (set-info :status ...)
    #[arg(long, value_name = "ANSWER")]
    expect: Option<Expect>,

    /// Time for each run
    #[arg(long, value_name = "TIME", default_value = "10", value_parser = duration::parse)]
    timeout: Duration,

    /// Megabytes of memory for each run
    #[arg(long, value_name = "MB", default_value_t = 4096, value_parser = limits::memory())]
    memory: u64,

    /// Report runs that are far slower than the others
    #[arg(long)]
    performance: bool,

    /// A further adapter file
    #[arg(long = "adapter", value_name = "FILE")]
    adapters: Vec<PathBuf>,

    /// Print JSON
    #[arg(long)]
    json: bool,
}

#[derive(Clone, Copy, ValueEnum)]
enum Expect {
    Sat,
    Unsat,
    Status,
}

#[derive(Serialize)]
struct Report {
    file: PathBuf,
    /// Why models could not be checked, if the file cannot be read by us.
    #[serde(skip_serializing_if = "Option::is_none")]
    unreadable: Option<String>,
    runs: Vec<RunReport>,
    verdicts: Vec<Verdict>,
    findings: usize,
}

impl Report {
    /// Has anybody given an answer?
    fn is_answered(&self) -> bool {
        self.runs.iter().any(|run| !run.checks.is_empty())
    }
}

/// Why a solver was asked.
#[derive(Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
enum Role {
    UnderTest,
    Reference,
    /// Nobody named it: the others contradict each other.
    ThirdOpinion,
}

impl Role {
    /// Those under test come first, then the references, then who was asked beside them.
    fn of(place: usize, tested: usize, named: usize) -> Role {
        match place {
            place if place < tested => Role::UnderTest,
            place if place < named => Role::Reference,
            _ => Role::ThirdOpinion,
        }
    }

    fn remark(self) -> &'static str {
        match self {
            Role::UnderTest => "",
            Role::Reference => " (reference)",
            Role::ThirdOpinion => " (third opinion)",
        }
    }
}

#[derive(Serialize)]
struct RunReport {
    /// The number by which verdicts name it.
    party: PartyId,
    role: Role,
    solver: String,
    options: Vec<String>,
    command: String,
    class: String,
    checks: Vec<CheckReport>,
    /// The first thing it complained about.
    #[serde(skip_serializing_if = "Option::is_none")]
    said: Option<String>,
    /// Where it crashed.
    #[serde(skip_serializing_if = "Option::is_none")]
    crash: Option<CrashReport>,
    cpu_seconds: f64,
}

#[derive(Serialize)]
struct CheckReport {
    check: usize,
    answer: String,
    /// The model by our evaluation: true, false, or why it is undecided.
    #[serde(skip_serializing_if = "Option::is_none")]
    model: Option<String>,
}

impl Check {
    pub fn run(self) -> Result<Exit> {
        let text = inputs::read(&self.file)?;
        let all = solver_choice::all(&self.adapters)?;
        let mut solvers = if self.solvers.is_empty() {
            solver_choice::default_pair(&all)?
        } else {
            solver_choice::resolve(&all, &self.solvers)?
        };
        let tested = solvers.len();
        solvers.extend(solver_choice::resolve(&all, &self.references)?);
        let named = solvers.len();
        let limits = Limits { memory: Some(self.memory << 20), ..Limits::wall(self.timeout) };
        let rules = RunRules::with_limits(limits);
        let everybody = Configuration::numbered(solvers).into_iter().map(Arc::new).collect();
        let runners = SolverRunners::new(everybody, rules).with_third_opinions(all.newest_of_each_line());
        let mut runner = runners.start()?;
        let mut runs = first_runs(&mut runner, &text)?;

        let mut store = Store::new();
        let (parsed, unreadable) = match smtlib::parse(&mut store, &text, Mode::Tolerant) {
            Ok(parsed) => (Some(parsed), None),
            Err(error) => {
                let place = smtlib::place(&text, error.offset);
                (None, Some(format!("{}:{}: {}", place.line, place.column, error.message)))
            }
        };
        let expectation = self.expectation(&store, parsed.as_ref())?;
        let script = parsed.as_ref().map(|parsed| &parsed.script);
        let notes = parsed.as_ref().map(|parsed| parsed.notes.as_slice()).unwrap_or_default();
        let mut subject = Subject::new(&mut store, script, notes);
        subject.expectation = expectation;
        subject.ask_for_models = true;
        let mut judge = Judge::thorough();
        if self.performance {
            judge = judge.with(oracle::performance::Performance::default());
        }
        let mut asking = Asking::new(&mut runner, Purpose::FollowUp);
        judge.follow_up(&mut subject, &mut runs, &mut asking)?;
        let verdicts = judge.try_case(&mut subject, &runs, &mut asking)?;
        let report = Report {
            file: self.file.clone(),
            unreadable,
            runs: run_reports(&mut subject, &runs, &|place| Role::of(place, tested, named), &mut asking)?,
            findings: verdicts.iter().filter(|verdict| verdict.is_finding()).count(),
            verdicts,
        };
        for note in runner.take_notes() {
            output::say(&format!("note: {note}"));
        }
        if self.json {
            output::print_json(&report)?;
        } else {
            output::print(&shown(&report))?;
        }
        Ok(match report.findings {
            0 if report.unreadable.is_some() && !report.is_answered() => Exit::Usage,
            0 => Exit::Clean,
            _ => Exit::Findings,
        })
    }

    fn expectation(&self, store: &Store, parsed: Option<&Parsed>) -> Result<Expectation> {
        let (answer, by) = match self.expect {
            None => return Ok(Expectation::Agree),
            Some(Expect::Sat) => (Status::Sat, "--expect says so".to_string()),
            Some(Expect::Unsat) => (Status::Unsat, "--expect says so".to_string()),
            Some(Expect::Status) => match parsed.and_then(|parsed| parsed.script.status(store)) {
                Some(status @ (Status::Sat | Status::Unsat)) => (status, "the file's :status says so".into()),
                _ => bail!("'{}' has no (set-info :status sat) or unsat", self.file.display()),
            },
        };
        Ok(Expectation::Claimed { answer, by })
    }
}

fn run_reports(
    subject: &mut Subject,
    runs: &[Run],
    role: &dyn Fn(usize) -> Role,
    asking: &mut Asking,
) -> Result<Vec<RunReport>> {
    subject.forget();
    let mut reports = Vec::new();
    for (place, run) in runs.iter().enumerate() {
        let mut checks = Vec::new();
        for answer in &run.answers.checks {
            let model = if run.status(answer.check) == Some(Status::Sat) {
                subject.model_check(run, answer.check, true, asking)?.map(|found| match &found.value {
                    ModelValue::True => "true".to_string(),
                    ModelValue::False(..) => "false".to_string(),
                    ModelValue::Unknown(why) => format!("undecided: {why}"),
                })
            } else {
                None
            };
            let word = match &answer.answer {
                Answer::Unknown(Some(why)) => format!("unknown ({why})"),
                other => other.word().to_string(),
            };
            let word = if answer.tainted { format!("{word} (after an error)") } else { word };
            checks.push(CheckReport { check: answer.check, answer: word, model });
        }
        let complaint = run.answers.failed_checks.first().map(|failed| failed.message.clone());
        let said = complaint.or_else(|| run.answers.errors.first().map(|error| error.message.clone()));
        reports.push(RunReport {
            party: run.party(),
            role: role(place),
            solver: run.configuration.solver.name(),
            options: run.configuration.options(),
            command: run.configuration.command_line("FILE", Some(&run.script)),
            class: run.answers.class.word().to_string(),
            checks,
            said,
            crash: run.answers.crash().cloned(),
            cpu_seconds: run.outcome.cpu_time.as_secs_f64(),
        });
    }
    Ok(reports)
}

fn shown(report: &Report) -> String {
    let mut text = String::new();
    if let Some(error) = &report.unreadable {
        text += &format!(
            "note: {}:{error}\n      osprey cannot read the file, so models are not checked\n",
            report.file.display()
        );
    }
    let names: Vec<String> = report
        .runs
        .iter()
        .map(|run| {
            let words = [std::slice::from_ref(&run.solver), run.options.as_slice()].concat();
            words.join(" ") + run.role.remark()
        })
        .collect();
    let width = names.iter().map(|name| name.chars().count()).max().unwrap_or(0);
    for (run, name) in report.runs.iter().zip(&names) {
        text += &format!("{name:<width$}  {}\n", answers(run));
    }
    text.push('\n');
    if report.verdicts.is_empty() {
        text += if report.is_answered() { "nothing wrong\n" } else { "nothing was answered\n" };
    }
    for verdict in &report.verdicts {
        text += &described(verdict, &report.file);
        if verdict.kind == Kind::Crash {
            let accused = report.runs.iter().find(|run| Some(run.party) == verdict.accused);
            text += &accused.and_then(|run| run.crash.as_ref()).map(stack).unwrap_or_default();
        }
    }
    text
}

/// A run's answers in a line; a long row of equal ones is counted.
fn answers(run: &RunReport) -> String {
    let mut words: Vec<(String, usize)> = Vec::new();
    for check in &run.checks {
        let word = match &check.model {
            Some(model) => format!("{} (model: {})", check.answer, beginning(model)),
            None => check.answer.clone(),
        };
        match words.last_mut() {
            Some((last, count)) if *last == word => *count += 1,
            _ => words.push((word, 1)),
        }
    }
    let mut parts: Vec<String> = words
        .into_iter()
        .map(|(word, count)| if count == 1 { word } else { format!("{count} x {word}") })
        .collect();
    if run.class != "answered" {
        parts.push(match &run.said {
            Some(said) => format!("{}: {}", run.class, said.lines().next().unwrap_or_default()),
            None => run.class.clone(),
        });
    }
    parts.join(", ")
}

/// Terms can be long; JSON has all of it.
fn beginning(text: &str) -> String {
    const SHOWN: usize = 100;
    let mut shown: String = text.chars().take(SHOWN).collect();
    if shown.len() < text.len() {
        shown += " ...";
    }
    shown
}

/// The functions on the stack of a crash.
fn stack(crash: &CrashReport) -> String {
    let mut text = match (crash.frames.is_empty(), crash.overflow) {
        (true, _) => return String::new(),
        (false, true) => {
            "  the stack had no room left; these functions call each other without end:\n".to_owned()
        }
        (false, false) => "  the stack, innermost first:\n".to_owned(),
    };
    for function in &crash.frames {
        text += &format!("    {function}\n");
    }
    text
}

fn described(verdict: &Verdict, file: &Path) -> String {
    let who = if verdict.solver.is_empty() { String::new() } else { format!(" in {}", verdict.solver) };
    let place = match verdict.check {
        Some(check) if check > 0 => format!(" at check {} of {}", check + 1, file.display()),
        _ => String::new(),
    };
    let standing = match (&verdict.standing, verdict.repeat) {
        (Standing::ByDesign(why), _) => format!("no bug, by design: {why}"),
        (Standing::Unproven(why), _) => {
            return format!(
                "nothing is proven{place}: {why}\n  but for that it would be {}{who}: {}\n",
                verdict.kind, verdict.reason
            );
        }
        (Standing::Stands, Repeat::Untried) => "not confirmed".into(),
        (Standing::Stands, Repeat::Confirmed { runs: 1 }) => "confirmed by one fresh run".into(),
        (Standing::Stands, Repeat::Confirmed { runs }) => format!("confirmed by {runs} fresh runs"),
        (Standing::Stands, Repeat::Flaky { seen, runs }) => {
            format!("flaky: seen again in {seen} of {runs} fresh runs")
        }
    };
    let mut text = format!("{}{who}{place}\n  {}\n", verdict.kind, verdict.reason);
    for evidence in &verdict.evidence {
        text += &format!("  {evidence}\n");
    }
    text + &format!("  {standing}\n")
}
