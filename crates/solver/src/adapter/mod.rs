//! Adapters: everything Osprey knows about a solver, as data.
//!
//! One TOML file describes one solver: how it is found and installed, how it is called, which theories it has from which
//! release on, how it words its errors, how it lists its options. The files in `adapters/` are built in; a user adds or
//! replaces one without rebuilding (see [`Adapters`]). A new solver is a new file, not new code.

mod call;
mod registry;

pub use call::{Call, RunRequest, Way};
pub use registry::{AdapterError, Adapters};

use std::sync::{Arc, OnceLock};

use regex::{Captures, Regex};
use serde::{Deserialize, Deserializer};

use crate::fast::ExecMode;
use crate::host::python::Module;
use crate::version::Version;

/// What is known about one solver, over all its releases.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct Adapter {
    /// The word before `@` in a spec.
    pub name: String,
    /// The name its authors write.
    pub title: String,
    /// The dialect family of the theory table; `other` where the standard must do.
    pub family: String,
    /// Names under which packages put it on PATH, the preferred one first.
    #[serde(default)]
    pub executables: Vec<String>,
    /// How an executable says what it is.
    pub identify: Option<Identify>,
    /// Where releases come from.
    #[serde(default, rename = "package")]
    pub packages: Vec<Package>,
    /// How it is called; the first entry that covers a release and a way of running counts.
    #[serde(rename = "call")]
    pub calls: Vec<Call>,
    /// Theories by release.
    #[serde(default, rename = "theory")]
    pub theories: Vec<Theory>,
    /// Logics it accepts, where it refuses some that its theories would allow: the first entry that matches counts.
    #[serde(default, rename = "logic")]
    pub logics: Vec<Logic>,
    /// Shapes of terms it refuses although it has their operators.
    #[serde(default, rename = "form")]
    pub forms: Vec<MissingForms>,
    /// Its wordings, tried in order.
    #[serde(default, rename = "message")]
    pub messages: Vec<Message>,
    /// Exit codes with a meaning of their own.
    #[serde(default, rename = "exit")]
    pub exits: Vec<ExitMeaning>,
    /// How it lists options and which of them are fair to set.
    #[serde(default)]
    pub options: OptionRules,
    /// Tactics that a check may be given.
    #[serde(default)]
    pub tactics: TacticRules,
    /// Faster ways to run it that give the same output.
    #[serde(default, rename = "fast")]
    pub fast: Vec<FastRule>,
}

/// Tactics whose answers count: what they say is true of the script, and they may only fail to say something.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case", default)]
pub struct TacticRules {
    /// Steps that turn a goal into one that is satisfiable if and only if it was.
    #[serde(rename = "step")]
    pub steps: Vec<TacticRule>,
    /// What stands at the end and decides any goal.
    #[serde(rename = "solve")]
    pub solvers: Vec<TacticRule>,
    /// Tactics not to be used, each with the reason.
    pub exclude: Vec<Exclusion>,
}

/// Tactics and the releases that have them.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct TacticRule {
    /// As they are written in a script.
    pub names: Vec<String>,
    /// Matches the names of the logics they are for; any logic where it is missing.
    pub logics: Option<Pattern>,
    /// First release with them.
    pub since: Option<Version>,
    /// First release without them.
    pub before: Option<Version>,
}

/// How an executable is recognised.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct Identify {
    /// Arguments that make it print its name and release.
    pub arguments: Vec<String>,
    /// Matches that output; group `version` is the release.
    pub output: Pattern,
    /// Whether the output names the solver, so that it is recognised whatever the file is called.
    #[serde(default)]
    pub unmistakable: bool,
}

