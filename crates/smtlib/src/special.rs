//! Sorts of the operators whose signature no pattern can express: tuples and relations, functions as indices,
//! any number of arguments.

use crate::infer::SortError;
use crate::sort::{Sort, SortKind};
use crate::store::Store;
use crate::term::{Index, Term};
use crate::theory::Op;

impl Store {
    pub(crate) fn infer_special(
        &mut self,
        op: Op,
        indices: &[Index],
        args: &[Term],
    ) -> Result<Sort, SortError> {
        if args.iter().any(|arg| self.is_opaque_sort(self.sort_of(*arg))) {
            return Ok(self.unknown_sort());
        }
        match self.special_sort(op, indices, args) {
            Some(sort) => Ok(sort),
            None => {
                let found: Vec<String> = args.iter().map(|arg| self.sort_text(self.sort_of(*arg))).collect();
                Err(SortError::Arguments {
                    name: op.name().to_owned(),
                    found: found.join(" "),
                    expected: "other sorts".to_owned(),
                })
            }
        }
    }

    fn special_sort(&mut self, op: Op, indices: &[Index], args: &[Term]) -> Option<Sort> {
        let sorts: Vec<Sort> = args.iter().map(|arg| self.sort_of(*arg)).collect();
        if count(op).is_some_and(|count| count != sorts.len()) {
            return None;
        }
        match op {
            Op::AtMost | Op::AtLeast | Op::PbLe | Op::PbGe | Op::PbEq => {
                sorts.iter().all(|sort| *sort == Sort::BOOL).then_some(Sort::BOOL)
            }
            Op::BvFromBools => {
                sorts.iter().all(|sort| *sort == Sort::BOOL).then(|| self.bitvec(sorts.len() as u32))
            }
            Op::FfBitsum => {
                let first = *sorts.first()?;
                let uniform = self.field_order(first).is_some() && sorts.iter().all(|sort| *sort == first);
                uniform.then_some(first)
            }
            Op::Apply => {
                let (function, rest) = args.split_first()?;
                self.infer_apply(self.sort_of(*function), rest).ok()
            }
            Op::AsArray => {
                let Index::Fun(fun) = indices.first()? else { return Some(self.unknown_sort()) };
                let decl = self.fun(*fun);
                let (params, result) = (decl.params.clone(), decl.result);
                // Several indices nest: Z3's n-ary arrays are curried here.
                let mut sort = result;
                for param in params.iter().rev() {
                    sort = self.array(*param, sort);
                }
                (!params.is_empty()).then_some(sort)
            }
            Op::ArrayMap => self.array_map_sort(indices, &sorts),
            Op::FmfCard | Op::FmfCardOf => Some(Sort::BOOL),
            Op::TransitiveClosure => (sorts.len() == 2).then_some(Sort::BOOL),
            Op::TupleMake => Some(self.sort(SortKind::Tuple(sorts.into()))),
            Op::TupleUnit => sorts.is_empty().then_some(Sort::UNIT),
            Op::TupleSelect => {
                let place = number(indices.first()?)?;
                self.tuple(*sorts.first()?)?.get(place).copied()
            }
            Op::TupleUpdate => {
                let place = number(indices.first()?)?;
                let fits = self.tuple(*sorts.first()?)?.get(place) == sorts.get(1);
                fits.then_some(sorts[0])
            }
            Op::TupleProject | Op::TupleProjectNone => {
                let tuple = self.tuple(*sorts.first()?)?.to_vec();
                Some(self.projected(&tuple, indices)?)
            }
            Op::RelProject | Op::RelProjectNone => {
                let tuple = self.relation(*sorts.first()?)?.to_vec();
                let element = self.projected(&tuple, indices)?;
                Some(self.sort(SortKind::Set(element)))
            }
            Op::TableProject | Op::TableProjectNone => {
                let tuple = self.table_of(*sorts.first()?)?.to_vec();
                let element = self.projected(&tuple, indices)?;
                Some(self.sort(SortKind::Bag(element)))
            }
            Op::RelJoin => {
                let (left, right) = self.two_relations(&sorts)?;
                if left.last()? != right.first()? {
                    return None;
                }
                let joined: Vec<Sort> = left[..left.len() - 1].iter().chain(&right[1..]).copied().collect();
                Some(self.relation_of(&joined))
            }
            Op::RelProduct | Op::RelTableJoin | Op::RelTableJoinNone => {
                let (left, right) = self.two_relations(&sorts)?;
                Some(self.relation_of(&[left, right].concat()))
            }
            Op::TableProduct | Op::TableJoin | Op::TableJoinNone => {
                let left = self.table_of(*sorts.first()?)?.to_vec();
                let right = self.table_of(*sorts.get(1)?)?.to_vec();
                let tuple = self.sort(SortKind::Tuple([left, right].concat().into()));
                Some(self.sort(SortKind::Bag(tuple)))
            }
            Op::RelTranspose => {
                let mut tuple = self.relation(*sorts.first()?)?.to_vec();
                tuple.reverse();
                Some(self.relation_of(&tuple))
            }
            Op::RelJoinImage => {
                let first = *self.relation(*sorts.first()?)?.first()?;
                Some(self.relation_of(&[first]))
            }
            Op::RelIden => {
                let tuple = self.relation(*sorts.first()?)?.to_vec();
                Some(self.relation_of(&[*tuple.first()?, *tuple.first()?]))
            }
            Op::RelGroup => {
                self.relation(*sorts.first()?)?;
                Some(self.sort(SortKind::Set(sorts[0])))
            }
            Op::TableGroup => {
                self.table_of(*sorts.first()?)?;
                Some(self.sort(SortKind::Bag(sorts[0])))
            }
            // (aggr f initial table): a collection of results of f.
            Op::RelAggregate | Op::RelAggregateNone => {
                let SortKind::Set(row) = *self.sort_kind(sorts[2]) else { return None };
                self.folded(sorts[0], &[row], sorts[1])?;
                Some(self.sort(SortKind::Set(sorts[1])))
            }
            Op::TableAggregate | Op::TableAggregateNone => {
                let SortKind::Bag(row) = *self.sort_kind(sorts[2]) else { return None };
                self.folded(sorts[0], &[row], sorts[1])?;
                Some(self.sort(SortKind::Bag(sorts[1])))
            }
            Op::NullableLift | Op::NullableLiftOperator => self.lifted(op, indices, &sorts),
            Op::SeqMapi => {
                let element = self.element_of_sequence(sorts[2])?;
                let result = self.result_of(sorts[0], &[sorts[1], element])?;
                (sorts[1] == Sort::INT).then(|| self.sort(SortKind::Seq(result)))
            }
            Op::SeqFoldl => {
                let element = self.element_of_sequence(sorts[2])?;
                (self.result_of(sorts[0], &[sorts[1], element])? == sorts[1]).then_some(sorts[1])
            }
            Op::SeqFoldli => {
                let element = self.element_of_sequence(sorts[3])?;
                let result = self.result_of(sorts[0], &[sorts[1], sorts[2], element])?;
                (sorts[1] == Sort::INT && result == sorts[2]).then_some(sorts[2])
            }
            Op::SetInsert => {
                let (set, elements) = sorts.split_last()?;
                let SortKind::Set(element) = self.sort_kind(*set) else { return None };
                (!elements.is_empty() && elements.iter().all(|sort| sort == element)).then_some(*set)
            }
            Op::SeqToRe if args.len() == 1 => Some(Sort::REGLAN),
            Op::SeqInRe if args.len() == 2 => Some(Sort::BOOL),
            Op::SeqToRe | Op::SeqInRe => None,
            // Z3's Char sort and predicates over it stay opaque.
            _ => Some(self.unknown_sort()),
        }
    }

