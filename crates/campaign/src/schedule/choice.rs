//! Choices from counts: which engine, seed or logic comes next.
//!
//! Rewards come as a Poisson process with an unknown rate per CPU second, whose conjugate prior is the gamma
//! distribution. Drawing one rate for each choice from its posterior and taking the largest explores what is little
//! known and prefers what pays (Thompson sampling).

use generate::Rng;
use generate::bandit::{Agent as _, Arm, Exploring, ThompsonGamma};

use crate::store::{Counts, ENGINE, Learned};

/// A new bug is worth as much as this many new behaviours, which early test cases show by the dozen.
const BUG: f64 = 100.0;

/// Once there are bugs, all new behaviours together are worth at most this share of what they are: a campaign that watches
/// code sees thousands, and would go where there is new code and no bugs.
const BEHAVIOURS: f64 = 0.25;

/// Share of the choices that are made at random, so that nothing is given up for good.
const AT_RANDOM: f64 = 0.2;

/// Share of the choices of an engine that are among those with few rounds, as long as there are some: with a dozen engines
/// and compositions the first that are lucky would keep the others from their start.
const STARTING: f64 = 0.5;

/// Rounds after which it is known how long those of a choice take.
const KNOWN: u64 = 3;

/// Shorter rounds than this, in seconds, are as good as this long.
const SHORT: f64 = 0.05;

/// Draws at most until a choice is taken.
const REDRAWS: usize = 64;

/// What a new behaviour is worth, beside a bug, and how much of both there is.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Worth {
    behaviour: f64,
    /// CPU seconds between two bugs, if there are any.
    between: Option<f64>,
}

impl Default for Worth {
    fn default() -> Worth {
        Worth { behaviour: 1.0, between: None }
    }
}

impl Worth {
    /// By what all choices of a kind have brought.
    pub fn of(learned: &Learned, kind: &str) -> Worth {
        let mut all = Counts::default();
        learned.of_kind(kind).for_each(|(_, counts)| all.add(counts));
        if all.findings == 0 {
            return Worth::default();
        }
        let bugs = all.findings as f64;
        let behaviour = (BEHAVIOURS * BUG * bugs / all.novel.max(1) as f64).min(1.0);
        Worth { behaviour, between: Some(all.cpu as f64 / 1e6 / bugs) }
    }

    fn arm(self, counts: &Counts) -> Arm {
        let reward = counts.findings as f64 * BUG + counts.novel as f64 * self.behaviour;
        Arm { tries: counts.rounds, reward, cost: counts.cpu as f64 / 1e6 }
    }

    /// A rate of rewards per CPU second, drawn from what is known; `prior` is the CPU seconds after which one reward is
    /// expected of a choice not tried yet.
    pub fn draw(self, counts: &Counts, rng: &mut Rng, prior: f64) -> f64 {
        ThompsonGamma { reward: 1.0, cost: prior }.draw(&self.arm(counts), rng)
    }
}

/// CPU seconds of a usual round, where there have been some with test cases.
fn round_length(counts: &Counts) -> Option<f64> {
    let length = counts.cpu as f64 / 1e6 / counts.rounds.max(1) as f64;
    (counts.rounds >= KNOWN && counts.tests > 0).then_some(length.max(SHORT))
}

