//! Results on disk: one line each, written as soon as it is there. A benchmark of hours can be ended and go on, on this
//! machine or on another one.

use std::collections::BTreeMap;
use std::fs::{File, OpenOptions};
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use crate::error::BenchError;

/// A result that is known by a key.
pub trait Recorded: Clone + Serialize + DeserializeOwned {
    type Key: Ord;

    fn key(&self) -> Self::Key;
}

/// What records were measured with: those of other settings do not belong beside them.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Conditions {
    /// The same for all of them, where they have a say.
    pub settings: BTreeMap<String, String>,
    /// Seconds that may grow: what a shorter limit cut is measured again.
    pub limits: BTreeMap<String, f64>,
}

impl Conditions {
    /// These with others beside them, or why they do not go together.
    fn and(&self, other: &Conditions) -> Result<Conditions, String> {
        let mut both = self.clone();
        for (name, now) in &other.settings {
            match both.settings.insert(name.clone(), now.clone()) {
                Some(before) if before != *now => {
                    return Err(format!(
                        "its results were measured with {name} {before}, not {now}; give the same settings, or another file for records"
                    ));
                }
                _ => {}
            }
        }
        for (name, now) in &other.limits {
            match both.limits.insert(name.clone(), *now) {
                Some(before) if before > *now => {
                    return Err(format!(
                        "its results were measured with {name} {before} s, more than {now} s; give at least as much, or another \
                         file for records"
                    ));
                }
                _ => {}
            }
        }
        Ok(both)
    }
}

/// The line of a file that says so.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Header {
    conditions: Conditions,
}

/// Records by key, and the file that new ones go to.
type Known<R> = (BTreeMap<<R as Recorded>::Key, R>, Option<File>);

/// All records, and the file that they are kept in.
pub struct Records<R: Recorded> {
    known: Mutex<Known<R>>,
    path: PathBuf,
}

impl<R: Recorded> Records<R> {
    /// The same for what is measured under these conditions: a file of others is refused, and one that does not say.
    pub fn open_under(path: Option<&Path>, conditions: &Conditions) -> Result<Records<R>, BenchError> {
        let records = Records::open(path)?;
        let Some(path) = path else { return Ok(records) };
        let text = std::fs::read_to_string(path)
            .map_err(|source| BenchError::Read { path: path.to_owned(), source })?;
        let refused = |reason: String| BenchError::Malformed { path: path.to_owned(), reason };
        let mut headers = text.lines().filter_map(|line| serde_json::from_str::<Header>(line).ok());
        let before = headers.next_back().map(|header| header.conditions);
        if before.is_none() && !records.all().is_empty() {
            let reason = "its results do not say what they were measured with; give another file for records";
            return Err(refused(reason.to_owned()));
        }
        let both = before.clone().unwrap_or_default().and(conditions).map_err(refused)?;
        if before.as_ref() != Some(&both) {
            records.write(&Header { conditions: both })?;
        }
        Ok(records)
    }

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
        self.write(&record)?;
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        known.0.insert(record.key(), record);
        Ok(())
    }

    /// A line of the file.
    fn write(&self, line: &impl Serialize) -> Result<(), BenchError> {
        let failed = |source| BenchError::Write { path: self.path.clone(), source };
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(file) = &mut known.1 {
            let line = serde_json::to_string(line).map_err(|error| BenchError::Malformed {
                path: self.path.clone(),
                reason: error.to_string(),
            })?;
            file.write_all(format!("{line}\n").as_bytes()).map_err(failed)?;
        }
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
    #[test]
    fn records_of_other_settings_are_refused_and_limits_may_grow() {
        let folder = tempfile::tempdir().expect("a scratch folder");
        let path = folder.path().join("records.jsonl");
        let under = |iterations: &str, limit: f64| Conditions {
            settings: [("iterations".to_owned(), iterations.to_owned())].into(),
            limits: [("round time".to_owned(), limit)].into(),
        };
        let open = |conditions: &Conditions| Records::<Sample>::open_under(Some(&path), conditions);
        let sample = Sample { item: "a".into(), run: 0, hits: None };
        open(&under("50", 60.0)).expect("a new file").add(sample.clone()).expect("writing");
        let again = open(&under("50", 60.0)).expect("the same settings");
        assert_eq!(again.all(), [sample]);
        let error = |conditions: Conditions| open(&conditions).err().expect("refused").to_string();
        let other = error(under("20", 60.0));
        assert!(other.contains("iterations 50, not 20") && other.contains("records.jsonl"), "{other}");
        assert!(open(&under("50", 90.0)).is_ok());
        assert!(error(under("50", 60.0)).contains("round time 90 s, more than 60 s"));
        let beside =
            Conditions { settings: [("files".to_owned(), "9".to_owned())].into(), ..Default::default() };
        assert!(open(&beside).is_ok(), "what another experiment needs is added");
        assert!(error(under("20", 90.0)).contains("iterations"), "and what was there is kept");
        std::fs::write(&path, "{\"item\":\"a\",\"run\":0,\"hits\":1}\n").expect("writing");
        assert!(error(under("50", 60.0)).contains("do not say"));
    }
}
