//! What a term may be made of at one place: leaves, functions, datatypes, and the sorts to choose from.

use smtlib::{Datatype, Fun, Head, Op, Script, Sort, SortKind, Store, Term, Var};

use crate::rng::Rng;

/// Terms kept for reuse, for each sort.
const SHARED: usize = 12;

/// The material of generated terms. It refers to one store, and must not outlive a reset of what it holds.
#[derive(Clone, Debug, Default)]
pub struct Scope {
    /// Sorts that free choices pick from.
    sorts: Vec<Sort>,
    /// All the following are indexed by the sort they give.
    leaves: Vec<Vec<Term>>,
    constants: Vec<Vec<Term>>,
    functions: Vec<Vec<Fun>>,
    selectors: Vec<Vec<(Head, Sort)>>,
    shared: Vec<Vec<Term>>,
    /// Instances of datatypes.
    datatypes: Vec<(Datatype, Sort)>,
    /// Variables bound around the place, outermost first.
    bound: Vec<Var>,
    /// For each of them the variable of another sort that its name hides, with its place among the leaves.
    hidden: Vec<Option<(Var, usize)>>,
    /// The sorts of locations and data of separation logic.
    heap: Option<(Sort, Sort)>,
    usage: Usage,
}

/// How often each operator has been used, so that none takes over.
#[derive(Clone, Debug, Default)]
struct Usage {
    /// By operator, in units of its weight.
    times: Vec<f64>,
    /// All of them together, and how many operators they are.
    total: f64,
    operators: f64,
}

/// What an operator that cannot be built here counts for: it is tried less often.
const FAILED: f64 = 4.0;

fn slot<T: Default>(table: &mut Vec<T>, sort: Sort) -> &mut T {
    if table.len() <= sort.index() {
        table.resize_with(sort.index() + 1, T::default);
    }
    &mut table[sort.index()]
}

fn at<T>(table: &[Vec<T>], sort: Sort) -> &[T] {
    table.get(sort.index()).map_or(&[], Vec::as_slice)
}

impl Scope {
    pub fn new() -> Scope {
        Scope::default()
    }

    /// Everything a script declares: constants as leaves, functions, datatypes, their sorts.
    pub fn of_script(store: &mut Store, script: &Script) -> Scope {
        let mut scope = Scope::new();
        scope.add_sort(store, Sort::BOOL);
        for command in &script.commands {
            use smtlib::Command::*;
            match command {
                DeclareFun(fun) | DeclareConst(fun) | DefineFun(fun) | DefineConst(fun) => {
                    scope.add_function(store, *fun);
                }
                DeclareDatatypes(group) => {
                    for datatype in group {
                        if store.datatype(*datatype).params.is_empty() {
                            let sort = store.sort(SortKind::Datatype(*datatype, Box::new([])));
                            scope.add_sort(store, sort);
                        }
                    }
                }
                _ => {}
            }
        }
        scope
    }

    /// Lets free choices pick this sort. Regular languages, functions and unknown sorts are never picked freely:
    /// solvers have no variables or equality over them.
    pub fn add_sort(&mut self, store: &mut Store, sort: Sort) {
        let kind = store.sort_kind(sort).clone();
        if matches!(kind, SortKind::RegLan | SortKind::Fun(..) | SortKind::Opaque(_) | SortKind::Param(_))
            || self.sorts.contains(&sort)
        {
            return;
        }
        self.sorts.push(sort);
        if let SortKind::Datatype(datatype, _) = kind {
            self.datatypes.push((datatype, sort));
            for constructor in 0..store.datatype(datatype).constructors.len() as u16 {
                for (field, of) in store.field_sorts(datatype, constructor, sort).into_iter().enumerate() {
                    let head = Head::Selector(datatype, constructor, field as u16);
                    slot(&mut self.selectors, of).push((head, sort));
                }
            }
        }
    }

    /// Adds a term to choose as a leaf, and its sort.
    pub fn add_leaf(&mut self, store: &mut Store, term: Term) {
        let sort = store.sort_of(term);
        self.add_sort(store, sort);
        slot(&mut self.leaves, sort).push(term);
    }

    /// Adds a constant that occurs where terms are made, and its sort. Variables are chosen more often than these.
    pub fn add_constant(&mut self, store: &mut Store, term: Term) {
        let sort = store.sort_of(term);
        self.add_sort(store, sort);
        slot(&mut self.constants, sort).push(term);
    }

    /// Adds a declared or defined function; a constant becomes a leaf.
    pub fn add_function(&mut self, store: &mut Store, fun: Fun) {
        let decl = store.fun(fun);
        let (params, result) = (decl.params.clone(), decl.result);
        if params.is_empty() {
            if let Ok(leaf) = store.call(fun, &[]) {
                self.add_leaf(store, leaf);
            }
            return;
        }
        for sort in params.iter().chain([&result]) {
            self.add_sort(store, *sort);
        }
        slot(&mut self.functions, result).push(fun);
    }

