//! Crashes get a place: the stack at the moment of the fatal signal.

use std::path::Path;
use std::process::Command;
use std::sync::{Arc, LazyLock};
use std::time::Duration;

use solver::crash::CrashReport;
use solver::install::How;
use solver::limits::Limits;
use solver::run::{Configuration, PartyId, Purpose, Run, RunRules, Runner as _, SolverRunner, SolverRunners};
use solver::{RunClass, Solver};

/// A compiled `crashing.rs`, with symbols and without.
struct StandIns {
    folder: tempfile::TempDir,
}

static STAND_INS: LazyLock<StandIns> = LazyLock::new(|| {
    let folder = tempfile::tempdir().expect("a folder");
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/stacks/crashing.rs");
    let compiler = std::env::var_os("RUSTC").unwrap_or_else(|| "rustc".into());
    for (name, strip) in [("crashing", "-Cstrip=none"), ("stripped", "-Cstrip=symbols")] {
        let done = Command::new(&compiler)
            .args(["--edition=2024", "-Copt-level=0", strip, "-o"])
            .arg(folder.path().join(name))
            .arg(&source)
            .status()
            .expect("rustc runs");
        assert!(done.success());
    }
    StandIns { folder }
});

fn stand_in(name: &str) -> Arc<Configuration> {
    let mut solver = testkit::made_up("z3");
    solver.installed.how = How::Executable { path: STAND_INS.folder.path().join(name) };
    Arc::new(Configuration::new(PartyId(0), solver))
}

fn runner() -> SolverRunner {
    testkit::launcher();
    let rules = RunRules::with_limits(Limits::wall(Duration::from_secs(60)));
    SolverRunner::new(Vec::new(), rules).expect("a launcher")
}

fn run(name: &str, way: &str) -> Run {
    let script = format!("; {way}\n(check-sat)\n");
    runner().run(&stand_in(name), script.as_bytes(), Purpose::Place).expect("a run")
}

fn crash(name: &str, way: &str) -> CrashReport {
    let run = run(name, way);
    run.answers.crash().unwrap_or_else(|| panic!("{way}: {:?}", run.answers.class)).clone()
}

#[test]
fn a_bare_signal_gets_the_functions_on_the_stack() {
    let null = crash("crashing", "null");
    assert_eq!(null.frames[..2], ["dereference", "solve"], "{null:?}");
    assert!(null.signature().text.starts_with("SIGSEGV | dereference < solve"), "{}", null.signature());
    assert!(null.signature().names_a_place() && !null.overflow);
    // The machinery of an abort is not the place.
    let abort = crash("crashing", "abort");
    assert_eq!(abort.frames[..2], ["give_up", "solve"], "{abort:?}");
    assert_ne!(null.signature(), abort.signature());
}

#[test]
fn a_call_into_nowhere_belongs_to_its_caller() {
    assert_eq!(crash("crashing", "nowhere").frames[0], "solve");
}

#[test]
fn a_recursion_without_end_is_one_crash_wherever_it_is_entered() {
    let signatures: Vec<_> =
        ["rewrite", "simplify", "apply"].map(|way| crash("crashing", way).signature()).into();
    assert!(signatures[0].text.contains("stack overflow in apply < simplify < rewrite"), "{}", signatures[0]);
    assert!(signatures.iter().all(|signature| *signature == signatures[0]), "{signatures:?}");
}

#[test]
fn what_a_handler_of_the_signal_does_is_not_the_place() {
    let handled = crash("crashing", "handler null");
    assert_eq!(handled.frames[..2], ["dereference", "solve"], "{handled:?}");
}

#[test]
fn functions_without_names_are_known_by_their_beginnings() {
    let first = crash("stripped", "null");
    assert!(first.frames[0].starts_with("stripped+0x"), "{first:?}");
    assert_eq!(first.signature(), crash("stripped", "null").signature());
    assert_ne!(first.signature(), crash("stripped", "abort").signature());
}

#[test]
fn a_solver_that_traces_or_stops_itself_goes_on() {
    assert_eq!(crash("crashing", "traces-itself null").frames[0], "dereference");
    assert_eq!(crash("crashing", "stops null").frames[0], "dereference");
    for way in ["fine", "stops", "traces-itself"] {
        let fine = run("crashing", way);
        assert_eq!(fine.answers.class, RunClass::Answered, "{way}");
        assert!(fine.outcome.stack.is_none());
    }
}

#[test]
fn a_solver_that_blocks_is_killed_at_its_limit() {
    let mut runner = runner();
    let short = Some(Duration::from_millis(300));
    let blocked =
        runner.run_within(&stand_in("crashing"), b"; blocks", Purpose::Place, short).expect("a run");
    assert_eq!(blocked.answers.class, RunClass::Timeout);
    // The launcher is none the worse for it.
    let next = runner.run(&stand_in("crashing"), b"; null", Purpose::Place).expect("a run");
    assert!(next.answers.crash().is_some_and(|crash| !crash.frames.is_empty()));
}

