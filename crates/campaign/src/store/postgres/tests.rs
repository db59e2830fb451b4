//! What is particular to a server: addresses, passwords, other versions, deliveries, folders.

use std::collections::BTreeMap;

use testkit::postgres::{self, PASSWORD, Postgres, Stop};

use super::super::contract::{delta, finding, given, identity};
use super::super::{ArchivedFile, Work};
use super::*;

/// A campaign on the server that all tests share.
pub struct OnServer {
    pub server: &'static Postgres,
    pub address: String,
}

impl OnServer {
    pub fn new() -> Option<OnServer> {
        let server = postgres::postgres()?;
        let store = OnServer { server, address: server.url() };
        PostgresStore::create(&store.url(), &identity(), &given()).expect("made");
        Some(store)
    }

    pub fn url(&self) -> ServerUrl {
        ServerUrl::parse(&self.address).expect("an address")
    }

    pub fn open(&self) -> PostgresStore {
        PostgresStore::open(&self.url()).expect("opened")
    }

    /// Something done behind the campaign's back.
    fn meddle(&self, sql: &str) {
        let sql = format!("SET search_path = {}; {sql}", self.url().schema());
        self.server.sql("postgres", &sql).expect("done");
    }
}

fn no_duplicates() -> BTreeMap<String, u64> {
    BTreeMap::new()
}

#[test]
fn a_delivery_whose_answer_got_lost_is_counted_once() {
    let Some(store) = OnServer::new() else { return };
    let (mut one, mut other) = (store.open(), store.open());
    one.claim(&finding("abc"), 0).expect("claimed");
    let (first, second, none) = (delta(2), delta(5), no_duplicates());
    let again = BTreeMap::from([("abc".to_owned(), 3)]);
    let entries = vec![(1, &first, &again), (2, &second, &none)];
    let delivery = Delivery { worker: "w", entries };
    assert_eq!(one.deliver(&delivery).expect("delivered"), 2);
    // By whichever connection, and with more behind it.
    let entries = vec![(1, &first, &again), (2, &second, &none), (3, &first, &none)];
    assert_eq!(other.deliver(&Delivery { worker: "w", entries }).expect("delivered"), 3);
    assert_eq!(other.delivered("w").expect("a number"), 3);
    assert_eq!(other.delivered("somebody else").expect("a number"), 0);
    assert_eq!(other.totals().expect("totals").tests, 9);
    assert_eq!(other.findings().expect("findings")[0].duplicates, 3);
}

#[test]
fn wrong_addresses_are_told_apart_and_none_shows_the_password() {
    let Some(store) = OnServer::new() else { return };
    let port = store.server.port();
    let say = |address: &str| {
        let error = ServerUrl::parse(address).and_then(|url| PostgresStore::open(&url).map(|_| ()));
        let error = error.expect_err("refused");
        assert!(!format!("{error} {error:?}").contains("s3cr3t"), "{error:?}");
        assert!(!format!("{error} {error:?}").contains(PASSWORD), "{error:?}");
        error
    };
    let wrong = say(&format!("postgres://osprey:s3cr3t@127.0.0.1:{port}/postgres"));
    assert!(matches!(wrong, StoreError::Refused { .. }), "{wrong:?}");
    assert!(wrong.to_string().contains("PGPASSWORD"), "{wrong}");
    let missing = say(&format!("postgres://osprey@127.0.0.1:{port}/postgres"));
    assert!(matches!(missing, StoreError::Refused { .. }), "{missing:?}");
    assert!(missing.to_string().contains(".pgpass"), "{missing}");
    let database = say(&format!("postgres://osprey:{PASSWORD}@127.0.0.1:{port}/none"));
    assert!(database.to_string().contains("createdb"), "{database}");
    let nobody = say("postgres://osprey:s3cr3t@127.0.0.1:9/postgres");
    assert!(nobody.is_away(), "{nobody:?}");
    let host = say("postgres://osprey:s3cr3t@no-such-host.invalid/postgres");
    assert!(host.is_away(), "{host:?}");
    let campaign = say(&format!("postgres://osprey:{PASSWORD}@127.0.0.1:{port}/postgres?schema=nothing"));
    assert!(matches!(campaign, StoreError::Missing(_)), "{campaign:?}");
    let tls = say(&format!("postgres://osprey:{PASSWORD}@127.0.0.1:{port}/postgres?sslmode=require"));
    assert!(tls.to_string().contains("it has no TLS"), "{tls}");
}

