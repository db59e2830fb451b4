//! `osprey findings`: what a campaign has found.

use std::path::PathBuf;

use anyhow::{Context, Result, bail};
use campaign::{Finding, findings, store};
use clap::Args;
use serde::Serialize;

use crate::exit::Exit;
use crate::output;

/// List the findings of a campaign
#[derive(Args)]
#[command(after_help = "\
A pending finding is confirmed, but neither reduced nor told apart from the others yet: `osprey fuzz --resume` goes on
with it.

Exit code 0 if there is none, 10 if there are some.")]
pub struct Findings {
    /// The output folder of a campaign
    #[arg(value_name = "DIR", default_value = "osprey-out")]
    out: PathBuf,

    /// One JSON object per line
    #[arg(long)]
    json: bool,
}

#[derive(Serialize)]
struct Listed {
    folder: PathBuf,
    duplicates: u64,
    #[serde(flatten)]
    finding: Finding,
}

impl Findings {
    pub fn run(self) -> Result<Exit> {
        let bugs = self.out.join("bugs");
        if !bugs.is_dir() {
            bail!("'{}' is not the output folder of a campaign: it has no folder 'bugs'", self.out.display());
        }
        // Counts of duplicates are in the store; without it the folders still tell everything else.
        let known = store::read(&self.out).and_then(|mut store| store.findings()).unwrap_or_default();
        let folders =
            findings::finished(&bugs).with_context(|| format!("cannot read '{}'", bugs.display()))?;
        let mut listed = Vec::new();
        for folder in folders {
            match Finding::read(&folder) {
                Ok((finding, folder)) => {
                    let hash = finding.hash();
                    let duplicates =
                        known.iter().find(|known| known.hash == hash).map_or(0, |known| known.duplicates);
                    listed.push(Listed { folder, duplicates, finding });
                }
                Err(error) => output::say(&format!("osprey: skipped: {error}")),
            }
        }
        listed
            .sort_by(|a, b| (&a.finding.kind, &a.finding.solver).cmp(&(&b.finding.kind, &b.finding.solver)));
        let mut text = String::new();
        for item in &listed {
            if self.json {
                text += &(serde_json::to_string(item)? + "\n");
                continue;
            }
            let finding = &item.finding;
            let flaky = if finding.flaky { ", flaky" } else { "" };
            let pending =
                if finding.is_pending() { " (pending: neither reduced nor told apart yet)" } else { "" };
            text += &format!("{}{pending}: {}\n  {}\n", finding.kind, finding.summary, item.folder.display());
            text += &format!("  signature: {}\n", finding.signature);
            text += &format!(
                "  {} duplicates{flaky}, round {} of {}\n",
                item.duplicates, finding.provenance.round, finding.provenance.engine
            );
        }
        if listed.is_empty() && !self.json {
            text += "nothing found\n";
        }
        output::print(&text)?;
        Ok(if listed.is_empty() { Exit::Clean } else { Exit::Findings })
    }
}
