//! What a developer wants to know about a run beside its output: how it ended, on what machine, and whose program it was.

use solver::Solver;
use solver::adapter::Registry;
use solver::crash::signal_name;
use solver::install::{How, Source};
use solver::launch::{Exit, Outcome};

/// How a run ended, in words.
pub fn ended(outcome: &Outcome) -> String {
    if outcome.timed_out {
        return format!("stopped at the time limit, after {:.1} s", outcome.wall_time.as_secs_f64());
    }
    if outcome.cpu_exceeded {
        return "stopped at the limit of CPU time".to_owned();
    }
    if outcome.output_truncated {
        return "stopped, because it printed too much".to_owned();
    }
    let memory = if outcome.out_of_memory { ", probably for want of memory" } else { "" };
    match outcome.exit {
        Exit::Exited(code) => format!("exit code {code}{memory}"),
        Exit::Signaled(signal) => format!("killed by signal {signal} ({}){memory}", signal_name(signal)),
    }
}

/// The program that can be started by itself.
pub fn program(solver: &Solver) -> Option<String> {
    match &solver.installed.how {
        How::Executable { path } => Some(path.display().to_string()),
        How::Cvc5Host { .. } | How::Python { .. } => None,
    }
}

/// Where the program comes from.
pub fn of_program(solver: &Solver) -> String {
    let way = match &solver.installed.how {
        How::Executable { path } if solver.installed.origin != Source::Installed => {
            let hash = solver.installed.sha256.as_deref();
            let hash = hash.map(|hash| format!(", SHA-256 {hash}")).unwrap_or_default();
            let found = if solver.installed.origin == Source::OnPath { ", found on PATH" } else { "" };
            return format!("the program '{}'{found}{hash}", path.display());
        }
        How::Executable { .. } => "",
        How::Cvc5Host { .. } => ", its libraries driven through their C interface",
        How::Python { .. } => ", its Python module",
    };
    let package = solver.version().and_then(|version| solver.adapter.package_for(version));
    let version = solver.version().map(ToString::to_string).unwrap_or_default();
    match package {
        Some(package) => {
            let registry = match package.registry {
                Registry::Pypi => "PyPI",
                Registry::Debian => "Debian",
            };
            format!("the {registry} package {} {version}{way}", package.name)
        }
        None => format!("release {version}{way}"),
    }
}

/// System and processor, and the distribution where it has a name.
pub fn platform() -> String {
    let kernel = std::fs::read_to_string("/proc/sys/kernel/osrelease").unwrap_or_default();
    let system = std::fs::read_to_string("/etc/os-release").unwrap_or_default();
    let name = system.lines().find_map(|line| line.strip_prefix("PRETTY_NAME="));
    let mut parts = vec![format!("{} {}", std::env::consts::OS, std::env::consts::ARCH)];
    parts.extend(name.map(|name| name.trim_matches('"').to_owned()));
    parts.extend(Some(kernel.trim()).filter(|kernel| !kernel.is_empty()).map(|one| format!("kernel {one}")));
    parts.join(", ")
}
