//! Reducing with scripted solvers: what is run for which purpose, and what becomes of options.

use std::sync::Arc;
use std::time::Duration;

use eval::Expectation;
use oracle::{Asking, Judge, Kind, Subject};
use reduce::predicate::{Bug, Candidate, Predicate as _};
use reduce::{Effort, Input, Watcher, reduce};
use smtlib::{Mode, Setting, Store};
use solver::run::{Configuration, PartyId, Purpose, Runner as _};
use testkit::{Scripted, ScriptedAnswer, made_up};

struct Quiet;

impl Watcher for Quiet {}

const SCRIPT: &str = "(set-logic QF_NIA)\n(declare-const x Int)\n(declare-const y Int)\n(assert (> x 3))\n\
                      (assert (= (* x y) 12))\n(check-sat)\n";

const MODEL: &str = "((define-fun x () Int 4) (define-fun y () Int 3))";

/// Z3 refutes every product while `depth` is at least 2; cvc5 never does.
fn solvers() -> Scripted {
    let mut wrong = Configuration::new(PartyId(0), made_up("z3@4.8.7 user=1"));
    wrong.request.settings = vec![Setting::new("depth", "8"), Setting::new("idle", "true")];
    let right = Configuration::new(PartyId(1), made_up("cvc5@1.4.2"));
    Scripted::with_configurations(vec![Arc::new(wrong), Arc::new(right)], |party, script| {
        let depth = party.request.settings.iter().find(|setting| setting.option == "depth");
        let deep = depth.and_then(|depth| depth.value.parse::<u32>().ok()).is_some_and(|depth| depth > 1);
        match (deep && script.contains("(* "), script.contains("(get-model)")) {
            (true, _) => "unsat".into(),
            (false, true) => format!("sat\n{MODEL}").as_str().into(),
            (false, false) => "sat".into(),
        }
    })
}

fn bug(solvers: &Scripted, script: &str) -> Bug {
    bug_of(Kind::RefutationSoundness, solvers, script)
}

fn bug_of(kind: Kind, solvers: &Scripted, script: &str) -> Bug {
    let mut runner = solvers.clone();
    let runs = runner.run_all(script.as_bytes(), Purpose::Test).expect("runs");
    let mut store = Store::new();
    let parsed = smtlib::parse(&mut store, script.as_bytes(), Mode::Tolerant).expect("a script");
    let mut subject = Subject::new(&mut store, Some(&parsed.script), &[]);
    let mut asking = Asking::new(&mut runner, Purpose::FollowUp);
    let verdicts = Judge::standard().try_case(&mut subject, &runs, &mut asking).expect("verdicts");
    assert_eq!(verdicts[0].kind, kind);
    assert_eq!(verdicts[0].accused, Some(PartyId(0)));
    Bug::new(&verdicts[0], &runs, Arc::new(solvers.clone()))
}

#[test]
fn settings_of_a_test_case_go_or_get_smaller_with_the_users_words() {
    let solvers = solvers();
    // The accused without options has its number, but is another party.
    let plain = Arc::new(Configuration::new(PartyId(0), made_up("z3@4.8.7")));
    let bug = bug(&solvers, SCRIPT).with_references([plain]).with_expectation(Expectation::Witness);
    let input = Input { text: SCRIPT.as_bytes(), witness: Some(MODEL.as_bytes()) };
    let reduced = reduce(input, &bug, &Effort { jobs: 1, time: None }, &Quiet).expect("reduced");
    let left = reduced.best.configuration.expect("a solver");
    assert_eq!(left.id, PartyId(0));
    assert_eq!(left.options(), ["depth=2"]);
    assert!(reduced.best.text.contains("(* ") && !reduced.best.text.contains("(> x 3)"));
    assert!(reduced.best.witness.is_some());
    assert!(reduced.accounts.reduction.runs > 0 && reduced.accounts.confirmation.runs > 0);
    assert_eq!(reduced.accounts.test.runs + reduced.accounts.follow_up.runs, 0);
}

