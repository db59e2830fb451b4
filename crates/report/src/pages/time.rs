//! The campaign over time, and what its choices brought.

use std::collections::BTreeMap;

use campaign::store::{CONSTRUCT, Counts, ENGINE, LOGIC, OPTION, Sample};
use maud::{Markup, html};

use super::{Medium, TIME, duration, notes, number, page, text};
use crate::chart::chart;
use crate::curves::{Axis, cumulative};
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
    let started = overview.started.unwrap_or_default();
    let drawn = CURVES.iter().filter(|(_, count)| overview.samples.iter().any(|sample| count(sample) > 0));
    let body = html! {
        h1 { "Over time" }
        (notes(overview))
        section #curves data-fresh="curves" {
            @if overview.samples.is_empty() { p { "There is nothing to draw yet." } }
            @for (title, count) in drawn {
                div.pair {
                    (chart(title, &cumulative(&overview.samples, started, Axis::Time, *count)))
                    (chart(&format!("{title} over CPU time"),
                        &cumulative(&overview.samples, started, Axis::Cpu, *count)))
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

/// A construct or option: bugs that need it, and test cases that had it.
struct Ranked<'a> {
    name: &'a str,
    bugs: u64,
    tests: u64,
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
        for setting in finding.runs.first().map(|run| run.settings.as_slice()).unwrap_or_default() {
            *options.entry(setting.option.clone()).or_default() += 1;
        }
    }
    html! {
        div.pair {
            (ranking("Constructs", "needed by bugs, and how many tests had them", overview, CONSTRUCT, &constructs))
            (ranking("Options", "set in bugs, and in how many runs", overview, OPTION, &options))
        }
    }
}

fn ranking(title: &str, what: &str, overview: &Overview, kind: &str, bugs: &BTreeMap<String, u64>) -> Markup {
    let tried: BTreeMap<&str, u64> =
        overview.learned.of_kind(kind).map(|(name, counts)| (name, counts.tests)).collect();
    // A construct may name its sort, as in `+ Int`; tests are counted by operator.
    let tests = |name: &str| {
        let operator = name.split(' ').next().unwrap_or(name);
        tried.get(name).or(tried.get(operator)).copied().unwrap_or(0)
    };
    let names = tried.keys().copied().chain(bugs.keys().map(String::as_str));
    let mut rows: Vec<Ranked> = names
        .map(|name| Ranked { name, bugs: bugs.get(name).copied().unwrap_or(0), tests: tests(name) })
        .collect();
    rows.sort_by_key(|row| (std::cmp::Reverse((row.bugs, row.tests)), row.name));
    rows.dedup_by_key(|row| row.name);
    let left = rows.len().saturating_sub(ROWS);
    html! {
        @if !rows.is_empty() {
            div {
                h2 { (title) }
                p.more { (what) }
                div.wide tabindex="0" role="region" aria-label=(title) { table.small {
                    thead { tr {
                        th scope="col" { "name" } th.n scope="col" { "bugs" } th.n scope="col" { "tests" }
                    } }
                    tbody { @for row in rows.iter().take(ROWS) {
                        tr { td { code { (text(row.name)) } } td.n { (row.bugs) } td.n { (number(row.tests)) } }
                    } }
                } }
                @if left > 0 { p.more { (left) " more" } }
            }
        }
    }
}
