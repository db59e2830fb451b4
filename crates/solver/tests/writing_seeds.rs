//! Scripts that make real solvers write files. Both walls are tried by themselves: the screen takes the writing out of
//! the script, and the kernel stops a solver that was given it all the same.

use std::borrow::Cow;
use std::path::Path;
use std::time::Duration;

use solver::launch::{Launcher, LauncherConfig, WallChoice};
use solver::{RunRequest, Solver};

/// Ways to write; `FILE` stands for a path outside the scratch directory.
const WAYS: [&str; 24] = [
    r#"(set-option :regular-output-channel "FILE")"#,
    r#"(set-option :diagnostic-output-channel "FILE")(set-option :verbosity 5)"#,
    r#"(set-option :regular-output-channel "FILE")(echo "curl evil | sh")"#,
    r#"(set-option :sat.drat.file "FILE")"#,
    r#"(set-option :SAT.DRAT.FILE "FILE")"#,
    r#"(set-option :trace true)(set-option :trace_file_name "FILE")"#,
    r#"(set-option :solver.proof.log "FILE")"#,
    r#"(set-option :solver.smtlib2_log "FILE")"#,
    r#"(set-option :solver.cancel_backup_file "FILE")"#,
    r#"(set-option :fp.spacer.trace_file "FILE")"#,
    r#"(set-option :fp.print_aig "FILE")"#,
    r#"(set-option :dot_proof_file "FILE")(set-option :produce-proofs true)"#,
    r#"(set-option :opt.solution_prefix "FILE")"#,
    r#"(set-option :opt.dump_benchmarks true)"#,
    r#"(set-option :smt.arith.dump_lemmas true)"#,
    r#"(set-option :sat.inprocess.out "FILE")"#,
    r#"(set-option :out "FILE")"#,
    r#"(set-option :err "FILE")(set-option :verbosity 5)"#,
    r#"(set-option :write-partitions-to "FILE")(set-option :compute-partitions 2)"#,
    r#"(set-option :dump-to "FILE")(set-option :dump "raw-benchmark")"#,
    r#"(|set-option| :regular-output-channel "FILE")"#,
    "(set-option ; comment )\n :out \"FILE\")",
    r#"(check-sat-using (using-params sat :drat.file "FILE"))"#,
    r#"(include "FILE")(get-proof-graph)"#,
];

const FORMULA: &str = "(declare-const p Bool)(declare-const q Bool)(declare-const b (_ BitVec 8))\n\
    (assert (and (or p q) (or (not p) q) (bvult #x03 b) (not (= (bvmul b b) #x11))))\n\
    (check-sat)\n(get-info :name)\n(echo \"done\")\n";

const BYSTANDER: &[u8] = b"export PATH=/usr/bin\n";

fn solvers() -> Vec<Solver> {
    ["z3@4.8.7", "z3@5.4.0", "cvc5@1.4.2", "cvc5@1.3.4"].into_iter().filter_map(testkit::get).collect()
}

/// A directory with one file that must stay as it is.
fn bystander(directory: &Path) -> std::path::PathBuf {
    let file = directory.join("startup");
    std::fs::write(&file, BYSTANDER).expect("written");
    file
}

fn script(way: &str, file: &Path) -> String {
    format!(
        "{}\n(set-option :produce-models true)\n(set-logic ALL)\n{FORMULA}",
        way.replace("FILE", &file.to_string_lossy())
    )
}

/// Runs a script past the screen, or as every run is made; the files that were changed or made.
fn run(
    launcher: &mut Launcher,
    solver: &Solver,
    text: &str,
    screened: bool,
    directory: &Path,
) -> (Vec<String>, String) {
    let mut invocation = solver.invocation(text.as_bytes(), &RunRequest::default()).expect("an invocation");
    if !screened {
        invocation.input = Cow::Borrowed(text.as_bytes());
    }
    invocation.limits.wall = Duration::from_secs(20);
    let outcome = launcher.run(&invocation).expect("an outcome");
    let mut changed = Vec::new();
    for entry in std::fs::read_dir(directory).expect("there") {
        let path = entry.expect("an entry").path();
        if path.file_name().is_none_or(|name| name != "startup")
            || std::fs::read(&path).expect("readable") != BYSTANDER
        {
            changed.push(path.display().to_string());
        }
    }
    (changed, String::from_utf8_lossy(&outcome.stdout).into_owned())
}

fn launcher(wall: WallChoice) -> Launcher {
    testkit::launcher();
    let config = LauncherConfig {
        launcher: Some(env!("CARGO_BIN_EXE_osprey-launcher").into()),
        wall,
        ..LauncherConfig::default()
    };
    Launcher::new(config).expect("a launcher")
}

#[test]
fn the_screen_alone_keeps_solvers_from_writing() {
    let mut launcher = launcher(WallChoice::Off);
    for solver in solvers() {
        for way in WAYS {
            let directory = tempfile::tempdir().expect("a directory");
            let text = script(way, &bystander(directory.path()));
            let (changed, said) = run(&mut launcher, &solver, &text, true, directory.path());
            assert_eq!(changed, Vec::<String>::new(), "{} {way}", solver.name());
            assert!(said.contains("sat") && said.contains("done"), "{} {way}: {said}", solver.name());
        }
    }
}

#[test]
fn the_kernels_wall_alone_keeps_solvers_from_writing() {
    for wall in [WallChoice::Landlock, WallChoice::Namespaces] {
        let mut launcher = launcher(wall);
        if launcher.wall().files.is_none() {
            testkit::skip("a wall by the kernel", format!("{wall:?}"));
            continue;
        }
        for solver in solvers() {
            for way in WAYS {
                let directory = tempfile::tempdir().expect("a directory");
                let text = script(way, &bystander(directory.path()));
                let (changed, _) = run(&mut launcher, &solver, &text, false, directory.path());
                assert_eq!(changed, Vec::<String>::new(), "{} {way}", solver.name());
            }
        }
    }
}

/// What the two tests above are worth: without any wall most of these do write.
#[test]
fn without_walls_the_same_scripts_do_write() {
    let mut launcher = launcher(WallChoice::Off);
    for solver in solvers() {
        let mut writing = 0;
        for way in WAYS {
            let directory = tempfile::tempdir().expect("a directory");
            let text = script(way, &bystander(directory.path()));
            writing += usize::from(!run(&mut launcher, &solver, &text, false, directory.path()).0.is_empty());
        }
        assert!(writing >= 3, "{}: only {writing} ways write", solver.name());
    }
}
