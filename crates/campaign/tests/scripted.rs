//! Whole campaigns with solvers that answer as a test tells them: scheduling, triage, queue and store without a process.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use campaign::findings::{Fairness, Finding, Stage};
use campaign::replay::regenerate;
use campaign::store::{self, ENGINE};
use campaign::{
    Campaign, CampaignError, Identity, Observer, PolicyName, SeedFiles, SeedText, Settings, Silent, Summary,
    Target,
};
use engines::Engine;
use solver::options::{OptionKind, OptionTable, SolverOption};
use solver::run::{Configuration, PartyId, Purpose};
use testkit::{Scripted, ScriptedAnswer, made_up};

/// Two releases with the same theories.
const PAIR: [&str; 2] = ["z3@4.8.7", "z3@5.4.0"];

/// A campaign's parts for scripted solvers.
struct Setup {
    identity: Identity,
    targets: Vec<Target>,
    engines: Vec<Box<dyn Engine>>,
    scripted: Scripted,
    seeds: SeedFiles,
}

impl Setup {
    fn new(
        engines: &str,
        seeds: &[&str],
        answering: impl Fn(&Configuration, &str) -> ScriptedAnswer + Send + Sync + 'static,
    ) -> Setup {
        let engines = engines::parse_list(engines, &engines::Tuning::default()).expect("engines");
        let seeds: Vec<SeedText> = seeds.iter().map(|text| SeedText::new("seed.smt2", *text)).collect();
        let identity = Identity {
            solvers: PAIR.iter().map(ToString::to_string).collect(),
            engines: engines.iter().map(|engine| engine.name().to_owned()).collect(),
            options: PolicyName::Default,
            seeds: seeds.iter().map(|seed| seed.name.clone().into()).collect(),
            ..Identity::of_runs(Duration::from_secs(1), 1024, 7)
        };
        Setup {
            identity,
            targets: Target::numbered(PAIR.iter().map(|spec| made_up(spec))),
            engines,
            scripted: Scripted::new(&PAIR, answering),
            seeds: SeedFiles { seeds, ..SeedFiles::default() },
        }
    }

    fn campaign(&self) -> Campaign<'_> {
        Campaign {
            identity: &self.identity,
            targets: &self.targets,
            engines: &self.engines,
            runners: Arc::new(self.scripted.clone()),
        }
    }

    fn run(&self, settings: &Settings) -> Result<Summary, CampaignError> {
        campaign::run(&self.campaign(), settings, &self.seeds, &Silent, &|| false)
    }

    /// How many runs there were for a purpose.
    fn asked(&self, purpose: Purpose) -> usize {
        self.scripted.asked().iter().filter(|asked| asked.purpose == purpose).count()
    }
}

fn settings(out: &Path, iterations: u64) -> Settings {
    Settings {
        out: out.to_owned(),
        resume: false,
        jobs: 1,
        time: None,
        iterations: Some(iterations),
        stop_after: None,
        unused_coverage: false,
        reduce_all: true,
        known: None,
        log: None,
        command: "osprey fuzz".to_owned(),
    }
}

/// Says `sat` with a model of `x`, wherever that is asked for.
fn sat(script: &str) -> String {
    let model = if script.contains("(get-model)") { "(\n  (define-fun x () Int 5)\n)\n" } else { "" };
    format!("sat\n{model}")
}

const SEED: &str = "(set-logic QF_LIA)\n(declare-const x Int)\n(assert (> x 3))\n(check-sat)\n";

#[test]
fn a_wrong_refutation_is_confirmed_reduced_and_found_once() {
    let place = tempfile::tempdir().expect("a folder");
    // The old release refutes whatever compares with '>'.
    let setup = Setup::new("seed,opfuzz", &[SEED], |configuration, script| {
        let old = configuration.solver.name() == "z3@4.8.7";
        if old && script.contains("(> ") { "unsat\n".into() } else { sat(script).as_str().into() }
    });
    let summary = setup.run(&settings(place.path(), 12)).expect("a campaign");
    assert_eq!(summary.totals.findings.get("refutation-soundness"), Some(&1), "{:?}", summary.totals);
    assert_eq!((summary.findings.len(), summary.pending), (1, 0));
    let folder = place.path().join("bugs").join(&summary.findings[0].folder);
    let (finding, _) = Finding::read(&folder).expect("a finding");
    assert!(matches!(finding.stage, Stage::Reduced(_)), "{:?}", finding.stage);
    assert_eq!(finding.solver, "z3@4.8.7");
    assert_eq!(finding.accused, finding.runs.first().map(|run| run.party));
    assert!(folder.join("reduced-witness.smt2").is_file(), "the model travels along");
    assert!(setup.asked(Purpose::Confirmation) > 0 && setup.asked(Purpose::Reduction) > 0);
    // Whoever made it has the credit, in the store too.
    let mut store = store::read(place.path()).expect("a store");
    let learned = store.learned().expect("counts");
    let credited: u64 = learned.of_kind(ENGINE).map(|(_, counts)| counts.findings).sum();
    assert_eq!(credited, 1);
    assert_eq!(store.totals().expect("totals").tests, summary.tests);
    let samples = store.samples().expect("a time series");
    assert_eq!(samples.iter().map(|sample| sample.tests).sum::<u64>(), summary.tests);
    assert_eq!(samples.iter().map(|sample| sample.findings).sum::<u64>(), 1);
}

