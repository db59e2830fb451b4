//! Judging real runs: small programs that answer as they are told stand beside real solvers, so that every kind of
//! misbehaviour can be provoked at will. Without network and with an empty cache the tests with real solvers
//! are skipped, or fail: see `testkit::skip`.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use eval::Expectation;
use oracle::subject::ModelValue;
use oracle::{Asking, Judge, Kind, Repeat, Standing, Subject, Verdict};
use smtlib::{Mode, Status, Store};
use solver::Solver;
use solver::launch::WallChoice;
use solver::limits::Limits;
use solver::run::{Configuration, PartyId, Purpose, Run, RunRules, Runner, SolverRunner, SolverRunners};
use testkit::{Scripted, ScriptedAnswer, get};

/// A program that prints what it is told, whatever it is asked.
fn liar(directory: &Path, name: &str, says: &str) -> Solver {
    scripted(directory, name, &format!("cat <<'END'\n{says}\nEND"))
}

fn scripted(directory: &Path, name: &str, body: &str) -> Solver {
    let path = testkit::program(directory, name, body);
    get(path.to_str().expect("a path")).expect("a program at a path")
}

fn judge(script: &str, solvers: Vec<Solver>, expected: Option<Status>) -> Vec<Verdict> {
    testkit::launcher();
    let rules = RunRules::with_limits(Limits::wall(Duration::from_secs(20)));
    let mut runner = SolverRunner::new(Configuration::numbered(solvers), rules).expect("a launcher");
    judge_with(script, &mut runner, expected)
}

fn judge_with(script: &str, runner: &mut dyn Runner, expected: Option<Status>) -> Vec<Verdict> {
    let runs = runner.run_all(script.as_bytes(), Purpose::Test).expect("runs");
    let mut store = Store::new();
    let parsed = smtlib::parse(&mut store, script.as_bytes(), Mode::Tolerant).expect("a script");
    let mut subject = Subject::new(&mut store, Some(&parsed.script), &parsed.notes);
    subject.ask_for_models = true;
    subject.expectation = match expected {
        Some(answer) => Expectation::Claimed { answer, by: "the test says so".into() },
        None => Expectation::Agree,
    };
    let mut asking = Asking::new(runner, Purpose::FollowUp);
    Judge::thorough().try_case(&mut subject, &runs, &mut asking).expect("verdicts")
}

fn kinds(verdicts: &[Verdict]) -> Vec<(Kind, Option<u32>)> {
    verdicts
        .iter()
        .filter(|verdict| verdict.is_finding())
        .map(|verdict| (verdict.kind, verdict.accused.map(|party| party.0)))
        .collect()
}

const SATISFIABLE: &str = "(set-logic QF_LIA)\n(declare-const x Int)\n(assert (> x 3))\n(check-sat)\n";
const UNSATISFIABLE: &str =
    "(set-logic QF_LIA)\n(declare-const x Int)\n(assert (and (> x 3) (< x 2)))\n(check-sat)\n";

#[test]
fn a_confirmed_model_proves_a_lone_unsat_wrong_against_any_majority() {
    let directory = tempfile::tempdir().expect("a directory");
    let Some(z3) = get("z3@5.4.0") else { return };
    let wrong = [liar(directory.path(), "a", "unsat"), liar(directory.path(), "b", "unsat")];
    let verdicts = judge(SATISFIABLE, [wrong.to_vec(), vec![z3]].concat(), None);
    assert_eq!(
        kinds(&verdicts),
        [(Kind::RefutationSoundness, Some(0)), (Kind::RefutationSoundness, Some(1))]
    );
    assert!(verdicts[0].reason.contains("satisfies every assertion"), "{}", verdicts[0].reason);
    assert_eq!(verdicts[0].repeat, Repeat::Confirmed { runs: 2 });
}

#[test]
fn a_wrong_sat_is_outvoted_by_two_families() {
    let directory = tempfile::tempdir().expect("a directory");
    let (Some(z3), Some(cvc5)) = (get("z3@5.4.0"), get("cvc5@1.4.2")) else { return };
    let liar = liar(directory.path(), "a", "sat");
    assert_eq!(
        kinds(&judge(UNSATISFIABLE, vec![liar, z3, cvc5], None)),
        [(Kind::SolutionSoundness, Some(0))]
    );
}

