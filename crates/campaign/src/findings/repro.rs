//! `repro.sh`: shows a bug with nothing but the solver, and tells by its exit code whether it shows. `git bisect run` can
//! use it. For some kinds of findings it needs further files beside it.

use std::fmt::Write as _;

use eval::model::OpenCases;
use eval::model_text::read_model;
use eval::{Budget, Evaluator, Model};
use oracle::Kind;
use oracle::frame::frames;
use oracle::ground::ground;
use smtlib::{Family, Mode, Release, Status, Store, Version, print};
use solver::answer::reader::{self, Kind as PieceKind, Piece};
use solver::crash::CrashReport;

use super::finding::{Finding, RunRecord};
use super::folder::Content;
use super::report::{headline, titled, word};
use crate::foreign;

/// What all scripts have in common: finding the solver, running it, reading its answers.
const COMMON: &str = include_str!("repro.sh");

/// Takes the model that the solver has printed, puts it into the script as definitions, and asks the solver itself.
const PUT_IN: &str = include_str!("put-in.sh");

/// The script, and what it needs beside the input.
pub struct Repro {
    pub script: String,
    pub files: Vec<(&'static str, String)>,
    /// The model is wrong by what it says of a case that the standard leaves open, which no definition can say.
    pub open: bool,
}

/// The frame of an incremental finding by itself.
pub const ALONE: &str = "alone.smt2";
/// Files of a folder that only some findings have.
pub const FURTHER: [&str; 3] = [ALONE, SEEN, WITH_MODEL];
/// What the solver printed when the finding was made.
pub const SEEN: &str = "seen.txt";
/// The script with a wrong model put in.
pub const WITH_MODEL: &str = "with-model.smt2";

impl Repro {
    /// For a finding on this text.
    pub fn of(finding: &Finding, text: &str) -> Repro {
        let mut files = further_files(finding, text);
        let mut open = false;
        if finding.kind == Kind::InvalidModel {
            match finding.runs.first().and_then(|run| with_model(finding, run, text)) {
                Some(PutIn::Text(text)) => files.push((WITH_MODEL, text)),
                Some(PutIn::Open) => open = true,
                None => {}
            }
        } else if let Some(PutIn::Text(text)) =
            vouching(finding).and_then(|run| with_model(finding, run, text))
        {
            files.push((WITH_MODEL, text));
        }
        let has = |name: &str| files.iter().any(|(file, _)| *file == name);
        let mut script = header(finding, text);
        script += &settings(finding);
        script += COMMON;
        script.push('\n');
        script += &match finding.kind {
            Kind::RefutationSoundness | Kind::SolutionSoundness => wrong_answer(finding),
            Kind::Disagreement => disagreement(finding),
            Kind::Crash => crash(finding),
            Kind::Incremental if has(ALONE) => incremental(finding),
            Kind::Incremental => recorded_answer(finding, "the answer to the same assertions alone"),
            Kind::InvalidModel => invalid_model(finding, has(SEEN)),
            Kind::UnsoundCore => same_output(finding, "an unsatisfiable core that is one", has(SEEN)),
            Kind::WrongValue => same_output(finding, "values that agree with the model", has(SEEN)),
            Kind::Performance => performance(finding),
        };
        Repro { script, files, open }
    }

    /// The files for the finding's folder.
    pub fn contents(&self) -> impl Iterator<Item = Content<'_>> {
        let files = self.files.iter().map(|(name, text)| Content::new(name, text));
        files.chain([Content { executable: true, ..Content::new("repro.sh", &self.script) }])
    }
}

