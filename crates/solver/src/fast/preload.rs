//! The library that is preloaded into dynamic solver executables and turns them into fork servers.
//!
//! It is its own little crate, compiled by `build.rs` and embedded into ours, so that installing the one program is
//! enough. It interposes three functions of the C library: `__libc_start_main`, to stop just before `main`; `read`, to
//! stop where the input file's first part has been read completely (the *prefix snapshot*); and `fclose`, to see a job
//! at the end of its input. At one of the first two places the *probe* begins as well. Without the variables that ask for
//! it it does nothing.

#![no_std]

mod job;
mod pages;
mod probe;

use core::ffi::{c_char, c_int, c_long, c_void};
use core::sync::atomic::{AtomicBool, AtomicPtr, AtomicU8, AtomicUsize, Ordering::Relaxed};

type Main = unsafe extern "C" fn(c_int, *mut *mut c_char, *mut *mut c_char) -> c_int;
type StartMain = unsafe extern "C" fn(
    Main,
    c_int,
    *mut *mut c_char,
    *mut c_void,
    *mut c_void,
    *mut c_void,
    *mut c_void,
) -> c_int;

const NOTHING: u8 = 0;
const MAIN: u8 = 1;
const INPUT_END: u8 = 2;

/// What is still to be done; `NOTHING` as soon as it has been done, and in every child.
static PENDING: AtomicU8 = AtomicU8::new(NOTHING);
/// The probe is to begin when the input is read.
static PROBE_WAITS: AtomicBool = AtomicBool::new(false);
static REAL_MAIN: AtomicPtr<c_void> = AtomicPtr::new(core::ptr::null_mut());

/// Traps in the code are removed while it runs.
static PROBED: AtomicBool = AtomicBool::new(false);
/// The launcher wants a server that costs the kernel less.
static TUNED: AtomicBool = AtomicBool::new(false);
/// The job may end without clearing up behind its answers.
static BRIEF: AtomicBool = AtomicBool::new(false);
/// Functions that need not run when a job's input has been closed; zeros are none.
static CLEARING_UP: [AtomicUsize; 8] = [const { AtomicUsize::new(0) }; 8];

/// The first words of a `struct stat`: device and inode come first on every Linux.
#[repr(C, align(8))]
struct FileStatus {
    device: u64,
    inode: u64,
    rest: [u64; 30],
}

unsafe extern "C" {
    fn dlsym(handle: *mut c_void, name: *const c_char) -> *mut c_void;
    fn getenv(name: *const c_char) -> *const c_char;
    fn unsetenv(name: *const c_char) -> c_int;
    fn strcmp(left: *const c_char, right: *const c_char) -> c_int;
    fn syscall(number: c_long, ...) -> c_long;
    fn stat(path: *const c_char, status: *mut FileStatus) -> c_int;
    fn fstat(fd: c_int, status: *mut FileStatus) -> c_int;
    fn open(path: *const c_char, flags: c_int, ...) -> c_int;
    fn lseek(fd: c_int, offset: i64, whence: c_int) -> i64;
    fn dup2(from: c_int, to: c_int) -> c_int;
    fn close(fd: c_int) -> c_int;
    fn _exit(code: c_int) -> !;
    fn strtoul(digits: *const c_char, end: *mut *const c_char, base: c_int) -> usize;
    fn fileno(stream: *mut c_void) -> c_int;
    fn mprotect(at: *mut c_void, size: usize, rights: c_int) -> c_int;
    fn dl_iterate_phdr(
        each: unsafe extern "C" fn(*const usize, usize, *mut c_void) -> c_int,
        data: *mut c_void,
    ) -> c_int;
}

const RTLD_NEXT: *mut c_void = -1isize as *mut c_void;
const SYS_READ: c_long = if cfg!(target_arch = "x86_64") { 0 } else { 63 };

fn text(terminated: &'static str) -> *const c_char {
    terminated.as_ptr().cast()
}

