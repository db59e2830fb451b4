//! Groups as a person corrects them. New findings join the group of the finding they are most like, so that a correction
//! is followed from then on.

use std::collections::BTreeSet;
use std::path::Path;

use crate::error::CampaignError;
use crate::findings::{Finding, Group, Membership};
use crate::store::{CampaignStore, KnownFinding};

/// Takes the bugs of these findings, by their hashes, for one: that of the first. Tells how many findings have moved.
pub fn merge(store: &mut dyn CampaignStore, hashes: &[String]) -> Result<usize, CampaignError> {
    let mut moved = 0;
    // Somebody else may correct at the same time: it is done when all are seen to be together.
    loop {
        let all = store.findings()?;
        let groups = hashes.iter().map(|hash| find(&all, hash).map(|one| one.group.clone()));
        let groups = groups.collect::<Result<Vec<_>, _>>()?;
        let Some((to, from)) = groups.split_first() else { return Ok(moved) };
        let others: Vec<&KnownFinding> =
            all.iter().filter(|one| one.group != *to && from.contains(&one.group)).collect();
        if others.is_empty() {
            return Ok(moved);
        }
        for one in others {
            moved += usize::from(store.regroup(&one.hash, &one.group, to)?);
        }
    }
}

/// Takes these findings for one bug apart from all others. A face without a folder of its own goes with the finding whose
/// folder it is in.
///
/// Findings of different bugs are refused: they would be made one.
pub fn split(store: &mut dyn CampaignStore, hashes: &[String]) -> Result<(), CampaignError> {
    let all = store.findings()?;
    let groups = hashes.iter().map(|hash| Ok(find(&all, hash)?.group.as_str()));
    let groups = groups.collect::<Result<BTreeSet<&str>, CampaignError>>()?;
    if groups.len() > 1 {
        let text = "these are different bugs already: split takes findings of one bug".to_owned();
        return Err(CampaignError::Usage(text));
    }
    if all.iter().filter(|one| groups.contains(one.group.as_str())).all(|one| hashes.contains(&one.hash)) {
        let text = "nothing else is taken for this bug: there is nothing to split".to_owned();
        return Err(CampaignError::Usage(text));
    }
    // Again if somebody else has corrected something of it meanwhile.
    while !split_once(store, hashes)? {}
    Ok(())
}

/// Tells whether all of it could be done.
fn split_once(store: &mut dyn CampaignStore, hashes: &[String]) -> Result<bool, CampaignError> {
    let all = store.findings()?;
    let named = hashes.iter().map(|hash| find(&all, hash)).collect::<Result<Vec<_>, _>>()?;
    let beside = all.iter().filter(|one| {
        !hashes.contains(&one.hash)
            && named.iter().any(|other| other.folder == one.folder && other.group == one.group)
    });
    let apart: Vec<&KnownFinding> = named.iter().copied().chain(beside).collect();
    let hashes: Vec<String> = apart.iter().map(|one| one.hash.clone()).collect();
    let Some(leader) = apart.first() else { return Ok(true) };
    let mut done = true;
    // A group is named after one of its members: those that stay must not be named after one that leaves.
    for one in all.iter().filter(|one| !hashes.contains(&one.hash) && hashes.contains(&one.group)) {
        let stays = all.iter().find(|other| other.group == one.group && !hashes.contains(&other.hash));
        let to = stays.map_or(one.hash.as_str(), |other| other.hash.as_str());
        done &= store.regroup(&one.hash, &one.group, to)?;
    }
    for one in &apart {
        done &= store.regroup(&one.hash, &one.group, &leader.hash)?;
    }
    Ok(done)
}

/// Has the folders of findings say which bug they are taken for now, where that has changed, and names those. A folder that
/// cannot be written keeps nobody else's from being right; the first such error is told at the end.
///
/// Whoever writes last has seen the last correction: what has changed while labels were written is written again.
pub fn relabel(store: &mut dyn CampaignStore, bugs: &Path) -> Result<Vec<String>, CampaignError> {
    let groups = |all: &[KnownFinding]| -> Vec<(String, String)> {
        all.iter().map(|one| (one.hash.clone(), one.group.clone())).collect()
    };
    let mut all = store.findings()?;
    let mut changed = Vec::new();
    loop {
        let written = write_labels(&all, bugs, &mut changed);
        let now = store.findings()?;
        if groups(&now) == groups(&all) {
            return written.map(|()| changed);
        }
        all = now;
    }
}