#[test]
fn a_campaign_is_made_once_and_another_programs_tables_are_left_alone() {
    let Some(store) = OnServer::new() else { return };
    assert_eq!(PostgresStore::presence(&store.url()).expect("looked"), Presence::Campaign);
    let again = PostgresStore::create(&store.url(), &identity(), &[]).err().expect("refused");
    assert!(matches!(again, StoreError::Exists(_)), "{again:?}");
    let other = ServerUrl::parse(&store.server.url()).expect("an address");
    assert_eq!(PostgresStore::presence(&other).expect("looked"), Presence::Nothing);
    let schema = other.schema();
    store.server.sql("postgres", &format!("CREATE SCHEMA {schema}")).expect("made");
    assert_eq!(PostgresStore::presence(&other).expect("looked"), Presence::Nothing);
    store.server.sql("postgres", &format!("CREATE TABLE {schema}.theirs (a int)")).expect("made");
    let foreign = PostgresStore::presence(&other).expect_err("refused");
    assert!(matches!(foreign, StoreError::Foreign(_)), "{foreign:?}");
}

#[test]
fn tables_of_another_version_are_refused_and_earlier_ones_brought_up_to_date_by_the_owner() {
    let Some(store) = OnServer::new() else { return };
    let mut handle = store.open();
    handle.merge(&delta(3)).expect("merged");
    // Of every earlier version.
    let tables = |step: u32| {
        let mut client = connect(&store.url()).expect("connected");
        let mut transaction = client.transaction().expect("begun");
        schema::downgrade(&mut transaction, step).expect("as it was");
        transaction.commit().expect("committed");
    };
    for step in 2..FORMAT {
        tables(step);
        let older = PostgresStore::open(&store.url()).err().expect("refused");
        assert!(matches!(older, StoreError::Outdated { found, .. } if found == step), "{older:?}");
        PostgresStore::upgrade(&store.url()).expect("up to date");
        let mut opened = store.open();
        assert_eq!(opened.totals().expect("totals").tests, 3);
        assert_eq!(opened.unwanted().expect("known bugs"), Unwanted::default());
    }
    tables(1);
    let older = PostgresStore::open(&store.url()).err().expect("refused");
    assert!(matches!(older, StoreError::Outdated { found: 1, ours: FORMAT, .. }), "{older:?}");
    assert!(older.to_string().contains("fuzz --resume --store"), "{older}");
    let member = handle.join(Role::Helper).expect("joined");
    let busy = PostgresStore::upgrade(&store.url()).expect_err("somebody works on it");
    assert!(busy.to_string().contains("1 of its processes"), "{busy}");
    store.meddle(&format!("DELETE FROM members WHERE id = {}", member.0));
    PostgresStore::upgrade(&store.url()).expect("up to date");
    assert_eq!(store.open().totals().expect("totals").tests, 3);
    store.meddle("UPDATE format SET step = 9");
    let newer = PostgresStore::open(&store.url()).err().expect("refused");
    assert!(matches!(newer, StoreError::Newer { found: 9, .. }), "{newer:?}");
    store.meddle(&format!(
        "UPDATE format SET step = {FORMAT}; UPDATE meta SET value = '9.9.9' WHERE key = 'osprey'"
    ));
    let other = PostgresStore::open(&store.url()).err().expect("refused");
    assert!(matches!(other, StoreError::OtherVersion { .. }), "{other:?}");
    assert!(other.to_string().contains("osprey 9.9.9"), "{other}");
    PostgresStore::read(&store.url()).expect("findings of another version can be read");
    PostgresStore::upgrade(&store.url()).expect("whoever resumes it goes on with another version");
    assert_eq!(store.open().totals().expect("totals").tests, 3);
}

