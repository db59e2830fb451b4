//! One mutant (the paper's algorithm 3): a place by its score, random terms for it, the first that the model accepts.

use eval::World;
use generate::{Grammar, Scope};
use smtlib::{Head, Op, Sort, Store, Term};

use super::complicate::complicate;
use super::constraint::Constraint;
use super::places::Places;
use super::rules::Ground;
use super::{Diver, Formula};
use crate::engine::Bench;

/// Levels of a random term.
const DEPTH: usize = 4;

/// What became of random terms.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Tally {
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
    pub scope: Scope,
}

impl Workpiece {
    /// A mutant and what was changed, or `None` if the place drawn does not yield one.
    pub fn mutate(
        &mut self,
        config: &Diver,
        grammar: &Grammar,
        bench: &mut Bench<'_>,
        world: &mut World,
        tally: &mut Tally,
    ) -> Option<(Formula, Vec<String>)> {
        let chosen = self.places.choose(bench.rng)?;
        tally.places += 1;
        if let Some((parent, child)) = self.places.parent(chosen)
            && !grammar.may_replace(bench.store, parent, child)
        {
            return None;
        }
        let mut path = Vec::new();
        let assertion = self.places.path(chosen, &mut path);
        let root = self.formula.assertions[assertion];
        let bound = self.places.bound(bench.store, root, chosen, &path);
        for var in &bound {
            self.scope.bind(bench.store, *var);
        }
        let accepted = self.search(config, grammar, bench, world, tally, chosen, root, &path);
        for _ in &bound {
            self.scope.unbind(bench.store);
        }
        let (new, new_root) = accepted?;
        let mut formula = self.formula.clone();
        let change = format!("{} at {path:?} of assertion {assertion}", head_name(bench.store, new));
        let mut changes = vec![change];
        formula.assertions[assertion] = new_root;
        if bench.rng.chance(config.complicate)
            && let Some(change) = complicate(grammar, bench, world, &mut formula, assertion, &path, new)
        {
            tally.complicated += 1;
            changes.push(change);
        }
        Some((formula, changes))
    }

    #[allow(clippy::too_many_arguments)]
    fn search(
        &mut self,
        config: &Diver,
        grammar: &Grammar,
        bench: &mut Bench<'_>,
        world: &mut World,
        tally: &mut Tally,
        chosen: usize,
        root: Term,
        path: &[u32],
    ) -> Option<(Term, Term)> {
        let place = self.places.get(chosen);
        let sort = bench.store.sort_of(place.term);
        for _ in 0..config.tries.max(1) {
            let depth = bench.rng.between(0, DEPTH);
            let new = grammar.term(bench.store, bench.rng, sort, &mut self.scope, depth)?;
            if new == place.term {
                continue;
            }
            tally.tried += 1;
            let verdict = judge(bench.store, world, &place.allowed.set, place.allowed.complete, place.ground, new);
            if verdict == Verdict::Reject {
                tally.rejected_early += 1;
                continue;
            }
            let new_root = bench.store.replace_at(root, path, new).ok()?;
            if verdict == Verdict::Evaluate && world.holds(bench.store, new_root) != Ok(true) {
                continue;
            }
            tally.by_analysis += u64::from(verdict == Verdict::Accept);
            tally.accepted += 1;
            return Some((new, new_root));
        }
        None
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Verdict {
    Accept,
    Reject,
    /// Only the whole formula can tell.
    Evaluate,
}

/// What the pre-analysis says about a term at a place. A term without a decided value is rejected: a formula must not
/// hang on a case that the standard leaves open.
fn judge(store: &Store, world: &mut World, set: &Constraint, complete: bool, ground: Ground, new: Term) -> Verdict {
    if ground == Ground::Inside && (store.mentions_vars(new) || store.sort_of(new) != Sort::BOOL) {
        return if *set == Constraint::Any { Verdict::Accept } else { Verdict::Evaluate };
    }
    if store.sort_of(new) == Sort::REGLAN {
        return Verdict::Evaluate;
    }
    match world.evaluate(store, new) {
        Err(_) => Verdict::Reject,
        Ok(value) => match set.contains(&value) {
            Some(true) => Verdict::Accept,
            Some(false) if complete => Verdict::Reject,
            _ => Verdict::Evaluate,
        },
    }
}

fn head_name(store: &Store, term: Term) -> String {
    match store.head(term) {
        Head::Op(op @ (Op::True | Op::False), _) => op.name().to_owned(),
        Head::Op(op, _) => op.name().to_owned(),
        Head::Fun(fun) => store.name(store.fun(fun).name).to_owned(),
        Head::Var(var) => store.name(store.var_name(var)).to_owned(),
        Head::Bind(binder, _) => binder.name().to_owned(),
        Head::Literal(_) => "constant".to_owned(),
        _ => "term".to_owned(),
    }
}
