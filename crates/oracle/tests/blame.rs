//! Whom we blame: scripted releases contradict each other, and each kind of evidence has to tell who is wrong, whichever of
//! them is newer and in whichever order they stand.

use oracle::{Asking, Evidence, Judge, Kind, Subject, Verdict};
use smtlib::{Mode, Store};
use solver::run::{Configuration, PartyId, Purpose, Run, Runner as _};
use testkit::{Scripted, ScriptedAnswer};

/// Nothing of it can be evaluated, and nobody prints a model.
const OPEN: &str = "(set-logic QF_LIA)\n(declare-const x Int)\n(declare-const y Int)\n(assert (and (> x y) (> y x)))\n\
                    (check-sat)\n";
/// The issue's own example.
const GROUND: &str = "(assert (= (* 0 0) 1))\n(check-sat)\n";
/// Nobody can try all integers.
const SQUARES: &str =
    "(declare-const x Int)\n(assert (forall ((z Int)) (>= (* z z) x)))\n(assert (= x 0))\n(check-sat)\n";
/// A model of x leaves the value of the division open.
const DIVISION: &str = "(declare-const x Int)\n(assert (= (div x 0) 7))\n(assert (= x 1))\n(check-sat)\n";

const ORDERS: [[&str; 2]; 2] = [["z3@5.5.0", "z3@5.4.0"], ["z3@5.4.0", "z3@5.5.0"]];

/// What is judged, and who was heard.
struct Judged {
    verdicts: Vec<Verdict>,
    runs: Vec<Run>,
    solvers: Scripted,
}

impl Judged {
    /// Kind, accused solver and evidence of each finding.
    fn findings(&self) -> Vec<(Kind, &str, Option<Evidence>)> {
        let found = self.verdicts.iter().filter(|verdict| verdict.is_finding());
        found.map(|verdict| (verdict.kind, verdict.solver.as_str(), verdict.rests_on)).collect()
    }

    /// How often a solver was run for a purpose.
    fn asked(&self, name: &str, purpose: Purpose) -> usize {
        self.solvers.asked().iter().filter(|asked| asked.name == name && asked.purpose == purpose).count()
    }
}

fn judge(
    script: &str,
    specs: &[&str],
    third: &[&str],
    answering: impl Fn(&Configuration, &str) -> ScriptedAnswer + Send + Sync + 'static,
) -> Judged {
    let mut solvers = Scripted::new(specs, answering).with_third_opinions(third);
    let mut runs = solvers.run_all(script.as_bytes(), Purpose::Test).expect("runs");
    let mut store = Store::new();
    let parsed = smtlib::parse(&mut store, script.as_bytes(), Mode::Tolerant).expect("a script");
    let mut subject = Subject::new(&mut store, Some(&parsed.script), &parsed.notes);
    let record = solvers.clone();
    let mut asking = Asking::new(&mut solvers, Purpose::FollowUp);
    let judge = Judge::standard();
    judge.follow_up(&mut subject, &mut runs, &mut asking).expect("third opinions");
    let verdicts = judge.try_case(&mut subject, &runs, &mut asking).expect("verdicts");
    Judged { verdicts, runs, solvers: record }
}

/// Answers by the solver's name.
fn says(answers: &'static [(&'static str, &'static str)]) -> impl Fn(&Configuration, &str) -> ScriptedAnswer {
    move |party, _| {
        let name = party.name();
        let answer = answers.iter().find(|(solver, _)| *solver == name);
        answer.map_or_else(ScriptedAnswer::missing, |(_, answer)| (*answer).into())
    }
}

#[test]
fn an_assertion_that_we_evaluate_settles_it_and_nobody_else_is_asked() {
    for order in ORDERS {
        let answers = says(&[("z3@5.5.0", "sat"), ("z3@5.4.0", "unsat")]);
        let judged = judge(GROUND, &order, &["cvc5@1.4.2"], answers);
        let accused = (Kind::SolutionSoundness, "z3@5.5.0", Some(Evidence::Evaluation));
        assert_eq!(judged.findings(), [accused], "{order:?}");
        assert!(judged.verdicts[0].reason.contains("finds the assertion false: (= (* 0 0) 1)"));
        assert_eq!(judged.runs.len(), 2);
    }
}

