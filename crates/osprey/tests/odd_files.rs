//! What users may name instead of a file: pipes, devices, folders, files that are unreadable, huge, or no text. Every
//! command refuses them with exit code 2 and names them, and none of them waits.

mod common;

use std::process::{Command, Output, Stdio};
use std::time::{Duration, Instant};

use common::{Folder, complaint, not_allowed, osprey, run, text};
use testkit::have;

/// A program that waits for a pipe would wait for ever: it is killed after a minute, and has no exit code then.
fn ended(arguments: &[&str]) -> Output {
    let mut child =
        osprey(arguments).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("osprey starts");
    let begun = Instant::now();
    while child.try_wait().expect("a child").is_none() {
        if begun.elapsed() > Duration::from_secs(60) {
            child.kill().expect("killed");
        }
        std::thread::sleep(Duration::from_millis(10));
    }
    child.wait_with_output().expect("its output")
}

fn pipe(folder: &Folder, name: &str) -> String {
    let path = folder.path(name);
    assert!(Command::new("mkfifo").arg(&path).status().expect("mkfifo").success());
    path
}

/// Refused: exit code 2, and a message with the path and these words.
fn assert_refused(arguments: &[&str], path: &str, words: &str) {
    let output = ended(arguments);
    let said = text(&output);
    assert_eq!(output.status.code(), Some(2), "{arguments:?}: {said}");
    assert!(said.contains(path) && said.contains(words), "{arguments:?}: {said}");
}

#[test]
fn whatever_is_no_regular_file_is_refused_by_every_command_that_reads_one() {
    let folder = Folder::new();
    let good = folder.file("good.smt2", "(declare-const x Int)\n(assert (> x 3))\n(check-sat)\n");
    let out = folder.path("out");
    let cat = "/bin/cat";
    let huge = folder.path("huge.smt2");
    std::fs::File::create(&huge).and_then(|file| file.set_len(2 << 30)).expect("a sparse file");
    let absent = folder.path("absent.smt2");
    let (fifo, dir) = (pipe(&folder, "fifo.smt2"), folder.all().to_owned());
    for (path, words) in [
        (fifo.as_str(), "a pipe, not a regular file"),
        ("/dev/zero", "a device, not a regular file"),
        (&dir, "a folder, not a regular file"),
        (&huge, "too large"),
        (&absent, "No such file"),
    ] {
        assert_refused(&["check", path, "-s", cat], path, words);
        assert_refused(&["eval", path, "--model", &good], path, words);
        assert_refused(&["eval", &good, "--model", path], path, words);
        assert_refused(&["mutate", "--engine", "opfuzz", path, "--out", &out], path, words);
        assert_refused(&["mutate", "--engine", "diver", &good, "--model", path, "--out", &out], path, words);
        assert_refused(&["generate", "--logic", "QF_LIA", "--config", path, "--out", &out], path, words);
        let known = if path == dir { "is not a finding" } else { words };
        assert_refused(&["fuzz", &good, "--known", path, "--out", &out], path, known);
        assert_refused(&["solvers", "list", "--adapter", path], path, words);
        if path != dir {
            // A folder is walked here, or is a finding.
            assert_refused(&["parse", path], path, words);
            assert_refused(
                &["fuzz", path, "--out", &out],
                path,
                if path == huge { "at most" } else { words },
            );
            assert_refused(&["reduce", path, "-o", &out, "-s", cat], path, words);
        }
        assert_refused(&["replay", path], path, "is not a finding");
    }
    assert_refused(&["findings", &good], &good, "not the output folder");
    assert_refused(&["reduce", &dir], &dir, "is not a finding");
    assert_refused(&["worker", "--store", &dir], &dir, "no campaign is running");
}

#[test]
fn a_pipe_among_the_seeds_is_skipped_and_told() {
    if !have(&["z3@5.4.0"]) {
        return;
    }
    let folder = Folder::new();
    std::fs::create_dir(folder.path("seeds")).expect("made");
    folder.file("seeds/good.smt2", "(declare-const x Int)\n(assert (> x 3))\n(check-sat)\n");
    let fifo = pipe(&folder, "seeds/a.smt2");
    let seeds = folder.path("seeds");
    let output = ended(&[
        "fuzz",
        &seeds,
        "-s",
        "z3@5.4.0",
        "--out",
        &folder.path("out"),
        "--iterations",
        "1",
        "--jobs",
        "1",
    ]);
    assert_eq!(output.status.code(), Some(0), "{}", text(&output));
    let said = complaint(&output);
    assert!(said.contains(&format!("seed skipped: cannot read '{fifo}': it is a pipe")), "{said}");
    assert!(said.contains("with 1 seed,"), "{said}");
}

