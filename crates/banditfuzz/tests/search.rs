//! Performance fuzzing with scripted solvers: what is measured, what is learned, who leads.

use std::sync::Arc;
use std::time::Duration;

use banditfuzz::generator::{Generator, Parameters};
use banditfuzz::learned::{AgentName, Learned};
use banditfuzz::meter::{Meter, Outcome, Score};
use banditfuzz::search::{Found, Method, Search, SearchRules};
use banditfuzz::state::Memory;
use generate::rng;
use solver::run::Runners as _;
use testkit::{Scripted, ScriptedAnswer};

const SOLVERS: [&str; 2] = ["z3@5.4.0", "cvc5@1.4.2"];
const START: Duration = Duration::from_millis(20);
const LIMIT: Duration = Duration::from_secs(2);

fn meter(answering: impl Fn(bool, &str) -> ScriptedAnswer + Send + Sync + 'static) -> (Scripted, Meter) {
    let scripted = Scripted::new(&SOLVERS, move |who, text| {
        let answer = answering(who.id.0 == 0, text);
        let cpu = answer.cpu + START;
        answer.taking(cpu)
    });
    let parties = solver::run::Runner::configurations(&scripted).to_vec();
    let runner = scripted.runner().expect("a runner");
    let meter = Meter::new(runner, parties, LIMIT, Score::Cpu, "QF_FP").expect("a meter");
    (scripted, meter)
}

fn sat(milliseconds: u64) -> ScriptedAnswer {
    ScriptedAnswer::says("sat\n").taking(Duration::from_millis(milliseconds))
}

const INPUT: &str = "(set-logic QF_FP)\n(declare-const x Float32)\n(assert (fp.isNaN x))\n(check-sat)\n";

#[test]
fn a_start_does_not_count_and_a_time_out_counts_twice() {
    let (_, mut solved) = meter(|target, text| match (target, text.contains("isNaN")) {
        (true, true) => sat(700),
        (false, true) => sat(100),
        _ => sat(0),
    });
    let Outcome::Scored(scored) = solved.measure(INPUT, f64::NEG_INFINITY).expect("measured") else {
        panic!("no score")
    };
    assert!((scored.score - 0.6).abs() < 1e-9, "{scored:?}");
    let (_, mut slow) = meter(|target, text| match (target, text.contains("isNaN")) {
        (true, true) => sat(2500),
        (false, true) => sat(100),
        _ => sat(0),
    });
    let Outcome::Scored(scored) = slow.measure(INPUT, f64::NEG_INFINITY).expect("measured") else {
        panic!("no score")
    };
    assert!(!scored.target.solved);
    assert!((scored.score - 3.9).abs() < 1e-9, "{scored:?}");
}

#[test]
fn references_are_not_asked_where_the_target_is_too_fast_to_matter() {
    let (scripted, mut meter) = meter(|_, _| sat(300));
    let before = scripted.asked().len();
    let outcome = meter.measure(INPUT, 0.5).expect("measured");
    assert!(matches!(outcome, Outcome::Below(_)), "{outcome:?}");
    assert_eq!(scripted.asked().len(), before + 1);
}

#[test]
fn a_close_decision_is_measured_again_and_the_worse_figures_count() {
    // The target needs 520 ms at first, and 480 ms ever after.
    let times = Arc::new(std::sync::atomic::AtomicU64::new(0));
    let (_, mut meter) = meter(move |target, text| match target && text.contains("isNaN") {
        true => match times.fetch_add(1, std::sync::atomic::Ordering::Relaxed) {
            0 => sat(540),
            _ => sat(480),
        },
        false => sat(0),
    });
    let outcome = meter.measure(INPUT, 0.5).expect("measured");
    assert!(matches!(outcome, Outcome::Below(_)), "{outcome:?}");
}

