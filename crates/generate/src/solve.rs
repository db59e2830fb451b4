//! From a wanted result sort to the argument sorts of a row: solving its sort and width variables.

use smtlib::theory::{Bindings, Expr, Row, SortPattern};
use smtlib::{Op, Sort, SortKind, Store};

use crate::rng::Rng;

/// Indices that are no widths (repetitions, rotations, divisors) are below this.
const INDEX: usize = 9;
const TRIES: usize = 3;

pub(crate) struct Solver<'a> {
    pub store: &'a mut Store,
    pub rng: &'a mut Rng,
    /// Sorts that free sort variables are chosen from.
    pub sorts: &'a [Sort],
    pub max_width: u32,
}

impl Solver<'_> {
    /// Values for all variables of the row such that its result is `wanted`.
    pub fn solve(&mut self, row: &Row, wanted: Sort) -> Option<Bindings> {
        (0..TRIES).find_map(|_| self.solve_from(row, wanted, Bindings::default()))
    }

    /// The same where some variables have their values already.
    pub fn solve_from(&mut self, row: &Row, wanted: Sort, mut bindings: Bindings) -> Option<Bindings> {
        if is_simple(&row.result) {
            if !row.result.matches(self.store, wanted, &mut bindings) {
                return None;
            }
            self.free_arguments(row, &mut bindings)?;
        } else {
            self.computed_result(row, wanted, &mut bindings)?;
        }
        self.free_indices(row, &mut bindings);
        let holds = row.constraints.iter().all(|constraint| constraint.holds(&bindings));
        holds.then_some(bindings)
    }

    /// Values for the remaining variables when the arguments' sorts are known.
    pub fn complete(&mut self, row: &Row, wanted: Sort, mut bindings: Bindings) -> Option<Bindings> {
        let kind = self.store.sort_kind(wanted).clone();
        match (&row.result, kind) {
            (SortPattern::BitVec(_), SortKind::BitVec(n)) if row.op == Op::BvExtract => {
                let SortPattern::BitVec(width) = &row.args[0] else { return None };
                let room = width.value(&bindings)?.checked_sub(n)?;
                let low = self.rng.between(0, room as usize) as u32;
                bindings.numbers[usize::from(row.indices[0])] = Some(low + n - 1);
                bindings.numbers[usize::from(row.indices[1])] = Some(low);
            }
            (SortPattern::BitVec(width), SortKind::BitVec(n)) => self.equate(width, n, &mut bindings)?,
            (SortPattern::Float(e, s), SortKind::Float(eb, sb)) => {
                self.equate(e, eb, &mut bindings)?;
                self.equate(s, sb, &mut bindings)?;
            }
            (pattern, _) => {
                if !pattern.matches(self.store, wanted, &mut bindings) {
                    return None;
                }
            }
        }
        self.free_indices(row, &mut bindings);
        let holds = row.constraints.iter().all(|constraint| constraint.holds(&bindings));
        let bound = row.args.iter().all(|pattern| is_bound(pattern, &bindings));
        (holds && bound).then_some(bindings)
    }

    fn free_indices(&mut self, row: &Row, bindings: &mut Bindings) {
        for slot in &row.indices {
            let index = &mut bindings.numbers[usize::from(*slot)];
            if index.is_none() {
                *index = Some(self.rng.below(INDEX) as u32);
            }
        }
    }

    /// The result's width is an expression: the first argument's sort is chosen, then the equation is solved.
    fn computed_result(&mut self, row: &Row, wanted: Sort, bindings: &mut Bindings) -> Option<()> {
        let kind = self.store.sort_kind(wanted).clone();
        match (&row.result, kind) {
            (SortPattern::BitVec(width), SortKind::BitVec(n)) => {
                if row.op == Op::BvExtract {
                    return self.extract(row, n, bindings);
                }
                // An argument of a sort in use makes leaves likely; any other width is possible too.
                if self.rng.chance(0.8) {
                    let first = row.args.first()?;
                    self.free_argument(first, bindings);
                }
                self.equate(width, n, bindings)?;
            }
            (SortPattern::Float(e, s), SortKind::Float(eb, sb)) => {
                self.equate(e, eb, bindings)?;
                self.equate(s, sb, bindings)?;
            }
            _ => return None,
        }
        self.free_arguments(row, bindings)
    }

    /// `(_ extract i j)`: the width of the argument first, then the place of the window.
    fn extract(&mut self, row: &Row, n: u32, bindings: &mut Bindings) -> Option<()> {
        let SortPattern::BitVec(Expr::Var(width)) = row.args[0] else { return None };
        let wide: Vec<u32> = self
            .sorts
            .iter()
            .filter_map(|sort| match self.store.sort_kind(*sort) {
                SortKind::BitVec(m) if *m >= n => Some(*m),
                _ => None,
            })
            .collect();
        let m = match self.rng.pick(&wide) {
            Some(m) if self.rng.chance(0.8) => *m,
            _ => self.rng.between(n as usize, self.max_width.max(n) as usize) as u32,
        };
        let low = self.rng.between(0, (m - n) as usize) as u32;
        bindings.numbers[usize::from(width)] = Some(m);
        bindings.numbers[usize::from(row.indices[0])] = Some(low + n - 1);
        bindings.numbers[usize::from(row.indices[1])] = Some(low);
        Some(())
    }

    fn free_arguments(&mut self, row: &Row, bindings: &mut Bindings) -> Option<()> {
        for pattern in &row.args {
            self.free_argument(pattern, bindings)?;
        }
        Some(())
    }

    /// Binds what is still open in an argument's pattern by a sort in use that fits.
    fn free_argument(&mut self, pattern: &SortPattern, bindings: &mut Bindings) -> Option<()> {
        if is_bound(pattern, bindings) {
            return Some(());
        }
        if let SortPattern::Fun(params, result) = pattern {
            for part in params.iter().chain([&**result]) {
                self.free_argument(part, bindings)?;
            }
            return Some(());
        }
        // Reservoir sampling over the sorts that fit.
        let mut chosen = None;
        let mut fitting = 0;
        for sort in self.sorts {
            let mut candidate = *bindings;
            if pattern.matches(self.store, *sort, &mut candidate) {
                fitting += 1;
                if self.rng.below(fitting) == 0 {
                    chosen = Some(candidate);
                }
            }
        }
        *bindings = chosen?;
        Some(())
    }

    /// Chooses values of the open variables such that the expression is `n`.
    fn equate(&mut self, expr: &Expr, n: u32, bindings: &mut Bindings) -> Option<()> {
        if let Some(value) = expr.value(bindings) {
            return (value == n).then_some(());
        }
        match expr {
            Expr::Num(_) => None,
            Expr::Var(slot) => {
                bindings.numbers[usize::from(*slot)] = Some(n);
                Some(())
            }
            Expr::Add(a, b) => match (a.value(bindings), b.value(bindings)) {
                (Some(a), _) => self.equate(b, n.checked_sub(a)?, bindings),
                (_, Some(b)) => self.equate(a, n.checked_sub(b)?, bindings),
                _ => {
                    let part = self.rng.between(1, n.max(2) as usize - 1) as u32;
                    self.equate(a, part, bindings)?;
                    self.equate(b, n.checked_sub(part)?, bindings)
                }
            },
            Expr::Sub(a, b) => match (a.value(bindings), b.value(bindings)) {
                (Some(a), _) => self.equate(b, a.checked_sub(n)?, bindings),
                (_, Some(b)) => self.equate(a, n.checked_add(b)?, bindings),
                _ => {
                    let part = self.rng.below(INDEX) as u32;
                    self.equate(b, part, bindings)?;
                    self.equate(a, n.checked_add(part)?, bindings)
                }
            },
            Expr::Mul(a, b) => {
                let quotient = |by: u32| (by != 0 && n.is_multiple_of(by)).then(|| n / by);
                match (a.value(bindings), b.value(bindings)) {
                    (Some(a), _) => self.equate(b, quotient(a)?, bindings),
                    (_, Some(b)) => self.equate(a, quotient(b)?, bindings),
                    _ => {
                        let divisors: Vec<u32> = (1..=n).filter(|by| n.is_multiple_of(*by)).collect();
                        let part = *self.rng.pick(&divisors)?;
                        self.equate(a, part, bindings)?;
                        self.equate(b, n / part, bindings)
                    }
                }
            }
        }
    }
}

