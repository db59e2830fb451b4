//! Bit-vectors: unsigned and signed intervals, and known bits.

use std::cmp::Ordering;

use dashu_int::UBig;
use eval::Value;
use eval::bv::BitVector;
use eval::integer::Integer;
use eval::rational::Rational;
use smtlib::{Op, SortKind};

use super::{Exact, Image, Node, Part};
use crate::diver::constraint::Constraint;

pub(super) fn preimage(node: &Node<'_>, op: Op, i: usize, set: &Constraint) -> Option<Image> {
    use Op::*;
    match op {
        BvUle | BvUlt | BvUge | BvUgt | BvSle | BvSlt | BvSge | BvSgt => match set {
            Constraint::Bool(truth) => compare(node, op, i, *truth),
            _ => None,
        },
        BvNot => not(set),
        BvNeg => match set {
            Constraint::Only(Value::BitVector(v)) => Some(Exact(only(v.neg()))),
            _ => None,
        },
        BvAnd | BvOr => and_or(node, op, i, set),
        BvXor => {
            let others = fold(node.values, Some(i), BitVector::xor)?;
            match set {
                Constraint::Only(Value::BitVector(v)) => Some(Exact(only(v.xor(&others)))),
                Constraint::Bits { mask, value } => {
                    Some(Exact(Constraint::Bits { mask: mask.clone(), value: value.xor(&others.and(mask)) }))
                }
                _ => None,
            }
        }
        BvAdd => {
            let others = node.sum.as_ref()?.as_bv()?.sub(node.bv(i)?);
            shifted(set, node.bv(i)?, |end| end.sub(&others), false)
        }
        BvSub if i == 0 => {
            let other = node.bv(1)?;
            shifted(set, node.bv(0)?, |end| end.add(other), false)
        }
        BvSub => {
            let from = node.bv(0)?.clone();
            shifted(set, node.bv(1)?, |end| from.sub(end), true)
        }
        BvMul => mul(node, i, set),
        BvNand | BvNor => match not(set)? {
            Exact(set) => and_or(node, if op == BvNand { BvAnd } else { BvOr }, i, &set),
            Part(_) => None,
        },
        BvXnor if node.len() == 2 => {
            let other = node.other(i)?.as_bv()?.not();
            match set {
                Constraint::Only(Value::BitVector(v)) => Some(Exact(only(v.xor(&other)))),
                Constraint::Bits { mask, value } => {
                    Some(Exact(Constraint::Bits { mask: mask.clone(), value: value.xor(&other.and(mask)) }))
                }
                _ => None,
            }
        }
        BvRotateLeft | BvRotateRight => rotate(node, op, set),
        BvUdiv if i == 0 => udiv(node, set),
        BvUdiv => udiv_divisor(node, set),
        BvUrem => urem(node, i, set),
        BvUaddo | BvUsubo | BvUmulo | BvSaddo | BvSsubo | BvSmulo => match set {
            Constraint::Bool(truth) => overflow(node, op, i, *truth),
            _ => None,
        },
        BvConcat => concat(node, i, set),
        BvExtract => extract(node, set),
        BvZeroExtend | UbvToInt => to_wider(node, op, set),
        BvSignExtend | SbvToInt => to_wider(node, op, set),
        BvShl | BvLshr | BvAshr => shift(node, op, i, set),
        BvComp => match set {
            Constraint::Only(Value::BitVector(v)) => {
                let same = only(node.other(i)?.as_bv()?.clone());
                Some(Exact(if v.is_zero() { same.complement() } else { same }))
            }
            _ => None,
        },
        BvBitToBool => match set {
            Constraint::Bool(truth) => {
                let bit = BitVector::from_ubig(width(node, 0)?, UBig::ONE << node.index(0)? as usize);
                let value = if *truth { bit.clone() } else { BitVector::zero(bit.width()) };
                Some(Exact(Constraint::Bits { mask: bit, value }))
            }
            _ => None,
        },
        _ => None,
    }
}

