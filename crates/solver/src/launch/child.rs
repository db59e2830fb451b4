//! Starting one process: the launcher's replacement for `fork` and `exec`.
//!
//! The child shares our memory until it has executed the solver (as after `vfork`), so nothing is copied, and it can
//! tell us by a plain store why it could not. It runs on a stack of its own.

use std::ffi::{CString, c_char, c_int, c_void};
use std::io;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd, RawFd};

use crate::limits::Limits;

use super::{trace, wall};

/// A program to execute, ready for `execve`.
pub(crate) struct Program {
    path: CString,
    args: Vec<CString>,
    env: Vec<CString>,
    directory: CString,
    /// Rules to be entered before it is executed.
    rules: Option<RawFd>,
}

impl Program {
    /// `None` if a zero byte is in one of them (the worker has checked that already).
    pub fn new(
        path: &[u8],
        args: &[Vec<u8>],
        env: Vec<CString>,
        directory: CString,
        rules: Option<RawFd>,
    ) -> Option<Self> {
        let path = CString::new(path).ok()?;
        let args: Result<Vec<CString>, _> = std::iter::once(Ok(path.clone()))
            .chain(args.iter().map(|arg| CString::new(arg.as_slice())))
            .collect();
        Some(Program { path, args: args.ok()?, env, directory, rules })
    }

    /// The same under the same name, from a file that is open.
    pub fn executing(mut self, file: RawFd) -> Option<Self> {
        self.path = CString::new(format!("/proc/self/fd/{file}")).ok()?;
        Some(self)
    }
}

/// The descriptors the child gets as 0, 1 and 2, and further ones at fixed places.
pub(crate) struct Stdio<'a> {
    pub input: RawFd,
    pub output: RawFd,
    pub error: RawFd,
    pub extra: &'a [(RawFd, RawFd)],
}

/// A running child, leader of its own session and process group.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Child {
    pub pid: libc::pid_t,
}

/// What the child needs between `clone` and `execve`; everything is prepared so that it makes only system calls.
struct Order<'a> {
    path: *const c_char,
    args: *const *const c_char,
    env: *const *const c_char,
    directory: *const c_char,
    stdio: &'a Stdio<'a>,
    limits: &'a [(c_int, libc::rlimit)],
    rules: Option<RawFd>,
    /// It asks to be traced; what came of that.
    trace: Option<c_int>,
    parent: libc::pid_t,
    errno: c_int,
}

const STACK: usize = 64 << 10;

impl Child {
    /// Starts `program` under `limits`.
    pub fn start(program: &Program, stdio: &Stdio, limits: &Limits) -> Result<Child, c_int> {
        Ok(Child::clone(program, stdio, &own_limits(limits), None)?.0)
    }

    /// The same, to be watched by a [`Tracer`](super::trace::Tracer); or the number of the error where the kernel does
    /// not allow that: it runs all the same.
    pub fn start_traced(
        program: &Program,
        stdio: &Stdio,
        limits: &Limits,
    ) -> Result<(Child, Result<(), c_int>), c_int> {
        let (child, refused) = Child::clone(program, stdio, &own_limits(limits), Some(0))?;
        Ok((child, if refused == 0 { Ok(()) } else { Err(refused) }))
    }

    /// Starts `program` as a fork server: its jobs bring their own limits, so it has only those that jobs may raise.
    pub fn start_server(program: &Program, stdio: &Stdio, limits: &Limits) -> Result<Child, c_int> {
        let mut kernel = vec![(libc::RLIMIT_CORE as c_int, libc::rlimit { rlim_cur: 0, rlim_max: 0 })];
        if let Some(memory) = limits.memory {
            let limit = libc::rlimit { rlim_cur: memory, rlim_max: libc::RLIM_INFINITY };
            kernel.push((libc::RLIMIT_AS as c_int, limit));
        }
        Ok(Child::clone(program, stdio, &kernel, None)?.0)
    }

