//! Processes that come and go, and what they leave together.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::process::{Child, Command};

use serde_json::Value;
use testkit::have;
use testkit::postgres::{self, PASSWORD, Postgres, Stop};

use super::common::{osprey, text};
use super::sums::Sum;
use super::*;

/// What the server has is the sum, or the union, of what the logs of these processes say was counted, as far as it was kept.
fn assert_adds_up(setup: &Setup, server: &Postgres, schema: &str, names: &[&str]) -> Sum {
    let mut counted = Sum::default();
    for name in names {
        let journal =
            std::fs::read_to_string(setup.place.path(&format!("{name}/journal"))).expect("a journal");
        let header: Value = serde_json::from_str(journal.lines().next().expect("a header")).expect("JSON");
        let worker = header["worker"].as_str().expect("a name");
        let delivered =
            number(server, schema, &format!("SELECT sequence FROM deliveries WHERE worker = '{worker}'"));
        let lines = setup.events(name, "counted");
        // Numbers of entries that were logged and never kept, because of a kill, are given again: the last line counts.
        let by_number: BTreeMap<u64, &Value> =
            lines.iter().map(|line| (line["sequence"].as_u64().expect("a number"), line)).collect();
        assert_eq!(by_number.keys().max(), Some(&delivered), "{name} has delivered everything");
        by_number.values().for_each(|line| counted.add(line));
    }
    let there = Sum::on(server, schema);
    assert_eq!(there.totals, counted.totals);
    // What is learned: engines, logics, constructs, options; seeds; behaviours that were seen and code that was reached.
    assert_eq!(there.learned, counted.learned);
    assert_eq!(there.seeds, counted.seeds);
    assert_eq!(there.mutants, counted.mutants);
    assert_eq!(there.features, counted.features);
    assert!(there.sites == counted.sites, "{} and {} sites", there.sites.len(), counted.sites.len());
    assert_eq!(there.samples, counted.samples);
    there
}

/// Nobody has anything to make small any more.
fn assert_nothing_is_left(server: &Postgres, schema: &str) {
    let left = "SELECT name, holder, (SELECT seen FROM members WHERE id = holder) FROM folders WHERE open";
    let left = server.sql("postgres", &format!("SET search_path = {schema}; {left}")).expect("an answer");
    assert_eq!(left, "");
}

#[test]
fn four_processes_one_killed_one_late_and_the_server_restarted_find_everything_once() {
    if !have(&["z3@5.4.0"]) {
        return;
    }
    let Some(server) = postgres::own_postgres(&[]) else { return };
    let (setup, (store, schema)) = (Setup::new(), address(&server));
    let mut owner = setup.fuzz_against("-s", "owner", &["--store", &store, "--time", "1h"]);
    let owner = started({
        owner.env("PGPASSWORD", PASSWORD);
        owner
    });
    setup.until_counted("owner", 1);
    let (steady, mut doomed) =
        (started(setup.worker("steady", &store)), started(setup.worker("doomed", &store)));
    setup.until_counted("steady", 5);
    setup.until_counted("doomed", 5);
    doomed.kill().expect("killed");
    doomed.wait().expect("gone");
    server.restart(Stop::Immediate);
    let late = started(setup.worker("late", &store));
    setup.until_counted("late", 5);
    // The killed one's folder is gone on with.
    let heir = started(setup.worker("doomed", &store));
    setup.until_counted("doomed", setup.counted("doomed") + 5);
    setup.until_counted("steady", setup.counted("steady") + 5);
    setup.finish(owner, "owner", &store);
    for (name, child) in [("steady", steady), ("late", late), ("heir", heir)] {
        let output = ended(child);
        assert_eq!(output.status.code(), Some(10), "{name}: {}", text(&output));
        assert!(!text(&output).contains(PASSWORD), "{name}: {}", text(&output));
    }

    let there = assert_adds_up(&setup, &server, &schema, &["owner", "steady", "doomed", "late"]);
    let tests = there.totals["[\"tests\"]"];
    assert!(tests >= 25, "{tests}");
    let kinds: BTreeSet<&str> = there.learned.keys().map(|(kind, _)| kind.as_str()).collect();
    assert!(kinds.is_superset(&BTreeSet::from(["engine", "construct", "option"])), "{kinds:?}");
    assert!(!there.seeds.is_empty() && !there.features.is_empty() && !there.sites.is_empty());
    let of_engines = there.learned.iter().filter(|((kind, _), _)| kind == "engine");
    assert_eq!(of_engines.map(|(_, counts)| counts[1]).sum::<u64>(), tests);

    // Every finding once, in the database and in the owner's folder, told apart, and nothing left to do.
    let out = setup.place.path("owner");
    let listed = server.sql("postgres", &format!("SELECT data FROM {schema}.findings")).expect("findings");
    let known: Vec<Value> = listed.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect();
    assert!(known.len() >= 3, "{listed}");
    let folders: BTreeSet<String> =
        known.iter().map(|known| known["folder"].as_str().expect("a name").to_owned()).collect();
    assert_eq!(folders, bugs(&out));
    assert_eq!(number(&server, &schema, "SELECT count(*) FROM folders"), folders.len() as u64);
    assert_nothing_is_left(&server, &schema);
    let places: BTreeSet<(u64, u64, String)> = known
        .iter()
        .map(|one| {
            (one["round"].as_u64().unwrap_or(0), one["step"].as_u64().unwrap_or(0), one["hash"].to_string())
        })
        .collect();
    assert_eq!(places.len(), known.len());
    for folder in &folders {
        assert_ne!(finding(&out, folder)["stage"]["name"], "pending", "{folder}");
    }
    // Each kind of bug is there: two wrong answers and the crash.
    let listed = run_with_password(&["findings", &store, "--group", "--json"], &setup);
    let groups = String::from_utf8_lossy(&listed.stdout).lines().count();
    assert_eq!((listed.status.code(), groups >= 3), (Some(10), true), "{}", text(&listed));

    // Nothing that was written anywhere has the password.
    for name in ["owner", "steady", "doomed", "late"] {
        let found =
            Command::new("grep").args(["-rl", PASSWORD, &setup.place.path(name), &setup.log(name)]).output();
        assert_eq!(String::from_utf8_lossy(&found.expect("grep").stdout), "");
    }
}

