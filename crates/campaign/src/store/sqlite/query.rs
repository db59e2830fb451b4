//! What is in the tables.

use crate::store::Role;
use std::collections::BTreeMap;

use rusqlite::{Connection, OptionalExtension, Row, Rows};

use super::super::{
    Counts, Learned, Member, MemberId, Memories, News, Sample, SeedMemory, StoreError, StoredSeed, Totals,
    Unwanted,
};
use super::{LastNews, findings};
use crate::config::Identity;
use crate::seeds::SeedText;

pub fn identity(connection: &Connection) -> Result<Identity, StoreError> {
    let text: String =
        connection.query_row("SELECT value FROM meta WHERE key = 'identity'", [], |row| row.get(0))?;
    serde_json::from_str(&text).map_err(|error| StoreError::damaged("settings", error))
}

pub fn counter(connection: &Connection, name: &str) -> Result<u64, StoreError> {
    let mut find = connection.prepare_cached("SELECT value FROM counters WHERE name = ?")?;
    Ok(find.query_row([name], |row| row.get::<_, i64>(0))? as u64)
}

/// Adds to a counter and gives its new value.
pub fn advance(connection: &Connection, name: &str, by: u64) -> Result<u64, StoreError> {
    let mut add = connection
        .prepare_cached("UPDATE counters SET value = value + ?2 WHERE name = ?1 RETURNING value")?;
    Ok(add.query_row((name, by as i64), |row| row.get::<_, i64>(0))? as u64)
}

/// The last change, the last feature and the last site.
pub fn newest(connection: &Connection) -> Result<LastNews, StoreError> {
    let change = counter(connection, "changes")?;
    let mut find = connection.prepare_cached("SELECT max(number) FROM seen")?;
    let feature: Option<i64> = find.query_row([], |row| row.get(0))?;
    let mut find = connection.prepare_cached("SELECT max(number) FROM reached")?;
    let site: Option<i64> = find.query_row([], |row| row.get(0))?;
    // Campaigns for which nobody named known bugs do not have it.
    let mut find = connection.prepare_cached("SELECT max(value) FROM counters WHERE name = 'unwanted'")?;
    let unwanted: Option<i64> = find.query_row([], |row| row.get(0))?;
    let [feature, site, unwanted] = [feature, site, unwanted].map(|number| number.unwrap_or(0) as u64);
    Ok(LastNews { change, feature, site, unwanted })
}

/// Bugs that nobody wants to hear of.
pub fn unwanted(connection: &Connection) -> Result<Unwanted, StoreError> {
    let mut find = connection.prepare_cached("SELECT value FROM meta WHERE key = 'unwanted'")?;
    let text: Option<String> = find.query_row([], |row| row.get(0)).optional()?;
    Unwanted::from_text(text.as_deref())
}

pub fn any_untried(connection: &Connection) -> Result<bool, StoreError> {
    let mut find = connection.prepare_cached("SELECT 1 FROM seeds WHERE untried = 1 LIMIT 1")?;
    Ok(find.query_row([], |_| Ok(())).optional()?.is_some())
}

pub fn learned(connection: &Connection) -> Result<Learned, StoreError> {
    let mut learned = Learned::default();
    let mut find =
        connection.prepare_cached("SELECT kind, name, rounds, tests, cpu, findings, novel FROM learned")?;
    let mut rows = find.query([])?;
    while let Some(row) = rows.next()? {
        let (kind, name): (String, String) = (row.get(0)?, row.get(1)?);
        learned.add(&kind, &name, &counts(row, 2)?);
    }
    Ok(learned)
}

/// What engines have left to know about seeds; what others than a writer have told since a change, if that is given.
pub fn memories(connection: &Connection, others: Option<(u64, u64)>) -> Result<Memories, StoreError> {
    let mut exists = connection.prepare_cached("SELECT 1 FROM sqlite_master WHERE name = 'memories'")?;
    if exists.query_row([], |_| Ok(())).optional()?.is_none() {
        return Ok(Memories::default());
    }
    let (since, writer) = others.map_or((-1, -1), |(since, writer)| (since as i64, writer as i64));
    let mut find = connection.prepare_cached(
        "SELECT seed, engine, text, exhausted FROM memories WHERE changed > ? AND writer <> ?",
    )?;
    let rows = find.query_map([since, writer], |row| {
        let memory = SeedMemory { text: row.get(2)?, exhausted: row.get(3)? };
        Ok(((row.get(0)?, row.get(1)?), memory))
    })?;
    Ok(rows.collect::<Result<_, _>>()?)
}

