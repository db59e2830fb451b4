//! The queue by itself: crowded, full, on a disk that takes nothing, at the end of a campaign.

use std::cell::Cell;
use std::path::Path;
use std::sync::{Arc, Mutex, mpsc};
use std::time::Duration;

use eval::{Derivation, Expectation};
use oracle::{Kind, Repeat, Standing, Verdict};
use smtlib::{Setting, Status};
use solver::run::{Configuration, PartyId, Purpose, Runner, Runners};
use testkit::{Scripted, ScriptedAnswer, made_up};

use super::claim::known_as;
use super::queue::{CROWDED, FULL};
use super::*;
use crate::config::{Identity, KnownBugs, Settings};
use crate::findings::{Constructs, Face, Finding, Origin, RunRecord, Signature, Stage};
use crate::shared::{Log, Observer, Shared, Silent, State, Stop, lock};
use crate::store::{CONSTRUCT, CampaignStore, Counts, Learned, MemoryStore, Place, Role, Totals, now};

fn settings(out: &Path, stop_after: Option<u64>) -> Settings {
    Settings {
        out: out.to_owned(),
        resume: false,
        jobs: 1,
        time: None,
        iterations: None,
        stop_after,
        unused_coverage: false,
        reduce_all: false,
        known: None,
        log: None,
        command: "osprey fuzz".to_owned(),
    }
}

fn shared(out: &Path, stop_after: Option<u64>) -> Shared<'static> {
    watched(out, stop_after, &Silent)
}

fn watched<'a>(out: &Path, stop_after: Option<u64>, observer: &'a dyn Observer) -> Shared<'a> {
    std::fs::create_dir_all(out.join("bugs")).expect("made");
    let state = State::new(
        now(),
        Learned::default(),
        Vec::new(),
        Vec::new(),
        Totals::default(),
        Vec::new(),
        crate::store::Unwanted::default(),
    );
    let stop = Stop::new(&settings(out, stop_after));
    Shared::new(state, Log::open(None).expect("no log"), stop, observer, out)
}

fn store() -> Mutex<Box<dyn CampaignStore>> {
    let identity = Identity::of_runs(Duration::from_secs(1), 1024, 1);
    Mutex::new(Box::new(MemoryStore::new(&identity, &[])))
}

/// Solvers that agree on everything: no bug shows again.
fn triage<'a>(shared: &'a Shared<'a>, store: &'a Mutex<Box<dyn CampaignStore>>) -> Triage<'a> {
    let solvers = Scripted::new(&["z3@4.8.7", "z3@5.4.0"], |_, _| ScriptedAnswer::says("sat\n"));
    // However slow the machine is, nothing is left for the next run of the campaign.
    let rules = TriageRules { reduce_all: true, ..TriageRules::default() };
    Triage::new(shared, store, Arc::new(solvers), rules)
}

fn constructs(operators: &[&str]) -> Signature {
    Signature::Constructs(Constructs {
        kind: Kind::RefutationSoundness,
        solver: "z3@4.8.7".to_owned(),
        crash: None,
        options: Vec::new(),
        operators: operators.iter().map(ToString::to_string).collect(),
        releases: None,
    })
}

fn place(place: &str) -> Signature {
    Signature::Place { solver: "z3@4.8.7".to_owned(), place: place.to_owned() }
}

fn found(step: usize, signature: Signature) -> Reproduction {
    let finding = Finding {
        osprey: "0".to_owned(),
        found: 0,
        kind: if signature.names_a_place() { Kind::Crash } else { Kind::RefutationSoundness },
        solver: "z3@4.8.7".to_owned(),
        title: "Z3".to_owned(),
        summary: "it answers unsat".to_owned(),
        signature,
        flaky: false,
        stage: Stage::Pending { input: step.to_string(), process: std::process::id() },
        expectation: Expectation::Agree,
        answer: None,
        evidence: Vec::new(),
        accused: Some(PartyId(0)),
        check: Some(0),
        platform: String::new(),
        runs: Vec::new(),
        operators: Vec::new(),
        blame: reduce::blame::Blame::default(),
        releases: None,
        group: None,
        handling: crate::findings::Handling::default(),
        provenance: Origin { step, ..Origin::default() },
    };
    let configurations = Scripted::new(&["z3@4.8.7", "z3@5.4.0"], |_, _| ScriptedAnswer::says("sat\n"));
    let configurations = solver::run::Runner::configurations(&configurations).to_vec();
    let input = format!("(assert true)\n(check-sat)\n; {step}\n");
    Reproduction { finding, input, witness: None, configurations, ancestors: Vec::new() }
}