fn header(finding: &Finding, text: &str) -> String {
    let found_in =
        foreign::one_line(&finding.runs.first().map_or_else(String::new, |run| titled(finding, run)));
    let mut lines = vec![
        foreign::one_line(&headline(finding, text)),
        String::new(),
        "usage: repro.sh [SOLVER]".to_owned(),
        format!("  SOLVER       the program to try: a path, or a name on PATH; {found_in} unless given"),
        "  LIMIT=60     in the environment: the seconds that one run may take".to_owned(),
    ];
    if finding.kind == Kind::Crash {
        lines.push("  BACKTRACE=1  in the environment: show the stack, if gdb is there".to_owned());
    }
    lines.push(String::new());
    lines.push(
        "exit code: 1 the bug shows, 0 it does not show, 125 that cannot be told: the solver cannot be"
            .to_owned(),
    );
    lines.push(
        "run, or gives no answer to judge. `git bisect run` takes these for bad, good and skip.".to_owned(),
    );
    let comments: String = lines.iter().map(|line| format!("{}\n", format!("# {line}").trim_end())).collect();
    format!("#!/bin/sh\n{comments}")
}

/// What differs from one finding to the next, as variables and the function `call`.
fn settings(finding: &Finding) -> String {
    let Some(run) = finding.runs.first() else { return String::new() };
    let script = finding.script_name();
    let (name, words) = called(run, script);
    let mut line = String::from("limited \"$solver\"");
    for word in &words {
        line.push(' ');
        line += &match word.split_once(script) {
            Some((before, after)) => {
                let quoted = |part: &str| if part.is_empty() { String::new() } else { solver::quoted(part) };
                format!("{}\"$1\"{}", quoted(before), quoted(after))
            }
            None => solver::quoted(word),
        };
    }
    let input = if run.from_stdin { "\"$1\"" } else { "/dev/null" };
    format!(
        "\nname={}\nfound_with={}\ncall() {{ {line} <{input}; }}\n\n",
        solver::quoted(&name),
        run.program.as_deref().map_or_else(|| "''".to_owned(), solver::quoted),
    )
}

/// The program's name and its words. Findings of earlier versions have the command line as one text only.
fn called(run: &RunRecord, script: &str) -> (String, Vec<String>) {
    if !run.arguments.is_empty() {
        let name = run.program.as_deref().and_then(|path| path.rsplit('/').next());
        let name = name.unwrap_or_else(|| run.solver.split('@').next().unwrap_or_default());
        return (name.to_owned(), run.arguments.clone());
    }
    let mut words = run.command.split(' ').map(str::to_owned);
    let name = words.next().unwrap_or_default();
    let mut words: Vec<String> = words.collect();
    if !words.iter().any(|word| word.contains(script)) {
        words.push(script.to_owned());
    }
    (name, words)
}

/// Which answer counts, from 1.
fn number(finding: &Finding) -> usize {
    finding.check.unwrap_or(0) + 1
}

/// The recorded answer of a run to the check in question.
fn recorded<'f>(finding: &Finding, run: &'f RunRecord) -> Option<&'f str> {
    run.answers.get(finding.check.unwrap_or(0)).map(String::as_str)
}

fn run_script(finding: &Finding) -> String {
    format!("run \"$here/{}\"\n", finding.script_name())
}

/// `expected` and `saw`, then what the answer means: `wrong` shows the bug, no answer tells nothing, others are good.
fn judged(expected: &str, wrong: &str) -> String {
    let expected = foreign::shell_word(&format!("expected: {expected}"));
    let wrong = foreign::shell_word(wrong);
    format!(
        "say {expected}\nsay \"saw: ${{saw:-no answer}} ($(ended))\"\ncase $saw in\n{wrong}) shows ;;\n'') printed; \
         untold \"it gave no answer\" ;;\n*) gone ;;\nesac\n"
    )
}

fn wrong_answer(finding: &Finding) -> String {
    let right = finding.answer.unwrap_or(Status::Unknown);
    let wrong = if right == Status::Sat { "unsat" } else { "sat" };
    let place = place(finding);
    let expected = format!("{} (report.md says why){place}", word(right));
    format!("{}saw=$(answer {})\n{}", run_script(finding), number(finding), judged(&expected, wrong))
}

fn place(finding: &Finding) -> String {
    match finding.runs.first() {
        Some(run) if run.answers.len() > 1 => format!(", as answer {}", number(finding)),
        _ => String::new(),
    }
}

