//! Sums of integer terms, and what follows about them from conditions.

use std::collections::BTreeMap;

use smtlib::{Head, Literal, Op, Sort, Store, Term, Var};

use super::calls::Context;

/// Sub-terms looked at in one sum.
const PARTS: usize = 200;

/// What is not taken apart.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(super) enum Atom {
    Var(Var),
    Term(Term),
}

/// A sum of atoms with coefficients, none of them zero, and a constant.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(super) struct Linear {
    pub atoms: BTreeMap<Atom, i64>,
    pub constant: i64,
}

impl Linear {
    pub fn var(var: Var) -> Linear {
        Linear { atoms: BTreeMap::from([(Atom::Var(var), 1)]), constant: 0 }
    }

    /// An integer term as a sum. `None` if it is too large.
    pub fn of(store: &Store, term: Term) -> Option<Linear> {
        let mut sum = Linear::default();
        let mut open = vec![(term, 1i64)];
        for _ in 0..PARTS {
            let Some((term, factor)) = open.pop() else { return Some(sum) };
            let args = store.args(term);
            match store.head(term) {
                Head::Literal(literal) => match store.literal(literal) {
                    Literal::Int(value) => {
                        let value = value.to_i64()?.checked_mul(factor)?;
                        sum.constant = sum.constant.checked_add(value)?;
                    }
                    _ => return None,
                },
                Head::Op(Op::IntAdd, _) => open.extend(args.iter().map(|arg| (*arg, factor))),
                Head::Op(Op::IntNeg, _) => open.push((args[0], factor.checked_neg()?)),
                Head::Op(Op::IntSub, _) => {
                    open.push((args[0], factor));
                    let negative = factor.checked_neg()?;
                    open.extend(args[1..].iter().map(|arg| (*arg, negative)));
                }
                Head::Op(Op::IntMul, _) if args.len() == 2 => {
                    let by = |constant: Term, other: Term| Some((other, number(store, constant)?));
                    match by(args[0], args[1]).or_else(|| by(args[1], args[0])) {
                        Some((other, by)) => open.push((other, factor.checked_mul(by)?)),
                        None => sum.add(Atom::Term(term), factor)?,
                    }
                }
                Head::Annotated(_) => open.push((args[0], factor)),
                Head::Var(var) => sum.add(Atom::Var(var), factor)?,
                _ => sum.add(Atom::Term(term), factor)?,
            }
        }
        None
    }

    fn add(&mut self, atom: Atom, factor: i64) -> Option<()> {
        let coefficient = self.atoms.entry(atom).or_insert(0);
        *coefficient = coefficient.checked_add(factor)?;
        if *coefficient == 0 {
            self.atoms.remove(&atom);
        }
        Some(())
    }

    pub fn minus(&self, other: &Linear) -> Option<Linear> {
        let mut difference = self.clone();
        for (atom, coefficient) in &other.atoms {
            difference.add(*atom, coefficient.checked_neg()?)?;
        }
        difference.constant = difference.constant.checked_sub(other.constant)?;
        Some(difference)
    }

    /// A number that the sum is never below, given that each of the others is at least zero. At most one of them is used.
    pub fn lower_bound(&self, at_least_zero: &[Linear]) -> Option<i64> {
        let Some((first, own)) = self.atoms.first_key_value() else { return Some(self.constant) };
        let bounds = at_least_zero.iter().filter_map(|fact| {
            // factor * self + rest = own * fact, with own and factor of one sign.
            let factor = *fact.atoms.get(first)?;
            let same_sign = (factor > 0) == (*own > 0);
            let proportional = fact.atoms.len() == self.atoms.len()
                && self.atoms.iter().all(|(atom, coefficient)| {
                    let other = fact.atoms.get(atom).copied().unwrap_or(0);
                    coefficient.checked_mul(factor).is_some_and(|left| other.checked_mul(*own) == Some(left))
                });
            if !same_sign || !proportional {
                return None;
            }
            // atoms of the fact >= -constant, so own atoms = (own / factor) * those.
            let (own, factor) = (own.checked_abs()?, factor.checked_abs()?);
            let scaled = fact.constant.checked_neg()?.checked_mul(own)?;
            let rounded_up = scaled.checked_neg()?.div_euclid(factor).checked_neg()?;
            rounded_up.checked_add(self.constant)
        });
        bounds.max()
    }
}

