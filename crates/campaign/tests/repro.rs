//! `repro.sh` of every kind of finding, run by a shell with stand-in programs: what it says and its exit code.

use std::path::{Path, PathBuf};
use std::process::Command;

use campaign::Finding;
use campaign::findings::{Origin, Releases, RunRecord, Signature, Stage};
use eval::Expectation;
use oracle::Kind;
use smtlib::{Setting, Status};
use solver::crash::{CrashKind, CrashReport};
use solver::run::PartyId;

const SCRIPT: &str =
    "(set-logic QF_LIA)\n(declare-const x Int)\n(assert (> x 3))\n(check-sat)\n(get-model)\n";

/// A place whose name a shell would take apart.
struct Place {
    root: tempfile::TempDir,
}

impl Place {
    fn new() -> Place {
        let place = Place { root: tempfile::tempdir().expect("a folder") };
        std::fs::create_dir(place.path("it's a $HOME")).expect("made");
        place
    }

    fn path(&self, name: &str) -> PathBuf {
        self.root.path().join(name)
    }

    fn program(&self, name: &str, body: &str) -> PathBuf {
        testkit::program(self.root.path(), name, body)
    }

    fn write(&self, finding: &Finding, input: &str) -> PathBuf {
        finding.write(&self.path("it's a $HOME"), input, None, None).expect("written").join("repro.sh")
    }
}

fn record(solver: &str, answers: &[&str], stdout: &str) -> RunRecord {
    RunRecord {
        party: PartyId(0),
        solver: solver.to_owned(),
        user_options: Vec::new(),
        version: "4.8.7".to_owned(),
        sha256: None,
        command: "z3 -smt2 input.smt2".to_owned(),
        settings: Vec::new(),
        unfair: Vec::new(),
        too_many: Vec::new(),
        judged: false,
        models: false,
        broad: false,
        class: "answered".to_owned(),
        answers: answers.iter().map(ToString::to_string).collect(),
        stdout: stdout.to_owned(),
        stderr: String::new(),
        cpu_ms: 3,
        ended: "exit code 0".to_owned(),
        crash: None,
        program: Some("/no/such/z3".to_owned()),
        arguments: ["-smt2", "a b=it's", "input.smt2"].map(str::to_owned).to_vec(),
        from_stdin: false,
        origin: "the PyPI package z3-solver 4.8.7".to_owned(),
    }
}

fn finding(kind: Kind, runs: Vec<RunRecord>) -> Finding {
    Finding {
        osprey: "0.1.0".to_owned(),
        found: 0,
        kind,
        solver: "z3@4.8.7".to_owned(),
        title: "Z3".to_owned(),
        summary: "a summary".to_owned(),
        signature: Signature::Text(format!("{kind} | z3@4.8.7")),
        flaky: false,
        stage: Stage::Unreduced,
        expectation: Expectation::Agree,
        answer: match kind {
            Kind::RefutationSoundness => Some(Status::Sat),
            Kind::SolutionSoundness => Some(Status::Unsat),
            _ => None,
        },
        evidence: Vec::new(),
        accused: (kind != Kind::Disagreement).then_some(PartyId(0)),
        check: Some(0),
        platform: "linux".to_owned(),
        runs,
        operators: vec!["+".to_owned()],
        blame: reduce::blame::Blame::default(),
        releases: None,
        group: None,
        handling: campaign::findings::Handling::default(),
        provenance: Origin::default(),
    }
}

/// Exit code, and what it printed.
fn run(repro: &Path, folder: &Path, arguments: &[&str]) -> (Option<i32>, String) {
    let output = Command::new(repro).args(arguments).current_dir(folder).output().expect("a shell");
    let text = [output.stdout, output.stderr].concat();
    (output.status.code(), String::from_utf8(text).expect("UTF-8"))
}