/// All arguments but one joined by an associative operator.
pub(super) fn fold(
    values: &[Option<Value>],
    without: Option<usize>,
    join: fn(&BitVector, &BitVector) -> BitVector,
) -> Option<BitVector> {
    let mut joined: Option<BitVector> = None;
    for (j, value) in values.iter().enumerate() {
        if Some(j) != without {
            let bits = value.as_ref()?.as_bv()?;
            joined = Some(joined.map_or_else(|| bits.clone(), |sum| join(&sum, bits)));
        }
    }
    joined
}

fn only(bits: BitVector) -> Constraint {
    Constraint::Only(Value::BitVector(bits))
}

fn width(node: &Node<'_>, i: usize) -> Option<u32> {
    match node.store.sort_kind(node.store.sort_of(*node.args().get(i)?)) {
        SortKind::BitVec(width) => Some(*width),
        _ => None,
    }
}

fn low_bits(width: u32, count: u32) -> BitVector {
    BitVector::from_ubig(width, (UBig::ONE << count.min(width) as usize) - UBig::ONE)
}

/// An interval, or everything.
fn unsigned(low: BitVector, high: BitVector) -> Constraint {
    if low.is_zero() && high.is_all_ones() { Constraint::Any } else { Constraint::Unsigned(low, high) }
}

fn signed(low: BitVector, high: BitVector) -> Constraint {
    let least = BitVector::min_signed(low.width());
    if low == least && high == least.not() { Constraint::Any } else { Constraint::Signed(low, high) }
}

fn compare(node: &Node<'_>, op: Op, i: usize, truth: bool) -> Option<Image> {
    use Op::*;
    let bound = node.other(i)?.as_bv()?.clone();
    let is_signed = matches!(op, BvSle | BvSlt | BvSge | BvSgt);
    let mut less = matches!(op, BvUle | BvUlt | BvSle | BvSlt);
    let mut strict = matches!(op, BvUlt | BvUgt | BvSlt | BvSgt);
    if i == 1 {
        less = !less;
    }
    if !truth {
        (less, strict) = (!less, !strict);
    }
    let one = BitVector::one(bound.width());
    let least = if is_signed { BitVector::min_signed(bound.width()) } else { BitVector::zero(bound.width()) };
    let greatest = if is_signed { least.not() } else { BitVector::all_ones(bound.width()) };
    let (low, high) = if less {
        if strict && bound == least {
            return None;
        }
        (least, if strict { bound.sub(&one) } else { bound })
    } else {
        if strict && bound == greatest {
            return None;
        }
        (if strict { bound.add(&one) } else { bound }, greatest)
    };
    Some(Exact(if is_signed { signed(low, high) } else { unsigned(low, high) }))
}

fn not(set: &Constraint) -> Option<Image> {
    Some(Exact(match set {
        Constraint::Only(Value::BitVector(v)) => only(v.not()),
        Constraint::Bits { mask, value } => Constraint::Bits { mask: mask.clone(), value: value.xor(mask) },
        // The complement turns both orders round.
        Constraint::Unsigned(low, high) => Constraint::Unsigned(high.not(), low.not()),
        Constraint::Signed(low, high) => Constraint::Signed(high.not(), low.not()),
        _ => return None,
    }))
}

/// `x & c` shows the bits of `c`, `x | c` the others.
fn and_or(node: &Node<'_>, op: Op, i: usize, set: &Constraint) -> Option<Image> {
    let seen = match op {
        Op::BvAnd => fold(node.values, Some(i), BitVector::and)?,
        _ => fold(node.values, Some(i), BitVector::or)?.not(),
    };
    if seen.is_zero() {
        return Some(Exact(Constraint::Any));
    }
    Some(match set {
        Constraint::Only(Value::BitVector(v)) => Exact(Constraint::Bits { value: v.and(&seen), mask: seen }),
        Constraint::Bits { mask, value } => {
            let mask = mask.and(&seen);
            if mask.is_zero() {
                return Some(Exact(Constraint::Any));
            }
            Exact(Constraint::Bits { value: value.and(&mask), mask })
        }
        _ => Part(Constraint::Bits { value: node.bv(i)?.and(&seen), mask: seen }),
    })
}

