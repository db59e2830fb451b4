//! `--log`: one JSON object a line, for programs that follow a campaign.

use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};

use serde::Serialize;

use crate::error::CampaignError;

/// The log of a campaign.
pub struct Journal {
    file: BufWriter<File>,
    path: PathBuf,
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
        let file = File::options()
            .create(true)
            .append(true)
            .open(path)
            .map_err(|error| CampaignError::disk(path, error))?;
        Ok(Journal { file: BufWriter::new(file), path: path.to_owned() })
    }

    pub fn write(&mut self, line: &Line) -> Result<(), CampaignError> {
        let failed = |error| CampaignError::disk(&self.path, error);
        serde_json::to_writer(&mut self.file, line).map_err(|error| failed(error.into()))?;
        self.file.write_all(b"\n").map_err(failed)
    }

    pub fn flush(&mut self) -> Result<(), CampaignError> {
        self.file.flush().map_err(|error| CampaignError::disk(&self.path, error))
    }
}
