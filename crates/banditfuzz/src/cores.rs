//! Cores: each measurement has one to itself.

use std::io;
use std::mem::{size_of, zeroed};

/// The cores that this process may use.
pub fn allowed() -> Vec<usize> {
    // SAFETY: the set is ours, and the kernel writes no more than its size.
    let set = unsafe {
        let mut set: libc::cpu_set_t = zeroed();
        if libc::sched_getaffinity(0, size_of::<libc::cpu_set_t>(), &raw mut set) != 0 {
            return vec![0];
        }
        set
    };
    // SAFETY: the number stays below that of the set's bits.
    (0..libc::CPU_SETSIZE as usize).filter(|core| unsafe { libc::CPU_ISSET(*core, &set) }).collect()
}

/// Keeps the calling thread, and the solvers it starts from now on, on one core.
pub fn pin(core: usize) -> io::Result<()> {
    // SAFETY: the set is ours; the number is one of `allowed`.
    let done = unsafe {
        let mut set: libc::cpu_set_t = zeroed();
        libc::CPU_SET(core, &mut set);
        libc::sched_setaffinity(0, size_of::<libc::cpu_set_t>(), &raw const set)
    };
    if done == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
}
