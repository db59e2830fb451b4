//! When a campaign ends: time, number of test cases, number of findings, or the user.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

use crate::config::Settings;

/// Shared by all workers.
pub struct Stop {
    asked: AtomicBool,
    started: Instant,
    time: Option<Duration>,
    iterations: Option<u64>,
    tests: AtomicU64,
    stop_after: Option<u64>,
    findings: AtomicU64,
}

impl Stop {
    pub fn new(settings: &Settings) -> Stop {
        Stop {
            asked: AtomicBool::new(false),
            started: Instant::now(),
            time: settings.time,
            iterations: settings.iterations,
            tests: AtomicU64::new(0),
            stop_after: settings.stop_after,
            findings: AtomicU64::new(0),
        }
    }

    /// Ends the campaign after the test cases that run now.
    pub fn ask(&self) {
        self.asked.store(true, Ordering::Relaxed);
    }

    /// Is it over?
    pub fn now(&self) -> bool {
        self.is_cut_short()
            || self.iterations.is_some_and(|limit| self.tests.load(Ordering::Relaxed) >= limit)
    }

    /// Is it over for another reason than that all test cases have been taken? The last of them are still worked on.
    pub fn is_cut_short(&self) -> bool {
        self.asked.load(Ordering::Relaxed)
            || self.time.is_some_and(|time| self.started.elapsed() >= time)
            || self.has_enough_findings()
    }

    /// When the time is up, if there is a limit of it.
    pub fn end(&self) -> Option<Instant> {
        self.time.and_then(|time| self.started.checked_add(time))
    }

    /// Have as many findings been made as the user wants?
    pub fn has_enough_findings(&self) -> bool {
        self.stop_after.is_some_and(|limit| self.findings.load(Ordering::Relaxed) >= limit)
    }

    /// Takes one test case out of the budget; false if there is none left.
    pub fn take_test(&self) -> bool {
        let number = self.tests.fetch_add(1, Ordering::Relaxed);
        if self.iterations.is_some_and(|limit| number >= limit) {
            self.tests.fetch_sub(1, Ordering::Relaxed);
            return false;
        }
        true
    }

    /// Unique findings, of this process or of another one on the same campaign.
    pub fn count_findings(&self, count: u64) {
        self.findings.fetch_add(count, Ordering::Relaxed);
    }

    pub fn tests(&self) -> u64 {
        self.tests.load(Ordering::Relaxed)
    }

    pub fn elapsed(&self) -> Duration {
        self.started.elapsed()
    }

    /// Time left by the clock, or by the pace of the test cases.
    pub fn left(&self) -> Option<Duration> {
        let by_clock = self.time.map(|time| time.saturating_sub(self.elapsed()));
        let done = self.tests();
        let by_tests = self
            .iterations
            .filter(|_| done > 0)
            .map(|limit| self.elapsed().mul_f64(limit.saturating_sub(done) as f64 / done as f64));
        match (by_clock, by_tests) {
            (Some(a), Some(b)) => Some(a.min(b)),
            (a, b) => a.or(b),
        }
    }
}
