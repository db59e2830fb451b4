//! What is particular to a file: other processes, crashes, reopening, other versions.

use crate::store::Role;
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::process::{Command, Stdio};

use rusqlite::Connection;

use super::super::contract::{delta, finding, given, identity, seed};
use super::super::place::{FILE, create};
use super::super::{self as store, CampaignStore, Claim, Delta, MEMBER_GONE, Presence, StoreError};
use super::SqliteStore;
use crate::seeds::SeedText;

/// Where a child process finds the campaign, and what it is to do there.
const FOLDER: &str = "OSPREY_TEST_STORE";
const TASK: &str = "OSPREY_TEST_TASK";

fn campaign() -> tempfile::TempDir {
    let folder = tempfile::tempdir().expect("a folder");
    create(folder.path(), &identity(), &given()).expect("made");
    folder
}

/// This test program once more, doing only [`in_a_child_process`].
fn child(folder: &Path, task: &str) -> Command {
    let mut command = Command::new(std::env::current_exe().expect("this program"));
    command
        .args(["--exact", "store::sqlite::tests::in_a_child_process", "--nocapture"])
        .envs([(FOLDER, folder.as_os_str()), (TASK, task.as_ref())])
        .stdout(Stdio::piped())
        .stderr(Stdio::null());
    command
}

/// Does nothing unless another test has started it.
#[test]
fn in_a_child_process() {
    let Some(folder) = std::env::var_os(FOLDER) else { return };
    let mut handle = store::open(Path::new(&folder)).expect("opened");
    match std::env::var(TASK).as_deref() {
        Ok("rounds") => {
            for _ in 0..30 {
                for round in handle.claim_rounds(3).expect("claimed") {
                    println!("\nround {round}");
                }
                handle.merge(&delta(1)).expect("merged");
            }
        }
        Ok("die") => {
            handle.claim(&finding("dead"), 0).expect("claimed");
            handle.claim_rounds(10).expect("claimed");
            handle.claim_untried(1).expect("claimed");
            std::process::abort();
        }
        task => panic!("{task:?}"),
    }
}

#[test]
fn several_processes_never_get_the_same_round_and_their_counts_add_up() {
    let folder = campaign();
    let children: Vec<_> = (0..2).map(|_| child(folder.path(), "rounds").spawn().expect("started")).collect();
    let mut here = store::open(folder.path()).expect("opened");
    let mut rounds: Vec<u64> = Vec::new();
    for _ in 0..30 {
        rounds.extend(here.claim_rounds(3).expect("claimed"));
        here.merge(&delta(1)).expect("merged");
    }
    for child in children {
        let output = child.wait_with_output().expect("ended");
        assert!(output.status.success());
        let text = String::from_utf8_lossy(&output.stdout).into_owned();
        let numbers = text.lines().filter_map(|line| line.strip_prefix("round "));
        rounds.extend(numbers.map(|number| number.parse::<u64>().expect("a number")));
    }
    let different: BTreeSet<u64> = rounds.iter().copied().collect();
    assert_eq!((rounds.len(), different.len()), (270, 270));
    assert_eq!(here.totals().expect("totals").tests, 90);
    assert_eq!(here.learned().expect("learned").get(store::ENGINE, "storm").tests, 90);
}

#[test]
fn a_process_that_dies_loses_none_of_its_claims() {
    let folder = campaign();
    let ended = child(folder.path(), "die").output().expect("ended");
    assert!(!ended.status.success());
    let mut here = store::open(folder.path()).expect("opened");
    assert_eq!(here.claim(&finding("dead"), 0).expect("an answer"), Claim::Known(finding("dead")));
    assert_eq!(here.claim_rounds(1).expect("claimed"), 10..11);
    assert_eq!(here.claim_untried(9).expect("claimed").len(), 2);
}