/// The preimage under adding a constant, or subtracting from one (which turns the order round).
fn shifted(
    set: &Constraint,
    present: &BitVector,
    back: impl Fn(&BitVector) -> BitVector,
    turned: bool,
) -> Option<Image> {
    let ends = |low: &BitVector, high: &BitVector| {
        if turned { (back(high), back(low)) } else { (back(low), back(high)) }
    };
    match set {
        Constraint::Only(Value::BitVector(v)) => Some(Exact(only(back(v)))),
        Constraint::Unsigned(low, high) => {
            let (low, high) = ends(low, high);
            let greatest = BitVector::all_ones(low.width());
            Some(piece(
                low,
                high,
                present,
                BitVector::unsigned_cmp,
                BitVector::zero(greatest.width()),
                greatest,
                unsigned,
            ))
        }
        Constraint::Signed(low, high) => {
            let (low, high) = ends(low, high);
            let least = BitVector::min_signed(low.width());
            let greatest = least.not();
            Some(piece(low, high, present, BitVector::signed_cmp, least, greatest, signed))
        }
        _ => None,
    }
}

/// An interval that may run over the end of the order; then only the piece with the present value is kept.
fn piece(
    low: BitVector,
    high: BitVector,
    present: &BitVector,
    order: fn(&BitVector, &BitVector) -> Ordering,
    least: BitVector,
    greatest: BitVector,
    set: fn(BitVector, BitVector) -> Constraint,
) -> Image {
    if order(&low, &high).is_le() {
        Exact(set(low, high))
    } else if order(present, &low).is_ge() {
        Part(set(low, greatest))
    } else {
        Part(set(least, high))
    }
}

/// A product by `c` depends on as many low bits as `c` leaves.
fn mul(node: &Node<'_>, i: usize, set: &Constraint) -> Option<Image> {
    let factor = fold(node.values, Some(i), BitVector::mul)?;
    if factor.is_zero() {
        return Some(Exact(Constraint::Any));
    }
    let zeros = (0..factor.width()).take_while(|bit| !factor.bit(*bit)).count() as u32;
    let mask = low_bits(factor.width(), factor.width() - zeros);
    let bits = Constraint::Bits { value: node.bv(i)?.and(&mask), mask };
    Some(if matches!(set, Constraint::Only(_)) { Exact(bits) } else { Part(bits) })
}

fn udiv(node: &Node<'_>, set: &Constraint) -> Option<Image> {
    let divisor = node.bv(1)?;
    if divisor.is_zero() {
        return Some(Exact(Constraint::Any));
    }
    let (low, high) = match set {
        Constraint::Only(Value::BitVector(v)) => (v, v),
        Constraint::Unsigned(low, high) => (low, high),
        _ => return None,
    };
    let number = divisor.to_unsigned();
    let low = &low.to_unsigned() * &number;
    let high = &(&(&high.to_unsigned() + &Integer::ONE) * &number) - &Integer::ONE;
    clamped(divisor.width(), &low, &high, false).map(Exact)
}

/// The quotient falls while the divisor grows.
fn udiv_divisor(node: &Node<'_>, set: &Constraint) -> Option<Image> {
    let (number, divisor) = (node.bv(0)?, node.bv(1)?);
    if divisor.is_zero() {
        return None;
    }
    let (low, high) = match set {
        Constraint::Only(Value::BitVector(v)) => (v, v),
        Constraint::Unsigned(low, high) => (low, high),
        _ => return None,
    };
    let size = number.to_unsigned();
    let least = &size.div_euclid(&(&high.to_unsigned() + &Integer::ONE))? + &Integer::ONE;
    let most = match low.is_zero() {
        true => BitVector::all_ones(number.width()).to_unsigned(),
        false => size.div_euclid(&low.to_unsigned())?,
    };
    let own = divisor.to_unsigned();
    if own < least || own > most {
        return None;
    }
    clamped(number.width(), &least, &most, false).map(Part)
}