#[test]
fn two_strangers_who_contradict_each_other_disagree_and_nobody_is_accused() {
    let directory = tempfile::tempdir().expect("a directory");
    let strangers = vec![liar(directory.path(), "a", "sat"), liar(directory.path(), "b", "unsat")];
    assert_eq!(kinds(&judge(SATISFIABLE, strangers, None)), [(Kind::Disagreement, None)]);
}

#[test]
fn an_expectation_needs_no_second_solver() {
    let directory = tempfile::tempdir().expect("a directory");
    let stranger = vec![liar(directory.path(), "a", "unsat")];
    assert_eq!(
        kinds(&judge(SATISFIABLE, stranger, Some(Status::Sat))),
        [(Kind::RefutationSoundness, Some(0))]
    );
}

#[test]
fn unknown_timeouts_rejections_and_silence_are_never_findings() {
    let directory = tempfile::tempdir().expect("a directory");
    for says in
        ["unknown", "timeout", "(error \"line 3 column 2: unknown constant y\")\nsat", "unsupported", ""]
    {
        // It works: a script without assertions is answered.
        let body = format!(
            "for file; do :; done\nif grep -q assert \"$file\"; then cat <<'END'\n{says}\nEND\nelse echo sat; fi"
        );
        let strangers = vec![scripted(directory.path(), "a", &body), liar(directory.path(), "b", "unsat")];
        let verdicts = judge(UNSATISFIABLE, strangers, Some(Status::Unsat));
        assert_eq!(kinds(&verdicts), [], "{says}: {verdicts:?}");
    }
}

#[test]
fn a_model_that_is_false_by_evaluation_is_a_finding_and_the_others_confirm_it() {
    let directory = tempfile::tempdir().expect("a directory");
    let Some(z3) = get("z3@5.4.0") else { return };
    let liar = liar(directory.path(), "a", "sat\n((define-fun x () Int 3))");
    let verdicts = judge(SATISFIABLE, vec![liar, z3], None);
    assert_eq!(kinds(&verdicts), [(Kind::InvalidModel, Some(0))]);
    assert!(verdicts[0].evidence.iter().any(|line| line.contains("unsat by z3@5.4.0")), "{verdicts:?}");
}

#[test]
fn a_failed_check_of_its_own_counts_only_with_somebody_elses_word() {
    let (Some(z3), Some(cvc4)) = (get("z3@5.4.0"), get("cvc4@1.8")) else { return };
    let directory = tempfile::tempdir().expect("a directory");
    let says = "sat\n(error \"line 4 column 10: an invalid model was generated\")\n((define-fun x () Int 4))";
    let doubting = Solver { adapter: z3.adapter.clone(), ..liar(directory.path(), "a", says) };
    assert_eq!(kinds(&judge(SATISFIABLE, vec![doubting, z3.clone(), cvc4], None)), []);
    let says = "sat\n(error \"line 4 column 10: an invalid model was generated\")\n((define-fun x () Int 2))";
    let doubting = Solver { adapter: z3.adapter.clone(), ..liar(directory.path(), "b", says) };
    assert_eq!(kinds(&judge(SATISFIABLE, vec![doubting, z3], None)), [(Kind::InvalidModel, Some(0))]);
}

#[test]
fn strings_are_written_and_read_as_the_release_means_them() {
    let (Some(bytes), Some(unicode)) = (get("z3@4.8.10"), get("z3@5.4.0")) else { return };
    for assertion in [
        "(= s (str.from_code 0))",
        "(= s (str.++ (str.from_code 10) (str.from_code 92) (str.from_code 200)))",
        "(= (str.len (str.++ s \"\\x41\\101\\n\")) 10)",
        "(and (= s \"\\u{5c}x41\") (= (str.len s) 4))",
    ] {
        let script =
            format!("(set-logic ALL)\n(declare-const s String)\n(assert {assertion})\n(check-sat)\n");
        let verdicts = judge(&script, vec![bytes.clone(), unicode.clone()], None);
        assert_eq!(kinds(&verdicts), [], "{assertion}: {verdicts:?}");
    }
}