#[test]
fn several_wrong_checks_of_one_script_are_one_finding() {
    let place = tempfile::tempdir().expect("a folder");
    let seed = "(set-logic QF_LIA)\n(declare-const x Int)\n(assert (> x 3))\n(check-sat)\n(push 1)\n(assert (> x 2))\n\
                (check-sat)\n(pop 1)\n(check-sat)\n";
    let setup = Setup::new("seed", &[seed], |configuration, script| {
        let checks = script.matches("(check-sat)").count();
        let old = configuration.solver.name() == "z3@4.8.7" && script.contains("(assert");
        let models = script.matches("(get-model)").count() > 0;
        match (old, models) {
            (true, _) => "unsat\n".repeat(checks).as_str().into(),
            (false, true) => "sat\n(\n  (define-fun x () Int 5)\n)\n".repeat(checks).as_str().into(),
            (false, false) => "sat\n".repeat(checks).as_str().into(),
        }
    });
    let settings = Settings { log: Some(place.path().join("log")), ..settings(&place.path().join("out"), 1) };
    let summary = setup.run(&settings).expect("a campaign");
    assert_eq!(summary.findings.len(), 1, "{:?}", summary.findings);
    assert_eq!(summary.totals.findings.values().sum::<u64>(), 1);
    let log = std::fs::read_to_string(place.path().join("log")).expect("a log");
    assert_eq!(log.matches("\"event\":\"finding\"").count(), 1, "{log}");
    let mut store = store::read(&settings.out).expect("a store");
    let learned = store.learned().expect("counts");
    assert_eq!(learned.of_kind(ENGINE).map(|(_, counts)| counts.findings).sum::<u64>(), 1);
}

/// A finding as it is before triage: its folder under another name, not reduced, by a process that is gone.
fn put_back(folder: &Path) -> PathBuf {
    let file = folder.join("finding.json");
    let mut json: serde_json::Value =
        serde_json::from_slice(&std::fs::read(&file).expect("readable")).expect("JSON");
    json["stage"] = serde_json::json!({ "name": "pending", "input": "0", "process": u32::MAX });
    std::fs::write(&file, json.to_string()).expect("written");
    let name = folder.file_name().expect("a name").to_string_lossy();
    let pending = folder.with_file_name(format!("{}-000000000000", name.rsplit_once('-').expect("a hash").0));
    std::fs::rename(folder, &pending).expect("renamed");
    pending
}

/// The older of the two refutes what has a comparison.
fn refuted_by_the_old_one(configuration: &Configuration, script: &str) -> ScriptedAnswer {
    let old = configuration.solver.name() == "z3@4.8.7";
    if old && script.contains("(> ") { "unsat\n".into() } else { sat(script).as_str().into() }
}

#[test]
fn what_a_killed_campaign_left_pending_is_told_apart_when_it_goes_on() {
    let place = tempfile::tempdir().expect("a folder");
    let setup = Setup::new("seed", &[SEED], refuted_by_the_old_one);
    let first = setup.run(&settings(place.path(), 1)).expect("a campaign");
    let folder = place.path().join("bugs").join(&first.findings[0].folder);
    let pending = put_back(&folder);
    // The claim was made and its folder was never written: the finding must not be lost.
    let resumed = Settings { resume: true, ..settings(place.path(), 1) };
    let summary = setup.run(&resumed).expect("resumed");
    assert_eq!((summary.findings.len(), summary.pending), (1, 0));
    assert!(!pending.exists(), "the pending folder has become a finding");
    let (finding, _) = Finding::read(&folder).expect("the finding has its folder");
    assert!(finding.is_reduced());
}

#[test]
fn a_crash_at_a_known_place_is_counted_without_another_run() {
    let place = tempfile::tempdir().expect("a folder");
    let setup = Setup::new("opfuzz", &[SEED], |configuration, script| {
        let test = configuration.solver.name() == "z3@4.8.7" && script.contains("(assert");
        match test {
            true => ScriptedAnswer::dies_of(6).with_stderr(
                "ASSERTION VIOLATION\nFile: ../src/ast/ast.cpp\nLine: 388\nUNEXPECTED CODE WAS REACHED.\n",
            ),
            false => "unknown\n".into(),
        }
    });
    let summary = setup.run(&settings(place.path(), 10)).expect("a campaign");
    assert_eq!(summary.totals.findings.get("crash"), Some(&1), "{:?}", summary.totals);
    assert_eq!(summary.totals.duplicates, summary.tests - 1, "{:?}", summary.totals);
    let known = &summary.findings[0];
    assert_eq!(known.duplicates, summary.totals.duplicates);
    let kept = std::fs::read_dir(place.path().join("bugs").join(&known.folder).join("duplicates"));
    assert_eq!(kept.expect("duplicates").count(), 3);
    // Two plain starts for the first one, what its description needed, and a question to each of some releases that are
    // installed here; none for the nine others, which would need two each.
    assert!(setup.asked(Purpose::Confirmation) < 20, "{}", setup.asked(Purpose::Confirmation));
}

#[test]
fn an_answer_that_does_not_repeat_is_no_finding() {
    let place = tempfile::tempdir().expect("a folder");
    let runs = std::sync::atomic::AtomicU64::new(0);
    // Wrong exactly once.
    let setup = Setup::new("opfuzz", &[SEED], move |configuration, script| {
        let old = configuration.solver.name() == "z3@4.8.7" && script.contains("(assert");
        let first = old && runs.fetch_add(1, std::sync::atomic::Ordering::Relaxed) == 0;
        if first { "unsat\n".into() } else { sat(script).as_str().into() }
    });
    let summary = setup.run(&settings(place.path(), 5)).expect("a campaign");
    assert_eq!((summary.findings.len(), summary.totals.unconfirmed), (0, 1), "{:?}", summary.totals);
}