/// Can the pattern be matched against a sort and bind all its variables?
pub(crate) fn is_simple(pattern: &SortPattern) -> bool {
    let lone = |expr: &Expr| matches!(expr, Expr::Var(_) | Expr::Num(_));
    match pattern {
        SortPattern::BitVec(width) => lone(width),
        SortPattern::Float(e, s) => lone(e) && lone(s),
        _ => true,
    }
}

fn is_bound(pattern: &SortPattern, bindings: &Bindings) -> bool {
    match pattern {
        SortPattern::Fixed(_) => true,
        SortPattern::Var(slot) | SortPattern::FiniteField(slot) => {
            bindings.sorts[usize::from(*slot)].is_some()
        }
        SortPattern::BitVec(width) => width.value(bindings).is_some(),
        SortPattern::Float(e, s) => e.value(bindings).is_some() && s.value(bindings).is_some(),
        SortPattern::Seq(p) | SortPattern::Set(p) | SortPattern::Bag(p) | SortPattern::Nullable(p) => {
            is_bound(p, bindings)
        }
        SortPattern::Array(i, e) => is_bound(i, bindings) && is_bound(e, bindings),
        SortPattern::Fun(params, result) => params.iter().chain([&**result]).all(|p| is_bound(p, bindings)),
    }
}
