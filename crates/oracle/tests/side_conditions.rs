//! Scripts in which more than the assertions constrains models, with real solvers: where these rightly differ, nobody is
//! accused. Beside each kind stands a script of the same shape whose wrong answer is still called wrong.

use std::time::Duration;

use eval::{Derivation, Expectation, STATUS_OF};
use oracle::{Asking, Judge, Kind, Standing, Subject, Verdict};
use smtlib::{Mode, Status, Store};
use solver::Solver;
use solver::limits::Limits;
use solver::run::{Configuration, Purpose, RunRules, Runner, SolverRunner};
use testkit::get;

/// The verdicts on a script, and each solver's answers to its checks.
fn judge(
    script: &str,
    solvers: Vec<Solver>,
    expectation: Expectation,
) -> (Vec<Verdict>, Vec<Vec<Option<Status>>>) {
    testkit::launcher();
    let rules = RunRules::with_limits(Limits::wall(Duration::from_secs(20)));
    let mut runner = SolverRunner::new(Configuration::numbered(solvers), rules).expect("a launcher");
    let runs = runner.run_all(script.as_bytes(), Purpose::Test).expect("runs");
    let checks = script.matches("(check-sat)").count();
    let answers = runs.iter().map(|run| (0..checks).map(|check| run.status(check)).collect()).collect();
    let mut store = Store::new();
    let parsed = smtlib::parse(&mut store, script.as_bytes(), Mode::Tolerant).expect("a script");
    let mut subject = Subject::new(&mut store, Some(&parsed.script), &parsed.notes);
    subject.ask_for_models = true;
    subject.expectation = expectation;
    let mut asking = Asking::new(&mut runner, Purpose::FollowUp);
    (Judge::thorough().try_case(&mut subject, &runs, &mut asking).expect("verdicts"), answers)
}

fn liar(directory: &std::path::Path, says: &str) -> Solver {
    let path = testkit::program(directory, says, &format!("echo {says}"));
    get(path.to_str().expect("a path")).expect("a program at a path")
}

/// Z3 and cvc5 contradict each other on the script, in which a command that one of them refuses has a line of its own,
/// and the verdict is that nothing can be said, for this reason.
#[track_caller]
fn undecided(script: &str, reason: &str) {
    let (Some(z3), Some(cvc5)) = (get("z3@5.4.0"), get("cvc5@1.4.2")) else { return };
    let (verdicts, answers) = judge(script, vec![z3, cvc5], Expectation::Agree);
    let differ = (0..answers[0].len()).any(
        |check| matches!((answers[0][check], answers[1][check]), (Some(one), Some(other)) if one != other),
    );
    assert!(differ, "the solvers agree, so that the test shows nothing: {answers:?}");
    assert!(!verdicts.is_empty());
    for verdict in &verdicts {
        assert!(!verdict.is_finding(), "{verdict:?}");
        assert!(matches!(&verdict.standing, Standing::Unproven(why) if why.contains(reason)), "{verdict:?}");
    }
}

/// A program that says `unsat` is proven wrong by Z3's model.
#[track_caller]
fn decided(script: &str) {
    let directory = tempfile::tempdir().expect("a directory");
    let Some(z3) = get("z3@5.4.0") else { return };
    let (verdicts, answers) = judge(script, vec![liar(directory.path(), "unsat"), z3], Expectation::Agree);
    assert_eq!(answers[1], [Some(Status::Sat)]);
    let wrong = |verdict: &&Verdict| verdict.is_finding() && verdict.kind == Kind::RefutationSoundness;
    assert_eq!(verdicts.iter().filter(wrong).count(), 1, "{verdicts:?}");
}

const BAD: &str = "(define-fun-rec f ((x Int)) Int (+ 1 (f x)))";

#[test]
fn a_definition_without_a_solution_makes_a_script_unsatisfiable_used_or_not() {
    let unused = format!("(set-logic ALL){BAD}(declare-const y Int)(assert (> y 3))(check-sat)");
    undecided(&unused, "'f'");
    let together =
        "(set-logic ALL)(define-funs-rec ((f ((x Int)) Int) (g ((x Int)) Int)) ((+ 1 (f x)) (f x)))
        (declare-const y Int)(assert (> y 3))(check-sat)";
    undecided(together, "'f'");
}

