//! A solver ready to run: an installed release, its adapter, and the options the user wrote.

use std::ffi::OsString;
use std::path::PathBuf;
use std::sync::Arc;

use crate::adapter::{Adapter, Message, RunRequest};
use crate::fast::ExecMode;
use crate::host;
use crate::install::{How, InstallError, Installed};
use crate::launch::{INPUT, Invocation};
use crate::version::Version;

/// A solver ready to run.
#[derive(Debug, Clone)]
pub struct Solver {
    /// The release.
    pub installed: Installed,
    /// What is known about it.
    pub adapter: Arc<Adapter>,
    /// Wordings any program may print.
    pub common: Arc<[Message]>,
    /// The user's words, in front of those of a test case.
    pub options: Vec<String>,
}

/// A command line: program, words and the variables it needs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Line {
    /// The program.
    pub program: PathBuf,
    /// Its words.
    pub arguments: Vec<OsString>,
    /// Its variables.
    pub env: Vec<(String, String)>,
}

impl Solver {
    /// Puts the parts together.
    pub fn new(
        installed: Installed,
        adapter: Arc<Adapter>,
        common: Arc<[Message]>,
        options: Vec<String>,
    ) -> Self {
        Solver { installed, adapter, common, options }
    }

    /// The release, where known.
    pub fn version(&self) -> Option<&Version> {
        self.installed.version.as_ref()
    }

    /// `z3@4.8.7`, or the program's path where the release is unknown. Without options.
    pub fn name(&self) -> String {
        match (&self.installed.version, &self.installed.how) {
            (Some(version), _) => format!("{}@{version}", self.installed.name),
            (None, How::Executable { path }) => path.display().to_string(),
            (None, _) => self.installed.name.clone(),
        }
    }

    /// Names of the theories this release has.
    pub fn theories(&self) -> Vec<&str> {
        self.adapter.theories_of(self.version())
    }

    /// Faster ways to run it, best first.
    pub fn fast_modes(&self) -> impl Iterator<Item = ExecMode> {
        self.adapter.fast_modes(self.version())
    }

    /// The command line for a script at `file`.
    pub fn line(&self, request: &RunRequest, file: &str) -> Result<Line, InstallError> {
        let launcher = |error: crate::launch::LaunchError| InstallError::Launcher(error.to_string());
        let (program, mut arguments) = match &self.installed.how {
            How::Executable { path } => (path.clone(), Vec::new()),
            How::Cvc5Host { libraries, .. } => host::command(libraries).map_err(launcher)?,
            How::Python { interpreter, module, script, .. } => {
                (interpreter.clone(), host::python::arguments(script, module))
            }
        };
        arguments.extend(self.words(request, file).into_iter().map(OsString::from));
        Ok(Line { program, arguments, env: self.installed.env.clone() })
    }

    /// One run for the launcher, with default limits and a plain start; change those fields as wanted.
    pub fn invocation<'a>(
        &self,
        script: &'a [u8],
        request: &RunRequest,
    ) -> Result<Invocation<'a>, InstallError> {
        let line = self.line(request, INPUT)?;
        let mut invocation = Invocation::new(line.program, script);
        invocation.args = line.arguments;
        invocation.env = line.env.into_iter().map(|(name, value)| (name.into(), value.into())).collect();
        invocation.stdin = !self.reads_file();
        Ok(invocation)
    }

    /// The command line as its developers would type it: the solver's own name and words, nothing of ours.
    pub fn shown(&self, request: &RunRequest, file: &str) -> String {
        let program = match &self.installed.how {
            How::Executable { path } => {
                path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default()
            }
            _ => self.installed.name.clone(),
        };
        let mut words = vec![program];
        words.extend(self.words(request, file));
        words.iter().map(|word| quoted(word)).collect::<Vec<_>>().join(" ")
    }

    fn words(&self, request: &RunRequest, file: &str) -> Vec<String> {
        match self.adapter.call_for(self.version(), self.installed.how.way()) {
            Some(call) => call.words(request, &self.options, file),
            None => self.options.iter().chain(&request.options).cloned().chain([file.to_string()]).collect(),
        }
    }

    fn reads_file(&self) -> bool {
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