#[test]
fn a_wrong_answer_is_told_from_a_right_one_and_from_none() {
    let place = Place::new();
    let runs = vec![record("z3@4.8.7", &["unsat"], "unsat\n"), record("z3@5.4.0", &["sat"], "sat\n")];
    let repro = place.write(&finding(Kind::RefutationSoundness, runs), SCRIPT);
    // It gets its options as they were, and the input from where the script lies.
    let wants = "[ \"$1\" = -smt2 ] && [ \"$2\" = \"a b=it's\" ] && grep -q '> x 3' \"$3\" || exit 3";
    place.program("bad", &format!("{wants}\necho unsat"));
    place.program("good", &format!("{wants}\necho sat"));
    place.program("unsure", "echo unknown");
    place.program("silent", "exit 3");
    for (program, code) in [("./bad", 1), ("bad", 1), ("./good", 0), ("unsure", 0), ("silent", 125)] {
        let (found, said) = run(&repro, place.root.path(), &[program]);
        assert_eq!(found, Some(code), "{program}: {said}");
        assert!(said.contains("expected: sat"), "{said}");
        assert!(said.contains("saw: "), "{said}");
    }
    let (code, said) = run(&repro, place.root.path(), &["./bad"]);
    assert!(said.contains("saw: unsat (exit code 0)\nthe bug shows\n"), "{code:?} {said}");
    for absent in ["./absent", "no-such-solver", "."] {
        let (found, said) = run(&repro, place.root.path(), &[absent]);
        assert_eq!(found, Some(125), "{said}");
        assert!(said.contains("is not a program here"), "{said}");
    }
    // Through a path with a folder of the caller's.
    std::fs::create_dir(place.path("build")).expect("made");
    testkit::program(&place.path("build"), "z3", "echo unsat");
    assert_eq!(run(&repro, place.root.path(), &["build/z3"]).0, Some(1));
    assert_eq!(run(&repro, &place.path("build"), &["./z3"]).0, Some(1));
}

#[test]
fn without_an_argument_it_takes_the_program_with_which_the_bug_was_found() {
    let place = Place::new();
    let mut one = record("z3@4.8.7", &["sat"], "sat\n");
    one.program = Some(place.program("z3 of mine", "echo sat").display().to_string());
    let repro = place.write(&finding(Kind::SolutionSoundness, vec![one]), SCRIPT);
    let (code, said) = run(&repro, Path::new("/"), &[]);
    assert_eq!(code, Some(1), "{said}");
}

#[test]
fn the_answer_in_question_counts_and_not_another_one() {
    let place = Place::new();
    let mut wrong = finding(Kind::SolutionSoundness, vec![record("z3@4.8.7", &["sat", "sat"], "sat\nsat\n")]);
    wrong.check = Some(1);
    let repro = place.write(&wrong, SCRIPT);
    place.program("fixed", "echo sat; echo '(error \"x\")'; echo unsat");
    place.program("bad", "echo unsat; echo sat");
    assert_eq!(run(&repro, place.root.path(), &["fixed"]).0, Some(0));
    let (code, said) = run(&repro, place.root.path(), &["bad"]);
    assert_eq!(code, Some(1), "{said}");
    assert!(said.contains("as answer 2"), "{said}");
}

#[test]
fn a_crash_is_known_by_its_signal_its_words_or_its_exit_code() {
    let place = Place::new();
    let crash = |kind, message: &str| CrashReport {
        kind,
        signal: None,
        file: None,
        line: None,
        function: None,
        message: message.to_owned(),
        frames: Vec::new(),
        overflow: false,
    };
    place.program("segv", "kill -SEGV $$");
    place.program("words", "echo 'Fatal failure within check at x.cpp:77' >&2; exit 1");
    place.program("code", "exit 104");
    place.program("fine", "echo sat; exit 1");
    let cases = [
        (
            crash(CrashKind::Signal, ""),
            "killed by signal 11 (SIGSEGV)",
            ["segv"].as_slice(),
            ["words", "code"],
        ),
        (
            crash(CrashKind::InternalError, "Fatal failure within check at x.cpp:12"),
            "exit code 1",
            &["segv", "words"],
            ["code", "fine"],
        ),
        (crash(CrashKind::InternalError, ""), "exit code 104", &["code", "segv"], ["fine", "words"]),
    ];
    for (number, (crash, ended, bad, good)) in cases.into_iter().enumerate() {
        let mut one = record("z3@4.8.7", &[], "");
        one.crash = Some(crash);
        one.ended = ended.to_owned();
        let mut found = finding(Kind::Crash, vec![one]);
        found.signature = Signature::Text(format!("crash {number}"));
        let repro = place.write(&found, SCRIPT);
        for (programs, code) in [(bad, 1), (&good[..], 0)] {
            for program in programs {
                let (found, said) = run(&repro, place.root.path(), &[program]);
                assert_eq!(found, Some(code), "case {number}, {program}: {said}");
                assert!(said.contains("expected: no crash"), "{said}");
            }
        }
    }
}

