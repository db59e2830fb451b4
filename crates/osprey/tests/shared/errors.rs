//! What is wrong is said and shows no password; who may do what.

use std::path::Path;
use std::process::Command;

use testkit::have;
use testkit::postgres::{self, PASSWORD};

use super::common::{osprey, run, text};
use super::*;

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
    let slips = [
        "postgress://osprey:s3cr3t@127.0.0.1/db",
        "postgres:/osprey:s3cr3t@127.0.0.1/db",
        "host=127.0.0.1 user=osprey password=s3cr3t dbname=db",
    ];
    for slip in slips {
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
    let output = ended(owner);
    assert!(!text(&output).contains(PASSWORD), "{}", text(&output));
    // Neither folder, log, report nor tables have it, though the command line is part of a report.
    let report = setup.place.path("report");
    let home = setup.place.path("home");
    let made =
        osprey(&["report", &whole, "-o", &report]).env("OSPREY_HOME", &home).output().expect("osprey starts");
    assert_eq!(made.status.code(), Some(0), "{}", text(&made));
    assert!(setup.place.read("report/campaign.html").contains("osprey fuzz"));
    let places = [setup.place.path("owner"), setup.log("owner"), report, home];
    let found = Command::new("grep").args(["-rl", PASSWORD]).args(places).output().expect("grep");
    assert_eq!(String::from_utf8_lossy(&found.stdout), "");
    for table in ["totals", "meta", "findings", "members"] {
        let rows = format!("SELECT count(*) FROM {table} AS row WHERE row::text LIKE '%{PASSWORD}%'");
        assert_eq!(number(server, schema, &rows), 0, "{table}");
    }
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
