//! Polynomials modulo a small prime, and Berlekamp's factorization of them.
//!
//! Coefficients ascend and are below the prime; no leading zeros. The prime
//! is below `2^31`, so products fit a word.

pub(super) type Residues = Vec<u64>;

/// The field of integers modulo a small prime.
#[derive(Clone, Copy)]
pub(super) struct PrimeField {
    pub(super) prime: u64,
}

impl PrimeField {
    fn trimmed(self, mut polynomial: Residues) -> Residues {
        while polynomial.last() == Some(&0) {
            polynomial.pop();
        }
        polynomial
    }

    /// Fermat: the inverse of a nonzero residue.
    pub(super) fn inverse(self, value: u64) -> u64 {
        let (mut base, mut exponent, mut result) = (value, self.prime - 2, 1);
        while exponent > 0 {
            if exponent & 1 == 1 {
                result = result * base % self.prime;
            }
            base = base * base % self.prime;
            exponent >>= 1;
        }
        result
    }

    pub(super) fn monic(self, polynomial: &[u64]) -> Residues {
        let Some(leading) = polynomial.last() else {
            return Vec::new();
        };
        let scale = self.inverse(*leading);
        polynomial.iter().map(|c| c * scale % self.prime).collect()
    }

    pub(super) fn product(self, a: &[u64], b: &[u64]) -> Residues {
        if a.is_empty() || b.is_empty() {
            return Vec::new();
        }
        let mut result = vec![0; a.len() + b.len() - 1];
        for (i, x) in a.iter().enumerate() {
            for (j, y) in b.iter().enumerate() {
                result[i + j] = (result[i + j] + x * y) % self.prime;
            }
        }
        self.trimmed(result)
    }

    fn minus(self, a: &[u64], b: &[u64]) -> Residues {
        let length = a.len().max(b.len());
        let at = |p: &[u64], i: usize| p.get(i).copied().unwrap_or(0);
        self.trimmed((0..length).map(|i| (at(a, i) + self.prime - at(b, i)) % self.prime).collect())
    }

    /// Quotient and remainder by a nonzero divisor.
    fn divide(self, a: &[u64], divisor: &[u64]) -> (Residues, Residues) {
        let mut rest = a.to_vec();
        let Some(leading) = divisor.last() else {
            return (Vec::new(), rest);
        };
        if rest.len() < divisor.len() {
            return (Vec::new(), rest);
        }
        let scale = self.inverse(*leading);
        let mut quotient = vec![0; rest.len() - divisor.len() + 1];
        for index in (0..quotient.len()).rev() {
            let factor = rest[index + divisor.len() - 1] * scale % self.prime;
            for (i, d) in divisor.iter().enumerate() {
                let product = factor * d % self.prime;
                rest[index + i] = (rest[index + i] + self.prime - product) % self.prime;
            }
            quotient[index] = factor;
        }
        (self.trimmed(quotient), self.trimmed(rest))
    }

    pub(super) fn remainder(self, a: &[u64], divisor: &[u64]) -> Residues {
        self.divide(a, divisor).1
    }

    fn gcd(self, a: &[u64], b: &[u64]) -> Residues {
        let (mut a, mut b) = (a.to_vec(), b.to_vec());
        while !b.is_empty() {
            let remainder = self.remainder(&a, &b);
            (a, b) = (b, remainder);
        }
        self.monic(&a)
    }

    /// The inverse of `a` modulo `modulus`, to which it is coprime.
    pub(super) fn inverse_modulo(self, a: &[u64], modulus: &[u64]) -> Residues {
        let (mut r0, mut r1) = (modulus.to_vec(), self.remainder(a, modulus));
        let (mut t0, mut t1) = (Vec::new(), vec![1]);
        while r1.len() > 1 {
            let (quotient, remainder) = self.divide(&r0, &r1);
            let next = self.minus(&t0, &self.product(&quotient, &t1));
            (r0, r1) = (r1, remainder);
            (t0, t1) = (t1, next);
        }
        let scale = r1.first().map_or(0, |constant| self.inverse(*constant));
        let scaled = t1.iter().map(|c| c * scale % self.prime).collect();
        self.remainder(&self.trimmed(scaled), modulus)
    }

    pub(super) fn is_square_free(self, polynomial: &[u64]) -> bool {
        let derivative = polynomial
            .iter()
            .enumerate()
            .skip(1)
            .map(|(power, c)| c * (power as u64 % self.prime) % self.prime)
            .collect();
        self.gcd(polynomial, &self.trimmed(derivative)).len() == 1
    }

    /// The monic irreducible factors of a monic square-free polynomial.
    pub(super) fn factors(self, polynomial: &[u64]) -> Vec<Residues> {
        let basis = self.berlekamp_basis(polynomial);
        let mut factors = vec![polynomial.to_vec()];
        for vector in &basis {
            if factors.len() == basis.len() {
                break;
            }
            let mut split = Vec::new();
            for factor in factors {
                // The vector is a constant modulo each irreducible factor, so
                // its gcds with all shifts multiply to the factor.
                for shift in 0..self.prime {
                    let part = self.gcd(&factor, &self.minus(vector, &[shift]));
                    if part.len() > 1 {
                        split.push(part);
                    }
                }
            }
            factors = split;
        }
        factors
    }

    /// A basis of the polynomials `v` with `v^p = v` modulo the polynomial.
    /// Its dimension is the number of irreducible factors.
    fn berlekamp_basis(self, polynomial: &[u64]) -> Vec<Residues> {
        let degree = polynomial.len() - 1;
        let mut power = vec![1];
        let mut x_to_prime = vec![1];
        for _ in 0..self.prime {
            x_to_prime = self.remainder(&self.product(&x_to_prime, &[0, 1]), polynomial);
        }
        // Column i holds x^(i p) - x^i; the kernel is sought.
        let mut columns = Vec::with_capacity(degree);
        for index in 0..degree {
            let mut column = power.clone();
            column.resize(degree, 0);
            column[index] = (column[index] + self.prime - 1) % self.prime;
            columns.push(column);
            power = self.remainder(&self.product(&power, &x_to_prime), polynomial);
        }
        let row = |row: usize| columns.iter().map(|column| column[row]).collect();
        let matrix = (0..degree).map(row).collect();
        self.kernel(matrix)
    }

    fn kernel(self, mut matrix: Vec<Vec<u64>>) -> Vec<Residues> {
        let size = matrix.len();
        let mut pivot_of_column = vec![None; size];
        let mut next_row = 0;
        for column in 0..size {
            let Some(row) = (next_row..size).find(|row| matrix[*row][column] != 0) else {
                continue;
            };
            matrix.swap(row, next_row);
            let scale = self.inverse(matrix[next_row][column]);
            for value in &mut matrix[next_row] {
                *value = *value * scale % self.prime;
            }
            let pivot = matrix[next_row].clone();
            for (index, other) in matrix.iter_mut().enumerate() {
                let factor = other[column];
                if index != next_row && factor != 0 {
                    for (value, p) in other.iter_mut().zip(&pivot) {
                        *value = (*value + (self.prime - factor) * p) % self.prime;
                    }
                }
            }
            pivot_of_column[column] = Some(next_row);
            next_row += 1;
        }
        let free = (0..size).filter(|column| pivot_of_column[*column].is_none());
        free.map(|column| {
            let mut vector = vec![0; size];
            vector[column] = 1;
            for (other, row) in pivot_of_column.iter().enumerate() {
                if let Some(row) = row {
                    vector[other] = (self.prime - matrix[*row][column]) % self.prime;
                }
            }
            self.trimmed(vector)
        })
        .collect()
    }
}
