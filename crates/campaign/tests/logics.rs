//! What the theory table says about operators in named logics, put to real solvers: who is said to take an operator outside
//! of the standard there must take it. Without network and with an empty cache the test says so and checks nothing.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

use campaign::driver::runnable;
use campaign::{Identity, Target};
use generate::{Config, Grammar, rng};
use smtlib::logic::is_hidden;
use smtlib::theory::{Row, table};
use smtlib::{Mode, Op, Release, Store, print};
use solver::RunRequest;
use solver::answer::RunClass;
use solver::run::{Configuration, Purpose};

/// One name for each theory that has such operators, with its neighbours in arithmetic.
const LOGICS: &[&str] = &[
    "QF_LIA", "QF_NIA", "QF_LRA", "QF_NRA", "QF_UFLIA", "QF_BV", "QF_ABV", "QF_ALIA", "QF_BVFP", "QF_SLIA",
    "QF_S", "NRA",
];

/// Scripts for each logic and solver.
const SCRIPTS: usize = 12;

fn is_shown(row: &Row, target: &Target) -> bool {
    !row.is_standard() && row.accepted_by(target.release) && !is_hidden(row.op, &[target.release])
}

#[test]
fn solvers_take_what_is_said_to_be_in_named_logics_there() {
    testkit::launcher();
    let specs = ["z3@4.8.7", "z3@5.4.0", "cvc5@1.4.2"];
    let Some(solvers) = specs.iter().map(|spec| testkit::get(spec)).collect::<Option<Vec<_>>>() else {
        return;
    };
    let targets = Target::numbered(solvers);
    let identity = Identity::of_runs(Duration::from_secs(2), 2048, 3);
    let mut runner = campaign::runners(&identity, &targets, Vec::new(), false).runner().expect("a launcher");
    let mut class_of = |target: &Target, text: &str| {
        let request = RunRequest { broad: true, ..RunRequest::default() };
        let configuration = Arc::new(Configuration { request, ..target.configuration() });
        runner.run(&configuration, text.as_bytes(), Purpose::FollowUp).expect("a run").answers.class
    };
    for target in &targets {
        let mut used: BTreeSet<Op> = BTreeSet::new();
        for (number, logic) in LOGICS.iter().enumerate() {
            // Old releases do not know the name.
            if class_of(target, &format!("(set-logic {logic})(assert true)(check-sat)")) != RunClass::Answered
            {
                continue;
            }
            let mut config = Config { quantifiers: 0.0, ..Config::default() };
            let shown = table().rows().iter().filter(|row| is_shown(row, target));
            config.operators.extend(shown.map(|row| (row.variant.to_owned(), 30.0)));
            let hidden = table().rows().iter().filter(|row| is_hidden(row.op, &[target.release]));
            config.operators.extend(hidden.map(|row| (row.variant.to_owned(), 0.0)));
            let grammar = Grammar::new(logic, &[target.release], config).expect("a logic");
            let mut rng = rng::stream(17, number as u64);
            for _ in 0..SCRIPTS {
                let mut store = Store::new();
                let script = grammar.sized(3, 3, 3).script(&mut store, &mut rng);
                let (script, usage) = runnable(&mut store, &script, &[target.release]);
                assert!(!usage.logic.as_deref().is_some_and(|name| name.ends_with("ALL")), "{usage:?}");
                let text = print::print(&store, &script, target.release);
                let refuses = |class: RunClass| matches!(class, RunClass::Rejected | RunClass::Unsupported);
                // What is refused in the logic ALL as well is refused for another reason, such as the size of a number.
                let everywhere = text.replacen(&format!("(set-logic {logic})"), "(set-logic ALL)", 1);
                let refused = refuses(class_of(target, &text)) && !refuses(class_of(target, &everywhere));
                assert!(!refused, "{} refuses\n{text}", target.name);
                used.extend(usage.operators.iter().filter(|op| is_shown(op.row(), target)));
            }
        }
        assert!(used.len() >= 5, "{} has used only {used:?}", target.name);
    }
}

#[test]
fn the_logic_of_a_script_stays_unless_a_solver_hides_an_operator_there() {
    let release = |text: &str| -> Release {
        let (family, version) = text.split_once('@').expect("a release");
        Release::new(family.parse().expect("a family"), version.parse().expect("a version"))
    };
    let declared = |logic: &str| match logic {
        "QF_BV" => "(declare-const b (_ BitVec 8))",
        _ => "(declare-const x Int)(declare-const r Real)",
    };
    for (logic, formula, releases, expected) in [
        ("QF_LIA", "(= (rem x 3) 1)", &["z3@4.8.7", "cvc5@1.4.2"][..], "QF_LIA"),
        ("QF_LIA", "(= (rem 3 x) 1)", &["z3@4.8.7"], "QF_NIA"),
        ("QF_LIA", "(= (rem x 3) 1)", &[], "ALL"),
        ("QF_LIA", "(= (rem x 3) 1)", &["cvc5@1.4.2"], "ALL"),
        ("QF_NRA", "(= (abs r) r)", &["z3@4.8.7", "cvc5@1.4.2"], "QF_NRA"),
        ("QF_NRA", "(= (abs r) r)", &["z3@4.8.7", "yices@2.6.5"], "ALL"),
        ("QF_RDL", "(= (abs r) r)", &["z3@4.8.7"], "QF_LRA"),
        ("QF_BV", "(= (ext_rotate_left b b) b)", &["z3@5.4.0"], "ALL"),
        ("QF_BV", "(= (bvredor b) #b1)", &["z3@5.4.0", "bitwuzla@0.9.1"], "QF_BV"),
        ("QF_LIA", "(= (int.pow2 x) 1)", &["cvc5@1.4.2"], "QF_NIA"),
    ] {
        let mut store = Store::new();
        let text = format!("(set-logic {logic}){}(assert {formula})(check-sat)", declared(logic));
        let script = smtlib::parse(&mut store, text.as_bytes(), Mode::Tolerant).expect("well-formed").script;
        let releases: Vec<Release> = releases.iter().map(|text| release(text)).collect();
        let (script, _) = runnable(&mut store, &script, &releases);
        assert_eq!(script.logic(&store), Some(expected), "{formula} for {releases:?}");
    }
}
