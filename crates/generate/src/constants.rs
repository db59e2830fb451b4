//! Constants that tend to matter: zeros, ones, powers of two and their neighbours, extremes, odd floats and strings.

use dashu_int::UBig;
use smtlib::{Head, Index, Integer, Literal, Op, Rational, Sort, SortKind, Store, Term};

use crate::rng::Rng;
use crate::scope::Scope;

/// Nested sorts (arrays of sets of ...) are followed this far.
const NESTING: usize = 6;

/// How constants may be written.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Style<'a> {
    /// Constant arrays exist.
    pub arrays: bool,
    /// Only literals: no sign and no quotient before a number.
    pub plain: bool,
    /// The largest code point of a string that everybody can read.
    pub largest_character: u32,
    /// Those to choose from.
    pub rounding_modes: &'a [Op],
}

/// A constant of the sort made of literals and constructors, or a leaf where a sort has no constants of its own.
pub(crate) fn constant(
    store: &mut Store,
    rng: &mut Rng,
    scope: &Scope,
    sort: Sort,
    style: Style,
) -> Option<Term> {
    nested(store, rng, scope, sort, style, NESTING)
}

fn nested(
    store: &mut Store,
    rng: &mut Rng,
    scope: &Scope,
    sort: Sort,
    style: Style,
    depth: usize,
) -> Option<Term> {
    match sort {
        Sort::BOOL => {
            let value = rng.chance(0.5);
            return Some(store.bool(value));
        }
        Sort::INT => {
            let value = integer(rng);
            return Some(store.int(if style.plain && value.is_negative() { -value } else { value }));
        }
        Sort::REAL => {
            let value = rational(rng);
            let value = if style.plain { Rational::from(rng.below(20)) } else { value };
            return Some(store.real(value));
        }
        Sort::STRING => {
            let text = string(rng, style);
            return Some(store.string(&text));
        }
        Sort::REGLAN => return language(store, rng, style),
        Sort::ROUNDING_MODE => {
            let mode = *rng.pick(style.rounding_modes)?;
            return store.op(mode, &[]).ok();
        }
        _ => {}
    }
    let depth = depth.checked_sub(1)?;
    match store.sort_kind(sort).clone() {
        SortKind::BitVec(width) => {
            let value = bits(rng, width);
            Some(store.bv(width, value))
        }
        SortKind::Float(e, s) => float(store, rng, e, s),
        SortKind::FiniteField(order) => {
            let value = field_element(rng, &order);
            Some(store.literal_term(Literal::Field(sort, value)))
        }
        SortKind::Seq(element) => match rng.chance(0.5) {
            true => store.qualified(Op::SeqEmpty, sort, &[]).ok(),
            false => {
                let element = nested(store, rng, scope, element, style, depth)?;
                store.op(Op::SeqUnit, &[element]).ok()
            }
        },
        SortKind::Set(element) => match rng.chance(0.5) {
            true => store.qualified(Op::SetEmpty, sort, &[]).ok(),
            false => {
                let element = nested(store, rng, scope, element, style, depth)?;
                store.op(Op::SetSingleton, &[element]).ok()
            }
        },
        SortKind::Bag(element) => match rng.chance(0.5) {
            true => store.qualified(Op::BagEmpty, sort, &[]).ok(),
            false => {
                let element = nested(store, rng, scope, element, style, depth)?;
                let count = store.int(rng.between(1, 3));
                store.op(Op::BagMake, &[element, count]).ok()
            }
        },
        SortKind::Nullable(element) => match rng.chance(0.5) {
            true => store.qualified(Op::NullableNull, sort, &[]).ok(),
            false => {
                let element = nested(store, rng, scope, element, style, depth)?;
                store.op(Op::NullableSome, &[element]).ok()
            }
        },
        SortKind::Tuple(sorts) => {
            let fields = sorts
                .iter()
                .map(|sort| nested(store, rng, scope, *sort, style, depth))
                .collect::<Option<Vec<_>>>()?;
            store.op(Op::TupleMake, &fields).ok()
        }
        SortKind::Array(_, element) if style.arrays => {
            // Only values may stand there; a free constant of some sort is none.
            let style = Style { plain: true, ..style };
            let element = nested(store, rng, &Scope::new(), element, style, depth)?;
            store.qualified(Op::ConstArray, sort, &[element]).ok()
        }
        SortKind::Datatype(datatype, _) => {
            // Constructors without fields of the same sort come first in what `universe` declares; a seed's
            // datatypes may have them anywhere.
            let count = store.datatype(datatype).constructors.len();
            let first = rng.below(count);
            (0..count).find_map(|i| {
                let constructor = ((first + i) % count) as u16;
                let fields = store
                    .field_sorts(datatype, constructor, sort)
                    .into_iter()
                    .map(|field| nested(store, rng, scope, field, style, depth.saturating_sub(2)))
                    .collect::<Option<Vec<_>>>()?;
                store.datatype_node(Head::Constructor(datatype, constructor), &fields, Some(sort)).ok()
            })
        }
        _ => rng.pick(scope.leaves(sort)).copied(),
    }
}

