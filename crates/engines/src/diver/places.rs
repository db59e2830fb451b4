//! Pre-analysis (the paper's algorithm 2): every place of a formula with its constraint, and the choice among them.

use eval::EvaluatedModel;
use generate::Rng;
use smtlib::{Head, Sort, SortKind, Store, Term, Var};

use super::constraint::{Constraint, Stated};
use super::rules::{self, Ground};
use super::score::score;

/// Trees are cut off here: a term with much sharing may have exponentially many places.
const PLACES: usize = 20_000;

/// The score of a regular expression.
const LANGUAGE: f64 = 0.25;

/// A sub-term at one occurrence.
#[derive(Clone, Debug)]
pub struct Place {
    pub term: Term,
    /// What may stand here.
    pub allowed: Stated,
    pub ground: Ground,
    /// The place above; `None` for an assertion.
    pub parent: Option<u32>,
    /// Which argument of the place above, or which assertion.
    pub child: u32,
}

/// All places of some assertions, parents before children.
#[derive(Clone, Debug, Default)]
pub struct Places {
    places: Vec<Place>,
    /// Running totals of the scores.
    totals: Vec<f64>,
}

impl Places {
    /// Analyses assertions that are true under the model.
    pub fn analyse(
        store: &Store,
        evaluated: &mut EvaluatedModel,
        assertions: &[Term],
        uniform: bool,
    ) -> Places {
        let truth = Stated::complete(Constraint::Bool(true));
        let mut places: Vec<Place> = assertions
            .iter()
            .enumerate()
            .map(|(i, term)| Place {
                term: *term,
                allowed: truth.clone(),
                ground: Ground::Outside,
                parent: None,
                child: i as u32,
            })
            .collect();
        let mut stated = Vec::new();
        let mut next = 0;
        // Breadth first: what is cut off is deep.
        while next < places.len() && places.len() < PLACES {
            let Place { term, ref allowed, ground, .. } = places[next];
            let below = rules::arguments(store, evaluated, term, allowed, ground, &mut stated);
            let count = mutable_arguments(store, term);
            for (child, (arg, allowed)) in
                store.args(term).iter().zip(stated.drain(..)).take(count).enumerate()
            {
                places.push(Place {
                    term: *arg,
                    allowed,
                    ground: below,
                    parent: Some(next as u32),
                    child: child as u32,
                });
            }
            next += 1;
        }
        let mut total = 0.0;
        let totals = places
            .iter()
            .map(|place| {
                total += if !is_replaceable(store, place.term) {
                    0.0
                } else if uniform {
                    1.0
                } else if store.sort_of(place.term) == Sort::REGLAN {
                    // Sets of languages cannot be stated, yet most changes keep the words that matter.
                    LANGUAGE.max(score(&place.allowed.set))
                } else {
                    score(&place.allowed.set)
                };
                total
            })
            .collect();
        Places { places, totals }
    }

    /// A place, with probability proportional to its score.
    pub fn choose(&self, rng: &mut Rng) -> Option<usize> {
        rng.cumulative(&self.totals)
    }

    /// The probability with which a place is chosen.
    pub fn probability(&self, place: usize) -> f64 {
        let before = if place == 0 { 0.0 } else { self.totals[place - 1] };
        (self.totals[place] - before) / self.totals.last().copied().unwrap_or(1.0)
    }

    pub fn get(&self, place: usize) -> &Place {
        &self.places[place]
    }

    pub fn iter(&self) -> impl Iterator<Item = &Place> {
        self.places.iter()
    }

    pub fn len(&self) -> usize {
        self.places.len()
    }

    pub fn is_empty(&self) -> bool {
        self.places.is_empty()
    }

    /// The term above and the argument number, or `None` at an assertion.
    pub fn parent(&self, place: usize) -> Option<(Term, usize)> {
        let Place { parent, child, .. } = self.places[place];
        parent.map(|parent| (self.places[parent as usize].term, child as usize))
    }

    /// The assertion a place is in, and the way to it from there.
    pub fn path(&self, place: usize, path: &mut Vec<u32>) -> usize {
        path.clear();
        let mut here = &self.places[place];
        while let Some(parent) = here.parent {
            path.push(here.child);
            here = &self.places[parent as usize];
        }
        path.reverse();
        here.child as usize
    }

    /// Variables bound around a place, outermost first.
    pub fn bound(&self, store: &Store, assertion: Term, place: usize, path: &[u32]) -> Vec<Var> {
        match self.places[place].ground {
            Ground::Outside => Vec::new(),
            Ground::Inside => store.scope_at(assertion, path),
        }
    }
}

/// The terms inside attributes stay.
fn mutable_arguments(store: &Store, term: Term) -> usize {
    match store.head(term) {
        Head::Annotated(_) => 1,
        _ => store.args(term).len(),
    }
}

fn is_replaceable(store: &Store, term: Term) -> bool {
    let sort = store.sort_of(term);
    !store.is_opaque(term)
        && !store.is_opaque_sort(sort)
        && !matches!(store.sort_kind(sort), SortKind::Fun(..) | SortKind::Param(_))
}

/// The constraint at the end of a path, computed from the root alone.
pub fn constraint_at(store: &Store, evaluated: &mut EvaluatedModel, root: Term, path: &[u32]) -> Stated {
    let mut allowed = Stated::complete(Constraint::Bool(true));
    let mut ground = Ground::Outside;
    let mut here = root;
    let mut stated = Vec::new();
    for child in path {
        ground = rules::arguments(store, evaluated, here, &allowed, ground, &mut stated);
        let child = *child as usize;
        let (Some(next), Some(set)) = (store.args(here).get(child), stated.get(child)) else {
            return Stated::UNSTATED;
        };
        (here, allowed) = (*next, set.clone());
    }
    allowed
}