#[test]
fn a_function_taken_for_another_is_shown_by_itself_wherever_it_stood() {
    const MODEL: &str = "((define-fun a () (_ BitVec 1) #b1))";
    let solvers = Scripted::new(&["z3@5.4.0", "cvc5@1.4.2"], |party, script| {
        // It is right about literals, and about the model's own value.
        let wrong = script.contains("(str.from_ubv a)") && !script.contains(" \"1\"");
        match (party.id == PartyId(0) && wrong, script.contains("(get-model)")) {
            (true, _) => "unsat".into(),
            (false, true) => format!("sat\n{MODEL}").as_str().into(),
            (false, false) => "sat".into(),
        }
    });
    let shown = |assertions: &str| {
        let script = format!("(declare-const a (_ BitVec 1))\n{assertions}\n(check-sat)\n");
        let bug = bug(&solvers, &script).with_expectation(Expectation::Witness);
        let input = Input { text: script.as_bytes(), witness: Some(MODEL.as_bytes()) };
        let reduced = reduce(input, &bug, &Effort { jobs: 1, time: None }, &Quiet).expect("reduced");
        reduced.best.text
    };
    let alone = "(declare-const a (_ BitVec 1))\n(assert (= (str.from_ubv a) \"0\"))\n(check-sat)\n";
    for assertions in [
        "(assert (str.in_re (str.from_ubv a) (re.loop re.allchar 1 6)))",
        "(assert (not (str.suffixof \"a\" (str.from_ubv a))))",
        "(assert (str.< (str.replace_re_all \"0\" re.all (str.from_ubv a)) (str.++ \"x\" (str.from_ubv a))))",
    ] {
        assert_eq!(shown(assertions), alone, "{assertions}");
    }
}

#[test]
fn a_function_that_models_are_wrong_about_is_shown_by_itself_wherever_it_stood() {
    // Where the last empty string is asked for, all numbers are 5 and all texts have two characters.
    let solvers = Scripted::new(&["z3@4.8.7"], |_, script| {
        if !script.contains("(seq.last_indexof a \"\")") {
            return "unknown".into();
        }
        let value = |sort: &str| if sort == "Int" { "5" } else { "\"ff\"" };
        let model: String = script
            .lines()
            .filter_map(|line| line.strip_prefix("(declare-const ")?.strip_suffix(')')?.split_once(' '))
            .map(|(name, sort)| format!("(define-fun {name} () {sort} {})", value(sort)))
            .collect();
        format!("sat\n({model})").as_str().into()
    });
    let shown = |assertions: &str| {
        let script = format!("(declare-const a String)\n{assertions}\n(check-sat)\n(get-model)\n");
        let bug = bug_of(Kind::InvalidModel, &solvers, &script);
        let input = Input { text: script.as_bytes(), witness: None };
        reduce(input, &bug, &Effort { jobs: 1, time: None }, &Quiet).expect("reduced").best.text
    };
    let alone = "(declare-const a String)\n(assert (= (seq.last_indexof a \"\") 0))\n(check-sat)\n";
    for assertions in [
        "(assert (not (str.suffixof (str.at a (seq.last_indexof a \"\")) \"\")))",
        "(assert (str.contains (str.substr a (seq.last_indexof a \"\") 2) \"f\"))",
        "(assert (str.in_re (str.substr a (seq.last_indexof a \"\") 1) (re.++ re.allchar re.allchar)))",
    ] {
        assert_eq!(shown(assertions), alone, "{assertions}");
    }
}

#[test]
fn a_script_with_characters_in_the_notation_of_an_old_release_is_reduced() {
    let standard =
        "(declare-const s String)\n(assert (= s \"\\u{e9}\"))\n(assert (= (str.len s) 1))\n(check-sat)\n";
    let solvers = Scripted::new(&["z3@4.8.7", "z3@4.8.8"], |party, script| {
        match (party.id == PartyId(0) && script.contains("\"\\xe9\""), script.contains("(get-model)")) {
            (true, _) => "unsat".into(),
            (false, true) => "sat\n((define-fun s () String \"\\xe9\"))".into(),
            (false, false) => "sat".into(),
        }
    });
    let accused = solvers.clone().run_all(b"", Purpose::Test).expect("runs")[0].configuration.release();
    let mut store = Store::new();
    let parsed = smtlib::parse(&mut store, standard.as_bytes(), Mode::Strict).expect("a script");
    let text = smtlib::print::print(&store, &parsed.script, accused);
    assert!(text.contains("\\xe9"), "{text}");
    let bug = bug(&solvers, &text).with_expectation(Expectation::Witness);
    let model = "((define-fun s () String \"\\u{e9}\"))";
    let input = Input { text: text.as_bytes(), witness: Some(model.as_bytes()) };
    let reduced = reduce(input, &bug, &Effort { jobs: 1, time: None }, &Quiet).expect("reduced");
    assert!(
        !reduced.best.text.contains("str.len") && reduced.best.text.contains("\\xe9"),
        "{}",
        reduced.best.text
    );
}

