//! The tables of the file, and telling the files of other versions apart.

use std::path::Path;

use rusqlite::Connection;

use super::super::StoreError;

/// The format this version writes. Bumped when the tables change.
pub const FORMAT: u32 = 5;

/// The last format that had a row for every site that was reached. They are put together when it is opened.
pub const SITE_BY_SITE: u32 = 4;

/// The last format without what is reached of the solvers' code. What it lacks is added when it is opened.
pub const UNWATCHED: u32 = 3;

/// The last format in which findings had no groups. What it lacks is added when it is opened.
pub const UNGROUPED: u32 = 2;

/// The last format before deltas: counts were absolute, so that only one process could write. Still read.
pub const ABSOLUTE: u32 = 1;

// Texts have a table of their own, so that adding to a seed's counts does not write its text again. In seeds and
// findings, `changed` and `writer` are the last change (by number) and whose it was, `other` is the last change by
// somebody else than that writer: whoever asks, this tells whether another one changed the row since a given change.
// Sites that were reached come by the ten thousand: a row has all that a writer tells at once.
pub const TABLES: &str = "
CREATE TABLE meta (key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE counters (name TEXT PRIMARY KEY, value INTEGER NOT NULL) WITHOUT ROWID;
CREATE TABLE totals (path TEXT PRIMARY KEY, value INTEGER NOT NULL) WITHOUT ROWID;
CREATE TABLE learned (
    kind TEXT NOT NULL, name TEXT NOT NULL,
    rounds INTEGER NOT NULL, tests INTEGER NOT NULL, cpu INTEGER NOT NULL, findings INTEGER NOT NULL,
    novel INTEGER NOT NULL, PRIMARY KEY (kind, name)) WITHOUT ROWID;
CREATE TABLE texts (hash TEXT PRIMARY KEY, name TEXT NOT NULL, text TEXT NOT NULL);
CREATE TABLE seeds (
    hash TEXT PRIMARY KEY, size INTEGER NOT NULL, mutant INTEGER NOT NULL,
    state TEXT NOT NULL, state_at INTEGER NOT NULL, state_by INTEGER NOT NULL,
    untried INTEGER NOT NULL, needed INTEGER NOT NULL,
    rounds INTEGER NOT NULL DEFAULT 0, tests INTEGER NOT NULL DEFAULT 0, cpu INTEGER NOT NULL DEFAULT 0,
    findings INTEGER NOT NULL DEFAULT 0, novel INTEGER NOT NULL DEFAULT 0,
    changed INTEGER NOT NULL, writer INTEGER NOT NULL, other INTEGER NOT NULL) WITHOUT ROWID;
CREATE INDEX seeds_untried ON seeds (size, hash) WHERE untried = 1;
CREATE INDEX seeds_changed ON seeds (changed);
CREATE TABLE seen (number INTEGER PRIMARY KEY, feature INTEGER NOT NULL UNIQUE, writer INTEGER NOT NULL);
CREATE TABLE reached (
    number INTEGER PRIMARY KEY, code INTEGER NOT NULL, writer INTEGER NOT NULL, sites BLOB NOT NULL);
CREATE TABLE findings (
    hash TEXT PRIMARY KEY, signature TEXT NOT NULL, kind TEXT NOT NULL, solver TEXT NOT NULL, folder TEXT NOT NULL,
    round INTEGER NOT NULL, step INTEGER NOT NULL, duplicates INTEGER NOT NULL, flaky INTEGER NOT NULL,
    changed INTEGER NOT NULL, writer INTEGER NOT NULL, other INTEGER NOT NULL,
    bug TEXT NOT NULL, face TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE samples (
    at INTEGER NOT NULL, engine TEXT NOT NULL,
    tests INTEGER NOT NULL, runs INTEGER NOT NULL, cpu INTEGER NOT NULL, findings INTEGER NOT NULL,
    novel INTEGER NOT NULL, functions INTEGER NOT NULL, blocks INTEGER NOT NULL,
    PRIMARY KEY (at, engine)) WITHOUT ROWID;
CREATE TABLE members (id INTEGER PRIMARY KEY, what TEXT NOT NULL, pid INTEGER NOT NULL, seen INTEGER NOT NULL);
INSERT INTO counters VALUES
    ('next_round', 0), ('changes', 0), ('writers', 0), ('members', 0), ('closing', 0), ('started', 0);
";

/// What engines are to know about seeds. Campaigns of this format may lack the table: it is made when one is opened.
pub const MEMORIES: &str = "
CREATE TABLE IF NOT EXISTS memories (
    seed TEXT NOT NULL, engine TEXT NOT NULL, text TEXT NOT NULL, exhausted INTEGER NOT NULL,
    changed INTEGER NOT NULL, writer INTEGER NOT NULL, PRIMARY KEY (seed, engine)) WITHOUT ROWID;
";

/// From the format without groups to this one: every finding is a bug of its own.
pub const ADD_GROUPS: &str = "
ALTER TABLE findings ADD COLUMN bug TEXT NOT NULL DEFAULT '';
ALTER TABLE findings ADD COLUMN face TEXT NOT NULL DEFAULT '';
UPDATE findings SET bug = hash;
PRAGMA user_version = 3;
";

/// From the format without code that is reached to this one: nothing is known of it.
pub const ADD_REACHED: &str = "
CREATE TABLE reached (
    number INTEGER PRIMARY KEY, code INTEGER NOT NULL, site INTEGER NOT NULL, writer INTEGER NOT NULL,
    UNIQUE (code, site));
ALTER TABLE samples ADD COLUMN functions INTEGER NOT NULL DEFAULT 0;
ALTER TABLE samples ADD COLUMN blocks INTEGER NOT NULL DEFAULT 0;
PRAGMA user_version = 4;
";

/// From the format with a row for every site to this one, before and after the sites have been put together.
pub const SET_SITES_ASIDE: &str = "
ALTER TABLE reached RENAME TO site_by_site;
CREATE TABLE reached (
    number INTEGER PRIMARY KEY, code INTEGER NOT NULL, writer INTEGER NOT NULL, sites BLOB NOT NULL);
";
pub const DROP_SITES: &str = "
DROP TABLE site_by_site;
PRAGMA user_version = 5;
";

/// What a file holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FileState {
    /// No table: the process that made the file was killed before it could write anything.
    Nothing,
    /// A campaign of this format.
    Campaign(u32),
}

pub fn content(connection: &Connection, path: &Path) -> Result<FileState, StoreError> {
    let number = |question: &str| connection.query_row(question, [], |row| row.get::<_, u32>(0));
    let format = match number("PRAGMA user_version") {
        Err(error) if error.sqlite_error_code() == Some(rusqlite::ErrorCode::NotADatabase) => {
            return Err(StoreError::Foreign(path.to_owned()));
        }
        format => format?,
    };
    let tables = number("SELECT count(*) FROM sqlite_master")?;
    // Campaigns of all formats have this table; other programs number their databases too.
    let ours = number("SELECT count(*) FROM sqlite_master WHERE name = 'meta'")? > 0;
    match (tables, format) {
        (0, _) => Ok(FileState::Nothing),
        (_, 1..) if ours => Ok(FileState::Campaign(format)),
        _ => Err(StoreError::Foreign(path.to_owned())),
    }
}

/// The format of a campaign that this version can read.
pub fn readable(connection: &Connection, path: &Path) -> Result<u32, StoreError> {
    match content(connection, path)? {
        FileState::Nothing => Err(StoreError::Unfinished(path.to_owned())),
        FileState::Campaign(found) if found > FORMAT => {
            Err(StoreError::Newer { path: path.to_owned(), found, ours: FORMAT })
        }
        FileState::Campaign(found) => Ok(found),
    }
}