/// A source of releases.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct Package {
    /// Which registry.
    pub registry: Registry,
    /// The package's name there.
    pub name: String,
    /// First release that can be used.
    pub since: Option<Version>,
    /// First release that can not any more.
    pub before: Option<Version>,
    /// The release a registry without version lists carries, as far as known; only for messages.
    #[serde(default)]
    pub carries: Vec<Version>,
    /// Further packages it needs beside itself.
    #[serde(default)]
    pub needs: Vec<String>,
    /// Which members of the archive are unpacked; all where empty.
    #[serde(default)]
    pub files: Vec<Pattern>,
    /// How what was unpacked runs.
    pub run: Way,
    /// Matches the member that is the executable, the directory of the libraries, or names the Python module.
    pub program: Option<Pattern>,
    /// Directories with shared libraries, put on the loader's path.
    #[serde(default)]
    pub libraries: Vec<String>,
    /// For [`Way::Python`]: our script that drives the module.
    pub driver: Option<Module>,
}

/// Package registries.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Registry {
    /// The Python index the user's own pip is set up for.
    Pypi,
    /// The distribution's packages, unpacked without root.
    Debian,
}

/// A theory and the releases that have it.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct Theory {
    /// Names as in the theory table.
    pub names: Vec<String>,
    /// First release with it.
    pub since: Option<Version>,
    /// First release without it.
    pub before: Option<Version>,
    /// A small script that a build without it refuses, where not every build of these releases has it.
    pub probe: Option<String>,
}

/// Logics that the solver accepts.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct Logic {
    /// Matches their names; that of a script without one is empty.
    pub names: Pattern,
    /// What it does not have in them: names of theories or operators, or `nonlinear`.
    #[serde(default)]
    pub without: Vec<String>,
}

/// Shapes of terms that releases refuse, by the names of [`smtlib::logic::Form`].
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct MissingForms {
    /// Their names.
    pub refused: Vec<String>,
    /// First release that refuses them.
    pub since: Option<Version>,
    /// First release that does not any more.
    pub before: Option<Version>,
}

/// A wording of the solver and what it means.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct Message {
    /// What it means.
    pub means: Meaning,
    /// The wording. Groups `file`, `line`, `function`, `message` are picked up where present.
    pub pattern: Pattern,
    /// First release this applies to.
    pub since: Option<Version>,
    /// First release this does not apply to any more.
    pub before: Option<Version>,
}

/// What a wording or an exit code means.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Deserialize, serde::Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Meaning {
    /// An assertion of the solver's own failed, or code it calls unreachable was reached.
    Assertion,
    /// An exception nobody caught, or an internal error the solver reports about itself.
    InternalError,
    /// The solver reports its own segmentation fault.
    Segfault,
    /// A sanitizer's report.
    Sanitizer,
    /// The solver checked its model and it does not satisfy the assertions.
    ModelCheckFailed,
    /// The solver checked its core and it is not unsatisfiable.
    CoreCheckFailed,
    /// The solver checked its proof and it does not hold.
    ProofCheckFailed,
    /// The solver ran out of memory and says so.
    MemoryOut,
    /// The solver stopped at its own time limit.
    Timeout,
    /// The solver stopped at another limit of its own.
    ResourceOut,
    /// A command, option, logic or operator this release does not have.
    Unsupported,
    /// A feature this build was made without: never a bug.
    NotBuilt,
    /// The script was refused: syntax, sorts, undeclared names.
    Rejected,
    /// An option on the command line was refused.
    BadOption,
    /// The request did not fit the state (no model after unsat): the run goes on.
    Refused,
    /// Nothing wrong.
    Harmless,
}

/// An exit code with a meaning.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct ExitMeaning {
    /// The code.
    pub code: i32,
    /// What it means.
    pub means: Meaning,
}

/// How options are listed, and which of them may be set when looking for bugs its developers accept.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case", default)]
pub struct OptionRules {
    /// The form of the listing.
    pub listing: Listing,
    /// Arguments that print it.
    pub arguments: Vec<String>,
    /// Further calls that print more of it, for usual `--help` texts.
    pub more: Vec<Vec<String>>,
    /// How a chosen option is written on the command line.
    pub syntax: OptionSyntax,
    /// Names of options that touch files: in lower case, with dashes for underscores. Neither a script nor an option
    /// that was read from a file may set one.
    pub files: Vec<Pattern>,
    /// Options not to be set, each with the reason.
    pub exclude: Vec<Exclusion>,
    /// Options that may be set, but about which its developers take no reports, each with the reason.
    pub unfair: Vec<Exclusion>,
    /// Values for options whose listing does not tell them.
    pub values: Vec<ValueRule>,
    /// How many options of a category one test case may set; unlisted categories are unlimited.
    pub at_most: std::collections::BTreeMap<String, usize>,
    /// How many options one test case may set in all.
    pub total: Option<usize>,
}

