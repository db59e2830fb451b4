//! Random values of a sort. Edge values come up as often as all others together, unless they are drawn uniformly.

use std::sync::Arc;

use dashu_int::UBig;
use rand_core::Rng;
use smtlib::{Sort, SortKind};

use crate::bv::{BitVector, MAX_WIDTH};
use crate::finite_field::FieldElement;
use crate::fp::{Float, Format, NoRational, RoundingMode};
use crate::integer::Integer;
use crate::rational::Rational;
use crate::sorts::{Scoped, Sorts};
use crate::string::{MAX_CHAR, Str};
use crate::value::{Table, Value};

/// Collections get up to this many elements, fewer inside one another.
const MAX_ELEMENTS: usize = 4;
/// Values inside values.
const MAX_DEPTH: usize = 4;

impl Sorts<'_> {
    /// A random value of the sort, or `None` for sorts without values: functions, languages, opaque sorts.
    pub fn random_value(self, sort: Sort, rng: &mut impl Rng) -> Option<Value> {
        self.random_value_up_to(sort, MAX_CHAR, rng)
    }

    /// The same with no character above this one: some solvers cannot read all of them.
    pub fn random_value_up_to(self, sort: Sort, largest: u32, rng: &mut impl Rng) -> Option<Value> {
        self.random_in((sort, None), rng, largest, MAX_DEPTH)
    }

    /// A random value of a sort of constants as ValFuzz's baseline draws it, without edge values: a machine word as an integer,
    /// the bits of a float, the text of some bytes. Other sorts as in [`Sorts::random_value`].
    pub fn uniform_value(self, sort: Sort, rng: &mut impl Rng) -> Option<Value> {
        Some(match self.store.sort_kind(sort) {
            SortKind::Bool => Value::Bool(rng.next_u32() & 1 == 1),
            SortKind::Int => Value::Int(Integer::from(random_bits(rng, 64))),
            SortKind::Real => uniform_real(rng)?.into(),
            SortKind::BitVec(width) if (1..=MAX_WIDTH).contains(width) => {
                Value::BitVector(BitVector::from_ubig(*width, random_bits(rng, *width)))
            }
            SortKind::Float(eb, sb) => {
                let format = Format::new(*eb, *sb).ok()?;
                Value::Float(Float::from_ieee_bits(format, &random_bits(rng, format.width())))
            }
            SortKind::String => {
                let bytes: Vec<u8> = (0..below(rng, 17)).map(|_| rng.next_u32() as u8).collect();
                let text = bytes.utf8_chunks().next().map_or("", |chunk| chunk.valid());
                let chars: Vec<u32> = text.chars().map(u32::from).filter(|char| *char <= MAX_CHAR).collect();
                Value::Str(Str::new(&chars)?)
            }
            _ => return self.random_value(sort, rng),
        })
    }

    /// The values at the ends of a sort of numbers, bits or characters; empty for other sorts.
    pub fn edge_values(self, sort: Sort) -> Vec<Value> {
        match self.store.sort_kind(sort) {
            SortKind::Bool => vec![Value::FALSE, Value::TRUE],
            SortKind::Int => [0, 1, -1, 2, i64::from(i32::MAX), i64::MAX, i64::MIN, 10]
                .into_iter()
                .map(Value::int)
                .collect(),
            SortKind::Real => [(0, 1), (1, 1), (-1, 1), (1, 2), (-1, 3), (i64::MAX, 1), (1, i64::MAX)]
                .into_iter()
                .filter_map(|(n, d)| Rational::new(Integer::new(n), Integer::new(d)))
                .map(Value::from)
                .collect(),
            SortKind::BitVec(width) if (1..=MAX_WIDTH).contains(width) => {
                let width = *width;
                let least = BitVector::min_signed(width);
                [
                    BitVector::zero(width),
                    BitVector::one(width),
                    BitVector::all_ones(width),
                    least.not(),
                    least,
                ]
                .map(Value::BitVector)
                .into()
            }
            SortKind::Float(eb, sb) => {
                let Ok(format) = Format::new(*eb, *sb) else { return Vec::new() };
                let one = Float::from_integer(format, RoundingMode::Rne, &Integer::ONE);
                let mut values = vec![Float::nan(format), one.clone(), one.neg()];
                for negative in [false, true] {
                    values.extend([
                        Float::zero(format, negative),
                        Float::infinity(format, negative),
                        Float::max_finite(format, negative),
                        Float::min_normal(format, negative),
                        Float::min_subnormal(format, negative),
                    ]);
                }
                values.into_iter().map(Value::Float).collect()
            }
            SortKind::String => ["", "a", "0", "-1", "ab", "aba", "\u{2FFFF}", "\"", "\\u{61}"]
                .into_iter()
                .filter_map(|text| Str::try_from(text).ok())
                .map(Value::Str)
                .collect(),
            SortKind::RoundingMode => RoundingMode::ALL.map(Value::RoundingMode).into(),
            _ => Vec::new(),
        }
    }

    fn random_in(self, scoped: Scoped<'_>, rng: &mut impl Rng, largest: u32, depth: usize) -> Option<Value> {
        let (sort, scope) = self.resolve(scoped);
        let mut edges = self.edge_values(sort);
        edges.retain(|edge| !matches!(edge, Value::Str(text) if text.chars().iter().any(|c| *c > largest)));
        if !edges.is_empty() && rng.next_u32().is_multiple_of(2) {
            return Some(edges[below(rng, edges.len())].clone());
        }
        Some(match self.store.sort_kind(sort) {
            SortKind::Bool => Value::Bool(rng.next_u32() & 1 == 1),
            SortKind::Int => Value::Int(random_integer(rng)),
            SortKind::Real => {
                let denominator = Integer::new(1 + below(rng, 16) as i64);
                Rational::new(random_integer(rng), denominator)?.into()
            }
            SortKind::BitVec(width) if (1..=MAX_WIDTH).contains(width) => {
                Value::BitVector(BitVector::from_ubig(*width, random_bits(rng, *width)))
            }
            SortKind::Float(eb, sb) => {
                let format = Format::new(*eb, *sb).ok()?;
                Value::Float(Float::from_ieee_bits(format, &random_bits(rng, format.width())))
            }
            SortKind::String => {
                let length = below(rng, 2 * MAX_ELEMENTS);
                let chars: Vec<u32> = (0..length).map(|_| random_char(rng, largest)).collect();
                Value::Str(Str::new(&chars)?)
            }
            SortKind::RoundingMode => Value::RoundingMode(RoundingMode::ALL[below(rng, 5)]),
            SortKind::FiniteField(order) => {
                let order = Arc::new(Integer::from((**order).clone()));
                let bits = order.bit_length() as u32 + 8;
                let value = Integer::from(random_bits(rng, bits));
                Value::Field(FieldElement::new(&value, order)?)
            }
            SortKind::Seq(element) => {
                let parts = self.random_list((*element, scope), rng, largest, depth)?;
                Value::Seq(parts.into())
            }
            SortKind::Set(element) => {
                Value::set(self.random_list((*element, scope), rng, largest, depth)?)?
            }
            SortKind::Bag(element) => {
                let elements = self.random_list((*element, scope), rng, largest, depth)?.into_iter();
                let counted = elements.map(|element| (element, Integer::new(1 + below(rng, 3) as i64)));
                Value::bag(counted.collect())?
            }
            SortKind::Nullable(element) => {
                if depth == 0 || rng.next_u32() & 3 == 0 {
                    Value::Nullable(None)
                } else {
                    Value::Nullable(Some(Arc::new(self.random_in(
                        (*element, scope),
                        rng,
                        largest,
                        depth - 1,
                    )?)))
                }
            }
            SortKind::Tuple(sorts) => {
                let parts = sorts.iter().map(|sort| self.random_in((*sort, scope), rng, largest, depth));
                Value::Tuple(parts.collect::<Option<Vec<_>>>()?.into())
            }
            SortKind::Array(index, element) => {
                let keys = self.random_list((*index, scope), rng, largest, depth)?;
                let mut entries = Vec::with_capacity(keys.len());
                for key in keys {
                    entries.push((
                        key,
                        self.random_in((*element, scope), rng, largest, depth.saturating_sub(1))?,
                    ));
                }
                let default = self.random_in((*element, scope), rng, largest, depth.saturating_sub(1))?;
                Value::Array(Arc::new(Table::new(entries, default, self.domain_in((*index, scope)))?))
            }
            SortKind::Declared(..) => {
                let known = self.model.universe(sort);
                let size = match known {
                    Some(universe) if universe.is_closed() => universe.len(),
                    Some(universe) => universe.len() + 1,
                    None => MAX_ELEMENTS,
                };
                Value::Element(below(rng, size.max(1)) as u32)
            }
            SortKind::Datatype(datatype, args) => {
                let count = self.store.datatype(*datatype).constructors.len();
                let wanted = below(rng, count.max(1)) as u16;
                let chosen = if depth == 0 {
                    None
                } else {
                    self.constructors(*datatype, args, scope, |number, fields| {
                        if number != wanted {
                            return None;
                        }
                        let fields =
                            fields.iter().map(|field| self.random_in(*field, rng, largest, depth - 1));
                        Some(Value::Datatype(number, fields.collect::<Option<Vec<_>>>()?.into()))
                    })
                };
                match chosen {
                    Some(value) => value,
                    // Deep enough: the shortest way to an end.
                    None => self.default_in((sort, scope), &mut Vec::new())?,
                }
            }
            _ => return None,
        })
    }

    fn random_list(
        self,
        element: Scoped<'_>,
        rng: &mut impl Rng,
        largest: u32,
        depth: usize,
    ) -> Option<Vec<Value>> {
        let length = if depth == 0 { 0 } else { below(rng, MAX_ELEMENTS) };
        (0..length).map(|_| self.random_in(element, rng, largest, depth - 1)).collect()
    }
}

