//! Findings as bugs: grouped, merged and split by hand, and known to later campaigns.

mod common;

use std::path::Path;

use common::{Folder, run, text};
use serde_json::Value;
use testkit::have;

/// A build of Z3 that refutes whatever has a remainder or a length in it.
const WRONG: &str = "[ \"$1\" = --version ] && echo 'Z3 version 5.4.0 - 64 bit' && exit\nfor file; do :; done\n\
    if grep -q '(mod \\|(str.len ' \"$file\"; then echo unsat; else echo sat; fi";

const REMAINDER: &str = "(declare-const x Int)\n(assert (= (mod x 5) 2))\n(check-sat)\n";
const LENGTH: &str = "(declare-const s String)\n(assert (= (str.len s) 3))\n(check-sat)\n";

fn bugs(out: &str) -> Vec<Value> {
    let listed = run(&["findings", out, "--group", "--json"]);
    let lines = String::from_utf8(listed.stdout).expect("UTF-8");
    lines.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect()
}

/// That build, and a seed for each of its bugs.
fn two_bugs(place: &Folder) -> (String, [String; 2]) {
    let seeds = [place.file("remainder.smt2", REMAINDER), place.file("length.smt2", LENGTH)];
    (format!("'{}'", place.program("z3", WRONG)), seeds)
}

fn folder(bug: &Value) -> String {
    bug["example"]["folder"].as_str().expect("a folder").to_owned()
}

#[test]
fn two_bugs_are_two_until_a_person_says_otherwise_and_known_ones_are_not_told_again() {
    if !have(&["z3@5.4.0"]) {
        return;
    }
    let place = Folder::new();
    let (solver, seeds) = two_bugs(&place);
    let out = place.path("out");
    let campaign = |out: &str, more: &[&str]| {
        let words =
            ["fuzz", &seeds[0], &seeds[1], "-s", &solver, "--reference", "z3@5.4.0", "--engine", "seed"];
        let rest = ["--iterations", "2", "--jobs", "1", "--reduce-all", "--out", out];
        run(&[&words[..], &rest, more].concat())
    };
    let begun = campaign(&out, &[]);
    assert_eq!(begun.status.code(), Some(10), "{}", text(&begun));
    let found = bugs(&out);
    let [one, other] = &found[..] else { panic!("{found:?}") };
    for bug in [one, other] {
        let blamed = &bug["example"]["blame"]["constructs"][0]["construct"];
        assert!(["mod", "str.len"].contains(&blamed.as_str().expect("something is to blame")), "{bug}");
        let report = Path::new(&folder(bug)).join("report.md");
        assert!(std::fs::read_to_string(report).expect("a report").contains("## What it needs"));
    }

    let merged = run(&["findings", "merge", &folder(one), &folder(other)]);
    assert_eq!(merged.status.code(), Some(0), "{}", text(&merged));
    let together = bugs(&out);
    assert_eq!(together.len(), 1, "{together:?}");
    assert_eq!(together[0]["faces"].as_array().map(Vec::len), Some(1));
    let reported = || std::fs::read_to_string(Path::new(&folder(other)).join("report.md")).expect("a report");
    assert!(reported().contains("It is most likely the bug of"), "{}", reported());
    let again = run(&["findings", "merge", &folder(one), &folder(other)]);
    assert!(text(&again).contains("nothing has changed"), "{}", text(&again));
    let split = run(&["findings", "split", &folder(other)]);
    assert_eq!(split.status.code(), Some(0), "{}", text(&split));
    assert_eq!(bugs(&out).len(), 2);
    assert!(!reported().contains("It is most likely the bug of"), "{}", reported());

    let later = place.path("later");
    let again = campaign(&later, &["--known", &folder(one)]);
    assert_eq!(again.status.code(), Some(10), "{}", text(&again));
    assert_eq!(bugs(&later).len(), 1, "{}", text(&again));
    let nothing = campaign(&place.path("nothing"), &["--known", &out]);
    assert_eq!(nothing.status.code(), Some(0), "{}", text(&nothing));
}

#[test]
fn a_wrong_model_of_a_script_without_models_is_a_wrong_answer() {
    if !have(&["cvc4@1.8", "z3@5.4.0"]) {
        return;
    }
    let place = Folder::new();
    let seed = place.file(
        "seed.smt2",
        "(declare-const a String)\n(assert (str.in_re a (re.* (re.union (str.to_re \"A\") (str.to_re a)))))\n\
         (assert (not (str.in_re a (re.* (re.comp re.none)))))\n(check-sat)\n",
    );
    let out = place.path("out");
    // Nobody but the accused runs the test case: others are asked when its model turns out wrong.
    let words = ["fuzz", &seed, "-s", "cvc4@1.8", "--engine", "seed", "--iterations", "1", "--reduce-all"];
    let found = run(&[&words[..], &["--jobs", "1", "--out", &out]].concat());
    assert_eq!(found.status.code(), Some(10), "{}", text(&found));
    let found = bugs(&out);
    let [bug] = &found[..] else { panic!("{found:?}") };
    assert_eq!(bug["example"]["kind"], "solution-soundness", "{bug}");
    let report = std::fs::read_to_string(Path::new(&folder(bug)).join("report.md")).expect("a report");
    assert!(report.contains("its model is wrong"), "{report}");
}

