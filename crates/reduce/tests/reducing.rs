//! Reducing with real programs: small shell scripts that tell interesting files from others, and real solvers with known
//! bugs. Without network and with an empty cache the tests with real solvers are skipped, or fail: see
//! `testkit::skip`.

use std::path::Path;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use eval::Expectation;
use oracle::{Asking, Judge, Kind, Subject};
use reduce::driver::Best;
use reduce::predicate::{Bug, Command, Output, proof};
use reduce::{Effort, Input, ReduceError, Reduced, Size, Watcher, reduce};
use smtlib::{Mode, Store};
use solver::run::{Configuration, Purpose, RunRules, Runner as _, SolverRunners};
use solver::{Solver, limits};
use testkit::get;

struct Quiet;

impl Watcher for Quiet {}

const SETTINGS: Effort = Effort { jobs: 1, time: Some(Duration::from_secs(120)) };

/// A shell script that gets the file as its argument.
fn script(folder: &Path, body: &str) -> Vec<String> {
    let path = testkit::program(folder, "interesting.sh", body);
    vec![path.to_str().expect("UTF-8").to_owned()]
}

fn with_script(text: &str, body: &str, settings: &Effort) -> Result<Reduced, ReduceError> {
    testkit::launcher();
    let folder = tempfile::tempdir().expect("a folder");
    let words = script(folder.path(), body);
    let limits = limits::Limits::wall(Duration::from_secs(20));
    let command = Command::new(&words, folder.path(), Output::default(), limits, text.as_bytes())?;
    reduce(Input { text: text.as_bytes(), witness: None }, &command, settings, &Quiet)
}

/// What is left of a script while a pattern of extended regular expressions still occurs in it on one line.
fn keeping(text: &str, pattern: &str) -> String {
    let body = format!("tr '\\n' ' ' < \"$1\" | grep -Eq '{pattern}'");
    with_script(text, &body, &SETTINGS).expect("reduced").best.text
}

#[test]
fn terms_under_quantifiers_lose_what_does_not_matter() {
    let text = "(declare-const a Int)(assert (forall ((x Int)) (and true (> (+ x (* 2 x)) a) true (or true (= x 3)) true)))\
                (check-sat)";
    let left = keeping(text, "forall .*x.*> .*x");
    assert_eq!(Size::of(left.as_bytes()), Size::of(b"(assert (forall ((x Int)) (> x 0)))"), "{left}");
    assert!(left.contains("(> x"), "{left}");
}

#[test]
fn what_dies_on_reading_needs_no_check_and_a_tactic_is_taken_apart() {
    let left = keeping("(declare-const p Bool)(assert (not p))(check-sat)", "assert");
    assert_eq!(left.trim(), "(assert true)");
    let text = "(declare-const p Bool)(assert p)(check-sat-using (then simplify (or-else smt qflia)))";
    let left = keeping(text, "using.*smt");
    assert_eq!(left.trim(), "(check-sat-using smt)");
}

#[test]
fn commands_and_assertions_that_do_not_matter_go() {
    let text = "(set-logic QF_LIA)(set-info :source x)(set-option :produce-models true)(declare-const x Int)\
                (declare-const y Int)(assert (> x 1))(assert (> y 2))(assert (< x 9))(push 1)(assert (= x y))(pop 1)\
                (check-sat)(get-model)(exit)";
    let left = keeping(text, "2.*check-sat");
    assert_eq!(left, "(assert (> 0 2))\n(check-sat)\n");
}

#[test]
fn terms_give_way_to_parts_and_constants() {
    let text = "(declare-const x Int)(declare-const p Bool)(assert (=> p (= (+ (* x 3) (div x 2)) (mod 7 x))))(check-sat)";
    let left = keeping(text, "mod.*check-sat");
    assert!(Size::of(left.as_bytes()).nodes <= 13, "{left}");
    assert!(left.contains("mod") && !left.contains("div") && !left.contains("=>"), "{left}");
}

#[test]
fn definitions_are_written_out_and_annotations_dropped() {
    let text =
        "(define-fun f ((x Int)) Bool (> x 12))(declare-const y Int)(assert (! (f y) :named n))(check-sat)";
    let left = keeping(text, "12.*assert.*check-sat|assert.* 12.*check-sat");
    assert!(!left.contains("define-fun") && !left.contains(":named"), "{left}");
}

#[test]
fn quantifiers_lose_variables_and_patterns() {
    let text = "(declare-fun f (Int) Int)(declare-const k Int)\
                (assert (forall ((x Int) (y Int)) (! (> (f x) (+ y 7)) :pattern ((f x)))))(check-sat)";
    let left = keeping(text, "7.*check-sat");
    assert!(!left.contains("forall") && !left.contains("pattern"), "{left}");
}

