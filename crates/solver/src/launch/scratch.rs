//! The directory in which a launcher's solvers run: emptied after each run, removed with the launcher.

use std::ffi::{CString, OsStr};
use std::fs::{self, File};
use std::io::{self, Write};
use std::os::fd::AsRawFd;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};

use crate::fast::job::INPUT_NAME;

/// How our directories are called, so that a later launcher can remove what a murdered one left.
const PREFIX: &str = "osprey-run-";

/// `<base>/run` is the working directory; what a solver leaves beside it goes when `<base>` goes.
pub(crate) struct Scratch {
    base: PathBuf,
    run: PathBuf,
    input: PathBuf,
    /// The working directory's inode: a solver may have put another one in its place.
    inode: u64,
    /// Locked as long as guard or launcher lives.
    _lock: File,
}

impl Scratch {
    /// Makes a directory in `parent`, or in memory if there is such a file system, or in the temporary directory.
    pub fn new(parent: Option<&Path>) -> io::Result<Self> {
        if let Some(parent) = parent {
            return Scratch::in_parent(parent);
        }
        Scratch::in_parent(Path::new("/dev/shm")).or_else(|_| Scratch::in_parent(&std::env::temp_dir()))
    }

    fn in_parent(parent: &Path) -> io::Result<Self> {
        sweep(parent);
        let template = parent.join(format!("{PREFIX}XXXXXX"));
        let mut name = CString::new(template.as_os_str().as_bytes())?.into_bytes_with_nul();
        if unsafe { libc::mkdtemp(name.as_mut_ptr().cast()) }.is_null() {
            return Err(io::Error::last_os_error());
        }
        name.pop();
        let base = PathBuf::from(OsStr::from_bytes(&name));
        let lock = File::open(&base)?;
        if !try_lock(&lock) {
            return Err(io::Error::other("the scratch directory cannot be locked"));
        }
        let run = base.join("run");
        let input = run.join(INPUT_NAME.trim_end_matches('\0'));
        let mut scratch = Scratch { base, run, input, inode: 0, _lock: lock };
        if let Err(error) = scratch.make_run() {
            scratch.remove();
            return Err(error);
        }
        Ok(scratch)
    }

    fn make_run(&mut self) -> io::Result<()> {
        fs::DirBuilder::new().mode(0o700).create(&self.run)?;
        self.inode = fs::metadata(&self.run)?.ino();
        Ok(())
    }

    pub fn base(&self) -> &Path {
        &self.base
    }

    /// The working directory.
    pub fn run(&self) -> &Path {
        &self.run
    }

    pub fn input(&self) -> &Path {
        &self.input
    }

    /// Writes the input file anew.
    pub fn place_input(&self, bytes: &[u8]) -> io::Result<()> {
        let mut options = fs::OpenOptions::new();
        options.write(true).create_new(true).mode(0o600);
        let mut file = match options.open(&self.input) {
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
                fs::remove_file(&self.input)?;
                options.open(&self.input)?
            }
            opened => opened?,
        };
        file.write_all(bytes)
    }

    /// Empties the working directory. If that cannot be done a new one takes its place, and the answer is `true`:
    /// processes that are waiting in the old one must go.
    pub fn clean(&mut self) -> io::Result<bool> {
        let intact = fs::symlink_metadata(&self.run).is_ok_and(|now| now.is_dir() && now.ino() == self.inode);
        if intact && self.empty_run().is_ok() {
            return Ok(false);
        }
        remove_tree(&self.run);
        if fs::symlink_metadata(&self.run).is_ok() {
            return Err(io::Error::other("the scratch directory cannot be emptied"));
        }
        self.make_run()?;
        Ok(true)
    }

    fn empty_run(&self) -> io::Result<()> {
        for entry in fs::read_dir(&self.run)? {
            let entry = entry?;
            if entry.file_type()?.is_dir() {
                fs::remove_dir_all(entry.path())?;
            } else {
                fs::remove_file(entry.path())?;
            }
        }
        Ok(())
    }

    /// Removes everything. For the end of guard and launcher, both of whom may come here.
    pub fn remove(&self) {
        remove_tree(&self.base);
    }
}

/// Removes a tree or a file, also one whose directories have been made unreadable.
pub(super) fn remove_tree(path: &Path) {
    if fs::remove_dir_all(path).is_ok() || fs::remove_file(path).is_ok() {
        return;
    }
    let mut pending = vec![path.to_owned()];
    while let Some(directory) = pending.pop() {
        // Nothing to be done about a failure here: the removal below will tell.
        let _ = fs::set_permissions(&directory, fs::Permissions::from_mode(0o700));
        let entries = fs::read_dir(&directory).into_iter().flatten().flatten();
        pending.extend(
            entries
                .filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_dir()))
                .map(|entry| entry.path()),
        );
    }
    let _ = fs::remove_dir_all(path);
}

/// Removes directories whose launcher and guard were both killed: nobody holds their lock any more.
fn sweep(parent: &Path) {
    for entry in fs::read_dir(parent).into_iter().flatten().flatten() {
        if !entry.file_name().as_bytes().starts_with(PREFIX.as_bytes()) {
            continue;
        }
        // A directory younger than this may be one that another launcher is about to lock.
        let settled = entry
            .metadata()
            .and_then(|metadata| metadata.modified())
            .is_ok_and(|made| made.elapsed().is_ok_and(|age| age.as_secs() >= 10));
        if settled && File::open(entry.path()).is_ok_and(|directory| try_lock(&directory)) {
            remove_tree(&entry.path());
        }
    }
}

fn try_lock(directory: &File) -> bool {
    unsafe { libc::flock(directory.as_raw_fd(), libc::LOCK_EX | libc::LOCK_NB) == 0 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_replaced_or_littered_working_directory_becomes_empty_again() {
        let parent = tempfile::tempdir().expect("a directory");
        let mut scratch = Scratch::new(Some(parent.path())).expect("a scratch directory");
        scratch.place_input(b"(check-sat)").expect("placed");
        fs::create_dir_all(scratch.run().join("a/b")).expect("made");
        fs::write(scratch.run().join("a/b/c"), "x").expect("written");
        assert!(!scratch.clean().expect("cleaned"), "the same directory is kept");
        assert_eq!(fs::read_dir(scratch.run()).expect("there").count(), 0);

        fs::remove_dir(scratch.run()).expect("removed");
        std::os::unix::fs::symlink("/etc", scratch.run()).expect("linked");
        assert!(scratch.clean().expect("cleaned"), "another directory took its place");
        assert!(Path::new("/etc/passwd").exists());
        scratch.place_input(b"(exit)").expect("placed");
        assert_eq!(fs::read(scratch.input()).expect("read"), b"(exit)");

        scratch.remove();
        assert_eq!(fs::read_dir(parent.path()).expect("there").count(), 0);
    }
}
