//! Reports as Markdown.

use crate::report::{Cell, Report, Table};

/// Skipped things named one by one; more are counted.
const SKIPPED_SHOWN: usize = 12;

/// A report as a section of a page. With `detail` the long tables too.
pub fn section(report: &Report, detail: bool) -> String {
    let mut text = format!("## {}\n\n", report.title);
    for paragraph in &report.summary {
        text += &format!("{paragraph}\n\n");
    }
    if let Some(why) = &report.partial {
        text += &format!("**Partial:** {why}.\n\n");
    }
    for table in report.tables.iter().filter(|table| detail || !table.detail) {
        text += &format!("{}\n", shown(table));
    }
    for note in &report.notes {
        text += &format!("- {note}\n");
    }
    if !report.notes.is_empty() {
        text.push('\n');
    }
    text += &skipped(report);
    text += &facts(report);
    text
}

/// A table with its title.
pub fn shown(table: &Table) -> String {
    let mut text = String::new();
    if !table.title.is_empty() {
        text += &format!("{}:\n\n", table.title);
    }
    let line = |cells: &[String]| format!("| {} |\n", cells.join(" | "));
    text += &line(&table.columns.iter().map(|column| escaped(column)).collect::<Vec<_>>());
    text += &line(&vec!["---".to_owned(); table.columns.len()]);
    for row in &table.rows {
        text += &line(&row.iter().map(cell).collect::<Vec<_>>());
    }
    text
}

fn cell(cell: &Cell) -> String {
    match cell {
        Cell::Count(count) => grouped(*count),
        Cell::Number(number) => rounded(*number),
        Cell::Text(text) => escaped(text),
        Cell::Of { of: (part, whole) } => match whole {
            0 => "-".to_owned(),
            whole => format!("{} of {}", grouped(*part), grouped(*whole)),
        },
        Cell::Ratio { ratio } => format!("{}x", rounded(*ratio)),
        Cell::None => "-".to_owned(),
    }
}

fn escaped(text: &str) -> String {
    text.replace('|', "\\|").replace('\n', " ")
}

/// Three significant digits, all digits before the point.
fn rounded(number: f64) -> String {
    match number.abs() {
        size if size >= 1000.0 => grouped(number.abs().round() as u64),
        size if size >= 100.0 => format!("{number:.0}"),
        size if size >= 10.0 => format!("{number:.1}"),
        size if size >= 1.0 || size == 0.0 => format!("{number:.2}"),
        _ => format!("{number:.3}"),
    }
}

/// `1,234,567`.
fn grouped(count: u64) -> String {
    let digits = count.to_string();
    let mut text = String::new();
    for (place, digit) in digits.chars().enumerate() {
        if place > 0 && (digits.len() - place).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

fn skipped(report: &Report) -> String {
    if report.skipped.is_empty() {
        return String::new();
    }
    let mut text = format!("Skipped ({}):\n\n", report.skipped.len());
    for skipped in report.skipped.iter().take(SKIPPED_SHOWN) {
        text += &format!("- {}: {}\n", skipped.what, skipped.why);
    }
    if report.skipped.len() > SKIPPED_SHOWN {
        text += &format!("- and {} more\n", report.skipped.len() - SKIPPED_SHOWN);
    }
    text + "\n"
}

fn facts(report: &Report) -> String {
    let machine = &report.machine;
    let mut parts = vec![
        format!("`{}`", report.command),
        report.date.clone(),
        format!("osprey {}", report.osprey),
        format!("{} cores of {}, {}", machine.cores, machine.cpu, machine.system),
    ];
    if let Some(load) = machine.load {
        parts.push(format!("load {load:.1}"));
    }
    if !report.versions.is_empty() {
        parts.push(report.versions.join(", "));
    }
    if let Some(seed) = report.rng_seed {
        parts.push(format!("random seed {seed}"));
    }
    if report.seconds > 0.0 {
        parts.push(format!("{} s", rounded(report.seconds)));
    }
    format!("*{}*\n", parts.join("; "))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::Draft;

    #[test]
    fn cells_are_written_for_readers() {
        assert_eq!(cell(&1_234_567_u64.into()), "1,234,567");
        assert_eq!(cell(&12.345.into()), "12.3");
        assert_eq!(cell(&0.012_34.into()), "0.012");
        assert_eq!(cell(&Cell::of(22, 38)), "22 of 38");
        assert_eq!(cell(&Cell::ratio(4.5, 1.5)), "3.00x");
        assert_eq!(cell(&Cell::ratio(4.5, 0.0)), "-");
        assert_eq!(cell(&"a|b".into()), "a\\|b");
    }

    #[test]
    fn a_partial_result_says_so_and_names_what_was_skipped() {
        let mut draft = Draft::new("sample", "A sample", "osprey bench sample");
        draft.partial = Some("interrupted after 3 of 9 items".to_owned());
        draft.skip("item 7", "no model");
        draft.tables.push(Table::new("few", &["a"]));
        draft.tables.push(Table::detail("many", &["b"]));
        let report = draft.finish();
        let text = section(&report, false);
        assert!(text.contains("**Partial:** interrupted after 3 of 9 items."), "{text}");
        assert!(text.contains("- item 7: no model"), "{text}");
        assert!(text.contains("few") && !text.contains("many"), "{text}");
        assert!(section(&report, true).contains("many"));
    }
}
