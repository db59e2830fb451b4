//! The campaign's memory on disk: one SQLite file in the output folder.
//!
//! Findings are committed with a full sync before the next test; counts are written about once a second. A campaign
//! killed at any moment resumes with all its findings and at most the last second's counts missing.

use std::path::Path;

use rusqlite::{Connection, OptionalExtension, params};
use serde::{Deserialize, Serialize};

use crate::config::Identity;
use crate::error::CampaignError;
use crate::learned::{Counts, Learned};
use crate::novelty::Novelty;
use crate::pool::{Entry, Pool};
use crate::seeds::SeedText;
use crate::totals::Totals;

/// Bumped when the tables change; another number is refused.
const SCHEMA: u32 = 1;

const TABLES: &str = "
CREATE TABLE meta (key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE learned (
    kind TEXT NOT NULL, name TEXT NOT NULL,
    rounds INTEGER NOT NULL, tests INTEGER NOT NULL, cpu INTEGER NOT NULL, findings INTEGER NOT NULL,
    novel INTEGER NOT NULL, PRIMARY KEY (kind, name)) WITHOUT ROWID;
CREATE TABLE seeds (
    hash TEXT PRIMARY KEY, name TEXT NOT NULL, text TEXT NOT NULL, mutant INTEGER NOT NULL, state TEXT NOT NULL,
    rounds INTEGER NOT NULL, tests INTEGER NOT NULL, cpu INTEGER NOT NULL, findings INTEGER NOT NULL,
    novel INTEGER NOT NULL) WITHOUT ROWID;
CREATE TABLE seen (feature INTEGER PRIMARY KEY);
CREATE TABLE findings (
    hash TEXT PRIMARY KEY, signature TEXT NOT NULL, kind TEXT NOT NULL, solver TEXT NOT NULL, folder TEXT NOT NULL,
    round INTEGER NOT NULL, step INTEGER NOT NULL, duplicates INTEGER NOT NULL, flaky INTEGER NOT NULL)
    WITHOUT ROWID;
";

/// A unique finding as the database knows it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Known {
    /// Of the signature.
    pub hash: String,
    pub signature: String,
    pub kind: String,
    pub solver: String,
    /// Name below `bugs`.
    pub folder: String,
    pub round: u64,
    pub step: u64,
    /// Test cases that showed the same bug again.
    pub duplicates: u64,
    pub flaky: bool,
}

/// An open database.
pub struct Database {
    connection: Connection,
}

impl Database {
    /// Makes a new one.
    pub fn create(path: &Path, identity: &Identity) -> Result<Database, CampaignError> {
        let connection = Connection::open(path)?;
        prepare(&connection)?;
        connection.execute_batch(&format!("BEGIN; {TABLES} PRAGMA user_version = {SCHEMA}; COMMIT;"))?;
        let database = Database { connection };
        database.set("identity", &to_json(identity)?)?;
        Ok(database)
    }

    /// Opens one for going on with it.
    pub fn open(path: &Path) -> Result<Database, CampaignError> {
        let connection = Connection::open(path)?;
        prepare(&connection)?;
        Self::checked(connection, path)
    }

    /// Opens one for reading, also while a campaign writes it.
    pub fn read(path: &Path) -> Result<Database, CampaignError> {
        let connection = Connection::open_with_flags(path, rusqlite::OpenFlags::SQLITE_OPEN_READ_ONLY)?;
        Self::checked(connection, path)
    }

    fn checked(connection: Connection, path: &Path) -> Result<Database, CampaignError> {
        let schema: u32 = connection.query_row("PRAGMA user_version", [], |row| row.get(0))?;
        if schema != SCHEMA {
            return Err(CampaignError::Usage(format!(
                "'{}' was written by another version of osprey (format {schema}, this one has {SCHEMA})",
                path.display()
            )));
        }
        Ok(Database { connection })
    }

    pub fn identity(&self) -> Result<Identity, CampaignError> {
        self.json("identity")?
            .ok_or_else(|| CampaignError::Internal("the database has no configuration".into()))
    }

    pub fn totals(&self) -> Result<Totals, CampaignError> {
        Ok(self.json("totals")?.unwrap_or_default())
    }

