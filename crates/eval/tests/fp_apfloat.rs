//! Float16, Float64 and Float128 in all rounding modes against the Rust port of
//! LLVM's APFloat. Float128 is the check of the unbounded path.

use dashu_int::UBig;
use eval::fp::{Float, Format, RoundingMode};
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::{Rng, SeedableRng};
use rustc_apfloat::ieee::{Double, Half, Quad};
use rustc_apfloat::{FloatConvert, Round};

fn foreign(mode: RoundingMode) -> Round {
    match mode {
        RoundingMode::Rne => Round::NearestTiesToEven,
        RoundingMode::Rna => Round::NearestTiesToAway,
        RoundingMode::Rtp => Round::TowardPositive,
        RoundingMode::Rtn => Round::TowardNegative,
        RoundingMode::Rtz => Round::TowardZero,
    }
}

fn check<S>(format: Format, [a, b, c]: [u128; 3])
where
    S: rustc_apfloat::Float + FloatConvert<Half> + FloatConvert<Quad>,
{
    let (p, q, r) = (S::from_bits(a), S::from_bits(b), S::from_bits(c));
    let ours = |bits: u128| Float::from_ieee_bits(format, &UBig::from(bits));
    let (x, y, z) = (ours(a), ours(b), ours(c));
    for mode in RoundingMode::ALL {
        let round = foreign(mode);
        let theirs = |result: rustc_apfloat::StatusAnd<S>| ours(result.value.to_bits());
        let case = || format!("{x:?} {y:?} {z:?} {mode:?}");
        assert_eq!(x.add(mode, &y), theirs(p.add_r(q, round)), "add {}", case());
        assert_eq!(x.sub(mode, &y), theirs(p.sub_r(q, round)), "sub {}", case());
        assert_eq!(x.mul(mode, &y), theirs(p.mul_r(q, round)), "mul {}", case());
        assert_eq!(x.div(mode, &y), theirs(p.div_r(q, round)), "div {}", case());
        let fused = theirs(p.mul_add_r(q, r, round));
        assert_eq!(x.fma(mode, &y, &z), fused, "fma {}", case());
        let integral = theirs(p.round_to_integral(round));
        assert_eq!(x.round_to_integral(mode), integral, "rti {}", case());
        let half: Half = p.convert_r(round, &mut false).value;
        let narrowed = Float::from_ieee_bits(Format::FLOAT16, &UBig::from(bits_of(half)));
        assert_eq!(x.to_format(mode, Format::FLOAT16), narrowed, "to_fp {}", case());
        let quad: Quad = p.convert_r(round, &mut false).value;
        let widened = Float::from_ieee_bits(Format::FLOAT128, &UBig::from(bits_of(quad)));
        assert_eq!(x.to_format(mode, Format::FLOAT128), widened, "to_fp {}", case());
    }
    let remainder = ours(p.ieee_rem(q).value.to_bits());
    assert_eq!(x.rem(&y), remainder, "rem {x:?} {y:?}");
}

fn bits_of(value: impl rustc_apfloat::Float) -> u128 {
    value.to_bits()
}

/// Three bit patterns: exponents near each other, sparse or dense significands.
fn triple(rng: &mut ChaCha8Rng, format: Format) -> [u128; 3] {
    let trailing = format.sb() - 1;
    let top = (1 << format.eb()) - 1;
    let spread = 2 * i64::from(format.sb());
    let base = i64::from(rng.next_u32() % (top as u32 + 1));
    let mut one = |center: i64| {
        let exponent = (center + rng.next_u64() as i64 % spread).clamp(0, top) as u128;
        let random = u128::from(rng.next_u64()) << 64 | u128::from(rng.next_u64());
        let mut fraction = random & ((1 << trailing) - 1);
        match rng.next_u32() % 4 {
            0 => fraction &= fraction << (rng.next_u32() % trailing),
            1 => fraction |= fraction >> (rng.next_u32() % trailing),
            _ => {}
        }
        fraction &= (1 << trailing) - 1;
        u128::from(rng.next_u32() & 1) << (format.width() - 1) | exponent << trailing | fraction
    };
    let bias = format.emax();
    [one(base), one(bias), one(base)]
}

#[test]
fn float16_agrees_with_apfloat_in_all_modes() {
    let mut rng = ChaCha8Rng::seed_from_u64(16);
    for _ in 0..20_000 {
        check::<Half>(Format::FLOAT16, triple(&mut rng, Format::FLOAT16));
    }
}

#[test]
fn float64_agrees_with_apfloat_in_all_modes() {
    let mut rng = ChaCha8Rng::seed_from_u64(64);
    for _ in 0..10_000 {
        check::<Double>(Format::FLOAT64, triple(&mut rng, Format::FLOAT64));
    }
}

#[test]
fn float128_agrees_with_apfloat_in_all_modes() {
    let mut rng = ChaCha8Rng::seed_from_u64(128);
    for _ in 0..10_000 {
        check::<Quad>(Format::FLOAT128, triple(&mut rng, Format::FLOAT128));
    }
}

/// APFloat has no square root; the definition of rounding down has to do.
#[test]
fn float128_square_roots_bracket_the_radicand() {
    let mut rng = ChaCha8Rng::seed_from_u64(129);
    for _ in 0..300 {
        let [bits, _, _] = triple(&mut rng, Format::FLOAT128);
        let x = Float::from_ieee_bits(Format::FLOAT128, &UBig::from(bits)).abs();
        let Ok(radicand) = x.to_rational() else { continue };
        let below = x.sqrt(RoundingMode::Rtz).to_rational().unwrap();
        let above = x.sqrt(RoundingMode::Rtp).to_rational().unwrap();
        assert!(&below * &below <= radicand && radicand <= &above * &above, "{x:?}");
        let nearest = x.sqrt(RoundingMode::Rne).to_rational().unwrap();
        let middle = below.midpoint(&above);
        let expected = if &middle * &middle < radicand { above } else { below };
        assert_eq!(nearest, expected, "{x:?}");
    }
}
