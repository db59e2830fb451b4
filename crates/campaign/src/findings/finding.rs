//! A finding: what is wrong, who is to blame, how to see it again.

use std::path::{Path, PathBuf};

use eval::Expectation;
use oracle::{Kind, Verdict};
use reduce::Size;
use reduce::blame::Blame;
use serde::{Deserialize, Serialize};
use smtlib::{Setting, Status};
use solver::crash::CrashReport;
use solver::options::Objections;
use solver::run::{PartyId, Run};

use super::environment;
use super::folder::{self, Content};
use super::handling::Handling;
use super::origin::Origin;
use super::report::{self, ReportTexts};
use super::repro::{self, Repro};
use super::signature::Signature;
use super::stored;
use crate::error::CampaignError;
use crate::{foreign, hash, input};

/// Everything `finding.json` says.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(from = "stored::StoredFinding")]
pub struct Finding {
    /// The version of osprey that found it.
    pub osprey: String,
    /// Seconds since 1970.
    pub found: u64,
    pub kind: Kind,
    /// The solver to blame, as specs name it: `z3@4.8.7`. All parties, where nobody can be blamed.
    pub solver: String,
    /// The name its authors write.
    pub title: String,
    /// One sentence.
    pub summary: String,
    /// Equal for findings taken for the same bug.
    pub signature: Signature,
    /// It did not repeat in every plain run.
    pub flaky: bool,
    pub stage: Stage,
    /// What is known about the answer to the input.
    pub expectation: Expectation,
    /// The right answer, where the finding is about an answer.
    pub answer: Option<Status>,
    /// What supports all this, one sentence each.
    pub evidence: Vec<String>,
    /// Whose run is wrong; nobody's where parties contradict each other on equal terms.
    pub accused: Option<PartyId>,
    /// Which of the accused's answers it is about, from 0, where it is about one.
    pub check: Option<usize>,
    /// Where the runs were made: system and processor.
    pub platform: String,
    /// All runs, that of the accused first: on `reduced.smt2` once there is one.
    pub runs: Vec<RunRecord>,
    /// Names of the operators in the script, the Boolean ones left out.
    pub operators: Vec<String>,
    /// Which constructs of the script it needs, the most telling first; empty where that was not asked.
    #[serde(skip_serializing_if = "nothing_blamed")]
    pub blame: Blame,
    /// Which installed releases have it, where that was asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub releases: Option<Releases>,
    /// The bug it was taken for when it was told apart. The store has the last word: somebody may have decided
    /// otherwise since.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub group: Option<Membership>,
    /// What became of it since.
    #[serde(skip_serializing_if = "Handling::is_empty")]
    pub handling: Handling,
    pub provenance: Origin,
}

/// Another face of a bug that was known.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Membership {
    /// The hash of the first finding that showed the bug.
    pub id: String,
    /// The folder of the bug's clearest example at that time.
    pub example: String,
    /// Why it is taken for that bug, one sentence.
    pub why: String,
}

