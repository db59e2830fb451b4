//! A finding: what is wrong, who is to blame, how to see it again.

use std::path::{Path, PathBuf};

use reduce::Size;
use serde::{Deserialize, Serialize};
use solver::Answers;

use crate::error::CampaignError;
use crate::folder::{self, Content};
use crate::hash;
use crate::plan::Origin;
use crate::report::{self, Shown};

/// Everything `finding.json` says.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Finding {
    /// The version of osprey that found it.
    pub osprey: String,
    /// Seconds since 1970.
    pub found: u64,
    /// `refutation-soundness`, `invalid-model`, `crash`, ...
    pub kind: String,
    /// The solver to blame, as specs name it: `z3@4.8.7`.
    pub solver: String,
    /// The name its authors write.
    pub title: String,
    /// One sentence.
    pub summary: String,
    /// Equal for findings taken for the same bug.
    pub signature: String,
    /// It did not repeat in every plain run.
    pub flaky: bool,
    /// Not reduced yet, and so not told apart from other findings.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub pending: bool,
    pub expectation: Expected,
    /// All runs, that of the solver to blame first.
    pub runs: Vec<RunRecord>,
    /// Names of the operators in the script, the Boolean ones left out.
    pub operators: Vec<String>,
    /// How far it was reduced: then the runs are those on `reduced.smt2`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reduced: Option<Shrunk>,
    /// Which installed releases have it, where that was asked for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub releases: Option<Releases>,
    pub provenance: Origin,
}

/// What the answer should be and why.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Expected {
    /// `sat`, `unsat`, or nothing if solvers must only agree.
    pub answer: Option<String>,
    /// The grounds, where the answer follows from how the script was made.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub derived: Option<String>,
    pub why: Vec<String>,
}

/// One run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RunRecord {
    pub solver: String,
    /// Options the user wrote after it.
    #[serde(default)]
    pub user_options: Vec<String>,
    pub version: String,
    /// As its developers would type it, for `input.smt2` (or that script in its dialect).
    pub command: String,
    /// Options beside the user's own, set by the policy.
    pub options: Vec<String>,
    /// Models were asked for.
    pub models: bool,
    /// Everything the solver has was switched on.
    #[serde(default)]
    pub broad: bool,
    pub class: String,
    /// The answers in order.
    pub answers: Vec<String>,
    /// The beginning of its output.
    pub stdout: String,
    pub stderr: String,
    pub cpu_ms: u64,
}

/// What a reduction came to.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Shrunk {
    pub before: Size,
    pub after: Size,
    pub candidates: u64,
    pub seconds: f64,
    /// Nothing smaller was left to try.
    pub finished: bool,
}

/// The texts of a reduced finding.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Small {
    pub script: String,
    /// A model that satisfies it.
    pub witness: Option<String>,
    /// The script with the witness put in.
    pub ground: Option<String>,
}

/// How releases of the blamed solver behave, oldest first.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Releases {
    pub affected: Vec<String>,
    pub clean: Vec<String>,
    /// The newest clean release before the oldest affected one.
    pub last_good: Option<String>,
    /// The oldest clean release after the newest affected one.
    pub first_fixed: Option<String>,
}

/// Output kept in `finding.json` and the report.
const EXCERPT: usize = 4096;

impl RunRecord {
    /// The beginning of an output as text.
    pub fn excerpt(output: &[u8]) -> String {
        let mut text = String::from_utf8_lossy(&output[..output.len().min(EXCERPT)]).into_owned();
        if output.len() > EXCERPT {
            text.push_str("\n[...]\n");
        }
        text
    }

    pub fn words(answers: &Answers) -> Vec<String> {
        answers.checks.iter().map(|check| check.answer.word().to_owned()).collect()
    }
}

impl Finding {
    /// `refutation-soundness-z3-4.8.7-0123456789ab`.
    pub fn folder_name(&self) -> String {
        let solver: String = self
            .solver
            .rsplit('/')
            .next()
            .unwrap_or_default()
            .chars()
            .map(|c| if c.is_ascii_alphanumeric() || c == '.' { c } else { '-' })
            .collect();
        format!("{}-{}-{}", self.kind, solver, self.hash())
    }

    /// Twelve digits of the signature's hash.
    pub fn hash(&self) -> String {
        hash::name(self.signature.as_bytes())[..12].to_owned()
    }