    /// The child, and what came of its wish to be traced.
    fn clone(
        program: &Program,
        stdio: &Stdio,
        limits: &[(c_int, libc::rlimit)],
        trace: Option<c_int>,
    ) -> Result<(Child, c_int), c_int> {
        let pointers = |strings: &[CString]| -> Vec<*const c_char> {
            strings.iter().map(|string| string.as_ptr()).chain([std::ptr::null()]).collect()
        };
        let args = pointers(&program.args);
        let env = pointers(&program.env);
        let mut order = Order {
            path: program.path.as_ptr(),
            args: args.as_ptr(),
            env: env.as_ptr(),
            directory: program.directory.as_ptr(),
            stdio,
            limits,
            rules: program.rules,
            trace,
            // SAFETY: `getpid` always succeeds and touches no memory.
            parent: unsafe { libc::getpid() },
            errno: 0,
        };
        let mut stack: Vec<u128> = Vec::with_capacity(STACK / size_of::<u128>());
        // SAFETY: the parent sleeps until the child has executed or exited (CLONE_VFORK), so `order` and `stack`
        // outlive the child's use of them; the child makes only system calls.
        let pid = unsafe {
            libc::clone(
                execute,
                stack.as_mut_ptr().byte_add(STACK).cast::<c_void>(),
                libc::CLONE_VM | libc::CLONE_VFORK | libc::SIGCHLD,
                (&raw mut order).cast(),
            )
        };
        if pid < 0 {
            return Err(io::Error::last_os_error().raw_os_error().unwrap_or(libc::EAGAIN));
        }
        // SAFETY: the child is done with `order`; it wrote these fields behind the compiler's back.
        let (errno, trace) =
            unsafe { ((&raw const order.errno).read_volatile(), (&raw const order.trace).read_volatile()) };
        match errno {
            0 => Ok((Child { pid }, trace.unwrap_or(0))),
            errno => {
                // SAFETY: a null pointer means that the status is not wanted; the child is ours and has not been
                // waited for.
                unsafe { libc::waitpid(pid, std::ptr::null_mut(), 0) };
                Err(errno)
            }
        }
    }

    /// Kills it with its whole process group. Only while it has not been waited for: the number is ours until then.
    pub fn kill(self) {
        // SAFETY: `kill` has no effect on memory; the number is the child's until it has been waited for.
        unsafe { libc::kill(-self.pid, libc::SIGKILL) };
    }

    /// Whether it has ended (it stays a zombie, so that its number stays taken).
    pub fn has_ended(self) -> bool {
        // SAFETY: all zeros is a valid value of this struct, which the kernel fills.
        let mut report: libc::siginfo_t = unsafe { std::mem::zeroed() };
        let options = libc::WEXITED | libc::WNOWAIT | libc::WNOHANG;
        // SAFETY: the kernel writes to a struct of the right type that lives through the call.
        let done = unsafe { libc::waitid(libc::P_PID, self.pid as libc::id_t, &mut report, options) };
        // A traced process that stands still is reported whether that was asked for or not.
        let ended = [libc::CLD_EXITED, libc::CLD_KILLED, libc::CLD_DUMPED].contains(&report.si_code);
        // SAFETY: the field is valid after a successful `waitid`, and zero otherwise.
        done == 0 && ended && unsafe { report.si_pid() } == self.pid
    }

    /// Whether somebody has stopped it. Told once for each time.
    pub fn has_stopped(self) -> bool {
        self.stopped_at().is_some()
    }

    /// The signal at which it stands still, with the kernel's event above the lowest byte. Told once for each time.
    pub fn stopped_at(self) -> Option<c_int> {
        // SAFETY: all zeros is a valid value of this struct, which the kernel fills.
        let mut report: libc::siginfo_t = unsafe { std::mem::zeroed() };
        let options = libc::WSTOPPED | libc::WNOHANG;
        // SAFETY: the kernel writes to a struct of the right type that lives through the call.
        let done = unsafe { libc::waitid(libc::P_PID, self.pid as libc::id_t, &mut report, options) };
        // SAFETY: the fields are valid after a successful `waitid`, and zero otherwise.
        let (pid, status) = unsafe { (report.si_pid(), report.si_status()) };
        (done == 0 && pid == self.pid).then_some(status)
    }

    /// Waits for its end; its status and what it used.
    pub fn wait(self) -> (c_int, libc::rusage) {
        // SAFETY: all zeros is a valid value of this struct of integers.
        let mut usage: libc::rusage = unsafe { std::mem::zeroed() };
        let mut status = 0;
        // SAFETY: the kernel writes to two variables of the right types that live through the call.
        while unsafe { libc::wait4(self.pid, &mut status, 0, &mut usage) } < 0
            && io::Error::last_os_error().kind() == io::ErrorKind::Interrupted
        {}
        (status, usage)
    }
}

/// The limits of a process that has them from its start on.
fn own_limits(limits: &Limits) -> Vec<(c_int, libc::rlimit)> {
    let both = |amount: u64| libc::rlimit { rlim_cur: amount, rlim_max: amount };
    let mut kernel =
        vec![(libc::RLIMIT_CORE as c_int, both(0)), (libc::RLIMIT_FSIZE as c_int, both(limits.file_size))];
    if let Some(memory) = limits.memory {
        kernel.push((libc::RLIMIT_AS as c_int, both(memory)));
    }
    if limits.cpu_seconds() > 0 {
        // Soft and hard alike: z3 answers `timeout` and exits with 0 on the signal of a soft limit.
        kernel.push((libc::RLIMIT_CPU as c_int, both(limits.cpu_seconds())));
    }
    kernel
}

