//! Commands that take the address of a campaign where others take its folder.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpStream;

use testkit::have;
use testkit::postgres::{self, PASSWORD};

use super::common::osprey;
use super::*;

/// Somebody on another machine, who has copies of campaigns in a folder of their own.
struct Person<'s> {
    setup: &'s Setup,
    home: &'static str,
}

impl Person<'_> {
    fn command(&self, words: &[&str]) -> Command {
        let home = self.setup.place.path(self.home);
        std::fs::create_dir_all(&home).expect("a folder");
        let mut command = osprey(words);
        command.env("PGPASSWORD", PASSWORD).env("OSPREY_HOME", home);
        command
    }

    fn says(&self, words: &[&str], code: i32) -> String {
        let output = self.command(words).output().expect("osprey starts");
        assert_eq!(output.status.code(), Some(code), "{words:?}: {}", text(&output));
        assert!(!text(&output).contains(PASSWORD), "{}", text(&output));
        text(&output)
    }

    /// The findings at an address: folder and bug, by the operator they are about.
    fn finding(&self, store: &str, operator: &str) -> (String, String) {
        let output = self.command(&["findings", "list", store, "--json"]).output().expect("osprey starts");
        let told = String::from_utf8_lossy(&output.stdout).into_owned();
        let all = told.lines().map(|line| serde_json::from_str::<Value>(line).expect("JSON"));
        let mut of = all.filter(|one| one["signature"]["operators"] == serde_json::json!([operator]));
        let one = of.next().unwrap_or_else(|| panic!("no finding about {operator}: {told}"));
        let part = |name: &str| one[name].as_str().expect("a text").to_owned();
        (part("folder"), part("bug"))
    }
}

/// A campaign of the seeds alone on a server.
fn campaign(setup: &Setup, name: &str, seeds: &str, store: &str) {
    let mut command = osprey(&["fuzz", seeds, "-s", &setup.solver, "--reference", "z3@5.4.0"]);
    command.args(["--engine", "seed", "--jobs", "1", "--iterations", "3", "--reduce-all"]);
    command.args(["--store", store, "--out", &setup.place.path(name)]).env("PGPASSWORD", PASSWORD);
    let output = command.output().expect("osprey starts");
    assert_eq!(output.status.code(), Some(10), "{}", text(&output));
}

#[test]
fn findings_are_listed_shown_marked_grouped_and_run_again_by_many_at_an_address() {
    if !have(&["z3@5.4.0"]) {
        return;
    }
    let Some(server) = postgres::postgres() else { return };
    let setup = Setup::new();
    let ((store, _), (other, _)) = (address(server), address(server));
    campaign(&setup, "first", &setup.place.path("seeds"), &store);
    // Two campaigns in one database have nothing to do with each other.
    campaign(&setup, "second", &setup.place.path("seeds/0.smt2"), &other);
    let (one, two) = (Person { setup: &setup, home: "one" }, Person { setup: &setup, home: "two" });
    let told = one.says(&["findings", &other], 10);
    assert!(told.contains("mod") && !told.contains("str.len"), "{told}");

    let ((remainder, its_bug), (length, _)) = (one.finding(&store, "mod"), one.finding(&store, "str.len"));
    let shown = one.says(&["findings", "show", &remainder], 10);
    assert!(shown.contains("unsat") && shown.contains("mod"), "{shown}");
    // Both have copies; each marks another finding, and neither undoes what the other said.
    let (_, _) = (two.finding(&store, "mod"), two.finding(&store, "str.len"));
    one.says(&["findings", "mark", &remainder, "--as", "reported", "--link", "https://example.org/1"], 0);
    let (of_two, _) = two.finding(&store, "str.len");
    two.says(&["findings", "mark", &of_two, "--as", "not-a-bug"], 0);
    for person in [&one, &two] {
        let told = person.says(&["findings", &store], 10);
        assert!(told.contains("marked: reported, https://example.org/1"), "{told}");
        assert!(told.contains("marked: not-a-bug"), "{told}");
    }
    assert!(!one.says(&["findings", &other], 10).contains("marked"));

    // Taken for one bug by one person, and for two by another.
    one.says(&["findings", "merge", &remainder, &length], 0);
    assert_eq!(two.finding(&store, "str.len").1, its_bug);
    two.says(&["findings", "split", &two.finding(&store, "str.len").0], 0);
    assert_ne!(one.finding(&store, "str.len").1, its_bug);

    let still = one.says(&["findings", "recheck", &store, "-s", &setup.solver], 10);
    assert!(still.contains("still there"), "{still}");
    let told = two.says(&["findings", &store], 10);
    assert!(told.contains("still there"), "what came of it is on the server: {told}");
    one.says(&["report", &store, "-o", &setup.place.path("report")], 0);
    assert!(setup.place.read("report/index.html").contains("str.len"));
}

#[test]
fn a_campaign_is_served_by_its_address() {
    if !have(&["z3@5.4.0"]) {
        return;
    }
    let Some(server) = postgres::postgres() else { return };
    let (setup, (store, _)) = (Setup::new(), address(server));
    campaign(&setup, "first", &setup.place.path("seeds/0.smt2"), &store);
    let person = Person { setup: &setup, home: "home" };
    let mut serving = person.command(&["serve", &store, "--listen", "127.0.0.1:0"]);
    let mut serving = serving.stdout(Stdio::piped()).spawn().expect("osprey starts");
    let mut line = String::new();
    BufReader::new(serving.stdout.take().expect("a pipe")).read_line(&mut line).expect("a line");
    let place = line.split("http://").nth(1).and_then(|rest| rest.split('/').next()).expect("an address");
    let mut connection = TcpStream::connect(place).expect("somebody listens");
    write!(connection, "GET / HTTP/1.1\r\nHost: {place}\r\nConnection: close\r\n\r\n").expect("asked");
    let mut page = String::new();
    connection.read_to_string(&mut page).expect("answered");
    serving.kill().expect("ended");
    serving.wait().expect("gone");
    assert!(page.starts_with("HTTP/1.1 200") && page.contains("mod"), "{page}");
    assert!(!page.contains(PASSWORD) && !line.contains(PASSWORD), "{line}");
}
