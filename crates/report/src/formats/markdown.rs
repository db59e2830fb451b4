//! The report as Markdown, for a wiki, an issue or a terminal.

use std::fmt::Write as _;

use campaign::foreign::{code_block, prose};

use crate::folder::script_of;
use crate::overview::Overview;
use crate::pages::{counted, date, duration, kind_name};

/// Bugs that are shown with their scripts, and bytes of a script at most.
const FIRST: usize = 3;
const BYTES: usize = 2000;

/// The document.
pub fn markdown(overview: &Overview) -> String {
    let mut out = format!("# {} in {}\n\n", overview.found(), prose(&overview.solvers()));
    // Writing to a string cannot fail.
    let _ = writeln!(
        out,
        "The campaign {} made {} in {}; {}.\n",
        prose(&overview.name),
        counted(overview.totals.tests, "test", "tests"),
        duration(overview.totals.elapsed()),
        date(overview.at)
    );
    for note in &overview.notes {
        let _ = writeln!(out, "Note: {}.\n", prose(note));
    }
    if overview.bugs.is_empty() {
        out += "Nothing was found.\n";
        return out;
    }
    for (place, bug) in overview.bugs.iter().take(FIRST).enumerate() {
        let entry = &bug.example;
        let _ = writeln!(
            out,
            "## {}. {}\n\n{}\n",
            place + 1,
            prose(&entry.headline),
            prose(&entry.finding.summary)
        );
        let script = script_of(entry);
        if script.len() <= BYTES {
            out += &code_block("smt2", &script);
            out.push('\n');
        }
        let _ = writeln!(out, "- {}", entry.fairness().meaning());
        for run in &entry.finding.runs {
            let _ = writeln!(out, "- {}: {}", prose(&run.solver), prose(&run.said()));
        }
        let _ = writeln!(out, "- {}\n", prose(&entry.folder.display().to_string()));
    }
    out += "## All bugs\n\n| # | kind | solver | newest release | what | fair | tests | state |\n| --- | --- | --- | --- | --- | --- | --- | --- |\n";
    for (place, bug) in overview.bugs.iter().enumerate() {
        let entry = &bug.example;
        let cell = |text: &str| prose(text).replace('|', "\\|");
        let _ = writeln!(
            out,
            "| {} | {} | {} | {} | {} | {} | {} | {} |",
            place + 1,
            kind_name(bug.kind),
            cell(&entry.finding.solver),
            cell(&entry.newest_release()),
            cell(&entry.headline),
            entry.fairness().word(),
            bug.shown,
            bug.state()
        );
    }
    out
}