/// Works until nothing waits any more.
fn work_off(triage: &Triage) -> Result<(), crate::error::CampaignError> {
    triage.work(&Ending { workers_gone: &|| true, interrupted: &|| false })
}

#[test]
fn in_a_crowded_queue_what_looks_like_a_known_bug_is_taken_for_it() {
    let out = tempfile::tempdir().expect("a folder");
    let (shared, store) = (shared(out.path(), None), store());
    let triage = triage(&shared, &store);
    let known = found(0, constructs(&["mod"])).finding;
    shared.state().findings.know(known_as(&known), Some(&known.signature));
    triage.enter(found(1, constructs(&["+", "mod"]))).expect("entered");
    assert_eq!(triage.pending(), 1, "there is time to look at it");
    for step in 2..=CROWDED {
        triage.enter(found(step, constructs(&["div"]))).expect("entered");
    }
    triage.enter(found(100, constructs(&["+", "mod"]))).expect("taken for a known one");
    assert_eq!(triage.pending(), CROWDED);
    assert_eq!(shared.state().totals_now().duplicates, 1);
    triage.enter(found(101, constructs(&["*"]))).expect("entered");
    assert_eq!(triage.pending(), CROWDED + 1, "it looks like nothing known");
}

#[test]
fn the_same_input_waits_once() {
    let out = tempfile::tempdir().expect("a folder");
    let (shared, store) = (shared(out.path(), None), store());
    let triage = triage(&shared, &store);
    triage.enter(found(1, constructs(&["mod"]))).expect("entered");
    triage.enter(found(1, constructs(&["mod"]))).expect("counted");
    assert_eq!(triage.pending(), 1);
    work_off(&triage).expect("worked off");
    triage.tell_duplicates().expect("told");
    let listed = lock(&store).findings().expect("listed");
    let counts: Vec<u64> = listed.iter().map(|known| known.duplicates).collect();
    assert_eq!(
        (counts, shared.state().totals_now().duplicates),
        (vec![1], 1),
        "the list agrees with the total"
    );
}

#[test]
fn a_finding_whose_solver_cannot_be_run_stays_pending() {
    let out = tempfile::tempdir().expect("a folder");
    let (shared, store) = (shared(out.path(), None), store());
    let gone = Scripted::new(&["z3@4.8.7", "z3@5.4.0"], |_, _| ScriptedAnswer::missing());
    let triage = Triage::new(&shared, &store, Arc::new(gone), TriageRules::default());
    let known = found(0, constructs(&["mod"])).finding;
    shared.state().findings.know(known_as(&known), Some(&known.signature));
    triage.enter(found(1, constructs(&["+", "mod"]))).expect("entered");
    work_off(&triage).expect("worked off");
    let folders = crate::findings::finished(shared.bugs()).expect("readable");
    assert_eq!(folders.len(), 1, "it is not taken for what it looks like");
    assert!(Finding::read(&folders[0]).expect("a finding").0.is_pending());
}

