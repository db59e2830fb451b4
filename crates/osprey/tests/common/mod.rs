//! The program under test, as users start it.

#![allow(dead_code)] // not every test file uses every part

use std::io::Write as _;
use std::path::Path;
use std::process::{Command, Output, Stdio};

pub fn osprey(arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_osprey"));
    command.args(arguments).stdin(Stdio::null());
    command
}

pub fn run(arguments: &[&str]) -> Output {
    osprey(arguments).output().expect("osprey starts")
}

/// All it said.
pub fn text(output: &Output) -> String {
    format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr))
}

/// What it said on standard error.
pub fn complaint(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

/// A folder for one test.
pub struct Folder(tempfile::TempDir);

impl Folder {
    pub fn new() -> Folder {
        Folder(tempfile::tempdir().expect("a folder"))
    }

    pub fn all(&self) -> &str {
        self.0.path().to_str().expect("UTF-8")
    }

    pub fn path(&self, name: &str) -> String {
        shown(&self.0.path().join(name))
    }

    pub fn file(&self, name: &str, text: &str) -> String {
        let path = self.path(name);
        std::fs::write(&path, text).expect("a file");
        path
    }

    pub fn program(&self, name: &str, body: &str) -> String {
        shown(&testkit::program(self.0.path(), name, body))
    }

    /// A program that says this, whatever it is asked.
    pub fn liar(&self, name: &str, says: &str) -> String {
        self.program(name, &format!("cat <<'END'\n{says}\nEND"))
    }

    pub fn read(&self, name: &str) -> String {
        std::fs::read_to_string(self.path(name)).expect("a file")
    }
}

/// To be called where this user, or this kernel, does not allow what a test needs: it says so and passes.
pub fn not_allowed(what: &str, why: impl std::fmt::Display) {
    let _ = writeln!(std::io::stderr(), "left out, because {what} is not possible here: {why}");
}

pub fn shown(path: &Path) -> String {
    path.to_str().expect("UTF-8").to_owned()
}
