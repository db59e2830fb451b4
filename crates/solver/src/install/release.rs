//! Installing one release: fetch into a scratch directory, unpack, try it, rename into place.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use super::contained::Contained;
use super::contents::{CONTENTS, Contents};
use super::error::InstallError;
use super::home::Home;
use super::{How, Installed, Source, debian, identify, pip, wheel};
use crate::adapter::{Adapter, Package, Registry, RunRequest, Way};
use crate::host::python;
use crate::solver::Solver;
use crate::version::Version;

/// Every solver decides this: one Boolean constant, in the logic that all installable solvers know (Boolector has no
/// `QF_UF` before version 2).
const TRIAL: &str = "(set-logic QF_BV)\n(declare-fun p () Bool)\n(assert p)\n(check-sat)\n";
const PATIENCE: Duration = Duration::from_secs(60);
const MANIFEST: &str = "installed.json";

/// What an installation is doing; the command line draws it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Step {
    /// Another process installs the same release.
    Waiting,
    /// The registry is asked which releases there are.
    Asking,
    /// The archive is on its way.
    Downloading,
    /// The archive is unpacked.
    Unpacking,
    /// The solver is started for the first time.
    Trying,
    /// Done.
    Done,
}

/// The directory name of a release.
fn key(name: &str, version: &Version) -> String {
    format!("{name}-{version}")
}

/// A release that was installed before and is still what it was.
pub(super) fn installed(home: &Home, adapter: &Arc<Adapter>, version: &Version) -> Option<Installed> {
    let key = key(&adapter.name, version);
    let found = read_manifest(home, &key)?;
    damage_of(home, adapter, &found, version, &key).is_none().then_some(found)
}

/// All releases that were installed before, in a fixed order.
pub(super) fn all_installed(home: &Home) -> Vec<Installed> {
    let Ok(entries) = std::fs::read_dir(home.solvers()) else {
        return Vec::new();
    };
    let mut keys: Vec<String> = entries
        .filter_map(Result::ok)
        .map(|entry| entry.file_name().to_string_lossy().into_owned())
        .filter(|key| !key.starts_with('.'))
        .collect();
    keys.sort();
    let mut all: Vec<Installed> = keys.iter().filter_map(|key| read_manifest(home, key)).collect();
    all.sort_by(|a, b| (&a.name, &a.version).cmp(&(&b.name, &b.version)));
    all
}

/// The manifest says paths relative to its directory, so that the data directory can be moved.
fn read_manifest(home: &Home, key: &str) -> Option<Installed> {
    let directory = home.solvers().join(key);
    let mut installed: Installed = home.recall(&format!("solvers/{key}/{MANIFEST}"))?;
    installed.place_in(home, &directory).ok()?;
    Some(installed)
}

/// Installs a release, or waits for another process that does.
pub(super) fn install(
    home: &Home,
    adapter: &Arc<Adapter>,
    package: &Package,
    release: &Version,
    progress: &dyn Fn(Step),
) -> Result<Installed, InstallError> {
    let named = package.user_name(release);
    let key = key(&adapter.name, &named);
    progress(Step::Waiting);
    let _lock = home.lock(&key).map_err(|source| InstallError::disk(home.root(), source))?;
    let mut damage = None;
    if let Some(done) = read_manifest(home, &key) {
        damage = damage_of(home, adapter, &done, &named, &key);
        if damage.is_none() {
            progress(Step::Done);
            return Ok(done);
        }
    }
    let installed = install_anew(home, adapter, package, release, progress);
    match damage {
        None => installed,
        Some(what) => installed.map_err(|source| InstallError::Damaged {
            name: adapter.name.clone(),
            version: named,
            what,
            source: Box::new(source),
        }),
    }
}