/// A number below a bound.
pub(crate) fn below(rng: &mut impl Rng, bound: usize) -> usize {
    (rng.next_u64() % bound.max(1) as u64) as usize
}

/// Mostly small, sometimes beyond a machine word.
fn random_integer(rng: &mut impl Rng) -> Integer {
    let bits = [3, 5, 8, 16, 32, 64, 90][below(rng, 7)];
    let magnitude = Integer::from(random_bits(rng, bits));
    if rng.next_u32() & 1 == 1 { -magnitude } else { magnitude }
}

/// The value of 64 random bits as a float that is a number.
fn uniform_real(rng: &mut impl Rng) -> Option<Rational> {
    let format = Format::new(11, 53).ok()?;
    loop {
        let drawn = Float::from_ieee_bits(format, &random_bits(rng, format.width()));
        match drawn.to_rational() {
            Ok(value) => return Some(value),
            Err(NoRational::NotFinite) => {}
            Err(NoRational::TooLarge { .. }) => return None,
        }
    }
}

pub(crate) fn random_bits(rng: &mut impl Rng, width: u32) -> UBig {
    let mut bits = UBig::ZERO;
    for _ in 0..width.div_ceil(64) {
        bits = (bits << 64) | UBig::from(rng.next_u64());
    }
    bits >> (width.div_ceil(64) * 64 - width) as usize
}

