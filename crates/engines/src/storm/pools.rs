//! The initial pool of fragments and the construction pool built from it (the paper's algorithm 1).

use eval::EvaluatedModel;
use generate::{Config as GrammarConfig, Grammar, Rng, Scope};
use rustc_hash::FxHashMap;
use smtlib::{Head, Op, Sort, Store, Term};

use super::Storm;
use crate::engine::Bench;
use crate::skeleton::Skeleton;
use crate::vocabulary::leave_out_hidden;

/// Attempts at a constructed formula, for each that is wanted.
const ATTEMPTS: usize = 4;

/// A formula whose truth under the model is known.
#[derive(Clone, Copy, Debug)]
pub(super) struct Formula {
    pub term: Term,
    pub truth: bool,
    /// The formula if it is true, otherwise its negation.
    pub asserted: Term,
    /// Boolean levels; an atom has one.
    pub depth: u32,
}

#[derive(Debug, Default)]
pub(super) struct Pools {
    initial: Vec<Formula>,
    constructed: Vec<Formula>,
}

impl Pools {
    pub fn fill(
        config: &Storm,
        bench: &mut Bench<'_>,
        skeleton: &Skeleton,
        evaluated: &mut EvaluatedModel,
        extended: bool,
    ) -> Pools {
        let mut pools =
            Pools { initial: fragments(config, bench.store, skeleton, evaluated), constructed: Vec::new() };
        if pools.initial.is_empty() {
            return pools;
        }
        if pools.initial.len() < config.fragments {
            pools.grow(config, bench, skeleton, evaluated);
        }
        let wanted = config.constructed.scaled(pools.initial.len());
        for _ in 0..wanted * ATTEMPTS {
            if pools.constructed.len() >= wanted {
                break;
            }
            if let Some(formula) = pools.construct(config, bench, extended) {
                pools.constructed.push(formula);
            }
        }
        pools
    }

    /// Random formulas over the seed's symbols beside the few fragments that it has.
    fn grow(
        &mut self,
        config: &Storm,
        bench: &mut Bench<'_>,
        skeleton: &Skeleton,
        evaluated: &mut EvaluatedModel,
    ) {
        let mut small = GrammarConfig {
            nodes: 3,
            sharing: 0.0,
            quantifiers: 0.0,
            leaves: 0.2,
            constants: 0.3,
            arity: 3,
            partial: config.open_cases,
            ..bench.grammar.config().clone()
        };
        let name = &bench.grammar.logic().name;
        leave_out_hidden(&mut small, name, bench.grammar.releases());
        let Ok(grammar) = Grammar::new(name, bench.grammar.releases(), small) else { return };
        let mut scope = Scope::of_script(bench.store, &skeleton.script(&[], &[]));
        for _ in 0..config.fragments * ATTEMPTS {
            if self.initial.len() >= config.fragments {
                break;
            }
            let Some(term) = grammar.term(bench.store, bench.rng, Sort::BOOL, &mut scope, 2) else { break };
            let known = self.initial.iter().any(|formula| formula.term == term);
            let depth = bench.store.depth(term) as u32;
            if !known
                && depth <= config.max_depth
                && let Ok(truth) = evaluated.holds(bench.store, term)
                && let Some(formula) = formula(bench.store, term, truth, depth)
            {
                self.initial.push(formula);
            }
        }
    }

    pub fn is_empty(&self) -> bool {
        self.initial.is_empty()
    }

    pub fn initial(&self) -> usize {
        self.initial.len()
    }

    /// The paper's `RandFormula`.
    pub fn draw(&self, config: &Storm, rng: &mut Rng) -> Option<Formula> {
        let initial = self.constructed.is_empty() || rng.chance(config.from_initial);
        rng.pick(if initial { &self.initial } else { &self.constructed }).copied()
    }

