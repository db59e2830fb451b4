//! One campaign of many processes, on a real PostgreSQL server.

mod common;

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::time::{Duration, Instant};

use common::{Folder, osprey, run, text};
use serde_json::Value;
use testkit::have;
use testkit::postgres::{self, PASSWORD, Postgres, Stop};

/// A build of Z3 that refutes whatever has a remainder or a length in it, and crashes on divisions.
const WRONG: &str = "[ \"$1\" = --version ] && echo 'Z3 version 5.4.0 - 64 bit' && exit\nfor file; do :; done\n\
    if grep -q '(div ' \"$file\"; then echo 'ASSERTION VIOLATION'; echo 'File: ../src/wrong.cpp'; echo 'Line: 7'; exit 114; fi\n\
    if grep -q '(mod \\|(str.len ' \"$file\"; then echo unsat; else echo sat; fi";

const SEEDS: [&str; 4] = [
    "(declare-const x Int)\n(assert (= (mod x 5) 2))\n(check-sat)\n",
    "(declare-const s String)\n(assert (= (str.len s) 3))\n(check-sat)\n",
    "(declare-const y Int)\n(assert (> (div y 3) 2))\n(check-sat)\n",
    "(declare-const a Int)\n(declare-const b Int)\n(assert (> (+ a b) 3))\n(assert (< a b))\n(check-sat)\n",
];

/// How long something may take that must happen.
const PATIENCE: Duration = Duration::from_secs(240);

struct Setup {
    place: Folder,
    solver: String,
}

impl Setup {
    fn new() -> Setup {
        let place = Folder::new();
        let solver = format!("'{}'", place.program("z3", WRONG));
        for (number, seed) in SEEDS.iter().enumerate() {
            std::fs::create_dir_all(place.path("seeds")).expect("a folder");
            place.file(&format!("seeds/{number}.smt2"), seed);
        }
        Setup { place, solver }
    }

    /// `osprey fuzz` in a folder with this name, and with a log.
    fn fuzz(&self, name: &str, more: &[&str]) -> Command {
        let mut command = osprey(&["fuzz", &self.place.path("seeds"), "-s", &self.solver]);
        command.args(["--reference", "z3@5.4.0", "--engine", "seed,opfuzz,typefuzz", "--timeout", "5"]);
        command.args(["--rng-seed", "7", "--jobs", "1", "--reduce-all", "--out", &self.place.path(name)]);
        command.args(["--log", &self.log(name)]).args(more);
        command
    }

    fn worker(&self, name: &str, address: &str) -> Command {
        let mut command = osprey(&["worker", "--store", address, "--jobs", "1"]);
        command.args(["--out", &self.place.path(name), "--log", &self.log(name)]);
        command.env("PGPASSWORD", PASSWORD);
        command
    }

    fn log(&self, name: &str) -> String {
        self.place.path(&format!("{name}.log"))
    }

    /// The lines of a log with this event.
    fn events(&self, name: &str, event: &str) -> Vec<Value> {
        let text = std::fs::read_to_string(self.log(name)).unwrap_or_default();
        let lines = text.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok());
        lines.filter(|line| line["event"] == event).collect()
    }

    /// Test cases that a process has counted, as its log says.
    fn counted(&self, name: &str) -> u64 {
        self.events(name, "counted").iter().filter_map(|line| line["totals"]["tests"].as_u64()).sum()
    }

    /// Waits until a process has counted this many test cases.
    fn until_counted(&self, name: &str, tests: u64) {
        let begun = Instant::now();
        while self.counted(name) < tests {
            assert!(begun.elapsed() < PATIENCE, "{name} has counted {} test cases", self.counted(name));
            std::thread::sleep(Duration::from_millis(100));
        }
    }

    /// Ends a campaign, and has all of its findings made small.
    fn finish(&self, owner: Child, name: &str, store: &str) {
        signal(&owner, "-INT");
        let output = ended(owner);
        assert_eq!(output.status.code(), Some(10), "{}", text(&output));
        assert!(!text(&output).contains(PASSWORD), "{}", text(&output));
        let mut rest = self.fuzz(name, &["--store", store, "--resume", "--iterations", "0"]);
        let rest = rest.env("PGPASSWORD", PASSWORD).output().expect("osprey starts");
        assert_eq!(rest.status.code(), Some(10), "{}", text(&rest));
    }
}

fn started(mut command: Command) -> Child {
    command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("osprey starts")
}

fn signal(child: &Child, name: &str) {
    let sent = Command::new("kill").args([name, &child.id().to_string()]).status();
    assert!(sent.is_ok_and(|status| status.success()));
}

fn ended(child: Child) -> Output {
    child.wait_with_output().expect("ended")
}