pub fn totals(connection: &Connection) -> Result<Totals, StoreError> {
    let damaged = |error| StoreError::damaged("totals", error);
    let mut numbers = Vec::new();
    let mut find = connection.prepare_cached("SELECT path, value FROM totals")?;
    let mut rows = find.query([])?;
    while let Some(row) = rows.next()? {
        let key: String = row.get(0)?;
        numbers.push((serde_json::from_str(&key).map_err(damaged)?, row.get::<_, i64>(1)? as u64));
    }
    Totals::from_numbers(numbers).map_err(damaged)
}

/// The key of a count: its path as a JSON array, since any character may occur in a name.
pub fn path_key(path: &[String]) -> Result<String, StoreError> {
    serde_json::to_string(path).map_err(|error| StoreError::damaged("totals", error))
}

/// The campaign over time, with the code that was reached where the format has it.
pub fn samples(connection: &Connection, watched: bool) -> Result<Vec<Sample>, StoreError> {
    let reached = if watched { "functions, blocks" } else { "0, 0" };
    let mut find = connection.prepare_cached(&format!(
        "SELECT at, engine, tests, runs, cpu, findings, novel, {reached} FROM samples ORDER BY at, engine"
    ))?;
    let rows = find.query_map([], |row| {
        Ok(Sample {
            at: number(row, 0)?,
            engine: row.get(1)?,
            tests: number(row, 2)?,
            runs: number(row, 3)?,
            cpu: number(row, 4)?,
            findings: number(row, 5)?,
            novel: number(row, 6)?,
            functions: number(row, 7)?,
            blocks: number(row, 8)?,
        })
    })?;
    Ok(rows.collect::<Result<_, _>>()?)
}

pub fn features(connection: &Connection) -> Result<Vec<u64>, StoreError> {
    let mut find = connection.prepare_cached("SELECT feature FROM seen ORDER BY number")?;
    let rows = find.query_map([], |row| number(row, 0))?;
    Ok(rows.collect::<Result<_, _>>()?)
}

pub fn sites(connection: &Connection) -> Result<BTreeMap<u64, Vec<u32>>, StoreError> {
    let mut find = connection.prepare_cached("SELECT code, sites FROM reached ORDER BY number")?;
    by_code(find.query([])?)
}

/// The same of a format that has a row for every site.
pub fn sites_by_site(connection: &Connection) -> Result<BTreeMap<u64, Vec<u32>>, StoreError> {
    let mut find = connection.prepare_cached("SELECT code, site FROM reached ORDER BY code, site")?;
    let mut all: BTreeMap<u64, Vec<u32>> = BTreeMap::new();
    let mut rows = find.query([])?;
    while let Some(row) = rows.next()? {
        all.entry(number(row, 0)?).or_default().push(row.get(1)?);
    }
    Ok(all)
}

/// Rows of code and sites: each site once, in order, whoever has reached it too.
fn by_code(mut rows: Rows) -> Result<BTreeMap<u64, Vec<u32>>, StoreError> {
    let mut all: BTreeMap<u64, Vec<u32>> = BTreeMap::new();
    while let Some(row) = rows.next()? {
        let bytes = row.get_ref(1)?.as_blob().map_err(|error| StoreError::damaged("sites", error))?;
        let (sites, []) = bytes.as_chunks::<4>() else {
            return Err(StoreError::damaged("sites", format!("{} bytes", bytes.len())));
        };
        all.entry(number(row, 0)?).or_default().extend(sites.iter().map(|site| u32::from_le_bytes(*site)));
    }
    for sites in all.values_mut() {
        sites.sort_unstable();
        sites.dedup();
    }
    Ok(all)
}

/// The text of a seed; the format before has it in another table.
pub fn seed(connection: &Connection, table: &str, hash: &str) -> Result<Option<SeedText>, StoreError> {
    let mut find =
        connection.prepare_cached(&format!("SELECT hash, name, text FROM {table} WHERE hash = ?"))?;
    Ok(find.query_row([hash], seed_text).optional()?)
}