#[test]
fn what_a_model_leaves_out_or_the_standard_leaves_open_is_no_finding() {
    let directory = tempfile::tempdir().expect("a directory");
    let empty = liar(directory.path(), "a", "sat\n()");
    assert_eq!(kinds(&judge(SATISFIABLE, vec![empty], None)), []);
    let divided = "(declare-const x Int)\n(assert (= (div x 0) 7))\n(assert (= x 1))\n(check-sat)\n";
    let silent = liar(directory.path(), "b", "sat\n((define-fun x () Int 1))");
    assert_eq!(kinds(&judge(divided, vec![silent], None)), []);
}

#[test]
fn a_first_look_leaves_open_what_takes_long_and_a_closer_one_decides_it() {
    let script = "(declare-const b (_ BitVec 12))\n\
        (assert (forall ((x (_ BitVec 12))) (= (bvmul x b x) (bvmul b (bvmul x x)))))\n(check-sat)\n";
    let mut runner =
        Scripted::new(&["z3@5.4.0"], |_, _| "sat\n((define-fun b () (_ BitVec 12) #x123))\n".into());
    let runs = runner.run_all(script.as_bytes(), Purpose::Test).expect("runs");
    let mut store = Store::new();
    let parsed = smtlib::parse(&mut store, script.as_bytes(), Mode::Tolerant).expect("a script");
    let mut subject = Subject::new(&mut store, Some(&parsed.script), &parsed.notes);
    assert!(subject.settles(&runs[0], 0));
    subject.look_briefly();
    assert!(!subject.settles(&runs[0], 0));
    assert!(subject.look_closely(), "something was left open");
    assert!(subject.settles(&runs[0], 0));
    assert!(!subject.look_closely(), "nothing was");
}

#[test]
fn what_a_first_look_has_decided_is_taken_over_and_the_rest_is_looked_at_again() {
    let script = "(declare-const b (_ BitVec 12))\n(assert (= b #x123))\n(check-sat)\n\
        (assert (forall ((x (_ BitVec 12))) (= (bvmul x b x) (bvmul b (bvmul x x)))))\n(check-sat)\n";
    let model = "sat\n((define-fun b () (_ BitVec 12) #x123))\n";
    let asked = script.replace("(check-sat)", "(check-sat)\n(get-model)");
    let mut runner = Scripted::new(&["z3@5.4.0"], move |_, _| model.repeat(2).as_str().into());
    let runs = runner.run_all(asked.as_bytes(), Purpose::Test).expect("runs");
    let mut store = Store::new();
    let parsed = smtlib::parse(&mut store, asked.as_bytes(), Mode::Tolerant).expect("a script");
    let mut first = Subject::new(&mut store, Some(&parsed.script), &parsed.notes);
    first.look_briefly();
    assert!(first.settles(&runs[0], 0) && !first.settles(&runs[0], 1));
    let checked = first.into_checked();
    assert_eq!(checked.len(), 2);
    let value = |subject: &mut Subject, runner: &mut Scripted, check| {
        let asking = &mut Asking::new(runner, Purpose::FollowUp);
        let found = subject.model_check(&runs[0], check, false, asking).expect("a check");
        found.expect("a model").value.clone()
    };
    let mut brief = Subject::new(&mut store, Some(&parsed.script), &parsed.notes);
    brief.look_briefly();
    brief.take_over(checked.clone());
    assert!(matches!(value(&mut brief, &mut runner, 1), ModelValue::Unknown(_)));
    assert!(brief.look_closely(), "what was left open by the first look is known to be open");
    let mut close = Subject::new(&mut store, Some(&parsed.script), &parsed.notes);
    close.take_over(checked);
    assert_eq!(value(&mut close, &mut runner, 0), ModelValue::True);
    assert_eq!(value(&mut close, &mut runner, 1), ModelValue::True, "looked at again");
}

#[test]
fn a_crash_is_a_finding_with_a_signature_and_keeps_the_answer_before_it() {
    let directory = tempfile::tempdir().expect("a directory");
    let crashing = scripted(directory.path(), "a", "echo unsat\nkill -SEGV $$");
    let verdicts = judge(SATISFIABLE, vec![crashing], Some(Status::Sat));
    assert_eq!(kinds(&verdicts), [(Kind::RefutationSoundness, Some(0)), (Kind::Crash, Some(0))]);
    assert_eq!(verdicts[1].signature.as_ref().map(|signature| signature.text.as_str()), Some("SIGSEGV"));
}

