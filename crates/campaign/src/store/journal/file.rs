//! The file that keeps what a server has not confirmed: a line for each entry, numbered, written before it is sent.

use std::collections::{BTreeMap, VecDeque};
use std::fs::File;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::super::{Delta, StoreError};

/// A file larger than this is written anew without what is confirmed.
const LARGE: u64 = 4 << 20;

/// Entries that were never sent, beyond which they become one: a server may be away for days.
const MANY: usize = 64;

/// The first line.
#[derive(Serialize, Deserialize)]
struct Header {
    /// Whose entries these are: never the same for two journals.
    worker: String,
    /// Where they go.
    campaign: String,
    /// The number of the last entry before those that follow.
    last: u64,
}

/// What was counted, to be delivered once.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Entry {
    pub sequence: u64,
    pub delta: Delta,
    /// Duplicates by the hash of the finding.
    #[serde(default)]
    pub duplicates: BTreeMap<String, u64>,
}

/// The entries that the server may not have, in a file of this process's own.
pub struct Journal {
    path: PathBuf,
    file: File,
    size: u64,
    worker: String,
    campaign: String,
    last: u64,
    entries: VecDeque<Entry>,
    /// Up to this number entries may have been sent.
    sent: u64,
}

impl Journal {
    /// Goes on with the file if there is one, which nobody else may have open. Tells what of it cannot be read.
    pub fn open(path: &Path, campaign: &str) -> Result<(Journal, Option<String>), StoreError> {
        let failed = |error: io::Error| disk(path, error);
        let file = File::options().create(true).read(true).append(true).open(path).map_err(failed)?;
        match file.try_lock() {
            Ok(()) => {}
            Err(std::fs::TryLockError::WouldBlock) => return Err(StoreError::InUse(path.to_owned())),
            Err(std::fs::TryLockError::Error(error)) => return Err(failed(error)),
        }
        let bytes = std::fs::read(path).map_err(failed)?;
        let mut journal = Journal {
            path: path.to_owned(),
            file,
            size: bytes.len() as u64,
            worker: String::new(),
            campaign: campaign.to_owned(),
            last: 0,
            entries: VecDeque::new(),
            sent: 0,
        };
        let damage = journal.restore(&bytes)?;
        let damage = damage.map(|lost| journal.put_aside(&bytes, &lost)).transpose()?;
        if journal.worker.is_empty() {
            let id = std::fs::read_to_string("/proc/sys/kernel/random/uuid").map_err(failed)?;
            journal.worker = id.trim().to_owned();
        }
        // What a kill tore off is cut away.
        journal.rewrite()?;
        // Whoever wrote this may have sent it.
        journal.sent = journal.last;
        Ok((journal, damage))
    }

    /// Reads what the file has, and tells what of it a disk has damaged.
    fn restore(&mut self, bytes: &[u8]) -> Result<Option<String>, StoreError> {
        // What a kill tore off has no end of line; it was never sent.
        let whole = bytes.iter().rposition(|byte| *byte == b'\n').map_or(0, |end| end + 1);
        let mut lines = bytes[..whole].split(|byte| *byte == b'\n').filter(|line| !line.is_empty());
        let Some(first) = lines.next() else { return Ok(None) };
        // Without knowing whose entries these are nobody can tell which of them were delivered.
        let Ok(header) = serde_json::from_slice::<Header>(first) else {
            return Ok(Some("whose it is cannot be read".to_owned()));
        };
        if header.campaign != self.campaign {
            return Err(StoreError::OtherCampaign(self.path.parent().unwrap_or(&self.path).to_owned()));
        }
        (self.worker, self.last) = (header.worker, header.last);
        let mut damaged = 0;
        for line in lines {
            match serde_json::from_slice::<Entry>(line) {
                Ok(entry) if entry.sequence > self.last => {
                    self.last = entry.sequence;
                    self.entries.push_back(entry);
                }
                _ => damaged += 1,
            }
        }
        Ok((damaged > 0).then(|| format!("{damaged} of its entries cannot be read")))
    }

    /// Keeps a damaged file as it is, for whoever wants to look at it, and says so.
    fn put_aside(&self, bytes: &[u8], lost: &str) -> Result<String, StoreError> {
        let aside = self.path.with_extension("damaged");
        std::fs::write(&aside, bytes).map_err(|error| disk(&aside, error))?;
        Ok(format!(
            "the journal '{}' is damaged: {lost}; their counts are missing, findings are not, and '{}' is as it was",
            self.path.display(),
            aside.display()
        ))
    }

    pub fn worker(&self) -> &str {
        &self.worker
    }

