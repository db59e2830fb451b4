//! Other fuzzers as makers of mutants: they get a program in the place of the solver that keeps every script.

use std::io;
use std::os::unix::fs::PermissionsExt as _;
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use crate::error::BenchError;

/// A fuzzer that is compared with our engines: `name=command`, in which `{seed}` stands for the file it starts from,
/// `{count}` for the number of mutants, `{solver}` for a program that keeps its scripts, and `{out}` for a folder of
/// its own.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mutator {
    pub name: String,
    pub command: String,
}

impl std::str::FromStr for Mutator {
    type Err = String;

    fn from_str(text: &str) -> Result<Mutator, String> {
        let example = "for example 'yinyang-opfuzz=opfuzz -i {count} -m 1 -s {out} -b {out} -l {out} \"{solver};/bin/true\" {seed}'";
        let Some((name, command)) = text.split_once('=') else {
            return Err(format!("'{text}' is not NAME=COMMAND, {example}"));
        };
        for needed in ["{seed}", "{solver}"] {
            if !command.contains(needed) {
                return Err(format!("the command of '{name}' does not contain {needed}, {example}"));
            }
        }
        Ok(Mutator { name: name.to_owned(), command: command.to_owned() })
    }
}

/// How often a running peer is looked at.
const TICK: Duration = Duration::from_millis(10);

impl Mutator {
    /// The mutants it makes of a file, in order.
    pub fn mutants(
        &self,
        seed: &str,
        count: u64,
        time: Duration,
        stopped: &dyn Fn() -> bool,
    ) -> Result<Vec<String>, BenchError> {
        let scratch = Scratch::new()?;
        let at = |name: &str| scratch.0.join(name);
        let (kept, out) = (at("kept"), at("out"));
        let failed = |source| BenchError::Write { path: scratch.0.clone(), source };
        std::fs::create_dir(&kept).and_then(|()| std::fs::create_dir(&out)).map_err(failed)?;
        std::fs::write(at("seed.smt2"), seed).map_err(failed)?;
        let solver = at("solver");
        // The script is the last word, as for every solver; its time of arrival is its name.
        let keep = format!(
            "#!/bin/sh\nfor last; do :; done\ncp \"$last\" '{}'/$(date +%s%N).smt2\n",
            kept.display()
        );
        std::fs::write(&solver, keep).map_err(failed)?;
        std::fs::set_permissions(&solver, std::fs::Permissions::from_mode(0o755)).map_err(failed)?;
        let command = self
            .command
            .replace("{seed}", &quoted(&at("seed.smt2")))
            .replace("{count}", &count.to_string())
            .replace("{solver}", &quoted(&solver))
            .replace("{out}", &quoted(&out));
        let mut child = Command::new("sh")
            .arg("-c")
            .arg(format!("exec {command}"))
            .current_dir(&scratch.0)
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .process_group(0)
            .spawn()
            .map_err(failed)?;
        let began = Instant::now();
        while child.try_wait().map_err(failed)?.is_none() {
            if began.elapsed() >= time || stopped() {
                // SAFETY: the group is the child's own, and the child has not been waited for.
                unsafe { libc::kill(-(child.id() as libc::pid_t), libc::SIGKILL) };
                let _ = child.wait();
                break;
            }
            std::thread::sleep(TICK);
        }
        let mut files: Vec<PathBuf> = std::fs::read_dir(&kept)
            .and_then(|entries| {
                entries.map(|entry| entry.map(|entry| entry.path())).collect::<io::Result<_>>()
            })
            .map_err(failed)?;
        files.sort();
        Ok(files.iter().filter_map(|file| std::fs::read_to_string(file).ok()).collect())
    }
}

/// A path as a shell reads it back. A plain one stays as it is, so that it can stand within quotes of the user's.
fn quoted(path: &Path) -> String {
    let text = path.display().to_string();
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_.,/+@".contains(c);
    if text.chars().all(plain) { text } else { format!("'{}'", text.replace('\'', r"'\''")) }
}

/// A folder of our own below the system's temporary one, removed with its contents.
pub(crate) struct Scratch(pub PathBuf);

impl Scratch {
    pub fn new() -> Result<Scratch, BenchError> {
        use std::sync::atomic::{AtomicU32, Ordering};
        static NUMBER: AtomicU32 = AtomicU32::new(0);
        let number = NUMBER.fetch_add(1, Ordering::Relaxed);
        let path = std::env::temp_dir().join(format!("osprey-bench-{}-{number}", std::process::id()));
        std::fs::create_dir(&path).map_err(|source| BenchError::Write { path: path.clone(), source })?;
        Ok(Scratch(path))
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        // What is left is in the system's temporary folder, which is emptied anyway.
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_peer_must_name_the_solver_and_the_seed() {
        assert!("opfuzz={solver} {seed}".parse::<Mutator>().is_ok());
        assert!("opfuzz={solver}".parse::<Mutator>().is_err());
        assert!("{solver} {seed}".parse::<Mutator>().is_err());
    }

    #[test]
    fn every_script_that_a_peer_hands_to_its_solver_is_kept_in_order() {
        // A fuzzer in two lines: the seed, then the seed twice.
        let peer: Mutator = "twice=sh -c '$1 $0; cat $0 $0 > {out}/b; $1 -x {out}/b' {seed} {solver}"
            .parse()
            .expect("a peer");
        let mutants = peer.mutants("(check-sat)\n", 9, Duration::from_secs(60), &|| false).expect("mutants");
        assert_eq!(mutants, ["(check-sat)\n", "(check-sat)\n(check-sat)\n"]);
    }
}
