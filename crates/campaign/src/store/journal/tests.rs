//! Workers and servers that are away: nothing is lost, nothing is counted twice.

use std::collections::BTreeSet;
use std::path::Path;
use std::process::{Command, Stdio};

use testkit::postgres::{self, Postgres, Stop};

use super::super::contract::{delta, finding, given, identity};
use super::super::{ENGINE, LOGIC};
use super::*;

/// Where a child process finds the campaign and its folder.
const ADDRESS: &str = "OSPREY_TEST_ADDRESS";
const FOLDER: &str = "OSPREY_TEST_FOLDER";

/// Exchanges of a child.
const ROUNDS: u64 = 60;

fn campaign(server: &Postgres) -> ServerUrl {
    let url = ServerUrl::parse(&server.url()).expect("an address");
    PostgresStore::create(&url, &identity(), &given()).expect("made");
    url
}

fn open(url: &ServerUrl, folder: &Path) -> JournaledStore {
    let server = PostgresStore::open(url).expect("connected");
    JournaledStore::open(server, url, &folder.join("journal")).expect("opened")
}

/// As the exchange of a process does it.
fn exchange(store: &mut JournaledStore, tests: u64) -> News {
    store.merge(&delta(tests)).expect("kept");
    store.news().expect("news, or none")
}

/// Lets time pass that a server takes to be tried again.
fn tried_again(store: &mut JournaledStore) {
    if let Some(absence) = &mut store.away {
        absence.next = Instant::now();
    }
}

#[test]
fn what_is_counted_while_the_server_is_away_is_delivered_once_when_it_is_back() {
    let Some(server) = postgres::own_postgres(&[]) else { return };
    let (url, folder) = (campaign(&server), tempfile::tempdir().expect("a folder"));
    let mut store = open(&url, folder.path());
    let member = store.join(Role::Owner).expect("joined");
    store.claim(&finding("abc"), 0).expect("claimed");
    exchange(&mut store, 1);
    server.stop(Stop::Immediate);
    for _ in 0..3 {
        let news = exchange(&mut store, 10);
        assert_eq!(news.learned.get(ENGINE, "storm").tests % 10, 1, "{news:?}");
    }
    assert!(store.is_away());
    // The view goes on, and so do rounds; claims have to wait.
    assert_eq!(store.totals().expect("totals").tests, 31);
    assert_eq!(store.members().expect("members").len(), 1, "nobody is taken for dead");
    let rounds = store.claim_rounds(5).expect("rounds of its own");
    assert_eq!((rounds.start >> OWN_ROUNDS, rounds.end - rounds.start), (member.0 + 1, 5));
    assert_eq!(store.claim_rounds(5).expect("more").start, rounds.end);
    assert_eq!(store.duplicate("abc").expect("counted").map(|known| known.duplicates), Some(1));
    assert!(store.claim(&finding("new"), 1).expect_err("not now").is_away());
    let notes = store.take_notes();
    assert!(notes.len() == 1 && notes[0].contains("the work goes on"), "{notes:?}");
    server.start_again().expect("started");
    tried_again(&mut store);
    exchange(&mut store, 100);
    assert!(store.take_notes().iter().any(|note| note.contains("is back")) && !store.is_away());
    let mut other = PostgresStore::open(&url).expect("opened");
    assert_eq!(other.totals().expect("totals").tests, 131);
    assert_eq!(other.learned().expect("learned").get(LOGIC, "QF_LIA").tests, 131);
    assert_eq!(other.findings().expect("findings")[0].duplicates, 1);
    assert_eq!(store.claim_rounds(1).expect("claimed"), 0..1, "numbers of the server again");
}