    /// The number of the last entry.
    pub fn last(&self) -> u64 {
        self.last
    }

    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Adds an entry. It survives the end of the process when this returns; with an error, nothing of it is there.
    pub fn append(&mut self, delta: Delta, duplicates: &BTreeMap<String, u64>) -> Result<(), StoreError> {
        let sequence = self.last + 1;
        let entry = Entry { sequence, delta, duplicates: duplicates.clone() };
        let line = line(&entry)?;
        if let Err(error) = self.file.write_all(&line) {
            // A full disk takes the first part of a line: what came behind it could not be read any more.
            let cut = self.file.set_len(self.size);
            return Err(disk(&self.path, cut.err().unwrap_or(error)));
        }
        self.size += line.len() as u64;
        self.last = sequence;
        self.entries.push_back(entry);
        let unsent = self.entries.iter().filter(|entry| entry.sequence > self.sent).count();
        if unsent > MANY {
            self.unite();
            self.rewrite()?;
        }
        Ok(())
    }

    /// Makes one entry of all that were never sent.
    fn unite(&mut self) {
        let mut one = Entry::default();
        while self.entries.back().is_some_and(|entry| entry.sequence > self.sent) {
            let Some(entry) = self.entries.pop_back() else { break };
            let mut delta = entry.delta;
            delta.merge(std::mem::take(&mut one.delta));
            one.delta = delta;
            for (hash, count) in entry.duplicates {
                *one.duplicates.entry(hash).or_default() += count;
            }
        }
        one.delta.compact();
        one.sequence = self.last;
        self.entries.push_back(one);
    }

    /// Entries after this number. From now on they count as sent.
    pub fn send_after(&mut self, number: u64) -> Vec<&Entry> {
        self.sent = self.last;
        self.entries.iter().filter(|entry| entry.sequence > number).collect()
    }

    /// Entries after this number.
    pub fn after(&self, number: u64) -> impl Iterator<Item = &Entry> {
        self.entries.iter().filter(move |entry| entry.sequence > number)
    }

    /// Entries up to this number are safe where they were delivered.
    pub fn confirm(&mut self, number: u64) -> Result<(), StoreError> {
        while self.entries.front().is_some_and(|entry| entry.sequence <= number) {
            self.entries.pop_front();
        }
        match self.size > LARGE || self.entries.is_empty() && self.size > LARGE / 64 {
            true => self.rewrite(),
            false => Ok(()),
        }
    }

    /// Writes the file anew: the old one or the new one is there at any time.
    fn rewrite(&mut self) -> Result<(), StoreError> {
        let before = self.entries.front().map_or(self.last, |first| first.sequence.saturating_sub(1));
        let header = Header { worker: self.worker.clone(), campaign: self.campaign.clone(), last: before };
        let mut bytes = line(&header)?;
        for entry in &self.entries {
            bytes.extend(line(entry)?);
        }
        let part = self.path.with_extension("part");
        let written = (|| {
            std::fs::write(&part, &bytes)?;
            let file = File::options().read(true).append(true).open(&part)?;
            file.lock()?;
            file.sync_all()?;
            std::fs::rename(&part, &self.path)?;
            Ok(file)
        })();
        self.file = written.map_err(|error| disk(&self.path, error))?;
        self.size = bytes.len() as u64;
        Ok(())
    }
}

fn line(what: &impl Serialize) -> Result<Vec<u8>, StoreError> {
    let mut line = serde_json::to_vec(what).map_err(|error| StoreError::damaged("the journal", error))?;
    line.push(b'\n');
    Ok(line)
}

fn disk(path: &Path, error: io::Error) -> StoreError {
    StoreError::Backend { disk: true, source: format!("cannot write '{}': {error}", path.display()).into() }
}

#[cfg(test)]
mod tests {
    use super::super::super::contract::delta;
    use super::*;

    fn opened(path: &Path) -> Journal {
        Journal::open(path, "here").expect("opened").0
    }

    fn sequences(journal: &Journal) -> Vec<u64> {
        journal.after(0).map(|entry| entry.sequence).collect()
    }

