//! `state.json`: the counts of one session, and what they are about. States of several sessions add up, so each holds
//! only what its own session has counted.

use std::path::Path;

use serde::{Deserialize, Serialize};

use crate::error::PerfError;
use crate::files;
use crate::learned::Learned;
use crate::meter::Score;
use crate::mutate::Arms;

/// All that the bandit counts.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Memory {
    /// How often each construct was put in, and rewarded.
    pub constructs: Learned,
    /// How often a mutation and a new input were tried, and paid.
    pub ways: Learned,
    /// How often inputs with a feature were among the slowest.
    pub features: Learned,
}

impl Memory {
    /// Adds what was learned elsewhere.
    pub fn merge(&mut self, other: &Memory) {
        self.constructs.merge(&other.constructs);
        self.ways.merge(&other.ways);
        self.features.merge(&other.features);
    }
}

/// What is rewarded.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Aim {
    Performance,
    Localisation,
}

/// What counts are about: only those about the same add up.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct About {
    pub aim: Aim,
    /// The target first, where there is one.
    pub solvers: Vec<String>,
    pub logic: String,
    pub arms: Arms,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub score: Option<Score>,
}

/// What `state.json` says.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct State {
    pub about: About,
    pub counts: Memory,
}

impl State {
    pub fn write(&self, out: &Path) -> Result<(), PerfError> {
        files::write_json(&out.join("state.json"), self)
    }
}

/// The counts of earlier sessions together. One about something else is refused.
pub fn read(paths: &[impl AsRef<Path>], about: &About) -> Result<Memory, PerfError> {
    let mut all = Memory::default();
    for path in paths {
        let path = path.as_ref();
        // A folder stands for the state in it.
        let file = if path.is_dir() { path.join("state.json") } else { path.to_owned() };
        let state: State = files::read_json(&file)?.ok_or_else(|| {
            PerfError::Usage(format!("'{}' holds no state of an earlier session", path.display()))
        })?;
        if let Some(difference) = files::difference(&state.about, about) {
            return Err(PerfError::Usage(format!(
                "the counts in '{}' are about something else ({difference}): use them with the same solvers, logic, arms \
                 and score only",
                file.display()
            )));
        }
        all.merge(&state.counts);
    }
    Ok(all)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn about(logic: &str) -> About {
        About {
            aim: Aim::Performance,
            solvers: vec!["z3@5.4.0".to_owned(), "cvc5@1.4.2".to_owned()],
            logic: logic.to_owned(),
            arms: Arms::Constructs,
            score: Some(Score::Cpu),
        }
    }

    #[test]
    fn states_add_up_and_one_about_something_else_is_refused() {
        let folder = tempfile::tempdir().expect("a folder");
        let mut paths = Vec::new();
        for number in 0..2 {
            let mut counts = Memory::default();
            counts.constructs.record("fp.rem", true);
            counts.ways.record("mutation", number == 0);
            let out = folder.path().join(number.to_string());
            State { about: about("QF_FP"), counts }.write(&out).expect("written");
            paths.push(out);
        }
        let both = read(&paths, &about("QF_FP")).expect("read");
        assert_eq!((both.constructs.arms["fp.rem"].tries, both.ways.arms["mutation"].reward), (2, 1.0));
        let refused = read(&paths, &about("QF_BV")).expect_err("another logic").to_string();
        assert!(refused.contains("logic was \"QF_FP\", is \"QF_BV\""), "{refused}");
    }
}
