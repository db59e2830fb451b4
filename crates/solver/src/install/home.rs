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
/// | `locks/` | one file a release, locked while it is installed |
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

    /// An empty directory beside the releases, so that a finished one can be renamed into place.
    pub fn scratch(&self, name: &str) -> io::Result<Scratch> {
        let path = self.solvers().join(format!(".{name}.{}.{}", std::process::id(), thread_number()));
        if path.exists() {
            std::fs::remove_dir_all(&path)?;
        }
        std::fs::create_dir_all(&path)?;
        Ok(Scratch(path))
    }
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