fn urem(node: &Node<'_>, i: usize, set: &Constraint) -> Option<Image> {
    let (number, divisor) = (node.bv(0)?, node.bv(1)?);
    if i == 1 {
        // A number is its own remainder by all greater divisors.
        if divisor.unsigned_cmp(number).is_le() {
            return None;
        }
        let next = &number.to_unsigned() + &Integer::ONE;
        return clamped(number.width(), &next, &BitVector::all_ones(number.width()).to_unsigned(), false)
            .map(Part);
    }
    let (low, high) = match set {
        Constraint::Only(Value::BitVector(v)) => (v, v),
        Constraint::Unsigned(low, high) => (low, high),
        _ => return None,
    };
    if divisor.is_zero() {
        return Some(Part(unsigned(low.clone(), high.clone())));
    }
    // The numbers of the present period.
    let size = divisor.to_unsigned();
    let remainder = number.to_unsigned().rem_euclid(&size)?;
    let base = &number.to_unsigned() - &remainder;
    let last = (&size - &Integer::ONE).min(high.to_unsigned());
    clamped(number.width(), &(&base + &low.to_unsigned()), &(&base + &last), false).map(Part)
}

fn rotate(node: &Node<'_>, op: Op, set: &Constraint) -> Option<Image> {
    let by = u64::from(node.index(0)?);
    let back = |bits: &BitVector| match op {
        Op::BvRotateLeft => bits.rotate_right(by),
        _ => bits.rotate_left(by),
    };
    Some(Exact(match set {
        Constraint::Only(Value::BitVector(v)) => only(back(v)),
        Constraint::Bits { mask, value } => Constraint::Bits { mask: back(mask), value: back(value) },
        _ => return None,
    }))
}

/// Numbers whose sum, difference or product with the other one can or cannot be represented.
fn overflow(node: &Node<'_>, op: Op, i: usize, truth: bool) -> Option<Image> {
    use Op::*;
    let is_signed = matches!(op, BvSaddo | BvSsubo | BvSmulo);
    let other = node.other(i)?.as_bv()?;
    let own = other.width();
    let other = if is_signed { other.to_signed() } else { other.to_unsigned() };
    let (least, greatest) = if is_signed {
        (BitVector::min_signed(own).to_signed(), BitVector::min_signed(own).not().to_signed())
    } else {
        (Integer::ZERO, BitVector::all_ones(own).to_unsigned())
    };
    // Bounds of the argument for a result between the least and the greatest number.
    let (low, high) = match (op, i) {
        (BvUaddo | BvSaddo, _) => (&least - &other, &greatest - &other),
        (BvUsubo | BvSsubo, 0) => (&least + &other, &greatest + &other),
        (BvUsubo | BvSsubo, _) => (&other - &greatest, &other - &least),
        _ if other.is_zero() => (least.clone(), greatest.clone()),
        _ => {
            let (a, b) = if other.is_negative() { (&greatest, &least) } else { (&least, &greatest) };
            (
                Rational::new(a.clone(), other.clone())?.ceil(),
                Rational::new(b.clone(), other.clone())?.floor(),
            )
        }
    };
    if high < least || low > greatest {
        return None;
    }
    let fitting = clamped(own, &low, &high, is_signed)?;
    match (truth, fitting) {
        (true, Constraint::Any) => None,
        (true, set) => Some(Exact(set.complement())),
        (false, set) => Some(Exact(set)),
    }
}

/// Integers between two bounds as bit-vectors of a width.
fn clamped(width: u32, low: &Integer, high: &Integer, is_signed: bool) -> Option<Constraint> {
    let (least, greatest) = if is_signed {
        let least = BitVector::min_signed(width);
        (least.to_signed(), least.not().to_signed())
    } else {
        (Integer::ZERO, BitVector::all_ones(width).to_unsigned())
    };
    let low = BitVector::from_integer(width, low.max(&least));
    let high = BitVector::from_integer(width, high.min(&greatest));
    Some(if is_signed { signed(low, high) } else { unsigned(low, high) })
}

