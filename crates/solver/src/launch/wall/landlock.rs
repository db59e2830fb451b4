//! Landlock's rules: nothing is written outside the scratch directory, no TCP port is used, nobody outside is signalled.
//!
//! Reading stays open: solvers come with libraries, interpreters and runtimes from anywhere.

use std::ffi::CString;
use std::os::fd::{OwnedFd, RawFd};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use landlock::{
    ABI, Access, AccessFs, AccessNet, BitFlags, PathBeneath, PathFd, Ruleset, RulesetAttr,
    RulesetCreatedAttr, RulesetError, Scope,
};

use super::{can_create, enter, in_child};
use crate::launch::scratch::Scratch;

/// The newest interface that we know. What an older kernel does not have is left out by the crate.
const KNOWN: ABI = ABI::V9;

/// First versions with rules on ports and on signals.
pub(super) const PORTS: u32 = 4;
pub(super) const SIGNALS: u32 = 6;

/// Devices that anybody may write to.
const DEVICES: [&str; 5] = ["/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom"];

/// The version of this kernel's interface; 0 if it has none.
pub(super) fn abi() -> u32 {
    const VERSION: libc::c_uint = 1;
    // SAFETY: with this flag the kernel looks at neither pointer nor size.
    let version =
        unsafe { libc::syscall(libc::SYS_landlock_create_ruleset, std::ptr::null::<u8>(), 0usize, VERSION) };
    u32::try_from(version).unwrap_or(0)
}

/// The rules for a working directory; nothing where the kernel has no Landlock.
pub(super) fn ruleset(run: &Path, writable: &[PathBuf]) -> Option<OwnedFd> {
    if abi() == 0 {
        return None;
    }
    create(run, writable).ok().flatten()
}

fn create(run: &Path, writable: &[PathBuf]) -> Result<Option<OwnedFd>, RulesetError> {
    let device: BitFlags<AccessFs> = AccessFs::MakeChar | AccessFs::MakeBlock;
    let inside = AccessFs::from_write(KNOWN) & !device;
    let mut rules = Ruleset::default()
        .handle_access(AccessFs::from_write(KNOWN))?
        .handle_access(AccessNet::from_all(KNOWN))?
        .scope(Scope::from_all(KNOWN))?
        .create()?;
    for path in std::iter::once(run).chain(writable.iter().map(PathBuf::as_path)) {
        if let Ok(directory) = PathFd::new(path) {
            rules = rules.add_rule(PathBeneath::new(directory, inside))?;
        }
    }
    for device in DEVICES {
        if let Ok(file) = PathFd::new(device) {
            let access = AccessFs::WriteFile | AccessFs::Truncate | AccessFs::IoctlDev;
            rules = rules.add_rule(PathBeneath::new(file, access))?;
        }
    }
    Ok(rules.into())
}

/// Whether a process behind these rules can write beside its working directory, or cannot write in it.
pub(super) fn leaks(rules: RawFd, scratch: &Scratch) -> bool {
    let path = |directory: &Path| CString::new(directory.join(".trial").as_os_str().as_bytes());
    let (Ok(beside), Ok(within)) = (path(scratch.base()), path(scratch.run())) else { return true };
    // SAFETY: the child stays inside until it ends.
    !in_child(|| unsafe { enter(rules) } && !can_create(&beside) && can_create(&within))
}
