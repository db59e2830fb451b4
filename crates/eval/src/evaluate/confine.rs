//! Quantifiers over large and infinite sorts that few values decide.
//!
//! What the body demands of a variable may leave few values for it: `x` is between two numbers, or equal to a term. Or
//! the body speaks of the variable in linear atoms alone, and one value stands for all between two neighbouring places
//! where an atom changes ([`decisive`](super::decisive)). The variables get their values one after the other, so bounds
//! may depend on those before. Whatever cannot be shown to be complete gives nothing.

use std::collections::BTreeMap;

use smtlib::{Head, Op, Sort, SortKind, Term, Var};

use super::bind::INSTANCE_COST;
use super::decisive::Form;
use super::{Computation, Evaluated};
use crate::bv::BitVector;
use crate::integer::Integer;
use crate::rational::Rational;
use crate::unknown::Unknown;
use crate::value::Value;

/// Variables of one quantifier: each takes some of the machine's own stack.
const VARIABLES: usize = 16;

/// Formulas inside one another, and formulas in all, that are looked at for what they demand of a variable.
const LEVELS: usize = 16;
const LOOKS: usize = 256;

/// How often bounds are put into one another.
const ROUNDS: usize = 3;

/// So few values are tried without looking for a better list.
const FEW: usize = 16;

/// Values that a variable must have for a formula to be true, or to be false. There may be more than needed.
#[derive(Clone, Debug)]
enum Demand {
    Anything,
    /// Integers, or bit-vectors read as numbers without sign, between two ends.
    Between(Option<Integer>, Option<Integer>),
    OneOf(Vec<Value>),
}

/// What trying all values came to.
enum Search {
    /// An instance has the wanted value.
    Found,
    /// None has; the first that has no value at all.
    Exhausted(Option<Unknown>),
    /// There may be further values.
    Open,
}

