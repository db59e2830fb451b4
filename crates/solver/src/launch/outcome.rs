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

/// CPU time, in the program and in the kernel.
///
/// Most kernels measure the sum exactly and tell its parts apart by ticks of the clock, every few milliseconds: only
/// the sum of many runs says what the parts are.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CpuTime {
    pub user: Duration,
    pub kernel: Duration,
}

impl CpuTime {
    pub(crate) fn of(usage: &libc::rusage) -> CpuTime {
        let time = |value: libc::timeval| {
            Duration::from_secs(value.tv_sec as u64) + Duration::from_micros(value.tv_usec as u64)
        };
        CpuTime { user: time(usage.ru_utime), kernel: time(usage.ru_stime) }
    }

    /// Both together.
    pub fn total(self) -> Duration {
        self.user + self.kernel
    }

    /// What this run adds to a sum of kernel time over many runs. A kernel that counts by ticks says that a process
    /// without a tick was never in it, and that one with a single tick was there all the time or never. So the one tick
    /// stands for the time between ticks, not for the shorter time of the process.
    pub(crate) fn expected_kernel(self, tick: Duration) -> Duration {
        if self.user.is_zero() && !self.kernel.is_zero() { self.kernel.max(tick) } else { self.kernel }
    }
}

/// The time between two ticks of the kernel's clock; zero if it does not tell.
pub(crate) fn tick() -> Duration {
    let mut resolution = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: the kernel writes to a struct of the right type that lives through the call.
    unsafe { libc::clock_getres(libc::CLOCK_MONOTONIC_COARSE, &mut resolution) };
    Duration::new(resolution.tv_sec as u64, resolution.tv_nsec as u32)
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
    /// Its part in the kernel, as it adds to a sum over many runs: see [`CpuTime`].
    pub kernel_time: Duration,
    /// What its fork server used for it: the server's start, if it was the first run behind it, and the fork.
    pub server_time: CpuTime,
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kernel_time_of_short_runs_adds_up_to_its_share() {
        // Runs of 1 ms, half of it in the kernel, under a clock that ticks every 4 ms: of eight of them one is met by a
        // tick in the program and one in the kernel, and six by none, which the kernel reports as time in the program.
        let tick = Duration::from_millis(4);
        let run = Duration::from_millis(1);
        let user = CpuTime { user: run, kernel: Duration::ZERO };
        let kernel = CpuTime { user: Duration::ZERO, kernel: run };
        let runs = [user, user, kernel, user, user, user, user, user];
        let sum: Duration = runs.iter().map(|run| run.expected_kernel(tick)).sum();
        assert_eq!(sum, Duration::from_millis(4));
    }

    #[test]
    fn kernel_time_that_was_measured_stays_as_it_is() {
        let exact = CpuTime { user: Duration::from_micros(700), kernel: Duration::from_micros(300) };
        assert_eq!(exact.expected_kernel(Duration::from_millis(4)), exact.kernel);
        let none = CpuTime::default();
        assert_eq!(none.expected_kernel(Duration::from_millis(4)), Duration::ZERO);
        let long = CpuTime { user: Duration::ZERO, kernel: Duration::from_millis(9) };
        assert_eq!(long.expected_kernel(Duration::from_millis(4)), long.kernel);
    }
}