    /// `(_ map f)`: f on the elements; arrays of several indices are mapped below all of them.
    fn array_map_sort(&mut self, indices: &[Index], sorts: &[Sort]) -> Option<Sort> {
        let mut index = None;
        let mut elements = Vec::new();
        for sort in sorts {
            let SortKind::Array(i, e) = self.sort_kind(*sort) else { return None };
            if *index.get_or_insert(*i) != *i {
                return None;
            }
            elements.push(*e);
        }
        // Without arrays there is nothing below.
        let index = index?;
        let result = match indices.first()? {
            Index::Fun(fun) => {
                let decl = self.fun(*fun);
                decl.params.iter().eq(elements.iter()).then_some(decl.result)
            }
            Index::Op(op) => {
                let row = op.row();
                let mut bindings = crate::theory::Bindings::default();
                let fits = elements.iter().enumerate().all(|(i, sort)| {
                    row.arg(i).is_some_and(|pattern| pattern.matches(self, *sort, &mut bindings))
                });
                if fits { row.result.instantiate(self, &bindings) } else { None }
            }
            _ => return Some(self.unknown_sort()),
        };
        let result = match result {
            Some(result) => result,
            None => self.array_map_sort(indices, &elements)?,
        };
        Some(self.array(index, result))
    }

    fn lifted(&mut self, op: Op, indices: &[Index], sorts: &[Sort]) -> Option<Sort> {
        let result = match (op, indices.first()) {
            (Op::NullableLift, _) => {
                let (function, rest) = sorts.split_first()?;
                let inner = self.nullables(rest)?;
                self.result_of(*function, &inner).filter(|_| !inner.is_empty())?
            }
            (_, Some(Index::Fun(fun))) => {
                let inner = self.nullables(sorts)?;
                let decl = self.fun(*fun);
                (*decl.params == *inner).then_some(decl.result)?
            }
            (_, Some(Index::Op(op))) => {
                let row = op.row();
                let mut bindings = crate::theory::Bindings::default();
                for (i, sort) in sorts.iter().enumerate() {
                    let SortKind::Nullable(inner) = self.sort_kind(*sort) else { return None };
                    if !row.arg(i)?.matches(self, *inner, &mut bindings) {
                        return None;
                    }
                }
                row.result.instantiate(self, &bindings)?
            }
            _ => return Some(self.unknown_sort()),
        };
        Some(self.sort(SortKind::Nullable(result)))
    }

