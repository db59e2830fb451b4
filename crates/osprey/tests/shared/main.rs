//! One campaign of many processes, on a real PostgreSQL server.
//!
//! - `processes`: killed, late and restarted, all adds up (`sums`); `known`: bugs that nobody wants to hear of
//! - `address`: commands that take the address; `errors`: what is wrong is said, without the password; roles; `deploy`: Slurm, Kubernetes, containers

mod address;
#[path = "../common/mod.rs"]
mod common;
mod deploy;
mod errors;
mod known;
mod processes;
mod sums;

use std::collections::BTreeSet;
use std::path::Path;
use std::process::{Child, Command, Output, Stdio};
use std::time::{Duration, Instant};

use common::{Folder, osprey, text};
use serde_json::Value;
use testkit::postgres::{PASSWORD, Postgres};

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
        self.fuzz_against("--reference", name, more)
    }

    /// The same; the solver that is right is one under test (`-s`), so that its code is watched, or a reference.
    fn fuzz_against(&self, right: &str, name: &str, more: &[&str]) -> Command {
        let mut command = osprey(&["fuzz", &self.place.path("seeds"), "-s", &self.solver]);
        command.args([right, "z3@5.4.0", "--engine", "seed,opfuzz,typefuzz", "--timeout", "5"]);
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
        let mut rest = osprey(&["fuzz", "--resume", "--iterations", "0", "--reduce-all", "--jobs", "1"]);
        rest.args(["--store", store, "--out", &self.place.path(name), "--log", &self.log(name)]);
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

fn run_with_password(words: &[&str], setup: &Setup) -> Output {
    let home = setup.place.path("home");
    std::fs::create_dir_all(&home).expect("a folder");
    osprey(words).env("PGPASSWORD", PASSWORD).env("OSPREY_HOME", home).output().expect("osprey starts")
}