#[test]
fn who_vouches_for_the_answer_knows_the_definition() {
    let Some(z3) = get("z3@5.4.0") else { return };
    let script = format!("(set-logic ALL){BAD}(declare-const y Int)(assert (> y 3))(check-sat)");
    let claimed = Expectation::Claimed { answer: Status::Unsat, by: "the test".to_owned() };
    let (verdicts, _) = judge(&script, vec![z3], claimed);
    assert!(verdicts.len() == 1 && verdicts[0].is_finding(), "{verdicts:?}");
}

#[test]
fn a_definition_counts_only_where_it_is_in_force() {
    let Some(z3) = get("z3@5.4.0") else { return };
    let directory = tempfile::tempdir().expect("a directory");
    let script = format!("(push 1){BAD}(pop 1)(declare-const y Int)(assert (> y 3))(check-sat)");
    let (verdicts, _) = judge(&script, vec![liar(directory.path(), "unsat"), z3], Expectation::Agree);
    assert!(verdicts.iter().any(Verdict::is_finding), "{verdicts:?}");
}

#[test]
fn a_well_founded_definition_excuses_nobody() {
    decided(
        "(define-fun-rec fac ((n Int)) Int (ite (<= n 0) 1 (* n (fac (- n 1)))))
         (declare-const x Int)(assert (= x (fac 4)))(check-sat)",
    );
    decided(
        "(declare-datatypes ((L 0)) (((nil) (cons (head Int) (tail L)))))
         (define-fun-rec len ((l L)) Int (match l ((nil 0) ((cons h t) (+ 1 (len t))))))
         (declare-const x Int)(assert (= x (len (cons 1 (cons 2 nil)))))(check-sat)",
    );
}

