//! After a thousand runs of misbehaving solvers no process, file, descriptor or shared memory is left; nor after the death of the
//! fuzzer or of the launcher. One test per process: it counts what the whole process has open.

#[path = "hostile/common.rs"]
mod common;

use std::collections::BTreeSet;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use common::{FAST, Hostile, config, processes};
use solver::fast::ExecMode;
use solver::launch::{Invocation, LaunchError, Launcher, WallChoice};

/// Ways that end by themselves, and ways that must be killed at the wall-clock limit.
const QUICK: [&str; 20] = [
    "fork",
    "daemon",
    "map",
    "allocate",
    "print",
    "complain",
    "binary",
    "nothing",
    "segv",
    "abort",
    "write",
    "write-without-end",
    "lock-directory",
    "remove-directory",
    "stdin",
    "exit",
    "environment",
    "sockets",
    "shared-memory",
    "limit-parent",
];
const SLOW: [&str; 5] = ["hang", "ignore-sigterm", "daemon-and-hang", "late", "early-and-late"];
/// Ways that end or stop the launcher where no wall keeps them from it.
const DEADLY: [&str; 4] = ["kill-parent", "stop-parents", "daemon-and-kill-parent", "stop-parent"];

/// Set in a process that plays the fuzzer which will be killed: where it makes its scratch directory.
const VICTIM: &str = "HOSTILE_TEST_VICTIM";

#[test]
fn a_thousand_hostile_runs_leave_nothing() {
    if let Some(program) = std::env::var_os(VICTIM) {
        return play_victim(program.into());
    }
    let hostile = Hostile::compile();
    let launchers_before = launchers();
    let descriptors_before = open_descriptors();
    let shared_before = shared_memory();
    {
        let mut walled = hostile.runner();
        let mut unwalled = hostile.runner_behind(WallChoice::Off);
        for round in 0..1000 {
            let way = match round % 100 {
                99 => DEADLY[round / 100 % DEADLY.len()],
                at if at % 10 == 9 => SLOW[round / 10 % SLOW.len()],
                _ => QUICK[round % QUICK.len()],
            };
            let mut invocation = hostile.invocation(way);
            invocation.mode = if round / 7 % 2 == 0 { ExecMode::Plain } else { FAST };
            // Enough to start with, and quickly used up.
            invocation.limits.memory = Some(128 << 20);
            invocation.limits.file_size = 1 << 20;
            invocation.limits.stdout = 1 << 18;
            invocation.limits.stderr = 1 << 18;
            let endless = SLOW.contains(&way) || DEADLY.contains(&way);
            invocation.limits.wall = Duration::from_millis(if endless { 60 } else { 20_000 });
            // With signals open a launcher may die, and nothing else.
            if DEADLY.contains(&way) {
                match unwalled.run(&invocation) {
                    Ok(_) | Err(LaunchError::LauncherDied) => {}
                    Err(error) => panic!("{way}: {error}"),
                }
            }
            match walled.run(&invocation) {
                Ok(_) => {}
                Err(LaunchError::LauncherDied) if !walled.wall().signals => {
                    assert!(DEADLY.contains(&way), "{way}");
                }
                Err(error) => panic!("{way}: {error}"),
            }
        }
        assert!(hostile.processes().len() <= 16, "no more than the fork servers are alive between runs");
    }
    assert_eq!(hostile.processes(), BTreeSet::new());
    assert_eq!(launchers(), launchers_before);
    assert_eq!(hostile.scratch_entries(), 0);
    assert_eq!(open_descriptors(), descriptors_before);
    assert_eq!(shared_memory(), shared_before);
    assert_eq!(children(std::process::id()), Vec::<u32>::new());

    a_killed_fuzzer_leaves_nothing(&hostile);
    a_killed_guard_leaves_nothing(&hostile);
}

/// The children of a process.
fn children(parent: u32) -> Vec<u32> {
    std::fs::read_dir("/proc")
        .expect("proc")
        .flatten()
        .filter_map(|entry| {
            let pid = entry.file_name().to_str()?.parse().ok()?;
            let stat = std::fs::read_to_string(entry.path().join("stat")).ok()?;
            let after = stat.rsplit_once(')')?.1;
            (after.split_ascii_whitespace().nth(1)?.parse() == Ok(parent)).then_some(pid)
        })
        .collect()
}

/// Shared memory, queues and semaphores of the whole machine that hostile solvers could have made.
fn shared_memory() -> Vec<String> {
    let of_the_kernel = ["shm", "msg", "sem"].into_iter().flat_map(|kind| {
        let table = std::fs::read_to_string(format!("/proc/sysvipc/{kind}")).unwrap_or_default();
        table.lines().filter(|line| line.contains("85394711")).map(str::to_owned).collect::<Vec<_>>()
    });
    let named = std::path::Path::new("/dev/shm/osprey-hostile-test");
    of_the_kernel.chain(named.exists().then(|| named.display().to_string())).collect()
}

fn open_descriptors() -> usize {
    std::fs::read_dir("/proc/self/fd").expect("proc").count()
}

fn launchers() -> BTreeSet<u32> {
    let launcher = std::fs::canonicalize(env!("CARGO_BIN_EXE_osprey-launcher")).expect("there");
    processes().into_iter().filter(|(_, program)| *program == launcher).map(|(pid, _)| pid).collect()
}

/// A fuzzer in the middle of a run of a hanging solver with a daemon.
fn play_victim(program: std::path::PathBuf) {
    let scratch = program.with_file_name("scratch");
    let mut runner = Launcher::new(config(Some(scratch))).expect("a launcher");
    let mut invocation = Invocation::new(program, b"");
    invocation.args.insert(0, "daemon-and-hang".into());
    invocation.limits.wall = Duration::from_secs(600);
    let outcome = runner.run(&invocation);
    panic!("should have been killed, got {outcome:?}");
}

fn a_killed_fuzzer_leaves_nothing(hostile: &Hostile) {
    let mut victim = Command::new(std::env::current_exe().expect("our path"))
        .env(VICTIM, hostile.program())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .expect("the test starts again");
    eventually("the solver and its daemon run", || hostile.processes().len() >= 2);
    victim.kill().expect("killed");
    victim.wait().expect("reaped");
    eventually("no process is left", || hostile.processes().is_empty());
    eventually("no file is left", || hostile.scratch_entries() == 0);
}

fn a_killed_guard_leaves_nothing(hostile: &Hostile) {
    let mut runner = hostile.runner();
    let guard = runner.guard_pid().expect("running");
    let mut invocation = hostile.invocation("daemon-and-hang");
    invocation.limits.wall = Duration::from_secs(600);
    std::thread::scope(|scope| {
        let run = scope.spawn(|| runner.run(&invocation));
        eventually("the solver and its daemon run", || hostile.processes().len() >= 2);
        Command::new("kill").args(["-9", &guard.to_string()]).status().expect("kill runs");
        assert!(matches!(run.join().expect("no panic"), Err(LaunchError::LauncherDied)));
    });
    eventually("no process is left", || hostile.processes().is_empty());
    eventually("no file is left", || hostile.scratch_entries() == 0);
}

fn eventually(what: &str, holds: impl Fn() -> bool) {
    let patience = Instant::now() + Duration::from_secs(60);
    while !holds() {
        assert!(Instant::now() < patience, "{what}: not within a minute");
        std::thread::sleep(Duration::from_millis(5));
    }
}
