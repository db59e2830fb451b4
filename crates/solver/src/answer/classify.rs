//! The solver's wordings, exit codes and signals, and what a run amounts to.

use std::sync::LazyLock;

use regex::{Captures, Regex};

use super::interpret::Interpreted;
use super::outline::Outline;
use super::{Answers, Checked, ErrorMessage, FailedCheck, RunClass};
use crate::adapter::{Meaning, Message};
use crate::crash::{CrashKind, CrashReport, frames, is_fatal_fault};
use crate::launch::{Exit, Outcome};
use crate::solver::Solver;

/// Wordings are looked for in this much of a stream's beginning and end; floods repeat themselves.
const LOOKED_AT: usize = 128 << 10;

/// A wording that was found. Where in the evidence, and what its groups are, is looked up only when it matters.
struct Hit<'a> {
    message: &'a Message,
    evidence: &'a str,
}

impl Hit<'_> {
    fn means(&self) -> Meaning {
        self.message.means
    }

    fn capture(&self) -> Option<Captures<'_>> {
        self.message.pattern.captures(self.evidence)
    }

    fn group(&self, name: &str) -> Option<String> {
        Some(self.capture()?.name(name)?.as_str().trim().to_string()).filter(|text| !text.is_empty())
    }

    fn whole(&self) -> String {
        self.message.pattern.find(self.evidence).unwrap_or_default().to_string()
    }

    fn message(&self) -> String {
        self.group("message")
            .unwrap_or_else(|| self.whole().lines().next().unwrap_or_default().trim().to_string())
    }
}

pub(super) fn classify(solver: &Solver, outline: &Outline, outcome: &Outcome, read: Interpreted) -> Answers {
    let mut evidence = ends_of(&String::from_utf8_lossy(&outcome.stderr));
    evidence.push('\n');
    evidence.push_str(&ends_of(&read.loose));
    let mut hits = if evidence.trim().is_empty() { Vec::new() } else { find_all(solver, &evidence) };
    // An error message about a symbol repeats it: a script could make any solver seem to crash.
    if outline.quotes() {
        hits.retain(|hit| !outline.says(&hit.whole()));
    }

    let failed_checks = failed_checks(&hits);
    let signal = fault_signal(outcome);
    let mut crash = crash_report(&hits, signal, &evidence).filter(|crash| !contradicts_status(crash));
    if let (Some(crash), Some(Ok(stack))) = (&mut crash, &outcome.stack)
        && crash.lacks_a_place()
    {
        crash.at(stack);
    }
    let has = |means| hits.iter().any(|hit| hit.means() == means);
    let code_means = match outcome.exit {
        Exit::Exited(code) => {
            solver.adapter.exits.iter().find(|exit| exit.code == code).map(|exit| exit.means)
        }
        Exit::Signaled(_) => None,
    };
    let error_means = |means| read.errors.iter().any(|error| error.means == means);
    let answered = !read.checks.is_empty();
    let tainted = read.checks.iter().any(|check| check.tainted);
    // A crash wording with its place in the source is believed even when memory was short; a bare signal is not.
    let crash_is_certain = crash.as_ref().is_some_and(|crash| crash.kind != CrashKind::Signal);

    let class = if has(Meaning::NotBuilt) {
        RunClass::NotBuilt
    } else if !failed_checks.is_empty() {
        RunClass::SelfCheckFailed
    } else if has(Meaning::MemoryOut)
        || code_means == Some(Meaning::MemoryOut)
        || (outcome.out_of_memory && !crash_is_certain)
    {
        RunClass::MemoryOut
    } else if let Some(crash) = crash.filter(|crash| {
        // Killed at the limit and then complaining about the signal is no crash; nor is stopping at one's own limit.
        let stopped = outcome.timed_out || outcome.cpu_exceeded || has(Meaning::Timeout);
        crash.kind != CrashKind::Signal || !stopped
    }) {
        RunClass::Crash(crash)
    } else if outcome.timed_out
        || outcome.cpu_exceeded
        || outcome.exit == Exit::Signaled(libc::SIGXCPU)
        || (matches!(outcome.exit, Exit::Signaled(_)) && has(Meaning::Timeout))
    {
        RunClass::Timeout
    } else if outcome.output_truncated {
        RunClass::Flood
    } else if let Exit::Signaled(signal) = outcome.exit {
        RunClass::Killed(signal)
    } else if let Some(class) = code_means.and_then(|means| class_of_code(means, outcome, &evidence)) {
        class
    } else if has(Meaning::Timeout) && read.checks.len() < outline.checks().max(1) {
        RunClass::Timeout
    } else if has(Meaning::BadOption) && !answered {
        RunClass::BadOption
    } else if tainted {
        rejected_or_unsupported(&read)
    } else if answered {
        RunClass::Answered
    } else if error_means(Meaning::Rejected) || error_means(Meaning::Unsupported) {
        rejected_or_unsupported(&read)
    } else if has(Meaning::Rejected) {
        RunClass::Rejected
    } else if has(Meaning::Unsupported) {
        RunClass::Unsupported
    } else if has(Meaning::ResourceOut) {
        RunClass::ResourceOut
    } else if outline.checks() == 0 && outcome.exit == Exit::Exited(0) && !outline.commands.is_empty() {
        RunClass::Answered
    } else {
        RunClass::Silent
    };
    Answers {
        class,
        checks: read.checks,
        models: read.models,
        cores: read.cores,
        values: read.values,
        errors: read.errors,
        unsupported: read.unsupported,
        failed_checks,
    }
}