/// A constant that is not zero, of a sort of numbers.
pub(crate) fn nonzero(store: &mut Store, rng: &mut Rng, sort: Sort) -> Option<Term> {
    match sort {
        Sort::INT => {
            let value = integer(rng);
            Some(store.int(if value.is_zero() { Integer::from(3) } else { value }))
        }
        Sort::REAL => {
            let value = rational(rng);
            Some(store.real(if value.is_zero() { Rational::from(3) } else { value }))
        }
        _ => None,
    }
}

fn integer(rng: &mut Rng) -> Integer {
    let magnitude = match rng.below(10) {
        0 | 1 => Integer::ZERO,
        2 | 3 => Integer::ONE,
        4..=6 => Integer::from(rng.between(2, 12)),
        7 => Integer::from(rng.below(1000)),
        8 => {
            let exponent = *rng.pick(&[2, 3, 4, 7, 8, 15, 16, 31, 32, 53, 63, 64]).unwrap_or(&8);
            Integer::from((1u128 << exponent) + rng.below(3) as u128 - 1)
        }
        _ => Integer::from(10u64.pow(rng.between(1, 12) as u32)),
    };
    if rng.chance(0.35) { -magnitude } else { magnitude }
}

fn rational(rng: &mut Rng) -> Rational {
    let numerator = integer(rng);
    if rng.chance(0.6) {
        return Rational::from(numerator);
    }
    let denominator = *rng.pick(&[2u32, 3, 4, 5, 7, 8, 10, 16, 100, 1000]).unwrap_or(&2);
    Rational::new(numerator, Integer::from(denominator)).unwrap_or_default()
}

fn bits(rng: &mut Rng, width: u32) -> UBig {
    let ones = (UBig::ONE << width as usize) - UBig::ONE;
    match rng.below(9) {
        0 => UBig::ZERO,
        1 => UBig::ONE,
        2 => ones,
        // The least and the greatest signed number.
        3 => UBig::ONE << (width as usize - 1),
        4 => ones >> 1,
        5 => UBig::ONE << rng.below(width as usize),
        6 => UBig::from(rng.below(16)) & ones,
        _ => random_bits(rng, width),
    }
}

fn random_bits(rng: &mut Rng, width: u32) -> UBig {
    let mut value = UBig::ZERO;
    for _ in 0..width.div_ceil(64) {
        value = (value << 64) | UBig::from(rng.bits());
    }
    value & ((UBig::ONE << width as usize) - UBig::ONE)
}

fn field_element(rng: &mut Rng, order: &UBig) -> UBig {
    match rng.below(5) {
        0 => UBig::ZERO,
        1 => UBig::ONE,
        2 => order - UBig::ONE,
        _ => UBig::from(rng.bits()) % order,
    }
}

