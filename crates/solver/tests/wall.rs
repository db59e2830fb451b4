//! Solvers write nowhere but in their scratch directory, open no socket, leave no shared memory, and signal nobody.

#[path = "hostile/common.rs"]
mod common;

use std::sync::LazyLock;
use std::time::Duration;

use common::{FAST, Hostile};
use solver::fast::ExecMode;
use solver::launch::{FileWall, Launcher, NetworkWall, Outcome, WallChoice};

static HOSTILE: LazyLock<Hostile> = LazyLock::new(Hostile::compile);

/// For solvers that would never end.
const SHORT: Duration = Duration::from_millis(300);

fn said(outcome: &Outcome) -> &str {
    std::str::from_utf8(&outcome.stdout).expect("text").trim_end()
}

/// A launcher behind this wall, unless the machine has none of the kind.
fn behind(choice: WallChoice) -> Option<Launcher> {
    let launcher = HOSTILE.runner_behind(choice);
    if launcher.wall().files.is_none() {
        testkit::skip("a wall by the kernel", format!("{choice:?}: {}", launcher.wall()));
        return None;
    }
    Some(launcher)
}

/// All launchers with a wall, and both ways of starting.
fn everywhere(check: impl Fn(&mut Launcher, ExecMode)) {
    for choice in [WallChoice::Landlock, WallChoice::Namespaces] {
        let Some(mut launcher) = behind(choice) else { continue };
        for mode in [ExecMode::Plain, FAST] {
            check(&mut launcher, mode);
        }
    }
}

fn run(launcher: &mut Launcher, mode: ExecMode, words: &[&str]) -> Outcome {
    let mut invocation = HOSTILE.invocation(words[0]);
    invocation.args = words.iter().map(Into::into).collect();
    invocation.mode = mode;
    invocation.limits.wall = Duration::from_secs(60);
    launcher.run(&invocation).expect("an outcome")
}

#[test]
fn the_best_wall_of_this_kernel_stands_and_says_so() {
    let wall = HOSTILE.runner().wall();
    if std::path::Path::new("/sys/kernel/security/landlock").exists() || wall.files.is_some() {
        assert!(wall.files.is_some(), "{wall}");
    }
    assert_eq!(wall.network, Some(NetworkWall::Filter), "{wall}");
    let off = HOSTILE.runner_behind(WallChoice::Off).wall();
    assert_eq!((off.files, off.network, off.signals, off.calls), (None, None, false, false));
    if let Some(launcher) = behind(WallChoice::Namespaces) {
        assert_eq!(launcher.wall().files, Some(FileWall::Namespace));
    }
}

#[test]
fn nothing_outside_the_scratch_directory_can_be_changed() {
    everywhere(|launcher, mode| {
        let outside = tempfile::tempdir().expect("a directory");
        let file = outside.path().join("startup");
        std::fs::write(&file, "mine").expect("written");
        let before = std::fs::metadata(&file).expect("there").permissions();
        let outcome = run(launcher, mode, &["change", &file.to_string_lossy()]);
        assert_eq!((said(&outcome), outcome.mode), ("", mode), "{}", launcher.wall());
        assert_eq!(std::fs::read(&file).expect("there"), b"mine");
        assert_eq!(std::fs::metadata(&file).expect("there").permissions(), before);
        assert_eq!(std::fs::read_dir(outside.path()).expect("there").count(), 1);
    });
}

#[test]
fn the_same_solver_changes_everything_without_a_wall() {
    let outside = tempfile::tempdir().expect("a directory");
    let file = outside.path().join("startup");
    std::fs::write(&file, "mine").expect("written");
    let mut launcher = HOSTILE.runner_behind(WallChoice::Off);
    let outcome = run(&mut launcher, ExecMode::Plain, &["change", &file.to_string_lossy()]);
    for way in ["append", "truncate", "permissions", "create", "directory", "symlink", "rename"] {
        assert!(said(&outcome).contains(way), "{}", said(&outcome));
    }
}