#[test]
fn our_evaluation_stands_against_any_number_of_families() {
    let answers = says(&[("z3@5.4.0", "sat"), ("cvc5@1.4.2", "sat"), ("yices@2.6.5", "unsat")]);
    let judged = judge(GROUND, &["z3@5.4.0", "cvc5@1.4.2", "yices@2.6.5"], &[], answers);
    let accused: Vec<&str> = judged.findings().into_iter().map(|(_, solver, _)| solver).collect();
    assert_eq!(accused, ["z3@5.4.0", "cvc5@1.4.2"]);
}

#[test]
fn a_model_that_we_confirm_settles_it_for_the_older_release_too() {
    let script = "(declare-const x Int)\n(assert (> x 3))\n(check-sat)\n";
    for order in ORDERS {
        let judged = judge(script, &order, &["cvc5@1.4.2"], |party, script| {
            match (party.name().as_str(), script.contains("get-model")) {
                ("z3@5.5.0", _) => "unsat".into(),
                (_, true) => "sat\n((define-fun x () Int 4))".into(),
                (_, false) => "sat".into(),
            }
        });
        let accused = (Kind::RefutationSoundness, "z3@5.5.0", Some(Evidence::Evaluation));
        assert_eq!(judged.findings(), [accused], "{order:?}");
        assert_eq!(judged.asked("cvc5@1.4.2", Purpose::FollowUp), 0);
    }
}

#[test]
fn a_sat_with_a_false_model_has_no_weight() {
    for order in ORDERS {
        let judged = judge(OPEN, &order, &[], |party, script| {
            match (party.name().as_str(), script.contains("get-model")) {
                ("z3@5.4.0", _) => "unsat".into(),
                (_, true) => "sat\n((define-fun x () Int 4) (define-fun y () Int 4))".into(),
                (_, false) => "sat".into(),
            }
        });
        let accused = (Kind::SolutionSoundness, "z3@5.5.0", Some(Evidence::RefutedModel));
        assert_eq!(judged.findings(), [accused], "{order:?}");
    }
}

/// The newer release has a model that we cannot decide.
fn undecided_model(party: &Configuration, script: &str, put_in: &str) -> ScriptedAnswer {
    let model = match script.contains("div") {
        true => "sat\n((define-fun x () Int 1))",
        false => "sat\n((define-fun x () Int 0))",
    };
    match (party.name().as_str(), script.contains("get-model"), script.contains("define-fun x")) {
        ("z3@5.5.0", true, _) => model.into(),
        ("z3@5.5.0", false, _) => "sat".into(),
        ("z3@5.4.0", _, false) => "unsat".into(),
        ("z3@5.4.0", _, true) => if put_in == "takes back" { "sat" } else { "unsat" }.into(),
        (_, _, false) => "unknown".into(),
        (_, _, true) => put_in.into(),
    }
}

#[test]
fn a_model_put_in_is_confirmed_or_refuted_by_an_independent_solver() {
    let cases = [
        ("sat", (Kind::RefutationSoundness, "z3@5.4.0", Some(Evidence::Substitution))),
        ("unsat", (Kind::SolutionSoundness, "z3@5.5.0", Some(Evidence::Substitution))),
    ];
    for order in ORDERS {
        for (put_in, accused) in cases {
            let judged = judge(SQUARES, &order, &["cvc5@1.4.2"], move |party, script| {
                undecided_model(party, script, put_in)
            });
            assert_eq!(judged.findings(), [accused], "{order:?} {put_in}");
            // It has a part in the verdict though it had no answer, so that it is asked again wherever the finding is.
            let third =
                judged.runs.iter().find(|run| run.configuration.name() == "cvc5@1.4.2").expect("a run");
            assert!(judged.verdicts[0].opponents.contains(&third.party()));
            assert!(judged.verdicts[0].reason.contains("put in"), "{}", judged.verdicts[0].reason);
        }
    }
}

