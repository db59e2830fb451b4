//! Elements of prime fields, cvc5's theory of finite fields.

use std::fmt;
use std::str::FromStr;
use std::sync::Arc;

use crate::integer::{Integer, ParseNumberError};

/// An element of the integers modulo a prime: the residue and the prime, which
/// all elements of a problem share. The residue is in `0 .. order`.
#[derive(Clone, PartialEq, Eq, Hash)]
pub struct FieldElement {
    residue: Integer,
    order: Arc<Integer>,
}

impl FieldElement {
    /// The residue class of `value`. The order comes from a sort, so it is a
    /// prime; `None` below 2.
    pub fn new(value: &Integer, order: Arc<Integer>) -> Option<FieldElement> {
        if *order <= Integer::ONE {
            return None;
        }
        Some(FieldElement { residue: value.rem_euclid(&order)?, order })
    }

    fn same_field(&self, value: &Integer) -> FieldElement {
        FieldElement {
            // The order is at least 2, so the remainder exists.
            residue: value.rem_euclid(&self.order).unwrap_or_default(),
            order: Arc::clone(&self.order),
        }
    }

    /// The representative in `0 .. order`.
    pub fn residue(&self) -> &Integer {
        &self.residue
    }

    /// The representative of least absolute value, which some releases of cvc5
    /// print; the positive one of two.
    pub fn signed_residue(&self) -> Integer {
        let doubled = &self.residue + &self.residue;
        if doubled > *self.order { &self.residue - &*self.order } else { self.residue.clone() }
    }

    pub fn order(&self) -> &Arc<Integer> {
        &self.order
    }

    pub fn is_zero(&self) -> bool {
        self.residue.is_zero()
    }

    /// `ff.add`
    pub fn plus(&self, other: &FieldElement) -> FieldElement {
        debug_assert_eq!(self.order, other.order);
        self.same_field(&(&self.residue + &other.residue))
    }

    /// `ff.mul`
    pub fn times(&self, other: &FieldElement) -> FieldElement {
        debug_assert_eq!(self.order, other.order);
        self.same_field(&(&self.residue * &other.residue))
    }

    /// `ff.neg`
    pub fn negated(&self) -> FieldElement {
        self.same_field(&-&self.residue)
    }

    /// `ff.bitsum`: the sum of the elements weighted by 1, 2, 4, ...; `None`
    /// without any element.
    pub fn bitsum(elements: &[FieldElement]) -> Option<FieldElement> {
        // Horner's scheme from the last element needs no powers of two.
        let (last, rest) = elements.split_last()?;
        Some(rest.iter().rev().fold(last.clone(), |sum, element| sum.plus(&sum).plus(element)))
    }
}

impl FromStr for FieldElement {
    type Err = ParseNumberError;

    /// cvc5's literal: `#f3m7`, where the value may be negative or unreduced.
    fn from_str(text: &str) -> Result<FieldElement, ParseNumberError> {
        let error = || ParseNumberError::new(text, "a finite field literal");
        let (value, order) =
            text.strip_prefix("#f").and_then(|rest| rest.split_once('m')).ok_or_else(error)?;
        let order: Integer = order.parse().map_err(|_| error())?;
        let value: Integer = value.parse().map_err(|_| error())?;
        FieldElement::new(&value, Arc::new(order)).ok_or_else(error)
    }
}

impl fmt::Display for FieldElement {
    /// As cvc5 prints it: `#f3m7`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "#f{}m{}", self.residue, self.order)
    }
}

impl fmt::Debug for FieldElement {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn any_integer() -> impl Strategy<Value = Integer> {
        prop_oneof![
            (-20i64..20).prop_map(Integer::from),
            any::<i128>().prop_map(Integer::from),
            (any::<i128>(), any::<i128>()).prop_map(|(a, b)| Integer::from(a) * Integer::from(b)),
        ]
    }

    fn element(text: &str) -> FieldElement {
        text.parse().expect("a well-formed literal")
    }

    #[test]
    fn literals_are_reduced() {
        assert_eq!(element("#f-3m7"), element("#f4m7"));
        assert_eq!(element("#f12m7").to_string(), "#f5m7");
        assert_eq!(element("#f4m7").signed_residue(), Integer::from(-3));
        assert_eq!(element("#f1m2").signed_residue(), Integer::ONE);
        for text in ["", "#f", "#f1", "#f1m", "#f1m0", "#f1m1", "#f1m-7", "#fam7", "f1m7"] {
            assert!(text.parse::<FieldElement>().is_err(), "{text}");
        }
    }

    #[test]
    fn bitsum_weights_by_powers_of_two() {
        // -3 + 2*3 + 4*12 = 51 = 2 modulo 7, as cvc5 says
        let sum = FieldElement::bitsum(&[element("#f-3m7"), element("#f3m7"), element("#f12m7")]);
        assert_eq!(sum, Some(element("#f2m7")));
        assert_eq!(FieldElement::bitsum(&[]), None);
    }

    proptest! {
        #[test]
        fn operations_agree_with_integers(
            a in any_integer(),
            b in any_integer(),
            order in prop::sample::select(vec![
                "2", "3", "7", "2147483647", "18446744073709551557",
                "21888242871839275222246405745257275088548364400416034343698204186575808495617",
            ]),
        ) {
            let order = Arc::new(order.parse::<Integer>().expect("a numeral"));
            let of = |value: &Integer| {
                FieldElement::new(value, Arc::clone(&order)).expect("a prime")
            };
            let (x, y) = (of(&a), of(&b));
            prop_assert_eq!(x.plus(&y), of(&(&a + &b)));
            prop_assert_eq!(x.times(&y), of(&(&a * &b)));
            prop_assert_eq!(x.negated(), of(&-&a));
            prop_assert_eq!(of(&x.signed_residue()), x.clone());
            prop_assert_eq!(x.to_string().parse::<FieldElement>().expect("own output"), x);
        }
    }
}
