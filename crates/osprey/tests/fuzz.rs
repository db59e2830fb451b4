//! Campaigns as users run them: real solvers, real folders. Without network and with an empty cache the tests that need
//! solvers are skipped, or fail: see `testkit::skip`.

mod common;

use std::collections::BTreeMap;
use std::path::Path;
use std::process::Stdio;
use std::time::{Duration, Instant};

use common::{osprey, run, shown, text};
use testkit::have;

/// Two releases of one solver: small and quick to start.
const PAIR: [&str; 4] = ["-s", "z3@4.8.7", "-s", "z3@5.4.0"];

/// Test cases of a log by round and step.
fn tests_of(log: &Path) -> BTreeMap<(u64, u64), String> {
    let mut found = BTreeMap::new();
    for line in std::fs::read_to_string(log).expect("a log").lines() {
        let line: serde_json::Value = serde_json::from_str(line).expect("JSON");
        if line["event"] == "test" {
            let key = (line["round"].as_u64().expect("a round"), line["step"].as_u64().expect("a step"));
            found.insert(key, line["script"].as_str().expect("a hash").to_owned());
        }
    }
    found
}

#[test]
fn the_same_rng_seed_makes_the_same_test_cases_on_any_number_of_workers() {
    if !have(&["z3@4.8.7", "z3@5.4.0"]) {
        return;
    }
    let place = tempfile::tempdir().expect("a folder");
    let mut all = Vec::new();
    for jobs in ["1", "2"] {
        let out = shown(&place.path().join(jobs));
        let log = place.path().join(format!("{jobs}.jsonl"));
        let common =
            ["--engine", "generate", "--iterations", "60", "--rng-seed", "7", "--logic", "QF_LIA,QF_BV"];
        let own = ["fuzz", "--jobs", jobs, "--out", &out, "--log", log.to_str().expect("UTF-8")];
        // What is reached may depend on addresses, and what is learned on that.
        let output = run(&[&own[..], &common[..], &["--no-coverage"], &PAIR[..]].concat());
        assert!(matches!(output.status.code(), Some(0 | 10)), "{}", text(&output));
        all.push(tests_of(&log));
    }
    let common: Vec<_> = all[0].keys().filter(|key| all[1].contains_key(*key)).collect();
    assert!(common.len() >= 20, "{} test cases in common", common.len());
    assert!(common.iter().all(|key| all[0][*key] == all[1][*key]));
}

