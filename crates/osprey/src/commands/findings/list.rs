//! `osprey findings list`: every finding, or one entry per bug.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::PathBuf;

use anyhow::{Context, Result, bail};
use campaign::findings::Group;
use campaign::{Finding, KnownFinding, findings, store};
use clap::Args;
use serde::Serialize;

use crate::exit::Exit;
use crate::{copies, output};

/// List the findings of a campaign
#[derive(Args)]
pub struct List {
    /// The output folder of a campaign, or the address of one on a server, of which a copy is fetched
    #[arg(value_name = "DIR|URL", default_value = "osprey-out")]
    out: PathBuf,

    /// One entry per bug: its clearest example, and what else was taken for the same bug
    #[arg(long)]
    group: bool,

    /// One JSON object per line
    #[arg(long)]
    json: bool,
}

#[derive(Serialize)]
struct Listed {
    folder: PathBuf,
    duplicates: u64,
    /// The bug it is taken for: the hash of the first finding that showed it.
    bug: String,
    #[serde(flatten)]
    finding: Finding,
}

/// A bug.
#[derive(Serialize)]
struct Bug<'a> {
    bug: &'a str,
    /// The gravest kind it was seen as.
    kind: String,
    /// Test cases that showed it.
    shown: u64,
    example: &'a Listed,
    /// Folders of its other faces.
    faces: Vec<&'a Listed>,
}

impl List {
    pub fn run(mut self) -> Result<Exit> {
        self.out = copies::folder(&self.out)?;
        let bugs = self.out.join("bugs");
        if !bugs.is_dir() {
            bail!("'{}' is not the output folder of a campaign: it has no folder 'bugs'", self.out.display());
        }
        // Counts and groups are in the store; without it the folders still tell everything else.
        let known = store::read(&self.out).and_then(|mut store| store.findings()).unwrap_or_else(|error| {
            output::say(&format!(
                "osprey: {error}; counts of duplicates are missing, and bugs are told apart by what findings say"
            ));
            Vec::new()
        });
        let listed = self.listed(&known)?;
        let text = if self.group { self.by_bug(&known, &listed)? } else { self.one_by_one(&listed)? };
        output::print(&text)?;
        Ok(if listed.is_empty() { Exit::Clean } else { Exit::Findings })
    }

    fn listed(&self, known: &[KnownFinding]) -> Result<Vec<Listed>> {
        let bugs = self.out.join("bugs");
        let folders =
            findings::finished(&bugs).with_context(|| format!("cannot read '{}'", bugs.display()))?;
        let mut listed = Vec::new();
        let mut unreadable = 0;
        for folder in folders {
            match Finding::read(&folder) {
                Ok((finding, folder)) => {
                    let hash = finding.hash();
                    let row = known.iter().find(|known| known.hash == hash);
                    let bug = match (row, &finding.group) {
                        (Some(row), _) => row.group.clone(),
                        (None, Some(group)) => group.id.clone(),
                        (None, None) => hash,
                    };
                    let duplicates = row.map_or(0, |row| row.duplicates);
                    listed.push(Listed { folder, duplicates, bug, finding });
                }
                Err(error) => {
                    unreadable += 1;
                    output::say(&format!("osprey: skipped: {error}"));
                }
            }
        }
        if listed.is_empty() && unreadable > 0 {
            bail!("no finding in '{}' can be read", bugs.display());
        }
        listed
            .sort_by(|a, b| (&a.finding.kind, &a.finding.solver).cmp(&(&b.finding.kind, &b.finding.solver)));
        Ok(listed)
    }

    fn one_by_one(&self, listed: &[Listed]) -> Result<String> {
        let mut text = String::new();
        for item in listed {
            if self.json {
                text += &(serde_json::to_string(item)? + "\n");
            } else {
                text += &shown(item);
            }
        }
        if listed.is_empty() && !self.json {
            text += "nothing found\n";
        }
        Ok(text)
    }

    fn by_bug(&self, known: &[KnownFinding], listed: &[Listed]) -> Result<String> {
        let by_hash: BTreeMap<String, &Listed> =
            listed.iter().map(|item| (item.finding.hash(), item)).collect();
        let groups = Group::all(known);
        let mut bugs: Vec<Bug> = Vec::new();
        for group in &groups {
            let members: Vec<&Listed> =
                group.members.iter().filter_map(|member| by_hash.get(&member.hash).copied()).collect();
            let Some((example, faces)) = members.split_first() else { continue };
            let kind = members.iter().map(|member| member.finding.kind).min().unwrap_or(example.finding.kind);
            bugs.push(Bug {
                bug: &group.id,
                kind: kind.to_string(),
                shown: group.shown(),
                example,
                faces: faces.to_vec(),
            });
        }
        // What the store does not know is the bug that its folder says.
        for item in listed.iter().filter(|item| !known.iter().any(|known| known.hash == item.finding.hash()))
        {
            if let Some(bug) = bugs.iter_mut().find(|bug| *bug.bug == item.bug) {
                bug.faces.push(item);
                bug.shown += 1;
                continue;
            }
            let kind = item.finding.kind.to_string();
            bugs.push(Bug { bug: &item.bug, kind, shown: 1, example: item, faces: Vec::new() });
        }
        bugs.sort_by_key(|bug| bug.example.finding.kind);
        let mut text = String::new();
        for bug in &bugs {
            if self.json {
                text += &(serde_json::to_string(bug)? + "\n");
                continue;
            }
            text += &shown(bug.example);
            // Writing to a string cannot fail.
            let cases =
                if bug.shown == 1 { "1 test case".to_owned() } else { format!("{} test cases", bug.shown) };
            let _ = writeln!(text, "  bug {}, shown by {cases}", bug.bug);
            for face in &bug.faces {
                let _ = writeln!(text, "  another face: {}", face.folder.display());
                if let Some(group) = &face.finding.group {
                    let _ = writeln!(text, "    {}", group.why);
                }
            }
        }
        if bugs.is_empty() && !self.json {
            text += "nothing found\n";
        }
        Ok(text)
    }
}

fn shown(item: &Listed) -> String {
    let finding = &item.finding;
    let flaky = if finding.flaky { ", flaky" } else { "" };
    let pending = if finding.is_pending() { " (pending: neither reduced nor told apart yet)" } else { "" };
    let mut text = format!("{}{pending}: {}\n  {}\n", finding.kind, finding.summary, item.folder.display());
    text += &format!("  signature: {}\n", finding.signature);
    text += &format!(
        "  {} duplicates{flaky}, round {} of {}\n",
        item.duplicates, finding.provenance.round, finding.provenance.engine
    );
    text
}
