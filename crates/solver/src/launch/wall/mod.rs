//! The wall around solvers: they write nowhere but in their scratch directory, open no socket, and signal nobody.
//!
//! A script can make a solver write files, and a solver may do anything its user may. So solvers run behind a wall of
//! the kernel's. *Landlock* keeps files, TCP ports and signals; where the kernel has none, a user namespace with a
//! read-only view of all files and an empty network stands in for it. In both cases a *seccomp* filter refuses what
//! neither of them covers: sockets of any kind, shared memory that outlives its maker, permissions and owners of files,
//! limits and priorities of other processes, and what only an administrator needs.
//!
//! Filter and namespaces are entered by the launcher, once, and inherited by all it starts. The Landlock domain is
//! entered by each new process just before it executes its program, and inherited by all jobs of a fork server: the
//! launcher stays outside, so that it cannot be signalled from inside. Before the first run a process tries to write
//! where it must not; only a wall that stops it counts as standing.
//!
//! | file | what is in it |
//! | --- | --- |
//! | `landlock.rs` | the rules on files, ports and signals |
//! | `namespaces.rs` | the second choice |
//! | `filter.rs` | system calls that no solver needs |

mod filter;
mod landlock;
mod namespaces;

use std::fmt;
use std::os::fd::{AsRawFd, OwnedFd, RawFd};
use std::path::PathBuf;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use super::scratch::Scratch;

/// Which wall is wanted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum WallChoice {
    /// The best that this kernel has.
    #[default]
    Best,
    /// Landlock or nothing.
    Landlock,
    /// Namespaces or nothing.
    Namespaces,
    /// None: for those who look for a fault of the wall itself.
    Off,
}

/// The variable by which a user chooses: `off`, `landlock`, `namespaces`.
pub const WALL_VARIABLE: &str = "OSPREY_WALL";

/// Further directories that solvers may write to, separated by colons: for builds that write profiles.
pub const WRITABLE_VARIABLE: &str = "OSPREY_WRITABLE";

impl WallChoice {
    /// What the user's environment says.
    pub fn of_user() -> WallChoice {
        let word = std::env::var(WALL_VARIABLE).unwrap_or_default();
        word.parse().unwrap_or_default()
    }

    /// As in the environment.
    pub fn word(self) -> &'static str {
        match self {
            WallChoice::Best => "best",
            WallChoice::Landlock => "landlock",
            WallChoice::Namespaces => "namespaces",
            WallChoice::Off => "off",
        }
    }
}

impl FromStr for WallChoice {
    type Err = ();

    fn from_str(word: &str) -> Result<Self, ()> {
        let all = [WallChoice::Best, WallChoice::Landlock, WallChoice::Namespaces, WallChoice::Off];
        all.into_iter().find(|choice| choice.word() == word).ok_or(())
    }
}

/// The walls that stand around the solvers of a launcher.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub struct Wall {
    /// What keeps solvers from writing outside their scratch directory.
    pub files: Option<FileWall>,
    /// What keeps them from the network.
    pub network: Option<NetworkWall>,
    /// Whether they can signal nobody but each other.
    pub signals: bool,
    /// Whether calls that leave something behind, or change other processes, are refused.
    pub calls: bool,
}

/// What keeps solvers from writing outside their scratch directory.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum FileWall {
    /// Landlock, with the version of its interface.
    Landlock { abi: u32 },
    /// A namespace in which everything else is read-only.
    Namespace,
}

/// What keeps solvers from the network.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum NetworkWall {
    /// They cannot open a socket.
    Filter,
    /// They are in a network without devices.
    Namespace,
    /// Landlock refuses TCP, and nothing else.
    TcpOnly,
}

impl fmt::Display for Wall {
    /// In a line, as `osprey solvers list` shows it.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.files {
            Some(FileWall::Landlock { abi }) => {
                write!(f, "writing outside the scratch folder is refused by Landlock (ABI {abi})")?;
            }
            Some(FileWall::Namespace) => {
                write!(f, "everything but the scratch folder is read-only (mount namespace)")?;
            }
            None => write!(f, "NO WALL: solvers can write wherever you can")?,
        }
        f.write_str(match self.network {
            Some(NetworkWall::Filter) => ", no sockets (seccomp)",
            Some(NetworkWall::Namespace) => ", no network (network namespace)",
            Some(NetworkWall::TcpOnly) => ", no TCP (Landlock) but UDP",
            None => ", the network is open",
        })?;
        f.write_str(if self.signals { ", no signals to others" } else { ", signals are not stopped" })
    }
}

/// The wall of a launcher, ready for the processes it starts.
pub(crate) struct Enclosure {
    wall: Wall,
    ruleset: Option<OwnedFd>,
    /// What the user lets solvers write to beside the scratch directory.
    writable: Vec<PathBuf>,
}

