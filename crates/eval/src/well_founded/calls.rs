//! The calls inside the bodies of functions that define each other, with what holds where each stands.

use std::rc::Rc;

use rustc_hash::FxHashSet;
use smtlib::{Datatype, Fun, Head, Op, Pattern, SortKind, Store, Term, Var};

use super::index_funs;
use super::linear::{Linear, at_least_zero};

/// Places visited in all bodies together; a body with much sharing has more places than terms.
const VISITS: usize = 10_000;
/// Calls in all bodies together.
const CALLS: usize = 200;
/// Formulas that conditions are taken apart into.
const ATOMS: usize = 1_000;
/// Conditions remembered on the way to a place. Those further in are left out.
const FACTS: usize = 100;

/// A call of a function of the group in the body of one.
pub(super) struct Call {
    /// Numbers in the group.
    pub caller: usize,
    pub callee: usize,
    pub args: Box<[Term]>,
    pub place: Context,
    /// Sums that are at least zero there.
    pub at_least_zero: Vec<Linear>,
}

/// What holds at a place of a body.
#[derive(Clone, Default)]
pub(super) struct Context {
    pub facts: Rc<Vec<Fact>>,
    /// Where variables come from that `match` has bound.
    pub origins: Rc<Vec<(Var, Origin)>>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Fact {
    /// The term is true, or false.
    Holds(Term, bool),
    /// The term is a value of this constructor.
    Is(Term, Datatype, u16),
}

/// A part of a function's argument.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) struct Origin {
    pub param: Var,
    /// Smaller than the argument itself.
    pub proper: bool,
}

/// All calls inside the group. `None` if one stands where it cannot be followed: under a binder, as a function value.
pub(super) fn calls(store: &Store, group: &[Fun]) -> Option<Vec<Call>> {
    let mut walk = Walk { store, group, calls: Vec::new(), visits: 0 };
    for caller in 0..group.len() {
        walk.body(caller)?;
    }
    Some(walk.calls)
}

struct Walk<'a> {
    store: &'a Store,
    group: &'a [Fun],
    calls: Vec<Call>,
    visits: usize,
}

impl Walk<'_> {
    fn body(&mut self, caller: usize) -> Option<()> {
        let store = self.store;
        let definition = store.fun(self.group[caller]).definition.as_ref()?;
        let distinct: FxHashSet<Var> = definition.vars.iter().copied().collect();
        if distinct.len() != definition.vars.len() {
            return None;
        }
        let calling = self.calling(definition.body)?;
        let mut open = vec![(definition.body, Context::default())];
        while let Some((term, context)) = open.pop() {
            if !calling.contains(&term) {
                continue;
            }
            self.visits += 1;
            if self.visits > VISITS {
                return None;
            }
            let args = store.args(term);
            match store.head(term) {
                Head::Fun(fun) => {
                    if let Some(callee) = self.group.iter().position(|member| *member == fun) {
                        if args.len() != store.fun(fun).params.len() || self.calls.len() == CALLS {
                            return None;
                        }
                        let place = context.clone();
                        let at_least_zero = at_least_zero(store, &place);
                        self.calls.push(Call { caller, callee, args: args.into(), place, at_least_zero });
                    }
                    open.extend(args.iter().map(|arg| (*arg, context.clone())));
                }
                Head::Op(Op::Ite, _) if args.len() == 3 => {
                    open.push((args[0], context.clone()));
                    open.push((args[1], context.with(Fact::Holds(args[0], true))));
                    open.push((args[2], context.with(Fact::Holds(args[0], false))));
                }
                // What comes later matters only if what comes earlier has not decided.
                Head::Op(op @ (Op::And | Op::Or | Op::Implies), _) => {
                    let mut context = context;
                    for arg in args {
                        open.push((*arg, context.clone()));
                        context = context.with(Fact::Holds(*arg, op != Op::Or));
                    }
                }
                Head::Match(patterns) => {
                    open.push((args[0], context.clone()));
                    for (pattern, case) in store.pattern_list(patterns).iter().zip(&args[1..]) {
                        open.push((*case, context.inside(store, args[0], pattern, &distinct)?));
                    }
                }
                Head::Annotated(_) => open.push((args[0], context)),
                Head::Bind(..) | Head::Opaque(_) => return None,
                _ => open.extend(args.iter().map(|arg| (*arg, context.clone()))),
            }
        }
        Some(())
    }

    /// The sub-terms with a call in them. `None` if a function of the group is an operator's index.
    fn calling(&self, body: Term) -> Option<FxHashSet<Term>> {
        let mut calling = FxHashSet::default();
        for term in self.store.subterms(&[body]) {
            let own = match self.store.head(term) {
                Head::Fun(fun) => self.group.contains(&fun),
                Head::Op(_, indices) => {
                    if index_funs(self.store, indices).any(|fun| self.group.contains(&fun)) {
                        return None;
                    }
                    false
                }
                _ => false,
            };
            if own || self.store.args(term).iter().any(|arg| calling.contains(arg)) {
                calling.insert(term);
            }
        }
        Some(calling)
    }
}

impl Context {
    fn with(&self, fact: Fact) -> Context {
        if self.facts.len() >= FACTS {
            return self.clone();
        }
        let mut facts = Vec::with_capacity(self.facts.len() + 1);
        facts.extend_from_slice(&self.facts);
        facts.push(fact);
        Context { facts: Rc::new(facts), origins: Rc::clone(&self.origins) }
    }

