//! Which executable is the launcher.

use std::path::{Path, PathBuf};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, Ordering};

use super::error::LaunchError;

/// Whether this very executable answers the hidden arguments: true once `serve_if_asked` has been called in it.
static SELF_SERVES: AtomicBool = AtomicBool::new(false);

pub(super) fn this_executable_serves() {
    SELF_SERVES.store(true, Ordering::Relaxed);
}

/// The executable to start as launcher and as library host: the variable `OSPREY_LAUNCHER`, else this executable if
/// its `main` calls [`serve_if_asked`](super::serve_if_asked), else `osprey-launcher` beside it (or one directory up,
/// where cargo puts programs while tests are one deeper). Looked up once per process: every command line
/// of a library host contains it.
pub fn launcher_program() -> Result<PathBuf, LaunchError> {
    static FOUND: OnceLock<PathBuf> = OnceLock::new();
    if let Some(found) = FOUND.get() {
        return Ok(found.clone());
    }
    let found = look_up()?;
    Ok(FOUND.get_or_init(|| found).clone())
}

fn look_up() -> Result<PathBuf, LaunchError> {
    if let Some(path) = std::env::var_os("OSPREY_LAUNCHER") {
        return existing(std::path::absolute(path).map_err(LaunchError::LauncherStart)?);
    }
    let own = std::env::current_exe().map_err(LaunchError::LauncherStart)?;
    if SELF_SERVES.load(Ordering::Relaxed) {
        // A program that was replaced while it runs (an update) is still the right launcher for itself.
        return Ok(if own.exists() { own } else { PathBuf::from("/proc/self/exe") });
    }
    let beside = own.with_file_name("osprey-launcher");
    let above = own.parent().and_then(Path::parent).map(|directory| directory.join("osprey-launcher"));
    match above {
        Some(above) if !beside.exists() => existing(above),
        _ => existing(beside),
    }
}

fn existing(path: PathBuf) -> Result<PathBuf, LaunchError> {
    if path.exists() { Ok(path) } else { Err(LaunchError::LauncherMissing { tried: path }) }
}