#[test]
fn a_server_that_wants_tls_gets_it_and_its_certificate_is_looked_at() {
    let Some(server) = postgres::own_postgres(&[]) else { return };
    let data = server.folder().join("data");
    let made = std::process::Command::new("openssl")
        .args([
            "req",
            "-x509",
            "-newkey",
            "ec",
            "-pkeyopt",
            "ec_paramgen_curve:prime256v1",
            "-nodes",
            "-days",
            "9",
        ])
        .args(["-subj", "/CN=db.example", "-addext", "subjectAltName=DNS:db.example,DNS:localhost"])
        .args([
            "-addext",
            "basicConstraints=critical,CA:FALSE",
            "-keyout",
            "server.key",
            "-out",
            "server.crt",
        ])
        .current_dir(&data)
        .output();
    if !made.as_ref().is_ok_and(|made| made.status.success()) {
        testkit::skip("openssl", format!("{made:?}"));
        return;
    }
    let user = std::fs::metadata(&data).expect("a folder");
    for file in ["server.key", "server.crt"] {
        use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};
        let path = data.join(file);
        std::os::unix::fs::chown(&path, user.uid().into(), user.gid().into()).expect("given away");
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o600)).expect("permissions");
    }
    std::fs::write(data.join("pg_hba.conf"), "local all all trust\nhostssl all all all scram-sha-256\n")
        .expect("written");
    server.sql("postgres", "ALTER SYSTEM SET ssl = on").expect("set");
    server.restart(Stop::Fast);
    let address = |host: &str, more: &str| {
        format!("postgres://osprey:{PASSWORD}@{host}:{}/postgres?schema=a{more}", server.port())
    };
    let look = |address: &str| PostgresStore::presence(&ServerUrl::parse(address).expect("an address"));
    let plain = look(&address("127.0.0.1", "&sslmode=disable")).expect_err("refused").to_string();
    assert!(plain.contains("it wants TLS: add sslmode=require"), "{plain}");
    assert_eq!(look(&address("127.0.0.1", "&sslmode=require")).expect("looked"), Presence::Nothing);
    assert_eq!(look(&address("127.0.0.1", "")).expect("looked"), Presence::Nothing);
    let unknown = look(&address("localhost", "&sslmode=verify-full")).expect_err("refused").to_string();
    assert!(unknown.contains("certificate"), "{unknown}");
    let root = format!("&sslrootcert={}", data.join("server.crt").display());
    assert_eq!(
        look(&address("localhost", &format!("&sslmode=verify-full{root}"))).expect("looked"),
        Presence::Nothing
    );
    let name = look(&address("127.0.0.1", &format!("&sslmode=verify-full{root}"))).expect_err("refused");
    assert!(name.to_string().contains("certificate"), "{name}");
    assert_eq!(
        look(&address("127.0.0.1", &format!("&sslmode=verify-ca{root}"))).expect("looked"),
        Presence::Nothing
    );
}

fn file(name: &str, content: &str) -> ArchivedFile {
    ArchivedFile { name: name.into(), executable: name.ends_with(".sh"), content: content.into() }
}

#[test]
fn work_on_a_folder_is_one_members_until_that_is_gone() {
    let Some(store) = OnServer::new() else { return };
    let (mut one, mut other) = (store.open(), store.open());
    let first = one.join(Role::Owner).expect("joined");
    other.join(Role::Helper).expect("joined");
    let files = [file("finding.json", "{}"), file("repro.sh", "#!/bin/sh\n")];
    one.put("pending", &files, Work::Held, None).expect("put");
    assert_eq!(other.take().expect("looked"), None, "its holder lives");
    assert!(one.holds("pending").expect("looked"));
    store.meddle(&format!("UPDATE members SET seen = seen - interval '1 minute' WHERE id = {}", first.0));
    assert_eq!(other.take().expect("looked"), Some(("pending".to_owned(), files.to_vec())));
    assert!(!one.holds("pending").expect("looked") && other.holds("pending").expect("looked"));
    one.beat(first).expect("alive after all");
    assert_eq!(one.take().expect("looked"), None, "it is the other one's now");
    other.add("pending", &file("duplicates/1.smt2", "(assert true)")).expect("added");
    other.put("final", &files, Work::Done, Some("pending")).expect("put");
    assert_eq!(one.get("pending").expect("looked"), None);
    assert_eq!(one.get("final").expect("looked"), Some(files.to_vec()));
    assert_eq!(one.take().expect("looked"), None, "nothing is left to do");
    let listed = one.list().expect("listed");
    assert_eq!(listed.len(), 1);
    assert_eq!((listed[0].name.as_str(), listed[0].open, listed[0].held), ("final", false, false));
    assert_eq!(listed[0].hash, crate::hash::hash(b"{}"));
}