#[test]
fn a_wrong_model_is_recognised_or_put_into_the_script() {
    let place = Place::new();
    let seen = "sat\n(model\n  (define-fun x () Int\n    1)\n)\n";
    let repro = place.write(&finding(Kind::InvalidModel, vec![record("z3@4.8.7", &["sat"], seen)]), SCRIPT);
    let folder = repro.parent().expect("a folder");
    let with_model = std::fs::read_to_string(folder.join("with-model.smt2")).expect("a script");
    assert!(with_model.contains("(define-fun x () Int 1)"), "{with_model}");
    let report = std::fs::read_to_string(folder.join("report.md")).expect("a report");
    assert!(report.contains("gives a model that does not satisfy the script: +"), "{report}");
    assert!(report.contains("(define-fun x () Int 1)\n(assert (> x 3))"), "{report}");
    // Asked with the model put in, each of these says what is true of its own model.
    let judge = |model: &str, holds: &str| {
        format!("if grep -q define-fun \"$3\"; then echo {holds}; else echo sat; echo '{model}'; fi")
    };
    place.program("same", &judge("( (define-fun x () Int 1) )", "sat"));
    place.program("recorded", "echo sat; echo '(model (define-fun x () Int 1) )'");
    place.program("worse", &judge("((define-fun x () Int 2))", "unsat"));
    place.program("right", &judge("(\n(define-fun x () Int\n4)\n)", "sat"));
    place.program("refuses", "echo unsat");
    place.program("broken", &judge("(define-fun", "'(error \"no\")'"));
    let expected =
        [("recorded", 1), ("worse", 1), ("same", 0), ("right", 0), ("refuses", 0), ("broken", 125)];
    for (program, code) in expected {
        let (found, said) = run(&repro, place.root.path(), &[program]);
        assert_eq!(found, Some(code), "{program}: {said}");
    }
}

#[test]
fn a_model_that_is_wrong_about_an_open_case_is_not_put_in_since_the_script_would_be_satisfiable() {
    let place = Place::new();
    let seen = "sat\n((define-fun s () (Seq Int)\n    (seq.unit 4))\n  (define-fun seq.nth_u ((x!0 (Seq Int)) (x!1 Int)) \
                Int\n    3))\n";
    let script = "(declare-const s (Seq Int))\n(assert (= 1 (seq.nth s 1)))\n(check-sat)\n(get-model)\n";
    let run = RunRecord { version: "5.4.0".to_owned(), ..record("z3@5.4.0", &["sat"], seen) };
    let repro = place.write(&finding(Kind::InvalidModel, vec![run]), script);
    assert!(!repro.with_file_name("with-model.smt2").exists());
    let report = std::fs::read_to_string(repro.with_file_name("report.md")).expect("a report");
    assert!(!report.contains("is unsatisfiable"), "{report}");
    assert!(report.contains("a case that the standard leaves open"), "{report}");
}

#[test]
fn the_model_that_others_have_confirmed_stands_beside_a_wrong_refutation() {
    let place = Place::new();
    let accused = record("z3@4.8.7", &["unsat"], "unsat\n");
    let other = RunRecord {
        version: "5.4.0".to_owned(),
        ..record("z3@5.4.0", &["sat"], "sat\n((define-fun x () Int 5))\n")
    };
    let mut found = finding(Kind::RefutationSoundness, vec![accused, other]);
    let without = place.write(&found, SCRIPT);
    assert!(!without.with_file_name("with-model.smt2").exists(), "the evaluator has found it");
    found.evidence = vec!["z3@4.8.7 answers sat with the model of z3@5.4.0 put in".to_owned()];
    found.signature = Signature::Text("confirmed".to_owned());
    let repro = place.write(&found, SCRIPT);
    let with_model = std::fs::read_to_string(repro.with_file_name("with-model.smt2")).expect("a script");
    assert!(with_model.contains("(define-fun x () Int 5)"), "{with_model}");
    let report = std::fs::read_to_string(repro.with_file_name("report.md")).expect("a report");
    assert!(report.contains("With the model of z3@5.4.0 put in as definitions"), "{report}");
}

