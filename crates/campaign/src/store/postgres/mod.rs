//! The store on a server: PostgreSQL, for processes on many machines.
//!
//! Every writing transaction begins with the counter of changes, whose row only one of them can hold: what it reads is
//! still so when it writes, and changes are numbered in the order of commits. Counts are committed without waiting for the
//! server's disk, since whoever delivers them keeps them until they are safe; claims and findings wait for it.
//!
//! - `url`: addresses and passwords; `tls`: encryption; `error`: what is wrong, and what to do about it
//! - `schema`: the tables; `merge`: deltas into them; `query`: what is in them; `findings`: claims and findings;
//!   `archive`: folders of findings

mod archive;
mod error;
mod findings;
mod merge;
mod query;
mod schema;
#[cfg(test)]
pub(super) mod tests;
mod tls;
mod url;

use std::collections::{BTreeMap, HashMap};
use std::ops::Range;

use postgres::types::ToSql;
use postgres::{Client, IsolationLevel, Row, Statement, Transaction};

use super::{
    CampaignStore, Claim, Counts, Delta, FindingArchive, KnownFinding, Learned, MEMBER_GONE, Member,
    MemberId, Memories, News, Presence, Role, Sample, StoreError, StoredSeed, Totals, Unwanted,
};
use crate::config::Identity;
use crate::seeds::SeedText;

use error::{explained, is_conflict};
use schema::{FORMAT, SchemaState};
pub use url::{ServerUrl, is_meant_as_address, keep_password, without_password};

/// How often a transaction is tried that others stand in the way of.
const TRIES: u32 = 5;

/// Limits of a session, so that nobody waits for ever: for a lock, or for a server that does nothing.
const LIMITS: &str =
    "-c lock_timeout=20s -c statement_timeout=60s -c idle_in_transaction_session_timeout=60s";

/// More changes than a server makes in the second that it may lose.
const MAYBE_LOST: u64 = 1000;

/// A connection to the campaign on a server.
pub struct PostgresStore {
    client: Client,
    url: ServerUrl,
    /// Statements that the server knows on this connection.
    statements: HashMap<String, Statement>,
    /// The number of this handle; none if it may only read.
    writer: Option<u64>,
    member: Option<MemberId>,
    last_news: LastNews,
    features_kept: usize,
}

/// How far [`CampaignStore::news`] has come.
#[derive(Clone, Copy, Debug, Default)]
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
    /// The end of the server's process is not among it: whoever wrote it keeps it for some seconds more.
    Process,
    /// The end of the server's power, too.
    Machine,
}

/// Deltas of one worker that were numbered in its journal.
pub struct Delivery<'d> {
    /// Who has counted them.
    pub worker: &'d str,
    /// In the order of their numbers.
    pub entries: Vec<(u64, &'d Delta, &'d BTreeMap<String, u64>)>,
}

/// What one look at the server tells a worker.
pub struct Told {
    pub news: News,
    pub totals: Totals,
    pub members: Vec<Member>,
    pub closing: bool,
}

/// What a server has had to do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Load {
    /// Transactions in the database.
    pub transactions: u64,
    /// Bytes of the server's write-ahead log.
    pub log: u64,
    /// Bytes of the campaign's tables and indexes.
    pub tables: u64,
}

/// Why something was not done: the library's error, or ours.
enum Failure {
    Server(postgres::Error),
    Store(StoreError),
}

impl From<postgres::Error> for Failure {
    fn from(error: postgres::Error) -> Failure {
        Failure::Server(error)
    }
}

impl From<StoreError> for Failure {
    fn from(error: StoreError) -> Failure {
        Failure::Store(error)
    }
}

impl Failure {
    fn explained(self, url: &ServerUrl) -> StoreError {
        match self {
            Failure::Server(error) => explained(url, error),
            Failure::Store(error) => error,
        }
    }
}

/// A connection, or a transaction on it.
trait Queries {
    fn rows(&mut self, sql: &str, parameters: &[&(dyn ToSql + Sync)]) -> Result<Vec<Row>, Failure>;
}

/// A reading transaction.
struct Look<'c> {
    transaction: Transaction<'c>,
    statements: &'c mut HashMap<String, Statement>,
}

impl Queries for Look<'_> {
    fn rows(&mut self, sql: &str, parameters: &[&(dyn ToSql + Sync)]) -> Result<Vec<Row>, Failure> {
        let statement = prepared(&mut self.transaction, self.statements, sql)?;
        Ok(self.transaction.query(&statement, parameters)?)
    }
}