#[test]
fn a_file_that_lists_no_bugs_is_not_taken_for_a_list_of_known_ones() {
    if !have(&["z3@5.4.0"]) {
        return;
    }
    let place = Folder::new();
    let list = place.file("list.txt", "# Known\n0123456789ab\n(check-sat)\n");
    let out = place.path("out");
    let words =
        ["fuzz", "-s", "z3@5.4.0", "--iterations", "1", "--jobs", "1", "--out", &out, "--known", &list];
    let refused = run(&words);
    assert_eq!(refused.status.code(), Some(2), "{}", text(&refused));
    assert!(text(&refused).contains("list.txt', line 3: expected a signature"), "{}", text(&refused));
    std::fs::write(&list, "# Known\n0123456789ab\n").expect("written");
    assert_eq!(run(&words).status.code(), Some(0));
}

#[test]
fn what_is_no_finding_can_be_neither_merged_nor_split() {
    let place = Folder::new();
    let nothing = run(&["findings", "merge", place.all(), place.all()]);
    assert_eq!(nothing.status.code(), Some(2), "{}", text(&nothing));
    let alone = run(&["findings", "merge", place.all()]);
    assert_eq!(alone.status.code(), Some(2), "{}", text(&alone));
    let missing = run(&["findings", "split", &place.path("none")]);
    assert_eq!(missing.status.code(), Some(2), "{}", text(&missing));
}

#[test]
fn help_tells_how_large_seeds_may_be_and_when_a_campaign_repeats() {
    let help = text(&run(&["fuzz", "--help"]));
    assert!(help.contains("200 kB") && help.contains("repeats exactly"), "{help}");
}

#[test]
fn a_pending_finding_is_marked_in_the_list() {
    if !have(&["z3@5.4.0"]) {
        return;
    }
    let place = Folder::new();
    let (solver, seeds) = two_bugs(&place);
    let out = place.path("out");
    let words = ["fuzz", &seeds[0], &seeds[1], "-s", &solver, "--reference", "z3@5.4.0", "--engine", "seed"];
    // It ends with the first bug, and what is found beside it waits.
    let rest = ["--iterations", "2", "--jobs", "2", "--stop-after", "1", "--out", &out];
    let begun = run(&[&words[..], &rest].concat());
    assert_eq!(begun.status.code(), Some(10), "{}", text(&begun));
    // One waits in any case, however fast the machine is.
    let all = Path::new(&out).join("bugs");
    let found = std::fs::read_dir(&all).expect("findings").next().expect("one").expect("a folder").path();
    let json = std::fs::read_to_string(found.join("finding.json")).expect("a finding");
    let mut waiting: Value = serde_json::from_str(&json).expect("JSON");
    waiting["stage"] = serde_json::json!({ "name": "pending", "input": "waits", "process": 1 });
    let beside = all.join("refutation-soundness-z3-0123456789ab");
    std::fs::create_dir(&beside).expect("made");
    std::fs::write(beside.join("finding.json"), waiting.to_string()).expect("written");
    let listed = text(&run(&["findings", &out]));
    let folders = std::fs::read_dir(&all).expect("findings").count();
    assert_eq!(listed.matches("(pending: ").count(), folders - 1, "{listed}");
    // Nobody knows yet whether what waits is a bug of its own.
    let grouped = text(&run(&["findings", &out, "--group"]));
    assert_eq!(grouped.matches("  bug ").count(), 1, "{grouped}");
    let counted = format!("{} finding", folders - 1);
    let line = grouped.lines().find(|line| line.contains("pending, neither reduced nor told apart yet"));
    assert!(line.is_some_and(|line| line.starts_with(&counted)), "{grouped}");
    let told: Vec<Value> = bugs(&out).into_iter().filter(|line| line["bug"].is_null()).collect();
    let [told] = &told[..] else { panic!("{told:?}") };
    assert_eq!(told["pending"], folders - 1, "{told}");
    assert_eq!(told["findings"].as_array().map(Vec::len), Some(folders - 1), "{told}");
}

#[test]
fn a_finding_that_cannot_be_read_is_not_nothing() {
    let place = Folder::new();
    let out = place.path("out");
    let bug = Path::new(&out).join("bugs/crash-z3-5.4.0-0123456789ab");
    std::fs::create_dir_all(&bug).expect("a folder");
    std::fs::write(bug.join("finding.json"), "{").expect("written");
    let listed = run(&["findings", &out]);
    assert_eq!(listed.status.code(), Some(2), "{}", text(&listed));
    let missing = text(&run(&["replay", &place.path("none")]));
    assert!(missing.contains("none") && !missing.contains("finding.json"), "{missing}");
}