/// Forms in which solvers list their options.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Listing {
    /// It does not list them.
    #[default]
    None,
    /// Z3's `name (type) description (default: value)` grouped by `[module]`.
    Z3Parameters,
    /// cvc5's option information, through its Python module.
    Cvc5Module,
    /// Bitwuzla's option information, through its Python module.
    BitwuzlaModule,
    /// A `--help` text of the CVC line: `--name=TYPE` with `[*]` for switches.
    CvcHelp,
    /// A usual `--help` text.
    Help,
}

/// How an option and its value are written.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum OptionSyntax {
    /// `name=value`.
    Assignment,
    /// `--name=value`, `--name`, `--no-name`.
    #[default]
    Dashes,
}

/// Options that are not fair game.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct Exclusion {
    /// Matches the option's full name.
    pub pattern: Pattern,
    /// The reason shown to the user.
    pub why: String,
    /// First release this applies to.
    pub since: Option<Version>,
    /// First release this does not apply to any more.
    pub before: Option<Version>,
}

/// The values worth trying for options whose listing does not say.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct ValueRule {
    /// Matches the option's full name.
    pub pattern: Pattern,
    /// Legal values.
    pub values: Vec<String>,
    /// First release this applies to.
    pub since: Option<Version>,
    /// First release this does not apply to any more.
    pub before: Option<Version>,
}

/// A faster way to run releases of the solver.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct FastRule {
    /// The way.
    pub mode: ExecMode,
    /// First release it is proven for.
    pub since: Option<Version>,
    /// First release it is not.
    pub before: Option<Version>,
}

impl Adapter {
    /// The package that holds a release.
    pub fn package_for(&self, version: &Version) -> Option<&Package> {
        self.packages.iter().find(|package| package.holds(version))
    }

    /// How a release is called when run this way.
    pub fn call_for(&self, version: Option<&Version>, way: Way) -> Option<&Call> {
        self.calls
            .iter()
            .find(|call| call.way.is_none_or(|w| w == way) && covers(&call.since, &call.before, version))
    }

    /// Names of the theories a release has. Without a version: those of the newest.
    pub fn theories_of(&self, version: Option<&Version>) -> Vec<&str> {
        let theories = self.theories_in(version);
        theories.flat_map(|theory| theory.names.iter().map(String::as_str)).collect()
    }

    /// Theories that a release has, but not every build of it, each with a script that tells.
    pub fn optional_theories(&self, version: Option<&Version>) -> impl Iterator<Item = (&Theory, &str)> {
        self.theories_in(version).filter_map(|theory| Some((theory, theory.probe.as_deref()?)))
    }

    fn theories_in(&self, version: Option<&Version>) -> impl Iterator<Item = &Theory> {
        self.theories.iter().filter(move |theory| covers(&theory.since, &theory.before, version))
    }

    /// Whether it accepts a logic for a script with these needs.
    pub fn accepts_logic(&self, logic: &str, mut needs: impl Iterator<Item = impl AsRef<str>>) -> bool {
        if self.logics.is_empty() {
            return true;
        }
        let rule = self.logics.iter().find(|rule| rule.names.is_match(logic));
        rule.is_some_and(|rule| {
            !needs.any(|need| rule.without.iter().any(|without| without == need.as_ref()))
        })
    }

    /// Whether a release refuses a shape of terms.
    pub fn lacks_form(&self, form: &str, version: Option<&Version>) -> bool {
        let covering = self.forms.iter().filter(|rule| covers(&rule.since, &rule.before, version));
        covering.flat_map(|rule| &rule.refused).any(|refused| refused == form)
    }

