//! An operator put in the place of another: what BanditFuzz's mutator asks the grammar.

use smtlib::theory::{Arity, Bindings, Row, SortPattern};
use smtlib::{Sort, SortKind, Store, Term};

use crate::grammar::Grammar;
use crate::operands;
use crate::rng::Rng;
use crate::scope::Scope;
use crate::solve::{Solver, is_simple};
use crate::term::Maker;

/// An operator that is to take another one's place.
#[derive(Clone, Copy, Debug)]
pub struct Insertion<'a> {
    pub row: &'static Row,
    /// The operands of the other one.
    pub operands: &'a [Term],
    /// The sort of the result.
    pub wanted: Sort,
    /// Levels of operators that new operands may have.
    pub depth: usize,
}

impl Grammar {
    /// A constant of the sort; a leaf of the scope where the sort has no constants.
    pub fn constant(&self, store: &mut Store, rng: &mut Rng, sort: Sort, scope: &mut Scope) -> Option<Term> {
        Maker::new(self, store, rng, scope).constant(sort)
    }

    /// The operator with a result of the wanted sort over these operands, as far as they fit (Scott, Mora, Ganesh:
    /// BanditFuzz, section 3.2): what is too much is dropped from the right, what is missing is made new. `None` if the
    /// operator cannot have that sort here.
    pub fn insert(
        &self,
        store: &mut Store,
        rng: &mut Rng,
        scope: &mut Scope,
        insertion: Insertion<'_>,
    ) -> Option<Term> {
        let Insertion { row, operands, wanted, depth } = insertion;
        let count = self.arguments_of(row, operands.len());
        let mut bindings = Bindings::default();
        let mut kept = vec![None; count];
        // Where the sort of the result is computed from those of the arguments, these are chosen first.
        let simple = is_simple(&row.result);
        if simple {
            if !row.result.matches(store, wanted, &mut bindings) {
                return None;
            }
            self.keep(store, row, operands, &mut bindings, &mut kept);
        }
        let mut solver = Solver { store, rng, sorts: scope.sorts(), max_width: self.config.max_width };
        let solved = match simple {
            true => solver.solve_from(row, wanted, bindings),
            false => solver.solve(row, wanted),
        };
        let bindings = match solved {
            Some(bindings) => bindings,
            None => {
                kept.fill(None);
                solver.solve(row, wanted)?
            }
        };
        if !simple {
            let mut fixed = bindings;
            self.keep(store, row, operands, &mut fixed, &mut kept);
        }
        let mut args = Vec::with_capacity(count);
        for (i, kept) in kept.iter().enumerate() {
            let sort = pattern(row, i, count)?.instantiate(store, &bindings)?;
            if matches!(store.sort_kind(sort), SortKind::BitVec(width) if *width > self.config.max_width) {
                return None;
            }
            args.push(match kept {
                Some(operand) => *operand,
                None => Maker::new(self, store, rng, scope).argument(row.op, i, sort, depth)?,
            });
        }
        for i in 0..count {
            if !self.takes_operand(store, row.op, &args, i) {
                let sort = store.sort_of(args[i]);
                args[i] = Maker::new(self, store, rng, scope).argument(row.op, i, sort, depth)?;
            }
        }
        let term = Maker::new(self, store, rng, scope).build(row, &bindings, &args)?;
        (store.sort_of(term) == wanted).then_some(term)
    }

    /// How many arguments an operator gets in the place of one with so many.
    fn arguments_of(&self, row: &Row, before: usize) -> usize {
        match row.arity {
            Arity::Fixed => row.args.len(),
            _ => before.clamp(2, operands::most_arguments(&self.logic, row).max(2)),
        }
    }

    /// Gives each argument place the first operand that is left and fits.
    fn keep(
        &self,
        store: &Store,
        row: &Row,
        operands: &[Term],
        bindings: &mut Bindings,
        kept: &mut [Option<Term>],
    ) {
        let count = kept.len();
        let mut left: Vec<Option<Term>> = operands.iter().copied().map(Some).collect();
        for (i, place) in kept.iter_mut().enumerate() {
            let Some(pattern) = pattern(row, i, count) else { return };
            for operand in &mut left {
                let Some(term) = *operand else { continue };
                let sort = store.sort_of(term);
                // Solvers have no equality between regular languages or functions.
                let equated = matches!(pattern, SortPattern::Var(_))
                    && matches!(store.sort_kind(sort), SortKind::RegLan | SortKind::Fun(..));
                let mut trial = *bindings;
                if !equated && pattern.matches(store, sort, &mut trial) {
                    *bindings = trial;
                    *place = Some(term);
                    *operand = None;
                    break;
                }
            }
        }
    }
}

/// The sort of the `i`-th of so many arguments.
fn pattern(row: &Row, i: usize, count: usize) -> Option<&SortPattern> {
    let last = row.arity == Arity::RightAssoc && i + 1 == count;
    if last { row.args.get(1) } else { row.arg(i) }
}