#[test]
fn what_a_server_lost_with_its_power_is_delivered_again() {
    let Some(server) = postgres::own_postgres(&["wal_writer_delay=10s", "synchronous_commit=off"]) else {
        return;
    };
    let (url, folder) = (campaign(&server), tempfile::tempdir().expect("a folder"));
    server.sql("postgres", "CHECKPOINT").expect("written");
    let mut store = open(&url, folder.path());
    store.join(Role::Owner).expect("joined");
    for _ in 0..20 {
        exchange(&mut store, 1);
    }
    server.restart(Stop::Immediate);
    let mut other = PostgresStore::open(&url).expect("opened");
    let kept = other.totals().expect("totals").tests;
    assert!(kept < 20, "the server has lost nothing: this test shows nothing");
    tried_again(&mut store);
    // The first call notices that the connection is gone.
    exchange(&mut store, 1);
    tried_again(&mut store);
    exchange(&mut store, 1);
    assert_eq!(other.totals().expect("totals").tests, 22);
}

#[test]
fn a_full_disk_of_the_server_is_waited_for() {
    let Some(server) = postgres::postgres() else { return };
    let (url, folder) = (campaign(server), tempfile::tempdir().expect("a folder"));
    let mut store = open(&url, folder.path());
    let schema = url.schema();
    let full = format!(
        "SET search_path = {schema}; CREATE FUNCTION no_room() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN \
         RAISE EXCEPTION 'could not extend file' USING ERRCODE = 'disk_full'; END $$; \
         CREATE TRIGGER no_room BEFORE INSERT ON samples EXECUTE FUNCTION no_room()"
    );
    server.sql("postgres", &full).expect("full");
    exchange(&mut store, 1);
    for _ in 0..3 {
        tried_again(&mut store);
        exchange(&mut store, 1);
    }
    let notes = store.take_notes();
    assert!(notes.len() == 1 && notes[0].contains("no room"), "it is said once: {notes:?}");
    server.sql("postgres", &format!("DROP TRIGGER no_room ON {schema}.samples")).expect("room again");
    tried_again(&mut store);
    exchange(&mut store, 1);
    let notes = store.take_notes();
    assert!(notes.len() == 1 && notes[0].contains("5 entries of the journal are delivered"), "{notes:?}");
    assert_eq!(PostgresStore::open(&url).and_then(|mut store| store.totals()).expect("totals").tests, 5);
}

#[test]
fn a_machine_whose_clock_is_wrong_does_not_bend_the_curves() {
    assert_eq!([skew(100, 100), skew(129, 100), skew(100, 160), skew(3700, 95)], [0, 0, -60, 3600]);
    let Some(server) = postgres::postgres() else { return };
    let (url, folder) = (campaign(server), tempfile::tempdir().expect("a folder"));
    let mut store = open(&url, folder.path());
    assert_eq!(store.skew, 0, "server and test have one clock");
    exchange(&mut store, 1);
    let right = store.samples().expect("samples");
    // As on a machine that is an hour ahead.
    store.skew = -3600;
    let mut late = delta(1);
    late.samples.iter_mut().for_each(|sample| sample.at += 3600);
    store.merge(&late).expect("kept");
    store.news().expect("delivered");
    let both: Vec<(u64, u64)> = store.samples().expect("samples").iter().map(|s| (s.at, s.tests)).collect();
    assert_eq!(both, right.iter().map(|sample| (sample.at, 2 * sample.tests)).collect::<Vec<_>>());
}

#[test]
fn a_journal_that_a_killed_process_left_is_delivered_by_the_next_one() {
    let Some(server) = postgres::postgres() else { return };
    let (url, folder) = (campaign(server), tempfile::tempdir().expect("a folder"));
    let mut first = open(&url, folder.path());
    exchange(&mut first, 1);
    first.merge(&delta(10)).expect("kept, and not delivered");
    drop(first);
    let mut second = open(&url, folder.path());
    assert_eq!(second.totals().expect("totals").tests, 11);
    exchange(&mut second, 100);
    drop(second);
    let mut third = open(&url, folder.path());
    assert_eq!(third.totals().expect("totals").tests, 111);
}

