//! Floating point, string and regular-expression operations per second.

use divan::counter::ItemsCount;
use divan::{Bencher, black_box};
use eval::fp::{Float, Format, RoundingMode};
use eval::integer::Integer;
use eval::regex::{Arena, CharSet};
use eval::string::Str;
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::{Rng, SeedableRng};

fn main() {
    divan::main();
}

const PAIRS: usize = 256;

fn floats(format: Format) -> Vec<(Float, Float)> {
    let mut rng = ChaCha8Rng::seed_from_u64(7);
    let mut float = || {
        let bits = u128::from(rng.next_u64()) << 64 | u128::from(rng.next_u64());
        // Exponents around one, so that operations neither over- nor underflow.
        let value = Float::from_ieee_bits(format, &bits.into());
        let (negative, exponent, trailing) = value.to_fields().unwrap_or((false, 0, 0_u8.into()));
        Float::from_fields(format, negative, format.emax() as u64 - 8 + exponent % 16, trailing)
    };
    (0..PAIRS).map(|_| (float(), float())).collect()
}

const FORMATS: [(u32, u32); 4] = [(5, 11), (8, 24), (11, 53), (15, 113)];

fn each_pair(bencher: Bencher, (eb, sb): (u32, u32), operation: impl Fn(&Float, &Float) -> Float + Sync) {
    let pairs = floats(Format::new(eb, sb).expect("a valid format"));
    bencher.counter(ItemsCount::new(PAIRS)).bench(|| {
        for (x, y) in &pairs {
            black_box(operation(x, y));
        }
    });
}

#[divan::bench(args = FORMATS)]
fn fp_add(bencher: Bencher, format: (u32, u32)) {
    each_pair(bencher, format, |x, y| x.add(RoundingMode::Rne, y));
}

#[divan::bench(args = FORMATS)]
fn fp_mul(bencher: Bencher, format: (u32, u32)) {
    each_pair(bencher, format, |x, y| x.mul(RoundingMode::Rne, y));
}

#[divan::bench(args = FORMATS)]
fn fp_div(bencher: Bencher, format: (u32, u32)) {
    each_pair(bencher, format, |x, y| x.div(RoundingMode::Rne, y));
}

#[divan::bench(args = FORMATS)]
fn fp_fma(bencher: Bencher, format: (u32, u32)) {
    each_pair(bencher, format, |x, y| x.fma(RoundingMode::Rne, y, x));
}

#[divan::bench(args = FORMATS)]
fn fp_sqrt(bencher: Bencher, format: (u32, u32)) {
    each_pair(bencher, format, |x, _| x.abs().sqrt(RoundingMode::Rne));
}

#[divan::bench(args = FORMATS)]
fn fp_rem(bencher: Bencher, format: (u32, u32)) {
    each_pair(bencher, format, |x, y| x.rem(y));
}

/// Short strings over a few letters, with digits among them.
fn strings() -> Vec<Str> {
    let mut rng = ChaCha8Rng::seed_from_u64(8);
    (0..PAIRS)
        .map(|_| {
            let length = rng.next_u32() % 13;
            let chars: Vec<u32> =
                (0..length).map(|_| u32::from(b"ab01"[rng.next_u32() as usize % 4])).collect();
            Str::new(&chars).expect("ASCII characters")
        })
        .collect()
}

/// Ten different functions on each pair of neighbours.
#[divan::bench]
fn string_operations(bencher: Bencher) {
    let strings = strings();
    let (one, four) = (Integer::from(1_i64), Integer::from(4_i64));
    bencher.counter(ItemsCount::new((PAIRS - 1) * 10)).bench(|| {
        for pair in strings.windows(2) {
            let (s, t) = (&pair[0], &pair[1]);
            let part = t.at(&one);
            black_box(Str::concat(&[s, t]).is_ok());
            black_box(s.substr(&one, &four));
            black_box(s.index_of(&part, &one));
            black_box(s.replace(&part, t).is_ok());
            black_box(s.replace_all(&part, &part).is_ok());
            black_box(s.contains(&part));
            black_box(s < t);
            black_box(s.to_int());
            black_box(Str::from_int(&s.length()));
        }
    });
}

#[divan::bench]
fn literals_print_and_read(bencher: Bencher) {
    let strings = strings();
    bencher.counter(ItemsCount::new(PAIRS)).bench(|| {
        for s in &strings {
            let literal = s.to_literal();
            let content = &literal[1..literal.len() - 1];
            black_box(Str::from_literal(content, eval::string::Escapes::Standard).is_ok());
        }
    });
}

/// `(a|b)*01(0|1){1,3}` against short strings, derivatives cached.
#[divan::bench]
fn regex_membership(bencher: Bencher) {
    let strings = strings();
    let mut arena = Arena::default();
    let letters = arena.class(CharSet::range(0x61, 0x62));
    let digits = arena.class(CharSet::range(0x30, 0x31));
    let (start, end) = (arena.star(letters), arena.repeat(digits, 1, Some(3)));
    let middle = arena.literal(&Str::new(&[0x30, 0x31]).expect("ASCII characters"));
    let rest = arena.concat(middle, end);
    let re = arena.concat(start, rest);
    bencher.counter(ItemsCount::new(PAIRS)).bench_local(|| {
        for s in &strings {
            black_box(arena.matches(re, s).is_ok());
        }
    });
}

/// The same with a fresh arena each time: building, deriving, forgetting.
#[divan::bench]
fn regex_build_match_and_reset(bencher: Bencher) {
    let strings = strings();
    let mut arena = Arena::default();
    bencher.counter(ItemsCount::new(PAIRS)).bench_local(|| {
        for s in &strings {
            let mark = arena.mark();
            let word = arena.literal(s);
            let outside = arena.comp(word);
            let letters = arena.class(CharSet::range(0x61, 0x62));
            let star = arena.star(letters);
            let re = arena.inter(&[star, outside]);
            black_box(arena.matches(re, s).is_ok());
            arena.reset(mark);
        }
    });
}
