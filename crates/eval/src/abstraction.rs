//! Sets of values that an analysis can compute with: what a term may be without knowing what it is.

use std::ops::Bound;
use std::sync::Arc;

use rand_core::Rng;

use crate::algebraic::Real;
use crate::bv::BitVector;
use crate::fp::{Float, RoundingMode};
use crate::integer::Integer;
use crate::random::{below, random_bits};
use crate::rational::Rational;
use crate::regex::{Arena, Re};
use crate::value::Value;

/// A set of values of one sort.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Abstract {
    Everything,
    Exactly(Value),
    /// Which truth values are in the set.
    Bool {
        truth: bool,
        falsity: bool,
    },
    Int(Interval<Integer>),
    Real(Interval<Rational>),
    /// Both ends included; empty if the first is above the last.
    Unsigned(BitVector, BitVector),
    Signed(BitVector, BitVector),
    /// From the first to the last by `fp.leq`, so that a zero stands for both zeros; NaN is in it by the flag.
    Float {
        low: Float,
        high: Float,
        nan: bool,
    },
    /// The words of a language in the arena at hand.
    Language(Re),
    Finite(Arc<[Value]>),
}

/// An interval whose ends may be open, closed or infinite.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Interval<T> {
    pub low: Bound<T>,
    pub high: Bound<T>,
}

impl<T: Ord> Interval<T> {
    pub const ALL: Interval<T> = Interval { low: Bound::Unbounded, high: Bound::Unbounded };

    pub fn closed(low: T, high: T) -> Interval<T> {
        Interval { low: Bound::Included(low), high: Bound::Included(high) }
    }

    pub fn contains(&self, value: &T) -> bool {
        let above = match &self.low {
            Bound::Unbounded => true,
            Bound::Included(low) => value >= low,
            Bound::Excluded(low) => value > low,
        };
        let below = match &self.high {
            Bound::Unbounded => true,
            Bound::Included(high) => value <= high,
            Bound::Excluded(high) => value < high,
        };
        above && below
    }
}

impl Interval<Integer> {
    /// The least and the greatest element, where there are such.
    pub fn ends(&self) -> (Option<Integer>, Option<Integer>) {
        let low = match &self.low {
            Bound::Unbounded => None,
            Bound::Included(low) => Some(low.clone()),
            Bound::Excluded(low) => Some(low + &Integer::ONE),
        };
        let high = match &self.high {
            Bound::Unbounded => None,
            Bound::Included(high) => Some(high.clone()),
            Bound::Excluded(high) => Some(high - &Integer::ONE),
        };
        (low, high)
    }
}

impl Abstract {
    /// No value at all.
    pub fn nothing() -> Abstract {
        Abstract::Finite(Arc::default())
    }

    /// Is a value of the set's sort in the set? `None` if that cannot be decided.
    pub fn contains(&self, value: &Value, arena: &mut Arena) -> Option<bool> {
        match (self, value) {
            (Abstract::Everything, _) => Some(true),
            (Abstract::Exactly(only), _) => only.equal(value),
            (Abstract::Bool { truth, falsity }, Value::Bool(value)) => {
                Some(if *value { *truth } else { *falsity })
            }
            (Abstract::Int(interval), Value::Int(value)) => Some(interval.contains(value)),
            (Abstract::Real(interval), Value::Real(value)) => Some(contains_real(interval, value)),
            (Abstract::Unsigned(low, high), Value::BitVector(bits)) => {
                Some(bits.unsigned_cmp(low).is_ge() && bits.unsigned_cmp(high).is_le())
            }
            (Abstract::Signed(low, high), Value::BitVector(bits)) => {
                Some(bits.signed_cmp(low).is_ge() && bits.signed_cmp(high).is_le())
            }
            (Abstract::Float { nan, .. }, Value::Float(value)) if value.is_nan() => Some(*nan),
            (Abstract::Float { low, high, .. }, Value::Float(value)) => {
                Some(low.leq(value) && value.leq(high))
            }
            (Abstract::Language(language), Value::Str(word)) => arena.matches(*language, word).ok(),
            (Abstract::Finite(values), _) => value.is_among(values.iter()),
            _ => None,
        }
    }

    /// The number of values where it is finite and easy to tell.
    pub fn size(&self) -> Option<Integer> {
        let count = |first: Integer, last: Integer| {
            let size = &(&last - &first) + &Integer::ONE;
            if size.is_negative() { Integer::ZERO } else { size }
        };
        match self {
            Abstract::Exactly(_) => Some(Integer::ONE),
            Abstract::Bool { truth, falsity } => Some(Integer::new(i64::from(*truth) + i64::from(*falsity))),
            Abstract::Int(interval) => match interval.ends() {
                (Some(low), Some(high)) => Some(count(low, high)),
                _ => None,
            },
            Abstract::Unsigned(low, high) => Some(count(low.to_unsigned(), high.to_unsigned())),
            Abstract::Signed(low, high) => Some(count(low.to_signed(), high.to_signed())),
            Abstract::Finite(values) => Some(Integer::new(values.len() as i64)),
            Abstract::Everything | Abstract::Real(_) | Abstract::Float { .. } | Abstract::Language(_) => None,
        }
    }