fn concat(node: &Node<'_>, i: usize, set: &Constraint) -> Option<Image> {
    let own = width(node, i)?;
    let below = (i + 1..node.len()).try_fold(0, |sum, j| Some(sum + width(node, j)?))?;
    match set {
        Constraint::Only(Value::BitVector(v)) => Some(Exact(only(v.extract(below + own - 1, below)))),
        Constraint::Bits { mask, value } => {
            let mask = mask.extract(below + own - 1, below);
            if mask.is_zero() {
                return Some(Exact(Constraint::Any));
            }
            let value = value.extract(below + own - 1, below);
            Some(Exact(Constraint::Bits { mask, value }))
        }
        Constraint::Unsigned(low, high) if node.len() == 2 => {
            let (low, high) = (low.to_unsigned(), high.to_unsigned());
            let weight = Integer::ONE.shift_left(width(node, 1)? as usize)?;
            let other = node.bv(1 - i)?.to_unsigned();
            let (low, high) = if i == 0 {
                let last = &weight - &Integer::ONE;
                ((&(&low - &other) + &last).div_euclid(&weight)?, (&high - &other).div_euclid(&weight)?)
            } else {
                let base = &other * &weight;
                (&low - &base, &high - &base)
            };
            clamped(own, &low, &high, false).map(Exact)
        }
        _ => None,
    }
}

fn extract(node: &Node<'_>, set: &Constraint) -> Option<Image> {
    let (high, low) = (node.index(0)?, node.index(1)?);
    let own = width(node, 0)?;
    let place = |bits: &BitVector| BitVector::from_ubig(own, bits.to_ubig() << low as usize);
    Some(match set {
        Constraint::Only(Value::BitVector(v)) => {
            Exact(Constraint::Bits { mask: place(&BitVector::all_ones(v.width())), value: place(v) })
        }
        Constraint::Bits { mask, value } => {
            Exact(Constraint::Bits { mask: place(mask), value: place(value) })
        }
        _ => {
            let mask = place(&BitVector::all_ones(high - low + 1));
            Part(Constraint::Bits { value: node.bv(0)?.and(&mask), mask })
        }
    })
}

/// Extensions and conversions to integers: the value as a number is the same.
fn to_wider(node: &Node<'_>, op: Op, set: &Constraint) -> Option<Image> {
    let is_signed = matches!(op, Op::BvSignExtend | Op::SbvToInt);
    let own = width(node, 0)?;
    let all = (Integer::ONE.shift_left(own as usize)?, -Integer::ONE.shift_left(own as usize)?);
    let (low, high) = match set {
        Constraint::Int(interval) => {
            let (low, high) = interval.ends();
            (low.unwrap_or(all.1), high.unwrap_or(all.0))
        }
        Constraint::Only(Value::BitVector(_)) => return Some(Exact(only(node.bv(0)?.clone()))),
        Constraint::Unsigned(low, high) if !is_signed => (low.to_unsigned(), high.to_unsigned()),
        Constraint::Signed(low, high) if is_signed => (low.to_signed(), high.to_signed()),
        _ => return None,
    };
    clamped(own, &low, &high, is_signed).map(Exact)
}

fn shift(node: &Node<'_>, op: Op, i: usize, set: &Constraint) -> Option<Image> {
    if i == 1 {
        // Zero stays zero however far it is shifted.
        return node.bv(0)?.is_zero().then_some(Exact(Constraint::Any));
    }
    let own = width(node, 0)?;
    let by = node.bv(1)?.to_u64().map_or(own, |by| by.min(u64::from(own)) as u32);
    let mask = match op {
        Op::BvShl => low_bits(own, own - by),
        Op::BvLshr => low_bits(own, by).not(),
        _ => low_bits(own, by.min(own - 1)).not(),
    };
    if mask.is_zero() {
        return Some(Exact(Constraint::Any));
    }
    let bits = Constraint::Bits { value: node.bv(0)?.and(&mask), mask };
    Some(if matches!(set, Constraint::Only(_)) { Exact(bits) } else { Part(bits) })
}