#[test]
fn a_solver_that_floods_its_output_fills_no_disk() {
    let place = Place::new();
    let mut one = record("z3@4.8.7", &["unsat"], "unsat\n");
    one.ended = "exit code 0".to_owned();
    let repro = place.write(&finding(Kind::RefutationSoundness, vec![one]), SCRIPT);
    place.program("flood", "exec yes sat");
    let (code, said) = run(&repro, place.root.path(), &["flood"]);
    assert!(code.is_some(), "{said}");
}

#[test]
fn without_a_model_on_record_answers_alone_show_no_bug() {
    let twice = SCRIPT.replace("(get-model)", "(check-sat)");
    let once = SCRIPT.replace("(get-model)\n", "");
    for (script, answers, said) in [(&twice, &["sat", "sat"][..], "sat\nsat\n"), (&once, &["sat"], "sat\n")] {
        let place = Place::new();
        let mut wrong = finding(Kind::InvalidModel, vec![record("z3@4.8.7", answers, said)]);
        wrong.check = Some(answers.len() - 1);
        let repro = place.write(&wrong, script);
        assert!(!repro.with_file_name("seen.txt").exists());
        place.program("fixed", &format!("printf '{}'", said.replace('\n', "\\n")));
        let (found, text) = run(&repro, place.root.path(), &["fixed"]);
        assert_eq!(found, Some(125), "{text}");
    }
    // The model of another check is not the one in question.
    let place = Place::new();
    let first = "sat\n((define-fun x () Int 1))\nsat\n";
    let mut wrong = finding(Kind::InvalidModel, vec![record("z3@4.8.7", &["sat", "sat"], first)]);
    wrong.check = Some(1);
    assert!(!place.write(&wrong, &twice).with_file_name("seen.txt").exists());
}

#[test]
fn a_script_with_a_model_put_in_says_how_its_strings_are_written() {
    let place = Place::new();
    let seen = "sat\n(model\n  (define-fun s () String\n    \"\\x01\")\n)\n";
    let script = "(declare-const s String)\n(assert (= s \"b\"))\n(check-sat)\n(get-model)\n";
    let with_model = |version: &str| {
        let run = RunRecord { version: version.to_owned(), ..record("z3@4.8.7", &["sat"], seen) };
        let mut found = finding(Kind::InvalidModel, vec![run]);
        found.signature = Signature::Text(version.to_owned());
        let repro = place.write(&found, script);
        std::fs::read_to_string(repro.with_file_name("with-model.smt2")).expect("a script")
    };
    let old = with_model("4.8.7");
    let note = format!("{}\n", smtlib::literal::HEX_NOTE);
    assert!(old.contains("\"\\x01\"") && old.ends_with(&note), "{old}");
    assert!(!with_model("5.4.0").contains(&note));
}

#[test]
fn the_put_in_script_is_one_that_real_solvers_read() {
    if !testkit::have(&["z3@5.4.0", "z3@4.8.7"]) {
        return;
    }
    let place = Place::new();
    let script = "(declare-fun f (Int) Int)\n(declare-const y Int)\n(declare-const unused Bool)\n\
         (assert (> (f y) y))\n(assert (= (f 0) 7))\n(check-sat)\n(get-model)\n";
    let mut one = record("z3@4.8.7", &["sat"], "sat\n((define-fun y () Int 9))\n");
    one.arguments = ["-smt2", "input.smt2"].map(str::to_owned).to_vec();
    let repro = place.write(&finding(Kind::InvalidModel, vec![one]), script);
    for spec in ["z3@5.4.0", "z3@4.8.7"] {
        let solver = testkit::get(spec).expect("a solver");
        let solver::install::How::Executable { path } = &solver.installed.how else { panic!("no program") };
        let (code, said) = run(&repro, place.root.path(), &[path.to_str().expect("UTF-8")]);
        assert_eq!(code, Some(0), "{said}");
        assert!(said.contains("with its model put in: sat"), "{said}");
    }
}

