//! The fork server proper: what runs inside a solver process (or our library host) that has been stopped at a good
//! place, forks one child per job there, and reports how each child ended.
//!
//! This file is compiled twice: as a module of this crate, and, without the standard library, into the preloaded
//! library (`preload.rs`, built by `build.rs`). So it uses only `core` and a handful of C functions, and allocates
//! nothing: a solver's heap must not be able to tell that we were there.

use core::ffi::{c_char, c_int, c_long, c_ulong, c_void};

use super::pages;

/// The descriptor on which a fork server finds its control socket.
pub const CONTROL_FD: c_int = 198;
/// The descriptor on which the preloaded library itself is handed over (a memory file, closed after loading).
pub const LIBRARY_FD: c_int = 199;
/// Tells the preloaded library (or the library host) where to stop and fork: one of the two values below.
pub const FORK_AT: &str = "OSPREY_FORK_AT\0";
/// Set for a server that is to cost the kernel less: see `tuning.rs`. Its value are the addresses, in the executable, of
/// functions that need not run when the input has been closed: in hexadecimal, with commas between.
pub const TUNED: &str = "OSPREY_TUNED\0";
/// The allocator's settings, which are for us and not for what a solver may start.
pub const ALLOCATOR: &str = "GLIBC_TUNABLES\0";
/// Huge pages for fresh memory, which is got 32 MiB at a time, never given back, and used for all but the largest
/// blocks. Unknown to C libraries before 2.35, which ignore it.
pub const ALLOCATOR_SETTING: &str = "glibc.malloc.hugetlb=1:glibc.malloc.top_pad=33554432:\
    glibc.malloc.trim_threshold=1073741824:glibc.malloc.mmap_threshold=33554432\0";
/// Makes the loader look up all functions when it loads a program: once in a server, not again in each of its children.
pub const BINDING: &str = "LD_BIND_NOW\0";
/// Any value does; this one is known for ours.
pub const BINDING_SETTING: &str = "osprey\0";
/// Below this limit of a run's address space nothing is done that takes room in it: a solver must fail where it fails
/// when it is started plainly.
pub const ROOMY: u64 = 256 << 20;
/// Fork when `main` is about to run.
pub const AT_MAIN: &str = "main\0";
/// Fork when the end of the input file is reached for the first time.
pub const AT_INPUT_END: &str = "input-end\0";
/// The input file's name, relative to the working directory; the same for every job.
pub const INPUT_NAME: &str = "input.smt2\0";

/// First word of a [`Report`] or [`Started`]: tells our own messages from a solver that writes to our descriptor.
pub const MAGIC: u32 = 0x4f53_5052;

/// Sent by the launcher for each job.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct Job {
    /// Address space in bytes; 0 leaves it unlimited.
    pub memory: u64,
    /// CPU seconds; 0 leaves it unlimited.
    pub cpu_seconds: u64,
    /// Largest file in bytes.
    pub file_size: u64,
    /// Where in the input file the child starts to read (prefix snapshot only).
    pub offset: u64,
    /// Not zero if the child may end without clearing up behind its answers.
    pub brief: u64,
}

/// Sent by the server once when it is ready (`pid` is its own, or 0 if it has several threads, which a fork would lose),
/// and when a fork failed (`pid` is 0). A fork that works is not announced: that would wake the launcher for nothing.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct Started {
    pub magic: u32,
    pub pid: i32,
}

/// Sent by the server when a child has ended.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct Report {
    pub magic: u32,
    /// As `wait4` gives it.
    pub status: i32,
    /// CPU time of the child.
    pub child: Usage,
    /// CPU time of the server since its last report: its start, if this is the first one, and the fork.
    pub server: Usage,
    /// Peak resident set in KiB.
    pub peak_kib: u64,
}

/// CPU time in microseconds.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct Usage {
    pub user: u64,
    pub system: u64,
}

impl Usage {
    const NONE: Usage = Usage { user: 0, system: 0 };
}

#[repr(C)]
struct TimeVal {
    seconds: c_long,
    micros: c_long,
}

#[repr(C)]
struct ResourceUsage {
    user: TimeVal,
    system: TimeVal,
    max_rss: c_long,
    rest: [c_long; 13],
}

impl ResourceUsage {
    const NONE: ResourceUsage = ResourceUsage {
        user: TimeVal { seconds: 0, micros: 0 },
        system: TimeVal { seconds: 0, micros: 0 },
        max_rss: 0,
        rest: [0; 13],
    };

