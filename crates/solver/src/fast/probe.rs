//! The probe proper: what runs inside a solver process whose coverage is wanted.
//!
//! Its code is replaced, where it stands, by a patched copy that the launcher has made: a file in memory in which every
//! site begins with an instruction that traps. A trap puts the original byte back *in that file*: the page is the same
//! in the fork server, in all its later jobs and in all other servers of the launcher, so each site traps once. No memory
//! of ours is written to, and no page is copied: a run that reaches nothing new costs what it costs without the probe.
//!
//! Compiled twice, as `job.rs` beside it: so it uses only `core` and a handful of C functions, and allocates nothing.

use core::cell::UnsafeCell;
use core::ffi::{c_char, c_int, c_void};
use core::sync::atomic::{AtomicUsize, Ordering};

use super::job;

/// The descriptor of the log: a [`Table`], then eight bytes for each trap.
pub const LOG_FD: c_int = 197;
/// Patched copies are at even steps from here, the files they are copies of at odd ones.
pub const FIRST_COPY_FD: c_int = 180;
/// Parts of files that can be watched at once: their descriptors stay below the log's.
pub const MOST_PARTS: usize = 8;
/// Asks for the probe; the value says when it begins.
pub const PROBE: &str = "OSPREY_PROBE\0";
/// When `main` is about to run.
pub const FROM_MAIN: &str = "main\0";
/// When the input file is read for the first time: what a program loads by itself is there by then.
pub const FROM_INPUT: &str = "input\0";

/// A part of a file that is mapped to be executed.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct Part {
    pub device: u64,
    pub inode: u64,
    /// As the file counts addresses; begins with a page.
    pub address: u64,
    /// Whole pages.
    pub length: u64,
    /// In the file; begins with a page.
    pub offset: u64,
    /// Number of the file among those that are watched.
    pub file: u64,
}

/// What is to be watched, at the beginning of the log.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct Table {
    pub count: u64,
    pub parts: [Part; MOST_PARTS],
}

impl Table {
    /// Nothing is watched.
    pub const EMPTY: Table = Table {
        count: 0,
        parts: [Part { device: 0, inode: 0, address: 0, length: 0, offset: 0, file: 0 }; MOST_PARTS],
    };
}

/// An entry of the log: the number of the file and the site's offset in it.
pub const fn entry(file: u64, offset: u64) -> u64 {
    file << 32 | offset & 0xffff_ffff
}

/// What is watched in this process: addresses, and the part they are of.
struct Watched {
    table: UnsafeCell<Table>,
    starts: UnsafeCell<[usize; MOST_PARTS]>,
    /// Where the code without traps can be read; zero if only the file has it.
    originals: UnsafeCell<[usize; MOST_PARTS]>,
    /// Stored last: the rest is not changed any more.
    count: AtomicUsize,
}

// SAFETY: `arm` writes while the process has one thread that knows of it, and stores the count afterwards; whoever reads
// has loaded a count that is not zero, and only reads.
unsafe impl Sync for Watched {}

static WATCHED: Watched = Watched {
    table: UnsafeCell::new(Table::EMPTY),
    starts: UnsafeCell::new([0; MOST_PARTS]),
    originals: UnsafeCell::new([0; MOST_PARTS]),
    count: AtomicUsize::new(0),
};

/// `struct sigaction` of the GNU C library on x86-64.
#[repr(C)]
struct Action {
    handler: *const c_void,
    mask: [u64; 16],
    flags: c_int,
    restorer: *const c_void,
}

/// The first fields of `struct dl_phdr_info`.
#[repr(C)]
struct Object {
    base: usize,
    name: *const c_char,
}

/// The first words of a `struct stat`: device and inode come first on every Linux.
#[repr(C, align(8))]
struct FileStatus {
    device: u64,
    inode: u64,
    rest: [u64; 30],
}