fn float(store: &mut Store, rng: &mut Rng, e: u32, s: u32) -> Option<Term> {
    let indices = [Index::Number(e), Index::Number(s)];
    let special = match rng.below(12) {
        0 => Op::FpNan,
        1 => Op::FpPlusInfinity,
        2 => Op::FpMinusInfinity,
        3 => Op::FpPlusZero,
        4 => Op::FpMinusZero,
        _ => {
            let (zero, one) = (UBig::ZERO, UBig::ONE);
            let top = |width: u32| (UBig::ONE << width as usize) - UBig::ONE;
            let (exponent, fraction) = match rng.below(8) {
                // Least and greatest subnormal, least and greatest normal, one, and its neighbour.
                0 => (zero, one),
                1 => (zero, top(s - 1)),
                2 => (one, zero),
                3 => (top(e) - UBig::ONE, top(s - 1)),
                4 => (top(e) >> 1, zero),
                5 => (top(e) >> 1, one),
                6 => ((top(e) >> 1) + UBig::from(rng.below(3)), bits(rng, s - 1)),
                _ => (random_bits(rng, e), random_bits(rng, s - 1)),
            };
            let sign = store.bv(1, UBig::from(rng.below(2)));
            let exponent = store.bv(e, exponent);
            let fraction = store.bv(s - 1, fraction);
            return store.op(Op::Fp, &[sign, exponent, fraction]).ok();
        }
    };
    store.indexed(special, &indices, &[]).ok()
}

const STRINGS: &[&str] = &[
    "",
    "",
    "a",
    "b",
    "ab",
    "aa",
    "abc",
    "ba",
    "A",
    "0",
    "1",
    "9",
    "10",
    "00",
    "01",
    "-1",
    "+1",
    "42",
    " ",
    "a b",
    "\"",
    "\\",
    "\\u",
    "\\u{61}",
    "\\x41",
    "\u{0}",
    "\n",
    "\u{ff}",
    "\u{100}",
    "\u{2ffff}",
    "é",
    "abcabcabc",
    "0123456789",
];

fn string(rng: &mut Rng, style: Style) -> Vec<u32> {
    let mut points: Vec<u32> = match rng.below(20) {
        0 => vec![u32::from('a'); rng.between(20, 70)],
        1 => (0..rng.between(1, 6)).map(|_| rng.between(32, 126) as u32).collect(),
        2 => (0..rng.between(1, 4)).map(|_| u32::from('0') + rng.below(10) as u32).collect(),
        3 => (0..rng.between(1, 3)).map(|_| rng.below(0x30000) as u32).collect(),
        4..=7 => (0..rng.between(1, 4)).map(|_| u32::from('a') + rng.below(3) as u32).collect(),
        _ => rng.pick(STRINGS).map_or_else(Vec::new, |text| text.chars().map(u32::from).collect()),
    };
    for point in &mut points {
        *point %= style.largest_character + 1;
    }
    points
}

/// A string constant of one character.
pub(crate) fn character(store: &mut Store, rng: &mut Rng, style: Style) -> Term {
    let point = match rng.below(4) {
        0 => *rng.pick(&[0, 0x7f, 0xff, style.largest_character]).unwrap_or(&0),
        1 => u32::from('0') + rng.below(10) as u32,
        _ => u32::from('a') + rng.below(26) as u32,
    };
    store.string(&[point])
}

fn language(store: &mut Store, rng: &mut Rng, style: Style) -> Option<Term> {
    match rng.below(10) {
        0 => store.op(Op::ReNone, &[]).ok(),
        1 => store.op(Op::ReAll, &[]).ok(),
        2 => store.op(Op::ReAllchar, &[]).ok(),
        3 | 4 => {
            let (low, high) = *rng.pick(&[('a', 'c'), ('0', '9'), ('a', 'z'), ('b', 'a')])?;
            let low = store.string(&[u32::from(low)]);
            let high = store.string(&[u32::from(high)]);
            store.op(Op::ReRange, &[low, high]).ok()
        }
        _ => {
            let text = string(rng, style);
            let text = store.string(&text);
            store.op(Op::StrToRe, &[text]).ok()
        }
    }
}
