//! What a campaign came to, at its end.

use std::path::Path;
use std::time::Duration;

use anyhow::Result;
use campaign::Summary;

use crate::exit::Exit;
use crate::live;

/// Prints the summary and tells what the program exits with.
pub fn show(summary: &Summary, out: &Path, json: bool) -> Result<Exit> {
    if json {
        println!("{}", serde_json::to_string(summary)?);
    } else {
        print(summary, out);
    }
    Ok(match (summary.findings.is_empty(), summary.totals.internal_errors) {
        (false, _) => Exit::Findings,
        (true, 0) => Exit::Clean,
        (true, _) => Exit::Internal,
    })
}

fn print(summary: &Summary, out: &Path) {
    let totals = &summary.totals;
    if summary.interrupted {
        println!("interrupted; --resume goes on");
    }
    println!(
        "{} tests in {} ({:.1}/s)",
        summary.tests,
        live::clock(Duration::from_secs_f64(summary.seconds)),
        summary.tests as f64 / summary.seconds.max(0.001),
    );
    if totals.tests > summary.tests {
        println!("  the whole campaign: {} tests", totals.tests);
    }
    let runs: Vec<String> =
        totals.runs.iter().map(|(purpose, counts)| format!("{} {purpose}", counts.runs)).collect();
    println!("  solver runs: {}", runs.join(", "));
    let questions = &totals.questions;
    if questions.asked > 0 {
        println!(
            "  questions of engines: {} asked, {} answered, {} timed out ({} more from memory)",
            questions.asked, questions.answered, questions.timed_out, questions.remembered
        );
    }
    for (solver, answers) in &totals.answers {
        println!("  {solver}: {}", live::counted(answers.iter().map(|(word, n)| (word.as_str(), *n))));
    }
    let shares: Vec<String> =
        summary.engine_shares.iter().map(|(name, share)| format!("{name} {:.0} %", share * 100.0)).collect();
    println!("  engines: {}", shares.join(", "));
    let seconds = |micros: u64| micros as f64 / 1e6;
    let cut = totals.runs.values().map(|counts| counts.cut_cpu).sum();
    println!(
        "  CPU: {:.1} s solvers ({:.1} s in time-outs, {:.1} s to confirm and ask, {:.1} s to reduce), {:.1} s ours \
         ({:.1} %)",
        seconds(totals.solver_cpu()),
        seconds(cut),
        seconds(totals.other_runs().cpu),
        seconds(totals.of("reduction").cpu),
        seconds(totals.own_cpu),
        totals.own_share() * 100.0
    );
    let fallbacks: u64 = totals.runs.values().map(|counts| counts.fallbacks).sum();
    if fallbacks > 0 {
        println!("  slow starts where fast ones were wanted: {fallbacks}");
    }
    let rejected = totals.rejected as f64 * 100.0 / totals.tests.max(1) as f64;
    println!("  scripts refused by a solver: {} ({rejected:.1} %)", totals.rejected);
    let mut refusals: Vec<_> = totals.refusals.iter().collect();
    refusals.sort_by_key(|(_, count)| std::cmp::Reverse(**count));
    for (message, count) in refusals.iter().take(3) {
        println!("    {count} x {message}");
    }
    if summary.rejected_seeds > 0 {
        println!("  seed files skipped: {}", summary.rejected_seeds);
    }
    let internal = out.join("internal");
    if totals.internal_errors > 0 {
        println!("  internal errors: {} (see {})", totals.internal_errors, internal.display());
    }
    if totals.slow > 0 {
        println!(
            "  slow computations of ours: {}, the slowest {:.1} s (see {})",
            totals.slow,
            seconds(totals.slowest),
            internal.display()
        );
    }
    println!("  findings: {}", live::found(totals));
    for known in &summary.findings {
        let flaky = if known.flaky { " (flaky)" } else { "" };
        println!("    {}{flaky}", out.join("bugs").join(&known.folder).display());
    }
    if summary.pending > 0 {
        println!(
            "  {} more are confirmed but not told apart yet; --resume goes on with them",
            summary.pending
        );
    }
    println!("  rng seed: {}", summary.rng_seed);
}
