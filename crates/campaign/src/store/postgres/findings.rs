//! Claims of signatures, and the findings behind them.

use std::collections::BTreeMap;
use std::path::{Component, Path};

use postgres::Row;

use super::super::{Claim, KnownFinding, StoreError};
use super::{Change, Failure, LastNews, Queries};

/// What everybody reads of a finding: `data` is all of it when it was claimed, the others may have changed since.
const COLUMNS: &str = "data, duplicates, bug";

const ORDER: &str = "ORDER BY round, step, hash COLLATE \"C\"";

pub fn all(on: &mut dyn Queries) -> Result<Vec<KnownFinding>, Failure> {
    let rows = on.rows(&format!("SELECT {COLUMNS} FROM findings {ORDER}"), &[])?;
    Ok(rows.iter().map(finding).collect::<Result<_, _>>()?)
}

pub fn find(on: &mut dyn Queries, hash: &str) -> Result<Option<KnownFinding>, Failure> {
    let rows = on.rows(&format!("SELECT {COLUMNS} FROM findings WHERE hash = $1"), &[&hash])?;
    Ok(rows.first().map(finding).transpose()?)
}

/// Those that others than this writer have added or changed.
pub fn news(on: &mut dyn Queries, writer: u64, last_news: LastNews) -> Result<Vec<KnownFinding>, Failure> {
    let rows = on.rows(
        &format!(
            "SELECT {COLUMNS} FROM findings WHERE changed > $1 AND (writer <> $2 OR other > $1) {ORDER}"
        ),
        &[&(last_news.change as i64), &(writer as i64)],
    )?;
    Ok(rows.iter().map(finding).collect::<Result<_, _>>()?)
}

impl Change<'_> {
    pub fn claim(&mut self, finding: &KnownFinding, compared: u64) -> Result<Claim, Failure> {
        if let Some(known) = find(self, &finding.hash)? {
            return Ok(Claim::Known(known));
        }
        let there = all(self)?;
        if there.len() as u64 != compared {
            return Ok(Claim::Behind(there));
        }
        let data = serde_json::to_string(finding).map_err(|error| StoreError::damaged("a finding", error))?;
        let (number, writer) = self.signed();
        self.execute(
            "INSERT INTO findings VALUES ($1, $2, $3, $4, $5, $6, $7, $8, 0)",
            &[
                &finding.hash,
                &(finding.round as i64),
                &(finding.step as i64),
                &(finding.duplicates as i64),
                &finding.group,
                &data,
                &number,
                &writer,
            ],
        )?;
        Ok(Claim::New)
    }

    pub fn regroup(&mut self, hash: &str, from: &str, to: &str) -> Result<bool, Failure> {
        let (number, writer) = self.signed();
        let moved = self.execute(
            &format!("UPDATE findings SET bug = $4, {TOUCH} WHERE hash = $1 AND bug = $5"),
            &[&hash, &number, &writer, &to, &from],
        )?;
        Ok(moved > 0)
    }

    pub fn show(&mut self, hash: &str, face: &str) -> Result<(), Failure> {
        let Some(mut finding) = find(self, hash)? else { return Ok(()) };
        face.clone_into(&mut finding.face);
        let data =
            serde_json::to_string(&finding).map_err(|error| StoreError::damaged("a finding", error))?;
        let (number, writer) = self.signed();
        self.execute(
            &format!("UPDATE findings SET data = $4, {TOUCH} WHERE hash = $1"),
            &[&hash, &number, &writer, &data],
        )?;
        Ok(())
    }

    pub fn release(&mut self, hash: &str) -> Result<(), Failure> {
        self.execute("DELETE FROM findings WHERE hash = $1", &[&hash])?;
        Ok(())
    }

    /// Counts duplicates, some of each finding.
    pub fn add_duplicates(&mut self, counts: &BTreeMap<String, u64>) -> Result<(), Failure> {
        let (number, writer) = self.signed();
        for (hash, count) in counts {
            self.execute(
                &format!("UPDATE findings SET duplicates = duplicates + $4, {TOUCH} WHERE hash = $1"),
                &[hash, &number, &writer, &(*count as i64)],
            )?;
        }
        Ok(())
    }
}

const TOUCH: &str = "other = CASE WHEN writer = $3 THEN other ELSE changed END, changed = $2, writer = $3";

fn finding(row: &Row) -> Result<KnownFinding, StoreError> {
    let damaged = |error: String| StoreError::damaged("a finding", error);
    let mut finding: KnownFinding =
        serde_json::from_str(row.get(0)).map_err(|error| damaged(error.to_string()))?;
    finding.duplicates = row.get::<_, i64>(1) as u64;
    finding.group = row.get(2);
    // Files are written there, so it must not lead anywhere else.
    if !is_folder_name(&finding.folder) {
        return Err(damaged(format!("{:?} is not the name of a finding's folder", finding.folder)));
    }
    Ok(finding)
}

/// A name without a way to anywhere else.
pub fn is_folder_name(name: &str) -> bool {
    let mut parts = Path::new(name).components();
    matches!((parts.next(), parts.next()), (Some(Component::Normal(_)), None))
}