#[test]
fn everything_survives_reopening() {
    let folder = campaign();
    let mut first = store::open(folder.path()).expect("opened");
    let mut told = delta(4);
    told.features = vec![9, 8];
    told.sites = [(u64::MAX, vec![7, 3]), (1, vec![3])].into();
    told.new_seeds.push(store::StoredSeed { seed: seed("(assert false)"), mutant: true });
    first.merge(&told).expect("merged");
    first.claim(&finding("abc"), 0).expect("claimed");
    first.claim_rounds(5).expect("claimed");
    let contents = |handle: &mut dyn CampaignStore| {
        let counts = (handle.totals().expect("totals"), handle.learned().expect("learned"));
        let seeds = (handle.pool().expect("pool"), handle.features().expect("features"));
        let reached = handle.sites().expect("sites");
        let rest = (handle.findings().expect("findings"), handle.samples().expect("samples"), reached);
        (counts, seeds, rest, handle.started().expect("started"), handle.identity().expect("identity"))
    };
    let before = contents(first.as_mut());
    let mut reader = store::read(folder.path()).expect("opened beside the writer");
    assert_eq!(contents(reader.as_mut()), before);
    drop((first, reader));
    let mut again = store::open(folder.path()).expect("opened");
    assert_eq!(contents(again.as_mut()), before);
    assert_eq!(again.claim_rounds(1).expect("claimed"), 5..6);
    drop(again);
    assert_eq!(contents(store::read(folder.path()).expect("opened").as_mut()), before);
}

#[test]
fn a_reader_hears_the_news_of_all_and_cannot_write() {
    let folder = campaign();
    let mut reader = store::read(folder.path()).expect("opened");
    let mut writer = store::open(folder.path()).expect("opened");
    writer.merge(&delta(1)).expect("merged");
    writer.claim(&finding("abc"), 0).expect("claimed");
    let news = reader.news().expect("news");
    assert_eq!((news.seeds.len(), news.findings.len()), (1, 1));
    assert!(matches!(reader.claim_rounds(1), Err(StoreError::ReadOnly)));
    assert!(matches!(reader.merge(&delta(1)), Err(StoreError::ReadOnly)));
}

#[test]
fn a_delta_that_cannot_be_written_leaves_nothing_behind() {
    let folder = campaign();
    let mut handle = store::open(folder.path()).expect("opened");
    let breaker = Connection::open(folder.path().join(FILE)).expect("opened");
    breaker
        .execute_batch(
            "CREATE TRIGGER full BEFORE INSERT ON samples BEGIN SELECT raise(ABORT, 'no room'); END",
        )
        .expect("set up");
    let error = handle.merge(&delta(1)).expect_err("refused");
    assert!(error.to_string().contains("no room"), "{error}");
    assert!(handle.totals().expect("totals").is_empty());
    assert!(handle.learned().expect("learned").is_empty());
    breaker.execute_batch("DROP TRIGGER full").expect("undone");
    handle.merge(&delta(1)).expect("merged");
    assert_eq!(handle.totals().expect("totals").tests, 1);
}

#[test]
fn a_file_left_by_a_start_that_was_killed_is_nothing_and_can_be_made_again() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join(FILE);
    assert_eq!(store::presence(folder.path()).expect("looked"), Presence::Nothing);
    assert!(matches!(store::open(folder.path()), Err(StoreError::Missing(_))));
    let empty = || std::fs::write(&file, b"").expect("written");
    let header = || {
        let connection = Connection::open(&file).expect("opened");
        connection.execute_batch("PRAGMA journal_mode = WAL; VACUUM").expect("a header");
    };
    for leave in [&empty as &dyn Fn(), &header] {
        leave();
        assert_eq!(store::presence(folder.path()).expect("looked"), Presence::Nothing);
        for result in [store::open(folder.path()), store::read(folder.path())] {
            let error = result.err().expect("refused");
            assert!(matches!(error, StoreError::Unfinished(_)), "{error}");
            assert!(error.to_string().contains("start it again without --resume"), "{error}");
        }
    }
    create(folder.path(), &identity(), &given()).expect("made over it");
    assert_eq!(store::presence(folder.path()).expect("looked"), Presence::Campaign);
    assert_eq!(store::open(folder.path()).expect("opened").pool().expect("pool").len(), 3);
}

#[test]
fn a_campaign_is_never_overwritten() {
    let folder = campaign();
    let again = create(folder.path(), &identity(), &[]);
    assert!(matches!(again, Err(StoreError::Exists(_))));
    assert_eq!(store::open(folder.path()).expect("opened").pool().expect("pool").len(), 3);
}

