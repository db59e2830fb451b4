//! Solvers that no registry has: programs that keep to their documented conventions stand in for them, found by path,
//! identified by what they say about their version, called and read through their adapters. Debian's Boolector is real.

use std::path::{Path, PathBuf};

use solver::launch::{Launcher, LauncherConfig, Outcome};
use solver::{Adapters, Answers, Home, InstallError, Outline, RunClass, RunRequest, Solver, Solvers};

/// A program that answers a question about its version, and otherwise prints what the script's comments `;; ` say, its
/// command line on standard error, and ends with the code after `;;exit `.
fn stand_in(folder: &Path, name: &str, asked: &str, version: &str) -> PathBuf {
    let body = format!(
        "if [ \"$1\" = \"{asked}\" ]; then echo '{version}'; exit 0; fi\necho \"called: $*\" >&2\n\
         for file; do :; done\nsed -n 's/^;; //p' \"$file\"\nexit $(sed -n 's/^;;exit //p' \"$file\")"
    );
    testkit::program(folder, name, &body)
}

fn resolve(folder: &Path, spec: &str) -> Result<Solver, InstallError> {
    let solvers = Solvers::new(Adapters::built_in(), Home::at(folder.join("home")));
    solvers.resolve(spec, &|_, _| ()).map(|mut found| found.pop().expect("one solver"))
}

fn run(solver: &Solver, script: &str, request: &RunRequest) -> (Outcome, Answers) {
    let mut runner = Launcher::new(LauncherConfig::default()).expect("a launcher");
    let invocation = solver.invocation(script.as_bytes(), request).expect("an invocation");
    let outcome = runner.run(&invocation).expect("an outcome");
    let answers = solver.read(&Outline::of(script.as_bytes()), &outcome);
    (outcome, answers)
}

fn words(answers: &Answers) -> Vec<&str> {
    answers.checks.iter().map(|check| check.answer.word()).collect()
}

/// Name, the question for the version and the answer, the release that is in it, and the words for a run with a model,
/// a seed and a time limit.
const SOLVERS: &[(&str, &str, &str, &str, &str)] = &[
    (
        "mathsat",
        "-version",
        "MathSAT5 version 5.6.11 (a0b1c2d3) (Mar 15 2024 10:20:30, gmp 6.2.0, gcc 7.5.0, 64-bit)",
        "mathsat@5.6.11",
        "-input=smt2 -model_generation=true -random_seed=7",
    ),
    ("opensmt", "--version", "2.8.0", "opensmt@2.8.0", "-r 7"),
    (
        "smtinterpol",
        "-version",
        "SMTInterpol 2.5-1301-g0123abcd",
        "smtinterpol@2.5",
        "-q -o produce-models=true -r 7 -t 2000",
    ),
    ("stp", "--version", "STP version: 2.3.4", "stp@2.3.4", "--SMTLIB2 -p --seed 7"),
    ("colibri2", "--version", "0.4", "colibri2@0.4", "--lang=smt2 --seed=7 --time=2s"),
    (
        "dreal",
        "--version",
        "dReal v4.21.06.2 (Release Build)",
        "dreal@4.21.6.2",
        "--produce-models --random-seed 7",
    ),
    ("boolector", "--version", "3.2.3", "boolector@3.2.3", "--smt2 --model-gen=1 --seed=7 --time=2"),
];

#[test]
fn programs_on_a_path_are_identified_called_and_answer() {
    let folder = tempfile::tempdir().expect("a folder");
    let request = RunRequest {
        models: true,
        seed: Some(7),
        timeout: Some(std::time::Duration::from_secs(2)),
        ..RunRequest::default()
    };
    for (name, asked, version, release, called) in SOLVERS {
        let path = stand_in(folder.path(), name, asked, version);
        let solver = resolve(folder.path(), path.to_str().expect("UTF-8")).expect("identified");
        let version = solver.version().map(ToString::to_string).unwrap_or_default();
        assert_eq!(format!("{}@{version}", solver.installed.name), *release);
        let script = ";; sat\n;; unsat\n(check-sat)\n(check-sat)\n";
        let (outcome, answers) = run(&solver, script, &request);
        let said = String::from_utf8_lossy(&outcome.stderr).into_owned();
        for word in called.split(' ') {
            assert!(said.split_whitespace().any(|given| given == word), "{name}: {word} is not in {said}");
        }
        assert_eq!((&answers.class, words(&answers)), (&RunClass::Answered, vec!["sat", "unsat"]), "{name}");
    }
}

