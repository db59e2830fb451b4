//! Items of a museum: known bugs of old releases, one folder each. `docs/museum.md` describes the format.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::Duration;

use campaign::CampaignError;
use campaign::input::{LARGEST_FILE, read_text};
use oracle::Kind;
use serde::{Deserialize, Serialize};
use smtlib::Status;

use crate::error::BenchError;

/// A known bug: `item.toml`, and the scripts beside it.
#[derive(Clone, Debug, Deserialize, Serialize)]
pub struct Item {
    pub id: String,
    pub solver: String,
    pub version: String,
    #[serde(default)]
    pub options: Vec<String>,
    pub kind: Kind,
    /// What was seen, in words.
    #[serde(default)]
    pub observed: String,
    /// The right answers, one word per check.
    #[serde(default)]
    pub expected: String,
    /// Who says so.
    #[serde(default)]
    pub expected_by: Vec<String>,
    #[serde(default)]
    pub theory: String,
    #[serde(default)]
    pub tags: Vec<String>,
    /// Where the facts are from.
    #[serde(default)]
    pub source: String,
    /// Releases that misbehave.
    #[serde(default)]
    pub affected: Vec<String>,
    /// The first release tested that is right.
    #[serde(default)]
    pub fixed_in: String,
    /// Seconds of a run.
    #[serde(default)]
    pub timeout_s: Option<u64>,
    /// For wrong models: whether others refute the model.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model_check: Option<String>,
    /// Further facts, kept as they are.
    #[serde(flatten)]
    pub more: BTreeMap<String, toml::Value>,
    #[serde(skip)]
    pub folder: PathBuf,
}

/// The file that describes an item.
pub const DESCRIPTION: &str = "item.toml";
/// The script that shows the bug.
pub const TRIGGER: &str = "trigger.smt2";
/// The script that a fuzzer started from.
pub const SEED: &str = "seed.smt2";

/// A run gets this time unless the item says otherwise.
const TIMEOUT_S: u64 = 10;

impl Item {
    pub fn read(folder: &Path) -> Result<Item, BenchError> {
        let path = folder.join(DESCRIPTION);
        let text = read_text(&path, LARGEST_FILE).map_err(CampaignError::from)?;
        let mut item: Item = toml::from_str(&text)
            .map_err(|error| BenchError::Malformed { path: path.clone(), reason: error.to_string() })?;
        item.folder = folder.to_owned();
        if !folder.join(TRIGGER).is_file() {
            let reason = format!("there is no {TRIGGER} beside it");
            return Err(BenchError::Malformed { path, reason });
        }
        Ok(item)
    }

    /// Writes the item below a museum's folder `items`.
    pub fn write(&self, museum: &Path, trigger: &str) -> Result<PathBuf, BenchError> {
        let folder = museum.join("items").join(&self.id);
        let failed = |source| BenchError::Write { path: folder.clone(), source };
        let text = toml::to_string(self)
            .map_err(|error| BenchError::Malformed { path: folder.clone(), reason: error.to_string() })?;
        if folder.exists() {
            let reason = "there is an item of this name already".to_owned();
            return Err(BenchError::Malformed { path: folder, reason });
        }
        std::fs::create_dir_all(&folder).map_err(failed)?;
        std::fs::write(folder.join(TRIGGER), trigger).map_err(failed)?;
        std::fs::write(folder.join(DESCRIPTION), text).map_err(failed)?;
        Ok(folder)
    }

    /// `z3@4.8.7`.
    pub fn release(&self) -> String {
        format!("{}@{}", self.solver, self.version)
    }

    pub fn trigger(&self) -> Result<String, BenchError> {
        Ok(read_text(&self.folder.join(TRIGGER), LARGEST_FILE).map_err(CampaignError::from)?)
    }

    /// The formula that a fuzzer started from, where it is known.
    pub fn seed(&self) -> Option<String> {
        read_text(&self.folder.join(SEED), LARGEST_FILE).ok()
    }

    /// The right answer to a check, where it is known.
    pub fn expected_at(&self, check: usize) -> Option<Status> {
        status(self.expected.split_whitespace().nth(check)?)
    }

    /// The right answer to all checks, where it is the same.
    pub fn expected_throughout(&self) -> Option<Status> {
        let mut words = self.expected.split_whitespace();
        let first = status(words.next()?)?;
        words.all(|word| status(word) == Some(first)).then_some(first)
    }

    pub fn timeout(&self) -> Duration {
        Duration::from_secs(self.timeout_s.unwrap_or(TIMEOUT_S))
    }

