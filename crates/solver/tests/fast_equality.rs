//! Fast starts give the output of plain ones, byte for byte, with real solvers.
//!
//! The solvers are installed as a user would install them. Where that is not possible (no network, nothing cached) the
//! tests are skipped, or fail: see `testkit::skip`.

use std::time::Duration;

use solver::adapter::RunRequest;
use solver::coverage::{Code, ProbeRequest, Trace};
use solver::fast::ExecMode;
use solver::install::How;
use solver::launch::{Launcher, LauncherConfig, Outcome};
use solver::limits::Limits;
use solver::{Home, Solver};
use testkit::get;

/// Declarations, as they come before the assertions of a seed and all its mutants.
const PREFIXES: [&str; 5] = [
    "(set-logic ALL)\n(set-option :produce-models true)\n(declare-const x Int)\n(declare-const y Int)\n",
    "; a comment (with parentheses\n(set-option :produce-models true)\n(set-option :produce-unsat-cores true)\n\
     (set-logic ALL)\n(declare-fun x () Int) ; here\n(define-fun y () Int (+ x 1))\n",
    "(set-info :status sat)\n(set-option :print-success true)\n(declare-fun x () Int)\n(declare-fun y () Int)\n",
    "(set-logic QF_LIA)\n(set-option :no-such-option 7)\n(declare-fun x () Int)\n(declare-fun y () Int)\n",
    "(declare-fun x () Int)\n(declare-fun y () Int)\n(declare-fun x () Nonsense)\n(declare-sort S 0)\n\
     (declare-fun |odd ) name| () S)\n(define-fun-rec f ((n Int)) Int (ite (< n 1) 0 (f (- n 1))))\n",
];

/// What may follow, with questions, errors and levels.
const BODIES: [&str; 14] = [
    "(assert (> x 3))\n(check-sat)\n(get-model)\n",
    "(assert (and (> x 3) (< x 4)))\n(check-sat)\n(get-model)\n",
    "(assert (! (> x 3) :named a))\n(assert (! (< x 2) :named b))\n(check-sat)\n(get-unsat-core)\n",
    "(push 1)\n(assert (> x y))\n(check-sat)\n(push 1)\n(assert (< x y))\n(check-sat)\n(pop 2)\n(check-sat)\n",
    "(assert (= (* x x) 49))\n(check-sat)\n(get-value (x y (+ x y)))\n(check-sat)\n",
    "(assert (> x undeclared))\n(check-sat)\n",
    "(assert (> x 1)\n(check-sat)\n",
    "(assert (> x 1)))\n(check-sat)\n",
    "(check-sat)\n(exit)\n(check-sat)\n",
    "(echo \"before\")\n(assert (forall ((z Int)) (> (+ z x) y)))\n(check-sat)\n(echo \"after\")\n",
    "(get-model)\n(check-sat)\n(get-info :name)\n(get-option :produce-models)\n",
    "(declare-const s String)\n(assert (= (str.len s) 3))\n(assert (str.contains s \"b\"))\n(check-sat)\n(get-value (s))\n",
    "(declare-const v (_ BitVec 8))\n(assert (= (bvmul v #x03) #x09))\n(check-sat)\n(get-value (v))\n",
    "",
];

/// Scripts that do not have the usual form.
const ODD: [&str; 8] = [
    "",
    "(check-sat)",
    "(assert true)(check-sat)\n",
    "(declare-const x Int) (assert (> x 0)) (check-sat)\n",
    "(set-logic QF_LIA)\n(declare-const x Int)",
    "no script at all\n",
    "(set-logic QF_LIA)\r\n(declare-const x Int)\r\n(assert (> x 0))\r\n(check-sat)\r\n",
    "(set-logic QF_LIA)\n\n\n(declare-const x Int)\n\n; end of the declarations\n\n(assert (> x\n   wrong))\n(check-sat)\n",
];

