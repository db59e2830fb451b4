//! `osprey parse`: are these files well-sorted scripts?

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};

use anyhow::Result;
use clap::Args;
use indicatif::{ProgressBar, ProgressStyle};
use serde::Serialize;
use smtlib::{Mode, Release, Store};

use crate::exit::Exit;
use crate::{inputs, output};

/// Check that SMT-LIB files are well-sorted, and print them in canonical form
#[derive(Args)]
#[command(after_help = "\
Examples:
  osprey parse bug.smt2                 is the file well-sorted?
  osprey parse --print bug.smt2         write the canonical form to standard output
  osprey parse --strict benchmarks/     check a folder against the standard, without tolerance
  osprey parse --json benchmarks/       one JSON object a file, then a summary

Exit code 0 if all files parse, 2 otherwise.")]
pub struct Parse {
    /// Files, or folders that are walked for .smt2 files
    #[arg(required = true, value_name = "FILES|DIRS")]
    paths: Vec<PathBuf>,

    /// Write the canonical form of each file to standard output
    #[arg(long)]
    print: bool,

    /// Accept only what the standard (SMT-LIB 2.6/2.7) allows
    #[arg(long)]
    strict: bool,

    /// One JSON object per line for each file, then the summary
    #[arg(long)]
    json: bool,
}

#[derive(Serialize)]
struct FileReport {
    file: PathBuf,
    /// `well-sorted`, `opaque` or `error`.
    outcome: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    logic: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    smallest_logic: Option<String>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    opaque: Vec<Opaque>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    notes: Vec<Message>,
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<Message>,
    #[serde(skip_serializing_if = "Option::is_none")]
    printed: Option<String>,
    /// The error with its source line, for people.
    #[serde(skip)]
    excerpt: String,
}

#[derive(Serialize)]
struct Opaque {
    name: String,
    count: usize,
}

#[derive(Serialize)]
struct Message {
    line: usize,
    column: usize,
    message: String,
}

#[derive(Serialize, Default)]
struct Summary {
    files: usize,
    well_sorted: usize,
    with_opaque_parts: usize,
    errors: usize,
}

impl Parse {
    pub fn run(self) -> Result<Exit> {
        let inputs::Scripts { files, skipped } = inputs::scripts(&self.paths)?;
        for folder in &skipped {
            output::say(&format!("osprey: {folder}"));
        }
        let reports = self.parse_all(&files);
        let mut summary = Summary { files: files.len(), ..Summary::default() };
        for report in &reports {
            match report.outcome {
                "well-sorted" => summary.well_sorted += 1,
                "opaque" => summary.with_opaque_parts += 1,
                _ => summary.errors += 1,
            }
            if self.json {
                output::print_json_line(report)?;
            } else {
                self.show(report, files.len())?;
            }
        }
        if self.json {
            output::print_json_line(&serde_json::json!({ "summary": summary }))?;
        } else if files.len() > 1 {
            output::say(&format!(
                "{} files: {} well-sorted, {} with opaque parts, {} with errors",
                summary.files, summary.well_sorted, summary.with_opaque_parts, summary.errors
            ));
        }
        // What could not be looked at is not well-sorted either.
        Ok(if summary.errors == 0 && skipped.is_empty() { Exit::Clean } else { Exit::Usage })
    }

    /// Parses on all cores; the reports come in the order of the files.
    fn parse_all(&self, files: &[PathBuf]) -> Vec<FileReport> {
        let bar = progress_bar(files.len());
        let next = AtomicUsize::new(0);
        let done: Mutex<Vec<(usize, FileReport)>> = Mutex::new(Vec::with_capacity(files.len()));
        let workers = std::thread::available_parallelism().map_or(1, usize::from).min(files.len());
        std::thread::scope(|scope| {
            for _ in 0..workers {
                scope.spawn(|| {
                    let mut store = Store::new();
                    let clean = store.mark();
                    loop {
                        let i = next.fetch_add(1, Ordering::Relaxed);
                        let Some(file) = files.get(i) else { break };
                        let report = self.parse_one(&mut store, file);
                        store.reset(&clean);
                        done.lock().unwrap_or_else(PoisonError::into_inner).push((i, report));
                        bar.inc(1);
                    }
                });
            }
        });
        bar.finish_and_clear();
        let mut done = done.into_inner().unwrap_or_else(PoisonError::into_inner);
        done.sort_by_key(|(i, _)| *i);
        done.into_iter().map(|(_, report)| report).collect()
    }

