//! Real numbers without an exact form: what transcendental functions give. They are known through enclosures of
//! any precision, which decides every comparison of different numbers and none of equal ones.

use std::cmp::Ordering;
use std::sync::Arc;

use crate::algebraic::Real;
use crate::enclosure::{self, Enclosure, Function};

/// A real number as an expression.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub enum Computable {
    Exact(Real),
    Pi,
    Apply(Function, Arc<Computable>),
    Sum(Arc<Computable>, Arc<Computable>),
    Product(Arc<Computable>, Arc<Computable>),
    Quotient(Arc<Computable>, Arc<Computable>),
    Negation(Arc<Computable>),
    Absolute(Arc<Computable>),
}

/// Expressions nested deeper are not enclosed.
const MAX_DEPTH: usize = 64;

impl Computable {
    /// Bounds of the value, or `None` if they cannot be found at this precision or the value is not defined.
    pub fn enclose(&self, bits: usize) -> Option<Enclosure> {
        self.enclose_to(bits, MAX_DEPTH)
    }

    fn enclose_to(&self, bits: usize, depth: usize) -> Option<Enclosure> {
        let depth = depth.checked_sub(1)?;
        let part = |part: &Computable| part.enclose_to(bits, depth);
        let enclosure = match self {
            Computable::Exact(value) => Enclosure::of_real(value, bits),
            Computable::Pi => Enclosure::pi(bits),
            Computable::Apply(function, argument) => part(argument)?.apply(*function, bits)?,
            Computable::Sum(a, b) => part(a)?.plus(&part(b)?),
            Computable::Product(a, b) => part(a)?.times(&part(b)?),
            Computable::Quotient(a, b) => part(a)?.divided_by(&part(b)?)?,
            Computable::Negation(a) => part(a)?.negated(),
            Computable::Absolute(a) => part(a)?.abs(),
        };
        Some(enclosure.rounded(bits + 16))
    }

    /// The order of two numbers if their enclosures separate; equal expressions are equal.
    pub fn compare(&self, other: &Computable) -> Option<Ordering> {
        if self == other {
            return Some(Ordering::Equal);
        }
        enclosure::compare(|bits| self.enclose(bits), |bits| other.enclose(bits))
    }
}

impl Ord for Computable {
    /// An order of the expressions, not of the numbers.
    fn cmp(&self, other: &Computable) -> Ordering {
        use Computable::*;
        match (self, other) {
            (Exact(a), Exact(b)) => a.cmp(b),
            (Apply(f, a), Apply(g, b)) => (*f as u8).cmp(&(*g as u8)).then_with(|| a.cmp(b)),
            (Sum(a, b), Sum(c, d)) | (Product(a, b), Product(c, d)) | (Quotient(a, b), Quotient(c, d)) => {
                a.cmp(c).then_with(|| b.cmp(d))
            }
            (Negation(a), Negation(b)) | (Absolute(a), Absolute(b)) => a.cmp(b),
            _ => self.rank().cmp(&other.rank()),
        }
    }
}

impl PartialOrd for Computable {
    fn partial_cmp(&self, other: &Computable) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Computable {
    fn rank(&self) -> u8 {
        match self {
            Computable::Exact(_) => 0,
            Computable::Pi => 1,
            Computable::Apply(..) => 2,
            Computable::Sum(..) => 3,
            Computable::Product(..) => 4,
            Computable::Quotient(..) => 5,
            Computable::Negation(_) => 6,
            Computable::Absolute(_) => 7,
        }
    }
}

/// Larger expressions are refused: each question walks all of them.
const MAX_SIZE: usize = 512;

impl Computable {
    /// Is it cheap enough to be enclosed again and again?
    pub fn is_small(&self) -> bool {
        self.size_within(MAX_SIZE, MAX_DEPTH).is_some()
    }

    /// What is left of a budget of nodes after walking the expression.
    fn size_within(&self, budget: usize, depth: usize) -> Option<usize> {
        let (budget, depth) = (budget.checked_sub(1)?, depth.checked_sub(1)?);
        match self {
            Computable::Exact(_) | Computable::Pi => Some(budget),
            Computable::Apply(_, a) | Computable::Negation(a) | Computable::Absolute(a) => {
                a.size_within(budget, depth)
            }
            Computable::Sum(a, b) | Computable::Product(a, b) | Computable::Quotient(a, b) => {
                b.size_within(a.size_within(budget, depth)?, depth)
            }
        }
    }
}
