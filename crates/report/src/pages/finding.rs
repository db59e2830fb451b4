//! The page of a finding: everything a developer needs to believe it, see it again and report it.

use campaign::findings::{MarkState, RecheckOutcome, Releases, RunRecord};
use maud::{Markup, html};
use smtlib::{Status, Version};

use super::bugs::{address, is_web, link};
use super::{Medium, date, kind_label, notes, number, page, text};
use crate::bugs::{Bug, Entry};
use crate::folder::Texts;
use crate::highlight;
use crate::overview::{Overview, said};

/// Longer texts are in their files only.
const INLINE: usize = 60_000;

/// The page of a finding of the bug at this place.
pub fn finding(
    overview: &Overview,
    medium: Medium,
    place: usize,
    bug: &Bug,
    entry: &Entry,
    texts: &Texts,
) -> Markup {
    let finding = &entry.finding;
    let (name, files) = (entry.name(), texts.names());
    let file = |file: &str| files.iter().any(|name| name == file);
    let body = html! {
        @if medium == Medium::Live { (notes(overview)) }
        nav #crumbs.crumbs aria-label="Bugs" {
            a href="../index.html" { "All bugs" }
            @if place > 0 { a rel="prev" href=(link("../", &overview.bugs[place - 1].example)) { "← bug " (place) } }
            span { "bug " (place + 1) " of " (overview.bugs.len()) }
            @if let Some(next) = overview.bugs.get(place + 1) {
                a rel="next" href=(link("../", &next.example)) { "bug " (place + 2) " →" }
            }
        }
        section #finding {
        h1 { (text(&entry.headline)) }
        p.facts {
            (kind_label(finding.kind))
            span.fact { (text(&entry.affected())) }
            span.fact { (entry.fairness().meaning()) }
            span.fact { (bug.state()) }
            @if finding.flaky { span.fact { "does not repeat in every run" } }
            @if finding.is_pending() { span.fact { "neither made small nor told apart yet" } }
        }
        p.lead { (text(&finding.summary)) }
        (mark(bug))
        section aria-labelledby="script" {
            h2 #script { "Script " (save(&name, finding.script_name(), file(finding.script_name()))) }
            (code(texts.get(finding.script_name()), true))
            p.more { (sizes(entry)) }
        }
        section aria-labelledby="answers" {
            h2 #answers { "Answers" }
            div.runs {
                @for (place, run) in finding.runs.iter().enumerate() {
                    (answered(run, place == 0 && finding.accused.is_some(), finding.check))
                }
                (expected(entry))
            }
        }
        (proof(entry, texts))
        @if let Some(releases) = &finding.releases { (strip(releases)) }
        (rechecks(entry))
        (needs(entry))
        section aria-labelledby="tracker" {
            h2 #tracker { "For the tracker " (save(&name, "report.md", file("report.md"))) }
            @match texts.get("report.md") {
                Some(report) => { details open { summary { "the text" } (plain(report)) } }
                None => { p { "There is no text yet." } }
            }
        }
        section aria-labelledby="again" {
            h2 #again { "To see it again " (save(&name, "repro.sh", file("repro.sh"))) }
            p { "With nothing but the solver, in the folder of the finding: " code { "./repro.sh [SOLVER]" } }
            p { "With osprey: " code { "osprey replay " (text(&entry.folder.display().to_string())) } }
            @if let Some(repro) = texts.get("repro.sh") { details { summary { "the script" } (plain(repro)) } }
        }
        @if finding.script_name() != "input.smt2" {
            section aria-labelledby="original" {
                h2 #original { "Original " (save(&name, "input.smt2", file("input.smt2"))) }
                details { summary { "as it was before it was made small" } (code(texts.get("input.smt2"), false)) }
            }
        }
        (origin(entry))
        (others(bug, entry))
        section aria-labelledby="files" {
            h2 #files { "Files" }
            ul.files { @for file in &files { li { a href=(path(&name, file)) { (text(file)) } } } }
        }
        }
    };
    page(overview, medium, "../", "", &entry.headline, &body)
}

/// A file of a finding, seen from its page.
fn path(name: &str, file: &str) -> String {
    let parts: Vec<String> = file.split('/').map(address).collect();
    format!("../files/{}/{}", address(name), parts.join("/"))
}

/// A link to a file, if it is there.
fn save(name: &str, file: &str, there: bool) -> Markup {
    html! { @if there { a.file href=(path(name, file)) { (file) } } }
}

/// A script with a button that copies it.
fn code(script: Option<&str>, copy: bool) -> Markup {
    html! {
        @match script {
            Some(script) if script.len() <= INLINE => {
                pre.smt data-copy=[copy.then_some("")] tabindex="0" { code { (highlight::script(script)) } }
            }
            Some(script) => { p { "It has " (number(script.len() as u64)) " bytes and is in its file only." } }
            None => { p { "Its file is gone." } }
        }
    }
}

