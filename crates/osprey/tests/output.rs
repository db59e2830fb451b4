//! Where output goes: closed pipes, full disks, folders that cannot be written, and what solvers print into all of them.

mod common;

use std::fs::File;
use std::os::unix::process::ExitStatusExt as _;
use std::process::{Command, Stdio};

use common::{Folder, complaint, not_allowed, osprey, run, shown, text};
use testkit::have;

const SEED: &str = "(set-logic QF_LIA)\n(declare-const x Int)\n(assert (> x 3))\n(check-sat)\n";

/// Answers the empty script like a solver, and everything else with text that acts on terminals, Markdown and shells.
const HOSTILE: &str = r#"
for file; do :; done
if ! grep -q assert "$file"; then echo sat; exit 0; fi
printf 'unsat\n\033]0;owned\007\033[2J\000\n```\n# heading\n'
printf '\033[31mred\302\2332J\n' >&2
"#;

/// A campaign's folder with a finding, made with a hostile solver.
fn hostile_campaign(folder: &Folder) -> Option<String> {
    if !have(&["z3@5.4.0"]) {
        return None;
    }
    let seed = folder.file("seed.smt2", SEED);
    let hostile = folder.program("hostile", HOSTILE);
    let out = folder.path("out");
    let output = run(&[
        "fuzz",
        &seed,
        "-s",
        &hostile,
        "--reference",
        "z3@5.4.0",
        "--out",
        &out,
        "--iterations",
        "3",
        "--jobs",
        "1",
        "--rng-seed",
        "1",
    ]);
    assert_eq!(output.status.code(), Some(10), "{}", text(&output));
    assert!(!text(&output).contains(acts), "{:?}", text(&output));
    Some(out)
}

/// Characters that do something to a terminal.
fn acts(c: char) -> bool {
    c.is_control() && c != '\n' && c != '\t'
}

#[test]
fn nothing_that_a_solver_prints_acts_on_terminal_report_or_script() {
    let folder = Folder::new();
    let Some(out) = hostile_campaign(&folder) else { return };
    let listed = run(&["findings", &out]);
    assert_eq!(listed.status.code(), Some(10));
    assert!(!text(&listed).contains(acts), "{:?}", text(&listed));
    let bugs = std::fs::read_dir(format!("{out}/bugs")).expect("findings");
    for bug in bugs.map(|entry| entry.expect("an entry").path()) {
        for file in ["report.md", "repro.sh", "finding.json"] {
            let text = std::fs::read_to_string(bug.join(file)).expect("a text");
            assert!(!text.contains(acts), "{file}: {text:?}");
        }
        let report = std::fs::read_to_string(bug.join("report.md")).expect("a report");
        // Its block is fenced by more backticks than the solver printed.
        assert!(report.contains("\n````\n$ "), "{report}");
        let replayed = run(&["replay", &shown(&bug)]);
        assert_eq!(replayed.status.code(), Some(10), "{}", text(&replayed));
        assert!(!text(&replayed).contains(acts), "{:?}", text(&replayed));
        let repro = Command::new(bug.join("repro.sh")).current_dir("/").output().expect("a shell");
        assert_eq!(repro.status.code(), Some(1), "{}", text(&repro));
        assert!(!text(&repro).contains(acts), "{:?}", text(&repro));
    }
    let checked = run(&["check", &folder.path("seed.smt2"), "-s", &folder.path("hostile"), "-s", "z3@5.4.0"]);
    assert_eq!(checked.status.code(), Some(10), "{}", text(&checked));
    assert!(!text(&checked).contains(acts), "{:?}", text(&checked));
}

#[test]
fn a_reader_that_goes_away_changes_nothing_about_the_exit_code() {
    let folder = Folder::new();
    let Some(out) = hostile_campaign(&folder) else { return };
    let bug =
        std::fs::read_dir(format!("{out}/bugs")).expect("findings").next().expect("one").expect("one").path();
    let seed = folder.path("seed.smt2");
    for (arguments, code) in [
        (vec!["findings", &out], 10),
        (vec!["findings", &out, "--json"], 10),
        (vec!["replay", bug.to_str().expect("UTF-8")], 10),
        (vec!["check", &seed, "-s", "z3@5.4.0"], 0),
        (vec!["parse", "--print", &seed], 0),
        (vec!["parse", "--json", &seed], 0),
        (vec!["solvers", "list"], 0),
    ] {
        let mut child =
            osprey(&arguments).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("a start");
        // Nobody reads from the first byte on.
        drop(child.stdout.take());
        let output = child.wait_with_output().expect("an end");
        assert_eq!(output.status.code(), Some(code), "{arguments:?}: {}", complaint(&output));
        assert!(!complaint(&output).contains("panicked"), "{}", complaint(&output));
    }
}