#[test]
fn giving_up_counts_as_a_time_out_but_not_as_time() {
    let (_, mut unknown) = meter(|target, text| match target && text.contains("isNaN") {
        true => ScriptedAnswer::says("unknown\n").taking(Duration::from_millis(30)),
        false => sat(1),
    });
    let Outcome::Scored(scored) = unknown.measure(INPUT, f64::NEG_INFINITY).expect("measured") else {
        panic!("no score")
    };
    assert!(!scored.target.solved && (scored.score - 4.0).abs() < 1e-9, "{scored:?}");
    assert!(scored.ratio(0.01) < 4.0, "{scored:?}: an unknown after 30 ms is not slow");
    // A reference that gives up leaves no gap.
    let (_, mut reference) = meter(|target, text| match !target && text.contains("isNaN") {
        true => ScriptedAnswer::says("unknown\n"),
        false => sat(900),
    });
    assert!(matches!(reference.measure(INPUT, 0.0).expect("measured"), Outcome::Below(_)));
}

#[test]
fn a_crash_is_no_score_and_a_contradiction_is_told() {
    let (_, mut dead) = meter(|target, _| if target { ScriptedAnswer::dies_of(11) } else { sat(1) });
    assert!(matches!(dead.measure(INPUT, f64::NEG_INFINITY).expect("measured"), Outcome::Unusable));
    let (_, mut wrong) =
        meter(
            |target, _| if target { ScriptedAnswer::says("unsat\n") } else { ScriptedAnswer::says("sat\n") },
        );
    assert!(matches!(wrong.measure(INPUT, f64::NEG_INFINITY).expect("measured"), Outcome::Contradiction));
}

#[test]
fn a_reference_beyond_the_first_part_of_the_limit_still_leaves_a_score() {
    let (_, mut meter) = meter(|target, text| match (target, text.contains("isNaN")) {
        (true, true) => sat(2500),
        (false, true) => sat(300),
        _ => sat(0),
    });
    let Outcome::Scored(scored) = meter.measure(INPUT, 3.0).expect("measured") else { panic!("no score") };
    assert!((scored.score - 3.7).abs() < 1e-9, "{scored:?}");
    assert!(matches!(meter.measure(INPUT, 3.69).expect("measured"), Outcome::Below(_)));
}

/// A target that needs a tenth of a second for each remainder, and nothing for anything else.
fn search(method: Method, run: u64, seconds: u64) -> Found {
    let (_, mut meter) = meter(|target, text| match target {
        true => sat(10 + 100 * text.matches("fp.rem").count() as u64),
        false => sat(10),
    });
    let parameters = Parameters { assertions: 3..=3, depth: 3..=3, ..Parameters::default() };
    let mut generator = Generator::new(&parameters, &[], Arc::from([])).expect("a generator");
    let rules = SearchRules { method, agent: AgentName::Thompson, budget: Duration::from_secs(seconds) };
    let (stopped, known) = (|_: f64, _: f64| false, Memory::default());
    let search = Search::new(rules, &mut generator, &mut meter, rng::stream(5, run), &known, &stopped);
    search.run().expect("a run")
}

fn score(found: &Found) -> f64 {
    found.best.as_ref().map_or(0.0, |best| best.scored.score)
}

/// A run with these solvers, and with what they need for a text.
fn run(method: Method, seconds: u64, answering: fn(bool, &str) -> ScriptedAnswer) -> (Scripted, Found) {
    let (scripted, mut meter) = meter(answering);
    let mut generator = Generator::new(&Parameters::default(), &[], Arc::from([])).expect("a generator");
    let budget = Duration::from_secs(seconds);
    let rules = SearchRules { method, agent: AgentName::Thompson, budget };
    let (stopped, known) = (|_: f64, _: f64| false, Memory::default());
    let search = Search::new(rules, &mut generator, &mut meter, rng::stream(5, 0), &known, &stopped);
    let found = search.run().expect("a run");
    (scripted, found)
}

#[test]
fn near_the_largest_score_solvers_are_still_run_and_a_run_can_end() {
    // The score in hand is 97 % of the largest, between what noise once reached to and what ends a run.
    let (_, mut meter) = meter(|target, text| match (target, text.contains("isNaN")) {
        (true, true) => sat(2500),
        (false, true) => sat(20),
        _ => sat(0),
    });
    let outcome = meter.measure(INPUT, 0.97 * 4.0).expect("measured");
    assert!(matches!(&outcome, Outcome::Scored(scored) if scored.score > 3.97), "{outcome:?}");
    // Nobody is run where no score can be higher, and that is no measurement.
    let outcome = meter.measure(INPUT, 4.0).expect("measured");
    assert!(matches!(outcome, Outcome::Unmeasured), "{outcome:?}");
}

