//! Results on disk: one line per trial, written as soon as it is there. A benchmark of hours can be ended and go on.

use std::collections::BTreeMap;
use std::fs::{File, OpenOptions};
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use serde::{Deserialize, Serialize};

use crate::error::BenchError;

/// What came of one trial.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Record {
    pub item: String,
    pub configuration: String,
    pub run: u64,
    /// Some test case showed the item's bug.
    pub hit: bool,
    /// Questions to solvers about skeleton and enforcements.
    pub questions: u64,
    /// Runs of the item's release.
    pub tests: u64,
    /// Every truth value was covered or given up.
    pub saturated: bool,
    /// What else the engine counted, by name.
    pub figures: BTreeMap<String, u64>,
}

impl Record {
    /// A count of the engine's; zero for one that it does not have.
    pub fn figure(&self, name: &str) -> u64 {
        self.figures.get(name).copied().unwrap_or_default()
    }
}

type Key = (String, String, u64);

/// All records, and the file that they are kept in.
pub struct Records {
    known: Mutex<(BTreeMap<Key, Record>, Option<File>)>,
    path: PathBuf,
}

impl Records {
    /// Reads what a file has, which need not be there. A last line that was cut off is passed over.
    pub fn open(path: Option<&Path>) -> Result<Records, BenchError> {
        let mut known = BTreeMap::new();
        let mut file = None;
        if let Some(path) = path {
            let failed = |source| BenchError::Write { path: path.to_owned(), source };
            let text =
                if path.exists() { std::fs::read_to_string(path).map_err(failed)? } else { String::new() };
            for record in text.lines().filter_map(|line| serde_json::from_str::<Record>(line).ok()) {
                known.insert((record.item.clone(), record.configuration.clone(), record.run), record);
            }
            let mut opened = OpenOptions::new().create(true).append(true).open(path).map_err(failed)?;
            if !text.is_empty() && !text.ends_with('\n') {
                opened.write_all(b"\n").map_err(failed)?;
            }
            file = Some(opened);
        }
        Ok(Records { known: Mutex::new((known, file)), path: path.map(Path::to_owned).unwrap_or_default() })
    }

    pub fn get(&self, item: &str, configuration: &str, run: u64) -> Option<Record> {
        let key = (item.to_owned(), configuration.to_owned(), run);
        self.known.lock().unwrap_or_else(PoisonError::into_inner).0.get(&key).cloned()
    }

    pub fn add(&self, record: Record) -> Result<(), BenchError> {
        let failed = |source| BenchError::Write { path: self.path.clone(), source };
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(file) = &mut known.1 {
            let line = serde_json::to_string(&record).map_err(|error| BenchError::Malformed {
                path: self.path.clone(),
                reason: error.to_string(),
            })?;
            file.write_all(format!("{line}\n").as_bytes()).map_err(failed)?;
        }
        known.0.insert((record.item.clone(), record.configuration.clone(), record.run), record);
        Ok(())
    }

    /// All of them, in order.
    pub fn all(&self) -> Vec<Record> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner).0.values().cloned().collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn records_are_there_again_and_a_cut_line_is_passed_over() {
        let folder = tempfile::tempdir().expect("a scratch folder");
        let path = folder.path().join("records.jsonl");
        let record = |run| Record {
            item: "a".into(),
            configuration: "blendb".into(),
            run,
            hit: run > 0,
            questions: 3,
            tests: 4,
            saturated: run == 0,
            figures: BTreeMap::from([("pairs".to_owned(), 6)]),
        };
        let records = Records::open(Some(&path)).expect("a new file");
        records.add(record(0)).expect("writing");
        std::fs::write(&path, std::fs::read_to_string(&path).expect("text") + "{\"item\":\"a\",")
            .expect("writing");
        let records = Records::open(Some(&path)).expect("the file");
        records.add(record(1)).expect("writing");
        let again = Records::open(Some(&path)).expect("the file");
        assert_eq!(again.all(), [record(0), record(1)]);
        assert_eq!(again.get("a", "blendb", 1), Some(record(1)));
        assert_eq!(again.get("a", "rbase", 1), None);
        assert_eq!((record(1).figure("pairs"), record(1).figure("held")), (6, 0));
    }
}
