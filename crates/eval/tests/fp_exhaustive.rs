//! Every operation on every value of tiny formats, against a second
//! implementation that rounds by searching the list of representable values.

use std::cmp::Ordering;

use eval::fp::{Extremum, Float, Format, RoundingMode};
use eval::integer::Integer;
use eval::rational::Rational;

/// A fraction with positive denominator, never reduced: tiny formats keep it
/// small.
#[derive(Clone, Copy, Debug)]
struct Frac(i128, i128);

impl Frac {
    fn cmp(self, other: Frac) -> Ordering {
        (self.0 * other.1).cmp(&(other.0 * self.1))
    }
    fn add(self, other: Frac) -> Frac {
        Frac(self.0 * other.1 + other.0 * self.1, self.1 * other.1)
    }
    fn mul(self, other: Frac) -> Frac {
        Frac(self.0 * other.0, self.1 * other.1)
    }
    fn div(self, other: Frac) -> Frac {
        let sign = other.0.signum();
        Frac(self.0 * other.1 * sign, self.1 * other.0 * sign)
    }
    fn neg(self) -> Frac {
        Frac(-self.0, self.1)
    }
    fn abs(self) -> Frac {
        Frac(self.0.abs(), self.1)
    }
    fn half(self) -> Frac {
        Frac(self.0, self.1 * 2)
    }
}

fn power_of_two(exponent: i32) -> Frac {
    if exponent >= 0 { Frac(1 << exponent, 1) } else { Frac(1, 1 << -exponent) }
}

/// The format as a list: entry `i` is the value of the encoding `i` without
/// sign; the encoding of infinity stands for the first power of two beyond.
struct Naive {
    eb: u32,
    sb: u32,
    values: Vec<Frac>,
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Datum {
    Nan,
    /// Sign and index into the list.
    Number(bool, usize),
}

impl Naive {
    fn new(eb: u32, sb: u32) -> Naive {
        let bias = (1 << (eb - 1)) - 1;
        let fractions = 1 << (sb - 1);
        let infinity = ((1 << eb) - 1) * fractions;
        let values = (0..=infinity)
            .map(|code: i128| {
                let (exponent, fraction) = ((code / fractions) as i32, code % fractions);
                let (leading, exponent) = if exponent == 0 { (0, 1 - bias) } else { (1, exponent - bias) };
                Frac(leading * fractions + fraction, fractions).mul(power_of_two(exponent))
            })
            .collect();
        Naive { eb, sb, values }
    }

    fn infinity(&self) -> usize {
        self.values.len() - 1
    }

    fn format(&self) -> Format {
        Format::new(self.eb, self.sb).unwrap()
    }

    fn data(&self) -> Vec<Datum> {
        let mut all = vec![Datum::Nan];
        for index in 0..self.values.len() {
            all.extend([Datum::Number(false, index), Datum::Number(true, index)]);
        }
        all
    }

    fn float(&self, datum: Datum) -> Float {
        let Datum::Number(negative, index) = datum else { return Float::nan(self.format()) };
        let bits = index as u64 | u64::from(negative) << (self.eb + self.sb - 1);
        Float::from_ieee_bits(self.format(), &bits.into())
    }

    fn is_infinite(&self, datum: Datum) -> bool {
        matches!(datum, Datum::Number(_, index) if index == self.infinity())
    }

    /// The finite value, if it is one.
    fn number(&self, datum: Datum) -> Option<Frac> {
        match datum {
            Datum::Number(negative, index) if index < self.infinity() => {
                let value = self.values[index];
                Some(if negative { value.neg() } else { value })
            }
            _ => None,
        }
    }

    /// Rounds a magnitude known only through comparisons with candidates.
    fn round_by(&self, negative: bool, mode: RoundingMode, against: impl Fn(Frac) -> Ordering) -> Datum {
        let top = self.infinity();
        let below = (0..=top).rev().find(|&i| against(self.values[i]) != Ordering::Less).unwrap();
        let index = if below == top {
            let to_infinity = match mode {
                RoundingMode::Rne | RoundingMode::Rna => true,
                RoundingMode::Rtp => !negative,
                RoundingMode::Rtn => negative,
                RoundingMode::Rtz => false,
            };
            if to_infinity { top } else { top - 1 }
        } else if against(self.values[below]) == Ordering::Equal {
            below
        } else {
            let middle = self.values[below].add(self.values[below + 1]).half();
            let above = match mode {
                RoundingMode::Rtz => false,
                RoundingMode::Rtp => !negative,
                RoundingMode::Rtn => negative,
                RoundingMode::Rne | RoundingMode::Rna => match against(middle) {
                    Ordering::Less => false,
                    Ordering::Greater => true,
                    Ordering::Equal => mode == RoundingMode::Rna || below % 2 == 1,
                },
            };
            below + usize::from(above)
        };
        Datum::Number(negative, index)
    }

