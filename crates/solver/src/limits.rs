//! What one run of a solver may use.

use std::time::Duration;

/// Limits of one run. The launcher enforces them by killing everything the solver has started.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Time on the clock, counted from the start of the process (or of the job behind a fork server).
    pub wall: Duration,
    /// CPU time, rounded up to whole seconds: the kernel counts no finer.
    pub cpu: Option<Duration>,
    /// Address space in bytes.
    pub memory: Option<u64>,
    /// The largest file the solver may write, in bytes; never unlimited, as the scratch directory may be in memory.
    pub file_size: u64,
    /// How much standard output is kept; a solver that prints more is killed.
    pub stdout: usize,
    /// How much standard error is kept; a solver that prints more is killed.
    pub stderr: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Limits {
            wall: Duration::from_secs(10),
            cpu: None,
            memory: Some(4 << 30),
            file_size: 64 << 20,
            stdout: 16 << 20,
            stderr: 1 << 20,
        }
    }
}

impl Limits {
    /// The default limits with another time on the clock.
    #[must_use]
    pub fn wall(wall: Duration) -> Self {
        Limits { wall, ..Limits::default() }
    }

    /// Whole seconds for `RLIMIT_CPU`; 0 for no limit.
    pub(crate) fn cpu_seconds(&self) -> u64 {
        self.cpu.map_or(0, |cpu| (cpu.as_nanos().div_ceil(1_000_000_000) as u64).max(1))
    }
}
