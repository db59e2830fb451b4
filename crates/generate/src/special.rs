//! Operators whose sorts no pattern of the table tells: those over the components of tuples, and their like.
//!
//! Each way goes from the wanted sort to the sorts of arguments, as the table's rows do; what it makes is sorted by the
//! store like everything else.

use smtlib::{Family, Fun, Index, Op, Sort, SortKind, Term};

use crate::term::Maker;

/// Share of applied functions that are lambdas, where declared ones give the sort too.
const LAMBDAS: f64 = 0.4;

/// Attempts to find sorts that the script has something of.
const TRIES: usize = 4;

/// Rows of the table whose pattern takes more than solvers do: only relations have closures and parts.
pub(crate) fn is_special(op: Op) -> bool {
    matches!(op, Op::RelTclosure | Op::RelGroupNone | Op::TableGroupNone)
}

/// Operators of this file: special rows of the table that scripts have all the same.
pub fn is_made(op: Op) -> bool {
    use Op::*;
    matches!(
        op,
        TupleSelect
            | TupleUpdate
            | TupleProject
            | Apply
            | SetInsert
            | RelTranspose
            | RelJoin
            | RelProject
            | RelIden
            | RelJoinImage
            | RelProduct
            | RelTableJoin
            | RelGroup
            | RelAggregate
            | TableProject
            | TableProduct
            | TableJoin
            | TableGroup
            | TableAggregate
            | FfBitsum
            | NullableLiftOperator
    ) || COUNTING.contains(&op)
}

/// Z3's own.
const COUNTING: [Op; 7] = [Op::AtMost, Op::AtLeast, Op::PbLe, Op::PbGe, Op::PbEq, Op::ArrayMap, Op::AsArray];

