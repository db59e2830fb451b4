//! What an installed release is, whatever its name says: so that two machines can tell whether they have the same.

use std::io;
use std::path::{Path, PathBuf};

use super::hash::sha256;
use super::{How, Installed};

impl Installed {
    /// The hash of the program, or of the libraries that are the solver.
    pub fn fingerprint(&self) -> io::Result<String> {
        match &self.how {
            How::Executable { path } => sha256(path),
            How::Cvc5Host { libraries, .. } => of_libraries(libraries),
            How::Python { module, .. } => of_libraries(module),
        }
    }
}

/// Of all shared libraries below a directory.
fn of_libraries(directory: &Path) -> io::Result<String> {
    let mut files: Vec<PathBuf> = Vec::new();
    let mut directories = vec![directory.to_owned()];
    while let Some(directory) = directories.pop() {
        for entry in std::fs::read_dir(directory)? {
            let path = entry?.path();
            let name = path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
            if path.is_dir() {
                directories.push(path);
            } else if name.ends_with(".so") || name.contains(".so.") {
                files.push(path);
            }
        }
    }
    files.sort();
    let hashes: io::Result<Vec<String>> = files.iter().map(|file| sha256(file)).collect();
    Ok(hashes?.join(" "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn libraries_that_differ_in_a_byte_are_another_release() {
        let directory = tempfile::tempdir().expect("a directory");
        std::fs::create_dir(directory.path().join("lib")).expect("made");
        let write = |name: &str, text: &str| {
            std::fs::write(directory.path().join(name), text).expect("written");
            of_libraries(directory.path()).expect("hashes")
        };
        let before = write("lib/libcvc5.so.1", "one");
        assert_eq!(write("readme", "whatever"), before);
        assert_ne!(write("lib/libcvc5.so.1", "two"), before);
    }
}
