//! What the campaign is and what it did, in tables: settings, versions, command lines, answers, refusals.

use campaign::{Identity, Messages, Totals};
use maud::{Markup, html};

use super::{Medium, SETTINGS, counted, date, duration, notes, number, page, text};
use crate::overview::Overview;
use crate::performance::Performance;

/// Messages of a kind that are shown.
const MESSAGES: usize = 12;

/// The page.
pub fn settings(overview: &Overview, medium: Medium) -> Markup {
    let body = html! {
        h1 { "The campaign" }
        (notes(overview))
        @if let Some(identity) = &overview.identity { (identified(overview, identity)) }
        @if overview.totals.tests > 0 { section data-fresh="curves" #work { (work(overview)) } }
        @if let Some(performance) = &overview.performance { (measured(performance)) }
    };
    page(overview, medium, "", SETTINGS, "The campaign", &body)
}

fn identified(overview: &Overview, identity: &Identity) -> Markup {
    let row = |name: &str, value: &str| html! { dt { (name) } dd { (text(value)) } };
    html! {
        section {
            h2 { "What it is" }
            dl {
                (row("Place", &overview.name))
                @if let Some(started) = overview.started { (row("Begun", &date(started))) }
                (row("Solvers", &identity.solvers.join(", ")))
                @if !identity.references.is_empty() { (row("References", &identity.references.join(", "))) }
                (row("Engines", &match identity.auto {
                    true => format!("{} (time by what they find)", identity.engines.join(", ")),
                    false => identity.engines.join(", "),
                }))
                (row("Options", &identity.options.to_string()))
                @if !identity.logics.is_empty() { (row("Logics", &identity.logics.join(", "))) }
                (row("Limits of a run", &format!("{} s{}, {} MB", identity.timeout as f64 / 1000.0,
                    if identity.adaptive { " at most" } else { "" }, identity.memory)))
                (row("Random seed", &identity.rng_seed.to_string()))
            }
            (commands(&overview.totals, identity))
            (versions(&overview.totals, identity))
        }
    }
}

/// How it was started.
fn commands(totals: &Totals, identity: &Identity) -> Markup {
    let given = totals.commands.by_frequency();
    html! {
        @if given.is_empty() {
            h3 { "A campaign with these settings" }
            pre data-copy="" tabindex="0" { code { (text(&command(identity))) } }
        } @else {
            h3 { "Command lines" }
            @for (line, times) in given {
                pre data-copy="" tabindex="0" { code { (text(line)) } }
                @if times > 1 { p.more { (number(times)) " times" } }
            }
        }
    }
}

/// What worked on it.
fn versions(totals: &Totals, identity: &Identity) -> Markup {
    let programs = identity.programs.iter().chain(&identity.releases).map(ToString::to_string);
    let versions = totals.versions.by_frequency().into_iter().map(|(version, _)| version.to_owned());
    let all: Vec<String> = versions.chain(programs).collect();
    html! {
        @if !all.is_empty() {
            h3 { "Versions" }
            ul { @for version in &all { li { (text(version)) } } }
        }
    }
}

/// A command line that makes such a campaign, for those that have not kept their own.
pub(crate) fn command(identity: &Identity) -> String {
    let mut words = vec!["osprey".to_owned(), "fuzz".to_owned()];
    words.extend(identity.seeds.iter().map(|path| solver::quoted(&path.display().to_string())));
    let specs =
        |given: &[String], names: &[String]| if given.is_empty() { names.to_vec() } else { given.to_vec() };
    for spec in specs(&identity.specs.solvers, &identity.solvers) {
        words.extend(["-s".to_owned(), solver::quoted(&spec)]);
    }
    for spec in specs(&identity.specs.references, &identity.references) {
        words.extend(["--reference".to_owned(), solver::quoted(&spec)]);
    }
    if !identity.auto {
        words.extend(["--engine".to_owned(), solver::quoted(&identity.engines.join(","))]);
    }
    if !identity.logics.is_empty() {
        words.extend(["--logic".to_owned(), solver::quoted(&identity.logics.join(","))]);
    }
    words.extend(["--options".to_owned(), identity.options.to_string()]);
    words.extend(["--rng-seed".to_owned(), identity.rng_seed.to_string()]);
    if !identity.adaptive {
        words.extend(["--timeout".to_owned(), (identity.timeout as f64 / 1000.0).to_string()]);
    }
    words.extend(["--memory".to_owned(), identity.memory.to_string()]);
    if identity.bisect {
        words.push("--bisect".to_owned());
    }
    words.join(" ")
}

/// What it did.
fn work(overview: &Overview) -> Markup {
    let totals = &overview.totals;
    html! {
        div.pair {
            div {
                h2 { "Answers" }
                (answers(totals))
                h2 { "Solver runs" }
                table.small {
                    thead { tr { th scope="col" { "purpose" } th.n scope="col" { "runs" } th.n scope="col" { "CPU" }
                        th.n scope="col" { "cut at the limit" } } }
                    tbody { @for (purpose, counts) in &totals.runs {
                        tr { td { (purpose) } td.n { (number(counts.runs)) }
                            td.n { (duration(std::time::Duration::from_micros(counts.cpu))) }
                            td.n { (number(counts.cut)) } }
                    } }
                }
            }
            div {
                h2 { "Seeds and questions" }
                dl {
                    @if let Some(seeds) = &overview.seeds {
                        dt { "Seeds in use" }
                        dd { (number(seeds.given)) " given, " (number(seeds.mutants)) " kept because they showed new behaviour, "
                            (number(seeds.bytes / 1024)) " kB; " (number(seeds.fruitful)) " of them led to a finding" }
                    }
                    @if totals.unread_seeds.total() > 0 {
                        dt { "Files that are no seeds" } dd { (number(totals.unread_seeds.total())) }
                    }
                    dt { "Questions of engines" }
                    dd { (number(totals.questions.asked)) " asked, " (number(totals.questions.answered)) " answered, "
                        (number(totals.questions.timed_out)) " timed out, " (number(totals.questions.remembered)) " from memory" }
                    dt { "Rounds" } dd { (number(totals.rounds)) }
                    dt { "New behaviour" } dd { (counted(totals.novel, "test", "tests")) }
                    dt { "Refused by a solver" } dd { (share(totals.rejected, totals.tests)) }
                    dt { "Did not repeat" } dd { (number(totals.unconfirmed)) }
                    dt { "Bugs named by --known" } dd { (counted(totals.suppressed, "test", "tests")) }
                    dt { "Our own CPU time" } dd { (format!("{:.1} %", totals.own_share() * 100.0)) }
                    @if totals.internal_errors > 0 { dt { "Internal errors" } dd { (number(totals.internal_errors)) } }
                }
            }
        }
        (messages("Files that are no seeds", &totals.unread_seeds))
        (messages("What solvers refused", &totals.refusals))
        (messages("Differences by design", &totals.excuses))
        (messages("Suspicions that nothing proves", &totals.unproven))
        (messages("Seeds that engines could make nothing more of", &totals.left_alone))
    }
}

fn share(part: u64, all: u64) -> String {
    format!("{} ({:.1} %)", counted(part, "test", "tests"), part as f64 * 100.0 / all.max(1) as f64)
}

fn answers(totals: &Totals) -> Markup {
    let mut words: Vec<&str> =
        totals.answers.values().flat_map(|answers| answers.keys()).map(String::as_str).collect();
    words.sort_unstable();
    words.dedup();
    html! {
        div.wide tabindex="0" role="region" aria-label="Answers" { table.small {
            thead { tr { th scope="col" { "solver" } @for word in &words { th.n scope="col" { (text(word)) } } } }
            tbody { @for (solver, answers) in &totals.answers {
                tr { td { (text(solver)) } @for word in &words {
                    td.n { (number(answers.get(*word).copied().unwrap_or(0))) }
                } }
            } }
        } }
    }
}

fn messages(title: &str, messages: &Messages) -> Markup {
    let all = messages.by_frequency();
    html! {
        @if !all.is_empty() {
            details {
                summary { (title) ": " (number(messages.total())) }
                table.small { tbody { @for (message, count) in all.iter().take(MESSAGES) {
                    tr { td.n { (number(*count)) } td { (text(message)) } }
                } } }
                @if all.len() > MESSAGES { p.more { (all.len() - MESSAGES) " more messages" } }
            }
        }
    }
}

/// What performance fuzzing has measured.
fn measured(performance: &Performance) -> Markup {
    html! {
        section {
            h2 { "Where " (text(&performance.target)) " is slow" }
            p { "Against " (text(&performance.references.join(", "))) ", logic " (text(&performance.logic)) ", limit "
                (performance.limit) " " (text(&performance.unit)) "." }
            @for (file, title) in &performance.plots {
                figure.chart { figcaption { (title) } img src=(file) alt=(title); }
            }
            div.pair {
                div {
                    h3 { "PAR-2 margins" }
                    table.small {
                        thead { tr { th scope="col" { "method" } th.n scope="col" { "runs" } th.n scope="col" { "margin" }
                            th.n scope="col" { "of at most" } th.n scope="col" { "inputs" } th.n scope="col" { "CPU s" } } }
                        tbody { @for row in &performance.methods {
                            tr { td { (text(&row.method)) } td.n { (row.runs) } td.n { (format!("{:.3}", row.margin)) }
                                td.n { (format!("{:.1}", row.perfect)) } td.n { (number(row.inputs)) }
                                td.n { (format!("{:.0}", row.cpu)) } }
                        } }
                    }
                }
                div {
                    h3 { "Constructs to blame" }
                    table.small {
                        thead { tr { th scope="col" { "construct" } th.n scope="col" { "expected reward" }
                            th.n scope="col" { "95 % interval" } th.n scope="col" { "pulls" } } }
                        tbody { @for one in performance.ranking.iter().take(20) {
                            tr { td { code { (text(&one.construct)) } } td.n { (format!("{:.3}", one.expected)) }
                                td.n { (format!("{:.3} to {:.3}", one.low, one.high)) } td.n { (one.pulls) } }
                        } }
                    }
                }
            }
        }
    }
}
