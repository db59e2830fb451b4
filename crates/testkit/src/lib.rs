//! What tests share that need solvers: real ones, stand-in programs, and scripted ones without a process. Only tests
//! depend on this crate.

mod scripted;

use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::sync::LazyLock;

pub use scripted::{Asked, Scripted, ScriptedAnswer, made_up};
use solver::{Adapters, Home, InstallError, Solver, Solvers};

/// The releases in the user's data directory, and those that can be installed there.
pub static SOLVERS: LazyLock<Solvers> =
    LazyLock::new(|| Solvers::new(Adapters::built_in(), Home::of_user().expect("a data directory")));

/// The solver, or nothing when this machine cannot get it, which is said: without network and with an empty cache, tests
/// with real solvers check nothing.
pub fn get(spec: &str) -> Option<Solver> {
    match SOLVERS.resolve(spec, &|_, _| ()) {
        Ok(mut solvers) => solvers.pop(),
        Err(
            error @ (InstallError::NoNetwork { .. } | InstallError::NoPython { .. } | InstallError::NoPip),
        ) => {
            eprintln!("skipped {spec}: {error}");
            None
        }
        Err(error) => panic!("{spec}: {error}"),
    }
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
        let built = std::process::Command::new(env!("CARGO"))
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
