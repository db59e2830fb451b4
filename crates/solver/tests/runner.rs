//! The runner of real processes, with stand-in programs in the place of solvers.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use solver::RunClass;
use solver::install::How;
use solver::launch::WallChoice;
use solver::limits::Limits;
use solver::run::{
    Configuration, PartyId, Purpose, RunError, RunRules, Runner, Runners, SolverRunner, SolverRunners, Start,
};

const SCRIPT: &[u8] = b"(set-logic QF_LIA)\n(declare-fun x () Int)\n(assert (> x 1))\n(check-sat)\n";

/// A program that passes for Z3, of which fast starts are known.
fn stand_in(folder: &Path, name: &str, body: &str) -> Configuration {
    let mut solver = testkit::made_up("z3");
    solver.installed.how = How::Executable { path: testkit::program(folder, name, body) };
    Configuration::new(PartyId(0), solver)
}

/// Behind a wall a solver can neither kill its launcher nor remember anything.
fn unwalled(party: &Configuration, rules: RunRules) -> SolverRunner {
    let runners = SolverRunners::new(vec![Arc::new(party.clone())], rules);
    runners.behind(WallChoice::Off).start().expect("a launcher")
}

fn rules() -> RunRules {
    RunRules::with_limits(Limits::wall(Duration::from_secs(20)))
}

#[test]
fn a_run_whose_launcher_dies_is_made_again_whatever_its_purpose() {
    testkit::launcher();
    let folder = tempfile::tempdir().expect("a folder");
    let seen = folder.path().join("seen");
    let body = format!(
        "if [ -e {0} ]; then rm {0}; echo sat; else touch {0}; kill -9 $PPID; sleep 20; fi",
        seen.display()
    );
    let party = stand_in(folder.path(), "killer", &body);
    for purpose in Purpose::ALL {
        let mut runner = unwalled(&party, rules());
        let run = runner.run_all(SCRIPT, purpose).expect("runs").remove(0);
        assert_eq!(run.answers.class, RunClass::Answered, "{purpose}");
        assert_eq!(runner.take_accounts().of(purpose).runs, 1, "{purpose}");
    }
    let once = rules().change(Purpose::Test, |rule| rule.attempts = 1);
    let mut runner = unwalled(&party, once);
    assert!(runner.run_all(SCRIPT, Purpose::Test).is_err_and(|error| !error.concerns_solver()));
}

#[test]
fn a_solver_that_ends_or_stops_every_launcher_cannot_be_run_and_is_named() {
    testkit::launcher();
    let folder = tempfile::tempdir().expect("a folder");
    for signal in ["KILL", "STOP"] {
        let body = format!("echo sat; kill -{signal} $PPID; sleep 600");
        let party = stand_in(folder.path(), signal, &body);
        let error = unwalled(&party, rules()).run_all(SCRIPT, Purpose::Test).expect_err(signal);
        let RunError::KillsLauncher { solver, attempts: 3 } = &error else { panic!("{signal}: {error}") };
        assert_eq!(*solver, party.solver.name());
        assert!(error.concerns_solver(), "{error}");
    }
}

#[test]
fn fallbacks_are_counted_and_told_once_by_all_runners_together() {
    testkit::launcher();
    let folder = tempfile::tempdir().expect("a folder");
    let party = Arc::new(stand_in(folder.path(), "slow", "echo sat"));
    let rules = rules().change(Purpose::Test, |rule| rule.start = Start::Fast);
    let runners = SolverRunners::new(vec![Arc::clone(&party)], rules);
    let mut notes = Vec::new();
    for _ in 0..2 {
        let mut runner = runners.runner().expect("a launcher");
        for _ in 0..4 {
            runner.run(&party, SCRIPT, Purpose::Test).expect("a run");
            runner.run(&party, SCRIPT, Purpose::Confirmation).expect("a run");
        }
        let accounts = runner.take_accounts();
        assert!(accounts.test.fallbacks > 0, "{accounts:?}");
        assert_eq!((accounts.test.runs, accounts.confirmation.runs), (4, 4));
        assert_eq!(accounts.confirmation.fallbacks, 0, "a plain start is what was asked for");
        notes.extend(runner.take_notes());
    }
    let [note] = notes.as_slice() else { panic!("{notes:?}") };
    assert!(note.contains("started plainly") && note.contains("no prefix snapshot"), "{note}");
}

#[test]
fn a_run_may_have_less_time_than_its_purpose_but_not_more() {
    testkit::launcher();
    let folder = tempfile::tempdir().expect("a folder");
    let party = Arc::new(stand_in(folder.path(), "sleeper", "sleep 600"));
    let rules = rules().change(Purpose::Question, |rule| rule.limits.wall = Duration::from_millis(200));
    let mut runner = SolverRunners::new(vec![], rules).runner().expect("a launcher");
    let short = Some(Duration::from_millis(200));
    let run = runner.run_within(&party, SCRIPT, Purpose::Test, short).expect("a run");
    assert!(run.outcome.timed_out);
    let long = Some(Duration::from_secs(600));
    let run = runner.run_within(&party, SCRIPT, Purpose::Question, long).expect("a run");
    assert!(run.outcome.timed_out);
    let accounts = runner.take_accounts();
    assert_eq!((accounts.test.cut, accounts.question.cut), (1, 1));
    assert_eq!(runner.take_accounts().total().runs, 0, "what was taken is not counted again");
}