impl Computation<'_> {
    /// The value of a quantifier whose body is decided by few values of its variables; `None` if they cannot be told.
    /// `wanted` is the value of the body that decides, and `left` how often a variable may get a value.
    pub(super) fn confined(
        &mut self,
        term: Term,
        vars: &[Var],
        body: Term,
        wanted: bool,
        mut left: usize,
    ) -> Result<Option<bool>, Unknown> {
        if vars.len() > VARIABLES {
            return Ok(None);
        }
        match self.search(term, vars, body, wanted, &mut left)? {
            Search::Found => Ok(Some(wanted)),
            Search::Exhausted(None) => Ok(Some(!wanted)),
            Search::Exhausted(Some(unknown)) => Err(unknown),
            Search::Open => Ok(None),
        }
    }

    fn search(
        &mut self,
        term: Term,
        vars: &[Var],
        body: Term,
        wanted: bool,
        left: &mut usize,
    ) -> Result<Search, Unknown> {
        if vars.is_empty() {
            return match self.nested(body) {
                Ok(Value::Bool(value)) if value == wanted => Ok(Search::Found),
                Ok(_) => Ok(Search::Exhausted(None)),
                Err(unknown) if unknown.is_transient() => Err(unknown),
                Err(unknown) => Ok(Search::Exhausted(Some(unknown))),
            };
        }
        let bounds = self.bounds(term, vars, body, wanted)?;
        let mut best: Option<(Var, Vec<Value>)> = None;
        for var in vars {
            let place = Place { var: *var, vars, bounds: &bounds, level: 0 };
            let values = self.values_for(term, place, body, wanted, *left)?;
            if let Some(values) = values
                && best.as_ref().is_none_or(|(_, least)| values.len() < least.len())
            {
                best = Some((*var, values));
            }
        }
        let Some((var, values)) = best else { return Ok(Search::Open) };
        let rest: Vec<Var> = vars.iter().filter(|other| **other != var).copied().collect();
        let mut undecided = None;
        for value in values {
            let Some(fewer) = left.checked_sub(1) else { return Ok(Search::Open) };
            *left = fewer;
            self.charge(term, INSTANCE_COST)?;
            let scope = self.enter(body, std::iter::once((var, value)));
            let found = self.search(term, &rest, body, wanted, left);
            self.restore(scope);
            match found? {
                Search::Exhausted(unknown) => undecided = undecided.or(unknown),
                decided => return Ok(decided),
            }
        }
        Ok(Search::Exhausted(undecided))
    }

    /// Ends of integer variables that follow from one another: `x` is at most `y`, and `y` at most ten.
    fn bounds(&mut self, term: Term, vars: &[Var], body: Term, wanted: bool) -> Result<Bounds, Unknown> {
        let mut bounds = Bounds::default();
        let integers = vars.iter().filter(|var| self.store.var_sort(**var) == Sort::INT).count();
        for _ in 0..if integers > 1 { integers.min(ROUNDS) } else { 0 } {
            let mut next = Bounds::default();
            for var in vars {
                let place = Place { var: *var, vars, bounds: &bounds, level: 0 };
                let ends = match self.whole_demand(term, place, body, wanted)? {
                    Demand::Between(low, high) => (low, high),
                    Demand::OneOf(values) => {
                        let numbers = values.iter().map(|value| match value {
                            Value::Int(number) => Some(number.clone()),
                            _ => None,
                        });
                        let numbers: Option<Vec<Integer>> = numbers.collect();
                        let numbers = numbers.unwrap_or_default();
                        (numbers.iter().min().cloned(), numbers.into_iter().max())
                    }
                    Demand::Anything => continue,
                };
                if self.store.var_sort(*var) == Sort::INT {
                    next.insert(*var, ends);
                }
            }
            if next == bounds {
                break;
            }
            bounds = next;
        }
        Ok(bounds)
    }

    fn whole_demand(
        &mut self,
        term: Term,
        place: Place<'_>,
        body: Term,
        wanted: bool,
    ) -> Result<Demand, Unknown> {
        let mut looks = LOOKS;
        let demand = self.demand(body, wanted, place, &mut looks);
        self.charge(term, (LOOKS - looks) as u64)?;
        Ok(demand)
    }

    /// Values of a variable, at most `limit`, such that no other has to be tried.
    fn values_for(
        &mut self,
        term: Term,
        place: Place<'_>,
        body: Term,
        wanted: bool,
        limit: usize,
    ) -> Result<Option<Vec<Value>>, Unknown> {
        let sort = self.store.var_sort(place.var);
        let demand = self.whole_demand(term, place, body, wanted)?;
        let listed = match demand {
            Demand::OneOf(values) => Some(values),
            Demand::Between(low, high) => between(self.store.sort_kind(sort), low, high, limit),
            Demand::Anything => None,
        };
        let listed = listed.or_else(|| self.sorts().enumerate(sort, limit));
        if listed.as_ref().is_some_and(|values| values.len() <= FEW) {
            return Ok(listed);
        }
        let decisive =
            self.decisive_values(term, place.var, place.vars, body)?.filter(|values| values.len() <= limit);
        Ok(match (listed, decisive) {
            (Some(listed), Some(decisive)) if decisive.len() < listed.len() => Some(decisive),
            (Some(listed), _) => Some(listed),
            (None, decisive) => decisive,
        })
    }

    /// What must be true of the variable if the formula has this truth value.
    fn demand(&mut self, formula: Term, truth: bool, place: Place<'_>, looks: &mut usize) -> Demand {
        let Some(fewer) = looks.checked_sub(1) else { return Demand::Anything };
        *looks = fewer;
        if place.level == LEVELS {
            return Demand::Anything;
        }
        if self.is_fixed(formula, place.vars) {
            return match self.nested(formula) {
                Ok(Value::Bool(value)) if value != truth => Demand::OneOf(Vec::new()),
                _ => Demand::Anything,
            };
        }
        let inner = Place { level: place.level + 1, ..place };
        let args = self.store.args(formula);
        let Head::Op(op, _) = self.store.head(formula) else {
            return match self.store.head(formula) {
                Head::Annotated(_) => self.demand(args[0], truth, inner, looks),
                Head::Var(var) if var == place.var => Demand::OneOf(vec![Value::Bool(truth)]),
                _ => Demand::Anything,
            };
        };
        let last = args.len().saturating_sub(1);
        match (op, truth) {
            (Op::Not, _) => self.demand(args[0], !truth, inner, looks),
            (Op::And, true) | (Op::Or, false) | (Op::Implies, false) => {
                let mut all = Demand::Anything;
                for (number, arg) in args.iter().enumerate() {
                    let truth = if op == Op::Implies { number < last } else { truth };
                    let demand = self.demand(*arg, truth, inner, looks);
                    all = all.and(demand);
                }
                all
            }
            (Op::And, false) | (Op::Or, true) | (Op::Implies, true) => {
                let mut any = Demand::OneOf(Vec::new());
                for (number, arg) in args.iter().enumerate() {
                    let truth = if op == Op::Implies { number == last } else { truth };
                    let demand = self.demand(*arg, truth, inner, looks);
                    any = any.or(demand);
                    if matches!(any, Demand::Anything) {
                        break;
                    }
                }
                any
            }
            (Op::Distinct, false) if args.len() == 2 => self.relation(Op::Equal, args[0], args[1], place),
            // A chain that is false says nothing of a single pair.
            (_, false) if args.len() != 2 => Demand::Anything,
            (_, false) => match denied(op) {
                Some(op) => self.relation(op, args[0], args[1], place),
                None => Demand::Anything,
            },
            (_, true) => {
                let pairs = args.windows(2).map(|pair| self.relation(op, pair[0], pair[1], place));
                pairs.fold(Demand::Anything, Demand::and)
            }
        }
    }

    /// What a true relation between two terms demands.
    fn relation(&mut self, op: Op, left: Term, right: Term, place: Place<'_>) -> Demand {
        let var = place.var;
        let is_var = |term: Term| self.store.head(term) == Head::Var(var);
        let (other, turned) = match (is_var(left), is_var(right)) {
            (true, false) => (right, false),
            (false, true) => (left, true),
            _ => return self.linear_relation(op, left, right, place),
        };
        let value = if self.is_fixed(other, place.vars) { self.nested(other).ok() } else { None };
        let Some(value) = value else { return self.linear_relation(op, left, right, place) };
        match (op, &value) {
            (Op::Equal, _) if value.is_definite() => Demand::OneOf(vec![value]),
            (Op::BvUle | Op::BvUlt | Op::BvUge | Op::BvUgt, Value::BitVector(bits)) => {
                let above = matches!(op, Op::BvUge | Op::BvUgt) != turned;
                let strict = matches!(op, Op::BvUlt | Op::BvUgt);
                let end = bits.to_unsigned();
                if above {
                    Demand::Between(Some(if strict { &end + &Integer::ONE } else { end }), None)
                } else {
                    Demand::Between(None, Some(if strict { &end - &Integer::ONE } else { end }))
                }
            }
            _ => self.linear_relation(op, left, right, place),
        }
    }

    /// The same for sums of multiples of the variable and terms without it.
    fn linear_relation(&mut self, op: Op, left: Term, right: Term, place: Place<'_>) -> Demand {
        let (above, strict) = match op {
            Op::Equal => (false, false),
            Op::IntLe | Op::RealLe => (false, false),
            Op::IntLt | Op::RealLt => (false, true),
            Op::IntGe | Op::RealGe => (true, false),
            Op::IntGt | Op::RealGt => (true, true),
            _ => return Demand::Anything,
        };
        let sort = self.store.var_sort(place.var);
        if !matches!(sort, Sort::INT | Sort::REAL) {
            return Demand::Anything;
        }
        let Some(difference) = self.difference(left, right, place.vars) else { return Demand::Anything };
        let integer = sort == Sort::INT;
        if op == Op::Equal
            && let Some((_, end)) = difference.zero_of(place.var)
        {
            return match (integer, end.to_integer()) {
                (true, Some(end)) => Demand::OneOf(vec![Value::Int(end)]),
                (true, None) => Demand::OneOf(Vec::new()),
                (false, _) => Demand::OneOf(vec![end.into()]),
            };
        }
        if !integer {
            return Demand::Anything;
        }
        if op == Op::Equal {
            return end_of(&difference, false, false, place).and(end_of(&difference, true, false, place));
        }
        end_of(&difference, above, strict, place)
    }

    /// Has the term the same value for all values of the variables?
    pub(super) fn is_fixed(&mut self, term: Term, vars: &[Var]) -> bool {
        !self.store.mentions_vars(term) || !self.free_vars(term).iter().any(|free| vars.contains(free))
    }

    /// The value of a term that is a fraction.
    pub(super) fn fraction(&mut self, term: Term) -> Option<Rational> {
        let value: Evaluated = self.nested(term);
        match value.ok()? {
            Value::Int(value) => Some(value.into()),
            Value::Real(crate::algebraic::Real::Rational(value)) => Some(value),
            _ => None,
        }
    }
}