/// An address without a password, with a schema of its own.
fn address(server: &Postgres) -> (String, String) {
    let whole = server.url();
    let schema = whole.rsplit('=').next().expect("a schema").to_owned();
    (whole.replace(&format!(":{PASSWORD}"), ""), schema)
}

fn number(server: &Postgres, schema: &str, sql: &str) -> u64 {
    let told = server.sql("postgres", &format!("SET search_path = {schema}; {sql}")).expect("an answer");
    told.parse().unwrap_or_else(|_| panic!("{sql}: {told}"))
}

fn bugs(out: &str) -> BTreeSet<String> {
    let entries = std::fs::read_dir(Path::new(out).join("bugs")).expect("a folder").flatten();
    let names = entries.map(|entry| entry.file_name().to_string_lossy().into_owned());
    names.filter(|name| !name.starts_with('.')).collect()
}

fn finding(out: &str, name: &str) -> Value {
    let path = Path::new(out).join("bugs").join(name).join("finding.json");
    serde_json::from_str(&std::fs::read_to_string(path).expect("a finding")).expect("JSON")
}

#[test]
fn four_processes_one_killed_one_late_and_the_server_restarted_find_everything_once() {
    if !have(&["z3@5.4.0"]) {
        return;
    }
    let Some(server) = postgres::own_postgres(&[]) else { return };
    let (setup, (store, schema)) = (Setup::new(), address(&server));
    let mut owner = setup.fuzz("owner", &["--store", &store, "--time", "1h"]);
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

    // Totals are the sums of what the logs say was counted, as far as it was kept.
    let mut tests = 0;
    let mut engines: BTreeMap<String, u64> = BTreeMap::new();
    for name in ["owner", "steady", "doomed", "late"] {
        let journal =
            std::fs::read_to_string(setup.place.path(&format!("{name}/journal"))).expect("a journal");
        let header: Value = serde_json::from_str(journal.lines().next().expect("a header")).expect("JSON");
        let worker = header["worker"].as_str().expect("a name");
        let delivered =
            number(&server, &schema, &format!("SELECT sequence FROM deliveries WHERE worker = '{worker}'"));
        let counted = setup.events(name, "counted");
        // Numbers of entries that were logged and never kept, because of the kill, are given again: the last line counts.
        let by_number: BTreeMap<u64, &Value> =
            counted.iter().map(|line| (line["sequence"].as_u64().expect("a number"), line)).collect();
        assert_eq!(by_number.keys().max(), Some(&delivered), "{name} has delivered everything");
        for line in by_number.values() {
            tests += line["totals"]["tests"].as_u64().unwrap_or(0);
            for (engine, count) in line["totals"]["engines"].as_object().into_iter().flatten() {
                *engines.entry(engine.clone()).or_default() += count.as_u64().unwrap_or(0);
            }
        }
    }
    assert!(tests >= 25, "{tests}");
    assert_eq!(number(&server, &schema, "SELECT value FROM totals WHERE path = '[\"tests\"]'"), tests);
    // What is learned is the same sum.
    for (engine, count) in &engines {
        let learned = format!("SELECT tests FROM learned WHERE kind = 'engine' AND name = '{engine}'");
        assert_eq!(number(&server, &schema, &learned), *count, "{engine}");
    }
    assert_eq!(number(&server, &schema, "SELECT sum(tests) FROM learned WHERE kind = 'engine'"), tests);
    assert_eq!(number(&server, &schema, "SELECT sum(tests) FROM samples"), tests);

    // Every finding once, in the database and in the owner's folder, told apart, and nothing left to do.
    let out = setup.place.path("owner");
    let listed = server.sql("postgres", &format!("SELECT data FROM {schema}.findings")).expect("findings");
    let known: Vec<Value> = listed.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect();
    assert!(known.len() >= 3, "{listed}");
    let folders: BTreeSet<String> =
        known.iter().map(|known| known["folder"].as_str().expect("a name").to_owned()).collect();
    assert_eq!(folders, bugs(&out));
    assert_eq!(number(&server, &schema, "SELECT count(*) FROM folders"), folders.len() as u64);
    assert_eq!(number(&server, &schema, "SELECT count(*) FROM folders WHERE open"), 0);
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

fn run_with_password(words: &[&str], setup: &Setup) -> Output {
    let home = setup.place.path("home");
    std::fs::create_dir_all(&home).expect("a folder");
    osprey(words).env("PGPASSWORD", PASSWORD).env("OSPREY_HOME", home).output().expect("osprey starts")
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

#[test]
fn no_process_list_has_the_password_and_what_is_wrong_is_said() {
    if !have(&["z3@5.4.0"]) {
        return;
    }
    let Some(server) = postgres::postgres() else { return };
    let setup = Setup::new();
    let whole = server.url();
    let (store, schema) =
        (whole.replace(&format!(":{PASSWORD}"), ""), whole.rsplit('=').next().expect("a schema"));
    // With the password in the address.
    let owner = started(setup.fuzz("owner", &["--store", &whole, "--time", "1h"]));
    setup.until_counted("owner", 1);
    let listed = Command::new("ps").args(["-eo", "args"]).output().expect("ps");
    let listed = String::from_utf8_lossy(&listed.stdout).into_owned();
    assert!(listed.contains(schema) && !listed.contains(PASSWORD), "{listed}");
    let kept = std::fs::read_to_string(setup.place.path("owner/campaign.url")).expect("an address");
    assert_eq!(kept.lines().next(), Some(store.as_str()));

    let say = |words: &[&str], password: &str| {
        let output = osprey(words).env("PGPASSWORD", password).env("PGPASSFILE", "/nowhere").output();
        let output = output.expect("osprey starts");
        assert!(!text(&output).contains(PASSWORD) && !text(&output).contains("s3cr3t"), "{}", text(&output));
        (output.status.code(), text(&output))
    };
    let out = setup.place.path("nobody");
    let (code, said) = say(&["worker", "--store", &store, "--out", &out], "s3cr3t");
    assert!(code == Some(2) && said.contains("password authentication failed"), "{said}");
    let (code, said) =
        say(&["worker", "--store", "postgres://osprey:s3cr3t@127.0.0.1:9/db", "--out", &out], "");
    assert!(code == Some(2) && said.contains("is away"), "{said}");
    for slip in ["postgress://osprey:s3cr3t@127.0.0.1/db", "postgres:/osprey:s3cr3t@127.0.0.1/db"] {
        for words in [&["worker", "--store", slip][..], &["fuzz", "--store", slip], &["findings", slip]] {
            let (code, said) = say(words, "");
            assert!(code == Some(2) && said.contains("expected postgres://USER@HOST/DATABASE"), "{said}");
        }
    }
    let (code, said) = say(&["fuzz", "--store", "night"], PASSWORD);
    assert!(code == Some(2) && said.contains("--out"), "{said}");
    let (code, said) = say(&["fuzz", "--store", &store, "-s", "z3@5.4.0", "--out", &out], PASSWORD);
    assert!(code == Some(2) && said.contains("holds a campaign already"), "{said}");
    let (code, said) = say(&["fuzz", "--store", &store, "--resume", "--out", &out], PASSWORD);
    assert!(code == Some(2) && said.contains("run by another process"), "{said}");
    let nothing = store.replace(schema, "nothing_here");
    let (code, said) = say(&["worker", "--store", &nothing, "--out", &out], PASSWORD);
    assert!(code == Some(2) && said.contains("no campaign is running"), "{said}");
    // Another build of the solver.
    let changed = "UPDATE meta SET value = regexp_replace(value, '\"sha256\":\"[0-9a-f]*\"', '\"sha256\":\"00\"', 'g') WHERE key = 'identity'";
    server.sql("postgres", &format!("SET search_path = {schema}; {changed}")).expect("changed");
    let (code, said) = say(&["worker", "--store", &store, "--out", &out], PASSWORD);
    assert!(code == Some(2) && said.contains("but here it is"), "{said}");
    signal(&owner, "-INT");
    ended(owner);
    server
        .sql("postgres", &format!("UPDATE {schema}.meta SET value = '9.9.9' WHERE key = 'osprey'"))
        .expect("set");
    let (code, said) = say(&["worker", "--store", &store, "--out", &out], PASSWORD);
    assert!(code == Some(2) && said.contains("osprey 9.9.9"), "{said}");
}

/// The page of shared campaigns.
fn page() -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/shared-campaigns.md");
    std::fs::read_to_string(path).expect("the page")
}

#[test]
fn the_roles_of_the_page_are_enough_and_not_more() {
    if !have(&["z3@5.4.0"]) {
        return;
    }
    let Some(server) = postgres::own_postgres(&[]) else { return };
    let page = page();
    let sql = page.split("<!-- roles -->").nth(1).and_then(|rest| rest.split("<!-- end -->").next());
    server.sql("postgres", sql.expect("the roles")).expect("made");
    let setup = Setup::new();
    let as_role = |role: &str| format!("postgres://{role}@127.0.0.1:{}/postgres?schema=night", server.port());
    let mut owner = setup.fuzz("owner", &["--store", &as_role("osprey_owner"), "--time", "1h"]);
    owner.env("PGPASSWORD", "change-me-1");
    let owner = started(owner);
    setup.until_counted("owner", 1);
    let mut worker = setup.worker("worker", &as_role("osprey_worker"));
    worker.env("PGPASSWORD", "change-me-2");
    let worker = started(worker);
    setup.until_counted("worker", 3);
    signal(&owner, "-INT");
    assert_eq!(ended(owner).status.code(), Some(10));
    assert_eq!(ended(worker).status.code(), Some(10));
    let read = |role: &str, password: &str, words: &[&str]| {
        let address = as_role(role);
        let output = osprey(&[&[words[0], &address], &words[1..]].concat())
            .env("PGPASSWORD", password)
            .env("OSPREY_HOME", setup.place.path("home"))
            .output();
        output.expect("osprey starts")
    };
    let listed = read("osprey_reader", "change-me-3", &["findings"]);
    assert_eq!(listed.status.code(), Some(10), "{}", text(&listed));
    let refused = osprey(&["worker", "--store", &as_role("osprey_reader"), "--out", &setup.place.path("no")])
        .env("PGPASSWORD", "change-me-3")
        .output()
        .expect("osprey starts");
    assert!(text(&refused).contains("permission denied"), "{}", text(&refused));
    let may = "SELECT has_schema_privilege('osprey_worker', 'night', 'CREATE')::text || has_table_privilege('osprey_reader', \
               'night.totals', 'UPDATE')::text";
    assert_eq!(server.sql("postgres", may).expect("an answer"), "falsefalse");
}

fn deploy(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../deploy").join(name)
}

#[test]
fn a_job_array_of_slurm_joins_the_campaign() {
    if !have(&["z3@5.4.0"]) {
        return;
    }
    for program in ["/usr/sbin/slurmctld", "/usr/sbin/slurmd", "/usr/sbin/munged"] {
        if !Path::new(program).is_file() {
            testkit::skip("Slurm", format!("{program} is not there; `.ci/servers` installs it"));
            return;
        }
    }
    let Some(server) = postgres::postgres() else { return };
    let (setup, (store, schema)) = (Setup::new(), address(server));
    let mut owner = setup.fuzz("owner", &["--store", &store, "--time", "1h"]);
    owner.env("PGPASSWORD", PASSWORD);
    let owner = started(owner);
    setup.until_counted("owner", 1);
    // Two tasks of the script as it is, which ends when the owner is told to end.
    let wait = "id=$(sbatch --parsable --array=1-2 --cpus-per-task=1 --mem-per-cpu=0 --output=/dev/null \"$1\"); \
        for i in $(seq 600); do [ $(ls \"$OSPREY_OUT\" 2>/dev/null | wc -l) = 2 ] && break; sleep 0.2; done; \
        until [ -s \"$OSPREY_OUT/array-$id-1/journal\" ] && [ -s \"$OSPREY_OUT/array-$id-2/journal\" ]; do sleep 0.2; done; \
        sleep 8; kill -INT \"$2\"; while squeue --noheader | grep -q .; do sleep 0.2; done; \
        scontrol show job \"$id\" | grep -o 'JobState=[A-Z]*\\|ExitCode=[0-9:]*'";
    let cluster = Command::new(deploy("test/slurm-cluster"))
        .arg(setup.place.path("slurm"))
        .args(["timeout", "200", "bash", "-c", wait, "bash"])
        .arg(deploy("slurm.sh"))
        .arg(owner.id().to_string())
        .env("OSPREY_STORE", &store)
        .env("OSPREY", env!("CARGO_BIN_EXE_osprey"))
        .env("OSPREY_OUT", setup.place.path("array"))
        .env("PGPASSWORD", PASSWORD)
        .current_dir(setup.place.all())
        .output()
        .expect("the cluster starts");
    let said = text(&cluster);
    signal(&owner, "-INT");
    ended(owner);
    assert_eq!(said.matches("JobState=COMPLETED").count(), 2, "{said}");
    assert_eq!(said.matches("ExitCode=0:0").count(), 2, "{said}");
    assert!(number(server, &schema, "SELECT count(*) FROM deliveries") >= 3, "{said}");
}

#[test]
fn the_folder_of_a_campaign_on_a_disk_is_not_made_a_copy() {
    let setup = Setup::new();
    let out = setup.place.path("out");
    std::fs::create_dir_all(&out).expect("a folder");
    std::fs::write(Path::new(&out).join("campaign.url"), "postgres://nobody@127.0.0.1:9/db\n")
        .expect("written");
    let away = run(&["findings", &out]);
    assert_eq!(away.status.code(), Some(2), "{}", text(&away));
    let resumed = run(&["fuzz", "--resume", "--out", &out]);
    assert!(text(&resumed).contains("is away"), "{}", text(&resumed));
}
