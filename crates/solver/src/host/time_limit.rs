//! The option `--tlimit`, which the `cvc5` program carries out itself and the library ignores.

use std::ffi::c_int;

/// Ends the process after so many milliseconds as the program does: with its words, by aborting. None at 0.
pub(super) fn start(milliseconds: u64) {
    let interval = libc::itimerval {
        it_interval: libc::timeval { tv_sec: 0, tv_usec: 0 },
        it_value: libc::timeval {
            tv_sec: (milliseconds / 1000) as libc::time_t,
            tv_usec: (milliseconds % 1000 * 1000) as libc::suseconds_t,
        },
    };
    let handler: extern "C" fn(c_int) = expired;
    // SAFETY: the handler makes only calls that are allowed in one.
    unsafe {
        libc::signal(libc::SIGALRM, handler as libc::sighandler_t);
        libc::setitimer(libc::ITIMER_REAL, &interval, std::ptr::null_mut());
    }
}

extern "C" fn expired(_: c_int) {
    const WORDS: &[u8] = b"cvc5 interrupted by timeout.\n";
    // SAFETY: `write` and `abort` may be called in a signal handler; the bytes are a constant.
    unsafe {
        libc::write(2, WORDS.as_ptr().cast(), WORDS.len());
        libc::abort();
    }
}