unsafe extern "C" {
    fn pread(fd: c_int, bytes: *mut c_void, count: usize, offset: i64) -> isize;
    fn pwrite(fd: c_int, bytes: *const c_void, count: usize, offset: i64) -> isize;
    fn write(fd: c_int, bytes: *const c_void, count: usize) -> isize;
    fn stat(path: *const c_char, status: *mut FileStatus) -> c_int;
    fn mmap(
        at: *mut c_void,
        length: usize,
        rights: c_int,
        flags: c_int,
        fd: c_int,
        offset: i64,
    ) -> *mut c_void;
    fn mprotect(at: *mut c_void, length: usize, rights: c_int) -> c_int;
    fn sigaction(signal: c_int, new: *const Action, old: *mut Action) -> c_int;
    fn raise(signal: c_int) -> c_int;
    fn getenv(name: *const c_char) -> *const c_char;
    fn dl_iterate_phdr(
        each: unsafe extern "C" fn(*const Object, usize, *mut c_void) -> c_int,
        data: *mut c_void,
    ) -> c_int;
    fn __errno_location() -> *mut c_int;
}

const SIGTRAP: c_int = 5;
/// Restart system calls, tell what happened, and let a trap happen in the handler of another signal.
const FLAGS: c_int = 0x1000_0000 | 4 | 0x4000_0000;
const READ_EXECUTE: c_int = 1 | 4;
const READ_WRITE_EXECUTE: c_int = 1 | 2 | 4;
const READ_ONLY: c_int = 1;
const SHARED: c_int = 1;
const PRIVATE: c_int = 2;
const FIXED: c_int = 0x10;
const PAGE: usize = 4096;
const TRAP: u8 = 0xcc;

/// Whether the probe is asked for, to begin then.
///
/// # Safety
/// The environment must not be changed meanwhile; `when` must end with a zero byte.
pub unsafe fn asked(when: &'static str) -> bool {
    // SAFETY: both strings end with a zero byte; nobody changes the environment, as the caller promises.
    unsafe {
        let value = getenv(PROBE.as_ptr().cast());
        !value.is_null() && core::ffi::CStr::from_ptr(value).to_bytes() == &when.as_bytes()[..when.len() - 1]
    }
}

/// Begins to watch what the launcher's table names and this process has loaded.
///
/// # Safety
/// To be called once, while one thread runs, by a process that has the launcher's descriptors.
pub unsafe fn arm() {
    if !cfg!(target_arch = "x86_64") {
        return;
    }
    // SAFETY: the count is zero, so nobody reads the table yet; the kernel writes as many bytes as it has, and any
    // number is a valid one. The handler stays for the life of the process.
    unsafe {
        let size = size_of::<Table>();
        if pread(LOG_FD, WATCHED.table.get().cast(), size, 0) != size as isize
            || (*WATCHED.table.get()).count as usize > MOST_PARTS
        {
            return;
        }
        let action = Action {
            handler: trapped as *const c_void,
            mask: [0; 16],
            flags: FLAGS,
            restorer: core::ptr::null(),
        };
        if sigaction(SIGTRAP, &action, core::ptr::null_mut()) != 0 {
            return;
        }
        dl_iterate_phdr(find, core::ptr::null_mut());
        let count = (*WATCHED.table.get()).count as usize;
        for (number, part) in (&(*WATCHED.table.get()).parts)[..count].iter().enumerate() {
            if (*WATCHED.starts.get())[number] != 0 && job::is_roomy() {
                // Shared, though nobody writes: so it is not taken for constants that are worth a copy.
                let file = FIRST_COPY_FD + 2 * part.file as c_int + 1;
                let (length, offset) = (part.length as usize, part.offset as i64);
                let original = mmap(core::ptr::null_mut(), length, READ_ONLY, SHARED, file, offset);
                (*WATCHED.originals.get())[number] =
                    if original as isize == -1 { 0 } else { original as usize };
            }
        }
        WATCHED.count.store(count, Ordering::Release);
        for (number, part) in (&(*WATCHED.table.get()).parts)[..count].iter().enumerate() {
            let start = (*WATCHED.starts.get())[number];
            if start != 0 {
                // What cannot be mapped stays as it was.
                let copy = FIRST_COPY_FD + 2 * part.file as c_int;
                let (length, offset) = (part.length as usize, part.offset as i64);
                mmap(start as *mut c_void, length, READ_EXECUTE, PRIVATE | FIXED, copy, offset);
            }
        }
    }
}

