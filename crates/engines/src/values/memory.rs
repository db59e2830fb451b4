//! What a round leaves to know for a later one of the same seed.

use smtlib::{Store, Term};

use super::digest::{Digests, digest};
use super::meta::Enforced;

/// What an earlier round has left to know.
pub struct Memory<'t> {
    /// Numbers of the related holes.
    pub related: Vec<usize>,
    /// Constants of its mutants.
    pub seen: Digests,
    pub coverage: &'t str,
}

impl Memory<'_> {
    pub fn read(text: &str) -> Option<Memory<'_>> {
        let (related, rest) = text.split_once(';')?;
        let (seen, coverage) = rest.split_once(';')?;
        let numbers = related.split(',').filter(|number| !number.is_empty());
        let related = numbers.map(|number| number.parse().ok()).collect::<Option<Vec<usize>>>()?;
        Some(Memory { related, seen: Digests::recall(seen)?, coverage })
    }
}

/// A list of constants in short.
pub fn digest_of(store: &Store, constants: &[Term]) -> u32 {
    digest(constants.iter().map(|constant| store.term_text(*constant)))
}

/// A list of constants with what is enforced beside them.
pub fn digest_with(store: &Store, constants: &[Term], enforced: &[Enforced]) -> u32 {
    let constants = constants.iter().map(|constant| store.term_text(*constant));
    digest(constants.chain(enforced.iter().map(|(monitor, truth)| format!("{monitor}{truth}"))))
}