    /// What a function, or arrays within each other, give for arguments of these sorts.
    fn result_of(&mut self, function: Sort, args: &[Sort]) -> Option<Sort> {
        let Some((first, rest)) = args.split_first() else { return Some(function) };
        match self.sort_kind(function).clone() {
            SortKind::Fun(params, result) => {
                let rest = params.strip_prefix(args)?;
                Some(if rest.is_empty() { result } else { self.function_sort(rest, result) })
            }
            SortKind::Array(index, element) if index == *first => self.result_of(element, rest),
            _ => None,
        }
    }

    /// Nothing unless a function takes rows and a result so far, and gives a result.
    fn folded(&mut self, function: Sort, row: &[Sort], result: Sort) -> Option<()> {
        let args = [row, &[result]].concat();
        (self.result_of(function, &args)? == result).then_some(())
    }

    /// The sort of the elements of a sequence.
    fn element_of_sequence(&self, sort: Sort) -> Option<Sort> {
        match self.sort_kind(sort) {
            SortKind::Seq(element) => Some(*element),
            _ => None,
        }
    }

    /// The sorts within nullable ones.
    fn nullables(&self, sorts: &[Sort]) -> Option<Vec<Sort>> {
        let inner = |sort: &Sort| match self.sort_kind(*sort) {
            SortKind::Nullable(inner) => Some(*inner),
            _ => None,
        };
        sorts.iter().map(inner).collect()
    }

    fn tuple(&self, sort: Sort) -> Option<&[Sort]> {
        match self.sort_kind(sort) {
            SortKind::Tuple(sorts) => Some(sorts),
            _ => None,
        }
    }

    fn relation(&self, sort: Sort) -> Option<&[Sort]> {
        match self.sort_kind(sort) {
            SortKind::Set(element) => self.tuple(*element),
            _ => None,
        }
    }

    fn table_of(&self, sort: Sort) -> Option<&[Sort]> {
        match self.sort_kind(sort) {
            SortKind::Bag(element) => self.tuple(*element),
            _ => None,
        }
    }

    fn two_relations(&self, sorts: &[Sort]) -> Option<(Vec<Sort>, Vec<Sort>)> {
        Some((self.relation(*sorts.first()?)?.to_vec(), self.relation(*sorts.get(1)?)?.to_vec()))
    }

    fn relation_of(&mut self, sorts: &[Sort]) -> Sort {
        let tuple = self.sort(SortKind::Tuple(sorts.into()));
        self.sort(SortKind::Set(tuple))
    }

    fn projected(&mut self, tuple: &[Sort], indices: &[Index]) -> Option<Sort> {
        let sorts: Option<Vec<Sort>> =
            indices.iter().map(|index| tuple.get(number(index)?).copied()).collect();
        Some(self.sort(SortKind::Tuple(sorts?.into())))
    }
}

/// How many arguments an operator takes, where that is fixed.
fn count(op: Op) -> Option<usize> {
    match op {
        Op::TupleSelect
        | Op::TupleProject
        | Op::TupleProjectNone
        | Op::RelProject
        | Op::RelProjectNone
        | Op::TableProject
        | Op::TableProjectNone
        | Op::RelTranspose
        | Op::RelIden
        | Op::RelGroup
        | Op::TableGroup => Some(1),
        Op::TupleUpdate
        | Op::RelJoin
        | Op::RelProduct
        | Op::RelTableJoin
        | Op::RelTableJoinNone
        | Op::TableProduct
        | Op::TableJoin
        | Op::TableJoinNone
        | Op::RelJoinImage => Some(2),
        Op::RelAggregate
        | Op::RelAggregateNone
        | Op::TableAggregate
        | Op::TableAggregateNone
        | Op::SeqMapi
        | Op::SeqFoldl => Some(3),
        Op::SeqFoldli => Some(4),
        _ => None,
    }
}

fn number(index: &Index) -> Option<usize> {
    match index {
        Index::Number(n) => Some(*n as usize),
        _ => None,
    }
}