#[test]
fn a_quantifier_that_must_stay_keeps_one_variable() {
    let text = "(declare-const p Bool)(assert (forall ((a Int) (b Bool) (c Int) (d Int)) p))(check-sat)";
    let left = keeping(text, "forall.*check-sat");
    assert_eq!(left.matches("Int").count() + left.matches("Bool").count(), 1, "{left}");
}

#[test]
fn widths_and_formats_shrink() {
    let text = "(declare-const x (_ BitVec 64))(declare-const y (_ BitVec 64))(assert (= (bvmul x y) (bvudiv y x)))(check-sat)";
    let left = keeping(text, "bvmul.*check-sat");
    assert!(!left.contains("64") && left.contains("bvmul"), "{left}");
    let text = "(declare-const x (_ FloatingPoint 11 53))(assert (fp.isNaN (fp.sqrt RNE x)))(check-sat)";
    let left = keeping(text, "fp.sqrt.*check-sat");
    assert!(!left.contains("53"), "{left}");
}

#[test]
fn formats_have_their_names_even_if_those_are_larger() {
    for format in ["11 53", "3 5"] {
        let text = format!("(declare-const x (_ FloatingPoint {format}))(assert (fp.isNaN x))(check-sat)");
        let left = keeping(&text, "Float.*fp.isNaN [a-z].*check-sat");
        assert!(!left.contains("FloatingPoint"), "{left}");
    }
}

#[test]
fn relations_become_equalities_and_more_can_go() {
    let text = "(declare-const x Int)(declare-const y Int)(assert (or (<= x y) (= 1 y)))(check-sat)";
    // As long as there is another relation, both sides of the disjunction must stay.
    let left = keeping(text, "<= x y.*= 1|\\(= x y\\)");
    assert!(!left.contains("<=") && !left.contains("or"), "{left}");
}

#[test]
fn characters_beyond_ascii_stay_as_they_are_where_that_matters() {
    let text = "(declare-const long_name String)(assert (= long_name \"\u{e9}\"))(assert (= 1 1))(check-sat)";
    let left = keeping(text, "\u{e9}.*check-sat");
    assert!(left.contains("\u{e9}") && !left.contains("long_name") && !left.contains("1 1"), "{left}");
}

#[test]
fn functions_lose_parameters_and_names_get_short() {
    let text = "(declare-fun very_long_name (Int Bool) Int)(declare-const another_name Int)\
                (assert (> (very_long_name another_name true) 41))(check-sat)";
    let left = keeping(text, "> .?[a-z].* 41.*check-sat");
    assert_eq!(left, "(declare-const a Int)\n(assert (> a 41))\n(check-sat)\n");
}

#[test]
fn strings_and_numbers_get_simple() {
    let text =
        "(declare-const s String)(assert (= (str.len s) 123456))(assert (= s \"abcdefgh\"))(check-sat)";
    let left = keeping(text, "str.len.*\"[a-z]+\".*check-sat|\"[a-z]+\".*str.len.*check-sat");
    assert!(!left.contains("123456") && !left.contains("abcdefgh"), "{left}");
}

#[test]
fn checks_with_assumptions_become_plain() {
    let text = "(declare-const p Bool)(declare-const q Bool)(push 1)(check-sat-assuming (p q))(pop 1)";
    let left = keeping(text, "Bool.*check-sat");
    assert_eq!(left, "(declare-const q Bool)\n(check-sat)\n");
}

#[test]
fn what_cannot_be_read_is_reduced_as_text() {
    let text = "(declare-rel path (Int Int))(rule (=> (edge 1 2) (path 1 2)))(query path)(foo (bar needle (baz 1 2)) 3)(frob)";
    let left = keeping(text, "needle");
    assert_eq!(left.trim(), "(needle)");
    // Unbalanced all the way: left as it is.
    let reduced = with_script("(assert needle", "grep -q needle \"$1\"", &SETTINGS).expect("no error");
    assert!(reduced.best.text.contains("needle"));
}

#[test]
fn deep_scripts_do_not_exhaust_the_stack() {
    let deep =
        format!("(declare-const p Bool)(assert {}p{})(check-sat)", "(not ".repeat(3_000), ")".repeat(3_000));
    let left = keeping(&deep, "assert.*check-sat");
    assert!(left.len() < 100, "{left}");
}

#[test]
fn the_result_does_not_depend_on_the_number_of_workers() {
    let text = "(declare-const x Int)(declare-const y Int)(assert (and (> x 3) (or (< y x) (= y 17)) (distinct x y 4)))\
                (assert (= (* x y) 21))(check-sat)";
    let body = "tr '\\n' ' ' < \"$1\" | grep -Eq '17.*check-sat'";
    let one = with_script(text, body, &SETTINGS).expect("reduced").best.text;
    let three = with_script(text, body, &Effort { jobs: 3, ..SETTINGS }).expect("reduced").best.text;
    assert_eq!(one, three);
}

