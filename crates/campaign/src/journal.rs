//! `--log`: one JSON object a line, for programs that follow a campaign.

use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};

use serde::Serialize;

use crate::error::CampaignError;

/// Bytes after which a log is put aside and a new one begun; the one put aside before is gone then. A campaign may run
/// for weeks.
const LARGEST: u64 = 256 << 20;

/// The log of a campaign.
pub struct Journal {
    file: BufWriter<File>,
    path: PathBuf,
    /// Bytes written to the file so far.
    size: u64,
    largest: u64,
}

/// A line of the log.
#[derive(Serialize)]
#[serde(tag = "event", rename_all = "kebab-case")]
pub enum Line<'a> {
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
    },
    Duplicate {
        round: u64,
        step: usize,
        signature: &'a str,
    },
    Note {
        text: &'a str,
    },
    End {
        totals: &'a crate::totals::Totals,
    },
}

impl Journal {
    /// Adds to the file if there is one: a resumed campaign goes on with its log.
    pub fn open(path: &Path) -> Result<Journal, CampaignError> {
        let (file, size) = append(path).map_err(|error| CampaignError::disk(path, error))?;
        Ok(Journal { file, path: path.to_owned(), size, largest: LARGEST })
    }

    pub fn write(&mut self, line: &Line) -> Result<(), CampaignError> {
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

    pub fn flush(&mut self) -> Result<(), CampaignError> {
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
        let mut journal = Journal::open(&path).expect("a log");
        journal.largest = 1000;
        for _ in 0..100 {
            journal.write(&Line::Note { text: "something happened" }).expect("written");
        }
        journal.flush().expect("flushed");
        let (new, old) = (std::fs::read_to_string(&path), std::fs::read_to_string(aside(&path)));
        for text in [new.expect("the new log"), old.expect("the old log")] {
            assert!(text.len() <= 1000 && !text.is_empty());
            assert!(text.lines().all(|line| serde_json::from_str::<serde_json::Value>(line).is_ok()));
        }
    }
}
