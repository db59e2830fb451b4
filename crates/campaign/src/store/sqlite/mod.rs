//! The store in a file: SQLite with a write-ahead log, so that several processes write and others read meanwhile.
//!
//! Every write is one transaction that takes the write lock when it begins: what it reads is still so when it writes.
//! Counts are committed without waiting for the disk, since they lag behind anyway; claims and findings wait for it.
//!
//! - `schema`: the tables; `merge`: deltas into them; `query`: what is in them; `findings`: claims and findings

use crate::store::Role;
use std::collections::BTreeMap;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::time::Duration;

use rusqlite::{Connection, OpenFlags, Transaction, TransactionBehavior, params};

use super::{
    CampaignStore, Claim, Counts, Delta, KnownFinding, Learned, MEMBER_GONE, Member, MemberId, Memories,
    News, Presence, Sample, StoreError, StoredSeed, Totals, Unwanted, now,
};
use crate::config::Identity;
use crate::seeds::SeedText;

mod findings;
mod merge;
mod query;
mod schema;
#[cfg(test)]
mod tests;

use schema::{ABSOLUTE, FORMAT, FileState, SITE_BY_SITE, UNGROUPED, UNWATCHED};

/// How long a process waits for the others' writes, which take milliseconds, or for a slow disk.
const PATIENCE: Duration = Duration::from_secs(60);

/// An open file.
pub struct SqliteStore {
    connection: Connection,
    path: PathBuf,
    format: u32,
    /// The number of this handle; none if it may only read.
    writer: Option<u64>,
    /// What the connection does at the moment.
    durability: Option<Durability>,
    last_news: LastNews,
    features_kept: usize,
}

/// How far [`CampaignStore::news`] has come.
#[derive(Clone, Copy, Default)]
struct LastNews {
    change: u64,
    feature: u64,
    site: u64,
    /// How often known bugs had been named.
    unwanted: u64,
}

/// What a committed transaction survives.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Durability {
    /// The end of the process.
    Process,
    /// The end of the machine's power, too.
    Machine,
}

/// A transaction with the numbers of the change and of its writer.
struct Change<'c> {
    transaction: Transaction<'c>,
    number: u64,
    writer: u64,
}

impl SqliteStore {
    /// What is at this place? What a process leaves that is killed in [`SqliteStore::create`] is nothing.
    pub fn presence(path: &Path) -> Result<Presence, StoreError> {
        if !path.exists() {
            return Ok(Presence::Nothing);
        }
        let connection = connect_to_read(path)?;
        match schema::content(&connection, path)? {
            FileState::Nothing => Ok(Presence::Nothing),
            FileState::Campaign(_) => Ok(Presence::Campaign),
        }
    }

    /// Makes a new one, in one transaction.
    pub fn create(path: &Path, identity: &Identity, given: &[SeedText]) -> Result<SqliteStore, StoreError> {
        let connection = connect(path, OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_CREATE)?;
        if schema::content(&connection, path)? != FileState::Nothing {
            return Err(StoreError::Exists(path.to_owned()));
        }
        connection.execute_batch("PRAGMA journal_mode = WAL")?;
        let mut store = SqliteStore::new(connection, path, FORMAT);
        store.set_durability(Durability::Machine)?;
        let transaction = store.connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
        if schema::content(&transaction, path)? != FileState::Nothing {
            return Err(StoreError::Exists(path.to_owned()));
        }
        transaction.execute_batch(schema::TABLES)?;
        transaction.execute_batch(schema::MEMORIES)?;
        let identity =
            serde_json::to_string(identity).map_err(|error| StoreError::damaged("settings", error))?;
        transaction.execute("INSERT INTO meta VALUES ('identity', ?)", [identity])?;
        transaction.execute("UPDATE counters SET value = ? WHERE name = 'started'", [now() as i64])?;
        merge::add_given(&transaction, given)?;
        let writer = query::advance(&transaction, "writers", 1)?;
        transaction.execute_batch(&format!("PRAGMA user_version = {FORMAT}"))?;
        transaction.commit()?;
        store.writer = Some(writer);
        Ok(store)
    }

