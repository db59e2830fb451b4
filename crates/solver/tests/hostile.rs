//! Solvers that misbehave are contained, and what they did is told.

#[path = "hostile/common.rs"]
mod common;

use std::sync::LazyLock;
use std::time::Duration;

use common::{FAST, Hostile};
use solver::fast::ExecMode;
use solver::launch::{Exit, Invocation, LaunchError, Outcome, WallChoice};

static HOSTILE: LazyLock<Hostile> = LazyLock::new(Hostile::compile);

/// For solvers that would never end.
const SHORT: Duration = Duration::from_millis(300);
const KILLED: Exit = Exit::Signaled(9);

fn said(outcome: &Outcome) -> &str {
    std::str::from_utf8(&outcome.stdout).expect("text")
}

/// In both ways of starting: what contains a plain process must contain a job behind a fork server.
fn both(way: &str, check: impl Fn(&Outcome)) {
    both_within(Duration::from_secs(60), way, check);
}

fn both_within(wall: Duration, way: &str, check: impl Fn(&Outcome)) {
    for mode in [ExecMode::Plain, FAST] {
        let mut runner = HOSTILE.runner();
        let mut invocation = HOSTILE.invocation(way);
        invocation.mode = mode;
        invocation.limits.wall = wall;
        for _ in 0..2 {
            let outcome = runner.run(&invocation).expect("an outcome");
            assert_eq!(outcome.mode, mode, "{:?}", outcome.fallback);
            check(&outcome);
        }
    }
}

#[test]
fn a_hanging_solver_is_killed_at_the_wall_clock_limit() {
    for way in ["hang", "ignore-sigterm", "daemon-and-hang"] {
        both_within(SHORT, way, |outcome| {
            assert_eq!((outcome.exit, outcome.timed_out), (KILLED, true));
            assert!(outcome.wall_time >= SHORT);
            assert!(!outcome.out_of_memory && !outcome.cpu_exceeded && !outcome.output_truncated);
        });
    }
}

#[test]
fn what_was_said_before_the_time_out_is_kept_and_what_comes_later_is_not() {
    both_within(SHORT, "early-and-late", |outcome| {
        assert_eq!((said(outcome), outcome.timed_out), ("sat\n", true))
    });
    both_within(SHORT, "late", |outcome| assert_eq!((said(outcome), outcome.timed_out), ("", true)));
}

#[test]
fn children_and_daemons_do_not_outlive_the_run() {
    both("fork", |outcome| assert_eq!((said(outcome), outcome.exit), ("sat\n", Exit::Exited(0))));
    both("daemon", |outcome| assert_eq!((said(outcome), outcome.exit), ("unsat\n", Exit::Exited(0))));
}

#[test]
fn a_cpu_limit_is_told_from_a_time_out() {
    for mode in [ExecMode::Plain, FAST] {
        let mut invocation = HOSTILE.invocation("spin");
        invocation.mode = mode;
        invocation.limits.cpu = Some(Duration::from_millis(700));
        let outcome = HOSTILE.runner().run(&invocation).expect("an outcome");
        assert!(outcome.cpu_exceeded && !outcome.timed_out && !outcome.out_of_memory, "{outcome:?}");
    }
}

#[test]
fn memory_is_limited() {
    both("allocate", |outcome| {
        assert!(outcome.out_of_memory && !outcome.timed_out, "{outcome:?}");
        assert!(outcome.peak_memory <= 1 << 30);
    });
    both("map", |outcome| {
        let mapped: u64 = said(outcome).trim().parse().expect("a number");
        assert!((900..=1024).contains(&mapped), "{mapped} MiB");
    });
}

#[test]
fn a_flood_is_cut_and_ended() {
    for mode in [ExecMode::Plain, FAST] {
        let mut runner = HOSTILE.runner();
        for (way, expected) in [("print", (100_000, 0)), ("complain", (0, 50_000))] {
            let mut invocation = HOSTILE.invocation(way);
            invocation.mode = mode;
            invocation.limits.stdout = 100_000;
            invocation.limits.stderr = 50_000;
            for _ in 0..2 {
                let outcome = runner.run(&invocation).expect("an outcome");
                assert!(outcome.output_truncated && !outcome.timed_out && !outcome.out_of_memory);
                assert_eq!((outcome.stdout.len(), outcome.stderr.len()), expected);
                assert_eq!(outcome.exit, KILLED);
            }
        }
    }
}