fn disagreement(finding: &Finding) -> String {
    let own = finding.runs.first().and_then(|run| recorded(finding, run)).unwrap_or("sat");
    let others: Vec<String> = finding
        .runs
        .iter()
        .filter(|run| recorded(finding, run).is_some_and(|answer| answer != own))
        .map(|run| format!("{} of {}", recorded(finding, run).unwrap_or_default(), run.solver))
        .collect();
    recorded_answer(finding, &format!("the answer {}; nobody knows who is right", others.join(", ")))
}

/// Where nothing but the recorded answer tells: it shows the bug.
fn recorded_answer(finding: &Finding, expected: &str) -> String {
    let own = finding.runs.first().and_then(|run| recorded(finding, run)).unwrap_or("sat");
    let expected = format!("{expected}{}", place(finding));
    format!("{}saw=$(answer {})\n{}", run_script(finding), number(finding), judged(&expected, own))
}

fn incremental(finding: &Finding) -> String {
    format!(
        "# The same assertions in the script, after other checks, and by themselves.\n\
         run \"$here/{ALONE}\"\nalone=$(answer 1)\n{}saw=$(answer {})\n\
         say \"expected: ${{alone:-no answer}}, as for the same assertions alone ({ALONE}){}\"\n\
         say \"saw: ${{saw:-no answer}} ($(ended))\"\n\
         case $alone/$saw in\nsat/unsat | unsat/sat) shows ;;\n/* | */) untold \"an answer is missing\" ;;\n*) gone ;;\nesac\n",
        run_script(finding),
        number(finding),
        place(finding)
    )
}

fn crash(finding: &Finding) -> String {
    let report = finding.runs.first().and_then(|run| run.crash.as_ref());
    let mut out = run_script(finding);
    out += "say \"expected: no crash\"\nsay \"saw: $(ended)\"\nprinted\n";
    out += "case $status in\n# By SIGILL, SIGTRAP, SIGABRT, SIGBUS, SIGFPE, SIGSEGV or SIGSYS.\n";
    out += "132 | 133 | 134 | 135 | 136 | 139 | 159) crashed=yes ;;\n*) crashed=no ;;\nesac\n";
    if let Some(needle) = report.and_then(needle) {
        let needle = foreign::shell_word(&needle);
        let _ = writeln!(out, "# By what it says.");
        let _ = writeln!(
            out,
            "if cat \"$work/out\" \"$work/err\" | tr -d '\\000' | grep -F -q -e {needle}; then crashed=yes; fi"
        );
    } else if let Some(code) = exit_code(finding) {
        let _ = writeln!(out, "# By its exit code.");
        let _ = writeln!(out, "if [ \"$status\" -eq {code} ]; then crashed=yes; fi");
    }
    out += "if [ $crashed = yes ]; then\n    if [ -n \"${BACKTRACE:-}\" ] && command -v gdb >/dev/null 2>&1; then\n";
    out += "        limited() { gdb -batch -ex run -ex backtrace --args \"$@\"; }\n";
    out += "        (cd \"$work\" && call \"$here/";
    out += finding.script_name();
    out += "\" 2>&1) | tail -n 60\n    fi\n    shows\nfi\n";
    out += "case $status in\n124 | 137) untold \"it did not end within $limit s\" ;;\nesac\ngone\n";
    out
}

/// The longest piece of a crash's words that does not depend on the run: without numbers, quotes and what a terminal
/// acts on. Nothing if that is too short to tell.
fn needle(crash: &CrashReport) -> Option<String> {
    let line = crash.message.lines().next().unwrap_or_default();
    let splits = |c: char| c.is_ascii_digit() || !(' '..='~').contains(&c) || "'\"`/".contains(c);
    let longest = line.split(splits).map(str::trim).max_by_key(|part| part.len())?;
    (longest.len() >= 6).then(|| longest.chars().take(120).collect())
}