    fn cpu(&self) -> Usage {
        let micros = |time: &TimeVal| time.seconds as u64 * 1_000_000 + time.micros as u64;
        Usage { user: micros(&self.user), system: micros(&self.system) }
    }
}

#[repr(C)]
struct ResourceLimit {
    soft: c_ulong,
    hard: c_ulong,
}

/// `siginfo_t` is 128 bytes on every Linux; we look at none of them.
#[repr(C, align(8))]
struct SignalReport([u8; 128]);

unsafe extern "C" {
    fn fork() -> c_int;
    fn wait4(pid: c_int, status: *mut c_int, options: c_int, usage: *mut ResourceUsage) -> c_int;
    fn waitid(kind: c_int, id: u32, report: *mut SignalReport, options: c_int) -> c_int;
    fn getrusage(who: c_int, usage: *mut ResourceUsage) -> c_int;
    fn kill(pid: c_int, signal: c_int) -> c_int;
    fn setsid() -> c_int;
    fn getpid() -> c_int;
    fn getppid() -> c_int;
    fn prctl(option: c_int, ...) -> c_int;
    fn setrlimit(resource: c_int, limit: *const ResourceLimit) -> c_int;
    fn getrlimit(resource: c_int, limit: *mut ResourceLimit) -> c_int;
    fn close(fd: c_int) -> c_int;
    fn send(fd: c_int, bytes: *const c_void, count: usize, flags: c_int) -> isize;
    fn recv(fd: c_int, bytes: *mut c_void, count: usize, flags: c_int) -> isize;
    fn _exit(code: c_int) -> !;
    fn open(path: *const c_char, flags: c_int, ...) -> c_int;
    fn getdents64(fd: c_int, bytes: *mut c_void, count: usize) -> isize;
}

const SIGKILL: c_int = 9;
const PR_SET_PDEATHSIG: c_int = 1;
const RUSAGE_SELF: c_int = 0;
const RLIMIT_CPU: c_int = 0;
const RLIMIT_FSIZE: c_int = 1;
const RLIMIT_AS: c_int = 9;
const P_PID: c_int = 1;
const WEXITED: c_int = 4;
const WNOWAIT: c_int = 0x0100_0000;
const MSG_NOSIGNAL: c_int = 0x4000;
const MSG_WAITALL: c_int = 0x100;
const O_DIRECTORY_CLOEXEC: c_int = if cfg!(target_arch = "aarch64") { 0o40000 } else { 0o200000 } | 0o2000000;

/// The jobs after which a tuned server puts its code into huge pages. That costs as much as it saves in ten jobs, and
/// several times as much on virtual machines whose host has to find the memory first.
const ENLARGE_AFTER: u32 = 32;

/// What makes the jobs of a server cost the kernel less: see `pages.rs`.
#[derive(Clone, Copy, Default)]
pub struct Pages {
    /// Its constants are put into huge pages.
    pub constants: bool,
    /// Its code is, too.
    pub code: bool,
    /// Its children copy their heap in such.
    pub heap: bool,
}

/// Serves jobs until the launcher hangs up. Returns only in the children, with the job each of them is to run.
pub fn serve(large: Pages) -> Job {
    let (mut jobs, mut blocks) = (0, None);
    // SAFETY: `job` is made of integers and `size` bytes large; `fork` is called while this process has one thread,
    // or else the launcher has been told and sends no job.
    unsafe {
        announce(if single_threaded() { getpid() } else { 0 });
        let mut reported = Usage::NONE;
        loop {
            let mut job = Job { memory: 0, cpu_seconds: 0, file_size: 0, offset: 0, brief: 0 };
            let size = size_of::<Job>();
            if recv(CONTROL_FD, (&raw mut job).cast(), size, MSG_WAITALL) != size as isize {
                _exit(0);
            }
            if large.heap && jobs == 0 {
                blocks = pages::Blocks::of_heap();
            }
            if large.constants && jobs == ENLARGE_AFTER {
                pages::enlarge(large.code);
            }
            jobs = jobs.saturating_add(1);
            let server = getpid();
            let child = fork();
            if child == 0 {
                if let Some(blocks) = blocks {
                    blocks.copy();
                }
                become_job(&job, server);
                return job;
            }
            if child < 0 {
                announce(0);
                continue;
            }
            report(child, &mut reported);
        }
    }
}

