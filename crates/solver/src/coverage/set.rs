//! Sets of reached sites, and the files in which they are kept.

use std::io;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::Code;

/// Sites of one solver's code.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SiteSet {
    words: Vec<u64>,
}

/// Why a file of a set cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum SetError {
    #[error("{}: {source}", path.display())]
    File { path: PathBuf, source: io::Error },
    #[error("{} is no set of reached code: {source}", path.display())]
    Format { path: PathBuf, source: serde_json::Error },
    /// It tells nothing of this solver.
    #[error("{} is about other binaries than those of {solver}", path.display())]
    OtherCode { path: PathBuf, solver: String },
}

/// A set as a file has it: by file of the solver, so that sets of solvers that share one can be united.
#[derive(Serialize, Deserialize)]
struct Stored {
    /// For people; sets are matched by the hashes of files.
    solver: String,
    files: Vec<StoredFile>,
}

#[derive(Serialize, Deserialize)]
struct StoredFile {
    name: String,
    sha256: String,
    /// Numbers of blocks in the order of their addresses.
    reached: Vec<u32>,
}

impl SiteSet {
    /// Adds a site; whether it is new.
    pub fn insert(&mut self, site: u32) -> bool {
        let at = site as usize / 64;
        if at >= self.words.len() {
            self.words.resize(at + 1, 0);
        }
        let bit = 1 << (site % 64);
        let new = self.words[at] & bit == 0;
        self.words[at] |= bit;
        new
    }

    pub fn contains(&self, site: u32) -> bool {
        self.words.get(site as usize / 64).is_some_and(|word| word >> (site % 64) & 1 == 1)
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.words.iter().map(|word| word.count_ones() as usize).sum()
    }

    pub fn is_empty(&self) -> bool {
        self.words.iter().all(|word| *word == 0)
    }

    /// All, in order.
    pub fn iter(&self) -> impl Iterator<Item = u32> {
        self.words.iter().enumerate().flat_map(|(at, word)| {
            (0..64u32).filter(move |bit| word >> bit & 1 == 1).map(move |bit| at as u32 * 64 + bit)
        })
    }

    /// Adds those of another set.
    pub fn unite(&mut self, other: &SiteSet) {
        self.extend(other.iter());
    }

    /// How many functions of the code begin in it.
    pub fn functions(&self, code: &Code) -> usize {
        code.starts().filter(|start| self.contains(*start)).count()
    }

    /// Writes a set of this code's to a file: complete or not at all.
    pub fn save(&self, code: &Code, solver: &str, path: &Path) -> Result<(), SetError> {
        let files = code.files.iter().map(|file| StoredFile {
            name: file.name(),
            sha256: file.hash.clone(),
            reached: (0..file.list.sites.len() as u32)
                .filter(|site| self.contains(file.first + site))
                .collect(),
        });
        let stored = Stored { solver: solver.to_owned(), files: files.collect() };
        let text = serde_json::to_vec(&stored).map_err(io::Error::from);
        let mut partial = path.as_os_str().to_owned();
        partial.push(".partial");
        text.and_then(|text| std::fs::write(&partial, text))
            .and_then(|()| std::fs::rename(&partial, path))
            .map_err(|source| SetError::File { path: path.to_owned(), source })
    }

    /// Reads a set of this code's from a file.
    pub fn load(code: &Code, solver: &str, path: &Path) -> Result<SiteSet, SetError> {
        let text = std::fs::read(path).map_err(|source| SetError::File { path: path.to_owned(), source })?;
        let stored: Stored = serde_json::from_slice(&text)
            .map_err(|source| SetError::Format { path: path.to_owned(), source })?;
        let mut set = SiteSet::default();
        let mut known = false;
        for stored in stored.files {
            let Some(file) = code.files.iter().find(|file| file.hash == stored.sha256) else { continue };
            known = true;
            let own = stored.reached.into_iter().filter(|site| (*site as usize) < file.list.sites.len());
            set.extend(own.map(|site| file.first + site));
        }
        if known {
            Ok(set)
        } else {
            Err(SetError::OtherCode { path: path.to_owned(), solver: solver.to_owned() })
        }
    }
}

impl Extend<u32> for SiteSet {
    fn extend<T: IntoIterator<Item = u32>>(&mut self, sites: T) {
        for site in sites {
            self.insert(site);
        }
    }
}

impl FromIterator<u32> for SiteSet {
    fn from_iter<T: IntoIterator<Item = u32>>(sites: T) -> SiteSet {
        let mut set = SiteSet::default();
        set.extend(sites);
        set
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_set_holds_what_was_put_in_once() {
        let mut set: SiteSet = [3, 700, 3].into_iter().collect();
        assert!(!set.insert(700) && set.insert(64));
        assert_eq!(set.iter().collect::<Vec<_>>(), [3, 64, 700]);
        let mut other: SiteSet = [64, 65].into_iter().collect();
        other.unite(&set);
        assert_eq!((other.len(), other.contains(65), other.contains(66)), (4, true, false));
    }
}
