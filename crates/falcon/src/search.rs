//! The genetic search for option values: algorithm 3 of the paper.

use std::collections::BTreeSet;
use std::sync::{Mutex, PoisonError};

use generate::Rng;
use serde::{Deserialize, Serialize};
use smtlib::Setting;

use crate::space::{Mutation, Space, Vector};

/// Parameters of the search. The paper gives the last two; the others are ours.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Parameters {
    /// Vectors of the first generation.
    pub population: usize,
    /// Vectors that have children: the paper's n. Each two of them have two.
    pub survivors: usize,
    /// Options that a vector of the first generation changes, in the mean.
    pub changed: f64,
    /// The largest step of an integer.
    pub delta: u32,
    /// The index of the polynomial mutation.
    pub index: f64,
    /// The search ends after so many generations in a row without anything new.
    pub stagnant: u32,
    /// The search ends after so many vectors.
    pub offspring: usize,
    /// Only these two end it, as in the paper, and every formula has a search; else a search lasts as long as it keeps up with
    /// new formulas.
    pub paper: bool,
}

/// Attempts to make a vector that has not run yet.
const TRIES: usize = 10;

impl Default for Parameters {
    fn default() -> Parameters {
        Parameters {
            population: 6,
            survivors: 3,
            changed: 4.0,
            delta: 8,
            index: 20.0,
            stagnant: 10,
            offspring: 100,
            paper: false,
        }
    }
}

/// One search: a generation at a time is proposed, run and judged.
#[derive(Clone, Debug)]
pub struct Search {
    space: Space,
    parameters: Parameters,
    /// Those that are to be run now, and their fitness once it is known.
    generation: Vec<(Vector, Option<f64>)>,
    /// The best so far. They keep the fitness of their first run: what they reached is not new a second time.
    survivors: Vec<(Vector, f64)>,
    /// All that were ever proposed: what runs again shows the same again.
    tried: BTreeSet<Vector>,
    made: usize,
    stagnant: u32,
    /// Each generation is drawn, whatever came of the one before.
    by_chance: bool,
}

impl Search {
    /// The same number of vectors without a search: each generation is drawn at random (Falcon-Learn).
    pub fn by_chance(space: Space, parameters: &Parameters, rng: &mut Rng) -> Search {
        Search { by_chance: true, ..Search::new(space, parameters, &[], rng) }
    }

    /// Begins with remembered vectors, as far as they are of this space, for up to half of the first generation.
    pub fn new(space: Space, parameters: &Parameters, remembered: &[Vec<Setting>], rng: &mut Rng) -> Search {
        let mut search = Search {
            space,
            parameters: parameters.clone(),
            generation: Vec::new(),
            survivors: Vec::new(),
            tried: BTreeSet::new(),
            made: 0,
            stagnant: 0,
            by_chance: false,
        };
        if !search.space.is_empty() {
            let known = remembered.iter().filter_map(|settings| search.space.vector(settings, rng));
            let mut first: Vec<Vector> = known.take(parameters.population / 2).collect();
            while first.len() < parameters.population.max(1) {
                first.push(search.random(rng));
            }
            // A search that ends early has tried some of both kinds.
            rng.shuffle(&mut first);
            search.propose(first, rng);
        }
        search
    }

    fn random(&self, rng: &mut Rng) -> Vector {
        self.space.random(self.parameters.changed, rng)
    }

    fn mutation(&self) -> Mutation {
        Mutation { delta: self.parameters.delta, index: self.parameters.index }
    }

    /// The next generation: these, where they are new; what was tried before and the default mutate until they are. None is
    /// left once the space is small and all of it tried.
    fn propose(&mut self, vectors: Vec<Vector>, rng: &mut Rng) {
        for mut vector in vectors {
            if self.made >= self.parameters.offspring {
                break;
            }
            for attempt in 0..TRIES {
                if !vector.is_default() && self.tried.insert(vector.clone()) {
                    self.made += 1;
                    self.generation.push((vector, None));
                    break;
                }
                vector = match attempt < TRIES / 2 {
                    true => self.space.mutate(&vector, &self.mutation(), rng),
                    false => self.random(rng),
                };
            }
        }
    }

    /// The settings of the generation that is to be run.
    pub fn proposed(&self) -> Vec<Vec<Setting>> {
        self.generation.iter().map(|(vector, _)| self.space.settings(vector)).collect()
    }

    /// Tells the fitness of a configuration that was proposed: how much code it has reached. Less than 0 if the solver refused
    /// it.
    pub fn record(&mut self, settings: &[Setting], fitness: f64) {
        let space = &self.space;
        let of = |(vector, fitness): &&mut (Vector, Option<f64>)| {
            fitness.is_none() && space.settings(vector) == settings
        };
        if let Some((_, known)) = self.generation.iter_mut().find(of) {
            *known = Some(fitness);
        }
    }

