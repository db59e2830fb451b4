//! Copies of findings' folders: from this disk into a store that many machines share, and back.

use std::fs;
use std::io;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

use super::finding::Finding;
use super::folder::{self, Content};
use crate::error::CampaignError;
use crate::hash;
use crate::store::{ArchivedFile, FindingArchive, Work};

/// Names of files that mark folders which the store does not have as they are. The rest is the folder's name; the file
/// holds the name of the folder in whose place it comes, if there is one.
const UNSENT: &str = ".unsent-";

/// Marks a folder that is about to be written, so that the store gets it whatever happens to this process.
pub fn mark_unsent(bugs: &Path, name: &str, instead_of: Option<&str>) -> Result<(), CampaignError> {
    let path = bugs.join(format!("{UNSENT}{name}"));
    folder::write_file(&path, instead_of.unwrap_or_default().as_bytes(), false)
        .map_err(|error| CampaignError::disk(&path, error))
}

/// The store has it.
pub fn mark_sent(bugs: &Path, name: &str) -> Result<(), CampaignError> {
    let path = bugs.join(format!("{UNSENT}{name}"));
    match fs::remove_file(&path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(CampaignError::disk(&path, error)),
        _ => Ok(()),
    }
}

/// Is the store still to get it?
pub fn is_unsent(bugs: &Path, name: &str) -> bool {
    bugs.join(format!("{UNSENT}{name}")).is_file()
}

/// All folders that the store is still to get, each with the one in whose place it comes.
pub fn unsent(bugs: &Path) -> Result<Vec<(String, Option<String>)>, CampaignError> {
    let failed = |error| CampaignError::disk(bugs, error);
    let mut all = Vec::new();
    for entry in fs::read_dir(bugs).map_err(failed)? {
        let entry = entry.map_err(failed)?;
        let name = entry.file_name().to_string_lossy().into_owned();
        let Some(name) = name.strip_prefix(UNSENT) else { continue };
        let before = fs::read_to_string(entry.path()).unwrap_or_default();
        all.push((name.to_owned(), Some(before).filter(|before| !before.is_empty())));
    }
    all.sort();
    Ok(all)
}

/// The files of a folder.
pub fn files(folder: &Path) -> Result<Vec<ArchivedFile>, CampaignError> {
    let mut all = Vec::new();
    collect(folder, "", &mut all).map_err(|error| CampaignError::disk(folder, error))?;
    Ok(all)
}

fn collect(folder: &Path, before: &str, all: &mut Vec<ArchivedFile>) -> io::Result<()> {
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        let name = entry.file_name().to_string_lossy().into_owned();
        let kind = entry.file_type()?;
        if kind.is_dir() && before.is_empty() && name == "duplicates" {
            collect(&entry.path(), "duplicates/", all)?;
        } else if kind.is_file() && !name.starts_with('.') {
            all.push(ArchivedFile {
                name: format!("{before}{name}"),
                executable: entry.metadata()?.permissions().mode() & 0o100 != 0,
                content: fs::read(entry.path())?,
            });
        }
    }
    Ok(())
}

/// Writes a copy below `bugs`: complete or not there at all.
pub fn write_copy(bugs: &Path, name: &str, files: &[ArchivedFile]) -> Result<PathBuf, CampaignError> {
    let (inner, outer): (Vec<_>, Vec<_>) = files.iter().partition(|file| file.name.contains('/'));
    let mut contents: Vec<Content> = outer
        .iter()
        .map(|file| Content { name: &file.name, bytes: &file.content, executable: file.executable })
        .collect();
    // Last, so that a folder with this file has all others.
    contents.sort_by_key(|content| content.name == "finding.json");
    let folder = folder::write(bugs, name, &contents)?;
    for file in inner {
        let path = folder.join(&file.name);
        let written = path.parent().map_or(Ok(()), fs::create_dir_all);
        written
            .and_then(|()| folder::write_file(&path, &file.content, false))
            .map_err(|error| CampaignError::disk(&path, error))?;
    }
    Ok(folder)
}

/// Makes `bugs` a copy of all folders in the store. What the store is still to get stays as it is, and so does what is
/// finished and only here.
pub fn fetch(archive: &mut dyn FindingArchive, bugs: &Path) -> Result<(), CampaignError> {
    let there = archive.list()?;
    for folder in &there {
        let json = fs::read(bugs.join(&folder.name).join("finding.json"));
        let same = json.is_ok_and(|json| hash::hash(&json) == folder.hash);
        if same || is_unsent(bugs, &folder.name) {
            continue;
        }
        if let Some(files) = archive.get(&folder.name)? {
            write_copy(bugs, &folder.name, &files)?;
        }
    }
    for path in folder::finished(bugs).map_err(|error| CampaignError::disk(bugs, error))? {
        let name = path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
        let known = there.iter().any(|folder| folder.name == name) || is_unsent(bugs, &name);
        // Somebody else has told it apart.
        if !known && Finding::read(&path).is_ok_and(|(finding, _)| finding.is_pending()) {
            fs::remove_dir_all(&path).map_err(|error| CampaignError::disk(&path, error))?;
        }
    }
    Ok(())
}