#[test]
fn who_leaves_leaves_the_work_to_others() {
    let Some(store) = OnServer::new() else { return };
    let (mut one, mut other) = (store.open(), store.open());
    let first = one.join(Role::Helper).expect("joined");
    other.join(Role::Helper).expect("joined");
    one.put("a", &[file("finding.json", "{}")], Work::Held, None).expect("put");
    one.put("b", &[file("finding.json", "{}")], Work::Held, None).expect("put");
    one.let_go("b", Work::Waiting).expect("let go");
    assert_eq!(other.take().expect("looked").map(|(name, _)| name), Some("b".to_owned()));
    assert_eq!(other.take().expect("looked"), None);
    one.leave(first).expect("left");
    assert_eq!(other.take().expect("looked").map(|(name, _)| name), Some("a".to_owned()));
}

#[test]
fn names_that_lead_out_of_the_folder_are_not_written() {
    let Some(store) = OnServer::new() else { return };
    let mut handle = store.open();
    handle
        .put("a", &[file("finding.json", "{}"), file("../../x", ""), file("/x", "")], Work::Done, None)
        .expect("put");
    assert_eq!(handle.get("a").expect("looked"), Some(vec![file("finding.json", "{}")]));
    handle.put("../b", &[file("finding.json", "{}")], Work::Waiting, None).expect("put");
    assert_eq!(handle.list().expect("listed").len(), 1);
    handle.claim(&finding("abc"), 0).expect("claimed");
    store.meddle("UPDATE findings SET data = replace(data, 'crash-z3-abc', '../../victim')");
    assert!(handle.findings().is_err());
}

#[test]
fn seeds_in_the_hand_of_a_member_that_is_gone_are_handed_out_again() {
    let Some(store) = OnServer::new() else { return };
    let (mut one, mut other) = (store.open(), store.open());
    let first = one.join(Role::Helper).expect("joined");
    other.join(Role::Helper).expect("joined");
    let taken = one.claim_untried(2).expect("claimed");
    assert_eq!(other.claim_untried(9).expect("claimed").len(), 1);
    assert!(other.claim_untried(9).expect("claimed").is_empty());
    // A round of the first one has come to an end.
    let mut done = Delta::default();
    let counts = Counts { rounds: 1, ..Counts::default() };
    done.seeds.push(super::super::SeedDelta { hash: taken[0].hash.clone(), counts });
    one.merge(&done).expect("merged");
    store.meddle(&format!("DELETE FROM members WHERE id = {}", first.0));
    assert_eq!(other.claim_untried(9).expect("claimed"), taken[1..]);
    assert!(other.claim_untried(9).expect("claimed").is_empty());
}

#[test]
fn members_without_a_sign_of_life_are_gone() {
    let Some(store) = OnServer::new() else { return };
    let mut handle = store.open();
    let member = handle.join(Role::Helper).expect("joined");
    store.meddle("UPDATE members SET seen = seen - interval '1 minute'");
    assert!(handle.members().expect("members").is_empty());
    handle.beat(member).expect("alive after all");
    assert_eq!(handle.members().expect("members").len(), 1);
}

#[test]
fn a_full_disk_of_the_server_is_an_absence_that_says_so() {
    let Some(store) = OnServer::new() else { return };
    let mut handle = store.open();
    store.meddle(
        "CREATE FUNCTION no_room() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE EXCEPTION 'could not extend file' \
         USING ERRCODE = 'disk_full'; END $$; \
         CREATE TRIGGER no_room BEFORE INSERT ON samples EXECUTE FUNCTION no_room()",
    );
    let error = handle.merge(&delta(1)).expect_err("refused");
    assert!(error.is_away() && error.is_disk() && error.to_string().contains("no room"), "{error:?}");
    assert!(handle.totals().expect("totals").is_empty(), "nothing is left of it");
}