fn write_labels(all: &[KnownFinding], bugs: &Path, changed: &mut Vec<String>) -> Result<(), CampaignError> {
    let mut failure = None;
    for group in Group::all(all) {
        for member in &group.members {
            // Nothing is another face of itself.
            let others = group.members.iter().filter(|other| other.folder != member.folder);
            let example = others.map(|other| other.folder.clone()).next().unwrap_or_default();
            let Ok((mut finding, folder)) = Finding::read(&bugs.join(&member.folder)) else { continue };
            let wanted = (member.hash != group.id).then_some(&group.id);
            let is_right = match (&finding.group, wanted) {
                (None, None) => true,
                // What it is said to be like must still be of the same bug.
                (Some(told), Some(id)) => {
                    told.id == *id
                        && told.example != member.folder
                        && group.members.iter().any(|other| other.folder == told.example)
                }
                _ => false,
            };
            // A face without a folder of its own names another's.
            if finding.hash() != member.hash || is_right {
                continue;
            }
            let why = "it was put there by hand, or stayed when others were taken away".to_owned();
            finding.group =
                wanted.map(|id| Membership { id: id.clone(), example: example.clone(), why: why.clone() });
            match finding.write_group(&folder) {
                Ok(()) => changed.push(member.folder.clone()),
                Err(error) => _ = failure.get_or_insert(error),
            }
        }
    }
    failure.map_or(Ok(()), Err)
}

fn find<'a>(all: &'a [KnownFinding], hash: &str) -> Result<&'a KnownFinding, CampaignError> {
    let unknown = || CampaignError::Usage(format!("the campaign knows no finding {hash}"));
    all.iter().find(|one| one.hash == hash).ok_or_else(unknown)
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;
    use crate::config::Identity;
    use crate::store::MemoryStore;

    /// Findings by hash and group; `b in a` is without a folder of its own.
    fn store(groups: &[(&str, &str)]) -> MemoryStore {
        let mut store = MemoryStore::new(&Identity::of_runs(Duration::from_secs(1), 1, 1), &[]);
        for (place, (hash, group)) in groups.iter().enumerate() {
            let (hash, folder) = hash.split_once(" in ").unwrap_or((hash, hash));
            let known = KnownFinding {
                hash: hash.to_owned(),
                signature: String::new(),
                kind: "crash".to_owned(),
                solver: "z3@4.8.7".to_owned(),
                folder: folder.to_owned(),
                round: place as u64,
                step: 0,
                duplicates: 0,
                flaky: false,
                group: (*group).to_owned(),
                face: String::new(),
            };
            store.claim(&known, place as u64).expect("claimed");
        }
        store
    }

    fn groups(store: &mut MemoryStore) -> Vec<(String, String)> {
        store.findings().expect("findings").into_iter().map(|one| (one.hash, one.group)).collect()
    }

    fn pairs(pairs: &[(&str, &str)]) -> Vec<(String, String)> {
        pairs.iter().map(|(a, b)| ((*a).to_owned(), (*b).to_owned())).collect()
    }

    fn names(names: &[&str]) -> Vec<String> {
        names.iter().map(ToString::to_string).collect()
    }

    #[test]
    fn merged_groups_are_the_first_ones_with_all_members() {
        let mut store = store(&[("a", "a"), ("b", "a"), ("c", "c"), ("d", "c"), ("e", "e")]);
        assert_eq!(merge(&mut store, &names(&["b", "d"])).expect("merged"), 2);
        let all = [("a", "a"), ("b", "a"), ("c", "a"), ("d", "a"), ("e", "e")];
        assert_eq!(groups(&mut store), pairs(&all));
    }

    #[test]
    fn a_split_leaves_the_others_together_also_without_the_one_that_gave_them_their_name() {
        let mut one = store(&[("a", "a"), ("b", "a"), ("c", "a")]);
        split(&mut one, &names(&["b"])).expect("split");
        assert_eq!(groups(&mut one), pairs(&[("a", "a"), ("b", "b"), ("c", "a")]));
        let mut first = store(&[("a", "a"), ("b", "a"), ("c", "a")]);
        split(&mut first, &names(&["a"])).expect("split");
        assert_eq!(groups(&mut first), pairs(&[("a", "a"), ("b", "b"), ("c", "b")]));
        let mut two = store(&[("a", "a"), ("b", "a"), ("c", "a"), ("d", "a")]);
        split(&mut two, &names(&["c", "a"])).expect("split");
        assert_eq!(groups(&mut two), pairs(&[("a", "c"), ("b", "b"), ("c", "c"), ("d", "b")]));
    }

    #[test]
    fn what_is_no_part_of_one_bug_is_not_split() {
        let mut different = store(&[("a", "a"), ("b", "b"), ("c", "a")]);
        assert!(split(&mut different, &names(&["a", "b"])).is_err(), "they would become one");
        assert!(split(&mut different, &names(&["b"])).is_err(), "it is alone already");
        assert!(split(&mut different, &names(&["a", "c"])).is_err(), "nothing would be left");
        assert_eq!(groups(&mut different), pairs(&[("a", "a"), ("b", "b"), ("c", "a")]));
    }

    #[test]
    fn a_face_without_a_folder_goes_with_the_one_whose_folder_it_is_in() {
        let mut store = store(&[("a", "a"), ("b", "a"), ("c in b", "a")]);
        split(&mut store, &names(&["b"])).expect("split");
        assert_eq!(groups(&mut store), pairs(&[("a", "a"), ("b", "b"), ("c", "b")]));
    }

    #[test]
    fn an_unknown_finding_is_told() {
        assert!(merge(&mut store(&[("a", "a")]), &names(&["a", "x"])).is_err());
    }
}
