//! Numbers on the command line that must stay within reason.

use clap::builder::RangedU64ValueParser;

/// Workers: each is a thread with a launcher and its solvers.
const MOST_JOBS: u64 = 1024;

/// Megabytes: less lets no solver start; more than 16 TB is a slip of the pen.
const MEMORY: std::ops::RangeInclusive<u64> = 16..=1 << 24;

/// `--jobs`.
pub fn jobs() -> RangedU64ValueParser<usize> {
    RangedU64ValueParser::new().range(1..=MOST_JOBS)
}

/// `--memory`, in megabytes.
pub fn memory() -> RangedU64ValueParser<u64> {
    RangedU64ValueParser::new().range(MEMORY)
}
