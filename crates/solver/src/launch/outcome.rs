//! What came of a run.

use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::fast::ExecMode;
use crate::limits::Limits;
use crate::stack::Stack;

/// How the solver's process ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Exit {
    /// By itself, with this code.
    Exited(i32),
    /// By this signal.
    Signaled(i32),
}

/// One run, measured.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Outcome {
    /// How the process ended; a process that we killed was `Signaled(9)`.
    pub exit: Exit,
    /// We killed it at the wall-clock limit.
    pub timed_out: bool,
    /// The kernel killed it at the CPU limit.
    pub cpu_exceeded: bool,
    /// It probably ran out of memory: a hint from its size, its end and the usual messages.
    pub out_of_memory: bool,
    /// It printed more than allowed: the output is cut and the process was killed.
    pub output_truncated: bool,
    pub stdout: Vec<u8>,
    pub stderr: Vec<u8>,
    /// User and system time of the process and the children it waited for.
    pub cpu_time: Duration,
    pub wall_time: Duration,
    /// Peak resident memory in bytes.
    pub peak_memory: u64,
    /// How it was really started.
    pub mode: ExecMode,
    /// Why it was started plainly though it should have been fast.
    pub fallback: Option<String>,
    /// The stack at a fatal signal, where it was wanted, or why it cannot be seen.
    pub stack: Option<Result<Stack, String>>,
    /// The sites it has reached, where they were wanted, or why they cannot be told.
    pub sites: Option<Result<Vec<u32>, String>>,
}

impl Outcome {
    /// From a `wait4` status.
    pub(crate) fn exit_of(status: i32) -> Exit {
        if libc::WIFSIGNALED(status) {
            Exit::Signaled(libc::WTERMSIG(status))
        } else {
            Exit::Exited(libc::WEXITSTATUS(status))
        }
    }

    /// Fills in what can be told from the rest: whether a limit of the kernel's was the end of it.
    pub(crate) fn explain(&mut self, limits: &Limits) {
        let killed_by_us = self.timed_out || self.output_truncated;
        let cpu_seconds = limits.cpu_seconds();
        // The kernel enforces the limit by counting ticks and reports time measured exactly; on a loaded machine the
        // two are apart by some percent.
        self.cpu_exceeded = !killed_by_us
            && cpu_seconds > 0
            && matches!(self.exit, Exit::Signaled(libc::SIGKILL | libc::SIGXCPU))
            && self.cpu_time >= Duration::from_secs(cpu_seconds).mul_f64(0.75);
        let near_limit = limits.memory.is_some_and(|memory| self.peak_memory >= memory / 10 * 8);
        let failed = self.exit != Exit::Exited(0);
        let killed_by_kernel =
            !killed_by_us && !self.cpu_exceeded && self.exit == Exit::Signaled(libc::SIGKILL);
        self.out_of_memory = killed_by_kernel
            || (failed && (near_limit || complains(&self.stderr) || complains(&self.stdout)));
    }
}

/// Whether the last part of an output contains one of the words with which allocators give up.
fn complains(output: &[u8]) -> bool {
    const WORDS: [&[u8]; 6] = [
        b"bad_alloc",
        b"out of memory",
        b"Out of memory",
        b"out-of-memory",
        b"Cannot allocate memory",
        b"memory exhausted",
    ];
    let tail = &output[output.len().saturating_sub(4096)..];
    WORDS.iter().any(|word| tail.windows(word.len()).any(|window| window == *word))
}