/// A writing transaction with the numbers of the change and of its writer.
struct Change<'c> {
    look: Look<'c>,
    number: u64,
    writer: u64,
}

impl Queries for Change<'_> {
    fn rows(&mut self, sql: &str, parameters: &[&(dyn ToSql + Sync)]) -> Result<Vec<Row>, Failure> {
        self.look.rows(sql, parameters)
    }
}

impl Change<'_> {
    fn execute(&mut self, sql: &str, parameters: &[&(dyn ToSql + Sync)]) -> Result<u64, Failure> {
        let Look { transaction, statements } = &mut self.look;
        let statement = prepared(transaction, statements, sql)?;
        Ok(transaction.execute(&statement, parameters)?)
    }

    fn query(&mut self, sql: &str, parameters: &[&(dyn ToSql + Sync)]) -> Result<Vec<Row>, Failure> {
        self.look.rows(sql, parameters)
    }

    /// Both numbers as the tables have them.
    fn signed(&self) -> (i64, i64) {
        (self.number as i64, self.writer as i64)
    }
}

fn prepared(
    transaction: &mut Transaction,
    statements: &mut HashMap<String, Statement>,
    sql: &str,
) -> Result<Statement, postgres::Error> {
    if let Some(known) = statements.get(sql) {
        return Ok(known.clone());
    }
    let statement = transaction.prepare(sql)?;
    statements.insert(sql.to_owned(), statement.clone());
    Ok(statement)
}

impl PostgresStore {
    /// What is at this place?
    pub fn presence(url: &ServerUrl) -> Result<Presence, StoreError> {
        match schema::content(&mut connect(url)?, url)? {
            SchemaState::Absent | SchemaState::Empty => Ok(Presence::Nothing),
            SchemaState::Campaign(_) => Ok(Presence::Campaign),
        }
    }

    /// Makes a new one, in one transaction.
    pub fn create(
        url: &ServerUrl,
        identity: &Identity,
        given: &[SeedText],
    ) -> Result<PostgresStore, StoreError> {
        let mut store = PostgresStore::new(connect(url)?, url);
        let failed = |error| explained(url, error);
        // Two that make the same campaign at a time come one after the other.
        let lock = crate::hash::hash(url.schema().as_bytes()) as i64;
        store.client.execute("SELECT pg_advisory_lock($1)", &[&lock]).map_err(failed)?;
        let state = schema::content(&mut store.client, url)?;
        if matches!(state, SchemaState::Campaign(_)) {
            return Err(StoreError::Exists(url.to_string().into()));
        }
        let identity =
            serde_json::to_string(identity).map_err(|error| StoreError::damaged("settings", error))?;
        let writer = store.fill(state, &identity, given)?;
        store.client.execute("SELECT pg_advisory_unlock($1)", &[&lock]).map_err(failed)?;
        store.writer = Some(writer);
        Ok(store)
    }

    /// Makes tables with what a new campaign has.
    fn fill(&mut self, state: SchemaState, identity: &str, given: &[SeedText]) -> Result<u64, StoreError> {
        let PostgresStore { client, statements, url, .. } = self;
        let filled = (|| {
            let mut transaction = client.transaction()?;
            if state == SchemaState::Absent {
                transaction.batch_execute(&format!("CREATE SCHEMA \"{}\"", url.schema()))?;
            }
            schema::upgrade(&mut transaction, 0)?;
            let mut change = Change { look: Look { transaction, statements }, number: 0, writer: 0 };
            let started = query::clock(&mut change)?.to_string();
            for (key, value) in [("identity", identity), ("osprey", VERSION), ("started", &started)] {
                change.execute("INSERT INTO meta VALUES ($1, $2)", &[&key, &value])?;
            }
            change.add_given(given)?;
            let writer = advance(&mut change, "writers", 1)?;
            change.look.transaction.commit()?;
            Ok(writer)
        })();
        filled.map_err(|failure: Failure| failure.explained(url))
    }

    /// Opens one to work on it. Its tables must be those of this version.
    pub fn open(url: &ServerUrl) -> Result<PostgresStore, StoreError> {
        let mut client = connect(url)?;
        readable(&mut client, url)?;
        let mut store = PostgresStore::new(client, url);
        store.same_version()?;
        store.writer = Some(0);
        let (writer, last_news) = store.write(Durability::Process, |change| {
            Ok((advance(change, "writers", 1)?, query::newest(change)?))
        })?;
        store.writer = Some(writer);
        store.last_news = last_news;
        Ok(store)
    }

