//! Files a user names: single files, and folders walked for scripts.

use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};

/// All scripts under the given paths, in a fixed order. A folder is walked for `.smt2` files; a file is taken
/// whatever its name.
pub fn scripts(paths: &[PathBuf]) -> Result<Vec<PathBuf>> {
    let mut files = Vec::new();
    for path in paths {
        let about = std::fs::metadata(path).with_context(|| format!("cannot read '{}'", path.display()))?;
        if about.is_dir() {
            let before = files.len();
            walk(path, &mut files)?;
            if files.len() == before {
                bail!("the folder '{}' holds no .smt2 file", path.display());
            }
        } else {
            files.push(path.clone());
        }
    }
    Ok(files)
}

fn walk(folder: &Path, files: &mut Vec<PathBuf>) -> Result<()> {
    let mut entries = std::fs::read_dir(folder)
        .and_then(|entries| entries.collect::<std::io::Result<Vec<_>>>())
        .with_context(|| format!("cannot read the folder '{}'", folder.display()))?;
    entries.sort_by_key(std::fs::DirEntry::file_name);
    for entry in entries {
        let path = entry.path();
        // Links are followed for files only: a link to a folder may lead in circles.
        if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
            walk(&path, files)?;
        } else if path.extension().is_some_and(|extension| extension == "smt2") {
            files.push(path);
        }
    }
    Ok(())
}
