//! What a user sees of a campaign while it runs: a few lines that stay in place on a terminal, plain lines elsewhere.

use std::fmt::Write as _;
use std::path::Path;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use campaign::schedule::SolverCoverage;
use campaign::{Finding, Observer, Snapshot, Totals, foreign};

use crate::output;
use crate::status_lines::{self, StatusLines};

/// Plain lines come at least this far apart.
const EVERY: Duration = Duration::from_secs(10);

/// The live view, on standard error.
pub struct Live {
    /// Said when the campaign begins.
    greeting: String,
    /// `None` where lines cannot be drawn over.
    lines: Option<Mutex<StatusLines>>,
    quiet: bool,
    last: Mutex<Option<Instant>>,
}

impl Live {
    pub fn new(greeting: String, quiet: bool) -> Live {
        let lines = (!quiet && output::is_live()).then(Mutex::default);
        Live { greeting, lines, quiet, last: Mutex::new(None) }
    }

    /// Takes the view away; lines above it stay.
    pub fn clear(&self) {
        if let Some(mut lines) = self.lines() {
            // A terminal that has gone is no reason to stop.
            let _ = lines.clear(status_lines::width(), &mut std::io::stderr());
        }
    }

    fn lines(&self) -> Option<MutexGuard<'_, StatusLines>> {
        Some(self.lines.as_ref()?.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// A line that stays, above the view.
    fn line(&self, text: &str) {
        if self.quiet {
            return;
        }
        self.clear();
        output::say(text);
    }
}

impl Observer for Live {
    fn begun(&self) {
        self.line(&self.greeting);
    }

    fn progress(&self, snapshot: &Snapshot) {
        if let Some(mut lines) = self.lines() {
            let _ = lines.draw(
                &foreign::visible(&block(snapshot)),
                status_lines::width(),
                &mut std::io::stderr(),
            );
            return;
        }
        let mut last = self.last.lock().unwrap_or_else(PoisonError::into_inner);
        if last.is_none_or(|last| last.elapsed() >= EVERY) {
            *last = Some(Instant::now());
            self.line(&one_line(snapshot));
        }
    }

    fn found(&self, finding: &Finding, folder: &Path) {
        let flaky = if finding.flaky { " (flaky)" } else { "" };
        self.line(&format!("found {}{flaky}: {}\n  {}", finding.kind, finding.summary, folder.display()));
    }

    fn note(&self, text: &str) {
        self.line(&format!("note: {text}"));
    }
}

fn one_line(snapshot: &Snapshot) -> String {
    let totals = &snapshot.totals;
    let mut line = format!(
        "{} {} tests ({:.1}/s), {} runs, {} finding{}",
        clock(snapshot.elapsed),
        snapshot.tests,
        rate(snapshot),
        snapshot.run.test_runs(),
        totals.unique(),
        plural(totals.unique())
    );
    if totals.duplicates > 0 {
        let _ = write!(line, " ({} duplicate{})", totals.duplicates, plural(totals.duplicates));
    }
    if snapshot.pending > 0 {
        let _ = write!(line, ", {} pending", snapshot.pending);
    }
    if snapshot.members > 1 {
        let _ = write!(line, ", {} processes", snapshot.members);
    }
    for coverage in &snapshot.coverage {
        let _ = write!(line, ", {}", reached(coverage));
    }
    let _ = write!(line, ", own CPU {:.1} %", totals.own_share() * 100.0);
    if let Some(left) = snapshot.left {
        let _ = write!(line, ", {} left", clock(left));
    }
    line
}

fn block(snapshot: &Snapshot) -> String {
    let totals = &snapshot.totals;
    let mut out = String::new();
    let left = snapshot.left.map_or(String::new(), |left| format!(", {} left", clock(left)));
    let others = match snapshot.members {
        0 | 1 => String::new(),
        members => format!(" | {members} processes"),
    };
    let _ = writeln!(
        out,
        "{}{left} | {} tests, {:.1}/s | {} solver runs | {} seeds | own CPU {:.1} %{others}",
        clock(snapshot.elapsed),
        snapshot.tests,
        rate(snapshot),
        snapshot.run.test_runs(),
        snapshot.seeds,
        totals.own_share() * 100.0
    );
    for (solver, answers) in &totals.answers {
        let _ = writeln!(
            out,
            "  {solver}: {}",
            counted(answers.iter().map(|(word, count)| (word.as_str(), *count)))
        );
    }
    for coverage in &snapshot.coverage {
        let _ = writeln!(out, "  reached: {}", reached(coverage));
    }
    let shares: Vec<String> =
        snapshot.shares.iter().map(|(name, share)| format!("{name} {:.0} %", share * 100.0)).collect();
    let _ = writeln!(out, "  engines: {}", shares.join(", "));
    let _ = write!(out, "  findings: {}", found(totals));
    if snapshot.pending > 0 {
        let _ = write!(out, ", {} pending", snapshot.pending);
    }
    out
}

/// `z3@5.4.0 5123 functions (22.1 %), 90123 blocks (9.1 %)`.
pub fn reached(coverage: &SolverCoverage) -> String {
    let percent = |part: u64, whole: u64| 100.0 * part as f64 / whole.max(1) as f64;
    format!(
        "{} {} functions ({:.1} %), {} blocks ({:.1} %)",
        coverage.solver,
        coverage.functions,
        percent(coverage.functions, coverage.all_functions),
        coverage.blocks,
        percent(coverage.blocks, coverage.all_blocks)
    )
}

/// `3 crash, 1 invalid-model (12 duplicates)`.
pub fn found(totals: &Totals) -> String {
    if totals.unique() == 0 {
        return "none".to_owned();
    }
    let kinds = counted(totals.findings.iter().map(|(kind, count)| (kind.as_str(), *count)));
    match totals.duplicates {
        0 => kinds,
        some => format!("{kinds} ({some} duplicate{})", plural(some)),
    }
}

fn plural(count: u64) -> &'static str {
    if count == 1 { "" } else { "s" }
}

/// `12 sat, 3 unsat`, the most frequent first.
pub fn counted<'a>(counts: impl Iterator<Item = (&'a str, u64)>) -> String {
    let mut counts: Vec<(&str, u64)> = counts.collect();
    counts.sort_by_key(|(word, count)| (std::cmp::Reverse(*count), *word));
    let shown: Vec<String> = counts.iter().map(|(word, count)| format!("{count} {word}")).collect();
    shown.join(", ")
}

fn rate(snapshot: &Snapshot) -> f64 {
    snapshot.tests as f64 / snapshot.elapsed.as_secs_f64().max(0.001)
}

/// `1:02:03`.
pub fn clock(time: Duration) -> String {
    let seconds = time.as_secs();
    let (hours, minutes, seconds) = (seconds / 3600, seconds / 60 % 60, seconds % 60);
    if hours > 0 { format!("{hours}:{minutes:02}:{seconds:02}") } else { format!("{minutes}:{seconds:02}") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_and_counts_read_well() {
        assert_eq!(clock(Duration::from_secs(61)), "1:01");
        assert_eq!(clock(Duration::from_secs(3723)), "1:02:03");
        assert_eq!(counted([("sat", 2), ("unsat", 9)].into_iter()), "9 unsat, 2 sat");
    }
}
