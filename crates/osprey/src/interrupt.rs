//! Ctrl-C: once ends cleanly, twice at once. SIGTERM ends cleanly however often it comes: `timeout` sends it to its child and
//! to the child's whole group, which is no second press.

use std::sync::atomic::{AtomicU32, Ordering};

static PRESSED: AtomicU32 = AtomicU32::new(0);

extern "C" fn pressed(signal: libc::c_int) {
    if PRESSED.fetch_add(1, Ordering::Relaxed) > 0 && signal == libc::SIGINT {
        // SAFETY: _exit is allowed in signal handlers. Findings are on disk already, and solvers end with us.
        unsafe { libc::_exit(130) };
    }
}

/// Catches SIGINT and SIGTERM from now on.
pub fn catch() {
    // SAFETY: the handler only touches an atomic and calls _exit.
    unsafe {
        let mut action: libc::sigaction = std::mem::zeroed();
        action.sa_sigaction = pressed as *const () as usize;
        action.sa_flags = libc::SA_RESTART;
        libc::sigaction(libc::SIGINT, &action, std::ptr::null_mut());
        libc::sigaction(libc::SIGTERM, &action, std::ptr::null_mut());
    }
}

/// Has the user asked to end?
pub fn asked() -> bool {
    PRESSED.load(Ordering::Relaxed) > 0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sigterm_twice_ends_cleanly() {
        assert!(!asked());
        pressed(libc::SIGTERM);
        pressed(libc::SIGTERM);
        assert!(asked(), "and this process is still here");
    }
}