#[test]
fn a_full_standard_output_is_a_disk_error_and_a_full_standard_error_none() {
    let Ok(full) = File::options().write(true).open("/dev/full") else {
        not_allowed("/dev/full", "this system has none");
        return;
    };
    let folder = Folder::new();
    let seed = folder.file("seed.smt2", SEED);
    let out = folder.path("out");
    for arguments in [
        vec!["--help"],
        vec!["fuzz", "--help"],
        vec!["parse", &seed],
        vec!["parse", "--json", &seed],
        vec!["solvers", "list"],
        vec!["generate", "--logic", "QF_LIA", "--out", &out],
        vec!["mutate", "--engine", "opfuzz", &seed, "--out", &out],
    ] {
        let output = osprey(&arguments).stdout(full.try_clone().expect("a file")).output().expect("a start");
        assert_eq!(output.status.code(), Some(5), "{arguments:?}: {}", complaint(&output));
        assert!(complaint(&output).contains("cannot write standard output"), "{}", complaint(&output));
    }
    let output = osprey(&["parse", "/no/such/file"]).stderr(full).output().expect("a start");
    assert_eq!(output.status.code(), Some(2), "{:?}", output.status.signal());
}

#[test]
fn a_folder_or_a_file_that_cannot_be_written_is_a_disk_error_that_names_it() {
    let folder = Folder::new();
    let seed = folder.file("seed.smt2", SEED);
    let place = "/proc/no-such-place";
    for arguments in [
        vec!["generate", "--logic", "QF_LIA", "--out", place],
        vec!["mutate", "--engine", "opfuzz", &seed, "--out", place],
    ] {
        let output = run(&arguments);
        assert_eq!(output.status.code(), Some(5), "{arguments:?}: {}", text(&output));
        assert!(complaint(&output).contains(place), "{}", complaint(&output));
    }
    // Files may not grow at all, as on a full disk; the signal that comes with that is ignored.
    let out = folder.path("out");
    for arguments in [
        vec!["generate", "--logic", "QF_LIA", "--out", &out],
        vec!["mutate", "--engine", "opfuzz", &seed, "--out", &out],
    ] {
        let output = Command::new("/bin/sh")
            .args(["-c", "trap '' XFSZ; ulimit -f 0; exec \"$@\"", "sh", env!("CARGO_BIN_EXE_osprey")])
            .args(&arguments)
            .output()
            .expect("a shell");
        assert_eq!(output.status.code(), Some(5), "{arguments:?}: {}", text(&output));
        assert!(complaint(&output).contains(&format!("cannot write '{out}/")), "{}", complaint(&output));
    }
}

#[test]
fn a_database_of_another_program_is_refused_before_anything_is_made() {
    if !have(&["z3@5.4.0"]) {
        return;
    }
    let folder = Folder::new();
    folder.file("campaign.db", "not a campaign, but something of the user's");
    let output = run(&["fuzz", "-s", "z3@5.4.0", "--out", folder.all(), "--iterations", "1"]);
    let said = complaint(&output);
    assert_eq!(output.status.code(), Some(2), "{said}");
    assert!(said.contains("another program's database") && said.contains(folder.all()), "{said}");
    assert!(!said.contains("fuzzing"), "{said}");
    let left: Vec<String> = std::fs::read_dir(folder.all())
        .expect("a folder")
        .map(|entry| entry.expect("an entry").file_name().to_string_lossy().into_owned())
        .collect();
    assert_eq!(left, ["campaign.db"]);
    let absent = folder.path("absent");
    let output = run(&["fuzz", "-s", "z3@5.4.0", "--out", &absent, "--resume", "--iterations", "1"]);
    assert_eq!(output.status.code(), Some(2), "{}", text(&output));
    assert!(!complaint(&output).contains("fuzzing"), "{}", complaint(&output));
    assert!(!std::path::Path::new(&absent).exists(), "nothing was made");
}

#[test]
fn a_campaign_goes_on_whichever_way_its_seeds_are_written() {
    if !have(&["z3@5.4.0"]) {
        return;
    }
    let folder = Folder::new();
    std::fs::create_dir(folder.path("seeds")).expect("made");
    folder.file("seeds/a.smt2", SEED);
    let fuzz = |seeds: &str, more: &[&str]| {
        let common = ["fuzz", seeds, "-s", "z3@5.4.0", "--out", "out", "--iterations", "1", "--jobs", "1"];
        osprey(&[&common[..], more].concat()).current_dir(folder.all()).output().expect("a start")
    };
    assert_eq!(fuzz("seeds", &[]).status.code(), Some(0));
    for seeds in ["seeds/", "./seeds"] {
        let output = fuzz(seeds, &["--resume"]);
        assert_eq!(output.status.code(), Some(0), "{}", text(&output));
    }
}

