//! Whether an installed release is still what was installed.
//!
//! Sizes and hashes of all its files are kept beside it. A file whose size and times have not changed is taken for
//! unchanged; any other is read and compared.

use std::collections::BTreeMap;
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::Path;

use serde::{Deserialize, Serialize};

use super::hash::{self, sha256};

/// The file with what is known, inside the release's directory.
pub(super) const CONTENTS: &str = "contents.json";

/// All files of a release, by path.
#[derive(Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Contents(BTreeMap<String, FileRecord>);

/// One file.
#[derive(Debug, PartialEq, Eq, Serialize, Deserialize)]
struct FileRecord {
    size: u64,
    sha256: String,
    /// When it was last seen to be right.
    seen: Seen,
}

/// What changes when a file is written to or replaced.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
struct Seen {
    inode: u64,
    modified: (i64, i64),
    changed: (i64, i64),
}

impl Contents {
    /// Of all files below a directory but those named.
    pub fn of(directory: &Path, files: &[std::path::PathBuf], but: &[&str]) -> io::Result<Contents> {
        let mut records = BTreeMap::new();
        for file in files {
            let name = file.to_string_lossy().into_owned();
            if but.contains(&name.as_str()) || name == CONTENTS {
                continue;
            }
            let path = directory.join(file);
            // Packages hold links that lead nowhere without other packages.
            let Ok(metadata) = path.metadata() else { continue };
            if metadata.is_file() {
                let record =
                    FileRecord { size: metadata.len(), sha256: sha256(&path)?, seen: Seen::of(&metadata) };
                records.insert(name, record);
            }
        }
        Ok(Contents(records))
    }

    /// Reads what is known of a release. No release is without files.
    pub fn read(directory: &Path) -> Option<Contents> {
        let contents: Contents =
            serde_json::from_slice(&std::fs::read(directory.join(CONTENTS)).ok()?).ok()?;
        (!contents.0.is_empty()).then_some(contents)
    }

    /// The hash of one of its files, if that is what it was when it was last seen to be right.
    fn hash_of(&self, directory: &Path, file: &Path) -> Option<String> {
        let name = file.strip_prefix(directory).ok()?.to_str()?;
        let record = self.0.get(name)?;
        let now = file.metadata().ok()?;
        let unchanged = now.len() == record.size && Seen::of(&now) == record.seen;
        // It goes into names of files.
        (unchanged && hash::is_hash(&record.sha256)).then(|| record.sha256.clone())
    }

    /// Writes it, complete or not at all.
    pub fn write(&self, directory: &Path) -> io::Result<()> {
        let partial = directory.join(format!(".{CONTENTS}.{}", std::process::id()));
        std::fs::write(&partial, serde_json::to_vec(self)?)?;
        std::fs::rename(&partial, directory.join(CONTENTS))
    }

    /// The first thing that is wrong. Files that turn out to be right are remembered as they are now.
    pub fn damage(&mut self, directory: &Path) -> Option<String> {
        let mut learned = false;
        for (name, record) in &mut self.0 {
            let path = directory.join(name);
            let Ok(metadata) = path.metadata() else { return Some(format!("{name} is missing")) };
            if metadata.len() != record.size {
                return Some(format!("{name} has {} bytes instead of {}", metadata.len(), record.size));
            }
            let now = Seen::of(&metadata);
            if now == record.seen {
                continue;
            }
            match sha256(&path) {
                Ok(hash) if hash == record.sha256 => {
                    record.seen = now;
                    learned = true;
                }
                Ok(_) => return Some(format!("{name} has other content than when it was installed")),
                Err(error) => return Some(format!("{name} cannot be read: {error}")),
            }
        }
        if learned {
            // Not being able to remember costs the time to read the files again.
            let _ = self.write(directory);
        }
        None
    }
}

/// The hash of a file that belongs to an installed release, if it is known without reading the file.
pub(crate) fn known_hash(file: &Path) -> Option<String> {
    let directory = file.ancestors().skip(1).find(|directory| directory.join(CONTENTS).is_file())?;
    Contents::read(directory)?.hash_of(directory, file)
}

impl Seen {
    fn of(metadata: &std::fs::Metadata) -> Seen {
        Seen {
            inode: metadata.ino(),
            modified: (metadata.mtime(), metadata.mtime_nsec()),
            changed: (metadata.ctime(), metadata.ctime_nsec()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_changed_is_found_and_what_was_only_copied_is_not() {
        let directory = tempfile::tempdir().expect("a directory");
        let file = directory.path().join("bin");
        let whole = vec![7; 100_000];
        std::fs::write(&file, &whole).expect("written");
        let mut contents =
            Contents::of(directory.path(), &["bin".into(), "gone".into()], &[]).expect("readable");
        contents.write(directory.path()).expect("written");
        assert_eq!(contents.damage(directory.path()), None);

        std::fs::write(&file, &whole).expect("written again");
        assert_eq!(contents.damage(directory.path()), None, "the same bytes");
        assert_eq!(Contents::read(directory.path()), Some(contents), "and that is remembered");

        assert_eq!(known_hash(&file), sha256(&file).ok());
        assert_eq!(known_hash(&directory.path().join(CONTENTS)), None, "no file of the release");
        let text = std::fs::read_to_string(directory.path().join(CONTENTS)).expect("text");
        let hash = sha256(&file).expect("a hash");
        for other in ["../../victim", "", &hash[1..]] {
            std::fs::write(directory.path().join(CONTENTS), text.replace(&hash, other)).expect("written");
            assert_eq!(known_hash(&file), None, "{other}");
        }
        std::fs::write(directory.path().join(CONTENTS), text).expect("written");

        let damage = |bytes: Option<&[u8]>| {
            match bytes {
                Some(bytes) => std::fs::write(&file, bytes).expect("written"),
                None => std::fs::remove_file(&file).expect("removed"),
            }
            Contents::read(directory.path()).expect("known").damage(directory.path()).unwrap_or_default()
        };
        assert!(damage(Some(&whole[1..])).contains("99999 bytes instead of 100000"));
        let mut other = whole.clone();
        other[50_000] = 8;
        assert!(damage(Some(&other)).contains("other content"));
        assert_eq!(known_hash(&file), None, "it was written to since");
        assert!(damage(None).contains("missing"));
    }
}
