//! Watching a process for the signal that ends it, with `ptrace`.
//!
//! A process that has asked for it (`child.rs`) stops before any signal is delivered, so before a handler of its own can
//! run: its stack is read then, and the signal goes on its way. Only the first thread of the process is watched: that is
//! where solvers solve.
//!
//! The traps of a probe are passed here, too, where a program cannot see to them itself.

use std::fs::{File, OpenOptions};
use std::io;
use std::os::unix::fs::FileExt;

use crate::coverage::Probe;
use crate::crash::is_fatal_fault;
use crate::stack::{self, Registers, Stack};

use super::child::Child;

/// Fatal signals that are looked at: a program that uses such signals for its own ends has many.
const MOST_LOOKS: u32 = 8;

/// One watched process.
pub(crate) struct Tracer {
    child: Child,
    /// The stop at the execution of its program has been seen.
    begun: bool,
    looks: u32,
    stack: Option<Stack>,
    /// Its memory, and how far its addresses are from those of its file: once a trap has been passed.
    traps: Option<(File, u64)>,
}

impl Tracer {
    pub fn new(child: Child) -> Tracer {
        Tracer { child, begun: false, looks: 0, stack: None, traps: None }
    }

    /// Lets the process go on from every place where it waits for us. To be called whenever a child has changed its
    /// state.
    pub fn attend(&mut self, probe: Option<&Probe>) {
        while let Some(stop) = self.child.stopped_at() {
            let event = stop >> 8;
            let deliver = match stop & 0xff {
                libc::SIGTRAP if !self.begun => {
                    self.begun = true;
                    let options = libc::PTRACE_O_EXITKILL | libc::PTRACE_O_TRACEEXEC;
                    self.order(libc::PTRACE_SETOPTIONS, options as usize);
                    0
                }
                _ if event != 0 => 0,
                libc::SIGTRAP if probe.is_some_and(|probe| self.pass(probe)) => 0,
                // It would wait for a shell.
                libc::SIGSTOP | libc::SIGTSTP | libc::SIGTTIN | libc::SIGTTOU => 0,
                signal => {
                    if is_fatal_fault(signal) && self.looks < MOST_LOOKS {
                        self.looks += 1;
                        self.look(signal);
                    }
                    signal
                }
            };
            self.order(libc::PTRACE_CONT, deliver as usize);
        }
    }

    /// The stack at the fatal signal.
    pub fn into_stack(self) -> Option<Stack> {
        self.stack
    }

    /// Passes a trap of the probe's: the original byte is put back, and executed. `false` if it is none of ours.
    #[cfg(target_arch = "x86_64")]
    fn pass(&mut self, probe: &Probe) -> bool {
        let Some(user) = self.user() else { return false };
        if self.traps.is_none() {
            self.traps = self.open_memory(probe).ok();
        }
        let Some((memory, moved)) = &self.traps else { return false };
        let place = user.rip.wrapping_sub(1);
        let Some(byte) = probe.trap_at(place.wrapping_sub(*moved)) else { return false };
        if memory.write_all_at(&[byte], place).is_err() {
            return false;
        }
        let register = std::mem::offset_of!(libc::user_regs_struct, rip);
        // SAFETY: this request takes integers only and touches no memory of ours.
        unsafe { libc::ptrace(libc::PTRACE_POKEUSER, self.child.pid, register, place) == 0 }
    }

    #[cfg(not(target_arch = "x86_64"))]
    fn pass(&mut self, _: &Probe) -> bool {
        false
    }

    /// The memory of the process, and how far its addresses are from those of its file.
    fn open_memory(&self, probe: &Probe) -> io::Result<(File, u64)> {
        let pid = self.child.pid;
        let memory = OpenOptions::new().read(true).write(true).open(format!("/proc/{pid}/mem"))?;
        let mut moved = 0;
        if probe.is_movable() {
            // The program's headers stand behind the ELF header at the start of its file.
            const AT_PHDR: u64 = 3;
            const ELF_HEADER: u64 = 64;
            let words = std::fs::read(format!("/proc/{pid}/auxv"))?;
            let words: Vec<u64> =
                words.as_chunks::<8>().0.iter().map(|word| u64::from_ne_bytes(*word)).collect();
            let headers = words.as_chunks::<2>().0.iter().find(|[name, _]| *name == AT_PHDR);
            moved = headers.map_or(0, |[_, address]| address.saturating_sub(ELF_HEADER));
        }
        Ok((memory, moved))
    }

    fn look(&mut self, signal: i32) {
        let Some(registers) = self.registers() else { return };
        let fault = self.fault().filter(|_| matches!(signal, libc::SIGSEGV | libc::SIGBUS));
        let pid = self.child.pid;
        // The files of a solver are anybody's: what they do to the reader must not be the launcher's end.
        let read = std::panic::catch_unwind(|| stack::read(pid, registers, fault));
        let Ok(Some(stack)) = read else { return };
        // A handler that gives up with a signal of its own speaks for the one it handles.
        if self.stack.is_none() || !stack.is_in_handler() {
            self.stack = Some(stack);
        }
    }

    fn registers(&self) -> Option<Registers> {
        self.user().map(|user| Registers::of(&user))
    }

    fn user(&self) -> Option<libc::user_regs_struct> {
        const NT_PRSTATUS: usize = 1;
        // SAFETY: all zeros is a valid value of this struct of integers.
        let mut user: libc::user_regs_struct = unsafe { std::mem::zeroed() };
        let size = size_of_val(&user);
        let mut vector = libc::iovec { iov_base: (&raw mut user).cast(), iov_len: size };
        // SAFETY: the kernel writes at most `iov_len` bytes to `user`, where every bit pattern is valid.
        let done = unsafe {
            libc::ptrace(
                libc::PTRACE_GETREGSET,
                self.child.pid,
                NT_PRSTATUS,
                (&raw mut vector).cast::<libc::c_void>(),
            )
        };
        // Less is written for a process of another architecture.
        (done == 0 && vector.iov_len == size).then_some(user)
    }

    /// The address at which an access to memory failed.
    fn fault(&self) -> Option<u64> {
        // SAFETY: all zeros is a valid value of this struct, which the kernel fills.
        let mut report: libc::siginfo_t = unsafe { std::mem::zeroed() };
        // SAFETY: the kernel writes to a struct of the right type that lives through the call.
        let done = unsafe { libc::ptrace(libc::PTRACE_GETSIGINFO, self.child.pid, 0usize, &raw mut report) };
        // Signals that were sent have no address, and a code that is not positive.
        // SAFETY: the kernel has filled in a report on a fault, which has an address.
        (done == 0 && report.si_code > 0).then(|| unsafe { report.si_addr() } as u64)
    }

    fn order(&self, what: libc::c_uint, data: usize) {
        // A process that is gone needs no orders.
        // SAFETY: these requests take integers only and touch no memory of ours.
        unsafe { libc::ptrace(what, self.child.pid, 0usize, data) };
    }
}

/// Asks to be watched by the parent; the error's number where that is refused. Makes only system calls.
pub(super) fn be_traced() -> libc::c_int {
    // SAFETY: this request takes no arguments and touches no memory.
    match unsafe { libc::ptrace(libc::PTRACE_TRACEME, 0, 0usize, 0usize) } {
        0 => 0,
        _ => io::Error::last_os_error().raw_os_error().unwrap_or(libc::EPERM),
    }
}