#[test]
fn what_does_not_repeat_is_flaky() {
    let directory = tempfile::tempdir().expect("a directory");
    let seen = directory.path().join("seen");
    let once = format!("if [ -e {0} ]; then echo sat; else touch {0}; echo unsat; fi", seen.display());
    let moody = scripted(directory.path(), "a", &once);
    // Behind a wall it could not remember anything.
    let rules = RunRules::with_limits(Limits::wall(Duration::from_secs(20)));
    let configurations = Configuration::numbered([moody]).into_iter().map(Into::into).collect();
    let runners = SolverRunners::new(configurations, rules).behind(WallChoice::Off);
    let verdicts = judge_with(SATISFIABLE, &mut runners.start().expect("a launcher"), Some(Status::Sat));
    assert_eq!(verdicts.len(), 1);
    assert_eq!(verdicts[0].repeat, Repeat::Flaky { seen: 0, runs: 2 });
    assert!(!verdicts[0].is_finding() && verdicts[0].is_flaky());
}

#[test]
fn checks_are_compared_position_by_position_and_frames_alone() {
    let directory = tempfile::tempdir().expect("a directory");
    let script = "(set-logic QF_LIA)\n(declare-const x Int)\n(push 1)\n(assert (> x 3))\n(check-sat)\n(pop 1)\n(assert (< x 0))\n(check-sat)\n";
    // Right in any script with one check, wrong about the second of two.
    let confused = "if [ $(grep -c check-sat input.smt2) = 2 ]; then echo sat; echo unsat; else echo sat; fi";
    let confused = scripted(directory.path(), "a", confused);
    let verdicts = judge(script, vec![confused.clone()], None);
    assert_eq!(kinds(&verdicts), [(Kind::Incremental, Some(0))]);
    assert_eq!(verdicts[0].check, Some(1));
    let Some(z3) = get("z3@5.4.0") else { return };
    let verdicts = judge(script, vec![confused, z3], None);
    assert_eq!(kinds(&verdicts), [(Kind::RefutationSoundness, Some(0))], "one bug is reported once");
}

#[test]
fn a_core_that_is_satisfiable_or_names_nothing_is_unsound() {
    let directory = tempfile::tempdir().expect("a directory");
    let script = "(set-option :produce-unsat-cores true)\n(set-logic QF_LIA)\n(declare-const x Int)\n(assert (! (> x 3) :named big))\n\
                  (assert (! (< x 2) :named small))\n(assert (! (= x x) :named idle))\n(check-sat)\n(get-unsat-core)\n";
    let Some(z3) = get("z3@5.4.0") else { return };
    for (says, unsound) in [("(big idle)", true), ("(big small)", false), ("(big small gone)", true)] {
        let core = liar(directory.path(), "a", &format!("unsat\n{says}"));
        let found = kinds(&judge(script, vec![core, z3.clone()], None));
        let expected = if unsound { vec![(Kind::UnsoundCore, Some(0))] } else { vec![] };
        assert_eq!(found, expected, "{says}");
    }
}

#[test]
fn a_core_of_assumptions_must_be_unsatisfiable_too() {
    let directory = tempfile::tempdir().expect("a directory");
    let Some(z3) = get("z3@5.4.0") else { return };
    let script = "(set-option :produce-unsat-cores true)\n(declare-const p Bool)\n(declare-const q Bool)\n(declare-const r Bool)\n\
                  (assert (not (and p q)))\n(check-sat-assuming (p q r))\n(get-unsat-core)\n";
    for (says, wrong) in [("(p q)", false), ("(q p r)", false), ("(p r)", true), ("()", false)] {
        let core = liar(directory.path(), "a", &format!("unsat\n{says}"));
        let found = kinds(&judge(script, vec![core, z3.clone()], None));
        let expected = if wrong { vec![(Kind::UnsoundCore, Some(0))] } else { vec![] };
        assert_eq!(found, expected, "{says}");
    }
}