/// The child's side. It never returns: `execve` or `_exit`.
extern "C" fn execute(order: *mut c_void) -> c_int {
    // SAFETY: `Child::clone` passes a pointer to its `Order`, which lives until we have executed or exited.
    unsafe {
        let order = &mut *order.cast::<Order>();
        libc::setsid();
        libc::prctl(libc::PR_SET_PDEATHSIG, libc::SIGKILL as libc::c_ulong);
        if libc::getppid() != order.parent {
            libc::_exit(127);
        }
        libc::signal(libc::SIGPIPE, libc::SIG_DFL);
        let mut none: libc::sigset_t = std::mem::zeroed();
        libc::sigemptyset(&mut none);
        libc::sigprocmask(libc::SIG_SETMASK, &none, std::ptr::null_mut());
        let stdio = order.stdio;
        let mut fine = libc::dup2(stdio.input, 0) >= 0
            && libc::dup2(stdio.output, 1) >= 0
            && libc::dup2(stdio.error, 2) >= 0
            && libc::chdir(order.directory) == 0;
        for (from, to) in stdio.extra {
            fine = fine && libc::dup2(*from, *to) >= 0;
        }
        for (resource, limit) in order.limits {
            fine = fine && set_limit(*resource, limit);
        }
        if let Some(rules) = order.rules {
            fine = fine && wall::enter(rules);
        }
        if fine && order.trace.is_some() {
            // What is refused is the stack, not the run.
            (&raw mut order.trace).write_volatile(Some(trace::be_traced()));
        }
        if fine {
            libc::execve(order.path, order.args, order.env);
        }
        (&raw mut order.errno).write_volatile(*libc::__errno_location());
        libc::_exit(127)
    }
}

/// Sets a limit, or the nearest one the user's own hard limit allows.
///
/// # Safety
/// As `setrlimit`, which takes any numbers; makes only system calls.
unsafe fn set_limit(resource: c_int, limit: &libc::rlimit) -> bool {
    // SAFETY: the structs are valid and live through the calls.
    unsafe {
        if libc::setrlimit(resource as _, limit) == 0 {
            return true;
        }
        let mut current: libc::rlimit = std::mem::zeroed();
        if libc::getrlimit(resource as _, &mut current) != 0 {
            return false;
        }
        let lower = libc::rlimit {
            rlim_cur: limit.rlim_cur.min(current.rlim_max),
            rlim_max: limit.rlim_max.min(current.rlim_max),
        };
        libc::setrlimit(resource as _, &lower) == 0
    }
}

/// A pipe that no child inherits by itself; the reading end does not block.
pub(crate) fn pipe() -> io::Result<(OwnedFd, OwnedFd)> {
    let mut ends = [0; 2];
    // SAFETY: the kernel writes two descriptors to an array of two.
    if unsafe { libc::pipe2(ends.as_mut_ptr(), libc::O_CLOEXEC) } != 0 {
        return Err(io::Error::last_os_error());
    }
    // SAFETY: both descriptors were opened just now and nobody else has them.
    let (read, write) = unsafe { (OwnedFd::from_raw_fd(ends[0]), OwnedFd::from_raw_fd(ends[1])) };
    // SAFETY: the descriptor is ours and open; `F_SETFL` takes an integer.
    if unsafe { libc::fcntl(read.as_raw_fd(), libc::F_SETFL, libc::O_NONBLOCK) } != 0 {
        return Err(io::Error::last_os_error());
    }
    Ok((read, write))
}

/// A pair of sockets that keep messages apart, for a fork server's control.
pub(crate) fn socket_pair() -> io::Result<(OwnedFd, OwnedFd)> {
    let mut ends = [0; 2];
    let kind = libc::SOCK_SEQPACKET | libc::SOCK_CLOEXEC;
    // SAFETY: the kernel writes two descriptors to an array of two.
    if unsafe { libc::socketpair(libc::AF_UNIX, kind, 0, ends.as_mut_ptr()) } != 0 {
        return Err(io::Error::last_os_error());
    }
    // SAFETY: both descriptors were opened just now and nobody else has them.
    Ok(unsafe { (OwnedFd::from_raw_fd(ends[0]), OwnedFd::from_raw_fd(ends[1])) })
}