impl Enclosure {
    /// Builds the wall. To be called by a launcher with one thread, before it starts anything.
    pub fn build(choice: WallChoice, scratch: &Scratch) -> Enclosure {
        let mut enclosure = Enclosure { wall: Wall::default(), ruleset: None, writable: user_writable() };
        if choice == WallChoice::Off {
            return enclosure;
        }
        // Without it a program with more rights than its user could do what is refused here.
        // SAFETY: this option takes integers and touches no memory.
        unsafe { libc::prctl(libc::PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) };
        if choice != WallChoice::Namespaces {
            // Where it cannot be built there is the second choice.
            enclosure.rebuild(scratch);
        }
        if enclosure.wall.files.is_none() && choice != WallChoice::Landlock {
            let standing = namespaces::enter(scratch, &enclosure.writable).is_ok();
            if standing && !namespaces::leaks(scratch) {
                enclosure.wall.files = Some(FileWall::Namespace);
                enclosure.wall.network = Some(NetworkWall::Namespace);
            }
        }
        if filter::install().is_ok() {
            enclosure.wall.calls = true;
            enclosure.wall.network = Some(NetworkWall::Filter);
        }
        enclosure
    }

    /// Makes the rules for the scratch directory as it is now: it may have been replaced. Whether they hold.
    pub fn rebuild(&mut self, scratch: &Scratch) -> bool {
        let abi = landlock::abi();
        self.ruleset = landlock::ruleset(scratch.run(), &self.writable);
        let stands = self.ruleset.as_ref().is_some_and(|rules| !landlock::leaks(rules.as_raw_fd(), scratch));
        if !stands {
            self.ruleset = None;
            return false;
        }
        self.wall.files = Some(FileWall::Landlock { abi });
        self.wall.signals = abi >= landlock::SIGNALS;
        if abi >= landlock::PORTS && self.wall.network.is_none() {
            self.wall.network = Some(NetworkWall::TcpOnly);
        }
        true
    }

    /// What stands.
    pub fn wall(&self) -> Wall {
        self.wall
    }

    /// The rules that a new process enters before it executes its program.
    pub fn rules(&self) -> Option<RawFd> {
        self.ruleset.as_ref().map(AsRawFd::as_raw_fd)
    }

    /// After the scratch directory has been replaced: whether the wall stands around the new one.
    pub fn follow(&mut self, scratch: &Scratch) -> bool {
        self.ruleset.is_none() || self.rebuild(scratch)
    }
}

/// Enters the rules. Makes only system calls.
///
/// # Safety
/// Any number may be tried; to be called by a process that is to stay inside.
pub(crate) unsafe fn enter(rules: RawFd) -> bool {
    // SAFETY: takes a descriptor and no flags, and touches no memory.
    unsafe { libc::syscall(libc::SYS_landlock_restrict_self, rules, 0 as libc::c_uint) == 0 }
}

/// Directories that the user names, and the one of the profile that an instrumented build is told to write.
fn user_writable() -> Vec<PathBuf> {
    let named = std::env::var_os(WRITABLE_VARIABLE).unwrap_or_default();
    let profile = std::env::var_os("LLVM_PROFILE_FILE").map(PathBuf::from);
    let profile = profile.and_then(|file| file.parent().map(PathBuf::from));
    std::env::split_paths(&named).chain(profile).filter(|path| path.is_absolute() && path.is_dir()).collect()
}

/// Whether a file can be made at this path; it is removed again. Makes only system calls.
fn can_create(path: &std::ffi::CStr) -> bool {
    // SAFETY: the path ends with a zero byte; the descriptor is closed here.
    unsafe {
        let fd = libc::open(path.as_ptr(), libc::O_WRONLY | libc::O_CREAT | libc::O_CLOEXEC, 0o600);
        if fd < 0 {
            return false;
        }
        libc::close(fd);
        libc::unlink(path.as_ptr());
        true
    }
}

/// Runs `trial` in a process of its own; whether it said yes.
fn in_child(trial: impl FnOnce() -> bool) -> bool {
    // SAFETY: the caller has one thread, so the child is whole; it ends with `_exit`.
    unsafe {
        match libc::fork() {
            -1 => false,
            0 => libc::_exit(if trial() { 0 } else { 1 }),
            child => {
                let mut status = 0;
                while libc::waitpid(child, &mut status, 0) != child {
                    if std::io::Error::last_os_error().kind() != std::io::ErrorKind::Interrupted {
                        return false;
                    }
                }
                libc::WIFEXITED(status) && libc::WEXITSTATUS(status) == 0
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_choice_is_read_as_it_is_written() {
        for choice in [WallChoice::Best, WallChoice::Landlock, WallChoice::Namespaces, WallChoice::Off] {
            assert_eq!(choice.word().parse(), Ok(choice));
        }
        assert_eq!("none".parse::<WallChoice>(), Err(()));
    }

    #[test]
    fn what_stands_and_what_does_not_is_said() {
        let none = Wall::default().to_string();
        assert!(none.contains("NO WALL") && none.contains("network is open"), "{none}");
        let all = Wall {
            files: Some(FileWall::Landlock { abi: 7 }),
            network: Some(NetworkWall::Filter),
            signals: true,
            calls: true,
        };
        let text = all.to_string();
        assert!(text.contains("Landlock (ABI 7)") && text.contains("no sockets"), "{text}");
        let back: Wall = serde_json::from_str(&serde_json::to_string(&all).expect("JSON")).expect("a wall");
        assert_eq!(back, all);
    }
}
