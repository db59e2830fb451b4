//! `--log`: one JSON object per line, for programs that follow a campaign.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use serde::Serialize;

use crate::error::CampaignError;
use crate::store::{Delta, Learned, Sample, SeedDelta, Totals};

/// Bytes after which a log is put aside and a new one begun; the one put aside before is gone then. A campaign may run
/// for weeks.
const LARGEST: u64 = 256 << 20;

/// The log of a process; nothing is written without a file. Its lock is its own: who writes a line waits for nobody but
/// others who do.
pub struct Log {
    file: Option<Mutex<LogFile>>,
}

impl Log {
    /// Adds to the file if there is one: a resumed campaign goes on with its log.
    pub fn open(path: Option<&Path>) -> Result<Log, CampaignError> {
        Ok(Log { file: path.map(LogFile::open).transpose()?.map(Mutex::new) })
    }

    pub fn is_on(&self) -> bool {
        self.file.is_some()
    }

    pub fn write(&self, line: &LogLine) -> Result<(), CampaignError> {
        match &self.file {
            Some(file) => file.lock().unwrap_or_else(PoisonError::into_inner).write(line),
            None => Ok(()),
        }
    }

    pub fn note(&self, text: &str) -> Result<(), CampaignError> {
        self.write(&LogLine::Note { text })
    }

    pub fn flush(&self) -> Result<(), CampaignError> {
        match &self.file {
            Some(file) => file.lock().unwrap_or_else(PoisonError::into_inner).flush(),
            None => Ok(()),
        }
    }
}

struct LogFile {
    file: BufWriter<File>,
    path: PathBuf,
    /// Bytes written to the file so far.
    size: u64,
    largest: u64,
}

/// A line of the log.
#[derive(Serialize)]
#[serde(tag = "event", rename_all = "kebab-case")]
pub enum LogLine<'a> {
    Start {
        rng_seed: u64,
        solvers: &'a [String],
        engines: &'a [String],
        seeds: usize,
    },
    Round {
        round: u64,
        engine: &'a str,
        logic: &'a str,
        seeds: Vec<&'a str>,
        /// Operators that are left out because a known bug is blamed on them.
        #[serde(skip_serializing_if = "<[_]>::is_empty")]
        without: &'a [String],
    },
    Test {
        round: u64,
        step: usize,
        engine: &'a str,
        script: &'a str,
        answers: Vec<&'static str>,
        novel: bool,
    },
    Finding {
        round: u64,
        step: usize,
        kind: &'a str,
        solver: &'a str,
        signature: &'a str,
        folder: &'a str,
        /// The bug it is another face of.
        #[serde(skip_serializing_if = "Option::is_none")]
        group: Option<&'a str>,
    },
    Duplicate {
        round: u64,
        step: usize,
        signature: &'a str,
    },
    Note {
        text: &'a str,
    },
    /// What this process has counted since the line of this kind before, in the entry of its journal with this number.
    Counted(Counted<'a>),
    End {
        /// Of the whole campaign.
        totals: &'a Totals,
    },
}

/// All of a delta that adds up, without the texts.
#[derive(Serialize)]
pub struct Counted<'a> {
    sequence: u64,
    totals: &'a Totals,
    learned: &'a Learned,
    seeds: &'a [SeedDelta],
    /// Hashes of seeds that were put into use.
    new_seeds: Vec<&'a str>,
    features: &'a [u64],
    /// Code that was reached: sites by the code they are of.
    sites: &'a BTreeMap<u64, Vec<u32>>,
    samples: &'a [Sample],
}

impl<'a> Counted<'a> {
    pub fn of(sequence: u64, delta: &'a Delta) -> Counted<'a> {
        Counted {
            sequence,
            totals: &delta.totals,
            learned: &delta.learned,
            seeds: &delta.seeds,
            new_seeds: delta.new_seeds.iter().map(|new| new.seed.hash.as_str()).collect(),
            features: &delta.features,
            sites: &delta.sites,
            samples: &delta.samples,
        }
    }
}

impl LogFile {
    fn open(path: &Path) -> Result<LogFile, CampaignError> {
        let (file, size) = append(path).map_err(|error| CampaignError::disk(path, error))?;
        Ok(LogFile { file, path: path.to_owned(), size, largest: LARGEST })
    }

    fn write(&mut self, line: &LogLine) -> Result<(), CampaignError> {
        let mut text =
            serde_json::to_vec(line).map_err(|error| CampaignError::Internal(error.to_string()))?;
        text.push(b'\n');
        let failed = |error| CampaignError::disk(&self.path, error);
        if self.size > 0 && self.size + text.len() as u64 > self.largest {
            self.file.flush().map_err(failed)?;
            std::fs::rename(&self.path, aside(&self.path)).map_err(failed)?;
            (self.file, self.size) = append(&self.path).map_err(failed)?;
        }
        self.size += text.len() as u64;
        self.file.write_all(&text).map_err(failed)
    }

    fn flush(&mut self) -> Result<(), CampaignError> {
        self.file.flush().map_err(|error| CampaignError::disk(&self.path, error))
    }
}

fn append(path: &Path) -> std::io::Result<(BufWriter<File>, u64)> {
    let file = File::options().create(true).append(true).open(path)?;
    let size = file.metadata()?.len();
    Ok((BufWriter::new(file), size))
}

/// Where a full log is put.
fn aside(path: &Path) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(".1");
    name.into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_full_log_is_put_aside_and_no_line_is_torn() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("log");
        let mut log = LogFile::open(&path).expect("a log");
        log.largest = 1000;
        for _ in 0..100 {
            log.write(&LogLine::Note { text: "something happened" }).expect("written");
        }
        log.flush().expect("flushed");
        let (new, old) = (std::fs::read_to_string(&path), std::fs::read_to_string(aside(&path)));
        for text in [new.expect("the new log"), old.expect("the old log")] {
            assert!(text.len() <= 1000 && !text.is_empty());
            assert!(text.lines().all(|line| serde_json::from_str::<serde_json::Value>(line).is_ok()));
        }
    }
}
