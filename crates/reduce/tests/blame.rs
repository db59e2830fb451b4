//! Which constructs are blamed: with solvers that misbehave exactly when one is there, and with a real one.

use std::sync::Arc;
use std::time::Duration;

use eval::Expectation;
use oracle::{Asking, Judge, Kind, Subject};
use reduce::blame::{Blame, BlameBudget, Blamed, blame};
use reduce::predicate::{Bug, proof};
use reduce::{Effort, Input, Watcher, reduce};
use smtlib::{Mode, Setting, Store};
use solver::run::{Accounts, Configuration, PartyId, Purpose, RunRules, Runner, Runners, SolverRunners};
use testkit::{Scripted, ScriptedAnswer, get, made_up};

struct Quiet;

impl Watcher for Quiet {}

const SIGSEGV: i32 = 11;

/// What is blamed for the bug of the first solver on a script, which is not reduced before.
fn blamed(text: &str, runners: Arc<dyn Runners>, kind: Kind, budget: &BlameBudget) -> (Blame, Accounts) {
    let mut runner: Box<dyn Runner> = runners.runner().expect("a runner");
    let runs = runner.run_all(text.as_bytes(), Purpose::Test).expect("runs");
    let mut store = Store::new();
    let parsed = smtlib::parse(&mut store, text.as_bytes(), Mode::Tolerant).expect("a script");
    let mut subject = Subject::new(&mut store, Some(&parsed.script), &[]);
    let mut asking = Asking::new(&mut *runner, Purpose::FollowUp);
    let verdicts = Judge::standard().try_case(&mut subject, &runs, &mut asking).expect("verdicts");
    let verdict = verdicts.iter().find(|verdict| verdict.kind == kind).expect("a verdict of this kind");
    assert_eq!(verdict.accused, Some(PartyId(0)));
    let witness = proof(&mut store, &parsed.script, &runs, verdict, &mut asking).expect("runs");
    let mut bug = Bug::new(verdict, &runs, runners);
    if witness.is_some() {
        bug = bug.with_expectation(Expectation::Witness);
    }
    let input = Input { text: text.as_bytes(), witness: witness.as_deref().map(str::as_bytes) };
    let effort = Effort { jobs: 1, time: Some(Duration::ZERO) };
    let best = reduce(input, &bug, &effort, &Quiet).expect("reduced").best;
    let ablation = blame(&bug, &best, budget, &Quiet).expect("blame");
    (ablation.blame, ablation.accounts)
}

/// Blame for a wrong `unsat`, said where `wrong` holds for the text; the other solver knows the model.
fn refuted(text: &str, model: &'static str, wrong: fn(&str) -> bool) -> Blame {
    let solvers = Scripted::new(&["z3@4.8.7", "cvc5@1.4.2"], move |party, script| {
        match (party.id == PartyId(0) && wrong(script), script.contains("(get-model)")) {
            (true, _) => "unsat".into(),
            (false, true) => ScriptedAnswer::says(format!("sat\n{model}")),
            (false, false) => "sat".into(),
        }
    });
    blamed(text, Arc::new(solvers), Kind::RefutationSoundness, &BlameBudget::default()).0
}

fn of<'b>(blame: &'b Blame, construct: &str) -> &'b Blamed {
    let found = blame.constructs.iter().find(|blamed| blamed.construct == construct);
    found.unwrap_or_else(|| panic!("{construct} is not among {:?}", blame.constructs))
}

fn names(blame: &Blame) -> Vec<&str> {
    blame.to_blame().map(|blamed| blamed.construct.as_str()).collect()
}

#[test]
fn the_one_construct_that_a_bug_needs_is_named_and_what_it_stands_in_is_not() {
    let text = "(declare-const x Int)\n(declare-const y Int)\n\
                (assert (or (< (+ (div x 4) y) (* 2 y)) (= x 0)))\n(assert (> (abs y) 3))\n(check-sat)\n";
    let model = "((define-fun x () Int 7) (define-fun y () Int 8))";
    let blame = refuted(text, model, |script| script.contains("(div "));
    assert_eq!(names(&blame), ["div"]);
    let div = of(&blame, "div");
    assert_eq!((div.occurrences, div.needed), (1, 1));
    for free in ["+ Int", "* Int linear", "abs Int", "< Int", "= Int", "> Int", "or"] {
        assert_eq!(of(&blame, free).needed, 0, "{free}");
    }
}

