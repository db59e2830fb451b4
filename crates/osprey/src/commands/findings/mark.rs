//! `osprey findings mark`: what a person has decided about a bug, kept with the finding.

use std::path::PathBuf;

use anyhow::{Result, bail};
use campaign::findings::{self, Mark, MarkState};
use campaign::{Finding, store};
use clap::Args;

use super::regroup::named;
use crate::exit::Exit;
use crate::{copies, output};

/// Say what became of a bug: reported, known, fixed or not a bug
#[derive(Args)]
#[command(after_help = "\
Examples:
  osprey findings mark night/bugs/A --as reported --link https://github.com/Z3Prover/z3/issues/1234
  osprey findings mark night/bugs/B night/bugs/C --as not-a-bug --note 'division by zero is free'
  osprey findings mark night/bugs/A --clear

The mark is kept with the finding and counts for the bug it is taken for. `osprey fuzz --known night` takes all bugs of a
campaign for known ones, except for those that are marked as fixed: meeting one of them again is news.")]
pub struct MarkCommand {
    /// Folders of findings of one campaign
    #[arg(value_name = "FINDING", required = true)]
    findings: Vec<PathBuf>,

    /// What it is: reported, known, fixed or not-a-bug
    #[arg(long = "as", value_name = "STATE", required_unless_present = "clear")]
    state: Option<MarkState>,

    /// Why, in one sentence
    #[arg(long, value_name = "TEXT", default_value = "", requires = "state")]
    note: String,

    /// Where it is reported or explained
    #[arg(long, value_name = "URL", default_value = "", requires = "state")]
    link: String,

    /// Take the mark away
    #[arg(long, conflicts_with = "state")]
    clear: bool,
}

impl MarkCommand {
    pub fn run(self) -> Result<Exit> {
        let (out, _) = named(&self.findings)?;
        let mut archived = copies::archived(&out)?;
        let mark = self.state.map(|state| Mark {
            state,
            note: self.note.clone(),
            link: self.link.clone(),
            at: store::now(),
        });
        let mut changed = Vec::new();
        for path in &self.findings {
            let (mut finding, folder) = Finding::read(path)?;
            let name = finding.folder_name();
            let held = match archived.as_mut().and_then(|store| store.archive()) {
                Some(archive) => archive.list()?.iter().any(|one| one.name == name && one.held),
                None => false,
            };
            if held {
                bail!("'{}' is being made small by the campaign: mark it when that is done", path.display());
            }
            finding.handling.mark.clone_from(&mark);
            finding.write_handling(&folder)?;
            changed.push(name);
        }
        if let Some(archive) = archived.as_mut().and_then(|store| store.archive()) {
            findings::give_back(archive, &out.join("bugs"), &changed)?;
        }
        let names: Vec<String> = self.findings.iter().map(|path| path.display().to_string()).collect();
        let what = match self.state {
            Some(state) => format!("marked as {state}"),
            None => "not marked any more".to_owned(),
        };
        output::print_line(&format!("{}: {what}", names.join(", ")))?;
        Ok(Exit::Clean)
    }
}