#[test]
fn processes_that_end_while_the_server_is_away_leave_everything_to_the_next_ones() {
    if !have(&["z3@5.4.0"]) {
        return;
    }
    let Some(server) = postgres::own_postgres(&[]) else { return };
    let (setup, (store, schema)) = (Setup::new(), address(&server));
    let mut owner = setup.fuzz("owner", &["--store", &store, "--time", "1h"]);
    owner.env("PGPASSWORD", PASSWORD);
    let owner = started(owner);
    setup.until_counted("owner", 1);
    let [patient, hasty] = ["patient", "hasty"].map(|name| started(setup.worker(name, &store)));
    for name in ["patient", "hasty"] {
        setup.until_counted(name, 5);
    }
    server.stop(Stop::Immediate);
    for name in ["owner", "patient", "hasty"] {
        setup.until_counted(name, setup.counted(name) + 5);
    }
    // Ctrl-C once, and again for who does not want to wait. The owner waits for nobody of whom it cannot hear.
    let mut hasty = hasty;
    signal(&owner, "-INT");
    signal(&patient, "-INT");
    while hasty.try_wait().expect("looked").is_none() {
        signal(&hasty, "-INT");
        std::thread::sleep(Duration::from_millis(300));
    }
    assert_eq!(ended(hasty).status.code(), Some(130));
    for (name, child) in [("owner", owner), ("patient", patient)] {
        let output = ended(child);
        assert_eq!(output.status.code(), Some(10), "{name}: {}", text(&output));
        let told = "the next process with this folder delivers them";
        assert!(text(&output).contains(told), "{name}: {}", text(&output));
        assert!(!text(&output).contains("is away: 'postgres"), "said once: {}", text(&output));
    }
    // What was logged and not yet kept when the hasty one ended at once is counted by nobody.
    let before: u64 = ["owner", "patient"].iter().map(|name| setup.counted(name)).sum();
    server.start_again().expect("it starts again");
    let mut owner =
        osprey(&["fuzz", "--resume", "--time", "1h", "--jobs", "1", "--out", &setup.place.path("owner")]);
    owner.args(["--log", &setup.log("owner")]).env("PGPASSWORD", PASSWORD);
    let owner = started(owner);
    setup.until_counted("owner", setup.counted("owner") + 1);
    let [patient, hasty] = ["patient", "hasty"].map(|name| started(setup.worker(name, &store)));
    for name in ["patient", "hasty"] {
        setup.until_counted(name, setup.counted(name) + 1);
    }
    setup.finish(owner, "owner", &store);
    for child in [patient, hasty] {
        assert_eq!(ended(child).status.code(), Some(10));
    }
    let there = assert_adds_up(&setup, &server, &schema, &["owner", "patient", "hasty"]);
    assert!(there.totals["[\"tests\"]"] > before, "nothing that was counted is missing");
    assert_nothing_is_left(&server, &schema);
}