    fn parse_one(&self, store: &mut Store, file: &Path) -> FileReport {
        let mut report = FileReport {
            file: file.to_owned(),
            outcome: "error",
            logic: None,
            smallest_logic: None,
            opaque: Vec::new(),
            notes: Vec::new(),
            error: None,
            printed: None,
            excerpt: String::new(),
        };
        let source = match inputs::read(file) {
            Ok(source) => source,
            Err(error) => {
                let message = error.to_string();
                report.error = Some(Message { line: 0, column: 0, message });
                return report;
            }
        };
        let located = |offset: usize, message: &str| {
            let place = smtlib::place(&source, offset);
            Message { line: place.line, column: place.column, message: message.to_owned() }
        };
        let mode = if self.strict { Mode::Strict } else { Mode::Tolerant };
        match smtlib::parse(store, &source, mode) {
            Err(error) => {
                report.excerpt = error.excerpt(&source);
                report.error = Some(located(error.offset, &error.message));
            }
            Ok(parsed) => {
                report.outcome = if parsed.opaque.is_empty() { "well-sorted" } else { "opaque" };
                report.logic = parsed.script.logic(store).map(str::to_owned);
                report.smallest_logic = Some(smtlib::logic::usage(store, &parsed.script).logic());
                report.notes = parsed.notes.iter().map(|note| located(note.offset, &note.message)).collect();
                report.opaque =
                    parsed.opaque.into_iter().map(|(name, count)| Opaque { name, count }).collect();
                if self.print {
                    report.printed = Some(smtlib::print::print(store, &parsed.script, Release::STANDARD));
                }
            }
        }
        report
    }

    fn show(&self, report: &FileReport, files: usize) -> Result<()> {
        let file = report.file.display();
        if let Some(error) = &report.error {
            if error.line == 0 {
                output::say(&format!("error: {}", error.message));
            } else {
                output::say(&format!(
                    "{file}:{}:{}: error: {}\n{}",
                    error.line, error.column, error.message, report.excerpt
                ));
            }
            return Ok(());
        }
        if let Some(printed) = &report.printed {
            return output::print_script(printed);
        }
        let opaque: Vec<String> =
            report.opaque.iter().map(|part| format!("{} ({})", part.name, part.count)).collect();
        match (opaque.is_empty(), files) {
            (true, 1) => {
                let logic = report.smallest_logic.as_deref().unwrap_or("ALL");
                output::print_line(&format!("{file}: well-sorted (fits {logic})"))?;
            }
            (true, _) => {}
            (false, _) => output::print_line(&format!("{file}: opaque parts: {}", opaque.join(", ")))?,
        }
        if files == 1 {
            for note in &report.notes {
                let (line, column) = (note.line, note.column);
                output::print_line(&format!("{file}:{line}:{column}: note: {}", note.message))?;
            }
        }
        Ok(())
    }
}

/// A bar on standard error if that is a terminal and there is enough to wait for.
fn progress_bar(files: usize) -> ProgressBar {
    if files < 100 {
        return ProgressBar::hidden();
    }
    let style = ProgressStyle::with_template("{bar:40} {pos}/{len} files, {per_sec}, {eta} left")
        .unwrap_or_else(|_| ProgressStyle::default_bar());
    ProgressBar::new(files as u64).with_style(style)
}