#[test]
fn an_operator_that_an_equivalent_form_replaces_is_linked_to_it() {
    let text = "(declare-const a (_ BitVec 8))\n(declare-const b (_ BitVec 8))\n\
                (assert (= (bvsub a b) (bvnot #x03)))\n(check-sat)\n";
    let model = "((define-fun a () (_ BitVec 8) #x00) (define-fun b () (_ BitVec 8) #x04))";
    let blame = refuted(text, model, |script| script.contains("(bvsub ") || script.contains("(bvadd "));
    let sub = of(&blame, "bvsub");
    assert_eq!((sub.needed, sub.stays_with.join(" ").as_str()), (0, "bvadd bvneg"));
    assert_eq!(blame.constructs[0].construct, "bvsub");
    assert_eq!(of(&blame, "bvnot").needed, 0);
}

#[test]
fn one_of_two_places_is_enough_for_blame() {
    let text = "(declare-const x Int)\n(assert (= (div x 4) 1))\n(assert (= (div x 3) 2))\n(check-sat)\n";
    let model = "((define-fun x () Int 7))";
    let either = refuted(text, model, |script| script.contains("(div "));
    assert_eq!((of(&either, "div").occurrences, of(&either, "div").needed), (2, 1));
    let both = refuted(text, model, |script| script.contains("(div x 4)") && script.contains("(div x 3)"));
    assert_eq!(of(&both, "div").needed, 2);
    let one = refuted(text, model, |script| script.contains("(div x 4)"));
    assert_eq!(of(&one, "div").needed, 1);
}

#[test]
fn what_computes_comes_before_what_tests_and_connects() {
    let text = "(declare-const x Int)\n(declare-const p Bool)\n\
                (assert (=> p (> (div x 4) 1)))\n(check-sat)\n";
    let model = "((define-fun x () Int 9) (define-fun p () Bool true))";
    let blame = refuted(text, model, |script| script.contains("(=> p (> (div "));
    let order: Vec<&str> = blame.constructs.iter().map(|blamed| blamed.construct.as_str()).collect();
    assert_eq!(order, ["div", "> Int", "=>"]);
    assert!(blame.constructs.iter().all(|blamed| blamed.needed == 1), "{blame:?}");
    assert_eq!(names(&blame), ["div"]);
}

#[test]
fn commands_and_options_are_blamed_for_a_crash_that_needs_them() {
    let text = "(set-logic QF_NIA)\n(set-option :produce-models true)\n(declare-const x Int)\n(push 1)\n\
                (assert (= (* x x) 4))\n(check-sat)\n(pop 1)\n(check-sat-using (then simplify smt))\n";
    let mut accused = Configuration::new(PartyId(0), made_up("z3@4.8.7"));
    accused.request.settings = vec![Setting::new("depth", "8"), Setting::new("idle", "true")];
    let solvers = Scripted::with_configurations(vec![Arc::new(accused)], |party, script| {
        let deep = party.request.settings.iter().any(|setting| setting.option == "depth");
        match deep && script.contains("(push 1)") && script.contains("(set-logic QF_NIA)") {
            true => ScriptedAnswer::dies_of(SIGSEGV),
            false => "sat".into(),
        }
    });
    let (blame, _) = blamed(text, Arc::new(solvers), Kind::Crash, &BlameBudget::default());
    assert_eq!(names(&blame), ["logic QF_NIA", "option depth=8", "push"]);
    for free in
        ["several checks", "tactic simplify", "option idle=true", "option produce-models=true", "* Int"]
    {
        assert_eq!(of(&blame, free).needed, 0, "{free}");
    }
}

/// Blame for a wrong `sat`, said where `wrong` holds for the text; small bit-vectors are decided by evaluation.
fn satisfied(text: &str, wrong: fn(&str) -> bool) -> Blame {
    let solvers = Scripted::new(&["z3@4.8.7", "cvc5@1.4.2"], move |party, script| {
        match party.id == PartyId(0) && wrong(script) {
            true => "sat".into(),
            false => "unsat".into(),
        }
    });
    blamed(text, Arc::new(solvers), Kind::SolutionSoundness, &BlameBudget::default()).0
}

