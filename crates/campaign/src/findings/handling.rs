//! What became of a finding after it was found: what a person has decided about it, and what later releases do with it.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

/// Everything that is known about a finding from after its campaign. A person's commands write it; a campaign never does.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Handling {
    /// What a person has decided.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mark: Option<Mark>,
    /// What other releases do with it: one entry per solver, the last one asked at the end.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub rechecks: Vec<Recheck>,
}

/// A person's word on a finding, and so on the bug it is taken for.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Mark {
    pub state: MarkState,
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub note: String,
    /// Where it is reported, or explained.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub link: String,
    /// Seconds since 1970.
    pub at: u64,
}

/// What a bug is, in a person's eyes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum MarkState {
    /// The developers have been told.
    Reported,
    /// They knew it before.
    Known,
    /// They have fixed it. A later campaign that finds it again has found something new.
    Fixed,
    /// It is as it should be.
    NotABug,
}

impl MarkState {
    /// All of them, as they follow each other.
    pub const ALL: [MarkState; 4] =
        [MarkState::Reported, MarkState::Known, MarkState::Fixed, MarkState::NotABug];

    /// As the command line and `finding.json` name it.
    pub fn word(self) -> &'static str {
        match self {
            MarkState::Reported => "reported",
            MarkState::Known => "known",
            MarkState::Fixed => "fixed",
            MarkState::NotABug => "not-a-bug",
        }
    }
}

impl fmt::Display for MarkState {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.word())
    }
}

impl FromStr for MarkState {
    type Err = String;

    fn from_str(text: &str) -> Result<MarkState, String> {
        MarkState::ALL.into_iter().find(|state| state.word() == text).ok_or_else(|| {
            format!("'{text}' is no state of a finding; expected reported, known, fixed or not-a-bug")
        })
    }
}

/// What another release does with a finding.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Recheck {
    /// As specs name it.
    pub solver: String,
    pub outcome: RecheckOutcome,
    /// What it said, in few words.
    pub said: String,
    /// Seconds since 1970.
    pub at: u64,
}

/// What came of running a finding on another release.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum RecheckOutcome {
    /// The same misbehaviour.
    StillThere,
    /// It answers, and rightly as far as anybody can tell.
    Fixed,
    /// It misbehaves in another way, or says something else of which nobody knows whether it is right.
    Changed,
    /// It gave up, or refused the script: nothing is known.
    Unknown,
}

impl RecheckOutcome {
    /// In words.
    pub fn words(self) -> &'static str {
        match self {
            RecheckOutcome::StillThere => "still there",
            RecheckOutcome::Fixed => "fixed",
            RecheckOutcome::Changed => "changed",
            RecheckOutcome::Unknown => "not known",
        }
    }
}

impl Handling {
    /// Is there nothing to tell?
    pub fn is_empty(&self) -> bool {
        *self == Handling::default()
    }

    /// Adds what a release does, in place of what it did before.
    pub fn recheck(&mut self, recheck: Recheck) {
        self.rechecks.retain(|other| other.solver != recheck.solver);
        self.rechecks.push(recheck);
    }
}

/// The last word on a bug: the newest mark of the findings that are taken for it.
pub fn newest_mark<'a>(marks: impl Iterator<Item = &'a Mark>) -> Option<&'a Mark> {
    marks.max_by_key(|mark| mark.at)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn recheck(solver: &str, outcome: RecheckOutcome) -> Recheck {
        Recheck { solver: solver.into(), outcome, said: String::new(), at: 1 }
    }

    #[test]
    fn the_last_answer_of_a_release_is_the_one_that_counts() {
        let mut handling = Handling::default();
        handling.recheck(recheck("z3@5.4.0", RecheckOutcome::Unknown));
        handling.recheck(recheck("z3@5.3.0", RecheckOutcome::StillThere));
        handling.recheck(recheck("z3@5.4.0", RecheckOutcome::Fixed));
        let told: Vec<(&str, RecheckOutcome)> =
            handling.rechecks.iter().map(|one| (one.solver.as_str(), one.outcome)).collect();
        assert_eq!(told, [("z3@5.3.0", RecheckOutcome::StillThere), ("z3@5.4.0", RecheckOutcome::Fixed)]);
    }

    #[test]
    fn states_are_read_as_they_are_written() {
        for state in MarkState::ALL {
            assert_eq!(state.word().parse(), Ok(state));
            let json = serde_json::to_string(&state).expect("JSON");
            assert_eq!(json, format!("\"{state}\""));
        }
        assert!("closed".parse::<MarkState>().expect_err("no state").contains("not-a-bug"));
    }
}