    /// Every pattern, for validation.
    fn patterns(&self) -> impl Iterator<Item = &Pattern> {
        let packages = self.packages.iter().flat_map(|package| package.files.iter().chain(&package.program));
        let messages = self.messages.iter().map(|message| &message.pattern);
        let logics = self.logics.iter().map(|logic| &logic.names);
        let excluded = self.options.exclude.iter().chain(&self.options.unfair).map(|rule| &rule.pattern);
        let values = self.options.values.iter().map(|rule| &rule.pattern).chain(&self.options.files);
        let values = values.chain(self.tactics.exclude.iter().map(|rule| &rule.pattern));
        let tactics = self.tactics.steps.iter().chain(&self.tactics.solvers);
        let values = values.chain(tactics.filter_map(|rule| rule.logics.as_ref()));
        let identify = self.identify.iter().map(|identify| &identify.output);
        packages.chain(messages).chain(logics).chain(excluded).chain(values).chain(identify)
    }

    /// The wordings that apply to a release, in order.
    pub fn messages_of<'a>(&'a self, version: Option<&'a Version>) -> impl Iterator<Item = &'a Message> {
        self.messages.iter().filter(move |message| covers(&message.since, &message.before, version))
    }

    /// The fast ways proven for a release, best first.
    pub fn fast_modes(&self, version: Option<&Version>) -> impl Iterator<Item = ExecMode> {
        self.fast.iter().filter(move |rule| covers(&rule.since, &rule.before, version)).map(|rule| rule.mode)
    }
}

impl Package {
    /// What a user calls a release. The revision of the package is the registry's business unless it is part of the
    /// name, as in 4.5.1.post2, where earlier revisions cannot be used.
    pub fn user_name(&self, release: &Version) -> Version {
        if self.since.as_ref() == Some(release) { *release } else { release.without_post() }
    }

    /// Whether a release can be used from here.
    pub fn holds(&self, version: &Version) -> bool {
        match self.registry {
            Registry::Debian => self.carries.iter().any(|carried| carried == version),
            Registry::Pypi => covers(&self.since, &self.before, Some(version)),
        }
    }
}

/// Whether a range of releases covers one; an unknown release counts as the newest.
pub(crate) fn covers(since: &Option<Version>, before: &Option<Version>, version: Option<&Version>) -> bool {
    match version {
        Some(version) => {
            since.as_ref().is_none_or(|since| version >= since)
                && before.as_ref().is_none_or(|before| version < before)
        }
        None => before.is_none(),
    }
}

/// A regular expression of an adapter file. It is compiled when first needed, as a run needs those of a solver or two;
/// the files of a user are tried out when they are read, so that a mistake is reported there.
#[derive(Debug, Clone)]
pub struct Pattern {
    source: String,
    compiled: Arc<OnceLock<Option<Regex>>>,
}

impl Pattern {
    /// From its source.
    pub fn new(source: impl Into<String>) -> Self {
        Pattern { source: source.into(), compiled: Arc::default() }
    }

    /// As it was written.
    pub fn source(&self) -> &str {
        &self.source
    }

    /// Whether it occurs in a text.
    pub fn is_match(&self, text: &str) -> bool {
        self.regex().is_some_and(|regex| regex.is_match(text))
    }

    /// What it matches first in a text.
    pub fn find<'t>(&self, text: &'t str) -> Option<&'t str> {
        Some(self.regex()?.find(text)?.as_str())
    }

    /// The same with its groups, which costs more.
    pub fn captures<'t>(&self, text: &'t str) -> Option<Captures<'t>> {
        self.regex()?.captures(text)
    }

    /// Compiles it, for the error.
    pub(crate) fn check(&self) -> Result<Regex, regex::Error> {
        Regex::new(&self.source)
    }

    fn regex(&self) -> Option<&Regex> {
        self.compiled.get_or_init(|| self.check().ok()).as_ref()
    }
}

impl<'de> Deserialize<'de> for Pattern {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        String::deserialize(deserializer).map(Pattern::new)
    }
}
