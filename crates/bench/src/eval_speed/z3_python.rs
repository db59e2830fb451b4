//! The same work through Z3's Python interface.

use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use serde::{Deserialize, Serialize};
use solver::Home;

use super::Work;

/// What Z3 is to do again and again.
#[derive(Serialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Task {
    /// Evaluate these terms under the model of the declarations.
    Evaluate { declarations: String, terms: Vec<String> },
    /// Put each term in the place that its path leads to, and evaluate the result.
    Replace { declarations: String, root: String, paths: Vec<Vec<u32>>, terms: Vec<String> },
}

impl Task {
    pub fn evaluate(declarations: &str, terms: &[String]) -> Task {
        Task::Evaluate { declarations: declarations.to_owned(), terms: terms.to_vec() }
    }

    pub fn replace(declarations: &str, root: String, paths: Vec<Vec<u32>>, terms: Vec<String>) -> Task {
        Task::Replace { declarations: declarations.to_owned(), root, paths, terms }
    }
}

/// What it came to.
#[derive(Deserialize)]
pub(super) struct Theirs {
    pub version: String,
    /// Units per second, work by work.
    pub rates: Vec<f64>,
}

#[derive(Serialize)]
struct Job<'a> {
    seconds: f64,
    works: &'a [Work],
}

/// The release that the module is fetched in.
const PACKAGE: &str = "z3-solver==5.4.0.0";
const FOLDER: &str = "z3-solver-5.4.0";
const SCRIPT: &str = include_str!("z3_python.py");

/// Measures all of it, or says why that cannot be done here.
pub(super) fn measure(module: Option<&Path>, seconds: f64, works: &[Work]) -> Result<Theirs, String> {
    let folder = match module {
        Some(folder) => folder.to_owned(),
        None => fetched()?,
    };
    let job = serde_json::to_vec(&Job { seconds, works }).map_err(|error| error.to_string())?;
    let mut child = Command::new("python3")
        .args(["-B", "-c", SCRIPT])
        .arg(&folder)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .map_err(|error| format!("python3 cannot be started: {error}"))?;
    if let Some(mut input) = child.stdin.take() {
        // A program that ended before reading all of it says why on its standard error.
        let _ = input.write_all(&job);
    }
    let output = child.wait_with_output().map_err(|error| error.to_string())?;
    serde_json::from_slice(&output.stdout).map_err(|_| {
        let said = String::from_utf8_lossy(&output.stderr);
        let last = said.lines().last().unwrap_or("it printed nothing");
        format!("no module z3 that works in '{}': {last}", folder.display())
    })
}

/// The module in the user's data directory, put there by the user's own pip if need be.
fn fetched() -> Result<PathBuf, String> {
    let home = Home::of_user().map_err(|error| error.to_string())?;
    let folder = home.root().join("modules").join(FOLDER);
    if folder.join("z3").is_dir() {
        return Ok(folder);
    }
    let partial = home.root().join("modules").join(format!(".{FOLDER}-{}", std::process::id()));
    let pip = Command::new("python3")
        .args(["-m", "pip", "install", "--quiet", "--no-deps", "--only-binary=:all:", "--target"])
        .arg(&partial)
        .arg(PACKAGE)
        .stdin(Stdio::null())
        .output()
        .map_err(|error| format!("python3 cannot be started: {error}"))?;
    let placed = pip.status.success() && std::fs::rename(&partial, &folder).is_ok();
    let _ = std::fs::remove_dir_all(&partial);
    if placed || folder.join("z3").is_dir() {
        return Ok(folder);
    }
    let said = String::from_utf8_lossy(&pip.stderr);
    Err(format!("pip cannot install {PACKAGE}: {}", said.lines().last().unwrap_or("it does not say why")))
}