#[test]
fn every_input_that_is_counted_was_given_to_the_target() {
    // The first input has 96 % of the largest score, and nothing has more.
    let (scripted, found) =
        run(Method::Bandit, 60, |target, text| match (target, text.contains("declare")) {
            (true, true) => sat(2500),
            (false, true) => sat(160),
            _ => sat(0),
        });
    let asked =
        scripted.asked().iter().filter(|run| run.party.0 == 0 && run.script.contains("declare")).count();
    assert!(found.inputs > 0 && found.inputs <= asked as u64, "{} of {asked}", found.inputs);
}

#[test]
fn a_target_that_gives_up_at_once_does_not_end_a_run_and_is_not_what_is_slow() {
    let (_, found) = run(Method::Random, 30, |target, text| match (target, text.contains("fp.add")) {
        (true, true) => ScriptedAnswer::says("unknown\n").taking(Duration::from_millis(5)),
        (true, false) => sat(10 + 100 * text.matches("fp.rem").count() as u64),
        _ => sat(1),
    });
    let (best, slow) = (found.best.expect("a best one"), found.slow.expect("a slow one"));
    assert!(!found.perfect, "{best:?}");
    assert!(!best.scored.target.solved && best.scored.score > 3.9, "{best:?}");
    assert!(slow.scored.target.solved && slow.text.contains("fp.rem"), "{slow:?}");
}

#[test]
fn the_last_measurement_ends_with_the_cpu_time() {
    let (_, mut meter) = meter(|target, text| match target && text.contains("isNaN") {
        true => ScriptedAnswer::times_out().taking(Duration::from_millis(400)),
        false => sat(1),
    });
    let outcome = meter.measure_within(INPUT, f64::NEG_INFINITY, 0.05).expect("measured");
    assert!(matches!(outcome, Outcome::Unmeasured), "{outcome:?}");
}

#[test]
fn an_agent_draws_again_where_an_arm_cannot_be_put_in() {
    let mut generator = Generator::new(&Parameters::default(), &[], Arc::from([])).expect("a generator");
    let learned = Learned::default();
    let (mut failed, mut made) = (0, 0);
    for index in 0..60 {
        let mut rng = rng::stream(8, index);
        let text = generator.fresh(&mut rng, None);
        let mut opened = generator.open(&text).expect("read");
        let pulled = opened.pull(&*AgentName::ThompsonUniform.agent(), &learned, &mut rng);
        failed += pulled.failed;
        made += u64::from(pulled.mutant.is_some_and(|mutant| mutant.text != text));
    }
    assert!(made == 60, "{made} mutants, {failed} arms failed");
}

#[test]
fn a_constant_is_no_level_of_an_input() {
    let mut generator = Generator::new(&Parameters::default(), &[], Arc::from([])).expect("a generator");
    let text = "(set-logic QF_FP)(declare-const x Float32)\
                (assert (fp.lt x (fp.neg (fp #b0 #b00000001 #b00000000000000000000001))))(check-sat)";
    let features = generator.features(text);
    assert_eq!(features, ["fp.neg", "fp.lt", "assertions 1", "depth 2"]);
}

#[test]
fn variables_are_of_the_sorts_that_a_logic_is_about() {
    for (logic, sorts) in
        [("QF_FP", &["Float", "FloatingPoint"][..]), ("QF_SLIA", &["String", "Int"]), ("QF_BV", &["BitVec"])]
    {
        let parameters = Parameters { logic: logic.to_owned(), variables: 3..=3, ..Parameters::default() };
        let mut generator = Generator::new(&parameters, &[], Arc::from([])).expect("a generator");
        for index in 0..100 {
            let text = generator.fresh(&mut rng::stream(6, index), None);
            let declared: Vec<&str> = text.lines().filter(|line| line.starts_with("(declare-")).collect();
            assert_eq!(declared.len(), 3, "{text}");
            assert!(declared.iter().all(|line| sorts.iter().any(|sort| line.contains(sort))), "{text}");
            assert!(text.contains("(assert "), "{text}");
        }
    }
}

