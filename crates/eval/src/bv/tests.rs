//! Every operation against its definition on unbounded integers.

use std::cmp::Ordering;

use proptest::prelude::*;

use super::*;

fn literal(text: &str) -> BitVector {
    text.parse().expect("a well-formed literal")
}

fn power(exponent: u32) -> Integer {
    Integer::ONE.shift_left(exponent as usize).expect("small")
}

/// Bit-vectors with many edge values: zero, one, all ones, least, greatest.
fn bits(width: u32) -> impl Strategy<Value = BitVector> {
    prop_oneof![
        1 => Just(BitVector::zero(width)),
        1 => Just(BitVector::one(width)),
        1 => Just(BitVector::all_ones(width)),
        1 => Just(BitVector::min_signed(width)),
        1 => Just(BitVector::min_signed(width).not()),
        2 => (0u128..300).prop_map(move |value| BitVector::new(width, value)),
        6 => prop::collection::vec(any::<u64>(), 4).prop_map(move |words| {
            BitVector::from_ubig(width, UBig::from_words(&words))
        }),
    ]
}

fn two() -> impl Strategy<Value = (BitVector, BitVector)> {
    (1u32..=200).prop_flat_map(|width| (bits(width), bits(width)))
}

fn wrap(width: u32, value: &Integer) -> BitVector {
    let residue = value.rem_euclid(&power(width)).expect("nonzero");
    BitVector::from_ubig(width, residue.magnitude())
}