/// Scripts in which a command before the fork that is not the script's own would show: settings that come after other
/// commands, in unusual forms, answers to every command, and the name that ours defines.
const DISTURBED: [&str; 12] = [
    "(set-logic ALL)\n(echo \"first\")\n(set-option :produce-unsat-cores true)\n(declare-const p Bool)\n\
     (assert (! p :named yes))\n(assert (! (not p) :named no))\n(check-sat)\n(get-unsat-core)\n",
    "(set-logic ALL)\n(get-info :name)\n(set-option :produce-proofs true)\n(declare-const p Bool)\n\
     (assert p)\n(assert (not p))\n(check-sat)\n(get-proof)\n",
    "(set-option :produce-models true)\n(get-option :produce-models)\n(set-logic QF_LIA)\n\
     (declare-const n Int)\n(assert (> n 6))\n(check-sat)\n(get-model)\n",
    "(set-option :produce-models true)\n(echo \"first\")\n(set-logic QF_LIA)\n(declare-const n Int)\n(check-sat)\n",
    "(set-logic QF_UF)\n( set-option :produce-unsat-cores true) (declare-const p Bool)\n\
     (assert (! (and p (not p)) :named both))\n(check-sat)\n(get-unsat-core)\n",
    "(set-option :random-seed 4)\n( ; the logic\nset-logic QF_LIA) (declare-const n Int)\n(check-sat)\n",
    "(set-option :smtlib2_compliant true)\n(set-logic ALL)\n(declare-const p Bool)\n(assert p)\n(check-sat)\n",
    "(set-option :Smtlib2-Compliant true)\n(set-logic ALL)\n(declare-const p Bool)\n(assert p)\n(check-sat)\n",
    "(set-logic ALL)\n(define-sort |osprey warm-up| () Int)\n(declare-const n |osprey warm-up|)\n\
     (assert (> n 2))\n(check-sat)\n(get-value (n))\n",
    "(set-logic ALL)\n(declare-const 3 Int)\n(set-option :produce-unsat-cores true)\n(declare-const p Bool)\n\
     (assert (! (and p (not p)) :named both))\n(check-sat)\n(get-unsat-core)\n",
    // The same head as those above: not from the same snapshot.
    "(set-logic ALL)\n(declare-const p Bool)\n(assert p)\n(check-sat)\n",
    "(set-logic ALL)\n(reset)\n(set-option :produce-unsat-cores true)\n(set-logic QF_UF)\n(declare-const p Bool)\n\
     (assert (! (and p (not p)) :named both))\n(check-sat)\n(get-unsat-core)\n(reset-assertions)\n(check-sat)\n",
];

fn scripts() -> Vec<String> {
    let mut scripts: Vec<String> = PREFIXES
        .iter()
        .flat_map(|prefix| BODIES.iter().map(move |body| format!("{prefix}{body}")))
        .chain(ODD.iter().chain(&DISTURBED).map(ToString::to_string))
        .collect();
    // Prefixes around the solver's block size, where padding is nothing, little or almost a block.
    for length in [1000, 1023, 1024, 1025, 2047, 2048, 2049, 8191, 8192, 8193] {
        let start = "(set-logic QF_LIA)\n(declare-const x Int)\n";
        let filler = "x".repeat(length - start.len() - 3);
        scripts.push(format!("{start}; {filler}\n(assert (> x 1))\n(assert (> x what))\n(check-sat)\n"));
        scripts.push(format!("; {filler}\n{start}(assert (> x 1))\n(check-sat)\n(get-model)\n(bad)\n"));
    }
    scripts
}

fn run(
    runner: &mut Launcher,
    solver: &Solver,
    script: &str,
    request: &RunRequest,
    mode: ExecMode,
) -> Outcome {
    run_as(runner, solver, script, request, &Way { mode, ..Way::default() })
}

/// How a solver is run.
#[derive(Clone, Default)]
struct Way {
    mode: ExecMode,
    brief: bool,
    probe: Option<ProbeRequest>,
}

fn run_as(runner: &mut Launcher, solver: &Solver, script: &str, request: &RunRequest, way: &Way) -> Outcome {
    let mut invocation = solver.invocation(script.as_bytes(), request).expect("a command line");
    invocation.limits = Limits { memory: Some(4 << 30), ..Limits::wall(Duration::from_secs(60)) };
    invocation.mode = way.mode;
    invocation.brief = way.brief;
    invocation.probe = way.probe.clone();
    runner.run(&invocation).expect("an outcome")
}