#[test]
fn in_a_contradiction_what_only_has_a_value_is_acquitted() {
    // Wrong about `bvnot` of anything but a literal.
    let wrong = |script: &str| script.contains("(bvnot ") && !script.contains("(bvnot #");
    let indexed = "(declare-const a (_ BitVec 2))\n\
                   (assert (= (bvnot ((_ extract 1 0) (concat a #b00))) #b00))\n(check-sat)\n";
    let blame = satisfied(indexed, wrong);
    assert_eq!(names(&blame), ["bvnot"], "a constant with the value does as well");
    let shifted = "(declare-const a (_ BitVec 2))\n(assert (= (bvnot (bvlshr #b00 a)) #b00))\n(check-sat)\n";
    let blame = satisfied(shifted, wrong);
    assert_eq!((of(&blame, "bvnot").needed, of(&blame, "bvlshr").needed), (1, 0));
    assert!(!of(&blame, "bvlshr").stays_with.is_empty(), "an operator with the same value does as well");
}

#[test]
fn what_only_keeps_a_solver_from_its_strategy_is_acquitted() {
    let text = "(declare-const x Int)\n(declare-const s String)\n\
                (assert (= (div x 4) 1))\n(assert (str.in_re s (re.* (str.to_re \"a\"))))\n(check-sat)\n";
    let model = "((define-fun x () Int 7) (define-fun s () String \"a\"))";
    let wrong = |script: &str| {
        let reached = script.contains("(str.in") || script.contains("(check-sat-using smt)");
        script.contains("(div ") && reached
    };
    let blame = refuted(text, model, wrong);
    assert_eq!(of(&blame, "div").needed, 1);
    let company = of(&blame, "str.in_re");
    assert_eq!((company.needed, company.stays_with.join(" ").as_str()), (0, "tactic smt"));
    // Where the plain tactic is right, it is needed.
    let blame = refuted(text, model, |script| script.contains("(div ") && script.contains("(str.in"));
    assert_eq!(of(&blame, "str.in_re").needed, 1);
}

/// Blame for a wrong model of a script: one in which `x` is 6 where `wrong` holds for the text, else one that is right.
fn mismodelled(text: &str, wrong: fn(&str) -> bool) -> Blame {
    let solvers = Scripted::new(&["z3@4.8.7"], move |_, script| {
        let value = |name: &str| {
            let told = script.split(&format!("(= {name} ")).nth(1).and_then(|rest| rest.split(')').next());
            if let Some(told) = told.and_then(|told| told.parse().ok()) {
                return told;
            }
            let (first, second) = match name {
                "x" if wrong(script) => return 6,
                "x" => (10, 13),
                "y" => (0, 1),
                _ => (11, 14),
            };
            if script.contains(&format!("(distinct {name} {first})")) { second } else { first }
        };
        let model: String = script
            .lines()
            .filter_map(|line| line.strip_prefix("(declare-const ")?.strip_suffix(" Int)"))
            .map(|name| format!("(define-fun {name} () Int {})", value(name)))
            .collect();
        ScriptedAnswer::says(format!("sat\n({model})"))
    });
    blamed(text, Arc::new(solvers), Kind::InvalidModel, &BlameBudget::default()).0
}

#[test]
fn what_only_leads_to_a_wrong_model_is_acquitted_or_told_to_be_company() {
    let text = "(declare-const x Int)\n(declare-const y Int)\n(assert (distinct (div x 3) 2))\n\
                (assert (distinct (* y y) 5))\n(check-sat)\n(get-model)\n";
    // Right about quotients by luck: another model than the first is wrong.
    let lucky = mismodelled(text, |script| {
        script.contains("(div ") && (script.contains("(* y") || script.contains("(distinct x 10)"))
    });
    assert_eq!((of(&lucky, "div").needed, of(&lucky, "* Int").needed), (1, 0), "{lucky:?}");
    // Wrong about quotients only beside products: the assertion with the product is true all the same.
    let beside = mismodelled(text, |script| script.contains("(div ") && script.contains("(* y"));
    assert!(of(&beside, "* Int").bystander && !of(&beside, "div").bystander, "{beside:?}");
    assert_eq!((of(&beside, "div").needed, of(&beside, "* Int").needed), (1, 1), "{beside:?}");
}

