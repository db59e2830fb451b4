//! The set of adapters in force: the built-in files, then the user's, which replace those of the same name.

use std::path::{Path, PathBuf};

use super::call::PLACEHOLDERS;
use super::{Adapter, Listing, Message, OptionSyntax, Pattern, Registry, Way};
use crate::spec::nearest;

const BUILT_IN: &[(&str, &str)] = &[
    ("z3", include_str!("../../adapters/z3.toml")),
    ("cvc5", include_str!("../../adapters/cvc5.toml")),
    ("cvc4", include_str!("../../adapters/cvc4.toml")),
    ("yices", include_str!("../../adapters/yices.toml")),
    ("bitwuzla", include_str!("../../adapters/bitwuzla.toml")),
    ("boolector", include_str!("../../adapters/boolector.toml")),
    ("mathsat", include_str!("../../adapters/mathsat.toml")),
    ("opensmt", include_str!("../../adapters/opensmt.toml")),
    ("smtinterpol", include_str!("../../adapters/smtinterpol.toml")),
    ("stp", include_str!("../../adapters/stp.toml")),
    ("colibri2", include_str!("../../adapters/colibri2.toml")),
    ("dreal", include_str!("../../adapters/dreal.toml")),
    ("command", include_str!("../../adapters/command.toml")),
];

/// Wordings of compilers, runtimes and sanitizers, which no solver can help printing.
const COMMON: &str = include_str!("../../adapters/common.toml");

/// The name of the adapter for a command nothing is known about.
const ANY_COMMAND: &str = "command";

/// An adapter file that cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum AdapterError {
    /// The file is not there or not readable.
    #[error("cannot read the adapter file {path}: {source}")]
    Read {
        /// The file.
        path: PathBuf,
        /// Why.
        source: std::io::Error,
    },
    /// The file does not follow the schema.
    #[error("the adapter file {path} is not usable: {reason}")]
    Malformed {
        /// The file.
        path: PathBuf,
        /// Where and why.
        reason: String,
    },
}

/// All adapters in force.
#[derive(Debug, Clone)]
pub struct Adapters {
    adapters: Vec<Adapter>,
    common: Vec<Message>,
    /// Options that touch files, whatever the solver.
    files: Vec<Pattern>,
}

#[derive(serde::Deserialize)]
#[serde(deny_unknown_fields)]
struct Common {
    message: Vec<Message>,
    files: Vec<Pattern>,
}

impl Adapters {
    /// The built-in ones only.
    pub fn built_in() -> Self {
        // Built-in files are validated by the tests, which spares every start the time to compile their patterns.
        let read = |(name, text): &(&str, &str)| {
            toml::from_str(text).unwrap_or_else(|error| panic!("built-in adapter {name}: {error}"))
        };
        let common: Common =
            toml::from_str(COMMON).unwrap_or_else(|error| panic!("built-in wordings: {error}"));
        Adapters {
            adapters: BUILT_IN.iter().map(read).collect(),
            common: common.message,
            files: common.files,
        }
    }

    /// The built-in ones, then every `*.toml` of the user's adapter directory, then the files named on the command line.
    pub fn load(files: &[PathBuf]) -> Result<Self, AdapterError> {
        let mut all = Adapters::built_in();
        if let Some(directory) = user_directory()
            && directory.is_dir()
        {
            let at = |source| AdapterError::Read { path: directory.clone(), source };
            let mut found = Vec::new();
            for entry in std::fs::read_dir(&directory).map_err(at)? {
                let path = entry.map_err(at)?.path();
                if path.extension().is_some_and(|extension| extension == "toml") {
                    found.push(path);
                }
            }
            found.sort();
            for path in found {
                all.add_file(&path)?;
            }
        }
        for path in files {
            all.add_file(path)?;
        }
        Ok(all)
    }

    /// Reads one more file; it replaces an adapter of the same name.
    pub fn add_file(&mut self, path: &Path) -> Result<(), AdapterError> {
        let text = std::fs::read_to_string(path)
            .map_err(|source| AdapterError::Read { path: path.to_path_buf(), source })?;
        self.add(read(&text, path)?);
        Ok(())
    }

    fn add(&mut self, adapter: Adapter) {
        match self.adapters.iter_mut().find(|old| old.name == adapter.name) {
            Some(old) => *old = adapter,
            None => self.adapters.push(adapter),
        }
    }

    /// The adapter of a name.
    pub fn get(&self, name: &str) -> Option<&Adapter> {
        self.adapters.iter().find(|adapter| adapter.name == name)
    }

    /// The adapter for a command nothing is known about.
    pub fn any_command(&self) -> &Adapter {
        self.get(ANY_COMMAND).unwrap_or(&self.adapters[0])
    }

    /// All, in a fixed order.
    pub fn iter(&self) -> impl Iterator<Item = &Adapter> {
        self.adapters.iter()
    }

