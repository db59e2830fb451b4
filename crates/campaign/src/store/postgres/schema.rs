//! The tables, and how those of an earlier version become those of this one.
//!
//! One campaign has one schema. `format` holds the number of the last step that was made; a new version adds a step to
//! [`STEPS`] and never changes one.

use postgres::{Client, Transaction};

use super::super::StoreError;
use super::error::explained;
use super::url::ServerUrl;

// Texts have a table of their own, so that adding to a seed's counts does not write its text again. In seeds and
// findings, `changed` and `writer` are the last change (by number) and whose it was, `other` is the last change by
// somebody else than that writer: whoever asks, this tells whether another one changed the row since a given change.
// Every writing transaction begins with the counter `changes`, whose row only one of them can hold, so that numbers are
// in the order of commits. Rows that all workers add to are updated in place: a page has room for several versions.
const CAMPAIGN: &str = "
CREATE TABLE format (step integer NOT NULL);
INSERT INTO format VALUES (0);
CREATE TABLE meta (key text PRIMARY KEY, value text NOT NULL);
CREATE TABLE counters (name text PRIMARY KEY, value bigint NOT NULL) WITH (fillfactor = 20);
INSERT INTO counters VALUES ('next_round', 0), ('changes', 0), ('writers', 0), ('closing', 0);
CREATE TABLE totals (path text PRIMARY KEY, value bigint NOT NULL) WITH (fillfactor = 30);
CREATE TABLE learned (
    kind text NOT NULL, name text NOT NULL,
    rounds bigint NOT NULL, tests bigint NOT NULL, cpu bigint NOT NULL, findings bigint NOT NULL,
    novel bigint NOT NULL, PRIMARY KEY (kind, name)) WITH (fillfactor = 30);
CREATE TABLE texts (hash text PRIMARY KEY, name text NOT NULL, text bytea NOT NULL);
CREATE TABLE seeds (
    hash text PRIMARY KEY, size bigint NOT NULL, mutant boolean NOT NULL,
    state text NOT NULL, state_at bigint NOT NULL, state_by bigint NOT NULL,
    untried boolean NOT NULL, needed boolean NOT NULL,
    rounds bigint NOT NULL DEFAULT 0, tests bigint NOT NULL DEFAULT 0, cpu bigint NOT NULL DEFAULT 0,
    findings bigint NOT NULL DEFAULT 0, novel bigint NOT NULL DEFAULT 0,
    changed bigint NOT NULL, writer bigint NOT NULL, other bigint NOT NULL) WITH (fillfactor = 70);
CREATE INDEX seeds_untried ON seeds (size, hash) WHERE untried;
CREATE INDEX seeds_changed ON seeds (changed);
CREATE TABLE seen (number bigint PRIMARY KEY, feature bigint NOT NULL UNIQUE, writer bigint NOT NULL);
CREATE TABLE findings (
    hash text PRIMARY KEY, round bigint NOT NULL, step bigint NOT NULL, duplicates bigint NOT NULL, bug text NOT NULL,
    data text NOT NULL, changed bigint NOT NULL, writer bigint NOT NULL, other bigint NOT NULL);
CREATE TABLE samples (
    at bigint NOT NULL, engine text NOT NULL,
    tests bigint NOT NULL, runs bigint NOT NULL, cpu bigint NOT NULL, findings bigint NOT NULL,
    novel bigint NOT NULL, PRIMARY KEY (at, engine)) WITH (fillfactor = 50);
CREATE TABLE members (
    id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, role text NOT NULL, pid bigint NOT NULL, host text NOT NULL,
    seen timestamptz NOT NULL) WITH (fillfactor = 50);
CREATE TABLE deliveries (worker text PRIMARY KEY, sequence bigint NOT NULL) WITH (fillfactor = 50);
";

// The folders of findings, with who works on them; and who has which seeds in hand.
const FOLDERS: &str = "
CREATE TABLE folders (
    name text PRIMARY KEY, open boolean NOT NULL, holder bigint, version bigint NOT NULL);
CREATE INDEX folders_open ON folders (name) WHERE open;
CREATE TABLE files (
    folder text NOT NULL REFERENCES folders (name) ON DELETE CASCADE, name text NOT NULL,
    executable boolean NOT NULL, content bytea NOT NULL, PRIMARY KEY (folder, name));