#[test]
fn what_the_standard_leaves_open_cannot_be_refuted_by_putting_a_model_in() {
    for order in ORDERS {
        let judged =
            judge(DIVISION, &order, &["cvc5@1.4.2"], |party, script| undecided_model(party, script, "unsat"));
        assert_eq!(judged.findings(), [(Kind::Disagreement, "", None)], "{order:?}");
    }
}

#[test]
fn a_release_that_takes_its_refutation_back_when_the_model_is_put_in_is_wrong() {
    for order in ORDERS {
        let judged =
            judge(DIVISION, &order, &[], |party, script| undecided_model(party, script, "takes back"));
        let accused = (Kind::RefutationSoundness, "z3@5.4.0", Some(Evidence::Substitution));
        assert_eq!(judged.findings(), [accused], "{order:?}");
    }
}

#[test]
fn a_third_opinion_decides_between_two_releases_of_one_line() {
    for order in ORDERS {
        for (third, accused) in [
            ("unsat", (Kind::SolutionSoundness, "z3@5.5.0", Some(Evidence::Families))),
            ("sat", (Kind::RefutationSoundness, "z3@5.4.0", Some(Evidence::Families))),
        ] {
            let judged =
                judge(OPEN, &order, &["z3@5.4.0", "cvc5@1.4.2", "yices@2.6.5"], move |party, _| match party
                    .name()
                    .as_str()
                {
                    "z3@5.5.0" => "sat".into(),
                    "z3@5.4.0" => "unsat".into(),
                    _ => third.into(),
                });
            assert_eq!(judged.findings(), [accused], "{order:?} {third}");
            let verdict = &judged.verdicts[0];
            let words = format!("cvc5@1.4.2, an independent solver, answers {third}");
            assert!(verdict.reason.contains(&words), "{}", verdict.reason);
            // One is enough, its run is confirmed like those of the others, and it has a number of its own.
            assert_eq!(judged.runs.iter().map(Run::party).collect::<Vec<_>>(), [0, 1, 2].map(PartyId));
            assert!(verdict.opponents.contains(&PartyId(2)));
            assert!(judged.asked("cvc5@1.4.2", Purpose::Confirmation) >= 2);
            assert_eq!(judged.asked("yices@2.6.5", Purpose::FollowUp), 0);
        }
    }
}

#[test]
fn without_evidence_both_are_named_and_age_only_suggests() {
    for order in ORDERS {
        let answers = says(&[("z3@5.5.0", "sat"), ("z3@5.4.0", "unsat")]);
        let judged = judge(OPEN, &order, &[], answers);
        assert_eq!(judged.findings(), [(Kind::Disagreement, "", None)], "{order:?}");
        let verdict = &judged.verdicts[0];
        assert_eq!(verdict.reason, "z3@5.5.0 answered sat and z3@5.4.0 answered unsat");
        let evidence = verdict.evidence.join("\n");
        assert!(evidence.contains("z3@5.4.0 is likely the one that is wrong: it is older"), "{evidence}");
        assert!(evidence.contains("osprey solvers install cvc5"), "{evidence}");
    }
}