#[test]
fn endings_are_told_apart() {
    both("nothing", |outcome| assert_eq!((outcome.exit, outcome.stdout.len()), (Exit::Exited(0), 0)));
    both("exit", |outcome| assert_eq!(outcome.exit, Exit::Exited(101)));
    both("segv", |outcome| assert_eq!(outcome.exit, Exit::Signaled(11)));
    both("abort", |outcome| {
        assert_eq!(outcome.exit, Exit::Signaled(6));
        assert_eq!(outcome.stderr, b"ASSERTION VIOLATION\n");
    });
    both("binary", |outcome| assert_eq!(outcome.stdout, (0..=255).collect::<Vec<u8>>()));
}

#[test]
fn one_job_behind_a_fork_server_does_not_disturb_the_next() {
    let mut runner = HOSTILE.runner();
    for way in ["unblock-output", "echo", "daemon", "echo", "print", "echo", "hang", "echo"] {
        let mut invocation = HOSTILE.invocation(way);
        invocation.mode = FAST;
        invocation.limits.stdout = 1000;
        invocation.limits.wall = if way == "hang" { SHORT } else { Duration::from_secs(60) };
        let outcome = runner.run(&invocation).expect("an outcome");
        assert_eq!(outcome.mode, FAST);
        if way == "echo" {
            assert_eq!(said(&outcome), "input.smt2: (check-sat)\n");
        }
    }
}

#[test]
fn the_solver_sees_its_input_an_empty_directory_and_little_else() {
    both("echo", |outcome| assert_eq!(said(outcome), "input.smt2: (check-sat)\n"));
    both("descriptors", |outcome| assert_eq!(said(outcome), "[0, 1, 2]\n"));
    both("environment", |outcome| {
        let names: Vec<&str> =
            said(outcome).lines().filter_map(|line| Some(line.split_once('=')?.0)).collect();
        assert!(names.contains(&"LC_ALL") && names.contains(&"TMPDIR"), "{names:?}");
        assert!(
            names.iter().all(|name| !name.starts_with("OSPREY") && !name.starts_with("CARGO")),
            "{names:?}"
        );
        assert!(!names.contains(&"LD_PRELOAD") && !names.contains(&"GLIBC_TUNABLES"), "{names:?}");
    });
}

#[test]
fn a_run_that_is_not_fast_yet_or_cannot_be_sees_no_variable_of_ours_either() {
    let names = |invocation: &Invocation| -> (Option<String>, Vec<String>) {
        let outcome = HOSTILE.runner().run(invocation).expect("an outcome");
        assert_eq!(outcome.mode, ExecMode::Plain);
        (outcome.fallback.clone(), said(&outcome).lines().map(str::to_owned).collect())
    };
    let mut invocation = HOSTILE.invocation("environment");
    let (_, plain) = names(&invocation);
    invocation.mode = ExecMode::PrefixSnapshot;
    let (fallback, first) = names(&invocation);
    assert_eq!(fallback, None);
    // The directory is another in each launcher.
    let fixed = |lines: &[String]| -> Vec<String> {
        lines.iter().filter(|line| !line.starts_with("TMPDIR=")).cloned().collect()
    };
    assert_eq!(fixed(&first), fixed(&plain));
    invocation.stdin = true;
    let (fallback, other) = names(&invocation);
    assert!(fallback.is_some());
    assert_eq!(fixed(&other), fixed(&plain));
}

#[test]
fn the_allocators_setting_of_a_run_itself_is_kept() {
    for mode in [ExecMode::Plain, FAST] {
        let mut invocation = HOSTILE.invocation("environment");
        invocation.mode = mode;
        invocation.env = vec![("GLIBC_TUNABLES".into(), "glibc.malloc.arena_max=1".into())];
        let outcome = HOSTILE.runner().run(&invocation).expect("an outcome");
        assert_eq!(outcome.mode, mode);
        assert!(said(&outcome).lines().any(|line| line == "GLIBC_TUNABLES=glibc.malloc.arena_max=1"));
    }
}

#[test]
fn variables_of_the_run_are_added() {
    let mut invocation = HOSTILE.invocation("environment");
    invocation.env = vec![("OWN".into(), "1".into()), ("LC_ALL".into(), "POSIX".into())];
    let outcome = HOSTILE.runner().run(&invocation).expect("an outcome");
    let lines: Vec<&str> = said(&outcome).lines().collect();
    assert!(
        lines.contains(&"OWN=1") && lines.contains(&"LC_ALL=POSIX") && !lines.contains(&"LC_ALL=C"),
        "{lines:?}"
    );
}