/// How far a finding has come.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "name", rename_all = "kebab-case")]
pub enum Stage {
    /// Confirmed and on disk; not reduced, and so not told apart from other findings. With the input's hash, and the
    /// process that has it in its queue.
    Pending { input: String, process: u32 },
    /// Told apart by its input as it is: it does not repeat reliably, a crash names its place, or time was up.
    Unreduced,
    /// Made small, and told apart by what is left.
    Reduced(Shrunk),
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

/// One run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RunRecord {
    pub party: PartyId,
    pub solver: String,
    /// Options the user wrote after it.
    pub user_options: Vec<String>,
    /// What it said its version is.
    pub version: String,
    /// Of the program, where Osprey did not install it: `solver` is its path then.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sha256: Option<String>,
    /// As its developers would type it, for `input.smt2` (or that script in its dialect).
    pub command: String,
    /// Options beside the user's own: of the test case and of the policy.
    pub settings: Vec<Setting>,
    /// Those among them that the solver's developers take no reports about.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub unfair: Vec<String>,
    /// Numbers of options that they do not look at, in words.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub too_many: Vec<String>,
    /// Its options were held against the rules of the solver's developers.
    #[serde(default)]
    pub judged: bool,
    /// Models were asked for.
    pub models: bool,
    /// Everything the solver has was switched on.
    pub broad: bool,
    pub class: String,
    /// The answers in order.
    pub answers: Vec<String>,
    /// The beginning of its output.
    pub stdout: String,
    pub stderr: String,
    pub cpu_ms: u64,
    /// How its process ended, in words.
    pub ended: String,
    /// What is known about its crash.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub crash: Option<CrashReport>,
    /// What was started, where that is a program of the solver's own.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub program: Option<String>,
    /// Its words, with the name of the script among them.
    pub arguments: Vec<String>,
    /// The script was given on standard input.
    pub from_stdin: bool,
    /// Where the program comes from, in words.
    pub origin: String,
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
    /// Releases beside those that may have the bug or not: they gave up, refused the script, or were not asked. Where one
    /// stands between an affected and a clean release, nobody knows when the bug came or went.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub silent: Vec<String>,
    /// Releases between affected ones that were not asked or gave no answer: they most likely have it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub inferred: Vec<String>,
    /// Releases between affected ones whose models are right: by luck, most likely.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub lucky: Vec<String>,
    /// Releases that do not have all operators of the script: whether they have the bug cannot be asked.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub unable: Vec<String>,
}

fn nothing_blamed(blame: &Blame) -> bool {
    blame.constructs.is_empty()
}

/// Output kept in `finding.json` and the report.
const EXCERPT: usize = 4096;

impl RunRecord {
    /// A run as it is kept, on a file of this name.
    pub fn of(run: &Run, file: &str) -> RunRecord {
        let configuration = &run.configuration;
        let objections = configuration.solver.objections(&configuration.request.settings);
        let judged = objections.is_some();
        let Objections { unfair, too_many } = objections.unwrap_or_default();
        RunRecord {
            party: run.party(),
            solver: configuration.solver.name(),
            user_options: configuration.solver.options.clone(),
            version: configuration.solver.version().map(ToString::to_string).unwrap_or_default(),
            sha256: configuration.solver.installed.sha256.clone(),
            command: configuration.command_line(file, Some(&run.script)),
            settings: configuration.request.settings.clone(),
            unfair,
            too_many,
            judged,
            models: configuration.request.models,
            broad: configuration.request.broad,
            class: run.answers.class.word().to_owned(),
            answers: run.answers.checks.iter().map(|check| check.answer.word().to_owned()).collect(),
            stdout: excerpt(&run.outcome.stdout),
            stderr: excerpt(&run.outcome.stderr),
            cpu_ms: run.outcome.cpu_time.as_millis() as u64,
            ended: environment::ended(&run.outcome),
            crash: run.answers.crash().cloned(),
            program: environment::program(&configuration.solver),
            arguments: configuration.solver.words(&configuration.request, file, Some(&run.script)),
            from_stdin: !configuration.solver.reads_file(),
            origin: environment::of_program(&configuration.solver),
        }
    }

    /// What it said, in few words: its answers, or what else the run amounts to.
    pub fn said(&self) -> String {
        if self.answers.is_empty() { self.class.clone() } else { self.answers.join(" ") }
    }
}

/// The beginning of an output as text.
fn excerpt(output: &[u8]) -> String {
    let mut text = String::from_utf8_lossy(&output[..output.len().min(EXCERPT)]).into_owned();
    if output.len() > EXCERPT {
        text.push_str("\n[...]\n");
    }
    text
}

