//! What is in the tables.

use std::collections::BTreeMap;

use postgres::Row;

use super::super::{
    Counts, Learned, Member, MemberId, Memories, News, Role, Sample, SeedMemory, StoreError, StoredSeed,
    Totals, Unwanted,
};
use super::{Failure, LastNews, Queries, findings};
use crate::config::Identity;
use crate::seeds::SeedText;

pub fn meta(on: &mut dyn Queries, key: &str) -> Result<Option<String>, Failure> {
    let rows = on.rows("SELECT value FROM meta WHERE key = $1", &[&key])?;
    Ok(rows.first().map(|row| row.get(0)))
}

pub fn identity(on: &mut dyn Queries) -> Result<Identity, Failure> {
    let text = meta(on, "identity")?.ok_or_else(|| StoreError::damaged("settings", "they are missing"))?;
    Ok(serde_json::from_str(&text).map_err(|error| StoreError::damaged("settings", error))?)
}

/// Seconds since 1970, by the server's clock.
pub fn clock(on: &mut dyn Queries) -> Result<u64, Failure> {
    let rows = on.rows("SELECT extract(epoch FROM clock_timestamp())::bigint", &[])?;
    Ok(rows.first().map_or(0, |row| number(row, 0)))
}

pub fn counter(on: &mut dyn Queries, name: &str) -> Result<u64, Failure> {
    let rows = on.rows("SELECT value FROM counters WHERE name = $1", &[&name])?;
    let row = rows.first().ok_or_else(|| StoreError::damaged("counters", format!("{name} is missing")))?;
    Ok(number(row, 0))
}

/// The last change, the last feature, the last site, and how often known bugs were named.
pub fn newest(on: &mut dyn Queries) -> Result<LastNews, Failure> {
    let rows = on.rows("SELECT name, value FROM counters WHERE name IN ('changes', 'unwanted')", &[])?;
    let counted = |name| rows.iter().find(|row| row.get::<_, &str>(0) == name).map(|row| number(row, 1));
    let missing = |name| StoreError::damaged("counters", format!("{name} is missing"));
    let change = counted("changes").ok_or_else(|| missing("changes"))?;
    let unwanted = counted("unwanted").ok_or_else(|| missing("unwanted"))?;
    let rows = on.rows("SELECT coalesce(max(number), 0) FROM seen", &[])?;
    let feature = rows.first().map_or(0, |row| number(row, 0));
    let rows = on.rows("SELECT coalesce(max(number), 0) FROM reached", &[])?;
    Ok(LastNews { change, feature, site: rows.first().map_or(0, |row| number(row, 0)), unwanted })
}

/// Bugs that nobody wants to hear of.
pub fn unwanted(on: &mut dyn Queries) -> Result<Unwanted, Failure> {
    Ok(Unwanted::from_text(meta(on, "unwanted")?.as_deref())?)
}

pub fn learned(on: &mut dyn Queries) -> Result<Learned, Failure> {
    let mut learned = Learned::default();
    for row in on.rows("SELECT kind, name, rounds, tests, cpu, findings, novel FROM learned", &[])? {
        learned.add(row.get(0), row.get(1), &counts(&row, 2));
    }
    Ok(learned)
}

pub fn totals(on: &mut dyn Queries) -> Result<Totals, Failure> {
    let damaged = |error| StoreError::damaged("totals", error);
    let mut numbers = Vec::new();
    for row in on.rows("SELECT path, value FROM totals", &[])? {
        numbers.push((serde_json::from_str(row.get(0)).map_err(damaged)?, number(&row, 1)));
    }
    Ok(Totals::from_numbers(numbers).map_err(damaged)?)
}

/// The key of a count: its path as a JSON array, since any character may occur in a name.
pub fn path_key(path: &[String]) -> Result<String, StoreError> {
    serde_json::to_string(path).map_err(|error| StoreError::damaged("totals", error))
}

pub fn samples(on: &mut dyn Queries) -> Result<Vec<Sample>, Failure> {
    let sql = "SELECT at, engine, tests, runs, cpu, findings, novel, functions, blocks FROM samples \
         ORDER BY at, engine COLLATE \"C\"";
    let sample = |row: &Row| Sample {
        at: number(row, 0),
        engine: row.get(1),
        tests: number(row, 2),
        runs: number(row, 3),
        cpu: number(row, 4),
        findings: number(row, 5),
        novel: number(row, 6),
        functions: number(row, 7),
        blocks: number(row, 8),
    };
    Ok(on.rows(sql, &[])?.iter().map(sample).collect())
}

pub fn features(on: &mut dyn Queries) -> Result<Vec<u64>, Failure> {
    let rows = on.rows("SELECT feature FROM seen ORDER BY number", &[])?;
    Ok(rows.iter().map(|row| number(row, 0)).collect())
}

pub fn sites(on: &mut dyn Queries) -> Result<BTreeMap<u64, Vec<u32>>, Failure> {
    Ok(by_code(&on.rows("SELECT code, site FROM reached ORDER BY number", &[])?))
}

/// Rows of code and site.
fn by_code(rows: &[Row]) -> BTreeMap<u64, Vec<u32>> {
    let mut all: BTreeMap<u64, Vec<u32>> = BTreeMap::new();
    for row in rows {
        all.entry(number(row, 0)).or_default().push(number(row, 1) as u32);
    }
    all
}

