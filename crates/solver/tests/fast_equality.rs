//! Fast starts give the output of plain ones, byte for byte, with real solvers.
//!
//! The solvers are installed as a user would install them. Where that is not possible (no network, nothing cached) the
//! tests are skipped, or fail: see `testkit::skip`.

use std::time::Duration;

use solver::Solver;
use solver::adapter::RunRequest;
use solver::fast::ExecMode;
use solver::launch::{Launcher, LauncherConfig, Outcome};
use solver::limits::Limits;
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

fn scripts() -> Vec<String> {
    let mut scripts: Vec<String> = PREFIXES
        .iter()
        .flat_map(|prefix| BODIES.iter().map(move |body| format!("{prefix}{body}")))
        .chain(ODD.iter().map(ToString::to_string))
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
    run_to_its_end(runner, solver, script, request, mode, false)
}

fn run_to_its_end(
    runner: &mut Launcher,
    solver: &Solver,
    script: &str,
    request: &RunRequest,
    mode: ExecMode,
    brief: bool,
) -> Outcome {
    let mut invocation = solver.invocation(script.as_bytes(), request).expect("a command line");
    invocation.limits = Limits { memory: Some(4 << 30), ..Limits::wall(Duration::from_secs(60)) };
    invocation.mode = mode;
    invocation.brief = brief;
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

/// Compares on all scripts and with several options; returns how many runs were fast, of how many.
fn compare(solver: &Solver, mode: ExecMode, requests: &[RunRequest]) -> (usize, usize) {
    let mut runner = Launcher::new(LauncherConfig { servers: 4, ..config() }).expect("a launcher");
    let (mut fast_runs, mut runs) = (0, 0);
    for request in requests {
        for script in scripts() {
            let plain = run(&mut runner, solver, &script, request, ExecMode::Plain);
            let fast = run_to_its_end(&mut runner, solver, &script, request, mode, runs % 4 > 0);
            let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
            assert!(!plain.timed_out && !fast.timed_out, "{script}");
            assert_eq!(text(&fast.stdout), text(&plain.stdout), "{} {mode}: {script}", solver.name());
            assert_eq!(text(&fast.stderr), text(&plain.stderr), "{} {mode}: {script}", solver.name());
            assert_eq!(fast.exit, plain.exit, "{} {mode}: {script}", solver.name());
            assert_eq!(fast.fallback, None, "{} {mode}: {script}", solver.name());
            runs += 1;
            fast_runs += usize::from(fast.mode == mode);
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
                let outcome = run_to_its_end(&mut runner, &solver, script, &request, mode, turn % 2 == 1);
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
        // Less than it has already: the first page it asks for is one too many.
        invocation.limits = Limits { memory: Some(16 << 20), ..Limits::wall(Duration::from_secs(60)) };
        let outcome = runner.run(&invocation).expect("an outcome");
        assert!(outcome.out_of_memory && !outcome.timed_out, "{spec}: {outcome:?}");
    }
}

#[test]
fn the_cvc5_host_stops_at_the_time_limit_of_its_command_line() {
    let Some(mut solver) = get("cvc5@1.4.2") else { return };
    solver.options = vec!["--tlimit=200".to_owned()];
    let hard = "(set-logic QF_NIA)\n(declare-fun x () Int)\n(declare-fun y () Int)\n(declare-fun z () Int)\n\
                (assert (= (+ (* x x x) (* y y y) (* z z z)) 114))\n(check-sat)\n";
    let config = LauncherConfig {
        launcher: Some(env!("CARGO_BIN_EXE_osprey-launcher").into()),
        ..LauncherConfig::default()
    };
    let mut runner = Launcher::new(config).expect("a launcher");
    for mode in [ExecMode::Plain, ExecMode::LibraryHost] {
        let outcome = run(&mut runner, &solver, hard, &RunRequest::default(), mode);
        assert_eq!(outcome.mode, mode);
        assert_eq!(outcome.exit, solver::launch::Exit::Signaled(6));
        assert_eq!(outcome.stderr, b"cvc5 interrupted by timeout.\n");
    }
}
