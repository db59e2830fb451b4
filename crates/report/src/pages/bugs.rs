//! The first page: what was found, the most important first.

use campaign::findings::Fairness;
use maud::{Markup, html};

use super::{
    BUGS, Medium, SETTINGS, counted, duration, kind_counted, kind_label, kind_name, notes, number, page, text,
};
use crate::bugs::{Bug, Entry};
use crate::chart::{short, sparkline};
use crate::curves::{Axis, Clock, cumulative};
use crate::highlight;
use crate::overview::{Overview, said};

/// Bugs that are shown with their scripts.
const FIRST: usize = 3;

/// Lines and bytes of a script that are shown there.
const LINES: usize = 9;
const BYTES: usize = 700;

/// The page. `script` gives the text that shows a finding.
pub fn bugs(overview: &Overview, medium: Medium, script: &dyn Fn(&Entry) -> String) -> Markup {
    let title = format!("{} in {}", overview.found(), overview.solvers());
    let body = html! {
        h1 { (text(&title)) }
        p.lead { (lead(overview)) }
        (notes(overview))
        section #tiles.tiles aria-label="Counts" { (tiles(overview)) }
        section #first aria-labelledby="first-title" {
            @if overview.bugs.is_empty() {
                h2 #first-title { "Nothing found" }
                p { (nothing(overview)) }
            } @else {
                h2 #first-title { "Look at these first" }
                div.cards {
                    @for (place, bug) in overview.bugs.iter().take(FIRST).enumerate() {
                        (card(place + 1, bug, &script(&bug.example)))
                    }
                }
            }
        }
        @if !overview.bugs.is_empty() {
            section #all aria-labelledby="all-title" {
                h2 #all-title { "All bugs" }
                (controls(overview))
                (table(overview))
            }
        }
    };
    page(overview, medium, "", BUGS, &title, &body)
}

/// The campaign in one sentence.
fn lead(overview: &Overview) -> Markup {
    let references =
        overview.identity.as_ref().map(|identity| identity.references.join(", ")).unwrap_or_default();
    html! {
        "The campaign " code { (text(&overview.name)) }
        @if overview.totals.tests > 0 {
            " made " span data-n="made" { (counted(overview.totals.tests, "test", "tests")) } " in "
            span data-n="elapsed" { (duration(overview.totals.elapsed())) }
        }
        @if !references.is_empty() { ", with " (text(&references)) " as reference" }
        "."
        @if let Some(performance) = &overview.performance {
            " Where " (text(&performance.target)) " is slow, and what to blame: " a href=(SETTINGS) { "plots and margins" } "."
        }
    }
}

/// What to make of a campaign that found nothing.
fn nothing(overview: &Overview) -> String {
    if let Some(performance) = &overview.performance {
        return format!(
            "No input was found on which {} is far slower than others.",
            text(&performance.target)
        );
    }
    match (overview.totals.tests, overview.condition) {
        (0, crate::overview::Condition::Running { .. }) => "The campaign has just begun.".to_owned(),
        (0, _) => "The campaign has made no test yet: `osprey fuzz` makes some.".to_owned(),
        (tests, _) => format!("No solver misbehaved in {}.", counted(tests, "test", "tests")),
    }
}

/// The numbers on top. Those that change while it runs can be replaced by name.
fn tiles(overview: &Overview) -> Markup {
    let clock = Clock::new(&overview.samples, overview.started.unwrap_or_default(), overview.at);
    let line = |count| cumulative(&overview.samples, &clock, Axis::Time, count).into_iter().next();
    let (functions, blocks) = overview.reached();
    let cpu = (overview.totals.solver_cpu() + overview.totals.own_cpu) as f64 / 1e6;
    html! {
        div.tile {
            span.label { "Bugs" }
            b data-n="bugs" { (overview.found()) }
            span.more {
                @for (place, (kind, count)) in overview.kinds().into_iter().enumerate() {
                    @if place > 0 { ", " }
                    (kind_counted(kind, count))
                }
            }
        }
        @if overview.totals.tests > 0 {
            div.tile {
                span.label { "Tests" }
                b data-n="tests" { (number(overview.totals.tests)) }
                span.more { span data-n="rate" { (format!("{:.1}", overview.rate())) } " per second" }
                @if let Some(line) = line(|sample| sample.tests) { (sparkline(&line)) }
            }
            div.tile {
                span.label { "Duplicates" }
                b data-n="duplicates" { (number(overview.totals.duplicates)) }
                span.more { "test cases that showed a known bug again" }
            }
            div.tile {
                span.label { "CPU time" }
                b data-n="cpu" { (duration(std::time::Duration::from_secs_f64(cpu))) }
                span.more { (format!("{:.1} % of it our own", overview.totals.own_share() * 100.0)) }
            }
        }
        @if blocks > 0 {
            div.tile {
                span.label { "Code reached" }
                b data-n="blocks" { (short(blocks as f64)) " blocks" }
                span.more { (number(functions)) " functions" }
                @if let Some(line) = line(|sample| sample.blocks) { (sparkline(&line)) }
            }
        }
    }
}

