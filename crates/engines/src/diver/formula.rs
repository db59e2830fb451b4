//! A formula of the pool: what was done to the seed, and which fresh symbols still matter.

use rustc_hash::FxHashSet;
use smtlib::{Fun, Store, Term};

use super::symbol;

/// Assertions true under the model, and the fresh constants in them.
#[derive(Clone, Debug, Default)]
pub(super) struct Formula {
    pub fresh: Vec<Fun>,
    pub assertions: Vec<Term>,
    /// What was done to the seed and is still there.
    pub changes: Vec<Change>,
    /// Nodes of the terms that were put in.
    pub grown: usize,
    /// Fresh constants with the assertions that bound them.
    bounds: Vec<(Fun, Term)>,
}

/// A term that was put in.
#[derive(Clone, Debug)]
pub(super) struct Change {
    pub text: String,
    assertion: usize,
    path: Vec<u32>,
}

impl Formula {
    pub fn new(assertions: Vec<Term>) -> Formula {
        Formula { assertions, ..Formula::default() }
    }

    /// Puts an assertion with a new term at the path in place of an old one. Changes below it are gone.
    pub fn change(&mut self, assertion: usize, path: &[u32], new: Term, text: String) {
        self.changes.retain(|change| change.assertion != assertion || !change.path.starts_with(path));
        self.assertions[assertion] = new;
        self.changes.push(Change { text, assertion, path: path.to_vec() });
    }

    /// A fresh constant, with the assertion that bounds it at this place.
    pub fn add_fresh(&mut self, fun: Fun, bound: Option<(usize, Term)>) {
        self.fresh.push(fun);
        let Some((place, bound)) = bound else { return };
        self.assertions.insert(place, bound);
        self.bounds.push((fun, bound));
        for change in self.changes.iter_mut().filter(|change| change.assertion >= place) {
            change.assertion += 1;
        }
    }

    /// Drops fresh constants that stand nowhere but in their own bounds, with these, after `old` was replaced.
    pub fn drop_dead(&mut self, store: &Store, old: Term) {
        let gone = symbols(store, &[old]);
        if !self.fresh.iter().any(|fun| gone.contains(fun)) {
            return;
        }
        loop {
            let bounds: FxHashSet<Term> = self.bounds.iter().map(|(_, bound)| *bound).collect();
            let others: Vec<Term> =
                self.assertions.iter().copied().filter(|term| !bounds.contains(term)).collect();
            let mut alive = symbols(store, &others);
            // A bound may speak of another fresh constant.
            for (fun, bound) in &self.bounds {
                alive.extend(symbols(store, &[*bound]).into_iter().filter(|other| other != fun));
            }
            let before = self.fresh.len();
            self.fresh.retain(|fun| alive.contains(fun));
            if self.fresh.len() == before {
                break;
            }
            let (kept, dead): (Vec<_>, Vec<_>) =
                self.bounds.drain(..).partition(|(fun, _)| alive.contains(fun));
            self.bounds = kept;
            for (_, bound) in dead {
                // A mutant may have the same formula twice.
                while let Some(place) = self.assertions.iter().position(|term| *term == bound) {
                    self.remove(place);
                }
            }
        }
    }

    fn remove(&mut self, place: usize) {
        self.assertions.remove(place);
        self.changes.retain(|change| change.assertion != place);
        for change in self.changes.iter_mut().filter(|change| change.assertion > place) {
            change.assertion -= 1;
        }
    }
}

fn symbols(store: &Store, terms: &[Term]) -> FxHashSet<Fun> {
    store.subterms(terms).into_iter().filter_map(|term| symbol(store, term)).collect()
}

#[cfg(test)]
mod tests {
    use smtlib::{Op, Sort};

    use super::*;

    #[test]
    fn fresh_constants_that_stand_only_in_their_bounds_go_with_them_and_so_do_changes_that_were_overwritten()
    {
        let mut store = Store::new();
        let mut constant = |name: &str| {
            let name = store.symbol(name);
            let fun = store.declare_fun(name, &[], Sort::INT);
            (fun, store.call(fun, &[]).expect("a constant"))
        };
        let ((_, x), (a, fresh_a), (b, fresh_b)) = (constant("x"), constant("a"), constant("b"));
        let mut less = |left: Term, right: Term| store.op(Op::IntLt, &[left, right]).expect("a comparison");
        let (seed, with_a, bound_a, bound_b) =
            (less(x, x), less(fresh_a, x), less(fresh_a, fresh_a), less(fresh_b, fresh_a));
        let with_x = less(x, x);
        let mut formula = Formula::new(vec![seed]);
        formula.change(0, &[0], with_a, "a".to_owned());
        formula.add_fresh(a, Some((0, bound_a)));
        formula.add_fresh(b, Some((2, bound_b)));
        formula.drop_dead(&store, bound_b);
        assert_eq!(
            (formula.fresh.as_slice(), formula.assertions.as_slice()),
            (&[a][..], &[bound_a, with_a][..])
        );
        assert_eq!(formula.changes.len(), 1);
        formula.change(1, &[], with_x, "x".to_owned());
        assert_eq!(formula.changes.len(), 1, "the change below is gone");
        formula.drop_dead(&store, with_a);
        assert_eq!((formula.fresh.len(), formula.assertions.as_slice()), (0, &[with_x][..]));
        assert_eq!((formula.changes[0].assertion, formula.changes[0].text.as_str()), (0, "x"));
    }
}
