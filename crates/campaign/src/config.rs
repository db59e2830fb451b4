//! What a campaign is told to do: its identity, which a resumed one must share, and how long it runs.

use std::fmt;
use std::path::{Component, Path, PathBuf};
use std::str::FromStr;
use std::time::Duration;

use serde::{Deserialize, Serialize};
use solver::install::Source;

use crate::hash;
use crate::target::Target;

/// Settings that make the campaign what it is. Stored with it; `--resume` refuses other ones, since learned counts
/// and numbered rounds would mean something else.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Identity {
    /// Names of the solvers under test with the user's options.
    pub solvers: Vec<String>,
    /// Names of those that are only asked where an answer needs another opinion.
    #[serde(default)]
    pub references: Vec<String>,
    /// Solvers and references as the user named them, with whole paths: a process that joins finds the same programs by
    /// them. Names of releases say less about a program given by its path.
    #[serde(default)]
    pub specs: Specs,
    /// Those of them that Osprey did not install, as they were.
    #[serde(default)]
    pub programs: Vec<Program>,
    /// Those that Osprey installed, where processes on many machines must have the same.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub releases: Vec<Program>,
    /// Names of the engines, in order; all there are for `auto`.
    pub engines: Vec<String>,
    /// Whether the engines share the time by what they find.
    pub auto: bool,
    pub options: PolicyName,
    /// Logics of generated scripts; empty for a mix of what the solvers have.
    pub logics: Vec<String>,
    /// Files and folders as given.
    pub seeds: Vec<PathBuf>,
    pub rng_seed: u64,
    /// Of one solver run, in milliseconds.
    pub timeout: u64,
    /// Runs that take many times as long as usual are cut before that.
    #[serde(default)]
    pub adaptive: bool,
    /// Of one solver run, in megabytes.
    pub memory: u64,
    /// Ask the installed releases which of them have a finding's bug. They become part of its signature.
    #[serde(default)]
    pub bisect: bool,
    /// Which code of the solvers is reached is not watched: what goes on or joins does not watch it either.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub unwatched: bool,
    /// Settings of engines.
    #[serde(default)]
    pub tuning: engines::Tuning,
    /// Settings of policies that have learned.
    #[serde(default)]
    pub learned: LearnedSettings,
}

/// What policies that have learned go by.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct LearnedSettings {
    /// Files of correlations that the user named.
    pub correlations: Vec<NamedCorrelations>,
    /// They are used for other releases of their solver as well.
    pub forced: bool,
    /// The fitness of a configuration is all that it reaches, as in the paper, at the price of a second run; else what it
    /// reaches that nobody has reached before.
    pub own_coverage: bool,
    pub search: falcon::search::Parameters,
}

/// A file of correlations. What was in it goes with the campaign: processes on other machines do not have the file, and
/// what becomes of it later changes nothing.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct NamedCorrelations {
    /// The whole path.
    pub path: PathBuf,
    pub text: String,
}

/// A solver that Osprey did not install: another build at the same place is another solver.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Program {
    pub path: String,
    /// What it said its version is.
    pub version: Option<String>,
    pub sha256: Option<String>,
}

impl Program {
    /// The programs among these solvers, each once.
    pub fn of(targets: &[Target]) -> Vec<Program> {
        let given = targets.iter().filter(|target| target.solver.installed.origin != Source::Installed);
        let mut programs: Vec<Program> = given
            .map(|target| Program {
                path: target.solver.name(),
                version: target.solver.version().map(ToString::to_string),
                sha256: target.solver.installed.sha256.clone(),
            })
            .collect();
        programs.dedup();
        programs
    }

    /// The installed releases among these solvers, each once: what they are on this machine.
    pub fn releases(targets: &[Target]) -> Vec<Program> {
        let installed = targets.iter().filter(|target| target.solver.installed.origin == Source::Installed);
        let mut releases: Vec<Program> = installed
            .map(|target| Program {
                path: target.solver.name(),
                version: target.solver.version().map(ToString::to_string),
                sha256: target.solver.installed.fingerprint().ok(),
            })
            .collect();
        releases.dedup();
        releases
    }
}

impl fmt::Display for Program {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let version = self.version.as_deref().unwrap_or("of no known version");
        let hash = self.sha256.as_deref().map_or("unreadable", |hash| &hash[..hash.len().min(16)]);
        write!(f, "{} ({version}, sha256 {hash})", self.path)
    }
}

/// What a user wrote after `-s` and `--reference`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Specs {
    pub solvers: Vec<String>,
    pub references: Vec<String>,
}