    /// Opens one for reading.
    pub fn read(url: &ServerUrl) -> Result<PostgresStore, StoreError> {
        let mut client = connect(url)?;
        readable(&mut client, url)?;
        let mut store = PostgresStore::new(client, url);
        store.last_news = store.look(|on| query::newest(on))?;
        Ok(store)
    }

    /// Makes the campaign one of this version: it goes on with it, and its tables are brought up to date. Nobody may work on
    /// it meanwhile.
    pub fn upgrade(url: &ServerUrl) -> Result<(), StoreError> {
        let mut client = connect(url)?;
        let SchemaState::Campaign(found) = schema::content(&mut client, url)? else { return Ok(()) };
        let failed = |error| explained(url, error);
        let version = "SELECT value FROM meta WHERE key = 'osprey'";
        let theirs: String = client.query_one(version, &[]).map_err(failed)?.get(0);
        if found > FORMAT || found == FORMAT && theirs == VERSION {
            return Ok(());
        }
        let mut transaction = client.transaction().map_err(failed)?;
        transaction.batch_execute("LOCK TABLE format IN ACCESS EXCLUSIVE MODE").map_err(failed)?;
        // Somebody else may have done it meanwhile.
        let found: i32 = transaction.query_one("SELECT step FROM format", &[]).map_err(failed)?.get(0);
        let busy: i64 = transaction
            .query_one(
                "SELECT count(*) FROM members WHERE seen > now() - $1 * interval '1 second'",
                &[&(MEMBER_GONE as f64)],
            )
            .map_err(failed)?
            .get(0);
        if busy > 0 {
            let why = format!(
                "it is a campaign of osprey {theirs} (tables of step {found}), this is osprey {VERSION} (step {FORMAT}), and \
                 {busy} of its processes still work on it"
            );
            return Err(StoreError::Refused { place: url.to_string(), why });
        }
        schema::upgrade(&mut transaction, found as u32).map_err(failed)?;
        transaction
            .execute("UPDATE meta SET value = $1 WHERE key = 'osprey'", &[&VERSION])
            .map_err(failed)?;
        transaction.commit().map_err(failed)
    }

    fn new(client: Client, url: &ServerUrl) -> PostgresStore {
        PostgresStore {
            client,
            url: url.clone(),
            statements: HashMap::new(),
            writer: None,
            member: None,
            last_news: LastNews::default(),
            features_kept: super::FEATURES,
        }
    }

    /// Another connection for a handle that has lost its own: the same writer, who has heard the same news.
    pub fn again(&self) -> Result<PostgresStore, StoreError> {
        let mut client = connect(&self.url)?;
        readable(&mut client, &self.url)?;
        let mut store = PostgresStore::new(client, &self.url);
        store.same_version()?;
        (store.writer, store.member) = (self.writer, self.member);
        store.features_kept = self.features_kept;
        // A server that lost its power has lost its last changes, and given out their numbers again: what came around
        // that time is told twice, which does no harm.
        let newest = store.look(|on| query::newest(on))?;
        store.last_news = LastNews {
            change: self.last_news.change.min(newest.change).saturating_sub(MAYBE_LOST),
            feature: self.last_news.feature.min(newest.feature).saturating_sub(MAYBE_LOST),
            site: self.last_news.site.min(newest.site).saturating_sub(MAYBE_LOST),
            // Whoever names known bugs waits for the disk.
            unwanted: self.last_news.unwanted,
        };
        Ok(store)
    }

    /// What tells this campaign from any other, also from one that is made at the same address later.
    pub fn campaign(&mut self) -> Result<String, StoreError> {
        let id = self.look(|on| query::meta(on, "campaign"))?;
        id.ok_or_else(|| StoreError::damaged("settings", "the campaign has no name"))
    }

    /// The server's clock, in seconds since 1970.
    pub fn clock(&mut self) -> Result<u64, StoreError> {
        self.look(|on| query::clock(on))
    }

    /// Has the connection ended?
    pub fn is_closed(&self) -> bool {
        self.client.is_closed()
    }

    /// All processes of a campaign are of one version: another one may make other test cases of the same round.
    fn same_version(&mut self) -> Result<(), StoreError> {
        let theirs = self.look(|on| query::meta(on, "osprey"))?.unwrap_or_default();
        match theirs == VERSION {
            true => Ok(()),
            false => Err(StoreError::OtherVersion {
                place: self.url.to_string(),
                theirs,
                ours: VERSION.to_owned(),
            }),
        }
    }

