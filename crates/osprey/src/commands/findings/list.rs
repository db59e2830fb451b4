//! `osprey findings list`: every finding, or one entry per bug; `show`: one of them.

use std::fmt::Write as _;
use std::path::PathBuf;

use anyhow::{Result, bail};
use campaign::findings::{Handling, Mark};
use campaign::{Finding, foreign, input};
use clap::Args;
use report::{Bug, Entry};
use serde::Serialize;

use crate::commands::report::reader;
use crate::exit::Exit;
use crate::output;

/// List the findings of a campaign
#[derive(Args)]
pub struct List {
    /// The output folder of a campaign, or the address of one on a server, of which a copy is fetched
    #[arg(value_name = "DIR|URL", default_value = "osprey-out")]
    out: PathBuf,

    /// One entry per bug: its clearest example, and what else was taken for the same bug. Pending findings are only counted
    #[arg(long)]
    group: bool,

    /// One JSON object per line
    #[arg(long)]
    json: bool,
}

/// Show one finding: what became of it, and the text for the solver's tracker
#[derive(Args)]
pub struct Show {
    /// The folder of a finding
    finding: PathBuf,

    /// Print what finding.json says
    #[arg(long)]
    json: bool,
}

impl List {
    pub fn run(self) -> Result<Exit> {
        let (reader, _) = reader(&self.out)?;
        let overview = reader.brief().read()?;
        for note in &overview.notes {
            output::say(&format!("osprey: {note}"));
        }
        if overview.bugs.is_empty() && overview.notes.iter().any(|note| note.starts_with("skipped: ")) {
            bail!("no finding in '{}' can be read", self.out.join("bugs").display());
        }
        let mut text = String::new();
        // What is not told apart yet is no bug of its own: many of them may be one.
        let (pending, bugs): (Vec<&Bug>, Vec<&Bug>) =
            overview.bugs.iter().partition(|bug| self.group && bug.is_pending());
        for bug in bugs {
            match (self.group, self.json) {
                (true, true) => text += &(serde_json::to_string(bug)? + "\n"),
                (true, false) => text += &by_bug(bug),
                (false, true) => {
                    for entry in bug.members() {
                        text += &(serde_json::to_string(entry)? + "\n");
                    }
                }
                (false, false) => bug.members().for_each(|entry| text += &shown(entry, bug.mark.as_ref())),
            }
        }
        if !pending.is_empty() {
            let findings: Vec<&Entry> = pending.iter().flat_map(|bug| bug.members()).collect();
            text += &match self.json {
                true => serde_json::to_string(&Pending { pending: findings.len(), findings })? + "\n",
                false => waiting(findings.len()),
            };
        }
        if overview.bugs.is_empty() && !self.json {
            text += "nothing found\n";
        }
        output::print(&text)?;
        Ok(if overview.bugs.is_empty() { Exit::Clean } else { Exit::Findings })
    }
}

/// The line of a list of bugs that is about no bug.
#[derive(Serialize)]
struct Pending<'a> {
    pending: usize,
    findings: Vec<&'a Entry>,
}

fn waiting(count: usize) -> String {
    let are = if count == 1 { "finding is" } else { "findings are" };
    format!(
        "{count} {are} pending, neither reduced nor told apart yet; `osprey findings` without --group lists them\n"
    )
}

impl Show {
    pub fn run(self) -> Result<Exit> {
        let (finding, folder) = Finding::read(&self.finding)?;
        if self.json {
            output::print_json(&finding)?;
            return Ok(Exit::Findings);
        }
        let mut text = handled(&finding.handling);
        match input::read_text(&folder.join("report.md"), input::LARGEST_FILE) {
            Ok(report) => text += &report,
            Err(_) => text += &format!("{}: {}\n", finding.kind, finding.summary),
        }
        output::print(&text)?;
        Ok(Exit::Findings)
    }
}

fn by_bug(bug: &Bug) -> String {
    let mut text = shown(&bug.example, bug.mark.as_ref());
    let cases = if bug.shown == 1 { "1 test case".to_owned() } else { format!("{} test cases", bug.shown) };
    // Writing to a string cannot fail.
    let _ = writeln!(text, "  bug {}, shown by {cases}", bug.id);
    for face in &bug.faces {
        let _ = writeln!(text, "  another face: {}", face.folder.display());
        if let Some(group) = &face.finding.group {
            let _ = writeln!(text, "    {}", group.why);
        }
    }
    text
}

fn shown(entry: &Entry, mark: Option<&Mark>) -> String {
    let finding = &entry.finding;
    let flaky = if finding.flaky { ", flaky" } else { "" };
    let pending = if finding.is_pending() { " (pending: neither reduced nor told apart yet)" } else { "" };
    let mut text = format!("{}{pending}: {}\n  {}\n", finding.kind, finding.summary, entry.folder.display());
    text += &format!("  signature: {}\n", finding.signature);
    let duplicates = match entry.duplicates {
        1 => "1 duplicate".to_owned(),
        more => format!("{more} duplicates"),
    };
    text += &format!(
        "  {duplicates}{flaky}, round {} of {}\n",
        finding.provenance.round, finding.provenance.engine
    );
    let rechecks = finding.handling.rechecks.clone();
    text + &handled(&Handling { mark: mark.cloned(), rechecks })
}

/// What became of a finding, a line each.
fn handled(handling: &Handling) -> String {
    let mut text = String::new();
    if let Some(mark) = &handling.mark {
        let words = [mark.state.word(), &mark.note, &mark.link];
        let said: Vec<&str> = words.into_iter().filter(|word| !word.is_empty()).collect();
        text += &format!("  marked: {}\n", foreign::one_line(&said.join(", ")));
    }
    for recheck in &handling.rechecks {
        text += &format!("  {}: {} ({})\n", recheck.solver, recheck.outcome.words(), recheck.said);
    }
    text
}