#[test]
fn workers_wait_at_a_full_queue_until_something_leaves_it() {
    let out = tempfile::tempdir().expect("a folder");
    let (shared, store) = (shared(out.path(), None), store());
    let triage = triage(&shared, &store);
    for step in 0..FULL {
        triage.enter(found(step, constructs(&[&format!("f{step}")]))).expect("entered");
    }
    let (entered, hears) = mpsc::channel();
    std::thread::scope(|scope| {
        let triage = &triage;
        scope.spawn(move || {
            triage.enter(found(FULL, constructs(&["last"]))).expect("entered");
            entered.send(()).expect("heard");
        });
        std::thread::sleep(Duration::from_millis(50));
        assert!(hears.try_recv().is_err(), "there is no room");
        work_off(triage).expect("worked off");
        hears.recv().expect("there is room now");
        work_off(triage).expect("worked off");
    });
    // None of them shows any more, so that each is told apart by what it has.
    assert_eq!(lock(&store).findings().expect("listed").len(), FULL + 1);
}

#[test]
fn a_full_queue_holds_nobody_back_when_the_campaign_is_over() {
    let out = tempfile::tempdir().expect("a folder");
    let (shared, store) = (shared(out.path(), None), store());
    let triage = triage(&shared, &store);
    for step in 0..FULL {
        triage.enter(found(step, constructs(&["mod"]))).expect("entered");
    }
    shared.stop.ask();
    triage.enter(found(FULL, constructs(&["div"]))).expect("entered");
    assert_eq!(triage.pending(), FULL + 1);
}

#[test]
fn a_claim_whose_folder_cannot_be_written_is_released() {
    let out = tempfile::tempdir().expect("a folder");
    let (shared, store) = (shared(out.path(), None), store());
    let triage = triage(&shared, &store);
    triage.enter(found(1, place("a.cpp:1"))).expect("entered");
    // From now on nothing can be written there.
    std::fs::remove_dir_all(out.path().join("bugs")).expect("removed");
    std::fs::write(out.path().join("bugs"), "in the way").expect("written");
    let error = work_off(&triage).expect_err("the disk refuses");
    assert!(error.is_disk(), "{error}");
    assert!(lock(&store).findings().expect("listed").is_empty(), "another process may claim it");
    assert!(!shared.state().findings.knows(&place("a.cpp:1")));
    assert!(!shared.state().findings.expects(&place("a.cpp:1")), "nobody counts duplicates of it");
}

#[test]
fn what_waits_when_the_user_has_enough_stays_pending() {
    let out = tempfile::tempdir().expect("a folder");
    let (shared, store) = (shared(out.path(), Some(1)), store());
    let triage = triage(&shared, &store);
    for step in 0..3 {
        triage.enter(found(step, place(&format!("a.cpp:{step}")))).expect("entered");
    }
    work_off(&triage).expect("worked off");
    assert_eq!(lock(&store).findings().expect("listed").len(), 1);
    let folders = crate::findings::finished(shared.bugs()).expect("readable");
    let pending = |folder: &&std::path::PathBuf| Finding::read(folder).expect("a finding").0.is_pending();
    assert_eq!((folders.len(), folders.iter().filter(pending).count()), (3, 2));
}

#[test]
fn what_is_not_reduced_in_time_stays_pending() {
    let out = tempfile::tempdir().expect("a folder");
    let (shared, store) = (shared(out.path(), None), store());
    let triage = triage(&shared, &store);
    triage.enter(found(1, constructs(&["mod"]))).expect("entered");
    // The user ends it after the workers have gone.
    let asked = Cell::new(0);
    let interrupted = || {
        asked.set(asked.get() + 1);
        asked.get() > 1
    };
    triage.work(&Ending { workers_gone: &|| true, interrupted: &interrupted }).expect("left");
    assert!(lock(&store).findings().expect("listed").is_empty());
    let folders = crate::findings::finished(shared.bugs()).expect("readable");
    assert!(Finding::read(&folders[0]).expect("a finding").0.is_pending());
}

/// Hears what users are told.
#[derive(Default)]
struct Listener(Mutex<Vec<String>>);

impl Observer for Listener {
    fn note(&self, text: &str) {
        lock(&self.0).push(text.to_owned());
    }
}