pub fn pool(connection: &Connection) -> Result<Vec<(StoredSeed, Counts)>, StoreError> {
    let mut find = connection.prepare_cached(
        "SELECT hash, name, text, mutant, rounds, tests, cpu, findings, novel FROM seeds JOIN texts USING (hash) \
         WHERE state = 'used' ORDER BY hash",
    )?;
    let rows = find.query_map([], stored_seed)?;
    Ok(rows.collect::<Result<_, _>>()?)
}

/// What others than this writer have added since then.
pub fn news(connection: &Connection, writer: u64, last_news: LastNews) -> Result<News, StoreError> {
    let mut news = News { learned: learned(connection)?, ..News::default() };
    let (since, me) = (last_news.change as i64, writer as i64);
    let mut find = connection.prepare_cached(
        "SELECT hash, name, text, mutant, rounds, tests, cpu, findings, novel FROM seeds JOIN texts USING (hash) \
         WHERE changed > ?1 AND (writer <> ?2 OR other > ?1) AND state = 'used' AND state_at > ?1 \
         AND state_by <> ?2 ORDER BY hash",
    )?;
    news.new_seeds = find.query_map([since, me], stored_seed)?.collect::<Result<_, _>>()?;
    let mut find = connection.prepare_cached(
        "SELECT hash, rounds, tests, cpu, findings, novel FROM seeds \
         WHERE changed > ?1 AND (writer <> ?2 OR other > ?1) AND state = 'used' \
         AND (state_at <= ?1 OR state_by = ?2) ORDER BY hash",
    )?;
    let counted = |row: &Row| Ok((row.get(0)?, counts(row, 1)?));
    news.seeds = find.query_map([since, me], counted)?.collect::<Result<_, _>>()?;
    let mut find = connection.prepare_cached(
        "SELECT hash FROM seeds WHERE changed > ?1 AND state = 'retired' AND state_at > ?1 AND state_by <> ?2 \
         ORDER BY hash",
    )?;
    news.retired = find.query_map([since, me], |row| row.get(0))?.collect::<Result<_, _>>()?;
    let mut find = connection
        .prepare_cached("SELECT feature FROM seen WHERE number > ?1 AND writer <> ?2 ORDER BY number")?;
    news.features =
        find.query_map([last_news.feature as i64, me], |row| number(row, 0))?.collect::<Result<_, _>>()?;
    let mut find = connection.prepare_cached(
        "SELECT code, sites FROM reached WHERE number > ?1 AND writer <> ?2 ORDER BY number",
    )?;
    news.sites = by_code(find.query([last_news.site as i64, me])?)?;
    news.findings = findings::news(connection, writer, last_news)?;
    news.memories = memories(connection, Some((last_news.change, writer)))?;
    Ok(news)
}

pub fn members(connection: &Connection, seen_since: u64) -> Result<Vec<Member>, StoreError> {
    let mut find =
        connection.prepare_cached("SELECT id, what, pid, seen FROM members WHERE seen >= ? ORDER BY id")?;
    let rows = find.query_map([seen_since as i64], |row| {
        Ok(Member {
            id: MemberId(number(row, 0)?),
            role: match row.get::<_, String>(1)?.as_str() {
                "owner" => Role::Owner,
                _ => Role::Helper,
            },
            pid: row.get(2)?,
            seen: number(row, 3)?,
        })
    })?;
    Ok(rows.collect::<Result<_, _>>()?)
}

/// Hash, name, text.
pub fn seed_text(row: &Row) -> rusqlite::Result<SeedText> {
    let text: String = row.get(2)?;
    Ok(SeedText { hash: row.get(0)?, name: row.get(1)?, text: text.into() })
}

fn stored_seed(row: &Row) -> rusqlite::Result<(StoredSeed, Counts)> {
    Ok((StoredSeed { seed: seed_text(row)?, mutant: row.get(3)? }, counts(row, 4)?))
}

fn counts(row: &Row, first: usize) -> rusqlite::Result<Counts> {
    Ok(Counts {
        rounds: number(row, first)?,
        tests: number(row, first + 1)?,
        cpu: number(row, first + 2)?,
        findings: number(row, first + 3)?,
        novel: number(row, first + 4)?,
    })
}

/// Numbers are stored with a sign and read back bit for bit.
pub fn number(row: &Row, column: usize) -> rusqlite::Result<u64> {
    row.get::<_, i64>(column).map(|value| value as u64)
}
