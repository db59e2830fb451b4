//! Pages as HTML: one file per page, and what all of them have in common here.
//!
//! Everything that solvers, seeds or users wrote passes [`text`], which makes it visible, and maud, which escapes it. Pages
//! have neither style nor script in them: the content security policy forbids both.

mod bugs;
mod finding;
mod settings;
mod time;

use std::borrow::Cow;
use std::time::Duration;

use campaign::foreign;
use maud::{DOCTYPE, Markup, html};
use oracle::Kind;

use crate::overview::Overview;

pub use bugs::bugs;
pub use finding::finding;
pub use settings::settings;
pub use time::time;

/// The style sheet of all pages.
pub const STYLE: &str = include_str!("../../assets/style.css");

/// The script of all pages.
pub const SCRIPT: &str = include_str!("../../assets/script.js");

/// What browsers show beside the title.
pub const ICON: &str = include_str!("../../assets/icon.svg");

/// What pages may load: nothing from elsewhere, and nothing that is written into them.
pub const POLICY: &str = "default-src 'none'; style-src 'self'; script-src 'self'; img-src 'self'; connect-src 'self'; \
    base-uri 'none'; form-action 'none'";

/// Where a page is shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Medium {
    /// A file on a disk.
    Folder,
    /// A server, which tells what changes.
    Live,
}

/// Pages by the names of their files.
pub const BUGS: &str = "index.html";
pub const TIME: &str = "time.html";
pub const SETTINGS: &str = "campaign.html";

/// A whole page: `root` leads from it to the first one.
fn page(overview: &Overview, medium: Medium, root: &str, here: &str, title: &str, body: &Markup) -> Markup {
    let events = (medium == Medium::Live).then(|| format!("{root}events"));
    html! {
        (DOCTYPE)
        html lang="en" {
            head {
                meta charset="utf-8";
                meta name="viewport" content="width=device-width, initial-scale=1";
                meta http-equiv="Content-Security-Policy" content=(POLICY);
                meta name="referrer" content="no-referrer";
                meta name="color-scheme" content="light dark";
                title { (text(title)) " · Osprey" }
                link rel="icon" href=(format!("{root}icon.svg"));
                link rel="stylesheet" href=(format!("{root}style.css"));
                script defer src=(format!("{root}script.js")) {}
            }
            body data-events=[events] {
                a.skip href="#main" { "Skip to the content" }
                header {
                    nav aria-label="Pages" {
                        strong.brand { "Osprey" }
                        @for (file, name) in [(BUGS, "Bugs"), (TIME, "Over time"), (SETTINGS, "Campaign")] {
                            a href=(format!("{root}{file}")) aria-current=[(file == here).then_some("page")] { (name) }
                        }
                    }
                    (condition(overview, medium))
                }
                p #news role="status" aria-live="polite" {}
                main #main tabindex="-1" { (body) }
                footer {
                    "Made by osprey " (env!("CARGO_PKG_VERSION")) " at " span data-n="at" { (date(overview.at)) } ". As data: "
                    @for (place, file) in ["findings.csv", "report.json", "report.md", "junit.xml"].iter().enumerate() {
                        @if place > 0 { ", " }
                        a href=(format!("{root}{file}")) { (file) }
                    }
                }
            }
        }
    }
}

/// Whether it runs.
fn condition(overview: &Overview, medium: Medium) -> Markup {
    let class = if overview.condition.is_running() { "running" } else { "ended" };
    html! {
        span #condition class=(format!("condition {class}")) {
            span data-n="condition" { (overview.condition.words()) }
            @if medium == Medium::Folder && class == "running" { " at " (date(overview.at)) }
        }
    }
}

/// What is missing. The place is there even if there is nothing to say: live pages fill it.
fn notes(overview: &Overview) -> Markup {
    html! {
        div #notes.notes role="note" {
            @for note in &overview.notes { p { (text(note)) } }
        }
    }
}

/// Text of others with nothing in it that acts.
pub(crate) fn text(text: &str) -> Cow<'_, str> {
    foreign::visible(text)
}