#[test]
fn an_exchange_is_one_writing_transaction_whatever_was_counted() {
    let Some(server) = postgres::own_postgres(&[]) else { return };
    let (url, folder) = (campaign(&server), tempfile::tempdir().expect("a folder"));
    let mut store = open(&url, folder.path());
    let member = store.join(Role::Owner).expect("joined");
    let mut whole = || {
        exchange(&mut store, 1);
        store.beat(member).expect("alive");
        store.duplicate("abc").expect("counted");
        store.totals().expect("totals");
        store.members().expect("members");
        store.closing().expect("an answer");
    };
    whole();
    let count = || {
        // Statistics of other sessions come late; the number of transactions is also in the numbers of changes.
        let sql = format!("SELECT value FROM {}.counters WHERE name = 'changes'", url.schema());
        server.sql("postgres", &sql).expect("a number").parse::<u64>().expect("a number")
    };
    let before = count();
    for _ in 0..10 {
        whole();
    }
    assert_eq!(count() - before, 10, "one writing transaction each");
}

#[test]
fn others_who_hold_the_server_for_long_are_waited_for() {
    let Some(server) = postgres::postgres() else { return };
    let (url, folder) = (campaign(server), tempfile::tempdir().expect("a folder"));
    let mut store = open(&url, folder.path());
    let schema = url.schema();
    // What a server says to whom a lock was not given in time.
    let busy = format!(
        "SET search_path = {schema}; CREATE FUNCTION busy() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN \
         RAISE EXCEPTION 'canceling statement due to lock timeout' USING ERRCODE = '55P03'; END $$; \
         CREATE TRIGGER busy BEFORE UPDATE ON counters EXECUTE FUNCTION busy()"
    );
    server.sql("postgres", &busy).expect("busy");
    exchange(&mut store, 4);
    assert!(store.take_notes()[0].contains("lock timeout"));
    server.sql("postgres", &format!("DROP TRIGGER busy ON {schema}.counters")).expect("free again");
    tried_again(&mut store);
    exchange(&mut store, 1);
    assert_eq!(PostgresStore::open(&url).and_then(|mut store| store.totals()).expect("totals").tests, 5);
}

#[test]
fn a_campaign_that_is_removed_ends_its_workers_and_a_later_one_gets_nothing_of_it() {
    let Some(server) = postgres::own_postgres(&[]) else { return };
    let (url, folder) = (campaign(&server), tempfile::tempdir().expect("a folder"));
    let (mut one, other) = (open(&url, folder.path()), tempfile::tempdir().expect("a folder"));
    let mut two = open(&url, other.path());
    exchange(&mut one, 1);
    server.sql("postgres", &format!("DROP SCHEMA {} CASCADE", url.schema())).expect("removed");
    one.merge(&delta(4)).expect("kept");
    let removed = one.news().expect_err("there is nothing to work on");
    assert!(matches!(removed, StoreError::Removed(_)), "{removed:?}");
    drop(one);
    // Another one with the same name, while a worker had no connection.
    PostgresStore::create(&url, &identity(), &given()).expect("made");
    server.restart(Stop::Fast);
    two.merge(&delta(8)).expect("kept");
    let _ = two.news();
    tried_again(&mut two);
    let removed = two.news().expect_err("this is another campaign");
    assert!(matches!(removed, StoreError::Removed(_)), "{removed:?}");
    let again = PostgresStore::open(&url).expect("connected");
    let refused = JournaledStore::open(again, &url, &folder.path().join("journal")).err().expect("refused");
    assert!(matches!(refused, StoreError::OtherCampaign(_)), "{refused:?}");
    assert_eq!(PostgresStore::open(&url).and_then(|mut store| store.totals()).expect("totals").tests, 0);
}