/// Snapshots are taken at the first sight of a prefix.
fn config() -> LauncherConfig {
    LauncherConfig {
        launcher: Some(env!("CARGO_BIN_EXE_osprey-launcher").into()),
        snapshot_after: 1,
        ..LauncherConfig::default()
    }
}

/// Compares on all scripts and with several options; returns how many runs were fast, of how many. Each is made without
/// the probe, then with it and cut short, as a campaign does by default.
fn compare(solver: &Solver, mode: ExecMode, requests: &[RunRequest]) -> (usize, usize) {
    let home = tempfile::tempdir().expect("a folder");
    let code = Code::of(solver, &Home::at(home.path())).expect("code");
    let mut runner = Launcher::new(LauncherConfig { servers: 4, ..config() }).expect("a launcher");
    let (mut fast_runs, mut runs) = (0, 0);
    for request in requests {
        for script in scripts() {
            let plain = run(&mut runner, solver, &script, request, ExecMode::Plain);
            for probe in [None, Some(code.probe(Trace::New))] {
                let way = Way { mode, brief: probe.is_some() || runs % 4 > 0, probe };
                let fast = run_as(&mut runner, solver, &script, request, &way);
                let what = format!("{} {mode}, watched: {}: {script}", solver.name(), way.probe.is_some());
                let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
                assert!(!plain.timed_out && !fast.timed_out, "{what}");
                assert_eq!(text(&fast.stdout), text(&plain.stdout), "{what}");
                assert_eq!(text(&fast.stderr), text(&plain.stderr), "{what}");
                assert_eq!(fast.exit, plain.exit, "{what}");
                assert_eq!(fast.fallback, None, "{what}");
                assert_eq!(fast.sites.is_some_and(|sites| sites.is_ok()), way.probe.is_some(), "{what}");
                runs += 1;
                fast_runs += usize::from(fast.mode == mode);
            }
        }
    }
    (fast_runs, runs)
}

fn requests() -> [RunRequest; 2] {
    [
        RunRequest::default(),
        RunRequest { models: true, check_models: true, seed: Some(5), ..RunRequest::default() },
    ]
}

#[test]
fn z3_behind_a_fork_server_says_what_it_says_plainly() {
    for spec in ["z3@5.4.0", "z3@4.8.7"] {
        let Some(solver) = get(spec) else { continue };
        let (fast, all) = compare(&solver, ExecMode::ForkServer, &requests());
        assert_eq!(fast, all);
    }
}

#[test]
fn z3_from_a_prefix_snapshot_says_what_it_says_plainly() {
    for spec in ["z3@5.4.0", "z3@4.8.7", "z3@4.8.12"] {
        let Some(solver) = get(spec) else { continue };
        let (fast, all) = compare(&solver, ExecMode::PrefixSnapshot, &requests());
        // Some of the odd scripts have no prefix.
        assert!(fast * 10 >= all * 9, "{fast} of {all}");
    }
}

#[test]
fn z3_that_answers_every_command_does_not_answer_one_of_ours() {
    for spec in ["z3@5.4.0", "z3@4.8.7"] {
        let Some(mut solver) = get(spec) else { continue };
        solver.options = vec!["smtlib2_compliant=true".to_owned()];
        let mut runner = Launcher::new(config()).expect("a launcher");
        let script = "(set-logic ALL)\n(declare-const p Bool)\n(assert p)\n(check-sat)\n";
        for mode in [ExecMode::Plain, ExecMode::PrefixSnapshot] {
            let outcome = run(&mut runner, &solver, script, &RunRequest::default(), mode);
            let said = String::from_utf8_lossy(&outcome.stdout).into_owned();
            assert_eq!((said.as_str(), outcome.mode), ("success\nsuccess\nsuccess\nsat\n", mode), "{spec}");
        }
    }
}