#[test]
fn parties_that_contradict_each_other_and_answers_that_depend_on_earlier_ones() {
    let place = Place::new();
    let runs = vec![record("z3@4.8.7", &["sat"], "sat\n"), record("cvc5@1.4.2", &["unsat"], "unsat\n")];
    let repro = place.write(&finding(Kind::Disagreement, runs), SCRIPT);
    place.program("sat", "echo sat");
    place.program("unsat", "echo unsat");
    let (code, said) = run(&repro, place.root.path(), &["sat"]);
    assert_eq!(code, Some(1), "{said}");
    assert!(said.contains("expected: the answer unsat of cvc5@1.4.2"), "{said}");
    assert_eq!(run(&repro, place.root.path(), &["unsat"]).0, Some(0));

    let script =
        "(declare-const p Bool)\n(push 1)\n(assert p)\n(check-sat)\n(pop 1)\n(assert (not p))\n(check-sat)\n";
    let mut found = finding(Kind::Incremental, vec![record("z3@4.8.7", &["sat", "unsat"], "sat\nunsat\n")]);
    found.check = Some(1);
    let repro = place.write(&found, script);
    let alone = std::fs::read_to_string(repro.with_file_name("alone.smt2")).expect("a script");
    assert_eq!(alone, "(declare-const p Bool)\n(assert (not p))\n(check-sat)\n");
    place.program("depends", "echo sat; if grep -q push \"$3\"; then echo unsat; fi");
    place.program("constant", "echo sat; if grep -q push \"$3\"; then echo sat; fi");
    let (code, said) = run(&repro, place.root.path(), &["depends"]);
    assert_eq!(code, Some(1), "{said}");
    assert!(said.contains("expected: sat, as for the same assertions alone"), "{said}");
    assert_eq!(run(&repro, place.root.path(), &["constant"]).0, Some(0));
    assert_eq!(run(&repro, place.root.path(), &["sat"]).0, Some(125), "the second answer is missing");
}

#[test]
fn cores_and_values_are_recognised_as_recorded_and_slow_runs_by_the_clock() {
    let place = Place::new();
    for (kind, output) in [(Kind::UnsoundCore, "unsat\n(a b)\n"), (Kind::WrongValue, "sat\n((x 3))\n")] {
        let word = output.lines().next().expect("an answer");
        let repro = place.write(&finding(kind, vec![record("z3@4.8.7", &[word], output)]), SCRIPT);
        place.program("recorded", &format!("printf '{}'", output.replace('\n', "\\n ")));
        place.program("other", &format!("echo {word}; echo '(c)'"));
        place.program("unsure", "echo unknown");
        for (program, code) in [("recorded", 1), ("other", 125), ("unsure", 0)] {
            let (found, said) = run(&repro, place.root.path(), &[program]);
            assert_eq!(found, Some(code), "{kind}, {program}: {said}");
        }
    }
    let mut slow = record("z3@4.8.7", &["sat"], "sat\n");
    slow.cpu_ms = 100_000;
    let quick = RunRecord { cpu_ms: 1, ..record("z3@5.4.0", &["sat"], "sat\n") };
    let repro = place.write(&finding(Kind::Performance, vec![slow, quick]), SCRIPT);
    place.program("slow", "sleep 1000");
    place.program("quick", "echo sat");
    let (code, said) = run(&repro, place.root.path(), &["slow"]);
    assert_eq!(code, Some(1), "{said}");
    assert_eq!(run(&repro, place.root.path(), &["quick"]).0, Some(0));
}

