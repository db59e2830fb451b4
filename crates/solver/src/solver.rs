//! A solver ready to run: an installed release, its adapter, and the options the user wrote.

use std::ffi::OsString;
use std::path::PathBuf;
use std::sync::Arc;

use smtlib::release::{Family, Release};

use crate::adapter::{Adapter, Message, RunRequest};
use crate::answer::Wordings;
use crate::fast::ExecMode;
use crate::host;
use crate::install::{How, InstallError, Installed, Source, Stamps};
use crate::launch::{INPUT, Invocation};
use crate::options::OptionRules;
use crate::screen::Screen;
use crate::version::Version;

/// A solver ready to run.
#[derive(Debug, Clone)]
pub struct Solver {
    /// The release.
    pub installed: Installed,
    /// What is known about it.
    pub adapter: Arc<Adapter>,
    /// What it may print beside answers, and what that means.
    pub wordings: Arc<Wordings>,
    /// The user's words, in front of those of a test case.
    pub options: Vec<String>,
    /// What it must not be asked to do.
    pub screen: Arc<Screen>,
    /// Its files as they were when it was taken up.
    pub stamps: Stamps,
    /// What its developers' rules say about each of its options, where those have been read.
    pub rules: Option<Arc<OptionRules>>,
    /// Theories that its release has and this build has not, where that has been asked.
    pub built_without: Vec<String>,
}

/// A command line: program, words and the variables it needs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CommandLine {
    /// The program.
    pub program: PathBuf,
    /// Its words.
    pub arguments: Vec<OsString>,
    /// Its variables.
    pub env: Vec<(String, String)>,
}

impl Solver {
    /// Puts the parts together. `common` are wordings that any program may print.
    pub fn new(
        installed: Installed,
        adapter: Arc<Adapter>,
        common: &[Message],
        options: Vec<String>,
    ) -> Self {
        let wordings = Arc::new(Wordings::new(&adapter, installed.version.as_ref(), common));
        let stamps = Stamps::of(&installed);
        let screen = Screen::built_in();
        let built_without = Vec::new();
        Solver { installed, adapter, wordings, options, screen, stamps, rules: None, built_without }
    }

    /// The release, where known.
    pub fn version(&self) -> Option<&Version> {
        self.installed.version.as_ref()
    }

    /// `z3@4.8.7` for a release that Osprey installed; the path of any other program, since its version says little about
    /// it. Without options.
    pub fn name(&self) -> String {
        match (&self.installed.version, &self.installed.how) {
            (_, How::Executable { path }) if self.installed.origin != Source::Installed => {
                path.display().to_string()
            }
            (Some(version), _) => format!("{}@{version}", self.installed.name),
            (None, How::Executable { path }) => path.display().to_string(),
            (None, _) => self.installed.name.clone(),
        }
    }

    /// What a user reads: `Z3 4.8.7`, with the path of a program that Osprey did not install.
    pub fn title(&self) -> String {
        let mut title = self.adapter.title.clone();
        if let Some(version) = self.version() {
            title.push_str(&format!(" {version}"));
        }
        if let (How::Executable { path }, false) =
            (&self.installed.how, self.installed.origin == Source::Installed)
        {
            title.push_str(&format!(" ({})", path.display()));
        }
        title
    }

    /// The release as the theory table and the printer know it: the newest of its family where it is not known.
    pub fn release(&self) -> Release {
        let family = self.adapter.family.parse().unwrap_or(Family::Other);
        // A packaging revision does not change the language.
        Release::new(family, self.version().map_or(Version::LATEST, |version| version.without_post()))
    }

    /// The line of releases it belongs to: CVC4 is cvc5's past, Boolector is Bitwuzla's. Solvers of one line share code, and
    /// so they may share a bug.
    pub fn lineage(&self) -> Family {
        match self.release().family {
            Family::Cvc4 => Family::Cvc5,
            Family::Boolector => Family::Bitwuzla,
            family => family,
        }
    }

    /// Names of the theories this release has, without those that this build is known to lack.
    pub fn theories(&self) -> Vec<&str> {
        let mut theories = self.adapter.theories_of(self.version());
        theories.retain(|name| !self.built_without.iter().any(|lacked| lacked == name));
        theories
    }

    /// Faster ways to run it, best first.
    pub fn fast_modes(&self) -> impl Iterator<Item = ExecMode> {
        self.adapter.fast_modes(self.version())
    }

    /// The command line for any script at `file`.
    pub fn line(&self, request: &RunRequest, file: &str) -> Result<CommandLine, InstallError> {
        self.line_for(request, file, None)
    }

    fn line_for(
        &self,
        request: &RunRequest,
        file: &str,
        script: Option<&[u8]>,
    ) -> Result<CommandLine, InstallError> {
        let launcher = |error: crate::launch::LaunchError| InstallError::Launcher(error.to_string());
        let (program, mut arguments) = match &self.installed.how {
            How::Executable { path } => (path.clone(), Vec::new()),
            How::Cvc5Host { libraries, .. } => host::command(libraries).map_err(launcher)?,
            How::Python { interpreter, module, script, .. } => {
                (interpreter.clone(), host::python::arguments(script, module))
            }
        };
        arguments.extend(self.words(request, file, script).into_iter().map(OsString::from));
        Ok(CommandLine { program, arguments, env: self.installed.env.clone() })
    }

