//! ddSMT's convention: a command gets the candidate's file as its last argument, and its exit code and output must stay.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use smtlib::{Family, Release, Version};
use solver::fast::ExecMode;
use solver::launch::{
    ATTEMPTS, Exit, INPUT, Invocation, LaunchError, Launcher, LauncherConfig, Outcome, WallChoice,
};
use solver::limits;
use solver::run::{Accounts, Configuration};

use super::{Candidate, Examination, Examiner, ModelDuty, Predicate};
use crate::error::ReduceError;

/// What of the output must stay.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Output {
    /// The exit code alone counts.
    pub ignore: bool,
    /// Standard output must contain this; its rest does not matter.
    pub stdout: Option<String>,
    /// Standard error must contain this; its rest does not matter.
    pub stderr: Option<String>,
}

/// A command of the user's with what it did on the input.
#[derive(Clone, Debug)]
pub struct Command {
    words: Vec<String>,
    directory: PathBuf,
    output: Output,
    limits: limits::Limits,
    golden: Golden,
    /// How long that took.
    took: Duration,
}

/// What the command did on the input.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Golden {
    pub exit: Exit,
    pub stdout: Vec<u8>,
    pub stderr: Vec<u8>,
}

/// The shell goes where the user is and hands the command the file.
const IN_DIRECTORY: &str = "file=$PWD/$1; cd \"$2\" || exit 127; shift 2; exec \"$@\" \"$file\"";

impl Command {
    /// Runs the command on the input: what it does there is what must stay.
    pub fn new(
        words: &[String],
        directory: &Path,
        output: Output,
        limits: limits::Limits,
        input: &[u8],
    ) -> Result<Command, ReduceError> {
        let mut command = Command {
            words: words.to_vec(),
            directory: directory.to_owned(),
            output,
            limits,
            golden: Golden { exit: Exit::Exited(0), stdout: Vec::new(), stderr: Vec::new() },
            took: Duration::ZERO,
        };
        let mut runner = Launcher::new(launcher_config())?;
        let started = Instant::now();
        let outcome = command.run(&mut runner, input, command.limits.wall)?;
        command.took = started.elapsed();
        if outcome.timed_out {
            return Err(ReduceError::TooSlow(command.limits.wall));
        }
        let found =
            |text: &Option<String>, output: &[u8]| text.as_ref().is_none_or(|text| contains(output, text));
        if let Exit::Exited(code @ (126 | 127)) = outcome.exit {
            let said = String::from_utf8_lossy(&outcome.stderr).trim().to_owned();
            let said = if said.is_empty() { format!("exit code {code}") } else { said };
            return Err(ReduceError::NotInteresting(format!("the command cannot be run: {said}")));
        }
        if !found(&command.output.stdout, &outcome.stdout) || !found(&command.output.stderr, &outcome.stderr)
        {
            return Err(ReduceError::NotInteresting("the output of the command on it does not match".into()));
        }
        command.golden = Golden { exit: outcome.exit, stdout: outcome.stdout, stderr: outcome.stderr };
        Ok(command)
    }

    /// What the command did on the input.
    pub fn golden(&self) -> &Golden {
        &self.golden
    }

    fn run(&self, runner: &mut Launcher, input: &[u8], wall: Duration) -> Result<Outcome, LaunchError> {
        let mut invocation = Invocation::new("/bin/sh", input);
        let fixed = ["-c", IN_DIRECTORY, "sh", INPUT].map(Into::into);
        invocation.args = fixed.to_vec();
        invocation.args.push(self.directory.clone().into_os_string());
        invocation.args.extend(self.words.iter().map(Into::into));
        invocation.env = std::env::vars_os().collect();
        invocation.limits = limits::Limits { wall, ..self.limits.clone() };
        invocation.mode = ExecMode::Plain;
        runner.run_retrying(&invocation, ATTEMPTS)
    }

    fn same(&self, outcome: &Outcome) -> bool {
        if outcome.timed_out || outcome.exit != self.golden.exit {
            return false;
        }
        let stream = |wanted: &Option<String>, output: &[u8], golden: &[u8]| match wanted {
            Some(text) => contains(output, text),
            None => self.output.ignore || self.matches_only() || output == golden,
        };
        stream(&self.output.stdout, &outcome.stdout, &self.golden.stdout)
            && stream(&self.output.stderr, &outcome.stderr, &self.golden.stderr)
    }

    /// As in ddSMT: a stream that nobody asked about does not count once another one is matched.
    fn matches_only(&self) -> bool {
        self.output.stdout.is_some() || self.output.stderr.is_some()
    }
}

fn contains(output: &[u8], text: &str) -> bool {
    text.is_empty() || output.windows(text.len()).any(|window| window == text.as_bytes())
}

impl Predicate for Command {
    fn examiner(&self) -> Result<Box<dyn Examiner>, ReduceError> {
        let runner = Launcher::new(launcher_config())?;
        Ok(Box::new(CommandExaminer {
            command: self.clone(),
            runner,
            wall: self.limits.wall,
            accounts: Accounts::default(),
        }))
    }

    /// Nobody tells which solver the command runs.
    fn releases(&self) -> Vec<Release> {
        let old = Version::new(4, 8, 5);
        vec![
            Release::STANDARD,
            Release::new(Family::Z3, Version::LATEST),
            Release::new(Family::Z3, old),
            Release::new(Family::Cvc5, Version::LATEST),
            Release::new(Family::Cvc4, Version::LATEST),
        ]
    }

    fn about_models(&self) -> ModelDuty {
        ModelDuty::None
    }

    fn configuration(&self) -> Option<Arc<Configuration>> {
        None
    }

    fn seen(&self) -> Option<Duration> {
        Some(self.took)
    }

    fn missing(&self) -> String {
        "the command does something else on it in another run".into()
    }
}

struct CommandExaminer {
    command: Command,
    runner: Launcher,
    wall: Duration,
    accounts: Accounts,
}

impl Examiner for CommandExaminer {
    fn examine(&mut self, candidate: &Candidate) -> Result<Examination, ReduceError> {
        let started = Instant::now();
        let outcome = self.command.run(&mut self.runner, candidate.text.as_bytes(), self.wall)?;
        self.accounts.reduction.record(&outcome);
        Ok(Examination {
            interesting: self.command.same(&outcome),
            model: None,
            false_assertion: None,
            timed_out: outcome.timed_out,
            answered: !outcome.timed_out,
            wall: started.elapsed(),
        })
    }

    fn calibrate(&mut self, patience: Duration) {
        self.wall = patience.min(self.command.limits.wall);
    }

    fn take_accounts(&mut self) -> Accounts {
        std::mem::take(&mut self.accounts)
    }
}

/// The command is the user's own program and may write where they may.
fn launcher_config() -> LauncherConfig {
    LauncherConfig { wall: WallChoice::Off, ..LauncherConfig::default() }
}
