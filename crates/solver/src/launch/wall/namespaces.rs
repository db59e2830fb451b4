//! The second choice: a user namespace, in which the launcher and its solvers see all files read-only but the scratch
//! directory, and a network without devices.

use std::ffi::CString;
use std::fs;
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use super::{can_create, in_child};
use crate::launch::scratch::Scratch;

/// The kernel's `struct mount_attr`.
#[repr(C)]
struct Attributes {
    set: u64,
    clear: u64,
    propagation: u64,
    user_namespace: u64,
}

const READ_ONLY: u64 = 1;
const RECURSIVE: libc::c_uint = 0x8000;

/// The largest number of a capability that kernels may have.
const CAPABILITIES: libc::c_ulong = 63;

/// Takes this process (with one thread) into namespaces of its own. Tried in a child first: half of it would be worse
/// than nothing.
pub(super) fn enter(scratch: &Scratch, writable: &[PathBuf]) -> io::Result<()> {
    if !in_child(|| enter_now(scratch, writable).is_ok()) {
        return Err(io::ErrorKind::Unsupported.into());
    }
    enter_now(scratch, writable)
}

fn enter_now(scratch: &Scratch, writable: &[PathBuf]) -> io::Result<()> {
    // SAFETY: both always succeed and touch no memory.
    let (user, group) = unsafe { (libc::geteuid(), libc::getegid()) };
    let kinds = libc::CLONE_NEWUSER | libc::CLONE_NEWNS | libc::CLONE_NEWNET | libc::CLONE_NEWIPC;
    // SAFETY: takes flags only; the process has one thread.
    check(unsafe { libc::unshare(kinds) })?;
    fs::write("/proc/self/setgroups", "deny")?;
    fs::write("/proc/self/uid_map", format!("{user} {user} 1"))?;
    fs::write("/proc/self/gid_map", format!("{group} {group} 1"))?;
    mount(None, Path::new("/"), libc::MS_REC | libc::MS_PRIVATE)?;
    let open: Vec<&Path> =
        std::iter::once(scratch.base()).chain(writable.iter().map(PathBuf::as_path)).collect();
    for path in &open {
        mount(Some(path), path, libc::MS_BIND)?;
    }
    set_read_only(Path::new("/"), true, RECURSIVE)?;
    for path in &open {
        set_read_only(path, false, 0)?;
    }
    drop_capabilities()
}

/// Whether something can be written beside the scratch directory, or nothing in it.
pub(super) fn leaks(scratch: &Scratch) -> bool {
    let path = |directory: &Path| CString::new(directory.join(".trial").as_os_str().as_bytes());
    let beside = scratch.base().parent().unwrap_or(Path::new("/"));
    match (path(beside), path(scratch.run())) {
        (Ok(beside), Ok(within)) => can_create(&beside) || !can_create(&within),
        _ => true,
    }
}

fn mount(source: Option<&Path>, target: &Path, flags: libc::c_ulong) -> io::Result<()> {
    let source = source.map(|path| CString::new(path.as_os_str().as_bytes())).transpose()?;
    let target = CString::new(target.as_os_str().as_bytes())?;
    let source = source.as_ref().map_or(std::ptr::null(), |path| path.as_ptr());
    // SAFETY: the paths end with a zero byte and live through the call; the other pointers may be null.
    check(unsafe { libc::mount(source, target.as_ptr(), std::ptr::null(), flags, std::ptr::null()) })
}

fn set_read_only(path: &Path, read_only: bool, flags: libc::c_uint) -> io::Result<()> {
    let path = CString::new(path.as_os_str().as_bytes())?;
    let (set, clear) = if read_only { (READ_ONLY, 0) } else { (0, READ_ONLY) };
    let attributes = Attributes { set, clear, propagation: 0, user_namespace: 0 };
    // SAFETY: path and struct live through the call, and the struct has the size that is told.
    let done = unsafe {
        libc::syscall(
            libc::SYS_mount_setattr,
            libc::AT_FDCWD,
            path.as_ptr(),
            flags,
            &raw const attributes,
            size_of::<Attributes>(),
        )
    };
    check(done as libc::c_int)
}

/// What a process may do inside its own namespace must not undo the walls. A namespace further in has them locked.
fn drop_capabilities() -> io::Result<()> {
    /// The kernel's header and data of version 3.
    const VERSION: u32 = 0x2008_0522;
    let header = [VERSION, 0];
    let none = [0u32; 6];
    // SAFETY: takes integers; numbers that do not exist are refused.
    unsafe { (0..=CAPABILITIES).for_each(|number| _ = libc::prctl(libc::PR_CAPBSET_DROP, number, 0, 0, 0)) };
    // SAFETY: both arrays have the layout and size that this version asks for.
    check(unsafe { libc::syscall(libc::SYS_capset, header.as_ptr(), none.as_ptr()) } as libc::c_int)
}

fn check(result: libc::c_int) -> io::Result<()> {
    if result == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
}
