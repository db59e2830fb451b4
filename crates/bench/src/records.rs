//! Results on disk: one line each, written as soon as it is there. A benchmark of hours can be ended and go on, on this
//! machine or on another one.

use std::collections::BTreeMap;
use std::fs::{File, OpenOptions};
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::error::BenchError;

/// A result that is known by a key.
pub trait Recorded: Clone + Serialize + DeserializeOwned {
    type Key: Ord;

    fn key(&self) -> Self::Key;
}

/// Records by key, and the file that new ones go to.
type Known<R> = (BTreeMap<<R as Recorded>::Key, R>, Option<File>);

/// All records, and the file that they are kept in.
pub struct Records<R: Recorded> {
    known: Mutex<Known<R>>,
    path: PathBuf,
}

impl<R: Recorded> Records<R> {
    /// Reads what a file has, which need not be there. A last line that was cut off is passed over.
    pub fn open(path: Option<&Path>) -> Result<Records<R>, BenchError> {
        let mut known = BTreeMap::new();
        let mut file = None;
        if let Some(path) = path {
            let failed = |source| BenchError::Write { path: path.to_owned(), source };
            let text =
                if path.exists() { std::fs::read_to_string(path).map_err(failed)? } else { String::new() };
            for record in text.lines().filter_map(|line| serde_json::from_str::<R>(line).ok()) {
                known.insert(record.key(), record);
            }
            let mut opened = OpenOptions::new().create(true).append(true).open(path).map_err(failed)?;
            if !text.is_empty() && !text.ends_with('\n') {
                opened.write_all(b"\n").map_err(failed)?;
            }
            file = Some(opened);
        }
        Ok(Records { known: Mutex::new((known, file)), path: path.map(Path::to_owned).unwrap_or_default() })
    }

    pub fn get(&self, key: &R::Key) -> Option<R> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner).0.get(key).cloned()
    }

    pub fn add(&self, record: R) -> Result<(), BenchError> {
        let failed = |source| BenchError::Write { path: self.path.clone(), source };
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(file) = &mut known.1 {
            let line = serde_json::to_string(&record).map_err(|error| BenchError::Malformed {
                path: self.path.clone(),
                reason: error.to_string(),
            })?;
            file.write_all(format!("{line}\n").as_bytes()).map_err(failed)?;
        }
        known.0.insert(record.key(), record);
        Ok(())
    }

    /// All of them, in order.
    pub fn all(&self) -> Vec<R> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner).0.values().cloned().collect()
    }
}

#[cfg(test)]
mod tests {
    use serde::Deserialize;

    use super::*;

    #[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
    struct Sample {
        item: String,
        run: u64,
        hits: Option<u64>,
    }

    impl Recorded for Sample {
        type Key = (String, u64);

        fn key(&self) -> (String, u64) {
            (self.item.clone(), self.run)
        }
    }

    #[test]
    fn records_are_there_again_and_a_cut_line_is_passed_over() {
        let folder = tempfile::tempdir().expect("a scratch folder");
        let path = folder.path().join("records.jsonl");
        let sample = |run| Sample { item: "a".into(), run, hits: Some(3) };
        let records = Records::open(Some(&path)).expect("a new file");
        records.add(sample(0)).expect("writing");
        std::fs::write(&path, std::fs::read_to_string(&path).expect("text") + "{\"item\":\"a\",")
            .expect("writing");
        let records = Records::open(Some(&path)).expect("the file");
        records.add(sample(1)).expect("writing");
        let again: Records<Sample> = Records::open(Some(&path)).expect("the file");
        assert_eq!(again.all(), [sample(0), sample(1)]);
        assert_eq!(again.get(&("a".to_owned(), 1)), Some(sample(1)));
        assert_eq!(again.get(&("b".to_owned(), 1)), None);
    }
}