impl Identity {
    /// The first setting that differs, with both values, in the words of the command line.
    pub fn difference(&self, other: &Identity) -> Option<(String, String)> {
        let paths = |paths: &[PathBuf]| {
            let shown: Vec<String> = paths.iter().map(|path| plain(path).display().to_string()).collect();
            if shown.is_empty() { "no seeds".to_owned() } else { format!("seeds {}", shown.join(" ")) }
        };
        let engines = |identity: &Identity| match identity.auto {
            true => "--engine auto".to_owned(),
            false => format!("--engine {}", identity.engines.join(",")),
        };
        let logics = |logics: &[String]| match logics {
            [] => "no --logic".to_owned(),
            logics => format!("--logic {}", logics.join(",")),
        };
        let programs = |programs: &[Program]| {
            let shown: Vec<String> = programs.iter().map(ToString::to_string).collect();
            format!("the program {}", shown.join(" and "))
        };
        let learned = |learned: &LearnedSettings| {
            let mut shown = learned.clone();
            for file in &mut shown.correlations {
                file.text = hash::name(file.text.as_bytes());
            }
            format!("learned options {}", serde_json::to_string(&shown).unwrap_or_default())
        };
        let settings = |identity: &Identity| {
            [
                format!("solvers {}", identity.solvers.join(" and ")),
                format!("references {}", identity.references.join(" and ")),
                programs(&identity.programs),
                programs(&identity.releases),
                engines(identity),
                format!("--options {}", identity.options),
                logics(&identity.logics),
                paths(&identity.seeds),
                format!("--rng-seed {}", identity.rng_seed),
                match identity.adaptive {
                    true => "no --timeout".to_owned(),
                    false => format!("--timeout {}", identity.timeout as f64 / 1000.0),
                },
                format!("--memory {}", identity.memory),
                if identity.bisect { "--bisect".to_owned() } else { "no --bisect".to_owned() },
                format!("engine settings {}", serde_json::to_string(&identity.tuning).unwrap_or_default()),
                learned(&identity.learned),
            ]
        };
        settings(self).into_iter().zip(settings(other)).find(|(a, b)| a != b)
    }
}

/// A path without what does not matter: `./seeds/` is `seeds`.
fn plain(path: &Path) -> PathBuf {
    path.components().filter(|part| *part != Component::CurDir).collect()
}

/// The policies by name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum PolicyName {
    /// A quarter of the chains with options the developers stand behind, and models where a model can be checked.
    Default,
    /// Half of the chains with options the developers stand behind.
    Fair,
    /// Half of the chains with any options that do not change what a run means.
    Random,
    /// Each test case with the options that matter for it, their values found by search. Falcon.
    Learned,
    /// The same with options the developers stand behind.
    FairLearned,
    /// Each test case with any options, their values found by search. Falcon-Search.
    Searched,
    /// Each test case with the options that matter for it, at random values. Falcon-Learn.
    Related,
    /// No options, but models where a model can be checked. Falcon-NoOpt.
    Plain,
    /// Only what the user wrote.
    None,
}

const NAMES: [(PolicyName, &str); 9] = [
    (PolicyName::Default, "default"),
    (PolicyName::Fair, "fair"),
    (PolicyName::Random, "random"),
    (PolicyName::Learned, "learned"),
    (PolicyName::FairLearned, "fair-learned"),
    (PolicyName::Searched, "searched"),
    (PolicyName::Related, "related"),
    (PolicyName::Plain, "plain"),
    (PolicyName::None, "none"),
];

impl fmt::Display for PolicyName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(NAMES.iter().find(|(name, _)| name == self).map_or("default", |(_, text)| text))
    }
}

impl FromStr for PolicyName {
    type Err = String;

    fn from_str(text: &str) -> Result<PolicyName, String> {
        NAMES.iter().find(|(_, name)| *name == text).map(|(policy, _)| *policy).ok_or_else(|| {
            let names: Vec<&str> = NAMES.iter().map(|(_, name)| *name).collect();
            format!("'{text}' is no option policy; expected one of {}", names.join(", "))
        })
    }
}

impl PolicyName {
    /// Does it need the solvers' option tables?
    pub fn needs_tables(self) -> bool {
        !matches!(self, PolicyName::None | PolicyName::Plain)
    }

    /// May checks have tactics under it? Where options are compared with none, tactics would be options under another name.
    pub fn draws_tactics(self) -> bool {
        matches!(self, PolicyName::Default | PolicyName::Fair | PolicyName::Random)
    }