#[test]
fn values_must_agree_with_the_model_beside_them() {
    let directory = tempfile::tempdir().expect("a directory");
    let script = format!("{SATISFIABLE}(get-model)\n(get-value ((+ x 1)))\n");
    for (value, wrong) in [("5", false), ("6", true)] {
        let says = format!("sat\n((define-fun x () Int 4))\n(((+ x 1) {value}))");
        let found = kinds(&judge(&script, vec![liar(directory.path(), "a", &says)], None));
        assert_eq!(found, if wrong { vec![(Kind::WrongValue, Some(0))] } else { vec![] }, "{value}");
    }
}

#[test]
fn differences_by_design_are_named_and_not_reported() {
    let (Some(old), Some(new)) = (get("z3@4.8.7"), get("z3@5.4.0")) else { return };
    let script =
        "(declare-const s String)\n(assert (= s \"\\x41\"))\n(assert (= (str.len s) 1))\n(check-sat)\n";
    let verdicts = judge(script, vec![old, new], None);
    assert_eq!(kinds(&verdicts), [], "{verdicts:?}");
    assert!(
        verdicts
            .iter()
            .all(|verdict| matches!(&verdict.standing, Standing::ByDesign(why) if why.contains("escapes"))),
        "{verdicts:?}"
    );
    assert!(!verdicts.is_empty());
}

#[test]
fn solvers_that_are_right_give_no_verdict() {
    let (Some(z3), Some(cvc5), Some(yices)) = (get("z3@5.4.0"), get("cvc5@1.4.2"), get("yices@2.6.5")) else {
        return;
    };
    for script in [SATISFIABLE, UNSATISFIABLE] {
        assert_eq!(judge(script, vec![z3.clone(), cvc5.clone(), yices.clone()], None), []);
    }
}

#[test]
fn scripted_solvers_are_judged_like_real_ones_and_every_run_has_its_purpose() {
    let mut scripted = Scripted::new(&["z3@4.8.7", "cvc5@1.4.2"], |party, script| {
        match (party.id, script.contains("get-model")) {
            (PartyId(0), _) => "unsat".into(),
            (_, true) => "sat\n((define-fun x () Int 4))".into(),
            (_, false) => "sat".into(),
        }
    });
    let verdicts = judge_with(SATISFIABLE, &mut scripted, None);
    assert_eq!(kinds(&verdicts), [(Kind::RefutationSoundness, Some(0))]);
    assert_eq!(verdicts[0].opponents, [PartyId(1)]);
    assert_eq!(verdicts[0].solver, "z3@4.8.7");
    assert!(verdicts[0].reason.contains("satisfies every assertion"), "{}", verdicts[0].reason);
    let accounts = scripted.take_accounts();
    assert_eq!(accounts.test.runs, 2);
    // The opponent's model.
    assert_eq!(accounts.follow_up.runs, 1);
    // Both parties and the model, twice.
    assert_eq!(accounts.confirmation.runs, 6);
}

#[test]
fn parties_are_known_by_their_numbers_wherever_their_runs_stand() {
    let scripted = |numbers: [u32; 3]| {
        let solvers = ["z3@4.8.7", "z3@5.4.0", "cvc5@1.4.2"].map(testkit::made_up);
        let configurations = numbers.into_iter().zip(solvers);
        let configurations = configurations
            .map(|(number, solver)| Configuration::new(PartyId(number), solver).into())
            .collect();
        Scripted::with_configurations(configurations, |party, _| {
            if party.solver.name() == "z3@5.4.0" { "sat".into() } else { "unsat".into() }
        })
    };
    for numbers in [[0, 1, 2], [40, 7, 13]] {
        let verdicts = judge_with(UNSATISFIABLE, &mut scripted(numbers), Some(Status::Unsat));
        assert_eq!(kinds(&verdicts), [(Kind::SolutionSoundness, Some(numbers[1]))]);
        assert_eq!(verdicts[0].opponents, [PartyId(numbers[0]), PartyId(numbers[2])]);
        assert!(verdicts[0].own_family_objects);
    }
}