/// The child's side: it must not outlive its server, has its own session (so that the whole of it can be killed),
/// and its own limits.
///
/// # Safety
/// Only for a child that has just been forked.
unsafe fn become_job(job: &Job, server: c_int) {
    // SAFETY: all calls take integers only; the process is a fresh child with one thread.
    unsafe {
        prctl(PR_SET_PDEATHSIG, SIGKILL as c_ulong);
        if getppid() != server {
            _exit(1);
        }
        setsid();
        close(CONTROL_FD);
        limit(RLIMIT_AS, job.memory);
        limit(RLIMIT_CPU, job.cpu_seconds);
        limit(RLIMIT_FSIZE, job.file_size);
    }
}

/// # Safety
/// As `setrlimit`, which takes any numbers.
unsafe fn limit(resource: c_int, amount: u64) {
    if amount != 0 {
        // Soft and hard alike: a soft limit below the hard one is a signal that a solver may catch and take for its
        // own time-out.
        let limit = ResourceLimit { soft: amount as c_ulong, hard: amount as c_ulong };
        // SAFETY: the struct has the layout of the C library's and lives through the call.
        unsafe { setrlimit(resource, &limit) };
    }
}

/// # Safety
/// `child` must be a child that has not been waited for.
unsafe fn report(child: c_int, reported: &mut Usage) {
    // SAFETY: `child` is a child that only this function waits for; the structs have the layouts of the C library's,
    // and the kernel writes valid integers to them.
    unsafe {
        // The group is killed while the child is still a zombie, so its number cannot have gone to somebody else.
        let mut ignored = SignalReport([0; 128]);
        while waitid(P_PID, child as u32, &mut ignored, WEXITED | WNOWAIT) != 0 {}
        kill(-child, SIGKILL);
        let mut usage = ResourceUsage::NONE;
        let mut status = 0;
        while wait4(child, &mut status, 0, &mut usage) < 0 {}
        let mut own = ResourceUsage::NONE;
        getrusage(RUSAGE_SELF, &mut own);
        let own = own.cpu();
        let report = Report {
            magic: MAGIC,
            status,
            child: usage.cpu(),
            server: Usage {
                user: own.user.saturating_sub(reported.user),
                system: own.system.saturating_sub(reported.system),
            },
            peak_kib: usage.max_rss as u64,
        };
        *reported = own;
        say((&raw const report).cast(), size_of::<Report>());
    }
}

/// Whether this process may use so much address space that some for us does not matter.
pub fn is_roomy() -> bool {
    let mut limit = ResourceLimit { soft: 0, hard: 0 };
    // SAFETY: the struct has the layout of the C library's, and the kernel writes valid integers to it.
    unsafe { getrlimit(RLIMIT_AS, &mut limit) == 0 && limit.soft >= ROOMY as c_ulong }
}

/// The faults of this process so far that needed no disk.
pub fn minor_faults() -> i64 {
    let mut own = ResourceUsage::NONE;
    // SAFETY: the struct has the layout of the C library's, and the kernel writes valid integers to it.
    unsafe { getrusage(RUSAGE_SELF, &mut own) };
    // Three other numbers stand between.
    own.rest[3]
}

/// # Safety
/// The control descriptor must be the launcher's socket.
unsafe fn announce(pid: c_int) {
    let started = Started { magic: MAGIC, pid };
    // SAFETY: the pointer is to as many bytes as are announced.
    unsafe { say((&raw const started).cast(), size_of::<Started>()) };
}

/// # Safety
/// `bytes` must be good for reading `count` bytes.
unsafe fn say(bytes: *const c_void, count: usize) {
    // SAFETY: the caller vouches for `count` readable bytes.
    unsafe {
        if send(CONTROL_FD, bytes, count, MSG_NOSIGNAL) != count as isize {
            _exit(0);
        }
    }
}

/// Whether forking here keeps the whole process: a child has only the thread that forked.
///
/// # Safety
/// None beyond that of the C library's functions.
unsafe fn single_threaded() -> bool {
    // SAFETY: the path ends with a zero byte; the kernel writes at most as many bytes as `entries` has; the
    // descriptor is ours until it is closed.
    unsafe {
        let fd = open(c"/proc/self/task".as_ptr(), O_DIRECTORY_CLOEXEC);
        if fd < 0 {
            return false;
        }
        let mut entries = [0u8; 1024];
        let mut count = 0;
        loop {
            let length = getdents64(fd, entries.as_mut_ptr().cast(), entries.len());
            if length <= 0 {
                break;
            }
            let mut at = 0;
            while at < length as usize {
                count += 1;
                // The record's length stands after the inode number and the offset, eight bytes each.
                at += usize::from(u16::from_ne_bytes([entries[at + 16], entries[at + 17]])).max(1);
            }
        }
        close(fd);
        count == 3 // ".", ".." and the one thread
    }
}
