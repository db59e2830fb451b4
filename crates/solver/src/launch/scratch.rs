//! The directory in which a launcher's solvers run: emptied after each run, removed with the launcher.

use std::ffi::{CString, OsStr};
use std::fs::{self, File};
use std::io;
use std::os::fd::AsRawFd;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{DirBuilderExt, FileExt, MetadataExt, OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use crate::fast::job::INPUT_NAME;

/// Where files are in memory, on most systems.
pub(super) const IN_MEMORY: &str = "/dev/shm";

/// How our directories are called, so that a later launcher can remove what a murdered one left.
const PREFIX: &str = "osprey-run-";

/// `<base>/run` is the working directory; what a solver leaves beside it goes when `<base>` goes.
pub(crate) struct Scratch {
    base: PathBuf,
    run: PathBuf,
    input: PathBuf,
    /// The working directory, and its inode: a solver may have put another one in its place.
    directory: Option<File>,
    inode: u64,
    /// When the working directory was changed last before it was seen to hold nothing but the input file: as long as that is the
    /// time of its last change, nothing has come or gone.
    settled: Option<SystemTime>,
    /// The input file as long as it is in its place.
    placed: Option<Placed>,
    /// How many working directories could not be emptied.
    set_aside: u64,
    /// Locked as long as guard or launcher lives.
    _lock: File,
}

/// The input file of the last run. It stays for the next one: a new file costs more than new content.
struct Placed {
    file: File,
    inode: u64,
    /// No more bytes than these are in it. To cut it off costs as much as to write to it.
    length: u64,
}

impl Placed {
    fn new(path: &Path) -> io::Result<Self> {
        let mut options = fs::OpenOptions::new();
        options.write(true).create_new(true).mode(INPUT_MODE);
        let file = match options.open(path) {
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
                fs::remove_file(path)?;
                options.open(path)?
            }
            opened => opened?,
        };
        let inode = file.metadata()?.ino();
        Ok(Placed { file, inode, length: 0 })
    }

    fn write(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.file.write_all_at(bytes, 0)?;
        let length = bytes.len() as u64;
        if length < self.length {
            self.file.set_len(length)?;
        }
        self.length = length;
        Ok(())
    }

    /// Whether the last run has left it as it was made, but for its content.
    fn is_ours(&mut self) -> bool {
        let Ok(now) = self.file.metadata() else { return false };
        // What a solver has added is cut off again.
        self.length = self.length.max(now.len());
        now.mode() & 0o7777 == INPUT_MODE && now.nlink() == 1
    }
}

const INPUT_MODE: u32 = 0o600;

/// Far more than a tick of a file system's clock.
const TICK: Duration = Duration::from_millis(100);

/// Bytes that must be free where scripts are put.
const ROOM: usize = 64 << 10;

/// The same error with the place it is about.
fn at(path: &Path, error: &io::Error) -> io::Error {
    io::Error::new(error.kind(), format!("'{}': {error}", path.display()))
}

impl Scratch {
    /// Makes a directory in `parent`, or in memory if there is such a file system, or in the temporary directory.
    pub fn new(parent: Option<&Path>) -> io::Result<Self> {
        if let Some(parent) = parent {
            return Scratch::in_parent(parent);
        }
        let in_memory = Scratch::in_parent(Path::new(IN_MEMORY)).and_then(Scratch::with_room);
        in_memory.or_else(|_| Scratch::in_parent(&std::env::temp_dir()))
    }

    /// Only if a script of usual size fits.
    fn with_room(mut self) -> io::Result<Self> {
        match self.place_input(&[b' '; ROOM]).and_then(|()| self.place_input(b"")) {
            Ok(()) => Ok(self),
            Err(error) => {
                self.remove();
                Err(error)
            }
        }
    }

    fn in_parent(parent: &Path) -> io::Result<Self> {
        Scratch::made_in(parent).map_err(|error| at(parent, &error))
    }

    fn made_in(parent: &Path) -> io::Result<Self> {
        sweep(parent);
        let template = parent.join(format!("{PREFIX}XXXXXX"));
        let mut name = CString::new(template.as_os_str().as_bytes())?.into_bytes_with_nul();
        // SAFETY: `name` is writable and ends with a zero byte, as the template must.
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
        let mut scratch = Scratch {
            base,
            run,
            input,
            directory: None,
            inode: 0,
            settled: None,
            placed: None,
            set_aside: 0,
            _lock: lock,
        };
        if let Err(error) = scratch.make_run() {
            scratch.remove();
            return Err(error);
        }
        Ok(scratch)
    }

