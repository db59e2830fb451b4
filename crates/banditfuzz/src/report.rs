//! What a session has to show: tables, plots, a suite of inputs, one page.

use std::fmt::Write as _;

use campaign::foreign;
use serde::Serialize;

use crate::collect::{Collected, in_dialect, shown_amount};
use crate::error::PerfError;
use crate::files;
use crate::learned::Ranked;
use crate::meter::Score;
use crate::par2::{Reading, perfect, score};
use crate::plot::{Line, Plot, cactus, mean_curve};
use crate::search::{Best, Method};
use crate::session::{self, Record, Settings};

/// The results of a session, as `--json` prints them.
#[derive(Clone, Debug, Serialize)]
pub struct Summary {
    pub target: String,
    pub references: Vec<String>,
    pub logic: String,
    /// In the unit of the score.
    pub limit: f64,
    pub unit: &'static str,
    pub score: Score,
    pub rng_seed: u64,
    pub methods: Vec<MethodRow>,
    pub ranking: Vec<Ranked>,
    pub findings: Vec<Collected>,
    /// Inputs on which target and references contradict each other.
    pub contradictions: usize,
}

/// A method in the table of margins.
#[derive(Clone, Debug, Serialize)]
pub struct MethodRow {
    pub method: Method,
    pub runs: usize,
    /// The PAR-2 margin of the best inputs of its runs.
    pub margin: f64,
    pub perfect: f64,
    /// PAR-2 of the target on these inputs.
    pub target: f64,
    /// Runs that came to the largest score there is.
    pub perfect_runs: usize,
    pub inputs: u64,
    pub unusable: u64,
    pub mutations: u64,
    pub failed_mutations: u64,
    pub cpu: f64,
}

/// The sum of the best scores. A run without any has nothing to show and counts as the lowest: it is not better than one
/// whose inputs are all slower for a reference.
fn margin(records: &[&Record], limit: f64) -> f64 {
    let of =
        |record: &&Record| record.found.best.as_ref().map_or(-perfect(1, limit), |best| best.scored.score);
    records.iter().map(of).sum()
}

/// What the runs of each method came to.
pub fn method_rows(records: &[Record], limit: f64) -> Vec<MethodRow> {
    let of = |method: Method| {
        let records: Vec<&Record> = records.iter().filter(|record| record.method == method).collect();
        let best = || records.iter().filter_map(|record| record.found.best.as_ref());
        let sum = |figure: fn(&Record) -> u64| records.iter().map(|record| figure(record)).sum();
        (!records.is_empty()).then(|| MethodRow {
            method,
            runs: records.len(),
            margin: margin(&records, limit),
            perfect: perfect(records.len(), limit),
            target: score(best().map(|best| best.scored.target), limit),
            perfect_runs: records.iter().filter(|record| record.found.perfect).count(),
            inputs: sum(|record| record.found.inputs),
            unusable: sum(|record| record.found.unusable),
            mutations: sum(|record| record.found.mutations),
            failed_mutations: sum(|record| record.found.failed_mutations),
            cpu: records.iter().map(|record| record.found.cpu).sum(),
        })
    };
    Method::ALL.into_iter().filter_map(of).collect()
}

impl Summary {
    pub fn new(settings: &Settings, records: &[Record], findings: Vec<Collected>) -> Summary {
        let mut learned = settings.known.constructs.clone();
        learned.merge(&session::state(settings, records).counts.constructs);
        let parties = settings.parties();
        let limit = settings.limit();
        Summary {
            target: parties[0].name(),
            references: parties[1..].iter().map(|party| party.name()).collect(),
            logic: settings.parameters.logic.clone(),
            limit,
            unit: unit(settings.score),
            score: settings.score,
            rng_seed: settings.rng_seed,
            methods: method_rows(records, limit),
            ranking: learned.ranking(),
            findings,
            contradictions: records.iter().map(|record| record.found.contradictions.len()).sum(),
        }
    }

    /// For a terminal.
    pub fn text(&self) -> String {
        let mut out = format!("{} against {}, {}\n\n", self.target, self.references.join(", "), self.logic);
        let _ = writeln!(
            out,
            "{:<14}{:>5}{:>14}{:>14}{:>9}{:>9}{:>10}",
            "method", "runs", "PAR-2 margin", "of at most", "inputs", "unused", "CPU s"
        );
        for row in &self.methods {
            let _ = writeln!(
                out,
                "{:<14}{:>5}{:>14.3}{:>14.1}{:>9}{:>9}{:>10.1}",
                row.method.word(),
                row.runs,
                row.margin,
                row.perfect,
                row.inputs,
                row.unusable,
                row.cpu
            );
        }
        out += &ranking_text(&self.ranking);
        for finding in &self.findings {
            let _ = writeln!(
                out,
                "\n{}: {}\n  {}",
                gap(finding, self.score),
                finding.constructs.join(", "),
                finding.folder.display()
            );
            if finding.duplicates > 0 {
                let _ = writeln!(
                    out,
                    "  shown by {} more inputs, {:.0} times at best",
                    finding.duplicates,
                    finding.best()
                );
            }
            if let Some(since) = &finding.since {
                let _ = writeln!(out, "  {since}");
            }
        }
        if self.contradictions > 0 {
            let _ = writeln!(
                out,
                "\n{} inputs on which solvers contradict each other are in the folder contradictions: `osprey check` \
                 tells who is wrong",
                self.contradictions
            );
        }
        out
    }
}