    /// Enters a binder. What its name hides cannot be chosen below it.
    pub fn bind(&mut self, store: &mut Store, var: Var) {
        let same = |other: &&Var| **other != var && store.var_name(**other) == store.var_name(var);
        let hidden = self.bound.iter().rev().find(same).copied().and_then(|hidden| {
            let term = store.var_term(hidden);
            let leaves = slot(&mut self.leaves, store.var_sort(hidden));
            let place = leaves.iter().rposition(|leaf| *leaf == term)?;
            leaves.remove(place);
            Some((hidden, place))
        });
        let term = store.var_term(var);
        slot(&mut self.leaves, store.var_sort(var)).push(term);
        self.bound.push(var);
        self.hidden.push(hidden);
    }

    /// Leaves the innermost binder's last variable.
    pub fn unbind(&mut self, store: &mut Store) {
        let Some(var) = self.bound.pop() else { return };
        slot(&mut self.leaves, store.var_sort(var)).pop();
        if let Some((hidden, place)) = self.hidden.pop().flatten() {
            let term = store.var_term(hidden);
            slot(&mut self.leaves, store.var_sort(hidden)).insert(place, term);
        }
    }

    /// There is a heap with locations and data of these sorts.
    pub(crate) fn set_heap(&mut self, location: Sort, data: Sort) {
        self.heap = Some((location, data));
    }

    pub(crate) fn heap(&self) -> Option<(Sort, Sort)> {
        self.heap
    }

    pub fn sorts(&self) -> &[Sort] {
        &self.sorts
    }

    pub fn leaves(&self, sort: Sort) -> &[Term] {
        at(&self.leaves, sort)
    }

    pub(crate) fn constants(&self, sort: Sort) -> &[Term] {
        at(&self.constants, sort)
    }

    /// Goes on counting operators where another scope ends.
    pub fn take_usage(&mut self, other: &mut Scope) {
        self.usage = std::mem::take(&mut other.usage);
    }

    /// The probability with which an operator is taken when it is drawn: less than 1 for those used more than the average
    /// one.
    pub(crate) fn welcome(&self, op: Op) -> f64 {
        let times = self.usage.times.get(op as usize).copied().unwrap_or(0.0);
        let average = self.usage.total / self.usage.operators.max(1.0);
        if times <= average { 1.0 } else { ((1.0 + average) / (1.0 + times)).powi(2) }
    }

    /// Counts an operator of this weight that was built, or could not be.
    pub(crate) fn count(&mut self, op: Op, weight: f64, built: bool) {
        let usage = &mut self.usage;
        if usage.times.len() <= op as usize {
            usage.times.resize(op as usize + 1, 0.0);
        }
        let times = &mut usage.times[op as usize];
        if built {
            usage.operators += f64::from(u8::from(*times == 0.0));
            usage.total += 1.0 / weight;
            *times += 1.0 / weight;
        } else {
            *times += FAILED / weight;
        }
    }

    pub fn bound(&self) -> &[Var] {
        &self.bound
    }

    pub(crate) fn functions(&self, sort: Sort) -> &[Fun] {
        at(&self.functions, sort)
    }

    pub(crate) fn selectors(&self, sort: Sort) -> &[(Head, Sort)] {
        at(&self.selectors, sort)
    }

    pub(crate) fn datatypes(&self) -> &[(Datatype, Sort)] {
        &self.datatypes
    }

    pub(crate) fn shared(&self, sort: Sort) -> &[Term] {
        at(&self.shared, sort)
    }

    /// Keeps a term without variables for later use, in place of an older one when there are many.
    pub(crate) fn share(&mut self, rng: &mut Rng, term: Term, sort: Sort) {
        let kept = slot(&mut self.shared, sort);
        if kept.len() < SHARED {
            kept.push(term);
        } else {
            kept[rng.below(SHARED)] = term;
        }
    }

    /// Forgets the terms kept for reuse.
    pub fn forget_shared(&mut self) {
        self.shared.iter_mut().for_each(Vec::clear);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_variable_hides_those_of_its_name_until_its_binder_ends() {
        let mut store = Store::new();
        let name = store.symbol("v");
        let (outer, inner) = (store.var(name, Sort::BOOL), store.var(name, Sort::INT));
        let mut scope = Scope::new();
        scope.bind(&mut store, outer);
        assert_eq!(scope.leaves(Sort::BOOL).len(), 1);
        scope.bind(&mut store, inner);
        assert_eq!((scope.leaves(Sort::BOOL).len(), scope.leaves(Sort::INT).len()), (0, 1));
        scope.unbind(&mut store);
        assert_eq!((scope.leaves(Sort::BOOL).len(), scope.leaves(Sort::INT).len()), (1, 0));
        scope.unbind(&mut store);
        assert!(scope.leaves(Sort::BOOL).is_empty());
    }
}