    pub fn next_round(&self) -> Result<u64, CampaignError> {
        let stored: u64 = self.json("next_round")?.unwrap_or(0);
        // A finding may be newer than the last write of the counts.
        let found: Option<i64> =
            self.connection.query_row("SELECT max(round) FROM findings", [], |row| row.get(0))?;
        Ok(stored.max(found.map_or(0, |round| round as u64 + 1)))
    }

    pub fn learned(&self) -> Result<Learned, CampaignError> {
        let mut learned = Learned::default();
        let mut statement =
            self.connection.prepare("SELECT kind, name, rounds, tests, cpu, findings, novel FROM learned")?;
        let rows = statement
            .query_map([], |row| Ok((row.get::<_, String>(0)?, row.get::<_, String>(1)?, counts(row, 2)?)))?;
        for row in rows {
            let (kind, name, counts) = row?;
            match kind.as_str() {
                "engine" => learned.engines.insert(name, counts),
                _ => learned.logics.insert(name, counts),
            };
        }
        Ok(learned)
    }

    /// The seeds in use, in the order of their hashes.
    pub fn pool(&self) -> Result<Pool, CampaignError> {
        let mut pool = Pool::default();
        let mut statement = self.connection.prepare(
            "SELECT hash, name, text, mutant, rounds, tests, cpu, findings, novel FROM seeds WHERE state = 'used' ORDER BY hash",
        )?;
        let rows = statement.query_map([], |row| {
            let text: String = row.get(2)?;
            let seed = SeedText { hash: row.get(0)?, name: row.get(1)?, text: text.into() };
            Ok((seed, counts(row, 4)?, row.get::<_, bool>(3)?))
        })?;
        for row in rows {
            let (seed, counts, mutant) = row?;
            pool.add(seed, counts, mutant);
        }
        Ok(pool)
    }

    /// The text of a seed, used any more or not.
    pub fn seed(&self, hash: &str) -> Result<Option<SeedText>, CampaignError> {
        let found = self
            .connection
            .query_row("SELECT name, text FROM seeds WHERE hash = ?", [hash], |row| {
                let text: String = row.get(1)?;
                Ok(SeedText { hash: hash.to_owned(), name: row.get(0)?, text: text.into() })
            })
            .optional()?;
        Ok(found)
    }

    pub fn novelty(&self) -> Result<Novelty, CampaignError> {
        let mut novelty = Novelty::default();
        let mut statement = self.connection.prepare("SELECT feature FROM seen")?;
        for feature in statement.query_map([], |row| row.get::<_, i64>(0))? {
            novelty.restore(feature? as u64);
        }
        Ok(novelty)
    }

    pub fn findings(&self) -> Result<Vec<Known>, CampaignError> {
        let mut statement = self.connection.prepare(
            "SELECT hash, signature, kind, solver, folder, round, step, duplicates, flaky FROM findings \
             ORDER BY round, step, hash",
        )?;
        let rows = statement.query_map([], |row| {
            Ok(Known {
                hash: row.get(0)?,
                signature: row.get(1)?,
                kind: row.get(2)?,
                solver: row.get(3)?,
                folder: row.get(4)?,
                round: row.get::<_, i64>(5)? as u64,
                step: row.get::<_, i64>(6)? as u64,
                duplicates: row.get::<_, i64>(7)? as u64,
                flaky: row.get(8)?,
            })
        })?;
        Ok(rows.collect::<Result<_, _>>()?)
    }

    /// Adds a finding, or its new number of duplicates. On disk when this returns.
    pub fn put_finding(&self, known: &Known) -> Result<(), CampaignError> {
        self.connection.execute(
            "INSERT INTO findings VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?) \
             ON CONFLICT (hash) DO UPDATE SET duplicates = excluded.duplicates",
            params![
                known.hash,
                known.signature,
                known.kind,
                known.solver,
                known.folder,
                known.round as i64,
                known.step as i64,
                known.duplicates as i64,
                known.flaky
            ],
        )?;
        Ok(())
    }

    pub fn put_seed(&self, entry: &Entry, state: &str) -> Result<(), CampaignError> {
        let Entry { seed, counts, mutant } = entry;
        self.connection
            .prepare_cached(
                "INSERT INTO seeds VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT (hash) DO UPDATE SET \
             state = excluded.state, rounds = excluded.rounds, tests = excluded.tests, cpu = excluded.cpu, \
             findings = excluded.findings, novel = excluded.novel",
            )?
            .execute(params![
                seed.hash,
                seed.name,
                seed.text.as_ref(),
                mutant,
                state,
                counts.rounds as i64,
                counts.tests as i64,
                counts.cpu as i64,
                counts.findings as i64,
                counts.novel as i64
            ])?;
        Ok(())
    }