/// Remembers what the user is told.
#[derive(Default)]
struct Notes(std::sync::Mutex<Vec<String>>);

impl Observer for Notes {
    fn note(&self, text: &str) {
        self.0.lock().expect("no panic").push(text.to_owned());
    }
}

#[test]
fn a_campaign_that_only_tries_seeds_ends_when_each_was_tried_once() {
    let seeds: Vec<String> = (0..40).map(|number| SEED.replace('3', &format!("{number}"))).collect();
    let seeds: Vec<&str> = seeds.iter().map(String::as_str).collect();
    for jobs in [1, 3] {
        let place = tempfile::tempdir().expect("a folder");
        let setup = Setup::new("seed", &seeds, |_, script| sat(script).as_str().into());
        for resume in [false, true] {
            let notes = Notes::default();
            // Far more than there is to do.
            let settings = Settings { jobs, resume, ..settings(place.path(), 400) };
            let summary = campaign::run(&setup.campaign(), &settings, &setup.seeds, &notes, &|| false);
            let summary = summary.expect("a campaign");
            assert_eq!(summary.totals.tests, 40, "{jobs} workers, resumed: {resume}");
            let told = notes.0.into_inner().expect("no panic");
            let text = "no seed is left to try, and no other engine was chosen: the campaign ends";
            assert_eq!(told, [text], "{jobs} workers, resumed: {resume}");
        }
    }
}

#[test]
fn without_seeds_there_is_nothing_to_try() {
    let place = tempfile::tempdir().expect("a folder");
    let setup = Setup::new("seed", &[], |_, script| sat(script).as_str().into());
    let error = setup.run(&settings(place.path(), 1)).expect_err("refused").to_string();
    assert!(error.contains("there are no seeds"), "{error}");
    let setup = Setup::new("seed,generate", &[], |_, script| sat(script).as_str().into());
    assert_eq!(setup.run(&settings(place.path(), 1)).expect("a campaign").tests, 1);
}

/// Every second answer of the old release is wrong, whatever the script is.
fn by_turns(configuration: &Configuration, script: &str, runs: &std::sync::atomic::AtomicU64) -> String {
    let old = configuration.solver.name() == "z3@4.8.7" && script.contains("(assert");
    let turned = old && runs.fetch_add(1, std::sync::atomic::Ordering::Relaxed).is_multiple_of(2);
    if turned { "unsat\n".to_owned() } else { sat(script) }
}

#[test]
fn a_solver_that_answers_by_chance_has_one_bug_however_many_test_cases_show_it() {
    let place = tempfile::tempdir().expect("a folder");
    let runs = std::sync::atomic::AtomicU64::new(0);
    let formulas = ["(= (* x 5) 10)", "(= (mod x 3) 2)", "(= (div x 2) 2)", "(< (- x) 3)", "(= (abs x) 5)"];
    let seeds = formulas.map(|formula| SEED.replace("(> x 3)", formula));
    let seeds: Vec<&str> = seeds.iter().map(String::as_str).collect();
    let setup = Setup::new("seed", &seeds, move |configuration, script| {
        by_turns(configuration, script, &runs).as_str().into()
    });
    let summary = setup.run(&settings(place.path(), 5)).expect("a campaign");
    let flaky = summary.findings.iter().filter(|found| found.flaky).count();
    assert!(flaky > 1, "{:?}", summary.findings);
    let bugs: std::collections::BTreeSet<&str> =
        summary.findings.iter().filter(|found| found.flaky).map(|found| found.group.as_str()).collect();
    assert_eq!(bugs.len(), 1, "{:?}", summary.findings);
}

#[test]
fn a_finding_that_cannot_be_read_is_told_once_and_the_others_go_on() {
    let place = tempfile::tempdir().expect("a folder");
    let setup = Setup::new("opfuzz", &[SEED], |_, script| sat(script).as_str().into());
    setup.run(&settings(place.path(), 1)).expect("a campaign");
    let folder = place.path().join("bugs").join("crash-z3-4.8.7-0123456789ab");
    std::fs::create_dir_all(&folder).expect("made");
    std::fs::write(folder.join("finding.json"), "{ \"osprey\": ").expect("written");
    let notes = Notes::default();
    let resumed = Settings { resume: true, ..settings(place.path(), 2) };
    let summary = campaign::run(&setup.campaign(), &resumed, &setup.seeds, &notes, &|| false);
    assert_eq!(summary.expect("a campaign").tests, 2);
    let told = notes.0.into_inner().expect("no panic");
    assert_eq!(told, [format!("'{}' cannot be read; it is left as it is", folder.display())]);
    assert!(folder.join("finding.json").is_file());
}