/// The variable that is looked at, among those without a value, what is known of the others, and how deep in the body.
#[derive(Clone, Copy)]
struct Place<'a> {
    var: Var,
    vars: &'a [Var],
    bounds: &'a Bounds,
    level: usize,
}

/// Both ends of variables, where there are any.
type Bounds = BTreeMap<Var, (Option<Integer>, Option<Integer>)>;

/// The end of an integer variable if the form is at least zero (`above`), or at most, or strictly so.
fn end_of(form: &Form, above: bool, strict: bool, place: Place<'_>) -> Demand {
    // The others as they leave most room.
    let only = form.with_others(place.var, |var, coefficient| {
        let (low, high) = place.bounds.get(&var)?;
        let most = above == (*coefficient > Rational::ZERO);
        if most { high.clone() } else { low.clone() }
    });
    let Some((slope, end)) = only.and_then(|form| form.zero_of(place.var)) else { return Demand::Anything };
    if above == (slope > Rational::ZERO) {
        let low = if strict { &end.floor() + &Integer::ONE } else { end.ceil() };
        Demand::Between(Some(low), None)
    } else {
        let high = if strict { &end.ceil() - &Integer::ONE } else { end.floor() };
        Demand::Between(None, Some(high))
    }
}

impl Demand {
    /// What both demand.
    fn and(self, other: Demand) -> Demand {
        match (self, other) {
            (Demand::Anything, other) | (other, Demand::Anything) => other,
            (Demand::OneOf(some), Demand::OneOf(others)) => {
                Demand::OneOf(if some.len() <= others.len() { some } else { others })
            }
            (Demand::OneOf(some), Demand::Between(..)) | (Demand::Between(..), Demand::OneOf(some)) => {
                Demand::OneOf(some)
            }
            (Demand::Between(low, high), Demand::Between(other_low, other_high)) => Demand::Between(
                low.into_iter().chain(other_low).max(),
                high.into_iter().chain(other_high).min(),
            ),
        }
    }