#[test]
fn an_option_in_the_script_may_change_what_it_means() {
    let ascii = "(set-option :encoding ascii)
        (set-logic ALL)(declare-const s String)
        (assert (> (str.to_code s) 1000))(check-sat)";
    undecided(ascii, ":encoding");
    let alphabet = "(set-option :strings-alpha-card 10)
        (set-logic ALL)(declare-const s String)
        (assert (> (str.to_code s) 1000))(check-sat)";
    undecided(alphabet, ":strings-alpha-card");
    let division = "(set-option :rewriter.hi_div0 false)
        (set-logic QF_BV)(declare-const x (_ BitVec 8))
        (assert (distinct (bvudiv x #x00) #xff))(check-sat)";
    undecided(division, ":rewriter.hi_div0");
    let conversion = "(set-option :rewriter.hi_fp_unspecified true)
        (set-logic ALL)(declare-const x Float32)
        (assert (= x (_ NaN 8 24)))(assert (distinct (fp.to_real x) 0.0))(check-sat)";
    undecided(conversion, ":rewriter.hi_fp_unspecified");
    let strings = "(set-option :smt.string_solver none)
        (set-logic ALL)(declare-const s String)
        (assert (= (str.len s) (- 1)))(check-sat)";
    undecided(strings, ":smt.string_solver");
}

#[test]
fn an_option_counts_however_it_is_written_and_after_a_reset() {
    let script = "(declare-const x (_ BitVec 8))\n(assert (= (bvudiv x #x00) #x01))\n(check-sat)\n";
    undecided(&format!("(set-option :rewriter.hi_div0 |false|)\n{script}"), "option");
    undecided(&format!("(set-option :rewriter.hi_div0 false)\n(reset)\n{script}"), "option");
}

#[test]
fn a_parameter_of_a_tactic_may_change_what_the_script_means() {
    let Some(z3) = get("z3@5.4.0") else { return };
    let script = "(declare-const x (_ BitVec 8))\n(assert (= (bvudiv x #x00) #x01))\n\
        (check-sat-using (then (using-params simplify :hi_div0 false) smt))\n";
    let (verdicts, _) = judge(script, vec![z3], Expectation::Agree);
    assert!(!verdicts.iter().any(Verdict::is_finding), "{verdicts:?}");
}

#[test]
fn a_function_with_the_name_of_an_operator_accuses_nobody() {
    let Some(z3) = get("z3@5.4.0") else { return };
    let script = "(define-fun abs ((x Int)) Int 7)\n(assert (= (abs 1) 7))\n(check-sat)\n";
    let (verdicts, answers) = judge(script, vec![z3.clone()], Expectation::Agree);
    assert_eq!(answers[0], [None], "Z3 refuses the name, and then means its own operator");
    assert!(!verdicts.iter().any(Verdict::is_finding), "{verdicts:?}");
    // By another name it is a wrong answer.
    decided(
        "(define-fun absolute ((x Int)) Int 7)\n(declare-const y Int)\n(assert (= (absolute y) 7))\n(check-sat)\n",
    );
}

#[test]
fn an_option_that_only_says_how_to_solve_excuses_nobody() {
    decided("(set-option :smt.arith.solver 2)(declare-const x Int)(assert (> x 3))(check-sat)");
    decided(
        "(set-option :encoding unicode)(declare-const s String)(assert (> (str.to_code s) 1000))(check-sat)",
    );
}

#[test]
fn an_option_on_the_command_line_may_change_the_meaning_too() {
    let (Some(z3), Some(cvc5)) = (get("z3@5.4.0 encoding=ascii"), get("cvc5@1.4.2")) else { return };
    let script = "(set-logic ALL)(declare-const s String)(assert (> (str.to_code s) 1000))(check-sat)";
    let (verdicts, answers) = judge(script, vec![z3, cvc5], Expectation::Agree);
    assert_eq!(answers, [[Some(Status::Unsat)], [Some(Status::Sat)]]);
    assert!(verdicts.iter().all(|verdict| matches!(verdict.standing, Standing::ByDesign(_))), "{verdicts:?}");
}

#[test]
fn an_option_that_narrows_the_search_excuses_unsat_and_no_wrong_sat() {
    let Some(cvc5) = get("cvc5@1.0.3 --solve-int-as-bv=1") else { return };
    // It says sat, and its model is wrong.
    let wrong = "(set-logic ALL)(declare-const y (_ BitVec 4))(declare-const t (_ BitVec 8))
        (assert (= (bvor t #x03) (bvmul t #x9d ((_ zero_extend 4) y) ((_ zero_extend 4) y))))(check-sat)";
    let (verdicts, answers) = judge(wrong, vec![cvc5.clone()], Expectation::Agree);
    assert_eq!(answers[0], [Some(Status::Sat)]);
    let kinds: Vec<Kind> =
        verdicts.iter().filter(|verdict| verdict.is_finding()).map(|verdict| verdict.kind).collect();
    assert_eq!(kinds, [Kind::InvalidModel], "{verdicts:?}");
    // Whoever says unsat has not looked at all integers.
    let (directory, Some(z3)) = (tempfile::tempdir().expect("a directory"), get("z3@5.4.0")) else { return };
    let path = testkit::program(directory.path(), "unsat", "echo unsat");
    let narrow = get(&format!("{} --solve-int-as-bv=1", path.display())).expect("a program at a path");
    let script = "(set-logic QF_LIA)(declare-const x Int)(assert (= x 100))(check-sat)";
    let (verdicts, answers) = judge(script, vec![narrow, z3], Expectation::Agree);
    assert_eq!(answers, [[Some(Status::Unsat)], [Some(Status::Sat)]]);
    assert!(!verdicts.is_empty());
    assert!(verdicts.iter().all(|verdict| matches!(verdict.standing, Standing::ByDesign(_))), "{verdicts:?}");
}

#[test]
fn a_command_may_take_models_away() {
    let script = "(set-logic ALL)(set-option :produce-models true)(set-option :incremental true)
        (declare-const p Bool)(assert p)(check-sat)(block-model :values)(check-sat)";
    undecided(script, "block-model");
}

#[test]
fn looking_for_another_optimum_is_no_wrong_answer() {
    let Some(z3) = get("z3@5.4.0") else { return };
    for priority in ["pareto", "box"] {
        let script = format!(
            "(set-option :opt.priority {priority})(declare-const x Int)(declare-const y Int)
             (assert (and (<= 0 x 1) (<= 0 y 1) (<= (+ x y) 1)))(maximize x)(maximize y)
             (check-sat)(check-sat)(check-sat)"
        );
        let (verdicts, answers) = judge(&script, vec![z3.clone()], Expectation::Agree);
        assert_eq!(answers[0], [Some(Status::Sat), Some(Status::Sat), Some(Status::Unsat)], "{priority}");
        assert!(!verdicts.is_empty() && !verdicts.iter().any(Verdict::is_finding), "{verdicts:?}");
    }
}

#[test]
fn soft_constraints_and_objectives_leave_the_answer_alone() {
    decided(
        "(declare-const x Int)(assert (<= 0 x 10))(assert-soft (> x 20) :weight 3)(minimize x)(check-sat)",
    );
}

/// Who is blamed for anything in a script, real solvers or liars.
fn findings(script: &str, solvers: Vec<Solver>) -> Vec<(Kind, Option<u32>)> {
    let (verdicts, _) = judge(script, solvers, Expectation::Agree);
    let findings = verdicts.iter().filter(|verdict| verdict.is_finding());
    findings.map(|verdict| (verdict.kind, verdict.accused.map(|party| party.0))).collect()
}

#[test]
fn a_heap_is_part_of_the_model_so_that_a_model_without_one_proves_nothing() {
    let (Some(z3), Some(cvc5)) = (get("z3@5.4.0"), get("cvc5@1.4.2")) else { return };
    let directory = tempfile::tempdir().expect("a directory");
    let heap = |assertions: &str| {
        format!("(set-logic ALL)(declare-heap (Int Int))(declare-const x Int){assertions}(check-sat)")
    };
    // One of them does not know the command, and its answer to the rest is none.
    let contradiction = heap("(assert (pto x 1))(assert (not (pto x 1)))");
    assert_eq!(findings(&contradiction, vec![z3, cvc5.clone()]), []);
    let satisfiable = heap("(assert (pto x 1))(assert (> x 3))");
    let liar = liar(directory.path(), "unsat");
    assert_eq!(findings(&satisfiable, vec![liar, cvc5]), [(Kind::Disagreement, None)]);
}

#[test]
fn a_datatype_without_a_first_value_accuses_nobody() {
    let (Some(z3), Some(cvc5)) = (get("z3@5.4.0"), get("cvc5@1.4.2")) else { return };
    let directory = tempfile::tempdir().expect("a directory");
    let script = "(set-logic ALL)(declare-datatypes ((T 0)) (((c (s T)))))(declare-const y Int)
        (assert (> y 3))(check-sat)";
    assert_eq!(findings(script, vec![z3.clone(), cvc5]), []);
    let (liar, right) = (liar(directory.path(), "unsat"), "(declare-datatypes ((T 0)) (((c (s T)) (d))))");
    assert_eq!(findings(script, vec![liar.clone(), z3]), []);
    decided(&format!("{right}(declare-const y Int)(assert (> y 3))(check-sat)"));
}

#[test]
fn a_declared_sort_has_the_elements_that_its_model_lists() {
    let sort = "(declare-sort U 0)(declare-const a U)(declare-const b U)(assert (distinct a b))";
    decided(&format!("{sort}(assert (forall ((x U)) (or (= x a) (= x b))))(check-sat)"));
    // Any number will do that the assertions allow: here three at least.
    decided(&format!("{sort}(assert (exists ((x U)) (and (distinct x a) (distinct x b))))(check-sat)"));
}

/// No finite sort has a function that gives every element another value and leaves one out.
const INFINITE: &str = "(declare-sort U 0)(declare-fun f (U) U)(declare-const c U)
    (assert (forall ((x U) (y U)) (=> (= (f x) (f y)) (= x y))))(assert (forall ((x U)) (distinct (f x) c)))";

#[test]
fn a_sort_that_must_be_infinite_is_not_decided_by_finite_models() {
    let directory = tempfile::tempdir().expect("a directory");
    let Some(cvc5) = get("cvc5@1.4.2") else { return };
    let (script, unsat) = (format!("{INFINITE}(check-sat)"), liar(directory.path(), "unsat"));
    // It has a model, but none that anybody could write down here: who says `unsat` is not proven wrong.
    assert_eq!(findings(&script, vec![unsat.clone(), cvc5.clone()]), []);
    // Who says `sat` is not proven wrong either, though every model of finitely many elements is none.
    let model = "(\n; cardinality of U is 2\n; rep: (as @U_0 U)\n; rep: (as @U_1 U)\n\
        (define-fun c () U (as @U_0 U))\n(define-fun f ((x U)) U (as @U_1 U))\n)";
    let body = format!("echo sat; if grep -q get-model; then printf '{model}'; fi");
    let path = testkit::program(directory.path(), "finite", &body);
    let sat = get(path.to_str().expect("a path")).expect("a program at a path");
    let blamed = findings(&script, vec![sat, cvc5]);
    assert!(blamed.iter().all(|(kind, _)| *kind == Kind::InvalidModel), "{blamed:?}");
    // The same with an element that may be left out of nothing is a finite matter.
    decided(
        "(declare-sort U 0)(declare-fun f (U) U)(declare-const c U)
        (assert (forall ((x U) (y U)) (=> (= (f x) (f y)) (= x y))))(assert (= (f c) c))(check-sat)",
    );
}

/// What a file says of its own answer, after a step.
fn hearsay(answer: Status) -> Expectation {
    let from = format!("{STATUS_OF}a.smt2");
    Expectation::Derived(Derivation { answer, from, steps: vec!["weakened".to_owned()] })
}

const UNSATISFIABLE: &str = "(declare-const x Int)(assert (and (> x 3) (< x 2)))(check-sat)";

#[test]
fn what_a_file_says_of_itself_accuses_nobody_alone() {
    let Some(z3) = get("z3@5.4.0") else { return };
    let (verdicts, answers) = judge(UNSATISFIABLE, vec![z3.clone()], hearsay(Status::Sat));
    assert_eq!(
        (answers[0].as_slice(), verdicts.len()),
        ([Some(Status::Unsat)].as_slice(), 0),
        "{verdicts:?}"
    );
    // Two solvers that agree on the seed's answer are more.
    let from = "z3@4.8.7 and cvc5@1.4.2 agree".to_owned();
    let agreed = Expectation::Derived(Derivation { answer: Status::Sat, from, steps: Vec::new() });
    let (verdicts, _) = judge(UNSATISFIABLE, vec![z3], agreed);
    assert_eq!(verdicts.iter().filter(|verdict| verdict.is_finding()).count(), 1, "{verdicts:?}");
}

#[test]
fn what_a_file_says_of_itself_is_one_voice_among_others() {
    let (Some(z3), Some(cvc5)) = (get("z3@5.4.0"), get("cvc5@1.4.2")) else { return };
    let directory = tempfile::tempdir().expect("a directory");
    let wrong = liar(directory.path(), "sat");
    // With it, one solver is enough against another.
    let (verdicts, _) = judge(UNSATISFIABLE, vec![wrong.clone(), z3.clone()], hearsay(Status::Unsat));
    let accused = |verdicts: &[Verdict]| -> Vec<(Kind, u32)> {
        let findings = verdicts.iter().filter(|verdict| verdict.is_finding());
        findings.filter_map(|verdict| Some((verdict.kind, verdict.accused?.0))).collect()
    };
    assert_eq!(accused(&verdicts), [(Kind::SolutionSoundness, 0)]);
    // Against it, two are.
    let (verdicts, _) = judge(UNSATISFIABLE, vec![z3, cvc5], hearsay(Status::Sat));
    assert_eq!(accused(&verdicts), []);
}