impl Stage {
    /// The hash of a pending finding's input.
    pub fn input(&self) -> &str {
        match self {
            Stage::Pending { input, .. } => input,
            Stage::Unreduced | Stage::Reduced(_) => "",
        }
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

    /// Twelve digits of the signature's hash. While it is pending, the test case has a part in it: two processes may
    /// find the same bug at the same time, and each has a folder of its own until one of them claims the signature.
    pub fn hash(&self) -> String {
        match &self.stage {
            Stage::Pending { input, .. } => {
                let Origin { round, step, .. } = &self.provenance;
                let name = format!("{} | {input} | {round} {step}", self.signature);
                hash::name(name.as_bytes())[..12].to_owned()
            }
            Stage::Unreduced | Stage::Reduced(_) => self.signature.hash(),
        }
    }

    pub fn is_pending(&self) -> bool {
        matches!(self.stage, Stage::Pending { .. })
    }

    pub fn is_reduced(&self) -> bool {
        matches!(self.stage, Stage::Reduced(_))
    }

    /// Reads a finding from its folder, or from its `finding.json`.
    pub fn read(path: &Path) -> Result<(Finding, PathBuf), CampaignError> {
        let path = &std::fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
        let refused = |reason: String| CampaignError::NotAFinding { path: path.to_owned(), reason };
        if !path.exists() {
            return Err(refused("there is no such file or folder".to_owned()));
        }
        let folder = if path.is_dir() { path } else { path.parent().unwrap_or(path) };
        let file = folder.join("finding.json");
        let text =
            input::read_text(&file, input::LARGEST_FILE).map_err(|error| refused(error.to_string()))?;
        let finding =
            serde_json::from_str(&text).map_err(|error| refused(format!("{}: {error}", file.display())))?;
        Ok((finding, folder.to_owned()))
    }

    /// The file that shows the bug best.
    pub fn script_name(&self) -> &'static str {
        if self.is_reduced() { "reduced.smt2" } else { "input.smt2" }
    }