#[test]
fn what_a_killed_worker_was_making_small_is_made_small_by_another_one_and_once() {
    if !have(&["z3@5.4.0"]) {
        return;
    }
    let Some(server) = postgres::postgres() else { return };
    let (setup, (store, schema)) = (Setup::new(), address(server));
    let mut owner = setup.fuzz("owner", &["--store", &store, "--time", "1h"]);
    owner.env("PGPASSWORD", PASSWORD);
    let owner = started(owner);
    setup.until_counted("owner", 1);
    let mut doomed = started(setup.worker("doomed", &store));
    let held = format!(
        "SET search_path = {schema}; SELECT folders.name, convert_from(content, 'UTF8') FROM folders \
         JOIN files ON folder = folders.name AND files.name = 'finding.json' \
         JOIN members ON id = holder WHERE open AND pid = {}",
        doomed.id()
    );
    let begun = Instant::now();
    let held: Vec<(String, Value)> = loop {
        // A name and a text of many lines.
        let told = server.sql("postgres", &held).expect("an answer");
        let rows = told.split("\n}").filter(|row| row.contains('|'));
        let row = |row: &str| {
            let (name, text) = row.trim().split_once('|').expect("two columns");
            (name.to_owned(), serde_json::from_str(&format!("{text}\n}}")).expect("JSON"))
        };
        let rows: Vec<_> = rows.map(row).collect();
        if !rows.is_empty() {
            break rows;
        }
        assert!(begun.elapsed() < PATIENCE, "the worker has found nothing");
        std::thread::sleep(Duration::from_millis(50));
    };
    doomed.kill().expect("killed");
    doomed.wait().expect("gone");
    // Its folder is gone on with: what it had may be the heir's again, or the owner's by then.
    let heir = started(setup.worker("doomed", &store));
    setup.until_counted("doomed", setup.counted("doomed") + 5);
    setup.finish(owner, "owner", &store);
    ended(heir);
    assert_nothing_is_left(server, &schema);
    let out = setup.place.path("owner");
    for (name, before) in held {
        let place = &before["provenance"];
        let events = ["finding", "duplicate"].map(|event| {
            let all =
                ["owner", "doomed"].iter().flat_map(|name| setup.events(name, event)).collect::<Vec<_>>();
            all.into_iter()
                .filter(|one| one["round"] == place["round"] && one["step"] == place["step"])
                .count()
        });
        assert_eq!(events[0] + events[1], 1, "{name} is told once: {events:?}");
        let same = bugs(&out).iter().filter(|name| finding(&out, name)["provenance"] == *place).count();
        assert_eq!(same, events[0], "{name} has a folder, unless it was a duplicate");
    }
}

#[test]
fn one_job_on_a_disk_and_four_workers_on_a_server_find_the_same_where_they_make_the_same_test_cases() {
    if !have(&["z3@5.4.0"]) {
        return;
    }
    let Some(server) = postgres::postgres() else { return };
    let (setup, (store, _)) = (Setup::new(), address(server));
    let alone = setup.fuzz("alone", &["--iterations", "60"]).output().expect("osprey starts");
    assert_eq!(alone.status.code(), Some(10), "{}", text(&alone));
    let mut owner = setup.fuzz("shared", &["--store", &store, "--time", "1h"]);
    owner.env("PGPASSWORD", PASSWORD);
    let owner = started(owner);
    setup.until_counted("shared", 1);
    let workers: Vec<Child> =
        ["one", "two", "three"].iter().map(|name| started(setup.worker(name, &store))).collect();
    for name in ["shared", "one", "two", "three"] {
        setup.until_counted(name, 15);
    }
    setup.finish(owner, "shared", &store);
    for worker in workers {
        ended(worker);
    }
    // By place, round and step: what was tested with which answers, and what was told of it. A finding may have another name
    // there: it depends on how far a reduction came, and whether it is a duplicate on what was found before.
    let logs: [&[&str]; 2] = [&["alone"], &["shared", "one", "two", "three"]];
    let of = |line: &Value| (line["round"].as_u64(), line["step"].as_u64());
    let made = logs.map(|names| -> BTreeMap<_, (Value, Value)> {
        let tests = names.iter().flat_map(|name| setup.events(name, "test"));
        tests.map(|test| (of(&test), (test["script"].clone(), test["answers"].clone()))).collect()
    });
    let told = logs.map(|names| -> BTreeSet<_> {
        let events = ["finding", "duplicate"]
            .iter()
            .flat_map(|event| names.iter().flat_map(|name| setup.events(name, event)).collect::<Vec<_>>());
        events.map(|line| of(&line)).collect()
    });
    let outs = [setup.place.path("alone"), setup.place.path("shared")];
    let mut compared = 0;
    for (here, there) in [(0, 1), (1, 0)] {
        for name in bugs(&outs[here]) {
            let one = finding(&outs[here], &name);
            // Its test case comes out of its provenance again, on either store.
            let path = Path::new(&outs[here]).join("bugs").join(&name);
            let again = osprey(&["replay", path.to_str().expect("UTF-8"), "--original"])
                .env("PGPASSWORD", PASSWORD)
                .output()
                .expect("osprey starts");
            assert_eq!(again.status.code(), Some(0), "{name}: {}", text(&again));
            let Some(test) = made[here].get(&of(&one["provenance"])) else { continue };
            let mut same = made[there].iter().filter(|(_, other)| *other == test).peekable();
            if same.peek().is_some() {
                compared += 1;
                assert!(same.any(|(place, _)| told[there].contains(place)), "{name} is missing");
            }
        }
    }
    assert!(compared >= 2, "{made:?}");
}