#[test]
fn who_ends_a_campaign_hears_what_it_still_waits_for() {
    for (pressed, advice) in [(true, "Ctrl-C again to stop now"), (false, "Ctrl-C to stop now")] {
        let out = tempfile::tempdir().expect("a folder");
        let (listener, store) = (Listener::default(), store());
        let shared = watched(out.path(), None, &listener);
        let triage = triage(&shared, &store);
        for step in 0..3 {
            triage.enter(found(step, constructs(&[&format!("f{step}")]))).expect("entered");
        }
        triage.work(&Ending { workers_gone: &|| true, interrupted: &|| pressed }).expect("worked off");
        assert_eq!(*lock(&listener.0), [format!("finishing 3 reductions, {advice}")]);
    }
}

#[test]
fn what_cannot_be_made_small_is_not_left_to_others() {
    let Some(server) = testkit::postgres::postgres() else { return };
    let out = tempfile::tempdir().expect("a folder");
    let place = Place::named(&server.url(), out.path()).expect("an address");
    place.create(&Identity::of_runs(Duration::from_secs(1), 1024, 1), &[]).expect("made");
    let mut handle = place.open().expect("opened");
    let member = handle.join(Role::Owner).expect("joined");
    let (shared, store) = (shared(out.path(), None), Mutex::new(handle));
    let triage = triage(&shared, &store);
    triage.enter(found(1, constructs(&["mod"]))).expect("entered");
    work_off(&triage).expect("worked off");
    let mut handle = lock(&store);
    handle.leave(member).expect("left");
    let folders = handle.archive().expect("on a server").list().expect("listed");
    assert_eq!((folders.len(), folders[0].open), (1, false), "{}", folders[0].name);
}

#[test]
fn a_crowded_queue_takes_no_more_of_bugs_that_nobody_wants_to_hear_of() {
    let folder = tempfile::tempdir().expect("a folder");
    let shared = shared(folder.path(), None);
    let face = Face {
        kind: Some(Kind::RefutationSoundness),
        solver: "z3@4.8.8".to_owned(),
        operators: vec!["mod".to_owned()],
        ..Face::default()
    };
    let unwanted = crate::store::Unwanted { faces: [face.to_text()].into(), ..Default::default() };
    shared.state().findings.replace_unwanted(unwanted);
    let store = store();
    let triage = triage(&shared, &store);
    for step in 0..CROWDED {
        triage.enter(found(step, constructs(&["div", "mod"]))).expect("entered");
    }
    assert_eq!(triage.pending(), CROWDED, "with room each is looked at closely");
    for step in 100..120 {
        triage.enter(found(step, constructs(&["div", "mod"]))).expect("entered");
    }
    assert_eq!(triage.pending(), CROWDED);
    triage.enter(found(200, constructs(&["div"]))).expect("entered");
    assert_eq!(triage.pending(), CROWDED + 1, "another bug by all that is known");
    assert_eq!(shared.state().totals_now().suppressed, 20);
}

/// A finding reduced, by solvers of which none but these is asked.
fn reduced(reproduction: &Reproduction, solvers: &Scripted) -> ReducedFinding {
    let rules = ReductionRules {
        effort: reduce::Effort { jobs: 1, time: Some(Duration::from_secs(20)) },
        releases: None,
        blame: None,
        tracer: None,
        examined: Arc::default(),
    };
    let runners: Arc<dyn Runners> = Arc::new(solvers.clone());
    let mut runner = runners.runner().expect("a runner");
    let ending = Ending { workers_gone: &|| true, interrupted: &|| false };
    let deadline = super::ending::TriageDeadline::new(&ending, true);
    reproduction.reduce(&mut *runner, &runners, &rules, &deadline).expect("reduced")
}