fn runs(configuration: Configuration) -> Result<RunClass, RunError> {
    let mut runner = SolverRunner::new(vec![configuration], rules()).expect("a launcher");
    Ok(runner.run_all(SCRIPT, Purpose::Test)?.remove(0).answers.class)
}

#[test]
fn a_solver_that_fails_on_everything_is_broken_and_not_the_script() {
    testkit::launcher();
    let folder = tempfile::tempdir().expect("a folder");
    for (name, body) in [
        (
            "no-library",
            "echo 'z3: error while loading shared libraries: libgmp.so.10: not found' >&2; exit 127",
        ),
        ("cut-short", "kill -SEGV $$"),
        ("bus-error", "kill -BUS $$"),
        ("no-module", "echo \"ModuleNotFoundError: No module named 'cvc5'\" >&2; exit 1"),
        ("old-name", "exec /no/such/program"),
    ] {
        let error = runs(stand_in(folder.path(), name, body)).expect_err(name);
        assert!(matches!(error, RunError::Broken { .. }) && error.concerns_solver(), "{name}: {error}");
    }
    let crash = "if grep -q assert \"$2\"; then kill -SEGV $$; fi; echo sat";
    let class = runs(stand_in(folder.path(), "buggy", crash)).expect("a run");
    assert!(matches!(class, RunClass::Crash(_)), "a crash on the script at hand stays one: {class:?}");
}

#[test]
fn a_refused_option_of_the_user_is_an_error_and_not_nothing_wrong() {
    for (spec, option) in [("z3@5.4.0", "no_such_parameter=1"), ("cvc5@1.4.2", "--no-such-option")] {
        let Some(mut solver) = testkit::get(spec) else { continue };
        solver.options = vec![option.into()];
        let error = runs(Configuration::new(PartyId(0), solver)).expect_err(spec);
        assert!(matches!(error, RunError::Broken { .. }), "{spec}: {error}");
        assert!(error.to_string().contains("no"), "{error}");
    }
}

#[test]
fn a_truncated_solver_is_broken() {
    let Some(solver) = testkit::get("z3@5.4.0") else { return };
    let How::Executable { path } = &solver.installed.how else { panic!("Z3 is a program") };
    let folder = tempfile::tempdir().expect("a folder");
    let whole = std::fs::read(path).expect("readable");
    let short = testkit::program(folder.path(), "z3", "");
    for share in [2, 10, 1000] {
        std::fs::write(&short, &whole[..whole.len() / share]).expect("written");
        let mut cut = solver.clone();
        cut.installed.how = How::Executable { path: short.clone() };
        let error = runs(Configuration::new(PartyId(0), cut)).expect_err("cannot work");
        assert!(error.concerns_solver(), "a {share}th of it: {error}");
    }
}

#[test]
fn a_solver_that_is_replaced_while_it_is_used_is_noticed_at_once() {
    testkit::launcher();
    let folder = tempfile::tempdir().expect("a folder");
    let path = testkit::program(folder.path(), "solver", "echo sat");
    let solver = testkit::get(path.to_str().expect("UTF-8")).expect("a program at a path");
    let rules = rules().change(Purpose::Test, |rule| rule.start = Start::Fast);
    let mut runner =
        SolverRunner::new(vec![Configuration::new(PartyId(0), solver)], rules).expect("a launcher");
    for purpose in [Purpose::Test, Purpose::Confirmation] {
        runner.run_all(SCRIPT, purpose).expect("a run");
    }
    testkit::program(folder.path(), "solver", "echo unsat");
    for purpose in [Purpose::Test, Purpose::Confirmation] {
        let error = runner.run_all(SCRIPT, purpose).expect_err("another program");
        assert!(matches!(error, RunError::Changed { .. }), "{error}");
    }
}

#[test]
fn what_is_taken_out_of_a_script_is_told_once() {
    testkit::launcher();
    let folder = tempfile::tempdir().expect("a folder");
    let party = stand_in(folder.path(), "cat", "cat \"$2\"");
    let mut runner = SolverRunner::new(vec![party], rules()).expect("a launcher");
    let writing = b"(set-option :out \"x\")\n(check-sat)\n";
    for _ in 0..2 {
        let run = runner.run_all(writing, Purpose::Test).expect("a run").remove(0);
        assert_eq!(String::from_utf8_lossy(&run.outcome.stdout).trim(), "(check-sat)");
        assert!(
            !String::from_utf8_lossy(&run.script).contains(":out"),
            "the run has the text that was given"
        );
    }
    let notes = runner.take_notes();
    assert_eq!(notes.len(), 1, "{notes:?}");
    assert!(notes[0].contains("line 1: the option ':out'"), "{notes:?}");
}
