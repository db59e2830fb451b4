//! Running the programs around solvers (pip, dpkg): no fuzzing input, but still bounded in time and output. Solvers
//! themselves are run contained: see `contained.rs`.

use std::ffi::OsStr;
use std::io::{self, Read};
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

/// More than any listing of options, less than what would hurt.
const OUTPUT_LIMIT: u64 = 32 << 20;

/// What a program printed and how it ended.
#[derive(Debug)]
pub(crate) struct Finished {
    /// Exit code 0.
    pub success: bool,
    /// Killed at the time limit.
    pub timed_out: bool,
    /// Ended by this signal, not of ours.
    pub signal: Option<i32>,
    pub stdout: String,
    pub stderr: String,
}

impl Finished {
    /// Both streams.
    pub fn all(&self) -> String {
        format!("{}\n{}", self.stdout, self.stderr)
    }

    /// The last lines a user would want to see.
    pub fn last_words(&self) -> String {
        let text = if self.stderr.trim().is_empty() { &self.stdout } else { &self.stderr };
        let lines: Vec<&str> = text.lines().filter(|line| !line.trim().is_empty()).collect();
        lines[lines.len().saturating_sub(4)..].join("\n")
    }
}

/// A command with nothing on standard input.
pub(crate) fn command(program: impl AsRef<OsStr>) -> Command {
    let mut command = Command::new(program);
    command.stdin(Stdio::null());
    command
}

/// Runs to the end or to the limit; at the limit the whole process group is killed.
pub(crate) fn run(command: &mut Command, limit: Duration) -> io::Result<Finished> {
    let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).process_group(0).spawn()?;
    let group = child.id() as libc::pid_t;
    let stdout = child.stdout.take().map(read_in_background);
    let stderr = child.stderr.take().map(read_in_background);
    let deadline = Instant::now() + limit;
    let mut pause = Duration::from_millis(1);
    let mut timed_out = false;
    let status = loop {
        if let Some(status) = child.try_wait()? {
            break status;
        }
        if Instant::now() >= deadline {
            timed_out = true;
            // SAFETY: kill has no memory effects; the group was created for this child, which has not been reaped yet.
            unsafe { libc::kill(-group, libc::SIGKILL) };
            break child.wait()?;
        }
        std::thread::sleep(pause);
        pause = (pause * 2).min(Duration::from_millis(50));
    };
    let collect = |reader: Option<std::thread::JoinHandle<Vec<u8>>>| {
        let bytes = reader.and_then(|reader| reader.join().ok()).unwrap_or_default();
        String::from_utf8_lossy(&bytes).into_owned()
    };
    Ok(Finished {
        success: status.success() && !timed_out,
        timed_out,
        signal: status.signal().filter(|_| !timed_out),
        stdout: collect(stdout),
        stderr: collect(stderr),
    })
}

fn read_in_background(stream: impl Read + Send + 'static) -> std::thread::JoinHandle<Vec<u8>> {
    std::thread::spawn(move || {
        let mut bytes = Vec::new();
        // What was read before an error is still worth having.
        let _ = stream.take(OUTPUT_LIMIT).read_to_end(&mut bytes);
        bytes
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_program_that_hangs_is_killed_with_its_children() {
        let finished =
            run(command("sh").args(["-c", "echo started; sleep 600 & wait"]), Duration::from_millis(200))
                .expect("sh runs");
        assert!(finished.timed_out && !finished.success);
        assert_eq!(finished.stdout, "started\n");
    }
}