/// What is wrong with a release that was installed before. One of which no record was made is tried out, and recorded if
/// it works.
fn damage_of(
    home: &Home,
    adapter: &Arc<Adapter>,
    installed: &Installed,
    version: &Version,
    key: &str,
) -> Option<String> {
    let directory = home.solvers().join(key);
    if let Some(mut contents) = Contents::read(&directory) {
        return contents.damage(&directory);
    }
    if let Err(error) = try_out(adapter, installed.clone(), version) {
        return Some(error.to_string());
    }
    // Not being able to remember costs a trial the next time.
    let _ = record(&directory);
    None
}

/// Remembers what the release consists of.
fn record(directory: &Path) -> io::Result<()> {
    let files = files_below(directory).map_err(io::Error::other)?;
    Contents::of(directory, &files, &[MANIFEST, CONTENTS])?.write(directory)
}

fn install_anew(
    home: &Home,
    adapter: &Arc<Adapter>,
    package: &Package,
    release: &Version,
    progress: &dyn Fn(Step),
) -> Result<Installed, InstallError> {
    let named = package.user_name(release);
    let key = key(&adapter.name, &named);
    let scratch = home.scratch(&key).map_err(|source| InstallError::disk(home.root(), source))?;
    let directory = scratch.path();
    let members = fetch(package, release, directory, progress)?;
    let mut installed = Installed {
        name: adapter.name.clone(),
        version: Some(named),
        how: how_it_runs(adapter, package, &named, &members)?,
        env: environment(package, directory),
        origin: Source::Installed,
        sha256: None,
    };

    progress(Step::Trying);
    let mut placed = installed.clone();
    placed.place_in(home, directory).map_err(|source| InstallError::disk(home.root(), source))?;
    let mut contained = Contained::start().map_err(|error| InstallError::Launcher(error.to_string()))?;
    if let How::Executable { path } = &placed.how
        && let Some(found) = identify::release_of(&mut contained, adapter, path, &placed.env)
        && found != named.without_post()
    {
        return Err(InstallError::WrongRelease { name: adapter.name.clone(), wanted: named, found });
    }
    drop(contained);
    try_out(adapter, placed, &named)?;

    installed.env.sort();
    let manifest = directory.join(MANIFEST);
    let text =
        serde_json::to_vec_pretty(&installed).map_err(|error| InstallError::disk(&manifest, error.into()))?;
    std::fs::write(&manifest, text).map_err(|source| InstallError::disk(&manifest, source))?;
    record(directory).map_err(|source| InstallError::disk(directory, source))?;
    let target = home.solvers().join(&key);
    if target.exists() {
        // Without a readable manifest it is the remains of something else.
        std::fs::remove_dir_all(&target).map_err(|source| InstallError::disk(&target, source))?;
    }
    std::fs::rename(directory, &target).map_err(|source| InstallError::disk(&target, source))?;
    progress(Step::Done);
    installed.place_in(home, &target).map_err(|source| InstallError::disk(home.root(), source))?;
    Ok(installed)
}

/// Gets the archive and unpacks it; gives what is there, relative to `directory`.
fn fetch(
    package: &Package,
    release: &Version,
    directory: &Path,
    progress: &dyn Fn(Step),
) -> Result<Vec<PathBuf>, InstallError> {
    progress(Step::Downloading);
    match package.registry {
        Registry::Pypi => {
            let archive = pip::download(&package.name, release, directory)?;
            progress(Step::Unpacking);
            let members = wheel::unpack(&archive, &package.files, directory)?;
            std::fs::remove_file(&archive).map_err(|source| InstallError::disk(&archive, source))?;
            Ok(members)
        }
        Registry::Debian => {
            debian::unpack(&package.name, &package.needs, directory)?;
            progress(Step::Unpacking);
            files_below(directory)
        }
    }
}