fn random_char(rng: &mut impl Rng, largest: u32) -> u32 {
    match below(rng, 8) {
        0 => rng.next_u32() % (largest.min(MAX_CHAR) + 1),
        1 => u32::from(b' ') + below(rng, 95) as u32,
        2 => u32::from(b'0') + below(rng, 10) as u32,
        // Few different letters, so that parts repeat.
        _ => u32::from(b'a') + below(rng, 3) as u32,
    }
}

#[cfg(test)]
mod tests {
    use rand_core::SeedableRng;
    use smtlib::Store;

    use super::*;
    use crate::model::Model;

    #[test]
    fn uniform_values_prefer_no_edges() {
        let (mut store, none) = (Store::new(), Model::new());
        let (float, bits) = (store.float(8, 24), store.bitvec(32));
        let sorts = Sorts::new(&store, &none);
        let mut rng = rand_chacha::ChaCha8Rng::seed_from_u64(7);
        for sort in [Sort::INT, Sort::REAL, float, bits] {
            let edges = sorts.edge_values(sort);
            let mut count = |uniform: bool| {
                let mut draw = || {
                    if uniform {
                        sorts.uniform_value(sort, &mut rng)
                    } else {
                        sorts.random_value(sort, &mut rng)
                    }
                };
                (0..200).filter(|_| draw().is_some_and(|value| edges.contains(&value))).count()
            };
            assert!(count(true) <= 4 && count(false) > 60);
        }
        let texts: Vec<Value> =
            (0..200).filter_map(|_| sorts.uniform_value(Sort::STRING, &mut rng)).collect();
        assert!(
            texts.len() == 200
                && texts.iter().any(|text| matches!(text, Value::Str(text) if text.chars().len() > 2))
        );
    }
}
