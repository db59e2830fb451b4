//! Asking a solver something before it is used (its name, its options, a trivial script): contained like any run. What
//! claims to be a solver may hang, leave daemons behind, or write where it likes.

use std::ffi::OsString;
use std::path::Path;
use std::time::Duration;

use super::process::Finished;
use crate::launch::{ATTEMPTS, Exit, Invocation, LaunchError, Launcher, LauncherConfig, Outcome};
use crate::limits::Limits;

/// A launcher for questions.
pub(crate) struct Contained(Launcher);

impl Contained {
    pub fn start() -> Result<Self, LaunchError> {
        Ok(Contained(Launcher::new(LauncherConfig { servers: 1, ..LauncherConfig::default() })?))
    }

    /// What a program prints when called with these words.
    pub fn ask(
        &mut self,
        program: &Path,
        words: &[OsString],
        env: &[(String, String)],
        limit: Duration,
    ) -> Result<Finished, LaunchError> {
        let mut invocation = Invocation::new(program, b"");
        invocation.args = words.to_vec();
        invocation.env = env.iter().map(|(name, value)| (name.into(), value.into())).collect();
        self.run(invocation, limit)
    }

    /// One run. Runtimes such as Java's reserve more addresses than they use: memory is not limited here.
    pub fn run(&mut self, mut invocation: Invocation, limit: Duration) -> Result<Finished, LaunchError> {
        invocation.limits = Limits { memory: None, stdout: 32 << 20, stderr: 4 << 20, ..Limits::wall(limit) };
        self.0.run_retrying(&invocation, ATTEMPTS).map(finished)
    }
}

fn finished(outcome: Outcome) -> Finished {
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    Finished {
        success: outcome.exit == Exit::Exited(0) && !outcome.timed_out,
        timed_out: outcome.timed_out,
        signal: match outcome.exit {
            Exit::Signaled(signal) if !outcome.timed_out => Some(signal),
            _ => None,
        },
        stdout: text(&outcome.stdout),
        stderr: text(&outcome.stderr),
    }
}