    /// Reads a finding from its folder, or from its `finding.json`.
    pub fn read(path: &Path) -> Result<(Finding, PathBuf), CampaignError> {
        let path = &std::fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
        let folder = if path.is_dir() { path } else { path.parent().unwrap_or(path) };
        let file = folder.join("finding.json");
        let refused = |reason: String| CampaignError::NotAFinding { path: path.to_owned(), reason };
        let text = std::fs::read_to_string(&file)
            .map_err(|error| refused(format!("{}: {error}", file.display())))?;
        let finding =
            serde_json::from_str(&text).map_err(|error| refused(format!("{}: {error}", file.display())))?;
        Ok((finding, folder.to_owned()))
    }

    /// The file that shows the bug best.
    pub fn script_name(&self) -> &'static str {
        if self.reduced.is_some() { "reduced.smt2" } else { "input.smt2" }
    }

    /// The model of that file, where there is one.
    pub fn witness_name(&self) -> &'static str {
        if self.reduced.is_some() { "reduced-witness.smt2" } else { "witness.smt2" }
    }

    /// Adds the reduced script to a finding's folder and says everything anew. Each file is the old one or the new one
    /// at any time; `finding.json` comes last, so that what it mentions is there.
    pub fn write_reduced(&self, folder: &Path, small: &Small) -> Result<(), CampaignError> {
        let json =
            serde_json::to_string_pretty(self).map_err(|error| CampaignError::Internal(error.to_string()))?;
        let shown = Shown {
            script: &small.script,
            witness: small.witness.as_deref(),
            ground: small.ground.as_deref(),
        };
        let report = report::markdown(self, &shown);
        let repro = report::repro(self);
        let mut contents = vec![Content::new("reduced.smt2", &small.script)];
        contents.extend(small.witness.as_deref().map(|text| Content::new("reduced-witness.smt2", text)));
        contents.extend(small.ground.as_deref().map(|text| Content::new("ground.smt2", text)));
        contents.push(Content::new("report.md", &report));
        contents.push(Content { executable: true, ..Content::new("repro.sh", &repro) });
        contents.push(Content::new("finding.json", &json));
        folder::replace(folder, &contents)
    }
}

/// A finding with its files. It is made from a finding and its input, so it cannot lack its repro.
pub struct Dossier {
    finding: Finding,
    input: String,
    witness: Option<String>,
}

impl Dossier {
    /// The input is the text that the blamed solver read.
    pub fn new(finding: Finding, input: String, witness: Option<String>) -> Dossier {
        Dossier { finding, input, witness }
    }

    pub fn finding(&self) -> &Finding {
        &self.finding
    }

    /// Writes the folder below `bugs`; on disk when this returns.
    pub fn write(&self, bugs: &Path) -> Result<PathBuf, CampaignError> {
        let json = serde_json::to_string_pretty(&self.finding)
            .map_err(|error| CampaignError::Internal(error.to_string()))?;
        let shown = Shown { script: &self.input, witness: self.witness.as_deref(), ground: None };
        let report = report::markdown(&self.finding, &shown);
        let repro = report::repro(&self.finding);
        let mut contents = vec![
            Content::new("input.smt2", &self.input),
            Content::new("report.md", &report),
            Content { executable: true, ..Content::new("repro.sh", &repro) },
        ];
        if let Some(witness) = &self.witness {
            contents.push(Content::new("witness.smt2", witness));
        }
        // Last, so that a folder with this file has all others.
        contents.push(Content::new("finding.json", &json));
        folder::write(bugs, &self.finding.folder_name(), &contents)
    }
}

/// More inputs of the same bug, kept beside it.
pub const DUPLICATES_KEPT: u64 = 3;

/// Keeps another input of the same bug, if there are few of them yet.
pub fn keep_duplicate(folder: &Path, number: u64, input: &str) -> Result<(), CampaignError> {
    if number > DUPLICATES_KEPT || !folder.is_dir() {
        return Ok(());
    }
    let duplicates = folder.join("duplicates");
    let path = duplicates.join(format!("{number}.smt2"));
    std::fs::create_dir_all(&duplicates)
        .and_then(|()| folder::write_file(&path, input.as_bytes(), false))
        .map_err(|error| CampaignError::disk(&path, error))
}