    #[test]
    fn entries_survive_the_end_of_the_process_and_a_torn_one_is_cut_away() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("journal");
        let mut first = opened(&path);
        let worker = first.worker().to_owned();
        for count in 1..=3 {
            first.append(delta(count), &BTreeMap::from([("abc".to_owned(), count)])).expect("kept");
        }
        assert!(matches!(Journal::open(&path, "here"), Err(StoreError::InUse(_))));
        drop(first);
        let mut torn = File::options().append(true).open(&path).expect("opened");
        torn.write_all(b"{\"sequence\":4,\"del").expect("written");
        drop(torn);
        let mut again = opened(&path);
        assert_eq!((again.worker(), again.last(), sequences(&again)), (worker.as_str(), 3, vec![1, 2, 3]));
        assert_eq!(again.after(2).next().map(|entry| entry.delta.clone()), Some(delta(3)));
        again.confirm(2).expect("confirmed");
        again.append(delta(4), &BTreeMap::new()).expect("kept");
        assert_eq!(sequences(&again), [3, 4]);
        drop(again);
        let error = Journal::open(&path, "elsewhere").err().expect("refused");
        assert!(error.to_string().contains("--out"), "{error}");
    }

    #[test]
    fn entries_beside_a_damaged_one_are_kept_and_the_file_is_put_aside() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("journal");
        let mut first = opened(&path);
        let worker = first.worker().to_owned();
        for count in 1..=3 {
            first.append(delta(count), &BTreeMap::new()).expect("kept");
        }
        drop(first);
        let damaged = std::fs::read_to_string(&path).expect("text").replace("\"sequence\":2", "\0\0\0");
        std::fs::write(&path, &damaged).expect("written");
        let (again, said) = Journal::open(&path, "here").expect("opened");
        assert_eq!((again.worker(), again.last(), sequences(&again)), (worker.as_str(), 3, vec![1, 3]));
        let said = said.expect("told");
        assert!(said.contains("1 of its entries") && said.contains("journal.damaged"), "{said}");
        assert_eq!(std::fs::read_to_string(path.with_extension("damaged")).expect("put aside"), damaged);
        drop(again);
        // Whose entries they are is not known any more: they may have been delivered.
        std::fs::write(&path, damaged.replacen("worker", "w", 1)).expect("written");
        let (new, said) = Journal::open(&path, "here").expect("opened");
        assert!(new.worker() != worker && sequences(&new).is_empty() && said.is_some());
    }

    /// Where a child process finds the journal.
    const PATH: &str = "OSPREY_TEST_JOURNAL";

    /// Does nothing unless another test has started it.
    #[test]
    fn in_a_child_process_with_little_room() {
        let Some(path) = std::env::var_os(PATH) else { return };
        let mut journal = opened(Path::new(&path));
        journal.append(delta(1), &BTreeMap::new()).expect("kept");
        let room = libc::rlimit { rlim_cur: journal.size + 20, rlim_max: libc::RLIM_INFINITY };
        // SAFETY: both calls only change how this process is dealt with that outgrows a file.
        unsafe {
            libc::signal(libc::SIGXFSZ, libc::SIG_IGN);
            assert_eq!(libc::setrlimit(libc::RLIMIT_FSIZE, &room), 0);
        }
        let full = journal.append(delta(2), &BTreeMap::new()).expect_err("no room");
        assert!(full.is_disk(), "{full:?}");
        let all = libc::rlimit { rlim_cur: libc::RLIM_INFINITY, rlim_max: libc::RLIM_INFINITY };
        // SAFETY: as above.
        assert_eq!(unsafe { libc::setrlimit(libc::RLIMIT_FSIZE, &all) }, 0);
        journal.append(delta(3), &BTreeMap::new()).expect("kept");
    }

    #[test]
    fn a_disk_that_had_no_room_for_an_entry_leaves_no_part_of_it() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("journal");
        let child = std::process::Command::new(std::env::current_exe().expect("this program"))
            .args(["--exact", "store::journal::file::tests::in_a_child_process_with_little_room"])
            .env(PATH, &path)
            .output()
            .expect("started");
        assert!(child.status.success(), "{}", String::from_utf8_lossy(&child.stdout));
        let (journal, damage) = Journal::open(&path, "here").expect("opened");
        assert_eq!(damage, None);
        let tests: Vec<u64> = journal.after(0).map(|entry| entry.delta.totals.tests).collect();
        assert_eq!((tests, sequences(&journal)), (vec![1, 3], vec![1, 2]));
    }

    #[test]
    fn numbers_go_on_where_everything_was_confirmed() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("journal");
        let mut journal = opened(&path);
        journal.append(delta(1), &BTreeMap::new()).expect("kept");
        journal.confirm(1).expect("confirmed");
        journal.rewrite().expect("written");
        drop(journal);
        let mut again = opened(&path);
        again.append(delta(1), &BTreeMap::new()).expect("kept");
        assert_eq!(sequences(&again), [2]);
    }

    #[test]
    fn a_long_absence_does_not_fill_the_disk_and_what_may_have_been_sent_stays_as_it_was() {
        let folder = tempfile::tempdir().expect("a folder");
        let mut journal = opened(&folder.path().join("journal"));
        journal.append(delta(5), &BTreeMap::new()).expect("kept");
        assert_eq!(journal.send_after(0).len(), 1);
        for _ in 0..200 {
            journal.append(delta(1), &BTreeMap::from([("abc".to_owned(), 1)])).expect("kept");
        }
        let entries: Vec<&Entry> = journal.after(0).collect();
        assert!(entries.len() <= MANY + 2, "{}", entries.len());
        assert_eq!((entries[0].sequence, &entries[0].delta), (1, &delta(5)));
        let tests: u64 = entries.iter().map(|entry| entry.delta.totals.tests).sum();
        let duplicates: u64 = entries.iter().filter_map(|entry| entry.duplicates.get("abc")).sum();
        assert_eq!((tests, duplicates, journal.last()), (205, 200, 201));
        let rows = |entry: &&Entry| entry.delta.samples.len() + entry.delta.seeds.len();
        let longest = entries.iter().map(rows).max();
        assert_eq!(
            longest,
            Some(delta(1).samples.len() + delta(1).seeds.len()),
            "what is united is added up"
        );
    }
}
