//! The page of benchmarks, made of the JSON files of single reports and a first page that is written by hand.

use std::path::{Path, PathBuf};

use crate::error::BenchError;
use crate::markdown;
use crate::report::Report;

const TITLE: &str = "\
# Benchmarks

<!-- Written by `osprey bench page`; change the files in the folder benchmarks or run a benchmark again instead. -->

";

/// The file of the first page, in the folder of the reports: what is claimed, in one table. It may be absent.
const FIRST_PAGE: &str = "summary.md";

const INTRODUCTION: &str = "\
## All results

Every section names the command that repeats it, the day, the machine and the releases. The complete results, with
every single item, are in the JSON files of the folder [benchmarks](benchmarks).

";

/// The reports of a folder, in the order of their file names.
pub fn reports(folder: &Path) -> Result<Vec<(PathBuf, Report)>, BenchError> {
    let failed = |source| BenchError::Read { path: folder.to_owned(), source };
    let mut files = Vec::new();
    for entry in std::fs::read_dir(folder).map_err(failed)? {
        let path = entry.map_err(failed)?.path();
        if path.extension().is_some_and(|extension| extension == "json") {
            files.push(path);
        }
    }
    files.sort();
    if files.is_empty() {
        let reason = "there is no report (.json) in this folder".to_owned();
        return Err(BenchError::Malformed { path: folder.to_owned(), reason });
    }
    files.into_iter().map(|path| Ok((path.clone(), Report::read(&path)?))).collect()
}

/// The page of all reports in a folder.
pub fn page(folder: &Path) -> Result<String, BenchError> {
    let sections: Vec<String> =
        reports(folder)?.iter().map(|(_, report)| markdown::section(report, false)).collect();
    Ok(TITLE.to_owned() + &first_page(folder)? + INTRODUCTION + &sections.join("\n"))
}

/// The first page with an empty line behind it; nothing if there is none.
fn first_page(folder: &Path) -> Result<String, BenchError> {
    let path = folder.join(FIRST_PAGE);
    match std::fs::read_to_string(&path) {
        Ok(text) => Ok(format!("{}\n\n", text.trim_end())),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(String::new()),
        Err(source) => Err(BenchError::Read { path, source }),
    }
}

/// Writes the page beside its folder: `docs/benchmarks` gives `docs/benchmarks.md`.
pub fn write(folder: &Path) -> Result<PathBuf, BenchError> {
    let text = page(folder)?;
    let path = folder.with_extension("md");
    std::fs::write(&path, text).map_err(|source| BenchError::Write { path: path.clone(), source })?;
    Ok(path)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::{Draft, Table};

    #[test]
    fn the_page_in_docs_is_made_of_the_results_beside_it() {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/benchmarks");
        let written = std::fs::read_to_string(folder.with_extension("md")).expect("a page");
        assert!(page(&folder).expect("a page") == written, "osprey bench page writes another one");
    }

    #[test]
    fn a_page_has_the_claims_first_and_a_section_for_each_file_in_order() {
        let folder = tempfile::tempdir().expect("a scratch folder");
        let folder = folder.path().join("benchmarks");
        for (file, title) in [("20-second.json", "Second"), ("10-first.json", "First")] {
            let mut draft = Draft::new("sample", title, "osprey bench sample");
            draft.tables.push(Table::new("figures", &["a", "b"]));
            draft.finish().write(&folder.join(file)).expect("writing");
        }
        std::fs::write(folder.join(FIRST_PAGE), "| claim | figure |\n").expect("writing");
        let page = std::fs::read_to_string(write(&folder).expect("a page")).expect("reading");
        let claims = page.find("| claim | figure |\n\n## All results").expect("the first page");
        let first = page.find("## First").expect("the first section");
        let second = page.find("## Second").expect("the second section");
        assert!(claims < first && first < second);
        assert!(page.contains("`osprey bench sample`"));
    }

    #[test]
    fn a_folder_without_reports_is_an_error() {
        let folder = tempfile::tempdir().expect("a scratch folder");
        assert!(page(folder.path()).is_err());
    }
}