#[test]
fn a_test_case_whose_folders_a_kill_left_twice_is_no_duplicate_of_itself() {
    let place = tempfile::tempdir().expect("a folder");
    let setup = Setup::new("seed", &[SEED], refuted_by_the_old_one);
    let first = setup.run(&settings(place.path(), 1)).expect("a campaign");
    let folder = place.path().join("bugs").join(&first.findings[0].folder);
    // The claim was made and its folder written, but the pending one was still there.
    let pending = put_back(&folder);
    copy(&pending, &folder);
    let file = folder.join("finding.json");
    let json = std::fs::read_to_string(&file).expect("readable");
    let mut json: serde_json::Value = serde_json::from_str(&json).expect("JSON");
    json["stage"] = serde_json::json!({ "name": "unreduced" });
    std::fs::write(&file, json.to_string()).expect("written");
    let resumed = Settings { resume: true, ..settings(place.path(), 1) };
    let summary = setup.run(&resumed).expect("resumed");
    let counted: Vec<u64> = summary.findings.iter().map(|found| found.duplicates).collect();
    assert_eq!((counted, summary.totals.duplicates), (vec![0], 0), "{:?}", summary.findings);
    assert!(!pending.exists() && folder.exists());
}

/// A folder of files once more.
fn copy(from: &Path, to: &Path) {
    std::fs::create_dir(to).expect("made");
    for entry in std::fs::read_dir(from).expect("readable") {
        let entry = entry.expect("readable");
        if entry.path().is_file() {
            std::fs::copy(entry.path(), to.join(entry.file_name())).expect("copied");
        }
    }
}

#[test]
fn a_suppressed_signature_is_not_reported() {
    let wrong = |configuration: &Configuration, script: &str| -> ScriptedAnswer {
        let old = configuration.solver.name() == "z3@4.8.7";
        if old && script.contains("(assert") { "unsat\n".into() } else { sat(script).as_str().into() }
    };
    let place = tempfile::tempdir().expect("a folder");
    // An engine that goes on: a resumed campaign does not try a seed again.
    let first = Setup::new("opfuzz", &[SEED], wrong).run(&settings(place.path(), 1)).expect("a campaign");
    let signature = first.findings[0].signature.clone();
    for known in [signature.clone(), first.findings[0].hash.clone()] {
        let place = tempfile::tempdir().expect("a folder");
        let known = campaign::KnownBugs { signatures: vec![known], ..campaign::KnownBugs::default() };
        let named = Settings { known: Some(known), ..settings(place.path(), 1) };
        let summary = Setup::new("opfuzz", &[SEED], wrong).run(&named).expect("a campaign");
        assert_eq!((summary.findings.len(), summary.totals.suppressed), (0, 1), "{signature}");
        assert_eq!(std::fs::read_dir(place.path().join("bugs")).expect("bugs").count(), 0);
        // The campaign knows it until others are named.
        let resumed = |known| Settings { known, resume: true, ..settings(place.path(), 1) };
        let again = Setup::new("opfuzz", &[SEED], wrong).run(&resumed(None)).expect("a campaign");
        assert_eq!((again.findings.len(), again.totals.suppressed), (0, 2), "{signature}");
        let nothing = Some(campaign::KnownBugs::default());
        let last = Setup::new("opfuzz", &[SEED], wrong).run(&resumed(nothing)).expect("a campaign");
        assert_eq!((last.findings.len(), last.totals.suppressed), (1, 2), "{signature}");
    }
}

#[test]
fn a_time_out_of_a_question_is_asked_again_and_counted_apart() {
    let place = tempfile::tempdir().expect("a folder");
    // The engine needs to know the seed's answer, and nobody has one.
    let setup = Setup::new("polarity", &[SEED], |_, script| match script.contains("assert") {
        true => ScriptedAnswer::times_out(),
        false => "sat\n".into(),
    });
    let settings = Settings { time: Some(Duration::from_secs(2)), ..settings(place.path(), 40) };
    let summary = setup.run(&settings).expect("a campaign");
    let questions = summary.totals.questions;
    assert!(questions.timed_out >= 2, "{questions:?}");
    assert!(questions.remembered > questions.asked, "not every round asks again: {questions:?}");
    assert_eq!(questions.answered, 0);
    let runs = summary.totals.of("question").runs;
    assert_eq!(runs as usize, setup.asked(Purpose::Question));
    assert_eq!(summary.totals.test_runs() as usize, setup.asked(Purpose::Test));
}

#[test]
fn a_campaign_goes_on_where_it_was_left_and_refuses_other_settings() {
    let place = tempfile::tempdir().expect("a folder");
    let agree = |_: &Configuration, script: &str| -> ScriptedAnswer { sat(script).as_str().into() };
    let mut setup = Setup::new("opfuzz", &[SEED], agree);
    setup.run(&settings(place.path(), 8)).expect("a campaign");
    let occupied = setup.run(&settings(place.path(), 8)).expect_err("refused");
    assert!(matches!(occupied, CampaignError::Occupied(_)), "{occupied}");
    let resumed = Settings { resume: true, ..settings(place.path(), 5) };
    let summary = setup.run(&resumed).expect("resumed");
    assert_eq!((summary.tests, summary.totals.tests), (5, 13));
    setup.identity.rng_seed = 8;
    let other = setup.run(&resumed).expect_err("refused");
    assert!(other.to_string().contains("--rng-seed 7 then, --rng-seed 8 now"), "{other}");
}

