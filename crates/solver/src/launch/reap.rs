//! Killing what a solver leaves: children, daemons in sessions of their own, and their children.
//!
//! Guard and launcher are *subreapers*: a process whose parent has died becomes their child, wherever it has hidden.

use std::cell::Cell;
use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;
use std::time::{Duration, Instant};

/// What a solver has hidden may live on beside the runs of this time.
const LOOK_EVERY: Duration = Duration::from_millis(20);

/// Finds and kills the children of this (single-threaded) process.
pub(crate) struct Reaper {
    /// The kernel's list of our children, where it has one.
    children: Option<File>,
    own: libc::pid_t,
    /// When strays were looked for last.
    looked: Cell<Option<Instant>>,
}

impl Reaper {
    /// Makes this process a subreaper.
    pub fn new() -> io::Result<Self> {
        // SAFETY: this option takes an integer and touches no memory.
        if unsafe { libc::prctl(libc::PR_SET_CHILD_SUBREAPER, 1 as libc::c_ulong) } != 0 {
            return Err(io::Error::last_os_error());
        }
        // SAFETY: `getpid` always succeeds and touches no memory.
        let own = unsafe { libc::getpid() };
        Ok(Reaper {
            children: File::open(format!("/proc/{own}/task/{own}/children")).ok(),
            own,
            looked: Cell::new(None),
        })
    }

    /// The same after runs that come one after the other, of solvers whose own groups are dead already: to ask the kernel each time
    /// costs as much as much else of a run. What has hidden goes with the next look.
    pub fn kill_strays_soon(&self, keep: impl FnOnce() -> Vec<libc::pid_t>) {
        if self.looked.get().is_none_or(|looked| looked.elapsed() >= LOOK_EVERY) {
            self.kill_strays(&keep());
            self.looked.set(Some(Instant::now()));
        }
    }

    /// Kills and reaps every child but those in `keep`, and then their children, until none is left.
    pub fn kill_strays(&self, keep: &[libc::pid_t]) {
        // A program that forks faster than we kill, each child in a new session, could keep us here for ever.
        let give_up = Instant::now() + Duration::from_secs(10);
        while Instant::now() < give_up {
            if keep.is_empty() {
                // SAFETY: a null pointer means that the status is not wanted.
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
                // SAFETY: `kill` has no effect on memory, and the numbers are of children that have not been waited
                // for.
                unsafe {
                    libc::kill(-stray, libc::SIGKILL);
                    libc::kill(*stray, libc::SIGKILL);
                }
            }
            for stray in &strays {
                // SAFETY: a null pointer means that the status is not wanted.
                unsafe { libc::waitpid(*stray, std::ptr::null_mut(), libc::__WALL) };
            }
        }
    }

    fn children(&self) -> Vec<libc::pid_t> {
        self.children
            .as_ref()
            .and_then(|list| read_children(list).ok())
            .unwrap_or_else(|| children_by_search(self.own))
    }
}

/// The children of another (single-threaded) process.
pub(crate) fn children_of(parent: libc::pid_t) -> Vec<libc::pid_t> {
    File::open(format!("/proc/{parent}/task/{parent}/children"))
        .and_then(|list| read_children(&list))
        .unwrap_or_else(|_| children_by_search(parent))
}

/// Whether a process has been stopped by a signal.
pub(crate) fn is_stopped(process: libc::pid_t) -> bool {
    let stat = std::fs::read(format!("/proc/{process}/stat")).unwrap_or_default();
    // pid (name) state: the name may contain anything, so count from the last parenthesis.
    let after = stat.iter().rposition(|byte| *byte == b')').map_or(0, |at| at + 2);
    matches!(stat.get(after), Some(b'T'))
}

/// A process number and a space, generously.
const LONGEST_NUMBER: usize = 24;

/// Reads the kernel's list of children from its beginning.
fn read_children(list: &File) -> io::Result<Vec<libc::pid_t>> {
    let mut text = Vec::new();
    let mut part = [0; 1 << 10];
    loop {
        let length = list.read_at(&mut part, text.len() as u64)?;
        text.extend_from_slice(&part[..length]);
        // The kernel fills what it is given with whole numbers: where one more would have had room, there is none.
        if length < part.len() - LONGEST_NUMBER {
            break;
        }
    }
    let words = text.split(u8::is_ascii_whitespace).map(str::from_utf8);
    Ok(words.filter_map(|word| word.ok()?.parse().ok()).collect())
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

    #[test]
    fn the_children_of_another_process_are_found() {
        // The shell stays: it has something to do after its child.
        let script = "sleep 60 & wait; true";
        let mut shell = std::process::Command::new("sh").args(["-c", script]).spawn().expect("sh starts");
        let parent = shell.id() as libc::pid_t;
        let give_up = Instant::now() + Duration::from_secs(10);
        let mut found = children_of(parent);
        while found.is_empty() && Instant::now() < give_up {
            found = children_of(parent);
        }
        for child in &found {
            // SAFETY: `kill` has no effect on memory; the shell that is their parent has not been waited for.
            unsafe { libc::kill(*child, libc::SIGKILL) };
        }
        shell.wait().expect("reaped");
        assert_eq!(found.len(), 1, "{found:?}");
    }
}