#[test]
fn a_predicate_that_is_always_true_is_refused() {
    let error = with_script("(assert true)(check-sat)", "exit 0", &SETTINGS).expect_err("refused");
    assert!(matches!(error, ReduceError::AlwaysTrue), "{error}");
}

#[test]
fn a_flaky_predicate_is_refused() {
    // Two runs: when the command is set up, then once more to see whether it stays.
    let folder = tempfile::tempdir().expect("a folder");
    let count = folder.path().join("count");
    let body = format!("echo >> {0}; [ $(wc -l < {0}) -ne 2 ]", count.display());
    let error = with_script("(assert true)(check-sat)", &body, &SETTINGS).expect_err("refused");
    assert!(matches!(error, ReduceError::Flaky { seen: 1, runs: 2 }), "{error}");
}

#[test]
fn a_slow_input_is_run_again_only_if_something_is_strange() {
    let folder = tempfile::tempdir().expect("a folder");
    let count = folder.path().join("count");
    let body = format!("echo >> {0}; sleep 1.1; [ $(wc -l < {0}) -eq 1 ]", count.display());
    let error = with_script("(assert true)(check-sat)", &body, &SETTINGS).expect_err("refused");
    assert!(matches!(error, ReduceError::Flaky { seen: 1, runs: 2 }), "{error}");
    let runs = std::fs::read_to_string(&count).expect("a count").lines().count();
    assert_eq!(runs, 4, "set up, without assertions, printed anew, and again");
}

#[test]
fn a_command_that_cannot_be_run_or_does_not_match_is_named() {
    testkit::launcher();
    let here = Path::new("/");
    let limits = limits::Limits::wall(Duration::from_secs(20));
    let words = vec!["no-such-program-here".to_owned()];
    let error =
        Command::new(&words, here, Output::default(), limits.clone(), b"").expect_err("refused").to_string();
    assert!(error.contains("cannot be run"), "{error}");
    let wanted = Output { stdout: Some("never".into()), ..Output::default() };
    let words = vec!["echo".to_owned()];
    let error = Command::new(&words, here, wanted, limits, b"").expect_err("refused").to_string();
    assert!(error.contains("does not match"), "{error}");
}

#[test]
fn only_the_matched_output_counts() {
    testkit::launcher();
    let folder = tempfile::tempdir().expect("a folder");
    let words = script(folder.path(), "cat \"$1\"");
    let text = "(declare-const x Int)(assert (> x 3))(assert (< x 8))(check-sat)";
    let output = Output { stdout: Some("(assert (> ".into()), ..Output::default() };
    let limits = limits::Limits::wall(Duration::from_secs(20));
    let command = Command::new(&words, folder.path(), output, limits, text.as_bytes()).expect("a command");
    let input = Input { text: text.as_bytes(), witness: None };
    let reduced = reduce(input, &command, &SETTINGS, &Quiet).expect("reduced");
    assert!(reduced.best.text.contains("(assert (> ") && !reduced.best.text.contains('<'));
    assert!(reduced.finished);
}

/// Keeps what it is told, and stops after a while.
struct Keeper {
    kept: Mutex<Vec<String>>,
    most: usize,
}

impl Watcher for Keeper {
    fn best(&self, best: &Best) -> std::io::Result<()> {
        self.kept.lock().expect("a lock").push(best.text.clone());
        Ok(())
    }

    fn stop(&self) -> bool {
        self.kept.lock().expect("a lock").len() >= self.most
    }
}

#[test]
fn the_best_so_far_is_handed_over_all_the_way_and_kept_when_it_ends_early() {
    testkit::launcher();
    let folder = tempfile::tempdir().expect("a folder");
    let words = script(folder.path(), "grep -q 'x 3' \"$1\"");
    let text: String = (0..40).map(|n| format!("(declare-const y{n} Int)(assert (> y{n} {n}))")).collect();
    let text = format!("(declare-const x Int)(assert (> x 3)){text}(check-sat)");
    let limits = limits::Limits::wall(Duration::from_secs(20));
    let command =
        Command::new(&words, folder.path(), Output::default(), limits, text.as_bytes()).expect("a command");
    let keeper = Keeper { kept: Mutex::new(Vec::new()), most: 3 };
    let input = Input { text: text.as_bytes(), witness: None };
    let reduced = reduce(input, &command, &SETTINGS, &keeper).expect("reduced");
    assert!(!reduced.finished);
    let kept = keeper.kept.lock().expect("a lock");
    let sizes: Vec<Size> = kept.iter().map(|text| Size::of(text.as_bytes())).collect();
    assert!(sizes.is_sorted_by(|a, b| a >= b), "{sizes:?}");
    assert_eq!(kept.last(), Some(&reduced.best.text));
    assert!(reduced.best.text.contains("x 3"));
}

