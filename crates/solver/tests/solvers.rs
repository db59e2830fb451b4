//! Real releases: installed with one word into the user's data directory, run through the launcher, read and asked for
//! their options. Without network and with an empty cache these tests are skipped, or fail: see
//! `testkit::skip`.

use std::collections::BTreeSet;
use std::sync::Mutex;

use rand_chacha::ChaCha8Rng;
use rand_core::SeedableRng;
use solver::install::{Available, Source};
use solver::launch::{Launcher, LauncherConfig};
use solver::{Adapters, Answers, Home, InstallError, Outline, RunClass, RunRequest, Solver, Solvers};
use testkit::{SOLVERS, get};

fn run(solver: &Solver, script: &str, request: &RunRequest) -> (Answers, String) {
    let mut runner = Launcher::new(LauncherConfig::default()).expect("a launcher");
    let invocation = solver.invocation(script.as_bytes(), request).expect("an invocation");
    let outcome = runner.run(&invocation).expect("an outcome");
    let answers = solver.read(&Outline::of(script.as_bytes()), &outcome);
    (answers, String::from_utf8_lossy(&outcome.stdout).into_owned())
}

const INTEGERS: &str =
    "(set-logic QF_LIA)\n(declare-const x Int)\n(assert (> x 3))\n(check-sat)\n(get-model)\n";
const BITS: &str =
    "(set-logic QF_BV)\n(declare-const x (_ BitVec 8))\n(assert (bvugt x #x03))\n(check-sat)\n(get-model)\n";

#[test]
fn releases_named_with_one_word_answer_and_give_a_model() {
    let releases = [
        ("z3@5.4.0", INTEGERS),
        ("z3@4.8.7", INTEGERS),
        ("cvc5@1.4.2", INTEGERS),
        ("cvc5@1.0.9", INTEGERS),
        ("yices@2.6.5", INTEGERS),
        ("bitwuzla@0.9.1", BITS),
    ];
    for (spec, script) in releases {
        let Some(solver) = get(spec) else { continue };
        assert_eq!(solver.name(), spec);
        let (answers, stdout) = run(&solver, script, &RunRequest { models: true, ..RunRequest::default() });
        assert_eq!(answers.class, RunClass::Answered, "{spec}: {stdout}");
        assert_eq!(
            answers.checks.iter().map(|check| check.answer.word()).collect::<Vec<_>>(),
            ["sat"],
            "{spec}"
        );
        let model =
            &stdout[answers.models.first().unwrap_or_else(|| panic!("{spec}: {stdout}")).range.clone()];
        assert!(model.contains("define-fun x"), "{spec}: {model}");
    }
}

#[test]
fn a_build_is_not_claimed_to_have_what_it_was_made_without() {
    let script =
        "(set-logic QF_FF)\n(declare-const x (_ FiniteField 3))\n(assert (= (ff.mul x x) x))\n(check-sat)\n";
    let mut store = smtlib::Store::new();
    let parsed = smtlib::parse(&mut store, script.as_bytes(), smtlib::Mode::Tolerant).expect("well-sorted");
    let usage = smtlib::logic::usage(&store, &parsed.script);
    for spec in ["cvc5@1.4.2", "cvc5@1.0.9"] {
        let Some(solver) = get(spec) else { continue };
        let (answers, stdout) = run(&solver, script, &RunRequest::default());
        assert_eq!(solver.accepts(&usage), answers.class != RunClass::NotBuilt, "{spec}: {stdout}");
        assert!(solver.adapter.theories_of(solver.version()).contains(&"finite_fields"), "{spec}");
    }
}

#[test]
fn a_refused_script_is_not_an_answer_for_any_solver() {
    let script = "(set-logic QF_BV)\n(declare-const x (_ BitVec 8))\n(assert (bvult x y))\n(check-sat)\n";
    for spec in ["z3@5.4.0", "cvc5@1.4.2", "yices@2.6.5", "bitwuzla@0.9.1"] {
        let Some(solver) = get(spec) else { continue };
        let (answers, stdout) = run(&solver, script, &RunRequest::default());
        assert_eq!(answers.trusted().count(), 0, "{spec}: {stdout}");
        assert!(
            matches!(answers.class, RunClass::Rejected | RunClass::Unsupported),
            "{spec}: {:?} {stdout}",
            answers.class
        );
    }
}