#[test]
fn cvc5_forked_from_its_host_says_what_it_says_plainly() {
    for spec in ["cvc5@1.4.2", "cvc5@1.2.1"] {
        let Some(solver) = get(spec) else { continue };
        let broad = RunRequest { broad: true, models: true, ..RunRequest::default() };
        let [plain, checking] = requests();
        let (fast, all) = compare(&solver, ExecMode::LibraryHost, &[plain, checking, broad]);
        assert_eq!(fast, all);
    }
}

/// After some thirty jobs a server changes the pages it is made of.
#[test]
fn a_server_that_is_used_often_says_what_it_said_before() {
    let ways = [
        ("z3@5.4.0", ExecMode::PrefixSnapshot),
        ("z3@4.8.7", ExecMode::PrefixSnapshot),
        ("z3@4.8.7", ExecMode::ForkServer),
        ("cvc5@1.4.2", ExecMode::LibraryHost),
    ];
    for (spec, mode) in ways {
        let Some(solver) = get(spec) else { continue };
        let mut runner = Launcher::new(config()).expect("a launcher");
        let scripts: Vec<String> = BODIES.iter().map(|body| format!("{}{body}", PREFIXES[0])).collect();
        let mut told = Vec::new();
        for turn in 0..5 {
            for (at, script) in scripts.iter().enumerate() {
                let request = RunRequest::default();
                let way = Way { mode, brief: turn % 2 == 1, probe: None };
                let outcome = run_as(&mut runner, &solver, script, &request, &way);
                assert_eq!(outcome.mode, mode, "{spec}: {script}");
                let said = (outcome.exit, outcome.stdout, outcome.stderr);
                match turn {
                    0 => told.push(said),
                    _ => assert_eq!(told[at], said, "{spec}, {mode}, turn {turn}: {script}"),
                }
            }
        }
    }
}

/// A server for what is seen once costs more than it saves.
#[test]
fn servers_are_started_for_what_is_seen_again() {
    let script = |head: &str| format!("{head}(declare-fun x () Int)\n(assert (> x 1))\n(check-sat)\n");
    let heads = ["(set-logic QF_LIA)\n", "(set-logic ALL)\n", "(set-logic QF_LIA)\n"];
    let modes = |spec: &str, mode: ExecMode, after: u32, heads: &[&str]| -> Option<Vec<ExecMode>> {
        let solver = get(spec)?;
        let config = LauncherConfig { snapshot_after: after, ..config() };
        let mut runner = Launcher::new(config).expect("a launcher");
        let mut one = |head: &&str| {
            let outcome = run(&mut runner, &solver, &script(head), &RunRequest::default(), mode);
            assert_eq!((outcome.stdout.as_slice(), outcome.fallback), (&b"sat\n"[..], None), "{spec}");
            outcome.mode
        };
        Some(heads.iter().map(&mut one).collect())
    };
    use ExecMode::{ForkServer, LibraryHost, Plain, PrefixSnapshot};
    if let Some(modes) = modes("cvc5@1.4.2", LibraryHost, 3, &heads) {
        assert_eq!(modes, [Plain, LibraryHost, LibraryHost]);
    }
    // The command line is seen again at once, the first head for the third time in the fourth run.
    let z3 = |after: u32| modes("z3@4.8.7", PrefixSnapshot, after, &[heads, heads].concat());
    if let Some(modes) = z3(3) {
        let expected = [Plain, ForkServer, ForkServer, PrefixSnapshot, ForkServer, PrefixSnapshot];
        assert_eq!(modes, expected);
    }
    if let Some(modes) = z3(u32::MAX) {
        assert_eq!(modes, [Plain; 6]);
    }
}

#[test]
fn a_static_solver_is_started_plainly_and_the_reason_is_told() {
    let Some(solver) = get("yices@2.6.5") else { return };
    let mut runner = Launcher::new(config()).expect("a launcher");
    let script = "(set-logic QF_LIA)\n(declare-fun x () Int)\n(assert (> x 1))\n(check-sat)\n";
    let mut fallbacks = Vec::new();
    for mode in [ExecMode::ForkServer, ExecMode::PrefixSnapshot, ExecMode::LibraryHost] {
        let outcome = run(&mut runner, &solver, script, &RunRequest::default(), mode);
        assert_eq!((outcome.mode, outcome.stdout.as_slice()), (ExecMode::Plain, &b"sat\n"[..]));
        fallbacks.extend(outcome.fallback);
    }
    assert_eq!(fallbacks.len(), 3, "{fallbacks:?}");
    assert!(
        fallbacks.iter().filter(|reason| reason.contains("statically linked")).count() == 2,
        "{fallbacks:?}"
    );
}

