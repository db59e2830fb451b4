//! `solvers`, `check` and `eval` as users see them: what is printed, and the exit codes. Programs that answer as they are
//! told stand beside real solvers. Without network and with an empty cache the tests that need solvers are skipped, or
//! fail: see `testkit::skip`.

mod common;

use std::process::Output;

use common::{Folder, complaint, osprey, run};
use testkit::have;

const SATISFIABLE: &str =
    "(set-logic QF_LIA)\n(declare-const x Int)\n(assert (> x 3))\n(assert (< x 5))\n(check-sat)\n";

/// Standard output without what depends on this machine, and the exit code.
fn shown(folder: &Folder, output: &Output) -> String {
    let text = String::from_utf8_lossy(&output.stdout).replace(folder.all(), "DIR");
    format!("{}exit code {}", text, output.status.code().unwrap_or(-1))
}

fn code(output: &Output) -> Option<i32> {
    output.status.code()
}

#[test]
fn a_file_that_nobody_reads_is_not_called_right() {
    if !have(&["z3@5.4.0"]) {
        return;
    }
    let folder = Folder::new();
    let script = folder.file("a.smt2", "(assert (> x\n");
    let output = run(&["check", &script, "-s", "z3@5.4.0"]);
    let said = shown(&folder, &output);
    assert!(said.contains("nothing was answered") && !said.contains("nothing wrong"), "{said}");
    assert_eq!(code(&output), Some(2), "{said}");
}