    /// The adapter whose executable is usually called like this file (`z3`, `z3-4.8.7`, `yices-smt2`).
    pub fn by_executable(&self, file_name: &str) -> Option<&Adapter> {
        let exact = |adapter: &&Adapter| adapter.executables.iter().any(|name| name == file_name);
        let prefix = |adapter: &&Adapter| {
            adapter.executables.iter().any(|name| {
                file_name
                    .strip_prefix(name.as_str())
                    .is_some_and(|rest| rest.starts_with(|c: char| !c.is_ascii_alphanumeric()))
            })
        };
        self.iter().find(exact).or_else(|| self.iter().find(prefix))
    }

    /// Wordings every program may print.
    pub fn common_messages(&self) -> &[Message] {
        &self.common
    }

    /// Patterns of the options that touch files, of all solvers.
    pub fn file_options(&self) -> impl Iterator<Item = &str> {
        self.files.iter().chain(self.iter().flat_map(|adapter| &adapter.options.files)).map(Pattern::source)
    }

    /// Names close to a mistyped one.
    pub fn nearest_names(&self, name: &str) -> Vec<String> {
        let names: Vec<&str> =
            self.iter().map(|adapter| adapter.name.as_str()).filter(|n| *n != ANY_COMMAND).collect();
        nearest(name, &names)
    }
}

/// `$XDG_CONFIG_HOME/osprey/adapters`, or the same under `~/.config`.
pub(crate) fn user_directory() -> Option<PathBuf> {
    let config = match std::env::var_os("XDG_CONFIG_HOME").filter(|value| !value.is_empty()) {
        Some(directory) => PathBuf::from(directory),
        None => PathBuf::from(std::env::var_os("HOME")?).join(".config"),
    };
    Some(config.join("osprey").join("adapters"))
}

fn read(text: &str, path: &Path) -> Result<Adapter, AdapterError> {
    let malformed = |reason: String| AdapterError::Malformed { path: path.to_path_buf(), reason };
    let adapter: Adapter = toml::from_str(text).map_err(|error| malformed(error.to_string()))?;
    validate(&adapter).map_err(malformed)?;
    Ok(adapter)
}

/// What the schema cannot say: ranges that are not empty, placeholders that exist, parts that need each other.
fn validate(adapter: &Adapter) -> Result<(), String> {
    let plain = |name: &str| {
        !name.is_empty() && name.bytes().all(|b| b.is_ascii_alphanumeric() || b"-_+.".contains(&b))
    };
    if !plain(&adapter.name) {
        return Err(format!("name `{}` must be letters, digits, `-`, `_`, `+` or `.`", adapter.name));
    }
    if adapter.family.parse::<smtlib::release::Family>().is_err() {
        let known: Vec<&str> = smtlib::release::Family::all().map(smtlib::release::Family::name).collect();
        return Err(format!("family `{}` is none of {}", adapter.family, known.join(", ")));
    }
    for pattern in adapter.patterns() {
        pattern.check().map_err(|error| error.to_string())?;
    }
    if adapter.calls.is_empty() {
        return Err("there must be at least one [[call]]".into());
    }
    for call in &adapter.calls {
        ordered("call", &call.since, &call.before)?;
        if !call.arguments.iter().any(|word| word == "{options}") {
            return Err("the arguments of a [[call]] must contain the word \"{options}\"".into());
        }
        for word in call.all_words() {
            check_placeholders(word)?;
        }
    }
    for package in &adapter.packages {
        ordered("package", &package.since, &package.before)?;
        if package.run == Way::Python && package.driver.is_none() {
            return Err(format!("package `{}` runs in Python and needs a `driver`", package.name));
        }
        if package.run != Way::Python && package.program.is_none() {
            return Err(format!("package `{}` needs `program`, the member that is run", package.name));
        }
        if package.registry == Registry::Debian && package.carries.is_empty() {
            return Err(format!(
                "package `{}` of a distribution needs `carries`, the releases it holds",
                package.name
            ));
        }
        if !adapter.calls.iter().any(|call| call.way.is_none_or(|way| way == package.run)) {
            return Err(format!("no [[call]] covers the way package `{}` runs", package.name));
        }
    }
    if let Some(identify) = &adapter.identify
        && !identify
            .output
            .check()
            .map_err(|error| error.to_string())?
            .capture_names()
            .any(|name| name == Some("version"))
    {
        return Err("identify.output needs a group (?P<version>...)".into());
    }
    for theory in &adapter.theories {
        ordered("theory", &theory.since, &theory.before)?;
        if let Some(probe) = &theory.probe {
            let mut store = smtlib::Store::new();
            smtlib::parse(&mut store, probe.as_bytes(), smtlib::Mode::Tolerant)
                .map_err(|error| format!("the probe of {}: {error}", theory.names.join(", ")))?;
        }
    }
    for rule in &adapter.forms {
        ordered("form", &rule.since, &rule.before)?;
        let known = smtlib::logic::Form::ALL.map(smtlib::logic::Form::name);
        if let Some(unknown) = rule.refused.iter().find(|name| !known.contains(&name.as_str())) {
            return Err(format!("form `{unknown}` is none of {}", known.join(", ")));
        }
    }
    for message in &adapter.messages {
        ordered("message", &message.since, &message.before)?;
    }
    let rules = &adapter.options;
    let needs_arguments = !matches!(rules.listing, Listing::None | Listing::Cvc5Module);
    if needs_arguments && rules.arguments.is_empty() {
        return Err("options.arguments must say how to list the options".into());
    }
    if rules.listing == Listing::Z3Parameters && rules.syntax != OptionSyntax::Assignment {
        return Err("options listed as z3-parameters are written as `syntax = \"assignment\"`".into());
    }
    Ok(())
}