/// A file as the first format had it.
fn first_format(path: &Path, seed: &SeedText) {
    let connection = Connection::open(path).expect("opened");
    connection
        .execute_batch(
            "PRAGMA journal_mode = WAL;
             CREATE TABLE meta (key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
             CREATE TABLE seeds (
                 hash TEXT PRIMARY KEY, name TEXT NOT NULL, text TEXT NOT NULL, mutant INTEGER NOT NULL,
                 state TEXT NOT NULL, rounds INTEGER NOT NULL, tests INTEGER NOT NULL, cpu INTEGER NOT NULL,
                 findings INTEGER NOT NULL, novel INTEGER NOT NULL) WITHOUT ROWID;
             CREATE TABLE findings (
                 hash TEXT PRIMARY KEY, signature TEXT NOT NULL, kind TEXT NOT NULL, solver TEXT NOT NULL,
                 folder TEXT NOT NULL, round INTEGER NOT NULL, step INTEGER NOT NULL, duplicates INTEGER NOT NULL,
                 flaky INTEGER NOT NULL) WITHOUT ROWID;
             INSERT INTO findings VALUES
                 ('abc', 'signature of abc', 'crash', 'z3', 'crash-z3-abc', 3, 4, 0, 0);
             PRAGMA user_version = 1;",
        )
        .expect("tables");
    let identity = serde_json::to_string(&identity()).expect("text");
    connection.execute("INSERT INTO meta VALUES ('identity', ?)", [identity]).expect("identity");
    connection
        .execute(
            "INSERT INTO seeds VALUES (?, ?, ?, 1, 'retired', 1, 2, 3, 4, 5)",
            [seed.hash.as_str(), &seed.name, &seed.text],
        )
        .expect("a seed");
}

#[test]
fn of_a_file_of_the_first_format_findings_and_their_seeds_can_be_read_and_nothing_written() {
    let folder = tempfile::tempdir().expect("a folder");
    let ancestor = seed("(assert false)");
    first_format(&folder.path().join(FILE), &ancestor);
    assert_eq!(store::presence(folder.path()).expect("looked"), Presence::Campaign);
    let mut old = store::read(folder.path()).expect("opened");
    assert_eq!(old.identity().expect("identity"), identity());
    assert_eq!(old.seed(&ancestor.hash).expect("a seed"), Some(ancestor));
    assert_eq!(old.seed("none").expect("no seed"), None);
    let ungrouped = store::KnownFinding { face: String::new(), ..finding("abc") };
    assert_eq!(old.findings().expect("findings"), [ungrouped]);
    assert!(matches!(old.totals(), Err(StoreError::Older { found: 1, .. })));
    assert!(matches!(old.news(), Err(StoreError::Older { found: 1, .. })));
    assert!(matches!(old.claim_rounds(1), Err(StoreError::ReadOnly)));
    let error = store::open(folder.path()).err().expect("refused");
    assert!(matches!(error, StoreError::Older { found: 1, .. }));
    assert!(error.to_string().contains("--out"), "{error}");
    assert!(matches!(create(folder.path(), &identity(), &[]), Err(StoreError::Exists(_))));
}

#[test]
fn a_campaign_without_groups_goes_on_with_every_finding_a_bug_of_its_own() {
    let folder = campaign();
    let mut handle = store::open(folder.path()).expect("opened");
    handle.claim(&finding("abc"), 0).expect("claimed");
    handle.merge(&delta(2)).expect("merged");
    drop(handle);
    let connection = Connection::open(folder.path().join(FILE)).expect("opened");
    connection
        .execute_batch(
            "ALTER TABLE findings DROP COLUMN bug; ALTER TABLE findings DROP COLUMN face; DROP TABLE reached; \
             ALTER TABLE samples DROP COLUMN functions; ALTER TABLE samples DROP COLUMN blocks; \
             PRAGMA user_version = 2",
        )
        .expect("as it was");
    drop(connection);
    let ungrouped = store::KnownFinding { face: String::new(), ..finding("abc") };
    let mut reader = store::read(folder.path()).expect("opened");
    assert_eq!(reader.findings().expect("findings"), std::slice::from_ref(&ungrouped));
    let mut again = store::open(folder.path()).expect("opened");
    assert_eq!(again.findings().expect("findings"), [ungrouped]);
    assert_eq!(again.totals().expect("totals").tests, 2);
    assert_eq!(again.claim(&finding("new"), 1).expect("claimed"), Claim::New);
}

#[test]
fn a_campaign_with_a_row_for_every_site_goes_on_with_what_was_reached() {
    let folder = campaign();
    let file = folder.path().join(FILE);
    let connection = Connection::open(&file).expect("opened");
    connection
        .execute_batch(
            "DROP TABLE reached;
             CREATE TABLE reached (
                 number INTEGER PRIMARY KEY, code INTEGER NOT NULL, site INTEGER NOT NULL, writer INTEGER NOT NULL,
                 UNIQUE (code, site));
             INSERT INTO reached (code, site, writer) VALUES (-1, 7, 1), (-1, 3, 2), (1, 3, 1);
             PRAGMA user_version = 4",
        )
        .expect("as it was");
    drop(connection);
    let reached = BTreeMap::from([(u64::MAX, vec![3, 7]), (1, vec![3])]);
    let mut reader = store::read(folder.path()).expect("opened");
    assert_eq!(reader.sites().expect("sites"), reached);
    drop(reader);
    let somebody = "INSERT INTO members VALUES (7, 'owner', ?, unixepoch())";
    let connection = Connection::open(&file).expect("opened");
    connection.execute(somebody, [std::process::id()]).expect("there");
    let error = store::open(folder.path()).err().expect("refused");
    assert!(matches!(error, StoreError::Occupied { found: 4, ours: 5, .. }), "{error}");
    connection.execute("DELETE FROM members", []).expect("gone");
    drop(connection);
    let mut first = store::open(folder.path()).expect("opened");
    assert_eq!(first.sites().expect("sites"), reached);
    let mut second = store::open(folder.path()).expect("opened");
    // Both have reached the same, before they heard of each other.
    for handle in [&mut first, &mut second] {
        handle.merge(&Delta { sites: [(1, vec![9, 4])].into(), ..Delta::default() }).expect("merged");
    }
    assert_eq!(first.news().expect("news").sites, BTreeMap::from([(1, vec![4, 9])]));
    let mut reader = store::read(folder.path()).expect("opened");
    assert_eq!(reader.sites().expect("sites"), BTreeMap::from([(u64::MAX, vec![3, 7]), (1, vec![3, 4, 9])]));
    Connection::open(&file)
        .expect("opened")
        .execute("UPDATE reached SET sites = x'010203'", [])
        .expect("changed");
    assert!(matches!(reader.sites(), Err(StoreError::Damaged { .. })));
}

#[test]
fn files_of_newer_versions_and_of_other_programs_are_refused() {
    let folder = campaign();
    let connection = Connection::open(folder.path().join(FILE)).expect("opened");
    connection.execute_batch("PRAGMA user_version = 6").expect("set");
    for result in [store::open(folder.path()), store::read(folder.path())] {
        assert!(matches!(result, Err(StoreError::Newer { found: 6, .. })));
    }
    connection.execute_batch("PRAGMA user_version = 0").expect("set");
    assert!(matches!(store::open(folder.path()), Err(StoreError::Foreign(_))));
    assert!(matches!(create(folder.path(), &identity(), &[]), Err(StoreError::Foreign(_))));
    drop(connection);
    std::fs::write(folder.path().join(FILE), "no database at all, only a text of some length")
        .expect("written");
    assert!(matches!(store::open(folder.path()), Err(StoreError::Foreign(_))));
}

#[test]
fn members_without_a_sign_of_life_are_gone() {
    let folder = campaign();
    let mut handle = SqliteStore::open(&folder.path().join(FILE)).expect("opened");
    let member = handle.join(Role::Helper).expect("joined");
    let silence = MEMBER_GONE as i64 + 5;
    handle.connection.execute("UPDATE members SET seen = seen - ?", [silence]).expect("set");
    assert!(handle.members().expect("members").is_empty());
    handle.beat(member).expect("alive after all");
    assert_eq!(handle.members().expect("members").len(), 1);
}

#[test]
fn an_empty_delta_writes_nothing() {
    let folder = campaign();
    let mut handle = SqliteStore::open(&folder.path().join(FILE)).expect("opened");
    let before = super::query::newest(&handle.connection).expect("a number").change;
    handle.merge(&Delta::default()).expect("merged");
    assert_eq!(super::query::newest(&handle.connection).expect("a number").change, before);
}

#[test]
fn a_folder_that_leads_out_of_the_campaign_is_refused() {
    let folder = tempfile::tempdir().expect("a folder");
    first_format(&folder.path().join(FILE), &seed("(assert false)"));
    let connection = Connection::open(folder.path().join(FILE)).expect("opened");
    for name in ["../../victim", "/tmp/victim", "..", ""] {
        connection.execute("UPDATE findings SET folder = ?", [name]).expect("changed");
        let mut store = store::read(folder.path()).expect("opened");
        assert!(store.findings().is_err(), "{name}");
    }
}