#[test]
fn what_a_solver_printed_acts_neither_in_the_report_nor_in_the_script() {
    let place = Place::new();
    let nasty =
        "unsat\n\u{1b}]0;owned\u{7}\u{1b}[2J\0\n```\n# not a heading\n$(touch owned) `touch owned` ' \" \\\n";
    let mut one = record("z3@4.8.7", &["unsat"], nasty);
    one.stderr = "\u{9b}31m\u{202e}".to_owned();
    let mut found = finding(Kind::RefutationSoundness, vec![one.clone()]);
    found.evidence = vec![nasty.to_owned()];
    found.summary = nasty.to_owned();
    found.title = "Z3\n$(touch owned)\u{1b}[2J".to_owned();
    let repro = place.write(&found, SCRIPT);
    let mut crashed = one;
    crashed.crash = Some(CrashReport {
        kind: CrashKind::Assertion,
        signal: None,
        file: Some("\u{1b}[2J.cpp".to_owned()),
        line: Some(3),
        function: None,
        message: "abcdefgh'; touch owned; ' \u{1b}[2J".to_owned(),
        frames: vec!["```\u{1b}".to_owned()],
        overflow: false,
    });
    let crash = place.write(&finding(Kind::Crash, vec![crashed]), SCRIPT);
    for script in [&repro, &crash] {
        let report = std::fs::read_to_string(script.with_file_name("report.md")).expect("a report");
        let text = std::fs::read_to_string(script).expect("a script");
        for text in [&report, &text] {
            let acts = |c: char| c.is_control() && c != '\n' && c != '\t' || c == '\u{202e}';
            assert!(!text.contains(acts), "{text:?}");
        }
        // The only line that closes the block of the solver's output is its fence.
        let fence = "````";
        assert_eq!(report.lines().filter(|line| *line == fence).count() % 2, 0, "{report}");
        assert!(report.contains("^[]0;owned^G^[[2J^@\n```\n# not a heading\n"), "{report}");
        place.program("fine", "echo sat");
        let (code, said) = run(script, place.root.path(), &["fine"]);
        assert_eq!(code, Some(0), "{said}");
    }
    let owned = |folder: &Path| folder.join("owned").exists();
    assert!(!owned(place.root.path()) && !owned(repro.parent().expect("a folder")));
}

#[test]
fn a_report_has_everything_a_developer_asks_for() {
    let place = Place::new();
    let mut crashed = record("z3@4.8.7", &[], "");
    crashed.ended = "killed by signal 11 (SIGSEGV)".to_owned();
    crashed.crash = Some(CrashReport {
        kind: CrashKind::Assertion,
        signal: Some(11),
        file: Some("theory_seq.cpp".to_owned()),
        line: Some(30),
        function: None,
        message: String::new(),
        frames: vec!["smt::theory_seq::propagate()".to_owned(), "main".to_owned()],
        overflow: false,
    });
    let mut other = record("z3@5.4.0", &["sat"], "sat\n");
    other.command = "z3 -smt2 model=true input.smt2".to_owned();
    other.origin = "the program '/home/me/z3', SHA-256 0123".to_owned();
    let mut found = finding(Kind::Crash, vec![crashed, other]);
    found.operators = vec!["seq.nth".to_owned()];
    found.releases = Some(Releases {
        affected: vec!["4.8.7".to_owned(), "4.8.10".to_owned()],
        inferred: vec!["4.8.8".to_owned()],
        clean: vec!["5.4.0".to_owned()],
        first_fixed: Some("5.4.0".to_owned()),
        unable: vec!["4.5.0".to_owned()],
        ..Releases::default()
    });
    let report = place.write(&found, SCRIPT).with_file_name("report.md");
    let report = std::fs::read_to_string(report).expect("a report");
    let (title, rest) = report.split_once('\n').expect("lines");
    assert!(title.starts_with("# Z3 4.8.7 crashes") && title.ends_with(": seq.nth"), "{title}");
    for part in [
        "Z3 4.8.7 (the PyPI package z3-solver 4.8.7):",
        "$ z3 -smt2 input.smt2\n",
        "It ended with: killed by signal 11 (SIGSEGV).",
        "smt::theory_seq::propagate()\nmain\n",
        "an answer, or an error message; never a crash",
        "- a summary\n",
        "z3@5.4.0 (the program '/home/me/z3', SHA-256 0123):",
        "$ z3 -smt2 model=true input.smt2\nsat\n",
        "It ended with: exit code 0.",
        "(assert (> x 3))",
        "`BACKTRACE=1`",
        "- Affected releases: 4.8.7, 4.8.10\n- Most likely affected, between those (not asked, or no answer): 4.8.8\n\
         - Not affected: 5.4.0\n- The first one without it afterwards, of those asked: 5.4.0\n\
         - Not asked, since they cannot read the script: 4.5.0\n",
        "- Platform: linux\n",
    ] {
        assert!(rest.contains(part), "{part}: {rest}");
    }
}

