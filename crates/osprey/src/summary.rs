//! What a campaign came to, at its end.

use std::fmt::Write as _;
use std::path::Path;
use std::time::Duration;

use anyhow::Result;
use campaign::findings::Group;
use campaign::store::Place;
use campaign::{Messages, Summary, Totals};

use crate::exit::Exit;
use crate::{live, output};

/// Prints the summary and tells what the program exits with.
pub fn show(summary: &Summary, out: &Path, json: bool) -> Result<Exit> {
    match json {
        true => output::print(&(serde_json::to_string(summary)? + "\n"))?,
        false => output::print(&shown(summary, out))?,
    }
    let none = summary.findings.is_empty() && summary.pending == 0;
    Ok(match (none, summary.totals.internal_errors) {
        (false, _) => Exit::Findings,
        (true, 0) => Exit::Clean,
        (true, _) => Exit::Internal,
    })
}

fn shown(summary: &Summary, out: &Path) -> String {
    let mut text = String::new();
    // Writing to a string cannot fail.
    let mut line = |words: std::fmt::Arguments| {
        let _ = writeln!(text, "{words}");
    };
    let Summary { totals, run, .. } = summary;
    if summary.interrupted {
        line(format_args!("interrupted; --resume goes on"));
    }
    line(format_args!(
        "{} tests in {} ({:.1}/s)",
        summary.tests,
        live::clock(Duration::from_secs_f64(summary.seconds)),
        summary.tests as f64 / summary.seconds.max(0.001),
    ));
    line(format_args!("  solver runs: {}", runs(run)));
    line(format_args!("  CPU: {}", cpu(run)));
    if totals.tests > summary.tests {
        line(format_args!("  all below: the whole campaign, with its earlier runs and other processes"));
        line(format_args!("  {} tests, solver runs: {}", totals.tests, runs(totals)));
        line(format_args!("  CPU: {}", cpu(totals)));
    }
    let questions = &totals.questions;
    if questions.asked > 0 {
        line(format_args!(
            "  questions of engines: {} asked, {} answered, {} timed out ({} more from memory)",
            questions.asked, questions.answered, questions.timed_out, questions.remembered
        ));
    }
    for (solver, answers) in &totals.answers {
        line(format_args!(
            "  {solver}: {}",
            live::counted(answers.iter().map(|(word, n)| (word.as_str(), *n)))
        ));
    }
    for coverage in &summary.coverage {
        line(format_args!("  reached: {}", live::reached(coverage)));
    }
    let shares: Vec<String> =
        summary.engine_shares.iter().map(|(name, share)| format!("{name} {:.0} %", share * 100.0)).collect();
    line(format_args!("  engines: {}", shares.join(", ")));
    let fallbacks: u64 = totals.runs.values().map(|counts| counts.fallbacks).sum();
    if fallbacks > 0 {
        line(format_args!("  slow starts where fast ones were wanted: {fallbacks}"));
    }
    let rejected = totals.rejected as f64 * 100.0 / totals.tests.max(1) as f64;
    line(format_args!("  scripts refused by a solver: {} ({rejected:.1} %)", totals.rejected));
    messages(&totals.refusals, &mut line);
    for (solver, theories) in &summary.built_without {
        let theories = theories.join(", ");
        line(format_args!(
            "    {solver} was built without {theories}: no script that has them is sent to it"
        ));
    }
    for (what, suspicions) in
        [("differences by design", &totals.excuses), ("suspicions that nothing proves", &totals.unproven)]
    {
        if suspicions.total() > 0 {
            line(format_args!(
                "  {what}: {} ({:.1} % of runs)",
                suspicions.total(),
                share(suspicions, totals)
            ));
            messages(suspicions, &mut line);
        }
    }
    if totals.left_alone.total() > 0 {
        line(format_args!("  rounds that came to the end of their seed: {}", totals.left_alone.total()));
        messages(&totals.left_alone, &mut line);
    }
    if summary.rejected_seeds > 0 {
        line(format_args!("  seed files skipped: {}", summary.rejected_seeds));
    }
    let internal = out.join("internal");
    if totals.internal_errors > 0 {
        line(format_args!("  internal errors: {} (see {})", totals.internal_errors, internal.display()));
    }
    if totals.slow > 0 {
        line(format_args!(
            "  slow computations of ours: {}, the slowest {:.1} s (see {})",
            totals.slow,
            totals.slowest as f64 / 1e6,
            internal.display()
        ));
    }
    line(format_args!("  findings: {}", live::found(totals)));
    let shared = Place::of(out).is_ok_and(|place| place.is_shared());
    for bug in Group::all(&summary.findings) {
        let Some(known) = bug.example() else { continue };
        let flaky = if known.flaky { " (flaky)" } else { "" };
        let folder = out.join("bugs").join(&known.folder);
        let gone = match folder.is_dir() {
            true => "",
            false if shared => " (another process has its folder)",
            false => " (its folder is gone)",
        };
        let faces = match bug.members.len() - 1 {
            0 => String::new(),
            1 => ", and one more face of that bug".to_owned(),
            more => format!(", and {more} more faces of that bug"),
        };
        line(format_args!("    {}{flaky}{gone}{faces}", folder.display()));
    }
    if totals.suppressed > 0 {
        line(format_args!("  test cases that showed bugs named by --known: {}", totals.suppressed));
    }
    if summary.pending > 0 {
        let more = if summary.findings.is_empty() { "" } else { " more" };
        let are = if summary.pending == 1 { "is" } else { "are" };
        line(format_args!(
            "  {}{more} {are} confirmed but not told apart yet; --resume goes on with what is left",
            summary.pending
        ));
    }
    line(format_args!("  rng seed: {}", summary.rng_seed));
    text
}