#[test]
fn an_option_nobody_has_is_a_bad_option_and_no_crash() {
    for (spec, option) in
        [("z3@5.4.0", "smt.nonsense=1"), ("cvc5@1.4.2", "--nonsense"), ("yices@2.6.5", "--nonsense")]
    {
        let Some(solver) = get(&format!("{spec} {option}")) else { continue };
        let (answers, stdout) = run(&solver, INTEGERS, &RunRequest::default());
        assert_eq!(answers.class, RunClass::BadOption, "{spec}: {stdout}");
    }
}

#[test]
fn two_installations_at_once_end_with_one_release_and_nothing_beside_it() {
    if get("bitwuzla@0.9.1").is_none() {
        return;
    }
    let directory = tempfile::tempdir().expect("a directory");
    let install = || {
        let solvers = Solvers::new(Adapters::built_in(), Home::at(directory.path()));
        solvers.install("bitwuzla@0.9.1", &|_, _| ()).expect("installed")
    };
    let (first, second) = std::thread::scope(|scope| {
        let other = scope.spawn(install);
        (install(), other.join().expect("no panic"))
    });
    assert_eq!(first, second);
    let left: Vec<String> = std::fs::read_dir(directory.path().join("solvers"))
        .expect("there")
        .map(|entry| entry.expect("an entry").file_name().to_string_lossy().into_owned())
        .collect();
    assert_eq!(left, ["bitwuzla-0.9.1"]);
}

#[test]
fn what_is_installed_is_found_without_asking_anybody() {
    let Some(first) = get("yices@2.6.5") else { return };
    let steps = Mutex::new(Vec::new());
    let again = SOLVERS
        .resolve("yices@2.6.5", &|_, step| steps.lock().expect("not poisoned").push(step))
        .expect("there");
    assert_eq!(again[0].installed, first.installed);
    assert!(steps.into_inner().expect("not poisoned").is_empty());
    let listed = SOLVERS.list(false);
    let yices = listed.iter().find(|listed| listed.name == "yices").expect("listed");
    assert!(yices.installed.iter().any(|release| release.origin == Source::Installed));
    assert!(matches!(&yices.available, Available::Releases(releases) if !releases.is_empty()));
    serde_json::to_string(&listed).expect("written as JSON");
}

#[test]
fn releases_that_do_not_exist_are_refused_with_their_neighbours() {
    if get("z3@5.4.0").is_none() {
        return;
    }
    let error = SOLVERS.resolve("z3@4.8.99", &|_, _| ()).expect_err("no such release");
    assert!(matches!(&error, InstallError::UnknownVersion { nearest, .. } if !nearest.is_empty()), "{error}");
    let error = SOLVERS.resolve("cvc6@1.0.0", &|_, _| ()).expect_err("no such solver");
    assert!(error.to_string().contains("cvc5"), "{error}");
}

#[test]
fn options_come_from_the_solver_and_fair_ones_are_accepted() {
    let releases = [
        ("z3@5.4.0", INTEGERS, 700),
        ("z3@4.8.7", INTEGERS, 500),
        ("cvc5@1.4.2", INTEGERS, 500),
        ("yices@2.6.5", INTEGERS, 35),
        ("bitwuzla@0.9.1", BITS, 50),
        ("cvc4@1.8", INTEGERS, 400),
    ];
    for (spec, script, at_least) in releases {
        let Some(solver) = get(spec) else { continue };
        let table = solver.option_table(SOLVERS.home()).expect("options");
        assert!(table.options.len() >= at_least, "{spec}: {}", table.options.len());
        assert_eq!(table, solver.option_table(SOLVERS.home()).expect("remembered"));
        let mut rng = ChaCha8Rng::seed_from_u64(11);
        let mut seen = BTreeSet::new();
        for _ in 0..15 {
            let options = solver.fair_options(&table, &mut rng);
            assert!(!options.is_empty(), "{spec}");
            let (answers, stdout) =
                run(&solver, script, &RunRequest { settings: options.clone(), ..RunRequest::default() });
            assert_ne!(answers.class, RunClass::BadOption, "{spec} {options:?}: {stdout}");
            assert!(!answers.checks.iter().any(|check| check.answer.word() == "unsat"), "{spec} {options:?}");
            seen.insert(options);
        }
        assert!(seen.len() > 1, "{spec}");
    }
}

