//! One mutant (the paper's algorithm 3): a place by its score, random terms for it, the first that the model accepts.

use eval::EvaluatedModel;
use generate::{Grammar, Scope};
use smtlib::{Head, Sort, Store, Term};

use super::complicate::complicate;
use super::constraint::Constraint;
use super::places::{Place, Places};
use super::rules::Ground;
use super::{Diver, Formula};
use crate::engine::Bench;

/// Levels of a random term.
const DEPTH: usize = 4;
/// Share of variables and constants among random terms.
const LEAVES: f64 = 0.06;

/// What the rejected tries at one place may cost in evaluations of the whole assertion, in visits of nodes: about as much as a run
/// of the mutant. Only quantified formulas take that much; without the bound most of our own CPU time went into places
/// where nearly nothing is accepted.
const PATIENCE: u64 = 50_000;

/// What became of random terms.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct MutationCounts {
    /// Places chosen.
    pub places: u64,
    /// Random terms made.
    pub tried: u64,
    /// Terms that the model accepts.
    pub accepted: u64,
    /// Of these, by the pre-analysis alone.
    pub by_analysis: u64,
    /// Terms rejected by the pre-analysis alone.
    pub rejected_early: u64,
    pub complicated: u64,
}

/// A formula under work, with its analysis.
pub(super) struct Workpiece {
    pub formula: Formula,
    pub places: Places,
    /// Its size, shared nodes once.
    pub nodes: usize,
    pub scope: Scope,
}

/// What a mutation works with beside the formula.
pub(super) struct Tools<'a, 'b> {
    pub config: &'a Diver,
    pub grammar: &'a Grammar,
    pub bench: &'a mut Bench<'b>,
    pub evaluated: &'a mut EvaluatedModel,
    pub counts: &'a mut MutationCounts,
}

/// A mutant of a formula.
pub(super) struct Mutant {
    pub formula: Formula,
    /// The term that is new in it, and the one that stood there.
    pub new: Term,
    pub old: Term,
}

/// A place under work: the assertion it is in and the way to it.
struct Target {
    place: usize,
    root: Term,
    path: Vec<u32>,
}

impl Workpiece {
    /// A mutant, or `None` if the place drawn does not yield one.
    pub fn mutate(&mut self, tools: &mut Tools<'_, '_>) -> Option<Mutant> {
        let place = self.places.choose(tools.bench.rng)?;
        tools.counts.places += 1;
        if let Some((parent, child)) = self.places.parent(place)
            && !tools.grammar.may_replace(tools.bench.store, parent, child)
        {
            return None;
        }
        let mut path = Vec::new();
        let assertion = self.places.path(place, &mut path);
        let root = self.formula.assertions[assertion];
        let bound = self.places.bound(tools.bench.store, root, place, &path);
        for var in &bound {
            self.scope.bind(tools.bench.store, *var);
        }
        let target = Target { place, root, path };
        let accepted = self.search(tools, &target);
        for _ in &bound {
            self.scope.unbind(tools.bench.store);
        }
        let (new, new_root) = accepted?;
        let mut formula = self.formula.clone();
        let path = target.path;
        let change = format!("{} at {path:?} of assertion {assertion}", head_name(tools.bench.store, new));
        formula.change(assertion, &path, new_root, change);
        if tools.bench.rng.chance(tools.config.complicate)
            && let Some(more) =
                complicate(tools.grammar, tools.bench, tools.evaluated, &mut formula, assertion, &path, new)
        {
            tools.counts.complicated += 1;
            if let Some(change) = formula.changes.last_mut() {
                change.text = format!("{}, {more}", change.text);
            }
        }
        formula.grown += tools.bench.store.subterms(&[new]).len();
        Some(Mutant { formula, new, old: self.places.get(place).term })
    }

    /// The first random term that the model accepts at the place, with the assertion that has it.
    fn search(&mut self, tools: &mut Tools<'_, '_>, target: &Target) -> Option<(Term, Term)> {
        let Tools { config, grammar, bench, evaluated, counts } = tools;
        let place = self.places.get(target.place);
        let sort = bench.store.sort_of(place.term);
        let mut patience = PATIENCE;
        for _ in 0..config.tries.max(1) {
            let depth = if bench.rng.chance(LEAVES) { 0 } else { bench.rng.between(1, DEPTH) };
            let new = grammar.term(bench.store, bench.rng, sort, &mut self.scope, depth)?;
            if new == place.term {
                continue;
            }
            counts.tried += 1;
            let analysis = pre_analyse(bench.store, evaluated, place, new);
            if analysis == PreAnalysis::Reject {
                counts.rejected_early += 1;
                continue;
            }
            let new_root = bench.store.replace_at(target.root, &target.path, new).ok()?;
            if analysis == PreAnalysis::Evaluate && evaluated.holds(bench.store, new_root) != Ok(true) {
                patience = patience.saturating_sub(evaluated.steps_taken());
                if patience == 0 {
                    return None;
                }
                continue;
            }
            counts.by_analysis += u64::from(analysis == PreAnalysis::Accept);
            counts.accepted += 1;
            return Some((new, new_root));
        }
        None
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum PreAnalysis {
    Accept,
    Reject,
    /// Only the whole formula can tell.
    Evaluate,
}

/// What the pre-analysis says about a term at a place. A term without a decided value is rejected: a formula must not
/// hang on a case that the standard leaves open.
fn pre_analyse(store: &Store, evaluated: &mut EvaluatedModel, place: &Place, new: Term) -> PreAnalysis {
    let set = &place.allowed.set;
    if place.ground == Ground::Inside && (store.mentions_vars(new) || store.sort_of(new) != Sort::BOOL) {
        return if *set == Constraint::Any { PreAnalysis::Accept } else { PreAnalysis::Evaluate };
    }
    if store.sort_of(new) == Sort::REGLAN {
        return PreAnalysis::Evaluate;
    }
    match evaluated.evaluate(store, new) {
        Err(_) => PreAnalysis::Reject,
        Ok(value) => match set.contains(&value) {
            Some(true) => PreAnalysis::Accept,
            Some(false) if place.allowed.complete => PreAnalysis::Reject,
            _ => PreAnalysis::Evaluate,
        },
    }
}

fn head_name(store: &Store, term: Term) -> String {
    match store.head(term) {
        Head::Op(op, _) => op.name().to_owned(),
        Head::Fun(fun) => store.name(store.fun(fun).name).to_owned(),
        Head::Var(var) => store.name(store.var_name(var)).to_owned(),
        Head::Bind(binder, _) => binder.name().to_owned(),
        Head::Literal(_) => "constant".to_owned(),
        _ => "term".to_owned(),
    }
}
