//! Which solver and release an executable is: it is asked once, and the answer is remembered until the file changes. A
//! failure is not an answer: the next time it is asked again.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::contained::Contained;
use super::error::InstallError;
use super::home::Home;
use super::process::Finished;
use crate::adapter::{Adapter, Adapters, Identify};
use crate::version::Version;

/// Java-based solvers need seconds to start on a busy machine.
const PATIENCE: Duration = Duration::from_secs(20);
const MEMORY: &str = "identified.json";

/// What an executable said it is.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Identified {
    /// The adapter's name.
    pub name: String,
    /// The release, where it tells.
    pub version: Option<Version>,
}

/// Checks that a path can be run.
pub(super) fn executable(path: &Path) -> Result<PathBuf, InstallError> {
    let Ok(metadata) = path.metadata() else {
        return Err(InstallError::NoSuchFile { path: path.to_path_buf() });
    };
    if !metadata.is_file() || metadata.permissions().mode() & 0o111 == 0 {
        return Err(InstallError::NotExecutable { path: path.to_path_buf() });
    }
    // Solvers run in a scratch directory: a relative path would not lead there. Links stay, as some programs look at
    // the name they were called by.
    std::path::absolute(path).map_err(|source| InstallError::disk(path, source))
}

/// The program of this name on PATH.
pub(super) fn on_path(name: &str) -> Option<PathBuf> {
    let path = std::env::var_os("PATH")?;
    std::env::split_paths(&path).find_map(|directory| executable(&directory.join(name)).ok())
}

/// Asks an executable what it is. One that does not say is taken for what its file name says, else for a command of
/// which nothing is known.
pub(super) fn identify(home: &Home, adapters: &Adapters, path: &Path) -> Identified {
    let stamp = stamp(path);
    let mut memory: BTreeMap<String, Identified> = home.recall(MEMORY).unwrap_or_default();
    if let Some(known) = stamp.as_ref().and_then(|stamp| memory.get(stamp))
        && adapters.get(&known.name).is_some()
    {
        return known.clone();
    }
    let (identity, certain) = ask(adapters, path, PATIENCE);
    if let Some(stamp) = stamp.filter(|_| certain) {
        memory.retain(|_, identity| adapters.get(&identity.name).is_some());
        memory.insert(stamp, identity.clone());
        // Not being able to remember costs one start of the solver next time.
        let _ = home.remember(MEMORY, &memory);
    }
    identity
}

/// Asks without looking at what is remembered, with the variables the program needs.
pub(super) fn release_of(
    contained: &mut Contained,
    adapter: &Adapter,
    path: &Path,
    env: &[(String, String)],
) -> Option<Version> {
    let identify = adapter.identify.as_ref()?;
    let words: Vec<OsString> = identify.arguments.iter().map(OsString::from).collect();
    version_in(identify, &contained.ask(path, &words, env, PATIENCE).ok()?)
}

/// What it says, and whether that is certain: it ended by itself and in order. At most two starts: in the words of the
/// solver it is called like, and in those that most solvers know.
fn ask(adapters: &Adapters, path: &Path, patience: Duration) -> (Identified, bool) {
    let file_name = path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    let by_name = adapters.by_executable(&file_name);
    let unknown = Identified { name: by_name.unwrap_or(adapters.any_command()).name.clone(), version: None };
    let Ok(mut contained) = Contained::start() else { return (unknown, false) };
    let usual = vec!["--version".to_owned()];
    let own = by_name.and_then(|adapter| Some(&adapter.identify.as_ref()?.arguments));
    let questions = own.into_iter().chain([&usual].into_iter().filter(|usual| own != Some(usual)));
    let mut certain = true;
    for question in questions {
        let words: Vec<OsString> = question.iter().map(OsString::from).collect();
        let Ok(finished) = contained.ask(path, &words, &[], patience) else { return (unknown, false) };
        // Every adapter of this kind would ask in its own words; one plain question is enough for a file whose name
        // says nothing.
        let unmistakable = adapters.iter().filter(|adapter| {
            adapter.identify.as_ref().is_some_and(|identify| identify.unmistakable && usual == *question)
        });
        for adapter in by_name.into_iter().chain(unmistakable) {
            let Some(identify) = adapter.identify.as_ref().filter(|known| known.arguments == *question)
            else {
                continue;
            };
            if let Some(version) = version_in(identify, &finished) {
                return (Identified { name: adapter.name.clone(), version: Some(version) }, true);
            }
        }
        certain &= finished.success;
        if finished.timed_out {
            break;
        }
    }
    (unknown, certain)
}