#[test]
fn two_processes_on_one_campaign_add_up() {
    let place = tempfile::tempdir().expect("a folder");
    let setup = Setup::new("opfuzz", &[SEED], |configuration, script| {
        // Runs take a while, so that both have something to do.
        std::thread::sleep(Duration::from_millis(2));
        let old = configuration.solver.name() == "z3@4.8.7";
        if old && script.contains("(> ") { "unsat\n".into() } else { sat(script).as_str().into() }
    });
    let (owner_log, helper_log) = (place.path().join("owner.jsonl"), place.path().join("helper.jsonl"));
    let out = place.path().join("out");
    let base = settings(&out, 0);
    let owner = Settings {
        iterations: None,
        time: Some(Duration::from_secs(4)),
        log: Some(owner_log.clone()),
        unused_coverage: false,
        reduce_all: false,
        ..base.clone()
    };
    let helper = Settings { iterations: None, log: Some(helper_log.clone()), ..base };
    let lonely = campaign::join(&setup.campaign(), &helper, &Silent, &|| false).expect_err("nobody runs it");
    assert!(matches!(lonely, CampaignError::Store(_) | CampaignError::NobodyToJoin(_)), "{lonely}");
    let (first, second) = std::thread::scope(|scope| {
        let first = scope.spawn(|| setup.run(&owner).expect("a campaign"));
        std::thread::sleep(Duration::from_millis(700));
        let refused = setup.run(&owner).expect_err("a second owner is refused");
        assert!(matches!(refused, CampaignError::InUse(_)), "{refused}");
        let second = campaign::join(&setup.campaign(), &helper, &Silent, &|| false).expect("a helper");
        (first.join().expect("the owner ends"), second)
    });
    assert!(second.tests > 0, "the helper had nothing to do");
    let tests = |log: &Path| {
        let text = std::fs::read_to_string(log).expect("a log");
        text.lines().filter(|line| line.contains("\"event\":\"test\"")).count() as u64
    };
    let (owned, helped) = (tests(&owner_log), tests(&helper_log));
    assert_eq!((owned, helped), (first.tests, second.tests));
    assert_eq!(first.totals.tests, owned + helped, "the owner's summary is the sum");
    let mut hashes: Vec<&str> = first.findings.iter().map(|known| known.hash.as_str()).collect();
    hashes.sort_unstable();
    hashes.dedup();
    assert_eq!(hashes.len(), first.findings.len(), "every finding once");
    assert_eq!(hashes.len() as u64, first.totals.unique());
    let folders = campaign::findings::finished(&out.join("bugs")).expect("bugs");
    let finished = folders.iter().filter(|folder| Finding::read(folder).is_ok_and(|(f, _)| !f.is_pending()));
    assert_eq!(finished.count(), hashes.len());
}

/// Ends a campaign by the user's hand after some progress.
struct Impatient(std::sync::atomic::AtomicU64);

impl Observer for Impatient {
    fn progress(&self, _: &campaign::Snapshot) {
        self.0.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
    }
}

#[test]
fn a_user_who_ends_a_campaign_loses_nothing() {
    let place = tempfile::tempdir().expect("a folder");
    let setup = Setup::new("opfuzz", &[SEED], |_, script| {
        std::thread::sleep(Duration::from_millis(1));
        sat(script).as_str().into()
    });
    let user = Impatient(std::sync::atomic::AtomicU64::new(0));
    let tired = || user.0.load(std::sync::atomic::Ordering::Relaxed) > 0;
    let settings = Settings { iterations: None, ..settings(place.path(), 0) };
    let summary =
        campaign::run(&setup.campaign(), &settings, &setup.seeds, &user, &tired).expect("a campaign");
    assert!(summary.interrupted && summary.tests > 0);
    let stored = store::read(place.path()).and_then(|mut store| store.totals()).expect("totals");
    assert_eq!(stored.tests, summary.tests);
}

/// Unsatisfiable, and nothing of it can be evaluated.
const OPEN: &str = "(set-logic QF_LIA)\n(declare-const x Int)\n(declare-const y Int)\n(assert (> x y))\n\
                    (assert (> y x))\n(check-sat)\n";

/// The newest release says `sat` to everything and has no model; everybody else is right.
fn wrong_newest(configuration: &Configuration, script: &str) -> ScriptedAnswer {
    let contradiction = script.contains("(> x y)") && script.contains("(> y x)");
    match configuration.solver.name().as_str() {
        "z3@5.4.0" => "sat\n".into(),
        _ if contradiction => "unsat\n".into(),
        _ => sat(script).as_str().into(),
    }
}

#[test]
fn two_releases_of_one_line_disagree_and_neither_is_accused_without_evidence() {
    let place = tempfile::tempdir().expect("a folder");
    let setup = Setup::new("seed", &[OPEN], wrong_newest);
    let summary = setup.run(&settings(place.path(), 1)).expect("a campaign");
    assert_eq!(summary.totals.findings.get("disagreement"), Some(&1), "{:?}", summary.totals.findings);
    let (finding, _) =
        Finding::read(&place.path().join("bugs").join(&summary.findings[0].folder)).expect("a finding");
    assert_eq!((finding.accused, finding.solver.as_str()), (None, "z3@4.8.7-z3@5.4.0"));
    assert!(
        finding.evidence.iter().any(|line| line.contains("z3@4.8.7 is likely")),
        "{:?}",
        finding.evidence
    );
    assert!(finding.evidence.iter().any(|line| line.contains("third opinion")), "{:?}", finding.evidence);
}