    fn round(&self, value: Frac, zero_sign: bool, mode: RoundingMode) -> Datum {
        if value.0 == 0 {
            return Datum::Number(zero_sign, 0);
        }
        self.round_by(value.0 < 0, mode, |candidate| value.abs().cmp(candidate))
    }

    fn add(&self, a: Datum, b: Datum, mode: RoundingMode) -> Datum {
        let (Datum::Number(sa, _), Datum::Number(sb, _)) = (a, b) else { return Datum::Nan };
        match (self.number(a), self.number(b)) {
            (Some(x), Some(y)) => {
                let both_zero = x.0 == 0 && y.0 == 0;
                let zero_sign = if both_zero && sa == sb { sa } else { mode == RoundingMode::Rtn };
                self.round(x.add(y), zero_sign, mode)
            }
            (None, None) if sa != sb => Datum::Nan,
            (None, _) => a,
            _ => b,
        }
    }

    fn mul(&self, a: Datum, b: Datum, mode: RoundingMode) -> Datum {
        let (Datum::Number(sa, ia), Datum::Number(sb, ib)) = (a, b) else { return Datum::Nan };
        match (self.number(a), self.number(b)) {
            (Some(x), Some(y)) => self.round(x.mul(y), sa != sb, mode),
            _ if ia == 0 || ib == 0 => Datum::Nan,
            _ => Datum::Number(sa != sb, self.infinity()),
        }
    }

    fn div(&self, a: Datum, b: Datum, mode: RoundingMode) -> Datum {
        let (Datum::Number(sa, ia), Datum::Number(sb, ib)) = (a, b) else { return Datum::Nan };
        let negative = sa != sb;
        match (self.number(a), self.number(b)) {
            (Some(_), Some(y)) if y.0 == 0 => {
                if ia == 0 {
                    Datum::Nan
                } else {
                    Datum::Number(negative, self.infinity())
                }
            }
            (Some(x), Some(y)) => self.round(x.div(y), negative, mode),
            (None, None) => Datum::Nan,
            (None, Some(_)) => Datum::Number(negative, self.infinity()),
            (Some(_), None) => {
                assert_eq!(ib, self.infinity());
                Datum::Number(negative, 0)
            }
        }
    }

    fn fma(&self, a: Datum, b: Datum, c: Datum, mode: RoundingMode) -> Datum {
        let (Datum::Number(sa, ia), Datum::Number(sb, ib), Datum::Number(sc, _)) = (a, b, c) else {
            return Datum::Nan;
        };
        let negative = sa != sb;
        match (self.number(a), self.number(b)) {
            (Some(x), Some(y)) => match self.number(c) {
                None => c,
                Some(z) => {
                    let product = x.mul(y);
                    let zero_sign = if product.0 == 0 && z.0 == 0 && negative == sc {
                        sc
                    } else {
                        mode == RoundingMode::Rtn
                    };
                    self.round(product.add(z), zero_sign, mode)
                }
            },
            _ if ia == 0 || ib == 0 => Datum::Nan,
            _ if self.is_infinite(c) && sc != negative => Datum::Nan,
            _ => Datum::Number(negative, self.infinity()),
        }
    }

    fn sqrt(&self, a: Datum, mode: RoundingMode) -> Datum {
        match (a, self.number(a)) {
            (Datum::Number(_, 0), _) => a,
            (Datum::Nan, _) | (Datum::Number(true, _), _) => Datum::Nan,
            (_, None) => a,
            (_, Some(x)) => self.round_by(false, mode, |candidate| x.cmp(candidate.mul(candidate))),
        }
    }