    /// Leaves out options that touch files, and says which: for options that somebody else has written into a file.
    pub fn leave_out_file_options(&mut self) -> Vec<String> {
        let screen = Arc::clone(&self.screen);
        self.options.extract_if(.., |word| screen.refuses_word(word)).collect()
    }

    /// One run for the launcher, with default limits and a plain start; change those fields as wanted. What would touch
    /// files is taken out of the script: see [`Screen`].
    pub fn invocation<'a>(
        &self,
        script: &'a [u8],
        request: &RunRequest,
    ) -> Result<Invocation<'a>, InstallError> {
        let line = self.line_for(request, INPUT, Some(script))?;
        let mut invocation = Invocation::new(line.program, script);
        invocation.input = self.screen.for_solver(script);
        invocation.args = line.arguments;
        invocation.env = line.env.into_iter().map(|(name, value)| (name.into(), value.into())).collect();
        invocation.stdin = !self.reads_file();
        Ok(invocation)
    }

    /// The command line as its developers would type it: the solver's own name and words, nothing of ours. A script that is
    /// not known may be any.
    pub fn shown(&self, request: &RunRequest, file: &str, script: Option<&[u8]>) -> String {
        let program = match &self.installed.how {
            How::Executable { path } => {
                path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default()
            }
            _ => self.installed.name.clone(),
        };
        let mut words = vec![program];
        words.extend(self.words(request, file, script));
        words.iter().map(|word| quoted(word)).collect::<Vec<_>>().join(" ")
    }

    /// The words after the program; some depend on the script, if that is known.
    pub fn words(&self, request: &RunRequest, file: &str, script: Option<&[u8]>) -> Vec<String> {
        let settings = request.settings.iter().filter(|setting| !self.screen.refuses(setting));
        let settings = settings.map(|setting| self.option_word(setting));
        let mut options: Vec<String> = self.options.iter().cloned().chain(settings).collect();
        match self.adapter.call_for(self.version(), self.installed.how.way()) {
            Some(call) => call.words(request, &options, file, script),
            None => {
                options.push(file.to_string());
                options
            }
        }
    }

    /// Whether the script is given as a file and not on standard input.
    pub fn reads_file(&self) -> bool {
        self.adapter.call_for(self.version(), self.installed.how.way()).is_none_or(|call| call.reads_file())
    }
}

/// A word as a shell reads it back.
pub fn quoted(word: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_=+.,:/@%".contains(c);
    if !word.is_empty() && word.chars().all(plain) {
        return word.to_string();
    }
    format!("'{}'", word.replace('\'', r"'\''"))
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use crate::adapter::Adapters;

    /// A release that nobody runs.
    pub(crate) fn solver(name: &str, version: Option<&str>, options: &[&str]) -> Solver {
        let adapters = Adapters::built_in();
        let installed = Installed {
            name: name.into(),
            version: version.map(|version| version.parse().expect("a version")),
            how: How::Executable { path: format!("/opt/{name}/bin/{name}").into() },
            env: Vec::new(),
            origin: Source::Installed,
            sha256: None,
        };
        let adapter = Arc::new(adapters.get(name).expect("built in").clone());
        Solver::new(installed, adapter, &[], options.iter().map(ToString::to_string).collect())
    }

    #[test]
    fn a_release_is_known_to_the_theory_table() {
        let release = |name, version| solver(name, version, &[]).release().to_string();
        assert_eq!(release("z3", Some("4.8.7.0")), "z3@4.8.7");
        assert_eq!(release("z3", Some("4.5.1.post2")), "z3@4.5.1");
        assert_eq!(release("cvc5", None), "cvc5@latest");
        assert_eq!(release("command", None), "other@latest");
    }

    #[test]
    fn the_shown_command_line_can_be_pasted_into_a_shell() {
        let solver = solver("z3", Some("4.8.7"), &["smt.qi.cost=(+ weight 1)"]);
        let shown = solver.shown(&RunRequest { models: true, ..RunRequest::default() }, "it's.smt2", None);
        assert_eq!(shown, r"z3 -smt2 model=true 'smt.qi.cost=(+ weight 1)' 'it'\''s.smt2'");
    }

    #[test]
    fn cvc5_gets_its_experimental_arrays_only_where_the_script_has_some() {
        let solver = solver("cvc5", Some("1.4.2"), &[]);
        let broad = RunRequest { broad: true, ..RunRequest::default() };
        let gets = |script: &[u8]| {
            let arguments = solver.invocation(script, &broad).expect("an invocation").args;
            assert!(arguments.contains(&OsString::from("--fp-exp")), "{arguments:?}");
            let ran = arguments.contains(&OsString::from("--arrays-exp"));
            assert_eq!(solver.shown(&broad, "a.smt2", Some(script)).contains("--arrays-exp"), ran);
            ran
        };
        assert!(
            gets(b"(assert (= a ((as const (Array Int Int)) 0)))") && gets(b"(assert (eqrange a b 0 3))")
        );
        assert!(!gets(b"(declare-const s (Set Int))(assert (> (set.card s) 2))(check-sat)"));
    }

    #[test]
    fn a_run_names_the_input_as_the_launcher_does() {
        let invocation_of = solver("z3", Some("4.8.7"), &[]);
        let invocation =
            invocation_of.invocation(b"(check-sat)", &RunRequest::default()).expect("an invocation");
        assert_eq!(invocation.args, [OsString::from("-smt2"), OsString::from(INPUT)]);
        assert!(!invocation.stdin);
    }
}
