//! Where Osprey keeps solvers and what it learned about them, and how processes take turns there.

use std::fs::File;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use serde::Serialize;
use serde::de::DeserializeOwned;

/// The data directory of the user.
///
/// | below it | what |
/// | --- | --- |
/// | `solvers/NAME-VERSION/` | one installed release, complete or not there at all |
/// | `versions/PACKAGE.json` | the releases a registry was last seen to have |
/// | `options/*.json` | option tables read from solvers |
/// | `drivers/` | our scripts for solvers that are Python modules |
/// | `identified.json` | what executables said they are |
/// | `locks/` | one file per release, locked while it is installed |
#[derive(Debug, Clone)]
pub struct Home {
    root: PathBuf,
}

impl Home {
    /// `$OSPREY_HOME`, else `$XDG_DATA_HOME/osprey`, else `~/.local/share/osprey`.
    pub fn of_user() -> io::Result<Self> {
        let set = |name| std::env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from);
        let root = set("OSPREY_HOME")
            .or_else(|| Some(set("XDG_DATA_HOME")?.join("osprey")))
            .or_else(|| Some(set("HOME")?.join(".local/share/osprey")))
            .ok_or_else(|| {
                io::Error::new(io::ErrorKind::NotFound, "none of OSPREY_HOME, XDG_DATA_HOME, HOME is set")
            })?;
        Ok(Home { root })
    }

    /// Another place, for tests and for caches shared between machines.
    pub fn at(root: impl Into<PathBuf>) -> Self {
        Home { root: root.into() }
    }

    /// The directory itself.
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// Where releases are.
    pub fn solvers(&self) -> PathBuf {
        self.root.join("solvers")
    }

    /// Waits until no other process holds the lock of this name; it is released when dropped, or when the process dies.
    pub fn lock(&self, name: &str) -> io::Result<File> {
        let directory = self.root.join("locks");
        std::fs::create_dir_all(&directory)?;
        let file = File::options().create(true).truncate(false).write(true).open(directory.join(name))?;
        file.lock()?;
        Ok(file)
    }

    /// A remembered value; anything unreadable counts as not there.
    pub fn recall<T: DeserializeOwned>(&self, path: &str) -> Option<T> {
        let bytes = std::fs::read(self.root.join(path)).ok()?;
        serde_json::from_slice(&bytes).ok()
    }

    /// Remembers a value: complete or not at all, whatever other processes do.
    pub fn remember<T: Serialize>(&self, path: &str, value: &T) -> io::Result<()> {
        let target = self.root.join(path);
        let directory = target.parent().unwrap_or(&self.root);
        std::fs::create_dir_all(directory)?;
        let temporary = directory.join(format!(".{}.{}", std::process::id(), thread_number()));
        let written = (|| {
            let mut file = File::create(&temporary)?;
            file.write_all(&serde_json::to_vec_pretty(value)?)?;
            std::fs::rename(&temporary, &target)
        })();
        if written.is_err() {
            let _ = std::fs::remove_file(&temporary);
        }
        written
    }

    /// An empty directory beside the releases, so that a finished one can be renamed into place. The caller holds the
    /// lock of this name: what others left under it comes from processes that were killed, and is removed.
    pub fn scratch(&self, name: &str) -> io::Result<Scratch> {
        let solvers = self.solvers();
        std::fs::create_dir_all(&solvers)?;
        for entry in std::fs::read_dir(&solvers)? {
            let entry = entry?;
            if is_scratch_of(name, &entry.file_name().to_string_lossy()) {
                std::fs::remove_dir_all(entry.path())?;
            }
        }
        let path = solvers.join(format!(".{name}.{}.{}", std::process::id(), thread_number()));
        std::fs::create_dir(&path)?;
        Ok(Scratch(path))
    }
}

/// `.name.PROCESS.NUMBER`. Names contain dots themselves: exactly two numbers must follow.
fn is_scratch_of(name: &str, directory: &str) -> bool {
    let rest = directory
        .strip_prefix('.')
        .and_then(|rest| rest.strip_prefix(name))
        .and_then(|rest| rest.strip_prefix('.'));
    rest.is_some_and(|rest| {
        rest.split('.').count() == 2 && rest.bytes().all(|b| b.is_ascii_digit() || b == b'.')
    })
}

/// A directory that is removed when dropped, unless it was renamed away.
#[derive(Debug)]
pub struct Scratch(PathBuf);

impl Scratch {
    /// Where it is.
    pub fn path(&self) -> &Path {
        &self.0
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

fn thread_number() -> u64 {
    use std::sync::atomic::{AtomicU64, Ordering};
    static NEXT: AtomicU64 = AtomicU64::new(0);
    NEXT.fetch_add(1, Ordering::Relaxed)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_killed_installation_left_is_removed_and_nothing_else() {
        let directory = tempfile::tempdir().expect("a directory");
        let home = Home::at(directory.path());
        for name in [".z3-4.8.77.0", ".z3-4.8.7.77.0", "z3-4.8.7"] {
            std::fs::create_dir_all(home.solvers().join(name)).expect("made");
        }
        let scratch = home.scratch("z3-4.8.7").expect("a scratch directory");
        assert!(scratch.path().is_dir());
        assert!(!home.solvers().join(".z3-4.8.7.77.0").exists());
        assert!(home.solvers().join(".z3-4.8.77.0").exists() && home.solvers().join("z3-4.8.7").exists());
        let path = scratch.path().to_path_buf();
        drop(scratch);
        assert!(!path.exists());
    }

    #[test]
    fn a_broken_memory_counts_as_none() {
        let directory = tempfile::tempdir().expect("a directory");
        let home = Home::at(directory.path());
        assert_eq!(home.recall::<u32>("x.json"), None);
        home.remember("x.json", &7u32).expect("remembered");
        assert_eq!(home.recall::<u32>("x.json"), Some(7));
        std::fs::write(directory.path().join("x.json"), "{ not json").expect("written");
        assert_eq!(home.recall::<u32>("x.json"), None);
    }
}
