//! Correlations in files, and those that come with the program.

use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::correlations::{Correlations, Pair, Row};
use crate::operation::Operation;

/// The only form of files so far.
const FORMAT: u32 = 1;

/// Correlations that come with the program; made by the commands that they name.
const SHIPPED: [&str; 3] = [
    include_str!("../correlations/z3-5.4.0.json"),
    include_str!("../correlations/z3-4.8.7.json"),
    include_str!("../correlations/cvc5-1.4.2.json"),
];

/// Why a file of correlations cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum CorrelationsError {
    #[error("{}: {source}", path.display())]
    File { path: PathBuf, source: io::Error },
    #[error("{} holds no correlations as `osprey learn` writes them: {source}", path.display())]
    Content { path: PathBuf, source: serde_json::Error },
    #[error("{} has format {format}: this program reads {FORMAT}", path.display())]
    Format { path: PathBuf, format: u32 },
    #[error("{} is inconsistent: {why}", path.display())]
    Inconsistent { path: PathBuf, why: String },
    /// It is about another solver or release than asked for.
    #[error("{} is about {}, not about {}", path.display(), found, wanted)]
    OtherRelease { path: PathBuf, found: String, wanted: String },
}

/// As a file has it: one line per operation, so that a difference can be read.
#[derive(Serialize, Deserialize)]
struct Stored {
    format: u32,
    solver: String,
    version: String,
    commands: Vec<String>,
    batches: u64,
    formulas: u64,
    runs: u64,
    options: Vec<String>,
    /// Formulas, and for each option that did something or was passed over: number, missed, hits, conflicts.
    operations: BTreeMap<String, (u32, Vec<[u32; 4]>)>,
}

/// The correlations that come with the program for a release.
pub fn shipped(solver: &str, version: &str) -> Option<Correlations> {
    let of_release = |text: &&str| {
        let path = Path::new("shipped correlations");
        Correlations::parse(text.as_bytes(), path).ok().filter(|one| one.is_of(solver, version))
    };
    SHIPPED.iter().find_map(of_release)
}

impl Correlations {
    /// Is it about this release?
    pub fn is_of(&self, solver: &str, version: &str) -> bool {
        self.solver == solver && self.version == version
    }

    /// `z3@4.8.7`.
    pub fn release(&self) -> String {
        format!("{}@{}", self.solver, self.version)
    }

    /// Reads a file.
    pub fn load(path: &Path) -> Result<Correlations, CorrelationsError> {
        let text = std::fs::read(path)
            .map_err(|source| CorrelationsError::File { path: path.to_owned(), source })?;
        Correlations::parse(&text, path)
    }

    /// The content of a file, whose path errors name.
    pub fn parse(text: &[u8], path: &Path) -> Result<Correlations, CorrelationsError> {
        let path = || path.to_owned();
        let stored: Stored = serde_json::from_slice(text)
            .map_err(|source| CorrelationsError::Content { path: path(), source })?;
        if stored.format != FORMAT {
            return Err(CorrelationsError::Format { path: path(), format: stored.format });
        }
        let inconsistent = |why: String| CorrelationsError::Inconsistent { path: path(), why };
        let mut rows = BTreeMap::new();
        for (name, (formulas, pairs)) in stored.operations {
            let mut row = Row { formulas, pairs: BTreeMap::new() };
            for [option, missed, hits, conflicts] in pairs {
                if option as usize >= stored.options.len() {
                    return Err(inconsistent(format!("'{name}' has an option {option} that is not listed")));
                }
                if u64::from(missed) + u64::from(hits) + u64::from(conflicts) > 2 * u64::from(formulas) {
                    return Err(inconsistent(format!("'{name}' has more hits than formulas")));
                }
                row.pairs.insert(option, Pair { missed, hits, conflicts });
            }
            // A newer program may know more operations.
            if let Some(operation) = Operation::named(&name) {
                rows.insert(operation, row);
            }
        }
        Ok(Correlations {
            solver: stored.solver,
            version: stored.version,
            commands: stored.commands,
            batches: stored.batches,
            formulas: stored.formulas,
            runs: stored.runs,
            options: stored.options,
            rows,
        })
    }

    /// Writes a file: complete or not at all.
    pub fn save(&self, path: &Path) -> Result<(), CorrelationsError> {
        let mut partial = path.as_os_str().to_owned();
        partial.push(".partial");
        self.text()
            .and_then(|text| std::fs::write(&partial, text))
            .and_then(|()| std::fs::rename(&partial, path))
            .map_err(|source| CorrelationsError::File { path: path.to_owned(), source })
    }

    fn text(&self) -> io::Result<String> {
        let quadruple = |(option, pair): (&u32, &Pair)| [*option, pair.missed, pair.hits, pair.conflicts];
        let operations = self.rows.iter().map(|(operation, row)| {
            let pairs = row.pairs.iter().filter(|(_, pair)| **pair != Pair::default()).map(quadruple);
            (operation.name().to_owned(), (row.formulas, pairs.collect()))
        });
        let stored = Stored {
            format: FORMAT,
            solver: self.solver.clone(),
            version: self.version.clone(),
            commands: self.commands.clone(),
            batches: self.batches,
            formulas: self.formulas,
            runs: self.runs,
            options: self.options.clone(),
            operations: operations.collect(),
        };
        let text = serde_json::to_string(&stored)?;
        Ok(text.replace("]]],\"", "]]],\n\"") + "\n")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn learned() -> Correlations {
        let mut all = Correlations::of("z3", "5.4.0", ["a.b", "c"]);
        all.commands.push("osprey learn -s z3@5.4.0".to_owned());
        all.runs = 7;
        all.count(&[Operation::Quantifier, Operation::Datatype].into(), &["c"], &["a.b"], &[]);
        all.count(&[Operation::Datatype].into(), &[], &[], &["c"]);
        all
    }

    #[test]
    fn a_file_holds_all_that_was_learned() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("z3.json");
        learned().save(&path).expect("written");
        assert_eq!(Correlations::load(&path).expect("read"), learned());
        assert!(!folder.path().join("z3.json.partial").exists());
    }

    #[test]
    fn what_is_no_file_of_correlations_is_said() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("file.json");
        let error = |text: &str| {
            std::fs::write(&path, text).expect("written");
            Correlations::load(&path).expect_err("no correlations").to_string()
        };
        assert!(error("no JSON").contains("holds no correlations"));
        assert!(error("{\"sat\": 3}").contains("holds no correlations"));
        let good = learned().text().expect("text");
        assert!(error(&good.replace("\"format\":1", "\"format\":9")).contains("format 9"));
        assert!(error(&good.replace("\"a.b\",\"c\"", "\"a.b\"")).contains("not listed"));
        assert!(
            Correlations::load(&folder.path().join("none")).is_err_and(|e| e.to_string().contains("none"))
        );
    }

    #[test]
    fn every_file_that_comes_with_the_program_can_be_read() {
        for text in SHIPPED {
            let read = Correlations::parse(text.as_bytes(), Path::new("shipped")).expect("correlations");
            assert!(read.formulas > 0 && !read.commands.is_empty());
            assert!(shipped(&read.solver, &read.version).is_some());
        }
        assert!(shipped("z3", "0.0.1").is_none());
    }
}