#[test]
fn a_wrong_model_is_printed_by_the_script_that_shows_it() {
    // Wrong only after another check, and nobody has asked for it.
    let solvers = Scripted::new(&["z3@4.8.7"], |_, script| {
        let value = if script.matches("(check-sat)").count() > 1 { 0 } else { 5 };
        let model = format!("(\n  (define-fun x () Int {value})\n)\n");
        let said = |line: &str| match line {
            "(check-sat)" => "sat\n".to_owned(),
            "(get-model)" => model.clone(),
            _ => String::new(),
        };
        ScriptedAnswer::says(script.lines().map(said).collect::<String>())
    });
    let mut wrong = found(1, constructs(&["<"]));
    wrong.finding.kind = Kind::InvalidModel;
    wrong.input = "(declare-const x Int)\n(check-sat)\n(assert (> x 3))\n(check-sat)\n".to_owned();
    wrong.configurations = Runner::configurations(&solvers).to_vec();
    let ReducedFinding { finding, small, .. } = reduced(&wrong, &solvers);
    assert!(small.script.ends_with("(check-sat)\n(get-model)\n"), "{}", small.script);
    assert!(finding.runs[0].stdout.contains("define-fun"), "{}", finding.runs[0].stdout);
}

#[test]
fn references_speak_with_their_default_options_where_that_is_enough() {
    // The second needs its option to be right, or not.
    for needed in [false, true] {
        let accused = Configuration::new(PartyId(0), made_up("z3@4.8.7"));
        let mut reference = Configuration::new(PartyId(1), made_up("z3@5.4.0"));
        reference.request.models = true;
        reference.request.settings.push(Setting::new("smt.arith.solver", "2"));
        let solvers = Scripted::with_configurations(
            vec![Arc::new(accused), Arc::new(reference)],
            move |configuration, script| {
                let set = !configuration.request.settings.is_empty();
                let able = configuration.id == PartyId(1) && (set || !needed);
                let right = able || !script.contains("(> ");
                let model = if script.contains("(get-model)") { "((define-fun x () Int 5))\n" } else { "" };
                ScriptedAnswer::says(if right { format!("sat\n{model}") } else { "unsat\n".to_owned() })
            },
        );
        let mut wrong = found(1, constructs(&["<"]));
        wrong.input = "(declare-const x Int)\n(assert (> x 3))\n(check-sat)\n".to_owned();
        wrong.configurations = Runner::configurations(&solvers).to_vec();
        let ReducedFinding { finding, .. } = reduced(&wrong, &solvers);
        let settings: Vec<usize> = finding.runs.iter().map(|run| run.settings.len()).collect();
        assert_eq!(settings, [0, usize::from(needed)], "{:?}", finding.runs);
    }
}

#[test]
fn what_a_process_that_is_gone_left_pending_is_told_apart_at_the_end() {
    let out = tempfile::tempdir().expect("a folder");
    let (shared, store) = (shared(out.path(), None), store());
    let triage = triage(&shared, &store);
    let mut solvers = Scripted::new(&["z3@4.8.7", "z3@5.4.0"], |_, _| ScriptedAnswer::says("sat\n"));
    let runs = solvers.run_all(b"(check-sat)\n", Purpose::Test).expect("runs");
    for (step, process) in [(1, u32::MAX), (2, std::process::id())] {
        let mut left = found(step, constructs(&[&format!("f{step}")]));
        left.finding.runs = runs.iter().map(|run| RunRecord::of(run, "input.smt2")).collect();
        left.finding.stage = Stage::Pending { input: step.to_string(), process };
        left.finding.write(shared.bugs(), &left.input, None, None).expect("written");
    }
    triage.adopt_left(&[made_up("z3@4.8.7"), made_up("z3@5.4.0")]).expect("taken in");
    assert_eq!(triage.pending(), 1, "its own are in its queue, or were left for good");
    assert_eq!(triage.untold(), 1);
    work_off(&triage).expect("worked off");
    assert_eq!(lock(&store).findings().expect("listed").len(), 1);
}