    /// A wrong answer, or a model that others refute: nothing that rests on the solver's own word alone.
    pub fn is_proven(&self) -> bool {
        match self.kind {
            Kind::RefutationSoundness | Kind::SolutionSoundness => true,
            Kind::InvalidModel => {
                self.model_check.as_deref().is_some_and(|check| check.starts_with("confirmed"))
            }
            _ => false,
        }
    }

    /// Does it pass a filter: one of several alternatives between commas?
    pub fn passes(&self, filter: &str) -> bool {
        filter.split(',').any(|alternative| self.matches(alternative))
    }

    /// `key=value` for solver, version, kind, theory and tag, or a part of the name.
    fn matches(&self, filter: &str) -> bool {
        match filter.split_once('=') {
            Some(("solver", value)) => self.solver == value,
            Some(("version", value)) => self.version == value,
            Some(("kind", value)) => self.kind.word() == value,
            Some(("theory", value)) => self.theory == value,
            Some(("tag", value)) => self.tags.iter().any(|tag| tag == value),
            _ => self.id.contains(filter) || self.release() == filter,
        }
    }
}

fn status(word: &str) -> Option<Status> {
    match word {
        "sat" => Some(Status::Sat),
        "unsat" => Some(Status::Unsat),
        _ => None,
    }
}

/// The items of a museum in the order of their names, and the folders that are none.
pub fn collect(museum: &Path) -> Result<(Vec<Item>, Vec<BenchError>), BenchError> {
    let inner = museum.join("items");
    let folder = if inner.is_dir() { inner } else { museum.to_owned() };
    let failed = |source| BenchError::Read { path: folder.clone(), source };
    let mut folders = Vec::new();
    for entry in std::fs::read_dir(&folder).map_err(failed)? {
        let path = entry.map_err(failed)?.path();
        if path.is_dir() {
            folders.push(path);
        }
    }
    folders.sort();
    let (mut items, mut refused) = (Vec::new(), Vec::new());
    for folder in folders {
        match Item::read(&folder) {
            Ok(item) => items.push(item),
            Err(error) => refused.push(error),
        }
    }
    if items.is_empty() {
        let reason = "there is no item in this museum".to_owned();
        return Err(refused.pop().unwrap_or(BenchError::Malformed { path: folder, reason }));
    }
    Ok((items, refused))
}

#[cfg(test)]
mod tests {
    use super::*;

    const ITEM: &str = r#"
        id = "z3-4.8.7--one"
        solver = "z3"
        version = "4.8.7"
        options = ["model_validate=true"]
        kind = "refutation-soundness"
        expected = "sat sat"
        theory = "strings"
        issue = 42
    "#;

    #[test]
    fn an_item_is_the_same_after_writing_and_reading() {
        let folder = tempfile::tempdir().expect("a scratch folder");
        let item: Item = toml::from_str(ITEM).expect("an item");
        item.write(folder.path(), "(check-sat)").expect("writing");
        let (items, refused) = collect(folder.path()).expect("a museum");
        assert!(refused.is_empty());
        assert_eq!(items.len(), 1);
        assert_eq!(items[0].more.get("issue"), Some(&toml::Value::Integer(42)));
        assert_eq!(items[0].expected_throughout(), Some(Status::Sat));
        assert_eq!(items[0].trigger().expect("a trigger"), "(check-sat)");
        assert!(item.write(folder.path(), "(exit)").is_err(), "an item is never overwritten");
    }

    #[test]
    fn filters_look_at_fields_or_the_name() {
        let item: Item = toml::from_str(ITEM).expect("an item");
        assert!(item.passes("version=4.8.7") && item.passes("one") && item.passes("z3@4.8.7"));
        assert!(item.passes("kind=refutation-soundness") && !item.passes("kind=crash"));
        assert!(item.passes("two,one") && !item.passes("two,three"));
        assert!(item.is_proven());
    }

    #[test]
    fn an_item_that_is_no_regular_file_is_refused() {
        let folder = tempfile::tempdir().expect("a scratch folder");
        std::os::unix::fs::symlink("/dev/zero", folder.path().join(DESCRIPTION)).expect("a link");
        let error = Item::read(folder.path()).expect_err("no item").to_string();
        assert!(error.contains("a device"), "{error}");
    }

    #[test]
    fn a_folder_without_a_trigger_is_named() {
        let folder = tempfile::tempdir().expect("a scratch folder");
        let one = folder.path().join("one");
        std::fs::create_dir(&one).expect("a folder");
        std::fs::write(one.join(DESCRIPTION), ITEM).expect("writing");
        let error = collect(folder.path()).expect_err("no item").to_string();
        assert!(error.contains("trigger.smt2"), "{error}");
    }
}
