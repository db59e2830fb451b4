//! The facts about machine, day and program that a figure needs to be worth anything.

use std::time::{SystemTime, UNIX_EPOCH};

use serde::{Deserialize, Serialize};

/// Where something was measured.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Machine {
    /// The processor's own name.
    pub cpu: String,
    pub cores: usize,
    pub memory_mb: u64,
    /// System and architecture: `linux x86_64`.
    pub system: String,
    /// The load average of the last minute when the benchmark began: other work on the same cores.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub load: Option<f64>,
}

impl Machine {
    pub fn here() -> Machine {
        let cpu = std::fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
        let memory = std::fs::read_to_string("/proc/meminfo").unwrap_or_default();
        let load = std::fs::read_to_string("/proc/loadavg").unwrap_or_default();
        Machine {
            cpu: field(&cpu, "model name").unwrap_or("unknown processor").to_owned(),
            cores: std::thread::available_parallelism().map_or(1, usize::from),
            memory_mb: field(&memory, "MemTotal")
                .and_then(|size| size.split_whitespace().next()?.parse::<u64>().ok())
                .unwrap_or(0)
                / 1024,
            system: format!("{} {}", std::env::consts::OS, std::env::consts::ARCH),
            load: load.split_whitespace().next().and_then(|word| word.parse().ok()),
        }
    }
}

/// The value of the first line `name : value`.
fn field<'a>(text: &'a str, name: &str) -> Option<&'a str> {
    text.lines().find_map(|line| {
        let (key, value) = line.split_once(':')?;
        (key.trim() == name).then(|| value.trim())
    })
}

/// `0.1.0`, and whether the build is optimised: a figure of an unoptimised one says little.
pub fn own_release() -> String {
    let build = if cfg!(debug_assertions) { " (development build)" } else { "" };
    format!("{}{build}", env!("CARGO_PKG_VERSION"))
}

/// Today as `2026-11-15`.
pub fn today() -> String {
    let seconds = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |time| time.as_secs());
    date(seconds / 86_400)
}

/// The day that lies `days` after 1970-01-01, by counting years of 146,097-day cycles that begin in March.
fn date(days: u64) -> String {
    let days = days + 719_468;
    let cycle = days / 146_097;
    let day = days % 146_097;
    let year = (day - day / 1_460 + day / 36_524 - day / 146_096) / 365;
    let day = day - (365 * year + year / 4 - year / 100);
    let month = (5 * day + 2) / 153;
    let day = day - (153 * month + 2) / 5 + 1;
    let month = if month < 10 { month + 3 } else { month - 9 };
    let year = year + 400 * cycle + u64::from(month <= 2);
    format!("{year:04}-{month:02}-{day:02}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn days_become_dates() {
        assert_eq!(date(0), "1970-01-01");
        assert_eq!(date(11_016), "2000-02-29");
        assert_eq!(date(11_017), "2000-03-01");
        assert_eq!(date(20_772), "2026-11-15");
    }

    #[test]
    fn fields_are_found_by_their_whole_name() {
        let text = "model\t\t: 85\nmodel name\t: A CPU: fast\n";
        assert_eq!(field(text, "model name"), Some("A CPU: fast"));
        assert_eq!(field(text, "mod"), None);
    }
}
