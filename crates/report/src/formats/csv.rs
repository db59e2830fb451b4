//! Findings as CSV: a row each, bug by bug.

use crate::overview::Overview;

/// The table. What a spreadsheet would take for a formula is marked as text.
pub fn csv(overview: &Overview) -> String {
    let mut out = String::from(
        "rank,bug,finding,kind,solver,newest release,theory,expressions,bytes,duplicates,engine,options,fair,flaky,stage,\
         state,link,note,headline\n",
    );
    for (rank, bug) in overview.bugs.iter().enumerate() {
        for entry in bug.members() {
            let size = entry.size();
            let mark = bug.mark.as_ref();
            let cells = [
                (rank + 1).to_string(),
                bug.id.clone(),
                entry.name(),
                entry.finding.kind.to_string(),
                entry.finding.solver.clone(),
                entry.newest_release(),
                entry.theory(),
                size.map(|(nodes, _)| nodes.to_string()).unwrap_or_default(),
                size.map(|(_, bytes)| bytes.to_string()).unwrap_or_default(),
                entry.duplicates.to_string(),
                entry.finding.provenance.engine.clone(),
                entry.options().join(" "),
                entry.fairness().word().to_owned(),
                entry.finding.flaky.to_string(),
                entry.stage().to_owned(),
                bug.state().to_owned(),
                mark.map(|mark| mark.link.clone()).unwrap_or_default(),
                mark.map(|mark| mark.note.clone()).unwrap_or_default(),
                entry.headline.clone(),
            ];
            out += &cells.map(|text| cell(&text)).join(",");
            out.push('\n');
        }
    }
    out
}

/// A cell: quoted where need be, on one line, and never a formula.
fn cell(text: &str) -> String {
    let text = campaign::foreign::one_line(text);
    let formula = text.starts_with(['=', '+', '-', '@']);
    let text = if formula { format!("'{text}") } else { text };
    match text.contains([',', '"', '\'', ';']) {
        true => format!("\"{}\"", text.replace('"', "\"\"")),
        false => text,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_cell_is_a_formula_or_breaks_its_row() {
        assert_eq!(cell("z3@4.8.7"), "z3@4.8.7");
        assert_eq!(cell("a, \"b\"\nc"), "\"a, \"\"b\"\" c\"");
        assert_eq!(cell("=cmd()"), "\"'=cmd()\"");
        assert_eq!(cell("--option"), "\"'--option\"");
    }
}