#[test]
fn a_wrong_answer_is_shown_with_the_reason_and_ends_with_ten() {
    if !have(&["z3@5.4.0"]) {
        return;
    }
    let folder = Folder::new();
    let script = folder.file("a.smt2", SATISFIABLE);
    let liar = folder.liar("liar", "unsat");
    let output = run(&["check", &script, "-s", &liar, "-s", "z3@5.4.0"]);
    // The column's width depends on the length of the temporary path.
    let shown: Vec<String> = shown(&folder, &output)
        .lines()
        .map(|line| {
            line.split("  ").filter(|part| !part.is_empty()).collect::<Vec<_>>().join("  ").trim().to_string()
        })
        .collect();
    insta::assert_snapshot!(shown.join("\n"), @r"
    DIR/liar  unsat
    z3@5.4.0  sat (model: true)

    refutation-soundness in DIR/liar
    it answered unsat but the answer is sat: the model of z3@5.4.0 satisfies every assertion by our evaluation
    sat by z3@5.4.0
    confirmed by 2 fresh runs
    exit code 10
    ");
}

#[test]
fn solvers_that_agree_with_right_models_are_clean() {
    if !have(&["z3@5.4.0", "cvc5@1.4.2", "yices@2.6.5"]) {
        return;
    }
    let folder = Folder::new();
    let script = folder.file("a.smt2", SATISFIABLE);
    let specs = ["-s", "z3@5.4.0 smt.arith.solver=2", "-s", "cvc5@1.4.2", "-s", "yices@2.6.5"];
    let output = run(&[&["check", script.as_str()], &specs[..]].concat());
    insta::assert_snapshot!(shown(&folder, &output), @r"
    z3@5.4.0 smt.arith.solver=2  sat (model: true)
    cvc5@1.4.2                   sat (model: true)
    yices@2.6.5                  sat (model: true)

    nothing wrong
    exit code 0
    ");
}

#[test]
fn json_says_the_same_for_programs() {
    if !have(&["z3@5.4.0"]) {
        return;
    }
    let folder = Folder::new();
    let script = folder.file("a.smt2", SATISFIABLE);
    let liar = folder.liar("liar", "sat\n((define-fun x () Int 7))");
    let output = run(&["check", &script, "-s", &liar, "-s", "z3@5.4.0", "--json"]);
    assert_eq!(code(&output), Some(10));
    let report: serde_json::Value = serde_json::from_slice(&output.stdout).expect("JSON");
    assert_eq!(report["findings"], 1);
    assert_eq!(report["runs"][0]["checks"][0]["model"], "false");
    assert_eq!(report["runs"][1]["checks"][0]["model"], "true");
    assert_eq!(report["verdicts"][0]["kind"], "invalid-model");
    assert_eq!(report["verdicts"][0]["accused"], 0);
}

#[test]
fn a_definition_without_a_solution_accuses_nobody() {
    if !have(&["z3@5.4.0", "cvc5@1.4.2"]) {
        return;
    }
    let folder = Folder::new();
    let script = folder.file(
        "a.smt2",
        "(set-logic ALL)(define-fun-rec f ((x Int)) Int (+ 1 (f x)))(declare-const y Int)(assert (> y 3))(check-sat)",
    );
    let output = run(&["check", &script, "-s", "z3@5.4.0", "-s", "cvc5@1.4.2"]);
    let shown = shown(&folder, &output);
    assert_eq!(code(&output), Some(0), "{shown}");
    assert!(shown.contains("nothing is proven: the definition of 'f' by recursion"), "{shown}");
}

#[test]
fn an_expected_answer_needs_one_solver_only() {
    let folder = Folder::new();
    let script = folder.file("a.smt2", &format!("(set-info :status sat)\n{SATISFIABLE}"));
    let liar = folder.liar("liar", "unsat");
    assert_eq!(code(&run(&["check", &script, "-s", &liar])), Some(0));
    assert_eq!(code(&run(&["check", &script, "-s", &liar, "--expect", "sat"])), Some(10));
    assert_eq!(code(&run(&["check", &script, "-s", &liar, "--expect", "status"])), Some(10));
    assert_eq!(code(&run(&["check", &script, "-s", &liar, "--expect", "unsat"])), Some(0));
}

#[test]
fn assertions_are_evaluated_one_by_one() {
    let folder = Folder::new();
    let script = folder.file(
        "a.smt2",
        "(declare-const x Int)\n(declare-const y Int)\n(assert (> x 3))\n(assert (and (< x 9) (= (+ x y) 4)))\n\
         (assert (= (div y 0) 1))\n(check-sat)\n",
    );
    let model = |x: i32, y: i32| format!("sat\n(\n(define-fun x () Int {x})\n(define-fun y () Int {y})\n)\n");
    let wrong = folder.file("wrong.txt", &model(5, 4));
    insta::assert_snapshot!(shown(&folder, &run(&["eval", &script, "--model", &wrong])), @r"
    assertion 1: true
    assertion 2: false  (= (+ x y) 4)
    assertion 3: unknown  the standard leaves this result open: (div y 0)
    1 true, 1 false, 1 unknown
    exit code 10
    ");
    let open = folder.file("open.txt", &model(4, 0));
    assert_eq!(code(&run(&["eval", &script, "--model", &open])), Some(11));
    let plain = folder.file("b.smt2", SATISFIABLE);
    let right = folder.file("right.txt", "((define-fun x () Int 4))");
    assert_eq!(code(&run(&["eval", &plain, "--model", &right])), Some(0));
    if have(&["z3@5.4.0"]) {
        assert_eq!(code(&run(&["eval", &plain, "--solver", "z3@5.4.0"])), Some(0));
    }
}

#[test]
fn solvers_that_cannot_be_had_end_with_four_and_say_what_to_do() {
    let folder = Folder::new();
    let script = folder.file("a.smt2", SATISFIABLE);
    let output = run(&["check", &script, "-s", "cvc7"]);
    assert_eq!(code(&output), Some(4));
    assert!(complaint(&output).contains("did you mean"), "{}", complaint(&output));

    let output = run(&["check", &script, "-s", &script]);
    assert_eq!(code(&output), Some(4));
    assert!(complaint(&output).contains("not an executable file"), "{}", complaint(&output));

    let output = run(&["solvers", "install", "mathsat@5.6.10"]);
    assert_eq!(code(&output), Some(4));
    assert!(complaint(&output).contains("give its path"), "{}", complaint(&output));

    let empty = folder.path("home");
    let alone = |arguments: &[&str]| {
        osprey(arguments)
            .env("OSPREY_HOME", &empty)
            .env("PIP_INDEX_URL", "http://127.0.0.1:9/simple")
            .env("PIP_RETRIES", "0")
            .env("PIP_NO_INDEX", "false")
            .output()
            .expect("osprey starts")
    };
    let output = alone(&["solvers", "install", "z3@5.4.0"]);
    assert_eq!(code(&output), Some(4));
    assert!(!complaint(&output).is_empty());

    let output = osprey(&["solvers", "install", "z3@5.4.0"])
        .env("OSPREY_HOME", &empty)
        .env("OSPREY_PYTHON", folder.path("no-python"))
        .output()
        .expect("osprey starts");
    assert_eq!(code(&output), Some(4));
    assert!(complaint(&output).contains("OSPREY_PYTHON"), "{}", complaint(&output));
}

#[test]
fn without_pip_it_is_said_what_is_missing() {
    let folder = Folder::new();
    let python = folder.program("python", "echo \"$0: No module named pip\" >&2\nexit 1");
    let output = osprey(&["solvers", "install", "z3@4.8.7"])
        .env("OSPREY_HOME", folder.path("home"))
        .env("OSPREY_PYTHON", &python)
        .output()
        .expect("osprey starts");
    assert_eq!(code(&output), Some(4));
    assert!(complaint(&output).contains("has no pip"), "{}", complaint(&output));
}

#[test]
fn what_cannot_be_understood_ends_with_two() {
    let folder = Folder::new();
    let script = folder.file("a.smt2", SATISFIABLE);
    let missing = folder.path("none.smt2");
    for arguments in [
        &["check", &missing, "-s", "z3"][..],
        &["check", &script, "-s", "z3@newest"],
        &["check", &script, "-s", "z3", "--timeout", "0"],
        &["eval", &script],
        &["eval", &script, "--model", &missing],
        &["solvers", "install"],
    ] {
        let output = run(arguments);
        assert_eq!(code(&output), Some(2), "{arguments:?}: {}", complaint(&output));
        assert!(!complaint(&output).is_empty());
    }
}

#[test]
fn an_unknown_release_is_told_with_its_neighbours() {
    if !have(&["z3@5.4.0"]) {
        return;
    }
    let output = run(&["solvers", "install", "z3@4.8.99", "z3@5.4.0"]);
    assert_eq!(code(&output), Some(4));
    // Offline the registry cannot be asked, which is told as well.
    let said = complaint(&output);
    assert!(said.contains("the nearest are 4.8.") || said.contains("cannot reach"), "{said}");
    assert!(
        String::from_utf8_lossy(&output.stdout).contains("z3@5.4.0"),
        "the others are installed all the same"
    );
}

/// A build that calls itself newer than any release, says `sat` to everything and has no model.
const NEWER: &str = "case \"$*\" in *-version*) echo 'Z3 version 5.5.0 - 64 bit';; *) echo sat;; esac";

fn accused(output: &Output) -> Vec<(String, String)> {
    let report: serde_json::Value = serde_json::from_slice(&output.stdout).expect("JSON");
    let verdicts = report["verdicts"].as_array().expect("verdicts").iter();
    let word = |value: &serde_json::Value| value.as_str().unwrap_or_default().to_owned();
    verdicts.map(|verdict| (word(&verdict["kind"]), word(&verdict["solver"]))).collect()
}

#[test]
fn a_newer_build_that_is_wrong_is_accused_and_the_older_release_never_is() {
    if !have(&["z3@5.4.0"]) {
        return;
    }
    let folder = Folder::new();
    let newer = folder.program("z3", NEWER);
    let ground = folder.file("ground.smt2", "(assert (= (* 0 0) 1))\n(check-sat)\n");
    let orders = [
        ["-s", &newer, "--reference", "z3@5.4.0"],
        ["-s", "z3@5.4.0", "--reference", &newer],
        ["-s", &newer, "-s", "z3@5.4.0"],
    ];
    for order in orders {
        let output = run(&[&["check", ground.as_str(), "--json"], &order[..]].concat());
        assert_eq!(code(&output), Some(10));
        assert_eq!(accused(&output), [("solution-soundness".to_owned(), newer.clone())], "{order:?}");
    }
    let output = run(&["check", &ground, "-s", &newer, "--reference", "z3@5.4.0"]);
    let shown = shown(&folder, &output);
    let (_, verdict) = shown.split_once("\n\n").expect("runs, then verdicts");
    insta::assert_snapshot!(verdict, @r"
    solution-soundness in DIR/z3
      it answered sat but the answer is unsat: the evaluator finds the assertion false: (= (* 0 0) 1)
      unsat by z3@5.4.0
      confirmed by 2 fresh runs
    exit code 10
    ");
}

#[test]
fn where_nothing_can_be_evaluated_a_third_opinion_is_asked_or_both_are_named() {
    if !have(&["z3@5.4.0", "cvc5@1.4.2"]) {
        return;
    }
    let folder = Folder::new();
    let newer = folder.program("z3", NEWER);
    let open = "(set-logic QF_LIA)\n(declare-const x Int)\n(declare-const y Int)\n(assert (and (> x y) (> y x)))\n\
                (check-sat)\n";
    let open = folder.file("open.smt2", open);
    let old = testkit::get("z3@5.4.0").expect("a release");
    let solver::install::How::Executable { path } = &old.installed.how else { panic!("an executable") };
    let path = path.to_str().expect("UTF-8");
    for order in [[&newer, path], [path, &newer]] {
        let arguments = ["check", &open, "-s", order[0], "--reference", order[1], "--json"];
        let output = run(&arguments);
        assert_eq!(accused(&output), [("solution-soundness".to_owned(), newer.clone())]);
        let report: serde_json::Value = serde_json::from_slice(&output.stdout).expect("JSON");
        assert_eq!(report["runs"][2]["role"], "third-opinion");
        assert_eq!(report["verdicts"][0]["rests_on"], "families");
        // On a machine without another solver nobody is accused.
        let bare = osprey(&arguments)
            .env("OSPREY_HOME", folder.path("home"))
            .env("PATH", "/usr/bin:/bin")
            .output()
            .expect("osprey starts");
        assert_eq!(code(&bare), Some(10), "{}", complaint(&bare));
        assert_eq!(accused(&bare), [("disagreement".to_owned(), String::new())]);
        assert!(String::from_utf8_lossy(&bare.stdout).contains("osprey solvers install cvc5"));
    }
}

#[test]
fn what_a_script_says_of_its_own_answer_silences_nobody() {
    if !have(&["cvc5@1.4.2"]) {
        return;
    }
    let folder = Folder::new();
    // cvc5 compares it with its own answer and prints an error in its place.
    let stated = SATISFIABLE.replace("(check-sat)", "(set-info :status unsat)\n(check-sat)");
    let script = folder.file("a.smt2", &stated);
    let liar = folder.liar("liar", "unsat");
    let output = run(&["check", &script, "-s", "cvc5@1.4.2", "-s", &liar]);
    let shown = shown(&folder, &output);
    assert!(shown.contains("refutation-soundness in DIR/liar"), "{shown}");
    assert_eq!(code(&output), Some(10));
}

#[test]
fn a_solver_that_refuses_every_script_does_not_work() {
    let folder = Folder::new();
    let script = folder.file("a.smt2", SATISFIABLE);
    let refusing = folder.liar("refusing", "(error \"line 1: no\")");
    let output = run(&["check", &script, "-s", &refusing]);
    assert_eq!(code(&output), Some(4), "{}", complaint(&output));
    assert!(complaint(&output).contains("refuses every script"), "{}", complaint(&output));
    // One that refuses this script alone works.
    let body =
        "for file; do :; done\nif grep -q assert \"$file\"; then echo '(error \"no\")'; else echo sat; fi";
    let choosy = folder.program("choosy", body);
    assert_eq!(code(&run(&["check", &script, "-s", &choosy])), Some(0));
}
