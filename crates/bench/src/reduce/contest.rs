//! One tool on one input: on one core, with a limit of CPU time, and what it left judged by the predicate script.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use eval::model_text::read_model;
use oracle::frame::frames;
use reduce::Size;
use smtlib::{Mode, Release, Status, Store};
use solver::limits::Limits;
use solver::quoted;
use solver::run::{Configuration, PartyId, Purpose, RunRules, Runner as _, SolverRunner};

use super::Settings;
use super::input::{Trial, holds};
use crate::error::BenchError;
use crate::race::process;

/// What a tool made of an input.
pub struct Attempt {
    /// What it left is interesting and smaller.
    pub success: bool,
    /// It ended by itself.
    pub finished: bool,
    /// Of what it left, or of the input.
    pub size: Size,
    pub cpu: Duration,
}

/// Osprey with the bug's identity and witness instead of a script.
pub struct Native {
    pub attempt: Attempt,
    /// The result came with a model that satisfies it.
    pub witness: bool,
    /// Another solver says `sat` to the result with the model put in; nothing if it does not answer.
    pub confirmed: Option<bool>,
}

/// What a program says its release is.
pub fn version(program: &Path) -> String {
    let said = Command::new(program).arg("--version").output();
    let said = said.map(|out| String::from_utf8_lossy(&out.stdout).trim().to_owned()).unwrap_or_default();
    if said.to_lowercase().contains("ddsmt") { said } else { format!("ddSMT {said}") }
}

/// Osprey with the predicate script.
pub fn osprey(settings: &Settings, trial: &Trial) -> Result<Attempt, BenchError> {
    let out = trial.file.with_file_name("osprey.smt2");
    let words = [
        word(&settings.osprey),
        "reduce".into(),
        word(&trial.file),
        "-o".into(),
        word(&out),
        "--jobs 1 --json --".into(),
        word(&trial.predicate),
    ];
    attempt(settings, trial, &words.join(" "), &out)
}

/// ddSMT with the predicate script.
pub fn ddsmt(settings: &Settings, program: &Path, trial: &Trial) -> Result<Attempt, BenchError> {
    let out = trial.file.with_file_name("ddsmt.smt2");
    let words = [word(program), "--jobs 1 -q".into(), word(&trial.file), word(&out), word(&trial.predicate)];
    attempt(settings, trial, &words.join(" "), &out)
}

/// Osprey with solvers instead of a script, for wrong refutations.
pub fn native(settings: &Settings, trial: &Trial) -> Result<Option<Native>, BenchError> {
    if trial.kind != oracle::Kind::RefutationSoundness.word() {
        return Ok(None);
    }
    let out = trial.file.with_file_name("native.smt2");
    let model = trial.file.with_file_name("native-witness.smt2");
    let _ = std::fs::remove_file(&model);
    let accused = [std::slice::from_ref(&trial.solver), trial.options.as_slice()].concat().join(" ");
    let words = [
        word(&settings.osprey),
        "reduce".into(),
        word(&trial.file),
        "-o".into(),
        word(&out),
        "--witness".into(),
        word(&model),
        "--jobs 1 --json -s".into(),
        quoted(&accused),
        "-s".into(),
        quoted(&settings.reference.name()),
    ];
    let attempt = attempt(settings, trial, &words.join(" "), &out)?;
    let witness = model.exists();
    let confirmed = if witness { confirmed(settings, &out, &model)? } else { None };
    Ok(Some(Native { attempt, witness, confirmed }))
}

fn word(path: &Path) -> String {
    quoted(&path.to_string_lossy())
}

fn attempt(settings: &Settings, trial: &Trial, command: &str, out: &PathBuf) -> Result<Attempt, BenchError> {
    let failed = |source| BenchError::Write { path: out.clone(), source };
    if out.exists() {
        std::fs::remove_file(out).map_err(failed)?;
    }
    let folder = trial.file.parent().unwrap_or(Path::new("."));
    let log = out.with_extension("log");
    let course =
        process::run(command, folder, &log, settings.core, settings.budget, &|| false).map_err(failed)?;
    let left = std::fs::read(out).ok();
    let size = left.as_deref().map(Size::of).filter(|size| *size <= trial.size);
    let success = size.is_some() && holds(&trial.predicate, out)?;
    let size = size.filter(|_| success).unwrap_or(trial.size);
    Ok(Attempt { success, finished: !course.used_up, size, cpu: course.cpu.all })
}

/// What the second solver says to the script with the model put in.
fn confirmed(settings: &Settings, script: &Path, model: &Path) -> Result<Option<bool>, BenchError> {
    let read = |path: &Path| {
        std::fs::read(path).map_err(|source| BenchError::Read { path: path.to_owned(), source })
    };
    let (text, model) = (read(script)?, read(model)?);
    let mut store = Store::new();
    let Ok(parsed) = smtlib::parse(&mut store, &text, Mode::Tolerant) else { return Ok(None) };
    let Ok(values) = read_model(&mut store, &parsed.script, &model, Release::STANDARD) else {
        return Ok(None);
    };
    let Some(frame) = frames(&store, &parsed.script).into_iter().next() else { return Ok(None) };
    let second = &settings.second;
    let ground = oracle::ground::ground(&mut store, &frame, &values.model, &[], second.release());
    let failed = |source| BenchError::Run { solver: second.name(), source };
    let party = Configuration::new(PartyId(0), second.clone()).broadened();
    let rules = RunRules::with_limits(Limits::wall(Duration::from_secs(20)));
    let mut runner = SolverRunner::new(vec![party], rules).map_err(failed)?;
    let runs = runner.run_all(ground.text.as_bytes(), Purpose::Confirmation).map_err(failed)?;
    Ok(runs.first().and_then(|run| run.status(0)).map(|status| status == Status::Sat))
}
