//! The options of a solver, read from the solver itself, and which of them are fair to set.
//!
//! Developers take reports only for options they stand behind. What is not fair game (and why) is in the adapter file;
//! the names, types and defaults come from the release at hand and are remembered per release.
//!
//! | file | what is in it |
//! | --- | --- |
//! | `z3.rs` | Z3's parameter listing |
//! | `cvc.rs` | the CVC line: `--help` texts |
//! | `module.rs` | cvc5's and Bitwuzla's own option information through their Python modules |
//! | `help.rs` | usual `--help` texts |
//! | `fair.rs` | choosing a random fair set |

mod cvc;
mod fair;
mod help;
mod module;
mod z3;

pub(crate) use fair::below;
pub use fair::{Objections, OptionRules};
use std::ffi::OsString;
use std::time::Duration;

use serde::{Deserialize, Serialize};
use smtlib::Setting;

use crate::adapter::{Listing, OptionSyntax, covers};
use crate::install::contained::Contained;
use crate::install::{Home, How, Installed};
use crate::launch::LaunchError;
use crate::solver::Solver;

/// Longest time for one listing; through Python it imports a large module first.
const PATIENCE: Duration = Duration::from_secs(30);

/// Raised whenever the reading of listings changes, so that what older versions of this program remembered is not used.
const READING: u32 = 2;

/// The options of one release.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct OptionTable {
    /// The release they belong to.
    pub solver: String,
    /// In the solver's own order.
    pub options: Vec<SolverOption>,
}

/// An option.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SolverOption {
    /// Its name, as the command line takes it, without dashes.
    pub name: String,
    /// Its values.
    #[serde(flatten)]
    pub kind: OptionKind,
    /// The value without setting it, where told.
    pub default: Option<String>,
    /// The developers' category (cvc5: common, regular, expert; Z3: the module).
    pub category: String,
    /// Its description, where told.
    pub description: String,
    /// Why no test case may set it, if none may: a run with it would say something else.
    pub excluded: Option<String>,
    /// Why its developers take no reports about it, if they do not: it is no fair game.
    #[serde(default)]
    pub unfair: Option<String>,
}

impl SolverOption {
    /// May test cases set it, and do its developers take reports about it?
    pub fn is_fair(&self) -> bool {
        self.excluded.is_none() && self.unfair.is_none()
    }
}

/// The values of an option.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "kebab-case")]
pub enum OptionKind {
    /// True or false.
    Bool,
    /// An integer.
    Integer {
        /// Smallest legal value.
        minimum: Option<i64>,
        /// Largest legal value.
        maximum: Option<i64>,
    },
    /// A number with a point.
    Real,
    /// One of these.
    Choice {
        /// The legal values.
        values: Vec<String>,
    },
    /// Anything else: a file name, an expression.
    Text,
}

/// Options that cannot be read.
#[derive(Debug, thiserror::Error)]
pub enum OptionsError {
    /// The adapter knows no way.
    #[error("{0} does not list its options in a form Osprey reads")]
    NoListing(String),
    /// The solver could not be started.
    #[error("{solver} cannot be started to list its options: {source}")]
    Start {
        /// The solver.
        solver: String,
        /// Why.
        source: LaunchError,
    },
    /// Its listing is not what was expected.
    #[error("the option listing of {solver} could not be read: {said}")]
    Unreadable {
        /// The solver.
        solver: String,
        /// What it printed.
        said: String,
    },
}

impl Solver {
    /// The options of this release: remembered, or asked for now.
    pub fn option_table(&self, home: &Home) -> Result<OptionTable, OptionsError> {
        let name = &self.installed.name;
        let build =
            self.installed.sha256.as_deref().map(|hash| format!("-{}", &hash[..16])).unwrap_or_default();
        let place = self.version().map(|version| format!("options/{name}-{version}{build}.{READING}.json"));
        let remembered: Option<OptionTable> = place.as_ref().and_then(|place| home.recall(place));
        let mut table = match remembered {
            Some(table) => table,
            None => {
                let table = OptionTable { solver: self.name(), options: self.ask_for_options()? };
                if let Some(place) = place {
                    // Not being able to remember costs a second next time.
                    let _ = home.remember(&place, &table);
                }
                table
            }
        };
        self.apply_rules(&mut table);
        Ok(table)
    }

