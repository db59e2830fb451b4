//! `perf` and `localize` as users see them: messages, folders, going on after an end.

mod common;

use common::{Folder, complaint, run, text};

#[test]
fn what_cannot_be_compared_is_refused_in_words() {
    if !testkit::have(&["z3@5.4.0", "z3@4.8.7", "bitwuzla", "yices"]) {
        return;
    }
    let cases: [(&[&str], &str); 9] = [
        (&["--target", "z3@5.4.0", "--reference", "z3@5.4.0"], "both the target and a reference"),
        (
            &["--target", "z3@5.4.0", "--reference", "z3@4.8.7", "--reference", "z3@4.8.7"],
            "z3@4.8.7 is named twice",
        ),
        (
            &["--target", "z3@5.4.0", "--reference", "z3@4.8.7", "--method", "bandit,random,bandit"],
            "the method bandit is named twice",
        ),
        (
            &["--target", "bitwuzla", "--reference", "z3@5.4.0", "--logic", "QF_SLIA"],
            "does not have the logic QF_SLIA",
        ),
        (
            &["--target", "yices", "--reference", "z3@5.4.0", "--score", "resource", "--logic", "QF_LIA"],
            "count different things",
        ),
        (
            &["--target", "z3@5.4.0", "--reference", "z3@4.8.7", "--ops", "fp.frob"],
            "'fp.frob' is no operator",
        ),
        (
            &["--target", "z3@5.4.0", "--reference", "z3@4.8.7", "--logic", "QF_FP", "--ops", "str.len"],
            "'str.len' (--ops) is not in the logic QF_FP",
        ),
        (
            &["--target", "z3@5.4.0", "--reference", "z3@4.8.7", "--depth", "4-2"],
            "neither a number nor a range",
        ),
        (
            &["--target", "z3@5.4.0", "--reference", "z3@4.8.7", "--agent", "greedy"],
            "expected thompson, thompson-uniform, ucb1",
        ),
    ];
    let folder = Folder::new();
    for (arguments, expected) in cases {
        let out = folder.path("out");
        let mut all = vec!["perf", "--out", &out];
        all.extend(arguments);
        let said = run(&all);
        assert_eq!(said.status.code(), Some(2), "{arguments:?}: {}", text(&said));
        assert!(complaint(&said).contains(expected), "{arguments:?}: {}", complaint(&said));
    }
    let said = run(&["localize", "-s", "z3@5.4.0", "--out", &folder.path("out")]);
    assert_eq!(said.status.code(), Some(2));
    assert!(complaint(&said).contains("at least two"), "{}", complaint(&said));
}

/// A solver that burns so many milliseconds on scripts with a word, and answers sat.
fn slow(folder: &Folder, name: &str, word: &str, loops: u32) -> String {
    folder.program(
        name,
        &format!(
            "case $1 in --version) echo 'Z3 version 4.8.7 - 64 bit'; exit;; esac\n\
             for last; do :; done\n\
             if grep -q '{word}' \"$last\"; then i=0; while [ $i -lt {loops} ]; do i=$((i+1)); done; fi\n\
             grep -c check-sat \"$last\" | while read n; do while [ $n -gt 0 ]; do echo sat; n=$((n-1)); done; done"
        ),
    )
}