/// One of the names, by Thompson sampling; now and then at random. Where there are bugs, rates are of bugs: each counts as
/// one event, so that a name is not given up before it has had the time in which others find one.
pub fn choose<'a>(rng: &mut Rng, names: &'a [String], kind: &str, learned: &Learned) -> Option<&'a String> {
    if kind == ENGINE {
        let few = |name: &&String| learned.get(kind, name).rounds < KNOWN;
        let starting: Vec<&String> = names.iter().filter(few).collect();
        if !starting.is_empty() && starting.len() < names.len() && rng.chance(STARTING) {
            return rng.pick(&starting).copied();
        }
    }
    let worth = Worth::of(learned, kind);
    let (unit, cost) = worth.between.map_or((1.0, 1.0), |between| (BUG, between.max(1.0)));
    let arm = |name: &String| {
        let arm = worth.arm(&learned.get(kind, name));
        Arm { reward: arm.reward / unit, ..arm }
    };
    let arms: Vec<Arm> = names.iter().map(arm).collect();
    let agent = Exploring { share: AT_RANDOM, agent: ThompsonGamma { reward: 1.0, cost } };
    let mut chosen = agent.choose(&arms, rng)?;
    // Rounds of one choice may last ten times as long as those of another. What is drawn is a share of the CPU time, so the
    // longer its rounds are, the fewer of them a choice gets.
    let known: Vec<Counts> = names.iter().map(|name| learned.get(kind, name)).collect();
    let lengths: Vec<Option<f64>> = known.iter().map(round_length).collect();
    let shortest = lengths.iter().flatten().copied().fold(f64::INFINITY, f64::min);
    let all = known.iter().fold(Counts::default(), |mut all, counts| {
        all.add(counts);
        all
    });
    // One whose rounds come to nothing is taken for a usual one: its rounds cost nothing, and are worth nothing.
    let usual = round_length(&all).unwrap_or(shortest);
    for _ in 0..REDRAWS {
        let tried = known[chosen].rounds >= KNOWN;
        let own = lengths[chosen].unwrap_or(if tried { usual } else { shortest });
        if !shortest.is_finite() || rng.chance(shortest / own) {
            break;
        }
        chosen = agent.choose(&arms, rng)?;
    }
    names.get(chosen)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;

    #[test]
    fn what_pays_is_chosen_more_often_and_nothing_is_given_up() {
        let names = ["rich".to_owned(), "poor".to_owned(), "new".to_owned()];
        let tried = |findings| Counts { rounds: 50, tests: 5000, cpu: 100_000_000, findings, novel: 10 };
        let mut learned = Learned::default();
        learned.add(ENGINE, "rich", &tried(20));
        learned.add(ENGINE, "poor", &tried(0));
        let mut rng = generate::rng::stream(3, 2);
        let mut chosen: BTreeMap<&str, u32> = BTreeMap::new();
        for _ in 0..2000 {
            *chosen.entry(choose(&mut rng, &names, ENGINE, &learned).expect("a name")).or_default() += 1;
        }
        assert!(chosen["rich"] > 2 * chosen["poor"], "{chosen:?}");
        assert!(chosen["poor"] > 20 && chosen["new"] > 20, "{chosen:?}");
    }

    #[test]
    fn every_engine_and_composition_has_its_rounds_in_the_beginning() {
        let list = "auto,storm+values,diver+values,typefuzz+values";
        let engines = engines::parse_list(list, &engines::Tuning::default()).expect("all of them");
        let names: Vec<String> = engines.iter().map(|engine| engine.name().to_owned()).collect();
        let mut learned = Learned::default();
        let mut rng = generate::rng::stream(3, 2);
        for _ in 0..200 {
            let name = choose(&mut rng, &names, ENGINE, &learned).expect("a name").clone();
            // What is found depends on the engine; all find new behaviour at first.
            let novel = 2 + name.len() as u64;
            let round = Counts { rounds: 1, tests: 30, cpu: 3_000_000, findings: 0, novel };
            learned.add(ENGINE, &name, &round);
        }
        for name in &names {
            assert!(learned.get(ENGINE, name).rounds >= 3, "{name}: {:?}", learned.get(ENGINE, name));
        }
    }

    #[test]
    fn choices_get_shares_of_the_time_and_not_of_the_rounds() {
        let names = ["long".to_owned(), "short".to_owned()];
        let mut learned = Learned::default();
        let brought = |rounds| Counts { rounds, tests: 5000, cpu: 100_000_000, findings: 5, novel: 10 };
        learned.add(ENGINE, "long", &brought(50));
        learned.add(ENGINE, "short", &brought(500));
        let mut rng = generate::rng::stream(3, 2);
        let short =
            (0..2000).filter(|_| choose(&mut rng, &names, ENGINE, &learned) == Some(&names[1])).count();
        assert!((1700..1900).contains(&short), "{short}: ten short ones for each long one");
    }

    #[test]
    fn engines_that_decline_at_once_do_not_keep_the_others_from_their_rounds() {
        let names = ["declines".to_owned(), "works".to_owned()];
        let mut learned = Learned::default();
        let works = Counts { rounds: 60, tests: 900, cpu: 60_000_000, findings: 1, novel: 10 };
        learned.add(ENGINE, "works", &works);
        learned.add(ENGINE, "declines", &Counts { rounds: 5, cpu: 2_500, ..Counts::default() });
        let mut rng = generate::rng::stream(3, 2);
        let works =
            (0..1000).filter(|_| choose(&mut rng, &names, ENGINE, &learned) == Some(&names[1])).count();
        assert!(works > 300, "{works}");
    }

    #[test]
    fn new_code_does_not_lead_away_from_bugs() {
        let names = ["busy".to_owned(), "right".to_owned()];
        let brought = |findings, novel| Counts { rounds: 50, tests: 5000, cpu: 100_000_000, findings, novel };
        let share = |bugs: u64| {
            let mut learned = Learned::default();
            learned.add(ENGINE, "busy", &brought(0, 1000));
            learned.add(ENGINE, "right", &brought(bugs, 100));
            let mut rng = generate::rng::stream(3, 2);
            (0..1000).filter(|_| choose(&mut rng, &names, ENGINE, &learned) == Some(&names[1])).count()
        };
        assert!(share(8) > 800, "{}", share(8));
        assert!(share(0) < 200, "{}: where there are no bugs, new code leads", share(0));
    }

    #[test]
    fn an_engine_is_not_given_up_before_it_had_the_time_in_which_others_find_a_bug() {
        let names = ["lucky".to_owned(), "little tried".to_owned(), "barren".to_owned()];
        let tried =
            |cpu: u64, findings| Counts { rounds: 5, tests: 500, cpu: cpu * 1_000_000, findings, novel: 0 };
        let mut learned = Learned::default();
        learned.add(ENGINE, "lucky", &tried(100, 2));
        learned.add(ENGINE, "little tried", &tried(6, 0));
        learned.add(ENGINE, "barren", &tried(300, 0));
        let mut rng = generate::rng::stream(3, 2);
        let mut chosen: BTreeMap<&str, u32> = BTreeMap::new();
        for _ in 0..1000 {
            *chosen.entry(choose(&mut rng, &names, ENGINE, &learned).expect("a name")).or_default() += 1;
        }
        assert!(chosen["little tried"] > 150 && chosen["barren"] < chosen["little tried"], "{chosen:?}");
    }
}
