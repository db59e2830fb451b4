//! Linear atoms under quantifiers: values of a variable between which the truth of a formula cannot change.
//!
//! The truth of a formula of linear atoms depends on the signs of its linear forms alone. For a real variable `z` and
//! two forms with it, their order on the line of `z` depends on the sign of the form that is left when `z` is
//! eliminated from both. So the truth of a formula with quantified real variables depends on the signs of what is left
//! when they are eliminated, the innermost first. What is left at last has one variable, and changes its sign at one
//! value: the decisive values of that variable are these and one between each two of them, and beyond.

use std::collections::{BTreeMap, BTreeSet};

use rustc_hash::FxHashSet;
use smtlib::{Binder, Head, Op, Sort, Store, Term, Var};

use super::Computation;
use crate::integer::Integer;
use crate::rational::Rational;
use crate::unknown::Unknown;
use crate::value::Value;

/// Forms that are kept at a time.
const FORMS: usize = 128;

/// Nodes of a body that are looked at.
const NODES: usize = 2_000;

/// Sums inside one another.
const LEVELS: usize = 32;

/// Bits of a coefficient.
const BITS: usize = 4_096;

/// A sum of variables with coefficients, none of them zero, and a constant.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug, Default)]
pub(super) struct Form {
    coefficients: BTreeMap<Var, Rational>,
    constant: Rational,
}

impl Form {
    fn add(&mut self, factor: &Rational, other: &Form) {
        for (var, coefficient) in &other.coefficients {
            let sum = self.coefficients.entry(*var).or_default();
            *sum = &*sum + &(factor * coefficient);
            if sum.is_zero() {
                self.coefficients.remove(var);
            }
        }
        self.constant = &self.constant + &(factor * &other.constant);
    }

    fn scaled(&self, factor: &Rational) -> Form {
        let mut scaled = Form::default();
        scaled.add(factor, self);
        scaled
    }

    /// The same zeros with one for the first coefficient. `None` if there is no variable, or numbers are too large.
    fn normal(&self) -> Option<Form> {
        let (_, first) = self.coefficients.first_key_value()?;
        Some(self.scaled(&first.recip()?)).filter(Form::is_small)
    }

    fn is_small(&self) -> bool {
        self.coefficients.values().chain([&self.constant]).all(|number| number.bit_size() <= BITS)
    }

    /// The coefficient of the only variable and where the form is zero.
    pub fn zero_of(&self, var: Var) -> Option<(Rational, Rational)> {
        let slope = self.coefficients.get(&var).filter(|_| self.coefficients.len() == 1)?;
        let zero = (-&self.constant).checked_div(slope)?;
        Some((slope.clone(), zero))
    }

    /// The form in one variable alone, with numbers for the others.
    pub fn with_others(&self, var: Var, number: impl Fn(Var, &Rational) -> Option<Integer>) -> Option<Form> {
        let mut only = Form { constant: self.constant.clone(), ..Form::default() };
        for (other, coefficient) in &self.coefficients {
            if *other == var {
                only.coefficients.insert(var, coefficient.clone());
            } else {
                let number = Rational::from(number(*other, coefficient)?);
                only.constant = &only.constant + &(coefficient * &number);
            }
        }
        Some(only).filter(Form::is_small)
    }
}

