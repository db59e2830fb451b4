//! `osprey report`: what a campaign brought, for people and for other programs.

use std::path::{Path, PathBuf};

use anyhow::Result;
use clap::{Args, ValueEnum};
use report::{Overview, Reader};

use crate::exit::Exit;
use crate::{copies, output};

/// Make a report of a campaign: pages for a browser, or a file for another program
#[derive(Args)]
#[command(after_help = "\
Examples:
  osprey report night -o night-report            then open night-report/index.html in a browser
  osprey report night --format junit -o junit.xml    for a CI system
  osprey report night --format markdown          on the terminal
  osprey report postgres://osprey@db.example/fuzzing?schema=night -o night-report

The folder opens from disk, loads nothing from elsewhere, and can be sent to a colleague: it has a page and the files of
each finding, and the same as findings.csv, report.json, report.md and junit.xml. A campaign that still runs is shown as
it is now; `osprey serve` shows it live. A folder of `osprey perf` can be shown, too.

Exit code 0 if the report is written, 2 if there is no campaign, 5 if it cannot be written.")]
pub struct Report {
    /// The output folder of a campaign, or the address of one on a server, of which a copy is fetched
    #[arg(value_name = "DIR|URL", default_value = "osprey-out")]
    out: PathBuf,

    /// A folder for the pages, or the file for another format [default: osprey-report, or standard output]
    #[arg(short, long, value_name = "OUT")]
    output: Option<PathBuf>,

    /// What to make
    #[arg(long, value_enum, default_value_t = Format::Html)]
    format: Format,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Format {
    /// A folder of pages, with all other formats in it
    Html,
    Markdown,
    /// A row per finding
    Csv,
    /// Everything the pages tell
    Json,
    /// A test case per bug: failed unless it is marked as reported, known or not a bug
    Junit,
}

impl Report {
    pub fn run(self) -> Result<Exit> {
        let (mut reader, _) = reader(&self.out)?;
        let overview = reader.read()?;
        for note in &overview.notes {
            output::say(&format!("osprey: note: {note}"));
        }
        if overview.condition.is_running() {
            output::say(&format!(
                "osprey: note: the campaign is running: this is how it is now; `osprey serve {}` shows it live",
                self.out.display()
            ));
        }
        let text = match self.format {
            Format::Html => return self.folder(&overview, reader.out()),
            Format::Markdown => report::markdown(&overview),
            Format::Csv => report::csv(&overview),
            Format::Json => report::json(&overview),
            Format::Junit => report::junit(&overview),
        };
        match &self.output {
            Some(path) => output::file(path, &text)?,
            None => output::print(&text)?,
        }
        Ok(Exit::Clean)
    }

    fn folder(&self, overview: &Overview, from: &Path) -> Result<Exit> {
        let to = self.output.clone().unwrap_or_else(|| PathBuf::from("osprey-report"));
        let written = report::write(overview, from, &to)?;
        let found = if overview.bugs.is_empty() { "nothing found".to_owned() } else { overview.found() };
        output::print_line(&format!("{}: {found}", written.index.display()))?;
        Ok(Exit::Clean)
    }
}

/// A reader of the campaign that a user named, and its name without a password.
pub fn reader(named: &Path) -> Result<(Reader, String)> {
    let out = copies::folder(named)?;
    let name = match campaign::store::Place::of(&out) {
        Ok(place) => place.to_string(),
        Err(_) => named.display().to_string(),
    };
    Ok((Reader::new(&out, &name)?, name))
}
