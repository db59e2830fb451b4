//! Solvers given by path, and campaigns that go on: who a program is, and what is counted when.

mod common;

use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

use common::{run, shown, text};
use serde_json::Value;
use testkit::have;

/// Mutants keep showing what Z3 4.8.7 has wrong here: it takes the multiplication for one that overflows.
const SEED: &str = "(set-logic ALL)\n(declare-const p Bool)\n(declare-const q Bool)\n\
    (assert (bvsmul_noovfl #b100111100110100011001001101011000 #b010010000100100011011100000100000))\n\
    (assert (or p q (and p q)))\n(assert (or (not p) q (xor p q)))\n(check-sat)\n";

/// A build of Z3 that gives this answer to every script with an assertion.
fn build(place: &Path, answer: &str) -> PathBuf {
    let folder = place.join("my build");
    std::fs::create_dir_all(&folder).expect("made");
    let path = folder.join("z3");
    let text = format!(
        "#!/bin/sh\n[ \"$1\" = --version ] && echo 'Z3 version 5.4.0 - 64 bit' && exit\nfor file; do :; done\n\
         if grep -q assert \"$file\"; then echo {answer}; else echo sat; fi\n"
    );
    std::fs::write(&path, text).expect("written");
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o755)).expect("executable");
    path
}

fn seed(place: &Path, text: &str) -> String {
    let path = place.join("seed.smt2");
    std::fs::write(&path, text).expect("written");
    shown(&path)
}

fn json(output: &std::process::Output) -> Value {
    serde_json::from_slice(&output.stdout).unwrap_or_else(|error| panic!("{error}: {}", text(output)))
}

#[test]
fn a_program_given_by_path_is_that_program_and_no_release_of_the_same_version() {
    if !have(&["z3@5.4.0"]) {
        return;
    }
    let place = tempfile::tempdir().expect("a folder");
    let path = build(place.path(), "unsat");
    let seed =
        seed(place.path(), "(set-logic QF_LIA)\n(declare-const x Int)\n(assert (> x 3))\n(check-sat)\n");
    let out = shown(&place.path().join("out"));
    let spec = format!("'{}'", path.display());
    let begin = ["fuzz", &seed, "-s", &spec, "--reference", "z3@5.4.0", "--engine", "seed,opfuzz"];
    let begun = run(&[&begin[..], &["--iterations", "20", "--reduce-all", "--json", "--out", &out]].concat());
    assert_eq!(begun.status.code(), Some(10), "{}", text(&begun));
    let summary = json(&begun);
    let folder = summary["findings"][0]["folder"].as_str().expect("a finding");
    let finding = shown(&Path::new(&out).join("bugs").join(folder));
    let stored = std::fs::read(Path::new(&finding).join("finding.json")).expect("readable");
    let stored: Value = serde_json::from_slice(&stored).expect("JSON");
    assert_eq!(stored["runs"][0]["solver"], shown(&path));
    assert_eq!(stored["runs"][0]["version"], "5.4.0");
    assert_eq!(stored["runs"][0]["sha256"].as_str().map(str::len), Some(64));
    let report = std::fs::read_to_string(Path::new(&finding).join("report.md")).expect("a report");
    let hash = stored["runs"][0]["sha256"].as_str().expect("a hash");
    assert!(report.contains(&format!("the program '{}', SHA-256 {hash}", path.display())), "{report}");
    // The release of that version, which is installed too, has no such bug.
    let again = run(&["replay", &finding]);
    assert_eq!(again.status.code(), Some(10), "{}", text(&again));
    let reduced = run(&["reduce", &finding, "--time", "20"]);
    assert_eq!(reduced.status.code(), Some(0), "{}", text(&reduced));

    build(place.path(), "sat");
    let mended = run(&["replay", &finding]);
    assert_eq!(mended.status.code(), Some(0), "{}", text(&mended));
    assert!(text(&mended).contains("has changed since then"), "{}", text(&mended));
    let resumed = run(&["fuzz", "--resume", "--iterations", "5", "--out", &out]);
    assert_eq!(resumed.status.code(), Some(2), "{}", text(&resumed));
    assert!(text(&resumed).contains("sha256"), "{}", text(&resumed));
}

