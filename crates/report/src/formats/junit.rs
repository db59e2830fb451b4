//! JUnit's XML, which CI systems show: a test case per bug, failed unless somebody has dealt with it.

use std::fmt::Write as _;

use campaign::findings::MarkState;
use campaign::foreign::visible;

use crate::bugs::Bug;
use crate::folder::Texts;
use crate::overview::Overview;

/// The document. Without any bug, its one test case says so.
pub fn junit(overview: &Overview) -> String {
    let is_dealt_with = |bug: &&Bug| bug.mark.as_ref().is_some_and(|mark| mark.state != MarkState::Fixed);
    let (tests, skipped) = (overview.bugs.len(), overview.bugs.iter().filter(is_dealt_with).count());
    let failures = tests - skipped;
    let seconds = overview.totals.elapsed().as_secs_f64();
    let mut out = String::from("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n");
    // Writing to a string cannot fail.
    let _ = writeln!(
        out,
        "<testsuites tests=\"{0}\" failures=\"{failures}\" skipped=\"{skipped}\" errors=\"0\">\n\
         <testsuite name=\"osprey {1}\" tests=\"{0}\" failures=\"{failures}\" skipped=\"{skipped}\" errors=\"0\" \
         time=\"{seconds:.3}\">",
        tests.max(1),
        xml(&overview.solvers()),
    );
    if overview.bugs.is_empty() {
        let _ = writeln!(
            out,
            "<testcase classname=\"osprey\" name=\"no bug in {} tests\" time=\"{seconds:.3}\"/>",
            overview.totals.tests
        );
    }
    for bug in overview.bugs.iter() {
        let entry = &bug.example;
        let _ = writeln!(
            out,
            "<testcase classname=\"{}.{}\" name=\"{}\" time=\"0\">",
            xml(&entry.finding.solver),
            bug.kind,
            xml(&format!("{} [{}]", entry.headline, bug.id))
        );
        match bug.mark.as_ref().filter(|_| is_dealt_with(&bug)) {
            Some(mark) => {
                let said = format!("{} {} {}", mark.state, mark.note, mark.link);
                let _ = writeln!(out, "<skipped message=\"{}\"/>", xml(said.trim()));
            }
            None => {
                let texts = Texts::read(&entry.folder);
                let report = texts.get("report.md").unwrap_or(&entry.finding.summary);
                let text = format!("{}\n\n{report}", entry.folder.display());
                let _ = writeln!(
                    out,
                    "<failure type=\"{}\" message=\"{}\">{}</failure>",
                    bug.kind,
                    xml(&entry.finding.summary),
                    xml(&text)
                );
            }
        }
        out += "</testcase>\n";
    }
    out + "</testsuite>\n</testsuites>\n"
}

/// Text in XML, which has no room for some characters at all.
fn xml(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + 16);
    for c in visible(text).chars() {
        match c {
            '&' => out += "&amp;",
            '<' => out += "&lt;",
            '>' => out += "&gt;",
            '"' => out += "&quot;",
            '\u{fffe}' | '\u{ffff}' => out.push('\u{fffd}'),
            c => out.push(c),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whatever_a_solver_says_is_text() {
        assert_eq!(xml("]]><a b=\"\u{1b}\u{ffff}&"), "]]&gt;&lt;a b=&quot;^[\u{fffd}&amp;");
    }
}