#[test]
fn a_slow_construct_is_found_confirmed_and_kept_and_a_session_goes_on() {
    let folder = Folder::new();
    let (target, reference) =
        (slow(&folder, "z3", "fp\\.", 100_000_000), slow(&folder, "other-z3", "nowhere", 1));
    let out = folder.path("out");
    let arguments = [
        "perf",
        "--target",
        &target,
        "--reference",
        &reference,
        "--logic",
        "QF_FP",
        "--timeout",
        "1",
        "--time",
        "4s",
        "--runs",
        "1",
        "--ratio",
        "5",
        "--reduce-time",
        "0",
        "--out",
        &out,
        "--json",
    ];
    let said = run(&arguments);
    assert_eq!(said.status.code(), Some(10), "{}", text(&said));
    let results: serde_json::Value = serde_json::from_slice(&said.stdout).expect("JSON");
    assert_eq!(results["methods"][0]["perfect_runs"], 1, "{results:#}");
    assert!(results["findings"][0]["ratio"].as_f64().is_some_and(|ratio| ratio >= 5.0), "{results:#}");
    for file in
        ["report.html", "cactus.svg", "curves.svg", "ranking.csv", "margins.csv", "suite/bandit-0.smt2"]
    {
        assert!(std::path::Path::new(&folder.path(&format!("out/{file}"))).is_file(), "{file} is missing");
    }
    let bugs: Vec<_> = std::fs::read_dir(folder.path("out/bugs")).expect("findings").flatten().collect();
    assert_eq!(bugs.len(), 1);
    let finding = bugs[0].path().join("finding.json");
    let read = || -> serde_json::Value {
        serde_json::from_slice(&std::fs::read(&finding).expect("a finding")).expect("JSON")
    };
    assert!(
        read()["blame"]["constructs"].as_array().is_some_and(|blamed| !blamed.is_empty()),
        "{:#}",
        read()
    );
    let bug = bugs[0].path().display().to_string();
    let marked = run(&["findings", "mark", &bug, "--as", "reported"]);
    assert_eq!(marked.status.code(), Some(0), "{}", text(&marked));
    let handled = read()["handling"].clone();
    assert!(handled.is_object(), "{:#}", read());
    let again = run(&arguments);
    assert_eq!(again.status.code(), Some(2), "{}", text(&again));
    assert!(complaint(&again).contains("--resume"), "{}", complaint(&again));
    let resumed = run(&[&arguments[..], &["--resume"]].concat());
    assert_eq!(resumed.status.code(), Some(10), "{}", text(&resumed));
    let same: serde_json::Value = serde_json::from_slice(&resumed.stdout).expect("JSON");
    assert_eq!(same["methods"], results["methods"], "a run that has ended is not made again");
    assert_eq!(same["findings"], results["findings"], "what was dealt with is not dealt with again");
    assert_eq!(read()["handling"], handled, "a person's mark stays");
    let bisected = run(&[&arguments[..], &["--resume", "--bisect"]].concat());
    assert_eq!(bisected.status.code(), Some(10), "{}", text(&bisected));
    let asked: serde_json::Value = serde_json::from_slice(&bisected.stdout).expect("JSON");
    let since = asked["findings"][0]["since"].as_str().expect("findings of before are put to other releases");
    assert!(read()["evidence"].to_string().contains(since), "{:#}", read());
    assert_eq!(read()["handling"], handled, "a person's mark stays");
    let other = folder.path("other");
    let state = folder.path("out/state.json");
    let refused = run(&[
        "perf",
        "--target",
        &target,
        "--reference",
        &reference,
        "--logic",
        "QF_BV",
        "--state",
        &state,
        "--out",
        &other,
    ]);
    assert_eq!(refused.status.code(), Some(2), "{}", text(&refused));
    assert!(complaint(&refused).contains("logic was \"QF_FP\", is \"QF_BV\""), "{}", complaint(&refused));
}

#[test]
fn without_a_logic_that_of_the_seeds_is_taken() {
    let folder = Folder::new();
    let (target, reference) = (slow(&folder, "z3", "fp\\.", 1), slow(&folder, "other-z3", "nowhere", 1));
    let seed = folder.path("seed.smt2");
    std::fs::write(&seed, "(set-logic QF_LIA)(declare-const x Int)(assert (< x 3))(check-sat)")
        .expect("written");
    let out = folder.path("out");
    let said = run(&[
        "perf",
        &seed,
        "--target",
        &target,
        "--reference",
        &reference,
        "--timeout",
        "1",
        "--time",
        "1s",
        "--runs",
        "1",
        "--out",
        &out,
        "--reduce-time",
        "0",
        "--json",
    ]);
    let results: serde_json::Value = serde_json::from_slice(&said.stdout).expect("JSON");
    assert_eq!(results["logic"], "QF_LIA", "{results:#}");
}

#[test]
fn references_that_never_come_to_an_end_are_complained_about() {
    let folder = Folder::new();
    let target = slow(&folder, "z3", "fp\\.", 100_000_000);
    let reference = slow(&folder, "other-z3", "fp\\.", 100_000_000);
    let out = folder.path("out");
    let said = run(&[
        "perf",
        "--target",
        &target,
        "--reference",
        &reference,
        "--timeout",
        "1",
        "--time",
        "3s",
        "--runs",
        "1",
        "--out",
        &out,
        "--weights",
        "Core=0",
    ]);
    assert_eq!(said.status.code(), Some(2), "{}", text(&said));
    assert!(complaint(&said).contains("came to no end within the limit of 1 s"), "{}", complaint(&said));
}