#[test]
fn what_they_say_when_they_cannot_is_understood() {
    let folder = tempfile::tempdir().expect("a folder");
    let cases: &[(&str, &str, &str)] = &[
        ("mathsat", ";; (error \"syntax error, unexpected SYMBOL (line: 3)\")\n;;exit 1\n", "rejected"),
        ("mathsat", ";; unsupported\n", "unsupported"),
        ("opensmt", ";; (error \"unknown logic QF_S\")\n;;exit 1\n", "unsupported"),
        ("opensmt", ";; (error \"parse error at line 4\")\n;;exit 1\n", "rejected"),
        ("smtinterpol", ";; (error \"Undeclared function symbol (y Int)\")\n", "unsupported"),
        ("smtinterpol", ";; (error \"Internal error: null\")\n;;exit 1\n", "crash"),
        ("stp", ";; Fatal Error: BVConst: wrong width\n;;exit 255\n", "crash"),
        ("stp", ";; syntax error: line 3\n;;exit 1\n", "rejected"),
        (
            "colibri2",
            ";; File \"a.smt2\", line 2, character 5-6:\n;; Error unbound identifier y\n;;exit 1\n",
            "rejected",
        ),
        ("colibri2", ";; Fatal error: exception Not_found\n;;exit 2\n", "crash"),
        ("dreal", ";; dReal does not support arrays\n;;exit 1\n", "unsupported"),
        ("boolector", ";; boolector: a.smt2:3:7: undefined symbol 'y'\n;;exit 1\n", "rejected"),
    ];
    for (name, says, class) in cases {
        let (_, asked, version, ..) = SOLVERS.iter().find(|known| known.0 == *name).expect("listed");
        let path = stand_in(folder.path(), name, asked, version);
        let solver = resolve(folder.path(), path.to_str().expect("UTF-8")).expect("identified");
        let (_, answers) = run(&solver, &format!("{says}(check-sat)\n"), &RunRequest::default());
        assert_eq!(answers.class.word(), *class, "{name}: {says} {:?}", answers.class);
        assert_eq!(answers.trusted().count(), 0, "{name}: {says}");
    }
}

/// dReal's answers hold up to a tolerance: such a `sat` is none.
#[test]
fn a_delta_sat_is_not_a_sat() {
    let folder = tempfile::tempdir().expect("a folder");
    let (name, asked, version, ..) = SOLVERS[5];
    let path = stand_in(folder.path(), name, asked, version);
    let solver = resolve(folder.path(), path.to_str().expect("UTF-8")).expect("identified");
    let script = ";; delta-sat with delta = 0.001\n(check-sat)\n";
    let (_, answers) = run(&solver, script, &RunRequest::default());
    assert!(!words(&answers).contains(&"sat"), "{:?}", words(&answers));
    let (_, answers) = run(&solver, ";; unsat\n(check-sat)\n", &RunRequest::default());
    assert_eq!(words(&answers), ["unsat"]);
}

/// Boolector says its answer by exit code, too.
#[test]
fn exit_codes_that_repeat_the_answer_are_harmless() {
    let folder = tempfile::tempdir().expect("a folder");
    let (name, asked, version, ..) = SOLVERS[6];
    let path = stand_in(folder.path(), name, asked, version);
    let solver = resolve(folder.path(), path.to_str().expect("UTF-8")).expect("identified");
    for (word, code) in [("sat", 10), ("unsat", 20)] {
        let script = format!(";; {word}\n;;exit {code}\n(check-sat)\n");
        let (_, answers) = run(&solver, &script, &RunRequest::default());
        assert_eq!((&answers.class, words(&answers)), (&RunClass::Answered, vec![word]));
    }
}

#[test]
fn debians_boolector_answers_and_refuses() {
    let Some(solver) = testkit::get("boolector@1.5.118") else { return };
    let script = |fact: &str| {
        format!("(set-logic QF_BV)\n(declare-fun x () (_ BitVec 8))\n(assert {fact})\n(check-sat)\n(exit)\n")
    };
    for (fact, word) in [("(bvugt x #x03)", "sat"), ("(bvult x x)", "unsat")] {
        let (outcome, answers) = run(&solver, &script(fact), &RunRequest::default());
        let said = String::from_utf8_lossy(&outcome.stdout).into_owned();
        assert_eq!((&answers.class, words(&answers)), (&RunClass::Answered, vec![word]), "{said}");
    }
    let (_, answers) = run(&solver, &script("(bvult x y)"), &RunRequest::default());
    assert_eq!(answers.class, RunClass::Rejected);
    let (_, answers) = run(&solver, "(set-logic QF_BV)\n(push 1)\n(check-sat)\n", &RunRequest::default());
    assert_eq!(answers.class, RunClass::Unsupported);
}