#[test]
fn a_folder_that_cannot_be_read_is_skipped_with_a_note() {
    use std::os::unix::fs::PermissionsExt as _;
    use std::os::unix::process::CommandExt as _;
    let folder = Folder::new();
    let allow = |path: &str, mode: u32| {
        std::fs::set_permissions(path, std::fs::Permissions::from_mode(mode)).expect("permissions");
    };
    allow(folder.all(), 0o755);
    std::fs::create_dir_all(folder.path("seeds/closed")).expect("made");
    folder.file("seeds/good.smt2", "(assert true)\n(check-sat)\n");
    let closed = folder.path("seeds/closed");
    allow(&closed, 0o000);
    let mut parse = osprey(&["parse", &folder.path("seeds")]);
    if std::fs::read_dir(&closed).is_ok() {
        // Root may read everything: somebody else has to look.
        parse.uid(65534).current_dir("/");
    }
    let output = parse.output();
    allow(&closed, 0o700);
    let output = match output {
        Ok(output) => output,
        Err(error) => return not_allowed("running osprey as somebody who may not read everything", error),
    };
    let note = format!("folder skipped: cannot read '{closed}'");
    assert!(complaint(&output).contains(&note), "{}", text(&output));
    assert_eq!(output.status.code(), Some(2), "not everything could be looked at");
}

#[test]
fn zero_bytes_and_bytes_that_are_no_text_are_located_and_never_reach_the_terminal() {
    let folder = Folder::new();
    let zero = folder.path("zero.smt2");
    std::fs::write(&zero, b"(assert true)\n(assert \0\x1b[2J)\n").expect("written");
    let latin = folder.path("latin.smt2");
    std::fs::write(&latin, b"(declare-const x Int)\n(assert (> x \xe4))\n").expect("written");
    let out = folder.path("out");
    let everywhere = ["parse", "eval", "mutate", "fuzz"];
    // In a symbol of a script that is only looked at, such bytes are nobody's trouble.
    for (path, place, commands) in [(&zero, ":2:9:", &everywhere[..]), (&latin, ":2:14:", &everywhere[2..])] {
        for command in commands {
            let arguments = match *command {
                "eval" => vec!["eval", path, "--model", path],
                "mutate" => vec!["mutate", "--engine", "opfuzz", path, "--out", &out],
                other => vec![other, path],
            };
            let output = ended(&arguments);
            let said = text(&output);
            assert_eq!(output.status.code(), Some(2), "{arguments:?}: {said}");
            assert!(said.contains(&format!("{path}{place}")), "{arguments:?}: {said}");
            assert!(!said.contains(['\0', '\u{1b}']), "{arguments:?}: {said:?}");
        }
    }
}

#[test]
fn numbers_out_of_reason_are_refused_with_the_range() {
    let folder = Folder::new();
    let good = folder.file("good.smt2", "(assert true)\n(check-sat)\n");
    let out = folder.path("out");
    for (arguments, range) in [
        (vec!["fuzz", "--out", &out, "--jobs", "0"], "1..=1024"),
        (vec!["fuzz", "--out", &out, "--jobs", "100000"], "1..=1024"),
        (vec!["fuzz", "--out", &out, "--memory", "0"], "16..="),
        (vec!["worker", "--store", &out, "--jobs", "0"], "1..=1024"),
        (vec!["check", &good, "--memory", "99999999999999"], "16..="),
        (vec!["reduce", &good, "--jobs", "0"], "1..=1024"),
        (vec!["check", &good, "--timeout=-1"], "expected for example"),
        (vec!["eval", &good, "--solver", "z3", "--timeout", "0"], "expected for example"),
        (
            vec!["mutate", "--engine", "opfuzz", &good, "--out", &out, "--timeout", "nan"],
            "expected for example",
        ),
    ] {
        let output = run(&arguments);
        assert_eq!(output.status.code(), Some(2), "{arguments:?}: {}", text(&output));
        assert!(complaint(&output).contains(range), "{arguments:?}: {}", text(&output));
    }
    assert!(!std::path::Path::new(&out).exists(), "nothing was made");
}