#[test]
fn only_runs_that_look_for_a_place_read_stacks() {
    for purpose in Purpose::ALL.into_iter().filter(|purpose| *purpose != Purpose::Place) {
        let bare = runner().run(&stand_in("crashing"), b"; null", purpose).expect("a run");
        let signature = bare.answers.crash().expect("a crash").signature();
        assert_eq!((signature.text.as_str(), signature.names_a_place()), ("SIGSEGV", false));
        let mut placed = bare.clone();
        placed.take_place(&run("crashing", "null"));
        let placed = placed.answers.crash().expect("a crash").signature();
        assert!(placed.names_a_place() && placed.agrees_with(&signature));
        assert!(!placed.agrees_with(&crash("crashing", "abort").signature()));
    }
}

/// Refuses `ptrace` in this thread and all it starts, as some containers do.
fn refuse_ptrace() {
    let statement = |code: u32, jt, jf, k| libc::sock_filter { code: code as u16, jt, jf, k };
    let mut program = [
        // The number of the system call stands first.
        statement(libc::BPF_LD | libc::BPF_W | libc::BPF_ABS, 0, 0, 0),
        statement(libc::BPF_JMP | libc::BPF_JEQ | libc::BPF_K, 0, 1, libc::SYS_ptrace as u32),
        statement(libc::BPF_RET | libc::BPF_K, 0, 0, libc::SECCOMP_RET_ERRNO | libc::EPERM as u32),
        statement(libc::BPF_RET | libc::BPF_K, 0, 0, libc::SECCOMP_RET_ALLOW),
    ];
    let filter = libc::sock_fprog { len: program.len() as u16, filter: program.as_mut_ptr() };
    // SAFETY: the filter and its program live through the calls, and the kernel copies both.
    unsafe {
        assert_eq!(libc::prctl(libc::PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0), 0);
        let mode = libc::SECCOMP_MODE_FILTER;
        assert_eq!(libc::prctl(libc::PR_SET_SECCOMP, mode, &raw const filter), 0);
    }
}

#[test]
fn where_ptrace_is_refused_crashes_have_no_place_and_it_is_told_once() {
    testkit::launcher();
    let party = stand_in("crashing");
    let rules = RunRules::with_limits(Limits::wall(Duration::from_secs(60)));
    let runners = SolverRunners::new(Vec::new(), rules);
    std::thread::spawn(move || {
        refuse_ptrace();
        let mut notes = Vec::new();
        for _ in 0..2 {
            let mut runner = runners.start().expect("a launcher");
            for _ in 0..2 {
                let bare = runner.run(&party, b"; null", Purpose::Place).expect("a run");
                assert_eq!(bare.answers.crash().expect("a crash").signature().text, "SIGSEGV");
            }
            notes.extend(runner.take_notes());
        }
        let [note] = notes.as_slice() else { panic!("{notes:?}") };
        assert!(note.contains("no ptrace"), "{note}");
    })
    .join()
    .expect("the thread ends well");
}

/// The place of a crash of a real solver.
fn place_in(solver: &Solver, script: &str) -> String {
    let party = Arc::new(Configuration::new(PartyId(0), solver.clone()));
    let run = runner().run(&party, script.as_bytes(), Purpose::Place).expect("a run");
    run.answers.crash().unwrap_or_else(|| panic!("{:?}", run.answers.class)).signature().text
}

#[test]
fn crashes_of_a_real_release_are_told_apart_by_their_places_and_not_by_their_operators() {
    let Some(z3) = testkit::get("z3@4.8.7") else { return };
    // An assertion that is false by itself, and another with a lower bound.
    let bounds = |contradiction: &str| {
        format!(
            "(declare-const n Int)\n(declare-const m Int)\n(assert {contradiction})\n(assert (< 5 n))\n\
             (assert (< 2 m))\n(check-sat-using normalize-bounds)\n"
        )
    };
    let first = place_in(&z3, &bounds("(not (= 7 7))"));
    assert!(first.starts_with("SIGSEGV | expr_substitution::find < normalize_bounds_tactic"), "{first}");
    assert_eq!(first, place_in(&z3, &bounds("(distinct \"a\" \"a\")")));
    assert_eq!(first, place_in(&z3, &bounds("(bvult #b1 #b1)")));
    let macros = "(declare-sort S 0)\n(declare-fun p (S Int) Bool)\n(declare-fun h (S) S)\n\
                  (assert (forall ((x S) (i Int)) (p (h x) i)))\n(check-sat-using bv)\n";
    let second = place_in(&z3, macros);
    assert!(second.contains("macro_manager::expand_macros"), "{second}");
    assert_ne!(first, second);
}
