//! `osprey findings merge` and `split`: a person knows which findings are one bug.

use std::path::{Path, PathBuf};

use anyhow::{Result, bail};
use campaign::store::{self, CampaignStore};
use campaign::triage::regroup;
use campaign::{CampaignError, Finding, findings};
use clap::Args;

use crate::exit::Exit;
use crate::{copies, output};

/// Take findings for one bug, that of the first; later findings follow
#[derive(Args)]
pub struct Merge {
    /// Folders of findings of one campaign
    #[arg(value_name = "FINDING", num_args = 2.., required = true)]
    findings: Vec<PathBuf>,
}

/// Take findings for a bug of their own, apart from the one they were taken for
#[derive(Args)]
pub struct Split {
    /// Folders of findings of one campaign
    #[arg(value_name = "FINDING", required = true)]
    findings: Vec<PathBuf>,
}

impl Merge {
    pub fn run(self) -> Result<Exit> {
        let (mut store, hashes, bugs) = grouped(&self.findings)?;
        let moved = regroup::merge(&mut *store, &hashes)?;
        relabel(&mut *store, &bugs)?;
        let first = self.findings[0].display();
        output::print_line(&match moved {
            0 => format!("nothing has changed: all are taken for the bug of {first} already"),
            1 => format!("1 finding more is taken for the bug of {first} now"),
            more => format!("{more} findings more are taken for the bug of {first} now"),
        })?;
        Ok(Exit::Clean)
    }
}

impl Split {
    pub fn run(self) -> Result<Exit> {
        let (mut store, hashes, bugs) = grouped(&self.findings)?;
        regroup::split(&mut *store, &hashes)?;
        relabel(&mut *store, &bugs)?;
        let what = if hashes.len() == 1 { "is a bug of its own" } else { "are one bug of their own" };
        let names: Vec<String> = self.findings.iter().map(|path| path.display().to_string()).collect();
        output::print_line(&format!("{} {what} now", names.join(", ")))?;
        Ok(Exit::Clean)
    }
}

/// Has the folders say which bug they are taken for now, on a server too.
fn relabel(store: &mut dyn CampaignStore, bugs: &Path) -> Result<(), CampaignError> {
    let changed = regroup::relabel(store, bugs)?;
    store.archive().map_or(Ok(()), |archive| findings::give_back(archive, bugs, &changed))
}

/// The store of the findings' campaign, their hashes, and the folder they are in.
fn grouped(folders: &[PathBuf]) -> Result<(Box<dyn CampaignStore>, Vec<String>, PathBuf)> {
    let (out, hashes) = named(folders)?;
    Ok((store::open(&out).map_err(CampaignError::from)?, hashes, out.join("bugs")))
}

/// The output folder of the findings' campaign, of which a copy is fetched if it is on a server, and their hashes.
pub(super) fn named(folders: &[PathBuf]) -> Result<(PathBuf, Vec<String>)> {
    let mut hashes = Vec::new();
    let mut campaign: Option<PathBuf> = None;
    for path in folders {
        let (finding, folder) = Finding::read(path)?;
        if finding.is_pending() {
            let text = format!("'{}' is pending: it has not been told apart yet", path.display());
            return Err(CampaignError::Usage(text).into());
        }
        let Some(out) = folder.parent().and_then(Path::parent) else {
            bail!("'{}' is not in the output folder of a campaign", path.display());
        };
        if campaign.as_deref().is_some_and(|campaign| campaign != out) {
            return Err(CampaignError::Usage("these findings are of different campaigns".to_owned()).into());
        }
        campaign = Some(out.to_owned());
        hashes.push(finding.hash());
    }
    let Some(out) = campaign else { bail!("no finding is named") };
    copies::fetch(&out)?;
    Ok((out, hashes))
}