    fn construct(&self, config: &Storm, bench: &mut Bench<'_>, extended: bool) -> Option<Formula> {
        let a = self.draw(config, bench.rng)?;
        let extended = extended && bench.rng.chance(0.5);
        let (op, args) = if extended {
            let op = *bench.rng.pick(&[Op::Or, Op::Xor, Op::Implies, Op::Ite])?;
            let more = if op == Op::Ite { 2 } else { 1 };
            let mut args = vec![a];
            for _ in 0..more {
                args.push(self.draw(config, bench.rng)?);
            }
            (op, args)
        } else if bench.rng.chance(config.conjunctions) {
            (Op::And, vec![a, self.draw(config, bench.rng)?])
        } else {
            (Op::Not, vec![a])
        };
        let depth = 1 + args.iter().map(|formula| formula.depth).max().unwrap_or(0);
        if depth > config.max_depth {
            return None;
        }
        let truth = truth(op, &args);
        let terms: Vec<Term> = args.iter().map(|formula| formula.term).collect();
        // What says the same in fewer words: `(and v v)`, `(not (not v))`.
        let repeated = terms.iter().enumerate().any(|(i, term)| terms[..i].contains(term));
        if repeated || (op == Op::Not && bench.store.op_of(terms[0]) == Some(Op::Not)) {
            return None;
        }
        let term = bench.store.op(op, &terms).ok()?;
        formula(bench.store, term, truth, depth)
    }
}

fn truth(op: Op, args: &[Formula]) -> bool {
    match (op, args) {
        (Op::And, [a, b]) => a.truth && b.truth,
        (Op::Or, [a, b]) => a.truth || b.truth,
        (Op::Xor, [a, b]) => a.truth != b.truth,
        (Op::Implies, [a, b]) => !a.truth || b.truth,
        (Op::Ite, [c, a, b]) => {
            if c.truth {
                a.truth
            } else {
                b.truth
            }
        }
        _ => !args[0].truth,
    }
}

fn formula(store: &mut Store, term: Term, truth: bool, depth: u32) -> Option<Formula> {
    let asserted = match store.head(term) {
        _ if truth => term,
        Head::Op(Op::Not, _) => store.args(term)[0],
        _ => store.op(Op::Not, &[term]).ok()?,
    };
    Some(Formula { term, truth, asserted, depth })
}

/// All closed Boolean sub-terms whose truth is known, quantified ones included, up to the greatest depth.
fn fragments(
    config: &Storm,
    store: &mut Store,
    skeleton: &Skeleton,
    evaluated: &mut EvaluatedModel,
) -> Vec<Formula> {
    let mut depths: FxHashMap<Term, u32> = FxHashMap::default();
    let mut found = Vec::new();
    for term in store.subterms(&skeleton.everything) {
        if store.sort_of(term) != Sort::BOOL {
            continue;
        }
        let below = if is_connective(store, term) {
            store.args(term).iter().filter_map(|arg| depths.get(arg)).max().copied().unwrap_or(0)
        } else {
            0
        };
        depths.insert(term, below + 1);
        let trivial = matches!(store.head(term), Head::Op(Op::True | Op::False, _) | Head::Var(_));
        if trivial || below + 1 > config.max_depth || store.is_opaque(term) {
            continue;
        }
        if store.mentions_vars(term) && !store.free_vars(term).is_empty() {
            continue;
        }
        if let Ok(truth) = evaluated.holds(store, term)
            && let Some(formula) = formula(store, term, truth, below + 1)
        {
            found.push(formula);
        }
    }
    found
}

fn is_connective(store: &Store, term: Term) -> bool {
    match store.head(term) {
        Head::Op(Op::Not | Op::And | Op::Or | Op::Xor | Op::Implies | Op::Ite, _) => true,
        Head::Op(Op::Equal | Op::Distinct, _) => {
            store.args(term).first().is_some_and(|arg| store.sort_of(*arg) == Sort::BOOL)
        }
        Head::Annotated(_) | Head::Bind(..) => true,
        _ => false,
    }
}
