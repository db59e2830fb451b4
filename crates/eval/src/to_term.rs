//! Values as terms, in the forms the standard has for them.

use smtlib::{Head, Index, Literal, Op, Sort, SortKind, Store, Term};

use crate::bv::BitVector;
use crate::fp::{Float, RoundingMode};
use crate::value::{Table, Value};

/// A term that denotes the value of a sort in every model. `None` where the language has no such term:
/// irrational numbers, functions, languages, and elements of declared sorts.
pub fn to_term(store: &mut Store, sort: Sort, value: &Value) -> Option<Term> {
    let kind = store.sort_kind(sort).clone();
    Some(match (value, kind) {
        (Value::Bool(value), _) => store.bool(*value),
        (Value::Int(value), _) => store.int(value.clone()),
        (Value::Real(value), _) => store.real(value.to_rational()?.clone()),
        (Value::BitVector(bits), _) => bit_vector(store, bits),
        (Value::Float(value), _) => float(store, value)?,
        (Value::RoundingMode(mode), _) => store.op(rounding_mode(*mode), &[]).ok()?,
        (Value::Str(value), _) => store.string(value.chars()),
        (Value::Field(value), _) => store.literal_term(Literal::Field(sort, value.residue().magnitude())),
        (Value::Seq(parts), SortKind::Seq(element)) => {
            let units = parts
                .iter()
                .map(|part| {
                    let part = to_term(store, element, part)?;
                    store.op(Op::SeqUnit, &[part]).ok()
                })
                .collect::<Option<Vec<_>>>()?;
            match units.as_slice() {
                [] => store.qualified(Op::SeqEmpty, sort, &[]).ok()?,
                [unit] => *unit,
                units => store.op(Op::SeqConcat, units).ok()?,
            }
        }
        (Value::Array(table), SortKind::Array(index, element)) => array(store, sort, index, element, table)?,
        (Value::Datatype(constructor, fields), SortKind::Datatype(datatype, _)) => {
            let sorts = store.field_sorts(datatype, *constructor, sort);
            let args = terms(store, &sorts, fields)?;
            store.datatype_node(Head::Constructor(datatype, *constructor), &args, Some(sort)).ok()?
        }
        (Value::Tuple(parts), SortKind::Tuple(sorts)) => {
            let args = terms(store, &sorts, parts)?;
            let op = if args.is_empty() { Op::TupleUnit } else { Op::TupleMake };
            store.op(op, &args).ok()?
        }
        (Value::Set(elements), SortKind::Set(element)) => {
            let mut singletons = Vec::with_capacity(elements.len());
            for value in elements.iter() {
                let value = to_term(store, element, value)?;
                singletons.push(store.op(Op::SetSingleton, &[value]).ok()?);
            }
            join(store, sort, Op::SetEmpty, Op::SetUnion, singletons)?
        }
        (Value::Bag(elements), SortKind::Bag(element)) => {
            let mut parts = Vec::with_capacity(elements.len());
            for (value, count) in elements.iter() {
                let value = to_term(store, element, value)?;
                let count = store.int(count.clone());
                parts.push(store.op(Op::BagMake, &[value, count]).ok()?);
            }
            join(store, sort, Op::BagEmpty, Op::BagUnionDisjoint, parts)?
        }
        (Value::Nullable(None), SortKind::Nullable(_)) => {
            store.qualified(Op::NullableNull, sort, &[]).ok()?
        }
        (Value::Nullable(Some(inner)), SortKind::Nullable(element)) => {
            let inner = to_term(store, element, inner)?;
            store.op(Op::NullableSome, &[inner]).ok()?
        }
        _ => return None,
    })
}

fn terms(store: &mut Store, sorts: &[Sort], values: &[Value]) -> Option<Vec<Term>> {
    sorts.iter().zip(values).map(|(sort, value)| to_term(store, *sort, value)).collect()
}

/// A union, pair by pair: the standard has no longer ones.
fn join(store: &mut Store, sort: Sort, empty: Op, union: Op, parts: Vec<Term>) -> Option<Term> {
    let mut parts = parts.into_iter();
    match parts.next() {
        None => store.qualified(empty, sort, &[]).ok(),
        Some(first) => parts.try_fold(first, |sum, part| store.op(union, &[sum, part]).ok()),
    }
}

fn bit_vector(store: &mut Store, bits: &BitVector) -> Term {
    store.bv(bits.width(), bits.to_ubig())
}

fn float(store: &mut Store, value: &Float) -> Option<Term> {
    let format = value.format();
    let indices = [Index::Number(format.eb()), Index::Number(format.sb())];
    let special = if value.is_nan() {
        Op::FpNan
    } else if value.is_infinite() {
        if value.is_negative() { Op::FpMinusInfinity } else { Op::FpPlusInfinity }
    } else if value.is_zero() {
        if value.is_negative() { Op::FpMinusZero } else { Op::FpPlusZero }
    } else {
        let (sign, exponent, trailing) = value.to_triple();
        let fields = [&sign, &exponent, &trailing].map(|bits| bit_vector(store, bits));
        return store.op(Op::Fp, &fields).ok();
    };
    store.indexed(special, &indices, &[]).ok()
}

fn rounding_mode(mode: RoundingMode) -> Op {
    match mode {
        RoundingMode::Rne => Op::RoundNearestTiesToEven,
        RoundingMode::Rna => Op::RoundNearestTiesToAway,
        RoundingMode::Rtp => Op::RoundTowardPositive,
        RoundingMode::Rtn => Op::RoundTowardNegative,
        RoundingMode::Rtz => Op::RoundTowardZero,
    }
}

fn array(store: &mut Store, sort: Sort, index: Sort, element: Sort, table: &Table) -> Option<Term> {
    let default = to_term(store, element, table.default_value()?)?;
    let constant = store.qualified(Op::ConstArray, sort, &[default]).ok()?;
    table.entries().iter().try_fold(constant, |array, (key, value)| {
        let (key, value) = (to_term(store, index, key)?, to_term(store, element, value)?);
        store.op(Op::Store, &[array, key, value]).ok()
    })
}
