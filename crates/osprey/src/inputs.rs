//! Files a user names: single files, and folders walked for scripts.

use std::io::Read as _;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};
use campaign::input::{self, InputError, LARGEST_FILE};

/// What folders and files came to.
pub struct Scripts {
    /// In a fixed order.
    pub files: Vec<PathBuf>,
    /// Folders below the given ones that cannot be read, and why.
    pub skipped: Vec<String>,
}

/// All scripts under the given paths. A folder is walked for `.smt2` files; a file is taken whatever its name.
pub fn scripts(paths: &[PathBuf]) -> Result<Scripts> {
    let mut found = Scripts { files: Vec::new(), skipped: Vec::new() };
    for path in paths {
        let about = std::fs::metadata(path).with_context(|| format!("cannot read '{}'", path.display()))?;
        if about.is_dir() {
            let before = found.files.len();
            // The folder itself was asked for: without it there is nothing to skip to.
            entries(path).with_context(|| format!("cannot read the folder '{}'", path.display()))?;
            walk(path, &mut found);
            if found.files.len() == before {
                bail!("the folder '{}' holds no .smt2 file", path.display());
            }
        } else {
            found.files.push(path.clone());
        }
    }
    Ok(found)
}

fn walk(folder: &Path, found: &mut Scripts) {
    let entries = match entries(folder) {
        Ok(entries) => entries,
        Err(error) => {
            found.skipped.push(format!("folder skipped: cannot read '{}': {error}", folder.display()));
            return;
        }
    };
    for entry in entries {
        let path = entry.path();
        // Links are followed for files only: a link to a folder may lead in circles.
        if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
            walk(&path, found);
        } else if path.extension().is_some_and(|extension| extension == "smt2") {
            found.files.push(path);
        }
    }
}

fn entries(folder: &Path) -> std::io::Result<Vec<std::fs::DirEntry>> {
    let mut entries = std::fs::read_dir(folder)?.collect::<std::io::Result<Vec<_>>>()?;
    entries.sort_by_key(std::fs::DirEntry::file_name);
    Ok(entries)
}

/// A file that a user names.
pub fn read(path: &Path) -> Result<Vec<u8>, InputError> {
    input::read(path, LARGEST_FILE)
}

/// All of standard input, up to the same limit. The user chose to wait for it.
pub fn standard_input() -> Result<Vec<u8>> {
    let mut bytes = Vec::new();
    let read = std::io::stdin().take(LARGEST_FILE + 1).read_to_end(&mut bytes);
    let read = read.context("cannot read standard input")? as u64;
    if read > LARGEST_FILE {
        bail!("standard input is too large: at most {} MB are read", LARGEST_FILE >> 20);
    }
    Ok(bytes)
}

/// A text file that a user names.
pub fn read_text(path: &Path) -> Result<String, InputError> {
    input::read_text(path, LARGEST_FILE)
}
