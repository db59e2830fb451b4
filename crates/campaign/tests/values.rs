//! Values with real solvers: constants and a skeleton that reveal known bugs, from seeds that do not, and test cases on which
//! solvers agree. Without network and with an empty cache the tests say so and check nothing.

use std::sync::Arc;
use std::time::Duration;

use campaign::driver::{AnswerCache, Driver, Plan, PlannedSeed, Questions, runnable};
use campaign::{SeedText, Target};
use engines::values::Preset;
use engines::{Engine, Expectation, TestCase, Values};
use smtlib::{Script, Store, print};
use solver::run::{Configuration, PartyId, Purpose, RunRules, Runner, SolverRunner};
use solver::{Answer, RunClass, RunRequest, Solver};

const WALL: Duration = Duration::from_secs(5);

/// Of one run of a judge: what a seed is judged by comes at once, or not at all.
const LIMIT: Duration = Duration::from_secs(2);

/// Rounds of one seed.
const ROUNDS: u64 = 3;

fn solvers(specs: &[&str]) -> Option<Vec<Solver>> {
    specs.iter().map(|spec| testkit::get(spec)).collect()
}

/// Test cases of one seed, round by round as a campaign goes on, with the solvers asked, until `done` says so.
fn drive(
    engine: &dyn Engine,
    text: &str,
    asked: &[&str],
    rng_seed: u64,
    done: &mut dyn FnMut(&mut Store, &TestCase) -> bool,
) -> Option<bool> {
    let targets = Target::numbered(solvers(asked)?);
    let configurations = targets.iter().map(Target::configuration).collect();
    let rules = RunRules::for_campaign(WALL, 2 << 30).questions_within(WALL);
    let mut runner = SolverRunner::new(configurations, rules).expect("a launcher");
    let mut cache = AnswerCache::default();
    let mut driver = Driver::new(&targets, rng_seed);
    let mut memory = None;
    for round in 0..ROUNDS {
        let plan = Plan {
            round,
            engine: engine.name().to_owned(),
            seeds: vec![PlannedSeed::Text(SeedText::new("seed", text))],
            logic: "ALL".to_owned(),
            group: (0..targets.len()).collect(),
            tactic: None,
            without: Vec::new(),
            memory: memory.take(),
            steps: 1000,
        };
        let mut questions = Questions { targets: &targets, runner: &mut runner, cache: &mut cache };
        let mut chain = driver.open(engine, &plan, &mut questions).expect("no panic").expect("a skeleton");
        while let Some(case) = driver.next(&mut chain, &mut questions).expect("no panic") {
            if done(&mut driver.store, &case) {
                return Some(true);
            }
        }
        if chain.exhausted().is_some() {
            break;
        }
        memory = chain.memory().map(|(_, memory)| memory.text);
    }
    Some(false)
}

/// What one solver makes of a script.
struct Judge {
    configuration: Arc<Configuration>,
    runner: SolverRunner,
}

impl Judge {
    fn new(spec: &str) -> Option<Judge> {
        let solver = testkit::get(spec)?;
        let configuration = Configuration {
            id: PartyId(0),
            solver,
            request: RunRequest { broad: true, ..RunRequest::default() },
        };
        let rules = RunRules::for_campaign(WALL, 2 << 30);
        let runner = SolverRunner::new(vec![configuration.clone()], rules).expect("a launcher");
        Some(Judge { configuration: Arc::new(configuration), runner })
    }

    fn run(&mut self, store: &mut Store, script: &Script) -> (RunClass, Option<Answer>) {
        let (script, _) = runnable(store, script, &[self.configuration.solver.release()]);
        let text = print::print(store, &script, self.configuration.solver.release());
        let run =
            self.runner.run_within(&self.configuration, text.as_bytes(), Purpose::Confirmation, Some(LIMIT));
        let run = run.expect("the solver runs");
        let answer = run.answers.trusted().last().map(|check| check.answer.clone());
        (run.answers.class, answer)
    }
}