    /// Opens one to work on it.
    pub fn open(path: &Path) -> Result<SqliteStore, StoreError> {
        if !path.exists() {
            return Err(StoreError::Missing(path.to_owned()));
        }
        let connection = connect(path, OpenFlags::SQLITE_OPEN_READ_WRITE)?;
        let format = schema::readable(&connection, path)?;
        if format < UNGROUPED {
            return Err(StoreError::Older { path: path.to_owned(), found: format, ours: FORMAT });
        }
        let mut store = SqliteStore::new(connection, path, FORMAT);
        store.set_durability(Durability::Process)?;
        let transaction = store.connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
        // Another process may have done it meanwhile.
        let format = schema::readable(&transaction, path)?;
        if format < FORMAT && !living(&transaction)?.is_empty() {
            return Err(StoreError::Occupied { path: path.to_owned(), found: format, ours: FORMAT });
        }
        if format == UNGROUPED {
            transaction.execute_batch(schema::ADD_GROUPS)?;
        }
        if schema::readable(&transaction, path)? == UNWATCHED {
            transaction.execute_batch(schema::ADD_REACHED)?;
        }
        if schema::readable(&transaction, path)? == SITE_BY_SITE {
            merge::put_sites_together(&transaction)?;
        }
        transaction.execute_batch(schema::MEMORIES)?;
        let writer = query::advance(&transaction, "writers", 1)?;
        let last_news = query::newest(&transaction)?;
        transaction.commit()?;
        store.writer = Some(writer);
        store.last_news = last_news;
        Ok(store)
    }

    /// Opens one for reading, also of the format before.
    pub fn read(path: &Path) -> Result<SqliteStore, StoreError> {
        if !path.exists() {
            return Err(StoreError::Missing(path.to_owned()));
        }
        let connection = connect_to_read(path)?;
        let format = schema::readable(&connection, path)?;
        let mut store = SqliteStore::new(connection, path, format);
        if format == FORMAT {
            store.last_news = query::newest(&store.connection)?;
        }
        Ok(store)
    }

    fn new(connection: Connection, path: &Path, format: u32) -> SqliteStore {
        SqliteStore {
            connection,
            path: path.to_owned(),
            format,
            writer: None,
            durability: None,
            last_news: LastNews::default(),
            features_kept: super::FEATURES,
        }
    }

    #[cfg(test)]
    pub(super) fn keep_features(&mut self, most: usize) {
        self.features_kept = most;
    }

    fn set_durability(&mut self, durability: Durability) -> Result<(), StoreError> {
        if self.durability != Some(durability) {
            self.connection.execute_batch(match durability {
                Durability::Process => "PRAGMA synchronous = NORMAL",
                Durability::Machine => "PRAGMA synchronous = FULL",
            })?;
            self.durability = Some(durability);
        }
        Ok(())
    }

    /// One transaction: committed when `work` succeeds, without a trace when it fails.
    fn write<T>(
        &mut self,
        durability: Durability,
        work: impl FnOnce(&Change) -> Result<T, StoreError>,
    ) -> Result<T, StoreError> {
        let writer = self.writer.ok_or(StoreError::ReadOnly)?;
        self.set_durability(durability)?;
        let transaction = self.connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
        let number = query::advance(&transaction, "changes", 1)?;
        let change = Change { transaction, number, writer };
        let result = work(&change)?;
        change.transaction.commit()?;
        Ok(result)
    }

    /// For what the first format does not have.
    fn current(&self) -> Result<&Connection, StoreError> {
        match self.format {
            ABSOLUTE => Err(StoreError::Older { path: self.path.clone(), found: ABSOLUTE, ours: FORMAT }),
            _ => Ok(&self.connection),
        }
    }
}

/// Who works on it.
fn living(connection: &Connection) -> Result<Vec<Member>, StoreError> {
    let mut members = query::members(connection, now().saturating_sub(MEMBER_GONE))?;
    // All work on one machine: who was killed is gone at once.
    members.retain(|member| Path::new(&format!("/proc/{}", member.pid)).exists());
    Ok(members)
}

fn connect(path: &Path, flags: OpenFlags) -> Result<Connection, StoreError> {
    let connection = Connection::open_with_flags(path, flags | OpenFlags::SQLITE_OPEN_NO_MUTEX)?;
    connection.busy_timeout(PATIENCE)?;
    connection.set_prepared_statement_cache_capacity(64);
    Ok(connection)
}

