//! Bugs of earlier campaigns that the user does not want to hear of again.

use std::path::Path;

use super::claim::known_as;
use crate::config::KnownBugs;
use crate::error::CampaignError;
use crate::findings::{self, Finding};
use crate::shared::Unwanted;
use crate::store::{self, KnownFinding};

/// Everything that stands behind the user's list.
pub fn unwanted(known: &KnownBugs) -> Result<Unwanted, CampaignError> {
    let mut findings = Vec::new();
    for folder in &known.folders {
        findings.extend(of_folder(folder)?);
    }
    Ok(Unwanted { signatures: known.signatures.iter().cloned().collect(), findings })
}

/// The findings of a campaign, or all faces of the bug that a finding shows.
fn of_folder(folder: &Path) -> Result<Vec<KnownFinding>, CampaignError> {
    if folder.join("bugs").is_dir() {
        return stored(folder, &folder.join("bugs"));
    }
    let (finding, place) = Finding::read(folder)?;
    let known = known_as(&finding);
    let Some(bugs) = place.parent() else { return Ok(vec![known]) };
    let Some(out) = bugs.parent().filter(|_| bugs.ends_with("bugs")) else { return Ok(vec![known]) };
    let all = stored(out, bugs)?;
    let Some(group) = all.iter().find(|one| one.hash == known.hash).map(|one| one.group.clone()) else {
        return Ok(vec![known]);
    };
    Ok(all.into_iter().filter(|one| one.group == group).collect())
}

/// What the store of a campaign has; without one, what its folders say.
fn stored(out: &Path, bugs: &Path) -> Result<Vec<KnownFinding>, CampaignError> {
    let known = store::read(out).and_then(|mut store| store.findings());
    if let Ok(known) = known {
        return Ok(known);
    }
    let folders = findings::finished(bugs).map_err(|error| CampaignError::disk(bugs, error))?;
    let read = folders.iter().filter_map(|folder| Finding::read(folder).ok());
    Ok(read.map(|(finding, _)| known_as(&finding)).collect())
}
