//! `osprey eval`: what the assertions of a file are under a model.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context, Result, bail};
use clap::Args;
use eval::model_text::{ReadModel, read_model};
use eval::{Budget, Evaluator, Mode as EvaluationMode};
use oracle::Asking;
use oracle::frame::{Frame, frames};
use oracle::open_cases::{self, Found};
use oracle::subject::{FormulaValue, evaluate_one};
use serde::Serialize;
use smtlib::{Mode, Release, Store};
use solver::limits::Limits;
use solver::run::{Configuration, PartyId, Purpose, RunRules, Runner as _, SolverRunner};

use crate::exit::Exit;
use crate::{duration, inputs, output, solver_choice};

/// Evaluate each assertion of a file under a model
#[derive(Args)]
#[command(after_help = "\
Examples:
  osprey eval bug.smt2 --model model.txt        a model as solvers print it
  osprey eval bug.smt2 --solver z3@4.8.7        the model this solver gives
  osprey eval bug.smt2 --solver cvc5 --json

Evaluation is exact. Where SMT-LIB leaves a result open (division by zero and the like) and the model
does not fix it, a solver is asked with get-value what it is in its model. Without an answer, and with a
model from a file, an assertion is true if some choice makes all of them true, and unknown otherwise, with
the sub-term that is to blame.

Exit code 0 if all assertions are true, 10 if one is false, 11 if none is false but not all are decided.")]
pub struct Eval {
    /// The script
    #[arg(value_name = "FILE")]
    file: PathBuf,

    /// A file with the model; `-` for standard input
    #[arg(long, value_name = "MODEL", required_unless_present = "solver", conflicts_with = "solver")]
    model: Option<PathBuf>,

    /// Ask this solver for the model
    #[arg(long, value_name = "SPEC")]
    solver: Option<String>,

    /// Which check of the script the model is for, from 1; the last one unless given
    #[arg(long, value_name = "N")]
    check: Option<usize>,

    /// Time for the solver
    #[arg(long, value_name = "TIME", default_value = "10", value_parser = duration::parse)]
    timeout: Duration,

    /// Print JSON
    #[arg(long)]
    json: bool,
}

#[derive(Serialize)]
struct Report {
    file: PathBuf,
    assertions: Vec<AssertionValue>,
    /// Symbols that the model does not mention.
    left_out: Vec<String>,
    /// Open cases that the solver was asked about.
    asked: Vec<String>,
    /// What in the model's text was passed over.
    notes: Vec<String>,
    #[serde(rename = "true")]
    all_true: usize,
    #[serde(rename = "false")]
    all_false: usize,
    unknown: usize,
}

#[derive(Serialize)]
struct AssertionValue {
    value: &'static str,
    /// The sub-term that makes it false, why it is unknown, or what was chosen.
    #[serde(skip_serializing_if = "Option::is_none")]
    because: Option<String>,
}

impl Eval {
    pub fn run(self) -> Result<Exit> {
        let text = inputs::read(&self.file)?;
        let mut store = Store::new();
        let parsed = smtlib::parse(&mut store, &text, Mode::Tolerant).map_err(|error| {
            let place = smtlib::place(&text, error.offset);
            anyhow::anyhow!("{}:{}:{}: {}", self.file.display(), place.line, place.column, error.message)
        })?;
        let mut all = frames(&store, &parsed.script);
        if all.is_empty() {
            all.push(Frame { script: parsed.script.clone(), assumptions: Vec::new(), tactic: None });
        }
        let number = match self.check {
            None => all.len() - 1,
            Some(number) if (1..=all.len()).contains(&number) => number - 1,
            Some(number) => bail!("--check {number}: the script has {} checks", all.len()),
        };
        let frame = all.swap_remove(number);
        let (read, asked) = match (&self.model, &self.solver) {
            (Some(path), _) => (self.given(&mut store, &frame, path)?, Vec::new()),
            (None, Some(spec)) => {
                let found = self.asked(&mut store, &frame, &text, number, spec)?;
                (found.read, found.asked)
            }
            (None, None) => bail!("give --model or --solver"),
        };

        let mut evaluator = Evaluator::new(EvaluationMode::Given, Budget::default());
        let formulas = frame.formulas();
        let mut lines: Vec<AssertionValue> = formulas
            .iter()
            .map(|formula| {
                match evaluate_one(&store, &mut evaluator, &read.model, &read.defaulted, *formula) {
                    FormulaValue::True => AssertionValue { value: "true", because: None },
                    FormulaValue::False(part) => {
                        AssertionValue { value: "false", because: Some(store.term_text(part)) }
                    }
                    FormulaValue::Unknown(why) => AssertionValue { value: "unknown", because: Some(why) },
                }
            })
            .collect();
        // What the model leaves open is free: one choice that makes all assertions true is a model of the script.
        let open = |line: &AssertionValue| line.value == "unknown";
        if lines.iter().any(open) && !lines.iter().any(|line| line.value == "false") {
            let mut chooser = Evaluator::new(EvaluationMode::Choose, Budget::default());
            if formulas.iter().all(|formula| chooser.holds(&store, &read.model, *formula) == Ok(true)) {
                for line in lines.iter_mut().filter(|line| open(line)) {
                    line.value = "true";
                    let why = line.because.take().unwrap_or_default();
                    line.because = Some(format!("by a choice that the model leaves: {why}"));
                }
            }
        }
        let report = Report::new(
            self.file.clone(),
            lines,
            read.defaulted.iter().map(|fun| store.name(store.fun(*fun).name).to_string()).collect(),
            asked.iter().map(|term| store.term_text(*term)).collect(),
            read.notes.iter().map(|note| note.message.clone()).collect(),
        );
        if self.json {
            output::print_json(&report)?;
        } else {
            output::print(&report.shown())?;
        }
        Ok(match (report.all_false, report.unknown) {
            (0, 0) => Exit::Clean,
            (0, _) => Exit::Undecided,
            _ => Exit::Findings,
        })
    }

