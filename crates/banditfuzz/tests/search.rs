//! Performance fuzzing with scripted solvers: what is measured, what is learned, who leads.

use std::sync::Arc;
use std::time::Duration;

use banditfuzz::generator::{Generator, Parameters};
use banditfuzz::learned::{AgentName, Learned};
use banditfuzz::meter::{Meter, Outcome, Score};
use banditfuzz::search::{Found, Method, Search, SearchRules};
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
fn no_answer_is_no_score_and_a_contradiction_is_told() {
    let (_, mut silent) = meter(|target, _| if target { ScriptedAnswer::says("unknown\n") } else { sat(1) });
    assert!(matches!(silent.measure(INPUT, f64::NEG_INFINITY).expect("measured"), Outcome::Unusable));
    let (_, mut wrong) =
        meter(
            |target, _| if target { ScriptedAnswer::says("unsat\n") } else { ScriptedAnswer::says("sat\n") },
        );
    assert!(matches!(wrong.measure(INPUT, f64::NEG_INFINITY).expect("measured"), Outcome::Contradiction));
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
    let stopped = |_: f64, _: f64| false;
    let search =
        Search::new(rules, &mut generator, &mut meter, rng::stream(5, run), Learned::default(), &stopped);
    search.run().expect("a run")
}

fn score(found: &Found) -> f64 {
    found.best.as_ref().map_or(0.0, |best| best.scored.score)
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
    let stopped = |_: f64, _: f64| false;
    let search =
        Search::new(rules, &mut generator, &mut meter, rng::stream(5, 0), Learned::default(), &stopped);
    let found = search.run().expect("a run");
    assert!(found.perfect && found.cpu < 100.0, "{found:?}");
    assert!(found.best.expect("an input").text.contains("fp."));
}
