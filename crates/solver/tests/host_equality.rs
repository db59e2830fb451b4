//! Our host for cvc5's libraries prints what cvc5 prints: against the Python module of the same release, which goes
//! through another interface, output for output; and the answers of the real program where Debian's is on PATH.
//! Without network and with an empty cache these tests are skipped, or fail: see
//! `testkit::skip`.

use std::path::PathBuf;

use solver::host::python::{Module, write_script};
use solver::install::How;
use solver::launch::{Launcher, LauncherConfig, Outcome};
use solver::{Outline, RunRequest, Solver};
use testkit::get;

/// The same release through its Python module.
fn through_python(solver: &Solver, scripts: &std::path::Path) -> Option<Solver> {
    let How::Cvc5Host { module, interpreter, .. } = &solver.installed.how else { return None };
    let script: PathBuf = write_script(Module::Cvc5, scripts).expect("written");
    let mut other = solver.clone();
    other.installed.how = How::Python {
        interpreter: interpreter.clone(),
        module: module.clone(),
        script,
        driver: Module::Cvc5,
    };
    Some(other)
}

/// Three constants of a sort and every choice of three facts about them.
fn over_several_theories() -> Vec<String> {
    let theories = [
        ("QF_LIA", "Int", ["(< (+ a b) (* 3 c))", "(= (mod a 7) (div b 2))", "(distinct a b c)"]),
        ("QF_LRA", "Real", ["(< (+ a b) (* 3.0 c))", "(= (/ a 7.0) b)", "(> (- a c) 1.5)"]),
        ("QF_BV", "(_ BitVec 16)", ["(bvult (bvadd a b) c)", "(= (bvmul a b) #x1234)", "(= (bvurem a c) b)"]),
        ("QF_S", "String", ["(= (str.++ a b) c)", "(str.contains c \"ab\")", "(> (str.len a) 2)"]),
        ("QF_AUFLIA", "(Array Int Int)", ["(= (select a 1) 2)", "(= (store b 1 2) c)", "(distinct a c)"]),
        ("QF_FP", "Float16", ["(fp.lt a b)", "(fp.eq (fp.add RNE a b) c)", "(not (fp.isNaN c))"]),
    ];
    let mut scripts = Vec::new();
    for (logic, sort, facts) in theories {
        for kept in 1u8..8 {
            let constants = ["a", "b", "c"].map(|name| format!("(declare-fun {name} () {sort})\n")).concat();
            let chosen = facts.iter().enumerate().filter(|(at, _)| kept & (1 << at) != 0);
            let facts: String = chosen.map(|(_, fact)| format!("(assert {fact})\n")).collect();
            scripts.push(format!("(set-logic {logic})\n{constants}{facts}(check-sat)\n"));
        }
    }
    scripts
}

/// Scripts with models, values, cores, push and pop, errors of all kinds, and options in the script.
fn scripts() -> Vec<String> {
    let mut scripts = over_several_theories();
    let asked: Vec<String> = scripts
        .iter()
        .map(|script| format!("(set-option :produce-models true)\n{script}(get-model)\n(get-value (a))\n"))
        .collect();
    scripts.extend(asked);
    scripts.extend(
        [
            "(set-logic QF_LIA)\n(declare-const x Int)\n(push 1)\n(assert (> x 1))\n(check-sat)\n(pop 1)\n(check-sat)\n",
            "(set-option :incremental true)\n(set-logic QF_LIA)\n(declare-const x Int)\n(push 1)\n(assert (< x x))\n(check-sat)\n(pop 1)\n(check-sat)\n",
            "(set-option :produce-unsat-cores true)\n(set-logic QF_UF)\n(declare-const p Bool)\n(assert (! p :named a))\n(assert (! (not p) :named b))\n(check-sat)\n(get-unsat-core)\n",
            "(set-logic QF_LIA)\n(declare-const x Int)\n(assert (> y 1))\n(check-sat)\n",
            "(set-logic QF_LIA)\n(assert (= 1 true))\n",
            "(set-logic NO_SUCH)\n(check-sat)\n",
            "(check-sat\n",
            "(set-logic QF_UF)\n(check-sat)\n(get-model)\n(echo \"more\")\n(check-sat)\n",
            "(set-option :no-such-option 1)\n(set-logic QF_UF)\n(check-sat)\n",
            "(set-info :status sat)\n(set-logic ALL)\n(get-info :name)\n(check-sat)\n(exit)\n(check-sat)\n",
            "(set-logic ALL)\n(declare-datatype T ((nil) (cons (head Int) (tail T))))\n(declare-const l T)\n(assert ((_ is cons) l))\n(check-sat)\n",
            "(set-logic ALL)\n(declare-sort U 0)\n(declare-fun f (U) U)\n(declare-const a U)\n(assert (not (= (f a) a)))\n(check-sat)\n",
            "(set-logic ALL)\n(declare-fun s () (Set Int))\n(assert (= (set.card s) 2))\n(check-sat)\n",
            "(set-logic ALL)\n(assert (forall ((x Int)) (exists ((y Int)) (> y x))))\n(check-sat)\n",
            "",
        ]
        .map(str::to_owned),
    );
    scripts
}

fn run(runner: &mut Launcher, solver: &Solver, script: &str, request: &RunRequest) -> Outcome {
    let invocation = solver.invocation(script.as_bytes(), request).expect("an invocation");
    runner.run(&invocation).expect("an outcome")
}

#[test]
fn the_host_prints_what_the_module_of_the_same_release_prints() {
    let Some(host) = get("cvc5@1.4.2") else { return };
    let folder = tempfile::tempdir().expect("a folder");
    let Some(module) = through_python(&host, folder.path()) else { panic!("cvc5 1.4.2 runs in our host") };
    let mut runner = Launcher::new(LauncherConfig::default()).expect("a launcher");
    let models = RunRequest { models: true, broad: true, ..RunRequest::default() };
    let mut compared = 0;
    for script in scripts() {
        for request in [&RunRequest::default(), &models] {
            let [ours, theirs] = [&host, &module].map(|solver| run(&mut runner, solver, &script, request));
            assert_eq!(
                (ours.exit, String::from_utf8_lossy(&ours.stdout)),
                (theirs.exit, String::from_utf8_lossy(&theirs.stdout)),
                "{script}"
            );
            compared += 1;
        }
    }
    assert!(compared > 150, "{compared}");
}

/// Two releases apart the words of models and errors may differ, the answers of easy questions may not.
#[test]
fn the_host_answers_as_the_real_program() {
    let (Some(host), Some(program)) = (get("cvc5@1.4.2"), get("cvc5@1.0.3")) else { return };
    assert!(matches!(program.installed.how, How::Executable { .. }));
    let mut runner = Launcher::new(LauncherConfig::default()).expect("a launcher");
    let mut compared = 0;
    for script in scripts() {
        let [ours, theirs] = [&host, &program].map(|solver| {
            let outcome = run(&mut runner, solver, &script, &RunRequest::default());
            let answers = solver.read(&Outline::of(script.as_bytes()), &outcome);
            answers.checks.iter().map(|check| check.answer.word().to_owned()).collect::<Vec<String>>()
        });
        if !theirs.is_empty() && !theirs.contains(&"unknown".to_owned()) {
            assert_eq!(ours, theirs, "{script}");
            compared += 1;
        }
    }
    assert!(compared > 60, "{compared}");
}