#[test]
fn a_killed_campaign_loses_no_finding_and_resumes_with_what_it_learned() {
    if !have(&["z3@4.8.7", "z3@5.4.0"]) {
        return;
    }
    let place = tempfile::tempdir().expect("a folder");
    let out = place.path().join("out");
    // Z3 4.8.7 takes this multiplication for one that overflows; mutants of the rest keep showing it.
    let seed = place.path().join("seed.smt2");
    let text_of_seed = "(set-logic ALL)\n(declare-const p Bool)\n(declare-const q Bool)\n\
        (assert (bvsmul_noovfl #b100111100110100011001001101011000 #b010010000100100011011100000100000))\n\
        (assert (or p q (and p q)))\n(assert (or (not p) q (xor p q)))\n(check-sat)\n";
    std::fs::write(&seed, text_of_seed).expect("written");
    let seed = shown(&seed);
    let common = ["fuzz", &seed, "--engine", "opfuzz", "--rng-seed", "3", "--out"];
    let mut first = osprey(&[&common[..], &[&shown(&out)], &PAIR[..]].concat())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .expect("osprey starts");
    // Until something was found, or long enough that nothing will be.
    let patience = Instant::now() + Duration::from_secs(60);
    let found = |out: &Path| {
        let entries = std::fs::read_dir(out.join("bugs")).into_iter().flatten().flatten();
        let mut names: Vec<String> =
            entries.map(|entry| entry.file_name().to_string_lossy().into_owned()).collect();
        names.retain(|name| !name.starts_with('.'));
        names.sort();
        names
    };
    while found(&out).is_empty() && Instant::now() < patience {
        std::thread::sleep(Duration::from_millis(100));
    }
    first.kill().expect("killed");
    first.wait().expect("gone");
    let before = found(&out);
    assert!(!before.is_empty(), "nothing was found");
    for name in &before {
        for file in ["input.smt2", "finding.json", "report.md", "repro.sh"] {
            assert!(out.join("bugs").join(name).join(file).is_file(), "{name} lacks {file}");
        }
    }
    // What was not made small yet at the kill gets its name afterwards, maybe together with others of the same bug.
    let waiting: Vec<bool> = before
        .iter()
        .map(|name| {
            let file = std::fs::read(out.join("bugs").join(name).join("finding.json")).expect("readable");
            let finding: serde_json::Value = serde_json::from_slice(&file).expect("JSON");
            finding["stage"]["name"] == "pending"
        })
        .collect();
    let other = run(&[&common[..], &[&shown(&out)], &PAIR[..], &["--iterations", "1"]].concat());
    assert_eq!(other.status.code(), Some(2));
    assert!(text(&other).contains("--resume"), "{}", text(&other));
    let different = ["fuzz", &seed, "--engine", "opfuzz", "--rng-seed", "4", "--resume", "--out"];
    let refused = run(&[&different[..], &[&shown(&out)], &PAIR[..]].concat());
    assert_eq!(refused.status.code(), Some(2));
    assert!(text(&refused).contains("--rng-seed 3 then, --rng-seed 4 now"), "{}", text(&refused));
    let more = ["--resume", "--iterations", "5", "--json"];
    let resume = || run(&[&common[..], &[&shown(&out)], &PAIR[..], &more[..]].concat());
    resume();
    let resumed = resume();
    let summary: serde_json::Value = serde_json::from_slice(&resumed.stdout).expect("JSON");
    let listed: Vec<&str> = summary["findings"]
        .as_array()
        .expect("a list")
        .iter()
        .filter_map(|known| known["folder"].as_str())
        .collect();
    let kept = |name: &String, waiting: bool| match waiting {
        false => listed.contains(&name.as_str()),
        true => listed.iter().any(|other| other.starts_with("refutation-soundness-z3-4.8.7-")),
    };
    assert!(
        before.iter().zip(&waiting).all(|(name, waiting)| kept(name, *waiting)),
        "{before:?} against {listed:?}"
    );
    assert!(
        summary["totals"]["tests"].as_u64() >= Some(10),
        "earlier tests count: {}",
        summary["totals"]["tests"]
    );
    assert_eq!(resumed.status.code(), Some(if listed.is_empty() { 0 } else { 10 }));
    for name in &listed {
        let finding = shown(&out.join("bugs").join(name));
        let original = run(&["replay", "--original", &finding]);
        assert_eq!(original.status.code(), Some(0), "{}", text(&original));
        let again = run(&["replay", &finding]);
        assert_eq!(again.status.code(), Some(10), "{}", text(&again));
    }
}

#[test]
fn bad_seeds_are_told_and_none_at_all_is_an_error() {
    let place = tempfile::tempdir().expect("a folder");
    let empty = place.path().join("empty");
    std::fs::create_dir(&empty).expect("made");
    let output = run(&["fuzz", &shown(&empty)]);
    assert_eq!(output.status.code(), Some(2));
    assert!(text(&output).contains("holds no .smt2 file"), "{}", text(&output));

    let bad = place.path().join("bad");
    std::fs::create_dir(&bad).expect("made");
    std::fs::write(bad.join("a.smt2"), "(declare-const x Int)\n(assert (foo x)").expect("written");
    std::fs::write(bad.join("huge.smt2"), vec![b' '; 300_000]).expect("written");
    let output = run(&["fuzz", &shown(&bad)]);
    assert_eq!(output.status.code(), Some(2));
    assert!(text(&output).contains("a.smt2:2:"), "{}", text(&output));
    assert!(text(&output).contains("none of the 2 seed files can be used"), "{}", text(&output));

    if !have(&["z3@4.8.7", "z3@5.4.0"]) {
        return;
    }
    std::fs::write(bad.join("good.smt2"), "(declare-const x Int)\n(assert (> (* x x) 3))\n(check-sat)\n")
        .expect("written");
    let out = shown(&place.path().join("out"));
    let output =
        run(&[&["fuzz", &shown(&bad), "--out", &out, "--iterations", "20", "--json"], &PAIR[..]].concat());
    assert!(matches!(output.status.code(), Some(0 | 10)), "{}", text(&output));
    let summary: serde_json::Value = serde_json::from_slice(&output.stdout).expect("JSON");
    assert_eq!(summary["rejected_seeds"], 2);
    assert_eq!(summary["tests"], 20);
}

