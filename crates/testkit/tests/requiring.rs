//! What cannot be had skips a test, or fails it where `OSPREY_REQUIRE_SOLVERS` is set: the skipped tests are tests of this
//! file, started again on a machine without solvers, Python and package manager.

use std::path::Path;
use std::process::{Command, Output};

/// Set where the tests are to ask for something.
const ASKED: &str = "TESTKIT_ASKED_FOR";

fn asked() -> Option<String> {
    std::env::var(ASKED).ok()
}

#[test]
fn asks_for_a_solver() {
    if let Some(spec) = asked() {
        assert!(testkit::get(&spec).is_none(), "there is a solver on a machine that has nothing");
    }
}

#[test]
fn asks_for_several() {
    if let Some(spec) = asked() {
        assert!(!testkit::have(&[&spec, "bitwuzla@0.9.1"]));
    }
}

#[test]
fn asks_for_a_package() {
    if let Some(package) = asked() {
        assert!(testkit::python_package(&package).is_none());
    }
}

/// Runs a test of this file on a bare machine.
fn on_a_bare_machine(folder: &Path, test: &str, asks_for: &str, require: Option<&str>) -> Output {
    let own = std::env::current_exe().expect("our path");
    let mut command = Command::new(&own);
    command
        .args([test, "--exact"])
        .env(ASKED, asks_for)
        .env("OSPREY_HOME", folder.join("home"))
        .env("PATH", folder)
        // Any program will do: nothing is started.
        .env("OSPREY_LAUNCHER", &own)
        .env_remove("OSPREY_PYTHON")
        .env_remove(testkit::REQUIRE);
    if let Some(value) = require {
        command.env(testkit::REQUIRE, value);
    }
    command.output().expect("the test starts again")
}

/// From both registries, alone and with others, and what is no solver.
const CASES: [(&str, &str); 4] = [
    ("asks_for_a_solver", "z3@5.4.0"),
    ("asks_for_a_solver", "boolector@1.5.118"),
    ("asks_for_several", "cvc5@1.4.2"),
    ("asks_for_a_package", "yinyang==0.3.0"),
];

#[test]
fn what_cannot_be_had_skips_the_test_and_says_so() {
    let folder = tempfile::tempdir().expect("a folder");
    for (test, asks_for) in CASES {
        for off in [None, Some(""), Some("0")] {
            let output = on_a_bare_machine(folder.path(), test, asks_for, off);
            let said = String::from_utf8_lossy(&output.stderr);
            assert!(output.status.success(), "{test} {asks_for}: {output:?}");
            // Although the test passes.
            assert!(said.contains(&format!("skipped, because {asks_for} cannot be had: ")), "{test}: {said}");
        }
    }
}

#[test]
fn what_cannot_be_had_fails_the_test_where_solvers_are_required() {
    let folder = tempfile::tempdir().expect("a folder");
    for (test, asks_for) in CASES {
        let output = on_a_bare_machine(folder.path(), test, asks_for, Some("1"));
        let said = String::from_utf8_lossy(&output.stdout);
        assert!(!output.status.success(), "{test} {asks_for}: {output:?}");
        let reason = format!("{asks_for} is needed here, because OSPREY_REQUIRE_SOLVERS is set");
        assert!(said.contains(&reason), "{test}: {said}");
    }
}

/// Tests get solvers from here alone: a private way would have its own idea of what is required.
#[test]
fn no_test_resolves_releases_of_its_own() {
    let crates = Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("the crates");
    let mut files = Vec::new();
    for entry in std::fs::read_dir(crates).expect("crates") {
        tests_below(&entry.expect("an entry").path().join("tests"), &mut files);
    }
    assert!(files.len() > 20, "{files:?}");
    for file in files.iter().filter(|file| !file.ends_with(file!())) {
        let text = std::fs::read_to_string(file).expect("a test");
        for private in ["Home::of_user", "OSPREY_REQUIRE_SOLVERS", "\"skipped", "\"pip\""] {
            assert!(!text.contains(private), "{} has {private}: use testkit", file.display());
        }
    }
}

fn tests_below(folder: &Path, files: &mut Vec<std::path::PathBuf>) {
    for entry in std::fs::read_dir(folder).into_iter().flatten() {
        let path = entry.expect("an entry").path();
        if path.is_dir() {
            tests_below(&path, files);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            files.push(path);
        }
    }
}
