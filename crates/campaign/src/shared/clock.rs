//! Our own use of clock and CPU.

use std::time::{Duration, Instant};

use crate::store::Totals;

/// Measures this process's part of a campaign.
pub struct Clock {
    since: Instant,
    cpu_since: Duration,
    /// CPU time of launchers.
    launchers: Duration,
}

impl Clock {
    pub fn start() -> Clock {
        Clock { since: Instant::now(), cpu_since: process_cpu(), launchers: Duration::ZERO }
    }

    pub fn add(&mut self, launcher: Duration) {
        self.launchers += launcher;
    }

    /// What was used since the last call.
    pub fn take(&mut self) -> Totals {
        let cpu = process_cpu();
        let own = cpu.saturating_sub(self.cpu_since) + std::mem::take(&mut self.launchers);
        // Whole milliseconds are taken; the rest is left for the next time.
        let elapsed = self.since.elapsed().as_millis() as u64;
        self.since += Duration::from_millis(elapsed);
        self.cpu_since = cpu;
        Totals { elapsed, own_cpu: own.as_micros() as u64, ..Totals::default() }
    }
}

/// CPU time of this process, all threads, without children.
fn process_cpu() -> Duration {
    // SAFETY: getrusage fills the struct it is given; all-zero is a valid value of it.
    let usage = unsafe {
        let mut usage: libc::rusage = std::mem::zeroed();
        libc::getrusage(libc::RUSAGE_SELF, &mut usage);
        usage
    };
    let time = |value: libc::timeval| {
        Duration::from_secs(value.tv_sec as u64) + Duration::from_micros(value.tv_usec as u64)
    };
    time(usage.ru_utime) + time(usage.ru_stime)
}

/// CPU time of this thread, to the nanosecond: `getrusage` counts by ticks on some machines.
pub fn thread_cpu() -> Duration {
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: clock_gettime fills the struct it is given.
    unsafe { libc::clock_gettime(libc::CLOCK_THREAD_CPUTIME_ID, &mut time) };
    Duration::new(time.tv_sec as u64, time.tv_nsec as u32)
}