#[test]
fn no_socket_can_be_opened() {
    everywhere(|launcher, mode| assert_eq!(said(&run(launcher, mode, &["sockets"])), ""));
}

#[test]
fn no_shared_memory_is_left() {
    everywhere(|launcher, mode| {
        assert_eq!(said(&run(launcher, mode, &["shared-memory"])), "");
        assert!(!std::path::Path::new("/dev/shm/osprey-hostile-test").exists());
    });
}

#[test]
fn limits_of_other_processes_are_out_of_reach() {
    everywhere(|launcher, mode| assert_eq!(said(&run(launcher, mode, &["limit-parent"])), "-1"));
}

#[test]
fn the_launcher_cannot_be_signalled_where_landlock_knows_signals() {
    let Some(mut launcher) = behind(WallChoice::Landlock) else { return };
    if !launcher.wall().signals {
        return testkit::skip("Landlock with rules on signals", launcher.wall());
    }
    for (way, refused) in [("stop-parent", "-1"), ("stop-parents", "-1 -1")] {
        let mut invocation = HOSTILE.invocation(way);
        invocation.limits.wall = SHORT;
        let outcome = launcher.run(&invocation).expect("an outcome");
        assert_eq!((said(&outcome), outcome.timed_out), (refused, true), "{way}");
    }
    let mut invocation = HOSTILE.invocation("kill-parent");
    invocation.limits.wall = SHORT;
    assert!(launcher.run(&invocation).expect("an outcome").timed_out);
}

/// Jobs are on the same side of the wall as their fork server.
#[test]
fn a_job_that_stops_its_fork_server_is_run_plainly() {
    let Some(mut launcher) = behind(WallChoice::Landlock) else { return };
    if !launcher.wall().signals {
        return testkit::skip("Landlock with rules on signals", launcher.wall());
    }
    let mut invocation = HOSTILE.invocation("stop-parent");
    invocation.mode = FAST;
    invocation.limits.wall = SHORT;
    let outcome = launcher.run(&invocation).expect("an outcome");
    assert_eq!((outcome.mode, outcome.timed_out), (ExecMode::Plain, true), "{:?}", outcome.fallback);
    assert!(outcome.fallback.is_some_and(|reason| reason.contains("stopped")));
}

#[test]
fn what_solvers_need_still_works() {
    everywhere(|launcher, mode| {
        let outcome = run(launcher, mode, &["write"]);
        assert_eq!(said(&outcome), "sat", "temporary files go to the scratch directory");
        assert_eq!(said(&run(launcher, mode, &["echo", "input.smt2"])), "input.smt2: (check-sat)");
    });
}

#[test]
fn a_folder_that_the_user_names_stays_writable() {
    let named = tempfile::tempdir().expect("a directory");
    let file = named.path().join("profile");
    std::fs::write(&file, "").expect("written");
    // In a process of its own: the variable is read when a launcher starts.
    let program = HOSTILE.program();
    let output = std::process::Command::new(std::env::current_exe().expect("our path"))
        .args(["--exact", "change_the_named_file", "--ignored", "--nocapture"])
        .env("OSPREY_WRITABLE", named.path())
        .env("WALL_TEST_FILE", &file)
        .env("WALL_TEST_PROGRAM", program)
        .output()
        .expect("the test starts again");
    let text = String::from_utf8_lossy(&output.stdout);
    assert!(text.contains("changed: append truncate"), "{text}");
}

#[test]
#[ignore = "a part of the test above"]
fn change_the_named_file() {
    let (Ok(file), Ok(program)) = (std::env::var("WALL_TEST_FILE"), std::env::var("WALL_TEST_PROGRAM"))
    else {
        return;
    };
    let Some(mut launcher) = behind(WallChoice::Best) else { return };
    let mut invocation = HOSTILE.invocation("change");
    invocation.program = program.into();
    invocation.args = vec!["change".into(), file.into()];
    println!("changed: {}", said(&launcher.run(&invocation).expect("an outcome")));
}
