//! Our own use of clock and CPU, added to what earlier runs of the campaign used.

use std::time::{Duration, Instant};

use crate::totals::Totals;

/// Measures this run of a campaign.
pub struct Clock {
    started: Instant,
    cpu_at_start: Duration,
    /// CPU time of launchers.
    launchers: Duration,
    elapsed_before: u64,
    cpu_before: u64,
}

impl Clock {
    pub fn start() -> Clock {
        Clock {
            started: Instant::now(),
            cpu_at_start: process_cpu(),
            launchers: Duration::ZERO,
            elapsed_before: 0,
            cpu_before: 0,
        }
    }

    /// Goes on from what earlier runs have used.
    pub fn resume(&mut self, totals: &Totals) {
        self.elapsed_before = totals.elapsed;
        self.cpu_before = totals.own_cpu;
    }

    pub fn add(&mut self, launcher: Duration) {
        self.launchers += launcher;
    }

    pub fn update(&self, totals: &mut Totals) {
        let cpu = process_cpu().saturating_sub(self.cpu_at_start) + self.launchers;
        totals.elapsed = self.elapsed_before + self.started.elapsed().as_millis() as u64;
        totals.own_cpu = self.cpu_before + cpu.as_micros() as u64;
    }
}

/// CPU time of this process, all threads, without children.
pub fn process_cpu() -> Duration {
    cpu_of(libc::RUSAGE_SELF)
}

/// CPU time of this thread, to the nanosecond: `getrusage` counts by ticks on some machines.
pub fn thread_cpu() -> Duration {
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: clock_gettime fills the struct it is given.
    unsafe { libc::clock_gettime(libc::CLOCK_THREAD_CPUTIME_ID, &mut time) };
    Duration::new(time.tv_sec as u64, time.tv_nsec as u32)
}

fn cpu_of(who: libc::c_int) -> Duration {
    // SAFETY: getrusage fills the struct it is given; all-zero is a valid value of it.
    let usage = unsafe {
        let mut usage: libc::rusage = std::mem::zeroed();
        libc::getrusage(who, &mut usage);
        usage
    };
    let time = |value: libc::timeval| {
        Duration::from_secs(value.tv_sec as u64) + Duration::from_micros(value.tv_usec as u64)
    };
    time(usage.ru_utime) + time(usage.ru_stime)
}