#[test]
fn excluded_options_say_why() {
    let Some(solver) = get("z3@5.4.0") else { return };
    let table = solver.option_table(SOLVERS.home()).expect("options");
    let why = |name: &str| {
        let option = table.options.iter().find(|option| option.name == name);
        option.unwrap_or_else(|| panic!("{name} is not listed")).excluded.clone()
    };
    for name in ["parallel.enable", "trace", "timeout", "rewriter.hi_div0", "fp.engine"] {
        assert!(why(name).is_some(), "{name}");
    }
    assert_eq!(why("smt.arith.solver"), None);
    assert_eq!(why("rewriter.flat"), None);
    assert_eq!(why("smt.core.minimize"), None, "a core may be made small");
}

#[test]
fn what_changes_a_script_is_kept_apart_from_what_is_only_for_experts() {
    let Some(solver) = get("cvc5@1.4.2") else { return };
    let table = solver.option_table(SOLVERS.home()).expect("options");
    let option = |name: &str| table.options.iter().find(|option| option.name == name).expect(name);
    for name in
        ["global-negate", "strings-alpha-card", "compute-partitions", "tlimit", "sygus-inference", "fp-exp"]
    {
        assert!(option(name).excluded.is_some(), "{name}");
    }
    for name in ["arith-prop", "bv-gauss-elim", "finite-model-find", "solve-bv-as-int", "sort-inference"] {
        assert!(option(name).excluded.is_none() && option(name).unfair.is_some(), "{name}");
    }
    assert!(option("cegqi").is_fair() && option("sygus-inst").is_fair());
}

#[test]
fn options_that_bound_the_search_are_not_set() {
    for (spec, names) in [
        ("yices@2.6.5", &["mcsat-nra-bound", "mcsat-nra-bound-min", "mcsat-nra-bound-max"][..]),
        ("z3@5.4.0", &["smt.seq.max_unfolding", "smt.ff.f4_budget", "smt.ff.bv_fallback_limit"]),
        ("cvc5@1.4.2", &["inst-max-level", "inst-max-rounds"]),
        ("cvc4@1.8", &["inst-max-level", "global-negate"]),
    ] {
        let Some(solver) = get(spec) else { continue };
        let table = solver.option_table(SOLVERS.home()).expect("options");
        for name in names {
            let option = table.options.iter().find(|option| option.name == *name).expect(name);
            assert!(option.excluded.is_some(), "{spec}: {name}");
        }
    }
}

#[test]
fn the_other_string_solver_is_fair_while_it_was_maintained() {
    let option = |spec: &str| {
        let solver = get(spec)?;
        let table = solver.option_table(SOLVERS.home()).expect("options");
        table.options.into_iter().find(|option| option.name == "smt.string_solver")
    };
    let others = |spec: &str| option(spec).map(|option| (option.alternatives(), option.is_fair()));
    for (spec, wanted) in [
        ("z3@4.8.7", (vec!["z3str3".to_owned()], true)),
        ("z3@4.12.2", (vec!["z3str3".to_owned()], false)),
        ("z3@5.4.0", (Vec::new(), false)),
    ] {
        if let Some(found) = others(spec) {
            assert_eq!(found, wanted, "{spec}");
        }
    }
}