    /// What one of them demands.
    fn or(self, other: Demand) -> Demand {
        match (self, other) {
            (Demand::OneOf(mut some), Demand::OneOf(others)) => {
                for value in others {
                    if !some.contains(&value) {
                        some.push(value);
                    }
                }
                Demand::OneOf(some)
            }
            (Demand::OneOf(some), other) | (other, Demand::OneOf(some)) if some.is_empty() => other,
            (Demand::Between(low, high), Demand::Between(other_low, other_high)) => Demand::Between(
                low.zip(other_low).map(|(a, b)| a.min(b)),
                high.zip(other_high).map(|(a, b)| a.max(b)),
            ),
            _ => Demand::Anything,
        }
    }
}

/// The relation that holds between two terms if this one does not.
fn denied(op: Op) -> Option<Op> {
    Some(match op {
        Op::IntLe => Op::IntGt,
        Op::IntLt => Op::IntGe,
        Op::IntGe => Op::IntLt,
        Op::IntGt => Op::IntLe,
        Op::RealLe => Op::RealGt,
        Op::RealLt => Op::RealGe,
        Op::RealGe => Op::RealLt,
        Op::RealGt => Op::RealLe,
        Op::BvUle => Op::BvUgt,
        Op::BvUlt => Op::BvUge,
        Op::BvUge => Op::BvUlt,
        Op::BvUgt => Op::BvUle,
        _ => return None,
    })
}

/// All values of a sort between two ends, if there are at most `limit`.
fn between(sort: &SortKind, low: Option<Integer>, high: Option<Integer>, limit: usize) -> Option<Vec<Value>> {
    let (low, high) = match sort {
        SortKind::BitVec(width) => {
            let most = BitVector::all_ones(*width).to_unsigned();
            (
                low.unwrap_or(Integer::ZERO).max(Integer::ZERO),
                high.map_or(most.clone(), |high| high.min(most)),
            )
        }
        SortKind::Int => (low?, high?),
        _ => return None,
    };
    if high < low {
        return Some(Vec::new());
    }
    let more = (&high - &low).to_usize().filter(|more| *more < limit)?;
    let numbers = (0..=more as i64).map(|number| &low + &Integer::new(number));
    Some(match sort {
        SortKind::BitVec(width) => {
            numbers.map(|number| Value::BitVector(BitVector::from_integer(*width, &number))).collect()
        }
        _ => numbers.map(Value::Int).collect(),
    })
}