    /// Ends the generation: the best have children. `news` tells whether it has reached anything new.
    pub fn advance(&mut self, news: bool, rng: &mut Rng) {
        self.stagnant = if news { 0 } else { self.stagnant + 1 };
        let judged = std::mem::take(&mut self.generation).into_iter();
        self.survivors.extend(judged.filter_map(|(vector, fitness)| Some((vector, fitness?))));
        self.survivors.retain(|(_, fitness)| *fitness >= 0.0);
        // Most have reached as little as others: among these chance decides, not the order of options.
        rng.shuffle(&mut self.survivors);
        self.survivors.sort_by(|(_, one), (_, other)| other.total_cmp(one));
        self.survivors.truncate(self.parameters.survivors.max(1));
        let mutation = self.mutation();
        let mut children: Vec<Vector> = Vec::new();
        let parents: &[(Vector, f64)] = if self.by_chance { &[] } else { &self.survivors };
        for (place, (u, _)) in parents.iter().enumerate() {
            for (v, _) in &parents[place + 1..] {
                let pair = self.space.cross(u, v, rng);
                children.extend(pair.iter().map(|child| self.space.mutate(child, &mutation, rng)));
            }
        }
        if self.by_chance && !self.space.is_empty() {
            children.extend((0..self.parameters.population.max(1)).map(|_| self.random(rng)));
        } else if children.is_empty() && !self.space.is_empty() {
            // Nobody to have children with: everything was refused, or only one vector is left.
            children.extend(parents.first().map(|(only, _)| self.space.mutate(only, &mutation, rng)));
            children.push(self.random(rng));
        }
        self.propose(children, rng);
    }

    /// Nothing new for long, or enough vectors tried.
    pub fn is_over(&self) -> bool {
        self.stagnant >= self.parameters.stagnant || self.generation.is_empty()
    }

    /// The best so far and those of the generation that have run, with their fitness.
    pub fn best(&self) -> impl Iterator<Item = (Vec<Setting>, f64)> {
        let judged = self.generation.iter().filter_map(|(vector, fitness)| Some((vector, (*fitness)?)));
        let survivors = self.survivors.iter().map(|(vector, fitness)| (vector, *fitness));
        survivors.chain(judged).map(|(vector, fitness)| (self.space.settings(vector), fitness))
    }
}

/// Good configurations, remembered across formulas. All workers share one.
#[derive(Debug, Default)]
pub struct Memory(Mutex<Vec<(Vec<Setting>, f64)>>);

/// How many are remembered.
const REMEMBERED: usize = 64;

impl Memory {
    /// Remembers what has reached something. What is remembered fades: a formula reaches less new code than the one before.
    pub fn remember(&self, good: impl IntoIterator<Item = (Vec<Setting>, f64)>) {
        let mut known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        known.iter_mut().for_each(|(_, fitness)| *fitness *= 0.99);
        for (settings, fitness) in good {
            if fitness <= 0.0 || settings.is_empty() {
                continue;
            }
            match known.iter_mut().find(|(other, _)| *other == settings) {
                Some((_, value)) => *value = value.max(fitness),
                None => known.push((settings, fitness)),
            }
        }
        known.sort_by(|(a, one), (b, other)| other.total_cmp(one).then_with(|| a.cmp(b)));
        known.truncate(REMEMBERED);
    }