#[test]
fn a_third_opinion_is_asked_before_anybody_is_accused_and_stays_with_the_finding() {
    let place = tempfile::tempdir().expect("a folder");
    let mut setup = Setup::new("seed", &[OPEN], wrong_newest);
    setup.scripted = setup.scripted.with_third_opinions(&["z3@5.4.0", "cvc5@1.4.2"]);
    let summary = setup.run(&settings(place.path(), 1)).expect("a campaign");
    assert_eq!(summary.totals.findings.get("solution-soundness"), Some(&1), "{:?}", summary.totals.findings);
    let (finding, _) =
        Finding::read(&place.path().join("bugs").join(&summary.findings[0].folder)).expect("a finding");
    assert_eq!(finding.solver, "z3@5.4.0");
    assert!(matches!(finding.stage, Stage::Reduced(_)), "{:?}", finding.stage);
    let runs: Vec<&str> = finding.runs.iter().map(|run| run.solver.as_str()).collect();
    assert_eq!(runs, ["z3@5.4.0", "z3@4.8.7", "cvc5@1.4.2"]);
    // It is asked once as a follow-up, about every candidate that matters, and never as a test.
    let asked = setup.scripted.asked();
    let third =
        |purpose| asked.iter().filter(|run| run.name == "cvc5@1.4.2" && run.purpose == purpose).count();
    assert_eq!((third(Purpose::Test), third(Purpose::FollowUp)), (0, 1));
    assert!(third(Purpose::Confirmation) > 0 && third(Purpose::Reduction) > 0);
}

#[test]
fn a_pending_finding_that_rests_on_a_third_opinion_waits_for_it() {
    let place = tempfile::tempdir().expect("a folder");
    let mut setup = Setup::new("seed", &[OPEN], wrong_newest);
    let alone = setup.scripted.clone();
    setup.scripted = setup.scripted.with_third_opinions(&["z3@5.4.0", "cvc5@1.4.2"]);
    let first = setup.run(&settings(place.path(), 1)).expect("a campaign");
    let folder = place.path().join("bugs").join(&first.findings[0].folder);
    let pending = put_back(&folder);
    let resumed = Settings { resume: true, ..settings(place.path(), 1) };
    // Without cvc5 nothing shows any more: nobody can tell what it is.
    let with_third = std::mem::replace(&mut setup.scripted, alone);
    setup.seeds.seeds.clear();
    let summary = setup.run(&resumed).expect("resumed");
    assert!(pending.exists() && summary.pending == 1, "{:?}", summary.findings);
    setup.scripted = with_third;
    let summary = setup.run(&resumed).expect("resumed");
    assert!(!pending.exists() && summary.pending == 0, "{:?}", summary.findings);
    let (finding, _) = Finding::read(&folder).expect("the finding has its folder");
    assert!(finding.is_reduced());
    assert_eq!(finding.solver, "z3@5.4.0");
    assert!(finding.runs.iter().any(|run| run.solver == "cvc5@1.4.2"), "{:?}", finding.runs);
}

/// Dies of a bare signal, in one function on products and in another on what compares with '>'.
fn dies_in_two_places(configuration: &Configuration, script: &str) -> ScriptedAnswer {
    const SIGSEGV: i32 = 11;
    match configuration.solver.name() == "z3@4.8.7" && script.contains("(assert") {
        true if script.contains("(* ") => ScriptedAnswer::dies_in(SIGSEGV, &["multiply", "solve", "main"]),
        true if script.contains("(> ") => ScriptedAnswer::dies_in(SIGSEGV, &["compare", "solve", "main"]),
        _ => "unknown\n".into(),
    }
}

#[test]
fn bare_signals_are_told_apart_by_their_stacks_and_known_places_cost_one_start() {
    let place = tempfile::tempdir().expect("a folder");
    let product = SEED.replace("(> x 3)", "(= (* x 5) 10)");
    let setup = Setup::new("seed", &[SEED, &product, &SEED.replace('3', "8")], dies_in_two_places);
    let summary = setup.run(&settings(place.path(), 3)).expect("a campaign");
    assert_eq!(summary.totals.findings.get("crash"), Some(&2), "{:?}", summary.totals);
    assert_eq!(summary.totals.duplicates, 1, "{:?}", summary.totals);
    let signatures: Vec<&str> = summary.findings.iter().map(|found| found.signature.as_str()).collect();
    for place in ["SIGSEGV | multiply < solve < main", "SIGSEGV | compare < solve < main"] {
        assert!(signatures.iter().any(|signature| signature.ends_with(place)), "{signatures:?}");
    }
    for found in &summary.findings {
        let folder = place.path().join("bugs").join(&found.folder);
        let (finding, _) = Finding::read(&folder).expect("a finding");
        assert!(finding.runs[0].crash.as_ref().is_some_and(|crash| crash.frames.len() == 3), "{finding:?}");
        let report = std::fs::read_to_string(folder.join("report.md")).expect("a report");
        assert!(
            report.contains("The stack, innermost first:") && report.contains("solve\nmain\n"),
            "{report}"
        );
    }
    // Of the two that compare, the second was known already: its place was looked for, and nothing else.
    let asked = setup.scripted.asked();
    let purposes = |text: &str| -> Vec<Purpose> {
        asked.iter().filter(|asked| asked.script.contains(text)).map(|asked| asked.purpose).collect()
    };
    let (three, eight) = (purposes("(> x 3)"), purposes("(> x 8)"));
    let second = if three.len() < eight.len() { three } else { eight };
    assert_eq!(second, [Purpose::Test, Purpose::Test, Purpose::Place]);
}