/// The exit code of a crash that died of no signal.
fn exit_code(finding: &Finding) -> Option<u32> {
    let run = finding.runs.first()?;
    run.ended.strip_prefix("exit code ")?.split(',').next()?.parse().ok().filter(|code| *code != 0)
}

fn invalid_model(finding: &Finding, seen: bool) -> String {
    let mut out = format!(
        "# A model that is printed again as it was recorded is as wrong as then. Another one is put into the script as\n\
         # definitions, and the solver itself is asked whether the assertions hold.\n{}saw=$(answer {})\n",
        run_script(finding),
        number(finding)
    );
    out += "say \"expected: a model that satisfies the script, or another answer than sat\"\n";
    out += "say \"saw: ${saw:-no answer} ($(ended))\"\nprinted\n";
    out += "case $saw in\nsat) ;;\n'') untold \"it gave no answer\" ;;\n*) gone ;;\nesac\n";
    if seen {
        let _ = writeln!(
            out,
            "if [ \"$(plain_output \"$work/out\")\" = \"$(plain_output \"$here/{SEEN}\")\" ]; then shows; fi"
        );
    }
    let _ = writeln!(out, "script=$here/{}", finding.script_name());
    out + PUT_IN
}

fn same_output(finding: &Finding, expected: &str, seen: bool) -> String {
    let own = finding.runs.first().and_then(|run| recorded(finding, run)).unwrap_or_default();
    let mut out = format!(
        "# Without osprey only what was recorded can be recognised; `osprey replay` judges anything else.\n{}saw=$(answer {})\n",
        run_script(finding),
        number(finding)
    );
    let _ = writeln!(out, "say {}", foreign::shell_word(&format!("expected: {expected}")));
    out += "say \"saw: ${saw:-no answer} ($(ended))\"\nprinted\n";
    if !own.is_empty() {
        let own = foreign::shell_word(own);
        let _ =
            writeln!(out, "case $saw in\n{own}) ;;\n'') untold \"it gave no answer\" ;;\n*) gone ;;\nesac");
    }
    if seen {
        let _ = writeln!(
            out,
            "if [ \"$(plain_output \"$work/out\")\" = \"$(plain_output \"$here/{SEEN}\")\" ]; then shows; fi"
        );
    }
    out + "untold \"it printed something else than then: osprey replay judges it\"\n"
}

/// Slow is what takes more than the middle, by ratio, between the slow run and the slowest of the others.
fn performance(finding: &Finding) -> String {
    let seconds = |run: &RunRecord| (run.cpu_ms as f64 / 1000.0).max(0.01);
    let slow = finding.runs.first().map_or(1.0, seconds);
    let fast = finding.runs.iter().skip(1).map(seconds).fold(0.01, f64::max);
    let between = (slow * fast).sqrt().ceil().max(1.0) as u64;
    format!(
        "# It took {slow:.1} s, another solver {fast:.2} s; between the two lies\nlimit={between}\n\
         command -v timeout >/dev/null 2>&1 || untold \"the program timeout is missing\"\n{}\
         say \"expected: an answer within $limit s\"\nsay \"saw: $(answer {}) ($(ended))\"\n\
         case $status in\n124 | 137) shows ;;\nesac\ngone\n",
        run_script(finding),
        number(finding)
    )
}

fn further_files(finding: &Finding, text: &str) -> Vec<(&'static str, String)> {
    let Some(run) = finding.runs.first() else { return Vec::new() };
    let mut files = Vec::new();
    match finding.kind {
        Kind::Incremental => files.extend(alone(finding, run, text).map(|text| (ALONE, text))),
        // Answers alone are those of a release without the bug, too.
        Kind::InvalidModel if !prints_a_model(finding, run) => {}
        Kind::InvalidModel | Kind::UnsoundCore | Kind::WrongValue => {
            files.extend(output(run).map(|text| (SEEN, text)));
        }
        _ => {}
    }
    files
}

