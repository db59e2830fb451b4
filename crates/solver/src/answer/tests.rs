//! Outputs recorded from real runs, and what must be read from them.

use std::sync::Arc;

use super::*;
use crate::adapter::Adapters;
use crate::crash::CrashKind;
use crate::fast::ExecMode;
use crate::install::{How, Installed, Source};
use crate::launch::Exit;

fn solver(name: &str, version: &str) -> Solver {
    let adapters = Adapters::built_in();
    let installed = Installed {
        name: name.into(),
        version: Some(version.parse().expect("a version")),
        how: How::Executable { path: name.into() },
        env: Vec::new(),
        origin: Source::OnPath,
        sha256: None,
    };
    let adapter = Arc::new(adapters.get(name).expect("built in").clone());
    Solver::new(installed, adapter, adapters.common_messages(), Vec::new())
}

fn outcome(stdout: &str, stderr: &str, exit: Exit) -> Outcome {
    Outcome {
        exit,
        timed_out: false,
        cpu_exceeded: false,
        out_of_memory: false,
        output_truncated: false,
        stdout: stdout.into(),
        stderr: stderr.into(),
        cpu_time: Default::default(),
        kernel_time: Default::default(),
        server_time: Default::default(),
        wall_time: Default::default(),
        peak_memory: 0,
        mode: ExecMode::Plain,
        fallback: None,
        stack: None,
        sites: None,
    }
}

fn read(name: &str, version: &str, script: &str, stdout: &str, stderr: &str, exit: Exit) -> Answers {
    solver(name, version).read(&Outline::of(script.as_bytes()), &outcome(stdout, stderr, exit))
}

fn words(answers: &Answers) -> Vec<&'static str> {
    answers.checks.iter().map(|check| check.answer.word()).collect()
}

