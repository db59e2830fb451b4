//! What comes next: engine, seeds, logic, solver group, length. Decided from the learned counts and the round's own stream.

use engines::Engine;
use generate::Rng;
use solver::Solver;

use super::avoid::Culprits;
use super::choice::{Worth, choose};
use super::length;
use super::logics::logics;
use super::pool::SeedPool;
use crate::config::Identity;
use crate::driver::{Plan, PlannedSeed, StreamPurpose, stream};
use crate::seeds::SeedText;
use crate::store::{ENGINE, LOGIC, Learned};
use crate::target::Target;

/// How often a seed is generated although there are others: only where the user gave none.
const FRESH: f64 = 0.5;

/// Share of the rounds of engines with a witness that are for one solver alone.
const ALONE: f64 = 0.5;

/// After this many rounds that try seeds there is one that makes something of them: a large folder must not take a whole
/// campaign.
const TRIALS: u64 = 30;

/// Seeds drawn at most until one has nothing that is left out.
const DRAWS: usize = 4;

/// What rounds are planned from, beside what was learned.
pub struct Scheduler<'a> {
    pub identity: &'a Identity,
    pub targets: &'a [Target],
    pub engines: &'a [Box<dyn Engine>],
}

impl Scheduler<'_> {
    /// Decides a round. Most leave out what known bugs are blamed on.
    pub fn plan(&self, round: u64, learned: &Learned, pool: &SeedPool, culprits: &Culprits) -> Plan {
        let identity = self.identity;
        let mut rng = stream(identity.rng_seed, round, StreamPurpose::Plan);
        // Engines that try every seed once have had their turn.
        let names: Vec<String> =
            identity.engines.iter().filter(|name| !self.is_once(name)).cloned().collect();
        let engine = if identity.auto {
            choose(&mut rng, &names, ENGINE, learned)
        } else {
            evenly(&mut rng, &names, learned)
        };
        let engine = engine.cloned().unwrap_or_default();
        let witness = self.engine(&engine).is_some_and(|engine| engine.has_witness());
        let group = group(self.targets, witness, &mut rng);
        let members: Vec<&str> =
            group.iter().filter_map(|i| Some(self.targets.get(*i)?.name.as_str())).collect();
        let left_out =
            culprits.left_out(&members, &mut stream(identity.rng_seed, round, StreamPurpose::LeftOut));
        let logics = logics(identity, self.targets, &group);
        let logic = if identity.auto { choose(&mut rng, &logics, LOGIC, learned) } else { rng.pick(&logics) };
        let logic = logic.cloned().unwrap_or_else(|| "QF_UF".to_owned());
        let wanted = self.engine(&engine).map_or(1, |engine| engine.seeds_wanted());
        let worth = Worth::of(learned, ENGINE);
        let seeds = (0..wanted)
            .map(|_| {
                let fresh = identity.seeds.is_empty() && rng.chance(FRESH);
                let mut seed = pool.choose(&engine, worth, &mut rng);
                for _ in 1..DRAWS {
                    if !seed.is_some_and(|seed| left_out.are_in(seed)) {
                        break;
                    }
                    seed = pool.choose(&engine, worth, &mut rng);
                }
                match seed {
                    Some(seed) if !fresh => PlannedSeed::Text(seed.clone()),
                    _ => PlannedSeed::Generated,
                }
            })
            .collect::<Vec<_>>();
        let memory = match seeds.as_slice() {
            [PlannedSeed::Text(seed)] => pool.memory(&seed.hash, &engine).map(str::to_owned),
            _ => None,
        };
        let tactic = self.tactic(&engine, &group, logic_of(&seeds, &logic), &mut rng);
        let tactic = tactic.filter(|tactic| !left_out.are_in_tactic(tactic));
        let steps = length::grant(&mut rng);
        let without = left_out.operators.into_iter().collect();
        Plan { round, engine, seeds, logic, group, tactic, without, memory, steps }
    }

    /// A round that tries a given seed as it is, if one is left and an engine does that.
    pub fn trial(&self, round: u64, next: impl FnOnce() -> Option<SeedText>) -> Option<Plan> {
        let once = |engine: &&dyn Engine| {
            engine.once() && self.identity.engines.iter().any(|name| *name == engine.name())
        };
        let engine = self.engines.iter().map(AsRef::as_ref).find(once)?;
        if round % (TRIALS + 1) == TRIALS && !self.only_tries() {
            return None;
        }
        let seed = next()?;
        Some(Plan {
            round,
            engine: engine.name().to_owned(),
            seeds: vec![PlannedSeed::Text(seed)],
            logic: "ALL".to_owned(),
            group: (0..self.targets.len()).collect(),
            tactic: None,
            without: Vec::new(),
            memory: None,
            steps: usize::MAX,
        })
    }

    /// A tactic for the checks of a round, where every solver of the group has it and the user allows options.
    fn tactic(&self, engine: &str, group: &[usize], logic: &str, rng: &mut Rng) -> Option<String> {
        let engine = self.engine(engine);
        let policy = engine.map_or(self.identity.options, |engine| self.identity.policy_of(engine));
        if !policy.draws_tactics() || !rng.chance(engine.map_or(0.0, |engine| engine.tactics())) {
            return None;
        }
        let solvers: Vec<&Solver> =
            group.iter().filter_map(|i| Some(&self.targets.get(*i)?.solver)).collect();
        solver::tactics::draw(&solvers, logic, rng)
    }

    /// Do all engines that were chosen try every given seed once? Then the campaign ends when all have been tried.
    pub fn only_tries(&self) -> bool {
        self.identity.engines.iter().all(|name| self.is_once(name))
    }

    fn is_once(&self, name: &str) -> bool {
        self.engine(name).is_some_and(|engine| engine.once())
    }

    pub fn engine(&self, name: &str) -> Option<&dyn Engine> {
        self.engines.iter().map(AsRef::as_ref).find(|engine| engine.name() == name)
    }
}

