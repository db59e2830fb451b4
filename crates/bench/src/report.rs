//! Results of a benchmark: what was measured, where, with what, and what was left out.
//!
//! A report is written as JSON, so that a page can be made of many and a later run compared with an earlier one, and
//! shown as Markdown. A benchmark that ends early keeps what it has and says so.

use std::path::Path;
use std::time::{Duration, Instant};

use serde::{Deserialize, Serialize};

use crate::error::BenchError;
use crate::machine::{self, Machine};

/// One benchmark's results.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Report {
    /// The name on the command line: `museum`.
    pub name: String,
    /// The heading on the page.
    pub title: String,
    /// What repeats it.
    pub command: String,
    /// The day, as `2026-11-15`.
    pub date: String,
    pub machine: Machine,
    /// Osprey's own release and build.
    pub osprey: String,
    /// Solvers, peers and other programs that took part, with their releases.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub versions: Vec<String>,
    /// Where random choices start.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rng_seed: Option<u64>,
    /// Wall-clock time of the whole benchmark.
    #[serde(default)]
    pub seconds: f64,
    /// Why it ended before its time, if it did.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub partial: Option<String>,
    /// Paragraphs before the tables: what is measured, and what came of it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub summary: Vec<String>,
    pub tables: Vec<Table>,
    /// What a reader must know to judge the figures.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<String>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub skipped: Vec<Skipped>,
}

/// Something that was to be measured and was not.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Skipped {
    pub what: String,
    pub why: String,
}

/// Rows under a heading.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Table {
    pub title: String,
    pub columns: Vec<String>,
    pub rows: Vec<Vec<Cell>>,
    /// Long lists of single results belong into the JSON; the page leaves them out.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub detail: bool,
}

/// One figure or word of a table.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Cell {
    Count(u64),
    Number(f64),
    Text(String),
    /// How many of how many.
    Of {
        of: (u64, u64),
    },
    /// One thing divided by another.
    Ratio {
        ratio: f64,
    },
    /// Not measured, or without meaning here.
    None,
}

impl Cell {
    pub fn of(part: u64, whole: u64) -> Cell {
        Cell::Of { of: (part, whole) }
    }

    /// One thing divided by another; nothing when the other is zero.
    pub fn ratio(ours: f64, theirs: f64) -> Cell {
        if theirs > 0.0 { Cell::Ratio { ratio: ours / theirs } } else { Cell::None }
    }

    /// A share of a whole in per cent.
    pub fn percent(part: f64, whole: f64) -> Cell {
        if whole > 0.0 { Cell::Text(format!("{:.1} %", 100.0 * part / whole)) } else { Cell::None }
    }
}

impl From<&str> for Cell {
    fn from(text: &str) -> Cell {
        Cell::Text(text.to_owned())
    }
}

impl From<String> for Cell {
    fn from(text: String) -> Cell {
        Cell::Text(text)
    }
}

impl From<u64> for Cell {
    fn from(count: u64) -> Cell {
        Cell::Count(count)
    }
}

impl From<usize> for Cell {
    fn from(count: usize) -> Cell {
        Cell::Count(count as u64)
    }
}

impl From<f64> for Cell {
    fn from(number: f64) -> Cell {
        if number.is_finite() { Cell::Number(number) } else { Cell::None }
    }
}

impl<T: Into<Cell>> From<Option<T>> for Cell {
    fn from(value: Option<T>) -> Cell {
        value.map_or(Cell::None, Into::into)
    }
}

impl Table {
    pub fn new(title: &str, columns: &[&str]) -> Table {
        Table {
            title: title.to_owned(),
            columns: columns.iter().map(|&column| column.to_owned()).collect(),
            ..Table::default()
        }
    }

    /// A table that the page leaves out.
    pub fn detail(title: &str, columns: &[&str]) -> Table {
        Table { detail: true, ..Table::new(title, columns) }
    }

    pub fn row<const N: usize>(&mut self, cells: [Cell; N]) {
        self.rows.push(cells.into());
    }
}