fn ordered(
    what: &str,
    since: &Option<crate::version::Version>,
    before: &Option<crate::version::Version>,
) -> Result<(), String> {
    match (since, before) {
        (Some(since), Some(before)) if since >= before => {
            Err(format!("a [[{what}]] covers no release: since {since}, before {before}"))
        }
        _ => Ok(()),
    }
}

fn check_placeholders(word: &str) -> Result<(), String> {
    let mut rest = word;
    while let Some(start) = rest.find('{') {
        let Some(length) = rest[start..].find('}') else {
            return Ok(());
        };
        let placeholder = &rest[start..=start + length];
        if !PLACEHOLDERS.contains(&placeholder) {
            return Err(format!("`{placeholder}` in `{word}` is none of {}", PLACEHOLDERS.join(", ")));
        }
        rest = &rest[start + length + 1..];
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    const MINIMAL: &str = "name = \"mine\"\ntitle = \"Mine\"\nfamily = \"other\"\n[[call]]\narguments = [\"{options}\", \"{file}\"]\n";

    fn refused(text: &str) -> String {
        read(text, Path::new("mine.toml")).expect_err("refused").to_string()
    }

    #[test]
    fn every_built_in_adapter_is_well_formed_and_named_like_its_file() {
        let adapters = Adapters::built_in();
        for message in adapters.common_messages() {
            message.pattern.check().expect("a pattern");
        }
        for (file, text) in BUILT_IN {
            if let Err(error) = read(text, Path::new(file)) {
                panic!("{error}");
            }
            let adapter = adapters.get(file).unwrap_or_else(|| panic!("{file} is not named like its file"));
            assert!(!adapter.theories_of(None).is_empty(), "{file} has no theory");
            for rule in adapter.options.exclude.iter().chain(&adapter.options.unfair) {
                assert!(rule.why.len() > 10, "{file} excludes {} without a reason", rule.pattern.source());
            }
        }
        assert!(!adapters.common_messages().is_empty());
        assert!(regex::RegexSet::new(adapters.file_options()).is_ok());
    }

    #[test]
    fn executables_are_recognised_by_their_usual_names() {
        let adapters = Adapters::built_in();
        let name = |file| adapters.by_executable(file).map(|adapter| adapter.name.as_str());
        assert_eq!(name("z3"), Some("z3"));
        assert_eq!(name("z3-4.8.7"), Some("z3"));
        assert_eq!(name("yices-smt2"), Some("yices"));
        assert_eq!(name("z3str"), None);
    }

    #[test]
    fn a_file_of_the_user_replaces_a_built_in_one() {
        let directory = tempfile::tempdir().expect("a directory");
        let path = directory.path().join("z3.toml");
        std::fs::write(&path, MINIMAL.replace("mine", "z3")).expect("written");
        let mut adapters = Adapters::built_in();
        adapters.add_file(&path).expect("usable");
        assert_eq!(adapters.get("z3").map(|adapter| adapter.title.as_str()), Some("Mine"));
    }

    #[test]
    fn mistakes_in_a_file_are_named() {
        assert!(read(MINIMAL, Path::new("mine.toml")).is_ok());
        assert!(refused(&MINIMAL.replace("title", "titel")).contains("titel"));
        assert!(refused(&MINIMAL.replace("{file}", "{flie}")).contains("{flie}"));
        assert!(refused(&MINIMAL.replace("\"{options}\", ", "")).contains("{options}"));
        assert!(refused(&format!("{MINIMAL}since = \"2.0\"\nbefore = \"1.0\"\n")).contains("no release"));
        assert!(
            refused(&format!("{MINIMAL}[[message]]\nmeans = \"rejected\"\npattern = '('\n"))
                .contains("unclosed")
        );
        assert!(refused(&MINIMAL.replace("other", "z4")).contains("z4"));
        assert!(refused("name = ").contains("mine.toml"));
    }

    #[test]
    fn theories_and_packages_depend_on_the_release() {
        let adapters = Adapters::built_in();
        let cvc5 = adapters.get("cvc5").expect("cvc5");
        let at = |text: &str| text.parse().expect("a version");
        assert!(!cvc5.theories_of(Some(&at("1.0.3"))).contains(&"finite_fields"));
        assert!(cvc5.theories_of(None).contains(&"finite_fields"));
        assert_eq!(cvc5.package_for(&at("1.4.2")).map(|package| package.run), Some(Way::Cvc5Host));
        assert_eq!(cvc5.package_for(&at("1.0.9")).map(|package| package.run), Some(Way::Python));
        assert_eq!(cvc5.package_for(&at("1.0.3")).map(|package| package.registry), Some(Registry::Debian));
        assert!(cvc5.package_for(&at("1.0.8")).is_none());
    }
}
