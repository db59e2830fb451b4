//! A contestant's processes: started on one core, watched by CPU time, ended at the budget.

use std::collections::BTreeMap;
use std::fs::File;
use std::io;
use std::os::unix::process::CommandExt as _;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant, SystemTime};

/// How often the CPU time of a contestant is looked at.
const TICK: Duration = Duration::from_millis(100);

/// A contestant that was asked to end gets this time on the clock before it is killed.
const GRACE: Duration = Duration::from_secs(30);

/// CPU time of a tree of processes.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Cpu {
    /// Of everything: all processes there are, with the children they have waited for.
    pub all: Duration,
    /// Of the first process alone.
    pub root: Duration,
}

/// How far a contestant was at a moment.
#[derive(Clone, Copy, Debug)]
pub struct Point {
    pub when: SystemTime,
    /// CPU time used until then.
    pub cpu: Duration,
    /// Bytes of output until then.
    pub said: u64,
}

/// How one run of a contestant went.
#[derive(Clone, Debug, Default)]
pub struct ContestantRun {
    pub cpu: Cpu,
    /// Points on the way.
    pub points: Vec<Point>,
    /// It reached its budget, instead of ending by itself.
    pub used_up: bool,
}

impl ContestantRun {
    /// The CPU time used until a moment.
    pub fn at(&self, moment: SystemTime) -> Duration {
        let next = self.points.iter().find(|point| point.when >= moment);
        next.map_or(self.cpu.all, |point| point.cpu)
    }

    /// The CPU time used until so many bytes of output were there, at most a tick too much.
    pub fn when_it_had_said(&self, bytes: u64) -> Duration {
        let next = self.points.iter().find(|point| point.said >= bytes);
        next.map_or(self.cpu.all, |point| point.cpu)
    }
}

/// Runs a shell command on one core until it ends or its CPU time is used up. Its output goes to a file.
pub fn run(
    command: &str,
    folder: &Path,
    output: &Path,
    core: Option<usize>,
    budget: Duration,
    stopped: &dyn Fn() -> bool,
) -> io::Result<ContestantRun> {
    let file = File::create(output)?;
    let mut start = Command::new("sh");
    start
        .arg("-c")
        .arg(format!("exec {command}"))
        .current_dir(folder)
        .stdin(Stdio::null())
        .stdout(file.try_clone()?)
        .stderr(file)
        .process_group(0);
    // SAFETY: between fork and exec only a system call is made, on a value of the closure's own.
    unsafe {
        start.pre_exec(move || core.map_or(Ok(()), banditfuzz::cores::pin));
    }
    let child = start.spawn()?;
    watch(child, output, budget, stopped)
}

fn watch(
    mut child: Child,
    output: &Path,
    budget: Duration,
    stopped: &dyn Fn() -> bool,
) -> io::Result<ContestantRun> {
    let root = child.id() as i32;
    let mut run = ContestantRun::default();
    let mut asked: Option<Instant> = None;
    loop {
        // First the figures, then the question whether it has ended: a process that is gone has none.
        let said = std::fs::metadata(output)?.len();
        if let Some(cpu) = cpu_of(root) {
            run.cpu = cpu;
            run.points.push(Point { when: SystemTime::now(), cpu: cpu.all, said });
        }
        if child.try_wait()?.is_some() {
            break;
        }
        match asked {
            None if run.cpu.all >= budget || stopped() => {
                run.used_up = run.cpu.all >= budget;
                // SAFETY: the process has not been waited for, so the number is still its own.
                unsafe { libc::kill(root, libc::SIGINT) };
                asked = Some(Instant::now());
            }
            Some(since) if since.elapsed() >= GRACE => {
                // SAFETY: as above; the group was made for it.
                unsafe { libc::kill(-root, libc::SIGKILL) };
                child.wait()?;
                break;
            }
            _ => {}
        }
        std::thread::sleep(TICK);
    }
    // Whatever of its group is left.
    // SAFETY: the group was made for the child; its number is not given away while members live.
    unsafe { libc::kill(-root, libc::SIGKILL) };
    Ok(run)
}

/// One process, as far as it matters here.
#[derive(Clone, Copy, Debug)]
struct Process {
    parent: i32,
    own: u64,
    with_children: u64,
}

/// The CPU time of a process and all its descendants.
fn cpu_of(root: i32) -> Option<Cpu> {
    let mut processes: BTreeMap<i32, Process> = BTreeMap::new();
    for entry in std::fs::read_dir("/proc").ok()?.flatten() {
        let Some(pid) = entry.file_name().to_str().and_then(|name| name.parse::<i32>().ok()) else {
            continue;
        };
        let read = std::fs::read_to_string(entry.path().join("stat")).ok();
        if let Some(process) = read.as_deref().and_then(parse) {
            processes.insert(pid, process);
        }
    }
    let own = processes.get(&root)?.own;
    let mut all = 0;
    for (pid, process) in &processes {
        let mut here = *pid;
        // A line of ancestors ends at the first process, or at one that has just gone.
        for _ in 0..processes.len() {
            if here == root {
                all += process.with_children;
                break;
            }
            match processes.get(&here) {
                Some(process) if process.parent > 1 => here = process.parent,
                _ => break,
            }
        }
    }
    Some(Cpu { all: ticks(all), root: ticks(own) })
}

fn parse(stat: &str) -> Option<Process> {
    // The name stands in parentheses and may hold anything, so the fields are counted from its end.
    let fields: Vec<&str> = stat[stat.rfind(')')? + 1..].split_whitespace().collect();
    let number = |place: usize| fields.get(place)?.parse::<u64>().ok();
    let own = number(11)? + number(12)?;
    Some(Process {
        parent: fields.get(1)?.parse().ok()?,
        own,
        with_children: own + number(13)? + number(14)?,
    })
}

fn ticks(count: u64) -> Duration {
    // SAFETY: sysconf only looks up a number.
    let a_second = unsafe { libc::sysconf(libc::_SC_CLK_TCK) }.max(1) as u64;
    Duration::from_millis(count * 1000 / a_second)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_with_spaces_and_parentheses_does_not_move_the_fields() {
        let stat = "12 (a) b (c)) S 7 12 12 0 -1 4194560 1 2 3 4 100 20 30 5 20 0 1 0 99 1 2";
        let process = parse(stat).expect("a process");
        assert_eq!((process.parent, process.own, process.with_children), (7, 120, 155));
    }

    #[test]
    fn a_contestant_is_ended_at_its_budget_and_its_children_count() {
        let folder = tempfile::tempdir().expect("a scratch folder");
        let output = folder.path().join("output");
        // The work is done by a child of a child.
        let busy = "sh -c 'sh -c \"while :; do :; done\"; true'";
        let run =
            run(busy, folder.path(), &output, Some(0), Duration::from_millis(300), &|| false).expect("a run");
        assert!(run.used_up);
        assert!(run.cpu.all >= Duration::from_millis(300), "{run:?}");
        assert!(run.cpu.root < run.cpu.all);
    }

    #[test]
    fn a_contestant_that_ends_by_itself_has_not_used_up_its_budget() {
        let folder = tempfile::tempdir().expect("a scratch folder");
        let output = folder.path().join("output");
        let run = run("echo done", folder.path(), &output, None, Duration::from_secs(60), &|| false)
            .expect("a run");
        assert!(!run.used_up);
        assert_eq!(std::fs::read_to_string(output).expect("its output"), "done\n");
    }
}