/// Of engines that the user has named the one with the fewest test cases: each is to have its part, and rounds of one may be
/// thirty times as long as those of another. Rounds count, too, so that one which makes nothing is not tried for ever.
fn evenly<'a>(rng: &mut Rng, names: &'a [String], learned: &Learned) -> Option<&'a String> {
    let used = |name: &&String| {
        let counts = learned.get(ENGINE, name);
        counts.tests + counts.rounds
    };
    let least = names.iter().map(|name| used(&name)).min()?;
    let least: Vec<&String> = names.iter().filter(|name| used(name) == least).collect();
    rng.pick(&least).copied()
}

/// The logic of a round's scripts: the one that its only seed names, or that of what is generated.
fn logic_of<'a>(seeds: &'a [PlannedSeed], generated: &'a str) -> &'a str {
    match seeds {
        [PlannedSeed::Text(seed)] => {
            let after = seed.text.split_once("(set-logic").map(|(_, after)| after.trim_start());
            after.and_then(|after| after.split([')', ' ', '\n']).next()).unwrap_or("ALL")
        }
        [_, _, ..] => "ALL",
        _ => generated,
    }
}

/// All solvers half of the time, else at least two of them. Where a witness judges, half of the rounds are for one
/// solver alone, with all that it has; references are not needed there, and have no say in what is used.
fn group(targets: &[Target], witness: bool, rng: &mut Rng) -> Vec<usize> {
    let taking_part = targets.iter().filter(|target| !(witness && target.reference));
    let mut all: Vec<usize> = taking_part.map(|target| target.number).collect();
    if witness && all.len() > 1 && rng.chance(ALONE) {
        return rng.pick(&all).copied().into_iter().collect();
    }
    if all.len() > 2 && rng.chance(0.5) {
        let most = all.len() - 1;
        rng.shuffle(&mut all);
        all.truncate(rng.between(2, most));
        all.sort_unstable();
    }
    all
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;
    use std::time::Duration;

    use super::*;
    use crate::config::PolicyName;
    use crate::store::Counts;

    fn identity(seeds: bool) -> Identity {
        let seeds = if seeds { vec!["seeds".into()] } else { Vec::new() };
        let engines = ["seed", "generate", "diver", "fusion"].map(str::to_owned).to_vec();
        Identity { engines, seeds, auto: true, ..Identity::of_runs(Duration::from_secs(1), 1024, 3) }
    }

    fn pool(seeds: usize) -> SeedPool {
        let mut pool = SeedPool::default();
        for number in 0..seeds {
            let text = format!("(assert (> {number} 0))");
            pool.add(SeedText::new("seed", text), Counts::default(), false);
        }
        pool
    }

    #[test]
    fn the_same_counts_and_number_make_the_same_plan() {
        let (identity, engines, pool) = (identity(true), engines::all(), pool(9));
        let scheduler = Scheduler { identity: &identity, targets: &[], engines: &engines };
        let plans = |first| -> Vec<Plan> {
            (first..first + 50)
                .map(|round| scheduler.plan(round, &Learned::default(), &pool, &Culprits::default()))
                .collect()
        };
        assert_eq!(plans(0), plans(0));
        assert_ne!(plans(0), plans(50));
        let names: BTreeSet<String> = plans(0).into_iter().map(|plan| plan.engine).collect();
        assert!(!names.contains("seed"), "seeds as they are have rounds of their own");
        assert_eq!(names.len(), 3, "{names:?}");
        let fusion = plans(0).into_iter().find(|plan| plan.engine == "fusion").expect("a fusion");
        assert_eq!(fusion.seeds.len(), 2);
    }

    fn targets(specs: &[&str], references: usize) -> Vec<Target> {
        let tested = specs.len() - references;
        let numbered = Target::numbered(specs.iter().map(|spec| testkit::made_up(spec))).into_iter();
        numbered.map(|target| if target.number < tested { target } else { target.as_reference() }).collect()
    }

    #[test]
    fn where_a_witness_judges_half_of_the_rounds_are_for_one_solver_alone() {
        let (mut identity, engines, pool) = (identity(true), engines::all(), pool(3));
        identity.auto = false;
        let rounds = |engine: &str, specs: &[&str], references: usize| -> Vec<Vec<usize>> {
            let identity = Identity { engines: vec![engine.to_owned()], ..identity.clone() };
            let targets = targets(specs, references);
            let scheduler = Scheduler { identity: &identity, targets: &targets, engines: &engines };
            (0..200)
                .map(|round| scheduler.plan(round, &Learned::default(), &pool, &Culprits::default()).group)
                .collect()
        };
        let pair = ["z3@5.4.0", "cvc5@1.4.2"];
        let alone =
            |number: usize, groups: &[Vec<usize>]| groups.iter().filter(|group| **group == [number]).count();
        let groups = rounds("diver", &pair, 0);
        assert!(
            alone(0, &groups) > 30 && alone(1, &groups) > 30 && alone(0, &groups) + alone(1, &groups) < 130
        );
        assert!(
            rounds("fusion", &pair, 0).iter().all(|group| *group == [0, 1]),
            "two answers must be compared"
        );
        let with_reference = ["z3@4.8.7", "z3@5.4.0"];
        assert!(rounds("storm", &with_reference, 1).iter().all(|group| *group == [0]));
        assert!(rounds("fusion", &with_reference, 1).iter().all(|group| *group == [0, 1]));
    }

    #[test]
    fn engines_that_the_user_names_have_like_parts() {
        let (identity, engines, pool) = (identity(true), engines::all(), pool(9));
        let identity =
            Identity { auto: false, engines: ["storm", "diver"].map(str::to_owned).to_vec(), ..identity };
        let scheduler = Scheduler { identity: &identity, targets: &[], engines: &engines };
        let mut learned = Learned::default();
        for round in 0..200 {
            let engine = scheduler.plan(round, &learned, &pool, &Culprits::default()).engine;
            let tests = if engine == "storm" { 400 } else { 20 };
            learned.add(ENGINE, &engine, &Counts { rounds: 1, tests, ..Counts::default() });
        }
        let tests = |engine: &str| learned.get(ENGINE, engine).tests;
        assert!(tests("storm").abs_diff(tests("diver")) < 800, "{} {}", tests("storm"), tests("diver"));
    }

    #[test]
    fn a_quarter_of_the_rounds_have_a_tactic_where_all_solvers_have_them() {
        let (mut identity, engines, pool) = (identity(true), engines::all(), pool(3));
        identity.auto = false;
        identity.engines = vec!["fusion".to_owned()];
        let mut with_tactic = |specs: &[&str], options| {
            identity.options = options;
            let targets = targets(specs, 0);
            let scheduler = Scheduler { identity: &identity, targets: &targets, engines: &engines };
            let plans =
                (0..200).map(|round| scheduler.plan(round, &Learned::default(), &pool, &Culprits::default()));
            plans.filter(|plan| plan.tactic.is_some()).count()
        };
        let both = with_tactic(&["z3@4.8.7", "z3@5.4.0"], PolicyName::Default);
        assert!((30..70).contains(&both), "{both}");
        assert_eq!(with_tactic(&["z3@4.8.7", "z3@5.4.0"], PolicyName::None), 0);
        assert_eq!(with_tactic(&["z3@5.4.0", "cvc5@1.4.2"], PolicyName::Default), 0);
        assert_eq!(engines::parse("storm", &engines::Tuning::default()).expect("an engine").tactics(), 0.5);
    }

    #[test]
    fn a_tactic_fits_the_logic_of_the_seed() {
        let (mut identity, engines) = (identity(true), engines::all());
        (identity.auto, identity.engines) = (false, vec!["storm".to_owned()]);
        identity.options = PolicyName::Default;
        let targets = targets(&["z3@5.4.0"], 0);
        let of = |logic: &str| -> Vec<String> {
            let mut pool = SeedPool::default();
            pool.add(SeedText::new("seed", format!("(set-logic {logic})")), Counts::default(), false);
            let scheduler = Scheduler { identity: &identity, targets: &targets, engines: &engines };
            let plans =
                (0..400).map(|round| scheduler.plan(round, &Learned::default(), &pool, &Culprits::default()));
            plans.filter_map(|plan| plan.tactic).collect()
        };
        let with = |word: &str, tactics: &[String]| tactics.iter().filter(|t| t.contains(word)).count();
        let (reals, bits) = (of("QF_NRA"), of("QF_BV"));
        assert!((150..250).contains(&reals.len()), "half of STORM's rounds: {}", reals.len());
        assert!(with("qfnra-nlsat", &reals) > 20 && with("qfbv", &reals) == 0);
        assert!(with("qfbv", &bits) > 10 && with("nlsat", &bits) == 0);
    }

    #[test]
    fn most_rounds_do_without_what_known_bugs_are_blamed_on() {
        let (identity, engines) = (identity(true), engines::all());
        let mut pool = pool(3);
        pool.add(SeedText::new("broken", "(assert (str.< a b))"), Counts::default(), false);
        let targets = targets(&["z3@4.8.7", "z3@5.4.0"], 1);
        let scheduler = Scheduler { identity: &identity, targets: &targets, engines: &engines };
        let mut culprits = Culprits::default();
        culprits.blame_operator("str.<", "z3@4.8.7");
        let plans: Vec<Plan> =
            (0..300).map(|round| scheduler.plan(round, &Learned::default(), &pool, &culprits)).collect();
        let broken = |plan: &Plan| {
            let has_it =
                |seed: &PlannedSeed| matches!(seed, PlannedSeed::Text(seed) if seed.name == "broken");
            plan.seeds.iter().any(has_it)
        };
        let (without, with): (Vec<&Plan>, Vec<&Plan>) =
            plans.iter().partition(|plan| plan.without == ["str.<"]);
        assert!(without.len() > 220 && with.len() > 20, "{} {}", without.len(), with.len());
        let share =
            |plans: &[&Plan]| plans.iter().filter(|plan| broken(plan)).count() as f64 / plans.len() as f64;
        assert!(share(&without) < 0.1 && share(&with) > 0.1, "{} {}", share(&without), share(&with));
    }

    #[test]
    fn given_seeds_are_used_and_none_is_generated_beside_them() {
        let engines = engines::all();
        for given in [true, false] {
            let (identity, pool) = (identity(given), pool(3));
            let scheduler = Scheduler { identity: &identity, targets: &[], engines: &engines };
            let plans =
                (0..100).map(|round| scheduler.plan(round, &Learned::default(), &pool, &Culprits::default()));
            let generated = plans.filter(|plan| plan.seeds.contains(&PlannedSeed::Generated)).count();
            assert_eq!(generated == 0, given, "{generated}");
        }
    }

    #[test]
    fn every_seed_is_tried_once_and_other_rounds_come_between() {
        let (identity, engines) = (identity(true), engines::all());
        let scheduler = Scheduler { identity: &identity, targets: &[], engines: &engines };
        let mut left: Vec<SeedText> = (0..40).map(|n| SeedText::new("s", format!("{n}"))).collect();
        let mut trials = 0;
        for round in 0..62 {
            let trial = scheduler.trial(round, || left.pop());
            trials += usize::from(trial.is_some());
            assert!(round != 30 || trial.is_none());
        }
        assert_eq!(trials, 40);
    }
}
