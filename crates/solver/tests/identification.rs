//! Finding out what a program is: as contained as any run, and never taken for more than it says.

#[path = "hostile/common.rs"]
mod common;

use std::path::{Path, PathBuf};

use common::Hostile;
use solver::install::How;
use solver::{Adapters, Home, InstallError, Solvers};

fn solvers(home: &Path) -> Solvers {
    testkit::launcher();
    Solvers::new(Adapters::built_in(), Home::at(home))
}

#[test]
fn daemons_and_litter_do_not_outlive_identification() {
    let hostile = Hostile::compile();
    let home = tempfile::tempdir().expect("a directory");
    let spec = hostile.program().display().to_string();
    let found = solvers(home.path()).resolve(&spec, &|_, _| ()).expect("a program").remove(0);
    assert_eq!(found.name(), spec, "a program that is not ours is its path");
    assert_eq!(found.version().map(ToString::to_string).as_deref(), Some("4.8.7"));
    assert!(hostile.processes().is_empty(), "{:?}", hostile.processes());
    let wall = hostile.runner().wall();
    if wall.files.is_some() {
        for litter in ["/tmp/osprey-hostile-litter", "/dev/shm/osprey-hostile-litter"] {
            assert!(!Path::new(litter).exists(), "{litter}");
        }
    }
    assert!(!std::env::temp_dir().join("litter").exists());
}

/// A program that says it is cvc5, and for every script the same.
fn says(folder: &Path, line: &str) -> String {
    let body = format!("case $1 in --version) echo This is cvc5 version 1.4.2;; *) echo '{line}';; esac");
    testkit::program(folder, "cvc5", &body).display().to_string()
}

#[test]
fn what_a_build_was_made_without_is_asked_once_per_build_and_not_claimed() {
    let (home, folder) =
        (tempfile::tempdir().expect("a directory"), tempfile::tempdir().expect("a directory"));
    let lacked = |spec: &str| {
        let solver = solvers(home.path()).resolve(spec, &|_, _| ()).expect("a program").remove(0);
        assert_eq!(solver.theories().contains(&"finite_fields"), solver.built_without.is_empty());
        assert!(solver.theories().contains(&"strings"), "only what was asked about");
        solver.built_without
    };
    let program = says(folder.path(), "(error \"cvc5 was not configured with --cocoa\")");
    assert_eq!(lacked(&program), ["finite_fields"]);
    let remembered: Vec<PathBuf> = std::fs::read_dir(home.path().join("built"))
        .expect("something is remembered")
        .map(|entry| entry.expect("readable").path())
        .collect();
    assert_eq!(remembered.len(), 1, "{remembered:?}");
    let text = std::fs::read_to_string(&remembered[0]).expect("readable");
    std::fs::write(&remembered[0], text.replace("false", "true")).expect("written");
    assert!(lacked(&program).is_empty(), "it is not asked again");
    // Another build is another program.
    assert!(lacked(&says(folder.path(), "sat")).is_empty());
    assert_eq!(lacked(&says(folder.path(), "(error \"cvc5 was built without it\")")), ["finite_fields"]);
}

/// A copy of an installed release in a data directory of its own.
fn copied(home: &Path) -> Option<(Solvers, PathBuf)> {
    let original = testkit::get("z3@4.8.7")?;
    let from = testkit::SOLVERS.home();
    for part in ["solvers/z3-4.8.7", "versions"] {
        let target = home.join(part);
        std::fs::create_dir_all(target.parent().expect("a parent")).expect("made");
        let done =
            std::process::Command::new("cp").arg("-r").arg(from.root().join(part)).arg(&target).status();
        assert!(done.is_ok_and(|status| status.success()));
    }
    let How::Executable { path } = original.installed.how else { panic!("Z3 is a program") };
    let inside = path.strip_prefix(from.root()).expect("installed").to_path_buf();
    Some((solvers(home), home.join(inside)))
}

#[test]
fn a_damaged_release_is_repaired_or_refused_and_never_called_installed() {
    let home = tempfile::tempdir().expect("a directory");
    let Some((solvers, program)) = copied(home.path()) else { return };
    let whole = std::fs::read(&program).expect("readable");
    // One that an older version has installed is tried out once, and remembered.
    let record = home.path().join("solvers/z3-4.8.7/contents.json");
    let _ = std::fs::remove_file(&record);
    solvers.resolve("z3@4.8.7", &|_, _| ()).expect("it works");
    assert!(record.exists());
    let mut other = whole.clone();
    other[whole.len() / 2] ^= 1;
    for damaged in [Some(&whole[..whole.len() / 2]), Some(&other), None] {
        match damaged {
            Some(bytes) => std::fs::write(&program, bytes).expect("written"),
            None => std::fs::remove_file(&program).expect("removed"),
        }
        match solvers.install("z3@4.8.7", &|_, _| ()) {
            Ok(_) => assert!(std::fs::read(&program).expect("there") == whole, "it was repaired"),
            Err(error @ InstallError::Damaged { .. }) => {
                assert!(error.to_string().contains("bin/z3"), "{error}");
                assert!(solvers.resolve("z3@4.8.7", &|_, _| ()).is_err(), "nor is it used");
                testkit::skip("the registry", error);
                std::fs::write(&program, &whole).expect("written");
            }
            Err(error) => panic!("{error}"),
        }
    }
}
