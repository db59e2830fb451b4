//! Scripts that make solvers write files, through the commands that run solvers. The kernel's wall is off here, so that
//! only what is taken out of scripts keeps them from it.

mod common;

use std::path::{Path, PathBuf};
use std::process::Command;

use common::{Folder, osprey, text};
use testkit::have;

const SATISFIABLE: &str = "(declare-const x Int)\n(assert (> x 3))\n(check-sat)\n";

/// Wrong about everything that asserts something.
const LIAR: &str = "for file; do :; done\nif grep -q assert \"$file\"; then echo unsat; else echo sat; fi";

/// All files below a folder.
fn files(folder: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder).expect("a folder").map(|entry| entry.expect("an entry").path());
    entries.flat_map(|path| if path.is_dir() { files(&path) } else { vec![path] }).collect()
}

#[test]
fn no_command_hands_a_script_that_writes_to_a_solver_or_to_others() {
    let Some(z3) = testkit::get("z3@5.4.0").filter(|_| have(&["z3@5.4.0"])) else { return };
    let folder = Folder::new();
    let victim = folder.path("victim");
    let writing = format!("(set-option :regular-output-channel \"{victim}\")\n{SATISFIABLE}");
    let script = folder.file("a.smt2", &writing);
    let liar = folder.program("liar", LIAR);
    let (out, small, mutants) = (folder.path("out"), folder.path("small.smt2"), folder.path("mutants"));
    let unharmed = |arguments: &[&str], code: i32| {
        let output = osprey(arguments).env("OSPREY_WALL", "off").output().expect("osprey starts");
        let said = text(&output);
        assert_eq!(output.status.code(), Some(code), "{arguments:?}: {said}");
        assert!(!Path::new(&victim).exists(), "{arguments:?}: {said}");
        let told = said.contains("taken out of") && said.contains(":regular-output-channel");
        assert!(told, "{arguments:?}: {said}");
    };
    unharmed(&["check", &script, "-s", "z3@5.4.0"], 0);
    unharmed(&["eval", &script, "--solver", "z3@5.4.0"], 0);
    unharmed(&["reduce", &script, "-o", &small, "-s", &liar, "-s", "z3@5.4.0"], 0);
    unharmed(&["mutate", "--engine", "diver", &script, "--out", &mutants, "-s", "z3@5.4.0"], 0);
    let fuzz = ["fuzz", &script, "-s", &liar, "--reference", "z3@5.4.0", "--engine", "seed", "--out", &out];
    unharmed(&[&fuzz[..], &["--iterations", "1", "--reduce-all"]].concat(), 10);
    for file in files(Path::new(&mutants)).into_iter().chain(files(&Path::new(&out).join("bugs"))) {
        let text = std::fs::read_to_string(&file).expect("a text");
        assert!(!text.contains("output-channel"), "{}", file.display());
    }
    // A finding that somebody else has made.
    let bug = std::fs::read_dir(Path::new(&out).join("bugs")).expect("bugs").next().expect("one");
    let bug = bug.expect("an entry").path();
    std::fs::write(bug.join("reduced.smt2"), &writing).expect("written");
    unharmed(&["replay", bug.to_str().expect("UTF-8")], 10);

    // What all this is worth: the solver does write.
    let solver::install::How::Executable { path } = &z3.installed.how else { panic!("Z3 is a program") };
    Command::new(path).arg(&script).output().expect("Z3 starts");
    assert!(Path::new(&victim).exists());
}