/// A script with this text in a literal, as osprey writes it for the release.
fn for_old_z3(literal: &str) -> String {
    let text = format!("(declare-const s String)(assert (= s \"{literal}\"))(check-sat)");
    let mut store = Store::new();
    let script = smtlib::parse(&mut store, text.as_bytes(), Mode::Strict).expect("a script").script;
    let release = testkit::made_up("z3@4.8.7").release();
    smtlib::print::print(&store, &script, release)
}

#[test]
fn a_literal_in_the_escapes_that_a_release_reads_excuses_nothing() {
    let standing = |literal: &str| {
        let mut scripted = Scripted::new(&["z3@4.8.7", "z3@5.4.0"], |party, _| {
            if party.id == PartyId(0) { "unsat".into() } else { "sat".into() }
        });
        // Each in its own notation.
        let text = format!("(declare-const s String)(assert (= s \"{literal}\"))(check-sat)");
        let texts = [for_old_z3(literal), text.clone()];
        let parties = scripted.configurations().to_vec();
        let run = |(party, text): (&Arc<Configuration>, &String)| {
            scripted.run(party, text.as_bytes(), Purpose::Test).expect("a run")
        };
        let runs: Vec<Run> = parties.iter().zip(&texts).map(run).collect();
        let mut store = Store::new();
        let script = smtlib::parse(&mut store, text.as_bytes(), Mode::Strict).expect("a script").script;
        let mut subject = Subject::new(&mut store, Some(&script), &[]);
        subject.expectation = Expectation::Claimed { answer: Status::Sat, by: "the test".into() };
        let mut asking = Asking::new(&mut scripted, Purpose::FollowUp);
        let verdicts = Judge::standard().judge(&mut subject, &runs, &mut asking).expect("verdicts");
        verdicts[0].standing.clone()
    };
    assert_eq!(standing("\\u{e}a\\"), Standing::Stands);
    assert!(matches!(standing("\\u{3b87}"), Standing::ByDesign(why) if why.contains("escapes")));
    assert!(matches!(standing("\\u{ff}"), Standing::ByDesign(why) if why.contains("256 characters")));
}

/// No candidate value decides it under the model below: 12345 to the third power is far from all numbers in sight.
const UNDECIDED: &str = "(set-logic ALL)\n(declare-fun f (Int) Int)\n\
     (assert (forall ((x Int)) (not (= (* (f x) (f x) (f x)) 1881365963625))))\n(check-sat)\n";

/// The first solver has a model that we cannot decide; `doubts` is what its own check says, `with_model` what the second
/// solver says to the script with the model put in.
fn undecided(doubts: &'static str, with_model: &'static str) -> Vec<Verdict> {
    let mut scripted = Scripted::new(&["z3@4.8.7", "cvc5@1.4.2"], move |party, script| {
        let model = "sat\n((define-fun f ((x Int)) Int (+ x 1)))";
        match party.id {
            PartyId(0) if party.request.check_models => format!("{model}\n{doubts}").as_str().into(),
            PartyId(0) => model.into(),
            _ if script.contains("define-fun f") => with_model.into(),
            _ => "unknown".into(),
        }
    });
    judge_with(UNDECIDED, &mut scripted, None)
}

#[test]
fn an_own_check_that_fails_is_a_hint_and_another_solver_decides() {
    const FAILS: &str = "(error \"line 5 column 1: an invalid model was generated\")";
    assert_eq!(kinds(&undecided(FAILS, "unsat")), [(Kind::InvalidModel, Some(0))]);
    assert_eq!(kinds(&undecided(FAILS, "unknown")), [], "the hint alone is no finding");
    assert_eq!(kinds(&undecided(FAILS, "sat")), []);
    assert_eq!(undecided("", "unsat"), [], "nobody is asked without a hint");
}

