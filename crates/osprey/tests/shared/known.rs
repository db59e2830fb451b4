//! Bugs that nobody wants to hear of: named once, for all processes of a campaign.

use std::time::Instant;

use testkit::have;
use testkit::postgres::{self, PASSWORD};

use super::common::osprey;
use super::*;

/// An earlier campaign, and a file with the signature of its crash, which every division shows.
fn earlier(setup: &Setup) -> (String, String) {
    let first = setup.fuzz("first", &["--iterations", "12"]).output().expect("osprey starts");
    assert_eq!(first.status.code(), Some(10), "{}", text(&first));
    let found = setup.events("first", "finding");
    let crash = found.iter().find(|finding| finding["kind"] == "crash").expect("a crash");
    let signature = crash["signature"].as_str().expect("a signature").to_owned();
    let list = setup.place.file("known", &format!("# from the first campaign\n{signature}\n"));
    (list, signature)
}

/// Test cases of a process on which the solver crashed.
fn crashes(setup: &Setup, name: &str) -> usize {
    let crashed = |test: &&Value| test["answers"].as_array().is_some_and(|all| all.contains(&"crash".into()));
    setup.events(name, "test").iter().filter(crashed).count()
}

fn until_crashed(setup: &Setup, name: &str, times: usize) {
    let begun = Instant::now();
    while crashes(setup, name) < times {
        assert!(begun.elapsed() < PATIENCE, "{name} has seen {} crashes", crashes(setup, name));
        std::thread::sleep(Duration::from_millis(100));
    }
}

/// Findings with this signature that a process has reported.
fn reported(setup: &Setup, name: &str, signature: &str) -> usize {
    setup.events(name, "finding").iter().filter(|finding| finding["signature"] == signature).count()
}

#[test]
fn what_the_owner_knows_no_worker_reports_and_what_a_worker_knows_is_known_to_all() {
    if !have(&["z3@5.4.0"]) {
        return;
    }
    let Some(server) = postgres::postgres() else { return };
    let (setup, (store, schema)) = (Setup::new(), address(server));
    let (list, signature) = earlier(&setup);
    let mut owner = setup.fuzz("owner", &["--store", &store, "--time", "1h", "--known", &list]);
    owner.env("PGPASSWORD", PASSWORD);
    let owner = started(owner);
    setup.until_counted("owner", 1);
    let worker = started(setup.worker("worker", &store));
    until_crashed(&setup, "worker", 3);
    // Another one knows a whole campaign, by what its findings show.
    let mut wise = setup.worker("wise", &store);
    wise.args(["--known", &setup.place.path("first")]);
    let wise = started(wise);
    setup.until_counted("wise", 1);
    let kept = server.sql("postgres", &format!("SELECT value FROM {schema}.meta WHERE key = 'unwanted'"));
    let kept: Value = serde_json::from_str(&kept.expect("what is known")).expect("JSON");
    // The owner's in words, the others' by their hashes.
    let signatures = kept["signatures"].as_array().expect("a list");
    assert!(signatures.contains(&signature.as_str().into()) && signatures.len() >= 3, "{kept}");
    assert!(kept["faces"].as_array().is_some_and(|faces| faces.len() >= 2), "{kept}");
    assert!(!kept.to_string().contains("first/bugs"), "no more than is needed: {kept}");
    signal(&owner, "-INT");
    for child in [owner, worker, wise] {
        ended(child);
    }
    for name in ["owner", "worker", "wise"] {
        assert_eq!(reported(&setup, name, &signature), 0, "{name}");
    }
    let suppressed = "SELECT value FROM totals WHERE path = '[\"suppressed\"]'";
    assert!(number(server, &schema, suppressed) >= 3);
}

#[test]
fn what_the_owner_of_a_campaign_on_a_disk_knows_no_worker_reports() {
    if !have(&["z3@5.4.0"]) {
        return;
    }
    let setup = Setup::new();
    let (list, signature) = earlier(&setup);
    let owner = started(setup.fuzz("owner", &["--time", "1h", "--known", &list]));
    let begun = Instant::now();
    while setup.events("owner", "test").is_empty() {
        assert!(begun.elapsed() < PATIENCE, "the owner has made no test case");
        std::thread::sleep(Duration::from_millis(100));
    }
    let log = setup.log("worker");
    let worker = osprey(&["worker", "--store", &setup.place.path("owner"), "--jobs", "1", "--log", &log]);
    let worker = started(worker);
    until_crashed(&setup, "worker", 3);
    signal(&owner, "-INT");
    ended(worker);
    ended(owner);
    for name in ["owner", "worker"] {
        assert_eq!(reported(&setup, name, &signature), 0, "{name}");
    }
}
