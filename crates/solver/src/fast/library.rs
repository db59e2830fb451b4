//! Handing the preloaded library to a solver.
//!
//! It travels inside our executable and is handed over as a file in memory: nothing to install, nothing to go stale,
//! and no trouble with file systems from which nothing may be executed.

use std::fs::File;
use std::io::{self, Write};
use std::os::fd::{FromRawFd, OwnedFd};
use std::path::Path;

/// The library as `build.rs` made it; empty where it cannot be built.
static PRELOAD: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/preload.so"));

/// A descriptor of the library, to be given to children at `job::LIBRARY_FD`.
pub(crate) fn open() -> io::Result<OwnedFd> {
    if PRELOAD.is_empty() {
        return Err(io::Error::new(io::ErrorKind::Unsupported, "this build has no preloaded library"));
    }
    // SAFETY: the name is a constant that ends with a zero byte.
    let fd = unsafe { libc::memfd_create(c"osprey-preload".as_ptr(), libc::MFD_CLOEXEC) };
    if fd < 0 {
        return Err(io::Error::last_os_error());
    }
    // SAFETY: the descriptor was opened just now and nobody else has it.
    let mut file = unsafe { File::from_raw_fd(fd) };
    file.write_all(PRELOAD)?;
    Ok(file.into())
}

/// Whether the executable has a dynamic loader, without which nothing is preloaded. Scripts count as dynamic: their
/// interpreter decides. An unreadable file does too; its start will tell.
pub(crate) fn is_dynamic(program: &Path) -> bool {
    const PT_INTERP: u32 = 3;
    let Ok(file) = File::open(program) else { return true };
    let mut head = [0u8; 4096];
    let Ok(length) = io::Read::read(&mut &file, &mut head) else { return true };
    let head = &head[..length];
    if !head.starts_with(b"\x7fELF\x02") {
        return true;
    }
    let number = |at: usize, size: usize| -> Option<u64> {
        let bytes = head.get(at..at + size)?;
        Some(bytes.iter().rev().fold(0, |value, byte| value << 8 | u64::from(*byte)))
    };
    let interpreter = || -> Option<bool> {
        // The ELF64 header's table of program headers: its place, the size of an entry, their number.
        let (table, size, count) = (number(32, 8)?, number(54, 2)?, number(56, 2)?);
        for entry in 0..count {
            if number((table + entry * size) as usize, 4)? == u64::from(PT_INTERP) {
                return Some(true);
            }
        }
        Some(false)
    };
    interpreter().unwrap_or(true)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_test_program_is_dynamic_and_a_script_may_be() {
        assert!(is_dynamic(&std::env::current_exe().expect("our own path")));
        let script = tempfile::NamedTempFile::new().expect("a file");
        std::fs::write(script.path(), "#!/bin/sh\n").expect("written");
        assert!(is_dynamic(script.path()));
    }
}