#[test]
fn a_third_opinion_that_cannot_be_had_is_none() {
    // Yices has no strings; the other one cannot be started.
    let script = "(set-logic QF_S)\n(declare-const a String)\n(declare-const b String)\n\
                  (assert (distinct (str.++ a b a) (str.++ a b a)))\n(check-sat)\n";
    let answers = says(&[("z3@5.5.0", "sat"), ("z3@5.4.0", "unsat"), ("yices@2.6.5", "sat")]);
    let judged = judge(script, &ORDERS[0], &["yices@2.6.5", "cvc5@1.4.2"], answers);
    assert_eq!(judged.findings(), [(Kind::Disagreement, "", None)]);
    assert_eq!(judged.asked("yices@2.6.5", Purpose::FollowUp), 0);
    assert_eq!(judged.asked("cvc5@1.4.2", Purpose::FollowUp), 1);
    // One that has no answer is named.
    let answers = says(&[("z3@5.5.0", "sat"), ("z3@5.4.0", "unsat"), ("cvc5@1.4.2", "unknown")]);
    let judged = judge(OPEN, &ORDERS[0], &["cvc5@1.4.2"], answers);
    assert_eq!(judged.findings(), [(Kind::Disagreement, "", None)]);
    assert!(judged.verdicts[0].evidence.iter().any(|line| line == "cvc5@1.4.2 had no answer"));
}

#[test]
fn solvers_of_one_line_and_configurations_of_one_release_are_not_independent() {
    let bits = "(set-logic QF_BV)\n(declare-const x (_ BitVec 64))\n(declare-const y (_ BitVec 64))\n\
                (assert (and (bvult x y) (bvult y x)))\n(check-sat)\n";
    let answers = says(&[("cvc4@1.8", "unsat"), ("cvc5@1.4.2", "sat")]);
    assert_eq!(
        judge(OPEN, &["cvc4@1.8", "cvc5@1.4.2"], &[], answers).findings(),
        [(Kind::Disagreement, "", None)]
    );
    let answers = says(&[("boolector@3.2.2", "unsat"), ("bitwuzla@0.9.1", "sat")]);
    let judged = judge(bits, &["boolector@3.2.2", "bitwuzla@0.9.1"], &[], answers);
    assert_eq!(judged.findings(), [(Kind::Disagreement, "", None)]);
    // Both of a line on one side count once.
    let answers = says(&[("boolector@3.2.2", "unsat"), ("bitwuzla@0.9.1", "unsat"), ("z3@5.4.0", "sat")]);
    let judged = judge(bits, &["boolector@3.2.2", "z3@5.4.0", "bitwuzla@0.9.1"], &[], answers);
    assert_eq!(judged.findings(), [(Kind::Disagreement, "", None)]);
    let answers = says(&[("z3@5.4.0", "sat"), ("z3@5.4.0 smt.arith.solver=2", "unsat")]);
    let judged = judge(OPEN, &["z3@5.4.0", "z3@5.4.0 smt.arith.solver=2"], &[], answers);
    assert_eq!(judged.findings(), [(Kind::Disagreement, "", None)]);
    let evidence = judged.verdicts[0].evidence.join("\n");
    assert!(evidence.contains("smt.arith.solver=2 is likely the one that is wrong: it has more options"));
}

#[test]
fn a_line_that_contradicts_itself_is_on_neither_side() {
    // Many releases of one line weigh no more than one.
    let answers =
        says(&[("z3@5.5.0", "sat"), ("z3@5.4.0", "sat"), ("z3@4.8.7", "unsat"), ("cvc5@1.4.2", "unsat")]);
    let judged = judge(OPEN, &["z3@5.5.0", "z3@5.4.0", "z3@4.8.7", "cvc5@1.4.2"], &[], answers);
    let wrong = |solver| (Kind::SolutionSoundness, solver, Some(Evidence::Families));
    assert_eq!(judged.findings(), [wrong("z3@5.5.0"), wrong("z3@5.4.0")]);
}

#[test]
fn two_lines_that_contradict_each_other_get_a_third_opinion_too() {
    let answers = says(&[("z3@5.4.0", "sat"), ("cvc5@1.4.2", "unsat"), ("yices@2.6.5", "unsat")]);
    let judged =
        judge(OPEN, &["z3@5.4.0", "cvc5@1.4.2"], &["z3@5.4.0", "cvc5@1.4.2", "yices@2.6.5"], answers);
    assert_eq!(judged.findings(), [(Kind::SolutionSoundness, "z3@5.4.0", Some(Evidence::Families))]);
}

