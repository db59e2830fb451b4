//! Factors of integer polynomials, by Zassenhaus: factor modulo a prime, lift
//! the factors to a power of it, try which combinations divide.
//!
//! Only the size of later results depends on this, never their correctness, so
//! a polynomial with too many modular factors is left unsplit.

use super::modular::{PrimeField, Residues};
use super::polynomial::Polynomial;
use crate::integer::Integer;

const PRIMES: [u64; 24] =
    [11, 13, 17, 19, 23, 29, 31, 37, 41, 43, 47, 53, 59, 61, 67, 71, 73, 79, 83, 89, 97, 101, 103, 107];
/// How many suitable primes to try for the fewest modular factors.
const ATTEMPTS: usize = 3;
/// Polynomials with a larger product of degree and coefficient bits stay
/// whole: lifting their factors costs more than they can save.
const MAX_SIZE: usize = 1 << 12;
/// How many combinations to try before leaving the rest unsplit.
const MAX_COMBINATIONS: usize = 4096;

/// Factors of a square-free primitive polynomial; their product is the
/// polynomial, and they are irreducible unless the search was cut short.
pub fn factors(polynomial: &Polynomial) -> Vec<Polynomial> {
    let size = polynomial.degree().saturating_mul(polynomial.height_bits());
    if polynomial.degree() < 2 || size > MAX_SIZE {
        return vec![polynomial.clone()];
    }
    match fewest_modular_factors(polynomial) {
        Some((field, modular)) if modular.len() > 1 => {
            let (lifted, modulus) = lift(polynomial, field, &modular);
            recombine(polynomial.clone(), lifted, &modulus)
        }
        _ => vec![polynomial.clone()],
    }
}

fn residues(polynomial: &Polynomial, prime: u64) -> Residues {
    let modulus = Integer::from(prime);
    let coefficients = polynomial.coefficients().iter();
    coefficients.map(|c| c.rem_euclid(&modulus).and_then(|r| r.to_u64()).unwrap_or(0)).collect()
}

fn fewest_modular_factors(polynomial: &Polynomial) -> Option<(PrimeField, Vec<Residues>)> {
    let mut best: Option<(PrimeField, Vec<Residues>)> = None;
    let mut attempts = 0;
    for prime in PRIMES {
        let field = PrimeField { prime };
        let image = residues(polynomial, prime);
        if image.last() == Some(&0) || !field.is_square_free(&image) {
            continue;
        }
        let factors = field.factors(&field.monic(&image));
        let fewer = best.as_ref().is_none_or(|(_, known)| factors.len() < known.len());
        if fewer {
            let irreducible = factors.len() == 1;
            best = Some((field, factors));
            if irreducible {
                break;
            }
        }
        attempts += 1;
        if attempts == ATTEMPTS {
            break;
        }
    }
    best
}

fn modulo(value: &Integer, modulus: &Integer) -> Integer {
    value.rem_euclid(modulus).unwrap_or_default()
}

fn product_modulo(a: &[Integer], b: &[Integer], modulus: &Integer) -> Vec<Integer> {
    let mut result = vec![Integer::ZERO; a.len() + b.len() - 1];
    for (i, x) in a.iter().enumerate() {
        for (j, y) in b.iter().enumerate() {
            result[i + j] = &result[i + j] + &(x * y);
        }
    }
    result.iter().map(|c| modulo(c, modulus)).collect()
}

