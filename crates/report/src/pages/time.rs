//! The campaign over time, and what its choices brought.

use std::collections::BTreeMap;

use campaign::store::{CONSTRUCT, Counts, DEFAULT_OPTIONS, ENGINE, LOGIC, OPTION, Sample};
use maud::{Markup, html};

use super::{Medium, SETTINGS, TIME, duration, notes, number, page, text};
use crate::chart::chart;
use crate::curves::{Axis, Clock, cumulative};
use crate::overview::Overview;

/// What is drawn: a title, and the count whose sum it is.
type Curve = (&'static str, fn(&Sample) -> u64);

const CURVES: [Curve; 5] = [
    ("Bugs", |sample| sample.findings),
    ("Tests", |sample| sample.tests),
    ("Blocks reached", |sample| sample.blocks),
    ("Functions reached", |sample| sample.functions),
    ("Tests with new behaviour", |sample| sample.novel),
];

/// Rows of a ranking.
const ROWS: usize = 40;

/// The page.
pub fn time(overview: &Overview, medium: Medium) -> Markup {
    let clock = Clock::new(&overview.samples, overview.started.unwrap_or_default(), overview.at);
    let drawn = CURVES.iter().filter(|(_, count)| overview.samples.iter().any(|sample| count(sample) > 0));
    let body = html! {
        h1 { "Over time" }
        (notes(overview))
        section #curves data-fresh="curves" {
            @if overview.performance.is_some() {
                p { "What performance fuzzing has measured is on the page " a href=(SETTINGS) { "Campaign" } "." }
            } @else if overview.samples.is_empty() { p { "There is nothing to draw yet." } }
            @if clock.paused > 0 {
                p.more { "Time in which the campaign ran; it stood still for "
                    (duration(std::time::Duration::from_secs(clock.paused))) " in between." }
            }
            @for (title, count) in drawn {
                div.pair {
                    (chart(&format!("{title} over time"),
                        &cumulative(&overview.samples, &clock, Axis::Time, *count)))
                    (chart(&format!("{title} over CPU time"),
                        &cumulative(&overview.samples, &clock, Axis::Cpu, *count)))
                }
            }
        }
        section #choices data-fresh="curves" {
            (choices("Engines", "The scheduler gives an engine more time if it pays.", overview, ENGINE))
            (choices("Logics", "Of generated scripts.", overview, LOGIC))
            (rankings(overview))
        }
    };
    page(overview, medium, "", TIME, "Over time", &body)
}

/// What a kind of choice has cost and brought.
fn choices(title: &str, what: &str, overview: &Overview, kind: &str) -> Markup {
    let mut rows: Vec<(&str, &Counts)> = overview.learned.of_kind(kind).collect();
    rows.sort_by_key(|(name, counts)| (std::cmp::Reverse(counts.cpu), *name));
    let all: u64 = rows.iter().map(|(_, counts)| counts.cpu).sum();
    html! {
        @if !rows.is_empty() {
            h2 { (title) }
            p.more { (what) }
            div.wide tabindex="0" role="region" aria-label=(title) { table.small {
                thead { tr {
                    th scope="col" { "name" } th.n scope="col" { "share of CPU" } th scope="col" {}
                    th.n scope="col" { "CPU" } th.n scope="col" { "rounds" } th.n scope="col" { "tests" }
                    th.n scope="col" { "bugs" } th.n scope="col" { "new behaviour" }
                } }
                tbody { @for (name, counts) in rows.iter().take(ROWS) {
                    @let share = counts.cpu as f64 / all.max(1) as f64;
                    tr {
                        td { (text(name)) }
                        td.n { (format!("{:.0} %", share * 100.0)) }
                        td { meter min="0" max="1" value=(format!("{share:.3}")) {} }
                        td.n { (duration(counts.cpu_time())) }
                        td.n { (number(counts.rounds)) }
                        td.n { (number(counts.tests)) }
                        td.n { (number(counts.findings)) }
                        td.n { (number(counts.novel)) }
                    }
                } }
            } }
        }
    }
}

/// A construct or option: bugs that need it, and test cases or runs that had it, where that is counted.
struct Ranked<'a> {
    name: &'a str,
    bugs: u64,
    had: Option<u64>,
}

/// What is ranked, in words, and what the share is of.
struct Words {
    title: &'static str,
    meaning: &'static str,
    had: &'static str,
    of: u64,
}

/// What bugs need, and how often it was tried.
fn rankings(overview: &Overview) -> Markup {
    let (mut constructs, mut options): (BTreeMap<String, u64>, BTreeMap<String, u64>) = Default::default();
    for bug in overview.bugs.iter() {
        let finding = &bug.example.finding;
        for blamed in finding.blame.to_blame() {
            if !blamed.construct.starts_with(reduce::blame::OPTION) {
                *constructs.entry(blamed.construct.clone()).or_default() += 1;
            }
        }
        let settings = finding.runs.first().map(|run| run.settings.as_slice()).unwrap_or_default();
        for setting in settings {
            *options.entry(setting.option.clone()).or_default() += 1;
        }
        if settings.is_empty() {
            *options.entry(DEFAULT_OPTIONS.to_owned()).or_default() += 1;
        }
    }
    let of_constructs = Words {
        title: "Constructs",
        meaning: "needed by bugs, and how many tests had them",
        had: "tests",
        of: overview.totals.tests,
    };
    let of_options = Words {
        title: "Options",
        meaning: "set in bugs, and the share of runs that the scheduler gave them",
        had: "runs",
        of: overview.totals.test_runs(),
    };
    html! {
        div.pair {
            (ranking(&of_constructs, overview, CONSTRUCT, &constructs))
            (ranking(&of_options, overview, OPTION, &options))
        }
    }
}

fn ranking(words: &Words, overview: &Overview, kind: &str, bugs: &BTreeMap<String, u64>) -> Markup {
    let tried: BTreeMap<&str, u64> =
        overview.learned.of_kind(kind).map(|(name, counts)| (name, counts.tests)).collect();
    // A construct may name its sort, as in `+ Int`; tests are counted by operator.
    let had = |name: &str| {
        let operator = name.split(' ').next().unwrap_or(name);
        tried.get(name).or(tried.get(operator)).copied()
    };
    let share = |had: u64| format!("{:.1} %", had as f64 * 100.0 / words.of.max(1) as f64);
    let names = tried.keys().copied().chain(bugs.keys().map(String::as_str));
    let mut rows: Vec<Ranked> = names
        .map(|name| Ranked { name, bugs: bugs.get(name).copied().unwrap_or(0), had: had(name) })
        .collect();
    rows.sort_by_key(|row| (std::cmp::Reverse((row.bugs, row.had)), row.name));
    rows.dedup_by_key(|row| row.name);
    let left = rows.len().saturating_sub(ROWS);
    html! {
        @if !rows.is_empty() {
            div {
                h2 { (words.title) }
                p.more { (words.meaning) }
                div.wide tabindex="0" role="region" aria-label=(words.title) { table.small {
                    thead { tr {
                        th scope="col" { "name" } th.n scope="col" { "bugs" } th.n scope="col" { (words.had) }
                        th.n scope="col" { "share" }
                    } }
                    tbody { @for row in rows.iter().take(ROWS) {
                        tr {
                            td { code { (text(row.name)) } }
                            td.n { (row.bugs) }
                            @match row.had {
                                Some(had) => { td.n { (number(had)) } td.n { (share(had)) } }
                                None => { td.n title="not counted" { "–" } td.n {} }
                            }
                        }
                    } }
                } }
                @if left > 0 { p.more { (left) " more" } }
            }
        }
    }
}
