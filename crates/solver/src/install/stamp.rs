//! Whether the files that a solver runs from are the ones it was taken up with.

use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::{How, Installed};

/// The files of a solver and what they were when it was taken up. Cheap enough to be compared before each run.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Stamps(Arc<[(PathBuf, Option<Stamp>)]>);

/// What changes when a file is replaced or written to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Stamp {
    device: u64,
    inode: u64,
    size: u64,
    modified: (i64, i64),
}

impl Stamps {
    /// Of the program, or of the libraries that are run in its place.
    pub(crate) fn of(installed: &Installed) -> Stamps {
        let files = match &installed.how {
            How::Executable { path } => vec![path.clone()],
            How::Cvc5Host { libraries, .. } => libraries_in(libraries).unwrap_or_default(),
            How::Python { module, script, .. } => {
                let inside = std::fs::read_dir(module).into_iter().flatten().flatten();
                let folders = inside.map(|entry| entry.path()).filter(|path| path.is_dir());
                let mut files: Vec<PathBuf> =
                    folders.flat_map(|folder| libraries_in(&folder).unwrap_or_default()).collect();
                files.push(script.clone());
                files
            }
        };
        Stamps(files.into_iter().map(|file| (file.clone(), Stamp::of(&file))).collect())
    }

    /// The first file that is not what it was.
    pub fn changed(&self) -> Option<&Path> {
        self.0.iter().find(|(file, then)| Stamp::of(file) != *then).map(|(file, _)| file.as_path())
    }
}

impl Stamp {
    fn of(file: &Path) -> Option<Stamp> {
        let metadata = file.metadata().ok()?;
        Some(Stamp {
            device: metadata.dev(),
            inode: metadata.ino(),
            size: metadata.len(),
            modified: (metadata.mtime(), metadata.mtime_nsec()),
        })
    }
}

/// The solver's own shared libraries in a folder; those it brings along are many and do not change alone.
fn libraries_in(folder: &Path) -> io::Result<Vec<PathBuf>> {
    let mut files = Vec::new();
    for entry in std::fs::read_dir(folder)? {
        let path = entry?.path();
        let name = path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
        let own = ["libcvc5", "cvc5", "bitwuzla", "libbitwuzla"].iter().any(|own| name.starts_with(own));
        if own && name.contains(".so") {
            files.push(path);
        }
    }
    files.sort();
    Ok(files)
}