/// The error's text, place and meaning. The adapter's first fitting wording counts.
pub(super) fn meaning_of_error(solver: &Solver, outline: &Outline, raw: &str) -> ErrorMessage {
    static PLACE: LazyLock<Option<Regex>> = LazyLock::new(|| {
        Regex::new(r"(?:at )?line (\d+),? col(?:umn)?:? (\d+)|[^\s:]*\.smt2:(\d+)[.:](\d+)|^(?:Parse Error: )?[^\s:]+:(\d+)[.:](\d+)")
            .ok()
    });
    let text = raw.trim_start_matches('(').trim_start_matches("error").trim();
    let text = text.strip_suffix(')').unwrap_or(text);
    let text = text.strip_prefix('"').unwrap_or(text);
    let text = text.strip_suffix('"').unwrap_or(text);
    let place = PLACE.as_ref().and_then(|pattern| pattern.captures(text)).map(|found| {
        let mut numbers = found.iter().skip(1).flatten().filter_map(|number| number.as_str().parse().ok());
        (numbers.next(), numbers.next())
    });
    let first = solver.wordings.in_text(&outline.without_quotes(raw)).into_iter().next();
    let (line, column) = place.unwrap_or((None, None));
    ErrorMessage {
        message: text.trim().to_string(),
        line,
        column,
        means: first.map_or(Meaning::Rejected, |message| message.means),
    }
}

/// CVC4 and cvc5 abort where their answer is not the script's own `:status`. Whoever wrote the status may be wrong: the
/// answer is judged, the abort is no crash.
fn contradicts_status(crash: &CrashReport) -> bool {
    crash.message.starts_with("Expected result ") && crash.message.contains(" but got ")
}

/// Every wording that occurs.
fn find_all<'a>(solver: &'a Solver, evidence: &'a str) -> Vec<Hit<'a>> {
    solver.wordings.in_text(evidence).into_iter().map(|message| Hit { message, evidence }).collect()
}

fn failed_checks(hits: &[Hit]) -> Vec<FailedCheck> {
    let mut failed: Vec<FailedCheck> = Vec::new();
    for hit in hits {
        let what = match hit.means() {
            Meaning::ModelCheckFailed => Checked::Model,
            Meaning::CoreCheckFailed => Checked::Core,
            Meaning::ProofCheckFailed => Checked::Proof,
            _ => continue,
        };
        if failed.iter().all(|known| known.what != what) {
            failed.push(FailedCheck { what, message: hit.message() });
        }
    }
    failed
}

/// The fatal signal, also when a shell wrapper turned it into an exit code.
fn fault_signal(outcome: &Outcome) -> Option<i32> {
    match outcome.exit {
        Exit::Signaled(signal) => Some(signal),
        Exit::Exited(code) if code > 128 => Some(code - 128),
        Exit::Exited(_) => None,
    }
    .filter(|signal| is_fatal_fault(*signal))
}

fn crash_report(hits: &[Hit], signal: Option<i32>, evidence: &str) -> Option<CrashReport> {
    let telling = [CrashKind::Sanitizer, CrashKind::Assertion, CrashKind::InternalError, CrashKind::Signal];
    let hit = telling.iter().find_map(|kind| {
        hits.iter().find(|hit| CrashKind::of(hit.means()) == Some(*kind)).map(|hit| (*kind, hit))
    });
    match (hit, signal) {
        (Some((kind, hit)), _) => Some(CrashReport {
            kind,
            signal,
            file: hit.group("file"),
            line: hit.group("line").and_then(|line| line.parse().ok()),
            function: hit.group("function"),
            message: hit.message(),
            frames: frames(evidence),
            overflow: false,
        }),
        (None, Some(signal)) => Some(CrashReport {
            kind: CrashKind::Signal,
            signal: Some(signal),
            file: None,
            line: None,
            function: None,
            message: String::new(),
            frames: frames(evidence),
            overflow: false,
        }),
        (None, None) => None,
    }
}

/// What an exit code alone decides.
fn class_of_code(means: Meaning, outcome: &Outcome, evidence: &str) -> Option<RunClass> {
    match means {
        Meaning::Timeout => Some(RunClass::Timeout),
        Meaning::MemoryOut => Some(RunClass::MemoryOut),
        Meaning::ResourceOut => Some(RunClass::ResourceOut),
        Meaning::BadOption => Some(RunClass::BadOption),
        Meaning::Unsupported => Some(RunClass::Unsupported),
        Meaning::NotBuilt => Some(RunClass::NotBuilt),
        _ => {
            let kind = CrashKind::of(means)?;
            let code = match outcome.exit {
                Exit::Exited(code) => code,
                Exit::Signaled(_) => return None,
            };
            let said = evidence.trim().lines().next().unwrap_or_default();
            Some(RunClass::Crash(CrashReport {
                kind,
                signal: None,
                file: None,
                line: None,
                function: None,
                message: format!("exit code {code} {said}").trim().to_string(),
                frames: frames(evidence),
                overflow: false,
            }))
        }
    }
}

fn rejected_or_unsupported(read: &Interpreted) -> RunClass {
    let first =
        read.errors.iter().find(|error| matches!(error.means, Meaning::Rejected | Meaning::Unsupported));
    match first.map(|error| error.means) {
        Some(Meaning::Unsupported) => RunClass::Unsupported,
        _ => RunClass::Rejected,
    }
}

fn ends_of(text: &str) -> String {
    if text.len() <= 2 * LOOKED_AT {
        return text.to_string();
    }
    let mut head = LOOKED_AT;
    while !text.is_char_boundary(head) {
        head -= 1;
    }
    let mut tail = text.len() - LOOKED_AT;
    while !text.is_char_boundary(tail) {
        tail += 1;
    }
    format!("{}\n{}", &text[..head], &text[tail..])
}
