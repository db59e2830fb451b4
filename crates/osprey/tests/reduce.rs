//! `osprey reduce` as users see it: what is written, what is said, and the exit codes. Without network and with an empty
//! cache the tests that need solvers are skipped, or fail: see `testkit::skip`.

mod common;

use std::path::PathBuf;
use std::process::{Command, Stdio};

use common::{Folder, complaint, run};
use testkit::have;

const SCRIPT: &str = "(set-logic QF_LIA)\n(declare-const x Int)\n(declare-const y Int)\n(assert (> x 41))\n\
    (assert (< y (+ x 7)))\n(check-sat)\n";

#[test]
fn a_predicate_script_decides_what_stays_and_the_input_is_untouched() {
    let folder = Folder::new();
    let input = folder.file("in.smt2", SCRIPT);
    let predicate = folder.program("interesting.sh", "grep -q 41 \"$1\"");
    let out = folder.path("out.smt2");
    let output = run(&["reduce", &input, "-o", &out, "--json", "--", &predicate]);
    assert_eq!(output.status.code(), Some(0), "{}", complaint(&output));
    // The script needs no check: nothing asks for one.
    assert_eq!(folder.read("out.smt2"), "(assert (> 0 41))\n");
    assert_eq!(folder.read("in.smt2"), SCRIPT);
    let report: serde_json::Value = serde_json::from_slice(&output.stdout).expect("JSON");
    assert_eq!(report["finished"], true);
    assert!(report["after"]["nodes"].as_u64() < report["before"]["nodes"].as_u64());
    assert!(!PathBuf::from(folder.path("out.smt2.part")).exists());
}

#[test]
fn the_input_is_never_overwritten() {
    let folder = Folder::new();
    let input = folder.file("in.smt2", SCRIPT);
    let predicate = folder.program("interesting.sh", "grep -q 41 \"$1\"");
    let output = run(&["reduce", &input, "-o", &input, "--", &predicate]);
    assert_eq!(output.status.code(), Some(2));
    assert!(complaint(&output).contains("never overwritten"), "{}", complaint(&output));
    assert_eq!(folder.read("in.smt2"), SCRIPT);
}

#[test]
fn useless_predicates_get_a_clear_message() {
    let folder = Folder::new();
    let input = folder.file("in.smt2", SCRIPT);
    let out = folder.path("out.smt2");
    let always = run(&["reduce", &input, "-o", &out, "--", "true"]);
    assert_eq!(always.status.code(), Some(2));
    assert!(complaint(&always).contains("always true"), "{}", complaint(&always));
    let never = run(&["reduce", &input, "-o", &out, "--match-out", "sat", "--", "true"]);
    assert_eq!(never.status.code(), Some(2));
    assert!(complaint(&never).contains("does not match"), "{}", complaint(&never));
    let slow = folder.program("slow.sh", "sleep 30");
    let slow = run(&["reduce", &input, "-o", &out, "--timeout", "0.3", "--", &slow]);
    assert_eq!(slow.status.code(), Some(2));
    assert!(complaint(&slow).contains("--timeout"), "{}", complaint(&slow));
    let nothing = run(&["reduce", &input, "-o", &out]);
    assert_eq!(nothing.status.code(), Some(2));
    assert!(complaint(&nothing).contains("what is to stay"), "{}", complaint(&nothing));
    assert!(!PathBuf::from(&out).exists());
}

#[test]
fn an_output_that_cannot_be_written_ends_with_five() {
    let folder = Folder::new();
    let input = folder.file("in.smt2", SCRIPT);
    let predicate = folder.program("interesting.sh", "grep -q 41 \"$1\"");
    let out = folder.path("no/such/folder/out.smt2");
    let output = run(&["reduce", &input, "-o", &out, "--", &predicate]);
    assert_eq!(output.status.code(), Some(5), "{}", complaint(&output));
}

#[test]
fn a_killed_reduction_leaves_the_best_so_far() {
    let folder = Folder::new();
    let many: String =
        (0..60).map(|n| format!("(declare-const y{n} Int)\n(assert (> y{n} {n}))\n")).collect();
    let input = folder.file("in.smt2", &format!("{many}(assert (> 0 4141))\n(check-sat)\n"));
    // Every run takes a while, so that there is something left to do when the first result is there.
    let predicate = folder.program("interesting.sh", "sleep 0.05; grep -q 4141 \"$1\"");
    let out = folder.path("out.smt2");
    let mut child = Command::new(env!("CARGO_BIN_EXE_osprey"))
        .args(["reduce", &input, "-o", &out, "--jobs", "1", "--", &predicate])
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .expect("osprey starts");
    while !PathBuf::from(&out).exists() && child.try_wait().expect("a state").is_none() {
        std::thread::sleep(std::time::Duration::from_millis(5));
    }
    child.kill().expect("killed");
    child.wait().expect("gone");
    let left = folder.read("out.smt2");
    assert!(left.contains("4141"), "{left}");
}

#[test]
fn solvers_that_are_right_leave_nothing_to_reduce() {
    if !have(&["z3@5.4.0"]) {
        return;
    }
    let folder = Folder::new();
    let input = folder.file("in.smt2", SCRIPT);
    let out = folder.path("out.smt2");
    let output = run(&["reduce", &input, "-o", &out, "-s", "z3@5.4.0"]);
    assert_eq!(output.status.code(), Some(2));
    assert!(complaint(&output).contains("shows no bug"), "{}", complaint(&output));
}

#[test]
fn a_wrong_answer_is_reduced_with_its_witness() {
    if !have(&["z3@4.8.7", "z3@5.4.0"]) {
        return;
    }
    let folder = Folder::new();
    let text = "(declare-const v (_ BitVec 4))\n(declare-const p Bool)\n(assert (or p (= v #x3)))\n\
                (assert (= (bvxnor v v v) v))\n(check-sat)\n";
    let input = folder.file("in.smt2", text);
    let (out, model) = (folder.path("out.smt2"), folder.path("model.smt2"));
    let words =
        ["reduce", &input, "-o", &out, "--witness", &model, "-s", "z3@4.8.7", "-s", "z3@5.4.0", "--json"];
    let output = run(&words);
    assert_eq!(output.status.code(), Some(0), "{}", complaint(&output));
    let report: serde_json::Value = serde_json::from_slice(&output.stdout).expect("JSON");
    assert_eq!(report["kind"], "refutation-soundness");
    assert_eq!(report["witness"], true);
    assert!(folder.read("out.smt2").contains("bvxnor"));
    let again = run(&["eval", &out, "--model", &model]);
    assert_eq!(again.status.code(), Some(0), "{}", complaint(&again));
}
