//! Folders of findings: complete on disk or not there at all.

use std::fs::{self, File};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use crate::error::CampaignError;

/// Names of unfinished folders start with this, then comes the process that writes them; what a killed one leaves is
/// swept at the next start.
const UNFINISHED: &str = ".unfinished-";

/// One file of a folder.
pub struct Content<'a> {
    pub name: &'a str,
    pub bytes: &'a [u8],
    pub executable: bool,
}

impl<'a> Content<'a> {
    pub fn new(name: &'a str, text: &'a str) -> Content<'a> {
        Content { name, bytes: text.as_bytes(), executable: false }
    }
}

/// Writes a folder below `parent`: files first, synced, then the name.
pub fn write(parent: &Path, name: &str, contents: &[Content]) -> Result<PathBuf, CampaignError> {
    let temporary = parent.join(format!("{UNFINISHED}{}-{name}", std::process::id()));
    let target = parent.join(name);
    let written = (|| {
        if temporary.exists() {
            fs::remove_dir_all(&temporary)?;
        }
        fs::create_dir_all(&temporary)?;
        for content in contents {
            write_file(&temporary.join(content.name), content.bytes, content.executable)?;
        }
        sync_folder(&temporary)?;
        if target.exists() {
            // The same finding again, from before a kill: this one is complete too and at least as new.
            fs::remove_dir_all(&target)?;
        }
        fs::rename(&temporary, &target)?;
        sync_folder(parent)
    })();
    match written {
        Ok(()) => Ok(target),
        Err(error) => {
            let _ = fs::remove_dir_all(&temporary);
            Err(CampaignError::disk(&target, error))
        }
    }
}

/// Puts files into a folder, in order; each is the old one or the new one at any time.
pub fn replace(folder: &Path, contents: &[Content]) -> Result<(), CampaignError> {
    for content in contents {
        let path = folder.join(content.name);
        // Two processes may put the same file there: a person's correction, and the campaign.
        let part = folder.join(format!(".{}.{}.part", content.name, std::process::id()));
        write_file(&part, content.bytes, content.executable)
            .and_then(|()| fs::rename(&part, &path))
            .map_err(|error| CampaignError::disk(&path, error))?;
    }
    sync_folder(folder).map_err(|error| CampaignError::disk(folder, error))
}

/// Writes one file so that it survives a crash of the machine.
pub fn write_file(path: &Path, bytes: &[u8], executable: bool) -> io::Result<()> {
    let mut file = File::create(path)?;
    file.write_all(bytes)?;
    if executable {
        use std::os::unix::fs::PermissionsExt;
        file.set_permissions(fs::Permissions::from_mode(0o755))?;
    }
    file.sync_all()
}

fn sync_folder(path: &Path) -> io::Result<()> {
    File::open(path)?.sync_all()
}

/// Is there a process of this number?
pub fn is_running(process: u32) -> bool {
    Path::new(&format!("/proc/{process}")).exists()
}

/// Removes what a killed campaign left half-written.
pub fn sweep(parent: &Path) -> io::Result<()> {
    for entry in fs::read_dir(parent)? {
        let entry = entry?;
        let name = entry.file_name().to_string_lossy().into_owned();
        let Some(rest) = name.strip_prefix(UNFINISHED) else { continue };
        let process = rest.split('-').next().and_then(|number| number.parse::<u32>().ok());
        let at_work = |process: u32| process != std::process::id() && is_running(process);
        if !process.is_some_and(at_work) {
            fs::remove_dir_all(entry.path())?;
        }
    }
    Ok(())
}

/// The finished folders below `parent`, in the order of their names.
pub fn finished(parent: &Path) -> io::Result<Vec<PathBuf>> {
    let mut folders = Vec::new();
    for entry in fs::read_dir(parent)? {
        let entry = entry?;
        if entry.file_type()?.is_dir() && !entry.file_name().to_string_lossy().starts_with('.') {
            folders.push(entry.path());
        }
    }
    folders.sort();
    Ok(folders)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_is_complete_or_not_there() {
        let parent = tempfile::tempdir().expect("a folder");
        let contents = [
            Content::new("a.txt", "text"),
            Content { executable: true, ..Content::new("run.sh", "#!/bin/sh\n") },
        ];
        let folder = write(parent.path(), "one", &contents).expect("written");
        assert_eq!(fs::read_to_string(folder.join("a.txt")).expect("there"), "text");
        let bad = [Content::new("no/such/place", "text")];
        assert!(write(parent.path(), "two", &bad).expect_err("refused").is_disk());
        assert_eq!(finished(parent.path()).expect("readable"), [folder]);
        fs::create_dir(parent.path().join(format!("{UNFINISHED}three"))).expect("made");
        sweep(parent.path()).expect("swept");
        assert_eq!(fs::read_dir(parent.path()).expect("readable").count(), 1);
    }
}
