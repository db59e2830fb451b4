//! What users see of coverage: by file, by module, two sets side by side, and in campaigns.

mod common;

use std::path::Path;

use common::{run, shown, text};
use serde_json::Value;
use testkit::have;

const SOLVER: &str = "z3@4.8.7";

fn json(arguments: &[&str]) -> Value {
    let output = run(arguments);
    serde_json::from_slice(&output.stdout).unwrap_or_else(|error| panic!("{error}: {}", text(&output)))
}

fn number(value: &Value) -> u64 {
    value.as_u64().unwrap_or_else(|| panic!("{value} is no number"))
}

/// Two scripts of different theories.
fn scripts(folder: &Path) -> [String; 2] {
    let write = |name: &str, script: &str| {
        let path = folder.join(name);
        std::fs::write(&path, script).expect("written");
        shown(&path)
    };
    [
        write("lia.smt2", "(set-logic QF_LIA)\n(declare-fun x () Int)\n(assert (> x 3))\n(check-sat)\n"),
        write(
            "strings.smt2",
            "(set-logic ALL)\n(declare-fun s () String)\n(assert (= (str.len s) 3))\n\
             (assert (str.contains s \"ab\"))\n(check-sat)\n",
        ),
    ]
}

#[test]
fn several_jobs_reach_the_same_and_a_saved_set_is_no_script() {
    if !have(&[SOLVER]) {
        return;
    }
    let place = tempfile::tempdir().expect("a folder");
    let [lia, strings] = scripts(place.path());
    let set = shown(&place.path().join("both.cov"));
    let one = json(&["solvers", "coverage", "-s", SOLVER, &lia, &strings, "--save", &set, "--json"]);
    let two = json(&["solvers", "coverage", "-s", SOLVER, &lia, &strings, "--jobs", "2", "--json"]);
    assert_eq!(two["files"].as_array().map(Vec::len), Some(2));
    let added =
        json(&["solvers", "coverage", "-s", SOLVER, &lia, &strings, "-j", "2", "--add", &set, "--json"]);
    assert_eq!(added["blocks_reached"], one["blocks_reached"], "nothing beyond what one job reaches");
    assert_eq!(two["functions_reached"], one["functions_reached"]);
    let refused = run(&["solvers", "coverage", "-s", SOLVER, &set]);
    assert!(!refused.status.success() && text(&refused).contains("--add"), "{}", text(&refused));
}

#[test]
fn files_reach_code_by_module_and_sets_can_be_united_and_compared() {
    if !have(&[SOLVER]) {
        return;
    }
    let place = tempfile::tempdir().expect("a folder");
    let [lia, strings] = scripts(place.path());
    let set = shown(&place.path().join("lia.cov"));
    let first = json(&["solvers", "coverage", "-s", SOLVER, &lia, "--save", &set, "--json"]);
    assert!(number(&first["functions_reached"]) > 500 && number(&first["blocks_reached"]) > 5000, "{first}");
    assert!(number(&first["functions"]) > 10_000 && first["covered_text"].as_f64() > Some(0.9));

    let again = json(&["solvers", "coverage", "-s", SOLVER, &lia, &strings, "--add", &set, "--json"]);
    assert_eq!(number(&again["files"][0]["blocks"]), 0, "all of it is in the set");
    assert!(number(&again["files"][1]["blocks"]) > 500);
    let modules = again["modules"].as_array().expect("modules");
    let of = |name: &str| modules.iter().find(|module| module["module"] == name).expect("a module");
    assert!(number(&of("smt::theory_seq")["blocks_reached"]) > 0);
    assert_eq!(
        number(&of("smt::theory_str")["blocks_reached"]),
        0,
        "the other solver for strings is not asked"
    );

    let compared = json(&["solvers", "coverage", "-s", SOLVER, "--compare", &set, &strings, "--json"]);
    let only = compared["only"][1]["functions"].as_array().expect("functions");
    assert!(only.iter().any(|function| function[0] == "smt::theory_seq"), "{only:?}");

    let traced = json(&["solvers", "coverage", "-s", SOLVER, &lia, "--trace", "functions", "--json"]);
    let functions = traced["files"][0]["trace"].as_array().expect("a trace");
    assert!(functions.iter().any(|function| function == "cmd_context::check_sat"), "{functions:?}");
}

#[test]
fn a_set_of_another_binary_and_a_program_that_cannot_be_watched_are_refused() {
    if !have(&[SOLVER]) {
        return;
    }
    let place = tempfile::tempdir().expect("a folder");
    let [lia, _] = scripts(place.path());
    let other = place.path().join("other.cov");
    std::fs::write(&other, r#"{"solver": "x", "files": [{"name": "x", "sha256": "0", "reached": [1]}]}"#)
        .expect("written");
    let refused = run(&["solvers", "coverage", "-s", SOLVER, &lia, "--add", &shown(&other)]);
    assert_eq!(refused.status.code(), Some(2), "{}", text(&refused));
    assert!(text(&refused).contains("other binaries"), "{}", text(&refused));
    let script = shown(&testkit::program(place.path(), "z3", "echo sat"));
    let refused = run(&["solvers", "coverage", "-s", &script, &lia]);
    assert_eq!(refused.status.code(), Some(4), "{}", text(&refused));
    assert!(text(&refused).contains("it is a script"), "{}", text(&refused));
}

#[test]
fn a_campaign_tells_what_it_has_reached_and_goes_on_from_there() {
    if !have(&[SOLVER]) {
        return;
    }
    let place = tempfile::tempdir().expect("a folder");
    let [lia, _] = scripts(place.path());
    let out = shown(&place.path().join("out"));
    let common = ["fuzz", "--jobs", "1", "--iterations", "40", "--json", "--out"];
    let own = [&out, &lia, "-s", SOLVER, "--engine", "opfuzz", "--rng-seed", "5"];
    let first = json(&[&common[..], &own[..]].concat());
    let blocks = |summary: &Value| number(&summary["coverage"][0]["blocks"]);
    assert_eq!(first["coverage"][0]["solver"], SOLVER);
    assert!(blocks(&first) > 5000 && number(&first["coverage"][0]["functions"]) > 500, "{first}");
    let set = shown(&place.path().join("out").join(format!("{SOLVER}.cov")));
    let read = json(&["solvers", "coverage", "-s", SOLVER, "--add", &set, "--json"]);
    assert_eq!(number(&read["blocks_reached"]), blocks(&first));

    let resumed = json(&[&common[..], &[&out, "--resume"]].concat());
    assert!(blocks(&resumed) >= blocks(&first), "{resumed}");

    let unwatched = shown(&place.path().join("unwatched"));
    let own = [&unwatched, &lia, "-s", SOLVER, "--engine", "opfuzz", "--no-coverage"];
    let unwatched = json(&[&common[..], &own[..]].concat());
    assert_eq!(unwatched["coverage"], Value::Array(Vec::new()));
}