/// Constructs that are shown of a ranking.
const SHOWN: usize = 10;

/// Those of a ranking that are worth a person's time.
pub fn rewarded(ranking: &[Ranked]) -> impl Iterator<Item = &Ranked> {
    ranking.iter().filter(|one| one.rewards > 0)
}

/// The head of a ranking, for a terminal.
pub fn ranking_text(ranking: &[Ranked]) -> String {
    if ranking.is_empty() {
        return String::new();
    }
    if rewarded(ranking).next().is_none() {
        return format!("\nnone of {} constructs was rewarded\n", ranking.len());
    }
    let mut out = format!(
        "\n{:<34}{:>10}{:>18}{:>8}{:>9}\n",
        "construct", "expected", "95 % interval", "pulls", "rewards"
    );
    for one in rewarded(ranking).take(SHOWN) {
        let interval = format!("{:.3} .. {:.3}", one.low, one.high);
        let _ = writeln!(
            out,
            "{:<34}{:>10.3}{interval:>18}{:>8}{:>9}",
            one.construct, one.expected, one.pulls, one.rewards
        );
    }
    out
}

fn unit(score: Score) -> &'static str {
    match score {
        Score::Cpu => "CPU seconds",
        Score::Resource => "steps of the solver's own count",
    }
}

/// Writes everything into the session's folder.
pub fn write(settings: &Settings, records: &[Record], summary: &Summary) -> Result<(), PerfError> {
    let out = &settings.out;
    session::state(settings, records).write(out)?;
    files::write_json(&out.join("results.json"), summary)?;
    files::write(&out.join("ranking.csv"), &ranking_csv(&summary.ranking))?;
    files::write(&out.join("margins.csv"), &margins_csv(&summary.methods))?;
    suite(settings, records)?;
    for record in records {
        for (number, text) in record.found.contradictions.iter().enumerate() {
            let name = format!("{}-{}-{number}.smt2", record.method.word(), record.run);
            files::write(&out.join("contradictions").join(name), text)?;
        }
    }
    let plots = plots(settings, records, summary);
    for (name, svg) in &plots {
        files::write(&out.join(format!("{name}.svg")), svg)?;
    }
    files::write(&out.join("report.html"), &page(summary, &plots))
}

/// The suite: the best input of each run, in the standard dialect, with what everybody needed for it.
fn suite(settings: &Settings, records: &[Record]) -> Result<(), PerfError> {
    let folder = settings.out.join("suite");
    let names: Vec<String> = settings.parties().iter().map(|party| party.name()).collect();
    let mut index = format!(
        "file,method,score,{}\n",
        names.iter().map(|name| quoted(name)).collect::<Vec<_>>().join(",")
    );
    for record in records {
        let Some(best) = &record.found.best else { continue };
        let name = format!("{}-{}.smt2", record.method.word(), record.run);
        files::write(&folder.join(&name), &in_dialect(&best.text, smtlib::Release::STANDARD))?;
        let readings: Vec<String> = readings(best)
            .map(|reading| match reading.solved {
                true => format!("{:.3}", reading.used),
                false if reading.used >= settings.limit() => "timeout".to_owned(),
                false => format!("unsolved after {:.3}", reading.used),
            })
            .collect();
        let _ = writeln!(
            index,
            "{name},{},{:.3},{}",
            record.method.word(),
            best.scored.score,
            readings.join(",")
        );
    }
    files::write(&folder.join("index.csv"), &index)
}

/// Of the target and the references.
fn readings(best: &Best) -> impl Iterator<Item = Reading> + '_ {
    std::iter::once(best.scored.target).chain(best.scored.references.iter().copied())
}

/// The ranking as CSV.
pub fn ranking_csv(ranking: &[Ranked]) -> String {
    let mut out = String::from("construct,expected,low,high,pulls,rewards\n");
    for one in ranking {
        let name = quoted(&one.construct);
        let _ = writeln!(
            out,
            "{name},{:.4},{:.4},{:.4},{},{}",
            one.expected, one.low, one.high, one.pulls, one.rewards
        );
    }
    out
}