    /// The model of a file.
    fn given(&self, store: &mut Store, frame: &Frame, path: &Path) -> Result<ReadModel> {
        let text = match path.as_os_str() == "-" {
            true => inputs::standard_input()?,
            false => inputs::read(path).context("the model")?,
        };
        read_model(store, &frame.script, &text, Release::STANDARD).map_err(|error| {
            let place = smtlib::place(&text, error.offset());
            anyhow::anyhow!("the model, {}:{}: {error}", place.line, place.column)
        })
    }

    /// The model of a solver.
    fn asked(
        &self,
        store: &mut Store,
        frame: &Frame,
        script: &[u8],
        check: usize,
        spec: &String,
    ) -> Result<Found> {
        let solvers = solver_choice::all(&[])?;
        let Some(solver) = solver_choice::resolve(&solvers, std::slice::from_ref(spec))?.pop() else {
            bail!("'{spec}' names no solver")
        };
        let limits = Limits::wall(self.timeout);
        let plain = Configuration::new(PartyId(0), solver).for_models();
        let mut runner = SolverRunner::new(vec![plain.clone()], RunRules::with_limits(limits))?;
        let mut asking = Asking::new(&mut runner, Purpose::Question);
        let mut found = None;
        for configuration in [plain.clone(), plain.broadened()] {
            found = open_cases::model_of(store, frame, script, check, &Arc::new(configuration), &mut asking)?;
            if found.is_some() {
                break;
            }
        }
        for note in runner.take_notes() {
            output::say(&format!("note: {note}"));
        }
        match found {
            Some(found) => found.map_err(|error| anyhow::anyhow!("the model of {spec}: {error}")),
            None => bail!("{spec} gives no model for this script (`osprey check` shows what it says)"),
        }
    }
}

impl Report {
    fn new(
        file: PathBuf,
        assertions: Vec<AssertionValue>,
        left_out: Vec<String>,
        asked: Vec<String>,
        notes: Vec<String>,
    ) -> Report {
        let count = |wanted: &str| assertions.iter().filter(|line| line.value == wanted).count();
        let (all_true, all_false, unknown) = (count("true"), count("false"), count("unknown"));
        Report { file, assertions, left_out, asked, notes, all_true, all_false, unknown }
    }

    fn shown(&self) -> String {
        let mut text = String::new();
        for (number, line) in self.assertions.iter().enumerate() {
            let because = line.because.as_ref().map(|why| format!("  {why}")).unwrap_or_default();
            text += &format!("assertion {}: {}{because}\n", number + 1, line.value);
        }
        if !self.left_out.is_empty() {
            text += &format!("the model leaves out: {}\n", self.left_out.join(", "));
        }
        if !self.asked.is_empty() {
            text += &format!("asked about: {}\n", self.asked.join(", "));
        }
        for note in &self.notes {
            text += &format!("note: {note}\n");
        }
        text + &format!("{} true, {} false, {} unknown\n", self.all_true, self.all_false, self.unknown)
    }
}