/// Does nothing unless another test has started it.
#[test]
fn in_a_child_process() {
    let (Ok(address), Some(folder)) = (std::env::var(ADDRESS), std::env::var_os(FOLDER)) else { return };
    let url = ServerUrl::parse(&address).expect("an address");
    let mut store = open(&url, Path::new(&folder));
    store.join(Role::Helper).expect("joined");
    for tests in 1..=ROUNDS {
        // Told before it is kept, as a process's log does it.
        println!("\ncounted {} {tests}", store.journaled().unwrap_or_default() + 1);
        tried_again(&mut store);
        exchange(&mut store, tests);
        for round in store.claim_rounds(2).expect("claimed") {
            println!("\nround {round}");
        }
        std::thread::sleep(Duration::from_millis(20));
    }
    for _ in 0..100 {
        tried_again(&mut store);
        store.news().expect("news, or none");
        if store.away.is_none() && store.journal.after(store.delivered).count() == 0 {
            return;
        }
        std::thread::sleep(Duration::from_millis(100));
    }
    panic!("the server did not come back");
}

#[test]
fn four_processes_one_killed_one_late_and_a_server_that_loses_its_power_add_up() {
    let Some(server) = postgres::own_postgres(&[]) else { return };
    let url = campaign(&server);
    let address = format!(
        "postgres://osprey:{}@127.0.0.1:{}/postgres?schema={}",
        postgres::PASSWORD,
        server.port(),
        url.schema()
    );
    let folders: Vec<_> = (0..4).map(|_| tempfile::tempdir().expect("a folder")).collect();
    let child = |place: usize| {
        let mut command = Command::new(std::env::current_exe().expect("this program"));
        command.args(["--exact", "store::journal::tests::in_a_child_process", "--nocapture"]);
        command.env(ADDRESS, &address).env(FOLDER, folders[place].path());
        command.stdout(Stdio::piped()).stderr(Stdio::null()).spawn().expect("started")
    };
    let mut children: Vec<_> = (0..3).map(child).collect();
    let busy = format!("SELECT count(*) FROM {}.deliveries WHERE sequence >= 5", url.schema());
    while server.sql("postgres", &busy).expect("a number") != "3" {
        std::thread::sleep(Duration::from_millis(50));
    }
    children[0].kill().expect("killed");
    server.restart(Stop::Immediate);
    children.push(child(3));
    let said: Vec<String> = children
        .into_iter()
        .map(|child| String::from_utf8_lossy(&child.wait_with_output().expect("ended").stdout).into_owned())
        .collect();
    // What the killed one had kept is delivered by the next process with its folder.
    drop(open(&url, folders[0].path()));
    let mut here = PostgresStore::open(&url).expect("opened");
    let campaign = here.campaign().expect("a name");
    let (mut counted, mut rounds) = (0, Vec::new());
    for (place, text) in said.iter().enumerate() {
        let (journal, _) =
            Journal::open(&folders[place].path().join("journal"), &campaign).expect("a journal");
        let delivered = here.delivered(journal.worker()).expect("a number");
        assert_eq!(delivered, journal.last(), "everything that was kept is delivered");
        for line in text.lines() {
            let words: Vec<&str> = line.split(' ').collect();
            match words[..] {
                ["counted", sequence, tests] if sequence.parse::<u64>().is_ok_and(|one| one <= delivered) => {
                    counted += tests.parse::<u64>().expect("a number");
                }
                ["round", round] => rounds.push(round.parse::<u64>().expect("a number")),
                _ => {}
            }
        }
        let all = (1..=ROUNDS).count() as u64;
        assert!(place == 0 || delivered >= all, "{delivered} of {all} entries");
    }
    assert_eq!(here.totals().expect("totals").tests, counted);
    assert_eq!(here.learned().expect("learned").get(ENGINE, "storm").tests, counted);
    assert_eq!(here.samples().expect("samples").iter().map(|one| one.tests).sum::<u64>(), counted);
    let different: BTreeSet<u64> = rounds.iter().copied().collect();
    assert_eq!(different.len(), rounds.len(), "no round was given twice");
}