#[test]
fn a_script_on_standard_input_is_given_only_when_asked_for() {
    let mut invocation = HOSTILE.invocation("stdin");
    assert_eq!(said(&HOSTILE.runner().run(&invocation).expect("an outcome")), "0\n");
    invocation.stdin = true;
    assert_eq!(said(&HOSTILE.runner().run(&invocation).expect("an outcome")), "12\n");
}

#[test]
fn the_next_run_finds_an_empty_directory_whatever_the_last_one_did_to_it() {
    for mode in [ExecMode::Plain, FAST] {
        let mut runner = HOSTILE.runner();
        for way in ["write", "lock-directory", "remove-directory", "write-without-end", "write"] {
            let mut invocation = HOSTILE.invocation(way);
            invocation.mode = mode;
            invocation.limits.file_size = 1 << 20;
            let outcome = runner.run(&invocation).expect("an outcome");
            assert_eq!(outcome.mode, mode);
            let mut echo = HOSTILE.invocation("echo");
            echo.mode = mode;
            assert_eq!(
                said(&runner.run(&echo).expect("an outcome")),
                "input.smt2: (check-sat)\n",
                "after {way}"
            );
        }
    }
}

#[test]
fn a_solver_that_kills_the_launcher_takes_nothing_down_with_it() {
    let hostile = Hostile::compile();
    // Behind the wall it could not.
    let mut runner = hostile.runner_behind(WallChoice::Off);
    for way in ["kill-parent", "daemon-and-kill-parent", "stop-parent", "stop-parents"] {
        let mut invocation = hostile.invocation(way);
        invocation.limits.wall = SHORT;
        let lost = runner.run(&invocation).expect_err("no outcome");
        assert!(matches!(lost, LaunchError::LauncherDied), "{lost}");
        assert!(!lost.concerns_solver());
        assert_eq!(hostile.processes().len(), 0, "the guard has killed what was left");
        assert_eq!(hostile.scratch_entries(), 0, "and removed the directory");
        let outcome = runner.run(&hostile.invocation("echo")).expect("a new launcher");
        assert_eq!(outcome.exit, Exit::Exited(0));
    }
}

#[test]
fn a_job_that_kills_its_fork_server_gets_a_plain_start() {
    let mut runner = HOSTILE.runner_behind(WallChoice::Off);
    let mut invocation = HOSTILE.invocation("kill-parent");
    invocation.mode = FAST;
    // The plain start then kills the launcher itself.
    assert!(matches!(runner.run(&invocation), Err(LaunchError::LauncherDied)));
    let mut invocation = HOSTILE.invocation("echo");
    invocation.mode = FAST;
    assert_eq!(runner.run(&invocation).expect("an outcome").mode, FAST);
}

#[test]
fn a_program_that_cannot_be_executed_gets_a_clear_error() {
    let directory = tempfile::tempdir().expect("a directory");
    let mut runner = HOSTILE.runner();
    let mut error_for = |name: &str, content: Option<(&[u8], u32)>| {
        use std::os::unix::fs::PermissionsExt;
        let path = directory.path().join(name);
        if let Some((content, mode)) = content {
            std::fs::write(&path, content).expect("written");
            std::fs::set_permissions(&path, PermissionsExt::from_mode(mode)).expect("set");
        }
        let mut invocation = HOSTILE.invocation("hang");
        invocation.program = path;
        let plain = runner.run(&invocation).expect_err("cannot be run");
        invocation.mode = FAST;
        let fast = runner.run(&invocation).expect_err("cannot be run");
        assert_eq!(plain.to_string(), fast.to_string());
        assert!(plain.concerns_solver());
        plain
    };
    assert!(matches!(error_for("missing", None), LaunchError::NotFound { .. }));
    assert!(matches!(error_for("text", Some((b"sat", 0o755))), LaunchError::ExecFormat { .. }));
    assert!(matches!(error_for("plain", Some((b"sat", 0o644))), LaunchError::PermissionDenied { .. }));
    let script = error_for("script", Some((b"#!/no/such/interpreter\n", 0o755)));
    assert!(matches!(script, LaunchError::MissingInterpreter { .. }), "{script}");
    let mut invocation = HOSTILE.invocation("hang");
    invocation.program = "no-such-solver-anywhere".into();
    assert!(matches!(runner.run(&invocation), Err(LaunchError::NotFound { .. })));
}