fn version_in(identify: &Identify, finished: &Finished) -> Option<Version> {
    let said = finished.all();
    let version = identify.output.captures(&said)?.name("version")?.as_str();
    version.trim_end_matches('.').parse().ok()
}

fn stamp(path: &Path) -> Option<String> {
    let metadata = path.metadata().ok()?;
    Some(format!("{}|{}|{}.{}", path.display(), metadata.len(), metadata.mtime(), metadata.mtime_nsec()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn script(directory: &Path, name: &str, text: &str) -> PathBuf {
        let path = directory.join(name);
        std::fs::write(&path, text).expect("written");
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o755)).expect("executable");
        path
    }

    #[test]
    fn an_executable_is_known_by_what_it_says_then_by_its_name_then_not_at_all() {
        testkit::launcher();
        let directory = tempfile::tempdir().expect("a directory");
        let home = Home::at(directory.path().join("home"));
        let adapters = Adapters::built_in();
        let what = |name: &str, text: &str| {
            let identity = identify(&home, &adapters, &script(directory.path(), name, text));
            (identity.name, identity.version.map(|version| version.to_string()))
        };
        let says_z3 = "#!/bin/sh\necho 'Z3 version 4.12.1 - 64 bit'\n";
        assert_eq!(what("nightly-build", says_z3), ("z3".into(), Some("4.12.1".into())));
        assert_eq!(what("cvc5-wrapper", "#!/bin/sh\nexit 1\n"), ("cvc5".into(), None));
        assert_eq!(what("my-solver", "#!/bin/sh\necho 3.1\n"), ("command".into(), None));
    }

    #[test]
    fn an_answer_is_remembered_until_the_file_changes() {
        testkit::launcher();
        let directory = tempfile::tempdir().expect("a directory");
        let home = Home::at(directory.path().join("home"));
        let adapters = Adapters::built_in();
        let saying = |version: &str| format!("#!/bin/sh\necho 'Z3 version {version} - 64 bit'\n");
        let path = script(directory.path(), "z3", &saying("4.8.7"));
        let time = path.metadata().and_then(|metadata| metadata.modified()).expect("a time");
        let version = || identify(&home, &adapters, &path).version.map(|version| version.to_string());
        assert_eq!(version().as_deref(), Some("4.8.7"));
        // As large and as old as before: nobody asks.
        script(directory.path(), "z3", &saying("5.0.0"));
        let file = std::fs::File::options().write(true).open(&path).expect("there");
        file.set_modified(time).expect("set");
        drop(file);
        assert_eq!(version().as_deref(), Some("4.8.7"));
        script(directory.path(), "z3", &saying("4.10.0"));
        assert_eq!(version().as_deref(), Some("4.10.0"));
    }

    #[test]
    fn a_failure_is_not_remembered() {
        testkit::launcher();
        let directory = tempfile::tempdir().expect("a directory");
        let home = Home::at(directory.path().join("home"));
        let adapters = Adapters::built_in();
        let failing =
            "#!/bin/sh\ntest -e \"${0%/*}/library\" || exit 127\necho 'Z3 version 4.8.7 - 64 bit'\n";
        let path = script(directory.path(), "z3", failing);
        assert_eq!(identify(&home, &adapters, &path).version, None);
        std::fs::write(directory.path().join("library"), "").expect("written");
        let version = identify(&home, &adapters, &path).version.map(|version| version.to_string());
        assert_eq!(version.as_deref(), Some("4.8.7"));
    }

    #[test]
    fn a_program_that_hangs_when_it_is_asked_is_asked_once_and_nothing_is_certain() {
        testkit::launcher();
        let directory = tempfile::tempdir().expect("a directory");
        let path = script(directory.path(), "cvc5", "#!/bin/sh\nsleep 600 & exec sleep 600\n");
        let (identity, certain) = ask(&Adapters::built_in(), &path, Duration::from_millis(300));
        assert_eq!((identity.name.as_str(), identity.version, certain), ("cvc5", None, false));
    }

    #[test]
    fn a_directory_or_a_plain_file_is_not_executable() {
        let directory = tempfile::tempdir().expect("a directory");
        let plain = directory.path().join("plain");
        std::fs::write(&plain, "x").expect("written");
        assert!(matches!(executable(&plain), Err(InstallError::NotExecutable { .. })));
        assert!(matches!(executable(directory.path()), Err(InstallError::NotExecutable { .. })));
        assert!(matches!(executable(&directory.path().join("none")), Err(InstallError::NoSuchFile { .. })));
    }
}
