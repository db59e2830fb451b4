//! Float32 and Float64 against the processor's own arithmetic.

use dashu_int::UBig;
use eval::fp::{Extremum, Float, Format, RoundingMode};
use eval::integer::Integer;
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::{Rng, SeedableRng};

const RNE: RoundingMode = RoundingMode::Rne;

fn edges_64() -> Vec<u64> {
    let mut bits = vec![];
    for exponent in [0, 1, 2, 970, 1000, 1022, 1023, 1024, 1075, 1076, 1500, 2045, 2046, 2047] {
        for trailing in [0, 1, 2, (1 << 51) - 1, 1 << 51, (1 << 51) + 1, (1 << 52) - 1] {
            for sign in [0, 1] {
                bits.push(sign << 63 | exponent << 52 | trailing);
            }
        }
    }
    bits
}

fn edges_32() -> Vec<u32> {
    let mut bits = vec![];
    for exponent in [0, 1, 2, 100, 126, 127, 128, 150, 151, 253, 254, 255] {
        for trailing in [0, 1, 2, (1 << 22) - 1, 1 << 22, (1 << 22) + 1, (1 << 23) - 1] {
            for sign in [0, 1] {
                bits.push(sign << 31 | exponent << 23 | trailing);
            }
        }
    }
    bits
}

/// Random bits with exponents close enough for the operations to interact.
fn related(rng: &mut ChaCha8Rng, other: u64) -> u64 {
    let exponent = (other >> 52 & 0x7ff) as i64 + rng.next_u64() as i64 % 60;
    let low = rng.next_u64() >> (12 + rng.next_u32() % 50);
    (rng.next_u64() & 1 << 63) | (exponent.clamp(0, 2047) as u64) << 52 | low
}

fn check_64(a: u64, b: u64, c: u64) {
    let (p, q, r) = (f64::from_bits(a), f64::from_bits(b), f64::from_bits(c));
    let (x, y, z) = (Float::from_f64(p), Float::from_f64(q), Float::from_f64(r));
    assert_eq!(x.add(RNE, &y), Float::from_f64(p + q), "{p:e} + {q:e}");
    assert_eq!(x.sub(RNE, &y), Float::from_f64(p - q), "{p:e} - {q:e}");
    assert_eq!(x.mul(RNE, &y), Float::from_f64(p * q), "{p:e} * {q:e}");
    assert_eq!(x.div(RNE, &y), Float::from_f64(p / q), "{p:e} / {q:e}");
    assert_eq!(x.sqrt(RNE), Float::from_f64(p.sqrt()), "sqrt {p:e}");
    assert_eq!(x.fma(RNE, &y, &z), Float::from_f64(p.mul_add(q, r)), "{p:e} * {q:e} + {r:e}");
    assert_eq!(x.lt(&y), p < q);
    assert_eq!(x.leq(&y), p <= q);
    assert_eq!(x.ieee_eq(&y), p == q);
    if let Extremum::Value(value) = x.min(&y) {
        assert_eq!(value, Float::from_f64(p.min(q)));
    }
    assert_eq!(x.round_to_integral(RNE), Float::from_f64(p.round_ties_even()));
    assert_eq!(x.round_to_integral(RoundingMode::Rna), Float::from_f64(p.round()));
    assert_eq!(x.round_to_integral(RoundingMode::Rtp), Float::from_f64(p.ceil()));
    assert_eq!(x.round_to_integral(RoundingMode::Rtn), Float::from_f64(p.floor()));
    assert_eq!(x.round_to_integral(RoundingMode::Rtz), Float::from_f64(p.trunc()));
    assert_eq!(x.to_format(RNE, Format::FLOAT32), Float::from_f32(p as f32), "{p:e} as f32");
    if p.trunc().abs() < 9.2e18 {
        assert_eq!(x.to_signed(RoundingMode::Rtz, 64), Some(Integer::from(p as i64)));
    }
    assert_eq!(Float::from_integer(Format::FLOAT64, RNE, &Integer::from(a)), Float::from_f64(a as f64));
    let bits = x.to_ieee_bits().unwrap_or_else(|| Float::customary_nan_bits(Format::FLOAT64));
    assert!(p.is_nan() || bits == UBig::from(a));
}

