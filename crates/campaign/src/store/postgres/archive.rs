//! Folders of findings in the tables.

use super::super::archive::{ArchivedFile, ArchivedFolder, FindingArchive, Work};
use super::super::{MEMBER_GONE, StoreError};
use super::findings::is_folder_name;
use super::{Change, Durability, Failure, PostgresStore, Queries, query};
use crate::hash;

/// The holder of a folder lives.
const HELD: &str =
    "EXISTS (SELECT 1 FROM members WHERE id = folders.holder AND seen > now() - $1 * interval '1 second')";

impl FindingArchive for PostgresStore {
    fn put(
        &mut self,
        name: &str,
        files: &[ArchivedFile],
        work: Work,
        instead_of: Option<&str>,
    ) -> Result<(), StoreError> {
        let holder = self.holder(work);
        self.write(Durability::Machine, |change| {
            if let Some(old) = instead_of.filter(|old| *old != name) {
                change.execute("DELETE FROM folders WHERE name = $1", &[&old])?;
            }
            let json = files.iter().find(|file| file.name == "finding.json");
            let version = hash::hash(json.map(|file| file.content.as_slice()).unwrap_or_default()) as i64;
            change.execute(
                "INSERT INTO folders VALUES ($1, $2, $3, $4) ON CONFLICT (name) DO UPDATE SET open = $2, \
                 holder = $3, version = $4",
                &[&name, &(work != Work::Done), &holder, &version],
            )?;
            // What others have added stays.
            change.execute(
                "DELETE FROM files WHERE folder = $1 AND NOT starts_with(name, 'duplicates/')",
                &[&name],
            )?;
            files.iter().try_for_each(|file| put_file(change, name, file))
        })
    }

    fn add(&mut self, name: &str, file: &ArchivedFile) -> Result<(), StoreError> {
        self.write(Durability::Process, |change| {
            match change.rows("SELECT 1 FROM folders WHERE name = $1", &[&name])?.is_empty() {
                true => Ok(()),
                false => put_file(change, name, file),
            }
        })
    }

    fn get(&mut self, name: &str) -> Result<Option<Vec<ArchivedFile>>, StoreError> {
        self.look(|on| files(on, name))
    }

    fn remove(&mut self, name: &str) -> Result<(), StoreError> {
        self.write(Durability::Machine, |change| {
            change.execute("DELETE FROM folders WHERE name = $1", &[&name])?;
            Ok(())
        })
    }

    fn list(&mut self) -> Result<Vec<ArchivedFolder>, StoreError> {
        self.look(|on| {
            let rows = on.rows(
                &format!("SELECT name, version, open, {HELD} FROM folders ORDER BY name COLLATE \"C\""),
                &[&(MEMBER_GONE as f64)],
            )?;
            let folders = rows.iter().map(|row| ArchivedFolder {
                name: row.get(0),
                hash: query::number(row, 1),
                open: row.get(2),
                held: row.get(3),
            });
            Ok(folders.filter(|folder| is_folder_name(&folder.name)).collect())
        })
    }

    fn take(&mut self) -> Result<Option<(String, Vec<ArchivedFile>)>, StoreError> {
        let waiting = format!("SELECT name FROM folders WHERE open AND NOT {HELD} ORDER BY name LIMIT 1");
        // Mostly there is none, and finding that out need not lock anybody out.
        let gone = MEMBER_GONE as f64;
        if self.look(|on| Ok(on.rows(&waiting, &[&gone])?.is_empty()))? {
            return Ok(None);
        }
        let Some(holder) = self.holder(Work::Held) else { return Ok(None) };
        self.write(Durability::Machine, |change| {
            let rows = change.rows(&waiting, &[&gone])?;
            let Some(name) = rows.first().map(|row| row.get::<_, String>(0)) else { return Ok(None) };
            change.execute("UPDATE folders SET holder = $2 WHERE name = $1", &[&name, &holder])?;
            Ok(files(change, &name)?.filter(|_| is_folder_name(&name)).map(|files| (name, files)))
        })
    }

    fn holds(&mut self, name: &str) -> Result<bool, StoreError> {
        let holder = self.holder(Work::Held);
        self.look(|on| {
            let rows = on.rows("SELECT 1 FROM folders WHERE name = $1 AND holder = $2", &[&name, &holder])?;
            Ok(!rows.is_empty())
        })
    }

    fn let_go(&mut self, name: &str, work: Work) -> Result<(), StoreError> {
        let (me, holder) = (self.holder(Work::Held), self.holder(work));
        self.write(Durability::Machine, |change| {
            change.execute(
                "UPDATE folders SET holder = $2, open = $3 WHERE name = $1 AND holder = $4",
                &[&name, &holder, &(work != Work::Done), &me],
            )?;
            Ok(())
        })
    }
}

impl PostgresStore {
    /// Who holds a folder that is put there.
    fn holder(&self, work: Work) -> Option<i64> {
        self.member.filter(|_| work == Work::Held).map(|member| member.0 as i64)
    }
}

fn put_file(change: &mut Change, folder: &str, file: &ArchivedFile) -> Result<(), Failure> {
    change.execute(
        "INSERT INTO files VALUES ($1, $2, $3, $4) ON CONFLICT (folder, name) DO UPDATE SET executable = $3, \
         content = $4",
        &[&folder, &file.name, &file.executable, &file.content],
    )?;
    Ok(())
}

fn files(on: &mut dyn Queries, folder: &str) -> Result<Option<Vec<ArchivedFile>>, Failure> {
    let rows = on.rows(
        "SELECT name, executable, content FROM files WHERE folder = $1 ORDER BY name COLLATE \"C\"",
        &[&folder],
    )?;
    let file =
        |row: &postgres::Row| ArchivedFile { name: row.get(0), executable: row.get(1), content: row.get(2) };
    let files: Vec<ArchivedFile> = rows.iter().map(file).filter(|file| is_file_name(&file.name)).collect();
    Ok((!files.is_empty()).then_some(files))
}

/// Files are written by these names, so they must not lead anywhere else.
fn is_file_name(name: &str) -> bool {
    is_folder_name(name.strip_prefix("duplicates/").unwrap_or(name))
}