    /// The model of that file, where there is one.
    pub fn witness_name(&self) -> &'static str {
        if self.is_reduced() { "reduced-witness.smt2" } else { "witness.smt2" }
    }

    /// Says what is wrong and why, in the words of a verdict on these runs. `witness` names the file with a model that
    /// satisfies the script.
    pub fn describe(&mut self, verdict: &Verdict, runs: &[Run], witness: Option<&str>) {
        let accused = verdict.accused.and_then(|party| Run::of(runs, party));
        let first = accused.or(runs.first());
        self.check = first
            .zip(verdict.check)
            .and_then(|(run, check)| run.answers.checks.iter().position(|answer| answer.check == check));
        self.platform = environment::platform();
        self.summary = match accused {
            Some(run) => {
                let solver = &run.configuration.solver;
                let version = solver.version().map(|version| format!(" {version}")).unwrap_or_default();
                let title = &solver.adapter.title;
                match verdict.reason.strip_prefix("it ") {
                    Some(reason) => format!("{title}{version} {reason}"),
                    None => format!("{title}{version}: {}", verdict.reason),
                }
            }
            None => verdict.reason.clone(),
        };
        self.accused = verdict.accused;
        self.runs = runs.iter().map(|run| RunRecord::of(run, self.script_name())).collect();
        self.answer = match verdict.kind {
            Kind::RefutationSoundness => Some(Status::Sat),
            Kind::SolutionSoundness => Some(Status::Unsat),
            _ => None,
        };
        self.evidence.clear();
        self.evidence.extend(witness.map(|file| format!("a model satisfies every assertion ({file})")));
        // How the input was made is no argument for a part of it, nor for what has nothing to do with its meaning.
        if let (Expectation::Derived(derivation), false, true) =
            (&self.expectation, self.is_reduced(), verdict.kind.is_about_meaning())
        {
            self.evidence.push(derivation.from.clone());
            self.evidence.extend(derivation.steps.iter().cloned());
        }
        self.evidence.extend(verdict.evidence.iter().cloned());
    }

    /// Writes the folder below `bugs`: complete and on disk when this returns. The input is the text that the blamed
    /// solver read.
    pub fn write(
        &self,
        bugs: &Path,
        input: &str,
        witness: Option<&str>,
        small: Option<&Small>,
    ) -> Result<PathBuf, CampaignError> {
        let shown = match small {
            Some(small) => ReportTexts::of(small),
            None => ReportTexts { script: input, witness, ground: None },
        };
        let (json, repro) = (self.json()?, Repro::of(self, shown.script));
        let report = report::markdown(self, &shown, &repro);
        let mut contents = vec![Content::new("input.smt2", input)];
        contents.extend(witness.map(|text| Content::new("witness.smt2", text)));
        contents.extend(small.into_iter().flat_map(small_contents));
        contents.extend(repro.contents());
        contents.push(Content::new("report.md", &report));
        // Last, so that a folder with this file has all others.
        contents.push(Content::new("finding.json", &json));
        folder::write(bugs, &self.folder_name(), &contents)
    }

    /// Adds the reduced script to a finding's folder and says everything anew. Each file is the old one or the new one
    /// at any time; `finding.json` comes last, so that what it mentions is there.
    pub fn write_reduced(&self, folder: &Path, small: &Small) -> Result<(), CampaignError> {
        // A person may have marked it meanwhile.
        let handling = Finding::read(folder).map(|(there, _)| there.handling).unwrap_or_default();
        let json = Finding { handling, ..self.clone() }.json()?;
        let repro = Repro::of(self, &small.script);
        let report = report::markdown(self, &ReportTexts::of(small), &repro);
        let mut contents: Vec<Content> = small_contents(small).collect();
        contents.extend(repro.contents());
        contents.push(Content::new("report.md", &report));
        contents.push(Content::new("finding.json", &json));
        for name in repro::FURTHER.iter().filter(|name| !contents.iter().any(|one| one.name == **name)) {
            // It was about the input as it was.
            let _ = std::fs::remove_file(folder.join(name));
        }
        folder::replace(folder, &contents)
    }

    /// Says anew which bug it is taken for, in the folder where it is.
    pub fn write_group(&self, folder: &Path) -> Result<(), CampaignError> {
        let read = |name: &str| input::read_text(&folder.join(name), input::LARGEST_FILE);
        let script = read(self.script_name()).map_err(|error| CampaignError::NotAFinding {
            path: folder.to_owned(),
            reason: error.to_string(),
        })?;
        let (witness, ground) = (read(self.witness_name()).ok(), read("ground.smt2").ok());
        let shown = ReportTexts { script: &script, witness: witness.as_deref(), ground: ground.as_deref() };
        let report = report::markdown(self, &shown, &Repro::of(self, &script));
        let json = self.json()?;
        folder::replace(folder, &[Content::new("report.md", &report), Content::new("finding.json", &json)])
    }

    /// Says anew what became of it, in the folder where it is.
    pub fn write_handling(&self, folder: &Path) -> Result<(), CampaignError> {
        folder::replace(folder, &[Content::new("finding.json", &self.json()?)])
    }

    /// The bug in one line: who, what, and the constructs and options that are left of this script. Plain text, which others
    /// wrote in part.
    pub fn headline(&self, script: &str) -> String {
        report::headline(self, script)
    }

    fn json(&self) -> Result<String, CampaignError> {
        let text =
            serde_json::to_string_pretty(self).map_err(|error| CampaignError::Internal(error.to_string()))?;
        Ok(foreign::json(&text).into_owned())
    }
}

fn small_contents(small: &Small) -> impl Iterator<Item = Content<'_>> {
    let witness = small.witness.as_deref().map(|text| Content::new("reduced-witness.smt2", text));
    let ground = small.ground.as_deref().map(|text| Content::new("ground.smt2", text));
    std::iter::once(Content::new("reduced.smt2", &small.script)).chain(witness).chain(ground)
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