#[test]
fn a_difference_by_design_is_named_with_its_reason_and_is_nothing_new() {
    let place = tempfile::tempdir().expect("a folder");
    let seed = "(set-logic QF_S)\n(declare-const s String)\n(assert (str.< \"\\u{ff}\" s))\n(check-sat)\n";
    let setup = Setup::new("seed", &[seed], |configuration, script| {
        let old = configuration.solver.name() == "z3@4.8.7" && script.contains("assert");
        let model = if script.contains("(get-model)") {
            "(\n  (define-fun s () String \"\\u{100}\")\n)\n"
        } else {
            ""
        };
        if old { "unsat\n".into() } else { format!("sat\n{model}").as_str().into() }
    });
    let summary = setup.run(&settings(place.path(), 1)).expect("a campaign");
    assert_eq!((summary.findings.len(), summary.pending), (0, 0), "{:?}", summary.findings);
    let excuses = summary.totals.excuses.by_frequency();
    assert!(matches!(excuses.as_slice(), [(why, 1)] if why.contains("256 characters")), "{excuses:?}");
    assert_eq!(summary.totals.novel, 0);
    assert_eq!(summary.seeds, 1, "it is no seed either");
}

#[test]
fn a_solver_that_refuses_what_is_made_of_a_seed_is_not_asked_for_ever() {
    let place = tempfile::tempdir().expect("a folder");
    let setup = Setup::new("opfuzz", &[SEED], |configuration, script| {
        let refuses = configuration.solver.name() == "z3@4.8.7" && script.contains("assert");
        let answer = if refuses {
            "(error \"line 2 column 1: unknown constant x\")\n".to_owned()
        } else {
            sat(script)
        };
        answer.as_str().into()
    });
    let summary = setup.run(&settings(place.path(), 25)).expect("a campaign");
    let most = 3 * summary.totals.rounds;
    assert!(summary.tests == 25 && (3..=most).contains(&summary.totals.rejected) && most < 12);
    let runs = |number| {
        let asked = setup.scripted.asked();
        asked.iter().filter(|asked| asked.purpose == Purpose::Test && asked.party == PartyId(number)).count()
    };
    assert_eq!((runs(0) as u64, runs(1)), (summary.totals.rejected, 25));
}

/// An option that is off by default.
fn switch(name: &str, unfair: bool) -> SolverOption {
    SolverOption {
        name: name.to_owned(),
        kind: OptionKind::Bool,
        default: Some("false".to_owned()),
        category: "smt".to_owned(),
        description: String::new(),
        excluded: None,
        unfair: unfair.then(|| "for experts".to_owned()),
    }
}

/// A campaign on a release that refutes everything if the option `smt.bad` is set, which is known to matter for `>`.
fn with_bad_option(options: PolicyName) -> Setup {
    let setup = Setup::new("seed", &[SEED], |configuration, script| {
        let bad = configuration.request.settings.iter().any(|setting| setting.option == "smt.bad");
        if bad && script.contains("(assert") { "unsat\n".into() } else { sat(script).as_str().into() }
    });
    with_options(setup, options)
}

/// The same campaign with solvers of three options, two of which are known to matter for `>`.
fn with_options(mut setup: Setup, options: PolicyName) -> Setup {
    setup.identity.options = options;
    let operation = |name| -> falcon::Operations { [falcon::Operation::named(name).expect("known")].into() };
    let (greater, get_model) = (operation("IntGt"), operation("get-model"));
    setup.targets = setup
        .targets
        .into_iter()
        .map(|target| {
            let options =
                vec![switch("smt.bad", true), switch("smt.good", false), switch("smt.other", false)];
            let mut known = falcon::Correlations::of("z3", "4.8.7", ["smt.bad", "smt.good", "smt.other"]);
            for _ in 0..4 {
                known.count(&greater, &["smt.bad", "smt.good"], &[], &[]);
                // What nobody has tried might matter, and would be searched.
                known.count(&get_model, &[], &[], &[]);
            }
            let first = target.number == 0;
            let target = target.with_table(Some(OptionTable { solver: "z3".to_owned(), options }));
            if first { target.correlated(Some(known)) } else { target.as_reference() }
        })
        .collect();
    setup
}

#[test]
fn a_bug_that_needs_an_option_is_found_without_being_told_it() {
    let place = tempfile::tempdir().expect("a folder");
    let setup = with_bad_option(PolicyName::Learned);
    let summary = setup.run(&settings(place.path(), 1)).expect("a campaign");
    assert_eq!(summary.totals.findings.get("refutation-soundness"), Some(&1), "{:?}", summary.totals);
    let folder = place.path().join("bugs").join(&summary.findings[0].folder);
    let (finding, _) = Finding::read(&folder).expect("a finding");
    let needed: Vec<&str> = finding.runs[0].settings.iter().map(|setting| setting.option.as_str()).collect();
    assert_eq!((needed, finding.runs[0].unfair.as_slice()), (vec!["smt.bad"], &["smt.bad".to_owned()][..]));
    let report = std::fs::read_to_string(folder.join("report.md")).expect("a report");
    assert!(report.contains("take no reports about smt.bad"), "{report}");
    assert!(report.contains("**The options are not fair**"), "{report}");
    assert_eq!(finding.fairness(), Fairness::Unfair);
    let tests = setup.scripted.asked().into_iter().filter(|asked| asked.purpose == Purpose::Test);
    let names: Vec<String> = tests.map(|asked| asked.name).collect();
    assert_eq!(names[0], "z3@4.8.7", "default options come first");
    assert_eq!(names.iter().filter(|name| *name == "z3@4.8.7").count(), 1, "and once: {names:?}");
    assert!(!names.iter().any(|name| name.contains("smt.other")), "it does not matter: {names:?}");
}