/// Did it print something behind the answer in question: its model, or that this is wrong?
fn prints_a_model(finding: &Finding, run: &RunRecord) -> bool {
    let output = run.stdout.as_bytes();
    let is_answer = |piece: &Piece| matches!(&output[piece.range.clone()], b"sat" | b"unsat" | b"unknown");
    let is_model = |piece: &Piece| match piece.kind {
        PieceKind::Group => true,
        PieceKind::Error => String::from_utf8_lossy(&output[piece.range.clone()]).contains("invalid model"),
        _ => false,
    };
    let mut answered = 0;
    let behind = reader::pieces(output).skip_while(|piece| {
        answered += usize::from(is_answer(piece));
        answered < number(finding)
    });
    behind.skip(1).take_while(|piece| !is_answer(piece)).any(|piece| is_model(&piece))
}

/// What it printed, if all of it is on record and can be shown as it is.
fn output(run: &RunRecord) -> Option<String> {
    let whole = !run.stdout.ends_with("\n[...]\n") && foreign::visible(&run.stdout) == run.stdout.as_str();
    (whole && !run.stdout.trim().is_empty()).then(|| run.stdout.clone())
}

/// The release whose dialect a run's script is written in.
fn release(finding: &Finding, run: &RunRecord) -> Release {
    let name =
        run.solver.split_once('@').map_or_else(|| finding.title.to_lowercase(), |(name, _)| name.into());
    let family = name.parse().unwrap_or(Family::Other);
    Release::new(family, run.version.parse().unwrap_or(Version::LATEST))
}

/// The assertions in force at the check in question, by themselves.
fn alone(finding: &Finding, run: &RunRecord, text: &str) -> Option<String> {
    let mut store = Store::new();
    let script = smtlib::parse(&mut store, text.as_bytes(), Mode::Tolerant).ok()?.script;
    let frame = frames(&store, &script).into_iter().nth(finding.check?)?;
    Some(print::print(&store, &frame.alone(), release(finding, run)))
}

/// Who has given the model that shows, put in, that a script was wrongly refuted: others have answered `sat` then.
pub fn vouching(finding: &Finding) -> Option<&RunRecord> {
    let put_in = finding.evidence.iter().any(|reason| reason.contains(oracle::settle::PUT_IN));
    let mut others = finding.runs.iter().skip(1);
    others
        .find(|run| recorded(finding, run) == Some("sat") && prints_a_model(finding, run))
        .filter(|_| finding.kind == Kind::RefutationSoundness && put_in)
}

/// A model as definitions.
enum PutIn {
    /// The script with these in it, for the release that is accused.
    Text(String),
    /// It is not: without what the model says of a case that the standard leaves open, the script may be true.
    Open,
}

/// The script with the model that the run printed put in as definitions.
fn with_model(finding: &Finding, run: &RunRecord, text: &str) -> Option<PutIn> {
    let mut store = Store::new();
    let script = smtlib::parse(&mut store, text.as_bytes(), Mode::Tolerant).ok()?.script;
    let mut checks = frames(&store, &script);
    // Between several checks it is not clear which model is whose.
    let frame = checks.pop().filter(|_| checks.is_empty())?;
    let release = release(finding, run);
    let output = output(run)?;
    let model = output.trim_start().strip_prefix("sat")?;
    let read = read_model(&mut store, &frame.script, model.as_bytes(), release).ok()?;
    let accused = finding.runs.first().map_or(release, |run| self::release(finding, run));
    let is_wrong = |model: &Model| {
        let mut evaluator = Evaluator::new(eval::Mode::Given, Budget::default());
        let mut values = frame.formulas().into_iter().map(|formula| evaluator.holds(&store, model, formula));
        values.any(|value| value == Ok(false))
    };
    let mut defined = read.model.clone();
    *defined.open_mut() = OpenCases::default();
    if is_wrong(&read.model) && !is_wrong(&defined) {
        return Some(PutIn::Open);
    }
    Some(PutIn::Text(ground(&mut store, &frame, &read.model, &read.defaulted, accused).text))
}