#[test]
fn what_has_the_same_value_under_every_model_is_acquitted_if_its_value_does_as_well() {
    let text = "(declare-const x Int)\n(assert (distinct (div x 3) (mod 17 5)))\n(check-sat)\n(get-model)\n";
    let wrong = |script: &str| script.contains("(div x 3) (mod 17 5)") || script.contains("(div x 3) 2");
    let blame = mismodelled(text, wrong);
    assert_eq!((of(&blame, "div").needed, of(&blame, "mod").needed), (1, 0), "{blame:?}");
}

#[test]
fn the_budget_is_kept_and_every_run_is_accounted_for() {
    let text = "(declare-const x Int)\n(declare-const y Int)\n\
                (assert (= (+ (* x x y) (div x 7) (mod y 3)) (abs (- x y))))\n(check-sat)\n";
    let solvers = Scripted::new(&["z3@4.8.7"], |_, script| match script.contains("(div x 7)") {
        true => ScriptedAnswer::dies_of(SIGSEGV),
        false => "sat".into(),
    });
    let budget = BlameBudget { runs: 4, ..BlameBudget::default() };
    let before =
        |solvers: &Scripted| solvers.asked().iter().filter(|run| run.purpose == Purpose::Reduction).count();
    let (blame, accounts) = blamed(text, Arc::new(solvers.clone()), Kind::Crash, &budget);
    assert_eq!(accounts.total().runs, 4);
    assert_eq!(accounts.reduction.runs, 4);
    assert!(before(&solvers) >= 4);
    assert_eq!(blame.constructs.len(), 7, "all constructs are listed: {blame:?}");
    let idle = BlameBudget { cpu: Duration::from_millis(1), ..BlameBudget::default() };
    let (_, accounts) = blamed(text, Arc::new(solvers), Kind::Crash, &idle);
    assert_eq!(accounts.total().runs, 1, "each run takes a millisecond");
}

/// z3 4.8.7 refutes this satisfiable script: `bvxnor` of three arguments.
const REFUTED: &str = "(declare-const u Bool)\n(declare-const v (_ BitVec 4))\n(declare-const w (_ BitVec 4))\n\
    (assert (and (bvult (bvadd v w) #x7) (= (bvxnor v v v) v)))\n(assert (= v #x3))\n(check-sat)\n";

#[test]
fn z3s_wrong_rewriting_is_blamed_on_its_operator() {
    testkit::launcher();
    let (Some(old), Some(new)) = (get("z3@4.8.7"), get("z3@5.4.0")) else { return };
    let everybody = Configuration::numbered([old, new]).into_iter().map(Arc::new).collect();
    let rules = RunRules::for_reduction(Duration::from_secs(20), 4 << 30);
    let runners = Arc::new(SolverRunners::new(everybody, rules));
    let (blame, accounts) = blamed(REFUTED, runners, Kind::RefutationSoundness, &BlameBudget::default());
    assert_eq!(names(&blame).first(), Some(&"bvxnor"), "{blame:?}");
    for free in ["bvadd", "bvult", "and"] {
        assert_eq!(of(&blame, free).needed, 0, "{free}");
    }
    assert!(accounts.total().runs <= BlameBudget::default().runs + 2);
}

/// z3 4.8.7 gives a wrong model: it takes `bit2bool` for something else wherever `pbeq` keeps it from blasting bits at once.
const MISMODELLED: &str = "(declare-const a (_ BitVec 4))\n\
    (assert (or ((_ bit2bool 0) ((_ rotate_left 3) a)) ((_ pbeq 7 4 2 4 3) true true false (bvsle #x0 a))))\n\
    (check-sat)\n(get-model)\n";

#[test]
fn what_only_keeps_z3_from_a_strategy_is_acquitted_though_the_first_model_without_it_is_right() {
    testkit::launcher();
    let (Some(old), Some(new)) = (get("z3@4.8.7"), get("z3@5.4.0")) else { return };
    let everybody = Configuration::numbered([old, new]).into_iter().map(Arc::new).collect();
    let rules = RunRules::for_reduction(Duration::from_secs(20), 4 << 30);
    let runners = Arc::new(SolverRunners::new(everybody, rules));
    let (blame, _) = blamed(MISMODELLED, runners, Kind::InvalidModel, &BlameBudget::default());
    assert_eq!((of(&blame, "bit2bool").needed, of(&blame, "pbeq").needed), (1, 0), "{blame:?}");
    assert!(of(&blame, "pbeq").stays_with.contains(&"tactic smt".to_owned()), "{blame:?}");
}