#[test]
fn the_cost_of_a_fork_server_is_told_with_the_runs_behind_it() {
    let script = "(set-logic QF_LIA)\n(declare-fun x () Int)\n(assert (> x 1))\n(check-sat)\n";
    for (spec, mode) in [("z3@5.4.0", ExecMode::PrefixSnapshot), ("cvc5@1.4.2", ExecMode::LibraryHost)] {
        let Some(solver) = get(spec) else { continue };
        for tuned in [false, true] {
            let mut runner = Launcher::new(LauncherConfig { tuned, ..config() }).expect("a launcher");
            let plain = run(&mut runner, &solver, script, &RunRequest::default(), ExecMode::Plain);
            assert_eq!(plain.server_time.total(), Duration::ZERO);
            let runs = [(); 12].map(|()| run(&mut runner, &solver, script, &RunRequest::default(), mode));
            assert!(runs.iter().all(|run| run.mode == mode && run.stdout == b"sat\n"));
            // The first one pays for the server's start.
            let first = runs[0].server_time.total();
            assert!(!first.is_zero() && runs[1..].iter().any(|run| run.server_time.total() < first));
        }
    }
}

#[test]
fn limits_hold_behind_fork_servers_of_real_solvers() {
    // Millions of gates.
    let large = "(set-logic QF_BV)\n(declare-fun x () (_ BitVec 4096))\n(declare-fun y () (_ BitVec 4096))\n\
                 (assert (= (bvmul x y) (bvadd (bvmul x x) (bvmul y y))))\n(assert (bvult x y))\n(check-sat)\n";
    let hard = "(set-logic QF_NIA)\n(declare-fun x () Int)\n(declare-fun y () Int)\n(declare-fun z () Int)\n\
                (assert (= (+ (* x x x) (* y y y) (* z z z)) 114))\n(check-sat)\n";
    for (spec, mode) in [("z3@5.4.0", ExecMode::PrefixSnapshot), ("cvc5@1.4.2", ExecMode::LibraryHost)] {
        let Some(solver) = get(spec) else { continue };
        let mut runner = Launcher::new(config()).expect("a launcher");
        let mut invocation =
            solver.invocation(hard.as_bytes(), &RunRequest::default()).expect("a command line");
        invocation.mode = mode;
        invocation.limits = Limits::wall(Duration::from_millis(500));
        for _ in 0..2 {
            let outcome = runner.run(&invocation).expect("an outcome");
            assert!(outcome.timed_out && outcome.mode == mode, "{spec}: {outcome:?}");
        }
        let large = solver.invocation(large.as_bytes(), &RunRequest::default()).expect("a command line");
        invocation.input = large.input;
        invocation.limits = Limits { memory: Some(256 << 20), ..Limits::wall(Duration::from_secs(60)) };
        let outcome = runner.run(&invocation).expect("an outcome");
        assert!(outcome.out_of_memory && !outcome.timed_out && outcome.mode == mode, "{spec}: {outcome:?}");
    }
}

