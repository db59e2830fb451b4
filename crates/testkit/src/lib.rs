//! What tests share that need solvers: real ones, stand-in programs, and scripted ones without a process; a
//! [database server](postgres), and a [browser]. Only tests depend on this crate.

pub mod browser;
pub mod postgres;
mod scripted;

use std::fmt::Display;
use std::io::Write as _;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::LazyLock;

pub use scripted::{AskedRun, Scripted, ScriptedAnswer, made_up};
use solver::{Adapters, Home, InstallError, Solver, Solvers};

/// The releases in the user's data directory, and those that can be installed there.
pub static SOLVERS: LazyLock<Solvers> =
    LazyLock::new(|| Solvers::new(Adapters::built_in(), Home::of_user().expect("a data directory")));

/// Set by the gate: what a test needs and cannot have fails the test. Without it (or with `0`) the test says that it was
/// skipped, and passes.
pub const REQUIRE: &str = "OSPREY_REQUIRE_SOLVERS";

/// The solver, installed if need be, or nothing when this machine cannot have it: see [`skip`].
pub fn get(spec: &str) -> Option<Solver> {
    launcher();
    match SOLVERS.resolve(spec, &|_, _| ()) {
        Ok(mut solvers) => solvers.pop(),
        Err(error) if is_up_to_the_machine(&error) => {
            skip(spec, error);
            None
        }
        Err(error) => panic!("{spec}: {error}"),
    }
}

/// Can this machine have all of these solvers? They are installed if need be; see [`skip`].
pub fn have(specs: &[&str]) -> bool {
    // All are asked for, so that all that is missing is told.
    specs.iter().filter(|spec| get(spec).is_none()).count() == 0
}

/// A Python package in a folder of its own inside the data directory, put there by the user's pip once; nothing when
/// this machine cannot have it: see [`skip`]. `package` is what pip is asked for, such as `yinyang==0.3.0`.
pub fn python_package(package: &str) -> Option<PathBuf> {
    let (home, name) = (SOLVERS.home(), package.replace("==", "-"));
    let folder = home.root().join("modules").join(&name);
    let _turn = home.lock(&format!("module-{name}")).expect("a lock in the data directory");
    if folder.is_dir() {
        return Some(folder);
    }
    let partial = folder.with_file_name(format!(".{name}"));
    let python = std::env::var_os("OSPREY_PYTHON").unwrap_or_else(|| "python3".into());
    // What a killed installation left.
    let _ = std::fs::remove_dir_all(&partial);
    let output = Command::new(python)
        .args(["-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--target"])
        .arg(&partial)
        .arg(package)
        .stdin(Stdio::null())
        .output();
    match output {
        Ok(output) if output.status.success() => {
            std::fs::rename(&partial, &folder).expect("the package moves into its place");
            Some(folder)
        }
        Ok(output) => {
            skip(package, String::from_utf8_lossy(&output.stderr));
            None
        }
        Err(error) => {
            skip(package, format!("Python cannot be started: {error}"));
            None
        }
    }
}

/// To be called where a test cannot check something because the machine lacks what it needs.
///
/// # Panics
///
/// If [`REQUIRE`] is set.
pub fn skip(what: &str, why: impl Display) {
    if std::env::var_os(REQUIRE).is_some_and(|value| !value.is_empty() && value != "0") {
        panic!("{what} is needed here, because {REQUIRE} is set, and cannot be had: {why}");
    }
    // Not with `eprintln`, which tests that pass do not show.
    let _ = writeln!(std::io::stderr(), "skipped, because {what} cannot be had: {why}");
}

/// Is it the machine, or its network, that lacks something? Other errors are defects of ours.
fn is_up_to_the_machine(error: &InstallError) -> bool {
    matches!(
        error,
        InstallError::NoPython { .. }
            | InstallError::NoPip
            | InstallError::NoNetwork { .. }
            | InstallError::Pip { .. }
            | InstallError::NoApt { .. }
            | InstallError::Debian { .. }
            // No wheel for this processor or this Python.
            | InstallError::UnknownVersion { .. }
    )
}

/// Sees to it that there is a launcher: cargo builds the programs of the crate under test alone, so it is built now if
/// only that crate's tests were.
pub fn launcher() {
    static BUILT: LazyLock<()> = LazyLock::new(|| {
        if solver::launch::launcher_program().is_ok() {
            return;
        }
        let own = std::env::current_exe().expect("a path");
        let target = own.ancestors().nth(3).expect("target/debug/deps/test");
        let built = Command::new(env!("CARGO"))
            .args(["build", "--quiet", "--package", "solver", "--bin", "osprey-launcher", "--target-dir"])
            .arg(target)
            .status();
        assert!(built.is_ok_and(|status| status.success()), "the launcher cannot be built");
    });
    LazyLock::force(&BUILT);
}

/// A shell script that can be run.
pub fn program(folder: &Path, name: &str, body: &str) -> PathBuf {
    let path = folder.join(name);
    std::fs::write(&path, format!("#!/bin/sh\n{body}\n")).expect("a program");
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o755)).expect("permissions");
    path
}