fn truncated(a: &Integer, b: &Integer) -> (Integer, Integer) {
    let quotient = a.abs().div_euclid(&b.abs()).expect("nonzero");
    let quotient = if a.is_negative() == b.is_negative() { quotient } else { -quotient };
    let remainder = a - &(&quotient * b);
    (quotient, remainder)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    #[test]
    fn modular_arithmetic_agrees_with_integers((a, b) in two()) {
        let width = a.width();
        let (x, y) = (a.to_unsigned(), b.to_unsigned());
        prop_assert_eq!(a.add(&b), wrap(width, &(&x + &y)));
        prop_assert_eq!(a.sub(&b), wrap(width, &(&x - &y)));
        prop_assert_eq!(a.mul(&b), wrap(width, &(&x * &y)));
        prop_assert_eq!(a.neg(), wrap(width, &-&x));
        prop_assert_eq!(a.not(), wrap(width, &-(&x + &Integer::ONE)));
        prop_assert_eq!(a.unsigned_cmp(&b), x.cmp(&y));
        prop_assert_eq!(a.comp(&b).bit(0), x == y);
        let (s, t) = (a.to_signed(), b.to_signed());
        prop_assert_eq!(a.signed_cmp(&b), s.cmp(&t));
        prop_assert_eq!(wrap(width, &s), a.clone());
        prop_assert_eq!(BitVector::from_integer(width, &s), a.clone());
        prop_assert_eq!(BitVector::from_integer(width, &x), a);
    }

    #[test]
    fn division_agrees_with_integers_and_is_total((a, b) in two()) {
        let width = a.width();
        let (x, y) = (a.to_unsigned(), b.to_unsigned());
        let (s, t) = (a.to_signed(), b.to_signed());
        if b.is_zero() {
            prop_assert!(a.udiv(&b).is_all_ones());
            prop_assert_eq!(a.urem(&b), a.clone());
            let quotient = if s.is_negative() { 1 } else { -1 };
            prop_assert_eq!(a.sdiv(&b), wrap(width, &Integer::from(quotient)));
            prop_assert_eq!(a.srem(&b), a.clone());
            prop_assert_eq!(a.smod(&b), a);
        } else {
            prop_assert_eq!(a.udiv(&b), wrap(width, &x.div_euclid(&y).expect("nonzero")));
            prop_assert_eq!(a.urem(&b), wrap(width, &x.rem_euclid(&y).expect("nonzero")));
            let (quotient, remainder) = truncated(&s, &t);
            prop_assert_eq!(a.sdiv(&b), wrap(width, &quotient));
            prop_assert_eq!(a.srem(&b), wrap(width, &remainder));
            let euclidean = s.rem_euclid(&t).expect("nonzero");
            let modulo = if t.is_negative() && !euclidean.is_zero() {
                &euclidean + &t
            } else {
                euclidean
            };
            prop_assert_eq!(a.smod(&b), wrap(width, &modulo));
        }
    }

    #[test]
    fn shifts_and_rotations_move_bits((a, b) in two(), short in 0u32..400) {
        let width = a.width();
        for amount in [b, BitVector::new(width, u128::from(short))] {
            let distance = amount.to_unsigned();
            let capped = distance.to_u64().map_or(width, |d| d.min(u64::from(width)) as u32);
            let rotation = distance
                .rem_euclid(&Integer::from(width))
                .and_then(|d| d.to_u64())
                .expect("below the width") as u32;
            for index in 0..width {
                let moved = |to: u32| (to < width).then_some(to);
                let from_left = index.checked_sub(capped).is_some_and(|i| a.bit(i));
                prop_assert_eq!(a.shl(&amount).bit(index), from_left);
                let from_right = moved(index + capped).is_some_and(|i| a.bit(i));
                prop_assert_eq!(a.lshr(&amount).bit(index), from_right);
                let signed = moved(index + capped).map_or(a.sign_bit(), |i| a.bit(i));
                prop_assert_eq!(a.ashr(&amount).bit(index), signed);
                let target = (index + rotation) % width;
                prop_assert_eq!(a.ext_rotate_left(&amount).bit(target), a.bit(index));
                prop_assert_eq!(a.ext_rotate_right(&amount).bit(index), a.bit(target));
            }
        }
    }

    #[test]
    fn bitwise_operations_work_on_each_bit((a, b) in two()) {
        for index in 0..a.width() {
            let (x, y) = (a.bit(index), b.bit(index));
            prop_assert_eq!(a.and(&b).bit(index), x && y);
            prop_assert_eq!(a.or(&b).bit(index), x || y);
            prop_assert_eq!(a.xor(&b).bit(index), x != y);
            prop_assert_eq!(a.nand(&b).bit(index), !(x && y));
            prop_assert_eq!(a.nor(&b).bit(index), !(x || y));
            prop_assert_eq!(a.xnor(&b).bit(index), x == y);
        }
        let ones = (0..a.width()).filter(|index| a.bit(*index)).count() as u32;
        prop_assert_eq!(a.count_ones(), ones);
        prop_assert_eq!(a.redor().bit(0), ones > 0);
        prop_assert_eq!(a.redand().bit(0), ones == a.width());
        prop_assert_eq!(a.redxor().bit(0), ones % 2 == 1);
    }

    #[test]
    fn overflow_means_the_exact_result_does_not_fit((a, b) in two()) {
        let width = a.width();
        let (x, y) = (a.to_unsigned(), b.to_unsigned());
        let (s, t) = (a.to_signed(), b.to_signed());
        let unsigned = |value: Integer| value.is_negative() || value >= power(width);
        let signed = |value: &Integer| {
            if *value >= power(width - 1) {
                Ordering::Greater
            } else if *value < -power(width - 1) {
                Ordering::Less
            } else {
                Ordering::Equal
            }
        };
        prop_assert_eq!(a.negation_overflows(), signed(&-&s).is_ne());
        prop_assert_eq!(a.unsigned_add_overflows(&b), unsigned(&x + &y));
        prop_assert_eq!(a.unsigned_sub_overflows(&b), unsigned(&x - &y));
        prop_assert_eq!(a.unsigned_mul_overflows(&b), unsigned(&x * &y));
        prop_assert_eq!(a.signed_add_overflows(&b), signed(&(&s + &t)).is_ne());
        prop_assert_eq!(a.signed_sub_overflows(&b), signed(&(&s - &t)).is_ne());
        prop_assert_eq!(a.signed_mul_overflows(&b), signed(&(&s * &t)).is_ne());
        prop_assert_eq!(a.signed_mul_exceeds_max(&b), signed(&(&s * &t)).is_gt());
        prop_assert_eq!(a.signed_mul_exceeds_min(&b), signed(&(&s * &t)).is_lt());
        let divides_badly = !b.is_zero() && signed(&truncated(&s, &t).0).is_ne();
        prop_assert_eq!(a.signed_div_overflows(&b), divides_badly);
    }

    #[test]
    fn concatenation_and_extraction_are_inverse(
        (a, b) in (1u32..=200, 1u32..=200).prop_flat_map(|(v, w)| (bits(v), bits(w))),
        count in 1u32..6,
    ) {
        let both = a.concat(&b).expect("narrow");
        let value = &(&a.to_unsigned() * &power(b.width())) + &b.to_unsigned();
        prop_assert_eq!(both.to_unsigned(), value);
        prop_assert_eq!(both.extract(both.width() - 1, b.width()), a.clone());
        prop_assert_eq!(both.extract(b.width() - 1, 0), b);
        let repeated = a.repeat(count).expect("narrow");
        let mut expected = a.clone();
        for _ in 1..count {
            expected = expected.concat(&a).expect("narrow");
        }
        prop_assert_eq!(repeated, expected);
    }

    #[test]
    fn extension_keeps_the_value(a in (1u32..=200).prop_flat_map(bits), count in 0u32..150) {
        let zeros = a.zero_extend(count).expect("narrow");
        prop_assert_eq!(zeros.width(), a.width() + count);
        prop_assert_eq!(zeros.to_unsigned(), a.to_unsigned());
        let signs = a.sign_extend(count).expect("narrow");
        prop_assert_eq!(signs.width(), a.width() + count);
        prop_assert_eq!(signs.to_signed(), a.to_signed());
    }

    #[test]
    fn printing_then_parsing_is_the_identity(a in (1u32..=200).prop_flat_map(bits)) {
        prop_assert_eq!(literal(&a.to_string()), a.clone());
        prop_assert_eq!(literal(&format!("#b{}", a.binary_digits())), a);
    }
}

#[test]
fn literals_have_the_width_their_digits_say() {
    assert_eq!(literal("#b0101"), BitVector::new(4, 5));
    assert_eq!(literal("#x0Af"), BitVector::new(12, 0xaf));
    assert_eq!(literal("#b101").to_string(), "#b101");
    assert_eq!(literal(&format!("#x{}", "0f".repeat(20))).width(), 160);
    for text in ["", "#b", "#x", "#b2", "#xg", "b01", "#b 1", "#b+1", "#é"] {
        assert!(text.parse::<BitVector>().is_err(), "{text}");
    }
}

#[test]
fn widths_beyond_the_limit_are_refused() {
    let bit = BitVector::one(1);
    assert_eq!(bit.repeat(MAX_WIDTH + 1), None);
    assert_eq!(bit.zero_extend(u32::MAX), None);
    assert_eq!(bit.sign_extend(MAX_WIDTH), None);
    let widest = BitVector::zero(MAX_WIDTH);
    assert_eq!(widest.concat(&bit), None);
}

#[test]
fn a_bit_vector_takes_no_more_than_three_words() {
    assert_eq!(size_of::<BitVector>(), 24);
}