#[test]
fn what_only_makes_a_solver_choose_a_wrong_model_gives_way_to_the_choice() {
    let quotient = "(assert (> (div x 2) 3))";
    let product = "(assert (distinct (+ (* y y) (mod y 7)) 5))";
    // It does not know quotients: right by luck, unless the product is there or another value is asked for.
    let solvers = Scripted::new(&["z3@4.8.7"], move |_, script| {
        let steers = |line: &str| line == product || line.contains("(distinct x 8)");
        let mut assertions = script.lines().filter(|line| line.starts_with("(assert "));
        if !script.contains(quotient) || !assertions.all(|line| line == quotient || steers(line)) {
            return "unknown".into();
        }
        let x = if script.lines().any(steers) { 0 } else { 8 };
        format!("sat\n((define-fun x () Int {x}) (define-fun y () Int 0))").as_str().into()
    });
    let script = &format!(
        "(declare-const x Int)\n(declare-const y Int)\n{quotient}\n{product}\n(check-sat)\n(get-model)\n"
    );
    let bug = bug_of(Kind::InvalidModel, &solvers, script);
    let input = Input { text: script.as_bytes(), witness: None };
    let best = reduce(input, &bug, &Effort { jobs: 1, time: None }, &Quiet).expect("reduced").best.text;
    assert!(best.contains("(distinct x 8)") && best.contains(quotient) && !best.contains("(* "), "{best}");
}

#[test]
fn what_only_hides_a_value_from_the_solver_gives_way_to_a_constant() {
    let solvers = Scripted::new(&["z3@4.8.7", "cvc5@1.4.2"], |party, script| {
        let wrong = script.contains("(bvnot ") && !script.contains("(bvnot #");
        if party.id == PartyId(0) && wrong { "sat".into() } else { "unsat".into() }
    });
    let script = "(declare-const a (_ BitVec 2))\n\
                  (assert (= (bvnot ((_ extract 1 0) (concat (bvadd a a) #b00))) #b00))\n(check-sat)\n";
    let bug = bug_of(Kind::SolutionSoundness, &solvers, script);
    let input = Input { text: script.as_bytes(), witness: None };
    let best = reduce(input, &bug, &Effort { jobs: 1, time: None }, &Quiet).expect("reduced").best.text;
    assert!(best.contains("(bvnot ") && !best.contains("concat") && !best.contains("extract"), "{best}");
}

#[test]
fn a_release_whose_model_nobody_can_judge_or_that_was_lucky_is_not_without_the_bug() {
    let script = "(declare-const x Int)\n(assert (> x 3))\n(check-sat)\n(get-model)\n";
    // The accused and 4.8.8 are wrong alike; 4.8.9 is right; of 4.8.10 there is no model; 4.8.11 was lucky.
    let releases = ["z3@4.8.7", "z3@4.8.8", "z3@4.8.9", "z3@4.8.10", "z3@4.8.11"];
    let solvers =
        Scripted::new(&releases, |party, script| match (party.id.0, script.contains("(distinct x 7)")) {
            (2 | 4, false) => "sat\n((define-fun x () Int 7))".into(),
            (2, true) => "sat\n((define-fun x () Int 8))".into(),
            (3, _) => "sat\n(error \"no model\")".into(),
            _ => "sat\n((define-fun x () Int 0))".into(),
        });
    let configurations = solvers.clone().configurations().to_vec();
    let bug = bug_of(Kind::InvalidModel, &solvers, script);
    let mut examiner = bug.examiner().expect("an examiner");
    let mut said = |place: usize| {
        let configuration = Some(&configurations[place]);
        let candidate = Candidate {
            text: script,
            configuration,
            satisfied: false,
            subset: false,
            plain: true,
            other_models: true,
        };
        let found = examiner.examine(&candidate).expect("a judgement");
        found.answered.then_some(found.interesting)
    };
    assert_eq!([said(1), said(2), said(3), said(4)], [Some(true), Some(false), None, Some(true)]);
}

#[test]
fn plain_candidates_are_confirmations_and_all_have_the_calibrated_time() {
    let solvers = solvers();
    let bug = bug(&solvers, SCRIPT);
    let before = solvers.asked().len();
    let mut examiner = bug.examiner().expect("an examiner");
    let candidate = Candidate {
        text: SCRIPT,
        configuration: None,
        satisfied: false,
        subset: true,
        plain: true,
        other_models: false,
    };
    assert!(examiner.examine(&candidate).expect("a judgement").interesting);
    examiner.calibrate(Duration::from_millis(70));
    assert!(examiner.examine(&Candidate { plain: false, ..candidate }).expect("a judgement").interesting);
    let asked = solvers.asked().split_off(before);
    let (plain, fast) = asked.split_at(asked.len() / 2);
    assert!(plain.iter().all(|run| (run.purpose, run.wall) == (Purpose::Confirmation, None)), "{plain:?}");
    let patience = Some(Duration::from_millis(70));
    assert!(fast.iter().all(|run| (run.purpose, run.wall) == (Purpose::Reduction, patience)), "{fast:?}");
    let accounts = examiner.take_accounts();
    assert_eq!(accounts.total().runs, asked.len() as u64);
}

