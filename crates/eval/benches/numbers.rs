//! What one operation on a value costs, small and large, next to the plain
//! big-number operation it avoids.

use divan::{Bencher, black_box};

use dashu_int::{IBig, UBig};
use eval::algebraic::{Polynomial, Real};
use eval::bv::BitVector;
use eval::enclosure::{Enclosure, Function};
use eval::integer::Integer;
use eval::rational::Rational;

fn main() {
    divan::main();
}

fn bench<A, B, R>(bencher: Bencher, inputs: (A, B), operation: impl Fn(&A, &B) -> R + Sync)
where
    A: Sync,
    B: Sync,
{
    bencher.bench(|| operation(black_box(&inputs.0), black_box(&inputs.1)));
}

mod integers {
    use super::*;

    fn small() -> (Integer, Integer) {
        (Integer::from(123_456_789), Integer::from(-987_654))
    }

    fn large() -> (Integer, Integer) {
        (Integer::from(i128::MAX), Integer::from(-987_654))
    }

    #[divan::bench]
    fn add_small(bencher: Bencher) {
        bench(bencher, small(), |a, b| a + b);
    }

    #[divan::bench]
    fn mul_small(bencher: Bencher) {
        bench(bencher, small(), |a, b| a * b);
    }

    #[divan::bench]
    fn div_small(bencher: Bencher) {
        bench(bencher, small(), Integer::div_euclid);
    }

    #[divan::bench]
    fn add_large(bencher: Bencher) {
        bench(bencher, large(), |a, b| a + b);
    }

    #[divan::bench]
    fn add_plain_big(bencher: Bencher) {
        let inputs = (IBig::from(123_456_789), IBig::from(-987_654));
        bench(bencher, inputs, |a, b| a + b);
    }
}

mod rationals {
    use super::*;

    fn fraction(top: i64, bottom: i64) -> Rational {
        Rational::new(Integer::from(top), Integer::from(bottom)).expect("nonzero")
    }

    fn small() -> (Rational, Rational) {
        (fraction(355, 113), fraction(-22, 7))
    }

    #[divan::bench]
    fn add_small(bencher: Bencher) {
        bench(bencher, small(), |a, b| a + b);
    }

    #[divan::bench]
    fn add_integral(bencher: Bencher) {
        let inputs = (Rational::from(355), Rational::from(-22));
        bench(bencher, inputs, |a, b| a + b);
    }

    #[divan::bench]
    fn mul_small(bencher: Bencher) {
        bench(bencher, small(), |a, b| a * b);
    }

    #[divan::bench]
    fn cmp_small(bencher: Bencher) {
        bench(bencher, small(), Ord::cmp);
    }

    #[divan::bench]
    fn add_large(bencher: Bencher) {
        let big = fraction(355, 113).pow(&Integer::from(20)).expect("small");
        bench(bencher, (big, fraction(-22, 7)), |a, b| a + b);
    }
}

mod bit_vectors {
    use super::*;

    fn pair(width: u32) -> (BitVector, BitVector) {
        let ones = BitVector::all_ones(width);
        let a = ones.lshr(&BitVector::new(width, 3));
        (a, BitVector::new(width, 0x1234_5678_9abc_def1))
    }

    #[divan::bench(args = [32, 64, 128, 256])]
    fn add(bencher: Bencher, width: u32) {
        bench(bencher, pair(width), BitVector::add);
    }

    #[divan::bench(args = [32, 64, 128, 256])]
    fn mul(bencher: Bencher, width: u32) {
        bench(bencher, pair(width), BitVector::mul);
    }

    #[divan::bench(args = [32, 64, 128, 256])]
    fn udiv(bencher: Bencher, width: u32) {
        bench(bencher, pair(width), BitVector::udiv);
    }

    #[divan::bench(args = [32, 64, 128, 256])]
    fn ult(bencher: Bencher, width: u32) {
        bench(bencher, pair(width), BitVector::unsigned_cmp);
    }

    #[divan::bench(args = [32, 64, 128])]
    fn concat(bencher: Bencher, width: u32) {
        bench(bencher, pair(width), BitVector::concat);
    }

    #[divan::bench(args = [32, 64])]
    fn signed_mul_overflow(bencher: Bencher, width: u32) {
        bench(bencher, pair(width), BitVector::signed_mul_overflows);
    }

    #[divan::bench]
    fn add_plain_big(bencher: Bencher) {
        let inputs = (UBig::from(u64::MAX >> 3), UBig::from(0x1234_5678u32));
        bench(bencher, inputs, |a, b| a + b);
    }
}

mod reals {
    use super::*;

    fn root(coefficients: &[i64], index: usize) -> Real {
        let coefficients = coefficients.iter().copied().map(Integer::from).collect();
        Real::from_root_index(Polynomial::new(coefficients), index).expect("the root exists")
    }

    #[divan::bench]
    fn compare_roots(bencher: Bencher) {
        let inputs = (root(&[-2, 0, 1], 2), root(&[-3, -1, 0, 1], 1));
        bench(bencher, inputs, Ord::cmp);
    }

    #[divan::bench]
    fn multiply_roots(bencher: Bencher) {
        let inputs = (root(&[-2, 0, 1], 2), root(&[-3, -1, 0, 1], 1));
        bench(bencher, inputs, Real::mul);
    }

    #[divan::bench(args = [64, 512, 2048])]
    fn sine(bencher: Bencher, bits: usize) {
        let argument = Enclosure::point(Rational::from(1));
        bench(bencher, (argument, bits), |x, bits| x.apply(Function::Sin, *bits));
    }
}
