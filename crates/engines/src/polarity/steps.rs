//! Single steps: a place found by a random walk down, and a stronger or weaker formula for it.

use generate::{Grammar, Rng, Scope};
use smtlib::{Head, Op, Sort, Store, Term};

use super::rewrites::{Want, rewrites};
use crate::engine::Bench;

/// Probability that the walk ends at a formula that has others below.
const STOP: f64 = 0.3;

/// Assertions with the steps that led to them.
#[derive(Clone, Debug)]
pub(super) struct Chain {
    /// What the whole script may become.
    pub want: Want,
    /// Each with a flag: is it needed for the answer?
    pub assertions: Vec<(Term, bool)>,
    pub steps: Vec<String>,
}

impl Chain {
    /// Takes one step, and notes it; may do nothing.
    pub fn step(&mut self, bench: &mut Bench<'_>, grammar: &Grammar, scope: &mut Scope, depth: usize) {
        if bench.rng.chance(0.15) && self.change_assertions(bench, grammar, scope, depth).is_some() {
            return;
        }
        let number = bench.rng.below(self.assertions.len());
        let (root, needed) = self.assertions[number];
        if !needed {
            self.replace(bench, grammar, scope, depth, number);
            return;
        }
        if let Some((new, what)) = change(bench, grammar, scope, depth, root, self.want) {
            self.assertions[number].0 = new;
            self.steps.push(format!("assertion {number}: {what}"));
        }
    }

    /// An assertion more where the script may become stronger, one less where it may become weaker.
    fn change_assertions(
        &mut self,
        bench: &mut Bench<'_>,
        grammar: &Grammar,
        scope: &mut Scope,
        depth: usize,
    ) -> Option<()> {
        let step = match self.want {
            Want::Stronger => {
                let new = grammar.term(bench.store, bench.rng, Sort::BOOL, scope, depth)?;
                let place = bench.rng.between(0, self.assertions.len());
                self.assertions.insert(place, (new, false));
                format!("added assertion {place}")
            }
            Want::Weaker => {
                if self.assertions.len() < 2 {
                    return None;
                }
                let place = bench.rng.below(self.assertions.len());
                self.assertions.remove(place);
                format!("removed assertion {place}")
            }
        };
        self.steps.push(step);
        Some(())
    }

    /// What is outside the core may be anything.
    fn replace(
        &mut self,
        bench: &mut Bench<'_>,
        grammar: &Grammar,
        scope: &mut Scope,
        depth: usize,
        number: usize,
    ) -> Option<()> {
        let new = grammar.term(bench.store, bench.rng, Sort::BOOL, scope, depth)?;
        self.assertions[number].0 = new;
        self.steps.push(format!("assertion {number}: replaced, being outside the core"));
        Some(())
    }
}

/// The assertion changed at a random place, and what was done.
fn change(
    bench: &mut Bench<'_>,
    grammar: &Grammar,
    scope: &mut Scope,
    depth: usize,
    root: Term,
    want: Want,
) -> Option<(Term, String)> {
    let (path, term, positive) = walk(bench.store, bench.rng, root);
    let here = if positive { want } else { want.opposite() };
    let bound = bench.store.scope_at(root, &path);
    for var in &bound {
        scope.bind(bench.store, *var);
    }
    let made = local(bench, grammar, scope, depth, term, here);
    for _ in &bound {
        scope.unbind(bench.store);
    }
    let (new, rule) = made?;
    if new == term {
        return None;
    }
    let changed = bench.store.replace_at(root, &path, new).ok()?;
    let sign = if positive { "positive" } else { "negative" };
    Some((changed, format!("{} at the {sign} place {path:?}: {rule}", here.name())))
}

/// A place whose polarity is definite: the way to it, the term, and whether it is positive.
fn walk(store: &Store, rng: &mut Rng, root: Term) -> (Vec<u32>, Term, bool) {
    let (mut path, mut here, mut positive) = (Vec::new(), root, true);
    loop {
        let children: Vec<(usize, bool)> = (0..store.args(here).len())
            .filter_map(|child| Some((child, store.child_polarity(here, child)?)))
            .collect();
        // An annotation must stay around its term.
        let must_descend = matches!(store.head(here), Head::Annotated(_));
        if children.is_empty() || (!must_descend && rng.chance(STOP)) {
            return (path, here, positive);
        }
        let (child, rising) = children[rng.below(children.len())];
        path.push(child as u32);
        here = store.args(here)[child];
        positive = positive == rising;
    }
}

fn local(
    bench: &mut Bench<'_>,
    grammar: &Grammar,
    scope: &mut Scope,
    depth: usize,
    term: Term,
    want: Want,
) -> Option<(Term, String)> {
    let found = rewrites(bench.store, grammar, bench.rng, term, want);
    if !found.is_empty() && bench.rng.chance(0.7) {
        let (new, rule) = *bench.rng.pick(&found)?;
        return Some((new, rule.to_owned()));
    }
    if let Some(made) = language(bench, grammar, scope, term, want)
        && bench.rng.chance(0.5)
    {
        return Some(made);
    }
    let other = grammar.term(bench.store, bench.rng, Sort::BOOL, scope, depth)?;
    let first = bench.rng.chance(0.5);
    let pair = if first { [other, term] } else { [term, other] };
    let (new, rule) = match want {
        Want::Stronger => (bench.store.and(&pair).ok()?, "conjoined"),
        Want::Weaker if bench.rng.chance(0.3) => {
            (bench.store.op(Op::Implies, &[other, term]).ok()?, "a premise more")
        }
        Want::Weaker => (bench.store.or(&pair).ok()?, "disjoined"),
    };
    Some((new, rule.to_owned()))
}

/// Membership in a smaller or larger language.
fn language(
    bench: &mut Bench<'_>,
    grammar: &Grammar,
    scope: &mut Scope,
    term: Term,
    want: Want,
) -> Option<(Term, String)> {
    if bench.store.op_of(term) != Some(Op::StrInRe) {
        return None;
    }
    let [word, language] = *bench.store.args(term) else { return None };
    let other = grammar.term(bench.store, bench.rng, Sort::REGLAN, scope, 2)?;
    let op = if want == Want::Stronger { Op::ReInter } else { Op::ReUnion };
    let joined = bench.store.op(op, &[language, other]).ok()?;
    Some((bench.store.op(Op::StrInRe, &[word, joined]).ok()?, format!("{} with another language", op.name())))
}
