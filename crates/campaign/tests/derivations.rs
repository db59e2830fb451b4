//! What `polarity` and `fusion` derive, confirmed by two real solvers: a seed's answer and the steps that keep it are a
//! proof only if the steps are right. Without network and with an empty cache the test says so and checks nothing.

use std::sync::Arc;
use std::time::Duration;

use campaign::driver::{Driver, Plan, PlannedSeed, runnable};
use campaign::{Identity, SeedText, Target};
use engines::{Engine, Fusion, Nobody, Polarity};
use smtlib::{Status, print};
use solver::run::{Configuration, Purpose, Runner};
use solver::{RunRequest, Solver};

/// Small formulas whose answer anybody can see, over all theories that both solvers have.
const SEEDS: &[(&str, &str)] = &[
    (
        "sat",
        "(declare-fun p () Bool)(declare-fun q () Bool)(assert (=> p (and q (not (= p q)))))(assert (or p q))",
    ),
    (
        "sat",
        "(declare-fun x () Int)(declare-fun y () Int)(assert (< (+ x 1) (* 2 y)))(assert (or (> x 3) (<= y 5)))",
    ),
    ("sat", "(declare-fun x () Real)(assert (and (< 0.0 x) (<= (* 3.0 x) 1.0)))(assert (not (= x 0.25)))"),
    (
        "sat",
        "(declare-fun a () (_ BitVec 6))(declare-fun b () (_ BitVec 6))(assert (bvult a (bvadd a b)))(assert (not (bvsle b a)))",
    ),
    (
        "sat",
        "(declare-fun s () String)(assert (str.prefixof \"ab\" s))(assert (> (str.len s) 3))(assert (not (str.contains s \"c\")))",
    ),
    (
        "sat",
        "(declare-fun m () (Array Int Int))(declare-fun i () Int)(assert (> (select m i) 4))(assert (not (= m (store m i 4))))",
    ),
    (
        "sat",
        "(declare-sort U 0)(declare-fun f (U) U)(declare-fun u () U)(assert (distinct u (f u)))(assert (= u (f (f u))))",
    ),
    (
        "sat",
        "(declare-fun x () Int)(assert (forall ((y Int)) (=> (> y x) (exists ((z Int)) (< x z y)))))(assert (<= x 9))",
    ),
    ("unsat", "(declare-fun p () Bool)(declare-fun q () Bool)(assert (=> p q))(assert p)(assert (not q))"),
    (
        "unsat",
        "(declare-fun x () Int)(declare-fun y () Int)(assert (< x y))(assert (< y (+ x 1)))(assert (or (= x 0) (= y 0)))",
    ),
    (
        "unsat",
        "(declare-fun x () Real)(declare-fun y () Real)(assert (<= (+ x y) 1.0))(assert (and (> x 0.5) (> y 0.5)))",
    ),
    ("unsat", "(declare-fun a () (_ BitVec 5))(assert (bvult a #b00100))(assert (bvugt a #b01000))"),
    (
        "unsat",
        "(declare-fun s () String)(assert (str.prefixof \"a\" s))(assert (or (= s \"\") (= (str.len s) 0)))",
    ),
    (
        "unsat",
        "(declare-fun m () (Array Int Int))(declare-fun i () Int)(assert (= (select (store m i 1) i) 2))(assert (>= i 0))",
    ),
    (
        "unsat",
        "(declare-fun f (Int) Int)(declare-fun c () Int)(assert (forall ((y Int)) (< (f y) 0)))(assert (> (f c) 3))",
    ),
    ("unsat", "(declare-fun x () Int)(assert (not (exists ((y Int)) (and (> y x) (< y (+ x 5))))))"),
];

/// Test cases from one seed or pair of seeds.
const CASES: usize = 20;

fn targets(specs: &[&str]) -> Option<Vec<Target>> {
    let solvers: Option<Vec<Solver>> = specs.iter().map(|spec| testkit::get(spec)).collect();
    Some(Target::numbered(solvers?))
}

/// Makes test cases of the seeds at these places and asks both solvers. Tells how many each kind of answer confirmed.
fn confirm(
    engine: &dyn Engine,
    places: &[usize],
    stream: u64,
    runner: &mut dyn Runner,
    targets: &[Target],
) -> usize {
    let seed = |place: &usize| {
        let (status, text) = SEEDS[*place];
        let text = format!("(set-info :status {status}){text}(check-sat)");
        PlannedSeed::Text(SeedText::new(format!("seed {place}"), text))
    };
    let plan = Plan {
        round: stream,
        engine: engine.name().to_owned(),
        seeds: places.iter().map(seed).collect(),
        logic: "ALL".to_owned(),
        group: (0..targets.len()).collect(),
        tactic: None,
        without: Vec::new(),
        memory: None,
        steps: CASES,
    };
    let mut driver = Driver::new(targets, 7);
    let opened = driver.open(engine, &plan, &mut Nobody).expect("no panic");
    let Some(mut chain) = opened else { return 0 };
    let mut confirmed = 0;
    for _ in 0..CASES {
        let Some(case) = driver.next(&mut chain, &mut Nobody).expect("no panic") else { break };
        let expected = case.expectation().answer().expect("an answer by construction");
        let (script, usage) = runnable(&mut driver.store, &case.script, &Target::releases(targets));
        let mut both = true;
        for target in targets.iter().filter(|target| target.accepts(&usage)) {
            let text = print::print(&driver.store, &script, target.release);
            let request = RunRequest { broad: true, ..RunRequest::default() };
            let configuration = Arc::new(Configuration { request, ..target.configuration() });
            let run = runner.run(&configuration, text.as_bytes(), Purpose::FollowUp).expect("a run");
            for check in 0..script.commands.iter().filter(|command| command.is_check()).count() {
                let said = run.status(check);
                both &= said.is_some();
                assert!(
                    matches!(said, None | Some(Status::Unknown)) || said == Some(expected),
                    "{} says {said:?}, not {expected:?}, after {:?}\n{text}",
                    target.name,
                    case.expectation(),
                );
            }
        }
        confirmed += usize::from(both);
    }
    confirmed
}

#[test]
fn two_solvers_confirm_what_polarity_and_fusion_derive() {
    testkit::launcher();
    let Some(targets) = targets(&["z3@5.4.0", "cvc5@1.4.2"]) else { return };
    let identity = Identity::of_runs(Duration::from_secs(1), 2048, 7);
    let mut runner = campaign::runners(&identity, &targets, Vec::new(), false).runner().expect("a launcher");
    let (mut polarity, mut fusion) = (0, 0);
    for (place, (answer, _)) in SEEDS.iter().enumerate() {
        polarity += confirm(&Polarity::default(), &[place], place as u64, &mut *runner, &targets);
        // A partner with the same answer.
        let partner = (1..SEEDS.len()).map(|step| (place + step) % SEEDS.len());
        let partner = partner.into_iter().find(|other| SEEDS[*other].0 == *answer).expect("a partner");
        let stream = (place + SEEDS.len()) as u64;
        fusion += confirm(&Fusion::default(), &[place, partner], stream, &mut *runner, &targets);
    }
    assert!(
        polarity >= SEEDS.len() * CASES / 2,
        "only {polarity} derivations of polarity were decided by both"
    );
    assert!(fusion >= SEEDS.len(), "only {fusion} fusions were decided by both");
}