    #[cfg(test)]
    pub(super) fn keep_features(&mut self, most: usize) {
        self.features_kept = most;
    }

    /// One transaction: committed when `work` succeeds, without a trace when it fails.
    fn write<T>(
        &mut self,
        durability: Durability,
        mut work: impl FnMut(&mut Change) -> Result<T, Failure>,
    ) -> Result<T, StoreError> {
        let writer = self.writer.ok_or(StoreError::ReadOnly)?;
        let PostgresStore { client, url, statements, .. } = self;
        let mut tried = 0;
        loop {
            let result = (|| {
                let mut transaction = client.transaction()?;
                if durability == Durability::Process {
                    transaction.batch_execute("SET LOCAL synchronous_commit = off")?;
                }
                let mut change = Change { look: Look { transaction, statements }, number: 0, writer };
                change.number = advance(&mut change, "changes", 1)?;
                let result = work(&mut change)?;
                change.look.transaction.commit()?;
                Ok(result)
            })();
            match result {
                Err(Failure::Server(error)) if is_conflict(&error) && tried < TRIES => tried += 1,
                Err(failure) => return Err(failure.explained(url)),
                Ok(result) => return Ok(result),
            }
        }
    }

    /// One reading transaction: all that it tells is of one moment.
    fn look<T>(
        &mut self,
        work: impl FnOnce(&mut dyn Queries) -> Result<T, Failure>,
    ) -> Result<T, StoreError> {
        let PostgresStore { client, url, statements, .. } = self;
        let result = (|| {
            let begun = client.build_transaction().isolation_level(IsolationLevel::RepeatableRead);
            let mut look = Look { transaction: begun.read_only(true).start()?, statements };
            let result = work(&mut look)?;
            look.transaction.commit()?;
            Ok(result)
        })();
        result.map_err(|failure: Failure| failure.explained(url))
    }

    /// Adds what a worker's journal has, each entry once however often it is delivered, with a sign of life. Tells the
    /// number of the last entry that the server has.
    pub fn deliver(&mut self, delivery: &Delivery) -> Result<u64, StoreError> {
        let (features_kept, member) = (self.features_kept, self.member);
        self.write(Durability::Process, |change| {
            if let Some(member) = member {
                beat(change, member)?;
            }
            let rows = change
                .query("SELECT sequence FROM deliveries WHERE worker = $1 FOR UPDATE", &[&delivery.worker])?;
            let known = rows.first().map_or(0, |row| query::number(row, 0));
            let mut delta = Delta::default();
            let mut last = known;
            for (sequence, entry, duplicates) in &delivery.entries {
                if *sequence > known {
                    delta.merge((*entry).clone());
                    change.add_duplicates(duplicates)?;
                    last = *sequence;
                }
            }
            if last > known {
                if !delta.is_empty() {
                    change.merge(&delta, features_kept)?;
                }
                change.execute(
                    "INSERT INTO deliveries VALUES ($1, $2) ON CONFLICT (worker) DO UPDATE SET sequence = $2",
                    &[&delivery.worker, &(last as i64)],
                )?;
            }
            Ok(last)
        })
    }

    /// The number of the last entry that the server has of a worker.
    pub fn delivered(&mut self, worker: &str) -> Result<u64, StoreError> {
        self.look(|on| {
            let rows = on.rows("SELECT sequence FROM deliveries WHERE worker = $1", &[&worker])?;
            Ok(rows.first().map_or(0, |row| query::number(row, 0)))
        })
    }

    /// What the server has had to do so far.
    pub fn load(&mut self) -> Result<Load, StoreError> {
        self.look(|on| {
            let rows = on.rows(
                "SELECT xact_commit, (pg_current_wal_lsn() - '0/0')::bigint, \
                 (SELECT sum(pg_total_relation_size(c.oid))::bigint FROM pg_class c JOIN pg_namespace n \
                  ON n.oid = relnamespace WHERE nspname = current_schema() AND relkind = 'r') \
                 FROM pg_stat_database WHERE datname = current_database()",
                &[],
            )?;
            let row = rows.first().ok_or_else(|| StoreError::damaged("statistics", "there are none"))?;
            Ok(Load {
                transactions: query::number(row, 0),
                log: query::number(row, 1),
                tables: query::number(row, 2),
            })
        })
    }