#[test]
fn what_waits_only_to_be_made_small_is_not_pending_for_the_user() {
    let out = tempfile::tempdir().expect("a folder");
    let (shared, store) = (shared(out.path(), None), store());
    let triage = triage(&shared, &store);
    let Reproduction { mut finding, input, witness, configurations, ancestors } = found(1, place("a.cpp:1"));
    finding.stage = Stage::Unreduced;
    let reproduction = Reproduction { finding, input, witness, configurations, ancestors };
    triage.put(queue::Waiting { reproduction, folder: out.path().join("bugs").join("one"), settled: true });
    triage.enter(found(2, constructs(&["mod"]))).expect("entered");
    assert_eq!((triage.pending(), triage.untold()), (2, 1));
}

#[test]
fn what_a_crash_needs_is_ranked_by_how_rare_it_is() {
    const SIGSEGV: i32 = 11;
    let out = tempfile::tempdir().expect("a folder");
    let (shared, store) = (shared(out.path(), None), store());
    let solvers = Scripted::new(&["z3@4.8.7", "z3@5.4.0"], |configuration, script| {
        match configuration.id == PartyId(0) && script.contains("(mod ") {
            true => ScriptedAnswer::dies_in(SIGSEGV, &["modulo", "solve", "main"]),
            false => ScriptedAnswer::says("sat\n"),
        }
    });
    let rules = TriageRules { reduce_all: true, ..TriageRules::default() };
    let triage = Triage::new(&shared, &store, Arc::new(solvers.clone()), rules);
    let counts = |tests| Counts { tests, ..Counts::default() };
    shared.state().learned.add(CONSTRUCT, "mod", &counts(10));
    shared.state().count(&Totals { tests: 1000, ..Totals::default() });
    let mut crash = found(1, place("SIGSEGV | modulo < solve < main"));
    crash.input = "(declare-const x Int)\n(assert (= (mod x 3) 1))\n(check-sat)\n".to_owned();
    let runs = solvers.clone().run_all(crash.input.as_bytes(), Purpose::Place).expect("runs");
    crash.finding.runs = runs.iter().map(|run| RunRecord::of(run, "input.smt2")).collect();
    crash.configurations = Runner::configurations(&solvers).to_vec();
    triage.enter(crash).expect("entered");
    work_off(&triage).expect("worked off");
    let folders = crate::findings::finished(shared.bugs()).expect("readable");
    let (finding, _) = Finding::read(&folders[0]).expect("a finding");
    let shares: Vec<Option<f64>> = finding
        .blame
        .constructs
        .iter()
        .filter(|blamed| blamed.construct.starts_with("mod"))
        .map(|blamed| blamed.share)
        .collect();
    assert_eq!(shares, [Some(0.01)], "{:?}", finding.blame);
}

#[test]
fn a_crash_that_does_not_repeat_and_has_no_place_is_no_further_bug() {
    let out = tempfile::tempdir().expect("a folder");
    let (shared, store) = (shared(out.path(), Some(2)), store());
    let triage = triage(&shared, &store);
    for step in 2..4 {
        let Signature::Constructs(constructs) = constructs(&[&format!("f{step}")]) else {
            panic!("constructs")
        };
        let crash = Some("SIGSEGV".to_owned());
        let signature = Signature::Constructs(Constructs { kind: Kind::Crash, crash, ..constructs });
        let mut lost = found(step, signature);
        (lost.finding.kind, lost.finding.flaky) = (Kind::Crash, true);
        lost.finding.operators = vec![format!("f{step}")];
        triage.enter(lost).expect("entered");
    }
    triage.enter(found(1, place("SIGSEGV | factors::reset < goal2nlsat"))).expect("entered");
    work_off(&triage).expect("worked off");
    let listed = lock(&store).findings().expect("listed");
    assert_eq!((listed.len(), listed.iter().filter(|known| known.leads()).count()), (3, 1), "{listed:?}");
    assert!(!shared.stop.has_enough_findings(), "one bug is not enough");
}

