//! Bugs of earlier campaigns that the user does not want to hear of again.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use super::claim::known_as;
use crate::config::KnownBugs;
use crate::error::CampaignError;
use crate::findings::{self, Finding, Mark, MarkState, newest_mark};
use crate::store::{self, KnownFinding, Presence, Unwanted};

/// Everything that stands behind the user's list.
pub fn unwanted(known: &KnownBugs) -> Result<Unwanted, CampaignError> {
    let mut signatures: BTreeSet<String> = known.signatures.iter().cloned().collect();
    let mut faces = BTreeSet::new();
    for folder in &known.folders {
        for finding in of_folder(folder)? {
            // A face may show too little to be like any other, but an equal signature is the same finding. By its hash, since
            // the releases of a signature in words do not count, and here they tell bugs apart.
            signatures.insert(finding.hash);
            faces.insert(finding.face);
        }
    }
    // Findings that an early version kept have none.
    faces.remove("");
    Ok(Unwanted { signatures, faces })
}

/// The findings of a campaign, or all faces of the bug that a finding shows.
fn of_folder(folder: &Path) -> Result<Vec<KnownFinding>, CampaignError> {
    // Who names the folder of all findings means the campaign.
    let folder = match folder.parent() {
        Some(out) if folder.ends_with("bugs") && !folder.join("finding.json").exists() => out,
        _ => folder,
    };
    if folder.join("bugs").is_dir() {
        return except_fixed(stored(folder, &folder.join("bugs"))?, &folder.join("bugs"));
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

/// Without the bugs that a person has marked as fixed: whoever meets one again wants to hear of it.
fn except_fixed(known: Vec<KnownFinding>, bugs: &Path) -> Result<Vec<KnownFinding>, CampaignError> {
    let mut marks: BTreeMap<&str, Vec<Mark>> = BTreeMap::new();
    for one in &known {
        let mark = Finding::read(&bugs.join(&one.folder)).ok().and_then(|(finding, _)| finding.handling.mark);
        marks.entry(&one.group).or_default().extend(mark);
    }
    let is_fixed =
        |marks: &[Mark]| newest_mark(marks.iter()).is_some_and(|mark| mark.state == MarkState::Fixed);
    let fixed: BTreeSet<String> =
        marks.into_iter().filter(|(_, marks)| is_fixed(marks)).map(|(group, _)| group.to_owned()).collect();
    Ok(known.into_iter().filter(|one| !fixed.contains(&one.group)).collect())
}

/// What the store of a campaign has; without one, what its folders say.
fn stored(out: &Path, bugs: &Path) -> Result<Vec<KnownFinding>, CampaignError> {
    if store::presence(out)? == Presence::Campaign {
        return Ok(store::read(out)?.findings()?);
    }
    let folders = findings::finished(bugs).map_err(|error| CampaignError::disk(bugs, error))?;
    let read = folders.iter().filter_map(|folder| Finding::read(folder).ok());
    Ok(read.map(|(finding, _)| known_as(&finding)).collect())
}