/// A bug that somebody has to look at.
fn card(rank: usize, bug: &Bug, script: &str) -> Markup {
    let entry = &bug.example;
    let (shown, cut) = beginning(script);
    html! {
        article.card {
            h3 {
                span.rank { (rank) }
                a href=(link("", entry)) { (text(&entry.headline)) }
            }
            p.facts {
                (kind_label(bug.kind))
                @for fact in facts(bug) { span.fact { (text(&fact)) } }
            }
            @if shown.is_empty() { p.more { "Its script is gone." } }
            @else { pre.smt { code { (highlight::script(shown)) } } }
            @if cut { p.more { a href=(link("", entry)) { "the rest of the script" } } }
            p.answers { (answers(entry)) }
        }
    }
}

/// Who says what, in one line.
fn answers(entry: &Entry) -> Markup {
    let finding = &entry.finding;
    html! {
        @for (place, run) in finding.runs.iter().enumerate() {
            span class=(if place == 0 && finding.accused.is_some() { "answer bad" } else { "answer" }) {
                (text(&run.solver)) ": " b { (text(&said(run, finding.check))) }
            }
        }
        @if let Some(answer) = finding.answer {
            span.answer.good { "right: " b { (if answer == smtlib::Status::Sat { "sat" } else { "unsat" }) } }
        }
    }
}

/// What else a developer wants to know at once.
fn facts(bug: &Bug) -> Vec<String> {
    let entry = &bug.example;
    let mut facts = vec![entry.affected()];
    if let Some(fixed) = entry.finding.releases.as_ref().and_then(|releases| releases.first_fixed.as_ref()) {
        facts.push(format!("fixed in {fixed}"));
    }
    facts.push(match entry.options().as_slice() {
        [] => "default options".to_owned(),
        options => options.join(" "),
    });
    if entry.fairness() == Fairness::Unfair {
        facts.push(format!("not fair: {}", Fairness::Unfair.meaning()));
    }
    facts.push(format!("shown by {}", counted(bug.shown, "test", "tests")));
    if bug.state() != "new" {
        facts.push(bug.state().to_owned());
    }
    facts
}

/// As much of a script as a card has room for, and whether something is missing.
fn beginning(script: &str) -> (&str, bool) {
    let script = script.trim_end();
    let lines = script.match_indices('\n').nth(LINES - 1).map_or(script.len(), |(place, _)| place);
    let mut end = lines.min(BYTES);
    while !script.is_char_boundary(end) {
        end -= 1;
    }
    (&script[..end], end < script.len())
}

/// The page of a finding.
pub(super) fn link(root: &str, entry: &Entry) -> String {
    format!("{root}finding/{}.html", address(&entry.name()))
}

/// A name in an address. Names of folders are letters, digits, dots and dashes, unless somebody has renamed one.
pub(super) fn address(name: &str) -> String {
    let mut out = String::with_capacity(name.len());
    for byte in name.bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'.' | b'-' | b'_' | b'~' => out.push(char::from(byte)),
            byte => out += &format!("%{byte:02X}"),
        }
    }
    out
}

