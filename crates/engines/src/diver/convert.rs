//! A constraint as a formula about a term (the paper's `convert`).

use std::ops::Bound;

use eval::bv::BitVector;
use eval::integer::Integer;
use eval::rational::Rational;
use eval::{Value, to_term};
use smtlib::{Head, Op, Sort, SortKind, Store, Term};

use super::constraint::Constraint;
use super::words::{Closed, Words};

/// The formula, or `None` where the language cannot say it. `Constraint::Any` needs no formula: it gives `true`.
pub fn convert(store: &mut Store, constraint: &Constraint, term: Term) -> Option<Term> {
    let sort = store.sort_of(term);
    match constraint {
        Constraint::Any => Some(store.bool(true)),
        Constraint::Unstated => None,
        Constraint::Bool(true) => Some(term),
        Constraint::Bool(false) => store.not(term).ok(),
        Constraint::Only(value) => equal_to(store, term, sort, value),
        Constraint::OneOf(values) => {
            let parts =
                values.iter().map(|value| equal_to(store, term, sort, value)).collect::<Option<Vec<_>>>()?;
            store.or(&parts).ok()
        }
        Constraint::Int(interval) => {
            let (low, high) = interval.ends();
            let bound =
                |end: Option<Integer>| end.map_or(Bound::Unbounded, |end| Bound::Included(Value::Int(end)));
            between(store, term, sort, [Op::IntLe, Op::IntLt], bound(low), bound(high))
        }
        Constraint::Real(interval) => {
            let bound = |end: &Bound<Rational>| match end {
                Bound::Unbounded => Bound::Unbounded,
                Bound::Included(end) => Bound::Included(Value::from(end.clone())),
                Bound::Excluded(end) => Bound::Excluded(Value::from(end.clone())),
            };
            between(store, term, sort, [Op::RealLe, Op::RealLt], bound(&interval.low), bound(&interval.high))
        }
        Constraint::Unsigned(low, high) => {
            let low = end(low, low.is_zero());
            let high = end(high, high.is_all_ones());
            between(store, term, sort, [Op::BvUle, Op::BvUlt], low, high)
        }
        Constraint::Signed(low, high) => {
            let least = BitVector::min_signed(low.width());
            let (low, high) = (end(low, *low == least), end(high, *high == least.not()));
            between(store, term, sort, [Op::BvSle, Op::BvSlt], low, high)
        }
        Constraint::Bits { mask, value } => {
            let mask = to_term(store, sort, &Value::BitVector(mask.clone()))?;
            let seen = store.op(Op::BvAnd, &[term, mask]).ok()?;
            equal_to(store, seen, sort, &Value::BitVector(value.clone()))
        }
        Constraint::Float { low, high, nan } => {
            let bound = |end: &Bound<eval::fp::Float>| match end {
                Bound::Unbounded => Bound::Unbounded,
                Bound::Included(end) => Bound::Included(Value::Float(end.clone())),
                Bound::Excluded(end) => Bound::Excluded(Value::Float(end.clone())),
            };
            let inside = between(store, term, sort, [Op::FpLe, Op::FpLt], bound(low), bound(high))?;
            if *nan {
                let is_nan = store.op(Op::FpIsNan, &[term]).ok()?;
                return store.or(&[is_nan, inside]).ok();
            }
            Some(inside)
        }
        Constraint::Class(op) => store.op(*op, &[term]).ok(),
        Constraint::Words(words) => words_of(store, words, term, sort),
        Constraint::Language(language, _) => store.op(Op::StrInRe, &[term, *language]).ok(),
        Constraint::At(index, element) => {
            let SortKind::Array(index_sort, _) = *store.sort_kind(sort) else { return None };
            let index = to_term(store, index_sort, index)?;
            let selected = store.op(Op::Select, &[term, index]).ok()?;
            convert(store, element, selected)
        }
        Constraint::Made(constructor) => {
            let SortKind::Datatype(datatype, _) = *store.sort_kind(sort) else { return None };
            store.datatype_node(Head::Tester(datatype, *constructor), &[term], None).ok()
        }
        Constraint::Field(constructor, field, inner) => {
            let SortKind::Datatype(datatype, _) = *store.sort_kind(sort) else { return None };
            let tester = store.datatype_node(Head::Tester(datatype, *constructor), &[term], None).ok()?;
            let selected =
                store.datatype_node(Head::Selector(datatype, *constructor, *field), &[term], None).ok()?;
            let inner = convert(store, inner, selected)?;
            store.and(&[tester, inner]).ok()
        }
        Constraint::Not(inner) => {
            let inner = convert(store, inner, term)?;
            store.not(inner).ok()
        }
    }
}

fn equal_to(store: &mut Store, term: Term, sort: Sort, value: &Value) -> Option<Term> {
    let value = to_term(store, sort, value)?;
    store.op(Op::Equal, &[term, value]).ok()
}

fn end(bits: &BitVector, trivial: bool) -> Bound<Value> {
    if trivial { Bound::Unbounded } else { Bound::Included(Value::BitVector(bits.clone())) }
}

/// The term between two bounds, by the weak and the strict order.
fn between(
    store: &mut Store,
    term: Term,
    sort: Sort,
    [weak, strict]: [Op; 2],
    low: Bound<Value>,
    high: Bound<Value>,
) -> Option<Term> {
    let mut parts = Vec::with_capacity(2);
    for (bound, above) in [(low, true), (high, false)] {
        let (op, value) = match bound {
            Bound::Unbounded => continue,
            Bound::Included(value) => (weak, value),
            Bound::Excluded(value) => (strict, value),
        };
        let value = to_term(store, sort, &value)?;
        let args = if above { [value, term] } else { [term, value] };
        parts.push(store.op(op, &args).ok()?);
    }
    match parts.as_slice() {
        [] => Some(store.bool(true)),
        [only] => Some(*only),
        parts => store.and(parts).ok(),
    }
}

fn words_of(store: &mut Store, words: &Words, term: Term, sort: Sort) -> Option<Term> {
    let text = sort == Sort::STRING;
    let by_kind = |string: Op, sequence: Op| if text { string } else { sequence };
    let (op, word, word_first) = match words {
        Words::Below(word, Closed::Yes) => (Op::StrLe, word, false),
        Words::Below(word, Closed::No) => (Op::StrLt, word, false),
        Words::Above(word, Closed::Yes) => (Op::StrLe, word, true),
        Words::Above(word, Closed::No) => (Op::StrLt, word, true),
        Words::PrefixOf(word) => (by_kind(Op::StrPrefixof, Op::SeqPrefixof), word, false),
        Words::StartingWith(word) => (by_kind(Op::StrPrefixof, Op::SeqPrefixof), word, true),
        Words::SuffixOf(word) => (by_kind(Op::StrSuffixof, Op::SeqSuffixof), word, false),
        Words::EndingWith(word) => (by_kind(Op::StrSuffixof, Op::SeqSuffixof), word, true),
        Words::PartOf(word) => (by_kind(Op::StrContains, Op::SeqContains), word, true),
        Words::Containing(word) => (by_kind(Op::StrContains, Op::SeqContains), word, false),
        Words::Length(interval) => {
            let length = store.op(by_kind(Op::StrLen, Op::SeqLen), &[term]).ok()?;
            return convert(store, &Constraint::Int(interval.clone()), length);
        }
    };
    let word = to_term(store, sort, word)?;
    store.op(op, &if word_first { [word, term] } else { [term, word] }).ok()
}