/// Lifts monic factors modulo the prime to monic factors modulo a power of it
/// that exceeds twice any coefficient of a factor times the leading one
/// (Mignotte's bound).
fn lift(polynomial: &Polynomial, field: PrimeField, factors: &[Residues]) -> (Vec<Vec<Integer>>, Integer) {
    let prime = Integer::from(field.prime);
    let degree = polynomial.degree();
    let bits = degree + polynomial.height_bits() + polynomial.leading().bit_length();
    let needed = bits + (degree + 1).ilog2() as usize + 3;
    let mut modulus = prime.clone();
    let mut powers = vec![prime.clone()];
    while modulus.bit_length() <= needed {
        modulus = &modulus * &prime;
        powers.push(modulus.clone());
    }
    let monic = monic_modulo(polynomial, field, &modulus);

    // The weights w_i with sum w_i * product of the other factors = 1 split
    // each error among the factors.
    let weights: Vec<Residues> = factors
        .iter()
        .enumerate()
        .map(|(index, factor)| {
            let others = factors.iter().enumerate().filter(|(i, _)| *i != index);
            let cofactor = others.fold(vec![1], |done, (_, other)| field.product(&done, other));
            field.inverse_modulo(&cofactor, factor)
        })
        .collect();
    let mut lifted: Vec<Vec<Integer>> =
        factors.iter().map(|factor| factor.iter().copied().map(Integer::from).collect()).collect();
    for pair in powers.windows(2) {
        let (current, next) = (&pair[0], &pair[1]);
        let product =
            lifted.iter().fold(vec![Integer::ONE], |done, factor| product_modulo(&done, factor, next));
        let error: Residues = monic
            .iter()
            .zip(&product)
            .map(|(wanted, found)| {
                let difference = modulo(&(wanted - found), next);
                difference.div_euclid(current).and_then(|e| e.to_u64()).unwrap_or(0)
            })
            .collect();
        for ((factor, weight), original) in lifted.iter_mut().zip(&weights).zip(factors) {
            let correction = field.remainder(&field.product(&error, weight), original);
            for (coefficient, c) in factor.iter_mut().zip(correction) {
                *coefficient = &*coefficient + &(current * &Integer::from(c));
            }
        }
    }
    (lifted, modulus)
}

/// The polynomial divided by its leading coefficient modulo a prime power.
fn monic_modulo(polynomial: &Polynomial, field: PrimeField, modulus: &Integer) -> Vec<Integer> {
    let leading = polynomial.leading();
    let residue = leading.rem_euclid(&Integer::from(field.prime)).and_then(|r| r.to_u64()).unwrap_or(1);
    let mut inverse = Integer::from(field.inverse(residue));
    // Newton's iteration doubles the correct digits.
    loop {
        let product = modulo(&(&leading * &inverse), modulus);
        if product.is_one() {
            break;
        }
        inverse = modulo(&(&inverse * &(&Integer::from(2) - &product)), modulus);
    }
    let coefficients = polynomial.coefficients().iter();
    coefficients.map(|c| modulo(&(c * &inverse), modulus)).collect()
}

fn recombine(polynomial: Polynomial, mut lifted: Vec<Vec<Integer>>, modulus: &Integer) -> Vec<Polynomial> {
    let mut rest = polynomial;
    let mut found = Vec::new();
    let mut size = 1;
    let mut left = MAX_COMBINATIONS;
    'sizes: while 2 * size <= lifted.len() {
        let mut chosen: Vec<usize> = (0..size).collect();
        loop {
            if left == 0 {
                break 'sizes;
            }
            left -= 1;
            let candidate = combination(&rest, &lifted, &chosen, modulus);
            if let Some(quotient) = rest.exact_quotient(&candidate) {
                found.push(candidate);
                rest = quotient;
                for index in chosen.iter().rev() {
                    lifted.remove(*index);
                }
                continue 'sizes;
            }
            if !advance(&mut chosen, lifted.len()) {
                break;
            }
        }
        size += 1;
    }
    found.push(rest);
    found
}

/// The next subset of the same size in lexicographic order.
fn advance(chosen: &mut [usize], count: usize) -> bool {
    let size = chosen.len();
    for position in (0..size).rev() {
        if chosen[position] < count - size + position {
            chosen[position] += 1;
            for later in position + 1..size {
                chosen[later] = chosen[later - 1] + 1;
            }
            return true;
        }
    }
    false
}

/// The primitive integer polynomial that the product of the chosen factors is
/// the image of, if they belong together.
fn combination(
    rest: &Polynomial,
    lifted: &[Vec<Integer>],
    chosen: &[usize],
    modulus: &Integer,
) -> Polynomial {
    let start = vec![modulo(&rest.leading(), modulus)];
    let product = chosen.iter().fold(start, |done, index| product_modulo(&done, &lifted[*index], modulus));
    let half = modulus.shift_right(1);
    let symmetric = product.into_iter().map(|c| if c > half { &c - modulus } else { c }).collect();
    Polynomial::new(symmetric).primitive()
}