#[test]
fn a_crash_stays_where_it_was_though_the_signal_is_the_same_elsewhere() {
    const SIGSEGV: i32 = 11;
    // Without the comparison it crashes too, but in another function.
    let solvers =
        Scripted::new(&["z3@4.8.7"], |_, script| match (script.contains("(* "), script.contains("(> ")) {
            (true, true) => ScriptedAnswer::dies_in(SIGSEGV, &["multiply", "main"]),
            (true, false) => ScriptedAnswer::dies_in(SIGSEGV, &["divide", "main"]),
            (false, _) => "sat".into(),
        });
    let reduced = |runner: Scripted| {
        let mut judging = runner.clone();
        let mut runs = judging.run_all(SCRIPT.as_bytes(), Purpose::Test).expect("runs");
        let mut store = Store::new();
        let mut subject = Subject::new(&mut store, None, &[]);
        let mut asking = Asking::new(&mut judging, Purpose::FollowUp);
        let judge = Judge::standard();
        judge.follow_up(&mut subject, &mut runs, &mut asking).expect("places");
        let verdicts = judge.try_case(&mut subject, &runs, &mut asking).expect("verdicts");
        let bug = Bug::new(&verdicts[0], &runs, Arc::new(runner));
        // A crash elsewhere may be the same bug in another build: only an answer is the absence of it.
        let mut examiner = bug.examiner().expect("an examiner");
        let placed = runs[0].answers.crash().is_some_and(|crash| !crash.lacks_a_place());
        let cases = [("(assert (= (* 2 2) 4))(check-sat)", false), ("(check-sat)", true)];
        for (text, answered) in cases.into_iter().filter(|_| placed) {
            let candidate = Candidate {
                text,
                configuration: None,
                satisfied: false,
                subset: false,
                plain: true,
                other_models: false,
            };
            let seen = examiner.examine(&candidate).expect("an examination");
            assert_eq!((seen.interesting, seen.answered), (false, answered), "{text}");
        }
        let input = Input { text: SCRIPT.as_bytes(), witness: None };
        reduce(input, &bug, &Effort { jobs: 1, time: None }, &Quiet).expect("reduced")
    };
    let best = reduced(solvers.clone()).best.text;
    assert!(best.contains("(* ") && best.contains("(> "), "{best}");
    // Where no stack can be read, the signal is all there is.
    let blind = Scripted::new(&["z3@4.8.7"], |_, script| match script.contains("(* ") {
        true => ScriptedAnswer::dies_of(SIGSEGV),
        false => "sat".into(),
    });
    let best = reduced(blind).best.text;
    assert!(best.contains("(* ") && !best.contains("(> "), "{best}");
}

#[test]
fn what_hangs_after_a_wrong_answer_is_reduced_up_to_that_answer() {
    let text = format!("{SCRIPT}(push 1)\n(assert (< y 9))\n(check-sat)\n");
    let solvers = Scripted::new(&["z3@4.8.7", "cvc5@1.4.2"], |party, script| {
        let checks = script.matches("(check-sat)").count();
        match (party.id, script.contains("(* "), script.contains("(get-model)")) {
            (PartyId(0), true, _) if checks > 1 => ScriptedAnswer::times_out().with_stdout("unsat\n"),
            (PartyId(0), true, _) => "unsat".into(),
            (_, _, true) => format!("sat\n{MODEL}").as_str().into(),
            _ => "sat\n".repeat(checks).as_str().into(),
        }
    });
    let bug = bug(&solvers, &text).with_expectation(Expectation::Witness);
    let input = Input { text: text.as_bytes(), witness: Some(MODEL.as_bytes()) };
    let reduced = reduce(input, &bug, &Effort { jobs: 1, time: None }, &Quiet).expect("reduced");
    assert_eq!(reduced.best.text.matches("(check-sat)").count(), 1, "{}", reduced.best.text);
    assert!(reduced.best.text.contains("(* "), "{}", reduced.best.text);
    assert!(reduced.before > reduced.best.size);
}