    fn rem(&self, a: Datum, b: Datum) -> Datum {
        let (Datum::Number(sa, _), Datum::Number(..)) = (a, b) else { return Datum::Nan };
        match (self.number(a), self.number(b)) {
            (None, _) => Datum::Nan,
            (Some(_), None) => a,
            (Some(_), Some(y)) if y.0 == 0 => Datum::Nan,
            (Some(x), Some(y)) => {
                let n = to_integer(x.div(y), RoundingMode::Rne);
                let rest = x.add(y.mul(Frac(-n, 1)));
                let rounded = self.round(rest, sa, RoundingMode::Rtz);
                assert_eq!(self.number(rounded).unwrap().cmp(rest), Ordering::Equal);
                rounded
            }
        }
    }

    fn round_to_integral(&self, a: Datum, mode: RoundingMode) -> Datum {
        match (a, self.number(a)) {
            (Datum::Number(sign, _), Some(x)) => self.round(Frac(to_integer(x, mode), 1), sign, mode),
            _ => a,
        }
    }
}

fn to_integer(x: Frac, mode: RoundingMode) -> i128 {
    let floor = x.0.div_euclid(x.1);
    let rest = Frac(x.0.rem_euclid(x.1), x.1);
    if rest.0 == 0 {
        return floor;
    }
    let up = match mode {
        RoundingMode::Rtp => true,
        RoundingMode::Rtn => false,
        RoundingMode::Rtz => x.0 < 0,
        RoundingMode::Rne | RoundingMode::Rna => match rest.cmp(Frac(1, 2)) {
            Ordering::Less => false,
            Ordering::Greater => true,
            Ordering::Equal if mode == RoundingMode::Rna => x.0 > 0,
            Ordering::Equal => floor % 2 != 0,
        },
    };
    floor + i128::from(up)
}

const FORMATS: [(u32, u32); 7] = [(2, 2), (2, 3), (3, 2), (3, 3), (2, 4), (4, 3), (3, 4)];

fn rational(x: Frac) -> Rational {
    Rational::new(Integer::from(x.0), Integer::from(x.1)).unwrap()
}

#[test]
fn binary_operations_agree_with_search_on_every_pair() {
    for (eb, sb) in FORMATS {
        let naive = Naive::new(eb, sb);
        for a in naive.data() {
            let x = naive.float(a);
            for b in naive.data() {
                let y = naive.float(b);
                for mode in RoundingMode::ALL {
                    let case = format!("{x:?} {y:?} {mode:?}");
                    assert_eq!(x.add(mode, &y), naive.float(naive.add(a, b, mode)), "+ {case}");
                    assert_eq!(x.mul(mode, &y), naive.float(naive.mul(a, b, mode)), "* {case}");
                    assert_eq!(x.div(mode, &y), naive.float(naive.div(a, b, mode)), "/ {case}");
                    let minus_b = match b {
                        Datum::Number(sign, index) => Datum::Number(!sign, index),
                        Datum::Nan => Datum::Nan,
                    };
                    let difference = naive.float(naive.add(a, minus_b, mode));
                    assert_eq!(x.sub(mode, &y), difference, "- {case}");
                }
                assert_eq!(x.rem(&y), naive.float(naive.rem(a, b)), "rem {x:?} {y:?}");
            }
        }
    }
}

#[test]
fn unary_operations_agree_with_search_on_every_value() {
    for (eb, sb) in FORMATS {
        let naive = Naive::new(eb, sb);
        for a in naive.data() {
            let x = naive.float(a);
            for mode in RoundingMode::ALL {
                assert_eq!(x.sqrt(mode), naive.float(naive.sqrt(a, mode)), "sqrt {x:?} {mode:?}");
                let integral = naive.float(naive.round_to_integral(a, mode));
                assert_eq!(x.round_to_integral(mode), integral, "rti {x:?} {mode:?}");
                for width in 1..8 {
                    let integer = naive.number(a).map(|value| to_integer(value, mode));
                    let unsigned = integer.filter(|i| (0..1 << width).contains(i));
                    let half = 1_i128 << (width - 1);
                    let signed = integer.filter(|i| (-half..half).contains(i));
                    assert_eq!(x.to_unsigned(mode, width), unsigned.map(Integer::from));
                    assert_eq!(x.to_signed(mode, width), signed.map(Integer::from));
                }
            }
            assert_eq!(x.to_rational().ok(), naive.number(a).map(rational));
            assert_eq!(x.neg().neg(), x);
            assert_eq!(x.is_nan(), a == Datum::Nan);
            if let Some(bits) = x.to_ieee_bits() {
                assert_eq!(Float::from_ieee_bits(x.format(), &bits), x);
            }
        }
    }
}

#[test]
fn fused_multiply_add_agrees_with_search_on_every_triple() {
    for (eb, sb) in [(2, 2), (2, 3), (3, 2), (3, 3)] {
        let naive = Naive::new(eb, sb);
        let data: Vec<(Datum, Float)> =
            naive.data().into_iter().map(|datum| (datum, naive.float(datum))).collect();
        for (a, x) in &data {
            for (b, y) in &data {
                for (c, z) in &data {
                    for mode in RoundingMode::ALL {
                        let expected = naive.float(naive.fma(*a, *b, *c, mode));
                        let got = x.fma(mode, y, z);
                        assert_eq!(got, expected, "fma {x:?} {y:?} {z:?} {mode:?}");
                    }
                }
            }
        }
    }
}

#[test]
fn conversions_between_all_pairs_of_tiny_formats_agree_with_search() {
    for (eb, sb) in FORMATS {
        let from = Naive::new(eb, sb);
        for (eb, sb) in FORMATS {
            let to = Naive::new(eb, sb);
            for a in from.data() {
                for mode in RoundingMode::ALL {
                    let expected = match (a, from.number(a)) {
                        (Datum::Number(sign, _), Some(x)) => to.round(x, sign, mode),
                        (Datum::Number(sign, _), None) => Datum::Number(sign, to.infinity()),
                        (Datum::Nan, _) => Datum::Nan,
                    };
                    let got = from.float(a).to_format(mode, to.format());
                    assert_eq!(got, to.float(expected), "{:?} {mode:?}", from.float(a));
                }
            }
        }
    }
}

#[test]
fn rationals_and_integers_round_like_search() {
    for (eb, sb) in FORMATS {
        let naive = Naive::new(eb, sb);
        for mode in RoundingMode::ALL {
            for denominator in [1, 3, 7, 16, 64] {
                for numerator in -200..=200 {
                    let value = Frac(numerator, denominator);
                    let expected = naive.float(naive.round(value, false, mode));
                    let got = Float::from_rational(naive.format(), mode, &rational(value));
                    assert_eq!(got, expected, "{value:?} {mode:?}");
                    if denominator == 1 {
                        let integer = Integer::from(numerator);
                        assert_eq!(Float::from_integer(naive.format(), mode, &integer), expected);
                    }
                    let eighth = value.mul(Frac(1, 8));
                    let expected = naive.float(naive.round(eighth, false, mode));
                    let got = Float::from_scaled_rational(naive.format(), mode, &rational(value), -3);
                    assert_eq!(got, expected);
                }
            }
        }
    }
}

#[test]
fn orderings_follow_the_denoted_numbers() {
    for (eb, sb) in FORMATS {
        let naive = Naive::new(eb, sb);
        let denoted = |datum| match datum {
            Datum::Nan => None,
            Datum::Number(negative, index) => {
                Some(if negative { naive.values[index].neg() } else { naive.values[index] })
            }
        };
        for a in naive.data() {
            for b in naive.data() {
                let (x, y) = (naive.float(a), naive.float(b));
                let order = match (denoted(a), denoted(b)) {
                    (Some(p), Some(q)) => Some(p.cmp(q)),
                    _ => None,
                };
                assert_eq!(x.lt(&y), order == Some(Ordering::Less));
                assert_eq!(x.gt(&y), order == Some(Ordering::Greater));
                assert_eq!(x.ieee_eq(&y), order == Some(Ordering::Equal));
                assert_eq!(x.leq(&y), x.lt(&y) || x.ieee_eq(&y));
                assert_eq!(x.geq(&y), x.gt(&y) || x.ieee_eq(&y));
                assert_eq!(x == y, a == b);
                let minimum = match order {
                    None => Extremum::Value(if x.is_nan() { y.clone() } else { x.clone() }),
                    Some(Ordering::Equal) if a != b => Extremum::EitherZero,
                    Some(Ordering::Less) => Extremum::Value(x.clone()),
                    Some(_) => Extremum::Value(y.clone()),
                };
                assert_eq!(x.min(&y), minimum);
                let maximum = match x.neg().min(&y.neg()) {
                    Extremum::Value(value) => Extremum::Value(value.neg()),
                    Extremum::EitherZero => Extremum::EitherZero,
                };
                assert_eq!(x.max(&y), maximum);
            }
        }
    }
}