/// Also where nothing can be written. There SQLite cannot make the files by which readers and writers agree; nobody
/// writes there either, so that the file is read as it is.
fn connect_to_read(path: &Path) -> Result<Connection, StoreError> {
    use rusqlite::ErrorCode::{CannotOpen, ReadOnly};
    let connection = connect(path, OpenFlags::SQLITE_OPEN_READ_ONLY)?;
    let tried = connection.query_row("PRAGMA user_version", [], |row| row.get::<_, u32>(0));
    let Err(error) = tried else { return Ok(connection) };
    if !path.is_file() || !matches!(error.sqlite_error_code(), Some(CannotOpen | ReadOnly)) {
        // Whoever reads what it holds says what is wrong.
        return Ok(connection);
    }
    let mut log = path.as_os_str().to_owned();
    log.push("-wal");
    if std::fs::metadata(&log).is_ok_and(|log| log.len() > 0) {
        return Err(StoreError::Unwritten(path.to_owned()));
    }
    let escaped = path.to_string_lossy().replace('%', "%25").replace('?', "%3f").replace('#', "%23");
    let as_it_is = format!("file:{escaped}?immutable=1");
    connect(Path::new(&as_it_is), OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_URI)
}

impl From<rusqlite::Error> for StoreError {
    fn from(error: rusqlite::Error) -> StoreError {
        use rusqlite::ErrorCode::{CannotOpen, DiskFull, ReadOnly, SystemIoFailure};
        let disk =
            matches!(error.sqlite_error_code(), Some(DiskFull | SystemIoFailure | CannotOpen | ReadOnly));
        StoreError::Backend { disk, source: error.into() }
    }
}

impl CampaignStore for SqliteStore {
    fn identity(&mut self) -> Result<Identity, StoreError> {
        query::identity(&self.connection)
    }

    fn started(&mut self) -> Result<u64, StoreError> {
        query::counter(self.current()?, "started")
    }

    fn claim_rounds(&mut self, count: u64) -> Result<Range<u64>, StoreError> {
        self.write(Durability::Machine, |change| {
            let end = query::advance(&change.transaction, "next_round", count)?;
            Ok(end - count..end)
        })
    }

    fn claim_untried(&mut self, count: usize) -> Result<Vec<SeedText>, StoreError> {
        // Mostly there are none left, and finding that out need not lock anybody out.
        if !query::any_untried(self.current()?)? {
            return Ok(Vec::new());
        }
        self.write(Durability::Machine, |change| merge::take_untried(&change.transaction, count))
    }

    fn merge(&mut self, delta: &Delta) -> Result<(), StoreError> {
        if delta.is_empty() {
            return Ok(());
        }
        let features_kept = self.features_kept;
        self.write(Durability::Process, |change| change.merge(delta, features_kept))
    }

    fn news(&mut self) -> Result<News, StoreError> {
        if self.format != FORMAT {
            return Err(StoreError::Older { path: self.path.clone(), found: self.format, ours: FORMAT });
        }
        let writer = self.writer.unwrap_or(0);
        // One transaction: all parts of the news are of one moment.
        let transaction = self.connection.transaction()?;
        let newest = query::newest(&transaction)?;
        let mut news = query::news(&transaction, writer, self.last_news)?;
        if newest.unwanted > self.last_news.unwanted {
            news.unwanted = Some(query::unwanted(&transaction)?);
        }
        transaction.commit()?;
        self.last_news = newest;
        Ok(news)
    }

    fn claim(&mut self, finding: &KnownFinding, compared: u64) -> Result<Claim, StoreError> {
        // A known signature needs no place in the queue of writers, nor a wait for the disk.
        if let Some(known) = findings::find(self.current()?, &finding.hash)? {
            return Ok(Claim::Known(known));
        }
        self.write(Durability::Machine, |change| change.claim(finding, compared))
    }

    fn regroup(&mut self, hash: &str, from: &str, to: &str) -> Result<bool, StoreError> {
        self.write(Durability::Machine, |change| change.regroup(hash, from, to))
    }

    fn show(&mut self, hash: &str, face: &str) -> Result<(), StoreError> {
        self.write(Durability::Machine, |change| change.show(hash, face))
    }