    /// Some of them, the best more probably.
    pub fn some(&self, count: usize, rng: &mut Rng) -> Vec<Vec<Setting>> {
        let known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let mut place = || {
            let bound = rng.below(known.len()) + 1;
            rng.below(bound)
        };
        let mut places: Vec<usize> = (0..count).map(|_| place()).collect();
        places.sort_unstable();
        places.dedup();
        places
            .into_iter()
            .filter_map(|place| known.get(place))
            .map(|(settings, _)| settings.clone())
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::space::FairRules;
    use solver::options::{OptionKind, SolverOption};

    fn space(count: usize) -> Space {
        let options: Vec<SolverOption> = (0..count)
            .map(|number| SolverOption {
                name: format!("o{number:02}"),
                kind: OptionKind::Bool,
                default: Some("false".to_owned()),
                category: "smt".to_owned(),
                description: String::new(),
                excluded: None,
                unfair: None,
            })
            .collect();
        Space::new(&options, FairRules::default())
    }

    /// Generations until the end, with a fitness for settings.
    fn run(search: &mut Search, rng: &mut Rng, fitness: impl Fn(&[Setting]) -> f64) -> (usize, f64) {
        let (mut generations, mut best) = (0, 0.0);
        while !search.is_over() {
            generations += 1;
            let mut news = false;
            for settings in search.proposed() {
                let value = fitness(&settings);
                news |= value > best;
                best = f64::max(best, value);
                search.record(&settings, value);
            }
            search.advance(news, rng);
        }
        (generations, best)
    }

    #[test]
    fn a_search_ends_after_ten_stagnant_generations_or_a_hundred_vectors() {
        let mut rng = generate::rng::stream(1, 1);
        let mut dull = Search::new(space(20), &Parameters::default(), &[], &mut rng);
        assert_eq!(run(&mut dull, &mut rng, |_| 0.0).0, 10);
        let mut busy = Search::new(space(20), &Parameters::default(), &[], &mut rng);
        let counter = std::cell::Cell::new(0);
        run(&mut busy, &mut rng, |_| {
            counter.set(counter.get() + 1);
            f64::from(counter.get())
        });
        assert_eq!(counter.get(), 100);
        let mut nothing = Search::new(Space::default(), &Parameters::default(), &[], &mut rng);
        assert!(nothing.is_over() && nothing.proposed().is_empty());
        nothing.advance(false, &mut rng);
        assert!(nothing.is_over());
    }

    #[test]
    fn no_vector_runs_twice_and_none_is_the_default() {
        for number in 0..20 {
            let mut rng = generate::rng::stream(5, number);
            let mut search = Search::new(space(4), &Parameters::default(), &[], &mut rng);
            let mut seen = BTreeSet::new();
            while !search.is_over() {
                for settings in search.proposed() {
                    assert!(!settings.is_empty() && seen.insert(settings.clone()), "{settings:?} again");
                    search.record(&settings, 0.0);
                }
                search.advance(false, &mut rng);
            }
            assert!(seen.len() > 10, "of 15 that there are: {}", seen.len());
        }
    }

    #[test]
    fn chance_decides_between_vectors_that_reach_the_same() {
        let mut kept = BTreeSet::new();
        for number in 0..30 {
            let mut rng = generate::rng::stream(6, 6);
            let mut search = Search::new(space(6), &Parameters::default(), &[], &mut rng);
            let first = search.proposed();
            first.iter().for_each(|settings| search.record(settings, 1.0));
            search.advance(true, &mut generate::rng::stream(7, number));
            let best: Vec<_> = search.best().map(|(settings, _)| settings).collect();
            kept.extend(best.iter().filter_map(|one| first.iter().position(|other| other == one)));
        }
        assert_eq!(kept.len(), 6, "each of the six survives now and then: {kept:?}");
    }

    #[test]
    fn the_search_climbs_where_chance_does_not() {
        // Fitness: how many of the first eight options are set and of the others are not.
        let fitness = |settings: &[Setting]| {
            let good = settings.iter().filter(|setting| setting.option.as_str() < "o08").count();
            (good + 12 - (settings.len() - good)) as f64
        };
        let parameters = Parameters { stagnant: 100, ..Parameters::default() };
        let (mut climbed, mut drawn) = (0.0, 0.0);
        for number in 0..20 {
            let mut rng = generate::rng::stream(2, number);
            let mut search = Search::new(space(20), &parameters, &[], &mut rng);
            climbed += run(&mut search, &mut rng, fitness).1;
            let all = space(20);
            let random = (0..100).map(|_| fitness(&all.settings(&all.random(parameters.changed, &mut rng))));
            drawn += random.fold(0.0, f64::max);
        }
        assert!(climbed > drawn + 10.0, "{climbed} by search, {drawn} by chance");
    }

    #[test]
    fn refused_vectors_have_no_children_and_survivors_keep_their_first_value() {
        let mut rng = generate::rng::stream(3, 3);
        let mut search = Search::new(space(6), &Parameters::default(), &[], &mut rng);
        let first = search.proposed();
        for settings in &first {
            search.record(settings, if *settings == first[0] { 5.0 } else { -1.0 });
        }
        search.advance(true, &mut rng);
        assert_eq!(search.best().collect::<Vec<_>>(), [(first[0].clone(), 5.0)]);
        for settings in search.proposed() {
            search.record(&settings, 0.0);
        }
        search.advance(false, &mut rng);
        assert_eq!(search.best().next(), Some((first[0].clone(), 5.0)));
        assert_eq!(search.best().filter(|(settings, _)| *settings == first[0]).count(), 1);
    }

    #[test]
    fn good_vectors_are_tried_on_the_next_formula() {
        let memory = Memory::default();
        let good = vec![Setting::new("o01", "true"), Setting::new("o02", "true")];
        memory.remember([(good.clone(), 9.0), (vec![Setting::new("o03", "true")], 0.0)]);
        let mut rng = generate::rng::stream(4, 4);
        assert_eq!(
            memory.some(3, &mut rng),
            std::slice::from_ref(&good),
            "what reached nothing is forgotten"
        );
        let search = Search::new(space(6), &Parameters::default(), std::slice::from_ref(&good), &mut rng);
        assert!(search.proposed().contains(&good));
        let other = Search::new(space(2), &Parameters::default(), &[good], &mut rng);
        assert!(other.proposed().contains(&vec![Setting::new("o01", "true")]), "as far as it is relevant");
    }
}