    /// May there be more than `limit` values?
    pub fn is_wide(&self, limit: u64) -> bool {
        self.size().is_none_or(|size| size > Integer::from(limit))
    }

    /// Is it a language with infinitely many words? `None` if that is too hard to tell.
    pub fn has_star(&self, arena: &mut Arena) -> Option<bool> {
        match self {
            Abstract::Language(language) => arena.is_finite(*language).ok().map(|finite| !finite),
            _ => Some(false),
        }
    }

    /// A random value of the set. `None` if it is empty, or everything, whose sort is not known here.
    pub fn sample(&self, arena: &mut Arena, rng: &mut impl Rng) -> Option<Value> {
        match self {
            Abstract::Everything => None,
            Abstract::Exactly(value) => Some(value.clone()),
            Abstract::Bool { truth, falsity } => match (truth, falsity) {
                (true, true) => Some(Value::Bool(below(rng, 2) == 1)),
                (false, false) => None,
                _ => Some(Value::Bool(*truth)),
            },
            Abstract::Int(interval) => {
                let (low, high) = interval.ends();
                integer_between(low, high, rng).map(Value::Int)
            }
            Abstract::Real(interval) => real_between(interval, rng).map(Value::from),
            Abstract::Unsigned(low, high) => {
                let number = integer_between(Some(low.to_unsigned()), Some(high.to_unsigned()), rng)?;
                Some(Value::BitVector(BitVector::from_integer(low.width(), &number)))
            }
            Abstract::Signed(low, high) => {
                let number = integer_between(Some(low.to_signed()), Some(high.to_signed()), rng)?;
                Some(Value::BitVector(BitVector::from_integer(low.width(), &number)))
            }
            Abstract::Float { low, high, nan } => float_between(low, high, *nan, rng).map(Value::Float),
            Abstract::Language(language) => {
                let automaton = arena.automaton(*language).ok()?;
                let shortest = automaton.shortest_word()?.len();
                automaton.random_word(rng, shortest + 8).map(Value::Str)
            }
            Abstract::Finite(values) => {
                if values.is_empty() {
                    None
                } else {
                    Some(values[below(rng, values.len())].clone())
                }
            }
        }
    }
}

fn contains_real(interval: &Interval<Rational>, value: &Real) -> bool {
    let end = |end: &Bound<Rational>| match end {
        Bound::Unbounded => Bound::Unbounded,
        Bound::Included(end) => Bound::Included(Real::Rational(end.clone())),
        Bound::Excluded(end) => Bound::Excluded(Real::Rational(end.clone())),
    };
    Interval { low: end(&interval.low), high: end(&interval.high) }.contains(value)
}

/// An integer between two ends, both included. Ends and their surroundings come up often.
fn integer_between(low: Option<Integer>, high: Option<Integer>, rng: &mut impl Rng) -> Option<Integer> {
    let bits = [1, 4, 8, 32, 64][below(rng, 5)];
    let distance = Integer::from(random_bits(rng, bits));
    let (low, high) = match (low, high) {
        (None, None) => {
            return Some(if below(rng, 2) == 0 { distance } else { -distance });
        }
        (Some(low), None) => return Some(&low + &distance),
        (None, Some(high)) => return Some(&high - &distance),
        (Some(low), Some(high)) => (low, high),
    };
    if low > high {
        return None;
    }
    let width = &(&high - &low) + &Integer::ONE;
    match below(rng, 4) {
        0 if distance < width => Some(&low + &distance),
        1 if distance < width => Some(&high - &distance),
        _ => {
            let random = Integer::from(random_bits(rng, width.bit_length() as u32 + 8));
            Some(&low + &random.rem_euclid(&width)?)
        }
    }
}

fn real_between(interval: &Interval<Rational>, rng: &mut impl Rng) -> Option<Rational> {
    let bits = [1, 4, 8, 32][below(rng, 4)];
    let part = Rational::new(Integer::from(random_bits(rng, bits)), Integer::new(1 << 8))?;
    let low = match &interval.low {
        Bound::Unbounded => None,
        Bound::Included(low) | Bound::Excluded(low) => Some(low.clone()),
    };
    let high = match &interval.high {
        Bound::Unbounded => None,
        Bound::Included(high) | Bound::Excluded(high) => Some(high.clone()),
    };
    let value = match (low, high) {
        (None, None) => {
            if below(rng, 2) == 0 {
                part
            } else {
                -&part
            }
        }
        (Some(low), None) => &low + &part,
        (None, Some(high)) => &high - &part,
        (Some(low), Some(high)) => {
            // Sixteenths of the way from one end to the other, the ends included.
            let share = Rational::new(Integer::new(below(rng, 17) as i64), Integer::new(16))?;
            &low + &(&(&high - &low) * &share)
        }
    };
    if interval.contains(&value) {
        return Some(value);
    }
    // An open end: a little inside.
    let inside = match (&interval.low, &interval.high) {
        (Bound::Excluded(low) | Bound::Included(low), Bound::Unbounded) => low + &Rational::ONE,
        (Bound::Unbounded, Bound::Excluded(high) | Bound::Included(high)) => high - &Rational::ONE,
        (Bound::Excluded(low) | Bound::Included(low), Bound::Excluded(high) | Bound::Included(high)) => {
            low.midpoint(high)
        }
        (Bound::Unbounded, Bound::Unbounded) => Rational::ZERO,
    };
    interval.contains(&inside).then_some(inside)
}