/// # Safety
/// Called by the program's start code, once, as the C library's own function would be.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn __libc_start_main(
    main: Main,
    argc: c_int,
    argv: *mut *mut c_char,
    init: *mut c_void,
    fini: *mut c_void,
    rtld_fini: *mut c_void,
    stack_end: *mut c_void,
) -> c_int {
    // SAFETY: the start code calls us in place of the C library's function, so the arguments are good for that one,
    // which `dlsym` finds; it has the type that the C library documents.
    unsafe {
        let real = dlsym(RTLD_NEXT, c"__libc_start_main".as_ptr());
        if real.is_null() {
            _exit(127);
        }
        let real: StartMain = core::mem::transmute(real);
        REAL_MAIN.store(main as *mut c_void, Relaxed);
        real(serve_then_main, argc, argv, init, fini, rtld_fini, stack_end)
    }
}

/// # Safety
/// Called by the C library in place of `main`, with its arguments, after `__libc_start_main` above.
unsafe extern "C" fn serve_then_main(argc: c_int, argv: *mut *mut c_char, env: *mut *mut c_char) -> c_int {
    // SAFETY: one thread runs, so the environment may be changed; all strings end with a zero byte; `REAL_MAIN` was
    // stored before the C library could call this function.
    unsafe {
        let at = getenv(text(job::FORK_AT));
        let (from_main, from_input) = (probe::asked(probe::FROM_MAIN), probe::asked(probe::FROM_INPUT));
        PROBE_WAITS.store(from_input, Relaxed);
        PROBED.store(from_main || from_input, Relaxed);
        let functions = getenv(text(job::TUNED));
        if !at.is_null() || from_main || from_input || !functions.is_null() {
            close(job::LIBRARY_FD);
            // The solver, and whatever it starts, sees the environment of a plain start.
            unsetenv(text(probe::PROBE));
            unsetenv(c"LD_PRELOAD".as_ptr());
            unset_ours(job::ALLOCATOR, job::ALLOCATOR_SETTING);
            unset_ours(job::BINDING, job::BINDING_SETTING);
        }
        if from_main {
            probe::arm();
        }
        if !at.is_null() {
            if strcmp(at, text(job::AT_MAIN)) == 0 {
                PENDING.store(MAIN, Relaxed);
            } else if strcmp(at, text(job::AT_INPUT_END)) == 0 {
                PENDING.store(INPUT_END, Relaxed);
            }
            if !functions.is_null() {
                TUNED.store(true, Relaxed);
                note_functions(functions);
            }
            unsetenv(text(job::FORK_AT));
        }
        unsetenv(text(job::TUNED));
        if PENDING.load(Relaxed) == MAIN {
            PENDING.store(NOTHING, Relaxed);
            serve();
        }
        let main: Main = core::mem::transmute(REAL_MAIN.load(Relaxed));
        main(argc, argv, env)
    }
}

/// Removes a variable from the environment, unless the run has brought its own.
///
/// # Safety
/// Only while one thread runs; both strings must end with a zero byte.
unsafe fn unset_ours(name: &'static str, value: &'static str) {
    // SAFETY: all strings end with a zero byte, and nobody else uses the environment meanwhile.
    unsafe {
        let found = getenv(text(name));
        if !found.is_null() && strcmp(found, text(value)) == 0 {
            unsetenv(text(name));
        }
    }
}

/// Returns in the children, with their jobs.
fn serve() -> job::Job {
    let tuned = TUNED.load(Relaxed);
    let code = tuned && !PROBED.load(Relaxed);
    let job = job::serve(job::Pages { constants: tuned, code, heap: tuned });
    BRIEF.store(job.brief != 0, Relaxed);
    job
}

/// # Safety
/// As the C library's `read`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn read(fd: c_int, buffer: *mut c_void, count: usize) -> isize {
    // SAFETY: the caller vouches for `buffer` and `count` as for the C library's `read`; the other calls touch only
    // descriptors and constant strings.
    unsafe {
        if PROBE_WAITS.load(Relaxed) && is_input(fd) {
            PROBE_WAITS.store(false, Relaxed);
            probe::arm();
        }
        let length = syscall(SYS_READ, fd, buffer, count) as isize;
        if length != 0 || count == 0 || PENDING.load(Relaxed) != INPUT_END || !is_input(fd) {
            return length;
        }
        PENDING.store(NOTHING, Relaxed);
        let job = serve();
        // A child: the descriptor goes on where the job's own part begins.
        let rest = open(text(job::INPUT_NAME), 0);
        if rest < 0 || lseek(rest, job.offset as i64, 0) < 0 || dup2(rest, fd) < 0 {
            _exit(127);
        }
        close(rest);
        syscall(SYS_READ, fd, buffer, count) as isize
    }
}