    /// A seed that is not used any more: hopeless ones are remembered, mutants forgotten unless a finding needs them.
    pub fn retire_seed(&self, hash: &str, needed: bool) -> Result<(), CampaignError> {
        let statement = match needed {
            true => "UPDATE seeds SET state = 'retired' WHERE hash = ?",
            false => "DELETE FROM seeds WHERE hash = ?",
        };
        self.connection.execute(statement, [hash])?;
        Ok(())
    }

    /// Writes the counts, all or none of them.
    pub fn checkpoint(
        &self,
        next_round: u64,
        totals: &Totals,
        learned: &Learned,
        features: &[u64],
        seeds: &[Entry],
    ) -> Result<(), CampaignError> {
        // Counts may lag behind by a second anyway: no need to wait for the disk.
        self.connection.execute_batch("PRAGMA synchronous = NORMAL")?;
        let written = self.write_counts(next_round, totals, learned, features, seeds);
        if written.is_err() && !self.connection.is_autocommit() {
            // The reason is in `written`; a failed rollback adds nothing to it.
            let _ = self.connection.execute_batch("ROLLBACK");
        }
        self.connection.execute_batch("PRAGMA synchronous = FULL")?;
        written
    }

    fn write_counts(
        &self,
        next_round: u64,
        totals: &Totals,
        learned: &Learned,
        features: &[u64],
        seeds: &[Entry],
    ) -> Result<(), CampaignError> {
        self.connection.execute_batch("BEGIN IMMEDIATE")?;
        self.set("next_round", &next_round.to_string())?;
        self.set("totals", &to_json(totals)?)?;
        let mut put =
            self.connection.prepare_cached("INSERT OR REPLACE INTO learned VALUES (?, ?, ?, ?, ?, ?, ?)")?;
        let engines = learned.engines.iter().map(|(name, counts)| ("engine", name, counts));
        let logics = learned.logics.iter().map(|(name, counts)| ("logic", name, counts));
        for (kind, name, counts) in engines.chain(logics) {
            put.execute(params![
                kind,
                name,
                counts.rounds as i64,
                counts.tests as i64,
                counts.cpu as i64,
                counts.findings as i64,
                counts.novel as i64
            ])?;
        }
        let mut see = self.connection.prepare_cached("INSERT OR IGNORE INTO seen VALUES (?)")?;
        for feature in features {
            see.execute([*feature as i64])?;
        }
        for entry in seeds {
            self.put_seed(entry, "used")?;
        }
        self.connection.execute_batch("COMMIT")?;
        Ok(())
    }

    fn set(&self, key: &str, value: &str) -> Result<(), CampaignError> {
        self.connection.prepare_cached("INSERT OR REPLACE INTO meta VALUES (?, ?)")?.execute([key, value])?;
        Ok(())
    }

    fn json<T: for<'de> Deserialize<'de>>(&self, key: &str) -> Result<Option<T>, CampaignError> {
        let text: Option<String> = self
            .connection
            .query_row("SELECT value FROM meta WHERE key = ?", [key], |row| row.get(0))
            .optional()?;
        text.map(|text| {
            serde_json::from_str(&text).map_err(|error| {
                CampaignError::Internal(format!("the database's {key} cannot be read: {error}"))
            })
        })
        .transpose()
    }
}

fn prepare(connection: &Connection) -> Result<(), CampaignError> {
    connection.busy_timeout(std::time::Duration::from_secs(10))?;
    // The write-ahead log lets others read while the campaign writes.
    connection.execute_batch("PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL;")?;
    Ok(())
}

fn counts(row: &rusqlite::Row, first: usize) -> rusqlite::Result<Counts> {
    let number = |i: usize| row.get::<_, i64>(first + i).map(|value| value as u64);
    Ok(Counts {
        rounds: number(0)?,
        tests: number(1)?,
        cpu: number(2)?,
        findings: number(3)?,
        novel: number(4)?,
    })
}

fn to_json(value: &impl Serialize) -> Result<String, CampaignError> {
    serde_json::to_string(value).map_err(|error| CampaignError::Internal(error.to_string()))
}