/// In percent of the runs of test cases: a test case has one for each configuration of each solver.
fn share(suspicions: &Messages, totals: &Totals) -> f64 {
    suspicions.total() as f64 * 100.0 / totals.of("test").runs.max(1) as f64
}

/// The most frequent messages.
fn messages(messages: &Messages, line: &mut impl FnMut(std::fmt::Arguments)) {
    for (message, count) in messages.by_frequency().into_iter().take(3) {
        line(format_args!("    {count} x {message}"));
    }
}

/// `120 test, 3 question`.
fn runs(totals: &Totals) -> String {
    let words = totals.runs.iter().map(|(purpose, counts)| format!("{} {purpose}", counts.runs));
    words.collect::<Vec<_>>().join(", ")
}

fn cpu(totals: &Totals) -> String {
    let seconds = |micros: u64| micros as f64 / 1e6;
    let cut = totals.runs.values().map(|counts| counts.cut_cpu).sum();
    let system = seconds(totals.solver_cpu()) * totals.kernel_share();
    format!(
        "{:.1} s solvers ({:.1} s user, {system:.1} s system, {:.1} s in time-outs, {:.1} s to confirm and ask, {:.1} s to reduce, {:.1} s to tell \
         bugs apart, {:.1} s to trace code), {:.1} s ours ({:.1} %)",
        seconds(totals.solver_cpu()),
        seconds(totals.solver_cpu()) - system,
        seconds(cut),
        seconds(totals.other_runs().cpu),
        seconds(totals.of("reduction").cpu),
        seconds(totals.of("blame").cpu),
        seconds(totals.of("trace").cpu),
        seconds(totals.own_cpu),
        totals.own_share() * 100.0
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn user_and_system_time_of_solvers_are_told_apart() {
        let mut totals = Totals::default();
        let test = totals.runs.entry("test".to_owned()).or_default();
        (test.cpu, test.kernel) = (3_000_000, 800_000);
        let blame = totals.runs.entry("blame".to_owned()).or_default();
        (blame.cpu, blame.kernel) = (1_000_000, 200_000);
        let line = cpu(&totals);
        assert!(line.starts_with("4.0 s solvers (3.0 s user, 1.0 s system, 0.0 s in time-outs, "), "{line}");
    }

    #[test]
    fn what_several_configurations_of_a_test_case_show_is_a_share_of_runs() {
        let mut totals = Totals { tests: 10, ..Totals::default() };
        totals.runs.entry("test".to_owned()).or_default().runs = 300;
        for _ in 0..15 {
            totals.excuses.count("an option that changes the answer".to_owned());
        }
        assert_eq!(share(&totals.excuses, &totals), 5.0);
    }
}