    /// Everything that a worker asks for now and then, at once.
    pub fn told(&mut self) -> Result<Told, StoreError> {
        let (writer, last_news) = (self.writer.unwrap_or(0), self.last_news);
        let (told, newest) = self.look(|on| {
            let newest = query::newest(on)?;
            let mut news = query::news(on, writer, last_news)?;
            if newest.unwanted > last_news.unwanted {
                news.unwanted = Some(query::unwanted(on)?);
            }
            let told = Told {
                news,
                totals: query::totals(on)?,
                members: query::members(on, MEMBER_GONE)?,
                closing: query::counter(on, "closing")? != 0,
            };
            Ok((told, newest))
        })?;
        self.last_news = newest;
        Ok(told)
    }
}

/// The version that made the campaign.
const VERSION: &str = env!("CARGO_PKG_VERSION");

fn connect(url: &ServerUrl) -> Result<Client, StoreError> {
    let mut config = url.config()?;
    let options = config.get_options().unwrap_or_default();
    let options = format!("{options} -c search_path={} {LIMITS}", url.schema());
    config.options(options.trim());
    config.connect(tls::connector(url)?).map_err(|error| explained(url, error))
}

/// The campaign is there, and its tables are those of this version.
fn readable(client: &mut Client, url: &ServerUrl) -> Result<(), StoreError> {
    match schema::content(client, url)? {
        SchemaState::Absent | SchemaState::Empty => Err(StoreError::Missing(url.to_string().into())),
        SchemaState::Campaign(found) if found > FORMAT => {
            Err(StoreError::Newer { path: url.to_string().into(), found, ours: FORMAT })
        }
        SchemaState::Campaign(found) if found < FORMAT => {
            Err(StoreError::Outdated { place: url.to_string(), found, ours: FORMAT })
        }
        SchemaState::Campaign(_) => Ok(()),
    }
}

/// Adds to a counter and gives its new value.
fn advance(change: &mut Change, name: &str, by: u64) -> Result<u64, Failure> {
    let rows = change.query(
        "UPDATE counters SET value = value + $2 WHERE name = $1 RETURNING value",
        &[&name, &(by as i64)],
    )?;
    let row = rows.first().ok_or_else(|| StoreError::damaged("counters", format!("{name} is missing")))?;
    Ok(query::number(row, 0))
}

fn beat(change: &mut Change, member: MemberId) -> Result<(), Failure> {
    change.execute("UPDATE members SET seen = now() WHERE id = $1", &[&(member.0 as i64)])?;
    Ok(())
}

impl CampaignStore for PostgresStore {
    fn identity(&mut self) -> Result<Identity, StoreError> {
        self.look(|on| query::identity(on))
    }

    fn started(&mut self) -> Result<u64, StoreError> {
        let text = self.look(|on| query::meta(on, "started"))?.unwrap_or_default();
        text.parse().map_err(|error| StoreError::damaged("the time it was made", error))
    }

    fn claim_rounds(&mut self, count: u64) -> Result<Range<u64>, StoreError> {
        self.write(Durability::Machine, |change| {
            let end = advance(change, "next_round", count)?;
            Ok(end - count..end)
        })
    }

    fn claim_untried(&mut self, count: usize) -> Result<Vec<SeedText>, StoreError> {
        // Mostly there are none left, and finding that out need not lock anybody out.
        let any = format!("SELECT 1 FROM seeds WHERE {} LIMIT 1", merge::WAITING);
        if self.look(|on| Ok(on.rows(&any, &[])?.is_empty()))? {
            return Ok(Vec::new());
        }
        let holder = self.member.map(|member| member.0);
        self.write(Durability::Machine, |change| change.take_untried(count, holder))
    }

    fn merge(&mut self, delta: &Delta) -> Result<(), StoreError> {
        if delta.is_empty() {
            return Ok(());
        }
        let features_kept = self.features_kept;
        self.write(Durability::Process, |change| change.merge(delta, features_kept))
    }

    fn news(&mut self) -> Result<News, StoreError> {
        Ok(self.told()?.news)
    }

    fn claim(&mut self, finding: &KnownFinding, compared: u64) -> Result<Claim, StoreError> {
        // A known signature needs no place in the queue of writers, nor a wait for the disk.
        if let Some(known) = self.look(|on| findings::find(on, &finding.hash))? {
            return Ok(Claim::Known(known));
        }
        self.write(Durability::Machine, |change| change.claim(finding, compared))
    }