#[test]
fn a_report_compares_with_the_default_run_and_one_other_solver() {
    let place = Place::new();
    let with = |option: &str, answer: &str| {
        let mut run = record("z3@4.8.7", &[answer], &format!("{answer}\n"));
        run.settings.push(Setting::new(option, "true"));
        run.command = format!("z3 -smt2 {option}=true input.smt2");
        run
    };
    let mut runs = vec![with("wrong", "unsat"), record("z3@4.8.7", &["sat"], "sat\n")];
    runs.extend(["a", "b", "c"].map(|option| with(option, "sat")));
    runs.extend([record("cvc5@1.4.2", &["unknown"], ""), record("z3@5.4.0", &["sat"], "sat\n")]);
    let found = finding(Kind::RefutationSoundness, runs);
    let report = place.write(&found, SCRIPT).with_file_name("report.md");
    let report = std::fs::read_to_string(report).expect("a report");
    for part in ["z3@4.8.7 with default options (", "z3@5.4.0 (", "- sat by z3@4.8.7 with default options\n"]
    {
        assert!(report.contains(part), "{part}: {report}");
    }
    for part in ["a=true", "b=true", "cvc5@1.4.2 ("] {
        assert!(!report.contains(part), "{part}: {report}");
    }
    let mut contradiction = finding(
        Kind::Disagreement,
        vec![with("a", "unsat"), with("b", "sat"), with("c", "sat"), record("cvc5@1.4.2", &["unknown"], "")],
    );
    contradiction.accused = None;
    let report = place.write(&contradiction, SCRIPT).with_file_name("report.md");
    let report = std::fs::read_to_string(report).expect("a report");
    assert!(
        report.contains("b=true") && report.contains("cvc5@1.4.2 (") && !report.contains("c=true"),
        "{report}"
    );
}

#[test]
fn a_report_of_an_input_that_is_not_small_says_why() {
    let place = Place::new();
    let mut found = finding(Kind::RefutationSoundness, vec![record("z3@4.8.7", &["unsat"], "unsat\n")]);
    let report = |found: &Finding| {
        let report = place.write(found, SCRIPT).with_file_name("report.md");
        std::fs::read_to_string(report).expect("a report")
    };
    assert!(report(&found).contains("could not be made smaller: the time was up, or"), "{}", report(&found));
    found.flaky = true;
    assert!(report(&found).contains("would have to repeat in every run"), "{}", report(&found));
    found.flaky = false;
    found.signature = Signature::Place { solver: "z3@4.8.7".to_owned(), place: "SIGSEGV | f < g".to_owned() };
    assert!(report(&found).contains("the place of the crash tells it apart"), "{}", report(&found));
}

#[test]
fn a_headline_names_tactics_and_not_what_combines_them() {
    let mut found = finding(Kind::RefutationSoundness, vec![record("z3@4.8.7", &["unsat"], "unsat\n")]);
    let script = "(assert true)\n(check-sat-using (then simplify purify-arith bit-blast sat))\n";
    let end = ": +, the tactic bit-blast, the tactic purify-arith, the tactic sat, ...";
    assert!(found.headline(script).ends_with(end), "{}", found.headline(script));
    let free = |construct: &str| reduce::blame::Blamed {
        construct: construct.to_owned(),
        role: reduce::blame::Role::Setting,
        occurrences: 1,
        needed: 0,
        stays_with: Vec::new(),
        untried: false,
        bystander: false,
        observer: false,
        share: None,
    };
    let names = ["tactic bit-blast", "tactic sat", "tactic simplify"];
    found.blame.constructs = names.map(free).to_vec();
    assert!(found.headline(script).ends_with(": +, the tactic purify-arith"), "{}", found.headline(script));
}