/// What engines have left to know about seeds; what others than a writer have told since a change, if that is given.
pub fn memories(on: &mut dyn Queries, others: Option<(u64, u64)>) -> Result<Memories, Failure> {
    let (since, writer) = others.map_or((-1, -1), |(since, writer)| (since as i64, writer as i64));
    let rows = on.rows(
        "SELECT seed, engine, text, exhausted FROM memories WHERE changed > $1 AND writer <> $2",
        &[&since, &writer],
    )?;
    let memory = |row: &Row| {
        let text = String::from_utf8(row.get(2)).map_err(|error| StoreError::damaged("a memory", error))?;
        Ok(((row.get(0), row.get(1)), SeedMemory { text, exhausted: row.get(3) }))
    };
    rows.iter().map(memory).collect()
}

pub fn seed(on: &mut dyn Queries, hash: &str) -> Result<Option<SeedText>, Failure> {
    let rows = on.rows("SELECT hash, name, text FROM texts WHERE hash = $1", &[&hash])?;
    Ok(rows.first().map(seed_text).transpose()?)
}

pub fn pool(on: &mut dyn Queries) -> Result<Vec<(StoredSeed, Counts)>, Failure> {
    let rows = on.rows(
        "SELECT hash, name, text, mutant, rounds, tests, cpu, findings, novel FROM seeds JOIN texts USING (hash) \
         WHERE state = 'used' ORDER BY hash COLLATE \"C\"",
        &[],
    )?;
    Ok(rows.iter().map(stored_seed).collect::<Result<_, _>>()?)
}

/// What others than this writer have added since then.
pub fn news(on: &mut dyn Queries, writer: u64, last_news: LastNews) -> Result<News, Failure> {
    let mut news = News { learned: learned(on)?, ..News::default() };
    let (since, me) = (last_news.change as i64, writer as i64);
    let rows = on.rows(
        "SELECT hash, name, text, mutant, rounds, tests, cpu, findings, novel FROM seeds JOIN texts USING (hash) \
         WHERE changed > $1 AND (writer <> $2 OR other > $1) AND state = 'used' AND state_at > $1 \
         AND state_by <> $2 ORDER BY hash COLLATE \"C\"",
        &[&since, &me],
    )?;
    news.new_seeds = rows.iter().map(stored_seed).collect::<Result<_, _>>()?;
    let rows = on.rows(
        "SELECT hash, rounds, tests, cpu, findings, novel FROM seeds \
         WHERE changed > $1 AND (writer <> $2 OR other > $1) AND state = 'used' \
         AND (state_at <= $1 OR state_by = $2) ORDER BY hash COLLATE \"C\"",
        &[&since, &me],
    )?;
    news.seeds = rows.iter().map(|row| (row.get(0), counts(row, 1))).collect();
    let rows = on.rows(
        "SELECT hash FROM seeds WHERE changed > $1 AND state = 'retired' AND state_at > $1 AND state_by <> $2 \
         ORDER BY hash COLLATE \"C\"",
        &[&since, &me],
    )?;
    news.retired = rows.iter().map(|row| row.get(0)).collect();
    let rows = on.rows(
        "SELECT feature FROM seen WHERE number > $1 AND writer <> $2 ORDER BY number",
        &[&(last_news.feature as i64), &me],
    )?;
    news.features = rows.iter().map(|row| number(row, 0)).collect();
    let rows = on.rows(
        "SELECT code, site FROM reached WHERE number > $1 AND writer <> $2 ORDER BY number",
        &[&(last_news.site as i64), &me],
    )?;
    news.sites = by_code(&rows);
    news.findings = findings::news(on, writer, last_news)?;
    news.memories = memories(on, Some((last_news.change, writer)))?;
    Ok(news)
}

/// Those who have shown a sign of life within so many seconds, by the server's clock.
pub fn members(on: &mut dyn Queries, within: u64) -> Result<Vec<Member>, Failure> {
    let rows = on.rows(
        "SELECT id, role, pid, extract(epoch FROM seen)::bigint FROM members \
         WHERE seen > now() - $1 * interval '1 second' ORDER BY id",
        &[&(within as f64)],
    )?;
    let member = |row: &Row| Member {
        id: MemberId(number(row, 0)),
        role: if row.get::<_, &str>(1) == "owner" { Role::Owner } else { Role::Helper },
        pid: number(row, 2) as u32,
        seen: number(row, 3),
    };
    Ok(rows.iter().map(member).collect())
}

/// Hash, name, text.
pub fn seed_text(row: &Row) -> Result<SeedText, StoreError> {
    let text = String::from_utf8(row.get::<_, Vec<u8>>(2))
        .map_err(|error| StoreError::damaged("the text of a seed", error))?;
    Ok(SeedText { hash: row.get(0), name: row.get(1), text: text.into() })
}

fn stored_seed(row: &Row) -> Result<(StoredSeed, Counts), StoreError> {
    Ok((StoredSeed { seed: seed_text(row)?, mutant: row.get(3) }, counts(row, 4)))
}

fn counts(row: &Row, first: usize) -> Counts {
    Counts {
        rounds: number(row, first),
        tests: number(row, first + 1),
        cpu: number(row, first + 2),
        findings: number(row, first + 3),
        novel: number(row, first + 4),
    }
}

/// Numbers are stored with a sign and read back bit for bit.
pub fn number(row: &Row, column: usize) -> u64 {
    row.get::<_, i64>(column) as u64
}