/// A report in the making: knows when it began.
#[derive(Debug)]
pub struct Draft {
    began: Instant,
    report: Report,
}

impl Draft {
    /// Begins the report of the benchmark `name`, started with `command`.
    pub fn new(name: &str, title: &str, command: &str) -> Draft {
        let report = Report {
            name: name.to_owned(),
            title: title.to_owned(),
            command: command.to_owned(),
            date: machine::today(),
            machine: Machine::here(),
            osprey: machine::own_release(),
            versions: Vec::new(),
            rng_seed: None,
            seconds: 0.0,
            partial: None,
            summary: Vec::new(),
            tables: Vec::new(),
            notes: Vec::new(),
            skipped: Vec::new(),
        };
        Draft { began: Instant::now(), report }
    }

    pub fn elapsed(&self) -> Duration {
        self.began.elapsed()
    }

    /// The report as it stands, with the time it took.
    pub fn finish(mut self) -> Report {
        self.report.seconds = (self.began.elapsed().as_secs_f64() * 10.0).round() / 10.0;
        self.report
    }
}

impl std::ops::Deref for Draft {
    type Target = Report;

    fn deref(&self) -> &Report {
        &self.report
    }
}

impl std::ops::DerefMut for Draft {
    fn deref_mut(&mut self) -> &mut Report {
        &mut self.report
    }
}

impl Report {
    /// Says that something was not measured.
    pub fn skip(&mut self, what: impl Into<String>, why: impl Into<String>) {
        self.skipped.push(Skipped { what: what.into(), why: why.into() });
    }

    /// The table with this title.
    pub fn table(&self, title: &str) -> Option<&Table> {
        self.tables.iter().find(|table| table.title == title)
    }

    pub fn read(path: &Path) -> Result<Report, BenchError> {
        let text = std::fs::read_to_string(path)
            .map_err(|source| BenchError::Read { path: path.to_owned(), source })?;
        serde_json::from_str(&text)
            .map_err(|error| BenchError::Malformed { path: path.to_owned(), reason: error.to_string() })
    }

    /// Writes it as JSON: complete under its name or not at all.
    pub fn write(&self, path: &Path) -> Result<(), BenchError> {
        let failed = |source| BenchError::Write { path: path.to_owned(), source };
        let text = serde_json::to_string_pretty(self)
            .map_err(|error| BenchError::Malformed { path: path.to_owned(), reason: error.to_string() })?;
        if let Some(folder) = path.parent().filter(|folder| !folder.as_os_str().is_empty()) {
            std::fs::create_dir_all(folder).map_err(failed)?;
        }
        let mut beside = path.as_os_str().to_owned();
        beside.push(".part");
        std::fs::write(&beside, text + "\n").map_err(failed)?;
        std::fs::rename(&beside, path).map_err(failed)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_report_is_the_same_after_writing_and_reading() {
        let mut draft = Draft::new("sample", "A sample", "osprey bench sample");
        let mut table = Table::new("figures", &["what", "figure", "of", "ratio", "none"]);
        table.row(["a".into(), 7_u64.into(), Cell::of(3, 4), Cell::ratio(3.0, 2.0), Cell::None]);
        table.row(["b".into(), 0.25.into(), Cell::of(0, 0), Cell::ratio(1.0, 0.0), "word".into()]);
        draft.tables.push(table);
        draft.skip("item", "its solver cannot be had");
        let report = draft.finish();
        let folder = tempfile::tempdir().expect("a scratch folder");
        let path = folder.path().join("deep/sample.json");
        report.write(&path).expect("writing");
        assert_eq!(Report::read(&path).expect("reading"), report);
    }

    #[test]
    fn a_file_that_is_no_report_is_named_in_the_error() {
        let folder = tempfile::tempdir().expect("a scratch folder");
        let path = folder.path().join("bad.json");
        std::fs::write(&path, "{\"name\": 3}").expect("writing");
        let error = Report::read(&path).expect_err("an error").to_string();
        assert!(error.contains("bad.json"), "{error}");
    }
}