impl Maker<'_> {
    /// Is there any for this sort?
    pub(crate) fn has_specials(&self, sort: Sort) -> bool {
        let logic = &self.grammar.logic;
        let collections = logic.extensions.tuples || logic.extensions.sets || logic.extensions.nullables;
        let fields = logic.finite_fields && self.grammar.allows(Op::FfBitsum);
        (collections || logic.higher_order || fields || self.has_counting())
            && !self.specials(sort).is_empty()
    }

    /// Z3's own, which it hides in all but the widest logic.
    fn has_counting(&self) -> bool {
        self.grammar.logic.wide && COUNTING.iter().any(|op| self.grammar.allows(*op))
    }

    /// One of them, of this sort.
    pub(crate) fn special(&mut self, sort: Sort, depth: usize) -> Option<Term> {
        let op = *self.rng.pick(&self.specials(sort))?;
        let made = self.make_special(op, sort, depth);
        self.scope.count(op, 1.0, made.is_some());
        made.filter(|term| self.store.sort_of(*term) == sort)
    }

    fn specials(&self, sort: Sort) -> Vec<Op> {
        let mut ops = Vec::new();
        if !self.tuples_with(sort).is_empty() {
            ops.push(Op::TupleSelect);
        }
        if self.grammar.logic.higher_order {
            ops.push(Op::Apply);
            // Functions are only compared where they are values, which is where they can be applied.
            if sort == Sort::BOOL && self.grammar.allows(Op::Apply) && !self.all_declared().is_empty() {
                ops.push(Op::Equal);
            }
        }
        match self.store.sort_kind(sort) {
            SortKind::Bool if self.has_counting() => {
                ops.extend([Op::AtMost, Op::AtLeast, Op::PbLe, Op::PbGe, Op::PbEq]);
            }
            SortKind::FiniteField(_) => ops.push(Op::FfBitsum),
            SortKind::Array(index, element) if self.has_counting() => {
                if *element == Sort::BOOL || !self.declared(*element).is_empty() {
                    ops.push(Op::ArrayMap);
                }
                if !self.declared_over(&[*index], *element).is_empty() {
                    ops.push(Op::AsArray);
                }
            }
            SortKind::Nullable(inner) if !self.declared(*inner).is_empty() => {
                ops.push(Op::NullableLiftOperator);
            }
            SortKind::Tuple(_) => ops.extend([Op::TupleUpdate, Op::TupleProject]),
            SortKind::Set(element) => {
                ops.push(Op::SetInsert);
                if self.aggregates(*element) {
                    ops.push(Op::RelAggregate);
                }
                match self.store.sort_kind(*element) {
                    SortKind::Tuple(fields) => {
                        ops.extend([Op::RelTranspose, Op::RelJoin, Op::RelProject]);
                        match **fields {
                            [one, other] if one == other => ops.extend([Op::RelIden, Op::RelTclosure]),
                            [_] => ops.push(Op::RelJoinImage),
                            _ => {}
                        }
                        if fields.len() > 1 {
                            ops.extend([Op::RelProduct, Op::RelTableJoin]);
                        }
                    }
                    SortKind::Set(inner) if self.is_tuple(*inner) => ops.push(Op::RelGroup),
                    _ => {}
                }
            }
            SortKind::Bag(element) => {
                if self.aggregates(*element) {
                    ops.push(Op::TableAggregate);
                }
                match self.store.sort_kind(*element) {
                    SortKind::Tuple(fields) => {
                        ops.push(Op::TableProject);
                        if fields.len() > 1 {
                            ops.extend([Op::TableProduct, Op::TableJoin]);
                        }
                    }
                    SortKind::Bag(inner) if self.is_tuple(*inner) => ops.push(Op::TableGroup),
                    _ => {}
                }
            }
            _ => {}
        }
        ops.retain(|op| self.grammar.allows(*op));
        ops
    }

    fn make_special(&mut self, op: Op, sort: Sort, depth: usize) -> Option<Term> {
        let depth = depth.checked_sub(1)?;
        let fields = self.fields(sort);
        match op {
            Op::TupleSelect => {
                let tuple = *self.rng.pick(&self.tuples_with(sort))?;
                let of = self.fields(tuple);
                let places: Vec<usize> = (0..of.len()).filter(|place| of[*place] == sort).collect();
                let place = *self.rng.pick(&places)?;
                let arg = self.term(tuple, depth)?;
                self.indexed(op, &[place], &[arg])
            }
            Op::Apply => {
                let declared = self.scope.functions(sort).to_vec();
                let known = self.rng.pick(&declared).copied().filter(|_| !self.rng.chance(LAMBDAS));
                let (head, params) = match known {
                    Some(fun) => (self.store.call(fun, &[]).ok()?, self.store.fun(fun).params.to_vec()),
                    None => {
                        let params = self.lambda_params()?;
                        (self.function(&params, sort, depth.max(1))?, params)
                    }
                };
                let mut args = vec![head];
                for param in &params {
                    args.push(self.term(*param, depth)?);
                }
                self.store.op(op, &args).ok()
            }
            Op::Equal => {
                let fun = *self.rng.pick(&self.all_declared())?;
                let (params, result) = (self.store.fun(fun).params.to_vec(), self.store.fun(fun).result);
                let value = self.store.call(fun, &[]).ok()?;
                let other = self.function(&params, result, depth.max(1))?;
                self.store.op(op, &[value, other]).ok()
            }
            Op::TupleUpdate => {
                let place = self.rng.below(fields.len().max(1));
                let args = [self.term(sort, depth)?, self.term(*fields.get(place)?, depth)?];
                self.indexed(op, &[place], &args)
            }
            Op::TupleProject => self.projection(op, &fields, depth, |maker, of| maker.tuple(of)),
            Op::RelProject => self.projection(op, &fields, depth, |maker, of| maker.relation(of)),
            Op::TableProject => self.projection(op, &fields, depth, |maker, of| maker.table(of)),
            Op::SetInsert => {
                let SortKind::Set(element) = *self.store.sort_kind(sort) else { return None };
                let mut args = Vec::new();
                for _ in 0..self.rng.between(1, 2) {
                    args.push(self.term(element, depth)?);
                }
                args.push(self.term(sort, depth)?);
                self.store.op(op, &args).ok()
            }
            Op::RelTranspose => {
                let turned: Vec<Sort> = fields.iter().rev().copied().collect();
                let of = self.relation(&turned);
                self.over(op, &[of], depth)
            }
            Op::RelTclosure => self.over(op, &[sort], depth),
            Op::RelIden => {
                let of = self.relation(&fields[..1]);
                self.over(op, &[of], depth)
            }
            Op::RelJoinImage => {
                let other = self.component(&fields)?;
                let of = self.relation(&[fields[0], other]);
                let args = [self.term(of, depth)?, self.store.int(self.rng.below(3))];
                self.store.op(op, &args).ok()
            }
            Op::RelJoin => {
                let (left, right) = self.familiar(|maker| {
                    let between = maker.component(&fields)?;
                    let (left, right) = fields.split_at(maker.rng.between(0, fields.len()));
                    let left = maker.relation(&[left, &[between]].concat());
                    Some((left, maker.relation(&[&[between], right].concat())))
                })?;
                self.over(op, &[left, right], depth)
            }
            Op::RelProduct => self.product(op, &fields, depth, |maker, of| maker.relation(of)),
            Op::TableProduct => self.product(op, &fields, depth, |maker, of| maker.table(of)),
            Op::RelTableJoin => self.product(op, &fields, depth, |maker, of| maker.relation(of)),
            Op::TableJoin => self.product(op, &fields, depth, |maker, of| maker.table(of)),
            Op::AtMost | Op::AtLeast | Op::PbLe | Op::PbGe | Op::PbEq => self.count_of(op, depth),
            Op::FfBitsum => {
                // "incorrect finite-field operator arity" of Z3 for one alone.
                let z3 = self.grammar.releases.iter().any(|release| release.family == Family::Z3);
                let sorts = vec![sort; self.rng.between(if z3 { 2 } else { 1 }, 4)];
                self.over(op, &sorts, depth)
            }
            Op::ArrayMap => self.array_map(sort, depth),
            Op::AsArray => {
                let SortKind::Array(index, element) = *self.store.sort_kind(sort) else { return None };
                let fun = *self.rng.pick(&self.declared_over(&[index], element))?;
                self.store.indexed(op, &[Index::Fun(fun)], &[]).ok()
            }
            Op::NullableLiftOperator => {
                let SortKind::Nullable(inner) = *self.store.sort_kind(sort) else { return None };
                let fun = *self.rng.pick(&self.declared(inner))?;
                let params = self.store.fun(fun).params.clone();
                let nullable = |param: &Sort| self.store.sort(SortKind::Nullable(*param));
                let sorts: Vec<Sort> = params.iter().map(nullable).collect();
                let args = sorts.iter().map(|sort| self.term(*sort, depth)).collect::<Option<Vec<_>>>()?;
                self.store.indexed(op, &[Index::Fun(fun)], &args).ok()
            }
            Op::RelAggregate | Op::TableAggregate => {
                let (SortKind::Set(result) | SortKind::Bag(result)) = *self.store.sort_kind(sort) else {
                    return None;
                };
                let row = *self.rng.pick(&self.tuples())?;
                let kind = if op == Op::RelAggregate { SortKind::Set(row) } else { SortKind::Bag(row) };
                let collection = self.store.sort(kind);
                let args = [
                    self.function(&[row, result], result, depth.checked_sub(1)?.max(1))?,
                    self.term(result, depth)?,
                    self.term(collection, depth)?,
                ];
                let place = self.rng.below(self.fields(row).len().max(1));
                self.indexed(op, &[place], &args)
            }
            Op::RelGroup | Op::TableGroup => {
                let (SortKind::Set(of) | SortKind::Bag(of)) = *self.store.sort_kind(sort) else {
                    return None;
                };
                let width = self.fields(of).len().max(1);
                let arg = self.term(of, depth)?;
                let place = self.rng.below(width);
                self.indexed(op, &[place], &[arg])
            }
            _ => None,
        }
    }

    /// `((_ at-most 2) a b c)`, `((_ pble 4 1 2 3) a b c)`.
    fn count_of(&mut self, op: Op, depth: usize) -> Option<Term> {
        let count = self.rng.between(2, 4);
        let weighed = matches!(op, Op::PbLe | Op::PbGe | Op::PbEq);
        let weights: Vec<usize> =
            (0..count).map(|_| if weighed { self.rng.between(1, 4) } else { 1 }).collect();
        let bound = self.rng.between(0, weights.iter().sum());
        let mut indices = vec![bound];
        if weighed {
            indices.extend(&weights);
        }
        let args = (0..count).map(|_| self.term(Sort::BOOL, depth)).collect::<Option<Vec<_>>>()?;
        self.indexed(op, &indices, &args)
    }

    /// `((_ map f) a b)` for a declared function, or a connective over arrays of Booleans.
    fn array_map(&mut self, sort: Sort, depth: usize) -> Option<Term> {
        let SortKind::Array(index, element) = *self.store.sort_kind(sort) else { return None };
        let declared = self.declared(element);
        let (head, params) = match self.rng.pick(&declared).copied() {
            Some(fun) if element != Sort::BOOL || self.rng.chance(0.5) => {
                (Index::Fun(fun), self.store.fun(fun).params.to_vec())
            }
            _ if element == Sort::BOOL => {
                let (op, arity) = *self.rng.pick(&[(Op::And, 2), (Op::Or, 2), (Op::Not, 1)])?;
                (Index::Op(op), vec![Sort::BOOL; arity])
            }
            _ => return None,
        };
        let sorts: Vec<Sort> = params.iter().map(|param| self.store.array(index, *param)).collect();
        let args = sorts.iter().map(|sort| self.term(*sort, depth)).collect::<Option<Vec<_>>>()?;
        self.store.indexed(Op::ArrayMap, &[head], &args).ok()
    }

    /// One or two sorts for the parameters of a lambda.
    fn lambda_params(&mut self) -> Option<Vec<Sort>> {
        let sorts = self.scope.sorts().to_vec();
        (0..self.rng.between(1, 2)).map(|_| self.rng.pick(&sorts).copied()).collect()
    }

    /// Declared functions of any sort.
    fn all_declared(&self) -> Vec<Fun> {
        self.scope.sorts().iter().flat_map(|sort| self.declared(*sort)).collect()
    }

    /// Declared functions that give this sort. What is defined is a macro for solvers, and no function to name.
    fn declared(&self, result: Sort) -> Vec<Fun> {
        let free = |fun: &&Fun| {
            self.store.fun(**fun).definition.is_none() && !self.store.fun(**fun).params.is_empty()
        };
        self.scope.functions(result).iter().filter(free).copied().collect()
    }

    fn declared_over(&self, params: &[Sort], result: Sort) -> Vec<Fun> {
        let mut funs = self.declared(result);
        funs.retain(|fun| *self.store.fun(*fun).params == *params);
        funs
    }

    /// Can something be folded over rows into results of this sort?
    fn aggregates(&self, result: Sort) -> bool {
        let flat = !matches!(
            self.store.sort_kind(result),
            SortKind::Tuple(_) | SortKind::Set(_) | SortKind::Bag(_) | SortKind::Array(..)
        );
        flat && self.grammar.logic.higher_order && !self.tuples().is_empty()
    }

    /// Sorts of tuples with components.
    fn tuples(&self) -> Vec<Sort> {
        let filled = |sort: &&Sort| !self.fields(**sort).is_empty() && self.is_tuple(**sort);
        self.scope.sorts().iter().filter(filled).copied().collect()
    }

    /// Components chosen from wider tuples: every wanted one must be there.
    fn projection(
        &mut self,
        op: Op,
        wanted: &[Sort],
        depth: usize,
        collection: fn(&mut Self, &[Sort]) -> Sort,
    ) -> Option<Term> {
        let mut of = wanted.to_vec();
        for _ in 0..self.rng.between(0, 2) {
            let more = self.component(wanted)?;
            of.insert(self.rng.between(0, of.len()), more);
        }
        let mut places = Vec::new();
        for sort in wanted {
            let there: Vec<usize> = (0..of.len()).filter(|place| of[*place] == *sort).collect();
            places.push(*self.rng.pick(&there)?);
        }
        let of = collection(self, &of);
        let arg = self.term(of, depth)?;
        self.indexed(op, &places, &[arg])
    }

    /// Two collections side by side; joined where an index tells which components must be equal.
    fn product(
        &mut self,
        op: Op,
        fields: &[Sort],
        depth: usize,
        collection: fn(&mut Self, &[Sort]) -> Sort,
    ) -> Option<Term> {
        let (left, right) = fields.split_at(self.rng.between(1, fields.len().checked_sub(1)?));
        let pairs: Vec<(usize, usize)> = (0..left.len())
            .flat_map(|a| (0..right.len()).map(move |b| (a, b)))
            .filter(|(a, b)| left[*a] == right[*b])
            .collect();
        let (left, right) = (collection(self, left), collection(self, right));
        let args = [self.term(left, depth)?, self.term(right, depth)?];
        match op {
            Op::RelProduct | Op::TableProduct => self.store.op(op, &args).ok(),
            _ => {
                let (a, b) = *self.rng.pick(&pairs)?;
                self.indexed(op, &[a, b], &args)
            }
        }
    }

    fn over(&mut self, op: Op, sorts: &[Sort], depth: usize) -> Option<Term> {
        let args = sorts.iter().map(|sort| self.term(*sort, depth)).collect::<Option<Vec<_>>>()?;
        self.store.op(op, &args).ok()
    }

    fn indexed(&mut self, op: Op, places: &[usize], args: &[Term]) -> Option<Term> {
        let indices: Vec<Index> = places.iter().map(|place| Index::Number(*place as u32)).collect();
        self.store.indexed(op, &indices, args).ok()
    }

    /// Two sorts, of both of which the script has something if a few attempts find such.
    fn familiar(
        &mut self,
        mut choose: impl FnMut(&mut Self) -> Option<(Sort, Sort)>,
    ) -> Option<(Sort, Sort)> {
        let mut chosen = choose(self)?;
        for _ in 1..TRIES {
            let (one, other) = chosen;
            if !self.scope.leaves(one).is_empty() && !self.scope.leaves(other).is_empty() {
                break;
            }
            chosen = choose(self)?;
        }
        Some(chosen)
    }

    /// A sort for one more component: mostly one of these.
    fn component(&mut self, of: &[Sort]) -> Option<Sort> {
        if !of.is_empty() && self.rng.chance(0.7) {
            return self.rng.pick(of).copied();
        }
        let flat = |sort: &&Sort| {
            let kind = self.store.sort_kind(**sort);
            !matches!(kind, SortKind::Tuple(_) | SortKind::Set(_) | SortKind::Bag(_))
        };
        let flat: Vec<Sort> = self.scope.sorts().iter().filter(flat).copied().collect();
        self.rng.pick(&flat).copied()
    }

    /// The components of a tuple, or of the tuples in a collection.
    fn fields(&self, sort: Sort) -> Vec<Sort> {
        match self.store.sort_kind(sort) {
            SortKind::Tuple(fields) => fields.to_vec(),
            SortKind::Set(element) | SortKind::Bag(element) => match self.store.sort_kind(*element) {
                SortKind::Tuple(fields) => fields.to_vec(),
                _ => Vec::new(),
            },
            _ => Vec::new(),
        }
    }

    fn is_tuple(&self, sort: Sort) -> bool {
        matches!(self.store.sort_kind(sort), SortKind::Tuple(_))
    }

    /// Sorts of tuples that have a component of this sort.
    fn tuples_with(&self, sort: Sort) -> Vec<Sort> {
        let has = |tuple: &&Sort| match self.store.sort_kind(**tuple) {
            SortKind::Tuple(fields) => fields.contains(&sort),
            _ => false,
        };
        self.scope.sorts().iter().filter(has).copied().collect()
    }

    fn tuple(&mut self, fields: &[Sort]) -> Sort {
        self.store.sort(SortKind::Tuple(fields.into()))
    }

    fn relation(&mut self, fields: &[Sort]) -> Sort {
        let tuple = self.tuple(fields);
        self.store.sort(SortKind::Set(tuple))
    }

    fn table(&mut self, fields: &[Sort]) -> Sort {
        let tuple = self.tuple(fields);
        self.store.sort(SortKind::Bag(tuple))
    }
}