/// The same, where a first look takes too long and only a closer one sees whether the standard leaves something open.
fn undecided_at_first(more: &str) -> Vec<Verdict> {
    let script = format!(
        "(set-logic ALL)\n(declare-const b (_ BitVec 12))\n(declare-const y Int)\n(assert (and \
         (forall ((x (_ BitVec 12))) (= (bvmul x b x) (bvmul b (bvmul x x)))) {more}))\n(check-sat)\n"
    );
    let mut runner = Scripted::new(&["z3@4.8.7", "cvc5@1.4.2"], move |party, script| {
        let model = "sat\n((define-fun b () (_ BitVec 12) #x123) (define-fun y () Int 1))";
        match party.id {
            PartyId(0) if party.request.check_models => {
                format!("{model}\n(error \"line 5 column 1: an invalid model was generated\")")
                    .as_str()
                    .into()
            }
            PartyId(0) => model.into(),
            _ if script.contains("define-fun b") => "unsat".into(),
            _ => "unknown".into(),
        }
    });
    let runs = runner.run_all(script.as_bytes(), Purpose::Test).expect("runs");
    let mut store = Store::new();
    let parsed = smtlib::parse(&mut store, script.as_bytes(), Mode::Tolerant).expect("a script");
    let mut subject = Subject::new(&mut store, Some(&parsed.script), &parsed.notes);
    subject.look_briefly();
    let mut asking = Asking::new(&mut runner, Purpose::FollowUp);
    Judge::thorough().try_case(&mut subject, &runs, &mut asking).expect("verdicts")
}

#[test]
fn a_hint_leads_nowhere_where_the_standard_leaves_open_what_a_first_look_does_not_reach() {
    assert_eq!(kinds(&undecided_at_first("true")), [(Kind::InvalidModel, Some(0))]);
    assert_eq!(kinds(&undecided_at_first("(= (div y 0) 7)")), []);
}

const SIGSEGV: i32 = 11;

/// A solver whose runs come to these in turn, and then to the last of them for ever.
fn in_turn(runs: Vec<ScriptedAnswer>) -> Scripted {
    let next = AtomicUsize::new(0);
    Scripted::new(&["z3@4.8.7"], move |_, _| {
        runs[next.fetch_add(1, Ordering::Relaxed).min(runs.len() - 1)].clone()
    })
}

fn memory_out() -> ScriptedAnswer {
    ScriptedAnswer::says("(error \"out of memory\")\n").with_exit(101)
}

#[test]
fn a_run_that_ends_at_a_limit_does_not_speak_against_a_crash() {
    let repeat = |runs: Vec<ScriptedAnswer>| {
        let verdicts = judge_with(SATISFIABLE, &mut in_turn(runs), None);
        verdicts.iter().find(|verdict| verdict.kind == Kind::Crash).expect("a crash").repeat
    };
    let crash = || ScriptedAnswer::dies_of(SIGSEGV);
    let late = ScriptedAnswer::times_out;
    assert_eq!(repeat(vec![crash()]), Repeat::Confirmed { runs: 2 });
    assert_eq!(repeat(vec![crash(), memory_out(), crash(), late(), crash()]), Repeat::Confirmed { runs: 2 });
    assert_eq!(repeat(vec![crash(), memory_out(), crash(), late()]), Repeat::Confirmed { runs: 1 });
    let answered = || ScriptedAnswer::says("sat\n");
    assert_eq!(repeat(vec![crash(), memory_out(), crash(), answered()]), Repeat::Flaky { seen: 1, runs: 2 });
    assert_eq!(repeat(vec![crash(), memory_out()]), Repeat::Flaky { seen: 0, runs: 1 }, "never again");
}

#[test]
fn the_stack_of_a_crash_is_looked_for_until_it_crashes_again() {
    let asked = |runs: Vec<ScriptedAnswer>| {
        let mut solver = in_turn(runs);
        let mut run = solver.run_all(SATISFIABLE.as_bytes(), Purpose::Test).expect("a run").remove(0);
        Asking::new(&mut solver, Purpose::FollowUp).locate(&mut run).expect("looked for");
        (solver.asked().len() - 1, run.answers.crash().expect("a crash").frames.clone())
    };
    let bare = || ScriptedAnswer::dies_of(SIGSEGV);
    let placed = || ScriptedAnswer::dies_in(SIGSEGV, &["nlsat::solver::check"]);
    let frames = vec!["nlsat::solver::check".to_owned()];
    assert_eq!(asked(vec![bare(), placed()]), (1, frames.clone()));
    assert_eq!(asked(vec![bare(), memory_out(), memory_out(), placed()]), (3, frames));
    assert_eq!(asked(vec![bare(), memory_out()]), (3, vec![]), "at most three times");
    assert_eq!(asked(vec![bare(), bare(), placed()]), (1, vec![]), "its stack cannot be read");
}