#[test]
fn options_that_do_not_fit_are_no_refused_scripts() {
    let place = tempfile::tempdir().expect("a folder");
    let setup = Setup::new("seed", &[SEED], |configuration, script| {
        let answer = match configuration.request.settings.is_empty() {
            true => sat(script),
            false => "(error \"line 2 column 1: unknown constant x\")\n".to_owned(),
        };
        answer.as_str().into()
    });
    let setup = with_options(setup, PolicyName::Learned);
    let summary = setup.run(&settings(place.path(), 1)).expect("a campaign");
    assert!(summary.totals.refusals.total() > 1, "{:?}", summary.totals);
    assert_eq!((summary.tests, summary.totals.rejected), (1, 0));
}

#[test]
fn fair_policies_do_not_set_what_developers_take_no_reports_about() {
    for (policy, set) in [(PolicyName::FairLearned, true), (PolicyName::Plain, false)] {
        let place = tempfile::tempdir().expect("a folder");
        let setup = with_bad_option(policy);
        let summary = setup.run(&settings(place.path(), 1)).expect("a campaign");
        assert!(summary.findings.is_empty(), "{policy}: {:?}", summary.findings);
        let asked = setup.scripted.asked();
        assert_eq!(asked.iter().any(|asked| asked.name.contains("smt.good")), set, "{policy}");
    }
}

#[test]
fn a_finding_stores_what_its_engine_saw_in_models_and_is_made_again_from_it() {
    let place = tempfile::tempdir().expect("a folder");
    let seed =
        "(set-logic QF_LIA)\n(declare-const x Int)\n(assert (and (> x 3) (distinct x 9)))\n(check-sat)\n";
    // Models of formulas with holes satisfy no mutant, those of mutants do. The old release refutes the tenth mutant.
    let mutants: std::sync::Mutex<Vec<String>> = std::sync::Mutex::default();
    let setup = Setup::new("values", &[seed], move |configuration, script| {
        let assertion = script.lines().find(|line| line.starts_with("(assert ")).unwrap_or_default();
        if script.contains("h!") {
            return "sat\n(\n  (define-fun x () Int (- 50))\n)\n".into();
        }
        let mut mutants = mutants.lock().expect("no panic");
        if !mutants.iter().any(|known| known == assertion) {
            mutants.push(assertion.to_owned());
        }
        let tenth = mutants.get(9).is_some_and(|tenth| tenth == assertion);
        let old = configuration.solver.name() == "z3@4.8.7";
        match (old && tenth, script.contains("(get-model)")) {
            (true, _) => "unsat\n".into(),
            (false, true) => "sat\n(\n  (define-fun x () Int 999999999999)\n)\n".into(),
            (false, false) => "sat\n".into(),
        }
    });
    let summary = setup.run(&settings(place.path(), 60)).expect("a campaign");
    let folder = place.path().join("bugs").join(&summary.findings.first().expect("a finding").folder);
    let (finding, _) = Finding::read(&folder).expect("a finding");
    let origin = &finding.provenance;
    assert!(origin.feedback.iter().any(|told| told.seen.is_some()), "{:?}", origin.feedback);
    let mut runner = setup.scripted.clone();
    let kept = |_: &str| Ok(setup.seeds.seeds.first().cloned());
    let made = regenerate(origin, &setup.identity, &setup.targets, &*setup.engines[0], &mut runner, kept);
    assert_eq!(campaign::hash::name(made.expect("a test case").as_bytes()), origin.script);
}

#[test]
fn bugs_that_need_other_options_of_their_scripts_or_other_tactics_are_other_bugs() {
    let place = tempfile::tempdir().expect("a folder");
    let seed = |line: &str| SEED.replace("(declare", &format!("{line}\n(declare"));
    let seeds = [
        seed("(set-option :sat.prob_search true)"),
        seed("(set-option :sat.local_search true)"),
        SEED.replace("(check-sat)", "(check-sat-using qfufbv_ackr)"),
    ];
    let seeds: Vec<&str> = seeds.iter().map(String::as_str).collect();
    let setup = Setup::new("seed", &seeds, |configuration, script| {
        let needed = ["_search true", "qfufbv_ackr"].iter().any(|word| script.contains(word));
        let wrong = configuration.solver.name() == "z3@4.8.7" && needed && script.contains("(assert");
        if wrong { "unsat\n".into() } else { sat(script).as_str().into() }
    });
    let summary = setup.run(&settings(place.path(), 3)).expect("a campaign");
    let signatures: Vec<&str> = summary.findings.iter().map(|found| found.signature.as_str()).collect();
    for needed in ["| sat.prob_search=true |", "| sat.local_search=true |", "| tactic qfufbv_ackr |"] {
        assert!(signatures.iter().any(|signature| signature.contains(needed)), "{signatures:?}");
    }
    assert_eq!(summary.totals.findings.get("refutation-soundness"), Some(&3), "{signatures:?}");
    for found in &summary.findings {
        let folder = place.path().join("bugs").join(&found.folder);
        let report = std::fs::read_to_string(folder.join("report.md")).expect("a report");
        let title = report.lines().next().unwrap_or_default();
        let named = ["with sat.prob", "with sat.local", "the tactic qfufbv"];
        assert!(named.iter().any(|words| title.contains(words)), "{title}");
    }
}