fn float_between(low: &Float, high: &Float, nan: bool, rng: &mut impl Rng) -> Option<Float> {
    let format = low.format();
    if nan && (below(rng, 8) == 0 || !low.leq(high)) {
        return Some(Float::nan(format));
    }
    if !low.leq(high) {
        return None;
    }
    let candidates = [
        low.clone(),
        high.clone(),
        Float::zero(format, false),
        Float::zero(format, true),
        Float::from_ieee_bits(format, &random_bits(rng, format.width())),
        midpoint(low, high),
    ];
    let start = below(rng, candidates.len());
    let in_order = candidates.iter().cycle().skip(start).take(candidates.len());
    in_order.into_iter().find(|value| low.leq(value) && value.leq(high)).cloned()
}

fn midpoint(low: &Float, high: &Float) -> Float {
    let half =
        Float::from_rational(low.format(), RoundingMode::Rne, &Rational::ONE.midpoint(&Rational::ZERO));
    let mode = RoundingMode::Rtz;
    low.mul(mode, &half).add(mode, &high.mul(mode, &half))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use rand_chacha::ChaCha8Rng;
    use rand_core::SeedableRng;

    use super::*;
    use crate::fp::Format;
    use crate::string::Str;

    fn interval(low: (u8, i64), high: (u8, i64)) -> Interval<Integer> {
        let end = |(kind, value): (u8, i64)| match kind % 3 {
            0 => Bound::Unbounded,
            1 => Bound::Included(Integer::new(value)),
            _ => Bound::Excluded(Integer::new(value)),
        };
        Interval { low: end(low), high: end(high) }
    }

    proptest! {
        #[test]
        fn samples_lie_in_their_set(seed: u64, low: (u8, i8), high: (u8, i8), bits: (u8, u8)) {
            let mut rng = ChaCha8Rng::seed_from_u64(seed);
            let mut arena = Arena::default();
            let ints = interval((low.0, low.1.into()), (high.0, high.1.into()));
            let real = |bound: &Bound<Integer>| match bound {
                Bound::Unbounded => Bound::Unbounded,
                Bound::Included(n) => Bound::Included(Rational::from(n.clone())),
                Bound::Excluded(n) => Bound::Excluded(Rational::from(n.clone())),
            };
            let reals = Interval { low: real(&ints.low), high: real(&ints.high) };
            let (a, b) = (BitVector::new(8, bits.0.into()), BitVector::new(8, bits.1.into()));
            let format = Format::new(3, 5).unwrap();
            let floats = Abstract::Float {
                low: Float::from_bv(format, &a),
                high: Float::from_bv(format, &b),
                nan: seed.is_multiple_of(2),
            };
            let sets = [
                Abstract::Int(ints),
                Abstract::Real(reals),
                Abstract::Unsigned(a.clone(), b.clone()),
                Abstract::Signed(a, b),
                floats,
                Abstract::Bool { truth: low.1 > 0, falsity: high.1 > 0 },
            ];
            for set in &sets {
                for _ in 0..8 {
                    if let Some(value) = set.sample(&mut arena, &mut rng) {
                        prop_assert_eq!(set.contains(&value, &mut arena), Some(true), "{:?} {:?}", set, value);
                    } else if let Some(size) = set.size() {
                        prop_assert!(size.is_zero(), "{:?} has {} values", set, size);
                    }
                }
            }
        }

        #[test]
        fn sizes_count_the_members(low: i8, high: i8, kinds: (bool, bool)) {
            let end = |open: bool, value: i8| {
                let value = Integer::from(i64::from(value));
                if open { Bound::Excluded(value) } else { Bound::Included(value) }
            };
            let set = Abstract::Int(Interval { low: end(kinds.0, low), high: end(kinds.1, high) });
            let mut arena = Arena::default();
            let members = (-200i64..200)
                .filter(|n| set.contains(&Value::int(*n), &mut arena) == Some(true))
                .count();
            prop_assert_eq!(set.size(), Some(Integer::new(members as i64)));
        }
    }

    #[test]
    fn languages_are_sets_of_words() {
        let mut arena = Arena::default();
        let mut rng = ChaCha8Rng::seed_from_u64(7);
        let word = arena.literal(&Str::try_from("ab").unwrap());
        let set = Abstract::Language(arena.plus(word));
        assert_eq!(set.has_star(&mut arena), Some(true));
        assert_eq!(Abstract::Language(word).has_star(&mut arena), Some(false));
        for _ in 0..20 {
            let value = set.sample(&mut arena, &mut rng).expect("a word");
            assert_eq!(set.contains(&value, &mut arena), Some(true));
        }
        assert_eq!(set.contains(&Value::Str(Str::EMPTY), &mut arena), Some(false));
    }
}