#[test]
fn who_agrees_is_not_disturbed() {
    let answers = says(&[("z3@5.5.0", "unsat"), ("z3@5.4.0", "unsat")]);
    let judged = judge(OPEN, &ORDERS[0], &["cvc5@1.4.2"], answers);
    assert_eq!(judged.findings(), []);
    assert_eq!(judged.asked("cvc5@1.4.2", Purpose::FollowUp), 0);
}

/// A script with two contradictory assertions, whose core leaves out one of them.
const CORE: &str = "(set-option :produce-unsat-cores true)\n(set-logic QF_NIA)\n(declare-const x Int)\n(declare-const y Int)\n\
                    (assert (! (> (* x y) 3) :named big))\n(assert (! (< (* x y) 2) :named small))\n(check-sat)\n\
                    (get-unsat-core)\n";

#[test]
fn a_core_is_unsound_if_two_lines_or_the_accused_itself_say_so() {
    let third: &[&str] = &["yices@2.6.5"];
    for (other, third, own, unsound) in [
        ("z3@5.4.0", &[][..], "unknown", false),
        // The other one may be the one that is wrong.
        ("cvc5@1.4.2", &[], "unknown", false),
        ("cvc5@1.4.2", third, "unknown", true),
        ("cvc5@1.4.2", third, "unsat", false),
        ("cvc5@1.4.2", &[], "sat", true),
    ] {
        let judged = judge(CORE, &["z3@5.5.0", other], third, move |party, script| {
            // Nobody prints a model of the core, so that there is only their word.
            match (party.name().as_str(), script.contains("small")) {
                ("z3@5.5.0", true) => "unsat\n(big)".into(),
                ("z3@5.5.0", false) => own.into(),
                (_, true) => "unsat\n(big small)".into(),
                (_, false) => "sat".into(),
            }
        });
        let found: Vec<Kind> = judged.findings().into_iter().map(|(kind, _, _)| kind).collect();
        let expected = if unsound { vec![Kind::UnsoundCore] } else { vec![] };
        assert_eq!(found, expected, "{other}, {third:?}, {own}: {:?}", judged.verdicts);
    }
}

#[test]
fn a_core_that_we_find_false_is_sound_whatever_others_say() {
    let script = CORE.replace("(> (* x y) 3)", "(str.in_re \"a\" re.none)").replace("QF_NIA", "ALL");
    let judged = judge(&script, &["z3@5.5.0", "cvc5@1.4.2"], &["yices@2.6.5"], |party, script| {
        match (party.name().as_str(), script.contains("small")) {
            ("z3@5.5.0", _) => "unsat\n(big)".into(),
            (_, true) => "unsat\n(big small)".into(),
            (_, false) => "sat\n((define-fun x () Int 1) (define-fun y () Int 1))".into(),
        }
    });
    assert_eq!(judged.findings(), [], "{:?}", judged.verdicts);
}

#[test]
fn who_refutes_the_script_is_no_second_opinion_on_its_model() {
    // Our evaluation decides neither the script nor the model.
    let model = "sat\n((define-fun kk () Int 0))";
    let script = "(set-logic ALL)\n(declare-const kk Int)\n\
                  (assert (forall ((x Int)) (>= (* x x x x) (- kk))))\n(check-sat)\n";
    let answers = move |party: &Configuration, _: &str| -> ScriptedAnswer {
        if party.name().starts_with("cvc5@1.0.3") { "unsat".into() } else { model.into() }
    };
    for order in [["cvc5@1.0.3", "z3@5.4.0"], ["z3@5.4.0", "cvc5@1.0.3"]] {
        let judged = judge(script, &order, &[], answers);
        let found: Vec<Kind> = judged.findings().into_iter().map(|(kind, _, _)| kind).collect();
        assert_eq!(found, [Kind::Disagreement], "{:?}", judged.verdicts);
    }
}