/// A command in a mount namespace of its own, where `mount` has been run first. `None` where that is not allowed.
fn mounted(mount: &str, arguments: &[&str]) -> Option<std::process::Output> {
    let script = format!("{mount} || exit 99; exec \"$@\"");
    let output = Command::new("unshare")
        .args(["-m", "/bin/sh", "-c", &script, "sh", env!("CARGO_BIN_EXE_osprey")])
        .args(arguments)
        .output();
    match output {
        Ok(output) if output.status.code() != Some(99) && !complaint(&output).contains("unshare:") => {
            Some(output)
        }
        Ok(output) => {
            not_allowed("a mount of one's own", complaint(&output));
            None
        }
        Err(error) => {
            not_allowed("unshare", error);
            None
        }
    }
}

#[test]
fn findings_on_a_read_only_disk_can_be_listed_and_made_again() {
    let folder = Folder::new();
    let Some(out) = hostile_campaign(&folder) else { return };
    let bug =
        std::fs::read_dir(format!("{out}/bugs")).expect("findings").next().expect("one").expect("one").path();
    let mount = format!("mount --bind -o ro '{out}' '{out}' && ! touch '{out}/x' 2>/dev/null");
    let Some(original) = mounted(&mount, &["replay", "--original", bug.to_str().expect("UTF-8")]) else {
        return;
    };
    assert_eq!(original.status.code(), Some(0), "{}", text(&original));
    assert!(text(&original).contains("(assert"), "{}", text(&original));
    let listed = mounted(&mount, &["findings", &out]).expect("as before");
    assert_eq!(listed.status.code(), Some(10), "{}", text(&listed));
    // A campaign that was killed has its last changes beside the file.
    std::fs::write(format!("{out}/campaign.db-wal"), [1; 100]).expect("written");
    let original =
        mounted(&mount, &["replay", "--original", bug.to_str().expect("UTF-8")]).expect("as before");
    assert_eq!(original.status.code(), Some(2), "{}", text(&original));
    assert!(complaint(&original).contains("copy the folder"), "{}", complaint(&original));
}

#[test]
fn a_full_disk_ends_a_campaign_with_five_and_names_the_place() {
    if !have(&["z3@5.4.0"]) {
        return;
    }
    let folder = Folder::new();
    let seed = folder.file("seed.smt2", SEED);
    let out = folder.path("full/out");
    std::fs::create_dir(folder.path("full")).expect("made");
    let full = folder.path("full");
    let mount = format!("mount -t tmpfs -o size=64k none '{full}'");
    let arguments = ["fuzz", &seed, "-s", "z3@5.4.0", "--out", &out, "--iterations", "5", "--jobs", "1"];
    let Some(output) = mounted(&mount, &arguments) else { return };
    assert_eq!(output.status.code(), Some(5), "{}", text(&output));
    assert!(complaint(&output).contains(&out), "{}", complaint(&output));
    // Neither in memory nor in the temporary folder is there room for a script.
    let both = "mount -t tmpfs -o size=4k none /dev/shm && mount -t tmpfs -o size=4k none /tmp && \
                dd if=/dev/zero of=/tmp/x bs=4k count=1 2>/dev/null && export TMPDIR=/tmp";
    let elsewhere = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).expect("a folder");
    let script = elsewhere.path().join("seed.smt2");
    std::fs::write(&script, SEED).expect("written");
    let check = ["check", script.to_str().expect("UTF-8"), "-s", "z3@5.4.0"];
    let output = mounted(both, &check).expect("as before");
    assert_eq!(output.status.code(), Some(5), "{}", text(&output));
    assert!(complaint(&output).contains("'/tmp"), "{}", complaint(&output));
    // With room in one of them all is well.
    let memory =
        "mount -t tmpfs -o size=4k none /dev/shm && dd if=/dev/zero of=/dev/shm/x bs=4k count=1 2>/dev/null";
    let output = mounted(memory, &check).expect("as before");
    assert_eq!(output.status.code(), Some(0), "{}", text(&output));
}

#[test]
fn a_terminal_that_only_prints_gets_plain_lines() {
    let folder = Folder::new();
    let seed = folder.file("seed.smt2", SEED);
    let solver = folder.liar("solver", "sat");
    let on_terminal = |term: &str| {
        let out = folder.path(term);
        let program = env!("CARGO_BIN_EXE_osprey");
        let command = format!("{program} fuzz {seed} -s {solver} --time 2 --jobs 1 --out {out}");
        let started = Command::new("script").args(["-qec", &command, "/dev/null"]).env("TERM", term).output();
        started.map(|output| text(&output))
    };
    match (on_terminal("dumb"), on_terminal("xterm")) {
        (Ok(dumb), Ok(able)) => {
            assert!(dumb.contains("tests in") && !dumb.contains('\u{1b}'), "{dumb:?}");
            assert!(able.contains('\u{1b}'), "{able:?}");
        }
        (Err(error), _) | (_, Err(error)) => not_allowed("a terminal of one's own", error),
    }
}