fn margins_csv(rows: &[MethodRow]) -> String {
    let mut out = String::from("method,runs,margin,perfect,inputs,unusable,mutations,failed mutations,cpu\n");
    for row in rows {
        let _ = writeln!(
            out,
            "{},{},{:.3},{},{},{},{},{},{:.1}",
            row.method.word(),
            row.runs,
            row.margin,
            row.perfect,
            row.inputs,
            row.unusable,
            row.mutations,
            row.failed_mutations,
            row.cpu
        );
    }
    out
}

fn quoted(field: &str) -> String {
    format!("\"{}\"", field.replace('"', "\"\""))
}

/// A cactus plot as the paper's Figures 2 and 3: the target on the inputs of each method, and each reference on all inputs.
pub fn cactus_plot(
    title: &str,
    target: &str,
    references: &[String],
    records: &[Record],
    limit: f64,
    unit: &str,
) -> String {
    let used = |readings: &mut dyn Iterator<Item = Reading>| -> Vec<f64> {
        readings.filter(|reading| reading.solved).map(|reading| reading.used).collect()
    };
    let best = |record: &'_ Record| record.found.best.clone();
    let mut lines = Vec::new();
    for method in Method::ALL {
        let mut of = records.iter().filter(|record| record.method == method).filter_map(best).peekable();
        if of.peek().is_some() {
            let name = format!("{target}, {}", method.word());
            lines.push(cactus(name, used(&mut of.map(|best| best.scored.target))));
        }
    }
    for (place, reference) in references.iter().enumerate() {
        let mut of =
            records.iter().filter_map(best).filter_map(|best| best.scored.references.get(place).copied());
        lines.push(cactus(reference, used(&mut of)));
    }
    Plot { title, x: "inputs solved", y: unit, lines, top: Some(limit) }.svg()
}

fn plots(settings: &Settings, records: &[Record], summary: &Summary) -> Vec<(&'static str, String)> {
    let title = format!("Inputs solved, target {}", summary.target);
    let cactus =
        cactus_plot(&title, &summary.target, &summary.references, records, summary.limit, summary.unit);
    vec![("cactus", cactus), ("curves", curves(records, settings.time.as_secs_f64(), summary.limit))]
}

/// The mean of the best scores over CPU time, by method.
pub fn curves(records: &[Record], end: f64, limit: f64) -> String {
    const STEPS: usize = 120;
    let line = |method: Method| -> Option<Line> {
        let runs: Vec<Vec<(f64, f64)>> = records
            .iter()
            .filter(|record| record.method == method)
            .map(|record| record.found.curve.clone())
            .collect();
        (!runs.is_empty()).then(|| mean_curve(method.word(), &runs, end, STEPS))
    };
    let lines = Method::ALL.into_iter().filter_map(line).collect();
    let title = "Best score so far, mean over the runs";
    Plot { title, x: "CPU seconds", y: "PAR-2 margin", lines, top: Some(2.0 * limit) }.svg()
}

const STYLE: &str = "body{font:15px/1.5 sans-serif;max-width:60em;margin:2em auto;padding:0 1em;color:#222}\
    table{border-collapse:collapse;margin:1em 0}td,th{border:1px solid #ccc;padding:.2em .6em;text-align:right}\
    td:first-child,th:first-child{text-align:left}pre{background:#f5f5f5;padding:.8em;overflow:auto}svg{max-width:100%}";

/// A page with this title around a body.
pub fn html(title: &str, body: &str) -> String {
    let title = escaped(title);
    format!(
        "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"><title>{title}</title><style>{STYLE}</style>\
         </head>\n<body>\n<h1>{title}</h1>\n{body}</body></html>\n"
    )
}

/// The session on one page.
fn page(summary: &Summary, plots: &[(&str, String)]) -> String {
    let mut body = format!(
        "<p>Target {}, references {}; logic {}, limit {} {}, rng seed {}. Each run of the bandit begins with what those that \
         ended before it have learned.</p>\n",
        escaped(&summary.target),
        escaped(&summary.references.join(", ")),
        escaped(&summary.logic),
        summary.limit,
        summary.unit,
        summary.rng_seed
    );
    body += "<h2>PAR-2 margins</h2>\n<table><tr><th>method</th><th>runs</th><th>margin</th><th>perfect</th><th>inputs</th>\
             <th>mutations</th><th>of these failed</th><th>CPU s</th></tr>\n";
    for row in &summary.methods {
        let _ = writeln!(
            body,
            "<tr><td>{}</td><td>{}</td><td>{:.3}</td><td>{}</td><td>{}</td><td>{}</td><td>{}</td><td>{:.0}</td></tr>",
            row.method.word(),
            row.runs,
            row.margin,
            row.perfect,
            row.inputs,
            row.mutations,
            row.failed_mutations,
            row.cpu
        );
    }
    body += "</table>\n";
    for (_, svg) in plots {
        body += svg;
        body.push('\n');
    }
    body += &ranking_html(&summary.ranking);
    body += &collection(&summary.findings, summary.score);
    html(&format!("Where {} is slow", summary.target), &body)
}

