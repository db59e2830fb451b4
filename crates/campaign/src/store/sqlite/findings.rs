//! Claims of signatures, and the findings behind them.

use std::path::{Component, Path};

use rusqlite::types::Type;
use rusqlite::{Connection, OptionalExtension, Row, params};

use super::super::{Claim, KnownFinding, StoreError};
use super::{Change, LastNews};

/// All columns of a finding but for those of groups, which earlier formats do not have.
const COLUMNS: &str = "hash, signature, kind, solver, folder, round, step, duplicates, flaky";

/// The columns of groups.
const GROUPED: &str = "bug, face";

pub fn all(connection: &Connection) -> Result<Vec<KnownFinding>, StoreError> {
    let mut find = connection
        .prepare_cached(&format!("SELECT {COLUMNS}, {GROUPED} FROM findings ORDER BY round, step, hash"))?;
    let rows = find.query_map([], finding)?;
    Ok(rows.collect::<Result<_, _>>()?)
}

/// Those of a campaign of an earlier format, each a bug of its own.
pub fn ungrouped(connection: &Connection) -> Result<Vec<KnownFinding>, StoreError> {
    let mut find = connection
        .prepare_cached(&format!("SELECT {COLUMNS}, hash, '' FROM findings ORDER BY round, step, hash"))?;
    let rows = find.query_map([], finding)?;
    Ok(rows.collect::<Result<_, _>>()?)
}

pub fn find(connection: &Connection, hash: &str) -> Result<Option<KnownFinding>, StoreError> {
    let mut find =
        connection.prepare_cached(&format!("SELECT {COLUMNS}, {GROUPED} FROM findings WHERE hash = ?"))?;
    Ok(find.query_row([hash], finding).optional()?)
}

/// Those that others than this writer have added or changed.
pub fn news(
    connection: &Connection,
    writer: u64,
    last_news: LastNews,
) -> Result<Vec<KnownFinding>, StoreError> {
    let mut find = connection.prepare_cached(&format!(
        "SELECT {COLUMNS}, {GROUPED} FROM findings WHERE changed > ?1 AND (writer <> ?2 OR other > ?1) \
         ORDER BY round, step, hash"
    ))?;
    let rows = find.query_map([last_news.change as i64, writer as i64], finding)?;
    Ok(rows.collect::<Result<_, _>>()?)
}

impl Change<'_> {
    pub fn claim(&self, finding: &KnownFinding, compared: u64) -> Result<Claim, StoreError> {
        if let Some(known) = find(&self.transaction, &finding.hash)? {
            return Ok(Claim::Known(known));
        }
        let there = all(&self.transaction)?;
        if there.len() as u64 != compared {
            return Ok(Claim::Behind(there));
        }
        self.transaction.execute(
            "INSERT INTO findings VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, 0, ?, ?)",
            params![
                finding.hash,
                finding.signature,
                finding.kind,
                finding.solver,
                finding.folder,
                finding.round as i64,
                finding.step as i64,
                finding.duplicates as i64,
                finding.flaky,
                self.number as i64,
                self.writer as i64,
                finding.group,
                finding.face
            ],
        )?;
        Ok(Claim::New)
    }

    pub fn regroup(&self, hash: &str, from: &str, to: &str) -> Result<bool, StoreError> {
        let moved = self
            .transaction
            .execute("UPDATE findings SET bug = ? WHERE hash = ? AND bug = ?", [to, hash, from])?;
        if moved > 0 {
            self.touch(hash)?;
        }
        Ok(moved > 0)
    }

    pub fn show(&self, hash: &str, face: &str) -> Result<(), StoreError> {
        self.transaction.execute("UPDATE findings SET face = ? WHERE hash = ?", [face, hash])?;
        self.touch(hash)
    }

    pub fn release(&self, hash: &str) -> Result<(), StoreError> {
        self.transaction.execute("DELETE FROM findings WHERE hash = ?", [hash])?;
        Ok(())
    }

    pub fn duplicate(&self, hash: &str) -> Result<Option<KnownFinding>, StoreError> {
        self.transaction
            .prepare_cached("UPDATE findings SET duplicates = duplicates + 1 WHERE hash = ?")?
            .execute([hash])?;
        self.touch(hash)?;
        find(&self.transaction, hash)
    }

    fn touch(&self, hash: &str) -> Result<(), StoreError> {
        self.transaction
            .prepare_cached(
                "UPDATE findings SET other = CASE WHEN writer = ?3 THEN other ELSE changed END, changed = ?2, \
                 writer = ?3 WHERE hash = ?1",
            )?
            .execute(params![hash, self.number as i64, self.writer as i64])?;
        Ok(())
    }
}

fn finding(row: &Row) -> rusqlite::Result<KnownFinding> {
    let number = |column: usize| row.get::<_, i64>(column).map(|value| value as u64);
    Ok(KnownFinding {
        hash: row.get(0)?,
        signature: row.get(1)?,
        kind: row.get(2)?,
        solver: row.get(3)?,
        folder: folder(row)?,
        round: number(5)?,
        step: number(6)?,
        duplicates: number(7)?,
        flaky: row.get(8)?,
        group: row.get(9)?,
        face: row.get(10)?,
    })
}

/// The name of a finding's folder. Files are written there, so it must not lead anywhere else.
fn folder(row: &Row) -> rusqlite::Result<String> {
    let name: String = row.get(4)?;
    let mut parts = Path::new(&name).components();
    match (parts.next(), parts.next()) {
        (Some(Component::Normal(_)), None) => Ok(name),
        _ => {
            let why = format!("{name:?} is not the name of a finding's folder");
            Err(rusqlite::Error::FromSqlConversionFailure(4, Type::Text, why.into()))
        }
    }
}
