//! Killing what a solver leaves: children, daemons in sessions of their own, and their children.
//!
//! Guard and launcher are *subreapers*: a process whose parent has died becomes their child, wherever it has hidden.

use std::fs::File;
use std::io::{self, Read, Seek};
use std::time::{Duration, Instant};

/// Finds and kills the children of this (single-threaded) process.
pub(crate) struct Reaper {
    /// The kernel's list of our children, where it has one.
    children: Option<File>,
    own: libc::pid_t,
}

impl Reaper {
    /// Makes this process a subreaper.
    pub fn new() -> io::Result<Self> {
        if unsafe { libc::prctl(libc::PR_SET_CHILD_SUBREAPER, 1 as libc::c_ulong) } != 0 {
            return Err(io::Error::last_os_error());
        }
        let own = unsafe { libc::getpid() };
        Ok(Reaper { children: File::open(format!("/proc/{own}/task/{own}/children")).ok(), own })
    }

    /// Kills and reaps every child but those in `keep`, and then their children, until none is left.
    pub fn kill_strays(&mut self, keep: &[libc::pid_t]) {
        // A program that forks faster than we kill, each child in a new session, could keep us here for ever.
        let give_up = Instant::now() + Duration::from_secs(10);
        while Instant::now() < give_up {
            if keep.is_empty() {
                match unsafe { libc::waitpid(-1, std::ptr::null_mut(), libc::WNOHANG) } {
                    -1 => return,
                    0 => {}
                    _ => continue,
                }
            }
            let strays: Vec<libc::pid_t> =
                self.children().into_iter().filter(|pid| !keep.contains(pid)).collect();
            if strays.is_empty() {
                if keep.is_empty() {
                    std::thread::sleep(Duration::from_millis(1));
                    continue;
                }
                return;
            }
            for stray in &strays {
                // A stray that leads a group takes its group along; if it leads none, this reaches nobody.
                unsafe {
                    libc::kill(-stray, libc::SIGKILL);
                    libc::kill(*stray, libc::SIGKILL);
                }
            }
            for stray in &strays {
                unsafe { libc::waitpid(*stray, std::ptr::null_mut(), libc::__WALL) };
            }
        }
    }

    fn children(&mut self) -> Vec<libc::pid_t> {
        if let Some(list) = &mut self.children {
            let mut text = String::new();
            if list.rewind().is_ok() && list.read_to_string(&mut text).is_ok() {
                return text.split_ascii_whitespace().filter_map(|pid| pid.parse().ok()).collect();
            }
        }
        children_by_search(self.own)
    }
}

/// All processes whose parent is `parent`, for kernels that keep no list of children.
fn children_by_search(parent: libc::pid_t) -> Vec<libc::pid_t> {
    let Ok(processes) = std::fs::read_dir("/proc") else { return Vec::new() };
    processes
        .flatten()
        .filter_map(|entry| {
            let pid: libc::pid_t = entry.file_name().to_str()?.parse().ok()?;
            let stat = std::fs::read(entry.path().join("stat")).ok()?;
            // pid (name) state ppid: the name may contain anything, so count from the last parenthesis.
            let after = stat.iter().rposition(|byte| *byte == b')')? + 1;
            let fields = std::str::from_utf8(&stat[after..]).ok()?;
            (fields.split_ascii_whitespace().nth(1)?.parse() == Ok(parent)).then_some(pid)
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_search_finds_a_child() {
        let mut child = std::process::Command::new("sleep").arg("60").spawn().expect("sleep starts");
        let found = children_by_search(std::process::id() as libc::pid_t);
        child.kill().expect("killed");
        child.wait().expect("reaped");
        assert!(found.contains(&(child.id() as libc::pid_t)), "{found:?}");
    }
}
