//! What a developer gets to see of a finding: a report ready to paste, and a script that shows the bug.

use std::fmt::Write as _;

use oracle::Kind;
use smtlib::Status;

use super::finding::{Finding, RunRecord, Small};

/// Inputs up to this length are in the report itself.
const INLINE: usize = 20_000;

/// The texts a report shows.
#[derive(Clone, Copy, Debug)]
pub struct Texts<'a> {
    /// The script that shows the bug, as small as it got.
    pub script: &'a str,
    /// A model that satisfies it.
    pub witness: Option<&'a str>,
    /// The script with the model put in.
    pub ground: Option<&'a str>,
}

impl<'a> Texts<'a> {
    pub fn of(small: &'a Small) -> Texts<'a> {
        Texts { script: &small.script, witness: small.witness.as_deref(), ground: small.ground.as_deref() }
    }
}

/// `report.md`.
pub fn markdown(finding: &Finding, shown: &Texts) -> String {
    let name = finding.script_name();
    let mut out = String::new();
    let mut line = |text: &str| {
        out.push_str(text);
        out.push('\n');
    };
    line(&format!("# {}", finding.summary));
    line("");
    if finding.flaky {
        line("The behaviour does not repeat in every run.\n");
    }
    line(&format!("{} {}.", finding.title, finding.runs.first().map_or("", |run| &run.version)));
    line("");
    for run in finding.runs.iter().take(1) {
        section(&mut line, run);
    }
    if !finding.evidence.is_empty() || finding.answer.is_some() {
        if let Some(answer) = finding.answer {
            line(&format!("Expected: `{}`.", word(answer)));
        }
        for why in &finding.evidence {
            line(&format!("- {why}"));
        }
        line("");
    }
    if finding.runs.len() > 1 {
        line("For comparison:");
        line("");
        for run in &finding.runs[1..] {
            section(&mut line, run);
        }
    }
    if let Some(releases) = &finding.releases {
        line(&format!("Affected releases: {}.", listed(&releases.affected)));
        line(&format!("Not affected: {}.", listed(&releases.clean)));
        line("");
    }
    if shown.script.len() <= INLINE {
        line(&format!("`{name}`:"));
        block(&mut line, shown.script);
    } else {
        line(&format!("The input is in the attached `{name}`."));
    }
    match (shown.ground, shown.witness) {
        (Some(ground), _) if ground.len() <= INLINE => {
            line("\nHow we know: with these values put in, every assertion is true, so the answer is `sat`:");
            block(&mut line, ground);
        }
        (_, Some(witness)) if witness.len() <= INLINE => {
            line("\nHow we know: this model satisfies it (each assertion evaluates to true):");
            block(&mut line, witness);
        }
        (_, Some(_)) => {
            line(&format!(
                "\nHow we know: the model in the attached `{}` satisfies it.",
                finding.witness_name()
            ));
        }
        (_, None) => {}
    }
    out
}

fn block(line: &mut impl FnMut(&str), text: &str) {
    line("\n```smt2");
    line(text.trim_end());
    line("```");
}

fn section(line: &mut impl FnMut(&str), run: &RunRecord) {
    line("```");
    line(&format!("$ {}", run.command));
    let output = [run.stdout.trim_end(), run.stderr.trim_end()];
    for text in output.iter().filter(|text| !text.is_empty()) {
        line(text);
    }
    line("```");
    line("");
}

fn listed(names: &[String]) -> String {
    if names.is_empty() { "none of those tried".to_owned() } else { names.join(", ") }
}

/// `repro.sh`: shows the bug with nothing but the solver.
pub fn repro(finding: &Finding) -> String {
    let command = finding.runs.first().map_or("", |run| run.command.as_str());
    let (program, words) = command.split_once(' ').unwrap_or((command, ""));
    let mut out = String::from("#!/bin/sh\n");
    let _ = writeln!(out, "# {}", finding.summary.replace('\n', " "));
    if let Some(run) = finding.runs.first() {
        let _ = writeln!(out, "# seen: {}; expected: {}", run.said(), expected(finding));
        let _ = writeln!(out, "# usage: ./repro.sh [PATH OF {} {}]", finding.title, run.version);
    }
    out.push_str("cd \"$(dirname \"$0\")\" || exit 2\n");
    let _ = writeln!(out, "exec \"${{1:-{program}}}\" {words}");
    out
}

fn expected(finding: &Finding) -> &'static str {
    match (finding.answer, finding.kind) {
        (Some(answer), _) => word(answer),
        (None, Kind::Crash) => "no crash",
        (None, _) => "see report.md",
    }
}

fn word(answer: Status) -> &'static str {
    match answer {
        Status::Sat => "sat",
        Status::Unsat => "unsat",
        Status::Unknown => "unknown",
    }
}