/// Gives the store the folders that were changed by hand in a copy. All others may have been changed by somebody else since
/// the copy was fetched. What a process works on is left alone: it is written anew anyway.
pub fn give_back(
    archive: &mut dyn FindingArchive,
    bugs: &Path,
    changed: &[String],
) -> Result<(), CampaignError> {
    for known in archive.list()?.into_iter().filter(|known| !known.held && changed.contains(&known.name)) {
        let folder = bugs.join(&known.name);
        let Ok(json) = fs::read(folder.join("finding.json")) else { continue };
        if hash::hash(&json) != known.hash {
            let work = if known.open { Work::Waiting } else { Work::Done };
            archive.put(&known.name, &files(&folder)?, work, None)?;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;
    use crate::config::Identity;
    use crate::store::{Place, Role};

    #[test]
    fn a_folder_comes_back_from_its_files() {
        let (here, there) = (tempfile::tempdir().expect("a folder"), tempfile::tempdir().expect("a folder"));
        let contents = [
            Content::new("finding.json", "{}"),
            Content { executable: true, ..Content::new("repro.sh", "#!/bin/sh\n") },
        ];
        let folder = folder::write(here.path(), "crash", &contents).expect("written");
        super::super::finding::keep_duplicate(&folder, 1, "(assert true)").expect("kept");
        let mut first = files(&folder).expect("files");
        let copy = write_copy(there.path(), "crash", &first).expect("a copy");
        let mut second = files(&copy).expect("files");
        for all in [&mut first, &mut second] {
            all.sort_by(|a, b| a.name.cmp(&b.name));
        }
        assert_eq!(first, second);
        let names: Vec<&str> = first.iter().map(|file| file.name.as_str()).collect();
        assert_eq!(names, ["duplicates/1.smt2", "finding.json", "repro.sh"]);
    }

    #[test]
    fn only_what_was_changed_here_is_given_back_and_what_others_have_said_meanwhile_stays() {
        let Some(server) = testkit::postgres::postgres() else { return };
        let out = tempfile::tempdir().expect("a folder");
        let place = Place::named(&server.url(), out.path()).expect("an address");
        place.create(&Identity::of_runs(Duration::from_secs(1), 1, 1), &[]).expect("made");
        let mut store = place.open().expect("opened");
        store.join(Role::Helper).expect("joined");
        let archive = store.archive().expect("on a server");
        let says = |text: &str| {
            vec![ArchivedFile {
                name: "finding.json".into(),
                executable: false,
                content: text.as_bytes().to_vec(),
            }]
        };
        for (name, work) in
            [("mine", Work::Done), ("theirs", Work::Done), ("left", Work::Waiting), ("held", Work::Held)]
        {
            archive.put(name, &says("as it was"), work, None).expect("put");
        }
        let bugs = out.path().join("bugs");
        fs::create_dir_all(&bugs).expect("a folder");
        fetch(archive, &bugs).expect("fetched");
        archive.put("theirs", &says("by another one"), Work::Done, None).expect("put");
        let changed = ["mine", "left", "held"].map(str::to_owned);
        for name in &changed {
            fs::write(bugs.join(name).join("finding.json"), "by me").expect("written");
        }
        give_back(archive, &bugs, &changed).expect("given back");
        let said: Vec<Option<Vec<ArchivedFile>>> = ["mine", "theirs", "left", "held"]
            .iter()
            .map(|name| archive.get(name).expect("looked"))
            .collect();
        let wanted = ["by me", "by another one", "by me", "as it was"].map(|text| Some(says(text)));
        assert_eq!(said, wanted);
        let open: Vec<String> =
            archive.list().expect("a list").into_iter().filter(|one| one.open).map(|one| one.name).collect();
        assert_eq!(open, ["held", "left"], "what is left to do is still left to do");
    }

    #[test]
    fn what_is_marked_stays_marked_until_it_is_sent() {
        let bugs = tempfile::tempdir().expect("a folder");
        mark_unsent(bugs.path(), "b", None).expect("marked");
        mark_unsent(bugs.path(), "a", Some("old")).expect("marked");
        let marked = [("a".to_owned(), Some("old".to_owned())), ("b".to_owned(), None)];
        assert_eq!(unsent(bugs.path()).expect("marks"), marked);
        mark_sent(bugs.path(), "b").expect("sent");
        mark_sent(bugs.path(), "b").expect("sent already");
        assert!(is_unsent(bugs.path(), "a") && !is_unsent(bugs.path(), "b"));
        assert!(folder::finished(bugs.path()).expect("readable").is_empty(), "a mark is no finding");
    }
}