/// The value of an integer literal or its negation.
pub(super) fn number(store: &Store, term: Term) -> Option<i64> {
    let (inner, sign) = match store.head(term) {
        Head::Op(Op::IntNeg, _) => (store.args(term)[0], -1),
        _ => (term, 1),
    };
    let Head::Literal(literal) = store.head(inner) else { return None };
    let Literal::Int(value) = store.literal(literal) else { return None };
    value.to_i64()?.checked_mul(sign)
}

/// Sums that are at least zero wherever the conditions of a place hold.
pub(super) fn at_least_zero(store: &Store, place: &Context) -> Vec<Linear> {
    let mut found = Vec::new();
    place.each_atom(store, |atom, holds| {
        let Head::Op(op, _) = store.head(atom) else { return };
        let args = store.args(atom);
        if args.len() < 2 || store.sort_of(args[0]) != Sort::INT {
            return;
        }
        let mut add = |more: Term, less: Term, by: i64| {
            let sums = Linear::of(store, more).zip(Linear::of(store, less));
            let difference = sums.and_then(|(more, less)| more.minus(&less));
            if let Some(mut difference) = difference
                && let Some(constant) = difference.constant.checked_sub(by)
            {
                difference.constant = constant;
                found.push(difference);
            }
        };
        // A chain that is false says nothing of a single pair.
        if !holds && args.len() > 2 {
            return;
        }
        for pair in args.windows(2) {
            let (left, right) = (pair[0], pair[1]);
            match (op, holds) {
                (Op::IntLe, true) => add(right, left, 0),
                (Op::IntLe, false) => add(left, right, 1),
                (Op::IntLt, true) => add(right, left, 1),
                (Op::IntLt, false) => add(left, right, 0),
                (Op::IntGe, true) => add(left, right, 0),
                (Op::IntGe, false) => add(right, left, 1),
                (Op::IntGt, true) => add(left, right, 1),
                (Op::IntGt, false) => add(right, left, 0),
                (Op::Equal, true) => {
                    add(left, right, 0);
                    add(right, left, 0);
                }
                _ => {}
            }
        }
    });
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sum(store: &mut Store, atoms: &[(&str, i64)], constant: i64) -> Linear {
        let mut sum = Linear { atoms: BTreeMap::new(), constant };
        for (name, coefficient) in atoms {
            let name = store.symbol(name);
            let var = store.var(name, Sort::INT);
            sum.add(Atom::Var(var), *coefficient).expect("small");
        }
        sum
    }

    #[test]
    fn a_bound_follows_from_a_multiple() {
        let mut store = Store::new();
        let mut sum = |atoms: &[(&str, i64)], constant| sum(&mut store, atoms, constant);
        // 2x - 5 >= 0 gives x >= 2.5, hence x >= 3 and x + 1 >= 4.
        let fact = sum(&[("x", 2)], -5);
        assert_eq!(sum(&[("x", 1)], 1).lower_bound(std::slice::from_ref(&fact)), Some(4));
        // And 4x >= 10.
        assert_eq!(sum(&[("x", 4)], 0).lower_bound(std::slice::from_ref(&fact)), Some(10));
        // Nothing about -x, nor about x + y.
        assert_eq!(sum(&[("x", -1)], 0).lower_bound(std::slice::from_ref(&fact)), None);
        assert_eq!(sum(&[("x", 1), ("y", 1)], 0).lower_bound(&[fact]), None);
        // y - x >= 0 bounds 3y - 3x, not x - y nor y - 2x.
        let fact = sum(&[("y", 1), ("x", -1)], 0);
        assert_eq!(sum(&[("y", 3), ("x", -3)], 1).lower_bound(std::slice::from_ref(&fact)), Some(1));
        assert_eq!(sum(&[("x", 1), ("y", -1)], 0).lower_bound(std::slice::from_ref(&fact)), None);
        assert_eq!(sum(&[("y", 1), ("x", -2)], 0).lower_bound(&[fact]), None);
        assert_eq!(sum(&[], 7).lower_bound(&[]), Some(7));
    }

    #[test]
    fn numbers_that_do_not_fit_give_nothing() {
        let mut store = Store::new();
        let large = sum(&mut store, &[("x", i64::MAX)], i64::MIN);
        assert_eq!(large.minus(&sum(&mut store, &[("x", -1)], 1)), None);
        assert_eq!(sum(&mut store, &[("x", 1)], i64::MAX).lower_bound(&[large]), None);
    }
}