impl Computation<'_> {
    /// Values of a variable such that the body has the truth values that it has for these, and no others, whatever the
    /// values of the other variables. `None` if they cannot be told.
    pub(super) fn decisive_values(
        &mut self,
        term: Term,
        var: Var,
        vars: &[Var],
        body: Term,
    ) -> Result<Option<Vec<Value>>, Unknown> {
        let sort = self.store.var_sort(var);
        if !matches!(sort, Sort::INT | Sort::REAL) {
            return Ok(None);
        }
        let mut looks = NODES;
        let zeros = self.zeros(var, vars, body, &mut looks);
        self.charge(term, (NODES - looks) as u64)?;
        let Some(zeros) = zeros else { return Ok(None) };
        Ok(Some(if sort == Sort::INT { around_integers(&zeros) } else { around(&zeros) }))
    }

    /// Where the truth of the body may change along the variable, ascending.
    fn zeros(&mut self, var: Var, vars: &[Var], body: Term, looks: &mut usize) -> Option<BTreeSet<Rational>> {
        let inner = self.inner_variables(vars, body, looks)?;
        let others = vars.iter().copied().filter(|other| *other != var);
        let eliminated: Vec<Var> = inner.iter().copied().chain(others).collect();
        let mut tracked = eliminated.clone();
        tracked.push(var);
        let mut forms = self.forms(body, &tracked, looks)?;
        for gone in eliminated {
            match self.store.var_sort(gone) {
                // It is in no form.
                Sort::BOOL => {}
                Sort::REAL => forms = without(gone, forms)?,
                _ => return None,
            }
            *looks = looks.checked_sub(forms.len())?;
        }
        forms.iter().map(|form| form.zero_of(var).map(|(_, zero)| zero)).collect()
    }

    /// The variables of quantifiers in the body, the innermost first. `None` where a name has two meanings.
    fn inner_variables(&mut self, vars: &[Var], body: Term, looks: &mut usize) -> Option<Vec<Var>> {
        if !self.store.has_binder(body) {
            return Some(Vec::new());
        }
        let terms = self.store.subterms(&[body]);
        *looks = looks.checked_sub(terms.len())?;
        let mut binders: Vec<(usize, Vec<Var>)> = Vec::new();
        for term in terms {
            if let Head::Bind(_, list) = self.store.head(term) {
                binders.push((term.index(), self.store.var_list(list).to_vec()));
            }
        }
        // A term is made before the terms that contain it.
        binders.sort_unstable();
        let inner: Vec<Var> = binders.into_iter().flat_map(|(_, vars)| vars).collect();
        let mut seen = FxHashSet::default();
        let plain = inner.iter().all(|var| {
            let bound = self.evaluator.bindings.get(var.index()).is_some_and(Option::is_some);
            !bound && !vars.contains(var) && seen.insert(*var)
        });
        plain.then_some(inner)
    }

    /// The linear forms on whose signs the truth of the body depends. `None` if it depends on anything else.
    fn forms(&mut self, body: Term, tracked: &[Var], looks: &mut usize) -> Option<BTreeSet<Form>> {
        let mut forms = BTreeSet::new();
        let mut seen = FxHashSet::default();
        let mut stack = vec![body];
        while let Some(term) = stack.pop() {
            if !seen.insert(term) || self.is_fixed(term, tracked) {
                continue;
            }
            *looks = looks.checked_sub(1)?;
            let args = self.store.args(term);
            match self.store.head(term) {
                Head::Annotated(_) | Head::Bind(Binder::Forall | Binder::Exists, _) => stack.push(args[0]),
                Head::Var(var) if self.store.var_sort(var) == Sort::BOOL => {}
                Head::Op(op, _) if connects(self.store, op, args) => stack.extend(args),
                Head::Op(op, _) if compares(self.store, op, args) => {
                    for (number, left) in args.iter().enumerate() {
                        for right in &args[number + 1..] {
                            let difference = self.difference(*left, *right, tracked)?;
                            if !difference.coefficients.is_empty() {
                                forms.insert(difference.normal()?);
                            }
                        }
                    }
                }
                _ => return None,
            }
            if forms.len() > FORMS {
                return None;
            }
        }
        Some(forms)
    }

    /// A difference as a form in these variables.
    pub(super) fn difference(&mut self, left: Term, right: Term, vars: &[Var]) -> Option<Form> {
        let mut difference = self.form(left, vars, LEVELS)?;
        difference.add(&-Rational::ONE, &self.form(right, vars, LEVELS)?);
        Some(difference)
    }

    fn form(&mut self, term: Term, vars: &[Var], levels: usize) -> Option<Form> {
        if self.is_fixed(term, vars) {
            let constant = self.fraction(term).filter(|number| number.bit_size() <= BITS)?;
            return Some(Form { constant, ..Form::default() });
        }
        let levels = levels.checked_sub(1)?;
        let args = self.store.args(term);
        match self.store.head(term) {
            Head::Var(var) => {
                Some(Form { coefficients: BTreeMap::from([(var, Rational::ONE)]), ..Form::default() })
            }
            Head::Annotated(_) | Head::Op(Op::ToReal, _) => self.form(args[0], vars, levels),
            Head::Op(Op::IntNeg | Op::RealNeg, _) => {
                Some(self.form(args[0], vars, levels)?.scaled(&-Rational::ONE))
            }
            Head::Op(op @ (Op::IntAdd | Op::RealAdd | Op::IntSub | Op::RealSub), _) => {
                let adds = matches!(op, Op::IntAdd | Op::RealAdd);
                let factor = if adds { Rational::ONE } else { -Rational::ONE };
                let mut sum = self.form(args[0], vars, levels)?;
                for arg in &args[1..] {
                    sum.add(&factor, &self.form(*arg, vars, levels)?);
                }
                Some(sum)
            }
            Head::Op(Op::IntMul | Op::RealMul, _) => {
                let mut product = Form { constant: Rational::ONE, ..Form::default() };
                for arg in args {
                    let factor = self.form(*arg, vars, levels)?;
                    let (form, number) =
                        match (product.coefficients.is_empty(), factor.coefficients.is_empty()) {
                            (_, true) => (product, factor.constant),
                            (true, false) => (factor, product.constant),
                            (false, false) => return None,
                        };
                    product = form.scaled(&number);
                    if !product.is_small() {
                        return None;
                    }
                }
                Some(product)
            }
            Head::Op(Op::RealDiv, _) => {
                let mut quotient = self.form(args[0], vars, levels)?;
                for arg in &args[1..] {
                    let divisor = self.form(*arg, vars, levels)?;
                    if !divisor.coefficients.is_empty() {
                        return None;
                    }
                    quotient = quotient.scaled(&divisor.constant.recip()?);
                }
                Some(quotient)
            }
            _ => None,
        }
    }
}