#[test]
fn the_construct_that_makes_the_target_slow_is_ranked_first() {
    let mut learned = Learned::default();
    for run in 0..4 {
        learned.merge(&search(Method::Bandit, run, 60).learned);
    }
    let ranking = learned.ranking();
    assert_eq!(ranking[0].construct, "fp.rem", "{:?}", &ranking[..5]);
}

#[test]
fn the_bandit_leads_those_who_do_not_learn() {
    let mean = |method: Method| (0..6).map(|run| score(&search(method, run, 40))).sum::<f64>() / 6.0;
    let bandit = mean(Method::Bandit);
    for other in [Method::Random, Method::Mutational, Method::Evolutionary] {
        let score = mean(other);
        assert!(bandit > score, "{bandit} and {} {score}", other.word());
    }
}

#[test]
fn a_run_ends_at_the_largest_score_and_keeps_its_input() {
    let (_, mut meter) = meter(|target, text| match target && text.contains("fp.") {
        true => sat(5_000),
        false => sat(0),
    });
    let mut generator = Generator::new(&Parameters::default(), &[], Arc::from([])).expect("a generator");
    let rules =
        SearchRules { method: Method::Random, agent: AgentName::Thompson, budget: Duration::from_secs(1000) };
    let (stopped, known) = (|_: f64, _: f64| false, Memory::default());
    let search = Search::new(rules, &mut generator, &mut meter, rng::stream(5, 0), &known, &stopped);
    let found = search.run().expect("a run");
    assert!(found.perfect && found.cpu < 100.0, "{found:?}");
    assert!(found.best.expect("an input").text.contains("fp."));
}

#[test]
fn a_run_that_was_cut_short_is_gone_on_with() {
    let (_, mut meter) = meter(|target, text| match target {
        true => sat(10 + 100 * text.matches("fp.rem").count() as u64),
        false => sat(10),
    });
    let mut generator = Generator::new(&Parameters::default(), &[], Arc::from([])).expect("a generator");
    let (stopped, known) = (|_: f64, _: f64| false, Memory::default());
    let mut part = |seconds: u64, stream: u64, begun: Found| {
        let budget = Duration::from_secs(seconds);
        let rules = SearchRules { method: Method::Bandit, agent: AgentName::Thompson, budget };
        let rng = rng::stream(5, stream);
        let search = Search::new(rules, &mut generator, &mut meter, rng, &known, &stopped);
        search.run_from(begun).expect("a run")
    };
    let first = part(10, 0, Found::default());
    let whole = part(20, 1, first.clone());
    assert!(first.cpu >= 10.0 && whole.cpu >= 20.0 && whole.cpu < 30.0, "{} {}", first.cpu, whole.cpu);
    assert!(whole.inputs > first.inputs && score(&whole) >= score(&first));
    let pulls = |found: &Found| found.learned.arms.values().map(|arm| arm.tries).sum::<u64>();
    let ways = |found: &Found| found.ways.arms.values().map(|arm| arm.tries).sum::<u64>();
    assert!(pulls(&whole) > pulls(&first) && ways(&whole) > ways(&first));
    assert_eq!((first.parts, whole.parts), (1, 2));
}

#[test]
fn with_seeds_new_inputs_of_the_bandit_are_generated_too() {
    let seed: Arc<str> = INPUT.into();
    let mut generator =
        Generator::new(&Parameters::default(), &[], Arc::from([Arc::clone(&seed)])).expect("a generator");
    let promise = Learned::default();
    let mut generated = 0;
    for index in 0..40 {
        assert_eq!(generator.fresh(&mut rng::stream(1, index), None), *seed);
        let text = generator.fresh(&mut rng::stream(2, index), Some(&promise));
        generated += u32::from(text != *seed);
    }
    assert!((5..35).contains(&generated), "{generated} of 40");
}