/// A text with a button that copies it.
fn plain(shown: &str) -> Markup {
    html! {
        @if shown.len() <= INLINE { pre data-copy="" tabindex="0" { code { (text(shown)) } } }
        @else { p { "It has " (number(shown.len() as u64)) " bytes and is in its file only." } }
    }
}

/// What a person has said.
fn mark(bug: &Bug) -> Markup {
    let Some(mark) = &bug.mark else { return html! {} };
    let words = match mark.state {
        MarkState::Reported => "Reported",
        MarkState::Known => "Known to the developers",
        MarkState::Fixed => "Fixed",
        MarkState::NotABug => "Not a bug",
    };
    html! {
        div.mark role="note" {
            b { (words) } ", " (date(mark.at)) ". " (text(&mark.note)) " "
            @if is_web(&mark.link) { a href=(mark.link) rel="noopener noreferrer" { (mark.link) } }
            @else { (text(&mark.link)) }
        }
    }
}

fn sizes(entry: &Entry) -> String {
    use campaign::findings::Stage;
    match &entry.finding.stage {
        Stage::Reduced(shrunk) => {
            let more = if shrunk.finished { "" } else { "; it could be made smaller still" };
            format!(
                "{} expressions, {} bytes; made small from {} expressions, {} bytes{more}",
                number(shrunk.after.nodes as u64),
                number(shrunk.after.bytes as u64),
                number(shrunk.before.nodes as u64),
                number(shrunk.before.bytes as u64)
            )
        }
        Stage::Unreduced => "It has not been made small.".to_owned(),
        Stage::Pending { .. } => "It has not been made small yet.".to_owned(),
    }
}

/// One run.
fn answered(run: &RunRecord, accused: bool, check: Option<usize>) -> Markup {
    let output = [run.stdout.trim_end(), run.stderr.trim_end()].join("\n");
    html! {
        article class=(if accused { "run bad" } else { "run" }) {
            h3 { (text(&run.solver)) @if accused { " (accused)" } }
            p.said { (text(&said(run, check))) }
            p { code { (text(&run.command)) } }
            p.more {
                @if !run.origin.is_empty() { (text(&run.origin)) ", " }
                (format!("{:.3} s CPU", run.cpu_ms as f64 / 1000.0))
                @if !run.ended.is_empty() { ", " (text(&run.ended)) }
            }
            @if !output.trim().is_empty() {
                details { summary { "output" } pre tabindex="0" { code { (text(output.trim())) } } }
            }
            @if let Some(crash) = run.crash.as_ref().filter(|crash| !crash.frames.is_empty()) {
                details open { summary { "stack, innermost first" }
                    pre tabindex="0" { code { (text(&crash.frames.join("\n"))) } }
                }
            }
        }
    }
}

/// What should have happened, and why.
fn expected(entry: &Entry) -> Markup {
    let finding = &entry.finding;
    html! {
        article.run.good {
            h3 { "Right" }
            p.said {
                @match finding.answer {
                    Some(Status::Sat) => "sat",
                    Some(Status::Unsat) => "unsat",
                    _ => { @match finding.kind {
                        oracle::Kind::InvalidModel => "a model that satisfies the script",
                        oracle::Kind::Crash => "an answer, or an error message",
                        oracle::Kind::Incremental => "the answer that the same assertions get by themselves",
                        oracle::Kind::UnsoundCore => "a core that is unsatisfiable",
                        oracle::Kind::WrongValue => "the values of the model",
                        oracle::Kind::Performance => "an answer in a time like that of the others",
                        _ => "the same answer from all of them",
                    } }
                }
            }
            @if !finding.evidence.is_empty() {
                ul { @for reason in &finding.evidence { li { (text(reason)) } } }
            }
        }
    }
}

/// How anybody can see it.
fn proof(entry: &Entry, texts: &Texts) -> Markup {
    let finding = &entry.finding;
    let shown = [
        ("with-model.smt2", "With the solver's own model put in, the script is unsatisfiable"),
        ("ground.smt2", "With these values put in, every assertion is true"),
        (finding.witness_name(), "A model that satisfies the script: every assertion evaluates to true"),
    ];
    let there: Vec<(&str, &str, &str)> =
        shown.iter().filter_map(|(file, why)| texts.get(file).map(|text| (*file, *why, text))).collect();
    html! {
        @if !there.is_empty() {
            section aria-labelledby="proof" {
                h2 #proof { "How we know" }
                @for (place, (file, why, script)) in there.iter().enumerate() {
                    details open[place == 0] {
                        summary { (why) " " (save(&entry.name(), file, true)) }
                        (code(Some(script), false))
                    }
                }
            }
        }
    }
}

