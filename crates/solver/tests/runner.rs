//! The runner of real processes, with stand-in programs in the place of solvers.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use solver::RunClass;
use solver::install::How;
use solver::limits::Limits;
use solver::run::{
    Configuration, PartyId, Purpose, RunRules, Runner, Runners, SolverRunner, SolverRunners, Start,
};

const SCRIPT: &[u8] = b"(set-logic QF_LIA)\n(declare-fun x () Int)\n(assert (> x 1))\n(check-sat)\n";

/// A program that passes for Z3, of which fast starts are known.
fn stand_in(folder: &Path, name: &str, body: &str) -> Configuration {
    let mut solver = testkit::made_up("z3");
    solver.installed.how = How::Executable { path: testkit::program(folder, name, body) };
    Configuration::new(PartyId(0), solver)
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
        let mut runner = SolverRunner::new(vec![party.clone()], rules()).expect("a launcher");
        let run = runner.run_all(SCRIPT, purpose).expect("runs").remove(0);
        assert_eq!(run.answers.class, RunClass::Answered, "{purpose}");
        assert_eq!(runner.take_accounts().of(purpose).runs, 1, "{purpose}");
    }
    let once = rules().change(Purpose::Test, |rule| rule.attempts = 1);
    let mut runner = SolverRunner::new(vec![party], once).expect("a launcher");
    assert!(runner.run_all(SCRIPT, Purpose::Test).is_err_and(|error| !error.concerns_solver()));
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