#[test]
fn a_campaign_goes_on_with_nothing_but_its_folder() {
    if !have(&["z3@4.8.7", "z3@5.4.0"]) {
        return;
    }
    let place = tempfile::tempdir().expect("a folder");
    let seed = seed(place.path(), SEED);
    let out = shown(&place.path().join("out"));
    let settings = ["--engine", "opfuzz", "--timeout", "3", "--memory", "512", "--options", "none"];
    let solvers = ["-s", "z3@4.8.7", "--reference", "z3@5.4.0"];
    let begin = ["fuzz", &seed, "--iterations", "6", "--json", "--out", &out];
    let begun = run(&[&begin[..], &settings[..], &solvers[..]].concat());
    assert!(matches!(begun.status.code(), Some(0 | 10)), "{}", text(&begun));
    let resumed = run(&["fuzz", "--resume", "--iterations", "7", "--json", "--out", &out]);
    assert!(matches!(resumed.status.code(), Some(0 | 10)), "{}", text(&resumed));
    let (first, second) = (json(&begun), json(&resumed));
    assert_eq!(first["rng_seed"], second["rng_seed"]);
    assert_eq!((&second["tests"], &second["run"]["tests"]), (&7.into(), &7.into()));
    assert_eq!(second["totals"]["tests"], 13);
    let runs = |totals: &Value| totals["runs"]["test"]["runs"].as_u64().expect("a count");
    assert_eq!(runs(&first["run"]) + runs(&second["run"]), runs(&second["totals"]));
    // What is said again may be written in another way, but must not differ.
    let folder = format!("{}/", place.path().display());
    let other = run(&["fuzz", &folder, "--resume", "--iterations", "1", "--out", &out]);
    assert_eq!(other.status.code(), Some(2), "{}", text(&other));
    let same =
        run(&["fuzz", &seed.replace("/seed", "//./seed"), "--resume", "--iterations", "1", "--out", &out]);
    assert!(matches!(same.status.code(), Some(0 | 10)), "{}", text(&same));
    let other = run(&["fuzz", "--resume", "--memory", "600", "--out", &out]);
    assert_eq!(other.status.code(), Some(2), "{}", text(&other));
    assert!(text(&other).contains("--memory 512 then, --memory 600 now"), "{}", text(&other));
}

#[test]
fn the_campaign_ends_at_the_number_of_findings_the_user_wants_and_the_rest_waits() {
    if !have(&["z3@4.8.7", "z3@5.4.0"]) {
        return;
    }
    let place = tempfile::tempdir().expect("a folder");
    let seed = seed(place.path(), SEED);
    let out = place.path().join("out");
    let begin = ["fuzz", &seed, "-s", "z3@4.8.7", "--reference", "z3@5.4.0", "--engine", "opfuzz"];
    let more = ["--stop-after", "1", "--iterations", "400", "--json", "--out", &shown(&out)];
    let ended = run(&[&begin[..], &more[..]].concat());
    assert_eq!(ended.status.code(), Some(10), "{}", text(&ended));
    let summary = json(&ended);
    assert_eq!(summary["findings"].as_array().map(Vec::len), Some(1), "{summary}");
    let folders = || std::fs::read_dir(out.join("bugs")).expect("a folder").count() as u64;
    assert_eq!(summary["pending"].as_u64().expect("a count") + 1, folders());
    // All that waits is told apart in the end, and list and summary agree.
    let all =
        run(&["fuzz", "--resume", "--reduce-all", "--iterations", "1", "--json", "--out", &shown(&out)]);
    let summary = json(&all);
    assert_eq!(summary["pending"], 0, "{summary}");
    assert_eq!(summary["findings"].as_array().map(Vec::len), Some(folders() as usize), "{summary}");
    for finding in std::fs::read_dir(out.join("bugs")).expect("a folder") {
        let file = finding.expect("an entry").path().join("finding.json");
        let finding: Value = serde_json::from_slice(&std::fs::read(file).expect("readable")).expect("JSON");
        assert_ne!(finding["stage"]["name"], "pending");
    }
}

#[test]
fn a_solver_that_takes_seconds_to_start_is_not_broken() {
    let place = tempfile::tempdir().expect("a folder");
    let seed = seed(place.path(), "(declare-const x Int)\n(assert (> x 3))\n(check-sat)\n");
    // Longer than any test case may take: such builds are for those who give `--timeout`.
    let slow = testkit::program(place.path(), "slow", "sleep 3; echo sat");
    let out = shown(&place.path().join("out"));
    let output = run(&["fuzz", &seed, "-s", &shown(&slow), "--iterations", "1", "--json", "--out", &out]);
    assert_eq!(output.status.code(), Some(0), "{}", text(&output));
    assert_eq!(json(&output)["tests"], 1);
}

#[test]
fn a_solver_that_stops_whoever_runs_it_only_loses_its_own_time() {
    let place = tempfile::tempdir().expect("a folder");
    let seed = seed(place.path(), "(declare-const x Int)\n(assert (> x 3))\n(check-sat)\n");
    let body = "for file; do :; done\nif grep -q assert \"$file\"; then kill -STOP $PPID; sleep 600; else echo sat; fi";
    let stopping = testkit::program(place.path(), "stopping", body);
    let out = shown(&place.path().join("out"));
    let limits = ["--iterations", "2", "--timeout", "0.5", "--json", "--out", &out];
    let output =
        run(&[&["fuzz", &seed, "-s", &shown(&stopping), "--engine", "seed,opfuzz"], &limits[..]].concat());
    assert_eq!(output.status.code(), Some(0), "{}", text(&output));
    let summary = json(&output);
    assert_eq!((&summary["tests"], &summary["findings"]), (&2.into(), &serde_json::json!([])), "{summary}");
}