/// Releases in their order, and which of them have it.
fn strip(releases: &Releases) -> Markup {
    let of = |names: &[String], class: &'static str, word: &'static str| {
        names.iter().map(|name| (name.clone(), class, word)).collect::<Vec<_>>()
    };
    let mut all = of(&releases.affected, "bad", "has it");
    all.extend(of(&releases.clean, "good", "does not have it"));
    all.extend(of(&releases.inferred, "silent", "between those that have it, and most likely has it"));
    all.extend(of(&releases.silent, "silent", "not known"));
    all.extend(of(&releases.unable, "silent", "cannot read the script"));
    all.sort_by_cached_key(|(name, ..)| {
        name.split_once('@').and_then(|(_, version)| version.parse::<Version>().ok())
    });
    html! {
        section aria-labelledby="releases" {
            h2 #releases { "Releases" }
            ul.releases {
                @for (name, class, word) in &all {
                    li class=(class) title=(word) { (text(name)) span.hidden { ": " (word) } }
                }
            }
            p.more {
                "Filled ones have the bug."
                @if let Some(good) = &releases.last_good { " The last one without it before, of those asked: " (text(good)) "." }
                @if let Some(fixed) = &releases.first_fixed { " The first one without it afterwards, of those asked: " (text(fixed)) "." }
            }
        }
    }
}

/// What other releases did when they were asked later.
fn rechecks(entry: &Entry) -> Markup {
    let rechecks = &entry.finding.handling.rechecks;
    html! {
        @if !rechecks.is_empty() {
            section aria-labelledby="rechecks" {
                h2 #rechecks { "Checked again" }
                ul {
                    @for one in rechecks {
                        li class=[looks(one.outcome)] {
                            (text(&one.solver)) ": " b { (one.outcome.words()) } " (" (text(&one.said)) "), "
                            (date(one.at))
                        }
                    }
                }
            }
        }
    }
}

fn looks(outcome: RecheckOutcome) -> Option<&'static str> {
    match outcome {
        RecheckOutcome::StillThere | RecheckOutcome::Changed => Some("bad"),
        RecheckOutcome::Fixed => Some("good"),
        RecheckOutcome::Unknown => None,
    }
}

/// Which constructs it needs.
fn needs(entry: &Entry) -> Markup {
    let blamed: Vec<_> = entry.finding.blame.to_blame().collect();
    html! {
        @if !blamed.is_empty() {
            section aria-labelledby="needs" {
                h2 #needs { "What it needs" }
                ul.constructs {
                    @for one in blamed {
                        li { code { (text(&one.construct)) }
                            @if !one.stays_with.is_empty() {
                                " (a form with " (text(&one.stays_with.join(", "))) " keeps it)"
                            }
                        }
                    }
                }
                @if let Some(reached) = &entry.finding.blame.reached {
                    p { "Functions of the solver that the script reaches, and none of its " (reached.variants)
                        " likest variants without the misbehaviour:" }
                    ul.constructs {
                        @for function in &reached.functions { li { code { (text(function)) } } }
                    }
                }
            }
        }
    }
}

/// Where the test case comes from.
fn origin(entry: &Entry) -> Markup {
    let origin = &entry.finding.provenance;
    html! {
        section aria-labelledby="origin" {
            h2 #origin { "Where it comes from" }
            dl {
                dt { "Engine" } dd { (text(&origin.engine)) ", round " (origin.round) ", step " (origin.step) }
                dt { "Logic" } dd { (text(&origin.logic)) }
                @if !origin.seeds.is_empty() {
                    dt { "Seeds" }
                    @for seed in &origin.seeds { dd { (text(&seed.name)) } }
                }
                @if !origin.changes.is_empty() {
                    dt { "Changes" } dd { (text(&origin.changes.join("; "))) }
                }
                dt { "Found" } dd { (date(entry.finding.found)) ", by osprey " (text(&entry.finding.osprey)) }
                dt { "Platform" } dd { (text(&entry.finding.platform)) }
                dt { "Signature" } dd { (text(&entry.finding.signature.to_string())) }
                dt { "Duplicates" } dd { (number(entry.duplicates)) }
            }
        }
    }
}

/// The other findings that are taken for the same bug.
fn others(bug: &Bug, entry: &Entry) -> Markup {
    let others: Vec<&Entry> = bug.members().filter(|other| other.folder != entry.folder).collect();
    html! {
        @if !others.is_empty() {
            section aria-labelledby="faces" {
                h2 #faces { "Other faces of this bug" }
                @if let Some(group) = &entry.finding.group { p { "It is taken for one bug with them: " (text(&group.why)) "." } }
                ul { @for other in others { li { a href=(link("../", other)) { (text(&other.headline)) } } } }
            }
        }
    }
}
