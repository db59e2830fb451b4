//! What differs in the text between releases, beyond the names in the theory table.

use crate::literal::{Escapes, LARGEST_CHARACTER};
use crate::release::{Family, Release};
use crate::version::Version;

/// The text form of one release.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Dialect {
    pub release: Release,
    pub escapes: Escapes,
    /// The largest code point that a string may have: before SMT-LIB 2.6 characters were bytes.
    pub largest_character: u32,
    /// `(RegEx String)` instead of `RegLan`.
    pub old_regex_sort: bool,
    /// Chains of `str.<` must be written as conjunctions.
    pub binary_string_order: bool,
    /// `(_ divisible n)` must be written with `mod`.
    pub no_divisible: bool,
    /// Finite sets are `(FiniteSet A)`; `(Set A)` would be an array.
    pub finite_set_sort: bool,
    /// Logics of functions as values have no names, and are part of `ALL`.
    pub no_higher_order_logics: bool,
    /// Usual formats of floating-point numbers by name: `Float32` for `(_ FloatingPoint 8 24)`. All releases read both.
    pub named_formats: bool,
}

impl Dialect {
    pub fn of(release: Release) -> Dialect {
        let before = |family: Family, version: Version| release.family == family && release.version < version;
        let old_z3 = before(Family::Z3, Version::new(4, 8, 9));
        // Z3 4.8.9 and 4.8.10 read `\u{41}`, too, but only bytes, and `\x41` is a character to them still.
        let bytes = before(Family::Z3, Version::new(4, 8, 11)) || before(Family::Cvc4, Version::new(1, 8, 0));
        Dialect {
            release,
            escapes: if bytes { Escapes::Hex } else { Escapes::Unicode },
            largest_character: if bytes { 0xFF } else { LARGEST_CHARACTER },
            old_regex_sort: old_z3,
            binary_string_order: matches!(release.family, Family::Z3 | Family::Cvc5 | Family::Cvc4),
            no_divisible: release.family == Family::Z3,
            finite_set_sort: release.family == Family::Z3,
            no_higher_order_logics: release.family == Family::Z3,
            named_formats: false,
        }
    }
}