/// What we do to a process takes no room that the solver needs.
#[test]
fn a_fast_start_with_little_memory_says_what_a_plain_one_says() {
    let script =
        "(set-logic QF_LIA)\n(declare-const x Int)\n(assert (> x 3))\n(check-sat)\n(get-model)\n(bad)\n";
    let home = tempfile::tempdir().expect("a folder");
    for spec in ["z3@5.4.0", "z3@4.8.7"] {
        let Some(solver) = get(spec) else { continue };
        let code = Code::of(&solver, &Home::at(home.path())).expect("code");
        let mut runner = Launcher::new(config()).expect("a launcher");
        let mut invocation =
            solver.invocation(script.as_bytes(), &RunRequest::default()).expect("a command line");
        // The large one first: its server must not serve the others.
        for megabytes in [4096, 56, 64, 120] {
            invocation.limits =
                Limits { memory: Some(megabytes << 20), ..Limits::wall(Duration::from_secs(60)) };
            invocation.mode = ExecMode::Plain;
            invocation.probe = None;
            let plain = runner.run(&invocation).expect("an outcome");
            for mode in [ExecMode::ForkServer, ExecMode::PrefixSnapshot] {
                for probe in [None, Some(code.probe(Trace::New))] {
                    invocation.mode = mode;
                    invocation.probe = probe;
                    let fast = runner.run(&invocation).expect("an outcome");
                    let said = |outcome: &Outcome| {
                        (outcome.exit, outcome.out_of_memory, outcome.stdout.clone(), outcome.stderr.clone())
                    };
                    assert_eq!(said(&fast), said(&plain), "{spec}, {mode}, {megabytes} MiB");
                }
            }
        }
    }
}

#[test]
fn the_cvc5_host_stops_at_the_time_limit_of_its_command_line() {
    let Some(mut solver) = get("cvc5@1.4.2") else { return };
    solver.options = vec!["--tlimit=200".to_owned()];
    let hard = "(set-logic QF_NIA)\n(declare-fun x () Int)\n(declare-fun y () Int)\n(declare-fun z () Int)\n\
                (assert (= (+ (* x x x) (* y y y) (* z z z)) 114))\n(check-sat)\n";
    let mut runner = Launcher::new(config()).expect("a launcher");
    for mode in [ExecMode::Plain, ExecMode::LibraryHost] {
        let outcome = run(&mut runner, &solver, hard, &RunRequest::default(), mode);
        assert_eq!(outcome.mode, mode);
        assert_eq!(outcome.exit, solver::launch::Exit::Signaled(6));
        assert_eq!(outcome.stderr, b"cvc5 interrupted by timeout.\n");
    }
}

#[test]
fn a_function_that_is_missing_and_never_called_keeps_no_program_from_fast_starts() {
    testkit::launcher();
    let folder = tempfile::tempdir().expect("a folder");
    let compile = |name: &str, text: &str, options: &[&str]| {
        let source = folder.path().join(format!("{name}.c"));
        std::fs::write(&source, text).expect("written");
        let output = folder.path().join(name);
        let mut compiler = std::process::Command::new("gcc");
        compiler.current_dir(folder.path()).arg("-o").arg(&output).arg(&source).args(options);
        match compiler.output() {
            Ok(done) if done.status.success() => Some(output),
            Ok(done) => {
                testkit::skip("gcc", String::from_utf8_lossy(&done.stderr));
                None
            }
            Err(error) => {
                testkit::skip("gcc", error);
                None
            }
        }
    };
    let library = "void missing(void); int called(int c) { if (c > 90) missing(); return 0; }";
    let Some(_) = compile("libpart.so", library, &["-shared", "-fPIC", "-Wl,-z,lazy"]) else { return };
    let main = "#include <stdio.h>\nint called(int); int main(int c, char **v) { called(c); puts(\"sat\"); return 0; }";
    let options = ["libpart.so", "-Wl,-rpath,$ORIGIN", "-Wl,-z,lazy", "-Wl,--unresolved-symbols=ignore-all"];
    let Some(program) = compile("program", main, &options) else { return };
    let mut solver = testkit::made_up("z3");
    solver.installed.how = How::Executable { path: program };
    let mut launcher = Launcher::new(LauncherConfig::default()).expect("a launcher");
    let mut invocation = solver.invocation(b"(check-sat)\n", &RunRequest::default()).expect("an invocation");
    invocation.mode = ExecMode::ForkServer;
    let outcome = launcher.run(&invocation).expect("a run");
    assert_eq!(
        (outcome.stdout.as_slice(), outcome.mode),
        (&b"sat\n"[..], ExecMode::ForkServer),
        "{outcome:?}"
    );
}