#[test]
fn a_known_finding_without_operators_is_not_reported_again() {
    let out = tempfile::tempdir().expect("a folder");
    let (shared, store) = (shared(&out.path().join("now"), None), store());
    // Nothing tells it apart but its signature.
    let mut before = found(0, constructs(&[]));
    before.finding.stage = Stage::Unreduced;
    let bugs = out.path().join("before").join("bugs");
    std::fs::create_dir_all(&bugs).expect("made");
    let folder = before.finding.write(&bugs, &before.input, None, None).expect("written");
    for named in [folder, out.path().join("before")] {
        let known = KnownBugs { signatures: Vec::new(), folders: vec![named] };
        shared.state().findings.replace_unwanted(unwanted(&known).expect("read"));
        let triage = triage(&shared, &store);
        triage.enter(found(1, constructs(&[]))).expect("entered");
        triage.enter(found(2, constructs(&["mod"]))).expect("entered");
        work_off(&triage).expect("worked off");
        let listed = lock(&store).findings().expect("listed");
        let signatures: Vec<String> = listed.into_iter().map(|known| known.signature).collect();
        assert_eq!(signatures, [constructs(&["mod"]).to_string()]);
    }
    assert!(shared.state().totals_now().suppressed >= 2);
}

#[test]
fn how_an_input_was_made_is_no_reason_why_a_crash_is_wrong() {
    let mut solvers = Scripted::new(&["z3@4.8.7"], |_, _| ScriptedAnswer::says("unsat\n"));
    let runs = solvers.run_all(b"(check-sat)\n", Purpose::Test).expect("runs");
    let evidence = |kind| {
        let mut finding = found(1, constructs(&["mod"])).finding;
        let (from, steps) = ("the seed's status".to_owned(), vec!["a step".to_owned()]);
        finding.expectation = Expectation::Derived(Derivation { answer: Status::Sat, from, steps });
        let verdict = Verdict {
            kind,
            accused: Some(PartyId(0)),
            solver: String::new(),
            check: None,
            reason: "it is wrong".to_owned(),
            evidence: Vec::new(),
            opponents: Vec::new(),
            own_family_objects: false,
            rests_on: None,
            signature: None,
            standing: Standing::Stands,
            repeat: Repeat::Untried,
        };
        finding.describe(&verdict, &runs, None);
        finding.evidence
    };
    assert_eq!(evidence(Kind::RefutationSoundness), ["the seed's status", "a step"]);
    assert_eq!(evidence(Kind::Crash), [""; 0]);
    assert_eq!(evidence(Kind::Performance), [""; 0]);
}

#[test]
fn a_wrong_model_is_a_wrong_answer_if_somebody_refutes_the_script_and_our_evaluation_the_model() {
    for (other, says, kind) in [
        ("cvc5@1.4.2", "unsat\n", Kind::SolutionSoundness),
        ("z3@5.4.0", "unsat\n", Kind::SolutionSoundness),
        ("z3@5.4.0", "unknown\n", Kind::InvalidModel),
    ] {
        let solvers = Scripted::new(&["z3@4.8.7", other], move |configuration, script| {
            let shows = script.contains("(> x") && script.contains("(< x");
            let model = if script.contains("(get-model)") { "((define-fun x () Int 7))\n" } else { "" };
            match (shows, configuration.id == PartyId(0)) {
                (false, _) => ScriptedAnswer::says("unknown\n"),
                (true, true) => ScriptedAnswer::says(format!("sat\n{model}")),
                (true, false) => ScriptedAnswer::says(says),
            }
        });
        let mut wrong = found(1, constructs(&["<"]));
        wrong.finding.kind = Kind::InvalidModel;
        wrong.input = "(declare-const x Int)\n(assert (> x 3))\n(assert (< x 2))\n(check-sat)\n(get-model)\n"
            .to_owned();
        wrong.configurations = Runner::configurations(&solvers)[..1].to_vec();
        let ReducedFinding { finding, .. } = reduced(&wrong, &solvers);
        assert_eq!(finding.kind, kind, "{other} says {says}: {:?}", finding.evidence);
        let told = finding
            .evidence
            .iter()
            .chain([&finding.summary])
            .any(|line| line.contains("false by our evaluation"));
        assert!(told || kind == Kind::InvalidModel, "{:?}", finding.evidence);
    }
}