    fn regroup(&mut self, hash: &str, from: &str, to: &str) -> Result<bool, StoreError> {
        self.write(Durability::Machine, |change| change.regroup(hash, from, to))
    }

    fn show(&mut self, hash: &str, face: &str) -> Result<(), StoreError> {
        self.write(Durability::Process, |change| change.show(hash, face))
    }

    fn release(&mut self, hash: &str) -> Result<(), StoreError> {
        self.write(Durability::Machine, |change| change.release(hash))
    }

    fn duplicate(&mut self, hash: &str) -> Result<Option<KnownFinding>, StoreError> {
        let one = BTreeMap::from([(hash.to_owned(), 1)]);
        self.write(Durability::Process, |change| {
            change.add_duplicates(&one)?;
            findings::find(change, hash)
        })
    }

    fn findings(&mut self) -> Result<Vec<KnownFinding>, StoreError> {
        self.look(|on| findings::all(on))
    }

    fn seed(&mut self, hash: &str) -> Result<Option<SeedText>, StoreError> {
        self.look(|on| query::seed(on, hash))
    }

    fn pool(&mut self) -> Result<Vec<(StoredSeed, Counts)>, StoreError> {
        self.look(|on| query::pool(on))
    }

    fn features(&mut self) -> Result<Vec<u64>, StoreError> {
        self.look(|on| query::features(on))
    }

    fn sites(&mut self) -> Result<BTreeMap<u64, Vec<u32>>, StoreError> {
        self.look(|on| query::sites(on))
    }

    fn memories(&mut self) -> Result<Memories, StoreError> {
        self.look(|on| query::memories(on, None))
    }

    fn learned(&mut self) -> Result<Learned, StoreError> {
        self.look(|on| query::learned(on))
    }

    fn totals(&mut self) -> Result<Totals, StoreError> {
        self.look(|on| query::totals(on))
    }

    fn samples(&mut self) -> Result<Vec<Sample>, StoreError> {
        self.look(|on| query::samples(on))
    }

    fn join(&mut self, role: Role) -> Result<MemberId, StoreError> {
        let what = match role {
            Role::Owner => "owner",
            Role::Helper => "helper",
        };
        let member = self.write(Durability::Process, |change| {
            let rows = change.query(
                "INSERT INTO members (role, pid, host, seen) VALUES ($1, $2, $3, now()) RETURNING id",
                &[&what, &i64::from(std::process::id()), &super::host()],
            )?;
            let row = rows.first().ok_or_else(|| StoreError::damaged("members", "no number was given"))?;
            Ok(MemberId(query::number(row, 0)))
        })?;
        self.member = Some(member);
        Ok(member)
    }

    fn beat(&mut self, member: MemberId) -> Result<(), StoreError> {
        self.write(Durability::Process, |change| beat(change, member))
    }

    fn leave(&mut self, member: MemberId) -> Result<(), StoreError> {
        self.write(Durability::Process, |change| {
            change.execute("DELETE FROM members WHERE id = $1", &[&(member.0 as i64)])?;
            change.execute("UPDATE folders SET holder = NULL WHERE holder = $1", &[&(member.0 as i64)])?;
            Ok(())
        })
    }

    fn members(&mut self) -> Result<Vec<Member>, StoreError> {
        self.look(|on| query::members(on, MEMBER_GONE))
    }

    fn unwanted(&mut self) -> Result<Unwanted, StoreError> {
        self.look(|on| query::unwanted(on))
    }

    fn set_unwanted(&mut self, unwanted: &Unwanted, instead: bool) -> Result<(), StoreError> {
        self.write(Durability::Machine, |change| {
            let mut all = if instead { Unwanted::default() } else { query::unwanted(change)? };
            all.merge(unwanted);
            change.execute(
                "INSERT INTO meta VALUES ('unwanted', $1) ON CONFLICT (key) DO UPDATE SET value = $1",
                &[&all.to_text()?],
            )?;
            advance(change, "unwanted", 1)?;
            Ok(())
        })
    }

    fn set_closing(&mut self, closing: bool) -> Result<(), StoreError> {
        self.write(Durability::Process, |change| {
            change
                .execute("UPDATE counters SET value = $1 WHERE name = 'closing'", &[&i64::from(closing)])?;
            Ok(())
        })
    }

    fn closing(&mut self) -> Result<bool, StoreError> {
        self.look(|on| Ok(query::counter(on, "closing")? != 0))
    }

    fn archive(&mut self) -> Option<&mut dyn FindingArchive> {
        Some(self)
    }
}