fn how_it_runs(
    adapter: &Adapter,
    package: &Package,
    version: &Version,
    members: &[PathBuf],
) -> Result<How, InstallError> {
    let incomplete =
        |pattern| InstallError::Incomplete { name: adapter.name.clone(), version: *version, pattern };
    let program = || {
        let pattern = package.program.as_ref();
        let is_it =
            |path: &&PathBuf| pattern.is_some_and(|pattern| pattern.is_match(&path.to_string_lossy()));
        let found = members.iter().find(is_it).cloned();
        found.ok_or_else(|| {
            incomplete(pattern.map(|pattern| pattern.source().to_string()).unwrap_or_default())
        })
    };
    Ok(match package.run {
        Way::Executable => How::Executable { path: program()? },
        Way::Cvc5Host => How::Cvc5Host {
            libraries: program()?.parent().map(Path::to_path_buf).unwrap_or_default(),
            module: PathBuf::new(),
            interpreter: pip::interpreter()?,
        },
        Way::Python => How::Python {
            interpreter: pip::interpreter()?,
            module: PathBuf::new(),
            driver: package.driver.ok_or_else(|| incomplete("driver".into()))?,
            script: PathBuf::new(),
        },
    })
}

/// The loader's path, for those of the package's library directories that exist.
fn environment(package: &Package, directory: &Path) -> Vec<(String, String)> {
    if package.run != Way::Executable {
        return Vec::new();
    }
    let there: Vec<&str> = package
        .libraries
        .iter()
        .map(String::as_str)
        .filter(|library| directory.join(library).is_dir())
        .collect();
    match there.as_slice() {
        [] => Vec::new(),
        there => vec![("LD_LIBRARY_PATH".to_string(), there.join(":"))],
    }
}

/// Runs a trivial script.
fn try_out(adapter: &Arc<Adapter>, installed: Installed, version: &Version) -> Result<(), InstallError> {
    let does_not_run =
        |said: String| InstallError::DoesNotRun { name: adapter.name.clone(), version: *version, said };
    let solver = Solver::new(installed, Arc::clone(adapter), &[], Vec::new());
    let mut contained = Contained::start().map_err(|error| InstallError::Launcher(error.to_string()))?;
    let trial = solver.invocation(TRIAL.as_bytes(), &RunRequest::default())?;
    let finished = contained.run(trial, PATIENCE).map_err(|error| does_not_run(error.to_string()))?;
    if finished.stdout.lines().any(|line| line.trim() == "sat") {
        return Ok(());
    }
    let said = match (finished.last_words(), finished.signal) {
        (said, Some(signal)) => {
            format!("a trivial script ends it by signal {signal} {said}").trim().to_string()
        }
        (said, None) if said.is_empty() => "it printed nothing on a trivial script".to_string(),
        (said, None) => said,
    };
    Err(does_not_run(said))
}

fn files_below(directory: &Path) -> Result<Vec<PathBuf>, InstallError> {
    let mut found = Vec::new();
    let mut open = vec![directory.to_path_buf()];
    while let Some(next) = open.pop() {
        for entry in std::fs::read_dir(&next).map_err(|source| InstallError::disk(&next, source))? {
            let entry = entry.map_err(|source| InstallError::disk(&next, source))?;
            let kind = entry.file_type().map_err(|source| InstallError::disk(&next, source))?;
            if kind.is_dir() {
                open.push(entry.path());
            } else if let Ok(relative) = entry.path().strip_prefix(directory) {
                found.push(relative.to_path_buf());
            }
        }
    }
    found.sort();
    Ok(found)
}

impl Installed {
    /// Turns the relative paths of a manifest into those of the directory it lies in.
    fn place_in(&mut self, home: &Home, directory: &Path) -> io::Result<()> {
        match &mut self.how {
            How::Executable { path } => *path = directory.join(&*path),
            How::Cvc5Host { libraries, module, .. } => {
                *libraries = directory.join(&*libraries);
                *module = directory.join(&*module);
            }
            How::Python { module, script, driver, .. } => {
                *module = directory.join(&*module);
                *script = python::write_script(*driver, &home.root().join("drivers"))?;
            }
        }
        for (name, value) in &mut self.env {
            if name == "LD_LIBRARY_PATH" {
                let placed = value.split(':').map(|part| directory.join(part).display().to_string());
                *value = placed.collect::<Vec<_>>().join(":");
            }
        }
        Ok(())
    }
}