#[test]
fn float64_agrees_with_the_processor() {
    let edges = edges_64();
    for (index, &a) in edges.iter().enumerate() {
        for &b in &edges {
            check_64(a, b, edges[(index * 7 + 3) % edges.len()]);
        }
    }
    let mut rng = ChaCha8Rng::seed_from_u64(1);
    for _ in 0..20_000 {
        let a = rng.next_u64();
        let b = related(&mut rng, a);
        let product = f64::from_bits(a) * f64::from_bits(b);
        let c = related(&mut rng, product.to_bits());
        check_64(a, b, c);
        // An addend that cancels the rounded product leaves its error term.
        check_64(a, b, (-product).to_bits());
        check_64(a, rng.next_u64(), rng.next_u64());
    }
}

#[test]
fn float32_agrees_with_the_processor() {
    let check = |a: u32, b: u32, c: u32| {
        let (p, q, r) = (f32::from_bits(a), f32::from_bits(b), f32::from_bits(c));
        let (x, y, z) = (Float::from_f32(p), Float::from_f32(q), Float::from_f32(r));
        assert_eq!(x.add(RNE, &y), Float::from_f32(p + q));
        assert_eq!(x.sub(RNE, &y), Float::from_f32(p - q));
        assert_eq!(x.mul(RNE, &y), Float::from_f32(p * q));
        assert_eq!(x.div(RNE, &y), Float::from_f32(p / q));
        assert_eq!(x.sqrt(RNE), Float::from_f32(p.sqrt()));
        assert_eq!(x.fma(RNE, &y, &z), Float::from_f32(p.mul_add(q, r)));
        assert_eq!(x.to_format(RNE, Format::FLOAT64), Float::from_f64(f64::from(p)));
        let integer = Integer::from(u64::from(a) << 20 | u64::from(b));
        assert_eq!(
            Float::from_integer(Format::FLOAT32, RNE, &integer),
            Float::from_f32((u64::from(a) << 20 | u64::from(b)) as f32)
        );
    };
    let edges = edges_32();
    for (index, &a) in edges.iter().enumerate() {
        for &b in &edges {
            check(a, b, edges[(index * 5 + 1) % edges.len()]);
        }
    }
    let mut rng = ChaCha8Rng::seed_from_u64(2);
    for _ in 0..30_000 {
        check(rng.next_u32(), rng.next_u32(), rng.next_u32());
    }
}

#[test]
fn remainder_of_astronomically_distant_exponents_is_exact_and_fast() {
    // 2^(2^59) rem 3: even powers of two leave 1 modulo 3, and 2 = 3 - 1
    // rounds to -1, so the parity of the exponent decides the sign.
    let format = Format::new(60, 24).unwrap();
    let three = Float::from_integer(format, RNE, &Integer::from(3_i64));
    let one = Float::from_integer(format, RNE, &Integer::from(1_i64));
    let huge = Float::from_fields(format, false, (1 << 60) - 2, UBig::ZERO);
    assert_eq!(format.emax() % 2, 1);
    assert_eq!(huge.rem(&three), one.neg());
    let half = Float::from_fields(format, false, (1 << 60) - 3, UBig::ZERO);
    assert_eq!(half.rem(&three), one);
    assert_eq!(Float::min_subnormal(format, true).rem(&huge), Float::min_subnormal(format, true));
}

#[test]
fn values_with_enormous_exponents_are_refused_as_rationals_not_expanded() {
    let format = Format::new(60, 11).unwrap();
    assert!(Float::max_finite(format, false).to_rational().is_err());
    assert_eq!(Float::max_finite(format, false).to_unsigned(RNE, 64), None);
    assert_eq!(
        Float::min_subnormal(format, false).to_unsigned(RoundingMode::Rtp, 8),
        Some(Integer::from(1_i64))
    );
}
