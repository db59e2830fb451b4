//! Other operators for given arguments: what the mutating engines ask the grammar.

use smtlib::theory::{Arity, Bindings, Row, SortPattern, table};
use smtlib::{Head, Index, Op, Sort, SortKind, Store, Term};

use crate::grammar::{Grammar, GrammarError};
use crate::logic::Arithmetic;
use crate::operands::{self, Operand};
use crate::rng::Rng;
use crate::solve::Solver;

impl Grammar {
    /// The same releases and settings for another logic.
    pub fn for_logic(&self, logic: &str) -> Result<Grammar, GrammarError> {
        if self.logic.name == logic {
            return Ok(self.clone());
        }
        Grammar::new(logic, &self.releases, self.config.clone())
    }

    /// The operators that take arguments of these sorts and may give `result`, for some choice of indices.
    pub fn operators_over(
        &self,
        store: &mut Store,
        rng: &mut Rng,
        args: &[Sort],
        result: Sort,
    ) -> Vec<&'static Row> {
        let candidates =
            table().rows().iter().filter(|row| self.allows_replacing(row) && takes(row, args.len()));
        candidates.filter(|row| self.fit(store, rng, row, args, result).is_some()).collect()
    }

    /// Constants of the table (`true`, `re.all`, rounding modes) are leaves for the generator and operators without
    /// arguments for a mutator.
    fn allows_replacing(&self, row: &Row) -> bool {
        self.allows(row.op) || matches!(row.op, Op::True | Op::False)
    }

    /// The operator over these arguments with the given result sort, its indices chosen at random; `None` if the
    /// logic wants other operands.
    pub fn apply(
        &self,
        store: &mut Store,
        rng: &mut Rng,
        row: &'static Row,
        args: &[Term],
        result: Sort,
    ) -> Option<Term> {
        if !(0..args.len()).all(|i| self.takes_operand(store, row.op, args, i)) {
            return None;
        }
        let term = if row.indices.is_empty() && row.qualified.is_none() {
            store.op(row.op, args).ok()?
        } else {
            let sorts: Vec<Sort> = args.iter().map(|arg| store.sort_of(*arg)).collect();
            let bindings = self.fit(store, rng, row, &sorts, result)?;
            if let Some(pattern) = &row.qualified {
                let sort = pattern.instantiate(store, &bindings)?;
                store.qualified(row.op, sort, args).ok()?
            } else {
                let numbers =
                    row.indices.iter().map(|slot| bindings.numbers[usize::from(*slot)].map(Index::Number));
                store.indexed(row.op, &numbers.collect::<Option<Vec<_>>>()?, args).ok()?
            }
        };
        (store.sort_of(term) == result).then_some(term)
    }

    /// Values of the row's variables for these argument and result sorts.
    fn fit(
        &self,
        store: &mut Store,
        rng: &mut Rng,
        row: &Row,
        args: &[Sort],
        result: Sort,
    ) -> Option<Bindings> {
        let mut bindings = Bindings::default();
        for (i, sort) in args.iter().enumerate() {
            let last = row.arity == Arity::RightAssoc && i + 1 == args.len();
            let pattern = if last { row.args.get(1)? } else { row.arg(i)? };
            if !pattern.matches(store, *sort, &mut bindings) {
                return None;
            }
            // Solvers have no equality between regular languages or functions.
            if matches!(pattern, SortPattern::Var(_))
                && matches!(store.sort_kind(*sort), SortKind::RegLan | SortKind::Fun(..))
            {
                return None;
            }
        }
        Solver { store, rng, sorts: &[], max_width: self.config.max_width }.complete(row, result, bindings)
    }

    /// Does the logic let `args[i]` stand at its place under the operator?
    pub(crate) fn takes_operand(&self, store: &Store, op: Op, args: &[Term], i: usize) -> bool {
        let constant = |term: Term| is_number(store, term);
        match op {
            // Any one factor may be the variable one.
            Op::IntMul | Op::RealMul if self.logic.is_linear() => {
                i > 0 || args.iter().filter(|arg| !constant(**arg)).count() <= 1
            }
            _ => match operands::operand(&self.logic, op, i) {
                Operand::Any => true,
                Operand::Constant | Operand::Value => constant(args[i]),
                Operand::NonZero => constant(args[i]) && !is_zero(store, args[i]),
                Operand::Numeral(_) | Operand::Character => matches!(store.head(args[i]), Head::Literal(_)),
            },
        }
    }

    /// May the `i`-th argument of a term be replaced by any term of its sort without leaving the logic?
    pub fn may_replace(&self, store: &Store, parent: Term, i: usize) -> bool {
        let arg = store.args(parent)[i];
        let numeric = matches!(store.sort_of(arg), Sort::INT | Sort::REAL);
        if numeric && self.logic.arithmetic == Arithmetic::Difference {
            return false;
        }
        match store.op_of(parent) {
            Some(op) if numeric && self.logic.is_linear() && is_number(store, arg) => !matches!(
                op,
                Op::IntMul | Op::RealMul | Op::IntDiv | Op::IntMod | Op::RealDiv | Op::IntNeg | Op::RealNeg
            ),
            // What replaces the variable factor may be variable too.
            Some(Op::IntMul | Op::RealMul) => true,
            Some(op) => operands::operand(&self.logic, op, i) == Operand::Any,
            None => true,
        }
    }
}

fn takes(row: &Row, count: usize) -> bool {
    if row.special {
        return false;
    }
    match row.arity {
        Arity::Fixed => row.args.len() == count,
        _ if count < 2 => false,
        // Standard text has two arguments here, and widths add up only pairwise.
        _ if row.nary_extension || matches!(row.op, Op::StrLt | Op::StrLe) => count == 2,
        _ => true,
    }
}

/// A number written with literals, signs and quotients.
fn is_number(store: &Store, term: Term) -> bool {
    match store.head(term) {
        Head::Literal(_) => true,
        Head::Op(Op::IntNeg | Op::RealNeg | Op::RealDiv, _) => {
            store.args(term).iter().all(|arg| is_number(store, *arg))
        }
        _ => false,
    }
}

fn is_zero(store: &Store, term: Term) -> bool {
    match store.head(term) {
        Head::Literal(id) => match store.literal(id) {
            smtlib::Literal::Int(value) => value.is_zero(),
            smtlib::Literal::Real(value) => value.is_zero(),
            _ => false,
        },
        _ => store.args(term).first().is_some_and(|arg| is_zero(store, *arg)),
    }
}