/// Is it a connective, whose value depends on the truth of its arguments alone?
fn connects(store: &Store, op: Op, args: &[Term]) -> bool {
    let truths = args.iter().all(|arg| store.sort_of(*arg) == Sort::BOOL);
    truths
        && matches!(
            op,
            Op::Not | Op::And | Op::Or | Op::Xor | Op::Implies | Op::Ite | Op::Equal | Op::Distinct
        )
}

/// Does it depend on the order of numbers alone?
fn compares(store: &Store, op: Op, args: &[Term]) -> bool {
    let numbers = args.iter().all(|arg| matches!(store.sort_of(*arg), Sort::INT | Sort::REAL));
    numbers
        && matches!(
            op,
            Op::Equal
                | Op::Distinct
                | Op::IntLe
                | Op::IntLt
                | Op::IntGe
                | Op::IntGt
                | Op::RealLe
                | Op::RealLt
                | Op::RealGe
                | Op::RealGt
        )
}

/// Eliminates a real variable: the forms without it, and what is left of each two with it.
fn without(var: Var, forms: BTreeSet<Form>) -> Option<BTreeSet<Form>> {
    let (with, mut left): (BTreeSet<Form>, BTreeSet<Form>) =
        forms.into_iter().partition(|form| form.coefficients.contains_key(&var));
    let mut solved = Vec::with_capacity(with.len());
    for form in &with {
        solved.push(form.scaled(&form.coefficients.get(&var)?.recip()?));
    }
    for (number, one) in solved.iter().enumerate() {
        for other in &solved[number + 1..] {
            let mut difference = one.clone();
            difference.add(&-Rational::ONE, other);
            if !difference.coefficients.is_empty() {
                left.insert(difference.normal()?);
            }
            if left.len() > FORMS {
                return None;
            }
        }
    }
    Some(left)
}

/// The numbers, one between each two of them, and one beyond each end.
fn around(zeros: &BTreeSet<Rational>) -> Vec<Value> {
    let (Some(first), Some(last)) = (zeros.first(), zeros.last()) else { return vec![Value::real(0)] };
    let mut values = vec![first - &Rational::ONE, last + &Rational::ONE];
    let mut before: Option<&Rational> = None;
    for zero in zeros {
        values.extend(before.map(|before| before.midpoint(zero)));
        values.push(zero.clone());
        before = Some(zero);
    }
    values.into_iter().map(Value::from).collect()
}

/// An integer of every piece of the line that has one: at the numbers, right after each of them, and before the first.
fn around_integers(zeros: &BTreeSet<Rational>) -> Vec<Value> {
    let Some(first) = zeros.first() else { return vec![Value::int(0)] };
    let mut values = BTreeSet::from([&first.ceil() - &Integer::ONE]);
    for zero in zeros {
        values.insert(zero.floor());
        values.insert(&zero.floor() + &Integer::ONE);
    }
    values.into_iter().map(Value::Int).collect()
}