/// Looks whether a loaded object is one of those to be watched, and remembers where it is.
///
/// # Safety
/// Called by the loader with one of its objects, and by `arm`, which alone uses what is written here.
unsafe extern "C" fn find(object: *const Object, _: usize, _: *mut c_void) -> c_int {
    // SAFETY: the loader's object and its name live through the call; the struct is as large as any `struct stat` of
    // Linux; only `arm` uses the tables now.
    unsafe {
        let name = if *(*object).name == 0 { c"/proc/self/exe".as_ptr() } else { (*object).name };
        let mut status = FileStatus { device: 0, inode: 0, rest: [0; 30] };
        if stat(name, &mut status) != 0 {
            return 0;
        }
        let table = &*WATCHED.table.get();
        let starts = &mut *WATCHED.starts.get();
        let parts = table.parts.iter().zip(starts).take(table.count as usize);
        for (part, start) in parts {
            if part.device == status.device && part.inode == status.inode {
                *start = (*object).base + part.address as usize;
            }
        }
        0
    }
}

/// The handler of traps.
///
/// # Safety
/// Called by the kernel, with the registers of whoever trapped.
unsafe extern "C" fn trapped(_: c_int, report: *const c_int, context: *mut c_void) {
    /// `uc_mcontext.gregs[REG_RIP]` in `ucontext_t`.
    const RIP: usize = 40 + 16 * 8;
    // SAFETY: the kernel passes a report and a context of these layouts; addresses of watched parts are mapped to be
    // read, and are written to only after they have been made writable. All calls may be made in a handler.
    unsafe {
        let errno = *__errno_location();
        let rip = context.byte_add(RIP).cast::<usize>();
        let place = *rip - 1;
        // The code of the report: positive if the processor trapped, not if somebody sent the signal.
        if *report.add(2) > 0 && remove(place) {
            *rip = place;
        } else {
            let default =
                Action { handler: core::ptr::null(), mask: [0; 16], flags: 0, restorer: core::ptr::null() };
            sigaction(SIGTRAP, &default, core::ptr::null_mut());
            raise(SIGTRAP);
        }
        *__errno_location() = errno;
    }
}

/// Puts the original byte back and logs the site; `false` if the trap at this address is none of ours.
///
/// # Safety
/// The address must be one at which this process has executed an instruction.
unsafe fn remove(place: usize) -> bool {
    // SAFETY: the count is stored after the tables, which are not changed any more; the address is mapped, as code was
    // executed there; one byte is read and written in each case.
    unsafe {
        let count = WATCHED.count.load(Ordering::Acquire);
        let table = &*WATCHED.table.get();
        let starts = &*WATCHED.starts.get();
        let originals = &*WATCHED.originals.get();
        for ((part, start), originals) in table.parts.iter().zip(starts).zip(originals).take(count) {
            if *start == 0 || place < *start || place - *start >= part.length as usize {
                continue;
            }
            let byte = place as *mut u8;
            // Another thread or process may have been faster.
            if byte.read_volatile() != TRAP {
                return true;
            }
            let offset = (place - *start) as u64 + part.offset;
            let copy = FIRST_COPY_FD + 2 * part.file as c_int;
            let mut original = TRAP;
            if *originals != 0 {
                original = ((*originals + (place - *start)) as *const u8).read();
            } else {
                pread(copy + 1, (&raw mut original).cast(), 1, offset as i64);
            }
            if original == TRAP {
                return false;
            }
            // First the log: a process that is killed between the two leaves a site that is told twice, not never.
            let entry = entry(part.file, offset);
            write(LOG_FD, (&raw const entry).cast(), size_of::<u64>());
            pwrite(copy, (&raw const original).cast(), 1, offset as i64);
            if byte.read_volatile() == TRAP {
                // The copy is out of reach, or this process has a page of its own: it goes on all the same.
                let page = (place & !(PAGE - 1)) as *mut c_void;
                if mprotect(page, PAGE, READ_WRITE_EXECUTE) != 0 {
                    return false;
                }
                byte.write_volatile(original);
                mprotect(page, PAGE, READ_EXECUTE);
            }
            return true;
        }
        false
    }
}