/// z3 4.8.7 refutes this satisfiable script: `bvxnor` of three arguments.
const REFUTED: &str = "(set-logic QF_BV)\n(declare-const u Bool)\n(declare-const v (_ BitVec 4))\n\
    (declare-const w (_ BitVec 4))\n(assert (or u (bvult v w)))\n\
    (assert (= (bvxnor v v v) v))\n(assert (= v #x3))\n(check-sat)\n";

fn bug_of(text: &str, specs: &[&str]) -> Option<(Bug, Option<String>)> {
    testkit::launcher();
    let solvers: Option<Vec<Solver>> = specs.iter().map(|spec| get(spec)).collect();
    let everybody: Vec<Arc<Configuration>> =
        Configuration::numbered(solvers?).into_iter().map(Arc::new).collect();
    let rules = RunRules::for_reduction(Duration::from_secs(20), 4 << 30);
    let runners = SolverRunners::new(everybody.clone(), rules);
    let mut runner = runners.start().expect("a launcher");
    let runs = runner.run_all(text.as_bytes(), Purpose::Test).expect("runs");
    let mut asking = Asking::new(&mut runner, Purpose::FollowUp);
    let mut store = Store::new();
    let parsed = smtlib::parse(&mut store, text.as_bytes(), Mode::Tolerant).expect("a script");
    let verdicts = {
        let mut subject = Subject::new(&mut store, Some(&parsed.script), &[]);
        subject.ask_for_models = true;
        Judge::thorough().try_case(&mut subject, &runs, &mut asking).expect("verdicts")
    };
    let verdict = verdicts.iter().find(|verdict| verdict.is_finding()).expect("a finding");
    let witness = proof(&mut store, &parsed.script, &runs, verdict, &mut asking).expect("a look at models");
    let mut bug = Bug::new(verdict, &runs, Arc::new(runners)).with_references(everybody);
    if witness.is_some() {
        bug = bug.with_expectation(Expectation::Witness);
    }
    Some((bug, witness))
}

#[test]
fn a_wrong_refutation_stays_one_and_its_witness_stays_true() {
    let Some((bug, witness)) = bug_of(REFUTED, &["z3@4.8.7", "z3@5.4.0"]) else { return };
    assert_eq!(bug.kind(), Kind::RefutationSoundness);
    let witness = witness.expect("a model");
    let input = Input { text: REFUTED.as_bytes(), witness: Some(witness.as_bytes()) };
    let reduced = reduce(input, &bug, &SETTINGS, &Quiet).expect("reduced");
    let best = reduced.best;
    assert!(best.size.nodes <= 16, "{}", best.text);
    assert!(best.text.contains("bvxnor"), "{}", best.text);
    let model = best.witness.expect("a witness");
    let mut store = Store::new();
    let script = smtlib::parse(&mut store, best.text.as_bytes(), Mode::Tolerant).expect("a script").script;
    let read = eval::model_text::read_model(&mut store, &script, model.as_bytes(), smtlib::Release::STANDARD);
    let read = read.expect("a model");
    eval::Witness::check(&store, &script, read.model, eval::Budget::default())
        .expect("it satisfies the result");
}

#[test]
fn options_are_reduced_with_the_script() {
    let specs = ["z3@4.8.7 smt.random_seed=7 model_validate=false", "z3@5.4.0"];
    let Some((bug, witness)) = bug_of(REFUTED, &specs) else { return };
    let input = Input { text: REFUTED.as_bytes(), witness: witness.as_deref().map(str::as_bytes) };
    let reduced = reduce(input, &bug, &SETTINGS, &Quiet).expect("reduced");
    let left = reduced.best.configuration.expect("a solver");
    assert_eq!(left.option_count(), 0, "{}", left.name());
}

#[test]
fn a_bug_that_is_not_there_is_not_reduced() {
    let Some((bug, _)) = bug_of(REFUTED, &["z3@4.8.7", "z3@5.4.0"]) else { return };
    let text = "(declare-const x Int)(assert (> x 3))(check-sat)";
    let error =
        reduce(Input { text: text.as_bytes(), witness: None }, &bug, &SETTINGS, &Quiet).expect_err("refused");
    assert!(matches!(error, ReduceError::NotInteresting(_)), "{error}");
    assert!(error.to_string().contains("z3@4.8.7"), "{error}");
}

#[test]
fn time_is_kept() {
    let settings = Effort { jobs: 1, time: Some(Duration::ZERO) };
    let text = "(declare-const x Int)(assert (> x 3))(assert (< x 8))(check-sat)";
    let reduced = with_script(text, "grep -q 'x 3' \"$1\"", &settings).expect("reduced");
    assert!(!reduced.finished);
    assert!(reduced.best.text.contains("x 3"));
}