/// A kind in the words of a developer.
pub(crate) fn kind_name(kind: Kind) -> &'static str {
    match kind {
        Kind::RefutationSoundness => "unsat for sat",
        Kind::SolutionSoundness => "sat for unsat",
        Kind::InvalidModel => "wrong model",
        Kind::Disagreement => "disagreement",
        Kind::Crash => "crash",
        Kind::Incremental => "incremental",
        Kind::UnsoundCore => "wrong core",
        Kind::WrongValue => "wrong value",
        Kind::Performance => "slow",
    }
}

/// `2 crashes`.
pub(crate) fn kind_counted(kind: Kind, count: usize) -> String {
    let more = match kind {
        Kind::InvalidModel => "wrong models",
        Kind::Disagreement => "disagreements",
        Kind::Crash => "crashes",
        Kind::UnsoundCore => "wrong cores",
        Kind::WrongValue => "wrong values",
        kind => kind_name(kind),
    };
    format!("{count} {}", if count == 1 { kind_name(kind) } else { more })
}

/// Its label; graver kinds stand out.
fn kind_label(kind: Kind) -> Markup {
    let grave = match kind {
        Kind::RefutationSoundness | Kind::SolutionSoundness => "grave",
        Kind::InvalidModel
        | Kind::Disagreement
        | Kind::UnsoundCore
        | Kind::WrongValue
        | Kind::Incremental => "wrong",
        Kind::Crash | Kind::Performance => "other",
    };
    html! { span class=(format!("kind {grave}")) title=(kind.word()) { (kind_name(kind)) } }
}

/// `62,334`.
pub(crate) fn number(value: u64) -> String {
    let digits = value.to_string();
    let mut out = String::with_capacity(digits.len() + digits.len() / 3);
    for (place, digit) in digits.chars().enumerate() {
        if place > 0 && (digits.len() - place).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    out
}

/// `1 bug`, `2 bugs`.
pub(crate) fn counted(count: u64, one: &str, more: &str) -> String {
    format!("{} {}", number(count), if count == 1 { one } else { more })
}

/// `20 min`, `1 h 5 min`.
pub(crate) fn duration(time: Duration) -> String {
    let seconds = time.as_secs();
    match seconds {
        0..60 => format!("{seconds} s"),
        60..3600 if seconds.is_multiple_of(60) || seconds >= 600 => format!("{} min", seconds / 60),
        60..3600 => format!("{} min {} s", seconds / 60, seconds % 60),
        _ => format!("{} h {} min", seconds / 3600, seconds % 3600 / 60),
    }
}

/// A time of the clock, in UTC: `2026-11-17 16:05`.
pub(crate) fn date(seconds: u64) -> String {
    let (days, rest) = (seconds / 86400, seconds % 86400);
    // Civil from days, after Howard Hinnant.
    let z = days + 719_468;
    let era = z / 146_097;
    let of_era = z % 146_097;
    let year_of_era = (of_era - of_era / 1460 + of_era / 36_524 - of_era / 146_096) / 365;
    let of_year = of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let month = (5 * of_year + 2) / 153;
    let day = of_year - (153 * month + 2) / 5 + 1;
    let month = if month < 10 { month + 3 } else { month - 9 };
    let year = year_of_era + era * 400 + u64::from(month <= 2);
    format!("{year:04}-{month:02}-{day:02} {:02}:{:02} UTC", rest / 3600, rest % 3600 / 60)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_and_times_read_well() {
        assert_eq!(
            [0, 999, 1000, 62_334, 1_234_567].map(number),
            ["0", "999", "1,000", "62,334", "1,234,567"]
        );
        assert_eq!([1, 2].map(|count| kind_counted(Kind::Crash, count)), ["1 crash", "2 crashes"]);
        let times = [59, 61, 1200, 3900].map(|seconds| duration(Duration::from_secs(seconds)));
        assert_eq!(times, ["59 s", "1 min 1 s", "20 min", "1 h 5 min"]);
        assert_eq!(date(0), "1970-01-01 00:00 UTC");
        assert_eq!(date(1_794_929_010), "2026-11-17 15:23 UTC");
        assert_eq!(date(951_827_696), "2000-02-29 12:34 UTC");
    }
}