const SESSION: &str = "(set-option :produce-models true)
(set-option :produce-unsat-cores true)
(set-logic ALL)
(declare-const x Int)
(declare-fun f (Int) Int)
(assert (! (> x 3) :named a1))
(assert (= (f x) 2))
(push 1)
(check-sat)
(get-model)
(get-value (x (f 1)))
(echo \"sat\")
(get-info :reason-unknown)
(assert (! (< x 2) :named a2))
(check-sat)
(get-model)
(get-unsat-core)
(pop 1)
(foo)
(check-sat)
(exit)
";

#[test]
fn a_session_of_z3_is_read_whole_and_the_echo_is_no_answer() {
    let stdout = "sat\n(model \n  (define-fun x () Int\n    4)\n  (define-fun f ((x!0 Int)) Int\n    2)\n)\n\
        ((x 4)\n ((f 1) 2))\nsat\n(:reason-unknown \"unknown\")\nunsat\n\
        (error \"line 16 column 10: model is not available\")\n(a1 a2)\nunsupported\nsat\n";
    let answers = read("z3", "4.8.7", SESSION, stdout, "; foo line: 19 position: 4\n", Exit::Exited(1));
    assert_eq!(words(&answers), ["sat", "unsat", "sat"]);
    assert_eq!(answers.checks.iter().map(|check| check.check).collect::<Vec<_>>(), [0, 1, 2]);
    assert!(answers.checks.iter().all(|check| !check.tainted));
    assert_eq!(answers.class, RunClass::Answered);
    assert_eq!(answers.models.len(), 1);
    assert!(stdout[answers.models[0].range.clone()].starts_with("(model"));
    assert_eq!(
        (answers.values.len(), answers.models[0].after, answers.values[0].after),
        (1, Some(0), Some(0))
    );
    assert_eq!(answers.cores, [Core { names: vec!["a1".into(), "a2".into()], after: Some(1) }]);
    assert_eq!(answers.errors.len(), 1);
    assert_eq!((answers.errors[0].line, answers.errors[0].means), (Some(16), Meaning::Refused));
    assert_eq!(answers.unsupported, 1);
}

#[test]
fn a_session_of_cvc5_is_read_whole() {
    let stdout = "sat\n(\n(define-fun x () Int 4)\n(define-fun f ((_arg_1 Int)) Int 2)\n)\n((x 4) ((f 1) 2))\n\
        \"sat\"\n(error \"Can't get-info :reason-unknown when the last result wasn't unknown!\")\nunsat\n\
        (error \"cannot get model unless after a SAT or UNKNOWN response.\")\n(\na1\na2\n)\n\
        (error \"Parse Error: input.smt2:19.2: Expected SMT-LIBv2 command, got `foo` (SYMBOL).\")\n";
    let answers = read("cvc5", "1.4.2", SESSION, stdout, "", Exit::Exited(1));
    assert_eq!(words(&answers), ["sat", "unsat"]);
    assert!(answers.trusted().count() == 2);
    assert_eq!((answers.models.len(), answers.values.len(), answers.cores.len()), (1, 1, 1));
    assert_eq!(answers.errors.len(), 3);
    assert_eq!(answers.errors[2].line, Some(19));
    assert_eq!(answers.class, RunClass::Answered);
}

#[test]
fn models_of_all_forms_are_models() {
    let script = "(declare-sort U 0)\n(check-sat)\n(get-model)\n";
    let forms = [
        "(model \n  ;; universe for U:\n  ;;   U!val!1 U!val!0 \n  ;; -----------\n  (declare-fun U!val!1 () U)\n  \
         (forall ((x U)) (or (= x U!val!1) (= x U!val!0)))\n  (define-fun v () U\n    U!val!1)\n)",
        "(\n  ;; universe for U:\n  (declare-fun U!val!1 () U)\n  (forall ((x U)) (= x U!val!1))\n)",
        "(\n; cardinality of U is 2\n; rep: (as @U_0 U)\n(define-fun u () U (as @U_0 U))\n)",
        "(\n(define-fun-rec f ((x Int)) Int (f x))\n)",
        "(\n(declare-datatypes ((L 0)) (((nil))))\n(define-fun l () L nil)\n)",
        "(model)",
        "()",
        "(\n)",
    ];
    for form in forms {
        let answers = read("z3", "5.4.0", script, &format!("sat\n{form}\n"), "", Exit::Exited(0));
        assert_eq!((words(&answers), answers.models.len()), (vec!["sat"], 1), "{form}");
    }
}

#[test]
fn without_knowing_the_script_the_shapes_decide() {
    let stdout = "unsat\n(a1 |b c|)\nsat\n((define-fun x () Int 1))\n((x 1))\n";
    let answers = solver("z3", "5.4.0").read(&Outline::default(), &outcome(stdout, "", Exit::Exited(0)));
    assert_eq!(answers.cores[0].names, ["a1", "b c"]);
    assert_eq!((answers.models.len(), answers.values.len()), (1, 1));
    assert_eq!(words(&answers), ["unsat", "sat"]);
}

#[test]
fn an_answer_after_a_refused_assertion_is_not_trusted() {
    let script = "(set-logic ALL)\n(declare-const x Int)\n(assert (> x \"a\"))\n(check-sat)\n(assert (> y 2))\n(check-sat)";
    let stdout = "(error \"line 3 column 16: Sort mismatch at argument #2 for function (declare-fun > (Int Int) Bool) \
        supplied sort is String\")\nsat\n(error \"line 5 column 11: unknown constant y\")\nsat\n";
    let answers = read("z3", "4.8.7", script, stdout, "", Exit::Exited(1));
    assert_eq!(words(&answers), ["sat", "sat"]);
    assert_eq!(answers.trusted().count(), 0);
    assert_eq!(answers.class, RunClass::Rejected);
}

#[test]
fn on_a_line_with_several_commands_an_error_may_belong_to_any_of_them() {
    let script = "(declare-const x Int)(assert (foo x))(check-sat)(check-sat)\n(check-sat)";
    let stdout = "(error \"line 1 column 36: unknown constant foo (Int) \")\nsat\nsat\nsat\n";
    let answers = read("z3", "5.4.0", script, stdout, "", Exit::Exited(1));
    assert_eq!(answers.checks.iter().map(|check| check.check).collect::<Vec<_>>(), [0, 1, 2]);
    assert_eq!(answers.trusted().count(), 0);
    // What comes after the answer has not changed it.
    let script = "(assert true)(check-sat)(assert (foo 1))(check-sat)";
    let stdout = "sat\n(error \"line 1 column 36: unknown constant foo (Int) \")\nsat\n";
    let answers = read("z3", "5.4.0", script, stdout, "", Exit::Exited(1));
    assert_eq!(answers.trusted().map(|check| check.check).collect::<Vec<_>>(), [0]);
    let script = "(assert false)(check-sat)(get-model)(get-value (x))(check-sat)";
    let refused = "(error \"line 1 column 34: model is not available\")\n";
    let answers =
        read("z3", "5.4.0", script, &format!("unsat\n{refused}{refused}unsat\n"), "", Exit::Exited(1));
    assert_eq!(answers.trusted().map(|check| check.check).collect::<Vec<_>>(), [0, 1]);
    // A term that goes over several lines shares its last one with the next command.
    let script = "(assert (foo\n1)) (check-sat)";
    let stdout = "(error \"line 2 column 2: unknown constant foo (Int) \")\nsat\n";
    let answers = read("z3", "5.4.0", script, stdout, "", Exit::Exited(1));
    assert_eq!(answers.trusted().count(), 0);
}

#[test]
fn an_answer_after_an_error_on_a_line_of_several_commands_is_not_trusted() {
    let script = "(declare-const p Bool)(assert (= (str.rev \"ab\") \"ab\"))(check-sat)(get-model)";
    let stdout = "(error \"line 1 column 47: unknown constant str.rev (String) \")\nsat\n()\n";
    let answers = read("z3", "5.4.0", script, stdout, "", Exit::Exited(1));
    assert_eq!((words(&answers), answers.trusted().count()), (vec!["sat"], 0));
    assert_eq!(answers.class, RunClass::Rejected);
    // A question that is refused there spoils nothing.
    let script = "(declare-const p Bool)(assert p)(check-sat)(get-unsat-core)(check-sat)";
    let stdout = "sat\n(error \"line 1 column 58: unsat core is not available\")\nsat\n";
    let answers = read("z3", "5.4.0", script, stdout, "", Exit::Exited(1));
    assert_eq!((words(&answers), answers.trusted().count()), (vec!["sat", "sat"], 2));
}

#[test]
fn an_answer_after_a_refused_pop_is_about_another_script() {
    let script = "(push 1)\n(assert false)\n(pop 3)\n(check-sat)\n";
    let stdout = "(error \"line 3 column 6: invalid pop command, argument is greater than the current stack \
        depth\")\nunsat\n";
    let answers = read("z3", "5.4.0", script, stdout, "", Exit::Exited(1));
    assert_eq!((words(&answers), answers.trusted().count()), (vec!["unsat"], 0));
}

#[test]
fn a_wording_that_the_script_itself_has_is_no_crash() {
    let script = "(assert |ASSERTION VIOLATION\nFile: ../src/x.cpp\nLine: 12\nfoo|)\n(check-sat)";
    let stdout = "(error \"line 4 column 5: unknown constant ASSERTION VIOLATION\nFile: ../src/x.cpp\nLine: 12\n\
        foo\")\nsat\n";
    let answers = read("z3", "5.4.0", script, stdout, "", Exit::Exited(1));
    assert_eq!(answers.class, RunClass::Rejected);
    let stderr = "ASSERTION VIOLATION\nFile: ../src/x.cpp\nLine: 12\nfoo\n";
    let answers = read("z3", "5.4.0", "(check-sat)", "", stderr, Exit::Exited(114));
    assert!(matches!(answers.class, RunClass::Crash(_)), "{:?}", answers.class);
}

#[test]
fn an_abort_because_of_the_scripts_own_status_is_no_crash() {
    let script = "(set-info :status unsat)\n(check-sat)\n";
    let stderr = "Fatal failure within CVC4::Result CVC4::SmtEngine::checkSatisfiability() at \
        ../src/smt/smt_engine.cpp:1754\nExpected result unsat but got sat\n";
    let answers = read("cvc4", "1.8", script, "sat\n", stderr, Exit::Signaled(libc::SIGABRT));
    assert!(!matches!(answers.class, RunClass::Crash(_)), "{:?}", answers.class);
    let other = stderr.replace("Expected result unsat but got sat", "Unreachable code reached");
    let answers = read("cvc4", "1.8", script, "sat\n", &other, Exit::Signaled(libc::SIGABRT));
    assert!(matches!(answers.class, RunClass::Crash(_)), "{:?}", answers.class);
}

#[test]
fn a_check_that_got_an_error_keeps_its_number() {
    let script = "(check-sat)\n(check-sat)\n(check-sat)\n";
    let stdout = "sat\n(error \"line 2 column 10: push\")\nunsat\n";
    let answers = read("z3", "4.8.7", script, stdout, "", Exit::Exited(1));
    assert_eq!(answers.checks.iter().map(|check| check.check).collect::<Vec<_>>(), [0, 2]);
}

#[test]
fn a_failed_model_check_of_z3_stands_beside_the_answer() {
    let stdout = "sat\n(error \"line 3 column 10: an invalid model was generated\")\nsat\n";
    let answers =
        read("z3", "4.8.7", "(assert true)\n\n(check-sat)\n(check-sat)", stdout, "", Exit::Exited(1));
    assert_eq!(answers.class, RunClass::SelfCheckFailed);
    assert_eq!(answers.failed_checks[0].what, Checked::Model);
    assert_eq!(words(&answers), ["sat", "sat"]);
    assert_eq!(answers.trusted().count(), 2);
}

#[test]
fn a_failed_model_check_of_the_cvc_line_is_no_crash() {
    let stderr = "Fatal failure within void cvc5::internal::smt::CheckModels::checkModel(cvc5::internal::theory::\
        TheoryModel*, const cvc5::context::CDList<cvc5::internal::NodeTemplate<true> >&, bool) at \
        ./src/smt/check_models.cpp:144\nInternal error detected SolverEngine::checkModel(): ERRORS SATISFYING \
        ASSERTIONS WITH MODEL:\nassertion:     (> (arccos a) (arccos b))\nsimplifies to: false\nexpected `true'.\n";
    let answers = read("cvc5", "1.0.3", "(check-sat)", "", stderr, Exit::Signaled(libc::SIGABRT));
    assert_eq!(answers.class, RunClass::SelfCheckFailed);
}

#[test]
fn assertions_are_crashes_with_their_place() {
    let stderr = "ASSERTION VIOLATION\nFile: ../src/smt/theory_str_regex.cpp\nLine: 1151\nUNREACHABLE CODE WAS REACHED.\n\
        Z3 4.8.8.0\nPlease file an issue with this message\n";
    let answers = read("z3", "4.8.8", "(check-sat)", "", stderr, Exit::Exited(114));
    let crash = answers.crash().expect("a crash");
    assert_eq!(
        crash.signature().text,
        "assertion | src/smt/theory_str_regex.cpp:1151 | UNREACHABLE CODE WAS REACHED."
    );

    let stderr = "Fatal failure within static CVC4::theory::TypeEnumeratorInterface* CVC4::theory::TypeEnumerator::\
        mkTypeEnumerator(CVC4::TypeNode, CVC4::theory::TypeEnumeratorProperties*) at ./src/theory/strings/kinds:57\n\
        Unhandled case encounteredNo type enumerator for type `RegLan'\n";
    let answers = read("cvc4", "1.8", "(check-sat)", "", stderr, Exit::Signaled(libc::SIGABRT));
    let crash = answers.crash().expect("a crash");
    assert_eq!((crash.kind, crash.line), (CrashKind::Assertion, Some(57)));
    assert!(crash.signature().text.ends_with("CVC4::theory::TypeEnumerator::mkTypeEnumerator"));

    let answers = read(
        "z3",
        "4.8.7",
        "(check-sat)",
        "unknown\n",
        "Failed to verify: g.add_strict_edge(src1)\n",
        Exit::Exited(0),
    );
    assert!(answers.crash().is_some());
    assert_eq!(words(&answers), ["unknown"]);
}

#[test]
fn an_answer_before_a_segfault_is_kept() {
    let stderr =
        "cvc5 suffered a segfault.\nOffending address is 0x10\nLooks like a NULL pointer was dereferenced.\n";
    let answers = read("cvc5", "1.0.3", "(check-sat)", "unsat\n", stderr, Exit::Signaled(libc::SIGSEGV));
    assert_eq!(words(&answers), ["unsat"]);
    assert_eq!(answers.crash().map(|crash| crash.kind), Some(CrashKind::Signal));
    let bare = read("z3", "4.8.7", "(check-sat)", "", "", Exit::Signaled(libc::SIGFPE));
    assert_eq!(bare.crash().and_then(|crash| crash.signal), Some(libc::SIGFPE));
    let wrapped = read("z3", "4.8.7", "(check-sat)", "", "", Exit::Exited(139));
    assert!(wrapped.crash().is_some());
}

#[test]
fn what_a_term_prints_is_no_answer() {
    let exit = Exit::Exited(0);
    let trusted = |script: &str, stdout: &str| {
        let answers = read("z3", "5.4.0", script, stdout, "", exit);
        answers.trusted().map(|check| (check.check, check.answer.word())).collect::<Vec<_>>()
    };
    let script = "(declare-datatypes ((R 0)) (((sat) (unsat))))(declare-const r R)(check-sat)(eval r)(push 1)(check-sat)";
    assert_eq!(trusted(script, "sat\nunsat\nsat\n"), [(0, "sat")], "the rest is not clear");
    assert_eq!(trusted(script, "sat\n7\nsat\n"), [(0, "sat"), (1, "sat")]);
    assert_eq!(trusted(script, "sat\n(f 7)\nsat\n"), [(0, "sat"), (1, "sat")]);
    assert_eq!(trusted(script, "sat\n|a\nunsat\nb|\nsat\n"), [(0, "sat"), (1, "sat")]);
    assert_eq!(trusted("(simplify unsat)(check-sat)", "unsat\nsat\n"), []);
    let statistics = "(check-sat)(get-info :all-statistics)(get-option :produce-models)(check-sat)";
    assert_eq!(trusted(statistics, "sat\n(:time 1)\ntrue\nunsat\n"), [(0, "sat"), (1, "unsat")]);
}

#[test]
fn answers_to_questions_that_were_not_asked_make_all_of_them_worthless() {
    let answers = read("z3", "5.4.0", "(check-sat)", "sat\nunsat\n", "", Exit::Exited(0));
    assert_eq!(answers.trusted().count(), 0);
    let many = read("z3", "5.4.0", "(check-sat)", &"sat\n".repeat(100_000), "", Exit::Exited(0));
    assert_eq!((many.checks.len(), many.trusted().count()), (1, 0));
}

#[test]
fn a_build_without_a_feature_is_no_crash() {
    let stderr = "Fatal failure within CVC4::Node CVC4::theory::fp::FpConverter::convert(CVC4::TNode) at \
        ./src/theory/fp/fp_converter.cpp:1700\nUnimplemented code encounteredConversion is dependent on SymFPU\n";
    let answers = read("cvc4", "1.8", "(check-sat)", "", stderr, Exit::Signaled(libc::SIGABRT));
    assert_eq!(answers.class, RunClass::NotBuilt);
    let stderr = "Fatal failure within CVC4::FloatingPointLiteral CVC4::constructorHelperRational(const \
        FloatingPointSize&, const RoundingMode&, const Rational&) at ./src/util/floatingpoint.cpp:620\nUnreachable \
        code reachedno concrete implementation of FloatingPointLiteral\n";
    let answers = read("cvc4", "1.8", "(check-sat)", "", stderr, Exit::Signaled(libc::SIGABRT));
    assert_eq!(answers.class, RunClass::NotBuilt);
    let stderr = "Fatal failure within void CVC4::FloatingPointLiteral::unfinished() const at \
        ./src/util/floatingpoint.cpp:463\nUnimplemented code encounteredFloating-point literals not yet implemented.\n";
    let answers = read("cvc4", "1.8", "(check-sat)", "", stderr, Exit::Signaled(libc::SIGABRT));
    assert_eq!(answers.class, RunClass::NotBuilt);
    let stdout =
        "(error \"Error in option parsing: Cannot use --nl-cov without configuring with --poly.\")\n";
    assert_eq!(read("cvc5", "1.0.3", "(check-sat)", stdout, "", Exit::Exited(1)).class, RunClass::NotBuilt);
}

#[test]
fn limits_are_outcomes_of_their_own() {
    let class =
        |name, version, stdout, stderr, exit| read(name, version, "(check-sat)", stdout, stderr, exit).class;
    assert_eq!(
        class("z3", "5.4.0", "(error \"out of memory\")\n", "", Exit::Exited(101)),
        RunClass::MemoryOut
    );
    assert_eq!(class("z3", "5.4.0", "timeout\n", "", Exit::Exited(0)), RunClass::Timeout);
    let abort = Exit::Signaled(libc::SIGABRT);
    assert_eq!(class("cvc5", "1.0.3", "", "cvc5 interrupted by timeout.\n", abort), RunClass::Timeout);
    let bad_alloc = "cvc5 was terminated by the C++ runtime.\nThe exception was:\nstd::bad_alloc\n";
    assert_eq!(class("cvc5", "1.0.3", "", bad_alloc, abort), RunClass::MemoryOut);
    let mut killed = outcome("sat\n", "", Exit::Signaled(libc::SIGKILL));
    killed.timed_out = true;
    let answers = solver("z3", "5.4.0").read(&Outline::of(b"(check-sat)(check-sat)"), &killed);
    assert_eq!((answers.class.clone(), words(&answers)), (RunClass::Timeout, vec!["sat"]));
}

#[test]
fn refusals_are_told_apart() {
    let class = |name, version, stdout, stderr, code| {
        read(name, version, "(assert x)\n(check-sat)", stdout, stderr, Exit::Exited(code)).class
    };
    assert_eq!(class("z3", "5.4.0", "", "ERROR: unknown parameter 'smt.foo'\n", 110), RunClass::BadOption);
    let parse =
        "(error \"Parse Error: input.smt2:3.17: expecting an arithmetic term for arithmetic relation\")\n";
    assert_eq!(class("cvc5", "1.0.3", parse, "", 1), RunClass::Rejected);
    let unknown = "(error \"unknown logic: QF_FP\")\n";
    assert_eq!(class("yices", "2.6.5", unknown, "", 0), RunClass::Unsupported);
    assert_eq!(class("yices", "2.6.5", "", "yices-smt2: invalid option: --foo\n", 19), RunClass::BadOption);
    let sort = "(error \"input.smt2:4:18: invalid sort 'Int'\")\n";
    assert_eq!(class("bitwuzla", "0.9.1", sort, "", 1), RunClass::Unsupported);
    assert_eq!(class("z3", "5.4.0", "", "", 0), RunClass::Silent);
}

#[test]
fn words_inside_strings_groups_and_lines_are_no_answers() {
    let stdout = "\"sat\"\n(\"unsat\")\nthis is unsat\nsat?\n(proof unsat)\nunknown\n";
    let answers = read("z3", "5.4.0", "(check-sat)", stdout, "", Exit::Exited(0));
    assert_eq!(words(&answers), ["unknown"]);
}

#[test]
fn reasons_of_unknown_are_kept() {
    let answers = read("cvc5", "1.4.2", "(check-sat)", "unknown (INCOMPLETE)\n", "", Exit::Exited(0));
    assert_eq!(answers.checks[0].answer, Answer::Unknown(Some("INCOMPLETE".into())));
    let script = "(check-sat)(get-info :reason-unknown)";
    let stdout = "unknown\n(:reason-unknown \"(incomplete quantifiers)\")\n";
    let answers = read("z3", "5.4.0", script, stdout, "", Exit::Exited(0));
    assert_eq!(answers.checks[0].answer, Answer::Unknown(Some("(incomplete quantifiers)".into())));
}

#[test]
fn sanitizers_and_runtimes_are_understood_for_every_solver() {
    let stderr = "=================================================================\n==77==ERROR: AddressSanitizer: \
        heap-use-after-free on address 0x602 at pc 0x5\nREAD of size 8 at 0x602 thread T0\n    #0 0x5a in \
        foo::bar(int) /build/src/foo.cpp:12:3\n    #1 0x5b in main /build/src/main.cpp:3:1\n";
    let answers = read("command", "1.0", "(check-sat)", "sat\n", stderr, Exit::Exited(1));
    let crash = answers.crash().expect("a crash");
    assert_eq!(
        (crash.kind, crash.frames.as_slice()),
        (CrashKind::Sanitizer, &["foo::bar".to_string(), "main".into()][..])
    );
    let terminate = "terminate called after throwing an instance of 'std::out_of_range'\n  what():  vector::_M_range_check\n";
    let answers = read("command", "1.0", "(check-sat)", "", terminate, Exit::Signaled(libc::SIGABRT));
    assert_eq!(answers.crash().map(|crash| crash.kind), Some(CrashKind::InternalError));
    let assert = "stp: /src/x.cpp:77: void f(int): Assertion `n > 0' failed.\n";
    let answers = read("stp", "2.3", "(check-sat)", "", assert, Exit::Signaled(libc::SIGABRT));
    assert_eq!(answers.crash().and_then(|crash| crash.line), Some(77));
}

#[test]
fn rubbish_never_panics() {
    let rubbish: Vec<u8> = (0..20_000u32).map(|i| (i.wrapping_mul(2_654_435_761) >> 24) as u8).collect();
    let mut outcome = outcome("", "", Exit::Exited(0));
    outcome.stdout.clone_from(&rubbish);
    outcome.stderr = rubbish;
    solver("z3", "5.4.0").read(&Outline::of(SESSION.as_bytes()), &outcome);
}