#[test]
fn what_cannot_be_asked_for_is_a_usage_error_that_says_what_can() {
    let place = tempfile::tempdir().expect("a folder");
    let out = shown(&place.path().join("out"));
    for (arguments, expected) in [
        (vec!["--time", "soon"], "expected for example 60"),
        (vec!["--options", "wild"], "default, fair, random, learned"),
        (vec!["--resume"], "holds no campaign to resume"),
    ] {
        let output = run(&[&["fuzz", "--out", &out, "-s", "/bin/cat"], &arguments[..]].concat());
        assert_eq!(output.status.code(), Some(2), "{}", text(&output));
        assert!(text(&output).contains(expected), "{}", text(&output));
    }
}

#[test]
fn a_solver_that_cannot_run_ends_the_campaign_before_it_starts() {
    let place = tempfile::tempdir().expect("a folder");
    let out = shown(&place.path().join("out"));
    let output = run(&["fuzz", "--out", &out, "-s", "/bin/true", "-s", "/bin/true"]);
    assert_eq!(output.status.code(), Some(4), "{}", text(&output));
    assert!(text(&output).contains("cannot be run"), "{}", text(&output));
}

#[test]
fn a_folder_that_cannot_be_written_is_a_disk_error() {
    if !have(&["z3@4.8.7", "z3@5.4.0"]) {
        return;
    }
    let output = run(&[&["fuzz", "--out", "/proc/no-such-place", "--iterations", "1"], &PAIR[..]].concat());
    assert_eq!(output.status.code(), Some(5), "{}", text(&output));
}

#[test]
fn a_second_process_joins_a_campaign_and_everything_adds_up() {
    if !have(&["z3@4.8.7", "z3@5.4.0"]) {
        return;
    }
    let place = tempfile::tempdir().expect("a folder");
    let out = shown(&place.path().join("out"));
    let log = |name: &str| shown(&place.path().join(name));
    let lonely = run(&["worker", "--store", &out]);
    assert_eq!(lonely.status.code(), Some(2), "{}", text(&lonely));
    assert!(text(&lonely).contains("no campaign is running"), "{}", text(&lonely));

    let arguments = ["fuzz", "--jobs", "1", "--time", "12", "--rng-seed", "5", "--json", "--out"];
    let owner = osprey(&[&arguments[..], &[&out, "--log", &log("owner")], &PAIR[..]].concat())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .expect("a campaign");
    // Until its store is made there is nothing to resume.
    let begun = Instant::now();
    let second = loop {
        let second = run(&[&["fuzz", "--resume", "--rng-seed", "5", "--out", &out], &PAIR[..]].concat());
        if !text(&second).contains("no campaign to resume") || begun.elapsed() > Duration::from_secs(60) {
            break second;
        }
        std::thread::sleep(Duration::from_millis(50));
    };
    assert_eq!(second.status.code(), Some(2), "{}", text(&second));
    assert!(text(&second).contains("in use by another campaign"), "{}", text(&second));
    let helper = run(&["worker", "--store", &out, "--jobs", "1", "--json", "--log", &log("helper")]);
    let owner = owner.wait_with_output().expect("it ends");
    let summary = |output: &std::process::Output| -> serde_json::Value {
        serde_json::from_slice(&output.stdout).unwrap_or_else(|error| panic!("{error}: {}", text(output)))
    };
    let (owned, helped) = (summary(&owner), summary(&helper));
    let tests = |name: &str| tests_of(Path::new(&log(name))).len() as u64;
    assert!(tests("helper") > 0, "the helper had nothing to do");
    assert_eq!(owned["tests"], tests("owner"));
    assert_eq!(helped["tests"], tests("helper"));
    assert_eq!(owned["totals"]["tests"], tests("owner") + tests("helper"));
    // Several findings may be one bug.
    let bugs = owned["findings"].as_array().expect("a list").iter().map(|found| found["group"].to_string());
    let findings = bugs.collect::<std::collections::BTreeSet<String>>().len() as u64;
    let by_kind = owned["totals"]["findings"].as_object().expect("counts");
    assert_eq!(by_kind.values().filter_map(serde_json::Value::as_u64).sum::<u64>(), findings);
}