/// Listing 1 of the paper with constants of which Z3 is right: first and second differ, third and fourth are equal.
const LISTING_1: &str = "(declare-fun x () String)(declare-fun y () String)
    (assert (str.in_re (str.++ x \"d\" y)
        (re.++ (re.* (str.to_re \"c\")) (re.union (str.to_re \"a\") (str.to_re \"a\")))))
    (check-sat)";

#[test]
fn neighbours_of_listing_1_are_found_that_z3str3_refutes_wrongly() {
    let Some(mut judge) = Judge::new("z3@4.8.9 smt.string_solver=z3str3") else { return };
    let Some(mut reference) = Judge::new("cvc5@1.4.2") else { return };
    let mut wrong = |store: &mut Store, case: &TestCase| {
        !print::print(store, &case.script, smtlib::Release::STANDARD).contains("h!")
            && reference.run(store, &case.script).1 == Some(Answer::Sat)
            && judge.run(store, &case.script).1 == Some(Answer::Unsat)
    };
    let asked = ["cvc5@1.4.2", "z3@5.4.0"];
    let mut found = 0;
    for rng_seed in 6..9 {
        let Some(one) = drive(&Values::default(), LISTING_1, &asked, rng_seed, &mut wrong) else { return };
        found += usize::from(one);
        if found == 2 {
            return;
        }
    }
    panic!("constants that are refuted though there is a model: {found} of 3 times");
}

/// Figure 4 of the paper before its constants became variables.
const FIGURE_4: &str = "(declare-const c (_ FloatingPoint 11 53))
    (assert (= c ((_ to_fp 11 53) roundTowardZero 0.5 3)))
    (check-sat-using smt)";

#[test]
fn the_skeleton_of_figure_4_crashes_z3() {
    let Some(mut judge) = Judge::new("z3@4.8.8") else { return };
    let mut first = true;
    let mut crashes = |store: &mut Store, case: &TestCase| {
        assert!(std::mem::take(&mut first), "the skeleton comes first");
        let (class, _) = judge.run(store, &case.script);
        let text = print::print(store, &case.script, smtlib::Release::STANDARD);
        assert!(matches!(class, RunClass::Crash(_)), "{class:?} of {text}");
        true
    };
    drive(&Preset::Skolu.settings(), FIGURE_4, &["z3@5.4.0"], 0, &mut crashes);
}

#[test]
fn two_solvers_agree_about_what_is_made_of_many_theories() {
    let seeds = [
        "(set-logic QF_BV)(declare-fun a () (_ BitVec 8))(assert (bvult (bvmul a #x03) #x10))(assert (= a #x05))",
        "(set-logic QF_LRA)(declare-fun r () Real)(assert (and (< r 2.5) (> (* 3.0 r) (- 1.0))))",
        "(set-logic QF_FP)(declare-fun f () Float16)(assert (fp.lt f (fp #b0 #b01111 #b0000000001)))",
        "(set-logic LIA)(declare-fun k () Int)(assert (forall ((x Int)) (or (> x 3) (< x k) (= x 10))))",
        "(declare-datatypes ((L 0)) (((nil) (cons (head Int) (tail L)))))(declare-fun l () L)
         (assert (= (head l) 3))(assert (distinct l nil (cons 4 nil)))",
    ];
    let (Some(mut z3), Some(mut cvc5)) = (Judge::new("z3@5.4.0"), Judge::new("cvc5@1.4.2")) else { return };
    for text in seeds {
        let text = format!("{text}(check-sat)");
        let (mut cases, mut sat, mut decided) = (0, 0, 0);
        let mut agree = |store: &mut Store, case: &TestCase| {
            cases += 1;
            let answers = [&mut z3, &mut cvc5].map(|judge| judge.run(store, &case.script).1);
            let decisive = |answer: &&Option<Answer>| matches!(answer, Some(Answer::Sat | Answer::Unsat));
            let said: Vec<_> = answers.iter().filter(decisive).collect();
            decided += usize::from(!said.is_empty());
            assert!(said.windows(2).all(|pair| pair[0] == pair[1]), "{answers:?}");
            if case.expectation() == &Expectation::Witness {
                sat += 1;
                assert!(said.iter().all(|answer| **answer == Some(Answer::Sat)), "{answers:?}");
            }
            cases == 12
        };
        let Some(_) = drive(&Values::default(), &text, &["z3@5.4.0", "cvc5@1.4.2"], 0, &mut agree) else {
            return;
        };
        assert!(cases >= 6 && sat >= 2 && decided >= 4, "{cases} cases, {sat} with witnesses: {text}");
    }
}