ALTER TABLE seeds ADD COLUMN holder bigint;
CREATE INDEX seeds_held ON seeds (size, hash) WHERE holder IS NOT NULL AND rounds = 0;
";

// Code that is reached, and what engines are to know about seeds.
const REACHED: &str = "
CREATE TABLE reached (
    number bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, code bigint NOT NULL, site bigint NOT NULL,
    writer bigint NOT NULL, UNIQUE (code, site));
ALTER TABLE samples ADD COLUMN functions bigint NOT NULL DEFAULT 0;
ALTER TABLE samples ADD COLUMN blocks bigint NOT NULL DEFAULT 0;
CREATE TABLE memories (
    seed text NOT NULL, engine text NOT NULL, text bytea NOT NULL, exhausted boolean NOT NULL,
    changed bigint NOT NULL, writer bigint NOT NULL, PRIMARY KEY (seed, engine));
CREATE INDEX memories_changed ON memories (changed);
";

// What tells this campaign from any other, at this address or elsewhere.
const NAMED: &str = "INSERT INTO meta VALUES ('campaign', gen_random_uuid()::text);";

// How often bugs were named that are known; `meta` has them. A version without this step would report them.
const UNWANTED: &str = "INSERT INTO counters VALUES ('unwanted', 0);";

/// What makes the tables, one step after the other.
const STEPS: [&str; 5] = [CAMPAIGN, FOLDERS, REACHED, NAMED, UNWANTED];

/// The number of the last step.
pub const FORMAT: u32 = STEPS.len() as u32;

/// What a schema holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SchemaState {
    /// There is no such schema.
    Absent,
    /// It has no table.
    Empty,
    /// A campaign whose tables are those of this step.
    Campaign(u32),
}

pub fn content(client: &mut Client, url: &ServerUrl) -> Result<SchemaState, StoreError> {
    let failed = |error| explained(url, error);
    let schema = url.schema();
    let row = client
        .query_one(
            "SELECT (SELECT count(*) FROM pg_namespace WHERE nspname = $1), \
             (SELECT count(*) FROM pg_class JOIN pg_namespace n ON n.oid = relnamespace \
              WHERE nspname = $1 AND relkind = 'r'), \
             (SELECT count(*) FROM pg_class JOIN pg_namespace n ON n.oid = relnamespace \
              WHERE nspname = $1 AND relname = 'format')",
            &[&schema],
        )
        .map_err(failed)?;
    let (schemas, tables, ours): (i64, i64, i64) = (row.get(0), row.get(1), row.get(2));
    match (schemas, tables, ours) {
        (0, ..) => Ok(SchemaState::Absent),
        (_, 0, _) => Ok(SchemaState::Empty),
        (_, _, 0) => Err(StoreError::Foreign(format!("{url} (schema {schema})").into())),
        _ => {
            let step: i32 = client.query_one("SELECT step FROM format", &[]).map_err(failed)?.get(0);
            Ok(SchemaState::Campaign(step as u32))
        }
    }
}

/// Makes all steps after this one.
pub fn upgrade(transaction: &mut Transaction, from: u32) -> Result<(), postgres::Error> {
    for step in STEPS.iter().skip(from as usize) {
        transaction.batch_execute(step)?;
    }
    transaction.batch_execute(&format!("UPDATE format SET step = {FORMAT}"))
}

/// Only the first steps, as an earlier version made them.
#[cfg(test)]
pub fn downgrade(transaction: &mut Transaction, to: u32) -> Result<(), postgres::Error> {
    let undo = [
        "DROP TABLE files; DROP TABLE folders; ALTER TABLE seeds DROP COLUMN holder",
        "DROP TABLE memories; DROP TABLE reached; ALTER TABLE samples DROP COLUMN functions, DROP COLUMN blocks",
        "DELETE FROM meta WHERE key = 'campaign'",
        "DELETE FROM meta WHERE key = 'unwanted'; DELETE FROM counters WHERE name = 'unwanted'",
    ];
    assert_eq!(undo.len() as u32 + 1, FORMAT, "each step after the first can be undone");
    for step in undo.iter().skip(to as usize - 1).rev() {
        transaction.batch_execute(step)?;
    }
    transaction.batch_execute(&format!("UPDATE format SET step = {to}"))
}
