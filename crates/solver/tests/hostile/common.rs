//! What the tests with hostile solvers share. Not every one of them uses all of it.
#![allow(dead_code)]

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use solver::fast::ExecMode;
use solver::launch::{Invocation, Launcher, LauncherConfig, WallChoice};
use solver::limits::Limits;

/// A compiled `misbehave.rs`, and a directory in which launchers make their scratch directories.
pub struct Hostile {
    directory: tempfile::TempDir,
}

impl Hostile {
    pub fn compile() -> Self {
        let directory = tempfile::tempdir().expect("a directory");
        let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/hostile/misbehave.rs");
        let compiler = std::env::var_os("RUSTC").unwrap_or_else(|| "rustc".into());
        let done = Command::new(compiler)
            .args(["--edition=2024", "-Copt-level=1", "-o"])
            .arg(directory.path().join("misbehave"))
            .arg(source)
            .status()
            .expect("rustc runs");
        assert!(done.success());
        std::fs::create_dir(directory.path().join("scratch")).expect("made");
        Hostile { directory }
    }

    pub fn program(&self) -> PathBuf {
        self.directory.path().join("misbehave")
    }

    pub fn scratch(&self) -> PathBuf {
        self.directory.path().join("scratch")
    }

    pub fn runner(&self) -> Launcher {
        self.runner_behind(WallChoice::Best)
    }

    pub fn runner_behind(&self, wall: WallChoice) -> Launcher {
        Launcher::new(LauncherConfig { wall, ..config(Some(self.scratch())) }).expect("a launcher")
    }

    pub fn invocation(&self, way: &str) -> Invocation<'static> {
        let mut invocation = Invocation::new(self.program(), b"(check-sat)\n");
        invocation.args.insert(0, way.into());
        invocation.limits = Limits { memory: Some(1 << 30), ..Limits::wall(Duration::from_secs(60)) };
        invocation
    }

    /// How many processes run our program.
    pub fn processes(&self) -> BTreeSet<u32> {
        let ours = std::fs::canonicalize(self.program()).expect("there");
        processes().into_iter().filter(|(_, program)| *program == ours).map(|(pid, _)| pid).collect()
    }

    pub fn scratch_entries(&self) -> usize {
        std::fs::read_dir(self.scratch()).expect("there").count()
    }
}

pub fn config(scratch: Option<PathBuf>) -> LauncherConfig {
    LauncherConfig {
        launcher: Some(env!("CARGO_BIN_EXE_osprey-launcher").into()),
        scratch,
        servers: 8,
        ..LauncherConfig::default()
    }
}

/// All processes with their executables.
pub fn processes() -> Vec<(u32, PathBuf)> {
    std::fs::read_dir("/proc")
        .expect("proc")
        .flatten()
        .filter_map(|entry| {
            let pid = entry.file_name().to_str()?.parse().ok()?;
            Some((pid, std::fs::read_link(entry.path().join("exe")).ok()?))
        })
        .collect()
}

pub const FAST: ExecMode = ExecMode::ForkServer;