/// A script has been read to its end, or to where it said `(exit)`, when its file is closed: all its commands have been
/// executed and have printed what they print. What is left is the exit code and freeing memory. The latter is for the
/// kernel, which does it at once.
///
/// # Safety
/// As the C library's `fclose`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fclose(stream: *mut c_void) -> c_int {
    // SAFETY: the caller vouches for `stream` as for the C library's `fclose`, which `dlsym` finds.
    unsafe {
        if BRIEF.load(Relaxed) && is_input(fileno(stream)) {
            skip_functions();
        }
        let real = dlsym(RTLD_NEXT, c"fclose".as_ptr());
        if real.is_null() {
            _exit(127);
        }
        let real: unsafe extern "C" fn(*mut c_void) -> c_int = core::mem::transmute(real);
        real(stream)
    }
}

/// Notes where the functions are of which the launcher says that they need not run at the end.
///
/// # Safety
/// `functions` must end with a zero byte.
unsafe fn note_functions(functions: *const c_char) {
    // SAFETY: `strtoul` stops at the first byte that is no digit, at the latest at the end of the string.
    unsafe {
        let mut base = 0usize;
        dl_iterate_phdr(base_of_program, (&raw mut base).cast());
        let mut at = functions;
        for place in &CLEARING_UP {
            let mut end = at;
            let address = strtoul(at, &mut end, 16);
            if end == at {
                return;
            }
            place.store(base.wrapping_add(address), Relaxed);
            if *end == 0 {
                return;
            }
            at = end.add(1);
        }
    }
}

/// The program comes first; what is told of it begins with where it has been loaded.
///
/// # Safety
/// Called by `dl_iterate_phdr`, with a pointer to a number of ours.
unsafe extern "C" fn base_of_program(program: *const usize, _: usize, base: *mut c_void) -> c_int {
    // SAFETY: the loader passes a struct that begins with an address, and our pointer as it got it.
    unsafe { base.cast::<usize>().write(*program) };
    1
}

/// Makes the noted functions return at once. Only in a job: it is about to end.
///
/// # Safety
/// The noted addresses must be those of functions without a result.
unsafe fn skip_functions() {
    const PAGE: usize = 4096;
    const ALL_RIGHTS: c_int = 7;
    const RETURN: u8 = 0xc3;
    for function in &CLEARING_UP {
        let address = function.load(Relaxed);
        let page = (address / PAGE * PAGE) as *mut c_void;
        // SAFETY: the page holds the first instruction of a function that is not running; where it may not be changed it
        // is left as it is.
        unsafe {
            if address != 0 && mprotect(page, PAGE, ALL_RIGHTS) == 0 {
                (address as *mut u8).write(RETURN);
            }
        }
    }
}

/// # Safety
/// None beyond that of the C library's functions: any number may be asked about.
unsafe fn is_input(fd: c_int) -> bool {
    let mut by_name = FileStatus { device: 0, inode: 0, rest: [0; 30] };
    let mut by_fd = FileStatus { device: 0, inode: 0, rest: [0; 30] };
    // SAFETY: both structs are as large as any `struct stat` of Linux and live through the calls.
    unsafe {
        stat(text(job::INPUT_NAME), &mut by_name) == 0
            && fstat(fd, &mut by_fd) == 0
            && by_name.device == by_fd.device
            && by_name.inode == by_fd.inode
    }
}

#[panic_handler]
fn panic(_: &core::panic::PanicInfo) -> ! {
    // SAFETY: ends the process; nothing of it runs afterwards.
    unsafe { _exit(127) }
}