    fn release(&mut self, hash: &str) -> Result<(), StoreError> {
        self.write(Durability::Machine, |change| change.release(hash))
    }

    fn duplicate(&mut self, hash: &str) -> Result<Option<KnownFinding>, StoreError> {
        self.write(Durability::Process, |change| change.duplicate(hash))
    }

    fn findings(&mut self) -> Result<Vec<KnownFinding>, StoreError> {
        match self.format {
            ..=UNGROUPED => findings::ungrouped(&self.connection),
            _ => findings::all(&self.connection),
        }
    }

    fn seed(&mut self, hash: &str) -> Result<Option<SeedText>, StoreError> {
        let table = if self.format == ABSOLUTE { "seeds" } else { "texts" };
        query::seed(&self.connection, table, hash)
    }

    fn pool(&mut self) -> Result<Vec<(StoredSeed, Counts)>, StoreError> {
        query::pool(self.current()?)
    }

    fn features(&mut self) -> Result<Vec<u64>, StoreError> {
        query::features(self.current()?)
    }

    fn sites(&mut self) -> Result<BTreeMap<u64, Vec<u32>>, StoreError> {
        match self.format {
            ..=UNWATCHED => self.current().map(|_| BTreeMap::new()),
            SITE_BY_SITE => query::sites_by_site(&self.connection),
            _ => query::sites(&self.connection),
        }
    }

    fn learned(&mut self) -> Result<Learned, StoreError> {
        query::learned(self.current()?)
    }

    fn memories(&mut self) -> Result<Memories, StoreError> {
        query::memories(self.current()?, None)
    }

    fn totals(&mut self) -> Result<Totals, StoreError> {
        query::totals(self.current()?)
    }

    fn samples(&mut self) -> Result<Vec<Sample>, StoreError> {
        let watched = self.format > UNWATCHED;
        query::samples(self.current()?, watched)
    }

    fn join(&mut self, role: Role) -> Result<MemberId, StoreError> {
        let what = match role {
            Role::Owner => "owner",
            Role::Helper => "helper",
        };
        self.write(Durability::Process, |change| {
            let id = query::advance(&change.transaction, "members", 1)?;
            change.transaction.execute(
                "INSERT INTO members VALUES (?, ?, ?, ?)",
                params![id as i64, what, std::process::id(), now() as i64],
            )?;
            Ok(MemberId(id))
        })
    }

    fn beat(&mut self, member: MemberId) -> Result<(), StoreError> {
        self.write(Durability::Process, |change| {
            change
                .transaction
                .prepare_cached("UPDATE members SET seen = ? WHERE id = ?")?
                .execute([now() as i64, member.0 as i64])?;
            Ok(())
        })
    }

    fn leave(&mut self, member: MemberId) -> Result<(), StoreError> {
        self.write(Durability::Process, |change| {
            change.transaction.execute("DELETE FROM members WHERE id = ?", [member.0 as i64])?;
            Ok(())
        })
    }

    fn members(&mut self) -> Result<Vec<Member>, StoreError> {
        living(self.current()?)
    }

    fn unwanted(&mut self) -> Result<Unwanted, StoreError> {
        query::unwanted(self.current()?)
    }

    fn set_unwanted(&mut self, unwanted: &Unwanted, instead: bool) -> Result<(), StoreError> {
        self.write(Durability::Machine, |change| {
            let mut all = if instead { Unwanted::default() } else { query::unwanted(&change.transaction)? };
            all.merge(unwanted);
            let keep = "INSERT INTO meta VALUES ('unwanted', ?) ON CONFLICT (key) DO UPDATE SET value = excluded.value";
            change.transaction.execute(keep, [all.to_text()?])?;
            let count = "INSERT INTO counters VALUES ('unwanted', 1) ON CONFLICT (name) DO UPDATE SET value = value + 1";
            change.transaction.execute(count, [])?;
            Ok(())
        })
    }

    fn set_closing(&mut self, closing: bool) -> Result<(), StoreError> {
        self.write(Durability::Process, |change| {
            change
                .transaction
                .execute("UPDATE counters SET value = ? WHERE name = 'closing'", [i64::from(closing)])?;
            Ok(())
        })
    }

    fn closing(&mut self) -> Result<bool, StoreError> {
        Ok(query::counter(self.current()?, "closing")? != 0)
    }
}