    /// Inside a case of a `match`. `None` if it hides a parameter.
    fn inside(
        &self,
        store: &Store,
        matched: Term,
        pattern: &Pattern,
        params: &FxHashSet<Var>,
    ) -> Option<Context> {
        let whole = self.origin(store, matched);
        let (bound, origin): (&[Var], Option<Origin>) = match pattern {
            Pattern::Var(var) => (std::slice::from_ref(var), whole),
            Pattern::Constructor(_, vars) => {
                (vars, whole.filter(|_| ends(store, matched)).map(|whole| Origin { proper: true, ..whole }))
            }
        };
        if bound.iter().any(|var| params.contains(var)) {
            return None;
        }
        // What was known of a variable of the same name is about another one.
        let hidden = |term: Term| store.free_vars(term).iter().any(|var| bound.contains(var));
        let mut facts: Vec<Fact> = self
            .facts
            .iter()
            .copied()
            .filter(|fact| match fact {
                Fact::Holds(term, _) | Fact::Is(term, ..) => !hidden(*term),
            })
            .collect();
        if let (Pattern::Constructor(constructor, _), SortKind::Datatype(datatype, _)) =
            (pattern, store.sort_kind(store.sort_of(matched)))
            && !hidden(matched)
            && facts.len() < FACTS
        {
            facts.push(Fact::Is(matched, *datatype, *constructor));
        }
        let mut origins: Vec<(Var, Origin)> =
            self.origins.iter().copied().filter(|(var, _)| !bound.contains(var)).collect();
        origins.extend(origin.into_iter().flat_map(|origin| bound.iter().map(move |var| (*var, origin))));
        Some(Context { facts: Rc::new(facts), origins: Rc::new(origins) })
    }

    /// The part of an argument that a term is: a variable, or selectors applied to one where they have to do with its
    /// constructor.
    pub fn origin(&self, store: &Store, term: Term) -> Option<Origin> {
        let mut here = term;
        let mut proper = false;
        loop {
            match store.head(here) {
                Head::Var(var) => {
                    let bound = self.origins.iter().find(|(known, _)| *known == var);
                    let origin = bound.map_or(Origin { param: var, proper: false }, |(_, origin)| *origin);
                    return Some(Origin { proper: proper || origin.proper, ..origin });
                }
                Head::Selector(datatype, constructor, _) => {
                    let inner = store.args(here)[0];
                    if !ends(store, inner) || !self.is(store, inner, datatype, constructor) {
                        return None;
                    }
                    proper = true;
                    here = inner;
                }
                Head::Constructor(datatype, constructor) => {
                    here = self.put_together_again(store, here, datatype, constructor)?;
                }
                Head::Annotated(_) => here = store.args(here)[0],
                _ => return None,
            }
        }
    }

    /// The term that `(cons (head x) (tail x))` is, where `x` is known to be a `cons`.
    fn put_together_again(
        &self,
        store: &Store,
        term: Term,
        datatype: Datatype,
        constructor: u16,
    ) -> Option<Term> {
        let fields = store.args(term);
        let whole = *store.args(*fields.first()?).first()?;
        let all = fields.iter().enumerate().all(|(place, field)| {
            store.head(*field) == Head::Selector(datatype, constructor, place as u16)
                && store.args(*field) == [whole]
        });
        (all && self.is(store, whole, datatype, constructor)).then_some(whole)
    }

    /// Is the term known to be a value of this constructor?
    fn is(&self, store: &Store, term: Term, datatype: Datatype, constructor: u16) -> bool {
        let count = store.datatype(datatype).constructors.len();
        let mut excluded: FxHashSet<u16> = FxHashSet::default();
        let mut known = false;
        self.each_atom(store, |atom, holds| match store.head(atom) {
            Head::Tester(_, tested) if store.args(atom) == [term] => {
                if holds {
                    known |= tested == constructor;
                } else {
                    excluded.insert(tested);
                }
            }
            // A constructor without fields has one value.
            Head::Op(Op::Equal, _) if store.args(atom).len() == 2 && store.args(atom).contains(&term) => {
                for side in store.args(atom) {
                    if let Head::Constructor(_, of) = store.head(*side) {
                        if holds {
                            known |= of == constructor;
                        } else if store.args(*side).is_empty() {
                            excluded.insert(of);
                        }
                    }
                }
            }
            _ => {}
        });
        known
            || self.facts.contains(&Fact::Is(term, datatype, constructor))
            || (!excluded.contains(&constructor) && excluded.len() + 1 == count)
    }

    /// Calls `each` for every formula that is known to be true or false, taking connectives apart.
    pub fn each_atom(&self, store: &Store, mut each: impl FnMut(Term, bool)) {
        let mut open: Vec<(Term, bool)> = Vec::new();
        let mut left = ATOMS;
        for fact in self.facts.iter() {
            if let Fact::Holds(term, holds) = fact {
                open.push((*term, *holds));
            }
            while let Some((term, holds)) = open.pop() {
                left = left.saturating_sub(1);
                if left == 0 {
                    return;
                }
                let args = store.args(term);
                match (store.head(term), holds) {
                    (Head::Op(Op::Not, _), _) => open.push((args[0], !holds)),
                    (Head::Op(Op::And, _), true) | (Head::Op(Op::Or, _), false) => {
                        open.extend(args.iter().map(|arg| (*arg, holds)));
                    }
                    (Head::Op(Op::Implies, _), false) => {
                        let (last, first) = args.split_last().expect("an implication has arguments");
                        open.extend(first.iter().map(|arg| (*arg, true)));
                        open.push((*last, false));
                    }
                    (Head::Annotated(_), _) => open.push((args[0], holds)),
                    _ => each(term, holds),
                }
            }
        }
    }
}

/// Is it a value of a datatype, not of a codatatype, whose values may go on for ever?
fn ends(store: &Store, term: Term) -> bool {
    match store.sort_kind(store.sort_of(term)) {
        SortKind::Datatype(datatype, _) => !store.datatype(*datatype).codatatype,
        _ => false,
    }
}