/// A ranking as a table.
pub fn ranking_html(ranking: &[Ranked]) -> String {
    if rewarded(ranking).next().is_none() {
        return format!("<h2>Constructs</h2>\n<p>None of {} was rewarded.</p>\n", ranking.len());
    }
    let mut out = String::from(
        "<h2>Constructs</h2>\n<table><tr><th>construct</th><th>expected reward</th><th>95 % interval</th><th>pulls</th>\
         <th>rewards</th></tr>\n",
    );
    for one in rewarded(ranking) {
        let _ = writeln!(
            out,
            "<tr><td>{}</td><td>{:.3}</td><td>{:.3} .. {:.3}</td><td>{}</td><td>{}</td></tr>",
            escaped(&one.construct),
            one.expected,
            one.low,
            one.high,
            one.pulls,
            one.rewards
        );
    }
    out + "</table>\n"
}

/// A gap in words.
fn gap(finding: &Collected, score: Score) -> String {
    let ended = if finding.timed_out { " (its limit)" } else { "" };
    let mut out = format!(
        "{}{ended} against {}, {:.0} times",
        shown_amount(score, finding.target),
        shown_amount(score, finding.reference),
        finding.ratio
    );
    if let (Score::Resource, [target, references @ ..]) = (score, finding.cpu.as_slice()) {
        let slowest = references.iter().copied().fold(0.0, f64::max);
        let _ = write!(out, " ({target:.2} s of CPU time against {slowest:.2} s)");
    }
    out
}

/// Findings by what they are told apart by, since developers want collections: a section for each, with all its inputs.
fn collection(findings: &[Collected], score: Score) -> String {
    if findings.is_empty() {
        return String::new();
    }
    let mut out = String::from("<h2>Inputs</h2>\n");
    let mut findings: Vec<&Collected> = findings.iter().collect();
    findings.sort_by(|x, y| y.best().total_cmp(&x.best()));
    for finding in findings {
        let since = finding.since.as_ref().map(|since| format!("<br>{}", escaped(since))).unwrap_or_default();
        let _ = writeln!(
            out,
            "<h3>{}: {} {}, {:.0} times at best</h3>\n<p>{}; {}{since}</p>\n<pre>{}</pre>",
            escaped(&finding.constructs.join(", ")),
            finding.duplicates + 1,
            if finding.duplicates == 0 { "input" } else { "inputs" },
            finding.best(),
            escaped(&gap(finding, score)),
            escaped(&finding.folder.display().to_string()),
            escaped(&finding.script)
        );
        for alike in &finding.alike {
            let _ = writeln!(
                out,
                "<p>{} run {}: {:.0} times</p>\n<pre>{}</pre>",
                alike.method.word(),
                alike.run,
                alike.ratio,
                escaped(&alike.script)
            );
        }
    }
    out
}

fn escaped(text: &str) -> String {
    foreign::visible(text)
        .replace('&', "&amp;")
        .replace('<', "&lt;")
        .replace('>', "&gt;")
        .replace('"', "&quot;")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::learned::Learned;
    use crate::meter::Scored;
    use crate::search::Found;

    #[test]
    fn a_run_without_a_score_is_no_better_than_one_below_zero() {
        let scored =
            Scored { target: Reading::solved(0.1), references: vec![Reading::solved(0.4)], score: -0.3 };
        let found = Found { best: Some(Best { text: String::new(), scored }), ..Found::default() };
        let records = [
            Record { method: Method::Bandit, run: 0, found },
            Record { method: Method::Random, run: 0, found: Found::default() },
        ];
        let margins: Vec<f64> = method_rows(&records, 2.0).iter().map(|row| row.margin).collect();
        assert_eq!(margins, [-0.3, -4.0]);
    }

    #[test]
    fn nobody_is_shown_constructs_that_were_never_rewarded() {
        let mut learned = Learned::default();
        learned.record("fp.abs", false);
        assert!(ranking_text(&learned.ranking()).contains("none of 1 constructs was rewarded"));
        learned.record("fp.rem", true);
        let text = ranking_text(&learned.ranking());
        assert!(text.contains("fp.rem") && !text.contains("fp.abs"), "{text}");
    }
}