    /// Does it go by which options matter for which operations?
    pub fn needs_correlations(self) -> bool {
        matches!(self, PolicyName::Learned | PolicyName::FairLearned | PolicyName::Related)
    }
}

impl Identity {
    /// The policy for the test cases of an engine: what the user says, else what is a part of the engine.
    pub fn policy_of(&self, engine: &dyn engines::Engine) -> PolicyName {
        match (self.options, engine.options().map(str::parse)) {
            (PolicyName::Default, Some(Ok(own))) => own,
            (chosen, _) => chosen,
        }
    }
}

/// Bugs that the user does not want to hear of.
#[derive(Clone, Debug, Default)]
pub struct KnownBugs {
    /// Signatures of findings, or hashes of signatures.
    pub signatures: Vec<String>,
    /// Output folders of campaigns, or folders of single findings: all bugs in them.
    pub folders: Vec<PathBuf>,
}

/// How the campaign is run: may differ from one resumption to the next.
#[derive(Clone, Debug)]
pub struct Settings {
    pub out: PathBuf,
    pub resume: bool,
    pub jobs: usize,
    /// Wall-clock time; of this run only.
    pub time: Option<Duration>,
    /// Test cases; of this run only.
    pub iterations: Option<u64>,
    /// Unique findings; of this run only.
    pub stop_after: Option<u64>,
    /// What is reached of the solvers' code is counted but has no say: for comparisons.
    pub unused_coverage: bool,
    /// Do not end before every finding has been made small.
    pub reduce_all: bool,
    /// Bugs that are not reported any more, by no process of the campaign. Of the one that runs it these are all there are,
    /// or, without any, those that were named before; a helper names further ones.
    pub known: Option<KnownBugs>,
    /// One JSON object per line for everything that happens.
    pub log: Option<PathBuf>,
    /// The command line, which reports name.
    pub command: String,
}

impl Identity {
    /// What matters for running solvers outside of a campaign; nothing is said of all else.
    pub fn of_runs(timeout: Duration, memory: u64, rng_seed: u64) -> Identity {
        Identity {
            solvers: Vec::new(),
            references: Vec::new(),
            specs: Specs::default(),
            programs: Vec::new(),
            releases: Vec::new(),
            engines: Vec::new(),
            auto: false,
            options: PolicyName::None,
            logics: Vec::new(),
            seeds: Vec::new(),
            rng_seed,
            timeout: timeout.as_millis() as u64,
            adaptive: false,
            memory,
            bisect: false,
            unwatched: false,
            tuning: engines::Tuning::default(),
            learned: LearnedSettings::default(),
        }
    }

    pub fn timeout(&self) -> Duration {
        Duration::from_millis(self.timeout)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn identity() -> Identity {
        Identity {
            solvers: vec!["z3@5.4.0".into(), "cvc5@1.4.2".into()],
            references: Vec::new(),
            specs: Specs::default(),
            programs: Vec::new(),
            releases: Vec::new(),
            engines: vec!["generate".into()],
            auto: true,
            options: PolicyName::Default,
            logics: Vec::new(),
            seeds: Vec::new(),
            rng_seed: 1,
            timeout: 2000,
            adaptive: false,
            memory: 1024,
            bisect: false,
            unwatched: false,
            tuning: engines::Tuning::default(),
            learned: LearnedSettings::default(),
        }
    }

    #[test]
    fn a_difference_is_told_in_the_words_of_the_command_line() {
        let then = identity();
        assert_eq!(then.difference(&then.clone()), None);
        let now = Identity { rng_seed: 2, ..identity() };
        assert_eq!(then.difference(&now), Some(("--rng-seed 1".into(), "--rng-seed 2".into())));
        let now = Identity { seeds: vec!["a".into()], ..identity() };
        assert_eq!(then.difference(&now), Some(("no seeds".into(), "seeds a".into())));
        let same = Identity { seeds: vec!["./a/".into()], ..identity() };
        assert_eq!(now.difference(&same), None, "another way to write the same path");
    }

    #[test]
    fn another_content_of_a_file_is_another_campaign_and_is_not_shown() {
        let with = |text: &str| {
            let file = NamedCorrelations { path: "/z3.json".into(), text: text.to_owned() };
            let learned = LearnedSettings { correlations: vec![file], ..LearnedSettings::default() };
            Identity { learned, ..identity() }
        };
        assert_eq!(with("one").difference(&with("one")), None);
        let (then, now) = with("one thing").difference(&with("other thing")).expect("different");
        assert!(then != now && then.contains("/z3.json") && !then.contains("thing"), "{then} {now}");
    }
}