    fn make_run(&mut self) -> io::Result<()> {
        fs::DirBuilder::new().mode(0o700).create(&self.run)?;
        let directory = File::open(&self.run)?;
        self.inode = directory.metadata()?.ino();
        self.directory = Some(directory);
        self.placed = None;
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

    /// Puts an input file in its place.
    pub fn place_input(&mut self, bytes: &[u8]) -> io::Result<()> {
        if let Some(placed) = self.placed.take_if(|placed| !placed.is_ours()) {
            drop(placed);
            fs::remove_file(&self.input)?;
        }
        let mut placed = match self.placed.take() {
            Some(placed) => placed,
            None => Placed::new(&self.input)?,
        };
        placed.write(bytes).map_err(|error| at(&self.input, &error))?;
        self.placed = Some(placed);
        Ok(())
    }

    /// Empties the working directory; the input file may stay, to be overwritten. If that cannot be done a new directory
    /// takes its place, and the answer is `true`: processes that are waiting in the old one must go.
    pub fn clean(&mut self) -> io::Result<bool> {
        let now = fs::symlink_metadata(&self.run).ok().filter(|now| now.is_dir() && now.ino() == self.inode);
        let intact = now.is_some();
        let changed = now.and_then(|now| now.modified().ok());
        if intact && self.placed.is_some() && changed.is_some() && changed == self.settled {
            return Ok(false);
        }
        if intact && self.holds_only_input() {
            // Clocks of file systems tick: another change in the same tick would not be seen.
            self.settled = changed.filter(|changed| changed.elapsed().is_ok_and(|age| age >= TICK));
            return Ok(false);
        }
        self.settled = None;
        self.placed = None;
        if intact && self.empty_run().is_ok() {
            return Ok(false);
        }
        remove_tree(&self.run);
        if fs::symlink_metadata(&self.run).is_ok() {
            // The wall keeps us from changing permissions too; the guard is outside and removes it in the end.
            self.set_aside += 1;
            fs::rename(&self.run, self.base.join(format!("left-{}", self.set_aside)))?;
        }
        self.make_run()?;
        Ok(true)
    }

    /// Whether nothing but our input file is in the working directory, the usual case: one listing tells.
    fn holds_only_input(&self) -> bool {
        let (Some(directory), Some(placed)) = (&self.directory, &self.placed) else { return false };
        let fd = directory.as_raw_fd();
        let mut entries = [0u64; 128];
        // SAFETY: `fd` is the directory that `self` keeps open; no memory is touched.
        if unsafe { libc::lseek(fd, 0, libc::SEEK_SET) } != 0 {
            return false;
        }
        let mut inputs = 0;
        loop {
            let (room, at) = (size_of_val(&entries), entries.as_mut_ptr());
            // SAFETY: the kernel writes at most `room` bytes to `at`, a buffer of that size.
            let length = unsafe { libc::syscall(libc::SYS_getdents64, fd, at, room) };
            let Ok(length) = usize::try_from(length) else { return false };
            if length == 0 {
                return inputs == 1;
            }
            let mut position = 0;
            while position < length {
                // SAFETY: the kernel filled `length` bytes with whole records, each aligned to eight bytes.
                let (inode, next, name) = unsafe {
                    let entry = at.byte_add(position).cast::<libc::dirent64>();
                    let name = std::ffi::CStr::from_ptr((&raw const (*entry).d_name).cast());
                    ((*entry).d_ino, (*entry).d_reclen, name.to_bytes())
                };
                let is_input = inode == placed.inode && name == INPUT_NAME.trim_end_matches('\0').as_bytes();
                if !is_input && name != b"." && name != b".." {
                    return false;
                }
                inputs += usize::from(is_input);
                position += usize::from(next).max(1);
            }
        }
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
    // SAFETY: the descriptor is open as long as `directory` is borrowed.
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

    #[test]
    fn an_input_file_that_is_left_alone_stays_and_any_other_is_made_anew() {
        let parent = tempfile::tempdir().expect("a directory");
        let mut scratch = Scratch::new(Some(parent.path())).expect("a scratch directory");
        let inode = |scratch: &Scratch| fs::metadata(scratch.input()).expect("there").ino();
        scratch.place_input(b"(check-sat)(exit)").expect("placed");
        let first = inode(&scratch);
        assert!(!scratch.clean().expect("cleaned"));
        scratch.place_input(b"(exit)").expect("placed");
        assert_eq!(fs::read(scratch.input()).expect("read"), b"(exit)");
        assert_eq!(inode(&scratch), first, "the same file");

        // Links, permissions and other files are a solver's doing.
        let foreign = parent.path().join("foreign");
        fs::write(&foreign, "x").expect("written");
        fs::remove_file(scratch.input()).expect("removed");
        std::os::unix::fs::symlink(&foreign, scratch.input()).expect("linked");
        assert!(!scratch.clean().expect("cleaned"));
        scratch.place_input(b"(pop)").expect("placed");
        assert_eq!(fs::read(&foreign).expect("read"), b"x");
        assert!(fs::symlink_metadata(scratch.input()).expect("there").is_file());

        fs::set_permissions(scratch.input(), fs::Permissions::from_mode(0o400)).expect("set");
        assert!(!scratch.clean().expect("cleaned"));
        scratch.place_input(b"(push)").expect("placed");
        assert_eq!(fs::read(scratch.input()).expect("read"), b"(push)");
        assert_eq!(fs::metadata(scratch.input()).expect("there").mode() & 0o777, INPUT_MODE);

        // Also after it was seen to be empty for a while.
        std::thread::sleep(2 * TICK);
        assert!(!scratch.clean().expect("cleaned") && scratch.settled.is_some());
        assert!(!scratch.clean().expect("cleaned") && scratch.placed.is_some());
        fs::write(scratch.run().join("litter"), "x").expect("written");
        assert!(!scratch.clean().expect("cleaned"));
        assert_eq!(fs::read_dir(scratch.run()).expect("there").count(), 0);
        scratch.place_input(b"(exit)").expect("placed");
        assert_eq!(fs::read(scratch.input()).expect("read"), b"(exit)");
        scratch.remove();
    }
}