/// Works with the script only, so the script shows it.
fn controls(overview: &Overview) -> Markup {
    let column = |of: &dyn Fn(&Bug, &Entry) -> String| {
        let mut values: Vec<String> = overview.entries().map(|(bug, entry)| of(bug, entry)).collect();
        values.sort();
        values.dedup();
        values
    };
    let lists = [
        ("kind", column(&|_, entry| kind_name(entry.finding.kind).to_owned())),
        ("solver", column(&|_, entry| entry.finding.solver.clone())),
        ("state", column(&|bug, entry| state_word(bug, entry).to_owned())),
    ];
    html! {
        form #controls hidden {
            label { "Filter " input #filter type="search" placeholder="any words, e.g. str.replace fair" autocomplete="off"; }
            @for (name, values) in &lists {
                @if values.len() > 1 {
                    label { (name) " "
                        select data-column=(name) {
                            option value="" { "all" }
                            @for value in values { option { (text(value)) } }
                        }
                    }
                }
            }
            @let faces: usize = overview.bugs.iter().map(|bug| bug.faces.len()).sum();
            @if faces > 0 {
                label { input #faces type="checkbox"; " other faces of the same bugs (" (faces) ")" }
            }
            output #count for="filter" {}
        }
    }
}

/// Columns: name, what it means, whether it is numbers.
const COLUMNS: [(&str, &str, bool); 12] = [
    ("#", "the most important first", true),
    ("bug", "", false),
    ("kind", "", false),
    ("solver", "", false),
    ("release", "the newest release that is known to have it", false),
    ("theory", "", false),
    ("size", "expressions of the script that shows it", true),
    ("duplicates", "test cases that showed the same again", true),
    ("engine", "", false),
    ("options", "", false),
    ("fair", "would the developers take a report about these options?", false),
    ("state", "", false),
];

fn table(overview: &Overview) -> Markup {
    html! {
        div.wide tabindex="0" role="region" aria-label="All findings" {
            table #findings {
                thead { tr {
                    @for (name, meaning, numbers) in COLUMNS {
                        th scope="col" data-column=(name) title=[(!meaning.is_empty()).then_some(meaning)]
                            class=[numbers.then_some("n")] { (name) }
                    }
                } }
                tbody {
                    @for (place, bug) in overview.bugs.iter().enumerate() {
                        @for (member, entry) in bug.members().enumerate() {
                            (row(place + 1, member > 0, bug, entry))
                        }
                    }
                }
            }
        }
    }
}

fn row(rank: usize, face: bool, bug: &Bug, entry: &Entry) -> Markup {
    let finding = &entry.finding;
    let fairness = entry.fairness();
    let options = entry.options();
    html! {
        tr class=[face.then_some("face")] {
            td.n { (rank) }
            td.what { a href=(link("", entry)) { (text(what(&entry.headline))) } @if finding.flaky { " (flaky)" } }
            td { (kind_label(finding.kind)) }
            td { (text(&finding.solver)) }
            td { (text(&entry.newest_release())) }
            td { (text(&entry.theory())) }
            td.n { @if let Some((nodes, _)) = entry.size() { (nodes) } }
            td.n { (entry.duplicates) }
            td { (text(&finding.provenance.engine)) }
            td { @if options.is_empty() { "default" } @else { (text(&options.join(" "))) } }
            td title=(fairness.meaning()) { (fairness.word()) }
            td { (state(bug, entry)) }
        }
    }
}

/// What a person said, and else how far it has come.
fn state_word<'a>(bug: &'a Bug, entry: &'a Entry) -> &'a str {
    match bug.state() {
        "new" if entry.stage() != "reduced" => entry.stage(),
        word => word,
    }
}

/// That with a link, if the person left one.
fn state(bug: &Bug, entry: &Entry) -> Markup {
    let web = bug.mark.as_ref().map(|mark| mark.link.as_str()).filter(|link| is_web(link));
    let word = state_word(bug, entry);
    html! {
        @match web {
            Some(link) => { a href=(link) rel="noopener noreferrer" { (word) } }
            None => { (word) }
        }
    }
}

/// Can it be followed without harm?
pub(super) fn is_web(link: &str) -> bool {
    let safe = |c: char| c.is_ascii_graphic() && !"\"'<>\\".contains(c);
    (link.starts_with("https://") || link.starts_with("http://")) && link.chars().all(safe)
}

/// The headline without the solver and what the kind says already.
fn what(headline: &str) -> &str {
    headline.split_once(": ").map_or(headline, |(_, needs)| needs)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_card_shows_the_beginning_of_a_script() {
        assert_eq!(beginning("(check-sat)\n"), ("(check-sat)", false));
        let long = "(push 1)\n".repeat(40);
        let (shown, cut) = beginning(&long);
        assert!(cut && shown.lines().count() == LINES, "{shown}");
        let wide = "ä".repeat(BYTES);
        assert!(beginning(&wide).1);
    }

    #[test]
    fn only_addresses_of_the_web_are_links() {
        assert!(is_web("https://github.com/Z3Prover/z3/issues/1"));
        for link in ["javascript:alert(1)", "data:text/html,x", "https://a\"b", "https://a b", "//a", ""] {
            assert!(!is_web(link), "{link}");
        }
        assert_eq!(address("crash-z3-4.8.7-0a"), "crash-z3-4.8.7-0a");
        assert_eq!(address("a/../b\"<"), "a%2F..%2Fb%22%3C");
    }
}
