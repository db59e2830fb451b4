//! Bugs that nobody wants to hear of: what users named as known, for all processes of a campaign.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

use super::StoreError;

/// What users do not want to hear of, and no more of it than telling it apart takes.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Unwanted {
    /// Signatures, or hashes of signatures.
    pub signatures: BTreeSet<String>,
    /// What findings of earlier campaigns show of their bugs, as in [`KnownFinding`](super::KnownFinding): whatever is taken
    /// for the same bug.
    pub faces: BTreeSet<String>,
}

impl Unwanted {
    /// Adds what somebody else named.
    pub fn merge(&mut self, other: &Unwanted) {
        self.signatures.extend(other.signatures.iter().cloned());
        self.faces.extend(other.faces.iter().cloned());
    }

    pub fn to_text(&self) -> Result<String, StoreError> {
        serde_json::to_string(self).map_err(|error| StoreError::damaged("known bugs", error))
    }

    /// Nothing, of a campaign for which nobody named any.
    pub fn from_text(text: Option<&str>) -> Result<Unwanted, StoreError> {
        let read =
            |text| serde_json::from_str(text).map_err(|error| StoreError::damaged("known bugs", error));
        text.map_or_else(|| Ok(Unwanted::default()), read)
    }
}