#[test]
fn real_solvers_are_measured_and_their_steps_counted() {
    if !testkit::have(&["z3@5.4.0", "z3@4.8.7"]) {
        return;
    }
    let folder = Folder::new();
    for score in ["cpu", "resource"] {
        let out = folder.path(score);
        let said = run(&[
            "perf",
            "--target",
            "z3@4.8.7",
            "--reference",
            "z3@5.4.0",
            "--logic",
            "QF_FP",
            "--score",
            score,
            "--timeout",
            "1",
            "--time",
            "4s",
            "--runs",
            "1",
            "--method",
            "bandit,evolutionary",
            "--reduce-time",
            "0",
            "--out",
            &out,
            "--json",
            "--vars",
            "2",
            "--assertions",
            "1",
            "--depth",
            "2",
        ]);
        assert!(matches!(said.status.code(), Some(0 | 10)), "{}", text(&said));
        let results: serde_json::Value = serde_json::from_slice(&said.stdout).expect("JSON");
        let methods = results["methods"].as_array().expect("methods");
        assert_eq!(methods.len(), 2);
        for method in methods {
            assert!(method["inputs"].as_u64() > Some(0), "{score}: {results:#}");
            assert!(method["margin"].is_f64(), "{score}: {results:#}");
            assert!(method["unusable"].as_u64() < method["inputs"].as_u64(), "{score}: {results:#}");
        }
    }
}

#[test]
fn localisation_blames_the_construct_on_which_a_solver_lies() {
    let folder = Folder::new();
    let liar = folder.program(
        "z3",
        "case $1 in --version) echo 'Z3 version 4.8.7 - 64 bit'; exit;; esac\n\
         for last; do :; done\n\
         if grep -q 'fp\\.rem' \"$last\"; then echo unsat; else echo sat; fi",
    );
    let honest = folder.liar("other-z3", "sat");
    let out = folder.path("out");
    let arguments = [
        "localize",
        "-s",
        &liar,
        "-s",
        &honest,
        "--logic",
        "QF_FP",
        "--inputs",
        "300",
        "--out",
        &out,
        "--json",
        "--ops",
        "fp.rem,fp.abs,fp.neg,fp.lt,fp.eq,fp.isNaN",
        "--weights",
        "fp.rem=0.02",
    ];
    let said = run(&arguments);
    let results: serde_json::Value = serde_json::from_slice(&said.stdout).expect("JSON");
    assert_eq!(results["inputs"], 300, "{results:#}");
    assert!(std::path::Path::new(&folder.path("out/state.json")).is_file());
    assert_eq!(said.status.code(), Some(10), "{results:#}");
    assert_eq!(results["ranking"][0]["construct"], "fp.rem", "{results:#}");
    let again = run(&arguments);
    assert_eq!(again.status.code(), Some(2), "{}", text(&again));
    assert!(complaint(&again).contains("--resume"), "{}", complaint(&again));
    let mut more = arguments.to_vec();
    more[8] = "340";
    more.push("--resume");
    let resumed = run(&more);
    let resumed: serde_json::Value = serde_json::from_slice(&resumed.stdout).expect("JSON");
    assert_eq!(resumed["inputs"], 340, "{resumed:#}");
    let pulls = |results: &serde_json::Value| -> u64 {
        let ranking = results["ranking"].as_array().expect("a ranking");
        ranking.iter().filter_map(|one| one["pulls"].as_u64()).sum()
    };
    assert!(pulls(&resumed) > pulls(&results), "counts go on");
    for file in ["results.json", "curve.csv", "ranking.csv", "report.html"] {
        assert!(std::path::Path::new(&folder.path(&format!("out/{file}"))).is_file(), "{file} is missing");
    }
    // The same in one go.
    let whole = folder.path("whole");
    let mut at_once = arguments.to_vec();
    (at_once[8], at_once[10]) = ("340", &whole);
    let at_once = run(&at_once);
    let at_once: serde_json::Value = serde_json::from_slice(&at_once.stdout).expect("JSON");
    assert_eq!(at_once["ranking"], resumed["ranking"], "a session that goes on is as one that was not cut");
}