#[cfg(test)]
mod tests {
    use smtlib::{Head, Release, Store, Version, print};

    use super::*;
    use crate::{Config, Grammar, rng};

    /// The texts of scripts of a logic for a solver.
    fn scripts(logic: &str, family: Family, count: u64) -> Vec<String> {
        let release = Release::new(family, Version::LATEST);
        let grammar = Grammar::new(logic, &[release], Config::default()).expect("a logic");
        let mut store = Store::new();
        let clean = store.mark();
        let mut texts = Vec::new();
        for index in 0..count {
            let script = grammar.script(&mut store, &mut rng::stream(43, index));
            texts.push(print::print(&store, &script, release));
            store.reset(&clean);
        }
        texts
    }

    #[test]
    fn logics_of_functions_have_lambdas() {
        let scripts = scripts("HO_ALL+functions+ints", Family::Cvc5, 60);
        let with = |part: &str| scripts.iter().filter(|text| text.contains(part)).count();
        assert!(with("(lambda ") >= 6, "{}", with("(lambda "));
        assert!(with("(@ ") >= 6, "{}", with("(@ "));
        assert_eq!(
            self::scripts("ALL+functions+ints", Family::Cvc5, 60).concat().matches("(lambda ").count(),
            0
        );
    }

    #[test]
    fn sums_of_bits_have_two_arguments_at_least_for_z3() {
        let release = Release::new(Family::Z3, Version::LATEST);
        let grammar = Grammar::new("QF_FF", &[release], Config::default()).expect("a logic");
        let mut store = Store::new();
        let mut sums = 0;
        for index in 0..200 {
            let script = grammar.script(&mut store, &mut rng::stream(44, index));
            for term in store.subterms(&script.terms(&store)) {
                if matches!(store.head(term), Head::Op(Op::FfBitsum, _)) {
                    sums += 1;
                    assert!(store.args(term).len() > 1);
                }
            }
        }
        assert!(sums > 5, "{sums}");
    }
}