    fn ask_for_options(&self) -> Result<Vec<SolverOption>, OptionsError> {
        let rules = &self.adapter.options;
        let unreadable = |said: String| OptionsError::Unreadable { solver: self.name(), said };
        let failed = |source| OptionsError::Start { solver: self.name(), source };
        let mut contained = Contained::start().map_err(failed)?;
        let options = match (rules.listing, &self.installed.how) {
            (Listing::None, _) => return Err(OptionsError::NoListing(self.adapter.title.clone())),
            (Listing::Z3Parameters, _) => z3::parameters(&self.print(&mut contained, &rules.arguments)?),
            (Listing::Help, _) | (Listing::BitwuzlaModule, How::Executable { .. }) => {
                let mut options = help::options(&self.print(&mut contained, &rules.arguments)?);
                for words in &rules.more {
                    options.extend(help::options(&self.print(&mut contained, words)?));
                }
                options
            }
            (Listing::CvcHelp, _) | (Listing::Cvc5Module, How::Executable { .. }) => {
                let mut options = cvc::help(&self.print(&mut contained, &rules.arguments)?);
                cvc::ask_for_modes(&mut options, |name| {
                    self.print(&mut contained, &[format!("--{name}=help")]).unwrap_or_default()
                });
                options
            }
            (
                listing @ (Listing::Cvc5Module | Listing::BitwuzlaModule),
                How::Cvc5Host { module: wheel, interpreter, .. }
                | How::Python { module: wheel, interpreter, .. },
            ) => {
                let question =
                    if listing == Listing::Cvc5Module { module::ASK_CVC5 } else { module::ASK_BITWUZLA };
                let mut words: Vec<OsString> =
                    ["-I", "-S", "-B", "-c", question].map(OsString::from).to_vec();
                words.push(wheel.into());
                let finished = contained.ask(interpreter, &words, &[], PATIENCE).map_err(failed)?;
                module::answer(&finished.stdout).ok_or_else(|| unreadable(finished.last_words()))?
            }
        };
        if options.is_empty() {
            return Err(unreadable("no option found in it".into()));
        }
        Ok(options)
    }

    /// What the executable prints for these words.
    fn print(&self, contained: &mut Contained, words: &[String]) -> Result<String, OptionsError> {
        let Installed { how, env, .. } = &self.installed;
        let How::Executable { path } = how else {
            return Err(OptionsError::NoListing(self.adapter.title.clone()));
        };
        let words: Vec<OsString> = words.iter().map(OsString::from).collect();
        let finished = contained
            .ask(path, &words, env, PATIENCE)
            .map_err(|source| OptionsError::Start { solver: self.name(), source })?;
        Ok(finished.all())
    }

    /// The adapter's exclusions and values, applied when the table is used: they may be newer than what is remembered.
    fn apply_rules(&self, table: &mut OptionTable) {
        let rules = &self.adapter.options;
        for option in &mut table.options {
            let values = rules.values.iter().find(|rule| {
                covers(&rule.since, &rule.before, self.version()) && rule.pattern.is_match(&option.name)
            });
            if let Some(rule) = values {
                option.kind = OptionKind::Choice { values: rule.values.clone() };
            }
            let excluded = rules.exclude.iter().find(|rule| {
                covers(&rule.since, &rule.before, self.version()) && rule.pattern.is_match(&option.name)
            });
            option.excluded = match excluded {
                Some(rule) => Some(rule.why.clone()),
                None if option.kind == OptionKind::Text => Some("its values are not known".into()),
                None => None,
            };
            let closed = rules.at_most.get(&option.category) == Some(&0);
            let unfair = rules.unfair.iter().find(|rule| {
                covers(&rule.since, &rule.before, self.version()) && rule.pattern.is_match(&option.name)
            });
            option.unfair = match unfair {
                Some(rule) => Some(rule.why.clone()),
                None => closed
                    .then(|| format!("its developers take no reports about {} options", option.category)),
            };
        }
    }

    /// How an option with a value is written for this solver.
    pub fn option_word(&self, setting: &Setting) -> String {
        let Setting { option: name, value } = setting;
        match (self.adapter.options.syntax, value.as_str()) {
            (OptionSyntax::Assignment, _) => format!("{name}={value}"),
            (OptionSyntax::Dashes, "true") => format!("--{name}"),
            (OptionSyntax::Dashes, "false") => format!("--no-{name}"),
            (OptionSyntax::Dashes, _) => format!("--{name}={value}"),
        }
    }

    /// The option that a word of this solver's command line sets, if the word can be written from it again.
    pub fn setting_of(&self, word: &str) -> Option<Setting> {
        let (name, value) = match self.adapter.options.syntax {
            OptionSyntax::Assignment => word.split_once('=')?,
            OptionSyntax::Dashes => {
                let name = word.strip_prefix("--")?;
                let switch = || name.strip_prefix("no-").map_or((name, "true"), |name| (name, "false"));
                name.split_once('=').unwrap_or_else(switch)
            }
        };
        let setting = Setting::new(name, value);
        (!name.is_empty() && self.option_word(&setting) == word).then_some(setting)
    }
}

#[cfg(test)]
mod tests {
    use crate::solver::tests::solver;

    #[test]
    fn a_word_is_read_back_as_the_setting_it_was_written_from() {
        let z3 = solver("z3", None, &[]);
        let cvc5 = solver("cvc5", None, &[]);
        let read = |solver: &crate::Solver, word| solver.setting_of(word).map(|setting| setting.to_string());
        assert_eq!(read(&z3, "smt.arith.solver=6").as_deref(), Some("smt.arith.solver=6"));
        assert_eq!(read(&cvc5, "--no-a").as_deref(), Some("a=false"));
        assert_eq!(read(&cvc5, "--a").as_deref(), Some("a=true"));
        assert_eq!(read(&cvc5, "--a=3").as_deref(), Some("a=3"));
        for (solver, word) in [(&z3, "-q"), (&cvc5, "-q"), (&cvc5, "--"), (&cvc5, "--a=true"), (&cvc5, "a=1")]
        {
            assert_eq!(read(solver, word), None, "{word}");
        }
    }
}
